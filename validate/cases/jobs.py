"""Parts of a reading that are one run: files of one job, told apart from other jobs.

A part begins where a log states a configuration, or with its source where it states none; where a
launcher says that it starts processes, and steps stand above; and where iterations begin anew that
have consumed other samples than those of the same numbers above.
Two parts are one run only where they prove it: equal arguments, if both print theirs, and
iterations that go on where the others end (or repeat some of them, as a restart from a checkpoint
does), with the samples consumed to match; or the very same lines, as several ranks of one job write
them. A part that prints no arguments must go on exactly, iteration and samples. Equal arguments
alone are two measurements of one configuration.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import polars as pl
from assay.ingest.schema.fields import Rows
from assay.ingest.schema.reading import Reading
from assay.validate.cases.memo import once
from assay.validate.cases.observe import case_of
from assay.validate.cases.step_frames import OnDisk, StepFrame, StepRows, sources_of, step_frames

LAYOUT = ("gpus", "tp", "pp", "dp", "cp", "ep", "hidden", "layers", "seq_len", "micro_batch")
"""Fields that one job does not change; its batch it may ramp up (`_another_batch`)."""

OF_STEP = ("source", "line", "iteration", "train_iters", "consumed_samples", "lm_loss",
           "step_time", "timestamp")  # fmt: skip
"""Columns that tell one iteration of a job from others."""

SAMPLES = "consumed_samples"
"""Column of the samples that a run has trained on so far."""

LEAST_SHARED = 2
"""Iterations that two parts must print alike before they are outputs of one job."""


class Step(NamedTuple):
    """Identity of one iteration of one job."""

    consumed: int | None
    loss: float | None
    time: float | None
    timestamp: str | None


@dataclass
class Part:
    """A part of a reading, by what its lines say of the job; asked when all steps are there."""

    case: str
    source: str
    digest: str | None
    schedule: int | None = None
    steps: dict[int, Step] = field(default_factory=dict)

    @cached_property
    def first(self) -> int:
        """Its first iteration."""
        return min(self.steps)

    @cached_property
    def last(self) -> int:
        """Its last iteration."""
        return max(self.steps)

    @property
    def interval(self) -> int | None:
        """Iterations between two of its lines, where it is one number."""
        known = sorted(self.steps)
        gaps = {b - a for a, b in pairwise(known)}
        return gaps.pop() if len(gaps) == 1 else None

    @property
    def per_iteration(self) -> float | None:
        """Samples of one iteration at its end."""
        known = sorted(n for n, step in self.steps.items() if step.consumed is not None)
        if len(known) < 2:
            return None
        (a, b) = known[-2:]
        return ((self.steps[b].consumed or 0) - (self.steps[a].consumed or 0)) / (b - a)


@dataclass(frozen=True)
class Jobs:
    """Every part with the run it belongs to; `parts` and `why` for runs of several parts."""

    starts: pl.DataFrame
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    why: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def runs(self, rows: StepRows) -> Iterator[tuple[str, StepRows]]:
        """Each run and its rows, as `of` gives them; those of a long input stay on disk."""
        if isinstance(rows, pl.DataFrame):
            begin, held = 0, self.of(rows)
            for height, run in held["run"].rle().struct.unnest().iter_rows():
                yield run, held.slice(begin, height)  # there may be thousands: no copies
                begin += height
            return
        source = rows.long.source
        own = self.starts.filter(pl.col("source") == source).sort("line")
        at = rows["line"].search_sorted(own["line"]).to_list() if own.height else []
        # of several parts that begin at one place the last counts
        begins = dict(zip([0, *at], [source, *own["part"]], strict=True))
        for (begin, part), end in zip(begins.items(), [*begins, rows.height][1:], strict=True):
            if end > begin:
                yield part, rows.slice(begin, end - begin)

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """`frame` with the `part` and the `run` of each row, in the order of the job."""
        run = {part: case for case, parts in self.parts.items() for part in parts}
        order = {part: at for parts in self.parts.values() for at, part in enumerate(parts)}
        part = pl.col("part")
        return (
            in_parts(frame, self.starts)
            .with_columns(
                run=part.replace(run),
                order=part.replace_strict(order, default=0, return_dtype=pl.Int64),
            )
            .sort("run", "order", "source", "line", maintain_order=True)
        )


def in_parts(frame: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    """`frame` with the part of each row: the last that begins above it in its source."""
    plain = frame.drop("run", "part", strict=False)
    plain = plain.with_columns(pl.col("source").cast(pl.String))
    joined = plain.sort("line", maintain_order=True).join_asof(
        starts.sort("line"), on="line", by="source", strategy="backward", check_sortedness=False
    )
    return joined.with_columns(pl.col("part").fill_null(pl.col("source")))


@once
def _split(_reading: Reading) -> dict[Rows, list[tuple[pl.DataFrame, dict[str, pl.DataFrame]]]]:
    """Kind of rows → its frames, each without rows and by run; filled by `of_run`."""
    return {}


def of_run(reading: Reading, kind: Rows, run: str) -> Iterator[pl.DataFrame]:
    """Of each frame whose rows are of a kind those of one run, with their cases, in its order."""
    held = _split(reading)
    if kind not in held:
        cased = (
            jobs(reading).of(each.frame.with_columns(case=case_of()))
            for each in reading.with_rows(kind)
        )
        held[kind] = [
            (rows.clear(), {part["run"][0]: part for part in rows.partition_by("run")})
            for rows in cased
        ]
    for none, by_run in held[kind]:
        yield by_run.get(run, none)


@once
def jobs(reading: Reading) -> Jobs:
    """The runs of a reading, each with its parts in order."""
    starts = pl.DataFrame(schema={"source": pl.String, "line": pl.UInt32, "part": pl.String})
    stated = [held.frame for held in reading.with_rows("run")]
    starts = pl.concat([starts, *(each.select("source", "line", part="run") for each in stated)])
    frames = list(step_frames(reading))
    starts = pl.concat([starts, _launched(reading, frames, starts)])
    resumed = [frame.rows for frame in frames if frame.restarts and SAMPLES in frame.rows.columns]
    starts = pl.concat([starts, *(_anew(rows, starts) for rows in resumed)])
    ramps = _ramps(reading)
    for frame in frames:
        counted = None if frame.restarts or "iteration" not in frame.rows.columns else "iteration"
        starts = pl.concat([starts, _apart(frame.rows, counted, ramps)]).unique(
            ["source", "line"], keep="first", maintain_order=True
        )
    if sum(len(sources_of(rows)) for rows in resumed) < 2:
        return Jobs(starts)  # parts of one input are runs of their own
    known = [part for rows in resumed for part in parts(rows, stated, starts)]
    return Jobs(starts, *_joined(known))


def _launched(reading: Reading, frames: Sequence[StepFrame], starts: pl.DataFrame) -> pl.DataFrame:
    """Where a launcher starts processes below steps of another job.

    Every node says so, all of them before the first step; what states a configuration as well is a
    start already.
    """
    events = [held.frame for held in reading.with_rows("event") if "event" in held.frame.columns]
    told = [each.filter(pl.col("event") == "launched") for each in events]
    places = [place for each in told for place in each.select("source", "line").iter_rows()]
    found: list[tuple[str, int, str]] = []
    for source in dict.fromkeys(source for source, _ in places):
        steps = sorted(
            line
            for frame in frames
            if source in sources_of(frame.rows)
            for line in _lines_of(frame.rows, source)
        )
        last = 0
        for line in sorted(line for each, line in places if each == source):
            if bisect(steps, line) > bisect(steps, last):
                found.append((source, line, f"{source}#{line}"))
                last = line
    return pl.DataFrame(found, schema=starts.schema, orient="row")


def _lines_of(rows: StepRows, source: str) -> list[int]:
    if isinstance(rows, pl.DataFrame):
        rows = rows.filter(pl.col("source") == source)
    return rows["line"].to_list()


def _joined(known: Sequence[Part]) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Parts by the case of the first one they are a run with, and why each of the others is."""
    groups: list[list[Part]] = []
    alike = _Alike()
    why: dict[str, list[str]] = {}
    for part in sorted(known, key=lambda each: (each.first, each.last, each.case)):
        for at in alike.before(part):
            reason = _same(groups[at], part)
            if reason:
                why.setdefault(groups[at][0].case, []).append(f"{part.case}: {reason}")
                alike.ends_with(at, part, groups[at][-1])
                groups[at].append(part)
                break
        else:
            alike.ends_with(len(groups), part)
            groups.append([part])
    several = {group[0].case: tuple(each.case for each in group) for group in groups if group[1:]}
    return several, {case: tuple(said) for case, said in why.items()}


