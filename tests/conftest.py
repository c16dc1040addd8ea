"""Shared by all tests: where the data is, and which tests begin."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from _pytest.mark.structures import ParameterSet
from hypothesis import settings
from typer.main import get_command

# no wall-clock assertions: a loaded machine is no failure
settings.register_profile("thorough", deadline=None)
# a third of the examples with every change; `make test-slow` asks for the others
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=30)
settings.load_profile("quick")

# as the command line does: with frames and grammars in memory, looking for garbage takes long
gc.set_threshold(250_000)

# `CliRunner` reads the signatures of all commands again for every call, which is a tenth of a test
typer.testing._get_command = cache(get_command)

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"

LONGEST = (
    "adversarial/test_linear.py",
    "validate/wild/test_wild.py",
    "ingest/test_parts.py",
    "ingest/test_published_tables.py",
    "validate/test_long.py",
    "ingest/test_mutations.py",
    "validate/golden/test_fixtures.py",
    "ingest/test_trainers.py",
    "validate/test_abridged.py",
    "validate/test_fleet.py",
    "validate/laws/test_documents.py",
)
"""Files that take longest, which begin: no worker is left with one of them when others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of the longest files first, of all others in their order."""
    places = {ROOT / "tests" / name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def examples(count: int) -> int:
    """The examples of a property that so many show: fewer where the profile asks for fewer."""
    return max(count * settings().max_examples // 100, 4)


def mostly_slow(parameters: Iterable[Any], every: int = 4) -> list[ParameterSet]:
    """Parameters of a test: one in so many, the first too, and the others in the slow runs only.

    A tuple is of several arguments, as where these are listed without this.
    """
    return [
        pytest.param(
            *(each if isinstance(each, tuple) else (each,)),
            marks=[pytest.mark.slow] if at % every else [],
        )
        for at, each in enumerate(parameters)
    ]


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real inputs, named by ASSAY_CORPUS."""
    named = os.environ.get("ASSAY_CORPUS")
    if not named:
        pytest.skip("ASSAY_CORPUS is not set: real inputs outside fixtures/ are not at hand")
    folder = Path(named) if Path(named).is_absolute() else ROOT / named
    if not folder.is_dir():
        pytest.skip(f"ASSAY_CORPUS names {folder}, which is no folder")
    return folder
