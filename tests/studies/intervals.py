"""Intervals of whole campaigns: how errors hang together, and what an interval made of it covers.

Every campaign is left out in turn. The spread of campaigns and of rows comes from the others; the
campaign counts as one, whatever its rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from assay.model.stacks.kernel_times import kernel_times
from assay.model.step.spread import TAIL, half_width
from assay.validate.score.statistics import Floats

from tests.studies.box import PERCENT, boxes
from tests.studies.entries import Entry

FIXED = 0.40
"""Half-width of one interval for everything: what was shipped before."""


def entries() -> list[Entry]:
    """`campaigns.*`: spreads, and coverage, medians and score of intervals, campaigns left out."""
    missed = {name: np.log(box.measured / box.predicted) for name, box in boxes().items()}
    if not missed:
        return []
    campaign, row = spread(missed)
    fresh = {name: _left_out(missed, name) for name in missed}
    shipped = {
        name: np.array([half_width(one, kernel_times(one.machine.name)) for one in box.runs])
        for name, box in boxes().items()
    }
    size = sum(len(rows) for rows in missed.values())
    return [
        Entry("campaigns.spread.campaign", PERCENT * campaign, "%", len(missed)),
        Entry("campaigns.spread.row", PERCENT * row, "%", size),
        Entry("campaigns.coverage", PERCENT * _covered(missed, shipped), "%", len(missed)),
        Entry("campaigns.coverage.fresh", PERCENT * _covered(missed, fresh), "%", len(missed)),
        Entry("campaigns.medians", PERCENT * _medians(missed, shipped), "%", len(missed)),
        Entry("campaigns.interval_score", _score(missed, shipped), "1", len(missed)),
        Entry("campaigns.interval_score.fixed", _score(missed, dict.fromkeys(missed, FIXED)), "1",
              len(missed)),
        Entry("campaigns.mape", PERCENT * float(np.mean([
            np.abs(box.error).mean() for box in boxes().values()])), "%", len(missed)),
    ]  # fmt: skip


def spread(missed: Mapping[str, Floats]) -> tuple[float, float]:
    """Standard deviations of campaigns around zero, and of rows around their campaign."""
    means = np.array([rows.mean() for rows in missed.values()])
    within = np.mean([rows.var() for rows in missed.values() if len(rows) > 1])
    return float(np.sqrt((means**2).mean())), float(np.sqrt(within))


def _left_out(missed: Mapping[str, Floats], name: str) -> float:
    others = {other: rows for other, rows in missed.items() if other != name}
    return TAIL * math.hypot(*spread(others))


Widths = Mapping[str, float] | Mapping[str, Floats]


def _covered(missed: Mapping[str, Floats], widths: Widths) -> float:
    """Share of rows inside, the mean of campaigns."""
    return float(np.mean([(np.abs(rows) <= widths[name]).mean() for name, rows in missed.items()]))


def _medians(missed: Mapping[str, Floats], widths: Widths) -> float:
    """Share of campaigns whose median row lies inside its interval."""
    inside = [
        abs(float(np.median(rows))) <= float(np.median(widths[name]))
        for name, rows in missed.items()
    ]
    return float(np.mean(inside))


def _score(missed: Mapping[str, Floats], widths: Widths) -> float:
    """Mean width of a 90 % interval plus 20 times what a row lies outside it; less is better."""
    found = []
    for name, rows in missed.items():
        outside = np.maximum(np.abs(rows) - widths[name], 0.0)
        found.append(float(np.mean(2.0 * np.asarray(widths[name]) + 2.0 / 0.1 * outside)))
    return float(np.mean(found))
