"""Shared by all tests: where the data is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# no wall-clock assertions: a loaded machine is no failure
settings.register_profile("assay", deadline=None)
settings.load_profile("assay")

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"


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
