"""The report for people: the first screen, and every section in order.

The first screen says how fast, how good, why, and what to do next, in a page's length. One run is
shown by itself, several as a line each, worst first; inputs without a run by what was scored in
them. The writers lay out what stands here; JSON is `json_document`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from assay.validate.laws.finding import SEVERITIES
from assay.validate.report import figures, leftovers, reading_section
from assay.validate.report import run_section as of_runs
from assay.validate.report.layout import Column, Items, Section, Table, count, percent, place, scale
from assay.validate.report.reading_section import solved
from assay.validate.report.summary import sentences, summary
from assay.validate.runs.run import runs
from assay.validate.runs.run_record import Record, records
from assay.validate.runs.timers import grouped
from assay.validate.score.assess import Report

MORE = "Everything else: --full, or -o FILE.html, .md, .json."
LARGEST = 5

FIRST = 2
"""Sections on traces that the first screen shows: time by class, and the costliest shapes."""

ORDERS: Mapping[str, Callable[[Record], float]] = {
    "error": lambda run: -abs(run.error) if run.error is not None else math.inf,
    "step-time": lambda run: -(run.step_time or 0.0),
    "mfu": lambda run: run.mfu if run.mfu is not None else math.inf,
    "memory": lambda run: -(run.fullness or 0.0),
    "steps": lambda run: -run.steps,
}
"""Orders of many runs, what wants attention first."""


def sections(report: Report) -> list[Section]:
    """Every section that has something to say, the summary first and what is left over last."""
    found = [
        *run_screen(report),
        summary(report),
        reading_section.read(report),
        of_runs.section(runs(report.outcome.reading, report.cases, report.comparison.pairs)),
        *figures.accuracy(report),
        *of_runs.trace_sections(report),
        figures.findings(report),
        figures.agreement(report),
        figures.arithmetic(report),
        solved(report),
        reading_section.configurations(report),
        reading_section.assumptions(report),
        leftovers.unpredicted(report),
        leftovers.unobserved(report),
        reading_section.doubtful(report),
        reading_section.refused(report),
        reading_section.failures(report),
    ]
    return [section for section in found if section is not None]


def screen(report: Report, order: str = "error") -> list[Section]:
    """The first screen of a report; `order` is one of `ORDERS`."""
    shown = run_screen(report, order)
    found = records(report)
    said = of_runs.traced(report)
    shown += of_runs.trace_sections(report)[:FIRST]
    told = {run.source for run in found} | set(said.sources if said else ())
    others = set(report.scored["source"]) - told
    if others or not told:
        shown.append(summary(report))
    rest = reading_section.overruled(report)
    rest += _next(report, read=bool(told) and not others)
    if len(shown) == 1 and len(found) == 1:
        shown[0].parts.append(Items(rest))
    else:
        shown.append(Section("Next", [Items(rest)]))
    failed = reading_section.failures(report)
    return [*shown, failed] if failed else shown


def run_screen(report: Report, order: str = "error") -> list[Section]:
    """One run by itself, or several as a line each; empty where there is none."""
    found = records(report)
    if not found:
        return []
    return [_one(found[0]) if len(found) == 1 else _many(found, order)]


def live(report: Report) -> Section | None:
    """The last run of a log that still grows, how long the rest takes, and what was refused."""
    found = records(report)
    if not found:
        return None
    shown = _one(found[-1])
    said = [to_go(found[-1])]
    if refused := sum(each.refused for each in report.outcome.reading.accounting):
        said.append(f"{count(refused, 'line')} refused: assay report says why.")
    shown.parts.append(Items([each for each in said if each]))
    return shown


def to_go(run: Record) -> str:
    """How long the rest of the schedule takes at the pace of the median step."""
    if not (run.last_step and run.planned_steps and run.step_time):
        return f"last step {run.last_step:,}" if run.last_step is not None else ""
    left = (run.planned_steps - run.last_step) * run.step_time
    hours, minutes = divmod(round(left / 60), 60)
    span = f"{hours:,} h {minutes} min" if hours else f"{minutes} min"
    return f"{span} to go at this pace" if left > 0 else "the schedule has come to its end"


def _one(run: Record) -> Section:
    found = Section(run.name, [Items([*_speed(run), *_forecast(run)])])
    if (spent := _spent(run)) is not None:
        found.parts.append(spent)
    found.parts.append(Items([*_state(run), *map(_sentence, run.diagnosis)]))
    return found


def _speed(run: Record) -> list[str]:
    if run.step_time is None:
        printed = ", ".join(f"{name} {value:.4g}" for name, value in run.rates_printed.items())
        return [f"No step time is printed{'; median of ' + printed if printed else ''}."]
    spread = f" ± {percent(run.step_spread)}" if run.step_spread is not None else ""
    said = [
        f"step {_time(run.step_time)}{spread} (median of {run.settled:,} settled of "
        f"{run.steps:,} rows)"
    ]
    if run.tokens_per_gpu_per_s is not None:
        said.append(f"{_number(run.tokens_per_gpu_per_s)} tokens/s per GPU")
    if run.flops_rate is not None:
        said.append(f"{run.flops_rate / 1e12:.4g} TFLOP/s per GPU")
    lines = [" · ".join(said)]
    if run.mfu is not None and run.peak is not None:
        peak = f"{run.peak / 1e12:g} TFLOP/s"
        lines.append(f"MFU {percent(run.mfu)} by {run.formula_id}, of {peak}")
    return lines


def _forecast(run: Record) -> list[str]:
    if run.predicted_step_time is None:
        return []
    low, high = run.predicted_low, run.predicted_high
    said = f"predicted {_time(run.predicted_step_time)}"
    if low is not None and high is not None:
        said += f", 90 % within {low:.3g} to {high:.3g} s"
    if run.inside is not None:
        said += ": the measurement lies " + ("inside" if run.inside else "outside")
    return [f"{said} ({percent(run.error, signed='+')})"]


def _spent(run: Record) -> Table | None:
    """The largest parts of a step, predicted beside measured."""
    if not run.parts_predicted:
        return None
    largest = grouped(run.parts_measured, run.parts_predicted)[:LARGEST]
    columns = [Column("a step is spent on"), Column("predicted", ">")]
    if all(one.seconds is None for one in largest):
        return Table(columns, [[one.part, _time(one.predicted)] for one in largest])
    columns += [Column("measured", ">"), Column("by timer", "<", flexible=True)]
    rows = [
        [one.part, _time(one.predicted), _time(one.seconds), ", ".join(one.timers)]
        for one in largest
    ]
    return Table(columns, rows)


def _state(run: Record) -> list[str]:
    said = []
    if run.memory_allocated or run.memory_reserved:
        sizes = {"allocated": run.memory_allocated, "reserved": run.memory_reserved}
        held = [f"{_size(size)} {name}" for name, size in sizes.items() if size]
        of = f" of {_size(run.memory_capacity)}" if run.memory_capacity else ""
        said.append(f"memory {', '.join(held)}{of}")
    if run.loss_last is not None:
        said.append(f"loss {run.loss_first:.4g} → {run.loss_last:.4g}")
    if run.skipped:
        said.append(f"{run.skipped:,} skipped")
    if run.nan:
        said.append(f"{run.nan:,} NaN")
    if run.ended:
        said.append(run.ended)
    return [" · ".join(said)] if said else []


def _many(found: Sequence[Record], order: str) -> Section:
    ordered = sorted(found, key=ORDERS[order])
    columns = [
        Column("input", "<", flexible=True), Column("run"), Column("step", ">"),
        Column("±", ">", spare=True),
        Column("tokens/s/GPU", ">"), Column("MFU", ">"), Column("predicted", ">"), Column(""),
        Column("memory", ">", spare=True),
    ]  # fmt: skip
    rows = [
        [
            place(run.id), " ".join(run.name.split(" · ")[:2]),
            _time(run.step_time), percent(run.step_spread),
            _number(run.tokens_per_gpu_per_s), percent(run.mfu), percent(run.error, signed="+"),
            {True: "inside", False: "OUTSIDE", None: "–"}[run.inside],
            percent(run.fullness),
        ]
        for run in ordered
    ]  # fmt: skip
    return Section(f"{len(ordered):,} runs, by {order}", [Table(columns, rows)])


def _next(report: Report, *, read: bool) -> list[str]:
    """The worst finding, the fact whose lack costs most, what was read, and where the rest is."""
    said = []
    ranked = sorted(report.findings, key=lambda each: SEVERITIES.index(each.severity))
    if ranked:
        worst = ranked[0]
        more = f" ({len(ranked) - 1:,} more: assay check)" if len(ranked) > 1 else ""
        said.append(f"{worst.severity}: {worst.spans[0]}: {worst.explanation}{more}")
    if lacking := leftovers.most_wanted(report):
        said.append(lacking)
    return [*said, *(sentences(report)[:1] if read else []), MORE]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _time(seconds: float | None) -> str:
    return _rounded(seconds, "s")


def _size(size: float | None) -> str:
    return _rounded(size, "B")


def _rounded(value: float | None, unit: str) -> str:
    """A quantity as a person says it: four digits."""
    if value is None:
        return "–"
    size, name = scale(value, unit)
    return f"{value / size:.4g} {name}"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
