"""Measured operators that are no product, attention or collective: tables of kernel libraries.

In: a document with a header that names an operator or the sizes of one, and a time, a rate or the
memory that it takes; or with a metric in each row, beside its unit. Out: one record per measured
call. What a row says beyond the columns here is kept as it is printed.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.formats import attention_table, collective_table, gemm_table
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.tables.csv_sections import TIME_LABELS, CsvTable


class OperatorTable(pa.DataFrameModel):
    """One measured call of an operator: a loss, a norm, an MLP, a layer of experts."""

    gpu: str = named(
        ["gpu", "device", "machine", "gpu_name", "processor", "accelerator", "chip"],
        meaning="device, as printed",
    )
    dtype: str = named(["dtype", "precision", "data_type", "moe_dtype"])
    operator: str = named(
        ["operator", "op", "op_name", "operation", "kernel_name", "layer_name", "module", "layer"],
        meaning="what is computed, as printed",
    )
    kernel: str = named(
        ["kernel", "provider", "kernel_provider", "kernel_source", "backend", "implementation",
         "impl"],
        meaning="who computes it",
    )  # fmt: skip
    direction: str = named(
        ["direction", "pass", "kernel_operation_mode", "operation_mode"],
        meaning="forward, backward or both, as printed",
    )
    model: str = named(["model_config", "model configuration"], meaning="whose sizes they are")
    batch: int = logged(
        ["batch", "b", "batch_size", "bs", "bsz"], kind="exact", ge=1, nullable=True
    )
    seq: int = logged(
        ["seq", "seq_len", "seqlen", "sequence_length", "sequence", "t", "l"],
        kind="exact",
        ge=1,
        nullable=True,
    )
    tokens: int = logged(
        [
            "tokens",
            "num_tokens",
            "num_token",
            "n_tokens",
            "bt",
            "b * t",
            "b x t",
            "b × t",
            "bxt",
            "b*t",
            "rows",
        ],
        kind="exact",
        ge=1,
        nullable=True,
    )
    hidden: int = logged(
        ["hidden", "hidden_size", "h", "hidden_dim", "d_model", "n_embd"],
        kind="exact", ge=1, nullable=True,
    )  # fmt: skip
    ffn_hidden: int = logged(
        ["ffn_hidden", "inter_size", "intermediate_size", "moe_intermediate_size", "ffn_dim",
         "intermediate", "intermediate_dim", "ffn", "ffn_size", "d_ff"],
        kind="exact", ge=1, nullable=True,
    )  # fmt: skip
    vocab: int = logged(["vocab", "vocab_size", "v"], kind="exact", ge=1, nullable=True)
    experts: int = logged(["experts", "num_experts"], kind="exact", ge=1, nullable=True)
    topk: int = logged(
        ["topk", "top_k", "num_topk"], kind="exact", ge=1, nullable=True,
        meaning="experts of a token",
    )  # fmt: skip
    time: float = logged(
        TIME_LABELS, unit="s", quantity="time", gt=0, nullable=True, meaning="time of the call"
    )
    memory: float = logged(
        {"memory (MB)": 1e6, "memory (GB)": 1e9, "memory (MiB)": 2**20, "memory (GiB)": 2**30},
        unit="B", quantity="memory", ge=0, nullable=True, meaning="memory that the call takes",
    )  # fmt: skip
    flops_rate: float = logged(
        unit="flop/s", gt=0, nullable=True, meaning="by the document's own count, as printed"
    )
    bandwidth: float = logged(
        {"bandwidth (GB/s)": 1e9, "bandwidth (TB/s)": 1e12, "bytes_per_second": 1.0},
        unit="B/s", quantity="memory_bandwidth", gt=0, nullable=True,
        meaning="bytes per second, by the document's own count",
    )  # fmt: skip
    outcome: str = named(meaning="what happened instead of a measurement: OOM, failed")

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "kernel", "scope": "operator", "subject": ("operator",)}


TABLE = CsvTable(
    "operator_table",
    OperatorTable,
    (frozenset({"operator", "kernel", "experts"}),
     frozenset({"time", "memory", "flops_rate", "bandwidth"})),
)  # fmt: skip

OTHERS = (gemm_table.TABLE, attention_table.TABLE, collective_table.TABLE)
"""Tables of kernels that have a format of their own."""


def fold(region: Region) -> Folded:
    """Every table of a document that is of no other kind of kernel."""
    # few logs have a table or a call of a kernel
    from assay.ingest.kernels.copy_prints import (  # noqa: PLC0415
        copies,
        driver_stats,
        peaks_of_devices,
        printed_operators,
    )
    from assay.ingest.kernels.kernel_rows import kernel_rows  # noqa: PLC0415
    from assay.ingest.kernels.printed_calls import operators_beside  # noqa: PLC0415
    from assay.ingest.kernels.timed_functions import (  # noqa: PLC0415
        google_benchmarks,
        measurements,
        operator_benchmarks,
        profiled,
        timed_functions,
        traced,
    )
    from assay.ingest.kernels.tuned_calls import tuned_calls  # noqa: PLC0415

    folded = Folded()
    kernel_rows(region.lines, TABLE, folded, others=OTHERS)
    tried = tuned_calls(region.lines, products=False)
    lines = region.lines
    printed = (*copies(lines), *timed_functions(lines), *measurements(lines), *profiled(lines))
    printed += (*google_benchmarks(lines), *printed_operators(lines))
    printed += (*operator_benchmarks(lines), *driver_stats(lines), *peaks_of_devices(lines))
    printed += (*operators_beside(lines), *traced(lines))
    for records, used in (*(([one], each) for one, each in tried), *printed):
        folded.records += records
        folded.claimed |= {line.number for line in used}
    return folded


_NAMES = (
    r"metric_unit|time_unit|kernel(?:[ _](?:name|source))?|(?:hlo )?op(?:[ _](?:name|type))?"
    r"|operator|num_experts|num_tokens|provider|算子(?:名称?)?"
)
"""Labels that a header of such a table may have."""

_TITLED = ("RMSNorm", "RMS norm", "rmsnorm", "LayerNorm", "Layer norm", "layernorm", "layer_norm",
           "rms_norm", "softmax", "Softmax", "cross entropy", "Cross entropy",
           "Cross Entropy", "cross-entropy", "Cross-entropy", "Cross-Entropy", "CrossEntropy",
           "SwiGLU", "GeGLU", "swiglu", "RoPE", "rotary", "Rotary", "AdamW", "Adam", "LAMB",
           "Lion", "SGD", "Muon", "Adafactor", "Optimizer", "optimizer",
           "Normalization", "normalization",
           "GroupNorm", "BatchNorm", "Convolution", "convolution", "Convolutions",
           "selective scan", "Selective scan", "Selective Scan", "SpMM", "SpMV", "SDDMM",
           "LSTM", "GRU", "RNN")  # fmt: skip
"""Operators in headings under which a table may be of their calls, whatever its labels."""

_PARTS_OF_LAYERS = {
    "rmsnorm", "layernorm", "rms norm", "layer norm", "softmax", "cross entropy",
    "crossentropy", "swiglu", "geglu", "rope",
}  # fmt: skip
"""Those of them that a title begins with, and that nothing else is called."""

_NAMING = ("Backend", "Implementation", "Impl", "Candidate", "Variant", "Version", "Test",
           "Workload", "Provider", "Library")  # fmt: skip
"""Labels of names beside rates or times, under which a table may be of calls."""

FORMAT = Format(
    name="operator_table",
    heads=(
        "metric_unit",
        "time_unit",
        *(
            f"{word}{mark}"
            for word in ("kernel", "Kernel")
            for mark in ("_", ",", "\t", "  ", " N")
        ),
        *(f"{mark}{word}" for word in ("kernel", "Kernel") for mark in ("| ", "|", ">", "*", "`")),
        "op_name",
        "op,",
        "op  ",
        "Op  ",
        "op\t",
        "op;",
        "layer,",
        "layer;",
        "layer\t",
        "Layer,",
        "Layer\t",
        "| layer",
        "| Layer",
        "perator",
        "算子",
        "num_experts",
        "num_tokens",
        "time_stats.",
        "provider",
        "Shape",
        "shape",
        "Problem",
        "problem_size",
        "problem size",
        "GEMM",
        "| Op",
        "|Op",
        "Avg (ns)",
        "AverageNs",
        "Name (time in ",
        "Iterations",
        "Measurement object",
        "min_rounds",
        "GPU Time",
        "-latency",
        "-gbps",
        "(us)",
        "(ms)",
        "/s)",
        "threads: -",
        "thread: -",
        "(µs)",
        "fwd",
        "bwd",
        "-forward:",
        "-backward:",
        "_forward:",
        "_backward:",
        "-performance",
        "erformance:",
        "# of Calls",
        "Size Detail",
        "(ms):",
        *(f" {word}" for word in _TITLED),
        *(word for word in _TITLED if word.casefold() in _PARTS_OF_LAYERS),
        "/s):",
        "/s, ",
        "B/s",
        "(ms, ",
        "AUTOTUNE ",
        "_memcpy_",
        "_latency_",
        "Matrix (",
        "copy peak bandwidth",
        "Transfer Size",
        "bandwidth (GBPS)",
        "stats: name, ",
        "Function  ",
        "Triad",
        "triad",
        "Time(%)",
        *(f"{mark}{word}," for mark in (",", ";", "\t") for word in ("direction", "pass", "mode")),
        "foreach",
        "for-loop",
        *(f"{sign}{mark}|" for sign in ("ms", "us", "µs") for mark in (" ", "** ", "")),
        *(f"{name} " for name in ("orch", "riton", "compile", "Liger", "pex", "ager")),
        *(f"{mark}{word}" for word in _NAMING for mark in ("| ", "|")),
    ),
    schemas={"operator_table": OperatorTable},
    origin="measured",
    fold=fold,
    lines="document",
    opens=rf"(?i)^(?:[^|:=]*[,;\t])?\"?(?:{_NAMES})\"?(?:[,;\t][^|:=]*)?$"
    rf"|^\s*\|(?:[^|]*\|)*?[ *`]*(?:{_NAMES})[ *`]*\||<th(?:[\s>].*)?>[ *`]*(?:{_NAMES})[ *`]*<"
    r"|<th[\s>].*(?:\((?:us|µs)\)|\b(?:fwd|bwd)\b|# of calls)"
    rf"|^\s*(?:[^|:=]*  )?(?:{_NAMES})  +[^|:=]*(?:\([mun]?s\)|_[mun]s\b|flops)"
    r"|^\s*\|(?:[^|]*\|)*[^|]*(?:\((?:us|µs)\)|\b(?:fwd|bwd)\b|# of calls)"
    r"|^(?:[^|:=]*[,;\t])?\"?layer\"?[,;\t](?:[^|:=]*[,;\t])?\"?m\"?[,;\t] ?\"?n\"?[,;\t]"
    r"|^\s*\|(?:[^|]*\|)*[ *`]*layer[ *`]*\|(?:[^|]*\|)*[ *`]*m[ *`]*\|[ *`]*n[ *`]*\|"
    rf"|{gemm_table.UNORDERED_OPENS}|{gemm_table.TUNED_OPENS}"
    r"|^running \w+_(?:memcpy|latency|copy)_\w+|(?:bandwidth|latency)\b.* matrix \((?:gb/s|us)\)"
    r"|^\s*(?:global memory|transfer) bandwidth \(gbps\)|^stats: name, "
    r"|copy peak bandwidth gb/s|^\s*transfer size \(bytes\)\s+bandwidth"
    r"|^\s*function  +(?:mbytes/sec|best rate mb/s)"
    r"|\"time_unit\"\s*:|,time_stats\."
    r"|^\s*(?:\([^()]*\)|x_val)(?:  +|;).*\S-(?:latency|gbps)(?:[\s;]|$)"
    r"|^ +\S+  +\S.* \((?:[mu]s|[GT]i?B/s)\)+\s*$|^ *\S+ .*\S_(?:fwd|bwd)\b[^|:=]*$"
    r"|^performance:\s*$|^[0-9]+ threads?: -+\s*$"
    r"|\|[^|]*\bfw (?:time|flops)|\|\s*(?:loss|grad(?:ient)?): (?:time|memory) \("
    r"|common\.measurement object at |\"min_rounds\"\s*:"
    r"|^\s*benchmark\s+time\s+cpu\s+iterations\b"
    r"|^\s*name \(time in [mun]?s\)  |^\s*name  .*  # of calls\s*$"
    r"|^(?:forward|backward)(?: \w+)? execution time \([mu]s\) ?:"
    r"|\|\s*gpu time\s*\||gpu time \(sec\)|\"?averagens\"?,"
    rf"|^\s*(?:#{{1,6}} |<h[1-6][\s>]|\*\*|\.\. (?:list-|csv-)?table:: )(?:.*[^a-z])?"
    rf"(?:{'|'.join(_TITLED)})(?:[^a-z]|$)"
    rf"|^(?:[a-z-]+ ){{0,3}}(?:{'|'.join(_TITLED)})(?:[ ,(+-][^|:=]{{0,40}})?$"
    rf"|^\s{{0,8}}\|?\s{{0,4}}[`*]{{0,3}}(?:{'|'.join(_TITLED)})[`*]{{0,3}}"
    r"(?: \(?(?:forward|backward|fwd|bwd)\)?)?,? ?[(,][^:]{0,120}$"
    rf"|^\s*:header: .*\"(?:{_NAMES})\""
    r"|^[^|:=]*[,;\t]\"?(?:direction|pass|mode)\"?[,;\t][^|:=]*_[mu]s\"?(?:[,;\t]|$)"
    r"|^\s*\|[^:=]*\b(?:torch|pytorch|triton|eager|liger|apex)(?:\.compile)?[ ,]+"
    r"(?:[gt]b/s|[mu]s|µs|tflops)\b"
    r"|^\s*\|\s*(?:norm\w{0,12}|activations?|primitive)[^|:=]{0,12}\|[^:=]*\([mu]s\)"
    r"|^\s*\|[ *`]*operations?[ *`]*\|[^:=]*[ |_](?:cpu|cuda|mps|mlx|torch|pytorch|triton|numpy"
    r"|jax)[ _|]"
    r"|^\s*\|[^:=]*\b(?:torch|pytorch|triton|eager|liger|apex) [^:=|]*"
    r"(?:norm|softmax|glu|rope|gelu|silu|entropy)\b"
    r"|^\s*\|[^:=]*\b(?:for-?loop|foreach|single[- ]tensor)\b[^:=]*\|"
    rf"|(?:{'|'.join(_TITLED)})(?:[^a-z|].*)?:\s*$"
    r"|^\s*\|[^:=]*\btriad\b[^:=|]*\|"
    r"|^\s*\|[ *`]*[a-z](?:[^|]*\|)+[ *]*[0-9][0-9.,]* ?(?:[mu]s|µs)[ *]*\|"
    r"|\b(?:bw|bandwidth|throughput) ?[:=] *[0-9.]+ ?[gt]b/s\b[^|]*[:=] ?[0-9.]+ ?(?:[mu]s|µs)\b"
    r"|[0-9] ?(?:[mu]s|µs),? \(?(?:bw|bandwidth)?[ :=]*[0-9.]+ ?[gt]b/s\b"
    r"|time\(%\)\s+time\s+calls\s+avg\s+min\s+max\s+name\s*$"
    r"|^\s*name \| +time \| +time\(%\) \| +calls \| +average \|"
    r"|  size detail\s*$|avg \(ns\)"
    r"|^\W{0,4}(?:(?:gpu|dev(?:ice)?|rank)[ _]?)?(?:src|source|from|sender)\w{0,8}\W{1,12}"
    r"(?:(?:gpu|dev(?:ice)?|rank)[ _]?)?(?:dst|dest|to|target|receiver)\w{0,10}\W[^:=]{0,60}"
    r"(?:[gm]i?b/s|gbps|\b[mu]s\b)"
    r"|^\s*\|?\s*(?:(?:gpu|device) ?)?(?:pairs?|link|peers?|path)\b[^:=]{0,60}[gm]i?b/s"
    r"|^[^|:]{2,90}: ?[a-z][\w.]{1,20}[ :=]{1,3}[0-9.]+ ?(?:[mu]s|µs)\b[^a-z]{0,20}"
    r"[a-z][\w.]{1,20}[ :=]{1,3}[0-9.]+ ?(?:[mu]s|µs)\b"
    r"|^[A-Za-z][\w.=@+-]*[-_][\w.=@+-]*(?: \((?:[mu]s|[GT]i?B/s)(?:, [a-z]+ ?= ?[0-9]+)*\))?:\s*$",
    binds=False,
)
