"""Values that no run can have: above the peak, below the roofline, or a unit slipped."""

from __future__ import annotations

from typing import Any

import polars as pl
from assay.ingest.schema.record import Span
from assay.model.machines.datasheets import candidates, machines
from assay.validate.arithmetic.counting import WIDTHS
from assay.validate.arithmetic.printed_runs import MEASURED, UNITS, label
from assay.validate.arithmetic.rated_rows import RATE
from assay.validate.cases.memo import once
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number

UTILISATIONS = ("mfu", "hfu", "mfu_weights", "hfu_weights")

MARGIN = 1.05
"""Clocks above the datasheet's and masks counted in full account for less than this."""


def above_one(evidence: Evidence) -> list[Finding]:
    """Utilisations above 1."""
    found = []
    for name in UTILISATIONS:
        for row in _over(evidence.runs, name, pl.lit(1.0)):
            said = f"{label(name)} is {row[name]:.4g}: a share of the peak cannot exceed 1"
            found.append(_bound(evidence, "utilisation-above-one", row, name, 1.0, said))
    return found


def above_peak(evidence: Evidence) -> list[Finding]:
    """Rates above the dense peak of the device; of any device where it is unknown."""
    runs = evidence.runs
    if runs.is_empty():
        return []
    table = _with_peaks(evidence)
    return [
        _bound(
            evidence, "rate-above-peak", row, RATE, row["peak"],
            _said_peak(row),
        )
        for row in _over(table, RATE, pl.col("peak") * MARGIN)
    ]  # fmt: skip


def below_roofline(evidence: Evidence) -> list[Finding]:
    """Products faster than both the peak and the memory bandwidth allow."""
    gemm = evidence.cases.gemm
    kernels = [
        held.frame.select("source", "line", "column", "time", "time_ulp")
        for held in evidence.reading.with_rows("kernel")
        if {"m", "n", "k", "time", "time_ulp"} <= set(held.frame.columns)
    ]
    if gemm.is_empty() or not kernels:
        return []
    known = machines()
    facts = [
        (name, dtype, peak, one.memory_bandwidth, size)
        for name, one in known.items()
        for dtype, peak in one.peaks.items()
        if (size := {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1}.get(dtype))
    ]
    kinds = {"machine": pl.String, "dtype": pl.String, "peak": pl.Float64, "bandwidth": pl.Float64,
             "size": pl.Float64}  # fmt: skip
    m, n, k, b = (pl.col(name).cast(pl.Float64) for name in "mnkb")
    compute = 2.0 * b * m * n * k / pl.col("peak")
    memory = b * (m * k + k * n + m * n) * pl.col("size") / pl.col("bandwidth")
    table = (
        gemm.join(pl.DataFrame(facts, schema=kinds, orient="row"), on=["machine", "dtype"])
        .join(pl.concat(kernels), on=["source", "line"])
        .with_columns(bound=pl.max_horizontal(compute, memory), least=pl.min_horizontal(
            compute, memory))
        .filter(pl.col("time") + pl.col("time_ulp") < pl.col("least") / MARGIN)
    )  # fmt: skip
    return [
        Finding(
            law="time-below-roofline",
            kind="identity",
            severity="error",
            spans=(Span(row["source"], row["line"], row["column"] or 1),),
            observed=(Number("time", row["time"], row["time"] - row["time_ulp"] / 2,
                             row["time"] + row["time_ulp"], "s"),),
            implied=(Number("time", row["bound"], row["least"], float("inf"), "s"),),
            explanation=f"{row['time']:.4g} s is below both the compute bound and the memory bound "
            f"of this product on {row['machine']} ({row['least']:.4g} s)",
            meaning="The time is of another product, another unit, or no run at all.",
            cases=(row["case"],),
            quantities=("time",),
        )
        for row in table.iter_rows(named=True)
    ]  # fmt: skip


