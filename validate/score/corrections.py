"""Consequences of findings for a report: rows that leave it, values that arithmetic puts right.

Leaving out is the default; correcting is a separate step that the caller asks for, and every value
it changes is marked `corrected` with the law that says so.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from assay.validate.cases.cases import CONFIGURED, Cases
from assay.validate.cases.rules import ORIGINS
from assay.validate.laws.finding import Finding

CONTRADICTED: dict[str, pl.DataType] = {"case": pl.String(), "quantity": pl.String()}


def contradicted(findings: Iterable[Finding]) -> pl.DataFrame:
    """case and quantity of every printed number that an error concerns."""
    rows = [
        (case, quantity)
        for finding in findings
        if finding.severity == "error"
        for case in finding.cases
        for quantity in finding.quantities
    ]
    return pl.DataFrame(rows, schema=CONTRADICTED, orient="row").unique(maintain_order=True)


def corrected(
    cases: Cases, observations: pl.DataFrame, findings: Iterable[Finding]
) -> tuple[Cases, pl.DataFrame]:
    """Cases and observations with every correction that an error implies."""
    for finding in findings:
        if finding.severity != "error":
            continue
        for case, name, value in finding.correction:
            if name in CONFIGURED:
                cases = _configured(cases, case, name, value, finding.law)
            else:
                observations = _observed(observations, case, name, value)
    return cases, observations


def _configured(cases: Cases, case: str, name: str, value: float, law: str) -> Cases:
    wide = cases.configuration
    here = pl.col("case") == case
    kind = wide.schema[name]
    wide = wide.with_columns(
        pl.when(here).then(pl.lit(value).cast(kind)).otherwise(name).alias(name)
    )
    if name == "nodes":
        gpus = pl.when(here).then(pl.col("nodes") * pl.col("gpus_per_node")).otherwise("gpus")
        wide = wide.with_columns(gpus=gpus)
    origin = pl.DataFrame(
        {"case": [case], "name": [name], "value": [f"{value:g}"], "value_origin": ["corrected"],
         "line": [None], "law": [law]},
        schema=ORIGINS,
    )  # fmt: skip
    return cases.with_values(wide, origin)


def _observed(observations: pl.DataFrame, case: str, name: str, value: float) -> pl.DataFrame:
    """The value replaced; its interval keeps the width that was printed, scaled."""
    here = (pl.col("case") == case) & (pl.col("quantity") == name)
    ends = {end: pl.col(end) * value / pl.col("value") for end in ("low", "high")}
    changed = {"value": pl.lit(value), **ends, "value_origin": pl.lit("corrected")}
    return observations.with_columns(
        pl.when(here).then(new).otherwise(column).alias(column) for column, new in changed.items()
    )
