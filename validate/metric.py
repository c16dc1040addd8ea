"""One figure of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """One figure of a run and what it rests on; `noise` is its relative spread between rows."""

    name: str
    value: float | None
    unit: str
    basis: str
    noise: float | None = None
