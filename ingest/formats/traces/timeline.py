"""Device activities joined to what launched them: operators, layers, passes and steps.

In: what was collected of a trace. Out: one row per activity, calls of one shape as one row, steps
with their busy, exposed and idle time, and the account of all events.

An activity belongs to the operator that its external id names; without one to the innermost
operator around its launch, which its correlation id names. A backward operator belongs to the layer
of the forward operator with its sequence number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from assay.ingest.formats.traces.collect import (
    KERNEL,
    MEANINGS,
    OPTIMIZER,
    STEP,
    Collected,
    Spans,
)
from assay.ingest.formats.traces.nesting import Floats, Ints, Nesting, covered, union
from assay.ingest.formats.traces.operators import computed_in, kind_by_name

_EVALUATE = "autograd::engine::evaluate_function"
_GRAPH = re.compile("(?i)graph_?launch")
NOT_RECORDED = "its launch was not recorded"
NO_OPERATOR = "no operator was recorded at its launch"
REPLAYED = "replayed from a graph: its operators were not recorded"
UNKNOWN = "no model knows its operator"


@dataclass(frozen=True)
class Hosts:
    """What the host says of each activity: places among operators and launches, -1 for none."""

    op: Ints  # in `Nesting` order of the operators
    launch: Ints
    launched: Floats  # when the host launched it, µs; nan where that is not known
    replayed: npt.NDArray[np.bool_]


class Timeline:
    """The joined columns of one trace."""

    def __init__(self, found: Collected) -> None:
        self.found = found
        self.ops = _nested(found.ops)
        self.works = np.asarray(found.op_work, np.int64)[self.ops.order]
        self.start = np.asarray(found.kernel_start, np.float64)
        self.duration = np.asarray(found.kernel_duration, np.float64)
        self.category = np.asarray(found.kernel_category, np.int64)
        self.host = self._hosts()
        self.call = self._calls()
        self.annotations = _nested(found.annotations)
        self.modules = _nested(found.modules)

    def _hosts(self) -> Hosts:
        found = self.found
        ids = np.asarray(found.op_id, np.int64)[self.ops.order]
        named = np.asarray(found.kernel_id, np.int64)
        op = _matched(ids, named)
        correlations = np.asarray(found.launch_correlation, np.int64)
        launch = _matched(correlations, np.asarray(found.kernel_correlation, np.int64))
        launched = np.full(len(launch), np.nan)
        has = launch >= 0
        starts = np.asarray(found.launches.start, np.float64)
        launched[has] = starts[launch[has]]
        by_launch = _matched(ids, np.asarray(found.launch_id, np.int64))
        threads = np.asarray(found.launches.thread, np.int64)
        around = self.ops.inside(threads, starts) if len(self.ops) else np.full(len(starts), -1)
        by_launch = np.where(by_launch >= 0, by_launch, around)
        lost = (op < 0) & has
        op[lost] = by_launch[launch[lost]]
        graphs = [bool(_GRAPH.search(text)) for text in found.names.texts] or [False]
        names = np.asarray(found.launches.name, np.int64)
        replayed = np.asarray(found.kernel_graph, np.bool_) | (
            np.asarray(graphs)[names[launch]] & has if len(names) else False
        )
        return Hosts(op, launch, launched, replayed)

    def _calls(self) -> Ints:
        """The operator whose work each activity is a part of: the nearest that is known."""
        nearest = self.ops.inherited(np.where(self.works >= 0, np.arange(len(self.ops)), -1))
        call = _taken(nearest, self.host.op)
        return np.where(self.host.replayed, -1, call)

    def steps(self) -> Ints:
        """The profiler's step of each activity; -1 for none.

        It is the step in which the host launched it; without a launch that in which it ran.
        """
        host = _numbered(self.found, self.found.annotations)
        device = _numbered(self.found, self.found.device_steps)
        known = ~np.isnan(self.host.launched)
        found = _step_at(host, np.where(known, self.host.launched, -1.0))
        late = _step_at(device, self.start)
        return np.where(found >= 0, found, late)

    def layers(self) -> tuple[list[str | None], list[str | None], Ints]:
        """Layer and direction of each activity, and the places of the operators they are from."""
        op, ops = self.host.op, self.ops
        names = np.asarray(self.found.ops.name, np.int64)[ops.order]
        evaluates = np.array([text.startswith(_EVALUATE) for text in self.found.names.texts])
        forward = np.asarray(self.found.op_forward, np.int64)[ops.order]
        sequence = np.asarray(self.found.op_sequence, np.int64)[ops.order]
        engine = (evaluates[names] if len(names) else np.zeros(0, np.bool_)) | (forward > 0)
        node = ops.inherited(np.where(engine, np.arange(len(ops)), -1))
        back = _taken(node, op)
        own = _at(self.modules, ops.thread, ops.start, op)
        again = (own >= 0) & (back >= 0)
        again[again] = self.modules.start[own[again]] >= ops.start[back[again]]
        source = _first_with(sequence, ~engine, _taken(_sequences(ops, engine, sequence), op))
        where = np.where((back >= 0) & ~again, source, op)
        module = _at(self.modules, ops.thread, ops.start, where)
        paths = _paths(self.modules, self.found.modules, self.found.names.texts)
        marks = _at(self.annotations, ops.thread, ops.start, where)
        notes = _paths(self.annotations, self.found.annotations, self.found.names.texts)
        optimizer = [OPTIMIZER in path for path in notes]
        mine = _at(self.annotations, ops.thread, ops.start, op)
        layers: list[str | None] = []
        directions: list[str | None] = []
        rows = zip(op.tolist(), back.tolist(), again.tolist(), module.tolist(), marks.tolist(),
                   mine.tolist(), strict=True)  # fmt: skip
        for at, behind, repeated, inner, mark, here in rows:
            note = notes[mark] if mark >= 0 else ""
            layers.append((paths[inner] if inner >= 0 else _plain(note)) or None)
            updates = here >= 0 and optimizer[here]
            directions.append(
                None if at < 0 else "optimizer" if updates else "recompute" if repeated
                else "backward" if behind >= 0 else "forward"
            )  # fmt: skip
        return layers, directions, where

    def kernels(self, gpus: dict[int, str | None], source: str) -> pl.DataFrame:
        """One row per activity, in the order of the input; columns of `trace_kernel` and more."""
        found, texts = self.found, self.found.names.texts
        layers, directions, self.sites = self.layers()
        base = found.first or 0.0
        op_names = np.asarray(found.ops.name, np.int64)[self.ops.order]
        work = _taken(self.works, self.call)
        own = np.asarray(found.kernel_work, np.int64)
        work = np.where(own >= 0, own, work)  # a message says itself what it is
        by_name = [kind_by_name(text) for text in texts]
        names = np.asarray(found.kernel_name, np.int64).tolist()
        operator = np.where(self.call >= 0, self.call, self.host.op)
        rows = zip(self.category.tolist(), work.tolist(), names, self.host.op.tolist(),
                   self.host.launch.tolist(), self.host.replayed.tolist(), strict=True)  # fmt: skip
        kinds, reasons = [], []
        for category, does, name, op, launch, replayed in rows:
            made = found.works[does] if does >= 0 else None
            kinds.append("copy" if category != KERNEL else made.kind if made else by_name[name])
            reasons.append(
                None if category != KERNEL
                else made.reason or None if made
                else REPLAYED if replayed
                else UNKNOWN if op >= 0
                else NO_OPERATOR if launch >= 0
                else NOT_RECORDED
            )  # fmt: skip
        devices = np.asarray(found.kernel_device, np.int64)
        lookup = pl.Series("texts", texts, pl.String)
        named = pl.Series(_taken(op_names, operator))
        return pl.DataFrame(
            {
                "source": pl.repeat(source, len(names), eager=True, dtype=pl.String),
                "line": pl.Series(found.kernel_line, dtype=pl.Int64).cast(pl.UInt32),
                "column": pl.Series(found.kernel_column, dtype=pl.Int64).cast(pl.UInt32),
                "gpu": pl.Series([gpus.get(each, gpus.get(-1)) for each in devices.tolist()],
                                 dtype=pl.String),
                "device": _counted(devices),
                "stream": _counted(np.asarray(found.kernel_stream, np.int64)),
                "step": _counted(self.steps()),
                "start": pl.Series((self.start - base) * 1e-6),
                "duration": pl.Series(self.duration * 1e-6),
                "kernel": lookup.gather(names),
                "kind": pl.Series(kinds, dtype=pl.String),
                "operator": lookup.gather(named.replace(-1, None)),
                "call": _counted(np.where(own >= 0, -2 - np.arange(len(own)), self.call)),
                "work": pl.Series(work),
                "layer": pl.Series(layers, dtype=pl.String),
                "direction": pl.Series(directions, dtype=pl.String),
                "correlation": _counted(np.asarray(found.kernel_correlation, np.int64)),
                "bytes": _counted(np.asarray(found.kernel_bytes, np.int64)),
                "reason": pl.Series(reasons, dtype=pl.String),
                "alone": pl.Series(np.where(own >= 0, np.arange(len(own)), -1)),
            }
        )  # fmt: skip

    def events(self) -> list[dict[str, Any]]:
        """What became of the events of each category: rows of `trace_event`."""
        found = self.found
        parts = {
            "operators": len(_ancestors(self.ops, np.concatenate([self.host.op, self.sites]))),
            "launches": len(np.unique(self.host.launch[self.host.launch >= 0])),
        }
        known = {"cpu_op": "operators", "operator": "operators", "cuda_runtime": "launches",
                 "runtime": "launches", "hip_runtime": "launches", "cuda_driver": "launches",
                 "driver": "launches", "xpu_runtime": "launches"}  # fmt: skip
        rows = []
        for (phase, category), count in sorted(found.counts.items(), key=str):
            name = (category or "").lower()
            refused = found.refused[phase, category]
            left = count - refused
            row = dict.fromkeys(("rows", "parts", "understood", "not_ours"), 0)
            if phase == "X" and name in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
                row["rows"] = left
            elif phase == "X" and name in known:
                row["parts"] = min(left, parts[known[name]])
                parts[known[name]] -= row["parts"]
                row["understood"] = left - row["parts"]
            elif name in MEANINGS:
                row["understood"] = left
            else:
                row["not_ours"] = left
            rows.append({"category": category or "", "phase": phase,
                         "meaning": MEANINGS.get(name, "not known"), **row,
                         "refused": refused})  # fmt: skip
        return rows


def spent(kernels: pl.DataFrame, launched: Floats, base: float) -> list[dict[str, Any]]:
    """How each device spent each step: rows of `trace_step`, times in s."""
    table = kernels.select("line", "column", "gpu", "device", "step", "start", "duration", "kind")
    table = table.with_columns(
        end=pl.col("start") + pl.col("duration"),
        launched=pl.Series((launched - base) * 1e-6),
    )
    if table["step"].count():  # what runs outside steps is none of them
        table = table.filter(pl.col("step").is_not_null())
    rows = []
    for _, part in table.group_by("device", maintain_order=True):
        steps = part.sort("start").partition_by("step", maintain_order=True)
        for at, step in enumerate(steps):
            begins = float(step["start"].min())  # type: ignore[arg-type]
            last = float(step["end"].max())  # type: ignore[arg-type]
            until = float(steps[at + 1]["start"].min()) if at + 1 < len(steps) else last  # type: ignore[arg-type]
            rows.append(_spent(step.sort("start"), begins, max(last, until)))
    return rows


def _spent(step: pl.DataFrame, begins: float, until: float) -> dict[str, Any]:
    start, end = step["start"].to_numpy(), step["end"].to_numpy()
    talks = (step["kind"] == "collective").to_numpy()
    busy = covered(start, end)
    compute = covered(start[~talks], end[~talks])
    left, right = union(start, end)
    gaps = left[1:] - right[:-1]
    launched = step["launched"].to_numpy()
    first = {float(at): moment for at, moment in zip(start[::-1], launched[::-1], strict=True)}
    waited = [first[float(at)] - before for at, before in zip(left[1:], right[:-1], strict=True)]
    unlaunched = np.clip(np.nan_to_num(np.array(waited, np.float64)), 0.0, gaps)
    line, column = step.sort("line", "column").select("line", "column").row(0)
    return {
        "line": line, "column": column, "gpu": step["gpu"][0], "device": step["device"][0],
        "step": step["step"][0], "start": begins, "duration": until - begins,
        "kernels": step.height, "busy": busy, "compute": compute,
        "exposed": max(busy - compute, 0.0), "idle": max(until - begins - busy, 0.0),
        "unlaunched": float(unlaunched.sum()),
    }  # fmt: skip


SHAPES: dict[str, tuple[str, ...]] = {
    "gemm": ("b", "m", "n", "k", "layout"),
    "attention": ("batch", "seq", "kv_seq", "heads", "kv_heads", "head_dim", "causal",
                  "direction"),
    "collective": ("op", "ranks", "elements", "bytes", "group"),
    "pointwise": ("bytes",),
}  # fmt: skip
"""Columns of a kind's shape: what makes two calls alike."""


