"""Columns of tables of kernels: what the label of each says of a call, and in which unit.

In: a grid and the kind of table. Out: a `Column` for each of its labels; none where they do not
name what is needed of a call. A label that names more beside what was measured is a measurement of
its own in each row. Units that no label says are what the numbers of a row prove, or unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from fractions import Fraction

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import LONGEST, Grid, GridRow
from assay.ingest.grids.second_heads import numbered_in_turn
from assay.ingest.kernels.collective_ranks import LAW as RATIO_LAW
from assay.ingest.kernels.collective_ranks import agrees, told_by_ratio
from assay.ingest.kernels.kernel_headings import heading_above
from assay.ingest.kernels.kernel_labels import (
    LOOSE,
    SIZED,
    Column,
    column_named,
    measured_as,
    placed,
    says_how_fast,
    size_with_unit,
)
from assay.ingest.kernels.kernel_rates import (
    BARE_NUMBER,
    LIBRARY,
    LONGEST_NAME,
    RATIO,
    STATISTICS,
    TYPE,
    beside_libraries,
    by_devices,
    in_proved_ratios,
    named_behind,
    named_sides,
    of_a_type,
    of_cuda,
    of_curve,
    of_devices,
    of_formats,
    of_groups,
    of_kernels,
    of_linear_layers,
    of_networks,
    of_operations,
    of_programs,
    of_squares,
    of_terse_rates,
    of_their_passes,
    of_their_times,
    of_types,
    of_wholes,
    over_time,
    sized_once,
    sizes_in_labels,
    times_of_rates,
    with_their_rates,
    works_apart,
)
from assay.ingest.kernels.settings_around import sizes_named
from assay.ingest.kernels.units_said import measured_above
from assay.ingest.lines.lark import Token, parse_line
from assay.ingest.numbers.printed import whole
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import by_label, fields
from assay.ingest.schema.record import Cell, Diagnostic, Line, Schema, Span
from assay.ingest.tables.csv_sections import (
    CsvTable,
    of_one_statistic,
    of_whoever,
    timed,
)
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import meaning, normalise

NUMBER = re.compile(
    r"((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([KMGT](?:i?B)?|B)?"
)

BY_PLACE = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4, "K": 1, "M": 2, "G": 3, "T": 4}

OF_RUNS = {"layers", "hidden", "gpus", "nodes", "tp", "pp", "micro_batch", "global_batch", "model",
           "parameters", "model_size"}  # fmt: skip
"""Columns of training runs: a time beside them is no kernel's."""


def bare_column(lines: Sequence[Line], grid: Grid, schema: Schema) -> Column | None:
    """The column of all bare numbers of a table: in the unit that it gives, or the text above."""
    columns = fields(schema)
    if grid.series:
        scale = timed(grid.series)
        return Column(columns["time"], scale) if scale and "time" in columns else None
    told = measured_above(lines, grid, schema)
    if told is None:
        return None
    return Column(columns[told.name], told.scale, law=told.law, origin="assumed")


def columns_of(
    grid: Grid,
    table: CsvTable,
    above: Mapping[str, Cell],
    order: Callable[[], str],
    bare: Column | None = None,
    *,
    curves: bool = False,
    products: bool = False,
) -> list[Column]:
    """The columns of a table; none where they do not name what is needed of a call. A column that
    is told apart and says no more is of what the text above says, `bare`; and of `curves` every
    column that is none of the call's, behind those. Sizes of matrices are square `products`' where
    the text is about these."""
    columns = _of_labels(grid, table.schema, bare)
    if bare is not None:  # `time` below a line that says the unit of all times
        columns = [replace(bare, aside=each.aside) if not each.scale and each.spec == bare.spec
                   else each for each in columns]  # fmt: skip
    if any(column.spec and column.spec.name == "time" and column.scale for column in columns):
        columns = [Column() if each.spec and each.spec.name == "time" and not each.scale else each
                   for each in columns]  # fmt: skip
    if curves:
        columns = _curves(
            grid, columns, bare, table.schema, along="operator" in fields(table.schema)
        )
    columns = _of_lengths(
        grid, _of_images(grid, of_types(grid, columns, table.schema)), above, table.schema
    )
    columns = _of_mamf(grid, _of_statistics(grid, columns, table.schema), table.schema)
    columns = _of_osu(grid, _of_vidur(grid, columns, table.schema), table.schema)
    if "busbw" in fields(table.schema):
        columns = _of_collectives(grid, columns, table.schema, above, bare)
    if "gpu" in fields(table.schema):
        columns = of_devices(grid, columns, table.schema)
    columns = of_formats(
        grid, of_wholes(grid, of_kernels(grid, columns, table.schema), table.schema), table.schema
    )
    columns = named_behind(grid, columns, table.schema)
    columns = of_terse_rates(grid, of_cuda(grid, columns, table.schema), table.schema)
    columns = _beside_sides(times_of_rates(grid, columns, table.schema), table.schema)
    columns = of_their_passes(grid, with_their_rates(columns, table.schema))
    columns = of_groups(grid, columns, table.schema)
    columns = of_linear_layers(grid, of_squares(grid, columns, table.schema), table.schema)
    if bare is not None:
        columns = named_sides(grid, columns, bare, table.schema)
        columns = beside_libraries(grid, columns, bare, table.schema)
        columns = in_proved_ratios(grid, columns, bare, table.schema)
    columns = works_apart(grid, sizes_in_labels(grid, columns, table.schema, bare))
    if len(SIZES_OF_A_CALL & {*above, *(each.spec.name for each in columns if each.spec)}) > 1:
        columns = _named_times(grid, columns, table.schema)
    if "m" in fields(table.schema):
        columns = _in_order(grid, columns, order, products=products)
    columns = _of_names(grid, columns, table.schema, alone="m" in above)
    held = [column.spec.name for column in columns if column.spec and not column.aside]
    held += [letter for column in columns for letter in dict.fromkeys(column.sizes)]
    measured = {
        column.spec.name for column in columns if column.spec and says_how_fast(column.spec)
    }
    called = any(each <= set(held) for each in _CALLS) or (curves and measured == {"bandwidth"})
    called |= any("op" in column.aside for column in columns)
    called |= bool({"algbw", "busbw"} & measured)  # which no run has, on however many nodes
    # no run is told by these, beside its layout or not
    if len(held) != len(set(held)) or (not called and _of_runs(grid, table.schema)):
        return []
    every = {*held, *(column.spec.name for column in columns if column.spec)}
    every |= _said_of_all(grid, columns, above, {*held})
    every |= {name for column in columns for name in column.aside if name in _SAID_BY_LABELS}
    every |= {"kernel"} if _by_passes(grid, columns) or _of_kernels_alone(columns) else set()
    sized = {column.spec.name for column, label in zip(columns, grid.header(), strict=True)
             if column.spec and len(normalise(plain(label))) > 1}  # fmt: skip
    sized |= {name for column in columns for name in column.aside}
    every |= {"heads"} if "head_dim" in {*above, *sized} else set()  # of a width that is not said
    every |= {"heads"} if _attends(grid, columns, sized, table.schema) else set()
    every |= {"bytes"} if every & {"busbw", "algbw"} else set()  # of a message that is not said
    if "operator" in above and not _of_a_heading(columns, {*held, *(every - above.keys())}):
        every -= {"operator"}
    return columns if all(every & need for need in table.needs) else []


