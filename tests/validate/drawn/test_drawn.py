"""Drawn documents: no value is wrong, and little of what is printed is unknown.

Run as `python -m tests.validate.drawn.test_drawn 2000` it prints the figures by kind, and the first
wrong values with the seeds of their documents.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from assay.ingest.inputs.read import read
from assay.validate.score.assess import understand

from tests.validate.drawn.documents import KINDS, Drawn, drawn
from tests.validate.drawn.logs import CARRIERS, drawn_log

UNKNOWN = 0.05
"""Share of the printed values that may be unknown."""


def judged(document: Drawn, folder: Path) -> Counter[tuple[str, str]]:
    """Verdict and field of every value of a document's rows: right, unknown, silent or wrong.

    Silent is a value that the document does not print and that is not known.
    """
    path = folder / ("drawn.log" if document.kind in CARRIERS else "drawn.md")
    path.write_text(document.text, encoding="utf-8")
    wide = understand(read([path])).cases.configuration
    found: Counter[tuple[str, str]] = Counter()
    rows = {row["line"]: row for row in wide.iter_rows(named=True)}
    for line, truth in document.rows.items():
        for name, value in truth.items():
            held = rows[line][name] if line in rows else None
            verdict = "right" if held == value else "wrong"
            if held is None:
                verdict = "unknown" if name in document.printed[line] else "silent"
            found[verdict, name] += 1
    return found


def total(seeds: range, folder: Path) -> Counter[str]:
    """Verdicts of the documents of these seeds."""
    verdicts: Counter[str] = Counter()
    for seed in seeds:
        for (verdict, _), count in judged(drawn(Random(seed)), folder).items():
            verdicts[verdict] += count
    return verdicts


@pytest.mark.parametrize("count", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_of_each_kind(kind: str, count: int, tmp_path: Path) -> None:
    verdicts: Counter[tuple[str, str]] = Counter()
    for seed in range(count):
        verdicts += judged(drawn(Random(f"{kind} {seed}"), kind), tmp_path)
    assert {name for verdict, name in verdicts if verdict == "wrong"} == set()
    said = sum(n for (verdict, _), n in verdicts.items() if verdict in ("right", "unknown"))
    assert sum(n for (v, _), n in verdicts.items() if v == "unknown") <= UNKNOWN * said


@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_few_logs_of_each_carrier(carrier: str, count: int, tmp_path: Path) -> None:
    verdicts: Counter[tuple[str, str]] = Counter()
    for seed in range(count):
        verdicts += judged(drawn_log(Random(f"{carrier} {seed}"), carrier), tmp_path)
    assert {verdict for verdict, _ in verdicts} == {"right"}, verdicts


@pytest.mark.slow
def test_two_thousand(tmp_path: Path) -> None:
    verdicts = total(range(2000), tmp_path)
    assert verdicts["wrong"] == 0
    assert verdicts["unknown"] <= UNKNOWN * (verdicts["right"] + verdicts["unknown"])


if __name__ == "__main__":
    by_kind: dict[str, Counter[tuple[str, str]]] = {kind: Counter() for kind in KINDS}
    with TemporaryDirectory() as name:
        for seed in range(int(sys.argv[1]) if sys.argv[1:] else 200):
            document = drawn(Random(seed))
            verdicts = judged(document, Path(name))
            by_kind[document.kind] += verdicts
            if wrong := sorted(each for verdict, each in verdicts if verdict == "wrong"):
                sys.stdout.write(f"seed {seed} ({document.kind}): wrong {', '.join(wrong)}\n")
    every: Counter[str] = Counter()
    for kind, counts in by_kind.items():
        sums: Counter[str] = Counter()
        for (verdict, _), count in counts.items():
            sums[verdict] += count
        every += sums
        bad = {f"{v} {n}": count for (v, n), count in counts.items() if v in ("wrong", "unknown")}
        sys.stdout.write(f"{kind}: {dict(sums)} {bad}\n")
    printed = every["right"] + every["unknown"]
    sys.stdout.write(f"{dict(every)}: unknown {100 * every['unknown'] / printed:.2f} %\n")
