"""Traces of the PyTorch profiler (Kineto): JSON, compressed or not, whole or cut.

In: a document whose outermost value holds an array of trace events. Out: the frames of
`assay.ingest.formats.traces.trace_frames`. The document is read event by event and never held
whole; a row stands where its event begins, the account counts events in place of lines.
"""

from __future__ import annotations

from typing import Any

import polars as pl
from assay.ingest.formats.traces.collect import Collected, collect
from assay.ingest.formats.traces.events import EventStream
from assay.ingest.formats.traces.timeline import SHAPES, Timeline, calls, spent
from assay.ingest.formats.traces.trace_frames import SCHEMAS, SUBJECTS
from assay.ingest.schema.acceptance import complete, passes
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Folded, Format, Made, Region, Whole
from assay.ingest.schema.record import Schema

FINE, COARSE = 1e-9, 1e-6
"""What the last printed place of a duration is worth, in s."""


def read(source: Whole) -> Made | None:
    """What a trace gives; None for a document of another kind."""
    stream = EventStream(source)
    if not stream.found():
        return None
    found = collect(stream)
    header = stream.header()
    timeline = Timeline(found)
    kernels = timeline.kernels(devices(header), source.name)
    base = found.first or 0.0
    ulp = FINE if found.fractions else COARSE
    frames: dict[str, pl.DataFrame] = {}
    for kind in SHAPES:
        frames[f"trace_{kind}"], kernels = calls(kernels, found, kind)
    frames["trace_step"] = pl.DataFrame(spent(kernels, timeline.host.launched, base),
                                        infer_schema_length=None)  # fmt: skip
    events = timeline.events()
    frames["trace_event"] = pl.DataFrame(events, infer_schema_length=None).with_columns(
        line=pl.lit(1), column=pl.int_range(1, pl.len() + 1)
    ) if events else pl.DataFrame()  # fmt: skip
    rank = _rank(header)
    frames = {"trace_kernel": _with_shapes(kernels, found), **frames}
    typed = {
        name: _typed(frame, SCHEMAS[name], source.name, rank, ulp)
        for name, frame in frames.items()
        if not frame.is_empty()
    }
    return Made(
        frames=typed,
        claimed=sum(row["rows"] + row["parts"] + row["understood"] for row in events),
        not_ours=sum(row["not_ours"] for row in events),
        refused=tuple(sorted(stream.faults, key=lambda fault: fault.span)),
        remarks=tuple(source.remarks),
        raw=stream.raw,
    )


def devices(header: dict[str, Any]) -> dict[int, str | None]:
    """Names of the devices by number; under -1 the name that all of them have.

    >>> devices({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]})[-1]
    'NVIDIA H100 80GB HBM3'
    """
    said = header.get("deviceProperties")
    found: dict[int, str | None] = {}
    for at, one in enumerate(said if isinstance(said, list) else []):
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            number = one.get("id")
            found[number if type(number) is int else at] = one["name"]
    names = set(found.values())
    found[-1] = names.pop() if len(names) == 1 else None
    return found


def _rank(header: dict[str, Any]) -> str | None:
    said = header.get("distributedInfo")
    rank = said.get("rank") if isinstance(said, dict) else None
    return str(rank) if type(rank) is int else None


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
    base = [name for name in raw.columns if name not in columns]
    ordered = raw.select(*base, *columns)
    return ordered if passes(ordered, schema) else schema.validate(ordered, lazy=True)


def fold(_region: Region) -> Folded:
    """Nothing: no line of text is a record of a trace."""
    return Folded()


FORMAT = Format(
    name="kineto",
    heads=(),
    schemas=SCHEMAS,
    origin="measured",
    fold=fold,
    lines="whole",
    binds=False,
    read=read,
)
