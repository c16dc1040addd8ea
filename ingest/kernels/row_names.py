"""Facts that the rows of a table of kernels say themselves, in columns of operands or in names.

In: a table, the columns that are told, and facts above it. Out: these without a number format that
columns give in each row, operand by operand, or without what the name of a row says in another way:
`BF16 SDPA` below `FP8 attention` is none in FP8. The sizes of products that stand in names, and
grids with what a cell prints together, sizes or measurements, in columns of its own. And whether a
row sums up others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache

from assay.ingest.columns.headers import plain
from assay.ingest.columns.titles import names_format
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.kernels.kernel_headings import LIBRARIES, names_operator
from assay.ingest.kernels.kernel_labels import FORMATS, PRODUCT, SIZED, UNMEASURED, Column
from assay.ingest.kernels.settings_around import (
    FAR,
    MOST_HEADS,
    OF_ATTENTION,
    ROW,
    format_said,
    names_products,
    of_products,
    spelled,
)
from assay.ingest.numbers.printed import whole
from assay.ingest.numbers.units import unit
from assay.ingest.schema.record import Cell, Line
from assay.ingest.tables.csv_sections import ended
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import split as split_words

_FORMAT = re.compile(
    rf"(?<![A-Za-z0-9])(?!float[234]\b)(?:{FORMATS})(?![A-Za-z0-9])", re.IGNORECASE
)  # CUDA's `float4` is four of them

_BOTH = re.compile(
    r"(?<![A-Za-z])(fwd|forward)(?: ?(?:\+|&|/|and|_and_|_) ?)(bwd|backward)(?![A-Za-z])",
    re.IGNORECASE,
)

_PASS = re.compile(r"(?<![A-Za-z])(fwd|bwd|forward|backward)(?![A-Za-z])", re.IGNORECASE)

_SUM = re.compile(
    r"\W*(?:(?:grand |sub-?)?total|overall|geo-?mean|everything else|(?:all )?others?|the rest|rest"
    r"|remaining|remainder|misc(?:ellaneous)?|unaccounted)\b.*|.*\btotal\W*|其他.*|合计.*|总计.*"
    r"|\W*(?:(?:lower|upper) bound|(?:theoretical|ideal|peak)\b.*|roof-?line|speed of light"
    r"|sol)\W*",
    re.IGNORECASE,
)
"""Names of rows that sum others up, or bound them."""


_SUM_ALONE = re.compile(
    r"\W{0,4}(?:(?:grand |sub-?)?totals?|(?:arithmetic|geometric|overall) (?:mean|average)"
    r"|geo-?mean|合计|总计)\W{0,4}",
    re.IGNORECASE,
)
"""The word in front of what all rows above make together; `Sum` and `Mean` are operators too."""


def said_by_columns(
    grid: Grid, columns: Sequence[Column], above: Mapping[str, Cell]
) -> dict[str, Cell]:
    """Facts above a table, without a number format where a column that fills no field has
    one in every row: `QK | PV` below `FP8 attention`."""
    if "dtype" not in above:
        return dict(above)
    for at, column in enumerate(columns):
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        if column.spec is None and texts and all(map(_FORMAT.fullmatch, texts)):
            return {name: cell for name, cell in above.items() if name != "dtype"}
    return dict(above)


def said_by_row(
    row: GridRow, columns: Sequence[Column], above: Mapping[str, Cell]
) -> Mapping[str, Cell]:
    """Facts above a table, without the number format or the direction of which the names in
    a row say another, and with the format that the name of who computes a product says."""
    above = _of_own_format(row, columns, above)
    if not above.keys() & {"dtype", "direction", "ranks"}:
        return above
    names = [plain(cell.text) for cell, column in zip(row.cells, columns, strict=False)
             if column.spec is None or column.spec.name in ("operator", "kernel")]  # fmt: skip
    above = _of_own_ranks(row, names, above)
    told = [_told(text) for text in names]
    formats = {name: said for each, _ in told for name, said in each.items()}
    passes = {name: said for _, each in told for name, said in each.items()}
    made = dict(above)
    if "dtype" in made and formats and spelled(made["dtype"].text) not in formats:
        del made["dtype"]  # it may be what is made of another format
    if "direction" in made and passes and spelled(made["direction"].text) not in passes:
        del made["direction"]
        if len(passes) == 1:
            own = next(iter(passes.values()))
            made["direction"] = Cell(own, row.line.number, row.line.column)
    return made


_LIBRARY = (
    rf"(?:{LIBRARIES}|torch\.\w+|(?:torch\.)?_?scaled_mm|(?:my |our )?kernel|w?gemm|mat-?mul)"
)

_SCALED = r"(?:scaled?|dense|(?:row|col(?:umn)?|tensor|block|tile)-?wise|tensor[- ]?cores?)"

_OF_FORMAT = re.compile(
    rf"(?P<first>{FORMATS})(?:[ _-]{_SCALED})*(?:[ _]?[-:,/(]?[ _]?{_LIBRARY}[ _-]?\)?)*"
    rf"|(?:{_LIBRARY}[ _,:-]*)+[(\[]?(?P<last>{FORMATS})(?:[ _,-]+{_SCALED})*[)\]]?",
    re.IGNORECASE,
)
"""A name of who computes a product that says its format: `INT8 scaled (Triton)`, `cuBLAS FP16`."""

_OF_BLAS = re.compile(
    r"(?<![A-Za-z])(?:cublas|rocblas|hipblas|cblas_)?[SHDshd](?:gemm|GEMM)(?![A-Za-z])"
)
"""The name of a product in BLAS, whose first letter is its format: `cuBLAS SGEMM`."""

_OF_BOTH_OPERANDS = re.compile(r"(?<![A-Za-z0-9])[Ww][1-9][0-9]?[Aa][1-9][0-9]?(?![A-Za-z0-9])")
"""Bits of weights and of what these are multiplied with, together: `Marlin W4A16`."""

_OF_WEIGHTS = re.compile("int[0-7]|marlin|b(?:its)?n(?:andbytes|b)", re.IGNORECASE)
"""Found in names of those who multiply narrow weights with something wider."""


def _of_own_format(
    row: GridRow, columns: Sequence[Column], above: Mapping[str, Cell]
) -> Mapping[str, Cell]:
    """Facts above a table with the number format that the name of a kernel begins or ends with, in
    a row of a product."""
    for cell, column in zip(row.cells, columns, strict=False):
        if column.spec is None or column.spec.name != "kernel" or len(cell.text) > LONGEST:
            continue
        text = plain(cell.text)
        if "dtype" not in above and len({*_OF_BLAS.findall(text)}) == 1:
            word = format_said(text)
            return {**above, "dtype": Cell(word, cell.line, cell.column)} if word else above
        if "m" not in above and not any(map(_of_a_product, columns)):
            continue
        if len(both := {*_OF_BOTH_OPERANDS.findall(text)}) == 1:
            return {**above, "dtype": Cell(both.pop(), cell.line, cell.column)}
        named = _OF_FORMAT.fullmatch(text) if any(map(str.isdigit, text)) else None
        if named and not _OF_WEIGHTS.search(text):
            word = named["first"] or named["last"]
            return {**above, "dtype": Cell(word, cell.line, cell.column)}
    return above


def _of_a_product(column: Column) -> bool:
    return (
        bool(column.sizes)
        or "m" in column.aside
        or (column.spec is not None and column.spec.name == "m")
    )


_RANKS = re.compile(
    r"(?<![\w.])([0-9]+)[ -]?(?:ranks?|GPUs?|processes)(?![A-Za-z]| ?(?:/|per\b))", re.IGNORECASE
)


_OF_NODES = re.compile(r"\b(?:each|nodes?|hosts?|servers?|box(?:es)?|per)\b", re.IGNORECASE)
"""Found in names that may say how many ranks each node has."""


def _of_own_ranks(
    row: GridRow, names: Sequence[str], above: Mapping[str, Cell]
) -> Mapping[str, Cell]:
    """Facts above a table with the ranks that the name of a row says: `ring, 16 ranks`."""
    names = [name for name in names if not _OF_NODES.search(name)] if "ranks" in above else []
    told = {many for name in names for many in _RANKS.findall(name)}
    if not told or above["ranks"].text in told:
        return above
    made = {name: cell for name, cell in above.items() if name != "ranks"}
    if len(told) == 1:
        made["ranks"] = Cell(told.pop(), row.line.number, row.line.column)
    return made


@lru_cache(maxsize=2048)  # every column of a table asks its rows
def _told(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Number formats and directions that a name says, as they are called and as it spells them."""
    if len(text) > LONGEST:
        return {}, {}
    both = _BOTH.search(text)
    passes = [both[0]] if both else _PASS.findall(text)
    return {spelled(each): each for each in _FORMAT.findall(text)}, {spelled(p): p for p in passes}


