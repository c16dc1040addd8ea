"""Stacks: the calibrated kernels of one machine, packaged or a user's own, and who borrows whose.

`stacks/<machine>.toml` are built from measurements by `assay calibrate`. A machine without one
takes the efficiencies of the nearest machine that has, with its own datasheet figures and a wider
interval; every prediction names the machine whose measurements it rests on.

Source: docs/stacks.md lists the packaged stacks and their measurements, docs/kernels.md the errors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources

import polars as pl
from assay.model.fit.learnt import Calibrated
from assay.model.frames import predictions
from assay.model.kernels.kernel import inputs, with_facts
from assay.model.machines.datasheets import Machine, machine, machines
from assay.model.stacks import stack_file

NEAREST = {
    "volta": ("volta", "ampere", "hopper", "blackwell"),
    "turing": ("volta", "ampere", "hopper", "blackwell"),
    "ampere": ("ampere", "hopper", "blackwell"),
    "ada": ("ampere", "hopper", "blackwell"),
    "hopper": ("hopper", "ampere", "blackwell"),
    "blackwell": ("blackwell", "hopper", "ampere"),
    "blackwell-rtx": ("ampere", "hopper", "blackwell"),
    "cdna1": ("cdna3", "ampere", "hopper", "blackwell"),
    "cdna2": ("cdna3", "ampere", "hopper", "blackwell"),
    "cdna3": ("cdna3", "cdna4", "hopper", "ampere", "blackwell"),
    "cdna4": ("cdna4", "cdna3", "blackwell", "hopper", "ampere"),
    "tpu3": ("tpu2", "hopper", "ampere", "blackwell"),
    "tpu4": ("tpu2", "hopper", "ampere", "blackwell"),
    "tpu5": ("tpu2", "hopper", "ampere", "blackwell"),
    "tpu6": ("tpu2", "hopper", "ampere", "blackwell"),
    "tpu7": ("tpu2", "hopper", "ampere", "blackwell"),
}
"""Generations in the order in which a machine asks them for measurements."""

WIDEN_MODEL, WIDEN_GENERATION, WIDEN_OTHER, WIDEN_VENDOR, WIDEN_DTYPE = 1.05, 1.10, 1.20, 1.5, 1.2
"""Factors on the interval of what is borrowed: same model with other memory, same generation, other
generation, other vendor; and other number format. H100 parameters miss H200 by 6 and B200 by 10 %
(docs/kernels.md), which the second and third cover."""

DENSITY = 0.2
"""A chip with more peak per watt sustains a smaller share of it: share ~ (peak/power)^-DENSITY.

