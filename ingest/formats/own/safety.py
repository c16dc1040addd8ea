r"""Limits of a user's grammar: building it, or reading a line with it, must end.

LALR itself is linear. Two things are not: a rule of many optional parts, which Lark writes out as
every combination of them, and a regular expression that repeats what is repeated already, such as
`(\w+\s?)+`, which tries every way of sharing the text out before it gives up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as opcodes
from re import _parser as parser
from typing import Any

LONGEST = 64 * 1024

OPTIONAL = 12
"""Optional parts of one rule: so many are 4,096 rules, which take a second."""

REPEATS = 100

_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"i?|/(?!/)(?:\\.|[^/\\\n])+/[imslux]*|//[^\n]*')

_RULE = re.compile(r"^[?!]*[a-z_][a-z0-9_]*(?:\.-?[0-9]+)?\s*:", re.MULTILINE)

_DEFINED = re.compile(r"^(?:[?!]*[a-z_][a-z0-9_]*|_?[A-Z][A-Z0-9_]*)(?:\.-?[0-9]+)?\s*:", re.M)


def endless(grammar: str) -> tuple[int, str] | None:
    """The line of a grammar that may never end, counted from 1, and why; None for a safe one.

    >>> endless("a_line: WORD\\nWORD: /([a-z]+ ?)+/")[0], endless("a_line: WORD\\nWORD: /[a-z ]+/")
    (2, None)
    """
    if len(grammar) > LONGEST:
        return 1, f"a grammar of {len(grammar):,} characters; the limit is {LONGEST:,}"
    for found in _LITERAL.finditer(grammar):
        text = found[0]
        if text.startswith("/") and not text.startswith("//"):
            line = grammar.count("\n", 0, found.start()) + 1
            pattern = text[1 : text.rindex("/")].replace(r"\/", "/")
            if why := runaway(pattern):
                return line, why
    bare = _LITERAL.sub(lambda found: " " * len(found[0]), grammar)
    return _combinations(bare)


def _combinations(bare: str) -> tuple[int, str] | None:
    starts = [found.start() for found in _DEFINED.finditer(bare)]
    for begin, end in zip(starts, [*starts[1:], len(bare)], strict=True):
        line = bare.count("\n", 0, begin) + 1
        body = bare[begin:end].partition(":")[2]
        for times in re.finditer(r"~\s*([0-9]+)(?:\s*\.\.\s*([0-9]+))?", body):
            most = max(int(number) for number in times.groups() if number)
            if most > REPEATS:
                return line, f"a part is repeated {most} times; the limit is {REPEATS}"
        if body.count("~") > 1:
            return line, "several counted repetitions (~) in one rule; give each a rule of its own"
        if not _RULE.match(bare, begin):
            continue
        optional = body.count("?") + body.count("*") + body.count("[")
        if optional > OPTIONAL:
            ask = "write the parts as alternatives that repeat: (one | other)*"
            return line, f"a rule of {optional} optional parts has 2^{optional} forms; {ask}"
    return None


def runaway(pattern: str) -> str | None:
    """Why a regular expression may take exponential time; None where it does not look so.

    >>> runaway(r"(?:, [0-9]+)*") is None, runaway(r"(\\w+\\s?)+") is None
    (True, False)
    """
    try:
        parsed = parser.parse(pattern)
    except (re.error, OverflowError, RecursionError) as fault:
        return f"no regular expression: {fault}"
    for body in _repeated(parsed):
        if _ambiguous(body):
            return f"{pattern!r} repeats what is repeated already; that may take for ever"
    return None


_MANY = (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT)


def _repeated(parsed: Any) -> Iterator[Any]:
    """The body of every unbounded repetition."""
    for code, argument in parsed:
        if code in _MANY:
            if argument[1] > REPEATS:
                yield argument[2]
            yield from _repeated(argument[2])
        else:
            for inner in _inside(code, argument):
                yield from _repeated(inner)


def _inside(code: Any, argument: Any) -> list[Any]:
    if code is opcodes.SUBPATTERN:
        return [argument[-1]]
    if code is opcodes.BRANCH:
        return list(argument[1])
    if code in (opcodes.ASSERT, opcodes.ASSERT_NOT):
        return [argument[1]]
    if code in _MANY or code is getattr(opcodes, "POSSESSIVE_REPEAT", None):
        return [argument[2]]
    return [argument] if code is getattr(opcodes, "ATOMIC_GROUP", None) else []


def _ambiguous(body: Any) -> bool:
    """Whether a body is an unbounded repetition and nothing that must stand beside it."""
    parts = [part for part in body if part[0] not in (opcodes.ASSERT, opcodes.ASSERT_NOT,
                                                      opcodes.AT)]  # fmt: skip
    must = [part for part in parts if not _nullable(part)]
    if len(parts) == 1 and not (parts[0][0] in _MANY and parts[0][1][1] > REPEATS):
        return any(_ambiguous(inner) for inner in _inside(*parts[0]))
    open_ended = [part for part in parts if part[0] in _MANY and part[1][1] > REPEATS]
    return bool(open_ended) and all(part in open_ended for part in must)


def _nullable(part: Any) -> bool:
    code, argument = part
    if code in _MANY:
        return bool(argument[0] == 0 or all(_nullable(one) for one in argument[2]))
    if code is opcodes.SUBPATTERN:
        return all(_nullable(one) for one in argument[-1])
    if code is opcodes.BRANCH:
        return any(all(_nullable(one) for one in branch) for branch in argument[1])
    return code in (opcodes.AT, opcodes.ASSERT, opcodes.ASSERT_NOT)
