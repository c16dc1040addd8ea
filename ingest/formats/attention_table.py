"""Measured attention times: tables with sequence length, heads and a time.

In: a document with a header that names a sequence length, heads and a time. Out: one record per
measurement. A table without `kv_heads` has as many as heads; one without `causal` does not say.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.tables.csv_sections import TIME_LABELS, CsvTable


class AttentionTable(pa.DataFrameModel):
    """One measured call of a fused attention kernel."""

    gpu: str = named(
        ["gpu", "device", "machine", "gpu_name", "accelerator"], meaning="device, as printed"
    )
    dtype: str = named(["dtype", "precision", "data_type", "attn_dtype"])
    batch: int = logged(["batch", "b", "batch_size", "bs"], kind="exact", ge=1, nullable=True)
    seq: int = logged(
        ["seq", "s", "seq_len", "seqlen", "isl", "sequence_length", "seq_length", "seqlen_q",
         "seq_len_q", "q_seq_len", "q_len", "s_q", "sq", "seq_q", "n_ctx", "context_length",
         "sequence", "global_seqlen", "global_seq_len"],
        kind="exact", ge=1, meaning="queries",
    )  # fmt: skip
    kv_seq: int = logged(
        ["kv_seq", "kv_len", "seqlen_k", "seqlen_kv", "kv_seq_len", "seq_len_k", "seq_len_kv",
         "s_k", "s_kv", "sk", "skv", "seq_k", "seq_kv"], kind="exact", ge=1, nullable=True,
        meaning="keys, where they are not as many as queries",
    )  # fmt: skip
    heads: int = logged(
        ["heads", "num_heads", "nheads", "n_heads", "q_heads", "num_attention_heads",
         "num_qo_heads", "num_q_heads", "n_q_heads", "n_q_head", "heads_q", "n_head", "nhead",
         "head_num", "num_head", "hq", "nh", "query_heads", "attention_heads", "attn_heads",
         "number_of_heads", "heads_count", "num_query_heads"],
        kind="exact", ge=1, nullable=True, meaning="query heads",
    )  # fmt: skip
    kv_heads: int = logged(
        ["kv_heads", "num_kv_heads", "nheads_k", "n_kv_heads", "num_key_value_heads", "nheads_kv",
         "n_kv_head", "heads_kv", "heads_k", "hkv", "key_value_heads", "kv_head", "k_v_heads"],
        kind="exact", ge=1, nullable=True, meaning="heads of keys and values",
    )  # fmt: skip
    head_dim: int = logged(
        [
            "head_dim",
            "headdim",
            "head_size",
            "d",
            "d_head",
            "dim_head",
            "hdim",
            "head_dimension",
            "dim_per_head",
            "d_qk",
        ],
        kind="exact",
        ge=1,
        nullable=True,
    )
    causal: bool = logged(["causal", "is_causal"], kind="exact", nullable=True)
    direction: str = named(["direction", "pass", "mode"], meaning="forward or backward")
    kernel: str = named(
        ["kernel", "kernel_name", "backend", "kernel_source", "impl", "implementation", "library"]
    )
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
        {"bandwidth (GB/s)": 1e9, "bandwidth (TB/s)": 1e12}, unit="B/s",
        quantity="memory_bandwidth", gt=0, nullable=True,
        meaning="bytes per second, by the document's own count",
    )  # fmt: skip
    outcome: str = named(meaning="what happened instead of a measurement: OOM, failed")

    class Config:
        """Scope and subject of the rows."""

        metadata = {
            "rows": "kernel",
            "scope": "attention",
            "subject": ("batch", "seq", "heads", "kv_heads", "head_dim"),
        }


TABLE = CsvTable(
    "attention_table",
    AttentionTable,
    (frozenset({"seq"}), frozenset({"heads"}), frozenset({"time", "flops_rate"})),
)  # fmt: skip


def fold(region: Region) -> Folded:
    """Every table of a document."""
    # few logs have a table or a call of a kernel
    from assay.ingest.kernels.kernel_headings import with_facts_above  # noqa: PLC0415
    from assay.ingest.kernels.kernel_rows import kernel_rows  # noqa: PLC0415
    from assay.ingest.kernels.printed_calls import printed_calls  # noqa: PLC0415

    folded = Folded()
    outside = TABLE.fold(region, folded)
    with_facts_above(region.lines, folded, TABLE.schema)
    kernel_rows(outside, TABLE, folded)
    printed_calls(outside, TABLE, folded)
    return folded


FORMAT = Format(
    name="attention_table",
    heads=(
        "heads",
        "Heads",
        "seqlen",
        "Seqlen",
        "headdim",
        "seq_len=",
        "fwd",
        "forward",
        "- attention",
        "ttention",
        "GQA",
        "H=",
        " h=",
        ",h=",
        "SDPA",
        "p_drop:",
        "head_dim",
        "HEAD_DIM",
        "D_HEAD",
        "d_head",
        "hdim",
        "ausal",
        "CAUSAL",
        "CASUAL",
        *(f"{name}{n}" for name in ("FA", "fa", "FA-", "FA v") for n in (1, 2, 3, 4)),
        "-tflops",
        "-latency",
        ",causal,",
        "| N1 |",
        "|N1|",
        "| S | D |",
        "|S|D|",
        "H,S,D)",
        "S,H,D)",
    ),
    schemas={"attention_table": AttentionTable},
    origin="measured",
    fold=fold,
    lines="document",
    opens=r"(?i)(?:^|[^0-9.])[0-9]+ (?:query |q |attention )?heads\b|\bb ?= ?[0-9]+,? ?h ?= ?[0-9]"
    r"|^\s*(?:#{1,6} |<h[1-6][\s>]|\*\*).*(?:attention|gqa|sdpa)\b"
    r"|^[^,|:=]*,.*heads[^=:|]*,|^[^:=]*\|[^:=|]*(?:heads|head_?dim)[^:=|]*\|"
    r"|^[^|:=]*[,;\t]\"?(?:is_)?causal\"?[,;\t][^|:=]*$|^[^|:=0-9]*  (?:is_)?causal  [^|:=]*$"
    r"|^[^|:=]*[,;\t]\"?(?:hq|head_?dim|d_?head)\"?[,;\t][^|:=]*$"
    r"|<th[\s>].*\b(?:heads|head_?dim|fwd|bwd|forward|backward)\b"
    r"|^[^:=]*\bb\b[ ,|\t]+(?:h[a-z]?\b[ ,|\t]+){1,2}[sn]\b[ ,|\t]+d\b"
    r"|^[^|:=]*\bh(?:ead_?)?dim[\s,][^|:=]*\bseq_?len"
    r"|^\s*#{1,6} .*[0-9] heads\b|^[^|:=]*  +[^ ]*heads  +[^|:=]*$|\"[a-z_]*heads\"\s*:"
    r"|^\s*\[-* attention|^\S*att(?:entio)?n\S*[-_](?:d|hdim|head_?dim)=?[0-9]+\S*(?: \(|:\s*$)"
    r"|\bhead_?dim ?= ?[0-9].{0,40}\bseq_?len[a-z_]{0,4} ?= ?[0-9]"
    r"|\bseq_?len[a-z_]{0,4} ?= ?[0-9].{0,40}\bhead_?dim ?= ?[0-9]"
    r"|\bh(?:ead_?)?dim ?= ?[0-9]{1,4}[, ]{1,3}(?:n|num_)?_?heads ?= ?[0-9]"
    r"|\b(?:n|num_)?_?heads ?= ?[0-9]{1,3}[, ]{1,3}h(?:ead_?)?dim ?= ?[0-9]"
    r"|^\s*\|\s*b\s*\|\s*n1?\s*\|(?:\s*n2\s*\|)?\s*s1?\s*\|"
    r"|[0-9][$`]{0,2} ?[(\[](?:num(?:ber of)? |num_|n_)?(?:query |attention )?heads[)\]]"
    r"|\bnum_heads`? ?= ?`?[0-9]|^\s*#{1,6} .*\bh(?:ead_?)?dim ?= ?[0-9]"
    r"|^\s*\|[^:=]*\bfa[- v]{0,2}[1-4]\b[^|]*\((?:ms|us|µs|tflop)"
    r"|^\s*\|[^|]*\(b, ?(?:h[a-z]?, ?[snlt]|[snlt], ?h[a-z]?), ?d\)"
    r"|^\s*\((?:b|z|bs|batch), ?[^()]*\)(?:  +|;).*\S-(?:latency|tflops)(?:[\s;]|$)"
    r"|^\s*x_val(?:  +|;).*(?:flash|sdpa|attn|attention)\w*-(?:latency|tflops)(?:[\s;]|$)"
    r"|^\[(?:fp|bf)[0-9a-z]+\|batch\|[a-z]+\] b:"
    r"|^\s*(?:seq[a-z_]*|n_ctx)  +[^|:=0-9]*\b(?:flash|sdpa|torch|pytorch|triton|xformers|cudnn)"
    r"|^[^|:=]{0,40}\bseq_?(?:len)?[a-z_]{0,6}[ \t][^|:=]*[ _\t]"
    r"(?:fwd|bwd|forward|backward)(?:[ _\t]|$)"
    r"|^\s*\|\s*(?:seq[a-z_ ]*|gpu|device|hardware|n_ctx|context[a-z_ ]*)\s*\|[^:=]*"
    r"\b(?:fwd|bwd|forward|backward|flash[a-z-]*|sdpa|cudnn|xformers)\b"
    r"|^\"?(?:seq[a-z_]*|n_ctx|[snl])\"?[,;\t][^|:=]*(?:flash|sdpa|\bfa_?[1-4]|cudnn|att(?:entio)?n"
    r"|xformers)"
    r"|^\s*\|[^|:=]*\bca(?:us|su)al\b[^:=]*\|[^:=]*\b(?:flash|fa-?[1-4]|sdpa|att(?:entio)?n)"
    r"|^\s*\|(?:[^|]*\|)?\s*(?:seq[a-z_ ]*|n|s|l|tokens)\s*\|[^:=]*"
    r"(?:attention|\bflash|\bsdpa|\bfa-?[1-4])\b"
    r"|^\s*\|[ *`]*(?:flash[ _-]?att(?:entio)?n|fa-?[1-4]\b|sdpa\b|xformers\b|flashinfer\b)"
    r"[^|:=]*\|[ *]*[0-9]",
    binds=False,
)
