"""Frames for other tools: CSV, NDJSON and DuckDB. A reading in, files out.

| | CSV | NDJSON | DuckDB |
|---|---|---|---|
| null | an empty cell | null | NULL |
| empty text | `""` | `""` | '' |
| NaN, infinities | NaN, inf, -inf | the texts NaN, Infinity, -Infinity | themselves |
| bytes (`raw`) | base64 | base64 | BLOB |
| undeclared cells (`other`) | JSON | a list of objects | a list of structs |
| units and meanings | docs/formats | docs/formats | comments on tables and columns |

A number is written with the fewest digits that give the same double. A text cell of a CSV file that
a spreadsheet would run as a formula, or that begins with an apostrophe, gets an apostrophe in
front; a text that is a number stays one. Taking one leading apostrophe off gives the text back.
"""

from __future__ import annotations

import base64
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.formats import FORMATS
from assay.ingest.reference.json_schema import SOURCES, json_schema
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Reading
from assay.ingest.store.case_frame import case_frame
from assay.ingest.store.write import quarantine, statements
from assay.validate.report import safe

SUFFIXES = {
    ".csv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".duckdb": "duckdb",
    ".db": "duckdb",
}
"""Kind of file by how its name ends."""

_BATCH = 10_000

_ODD = r"^ *[^ 0-9A-Za-z]"
"""Texts that are worth a look: all that CSV makes safe begin like this."""


class Missing(Exception):
    """An extra that is not installed."""


def tables(reading: Reading) -> dict[str, pl.DataFrame]:
    """Every frame of a reading by name: those of the formats, provenance, quarantine, sources."""
    rows = [
        (a.source, a.sha256, a.lines, a.claimed, a.refused, a.blank, a.not_ours, len(a.suspicious))
        for a in reading.accounting
    ]
    return {
        **reading.frames,
        "provenance": reading.provenance,
        "quarantine": quarantine(reading),
        "statements": statements(reading),
        "cases": case_frame(reading),
        "sources": pl.DataFrame(rows, schema=SOURCES, orient="row"),
    }


def csv(frame: pl.DataFrame) -> str:
    """A frame as CSV with a header, UTF-8, LF; see the rules above.

    >>> print(csv(pl.DataFrame({"v": [1.5, None], "t": ["=1+1", "-1.5"]})), end="")
    v,t
    1.5,'=1+1
    ,-1.5
    """
    return frame.with_columns(map(_cells, frame)).write_csv()


def _cells(column: pl.Series) -> pl.Series:
    """A column as CSV can hold it."""
    if isinstance(column.dtype, pl.List):
        column = column.map_elements(_as_json, return_dtype=pl.String, skip_nulls=True)
    elif isinstance(column.dtype, pl.Binary):
        column = column.bin.encode("base64")
    elif column.dtype != pl.String:
        return column
    odd = column.filter(column.str.contains(_ODD)).unique().to_list()
    return column.replace(odd, [safe.csv(text) for text in odd]) if odd else column


def _as_json(cells: pl.Series) -> str:
    return json.dumps(cells.to_list(), ensure_ascii=False)


def ndjson(frame: pl.DataFrame) -> str:
    """A frame as JSON, one object a line; see the rules above.

    >>> print(ndjson(pl.DataFrame({"v": [1.5, None, float("nan")]})), end="")
    {"v":1.5}
    {"v":null}
    {"v":"NaN"}
    """
    return "".join(
        safe.json_text(_dumps(_written(row))) + "\n"
        for part in frame.iter_slices(_BATCH)
        for row in part.iter_rows(named=True)
    )


def _dumps(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _written(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


WRITERS = {"csv": csv, "ndjson": ndjson}


def write_folder(frames: Mapping[str, pl.DataFrame], folder: Path, to: str) -> list[Path]:
    """Write one file per frame to `folder`, all of them or none; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{to}" for name in frames]
    with ExitStack() as all_or_none:
        for path, frame in zip(paths, frames.values(), strict=True):
            part = all_or_none.enter_context(beside(path))
            part.write_text(WRITERS[to](frame), encoding="utf-8", newline="")
    return paths


def write_duckdb(
    frames: Mapping[str, pl.DataFrame], path: Path, formats: Sequence[Format] = FORMATS
) -> None:
    """Write a DuckDB database with one table per frame, whole or not at all.

    `formats` say what the columns mean. Raises Missing without the extra `assay[duckdb]`.
    """
    try:
        import duckdb  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - an extra
    except ImportError:
        raise Missing("writing DuckDB needs the extra: pip install 'assay[duckdb]'") from None
    # the way over Parquet keeps types and nulls and needs no further library
    with (
        tempfile.TemporaryDirectory() as scratch,
        beside(path) as part,
        duckdb.connect(str(part)) as database,
    ):
        for name, frame in frames.items():
            rows = Path(scratch) / f"{name}.parquet"
            frame.write_parquet(rows)
            said = _quoted(str(rows))
            database.execute(f'CREATE TABLE "{name}" AS FROM read_parquet({said})')
            _comment(database, json_schema(name, formats), frame.columns)


def _comment(database: Any, schema: Mapping[str, Any], columns: Sequence[str]) -> None:
    """Units and meanings, where a reader of the database looks for them."""
    name = schema["title"]
    database.execute(f'COMMENT ON TABLE "{name}" IS {_quoted(schema["description"])}')
    for column in columns:
        said = schema["properties"][column]
        unit, kind = said.get("x-unit"), said.get("x-kind")
        parts = [said["description"], f"unit {unit}" if unit else "", kind or ""]
        text = "; ".join(part for part in parts if part)
        database.execute(f'COMMENT ON COLUMN "{name}"."{column}" IS {_quoted(text)}')


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that takes its place when the block ends well."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
        part.with_name(f"{part.name}.wal").unlink(missing_ok=True)  # DuckDB's, of what it broke off
