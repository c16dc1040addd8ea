"""Decisions by elimination: exact oracles for a handful of rows, and properties of drawn ones."""

from __future__ import annotations

import numpy as np
import pytest
from assay.validate.cases.search import (
    Candidate,
    Clue,
    Spoken,
    decide,
    decide_by,
    readings,
)
from hypothesis import given
from hypothesis import strategies as st

BOUNDS = (64.0, 2.0**20)

POWERS = [Candidate(2.0**power, "a power of two") for power in range(7, 20)]


def clue(truth: float, rows: list[float], width: float, law: str = "law") -> Clue:
    """Rows that leave `truth`, each within `width` of it, off by a share of that."""
    middle = truth * (1 + width * np.array(rows) / 2.5)
    return Clue(law, np.array([[middle * (1 - width / 2), middle * (1 + width / 2)]]))


def test_one_of_two_statements_is_left() -> None:
    stated = [Candidate(8192, "line 21"), Candidate(4096, "line 139")]
    found = decide(stated, [clue(4096, [0.3, -0.9, 0.8], 1e-4)], BOUNDS)
    assert found.value == 4096
    assert found.contradicts(8192)
    assert [each.candidate.origin for each in found.eliminated] == ["line 21"]


def test_a_single_row_decides_nothing_nor_do_its_copies() -> None:
    stated = [Candidate(8192, "line 21"), Candidate(4096, "line 139")]
    for rows in ([0.3], [0.3, 0.3, 0.3]):
        found = decide(stated, [clue(4096, rows, 1e-6)], BOUNDS)
        assert found.value is None
        assert [each.value for each in found.survivors] == [4096]


def test_coarse_numbers_decide_nothing() -> None:
    found = decide(POWERS, [clue(4096, [0.3, -0.9, 0.8], 1e-2)], BOUNDS)
    assert found.value is None
    assert [each.value for each in found.survivors] == [4096]
    assert found.chance > 1e-4


def test_one_row_in_eight_may_be_wrong() -> None:
    rows = clue(4096, [0.1 * n for n in range(8)], 1e-6)
    rows.windows[:, :, 3] *= 2
    assert decide(POWERS, [rows], BOUNDS).value == 4096


def test_two_readings_leave_it_open() -> None:
    window = clue(4096, [0.3, -0.9, 0.8], 1e-6).windows
    either = Clue("rate", np.concatenate([window, window * 8]))  # of the job, per GPU
    found = decide(POWERS, [either], BOUNDS)
    assert found.value is None
    assert {each.value for each in found.survivors} == {4096, 32768}


def test_every_relation_must_leave_it() -> None:
    one = clue(4096, [0.3, -0.9], 1e-6, "one")
    other = clue(2048, [0.3, -0.9], 1e-6, "other")
    found = decide(POWERS, [one, other], BOUNDS)
    assert found.value is None
    assert found.survivors == ()


@given(
    st.integers(min_value=70, max_value=2**20),
    st.lists(st.floats(-1, 1), min_size=2, max_size=9),
    st.sampled_from([1e-6, 1e-5, 1e-4, 1e-3, 1e-2]),
)
def test_nothing_is_decided_wrongly(truth: int, rows: list[float], width: float) -> None:
    """None, or what no row tells from the truth, which need not be one of the candidates."""
    found = decide(POWERS, [clue(truth, rows, width)], BOUNDS)
    assert found.value is None or abs(found.value / truth - 1) <= width


@pytest.mark.parametrize("seed", range(40))
def test_others_are_asked_where_no_candidate_is_left(seed: int) -> None:
    """A decision with others is the one without, or one between all where only others are left."""
    drawn = np.random.default_rng(seed)
    true = drawn.choice([512, 640, 1024])
    middle = (
        true * drawn.choice([1.0, 1.0, 8.0], (3, 1, 4)) * drawn.uniform(0.999, 1.001, (3, 1, 4))
    )
    windows = np.concatenate([middle * 0.999, middle * 1.001], axis=1)
    windows[drawn.random((3, 2, 4)) < 0.2] = np.nan
    clues = [Clue("a", windows[:2]), Clue("b", windows[2:])]
    stated = [Candidate(640, "line 1"), Candidate(700, "line 2")][: drawn.integers(3)]
    others = [Candidate(512, "usual"), Candidate(1024, "usual")]
    alone = decide(stated, clues, (64, 2**20))
    both = decide([*stated, *others], clues, (64, 2**20))
    left = alone.survivors or not both.survivors
    told = readings(clues)
    assert decide_by(told, stated, (64, 2**20), otherwise=others) == (alone if left else both)
    for each in [*stated, *others]:
        (against,) = Spoken.of(clues).contradicts(np.full(4, each.value), np.array([0]))
        assert against == decide([each], clues, (64, 2**20)).contradicts(each.value)
        assert against == both.contradicts(each.value)


@pytest.mark.parametrize("seed", range(20))
def test_each_of_several_groups_eliminates_its_own_value(seed: int) -> None:
    """Groups that are asked together say of their values, and leave, what each says alone."""
    drawn = np.random.default_rng(seed)
    middle = (
        512.0 * drawn.choice([1.0, 1.0, 2.0], (4, 1, 9)) * drawn.integers(9, 12, (4, 1, 9)) / 10
    )
    windows = np.concatenate([middle * 0.95, middle * 1.05], axis=1)
    windows[:, :, drawn.integers(9, size=3)] = windows[:, :, :3]  # copies
    windows[drawn.random((4, 2, 9)) < 0.3] = np.nan
    clues = [Clue("a", windows[:1]), Clue("b", windows[1:])]
    starts, spoken = np.array([0, 1, 5]), Spoken.of(clues)
    values = drawn.choice([512.0, 1024.0, 460.8], 3)
    against = spoken.contradicts(np.repeat(values, [1, 4, 4]), starts)
    for begin, end, value, gone in zip(starts, [1, 5, 9], values, against, strict=True):
        own = [Clue(each.law, each.windows[:, :, begin:end]) for each in clues]
        one = [Candidate(value, "line 1")]
        assert gone == decide(one, own, (64, 2**20)).contradicts(value)
        told = spoken.over(slice(int(begin), int(end)))
        assert decide_by(told, POWERS, (64, 2**20)) == decide(POWERS, own, (64, 2**20))
