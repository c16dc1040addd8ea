"""Small documents read together are read as each alone; lines of one shape as Lark reads each."""

from __future__ import annotations

import random
import re
from pathlib import Path
from re import _constants as opcodes
from re import _parser as parser
from typing import Any

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.deepflow import deepflow_config, deepflow_lines
from assay.ingest.formats.layers import layer_estimates
from assay.ingest.formats.steps import generic_step, step_pairs
from assay.ingest.formats.ulysses import ulysses_trace
from assay.ingest.inputs.chunks import Chunk
from assay.ingest.inputs.read import read_chunk, recipe
from assay.ingest.lines.lark import Token, Tree, grammar, parse_alike, parse_line
from assay.ingest.lines.linewise import Lines, Said
from assay.ingest.pipeline.merge import merge
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Diagnostic, Line, Span
from assay.ingest.source.opening import Source, source
from polars.expr.string import ExprStringNameSpace
from polars.testing import assert_frame_equal

from tests.conftest import FIXTURES, mostly_slow

BY_SHAPE = {
    "deepflow_config": deepflow_config.LINES,
    "deepflow_dump": deepflow_lines.LINES,
    "layer_estimates": layer_estimates.LINES,
    "ulysses_trace": ulysses_trace.LINES,
}
DIGITS = frozenset(map(ord, "0123456789"))


def digits(items: list[tuple[Any, Any]]) -> set[int]:
    """The digits of a character class."""
    found: set[int] = set()
    for kind, value in items:
        if kind is opcodes.RANGE:
            found |= DIGITS & set(range(value[0], value[1] + 1))
        elif kind is opcodes.LITERAL:
            found |= DIGITS & {value}
        elif kind is opcodes.CATEGORY and value in (opcodes.CATEGORY_DIGIT, opcodes.CATEGORY_WORD):
            found |= DIGITS
    return found


def inside(kind: Any, value: Any) -> list[Any]:
    """The expressions that a part of one is made of; a doubtful one where it is not known here."""
    if kind is opcodes.BRANCH:
        return [*value[1]]
    if kind is opcodes.SUBPATTERN:
        return [value[-1]]
    if kind in (opcodes.ASSERT, opcodes.ASSERT_NOT):
        return [value[1]]
    if kind in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
        return [value[2]]
    if kind is opcodes.GROUPREF_EXISTS:
        return [each for each in value[1:] if each is not None]
    if kind is opcodes.IN and digits(value) in (set(), DIGITS):
        return []
    if kind is opcodes.NOT_LITERAL and value not in DIGITS:
        return []
    if kind in (opcodes.AT, opcodes.ANY, opcodes.CATEGORY, opcodes.LITERAL):
        return []
    return [parser.parse("1")]


def tells_digits_apart(pattern: Any) -> bool:
    """Whether a regular expression knows one digit from another, but for those behind letters."""
    before = " "
    for kind, value in pattern:
        digit = kind is opcodes.LITERAL and value in DIGITS
        if digit and not re.fullmatch("[A-Za-z_0-9]", before):
            return True
        before = chr(value) if kind is opcodes.LITERAL else " "
        if any(map(tells_digits_apart, inside(kind, value))):
            return True
    return False


@pytest.mark.parametrize(
    "pattern", ["a1", "[0-9]+", r"\w\d", "l2mem", "(?:x[0-9]{1,3})+", "mm2|GB"]
)
def test_such_patterns_tell_no_digits_apart(pattern: str) -> None:
    assert not tells_digits_apart(parser.parse(pattern))


@pytest.mark.parametrize("pattern", ["1", "[1-9]", "a|2", "(?:-3)", "[^0]", "x(?=4)"])
def test_such_patterns_tell_digits_apart(pattern: str) -> None:
    assert tells_digits_apart(parser.parse(pattern))


ALIKE = ("megatron_iteration", "arguments")
"""Grammars of which one line of each shape is parsed (`parse_alike`)."""


@pytest.mark.parametrize("name", ALIKE)
def test_no_terminal_of_lines_read_by_shape_tells_digits_apart(name: str) -> None:
    patterns = {each.name: each.pattern.to_regexp() for each in grammar(name).terminals}
    assert [n for n, each in patterns.items() if tells_digits_apart(parser.parse(each))] == []


