"""Formats that other packages bring along: the entry points of the group `assay.formats`.

An entry point names a `Format`, or a path to the TOML file that describes one (a text or anything
with `__fspath__`). All are read in the order of their names.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.own_format import load, together
from assay.ingest.schema.format import Format

GROUP = "assay.formats"


@cache
def installed() -> tuple[Format, ...]:
    """Every installed format that is not packaged here.

    Raises BadFormat, naming the package, where one cannot be used.
    """
    return tuple(_loaded(each) for each in sorted(entry_points(group=GROUP), key=_order))


def known(files: tuple[str, ...] = ()) -> tuple[Format, ...]:
    """Every format there is: packaged, installed, and those that `files` describe.

    Raises BadFormat where one cannot be used, or two have one name.
    """
    return together([*FORMATS, *installed(), *(load(file) for file in dict.fromkeys(files))])


def _order(point: EntryPoint) -> tuple[str, str]:
    return point.name, point.value


def _loaded(point: EntryPoint) -> Format:
    package = point.dist.name if point.dist else "an unknown package"
    whose = f"the format {point.name!r} of the installed package {package}"
    try:
        value = point.load()
    except Exception as fault:  # whatever its import raises: it is not ours
        raise BadFormat(f"{whose} cannot be imported: {type(fault).__name__}: {fault}") from None
    if isinstance(value, Format):
        return value
    if isinstance(value, (str, os.PathLike)):
        try:
            return load(os.fspath(value))
        except BadFormat as fault:
            raise BadFormat(f"{whose}: {fault}") from None
    raise BadFormat(f"{whose} is a {type(value).__name__}; expected a Format or a path to a TOML "
                    "file")  # fmt: skip
