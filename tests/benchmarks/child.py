"""One thing that is measured, in a process of its own: `child WHAT ARGS`.

Prints the seconds that it took, imports not counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def ingest(path: str, out: str) -> float:
    """All that `assay ingest` does: typed frames, provenance, validation, quarantine, files."""
    from assay.ingest.formats import FORMATS
    from assay.ingest.inputs.parts import ingest as run
    from assay.ingest.inputs.read import recipe

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


def lines(path: str) -> float:
    """Only the lines that hold a word, cut and found by polars: what a filter costs."""
    import polars as pl

    began = time.perf_counter()
    pl.scan_lines(path).filter(pl.col("line").str.contains("iteration", literal=True)).collect()
    return time.perf_counter() - began


def lark(path: str, size: str) -> float:
    """Every line that is a record through Lark, one by one; the start of the file only."""
    from assay.ingest.lines.lark import grammar, parse_line
    from assay.ingest.schema.record import Span

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


def whole(ends: str, *command: str) -> str:
    """Seconds, peak memory (MB) and processor seconds of another process, with its children.

    It may end with one of the codes `ends`.

    This process is small: what the system counts as the peak of a process begins with its parent's.
    """
    # into a file: grep stops at its first find where nobody can see the others
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        running = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, used = os.wait4(running.pid, 0)
        seconds = time.perf_counter() - began
        running.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        if str(running.returncode) not in ends.split(","):
            raise SystemExit(f"{command}: {running.returncode}: {err.read().decode()[-500:]}")
    scale = 1 if sys.platform == "darwin" else 1024
    return f"{seconds} {used.ru_maxrss * scale / 1e6} {used.ru_utime + used.ru_stime}"


if __name__ == "__main__":
    print(globals()[sys.argv[1]](*sys.argv[2:]))
