"""Exact oracles of the schedule and the volumes, and what must hold whatever the numbers."""

import dataclasses

import numpy as np
import pytest
from assay.model.fit.step_fit import fit, telling
from assay.model.schedule import SHAPE, STEP, breakdown, step_time
from assay.model.stacks.kernel_times import kernel_times
from assay.model.step.memory import memory
from assay.model.step.step import components, predict
from assay.model.step.work import activation_bytes, copied_bytes, head, head_bytes, layer_calls
from assay.model.transformer.operations import Gemm
from assay.model.transformer.parallel import layer_parameters, stage_parameters
from assay.model.transformer.training_run import run
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples
from tests.model.test_parallel import ROW, built

ZERO = dict.fromkeys(SHAPE, 0.0) | {
    "layers": 24.0, "layers_first": 6.0, "layers_last": 6.0, "stages": 4.0, "micro_batches": 8.0,
    "chunks": 1.0, "network_share": 0.7, "layer_matrix": 1.0,
    "layer_launch": 1.0, "backward": 2.0 / 3.0, "pieces": 1.0,
}  # fmt: skip
PLAIN = STEP.starts | {"slowdown": 1.0, "overhead": 1e-5, "attention": 1.0, "odd_head": 1.0}


def table(**changes):
    return {name: np.array([value]) for name, value in (ZERO | changes).items()}


def seconds(**changes):
    return float(step_time(table(**changes), PLAIN)[0])


def test_1f1b_is_m_plus_p_minus_one_slots():
    assert seconds() == pytest.approx((8 + 4 - 1) * 6.0)


def test_interleaving_divides_the_bubble():
    assert seconds(chunks=3.0) == pytest.approx(8 * 6.0 + 3 * 6.0 / 3.0)


def test_the_stage_with_the_head_sets_the_pace():
    """m times the longest stage, and every other stage once."""
    assert seconds(head_matrix=2.0) == pytest.approx(8 * 8.0 + 3 * 6.0)


def test_uneven_stages():
    uneven = seconds(layers=23.0, layers_last=5.0)
    assert uneven == pytest.approx(8 * 6.0 + (23.0 - 6.0))


def test_one_stage_has_no_bubble():
    alone = seconds(stages=1.0, layers_first=24.0, layers_last=24.0, head_matrix=2.0)
    assert alone == pytest.approx(8 * 26.0)


def test_overhead_is_added_or_a_floor():
    waiting = PLAIN | {"overhead": 0.5}  # of a second a layer
    assert float(step_time(table(blocking=1.0), waiting)[0]) == pytest.approx(11 * 6 * 1.5)
    assert float(step_time(table(), waiting)[0]) == pytest.approx(11 * 6.0)
    assert float(step_time(table(), PLAIN | {"overhead": 2.0})[0]) == pytest.approx(11 * 12.0)


def test_keys_go_around_beside_attention_but_for_the_first_piece():
    ring = {"layer_attention": 1.0, "context_link": 0.8, "pieces": 4.0}
    assert seconds(**ring) == pytest.approx(11 * 6 * 2.8)
    assert seconds(**ring, hide_context=1.0) == pytest.approx(11 * 6 * 2.2)
    longer = ring | {"context_link": 3.0}
    assert seconds(**longer, hide_context=1.0) == pytest.approx(11 * 6 * 4.0)


def test_shards_hide_behind_a_pass_until_they_do_not():
    """A forward pass of a third hides one gather; a backward one of two thirds that and more."""
    assert seconds(shard_link=0.3, scatter_link=0.3) == seconds()
    assert seconds(shard_link=0.5) == pytest.approx(seconds() * (0.5 + 2 / 3))
    assert seconds(shard_link=0.3, scatter_link=0.5) == pytest.approx(seconds() * (1 / 3 + 0.8))


def test_weights_gathered_after_a_pass_hide_behind_nothing():
    late = seconds(shard_link=0.3, after=1.0)
    assert late == pytest.approx(seconds() * 1.3)
    assert seconds(scatter_link=0.6, after=1.0) == seconds()


