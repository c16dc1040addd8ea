"""Documents written for this test, in the styles in which people publish, against what stands in
them: every wanted row with its values, and nothing but those.

`published/NAME.EXT` is a document; `NAME.EXT.FRAME.wanted` lists its rows in that frame, in SI:
`at` is a piece of the row's line (`#` for the separator of a file of separated values), `-` a value
that nobody says. A measured column that is empty or absent there has no value in the row. What
has no list has no row, and its tables are said not to be understood. The documents were made up,
and written down with their values before they were read.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.schema.reading import Reading, TableNote

from tests.conftest import mostly_slow

FOLDER = Path(__file__).parent / "published"

DOCUMENTS = sorted(path for path in FOLDER.iterdir() if path.suffix != ".wanted")

RATES = ("step_time", "model_flops_rate", "memory", "tokens_per_s", "tokens_per_gpu_per_s",
         "samples_per_s", "step_rate", "item_rate", "mfu_weights", "mfu", "hfu_weights", "hfu",
         "outcome")  # fmt: skip

MEASURED = {
    "markdown_table": RATES,
    "gemm_table": ("time", "flops_rate", "outcome"),
    "attention_table": ("time", "outcome"),
    "collective_table": ("time", "algbw", "busbw", "outcome"),
    "operator_table": ("time", "memory", "flops_rate", "outcome"),
    "nccl_tests": ("time", "algbw", "busbw"),
}


def wanted(document: Path) -> dict[str, list[dict[str, str]]]:
    """Frame → rows that the document is to give."""
    found = {}
    for path in document.parent.glob(f"{document.name}.*.wanted"):
        with path.open(encoding="utf-8") as text:
            found[path.name.split(".")[-2]] = list(csv.DictReader(text))
    return found


@cache
def all_of_them() -> Reading:
    return read(DOCUMENTS).reading


@cache
def rows_of_all() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(source, frame) → rows, in the order in which they stand there."""
    found = defaultdict(list)
    for name, frame in all_of_them().frames.items():
        for row in frame.sort("source", "line", "column", maintain_order=True).rows(named=True):
            found[row["source"], name].append(row)
    return found


@cache
def tables_of_all() -> dict[str, tuple[TableNote, ...]]:
    return {account.source: account.tables for account in all_of_them().accounting}


def rows(document: Path) -> dict[str, list[dict[str, Any]]]:
    """Frame → rows of a document."""
    held = rows_of_all()
    return {name: held[source, name] for source, name in held if source == str(document)}


def is_said(value: object, said: str) -> bool:
    if said == "-" or value is None:
        return said == "-" and value is None
    if isinstance(value, (bool, str)):
        return str(value) == said
    assert isinstance(value, (int, float))
    return math.isclose(value, float(said), rel_tol=1e-9)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_row_is_read_and_no_other(document: Path) -> None:
    lines = document.read_text(encoding="utf-8").splitlines()
    found, lists = rows(document), wanted(document)
    assert found.keys() == lists.keys()
    separator = "\t" if document.suffix == ".tsv" else ","
    for frame, every in lists.items():
        held = list(found[frame])
        for said in every:
            at = said.pop("at").replace("#", separator)
            row = next((r for r in held if at in lines[r["line"] - 1]), None)
            assert row is not None, f"no row of {at!r}"
            held.remove(row)
            silent = dict.fromkeys(MEASURED[frame], "-")
            for name, text in (silent | {n: t for n, t in said.items() if t}).items():
                assert is_said(row[name], text), f"{at}: {name} was {row[name]!r}, not {text}"
        assert held == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_document_is_passed_over_in_silence(document: Path) -> None:
    notes = tables_of_all()[str(document)]
    assert rows(document) or any(note.rows > note.read and note.not_understood for note in notes)


@pytest.mark.parametrize("document", mostly_slow(DOCUMENTS[::20]), ids=lambda path: path.name)
def test_a_document_alone_is_read_as_among_others(document: Path) -> None:
    frames = read([document]).reading.frames
    alone = {
        name: frame.sort("line", "column", maintain_order=True).rows(named=True)
        for name, frame in frames.items()
        if frame.height
    }
    assert alone == rows(document)
