"""assay from Python: paths in, typed results and polars frames out.

`assay` itself is a namespace without a module of its own, so the functions live here:

>>> from assay.validate import api
>>> found = api.read("fixtures/megatron_iteration/bloom_176b.log")
>>> found["megatron_iteration"].select("iteration", "step_time", "lm_loss").head(2)
shape: (2, 3)
┌───────────┬───────────┬──────────┐
│ iteration ┆ step_time ┆ lm_loss  │
│ ---       ┆ ---       ┆ ---      │
│ i64       ┆ f64       ┆ f64      │
╞═══════════╪═══════════╪══════════╡
│ 12695     ┆ 105.22    ┆ 2.463556 │
│ 31214     ┆ 106.46    ┆ 2.198845 │
└───────────┴───────────┴──────────┘

Values are in SI units; ratios are fractions. Nothing is written to the disk but by `save`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from assay.ingest.formats.own.installed import known
from assay.ingest.inputs.nearest import unrecognised
from assay.ingest.inputs.read import read as read_inputs
from assay.ingest.redact.redact import Redactor
from assay.model.frames import PREDICTION
from assay.model.machines.datasheets import resolve
from assay.model.stacks.stack import Stack, load
from assay.validate.export.writers import tables
from assay.validate.plan import planning
from assay.validate.plan.planning import Unpredictable
from assay.validate.predict import models as registry
from assay.validate.predict.predictions import Unjoinable, fitted
from assay.validate.results import Compared, Read
from assay.validate.score import assess

__all__ = [
    "Compared", "NothingRead", "Read", "Unjoinable", "Unpredictable", "compare", "forecast",
    "predict", "read", "report",
]  # fmt: skip


class NothingRead(ValueError):
    """No input could be opened, or no format knows a line of any."""


def read(
    *paths: str | Path,
    machine: str | None = None,
    formats: Iterable[str | Path] = (),
    workers: int | None = 1,
    redact: bool = False,
) -> Read:
    """Read files, folders, globs, or folders that `assay ingest` wrote.

    `machine` is assumed of inputs that do not name theirs; `formats` are files that describe own
    formats; `workers` processes share many inputs (None: as many as the work is worth); `redact`
    leaves out names of users and hosts, addresses and keys. A line that cannot be read is in the
    quarantine, not an exception. Raises NothingRead where there is nothing at all, LookupError for
    an unknown machine, ValueError for a format that cannot be used, TypeError for what is no path.

    >>> read("fixtures/gemm_table/microbenchmark.log").sources.select("lines", "claimed", "refused")
    shape: (1, 3)
    ┌───────┬─────────┬─────────┐
    │ lines ┆ claimed ┆ refused │
    │ ---   ┆ ---     ┆ ---     │
    │ i64   ┆ i64     ┆ i64     │
    ╞═══════╪═════════╪═════════╡
    │ 7     ┆ 4       ┆ 0       │
    └───────┴─────────┴─────────┘
    """
    name = resolve(machine) if machine else None
    stated = {"gpu": name} if name else {}
    files = known(tuple(map(str, formats)))
    names = [os.fspath(path) for path in paths]
    outcome = read_inputs(names, stated=stated, formats=files, workers=workers)
    accounts = outcome.reading.accounting
    if not accounts:
        raise NothingRead("; ".join(map(str, outcome.unreadable)) or "no input was given")
    if not any(account.claimed + account.refused for account in accounts):
        raise NothingRead(unrecognised(outcome))
    if redact:
        outcome = Redactor(outcome).redacted(outcome)
    return Read(assess.understand(outcome, machine=name), tables(outcome.reading))


def predict(
    cases: Read, stack: str | Path | Stack | None = None, *, models: Iterable[str] = ()
) -> pl.DataFrame:
    """Predictions of the models for everything that was read: one row per number, in SI units.

    `stack` replaces the packaged calibrated kernels; `models` chooses models, all if empty.
    Columns: case, scope, subject, quantity, value, low, high, unit, model, basis, inputs. Raises
    LookupError for an unknown model, ValueError for a stack that is none.

    >>> found = read("fixtures/gemm_table/microbenchmark.log", machine="H100")
    >>> rows = predict(found, models=["roofline"])
    >>> rows.select("subject", "quantity", "value", "unit").head(1)
    shape: (1, 4)
    ┌──────────────────┬──────────┬──────────┬──────┐
    │ subject          ┆ quantity ┆ value    ┆ unit │
    │ ---              ┆ ---      ┆ ---      ┆ ---  │
    │ str              ┆ str      ┆ f64      ┆ str  │
    ╞══════════════════╪══════════╪══════════╪══════╡
    │ 1x1024x1024x1024 ┆ time     ┆ 0.000002 ┆ s    │
    └──────────────────┴──────────┴──────────┴──────┘
    """
    return registry.predict(cases.understood.asked(_stack(stack)), registry.named(models))


def forecast(
    configuration: str | Path | Mapping[str, Any] | Read,
    machine: str,
    stack: str | Path | Stack | None = None,
) -> pl.DataFrame:
    """Step time of configurations that have not run yet: one row each, seconds and bytes.

    `configuration` is a mapping (hidden, layers, heads, …, or `model` with a public name), a TOML
    file of one, a log or table that states some, or what `read` gave. Columns: step_time with its
    interval, tokens_per_gpu_per_s, `spent_…` (what the time is spent on), memory and its parts.
    Raises LookupError for an unknown machine, Unpredictable where nothing can be predicted.

    >>> run = {"model": "llama-2-7b", "gpus": 8, "global_batch": 128, "micro_batch": 1}
    >>> run |= {"seq_len": 4096, "dtype": "bf16", "tp": 1, "pp": 1, "zero_stage": 1}
    >>> step = forecast(run, "H100")
    >>> step["step_time_low"][0] < step["step_time"][0] < step["step_time_high"][0]
    True
    """
    stated = configuration.configurations if isinstance(configuration, Read) else configuration
    return planning.forecast_frame(stated, machine, _stack(stack))


def compare(cases: Read, predictions: pl.DataFrame | None = None, model: str = "mine") -> Compared:
    """Join printed numbers with predictions: those of `predict`, or one's own.

    Own predictions have the columns quantity, value, unit, and `case` or any columns that single a
    case out (line, m, n, k, tp, …); `model` names them where they have no such column. Without
    predictions every packaged model is compared. Raises Unjoinable where they do not fit.

    >>> found = read("fixtures/gemm_table/microbenchmark.log", machine="H100")
    >>> own = pl.DataFrame({"line": [2], "quantity": ["time"], "value": [5e-6], "unit": ["s"]})
    >>> compare(found, own).accuracy.select("model", "n", pl.col("mape").round(3))
    shape: (1, 3)
    ┌───────┬─────┬──────┐
    │ model ┆ n   ┆ mape │
    │ ---   ┆ --- ┆ ---  │
    │ str   ┆ i64 ┆ f64  │
    ╞═══════╪═════╪══════╡
    │ mine  ┆ 1   ┆ 0.02 │
    └───────┴─────┴──────┘
    """
    every = registry.named(())
    if predictions is None:
        return Compared(assess.against(cases.understood, predict(cases), every))
    if not predictions.schema.keys() >= PREDICTION.keys():
        predictions = fitted(predictions, cases.understood.cases, "predictions", model)
    mine = [each for each in every if each.name in set(predictions["model"])]
    chosen = predictions.select(*PREDICTION)
    return Compared(assess.against(cases.understood, chosen, mine))


def report(
    *paths: str | Path,
    machine: str | None = None,
    stack: str | Path | Stack | None = None,
    models: Iterable[str] = (),
    formats: Iterable[str | Path] = (),
    redact: bool = False,
) -> Compared:
    """Read, predict and compare in one: what `assay report` does.

    The arguments and what is raised are those of `read` and `predict`.

    >>> found = report("fixtures/megatron_iteration/bloom_176b.log")
    >>> found.accuracy.filter(pl.col("model") == "roofline").select("quantity", "n")
    shape: (1, 2)
    ┌───────────┬─────┐
    │ quantity  ┆ n   │
    │ ---       ┆ --- │
    │ str       ┆ i64 │
    ╞═══════════╪═════╡
    │ step_time ┆ 12  │
    └───────────┴─────┘
    """
    found = read(*paths, machine=machine, formats=formats, redact=redact)
    chosen = registry.named(models)
    predicted = registry.predict(found.understood.asked(_stack(stack)), chosen)
    return Compared(assess.against(found.understood, predicted, chosen))


def _stack(stack: str | Path | Stack | None) -> Stack | None:
    if stack is None or isinstance(stack, Stack):
        return stack
    return load(Path(stack).read_text(encoding="utf-8"))
