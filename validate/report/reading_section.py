"""Sections on what was read: lines and their fate, refusals, configurations, solved dumps."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
from assay.ingest.binding.statement_frame import open_statements
from assay.ingest.schema.reading import Reading, table_left
from assay.ingest.schema.record import Diagnostic
from assay.ingest.source.opening import Source, open_source
from assay.model.reproductions.deepflow_unconfigured import BASIS, solutions
from assay.validate.cases.standing import rows as standing_rows
from assay.validate.cases.standing import weighed
from assay.validate.report.layout import Column, Items, Section, Table, count, percent, place, spans
from assay.validate.score.accuracy import TRUE
from assay.validate.score.assess import Report

SHOWN = 12

INPUTS = 40

SAMPLED = 3

WIDE = 100
"""Characters of a sampled line."""


def read(report: Report) -> Section:
    """Every input with its lines: claimed, refused, blank, not ours; and their sums."""
    columns = [Column("input", "<", flexible=True)] + [
        Column(name, ">")
        for name in (_counted(report), "read", "refused", "blank", "no format", "suspicious")
    ]
    accounts = report.outcome.reading.accounting
    numbers = [
        (a.lines, a.claimed, a.refused, a.blank, a.not_ours, len(a.suspicious)) for a in accounts
    ]
    rows = [
        [account.source, *(f"{n:,}" for n in counts)]
        for account, counts in zip(accounts[:INPUTS], numbers, strict=False)
    ]
    if len(accounts) > INPUTS:
        rows.append([f"… {count(len(accounts) - INPUTS, 'more input')}", *[""] * 6])
    if len(accounts) > 1:
        sums = [sum(counts) for counts in zip(*numbers, strict=True)]
        rows.append([count(len(accounts), "input"), *(f"{n:,}" for n in sums)])
    section = Section("What was read", [Table(columns, rows)], detail=True)
    reading = report.outcome.reading
    rows_of = [f"{n:,} of {name}" for name, n in _heights(reading).items() if n]
    section.parts.append("Rows: " + (", ".join(rows_of) if rows_of else "none") + ".")
    section.parts.extend(_states(report))
    return section


def _heights(reading: Reading) -> dict[str, int]:
    """The rows of each frame, those of long inputs with it that are not held in memory."""
    found = {name: frame.height for name, frame in reading.frames.items()}
    for each in reading.long:
        found[each.frame] += each.height - each.kept.height
    return found


def _counted(report: Report) -> str:
    """Units that the inputs are counted in."""
    kinds = {f"{account.of}s" for account in report.outcome.reading.accounting}
    return ", ".join(sorted(kinds, reverse=True)) or "lines"


def doubtful(report: Report) -> Section | None:
    """Lines not ours that look like measurements, and remarks on what was repaired or cut."""
    said: list[str] = []
    for account in report.outcome.reading.accounting:
        if account.suspicious and len(said) < INPUTS:
            some = list(account.suspicious[: 4 * SAMPLED])
            more = len(account.suspicious) - len(some)
            said.append(
                f"{account.source}: {count(len(account.suspicious), 'line')} of no known format "
                f"with a number beside a performance unit: {spans(some)}"
                + (f" and {more:,} more" if more else "")
            )
            said.extend(_sample(account.source, account.suspicious, report.hide))
    said.extend(_tables(report))
    said.extend(_not_understood(report))
    said.extend(_remarks(report))
    return Section("Worth a second look", [Items(said)], detail=True) if said else None


def _tables(report: Report) -> list[str]:
    """Tables with digits that gave no row, and columns of others that gave nothing."""
    notes = [(a.source, note) for a in report.outcome.reading.accounting for note in a.tables]
    said = [table_left(source, note) for source, note in notes]
    held = [text for text in said if text]
    more = [f"… and {len(held) - SHOWN:,} more tables."] if len(held) > SHOWN else []
    return held[:SHOWN] + more


def _not_understood(report: Report) -> list[str]:
    """Statements that no value could be made of: their fields are unknown to the rows below."""
    rows = open_statements(report.outcome.reading).select("source", "line", "field", "text").rows()
    said = [
        f"{source}:{line}: states {field}, and {text!r} is not understood: unknown to its rows "
        f"(state it: --set {field}=…)"
        for source, line, field, text in rows[:SHOWN]
    ]
    if len(rows) > SHOWN:
        said.append(f"… and {len(rows) - SHOWN:,} more statements that are not understood.")
    return said


def _remarks(report: Report) -> list[str]:
    """Remarks that say the same of one input share a line."""
    alike: dict[tuple[str, str], list[Diagnostic]] = {}
    for remark in report.outcome.reading.remarks:
        alike.setdefault((remark.span.source, remark.message), []).append(remark)
    said = []
    for (_, message), remarks in list(alike.items())[:SHOWN]:
        more = [remark.span.line for remark in remarks[1:]]
        rest = f"; so are lines {spans(more[:SHOWN])}" if more else ""
        rest += f" and {len(more) - SHOWN:,} more" if len(more) > SHOWN else ""
        said.append(f"{remarks[0].span}: {remarks[0].code}: {message}{rest}")
    if len(alike) > SHOWN:
        said.append(f"… and {len(alike) - SHOWN:,} more remarks.")
    return said


def _states(report: Report) -> list[str]:
    """Cells of measured columns that hold no value: outcomes, unknowns, nothing."""
    said = report.outcome.reading.provenance.filter(pl.col("state") != "value")
    counts = said.group_by("state").len().sort("state")
    if counts.is_empty():
        return []
    words = {"outcome": "an outcome (OOM, fail)", "unknown": "a known unknown", "missing": "empty"}
    each = [f"{n:,} {words.get(state, state)}" for state, n in counts.iter_rows()]
    return ["Cells without a number: " + ", ".join(each) + "."]


def _sample(name: str, lines: tuple[int, ...], hide: Callable[[str], str]) -> list[str]:
    """The shapes of such lines, the commonest first, each with the first line that has it.

    So a format that we fail to recognise cannot hide. Lines that differ in numbers only are alike.
    """
    source = open_source(name) if Path(name).is_file() else None
    if not isinstance(source, Source):
        return []
    held = source.lines.filter(pl.col("line").is_in(lines)).select("line", "text")
    alike: dict[str, list[tuple[int, str]]] = {}
    for line, text in held.iter_rows():
        alike.setdefault(_NUMBERS.sub("0", " ".join(text.split())), []).append((line, text.strip()))
    shapes = sorted(alike.values(), key=lambda those: (-len(those), those[0][0]))[:SAMPLED]
    said = []
    for those in shapes:
        line, text = those[0][0], hide(those[0][1])  # whole: of a cut secret nobody knows it
        more = f" ({len(those):,} lines like it)" if len(those) > 1 else ""
        said.append(f"  {name}:{line}: {text[:WIDE]}{more}")
    if len(shapes[0]) >= FORMAT_WORTH:
        line = shapes[0][0][0]
        said.append(f"  `sed -n {line}p {name} | assay formats new -` makes a format of such lines")
    return said


_NUMBERS = re.compile(r"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?")

FORMAT_WORTH = 3
"""Lines of one shape for which a format is worth its writing."""


def failures(report: Report) -> Section | None:
    """Inputs that gave nothing: unreadable, or without a line that some format knows."""
    said = [str(fault) for fault in report.outcome.unreadable]
    empty = report.outcome.empty
    said += [
        f"{name}: empty" if name in empty else f"{name}: {_nobodys(name)}"
        for name in report.outcome.unrecognised
    ]
    return Section("Inputs that gave nothing", [Items(said)]) if said else None


def _nobodys(name: str) -> str:
    """Why an input gave nothing, and what can be done."""
    source = open_source(name) if Path(name).is_file() else None
    if isinstance(source, Source) and binary(next(source.chunks(), b"")[:PEEK]):
        return "it is binary, not text, and no binary format that is known"
    return f"no format knows a line of it; `assay formats new {name}` makes one of its lines"


PEEK = 4096
"""Bytes that tell whether an input is text."""

ODD = 0.05
"""Share of bytes that control nothing a terminal knows from which on it is binary."""


def binary(head: bytes) -> bool:
    """Whether what begins so is no text of lines, in whatever encoding.

    >>> binary("loss 2.5 µs".encode("utf-8")), binary(bytes(range(256)))
    (False, True)
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    return sum(byte < 32 and byte not in _PLAIN for byte in head) > ODD * len(head)


