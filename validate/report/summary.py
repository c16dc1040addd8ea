"""Summary for a reader's first look: what was read, how good the models are, contradictions."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import polars as pl
from assay.ingest.schema.record import Code
from assay.validate.arithmetic.identity_check import equal
from assay.validate.cases.standing import rows as standing_rows
from assay.validate.cases.standing import weighed
from assay.validate.laws.finding import SEVERITIES
from assay.validate.report.layout import Column, Items, Section, Table, count, percent
from assay.validate.score.accuracy import TRUE, mean_size
from assay.validate.score.assess import Report


class Score(NamedTuple):
    """One model on one quantity, and the best baseline on exactly the same rows."""

    scope: str
    quantity: str
    origin: str
    model: str
    n: int
    bias: float
    mape: float
    low: float | None
    high: float | None
    baseline: str | None
    baseline_mape: float | None


def summary(report: Report) -> Section:
    """Sentences on the inputs and their contradictions, and models beside their best baselines."""
    section = Section("Summary", [Items(sentences(report))])
    found = scores(report)
    if found:
        section.parts.append(_table(found))
    return section


def sentences(report: Report) -> list[str]:
    """Sentences on what was read, predicted and found; what is zero is not spoken of."""
    return [
        _read(report),
        _joined(report),
        *_assumed_formulas(report),
        *estimates(report),
        *_identities(report),
        _findings(report),
    ]


def totals(report: Report) -> dict[str, int]:
    """Sums over the inputs: lines and what became of them."""
    names = ("lines", "claimed", "refused", "blank", "not_ours")
    accounts = report.outcome.reading.accounting
    sums = {name: sum(getattr(each, name) for each in accounts) for name in names}
    return sums | {"suspicious": sum(len(each.suspicious) for each in accounts)}


def counted(report: Report) -> str:
    """How many lines the inputs have, or events where they are traces."""
    accounts = report.outcome.reading.accounting
    sums = {of: sum(a.lines for a in accounts if a.of == of) for of in ("line", "event")}
    said = [count(n, of) for of, n in sums.items() if n or (of == "line" and not sums["event"])]
    return " and ".join(said)


def severities(report: Report) -> Counter[str]:
    """How many findings of each severity."""
    return Counter(each.severity for each in report.findings)


def _read(report: Report) -> str:
    sums = totals(report)
    gone = len(report.outcome.unreadable)
    said = (
        f"{count(len(report.outcome.reading.accounting), 'input')} with "
        f"{counted(report)}: {sums['claimed']:,} read, {sums['refused']:,} refused, "
        f"{sums['blank']:,} blank, {sums['not_ours']:,} of no known format"
    )
    said += (
        f" ({sums['suspicious']:,} of them look like measurements)" if sums["suspicious"] else ""
    )
    said += f"; {count(gone, 'input')} could not be opened." if gone else "."
    return said + _cells(report) + _tables(report)


def _cells(report: Report) -> str:
    """How many cells were bad on lines that stand without them; empty where none was."""
    bad = (Code.UNDECODABLE, Code.OUT_OF_RANGE)
    cells = sum(remark.code in bad for remark in report.outcome.reading.remarks)
    return f" {count(cells, 'bad cell')} left out of lines that were read." if cells else ""


def _tables(report: Report) -> str:
    """How many tables with digits gave no row, and columns nothing; empty where all did."""
    notes = [n for a in report.outcome.reading.accounting for n in a.tables if n.rows]
    silent = sum(not note.read for note in notes)
    columns = sum(len(note.not_understood) for note in notes if note.read)
    if not silent and not columns:
        return ""
    of_others = f"{count(columns, 'column')} of the others" if columns else ""
    parts = [f"{count(silent, 'table')} with numbers"] if silent else []
    return f" Not understood: {', '.join([*parts, *([of_others] if of_others else [])])}."


def _joined(report: Report) -> str:
    true = report.scored.filter(pl.col("origin").is_in(TRUE))
    reading = report.outcome.reading
    scored = weighed(true.select("case", "quantity").unique(), reading)
    cases = scored.select(standing_rows()).item()
    left = weighed(report.comparison.unpredicted, reading).select(standing_rows()).item()
    if not cases:
        said = "No measured or published number met a prediction"
    else:
        said = f"{count(cases, 'measured or published number')} scored against a prediction"
    return said + (f"; {count(left, 'printed number')} without one." if left else ".")


def _assumed_formulas(report: Report) -> list[str]:
    """By which formula rates without a time were predicted, and how far others lie from it."""
    rated = report.asked(report.stack).with_adapters().rated
    key = ["case", "quantity"]
    table = rated.filter("assumed").join(report.scored.select(key).unique(), on=key, how="semi")
    found = []
    for (formula_id,), part in table.group_by("formula_id", maintain_order=True):
        ends = part.select(
            low=(pl.col("least") / pl.col("flop")).min() - 1.0,
            high=(pl.col("most") / pl.col("flop")).max() - 1.0,
        ).row(0)
        peaks = part["peak"].drop_nulls().unique(maintain_order=True).to_list()
        over = f" over {' or '.join(peaks[:PEAKS])}" if peaks else ""
        number = weighed(part, report.outcome.reading).select(standing_rows()).item()
        found.append(
            f"{count(number, 'rate')} without a time predicted under {formula_id}{over}, which is "
            f"assumed: other counts lie {percent(ends[0], signed='+')} to "
            f"{percent(ends[1], signed='+')} from it."
        )
    return found


PEAKS = 3
"""Peaks that a sentence names."""


def estimates(report: Report) -> list[str]:
    """How many numbers of estimators our own versions of them print; none where none was read."""
    found = report.scores.agreement
    if found.is_empty():
        return []
    registered = {model.name for model in report.models if model.baseline}
    own = found.filter(~pl.col("model").is_in(sorted(registered)))
    if own.is_empty():
        return []
    parts = list(own.select("n", "explained_by_rounding").iter_rows())
    same, every = round(sum(n * share for n, share in parts)), sum(n for n, _ in parts)
    return [
        f"{same:,} of {count(every, 'number')} that estimators printed are reproduced at the "
        "printed precision."
    ]


def _identities(report: Report) -> list[str]:
    checks = report.checks
    if checks.is_empty():
        return []
    known = weighed(checks, report.outcome.reading)
    same = known.filter(equal() & ~pl.col("exchanged")).select(standing_rows()).item()
    every = known.select(standing_rows()).item()
    return [
        f"{same:,} of {count(every, 'printed number')} that follow from others of their "
        "row are equal to what follows."
    ]


def _findings(report: Report) -> str:
    counts = severities(report)
    said = [count(counts[severity], severity) for severity in SEVERITIES if counts[severity]]
    if not said:
        return "Nothing that is printed contradicts itself."
    return f"Contradictions in what is printed: {', '.join(said)}."


def scores(report: Report) -> list[Score]:
    """Models that are no baselines, by scope and quantity, best first; baselines where alone."""
    baselines = {model.name for model in report.models if model.baseline}
    rows = report.scores.accuracy
    own = rows.filter(~pl.col("model").is_in(sorted(baselines)))
    alone = rows.join(own, on=["scope", "quantity"], how="anti", maintain_order="left")
    found = []
    for row in pl.concat([own, alone]).iter_rows(named=True):
        best = None if row["model"] in baselines else _best_baseline(report, row, baselines)
        found.append(
            Score(
                row["scope"], row["quantity"], row["origin"], row["model"], row["n"],
                row["bias"], row["mape"], row["ci_low"], row["ci_high"], *(best or (None, None)),
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (*one[:3], -one.n, one.mape, one.model))


def _best_baseline(
    report: Report, row: dict[str, object], baselines: set[str]
) -> tuple[str, float] | None:
    """The baseline with the least mean error on the rows of one score, if it has all of them."""
    pairs = report.scored.filter(
        pl.col("scope") == row["scope"],
        pl.col("quantity") == row["quantity"],
        pl.col("origin") == row["origin"],
    )
    key = ["case", "subject"]
    mine = pairs.filter(pl.col("model") == row["model"])
    others = pairs.filter(pl.col("model").is_in(sorted(baselines))).join(
        mine.select(key), on=key, how="semi", nulls_equal=True
    )
    sizes = {
        str(model): report.whole(part).select(mean_size()).item()
        for (model,), part in others.group_by("model")
        if part.height == mine.height
    }
    return min(((model, float(str(size))) for model, size in sizes.items()),
               key=lambda one: one[::-1], default=None)  # fmt: skip


def _table(found: list[Score]) -> Table:
    columns = [
        Column("of", spare=True), Column("quantity"), Column("numbers", spare=True),
        Column("model"),
        Column("rows", ">"), Column("bias", ">"),
        Column("MAPE", ">"), Column("95 % interval", ">", spare=True),
        Column("best baseline"), Column("its MAPE", ">"),
    ]  # fmt: skip
    rows = [
        [
            one.scope, one.quantity, one.origin, one.model, f"{one.n:,}",
            percent(one.bias, signed="+"), percent(one.mape), between(one.low, one.high),
            one.baseline or "–", percent(one.baseline_mape),
        ]
        for one in found
    ]  # fmt: skip
    return Table(columns, rows, "Models, each beside the best baseline on the same rows")


def between(low: float | None, high: float | None) -> str:
    """An interval of errors.

    >>> between(0.036, 0.126), between(None, None)
    ('3.6 – 12.6 %', '–')
    """
    return "–" if low is None else f"{percent(low)[:-2]} – {percent(high)}"
