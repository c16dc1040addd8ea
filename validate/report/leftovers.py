"""Numbers that did not meet: printed ones without a prediction, and predictions nobody printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from assay.model.transformer.parallel import faults
from assay.model.transformer.training_run import run
from assay.validate.arithmetic.rated_rows import COUNTS, RATE
from assay.validate.cases.standing import rows as standing_rows
from assay.validate.cases.standing import weighed
from assay.validate.cases.step_cases import completed
from assay.validate.predict import memory_forecast
from assay.validate.predict.estimates import want_machine
from assay.validate.predict.models import SAID, SPEED, STEP_NEEDS, Registered
from assay.validate.predict.required import hints
from assay.validate.report.layout import Column, Section, Table, count, place
from assay.validate.runs.run_record import Record
from assay.validate.score.assess import Report

SHOWN = 30

HINT = (
    "What a document leaves out can be stated: the machine with --machine NAME, everything else in "
    "a file NAME.toml beside NAME.md, as a table [configuration]."
)


def unpredicted(report: Report) -> Section | None:
    """Printed numbers without a prediction, by reason, each with an example."""
    rest = report.comparison.unpredicted
    if rest.is_empty():
        return None
    counts = (
        weighed(rest.with_columns(reason=_reasons(report, rest)), report.outcome.reading)
        .group_by("scope", "quantity", "reason")
        .agg(standing_rows().alias("len"), pl.col("source").first(), pl.col("line").first())
        .sort("scope", "quantity", "reason")
    )
    rows = [
        [scope, quantity, f"{n:,}", reason, f"{source}:{line}"]
        for scope, quantity, reason, n, source, line in counts.head(SHOWN).iter_rows()
    ]
    columns = [Column("scope"), Column("quantity"), Column("n", ">"), Column("why"),
               Column("first at", "<", flexible=True)]  # fmt: skip
    section = Section("Printed, not predicted", [Table(columns, rows)], detail=True)
    for text, why in sorted(report.cases.unresolved.items()):
        section.parts.append(
            f"Unknown device, number format or recomputation {text}: {why} (--machine)."
        )
    needs = counts["reason"].str.extract("^needs (.*)$").drop_nulls().str.split(", ").explode()
    if len(needs):
        section.parts.extend(f"Not found: {each}." for each in hints(needs))
        section.parts.append(HINT)
    return section


def most_wanted(report: Report) -> str:
    """The fact whose lack keeps most printed numbers from being predicted, and how to state it."""
    rest = report.comparison.unpredicted
    if rest.is_empty():
        return "" if report.scored.height else NOTHING
    why = weighed(rest, report.outcome.reading).select("stands", reason=_reasons(report, rest))
    counts = why.group_by("reason").agg(count=standing_rows())
    counts = counts.sort("count", "reason", descending=[True, False])
    needs = counts.select(pl.col("reason").str.extract("^needs (.*)$"), "count").drop_nulls()
    if needs.is_empty() and report.scored.height:
        return ""
    if needs.is_empty():
        reason, number = counts.row(0)
        return f"{count(number, 'printed number')} without a prediction: {reason}."
    reason, number = needs.row(0)
    lacking = f"{count(number, 'printed number')} without a prediction"
    return f"{lacking}; {stating(reason.split(', '), report)}"


NOTHING = "No number that a model predicts is printed: no time, no rate, no memory of a rank."


def missing(report: Report, found: Sequence[Record]) -> list[tuple[str, ...]]:
    """Columns that the step model needs and nobody says, for each of some runs."""
    frames = [held.name for held in report.outcome.reading.with_rows("step")]
    rows = report.cases.configuration.filter(pl.col("frame").is_in(frames)).sort("line")
    ends = [(at, run.source, run.first_line, run.last_line) for at, run in enumerate(found)]
    runs = pl.DataFrame(ends, _ENDS, orient="row").sort("line")
    # of each run its last row
    last = runs.join_asof(
        rows.with_columns(stands="line"), on="line", by="source", check_sortedness=False
    ).filter(pl.col("stands") >= pl.col("first"))
    of_run = last["at"].to_list()
    known = dict(zip(of_run, completed(last).select(STEP_NEEDS).rows(), strict=True))
    return [_unsaid(run, known.get(at)) for at, run in enumerate(found)]


_ENDS = {"at": pl.Int64, "source": pl.String, "first": pl.UInt32, "line": pl.UInt32}


def _unsaid(run: Record, row: Sequence[object] | None) -> tuple[str, ...]:
    if row is None:
        return STEP_NEEDS
    known = {**run.configuration, "machine": run.machine}  # the last row may be cut off
    pairs = zip(STEP_NEEDS, row, strict=True)
    return tuple(name for name, value in pairs if value is None and known.get(name) is None)


def unpredictable(report: Report, found: Sequence[Record]) -> str:
    """Why runs have no prediction, and the one fact that would help most of them."""
    timed = [run for run in found if run.step_time or set(SPEED) & set(run.rates_printed)]
    without = [run for run in timed if run.predicted_step_time is None]
    lacks = [names for names in missing(report, without) if names]
    if not lacks:
        return "" if timed else untimed(found)
    lacking = [name for name in _FIRST if any(name in names for names in lacks)]
    whom = "" if len(found) == len(lacks) else f"{len(lacks):,} of {count(len(found), 'run')}: "
    return f"{whom}{stating(lacking, report)}"


AVERAGES = (
    "only averages are printed, and over which steps is not said: the first, slow ones may count"
)

WHOSE = "it is not said whether they are of the whole job or of one GPU"

UNTIMED: Mapping[str, str] = {
    "step_time_average": AVERAGES,
    "samples_per_s_average": AVERAGES,
    "token_rate": f"no time of a step is printed, and of tokens/s {WHOSE}",
    "flops_rate": f"no time of a step is printed, and of flop/s {WHOSE}",
    "step_rate": "no time of a step is printed, and of its steps/s it is not said over how many "
    "steps they are taken",
}
"""Figure that runs print of themselves → why nothing can be compared with a prediction."""


def untimed(found: Sequence[Record]) -> str:
    """Why runs are compared with nothing that print no time and no rate that is predicted."""
    printed = {name for run in found for name in run.rates_printed}
    why = next((words for name, words in UNTIMED.items() if name in printed),
               "neither a time nor a rate of a step is printed")  # fmt: skip
    return f"Nothing can be compared with a prediction: {why}."


SHAPE = ("hidden", "layers", "heads", "vocab")

_FIRST = ("machine", *SHAPE, "gpus", "seq_len", "global_batch", "micro_batch", "dtype")
"""Columns in the order in which their lack is felt."""


def stating(lacking: Sequence[str], report: Report) -> str:
    """How to state the first of some columns, and which are left then."""
    names = [name for name in _FIRST if name in lacking]
    names += [name for name in lacking if name not in names]
    first, rest = names[0], names[1:]
    if first == "machine" and report.cases.unresolved:
        said = f"{min(report.cases.unresolved.items())[1]}: --machine NAME"
    elif first == "machine":
        said = "state the machine for a prediction: --machine NAME"
    elif len(shape := [name for name in names if name in SHAPE]) > 1:
        rest = [name for name in names if name not in SHAPE]
        said = f"state the model, or its {_and(shape)}, for a prediction: --set model=NAME"
    else:
        said = f"state {first} for a prediction: --set {first}=…"
    more = f" (then {_and(rest)}: assay state FILE writes what is missing)" if rest else ""
    return f"{said}{more}."


def _and(words: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _reasons(report: Report, rest: pl.DataFrame) -> pl.Series:
    """Why each number has no prediction: no model at all, or what its case lacks."""
    models = [(model.scope, q) for model in report.models for q in model.quantities]
    known = pl.DataFrame(models, schema=["scope", "quantity"], orient="row").unique()
    ranks = memory_forecast.lacking(report.cases)
    of_ranks = pl.DataFrame({"case": [*ranks], "of_rank": [*ranks.values()]}, _OF_RANK)
    parts = report.cases.configuration.select("case", "trained_part")
    numbers = rest.select("case", "scope", "subject", "quantity")
    machineless = want_machine(report.cases).with_columns(machineless=True)
    spoken = report.observations.filter(pl.col("quantity").is_in(SPEED)).select("case").unique()
    timed = spoken.with_columns(timed=True)
    more_of = (known.with_columns(known=True), _said_otherwise(report), of_ranks, parts, timed)
    for more in (*more_of, machineless, _impossible(report, rest)):
        on = [name for name in ("case", "scope", "subject", "quantity") if name in more.columns]
        numbers = numbers.join(more, on=on, how="left", maintain_order="left")
    quantity, timed_row = pl.col("quantity"), pl.col("timed").fill_null(value=False)
    rated = quantity.is_in(list(COUNTS)) & (pl.col("scope") == "configuration")
    lacking = _lacking(report, numbers)
    speaks = quantity.is_in(SPEED) | (quantity.is_in(SAID) & ~timed_row)
    why = (
        pl.when(speaks & pl.col("said"))
        .then(pl.lit("says what another number of the row says, which is scored"))
        .when(speaks & pl.col("impossible").is_not_null())
        .then(pl.format("no such run: {}", "impossible"))
        .when(pl.col("machineless"))
        .then(pl.lit("needs machine"))
        .when(rated & (timed_row | ~quantity.is_in(SAID)))
        .then(_uncounted(report, numbers))
        .when(rated & lacking.is_null() & pl.col("trained_part").is_null())
        .then(pl.lit("no known formula gives it"))
        .when(pl.col("known").is_null())
        .then(pl.lit("no model predicts it"))
        .when(pl.col("trained_part").is_not_null())
        .then(pl.format("the models train all weights, the run {}", "trained_part"))
        .when(quantity.is_in(memory_forecast.QUANTITIES) & pl.col("of_rank").is_not_null())
        .then("of_rank")
        .otherwise(lacking)
    )
    return numbers.select(reason=why.fill_null("the models have no answer for this case"))["reason"]


_OF_RANK = {"case": pl.String, "of_rank": pl.String}


def _impossible(report: Report, rest: pl.DataFrame) -> pl.DataFrame:
    """Cases whose configuration is complete and cannot be run, with the first reason why."""
    table = report.cases.configuration
    needed = [name for name in STEP_NEEDS if name in table.columns]
    asked = rest.filter(pl.col("quantity").is_in(SAID)).select("case").unique()
    whole = table.drop_nulls(needed).join(asked, on="case", how="semi", maintain_order="left")
    rows = completed(whole)
    alike = [name for name in rows.columns if name not in ("case", "line")]  # steps of a run are
    firsts = rows.unique(alike, keep="first", maintain_order=True)
    wrong = [_fault(row) is not None for row in firsts.iter_rows(named=True)]
    some = firsts.filter(pl.Series(wrong, dtype=pl.Boolean))
    same = rows.join(some, on=alike, how="semi", nulls_equal=True, maintain_order="left")
    found = [(row["case"], _fault(row)) for row in same.iter_rows(named=True)]  # some name the case
    return pl.DataFrame(found, {"case": pl.String, "impossible": pl.String}, orient="row")


def _fault(row: Mapping[str, Any]) -> str | None:
    """The first reason why the run of a row cannot be; None where it can, or is none."""
    built = run(row)
    said = faults(built, gpus_given=row["gpus"]) if built is not None else ()
    return said[0] if said else None


def _said_otherwise(report: Report) -> pl.DataFrame:
    """Cases whose speed is paired with a prediction under one of its names."""
    models = [model.name for model in report.models]
    paired = report.comparison.pairs.filter(
        pl.col("quantity").is_in(SAID) & pl.col("model").is_in(models)
    )
    return paired.select("case").unique().with_columns(said=True)


def _lacking(report: Report, numbers: pl.DataFrame) -> pl.Series:
    """Fields that the least demanding model of each number's quantity still needs, null where none.

    Cases that lack the same are looked at once: a long log is one of them, however many its lines.
    """
    found = pl.Series([None], dtype=pl.String).new_from_index(0, numbers.height)
    for scope, frame in (
        ("configuration", report.cases.configuration),
        ("gemm", report.cases.gemm),
    ):
        models = [model for model in report.models if model.scope == scope]
        names = sorted({name for model in models for name in model.needs} & set(frame.columns))
        if not names or frame.is_empty():
            continue
        lacks = frame.select("case", lacks=pl.concat_str(pl.col(names).is_null().cast(pl.Int8)))
        reasons = [
            (held, quantity, reason)
            for held in lacks["lacks"].unique()
            for quantity, reason in _least(models, names, held).items()
        ]
        table = pl.DataFrame(reasons, schema=["lacks", "quantity", "reason"], orient="row")
        if reasons:
            joined = numbers.join(lacks, on="case", how="left", maintain_order="left").join(
                table, on=["lacks", "quantity"], how="left", maintain_order="left"
            )
            found = found.zip_with(found.is_not_null(), joined["reason"])
    return found


COUNTED = ("hidden", "layers", "seq_len", "gpus")
"""Columns without which no formula gives a rate."""


def _uncounted(report: Report, numbers: pl.DataFrame) -> pl.Series:
    """Why no formula gives a rate or utilisation: what its row lacks, or that none fits."""
    table = report.cases.configuration
    speeds = report.observations.filter(pl.col("quantity").is_in(SPEED)).select("case").unique()
    lacking = pl.concat_list(
        *(pl.when(pl.col(name).is_null()).then(pl.lit(name)) for name in COUNTED),
        pl.when(~pl.col("case").is_in(speeds["case"].implode())).then(pl.lit("time")),
    ).list.drop_nulls()
    lacks = table.select("case", "machine", lacks=lacking.list.join(", "))
    joined = numbers.join(lacks, on="case", how="left", maintain_order="left")
    said = pl.col("lacks").fill_null("")
    share = pl.col("quantity") != RATE
    reason = (
        pl.when(share & joined["machine"].is_null())
        .then(pl.lit("needs machine"))
        .when(said == "").then(pl.lit("no known formula gives it"))
        .otherwise(pl.format("a formula needs {}", said))
    )  # fmt: skip
    return joined.select(reason=reason)["reason"]


def _least(models: Iterable[Registered], names: Sequence[str], lacks: str) -> dict[str, str]:
    """Quantity → what its least demanding model needs of what `lacks` marks among `names`."""
    missing = {name for name, mark in zip(names, lacks, strict=True) if mark == "1"}
    found: dict[str, tuple[int, str]] = {}
    for model in models:
        needs = [name for name in model.needs if name in missing]
        for quantity in model.quantities if needs else ():
            worst = (len(needs), f"needs {', '.join(needs)}")
            found[quantity] = min(found.get(quantity, worst), worst)
    return {quantity: reason for quantity, (_, reason) in found.items()}


def unobserved(report: Report) -> Section | None:
    """Predictions of numbers that are not printed, counted by model."""
    rest = report.comparison.unobserved
    if rest.is_empty():
        return None
    counts = (
        weighed(rest, report.outcome.reading)
        .group_by("scope", "quantity", "model")
        .agg(standing_rows().alias("len"), pl.col("case").first())
        .sort("scope", "quantity", "model")
    )
    rows = [
        [scope, quantity, model, f"{n:,}", place(case)]
        for scope, quantity, model, n, case in counts.head(SHOWN).iter_rows()
    ]
    columns = [Column("scope"), Column("quantity"), Column("model"), Column("n", ">"),
               Column("first case", "<", flexible=True)]  # fmt: skip
    return Section("Predicted, not printed", [Table(columns, rows)], detail=True)
