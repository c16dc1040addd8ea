"""Random grids, written in each syntax and read back: same cells, same spans, same header rows."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from assay.ingest.grids.grid import Grid, GridRow
from assay.ingest.schema.record import Line
from assay.ingest.source.notebook import markdown_cells
from assay.ingest.tables.documents import grids
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples


@dataclass(frozen=True)
class Box:
    """A cell to be written: the place of its corner, how far it reaches, its text."""

    row: int
    column: int
    rows: int
    columns: int
    text: str


@dataclass(frozen=True)
class Sheet:
    height: int
    width: int
    heads: int
    boxes: tuple[Box, ...]

    def at(self, row: int, column: int) -> Box:
        return next(
            b for b in self.boxes
            if b.row <= row < b.row + b.rows and b.column <= column < b.column + b.columns
        )  # fmt: skip

    def laid_out(self) -> list[list[tuple[str, int, int]]]:
        return [
            [(b.text, b.rows, b.columns) for c in range(self.width) for b in [self.at(r, c)]]
            for r in range(self.height)
        ]


WORDS = st.text("abcXYZ0123456789%/().-±µ", min_size=1, max_size=6).filter(
    lambda t: any(c.isalnum() for c in t)
)


@st.composite
def sheets(draw: st.DrawFn, *, spans: bool = True, heads: int | None = None) -> Sheet:
    many = draw(st.integers(1, 3)) if heads is None else heads
    height, width = many + draw(st.integers(1, 4)), draw(st.integers(2, 5))
    taken: set[tuple[int, int]] = set()
    boxes = []
    for row in range(height):
        for column in range(width):
            if (row, column) in taken:
                continue
            # the last row and the last column hold no span: they are what counts the others
            low = many if row < many else max(row + 1, height - 1)
            bare = not spans or column == width - 1 or row == height - 1
            down = 1 if bare else draw(st.integers(1, low - row))
            right = 1 if bare else draw(st.integers(1, width - 1 - column))
            while any((row, column + c) in taken for c in range(right)):
                right -= 1
            if any((row + r, column + c) in taken for r in range(down) for c in range(right)):
                down = 1
            taken |= {(row + r, column + c) for r in range(down) for c in range(right)}
            text = draw(WORDS)
            label = f"l{text}" if row < many else text
            boxes.append(Box(row, column, down, right, label))
    return Sheet(height, width, many, tuple(boxes))


def numbered(text: str) -> list[Line]:
    return [Line(n, line, 1, {}) for n, line in enumerate(text.split("\n"), 1)]


def read(text: str, name: str) -> Grid:
    (grid,) = grids(numbered(text), name)
    return grid


def same(grid: Grid, sheet: Sheet) -> None:
    def told(rows: tuple[GridRow, ...]) -> list[list[tuple[str, int, int]]]:
        return [[(c.text, c.rows, c.columns) for c in row.cells] for row in rows]

    laid = sheet.laid_out()
    assert told(grid.heads) == laid[: sheet.heads]
    assert told(grid.rows) == laid[sheet.heads :]


def places(grid: Grid, text: str) -> None:
    """Each cell stands where it says it does."""
    lines = text.split("\n")
    for row in (*grid.heads, *grid.rows):
        for cell in row.cells:
            assert lines[cell.line - 1][cell.column - 1 :].startswith(cell.text)


def in_html(sheet: Sheet) -> str:
    out = ["<p>x</p>", "<table>"]
    for row in range(sheet.height):
        out.append({0: "<thead><tr>", sheet.heads: "<tbody><tr>"}.get(row, "<tr>"))
        tag = "th" if row < sheet.heads else "td"
        for box in (b for b in sheet.boxes if b.row == row):
            spans = f' rowspan="{box.rows}"' * (box.rows > 1)
            spans += f" colspan={box.columns}" * (box.columns > 1)
            out.append(f"  <{tag}{spans}>\n   {html.escape(box.text)}\n  </{tag}>")
        out.append("</tr></thead>" if row == sheet.heads - 1 else "</tr>")
    return "\n".join([*out, "</tbody></table>", "after"])


def drawn(sheet: Sheet) -> str:
    """A table of reStructuredText drawn with plus signs."""
    wide = 9
    canvas = [[" "] * (sheet.width * wide + 1) for _ in range(sheet.height * 2 + 1)]
    for box in sheet.boxes:
        top, bottom = box.row * 2, (box.row + box.rows) * 2
        left, right = box.column * wide, (box.column + box.columns) * wide
        for x in range(left, right + 1):
            for y in (top, bottom):
                canvas[y][x] = "+" if canvas[y][x] in "|+" else "-"
        for y in range(top, bottom + 1):
            for x in (left, right):
                canvas[y][x] = "+" if canvas[y][x] in "-+" else "|"
        canvas[top + 1][left + 2 : left + 2 + len(box.text)] = box.text
    rule = canvas[sheet.heads * 2]
    canvas[sheet.heads * 2] = ["=" if c == "-" else c for c in rule]
    return "\n".join(["Words.", "", *("".join(row) for row in canvas), "", "Words."])


def simple(sheet: Sheet) -> str:
    rule = "  ".join(["=" * 8] * sheet.width)
    out = ["Words.", "", rule]
    for row in range(sheet.height):
        out.append("  ".join(f"{sheet.at(row, c).text:8}" for c in range(sheet.width)).rstrip())
        if row == sheet.heads - 1:
            out.append(rule)
    return "\n".join([*out, rule, "", "Words."])


def listed(sheet: Sheet) -> str:
    """A list of lists of reStructuredText."""
    out = ["Words.", "", ".. list-table:: A title", f"   :header-rows: {sheet.heads}", ""]
    for row in range(sheet.height):
        for column in range(sheet.width):
            out.append(f"   {'*' if column == 0 else ' '} - {sheet.at(row, column).text}")
    return "\n".join([*out, "", "Words."])


def in_quotes(sheet: Sheet) -> str:
    """Values between commas in a directive of reStructuredText, the header in an option."""
    rows = [", ".join(f'"{cell[0]}"' for cell in row) for row in sheet.laid_out()]
    out = [".. csv-table:: A title", f"   :header: {rows[0]}", "", *(f"   {r}" for r in rows[1:])]
    return "\n".join(["Words.", "", *out, "", "Words."])


def aligned(sheet: Sheet, *, right: bool, index: bool) -> str:
    """Columns of plain text, their sides flush, as data frames are printed."""
    wide = 11
    out = []
    for row in range(sheet.height):
        texts = [
            f"{sheet.at(row, c).text:{'>' if right else '<'}{wide}}" for c in range(sheet.width)
        ]
        lead = f"{row - 1 if row else '':<5}" if index else ""
        out.append((lead + "  ".join(texts)).rstrip())
    return "\n".join(["Some words.", "", *out, "", "Some words."])


@st.composite
def measured_sheets(draw: st.DrawFn) -> Sheet:
    """Rows of numbers below labels with their units."""
    height, width = 1 + draw(st.integers(2, 5)), draw(st.integers(3, 5))
    labels = draw(st.permutations(["nodes", "step (s)", "TFLOP/s", "mem (GB)", "x y"]))[:width]
    if not any(label in ("step (s)", "TFLOP/s") for label in labels):
        labels[0] = "step (s)"
    number = st.from_regex(r"[1-9][0-9]{0,4}(\.[0-9]{1,2})?", fullmatch=True)
    boxes = [Box(0, c, 1, 1, label) for c, label in enumerate(labels)]
    boxes += [Box(r, c, 1, 1, draw(number)) for r in range(1, height) for c in range(width)]
    return Sheet(height, width, 1, tuple(boxes))


def in_markdown(sheet: Sheet) -> str:
    rows = [
        "| " + " | ".join(sheet.at(r, c).text for c in range(sheet.width)) + " |"
        for r in range(sheet.height)
    ]
    rows.insert(1, "|---" * sheet.width + "|")
    return "\n".join(["Words.", "", *rows, "", "Words."])


def separated(separator: str) -> Callable[[Sheet], str]:
    def write(sheet: Sheet) -> str:
        held = io.StringIO()
        writer = csv.writer(held, delimiter=separator, lineterminator="\n")
        writer.writerows([cell[0] for cell in row] for row in sheet.laid_out())
        return held.getvalue()

    return write


@given(sheets())
def test_html_is_read_as_it_was_written(sheet: Sheet) -> None:
    text = in_html(sheet)
    same(read(text, "a.md"), sheet)
    places(read(text, "a.md"), text)


@given(sheets())
def test_drawn_tables_are_read_as_they_were_written(sheet: Sheet) -> None:
    text = drawn(sheet)
    same(read(text, "a.rst"), sheet)
    places(read(text, "a.rst"), text)


@given(sheets(spans=False))
def test_simple_tables_are_read_as_they_were_written(sheet: Sheet) -> None:
    text = simple(sheet)
    same(read(text, "a.rst"), sheet)
    places(read(text, "a.rst"), text)


@given(sheets(spans=False))
def test_lists_of_lists_are_read_as_they_were_written(sheet: Sheet) -> None:
    text = listed(sheet)
    same(read(text, "a.rst"), sheet)
    places(read(text, "a.rst"), text)


@given(sheets(spans=False, heads=1))
def test_values_in_a_directive_are_read_as_they_were_written(sheet: Sheet) -> None:
    same(read(in_quotes(sheet), "a.rst"), sheet)


@pytest.mark.parametrize("right", [True, False])
@given(sheet=measured_sheets())
@settings(max_examples=examples(50))
def test_columns_of_plain_text_are_read_as_they_were_written(right: bool, sheet: Sheet) -> None:
    text = aligned(sheet, right=right, index=False)
    same(read(text, "a.txt"), sheet)
    places(read(text, "a.txt"), text)


@given(measured_sheets())
def test_the_index_of_a_data_frame_has_no_label(sheet: Sheet) -> None:
    grid = read(aligned(sheet, right=True, index=True), "a.txt")
    assert grid.header()[0] == ""
    laid = [[cell[0] for cell in row] for row in sheet.laid_out()]
    assert [[cell.text for cell in row.cells[1:]] for row in (*grid.heads, *grid.rows)] == laid


@given(sheets(spans=False, heads=1))
def test_markdown_is_read_as_it_was_written(sheet: Sheet) -> None:
    text = in_markdown(sheet)
    same(read(text, "a.md"), sheet)
    places(read(text, "a.md"), text)


@pytest.mark.parametrize(("separator", "name"), [(",", "a.csv"), ("\t", "a.tsv"), (";", "a.csv")])
@given(sheet=sheets(spans=False, heads=1))
@settings(max_examples=examples(50))
def test_separated_values_are_read_as_they_were_written(
    separator: str, name: str, sheet: Sheet
) -> None:
    text = separated(separator)(sheet)
    same(read(text, name), sheet)


@given(sheets(spans=False, heads=1))
def test_cells_of_notebooks_are_read_as_they_were_written(sheet: Sheet) -> None:
    lines = [line + "\n" for line in in_markdown(sheet).split("\n")]
    cell = {"cell_type": "markdown", "metadata": {}, "source": lines}
    code = {"cell_type": "code", "outputs": [], "source": ["print('| a | b |')\n", "|---|---|\n"]}
    text = json.dumps({"cells": [code, cell], "nbformat": 4}, indent=1, ensure_ascii=False)
    shown = markdown_cells(numbered(text))
    (grid,) = grids(shown, "a.ipynb")
    same(grid, sheet)
    for row in grid.rows:
        assert row.cells[0].text in text.split("\n")[row.line.number - 1]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("key", [None, "runs"])
@given(sheet=sheets(spans=False, heads=1))
@settings(max_examples=examples(40))
def test_json_objects_are_read_as_they_were_written(
    key: str | None, indent: int | None, sheet: Sheet
) -> None:
    head, *rows = [[cell[0] for cell in row] for row in sheet.laid_out()]
    labels = [f"{text} {at}" for at, text in enumerate(head)]
    objects = [dict(zip(labels, row, strict=True)) for row in rows]
    held = objects if key is None else {"machine": "x", "at": {"n": 1}, key: objects, "z": [1]}
    text = json.dumps(held, indent=indent, ensure_ascii=False)
    grid = read(text, "a.json")
    assert grid.header() == tuple(labels)
    assert [[cell.text for cell in row.cells] for row in grid.rows] == rows
    lines = text.split("\n")
    for row in grid.rows:
        for cell in row.cells:  # behind the quote that JSON puts before it
            assert lines[cell.line - 1][cell.column :].startswith(json.dumps(cell.text,
                   ensure_ascii=False)[1:-1])  # fmt: skip


def test_numbers_of_json_keep_their_digits_and_objects_inside_are_flattened() -> None:
    text = '[{"a": {"tp": 2, "x": null}, "t": 1.50}, {"t": 1e-3, "b": true}]'
    grid = read(text, "a.json")
    assert grid.header() == ("a.tp", "a.x", "t", "b")
    cells = [[cell.text for cell in row.cells] for row in grid.rows]
    assert cells == [["2", "", "1.50", ""], ["", "", "1e-3", "True"]]


def test_a_header_in_two_lines_of_plain_text() -> None:
    head = "x\n\n          Time/step    Mem\nConfig    (ms)         (GB)\n"
    text = head + "fsdp a    1.5          7\ntp b      2.5          8\n"
    grid = read(text, "a.txt")
    assert grid.header() == ("Config", "Time/step (ms)", "Mem (GB)")


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("<!--\n| a | b |\n|---|---|\n| 1 | 2 |\n-->", "commented"),
        ("<!-- <table><tr><th>a<th>b<tr><td>1<td>2</table> -->", ""),
        ("<!--\n<table><tr><th>a<th>b<tr><td>1<td>2</table>\n-->", "commented"),
        ("<!-- x -->\n| a | b |\n|---|---|\n| 1 | 2 |", ""),
    ],
)
def test_what_is_commented_out_is_marked(text: str, remark: str) -> None:
    if text.startswith("<!-- <"):
        remark = "commented"
    assert read(text, "a.md").remark == remark


def test_a_nested_table_is_no_text_of_the_cell_around_it() -> None:
    inner = "<table><tr><th>c<tr><td>7</table>"
    text = f"<table><tr><th>a<th>b<tr><td>1 {inner}<td>2</table>"
    outer, nested = grids(numbered(text), "a.html")
    assert [cell.text for cell in outer.rows[0].cells] == ["1", "2"]
    assert (nested.remark, nested.rows[0].cells[0].text) == ("nested", "7")


def test_rows_of_html_on_one_line_stand_apart() -> None:
    row = "<tr><td>{}<td>7</tr>"
    text = "<table><tr><th>a<th>b</tr>" + row.format(1) + row.format(2) + "</table>"
    lines = numbered(f"{text} {text}\n")
    rows = [row for grid in grids(lines, "a.html") for row in (*grid.heads, *grid.rows)]
    places = [row.line.column for row in rows]
    assert len(set(places)) == len(rows) == 6
    assert places[0] == 1  # the first is that of its line
    assert all(lines[0].text[at - 1 :].startswith("<tr>") for at in places[1:])


def test_objects_that_share_few_keys_are_no_table() -> None:
    """As a grid they would have a place for each key of each other."""
    apart = "\n".join(json.dumps({f"k{at}": {"loss": at}}) for at in range(2000))
    alike = "\n".join(json.dumps({"a": at, f"k{at % 40}": at}) for at in range(2000))
    assert list(grids(numbered(apart), "a.json")) == []
    assert read(alike, "a.json").width == 41


def test_a_quoted_cell_may_hold_line_ends_and_separators() -> None:
    text = 'run,"note, long",ms\n1,"a\nb",2\n2,"c ""d""",3\n'
    grid = read(text, "a.csv")
    assert grid.header() == ("run", "note, long", "ms")
    assert [[c.text for c in row.cells] for row in grid.rows] == [
        ["1", "a\nb", "2"],
        ["2", 'c "d"', "3"],
    ]
    assert [row.line.number for row in grid.rows] == [2, 4]


def test_footnotes_breaks_and_entities_of_html() -> None:
    text = "<table><tr><th>TFLOPs<sup>1</sup><th>a<br>b<tr><td>&nbsp;5 &lt; 6<td>x</table>"
    grid = read(text, "a.md")
    assert grid.header() == ("TFLOPs", "a b")
    assert grid.rows[0].cells[0].text == "5 < 6"


@given(st.text('[]{}":,1.e \n\\a', max_size=60))
@settings(max_examples=examples(300))
def test_no_json_makes_an_adapter_fail(text: str) -> None:
    for grid in grids(numbered(text), "a.json"):
        assert 0 <= grid.begin < grid.end <= len(numbered(text))


@given(st.text("<table>trdh/|-+= \n!,;1a", max_size=200))
@settings(max_examples=examples(300))
def test_no_text_makes_an_adapter_fail(text: str) -> None:
    for name in ("a.md", "a.csv", "a.rst", "a.json"):
        for grid in grids(numbered(text), name):
            assert 0 <= grid.begin < grid.end <= len(numbered(text))
