"""A model of a user's, as an entry point of the group `assay.models` names it.

In: a case frame (`GEMM_CASE` or `CONFIGURATION_CASE` of `assay.model.frames`, one row per case).
Out: a prediction frame, most easily by `assay.model.frames.predictions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

SCOPES = ("configuration", "gemm")

Predict = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class Model:
    """A function from cases to predictions, and what a report says of it.

    `scope` chooses the cases: `configuration` (what ran) or `gemm` (products). `needs` are the
    columns without which it predicts nothing, so that a report can say what is missing. Where a
    case prints a rate and no time, a predicted `step_time` or `time` is turned into that rate.

    Raises ValueError for another scope.
    """

    predict: Predict
    scope: str = "configuration"
    quantities: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    about: str = "a model from outside"
    fitted: bool = False  # on measurements, which ones `about` says

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise ValueError(f"scope {self.scope!r}: expected one of {', '.join(SCOPES)}")
