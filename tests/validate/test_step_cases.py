"""Assumptions about a row that says little; nothing said is overruled."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from assay.model.step.memory import holds
from assay.model.step.work import layer_calls
from assay.model.transformer.parallel import stage_layers
from assay.model.transformer.parameters import parameters
from assay.model.transformer.shapes import resolve
from assay.model.transformer.training_run import run
from assay.validate.cases.step_cases import completed
from assay.validate.score.assess import assess
from hypothesis import given
from hypothesis import strategies as st

ROW = {
    "case": "a", "machine": "H100", "dtype": "bf16", "gpus": 8, "seq_len": 8192,
    "micro_batch": 1, "global_batch": 64,
}  # fmt: skip


def one(**changes):
    return completed(pl.DataFrame([ROW | changes])).row(0, named=True)


def test_a_named_model_brings_its_shape():
    row = one(model="LLAMA3-70B", tp=8)
    assert (row["hidden"], row["layers"], row["kv_heads"], row["vocab"]) == (8192, 80, 8, 128256)
    assert run(row).model.name == "Llama-3-70B"
    assert run(row).layout.sequence_parallel


def test_what_a_row_says_stands():
    row = one(model="Llama-3-8B", layers=8, recompute="full", zero_stage=0)
    assert (row["layers"], row["recompute"], row["zero_stage"]) == (8, "full", 0)
    assert run(row).model.layers == 8


def test_a_mixture_keeps_its_experts():
    assert run(one(model="Mixtral 8x7B", ep=8)).model.experts.routed == 8


@pytest.mark.parametrize(
    ("said", "software", "attention"),
    [
        ({"machine": "H100"}, "megatron-core", "cudnn"),
        ({"machine": "A100-80g"}, "megatron-2021", "unfused"),
        ({"machine": "A100-80g", "date": "2023-10"}, "megatron-core", "flash2"),
        ({"machine": "A100-80g", "zero_stage": 3}, "composer-2022", "flash1"),
        ({"machine": "A100-80g", "zero_stage": 3, "date": "2024-05"}, "fsdp", "flash2"),
        ({"machine": "A100-80g", "sequence_parallel": True}, "megatron-core", "flash2"),
        ({"machine": "V100-32g"}, "megatron-2021", "unfused"),
        ({"machine": "V100-32g", "zero_stage": 3, "tp": 4}, "deepspeed", "unfused"),
        ({"machine": "H100", "framework": "llm-foundry"}, "composer-2023", "triton1"),
        ({"machine": "H100", "software": "nemo", "date": "2024-07"}, "nemo", "cudnn"),
        ({"machine": "H100", "framework": "nemo", "date": "2023-05"}, "nemo-2023", "flash1"),
        ({"machine": "H100", "framework": "torchtitan"}, "fsdp", "flash2"),
        ({"machine": "A100-80g", "framework": "torchtitan"}, "fsdp", "flash2"),
        ({"machine": "A100-80g", "gated": True, "zero_stage": 3}, "fsdp", "flash2"),
        ({"machine": "B200"}, "megatron-core", "cudnn"),
        ({"machine": "B200", "framework": "transformers"}, "transformers", "cudnn"),
        ({"machine": "V100-32g", "date": "2024-05"}, "megatron-core", "unfused"),
        (
            {"machine": "A100-80g", "framework": "megatron-deepspeed", "date": "2024-01"},
            "deepspeed",
            "flash2",
        ),
        ({"machine": "H100", "attention": "cudnn"}, "megatron-core", "cudnn"),
    ],
)
def test_software_follows_what_is_said_and_the_date(said, software, attention):
    shape = {"dtype": "fp16", "hidden": 4096, "layers": 4, "heads": 32, "vocab": 50257}
    stack = run(one(**shape | said)).software
    assert (stack.name, stack.attention) == (software, attention)
    assert stack.reason
    assert stack.evidence


def test_the_program_of_a_job_is_the_one_that_its_dump_names():
    """Its stack follows from the dump and the first date; what the user states goes before."""
    path = "fixtures/arguments/gpt2_52b_zero3.log"
    known = assess([path], models=[]).cases.configuration.filter(frame="runs")
    assert set(known["framework"]) == {"megatron-deepspeed"}
    assert known["date"][0].startswith("2021-05")
    stack = run(completed(known).row(0, named=True)).software
    assert (stack.name, stack.reason) == ("deepspeed", "megatron-deepspeed of 2021")
    other = assess([path], models=[], given={"framework": "fsdp", "date": "2024-01"})
    assert set(other.cases.configuration["framework"]) == {"fsdp"}


@pytest.mark.parametrize(
    ("said", "scaling"),
    [
        ({"framework": "nemo", "date": "2024-07"}, "delayed"),
        ({"framework": "nemo", "date": "2025-06"}, "current"),
        ({"framework": "megatron-core"}, "delayed"),
        ({"framework": "megatron-core", "machine": "GB200"}, "mx"),
        ({"framework": "torchtitan"}, "current"),
        ({"framework": "nemo", "date": "2024-07", "scaling": "block"}, "block"),
    ],
)
def test_scaling_of_narrow_products_follows_the_date(said, scaling):
    assert run(one(model="Llama-3-8B", dtype="fp8", **said)).software.scaling == scaling


def test_recomputation_is_assumed_where_memory_needs_it():
    """What ran has fitted: without its activations kept it does, with them it would not."""
    sharded = {"machine": "H100", "zero_stage": 3, "seq_len": 8192, "micro_batch": 1}
    small = one(model="Llama-3-8B", gpus=64, global_batch=64, **sharded)
    large = one(model="Llama-3-70B", gpus=64, global_batch=64, **sharded)
    assert (small["recompute"], large["recompute"]) == ("none", "full")
    assert one(model="Llama-3-70B", recompute="none", **sharded)["recompute"] == "none"


def test_as_few_layers_are_computed_again_as_memory_asks_for():
    """One layer fewer and the tensors would not fit; a stated share stands."""
    said = {"model": "Llama-3-8B", "framework": "torchtitan", "micro_batch": 2}
    row = one(**said)
    built = run(row)
    assert row["zero_stage"] == 3
    assert 0.0 < built.recomputed < 1.0
    assert holds(built)
    assert not holds(replace(built, recomputed=built.recomputed - 1 / 32))
    assert run(one(**said, recompute="full", recomputed=0.25)).recomputed == 0.25


@given(
    model=st.sampled_from(["Llama-3-8B", "Llama-3-70B", "Qwen3-30B-A3B", "Nemotron V3 Nano 30B"]),
    machine=st.sampled_from(["H100", "B200", "A100-80g", "MI300X"]),
    gpus=st.sampled_from([8, 64, 256]),
    tp=st.sampled_from([1, 2]),
    pp=st.sampled_from([1, 4]),
    micro_batch=st.sampled_from([1, 2, 4]),
    seq_len=st.sampled_from([2048, 8192, 32768]),
)
def test_no_layer_fewer_would_do(**said):
    """Whatever program the sharding tells: a share that fits, and with one layer fewer does not."""
    built = run(one(global_batch=1024, attention="flash", **said))
    if built.recompute == "none":
        assert holds(built)
    elif built.recomputed < 1.0:
        layer = 1.0 / stage_layers(built.model.layers, built.pp)[0]
        fewer = built.recomputed - layer
        assert holds(built)
        assert not holds(replace(built, recompute="full" if fewer > 0 else "none",
                                 recomputed=max(fewer, 0.0)))  # fmt: skip


def test_an_optimizer_is_sharded_where_memory_asks_for_it():
    """GPT-NeoX-20B on 96 cards of 40 GB: 20 bytes a parameter fit one rank only if shared."""
    said = {"machine": "A100-40g", "dtype": "fp16", "framework": "megatron", "date": "2022-02",
            "seq_len": 2048, "tp": 2, "pp": 4}  # fmt: skip
    assert one(model="GPT-NeoX-20B", gpus=96, **said)["zero_stage"] == 1
    assert one(model="GPT-3-1.3B", gpus=96, **said)["zero_stage"] == 0


def test_experts_are_whole_where_expert_parallelism_is_stated():
    """Tokens of eight ranks meet eight experts, whether their ranks share a sequence or not."""
    said = {"model": "Mixtral-8x7B", "gpus": 64, "tp": 2, "ep": 8, "seq_len": 4096}
    whole, split = run(one(**said)), run(one(**said, expert_tp=2))
    assert (whole.layout.experts_split, split.layout.experts_split) == (1, 2)
    flop = [sum(each.times * each.operation.flop for each in layer_calls(0, one_of))
            for one_of in (whole, split)]  # fmt: skip
    assert flop[0] == pytest.approx(flop[1])


def test_experts_that_nothing_speaks_of_are_spread_over_data_parallel_ranks():
    assert one(model="Mixtral-8x7B", gpus=64, tp=2)["ep"] == 8
    assert one(model="Mixtral-8x7B", gpus=16, tp=2, pp=2)["ep"] == 4
    assert one(model="Mixtral-8x7B", gpus=8, tp=8)["ep"] == 1
    assert one(model="Mixtral-8x7B", gpus=64, ep=2)["ep"] == 2
    assert one(model="Llama-3-8B", gpus=64)["ep"] is None
    assert one(hidden=2048, layers=24, heads=16, vocab=32000, gpus=24, experts=16)["ep"] == 8


def test_a_mixture_of_its_own_is_spelled_out():
    shape = {"hidden": 2048, "layers": 48, "heads": 32, "kv_heads": 4, "head_dim": 128,
             "ffn_hidden": 6144, "vocab": 151936, "gated": True, "experts": 128,
             "experts_per_token": 8, "expert_ffn_hidden": 768, "ep": 8}  # fmt: skip
    own, named = run(one(**shape)).model, run(one(model="Qwen3-30B-A3B", ep=8)).model
    assert own.experts == named.experts
    assert parameters(own).mlp == parameters(named).mlp
    assert run(one(**shape | {"experts_per_token": None})) is None


def test_no_software_of_an_unknown_name():
    with pytest.raises(LookupError, match="megatron-core"):
        run(one(model="Llama-3-8B", software="abacus"))


def test_data_parallel_is_what_is_left():
    assert one(model="Llama-3-8B", tp=2, cp=2)["dp"] == 2


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(LookupError, match="Llama-3-8B"):
        resolve("abacus-9000")


TABLE = """
| {0}Model | GPUs | TP | PP | MBS | GBS | Seq | GPU | tokens/s/GPU |
|{1}---|---|---|---|---|---|---|---|---|
| {2}Llama-3-8B | 8 | 1 | 1 | 1 | 128 | 8192 | H100 | 9000 |
"""


def test_programs_of_a_document_are_those_of_their_own_tables(tmp_path: Path) -> None:
    path = tmp_path / "study.md"
    path.write_text(
        "# Throughput\n\nUnlike DeepSpeed 0.14, ours need no patches.\n\n## NeMo 24.07\n"
        + TABLE.format("", "", "")
        + "\n## torchtitan\n"
        + TABLE.format("", "", "")
        + "\n## Others\n"
        + TABLE.format("Framework | ", "---|", "Megatron-LM core 0.9 | "),
        encoding="utf-8",
    )
    known = assess([path], models=[]).cases.configuration.sort("line")
    assert known.select("framework", "date").rows() == [
        ("nemo", "2024-07"), ("torchtitan", None), ("megatron-core", "2024-10"),
    ]  # fmt: skip
