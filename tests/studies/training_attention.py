"""`python -m tests.studies.attention`: figures of training kernels from published rates.

Reads `fixtures/anchors/attention_training.csv` and prints the tables of
`model/kernels/attention_kernels.toml` that it decides: one for every kernel, architecture and pass
of which at least `ENOUGH` rates are published.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from assay.model.fit import kernel_fit
from assay.model.kernels import attention
from assay.model.kernels.kernel import inputs, with_facts
from assay.model.machines.datasheets import machine

from tests.studies.entries import Entry

TABLE = Path("fixtures/anchors/attention_training.csv")
ENOUGH = 4
LAUNCH = 1e-5
WHOLE = "xformers-479"
"""Rates of a version that gave a thread block a whole sequence of a head: every started round of
blocks took its full time. Later versions of that generation split sequences where pairs are few."""


def rates(table: Path = TABLE) -> pl.DataFrame:
    """Published rates of fused kernels, with their times in s and the architecture of each."""
    frame = pl.read_csv(table, infer_schema_length=None).filter(pl.col("kernel") != "unfused")
    names = {gpu: machine(gpu).generation for gpu in frame["gpu"].unique()}
    products = pl.when(pl.col("direction") == "backward").then(attention.BACKWARD).otherwise(1.0)
    shown = with_facts(
        frame.with_columns(
            machine="gpu", architecture=pl.col("gpu").replace_strict(names), products=products
        )
    )
    work = attention.flop(inputs(attention.TRAINED, shown)) * shown["products"].to_numpy()
    rounds = pl.col("batch") * pl.col("heads") / pl.col("sms")
    busy = pl.when(pl.col("source") == WHOLE).then(rounds / rounds.ceil()).otherwise(1.0)
    return shown.with_columns(time=pl.Series(work) / (pl.col("tflops") * 1e12) * busy)


def fitted(frame: pl.DataFrame) -> Iterator[tuple[tuple[str, str, str], kernel_fit.Fit, float]]:
    """By kernel, architecture and pass: the fit, and its mean absolute error."""
    for key, rows in frame.group_by("kernel", "architecture", "direction", maintain_order=True):
        if rows.height < ENOUGH:
            continue
        fixed = {"launch": LAUNCH}
        if rows["head_dim"].n_unique() == 1:
            fixed["narrow"] = next(
                one.start for one in attention.TRAINED.parameters if one.name == "narrow"
            )
        if rows["seq"].n_unique() < 3:
            fixed["fill"] = 150.0
        table = inputs(attention.TRAINED, rows)
        seconds, groups = rows["time"].to_numpy(), rows["seq"].to_numpy()
        found = kernel_fit.fit(
            attention.TRAINED, table, seconds, groups, fixed=fixed, starts=3, draws=0
        )
        missed = np.abs(found.time(table) / seconds - 1.0)
        yield (str(key[0]), str(key[1]), str(key[2])), found, float(missed.mean())


def entries(table: Path = TABLE) -> list[Entry]:
    """Errors of the packaged figures on the published rates, by pass."""
    frame = rates(table)
    found = []
    for (direction,), part in frame.group_by("direction", maintain_order=True):
        missed = []
        for (architecture,), rows in part.group_by("architecture"):
            seconds = attention.training_time(
                inputs(attention.TRAINED, rows.drop("products")),
                rows["kernel"].to_numpy(),
                str(architecture),
                str(direction),
            )
            missed.append(seconds / rows["time"].to_numpy() - 1.0)
        error = np.abs(np.concatenate(missed))
        found.append(Entry(f"attention.{direction}", 100 * float(error.mean()), "%", len(error)))
    return found


if __name__ == "__main__":
    for (name, architecture, direction), fit, missed in fitted(rates()):
        print(f"[{name}.{architecture}.{direction}]  # {fit.rows} rates, {100 * missed:.1f} % off")
        for key, value in fit.values.items():
            if key != "launch":
                print(f"{key} = {value:.4g}")
        print()
