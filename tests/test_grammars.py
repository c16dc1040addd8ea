"""Grammars: no two terminals of equal priority may match the same text."""

from __future__ import annotations

import contextlib
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.lines import lark
from assay.ingest.lines.lark import build, grammar, parse_line
from assay.ingest.schema.record import Code, Diagnostic, Span
from lark import Lark
from lark.exceptions import UnexpectedInput

NAMES = sorted(
    path.name.removesuffix(".lark")
    for path in files("assay.grammars").iterdir()
    if path.name.endswith(".lark") and path.name != "common.lark"
)


LONG = "context"
"""The grammar whose terminals take as long as those of all others to be told from one another."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n == LONG else []) for n in NAMES]
)
def test_terminals_do_not_collide(name: str) -> None:
    built = build(files("assay.grammars").joinpath(f"{name}.lark").read_text(), strict=True)
    assert isinstance(built, Lark)


def test_every_format_has_its_grammar() -> None:
    for fmt in (each for each in FORMATS if each.lines != "whole"):
        assert fmt.name in NAMES
        assert all(start.endswith(("_line", "_cell")) for start in grammar(fmt.name).options.start)


def test_a_terminal_that_does_not_exist_is_named() -> None:
    with pytest.raises(KeyError, match=r"context\.lark has no terminal NOWHERE"):
        lark.terminal_of("context", "NOWHERE")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("iteration 3/ 5 | : 3", 18, "cannot read ': 3', expected amount or bar or key"),
        ("iteration 3/ 5 | 1.5 s: 3", 23, "cannot read ': 3', expected bar"),
    ],
)
def test_a_syntax_error_points_at_its_character(text: str, column: int, message: str) -> None:
    fault = parse_line("megatron_iteration", "iteration_line", text, Span("a.log", 1))
    assert isinstance(fault, Diagnostic)
    assert fault.code is Code.SYNTAX
    assert (fault.span.column, fault.message) == (column, message)


def test_tables_that_were_kept_read_as_those_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    lark.grammar.cache_clear()
    made = lark.grammar("deepflow_dump")
    lark.grammar.cache_clear()
    monkeypatch.setattr(lark, "build", unwanted)
    kept = lark.grammar("deepflow_dump")
    for text in ("Cf GEMM_time: 0.5", "Cf GEMM_time: 0.5.1", "Cf GEMM_flop: 1,0"):
        with contextlib.suppress(UnexpectedInput):
            assert kept.parse(text, start="gemm_time_line") == made.parse(
                text, start="gemm_time_line"
            )
    span = Span("a", 1)
    fault = lark.parse_line("deepflow_dump", "gemm_time_line", "Cf GEMM_time: x", span)
    assert "expected seconds" in str(fault)
    monkeypatch.undo()
    lark.grammar.cache_clear()


def unwanted(_text: str) -> None:
    raise AssertionError("tables are made that are there already")


@pytest.mark.parametrize("said", [b"", b"no tables", b"\0" * 400])
def test_tables_that_are_damaged_are_made_anew(
    said: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    lark.grammar.cache_clear()
    lark.grammar("step_rate")
    (path,) = tmp_path.rglob("*.tables")
    whole = path.read_bytes()
    path.write_bytes(said or whole[:-20])
    lark.grammar.cache_clear()
    assert lark.grammar("step_rate").terminals
    assert len(path.read_bytes()) == len(whole)
    lark.grammar.cache_clear()


def test_tables_that_cannot_be_written_are_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "file").write_text("not a folder")
    lark.grammar.cache_clear()
    assert lark.grammar("step_rate").terminals
    lark.grammar.cache_clear()
