"""Which inputs paths name, and what stands beside them.

In: files, folders, globs, `-`, folders written by ingest. Out: one name per input, each once. A
side file `NAME.toml` beside `NAME.md` states what its document leaves out: a table `configuration`
whose keys are columns of `Configuration`, and for the rows under one heading a table `[[where]]`
that names it. Its values are assumed, and marked so.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeVar

from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell
from assay.ingest.source.opening import STDIN
from assay.ingest.store.write import is_saved
from assay.ingest.vocabulary.terms import configured_by, nearest

COMPANIONS = {".toml", ".golden"}
"""Files that stand beside an input and are none themselves, where a folder is read."""

COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
"""Suffixes that say how an input is packed and nothing of what it is."""


def inputs(paths: Iterable[str | Path]) -> list[str]:
    """Files named by `paths`, in order, each once: folders and globs are expanded and sorted."""
    found: dict[str, str] = {}
    for path in map(str, paths):
        here = Path(path)
        if path == STDIN or here.is_file() or is_saved(here):
            named = [path]
        elif here.is_dir():
            named = _files(here)
        else:
            # what no glob matches stays: opening it says why it cannot be read
            matches = sorted(glob.glob(path, recursive=True))
            # nor is a pipe, a device or a link to itself expanded further
            named = inputs(matches) if matches not in ([], [path]) else [path]
        for name in named:  # `./a.log` and `a.log` are one input
            found.setdefault(shown(name), name)
    return list(found.values())


def shown(path: str) -> str:
    """The name under which an input appears in frames and messages.

    A file name may hold bytes that are no UTF-8; they are spelled out, as no frame can hold them.
    """
    name = "<stdin>" if path == STDIN else Path(path).as_posix()
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _files(folder: Path) -> list[str]:
    saved = cache(is_saved)  # asked for every file of a folder
    depth = len(folder.parts)
    return [
        path.as_posix()
        for path in sorted(folder.rglob("*"))
        if path.suffix not in COMPANIONS
        and not any(part.startswith(".") for part in path.parts[depth:])
        and (path.is_file() or saved(path))
        and not saved(path.parent)
    ]


def beside(path: Path) -> Path:
    """Where the side file of an input would be."""
    plain = path.with_suffix("") if path.suffix in COMPRESSED else path
    return plain.with_suffix(".toml")


def assumed(values: Mapping[str, str], law: str) -> dict[str, Cell]:
    """Configuration values from outside the document, marked as assumed and why.

    Raises ValueError for a key that names no configuration column, see `named`.
    """
    said = named(values)
    return {name: Cell(text, 0, value_origin="assumed", law=law) for name, text in said.items()}


Stated = TypeVar("Stated")


def named(values: Mapping[str, Stated], more: Iterable[str] = ()) -> dict[str, Stated]:
    """The same values by the configuration columns that their keys name, as the vocabulary has it.

    Keys of `more` are taken as they are. Raises ValueError for a key that names no column, with the
    nearest, and for two keys of one column.

    >>> named({"num-layers": 2})
    {'layers': 2}
    """
    known = [name for name, spec in fields(Configuration).items() if spec.configuration]
    known += more
    found: dict[str, Stated] = {}
    keys: dict[str, str] = {}
    for key, value in values.items():
        name = key if key in known else configured_by(key)
        if name is None:
            near = nearest(key, more)
            meant = f"; did you mean {near!r}? " if near else "; "
            raise ValueError(
                f"{key!r} is no configuration column{meant}Those are {', '.join(known)}"
            )
        if name in found:
            raise ValueError(f"{keys[name]!r} and {key!r} are one configuration column, {name}")
        found[name], keys[name] = value, key
    return found
