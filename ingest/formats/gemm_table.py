"""Measured GEMM times: CSV tables with m, n, k and a time, and microbenchmark lines.

In: a document with a CSV header that names m, n, k and a time, or lines that give a product
`MxNxK` and its rate or time. Out: one record per product A [m, k] times B [k, n], b of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandera.polars as pa
import polars as pl
from assay.ingest.cells import split
from assay.ingest.parse import Token, Tree, parse_line
from assay.ingest.schema import FieldSpec, by_label, logged, named, normalise
from assay.ingest.types import Cell, Code, Diagnostic, Folded, Format, Line, Record, Region, Span
from assay.ingest.units import unit

TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
TIME_LABELS = {
    f"{name}_{suffix}": scale
    for name in ("t", "time", "latency", "duration", "elapsed", "mean", "avg_time", "median")
    for suffix, scale in TIMES.items()
}


class GemmTable(pa.DataFrameModel):
    """One measured product; a row without `b` is a single product."""

    gpu: str = named(["gpu", "device", "machine", "gpu_name"], meaning="device, as printed")
    dtype: str = named(["dtype", "gemm_dtype", "precision", "data_type"])
    b: int = logged(["b", "batch", "batch_count"], kind="exact", ge=1, nullable=True)
    m: int = logged(["m"], kind="exact", ge=1, meaning="rows of A and C")
    n: int = logged(["n"], kind="exact", ge=1, meaning="columns of B and C")
    k: int = logged(["k"], kind="exact", ge=1, meaning="columns of A, rows of B")
    kernel: str = named(["kernel", "kernel_name", "name", "op", "operator"])
    time: float = logged(
        TIME_LABELS, unit="s", quantity="time", gt=0, nullable=True, meaning="time of the product"
    )
    flops_rate: float = logged(
        {"TFLOPS": 1e12, "TFLOP/s": 1e12, "tflops": 1e12, "GFLOPS": 1e9},
        unit="flop/s", quantity="flops_rate", gt=0, nullable=True, meaning="2bmnk per second",
    )  # fmt: skip

    class Config:
        """What the rows are about."""

        metadata = {"scope": "gemm", "subject": ("b", "m", "n", "k")}


_SHAPE = re.compile(r"[0-9]+ ?[x×*] ?[0-9]+ ?[x×*] ?[0-9]+")


def fold(region: Region) -> Folded:
    """CSV sections first; benchmark lines among what is left."""
    folded = Folded()
    lines = region.lines
    at = 0
    while at < len(lines):
        columns = header(lines[at].text)
        if columns is None:
            _benchmark(region, lines[at], folded)
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].text.strip() and header(lines[end].text) is None:
            end += 1
        folded.claimed.add(lines[at].number)
        _section(region, lines[at + 1 : end], columns, folded)
        at = end
    return folded


def header(text: str) -> list[tuple[str, FieldSpec | None, float]] | None:
    """The columns of a CSV header that names m, n, k and a measured quantity, else None."""
    if text.count(",") < 3 or not re.match(r"[\s\"A-Za-z_]", text):
        return None
    known = by_label(GemmTable)
    columns = []
    for label in text.split(","):
        shown = label.strip().strip('"')
        spec, scale = known.get(normalise(shown), (None, 1.0))
        columns.append((shown, spec, scale))
    names = {spec.name for _, spec, _ in columns if spec}
    if not {"m", "n", "k"} <= names or not names & {"time", "flops_rate"}:
        return None
    return columns


def _section(
    region: Region,
    rows: Sequence[Line],
    columns: Sequence[tuple[str, FieldSpec | None, float]],
    folded: Folded,
) -> None:
    """The rows under one header: most through the splitter, the odd ones through Lark."""
    source = region.source.name
    names = [f"c{i}" for i in range(len(columns))]
    lines = pl.DataFrame(
        {"line": [r.number for r in rows], "column": [r.column for r in rows],
         "text": [r.text for r in rows]},
        schema={"line": pl.UInt32, "column": pl.UInt32, "text": pl.String},
    )  # fmt: skip
    fast, rest = split(lines, names, ",")
    if cut := [(r.number, r.column) for r in rows if region.source.cut(r.number)]:
        fast = fast.filter(~pl.col("line").is_in([number for number, _ in cut]))
        rest += cut
    folded.claimed |= set(fast["line"].to_list())
    by_place = {(row.number, row.column): row for row in rows}
    slow = []
    for place in sorted(set(rest)):
        cells = _odd_row(region, by_place[place], len(columns), folded)
        if cells:
            folded.claimed.add(place[0])
            slow.append((*place, *cells))
    odd = pl.DataFrame(slow, schema=fast.schema, orient="row")
    folded.raw.append(_raw(source, pl.concat([fast, odd]), names, columns))


def _raw(
    source: str,
    cells: pl.DataFrame,
    names: Sequence[str],
    columns: Sequence[tuple[str, FieldSpec | None, float]],
) -> pl.DataFrame:
    taken: dict[str, pl.Expr] = {}
    other = []
    for name, (label, spec, scale) in zip(names, columns, strict=True):
        if spec is None or spec.name in taken:
            pair = pl.struct(name=pl.lit(label), text=pl.col(name).fill_null(""))
            other.append(pair)
            continue
        taken[spec.name] = pl.col(name)
        if scale != 1.0:
            taken[f"{spec.name}@scale"] = pl.lit(scale)
    extra = {"other": pl.concat_list(other)} if other else {}
    return cells.select("line", "column", source=pl.lit(source), **taken, **extra)


def _odd_row(region: Region, line: Line, width: int, folded: Folded) -> list[str | None] | None:
    """A row with quotes, too many or too few cells, or the last of an input cut inside it."""
    span = Span(region.source.name, line.number, line.column)
    tree = parse_line("gemm_table", "csv_line", line.text, span)
    if isinstance(tree, Diagnostic):
        folded.refused.append(tree._replace(text=line.text))
        return None
    cells: list[str | None] = []
    for part in tree.children:
        if isinstance(part, Tree):
            text = "".join(map(str, part.children)).strip()
            quoted = text.startswith('"')
            cells.append((text[1:-1].replace('""', '"') if quoted else text) or None)
    if len(cells) != width:
        message = f"{len(cells)} cells, the header has {width}"
        folded.refused.append(Diagnostic(span, Code.CELL_COUNT, message, line.text))
        return None
    return cells


def _benchmark(region: Region, line: Line, folded: Folded) -> None:
    """A microbenchmark line: a product, and its time or rate with a unit."""
    if not _SHAPE.search(line.text) or "FLOP" not in line.text:
        return
    span = Span(region.source.name, line.number, line.column)
    tree = parse_line("gemm_table", "benchmark_line", line.text.rstrip(), span)
    if isinstance(tree, Diagnostic):
        return  # a sentence that mentions a product is not a record
    record = Record(line.number, {}, line.column, prefix=line.prefix)
    for part in tree.children:
        if isinstance(part, Tree):
            _measured(record, line, part)
    if "m" in record.cells and {"time", "flops_rate"} & set(record.cells):
        folded.records.append(record)
        folded.claimed.add(line.number)


def _measured(record: Record, line: Line, part: Tree[Token]) -> None:
    token = part.children[0]
    assert isinstance(token, Token)
    column = line.column + (token.start_pos or 0)
    if part.data == "shape":
        sizes = re.findall("[0-9]+", token)
        for name, size in zip("mnk", sizes, strict=False):
            record.cells[name] = Cell(size, line.number, column)
    elif part.data == "dtype":
        record.cells["dtype"] = Cell(str(token), line.number, column)
    else:
        measure = unit(str(part.children[1]).strip())
        if measure:
            name = "time" if measure.si == "s" else "flops_rate"
            record.cells[name] = Cell(str(token), line.number, column, measure.scale)


FORMAT = Format(
    name="gemm_table",
    heads=("m,n,k", "M,N,K", "m, n, k", "M, N, K", "FLOPS", "FLOP/s", "FLOPs"),
    schemas={"gemm_table": GemmTable},
    origin="measured",
    fold=fold,
    lines="document",
    binds=False,
)
