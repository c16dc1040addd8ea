"""Whose formula is it? The ids under which printed times and printed rates agree.

A table that follows another project's count is no error; a row that follows another formula than
the rows around it deserves a remark. Two formulas can both agree where the digits are few.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from assay.model.formulas import FORMULAS
from assay.model.utilisation import rate as rate_under


def agreeing(
    cases: pl.DataFrame,
    *,
    rate: tuple[pl.Expr, pl.Expr],
    samples_per_second: tuple[pl.Expr, pl.Expr],
    formula_ids: Iterable[str] = FORMULAS,
) -> pl.Series:
    """Per row the ids whose rate interval meets the printed one, in the order given.

    `rate` bounds the printed flop/s per GPU, `samples_per_second` the throughput of the whole job;
    `cases` has `gpus` and whatever inputs are known. An id whose inputs are not all known is
    absent; the list is null where not one could be tried.

    >>> cases = pl.DataFrame({"hidden": 14336, "layers": 70, "seq_len": 2048, "vocab": 250880,
    ...                       "tp": 4, "gpus": 384})
    >>> agreeing(cases, rate=(pl.lit(149.015e12), pl.lit(149.025e12)),
    ...          samples_per_second=(pl.lit(2048 / 105.225), pl.lit(2048 / 105.215)),
    ...          formula_ids=("megatron-2021-old", "narayanan-eq3")).to_list()
    [['narayanan-eq3']]
    """
    low, high = samples_per_second
    columns = []
    for formula_id in formula_ids:
        least, most = rate_under(cases, formula_id, low), rate_under(cases, formula_id, high)
        columns.append(((least <= rate[1]) & (most >= rate[0])).alias(formula_id))
    tried = cases.select(columns)
    names = [
        None if all(met is None for met in row.values()) else [name for name in row if row[name]]
        for row in tried.iter_rows(named=True)
    ]
    return pl.Series("formula_ids", names, dtype=pl.List(pl.String))