SHORT = 64
"""Iterations up to which a part is looked up by what it prints; of longer ones there are few."""


class _Alike:
    """Groups of parts by the schedule and the arguments of their last one, and by its lines.

    Of a thousand jobs few are asked whether they go on in another: those that print its schedule,
    its arguments or none, and the next iteration or a line of it again.
    """

    def __init__(self) -> None:
        self._groups: dict[int | None, dict[str | None, _Ends]] = {}

    def before(self, part: Part) -> list[int]:
        """The groups, in order, that may go on in `part`."""
        held = self._groups.get(part.schedule, {})
        some = held if part.digest is None else {part.digest, None} & held.keys()
        return sorted(set().union(*(held[digest].before(part) for digest in some)))

    def ends_with(self, group: int, part: Part, before: Part | None = None) -> None:
        """Note that a group ends with `part`, where it ended with `before`."""
        held = self._groups.setdefault(part.schedule, {})
        if before is not None:
            held[before.digest].drop(group, before)
        held.setdefault(part.digest, _Ends()).add(group, part)


class _Ends:
    """Groups by the lines of the part that they end with."""

    def __init__(self) -> None:
        self._every: set[int] = set()
        self._by_line: dict[Hashable, set[int]] = {}

    def before(self, part: Part) -> set[int]:
        """The groups that may go on in `part`; see `_same`."""
        if len(part.steps) > SHORT:
            return self._every
        begins = [("next", part.first), (SHORT,)]
        begins += [("last", part.first - part.interval)] if part.interval else []
        return set().union(*(self._by_line.get(key, ()) for key in [*begins, *_lines(part)]))

    def add(self, group: int, part: Part) -> None:
        """Note that a group ends with `part`."""
        self._every.add(group)
        for key in self._keys(part):
            self._by_line.setdefault(key, set()).add(group)

    def drop(self, group: int, part: Part) -> None:
        """Note that a group ends with `part` no longer."""
        self._every.discard(group)
        for key in self._keys(part):
            self._by_line[key].discard(group)

    def _keys(self, part: Part) -> Iterator[Hashable]:
        if len(part.steps) > SHORT:
            yield (SHORT,)  # asked by all
            return
        yield ("next", part.last + part.interval) if part.interval else ("last", part.last)
        yield from _lines(part)