def _of_collectives(
    grid: Grid,
    columns: Sequence[Column],
    schema: Schema,
    above: Mapping[str, Cell],
    bare: Column | None,
) -> list[Column]:
    """Columns with all that labels of collectives alone say."""
    told = [bare if bare and not each.scale and each.spec == bare.spec else each
            for each in columns]  # fmt: skip
    told = of_networks(grid, _of_nodes(grid, told, schema, above), schema)
    told = of_programs(grid, sized_once(of_operations(grid, told, bare, schema)), bare, schema)
    return by_devices(of_their_times(grid, told, schema, above), schema)


_SAID_BY_LABELS = {"operator", "op", "seq", "heads", "kv_heads", "head_dim", "m", "n", "k"}
"""Sizes and names that a call needs, and that labels beside its time or rate may say."""

_NODES = {"nodes", "numnodes", "nnodes", "nodecount", "numberofnodes", "node", "hosts", "servers"}

_OF_NODES = "nodes times the ranks of each"


def _of_nodes(
    grid: Grid, columns: Sequence[Column], schema: Schema, above: Mapping[str, Cell]
) -> list[Column]:
    """Columns of collectives with the one of nodes as that of ranks, where the text above says how
    many each of them has and no column says how many there are."""
    made = list(columns)
    held = {each.spec.name for each in columns if each.spec} | {w for c in columns for w in c.aside}
    places = [at for at, label in enumerate(grid.header())
              if columns[at] == Column() and normalise(plain(label)) in _NODES]  # fmt: skip
    texts = [plain(row.cells[at].text) for at in places for row in grid.rows if at < len(row.cells)]
    each_has = above.get("ranks_per_node")
    if each_has is None or "ranks" in held or len(places) != 1:
        return made
    if all(map(str.isdecimal, texts)) and len({*texts}) == len(texts) > 1:
        law, scale = _OF_NODES, float(each_has.text)
        made[places[0]] = Column(fields(schema)["ranks"], scale, law=law)
    return made


def _said_of_all(
    grid: Grid, columns: Sequence[Column], above: Mapping[str, Cell], held: Set[str]
) -> Set[str]:
    """Facts that the text above says of all rows: not who, and of nobody knows what; nor how many
    ranks where rows are of different numbers of nodes."""
    several = "ranks" not in held and _on_several_nodes(grid, columns)
    return above.keys() - {"kernel", *(["ranks"] if several else [])}


def _on_several_nodes(grid: Grid, columns: Sequence[Column]) -> bool:
    """Whether rows are of different numbers of nodes, which are as many ranks in none of them."""
    for at, label in enumerate(grid.header()):
        if columns[at] == Column() and normalise(plain(label)) in _NODES:
            texts = {plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)}
            return len(texts) > 1 and all(map(str.isdecimal, texts))
    return False


def _of_labels(grid: Grid, schema: Schema, bare: Column | None) -> list[Column]:
    """The column of each label by itself; of those that name who computes one."""
    labels = [plain(label) for label in grid.header()]
    columns = [placed(label, schema, bare) for label in labels]
    named = of_whoever(labels, [each.spec for each in columns])
    alone = [None if each.aside else spec for each, spec in zip(columns, named, strict=True)]
    best = of_one_statistic(labels, alone)
    named = [spec if each.aside else one
             for each, spec, one in zip(columns, named, best, strict=True)]  # fmt: skip
    return [each if spec is each.spec else Column()
            for each, spec in zip(columns, named, strict=True)]  # fmt: skip


def _in_order(
    grid: Grid, columns: Sequence[Column], order: Callable[[], str], *, products: bool
) -> list[Column]:
    """Columns with those of three sizes together in the order that a document says, or in any where
    all are square."""
    made = list(columns)
    for at, label in enumerate(grid.header()):
        name = normalise(plain(label))
        if columns[at].sizes:
            continue  # as times and rates prove
        if name in _UNORDERED or (products and name in SQUARES):
            in_order = order() if len(set(order())) == 3 else ""
            square = _all_square(grid, at) or (products and _squares(grid, at))
            made[at] = Column(sizes=in_order or ("mnk" if square else ""))
        elif name == "sizedetail":  # FlagGems: `torch.Size` of both operands
            made[at] = Column(sizes="mkkn")
    return made


def _by_passes(grid: Grid, columns: Sequence[Column]) -> bool:
    """Whether times stand side by side under who computed them, beside a column of passes: nothing
    but calls has both."""
    named = {each.aside["kernel"] for each in columns if "kernel" in each.aside}
    places = [at for at, each in enumerate(columns) if each.spec and each.spec.name == "direction"]
    if len(named) <= 1 or len(places) != 1:
        return False
    texts = [plain(row.cells[places[0]].text) for row in grid.rows if len(row.cells) == grid.width]
    return bool(texts) and all(map(_PASS.match, texts))


def _of_kernels_alone(columns: Sequence[Column]) -> bool:
    """Whether all times and rates are of kernels that their labels name, some with their pass, or
    libraries among them with bandwidths and times of millionths of a second: so are calls alone."""
    measured = [each for each in columns if each.spec is not None and says_how_fast(each.spec)]
    named = {each.aside.get("kernel", "") for each in measured}
    if not measured or "" in named or any(map(_NETWORKS.search, named)):
        return False
    if any("direction" in each.aside for each in measured):
        return True
    short = all(each.spec and (each.spec.name == "bandwidth" or each.scale <= MICRO)
                for each in measured)  # fmt: skip
    return short and len(named) > 1 and any(map(LIBRARY.search, named))


_NETWORKS = re.compile(
    r"ccl|(?<![a-z])(?:mpi|gloo|uc[cx]|ring|tree|nvls|vllm|sglang|t(?:ensor)?rt-?llm)",
    re.IGNORECASE,
)
"""Libraries of collectives, whose calls are of several ranks, and of whole models."""

MICRO = 1e-6
"""Seconds: no run says its times in so small a unit."""

_PASS = re.compile(r"(?:fwd?|bwd?|forward|backward|both)\b", re.IGNORECASE)


_ATTENTION = re.compile(
    r"att(?:entio)?n|sdpa|flash|(?<![a-z])fa-?[1-4](?![a-z0-9])|xformers", re.IGNORECASE
)

