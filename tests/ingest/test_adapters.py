"""Rows that train adapters are known by their own words or those above, and are not predicted."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.tables import captions
from assay.validate.score.assess import assess

PLACE = (
    "| Model | GPUs | GBS | MBS | Seq Length | TP | PP | tokens/s/GPU |\n"
    "|---|---|---|---|---|---|---|---|\n"
)
ROW = "| Llama2 7B{} | 8 | 32 | 1 | 4096 | 1 | 1 | 12000 |\n"


def parts(tmp_path: Path, text: str) -> list[str | None]:
    """Trained part in each row of a document, None where all is trained."""
    path = tmp_path / "runs.md"
    path.write_text(text)
    frame = read([path]).reading.frames["markdown_table"]
    return frame["trained_part"].to_list()


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("LoRA", "LoRA"),
        ("Fine-tuning (QLoRA, r=8)", "QLoRA"),
        ("falcon-7b/lora.yaml", "lora"),
        ("llama_lora_r16", "lora"),
        ("SFT and LoRA", None),
        ("without LoRA", None),
        ("LoRA vs. DoRA", None),
        ("Explora 2", None),
        ("Florence", None),
    ],
)
def test_a_text_names_adapters_alone(text: str, held: str | None) -> None:
    assert captions.named(text) == held


@pytest.mark.parametrize(
    ("above", "held"),
    [
        ("## Finetuning (LoRA)\n\n", "LoRA"),
        ("## Fine-tuning with LoRA\n\n### H100\n\n", "LoRA"),
        ("## LoRA\n\n## H100\n\n", None),
        ("## LoRA\n\n### Full fine-tuning\n\n", None),
        ("## Full fine-tuning vs LoRA\n\n", None),
        ("## H100\n\n**LoRA, 8x H100**\n\n", "LoRA"),
        ("## H100\n\nAll runs use LoRA with rank 16.\n\n", "LoRA"),
        ("## H100\n\nLoRA is another matter.\n\n", None),
        ("## LoRA\n\n- Method: SFT\n\n", None),
    ],
)
def test_lines_above_say_it_of_all_rows(tmp_path: Path, above: str, held: str | None) -> None:
    assert parts(tmp_path, above + PLACE + ROW.format("")) == [held]


def test_rows_say_it_of_themselves(tmp_path: Path) -> None:
    head = "| Model | Task | LoRA rank | GPUs | tokens/s/GPU |\n|---|---|---|---|---|\n"
    rows = [
        "| 7B | LoRA | 8 | 8 | 12000 |\n",
        "| 7B | SFT | - | 8 | 12000 |\n",
        "| 7B | | 16 | 8 | 12000 |\n",
        "| 7B | | - | 8 | 12000 |\n",
        "| 7B QLoRA | | | 8 | 12000 |\n",
    ]
    assert parts(tmp_path, head + "".join(rows)) == ["LoRA", None, "LoRA", None, "QLoRA"]


def test_a_row_that_trains_all_is_not_what_the_heading_says(tmp_path: Path) -> None:
    text = "## LoRA\n\n" + PLACE + ROW.format(" (full)") + ROW.format("")
    assert parts(tmp_path, text) == [None, "LoRA"]


def test_no_model_is_scored_on_adapters(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"
    path.write_text(PLACE + ROW.format("") + ROW.format(" LoRA"))
    report = assess([path], machine="H100")
    every = report.cases.configuration
    whole = every.filter(line=3)["case"].to_list()
    assert every.height == 2
    assert set(report.scored["case"]) == set(whole)
