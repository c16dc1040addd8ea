"""One run of one input: what `diff` looks at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.validate.cli.exits import Exit
from assay.validate.cli.guard import Refusal

if TYPE_CHECKING:
    from assay.ingest.schema.format import Format
    from assay.ingest.schema.reading import Reading
    from assay.validate.runs.run import Run


def last_run(
    path: Path | str, machine: str | None = None, formats: tuple[Format, ...] | None = None
) -> tuple[Run, Reading]:
    """The last run of an input that has steps, and its reading.

    Raises Refusal where the input cannot be opened, and where no run is recognised in it.
    """
    from assay.ingest.inputs.read import read
    from assay.validate.cases.cases import cases
    from assay.validate.cases.observe import about
    from assay.validate.runs.run import runs

    outcome = read([path], stated={"gpu": machine} if machine else {}, formats=formats, long=True)
    if not outcome.reading.accounting:
        raise Refusal("; ".join(map(str, outcome.unreadable)) or f"{path}: nothing to read")
    known = cases(outcome.reading, about(outcome.reading.formats), machine=machine)
    found = [run for run in runs(outcome.reading, known) if run.metrics]
    if not found:
        raise Refusal(f"{path}: no run with steps was recognised", Exit.NOTHING)
    return found[-1], outcome.reading
