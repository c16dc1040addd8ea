"""Reader that a careful person writes without assay: a loop over lines, one `re` per field.

In: a log. Out: the same typed columns as assay's frame. No provenance, no refusals, no account of
lines: what the loop does not know, it passes over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl

_NUMBER = r"([-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"

FIELDS: dict[str, tuple[re.Pattern[str], Callable[[str], float], float]] = {
    "iteration": (re.compile(r"iteration +([0-9]+)/"), int, 1),
    "train_iters": (re.compile(r"iteration +[0-9]+/ *([0-9]+)"), int, 1),
    "consumed_samples": (re.compile(r"consumed samples: +([0-9]+)"), int, 1),
    "consumed_tokens": (re.compile(r"consumed tokens: +([0-9]+)"), int, 1),
    "step_time": (re.compile(rf"elapsed time per iteration \(s\): +{_NUMBER}"), float, 1.0),
    "learning_rate": (re.compile(rf"learning rate: +{_NUMBER}"), float, 1.0),
    "global_batch": (re.compile(r"global batch size: +([0-9]+)"), int, 1),
    "lm_loss": (re.compile(rf"lm loss: +{_NUMBER}"), float, 1.0),
    "grad_norm": (re.compile(rf"grad norm: +{_NUMBER}"), float, 1.0),
    "num_zeros": (re.compile(rf"num zeros: +{_NUMBER}"), float, 1.0),
    "skipped_iterations": (re.compile(r"number of skipped iterations: +([0-9]+)"), int, 1),
    "nan_iterations": (re.compile(r"number of nan iterations: +([0-9]+)"), int, 1),
    "samples_per_s": (re.compile(rf"samples per second: +{_NUMBER}"), float, 1.0),
    "model_flops_rate": (re.compile(rf"TFLOPs: +{_NUMBER}"), float, 1e12),
}
"""Column → how it is found, its type, its factor to the column's unit."""


def re_loop(path: Path) -> pl.DataFrame:
    """The columns of `FIELDS`, one row per iteration line."""
    columns: dict[str, list[float | None]] = {name: [] for name in FIELDS}
    todo = [
        (f.search, kind, scale, columns[name].append) for name, (f, kind, scale) in FIELDS.items()
    ]
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if "iteration" not in line or "|" not in line:
                continue
            for search, kind, scale, keep in todo:
                found = search(line)
                value = kind(found[1]) if found else None
                keep(value if value is None or scale == 1 else value * scale)
    types = {name: pl.Int64 if kind is int else pl.Float64 for name, (_, kind, _) in FIELDS.items()}
    return pl.DataFrame(columns, schema=types)
