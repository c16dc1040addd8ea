"""Gates on a report: limits that its figures must keep, each with a verdict that says why.

In: the document of `assay report` (see docs), as data. Out: verdicts. A gate that finds nothing to
judge does not pass: an empty join is the commonest way for a check to be green and worthless.

A gate speaks of all figures, of a scope, of one quantity or of one model's: `5%`, `gemm=3%`,
`gemm.time=3%`, `gemm.time@tile_wave=3%`. Of several that fit a figure, the narrowest holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Row = Mapping[str, Any]
"""One row of a list in the report document."""

WHAT = ("scope", "quantity", "origin")

FIGURE = (*WHAT, "model")

PAIR = ("case", "scope", "subject", "quantity", "model")
"""Columns that identify a row of accuracy, and one of pairs, in two reports."""

_SHOWN = 5

_AIM = r"(?:(?P<scope>[a-z_]+)(?:\.(?P<quantity>[a-z_0-9]+))?)?(?:@(?P<model>[\w.+-]+))?"

_LIMIT = re.compile(rf"(?:{_AIM}=)?(?P<limit>[0-9]+(?:\.[0-9]+)?)(?P<percent>%?)")

_LEAST = re.compile(rf"{_AIM}\s*>=\s*(?P<least>[0-9]+)")


class Status(StrEnum):
    """Outcome of a gate."""

    PASSED = "passed"
    FAILED = "failed"
    EMPTY = "nothing to judge"


@dataclass(frozen=True)
class Verdict:
    """One gate on one figure: what was asked, what was found, and the rows that did it."""

    gate: str
    about: str
    status: Status
    message: str
    rows: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"{self.status}: {self.gate}: {self.about}: {self.message}"
        return "\n".join([head, *(f"  {row}" for row in self.rows)])


@dataclass(frozen=True)
class Aim:
    """Which figures a gate speaks of; None is any."""

    scope: str | None = None
    quantity: str | None = None
    model: str | None = None

    def fits(self, row: Row) -> bool:
        """Whether a row of accuracy is spoken of."""
        return all(
            wanted is None or wanted == row[name]
            for name, wanted in (
                ("scope", self.scope), ("quantity", self.quantity), ("model", self.model)
            )
        )  # fmt: skip

    @property
    def narrowness(self) -> int:
        """How much an aim leaves out; a model is narrower than any quantity."""
        return (self.scope is not None) + (self.quantity is not None) + 3 * (self.model is not None)

    def __str__(self) -> str:
        parts = ".".join(part for part in (self.scope, self.quantity) if part) or "every figure"
        return f"{parts}@{self.model}" if self.model else parts


@dataclass(frozen=True)
class Limit:
    """The largest a figure may be, as a fraction, in absolute value."""

    option: str  # as given on the command line
    figure: str  # mape or bias
    aim: Aim
    limit: float


@dataclass(frozen=True)
class Least:
    """The fewest rows that must have been scored."""

    option: str
    aim: Aim
    least: int


def limit(figure: str, text: str) -> Limit:
    """A limit as it is stated for `figure` (mape or bias): `5%`, `gemm=3%`, `gemm.time=0.03`.

    Raises ValueError where it is none.

    >>> limit("mape", "gemm.time=3%").aim, limit("mape", "5%").limit
    (Aim(scope='gemm', quantity='time', model=None), 0.05)
    """
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no limit; expected 5%, gemm=3% or gemm.time=3%")
    size = float(match["limit"]) / (100 if match["percent"] else 1)
    return Limit(f"--max-{figure} {text}", figure, _aim(match), size)


def least(text: str) -> Least:
    """A number of scored rows as it is stated: `configuration.step_time>=80`.

    Raises ValueError where it is none.
    """
    match = _LEAST.fullmatch(text.strip())
    if match is None or not int(match["least"]):
        raise ValueError(f"{text!r} is no requirement; expected configuration.step_time>=80")
    return Least(f"--require '{text}'", _aim(match), int(match["least"]))


def _aim(match: re.Match[str]) -> Aim:
    return Aim(match["scope"], match["quantity"], match["model"])


def judge(
    report: Row,
    *,
    limits: Sequence[Limit] = (),
    required: Sequence[Least] = (),
    baseline: Row | None = None,
    yardsticks: Collection[str] = (),
    models: Collection[str] = (),
) -> list[Verdict]:
    """Every verdict of every gate, in the order of the options.

    Of `report`, `accuracy` and `pairs` are looked at; pairs should be those that were scored.
    `models` restricts the comparison with a baseline to those of the report; empty means all.

    `yardsticks` are models that a report carries to be beaten: a gate that names no model judges
    them only where nothing else predicts a quantity, and then the best of them.
    """
    verdicts: list[Verdict] = []
    for figure in dict.fromkeys(one.figure for one in limits):
        group = [one for one in limits if one.figure == figure]
        verdicts += _limits(report, group, yardsticks)
    for need in required:
        verdicts += _required(report, need, yardsticks)
    if baseline is not None:
        verdicts += _against(report, baseline, models)
    return verdicts


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """4 where a gate had nothing to judge, 1 where one failed, else 0."""
    found = {verdict.status for verdict in verdicts}
    return 4 if Status.EMPTY in found else int(Status.FAILED in found)


def _judged(report: Row, aim: Aim, yardsticks: Collection[str]) -> list[Row]:
    """The rows of accuracy that an aim speaks of and that stand on scored rows."""
    rows = [row for row in report["accuracy"] if aim.fits(row) and row["n"]]
    if aim.model is not None:
        return rows
    judged = [row for row in rows if row["model"] not in yardsticks]
    covered = {tuple(row[name] for name in WHAT) for row in judged}
    best: dict[tuple[str, ...], Row] = {}
    for row in rows:
        what = tuple(row[name] for name in WHAT)
        if what not in covered and (what not in best or _size(row) < _size(best[what])):
            best[what] = row
    return [row for row in rows if row in judged or row in best.values()]


def _size(row: Row) -> float:
    """The error of a row of accuracy; what is not known is the worst there can be."""
    return math.inf if row["mape"] is None else float(row["mape"])


def _limits(report: Row, limits: Sequence[Limit], yardsticks: Collection[str]) -> Iterator[Verdict]:
    judged = {id(one): _judged(report, one.aim, yardsticks) for one in limits}
    for one in limits:
        rows = judged[id(one)]
        if not rows:
            yield _nothing(report, one.option, one.aim)
        for row in rows:
            narrower = any(
                other.aim.narrowness > one.aim.narrowness and row in judged[id(other)]
                for other in limits
            )
            if not narrower:
                yield _limited(report, one, row)


def _limited(report: Row, one: Limit, row: Row) -> Verdict:
    value = row[one.figure]
    said = f"{one.figure} {percent(value)} of {row['n']} rows, limit {percent(one.limit)}"
    if value is not None and abs(value) <= one.limit:
        return Verdict(one.option, _name(row), Status.PASSED, said)
    pairs = sorted(_pairs(report, row), key=lambda pair: -abs(pair["error"]))
    worst = tuple(f"{_place(pair)} off by {percent(pair['error'])}" for pair in pairs[:_SHOWN])
    return Verdict(one.option, _name(row), Status.FAILED, said, worst)


def _nothing(report: Row, option: str, aim: Aim) -> Verdict:
    held = sorted({_name(row) for row in report["accuracy"] if row["n"]})
    message = f"no scored row; the report has {', '.join(held) or 'no accuracy at all'}"
    return Verdict(option, str(aim), Status.EMPTY, message)


def _required(report: Row, need: Least, yardsticks: Collection[str]) -> Iterator[Verdict]:
    """The scored rows of each model, whatever origin they have."""
    counts: dict[str, int] = {}
    for row in _judged(report, need.aim, yardsticks):
        counts[row["model"]] = counts.get(row["model"], 0) + row["n"]
    if not counts:
        yield _nothing(report, need.option, need.aim)
    for model, count in counts.items():
        status = Status.PASSED if count >= need.least else Status.FAILED
        aim = Aim(need.aim.scope, need.aim.quantity, model)
        message = f"{count} scored rows, at least {need.least} required"
        yield Verdict(need.option, str(aim), status, message)


def _against(report: Row, baseline: Row, models: Collection[str]) -> Iterator[Verdict]:
    """Each figure of the baseline against the same figure now."""
    option = "--baseline"
    now = {tuple(row[name] for name in FIGURE): row for row in report["accuracy"] if row["n"]}
    before = [
        row for row in baseline["accuracy"] if row["n"] and (not models or row["model"] in models)
    ]
    if not before:
        yield Verdict(option, "every figure", Status.EMPTY, "the baseline has no scored row")
    for row in before:
        current = now.get(tuple(row[name] for name in FIGURE))
        if current is None:
            message = f"no scored row, the baseline has {row['n']}"
            yield Verdict(option, _name(row), Status.EMPTY, message)
        else:
            yield _grown(report, baseline, row, current)


def _grown(report: Row, baseline: Row, before: Row, now: Row) -> Verdict:
    bound = _size(before) if before["ci_high"] is None else before["ci_high"]
    how = "the interval's end" if before["ci_high"] is not None else "no interval"
    said = (
        f"mape {percent(now['mape'])} of {now['n']} rows, "
        f"was {percent(before['mape'])} of {before['n']} ({how} {percent(bound)})"
    )
    if _size(now) <= bound * (1 + 1e-9) + 1e-12:
        return Verdict("--baseline", _name(now), Status.PASSED, said)
    rows = tuple(_culprits(_pairs(report, now), _pairs(baseline, before)))
    return Verdict("--baseline", _name(now), Status.FAILED, said, rows)


def _culprits(now: Sequence[Row], before: Sequence[Row]) -> Iterator[str]:
    """The rows whose error grew most, new rows by their whole error."""
    known = {tuple(pair[name] for name in PAIR): pair["error"] for pair in before}
    grown = []
    for pair in now:
        was = known.get(tuple(pair[name] for name in PAIR))
        growth = abs(pair["error"]) - (abs(was) if was is not None else 0.0)
        if growth > 0:
            grown.append((growth, pair, was))
    grown.sort(key=lambda item: -item[0])
    for _, pair, was in grown[:_SHOWN]:
        earlier = f"was {percent(was)}" if was is not None else "not in the baseline"
        yield f"{_place(pair)} off by {percent(pair['error'])}, {earlier}"
    if len(grown) > _SHOWN:
        yield f"and {len(grown) - _SHOWN} more rows whose error grew"


def _pairs(report: Row, row: Row) -> list[Row]:
    return [
        pair
        for pair in report["pairs"]
        if all(pair[name] == row[name] for name in FIGURE) and pair["error"] is not None
    ]


def _place(pair: Row) -> str:
    subject = f" {pair['subject']}" if pair["subject"] else ""
    return f"{pair['source']}:{pair['line']}:{subject}".rstrip(":") + " is"


def _name(row: Row) -> str:
    return f"{row['scope']}.{row['quantity']}@{row['model']} ({row['origin']})"


def percent(value: float | None) -> str:
    """A fraction as people say it.

    >>> percent(0.0312), percent(-0.5), percent(None)
    ('3.12%', '-50%', 'unknown')
    """
    return "unknown" if value is None else f"{100 * value:.3g}%"