def _lines(part: Part) -> Iterator[Hashable]:
    """One key at least is shared by two parts with iterations in common that may be one run."""
    for n, step in part.steps.items():
        if step.loss is not None and step.time is not None:
            yield n, step.consumed, step.loss, step.time
        if step.loss is not None and step.timestamp is not None:
            yield n, step.consumed, step.loss, step.timestamp
        if part.digest is not None and step.consumed is not None:
            yield n, step.consumed


MANY_FALLS, FEWEST_STEPS = 8, 3
"""A count that falls so often, after fewer steps than these on average, is none that begins again:
it counts down, or several jobs write into one file."""


def _ramps(reading: Reading) -> pl.DataFrame:
    """Where dumps state `rampup_batch_size`: what is added at a time, by source and line.

    Megatron prints first batch, increment and the samples that all of it takes.
    """
    types = {"source": pl.String, "line": pl.UInt32, "added": pl.Int64}
    told = [held.frame for held in reading.with_rows("argument") if held.frame.height]
    found: list[tuple[str, int, int]] = []
    for frame in told:
        stated = frame.filter(pl.col("name") == "rampup_batch_size")
        for source, line, value in stated.select("source", "line", "value").iter_rows():
            numbers = re.findall(r"[0-9]+", value or "")
            if len(numbers) == len(("first", "added", "samples")):
                found.append((source, line, int(numbers[1])))
    return pl.DataFrame(found, schema=types, orient="row")