The exponent is what lies between the fitted shares of A100 (0.78 TFLOP/s/W) and H100 (1.41). A
lender's share is only ever lowered: with power to spare, other limits hold.
"""


@dataclass(frozen=True)
class Stack:
    """Calibrated kernels by scope (gemm, attention, …), for one machine of machines.toml."""

    machine: str
    parts: Mapping[str, Calibrated]

    def part(self, scope: str) -> Calibrated:
        """The kernel of `scope`. Raises LookupError, which names the scopes there are."""
        if scope not in self.parts:
            known = ", ".join(self.parts) or "none"
            raise LookupError(f"the stack of {self.machine} has no {scope}; it has {known}")
        return self.parts[scope]


@functools.cache
def packaged() -> Mapping[str, Stack]:
    """The stacks that come with the package, by machine."""
    folder = resources.files(__package__)
    files = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".toml")),
        key=lambda entry: entry.name,
    )
    found = [load(entry.read_text(encoding="utf-8")) for entry in files]
    return {one.machine: one for one in found}


def load(text: str) -> Stack:
    """The stack that a TOML text holds. Raises ValueError, which says what is wrong with it."""
    name, parts = stack_file.read(text)
    return Stack(name, parts)


def dump(stack: Stack) -> str:
    """The TOML text of a stack."""
    return stack_file.write(stack.machine, stack.parts)


def stack_for(name: str, among: Mapping[str, Stack] | None = None) -> Stack:
    """The stack for a machine, borrowed scope by scope where it has no measurements of its own.

    Raises LookupError for a machine that is unknown.

    >>> stack_for("A100-40g").part("gemm").machine
    'A100-80g'
    """
    known = packaged() if among is None else among
    target = machine(name)
    parts: dict[str, Calibrated] = {}
    for scope in sorted({scope for one in known.values() for scope in one.parts}):
        lenders = [machine(one.machine) for one in known.values() if scope in one.parts]
        lender = min(lenders, key=lambda one: _distance(target, one))
        part = known[lender.name].parts[scope]
        parts[scope] = part if lender.name == target.name else lent(part, lender, target)
    return Stack(target.name, parts)


def lent(part: Calibrated, lender: Machine, target: Machine) -> Calibrated:
    """`part` for another machine: no neighbours, as its library may choose otherwise, and wider.

    That its products run in a step as they do alone was seen on the lender, and is not lent to
    another generation, whose balance of arithmetic and memory is another.
    """
    wider = (
        WIDEN_VENDOR
        if lender.vendor != target.vendor
        else WIDEN_OTHER
        if lender.generation != target.generation
        else WIDEN_GENERATION
        if lender.model != target.model
        else WIDEN_MODEL
    )
    alike = part.in_step and lender.generation == target.generation
    values = _denser(part, lender, target)
    return _widened(replace(part, values=values, in_step=alike), wider)


def _denser(part: Calibrated, lender: Machine, target: Machine) -> dict[str, float]:
    """Values with the share of the peak that the target can sustain on its power."""
    if "compute" not in part.values or not {part.dtype} <= set(lender.peaks) & set(target.peaks):
        return part.values
    if lender.power is None or target.power is None:
        return part.values
    here, there = target.peak(part.dtype) / target.power, lender.peak(part.dtype) / lender.power
    share = min(1.0, (here / there) ** -DENSITY)
    return part.values | {"compute": part.values["compute"] * share}


def _widened(part: Calibrated, factor: float) -> Calibrated:
    return replace(
        part,
        low={name: value / factor for name, value in part.low.items()},
        high={name: value * factor for name, value in part.high.items()},
        interval=None if part.interval is None else part.interval.widened(factor),
        near=None,
    )


def _distance(target: Machine, lender: Machine) -> tuple[int, int, float, str]:
    """How far a lender is: generation first, then the model name, then the datasheet figures."""
    order = NEAREST.get(target.generation, ("hopper", "ampere", "blackwell"))
    place = order.index(lender.generation) if lender.generation in order else len(order)
    shared = set(target.peaks) & set(lender.peaks)
    ratios = [target.peak(one) / lender.peak(one) for one in sorted(shared)]
    ratios.append(target.memory_bandwidth / lender.memory_bandwidth)
    apart = sum(abs(math.log(ratio)) for ratio in ratios) / len(ratios)
    exact = -1 if lender.name == target.name else place
    return exact, int(lender.model != target.model), apart, lender.name


def predict(
    cases: pl.DataFrame, scope: str, stack: Stack | None = None, *, label: str = ""
) -> pl.DataFrame:
    """Prediction frame with 90 % intervals for the cases of one scope, machine by machine.

    Without `stack` each machine takes its packaged or borrowed one. `basis` names the kernel and
    the machine that was measured; `model` is `label`, or the kernel's name. Rows of unknown
    machines get no prediction. Units: seconds. Raises LookupError where the stack lacks the scope.
    """
    names = [name for name in cases["machine"].unique().drop_nulls().sort() if name in machines()]
    empty = predictions(
        cases.clear().with_columns(time=pl.lit(None, pl.Float64)),
        pl.col("time"),
        scope=scope,
        quantity="time",
        unit="s",
        model="",
        basis="",
    )
    found = [
        _predict_one(rows, scope, stack or stack_for(name), label)
        for name in names
        for rows in cases.filter(pl.col("machine") == name).partition_by("dtype")
    ]
    return pl.concat([empty, *found])


def _predict_one(cases: pl.DataFrame, scope: str, stack: Stack, label: str) -> pl.DataFrame:
    """Predictions for the cases of one machine and one number format."""
    part, name = stack.part(scope), cases["machine"][0]
    borrowed = part.machine != name
    if _other_format(part, cases["dtype"][0]):
        part, borrowed = _widened(part, WIDEN_DTYPE), True
    table = with_facts(cases)
    seconds = part.time(inputs(part.kernel, table))
    low, high = (None, None) if part.interval is None else part.interval.bounds(seconds)
    table = table.with_columns(
        time=pl.Series(seconds),
        low=pl.lit(None) if low is None else pl.Series(low),
        high=pl.lit(None) if high is None else pl.Series(high),
    )
    whose = f"{part.machine} {part.dtype} parameters" + (", borrowed" if borrowed else "")
    return predictions(
        table,
        pl.col("time"),
        low=pl.col("low"),
        high=pl.col("high"),
        scope=scope,
        quantity="time",
        unit="s",
        model=label or part.kernel.name,
        basis=f"{part.kernel.basis} ({whose})",
    )


def _other_format(part: Calibrated, dtype: str | None) -> bool:
    """bf16 and fp16 run at one rate, and a collective only counts bytes."""
    alike = {"bf16", "fp16"}
    same = part.dtype == dtype or {part.dtype, dtype} <= alike
    return not same and part.kernel.scope in {"gemm", "attention"}
