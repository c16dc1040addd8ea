"""Inputs that mean harm, through the commands: no reader, terminal or tool obeys their text."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from assay.validate.report.html import svg

from tests.cli.conftest import Ran, Run
from tests.conftest import FIXTURES

NASTY = (
    "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "\x1b[2J\x1b[31m",
    "\x1b]8;;http://x.example\x1b\\link\x1b]8;;\x1b\\", "\x9b31mC1", "cr\rline", "\u202egnp.exe",
    "q\"'`", "a|b", "=cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "x" * 25_000, "[l](javascript:x)",
    "![i](http://x.example/i.png)", "\u2028ls", "\x00nul", "&amp;&lt;", "{{7*7}} {0}", "]]>", "-->",
)  # fmt: skip
HEAD = "| GPUs | TP | PP | DP | MBS | GBS | Sec/it | TFLOPs | Notes |\n" + "| --- " * 9 + "|\n"
ROW = "| 8 | 8 | 1 | 1 | 1 | 64 | {value} | 50.10 | {note} |\n"
LINE = (
    " iteration       {n}/    1000 | consumed samples: 4 | elapsed time per iteration (ms): 5837.9 "
    "| {label}: 3 | global batch size:     4 | lm loss: {loss} |\n"
)
NAMES = (
    b"<script>alert(1)<%script>", b"\x1b[31mred", "\u202egpj".encode(), b"d|pipe`tick", b"=cmd()",
    b"f\nassay: 0 findings", b"@octocat", b"-dash", b"\xff\xfe",
)  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of hostile values, labels and notes; hostile file names under `names`."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "names").mkdir(parents=True)
    table = f"# {NASTY[0]}\n\n{HEAD}" + "".join(
        ROW.format(value="10.50", note=text) + ROW.format(value=text, note="") for text in NASTY
    )
    (folder / "table.md").write_text(table, newline="")
    log = "".join(
        LINE.format(n=10 + 10 * at, label=text, loss="6.1E+00")
        + LINE.format(n=15 + 10 * at, label="x", loss=text)
        + f"{text} 3.1 TFLOPs\n"
        for at, text in enumerate(NASTY)
    )
    (folder / "run.log").write_text(log, newline="")
    real = (FIXTURES / "markdown_table" / "mosaic_2022.md").read_bytes().splitlines(keepends=True)
    for name in NAMES:
        (folder / "names" / os.fsdecode(name + b".md")).write_bytes(b"".join(real[:37]))
    return folder


def harmless(text: str) -> None:
    """Nothing of it is obeyed by a terminal, and no line is endless."""
    for line in text.split("\n"):
        assert line.replace("\t", "").isprintable(), ascii(line[:200])
        assert len(line) < 5_000


def streams(done: Ran) -> None:
    assert done.code != 70, done.err
    harmless(done.out)
    harmless(done.err)


@pytest.fixture(scope="module")
def reported(hostile: Path) -> tuple[Ran, Path]:
    """One report in every form: what the command printed, and the folder of its files."""
    folder = hostile.with_name("out")
    folder.mkdir()
    outputs = [word for name in ("r.md", "r.json", "r.html") for word in ("-o", str(folder / name))]
    return Ran(["report", str(hostile), *outputs]), folder


def test_a_report_on_the_screen(reported: tuple[Ran, Path]) -> None:
    streams(reported[0])


def test_a_report_as_json(reported: tuple[Ran, Path]) -> None:
    text = (reported[1] / "r.json").read_text()
    assert all(line.isprintable() for line in text.split("\n"))
    shown = {source["name"].rpartition("/")[2] for source in json.loads(text)["sources"]}
    assert "\x1b[31mred.md" in shown, "JSON says the name as it is"
    assert "\\udcff\\udcfe.md" in shown, "bytes that are no UTF-8 are spelled out"


def test_a_report_as_markdown(reported: tuple[Ran, Path]) -> None:
    text = (reported[1] / "r.md").read_text()
    harmless(text)
    bare = text.replace("\\<", "")
    for ours in ("<!-- -->", "<details>", "</details>", "<summary>", "</summary>"):
        bare = bare.replace(ours, "")
    assert "<" not in bare
    assert "@octocat" not in text
    assert "](" not in text.replace("\\](", "")
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith(" |")


class Page(HTMLParser):
    """Elements and attributes of a page, as a browser would see them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in {"href", "src"}}


