from pathlib import Path

import numpy as np
import polars as pl
import pytest
from assay.model.fit import kernel_fit
from assay.model.kernels import gemm
from assay.model.kernels.kernel import inputs, with_facts
from assay.validate.calibrate import kernel_stacks

from tests.studies import kernels, measured, stack_page

ROOT = Path(__file__).resolve().parents[2]

LIMITS = {
    "gemm.a100": 4.3, "gemm.h100": 5.5, "gemm.h200": 5.0, "gemm.b200": 7.0,
    "gemm_all.a100": 8.0, "gemm_all.h100": 8.0, "gemm_all.h200": 8.0, "gemm_all.b200": 8.0,
    "xla.h100": 6.0, "xla.b200": 8.0, "vidur.a100": 3.5, "vidur.h100": 7.0,
    "attention.a100": 10.0, "attention.h100": 10.0, "attention.h200": 10.0,
    "collective.a100": 12.0, "collective.h100": 12.0, "collective.h200": 12.0,
    "transfer.h200": 8.0, "transfer.b200": 12.0,
}  # fmt: skip
FORMULAS = {
    "gemm_roofline.a100": 29.1, "gemm_roofline.h100": 28.8, "gemm_roofline.h200": 24.6,
    "gemm_roofline.b200": 40.5, "gemm_b3.a100": 7.3, "gemm_b3.h100": 5.8, "gemm_b3.h200": 5.0,
    "gemm_b3.b200": 7.3,
}  # fmt: skip


def some(count: int = 300) -> pl.DataFrame:
    random = np.random.default_rng(5)
    frame = pl.DataFrame({name: 8 * random.integers(2, 512, count) for name in "mnk"}).with_columns(
        b=pl.lit(1), machine=pl.lit("H100"), dtype=pl.lit("bf16")
    )
    time = gemm.b3(inputs(gemm.B3, with_facts(frame)), gemm.B3.starts)
    return frame.with_columns(time=pl.Series(time * np.exp(0.05 * random.standard_normal(count))))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few starts of each fit: these tests are not about the least residual."""
    monkeypatch.setattr(kernel_fit, "SCOUTS", 2)


@pytest.mark.usefixtures("quick")
def test_each_half_is_predicted_by_the_other() -> None:
    frame = some()
    found = kernels.held_out(frame, "gemm", gemm.B3)
    assert found.height == frame.height
    error = found["predicted"] / found["time"] - 1
    assert 0.03 < error.abs().mean() < 0.06  # type: ignore[operator]
    assert 0.8 < (found["time"].is_between(found["low"], found["high"])).mean() < 1.0  # type: ignore[operator]


@pytest.mark.usefixtures("quick")
def test_a_part_takes_one_machine_and_leaves_rows_without_time_out() -> None:
    frame = some(50).with_columns(time=pl.when(pl.col("m") > 100).then("time"))
    one = kernel_stacks.part(frame, "gemm", origin="here", kernel=gemm.B3, draws=0)
    assert one.rows == frame["time"].drop_nulls().len()
    mixed = pl.concat([frame, frame.with_columns(machine=pl.lit("H200"))])
    with pytest.raises(ValueError, match="one machine and format at a time"):
        kernel_stacks.part(mixed, "gemm", origin="here")


@pytest.mark.usefixtures("quick")
def test_a_stack_has_an_assumed_streaming_kernel() -> None:
    one = kernel_stacks.part(some(50), "gemm", origin="here", kernel=gemm.B3, draws=0)
    assert kernel_stacks.stack("H100", {"gemm": one}).part("pointwise").origin.startswith("assumed")


def test_nothing_is_scored_without_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_CORPUS", raising=False)
    assert kernels.entries() == []


def test_tables_become_frames(corpus: Path) -> None:
    frame = measured.collective(corpus, "h100")
    last = frame.filter((pl.col("op") == "all_reduce") & (pl.col("ranks") == 8)).sort("bytes")[-1]
    assert last["bytes"].item() == 2**29
    assert last["time"].item() == pytest.approx(2.111e-3, rel=1e-2)
    assert measured.gemm(corpus, "a100").height == 5000
    assert measured.vidur(corpus, "a40")["machine"].unique().to_list() == ["A40"]


@pytest.mark.slow
def test_accuracy(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CORPUS", str(corpus))
    found = {entry.name: entry.value for entry in kernels.entries()}
    missed = {name: found[name] for name, limit in LIMITS.items() if found[name] > limit}
    assert not missed
    far = {name: found[name] for name, at in FORMULAS.items() if abs(found[name] - at) > 1.0}
    assert not far
    covered = {name: value for name, value in found.items() if name.startswith("coverage.")}
    assert all(85 <= value <= 95 for value in covered.values()), covered


def test_the_page_of_stacks_is_up_to_date() -> None:
    written = (ROOT / "docs" / "stacks.md").read_text(encoding="utf-8")
    assert written == stack_page.page(), "run: python -m tests.studies.stack_page > docs/stacks.md"