_BASELINE = re.compile(
    r"(?:(?:naive|standard|vanilla|baseline|eager|py)?torch(?:\.compile)?|naive|standard|vanilla"
    r"|baseline|eager|ours?|our kernel|custom|triton|cuda|reference|native|math|cudnn|mine|this"
    r"|(?:mem(?:ory)?[-_ ]?)?eff(?:icient)?|compiled?|[ (),+-])+",
    re.IGNORECASE,
)
"""A name of who computes attention beside others that name it."""


def _attends(grid: Grid, columns: Sequence[Column], sized: Set[str], schema: Schema) -> bool:
    """Whether a table is of attention whose heads nothing says: ways to compute it, a mask, or
    lengths of queries beside those of keys or beside heads of keys, all by whole words."""
    if "kv_seq" not in fields(schema):
        return False
    lengths = "seq" in sized and bool({"kv_seq", "kv_heads"} & sized)
    return lengths or _of_attention(columns, schema) or _of_masks(grid, columns)


def _of_attention(columns: Sequence[Column], schema: Schema) -> bool:
    """Whether all times and rates of a table are of ways to compute attention, named side by side,
    so that a length of sequences alone says what was called."""
    named = [each.aside.get("kernel", "") for each in columns
             if each.spec is not None and says_how_fast(each.spec)]  # fmt: skip
    if "kv_seq" not in fields(schema) or len({*named}) <= 1:
        return False
    return _ways_to_attend(named)


_OF_MODELS = re.compile(
    r"\b(?:models?|layers?|params?|parameters|steps?|epochs?|iterations?|optimi[sz]er|loss|mfu|gpus"
    r"|zero|fsdp|ddp|checkpoint\w*|gpt\S*|llama\S*|bert\S*|qwen\S*|[0-9.]+[bm])\b",
    re.IGNORECASE,
)
"""Found where a table is of whole models, whatever computes the attention in them."""


