"""Whatever an input holds, a report comes out: no exception, and the lines add up."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from assay.validate.report import json_document, markdown, terminal
from assay.validate.report.sections import sections
from assay.validate.score.assess import assess

from tests.conftest import FIXTURES

SOURCES = (
    "markdown_table/bloom_prequel.md",
    "markdown_table/mosaic_2022.md",
    "megatron_iteration/bloom_176b.log",
    "gemm_table/microbenchmark.log",
)


def mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 40)):
        at = chance.randrange(len(text))
        kind = chance.random()
        if kind < 0.5:
            text = text[:at] + chance.choice("0123456789|.-e GBMOinfnan\n") + text[at + 1 :]
        elif kind < 0.75:
            text = text[:at] + text[at + chance.randint(1, 8) :]
        else:
            text = text[:at] + text[max(0, at - chance.randint(1, 60)) : at] + text[at:]
    return text


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_a_mutated_input_gives_a_report(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    path = FIXTURES / chance.choice(SOURCES)
    side = path.with_suffix(".toml")
    shutil.copy(side, tmp_path / side.name)
    (tmp_path / path.name).write_text(mutated(path.read_text(), chance))
    found = assess([tmp_path / path.name], machine=chance.choice([None, "A100-80g"]))
    for account in found.outcome.reading.accounting:
        parts = account.claimed + account.refused + account.blank + account.not_ours
        assert parts == account.lines
    assert terminal.render(sections(found))
    assert markdown.render(sections(found))
    assert json_document.dumps(found)