def sums_up(row: GridRow, columns: Sequence[Column]) -> bool:
    """Whether a row is the total of others, or what these leave over, by the name of its call or
    the word in the place of its first size."""
    if row.cells and _SUM_ALONE.fullmatch(plain(row.cells[0].text)):
        return True
    return any(
        column.spec is not None and column.spec.name in ("operator", "kernel")
        and len(cell.text) <= LONGEST and _SUM.fullmatch(plain(cell.text))
        for cell, column in zip(row.cells, columns, strict=False)
    )  # fmt: skip


_BY_LETTERS = re.compile(
    r"(?<![A-Za-z])m ?[=_]? ?([0-9]+)[,;_ x×]*n ?[=_]? ?([0-9]+)[,;_ x×]*"
    r"k ?[=_]? ?([0-9]+)(?![0-9])",
    re.IGNORECASE,
)

_BY_CROSSES = re.compile(
    r"(?<![0-9x×.])([0-9]{2,6}) ?[x×] ?([0-9]{2,6}) ?[x×] ?([0-9]{2,6})(?![0-9.]| ?[x×])"
)

_CUBED = re.compile(r"(?<![0-9x×.])([0-9]{2,6}) ?(?:³|\^3|cubed)")

_MAY_HOLD_SIZES = re.compile(r"[0-9](?: ?[x×^]|_n| cubed|[ ,;_]+n)|[0-9]n[0-9]", re.IGNORECASE)

_A_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?(?![A-Za-z0-9])")


def sizes_in_names(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid with the sizes of products in columns of their own that its first column has among
    other words, `fp16 GEMM 4096³`, `bf16_512x512x512`, and with the number format beside them;
    where every row that measures something names them, and products alone have such sizes."""
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    if grid.labels or len(grid.heads) != 1 or grid.width < len(("name", "time")) or not rows:
        return grid
    names = [plain(row.cells[0].text.replace("³", "^3")) for row in rows]  # it is no footnote
    if not any(map(_MAY_HOLD_SIZES.search, names)):
        return grid
    told = [_sizes_of(name) for name in names]
    measured = [any(_A_NUMBER.match(plain(cell.text)) for cell in row.cells[1:]) for row in rows]
    sized = [each for each, needed in zip(told, measured, strict=True) if each or needed]
    if not sized or not all(sized) or any(_is_bare(n, t) for n, t in zip(names, told, strict=True)):
        return grid
    crossed = not all(each and each[0] == "m" for each in sized)
    if crossed and not all(map(names_products, names)) and not of_products(lines, grid):
        return grid
    formats = [list(_told(name)[0].values()) for name in names]
    in_one = all(len(found) == 1 for found, each in zip(formats, told, strict=True) if each)

    def row_of(row: GridRow, texts: Sequence[str]) -> GridRow:
        cells = (row.cells[0]._replace(text=text) for text in texts)
        return replace(row, cells=(*row.cells, *cells))

    split = [
        row_of(row, (each[1:], *(found[:1] if in_one else [])))
        for row, each, found in zip(rows, told, formats, strict=True)
        if each
    ]
    labels = ("MxNxK" if not crossed else "shape", *(("dtype",) if in_one else ()))
    return replace(grid, heads=(row_of(grid.heads[0], labels),), rows=tuple(split))


_CUBE_BEHIND = re.compile(r"(.{1,60}[)\]]) ?(?::math:)?`?([0-9]{2,6}) ?\^3`?")


def cube_of_label(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid of products with the one cube that a label has behind its unit in a column of its
    own, `Runtime (ms) 2048³ | TFLOPS`, where no other label says any size of them."""
    labels = [label.replace("³", "^3") for label in grid.header()]  # it is no footnote
    if grid.labels or len(grid.heads) != 1 or not any("^3" in label for label in labels):
        return grid
    found = {at: each for at, label in enumerate(labels) if (each := _CUBE_BEHIND.fullmatch(label))}
    others = [label for at, label in enumerate(labels) if at not in found]
    sized = any(_MAY_HOLD_SIZES.search(label) or normalise(plain(label)) in _SIZES_OF_ONE
                for label in others)  # fmt: skip
    if len(found) != 1 or sized or not of_products(lines, grid):
        return grid
    (at, label), head = next(iter(found.items())), grid.heads[0]
    cells = [*head.cells, head.cells[at]._replace(text="MxNxK")]
    cells[at] = cells[at]._replace(text=label[1])
    size = "x".join([label[2]] * 3)
    rows = tuple(
        replace(row, cells=(*row.cells, row.cells[0]._replace(text=size)))
        if len(row.cells) == grid.width else row
        for row in grid.rows
    )  # fmt: skip
    return replace(grid, heads=(replace(head, cells=tuple(cells)),), rows=rows)


_SIZES_OF_ONE = {"m", "n", "k", "shape", "size", "mnk", "matrixsize", "dim"}
"""Labels of sizes of products in columns of their own."""


def _sizes_of(name: str) -> str:
    """The three sizes that a name says, behind `m` where in that order, or else behind a blank.

    >>> _sizes_of("bf16_m64_n32_k16"), _sizes_of("GEMM 512^3"), _sizes_of("conv 3x3, 64x64x16")
    ('m64x32x16', ' 512x512x512', ' 64x64x16')
    """
    if len(name) > LONGEST:
        return ""
    if found := _BY_LETTERS.findall(name):
        return "m" + "x".join(found[0]) if len(found) == 1 else ""
    crossed = _BY_CROSSES.findall(name) + [(each,) * 3 for each in _CUBED.findall(name)]
    return " " + "x".join(crossed[0]) if len(crossed) == 1 else ""


def _is_bare(name: str, sizes: str) -> bool:
    """Whether a name is nothing but its sizes, which other columns read as they are, and no cube:
    `4096^3`."""
    return (
        bool(sizes)
        and _CUBED.fullmatch(name) is None
        and re.fullmatch(r"[0-9x×*³^,=()\[\]mnkMNK ]+", name) is not None
    )


BANDWIDTH_UNIT = re.compile(r"[GMT]i?B(?:/s(?:ec)?|ps)")

_TUPLE = re.compile(
    r"(?:(?:shapes?|sizes?|dims|config)[ :]?)? ?\(([A-Za-z]\w*(?:, ?[A-Za-z]\w*)+)\)", re.IGNORECASE
)
"""A label of several sizes together: `(Batch, Heads, SeqLen, Dhead)`, `Shape (B, H, S, D)`."""


_CAUSAL = {"causal", "iscausal", "casual"}
"""Labels of whether a mask is causal, one of them misspelt by many."""


def _packed(label: str) -> list[str]:
    """The settings of attention that a label names together without brackets.

    >>> _packed("CAUSAL,DIM"), _packed("city, causal"), _packed("B,H,S,D")
    (['causal', 'head_dim'], [], ['batch', 'heads', 'seq', 'head_dim'])
    """
    letters = [normalise(each) for each in label.split(",")] if "," in label else []
    named = ["causal" if each in _CAUSAL else OF_ATTENTION.get(each, "") for each in letters]
    told = "causal" in named or {"heads", "seq", "head_dim"} <= {*named}
    return named if told and all(named) and len({*named}) == len(named) else []


_OF_ATTENTION_TIMED = re.compile(r"\w*(?:flash|sdpa|attn|attention)\w*-(?:latency|tflops)")
"""A measurement of attention in TritonBench, which says sizes as `x_val` where it has no names for
them: of attention batch, heads, length and size of a head."""


_OF_Y = re.compile(r"(\S.*?) \([A-Za-z ]+?[ ,]+[(\[]?([A-Za-zµ]+(?:/[A-Za-z]+)?)[)\]]{1,2}")
"""A curve with the label of its axis behind it: `chunk_fwd (Execution Time (ms))`."""


def _of_axis(grid: Grid) -> Grid:
    """The grid of several curves with no more than the unit of their axis behind each name."""
    found = [_OF_Y.fullmatch(label) if ")" in label else None for label in grid.header()]
    curves = [
        each for each in found if each and (unit(each[2]) or BANDWIDTH_UNIT.fullmatch(each[2]))
    ]
    axes = {each[0][each.end(1) :] for each in curves}
    if len(axes) != 1 or grid.labels or len(grid.heads) != 1:
        return grid
    head = grid.heads[0]
    cells = tuple(
        cell._replace(text=f"{each[1]} ({each[2]})") if each in curves and each else cell
        for cell, each in zip(head.cells, found, strict=True)
    )
    return replace(grid, heads=(replace(head, cells=cells),))


def _of_a_pivot(grid: Grid) -> Grid:
    """The grid of a turned data frame with the name of its index over this, which stands in a line
    of its own below the name of the columns."""
    if len(grid.heads) != len(("columns", "index")) or grid.labels:
        return grid
    top, below = grid.heads
    texts = [plain(cell.text) for cell in below.cells]
    if len(top.cells) != len(texts) or not texts[0] or any(texts[1:]):
        return grid
    if not all(plain(cell.text) for cell in top.cells):
        return grid
    return replace(grid, heads=(replace(top, cells=(below.cells[0], *top.cells[1:])),))


_SUMS = re.compile(
    rf"(?:(?:fp|f)32 ?(?=\(tf32))?[(\[](?:{FORMATS}|f32) ?-?(?:acc(?:um\w*)?)[)\]] ?", re.IGNORECASE
)
"""The format in which sums are kept, behind that of what is multiplied; sums of single precision
in a narrower one have neither."""


_COMPUTED = re.compile(
    rf"(?<![A-Za-z0-9])({FORMATS}|f32|half|single) ?[(\[]({FORMATS}|f32|half|single)[ _-]?"
    r"(?:compute|math|mma|tensor ?cores?)(?:[ _-]?type)?[)\]]",
    re.IGNORECASE,
)
"""The format of what is multiplied, and in brackets that in which it is: `FP32 (TF32 compute)`."""

_SINGLE = {"fp32", "f32", "single"}


def _of_compute(found: re.Match[str]) -> str:
    """The one format of a product that both say: of single precision the one in which it is
    multiplied, which may be narrower; sums of anything narrower may be wider."""
    one, other = found.groups()
    return other if spelled(one) in _SINGLE else one


def _without_sums(grid: Grid) -> Grid:
    """The grid with labels that do not say in which format sums are kept: `FP32 (TF32 accum)`."""
    if not grid.heads or not any("(" in label or "[" in label for label in grid.header()):
        return grid

    def bare(text: str) -> str:
        return _SUMS.sub("", _COMPUTED.sub(_of_compute, text))

    heads = tuple(
        replace(head, cells=tuple(c._replace(text=bare(c.text)) for c in head.cells))
        for head in grid.heads
    )
    return replace(grid, heads=heads)


def _fences(row: GridRow) -> bool:
    """Whether a row is the fence right below a table that a program printed."""
    return row.cells[0].text.startswith("```")


def tuples_apart(grid: Grid) -> Grid:
    """The grid with sizes that its first column prints together in columns of their own, or that
    every cell of one names; and with the unit of an axis right behind the names of curves."""
    grid = _masks_named(_titled_by_corner(grid))
    grid = _letters_named(names_apart(_shaped(_of_axis(_without_sums(_of_a_pivot(grid))))))
    grid = products_apart(grid)
    first = plain(grid.header()[0]) if grid.heads and not grid.labels else ""
    named = _TUPLE.fullmatch(first)
    labels = re.split(", ?", named[1]) if named else _packed(first)
    if first == "x_val" and any(map(_OF_ATTENTION_TIMED.match, grid.header())):
        labels = [*"bhsd"]
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not _fences(row)]
    texts = [[t.strip() for t in row.cells[0].text.strip("( )").split(",")] for row in rows]
    if not labels or len(grid.heads) != 1 or any(len(each) != len(labels) for each in texts):
        return grid
    if sorted(map(normalise, labels)) == ["k", "m", "n"]:
        return grid  # of a product, in its order
    labels = _as_of_attention(labels)

    def row_of(row: GridRow, parts: Sequence[str]) -> GridRow:
        cells = (row.cells[0]._replace(text=part) for part in parts)
        return replace(row, cells=(*cells, *row.cells[1:]))

    split = [row_of(row, parts) for row, parts in zip(rows, texts, strict=True)]
    return replace(grid, heads=(row_of(grid.heads[0], labels),), rows=tuple(split))


