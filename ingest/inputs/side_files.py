"""Side files: what `NAME.toml` says of `NAME.csv` beside it, which leaves it out.

In: the names of inputs. Out: the configuration that a side file states, in `[configuration]` and
`[[where]]`, and for each `[tables]` a format that reads the tables of the inputs it stands beside,
and of no other. What describes tables there is what a format of one's own says, without a name if
it has none (its input's then), and without samples: the input itself is one.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.grammars.toml import toml
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.own_format import OwnFormat, build
from assay.ingest.inputs.paths import assumed, beside, shown
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import RESERVED
from assay.ingest.schema.record import Cell, Code, Diagnostic, Span
from assay.ingest.source.opening import STDIN
from assay.ingest.statements.under_headings import UNDER

if TYPE_CHECKING:
    from assay.ingest.formats.own.description import Description


def side_file(path: Path) -> dict[str, Cell] | Diagnostic:
    """The configuration that the side file of `path` states; empty where there is none."""
    side = beside(path)
    if path.name == STDIN or side == path or not side.is_file():
        return {}
    try:
        said = toml(side.read_text(encoding="utf-8"))
        found = _stated(said.get("configuration", {}), side.name)
        for section in said.get("where", ()):
            found |= _in_section(section, side.name)
        if "tables" in said:
            _described(side, side.read_text(encoding="utf-8"), said)
        return found
    except (OSError, ValueError, AttributeError) as fault:
        return Diagnostic(Span(side.as_posix(), 1), Code.UNREADABLE, f"cannot be used: {fault}")


def _stated(table: Mapping[str, object], name: str) -> dict[str, Cell]:
    return assumed({key: str(value) for key, value in table.items()}, name)


def _in_section(section: Mapping[str, object], name: str) -> dict[str, Cell]:
    """Fields that a table `[[where]]` states, each with its heading in front (`UNDER`)."""
    heading = section.get("heading")
    if not isinstance(heading, str) or not heading.strip():
        raise ValueError('a table [[where]] needs heading = "…": words of the heading of its rows')
    own = {key: value for key, value in section.items() if key != "heading"}
    return {f"{heading}{UNDER}{key}": cell for key, cell in _stated(own, name).items()}


def with_side_files(formats: Sequence[Format], names: Iterable[str]) -> tuple[Format, ...]:
    """`formats`, and those that the side files of inputs describe; a file that cannot be used is
    left to who reads its input, and one that is among `formats` counts once."""
    held = {fmt.said.text for fmt in formats if isinstance(fmt, OwnFormat) and fmt.said}
    found: dict[str, Description] = {}
    for name in names:
        side = beside(Path(name))
        text = None if name == STDIN else _text(side)
        if text is None or text in held:
            continue
        try:
            said = found.get(text) or _described(side, text, toml(text))
        except (BadFormat, tomllib.TOMLDecodeError):
            continue
        found[text] = replace(said, inputs=(*said.inputs, shown(name)))
    made: list[Format] = list(formats)
    taken = {fmt.name for fmt in formats}
    for said in found.values():
        mark = hashlib.sha256(said.text.encode()).hexdigest()[:6]
        own = said if said.name not in taken else replace(said, name=f"{said.name}_{mark}")
        taken.add(own.name)
        made.append(build(own))
    return tuple(made)


def _described(side: Path, text: str, document: Mapping[str, Any]) -> Description:
    """The description of tables in a side file, built once to see that it can be.

    Raises BadFormat, with `file:line: key:` at its beginning, for whatever is wrong with it.
    """
    from assay.ingest.formats.own.description import describe_document  # noqa: PLC0415 - few are

    said = describe_document(side.as_posix(), text, document, name=_name(side.stem))
    build(said)
    return said


def _text(side: Path) -> str | None:
    try:
        text = side.read_text(encoding="utf-8") if side.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return None
    return text if "tables" in text else None


def _name(stem: str) -> str:
    """The name of a frame for an input: `Sweep 2024` gives `sweep_2024`."""
    name = re.sub(r"[^a-z0-9_]+", "_", stem.casefold()).strip("_")
    taken = {*RESERVED, *(frame for fmt in FORMATS for frame in (fmt.name, *fmt.schemas))}
    return name if re.match("[a-z]", name) and name not in taken else f"table_{name}"
