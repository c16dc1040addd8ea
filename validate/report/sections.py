"""The report for people: the first screen, and every section in order.

The first screen says how fast, how good, why, and what to do next, in a page's length. One run is
shown by itself, several as a line each, worst first; inputs without a run by what was scored in
them. The writers lay out what stands here; JSON is `json_document`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import polars as pl
from assay.ingest.schema.reading import cut_short
from assay.validate.laws.finding import SEVERITIES
from assay.validate.report import figures, leftovers, reading_section
from assay.validate.report import run_section as of_runs
from assay.validate.report.layout import (
    Column,
    Items,
    Section,
    Table,
    count,
    figure,
    percent,
    place,
    told_apart,
)
from assay.validate.report.reading_section import solved
from assay.validate.report.summary import sentences, summary
from assay.validate.runs.run import runs
from assay.validate.runs.run_record import PRINTED, TOTALS, Record, records
from assay.validate.runs.timers import Group, grouped
from assay.validate.score.assess import Report

MORE = "Everything else: --full, or -o FILE.html, .md, .json."
LARGEST = 5
PER_GPU = "tokens_per_gpu_per_s"
SILENT = 3
"""Runs without a speed that are named."""

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
    found = records(report)
    names = told_apart(each.source for each in report.outcome.reading.accounting)
    shown = _runs(found, names, order)
    said = of_runs.traced(report)
    shown += of_runs.trace_sections(report)[:FIRST]
    told = {run.source for run in found} | set(said.sources if said else ())
    # what is scored of a run beside the time of its steps stands in the summary
    others = set(report.scored["source"]) - told | set(_otherwise(report, found))
    if others or not told:
        shown.append(summary(report))
    rest = reading_section.overruled(report)
    rest += _next(report, found, names, read=bool(told) and not others)
    if len(shown) == 1 and len(found) == 1:
        shown[0].parts.append(Items(rest))
    else:
        shown.append(Section("Next", [Items(rest)]))
    failed = reading_section.failures(report)
    return [*shown, failed] if failed else shown


def _otherwise(report: Report, found: Sequence[Record]) -> list[str]:
    """Sources of runs that are scored, though not by the time of a step."""
    untimed = [run.source for run in found if run.predicted_step_time is None]
    return report.scored.filter(pl.col("source").is_in(untimed))["source"].unique().to_list()


def run_screen(report: Report, order: str = "error") -> list[Section]:
    """One run by itself, or several as a line each; empty where there is none."""
    names = told_apart(each.source for each in report.outcome.reading.accounting)
    return _runs(records(report), names, order)


def each_run(report: Report) -> list[Section]:
    """Every run by itself, in order; where it stands is in its title."""
    found = records(report)
    where = _places(found, told_apart(each.source for each in report.outcome.reading.accounting))
    return [replace(_one(run), title=f"{where[run.id]}: {run.name}") for run in found]


def _runs(found: Sequence[Record], names: Mapping[str, str], order: str) -> list[Section]:
    if len(found) == 1:
        return [_one(found[0])]
    return [_many(found, names, order)] if found else []


def live(report: Report) -> Section | None:
    """The last run of a log that still grows, how long the rest takes, and what was refused."""
    found = records(report)
    if not found:
        return None
    shown = _one(found[-1])
    said = [to_go(found[-1])]
    if found[-1].predicted_step_time is None:
        said.append(leftovers.unpredictable(report, found[-1:]))
    if refused := sum(each.refused for each in report.outcome.reading.accounting):
        said.append(f"{count(refused, 'line')} refused: assay report says why.")
    shown.parts.append(Items([_sentence(each) for each in said if each]))
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
    if state := [*_state(run), *map(_sentence, run.diagnosis)]:
        found.parts.append(Items(state))
    return found


def _speed(run: Record) -> list[str]:
    printed = _as_printed(run)
    if run.step_time is None:
        told = f"{count(run.steps, 'row')} of steps; no time of a step is printed"
        settled = f" (median of {count(run.settled, 'settled row')})" if run.settled > 1 else ""
        return [f"{told}{f', but {printed}{settled}' if printed else ''}"]
    spread = f" ± {percent(run.step_spread)}" if run.step_spread is not None else ""
    rows = f"median of {run.settled:,} settled of {run.steps:,} rows"
    said = [f"step {_time(run.step_time)}{spread} ({rows if run.steps > 1 else 'its only row'})"]
    rates = []
    if run.tokens_per_gpu_per_s is not None:
        rates.append(f"{_number(run.tokens_per_gpu_per_s)} tokens/s")
    if run.flops_rate is not None:
        rates.append(f"{run.flops_rate / 1e12:.4g} TFLOP/s")
    lines = [" · ".join([*said, *([f"{' and '.join(rates)} per GPU"] if rates else [])])]
    if run.mfu is not None and run.peak is not None:
        peak = f"{run.peak / 1e12:g} TFLOP/s"
        lines.append(f"MFU {percent(run.mfu)} by {run.formula_id}, of {peak}")
    if printed:
        lines.append(f"as printed: {printed}")
    return lines


SAID: Mapping[str, str] = {
    "step_time_average": "step {} on average", "samples_per_s_average": "{} on average",
    "samples_per_gpu_per_s": "{} per GPU", "tokens_per_gpu_per_s": "{} per GPU",
    "model_flops_rate": "{} per GPU",
    "flops_rate_per_gpu": "{} per GPU", "token_rate": "{} (of whom is not said)",
    "flops_rate": "{} (of whom is not said)", "mfu": "MFU {}", "hfu": "HFU {}",
    "memory": "memory {}",
}  # fmt: skip
"""Words around a figure that a trainer prints of itself."""


def _as_printed(run: Record) -> str:
    """The figures that the log prints of itself, in words."""
    said = []
    for name, value in run.rates_printed.items():
        said.append(SAID.get(name, "{}").format(figure(value, PRINTED[name])))
    return ", ".join(said)


def _forecast(run: Record) -> list[str]:
    if run.predicted_step_time is None:
        return []
    low, high = run.predicted_low, run.predicted_high
    said = f"predicted {_time(run.predicted_step_time)}"
    if low is not None and high is not None:
        said += f", 90 % within {low:.3g} to {high:.3g} s"
    if run.inside is not None:
        said += ": the measurement lies " + ("inside" if run.inside else "outside")
    return [said if run.error is None else f"{said} ({percent(run.error, signed='+')})"]


def _spent(run: Record) -> Table | None:
    """The largest parts of a step, predicted beside measured."""
    if not run.parts_predicted:
        return None
    largest = grouped(run.parts_measured, run.parts_predicted)[:LARGEST]
    columns = [Column("a step is spent on"), Column("predicted", ">")]
    if all(one.seconds is None for one in largest):
        return Table(columns, [[one.part, _time(one.predicted)] for one in largest])
    columns += [Column("measured", ">"), Column("by timer", spare=True)]
    rows = [[one.part, _time(one.predicted), _time(one.seconds), _by(one)] for one in largest]
    return Table(columns, rows)


def _by(one: Group) -> str:
    """The longest timer of a part, and how many there are beside it."""
    more = len(one.timers) - 1
    return one.timers[0] + (f" and {more} more" if more else "") if one.timers else ""


def _state(run: Record) -> list[str]:
    said = []
    if run.memory_allocated or run.memory_reserved:
        sizes = {"allocated": run.memory_allocated, "reserved": run.memory_reserved}
        held = [f"{figure(size, 'B')} {name}" for name, size in sizes.items() if size]
        of = f" of {figure(run.memory_capacity, 'B')}" if run.memory_capacity else ""
        said.append(f"memory {', '.join(held)}{of}")
    if run.loss_last is not None:
        said.append(f"loss {run.loss_first:.4g} → {run.loss_last:.4g}")
    if run.skipped:
        said.append(f"{run.skipped:,} skipped")
    if run.nan:
        said.append(f"{run.nan:,} NaN")
    if run.ended:
        said.append(run.ended)
    return [*([" · ".join(said)] if said else []), *_whole(run)]


def _whole(run: Record) -> list[str]:
    """Totals that the log prints of the whole training."""
    said = [
        ("loss {} on average" if name == "loss" else "{}").format(figure(value, TOTALS[name]))
        for name, value in run.totals.items()
    ]
    return [f"the whole training, as printed: {', '.join(said)}"] if said else []


def _many(found: Sequence[Record], names: Mapping[str, str], order: str) -> Section:
    where = _places(found, names)
    told = [run for run in found if run.step_time is not None or PER_GPU in run.rates_printed]
    columns = [
        Column("input", "<", flexible=True), Column("run", "<", flexible=True), Column("step", ">"),
        Column("±", ">", spare=True), Column("tokens/s/GPU", ">"), Column("MFU", ">"),
        Column("predicted", ">"), Column("measured"), Column("memory", ">", spare=True),
        Column("ended", "<", flexible=True, spare=True),
    ]  # fmt: skip
    rows = [
        [
            where[run.id], _brief(run), _time(run.step_time), percent(run.step_spread),
            _number(run.tokens_per_gpu_per_s or run.rates_printed.get(PER_GPU)),
            percent(run.mfu), percent(run.error, signed="+"),
            {True: "inside", False: "OUTSIDE", None: "–"}[run.inside],
            percent(run.fullness), run.ended or "–",
        ]
        for run in sorted(told, key=ORDERS[order])
    ]  # fmt: skip
    held = [at for at in range(len(columns)) if at < 1 or any(row[at] != "–" for row in rows)]
    table = Table([columns[at] for at in held], [[row[at] for at in held] for row in rows])
    shown = Section(f"{len(found):,} runs, by {order}", [table] if rows else [])
    timed = {run.id for run in told}
    if silent := [run for run in found if run.id not in timed]:
        shown.parts.append(Items([_silent(silent, where)]))
    return shown


def _silent(found: Sequence[Record], where: Mapping[str, str]) -> str:
    """Runs that tell no speed, in one sentence."""
    some = []
    for run in found[:SILENT]:
        loss = f"loss {run.loss_first:.4g} → {run.loss_last:.4g}" if run.loss_first else ""
        said = ", ".join(part for part in (_as_printed(run), loss) if part)
        some.append(where[run.id] + (f" ({said})" if said else ""))
    more = f" and {len(found) - SILENT:,} more" if len(found) > SILENT else ""
    return f"{count(len(found), 'run')} without the time of a step: {', '.join(some)}{more}."


def _places(found: Sequence[Record], names: Mapping[str, str]) -> dict[str, str]:
    """Run → its place: the path as short as it is plain, the line where a file has several."""
    runs_in = Counter(run.source for run in found)
    return {
        run.id: names.get(run.source, run.source)
        + (place(run.id.removeprefix(run.source)) if runs_in[run.source] > 1 else "")
        for run in found
    }


def _brief(run: Record) -> str:
    """Model and machine of a run, as far as they are known."""
    parts = [part for part in run.name.split(" · ")[:2] if not part.endswith("unknown")]
    return " ".join(parts).replace("machine unknown ", "") or "–"


def _next(
    report: Report, found: Sequence[Record], names: Mapping[str, str], *, read: bool
) -> list[str]:
    """Inputs cut short, the worst finding, the fact whose lack costs most, what was read, and
    where the rest is."""
    said = cut_short(report.outcome.reading)
    ranked = sorted(report.findings, key=lambda each: SEVERITIES.index(each.severity))
    if ranked:
        worst = ranked[0]
        more = f" ({len(ranked) - 1:,} more: assay check)" if len(ranked) > 1 else ""
        said.append(f"{worst.severity}: {worst.spans[0]}: {worst.explanation}{more}")
    for source, short in names.items():
        said = [text.replace(source, short) for text in said]
    wanted = leftovers.unpredictable(report, found) if found else ""
    if wanted := wanted or leftovers.most_wanted(report):
        said.append(_sentence(wanted))
    return [*said, *(sentences(report)[:1] if read else []), MORE]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def _time(seconds: float | None) -> str:
    return figure(seconds, "s")


def _number(value: float | None) -> str:
    return figure(value, "token/s").removesuffix(" tokens/s")
