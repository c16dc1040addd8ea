"""The published shape that the name of a model stands for, and where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.validate.cases.cases import cases
from assay.validate.cases.observe import about
from assay.validate.cases.solved_shape import with_shapes

PAGE = """# Pre-training on many devices

| Model | Parameters | GPUs | Time per iteration (s) |
| ----- | ---------- | ---- | ---------------------- |
| GPT2  | {size} | 64 | 31.2 |
"""


@pytest.mark.parametrize(("size", "hidden"), [("124M", 768), ("7.5B", None), ("52B", None)])
def test_a_family_has_the_shape_of_its_namesake_at_its_size_alone(
    size: str, hidden: int | None, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(size=size))
    reading = read([str(page)]).reading
    known = with_shapes(cases(reading, about(reading.formats), machine=None, given={}))
    (row,) = known.configuration.select("model", "hidden").rows(named=True)
    assert row == {"model": "GPT2", "hidden": hidden}
