"""Rows that miss a relation or formula that they should keep: what they miss, and what they keep.

In: the evidence. Out: a `Miss` per row, with every believed relation and formula it takes part in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log10
from typing import Any

import numpy as np
import polars as pl
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.following import Choice, Followed, other_formulas
from assay.validate.identities.relation import SLACK
from assay.validate.identities.rows import Rows
from assay.validate.identities.speeds import cells

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