@pytest.mark.parametrize("name", ALIKE)
def test_trees_of_one_shape_are_those_that_lark_gives(name: str) -> None:
    draw, here = random.Random(7), Span("a", 3, 5)
    lines = [line for path in of_format(name) for line in path.read_text().splitlines()]
    texts = {line[max(line.find(" iteration "), 0) :].strip() for line in lines}
    rules = [rule for rule in grammar(name).options.start if rule.endswith("_line")]
    seen = 0
    for text in draw.sample(sorted(texts), min(len(texts), 60)):
        for _ in range(4):
            other = re.sub("[0-9]", lambda _: draw.choice("0123456789"), text)
            for rule in rules:
                one, two = (parse(name, rule, other, here) for parse in (parse_alike, parse_line))
                assert one == two, other
                if isinstance(one, Tree) and isinstance(two, Tree):
                    seen += 1
                    of_one, of_two = (
                        [*tree.scan_values(lambda each: isinstance(each, Token))]
                        for tree in (one, two)
                    )
                    assert [(t.start_pos, t.end_pos) for t in of_one] == [
                        (t.start_pos, t.end_pos) for t in of_two
                    ]
    assert seen > 20


@pytest.mark.parametrize("lines", BY_SHAPE.values(), ids=BY_SHAPE)
def test_no_terminal_tells_digits_apart(lines: Lines) -> None:
    if not lines.alike:
        return
    patterns = {each.name: each.pattern.to_regexp() for each in grammar(lines.grammar).terminals}
    patterns |= {each.rule: each.begins for each in lines.kinds}
    apart = [name for name, each in patterns.items() if tells_digits_apart(parser.parse(each))]
    assert apart == []


def of_format(name: str) -> list[Path]:
    """The samples of a format."""
    ends = (".txt", ".yaml", ".log")
    return sorted(path for path in (FIXTURES / name).iterdir() if path.suffix in ends)


def said(found: Said | Diagnostic | None) -> object:
    """All that a reader learns of a line."""
    if not isinstance(found, Said):
        return found
    parts = {name: [*found.cells(name)] for name in found.parts}
    tokens = [
        (token.type, found.printed(token))
        for token in found.tree.scan_values(lambda value: hasattr(value, "type"))
    ]
    return found.kind, parts, tokens


def of(source_: Source | Diagnostic) -> Source:
    assert isinstance(source_, Source)
    return source_


@pytest.mark.parametrize("name", BY_SHAPE)
def test_lines_that_differ_in_digits_are_read_as_lark_reads_each(name: str) -> None:
    draw, lines = random.Random(7), BY_SHAPE[name]
    whole = of(source("a", b"x\n" * 10_000))
    whole.height = 10_000
    texts = {line.strip() for path in of_format(name) for line in path.read_text().splitlines()}
    together = Lines(lines.grammar, lines.kinds, alike=lines.alike)
    for text in draw.sample(sorted(texts), min(len(texts), 60)):
        for _ in range(4):
            other = re.sub("[0-9]", lambda _: draw.choice("0123456789"), text)
            line = Line(3, other, 5, {})
            fresh = Lines(lines.grammar, lines.kinds)
            assert said(together.read(line, whole)) == said(fresh.read(line, whole)), other


def hurt(draw: random.Random, text: str) -> str:
    """A document with a few lines that are missing, cut, glued, doubled, or somebody else's."""
    lines = text.splitlines(keepends=True) or ["\n"]
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(lines))
        line = lines[at]
        lines[at] = draw.choice([
            "", line[: draw.randrange(len(line) + 1)] + "\n", line.rstrip("\n"), line + line,
            "[default3]:" + line, line.rstrip("\n") + "\r\n", line.replace(":", ":\r", 1),
            re.sub("[0-9]", "x", line, count=1), "gpu: A100\n", "12.5 GB and no more\n",
            "caf\xe9\n", " iteration 1/ 2 | lm loss: 1.0 |\n", "   " + line,
            "step 7 | loss 2.5 | 10 ms\n", "srun: error: n1: task 0: Exited with exit code 1\n",
        ])  # fmt: skip
    return "".join(lines) if draw.random() < 0.8 else "".join(lines)[:-1]