def faster_than_peak(evidence: Evidence) -> list[Finding]:
    """Step times shorter than the matrix products of the layers take at the dense peak."""
    runs = evidence.runs
    if runs.is_empty():
        return []
    hidden, layers, seq, batch, gpus = (
        pl.col(name).cast(pl.Float64)
        for name in ("hidden", "layers", "seq_len", "global_batch", "gpus")
    )
    least = 72.0 * layers * hidden * hidden * seq * batch / (gpus * pl.col("peak"))
    table = (
        _with_peaks(evidence)
        .with_columns(least=least)
        .filter(pl.col("inferred_layers").is_null() & (pl.col("ep").fill_null(1) == 1))
        .filter(pl.col("step_time_high") * MARGIN < pl.col("least"))
        .filter(pl.col("ffn_hidden").is_null() & pl.col("kv_heads").is_null())
    )
    return [
        Finding(
            law="time-below-roofline",
            kind="identity",
            severity="error",
            spans=(evidence.span(row["case"]),),
            observed=(printed(row, "step_time"),),
            implied=(Number("step_time", row["least"], row["least"], float("inf"), "s"),),
            explanation=f"the products of all layers alone take {row['least']:.4g} s at the peak",
            meaning="Do not use the time; a batch, a GPU count or a unit of the row is wrong.",
            cases=(row["case"],),
            quantities=MEASURED,
        )
        for row in table.iter_rows(named=True)
    ]


@once
def _with_peaks(evidence: Evidence) -> pl.DataFrame:
    """The runs as they are said, each with the highest peak that its device can have."""
    said = _as_said(evidence)
    return said.with_columns(peak=_peak(said))


def _as_said(evidence: Evidence) -> pl.DataFrame:
    """The runs without number formats that nobody said: what is assumed bounds nothing."""
    origins = evidence.cases.origins
    assumed = origins.filter((pl.col("name") == "dtype") & (pl.col("value_origin") == "assumed"))
    open_ = pl.col("case").is_in(assumed["case"].to_list())
    return evidence.runs.with_columns(dtype=pl.when(~open_).then("dtype"))


def _peak(runs: pl.DataFrame) -> pl.Expr:
    """Dense peak of each row's device and number format, the highest there is where one is open."""
    known = machines()
    by_type = {f"{name}|{dtype}": peak for name, one in known.items()
               for dtype, peak in one.peaks.items()}  # fmt: skip
    by_name = {
        name: max(peak for dtype, peak in one.peaks.items() if dtype in WIDTHS)
        for name, one in known.items()
        if any(dtype in WIDTHS for dtype in one.peaks)
    }
    key = pl.concat_str(["machine", "dtype"], separator="|")
    return pl.coalesce(
        key.replace_strict(by_type, default=None, return_dtype=pl.Float64),
        pl.col("machine").replace_strict(by_name, default=None, return_dtype=pl.Float64),
        pl.col("gpu").replace_strict(
            _by_label(runs, by_name), default=None, return_dtype=pl.Float64
        ),
        pl.lit(max(by_name.values())),
    )


def _by_label(runs: pl.DataFrame, by_name: dict[str, float]) -> dict[str, float]:
    """Highest peak of the devices that a printed name leaves open: an A100 of any memory."""
    found = {}
    for label_ in runs["gpu"].drop_nulls().unique():
        peaks = [by_name[name] for name in candidates(label_) if name in by_name]
        if peaks:
            found[label_] = max(peaks)
    return found


def below_mfu(evidence: Evidence) -> list[Finding]:
    """HFU below MFU, in documents whose other rows have it above or equal."""
    runs = evidence.runs
    found = []
    for hfu, mfu in (("hfu", "mfu"), ("hfu_weights", "mfu_weights")):
        if runs.is_empty():
            break
        low, keeps = pl.col(f"{mfu}_low"), pl.col(hfu) >= pl.col(mfu)
        table = (
            runs.filter(pl.col(hfu).is_not_null() & pl.col(mfu).is_not_null())
            .with_columns(kept=keeps.sum().over("source"), n=pl.len().over("source"))
            .filter((pl.col(f"{hfu}_high") < low) & (pl.col("kept") >= 2))
            .filter(pl.col("kept") * 2 > pl.col("n"))
        )
        for row in table.to_dicts():
            found.append(
                Finding(
                    law="hfu-below-mfu",
                    kind="identity",
                    severity="warning",
                    spans=(evidence.span(str(row["case"])),),
                    observed=(printed(row, hfu), printed(row, mfu)),
                    implied=(),
                    explanation=f"{label(hfu)} {row[hfu]:.4g} is below {label(mfu)} "
                    f"{row[mfu]:.4g}, unlike {row['kept']} of {row['n']} rows",
                    meaning="Recomputation adds to what the hardware does; one of the two is "
                    "wrong, or they are exchanged.",
                    cases=(str(row["case"]),),
                    quantities=(hfu, mfu),
                )
            )
    return found