def _apart(rows: StepRows, counter: str | None, ramps: pl.DataFrame) -> pl.DataFrame:
    """Where another job begins in one file: its count of steps falls, but for one that begins again
    with an epoch; its layout is another, or its batch, unless that ramps up.

    A restart of Megatron repeats iterations of its own job, so that only layouts tell there.
    """
    there = set(_telling(rows, counter))
    types = {"source": pl.String, "line": pl.UInt32, "part": pl.String}
    if not there:
        return pl.DataFrame(schema=types)
    layout = [pl.col(name) for name in LAYOUT if name in there]
    who = ["source", *(name for name in ("host", "rank") if name in there)]
    told = (*LAYOUT, "global_batch", "iteration", SAMPLES, "epoch", "host", "rank")
    held = rows.select(["source", "line", *(name for name in told if name in there)])
    if held["source"].n_unique() > 1 or not held["line"].is_sorted():
        held = held.sort("source", "line")
    if ramps.height and {"global_batch", "iteration"} <= set(held.columns):
        stated = ramps.sort("line")
        held = (
            held.with_columns(pl.col("source").cast(pl.String))
            .sort("line", maintain_order=True)
            .join_asof(stated, on="line", by="source", strategy="backward", check_sortedness=False)
            .sort("source", "line")
        )
    held = held.with_row_index("at")
    differs = pl.any_horizontal(
        pl.lit(value=False),
        *((each != each.shift().over("source")) for each in layout),
        _another_batch(held.columns),
    )
    maybe = [held.filter(differs).select("at", "source", "line", since=pl.lit(None, pl.UInt32))]
    if counter in held.columns:
        counted = held.drop_nulls(counter).with_columns(
            last=pl.col(counter).shift().over(who), since=pl.col("at").shift().over(who)
        )
        falling = pl.col(counter) < pl.col("last")
        if "epoch" in held.columns:
            rises = pl.col("epoch") > pl.col("epoch").shift().over(who)
            falling &= ~rises.fill_null(value=False)
        counted = counted.with_columns(falls=falling)
        fallen = pl.col("falls").sum().over("source")
        jobs = (fallen < MANY_FALLS) | (fallen * FEWEST_STEPS <= pl.len().over("source"))
        falls = counted.filter(pl.col("falls") & jobs)
        maybe.append(falls.select("at", "source", "line", "since"))
    found: dict[tuple[str, int], None] = {}
    begun: dict[str, int] = {}  # where the last job of a source begins: counts before are not its
    for at, source, line, since in pl.concat(maybe).sort("at").iter_rows():
        if since is None or since >= begun.get(source, 0):
            found[source, line] = None
            begun[source] = at
    places = [(source, line, f"{source}#{line}") for source, line in found]
    return pl.DataFrame(places, schema=types, orient="row")


def _telling(rows: StepRows, counter: str | None) -> list[str]:
    """The columns that may tell two jobs apart; none where nothing can.

    Of a long input only those that vary are looked at, and a counter only where it falls.
    """
    own = [name for name in (*LAYOUT, "global_batch") if name in rows.columns]
    more = ("iteration", SAMPLES, "epoch", "host", "rank")
    also = [name for name in more if name in rows.columns]
    if isinstance(rows, OnDisk):
        own = [name for name in own if not rows.one_value(name)]
        if not own and (counter is None or _rises(rows[counter], also_stays=True)):
            return []
        also = [name for name in also if not rows.one_value(name)]
    return [*own, *also] if own or counter else []


def _another_batch(columns: Sequence[str]) -> pl.Expr:
    """Rows whose batch is another than that of the row before, and does not ramp up from it.

    A batch ramps up if it rises while the count of steps goes on, and if the samples consumed
    between the two rows are those of batches from the one to the other; or if the ramp that the job
    states adds what it has risen by.
    """
    if "global_batch" not in columns:
        return pl.lit(value=False)
    batch = pl.col("global_batch")
    before = batch.shift().over("source")
    if "iteration" not in columns or not {SAMPLES, "added"} & set(columns):
        return (batch != before).fill_null(value=False)
    went = pl.col("iteration") - pl.col("iteration").shift().over("source")
    proofs = []
    if SAMPLES in columns:
        more = pl.col(SAMPLES) - pl.col(SAMPLES).shift().over("source")
        proofs.append(more.is_between(went * before, went * batch))
    if "added" in columns:
        proofs.append((batch - before) % pl.col("added") == 0)
    ramps = (batch > before) & (went > 0) & pl.coalesce(*proofs, pl.lit(value=False))
    return ((batch != before) & ~ramps.fill_null(value=False)).fill_null(value=False)


