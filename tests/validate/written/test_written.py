"""Configurations of documents in the manner of many trainers and authors, against expectations.

Each document was written, and what it prints noted by hand, before it was read for the first time.
Run as `python -m tests.validate.written.test_written` it prints what is unknown.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import mostly_slow
from tests.validate.judged import Expected

KNOWN = 0.95
"""Share of the printed values of all documents that must be known."""

EVERY = 2
"""One of so many is read with every change, the others in the slow runs."""

WRITTEN = Expected(Path(__file__).with_name("expected.toml"), Path(__file__).parent)


@pytest.mark.parametrize("path", mostly_slow(WRITTEN.documents, EVERY))
def test_no_value_is_wrong(path: str) -> None:
    assert [each for each in WRITTEN.judged(path) if each.verdict == "wrong"] == []


@pytest.mark.parametrize("every", [EVERY, pytest.param(1, marks=pytest.mark.slow)])
def test_most_of_what_is_printed_is_known(every: int) -> None:
    right, printed = WRITTEN.known(every)
    assert right >= KNOWN * printed, f"{right} of {printed}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in WRITTEN.told())