def _said_peak(row: dict[str, Any]) -> str:
    rate, peak = row[RATE] / 1e12, row["peak"] / 1e12
    return f"{rate:.4g} TFLOP/s on a GPU whose dense peak is {peak:.4g}"


def _over(table: pl.DataFrame, name: str, limit: pl.Expr) -> list[dict[str, Any]]:
    if table.is_empty():
        return []
    return table.filter(pl.col(f"{name}_low") > limit).to_dicts()


def printed(row: dict[str, Any], name: str) -> Number:
    """A printed value of a run with its interval."""
    low, value, high = (float(row[n]) for n in (f"{name}_low", name, f"{name}_high"))
    return Number(name, value, low, high, UNITS[name])


def _bound(
    evidence: Evidence, law: str, row: dict[str, Any], name: str, limit: float, said: str
) -> Finding:
    return Finding(
        law=law,
        kind="identity",
        severity="error",
        spans=(evidence.span(str(row["case"])),),
        observed=(printed(row, name),),
        implied=(Number(name, limit, 0.0, limit, UNITS[name]),),
        explanation=said,
        meaning="Do not use the number; a unit, a batch or a GPU count behind it is wrong.",
        cases=(str(row["case"]),),
        quantities=(name,),
    )


THOUSAND = (300.0, 3000.0)
"""A ratio to the rest of a column that only a unit can explain."""

ALIKE = 4.0
"""Within this factor of their median the rest of a column is of one kind."""

LEAST_ROWS = 4


def unit_slips(evidence: Evidence) -> list[Finding]:
    """A number a thousand times away from a column whose other numbers are of one kind."""
    runs = evidence.runs
    found = []
    for name in MEASURED:
        if runs.is_empty() or runs[name].count() < LEAST_ROWS:
            continue
        value = pl.col(name)
        middle = value.median().over("source", "group")
        ratio = pl.max_horizontal(value / middle, middle / value)
        odd = ratio.is_between(*THOUSAND) & (ratio.is_not_null())
        rest = (ratio > ALIKE).sum().over("source", "group") == odd.sum().over("source", "group")
        enough = value.count().over("source", "group") >= LEAST_ROWS
        few = odd.sum().over("source", "group") <= 1
        table = runs.with_columns(middle=middle).filter(odd & rest & enough & few)
        for row in table.iter_rows(named=True) if not table.is_empty() else ():
            if row["case"] in _vouched(evidence)[name]:
                continue
            times = "1000 times" if row[name] > row["middle"] else "a thousandth of"
            found.append(
                Finding(
                    law="unit-slip",
                    kind="statistical",
                    severity="warning",
                    spans=(evidence.span(row["case"]),),
                    observed=(printed(row, name),),
                    implied=(Number(name, row["middle"], row["middle"] / ALIKE,
                                    row["middle"] * ALIKE, UNITS[name]),),
                    explanation=f"{label(name)} is about {times} the others of its column",
                    meaning="The cell is probably in another unit than its column.",
                    cases=(row["case"],),
                    quantities=(name,),
                )
            )  # fmt: skip
    return found


def _vouched(evidence: Evidence) -> dict[str, set[str]]:
    """Number → runs in which a relation or formula that the document keeps confirms it."""
    found: dict[str, set[str]] = {name: set() for name in MEASURED}
    held = evidence.checked.filter("believed", "hit").select("case", "cells")
    for case, cells in held.iter_rows():
        for name in found.keys() & set(cells):
            found[name].add(case)
    for each, choice in evidence.choices:
        if not choice.believed:
            continue
        met = each.rows.table.select("case", "says")[choice.at[choice.hits == 1]]
        for case, says in met.iter_rows():
            for name in {choice.quantity, says}:
                found[name].add(case)
    return found