def test_gradients_hide_behind_the_last_backward_pass_but_for_a_layer():
    """A stage of six layers takes 6 s, 4 of them backward."""
    hidden = {"hide_gradients": 1.0, "gradient_link": 3.0}
    assert seconds(gradient_link=3.0) == pytest.approx(seconds() + 3.0)
    assert seconds(**hidden) == pytest.approx(seconds() + 3.0 / 6.0)
    assert seconds(**hidden | {"gradient_link": 6.0}) == pytest.approx(seconds() + 2.0)
    assert seconds(hide_weights=1.0, weight_link=5.0) == pytest.approx(seconds() + 3.0)


def test_pace_acts_after_the_change_and_not_on_the_network():
    quick = PLAIN | {"pace": 0.9, "network": 1.0}
    later = table(later=1.0, gradient_net=3.0)
    assert float(step_time(later, quick)[0]) == pytest.approx(0.9 * 66.0 + 3.0)
    assert float(step_time(table(gradient_net=3.0), quick)[0]) == pytest.approx(69.0)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@given(
    st.dictionaries(
        st.sampled_from(
            [
                n
                for n in SHAPE
                if not n.startswith(
                    ("layers", "stages", "micro", "chunks", "network", "later", "backward")
                )
            ]
        ),
        st.floats(0.0, 2.0),
    ),
    st.sampled_from([1.0, 2.0, 4.0]),
)
def test_the_breakdown_adds_up(changes, chunks):
    columns = table(**changes, chunks=chunks)
    parts = breakdown(columns, PLAIN)
    assert all(float(value[0]) >= -1e-9 for value in parts.values())
    assert sum(float(value[0]) for value in parts.values()) == pytest.approx(
        float(step_time(columns, PLAIN)[0])
    )


def test_products_of_a_layer_are_those_of_the_formula():
    """Full recomputation: four times 24·s·b·h²·(1 + s/6h) flop, divided among TP ranks."""
    one = built()
    found = sum(call.operation.flop * call.times for call in layer_calls(0, one))
    s, b, h = one.seq_len, one.micro_batch, one.model.hidden
    assert found == pytest.approx(4 * 24 * s * b * h**2 * (1 + s / (6 * h)) / 8, rel=1e-12)


def test_weight_gradients_lie_the_other_way_round():
    kinds = [call.transposed for call in layer_calls(0, built())
             if isinstance(call.operation, Gemm)]  # fmt: skip
    assert kinds.count(True) == 6
    assert kinds.count(False) == 18


def test_only_sharded_runs_keep_an_odd_vocabulary():
    row = ROW | {"tp": 1, "pp": 1, "dp": 8, "gpus": 8, "vocab": 50257}
    assert head(run(row | {"zero_stage": 3})).n == 50257
    assert head(run(row)).n == 50304


def test_a_loss_in_single_operators_moves_every_logit_more_often():
    """Megatron: widened, maximum, less it, raised, sum, over it; times a gradient, narrowed."""
    logits = 4 * 2048 * 250880 / 8
    forward, backward = (2 + 4) + 4 + 8 + 8 + 4 + 8, 8 + (4 + 2)
    assert head_bytes(built(framework="megatron", date="2022-06")) == logits * (forward + backward)
    assert head_bytes(built(software="internevo")) == logits * 24


def test_full_sharding_gathers_once_a_step_in_a_pipeline_of_pytorch():
    fsdp = {"software": "fsdp", "zero_stage": 3, "machine": "H100", "dtype": "bf16", "tp": 8}
    assert built(**fsdp, pp=12).zero_stage == 2
    assert built(**fsdp, pp=1, dp=48).zero_stage == 3
    assert built(**fsdp | {"software": "xla"}, pp=12).zero_stage == 3
    found = components([built(**fsdp, pp=12)])
    assert found["shard_net"][0] == 0.0 < found["gradient_net"][0]


