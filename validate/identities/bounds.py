"""What no run can do: more than the peak, less than the roofline, a thousandth of others."""

from __future__ import annotations

from typing import Any

import polars as pl
from assay.ingest.types import Span
from assay.model.machine import machines
from assay.validate.identities.counting import WIDTHS
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Number
from assay.validate.identities.rates import RATE
from assay.validate.identities.runs import MEASURED, UNITS, label

UTILISATIONS = ("mfu", "hfu", "mfu_weights", "hfu_weights")
MARGIN = 1.05
"""Clocks above the datasheet's and masks counted in full account for less than this."""

THOUSAND = (300.0, 3000.0)
"""A ratio to the rest of a column that only a unit can explain."""

ALIKE = 4.0
"""Within this factor of their median the rest of a column is of one kind."""

LEAST_ROWS = 4


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
    table = runs.with_columns(peak=_peak(runs))
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
    frame = evidence.reading.frames.get("gemm_table")
    if gemm.is_empty() or frame is None:
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
        .join(frame.select("source", "line", "column", "time", "time_ulp"), on=["source", "line"])
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
        runs.with_columns(peak=_peak(runs))
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
            observed=(_number(row, "step_time"),),
            implied=(Number("step_time", row["least"], row["least"], float("inf"), "s"),),
            explanation=f"the products of all layers alone take {row['least']:.4g} s at the peak",
            meaning="Do not use the time; a batch, a GPU count or a unit of the row is wrong.",
            cases=(row["case"],),
            quantities=MEASURED,
        )
        for row in table.iter_rows(named=True)
    ]


def unit_slips(evidence: Evidence) -> list[Finding]:
    """A number a thousand times away from a column whose other numbers are of one kind."""
    runs = evidence.runs
    found = []
    for name in MEASURED:
        if runs.is_empty():
            break
        value = pl.col(name)
        middle = value.median().over("source", "group")
        ratio = pl.max_horizontal(value / middle, middle / value)
        odd = ratio.is_between(*THOUSAND) & (ratio.is_not_null())
        rest = (ratio > ALIKE).sum().over("source", "group") == odd.sum().over("source", "group")
        enough = value.count().over("source", "group") >= LEAST_ROWS
        few = odd.sum().over("source", "group") <= 1
        table = runs.with_columns(middle=middle).filter(odd & rest & enough & few)
        table = table.filter(~pl.col("case").is_in(_vouched(evidence, name)))
        for row in table.iter_rows(named=True):
            times = "1000 times" if row[name] > row["middle"] else "a thousandth of"
            found.append(
                Finding(
                    law="unit-slip",
                    kind="statistical",
                    severity="warning",
                    spans=(evidence.span(row["case"]),),
                    observed=(_number(row, name),),
                    implied=(Number(name, row["middle"], row["middle"] / ALIKE,
                                    row["middle"] * ALIKE, UNITS[name]),),
                    explanation=f"{label(name)} is about {times} the others of its column",
                    meaning="The cell is probably in another unit than its column.",
                    cases=(row["case"],),
                    quantities=(name,),
                )
            )  # fmt: skip
    return found


def _vouched(evidence: Evidence, name: str) -> list[str]:
    """Runs in which some relation or formula that the document keeps confirms the number."""
    held = evidence.checked.filter("believed", "hit", pl.col("cells").list.contains(name))
    found = set(held["case"])
    for each, choice in evidence.choices:
        names = each.rows.table["case"].gather(choice.at).to_list()
        said = each.rows.table["says"].gather(choice.at).to_list()
        if choice.believed:
            found |= {
                case
                for case, hit, says in zip(names, choice.hits, said, strict=True)
                if hit == 1 and name in (choice.quantity, says)
            }
    return sorted(found)


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
        pl.lit(max(by_name.values())),
    )


def _said_peak(row: dict[str, Any]) -> str:
    rate, peak = row[RATE] / 1e12, row["peak"] / 1e12
    return f"{rate:.4g} TFLOP/s on a GPU whose dense peak is {peak:.4g}"


def _over(table: pl.DataFrame, name: str, limit: pl.Expr) -> list[dict[str, Any]]:
    if table.is_empty():
        return []
    return table.filter(pl.col(f"{name}_low") > limit).to_dicts()


def _number(row: dict[str, Any], name: str) -> Number:
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
        observed=(_number(row, name),),
        implied=(Number(name, limit, 0.0, limit, UNITS[name]),),
        explanation=said,
        meaning="Do not use the number; a unit, a batch or a GPU count behind it is wrong.",
        cases=(str(row["case"]),),
        quantities=(name,),
    )
