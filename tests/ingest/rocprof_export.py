"""A small profile of ROCm in both spellings: JSON and database, with the same records."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

KERNELS = ["Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64.kd",
           "void at::native::elementwise_kernel<512, 1>(int)",
           "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)"]  # fmt: skip
GPU = "AMD Instinct MI300X OAM"
DISPATCHES = [(1_000_500, 1_050_500, 0, 11), (1_051_000, 1_056_250, 1, 12),
              (1_057_000, 1_157_000, 2, 13)]  # fmt: skip
"""Start and end in ns, kernel, correlation id."""
COPY = (900_000, 901_000, 64, 10)
LAUNCHES = [(800_000 + 1000 * number, 800_500 + 1000 * number, number)
            for number in (10, 11, 12, 13)]  # fmt: skip
RANGES = [(700_000, 900_000, "layer 3", 5), (810_500, 811_800, "aten::mm, seq = 5, op_id = 7", 6)]


def process(
    dispatches: list[tuple[Any, ...]] | None = None, *, late: bool = False
) -> dict[str, Any]:
    """One process of the JSON; `late`: kernels are listed behind the records."""
    kinds = [{"kind": "NONE", "operations": []},
             {"kind": "HIP_RUNTIME_API", "operations": ["none", "hipModuleLaunchKernel"]},
             {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxThreadRangeA"]},
             {"kind": "KERNEL_DISPATCH", "operations": ["NONE", "COMPLETE"]}]  # fmt: skip
    symbols = [{"kernel_id": at, "kernel_name": name, "formatted_kernel_name": name}
               for at, name in enumerate(KERNELS)]  # fmt: skip

    def common(start: int, end: int, number: int) -> dict[str, Any]:
        return {"size": 72, "thread_id": 5, "start_timestamp": start, "end_timestamp": end,
                "correlation_id": {"internal": number, "external": 0}}  # fmt: skip

    records = {
        "kernel_dispatch": [
            {**common(start, end, number), "kind": 3, "operation": 2, "stream_id": {"handle": 7},
             "dispatch_info": {"agent_id": {"handle": 31}, "kernel_id": kernel,
                               "queue_id": {"handle": 1}}}
            for start, end, kernel, number in (DISPATCHES if dispatches is None else dispatches)
        ],
        "hip_api": [{**common(*one), "kind": 1, "operation": 1} for one in LAUNCHES],
        "hsa_api": [{**common(1, 2, 3), "kind": 9, "operation": 1}],
        "marker_api": [{**common(start, end, number), "kind": 2, "operation": 0}
                       for start, end, _, number in RANGES],
        "memory_copy": [{**common(COPY[0], COPY[1], COPY[3]), "kind": 4, "operation": 2,
                         "dst_agent_id": {"handle": 31}, "src_agent_id": {"handle": 30},
                         "bytes": COPY[2]}],
    }  # fmt: skip
    said: dict[str, Any] = {
        "metadata": {"pid": 77, "command": ["python", "train.py"]},
        "agents": [{"id": {"handle": 30}, "type": 1, "name": "AMD EPYC 9654"},
                   {"id": {"handle": 31}, "type": 2, "name": "gfx942", "product_name": GPU}],
        "strings": {"buffer_records": kinds,
                    "marker_api": [{"key": number, "value": text}
                                   for _, _, text, number in RANGES]},
        "kernel_symbols": symbols,
        "buffer_records": records,
    }  # fmt: skip
    if late:
        said["kernel_symbols"] = said.pop("kernel_symbols")
    return said


def document(*processes: dict[str, Any]) -> bytes:
    """The JSON of some processes, by default one."""
    return json.dumps({"rocprofiler-sdk-tool": list(processes or (process(),))}).encode()


TABLES = """
CREATE TABLE "rocpd_string_u1" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE "rocpd_info_agent_u1" (id INTEGER PRIMARY KEY, type TEXT, name TEXT,
  product_name TEXT, model_name TEXT);
CREATE TABLE "rocpd_info_kernel_symbol_u1" (id INTEGER PRIMARY KEY, kernel_name TEXT,
  display_name TEXT);
CREATE TABLE "rocpd_event_u1" (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER,
  extdata TEXT);
CREATE TABLE "rocpd_region_u1" (id INTEGER PRIMARY KEY, tid INTEGER, start INTEGER, end INTEGER,
  name_id INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_kernel_dispatch_u1" (id INTEGER PRIMARY KEY, agent_id INTEGER,
  kernel_id INTEGER, stream_id INTEGER, start INTEGER, end INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_memory_copy_u1" (id INTEGER PRIMARY KEY, start INTEGER, end INTEGER,
  name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, stream_id INTEGER,
  event_id INTEGER);
CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM "rocpd_kernel_dispatch_u1";
"""
STRINGS = ["HIP_RUNTIME_API", "MARKER_CORE_RANGE_API", "KERNEL_DISPATCH", "hipModuleLaunchKernel",
           "roctxThreadRangeA", "MEMORY_COPY_HOST_TO_DEVICE"]  # fmt: skip


def database(path: Path) -> None:
    """The same records as a database."""
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.executescript(TABLES)

    def put(table: str, *rows: tuple[Any, ...]) -> None:
        marks = ",".join("?" * len(rows[0]))
        base.executemany(f'INSERT INTO "{table}_u1" VALUES ({marks})', rows)

    put("rocpd_string", *((at, "g", text) for at, text in enumerate(STRINGS, 1)))
    put("rocpd_info_agent", (1, "CPU", "AMD EPYC 9654", "", ""), (2, "GPU", "gfx942", GPU, ""))
    put("rocpd_info_kernel_symbol", *((at, name, name) for at, name in enumerate(KERNELS)))
    event = 0
    for start, end, number in LAUNCHES:
        event += 1
        put("rocpd_event", (event, 1, number, "{}"))
        put("rocpd_region", (event, 5, start, end, 4, event))
    for start, end, text, number in RANGES:
        event += 1
        put("rocpd_event", (event, 2, number, json.dumps({"message": text})))
        put("rocpd_region", (event, 5, start, end, 5, event))
    for start, end, kernel, number in DISPATCHES:
        event += 1
        put("rocpd_event", (event, 3, number, "{}"))
        put("rocpd_kernel_dispatch", (event, 2, kernel, 7, start, end, event))
    event += 1
    put("rocpd_event", (event, 3, COPY[3], "{}"))
    put("rocpd_memory_copy", (1, COPY[0], COPY[1], 6, 2, 1, COPY[2], None, event))
    base.commit()
    base.close()
