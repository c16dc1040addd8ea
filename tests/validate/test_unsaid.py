"""What a table leaves out and a model needs: assumed with its reason, or left unknown."""

import polars as pl
import pytest
from assay.validate.score.assess import assess

TITLE = "# Llama 3.1 8B on H100 SXM, bf16, sequence length 8192\n\n"


def told(tmp_path, text):
    """The case of each row: its values and their origins, and the report."""
    path = tmp_path / "a.md"
    path.write_text(text, encoding="utf-8")
    report = assess([path], models=["step", "constant_mfu"])
    origins = {
        (case, name): (origin, law)
        for case, name, origin, law in report.cases.origins.select(
            "case", "name", "value_origin", "law"
        ).iter_rows()
    }
    rows = report.cases.configuration.sort("line").to_dicts()
    return rows, origins, report


def rows(heads, *cells):
    head = f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    return head + "".join(f"| {' | '.join(map(str, row))} |\n" for row in cells)


def test_a_rate_without_accumulation_is_taken_as_of_one_micro_batch_a_replica(tmp_path):
    text = TITLE + rows(("GPUs", "Micro batch size", "Tokens/s/GPU"), (8, 2, 9000), (16, 1, 8900))
    found, origins, report = told(tmp_path, text)
    assert [row["global_batch"] for row in found] == [16, 16]
    origin, law = origins[found[0]["case"], "global_batch"]
    assert origin == "assumed"
    assert "no accumulation is printed" in law
    assert set(report.scored["quantity"]) == {"tokens_per_gpu_per_s"}


def test_the_time_of_a_step_is_proportional_to_a_batch_that_nobody_prints(tmp_path):
    text = TITLE + rows(("GPUs", "Micro batch size", "Step time (s)"), (8, 2, 2.0))
    found, _, report = told(tmp_path, text)
    assert found[0]["global_batch"] is None
    assert report.scored.is_empty()


def test_a_pipeline_depends_on_how_many_micro_batches_it_has(tmp_path):
    text = TITLE + rows(("GPUs", "PP", "Micro batch size", "Tokens/s/GPU"), (8, 2, 1, 9000))
    assert told(tmp_path, text)[0][0]["global_batch"] is None


@pytest.mark.parametrize(
    ("head", "cells", "micro"),
    [
        ((), (), 1),  # 16 of a replica; one has 8,192 tokens
        (("Sequence length",), (2048,), 4),
        (("PP",), (2,), 1),
        (("GA",), (8,), 2),
        (("GA",), (3,), None),  # 16 sequences are not three times as many
    ],
)
def test_of_a_step_s_batch_as_many_as_fill_the_products_are_one_micro_batch(
    tmp_path, head, cells, micro
):
    heads = ("GPUs", "Global batch size", *head, "Tokens/s/GPU")
    gpus = 16 if "PP" in head else 8
    found, _, _ = told(tmp_path, TITLE + rows(heads, (gpus, 128, *cells, 9000)))
    assert found[0]["micro_batch"] == micro


def test_what_is_printed_stands_and_is_no_assumption(tmp_path):
    heads = ("GPUs", "Micro batch size", "Global batch size", "Tokens/s/GPU")
    found, origins, _ = told(tmp_path, TITLE + rows(heads, (8, 1, 128, 9000)))
    assert (found[0]["micro_batch"], found[0]["global_batch"]) == (1, 128)
    assert origins[found[0]["case"], "micro_batch"][0] == "printed"


@pytest.mark.parametrize(("hidden", "layers", "vocab"), [(12288, 96, 50257), (768, 12, None)])
def test_a_vocabulary_is_assumed_where_it_is_a_small_share(tmp_path, hidden, layers, vocab):
    heads = ("Hidden size", "Layers", "Attention heads", "GPUs", "TP", "PP", "Micro batch size",
             "Global batch size", "Iteration time (s)")  # fmt: skip
    text = "# Megatron on A100, bf16, sequence length 2048\n\n"
    text += rows(heads, (hidden, layers, 12, 64, 8, 8, 1, 64, 10.0))
    assert told(tmp_path, text)[0][0]["vocab"] == vocab


