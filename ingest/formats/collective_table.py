"""Measured collectives: CSV tables with an operation, a number of ranks, a size and a time.

In: a document with a CSV header that names an operation, ranks, a size in bytes or elements, and a
time or a bandwidth; or a table in another syntax, whose operation and ranks may stand above it.
Out: one record per measurement. A size in elements stays one: the width of an element is the
table's to say.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.tables.csv_sections import TIME_LABELS, CsvTable

GIGA = 1e9


class CollectiveTable(pa.DataFrameModel):
    """One measured collective; the size is that of the whole message."""

    gpu: str = named(["gpu", "device", "machine", "gpu_name"], meaning="device, as printed")
    dtype: str = named(["dtype", "nccl_dtype", "data_type", "precision"])
    library: str = named(
        ["library", "backend", "comm_library", "implementation", "impl", "kernel"],
        meaning="library or algorithm that exchanged the messages, as printed",
    )
    op: str = named(
        ["op", "op_name", "operation", "collective", "collective_name", "collective_type",
         "collective_op", "comm_op", "comm_type", "primitive"], nullable=False,
    )  # fmt: skip
    ranks: int = logged(
        [
            "num_gpus",
            "ranks",
            "nranks",
            "n_ranks",
            "world_size",
            "gpus",
            "number of processors",
            "number of gpus",
            "number of ranks",
            "num_ranks",
            "num_workers",
            "n_workers",
            "workers",
            "num_devices",
            "n_devices",
            "n_gpus",
            "ngpus",
            "num_processes",
            "n_processes",
            "processes",
            "nprocs",
            "num_procs",
        ],
        kind="exact",
        ge=1,
    )
    ranks_per_node: int = logged(
        ["ranks_per_node", "gpus_per_node", "devices_per_node", "workers_per_node",
         "procs_per_node", "local_world_size", "ppn"], kind="exact", ge=1, nullable=True,
        meaning="how many of the ranks share a node",
    )  # fmt: skip
    elements: int = logged(
        ["elements", "count", "message_size", "num_elements", "count (elements)",
         "size (# of elements)"], kind="exact", ge=0, nullable=True,
    )  # fmt: skip
    bytes: int = logged(
        ["bytes", "size_bytes", "message_bytes", "size_B", "payload_bytes",
         "msg_size_bytes", "message_size_bytes", "size_in_bytes", "data_size_bytes",
         "tensor_size_bytes", "tensor_bytes", "buffer_size_bytes", "msg_bytes", "num_bytes",
         "nbytes"], kind="exact",
        unit="B", ge=0, nullable=True,
    )  # fmt: skip
    time: float = logged(
        TIME_LABELS, unit="s", quantity="time", gt=0, nullable=True, meaning="time of the call"
    )
    algbw: float = logged(
        {"algbw_GB/s": GIGA}, unit="B/s", quantity="algorithm_bandwidth",
        gt=0, nullable=True, meaning="bytes over time",
    )  # fmt: skip
    busbw: float = logged(
        {"busbw_GB/s": GIGA}, unit="B/s", quantity="bus_bandwidth",
        gt=0, nullable=True, meaning="bytes on the wire over time",
    )  # fmt: skip
    outcome: str = named(meaning="what happened instead of a measurement: OOM, failed")

    class Config:
        """Scope and subject of the rows."""

        metadata = {
            "rows": "kernel",
            "scope": "collective",
            "subject": ("op", "ranks", "elements", "bytes"),
        }


TABLE = CsvTable(
    "collective_table",
    CollectiveTable,
    (frozenset({"op"}), frozenset({"ranks"}), frozenset({"elements", "bytes"}),
     frozenset({"time", "algbw", "busbw"})),
)  # fmt: skip


def fold(region: Region) -> Folded:
    """Every table of a document."""
    # few logs have a table or a message
    from assay.ingest.kernels.kernel_headings import with_facts_above  # noqa: PLC0415
    from assay.ingest.kernels.kernel_rows import kernel_rows  # noqa: PLC0415
    from assay.ingest.kernels.message_prints import messages  # noqa: PLC0415

    folded = Folded()
    outside = TABLE.fold(region, folded)
    with_facts_above(region.lines, folded, TABLE.schema)
    of_messages = messages(outside, folded)
    kernel_rows([each for each in outside if each.number not in of_messages], TABLE, folded)
    return folded


FORMAT = Format(
    name="collective_table",
    heads=(
        "gpus",
        "GPUs,",
        "GPUs\t",
        "Bus BW",
        "time_stats.",
        "ranks",
        "world_size",
        "orkers",
        "num_devices",
        "rocesses",
        "procs",
        "ollective",
        "comm_op",
        "primitive",
        "busbw",
        "BusBW",
        "AlgBW",
        "busBW",
        "Busbw",
        "bus bw",
        "lgbw",
        "lgo_bw",
        "lgBW",
        "end/",
        "endRecv",
        "endrecv",
        "us bandwidth",
        "alg_bandwidth",
        "#bytes",
        "COMMS-RES",
        "p50 (us)",
        "# OSU MPI",
        "RDMA_",
        "Collective: ",
        "[BENCHMARK] hccl",
        "Send ",
        "# of floats)",
        "# of elements)",
        *(
            f"{one}{mark}{other}"
            for one, other in (
                ("all", "reduce"),
                ("All", "Reduce"),
                ("All", "reduce"),
                ("ll", "gather"),
                ("ll", "Gather"),
                ("educe", "scatter"),
                ("educe", "Scatter"),
                ("to", "all"),
                ("To", "All"),
            )
            for mark in ("", "_", "-")
        ),
        "总线带宽",
        "算法带宽",
        "ispatch ",
        "DISPATCH ",
    ),
    schemas={"collective_table": CollectiveTable},
    origin="measured",
    fold=fold,
    lines="document",
    opens=r"(?i)^[^|:=]*[,;\t][^|:=]*(gpus|ranks|world_size|time_stats\.)[^|:=]*[,;\t]"
    r"|^\W?(?:[^|:=]*[,;\t] ?)?\"?(?:#|n(?:um)?_?)?"
    r"(?:gpus|ranks|world_size|workers|devices|proc(?:esse)?s)\"?(?:[,;\t][^|:=]*)?$"
    r"|^\W?(?:[^|:=]*[,;\t] ?)?\"?(?:collective(?:[ _](?:op|name|type))?|comm_op|primitive)\"?"
    r"[,;\t][^|:=]*$"
    r"|^[^:=]*\|[^:=|]*(?:(?:bus|alg)(?:o(?:rithm)?)?[ _]?(?:bw|bandwidth)|总线带宽|算法带宽)"
    r"|^\s*#{1,6} .*\b(?:bus|alg)[a-z]* ?(?:bw|bandwidth)"
    r"|\b(?:bus|alg(?:orithm)?) ?(?:bw|bandwidths?)\b[^|]{0,24}\b[gmt]i?b/s"
    r"|^\s*(?:#{1,6} |<h[1-6][\s>]|\*\*).*\b(?:all[ _-]?(?:gather|to[ _-]?all)|reduce[ _-]?scatter"
    r"|all[ _-]?reduce)\b"
    r"|<th[\s>].*\b(?:bus|alg)[a-z]* ?(?:bw|bandwidth)"
    r"|^(?:[a-z][a-z0-9.-]*: )?\s*(?:# *)?[a-z](?:[^|:=]|:[a-z]){0,160}  "
    r"(?:[^|:=]|:[a-z]){0,160}(?:bus|algo?)[ _]?bw"
    r"(?:[^a-z|:=][^|:=]*)?$"
    r"|^\s*(?:#{1,6} |<h[1-6][\s>]|\*\*)?\W*send[ _/-]?(?:recv|receive)"
    r"|^[^|:=\"]*[,;\t][a-z0-9]+_busbw_[^|:=\"]*$"
    r"|^[^|:=]*[,;\t]\"?(?:alg|bus)_?bw[a-z_/() ]*\"?(?:[,;\t]|$)"
    r"|\"(?:bus|alg)_?bw[a-z_]*\"\s*:|alg_bandwidth\([a-z/]+\)|comms-res\b"
    r"|^ *size \(b\) +elements +min \(us\) |^\s*#bytes\s"
    r"|^\s*\|\s*size \(# of (?:floats|elements)\)\s*\|"
    r"|^\s*# osu mpi\S* |^\s*(?:rdma_write|rdma_read|send) [a-z ]*test\s*$"
    r"|^\s*collective: +[a-z_]+\s*$|^\[benchmark\] +hccl"
    r"|^\s*\|(?:[^|]*\|)*\s*all[ _-]?reduce\b[^|]*\||<th[\s>].*>\s*all[ _-]?reduce\b"
    r"|^\s*\|(?:[^|]*\|)*\s*dispatch\b[^|]*\|",
    binds=False,
)
