"""Numbers of more digits than any type holds: read as far as they can be, never a failure."""

from __future__ import annotations

import random
import re

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
        numbers = list(re.finditer("[0-9]+", text))
        if len(text) > most or not numbers or (folders and path.parent.name not in folders):
            continue
        for _ in range(draws):
            odd = text
            for found in reversed(numbers):
                if draw.random() < 3 / len(numbers):
                    nines = "9" * draw.choice(DIGITS)
                    odd = odd[: found.start()] + nines + odd[found.end() :]
            opened = source(path.name, odd.encode())
            assert isinstance(opened, Source)
            outcome = Outcome(merge([read_source(opened, FORMATS)]), ())
            understand(outcome)
            judge(outcome, [path.name], (1.0, True))