def _anew(steps: StepRows, starts: pl.DataFrame) -> pl.DataFrame:
    """Where iterations begin again that are not those of a restart: a part that states nothing.

    A restart prints the iterations behind its checkpoint with the samples they had consumed before.
    """
    if len(sources_of(steps)) == 1 and _rises(steps["iteration"]):
        return starts.clear()
    counted = steps.select(["source", "line", "iteration", "consumed_samples"])
    rows = in_parts(counted, starts).drop_nulls("consumed_samples")
    twice = rows.group_by("part", "iteration").agg(pl.col("consumed_samples").n_unique())
    odd = twice.filter(pl.col("consumed_samples") > 1)["part"].unique()
    found: list[tuple[str, int, str]] = []
    of_odd = rows.filter(pl.col("part").is_in(odd.implode())).sort("source", "line")
    for part in of_odd.partition_by("part", maintain_order=True):
        consumed: dict[int, int] = {}
        since: dict[int, int] = {}  # those behind the last step back
        last, begin = -1, 0
        for source, line, n, samples in part.select(
            "source", "line", "iteration", "consumed_samples"
        ).iter_rows():
            if n < last:
                since, begin = {}, line
            since[n] = samples
            last = n
            if consumed.get(n, samples) != samples:
                found.append((source, begin, f"{source}#{begin}"))
                consumed = dict(since)
            consumed[n] = samples
    return pl.DataFrame(found, schema=starts.schema, orient="row")


def _rises(counts: pl.Series, *, also_stays: bool = False) -> bool:
    """Whether each of the counts is above the one before, or not below it."""
    if counts.null_count():
        return False
    numbers = counts.to_numpy()
    return (also_stays and counts.is_sorted()) or bool((numbers[1:] > numbers[:-1]).all())


def parts(steps: StepRows, stated: Sequence[pl.DataFrame], starts: pl.DataFrame) -> list[Part]:
    """Every part that prints iterations; `stated` are configurations of runs, with digests."""
    digests = dict(row for each in stated for row in each.select("run", "digest").iter_rows())
    found: dict[str, Part] = {}
    columns = ("iteration", "train_iters", SAMPLES, "lm_loss", "step_time", "timestamp")
    held = [pl.col(name) if name in steps.columns else pl.lit(None).alias(name) for name in columns]
    told = steps.select([name for name in OF_STEP if name in steps.columns])
    rows = in_parts(told, starts).select("part", "source", *held)
    for case, source, n, schedule, *step in rows.iter_rows():
        part = found.setdefault(case, Part(case, source, digests.get(case)))
        part.schedule = schedule
        part.steps[n] = Step(*step)
    return list(found.values())


def _same(group: list[Part], later: Part) -> str | None:
    """Why `later` belongs to the job of `group`; None where nothing proves it."""
    earlier = group[-1]
    if any(each.source == later.source for each in group) or earlier.schedule != later.schedule:
        return None
    told = earlier.digest is not None and later.digest is not None
    if told and earlier.digest != later.digest:
        return None
    shared = [n for n in later.steps if n in earlier.steps]
    arguments = "equal arguments, " if told else ""
    if shared and _outputs(earlier, later, shared):
        return f"{arguments}the same lines of {len(shared)} iterations"
    if not shared and _goes_on(earlier, later, exactly=not told):
        return f"{arguments}goes on at iteration {later.first} after {earlier.last}"
    if told and shared and _restart(earlier, later, shared):
        return f"{arguments}begins again at iteration {later.first} of {earlier.last}"
    return None


def _outputs(a: Part, b: Part, shared: list[int]) -> bool:
    """Whether two parts print the same lines: equal losses with equal times or clocks."""
    if len(shared) < min(LEAST_SHARED, len(a.steps), len(b.steps)):
        return False
    for n in shared:  # most are told apart by the first
        x, y = a.steps[n], b.steps[n]
        if x.loss is None or (x.consumed, x.loss) != (y.consumed, y.loss):
            return False
    pairs = [(a.steps[n], b.steps[n]) for n in shared]
    times = all(x.time is not None and x.time == y.time for x, y in pairs)
    clocks = all(x.timestamp is not None and x.timestamp == y.timestamp for x, y in pairs)
    return times or clocks


def _goes_on(a: Part, b: Part, *, exactly: bool) -> bool:
    """Whether `b` begins one line after `a` ends, and has consumed what that takes."""
    interval = a.interval or b.interval
    if interval is None or b.first != a.last + interval:
        return False
    before, after = a.steps[a.last].consumed, b.steps[b.first].consumed
    each = a.per_iteration or b.per_iteration
    if before is None or after is None or each is None:
        return not exactly
    return after - before == each * interval


def _restart(a: Part, b: Part, shared: list[int]) -> bool:
    """Whether `b` repeats the end of `a` from a checkpoint: the same samples, and then more."""
    if not a.first < b.first or b.last <= a.last:
        return False
    return all(
        a.steps[n].consumed is not None and a.steps[n].consumed == b.steps[n].consumed
        for n in shared
    )
