"""A small export of Nsight Systems: the tables that are read, with a few rows."""

from __future__ import annotations

import sqlite3
from pathlib import Path

TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (id INTEGER NOT NULL PRIMARY KEY, name TEXT, smCount INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER, shortName INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, bytes INTEGER, copyKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
  textId INTEGER, globalTid INTEGER);
"""
NAMES = ["cudaLaunchKernel_v7000", "sm90_xmma_gemm_bf16bf16", "layer 3",
         "void elementwise_kernel<float>", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"]  # fmt: skip
KERNELS = [
    (1_000_500, 1_050_500, 0, 1, 7, 11, 9, 2, 2, None),
    (1_051_000, 1_056_250, 0, 1, 7, 12, 9, 4, 4, None),
    (1_057_000, 1_157_000, 0, 1, 20, 13, 9, 5, 5, None),
]


def export(path: Path, kernels: list[tuple[object, ...]] | None = None) -> None:
    """Write one export with `kernels`, by default three, and what launched them."""
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.executescript(TABLES)
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", list(enumerate(NAMES, 1)))
    base.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 132)")
    marks = ",".join("?" * 10)
    base.executemany(f"INSERT INTO {'CUPTI_ACTIVITY_KIND_KERNEL'} VALUES ({marks})",
                     KERNELS if kernels is None else kernels)  # fmt: skip
    base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (900000, 901000, 0, 7, 10, 64, 1)")
    for number in (10, 11, 12, 13):
        base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 5, ?, 1, 0)",
                     (800_000 + 1000 * number, 800_500 + 1000 * number, number))  # fmt: skip
    ranges = [
        (700_000, 900_000, 59, None, 3, 5),
        (810_500, 811_800, 59, "aten::mm, seq = 5, op_id = 7, sizes = [[64, 32], [32, 16]]",
         None, 5),
    ]  # fmt: skip
    base.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?)", ranges)
    base.commit()
    base.close()