def calls(kernels: pl.DataFrame, found: Collected, kind: str) -> pl.DataFrame:
    """Calls of one kind, those of one shape in one row; columns of the frame of that kind."""
    works = [
        {"work": at, "dtype": one.dtype, **one.shape}
        for at, one in enumerate(found.works)
        if one.kind == kind and one.shape
    ]
    if not works:
        return pl.DataFrame()
    shapes = pl.DataFrame(works, schema_overrides={"work": pl.Int64}, infer_schema_length=None)
    wanted = SHAPES[kind]
    mine = kernels.filter(pl.col("kind") == kind).select(
        "work", "call", "alone", "line", "column", "gpu", "device", "operator", "kernel",
        "duration",
    )  # fmt: skip
    if kind == "pointwise":  # a call that is part of a product, say, is none of its own
        mine = mine.filter(pl.col("call").is_not_null() | (pl.col("alone") >= 0))
    single = (
        mine.join(shapes.select("work"), on="work", how="semi")
        .group_by("call", "alone", "work", maintain_order=True)
        .agg(
            pl.col("line", "column", "gpu", "operator").first(),
            kernel=pl.col("kernel").get(pl.col("duration").arg_max()),
            kernels=pl.len(),
            time=pl.col("duration").sum(),
        )
        .join(shapes, on="work", how="left", maintain_order="left")
        .filter(pl.col("time") > 0)
    )
    if kind == "gemm":
        reduced = pl.struct("dtype", "kernel").map_elements(
            lambda row: computed_in(row["dtype"], row["kernel"]), return_dtype=pl.String
        )
        single = single.with_columns(dtype=reduced)
    quarter = pl.col("time").quantile(0.75, "linear") - pl.col("time").quantile(0.25, "linear")
    return (
        single.group_by("gpu", "dtype", "operator", *wanted, maintain_order=True)
        .agg(
            pl.col("line", "column", "kernel").first(),
            calls=pl.len().cast(pl.Int64),
            kernels=pl.col("kernels").sum().cast(pl.Int64),
            least=pl.col("time").min(),
            most=pl.col("time").max(),
            spread=quarter,
            total=pl.col("time").sum(),
            time=pl.col("time").median(),
        )
        .sort("line", "column")
    )


