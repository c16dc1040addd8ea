"""Events without a category, told by the processes and threads that they stand in.

In: events of writers that name processes and threads and give no categories: XLA's profiler
(`/device:GPU:0`, threads `Stream #13(Compute)`, `XLA Ops`, `Steps`), that of Ascend (`Ascend
Hardware`, `Stream 23`) and rocprof of ROCm before 6 (`GPU0`, `COPY`). Out: those of devices in
`Collected`; what a host did, and lines that a viewer derives from others, is understood and left.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from typing import Any

from assay.ingest.formats.traces.events import Event

DEVICE = re.compile(r"(?:/device:(GPU|TPU|XPU):|GPU ?)([0-9]{1,6})\b")
ASCEND = "Ascend Hardware"
COPIES = re.compile(r"COPY$")
STREAM = re.compile(r"Stream #?([0-9]{1,9})")
COPYING = re.compile(r"(?i)mem(?:cpy|set)")
OPERATIONS, STEPS = "XLA Ops", "Steps"


class Processes:
    """Names of processes and threads, and the events that only these explain."""

    def __init__(self) -> None:
        self.processes: dict[object, str] = {}
        self.threads: dict[tuple[object, object], str] = {}
        self._where: dict[tuple[object, object], int] = {}
        self.where, self.name, self.place = array("i"), array("i"), array("q")
        self.start, self.length = array("d"), array("d")
        self.line, self.column = array("q"), array("q")

    def named(self, event: Event, args: dict[str, Any]) -> None:
        """A process's or a thread's name."""
        name = args.get("name")
        if isinstance(name, str):
            if event.name == "process_name":
                self.processes[event.pid] = name
            elif event.name == "thread_name":
                self.threads[event.pid, event.tid] = name

    def add(
        self, event: Event, name: int, times: tuple[float, float], at: tuple[int, int, int]
    ) -> None:
        """An event without a category; `at`: line, column and place among all events."""
        key = (event.pid, event.tid)
        self.where.append(self._where.setdefault(key, len(self._where)))
        self.name.append(name)
        self.start.append(times[0])
        self.length.append(times[1])
        for column, value in zip((self.line, self.column, self.place), at, strict=True):
            column.append(value)

    def told(self, take: Callable[[int, str, int, int], None]) -> None:
        """Give each event of a device to `take`: its number, role, device and stream."""
        roles = [self._role(*key) for key in self._where]
        for at, where in enumerate(self.where):
            if role := roles[where]:
                take(at, *role)

    def _role(self, pid: object, tid: object) -> tuple[str, int, int] | None:
        """`kernel`, `copy` or `step` with device and stream of what stands in a thread."""
        process, thread = self.processes.get(pid, ""), self.threads.get((pid, tid), "")
        if COPIES.match(process):
            return "copy", -1, -1
        device, stream = DEVICE.match(process), STREAM.match(thread)
        if process == ASCEND and stream:
            return "kernel", -1, int(stream[1])
        if device is None:
            return None
        number = int(device[2])
        if device[1] is None:  # rocprof: every thread of a device is a queue
            return "kernel", number, tid if type(tid) is int and tid >= 0 else -1
        if stream:
            return "kernel", number, int(stream[1])
        if thread == STEPS:
            return "step", number, -1
        return ("kernel", number, -1) if device[1] == "TPU" and thread == OPERATIONS else None
