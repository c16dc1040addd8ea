"""Grammars: no two terminals of equal priority may match the same text."""

from __future__ import annotations

from importlib.resources import files

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.parse import build, grammar, parse_line, terminal
from assay.ingest.types import Code, Diagnostic, Span
from lark import Lark

NAMES = sorted(
    path.name.removesuffix(".lark")
    for path in files("assay.grammars").iterdir()
    if path.name.endswith(".lark") and path.name != "common.lark"
)


@pytest.mark.parametrize("name", NAMES)
def test_terminals_do_not_collide(name: str) -> None:
    built = build(files("assay.grammars").joinpath(f"{name}.lark").read_text(), strict=True)
    assert isinstance(built, Lark)


def test_every_format_has_its_grammar() -> None:
    for fmt in FORMATS:
        assert fmt.name in NAMES
        assert all(start.endswith(("_line", "_cell")) for start in grammar(fmt.name).options.start)


def test_a_terminal_that_does_not_exist_is_named() -> None:
    with pytest.raises(KeyError, match=r"context\.lark has no terminal NOWHERE"):
        terminal("NOWHERE", of="context")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("iteration 3/ 5 | : 3", 18, "cannot read ': 3', expected bar or key"),
        ("iteration 3/ 5 | 12.5 s", 18, "cannot read '12.5 s', expected bar or key"),
    ],
)
def test_a_syntax_error_points_at_its_character(text: str, column: int, message: str) -> None:
    fault = parse_line("megatron_iteration", "iteration_line", text, Span("a.log", 1))
    assert isinstance(fault, Diagnostic)
    assert fault.code is Code.SYNTAX
    assert (fault.span.column, fault.message) == (column, message)
