"""Events of a PyTorch profiler's trace (Kineto), kept as columns of what the rules need.

In: a stream of events. Out: `Collected`: device activities, operators, runtime calls, module spans
and annotations as arrays, names interned, and a count of every event by category. Categories and
members are those of PyTorch 1.8 to 2.9; older ones are spelled with capitals.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from assay.ingest.formats.traces.events import Event, EventStream
from assay.ingest.formats.traces.operators import Work, inputs, message, work
from assay.ingest.formats.traces.processes import COPYING, Processes
from assay.ingest.schema.record import Code, Diagnostic, Span

MODULE = "nn.Module: "
STEP = "ProfilerStep#"
OPTIMIZER = "Optimizer.step"
COMMUNICATION = "record_param_comms"
_ID = ("External id", "external id", "External Id")
_MOST = 1e18  # µs: no clock counts further


class Names:
    """Texts as numbers, in the order in which they are met."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, text: str) -> int:
        """The number of a text."""
        found = self._codes.get(text)
        if found is None:
            found = self._codes[text] = len(self.texts)
            self.texts.append(text)
        return found


class Spans:
    """Events that last, on threads: thread, start and end in µs, and a name, one entry each.

    `place` counts the events of the input up to this one.
    """

    def __init__(self) -> None:
        self.thread, self.name = array("i"), array("i")
        self.start, self.end = array("d"), array("d")
        self.place = array("q")

    def add(self, thread: int, start: float, length: float, name: int, place: int = 0) -> None:
        """One more."""
        self.place.append(place)
        self.thread.append(thread)
        self.start.append(start)
        self.end.append(start + length)
        self.name.append(name)


class OperatorArgs(msgspec.Struct, gc=False):
    """Members of an operator's `args` that rules need."""

    id: int | str | None = msgspec.field(name="External id", default=None)
    old_id: int | str | None = msgspec.field(name="external id", default=None)
    dims: msgspec.Raw = msgspec.field(name="Input Dims", default=msgspec.Raw(b""))
    old_dims: msgspec.Raw = msgspec.field(name="Input dims", default=msgspec.Raw(b""))
    types: msgspec.Raw = msgspec.field(name="Input type", default=msgspec.Raw(b""))
    strides: msgspec.Raw = msgspec.field(name="Input Strides", default=msgspec.Raw(b""))
    values: msgspec.Raw = msgspec.field(name="Concrete Inputs", default=msgspec.Raw(b""))
    forward: int | str | None = msgspec.field(name="Fwd thread id", default=None)
    sequence: int | str | None = msgspec.field(name="Sequence number", default=None)


class Collected:
    """Everything that was kept of one trace. Times are in µs, as printed; -1 is none."""

    def __init__(self) -> None:
        self.names = Names()
        self.threads: dict[tuple[object, object], int] = {}
        self.ops = Spans()
        self.op_id, self.op_sequence = array("q"), array("q")
        self.op_forward, self.op_work = array("q"), array("i")
        self.works: list[Work] = []
        self.modules, self.annotations, self.device_steps = Spans(), Spans(), Spans()
        self.launches = Spans()
        self.launch_correlation, self.launch_id = array("q"), array("q")
        self.kernel_name, self.kernel_category = array("i"), array("b")
        self.kernel_start, self.kernel_duration = array("d"), array("d")
        self.kernel_device, self.kernel_stream = array("q"), array("q")
        self.kernel_correlation, self.kernel_id = array("q"), array("q")
        self.kernel_graph, self.kernel_work = array("b"), array("i")
        self.kernel_bytes = array("q")
        self.kernel_line, self.kernel_column = array("q"), array("q")
        self.kernel_place = array("q")
        self.place = 0  # of the event that is being read
        self.counts: Counter[tuple[str, str | None]] = Counter()
        self.refused: Counter[tuple[str, str | None]] = Counter()
        self.fractions = False  # whether durations are printed finer than µs
        self.first: float | None = None  # of all timed events
        self.processes = Processes()
        self.plain = 0  # activities among the events without a category
        self._works: dict[tuple[str, bytes], int] = {}

    def thread(self, event: Event) -> int:
        """The number of an event's thread."""
        return self.threads.setdefault((event.pid, event.tid), len(self.threads))

    def worked(self, name: str, key: bytes, make: Callable[[], Work | None]) -> int:
        """The number of the work that calls of one operator with equal inputs do; -1 for none."""
        found = self._works.get((name, key))
        if found is None:
            made = make()
            found = -1
            if made is not None:
                found = len(self.works)
                self.works.append(made)
            self._works[name, key] = found
        return found

    def recorded(self, name: str) -> int:
        """The number of the work of an operator of whose inputs nothing was recorded."""
        return self.worked(name, b"", lambda: work(name, inputs(None, None)))

    def activity(
        self,
        name: str,
        category: int,
        times: tuple[float, float],
        counted: Sequence[int],
        *,
        graphed: bool,
    ) -> None:
        """One more activity of a device; `counted`: device, stream, correlation and bytes."""
        self.kernel_name.append(self.names.code(name))
        self.kernel_category.append(category)
        self.kernel_start.append(times[0])
        self.kernel_duration.append(times[1])
        device, stream, correlation, size = counted
        self.kernel_device.append(device)
        self.kernel_stream.append(stream)
        self.kernel_correlation.append(correlation)
        self.kernel_bytes.append(size)
        self.kernel_graph.append(graphed)
        self.kernel_id.append(-1)
        self.kernel_work.append(-1)
        self.kernel_place.append(self.place)