def _as_of_attention(labels: Sequence[str]) -> list[str]:
    """Names of sizes as those of attention, where heads, a length and the size of a head are among
    them and each is one of these; any others as they are."""
    named = [OF_ATTENTION.get(normalise(label), "") for label in labels]
    whole = {"heads", "seq", "head_dim"} <= {*named} and len({*named}) == len(labels)
    return named if whole and all(named) else [*labels]


_IN_FULL = re.compile(r"(?P<name>\w{2,20}(?: \w{2,20})?) ?[(\[](?P<sizes>[^()\[\]]{5,80})[)\]]")

_BETWEEN_SIZES = re.compile(r" ?[×*] ?| x |, ?")


def labels_in_full(grids: Sequence[Grid]) -> list[Grid]:
    """Grids with the labels of sizes that a table further up gives in full: `shape` below one with
    `shape (batch × heads × seqlen × dim)`, where every cell has as many numbers as that has names.
    """
    told, made = dict[str, str](), list[Grid]()
    for grid in grids:
        if len(grid.heads) != 1 or grid.labels:
            made.append(grid)
            continue
        head, labels = grid.heads[0], [plain(label) for label in grid.header()]
        known = {at: full for at, label in enumerate(labels)
                 if (full := told.get(normalise(label))) and _as_many(grid, at, full)}  # fmt: skip
        cells = (cell._replace(text=known.get(at, cell.text)) for at, cell in enumerate(head.cells))
        made.append(
            replace(grid, heads=(replace(head, cells=tuple(cells)),)) if known else grid
        )  # fmt: skip
        full_ones = [found for label in labels if (found := _IN_FULL.fullmatch(label))]
        told |= {normalise(each["name"]): each[0] for each in full_ones
                 if len(_BETWEEN_SIZES.split(each["sizes"])) >= len("mnk")}  # fmt: skip
    return made


def _as_many(grid: Grid, at: int, label: str) -> bool:
    """Whether every cell of a column has as many sizes as a label in full names."""
    found = _IN_FULL.fullmatch(label)
    many = len(_BETWEEN_SIZES.split(found["sizes"])) if found else 0
    texts = [plain(row.cells[at].text) for row in grid.rows if len(row.cells) == grid.width]
    parts = [_TIMES_OR_COMMA.split(text.strip("()[]")) for text in texts]
    sized = all(all(map(str.isdecimal, each)) for each in parts)
    return bool(parts) and sized and all(len(each) == many for each in parts)


_OUTSIDE = re.compile(r"[(\[][^()\[\]]{0,80}[)\]]")

_PARTS_OF_TITLE = re.compile(r" ?[,;·|] ?| [/–—-] | in (?=[A-Za-zµ/]{2,9}$)")

_ITS_UNIT = re.compile(
    r"(?:(?:all|times?|latenc(?:y|ies)|throughput|performance|perf|speed|rates?|bandwidth|runtime"
    r"|duration|median|mean|measured|achieved|units?|values?|numbers?)[ ,:]{0,2}){0,3}(?:in )?"
    r"[(\[]?(?P<unit>[A-Za-zµ]{1,7}(?:/s(?:ec)?)?)[)\]]?[ ↑↓]{0,2}",
    re.IGNORECASE,
)
"""The unit of all numbers in the corner of their table: `TFLOPS`, `time (us)`."""


def _titled_by_corner(grid: Grid) -> Grid:
    """The grid whose first label says what all calls are of, or the unit of all numbers, and is no
    name of what stands below it: with that as its caption, `FP8, TFLOPS | cuBLAS | CUTLASS`."""
    if grid.labels or grid.series or grid.caption or len(grid.heads) != 1 or grid.width <= 1:
        return grid
    label = plain(grid.header()[0])
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.one]
    first = [plain(row.cells[0].text) for row in rows]
    if not label or len(label) > LONGEST or not first or any(map(_A_NUMBER.fullmatch, first)):
        return grid
    if label[:4].casefold() == "unit" and all("=" in each for each in grid.header()[1:]):
        return grid  # names by shapes, as xFormers prints them
    parts = [part.strip() for part in _PARTS_OF_TITLE.split(_OUTSIDE.sub("", label))]
    told = [(_ITS_UNIT.fullmatch(part) or {"unit": ""})["unit"] for part in (*parts, label)]
    unit_alone = len(parts) == 1 and any(map(_measures, told))
    several = len([part for part in parts if part]) > 1 and any(
        _measures(unit_of) or names_format(part) or names_operator(part)
        for part, unit_of in zip((*parts, label), told, strict=True)
    )
    if not (unit_alone or several):
        return grid
    named = all(map(_A_NAME.match, first)) and not any(map(_OF_A_FORMAT.fullmatch, first))
    corner = "implementation" if named and not any(map(names_operator, first)) else ""
    if named and all(only(text) is not None for text in first):
        corner = "gpu"
    head = grid.heads[0]
    cells = (head.cells[0]._replace(text=corner), *head.cells[1:])
    return replace(grid, caption=label, heads=(replace(head, cells=cells),))


