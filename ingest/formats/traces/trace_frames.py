"""The frames that every profiler's trace is read into.

`trace_kernel` holds every activity of a device, one row each. Calls of one shape are one row of
`trace_gemm`, `trace_attention`, `trace_collective` or `trace_pointwise`: how often, how long in the
median, and how far apart. `trace_step` says how a device spent each step, `trace_event` how many
events of a category there are and what became of them.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import logged, named

SUBJECTS: dict[str, tuple[str, ...]] = {
    "gemm": ("b", "m", "n", "k"),
    "attention": ("batch", "seq", "heads", "kv_heads", "head_dim", "direction"),
    "collective": ("op", "ranks", "elements", "bytes"),
    "pointwise": ("operator", "bytes"),
}
"""Columns that name what a row is about, by the kind of its calls."""


class TraceKernel(pa.DataFrameModel):
    """One activity of a device: a kernel, a copy or a fill of memory."""

    gpu: str = named(meaning="device, as the trace names it")
    device: int = logged(kind="exact", nullable=True, meaning="its number")
    stream: int = logged(kind="exact", nullable=True)
    step: int = logged(kind="exact", nullable=True, meaning="of the profiler")
    start: float = logged(kind="binary", unit="s", ge=0, meaning="since the first event")
    duration: float = logged(unit="s", ge=0)
    kernel: str = named(nullable=False, meaning="name of the kernel")
    kind: str = named(
        nullable=False,
        meaning="gemm, attention, collective, pointwise, copy or other: by its operator, else by "
        "its name",
    )
    operator: str = named(meaning="that launched it")
    call: int = logged(kind="exact", nullable=True, meaning="number of the operator's call")
    dtype: str = named(meaning="of the operator's first tensor")
    shape: str = named(meaning="subject of its row in the frame of its kind")
    alike: int = logged(kind="exact", nullable=True, meaning="number of that row")
    layer: str = named(meaning="modules, else annotations, it was launched in; outermost first")
    direction: str = named(meaning="forward, backward, recompute or optimizer")
    correlation: int = logged(kind="exact", nullable=True)
    bytes: int = logged(kind="exact", unit="B", ge=0, nullable=True, meaning="of a copy")
    reason: str = named(meaning="why it has no shape")

    class Config:
        """Subject of the rows."""

        metadata = {"rows": "launch", "scope": "trace"}


class _Calls(pa.DataFrameModel):
    """Calls of one shape."""

    gpu: str = named(meaning="device, as the trace names it")
    dtype: str = named(meaning="of the operands; tf32 where fp32 was multiplied so")
    alike: int = logged(kind="exact", ge=1, meaning="number of the row in its trace")
    operator: str = named(meaning="that was called")
    kernel: str = named(meaning="longest kernel of the first call")
    calls: int = logged(kind="exact", ge=1)
    kernels: int = logged(kind="exact", ge=1, meaning="of all calls")
    time: float = logged(
        unit="s", quantity="time", gt=0, meaning="median over the calls, kernels of a call summed"
    )
    least: float = logged(kind="binary", unit="s", ge=0, meaning="shortest call")
    most: float = logged(kind="binary", unit="s", ge=0, meaning="longest call")
    spread: float = logged(
        kind="binary", unit="s", ge=0, meaning="between the quartiles of the calls"
    )
    total: float = logged(kind="binary", unit="s", ge=0, meaning="time of all calls")


class TraceGemm(_Calls):
    """Matrix products A [m, k] times B [k, n], b of them in a call."""

    b: int = logged(kind="exact", ge=1)
    m: int = logged(kind="exact", ge=1, meaning="rows of A and C")
    n: int = logged(kind="exact", ge=1, meaning="columns of B and C")
    k: int = logged(kind="exact", ge=1, meaning="columns of A, rows of B")
    layout: str = named(meaning="A and B: n where rows lie together in memory, t where columns do")

    class Config:
        """Subject of the rows."""

        metadata = {"rows": "call", "scope": "gemm", "subject": SUBJECTS["gemm"]}


class TraceAttention(_Calls):
    """Fused attention."""

    batch: int = logged(kind="exact", ge=1)
    seq: int = logged(kind="exact", ge=1, meaning="queries")
    kv_seq: int = logged(kind="exact", ge=1, meaning="keys")
    heads: int = logged(kind="exact", ge=1, meaning="query heads")
    kv_heads: int = logged(kind="exact", ge=1, meaning="heads of keys and values")
    head_dim: int = logged(kind="exact", ge=1)
    causal: bool = logged(kind="exact")
    direction: str = named(meaning="forward or backward")

    class Config:
        """Subject of the rows."""

        metadata = {"rows": "call", "scope": "attention", "subject": SUBJECTS["attention"]}


class TraceCollective(_Calls):
    """Communication kernels; a rank that comes first waits in them for the last."""

    op: str = named(nullable=False)
    ranks: int = logged(kind="exact", ge=1)
    elements: int = logged(kind="exact", ge=0)
    bytes: int = logged(kind="exact", unit="B", ge=0, meaning="of the whole message")
    group: str = named(meaning="process group")

    class Config:
        """Subject of the rows."""

        metadata = {"rows": "call", "scope": "collective", "subject": SUBJECTS["collective"]}


class TracePointwise(_Calls):
    """Operators that stream memory."""

    bytes: int = logged(kind="exact", unit="B", ge=1, meaning="read and written")

    class Config:
        """Subject of the rows."""

        metadata = {"rows": "call", "scope": "pointwise", "subject": SUBJECTS["pointwise"]}


class TraceStep(pa.DataFrameModel):
    """How one device spent one step, from its first kernel to the first of the next step."""

    gpu: str = named(meaning="device, as the trace names it")
    device: int = logged(kind="exact", nullable=True)
    step: int = logged(kind="exact", nullable=True, meaning="of the profiler; none: all there is")
    start: float = logged(kind="binary", unit="s", ge=0, meaning="since the first event")
    duration: float = logged(kind="binary", unit="s", ge=0, meaning="of the step on the device")
    kernels: int = logged(kind="exact", ge=1)
    busy: float = logged(kind="binary", unit="s", ge=0, meaning="while anything runs")
    compute: float = logged(
        kind="binary", unit="s", ge=0, meaning="while no message or one and work run"
    )
    exposed: float = logged(
        kind="binary", unit="s", ge=0, meaning="while communication runs and nothing else"
    )
    idle: float = logged(kind="binary", unit="s", ge=0, meaning="while nothing runs")
    unlaunched: float = logged(
        kind="binary", unit="s", ge=0, meaning="of idle: the host had not launched what runs next"
    )

    class Config:
        """Subject of the rows."""

        metadata = {"rows": "interval", "scope": "trace"}


class TraceEvent(pa.DataFrameModel):
    """Events of one category and phase: each is a row, part of a row, understood, or not ours."""

    category: str = named(nullable=False)
    phase: str = named(nullable=False, meaning="of the trace format: X lasts, s and f are arrows")
    meaning: str = named(nullable=False)
    rows: int = logged(kind="exact", ge=0, meaning="that are rows of `trace_kernel`")
    parts: int = logged(kind="exact", ge=0, meaning="that a row has its operator or launch from")
    understood: int = logged(kind="exact", ge=0, meaning="that say nothing a row asks for")
    not_ours: int = logged(kind="exact", ge=0, meaning="of categories that are not known")
    refused: int = logged(kind="exact", ge=0)

    class Config:
        """Subject of the rows."""

        metadata = {"rows": "note", "scope": "trace"}


SCHEMAS = {
    "trace_kernel": TraceKernel,
    "trace_gemm": TraceGemm,
    "trace_attention": TraceAttention,
    "trace_collective": TraceCollective,
    "trace_pointwise": TracePointwise,
    "trace_step": TraceStep,
    "trace_event": TraceEvent,
}
"""Frames by name; the first is the main one."""
