"""The report as a page: whole, self-contained, accessible, the same bytes for the same input."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import polars as pl
import pytest
from assay.validate.report.html import charts, coverage, efficiency, errors, page, step_plots, svg
from assay.validate.report.html.plots import first_rows, short_names, thinned
from assay.validate.runs.run import runs
from assay.validate.score.assess import Report
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Ran

DRAWN = pytest.mark.skipif(not svg.available(), reason=svg.MISSING)
PARTS = ["run", "runs", "breakdown", "summary", "predicted", "errors", "efficiency", "coverage",
         "findings", "accuracy", "agreement", "arithmetic", "again"]  # fmt: skip
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Tree(HTMLParser):
    """Elements in order, with what they stand in; complains of what is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None], tuple[str, ...]]] = []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes, _ in self.found if name == tag]


@pytest.fixture(scope="module")
def text(small: Report) -> str:
    return page.render(small, ["assay", "report", "a b.md"])


@pytest.fixture(scope="module")
def tree(text: str) -> Tree:
    return Tree(text)


def test_parts_come_in_the_order_a_reader_wants(tree: Tree) -> None:
    assert [section["id"] for section in tree.all("section")] == PARTS
    assert [link["href"] for link in tree.all("a")] == [f"#{name}" for name in PARTS]


def test_the_page_loads_nothing_and_runs_nothing(text: str, tree: Tree) -> None:
    (policy,) = (m["content"] for m in tree.all("meta") if "http-equiv" in m)
    assert policy is not None
    assert "default-src 'none'; script-src 'none'" in policy
    tags = {tag for tag, _, _ in tree.found}
    assert not tags & {"script", "img", "image", "iframe", "link", "object", "use", "foreignobject"}
    for tag, attributes, _ in tree.found:
        assert not {"src", "srcset", "xlink:href"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        if "href" in attributes:
            assert (tag, str(attributes["href"])[0]) == ("a", "#")
    assert "url(" not in text
    assert "@import" not in text
    assert "http://" not in text


def test_names_stand_once(tree: Tree) -> None:
    ids = [attributes["id"] for _, attributes, _ in tree.found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_tables_have_captions_and_scopes(tree: Tree) -> None:
    assert len(tree.all("caption")) == len(tree.all("table")) > 10
    assert all(head.get("scope") in {"row", "col"} for head in tree.all("th"))
    for tag, attributes, _ in tree.found:
        if tag == "div" and "wide" in str(attributes.get("class")):
            assert attributes["tabindex"] == "0", "what scrolls is reached by keyboard"
            assert attributes["aria-label"]


@DRAWN
def test_every_plot_has_its_table(tree: Tree) -> None:
    drawn = [attributes for tag, attributes, _ in tree.found if tag == "svg"]
    assert len(drawn) == len(tree.all("figure")) == len(tree.all("figcaption")) > 8
    assert all(one["role"] == "img" and one["aria-label"] for one in drawn)
    tables = [stack for tag, _, stack in tree.found if tag == "table" and "figure" in stack]
    assert len(tables) == len(drawn)
    assert all("details" in stack for stack in tables)


@DRAWN
def test_every_point_has_a_tooltip_and_the_colours_of_the_page(small: Report, text: str) -> None:
    gemm = small.scored.filter((pl.col("scope") == "gemm") & (pl.col("quantity") == "time"))
    (plot,) = (one for one in errors.against(small) if one.title.startswith("gemm time"))
    drawing = svg.drawn(plot.chart(), plot.title)
    assert drawing.count("<title>") == gemm.height
    assert not re.findall(r'(?:fill|stroke)="#', text)
    assert re.search(r"<title>roofline: [^<]*h100_bf16\.csv:2\b[^<]*</title>", drawing)


@DRAWN
def test_the_same_report_gives_the_same_bytes(small: Report, text: str) -> None:
    assert page.render(small, ["assay", "report", "a b.md"]) == text


def test_how_to_reproduce_names_command_versions_and_digests(small: Report, text: str) -> None:
    assert "<code>assay report &#x27;a b.md&#x27;</code>" in text
    assert "polars " in text
    for account in small.outcome.reading.accounting:
        assert account.sha256 in text


def test_without_the_extra_the_tables_stand_and_one_line_names_it(
    inputs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    output = tmp_path / "r.html"
    done = Ran(["report", str(inputs[0]), "-o", str(output)])
    assert done.code == 0
    assert [line for line in done.err.splitlines() if "assay[plots]" in line] == [
        f"assay: {svg.MISSING}"
    ]
    plain = output.read_text()
    assert plain.count("assay[plots]") == 1
    bare = Tree(plain)
    assert not bare.all("svg")
    assert not bare.all("figure")
    assert "GEMM efficiency by shape" in plain
    assert len(bare.all("table")) > 6


def test_a_report_of_nothing_is_a_page(small: Report) -> None:
    outcome = replace(small.outcome, reading=replace(small.outcome.reading, accounting=[]))
    empty = {name: getattr(small, name).clear() for name in ("observations", "checks", "scored")}
    tree = Tree(page.render(replace(small, outcome=outcome, findings=[], **empty)))
    assert "summary" in [section["id"] for section in tree.all("section")]


def test_plots_say_what_the_report_says(small: Report) -> None:
    """Oracles: the points of a plot are the scored pairs; parts add up; lines add up."""
    for _, _, pairs in errors.scored(small):
        assert set(pairs["origin"]) <= {"measured", "published"}
    (plot,) = efficiency.efficiency(small)
    first = small.cases.gemm.row(0, named=True)
    time = small.observations.filter(
        (pl.col("case") == first["case"]) & (pl.col("quantity") == "time")
    )["value"][0]
    reached = efficiency._reached(small).row(0, named=True)
    assert reached["share"] == pytest.approx(
        2.0 * first["m"] * first["n"] * first["k"] / time / 989.4e12, rel=1e-3
    )
    assert plot.table.rows
    spent = step_plots._spent(small)
    assert spent.group_by("bar").agg(pl.col("share").sum())["share"].to_list() == pytest.approx(
        [1.0] * spent["bar"].n_unique()
    )
    predicted = small.comparison.pairs.filter(
        (pl.col("model") == "step") & (pl.col("quantity") == "step_time")
    )
    totals = spent.group_by("bar").agg(pl.col("seconds").sum())["seconds"].to_list()
    for value in predicted["predicted"]:
        assert min(abs(value / total - 1.0) for total in totals) < 1e-9
    (lines,) = coverage.lines(small)
    for _, whole, *parts, _ in lines.table.rows:
        assert int(whole.replace(",", "")) == sum(int(n.replace(",", "")) for n in parts)


def test_the_course_of_a_run_has_its_rows(small: Report) -> None:
    found = runs(small.outcome.reading, small.cases)
    plots = step_plots.courses(small, found)
    titles = [plot.title for plot in plots]
    assert [title.partition(" over")[0] for title in titles] == ["Step time", "Loss"]
    assert len(plots[0].table.rows) == found[0].rows


def test_long_courses_are_binned_and_say_so(small: Report) -> None:
    (run,) = runs(small.outcome.reading, small.cases)
    held = pl.DataFrame({"iteration": range(1000), "value": [float(n % 7) for n in range(1000)]})
    plot = step_plots._course(run, held, "Loss", "1")
    assert "A point stands for 5 rows" in plot.about
    assert sum(int(row[1]) for row in plot.table.rows) == 1000
    assert {row[3] for row in plot.table.rows} <= {"0", "1", "2"}


@given(st.integers(1, 5000), st.integers(2, 300))
def test_thinning_keeps_the_ends_and_says_what_it_left_out(height: int, most: int) -> None:
    frame = pl.DataFrame({"x": range(height)})
    kept, said = thinned(frame, "x", most)
    assert kept.height == min(height, most)
    assert (kept["x"][0], kept["x"][-1]) == (0, height - 1)
    assert bool(said) == (height > most)


@given(st.lists(st.text("ab/", min_size=1, max_size=12), min_size=1, unique=True))
def test_short_names_stay_different(names: list[str]) -> None:
    found = short_names(names, 4)
    assert list(found) == names
    assert len(set(found.values())) == len(names)


@given(st.floats(1e-9, 1e9), st.floats(1.01, 1.79))
def test_ticks_between_close_ends_are_even_and_enough(low: float, ratio: float) -> None:
    found = charts.ticks(low, low * ratio)
    assert 1 <= len(found) <= 11
    assert all(low <= value <= low * ratio for value in found)
    between = [after - before for before, after in itertools.pairwise(found)]
    assert between == pytest.approx([between[0]] * len(between) if between else [], rel=1e-6)


@given(st.floats(1e-9, 1e9), st.floats(1.81, 1e6))
def test_ticks_are_round_and_inside(low: float, ratio: float) -> None:
    for value in charts.ticks(low, low * ratio):
        assert low <= value <= low * ratio
        assert f"{value:.1e}"[:3] in {"1.0", "1.5", "2.0", "3.0", "4.0", "5.0", "7.0"}


def test_every_series_has_a_mark_of_its_own() -> None:
    """A hundred users' models are drawn; the first seventy-two by different marks."""
    marks = [(at % len(svg.SERIES), at % len(charts.SHAPES)) for at in range(72)]
    assert len(set(marks)) == 72


@DRAWN
def test_models_are_told_apart(small: Report) -> None:
    (plot,) = (one for one in errors.against(small) if "step_time" in one.title)
    drawing = svg.drawn(plot.chart(), plot.title)
    seen: dict[str, set[tuple[str, str]]] = {}
    for model, path in re.findall(r"<path ([^>]*)><title>(\w+): ", drawing):
        shape = re.search(r' d="([^"]*)"', model)
        colour = re.search(r'stroke="([^"]*)"', model)
        assert shape is not None
        assert colour is not None
        seen.setdefault(path, set()).add((shape[1], colour[1]))
    assert len(seen) > 2
    assert all(len(marks) == 1 for marks in seen.values()), "one mark per model"
    assert len(set.union(*seen.values())) == len(seen), "no two models share one"


def test_tables_of_plots_count_what_they_leave_out() -> None:
    rows = [[str(n), "x"] for n in range(10)]
    assert first_rows(rows, 10) == rows
    assert first_rows(rows, 4)[-1] == ["… 6 more in the JSON report", ""]


def contrast(one: str, other: str) -> float:
    """Ratio of luminances, WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        line = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_colours_have_the_contrast_that_reading_needs(scheme: str) -> None:
    style = files("assay.validate.report.html").joinpath("style.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    found = dict(re.findall(r"--([a-z0-9]+): (#[0-9a-f]{6})",
                            blocks[["light", "dark", "print"].index(scheme)]))  # fmt: skip
    assert set(svg.COLOURS) <= found.keys()
    for ground in (found["paper"], found["raised"]):
        for name in ("ink", "soft", "link"):
            assert contrast(found[name], ground) >= 4.5, name
    for name in svg.SERIES:  # text in bars is paper on them
        assert contrast(found[name], found["paper"]) >= 4.5, name