def _nested(spans: Spans) -> Nesting:
    return Nesting(spans.thread, spans.start, spans.end)


def _matched(keys: Ints, asked: Ints) -> Ints:
    """The first place of each asked key; -1 where there is none."""
    if not len(keys) or not len(asked):
        return np.full(len(asked), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    at = np.minimum(np.searchsorted(keys[order], asked), len(keys) - 1)
    there = (keys[order][at] == asked) & (asked >= 0)
    return np.where(there, order[at], -1)


def _taken(values: Ints, at: Ints) -> Ints:
    """The values at places, -1 where the place is -1."""
    if not len(values):
        return np.full(len(at), -1, np.int64)
    return np.where(at >= 0, values[at], -1)


def _at(spans: Nesting, thread: Ints, start: Floats, op: Ints) -> Ints:
    """The innermost span around each operator; -1 for none."""
    if not len(spans) or not len(thread):
        return np.full(len(op), -1, np.int64)
    used = np.unique(op[op >= 0])
    found = np.full(len(thread), -1, np.int64)
    found[used] = spans.inside(thread[used], start[used])
    return _taken(found, op)


def _sequences(ops: Nesting, engine: npt.NDArray[np.bool_], sequence: Ints) -> Ints:
    """The sequence number of the backward node that each operator runs in; -1 outside."""
    return ops.inherited(np.where(engine & (sequence >= 0), sequence, -1))


def _first_with(sequence: Ints, forward: npt.NDArray[np.bool_], asked: Ints) -> Ints:
    """The forward operator with each sequence number: the last that shows it made the node."""
    places = np.flatnonzero(forward & (sequence >= 0))[::-1]
    return _taken(places, _matched(sequence[places], asked))


def _paths(spans: Nesting, columns: Spans, texts: list[str]) -> list[str]:
    """The names of each span and of those around it, outermost first."""
    names = np.asarray(columns.name, np.int64)[spans.order].tolist()
    paths: list[str] = []
    for name, parent in zip(names, spans.parent.tolist(), strict=True):
        paths.append(f"{paths[parent]}/{texts[name]}" if parent >= 0 else texts[name])
    return paths


def _plain(path: str) -> str:
    """Annotations without the profiler's steps and the optimizer's."""
    return "/".join(part for part in path.split("/") if not part.startswith((STEP, OPTIMIZER)))


def _numbered(found: Collected, spans: Spans) -> tuple[Floats, Floats, Ints]:
    """Starts, ends and numbers of the profiler's steps, in order."""
    texts = found.names.texts
    rows = sorted(
        (start, end, int(number[1]))
        for start, end, name in zip(spans.start, spans.end, spans.name, strict=True)
        if (number := re.fullmatch(rf"{STEP}([0-9]{{1,15}})", texts[name]))
    )
    starts, ends, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(starts, np.float64), np.array(ends, np.float64), np.array(numbers, np.int64)


def _step_at(steps: tuple[Floats, Floats, Ints], time: Floats) -> Ints:
    starts, ends, numbers = steps
    if not len(starts):
        return np.full(len(time), -1, np.int64)
    at = np.searchsorted(starts, time, side="right") - 1
    inside = (at >= 0) & (time <= ends[at])
    return np.where(inside, numbers[at], -1)


def _ancestors(ops: Nesting, used: Ints) -> Ints:
    """The operators in use and all those around them."""
    held = np.zeros(len(ops), np.bool_)
    front = np.unique(used[used >= 0])
    while len(front):
        held[front] = True
        front = np.unique(ops.parent[front])
        front = front[(front >= 0) & ~held[np.maximum(front, 0)]]
    return np.flatnonzero(held)


def _counted(values: Ints) -> pl.Series:
    """Whole numbers, null where negative."""
    series = pl.Series(values, dtype=pl.Int64)
    return series.set(series < 0, None)
