"""Registered models of kernels that come from a stack or a datasheet.

A stack that the user names is taken whole. Otherwise each machine has its packaged or borrowed one,
with its parameters alone: what neighbours of the published tables add is left out, because an input
may be one of these tables.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import polars as pl
from assay.model.frames import PREDICTION
from assay.model.kernels import attention
from assay.model.kernels.collective import wire_bytes
from assay.model.stacks.stack import Stack, packaged, predict, stack_for
from assay.validate.cases.kernel_cases import SHAPES, forward, kernel_cases
from assay.validate.cases.observe import about
from assay.validate.predict.forecasts import Asked, Forecast, with_rates

LABEL = "stack"
"""Name of the model whose times are those of a stack."""


def asked_cases(asked: Asked, scope: str) -> pl.DataFrame | None:
    """The cases of one scope with a known machine and number format, None if there are none."""
    reading = asked.cases.reading
    found = kernel_cases(reading, about(reading.formats), machine=asked.machine).get(scope)
    if found is None:
        return None
    known = found.drop_nulls(["machine", "dtype"])
    return None if known.is_empty() else known


def attention_roofline(asked: Asked) -> pl.DataFrame:
    """Datasheet roofline of every attention call."""
    cases = asked_cases(asked, "attention")
    if cases is None:
        return pl.DataFrame(schema=PREDICTION)
    return attention.predict(forward(cases), label="roofline")


def calibrated(scope: str) -> Forecast:
    """Times of one scope under the stack that was named, or the packaged ones."""

    def forecast(asked: Asked) -> pl.DataFrame:
        cases = asked_cases(asked, scope)
        if cases is None:
            return pl.DataFrame(schema=PREDICTION)
        known = _known(asked.stack)
        named = pl.DataFrame(schema=PREDICTION)
        if scope == "attention":  # kernels of programs that a profile names, both passes
            named, cases = attention.predict_compiled(cases, label=LABEL)
        parts = [
            predict(rows, scope, stack, label=LABEL)
            for (name,), rows in forward(cases).group_by("machine", maintain_order=True)
            if scope in (stack := stack_for(str(name), known)).parts
        ]
        times = pl.concat([named, *parts])
        if scope == "gemm":
            return with_rates(times, asked)
        return _with_bandwidths(times, cases) if scope == "collective" else times

    return forecast


def digests(cases: pl.DataFrame, scope: str) -> pl.Series:
    """A digest of every measured row: its machine, number format, shape and seconds.

    Where a row stands does not count: another copy is the same row.
    """
    names = ["machine", "dtype", *(name for name in SHAPES[scope] if name in cases.columns)]
    return pl.Series(
        "digest",
        [
            hashlib.sha256(f"{row[:-1]} {row[-1]:.4g}".encode()).hexdigest()[:DIGITS]
            for row in cases.select(*names, "time").iter_rows()
        ],
        dtype=pl.String,
    )


DIGITS = 16


def fitted(asked: Asked) -> pl.DataFrame:
    """Columns case and scope: the rows to which the caller's stack was fitted, by their digests."""
    found = [pl.DataFrame(schema={"case": pl.String, "scope": pl.String})]
    for scope, part in ({} if asked.stack is None else asked.stack.parts).items():
        cases = asked_cases(asked, scope) if part.seen and scope in SHAPES else None
        if cases is None:
            continue
        timed = cases.drop_nulls("time")
        mine = timed.filter(digests(timed, scope).is_in(list(part.seen)))
        found.append(mine.select("case", scope=pl.lit(scope)))
    return pl.concat(found)


def _known(named: Stack | None) -> dict[str, Stack]:
    """The packaged stacks without neighbours, and over them the parts of the one that is named."""
    known = {
        name: Stack(name, {scope: replace(part, near=None) for scope, part in one.parts.items()})
        for name, one in packaged().items()
    }
    if named is not None:
        own = known[named.machine].parts if named.machine in known else {}
        kernels = {scope: part for scope, part in named.parts.items() if scope in SHAPES}
        known[named.machine] = Stack(named.machine, {**own, **kernels})
    return known


def _with_bandwidths(times: pl.DataFrame, cases: pl.DataFrame) -> pl.DataFrame:
    """Times, and the two bandwidths that benchmarks print instead of them."""
    shape = cases.select("case", "operation", "bytes", "ranks")
    table = times.join(shape, on="case", how="left", maintain_order="left")
    sizes = [table[name].cast(pl.Float64).to_numpy() for name in ("operation", "bytes", "ranks")]
    volume = {
        "algorithm_bandwidth": table["bytes"].cast(pl.Float64),
        "bus_bandwidth": pl.Series(wire_bytes(*sizes)),
    }
    rates = [
        table.with_columns(
            value=volume[name] / pl.col("value"),
            low=volume[name] / pl.col("high"),
            high=volume[name] / pl.col("low"),
            quantity=pl.lit(name),
            unit=pl.lit("B/s"),
        ).select(*PREDICTION)
        for name in volume
    ]
    return pl.concat([times, *rates])