@pytest.mark.parametrize(
    ("gpus", "batch", "micro", "whole"),
    [
        (8, 2, 2, 16),  # fewer than replicas
        (8, 12, 12, 96),  # does not divide among them
        (1, 4, 4, 4),  # the only one's
        (64, 512, 1, 512),  # 512 sequences of 8,192 tokens fit nowhere
        (8, 8, None, None),  # one each, or eight
    ],
)
def test_whose_a_batch_is_where_only_one_reading_can_be(tmp_path, gpus, batch, micro, whole):
    found, origins, _ = told(
        tmp_path, TITLE + rows(("GPUs", "Batch size", "Tokens/s/GPU"), (gpus, batch, 9000))
    )
    assert (found[0]["micro_batch"], found[0]["global_batch"]) == (micro, whole)
    assert origins[found[0]["case"], "batch_size"][0] == "printed"


@pytest.mark.parametrize(
    ("heads", "cells", "micro", "whole"),
    [
        (("Tokens/s", "Step time (s)"), (64, 524288, 1.0), 1, 64),  # of sequences of 8,192 tokens
        (("Tokens/s/GPU", "Step time (s)"), (2, 16384, 1.0), 2, 16),
        (("Samples/s", "Step time (ms)"), (64, 128, 500), 1, 64),
        (("Samples/s", "Step time (ms)"), (8, 100, 500), None, None),  # neither 8 nor 64 in a step
    ],
)
def test_whose_a_batch_is_by_a_step_s_time_and_its_rates(tmp_path, heads, cells, micro, whole):
    found, _, _ = told(tmp_path, TITLE + rows(("GPUs", "Batch size", *heads), (8, *cells)))
    assert (found[0]["micro_batch"], found[0]["global_batch"]) == (micro, whole)


def test_a_batch_means_the_same_in_all_rows_of_a_table(tmp_path):
    text = TITLE + rows(("GPUs", "Batch size", "Tokens/s/GPU"), (8, 8, 9000), (16, 8, 8900))
    assert [row["micro_batch"] for row in told(tmp_path, text)[0]] == [8, 8]


def test_a_batch_on_fewer_gpus_than_the_model_needs_is_not_taken_as_one_replica_s(tmp_path):
    text = "# GPT-3 175B on A100 80GB, bf16\n\n"  # neither TP nor the length is said
    text += rows(("GPUs", "Batch size", "Tokens/s"), (12288, 6144, 1.4e6))
    found, _, _ = told(tmp_path, text)
    assert (found[0]["micro_batch"], found[0]["global_batch"]) == (None, None)


def test_a_model_called_by_its_size_is_like_the_usual_one_of_that_size(tmp_path):
    title = "# FSDP on 8x H100 SXM, bf16, sequence length 2048\n\n"
    heads = ("Model", "Micro batch size", "Tokens/s/GPU")
    cells = (("GPT 7B", 4, 9000), ("30B", 2, 1900), ("Foo 7B", 4, 9000), ("16B", 4, 4000))
    found, origins, report = told(tmp_path, title + rows(heads, *cells))
    assert [row["customary_shape"] for row in found] == ["MPT-7B", "MPT-30B", None, None]
    assert all(row["hidden"] is None for row in found)  # for predictions alone
    origin, law = origins[found[0]["case"], "customary_shape"]
    assert (origin, law.startswith("the usual one among")) == ("assumed", True)
    pairs = report.comparison.pairs.filter(pl.col("model") == "step").sort("line")
    widths = (pairs["predicted_high"] / pairs["predicted"]).to_list()
    assert pairs["line"].to_list() == [5, 6]
    assert widths[0] > widths[1]  # sevens differ more than thirties do


def test_a_mixture_called_by_its_size_is_like_no_other(tmp_path):
    title = "# 8x H100 SXM, bf16, sequence length 2048\n\n"
    heads = ("Model", "EP", "Micro batch size", "Tokens/s/GPU")
    found, _, _ = told(tmp_path, title + rows(heads, ("30B", 8, 2, 9000)))
    assert found[0]["customary_shape"] is None
