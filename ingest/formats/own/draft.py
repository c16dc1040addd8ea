"""A guess as the text of a description: commented, and passing its own test.

In: a `Guess` and a name. Out: TOML, with the values that are read from the pasted lines.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from assay.ingest.formats.own.description import describe
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.guess import Found, Guess, guess
from assay.ingest.formats.own.own_format import build, tested
from assay.ingest.formats.own.patterned import patterned
from assay.ingest.formats.own.samples import read
from assay.ingest.numbers.units import unit

_HINTS = {
    "token/s": '# quantity = "tokens_per_s"          # of all; of one device: tokens_per_gpu_per_s',
    "sample/s": '# quantity = "samples_per_s"         # of all devices together',
    "flop/s": '# quantity = "model_flops_rate"      # of one device, by the model\'s own formula',
}

_TIME = '# quantity = "step_time"             # if it is the time of one step'

_SHARE = '# quantity = "mfu"                   # if it is model FLOPs over the peak'


def guessed(lines: Sequence[str]) -> Guess | None:
    """The guess that reads most of these lines: by labels in cells, else by what is between."""
    best, most = None, 0
    for found in (guess(lines), patterned(lines)):
        if found is not None and (many := _reads(found, lines)) > most:
            best, most = found, many
    return best


def _reads(found: Guess, lines: Sequence[str]) -> int:
    """How many of the lines a guess reads as records."""
    try:
        made = build(describe("guess.toml", _text(found, "guess", [("", {})])))
    except BadFormat:
        return 0
    return sum(not isinstance(read(made, line), str) for line in lines[:TRIED])


TRIED = 60
"""Lines that two guesses are tried on."""


def draft(found: Guess, name: str) -> str:
    """The description of a guess, tested.

    Raises BadFormat where `name` cannot be, or no line reads as a record of it.
    """
    made = build(describe(f"{name}.toml", _text(found, name, [("", {})])))
    samples = []
    for line in found.lines:
        row = read(made, line)
        if not isinstance(row, str):
            samples.append((line, row))
    if not samples:
        raise BadFormat(f"{name}: no line reads as a record: {read(made, found.lines[0])}")
    text = _text(found, name, samples)
    tested(f"{name}.toml", text)
    return text


def _text(found: Guess, name: str, samples: list[tuple[str, dict[str, Any]]]) -> str:
    between = found.separators[0] if len(found.separators) == 1 else found.separators
    head = [
        f"# How assay reads lines such as: {_comment(samples[0][0])}",
        f"# Try it:  assay formats test {name}.toml LOG",
        f"# Use it:  assay report LOG --format {name}.toml",
        f"name = {_quoted(name)}",
        f"about = {_quoted(f'Lines of {name}.')}",
        'origin = "measured"        # or "published", or "estimated" for what another model says',
        f"heads = {_quoted(list(found.heads))}   # what a line begins with",
    ]
    if found.before:
        head.append(
            f"before = {_literal(found.before)}   # what stands before that, a regular expression"
        )
        if "[0-9]" in found.before:
            head.append("# numbers there are not read; a grammar can (docs/own-formats.md)")
    if found.grammar is None:
        head += [f"separator = {_quoted(between)}", f"assign = {_quoted(found.assign)}"]
    else:
        head += ["grammar = '''", *found.grammar.splitlines(), "'''"]
    for at, column in enumerate(found.columns):
        head += ["", *_column(column, required=at == 0 and column.type == "integer")]
    for line, values in samples:
        head += ["", "[[samples]]", f"line = {_quoted(line)}"]
        inside = [f"{key} = {_value(found, key, value)}" for key, value in values.items()]
        head.append(f"values = {{ {', '.join(inside)} }}" if inside else "values = {}")
    return "\n".join(head) + "\n"


def _column(column: Found, *, required: bool) -> list[str]:
    lines = [f"[columns.{column.name}]"]
    if column.factor:
        lines.append(f"labels = {{ {_quoted(column.label)} = {_quoted(column.factor)} }}   "
                     "# the unit of a bare number")  # fmt: skip
    elif column.label != column.name:
        lines.append(f"labels = {_quoted([column.label])}")
    if column.type != "float":
        lines.append(f"type = {_quoted(column.type)}")
    if column.unit:
        lines.append(f"unit = {_quoted(column.unit)}   # frames hold SI units")
    lines += _hint(column)
    if column.type == "integer":
        lines.append("ge = 0")
    if required:
        lines.append("nullable = false   # a line without it is refused")
    if column.remark:
        lines.append(f"# {column.remark}")
    if column.total:
        lines += ["", f"[columns.{column.name}_total]", "labels = []",
                  'type = "integer"', f"# what {column.name} counts up to"]  # fmt: skip
    return lines


def _hint(column: Found) -> list[str]:
    """A line to uncomment: what the column would be compared with. That is nothing to guess."""
    if column.unit in _HINTS:
        return [_HINTS[column.unit]]
    if column.unit == "s":
        return [_TIME]
    return [_SHARE] if column.unit == "1" and "mfu" in column.name else []


def _value(found: Guess, name: str, value: Any) -> str:
    """A value as TOML; one with a unit as it is printed, so that it can be compared by eye."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    factor = next((each.factor for each in found.columns if each.name == name), None)
    known = unit(factor) if factor else None
    if known is not None and known.scale != 1:
        return _quoted(f"{value / known.scale:.12g} {factor}")
    if not math.isfinite(value):
        return _quoted(str(value))
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _quoted(value: object) -> str:
    """A value as TOML; what a terminal might take for a command stands as its number."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)


def _literal(text: str) -> str:
    """A regular expression: without escapes where it can stand so."""
    return f"'{text}'" if "'" not in text and text.isprintable() else _quoted(text)


def _comment(text: str, most: int = 60) -> str:
    plain = "".join(each if each.isprintable() else " " for each in text.strip())
    return plain if len(plain) <= most else plain[: most - 1] + "…"
