"""Rows of one configuration: compared all at once as two at a time."""

from __future__ import annotations

import random
from math import isnan
from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.validate.laws import same_configuration as law
from assay.validate.laws.evidence import Evidence

COLUMNS = {
    "Model size": ("13B", "14B", ""), "GPU": ("A100", "H100", ""), "dtype": ("bf16", "fp8", ""),
    "Hidden": ("4096", ""), "Layers": ("32",), "GPUs": ("8",),
    "Notes": ("2024-01-01", "2024-01-02", "2024-01-09 a", ""),
    "Sec/it": ("10.5", "10.6", "12.5", ""),
    "Tokens/s": ("1000.5", "1010.5", "2000.5"),
}  # fmt: skip


def _table(rows: int) -> str:
    draw = random.Random(rows)
    drawn = ([draw.choice(values) for values in COLUMNS.values()] for _ in range(rows))
    lines = [COLUMNS, ["-"] * len(COLUMNS), *drawn]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


@pytest.mark.parametrize("rows", [80, 240])
def test_pairs_are_those_that_two_at_a_time_are_alike(tmp_path: Path, rows: int) -> None:
    (tmp_path / "runs.md").write_text(_table(rows), encoding="utf-8")
    evidence = Evidence.of(read([tmp_path / "runs.md"]).reading)
    skip = {each.other["case"] for each in law.repeated(evidence)}
    skip |= {each.other["case"] for each in law.exchanged_pairs(evidence)}
    buckets: dict[tuple[object, ...], list[law.Row]] = {}
    for row in law.published(evidence):
        if row["case"] not in skip:
            buckets.setdefault(tuple(row[name] for name in law.CORE), []).append(row)
    expected = [
        (one["case"], other["case"])
        for held in buckets.values()
        for place, one in enumerate(held)
        for other in held[place + 1 : place + law.ALL_PAIRS]
        if law.alike(one, other)
        and law.same_columns(one, other)
        and law.measured(one) != law.measured(other)
    ]
    found = law.pairs(evidence)
    everyone = list(found.which(found.one >= 0))
    assert [(each.one["case"], each.other["case"]) for each in everyone] == expected
    assert len(expected) > 20
    for name in law.MEASURED:
        known = [None if isnan(gap) else gap for gap in found.difference(name).tolist()]
        assert known == [each.difference(name) for each in everyone]
    close = [law.comparable(each.one, each.other) for each in everyone]
    assert found.comparable().tolist() == close
    assert {*close} == {True, False}


def test_rows_that_are_not_all_compared_say_so(tmp_path: Path) -> None:
    rows = "".join(f"| 8 | 8 | {10 + at}.5 |\n" for at in range(60))
    for count, text in ((60, rows), (3, rows[: 3 * len("| 8 | 8 | 10.5 |\n")])):
        path = tmp_path / f"{count}.md"
        path.write_text("| GPUs | TP | Sec/it |\n|---|---|---|\n" + text, encoding="utf-8")
        told = law.differing(Evidence.of(read([path]).reading))
        limited = [f"rows, compared with {law.TOLD} behind" in f.explanation for f in told]
        assert limited == [count > law.ALL_PAIRS] * len(told)
        assert count < law.ALL_PAIRS or len(told) <= count * law.TOLD
        assert told