_PLAIN = b"\t\n\r\f\v\b\x1b"


def refused(report: Report) -> Section | None:
    """Every refusal, by code, and the first of them."""
    faults = report.outcome.reading.refused
    if not faults:
        return None
    codes = Counter(str(fault.code) for fault in faults)
    section = Section("Refused lines")
    section.parts.append(", ".join(f"{n:,} {code}" for code, n in sorted(codes.items())) + ".")
    said = [str(fault) for fault in faults[:SHOWN]]
    if len(faults) > SHOWN:
        said.append(f"… and {len(faults) - SHOWN:,} more.")
    section.parts.append(Items(said))
    return section


def configurations(report: Report) -> Section | None:
    """Where the values of the configurations came from, and the laws behind them."""
    wide = report.cases.configuration
    if wide.is_empty():
        return None
    kinds = ("printed", "stated", "solved", "assumed", "corrected")
    reading = report.outcome.reading
    origins = weighed(report.cases.origins, reading)
    counts = origins.group_by("name").agg(
        *(standing_rows(pl.col("value_origin") == kind).alias(kind) for kind in kinds)
    )
    every = weighed(wide.select("case"), reading).select(standing_rows()).item()
    rows = [
        [name, *(f"{n:,}" if n else "" for n in values), f"{every - sum(values):,}"]
        for name, *values in counts.sort("name").iter_rows()
    ]
    columns = [Column("value"), *(Column(kind, ">") for kind in (*kinds, "unknown"))]
    section = Section(
        f"Configurations of {count(every, 'run')}", [Table(columns, rows)], detail=True
    )
    laws = (
        origins.drop_nulls("law")
        .filter(pl.col("value_origin") != "stated")
        .group_by("value_origin", "law")
        .agg(pl.col("name").unique().sort(), standing_rows().alias("len"))
        .sort("value_origin", "law")
    )
    said = [f"{origin}: {', '.join(names)} ({n:,}) by: {law}" for origin, law, names, n in
            laws.iter_rows()]  # fmt: skip
    said += overruled(report)
    return Section(section.title, [*section.parts, *([Items(said)] if said else [])], detail=True)