class FaultError(ValueError):
    """A fault of an event, in words."""


def collect(stream: EventStream) -> Collected:
    """Read every event of a stream; those that cannot be used are refused where they stand."""
    found = Collected()
    counts = found.counts
    for batch in stream.batches():
        places = zip(batch.events, batch.lines.tolist(), batch.columns.tolist(), strict=True)
        for event, line, column in places:
            key = (event.ph, event.cat)
            counts[key] += 1
            found.place += 1
            if event.ph == "M" and event.name in _NAMING:
                found.processes.named(event, _record(event.args))
            if event.ph != "X" or event.cat is None:
                continue
            handler = HANDLERS.get(event.cat) or _handler(event.cat)
            if handler is None:
                continue
            try:
                handler(found, event, line, column)
            except (FaultError, msgspec.DecodeError, UnicodeDecodeError) as fault:
                found.refused[key] += 1
                span = Span(stream.source.name, line, column)
                message = f"a {event.cat} event: {fault}"
                name = (event.name or "")[:200]
                stream.faults.append(Diagnostic(span, Code.UNDECODABLE, message, name))
                stream.raw[span] = name.encode()
    _settle(found)
    return found


def _operator(found: Collected, event: Event, _line: int, _column: int) -> None:
    start, length = _times(found, event)
    name = event.name or ""
    args = _OPERATOR.decode(event.args) if event.args else OperatorArgs()
    if name == COMMUNICATION:
        raw = bytes(event.args)
        code = found.worked(name, raw, lambda: message(_record(raw)))
    else:
        parts = [bytes(each) for each in (args.dims or args.old_dims, args.types, args.strides,
                                          args.values)]  # fmt: skip
        key = b"\0".join(parts)
        code = found.worked(name, key, lambda: work(name, inputs(*map(_value, parts))))
    if name.startswith((STEP, OPTIMIZER)):  # before 1.9 annotations were operators
        found.annotations.add(found.thread(event), start, length, found.names.code(name))
    found.ops.add(found.thread(event), start, length, found.names.code(name), found.place)
    found.op_id.append(_integer(args.id if args.id is not None else args.old_id))
    found.op_sequence.append(_integer(args.sequence))
    found.op_forward.append(_integer(args.forward))
    found.op_work.append(code)


def _kernel(found: Collected, event: Event, line: int, column: int) -> None:
    start, length = _times(found, event)
    args = _record(event.args)
    category = _CATEGORIES[(event.cat or "").lower()]
    found.fractions |= not length.is_integer()
    counted = [
        _integer(args.get("device", event.pid)),
        _integer(args.get("stream", event.tid)),
        _integer(args.get("correlation", args.get("Correlation ID"))),
        _integer(args.get("bytes", args.get("Bytes"))) if category != KERNEL else -1,
    ]
    graph = _integer(args.get("graph id", args.get("graph node id")))
    found.activity(event.name or "", category, (start, length), counted, graphed=graph > 0)
    found.kernel_id[-1] = _identity(args)
    if "Collective name" in args:
        found.kernel_work[-1] = found.worked(
            COMMUNICATION, bytes(event.args), lambda: message(args)
        )
    found.kernel_line.append(line)
    found.kernel_column.append(column)


def _launch(found: Collected, event: Event, _line: int, _column: int) -> None:
    start, length = _times(found, event)
    args = _record(event.args)
    correlation = _integer(args.get("correlation", args.get("Correlation ID")))
    if correlation < 0:
        return
    code = found.names.code(event.name or "")
    found.launches.add(found.thread(event), start, length, code, found.place)
    found.launch_correlation.append(correlation)
    found.launch_id.append(_identity(args))


def _module(found: Collected, event: Event, _line: int, _column: int) -> None:
    name = event.name or ""
    if name.startswith(MODULE):
        start, length = _times(found, event)
        code = found.names.code(name.removeprefix(MODULE))
        found.modules.add(found.thread(event), start, length, code)


def _annotation(found: Collected, event: Event, _line: int, _column: int) -> None:
    start, length = _times(found, event)
    code = found.names.code(event.name or "")
    found.annotations.add(found.thread(event), start, length, code)


def _device_annotation(found: Collected, event: Event, _line: int, _column: int) -> None:
    name = event.name or ""
    if name.startswith(STEP):
        start, length = _times(found, event)
        found.device_steps.add(0, start, length, found.names.code(name))


