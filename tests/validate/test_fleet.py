"""Many logs at once say of each what it says alone, whatever the number of processes."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import polars as pl
import pytest
from assay.validate.cases.standing import median, medians
from assay.validate.predict import step_forecast
from assay.validate.predict.forecasts import MOST_PARTS, held_together
from assay.validate.report import json_document
from assay.validate.report.layout import told_apart
from assay.validate.runs.run_record import records
from assay.validate.score.assess import Report, assess
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks import inputs

MACHINE = "A100-80g"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More logs than one process reads at a time, and more than have a fit each."""
    return inputs.fleet(tmp_path_factory.mktemp("logs"), 70)


@pytest.fixture(scope="module")
def together(fleet: Path) -> Report:
    return assess([fleet], machine=MACHINE)


def test_runs_are_those_of_each_log_alone(fleet: Path, together: Report) -> None:
    found = {run.source: run for run in records(together)}
    assert len(found) == 70
    for path in sorted(fleet.iterdir())[::16]:
        (alone,) = records(assess([path], machine=MACHINE))
        assert alone.predicted_step_time is not None
        assert found[path.as_posix()] == alone


def test_two_processes_say_what_one_says(fleet: Path, together: Report) -> None:
    two = assess([fleet], machine=MACHINE, workers=2)
    assert json_document.dumps(together) == json_document.dumps(two)


def test_a_thousand_logs_are_no_thousand_fits(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []

    def counted(*given: object, **more: object) -> object:
        fits.append(len(given))
        return fit(*given, **more)  # type: ignore[arg-type]

    fit = step_forecast.fit
    monkeypatch.setattr(step_forecast, "fit", counted)
    report = assess([fleet], machine=MACHINE, models=["step_fitted"])
    assert len(fits) == MOST_PARTS
    predicted = report.comparison.pairs.filter(model="step_fitted")["case"].n_unique()
    assert predicted == report.comparison.pairs["case"].n_unique() == 700


@pytest.mark.parametrize("groups", [1, 5, MOST_PARTS, MOST_PARTS + 1, 100])
def test_groups_are_held_out_whole(groups: int) -> None:
    names = [f"log {at}" for at in range(groups)]
    told = pl.DataFrame({"machine": "H100", "group": list(chain(names, names)), "seconds": 1.0})
    copy = pl.DataFrame({"machine": "H100", "group": "copy", "seconds": None}, told.schema)
    parts = held_together(pl.concat([copy, told]), "seconds")
    assert parts.row(0, named=True)["part"] == -1, "a copy is no group that others are fitted on"
    parts = parts.tail(-1)
    assert parts.drop("part").equals(told)
    assert parts.group_by("group").agg(pl.col("part").n_unique())["part"].unique().to_list() == [1]
    assert parts["part"].n_unique() == min(groups, MOST_PARTS)
    halves = {name: at % 2 for at, name in enumerate(names)}  # see `step_forecast.held_out`
    of_part = parts.with_columns(half=pl.col("group").replace_strict(halves))
    assert of_part.group_by("part").agg(pl.col("half").n_unique())["half"].unique().to_list() == [1]


ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.none() | st.floats(-1e6, 1e6),
        st.sampled_from([1.0, 1.0, 3.0, 250.0]),
    ),
    max_size=20,
)


@given(rows=ROWS)
def test_medians_are_the_median_of_each(rows: list[tuple[str, float | None, float]]) -> None:
    types = {"run": pl.String, "time": pl.Float64, "stands": pl.Float64}
    frame = pl.DataFrame(rows, schema=types, orient="row")
    found = dict(medians(frame, ("run",), ("time",)).iter_rows())
    assert list(found) == list(dict.fromkeys(frame["run"]))
    assert found == {run: median(frame.filter(run=run), "time") for run in found}


@given(sources=st.sets(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)))
def test_sources_are_told_apart_by_as_little_as_does(sources: set[str]) -> None:
    for source, short in told_apart(sources).items():
        ends = ["/".join(source.split("/")[-n:]) for n in range(1, source.count("/") + 2)]
        others = [each.split("/") for each in sources if each != source]
        alone = [
            end
            for end in ends[:-1]
            if all(other[-len(end.split("/")) :] != end.split("/") for other in others)
        ]
        assert short == (alone[0] if alone else source)
