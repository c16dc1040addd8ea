"""The pages of the formats are what the grammars and schemas say."""

from __future__ import annotations

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.reference.describe import columns, page, summary
from assay.ingest.schema.format import Format

from .conftest import FIXTURES, ROOT


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_the_page_is_up_to_date(fmt: Format) -> None:
    written = (ROOT / "docs" / "formats" / fmt.name / "README.md").read_text(encoding="utf-8")
    assert written == page(fmt), "run: python -m assay.ingest.reference.describe docs/formats"


@pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
def test_every_format_is_described_and_has_a_sample(fmt: Format) -> None:
    assert summary(fmt).endswith(".")
    assert [path for path in (FIXTURES / fmt.name).iterdir() if path.suffix != ".toml"]
    declared = columns(fmt)
    assert {column.frame for column in declared} == set(fmt.schemas)
    for column in declared:
        assert column.kind or column.type in ("String", "Boolean"), column


def test_every_sample_says_where_it_comes_from() -> None:
    import tomllib

    for path in FIXTURES.rglob("*.toml"):
        origin = tomllib.loads(path.read_text(encoding="utf-8")).get("origin", {})
        assert origin.get("licence") or origin.get("license"), path
