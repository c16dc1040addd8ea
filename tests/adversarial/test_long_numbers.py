"""Numbers of more digits than any type holds: read as far as they can be, never a failure."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.merge import merge
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Outcome
from assay.ingest.source.opening import Source, source
from assay.validate.cli.inputs import judge
from assay.validate.score.assess import understand

from tests.adversarial.test_mutated_commands import FILES

TEXTS = [path for path in FILES if path.suffix in (".log", ".md", ".csv", ".json", ".yaml", ".txt")]

DIGITS = (25, 400, 5000)
"""More than an integer of the machine holds, than a float, than Python reads."""

ONCE_WRONG = ("nccl_tests", "deepflow_config", "step_history", "ulysses_trace")
"""Formats in which such a number was a failure."""


PUBLISHED = sorted(
    path for path in (Path(__file__).parents[1] / "ingest/published").iterdir()
    if path.suffix != ".wanted"
)  # fmt: skip
"""Documents with tables in every syntax and of every kind."""


def with_long_numbers(text: str, draw: random.Random, many: int = 3) -> str:
    """A text with about so many of its numbers made of more digits than any type holds."""
    numbers = list(re.finditer("[0-9]+", text))
    for found in reversed(numbers):
        if draw.random() < many / len(numbers):
            nines = "9" * draw.choice(DIGITS)
            text = text[: found.start()] + nines + text[found.end() :]
    return text


@pytest.mark.parametrize("share", [320, pytest.param(1, marks=pytest.mark.slow)])
def test_published_documents_with_them_are_read(share: int) -> None:
    draw = random.Random(share)
    for path in draw.sample(PUBLISHED, len(PUBLISHED) // share):
        odd = with_long_numbers(path.read_text("utf-8"), draw)
        opened = source(path.name, odd.encode())
        assert isinstance(opened, Source)
        understand(Outcome(merge([read_source(opened, FORMATS)]), ()))


@pytest.mark.parametrize(
    ("folders", "most", "draws"),
    [
        (ONCE_WRONG, 4_200, 2),
        pytest.param((), 20_000, 30, marks=pytest.mark.slow),
    ],
)
def test_a_number_of_many_digits_is_no_failure(
    folders: tuple[str, ...], most: int, draws: int
) -> None:
    draw = random.Random(1)
    for path in TEXTS:
        text = path.read_text("utf-8", "replace")
        few = len(text) <= most and re.search("[0-9]", text)
        if not few or (folders and path.parent.name not in folders):
            continue
        for _ in range(draws):
            opened = source(path.name, with_long_numbers(text, draw).encode())
            assert isinstance(opened, Source)
            outcome = Outcome(merge([read_source(opened, FORMATS)]), ())
            understand(outcome)
            judge(outcome, [path.name], (1.0, True))