def overruled(report: Report) -> list[str]:
    """Values that the user stated against what is printed, a sentence each."""
    return [
        f"stated: {each.name} = {each.stated} overrules {each.printed}, printed of "
        f"{count(each.rows, 'run')}, first at {each.first}"
        for each in report.cases.overruled
    ]


def assumptions(report: Report) -> Section | None:
    """How much assumed values matter: the error of the rows that rest on each of them.

    For the best model of each quantity; values that the same rows rest on share a line.
    """
    assumed = report.cases.origins.filter(pl.col("value_origin") == "assumed")
    pairs = report.scored.filter(pl.col("origin").is_in(TRUE))
    if assumed.is_empty() or pairs.is_empty():
        return None
    rows, everywhere = [], []
    for key, mine in pairs.group_by("scope", "quantity", maintain_order=True):
        model, errors = _best(mine)
        resting = _resting(assumed, errors)
        for cases, names in resting.items():
            on = errors.filter(pl.col("case").is_in(list(cases)))["error"].abs()
            off = errors.filter(~pl.col("case").is_in(list(cases)))["error"].abs()
            if off.is_empty():
                everywhere.append(f"{key[0]} {key[1]} on {', '.join(names)}")
                continue
            rows.append(
                [f"{key[0]} {key[1]}", model, ", ".join(names), f"{len(on):,}",
                 percent(_mean(on)), f"{len(off):,}", percent(_mean(off))]
            )  # fmt: skip
    section = Section("Assumed values, and how much they matter", detail=True)
    if everywhere:
        section.parts.append("Every scored row rests on an assumption: " + "; ".join(everywhere))
    if rows:
        columns = [Column("quantity"), Column("best model"), Column("assumed", "<", flexible=True),
                   Column("rows", ">"), Column("MAPE", ">"), Column("others", ">"),
                   Column("their MAPE", ">")]  # fmt: skip
        section.parts.append(Table(columns, rows))
    return section if section.parts else None


def _best(pairs: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """The model with the least mean error among these pairs, and its pairs."""
    errors = pairs.group_by("model").agg(pl.col("error").abs().mean()).sort("error", "model")
    model = str(errors["model"][0])
    return model, pairs.filter(pl.col("model") == model)


def _resting(assumed: pl.DataFrame, errors: pl.DataFrame) -> dict[tuple[str, ...], list[str]]:
    """Sets of scored cases, each with the names of the values that exactly they assume."""
    held = assumed.join(errors.select("case").unique(), on="case", how="semi")
    found: dict[tuple[str, ...], list[str]] = {}
    for name, cases in held.group_by("name").agg(pl.col("case").sort()).sort("name").iter_rows():
        found.setdefault(tuple(cases), []).append(name)
    return found


def _mean(sizes: pl.Series) -> float | None:
    found = sizes.mean()
    return float(found) if isinstance(found, float | int) else None


def solved(report: Report) -> Section | None:
    """One row per solved dump: numbers consumed, degrees of freedom left, what stays open."""
    cases = report.comparison.pairs.filter(pl.col("basis") == BASIS).select("case").unique()
    if cases.is_empty():
        return None
    own = report.observations.join(cases, on="case", how="semi", maintain_order="left")
    rows = [
        [
            place(case),
            f"{len(one.consumed)}",
            f"{one.checks}",
            ", ".join(one.open) or "–",
            ", ".join(f"{quantity} {subject}".strip() for _, subject, quantity in one.consumed),
        ]
        for case, one in solutions(own).items()
    ]
    columns = [
        Column("dump", "<", flexible=True),
        Column("consumed", ">"),
        Column("left to check", ">"),
        Column("open"),
        Column("from", "<", flexible=True),
    ]
    said = (
        "Dimensions and rates of these dumps were solved from numbers that they print; what was "
        "consumed is not scored. An LSTM's gates, additions and non-linear functions are assumed."
    )
    return Section("Solved from the printed numbers", [said, Table(columns, rows)], detail=True)
