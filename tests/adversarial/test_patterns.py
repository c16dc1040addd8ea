"""No expression of ours looks at a text more often than with the cube of its length.

What a text costs is compared with what half of it costs, in one run: an expression that tries every
way to divide blanks or dashes among its repetitions takes sixteen times as long, or for ever.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from types import ModuleType

import assay.ingest
import pytest

UNITS = ("-", "- ", "-|", " ", "a ", "_", "1", "1,", ". ", "(", "for ", "8 GPUs ", "TP=2 ")

SHORT, LONG = 40, 80
"""How often a unit stands in a text, and in one of twice its length."""

STEEP = 12.0
"""Times as long: eight is the cube, and what is measured here is short."""

LEAST = 0.02
"""Seconds below which nothing is slow."""


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(assay.ingest.__path__, "assay.ingest."):
        yield importlib.import_module(found.name)


def patterns() -> dict[str, re.Pattern[str]]:
    """The expressions of all modules by the name under which the first of them has each."""
    held: dict[str, re.Pattern[str]] = {}
    seen = set()
    for module in modules():
        for name, value in vars(module).items():
            text = getattr(value, "pattern", None)
            if isinstance(text, str) and hasattr(value, "search") and text not in seen:
                seen.add(text)
                held[f"{module.__name__}.{name}"] = value
    return held


def seconds(pattern: re.Pattern[str], text: str) -> float:
    begun = time.perf_counter()
    pattern.search(text)
    return time.perf_counter() - begun


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_no_expression_is_steep(unit: str) -> None:
    steep = []
    for name, pattern in patterns().items():
        words = re.findall("[A-Za-z]{5,}", pattern.pattern)[-1:]
        lead = words[0] + " " if words else ""
        short = seconds(pattern, lead + unit * SHORT + "\x00!")
        if short < LEAST:
            continue
        if seconds(pattern, lead + unit * LONG + "\x00!") > STEEP * short:
            steep.append(name)
    assert steep == []
