"""When versions of training programs were released.

In: a program and a version, as documents print them. Out: the year and the month, or None.
Source: `releases.toml`, from the release pages of the projects.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources

_MONTHLY = re.compile(r"(2[0-9])\.(0?[1-9]|1[0-2])(?:\..*)?")
"""A version that is called after its month, as containers are: `24.07`, `25.04.01`."""


@functools.cache
def _known() -> Mapping[str, Mapping[str, str]]:
    text = (resources.files(__package__) / "releases.toml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = tomllib.loads(text)["releases"]
    return found


def released(program: str, version: str) -> str | None:
    """Year and month of a version's release; None where it is not known.

    >>> released("nemo", "24.07"), released("deepspeed", "0.14.2"), released("maxtext", "0.1")
    ('2024-07', '2024-03', None)
    """
    if monthly := _MONTHLY.fullmatch(version):
        return f"20{monthly[1]}-{int(monthly[2]):02}"
    dates = _known().get(program, {})
    mine = _numbers(version)
    older = [each for each in dates if mine and _numbers(each) <= mine]
    same = [each for each in older if _numbers(each)[0] == mine[0]]
    return dates[max(same, key=_numbers)] if same else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall("[0-9]+", version))
