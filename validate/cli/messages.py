"""The page of exit codes and diagnostics: run this module, and write what it prints to
docs/messages.md.

Every code of the closed set is explained and shown as it is printed, by reading a small broken
input; the wordings are taken from the source of `assay.ingest`, `…` standing for what varies. A
test holds the page equal to this.
"""

from __future__ import annotations

import ast
import gzip
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.own_format import tested
from assay.ingest.formats.steps.step_shapes import COMPARED
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.record import Code, Diagnostic
from assay.ingest.source.opening import MAX_LINE, source
from assay.validate.cli.exits import ORDER, Exit

ITERATION = " iteration {} | elapsed time per iteration (ms): {} | lm loss: 6.1E+00 |\n"

STEPS = """
name = "{}"
about = "Steps of a trainer."
origin = "measured"
heads = ["step="]
separator = " "
assign = "="
[columns.step]
type = "integer"
[[samples]]
line = "step=1"
values = {{ step = 1 }}
"""

TABLE = "| TP | Sec/it |\n|---:|-------:|\n|  8 |   10.5 |\n"


class Explained(NamedTuple):
    """A code in words: what it means, what to do, and a broken input that gives it."""

    means: str
    do: str
    name: str
    text: str
    own: tuple[str, ...] = ()  # descriptions of formats of one's own that read it too


def _cut(text: str) -> str:
    """A compressed stream of a text without what it ends with: its digest and its length."""
    return gzip.compress(text.encode(), mtime=0)[:-8].decode("latin-1")


EXIT: dict[Exit, tuple[str, str]] = {
    Exit.OK: ("all went well", ""),
    Exit.GATE: (
        "a gate failed: an accuracy, a golden file, a difference, or findings at or above "
        "`--severity`",
        "read what stands after `failed:`; the report is written all the same",
    ),
    Exit.USAGE: (
        "the command was called wrongly, or no input could be opened",
        "the message names the option or the file",
    ),
    Exit.REFUSED: (
        "more refused lines than `--max-bad` allows, or one input among several is unreadable",
        "look at the refusals, which name file, line and column; raise `--max-bad` if they are "
        "meant to be there",
    ),
    Exit.NOTHING: (
        "nothing was recognised, or no printed number has a prediction",
        "`assay formats` lists what can be read; the section *Printed, not predicted* says what "
        "is missing",
    ),
    Exit.BUG: ("a bug of assay", "`--debug` shows the traceback; please report it"),
}