_HEADS = re.compile(r"([1-9][0-9]{0,2})(?: ?[:/] ?)([1-9][0-9]{0,2})(?: heads)?", re.IGNORECASE)
"""Heads of queries, and those of keys and values, in the corner of a table of lengths."""

_A_LENGTH = re.compile(r"[0-9]{1,4}[kK]|[1-9][0-9]{1,2}(?:,?[0-9]{3})|[1-9][0-9]{1,2}")


def with_heads_of_corner(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid of calls of attention whose first label is of how many heads they are, with a column
    for each of the two numbers, and the lengths below it under their name: `32:8 | FA2 | ours`,
    where the text above the table speaks of `32:8` heads."""
    found = _HEADS.fullmatch(plain(grid.header()[0])) if grid.heads and grid.width > 1 else None
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    if found is None or len(grid.heads) != 1 or grid.labels or int(found[1]) % int(found[2]):
        return grid
    if not rows or not all(_A_LENGTH.fullmatch(plain(row.cells[0].text)) for row in rows):
        return grid
    said = re.compile(
        rf"(?<![\w:/.]){found[1]} ?[:/] ?{found[2]}(?![\w:/.])[^.;|]{{0,40}}?\bheads\b"
    )
    above = " ".join(line.text.strip() for line in lines[max(0, grid.begin - FAR) : grid.begin])
    if said.search(above) is None and "head" not in found[0].casefold():
        return grid

    def row_of(row: GridRow, first: str, texts: Sequence[str]) -> GridRow:
        cell = row.cells[0]
        cells = (cell._replace(text=first or cell.text), *row.cells[1:])
        return replace(row, cells=(*cells, *(cell._replace(text=text) for text in texts)))

    head = row_of(grid.heads[0], "seq_len", ("heads", "kv_heads"))
    return replace(grid, heads=(head,), rows=tuple(row_of(row, "", found.groups()) for row in rows))


_SIZE_OF_NAME = re.compile(r"(?<![\w.])([A-Za-z]{1,3})=?([0-9]{1,7}[kK]?)(?![\w.])")

_LETTERS_IN_NAMES = {
    "b": "batch", "bs": "batch", "h": "heads", "hq": "heads", "hkv": "kv_heads", "s": "seq",
    "sq": "seq", "skv": "kv_seq", "kv": "kv_seq", "d": "head_dim", "hd": "head_dim",
}  # fmt: skip
"""Letters in front of sizes of attention in the name of a call; no others, which mean more."""

_LARGEST_HEAD = 1024

_OF_ATTENTION = re.compile(r"att(?:entio)?n\b|\bsdpa\b|\bfmha\b|\bflash\b", re.IGNORECASE)


def attention_in_names(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid of calls of attention with the sizes that stand in the names of its first column in
    columns of their own, `prefill s2048 d64`; where each name says the size of a head, some a
    length, and a heading or the table itself speaks of attention."""
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.blank]
    if grid.labels or len(grid.heads) != 1 or grid.width < len(("name", "time")) or not rows:
        return grid
    told = [_letters_in(plain(row.cells[0].text)) for row in rows]
    if not all("head_dim" in each for each in told) or not any("seq" in each for each in told):
        return grid
    above = lines[max(0, grid.begin - FAR) : grid.begin]
    titles = [line.text for line in above if line.text.startswith("#")]
    if not any(map(_OF_ATTENTION.search, (*titles, *grid.header()))):
        return grid
    names = [name for name in dict.fromkeys(_LETTERS_IN_NAMES.values())
             if any(name in each for each in told)]  # fmt: skip

    def row_of(row: GridRow, texts: Sequence[str]) -> GridRow:
        cell = row.cells[0]
        return replace(row, cells=(*row.cells, *(cell._replace(text=text) for text in texts)))

    made = tuple(row_of(row, [each.get(name, "") for name in names])
                 for row, each in zip(rows, told, strict=True))  # fmt: skip
    return replace(grid, heads=(row_of(grid.heads[0], names),), rows=made)


def _letters_in(name: str) -> dict[str, str]:
    """The sizes of attention that a name says behind letters; none where it says one twice.

    >>> _letters_in("prefill b2 s1024 d64"), _letters_in("flash v2"), _letters_in("s16 s32 d64")
    ({'batch': '2', 'seq': '1024', 'head_dim': '64'}, {}, {})
    """
    found = _SIZE_OF_NAME.findall(name) if len(name) <= LONGEST else []
    pairs = [(_LETTERS_IN_NAMES[letters.casefold()], size) for letters, size in found
             if letters.casefold() in _LETTERS_IN_NAMES]  # fmt: skip
    sizes = dict(pairs)
    head = whole(sizes.get("head_dim", ""))
    known = len(sizes) == len(pairs) and head is not None and head <= _LARGEST_HEAD
    return sizes if known else {}


_STARRED = re.compile(r"([0-9][0-9.,]*) ?(?:\\?\*){1,3}")

_NOT_MEASURED = re.compile(
    r"^[\s>(]*\\?\*.*\b(?:estimat|extrapolat|interpolat|project|predict|simulat|theor|reported|scaled"
    r"|from (?:the )?paper)",
    re.IGNORECASE,
)
"""A note on numbers that nobody measured here."""


