"""Every example in a docstring is run."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from tests.conftest import ROOT

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules() -> list[str]:
    return sorted(
        "assay." + path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for top in ("ingest", "model", "validate")
        for path in (ROOT / top).rglob("*.py")
        if ">>>" in Path(path).read_text(encoding="utf-8") and path.name != "__main__.py"
    )


@pytest.mark.parametrize("name", modules())
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    module = importlib.import_module(name.removesuffix(".__init__"))
    failed, tried = doctest.testmod(module, optionflags=OPTIONS, report=True)
    assert tried, f"{name} has a prompt that is no example"
    assert not failed
