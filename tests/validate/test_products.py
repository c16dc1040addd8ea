"""Measured products end to end: read, predicted, scored."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from assay.validate.score.assess import Report, assess

from tests.conftest import FIXTURES

ROOFLINE = {"A100-80g": 29.1, "H100": 28.8, "H200": 24.6, "B200": 40.5}
"""Error of the datasheet roofline on large products in percent, one half of the (n, k) pairs."""


def large(found: Report, model: str) -> pl.DataFrame:
    shapes = found.cases.gemm.select("case", "machine", "m", "n", "k")
    pairs = found.scored.filter(pl.col("model") == model).join(shapes, on="case")
    return pairs.filter((pl.col("m") >= 512) & (pl.col("n") >= 1024) & (pl.col("k") >= 1024))


def test_every_measured_product_is_scored(corpus: Path) -> None:
    found = assess(
        (corpus / "measured").glob("gemm_*.csv"),
        machine="A100-80g",
        models=["roofline", "b3_fitted"],
    )
    assert sum(a.claimed for a in found.outcome.reading.accounting) == 20_004
    assert not found.outcome.reading.refused
    counts = dict(found.scores.accuracy.select("model", "n").iter_rows())
    assert counts == {"roofline": 20_000, "b3_fitted": 20_000}
    error = large(found, "roofline").group_by("machine").agg(pl.len(), pl.col("error").abs().mean())
    for machine, rows, mean in error.iter_rows():
        assert rows == 1594
        assert 100.0 * mean == pytest.approx(ROOFLINE[machine], abs=1.5)
    three = large(found, "b3_fitted").group_by("machine").agg(pl.col("error").abs().mean())
    assert all(mean < 0.12 for _, mean in three.iter_rows())


def test_a_fit_never_sees_the_row_it_predicts(tmp_path: Path) -> None:
    """Times of one weight shape, trebled, move predictions of other shapes and not its own."""
    table = pl.read_csv(FIXTURES / "gemm_table" / "h100_bf16.csv")
    n, k = table.select("n", "k").row(0)
    mine = (pl.col("n") == n) & (pl.col("k") == k)
    slower = table.with_columns(pl.when(mine).then(pl.col("t_us") * 3).otherwise("t_us"))
    predicted = []
    for name, rows in (("same", table), ("slower", slower)):
        path = tmp_path / name / "a.csv"
        path.parent.mkdir()
        rows.write_csv(path)
        found = assess([path], models=["b3_fitted"])
        shapes = found.cases.gemm.select("case", "n", "k")
        predicted.append(found.scored.join(shapes, on="case").sort("line"))
    own, other = (
        [part.filter(keep)["predicted"].to_list() for part in predicted] for keep in (mine, ~mine)
    )
    assert len(own[0]) > 10
    assert own[0] == own[1]
    assert other[0] != other[1]


def test_products_of_an_unknown_machine_say_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("gpu,dtype,m,n,k,t_us\nA100,bf16,512,512,512,9\n")
    found = assess([tmp_path / "a.csv"])
    assert found.comparison.unpredicted.height == 1
    assert "A100-40g or A100-80g" in found.cases.unresolved["A100"]
    stated = assess([tmp_path / "a.csv"], machine="A100-80g")
    assert stated.cases.gemm["machine"].to_list() == ["A100-80g"]
    other = assess([tmp_path / "a.csv"], machine="H100")
    assert other.cases.gemm["machine"].to_list() == [None], "what is printed is not overruled"


def test_a_product_that_prints_its_rate_alone_is_scored_as_a_rate(tmp_path: Path) -> None:
    log = tmp_path / "gemm.log"
    log.write_text("4096x4096x4096 bf16 700.0 TFLOPS\n")
    found = assess([log], machine="H100", models=["roofline", "stack"])
    rows = {row["model"]: row for row in found.scored.iter_rows(named=True)}
    assert {row["quantity"] for row in rows.values()} == {"flops_rate"}
    assert rows["roofline"]["predicted"] == pytest.approx(989e12)  # bound by arithmetic
    assert abs(rows["stack"]["error"]) < 0.15
    held = rows["stack"]
    assert held["predicted_low"] <= held["predicted"] <= held["predicted_high"]