def unstarred(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid without the stars behind numbers that point to a note, where no note around says
    that nobody measured those: `41\\*`."""
    starred = any(_STARRED.fullmatch(cell.text.strip()) for row in grid.rows for cell in row.cells)
    if not starred or any(
        _NOT_MEASURED.search(line.text) for line in lines[grid.end : grid.end + _NOTES]
    ):
        return grid

    def bare(row: GridRow) -> GridRow:
        told = ((cell, _STARRED.fullmatch(cell.text.strip())) for cell in row.cells)
        return replace(row, cells=tuple(
            cell._replace(text=found[1]) if found else cell for cell, found in told
        ))  # fmt: skip

    return replace(grid, rows=tuple(map(bare, grid.rows)))


_NOTES = 12
"""Lines below a table among which a note of it stands."""

_A_NAME = re.compile(r"(?![^=]{0,20}=)[A-Za-z]{2}|[A-Z][0-9]|[a-z]\w")

_OF_A_FORMAT = re.compile(rf"(?:{FORMATS}|b?float(?:16|32)|half|double)", re.IGNORECASE)


def _letters_named(grid: Grid) -> Grid:
    """The grid of calls of attention whose sizes stand below single letters, each with its name:
    `b | h | s | d`, or `B | N | S | D`, whose N beside a length is one of heads."""
    labels = [plain(label) for label in grid.header()]
    letters = {
        label: OF_ATTENTION.get(label.casefold(), "")
        for label in labels
        if len(label) == 1 and label not in "tT"  # a rotation's or a scan's length
    }
    of_heads = {"n", "s", "d"} <= {*map(str.casefold, letters)} and "heads" not in letters.values()
    if of_heads and _of_heads_alone(grid, labels):
        letters |= {label: "heads" for label in letters if label in "nN"}
    numbered = {label: _NUMBERED.get(label.casefold(), "") for label in labels}
    if {"heads", "seq"} <= {*numbered.values()} and {"batch", "head_dim"} <= {*letters.values()}:
        letters |= {label: name for label, name in numbered.items() if name}
    alone = _ALL_FOUR - {*letters.values()} and _heads_and_length(grid, labels, letters.keys())
    if len(grid.heads) != 1 or grid.labels or (_ALL_FOUR - {*letters.values()} and not alone):
        return grid
    head = grid.heads[0]
    cells = [cell._replace(text=letters.get(label) or cell.text)
             for cell, label in zip(head.cells, labels, strict=True)]  # fmt: skip
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


def _heads_and_length(grid: Grid, labels: Sequence[str], letters: Set[str]) -> bool:
    """Whether the only letters are `H` and `S`, and numbers of heads stand below the first, fewer
    than any width has, beside lengths of sequences: so are no pictures, nor layers."""
    if {*map(str.casefold, letters)} != {"h", "s"}:
        return False
    rows = [[plain(cell.text) for cell in row.cells] for row in grid.rows
            if len(row.cells) == grid.width and not row.one]  # fmt: skip
    places = {label.casefold(): at for at, label in enumerate(labels) if len(label) == 1}
    pairs = [(row[places["h"]], row[places["s"]].replace(",", "")) for row in rows]
    pairs = [pair for pair in pairs if any(map(str.isdigit, "".join(pair)))]
    return bool(pairs) and all(
        0 < (whole(one) or 0) <= MANY <= (whole(other) or 0)
        for one, other in pairs
    )  # fmt: skip


MANY = 128
"""As many heads at most, and tokens at least, where letters alone tell both apart: a width is
larger, and so is the longer side of a picture than its other one."""


def _of_heads_alone(grid: Grid, labels: Sequence[str]) -> bool:
    """Whether every number below `N` may be one of heads, and each below `D` the size of one."""
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.one]
    texts = [(label.casefold(), plain(row.cells[at].text)) for row in rows
             for at, label in enumerate(labels) if label in ("N", "n", "D", "d")]  # fmt: skip
    return bool(texts) and all(
        (number := whole(text)) is not None
        and (number <= MOST_HEADS if label == "n"
             else number <= LARGEST_HEAD and not number % EIGHTS)
        for label, text in texts
    )  # fmt: skip


LARGEST_HEAD = 576
"""Numbers of the largest head that anyone attends with."""

EIGHTS = 8
"""Heads are whole multiples of so many numbers."""

_NUMBERED = {"n1": "heads", "n2": "kv_heads", "s1": "seq", "s2": "kv_seq"}
"""Sizes of queries and of keys by their letters, as the operators of CANN number them."""

_MASKS = {"causal": "True", "full": "False", "none": "False", "no mask": "False",
          "noncausal": "False", "non-causal": "False", "not causal": "False", "dense": "False",
          "bidirectional": "False"}  # fmt: skip


def _masks_named(grid: Grid) -> Grid:
    """The grid of calls with the names of masks, `full` and `causal`, as whether each is causal."""
    labels = [normalise(plain(label)) for label in grid.header()]
    places = [at for at, label in enumerate(labels)
              if label in ("mask", "masking", "attentionmask", "attnmask", "masktype")]  # fmt: skip
    if len(places) != 1 or len(grid.heads) != 1 or grid.labels:
        return grid
    at, rows = places[0], [row for row in grid.rows if len(row.cells) == grid.width]
    words = {plain(row.cells[at].text).casefold() for row in rows if not row.one}
    if not words or "causal" not in words or not words <= _MASKS.keys():
        return grid

    def row_of(row: GridRow, text: str) -> GridRow:
        cell = row.cells[at]._replace(text=text)
        return replace(row, cells=(*row.cells[:at], cell, *row.cells[at + 1 :]))

    named = (
        row_of(row, _MASKS.get(plain(row.cells[at].text).casefold(), "")) if at < len(row.cells)
        else row for row in grid.rows
    )  # fmt: skip
    return replace(grid, heads=(row_of(grid.heads[0], "causal"),), rows=tuple(named))


_ALL_FOUR = {"batch", "heads", "seq", "head_dim"}


_SIZE = r"[A-Za-z_]{1,20}(?: [A-Za-z_]{2,20})?"
"""The name of a size, of one word or two: `Hidden Dim`."""

_SHAPE = re.compile(
    r"(?:(?:input |tensor |problem )?(?:shape|size|dim(?:ension)?)s? ?)?"
    rf"[(\[]({_SIZE}(?: ?[x×*,] ?{_SIZE}){{1,3}})[)\]]"
    rf"|({_SIZE}(?: ?[×*/] ?| x ){_SIZE}(?:(?: ?[×*/] ?| x ){_SIZE})?)",
    re.IGNORECASE,
)

_IN_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]+)?")

_TIMES_OR_COMMA = re.compile(r" ?[×*,/] ?| ?x ?(?=[0-9])| x ")


_OF_BOTH = ({"b", "s"}, {"b", "t"}, {"b", "l"})
"""Letters of a batch and of the length of its sequences, `B x S`."""

_NAMES_APART = re.compile(r" ?[×*,/] ?| x |(?<=[a-z])x(?=[a-z]{3})")


def _shaped(grid: Grid) -> Grid:
    """The grid with sizes that a column prints together, and whose label names them, in columns of
    their own: `16384 x 4096` below `shape (tokens x hidden)`."""
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    if grid.labels or len(grid.heads) != 1 or not rows:
        return grid
    for at, label in enumerate(map(plain, grid.header())):
        named = _SHAPE.fullmatch(label)
        names = _NAMES_APART.split(named[1] or named[2]) if named else []
        if not any(len(name) > 1 for name in names) and {*map(str.casefold, names)} not in _OF_BOTH:
            continue  # letters, which others take apart
        if all(_IN_THOUSANDS.fullmatch(plain(row.cells[at].text)) for row in rows):
            continue  # `1,032` below `TFLOP/s`
        told = [_TIMES_OR_COMMA.split(plain(row.cells[at].text).strip("()[]")) for row in rows]
        if not all(len(each) == len(names) and all(map(str.isdecimal, each)) for each in told):
            continue

        def row_of(row: GridRow, parts: Sequence[str], at: int = at) -> GridRow:
            cells = (row.cells[at]._replace(text=part) for part in parts)
            return replace(row, cells=(*row.cells[:at], *cells, *row.cells[at + 1 :]))

        split = tuple(map(row_of, rows, told))
        head = row_of(grid.heads[0], _as_of_attention(names))
        return replace(grid, heads=(head,), rows=split)
    return grid


_SIZES_NAMED = re.compile(r"[A-Za-z_]+ ?= ?[0-9]+(?:(?:[,;] ?| )[A-Za-z_]+ ?= ?[0-9]+)+")

ONE_NAMED = re.compile(r"([A-Za-z_]+) ?= ?([0-9]+)")

_PRODUCTS = ({"m", "n", "k"}, {"b", "m", "n", "k"}, {"batch", "m", "n", "k"})


_SIZES_OF_CALLS = {
    "batch", "batchsize", "bs", "bsz", "seq", "seqlen", "sequencelength", "hidden", "hiddensize",
    "hiddendim", "dmodel", "tokens", "numtokens", "rows", "vocab", "vocabsize", "heads", "numheads",
    "nheads", "headdim", "headsize", "kvheads", "numkvheads", "intermediatesize", "ffnhidden",
    "experts", "numexperts", "topk",
}  # fmt: skip
"""Sizes in words, which mean the same beside whatever stands there."""


def names_apart(grid: Grid) -> Grid:
    """The grid with the sizes of a product that each cell of a column names, `M=64, N=8, K=32`, or
    those of another call in words, in columns of their own."""
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    if grid.labels or len(grid.heads) != 1 or not rows:
        return grid
    for at, cell in enumerate(rows[0].cells):
        if "=" not in cell.text or not all(
            _SIZES_NAMED.fullmatch(plain(row.cells[at].text)) for row in rows
        ):
            continue
        told = [ONE_NAMED.findall(plain(row.cells[at].text)) for row in rows]
        names = [name for name, _ in told[0]]
        same = all([name for name, _ in each] == names for each in told)
        words = {normalise(name) for name in names}
        of_call = words <= _SIZES_OF_CALLS and not words & {*map(normalise, grid.header())}
        if not same or not (of_call or {name.casefold() for name in names} in _PRODUCTS):
            continue

        def row_of(row: GridRow, parts: Sequence[str], at: int = at) -> GridRow:
            cells = (row.cells[at]._replace(text=part) for part in parts)
            return replace(row, cells=(*row.cells[:at], *cells, *row.cells[at + 1 :]))

        split = (row_of(row, [size for _, size in each])
                 for row, each in zip(rows, told, strict=True))  # fmt: skip
        return replace(grid, heads=(row_of(grid.heads[0], names),), rows=tuple(split))
    return grid


_PART = r"[0-9][0-9,]*(?:\.[0-9]+)?(?: ?[x×%]| ?[A-Za-zµ]+(?:/[A-Za-z]+)?)?"

_PARTS = re.compile(
    rf"{_PART}(?:(?: ?[/|;] ?|, ){_PART})+|{_PART} ?[(\[]{_PART}(?:(?:, | ?[;/] ?){_PART})*[)\]]"
)
"""Several measurements of one call in one cell: `0.25/1087/43.5%`, `1.2 ms (640 TFLOPS)`."""

_PARTS_ALONE = re.compile(rf"{_PART}(?:(?: ?[/|;] ?|, ){_PART})*")

_BETWEEN = re.compile(r" ?[/|;(（\[](?!s(?:ec)?(?![A-Za-z])) ?|, |[)）\]]")

_NAMED_SO = re.compile(r"(?P<name>[^()\[\]]*?),? ?[(\[](?P<parts>[^()\[\]]+)[)\]][\s:=-]*")

_UNIT_OF_PART = re.compile(r"([0-9][0-9.,]*) ?([A-Za-zµ]+(?:/[A-Za-z]+)?)?(?: ?[x×%％])?")

_ABOVE = 4
"""Lines above a table that may name what each of its cells prints together."""


def parts_apart(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid with each measurement of cells that print several in a column of its own, named by
    the units of the cells, by the label or by the line above: `(ms / TFLOPS / MFU%)`."""
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.one]
    if not grid.heads or grid.labels or grid.series or not rows:
        return grid
    told, with_units = dict[int, list[str]](), dict[int, list[bool]]()
    for at, label in enumerate(map(plain, grid.header())):
        texts = [_unremarked(plain(row.cells[at].text)) for row in rows]
        texts = [text for text in texts if any(map(str.isdigit, text))]
        packed = texts and all(len(text) <= LONGEST and _PARTS.fullmatch(text) for text in texts)
        names = _with_shares(label, texts)
        if packed and not names:
            parts = list(map(_split, texts))
            names = _names_of_parts(lines, grid, label, parts)
            turned = zip(*parts, strict=True) if names else ()
            with_units[at] = [bool(_unit_of_all(each)) for each in turned]
        told |= {at: names} if names else {}
    if not told:
        return grid

    def row_of(row: GridRow) -> GridRow:
        if len(row.cells) != grid.width:
            return row
        cells = list[GridCell]()
        for at, cell in enumerate(row.cells):
            texts = _split(_unremarked(plain(cell.text))) if at in told else []
            if at in told and told[at][-1].startswith("%") and _BARE.fullmatch(plain(cell.text)):
                texts = [*texts, ""]  # a bound, of which there is no share
            if at in told and len(texts) == 1 and ended(texts[0]):
                cells += [cell, *[cell._replace(text="")] * (len(told[at]) - 1)]
                continue
            texts = texts if len(texts) == len(told.get(at, ())) else [""] * len(told.get(at, ()))
            needed = with_units.get(at) or [False] * len(texts)
            parts = zip(texts, told.get(at, ()), needed, strict=True)
            cells += [cell._replace(text=_number_of(*p)) for p in parts] if at in told else [cell]
        return replace(row, cells=tuple(cells))

    head = grid.heads[-1]
    whole = (cell._replace(text=text) for cell, text in zip(head.cells, grid.header(), strict=True))
    cells = [
        new
        for at, cell in enumerate(whole if len(grid.heads) > 1 else head.cells)
        for new in ([cell._replace(text=name) for name in told[at]] if at in told else [cell])
    ]
    return replace(
        grid, heads=(replace(head, cells=tuple(cells)),), rows=tuple(map(row_of, grid.rows))
    )


