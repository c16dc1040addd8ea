"""Paragraphs that were broken at some width are read as if they had not been."""

from __future__ import annotations

import textwrap

from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, source
from assay.ingest.source.soft_wraps import NARROWEST, joined
from hypothesis import assume, given
from hypothesis import strategies as st

WORDS = st.lists(
    st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12),
    min_size=2,
    max_size=80,
)

PAGE = """\
# Training GPT

{}

An unrelated remark on which nobody who reads this page
will ever have to rely.

| Model | tokens/s |
|---|---|
| GPT-7B | 12000 |
"""

BROKEN = """\
We train on eight nodes with 8
H100 each, in bf16, at a sequence length of
4096."""


@given(WORDS, st.integers(30, 90))
def test_what_was_broken_at_a_width_is_whole_again(words: list[str], width: int) -> None:
    whole = "We ran " + " ".join(words)
    lines = textwrap.wrap(whole, width)
    assume(max(map(len, lines)) >= NARROWEST)
    text, seams = joined("\n".join(lines).encode())
    assert text.decode().rstrip("\n") == whole
    assert text.count(b"\n") == len(lines) - 1
    held = text.decode()
    for seam in seams.get(1, ()):
        begun = lines[seam.line - 1]
        assert held[seam.at : seam.at + len(begun)] == begun


def test_nothing_but_prose_is_joined() -> None:
    for text in (
        b"| a line | of a table\n| and | the next\n",
        b"```\nsome long line of a program that\ngoes on\n```\n",
        b"Setup A: TP=8, PP=2, ZeRO-1, micro-batch 2\nSetup B: TP=2, PP=4, ZeRO-2, micro-batch 1\n",
        b"- one item of a list that is as long as others\n- another item of it\n",
        b"The line ends here on purpose,  \nand the next one begins\n",
        b"===== ====\nNodes GPUs\n===== ====\n",
        "¹ with a note that is long enough to be broken\n² and another note\n".encode(),
    ):
        assert joined(text) == (text, {})


def test_cells_stand_where_their_words_do_and_lines_are_what_their_paragraph_is() -> None:
    opened = source("page.md", PAGE.format(BROKEN).encode())
    assert isinstance(opened, Source)
    reading = read_source(opened, FORMATS)
    told = reading.provenance.select("field", "from_line").rows()
    assert {"nodes": 3, "gpus_per_node": 3, "gpu": 4, "dtype": 4, "seq_len": 5}.items() <= {
        *dict(told).items()
    }
    (account,) = reading.accounting
    assert (account.claimed, account.refused, account.blank) == (6, 0, 3)
    assert account.claimed + account.blank + account.not_ours == account.lines
