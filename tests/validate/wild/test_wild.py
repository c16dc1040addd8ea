"""Configurations of real documents against what is printed in them, read by hand.

Every value is right, unknown or wrong; a wrong one is never right, and `KNOWN` says how many must
be known at least. Run as `python -m tests.validate.wild.test_wild` it prints what is unknown.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from assay.ingest.inputs.read import read
from assay.validate.score.assess import understand

EXPECTED = tomllib.loads(Path(__file__).with_name("expected.toml").read_text(encoding="utf-8"))

DOCUMENTS = {document["path"]: document["rows"] for document in EXPECTED["document"]}

KNOWN = 0.95
"""Share of the printed values of all documents that must be known."""

CORPUS = "ASSAY_CORPUS"

needs_corpus = pytest.mark.skipif(CORPUS not in os.environ, reason=f"{CORPUS} is not set")


class Judged(NamedTuple):
    """One value of one row: what was found where something, or nothing, is expected."""

    line: int
    name: str
    expected: Any
    found: Any

    @property
    def verdict(self) -> str:
        if self.found is None:
            return "right" if self.expected is None else "unknown"
        return "right" if self.found == self.expected else "wrong"


@cache
def configurations(path: str) -> pl.DataFrame:
    """The cases of a document, and whether each is a step of a run."""
    found = read([Path(os.environ[CORPUS]) / "corpus" / path])
    steps = pl.col("frame").is_in([held.name for held in found.reading.with_rows("step")])
    return understand(found).cases.configuration.with_columns(step=steps)


def judged(path: str) -> Iterator[Judged]:
    """Every value that is expected of a document, as it was found."""
    wide = configurations(path)
    for rows in DOCUMENTS[path]:
        first, last = rows["lines"]
        here = pl.col("step") if rows["frame"] == "step" else pl.col("frame") == rows["frame"]
        mine = wide.filter(here, pl.col("line").is_between(first, last))
        assert mine.height, f"{path} has no row of {rows['frame']} in {first}..{last}"
        wanted = {k: v for k, v in rows.items() if k not in ("frame", "lines", "unsaid")}
        wanted |= dict.fromkeys(rows.get("unsaid", ()))
        for row in mine.iter_rows(named=True):
            for name, value in wanted.items():
                yield Judged(row["line"], name, value, row[name])


def known() -> tuple[int, int]:
    """How many of the printed values are known in every row they are of, and how many there are."""
    verdicts: dict[tuple[str, int, str], bool] = {}
    for path, groups in DOCUMENTS.items():
        for each in judged(path):
            if each.expected is None:
                continue
            group = next(at for at, one in enumerate(groups) if each.line <= one["lines"][1])
            key = (path, group, each.name)
            verdicts[key] = verdicts.get(key, True) and each.verdict == "right"
    return sum(verdicts.values()), len(verdicts)


@needs_corpus
@pytest.mark.parametrize("path", DOCUMENTS)
def test_no_value_is_wrong(path: str) -> None:
    assert [each for each in judged(path) if each.verdict == "wrong"] == []


@needs_corpus
def test_most_of_what_is_printed_is_known() -> None:
    right, printed = known()
    assert right >= KNOWN * printed, f"{right} of {printed}"


if __name__ == "__main__":
    for name in DOCUMENTS:
        verdicts = Counter(each.verdict for each in judged(name))
        unknown = sorted({each.name for each in judged(name) if each.verdict != "right"})
        sys.stdout.write(f"{name}: {dict(verdicts)} {', '.join(unknown)}\n")
    sys.stdout.write("{} of {} printed values are known\n".format(*known()))