def of_ways_to_attend(lines: Sequence[Line], grid: Grid, schema: Schema) -> bool:
    """Whether the rows of a table are calls of attention, and their rate of tokens is one of these:
    ways to compute it beside a length and a time, below a line that says the size of heads."""
    labels = [plain(label) for label in grid.header()]
    told = [measured_as(label, schema) for label in labels]
    held = {each.spec.name for each in told if each is not None and each.spec is not None}
    timed_so = any(each and each.spec and each.spec.name == "time" and each.scale for each in told)
    if not timed_so or "seq" not in held or any(map(_OF_MODELS.search, labels)):
        return False
    heading = heading_above(lines, grid)
    near = [heading] if heading else []
    near += [line for line in lines[max(0, grid.begin - CLOSE_ABOVE) : grid.begin]
             if heading is None or line.number > heading.number]  # fmt: skip
    texts = [line.text for line in near if len(line.text) <= LONGEST]
    sized = any(name == "head_dim" for text in texts for name, _ in sizes_named(text))
    if not sized or any(map(_OF_MODELS.search, texts)):
        return False
    columns = ([plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
               for at in range(len(labels)))  # fmt: skip
    return any(_ways_to_attend(names) for names in columns)


CLOSE_ABOVE = 4
"""Lines above a table that are of it alone."""


def _ways_to_attend(names: Sequence[str]) -> bool:
    """Whether texts name ways to compute attention, two or more."""
    known = [_ATTENTION.search(name) is not None for name in names]
    return (
        any(known)
        and len({*names}) > 1
        and all(told or _BASELINE.fullmatch(name) for told, name in zip(known, names, strict=True))
    )


def _of_a_heading(columns: Sequence[Column], held: Set[str]) -> bool:
    """Whether a table under the name of an operator is of its calls: it says who computed them or
    names itself what was; or sizes beside times of a kernel, or times side by side."""
    if held & {"operator", "kernel", "experts"}:
        return True
    times = [each for each in columns if each.spec is not None and says_how_fast(each.spec)]
    of_calls = all(each.scale < 1.0 for each in times if each.spec and each.spec.unit == "s")
    beside = sum(bool(each.aside) for each in times) > 1
    return of_calls and (beside or bool(held & (SIZES_OF_A_CALL | {"seq", "batch"})))


def _curves(
    grid: Grid, columns: Sequence[Column], bare: Column | None, schema: Schema, *, along: bool
) -> list[Column]:
    """Columns whose labels are names of kernels, behind the last that says what was called; where
    that may be anything, the first column is what the curves go `along`. They are of the unit
    behind their name, or of what the text above says."""
    made, cells = list(columns), grid.heads[-1].cells
    first = next((at for at, label in enumerate(grid.header()) if label.strip()), len(columns))
    last = max((at for at, column in enumerate(columns) if column.spec and not column.aside
                and not says_how_fast(column.spec)),
               default=first if along else len(columns))  # fmt: skip
    for at, label in enumerate(grid.header()):
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        whole = not grid.series and all(re.fullmatch(r"[0-9]*(?:\.0*)?", text) for text in texts)
        named = bool(grid.series) and cells[at].column == cells[0].column  # what a row's label says
        if at <= last or columns[at].spec is not None or whole or named or RATIO.search(label):
            continue
        sized = SIZED.fullmatch(plain(label))
        told = measured_as(sized[2], schema) if sized and bare is None else bare
        if told is not None and told.spec is not None and says_how_fast(told.spec):
            remark = sized is None or measured_as(sized[2], schema) is None  # `Torch (jit)`
            name = plain(label) if remark or sized is None else sized[1]
            made[at] = replace(told, aside=of_curve(name, schema))
    return made


_LENGTHS = {"l", "n", "t", "len", "length", "tokens", "ctx", "context", "contextlen"}
"""Labels of lengths of sequences where the text above says that calls are of attention."""


def _of_lengths(
    grid: Grid, columns: Sequence[Column], above: Mapping[str, Cell], schema: Schema
) -> list[Column]:
    """Columns of attention whose heads and their size the text above says, with the one of whole
    numbers under a letter or a word of lengths as that of sequences."""
    own = fields(schema)
    made = _of_both_lengths(grid, columns, above, schema)
    held = {column.spec.name for column in made if column.spec}
    rated = "flops_rate" in held or _of_attention(columns, schema)  # and no graph of causes
    told = {"heads", "head_dim"} <= {*above, *held} or (rated and _of_masks(grid, columns))
    if "kv_seq" not in own or "seq" in held or not told:
        return made
    if {"m", "k"} <= {normalise(plain(label)) for label in grid.header()}:
        return made  # sizes of products
    places = [at for at, label in enumerate(grid.header())
              if columns[at] == Column() and normalise(plain(label)) in _LENGTHS]  # fmt: skip
    texts = [plain(row.cells[at].text) for at in places for row in grid.rows if at < len(row.cells)]
    if len(places) == 1 and all(map(_LENGTH.fullmatch, texts)):
        made[places[0]] = Column(own["seq"])
    return made


_BOTH_LENGTHS = (("s0", "s1"), ("s1", "s2"), ("nq", "nk"), ("nq", "nkv"), ("tq", "tk"), ("q", "kv"),
                 ("queries", "keys"))  # fmt: skip
"""Labels of how many queries and how many keys a call has, which mean these together alone."""


def _of_both_lengths(
    grid: Grid, columns: Sequence[Column], above: Mapping[str, Cell], schema: Schema
) -> list[Column]:
    """Columns of attention, the size of whose heads is said, with those of queries and of keys
    under two letters with numbers, `S0 | S1`, or two words that mean these beside each other."""
    made, own = list(columns), fields(schema)
    labels = [normalise(plain(label)) for label in grid.header()]
    held = {column.spec.name for column in columns if column.spec}
    if "kv_seq" not in own or "head_dim" not in {*above, *held} or {"seq", "kv_seq"} & held:
        return made
    for names in _BOTH_LENGTHS:
        places = [at for at, label in enumerate(labels) if label in names]
        if [labels[at] for at in places] != [*names] or any(made[at] != Column() for at in places):
            continue
        texts = [plain(row.cells[at].text) for row in grid.rows if len(row.cells) == grid.width
                 for at in places]  # fmt: skip
        if texts and all(map(_LENGTH.fullmatch, texts)):
            for name, at in zip(("seq", "kv_seq"), places, strict=True):
                made[at] = Column(own[name])
            break
    return made


def _of_masks(grid: Grid, columns: Sequence[Column]) -> bool:
    """Whether a column says of each call whether its mask is causal, which attention alone has,
    beside the time or the rate of a call."""
    measured = {each.spec.unit for each in columns if each.spec and says_how_fast(each.spec)}
    places = [at for at, each in enumerate(columns) if each.spec and each.spec.name == "causal"]
    if len(places) != 1 or not measured & {"s", "flop/s"}:
        return False
    texts = {plain(row.cells[places[0]].text).casefold() for row in grid.rows
             if len(row.cells) == grid.width}  # fmt: skip
    return bool(texts) and texts <= _YES_OR_NO


_YES_OR_NO = {"true", "false", "yes", "no", "0", "1", "✓", "✗"}


_LENGTH = re.compile("[0-9]+[kK]?|[0-9]{1,3}(?:,[0-9]{3})+")


def _of_images(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Columns of sizes, of which `H` beside `W` is a height, and beside the size of a head a number
    of these: no width of a layer; nor is `V` beside `K` one of a vocabulary."""
    labels = [plain(label) for label in grid.header()]
    others = [names for names in _OTHER_LETTERS if names <= {*labels}]
    free = {name for names in others for name in names} - {"D"}
    pairs = zip(labels, columns, strict=True)
    return [Column() if label in free else each for label, each in pairs]


_OTHER_LETTERS = ({"W", "H"}, {"H", "D"}, {"H", "K", "V"}, {"K", "V"})


_OF_VIDUR = re.compile(
    r"time_stats[./](\w+?)[./](median|mean|p50|avg|average)"
    r"(?:[ _.]?[(\[]?(s|ms|us|µs|ns)[)\]]?)?",
)


def _of_vidur(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of a table of vidur's profiler, which names its operators and seldom its units; of
    several numbers of one operator the median is its time.

    Source: github.com/microsoft/vidur, whose predictor takes `time_stats` for milliseconds and the
    `size` of a collective for bytes.
    """
    made, own = list(columns), fields(schema)
    labels = [plain(label) for label in grid.header()]
    named: dict[str, tuple[int, re.Match[str]]] = {}
    for at, label in enumerate(labels):
        found = _OF_VIDUR.fullmatch(label)
        if found and (found[1] not in named or _believed(found) < _believed(named[found[1]][1])):
            named[found[1]] = (at, found)
    several = len(named) > 1
    if not named or "time" not in own or (several and "operator" not in own):
        return made
    for name, (at, found) in named.items():
        aside = {"operator": name} if "operator" in own else {}
        law = "vidur's profiler counts milliseconds"
        made[at] = Column(own["time"], 1e-3, aside, law=law, origin="assumed")
        if scale := timed(found[3]) if found[3] else None:
            made[at] = Column(own["time"], scale, aside)
    if "bytes" in own and "size" in labels:
        law = "vidur's profiler counts a message in bytes"
        made[labels.index("size")] = Column(own["bytes"], 1.0, law=law, origin="assumed")
    return made


def _believed(found: re.Match[str]) -> int:
    """How far behind a statistic is that a label of vidur's profiler names."""
    return next(at for at, names in enumerate(_OF_SEVERAL) if found[2] in names)


def _of_osu(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of a table of the OSU micro-benchmarks of MPI, which never say a message's unit."""
    labels = [plain(label) for label in grid.header()]
    if "bytes" not in fields(schema) or labels[:2] != ["# Size", "Avg Latency(us)"]:
        return list(columns)
    law = "the OSU micro-benchmarks count a message in bytes"
    return [Column(fields(schema)["bytes"], law=law, origin="assumed"), *columns[1:]]


_OF_SEVERAL = (
    ("median", "p50"), ("mean", "avg", "average"), ("max", "best", "peak", "maximum"),
)  # fmt: skip
"""Words for one number of several calls, in the order in which they are believed."""


def _of_statistics(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of one rate of several calls each, of which one is taken: `mean_tflops`."""
    made, own = list(columns), fields(schema)
    if "flops_rate" not in own or any(c.spec and c.spec.unit == "flop/s" for c in columns):
        return made
    for names in _OF_SEVERAL:
        for at, label in enumerate(map(plain, grid.header())):
            words = re.split(r"[ _()\[\]]+", label.strip(")]"))
            rest = [word for word in words if word.casefold() not in names]
            measure = unit(rest[0]) if len(rest) == 1 and len(words) > 1 else None
            if measure is not None and measure.si == "flop/s" and columns[at].spec is None:
                made[at] = Column(own["flops_rate"], measure.scale)
                return made
    return made


def _of_mamf(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of a table of the best products that a search found, whose rate has no unit."""
    made, own = list(columns), fields(schema)
    held = {column.spec.name for column in columns if column.spec}
    places = [at for at, label in enumerate(grid.header()) if normalise(plain(label)) == "mamf"]
    if len(places) == 1 and "m" in own and "flops_rate" not in held:
        law = "the finder of maximum achievable matmul FLOPS counts TFLOP/s"
        made[places[0]] = Column(own["flops_rate"], 1e12, law=law, origin="assumed")
    return made


_WHO = {"implementation", "impl", "backend", "provider", "library", "variant", "version", "method",
        "algorithm", "approach", "candidate", "kernelversion", "kernelvariant"}  # fmt: skip
"""Labels of the names of those who compute a product."""


def _beside_sides(columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with that of kernels as the names of operators, where those who compute them stand
    side by side: `Kernel | PyTorch (us) | Triton (us)`."""
    named = [at for at, each in enumerate(columns) if each.spec and each.spec.name == "kernel"]
    told = {each.spec.name for each in columns if each.spec} | {w for c in columns for w in c.aside}
    sides = [each for each in columns if each.spec and "kernel" in each.aside]
    if len(named) != 1 or "operator" not in fields(schema) or "operator" in told or not sides:
        return list(columns)
    operator = replace(columns[named[0]], spec=fields(schema)["operator"])
    return [operator if at == named[0] else each for at, each in enumerate(columns)]


def _of_names(
    grid: Grid, columns: Sequence[Column], schema: Schema, *, alone: bool
) -> list[Column]:
    """Columns of products and of attention, or of passes side by side, with the one of names as
    that of who computes them, where no other is: `Implementation | M | N | K | ms`; the first,
    where all rows are of one product `alone`."""
    made = list(columns)
    told = {each.spec.name for each in columns if each.spec} | {w for c in columns for w in c.aside}
    passes = {each.aside["direction"] for each in columns if "direction" in each.aside}
    several = len(passes) > 1 and not alone
    sized = any(each.aside.keys() & _SAID_BY_LABELS for each in columns)
    attends = "kv_seq" in fields(schema) and {"seq", "heads", "head_dim"} <= told
    if not ("m" in fields(schema) or several or sized or attends) or {"kernel", "operator"} & told:
        return made
    bare = not plain(grid.header()[0]) and (sized or several)
    places = [at for at, label in enumerate(grid.header())
              if columns[at] == Column()
              and (normalise(plain(label)) in _WHO or ((alone or bare) and not at))]  # fmt: skip
    for at in places if len(places) == 1 else ():
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        if ((bare and not at) or attends) and any(map(_of_no_one, texts)):
            continue
        if _names_all(texts):
            made[at] = Column(fields(schema)["kernel"])
    return made


def _names_all(texts: Sequence[str]) -> bool:
    """Whether cells are names of whoever computes, versions that are numbered in turn among them:
    `1`, `2`, `3`, `cuBLAS`."""
    versions = numbered_in_turn(texts)
    return all(text in versions or _WORD.match(text) for text in texts)


_NO_ONE = re.compile(
    r"\W*(?:(?:non-?|not )?causal|full|dense|masked|bidirectional|prefill.*|decod.*|"
    r"(?:fwd|bwd|forward|backward)\b.*"
    r"|m[hlq]a|gqa.*|(?:mean|median|min|max|avg|average|total|sum|geo-?mean|speed-?up|ratio|peak"
    r"|theoretical|error|diff|change|delta|gain)\b.*|.*\b[0-9.]{1,8} ?[BMT]\b.*|.*[=%].*)\W*",
    re.IGNORECASE,
)
"""A name below no label that is of no one who computes: a mask, a model, what sums up others."""


def _of_no_one(text: str) -> bool:
    """Whether a name says a mask, a pass, a model, a format or a device, and no kernel."""
    if len(text) > LONGEST_NAME:
        return True
    device = only(text)
    whole = device is not None and device.end - device.start == len(text)
    return whole or _NO_ONE.fullmatch(text) is not None or of_a_type(text)


_CALLS = ({"m", "n", "k"}, {"tokens", "experts"}, {"seq", "heads", "kv_seq"},
          {"seq", "heads", "head_dim"}, {"seq", "heads", "causal"}, {"bytes", "busbw"},
          {"bytes", "algbw"})  # fmt: skip
"""Columns that tell a call, whatever stands beside them."""

SIZES_OF_A_CALL = {"tokens", "hidden", "ffn_hidden", "experts", "topk", "vocab"}
"""Columns of which two say what was called, so that each time beside them is an operator's."""


def _named_times(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with the operators that times are named by: `dispatch_transmit_us`."""
    made = list(columns)
    if "operator" not in fields(schema) or any(
        column.spec is not None and column.spec.name in ("operator", "time") for column in columns
    ):
        return made
    for at, label in enumerate(map(plain, grid.header())):
        if columns[at].spec is not None or not label.rstrip(")]").endswith("s"):
            continue
        tree = parse_line("operator_table", "time_cell", label, Span("", 1))
        parts = () if isinstance(tree, Diagnostic) else tree.children
        said = {part.type: str(part) for part in parts if isinstance(part, Token)}
        if said and not STATISTICS.search(said["OPERATOR"]):
            aside = {"operator": said["OPERATOR"]}
            made[at] = Column(
                fields(schema)["time"], timed(said["UNIT"].strip(" _([")) or 0.0, aside
            )
    return made


def _of_runs(grid: Grid, schema: Schema) -> bool:
    own = by_label(schema)
    labels = [plain(label) for label in grid.header()]
    own_labels = own.keys() | (LOOSE.keys() if "bytes" in fields(schema) else set())
    said = [meaning(label) for label in labels if normalise(label) not in own_labels]
    return any(each is not None and each.field in OF_RUNS for each in said)


def ranks_of_ratio(grid: Grid, schema: Schema, above: Mapping[str, Cell]) -> dict[str, Cell]:
    """How many ranks there were, where nothing says it, or another number, and the two bandwidths
    of every row do."""
    if "op" not in above or not {"algbw", "busbw"} <= set(fields(schema)):
        return {}
    columns = [column_named(plain(label), schema) for label in grid.header()]
    held = {column.spec.name: at for at, column in enumerate(columns) if column.spec}
    if "ranks" in held or not {"algbw", "busbw"} <= held.keys():
        return {}
    one, other = held["algbw"], held["busbw"]
    pairs = [(plain(row.cells[one].text), plain(row.cells[other].text))
             for row in grid.rows if len(row.cells) == len(columns)]  # fmt: skip
    op = above["op"].text
    told = whole(above["ranks"].text) if "ranks" in above else None
    if told is not None and agrees(op, told, pairs) is not False:
        return {}
    if not (ranks := told_by_ratio(op, pairs)):
        return {}
    head = grid.heads[-1].line
    return {
        "ranks": Cell(str(ranks), head.number, head.column, value_origin="solved", law=RATIO_LAW)
    }


_OF_RANKS = re.compile(
    r"(?:(?P<nodes>[0-9]{1,5})[ -]?nodes?)?[ ,]*\(?(?:(?P<ranks>[0-9][0-9,]*) ?"
    r"(?:x ?)?(?:[GNTX]PUs?|ranks?|devices?|cards?|chips?|GCDs?))?\)?",
    re.IGNORECASE,
)


def left_open(grid: Grid, schema: Schema, bare: Column | None = None) -> str:
    """Letters of the sizes of products that no column of a table has, which the text above may say
    of all rows: some beside columns of the others, or all where rows are of one call."""
    columns = [measured_as(label, schema) or column_named(label, schema, bare)
               for label in map(plain, grid.header())]  # fmt: skip
    columns = of_kernels(grid, of_devices(grid, columns, schema), schema)
    if any(column.sizes for column in columns):
        return ""
    held = {column.spec.name for column in columns if column.spec and not column.aside}
    if open_ := "".join(letter for letter in "mnk" if letter not in held):
        return open_ if len(open_) < len("mnk") or _of_one_call(grid, columns, schema) else ""
    return ""


def _of_one_call(grid: Grid, columns: Sequence[Column], schema: Schema) -> bool:
    """Whether the rows of a table differ in who computed them alone: names in front, behind their
    own number perhaps, and behind them rates, times beside those, what compares them and facts of
    named devices; or formats, with bare numbers."""
    labels = [plain(label) for label in grid.header()]
    texts = [[plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
             for at in range(len(labels))]  # fmt: skip
    if labels and _NUMBERED.fullmatch(labels[0]) and all(map(_ITS_NUMBER.fullmatch, texts[0])):
        labels, texts, columns = labels[1:], texts[1:], columns[1:]
    tiles = {at: each for at, label in enumerate(labels) if (each := _OF_A_TILE.fullmatch(label))}
    own = [at for at in range(len(labels)) if at not in tiles]
    if any(
        each["side"] for each in tiles.values()
    ):  # whatever tiles: each row is one way to compute the call
        labels, texts = [labels[at] for at in own], [texts[at] for at in own]
        columns = [columns[at] for at in own]
        if any(each.spec is not None and says_how_fast(each.spec) for each in columns[:1]):
            labels, texts, columns = ["", *labels], [[], *texts], [Column(), *columns]
    if len(labels) < len(("name", "rate")) or not _names_all([*filter(None, texts[0])]):
        return False
    first = measured_as(labels[0], schema)
    each_device = first is not None and first.spec is not None and first.spec.name == "gpu"
    rated = False
    for label, column, cells in zip(labels[1:], columns[1:], texts[1:], strict=True):
        told, named = column, _BEHIND_NAME.fullmatch(label)
        if told.spec is None and named:  # `MLX TFLOPS`
            told = column_named(named[1], schema)
        measured = told.spec is not None and says_how_fast(told.spec)
        rated |= measured and told.spec == fields(schema)["flops_rate"]
        if measured or RATIO.search(label) or (each_device and _OF_A_DEVICE.search(label)):
            continue
        shares = all(map(_A_SHARE.fullmatch, cells))
        if any(map(BARE_NUMBER.match, cells)) and not shares:
            return False
    return rated


_A_SHARE = re.compile(r"[0-9][0-9.]* ?[%％x×]|[-–—]?")
"""A number that compares, and is of no call: `76.5%`, `1.24x`."""


_OF_A_TILE = re.compile(
    r"(?P<side>(?:block|tile|thread|warp|cta|wg|group|split|b|t)[ _-]?(?:size[ _-]?)?"
    r"[mnk]|[mnk][ _-]?(?:tile|block))|(?:num|n)?[ _-]?(?:warps|stages|ctas|threads)"
    r"|(?:block|tile|cta|cluster)(?:[ _-]?(?:size|shape))?s?",
    re.IGNORECASE,
)
"""Labels of how a kernel parts a product: the side of a tile, `BLOCK_M`, `tile_n`, or what stands
beside one, `num_warps`; alone such a number may be of the machine."""

_NUMBERED = re.compile(
    r"#|no\.?|id|index|level|lvl|step|stage|rank|kernel ?(?:#|no\.?|id)|", re.IGNORECASE
)

_ITS_NUMBER = re.compile(r"[0-9]{1,2}[a-z]?|[-–—]|")
"""The label of the number of a kernel, in front of its name, and that number: `5a`."""

_BEHIND_NAME = re.compile(r"[A-Z][\w.+-]* (\S.*)")

_OF_A_DEVICE = re.compile(
    r"\b(?:cores?|cus|sms|shaders|tdp|power|watts?|bandwidth|bw|memory|vram|clock|peak|theoretical"
    r"|year|node|price|specs?|spec ?sheet|data ?sheet|rated)\b",
    re.IGNORECASE,
)
"""Found in labels of what a device has, whatever it computes."""

_WORD = re.compile(r"(?![0-9]+ ?[kKMG]?i?B?$)(?!.*[0-9] ?[x×*] ?[0-9]).*[A-Za-z]")


def matrix(
    grid: Grid, schema: Schema, above: Mapping[str, Cell], bare: Column | None
) -> list[Column]:
    """The columns of a table of sizes, of operations or of whoever exchanged, by numbers of ranks,
    or of these by sizes, of the one quantity named above."""
    labels = [plain(label) for label in grid.header()]
    if across := _by_messages(grid, schema, above, bare):
        return across
    first = measured_as(labels[0], schema) if len(labels) > 1 else None
    sized = first or _of_whom(grid, above, bare)
    if bare is None or bare.spec is None or sized is None:
        return []
    named = sized.spec.name if sized.spec is not None else ""
    if named != "op" and (named not in ("", "bytes", "dtype", "gpu") or "op" not in above):
        return []
    if named in ("dtype", "gpu") and bare.spec.name == "time" and "bytes" not in above:
        return []
    if named == "op" and (messages := _messages(labels[1:])):
        return [sized, *(replace(bare, aside={"bytes": str(each)}) for each in messages)]
    found = [_OF_RANKS.match(label) for label in labels[1:]]
    by_nodes = {each["nodes"]: each["ranks"] for each in found
                if each and each["nodes"] and each["ranks"]}  # fmt: skip
    by_nodes = _of_each_node(found, above) | by_nodes
    columns, seen = [sized], set[str]()
    for label, each in zip(labels[1:], found, strict=True):
        ranks = (each["ranks"] or by_nodes.get(each["nodes"] or "")) if each else None
        if not ranks:
            columns.append(Column())
            continue
        aside = {"ranks": ranks.replace(",", "")}
        if ranks in seen:  # `32 nodes, SHARP` beside `32 nodes (256 GPUs)`
            aside["column"] = label
        seen.add(ranks)
        columns.append(replace(bare, aside=aside))
    return _binary(grid, columns) if seen else []


def _of_each_node(
    found: Sequence[re.Match[str] | None], above: Mapping[str, Cell]
) -> dict[str, str]:
    """Nodes that head columns → the ranks of so many, where the text above a table says how many
    each node has."""
    each_has = above.get("ranks_per_node")
    nodes = {each["nodes"] for each in found if each and each["nodes"] and not each["ranks"]}
    many = whole(each_has.text) if each_has else None
    return {n: str(int(n) * many) for n in nodes} if many else {}


def _of_whom(grid: Grid, above: Mapping[str, Cell], bare: Column | None) -> Column | None:
    """The column of names in front of numbers of ranks, of whoever exchanged one message: it is
    kept as printed. A time without a size says nothing."""
    texts = [plain(row.cells[0].text) for row in grid.rows if row.cells]
    timed_so = bare is not None and bare.spec is not None and bare.spec.name == "time"
    said = "op" in above and (not timed_so or "bytes" in above)
    return Column() if said and texts and all(map(_WORD.match, texts)) else None


_MESSAGE = re.compile(
    r"(?P<before>[^0-9]{0,40}?)(?<![\w.])(?P<size>[0-9]{1,4}) ?(?P<sign>[KMG](?:i?B)?|B)(?![\w/])"
    r"(?P<behind>.{0,40})"
)
"""The size of a message in a label, alone or beside what was measured: `busbw @ 1 GiB (GB/s)`."""

_OF_A_MESSAGE = re.compile(
    r"(?:[@,:=]|\b(?:at|of|for|messages?|msgs?|size|payload)\b)", re.IGNORECASE
)

_FACTS_OF_A_ROW = {"ranks", "op", "dtype", "gpu"}

_OF_EACH_RANK = re.compile(r"\b(?:per|each|/) ?(?:rank|gpu|device|process|npu)", re.IGNORECASE)

_AS_EACH_SENDS = {"all_reduce", "broadcast", "all_to_all", "sendrecv", "reduce"}
"""Operations whose message is what each rank has of it."""


def _by_messages(
    grid: Grid, schema: Schema, above: Mapping[str, Cell], bare: Column | None
) -> list[Column]:
    """The columns of a table of sizes of messages side by side, behind ranks, formats, devices or
    the names of whoever exchanged them: `Nodes | Ranks | 64 MiB | 4 GiB`."""
    labels = [plain(label) for label in grid.header()]
    found = {at: told for at, label in enumerate(labels) if (told := _MESSAGE.fullmatch(label))}
    texts = list(dict.fromkeys(f"{each['size']}{each['sign']}" for each in found.values()))
    named = all(each["sign"] == "B" for each in found.values())  # `8B | 70B`: of models, perhaps
    sizes = [] if named else _messages(texts)
    if not found or 0 in found or not sizes:
        return []
    bytes_of = dict(zip(texts, map(str, sizes), strict=True))
    columns = list[Column]()
    for at, label in enumerate(labels):
        if at not in found:
            columns.append(_fact_of_rows(label, schema))
            continue
        column = _of_one_message(found[at], schema, bare)
        if column is None:
            return []
        size = bytes_of[f"{found[at]['size']}{found[at]['sign']}"]
        columns.append(replace(column, aside={**column.aside, "bytes": size}))
    columns = _of_nodes(grid, of_types(grid, columns, schema), schema, above)
    facts = [each.spec.name for each in columns if each.spec and "bytes" not in each.aside]
    several = "ranks" not in facts and _on_several_nodes(grid, columns)
    said = {*above, *facts} - ({"ranks"} if several else set())
    of_each = _OF_EACH_RANK.search(labels[0]) and not (
        "op" in above and above["op"].text in _AS_EACH_SENDS
    )
    keys = [(each.spec.name, each.aside["bytes"]) for each in columns
            if each.spec is not None and "bytes" in each.aside]  # fmt: skip
    if of_each or len(facts) != len({*facts}) or len(keys) != len({*keys}):
        return []
    return columns if {"op", "ranks"} <= said else []


def _fact_of_rows(label: str, schema: Schema) -> Column:
    """The column of a fact of each row, whose label may say what stands across behind a stroke:
    `ranks \\ message size`; one that is kept as printed of any other."""
    for part in (label, re.split(r"[\\/↓→]", label)[0].strip()):
        told = measured_as(part, schema) if part else None
        if told is not None and told.spec is not None and told.spec.name in _FACTS_OF_A_ROW:
            return told
    return Column()


def _of_one_message(found: re.Match[str], schema: Schema, bare: Column | None) -> Column | None:
    """The column of a label that says the size of a message, of what its other words or else the
    text above say was measured; None where nothing does."""
    rest = _OF_A_MESSAGE.sub(" ", f"{found['before']} {found['behind']}").replace("()", " ")
    rest = " ".join(rest.split())
    if not rest:
        return bare
    told = measured_as(rest, schema) or measured_as(f"busbw ({rest.strip('()[]')})", schema)
    if told is None or told.spec is None or not says_how_fast(told.spec):
        return None
    if not told.scale or measured_as(rest, schema) is None:  # a unit or a name alone
        same = bare is not None and bare.spec is not None and bare.spec.unit == told.spec.unit
        return replace(bare, scale=told.scale or bare.scale) if bare and same else None
    return told


def _messages(labels: Sequence[str]) -> list[int]:
    """The bytes of messages whose sizes head columns, `1 MiB | 16 MiB`, in 1,024s where they say so
    or are powers of two in three columns or more; nothing where some label is of no size."""
    found = [NUMBER.fullmatch(label) for label in labels]
    told = [(float(each[1].replace(",", "")), each[2]) for each in found if each and each[2]]
    if len(told) < len(found) or len(told) < len(("small", "large")):
        return []
    binary = all("i" in sign for _, sign in told) or (
        len(told) >= FEWEST_SIZES
        and all(n.is_integer() and int(n) & (int(n) - 1) == 0 for n, _ in told)
    )
    sizes = [round(n * 1024 ** BY_PLACE[sign.replace("i", "")]) for n, sign in told]
    return sizes if binary and sizes == sorted({*sizes}) else []


FEWEST_SIZES = 3
"""Sizes of messages that prove that they are counted in 1,024s."""

_ONE_SIZE = re.compile(
    r"(?:[MNK=NSLseq_len ]*[= ])?([0-9]{1,6})(k?)(?: ?[x×*] ?\1(?:\2)(?: ?[x×*] ?\1\2)?)?",
    re.IGNORECASE,
)
"""A size that heads a column: `4096`, `8k`, `1024x1024`, `N=512`."""

SMALLEST = 16
"""Rows of the smallest matrix that heads a column by its number alone."""

SHORTEST = 512
"""Tokens of the shortest sequence that heads a column by its number alone: heads, their sizes and
batches are fewer."""


def by_sizes(
    grid: Grid, schema: Schema, above: Mapping[str, Cell], bare: Column | None, *, square: bool
) -> list[Column]:
    """The columns of a table of names by sizes that grow, of the one quantity named above: those of
    `square` products, or sequences of attention with heads of a size that the text above says."""
    labels = [plain(label) for label in grid.header()]
    found = [_ONE_SIZE.fullmatch(label) for label in labels[1:]]
    if bare is None or bare.spec is None or len(found) <= 1 or not all(found):
        return []
    sizes = [int(each[1]) * (1024 if each[2] else 1) for each in found if each]
    lengths = "seq" in fields(schema) and "head_dim" in above and sizes[0] >= SHORTEST
    texts = [plain(row.cells[0].text) for row in grid.rows if row.cells]
    grows = sizes == sorted({*sizes}) and sizes[0] >= SMALLEST
    if not grows or not (square or lengths) or not all(map(_WORD.match, texts)):
        return []
    first = measured_as(labels[0], schema)
    named = first is not None and first.spec is not None and first.spec.name in ("gpu", "dtype")
    names = "mnk" if square else ("seq",)
    asides = ({name: str(size) for name in names} for size in sizes)
    who = first if named and first is not None else Column(fields(schema)["kernel"])
    if not labels[0] and "dtype" in fields(schema) and all(map(TYPE.fullmatch, texts)):
        who = Column(fields(schema)["dtype"])  # `torch.float16`, under no label
    return [who, *(replace(bare, aside=aside) for aside in asides)]


_UNORDERED = {"shape", "gemmshape", "shapes", "problem", "problemsize", "gemm", "gemmsize",
              "matrixsize", "matrixshape", "sizes", "size", "xval"}  # fmt: skip
"""Labels of sizes of products, whose order nobody knows that no text tells."""

SQUARES = {"n", "size", "dim", "dimension"}
"""Labels of the one size of square products."""

_THREE_SIZES = re.compile(r"[(\[]?([0-9]+) ?[x×*,] ?([0-9]+) ?[x×*,] ?([0-9]+)[)\]]?")


def _all_square(grid: Grid, at: int) -> bool:
    """Whether all sizes of every row of a column are one: no order makes them others."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    found = [_THREE_SIZES.fullmatch(text) for text in texts]
    return bool(found) and all(each and len(set(each.groups())) == 1 for each in found)


_TWO_SIZES = re.compile(r"([0-9]{2,}) ?[x×*] ?\1|[0-9]{2,}|[0-9]{1,3}(?:,[0-9]{3})+")


def _squares(grid: Grid, at: int) -> bool:
    """Whether a column under the sizes of matrices has one number in each row, or one twice."""
    label = normalise(plain(grid.header()[at]))
    named = label.startswith("matrix") or label in SQUARES
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    return named and bool(texts) and all(map(_TWO_SIZES.fullmatch, texts))


def unordered(grid: Grid) -> dict[int, tuple[int, ...]]:
    """Line → the three sizes of each row of a table whose order nobody says; else nothing."""
    for at, label in enumerate(grid.header()):
        rows = [row for row in grid.rows if at < len(row.cells)]
        found = [_THREE_SIZES.fullmatch(plain(row.cells[at].text)) for row in rows]
        if normalise(plain(label)) in _UNORDERED and found and all(found):
            return {
                row.line.number: tuple(map(int, each.groups()))
                for row, each in zip(rows, found, strict=True) if each
            }  # fmt: skip
    return {}


_ORDER = re.compile(r"(?<![A-Za-z])([MNK])\s?[x×]\s?([MNK])\s?[x×]\s?([MNK])(?![A-Za-z])")


def order_of_sizes(lines: Sequence[Line]) -> str:
    """How a document writes products, `mkn` say; empty where it does not tell, or not one way."""
    found = {"".join(m).casefold() for line in lines for m in _ORDER.findall(line.text)}
    return found.pop() if len(found) == 1 else ""


_DECIMAL = {"KB": 1, "MB": 2, "GB": 3}

CLOSE = 0.01
"""How far a bandwidth may be from its size over its time: 1,000s and 1,024s differ by more."""


def in_their_units(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Columns with the factors that their numbers prove, where labels leave them open."""
    return _whole_bytes(grid, _binary(grid, _in_units(grid, columns)))


def _in_units(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Sizes under `(MB)` in 1,000s or 1,024s, whichever gives the bandwidths that are printed, or
    in 1,024s where all are powers of two; and those without a unit in bytes, where these do."""
    made = list(columns)
    held = {column.spec.name: at for at, column in enumerate(columns) if column.spec}
    for at, (column, label) in enumerate(zip(columns, grid.header(), strict=True)):
        sized = SIZED.fullmatch(size_with_unit(plain(label)))
        place = _DECIMAL.get(sized[2], 0) if sized else 0
        bases = (1000.0, 1024.0) if place else (1.0,)
        if (
            (sized and not place)
            or column.spec is None
            or column.spec.name != "bytes"
            or column.scale
        ):
            continue
        if not {"time", "algbw"} <= held.keys():
            if place and not {"algbw", "busbw"} & held.keys() and _powers_of_two(grid, at):
                law = "powers of two are counted in 1,024s"
                made[at] = replace(column, scale=1024.0**place, law=law)
            continue
        time, rate = ((held[name], columns[held[name]].scale) for name in ("time", "algbw"))
        found = [base for base in bases
                 if over_time(grid, (at, base**place), time, rate, off=CLOSE)]  # fmt: skip
        if len(found) == 1:
            made[at] = replace(column, scale=found[0] ** (place or 1))
    return made


def _powers_of_two(grid: Grid, at: int) -> bool:
    """Whether all numbers of a column are powers of two, three of them different at least."""
    found = {_amount(row, at) for row in grid.rows if at < len(row.cells)}
    return len(found) > 2 and all(n >= 1 and n.is_integer() and int(n) & (int(n) - 1) == 0
                                  for n in found)  # fmt: skip


_BYTES_OF = {1e6: 2.0**20, 1e9: 2.0**30}

_MANY_DIGITS = re.compile(r"[0-9]{1,18}\.[0-9]{7,40}")


def _whole_bytes(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Memories in MB or GB with so many digits that these are whole bytes in 1,024s alone."""
    made = list(columns)
    for at, column in enumerate(columns):
        base = _BYTES_OF.get(column.scale)
        if column.spec is None or column.spec.quantity != "memory" or base is None:
            continue
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        exact = [Fraction(text) for text in texts if _MANY_DIGITS.fullmatch(text)]
        if exact and all((each * int(base)).denominator == 1 for each in exact):
            law = "a whole number of bytes in 1,024s, and in 1,000s none"
            made[at] = replace(column, scale=base, law=law)
    return made


def _amount(row: GridRow, at: int) -> float:
    found = NUMBER.fullmatch(plain(row.cells[at].text))
    return float(found[1].replace(",", "")) if found and not found[2] else -1.0


def _binary(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Sizes in KB, MB and GB that are all powers of two are counted in 1,024s; else unknown."""
    made = []
    for at, column in enumerate(columns):
        if column.spec is not None and column.spec.unit == "B" and not column.spec.quantity:
            found = [NUMBER.fullmatch(plain(row.cells[at].text)) for row in grid.rows
                     if at < len(row.cells) and row.cells[at].text]  # fmt: skip
            sized = [each for each in found if each and each[2] in BY_PLACE and each[2] != "B"]
            numbers = [float(each[1].replace(",", "")) for each in sized]
            powers = all(n.is_integer() and int(n) & (int(n) - 1) == 0 for n in numbers)
            doubtful = numbers and (len(numbers) < 3 or not powers or not all(found))
            made.append(Column() if doubtful else column)
        else:
            made.append(column)
    return made