def test_computing_again_stops_before_the_product_that_ends_a_layer():
    """No gradient needs its result; of experts, whose results are weighted, all are needed."""

    def again(**row):
        names = [
            one.operation.name
            for one in layer_calls(0, built(machine="H100", dtype="bf16", recompute="full", **row))
        ]
        return names.count("fc2"), names.count("proj")

    assert again(software="megatron-core") == (4, 4)
    assert again(software="fsdp", zero_stage=3) == (3, 4)
    whole, stopped = (
        components([built(machine="H100", dtype="bf16", recompute="full", software=software,
                          sequence_parallel=True)])["layer_exchange"][0]
        for software in ("megatron-core", "fsdp")
    )  # fmt: skip
    assert stopped == pytest.approx(whole * 11 / 12, rel=0.02)  # of twelve gathers and scatters


def test_products_beside_which_tensor_traffic_runs_are_cut_among_its_ranks():
    """Forward all; backward those after attention and down from an MLP; no weight gradient."""
    row = {"sequence_parallel": True, "recompute": "none", "framework": "megatron",
           "date": "2024-06", "machine": "H100", "dtype": "bf16"}  # fmt: skip
    whole = [one.operation for one in layer_calls(0, built(**row))]
    parts = [one.operation for one in layer_calls(0, built(**row, tp_overlap=True))]
    assert [one.flop for one in parts] == [one.flop for one in whole]
    cut = [one.name for one, old in zip(parts, whole, strict=True) if one != old]
    assert cut == ["qkv", "proj", "fc1", "fc2", "proj", "fc2"]
    assert all(one.m == 4 * 2048 // 8 for one, old in zip(parts, whole, strict=True) if one != old)
    assert all(one.count == 8 for one, old in zip(parts, whole, strict=True) if one != old)


def test_an_odd_vocabulary_costs_a_partial_tile_where_a_compiler_pads():
    """Libraries of GPUs take kernels with shorter loads; XLA pads to its tiles."""

    def of(machine, size):
        row = ROW | {"machine": machine, "dtype": "bf16", "gpus": 8, "dp": 8, "tp": 1, "pp": 1,
                     "vocab": size, "zero_stage": 3, "software": "xla"}  # fmt: skip
        return components([run(row)])["head_matrix"][0]

    for name in ("TPU-v5p", "TPU-v6e", "Trainium2", "Gaudi3"):
        assert of(name, 50257) == pytest.approx(of(name, 50304), rel=0.01)
    assert of("H100", 50257) > 5 * of("H100", 50304)


def test_volumes_by_hand():
    """Hand-overs, the tied embedding and the ring of gradients, at the full rate of the cards."""
    one = built()
    parts = components([one])
    size = 2048 * 4 * 14336 * 2
    assert activation_bytes(one) == size
    assert parts["handover_net"][0] == pytest.approx(size / 50e9)
    assert parts["tied_net"][0] == pytest.approx(250880 / 8 * 14336 * 2 / (50e9 / 8))
    ring = 3 / 4 * stage_parameters(one) / (50e9 / 8)  # per byte of a parameter
    assert parts["gradient_net"][0] == pytest.approx(2 * 2 * ring)  # summed
    assert parts["weight_net"][0] == pytest.approx(2 * ring)  # gathered
    assert parts["gradient_link"][0] == pytest.approx(2 * 2 * 14e-6)  # a tree of four nodes
    assert layer_parameters(one) == pytest.approx((12 * 14336**2 + 13 * 14336 + 2 * 14336 / 72) / 8)


def test_the_same_bytes_leave_a_node_whatever_the_tensor_degree():
    """Half the TP, twice the parameters a rank, half the rings: only (d − 1)/d differs."""
    found = components([built(), built(tp=4, dp=8), built(tp=2, dp=16)])["gradient_net"]
    per_ring = found / np.array([3 / 4, 7 / 8, 15 / 16])
    assert per_ring == pytest.approx(per_ring[0], rel=1e-3)


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(["peak", "memory_bandwidth", "link_bandwidth"]), st.floats(1.1, 3.0))
def test_a_faster_machine_is_not_slower(fact, factor):
    one = built()
    facts = dict(one.machine.facts)
    name = "peak.fp16" if fact == "peak" else fact
    facts[name] = dataclasses.replace(facts[name], value=facts[name].value * factor)
    quick = dataclasses.replace(one, machine=dataclasses.replace(one.machine, facts=facts))
    times = kernel_times("A100-80g")
    before = step_time(components([one], times), STEP.starts)
    assert step_time(components([quick], times), STEP.starts)[0] <= before[0] * (1 + 1e-9)


