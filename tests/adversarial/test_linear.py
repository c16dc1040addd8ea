"""Four times as much of anything is at most five times the work, in reading and in the laws."""

from __future__ import annotations

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.merge import merge
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Outcome
from assay.ingest.source.opening import Source, source
from assay.validate.cli.inputs import judge
from assay.validate.score.assess import understand

from tests.adversarial.inputs import DIMENSIONS, Dimension
from tests.adversarial.work import work

SHARE = 100
"""Of a megabyte: enough for what grows with the square to outgrow what is done once."""


def cost(text: str) -> int:
    """The work of reading a text, of everything that laws say of it, and of the account."""

    def act() -> None:
        whole = source("input", text.encode())
        assert isinstance(whole, Source)
        outcome = Outcome(merge([read_source(whole, FORMATS)]), ())
        understand(outcome)
        judge(outcome, ["input"], (1.0, True))

    return work(act)


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda each: each.__name__)
def test_the_work_is_linear_in(dimension: Dimension) -> None:
    n = max(DIMENSIONS[dimension] // SHARE, 4)
    cost(dimension(2))  # grammars are built once
    least, one, two, four = (cost(dimension(many)) for many in (1, n, 2 * n, 4 * n))
    assert four <= 5 * one, (least, one, two, four)
    # what is done once hides what grows with the square, which would be sixteen times as much
    assert four - least <= 6 * (one - least) + least // 10, (least, one, two, four)
