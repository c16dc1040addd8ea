"""Configurations of documents against what is printed in them, written down by hand.

In: a file of expectations, and the folder that its documents lie in. Out: for every value of every
row a verdict: right, unknown or wrong; a wrong one is never right.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from assay.ingest.inputs.read import read
from assay.validate.score.assess import understand


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


class Expected:
    """Documents of a folder, and what is expected of their rows."""

    def __init__(self, expected: Path, folder: Path) -> None:
        said = tomllib.loads(expected.read_text(encoding="utf-8"))
        self.documents = {each["path"]: each["rows"] for each in said["document"]}
        self.folder = folder

    def judged(self, path: str) -> Iterator[Judged]:
        """Every value that is expected of a document, as it was found."""
        wide = _configurations(self.folder / path)
        for rows in self.documents[path]:
            first, last = rows["lines"]
            here = pl.col("step") if rows["frame"] == "step" else pl.col("frame") == rows["frame"]
            mine = wide.filter(here, pl.col("line").is_between(first, last))
            assert mine.height, f"{path} has no row of {rows['frame']} in {first}..{last}"
            wanted = {k: v for k, v in rows.items() if k not in ("frame", "lines", "unsaid")}
            wanted |= dict.fromkeys(rows.get("unsaid", ()))
            for row in mine.iter_rows(named=True):
                for name, value in wanted.items():
                    yield Judged(row["line"], name, value, row[name])

    def known(self, every: int = 1) -> tuple[int, int]:
        """How many of the printed values are known in every row they are of, of how many, in one of
        so many documents."""
        verdicts: dict[tuple[str, int, str], bool] = {}
        for path, groups in list(self.documents.items())[::every]:
            for each in self.judged(path):
                if each.expected is None:
                    continue
                group = next(at for at, one in enumerate(groups) if each.line <= one["lines"][1])
                key = (path, group, each.name)
                verdicts[key] = verdicts.get(key, True) and each.verdict == "right"
        return sum(verdicts.values()), len(verdicts)

    def told(self) -> Iterator[str]:
        """A line for each document: its verdicts, and the names of what is not right."""
        for path in self.documents:
            every = list(self.judged(path))
            verdicts = Counter(each.verdict for each in every)
            left = sorted({each.name for each in every if each.verdict != "right"})
            yield f"{path}: {dict(verdicts)} {', '.join(left)}".rstrip()
        yield "{} of {} printed values are known".format(*self.known())


@cache
def _configurations(path: Path) -> pl.DataFrame:
    """The cases of a document, and whether each is a step of a run."""
    found = read([path])
    steps = pl.col("frame").is_in([held.name for held in found.reading.with_rows("step")])
    return understand(found).cases.configuration.with_columns(step=steps)