def test_a_report_as_html(reported: tuple[Ran, Path]) -> None:
    text = (reported[1] / "r.html").read_text()
    assert all(line.isprintable() for line in text.split("\n"))
    page = Page()
    page.feed(text)
    assert not page.tags & {"script", "img", "iframe", "object", "embed", "link", "base", "form"}
    assert not {name for name in page.attributes if name.startswith("on")}
    assert all(link.startswith("#") for link in page.links)
    assert "x" * 1000 not in text
    assert "&lt;script&gt;alert(1)&lt;" in text


def test_names_of_models_in_plots(assay: Run, tmp_path: Path) -> None:
    """A table and a user's predictions whose names mean harm are drawn, as text."""
    table = (FIXTURES / "markdown_table" / "mosaic_2022.md").read_text()
    (tmp_path / "t.md").write_text("".join(table.splitlines(keepends=True)[:40]))
    name = "<img src=x>\x1b[31m</svg>\"'"
    cell = '"' + name.replace('"', '""') + '"'
    rows = "".join(f"{n},tokens_per_gpu_per_s,1000,token/s,{cell}\n" for n in range(34, 38))
    (tmp_path / "p.csv").write_text(f"line,quantity,value,unit,model\n{rows}")
    done = assay("report", tmp_path / "t.md", "--predictions", tmp_path / "p.csv",
                 "-o", tmp_path / "r.html")  # fmt: skip
    assert done.code == 0, done.err
    streams(done)
    text = (tmp_path / "r.html").read_text()
    page = Page()
    page.feed(text)
    assert "img" not in page.tags
    assert "&lt;img src=x&gt;\\x1b[31m&lt;/svg&gt;" in text
    if svg.available():
        drawings = re.findall("<svg .*?</svg>", text, re.DOTALL)
        assert any("&lt;img src=x&gt;\\x1b[31m&lt;/svg&gt;" in each for each in drawings)


def test_findings(assay: Run, hostile: Path, tmp_path: Path) -> None:
    sarif = tmp_path / "f.sarif"
    done = assay("check", hostile, "--severity", "note", "--sarif", sarif)
    streams(done)
    assert "f\\nassay: 0 findings.md:" in done.out
    text = sarif.read_text()
    assert all(line.isprintable() for line in text.split("\n"))
    results = json.loads(text)["runs"][0]["results"]
    assert results
    for result in results:
        assert result["message"]["text"].isprintable()
        for place in result["locations"]:
            uri = place["physicalLocation"]["artifactLocation"]["uri"]
            assert uri.isascii()
            assert not set(uri) & set("<>\"' \\\x1b\n|`")
    listed = assay("check", hostile, "--severity", "note", "--json").out
    assert all(line.isprintable() for line in listed.split("\n"))
    assert len(json.loads(listed)) == len(results)


def test_verdicts_in_junit(assay: Run, hostile: Path, tmp_path: Path) -> None:
    path = tmp_path / "j.xml"
    name = hostile / "names" / "\x1b[31mred.md"
    done = assay("report", name, "--max-mape", "1%", "--junit", path)
    streams(done)
    harmless(path.read_text())
    ElementTree.parse(path)


def test_ingest_and_goldens(assay: Run, hostile: Path, tmp_path: Path) -> None:
    streams(assay("ingest", hostile, "-o", tmp_path / "out"))
    path = tmp_path / "in" / "\x1b[31mred.md"
    path.parent.mkdir()
    path.write_text(HEAD + ROW.format(value="10.5", note="\x9b31m"))
    streams(assay("golden", "update", path.parent))
    path.write_text(HEAD + ROW.format(value="10.6", note="\x9b32m"))
    done = assay("golden", "check", path.parent)
    assert done.code == 1
    streams(done)


def test_a_screen_that_knows_ascii_only() -> None:
    program = "from assay.validate.cli import app; app()"
    done = subprocess.run(
        [sys.executable, "-c", program, "report", FIXTURES / "gemm_table" / "microbenchmark.log"],
        capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode in {0, 4}, done.stderr
    assert done.stdout.isascii()
