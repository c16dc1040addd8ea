"""Laying out reports: nothing of an input is obeyed, everything fits, figures are readable."""

from __future__ import annotations

import unicodedata

import pytest
from assay.validate.report import markdown, terminal
from assay.validate.report.layout import Column, Section, Table, percent, quantity, spans

NASTY = "a|b\\c`d*e_f[g](h)<i>\x1b[31mj\x00k\nl\u202em\u2028n#~&"
TABLE = Table(
    [Column("name", "<", flexible=True), Column("n", ">")],
    [["x" * 150 + ":12", "1"], [NASTY, "20"], ["", "300"]],
)


def test_the_terminal_obeys_nothing_of_an_input() -> None:
    text = terminal.render([Section(NASTY, [NASTY, TABLE])])
    assert all(char == "\n" or unicodedata.category(char)[0] != "C" for char in text)
    assert "\\x1b[31m" in text


def test_colour_is_escape_sequences_around_headings_only() -> None:
    plain = terminal.render([Section("Title", [TABLE])])
    coloured = terminal.render([Section("Title", [TABLE])], colour=True)
    assert "\x1b" not in plain
    assert coloured.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "") == plain


@pytest.mark.parametrize("width", [40, 80, 200])
def test_tables_fit_the_width_by_shortening_flexible_columns(width: int) -> None:
    text = terminal.render([Section("T", [TABLE])], width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "x:12" in text, "the end of a place is kept"
    assert "  300" in text


def test_wide_characters_keep_columns_aligned() -> None:
    table = Table([Column("k"), Column("v")], [["日本", "1"], ["ab", "2"]])
    lines = terminal.render([Section("T", [table])]).splitlines()
    assert lines[2] == "  日本  1"
    assert lines[3] == "  ab    2"


def test_markdown_rows_have_the_cells_of_their_table() -> None:
    text = markdown.render([Section("T", [TABLE])])
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 5
    for row in rows:
        bars = row.replace("\\\\", "").replace("\\|", "").count("|")
        assert bars == 3, row
    assert rows[1] == "| --- | ---: |"


def test_figures() -> None:
    assert [percent(x, signed="+") for x in (0.0, 0.1234, -2.5, float("nan"))] == [
        "+0.0 %", "+12.3 %", "-250 %", "–",
    ]  # fmt: skip
    assert quantity(5.73924e14, "flop/s") == "573.924 TFLOP/s"
    assert quantity(0.0, "s") == "0 ns"
    assert quantity(5.7e10, "B") == "57 GB"
    assert quantity(3.0, "token/s") == "3 token/s"
    assert quantity(None, "s") == "–"
    assert spans([]) == ""
    assert spans([1, 2, 4]) == "1–2, 4"
