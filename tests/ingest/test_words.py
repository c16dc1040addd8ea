"""Words of eight bytes read as numbers, beside what Python makes of the same text."""

from __future__ import annotations

import numpy as np
from assay.ingest.formats.megatron.megatron_iteration import FORMAT
from assay.ingest.lines.byte_digits import SHORTEST, Lines, Word, Words
from assay.ingest.lines.bytewise import shape_of
from assay.ingest.lines.template import learn
from assay.ingest.source.opening import Source, source
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

DIGITS = "0123456789"


@st.composite
def pages(draw: st.DrawFn) -> tuple[list[str], list[Word]]:
    """Lines of one length and the words in them, in any place, some the same in all lines."""
    lines = [""] * draw(st.integers(1, 40))
    words = []
    while not words or (len(words) < 4 and draw(st.booleans())):
        label = draw(st.text("abc: |", max_size=9))
        fraction = draw(st.integers(0, 6))
        whole = draw(st.integers(1, 7 - fraction if fraction else 8))
        height = 1 if draw(st.booleans()) else len(lines)
        said = [draw(st.text(DIGITS, min_size=n, max_size=n)) for n in [whole + fraction] * height]
        texts = [f"{s[:whole]}.{s[whole:]}" if fraction else s for s in said]
        lines = [
            line + label + text
            for line, text in zip(lines, texts * (len(lines) // height), strict=True)
        ]
        words.append(Word(len(lines[0]), whole, fraction))
    end = draw(st.text("xyz", min_size=max(SHORTEST - len(lines[0]), 0), max_size=12))
    return [line + end for line in lines], words


@settings(max_examples=examples(300), deadline=None)
@given(pages())
def test_words_are_the_numbers_in_the_text(page: tuple[list[str], list[Word]]) -> None:
    lines, words = page
    rows = np.frombuffer("".join(lines).encode(), np.uint8).reshape(len(lines), -1)
    read = Lines.of(rows)
    assert read.low == bytes(map(min, zip(*map(str.encode, lines), strict=True)))
    assert read.high == bytes(map(max, zip(*map(str.encode, lines), strict=True)))
    for word, said in Words.of(words).read(read).items():
        texts = [line[word.start : word.end].replace(".", "") for line in lines]
        assert said.alike == (len(set(texts)) == 1)
        assert said.values.tolist() == [int(text) for text in (texts[:1] if said.alike else texts)]


def test_lines_too_short_for_a_word_have_no_shape() -> None:
    text = " iteration 1/ 9 | lm loss: 1.5 |"
    whole = source("a.log", text.encode())
    assert isinstance(whole, Source)
    layout, schema = learn(FORMAT, whole, 1, text), next(iter(FORMAT.schemas.values()))
    assert layout is not None
    assert shape_of(layout, np.frombuffer(text.encode(), np.uint8), schema) is not None
    assert shape_of(layout, np.frombuffer(text.encode()[: SHORTEST - 1], np.uint8), schema) is None
