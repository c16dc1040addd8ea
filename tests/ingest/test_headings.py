"""Headings in any spelling, sentences above a table, and what both say of its rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.schema.record import Line
from assay.ingest.source.headings import headed
from assay.validate.score.assess import understand
from hypothesis import given
from hypothesis import strategies as st

TABLE = """
| GPUs | TP | PP | TFLOP/s/GPU | Time/iter (s) |
|---|---|---|---|---|
| 512 | 8 | 8 | 612 | 12.1 |
"""
HTML = """
<table><tr><th>GPUs</th><th>TP</th><th>PP</th><th>TFLOP/s/GPU</th><th>Time/iter (s)</th></tr>
<tr><td>512</td><td>8</td><td>8</td><td>612</td><td>12.1</td></tr></table>
"""
RST = """
==== == == =========== =============
GPUs TP PP TFLOP/s/GPU Time/iter (s)
==== == == =========== =============
512  8  8  612         12.1
==== == == =========== =============
"""
TITLE = "GPT-3 175B scaling on H100 (FP8, Megatron-LM)"
SAYS = "Sequence length is 2048, vocabulary size 51200.\n"
SAID = {"model": "GPT-3 175B", "gpu": "H100", "dtype": "fp8", "seq_len": 2048, "vocab": 51200}


def said(path: Path, text: str) -> dict[str, object]:
    """Configuration of the first case of a document."""
    path.write_text(text)
    return understand(read([path])).cases.configuration.row(0, named=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", f"## {TITLE}\n\n{SAYS}{TABLE}"),
        ("b.md", f"{TITLE}\n---\n\n{SAYS}{TABLE}".replace("---\n\n", "-" * 40 + "\n\n", 1)),
        ("c.html", f"<h2 class='a'>{TITLE}</h2>\n<p>{SAYS}</p>{HTML}"),
        ("f.html", f"<html><body><h2>{TITLE}</h2></div>\n<p>{SAYS}</p>{HTML}"),
        ("g.html", f"<h2>{TITLE}</h2>\n<p>{SAYS}</p><h3>Rates</h3>{HTML}".replace("\n<tr", "<tr")),
        ("d.rst", f"{'=' * 46}\n{TITLE}\n{'=' * 46}\n\n{SAYS}{RST}"),
        ("e.rst", f"{TITLE}\n{'~' * 46}\n\n{SAYS}{RST}"),
    ],
)
def test_a_heading_speaks_of_its_table_in_every_spelling(
    tmp_path: Path, name: str, text: str
) -> None:
    found = said(tmp_path / name, text)
    assert {field: found.get(field) for field in SAID} == SAID


@pytest.mark.parametrize(
    ("sentence", "field", "value"),
    [
        ("Throughput of GPT-NeoX 20B on A100-40GB nodes:", "gpu", "A100-40GB"),
        ("Throughput of GPT-NeoX 20B on A100-40GB nodes:", "model", "GPT-NeoX 20B"),
        ("We trained on TPU v5p-128 with MaxText.", "gpu", "TPU v5p-128"),
        ("Results (fp16, GPT-2 1.5B, V100-32GB)", "dtype", "fp16"),
        ("Training is faster than on A100-40GB:", "gpu", None),
        ("We will run on MI300X in the future.", "gpu", None),
    ],
)
def test_a_sentence_right_above_a_table_introduces_it(
    tmp_path: Path, sentence: str, field: str, value: str | None
) -> None:
    assert said(tmp_path / "a.md", f"{sentence}\n{TABLE}").get(field) == value


@pytest.mark.parametrize(
    ("sentence", "field", "value"),
    [
        ("All runs use BF16, sequence length 4096.", "dtype", "bf16"),
        ("The global batch size was 512 and the micro-batch size was 2.", "global_batch", 512),
        ("A context length of 8k and a global batch size of 4M tokens.", "seq_len", 8192),
        ("A context length of 8k and a global batch size of 4M tokens.",
         "global_batch_tokens", 4_000_000),
        ("We compare bf16 and fp16 with a sequence length of 2048.", "dtype", None),
    ],
)  # fmt: skip
def test_words_of_a_sentence(
    tmp_path: Path, sentence: str, field: str, value: str | int | None
) -> None:
    found = said(tmp_path / "a.md", f"## Runs\n\n{sentence}\n\nHere they are.\n{TABLE}")
    assert found.get(field) == value


WORDS = st.lists(
    st.sampled_from(["GPT-3", "on", "H100", "<b>fast</b>", "(FP8)", "2x"]), min_size=1, max_size=6
).map(" ".join)


@given(WORDS, st.sampled_from("=-~^\"'+"), st.integers(1, 6))
def test_words_stand_where_they_are_printed(text: str, mark: str, level: int) -> None:
    ruled = headed([Line(1, text, 1, {}), Line(2, mark * len(text), 1, {})])
    assert all(line.column == 1 for line in ruled), "a column is never before the line"
    for lines in (
        [f"<h{level} id='x'>{text}</h{level}>"],
        [f"{'#' * level} {text}"],
    ):
        printed = [Line(number, each, 1, {}) for number, each in enumerate(lines, 1)]
        for line in headed(printed):
            raw = lines[line.number - 1]
            for word in ("H100", "FP8"):
                if word in line.text:
                    assert raw[line.column - 1 + line.text.find(word) :].startswith(word)


def test_a_rule_between_paragraphs_or_under_a_header_of_a_table_makes_no_heading() -> None:
    for text in (
        "words of a paragraph\nthat goes on\n-----------\n",
        "GPUs   TP   step (s)\n--------------------\n8      1    2.3\n",
        "a long sentence that ends a paragraph.\n\n---\n\nmore\n",
        "---\ntitle: a page\n---\n",
    ):
        printed = [Line(number, each, 1, {}) for number, each in enumerate(text.split("\n"), 1)]
        assert headed(printed) == printed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rst", f".. list-table:: {TITLE}, sequence length 2048\n   :header-rows: 1\n\n"
         "   * - GPUs\n     - Time/iter (s)\n   * - 512\n     - 12.1\n\nOthers.\n\n{table}"),
        ("b.rst", f".. table:: {TITLE}, sequence length 2048\n\n"
         "   ====  =============\n   GPUs  Time/iter (s)\n   ====  =============\n"
         "   512   12.1\n   ====  =============\n\nOthers.\n\n{table}"),
        ("c.html", f"<table><caption>{TITLE}, sequence length 2048</caption>\n"
         "<tr><th>GPUs</th><th>Time/iter (s)</th></tr>\n<tr><td>512</td><td>12.1</td></tr>\n"
         "</table>\n<p>Others.</p>\n{table}"),
    ],
)  # fmt: skip
def test_a_title_by_markup_is_of_its_table_alone(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text.replace("{table}", HTML if name.endswith("html") else RST))
    cases = understand(read([path])).cases.configuration.sort("line")
    one, other = cases.rows(named=True)
    assert [one[field] for field in ("gpu", "seq_len")] == ["H100", 2048]
    assert [other.get(field) for field in ("gpu", "seq_len", "model")] == [None, None, None]


def test_a_sentence_over_two_lines_names_several_devices(tmp_path: Path) -> None:
    text = "The instances are g3.8xlarge (2 Tesla M60, 16 GB) and\ng4dn.4xlarge (1 T4).\n"
    assert said(tmp_path / "a.md", text + TABLE).get("gpu") is None
    text = "The old instances were not measured again in the runs below.\nAll of them use 8 A100.\n"
    assert said(tmp_path / "b.md", text + TABLE)["gpu"] == "A100"
