"""Measured GEMM times: CSV tables with m, n, k and a time, and microbenchmark lines.

In: a document with a CSV header that names m, n, k and a time, or lines that give a product
`MxNxK` and its rate or time. Out: one record per product A [m, k] times B [k, n], b of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pandera.polars as pa
from assay.ingest.columns.titles import device_named, format_named
from assay.ingest.lines.lark import Token, Tree, parse_line
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Diagnostic, Line, Record, Span
from assay.ingest.tables.csv_sections import TIME_LABELS, CsvTable
from assay.ingest.vocabulary.devices import several


class GemmTable(pa.DataFrameModel):
    """One measured product; a row without `b` is a single product."""

    gpu: str = named(
        ["gpu", "device", "machine", "gpu_name", "accelerator", "processor", "chip", "soc", "gfx",
         "gpu_arch", "gfx_arch", "gcn_arch"],
        meaning="device, as printed",
    )  # fmt: skip
    dtype: str = named(
        ["dtype", "gemm_dtype", "precision", "data_type", "in_dtype", "input_dtype", "q_dtype_w"]
    )  # a product has the type of what it multiplies
    b: int = logged(
        ["b", "batch", "batch_count", "batch_size", "batches"],
        kind="exact", ge=1, nullable=True,
    )  # fmt: skip
    m: int = logged(["m"], kind="exact", ge=1, meaning="rows of A and C")
    n: int = logged(["n"], kind="exact", ge=1, meaning="columns of B and C")
    k: int = logged(["k"], kind="exact", ge=1, meaning="columns of A, rows of B")
    kernel: str = named(
        ["kernel", "kernel_name", "name", "op", "operator", "backend", "provider",
         "implementation", "impl", "library"]
    )  # fmt: skip
    time: float = logged(
        TIME_LABELS, unit="s", quantity="time", gt=0, nullable=True, meaning="time of the product"
    )
    flops_rate: float = logged(
        {
            "TFLOPS": 1e12, "TFLOP/s": 1e12, "tflops": 1e12, "TFLOPS/s": 1e12, "tflop_s": 1e12,
            "TeraFLOPS": 1e12, "tflops_per_s": 1e12, "tflops_per_sec": 1e12,
            "GFLOPS": 1e9, "GFLOP/s": 1e9,
            "rocblas-Gflops": 1e9, "hipblaslt-Gflops": 1e9, "hipblas-Gflops": 1e9,
        },
        unit="flop/s", quantity="flops_rate", gt=0, nullable=True, meaning="2bmnk per second",
    )  # fmt: skip
    bandwidth: float = logged(
        {
            "bandwidth (GB/s)": 1e9, "bandwidth (TB/s)": 1e12,
            "rocblas-GB/s": 1e9, "hipblaslt-GB/s": 1e9, "hipblas-GB/s": 1e9,
        },
        unit="B/s",
        quantity="memory_bandwidth", gt=0, nullable=True,
        meaning="bytes per second, by the document's own count",
    )  # fmt: skip
    outcome: str = named(meaning="what happened instead of a measurement: OOM, failed")

    class Config:
        """Scope and subject of the rows."""

        metadata = {"rows": "kernel", "scope": "gemm", "subject": ("b", "m", "n", "k")}


_SHAPE = re.compile(r"(?<![0-9])[0-9]+ ?[x×*] ?[0-9]+ ?[x×*] ?[0-9]")

TABLE = CsvTable(
    "gemm_table",
    GemmTable,
    (frozenset("m"), frozenset("n"), frozenset("k"), frozenset({"time", "flops_rate"})),
)


def fold(region: Region) -> Folded:
    """CSV sections first; benchmark lines among what is left."""
    # few logs have a table or a call of a kernel
    from assay.ingest.kernels.kernel_columns import order_of_sizes  # noqa: PLC0415
    from assay.ingest.kernels.kernel_headings import with_facts_above  # noqa: PLC0415
    from assay.ingest.kernels.kernel_rows import kernel_rows  # noqa: PLC0415
    from assay.ingest.kernels.printed_calls import printed_calls  # noqa: PLC0415
    from assay.ingest.kernels.product_prints import printed_products  # noqa: PLC0415
    from assay.ingest.kernels.tuned_calls import tuned_calls  # noqa: PLC0415

    folded = Folded()
    outside = TABLE.fold(region, folded)
    with_facts_above(region.lines, folded, TABLE.schema)
    kernel_rows(outside, TABLE, folded)
    printed_calls(outside, TABLE, folded)
    told = _Told()
    every = (*printed_products(outside), *tuned_calls(outside, products=True))
    own = {each[0].line: each for each in every}
    for line in outside:
        if line.number in own and line.number not in folded.claimed:
            record, printed = own[line.number]
            record.cells = told.facts | record.cells
            folded.records.append(record)
            folded.claimed |= {each.number for each in printed}
        if line.number in folded.claimed:
            continue
        if not line.text.lstrip().startswith(_ELAPSED):
            told.take_in(line)
            _benchmark(region, line, told, folded)
            continue
        told.order = told.order or order_of_sizes(region.lines)
        if not told.order:
            told.order, told.law = "mkn", "mm_flops.py multiplies [m, n] by [n, k]"
        _timed(region, line, told, folded)
    return folded


_ELAPSED = ("Elapsed time for ", "Throughput (in TFLOP/s) for ")


@dataclass
class _Told:
    """Facts told so far about the products below: their machine, and the order of their sizes.

    Source: mm_flops.py of EleutherAI/cookbook multiplies [m, n] by [n, k] and prints `mxnxk`,
    seconds; a document that writes the letters says it itself.
    """

    facts: dict[str, Cell] = field(default_factory=dict)
    order: str = ""
    law: str = ""  # where no line says the order

    def take_in(self, line: Line) -> None:
        """Keep the machine, and the format beside it, that a short line names; or a format alone
        that one says to be its `dtype`."""
        if named := _TYPE.fullmatch(line.text):
            self.facts["dtype"] = Cell(named[1], line.number, line.column, value_origin="stated")
        if len(line.text) > _SHORT or several(line.text) or not (gpu := device_named(line.text)):
            return
        for name, word in (("gpu", gpu), ("dtype", format_named(line.text))):
            if word:
                self.facts[name] = Cell(word, line.number, line.column, value_origin="stated")


_SHORT = 160

_TYPE = re.compile(
    r"[\s*#-]*d(?:ata)?[ _]?type\s*[:=]\s*(?:torch\.)?([a-z]+[0-9]\w*)\s*", re.IGNORECASE
)


def _timed(region: Region, line: Line, told: _Told, folded: Folded) -> None:
    """The time of a product, or the rate that follows from the time in the line above."""
    rated = line.text.lstrip().startswith(_ELAPSED[1])
    span = Span(region.source.name, line.number, line.column)
    rule = "rate_line" if rated else "elapsed_line"
    tree = parse_line("gemm_table", rule, line.text.rstrip(), span)
    if isinstance(tree, Diagnostic):
        return  # of another layout
    tokens = {part.type: part for part in tree.children if isinstance(part, Token)}
    sizes = dict(zip(told.order, tokens["PRODUCT"].split("x"), strict=True))
    sizes |= {"b": str(tokens["BATCH"])} if "BATCH" in tokens else {}
    last = folded.records[-1] if rated and folded.records else None
    if last is None or last.line != line.number - 1 or _sizes(last) != sizes:
        cells = {name: Cell(size, line.number, line.column) for name, size in sizes.items()}
        for name in "nk" if told.law else "":
            cells[name] = cells[name]._replace(value_origin="assumed", law=told.law)
        last = Record(line.number, {**told.facts, **cells}, line.column, prefix=line.prefix)
        folded.records.append(last)
    number = tokens["NUMBER"]
    name, scale = ("flops_rate", 1e12) if rated else ("time", 1.0)
    column = line.column + (number.start_pos or 0)
    last.cells[name] = Cell(str(number), line.number, column, scale)
    folded.claimed.add(line.number)


def _sizes(record: Record) -> dict[str, str]:
    return {name: record.cells[name].text for name in "bmnk" if name in record.cells}


def _benchmark(region: Region, line: Line, told: _Told, folded: Folded) -> None:
    """A microbenchmark line: a product, and its time or rate with a unit."""
    if "FLOP" not in line.text or not _SHAPE.search(line.text):
        return
    span = Span(region.source.name, line.number, line.column)
    tree = parse_line("gemm_table", "benchmark_line", line.text.rstrip(), span)
    if isinstance(tree, Diagnostic):
        return  # a sentence that mentions a product is not a record
    record = Record(line.number, {}, line.column, prefix=line.prefix)
    parts = [part for part in tree.children if isinstance(part, Tree)]
    kernels = [part for part in parts if part.data == "kernel"]
    if len(kernels) > 1 or (kernels and len(parts) > len(_OF_A_LINE)):
        return  # of several
    for part in parts:
        _measured(record, line, part)
    if "m" in record.cells and {"time", "flops_rate"} & set(record.cells):
        record.cells = told.facts | record.cells
        folded.records.append(record)
        folded.claimed.add(line.number)


_OF_A_LINE = ("shape", "dtype", "kernel", "time", "rate")


def _measured(record: Record, line: Line, part: Tree[Token]) -> None:
    token = part.children[0]
    assert isinstance(token, Token)
    column = line.column + (token.start_pos or 0)
    if part.data == "shape":
        sizes = re.findall("[0-9]+", token)
        for name, size in zip("mnk", sizes, strict=False):
            record.cells[name] = Cell(size, line.number, column)
    elif part.data in ("dtype", "kernel"):
        word = str(token).removeprefix("torch.") if part.data == "dtype" else str(token)
        record.cells[part.data] = Cell(word, line.number, column)
    else:
        measure = unit(str(part.children[1]).strip())
        if measure:
            name = "time" if measure.si == "s" else "flops_rate"
            record.cells[name] = Cell(str(token), line.number, column, measure.scale)


UNORDERED_OPENS = (
    r"(?:^|[|,;\t]) *\"?(?:gemm[ _]?|matrix[ _]?)?(?:shapes?|problem(?:[ _]size)?|gemm|sizes)\"? *"
    r"[|,;\t][^:=]*(?:[mu]s\b|flops|\b(?:bf|fp|tf|int)[0-9]{1,2}\b|blas|cutlass|triton|torch"
    r"|\b(?:[abhlv][0-9]{2,3}|mi[0-9]{3}|tpu)[a-z]{0,4}\b)"
)
"""Found in a header of sizes of products that says nothing of their order."""

SQUARE_OPENS = (
    r"matri(?:x|ces)\b[^|]{0,24}[0-9]{2,6} ?[x×*] ?[0-9]|[0-9] ?[x×*] ?[0-9]{2,6} [a-z ]{0,16}matri"
    r"|(?:^|[|,;\t]) *\"?matrix[ _](?:size|dim)[^|=:]*[|,;\t][^:=]*flop"
    r"|^\s*\| *matrix *\|[^:=]*flop"
    r"|<th[^<>]*>(?:<[^<>]*>)*matrix(?:[ _](?:size|dim)[^<>]*)?<[^|]*flop"
    r"|^\s*#{1,6} .*\btorch\.(?:mm|matmul|bmm)\b"
    r"|(?:^|[,;\t])\"?(?:n|size|dim|matrix_?size)\"?[,;\t][^|:=]*(?:flop|gops)"
    r"|\bm ?= ?n ?= ?k ?= ?[0-9]"
    r"|^\s*\|(?:[^|]*\|)?[ *`]*n[ *`]*\|[^:=]*(?:flop|gops)"
    r"|[0-9] cubed|^\s*\|[^|]{0,40}(?:gemm|mat-?mul)[^|]{0,40}[0-9]{3}[^|]*\|"
    r"|(?:matri[xc]|mat-?mul|gemm)[^|]{0,80}\b(?:order|size|dim|n)[ =:]{1,3}[0-9]{2,6}\b"
    r"[^|]{0,60}flop"
    r"|矩阵\S{0,4}\s*[:：=]?\s*[0-9]{2}|m[0-9]+_n[0-9]+_k[0-9]"
)
"""Found where square matrices have a size."""

SAID_OPENS = (
    r"(?:^|[^a-z0-9_.=])[mnk] ?= ?(?:[mnk] ?= ?[0-9]|[0-9]{2,6},? (?:and )?[mnk] ?= ?[0-9])"
    r"|--[mnk][ =][0-9]{2,6}\b"
    r"|\([mnk]\) *\|"
)
"""Found where some sizes of products are said above a table of the others."""

TUNED_OPENS = r"\bAUTOTUNE [a-z_0-9]+\("
"""Found in the first line of the kernels that PyTorch tries for one call."""

FORMAT = Format(
    name="gemm_table",
    heads=(
        "m,n,k", "M,N,K", "m, n, k", "M, N, K", "FLOPS", "FLOP/s", "FLOPs", ",m,", ",M,", ", m,",
        ", M,", ",k,", ",K,", ", k,", ", K,", '"m"', '"M"', "| m ", "| M ", "|m|", "|M|",
        ";m;", ";M;", "m |", "M |", "|  m", "|  M", "  M  ", "  m   ", " m |", " M |",
        "m;n;k", "M;N;K", "\tm\t", "\tM\t", "m\tn\tk", "M\tN\tK", "m=n=k", "M=N=K",
        "MxNxK", "mxnxk",
        *(f"{size}{sign}" for size in (512, 1024, 2048, 4096, 8192, 16384) for sign in "x×"),
        "M×N×K", "M × N × K", "M x N x K", "m×n×k", "M*N*K",
        "Elapsed time for ", "Size Detail", "m=", "M=", "m =", "M =", "<th>M</th>",
        "<th>m</th>", "Shape", "shape", "Problem", "problem_size", "problem size", "GEMM",
        "--matmul", "AUTOTUNE ", "elapsed time: (", "gemm", "atmul", "atMul",
        "矩阵", " cubed",
        "N=", "K=", "n=", "k=", "N =", "K =", "n =",
        "BLAS", "blas", "UTLASS", "utlass", " × ",
        "MatM,", "_features", "_dim,out_", "d_in",
        *(f"{one}{word}{one}" for one in ",;\t" for word in ("n", "N", "size")),
        "TFlops, ", "k =", "--m ", "--n ", "--k ", "(M)", "(N)", "(K)", "matri",
        *(f"{one}{sign}{other}" for one, other in ("][", ")(") for sign in
          (" x ", "x", " @ ", "@", " × ", " * ")),
    ),
    schemas={"gemm_table": GemmTable},
    origin="measured",
    fold=fold,
    lines="document",
    # a header has a cell `m`; the other lines have a product
    opens=r"(?i)(?:^|[^a-z0-9])m(?:[^a-z0-9,]|&nbsp;|<br */?>)*(?:,|$)"
    r"|[0-9]+ ?[x×*] ?[0-9]+ ?[x×*] ?[0-9]+|[0-9]x[0-9]+:[0-9]+x[0-9]"
    r"|(?:^|;)m;n;k;|^[^\n]*\| *m *\||^ *m *\| *n *\||;m;"
    r"|[mnk] ?= ?[mnk] ?= ?[mnk]\b|m ?[x×*] ?n ?[x×*] ?k|<th[^<>]*>(?:<[^<>]*>)*m(?:<[^<>]*>)*</th>"
    r"|(?:^|\s)m +(?:n +k|k +n)\s|(?:^|\t)m\t"
    r"|\bm ?[=:] *[0-9]+,? +n ?[=:] *[0-9]+,? +k ?[=:] *[0-9]"
    r"|^\s*\|[^|]*\|[^:=]*(?:(?:cu|roc|hip|open)blas(?:lt)?|cutlass)\b"
    r"|^\s*(?:#{1,6} |<h[1-6][\s>]|\*\*).*\b(?:gemms?|mat-?muls?|matrix[ -]mul[a-z]*)\b"
    r"|<th[^<>]*>[mnk] ?= ?[0-9]+</th>"
    r"|<th[\s>][^|]*(?:(?:cu|roc|hip|open)blas|cutlass|gemm|mat-?mul)"
    r"|[0-9] ?[)\]] ?[x×*@] ?[(\[] ?[0-9]"
    rf"|{UNORDERED_OPENS}|{TUNED_OPENS}|{SQUARE_OPENS}|{SAID_OPENS}"
    r"|ms, [0-9.]+ tflops, [0-9.]+ gb/s"
    r"|--m=[0-9]+ --n=[0-9]+ --k=[0-9]|^average elapsed time: \("
    r"|─ [0-9.]+ .*\[m=[0-9]+, n=[0-9]+, k=[0-9]+\]"
    r"|, *matm, *matn, *matk,"
    r"|\b(?:in_?(?:features?|dim)|d_?in)[^a-z=:]+(?:out_?(?:features?|dim)|d_?out)\b"
    r"|\"m\"\s*:|^[^|=:]*shape  +.*(?:[mu]s|flops)\b|  size detail\s*$",
    binds=False,
)  # fmt: skip