CODES: dict[Code, Explained] = {
    Code.SYNTAX: Explained(
        "The line begins like a record of its format and does not go on like one.",
        "Look at the column: something was written into the line, or the format has changed.",
        "run.log", " iteration 5/ 9 | : 6.1 |\n",
    ),
    Code.UNDECODABLE: Explained(
        "The value of a known label is not what its column holds. An optional cell is left "
        "empty and the record stands; without one that must be there, or says what was measured, "
        "the record is refused.",
        "Mostly a line that was torn or overwritten. A new way to write a number is worth telling.",
        "run.log", ITERATION.format("5/ 9", "58x7.9"),
    ),
    Code.OUT_OF_RANGE: Explained(
        "The value reads well and cannot be: a time below zero, a degree of nought. The check is "
        "that of the column, see [the formats](formats); a value that must be there *is missing*. "
        "An optional cell is left empty, as above.",
        "Mostly a value in a wrong column.",
        "table.md", TABLE + "|  0 |   10.5 |\n",
    ),
    Code.UNSET: Explained(
        "A remark: the program prints that it has no value yet (`N/A`, `/`, `-1` where nothing is "
        "below zero). The cell is left empty, the record stands.",
        "Nothing; a loss scale of `-1.0` is one before the first step.",
        "run.log", ITERATION.format("5/ 9", "-1.0"),
    ),
    Code.CELL_COUNT: Explained(
        "A row has more or fewer cells than its header, so nobody knows which cell is which. The "
        "row is refused.",
        "Add the missing `|`, or escape one inside a cell as `\\|`.",
        "table.md", TABLE + "|  8 |   10.5 | 7 |\n",
    ),
    Code.TRUNCATED: Explained(
        "A record stops before its end. In a log the whole cells stand and the row is marked "
        "`truncated`; a table row or a line of a dump is refused.",
        "Nothing, if the job is still running or was killed.",
        "run.log", ITERATION.format("5/ 9", "5837.9") + ITERATION.format("6/ 9", "5")[:52],
    ),
    Code.CUT_SHORT: Explained(
        "A remark: an input stops before its own end, as a compressed stream that was copied "
        "while it was written. What came before is read; what is missing nobody knows. Every "
        "command says so on stderr, and the first screen of a report.",
        "Copy the input again, and whole; or let the job that writes it end.",
        "run.log.gz", _cut(ITERATION.format("5/ 9", "5837.9")),
    ),
    Code.TOO_LONG: Explained(
        f"A line of more than {MAX_LINE:,} bytes. It is not read. Of shorter ones a remark says in "
        "which no configuration was looked for.",
        "Mostly no log at all, or one without line ends.",
        "run.log", "x" * (MAX_LINE + 1),
    ),
    Code.AMBIGUOUS: Explained(
        "Two formats claim one line; neither is believed.",
        "Make the heads or the grammar of your own format narrower, see "
        "[own formats](own-formats.md). Between packaged formats it is a bug.",
        "run.log", "step=120\n", (STEPS.format("my_steps"), STEPS.format("your_steps")),
    ),
    Code.INCOMPLETE: Explained(
        "A remark: a block lacks lines that its format prints. What is there stands.",
        "Nothing, if the dump was cut on purpose; models that need the lines say so.",
        "dump.txt", "!!!!!!!!!!!!!!!!!!!!!!****************factor: 2\n",
    ),
    Code.SUPERSEDED: Explained(
        "A remark: a job was restarted and printed the iteration again; the later line counts.",
        "Nothing; the earlier row is marked `superseded`.",
        "run.log", "".join(ITERATION.format(f"{at}/ 9", "5837.9") for at in (1, 2, 2, 3)),
    ),
    Code.REPAIRED: Explained(
        "A remark: a record was put together from parts, which alone do not read.",
        "Nothing; the row is marked `repaired`.",
        "run.log", ITERATION.format("5/ 9", "5837.9").replace("iteration (ms)", "iter\nation (ms)"),
    ),
    Code.CAPPED: Explained(
        f"A remark: lines of more than {COMPARED} kinds, of which each was compared with the "
        f"{COMPARED} commonest alone. What is read stands; lines that mean the same under other "
        "labels may be kept apart.",
        "Mostly no log of steps, or labels with numbers in them.",
        "run.log", "".join(f"step: 7, loss: 2.5, {a}{b}{c}: 1, {c}{b}{a}: 2, {b}{a}{c}: 3\n"
                           for a in "klmp" for b in "qrst" for c in "uvw"),
    ),
    Code.UNREADABLE: Explained(
        "An input that cannot be opened, decompressed or used. The other inputs are read.",
        "The message says why.",
        "run.log.gz", "\x1f\x8bno gzip",
    ),
}  # fmt: skip


def page() -> str:
    """The whole page."""
    parts = [
        "# Exit codes and messages",
        "Generated by `python -m assay.validate.cli.messages > docs/messages.md`.",
        "## Exit codes",
        "The first that applies, from the top, is what a command ends with.",
        "\n".join(["| code | means | what to do |", "| ---: | --- | --- |", *_exits()]),
        "## Diagnostics",
        "Printed as `file:line:column: code: message`, and kept in the quarantine of `assay "
        "ingest`, in the reports and in exports. Lines and columns count from 1, in the original "
        "input. A *refusal* counts against `--max-bad`; a *remark* refuses nothing.",
        *_codes(),
        "## Refused commands",
        "Printed as `assay: message`; the command ends with 2, or with 4 where nothing was there "
        "to be done, and nothing is written. Of an input that would need more memory than "
        "`--max-memory` allows, the name stands before *it needs more memory than the 8.0 GB that "
        "there are (--max-memory)*.",
        "\n".join(_item(text) for text in sorted(refused())),
    ]
    return "\n\n".join(parts) + "\n"


