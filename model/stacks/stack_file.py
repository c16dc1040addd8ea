"""The TOML form of a stack: parameters with unit, bounds and interval, origin, neighbours.

Neighbours are stored as whole numbers: places in tenths of an octave, what the model missed in per
mille of the logarithm. Source: definition of the file, docs/stacks.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from assay.grammars.toml import toml
from assay.model.fit.learnt import Calibrated, Interval
from assay.model.fit.neighbours import Neighbours
from assay.model.kernels import attention, collective, experts, gemm, pointwise
from assay.model.kernels.kernel import Kernel
from assay.model.schedule import STEP

KERNELS: dict[str, Kernel] = {
    **gemm.KERNELS,
    **attention.KERNELS,
    **experts.KERNELS,
    collective.COLLECTIVE.name: collective.COLLECTIVE,
    pointwise.STREAMED.name: pointwise.STREAMED,
    STEP.name: STEP,
}
"""Every kernel a stack can hold, by name."""

LATER = ("loads", "alone")
"""Parameters that stacks written before them lack."""


def write(machine: str, parts: Mapping[str, Calibrated]) -> str:
    """TOML text of a machine's parts by scope; the same stack gives the same bytes."""
    lines = [
        "# Efficiencies fitted to measured kernels; built by `assay calibrate`, not by hand.",
        f"machine = {json.dumps(machine)}",
    ]
    for scope, part in parts.items():
        lines += ["", *_part_lines(scope, part)]
    return "\n".join(lines) + "\n"


def read(text: str) -> tuple[str, dict[str, Calibrated]]:
    """Machine and parts by scope. Raises ValueError, which says what is missing or strange."""
    document = toml(text)
    name = document.pop("machine", None)
    if not isinstance(name, str):
        raise ValueError('a stack names its machine: machine = "…"')
    return name, {scope: _part(scope, table) for scope, table in document.items()}


def _part_lines(scope: str, part: Calibrated) -> Iterable[str]:
    yield f"[{scope}]"
    yield f"kernel = {json.dumps(part.kernel.name)}"
    yield f"machine = {json.dumps(part.machine)}"
    yield f"dtype = {json.dumps(part.dtype)}"
    yield f"origin = {json.dumps(part.origin)}"
    yield f"rows = {part.rows}"
    yield f"groups = {part.groups}"
    if part.in_step:
        yield "in_step = true"
    if not math.isnan(part.condition):
        yield f"condition = {_number(part.condition)}"
        yield f"entangled = {json.dumps(part.entangled, ensure_ascii=False)}"
    for one in part.kernel.parameters:
        fields = {
            "value": _number(part.values[one.name]),
            "unit": json.dumps(one.unit),
            "low": _number(part.low[one.name]),
            "high": _number(part.high[one.name]),
            "bounds": f"[{_number(one.low)}, {_number(one.high)}]",
            "origin": '"assumed"' if part.values[one.name] == one.start else '"fitted"',
            "weak": "true" if one.name in part.weak else "false",
        }
        inside = ", ".join(f"{key} = {value}" for key, value in fields.items())
        yield f"parameters.{one.name} = {{ {inside} }} # {one.meaning}"
    if part.interval is not None:
        for key in ("edges", "low", "high"):
            yield f"interval.{key} = [{', '.join(map(_number, getattr(part.interval, key)))}]"
    if part.near is not None:
        yield from _near_lines(part.near)
    if part.seen:
        yield f"seen = {json.dumps(part.seen)}"


def _near_lines(near: Neighbours) -> Iterable[str]:
    yield f"neighbours.reach = {_number(near.reach)}"
    yield f"neighbours.trust = {_number(near.trust)}"
    for place, name in enumerate(near.dimensions):
        whole = np.rint(10.0 * near.points[:, place]).astype(int)
        yield f"neighbours.at.{name} = [{', '.join(map(str, whole.tolist()))}]"
    missed = np.rint(1000.0 * near.missed).astype(int)
    yield f"neighbours.missed = [{', '.join(map(str, missed.tolist()))}]"


def _number(value: float) -> str:
    """Six digits are more than any fit knows; TOML wants a dot or an exponent with digits."""
    text = f"{value:.6g}"
    return text if set(text) & set(".einf") else f"{text}.0"


def _part(scope: str, table: Mapping[str, Any]) -> Calibrated:
    try:
        kernel = KERNELS[table["kernel"]]
        # a stack that is older than a parameter of its kernel takes the documented start
        printed = {
            one.name: {"value": one.start, "low": one.low, "high": one.high, "weak": True}
            for one in kernel.parameters
            if one.name in LATER
        } | table["parameters"]
        names = [one.name for one in kernel.parameters]
        return Calibrated(
            kernel=kernel,
            values={name: float(printed[name]["value"]) for name in names},
            low={name: float(printed[name]["low"]) for name in names},
            high={name: float(printed[name]["high"]) for name in names},
            weak=tuple(name for name in names if printed[name].get("weak")),
            machine=str(table["machine"]),
            dtype=str(table["dtype"]),
            origin=str(table["origin"]),
            rows=int(table.get("rows", 0)),
            groups=int(table.get("groups", 0)),
            condition=float(table.get("condition", math.nan)),
            entangled=tuple(table.get("entangled", ())),
            in_step=bool(table.get("in_step", False)),
            interval=_interval(table.get("interval")),
            near=_near(table.get("neighbours")),
            seen=tuple(map(str, table.get("seen", ()))),
        )
    except KeyError as missing:
        raise ValueError(f"the part {scope} of a stack lacks or has an unknown {missing}") from None


def _interval(table: Mapping[str, Any] | None) -> Interval | None:
    if table is None:
        return None
    return Interval(*(tuple(map(float, table[key])) for key in ("edges", "low", "high")))


def _near(table: Mapping[str, Any] | None) -> Neighbours | None:
    if table is None:
        return None
    points = np.array(list(table["at"].values()), dtype=np.float64).T / 10.0
    missed = np.array(table["missed"], dtype=np.float64) / 1000.0
    return Neighbours(
        tuple(table["at"]), points, missed, float(table["reach"]), float(table["trust"])
    )
