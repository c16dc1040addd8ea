"""Traces, dumps, tables of layers and logs: their known findings, and lines that were changed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.model.formulas.flop_formulas import narayanan_eq3
from assay.validate.laws.finding import Finding
from assay.validate.laws.laws import findings


def found_in(*paths: Path) -> list[Finding]:
    return findings(read(paths).reading)


def seed(corpus: Path, number: str) -> Path:
    (path,) = (corpus / "corpus" / "seeds").glob(f"{number}_*.txt")
    return path


def said(found: list[Finding]) -> list[tuple[str, str, str, int]]:
    return sorted((f.law, f.kind, f.severity, f.spans[0].line) for f in found)


DUMP = [
    ("estimator-definition", "convention", "note", 84),
    ("estimator-definition", "convention", "note", 198),
    ("estimator-memory", "identity", "warning", 217),
    ("estimator-time-per-step", "identity", "warning", 193),
    ("estimator-total", "identity", "warning", 193),
    ("memory-overflow", "statistical", "note", 193),
]


def test_the_published_dump(corpus: Path) -> None:
    found = found_in(seed(corpus, "000"))
    assert said(found) == DUMP
    texts = {f.law: f.explanation for f in found}
    assert "142.9 GiB" in texts["estimator-memory"]
    assert "projection width" in texts["estimator-memory"]
    assert "0.551 s" in texts["estimator-total"]
    assert "batch 32" in texts["estimator-time-per-step"]


def test_a_dump_with_its_configuration(corpus: Path) -> None:
    (folder,) = (corpus / "corpus" / "estimator_dump").glob("01_*")
    with_shares = [*DUMP, DUMP[1], ("power-shares", "identity", "warning", 1)]
    assert said(found_in(folder)) == sorted(with_shares)


def test_no_dump_has_an_error(corpus: Path) -> None:
    found = found_in(corpus / "corpus" / "estimator_dump")
    assert [f for f in found if f.severity == "error"] == []


def test_the_published_trace(corpus: Path) -> None:
    (finding,) = found_in(seed(corpus, "001"))
    assert said([finding]) == [("label-of-shape", "identity", "error", 71)]
    assert "3,750" in finding.explanation
    assert "30,000" in finding.explanation
    assert "N/DP" in finding.explanation


@pytest.mark.parametrize("name", ["seeds/003_*", "layer_estimates/*"])
def test_silent_on_layers(corpus: Path, name: str) -> None:
    assert found_in(*sorted((corpus / "corpus").glob(name))) == []


def changed(corpus: Path, tmp_path: Path, number: str, line: int, old: str, new: str) -> list[
    Finding
]:  # fmt: skip
    path = seed(corpus, number)
    lines = path.read_text().splitlines(keepends=True)
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    copy = tmp_path / path.name
    copy.write_text("".join(lines))
    known = said(found_in(path))
    return [f for f in found_in(copy) if said([f])[0] not in known]


def _line_of(corpus: Path, number: str, pattern: str) -> tuple[int, str]:
    for at, text in enumerate(seed(corpus, number).read_text().splitlines(), 1):
        if found := re.search(pattern, text):
            return at, found[1]
    raise AssertionError(pattern)


@pytest.mark.parametrize(
    ("pattern", "new", "law"),
    [
        (r"elements: ([0-9]+)", "61440001", "elements-of-shape"),
        (r"size: ([0-9.]+) MB", "12.88", "bytes-of-elements"),
        (r"flops: ([0-9.]+) T", "69.64", "estimator-reproduced"),
        (r"Peak memory allocation: (3\.05) GB", "1.05", "peak-memory-falls"),
    ],
)
def test_a_changed_line_of_a_trace(
    corpus: Path, tmp_path: Path, pattern: str, new: str, law: str
) -> None:
    line, old = _line_of(corpus, "001", pattern)
    found = changed(corpus, tmp_path, "001", line, old, new)
    assert (law, line) in [(f.law, f.spans[0].line) for f in found]
    assert all(f.severity == "error" for f in found if f.law == law)


@pytest.mark.parametrize(
    ("line", "law"),
    [(r"\(Hidden\) gradclip_flop: [0-9,]+, gradclip_mem: (38,277,218,304)", "estimator-reproduced"),
     (r"Embedding Memory: (60\.3) GB", "estimator-total")],
)  # fmt: skip
def test_a_changed_line_of_a_dump(corpus: Path, tmp_path: Path, line: str, law: str) -> None:
    (folder,) = (corpus / "corpus" / "estimator_dump").glob("01_*")
    copy = tmp_path / "dump"
    copy.mkdir()
    for path in folder.iterdir():
        shutil.copyfile(path, copy / path.name)
    text = (copy / "summary.txt").read_text()
    old = re.search(line, text)
    assert old is not None
    at = text[: old.start()].count("\n") + 1
    new = old[0].replace(old[1], "9" + old[1][1:] if "," in old[1] else "6.03")
    (copy / "summary.txt").write_text(text.replace(old[0], new, 1))
    errors = [f for f in found_in(copy) if f.severity == "error"]
    assert law in {f.law for f in errors}
    assert any(at in {span.line for span in f.spans} for f in errors)


def test_a_chip_that_cannot_exist(corpus: Path, tmp_path: Path) -> None:
    line, _ = _line_of(corpus, "000", r"(Memory Size: 26\.8)")
    found = changed(corpus, tmp_path, "000", line, "26.8", "-26.8")
    assert ("negative-size", "error") in {(f.law, f.severity) for f in found}


LINE = (
    " iteration {n:8d}/    1000 | elapsed time per iteration (ms): 5837.9 "
    "| global batch size:     4 | grad norm: {norm} "
    "| number of skipped iterations:   0 | number of nan iterations:   0 |\n"
    "time (ms) | forward-compute: {forward} | backward-compute: 373.63 | save-checkpoint: 9999.0\n"
)


def test_timers_and_counters_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    rows = [(10 * n, "1.000", "378.78") for n in range(1, 9)]
    path.write_text("".join(LINE.format(n=n, norm=a, forward=b) for n, a, b in rows))
    assert found_in(path) == []
    rows[3] = (40, "nan", "37878.0")
    path.write_text("".join(LINE.format(n=n, norm=a, forward=b) for n, a, b in rows))
    assert said(found_in(path)) == [
        ("nan-not-counted", "identity", "warning", 7),
        ("timers-above-total", "identity", "error", 8),
    ]


def test_timers_that_count_otherwise_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text(
        "".join(LINE.format(n=10 * n, norm="1.0", forward="58379.0") for n in range(1, 9))
    )
    assert found_in(path) == []


def test_what_is_wrong_on_many_lines_is_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    rows = [(10 * n, "1.000", "378.78") for n in range(1, 41)]
    rows[3], rows[8], rows[30] = (
        (40, "1.0", "6200.0"),
        (90, "1.0", "7100.0"),
        (310, "1.0", "9000.0"),
    )
    path.write_text("".join(LINE.format(n=n, norm=a, forward=b) for n, a, b in rows))
    (finding,) = found_in(path)
    assert said([finding]) == [("timers-above-total", "identity", "error", 8)]
    assert [span.line for span in finding.spans] == [8, 18, 62]
    assert "so on 3 of 40 lines, at a ratio of 1.062 to 1.542" in finding.explanation
    assert [case.rpartition("#")[2] for case in finding.cases] == ["7", "17", "61"]


def test_a_rate_that_leaves_its_formula_along_a_log(tmp_path: Path) -> None:
    seconds = [29.1 + 0.173 * n for n in range(30)]
    rates = [narayanan_eq3(4096, 32, 2048, 50304) * 512 / (64 * t) / 1e12 for t in seconds]
    rates[4:8] = [1.25 * rate for rate in rates[4:8]]
    head = ("hidden_size 4096", "num_layers 32", "num_attention_heads 32", "seq_length 2048",
            "padded_vocab_size 50304", "world_size 64")  # fmt: skip
    body = [
        f" iteration {n:8d}/ 30 | elapsed time per iteration (s): {t:.2f} | "
        f"global batch size: 512 | TFLOPs: {rate:.2f} |"
        for n, (t, rate) in enumerate(zip(seconds, rates, strict=True), 1)
    ]
    arguments = [f"  {name} ".ljust(50, ".") + f" {value}" for name, value in map(str.split, head)]
    rule = "-" * 24
    path = tmp_path / "run.log"
    text = [f"{rule} arguments {rule}", *arguments, f"{rule} end of arguments {rule}", *body]
    path.write_text("\n".join(text) + "\n")
    found = [f for f in found_in(path) if f.severity != "note"]
    assert said(found) == [("rate-from-time", "identity", "error", 13)]
    assert "so on 4 of 30 lines, at a ratio of 1.25" in found[0].explanation
    assert len(found[0].cases) == 4
