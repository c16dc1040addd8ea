"""Lines of a block: the same whether their ends, their texts or a few come first."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from assay.ingest.source import blocks as block_module
from assay.ingest.source.blocks import Block
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

PIECE = st.sampled_from(
    [
        b"",
        b"a",
        b"iteration 1/ 2 |",
        b"\r",
        b"\x1b[0m",
        b"\x00",
        b"\xff",
        "é".encode(),
        b" ",
        b"\x1c",
    ]
)
LINE = st.lists(PIECE, max_size=4).map(b"".join)
DATA = st.tuples(st.lists(LINE, min_size=1, max_size=12), st.booleans()).map(
    lambda drawn: b"\n".join(drawn[0]) + (b"\n" if drawn[1] else b"")
)


@settings(max_examples=examples(150), deadline=None)
@given(DATA.filter(len), st.randoms(use_true_random=False), st.integers(1, 2))
def test_lines(data: bytes, rng: object, first: int) -> None:
    assert hasattr(rng, "random")
    wanted = data.removesuffix(b"\n").split(b"\n")
    ends_first, cut_first = Block(data, first), Block(data, first)
    assert ends_first.height == len(wanted)
    texts = cut_first.lines
    for block in (ends_first, cut_first):
        assert block.height == len(block.starts) == len(wanted)
        assert [block.raw(first + at) for at in range(block.height)] == wanted
        assert block.widths.tolist() == [len(line) for line in wanted]
        stops = [a + len(w) - w.endswith(b"\r") for a, w in zip(block.starts, wanted, strict=True)]
        assert block.stops.tolist() == stops
    which = np.array([rng.random() < 0.4 for _ in wanted])
    assert ends_first.some(which).equals(texts.filter(pl.Series(which)))
    assert cut_first.some(which).equals(texts.filter(pl.Series(which)))
    assert ends_first.lines.equals(texts)


@pytest.mark.parametrize("few", [0, 2**18])
def test_texts(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Escapes that a terminal hides are taken out; a byte that is not UTF-8 is replaced."""
    monkeypatch.setattr(block_module, "_FEW", few)
    block = Block(b"\xef\xbb\xbfone\r\ntw\x1b[31mo\r\r\n\xff\n\nfi\rve", 1)
    assert block.lines.rows() == [(1, "one"), (2, "two"), (3, "\ufffd"), (4, ""), (5, "fi\rve")]
    assert not block.plain
    assert Block(b"one\ntwo\x1c", 7).plain