@pytest.mark.parametrize("count", [7, pytest.param(24, marks=pytest.mark.slow)])
def test_documents_read_together_are_read_as_each_alone(count: int, tmp_path: Path) -> None:
    draw = random.Random(20260401)
    samples = [path for name in BY_SHAPE for path in of_format(name)]
    samples = [path for path in samples if path.stat().st_size < 20_000]
    paths = []
    for at in range(count):
        sample = draw.choice(samples)
        path = tmp_path / f"{at:02}{sample.suffix}"
        path.write_text(hurt(draw, sample.read_text("utf-8")), "utf-8")
        paths.append(path.as_posix())
    for name in ("02-empty.log", "04-empty.md"):
        (tmp_path / name).touch()
        paths.insert(3, (tmp_path / name).as_posix())
    units = (*((path,) for path in paths[:-4]), tuple(paths[-4:-2]), tuple(paths[-2:]))
    together = read_chunk(recipe({}, FORMATS), Chunk(units)).reading
    sources = [of(source(path, Path(path).read_bytes())) for path in paths]
    alone = merge([read_source(each, FORMATS) for each in sources])
    same(together, alone)
    assert together.refused
    assert together.frames["deepflow_gemm"].height > count


KEPT = 32
"""Patterns that polars keeps; it compiles all of more than these anew in each portion."""


@pytest.mark.parametrize(
    "names", mostly_slow([(("deepflow_dump", "deepflow_config"),), (("generic_step",),)])
)
def test_no_pattern_of_a_portion_takes_the_place_of_another(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    samples = [path for name in names for path in of_format(name) if path.stat().st_size < 20_000]
    chunk = Chunk(tuple((path.as_posix(),) for path in samples))
    read_chunk(recipe({}, FORMATS), chunk)  # what is learnt once
    asked: list[str] = []
    for name in ("contains", "extract", "replace", "replace_all", "count_matches"):
        work = getattr(ExprStringNameSpace, name)

        def told(self: Any, pattern: Any, *others: Any, _work: Any = work, **how: Any) -> Any:
            if not how.get("literal"):
                asked.append(str(pattern))
            return _work(self, pattern, *others, **how)

        monkeypatch.setattr(ExprStringNameSpace, name, told)
    read_chunk(recipe({}, FORMATS), chunk)
    assert 8 < len(set(asked)) <= KEPT


TEXTS = (".txt", ".log", ".md", ".csv", ".yaml", ".json", ".rst", ".html", ".jsonl")


@pytest.mark.parametrize(
    ("seed", "count"),
    [(0, 8), *(pytest.param(seed, 40, marks=pytest.mark.slow) for seed in range(6))],
)
def test_logs_read_together_are_read_as_each_alone(seed: int, count: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    samples = [
        path
        for path in sorted(FIXTURES.rglob("*"))
        if path.suffix in TEXTS and path.stat().st_size < 20_000
    ]
    paths = []
    for at, sample in enumerate(draw.sample(samples, count)):
        path = tmp_path / f"{at:02}{sample.suffix}"
        text = hurt(draw, sample.read_text("utf-8"))
        if draw.random() < 0.3:  # of several formats, with what stands between them
            text += hurt(draw, draw.choice(samples).read_text("utf-8"))
        path.write_text(text, "utf-8")
        paths.append(path.as_posix())
    units = tuple((path,) for path in paths)
    together = read_chunk(recipe({}, FORMATS), Chunk(units)).reading
    sources = [of(source(path, Path(path).read_bytes())) for path in paths]
    same(together, merge([read_source(each, FORMATS) for each in sources]))
    assert len(together.frames) > count / 4


def same(one: Reading, two: Reading) -> None:
    """Everything of two readings."""
    assert one.accounting == two.accounting
    assert one.refused == two.refused
    assert one.remarks == two.remarks
    assert one.raw == two.raw
    assert one.overridden == two.overridden
    assert one.frames.keys() == two.frames.keys()
    for name, frame in two.frames.items():
        assert_frame_equal(one.frames[name], frame)
    assert_frame_equal(one.provenance, two.provenance)


def test_of_lines_of_one_shape_the_generic_reader_takes_one_apart() -> None:
    asked = [each for module in (step_pairs, generic_step) for each in vars(module).values()
             if hasattr(each, "pattern") and hasattr(each, "search")]  # fmt: skip
    asked += [step_pairs._value(), step_pairs._behind()]
    assert [p.pattern for p in asked if tells_digits_apart(parser.parse(p.pattern))] == []
    draw = random.Random(5)
    texts = {line for path in of_format("generic_step") for line in path.read_text().splitlines()}
    texts |= {line for path in of_format("megatron_iteration") for line in path.open()}
    seen = 0
    for text in draw.sample(sorted(texts), min(len(texts), 200)):
        for _ in range(3):
            other = re.sub("[0-9]", lambda _: draw.choice("0123456789"), text)
            if len(other) <= step_pairs.LONGEST:
                assert step_pairs.said(other) == step_pairs._taken_apart(other), other
                seen += step_pairs.said(other) is not None
    assert seen > 200
