"""Noise is searched in a hurry and loses nothing: each short cut against the long way."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.megatron.megatron_iteration import MegatronIteration
from assay.ingest.lines.candidates import begun, opening
from assay.ingest.pipeline import scan as scan_module
from assay.ingest.pipeline.noise import SUSPICIOUS, interest, may_state, tally
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields, labelled
from assay.ingest.source import opening as source_module
from assay.ingest.source.opening import Source, source
from assay.ingest.source.prefixes import (
    holds,
    peel,
    prefix_pattern,
    region,
    with_zeros,
)
from assay.ingest.statements.context import read_context
from assay.ingest.statements.worth import ENDS, SAYS, WORTH

from ..benchmarks import inputs
from ..conftest import FIXTURES, mostly_slow
from .test_engines import agree, both

ZEROS = [with_zeros(each) for each in interest(FORMATS)]
"""What is of interest in lines with zeros for digits."""

UNITS = (
    "5 TFLOP", "3TiB", "7 GB", "2 s/it", "9secs/it", "1ms/it", "3it/s", "8 tok/s", "7 tokens/s",
    "1 sample/s", "44 % MFU", "MFU: 3", "HFU 4", "TFLOPs (5", "s/it: 4", "tokens/s 7", "6Mb,",
)  # fmt: skip
LEADS = (
    "[default7]: ", "3:  ", "[2024-06-02 10:02:12] ", "INFO - ", "stdout: ", "worker-1: ", "> ",
    "[INFO]", "(T pid=1) ", "[1,0]<stdout>: ", "2024-06-02 10:02:12 | ", "10.7.21.246: ", "\t",
    " 45%|####5     | 9/20 [00:12<00:15,  1.39s/it]", "[rank0]:", "[a/b:402:c] ", "\u00a0", "\x1c",
)  # fmt: skip
STATEMENTS = (
    "TP=8", "  * TP=8 / PP=1.", "20B model: TP=8, PP=1, VOCAB_LENGTH=250k, GBS=2048", "### bf16",
    "all NHEADS=64 (above too)", "20 nodes, 2 replicas", "- 16 GPUs:", "## 8x A100 80GB", "A B: 5",
    "* **Global batch size**: 512", "`seq_len`: 4096", "Seq Len (T): 4096", "GPUs/node: 8",
    "export TP=8", "[default0]: world size: 8", "hidden size: 6,144", "**TP=4**, PP=2", "x = 1",
    "activation recomputation: True", 'GPUs = "8"', "params=1.3B", "all TP=2 (also above)",
)  # fmt: skip


def texts() -> list[str]:
    """Lines of fixtures, and made ones: units and prefixes, whole and hurt."""
    rng = random.Random(3)
    found = [*STATEMENTS, *(f"{lead}## 8x A100 80GB" for lead in LEADS)]
    for path in sorted(FIXTURES.rglob("*")):
        if path.suffix in {".log", ".md", ".txt"}:
            data = path.read_bytes().decode("utf-8", "replace")
            found += data.replace("\r", "").split("\n")[:200]
    for _ in range(3000):
        unit = rng.choice(UNITS)
        unit = rng.choice([unit, unit.lower(), unit.upper()])
        at = rng.randrange(len(unit) + 1)
        torn = unit[:at] + rng.choice(" x/5") + unit[at:]
        found.append(rng.choice(["", "x ", "a"]) + rng.choice([unit, torn]) + rng.choice(["", "x"]))
        found.append("".join(rng.choices(LEADS, k=2))[: rng.randrange(60)])
    return found


def test_what_is_of_no_interest_is_blank_or_nothing() -> None:
    lines = lines_of(texts())
    silent = lines.filter(~holds(lines["text"], *interest(FORMATS)))
    assert tally(silent).suspicious == ()
    assert not any(begun(silent, fmt).height for fmt in FORMATS if fmt.lines == "single")
    assert not any(opening(silent["text"], fmt) for fmt in FORMATS if fmt.lines == "document")
    assert 1000 < silent.height < lines.height - 1000


@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_what_is_of_interest_is_so_with_zeros_for_digits(share: int) -> None:
    found = pl.Series(texts()[::share])
    zeros = found.str.replace_all("[1-9]", "0")
    hidden = holds(found, *interest(FORMATS))
    hidden &= ~holds(zeros, *ZEROS)
    assert found.filter(hidden).to_list() == []
    assert (~holds(zeros, *ZEROS)).sum() > 1000 / share


@pytest.mark.parametrize("share", [40, pytest.param(8, marks=pytest.mark.slow)])
def test_in_any_script_no_less_is_found_than_by_each_pattern_as_it_is_written(share: int) -> None:
    """Patterns are put together, and a word ends where its letters of ASCII do."""
    digits = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    plain = texts()[::share]
    others = [
        *(text.translate(digits) + " 显存" for text in plain),
        *(text.replace(" ", "的") for text in plain),
    ]
    for patterns in (interest(FORMATS), WORTH, SAYS, (ENDS,)):
        for found, exact in ((pl.Series(plain), True), (pl.Series(others), False)):
            each = np.any([found.str.contains(pattern) for pattern in patterns], axis=0)
            together = holds(found, *patterns).to_numpy()
            assert found.filter(pl.Series(each & ~together)).to_list() == []
            assert not exact or (each == together).all()


def test_with_zeros_for_digits_hardly_more_noise_is_of_interest() -> None:
    """A number in a pattern without a letter beside it (`910`) is found in half of all lines."""
    lines = pl.Series(inputs.noise(random.Random(4), 4000)).str.strip_chars_end("\n")
    zeros = lines.str.replace_all("[1-9]", "0")
    found = holds(lines, *interest(FORMATS)).sum()
    assert found < 300
    assert holds(zeros, *ZEROS).sum() < found + 40


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("MI[23]50X?", "MI250"), ("[^1-4]x", "5x"), ("[^a0-9]7", "b7"), ("[+-5]z", "3z"),
        ("^[]7]$", "7"), (r"\x37", "7"), ("(?<h2>h)2{2}", "h22"), ("[a[78]]", "8"),
        ("[^7]q", "8q"), (r"\d{1,3}k[\d.]", "12k."), ("(?i:FP8)", "fp8"),
    ],
)  # fmt: skip
def test_with_zeros_finds_no_less(pattern: str, text: str) -> None:
    assert pl.Series([text]).str.contains(pattern).all()
    zeros = re.sub("[0-9]", "0", text)
    assert pl.Series([zeros]).str.contains(with_zeros(pattern)).all()


def lines_of(found: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"line": range(1, len(found) + 1), "text": found},
        schema={"line": pl.UInt32, "text": pl.String},
    )


def test_the_tally_is_exact() -> None:
    lines = lines_of(texts())
    blank = lines["text"].str.contains(prefix_pattern() + "$")
    sums = tally(lines)
    assert sums.blank == blank.sum() > 1000
    rest = lines.filter(~blank)
    assert sums.suspicious == tuple(n for n, text in rest.iter_rows() if SUSPICIOUS.search(text))
    assert sums.not_ours == rest.height


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("DEEPMD INFO    batch 100 training time 12.31 s, testing time 0.05 s", True),
        ("DEEPMD INFO    batch 100: total wall time = 12.31 s", True),
        (" 100: 8.012345, 8.123456 avg loss, 0.001000 rate, 3.456789 seconds, 6400 images", True),
        ("Performance: 12.3 ns/day, 1.9 hours/ns, 143.2 timesteps/s", True),
        ("Loop time of 12.3 on 4 procs for 1000 steps with 4000 atoms", True),
        ("40/3000 batches, 12.3 utt/sec", True),
        ("    loaded indexed file in 0.007 seconds", False),
        ("reading yolov5s/weights/5 seq/shard", False),
        ("run time limit of 3 hours, 2 losses", False),
    ],
)  # fmt: skip
def test_a_number_beside_a_time_a_rate_or_a_loss_is_suspicious(text: str, *, odd: bool) -> None:
    assert bool(tally(lines_of([text])).suspicious) is odd


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_no_statement_is_passed_over(share: int) -> None:
    found = texts()
    lines = lines_of(found[: len(STATEMENTS)] + found[len(STATEMENTS) :: share])
    may = may_state(lines["text"]) & holds(lines["text"], *interest(FORMATS))
    whole = source("a", b"")
    assert isinstance(whole, Source)
    passed = region(whole, peel(lines.filter(~may))).lines
    context = read_context("a", passed, set(), {})
    assert (context.statements, context.sections) == ([], [])
    assert may[: len(STATEMENTS)].sum() >= len(STATEMENTS) - 2


@pytest.mark.parametrize("schema", [Configuration, MegatronIteration])
def test_no_label_is_passed_over(schema: type[Configuration] | type[MegatronIteration]) -> None:
    """Whatever stands between its letters that its reader takes for nothing."""
    draw = random.Random(3)
    labels = [label for spec in fields(schema).values() for label in spec.labels]
    spelled = [
        "".join(c + draw.choice(["", "", "", " ", "_", "-", "**", "(", "`"]) for c in label)
        for label in labels * 3
    ]
    ends = (draw.choice([": 5", " = x", ' (ms)": 5', "&nbsp;: 3", "<br/> : 1"]) for _ in spelled)
    texts = pl.Series([f"- {draw.choice([str.upper, str.lower])(each)}{end}"
                       for each, end in zip(spelled, ends, strict=True)])  # fmt: skip
    found = labelled(texts, schema)
    assert texts.filter(~found).to_list() == []
    assert not labelled(pl.Series(["", "node0: 5", "5 layers", "took 3 ms"]), schema).any()


def test_a_line_that_said_nothing_may_say_something_later() -> None:
    before = "- Same model on half of the nodes:"
    shape = "hidden size: 6144, number of layers: 44, number of heads: 64, sequence length: 2048"
    lines = [before, before, shape, before, "the same line", "the same line", before]
    whole = source("a", b"")
    assert isinstance(whole, Source)
    context = read_context("a", region(whole, peel(lines_of(lines))).lines, set(), {})
    assert [each.line for each in context.statements] == [3, 4, 7]
    assert all(each.values["hidden"].text == "6144" for each in context.statements)


@pytest.mark.parametrize(("size", "spared"), mostly_slow([(200, 0), (200, 1000), (3000, 0)], 3))
def test_blocks_change_nothing(size: int, spared: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "BLOCK", size)
    monkeypatch.setattr(scan_module, "SPARED", spared)
    agree(50, 50, 10)


@pytest.mark.parametrize(
    "lines", mostly_slow([[b" iteration 2/ 10 | lm loss: 2.4 |"], [b"", b"words"], []], 3)
)
def test_a_line_that_is_too_long_is_counted_once(lines: list[bytes]) -> None:
    data = b"\n".join([b"words", b"x" * (source_module.MAX_LINE + 1), *lines]) + b"\n"
    sums = both(data).accounting[0]
    assert (
        sums.lines == 2 + len(lines) == sum((sums.claimed, sums.refused, sums.blank, sums.not_ours))
    )
    assert sums.refused == 1


def unknown(path: Path, lines: int) -> tuple[int, str, int]:
    """Exit code, what is said, and peak memory in MB of an ingest of so many unknown lines."""
    text = "".join(f"worker {n} says nothing of interest, shard {n % 97}\n" for n in range(10_000))
    with path.open("w") as file:
        for _ in range(lines // 10_000):
            file.write(text)
    code = (
        "import resource, sys; from assay.validate.cli import app\n"
        "try: app()\n"
        "finally: print('PEAK', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    out = path.with_suffix(".out")
    command = [sys.executable, "-c", code, "ingest", str(path), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, int(done.stdout.split("PEAK")[1])


def test_noise_alone_is_said_to_be_unknown(tmp_path: Path) -> None:
    code, said, _ = unknown(tmp_path / "noise.log", 20_000)
    assert code == 4
    assert "recognised 0 of 20,000 lines; tried megatron_iteration" in said


@pytest.mark.slow
def test_ten_million_lines_of_noise(tmp_path: Path) -> None:
    code, said, peak = unknown(tmp_path / "noise.log", 10_000_000)
    assert code == 4
    assert "recognised 0 of 10,000,000 lines" in said
    assert peak < 450