def _item(text: str) -> str:
    return f"- `` {text} ``" if "`" in text else f"- `{text}`"


def _exits() -> Iterator[str]:
    for code in ORDER:
        means, do = EXIT[code]
        yield f"| {int(code)} | {means} | {do} |"


def _codes() -> Iterator[str]:
    wordings = templates()
    for code, said in CODES.items():
        yield f"### `{code}`"
        yield f"{said.means} {said.do}"
        yield "```\n" + "\n".join(map(str, examples(said))) + "\n```"
        if wordings[code]:
            yield "Wordings: " + "; ".join(f"`{text}`" for text in sorted(wordings[code])) + "."


def examples(said: Explained) -> list[Diagnostic]:
    """Diagnostics from reading the broken input."""
    opened = source(said.name, said.text.encode("latin-1"))
    if isinstance(opened, Diagnostic):
        return [opened]
    own = (tested(f"{at}.toml", text) for at, text in enumerate(said.own, 1))
    reading = read_source(opened, (*FORMATS, *own))
    return [*reading.refused, *reading.remarks]


def templates() -> dict[Code, set[str]]:
    """Code → every wording of its diagnostics in the source of `assay.ingest`."""
    found: dict[Code, set[str]] = {code: set() for code in Code}
    for function in _functions("assay.ingest", ("Code.",)):
        for code, texts in _said(function):
            found[code] |= texts
    return found


def refused() -> set[str]:
    """Every wording with which a command is refused: by itself, or for files in its way."""
    return {
        text
        for package in ("assay.ingest", "assay.validate")
        for function in _functions(package, REFUSING)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and ast.unparse(call.func) in REFUSING and call.args
        for text in _texts(call.args[0], function)
        if text.strip("… ")
    }


REFUSING = ("Refusal", "FileExistsError")
"""Exceptions for a command that cannot be carried out as it was given."""


def _functions(package: str, words: Sequence[str]) -> Iterator[ast.FunctionDef]:
    """The functions of those modules of a package in which one of these words stands."""
    found_at = find_spec(package)
    assert found_at is not None
    assert found_at.origin is not None
    for path in sorted(Path(found_at.origin).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)) if any(word in text for word in words) else ():
            if isinstance(function, ast.FunctionDef):
                yield function


def _said(function: ast.FunctionDef) -> Iterator[tuple[Code, set[str]]]:
    """The diagnostics that a function makes: an argument `Code.X`, and the message behind it."""
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
        for given, after in zip(call.args, call.args[1:], strict=False):
            if isinstance(given, ast.Attribute) and ast.unparse(given.value) == "Code":
                texts = _texts(after, function)
                yield Code[given.attr], {text for text in texts if text.strip("… ")}


def _texts(node: ast.expr, function: ast.FunctionDef) -> set[str]:
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in ast.walk(function)
            if isinstance(statement, ast.Assign)
            and ast.unparse(statement.targets[0]) == node.id
            and statement.lineno <= node.lineno
        ]
        nearest = max(values, key=lambda value: value.lineno, default=None)
        return _texts(nearest, function) if nearest is not None else set()
    if isinstance(node, ast.Constant):
        return {str(node.value)}
    if isinstance(node, ast.JoinedStr):
        pieces = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        return {"".join(map(str, pieces))}
    if isinstance(node, ast.IfExp):
        return _texts(node.body, function) | _texts(node.orelse, function)
    return set()


if __name__ == "__main__":
    sys.stdout.write(page())
