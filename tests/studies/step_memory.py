"""The memory column of seed 002: counted bytes and an affine term, tables left out in turn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from assay.model.step.memory import memory, reserve
from assay.validate.score.assess import assess
from assay.validate.score.statistics import Floats

from tests.studies.anchors import anchors
from tests.studies.entries import Entry
from tests.studies.splits import Mask, held_out, leave_one_group_out
from tests.studies.step import figures
from tests.studies.step_rows import Rows, measured

PREQUEL = Path("fixtures/markdown_table/bloom_prequel.md")


def remembered(path: Path = PREQUEL) -> Rows:
    """The rows that print a maximum, in bytes; `seconds` of the result are those bytes."""
    seen = assess([path]).observations.filter(pl.col("quantity") == "memory")
    rows = anchors().join(
        seen.select(pl.col("line").cast(pl.Int64), bytes="value"), on="line", maintain_order="left"
    )
    built = measured(rows)
    return Rows(rows, built.runs, built.table, rows["bytes"].to_numpy(), built.groups)


def entries() -> list[Entry]:
    """`seed002.memory` and its figures."""
    rows = remembered()
    counted = np.array([memory(run).total for run in rows.runs])

    def predict(seen: Mask, scored: Mask) -> Floats:
        return reserve(counted[seen], rows.seconds[seen]).peak(counted[scored])

    found = reserve(counted, rows.seconds)
    return [
        *figures("seed002.memory", held_out(leave_one_group_out(rows.groups), predict, rows.size),
                 rows),
        Entry("seed002.memory.residual.offset", found.offset, "B", rows.size),
        Entry("seed002.memory.residual.factor", found.factor, "1", rows.size),
    ]  # fmt: skip
