"""Figures out of the box: every campaign predicted with nothing fitted to its rows.

`python -m tests.studies.box [NAME ...]` prints them; a name with `-v` prints rows.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import NamedTuple

import numpy as np
import polars as pl
from assay.model.schedule import STEP, breakdown
from assay.model.step.memory import holds, stages
from assay.model.step.step import components
from assay.model.transformer.parallel import faults
from assay.model.transformer.training_run import Run, run
from assay.validate.cases.step_cases import completed
from assay.validate.score.statistics import Floats, bootstrap, errors, mape

from tests.studies.campaigns import campaigns, corpus
from tests.studies.entries import Entry, line

PERCENT = 100.0


class Box(NamedTuple):
    """Rows of a campaign that can run, their component table, predicted and measured seconds."""

    frame: pl.DataFrame
    runs: tuple[Run, ...]
    table: dict[str, Floats]
    predicted: Floats
    measured: Floats
    refused: tuple[str, ...]

    @property
    def error(self) -> Floats:
        """Signed relative errors."""
        return errors(self.predicted, self.measured)


def boxed(frame: pl.DataFrame) -> Box:
    """A campaign's rows through the product's own assumptions and its step model."""
    kept, runs, refused = [], [], []
    for at, row in enumerate(completed(frame).iter_rows(named=True)):
        built = run(row)
        said = ("not enough is known",) if built is None else faults(built)
        if built is None or said:
            refused.append(f"{row['case']}: {'; '.join(said)}")
            continue
        kept.append(at)
        runs.append(built)
    rows = frame[kept]
    table = components(runs)
    predicted = np.asarray(STEP.time(table, STEP.starts))
    return Box(rows, tuple(runs), table, predicted, rows["step_time"].to_numpy(), tuple(refused))


@functools.cache
def boxes() -> dict[str, Box]:
    """Every campaign at hand, predicted."""
    return {name: boxed(frame) for name, frame in campaigns().items()}


def entries() -> list[Entry]:
    """Error and bias of every campaign; vtrain's bias at each degree of tensor parallelism too."""
    found = []
    for name, box in boxes().items():
        label = f"campaigns.{name}" if name in OLD else name
        groups = box.frame["group"].to_numpy()
        low, high = bootstrap(box.error, groups)
        size = len(box.measured)
        found += [
            Entry(label, PERCENT * mape(box.error), "%", size,
                  PERCENT * low, PERCENT * high),
            Entry(f"{label}.bias", PERCENT * float(box.error.mean()), "%", size),
        ]  # fmt: skip
        if box.refused:
            found.append(Entry(f"{label}.refused", len(box.refused), "1", size + len(box.refused)))
        if name == "vtrain.single":
            for group in sorted(set(groups)):
                mine = box.error[groups == group]
                degree = group.lower().replace(" ", "")
                found.append(
                    Entry(f"{name}.bias.{degree}", PERCENT * float(mine.mean()), "%", len(mine))
                )
    return [*found, fits(), *allocated()] if found else []


def fits() -> Entry:
    """Rows of llm-foundry that ran and are said not to fit in memory."""
    found = [
        not holds(one)
        for name, box in boxes().items()
        if name.startswith("foundry")
        for one in box.runs
    ]
    return Entry("foundry.fits", PERCENT * float(np.mean(found)), "%", len(found))


REPORT = re.compile(r"max allocated:? ([0-9.]+)")
AFTER = re.compile(r"after ([0-9]+) iterations")


def allocated() -> list[Entry]:
    """Allocated memory of the fullest rank of every V100 job that prints it.

    After one iteration tensors have not held activations and moments at once.
    """
    box, root = boxes()["v100"], corpus()
    assert root is not None  # or there were no boxes
    missed = []
    for one, case in zip(box.runs, box.frame["case"], strict=True):
        text = (root / f"corpus/megatron_log/{case}.out").read_text(errors="replace")
        sizes = [float(size) * 2**20 for size in REPORT.findall(text)]
        if not sizes:
            continue
        once = {int(each) for each in AFTER.findall(text)} == {1} and one.dp == 1
        held = max(each.first_step if once else each.total for each in stages(one))
        missed.append(held / max(sizes) - 1.0)
    worst = max(missed, key=abs)
    return [
        Entry("v100.memory", PERCENT * mape(np.array(missed)), "%", len(missed)),
        Entry("v100.memory.worst", PERCENT * worst, "%", len(missed)),
    ]


OLD = ("v100", "seed002", "seed004", "tables2023")
"""Campaigns that have figures of their own elsewhere."""


def show(name: str) -> None:
    """Every row of a campaign: its seconds by part, and how far they are off."""
    box = boxes()[name]
    parts = breakdown(box.table, STEP.starts)
    names = list(parts)
    print(
        f"{'case':<32}{'meas':>9}{'pred':>9}{'err %':>7} " + " ".join(f"{n[:9]:>9}" for n in names)
    )
    for at, case in enumerate(box.frame["case"]):
        shares = " ".join(f"{parts[n][at] / box.predicted[at]:>9.3f}" for n in names)
        print(f"{case[:31]:<32}{box.measured[at]:>9.3f}{box.predicted[at]:>9.3f}"
              f"{PERCENT * box.error[at]:>7.1f} {shares}")  # fmt: skip
    print("\n".join(box.refused))


if __name__ == "__main__":
    wanted = sys.argv[1:]
    if wanted:
        for each in wanted:
            show(each)
    else:
        for entry in entries():
            print(line(entry))
