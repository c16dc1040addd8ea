"""Memory of a rank: bytes by hand, and parts that must shrink when they are shared."""

import dataclasses

import numpy as np
import pytest
from assay.model.step.memory import (
    COMMUNICATOR,
    Memory,
    Reserve,
    groups,
    holds,
    in_flight,
    layer_activations,
    memory,
    reserve,
    room,
    stages,
)
from assay.model.transformer.parallel import stage_parameters
from assay.model.transformer.training_run import run
from hypothesis import given
from hypothesis import strategies as st

from tests.model.test_parallel import built


def test_parameters_of_the_fullest_stage():
    one = built()
    found = memory(one)
    own = stage_parameters(one)
    assert found.weights == pytest.approx(2 * own, rel=1e-3)
    assert found.gradients == pytest.approx(found.weights)
    assert found.optimizer == pytest.approx(16 * own / 4, rel=1e-3)


def test_activations_of_a_layer_are_those_of_the_paper():
    """s·b·h·(10 + 24/t + 5·a·s/(h·t)), Korthikanti et al., table 2."""
    one = built()
    s, b, h, a, t = 2048, 4, 14336, 64, 8
    assert layer_activations(one) == pytest.approx(s * b * h * (10 + 24 / t + 5 * a * s / (h * t)))
    split = dataclasses.replace(one, layout=dataclasses.replace(one.layout, sequence_parallel=True))
    assert layer_activations(split) == pytest.approx(s * b * h * (34 / t + 5 * a * s / (h * t)))


def test_activations_of_a_mixture_are_those_of_the_experts_that_a_token_visits():
    """Qwen3-30B-A3B by hand: 2 bytes each of norms' inputs and residuals (4 h), heads, eight
    experts of 768 with gate, value and product, and eight copies of the token."""
    row = {"model": "Qwen3-30B-A3B", "machine": "H100", "dtype": "bf16", "gpus": 8, "dp": 8,
           "tp": 1, "pp": 1, "ep": 8, "hidden": 2048, "layers": 48, "heads": 32, "vocab": 151936,
           "seq_len": 4096, "micro_batch": 1, "global_batch": 8, "recompute": "none"}  # fmt: skip
    each = 8 * 2048 + 2 * (2 * 32 + 2 * 4) * 128 + 2 * 3 * 8 * 768 + 2 * 8 * 2048
    assert layer_activations(run(row)) == 4096 * each


def test_micro_batches_in_flight():
    assert in_flight(built(pp=1, dp=48)) == 1
    assert in_flight(built()) == 12
    assert in_flight(built(vp=3)) == pytest.approx(12 + 11 / 3)
    assert in_flight(built(global_batch=64)) == 4  # four micro-batches a replica are all there are


def test_groups_that_a_rank_of_the_first_stage_joins():
    assert groups(built()) == [8, 12, 4, 96, 2]  # TP, PP, DP; a whole model; ends of the embedding
    assert groups(built(tp=1, pp=1, dp=384)) == [384]
    assert groups(built(tp=1, pp=1, dp=1, gpus=1)) == []


def test_the_room_is_what_kernels_and_communicators_leave():
    one = built(tp=1, pp=1, dp=1, gpus=1)
    whole = one.machine.memory_bytes * 2**30 / 1e9 * 0.988
    assert whole - room(one) == pytest.approx(1343 * 2**20)
    assert room(one) - room(built()) == pytest.approx(
        4 * COMMUNICATOR["more"] + COMMUNICATOR["pair"]
    )
    late = built(framework="megatron-core", date="2025-01")
    assert room(late) == pytest.approx(whole)


def test_what_ran_fits_and_what_ran_out_does_not():
    """Rows of one document: TP 2 and PP 6 ran out of memory, TP 4 and PP 6 ran at 75 GB."""
    assert not holds(built(tp=2, pp=6, dp=32, micro_batch=1))
    assert holds(built(tp=4, pp=6, dp=16, micro_batch=4))


@given(st.integers(0, 2))
def test_each_zero_stage_holds_less(stage):
    assert memory(built(zero_stage=stage + 1)).total < memory(built(zero_stage=stage)).total


def test_recomputation_trades_memory():
    full, selective, none = (
        memory(built(recompute=policy)).activations for policy in ("full", "selective", "none")
    )
    assert full < selective < none


def test_the_reserve_is_an_affine_term():
    counted = np.linspace(20e9, 60e9, 9)
    found = reserve(counted, 5e9 + 1.1 * counted)
    assert found.offset == pytest.approx(5e9, rel=1e-3)
    assert found.factor == pytest.approx(1.1, rel=1e-3)
    assert Reserve(1e9, 2.0).peak(np.array([3e9]))[0] == 7e9
    with pytest.raises(ValueError, match="at least two"):
        reserve(counted[:1], counted[:1])


def test_stages_begin_with_the_embedding_and_end_with_the_logits():
    row = {
        "machine": "V100-32g", "dtype": "fp16", "gpus": 16, "hidden": 6144, "layers": 40,
        "heads": 32, "seq_len": 1024, "vocab": 50688, "tp": 4, "pp": 4, "dp": 1, "micro_batch": 1,
        "global_batch": 4, "recompute": "full",
    }  # fmt: skip
    built = run(row)
    assert built is not None
    held = stages(built)
    assert len(held) == 4
    assert held[0].weights > held[1].weights == held[2].weights
    assert held[3].logits > 0 == held[0].logits
    assert held[0].activations > held[1].activations > held[2].activations
    assert max(stage.total for stage in held) == memory(built).total
    one = run({**row, "pp": 1, "gpus": 4})
    assert one is not None
    assert stages(one) == (memory(one),)


def test_the_first_step_has_no_moments_beside_activations():
    held = Memory(
        weights=2.0,
        gradients=2.0,
        optimizer=16.0,
        activations=3.0,
        logits=0.0,
        buffers=0.0,
        updating=8.0,
    )
    assert held.first_step == 20.0  # the states alone are more than 12 and the activations
    assert held._replace(activations=30.0).first_step == 42.0
    assert held._replace(activations=30.0).total == 50.0
