"""Four times as much of anything is at most five times the work, in reading and in the laws."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.kernels import kernel_rates
from assay.ingest.pipeline.merge import merge
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Outcome
from assay.ingest.schema.record import Diagnostic
from assay.ingest.source.opening import source
from assay.validate.cli.inputs import judge
from assay.validate.score.assess import understand

from tests.adversarial.further import EVERY, NAMED, states_on_a_line
from tests.adversarial.inputs import (
    Dimension,
    html_tables,
    log_lines,
    restarts,
    runs,
    table_columns,
    table_rows,
    tables,
    wrong_lines,
)
from tests.adversarial.work import loops, work

OFTEN = [
    log_lines, restarts, tables, table_rows, html_tables, wrong_lines, states_on_a_line,
]  # fmt: skip
"""Inputs whose work is counted with every change: one of each way to read, and of the laws.
The work of all in longer inputs, and the loops of all, now and then."""

SHARE = 100
"""Of a megabyte: enough for what grows with the square to outgrow what is done once."""

QUICK = 2 * SHARE
"""Of a megabyte, with every change: a half as long, and held to less, tells as much."""

STEPPED = (restarts, runs, table_columns)
"""Inputs whose work makes a step where they are short: they are as long with every change."""


def cost(text: str | bytes, name: str, count: Callable[[Callable[[], object]], int]) -> int:
    """The work, counted so, of reading an input, of all that laws say of it, and of the account."""

    def act() -> None:
        outcome = readings(text, name)
        understand(outcome)
        judge(outcome, [name], (1.0, True))

    return count(act)


def readings(text: str | bytes, name: str) -> Outcome:
    """What is read of an input."""
    whole = source(name, text.encode() if isinstance(text, str) else text)
    if isinstance(whole, Diagnostic):  # refused before it is read
        return Outcome(merge([]), (whole,))
    return Outcome(merge([read_source(whole, FORMATS)]), ())


def held(
    dimension: Dimension,
    count: Callable[[Callable[[], object]], int],
    share: int = SHARE,
    most: int = 6,
) -> None:
    """Raise where four times as much is more than five times the work; `most` without the least."""
    n, name = max(EVERY[dimension] // share, 4), NAMED.get(dimension, "input")
    cost(dimension(2), name, count)  # grammars, and what laws learn, are built once
    least, one, four = (cost(dimension(many), name, count) for many in (1, n, 4 * n))
    assert four <= 5 * one, (least, one, four)
    # what is done once hides what grows with the square, which would be sixteen times as much
    assert four - least <= most * max(one - least, 0) + least // 10, (least, one, four)


@pytest.mark.parametrize("lazy", [True, False])
def test_cells_that_queries_give_are_work(lazy: bool) -> None:
    """A copy of a frame in every step would be no more calls than an empty one."""

    def act(height: int) -> Callable[[], object]:
        frame = pl.DataFrame({"a": range(height)})
        added = pl.col("a") + 1
        return lambda: frame.lazy().select(added).collect() if lazy else frame.select(added)

    act(1)()  # what polars imports once
    assert work(act(1000)) - work(act(1)) >= 999


def test_letters_looked_at_for_devices_are_linear_in_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A label of many words has a name of a device in front of none but the first of them."""
    asked: list[int] = []
    only = kernel_rates.only
    monkeypatch.setattr(kernel_rates, "only", lambda text: (asked.append(len(text)), only(text))[1])

    def letters(n: int) -> int:
        asked.clear()
        words = "".join(f"<tr><th>time {at}</th></tr>" for at in range(n))
        table = f"<table><thead>{words}</thead><tr><td>8</td><td>2</td></tr></table>"
        readings(f"GEMM times\nm,n,k\n\n{table}", "input")
        return sum(asked)

    one = letters(100)
    assert one
    assert letters(400) <= 5 * one


@pytest.mark.parametrize("dimension", OFTEN, ids=lambda each: each.__name__)
def test_the_work_is_linear_in(dimension: Dimension) -> None:
    if dimension in STEPPED:
        held(dimension, work)
    else:
        held(dimension, work, QUICK, most=5)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", EVERY, ids=lambda each: each.__name__)
def test_so_is_the_work_in(dimension: Dimension) -> None:
    held(dimension, work)


@pytest.mark.slow
@pytest.mark.parametrize("dimension", EVERY, ids=lambda each: each.__name__)
def test_the_loops_are_linear_in(dimension: Dimension) -> None:
    held(dimension, loops)
