"""The descent of every fit: parameters as logarithms between their bounds, robust least squares.

In: parameters with their bounds, and a function from a point (the logarithms of their values) to
residuals, logarithms of predicted over measured. Out: the point where their robust sum is least,
the interval that resampled optima leave, and which parameters stand at a bound. Kernels and steps
are fitted by it; what they are, how far a residual counts in full and where to begin is theirs.

Shapes: a point is [parameters]; drawn optima are [draws, parameters].
Source: soft L1 loss of scipy's `least_squares`; docs/kernels.md and docs/model.md, on fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from assay.model.kernels.kernel import Floats, Parameter, Values

CONFIDENCE = 0.90

WIDE = 2.0
"""A parameter whose interval spans more than this factor is called not identifiable."""

ENTANGLED = 0.95
"""So are two parameters whose correlation exceeds this."""

AT_BOUND = 1e-3
"""Share of the way between its bounds that counts as at one of them."""

EVALUATIONS = 60
"""Points at which residuals are asked for, at most."""


@dataclass(frozen=True)
class Free:
    """The parameters that a fit moves, in the order of its points; values in their own units."""

    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(one.name for one in self.parameters)

    @property
    def low(self) -> Floats:
        """The lower bounds, as a point. Shapes: [parameters]."""
        return np.log([one.low for one in self.parameters])

    @property
    def high(self) -> Floats:
        """The upper bounds, as a point. Shapes: [parameters]."""
        return np.log([one.high for one in self.parameters])

    def named(self, point: Floats) -> dict[str, float]:
        """The values at a point, by name. Units: the parameters' own."""
        return {name: float(np.exp(at)) for name, at in zip(self.names, point, strict=True)}

    def point(self, values: Values) -> Floats:
        """The values of these parameters as a point within the bounds. Shapes: [parameters]."""
        return np.clip(np.log([values[name] for name in self.names]), self.low, self.high)

    def solve(
        self,
        residuals: Callable[[Floats], Floats],
        start: Floats,
        *,
        scale: float,
        evaluations: int = EVALUATIONS,
        jacobian: Callable[[Floats], Floats] | None = None,
    ) -> tuple[Floats, float]:
        """The optimum from `start` and its cost; residuals beyond `scale` count linearly.

        Without a `jacobian` slopes are difference quotients of scipy's own step.
        Shapes: residuals [rows, and what pulls to the start], points [parameters].
        """
        if not self.parameters:
            return start, 0.0
        from scipy.optimize import least_squares  # noqa: PLC0415 - half a second, which no report needs

        margin = 1e-9 * (self.high - self.low)
        asked: dict[str, Any] = {} if jacobian is None else {"jac": jacobian}
        answer = least_squares(
            residuals,
            np.clip(start, self.low + margin, self.high - margin),
            bounds=(self.low, self.high),
            loss="soft_l1",
            f_scale=scale,
            max_nfev=evaluations,
            **asked,
        )
        return np.asarray(answer.x), float(answer.cost)

    def interval(self, drawn: Floats, best: Floats) -> tuple[Floats, Floats]:
        """Points between which 90 % of the drawn optima lie, and the best one always.

        Shapes: drawn [draws, parameters], two points out.
        """
        tail = (1.0 - CONFIDENCE) / 2.0
        low = np.minimum(np.quantile(drawn, tail, axis=0), best)
        return low, np.maximum(np.quantile(drawn, 1.0 - tail, axis=0), best)

    def bound(self, point: Floats) -> npt.NDArray[np.bool_]:
        """Which parameters stand at one of their bounds. Shapes: [parameters]."""
        near = AT_BOUND * (self.high - self.low)
        return np.asarray((point - self.low < near) | (self.high - point < near), dtype=np.bool_)


def entangled(correlation: Floats) -> npt.NDArray[np.bool_]:
    """Which parameters move with another: a correlation beyond `ENTANGLED`.

    Shapes: [parameters, parameters] in, [parameters] out.
    """
    others = np.abs(correlation - np.eye(len(correlation)))
    return np.asarray((others > ENTANGLED).any(axis=0), dtype=np.bool_)