_REMARKED = re.compile(r"(?P<rest>[^()\[\]]*[^()\[\] ]) ?[(\[](?P<remark>[^()\[\]]{2,60})[)\]]")


def _unremarked(text: str) -> str:
    """A cell of several measurements without the remark in brackets behind them, which says how
    they were made, and nothing that makes them no measurements.

    >>> _unremarked("80tflops/0.5ms (tile_64)"), _unremarked("2 ms (64 TFLOPS)")
    ('80tflops/0.5ms', '2 ms (64 TFLOPS)')
    """
    found = _REMARKED.fullmatch(text) if text.endswith((")", "]")) else None
    if found is None or not _PARTS.fullmatch(found["rest"]) or "(" in found["rest"]:
        return text
    words = {*split_words(found["remark"])}
    named = any(map(str.isalpha, found["remark"])) and not words & UNMEASURED
    return found["rest"] if named and not _PARTS_ALONE.fullmatch(found["remark"]) else text


def _number_of(text: str, label: str, needed: bool) -> str:
    """The number of a part of a cell, with its unit where that is another than its label says; ""
    where it has none that is `needed`, as its label has it from the other cells."""
    found = _UNIT_OF_PART.fullmatch(text)
    own = (found[2] or "") if found else ""
    if found is None or (needed and not own):
        return ""
    said = SIZED.fullmatch(label)
    if own and said and _measures(own) and _measures(said[2]) and own != said[2]:
        return text
    return str(found[1])


_SIDES = re.compile(
    r"([A-Za-z][\w +-]{0,20}?) ?/ ?([A-Za-z][\w +-]{0,20}?) ?[(\[]([^()\[\]/]{1,12})[)\]]"
)
"""A label of two sides with the unit of both: `fwd / bwd (ms)`."""

_WITH_SHARE = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)? ?[(（] ?[0-9.]+ ?[%％] ?[)）]")
"""A number, and in brackets what part of a bound it is: `205.9 (66%)`."""

_BARE = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")

_RATED = re.compile(
    r"(?P<name>[^()（）]*?(?P<unit>[GTP](?:FLOP|Flop|flop)[sS]?(?:/s)?|[GT]i?B/s))"
    r" ?(?:[(（](?P<share>[^()（）]*[%％][^()（）]*)[)）])?"
)
"""The label of rates, and what their shares are of: `TFLOPS (% of cuBLAS)`."""


def _with_shares(label: str, texts: Sequence[str]) -> list[str]:
    """Labels of rates and of the shares in brackets behind them; none where some cell that is no
    bare number has none."""
    rated = _RATED.fullmatch(label)
    shares = sum(_WITH_SHARE.fullmatch(text) is not None for text in texts) if rated else 0
    bare = sum(_BARE.fullmatch(text) is not None for text in texts)
    if rated is None or not shares or shares + bare < len(texts):
        return []
    name = f"{rated['name']}S" if rated["name"].endswith("FLOP") else rated["name"]
    return [name, f"% {(rated['share'] or '').strip('%％ ')}".strip()]


def _split(text: str) -> list[str]:
    """The measurements that a cell prints together.

    >>> _split("0.25/1087/43.5%"), _split("1.2 ms (640 TFLOP/s)")
    (['0.25', '1087', '43.5%'], ['1.2 ms', '640 TFLOP/s'])
    """
    return [part.strip() for part in _BETWEEN.split(text) if part.strip()]


def _names_of_parts(
    lines: Sequence[Line], grid: Grid, label: str, parts: Sequence[Sequence[str]]
) -> list[str]:
    """Labels of what the cells of a column print together, a time or a rate among them; none where
    neither these, the label of the column nor the line above says all."""
    many = {len(each) for each in parts}
    if len(many) != 1:
        return []
    units = [{(_UNIT_OF_PART.fullmatch(text) or ("", "", ""))[2] or "" for text in each}
             for each in zip(*parts, strict=True)]  # fmt: skip
    sized = _NAMED_SO.fullmatch(label)
    said_so = [(sized["name"], _split(sized["parts"]))] if sized else []
    of_all = map(_unit_of_all, zip(*parts, strict=True))
    inside = [each for each in of_all if each is not None]
    if len(inside) == len(units) and all(map(_measures, inside)):
        return [_label_of(label, each) for each in inside]
    sides = _SIDES.fullmatch(label)
    if (
        sides
        and {2} == many
        and _measures(sides[3])
        and not any(map(_measures, sides.groups()[:2]))
    ):
        return [f"{sides[1]} ({sides[3]})", f"{sides[2]} ({sides[3]})"]
    for name, own in (*said_so, ("", _split(label))):
        if len(own) in many and any(map(_measures, own)):
            return [_label_of(name, each) for each in own]
    for line in lines[max(0, grid.begin - _ABOVE) : grid.begin]:
        said = _NAMED_SO.search(line.text) if len(line.text) <= LONGEST else None
        if said and len(found := _split(said["parts"])) in many and any(map(_measures, found)):
            return [_label_of(label, each) for each in found]
    for text in _paragraph(lines, grid):
        told = _SAID_OF_CELLS.search(text) if len(text) <= LONGEST else None
        told = told or (_TWO_UNITS.search(text) if len(text) <= LONGEST else None)
        if told and len(own := [told[1], told[2]]) in many and not any(inside):
            return [_label_of(label, each) for each in own]
    said_below = _said_below(lines, grid) if {2} == many and not any(inside) else None
    if said_below:
        return [_label_of(label, each) for each in said_below]
    both = _in_front_and_behind(lines, grid) if {2} == many and not any(inside) else ()
    if both and not _measures(label):
        return [_label_of(label, each) for each in both]
    behind = _behind(lines, grid) if len(inside) == len(units) == len(("one", "behind")) else ""
    if behind and not inside[1] and (_measures(inside[0]) or (not inside[0] and _measures(label))):
        return [_label_of(label, inside[0]) if inside[0] else label, _label_of(label, behind)]
    return []


def _unit_of_all(texts: Sequence[str]) -> str | None:
    """The unit of some parts of cells, "" where none has one: that of all, or that of most where
    the others are of the same quantity or forgot theirs. None where they differ otherwise."""
    found = [(_UNIT_OF_PART.fullmatch(text) or ("", "", ""))[2] or "" for text in texts]
    if len({*found}) <= 1:
        return found[0] if found else None
    most = max(found, key=found.count)
    measures = [unit(each) for each in {*found} - {""}]
    alike = len({each.si if each else "" for each in measures}) == 1
    return most if alike and _measures(most) and found.count(most) * 2 > len(found) else None


