"""Runs that printed that memory ran out, and what is said of them.

In: rows of the corpus that print OOM and say their whole configuration. Out: how many are said not
to fit, and how many at least to stand near the capacity. Left out: 8-bit optimizers and LoRA,
which no configuration can say; rows whose neighbours contradict them (AuroraGPT-70B runs with 32
micro-batches and not with 64, which a 1F1B schedule holds alike).
"""

from __future__ import annotations

from typing import Any

import polars as pl
from assay.model.step.memory import memory, reserved, room
from assay.model.transformer.training_run import Run, run
from assay.validate.cases.step_cases import completed

from tests.studies.box import PERCENT
from tests.studies.entries import Entry

BIGS: dict[str, Any] = {
    "machine": "A100-80g", "dtype": "fp16", "gpus": 384, "hidden": 14336, "layers": 72, "heads": 64,
    "vocab": 250880, "seq_len": 2048, "recompute": "full", "zero_stage": 1,
    "framework": "megatron-deepspeed", "date": "2022-02",
}  # fmt: skip
"""Seed 002, the tables of 181B on 48 nodes."""

ROWS: dict[str, dict[str, Any]] = {
    "seeds/002:466": BIGS | {"dp": 48, "tp": 8, "pp": 1, "micro_batch": 1, "global_batch": 2016},
    "seeds/002:479": BIGS | {"dp": 32, "tp": 2, "pp": 6, "micro_batch": 2, "global_batch": 2048},
    "seeds/002:480": BIGS | {"dp": 32, "tp": 2, "pp": 6, "micro_batch": 1, "global_batch": 2048},
    "flagperf-llama3:72": {
        "model": "Llama-3-8B", "machine": "A100-80g", "dtype": "bf16", "gpus": 8, "dp": 8, "tp": 1,
        "pp": 1, "micro_batch": 1, "global_batch": 512, "seq_len": 8192, "zero_stage": 1,
        "recompute": "none", "attention": "flash", "framework": "megatron",
    },
    "bigs-gpt2:421": {
        "machine": "V100-32g", "dtype": "fp16", "gpus": 64, "dp": 64, "tp": 1, "pp": 1,
        "micro_batch": 22, "global_batch": 1408, "hidden": 8192, "layers": 64, "heads": 64,
        "vocab": 50257, "seq_len": 1024, "zero_stage": 3, "recompute": "full",
        "checkpoints": "host", "framework": "deepspeed", "date": "2021-05",
    },
    "auroragpt-70b:36": {
        "machine": "H100", "dtype": "bf16", "gpus": 96, "dp": 12, "tp": 1, "pp": 8, "hidden": 8192,
        "layers": 80, "heads": 64, "kv_heads": 8, "ffn_hidden": 28672, "gated": True,
        "vocab": 32000, "seq_len": 8192, "micro_batch": 1, "global_batch": 12, "zero_stage": 1,
        "recompute": "full", "framework": "megatron-deepspeed", "date": "2025-06",
    },
}  # fmt: skip
"""By document and line."""

HALF = {"auroragpt-70b:36": 64.0 / 80.0}
"""A rank of Aurora is half a Max 1550: 64 GB, as a share of what the machine above has."""


def runs() -> dict[str, Run]:
    """Every row that ran out of memory, as a run."""
    frame = pl.DataFrame([{"case": name} | row for name, row in ROWS.items()])
    built = {row["case"]: run(row) for row in completed(frame).iter_rows(named=True)}
    return {name: one for name, one in built.items() if one is not None}


def shares() -> dict[str, tuple[float, float]]:
    """Of the capacity, what every row's tensors hold, and what the allocator takes for them."""
    found = {}
    for name, one in runs().items():
        held, most = memory(one).total, room(one) * HALF.get(name, 1.0)
        found[name] = (held / most, reserved(one, held) / most)
    return found


def entries() -> list[Entry]:
    """`oom.refused` and `oom.warned`: shares said not to fit, and said so or near the capacity."""
    found = shares().values()
    return [
        Entry(
            "oom.refused", PERCENT * sum(one[0] > 1 for one in found) / len(ROWS), "%", len(ROWS)
        ),
        Entry("oom.warned", PERCENT * sum(one[1] > 1 for one in found) / len(ROWS), "%", len(ROWS)),
    ]


if __name__ == "__main__":
    for name, (held, taken) in shares().items():
        print(f"{name:<22} tensors {PERCENT * held:.0f} %, allocator {PERCENT * taken:.0f} %")
