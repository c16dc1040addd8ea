"""One finding per row that misses a relation: what is wrong with it, as narrowly as can be said.

A row may miss several relations for one cause. The cells that all missed relations share, less
those that a kept relation vouches for, are under suspicion; where exactly one change with a reason
satisfies the row, it is the explanation. Rows of one table with one explanation are one finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

import numpy as np
import polars as pl
from assay.ingest.types import Span
from assay.validate.identities import suspects as reasons
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Number, Severity
from assay.validate.identities.layout import BATCH, DEGREES, DIVIDED
from assay.validate.identities.layout import TOKENS as BATCH_TOKENS
from assay.validate.identities.misses import Miss, misses
from assay.validate.identities.proportional import PER_TOKEN
from assay.validate.identities.runs import MEASURED, UNITS, label
from assay.validate.identities.speeds import PER_GPU, SAMPLES, TOKENS

SMALL = 3.0
"""Units in the last place up to which a miss is a matter of rounding."""

CLOSE = 0.05
"""Share of a number up to which it is: three units of a single digit are no rounding."""

LAWS = {
    SAMPLES: "samples-per-second", TOKENS: "tokens-per-second", PER_GPU: "rate-per-gpu",
    DEGREES: "parallel-degrees", DIVIDED: "parallel-degrees", BATCH: "batch-accumulation",
    BATCH_TOKENS: "batch-tokens",
}  # fmt: skip
FORMULA_LAW = {"model_flops_rate": "rate-from-time"}
FLOP_PER_TOKEN = "flop-per-token"
UTILISATION = "utilisation-from-throughput"
HEADING = "heading-against-column"

EXPLAINED = 20
"""Rows of one table or log whose cause is looked for; a log may break a law on every line."""

WEAK = (BATCH, DIVIDED)
"""Relations that a wrong cell may keep: they clear no cell of suspicion."""

MEANINGS: dict[str, str] = {
    "error": "Do not use the row before the document has been corrected.",
    "warning": "Ask before using the number; the row may mean something else than it says.",
    "note": "The number can be used; its last digit is uncertain.",
}


def row_findings(evidence: Evidence) -> list[Finding]:
    """Findings of all relations and formulas, one per row or explanation."""
    found: list[Finding] = []
    tried: Counter[str] = Counter()
    for miss in misses(evidence).values():
        tried[miss.group] += 1
        suspect = _explained(evidence, miss) if tried[miss.group] <= EXPLAINED else None
        if miss.believed or suspect is not None:
            found.append(_finding(evidence, miss, suspect))
    return _merged(found)


def _explained(evidence: Evidence, miss: Miss) -> reasons.Suspect | None:
    """The one change with a reason that satisfies the row; None where none or several do."""
    row = evidence.runs.filter(pl.col("case") == miss.case)
    values = row.row(0, named=True)
    accused = set.intersection(*(set(c["cells"]) for c in miss.missed))
    vouched = {name for c in miss.kept for name in c["cells"] if c["law"] not in WEAK}
    named = sorted(accused - vouched) or sorted(accused)
    if not named:
        return None
    told = reasons.Told(
        evidence.headings(values["source"], values["line"]),
        evidence.runs.filter(pl.col("group") == miss.group),
        evidence.runs.filter(pl.col("source") == values["source"]),
    )
    variants = {row["key"]: row["variant"] for row in (*miss.kept, *miss.missed) if "key" in row}
    told_by = set(reasons.REASONS) if miss.believed else {"heading"}
    if len(miss.missed) == 1 and miss.first["place"] == 0:  # one count too many fits anything
        told_by -= {"copied", "slip"}
    tries = [each for each in reasons.suspects(values, named, told) if each.reason in told_by]
    good = reasons.satisfying(row, tries, variants, miss.choices)
    for reason in reasons.REASONS:
        mine = {each.changes: each for each in good if each.reason == reason}
        if len(mine) == 1:
            return next(iter(mine.values()))
        if mine:
            return None
    return None


def _finding(evidence: Evidence, miss: Miss, suspect: reasons.Suspect | None) -> Finding:
    first = miss.first
    small = suspect is None and all(_small(each) for each in miss.missed)
    severity: Severity = "note" if small else "error"
    span = evidence.span(miss.case)
    spans = [span]
    observed = [_number(first["quantity"], first["printed"], first["low"], first["high"])]
    implied = [
        _number(first["quantity"], first["implied"], first["implied_low"], first["implied_high"])
    ]
    correction = []
    if suspect is not None:
        values = evidence.runs.filter(pl.col("case") == miss.case).row(0, named=True)
        for name, value in suspect.changes:
            observed.append(_number(name, float(values[name])))
            implied.append(_number(name, value))
            correction.append((miss.case, name, value))
        if suspect.at is not None:
            spans.append(suspect.at)
    law = _law_of(first)
    if suspect is not None and suspect.reason == "heading":
        law = HEADING
    return Finding(
        law=law,
        kind="identity",
        severity=severity,
        spans=tuple(spans),
        observed=tuple(observed),
        implied=tuple(implied),
        explanation=_explanation(miss, suspect),
        meaning=MEANINGS[severity],
        cases=(miss.case,),
        quantities=tuple(n for n in MEASURED if n != "memory") if severity == "error" else (),
        correction=tuple(correction),
    )


def _small(row: dict[str, Any]) -> bool:
    """Whether a miss may be rounding: three units in the last place, of a number so precise."""
    return bool(row["off"] <= SMALL and row["apart"] <= CLOSE)


def _law_of(row: dict[str, Any]) -> str:
    if row.get("formula_id") == PER_TOKEN:
        return FLOP_PER_TOKEN
    return LAWS.get(row["law"]) or FORMULA_LAW.get(row["law"], UTILISATION)


def _number(
    quantity: str, value: float, low: float | None = None, high: float | None = None
) -> Number:
    name = "gpus" if quantity == "stated_gpus" else quantity
    return Number(
        name, value, value if low is None else low, value if high is None else high,
        UNITS.get(name, "1"),
    )  # fmt: skip


def _explanation(miss: Miss, suspect: reasons.Suspect | None) -> str:
    parts = [_said(each) for each in miss.missed[:2]]
    if suspect is not None:
        parts.append(suspect.text)
    vouching = [each for each in miss.kept if "formula_id" in each and "gpus" in each["cells"]]
    if suspect is not None and vouching and isfinite(_stated_gpus(miss)):
        gpus = _stated_gpus(miss)
        parts.append(f"{label(vouching[0]['quantity'])} agree with {gpus:g} GPUs")
    return "; ".join(parts)


def _stated_gpus(miss: Miss) -> float:
    """The GPUs that a row states, where it misses what its degrees make."""
    stated = [row["printed"] for row in miss.missed if row["quantity"] == "stated_gpus"]
    return float(stated[0]) if stated else float("nan")


def _said(row: dict[str, Any]) -> str:
    if row["law"] == BATCH:
        steps = f"{row['printed']:g} micro-batches are printed, {row['implied']:g} would do"
        return f"GBS is not MBS × accumulation × DP: {steps}"
    if row["law"] == DIVIDED:
        return (
            f"{row['printed']:g} GPUs are no multiple of the parallel degrees beside them, "
            f"{row['implied']:g} would be"
        )
    name = label("gpus" if row["quantity"] == "stated_gpus" else row["quantity"])
    ratio = row["printed"] / row["implied"]
    how = f" by {row['formula_id']} ({row['tried']} tried)" if "formula_id" in row else ""
    return (
        f"{name} {_short(row['quantity'], row['printed'])} printed, "
        f"{_short(row['quantity'], row['implied'])} implied{how}, ratio {ratio:.4g}"
    )


def _short(quantity: str, value: float) -> str:
    scale = 1e12 if quantity == "model_flops_rate" else 1.0
    return f"{value / scale:.6g}"


def _merged(found: Iterable[Finding]) -> list[Finding]:
    """Rows of one source with one explanation, which stands elsewhere, are one finding."""
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for each in found:
        changes = tuple((name, value) for _, name, value in each.correction)
        shared = each.law == HEADING and len(each.spans) > 1
        key = (each.law, each.spans[1], changes) if shared else (each.law, each.spans[0])
        groups.setdefault(key, []).append(each)
    return [_union(each) for each in groups.values()]


def _union(found: Sequence[Finding]) -> Finding:
    if len(found) == 1:
        return found[0]
    one = found[0]
    rows = [each.spans[0] for each in found]
    said = tuple(dict.fromkeys(number for each in found for number in each.observed))
    implied = tuple(dict.fromkeys(number for each in found for number in each.implied))
    spans: list[Span] = [*rows[:3], one.spans[1]]
    ratio = np.array([each.observed[0].value / each.implied[0].value for each in found])
    name, value = one.correction[0][1], one.correction[0][2]
    return Finding(
        law=one.law,
        kind=one.kind,
        severity=one.severity,
        spans=tuple(spans),
        observed=said,
        implied=implied,
        explanation=(
            f"{label(name)} {value:g}, as the statement above has it, satisfies all {len(found)} "
            f"rows; with the column's value {label(one.observed[0].quantity)} are "
            f"{ratio.min():.4g} of what follows"
        ),
        meaning=one.meaning,
        cases=tuple(case for each in found for case in each.cases),
        quantities=one.quantities,
        correction=tuple(change for each in found for change in each.correction),
    )
