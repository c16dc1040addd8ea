"""Formats in words: what each reads, its columns with unit, kind, spellings and checks.

`page` makes the generated page docs/formats/<name>/README.md; `assay formats` prints the same.
Run as a module, it writes all pages below a folder, and the JSON Schemas beside it.
"""

from __future__ import annotations

import inspect
import sys
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.own_format import OwnFormat
from assay.ingest.reference import json_schema
from assay.ingest.schema.fields import FieldSpec, fields
from assay.ingest.schema.format import Format

_EVERY_FRAME = (
    "Beside these, every frame has `source`, `line`, `column`, `host`, `rank`, `timestamp`,",
    "`mark` (truncated, repaired, superseded) and `other` (cells that no column declares);",
    "`<column>_ulp` is one unit in the last printed place of a rounded number.",
)

_CHECKS = {
    "greater_than_or_equal_to": "≥",
    "greater_than": ">",
    "less_than_or_equal_to": "≤",
    "less_than": "<",
}


class Described(NamedTuple):
    """One column of one frame, in words."""

    frame: str
    column: str
    type: str
    unit: str
    kind: str
    spelled: tuple[str, ...]
    check: str
    meaning: str


def summary(fmt: Format) -> str:
    """The first sentence of the format's module; of a user's format, what its file says."""
    schema = next(iter(fmt.schemas.values()))
    text = (
        schema.__doc__ if isinstance(fmt, OwnFormat) else inspect.getdoc(inspect.getmodule(schema))
    )
    text = text or ""
    return text.split("\n", 1)[0].strip()


def columns(fmt: Format) -> list[Described]:
    """Every column that a format's schemas declare."""
    return [
        Described(
            frame,
            spec.name,
            str(spec.dtype),
            spec.unit or "",
            spec.kind if spec.numeric else "",
            spec.labels,
            _checks(spec),
            spec.meaning,
        )
        for frame, schema in fmt.schemas.items()
        for spec in fields(schema).values()
    ]


def _checks(spec: FieldSpec) -> str:
    said = [] if spec.nullable else ["required"]
    for check in spec.checks:
        name, _, argument = check.rpartition(": ")[2].partition("(")
        said.append(f"{_CHECKS.get(name, name)} {argument.rstrip(')>')}".strip())
    return ", ".join(said)


def page(fmt: Format) -> str:
    """The generated page of one format, in Markdown."""
    heads = ", ".join(f"`{_cell(head)}`" for head in fmt.heads)
    lines = [f"# {fmt.name}", "", summary(fmt), "", f"Numbers of this format are {fmt.origin}."]
    where = (
        "Known by its content: it is no text of lines, and its module reads all of it."
        if fmt.lines == "whole"
        else f"Looked for where a line holds {heads}."
    )
    lines += [f"Samples: `fixtures/{fmt.name}/`.", where, ""]
    for frame in fmt.schemas:
        lines += [f"## Frame `{frame}`", ""]
        lines += [f"JSON Schema of its rows: [{frame}]({frame}.schema.json).", ""]
        lines += ["| column | type | unit | kind | printed as | check | meaning |"]
        lines += ["|---|---|---|---|---|---|---|"]
        lines += [_row(column) for column in columns(fmt) if column.frame == frame] + [""]
    lines += [*_EVERY_FRAME]
    if fmt.lines != "whole":
        grammar = files("assay.grammars").joinpath(f"{fmt.name}.lark").read_text(encoding="utf-8")
        lines += ["", "## Grammar", "", "```", grammar.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _row(column: Described) -> str:
    spelled = ", ".join(f"`{_cell(label)}`" for label in column.spelled)
    cells = (column.column, column.type, column.unit, column.kind, spelled)
    return "| " + " | ".join((*cells, column.check, _cell(column.meaning))) + " |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def write_pages(folder: Path) -> list[Path]:
    """Write the page of every format to `folder`; the paths written."""
    paths = []
    for fmt in FORMATS:
        path = folder / fmt.name / "README.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(fmt), encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/formats")
    json_schema.write_pages(target.parent)
    for written in write_pages(target):
        sys.stderr.write(f"{written}\n")
