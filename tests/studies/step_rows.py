"""Measured steps as component tables: rows in, runs and seconds of their parts out."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from assay.model.kernels.kernel import rows as pick
from assay.model.step.step import components
from assay.model.transformer.parallel import check
from assay.model.transformer.training_run import Run, run
from assay.validate.score.assess import assess
from assay.validate.score.statistics import Floats, Groups

from tests.studies.splits import Mask

LOGS = Path("fixtures/step_logs/v100.toml")

WIDE_HEADS = 1536
"""MosaicML's models of this width and more have heads of 128, the smaller ones of 64."""


@dataclass(frozen=True)
class Rows:
    """Measured steps: their configurations, component table, seconds and groups, row by row."""

    frame: pl.DataFrame
    runs: tuple[Run, ...]
    table: dict[str, Floats]
    seconds: Floats
    groups: Groups

    def at(self, mask: Mask) -> Rows:
        """The rows that `mask` selects."""
        chosen = np.flatnonzero(mask)
        return Rows(
            self.frame[chosen.tolist()],
            tuple(self.runs[at] for at in chosen),
            pick(self.table, mask),
            self.seconds[mask],
            self.groups[mask],
        )

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.seconds)


def measured(frame: pl.DataFrame, *, later: str | None = None) -> Rows:
    """Rows of a frame with the columns of a case, `step_time` (s) and `group`.

    `later` names a column that is 1 after a change of the hardware. ValueError where a row cannot
    be a run.
    """
    runs = []
    for row in frame.iter_rows(named=True):
        built = run(row)
        if built is None:
            raise ValueError(f"{row['case']}: a step needs more than this row says")
        runs.append(check(built))
    table = components(runs)
    if later is not None:
        table["later"] = frame[later].cast(pl.Float64).to_numpy()
    return Rows(
        frame,
        tuple(runs),
        table,
        frame["step_time"].to_numpy(),
        frame["group"].to_numpy(),
    )


def published(path: str | Path, **assumed: object) -> pl.DataFrame:
    """Configurations of a document's tables with their step times, as cases; repeats left out.

    `assumed` are columns that no table prints. Step time is global batch over sequences per second.
    """
    report = assess([path])
    speed = report.observations.filter(pl.col("quantity") == "samples_per_s")
    again = report.repeats["case"].implode()
    table = report.cases.configuration.join(
        speed.select("case", speed="value"), on="case", maintain_order="left"
    ).filter(~pl.col("case").is_in(again))
    return table.with_columns(
        step_time=pl.col("global_batch") / pl.col("speed"),
        group=pl.format("{}/{}", "hidden", "seq_len"),
        **{name: pl.lit(value) for name, value in assumed.items()},
    )


def mosaic(path: str | Path) -> pl.DataFrame:
    """MosaicML's tables of 2022 and 2023: FSDP, eager, fused attention of the first generation."""
    head = pl.when(pl.col("hidden") >= WIDE_HEADS).then(128).otherwise(64)
    table = published(path, attention="flash1", eager=True)
    return table.with_columns(heads=pl.col("hidden") // head)


def logs(path: Path = LOGS) -> pl.DataFrame:
    """The six V100 jobs as cases, each its own group."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = [document["constants"] | one for one in document["log"]]
    table = pl.DataFrame(rows)
    return table.with_columns(
        case="name", group="name", gpus=pl.col("tp") * pl.col("pp") * pl.col("dp")
    )
