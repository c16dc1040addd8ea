"""Configurations of real documents against what is printed in them, read by hand.

Run as `python -m tests.validate.wild.test_wild` it prints what is unknown.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.validate.judged import Expected

KNOWN = 0.95
"""Share of the printed values of all documents that must be known."""

CORPUS = "ASSAY_CORPUS"

WILD = Expected(
    Path(__file__).with_name("expected.toml"), Path(os.environ.get(CORPUS, "")) / "corpus"
)

needs_corpus = pytest.mark.skipif(CORPUS not in os.environ, reason=f"{CORPUS} is not set")


@needs_corpus
@pytest.mark.parametrize("path", WILD.documents)
def test_no_value_is_wrong(path: str) -> None:
    assert [each for each in WILD.judged(path) if each.verdict == "wrong"] == []


@needs_corpus
def test_most_of_what_is_printed_is_known() -> None:
    right, printed = WILD.known()
    assert right >= KNOWN * printed, f"{right} of {printed}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in WILD.told())
