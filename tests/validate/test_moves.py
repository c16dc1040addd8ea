"""Moves: what an assumed value would change, for values that nobody states and for no others."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from assay.ingest.inputs.read import read
from assay.validate.predict.moves import moves
from assay.validate.score.assess import understand

TABLE = """NHIDDEN=8192 / NLAYERS=48 / SEQ_LEN=2048 / VOCAB_SIZE=51200

| Nodes | DP | TP | PP | MBS | GBS | Sec/it | Recompute |
| - | - | - | - | - | - | - | - |
| 8 | 4 | 8 | 2 | 1 | 512 | 30.5 | {} |
"""


def moved(tmp_path: Path, recompute: str) -> dict[str, float]:
    path = tmp_path / "table.md"
    path.write_text(TABLE.format(recompute))
    known = understand(read([path], stated={"gpu": "A100-80g"}), machine="A100-80g")
    found = moves(known.cases.configuration)
    return dict(found.select("name", "step_time").iter_rows())


def test_what_is_assumed_moves_the_step(tmp_path: Path) -> None:
    found = moved(tmp_path, "")
    assert set(found) == {"heads", "recompute", "zero_stage"}
    assert -0.35 < found["recompute"] < -0.10  # a forward pass less, of four parts
    assert found["heads"] > 0  # narrower heads, slower attention


@pytest.mark.parametrize("said", ["full", "none"])
def test_what_is_stated_does_not(tmp_path: Path, said: str) -> None:
    assert "recompute" not in moved(tmp_path, said)


def test_no_case_no_moves() -> None:
    assert moves(pl.DataFrame()).is_empty()
