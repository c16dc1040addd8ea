"""Descriptions of tables: columns, melted, turned and split; drafts of them; what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own import own_format
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.own_format import OwnFormat
from assay.ingest.formats.own.table_draft import table_draft
from assay.ingest.formats.own.travel import meaning, understood
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Diagnostic
from assay.ingest.source.opening import source

from tests.conftest import mostly_slow

PUBLISHED = Path(__file__).parent / "published"

SWEEP = """
name = "sweep"
[tables]
header = ["setup", "workers", "a", "b"]
split = { setup = 'tp(?P<tp>[0-9]+)' }
values = { gpu = "H100" }
[tables.melt]
labels = { a = "fp16", b = "fp8" }
name = "dtype"
value = "step_time"
unit = "ms"
[columns.gpus]
labels = ["workers"]
type = "integer"
[columns.step_time]
labels = []
unit = "s"
quantity = "step_time"
[[samples]]
table = '''
setup,workers,a,b
tp2,8,10.5,7
'''
values = { tp = 2, gpus = 8, dtype = "fp16", step_time = 0.0105, gpu = "H100" }
"""


def own(text: str) -> OwnFormat:
    return own_format.tested("own.toml", text)


def read(fmt: OwnFormat, text: str, name: str = "a.md") -> Reading:
    opened = source(name, text.encode())
    assert not isinstance(opened, Diagnostic)
    return read_source(opened, (*FORMATS, fmt))


def rows(reading: Reading, name: str, *columns: str) -> list[tuple[Any, ...]]:
    return reading.frames[name].sort("line", "column").select(columns).rows()


WANTED = [(2, "fp16", 0.0105), (2, "fp8", 0.007), (4, "fp16", 0.0125)]


@pytest.mark.parametrize(
    "text",
    [
        "setup,workers,a,b\ntp2,8,10.5,7\ntp4,8,12.5,\n",
        "setup\tworkers\ta\tb\ntp2\t8\t10.5\t7\ntp4\t8\t12.5\t\n",
        "setup | workers | a | b\n--|--|--|--\ntp2 | 8 | 10.5 | 7\ntp4 | 8 | 12.5 |\n",
        "<table><tr><th>setup<th>workers<th>a<th>b\n<tr><td>tp2<td>8<td>10.5<td>7\n"
        "<tr><td>tp4<td>8<td>12.5<td></table>\n",
        "=====  =======  ====  ===\nsetup  workers  a     b\n=====  =======  ====  ===\n"
        "tp2    8        10.5  7\ntp4    8        12.5\n=====  =======  ====  ===\n",
    ],
    ids=["csv", "tsv", "markdown", "html", "rst"],
)
def test_one_description_reads_every_syntax(text: str) -> None:
    reading = read(own(SWEEP), text)
    assert rows(reading, "sweep", "tp", "dtype", "step_time") == WANTED
    assert not reading.refused
    (account,) = reading.accounting
    assert account.claimed + account.blank == account.lines
    origins = reading.provenance.filter(field="gpu")
    assert set(origins["value_origin"]) == {"assumed"}


def test_a_table_that_is_meant_is_read_by_no_packaged_format() -> None:
    """The packaged format would read the step time under its own rules, and the line be refused."""
    text = SWEEP.replace('"a", "b"]', '"step time (s)"]').replace(
        "setup,workers,a,b", "setup,workers,step time (s)"
    )
    text = text[: text.index("[tables.melt]")] + text[text.index("[columns.gpus]") :]
    text = text.replace("labels = []", 'labels = { "step time (s)" = "ms" }')
    text = text.replace("tp2,8,10.5,7", "tp2,8,10.5").replace('dtype = "fp16", ', "")
    table = "| setup | workers | step time (s) |\n|--|--|--|\n| tp2 | 8 | 10.5 |\n"
    reading = read(
        own(text), f"{table}\n| GPUs | Step time (s) | TFLOPs |\n|--|--|--|\n| 8 | 2.5 | 150 |\n"
    )
    assert rows(reading, "sweep", "step_time") == [(0.0105,)]
    assert rows(reading, "markdown_table", "line", "step_time") == [(7, 2.5)]
    assert not reading.refused


def test_a_turned_table() -> None:
    text = SWEEP[: SWEEP.index("[tables.melt]")] + SWEEP[SWEEP.index("[columns.gpus]") :]
    text = text.replace('"a", "b"]', '"ms"]\ntranspose = true').replace(
        "labels = []", 'labels = { ms = "ms" }'
    )
    text = text.replace(
        "setup,workers,a,b\ntp2,8,10.5,7", "setup,tp2,tp4\nworkers,8,16\nms,10.5,12"
    )
    text = text.replace('dtype = "fp16", ', "")
    reading = read(own(text), "setup,tp2,tp4\nworkers,8,16\nms,10.5,12\n")
    assert rows(reading, "sweep", "tp", "gpus", "step_time") == [(2, 8, 0.0105), (4, 16, 0.012)]


def test_a_cell_that_is_no_number_costs_its_row_and_says_so() -> None:
    reading = read(own(SWEEP), "setup,workers,a,b\ntp2,8,10.5,7\ntp4,8,fast,7\ntp8,8,OOM,7\n")
    assert rows(reading, "sweep", "tp") == [(2,), (2,), (8,), (8,)]
    (fault,) = reading.refused
    assert (fault.span.line, fault.span.column) == (3, 7)
    assert "step_time was 'fast'" in fault.message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["setup", "workers", "a", "b"]', "[]", "own.toml:4: tables.header: expected labels"),
        ('"ms"\n[columns', '"mms"\n[columns', "tables.melt.unit: 'mms' is no unit"),
        ('value = "step_time"', 'value = "step"', "tables.melt.value: 'step' is no column"),
        ("(?P<tp>", "(?P<t>", "tables.split.setup: 't' is no column"),
        ("tp(?P<tp>[0-9]+)", "tp([0-9]+)", "expected groups that are named as columns"),
        ('{ gpu = "H100" }\n', '{ gpux = "H100" }\n', "tables.values.gpux: 'gpux' is no column"),
        ("[tables]", 'separator = "|"\n[tables]', "got separator and tables"),
        ("tp2,8,10.5,7", "tp2,8,10.6,7", "samples.0.values.step_time: expected 0.0105"),
    ],
)  # fmt: skip
def test_a_fault_is_told_by_its_key(old: str, new: str, message: str) -> None:
    assert old in SWEEP
    with pytest.raises(BadFormat) as fault:
        own(SWEEP.replace(old, new))
    assert message in str(fault.value)


def test_a_folder_knows_its_frames_without_the_file() -> None:
    fmt = own(SWEEP)
    kept = understood("folder", meaning(fmt))
    assert kept.name == "sweep"
    assert kept.said is not None
    assert [column.name for column in kept.said.columns] == ["gpus", "step_time"]


@pytest.mark.parametrize("scope", ["attention", "collective"])
def test_calls_have_the_columns_of_their_packaged_format(scope: str) -> None:
    text = """
