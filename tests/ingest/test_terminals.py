"""Terminals read from `common.lark` without building a parser are those that Lark reads."""

from __future__ import annotations

from importlib.resources import files

import pytest
from assay.ingest.parse import build, terminal


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
