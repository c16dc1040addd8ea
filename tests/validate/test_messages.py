"""Every exit code and every diagnostic code is explained, and shown as it is printed."""

from __future__ import annotations

import pytest
from assay.ingest.inputs import ceiling
from assay.ingest.schema.record import Code
from assay.validate.cli.exits import ORDER, Exit
from assay.validate.cli.messages import CODES, EXIT, examples, page, refused, templates

from tests.conftest import ROOT


def test_the_page_is_up_to_date() -> None:
    said = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    assert said == page(), "run: python -m assay.validate.cli.messages > docs/messages.md"


def test_the_sets_of_codes_are_closed() -> None:
    assert set(CODES) == set(Code)
    assert set(EXIT) == set(Exit) == set(ORDER)


@pytest.mark.parametrize("code", Code)
def test_a_broken_input_gives_its_code(code: Code) -> None:
    assert {found.code for found in examples(CODES[code])} == {code}


def test_every_code_is_used_and_its_wording_found() -> None:
    found = templates()
    assert {code for code, texts in found.items() if not texts} == {Code.OUT_OF_RANGE}
    assert "a line of … bytes; the limit is …" in found[Code.TOO_LONG]


def test_what_refuses_a_command_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    found = refused()
    assert "another ingest is writing …: let it end, or name another folder" in found
    assert "… is not empty; --force replaces an earlier ingest" in found
    monkeypatch.setattr(ceiling.Ceiling, "most", 8 * 10**9)
    assert ceiling.refused() in (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
