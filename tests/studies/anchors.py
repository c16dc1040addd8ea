"""The 85 measured configurations that step models are scored on, as a case frame."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl

TABLE = Path("fixtures/anchors/step_time_predictions.csv")

COLUMNS = {
    "hidden": "h", "layers": "L", "heads": "heads", "tp": "TP", "pp": "PP", "dp": "DP",
    "micro_batch": "MBS", "global_batch": "GBS", "zero_stage": "zero", "dtype": "dtype",
    "group": "group", "line": "line", "date": "date", "step_time": "measured_s",
    "calculon": "calculon_stock_s", "calculon_network": "calculon_jz_s",
    "llm_analysis": "llm_analysis_fe0.5_s",
}  # fmt: skip

EPOCH = "02-25"
"""The cluster's hardware was improved on that day."""


def anchors(table: Path = TABLE) -> pl.DataFrame:
    """One row per measurement: `frames.CONFIGURATION_CASE`, group, step_time (s), epoch, others' s.

    `epoch` is 0 before the hardware changed and 1 from that day on. FileNotFoundError where the
    table is not below the working directory.
    """
    everywhere = tomllib.loads(table.with_suffix(".toml").read_text(encoding="utf-8"))
    constants = {key: pl.lit(value) for key, value in everywhere["constants"].items()}
    return (
        pl.read_csv(table, schema_overrides={"date": pl.String})
        .select(**{ours: pl.col(theirs) for ours, theirs in COLUMNS.items()})
        .with_columns(**constants)
        .with_columns(
            case=pl.format("{}#{}", pl.lit(table.name), "line"),
            gpus=pl.col("tp") * pl.col("pp") * pl.col("dp"),
            epoch=(pl.col("date") >= EPOCH).cast(pl.Int64),
        )
    )
