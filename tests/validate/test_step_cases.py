"""Assumptions about a row that says little; nothing said is overruled."""

import polars as pl
import pytest
from assay.model.transformer.shapes import resolve
from assay.model.transformer.training_run import run
from assay.validate.cases.step_cases import completed

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
    ("machine", "zero", "attention", "recompute"),
    [
        ("H100", None, "flash", "none"),
        ("A100-80g", 3, "flash1", "full"),
        ("A100-80g", None, "unfused", "full"),
        ("V100-32g", None, "unfused", "full"),
    ],
)
def test_assumptions_follow_the_generation(machine, zero, attention, recompute):
    row = one(
        machine=machine, zero_stage=zero, dtype="fp16", hidden=4096, layers=4, heads=32,
        vocab=50257,
    )  # fmt: skip
    assert (row["attention"], row["recompute"]) == (attention, recompute)


def test_data_parallel_is_what_is_left():
    assert one(model="Llama-3-8B", tp=2, cp=2)["dp"] == 2


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(LookupError, match="Llama-3-8B"):
        resolve("abacus-9000")
