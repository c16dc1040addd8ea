"""Forecasts of configurations as one frame. Configurations in, a row each out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from assay.model.machine import machine as machine_of
from assay.model.stack import Stack
from assay.validate.predict import cases_of, of_cases

PARTS = {"spent": "spent", "memory_counted": "memory"}
"""What is told part by part: a column each, with this prefix."""
TOLD = ("residuals", "assumed_where_unsaid")
"""What is no column."""


def forecast(
    configuration: str | Path | Mapping[str, Any] | pl.DataFrame,
    machine: str,
    stack: Stack | None = None,
) -> pl.DataFrame:
    """One row per configuration; see `assay.validate.api.forecast`."""
    name = machine_of(machine).name
    if isinstance(configuration, pl.DataFrame):
        wide = configuration.with_columns(pl.col("machine").fill_null(name))
    elif isinstance(configuration, Mapping):
        wide = pl.DataFrame([{"case": "configuration", "machine": name, **configuration}])
    else:
        wide = cases_of(Path(configuration), name)
    return pl.DataFrame([_flat(each) for each in of_cases(wide, stack)])


def _flat(told: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in told.items():
        if name in PARTS:
            row |= {f"{PARTS[name]}_{part}": one for part, one in value.items()}
        elif name not in TOLD:
            row[name] = value
    return row
