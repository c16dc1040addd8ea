"""Fields that a prediction needs: documented by framework, and named where missing."""

from __future__ import annotations

from pathlib import Path

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.validate.predict.required import COLUMNS, hint, page
from assay.validate.report.sections import sections
from assay.validate.report.terminal import render
from assay.validate.score.assess import assess

from tests.conftest import FIXTURES

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_code_says() -> None:
    said = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert said == page(), "python -m assay.validate.predict.required > docs/configuration.md"


def test_every_column_has_a_name_somewhere() -> None:
    assert set(COLUMNS) - {"machine"} <= set(fields(Configuration))
    assert not [column for column in COLUMNS if "by no framework" in hint(column)]


def test_the_report_names_what_is_missing_and_who_prints_it(tmp_path: Path) -> None:
    job = (FIXTURES / "arguments" / "gpt2_18b_v100.log").read_text().splitlines(keepends=True)
    path = tmp_path / "job.log"
    path.write_text(
        "".join(
            line
            for line in job
            if "seq_len" not in line.lower().replace("-", "_") and "MiB" not in line
        )
    )
    text = " ".join(render(sections(assess([path], models=["step"])), width=200).split())
    assert "needs machine, seq_len" in text
    assert "Not found: seq_len (sequence length s): Megatron, GPT-NeoX `seq_length`" in text
    assert "Not found: machine (device): nvidia-smi's table" in text