def test_more_micro_batches_take_longer_and_waste_less():
    times = [step_time(components([built(global_batch=batch)]), STEP.starts)[0]
             for batch in (512, 1024, 2048)]  # fmt: skip
    assert times[0] < times[1] < times[2]
    assert times[0] / 512 > times[1] / 1024 > times[2] / 2048


def test_a_row_that_cannot_run_has_no_prediction():
    import polars as pl

    frame = pl.DataFrame([ROW, ROW | {"heads": 28}, ROW | {"machine": "abacus"}])
    found = predict(frame, spread=0.4)
    assert found.height == 1
    assert found["low"][0] < found["value"][0] < found["high"][0]


def test_a_fit_finds_what_made_the_data():
    layouts = ((12, 4, 8), (6, 8, 8), (12, 8, 4), (2, 24, 8))
    runs = [
        built(micro_batch=batch, pp=pp, dp=dp, tp=tp)
        for batch in (1, 2, 4)
        for pp, dp, tp in layouts
    ]
    parts = components(runs)
    parts["blocking"][:] = 1.0
    truth = STEP.starts | {"slowdown": 1.3, "overhead": 3.0, "network": 0.35}
    found = fit(parts, step_time(parts, truth), np.arange(len(runs)),
                ("slowdown", "overhead", "network"), draws=5)  # fmt: skip
    for name in ("slowdown", "overhead", "network"):
        assert found.values[name] == pytest.approx(truth[name], rel=0.05)
        assert found.low[name] <= found.values[name] <= found.high[name]
    assert found.correlation.shape == (3, 3)


def test_at_most_three_residuals():
    parts = components([built()])
    with pytest.raises(ValueError, match="at most 3"):
        fit(parts, np.ones(1), np.zeros(1), ("slowdown", "overhead", "network", "attention"))
    with pytest.raises(ValueError, match="no residual is called"):
        fit(parts, np.ones(1), np.zeros(1), ("luck",))
    assert "slowdown" in telling(parts, np.ones(1))
    assert "attention" not in telling(parts, np.ones(1))


def test_enough_rows_choose_the_residuals_that_made_them():
    layouts = ((12, 4, 8), (6, 8, 8), (12, 8, 4), (2, 24, 8))
    runs = [
        built(micro_batch=batch, pp=pp, dp=dp, tp=tp)
        for batch in (1, 2, 4)
        for pp, dp, tp in layouts
    ]
    parts = components(runs)
    truth = STEP.starts | {"exposed": 8e-3, "slowdown": 1.6}
    noise = np.exp(0.01 * np.random.default_rng(7).standard_normal(len(runs)))
    assert set(telling(parts, step_time(parts, truth) * noise)) == {"exposed", "slowdown"}


def test_tokens_travel_beside_another_micro_batch_where_the_program_has_it():
    """Kernels lose the multiprocessors that send; what is longer than they remains."""
    said = {"model": "DeepSeek-V3", "machine": "H100", "dtype": "bf16", "tp": 1, "pp": 8,
            "dp": 64, "ep": 64, "gpus": 512, "global_batch": 1024, "micro_batch": 1,
            "seq_len": 4096, "recompute": "none", "hidden": 7168, "layers": 61, "heads": 128,
            "vocab": 129280, "zero_stage": 1}  # fmt: skip
    waits, beside = (
        breakdown(components([run(ROW | said | {"ep_overlap": hidden})]), STEP.starts)
        for hidden in (False, True)
    )
    whole = [sum(each.values())[0] for each in (waits, beside)]
    computed = sum(waits[name][0] for name in ("compute", "attention", "memory"))
    assert whole[1] < whole[0]
    left = waits["exchange"][0] - computed * 132 / 112
    assert beside["exchange"][0] == pytest.approx(max(left, 0.0), abs=0.02 * whole[0])
    assert beside["waiting"][0] - waits["waiting"][0] == pytest.approx(
        (132 / 112 - 1) * computed, rel=0.1
    )


