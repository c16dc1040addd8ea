"""Long tables of separated values: read by columns they give what they give read row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.grids import delimited
from assay.ingest.pipeline.folding import carved
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.format import Folded, TableNote
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Cell
from assay.ingest.source.opening import Source, source
from assay.ingest.tables import table_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import examples, mostly_slow

HERE = Path(__file__).parent

TABLES = [each for each in FORMATS if each.name in ("markdown_table", "gemm_table")]

HEADER = (
    "run,Model,GPUs,TP,GBS,dtype,step time (s),tokens/s/GPU,TFLOPS,tokens/s,MFU,"
    "peak memory (GB),loss,notes"
)

COLUMNS = (
    ["run-1", "run-2", "full", "lora r=8", "3", "tp2-pp4", "mean", "-", ""],
    ["GPT-7B", "13B", "Llama 70B", "7B, TP=4", ""],
    ["8", "16", "64", "8xA100", "0", "-", ""],
    ["1", "2", "8", "tp4", "0", "x", "1.5"],
    ["256", "1024", "0", "4M", "99999999999", ""],
    ["bf16", "fp8", ""],
    ["12.5", "1.25", "3", "812 ms", "OOM", "0", "0.00", "1.2x3", "1,024.5", "12..5", "-", ""],
    ["1234.5", "987", "0", "N/A", "2.1k", "OOM", "1e3", ""],
    ["150.25", "410", "0", "99999", "?", "120 GFLOPS", ""],
    ["12000", "98000.5", "331.9k tokens/s", "0", ""],
    ["0.41", "0.52", "41.2", "38%", "1.5", "0", "", "nan"],
    ["71.2", "60", "71.2 GB", "9.5 * 8 GB", "OOM", "0", "-", ""],
    ["2.345", "10", "0", "nan", "abc", ""],
    ["", "2024-01-02 fine", "OOM with CP=4", "warm-up", '"a, b"'],
)  # fmt: skip


EMPTY = "," * HEADER.count(",")


def cells(first: list[str]) -> st.SearchStrategy[str]:
    """A cell of a column: most often one of its first few values, so that rows are alike."""
    return st.one_of(st.sampled_from(first[:2]), st.sampled_from(first))


ROWS = st.lists(
    st.one_of(
        st.tuples(*map(cells, COLUMNS)).map(",".join),
        st.tuples(*(st.sampled_from(each[:2]) for each in COLUMNS)).map(",".join),
        st.sampled_from(
            ["", "7B,8,12.5", "mean" + "," * 13, "," * 13, " a ,b", "GPT-7B" + "," * 13]
        ),
    ),
    min_size=3,
    max_size=14,
)


@pytest.fixture
def unlimited() -> Iterator[None]:
    """As many ways to write rows as there are rows."""
    from assay.ingest.tables import long_tables

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(long_tables, "FEW_WAYS", 10**6)
        yield


def read(
    text: bytes, name: str, long: int, assumed: dict[str, Cell]
) -> tuple[Reading, list[TableNote]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(delimited, "LONG", long)
        whole = source(name, text)
        assert isinstance(whole, Source)
        notes = [note for _, note in carved(whole, TABLES, assumed).ledger.tables]
        return read_source(whole, TABLES, assumed), notes


def alike(text: bytes, name: str = "a.csv", assumed: dict[str, Cell] | None = None) -> Reading:
    """The reading of a text, which is the same by columns and row by row."""
    (fast, noted), (slow, wanted) = (read(text, name, n, assumed or {}) for n in (1, 10**9))
    assert fast.frames.keys() == slow.frames.keys()
    for frame, rows in slow.frames.items():
        assert fast.frames[frame].equals(rows), frame
    order = ("line", "column", "frame", "field", "from_line")
    assert fast.provenance.sort(order).equals(slow.provenance.sort(order))
    for said in ("refused", "remarks", "accounting", "raw", "overridden"):
        assert getattr(fast, said) == getattr(slow, said), said
    assert noted == wanted
    return slow


ABOVE = st.sampled_from(["", "# trained on 64 H100\n", "# seq_len = 2048\n"])

PATCHED = [HealthCheck.function_scoped_fixture]


def written(rows: list[str], above: str) -> bytes:
    return "\n".join([above + HEADER, *rows, ""]).encode()


@pytest.mark.usefixtures("unlimited")
@settings(max_examples=examples(12), deadline=None, suppress_health_check=PATCHED)
@given(ROWS, ABOVE)
def test_rows_are_the_same_by_columns(rows: list[str], above: str) -> None:
    alike(written(rows, above))


@pytest.mark.slow
@pytest.mark.usefixtures("unlimited")
@settings(max_examples=1000, deadline=None, suppress_health_check=PATCHED)
@given(ROWS, ABOVE)
def test_many_more_rows_are_the_same_by_columns(rows: list[str], above: str) -> None:
    alike(written(rows, above))


def test_assumed_values_and_statements_above_hold_for_every_row() -> None:
    rows = [f"r{n},GPT-7B,8,2,256,bf16,{n + 1}.5,{900 + n},150,,0.4,70,2.1," for n in range(40)]
    text = "\n".join(["# seq_len = 2048", "# gpus = 16", HEADER, *rows, ""]).encode()
    reading = alike(text, assumed={"gpu": Cell("H100", 0, value_origin="assumed")})
    assert reading.frames["markdown_table"]["seq_len"].to_list() == [2048] * 40
    assert len(reading.overridden) == 40


def test_rows_that_are_alike_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"r{n},GPT-7B,8,2,256,bf16,{n + 1}.5,{900 + n},150,,0.4,70,2.1," for n in range(400)]
    text = "\n".join([HEADER, *rows, "r,GPT-7B,8,2,256,bf16,OOM,,,,,,,", ""]).encode()
    found: list[Folded] = []
    before = table_rows._Table.read

    def seen(table: table_rows._Table, folded: Folded) -> None:
        before(table, folded)
        found.append(folded)

    monkeypatch.setattr(table_rows._Table, "read", seen)
    monkeypatch.setattr(delimited, "LONG", 1)
    whole = source("a.csv", text)
    assert isinstance(whole, Source)
    assert read_source(whole, TABLES).frames["markdown_table"].height == 401
    assert [len(each.records) for each in found] == [2]


PUBLISHED = sorted(HERE.glob("published/*.[ct]sv"))[::3]


@pytest.mark.parametrize("path", mostly_slow(PUBLISHED), ids=lambda p: p.name)
def test_published_tables_are_the_same_by_columns(path: Path) -> None:
    alike(path.read_bytes(), path.name)