_A_UNIT = r"(?:[GTP](?:FLOP|Flop|flop|OP)[sS]?(?:/s(?:ec)?)?|[GT]i?B/s|[mun]s|µs)(?![\w/])"

_MEASURE = rf"({_A_UNIT})"

_SAID_OF_CELLS = re.compile(
    r"(?i:\b(?:cells?|entr(?:y|ies)|columns?|values|numbers|each|given|shown|times?)\b"
    rf"[^.!?|]{{0,40}}?[ :(=`]){_MEASURE}[)`]? ?(?:/|\||;|and|with|then|followed by|,) ?"
    rf"(?i:the |achieved |rate |throughput |in |then ){{0,3}}[(`]?{_MEASURE}"
)
"""The quantities that a line gives each cell: `Each cell: time in us / TFLOPS`."""

_TWO_UNITS = re.compile(
    rf"(?:^|[.;:,(] ?)[`*]{{0,2}}{_MEASURE}[`*]{{0,2}} ?[/|;] ?[`*]{{0,2}}{_MEASURE}[`*]{{0,2}}"
    r"(?=\s*(?:[.;:,)]|$))"
)
"""Two units that stand alone, which each cell has: `us` / `TFLOPS`."""

_IN_BRACKETS = re.compile(
    r"(?i:\b(?:(?:with)?in|between) (?:the )?(?:parenthes[ei]s|parens?|(?:round )?brackets?)\b"
    r"[ :,=—–-]{0,4}(?:(?:the|are|is|we|give|show|achieved|effective|model|rate|throughput|its"
    rf"|their|in|corresponding|resulting) ){{0,4}}){_MEASURE}"
    rf"|{_MEASURE}(?i:,? (?:(?:is|are|given|shown|listed|numbers?|values?|rates?|the|stand) )"
    r"{0,4}(?:in|within|between) (?:the )?(?:parenthes[ei]s|parens?|(?:round )?brackets?)\b)"
    rf"(?![ :,=—–-]{{0,4}}(?:[a-z]{{2,13}} ){{0,4}}{_A_UNIT})"
)
"""The quantity that a text gives numbers in brackets: `in parentheses TFLOPS`."""


_SIGNS = {"milliseconds": "ms", "microseconds": "us", "msec": "ms", "usec": "us"}

_SPELLED = re.compile(rf"\b({'|'.join(_SIGNS)})\b", re.IGNORECASE)

_A_MEASURE = re.compile(rf"(?<![\w/]){_MEASURE}")

_A_SENTENCE = re.compile(r"(?<=[a-z)\]*`][.;!?])\s+(?=[A-Z*`(])")


def _paragraph(lines: Sequence[Line], grid: Grid) -> list[str]:
    """The lines that may say what each cell of a table prints, and the paragraph of the last of
    them in one line, with units of times as signs."""
    near = [line.text for line in lines[max(0, grid.begin - 2 * _ABOVE) : grid.begin]]
    texts = [text.strip() for text in near]
    while texts and (not texts[-1] or texts[-1].startswith(("..", "```", ":"))):
        texts.pop()
    begin = max((at + 1 for at, text in enumerate(texts) if not text), default=0)
    whole = " ".join(texts[begin:])
    return [*near[-_ABOVE:], _SPELLED.sub(lambda told: _SIGNS[told[1].casefold()], whole)]


def _said_below(lines: Sequence[Line], grid: Grid) -> tuple[str, str] | None:
    """The two quantities that the line right below a table gives each cell, where no other table
    follows that it may be of."""
    below = lines[grid.end : grid.end + 2 * _ABOVE]
    near = next((line for line in below if line.text.strip()), None)
    if near is None or len(near.text) > LONGEST or ROW.match(near.text):
        return None
    if any(ROW.match(line.text) for line in below):
        return None
    told = _SAID_OF_CELLS.search(near.text)
    return (told[1], told[2]) if told else None


def _in_front_and_behind(lines: Sequence[Line], grid: Grid) -> tuple[str, str] | tuple[()]:
    """The units of numbers and of those in brackets behind them, where one sentence of the
    paragraph above says both: `Times are in ms, in parentheses TFLOPS`."""
    for sentence in _A_SENTENCE.split(_paragraph(lines, grid)[-1][-LONGEST:]):
        found = {one or other for one, other in _IN_BRACKETS.findall(sentence)}
        every = _A_MEASURE.findall(sentence)
        rest = [each for each in dict.fromkeys(every) if each not in found]
        if len(found) == 1 and len(rest) == 1:
            return rest[0], found.pop()
    return ()


def _behind(lines: Sequence[Line], grid: Grid) -> str:
    """The unit of numbers in brackets behind others, as the paragraph above a table says it."""
    near = lines[max(0, grid.begin - 2 * _ABOVE) : grid.begin]
    text = " ".join(line.text.strip() for line in near)
    found = {one or other for one, other in _IN_BRACKETS.findall(text[-LONGEST:])}
    return found.pop() if len(found) == 1 else ""


def _measures(name: str) -> bool:
    """Whether a text is a unit of times, rates or bandwidths."""
    told = unit(name)
    return BANDWIDTH_UNIT.fullmatch(name) is not None or (
        told is not None and told.si in ("s", "flop/s") and not told.per
    )


def _label_of(name: str, measure: str) -> str:
    """The label of one of several measurements under a name."""
    if not _measures(measure):
        return f"{name} {measure}".strip()
    told = unit(measure)
    bare = name or ("time" if told and told.si == "s" else "")
    return f"{bare} ({measure})" if bare else measure


_BEHIND_NAME = re.compile(
    r"(?P<name>[^()\[\]|]{1,60}?)(?: ?[(\[]| ?@ ?| on (?:an? )?|, )"
    r"(?P<gpu>[^()\[\]|,]{2,40}?)[)\]]?"
)
"""A name, and behind it the device that its row is of: `RMSNorm (H100)`, `cuBLAS on MI300X`."""


_HARDWARE = {"hardware", "hw", "platform", "testbed", "硬件", "平台", "硬件平台"}
"""Labels of what calls were made on, of which a device is one part."""


def _with_hardware(grid: Grid) -> Grid:
    """The grid with devices alone in a column of what calls were made on, `H200 + 400G RoCE`, where
    each cell names one and says of no more than its network."""
    labels = [normalise(plain(label)) for label in grid.header()]
    places = [at for at, label in enumerate(labels) if label in _HARDWARE]
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.one]
    if grid.labels or grid.series or len(grid.heads) != 1 or len(places) != 1 or not rows:
        return grid
    if {*labels} & (_DEVICES - _HARDWARE):
        return grid
    at = places[0]
    texts = {plain(row.cells[at].text) for row in rows}
    told = {text: one.text for text in texts
            if (one := only(text)) and not any(map(str.isdigit, text[: one.start]))}  # fmt: skip
    if len(told) < len(texts):
        return grid

    def row_of(row: GridRow, text: str) -> GridRow:
        cell = row.cells[at]._replace(text=text)
        return replace(row, cells=(*row.cells[:at], cell, *row.cells[at + 1 :]))

    named = tuple(row_of(row, told[plain(row.cells[at].text)]) if row in rows else row
                  for row in grid.rows)  # fmt: skip
    return replace(grid, heads=(row_of(grid.heads[0], "gpu"),), rows=named)


def devices_apart(grid: Grid) -> Grid:
    """The grid with the device that every name of its first column ends with in a column of its
    own, where no other is of devices."""
    grid = _with_hardware(grid)
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.one]
    if grid.labels or grid.series or len(grid.heads) != 1 or not rows:
        return grid
    if any(normalise(plain(label)) in _DEVICES for label in grid.header()):
        return grid
    told = [_name_and_device(plain(row.cells[0].text)) for row in rows]
    if not all(told):
        return grid

    def row_of(row: GridRow, name: str, gpu: str) -> GridRow:
        first, *rest = row.cells
        return replace(row, cells=(first._replace(text=name), first._replace(text=gpu), *rest))

    split = tuple(row_of(row, *each) for row, each in zip(rows, told, strict=True) if each)
    label = grid.heads[0].cells[0].text
    return replace(grid, heads=(row_of(grid.heads[0], label, "gpu"),), rows=split)


_DEVICES = {"gpu", "device", "accelerator", "hardware", "card", "machine", "chip", "platform"}


def _name_and_device(text: str) -> tuple[str, str] | None:
    """A name and the one device behind it; None where there is no such.

    >>> _name_and_device("MoE layer0 (L20)"), _name_and_device("H100"), _name_and_device("a (b)")
    (('MoE layer0', 'L20'), None, None)
    """
    found = _BEHIND_NAME.fullmatch(text) if len(text) <= LONGEST else None
    if found is None or not any(map(str.isalpha, found["name"])) or only(found["name"]):
        return None
    device = only(found["gpu"])
    whole = device is not None and device.end - device.start == len(found["gpu"])
    return (found["name"].strip(), found["gpu"]) if whole else None


