"""One thing that is measured, in a process of its own: `child WHAT ARGS`.

Prints the seconds that it took, imports not counted.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path


def ingest(path: str, out: str) -> float:
    """All that `assay ingest` does: typed frames, provenance, validation, quarantine, files."""
    from assay.ingest.formats import FORMATS
    from assay.ingest.parts import ingest as run
    from assay.ingest.read import recipe

    how = recipe({}, FORMATS)
    began = time.perf_counter()
    run([path], Path(out), how)
    return time.perf_counter() - began


def loop(path: str, out: str) -> float:
    """The `re` loop to typed columns; its file is written for the comparison, off the clock."""
    from tests.benchmarks.baseline import re_loop

    began = time.perf_counter()
    frame = re_loop(Path(path))
    seconds = time.perf_counter() - began
    frame.write_parquet(out)
    return seconds


def lark(path: str, size: str) -> float:
    """Every line that is a record through Lark, one by one; the start of the file only."""
    from assay.ingest.parse import grammar, parse_line
    from assay.ingest.types import Span

    with Path(path).open("rb") as file:
        text = file.read(int(size)).decode("utf-8", "replace")
    lines = text.splitlines()[:-1]
    grammar("megatron_iteration")
    began = time.perf_counter()
    for number, line in enumerate(lines, 1):
        if "iteration" in line and "|" in line:
            record = line[line.index("iteration") :]
            parse_line("megatron_iteration", "iteration_line", record, Span(path, number))
    return time.perf_counter() - began


if __name__ == "__main__":
    print(globals()[sys.argv[1]](*sys.argv[2:]))
