"""docs/formulas.md shows the registry as it is."""

from pathlib import Path

from assay.model.formulas import registry
from assay.model.transformer import shapes

PAGE = (Path(__file__).parents[2] / "docs" / "formulas.md").read_text(encoding="utf-8")


def test_the_table_is_the_registry():
    assert registry.table() in PAGE


def test_every_id_is_on_the_page():
    assert [each for each in registry.FORMULAS if f"`{each}`" not in PAGE] == []


def test_every_formula_says_where_it_is_from():
    for each in registry.FORMULAS.values():
        assert each.source
        assert each.expression
        assert each.basis.startswith("assay.model.")


def test_the_page_counts_the_shapes():
    assert f"{len(shapes.shapes())} public models" in PAGE
