"""Kernels inside programs: how far models are from public profiler traces, weighted by time.

`trace.<name>.gemm` is the sum of |predicted − measured| over that of measured, over all calls of
all products; `trace.<name>.covered` the share of the time of kernels that is predicted at all. They
are not held out: shares of the memory bandwidth by kind of eager kernel were read off the traces of
H100, and the models of products were mended while looking at all four.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import polars as pl
from assay.validate.report.run_section import traced
from assay.validate.score.assess import assess
from assay.validate.score.trace_time import TraceTime

from tests.studies.entries import Entry


def entries() -> list[Entry]:
    """Figures of every trace of the corpus; none without ASSAY_CORPUS."""
    corpus = os.environ.get("ASSAY_CORPUS")
    if not corpus:
        print("traces: skipped, ASSAY_CORPUS names no folder with corpus/", file=sys.stderr)
        return []
    return [
        entry
        for path in sorted(Path(corpus, "corpus", "trace").rglob("*.json.gz"))
        for entry in _of(path)
    ]


def _of(path: Path) -> list[Entry]:
    said = traced(assess([path]))
    assert said is not None
    gemm = said.shapes.filter((pl.col("kind") == "gemm") & pl.col("cost").is_not_null())
    (source,) = said.sources
    every = int(said.classes["calls"].sum())
    covered = Entry(f"trace.{name(path)}.covered", 100.0 * said.covered(source), "%", every)
    if gemm.is_empty():
        return [covered]
    return [
        Entry(f"trace.{name(path)}.gemm", _weighted(said), "%", int(gemm["calls"].sum())),
        covered,
    ]


def _weighted(said: TraceTime) -> float:
    gemm = said.shapes.filter((pl.col("kind") == "gemm") & pl.col("cost").is_not_null())
    return 100.0 * float(gemm["cost"].sum()) / float(gemm["measured"].sum())


def name(path: Path) -> str:
    """A trace by its folder and its first words.

    >>> name(Path("trace/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"))
    'h100_qwen_qwen1_5_0_5b_chat'
    """
    stem = path.name.partition("__")[0].removesuffix(".gz").removesuffix(".json")
    return re.sub("[^a-z0-9]+", "_", f"{path.parent.name}_{stem}".lower())
