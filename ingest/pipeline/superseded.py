"""Records printed again: a restarted job repeats iterations, and the later one counts.

In: the records of one format, as `Record`s and as frames, once everything is bound. Out: which of
them a later one supersedes, with a remark on each. Two records are the same one if they agree in
the fields that the format names, as text, and come from the same host and rank: what several ranks
print at once is no repetition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl
from assay.ingest.lines.rows import SUPERSEDED, BoundRows
from assay.ingest.schema.format import Format
from assay.ingest.schema.record import Code, Diagnostic, Record, Span

Key = tuple[str | None, ...]


def superseded(
    fmt: Format, source: str, records: Sequence[Record], printed: Sequence[BoundRows]
) -> tuple[set[int], list[Diagnostic]]:
    """Mark records that a later one repeats; lines of rows to be marked so, and the remarks."""
    twice = _twice(fmt, records, printed)
    if twice is None:
        return set(), []
    found: list[tuple[int, int, Key, Record | None]] = []
    found += ((each.line, each.column, _key(fmt, each), each) for each in records)
    for rows in printed:
        found += _keys(fmt, rows, twice)
    found.sort(key=lambda each: each[:2])
    last: dict[Key, tuple[int, int, Record | None]] = {}
    lines, remarks = set(), []
    for line, column, key, record in found:
        earlier = last.get(key)
        last[key] = (line, column, record)
        if earlier is None:
            continue
        if earlier[2] is None:
            lines.add(earlier[0])
        else:
            earlier[2].mark = SUPERSEDED
        message = f"{fmt.repeats[0]} {key[2]} is printed again in line {line}, which counts"
        remarks.append(Diagnostic(Span(source, *earlier[:2]), Code.SUPERSEDED, message))
    return lines, remarks


def _key(fmt: Format, record: Record) -> Key:
    texts = (record.cells[n].text if n in record.cells else None for n in fmt.repeats)
    return (record.prefix.get("host"), record.prefix.get("rank"), *texts)


def _twice(
    fmt: Format, records: Sequence[Record], printed: Sequence[BoundRows]
) -> pl.DataFrame | None:
    """Host, rank and first field of what comes more than once; None where nothing does."""
    first = fmt.repeats[0]
    names = ["host", "rank", first]
    types = dict.fromkeys(names, pl.String)
    rows = [_key(fmt, record)[:3] for record in records]
    if not printed and len(set(rows)) == len(rows):
        return None
    ordered = sorted(printed, key=lambda run: run.first)

    if _rising([run.rising(first) for run in ordered]) and not (
        rows and _among(rows, first, ordered)
    ):
        return None
    parts = [pl.DataFrame(rows, schema=types, orient="row")]
    for each in printed:
        frame = _own(each, names)
        said = (_column(frame, name).cast(pl.String).alias(name) for name in names)
        parts.append(frame.select("line", *said).drop("line"))
    every = pl.concat(parts)
    twice = every.filter(every.is_duplicated()).unique()
    return twice if twice.height else None


def _own(rows: BoundRows, names: Sequence[str]) -> pl.DataFrame:
    """The lines of rows, and those of the named columns that they print themselves."""
    return rows.rows.some(names).slice(rows.begin, rows.height)


def _column(frame: pl.DataFrame, name: str) -> pl.Expr:
    """A column of rows that hold only what they print."""
    return pl.col(name) if name in frame.columns else pl.lit(None)


def _rising(ends: Iterable[tuple[int, int] | None]) -> bool:
    """Whether numbers rise from row to row through all runs in order: then none comes twice."""
    last = -1
    for each in ends:
        if each is None or each[0] <= last:
            return False
        last = each[1]
    return True


def _among(rows: Sequence[Key], name: str, runs: Sequence[BoundRows]) -> bool:
    """Whether the first field of a row is that of another, or among those of runs that rise."""
    said = pl.Series([row[2] for row in rows], dtype=pl.String)
    if said.is_duplicated().any():
        return True
    values = said.cast(pl.Int64, strict=False)
    if values.null_count():
        return True
    return any(
        values.is_between(*ends).any() and values.is_in(_own(run, [name])[name].implode()).any()
        for run in runs
        if (ends := run.rising(name))
    )


def _keys(
    fmt: Format, rows: BoundRows, twice: pl.DataFrame
) -> list[tuple[int, int, Key, Record | None]]:
    """Line, column and key of the rows that may come more than once."""
    own = [name for name in ("host", "rank", *fmt.repeats) if name not in rows.bound]
    frame = _own(rows, ["column", *own])
    said = (_column(frame, name).cast(pl.String).alias(name) for name in own)
    texts = frame.select("line", "column", *said)
    some = texts.join(twice, on=["host", "rank", fmt.repeats[0]], how="semi", nulls_equal=True)
    bound = {name: cell.text for name, cell in rows.bound.items()}
    return [
        (
            row["line"], row["column"],
            (row["host"], row["rank"], *(bound.get(n, row.get(n)) for n in fmt.repeats)), None,
        )
        for row in some.iter_rows(named=True)
    ]  # fmt: skip
