"""An input that is given twice, or in two versions, is measured once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from assay.validate.score.assess import Report, assess
from polars.testing import assert_frame_equal

from tests.conftest import FIXTURES

PREQUEL = FIXTURES / "markdown_table" / "bloom_prequel.md"
MOSAIC = FIXTURES / "markdown_table" / "mosaic_2022.md"
GEMM = FIXTURES / "gemm_table" / "h100_bf16.csv"
PRODUCTS = 300
"""Rows of it that are enough: models are fitted to all of them."""
FITTED = ("constant_mfu_fitted", "roofline_fitted", "constant_mfu")


def scores(report: Report) -> pl.DataFrame:
    """The figures, without the place of the worst row."""
    return report.scores.accuracy.select(pl.exclude("worst_at"))


@pytest.mark.parametrize(
    ("path", "models"), [(MOSAIC, FITTED), (GEMM, ("b3_fitted", "roofline"))], ids=["table", "csv"]
)
def test_a_copy_changes_no_figure(path: Path, models: tuple[str, ...], tmp_path: Path) -> None:
    first, *others = (tmp_path / f"{name}{path.suffix}" for name in ("a", "b", "c"))
    for copy in (first, *others):
        copy.write_text("".join(path.read_text().splitlines(keepends=True)[: 1 + PRODUCTS]))
    alone = assess([first], machine="A100-80g", models=models)
    thrice = assess([tmp_path], machine="A100-80g", models=models)

    assert alone.scored.height > 50
    assert_frame_equal(thrice.scores.accuracy, alone.scores.accuracy)
    copied = thrice.repeats.filter(how="copy")
    assert set(copied["case"].str.replace("#.*", "")) == {copy.as_posix() for copy in others}
    assert set(copied["of"].str.replace("#.*", "")) == {first.as_posix()}


def test_an_older_table_of_products_changes_no_figure(tmp_path: Path) -> None:
    lines = GEMM.read_text().splitlines(keepends=True)[: 1 + PRODUCTS]
    (tmp_path / "new.csv").write_text("".join(lines))
    models = ("b3_fitted", "roofline")
    alone = assess([tmp_path], models=models)
    width = (pl.col("high") - pl.col("low")) / pl.col("value")
    fine = alone.observations.filter(width <= 2e-3)["line"].to_list()[:100]
    (tmp_path / "old.csv").write_text("".join([lines[0], *(lines[at - 1] for at in fine)]))
    both = assess([tmp_path], models=models)

    assert both.repeats.height == 100
    assert_frame_equal(scores(both), scores(alone))


def test_a_side_file_that_says_otherwise_makes_another_measurement(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(table("4096 | 32 | 64 | 512 | 4 | 2 | 12.345"))
    assert not assess([tmp_path], models=FITTED).repeats.filter(how="copy").is_empty()
    for name, gpu in (("a", "A100-80g"), ("b", "H100")):
        (tmp_path / f"{name}.toml").write_text(f'[configuration]\ngpu = "{gpu}"\n')
    assert assess([tmp_path], models=FITTED).repeats.filter(how="copy").is_empty()


def test_an_older_version_of_a_document_changes_no_figure(tmp_path: Path) -> None:
    text = MOSAIC.read_text()
    lines = text.splitlines(keepends=True)
    (tmp_path / "new.md").write_text(text)
    alone = assess([tmp_path], machine="A100-80g", models=FITTED)
    (tmp_path / "old.md").write_text("An older one.\n\n" + "".join(lines[: len(lines) * 2 // 3]))
    both = assess([tmp_path], machine="A100-80g", models=FITTED)

    assert both.outcome.reading.frames["markdown_table"].height > 120
    assert_frame_equal(scores(both), scores(alone))
    assert set(both.scored["source"]) == {(tmp_path / "new.md").as_posix()}


def table(*rows: str) -> str:
    head = "| Hidden | Layers | GPUs | GBS | TP | PP | Sec/it |\n|--|--|--|--|--|--|--|\n"
    return head + "".join(f"| {row} |\n" for row in rows)


@pytest.mark.parametrize(
    ("other", "repeated"),
    [
        ("4096 | 32 | 64 | 512 | 4 | 2 | 12.345", True),
        ("4096 | 32 | 64 | 512 | 4 | 4 | 12.345", False),  # another layout
        ("4096 | 32 | 64 | 512 | 4 | 2 | 12.346", False),  # another time
        ("4096 | 32 | 64 | 512 |   |   | 12.345", True),  # what it does not say
        ("4096 | 32 |    | 512 | 4 | 2 | 12.345", False),  # on how many, nobody knows
    ],
)
def test_rows_of_two_documents(other: str, repeated: bool, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(table("4096 | 32 | 64 | 512 | 4 | 2 | 12.345"))
    (tmp_path / "b.md").write_text("\n" + table(other))
    found = assess([tmp_path], models=FITTED).repeats
    assert found.rows() == (
        [((tmp_path / "b.md#4").as_posix(), (tmp_path / "a.md#3").as_posix(), "again")]
        if repeated
        else []
    )


def test_coarse_numbers_agree_by_chance(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(table("4096 | 32 | 64 | 512 | 4 | 2 | 12"))
    (tmp_path / "b.md").write_text("\n" + table("4096 | 32 | 64 | 512 | 4 | 2 | 12"))
    assert assess([tmp_path], models=FITTED).repeats.is_empty()


def log(*steps: tuple[int, float, float]) -> str:
    return "".join(
        f" iteration {at:4}/ 900 | elapsed time per iteration (ms): {time} | lm loss: {loss} |\n"
        for at, time, loss in steps
    )


def test_lines_that_several_ranks_print_are_one_measurement(tmp_path: Path) -> None:
    steps = [(at, 1234.5 + at % 3, 9.125 - at / 100) for at in range(1, 41)]
    (tmp_path / "rank0.log").write_text(log(*steps))
    (tmp_path / "rank1.log").write_text("starting\n" + log(*steps[:30]))
    (tmp_path / "run2.log").write_text(log(*((at, time, loss + 1) for at, time, loss in steps)))
    found = assess([tmp_path], models=FITTED).repeats

    assert set(found["how"]) == {"again"}
    assert found["case"].str.replace("#.*", "").unique().to_list() == [
        (tmp_path / "rank1.log").as_posix()
    ]
    assert found.height == 30
    assert (
        dict(found.select("case", "of").iter_rows())[(tmp_path / "rank1.log#2").as_posix()]
        == (tmp_path / "rank0.log#1").as_posix()
    )


def test_laws_and_scores_name_the_same_repeats() -> None:
    report = assess([PREQUEL], machine="A100-80g", models=FITTED)
    for law, how in {"repeat": "again", "exchanged-cells": "exchanged"}.items():
        told = {each.cases[0] for each in report.findings if each.law == law}
        assert told == set(report.repeats.filter(how=how)["case"])
        assert told, law
