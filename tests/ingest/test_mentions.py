"""Clauses of prose around tables: what they mention, of whom, and what they never change."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from assay.ingest.binding.mentions import paragraphs_of
from assay.ingest.inputs.read import read
from assay.ingest.pipeline import folding
from assay.ingest.schema.record import Line

from tests.conftest import mostly_slow

PUBLISHED = sorted(Path(__file__).with_name("published").glob("*.md"))[::12]

SAID = [
    ("Llama-3 8B, one DGX H100 (8x H100 80GB), full activation checkpointing, local batch size 1.",
     {"micro_batch": "1", "recompute": "full"}),
    ("Distributed optimizer on, sequence parallelism whenever TP > 1, no recomputation, ZeRO-1.",
     {"recompute": "none", "zero_stage": "1"}),
    ("If it does not fit, use TP 8 and full recomputation.", {}),
    ("With a larger batch we would need PP 4.", {}),
    ("It was faster than with TP 4 and micro-batch 2.", {}),
    ("The FLOP/s are those of the model, that is without recomputation.", {}),
    ("For inference we use TP 2 and a batch of 64 sequences.", {}),
    ("`ckpt` means that every block is recomputed in the backward pass.", {}),
    ("We keep the batch\nat 64 sequences of 2048 tokens.", {"seq_len": "2048"}),
    ("Every decoder block checkpointed, bf16 compute.", {"recompute": "full"}),
    ("All models share one tokenizer with 131,072 entries.", {"vocab": "131,072"}),
    ("Matrix products run in BF16, gradients are accumulated and reduced in FP32.",
     {"dtype": "BF16"}),
    ("Each row is on top of the ones before, production job, 128 nodes.", {"nodes": "128"}),
    ("In all runs of Table 6 activations are recomputed selectively.", {"recompute": "selective"}),
    ("TP 2, the rest is data parallel.", {"tp": "2", "pp": "1"}),
    ("Tensor parallelism is used only where the table says so.", {"tp": "1"}),
    ("The shards of the tokenised corpus are on Lustre.", {}),
    ("A vocabulary of 131 072 tokens and TP=4 inside the node, micro batch 2",
     {"vocab": "131,072", "tp": "4", "micro_batch": "2"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), SAID, ids=[text[:24] for text, _ in SAID])
def test_a_paragraph_mentions(text: str, wanted: dict[str, str]) -> None:
    lines = [Line(at, each, 1, {}) for at, each in enumerate(text.splitlines(), 3)]
    (paragraph,) = paragraphs_of(lines, set(), set())
    told = {n: cell for clause in paragraph.clauses for n, cell in clause.values.items()}
    assert {n: told[n].text.replace(",", "") for n in wanted if n in told} == {
        n: value.replace(",", "") for n, value in wanted.items()
    }
    if not wanted:
        assert not told
    for cell in told.values():  # each stands where it is said to
        line = next(each for each in lines if each.number == cell.line)
        assert line.text[cell.column - 1 :]


@pytest.mark.parametrize("document", mostly_slow(PUBLISHED, 8), ids=lambda path: path.name)
def test_what_rows_print_is_not_changed(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = read([document]).reading.frames
    monkeypatch.setattr(folding, "mentioned", lambda *_: None)
    bare = read([document]).reading.frames
    assert told.keys() == bare.keys()
    for name, frame in bare.items():
        printed = [c for c, kind in frame.schema.items() if kind == pl.Float64 and c != "model_size"
                   and not c.endswith("_ulp")]  # fmt: skip
        assert told[name].select("line", *printed).equals(frame.select("line", *printed))
        gone = [
            c for c in frame.columns
            if (frame[c].is_not_null() & told[name][c].is_null()).any()
        ]  # fmt: skip
        settled = {"seq_len", "vocab", "micro_batch", "global_batch", "tp", "pp"}
        assert set(gone) <= settled | {"activation_checkpointing"}
