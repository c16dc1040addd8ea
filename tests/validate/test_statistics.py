"""Figures of merit against hand-made cases."""

import json

import numpy as np
import pytest
from assay.validate.score import statistics

from tests.studies import entries, splits


def test_scores_of_a_perfect_model():
    observed = np.array([1.0, 2.0, 4.0, 8.0])
    found = statistics.scores(observed, observed, np.array([1, 1, 2, 2]))
    assert found[1:8] == (0, 0, 0, 0, 0, 0, 0)
    assert (found.spearman, found.order) == (1.0, 1.0)


def test_bootstrap_resamples_groups_not_rows():
    error = np.array([0.1] * 50 + [0.3] * 50)
    groups = np.array(["a"] * 50 + ["b"] * 50)
    assert statistics.bootstrap(error, groups) == pytest.approx((0.1, 0.3))
    rows = statistics.bootstrap(error, np.arange(100))
    assert 0.17 < rows[0] < 0.2 < rows[1] < 0.23


def test_bootstrap_of_one_group_is_unknown():
    assert np.isnan(statistics.bootstrap(np.array([0.1, 0.2]), np.array([1, 1]))).all()


def test_bootstrap_is_repeatable():
    error, groups = np.linspace(-1, 1, 30), np.arange(30) // 3
    assert statistics.bootstrap(error, groups) == statistics.bootstrap(error, groups)


def test_order_of_ties_and_near_ties():
    assert np.isnan(statistics.pairwise_order(np.array([1.0, 2.0]), np.array([1.0, 1.02])))
    assert statistics.pairwise_order(np.array([1.0, 1.0]), np.array([1.0, 2.0])) == 0
    assert np.isnan(statistics.spearman(np.array([1.0, 1.0]), np.array([1.0, 2.0])))


def test_splits_share_no_group():
    groups = np.array(list("aabbbccdde"))
    for fit, score in [*splits.leave_one_group_out(groups), *splits.half_splits(groups)]:
        assert (fit ^ score).all()
        assert not set(groups[fit]) & set(groups[score])


def test_held_out_averages_over_splits():
    groups = np.array([0, 1, 2])
    found = splits.held_out(
        splits.leave_one_group_out(groups), lambda fit, score: score[score] * 2.0, rows=3
    )
    assert found.tolist() == [2, 2, 2]


def test_entries_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "build" / "accuracy.json"
    entries.write([entries.Entry("a", 1.5, "%", 3, 1.0, 2.0)], path)
    with pytest.raises(ValueError, match="used twice: b"):
        entries.write([entries.Entry("b", 1, "%", 1)] * 2, path)
    assert json.loads(path.read_text()) == [
        {"name": "a", "value": 1.5, "unit": "%", "n": 3, "low": 1.0, "high": 2.0}
    ]
    assert [each.name for each in path.parent.iterdir()] == ["accuracy.json"]
