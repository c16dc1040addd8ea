"""One finding per row that misses a relation: what is wrong with it, as narrowly as can be said.

A `Miss` holds every believed relation and formula of a row, kept and missed. A row may miss several
for one cause. The cells that all missed relations share, less those that a kept relation vouches
for, are under suspicion; where exactly one change with a reason satisfies the row, it is the
explanation. Rows of one table with one explanation are one finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite, log10
from typing import Any

import numpy as np
import polars as pl
from assay.ingest.schema.record import Span
from assay.validate.arithmetic import suspects as reasons
from assay.validate.arithmetic.count_relations import BATCH, DEGREES, DIVIDED
from assay.validate.arithmetic.count_relations import TOKENS as BATCH_TOKENS
from assay.validate.arithmetic.following import Choice, Followed, other_formulas
from assay.validate.arithmetic.identity_check import PER_TOKEN
from assay.validate.arithmetic.printed_runs import MEASURED, UNITS, label
from assay.validate.arithmetic.rated_rows import Rows
from assay.validate.arithmetic.relations import SLACK
from assay.validate.arithmetic.speed_relations import PER_GPU, SAMPLES, TOKENS, cells
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Number, Severity

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
    row = evidence.row(miss.case)
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
        values = evidence.row(miss.case).row(0, named=True)
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


SHARP = 2e-3
"""Widths of two intervals together that leave a power of ten no accident."""


@dataclass
class Miss:
    """A row, what it misses, and what it keeps."""

    case: str
    group: str
    missed: list[dict[str, Any]] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    believed: bool = False  # whether what is missed is believed without an explanation

    @property
    def first(self) -> dict[str, Any]:
        """The missed relation that says most: exact ones, then the narrowest."""
        return min(self.missed, key=lambda c: (c["place"] > 0, len(c["cells"]), -c["off"]))


def misses(evidence: Evidence) -> dict[str, Miss]:
    """Every row that misses a believed relation, or a formula the document knows."""
    checked = evidence.checked.filter("believed")
    bad = checked.filter(~pl.col("hit"))
    found = {
        row["case"]: Miss(row["case"], row["group"], believed=True)
        for row in bad.iter_rows(named=True)
    }
    for each, choice in evidence.choices:
        others = other_formulas(each.rows, choice)
        known = choice.believed or choice.proven
        for place in np.flatnonzero(choice.hits == 0):
            at, far = int(choice.at[place]), bool(choice.far[place])
            if far or (known and at not in others):  # else it is not worth a word
                case = each.rows.table["case"][at]
                miss = found.setdefault(case, Miss(case, choice.group))
                strong = choice.believed or far or _decade_off(each.rows, choice, at)
                miss.believed |= strong
    for row in checked.filter(pl.col("case").is_in(list(found))).iter_rows(named=True):
        miss = found[row["case"]]
        (miss.kept if row["hit"] else miss.missed).append(row)
    for each, choice in evidence.choices:
        names = each.rows.table["case"].gather(choice.at).to_list()
        for case, at, hit, far in zip(names, choice.at, choice.hits, choice.far, strict=True):
            known = choice.believed or choice.proven or far
            if case in found and np.isfinite(hit) and known:
                row = _as_checked(each, choice, int(at))
                (found[case].kept if hit else found[case].missed).append(row)
                found[case].choices.append(choice)
    return {case: miss for case, miss in found.items() if miss.missed}


def _decade_off(rows: Rows, choice: Choice, at: int) -> bool:
    """Whether a number is a power of ten from what a proven formula gives, so sharply that it is
    no accident: no other model or formula explains a shifted point."""
    low, value, high = (float(end[at]) for end in choice.candidate.implied)
    first, printed, last = (float(end[at]) for end in rows.printed)
    sharp = (high - low) / value + (last - first) / printed <= SHARP
    power = 10.0 ** round(log10(printed / value))
    return choice.proven and sharp and power != 1 and low * power <= last and high * power >= first


def _as_checked(each: Followed, choice: Choice, at: int) -> dict[str, Any]:
    rows, candidate = each.rows, choice.candidate
    row = rows.table.row(at, named=True)
    inputs = [name for name in ("hidden", "layers", "vocab", "seq_len", "parameters", "heads", "tp")
              if row.get(name) is not None]  # fmt: skip
    low, value, high = (float(end[at]) for end in rows.printed)
    least, implied, most = (float(end[at]) for end in candidate.implied)
    gap, unit = max(least - high, low - most), max(float(rows.place[at]), most - least)
    hit = gap <= SLACK * value
    speed = cells(row["says"])
    held = {choice.quantity, *speed, *inputs, "gpus", "nodes"}
    if row["says"] == "tokens_per_gpu_per_s":  # a rate per GPU owes nothing to their number
        held -= {"gpus", "nodes"}
    return {
        "printed": value, "low": low, "high": high, "place": float(rows.place[at]),
        "implied": implied, "implied_low": least, "implied_high": most,
        "hit": hit, "off": 0.0 if hit else gap / unit, "apart": max(gap, 0.0) / min(high, most),
        "law": choice.quantity,
        "quantity": choice.quantity,
        "cells": sorted(held),
        "formula_id": candidate.formula_id,
        "tried": choice.tried,
    }  # fmt: skip
