"""From a file to a `Format`: described, built, and tested against its own samples.

An `OwnFormat` is sent to another process as its text, so that workers read with it too; a folder of
frames keeps that text, so that its frames are understood without the file. What reads descriptions
is imported with the first of them: most runs see none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.fault import BadFormat, nearest
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import CellLayout, Format
from assay.ingest.schema.reading import RESERVED
from assay.ingest.schema.record import Schema

if TYPE_CHECKING:
    from assay.ingest.formats.own.description import Description
    from assay.ingest.formats.own.own_tables import Tables


@dataclass(frozen=True)
class OwnFormat(Format):
    """A format of a user's, and the description that it was made of."""

    said: Description | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        assert self.said is not None
        return build, (self.said,)


def load(path: str | Path) -> OwnFormat:
    """The format that a file describes, its samples read and compared.

    Raises BadFormat, with `file:line: key:` at its beginning, for whatever is wrong with it.
    """
    return tested(Path(path).as_posix(), read_text(path))


def read_text(path: str | Path) -> str:
    """The text of a description; BadFormat where the file cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise BadFormat(f"{Path(path).as_posix()}: cannot be read as a format: {reason}") from None


def tested(path: str, text: str) -> OwnFormat:
    """The format of a text, once its samples have been read as they say."""
    from assay.ingest.formats.own.description import describe  # noqa: PLC0415
    from assay.ingest.formats.own.samples import differences  # noqa: PLC0415

    made = build(describe(path, text))
    assert made.said is not None
    for fault in differences(made.said, made):
        raise fault
    return made


def build(said: Description) -> OwnFormat:
    """The format of a description, untested."""
    from assay.ingest.formats.own.columns import schema  # noqa: PLC0415
    from assay.ingest.formats.own.grammar import Fold, grammar  # noqa: PLC0415
    from assay.ingest.formats.own.own_tables import TableFold  # noqa: PLC0415

    _own_name(said)
    made = schema(said)
    if said.tables is not None:
        _named_columns(said, said.tables, made)
        return OwnFormat(
            name=said.name, heads=said.heads, schemas={said.name: made}, origin=said.origin,
            fold=TableFold(said.name, said.tables, made, said.inputs),
            lines="document", before=True,
            binds=said.scope == "configuration", said=said,
        )  # fmt: skip
    text, starts = grammar(said)
    return OwnFormat(
        name=said.name,
        heads=said.heads,
        schemas={said.name: made},
        origin=said.origin,
        fold=Fold(said.name, said.heads, said.before, text, starts, made),
        cells=CellLayout(*said.separators) if len(said.separators) == 1 else None,
        said=said,
    )


def _named_columns(said: Description, tables: Tables, made: Schema) -> None:
    """Refuse a description of tables that fills columns which are not there."""
    known = fields(made)
    wanted = [(name, ("values", name)) for name in tables.values or {}]
    for label, expression in (tables.split or {}).items():
        wanted += [(name, ("split", label)) for name in re.compile(expression).groupindex]
    if tables.melt is not None:
        wanted += [(tables.melt_name, ("melt", "name")), (tables.melt_value, ("melt", "value"))]
    for name, at in wanted:
        if name not in known:
            raise said.fault(f"{name!r} is no column{nearest(name, known)}", "tables", *at)
    if tables.melt is not None and not known[tables.melt_value].numeric:
        raise said.fault("expected a column of numbers", "tables", "melt", "value")


def _own_name(said: Description) -> None:
    frames = {frame for fmt in FORMATS for frame in fmt.schemas}
    if said.name in frames | {fmt.name for fmt in FORMATS}:
        raise said.fault(f"{said.name!r} is the name of a packaged format; choose another", "name")
    if said.name in RESERVED:
        raise said.fault(f"{said.name!r} is a frame that every export has; choose another", "name")


def together(formats: Iterable[Format]) -> tuple[Format, ...]:
    """Formats that are used side by side; BadFormat where two give one frame.

    They may share one whose schema is the same: several profilers write the frames of a trace.
    """
    owners: dict[str, Format] = {}
    found: Sequence[Format] = tuple(formats)
    for fmt in found:
        for frame in fmt.schemas:
            if frame in owners and owners[frame].schemas[frame] is not fmt.schemas[frame]:
                raise BadFormat(f"two formats are called {frame!r}: {where(owners[frame])} "
                                f"and {where(fmt)}")  # fmt: skip
            owners[frame] = fmt
    return tuple(found)


def where(fmt: Format) -> str:
    """Where a format comes from, for messages."""
    if isinstance(fmt, OwnFormat) and fmt.said is not None:
        return fmt.said.path
    return "a packaged one" if fmt in FORMATS else "an installed one"
