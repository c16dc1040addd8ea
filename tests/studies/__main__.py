"""`python -m tests.studies [PATH]`: print all figures, write `build/accuracy.json`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tests.studies import (
    box,
    capacity,
    configuration,
    experts,
    intervals,
    kernels,
    step,
    step_memory,
    step_tables,
    traces,
    training_attention,
)
from tests.studies.entries import Entry, line, write

CONTRIBUTIONS: tuple[Callable[[], list[Entry]], ...] = (
    configuration.entries,
    kernels.entries,
    training_attention.entries,
    experts.entries,
    step.entries,
    step_memory.entries,
    step_tables.entries,
    traces.entries,
    box.entries,
    capacity.entries,
    intervals.entries,
)


def main(path: Path) -> None:
    """Collect all figures, print them to stdout and write them to `path`."""
    found = [entry for contribution in CONTRIBUTIONS for entry in contribution()]
    for entry in found:
        print(line(entry))
    write(found, path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/accuracy.json"))
