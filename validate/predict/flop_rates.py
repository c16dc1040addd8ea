"""FLOP rates and utilisations of rows that print no time: what a predicted step time makes of them.

A rate is flop of a step over its time and accelerators, a utilisation that over a peak, so a
predicted time predicts both as soon as it is known how the row counts its flop. A formula that
other rows of its table prove is its own; elsewhere one is assumed: that of the nearest row of the
document that proves one, else the customary: every product of the model three times, all keys for
every query, nothing that is computed again (`megatron-core.….full`). Then `least` and `most` say
what other customary counts of the same model give: with the causal half of the keys, without
attention products (6N), and for a rate under recomputation with what is computed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl
from assay.model.formulas.megatron_core import case_of, formula_id_of
from assay.model.formulas.registry import FORMULAS, formula
from assay.model.machines.dtypes import NARROW
from assay.model.transformer.parameters import parameters
from assay.model.transformer.training_run import Run, run
from assay.validate.arithmetic.printed_runs import UNITS
from assay.validate.arithmetic.printed_speed import SAYS
from assay.validate.arithmetic.rated_rows import RATE
from assay.validate.cases.cases import PLACE
from assay.validate.cases.step_cases import completed

RATED = (RATE, "mfu", "hfu")
"""Quantities in the order in which one of a row is predicted: a rate asks for no peak."""

COUNTED: dict[str, pl.DataType] = {
    "case": pl.String(),
    "quantity": pl.String(),
    "unit": pl.String(),
    "flop": pl.Float64(),  # of a sequence
    "least": pl.Float64(),  # by other counts that the row may mean, of a sequence
    "most": pl.Float64(),
    "per": pl.Float64(),  # accelerators, times flop/s of one where it is a share
    "formula_id": pl.String(),
    "peak": pl.String(),  # in words; null beside a rate
    "assumed": pl.Boolean(),  # nothing in the document proves the formula
}


class _Count(NamedTuple):
    """Flop per sequence by one formula, and by the others that may be meant."""

    formula_id: str
    flop: float
    least: float
    most: float
    assumed: bool


def counted(observations: pl.DataFrame, configuration: pl.DataFrame) -> pl.DataFrame:
    """How each case without a printed speed counts the one rate that it prints; see `COUNTED`.

    No row for a case whose configuration is no run, whose formula asks for more than is known, or
    whose share is of a peak that may be that of another number format.
    """
    whole = observations.filter((pl.col("scope") == "configuration") & (pl.col("subject") == ""))
    spoken = whole.filter(pl.col("quantity").is_in(list(SAYS))).select("case")
    rated = whole.filter(pl.col("quantity").is_in(RATED)).join(
        configuration.select("case", "group"), on="case", maintain_order="left"
    )
    alone = rated.select("case", "source", "group", "line", "quantity").unique(
        ["case", "quantity"], keep="first", maintain_order=True
    )
    alone = alone.join(spoken, on="case", how="anti", maintain_order="left")
    if alone.is_empty():
        return pl.DataFrame(schema=COUNTED)
    asked = (
        _proven_around(alone, rated)
        .group_by("case", maintain_order=True)
        .agg(pl.struct("quantity", "proven", "elsewhere").alias("printed"))
    )
    known = configuration.filter(pl.col("trained_part").is_null())  # else weights count otherwise
    table = known.join(asked, on="case", how="inner", maintain_order="left")
    same = [name for name in table.columns if name not in PLACE]
    found = []
    runs = table.group_by(same, maintain_order=True).agg("case")
    filled = completed(runs.select([name for name in known.columns if name in same]))
    full = filled.with_columns(case=pl.lit("")).iter_rows(named=True)
    for row, whole_run in zip(runs.iter_rows(named=True), full, strict=True):
        told = _of_run(row, whole_run)
        found += [(case, *told) for case in row["case"] if told is not None]
    return pl.DataFrame(found, schema=COUNTED, orient="row")


def _proven_around(alone: pl.DataFrame, rated: pl.DataFrame) -> pl.DataFrame:
    """`alone` with `proven`, the formula that most rows of its table follow, and `elsewhere`, that
    of the nearest row of its document; null where none is proven."""
    known = rated.filter(pl.col("formula_id").is_in(list(FORMULAS)))
    here = known.group_by("source", "group", "quantity", maintain_order=True).agg(
        proven=pl.col("formula_id").mode(maintain_order=True).first()
    )
    near = known.select("source", "quantity", "line", elsewhere="formula_id").sort("line")
    place = ["source", "quantity"]
    return (
        alone.join(here, on=[*place, "group"], how="left", maintain_order="left")
        .with_row_index("at").sort("line")
        .join_asof(near, on="line", by=place, strategy="nearest", check_sortedness=False)
        .sort("at").drop("at")
    )  # fmt: skip


def _of_run(row: dict[str, Any], full: dict[str, Any]) -> tuple[object, ...] | None:
    """`COUNTED` without its case for one configuration, `full` where nobody says something, of the
    first of its rates that counts."""
    built = run(full)
    if built is None or full["gpus"] is None:
        return None
    printed = {each["quantity"]: each for each in row["printed"]}
    for quantity in (name for name in RATED if name in printed):
        count = _counted_as(printed[quantity], built, row)
        share = quantity != RATE
        if count is None or (share and built.dtype in NARROW):
            continue
        peak = built.machine.peaks[built.dtype]
        per = full["gpus"] * (peak if share else 1.0)
        said = f"{built.machine.name} {built.dtype} dense, {peak / 1e12:g} TFLOP/s"
        return (quantity, UNITS[quantity], count.flop, count.least, count.most, per,
                count.formula_id, said if share else None, count.assumed)  # fmt: skip
    return None


def _counted_as(printed: Mapping[str, str], built: Run, row: Mapping[str, Any]) -> _Count | None:
    """The count of the row's table; else of its document, which is assumed; else the customary."""
    own = _proven(printed["proven"], built, row)
    if own is not None:
        return own
    usual = _customary(printed["quantity"], built, row)
    near = _proven(printed["elsewhere"], built, row)
    if near is None:
        return usual
    others = [near.flop] if usual is None else [near.flop, usual.least, usual.most]
    return near._replace(least=min(others), most=max(others), assumed=True)


