"""Lines that differ in numbers alone say the same, each with its own numbers."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from assay.ingest.columns import titles
from assay.ingest.lines.outlines import form, outline
from assay.ingest.schema.record import Cell, Line
from assay.ingest.statements import one_line

FIXTURES = Path(__file__).parents[2] / "fixtures"

NUMBER = re.compile(r"[1-9][0-9]{2,}")

SAID = """
We train 24 layers with hidden size 1024, a sequence length of 2048 and TP8 PP4.
Table 512: 13B on 128 GPUs, seq_len=2048
*Global batch size 1024, sequence length 4096, micro-batch 4*
device mesh with ['dp_replicate', 'dp_shard'], [128, 512]
--seq-length 2048 --hidden-size 4096 --num-layers 24 --global-batch-size 512
HIDDEN=9216; NLAYERS=52; Model size: 54B, ratio=177
Sequence lengths 2048 or 4096, global batch 2048, hidden 2048.
Trained on 128 GPUs, 256 GPUs and on 256 GPUs with bf16 precision.
- 128 nodes with 1024 devices each, ZeRO stage 2
ModelArgs(dim=4096, n_layers=32, n_heads=128, vocab_size=32000, norm_eps=1e-05)
Global batch 512 for 70B, 1024 for 8B. Context of 8192 tokens (4096 for 34B).
""".strip().splitlines()


def lines() -> list[str]:
    """Lines with numbers: those above, and some of every document among the fixtures."""
    rng, found = random.Random(7), dict.fromkeys(SAID)
    for path in sorted([*FIXTURES.glob("*/*.md"), *FIXTURES.glob("*/*.log")]):
        held = path.read_text("utf-8", "replace").splitlines()
        asked = [each for each in held if len(each) < 300 and NUMBER.search(each)]
        found |= dict.fromkeys(rng.sample(asked, min(3, len(asked))))
    return list(found)


def others(text: str, rng: random.Random) -> str:
    """A text with other numbers, as many digits in each; half of the time equal ones stay so."""
    told: dict[str, str] = {}
    same = rng.random() < 0.5

    def other(found: re.Match[str]) -> str:
        size = len(found[0])
        drawn = str(rng.randrange(10 ** (size - 1), 10**size))
        return told.setdefault(found[0], drawn) if same else drawn

    return NUMBER.sub(other, text)


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_statement_is_what_its_line_says_alone(share: int) -> None:
    rng, shared = random.Random(3), 0
    for text in [*SAID, *lines()[len(SAID) :: share]]:
        for said in (text, *(others(text, rng) for _ in range(20 if text in SAID else 2))):
            line, heading = Line(9, said, 3, {}), text.startswith("#")
            alone = one_line._understood(line, (), says=None, heading=heading)
            assert one_line.stated("", line, (), says=None, heading=heading) == alone, said
            shared += said != text and outline(said) == outline(text)
    assert shared > 100


def test_a_title_says_what_it_says_alone() -> None:
    rng, alone = random.Random(5), titles._said.__wrapped__.__wrapped__  # type: ignore[attr-defined]
    for text in lines():
        for said in (text, *(others(text, rng) for _ in range(2))):
            assert titles._said(said) == alone(said), said


@pytest.mark.parametrize(
    "text",
    ["on 8x A100, seq 2048", "RTX 4090, seq 2048", "InfiniBand of 400 Gb/s", "lr 0.125, wd 1.512",
     "fp16 and TP128", "2024-10-31 10:00:00,123 step 77", "1,024 sequences", "a/512/b", "100%"],
)  # fmt: skip
def test_what_its_numbers_name_is_an_outline_of_its_own(text: str) -> None:
    assert outline(text) == text


def test_what_was_worked_out_has_no_form() -> None:
    text = "mesh of 128 x 512"
    assert form(text, {"dp": Cell("65536", 1, 9)}, 1) is None
    assert form(text, {"dp": Cell("28", 1, 10)}, 1) is None
    assert form(text, {"dp": Cell("512", 1, 15)}, 1) is not None
