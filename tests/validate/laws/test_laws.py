"""The list of laws and its page."""

from __future__ import annotations

from assay.validate.cli.laws_page import page
from assay.validate.laws.laws import LAWS

from tests.conftest import ROOT


def test_the_page_is_up_to_date() -> None:
    said = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert said == page(), "python -m assay.validate.cli.laws_page > docs/findings.md"


def test_every_law_says_what_it_is() -> None:
    names = [law.name for law in LAWS]
    assert len(names) == len(set(names))
    for law in LAWS:
        assert law.kind in ("identity", "convention", "statistical")
        assert law.sentence.endswith(".")
        assert law.ties
        assert law.rule
        if law.kind == "statistical":
            assert "error" not in law.rule
