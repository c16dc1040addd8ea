"""Tables as frameworks publish them: what is read into their silence, and what is not."""

from __future__ import annotations

from typing import Any

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source
from assay.model.formulas.megatron_core import case_of, formula_id_of
from assay.model.formulas.registry import FORMULAS
from assay.model.transformer.shapes import shapes
from assay.validate.cases.cases import cases
from assay.validate.cases.observe import about
from assay.validate.laws.laws import findings

DENSE = ("Llama-2-7B", "Llama-2-13B", "Llama-2-70B", "Llama-3-8B", "Llama-3-70B", "Mistral-7B",
         "Qwen2-7B", "Qwen2.5-14B", "Llama-3-405B")  # fmt: skip


def read(text: str) -> Reading:
    whole = source("a.md", text.encode())
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS)


def configured(text: str) -> list[dict[str, Any]]:
    return cases(read(text), about(FORMATS)).configuration.to_dicts()


def table(models: tuple[str, ...], mask: str) -> str:
    """A table of 16-bit runs of these models whose TFLOPs follow from their tokens."""
    lines = ["# H100", "", "| Model | #GPUs | Seq Length | Tokens/sec/GPU | TFLOP/sec/GPU |"]
    lines.append("|---|---|---|---|---|")
    for place, name in enumerate(models):
        case = case_of(shapes()[name], seq_len=4096) | {"vocab": shapes()[name].vocab}
        flop = FORMULAS[formula_id_of(shapes()[name], mask=mask)].count(case) / 4096
        rate = round((540 + 12 * place) * 1e12 / flop)
        lines.append(f"| {name} | {8 << place % 3} | 4096 | {rate} | {rate * flop / 1e12:.1f} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("mask", ["full", "causal"])
@pytest.mark.parametrize("stranger", ["GPT-3-175B", "DeepSeek-V3", "Qwen3-30B-A3B", "BLOOM-176B"])
def test_a_model_of_another_kind_is_not_held_to_its_neighbours_formula(
    mask: str, stranger: str
) -> None:
    found = findings(read(table((*DENSE, stranger), mask)))
    assert [each for each in found if each.severity != "note"] == []


def test_a_wrong_rate_of_a_known_model_is_found() -> None:
    text = table((*DENSE, "GPT-3-175B"), "full").splitlines()
    cells = text[8].split("|")
    cells[-2] = f" {float(cells[-2]) * 1.3:.1f} "
    text[8] = "|".join(cells)
    found = findings(read("\n".join(text) + "\n"))
    assert [(each.spans[0].line, each.severity) for each in found if each.severity != "note"] == [
        (9, "error")
    ]


@pytest.mark.parametrize(
    ("precision", "dtype", "assumed"),
    [
        ("FP8-CS (FP8-MX)", "fp8", False),
        ("MXFP8", "fp8", False),
        ("BF16", "bf16", False),
        ("bf16-mixed", "bf16", False),
        ("NVFP4", "fp4", False),
        ("-", "bf16", True),
    ],
)
def test_16_bits_are_assumed_only_where_nothing_is_printed(
    precision: str, dtype: str | None, assumed: bool
) -> None:
    text = f"# H100\n\n| TP | Precision | MFU |\n|-|-|-|\n| 1 | {precision} | 0.4 |\n"
    known = cases(read(text), about(FORMATS))
    assert known.configuration["dtype"].to_list() == [dtype]
    said = known.origins.filter(name="dtype")["value_origin"].to_list()
    assert ("assumed" in said) == assumed


@pytest.mark.parametrize(
    ("above", "said"),
    [
        ("- System: DGX-H100\n", {"gpu": "H100"}),
        ("**Hardware**: 8x A100 80GB, BF16\n", {"gpu": "A100 80GB", "gpus": 8, "dtype": "BF16"}),
        ("Hardware: 2 nodes of 8x H200\n", {"gpu": "H200", "gpus": None}),
        ("- performance of various tasks at FP8 precision.\n", {"dtype": "FP8"}),
        ("- GPUs: H100 against H200\n", {"gpu": None}),
        ("- System: DGX-H100\n\n## Elsewhere\n", {"gpu": None}),
        ("The H100 system is fast.\n", {"gpu": None}),
        ("**Llama on 8×H100 (BF16)**\n", {"gpu": "H100", "gpus": 8, "dtype": "BF16"}),
        ("Table 3: runs on H200\n", {"gpu": "H200", "gpus": None}),
        ("**H100 is faster**\n\nSo it is.\n", {"gpu": None}),
    ],
)
def test_a_line_above_a_table_speaks_for_its_rows(above: str, said: dict[str, object]) -> None:
    reading = read(f"## Runs\n\n{above}\n| TP | MFU |\n|-|-|\n| 1 | 0.4 |\n")
    row = reading.frames["markdown_table"].row(0, named=True)
    assert {name: row[name] for name in said} == said
    account = reading.accounting[0]
    assert account.claimed == 3 + any(said.values())
    assert account.lines == account.claimed + account.blank + account.not_ours


def test_a_line_that_says_what_is_new_and_leaves_it_open_is_told() -> None:
    above = "fp16 was tried before, now in bf16 precision"
    reading = read(f"## Runs\n\n{above}\n\n| TP | MFU |\n|-|-|\n| 1 | 0.4 |\n")
    assert reading.frames["markdown_table"]["dtype"].to_list() == [None]
    assert reading.statements is not None
    assert reading.statements.select("line", "field", "strength").rows() == [(3, "dtype", "open")]
    assert reading.accounting[0].claimed == 4


def test_a_rate_is_bound_by_the_peak_of_a_format_only_if_that_is_said() -> None:
    text = "# H100\n\n| TP | Precision | TFLOPs |\n|-|-|-|\n| 1 | {} | 1200 |\n"
    laws = {
        said: [each.law for each in findings(read(text.format(said)))] for said in ("-", "BF16")
    }
    assert laws == {"-": [], "BF16": ["rate-above-peak"]}