name = "calls"
scope = "collective"
[tables]
header = ["what", "size"]
values = { ranks = 8, op = "all_reduce" }
[columns.bytes]
labels = ["size"]
type = "integer"
unit = "B"
[columns.time]
labels = { what = "us" }
unit = "s"
quantity = "time"
[[samples]]
table = "what,size\\n10,4096\\n12,8192"
values = { op = "all_reduce", ranks = 8, bytes = 4096, time = "10 us" }
"""
    if scope == "attention":
        text = text.replace("collective", scope).replace('op = "all_reduce"', "heads = 32")
        text = text.replace("ranks = 8", "head_dim = 128").replace("bytes", "seq")
        text = text.replace('unit = "B"\n', "")
    reading = read(own(text), "what,size\n10,4096\n12,8192\n")
    assert rows(reading, "calls", "time") == [(pytest.approx(1e-05),), (pytest.approx(1.2e-05),)]


DRAFTED = sorted(path for path in PUBLISHED.iterdir()
                 if path.suffix in (".csv", ".tsv", ".md", ".html", ".rst"))  # fmt: skip


@pytest.mark.parametrize("path", mostly_slow(DRAFTED, 40), ids=lambda path: path.name)
def test_a_draft_of_any_table_passes_its_own_test(path: Path) -> None:
    text = table_draft(path.read_text(encoding="utf-8").splitlines(), "mine")
    if text is not None:
        assert own(text).said is not None


def test_what_holds_no_table_gives_no_draft() -> None:
    assert table_draft(["step=20 loss=7.12 tok/s=27012"], "mine") is None
