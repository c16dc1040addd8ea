"""Tables of kernels in every syntax: a row is a measured call, or several.

In: the lines of a document and the kind of table. Out: one record per time or rate, by the columns
that `kernel_columns` finds. Operation, ranks and device may stand in the heading above a table, or
in the lines between.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, partial

from assay.ingest.columns.headers import plain
from assay.ingest.columns.named_systems import with_devices
from assay.ingest.columns.titles import format_named
from assay.ingest.grids.delimited import delimited, delimited_blocks, long_and_even, tool_csv
from assay.ingest.grids.grid import (
    MARKED_UP,
    Grid,
    GridCell,
    GridRow,
    apart,
    with_labels_in_words,
    without_asides,
    without_fillers,
)
from assay.ingest.grids.json_records import begins_json, json_records
from assay.ingest.grids.second_heads import upright, with_second_heads
from assay.ingest.kernels.collective_ranks import (
    amount,
    experts_apart,
    ranks_apart,
    ranks_of_experts,
    ranks_proved,
    sizes_apart,
    unproven_apart,
)
from assay.ingest.kernels.kernel_columns import (
    BY_PLACE,
    CLOSE,
    NUMBER,
    SQUARES,
    bare_column,
    by_sizes,
    columns_of,
    in_their_units,
    left_open,
    matrix,
    of_ways_to_attend,
    order_of_sizes,
    ranks_of_ratio,
    unordered,
)
from assay.ingest.kernels.kernel_headings import (
    BANDWIDTH,
    FUSED,
    below_comments,
    benchmark_above,
    libraries_of_formats,
    library_around,
    names_operator,
    of_curves,
    of_no_calls,
    of_other_calls,
    of_sums,
    of_tested_products,
    of_whole_runs,
    operator_in,
    said_above,
    said_by_titles,
    sizes_of_one_rank,
)
from assay.ingest.kernels.kernel_labels import (
    OF_A_MASK,
    SIZED,
    Column,
    measured_as,
    says_how_fast,
)
from assay.ingest.kernels.operator_grids import (
    NAMED,
    in_columns,
    named_by_heading,
    of_all_calls,
    of_an_optimizer,
    of_anything,
    of_nvbench,
    of_training,
    rates_of_runs,
    with_column,
    with_operators,
    with_width,
)
from assay.ingest.kernels.printed_calls import printed_passes
from assay.ingest.kernels.product_prints import agree
from assay.ingest.kernels.row_names import (
    attention_in_names,
    cube_of_label,
    devices_apart,
    labels_in_full,
    parts_apart,
    said_by_columns,
    said_by_row,
    sizes_in_names,
    sums_up,
    tuples_apart,
    unstarred,
    with_heads_of_corner,
)
from assay.ingest.kernels.settings_around import (
    FAR,
    as_many_heads,
    named_alone,
    nearest_first,
    of_products,
    of_squares_alone,
    printed_by,
    product_above,
    sizes_named,
    spelled,
    tokens_of_all,
)
from assay.ingest.kernels.units_said import in_proved_units, in_units_of_tests
from assay.ingest.numbers.printed import MOST_DIGITS, whole
from assay.ingest.numbers.units import unit
from assay.ingest.prose.only_device import only_device
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Folded
from assay.ingest.schema.record import Cell, Line, Record, Schema, ValueOrigin
from assay.ingest.source.headings import headed
from assay.ingest.source.inline_markup import without_italics
from assay.ingest.source.notebook import is_notebook, markdown_cells, outputs, printed
from assay.ingest.tables.csv_sections import ENDS, CsvTable, ended, timed
from assay.ingest.tables.documents import closed_up, marked, pointed
from assay.ingest.vocabulary.terms import normalise

BEGIN = 50
"""Lines of separated values that tell whether their header names a call."""


NOTHING = re.compile(r"[-–—/]+|n/?a|none", re.IGNORECASE)
"""A cell that says that there is no such size."""


def kernel_rows(
    lines: Sequence[Line], table: CsvTable, folded: Folded, others: Sequence[CsvTable] = ()
) -> None:
    """Put every table whose header names what is needed of a call into `folded`.

    With `others` it is one of operators: of those what no other kind of table reads, and all cells.
    """
    if not any(line.text and not line.text.isspace() for line in lines):
        return
    plainly = _of_one_host(without_italics(_shown(lines)))
    lines = _with_headings(plainly)
    order = cache(lambda: order_of_sizes(lines))
    device = cache(lambda: only_device(lines, {each.number for each in lines if _is_row(each)}))
    shaped = partial(in_columns, schema=table.schema) if others else _as_it_is
    of_ranks = _of_exchanges if "op" in fields(table.schema) else _as_it_is
    grids = labels_in_full(_grids(lines if others else plainly, (table, *others), shaped))
    lines = below_comments(lines, grids)
    tables = map(tuples_apart, apart(list(map(of_ranks, grids))))
    for each in tables:
        found = _split(lines, each)
        found = of_an_optimizer(lines, found) if others else in_units_of_tests(lines, found)
        if "op" in fields(table.schema):
            found = in_proved_units(with_devices(lines, found))
        runs = of_training(found) if others else _of_runs(lines, found, table.schema)
        if runs or (others and (of_anything(lines, found) or of_all_calls(found))):
            continue
        if others and (kind := _of_others(lines, _of_exchanges(found), others, order)):
            _left_over(lines, found, *kind, table, folded)
            continue
        grid = shaped(found)
        if others:
            grid = with_width(lines, named_by_heading(lines, grid, table.schema))
        products = unordered(grid) if others else {}
        named = "gemm" if products else _benchmark(lines, grid, others)
        grid = with_column(grid, "operator", named) if named else grid
        above = _above(lines, grid, table)
        if _of_bench(lines, grid) or of_no_calls(lines, grid):
            continue
        if columns := _columns(lines, grid, table, above, order):
            columns = in_their_units(grid, columns)
        elif not (columns := _matrix(lines, grid, table, above)):
            continue
        ours = [row for row in grid.rows if grid.syntax != "json" or _calls(row, columns, table)]
        if not others:
            ours = [row for row in ours if not _of_another_kind(row, columns, table)]
        columns = _kept(grid, columns)
        above = said_by_columns(grid, columns, above)
        facts = said_by_titles(grid, table.schema, above)
        records = [
            each
            for row in ours
            for each in _records(row, columns, facts.get(row.line.number, above))
        ]
        _batched(lines, grid, records)
        records = [each for each in _agreeing(records) if not _moved(each)]
        _settle(lines, grid, columns, records, fields(table.schema).keys())
        _on_the_one(records, device)
        if products and not _of_products(lines, grid, records, products):
            continue
        if records:
            folded.records += records
            folded.claimed |= _lines(lines, grid, records, ours)


def _split(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid with what its cells and labels say together in columns of their own."""
    grid = parts_apart(lines, with_heads_of_corner(lines, unstarred(lines, grid)))
    grid = sizes_in_names(lines, cube_of_label(lines, grid))
    grid = attention_in_names(lines, grid)
    return devices_apart(_with_units(grid))


