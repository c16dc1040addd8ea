"""One run of one input: what `watch` and `diff` look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Refusal

if TYPE_CHECKING:
    from assay.ingest.schema.format import Format
    from assay.ingest.schema.reading import Reading
    from assay.validate.runs.run import Run


def latest(
    path: Path | str, machine: str | None = None, formats: tuple[Format, ...] | None = None
) -> tuple[Run, Reading] | None:
    """The last run of an input that has steps; None where there is none yet.

    Refusal where the input cannot be opened.
    """
    from assay.ingest.inputs.read import read
    from assay.validate.cases.cases import cases
    from assay.validate.cases.observe import about
    from assay.validate.runs.run import runs

    outcome = read([path], stated={"gpu": machine} if machine else {}, formats=formats)
    if not outcome.reading.accounting:
        raise Refusal("; ".join(map(str, outcome.unreadable)) or f"{path}: nothing to read")
    known = cases(outcome.reading, about(outcome.reading.formats), machine=machine)
    found = [run for run in runs(outcome.reading, known) if run.metrics]
    return (found[-1], outcome.reading) if found else None


def required(
    path: Path | str, machine: str | None = None, formats: tuple[Format, ...] | None = None
) -> tuple[Run, Reading]:
    """The latest run of a log and its reading. Raises Refusal where there is no run."""
    found = latest(path, machine, formats)
    if found is None:
        raise Refusal(f"{path}: no run with steps was recognised", Exit.NOTHING)
    return found
