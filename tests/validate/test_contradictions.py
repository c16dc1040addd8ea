"""How findings read: numbers in one unit, lines folded for a terminal and whole for a file."""

from __future__ import annotations

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.schema.record import Span
from assay.validate.laws.finding import Finding, Number
from assay.validate.laws.laws import findings
from assay.validate.report.contradictions import render

from tests.conftest import FIXTURES

ONE = Finding(
    "rate-from-time", "identity", "error", (Span("a.md", 7, 1), Span("a.md", 3, 1)),
    (Number("model_flops_rate", 1.4348e14, 1.43475e14, 1.4349e14, "flop/s"),
     Number("global_batch", 2048.0, 2048.0, 2048.0, "1")),
    (Number("parameters", 28_260_986_880.0, 24_664_371_200.0, 28_260_986_880.0, "1"),
     Number("step_time", 302.88817584, 302.88817583, 302.88817585, "s"),
     Number("step_time", 2.0, 2.0, float("inf"), "s")),
    "TFLOPs are off by 9.4 %", "Do not use the row.",
)  # fmt: skip


def test_a_finding_as_text() -> None:
    assert render([ONE]) == (
        "a.md:7:1: error: rate-from-time: TFLOPs are off by 9.4 %\n"
        "    see      a.md:3:1\n"
        "    printed  TFLOPs 143.48 TFLOP/s [143.475 to 143.49], GBS 2,048\n"
        "    implied  parameters 28,260,986,880 [24,664,371,200 to 28,260,986,880], "
        "step time 302.888 s, step time 2 s\n"
        "    so       Do not use the row. (identity)\n"
    )


@pytest.fixture(scope="module")
def found() -> list[Finding]:
    return findings(read([FIXTURES / "markdown_table" / "bloom_prequel.md"]).reading)


@pytest.mark.parametrize("width", [40, 80, 160])
def test_lines_are_folded_between_words(width: int, found: list[Finding]) -> None:
    text = render(found, width=width)
    assert " ".join(text.split()) == " ".join(render(found).split())
    words = [word for line in text.splitlines() if len(line) > width for word in line.split()]
    assert all(len(word) > width - 13 for word in words if "/" in word)
    assert not any(line.strip().startswith("%") for line in text.splitlines())


def test_a_place_is_never_folded() -> None:
    long = ONE._replace(spans=(Span("/a/very/long/path/" * 8 + "x y.md", 7, 1),))
    first = render([long], width=80).splitlines()[0]
    assert first.startswith("/a/very/long/path/")
    assert len(render([ONE], colour=True).split("\x1b")) == 3