def _of_exchanges(grid: Grid) -> Grid:
    """The grid of collectives with ranks apart that its labels say."""
    return experts_apart(ranks_apart(grid))


def _of_runs(lines: Sequence[Line], grid: Grid, schema: Schema) -> bool:
    """Whether a table has rates of whole runs, and not beside each way to compute attention."""
    attends = "kv_seq" in fields(schema) and of_ways_to_attend(lines, grid, schema)
    return rates_of_runs(grid) and not attends and not _of_short_calls(grid, schema)


def _of_short_calls(grid: Grid, schema: Schema) -> bool:
    """Whether columns say heads, the size of one and a length beside times in millionths of a
    second, which no run has, whatever share of the peak stands there."""
    labels = [plain(label) for label in grid.header()]
    told = [measured_as(label, schema) for label in labels]
    held = {each.spec.name for each in told if each is not None and each.spec is not None}
    return {"seq", "heads", "head_dim"} <= held and any(map(_IN_MICROSECONDS.search, labels))


_IN_MICROSECONDS = re.compile(r"(?:[ _(\[]|^|(?<=时间)|(?<=耗时))(?:us|µs|μs)[)\]]?$")


def _shown(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines of a notebook that its Markdown cells and its outputs show, those of HTML in the
    place of what else an output says; of any other document all."""
    said = markdown_cells(lines) if is_notebook(lines) else []
    if not said:
        return closed_up(lines)
    pages = [Line(each.number, each.text, each.column, {})
             for each in outputs(lines) if each.kind == "html"]  # fmt: skip
    return sorted([*said, *printed(lines), *pages], key=lambda line: line.number)


def _on_the_one(records: Sequence[Record], device: Callable[[], Cell | None]) -> None:
    """Give calls that name no device the one that the document names."""
    bare = [record for record in records if "gpu" not in record.cells]
    cell = device() if bare else None
    for record in bare if cell else ():
        record.cells["gpu"] = (cell or Cell("", 0, 0))._replace(value_origin="assumed")


def _is_row(line: Line) -> bool:
    """Whether a line is one of a table in Markdown or HTML."""
    return line.text.lstrip().startswith(("|", "<t"))


def _settle(
    lines: Sequence[Line],
    grid: Grid,
    columns: Sequence[Column],
    records: Sequence[Record],
    names: Set[str],
) -> None:
    """Facts that rows of a table say together: directions, masks, operators in names, ranks."""
    if "kernel" in names:
        _by_their_command(lines, grid, records)
    if "direction" in names:
        _directed(grid, columns, records)
    if "causal" in names:
        _masked(records)
    if "kv_heads" in names:
        _with_as_many_heads(lines, grid, records)
        _of_so_many_tokens(lines, grid, records)
    if "operator" in names:
        _called(records)
        _called_alike(records)
    if "op" in names:
        sizes_apart(records, sizes_of_one_rank(lines, grid))
        ranks_proved(records)
        unproven_apart(records)
        _by_their_library(lines, grid, records)
        _twice_apart(grid, columns, records)


_OF_SYSTEMS = {"method", "approach", "system", "variant", "version", "transport", "path", "stack",
               "algorithm", "algo", "mode", "config", "configuration", "column"}  # fmt: skip
"""Labels of columns that may name others than the one library of a document."""


def _by_their_library(lines: Sequence[Line], grid: Grid, records: Sequence[Record]) -> None:
    """Give collectives the one library that the text above says, where no row names who
    exchanged."""
    kept = {normalise(name) for record in records for name, _ in record.other}
    if kept & _OF_SYSTEMS or any("library" in record.cells for record in records):
        return
    if records and (cell := library_around(lines, grid)):
        for record in records:
            record.cells["library"] = cell


def _by_their_command(lines: Sequence[Line], grid: Grid, records: Sequence[Record]) -> None:
    """Give calls that name nobody the one whom the text above names for their format, or whom the
    command names that printed their table."""
    if any("kernel" in record.cells for record in records):
        return
    if records and of_nvbench(grid) and (named := benchmark_above(lines, grid)):
        line = grid.heads[0].line.number
        for record in records:
            record.cells["kernel"] = Cell(named, line, 1, value_origin="stated")
        return
    formats = {spelled(each.cells["dtype"].text) if "dtype" in each.cells else ""
               for each in records}  # fmt: skip
    told = libraries_of_formats(lines, grid) if records else {}
    if formats and formats <= told.keys():
        for record in records:
            record.cells["kernel"] = told[spelled(record.cells["dtype"].text)]
        return
    if cell := printed_by(lines, grid.begin) or named_alone(lines, grid.begin):
        for record in records:
            record.cells["kernel"] = cell


def _with_as_many_heads(lines: Sequence[Line], grid: Grid, records: Sequence[Record]) -> None:
    """Give calls as many heads of keys and values as of queries, where the text above says so."""
    alone = [each for each in records if "heads" in each.cells and "kv_heads" not in each.cells]
    line = as_many_heads(lines, grid) if alone and len(alone) == len(records) else None
    for record in alone if line else ():
        record.cells["kv_heads"] = record.cells["heads"]._replace(value_origin="stated")


def _of_so_many_tokens(lines: Sequence[Line], grid: Grid, records: Sequence[Record]) -> None:
    """Give calls that say no batch as many sequences as make the tokens that the text above says
    all calls to be of, where these are whole numbers in all rows."""
    bare = [each for each in records if "seq" in each.cells and "batch" not in each.cells]
    told = tokens_of_all(lines, grid) if bare and len(bare) == len(records) else None
    lengths = [int(amount(each.cells["seq"])) for each in bare] if told else []
    tokens = whole(told.text) if told else None
    if told is None or tokens is None or len({*lengths}) < TWO or any(tokens % n for n in lengths):
        return
    law = "all calls are of the same number of tokens"
    for record, length in zip(bare, lengths, strict=True):
        many = str(tokens // length)
        record.cells["batch"] = told._replace(text=many, value_origin="solved", law=law)


def _columns(
    lines: Sequence[Line], grid: Grid, table: CsvTable, above: Mapping[str, Cell],
    order: Callable[[], str],
) -> list[Column]:  # fmt: skip
    """The columns of a table of one kind of calls, with what stands above it."""
    if "kv_seq" in fields(table.schema):
        headless = not any("head" in label for label in (*map(str.casefold, grid.header()), *above))
        if of_other_calls(lines, grid) or of_whole_runs(lines, grid, headless=headless):
            return []
    if "m" in fields(table.schema) and not of_tested_products(lines, grid):
        return []
    bare = bare_column(lines, grid, table.schema)
    if "op" in fields(table.schema) and of_sums(lines, grid):
        return []
    curves = bool(grid.series) or of_curves(lines, grid)
    squares = _squares(lines, grid, table)
    return columns_of(grid, table, above, order, bare, curves=curves, products=squares)


def _matrix(
    lines: Sequence[Line], grid: Grid, table: CsvTable, above: Mapping[str, Cell]
) -> list[Column]:
    """The columns of a table of sizes by numbers of ranks, or of names by sizes."""
    bare = bare_column(lines, grid, table.schema)
    timed_so = bare is not None and bare.spec is not None and bare.spec.name == "time"
    if timed_so and "op" in fields(table.schema) and of_whole_runs(lines, grid, headless=False):
        return []
    across = matrix(grid, table.schema, above, bare)
    cubes = all(_CUBE.search(label) for label in grid.header()[1:])
    cubes |= _OF_SQUARES.fullmatch(plain(grid.header()[0])) is not None
    square = "m" in fields(table.schema) and (cubes or of_squares_alone(lines, grid))
    return across or by_sizes(grid, table.schema, above, bare, square=square)


_OF_SQUARES = re.compile(
    r"(?:[A-Za-z ]{0,30}\()?([mnk]) ?= ?(?!\1)([mnk]) ?= ?(?!\1|\2)[mnk]\)?", re.IGNORECASE
)
"""The label in front of sizes of square products side by side: `M=N=K`."""

_CUBE = re.compile(r"[0-9](?:³|\^3)\W*$|(?<![0-9])([0-9]+) ?[x×*] ?\1 ?[x×*] ?\1(?![0-9])\W*$")


def _above(lines: Sequence[Line], grid: Grid, table: CsvTable) -> dict[str, Cell]:
    """The facts of calls that the text above a table says, sizes of the one product that all of
    it is about among them."""
    above = said_above(lines, grid, table.schema)
    if "m" in fields(table.schema):
        letters = left_open(grid, table.schema, bare_column(lines, grid, table.schema))
        if letters == "mnk" or (letters and of_products(lines, grid)):
            above |= product_above(lines, grid, letters)
    if "op" in fields(table.schema) and "ranks" not in above:
        near = nearest_first(lines[max(0, grid.begin - FAR) : grid.begin])
        above |= ranks_of_experts(grid, [line for each in near for line in each])
    return above | ranks_of_ratio(grid, table.schema, above)


def _benchmark(lines: Sequence[Line], grid: Grid, others: Sequence[CsvTable]) -> str:
    """The name of the operator whose calls all rows of a table of nvbench are."""
    named = "operator" in grid.header()  # in a column
    return benchmark_above(lines, grid) if others and not named and of_nvbench(grid) else ""


def _squares(lines: Sequence[Line], grid: Grid, table: CsvTable) -> bool:
    """Whether the sizes of matrices in a table are of square products."""
    labels = [normalise(plain(label)) for label in grid.header()]
    if "m" not in fields(table.schema):
        return False
    if any(label.startswith("matrix") for label in labels):
        return of_products(lines, grid)
    alone = len(SQUARES & {*labels}) == 1 and not {"m", "k"} & {*labels}
    return alone and of_squares_alone(lines, grid)


def _agreeing(records: list[Record]) -> list[Record]:
    """The calls of a table; none where the text above says a product whose work over the time of
    some call is not its rate."""
    told = [
        each.cells
        for each in records
        if any(each.cells[x].value_origin == "stated" for x in "mnk" if x in each.cells)
    ]
    rated = [cells for cells in told if {"time", "flops_rate"} <= cells.keys()]
    return records if all(map(agree, rated)) else []


def _batched(lines: Sequence[Line], grid: Grid, records: Sequence[Record]) -> None:
    """Put into calls how many products each is of, where the text right above says it and their
    times and rates prove it in all rows: `Batched GEMM, batch = 64`."""
    rated, every = {"time", "flops_rate"}, records
    records = [each for each in every if "outcome" not in each.cells]
    if any("b" in each.cells or not rated | {"m"} <= each.cells.keys() for each in records):
        return
    near = next(nearest_first(lines[max(0, grid.begin - FAR) : grid.begin]), [])
    for line in near:
        for name, text in sizes_named(line.text):
            many = Cell(text, line.number, line.column, value_origin="stated")
            if (
                name == "batch"
                and text != "1"
                and records
                and all(agree({**each.cells, "b": many}) for each in records)
            ):
                for each in every:
                    each.cells["b"] = many
                return


def _with_headings(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines of a page of HTML or of reStructuredText with its headings as Markdown has them;
    rules that a program prints below its titles make none."""
    marked_up = any("<" in line.text and "<table" in line.text.casefold() for line in lines)
    restructured = any(_DIRECTIVE.match(line.text) for line in lines if line.text[:1] in (".", ":"))
    if marked_up or not restructured:
        return headed(lines) if marked_up else lines
    indented = (line.column > 1 or line.text[:1].isspace() for line in lines)  # blocks of code
    lines = _without_code(lines)
    return [own if code else each
            for own, each, code in zip(lines, headed(lines), indented, strict=True)]  # fmt: skip


_CODE = re.compile(
    r"(?P<before>\s*)\.\. (?:code(?:-block)?|sourcecode|highlight):: (?:python3?|py|c|cpp|c\+\+"
    r"|cuda|cu|rust|java|julia|triton|hip|opencl)\s*"
)


def _without_code(lines: Sequence[Line]) -> list[Line]:
    """The lines of reStructuredText without its blocks of programs, which say of no call how it was
    made: a program may be called with anything."""
    made, depth = list[Line](), -1
    for line in lines:
        text = " " * (line.column - 1) + line.text
        depth = depth if not text.strip() or len(text) - len(text.lstrip()) > depth else -1
        made.append(line._replace(text="") if depth >= 0 else line)
        begins = _CODE.fullmatch(text) if depth < 0 and ".. " in text else None
        depth = len(begins["before"]) if begins else depth
    return made


_DIRECTIVE = re.compile(r"\.\. [a-z-]+::|:[A-Za-z][A-Za-z -]*: +\S")
"""A directive, or a field of a list of settings, of reStructuredText."""


def _of_others(
    lines: Sequence[Line], grid: Grid, others: Sequence[CsvTable], order: Callable[[], str]
) -> tuple[list[Column], CsvTable] | None:
    """The columns of a table of a kind of calls that is read by itself, and that kind."""
    for each in others:
        if columns := _columns(lines, grid, each, _above(lines, grid, each), order):
            return columns, each
    return None


def _left_over(
    lines: Sequence[Line], grid: Grid, kind: Sequence[Column], other: CsvTable, table: CsvTable,
    folded: Folded,
) -> None:  # fmt: skip
    """Put the rows of a table of another kind into `folded` that are of no call of that kind."""
    rows = [row for row in grid.rows if _of_another_kind(row, kind, other)]
    if not rows:
        return
    named, above = with_operators(grid, table.schema), said_above(lines, grid, table.schema)
    if columns := columns_of(named, table, above, lambda: ""):
        columns = _kept(named, in_their_units(named, columns))
        records = [each for row in rows for each in _records(row, columns, above)]
        folded.records += records
        folded.claimed |= {record.line for record in records}


def _of_another_kind(row: GridRow, columns: Sequence[Column], table: CsvTable) -> bool:
    """Whether a row of a table lacks a size of every call of its kind, and is named: a norm among
    products; or is a product together with what ranks exchange."""
    sizes = {name for need in table.needs if len(need) == 1 for name in need}
    cells = [(plain(cell.text), column) for cell, column in zip(row.cells, columns, strict=False)]
    known = [(text, column.spec) for text, column in cells if column.spec is not None]
    if "m" in fields(table.schema) and any(
        FUSED.fullmatch(text) for text, column in cells
        if column.spec is None or column.spec.name == "kernel"
    ):  # fmt: skip
        return True
    lacks = any(
        spec.numeric and spec.name in sizes and (not text or NOTHING.fullmatch(text))
        for text, spec in known
    )
    return lacks and any(
        NAMED.match(text)
        for text, column in cells if column.spec is None or column.spec.name == "kernel"
    )  # fmt: skip


def _kept(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Columns with the labels of those that fill no field: their cells are kept as printed."""
    labels = map(plain, grid.header())
    return [
        replace(column, label=label)
        if column.spec is None and not column.sizes
        else _of_a_kernel(column)
        for column, label in zip(columns, labels, strict=True)
    ]


def _of_a_kernel(column: Column) -> Column:
    """A column without the word for what it measures in the name of the kernel it is of."""
    named = column.aside.get("kernel", "")
    bare = _QUANTITY.sub("", named).strip() if " " in named else named
    return replace(column, aside={**column.aside, "kernel": bare}) if bare != named else column


_WHAT = r"(?:bandwidth|bw|time|latency|throughput)"

_QUANTITY = re.compile(
    rf"^{_WHAT}(?: of)? | {_WHAT}$",
    re.IGNORECASE,
)


def _of_products(
    lines: Sequence[Line],
    grid: Grid,
    records: Sequence[Record],
    products: Mapping[int, tuple[int, ...]],
) -> bool:
    """Whether calls with three sizes each, in an order that nobody says, are products, as their
    table says or every rate beside a time proves; then they say so of their operator."""
    near = [*grid.header(), *(line.text for line in lines[max(0, grid.begin - 3) : grid.begin])]
    law = "" if any(map(_PRODUCTS.search, near)) else "2abc over the time is the printed rate"
    for record in records:
        if law and "outcome" in record.cells:
            continue
        work = 2.0 * math.prod(products.get(record.line, ()))
        rated = [record.cells[name] for name in ("time", "flops_rate") if name in record.cells]
        if law and (len(rated) < TWO or abs(math.prod(map(amount, rated)) - work) > CLOSE * work):
            return False
        origin: ValueOrigin = "solved" if law else "stated"
        record.cells["operator"] = record.cells["operator"]._replace(value_origin=origin, law=law)
    return True


TWO = 2

_PRODUCTS = re.compile(r"\bgemm|(?<![A-Za-z])mat-?mul|matrix (?:mul|product)", re.IGNORECASE)


_HOST = re.compile(r"([A-Za-z][\w.-]*[0-9]):(?: |$)")

MOST_LINES = 0.8
"""Share of lines in front of which a launcher has put the name of one host."""


def _of_one_host(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines without the name of a host that nearly all of them begin with."""
    first = [found[1] for line in lines[:BEGIN] if (found := _HOST.match(line.text))]
    if not first or first.count(first[0]) < len(first):
        return lines
    begin = f"{first[0]}:"
    if sum(line.text.startswith(begin) for line in lines) < MOST_LINES * len(lines):
        return lines
    return [_behind(line, begin) for line in lines]


def _behind(line: Line, begin: str) -> Line:
    text = line.text.removeprefix(begin)
    behind = text.removeprefix(" ") if text != line.text else text
    return line._replace(text=behind, column=line.column + len(line.text) - len(behind))


def _as_it_is(grid: Grid) -> Grid:
    return grid


def _grids(
    lines: Sequence[Line], tables: Sequence[CsvTable], shaped: Callable[[Grid], Grid]
) -> list[Grid]:
    """Every table of a document; separated values only where their header names a call of one of
    some kinds."""
    if begins_json(lines) and (held := list(json_records(lines))):
        return held
    begin = next(map(with_second_heads, delimited(lines[:BEGIN], named=False)), None)
    long = begin is not None and long_and_even(lines, begin)
    among = list(delimited_blocks(lines)) if begin is None else []
    passes = [] if long else _printed_passes(lines, tables)
    if not long and (found := [*tool_csv(lines), *marked(lines), *among, *passes]):
        plainer = (
            without_asides(without_fillers(with_labels_in_words(each, calls=True)), learned=False)
            for each in found
        )
        return [upright(with_second_heads(pointed(each))) for each in plainer]
    whole = _split(lines, tuples_apart(begin)) if begin is not None else None
    called = whole is not None and any(
        _columns(lines, shaped(whole), each, _above(lines, whole, each), lambda: "")
        for each in tables
    )
    return list(map(with_second_heads, delimited(lines, named=False))) if called else []


def _printed_passes(lines: Sequence[Line], tables: Sequence[CsvTable]) -> list[Grid]:
    """The calls of attention that a loop printed line by line, or those of operators by name."""
    found = list(printed_passes(lines)) if "kv_seq" in fields(tables[0].schema) else []
    if "operator" in fields(tables[0].schema):
        found = [each for each in printed_passes(lines) if each.header()[0] == "operator"]
    return found


_IN_A_UNIT = re.compile(r"([0-9][0-9.,]*) ?([A-Za-zµμ]+(?:/[A-Za-z]+)*)")


def _with_units(grid: Grid) -> Grid:
    """The grid with a unit that every cell of a column prints in its label: `10.3 us` below `Time`
    is 10.3 below `Time (us)`. Sizes keep theirs: those differ from row to row."""
    if grid.labels or not grid.heads:
        return grid
    told: dict[int, str] = {}
    for at, label in enumerate(grid.header()):
        cells = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        found = [_IN_A_UNIT.fullmatch(cell) for cell in cells if any(map(str.isdigit, cell))]
        units = list(dict.fromkeys(each[2] if each else "" for each in found))
        sized = SIZED.fullmatch(plain(label))
        if (sized is None or not _is_unit(sized[2])) and (
            _of_one_quantity(units) or (units == ["T"] and "TFLOP" in label.upper())
        ):
            told[at] = units[0]
    if not told:
        return grid

    def bare(row: GridRow) -> GridRow:
        parts = [_IN_A_UNIT.fullmatch(plain(cell.text)) for cell in row.cells]
        cells = tuple(
            cell._replace(text=part[1]) if part and part[2] == told.get(at) else cell
            for at, (cell, part) in enumerate(zip(row.cells, parts, strict=True))
        )
        return replace(row, cells=cells)

    head = grid.heads[-1]
    labels = tuple(
        cell._replace(text=_in_unit(plain(cell.text), told[at])) if at in told else cell
        for at, cell in enumerate(head.cells)
    )
    return replace(grid, heads=(*grid.heads[:-1], replace(head, cells=labels)),
                   rows=tuple(map(bare, grid.rows)))  # fmt: skip


def _is_unit(text: str) -> bool:
    """Whether what a label has in brackets says the unit of its column, or more of it than a name:
    of a letter, `throughput (p50)`, or of a size nothing is known."""
    return unit(text) is not None or text in BANDWIDTH or not _A_REMARK.fullmatch(text)


_A_REMARK = re.compile(r"(?![mMGKTgk]i?[bB]\b|[a-zA-Z]\b|bytes)[A-Za-z0-9][\w .+/-]{1,30}")


def _of_one_quantity(units: Sequence[str]) -> bool:
    """Whether cells all print a unit of bandwidths or times, or of rates; of several, as fast calls
    are in GFLOPS and faster ones in TFLOPS, all of one quantity."""
    if len(units) == 1 and units[0] in BANDWIDTH:
        return True
    measures = [unit(name) for name in units]
    quantities = {each.si if each else "" for each in measures}
    small = len(units) == 1 or any(each and each.scale != 1.0 for each in measures)
    return len(quantities) == 1 and quantities <= {"s", "flop/s"} and small


def _in_unit(label: str, name: str) -> str:
    """The label of a column whose cells print their unit: a speed in ms is a time."""
    if normalise(label) == normalise(name) or name == "T":
        return label  # `87.8T` below `TFLOPS`
    measure = unit(name)
    timed_by_word = normalise(label) in _SPEEDS and measure is not None and measure.si == "s"
    return f"{'time' if timed_by_word else label} ({name})"


_SPEEDS = {"speed", "perf", "performance", "result", "measured", "value"}


def _of_bench(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether a table stands under the sentence of a benchmark that has a format of its own."""
    near = lines[max(0, grid.begin - 3) : grid.begin]
    return any(re.search(r"\bover \S+ ranks \(", line.text) for line in near)


def _records(row: GridRow, columns: Sequence[Column], above: Mapping[str, Cell]) -> list[Record]:
    """The measurements of a row, those of one format, library and direction together."""
    if row.blank or row.one or len(row.cells) != len(columns) or sums_up(row, columns):
        return []
    above = said_by_row(row, columns, above)
    shared: dict[str, Cell] = {}
    own: Own = {}
    kept = list[tuple[str, str]]()
    for cell, column in zip(row.cells, columns, strict=True):
        text = plain(cell.text)
        if column.sizes:
            if not (said := _sizes(text, column.sizes, cell)):
                return []  # a size that is no number: nothing is known of the call
            shared |= said
        elif column.spec is None or not text:
            kept += [(column.label, text)] if column.label and text else []
            if column.label == "sub_label" and (dtype := format_named(text)):  # of a timer
                shared.setdefault("dtype", Cell(dtype, cell.line, cell.column))
        elif not column.spec.numeric:
            of_what = _OF_WHAT.fullmatch(text) if column.spec.name == "direction" else None
            word = of_what[1] if of_what else _worded(text, column)
            shared[column.spec.name] = Cell(word, cell.line, cell.column)
            kept += [(column.label or "gradient", of_what[2])] if of_what else []
        elif (value := _value(text, column, cell)) is None:
            if not says_how_fast(column.spec):
                return []
            _end(own, row, cell, column)
        elif says_how_fast(column.spec):
            _own(own, row, cell, column).cells.setdefault(column.spec.name, value)
        else:
            shared[column.spec.name] = value
    own = _that_say_something(own, row, columns, {*above, *shared})
    for key, record in own.items():
        _set_apart(record, key)
        record.cells = {**above, **shared, **record.cells}
        _by_whom(record, key)
        record.other += kept
    return _with_its_rate(list(own.values()))


def _worded(text: str, column: Column) -> str:
    """The word of a cell; of a switch as all documents have it: `y`, `causal` and `1` are True."""
    if column.spec is None or column.spec.terminal != "BOOL":
        return _IN_OUT_SUM.sub(r"\1", text)
    masked = OF_A_MASK.fullmatch(text)
    if masked is not None:
        return str(masked["yes"] is not None)
    return {"y": "True", "t": "True", "1": "True", "n": "False", "f": "False", "0": "False"}.get(
        text.casefold(), text
    )


Own = dict[tuple[tuple[str, str], ...], Record]
"""The differences of the calls of a row, and each of them."""


def _own(own: Own, row: GridRow, cell: GridCell, column: Column) -> Record:
    """The call of a row that a cell is of."""
    key = tuple(sorted(column.aside.items()))
    place = (cell.line, cell.column) if key else (row.line.number, row.line.column)
    return own.setdefault(key, Record(place[0], {}, place[1]))


def _end(own: Own, row: GridRow, cell: GridCell, column: Column) -> None:
    """Put what happened instead of a measurement into the call of a row that a cell is of."""
    if said := ended(plain(cell.text)):
        at = Cell(said, cell.line, cell.column)
        _own(own, row, cell, column).cells.setdefault("outcome", at)


def _with_their_memory(own: Own, *, of_all: bool) -> None:
    """Put memory and bandwidth of a kernel into its one call, whose time says a pass beside it; of
    a product or of attention those of the row too, whose one call says more."""
    aside = {"memory", "bandwidth", "outcome"}
    for key in [each for each, record in own.items() if record.cells.keys() <= aside]:
        calls = [each for each in own if {*key} < {*each} and not own[each].cells.keys() <= aside]
        if (
            (key or of_all)
            and len(calls) == 1
            and not own[key].cells.keys() & own[calls[0]].cells.keys()
        ):
            record = own.pop(key)
            own[calls[0]].cells = record.cells | own[calls[0]].cells


_OF_ONE_CALL = {"m", "heads", "head_dim"}
"""Sizes of products and of attention, of which each row is one call or one for each pass."""


def _that_say_something(own: Own, row: GridRow, columns: Sequence[Column], known: Set[str]) -> Own:
    """The calls of a row that were measured, or of which something says why they were not."""
    _with_their_memory(own, of_all=bool(known & _OF_ONE_CALL))
    told = {key: each for key, each in own.items() if _says_something(each)}
    if not told and (why := _why(row, columns)):
        told[()] = Record(row.line.number, {"outcome": why}, row.line.column)
    return told


def _why(row: GridRow, columns: Sequence[Column]) -> Cell | None:
    """Why a row holds no measurement, as a column that says how calls ended has it."""
    if any(each.aside for each in columns if each.spec and says_how_fast(each.spec)):
        return None  # of one of several
    for cell, column in zip(row.cells, columns, strict=True):
        if column.spec is None and normalise(column.label) in ENDS:
            said = ended(plain(cell.text))
            return Cell(said, cell.line, cell.column) if said else None
    return None


def _says_something(record: Record) -> bool:
    """Whether a call was measured, or says why it was not; what was measured had no other end."""
    ended_so = record.cells.pop("outcome", None)
    if any(name != "memory" and amount(cell) for name, cell in record.cells.items()):
        return True
    if ended_so is not None:
        record.cells["outcome"] = ended_so
        return True
    return any(map(amount, record.cells.values()))


_IN_OUT_SUM = re.compile(r"^(b?f(?:8|16|32|64)|i8|xf32)(?:_(?:b?f(?:8|16|32|64)|i8|i32|xf32)){2}$")
"""Formats of what is multiplied, of the result and of sums, as rocWMMA prints them."""


def _moved(record: Record) -> bool:
    """Whether a row is of the bytes that copies moved: they are no memory that was taken."""
    operator = record.cells.get("operator")
    copied = operator is not None and _COPIES.match(operator.text) is not None
    return copied and "time" not in record.cells


_COPIES = re.compile(r"\[?CUDA mem(?:cpy|set)\b", re.IGNORECASE)

_OF_WHAT = re.compile(
    r"(backward|bwd)[ _-]+(?:w\.?r\.?t\.? ?)?(inputs?|weights?|data|filters?)", re.I
)
"""A pass back and what it is the gradient of."""


def _with_its_rate(records: list[Record]) -> list[Record]:
    """The calls of a row; a rate of nobody named is of the one product whose time makes it."""
    alone = [r for r in records if "flops_rate" in r.cells and "kernel" not in r.cells]
    others = [r for r in records if "time" in r.cells and "flops_rate" not in r.cells]
    if len(alone) != 1 or "time" in alone[0].cells or not others or len(others) + 1 < len(records):
        return records
    rate, sizes = alone[0].cells["flops_rate"], alone[0].cells
    if not all(name in sizes for name in "mnk"):
        return records
    work = 2.0 * math.prod(float(sizes[name].text) for name in "bmnk" if name in sizes)
    made = [r for r in others if abs(amount(r.cells["time"]) * amount(rate) - work) <= NEAR * work]
    if len(made) != 1:
        return records
    made[0].cells["flops_rate"] = rate
    return others


NEAR = 0.005
"""How far a rate may be from its product over its time."""


def _calls(row: GridRow, columns: Sequence[Column], table: CsvTable) -> bool:
    """Whether an object has what is needed of a call of this kind: another may stand beside it."""
    own = {
        column.spec.name
        for cell, column in zip(row.cells, columns, strict=True)
        if column.spec is not None and cell.text
    }
    named = {column.spec.name for column in columns if column.spec is not None}
    return all(own & need for need in table.needs if named & need)


_DIRECTION = re.compile(r"(?:^|[\s_.-])(fwd|bwd|forward|backward)(?=$|[\s_.-])", re.IGNORECASE)


def _directed(grid: Grid, columns: Sequence[Column], records: Sequence[Record]) -> None:
    """Give calls the direction that the name of their operation ends with: `attention_bwd`."""
    named = {
        row.line.number: {m[1]: cell for m in _DIRECTION.finditer(plain(cell.text))}
        for row in grid.rows
        for cell, column in zip(row.cells, columns, strict=False)
        if column.spec is None and _DIRECTION.search(plain(cell.text))
    }
    for record in records:
        told = named.get(record.line, {})
        if len(told) == 1 and "direction" not in record.cells:
            word, cell = next(iter(told.items()))
            record.cells["direction"] = Cell(word, cell.line, cell.column)
        whose = record.cells.get("kernel")
        if whose and not told and "direction" not in record.cells and "_" in whose.text:
            own = {each[1] for each in _DIRECTION.finditer(whose.text)}
            if len(own) == 1:  # `run_mha_fwd`, as programs call their functions
                record.cells["direction"] = whose._replace(text=own.pop())


_MASKED = re.compile(
    r"[ ,(_-]*\b(?P<no>non[- ]?|no |not )?causal(?: ?= ?(?P<said>True|False))?\b[ )]*", re.I
)


def _masked(records: Sequence[Record]) -> None:
    """Take the mask out of the names of kernels: beside `FA3 causal`, `FA3` has none."""
    told = {}
    for n, record in enumerate(records):
        cell = record.cells.get("kernel")
        found = _MASKED.search(cell.text) if cell else None
        if cell and found and (rest := _MASKED.sub(" ", cell.text).strip()):
            told[n] = not found["no"] and (found["said"] or "True").casefold() == "true"
            record.cells["kernel"] = cell._replace(text=rest)
            record.cells["causal"] = cell._replace(text=str(told[n]))
    for n, record in enumerate(records) if any(told.values()) else ():
        cell = record.cells.get("kernel")
        if n not in told and cell and (rest := _UNMASKED.sub("", cell.text)) not in ("", cell.text):
            told[n] = False  # `FA2 full` beside `FA2 causal`
            record.cells["kernel"] = cell._replace(text=rest)
            record.cells["causal"] = cell._replace(text="False")
        cell, held = record.cells.get("kernel"), record.cells.get("causal")
        if n not in told and cell and (not held or _is_above(held, record)):
            record.cells["causal"] = Cell(
                "False", cell.line, cell.column, value_origin="assumed", law=_BESIDE
            )


_UNMASKED = re.compile(r"[ ,(_-]{1,3}(?:full|dense|bidir(?:ectional)?|no ?mask)\)?$", re.IGNORECASE)

_BESIDE = "the column beside it says that its calls are causal"


def _is_above(cell: Cell, record: Record) -> bool:
    """Whether a cell is of a text above its row."""
    return cell.line != record.line


_WHO = re.compile(r"(?P<what>\S.*?) ?\((?P<who>[^()]+)\)")


def _called(records: Sequence[Record]) -> None:
    """Take operators out of the names of kernels, where all say both: `RMSNorm (ours)`."""
    cells = [record.cells.get("kernel") for record in records]
    found = [_WHO.fullmatch(cell.text) if cell else None for cell in cells]
    parts = [each for each in found if each and names_operator(each["what"])]
    if len(parts) < len(records) or any("operator" in record.cells for record in records):
        return
    for record, cell, each in zip(records, cells, found, strict=True):
        if cell and each:
            record.cells["operator"] = cell._replace(text=each["what"])
            record.cells["kernel"] = cell._replace(text=each["who"])


def _called_alike(records: Sequence[Record]) -> None:
    """Give calls that name no operator the one that the names of kernels say, where these name no
    other and every call stands beside another of the same sizes whose kernel says it: those that
    are compared with `torch.softmax` compute it, too."""
    if not records or any(record.cells.keys() & {"operator", "direction"} for record in records):
        return
    told = dict[str, Cell]()
    sizes = dict[tuple[tuple[str, str], ...], bool]()
    for record in records:
        cell = record.cells.get("kernel")
        word = operator_in(cell.text) if cell and cell.value_origin == "printed" else None
        if cell and word:
            told.setdefault(spelled(word), cell._replace(text=word))
        same = tuple((name, each.text) for name, each in sorted(record.cells.items())
                     if name not in _OF_A_CALL and each.line == record.line)  # fmt: skip
        same += tuple(each for each in record.other if each[1].isdecimal())
        sizes[same] = sizes.get(same, False) or word is not None
    several = len({record.cells["kernel"].text for record in records if "kernel" in record.cells})
    if several > 1 and len(told) == 1 and all(sizes.values()):
        cell = next(iter(told.values()))
        for record in records:
            law = "the name of a kernel beside it says what all of one size compute"
            record.cells["operator"] = cell._replace(value_origin="solved", law=law)


_OF_A_CALL = {"kernel", "time", "memory", "bandwidth", "flops_rate", "outcome", "gpu"}
"""Columns in which calls of the same sizes differ."""


def _twice_apart(grid: Grid, columns: Sequence[Column], records: Sequence[Record]) -> None:
    """Keep throughputs of all-reduces as they are printed, where those of the bus are (n - 1) / n
    of them: twice the bytes over the time, as DeepSpeed's benchmark counts, and no algorithm's."""
    labels = zip(grid.header(), columns, strict=True)
    of = next((text for text, each in labels if each.spec and each.spec.name == "algbw"), "")
    if "throughput" not in of.casefold():
        return
    for record in records:
        held = [record.cells.get(name) for name in ("ranks", "algbw", "busbw")]
        if record.cells["op"].text != "all_reduce" or None in held:
            continue
        ranks, rate, bus = (amount(cell) for cell in held if cell)
        if abs(bus * ranks - rate * (ranks - 1)) <= CLOSE * rate:
            record.other.append((of, record.cells.pop("algbw").text))


def _by_whom(record: Record, key: Sequence[tuple[str, str]]) -> None:
    """Give a collective the library that the label over it names."""
    named = [word for name, word in key if name == "column" and not _NO_LIBRARY.search(word)]
    if len(named) == 1 and "op" in record.cells and "library" not in record.cells:
        record.cells["library"] = Cell(named[0], record.line, record.column)


_NO_LIBRARY = re.compile(
    r"^[\d\W_]|\b(?:run|node|host|rank|gpu|job|trial)s? ?#?[0-9]", re.IGNORECASE
)
"""A side of a table that is no library's: a number, or one of several runs."""


def _set_apart(record: Record, key: Sequence[tuple[str, str]]) -> None:
    """Put into a record what the label of its column says beside the quantity."""
    for name, word in key:
        if name == "column":
            record.other.append((name, word))
        else:
            record.cells[name] = Cell(word, record.line, record.column)


def _sizes(text: str, letters: str, at: GridCell) -> dict[str, Cell]:
    text = text.replace(", None", "")  # TritonBench: no bias
    apart = text.strip("()[] ").split(",")
    whole = len(apart) == len(letters) and all(map(_NO_THOUSANDS.fullmatch, apart))
    numbers = apart if whole else re.findall(r"[0-9][0-9,]*", text)
    if letters == "mnk" and len(numbers) in (1, 2) and len({*numbers}) == 1:
        numbers = numbers[:1] * 3  # a square one
    if letters == "mkkn":
        pair = _OPERANDS.search(text)
        text, letters = "", "mkn"
        numbers = list(pair.groups()) if pair else []
    if len(numbers) != len(letters) or re.search("[A-WYZa-wyz.]", text):
        return {}
    return {
        letter: Cell(number.replace(",", "").strip(), at.line, at.column)
        for letter, number in zip(letters, numbers, strict=True)
    }


_NO_THOUSANDS = re.compile(r" ?[1-9][0-9]*")
"""One of several sizes between commas, which part no thousands: `4096,512,64`."""

_OPERANDS = re.compile(
    r"^\[(?:torch\.Size\(\[[0-9]+(?:, [0-9]+)?\]\), )?"
    r"torch\.Size\(\[([0-9]+), ([0-9]+)\]\), torch\.Size\(\[\2, ([0-9]+)\]\)(?:, |\]$)"
)
"""Sizes of both operands of a product, behind those of what is added."""


_LENGTHS = {"seq", "kv_seq"}
"""Lengths of sequences, whose k counts 1,024."""


_SPREAD = re.compile(r" ?\(?(?:±|\+/-) ?[0-9.]+ ?%?\)?$")
"""How far measurements lay apart, behind their mean."""


_COMPARED = re.compile(
    r"(?<=[0-9]) ?[(\[](?:about |approx\.? |[~≈] ?)?[+−–-]?[0-9]{1,6}(?:[.,][0-9]{1,6})? ?[%x×] ?"
    r"(?:slower|faster|better|worse|lower|higher|less|more|speed-?up|gain)?[)\]]$",
    re.IGNORECASE,
)
"""How a measurement compares with another one, behind it: `697.7 (~2% slower)`, `1.92 (1.4x)`."""


_APART = re.compile(
    r"[0-9]{1,3}(?:(?:[ \u00a0\u2009\u202f][0-9]{3})+|(?:['’][0-9]{3})+)(?:\.[0-9]+)?"
)
"""A number with its thousands apart: `24 571`, `24'571`."""


def _value(text: str, column: Column, at: GridCell) -> Cell | None:
    assert column.spec is not None
    scale = column.scale
    unit_behind = column.spec.unit == "B/s" and not NUMBER.fullmatch(text)
    if unit_behind and (behind := text.lstrip("0123456789.,").strip()):
        text, scale = text.removesuffix(behind).rstrip(), BANDWIDTH.get(behind, 0.0)
    if column.spec.unit in ("s", "flop/s") and (one := _IN_A_UNIT.fullmatch(text)):
        measure = unit(one[2])
        own = timed(one[2]) if column.spec.unit == "s" and not scale else None
        own = measure.scale if measure and measure.si == column.spec.unit else own
        text, scale = one[1], own or 0.0
    if column.spec.name in _LENGTHS and re.fullmatch("[0-9]{1,4}[kK]", text):
        return Cell(str(int(text[:-1]) * 1024), at.line, at.column)
    text = _SPREAD.sub("", text)
    text = _COMPARED.sub("", text) if says_how_fast(column.spec) else text
    found = NUMBER.fullmatch(
        text if _APART.fullmatch(text) is None else re.sub(r"[\s'’]", "", text)
    )
    if found is None or (found[2] and column.spec.unit != "B") or not (scale or found[2]):
        return None
    digits = found[1].replace(",", "")
    if len(digits.partition(".")[0]) > MOST_DIGITS:
        return None
    if column.spec.kind == "exact" and not column.spec.quantity and float(digits).is_integer():
        digits = str(int(float(digits)))  # data frames print counts as 1024.0
    if found[2]:
        place = BY_PLACE[found[2].replace("i", "")]
        if column.spec.quantity == "memory" and found[2].endswith("B") and "i" not in found[2]:
            return Cell(digits, at.line, at.column, 1000.0**place)
        size = Cell(str(round(float(digits) * 1024**place)), at.line, at.column)
        if "i" in found[2] or not place:
            return size
        return size._replace(value_origin="solved", law="powers of two, counted in 1,024s")
    made = Cell(digits, at.line, at.column, scale)
    return made._replace(value_origin=column.origin, law=column.law) if column.law else made


def _lines(
    lines: Sequence[Line], grid: Grid, records: Sequence[Record], ours: Sequence[GridRow]
) -> set[int]:
    here = lines[grid.begin : grid.end]
    if grid.syntax == "json" and len(ours) < len(grid.rows):  # objects of other calls between these
        begins = sorted(row.line.number for row in grid.rows)
        every = {row.line.number for row in ours}
        return {
            line.number for line in here
            if (at := bisect_right(begins, line.number)) and begins[at - 1] in every
        }  # fmt: skip
    if grid.syntax in MARKED_UP:
        others = {row.line.number for row in grid.rows} - {row.line.number for row in ours}
        return {line.number for line in here if line.text.strip()} - others
    head = {row.line.number for row in grid.heads} | {lines[grid.begin].number}
    rule = {lines[grid.begin + 1].number} if grid.syntax == "markdown" else set()
    return head | rule | {record.line for record in records}
