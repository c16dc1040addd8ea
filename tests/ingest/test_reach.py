"""Lines that may belong to something that was opened above."""

from __future__ import annotations

import numpy as np
from assay.ingest.formats import FORMATS
from assay.ingest.lines.candidates import Edges, Open, after, marked
from assay.ingest.pipeline.scan import scan
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.format import Reach
from assay.ingest.source.opening import Source, source
from hypothesis import given
from hypothesis import strategies as st

LINES = 60


def naive(kinds: list[str], reach: int) -> list[bool]:
    """Line by line: open as long as more was opened than closed, at most `reach` lines on."""
    many, last, found = 0, 0, []
    for at, kind in enumerate(kinds):
        was = many > 0 and at - last <= reach
        if kind == "open":
            many, last = many + 1, at
        elif kind == "close":
            many = max(many - 1, 0)
        found.append(was or kind == "open")
    return found


@given(
    st.lists(st.sampled_from(["open", "close", *["other"] * 5]), min_size=1, max_size=LINES),
    st.integers(0, 20),
    st.integers(0, LINES),
)
def test_what_is_open_is_within_reach(kinds: list[str], lines: int, cut: int) -> None:
    reach, opened = Reach(lines, "x"), Open()
    found: list[bool] = []
    for first, part in ((0, kinds[:cut]), (cut, kinds[cut:])):  # block by block
        at = {
            kind: np.array([first + n for n, each in enumerate(part) if each == kind], np.int64)
            for kind in ("open", "close")
        }
        edges = Edges(at["open"], at["close"])
        numbers = np.arange(first, first + len(part))
        found += marked(edges, reach, opened, numbers).tolist()
        opened = after(edges, opened)
    assert found == naive(kinds, lines)


def dump(rank: str, *arguments: str) -> list[str]:
    lines = [f"  {name} {'.' * (40 - len(name))} 1" for name in arguments]
    return [
        rank + line for line in ("-------- arguments --------", *lines,
                                 "-------- end of arguments --------")
    ]  # fmt: skip


def opened(text: str) -> Source:
    found = source("a.log", text.encode())
    assert isinstance(found, Source)
    return found


def test_training_lines_behind_a_dump_are_read_by_columns() -> None:
    lines = [
        f" iteration {at:6}/ 900000 | elapsed time per iteration (ms): 12{at % 10}.5 |"
        f" lm loss: 2.{at:06} |"
        for at in range(1, 2001)
    ]
    text = "\n".join([*dump("", "lr", "seed"), *lines]) + "\n"
    found = scan(opened(text), FORMATS).rows["megatron_iteration"]
    assert sum(each.height for each in found) >= len(lines) - 1  # the last is read alone

    torn = opened(text.replace("-------- end of arguments --------\n", ""))
    assert "megatron_iteration" not in scan(torn, FORMATS).rows
    assert read_source(torn, FORMATS).frames["megatron_iteration"].height == len(lines)
