"""From what was collected of a trace to its frames, typed and checked.

In: `Collected`, whatever profiler wrote it. Out: `Made`: the frames of `trace_frames`, and the
account of events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl
from assay.ingest.formats.traces.collect import Collected
from assay.ingest.formats.traces.timeline import SHAPES, Timeline, calls, spent
from assay.ingest.formats.traces.trace_frames import SCHEMAS, SUBJECTS
from assay.ingest.schema.acceptance import complete, passes
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Format, Made, Whole, whole_format
from assay.ingest.schema.record import BASE, Diagnostic, Schema, Span

FINE, COARSE = 1e-9, 1e-6
"""Worth of the last printed place of a duration, in s."""


def made(
    source: str,
    found: Collected,
    gpus: Mapping[int, str | None],
    *,
    rank: str | None = None,
    refused: Sequence[Diagnostic] = (),
    remarks: Sequence[Diagnostic] = (),
    raw: Mapping[Span, bytes] | None = None,
) -> Made:
    """Every frame of one trace; `gpus` names devices by number, under -1 any other."""
    timeline = Timeline(found)
    kernels = timeline.kernels(gpus, source)
    frames: dict[str, pl.DataFrame] = {}
    for kind in SHAPES:
        frames[f"trace_{kind}"], kernels = calls(kernels, found, kind)
    steps = spent(kernels, timeline.host.launched, found.first or 0.0)
    frames["trace_step"] = pl.DataFrame(steps, infer_schema_length=None)
    events = timeline.events()
    if events:
        frames["trace_event"] = pl.DataFrame(events, infer_schema_length=None).with_columns(
            line=pl.lit(1), column=pl.int_range(1, pl.len() + 1)
        )
    ulp = FINE if found.fractions else COARSE
    typed = {
        name: _typed(frame, SCHEMAS[name], source, rank, ulp)
        for name, frame in {"trace_kernel": _with_shapes(kernels, found), **frames}.items()
        if not frame.is_empty()
    }
    return Made(
        frames=typed,
        claimed=sum(row["rows"] + row["parts"] + row["understood"] for row in events),
        not_ours=sum(row["not_ours"] for row in events),
        refused=tuple(sorted(refused, key=lambda fault: fault.span)),
        remarks=tuple(remarks),
        raw=raw or {},
    )


def _with_shapes(kernels: pl.DataFrame, found: Collected) -> pl.DataFrame:
    """Activities with number format and shape as subjects of the other frames spell them."""
    subjects: list[str | None] = []
    for one in found.works:
        names = SUBJECTS[one.kind]
        said = ["" if one.shape.get(name) is None else str(one.shape[name]) for name in names]
        subjects.append("x".join(said) if one.shape else None)
    types = pl.Series([one.dtype for one in found.works], dtype=pl.String)
    at = pl.Series(kernels["work"]).replace(-1, None)
    shape = pl.Series(subjects, dtype=pl.String).gather(at)
    if "pointwise" in kernels["kind"].unique():
        streams = (kernels["kind"] == "pointwise") & shape.is_not_null()
        named = pl.select(
            pl.concat_str(kernels["operator"].fill_null(""), shape.str.slice(0))
        ).to_series()
        shape = pl.select(pl.when(streams).then(named).otherwise(shape)).to_series()
    ours = kernels["kind"] != "copy"
    return kernels.with_columns(
        dtype=pl.select(pl.when(ours).then(types.gather(at))).to_series(),
        shape=pl.select(pl.when(ours).then(shape)).to_series(),
    )


def _typed(
    frame: pl.DataFrame, schema: Schema, source: str, rank: str | None, ulp: float
) -> pl.DataFrame:
    """The frame as its schema declares it, checked."""
    columns: dict[str, pl.Expr] = {}
    for name, spec in fields(schema).items():
        columns[name] = (pl.col(name) if name in frame.columns else pl.lit(None)).cast(spec.dtype)
        if spec.has_ulp:
            columns[f"{name}_ulp"] = pl.when(columns[name].is_not_null()).then(pl.lit(ulp))
    place = {"source": pl.lit(source), "line": pl.col("line").cast(pl.UInt32),
             "column": pl.col("column").cast(pl.UInt32),
             "rank": pl.lit(rank, pl.String)}  # fmt: skip
    raw = complete(frame.select(**place, **columns))

    ordered = raw.select(*BASE, *columns)
    return ordered if passes(ordered, schema) else schema.validate(ordered, lazy=True)


def trace_format(name: str, read: Callable[[Whole], Made | None]) -> Format:
    """A format whose inputs are whole traces, read by themselves into the frames of all traces."""
    return whole_format(name, SCHEMAS, read)
