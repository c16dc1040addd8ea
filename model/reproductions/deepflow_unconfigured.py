"""Predictions for a DeepFlow dump that stands alone, from the numbers it prints itself.

In: printed numbers as a frame with case, scope, subject, quantity, value, low and high. Out: a
prediction for every number that follows from those consumed, and none for the consumed ones.

Units are SI. Source: `deepflow_solve` for the unknowns, `deepflow` for what follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from assay.model.reproductions.deepflow import (
    Estimate,
    Figure,
    as_predictions,
    count_figures,
    gemm_counts,
    gemm_time,
    kernel_times,
    step_figures,
)
from assay.model.reproductions.deepflow_solve import (
    Printed,
    Solution,
    Unsolvable,
    Value,
    peak_rates,
    solve,
)
from assay.model.reproductions.deepflow_workload import gemms, gradients, pointwise

BASIS = "assay.model.reproductions.deepflow_unconfigured.predict_alone"


def figures(solution: Solution) -> Iterator[Figure]:
    """Every number that a solution determines, the consumed ones included."""
    work, tiles, rates = solution.work, solution.tiles, solution.rates
    if work is None:
        return
    per_layer = {"parameters", "memory", "memory_per_shard"}
    for figure in count_figures(work):
        if solution.layers_known or figure.quantity not in per_layer:
            yield figure
    if tiles is not None:
        for gemm in gemms(work):
            yield from gemm_counts(gemm, tiles, work.precision)
    if rates is None:
        return
    yield from kernel_times((*pointwise(work), *gradients(work)), rates)
    flops, bandwidth = peak_rates(rates)
    yield Figure("machine", "", "peak_flops", flops, "flop/s")
    yield Figure("machine", "", "memory_bandwidth", bandwidth, "B/s")
    if tiles is not None:
        for gemm in gemms(work):
            yield from gemm_time(gemm, tiles, work.precision, rates)
        for figure in step_figures(work, tiles, rates):
            if solution.layers_known or figure.quantity != "step_time":
                yield figure


def printed_by_case(observed: pl.DataFrame) -> dict[str, Printed]:
    """The printed numbers of each case; the first stands where a dump prints one twice.

    Columns: case, scope, subject, quantity, value, low and high, SI.
    """
    found: dict[str, dict[tuple[str, str, str], Value]] = {}
    columns = ("case", "scope", "subject", "quantity", "value", "low", "high")
    for case, scope, subject, quantity, *span in observed.select(columns).iter_rows():
        found.setdefault(case, {}).setdefault((scope, subject, quantity), Value(*span))
    return dict(found)


def solutions(observed: pl.DataFrame) -> dict[str, Solution]:
    """The solution of every case that has one, by case; columns as of `printed_by_case`."""
    found = {}
    for case, printed in printed_by_case(observed).items():
        try:
            found[case] = solve(printed)
        except Unsolvable:
            continue
    return found


def predict_alone(observed: pl.DataFrame) -> pl.DataFrame:
    """Predictions for every dump from its own numbers; `inputs` names the consumed ones.

    Columns: as of `printed_by_case` in, those of `frames.PREDICTION` out.
    """
    found = []
    for case, solution in solutions(observed).items():
        consumed = set(solution.consumed)
        inputs = tuple(f"{q} of {s or scope}" for scope, s, q in solution.consumed)
        kept = [f for f in figures(solution) if (f.scope, f.subject, f.quantity) not in consumed]
        found.append(Estimate(case, kept, inputs))
    return as_predictions(found, basis=BASIS)
