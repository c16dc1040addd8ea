"""Files, folders and globs to one reading: the entry point of ingest.

A side file `NAME.toml` beside `NAME.md` states what its document leaves out: a table
`configuration` whose keys are columns of `Configuration`. Its values are assumed, and marked so.
"""

from __future__ import annotations

import glob
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.ingest.formats.configuration import Configuration
from assay.ingest.own.installed import known
from assay.ingest.pipeline import merge, read_source
from assay.ingest.schema import fields
from assay.ingest.source import STDIN, open_source
from assay.ingest.types import Cell, Code, Diagnostic, Format, Reading, Span
from assay.ingest.write import is_saved, load

COMPANIONS = {".toml", ".golden"}
"""Files that stand beside an input and are none themselves, where a folder is read."""


COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
"""Suffixes that say how an input is packed and nothing of what it is."""


@dataclass(frozen=True)
class Outcome:
    """What became of several inputs: the reading, and the inputs that gave none."""

    reading: Reading
    unreadable: tuple[Diagnostic, ...]  # could not be opened, decompressed or understood as a file
    unrecognised: tuple[str, ...]  # opened, and no format knows a line


def read(
    paths: Iterable[str | Path],
    *,
    stated: Mapping[str, str] | None = None,
    formats: Sequence[Format] | None = None,
) -> Outcome:
    """Read every input that `paths` name: files, folders, globs, folders written by `save`.

    `stated` are configuration values the caller assumes for all of them (`{"gpu": "A100-80g"}`);
    they come after everything the inputs say. `formats` are all there are, unless given: packaged
    and installed. Raises ValueError for a key that is no column, and BadFormat (a ValueError) for
    an installed format that cannot be used.
    """
    formats = known() if formats is None else formats
    said = assumed(stated or {}, "stated by the caller")
    readings, unreadable, unrecognised = [], [], []
    for path in inputs(paths):
        if is_saved(Path(path)):
            saved = load(Path(path), formats)
            if isinstance(saved, Diagnostic):
                unreadable.append(saved)
            else:
                readings.append(saved)
            continue
        opened = open_source(path)
        if isinstance(opened, Diagnostic):
            unreadable.append(opened)
            continue
        side = side_file(Path(path)) if str(path) != STDIN else {}
        if isinstance(side, Diagnostic):
            unreadable.append(side)
            side = {}
        reading = read_source(opened, formats, {**side, **said})
        account = reading.accounting[0]
        if account.claimed + account.refused == 0:
            unrecognised.append(opened.name)
        readings.append(reading)
    return Outcome(merge(readings), tuple(unreadable), tuple(unrecognised))


def inputs(paths: Iterable[str | Path]) -> list[str]:
    """Files named by `paths`, in order, each once: folders and globs are expanded and sorted."""
    found: dict[str, None] = {}
    for path in map(str, paths):
        here = Path(path)
        if path == STDIN or here.is_file() or is_saved(here):
            found[path] = None
        elif here.is_dir():
            found.update(dict.fromkeys(_files(here)))
        elif matches := sorted(glob.glob(path, recursive=True)):
            found.update(dict.fromkeys(inputs(matches)))
        else:
            found[path] = None  # opening it says why it cannot be read
    return list(found)


def _files(folder: Path) -> list[str]:
    return [
        path.as_posix()
        for path in sorted(folder.rglob("*"))
        if (path.is_file() or is_saved(path))
        and not is_saved(path.parent)
        and path.suffix not in COMPANIONS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def side_file(path: Path) -> dict[str, Cell] | Diagnostic:
    """The configuration that the side file of `path` states; empty where there is none."""
    plain = path.with_suffix("") if path.suffix in COMPRESSED else path
    beside = plain.with_suffix(".toml")
    if beside == path or not beside.is_file():
        return {}
    try:
        table = tomllib.loads(beside.read_text(encoding="utf-8")).get("configuration", {})
        return assumed({name: str(value) for name, value in table.items()}, f"{beside.name}")
    except (OSError, ValueError) as fault:
        return Diagnostic(Span(beside.as_posix(), 1), Code.UNREADABLE, f"cannot be used: {fault}")


def assumed(values: Mapping[str, str], law: str) -> dict[str, Cell]:
    """Configuration values from outside the document, marked as assumed and why.

    Raises ValueError for a key that is no configuration column, naming those there are.
    """
    known = [name for name, spec in fields(Configuration).items() if spec.configuration]
    for name in values:
        if name not in known:
            raise ValueError(f"{name!r} is no configuration column; those are {', '.join(known)}")
    return {name: Cell(text, 0, value_origin="assumed", law=law) for name, text in values.items()}
