"""From logs and tables to the residuals of a site: a part `configuration` of a stack."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
from assay.ingest.inputs.read import read
from assay.model.fit.learnt import Calibrated, Interval
from assay.model.fit.step_fit import fit, telling
from assay.model.kernels.kernel import rows
from assay.model.machines.datasheets import machine as machine_of
from assay.model.schedule import STEP
from assay.model.stacks.stack import Stack
from assay.validate.plan.planning import Unpredictable
from assay.validate.predict.step_forecast import (
    SCOPE,
    calibrated,
    digests,
    runs_of,
    steady,
    timed,
)
from assay.validate.score.assess import Understood, understand


def calibrate(paths: Iterable[str | Path], machine: str | None = None) -> Stack:
    """The residuals that the steps printed in `paths` tell, for the one machine they ran on.

    Raises as `residuals` does.
    """
    names = [str(path) for path in paths]
    stated = {"gpu": machine} if machine else {}
    return residuals(understand(read(names, stated=stated), machine=machine), names)


def residuals(understood: Understood, names: Iterable[str]) -> Stack:
    """The residuals that printed steps tell, for the one machine they ran on; `names` of inputs.

    Rows that contradict themselves and repeats are left out; a configuration counts once, with its
    median. The digests of all rows that were fitted are kept. Raises Unpredictable where no printed
    step can be modelled, or machines are mixed.
    """
    machine, asked = understood.machine, understood.asked()
    cases = asked.cases
    known = runs_of(cases.configuration)
    frame = timed(known, asked)
    measured = frame["seconds"].is_not_null().to_numpy()
    if machine is not None:
        measured &= (frame["machine"] == machine_of(machine).name).to_numpy()
    if not measured.any():
        raise Unpredictable("no printed step has a configuration that the step model can build")
    machines = frame.filter(pl.Series(measured))["machine"].unique().to_list()
    if len(machines) != 1:
        told = ", ".join(sorted(machines))
        raise Unpredictable(f"one machine at a time, not {told}: --machine chooses")
    seen, seconds = steady(known, frame["seconds"].to_numpy(), measured)
    table, groups = rows(known.table, seen), frame["group"].to_numpy()[seen]
    if len(np.unique(groups)) == 1:  # one table: its rows are all there is to resample
        groups = np.arange(len(groups))
    found = fit(table, seconds, groups, telling(table, seconds))
    _, spread = calibrated(table, seconds, groups)
    fixed = {name: value for name, value in found.values.items() if name not in found.low}
    part = Calibrated(
        kernel=STEP,
        values=found.values,
        low=fixed | found.low,
        high=fixed | found.high,
        weak=(*found.weak, *fixed),
        machine=machines[0],
        dtype=str(cases.configuration["dtype"].drop_nulls().first() or ""),
        origin=", ".join(Path(name).name for name in names),
        rows=found.rows,
        groups=found.groups,
        seen=_seen(cases.configuration, frame.filter(pl.Series(measured))),
        interval=Interval((float("inf"),), (float(np.exp(-spread)),), (float(np.exp(spread)),)),
    )
    return Stack(machines[0], {SCOPE: part})


def _seen(configuration: pl.DataFrame, frame: pl.DataFrame) -> tuple[str, ...]:
    """Digests of the rows of `frame`, each once."""
    return tuple(digests(configuration, frame)["digest"].unique(maintain_order=True))
