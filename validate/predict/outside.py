"""Models of users: the entry points of the group `assay.models`, and what they may give.

In: installed functions or `assay.model.frames.Model`s. Out: registered models like the packaged
ones, whose results are checked before anything is joined with them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points

import polars as pl
from assay.ingest.formats.own.columns import quantities
from assay.ingest.formats.own.fault import nearest
from assay.model.frames import KEY, PREDICTION, Model
from assay.validate.predict.forecasts import Asked, Forecast, once_per_configuration, with_rates
from assay.validate.predict.forecasts import with_throughput as with_printed_speed
from assay.validate.predict.predictions import Unjoinable

GROUP = "assay.models"

REQUIRED = ("case", "quantity", "value", "unit")

TIMES = {"configuration": "step_time", "gemm": "time"}
"""Quantity that is turned into a rate where a case prints no time."""

_TURNED: dict[str, Callable[[pl.DataFrame, Asked], pl.DataFrame]] = {
    "configuration": with_printed_speed, "gemm": with_rates,
}  # fmt: skip


@cache
def installed() -> tuple[tuple[str, Model], ...]:
    """Name and model of every entry point, in the order of their names.

    Raises Unjoinable, naming model and package, where one cannot be loaded.
    """
    points = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    found: dict[str, Model] = {}
    for point in points:
        if point.name in found:
            raise Unjoinable(f"two installed models are called {point.name!r}")
        found[point.name] = _loaded(point)
    return tuple(found.items())


def _loaded(point: EntryPoint) -> Model:
    package = point.dist.name if point.dist else "an unknown package"
    whose = f"the model {point.name!r} of the installed package {package}"
    try:
        value = point.load()
    except Exception as fault:  # whatever its import raises: it is not ours
        raise Unjoinable(f"{whose} cannot be imported: {type(fault).__name__}: {fault}") from None
    if isinstance(value, Model):
        return value
    if callable(value) and not isinstance(value, type):
        return Model(value)
    kind = type(value).__name__
    raise Unjoinable(f"{whose} is a {kind}; expected a function or an assay.model.frames.Model")


def forecast(name: str, model: Model) -> Forecast:
    """The model as a registered one: asked for every case of its scope, its answer checked."""

    def ask(cases: pl.DataFrame) -> pl.DataFrame:
        try:
            said = model.predict(cases)
        except Exception as fault:  # not our code, so nothing is known of what it raises
            raise Unjoinable(
                f"the model {name!r} failed: {type(fault).__name__}: {fault}"
            ) from None
        return checked(name, model, said, cases)

    def predict(asked: Asked) -> pl.DataFrame:
        if model.scope == "gemm":
            cases = asked.cases.gemm
            found = pl.DataFrame(schema=PREDICTION) if cases.is_empty() else ask(cases)
        else:
            found = once_per_configuration(asked.cases.configuration, ask)
        times = found.filter(pl.col("quantity") == TIMES[model.scope])
        rest = found.filter(pl.col("quantity") != TIMES[model.scope])
        return pl.concat([_TURNED[model.scope](times, asked), rest])

    return predict


def checked(name: str, model: Model, said: object, cases: pl.DataFrame) -> pl.DataFrame:
    """Check the frame that a model from outside gave, and complete it to a frame of `PREDICTION`.

    `subject`, `low`, `high` and `inputs` may be left out; `scope`, `model` and `basis` are filled
    in. Raises Unjoinable, naming the model and what is wrong.
    """
    whose = f"the model {name!r}"
    if not isinstance(said, pl.DataFrame):
        raise Unjoinable(f"{whose} gave a {type(said).__name__}; expected a polars DataFrame")
    for column in REQUIRED:
        if column not in said.columns:
            raise Unjoinable(
                f"{whose} gave no column {column!r}; it gave {', '.join(said.columns)}"
            )
    for column in said.columns:
        if column not in PREDICTION:
            raise Unjoinable(f"{whose} gave a column {column!r}{nearest(column, PREDICTION)}")
    table = _typed(whose, _whole(name, model, said, cases))
    _refuse_values(whose, table)
    _refuse_units(whose, model, table)
    _refuse_cases(whose, table, cases)
    return table


def _whole(name: str, model: Model, said: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    """`said` with the columns that may be left out."""
    function = model.predict
    where = f"{function.__module__}.{getattr(function, '__qualname__', name)}"
    none = pl.lit(None, dtype=pl.Float64)
    fill = {"low": none, "high": none, "inputs": pl.lit([], dtype=pl.List(pl.String))}
    missing = {column: value for column, value in fill.items() if column not in said.columns}
    table = said.with_columns(**missing)
    if "basis" not in said.columns:
        table = table.with_columns(basis=pl.lit(where))
    if "scope" not in said.columns:
        table = table.with_columns(scope=pl.lit(model.scope))
    if "subject" not in said.columns:
        if "subject" in cases.columns and table["case"].dtype == pl.String:
            subjects = cases.select("case", "subject").unique("case", maintain_order=True)
            table = table.join(subjects, on="case", how="left", maintain_order="left")
        else:
            table = table.with_columns(subject=pl.lit(""))
    return table.with_columns(model=pl.lit(name))


def _typed(whose: str, table: pl.DataFrame) -> pl.DataFrame:
    columns = []
    for column, kind in PREDICTION.items():
        held = table[column]
        numbers = kind == pl.Float64 and (held.dtype.is_numeric() or held.dtype == pl.Null)
        if held.dtype != kind and not numbers and held.len():
            raise Unjoinable(f"{whose}: column {column!r} is {held.dtype}; expected {kind}")
        columns.append(held.cast(kind))
    return pl.DataFrame(columns)


def _refuse_values(whose: str, table: pl.DataFrame) -> None:
    for column in ("case", "scope", "subject", "quantity", "unit"):
        if table[column].null_count():
            raise Unjoinable(f"{whose}: column {column!r} is null in some row")
    odd = table.filter(~pl.col("value").is_finite().fill_null(value=False))
    if odd.height:
        ask = "leave out a case that it cannot predict"
        raise Unjoinable(f"{whose}: value is no finite number for {odd['case'][0]}; {ask}")
    wrong = table.filter((pl.col("low") > pl.col("value")) | (pl.col("high") < pl.col("value")))
    if wrong.height:
        raise Unjoinable(f"{whose}: low and high do not enclose value for {wrong['case'][0]}")
    twice = table.filter(table.select(KEY).is_duplicated())
    if twice.height:
        case, _, _, quantity = twice.select(KEY).row(0)
        raise Unjoinable(f"{whose} predicts {quantity} of {case} twice")


def _refuse_units(whose: str, model: Model, table: pl.DataFrame) -> None:
    for scope, quantity, unit in table.select("scope", "quantity", "unit").unique().rows():
        if scope != model.scope:
            raise Unjoinable(f"{whose} gave scope {scope!r}; it was asked for {model.scope!r}")
        usual = quantities().get((scope, quantity))
        if usual is not None and usual != unit:
            raise Unjoinable(f"{whose}: {quantity} is in {usual}; it gave {unit!r}")


def _refuse_cases(whose: str, table: pl.DataFrame, cases: pl.DataFrame) -> None:
    unknown = table.join(cases.select("case"), on="case", how="anti")
    if unknown.height:
        raise Unjoinable(f"{whose} predicts {unknown['case'][0]!r}, which it was not asked")
