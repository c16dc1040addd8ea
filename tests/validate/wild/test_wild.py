"""Configurations of real documents against what is printed in them, read by hand.

Run as `python -m tests.validate.wild.test_wild` it prints what is unknown.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.conftest import mostly_slow
from tests.validate.judged import Expected

KNOWN = 0.95
"""Share of the printed values of all documents that must be known."""

EVERY = 2
"""One of so many is read with every change, the others in the slow runs."""

CORPUS = "ASSAY_CORPUS"

WILD = Expected(
    Path(__file__).with_name("expected.toml"), Path(os.environ.get(CORPUS, "")) / "corpus"
)

needs_corpus = pytest.mark.skipif(CORPUS not in os.environ, reason=f"{CORPUS} is not set")


@needs_corpus
@pytest.mark.parametrize("path", mostly_slow(WILD.documents, EVERY))
def test_no_value_is_wrong(path: str) -> None:
    assert [each for each in WILD.judged(path) if each.verdict == "wrong"] == []


@needs_corpus
@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.slow)])
def test_most_of_what_is_printed_is_known(every: int) -> None:
    right, printed = WILD.known(every)
    assert right >= KNOWN * printed, f"{right} of {printed}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in WILD.told())
