"""The benchmarks measure what they say: inputs come again, results are compared, limits told."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.inputs.parts import ingest
from assay.ingest.inputs.read import recipe

from tests.benchmarks import inputs
from tests.benchmarks.__main__ import Failed, entry, same
from tests.benchmarks.baseline import re_loop
from tests.benchmarks.page import LIMITS, page


@pytest.mark.parametrize("kind", inputs.KINDS)
def test_both_read_the_same(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "_LINES", 500)
    path = inputs.log(tmp_path, kind, 10_000)
    data = path.read_bytes()
    path.unlink()
    assert inputs.log(tmp_path, kind, 10_000).read_bytes() == data, "the same seed, the same bytes"
    done = ingest([path], tmp_path / "out", recipe({}))
    assert not done.unreadable
    frame = re_loop(path)
    assert frame.height == round(500 * inputs.KINDS[kind]) * max(1, len(data.split(b"\n")) // 500)
    frame.write_parquet(tmp_path / "loop.parquet")
    same(tmp_path / "out", tmp_path / "loop.parquet")
    frame.with_columns(lm_loss=frame["lm_loss"] + 1e-9).write_parquet(tmp_path / "loop.parquet")
    with pytest.raises(Failed, match="lm_loss differs"):
        same(tmp_path / "out", tmp_path / "loop.parquet")


def test_dumps_are_distinct(tmp_path: Path) -> None:
    folder = inputs.dumps(tmp_path, 5)
    assert len({path.read_bytes() for path in folder.glob("*.txt")}) == 5
    assert len({path.read_bytes() for path in folder.glob("*.yaml")}) == 5


def test_the_page_says_which_limits_are_met() -> None:
    figures = [entry("dense", [12.0, 10.0, 14.0], "×"), entry("noise95", [6.9], "×")]
    text = page(figures, "Measured on a machine.")
    lines = {line.split(" | ")[0].strip("| "): line for line in text.splitlines()}
    assert lines["dense"].endswith("| ≥ 11 | 12 | 3: 10 … 14 | met |")
    assert lines["noise95"].endswith("| **not met** |")
    assert "not measured" in lines["startup"]
    assert {limit.name for limit in LIMITS} <= lines.keys()
