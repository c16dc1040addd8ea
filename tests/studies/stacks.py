"""`python -m tests.studies.stacks [FOLDER]`: build the packaged stacks from the tables.

Reads the measured tables under ASSAY_CORPUS and writes one TOML file per machine, and one for each
of `PUBLISHED`. The same tables give the same bytes.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from assay.model.fit.learnt import Calibrated
from assay.model.kernels.kernel import inputs, with_facts
from assay.model.stacks.stack import dump, load
from assay.validate.calibrate.kernel_stacks import part, stack

from tests.studies import experts, measured

TABLES = {"gemm": measured.gemm, "attention": measured.attention, "collective": measured.collective}

SOURCE = "ai-dynamo aiconfigurator tables, Apache-2.0"

IN_STEP = ("TPU-v2",)
"""Machines whose figure was read off the profile of a training step."""

PUBLISHED: dict[str, tuple[dict[str, float], str]] = {
    "MI300X": (
        {"compute": 654 / 1307.4, "launch": 4e-6},
        "assumed: half of the peak, 654 TFLOP/s, the roofline that gemm_bench of meta-pytorch/MSLK "
        "takes (pull request 457); bf16 products of a public trace take 6 to 12 % longer than it "
        "says",
    ),
    "MI355X": (
        {"compute": 1378.5 / 2516.6, "memory": 5.02 / 8.0, "launch": 4e-6, "throttle": 1e-4},
        "published: bf16 products at 1378 TFLOP/s and 5.0 TB/s and of 5.3 us at least "
        "(bf16_tuned_gemm.csv of ROCm/aiter, commit 032c54e458e3, MIT)",
    ),
    "V100-32g": (
        {"compute": 83 / 112},
        "published: 83 TFLOP/s in mixed precision, 74 % of the peak (arXiv 1803.04014)",
    ),
    "TPU-v2": (
        {"compute": 95.6 / 96.0, "throttle": 1e-4},
        "published: the up-projection of a step of a transformer takes 96 ms where the peak needs "
        "95.6 (How to Scale Your Model, part 9, profile of 8 cores)",
    ),
}
"""Accelerators of which single figures are known: those, and where from. Where products of every
size are printed, the greatest rate holds under load: no clock sinks below it (`throttle`)."""

SHORT = 1e-5
"""Seconds up to which what a kernel by itself takes more is seen."""

LENDER = "H100"
UNSURE = 1.3
"""Factor on either side of what only one published figure, or another accelerator, says."""


def build(corpus: Path, folder: Path) -> None:
    """Write `<machine>.toml` into `folder` for every GPU that has a table of products."""
    folder.mkdir(parents=True, exist_ok=True)
    for gpu, name in measured.GPUS.items():
        frames = {scope: read(corpus, gpu) for scope, read in TABLES.items()}
        parts = {
            scope: part(frame, scope, origin=f"{_file(scope, frame)}: {SOURCE}")
            for scope, frame in frames.items()
            if not frame.is_empty()
        }
        if "gemm" in parts:
            parts["gemm"] = by_itself(parts["gemm"], measured.xla(corpus, gpu))
            parts |= experts.parts(corpus) if name == LENDER else {}
            path = folder / f"{name}.toml"
            path.write_text(dump(stack(name, parts)), encoding="utf-8")
            print(path, file=sys.stderr)

    for name, (figures, origin) in PUBLISHED.items():
        path = folder / f"{name}.toml"
        text = (folder / f"{LENDER}.toml").read_text(encoding="utf-8")
        one = published(load(text).part("gemm"), name, figures, origin)
        path.write_text(dump(stack(name, {"gemm": one})), encoding="utf-8")


def by_itself(one: Calibrated, frame: pl.DataFrame) -> Calibrated:
    """`one` with what a kernel timed by itself takes more than one of a queue.

    The tables of products time queues of one product; the table of `xla` times each by itself. The
    median difference of its short products counts.
    """
    if frame.is_empty():
        return one
    predicted = replace(one, near=None).time(inputs(one.kernel, with_facts(frame)))
    more = (frame["time"].to_numpy() - predicted)[predicted < SHORT]
    low, middle, high = (float(np.quantile(more, share)) for share in (0.05, 0.5, 0.95))
    return replace(
        one,
        values=one.values | {"alone": middle},
        low=one.low | {"alone": max(low, 1e-7)},
        high=one.high | {"alone": high},
    )


def published(lender: Calibrated, name: str, figures: dict[str, float], origin: str) -> Calibrated:
    """Products of an accelerator from single figures; the rest is the lender's, all of it weak."""
    values = lender.values | figures
    bounds = {one.name: (one.low, one.high) for one in lender.kernel.parameters}
    interval = lender.interval
    return replace(
        lender,
        values=values,
        low={key: max(value / UNSURE, bounds[key][0]) for key, value in values.items()},
        high={key: min(value * UNSURE, bounds[key][1]) for key, value in values.items()},
        weak=tuple(values),
        machine=name,
        origin=f"{origin}; the rest is {lender.machine}'s",
        rows=0,
        groups=0,
        in_step=name in IN_STEP,
        interval=None if interval is None else interval.widened(UNSURE),
        condition=math.nan,
        entangled=(),
        near=None,
    )


def _file(scope: str, frame: pl.DataFrame) -> str:
    return f"{scope}_{frame['gpu'][0].lower()}_{frame['dtype'][0]}.csv"


if __name__ == "__main__":
    corpus = os.environ.get("ASSAY_CORPUS")
    if not corpus:
        sys.exit("set ASSAY_CORPUS to the folder that holds measured/")
    build(Path(corpus), Path(sys.argv[1] if len(sys.argv) > 1 else "model/stacks"))
