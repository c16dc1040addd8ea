"""Values that the step model takes where nobody says them: assumed, each with its reason."""

from __future__ import annotations

from pathlib import Path

from assay.validate.report.json_document import document
from assay.validate.report.layout import Table
from assay.validate.report.leftovers import unpredicted
from assay.validate.score.assess import assess

TABLE = """## A100 80GB

HIDDEN=4096; NLAYERS=32; SEQ_LEN=2048; VOCAB_SIZE=50304

| GPUs | TP | PP | MBS | GBS | Sec/it |
|---|---|---|---|---|---|
| 16 | 4 | 4 | 1 | 64 | 6.5 |
| 8 | 4 | 4 | 1 | 64 | 12.5 |
"""


def test_what_the_model_takes_is_assumed_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(TABLE, encoding="utf-8")
    cases = document(assess([path]))["cases"]
    first, impossible = (each["configuration"] for each in cases)
    for name in ("heads", "attention", "recompute", "zero_stage", "sequence_parallel", "cp"):
        assert first[name]["value_origin"] == "assumed", name
        assert first[name]["law"], name
    assert first["heads"]["value"] == 32
    assert first["hidden"] == {"value": 4096, "value_origin": "stated", "line": 3, "law": None}
    assert set(cases[0]["moves"]) <= set(first)
    assert "heads" not in impossible  # 16 ranks of one replica on 8 GPUs: there is no such run


def test_a_run_that_cannot_be_is_no_lack(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(TABLE, encoding="utf-8")
    section = unpredicted(assess([path]))
    assert section is not None
    (table,) = (part for part in section.parts if isinstance(part, Table))
    assert [row[3] for row in table.rows] == [
        "no such run: TP 4 x CP 1 x PP 4 x DP 1 = 16 GPUs, the run has 8"
    ]