_STYLE = re.compile(r"[*`$]{1,3}")

_TIMES_EACH = r"[(\[]? ?((?:[0-9]{1,7} ?[x×*,] ?){1,2}[0-9]{1,7}) ?[)\]]?"

_OPERANDS = re.compile(
    rf"{_TIMES_EACH} ?(?:[x×*@·:]|\bby\b|\bmm\b|, ?(?=[(\[])) ?{_TIMES_EACH}"
    rf"(?: ?(?:=|->|→|=>) ?{_TIMES_EACH})?"
)

_WHOLE = re.compile(r"[0-9]+")


def products_apart(grid: Grid) -> Grid:
    """The grid with the sizes of products apart that a column prints together."""
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.one]
    if grid.labels or grid.series or len(grid.heads) != 1 or not rows:
        return grid
    for at, cell in enumerate(rows[0].cells):
        if not any(map(str.isdigit, cell.text)) or len(cell.text) > LONGEST:
            continue
        split = _underscored(grid, at, rows) or _in_named_order(grid, at, rows)
        if split is not None:
            return split
        texts = [_STYLE.sub("", row.cells[at].text).strip() for row in rows]
        told = [_of_operands(text) or _of_chains(text) or _of_a_tuple(text) for text in texts]
        names = [name for name in "bmnk" if any(name in each for each in told)]
        if all(told) and names:
            parts = [[each.get(name, "") for name in names] for each in told]
            return _sizes_apart(grid, at, names, rows, parts)
    return grid


_UNDERSCORED = re.compile(
    r"(?:\w{3,12}[ _]?)?[(\[]?(?P<names>[A-Za-z]{1,12}(?:[_-][A-Za-z]{1,12}){2,5})[)\]]?",
)

_IN_TURN = re.compile(r"(?:(?P<name>[A-Za-z0-9.]*[A-Za-z][A-Za-z0-9.]*)[_-])?(?P<sizes>[0-9_-]+)")


def _underscored(grid: Grid, at: int, rows: Sequence[GridRow]) -> Grid | None:
    """The grid with the sizes apart of products whose column names them in turn, between signs
    that part them in its cells too: `7B_16_4096_-1` below `m_n_k_group`, a name in front perhaps.
    None where the column is of something else."""
    label = _UNDERSCORED.fullmatch(plain(grid.header()[at]))
    names = re.split("[_-]", label["names"].casefold()) if label else []
    if not {*names} >= {*"mnk"} or len({*names}) < len(names):
        return None
    told = list[list[str]]()
    for row in rows:
        found = _IN_TURN.fullmatch(plain(row.cells[at].text))
        parts = found["sizes"].split("_" if "_" in found["sizes"] else "-") if found else []
        name = found["name"] or "" if found else ""
        whole = [*([name] if name else []), *parts]
        every = ["", *whole] if len(whole) == len(names) else whole  # or a name in front of all
        sizes = dict(zip(names, every[1:], strict=False))
        if len(every) != len(names) + 1 or not all(sizes[each].isdecimal() for each in "mnk"):
            return None
        told.append(every)
    first = 0 if any(each[0] for each in told) else 1
    labels = ["of", *names][first:]
    return _sizes_apart(grid, at, labels, rows, [each[first:] for each in told])


_THREE_SIZES = re.compile(r"[(\[]?([0-9]{1,8}) ?[x×*,] ?([0-9]{1,8}) ?[x×*,] ?([0-9]{1,8})[)\]]?")


def _in_named_order(grid: Grid, at: int, rows: Sequence[GridRow]) -> Grid | None:
    """The grid with the three sizes apart of products below the letters of all three: `128×512×64`
    below `Shape (M×N×K)`. None where the column is of something else."""
    named = PRODUCT.fullmatch(plain(grid.header()[at]))
    letters = [letter.casefold() for letter in named.groups()] if named else []
    told = [_THREE_SIZES.fullmatch(_STYLE.sub("", row.cells[at].text).strip()) for row in rows]
    if len({*letters}) < len("mnk") or not all(told):
        return None
    return _sizes_apart(grid, at, letters, rows, [each.groups() for each in told if each])


_NAMED_TUPLE = re.compile(
    r"(?:shapes?|sizes?|problem|gemm)?[ :]{0,2}"
    r"[(\[]?(?P<names>[bmnk](?:[ ,;x×*_]{0,2}[bmnk]){2,3})[)\]]?"
    r" ?[:=]? ?[(\[{]? ?(?P<sizes>[0-9]{1,7}(?: ?[x×*,;_ ] ?[0-9]{1,7}){2,3}) ?[)\]}]?",
    re.IGNORECASE,
)
"""Sizes of a product together behind their letters together: `mnk(64, 32, 16)`."""


def _of_a_tuple(text: str) -> dict[str, str]:
    """The sizes of a product that stand together behind their letters.

    >>> _of_a_tuple("mnk(64, 32,16)"), _of_a_tuple("(M, K, N) = 8x4x2"), _of_a_tuple("mm(8, 4, 2)")
    ({'m': '64', 'n': '32', 'k': '16'}, {'m': '8', 'k': '4', 'n': '2'}, {})
    """
    found = _NAMED_TUPLE.fullmatch(text) if len(text) <= LONGEST else None
    names = re.findall("[bmnk]", found["names"].casefold()) if found else []
    sizes = _WHOLE.findall(found["sizes"]) if found else []
    whole = len(names) == len(sizes) == len({*names}) and {*names} >= {*"mnk"}
    return dict(zip(names, sizes, strict=True)) if whole else {}


def _of_operands(text: str) -> dict[str, str]:
    """The sizes of a product of two operands, [b, m, k] and [b, k, n]; none where they do not fit.

    >>> _of_operands("[2048, 4096] x [4096, 6144]"), _of_operands("(8,4)@(2,4)")
    ({'m': '2048', 'n': '6144', 'k': '4096'}, {})
    >>> _of_operands("[4, 128, 64] x [4, 64, 128]"), _of_operands("64x32x16")
    ({'b': '4', 'm': '128', 'n': '128', 'k': '64'}, {})
    """
    found = _OPERANDS.fullmatch(text) if len(text) <= LONGEST else None
    if found is None or not (text[0] in "([" or "@" in text or ":" in text):
        return {}
    one, other = (_WHOLE.findall(found[n]) for n in (1, 2))
    if len(one) != len(other) or one[:-2] != other[:-2] or one[-1] != other[-2]:
        return {}
    made = [*one[:-1], other[-1]]
    if found[3] and _WHOLE.findall(found[3]) != made:
        return {}
    batch = {"b": one[0]} if one[:-2] else {}
    return batch | {"m": one[-2], "n": other[-1], "k": one[-1]}


_SHARED = re.compile(
    r"(?:[MNKBmnkb] ?= ?){1,4}[0-9]{1,7}(?:(?:[,;] ?| )(?:[MNKBmnkb] ?= ?){1,4}[0-9]{1,7}){0,3}"
)

_SHARED_ONE = re.compile(r"((?:[mnkb] ?= ?)+)([0-9]+)")


def _of_chains(text: str) -> dict[str, str]:
    """The sizes that letters name, some of them together.

    >>> _of_chains("M=N=K=8192"), _of_chains("M=64, N=K=32"), _of_chains("N=8")
    ({'m': '8192', 'n': '8192', 'k': '8192'}, {'m': '64', 'n': '32', 'k': '32'}, {})
    """
    if text.count("=") < len("mnk") or not _SHARED.fullmatch(text):
        return {}
    told = [(letter, size) for letters, size in _SHARED_ONE.findall(text.casefold())
            for letter in re.findall("[mnkb]", letters)]  # fmt: skip
    sizes = dict(told)
    whole = len(sizes) == len(told) and set("mnk") <= sizes.keys()
    return {name: sizes[name] for name in "bmnk" if name in sizes} if whole else {}


def _sizes_apart(
    grid: Grid,
    at: int,
    names: Sequence[str],
    rows: Sequence[GridRow],
    told: Sequence[Sequence[str]],
) -> Grid:
    """The grid with some columns in the place of one."""

    def row_of(row: GridRow, parts: Sequence[str]) -> GridRow:
        cells = (row.cells[at]._replace(text=part) for part in parts)
        return replace(row, cells=(*row.cells[:at], *cells, *row.cells[at + 1 :]))

    split = tuple(row_of(row, parts) for row, parts in zip(rows, told, strict=True))
    return replace(grid, heads=(row_of(grid.heads[0], names),), rows=split)
