"""A ceiling on memory: what needs more is refused by name, and the kernel's killer is not met.

In: a number of bytes. Out: a MemoryError in the thread that asked for more, wherever it is in
Python. A thread watches what the process holds, with the processes that it started; a call that
does not come back in time, or takes another quarter, ends the process with exit code 2 and a
message. Systems that do not tell what a process holds (no `/proc`) are not watched.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SHARE = 0.75
"""Of the memory that is there when a command begins: what it may take unless it is told."""

EVERY = 0.05
"""Seconds between two looks at what is held."""

PATIENCE = 20.0
"""Seconds that a call may go on above the ceiling."""

BEYOND = 1.25
"""Times the ceiling at which nothing is waited for."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
          "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}  # fmt: skip


class Ceiling:
    """The last watch of this process: the most bytes, the input being read, and all of them."""

    most: int | None = None
    reading = ""
    inputs: Sequence[str] = ()
    speaks_alone = False  # the error stream is this program's, once the ceiling is met


def parsed(text: str) -> int:
    """Bytes that a size says. Raises ValueError where it is none, or zero.

    >>> parsed("8G"), parsed("1.5 GiB"), parsed("500MB")
    (8000000000, 1610612736, 500000000)
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([KMGT]i?|)B?", text.strip())
    size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    if not size:
        raise ValueError(text)
    return size


def spelled(size: int) -> str:
    """A number of bytes as messages say it.

    >>> spelled(8_123_000_000), spelled(300_000_000)
    ('8.1 GB', '300 MB')
    """
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def there() -> int | None:
    """Bytes that this process may still take, of the system and its control group, if they tell."""
    found = []
    said = _read("/proc/meminfo")
    if available := re.search(r"^MemAvailable: +([0-9]+) kB", said, re.MULTILINE):
        found.append(int(available[1]) * 1024)
    for most, held in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):  # fmt: skip
        limit, used = _read(most).strip(), _read(held).strip()
        if limit.isdigit() and used.isdigit():
            found.append(max(int(limit) - int(used), 0))
    return min(found) if found else None


def default() -> int | None:
    """`SHARE` of what is there; None where nothing tells."""
    free = there()
    return int(SHARE * free) if free is not None else None


def held(process: int | None = None) -> int:
    """Bytes that a process has in memory; 0 where nothing tells or it is gone."""
    pages = _read(f"/proc/{process or 'self'}/statm").split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if len(pages) > 1 else 0


def refused() -> str:
    """Why an input is refused whose reading met the ceiling."""
    most = spelled(Ceiling.most or 0)
    return f"it needs more memory than the {most} that there are (--max-memory)"


def blamed() -> str:
    """Name of the input that is being read, or that all the work is about."""
    alone = Ceiling.inputs[0] if len(Ceiling.inputs) == 1 else "the work on these inputs"
    return Ceiling.reading or alone


@contextmanager
def watched(most: int | None) -> Iterator[None]:
    """A MemoryError in this thread where the process comes to hold more than `most` bytes."""
    Ceiling.most = most
    if most is None or not held():
        yield
        return
    ended = threading.Event()
    told = threading.get_ident()
    threading.Thread(target=_watch, args=(most, told, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _watch(most: int, thread: int, ended: threading.Event) -> None:
    level, above = most, 0.0
    while not ended.wait(EVERY):
        own, others = held(), _of_children()
        if own + others <= level or own < others:  # each of the others has a ceiling of its own
            above = 0.0
            continue
        if above == 0.0:
            if Ceiling.speaks_alone:
                _speak_alone()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(MemoryError)
            )
        above += EVERY
        if above > PATIENCE or own + others > BEYOND * level:
            _end()
        if above > 1.0 and own + others < BEYOND * most:
            # it was told and goes on with what allocators keep: only more than that counts now
            level, above = max(level, int(1.05 * (own + others))), 0.0


def _speak_alone() -> None:
    """Keep the error stream for this program: a library that is stopped in a call back to Python
    prints a panic of its own, which is no message."""
    Ceiling.speaks_alone = False
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    sys.stderr = os.fdopen(kept, "w", encoding="utf-8", errors="backslashreplace")


def _of_children() -> int:
    return sum(held(child.pid) for child in multiprocessing.active_children() if child.pid)


def _end() -> None:
    """Leave at once: whatever is written has a temporary name until it is whole."""
    if multiprocessing.parent_process() is None:
        sys.stderr.write(f"assay: {blamed()}: {refused()}\n")
        sys.stderr.flush()
    os._exit(2)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""
