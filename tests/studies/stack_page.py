"""`python -m tests.studies.stack_page > docs/stacks.md`: the packaged stacks."""

from __future__ import annotations

from collections.abc import Iterator

from assay.model.fit.learnt import Calibrated
from assay.model.machines.datasheets import machine, machines
from assay.model.stacks.stack import packaged, stack_for

HEAD = """# Packaged stacks

Generated from the stacks in the package by `python -m tests.studies.stack_page`. What the
parameters mean: [kernels.md](kernels.md). Intervals are 90 %, whole groups resampled. A parameter
is *open* where its interval spans more than a factor of two, it is entangled with another, it sits
at a bound, or no row feels it; *assumed* where no row of the tables tells it.
"""

SCOPES = ("gemm", "attention", "collective")


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_stacks(), *_borrowers()]) + "\n"


def _stacks() -> Iterator[str]:
    for scope in SCOPES:
        parts = {name: one.parts[scope] for name, one in packaged().items() if scope in one.parts}
        first = next(iter(parts.values()))
        yield f"## {scope}: `{first.kernel.name}`\n"
        for name, part in parts.items():
            yield f"- {name}, {part.dtype}: {part.rows} rows in {part.groups} groups, {part.origin}"
        yield ""
        yield f"| parameter | unit | {' | '.join(parts)} |"
        yield f"| --- | --- |{' --: |' * len(parts)}"
        for one in first.kernel.parameters:
            cells = " | ".join(_cell(part, one.name) for part in parts.values())
            yield f"| {one.name} | {one.unit} | {cells} |"
        yield "\n90 % prediction interval, as factors of the predicted time:\n"
        for name, part in parts.items():
            yield f"- {name}: {_interval(part)}"
        yield ""


def _cell(part: Calibrated, name: str) -> str:
    value = f"{part.values[name]:.3g}"
    start = next(one.start for one in part.kernel.parameters if one.name == name)
    if part.values[name] == start:
        return f"{value} *assumed*"
    span = f"{value} [{part.low[name]:.3g}, {part.high[name]:.3g}]"
    return f"{span} *open*" if name in part.weak else span


def _interval(part: Calibrated) -> str:
    if part.interval is None:
        return "none"
    rows = zip(part.interval.edges, part.interval.low, part.interval.high, strict=True)
    return "; ".join(
        f"{low:.2f} – {high:.2f} up to {edge * 1e6:g} µs" if edge < 1 else f"{low:.2f} – {high:.2f}"
        for edge, low, high in rows
    )


def _borrowers() -> Iterator[str]:
    yield "## Who borrows whose\n"
    yield f"| machine | generation | {' | '.join(SCOPES)} |"
    yield f"| --- | --- |{' --- |' * len(SCOPES)}"
    for name in machines():
        stack = stack_for(name)
        cells = " | ".join(stack.part(scope).machine for scope in SCOPES)
        yield f"| {name} | {machine(name).generation} | {cells} |"


if __name__ == "__main__":
    print(page(), end="")
