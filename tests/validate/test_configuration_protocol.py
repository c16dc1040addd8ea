"""Baselines on the measured step times: near the figures that others found with the same rows."""

import numpy as np
import polars as pl
import pytest
from assay.model.step.baselines import constant_mfu, fit_share, roofline

from tests.studies import configuration
from tests.studies.anchors import anchors


@pytest.fixture(scope="module")
def figures():
    return {entry.name: entry for entry in configuration.entries()}


@pytest.mark.parametrize(
    ("name", "value", "within"),
    [
        ("baseline.constant_mfu.peak", 61.4, 0.1),
        ("baseline.constant_mfu.halves", 12.8, 0.5),
        ("baseline.roofline.peak", 39.8, 6.0),
        ("baseline.roofline.halves", 14.2, 1.0),
        ("baseline.calculon.published", 36.4, 0.1),
        ("baseline.calculon_network.published", 31.7, 0.1),
        ("baseline.calculon.halves", 12.1, 0.6),
        ("baseline.llm_analysis.published", 16.4, 0.1),
        ("baseline.llm_analysis.halves", 13.0, 2.0),
    ],
)
def test_near_the_known_figures(figures, name, value, within):
    assert figures[name].value == pytest.approx(value, abs=within)
    assert figures[name].n == 85
    assert figures[name].low < figures[name].value < figures[name].high


def test_sets_to_decide_on(figures):
    assert figures["baseline.roofline.peak.regret"].n == 12


def test_names_are_unique():
    names = [entry.name for entry in configuration.entries()]
    assert len(set(names)) == len(names)


def test_the_anchors_are_whole():
    rows = anchors()
    assert (rows.height, rows["group"].n_unique(), rows["case"].n_unique()) == (85, 25, 85)
    assert (rows["gpus"] == rows["tp"] * rows["pp"] * rows["dp"]).all()
    assert rows.null_count().sum_horizontal().item() == 0


def test_bounds_are_bounds():
    """No measured step is faster than the roofline, nor the roofline than its operations."""
    rows = anchors()
    for model in (constant_mfu, roofline):
        times = rows.join(model(rows), on="case")
        assert times.height == 85
        assert (times["value"] < times["step_time"]).all()
    both = constant_mfu(rows).join(roofline(rows), on="case")
    assert (both["value"] < both["value_right"]).all()


def test_a_row_without_its_facts_has_no_prediction():
    rows = anchors().head(4)
    for column, value in (("machine", "abacus"), ("dtype", None), ("heads", None)):
        changed = rows.with_columns(pl.lit(value, rows.schema[column]).alias(column))
        assert roofline(changed).is_empty()
    assert roofline(rows.with_columns(tp=7)).is_empty()
    assert constant_mfu(rows.with_columns(vocab=None)).is_empty()


def test_recompute_orders_the_work():
    rows = pl.concat([anchors().head(1)] * 3).with_columns(
        recompute=pl.Series(["none", "selective", "full"]), case=pl.Series(["a", "b", "c"])
    )
    for model in (constant_mfu, roofline):
        assert model(rows)["value"].is_sorted()
        assert model(rows)["value"].n_unique() == 3


def test_share_scales_the_bound():
    rows = anchors()
    half = roofline(rows, share=0.5)["value"].to_numpy()
    full = roofline(rows)["value"].to_numpy()
    np.testing.assert_allclose(half, 2 * full)
    assert fit_share(full, half) == pytest.approx(0.5)
