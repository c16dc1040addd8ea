"""Tolerances from repeated runs: the promised share of false alarms is kept."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from assay.ingest.inputs.read import read
from assay.ingest.schema.reading import Reading
from assay.validate.golden.tolerances import Spread, factor, robust, rounded_up, spreads

Times = np.ndarray[Any, np.dtype[np.float64]]
LINE = " iteration {i}/ 100 | elapsed time per iteration (s): {t:.3f} | global batch size: 64 |\n"


def runs(folder: Path, times: np.ndarray, first: int = 1) -> None:
    """One log per row of `times`."""
    for at, row in enumerate(times):
        text = "".join(LINE.format(i=i, t=t) for i, t in enumerate(row, first))
        (folder / f"run{at}.log").write_text(text)


def found(folder: Path, share: float = 0.01) -> list[Spread]:
    return spreads(read([folder]).reading, share)


def spread_of(times: Times, share: float = 0.01) -> Spread:
    """The spread of runs with those times: one reading of their shape, its times replaced."""
    plain = template(*times.shape)
    name = "megatron_iteration"
    frame = plain.frames[name].sort("source", "line").with_columns(
        step_time=pl.Series(times.round(3).ravel())
    )  # fmt: skip
    (spread,) = spreads(replace(plain, frames={**plain.frames, name: frame}), share)
    return spread


@cache
def template(count: int, lines: int) -> Reading:
    with TemporaryDirectory() as folder:
        runs(Path(folder), np.full((count, lines), 100.0))
        return read([folder]).reading


def draw(random: np.random.Generator, runs: int, lines: int) -> np.ndarray:
    """Times about 100 s: 1 % between runs, 0.5 % within."""
    shift = 0.01 * random.standard_normal((runs, 1))
    return 100.0 * np.exp(shift + 0.005 * random.standard_normal((runs, lines)))


def test_spreads_are_found_again() -> None:
    spread = spread_of(draw(np.random.default_rng(1), 30, 40))
    assert (spread.quantity, spread.runs, spread.records) == ("step_time", 30, 40)
    assert spread.matched == "exact values"
    assert spread.between == pytest.approx(0.01, rel=0.3)
    assert spread.within == pytest.approx(0.005, rel=0.1)
    assert 0.04 < spread.gate < 0.10
    assert spread.pairs == 40 * 30 * 29 // 2
    assert spread.beyond / spread.pairs < 0.01


def test_one_odd_run_does_not_spoil_the_spread() -> None:
    times = draw(np.random.default_rng(2), 20, 10)
    times[3] *= 5
    spread = spread_of(times)
    assert spread.between < 0.02
    assert spread.beyond >= 19 * 10


def test_the_promised_share_of_unchanged_runs_fails() -> None:
    random = np.random.default_rng(3)
    for count in (2, 3, 5, 8, 12):
        k = factor(count, 0.05)
        sample = random.standard_normal((20_000, count))
        spread = robust(sample)
        apart = np.abs(random.standard_normal(20_000) - random.standard_normal(20_000))
        assert (apart > k * spread).mean() == pytest.approx(0.05, abs=0.008), count


def test_goldens_of_unchanged_runs_keep_the_promise() -> None:
    random = np.random.default_rng(4)
    alarms = 0
    trials = 50
    for _ in range(trials):
        spread = spread_of(draw(random, 5, 8), 0.2)
        golden, new = draw(random, 2, 8)
        alarms += bool((np.abs(new / golden - 1) > spread.gate).any())
    assert alarms / trials <= 0.3


def test_few_runs_ask_for_a_wide_gate() -> None:
    assert factor(2, 0.01) > factor(3, 0.01) > factor(10, 0.01) > factor(100, 0.01)
    assert factor(10_000, 0.01) == pytest.approx(math.sqrt(2) * 2.576, rel=1e-3)


def test_runs_that_agree_as_printed_get_the_printed_place(tmp_path: Path) -> None:
    runs(tmp_path, np.full((4, 3), 100.0))
    (spread,) = found(tmp_path)
    assert (spread.between, spread.within) == (0, 0)
    assert spread.gate == pytest.approx(1e-5)


def test_runs_of_other_iterations_are_matched_by_configuration(tmp_path: Path) -> None:
    times = draw(np.random.default_rng(5), 6, 9)
    for at, row in enumerate(times):
        text = "".join(LINE.format(i=i, t=t) for i, t in enumerate(row, 1 + 10 * at))
        (tmp_path / f"run{at}.log").write_text(text)
    (spread,) = found(tmp_path)
    assert (spread.matched, spread.runs, spread.records) == ("configuration", 6, 1)


def test_one_run_says_nothing(tmp_path: Path) -> None:
    runs(tmp_path, np.full((1, 20), 100.0))
    assert found(tmp_path) == []


def test_other_configurations_are_not_repeats(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(LINE.format(i=1, t=1.0))
    (tmp_path / "b.log").write_text(LINE.format(i=1, t=1.0).replace("64", "128"))
    assert found(tmp_path) == []


def test_repeated_products_are_repeats(tmp_path: Path) -> None:
    rows = "".join(f"H100,bf16,64,64,{k},{t}\n" for k in (8, 16) for t in ("1.50", "1.52", "1.49"))
    (tmp_path / "gemm.csv").write_text("gpu,dtype,m,n,k,time_us\n" + rows)
    (spread,) = found(tmp_path)
    assert (spread.quantity, spread.runs, spread.records) == ("time", 3, 2)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_a_share_is_a_share(tmp_path: Path, share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        found(tmp_path, share)


def test_gates_are_rounded_up() -> None:
    assert [rounded_up(x) for x in (0.0101, 0.099, 0.101, 1.23)] == [0.011, 0.099, 0.11, 1.3]