def _plain(found: Collected, event: Event, line: int, column: int) -> None:
    if event.dur is None:  # a mark
        return
    times = _times(found, event)
    code = found.names.code(event.name or "")
    found.processes.add(event, code, times, (line, column, found.place))


def _settle(found: Collected) -> None:
    """Take what the names of processes and threads tell of events without a category."""
    plain = found.processes

    def take(at: int, role: str, device: int, stream: int) -> None:
        name = found.names.texts[plain.name[at]]
        start, length = plain.start[at], plain.length[at]
        if role == "step":
            if name.isascii() and name.isdigit() and len(name) < 16:
                found.device_steps.add(0, start, length, found.names.code(f"{STEP}{int(name)}"))
            return
        found.plain += 1
        found.fractions |= not length.is_integer()
        found.place = plain.place[at]
        category = COPY if role == "copy" or COPYING.match(name) else KERNEL
        found.activity(name, category, (start, length), (device, stream, -1, -1), graphed=False)
        found.kernel_line.append(plain.line[at])
        found.kernel_column.append(plain.column[at])

    plain.told(take)


def _times(found: Collected, event: Event) -> tuple[float, float]:
    """Start and duration in µs."""
    start, length = _number("ts", event.ts), _number("dur", event.dur)
    if length < 0:
        raise FaultError(f"dur is {event.dur}, expected 0 or more")
    if found.first is None or start < found.first:
        found.first = start
    return start, length


def _number(name: str, value: float | str | None) -> float:
    if value is None:
        raise FaultError(f"has no {name}")
    try:
        number = float(value)
    except ValueError:
        raise FaultError(f"{name} is {value!r}, expected a number") from None
    if not math.isfinite(number) or abs(number) > _MOST:
        raise FaultError(f"{name} is {value!r}, expected a time in µs")
    return number


def _integer(value: object) -> int:
    """A number that counts or names something; -1 for none."""
    if type(value) is int:
        return value if 0 <= value < 2**63 else -1
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return -1


def _identity(args: Mapping[str, Any]) -> int:
    return next((_integer(args[name]) for name in _ID if name in args), -1)


def _record(args: msgspec.Raw | bytes) -> dict[str, Any]:
    if not args:
        return {}
    found = _ANYTHING.decode(args)
    if not isinstance(found, dict):
        raise FaultError("args is no object")
    return found


def _value(text: bytes) -> Any:
    return _ANYTHING.decode(text) if text else None


_OPERATOR = msgspec.json.Decoder(OperatorArgs)
_ANYTHING = msgspec.json.Decoder()

KERNEL, COPY, FILL = range(3)
_NAMING = ("process_name", "thread_name")
_CATEGORIES = {
    "kernel": KERNEL, "gpu_memcpy": COPY, "memcpy": COPY, "gpu_memset": FILL, "memset": FILL,
}  # fmt: skip

Handler = Callable[[Collected, Event, int, int], None]
HANDLERS: dict[str, Handler | None] = {
    "cpu_op": _operator, "operator": _operator,
    **dict.fromkeys(_CATEGORIES, _kernel),
    "cuda_runtime": _launch, "cuda_driver": _launch, "runtime": _launch, "hip_runtime": _launch,
    "xpu_runtime": _launch, "mtia_runtime": _launch, "driver": _launch,
    "python_function": _module,
    "user_annotation": _annotation,
    "gpu_user_annotation": _device_annotation,
    "": _plain,
}  # fmt: skip
"""Handlers that keep an event, by its category; the others are counted."""

MEANINGS = {
    "cpu_op": "operators of the framework", "operator": "operators of the framework",
    "kernel": "kernels", "gpu_memcpy": "copies on a device", "memcpy": "copies on a device",
    "gpu_memset": "fills on a device", "memset": "fills on a device",
    "cuda_runtime": "calls of the runtime", "cuda_driver": "calls of the driver",
    "runtime": "calls of the runtime", "hip_runtime": "calls of the runtime",
    "xpu_runtime": "calls of the runtime", "mtia_runtime": "calls of the runtime",
    "driver": "calls of the driver",
    "python_function": "Python frames and modules", "user_annotation": "annotations",
    "gpu_user_annotation": "annotations on a device", "ac2g": "arrows from launch to kernel",
    "async_cpu_to_gpu": "arrows from launch to kernel", "async_gpu": "arrows",
    "fwdbwd": "arrows from forward to backward", "forward_backward": "arrows",
    "cpu_instant_event": "memory counts and moments", "overhead": "the profiler's own work",
    "hsa_api": "calls of the runtime below HIP", "rccl_api": "calls of RCCL",
    "memory_allocation": "allocations on a device", "scratch_memory": "scratch memory of kernels",
    "trace": "extent of the recording", "": "names of threads and processes, marks",
    "none": "names of threads and processes, marks",
}  # fmt: skip
"""Categories that are known, in lower case."""


def _handler(category: str) -> Handler | None:
    """The same for a category spelled otherwise; remembered."""
    found = HANDLERS.get(category.lower())
    HANDLERS[category] = found
    return found