def test_frozen_weights_have_no_gradients():
    """Two products of three are left, of weights their values, and nothing to send or update."""
    row = ROW | {"machine": "H100", "dtype": "bf16", "attention": "flash", "recompute": "none",
                 "trained_part": "LoRA"}  # fmt: skip
    whole, frozen = run(row | {"trained_part": None}), run(row)
    times = [components([one]) for one in (whole, frozen)]
    share = times[1]["layer_matrix"][0] / times[0]["layer_matrix"][0]
    assert share == pytest.approx(2 / 3, rel=0.02)
    assert times[1]["backward"][0] == 0.5
    for name in ("gradient_net", "gradient_link", "weight_net", "weight_link", "optimizer"):
        assert times[1][name][0] == 0.0
    held = memory(frozen)
    assert held.gradients == held.optimizer == 0.0
    assert held.weights == memory(whole).weights


def test_parameters_sharded_apart_are_copied():
    """Weights out of what is gathered, twice, and gradients into what is scattered: 14 bytes."""
    said = {"machine": "H100", "dtype": "bf16", "attention": "flash", "tp": 1, "pp": 1, "dp": 384,
            "zero_stage": 3, "framework": "torchtitan"}  # fmt: skip
    one = run(ROW | said)
    assert copied_bytes(one) == pytest.approx(14 * layer_parameters(one))
    assert copied_bytes(run(ROW | said | {"trained_part": "LoRA"})) == pytest.approx(
        8 * layer_parameters(one)
    )
    assert copied_bytes(run(ROW | said | {"date": "2023-06"})) == 0.0
    assert copied_bytes(run(ROW | said | {"zero_stage": 1})) == 0.0


def test_selective_recomputation_is_what_the_program_means_by_it():
    """Megatron repeats the core of attention, which a fused kernel never kept; PyTorch's repeats
    every second product."""
    said = {"machine": "H100", "dtype": "bf16", "recompute": "selective", "attention": "flash"}
    step = {
        (name, again): STEP.time(components([run(ROW | said | {
            "framework": name, "recompute": again})]), STEP.starts)[0]
        for name in ("megatron-core", "torchtitan")
        for again in ("none", "selective", "full")
    }  # fmt: skip
    assert step["megatron-core", "selective"] == step["megatron-core", "none"]
    middle = (step["torchtitan", "none"] + step["torchtitan", "full"]) / 2
    assert step["torchtitan", "selective"] == pytest.approx(middle, rel=0.01)


def test_experts_are_exchanged_among_their_ranks_and_summed_over_their_copies():
    """Two nodes of eight share the experts: a token goes once to a node and there to a rank."""
    mixture = {"model": "Mixtral-8x7B", "machine": "H100", "dtype": "bf16", "tp": 1, "pp": 1,
               "dp": 16, "gpus": 16, "global_batch": 64, "micro_batch": 1, "seq_len": 4096,
               "recompute": "none", "hidden": 4096, "layers": 32, "heads": 32, "vocab": 32000,
               "zero_stage": 1}  # fmt: skip
    alone, spread = (run(ROW | mixture | {"ep": ep}) for ep in (1, 8))
    assert stage_parameters(spread) < 0.2 * stage_parameters(alone)
    one, two = components([alone]), components([spread])
    assert one["layer_swap"][0] == 0.0
    assert two["layer_swap"][0] > 0.0
    assert two["layer_net"][0] == 0.0
    assert two["gradient_net"][0] < one["gradient_net"][0]
