"""The memory model as registered: what every rank of a job holds at its fullest.

A report of a rank (`[Rank 13] (after 20 iterations) memory (MB) | …`) belongs to the run whose
configuration stands above it; the rank says its pipeline stage, since launchers number ranks stage
by stage: rank // (GPUs / PP). A report after the first step has not seen activations and Adam's
moments at once, unless ZeRO allocated them early. What tensors held is compared with the counted
bytes, what the allocator took from the device with those and `memory.reserved`. Megatron's own
estimate of the most loaded rank is met by the fullest stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from assay.ingest.schema.fields import fields
from assay.ingest.schema.reading import Reading
from assay.model.frames import PREDICTION
from assay.model.step.memory import Memory, reserved, stages
from assay.model.transformer.parallel import faults
from assay.model.transformer.training_run import NEEDED, Run, run
from assay.validate.cases.cases import Cases
from assay.validate.cases.observe import case_of
from assay.validate.cases.step_cases import PLACE, completed, with_runs
from assay.validate.predict.forecasts import Asked

NAME = "memory"

BASIS = "assay.model.step.memory.stages"

REPORTED = ("memory", "memory_reserved")

REPORT = {
    "source": pl.String, "line": pl.UInt32, "case": pl.String, "rank": pl.Int64,
    "done": pl.Int64, "estimated": pl.Boolean,
}  # fmt: skip

COUNTED = ("memory_states", "memory_activations", "memory_counted")

QUANTITIES = (*REPORTED, *COUNTED)


def forecast(asked: Asked) -> pl.DataFrame:
    """Memory of every rank that reports its own, and of the fullest where Megatron estimates it."""
    table = reports(asked.cases)
    if table.is_empty():
        return pl.DataFrame(schema=PREDICTION)
    known = _stages(asked.cases.configuration, table["of"].unique())
    rows: list[tuple[object, ...]] = [
        (case, "configuration", "", quantity, value, None, None, "B", NAME, BASIS, [])
        for case, of, rank, done, estimated in table.select(
            "case", "of", "rank", "done", "estimated"
        ).iter_rows()
        if of in known
        for quantity, value in (
            _estimated(known[of][1]) if estimated else _said(*known[of], rank, done)
        )
    ]
    return pl.DataFrame(rows, schema=PREDICTION, orient="row")


def reports(cases: Cases) -> pl.DataFrame:
    """case, `of` (whose configuration it is), rank, iteration, and `estimated`, of every report."""
    stating = [held.name for held in cases.reading.with_rows("run", "step")]
    stated = cases.configuration.filter(pl.col("frame").is_in(stating)).select(
        "source", "line", of="case"
    )
    table = pl.concat([pl.DataFrame(schema=REPORT), *_reports(cases.reading)])
    if table.is_empty() or stated.is_empty():
        return table.with_columns(of=pl.lit(None, dtype=pl.String)).clear()
    ordered = stated.sort("line", maintain_order=True)
    above, below = (
        table.sort("line", maintain_order=True).join_asof(
            ordered, on="line", by="source", strategy=way, check_sortedness=False
        )
        for way in ("backward", "forward")
    )
    return above.with_columns(pl.coalesce("of", below["of"])).sort(
        "source", "line", maintain_order=True
    )  # fmt: skip


def _reports(reading: Reading) -> Iterator[pl.DataFrame]:
    """Rows that tell of a rank's memory, or estimate the most that one holds."""
    for held in reading.with_rows("rank", "estimate"):
        wanted = COUNTED if (estimated := held.kind == "estimate") else REPORTED
        if not any(spec.quantity in wanted for spec in fields(held.schema).values()):
            continue
        columns = held.frame.columns
        yield held.frame.with_columns(
            case=case_of(),
            done=pl.col("iteration") if "iteration" in columns else pl.lit(None),
            estimated=pl.lit(estimated),
        ).select(pl.col(column).cast(kind, strict=False) for column, kind in REPORT.items())


def _stages(
    configuration: pl.DataFrame, wanted: pl.Series
) -> dict[str, tuple[Run, tuple[Memory, ...]]]:
    """Case → its run and what a rank of each stage holds; equal configurations are built once."""
    own = configuration.filter(pl.col("case").is_in(wanted.implode()))
    found: dict[str, tuple[Run, tuple[Memory, ...]]] = {}
    built: dict[tuple[Any, ...], tuple[Run, tuple[Memory, ...]] | None] = {}
    able = with_runs(own)
    for row in () if able.is_empty() else completed(able).iter_rows(named=True):
        key = tuple(value for name, value in row.items() if name not in PLACE)
        if key not in built:
            one = run(row)
            fits = one is not None and not faults(one, gpus_given=row["gpus"])
            built[key] = (one, stages(one)) if one is not None and fits else None
        if (held := built[key]) is not None:
            found[row["case"]] = held
    return found


def _said(
    one: Run, held: tuple[Memory, ...], rank: int | None, done: int | None
) -> Iterator[tuple[str, float]]:
    """Quantity and bytes of one report; nothing where a rank's stage is not known."""
    if rank is None and one.pp > 1:
        return
    per_stage = one.layout.tp * one.layout.cp * one.dp
    stage = 0 if rank is None else rank // per_stage
    if stage < len(held):
        alone = one.zero_stage == 0 or one.dp * one.layout.cp == 1
        early = done is not None and done <= 1 and alone
        total = held[stage].first_step if early else held[stage].total
        yield "memory", total
        yield "memory_reserved", reserved(one, total)


def _estimated(held: tuple[Memory, ...]) -> Iterator[tuple[str, float]]:
    """The fullest stage, which a program's own estimate of its most loaded rank is met by."""
    fullest = max(held, key=lambda stage: stage.total)
    states = fullest.weights + fullest.gradients + fullest.optimizer
    yield from zip(COUNTED, (states, fullest.total - states, fullest.total), strict=True)


def lacking(cases: Cases) -> Mapping[str, str]:
    """Case of a report → what is missing for a prediction, where something is."""
    needs = [name for name in NEEDED if name in cases.configuration.columns]
    asked = reports(cases).select("case", "of", "rank")
    wide = completed(cases.configuration.join(asked, left_on="case", right_on="of", how="semi"))
    found = {}
    known = {row["case"]: row for row in wide.iter_rows(named=True)}
    for case, of, rank in asked.iter_rows():
        row = known.get(of, {})
        missing = [name for name in needs if row.get(name) is None]
        if missing:
            found[case] = f"needs {', '.join(missing)}"
        elif rank is None and (row.get("pp") or 1) > 1:
            found[case] = "says no rank, and stages of a pipeline differ"
    return found


__all__ = ["NAME", "QUANTITIES", "forecast", "lacking", "reports"]
