"""Device activities joined to what launched them: operators, layers, passes and steps.

In: what was collected of a trace. Out: one row per activity, calls of one shape as one row, steps
with their busy, exposed and idle time, and the account of all events.

An activity belongs to the operator that its external id names; without one to the innermost
operator around its launch, which its correlation id names. A backward operator belongs to the layer
of the forward operator with its sequence number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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

KINDS = ("gemm", "attention", "collective", "pointwise", "copy", "other")
DIRECTIONS = ("forward", "backward", "recompute", "optimizer")
FORTH, BACK, AGAIN, OPTIMIZED = range(4)


@dataclass(frozen=True)
class Hosts:
    """Sayings of the host on each activity: places among operators and launches, -1 for none."""

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
        ops = Keys(np.asarray(found.op_id, np.int64)[self.ops.order],
                   np.asarray(found.ops.place, np.int64)[self.ops.order])  # fmt: skip
        places = np.asarray(found.kernel_place, np.int64)
        op = ops.at(np.asarray(found.kernel_id, np.int64), places)
        launches = np.asarray(found.launches.place, np.int64)
        launch = Keys(np.asarray(found.launch_correlation, np.int64), launches).at(
            np.asarray(found.kernel_correlation, np.int64), places
        )
        launched = np.full(len(launch), np.nan)
        has = launch >= 0
        starts = np.asarray(found.launches.start, np.float64)
        launched[has] = starts[launch[has]]
        by_launch = ops.at(np.asarray(found.launch_id, np.int64), launches)
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

    def layers(self) -> tuple[pl.Series, pl.Series, Ints]:
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
        paths = _paths(self.modules, self.found.modules, self.found.names.texts)
        notes = _paths(self.annotations, self.found.annotations, self.found.names.texts)
        module = _taken(paths.of, _at(self.modules, ops.thread, ops.start, where))
        mark = _taken(notes.of, _at(self.annotations, ops.thread, ops.start, where))
        mine = _taken(notes.of, _at(self.annotations, ops.thread, ops.start, op))
        plain = np.array([len(paths.texts) + at for at in range(len(notes.texts))], np.int64)
        layer = np.where(module >= 0, module, _taken(plain, mark))
        layers = pl.Series([*paths.texts, *map(_plain, notes.texts)], dtype=pl.String)
        layers = layers.set(layers == "", None)
        updates = _taken(np.array([OPTIMIZER in text for text in notes.texts], np.int64), mine) > 0
        direction = np.select(
            [op < 0, updates, again, back >= 0], [-1, OPTIMIZED, AGAIN, BACK], default=FORTH
        )
        return _spelled(layers, layer), _spelled(pl.Series(DIRECTIONS), direction), where

    def _work(self) -> Ints:
        """The work that each activity is a part of; a message says itself what it is."""
        own = np.asarray(self.found.kernel_work, np.int64)
        return np.where(own >= 0, own, _taken(self.works, self.call))

    def _kinds(self, work: Ints) -> tuple[pl.Series, pl.Series]:
        """Kind of each activity, and why it has no shape."""
        found = self.found
        made = [KINDS.index(one.kind) for one in found.works]
        why = list(dict.fromkeys(one.reason for one in found.works if one.reason))
        reasons = [NOT_RECORDED, NO_OPERATOR, UNKNOWN, REPLAYED, *why]
        reason = [reasons.index(one.reason) if one.reason else -1 for one in found.works]
        used = np.unique(np.asarray(found.kernel_name, np.int64))
        by_name = np.zeros(len(found.names.texts), np.int64)
        by_name[used] = [KINDS.index(kind_by_name(found.names.texts[at])) for at in used.tolist()]
        copies, known, host = self.category != KERNEL, work >= 0, self.host
        kind = np.select(
            [copies, known],
            [KINDS.index("copy"), _taken(np.array(made, np.int64), work)],
            default=by_name[np.asarray(found.kernel_name, np.int64)],
        )
        said = np.select(
            [copies, known, host.replayed, host.op >= 0, host.launch >= 0],
            [-1, _taken(np.array(reason, np.int64), work), 3, 2, 1],
            default=0,
        )
        return _spelled(pl.Series(KINDS), kind), _spelled(pl.Series(reasons), said)

    def kernels(self, gpus: Mapping[int, str | None], source: str) -> pl.DataFrame:
        """One row per activity, in the order of the input; columns of `trace_kernel` and more."""
        found = self.found
        layers, directions, self.sites = self.layers()
        base = found.first or 0.0
        op_names = np.asarray(found.ops.name, np.int64)[self.ops.order]
        work = self._work()
        kinds, reasons = self._kinds(work)
        own = np.asarray(found.kernel_work, np.int64)
        operator = np.where(self.call >= 0, self.call, self.host.op)
        devices = np.asarray(found.kernel_device, np.int64)
        models = list(dict.fromkeys(gpus.values()))
        model = {at: models.index(name) for at, name in gpus.items()}
        gpu = [model.get(each, model[-1]) for each in devices.tolist()]
        texts = pl.Series(found.names.texts, dtype=pl.String)
        return pl.DataFrame(
            {
                "source": pl.repeat(source, len(own), eager=True, dtype=pl.String),
                "line": pl.Series(found.kernel_line, dtype=pl.Int64).cast(pl.UInt32),
                "column": pl.Series(found.kernel_column, dtype=pl.Int64).cast(pl.UInt32),
                "gpu": _spelled(pl.Series(models, dtype=pl.String), np.array(gpu, np.int64)),
                "device": _counted(devices),
                "stream": _counted(np.asarray(found.kernel_stream, np.int64)),
                "step": _counted(self.steps()),
                "start": pl.Series((self.start - base) * 1e-6),
                "duration": pl.Series(self.duration * 1e-6),
                "kernel": _spelled(texts, np.asarray(found.kernel_name, np.int64)),
                "kind": kinds,
                "operator": _spelled(texts, _taken(op_names, operator)),
                "call": _counted(np.where(own >= 0, -1, self.call)),
                "work": pl.Series(work),
                "layer": layers,
                "direction": directions,
                "correlation": _counted(np.asarray(found.kernel_correlation, np.int64)),
                "bytes": _counted(np.asarray(found.kernel_bytes, np.int64)),
                "reason": reasons,
                "alone": pl.Series(np.where(own >= 0, np.arange(len(own)), -1)),
            }
        )

    def events(self) -> list[dict[str, Any]]:
        """Account of the events of each category: rows of `trace_event`."""
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
            elif phase == "X" and not name:
                row["rows"], row["understood"] = found.plain, left - found.plain
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


LARGEST = 2**62
"""Elements and bytes beyond which a size is none: no address reaches as far."""


def _may_be(size: object) -> bool:
    """Whether a part of a shape is a size that a call can have, or no number."""
    return not isinstance(size, int) or abs(size) <= LARGEST


def calls(kernels: pl.DataFrame, found: Collected, kind: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Calls of one kind, those of one shape in one row; and `kernels` with the number of theirs.

    Columns of the frame of that kind.
    """
    if "alike" not in kernels.columns:
        kernels = kernels.with_columns(alike=pl.lit(None, pl.Int64))
    works = [
        {"work": at, "dtype": one.dtype, **one.shape}
        for at, one in enumerate(found.works)
        if one.kind == kind and one.shape and all(map(_may_be, one.shape.values()))
    ]
    if not works:
        return pl.DataFrame(), kernels
    shapes = pl.DataFrame(works, schema_overrides={"work": pl.Int64}, infer_schema_length=None)
    mine = kernels.filter(pl.col("kind") == kind)
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
    if single.is_empty():
        return pl.DataFrame(), kernels
    same = ["gpu", "dtype", "operator", *SHAPES[kind]]
    before = kernels["alike"].max() or 0
    single = single.with_columns(alike=pl.struct(same).rank("dense").cast(pl.Int64) + before)
    quarter = pl.col("time").quantile(0.75, "linear") - pl.col("time").quantile(0.25, "linear")
    rows = (
        single.group_by("alike", maintain_order=True)
        .agg(
            pl.col("line", "column", "kernel", *same).first(),
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
    keys = ["call", "alone", "work", "kind"]
    link = single.select("call", "alone", "work", kind=pl.lit(kind), own="alike")
    joined = kernels.join(link, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return rows, joined.with_columns(alike=pl.coalesce("alike", "own")).drop("own")


def _nested(spans: Spans) -> Nesting:
    return Nesting(spans.thread, spans.start, spans.end)


class Keys:
    """Where keys stand among others that may be there several times, as in traces put together.

    Of several the last before what asks is meant, else the first behind it.
    """

    def __init__(self, keys: Ints, places: Ints) -> None:
        self.order = np.lexsort((places, keys))
        self.keys, self.places = keys[self.order], places[self.order]
        self.single = not len(keys) or bool((np.diff(self.keys) != 0).all())

    def at(self, asked: Ints, places: Ints) -> Ints:
        """The place of each asked key in the input of `keys`; -1 where there is none."""
        if not len(self.keys) or not len(asked):
            return np.full(len(asked), -1, np.int64)
        low = np.searchsorted(self.keys, asked)
        at = np.minimum(low, len(self.keys) - 1)
        there = (self.keys[at] == asked) & (asked >= 0)
        if not self.single:
            high = np.searchsorted(self.keys, asked, side="right")
            for row in np.flatnonzero(there & (high - low > 1)).tolist():
                before = np.searchsorted(self.places[low[row] : high[row]], places[row])
                at[row] = low[row] + max(int(before) - 1, 0)
        return np.where(there, self.order[at], -1)


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
    first = Keys(sequence[places], np.arange(len(places)))
    return _taken(places, first.at(asked, np.zeros(len(asked), np.int64)))


@dataclass(frozen=True)
class Paths:
    """Spans' names with those around them, outermost first: texts, and which each span has."""

    texts: list[str]
    of: Ints


def _paths(spans: Nesting, columns: Spans, texts: list[str]) -> Paths:
    names = np.asarray(columns.name, np.int64)[spans.order].tolist()
    same = (spans.start == spans.start[spans.parent]) & (spans.end == spans.end[spans.parent])
    known: dict[tuple[int, int], int] = {}
    paths: list[str] = []
    of: list[int] = []
    for name, parent, twice in zip(names, spans.parent.tolist(), same.tolist(), strict=True):
        if parent >= 0 and twice and name == names[parent]:  # one span, there twice
            of.append(of[parent])
            continue
        above = of[parent] if parent >= 0 else -1
        code = known.setdefault((above, name), len(paths))
        if code == len(paths):
            paths.append(f"{paths[above]}/{texts[name]}" if above >= 0 else texts[name])
        of.append(code)
    return Paths(paths, np.asarray(of, np.int64))


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


def _spelled(texts: pl.Series, codes: Ints) -> pl.Series:
    """Texts by their numbers, null where negative."""
    return texts.gather(_counted(codes))


def _counted(values: Ints) -> pl.Series:
    """Whole numbers, null where negative."""
    series = pl.Series(values, dtype=pl.Int64)
    return series.set(series < 0, None)