def _inputs(built: Run, row: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs of formulas by column, null where not known."""
    shape = case_of(built.model, seq_len=built.seq_len, tp=built.layout.tp)
    again = {"full": 1.0, "none": 0.0}.get(row["recompute"] or "")
    return {**shape, "tp": float(built.layout.tp), "parameters": row["parameters"],
            "recomputed": again}  # fmt: skip


def _proven(formula_id: str | None, built: Run, row: Mapping[str, Any]) -> _Count | None:
    """The count of the formula that other rows of the document prove, as this model has it."""
    if formula_id is None:
        return None
    if formula_id.startswith("megatron-core"):
        own = _core(built, "causal" if ".causal" in formula_id else "full")
        if own is None or formula_id.endswith(".mtp"):
            return None
        formula_id = own
    known, inputs = formula(formula_id), _inputs(built, row)
    if any(inputs.get(name) is None for name in known.inputs):
        return None
    flop = float(known.count(inputs))
    return _Count(formula_id, flop, flop, flop, assumed=False)


def _customary(quantity: str, built: Run, row: Mapping[str, Any]) -> _Count | None:
    """The customary count of a quantity, with what others give; None where there is none."""
    full, causal = _core(built, "full"), _core(built, "causal")
    if full is None or causal is None:
        return None
    inputs = _inputs(built, row)
    policy = row["recompute"]
    if policy == "full" and row.get("recomputed") not in (None, 1.0):
        policy = None  # of some layers, which no formula counts
    again = _with_recomputation(policy, built)
    own = full
    if quantity == "hfu":
        if policy is None or (policy != "none" and again is None):
            return None
        own = again or full
    flop = float(formula(own).count(inputs))
    model = float(formula(full).count(inputs))
    halved = model - float(formula(causal).count(inputs))
    others = [flop, flop - halved, flop - 2.0 * halved]
    if quantity != "hfu":
        others.append(6.0 * parameters(built.model).active * built.seq_len)
    if quantity == RATE and again is not None:
        others.append(float(formula(again).count(inputs)))
    return _Count(own, flop, min(others), max(others), assumed=True)


def _core(built: Run, mask: str) -> str | None:
    """Id of Megatron-core's count of a model; None for layers that it does not know."""
    model = built.model
    if model.hybrid is not None or (model.experts is not None and model.experts.latent):
        return None
    return formula_id_of(model, mask=mask)


def _with_recomputation(policy: str | None, built: Run) -> str | None:
    """Id of the formula that counts operations done again; None where none has such a model."""
    model = built.model
    plain = not model.gated and model.kv_heads == model.heads and model.experts is None
    if not plain or model.latent is not None or model.ffn_hidden != 4 * model.hidden:
        return None
    ids = {"full": "narayanan-eq3", "selective": "korthikanti-2022.hfu"}
    return ids.get(policy or "")


def as_rates(times: pl.DataFrame, rated: pl.DataFrame, batches: pl.DataFrame) -> pl.DataFrame:
    """Predicted step `times` as the rates of `rated` (see `counted`), with intervals of both.

    `batches` has case and global_batch, in sequences. The basis names formula and peak. Source:
    rate = flop per sequence · sequences / (GPUs · time).
    """
    work = pl.col("global_batch") / pl.col("per")
    assumed = pl.when("assumed").then(
        pl.format(
            ", assumed: other counts lie {} to {} % from it",
            ((pl.col("least") / pl.col("flop") - 1.0) * 100).round(1),
            ((pl.col("most") / pl.col("flop") - 1.0) * 100).round(1),
        )
    )
    over = pl.format(" over {}", "peak")
    return (
        times.drop("quantity", "unit")
        .join(rated, on="case", how="inner", maintain_order="left")
        .join(batches.select("case", "global_batch"), on="case", maintain_order="left")
        .with_columns(
            value=work * pl.col("flop") / pl.col("value"),
            low=work * pl.col("least") / pl.col("high"),
            high=work * pl.col("most") / pl.col("low"),
            basis=pl.concat_str(
                "basis", pl.lit(" under "), "formula_id", over.fill_null(""), assumed.fill_null("")
            ),
        )
    )
