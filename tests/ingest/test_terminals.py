"""Terminals read from `common.lark` without building a parser are those that Lark reads."""

from __future__ import annotations

import random
from importlib.resources import files

import polars as pl
import pytest
from assay.ingest.lines.lark import build
from assay.ingest.schema.terminals import terminal
from assay.ingest.source import prefixes

from tests.conftest import FIXTURES


def test_shared_terminals_are_larks() -> None:
    text = files("assay.grammars").joinpath("common.lark").read_text(encoding="utf-8")
    names = [line.split(":")[0].split(".")[0] for line in text.splitlines() if line[:1].isupper()]
    assert len(names) > 20
    for name in names:
        lark = build(f"start: {name}\n%import .common.{name}")
        said = {each.name: each.pattern.to_regexp() for each in lark.terminals}
        assert terminal(name) == said[name].replace("\r", r"\r"), name
    with pytest.raises(KeyError):
        terminal("NO_SUCH")


@pytest.mark.parametrize(
    "pattern", [*prefixes._prefixes(), r"(\W+[^0-9:]*[^]\s]\S)", r"(?i)(loss\W{0,3}[^|\W]+[^\W_])"]
)
def test_patterns_for_ascii_find_the_same_in_ascii(pattern: str) -> None:
    draw = random.Random(9)
    paths = (path for path in FIXTURES.rglob("*") if path.suffix in (".log", ".txt", ".md"))
    texts = (path.read_bytes().decode("ascii", "ignore") for path in paths)
    lines = [line for text in texts for line in text.split("\n")]
    some = draw.sample(lines, 2000)
    for at, line in enumerate(some[:1000]):
        begin = draw.randrange(len(line) + 1)
        some[at] = line[:begin] + draw.choice("[]: |>-()0aZ_.\t\x1c\x0b/") + line[begin:]
    held = pl.Series(some)
    assert held.str.extract(pattern).equals(held.str.extract(prefixes.in_ascii(pattern)))
