"""Files that trackers write of what they watched: which of their columns and rows are of one run.

In: the labels of separated values, and the name of their file. Out: the same labels as a history of
one run has them: a panel of W&B holds `NAME - METRIC` with the bounds of what it drew as one point
beside each; TensorBoard names a file after run and tag (`run-NAME-tag-TAG.csv`) and its columns
after nothing. Of rows that name their metric (`Run,Tag,Step,Value`), the steps of each run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import NamedTuple

from assay.ingest.columns.subject import BOUNDS
from assay.ingest.formats.steps.step_words import COUNTERS, meaning, words
from assay.ingest.schema.format import uncompressed

_OF_RUN = re.compile(r"(?:Name: )?(.+) - (\S.*)")

_GROUPED = re.compile(r"[^\s:]+: ")
"""In front of the name of several runs that a panel takes the mean of: `Group: a`, `lr: 0.1`."""

_SCALARS = ("wall time", "step", "value")

_TAGGED = re.compile(r"(?:.*/)?run[-_].*[-_]tag[-_](.+)\.csv", re.IGNORECASE)

_SAID = re.compile("[a-z0-9]+", re.IGNORECASE)


def counts_steps(label: str) -> bool:
    """Whether a label counts steps, and no batches of an epoch.

    >>> counts_steps("trainer/global_step"), counts_steps("time/step"), counts_steps("batch")
    (True, False, False)
    """
    return COUNTERS.get(" ".join(words(_TRAINERS.sub("", label))), 9) < 4


_TRAINERS = re.compile(r"train(?:er|ing)?/")


def of_one_run(labels: Sequence[str], name: str) -> list[str] | None:
    """Labels of a history, those that say nothing of a step empty; None for that of several runs.

    >>> of_one_run(["Step", "a-1 - perf/mfu", "a-1 - perf/mfu__MIN", "a-1 - perf/mfu__MAX"], "")
    ['Step', 'perf/mfu', '', '']
    >>> of_one_run(["Step", "a - mfu", "a - mfu__MIN", "b - mfu", "b - mfu__MIN"], "")
    >>> of_one_run(["Wall time", "Step", "Value"], "run-a-tag-perf_step_time_s.csv")
    ['', 'Step', 'perf_step_time_s']
    """
    if tuple(label.casefold() for label in labels) == _SCALARS:
        tag = _TAGGED.fullmatch(uncompressed(name))
        return ["", labels[1], tag[1].strip("_")] if tag else None
    found = [_OF_RUN.fullmatch(label) for label in labels[1:]]
    if not counts_steps(labels[0]) or not all(found):
        return [*labels]
    named = [(each[1], each[2]) for each in found if each]
    if len({name for name, _ in named}) > 1 or _GROUPED.match(labels[1].removeprefix("Name: ")):
        return None
    return [labels[0], *("" if metric.endswith(BOUNDS) else metric for _, metric in named)]


class Scalar(NamedTuple):
    """One row of a file whose rows name their metric; its step and its value as printed."""

    run: str
    metric: str
    step: str
    value: str
    line: int
    column: int


class Columns(NamedTuple):
    """Places of the columns of such a file; -1 for the run where none says it."""

    run: int
    metric: int
    step: int
    value: int


_RUNS = {"run", "runid", "runname", "rununiqueid", "runuuid"}

_METRICS = {"tag", "key", "metric", "metricname"}

_ASIDE = {"", "walltime", "timestamp", "isnan", "time", "index", "unnamed0"}


def columns(labels: Sequence[str]) -> Columns | None:
    """The columns of a file whose rows name their metric; None for any other.

    >>> columns(["Run", "Tag", "Step", "Value"]), columns(["step", "tag", "loss"])
    (Columns(run=0, metric=1, step=2, value=3), None)
    """
    names = ["".join(_SAID.findall(label.casefold())) for label in labels]
    steps = [at for at, label in enumerate(labels) if counts_steps(label)]
    metrics = [at for at, name in enumerate(names) if name in _METRICS]
    runs = [at for at, name in enumerate(names) if name in _RUNS]
    rest = {name for at, name in enumerate(names) if at not in (*steps, *metrics, *runs)}
    if len(steps) != 1 or len(metrics) != 1 or len(runs) > 1 or names.count("value") != 1:
        return None
    if rest - _ASIDE != {"value"}:
        return None
    return Columns(runs[0] if runs else -1, metrics[0], steps[0], names.index("value"))


def steps_of(scalars: Iterable[Scalar]) -> Iterator[list[Scalar]]:
    """The values of each step, run by run; nothing where runs are mixed, or one could go on where
    the one before it ends: nothing would tell their steps apart.

    The steps are those of the metric that has most of them, of those that are understood.
    """
    runs = [(run, list(each)) for run, each in groupby(scalars, key=attrgetter("run"))]
    if len({run for run, _ in runs}) < len(runs):
        return
    histories = [steps for _, each in runs if (steps := _steps(each))]
    if all(_count(b[0]) <= _count(a[-1]) for a, b in pairwise(histories)):
        for steps in histories:
            yield from steps


def _count(step: Sequence[Scalar]) -> float:
    return float(step[0].step)


def _steps(scalars: Sequence[Scalar]) -> list[list[Scalar]]:
    curves: dict[str, dict[str, Scalar]] = {}
    for each in scalars:
        curves.setdefault(each.metric, {})[each.step] = each
    known = [curve for metric, curve in curves.items() if (m := meaning(metric)) and m.field]
    best = max(known, key=len, default={})
    return [
        [one, *(curve[step] for curve in curves.values()
                if curve is not best and step in curve and step in best)]
        for step, one in best.items()
    ]  # fmt: skip
