"""Findings in real documents: every known contradiction, and nothing else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read
from assay.validate.arithmetic.implied import Arithmetic
from assay.validate.cases.cases import cases
from assay.validate.cases.observe import about
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, frame
from assay.validate.laws.laws import findings

from tests.conftest import FIXTURES, mostly_slow

PREQUEL = [
    ((305, 306), "statistical", "warning", "memory-in-micro-batch", "44 to 45 GB"),
    ((319,), "identity", "error", "parallel-degrees", "DP=4 satisfies the row"),
    ((329, 330, 331, 325), "identity", "error", "heading-against-column", "GBS 512"),
    ((329, 330), "statistical", "warning", "same-configuration", "9.4 %"),
    ((331,), "identity", "warning", "size-label", "28.3 B"),
    ((340, 279), "identity", "error", "exchanged-cells", "exchanged"),
    ((341,), "convention", "warning", "formula", "megatron-2021-old"),
    ((447, 448), "statistical", "warning", "time-in-batch", "23 % fewer samples"),
    ((474, 475), "statistical", "warning", "same-configuration", "memory differs by 16 %"),
]
REPEATS = [168, 169, 170, 171, 179, 188, 197, 206, 253, 410, 422, 431]


@cache
def found_in(path: Path) -> list[Finding]:
    return findings(read([path]).reading)


def loud(found: list[Finding]) -> list[Finding]:
    return [each for each in found if each.severity != "note"]


def lines(finding: Finding) -> tuple[int, ...]:
    return tuple(span.line for span in finding.spans)


def prequel(found: list[Finding]) -> None:
    said = [(lines(f), f.kind, f.severity, f.law) for f in loud(found)]
    assert sorted(said) == sorted(each[:4] for each in PREQUEL)
    for finding in loud(found):
        (text,) = (e[4] for e in PREQUEL if e[0] == lines(finding) and e[3] == finding.law)
        assert text in finding.explanation
        assert finding.meaning
        assert len(finding.spans) <= 4
    notes = [f for f in found if f.severity == "note"]
    assert [lines(f)[0] for f in notes if f.law == "repeat"] == REPEATS
    (last,) = (f for f in notes if lines(f)[0] == 431)
    assert "another date" in last.explanation
    (rounding,) = (f for f in notes if f.kind == "identity")
    assert lines(rounding) == (46,)
    assert rounding.implied[0].value == pytest.approx(98.863e12, rel=1e-5)
    rest = [f for f in notes if f.law not in ("repeat",) and f is not rounding]
    assert {f.law for f in rest} == {"formula"}, "what the tables follow"


def test_the_prequel() -> None:
    prequel(found_in(FIXTURES / "markdown_table" / "bloom_prequel.md"))


def test_the_prequel_as_published(corpus: Path) -> None:
    (path,) = (corpus / "corpus" / "seeds").glob("002_*.txt")
    prequel(found_in(path))


def test_layers_that_only_one_count_reproduces(corpus: Path) -> None:
    (path,) = (corpus / "corpus" / "seeds").glob("002_*.txt")
    evidence = Evidence.of(read([path]).reading)
    sizes = evidence.runs.select("case", "model_size", "hidden")
    held = evidence.arithmetic.unknowns.drop_nulls("layers").join(sizes, on="case")
    said = {
        (round(size / 1e9), layers) for size, layers in held.select("model_size", "layers").rows()
    }
    assert said == {
        (200, 80), (194, 78), (191, 77), (195, 77), (205, 81), (183, 72), (187, 80),
    }  # fmt: skip
    assert set(held["formula_id"]) == {"megatron-2021-old"}
    assert held.filter(pl.col("model_size") == 187e9)["hidden"].unique().to_list() == [13824]


@pytest.mark.parametrize(
    "name", mostly_slow(["seeds/004_*", "mfu_table/mosaic*", "mfu_table/torch*",
                         "mfu_table/megatron*", "mfu_table/bigscience*", "megatron_log/*"], 3)
)  # fmt: skip
def test_silent_where_nothing_is_wrong(corpus: Path, name: str) -> None:
    paths = sorted((corpus / "corpus").glob(name))
    assert paths
    for path in paths:
        assert loud(found_in(path)) == []


def test_measured_products_break_no_bound(corpus: Path) -> None:
    assert findings(read([corpus / "measured"]).reading) == []


def test_what_a_document_follows_is_a_note(corpus: Path) -> None:
    (path,) = (corpus / "corpus" / "mfu_table").glob("mosaic*")
    said = {f.explanation for f in found_in(path)}
    assert any("77 rows follow mosaic-2023.hfu " in text for text in said)


def test_findings_as_a_frame() -> None:
    found = found_in(FIXTURES / "markdown_table" / "bloom_prequel.md")
    table = frame(found)
    assert table.height == len(found)
    row = table.filter(pl.col("law") == "heading-against-column").row(0, named=True)
    assert row["spans"][0].endswith("bloom_prequel.md:329:1")
    assert {number["quantity"] for number in row["observed"]} == {
        "model_flops_rate",
        "global_batch",
    }
    assert any(n["value"] == 512 for n in row["implied"])


def test_an_unknown_law_is_named() -> None:
    reading = read([FIXTURES / "markdown_table" / "mosaic_2022.md"]).reading
    known = Arithmetic.of(cases(reading, about(FORMATS)))
    with pytest.raises(LookupError, match="parallel-degrees"):
        findings(reading, known, laws=["nonsense"])
    assert findings(reading, known, laws=["repeat"]) == []


def test_rows_behind_many_others_are_compared_too(tmp_path: Path) -> None:
    """Of 120 rows that differ in MBS and time the last twenty print less memory at a larger MBS."""
    memory = {(1, False): 20, (2, False): 23, (1, True): 20, (2, True): 12}
    rows = "".join(
        f"| 64 | 8 | 8 | 1 | {1 + at % 2} | 512 | {memory[1 + at % 2, at >= 100]}.{at % 9}GB "
        f"| {20 + at / 50:.2f} | 50.1 |\n"
        for at in range(120)
    )
    head = "| GPUs | TP | PP | DP | MBS | GBS | Mem | Sec/it | TFLOPs |\n" + "| -: " * 9 + "|\n"
    (tmp_path / "runs.md").write_text(f"hidden=5120 layers=40 seq_len=2048\n\n{head}{rows}")
    found = findings(read([tmp_path / "runs.md"]).reading)
    assert sum(each.law == "memory-in-micro-batch" for each in found) == 10
