"""Observations, the one join, accuracy, and predictions from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.paths import inputs
from assay.ingest.inputs.read import read
from assay.model.frames import KEY, predictions
from assay.validate.cases.observe import OBSERVATION, about, observe
from assay.validate.predict.predictions import Unjoinable
from assay.validate.score.accuracy import interval, score, scored
from assay.validate.score.assess import assess
from assay.validate.score.join import compare
from assay.validate.score.statistics import bootstrap

from tests.conftest import FIXTURES

GEMMS = "gpu,dtype,b,m,n,k,t_us\nH100,bf16,1,4096,4096,4096,250.5\nH100,bf16,2,512,512,512,9\n"


def observed(path: Path) -> pl.DataFrame:
    return observe(read([path]).reading, about(FORMATS))


def test_a_product_is_observed_with_its_interval(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(GEMMS)
    found = observed(tmp_path / "a.csv")
    assert dict(found.schema) == OBSERVATION
    row = found.row(0, named=True)
    assert row["case"] == f"{tmp_path / 'a.csv'}#2"
    assert (row["scope"], row["subject"], row["quantity"]) == ("gemm", "1x4096x4096x4096", "time")
    assert (row["unit"], row["kind"], row["origin"]) == ("s", "decimal", "measured")
    assert row["low"] == pytest.approx(250.45e-6)
    assert row["value"] == pytest.approx(250.5e-6)
    assert row["high"] == pytest.approx(250.55e-6)


def test_outcomes_and_unknowns_are_not_observed() -> None:
    found = observed(FIXTURES / "markdown_table" / "bloom_prequel.md")
    table = found.filter(pl.col("origin") == "published")
    assert table.filter(pl.col("quantity") == "step_time").height == 92
    assert 479 not in table["line"], "OOM"
    assert 450 not in table.filter(pl.col("quantity") == "memory")["line"], "a bare GB"


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_observed_number_lies_in_its_interval(share: int) -> None:
    found = observe(read(inputs([FIXTURES])[::share]).reading, about(FORMATS))
    assert found.filter(~pl.col("value").is_between("low", "high")).is_empty()
    assert found.select(KEY).is_duplicated().sum() == 0


def one(value: float, *, unit: str = "s", case: str = "a#1", model: str = "m") -> pl.DataFrame:
    return predictions(
        pl.DataFrame({"case": [case], "v": [value]}), pl.col("v"), scope="gemm", quantity="time",
        unit=unit, model=model, basis="test",
    )  # fmt: skip


def printed(**values: object) -> pl.DataFrame:
    row = {
        "case": "a#1", "scope": "gemm", "subject": "", "quantity": "time", "value": 2.0, "low": 1.9,
        "high": 2.1, "unit": "s", "kind": "decimal", "origin": "measured",
        "value_origin": "printed", "formula_id": None, "source": "a", "line": 1, "column": 1,
    }  # fmt: skip
    return pl.DataFrame([row | values], schema=OBSERVATION)


def test_both_sides_of_the_join_are_kept() -> None:
    found = compare(
        pl.concat([printed(), printed(case="a#2", line=2)]),
        pl.concat([one(3.0), one(3.0, case="a#9")]),
    )
    assert found.pairs["error"].to_list() == [0.5]
    assert found.unpredicted["case"].to_list() == ["a#2"]
    assert found.unobserved["case"].to_list() == ["a#9"]


def test_units_must_match() -> None:
    with pytest.raises(Unjoinable, match="in ms, observed is s"):
        compare(printed(), one(3.0, unit="ms"))


def test_a_model_predicts_a_number_once() -> None:
    with pytest.raises(Unjoinable, match="more than once"):
        compare(printed(), pl.concat([one(3.0), one(4.0)]))


def test_consumed_numbers_and_identities_are_not_scored() -> None:
    used = one(3.0).with_columns(inputs=pl.lit(["time"], dtype=pl.List(pl.String)))
    nothing = pl.DataFrame(schema={"case": pl.String, "quantity": pl.String})
    none = pl.Series([], dtype=pl.String)
    pairs = compare(printed(), used).pairs
    assert scored(pairs, nothing, identities=none).is_empty()
    pairs = compare(printed(), one(3.0, model="law")).pairs
    assert scored(pairs, nothing, identities=pl.Series(["law"])).is_empty()
    assert scored(pairs, nothing, identities=none).height == 1


def test_estimates_have_a_list_of_their_own() -> None:
    rows = pl.concat([printed(), printed(case="a#2", line=2, origin="estimated")])
    pairs = compare(rows, pl.concat([one(3.0), one(2.05, case="a#2")])).pairs
    groups = pl.DataFrame({"case": ["a#1", "a#2"], "group": ["g", "g"]})
    found = score(pairs, groups)
    assert found.accuracy["origin"].to_list() == ["measured"]
    assert found.agreement["origin"].to_list() == ["estimated"]
    assert found.agreement["explained_by_rounding"].to_list() == [1.0]
    assert found.accuracy["explained_by_rounding"].to_list() == [0.0]
    assert found.accuracy["worst_at"].to_list() == ["a:1"]


def test_the_interval_is_that_of_the_protocol() -> None:
    random = np.random.default_rng(7)
    error = random.normal(size=60)
    groups = np.array([f"g{i % 7}" for i in range(60)])
    assert interval(np.abs(error), groups, np.ones(60)) == pytest.approx(bootstrap(error, groups))


# --- predictions from a file


def with_file(folder: Path, text: str) -> pl.DataFrame:
    (folder / "a.csv").write_text(GEMMS)
    (folder / "mine.csv").write_text(text)
    found = assess([folder / "a.csv"], predictions=folder / "mine.csv", models=["roofline"])
    return found.scores.accuracy.filter(pl.col("model").is_in(["mine", "oracle"]))


def test_predictions_by_case(tmp_path: Path) -> None:
    rows = with_file(
        tmp_path,
        "case,scope,subject,quantity,value,unit,model\n"
        f"{tmp_path}/a.csv#2,gemm,1x4096x4096x4096,time,0.000501,s,oracle\n",
    )
    assert rows.select("n", "bias").row(0) == (1, pytest.approx(1.0))


def test_predictions_by_line_or_by_shape(tmp_path: Path) -> None:
    by_line = "source,line,quantity,value,unit\na.csv,2,time,0.000501,s\na.csv,3,time,9e-6,s\n"
    assert with_file(tmp_path, by_line)["n"].to_list() == [2]
    by_shape = "m,n,k,quantity,value,unit\n512,512,512,time,9e-6,s\n"
    assert with_file(tmp_path, by_shape)["mape"].to_list() == pytest.approx([0.0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("line,value\n2,1\n", "lack the column"),
        ("quantity,value,unit\ntime,1,s\n", "singles a case out"),
        ("gpu_count,quantity,value,unit\n1,time,1,s\n", "singles a case out"),
        ("line,quantity,value,unit\n7,time,1,s\n", "line=7 fits no case"),
        ("machine,quantity,value,unit\nH100,time,1,s\n", "fits 2 cases"),
        ("line,quantity,value,unit\n2,time,1,ms\n", "in ms, observed is s"),
        ("line,quantity,value,unit\n2,time,1,s\n2,time,2,s\n", "more than once"),
        ("line,quantity,value,unit\n2,time,soon,s\n", "column 'value'"),
        ("line,quantity,value,unit\n2,time,nan,s\n", "no finite number"),
        ("line,quantity,value,unit\n2,time,,s\n", "no finite number"),
    ],
)
def test_predictions_that_cannot_be_joined(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Unjoinable, match=said):
        with_file(tmp_path, text)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(GEMMS)
    with pytest.raises(Unjoinable, match="cannot be read"):
        assess([tmp_path / "a.csv"], predictions=tmp_path / "missing.parquet")


def test_parquet_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(GEMMS)
    frame = pl.DataFrame({"line": [2], "quantity": ["time"], "value": [5e-4], "unit": ["s"]})
    frame.write_parquet(tmp_path / "mine.parquet")
    found = assess([tmp_path / "a.csv"], predictions=tmp_path / "mine.parquet")
    assert "mine" in set(found.scores.accuracy["model"])


def test_published_tools_are_scored_beside_ours(tmp_path: Path) -> None:
    """The anchors' predictions of another tool, joined by line, give what the anchors give."""
    anchors = pl.read_csv(FIXTURES / "anchors" / "step_time_predictions.csv")
    anchors.select(
        "line", quantity=pl.lit("step_time"), value="calculon_stock_s", unit=pl.lit("s")
    ).write_csv(tmp_path / "calculon.csv")
    found = assess(
        [FIXTURES / "markdown_table" / "bloom_prequel.md"],
        predictions=tmp_path / "calculon.csv",
        models=["constant_mfu"],
    )
    pairs = found.scored.filter(pl.col("model") == "calculon")
    expected = anchors.join(pairs, on="line", how="semi").select(
        (pl.col("calculon_stock_s") / pl.col("measured_s") - 1.0).abs().mean()
    )
    assert pairs.height == 81, "85 less the four rows that contradict themselves"
    assert pairs.select(pl.col("error").abs().mean()).item() == pytest.approx(expected.item())
