"""Columns of times and of rates of the same calls, side by side in a table of kernels.

In: the columns of a grid that are told, and the grid. Out: the same with times whose label says
more than a number format, where the rate of that format proves them; and with rates of nobody named
behind the first time of their kind; grouped products that are proved so; and a column for each
collective that a label names, `all_reduce | all_gather` below `Bus bandwidth in GB/s`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.grids.grid import Grid
from assay.ingest.grids.ratios import in_ratio
from assay.ingest.kernels.collective_ranks import EXCHANGE, ratio_of
from assay.ingest.kernels.kernel_headings import BANDWIDTH, LIBRARIES, OPERATION, canonical
from assay.ingest.kernels.kernel_labels import (
    BREAKS,
    FORMATS,
    OF_A_MASK,
    SIZED,
    UNMEASURED,
    Column,
    at_an_end,
    column_named,
    measured_as,
    says_how_fast,
    told_apart,
)
from assay.ingest.kernels.settings_around import OF_ATTENTION, spelled
from assay.ingest.numbers.printed import printed, whole
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Schema
from assay.ingest.tables.csv_sections import ended, timed
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import split

BARE_NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")

NEAR = 0.005
"""How far a rate may be from its product over its time."""


def of_formats(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with times of products in a format of which a rate tells that they are those of the
    whole call: `FP8 rowwise (us)` beside `FP8 TFLOPS`."""
    made = list(columns)
    sizes = {each.spec.name: at for at, each in enumerate(columns)
             if each.spec is not None and each.spec.name in ("b", "m", "n", "k")}  # fmt: skip
    if not {"m", "n", "k"} <= sizes.keys():
        return made
    rates = {each.aside["dtype"].casefold(): at for at, each in enumerate(columns)
             if each.spec is not None and each.spec.name == "flops_rate"
             and list(each.aside) == ["dtype"]}  # fmt: skip
    for at, label in enumerate(map(plain, grid.header())):
        sized = SIZED.fullmatch(label) if rates and columns[at] == Column() else None
        found = at_an_end(sized[1]) if sized else None
        if sized is None or found is None or found.lastgroup != "dtype":
            continue
        name = (sized[1][: found.start()] + sized[1][found.end() :]).strip(BREAKS)
        told, rate = measured_as(f"time ({sized[2]})", schema), rates.get(found[0].casefold())
        if rate is None or told is None or not told.scale or not name:
            continue
        if _proved(grid, list(sizes.values()), (at, told.scale), (rate, columns[rate].scale)):
            aside = {"dtype": found[0], "kernel": name}
            made[at], made[rate] = replace(told, aside=aside), replace(made[rate], aside=aside)
    return made


def times_of_rates(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of times and of rates side by side, of which only one of each pair is named, with the
    name for both, where sizes prove in every row which two belong together:
    `ms | bf16 TFLOPS | ms | fp8 TFLOPS`."""
    made = list(columns)
    held = {each.spec.name: at for at, each in enumerate(columns)
            if each.spec is not None and not each.aside}  # fmt: skip
    times, rates = (
        [at for at, each in enumerate(columns) if each.spec is not None and each.spec.name == name]
        for name in ("time", "flops_rate")
    )
    named = [bool(columns[at].aside) for at in (*times, *rates)]
    if "m" not in fields(schema) or not {"m", "n", "k"} <= held.keys() or all(named):
        return made
    if len(times) < SEVERAL or len(times) != len(rates) or not any(named):
        return made
    sizes = [held[name] for name in "bmnk" if name in held]
    pairs = [
        (time, rate) for time in times for rate in rates
        if _proved(grid, sizes, (time, columns[time].scale), (rate, columns[rate].scale))
    ]  # fmt: skip
    asides = [columns[time].aside or columns[rate].aside for time, rate in pairs]
    whole = [time for time, _ in pairs] == times and len({rate for _, rate in pairs}) == len(pairs)
    if whole and all(asides) and len({tuple(each.items()) for each in asides}) == len(asides):
        for (time, rate), aside in zip(pairs, asides, strict=True):
            made[time] = replace(made[time], aside=columns[time].aside or aside)
            made[rate] = replace(made[rate], aside=columns[rate].aside or aside)
    return made


def of_terse_rates(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of products with the rate under `TF` or `GF` that sizes and times prove."""
    made, own = list(columns), fields(schema)
    held = {each.spec.name: at for at, each in enumerate(columns) if each.spec is not None}
    if "m" not in own or "flops_rate" in held or not {"m", "n", "k", "time"} <= held.keys():
        return made
    time = held["time"], columns[held["time"]].scale
    sizes = [held[name] for name in "bmnk" if name in held]
    for at, label in enumerate(map(plain, grid.header())):
        scale = {"TF": 1e12, "TFs": 1e12, "Tf": 1e12, "GF": 1e9, "GFs": 1e9}.get(label)
        if scale and columns[at] == Column() and _proved(grid, sizes, time, (at, scale)):
            made[at] = Column(own["flops_rate"], scale, law=_OF_PRODUCTS)
    return made


_OF_PRODUCTS = "the work of each product over its time is the printed rate"

_GROUPS = {"groups", "numgroups", "ngroups", "group", "numberofgroups"}


def of_groups(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of grouped products with as many rows each, `#Groups | M per group | N | K`; where
    times stand beside rates, both prove in every row that these count all groups."""
    made = list(columns)
    labels = [normalise(plain(label)) for label in grid.header()]
    if "mpergroup" not in labels or "m" not in fields(schema):
        return _of_counted_groups(grid, made, labels, schema)
    groups = [at for at, label in enumerate(labels) if label in _GROUPS]
    held = {each.spec.name: at for at, each in enumerate(columns) if each.spec is not None}
    if len(groups) != 1 or {"m", "b"} & held.keys() or not held.keys() >= _OF_A_CALL:
        return made
    (many,), rows = groups, labels.index("mpergroup")
    sizes, pairs = [many, rows, held["n"], held["k"]], _pairs(columns)
    if all(_proved(grid, sizes, *each) for each in pairs) and (pairs or "time" not in held):
        made[many], made[rows] = Column(fields(schema)["b"]), Column(fields(schema)["m"])
    return made


def _of_counted_groups(
    grid: Grid, made: list[Column], labels: Sequence[str], schema: Schema
) -> list[Column]:
    """The same of a count under another label, `G | M | N | K`, where times and rates prove in
    every row that the rate is of so many products, and that it is of no single one."""
    held = {each.spec.name: at for at, each in enumerate(made) if each.spec is not None}
    places = [at for at, label in enumerate(labels)
              if label in _GROUPS | _COUNTS_OF_GROUPS and made[at] == Column()]  # fmt: skip
    if "m" not in fields(schema) or len(places) != 1 or "b" in held:
        return made
    if not {"m", "n", "k"} <= held.keys() or not (pairs := _pairs(made)):
        return made
    sizes = [held[name] for name in "mnk"]
    if all(_proved(grid, [places[0], *sizes], *each) for each in pairs) and not any(
        _proved(grid, sizes, *each) for each in pairs
    ):
        made[places[0]] = Column(fields(schema)["b"])
    return made


_COUNTS_OF_GROUPS = {"g", "e", "experts", "numexperts", "nexperts", "localexperts"}

_OF_A_CALL = {"n", "k", "flops_rate"}


_ONE_SIZE = {"n", "size", "dim", "matrixsize", "matrixsizen", "matrixdim", "sizen", "nnn", "order",
             "矩阵大小", "矩阵维度", "矩阵规模", "problemsize", "matrix"}  # fmt: skip


def of_squares(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with the one size of a table as that of square products, where times and rates of
    all rows prove it: `N | ms | GFLOPS`."""
    made = list(columns)
    labels = [normalise(plain(label)) for label in grid.header()]
    held = {each.spec.name for each in columns if each.spec is not None}
    places = [at for at, label in enumerate(labels) if label in _ONE_SIZE]
    if "m" not in fields(schema) or len(places) != 1 or held & {"m", "k", "b"}:
        return made
    if any(each.sizes for each in columns) or not {"time", "flops_rate"} <= held:
        return made
    pairs = _pairs(columns)
    if pairs and all(_proved(grid, places * 3, *each) for each in pairs):
        made[places[0]] = Column(sizes="mnk")
    return made


_OF_A_LAYER = {
    "k": {"infeatures", "infeature", "indim", "inputdim", "din", "dimin", "inputfeatures",
          "inputsize", "infeat", "inchannels"},
    "n": {"outfeatures", "outfeature", "outdim", "outputdim", "dout", "dimout", "outputfeatures",
          "outputsize", "outfeat", "outchannels"},
    "m": {"tokens", "numtokens", "ntokens", "rows", "batchtokens", "batch", "bs", "batchsize"},
}  # fmt: skip
"""Labels of the sizes of a linear layer, by the letters of the product that it is."""

_SURELY = {"infeatures", "outfeatures", "tokens", "numtokens", "ntokens", "rows"}

_NO_PRODUCT = re.compile(
    r"direction|pass|mode|rank|lora|expert|top_?k|group|kernel_?size|stride|conv|sparsity|hidden",
    re.IGNORECASE,
)
"""Found in labels of layers that are more than one product, or another."""


def of_linear_layers(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of linear layers as those of products, `tokens | in_features | out_features`, where
    times and rates of all rows prove it, or nothing beside these names says that they are more."""
    made = list(columns)
    labels = [normalise(plain(label)) for label in grid.header()]
    held = {each.spec.name for each in columns if each.spec is not None} - {"b"}
    places = {name: [at for at, label in enumerate(labels) if label in known]
              for name, known in _OF_A_LAYER.items()}  # fmt: skip
    if not {"m", "n", "k"} <= set(fields(schema)) or held & {"m", "n", "k"}:
        return made
    if any(len(each) != 1 for each in places.values()):
        return made
    sizes = {name: at for name, [at] in places.items()}
    pairs = _pairs(columns)
    proved = all(_proved(grid, [*sizes.values()], *each) for each in pairs)
    said = {labels[at] for at in sizes.values()} <= _SURELY
    if proved and (pairs or (said and not any(map(_NO_PRODUCT.search, grid.header())))):
        for name, at in sizes.items():
            made[at] = Column(fields(schema)[name])
    return made


Measured = tuple[int, float]
"""A column of times or of rates, and the factor to its unit."""


def _pairs(columns: Sequence[Column]) -> list[tuple[Measured, Measured]]:
    """The columns of times, each with those of rates that nothing else sets apart."""
    return [
        ((at, one.scale), (to, other.scale))
        for at, one in enumerate(columns) if one.spec and one.spec.name == "time"
        for to, other in enumerate(columns) if other.spec and other.spec.name == "flops_rate"
        if one.aside == other.aside
    ]  # fmt: skip


def _proved(
    grid: Grid, sizes: Sequence[int], time: tuple[int, float], rate: tuple[int, float]
) -> bool:
    """Whether the work of every product is its time times its rate."""
    seen = False
    for row in grid.rows:
        texts = [plain(cell.text) for cell in row.cells]
        if len(texts) != grid.width:
            continue
        if _unmeasured(texts[time[0]]) and _unmeasured(texts[rate[0]]):
            continue
        if not all(BARE_NUMBER.fullmatch(texts[at]) for at in (*sizes, time[0], rate[0])):
            return False
        work = 2.0 * math.prod(_amount(texts[at]) for at in sizes)
        took, did = (printed(texts[at]) for at in (time[0], rate[0]))
        unit_of = time[1] * rate[1]
        least, most = took.low * did.low * unit_of, took.high * did.high * unit_of
        if not least * (1 - NEAR) <= work <= most * (1 + NEAR):
            return False
        seen = True
    return seen


_NOTHING = re.compile(r"[-–—/]{0,3}|n/?a|none|nan", re.IGNORECASE)


def _unmeasured(text: str) -> bool:
    """Whether a cell says that nothing was measured, or what happened instead."""
    return _NOTHING.fullmatch(text) is not None or ended(text) is not None


def _amount(text: str) -> float:
    return float(text.replace(",", ""))


def with_their_rates(columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with each rate that names no kernel given to the one whose time stands right in front
    of it, the first of its direction and format: `splash fwd (ms) | fwd TFLOP/s | XLA fwd (ms)`; or
    each of them where all times are followed by one: `ours: ms | TFLOP/s | FA2: ms | TFLOP/s`.

    One rate of products needs none of it: their time tells it.
    """
    made = list(columns)
    product = "m" in fields(schema)
    timed = [(at, _beside(each), "kernel" in each.aside) for at, each in enumerate(columns)
             if each.spec is not None and each.spec.name == "time"]  # fmt: skip
    for at, each in enumerate(columns):
        if each.spec is None or each.spec.name not in _RATES or "kernel" in each.aside:
            continue
        alike = [place for place, beside, _ in timed if beside == each.aside]
        rates = [place for place, other in enumerate(columns)
                 if other.spec is each.spec and other.aside == each.aside]  # fmt: skip
        all_in_turn = [place + 1 for place in alike] == rates
        mine = at - 1 in (alike if all_in_turn else () if product else alike[:1])
        mine = mine and (not product or len(alike) > 1)
        if mine and "kernel" in columns[at - 1].aside:
            made[at] = replace(each, aside=columns[at - 1].aside)
    return made


def named_behind(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with rates behind which brackets have the name of one whose time stands beside them,
    or three letters or more that it alone begins with: `Optimized (ms) | GFLOPS (opt)`."""
    made = list(columns)
    timed = [each for each in columns if each.spec and each.spec.name == "time"]
    sides = {each.aside["kernel"].casefold(): each.aside for each in timed
             if list(each.aside) == ["kernel"]}  # fmt: skip
    for at, label in enumerate(map(plain, grid.header()) if sides else ()):
        sized = SIZED.fullmatch(label) if columns[at] == Column() else None
        told = measured_as(sized[1], schema) if sized and len(sized[2]) > SEVERAL else None
        if sized is None or told is None or told.spec is None or told.spec.name not in _RATES:
            continue
        word = sized[2].casefold()
        mine = [side for name, side in sides.items() if name.startswith(word)]
        mine = [sides[word]] if word in sides else mine
        if len(mine) == 1 and told.scale and not told.aside:
            made[at] = replace(told, aside=mine[0])
    return made


def of_their_passes(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Columns with rates that name no pass given to the one of several passes whose times make
    them: each right behind its own time, `fwd (us) | GB/s | bwd (us)`, or where the same work is
    what all have done in that time who computed the same call."""
    columns = _spelled_alike(columns)
    made = list(columns)
    timed = [at for at, each in enumerate(columns) if each.spec and each.spec.name == "time"]
    for at, each in enumerate(columns):
        if each.spec is None or each.spec.name not in _RATES or "direction" in each.aside:
            continue
        mine = [
            place
            for place in timed
            if "direction" in columns[place].aside and _but_pass(columns[place]) == each.aside
        ]
        if len(mine) < SEVERAL:  # fmt: skip
            continue
        rates = [place for place, other in enumerate(columns)
                 if other.spec == each.spec and other.aside == each.aside]  # fmt: skip
        in_turn = [place + 1 for place in mine] == rates
        inside = len(rates) == 1 and {at - 1, at + 1} <= {*mine}
        same = [place for place in mine if _same_work(grid, columns, place, at)]
        told = same if len(same) == 1 else [at - 1] if in_turn or inside else []
        if told and (not same or told[0] in same or not _compares(grid, columns)):
            made[at] = replace(each, aside=columns[told[0]].aside)
    return made


def _spelled_alike(columns: Sequence[Column]) -> list[Column]:
    """Columns of the same pass under the name that the first has: `forward (us) | fwd (GB/s)`."""
    names = dict[str, str]()
    for each in columns:
        if word := each.aside.get("direction"):
            names.setdefault(spelled(word), word)
    return [
        replace(each, aside={**each.aside, "direction": names[spelled(word)]})
        if (word := each.aside.get("direction")) else each
        for each in columns
    ]  # fmt: skip


def _but_pass(column: Column) -> dict[str, str]:
    """All that sets a column apart but its pass."""
    return {name: word for name, word in column.aside.items() if name != "direction"}


def _alike_rows(grid: Grid, columns: Sequence[Column]) -> list[list[list[str]]]:
    """The rows of a table by the sizes of their calls, of calls that several computed."""
    sizes = [at for at, each in enumerate(columns)
             if each.spec and each.spec.numeric and not says_how_fast(each.spec)]  # fmt: skip
    named = any(each.spec and each.spec.name == "kernel" for each in columns)
    groups = dict[tuple[str, ...], list[list[str]]]()
    for row in grid.rows if named else ():
        texts = [plain(cell.text) for cell in row.cells]
        if len(texts) == grid.width:
            groups.setdefault(tuple(texts[at] for at in sizes), []).append(texts)
    return [each for each in groups.values() if len(each) > 1]


def _compares(grid: Grid, columns: Sequence[Column]) -> bool:
    """Whether some calls were computed by several, so that the same work may tell their rates."""
    return bool(_alike_rows(grid, columns))


def _same_work(grid: Grid, columns: Sequence[Column], time: int, rate: int) -> bool:
    """Whether every one who computed the same call did the same work, a rate times its time, and
    the times differ by more than digits do."""
    seen = False
    for rows in _alike_rows(grid, columns):
        pairs = [(texts[time], texts[rate]) for texts in rows]
        whole = [pair for pair in pairs if all(map(BARE_NUMBER.fullmatch, pair))]
        if len(whole) < SEVERAL:
            continue
        works = [(printed(one.replace(",", "")), printed(other.replace(",", "")))
                 for one, other in whole]  # fmt: skip
        least = max(took.low * did.low for took, did in works)
        most = min(took.high * did.high for took, did in works)
        if least * (1 - NEAR) > most:
            return False
        times = [took.value for took, _ in works]
        seen |= max(times) > _APART_BY * min(times)
    return seen


_APART_BY = 1.02
"""How much slower one kernel is than another whose work tells apart what is of which time."""

_RATES = {"flops_rate", "bandwidth"}


def _beside(column: Column) -> dict[str, str]:
    """All that sets a column apart but its kernel."""
    return {name: word for name, word in column.aside.items() if name != "kernel"}


_OF_TENSORS = re.compile(r"(?<=[a-z])_(?:into_tensor|tensor|single)(?![a-z])")
"""End of the names that operations have in `torch.distributed`."""


_OVER_NAMES = re.compile(
    r"(?:collectives?|operations?|ops?|primitives?|collective (?:operation|op)s?)[ :–—-]+(?=\w)",
    re.IGNORECASE,
)
"""A label over those of operations, in front of their names: `Collective all_gather`."""


def of_operations(
    grid: Grid, columns: Sequence[Column], bare: Column | None, schema: Schema
) -> list[Column]:
    """The columns of operations: of the bandwidth that a label says, or else the text above; in
    its unit where a label has one."""
    made = list(columns)
    for at, named in enumerate(map(plain, grid.header())):
        label = _OVER_NAMES.sub("", _OF_TENSORS.sub("", named))
        free = made[at] == Column() or list(made[at].aside) == ["column"]
        found = (OPERATION.match(label) or EXCHANGE.match(label)) if free else None
        if found is None:
            continue
        rest = label[found.end() :].strip(" _-:,")
        told = measured_as(rest, schema) if rest else bare
        sized = SIZED.fullmatch(label)
        if told is None and bare is not None and sized and not sized[1][found.end() :].strip():
            own = measured_as(f"busbw ({sized[2]})", schema)
            told = replace(bare, scale=own.scale) if own is not None else None
        if (
            told is not None
            and told.scale
            and told.spec
            and told.spec.name in ("time", "busbw", "algbw")
        ):
            name = canonical(found) if found.re is OPERATION else found[1]
            made[at] = replace(told, aside={**told.aside, "op": name})
    held = {each.spec.name for each in made if each.spec} | {w for each in made for w in each.aside}
    for at, column in enumerate(made):
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        if column == Column() and "op" not in held and texts and all(map(_NAMED.fullmatch, texts)):
            made[at] = Column(fields(schema)["op"])
            break
    return made


_OF_COLLECTIVES = re.compile(
    r"(?<![A-Za-z])(?:[nrho]?(?:one)?ccl|msccl(?:pp|\+\+)?|gloo|[\w-]*mpi(?:ch)?|uc[cx]|nvshmem|rocshmem"
    r"|ring|tree|nvls(?:tree)?|collnet\w*|sharp|ll(?:128)?|simple"
    r"|roce(?:v2)?|infiniband|ib|nvlink|nvswitch|pcie|efa(?:v[0-9])?|ethernet|tcp|slingshot|xgmi)"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
"""Libraries, algorithms and protocols of collectives, and networks, which stand side by side."""


def of_programs(
    grid: Grid, columns: Sequence[Column], bare: Column | None, schema: Schema
) -> list[Column]:
    """Columns of bare numbers beside the sizes of messages, under the names of libraries, of
    algorithms, of networks or of systems with their devices, of the one quantity that the text
    above says of all: `NCCL | MSCCL++`, `Nova (H100) | Nova-2 (B200)`."""
    made = list(columns)
    held = {each.spec.name for each in columns if each.spec is not None}
    if not held & {"bytes", "elements", "ranks"} or held & {"time", "algbw", "busbw"}:
        return made
    if bare is None:
        return _timed_by_programs(grid, made, schema)
    named = dict[int, str]()
    free = [label for label, each in zip(map(plain, grid.header()), columns, strict=True)
            if each == Column() and not RATIO.search(label)]  # fmt: skip
    for at, label in enumerate(map(plain, grid.header())):
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        words = {*split(label)}
        measured = RATIO.search(label) or STATISTICS.search(label) or UNMEASURED & words
        no_name = bool(measured) or words <= _NO_SYSTEM  # `Nodes`
        if columns[at] == Column() and not no_name and all(map(BARE_NUMBER.fullmatch, texts)):
            named[at] = label
    devices = {
        at: label if (one.start, one.end) == (0, len(label)) else one.text
        for at, label in named.items() if (one := only(label)) is not None
    }  # fmt: skip
    if any(map(_OF_COLLECTIVES.search, named.values())):
        for at, label in named.items():
            made[at] = replace(bare, aside={"column": label})
    elif len(devices) == len(named) == len({*devices.values()}) and "gpu" in fields(schema):
        for at, device in devices.items():
            system = {"column": named[at]} if named[at] != device else {}
            made[at] = replace(bare, aside={"gpu": device, **system})
    elif len(named) == len(free) and _of_systems(grid, named):
        for at, label in named.items():
            made[at] = replace(bare, aside={"column": label})
    return made


def _timed_by_programs(grid: Grid, made: list[Column], schema: Schema) -> list[Column]:
    """The same with times, each under the name of who exchanged with their unit, a known one among
    them: `NCCL (us) | one-shot (us)`."""
    found = dict[int, Column]()
    for at, label in enumerate(map(plain, grid.header())):
        sized = SIZED.fullmatch(label) if made[at] == Column() else None
        scale = timed(sized[2]) if sized else None
        if sized and scale and not set(split(sized[1])) & (NO_KERNEL | UNMEASURED):
            found[at] = Column(fields(schema)["time"], scale, {"column": sized[1]})
    names = [str(each.aside["column"]) for each in found.values()]
    if len({*names}) == len(names) >= SEVERAL and any(map(_OF_COLLECTIVES.search, names)):
        for at, column in found.items():
            made[at] = column
    return made


_COUNTED = re.compile(
    r"(?:[A-Za-z]|n?nodes?|n?ranks?|gpus?|hosts?|np|world|[tpdce]p|rails?|channels?|nics?)"
    r"[ _-]?[0-9]+", re.IGNORECASE
)  # fmt: skip
"""A label of so many of something: `N2`, `nodes 4`."""

FARTHEST = 30.0
"""How many times more one system may reach than another with one message."""


def _of_systems(grid: Grid, named: Mapping[int, str]) -> bool:
    """Whether all columns but that of sizes are of systems by whatever name, which measured one
    quantity: `Vendor A | Vendor B`, `old fabric | new fabric`."""
    if len(named) < SEVERAL or len({*named.values()}) < len(named):
        return False
    for label in named.values():
        words = set(split(label))
        if _NO_NAME.search(label) or _COUNTED.fullmatch(label) or words & (NO_KERNEL | _NO_SYSTEM):
            return False
    texts = [[plain(row.cells[at].text) for at in named] for row in grid.rows
             if len(row.cells) == grid.width]  # fmt: skip
    amounts = [[_amount(text) for text in each] for each in texts]
    near = all(min(each) * FARTHEST >= max(each) > 0 for each in amounts)
    return bool(texts) and near and any("." in text for each in texts for text in each)


_NO_SYSTEM = {
    "latency", "bandwidth", "busbw", "algbw", "bw", "count", "elements", "iters", "iterations",
    "steps", "rank", "ranks", "nodes", "gpus", "cost", "price", "power", "energy", "errors",
    "wrong", "efficiency", "utilization", "loss", "messages", "message", "bytes", "per", "of",
    "required", "requirement", "spec", "specification", "limit", "gb", "mb", "us", "ms", "s",
}  # fmt: skip
"""Words of labels of what is no system's name, but a quantity, a count or a bound."""


TYPE = re.compile(
    rf"(?:(?:torch|jnp|np|tf|mx)\.)?(?:{FORMATS}|b?float(?:8|16|32|64)?"
    r"(?:_?e[45]m[23](?:fn|fnuz)?)?|half|double"
    r"|(?:fp8[_ -]?)?e[45]m[23](?:fn|fnuz)?|u?int[0-9]{1,2})",
    re.IGNORECASE,
)


def of_a_type(text: str) -> bool:
    """Whether a text is the name of a number format."""
    return TYPE.fullmatch(text) is not None


_OF_TYPES = {"type", "types", "datatype", "fmt", "format", "numberformat", "dataformat",
             "numericformat", "dtypes", "inputtype", "inputformat", "inputs", "inputdtypes",
             "abtype", "operands", "operanddtype", "gemmtype", "数据类型", "精度", "类型",
             "数据格式"}  # fmt: skip


def of_types(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of calls with the one of number formats under a label that may mean anything."""
    made, free = list(columns), "dtype" not in {each.spec.name for each in columns if each.spec}
    places = [at for at, label in enumerate(grid.header())
              if columns[at] == Column() and normalise(plain(label)) in _OF_TYPES]  # fmt: skip
    texts = [plain(row.cells[at].text) for at in places for row in grid.rows if at < len(row.cells)]
    if free and len(places) == 1 and texts and all(map(TYPE.fullmatch, texts)):
        made[places[0]] = Column(fields(schema)["dtype"])
    return made


def sized_once(columns: Sequence[Column]) -> list[Column]:
    """Columns of messages of which two say the size with the one in bytes: `bytes | size (KiB)`."""
    sizes = [at for at, each in enumerate(columns) if each.spec and each.spec.name == "bytes"]
    exact = [at for at in sizes if columns[at].scale == 1.0]
    if len(sizes) == 1 or len(exact) != 1:
        return list(columns)
    others = {*sizes} - {*exact}
    return [Column() if at in others else each for at, each in enumerate(columns)]


_NAMED = re.compile(
    r"(?:all[ _-]?(?:reduce|gather|to[ _-]?all(?:v)?)|all2allv?|reduce(?:[ _-]?scatter)?|broadcast"
    r"|bcast|gather|scatter|send[ _/-]?recv|hypercube|p2p|barrier)(?:_perf|_test)?",
    re.IGNORECASE,
)
"""The name of an operation, alone in its cell."""


RATIO = re.compile(r"(?i)speed-?up|\bgain|ratio|relative|error|diff|%|\bvs\b|faster")

STATISTICS = re.compile(r"(?i)(?<![a-z])(?:min|max|std|stdev|var|p[0-9]{2}|total)(?![a-z])")


def of_curve(label: str, schema: Schema) -> dict[str, str]:
    """The kernel that a label names, apart from a number format or a direction beside it:
    `ours [FP16]`, `ours asm fwd`."""
    found = at_an_end(label, {"dtype", "direction"} & fields(schema).keys())
    if found is None:
        return {"kernel": label}
    name = (label[: found.start()] + " " + label[found.end() :]).strip(BREAKS)
    return told_apart(found) | ({"kernel": name} if name else {})


def named_sides(
    grid: Grid, columns: Sequence[Column], bare: Column, schema: Schema
) -> list[Column]:
    """Columns of bare numbers with a name and what sets it apart, of the quantity that the text
    above says of all: `MLX fp16 | MPS fp16`, `LSTMCell fwd | LSTMCell bwd`, or devices, or sizes,
    `seq 4096 fwd | seq 8192 fwd`."""
    made, sides = list(columns), dict[int, Mapping[str, str]]()
    for at, label in enumerate(map(plain, grid.header())):
        aside = _side(label, schema) if columns[at] == Column() else columns[at].aside
        if aside.keys() & {"dtype", "direction", "gpu", "causal", *_SIZES}:
            sides[at] = aside
    sides = {at: aside for at, aside in sides.items() if not _only_once(aside, sides.values())}
    sides = sides if _sized_alike(columns, sides.values()) else {}
    apart = {tuple(sorted(aside.items())) for aside in sides.values()}
    for at, aside in sides.items() if 1 < len(apart) == len(sides) else ():
        if made[at] == Column():
            made[at] = replace(bare, aside=aside)
    return made


def _sized_alike(columns: Sequence[Column], sides: Collection[Mapping[str, str]]) -> bool:
    """Whether all labels say the same sizes, and none that a column of its own has."""
    held = {each.spec.name for each in columns if each.spec is not None}
    told = [aside.keys() & _SIZES for aside in sides]
    return all(each == told[0] and not each & held for each in told)


def sizes_in_labels(
    grid: Grid, columns: Sequence[Column], schema: Schema, bare: Column | None
) -> list[Column]:
    """Columns with the sizes that all labels of what was measured say beside its unit, apart from
    who computed it: `fwd (ms), S=4096 | fwd (ms), S=8192`, `FA3 d=64 (TFLOPS)`."""
    made, sides = list(columns), dict[int, Column]()
    for at, label in enumerate(map(plain, grid.header())):
        spec = columns[at].spec
        if spec is not None and not says_how_fast(spec):
            continue
        sizes, rest = _sizes_in(label, schema) if any(map(str.isdigit, label)) else ({}, label)
        rest = _NO_BRACKETS.sub(" ", rest).strip(" ,;:/|_-")
        told = column_named(rest, schema, bare) if sizes and rest else Column()
        if sizes and told.spec is None and (sized := SIZED.fullmatch(rest)):
            unit_of = measured_as(sized[2], schema) or measured_as(f"time ({sized[2]})", schema)
            aside = _side(sized[1], schema)
            named = aside or ({"kernel": sized[1]} if "kernel" in fields(schema) else {})
            words = set(split(sized[1]))
            whole = not words & NO_KERNEL and not RATIO.search(sized[1])
            told = replace(unit_of, aside=named) if unit_of and named and whole else Column()
        if sizes and told.spec is not None and says_how_fast(told.spec) and told.scale:
            sides[at] = replace(told, aside={**told.aside, **sizes})
        elif columns[at].spec is not None:
            return made  # of all sizes, beside those of one
    apart = {(str(each.spec and each.spec.name), *sorted(each.aside.items()))
             for each in sides.values()}  # fmt: skip
    if 1 < len(apart) == len(sides) and _sized_alike(columns, [c.aside for c in sides.values()]):
        for at, column in sides.items():
            made[at] = column
    return made


_NO_BRACKETS = re.compile(r"\(\s*\)|\[\s*\]")

_OF_SIZES = {
    "seq": "seq|seqlen|seq len|sequence|sequence length|seq length|ctx|context|context length"
    "|n ctx",
    "batch": "batch|bs|bsz|batch size",
    "heads": "heads|nheads|num heads|n heads|q heads",
    "kv_heads": "kv heads|nheads kv|num kv heads",
    "head_dim": "head dim|headdim|hdim|head size|dim|hd",
    "hidden": "hidden|hidden size|hidden dim|d model|dmodel",
    "ffn_hidden": "intermediate|intermediate size|ffn|ffn hidden|d ff",
    "vocab": "vocab|vocab size|vocabulary",
    "tokens": "tokens|num tokens|rows",
    "experts": "experts|num experts",
    "topk": "topk|top k",
}
"""Words for sizes of calls, by field."""

_SIZES = {*_OF_SIZES, "m", "n", "k", "kv_seq"}

_BY_WORD = {name: field for field, names in _OF_SIZES.items() for name in names.split("|")}

_WORDS_OF_SIZES = "|".join(
    re.escape(name).replace("\\ ", "[ _-]?") for name in sorted(_BY_WORD, key=len, reverse=True)
)

_NUMBER = r"([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+ ?[kK]?)(?![\w.]|,[0-9])"

_WORD_AND_SIZE = re.compile(
    rf"(?<![\w.])({_WORDS_OF_SIZES})(?: ?[=:] ?|[ _-])?{_NUMBER}"
    r"|(?<![\w.])((?:[A-Za-z](?:kv|q)? ?= ?){1,3})"
    rf"{_NUMBER}"
    rf"|(?<![\w.=]){_NUMBER} ({'tokens|rows|heads|kv heads|experts|ctx|context|seq'})(?![\w-])",
    re.IGNORECASE,
)
"""One size in a label: `seq 4096`, `S=4096`, `M=N=K=8192`, `hdim128`, `16 heads`."""

_OF_DIMS = re.compile(r"(?<![\w.])d([0-9]{2,3})(?![\w.])", re.IGNORECASE)
"""The size of a head beside the name of a kernel or a pass: `fwd d128`."""


def _sizes_in(label: str, schema: Schema) -> tuple[dict[str, str], str]:
    """The sizes of a call that a label says, and the rest of it; none where one is said twice or is
    of no field."""
    own, found, spans = fields(schema), list[tuple[str, str]](), list[tuple[int, int]]()
    attention = "kv_seq" in own
    for each in _WORD_AND_SIZE.finditer(label):
        word, size, letters, of_letters, behind, named = each.groups()
        names = re.findall(r"[A-Za-z]+", letters) if letters else [word or named]
        text = _whole_size(size or of_letters or behind)
        for name in names:
            field = _BY_WORD.get(re.sub(r"[ _-]", " ", name.casefold()), "")
            if letters:
                field = OF_ATTENTION.get(name.casefold(), "") if attention else name.casefold()
            found.append((field, text))
        spans.append(each.span())
    if attention and not any(name == "head_dim" for name, _ in found):
        for dim in _OF_DIMS.finditer(label):
            found.append(("head_dim", dim[1]))
            spans.append(dim.span())
    sizes = dict(found)
    if not found or len(sizes) < len(found) or not all(name in own for name in sizes):
        return {}, label
    if sizes.keys() & {*"mnk"} and not sizes.keys() >= {*"mnk"}:
        return {}, label
    rest = label
    for begin, end in sorted(spans, reverse=True):
        rest = f"{rest[:begin]} {rest[end:]}"
    rest = re.sub(r"\s{2,}", " ", _NO_BRACKETS.sub(" ", rest))
    return sizes, re.sub(r"(?:^|(?<=\())[\s,;/|:@]+|[\s,;/|:@]+(?=\)|$)", "", rest)


def _whole_size(text: str) -> str:
    """A size in digits, of which k counts 1,024.

    >>> _whole_size("8k"), _whole_size("16,384"), _whole_size("96")
    ('8192', '16384', '96')
    """
    digits = text.replace(",", "").strip()
    return str(int(digits[:-1]) * 1024) if digits[-1] in "kK" else digits


def _only_once(aside: Mapping[str, str], sides: Collection[Mapping[str, str]]) -> bool:
    """Whether a name behind that of a device is no known library and stands behind no other."""
    name = aside.get("kernel", "")
    if "gpu" not in aside or not name or LIBRARY.fullmatch(name):
        return False
    return len({each.get("gpu") for each in sides if each.get("kernel") == name}) < SEVERAL


SEVERAL = 2


def _side(label: str, schema: Schema) -> dict[str, str]:
    """Kernel, number format, direction, mask, sizes or device that make up a label, and nothing
    else."""
    aside, rest = _sizes_in(label, schema) if any(map(str.isdigit, label)) else ({}, label)
    own = {"dtype", "direction"} & fields(schema).keys()
    while found := at_an_end(rest, own):
        own -= {str(found.lastgroup)}
        aside |= told_apart(found)
        rest = f"{rest[: found.start()]} {rest[found.end() :]}".strip(BREAKS)
    if not rest and aside:
        return aside
    if "causal" in fields(schema) and (masked := OF_A_MASK.fullmatch(rest)) and aside:
        return aside | {"causal": str(masked["yes"] is not None)}
    device = only(rest) if "gpu" in fields(schema) else None
    if device is not None and device.end - device.start == len(rest):
        return aside | {"gpu": rest}
    if device is not None and not device.start and (name := rest[device.end :].strip(BREAKS)):
        alone = _ONE_NAME.fullmatch(name) and not set(split(name)) & NO_KERNEL
        known = (LIBRARY.fullmatch(name) or alone) and "kernel" in fields(schema)
        return aside | {"gpu": rest[: device.end], "kernel": name} if known else {}
    if _NO_NAME.search(rest) or RATIO.search(label) or STATISTICS.search(label):
        return {}
    if device is not None and device.start:
        behind = _ON_DEVICE.fullmatch(rest)
        told = behind is not None and behind["device"] == device.text
        if behind is None or not told or set(split(behind["name"])) & NO_KERNEL:
            return {}
        kernel = {"kernel": behind["name"]} if "kernel" in fields(schema) else {}
        return aside | kernel | {"gpu": device.text} if kernel else {}
    words = set(split(rest.partition("(")[0]))
    named = "kernel" in fields(schema) and not words & NO_KERNEL
    return aside | {"kernel": rest.replace("()", "").strip()} if named else {}


_ON_DEVICE = re.compile(
    r"(?P<name>[A-Za-z][^()\[\]|]{0,40}?)(?:,? on (?:an? |the )?|,? ?@ ?| ?[,/:–—-] ?| ?[(\[]| )"
    r"(?P<device>[A-Z0-9][^()\[\]]{1,40}?)[)\]]?"
)
"""Who computes, and behind it on which device: `cuBLAS (H100)`, `Triton on MI300X`."""

_ONE_NAME = re.compile(r"[A-Za-z][\w.+-]{2,24}")

_NO_NAME = re.compile(r"^[^A-Za-z]|=|[(\[](?:[mun]?s|µs|%|[A-Za-z]+/s|[KMG]i?B)[)\]]")
"""Found in labels that are no name: of a number, of a setting, of another unit."""

_NOT_WHOLE = re.compile(r"[0-9][0-9,]*\.[0-9]+")

_OF_A_LADDER = re.compile(r"(?:my |our )?(?:kernel|version|v|step|stage|k)[ _#-]?[0-9]+\b.*", re.I)
"""Name of one of several kernels that an author wrote, one after the other."""

LEAST = 0.01
"""Share of the rate of a library below which a whole number beside it may be of anything."""

TILE = 16
"""Sizes of tiles, threads and warps are whole multiples of it."""


def beside_libraries(
    grid: Grid, columns: Sequence[Column], bare: Column, schema: Schema
) -> list[Column]:
    """Columns of bare numbers behind that of a known library, of the same quantity, which the text
    above says of all: `Triton | FlashAttention-2 | SDPA (mem-efficient)` below `(TFLOPS)`."""
    made = _libraries_named(grid, columns, bare, schema)
    named = [at for at, each in enumerate(made) if "kernel" in each.aside]
    known = [at for at in named if made[at].spec == bare.spec]
    eager = any(map(_EAGER.search, grid.header()))
    backends = sum(_ON_BACKEND.fullmatch(plain(label)) is not None for label in grid.header()) > 1
    first = min(known, default=len(columns))
    for at, label in enumerate(map(plain, grid.header())):
        words = set(split(label.partition("(")[0]))
        words -= {"compile", "compiled", "jit"} if eager or backends else set()
        words -= {"cpu", "gpu"} if backends else set()
        ladder = _OF_A_LADDER.fullmatch(label) is not None
        of_sdpa = "kv_seq" in fields(schema) and _OF_SDPA.fullmatch(label) is not None
        named_so = at > first or (known and (of_sdpa or LIBRARY.match(label)))  # `vLLM fused_moe`
        whole_call = ladder or of_sdpa or not words & NO_KERNEL
        free = named_so and made[at] == Column() and whole_call
        if not free or RATIO.search(label) or STATISTICS.search(label):
            continue
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        if any(map(_NOT_WHOLE.fullmatch, texts)) or _as_whole(grid, first, at, ladder=ladder):
            made[at] = replace(bare, aside=of_curve(label, schema))
    return made


def in_proved_ratios(
    grid: Grid, columns: Sequence[Column], bare: Column, schema: Schema
) -> list[Column]:
    """Columns of bare numbers with those of two that a printed ratio names one of and is the ratio
    of in every row: whoever computes, who is compared is of the quantity that the text above says
    of all, `Paged v3 | Splash | ours | vs Paged v3 | vs Splash`."""
    made, labels = list(columns), [plain(label) for label in grid.header()]
    if "kernel" not in fields(schema) or bare.spec is None or not says_how_fast(bare.spec):
        return made
    rows = [[plain(cell.text) for cell in row.cells] for row in grid.rows
            if len(row.cells) == grid.width]  # fmt: skip
    for at, label in enumerate(labels):
        compared = _VERSUS.fullmatch(label) if columns[at] == Column() else None
        pair = in_ratio(rows, [at]) if compared else None
        if compared is None or pair is None:
            continue
        both = [compared["one"].casefold(), compared["two"].casefold()] if compared["one"] else []
        named = both[0] if both else (compared["of"] or compared["by"]).casefold()
        if not any(labels[place].casefold().startswith(named) for place in pair):
            continue
        whole = sorted(labels[place].casefold().split()[0] for place in pair) == sorted(both)
        for place in pair:  # of `A/B` both are named: `A one-pass | B two-pass`
            words = {*split(labels[place])} & (UNMEASURED if whole else NO_KERNEL | UNMEASURED)
            if made[place] == Column() and not words and only(labels[place]) is None:
                made[place] = replace(bare, aside=of_curve(labels[place], schema))
    return made


_VERSUS = re.compile(
    r"(?:speed-?ups? ?|ratio ?|gain ?)?\(?(?:vs\.?|versus|over|against|relative to|/)"
    r" ?(?P<of>[^()]+)\)?"
    r"|(?P<by>\S.*?) (?:speed-?up|ratio|gain)"
    r"|(?:speed-?ups?|ratio|gain) ?\(?(?P<one>[\w.+-]{1,30}) ?/ ?(?P<two>[\w.+-]{1,30})\)?",
    re.IGNORECASE,
)
"""The label of a ratio, with the name of what it is a ratio to, or of."""

_WITH_A_WORD = re.compile(
    rf"(?:(?P<before>[A-Za-z][\w.+-]{{0,20}}) )?(?P<library>{LIBRARIES})"
    r"(?: ?[(\[]?(?P<behind>[A-Za-z][\w.+ -]{0,20}?)[)\]]?)?",
    re.IGNORECASE,
)
"""The name of a library with one word beside it: `Prod cuBLAS`, `Triton (tuned)`."""


def _libraries_named(
    grid: Grid, columns: Sequence[Column], bare: Column, schema: Schema
) -> list[Column]:
    """Columns of bare numbers that nothing tells with those of two known libraries or more as
    theirs, the same word beside each of them: `Prod Triton | Prod cuBLAS`."""
    made, found = list(columns), dict[tuple[str, str], dict[int, str]]()
    if "kernel" not in fields(schema) or bare.spec is None:
        return made
    for at, label in enumerate(map(plain, grid.header())):
        said = _WITH_A_WORD.fullmatch(label) if columns[at] == Column() else None
        if said is None or RATIO.search(label) or STATISTICS.search(label):
            continue
        words = said["before"] or "", said["behind"] or ""
        if {*split(" ".join(words))} & (NO_KERNEL | UNMEASURED) or not any(words):
            continue
        found.setdefault((words[0].casefold(), words[1].casefold()), {})[at] = said["library"]
    for own in found.values():
        if len({each.casefold() for each in own.values()}) == len(own) >= SEVERAL:
            for at in own:
                made[at] = replace(bare, aside=of_curve(plain(grid.header()[at]), schema))
    return made


_ON_BACKEND = re.compile(rf"(?:{LIBRARIES}|jax|tensorflow|tf)[ _-](?:cpu|gpu)", re.IGNORECASE)
"""A library with where it computes, one of several side by side: `mlx_gpu | mlx_cpu | cpu`; else
what a label calls that of the CPU is a part of a call."""

_OF_SDPA = re.compile(
    r"(?:sdpa[ _-]?)?\(?(?:math|(?:mem(?:ory)?[-_ ]?)?eff(?:icient)?|standard|naive|reference"
    r"|custom|our(?:s| kernel)|manual|explicit)\)?",
    re.IGNORECASE,
)
"""Names of ways to compute attention, beside those of libraries."""


def _as_whole(grid: Grid, library: int, at: int, *, ladder: bool) -> bool:
    """Whether whole numbers are of the same quantity as those of a library, which are whole too:
    about as large, and those of a kernel by its name or of no tile."""
    pairs = [(plain(row.cells[library].text), plain(row.cells[at].text)) for row in grid.rows
             if len(row.cells) == grid.width]  # fmt: skip
    both = [(_amount(one), _amount(other)) for one, other in pairs
            if BARE_NUMBER.fullmatch(one) and BARE_NUMBER.fullmatch(other)]  # fmt: skip
    if not both or not all(one.is_integer() and one * LEAST < other for one, other in both):
        return False
    return ladder or any(other % TILE for _, other in both)


_IN_FRONT = re.compile(r"([A-Za-z][A-Za-z0-9]*)_(\w+)")

_APART = re.compile(r"([A-Za-z][\w.+ -]*): (\S.*)")
"""A measurement behind the name of a library and a colon: `default: time (us)`."""

_NO_NETWORK = {"in", "out", "ip", "oop", "inplace", "min", "max", "avg", "mean", "median", "std",
               "total", "peak", "theoretical", "ideal", "expected", "predicted",
               "target"}  # fmt: skip
"""Words in front of a measurement that say which of one run it is, or that it is none."""


def of_networks(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of the same measurements, bandwidths among them, of several networks or libraries
    whose name stands in front of each: `ib_time_us | ib_busbw_GBps | roce_time_us | ...`."""
    made, sides = _beside_bandwidths(grid, columns, schema), dict[str, dict[int, Column]]()
    for at, label in enumerate(map(plain, grid.header())):
        free = made[at].spec is None
        found = (_IN_FRONT.fullmatch(label) or _APART.fullmatch(label)) if free else None
        if found is None or found[1].casefold() in _NO_NETWORK:
            continue
        told = column_named(found[2], schema)
        if told.spec is not None and says_how_fast(told.spec) and told.scale and not told.aside:
            sides.setdefault(found[1], {})[at] = replace(told, aside={"column": found[1]})
    measured = [[c.spec.name for c in own.values() if c.spec] for own in sides.values()]
    alike = all(sorted(names) == sorted(measured[0]) for names in measured)
    alone = not any(column.spec and says_how_fast(column.spec) for column in columns)
    if len(sides) < len(("one", "other")) or not alike or not alone:
        return made
    named = all(": " in grid.header()[at] for own in sides.values() for at in own)
    if len(set(measured[0])) == len(measured[0]) and (named or len(measured[0]) > 1):
        for own in sides.values():
            for at, column in own.items():
                made[at] = column
    return made


def _beside_bandwidths(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns with the times of those networks or libraries whose bandwidths stand beside them:
    `ours time (us) | ours AlgBW (GB/s)`, beside a version too, `NCCL 2.18 time (us)`."""
    made, found = list(columns), dict[str, list[tuple[int, float]]]()
    rates = {
        str(each.aside["column"])
        for each in columns
        if list(each.aside) == ["column"] and each.spec and each.spec.name != "time"
    }
    for at, label in enumerate(map(plain, grid.header())):
        name = max((each for each in rates if label.startswith(each)), key=len, default="")
        free = columns[at] == Column() or str(columns[at].aside.get("column", "")) != name
        rest = label[len(name) :]
        if not name or not free or not rest.startswith((" ", "_")):
            continue
        if scale := timed(_VERSION.sub("", rest.strip(" _"))):
            found.setdefault(name, []).append((at, scale))
    for name, times in found.items():
        if len(times) == 1:
            made[times[0][0]] = Column(fields(schema)["time"], times[0][1], {"column": name})
    return made


_VERSION = re.compile(r"v?[0-9]+(?:\.[0-9]+)+ ")


_IN_FRONT_OF_UNIT = re.compile(
    r"(\w(?:[\w .+/*-]|:(?=\s?\w))*?(?: ?[(\[][A-Za-z][\w .+/-]{1,24}[)\]])?)"
    r"(?:[_ ](?:time|latency))?"
    r"(?:[_ ]| ?[(\[])"
    r"((?:time_|latency_)?[mun]s|µs|[tg]flop(?:s|s?/s)|tops|[tgp]ops?/s|[tg]f|[tg]b/s"
    r"|(?:peak[_ ]?)?(?:mem(?:ory)?[_ ]?)?[(\[]?[mg]i?b)[)\]]?",
    re.I,
)

_UNIT_FIRST = re.compile(
    r"((?:peak )?mem(?:ory)?|time|latency)(?: ?[(\[]| )([mun]s|µs|[MG]i?B)[)\]]? ([A-Za-z].*)",
    re.IGNORECASE,
)
"""A label of two header rows: `Time (ms) eager`."""

_IN_BYTES = re.compile(r"(?:^|[_ (\[])([mg]i?b)$", re.IGNORECASE)

_EAGER = re.compile(r"(?<![A-Za-z])eager(?![A-Za-z])", re.IGNORECASE)
"""Found beside times of what was compiled, which else may be those of compiling it."""

LIBRARY = re.compile(rf"(?<![A-Za-z]){LIBRARIES}(?![A-Za-z])", re.IGNORECASE)

NO_KERNEL = _NO_NETWORK | {
    "launch", "overhead", "compile", "compilation", "jit", "autotune", "tuning", "warmup", "warm",
    "first", "copy", "transfer", "load", "store", "read", "write", "wall", "cpu", "host", "e2e",
    "sum", "gap", "limit", "roofline", "sol", "bound", "saved", "delta", "compute", "memory", "mem",
    "comm", "communication", "achieved", "dense", "sparse", "time", "kernel", "gpu",
    "device", "quant", "quantize", "quantization", "dequant", "cast", "scale", "scaling",
    "transpose", "pack", "packing", "prep", "preprocess", "preprocessing", "postprocess", "alloc",
    "registers", "regs", "block", "blocks", "tile", "tiles", "warps", "threads", "stages", "smem",
    "occupancy", "size", "sizes", "cores", "sms", "normalized", "normalised", "equivalent",
    "extrapolated", "adjusted",
}  # fmt: skip
"""Words of columns that measure a part of each call, a bound of it, or what it would be elsewhere,
and no other call."""


_NO_KERNEL_IN_SIGNS = re.compile(
    r"理论|理論|峰值|上限|目标|预期|时间|時間|耗时|延迟|时延|带宽|帯域|显存|(?<!共享)内存|编译|拷贝|启动|总|合计|平均"
    r"|标准差|加速|이론|최대|시간"
)
"""The same in scripts without blanks."""


def _with_terse_rates(
    columns: Sequence[Column], sides: Mapping[str, Mapping[int, Column]], labels: Sequence[str]
) -> tuple[list[Column], dict[str, dict[int, Column]]]:
    """Columns with the rates under `TF` of kernels whose times are told, and the sides without
    these; nor with those of no time beside them: `TF` is what else a column may be called."""
    made, left = list(columns), dict[str, dict[int, Column]]()
    for name, own in sides.items():
        terse = [at for at in own if labels[at].rstrip(")] ")[-2:] in _TERSE]
        timed_so = any(each.spec and each.spec.name == "time" for each in own.values())
        told = [columns[at].aside for at in own if at not in terse and columns[at].spec is not None]
        for at in terse:
            if told and timed_so and columns[at] == Column():
                made[at] = replace(own[at], aside=told[0])
        kept = own.keys() if timed_so and not told else own.keys() - {*terse}
        left |= {name: {at: own[at] for at in own if at in kept}} if kept else {}
    return made, left


_TERSE = {"TF": "tflop/s", "GF": "gflop/s"}
"""Rates as busy people write them, beside the time of the same kernel: `triton us | triton TF`."""

_OF_A_RATE = re.compile(r"flop|b/s|^tops$|^[tgp]ops?/s$|^[TG]F$", re.IGNORECASE)

_PASSES = {"fwd", "bwd", "forward", "backward", "fprop", "bprop"}


_CONDITION = re.compile(
    r"(?:(?:gpu|device|card|system|machine|host|npu) )?(?:is |was )?"
    r"(?:idle|busy|loaded|unloaded|in use"
    r"|(?:under|no|without|with|light|heavy|full) (?:cpu |gpu )?load)"
    r"|(?:\+|with|while|beside|alongside|plus) ?\S.*"
    r"\b(?:loaded|running|resident|busy|active|in use)(?: ?\([^()]{1,30}\))?"
    r"|(?:cold|warm|hot|flushed) (?:l2|l2 cache|caches?)|(?:空闲|空载|负载|满载)",
    re.IGNORECASE,
)
"""Words on other work that went on while the same calls were measured, in front of their units."""


def of_conditions(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of the same measurements under two conditions or more, which are no kernels and are
    kept as printed: `GPU idle TFLOPS | GPU idle ms | + model loaded TFLOPS | + model loaded ms`."""
    made, sides = list(columns), dict[str, dict[int, Column]]()
    for at, label in enumerate(map(plain, grid.header())):
        name, _, measure = label.rpartition(" ")
        told = measured_as(measure.strip("()[]"), schema) if _CONDITION.fullmatch(name) else None
        if told is not None and told.spec is not None and told.scale and says_how_fast(told.spec):
            sides.setdefault(name, {})[at] = told
    every = [[each.spec for each in own.values()] for own in sides.values()]
    if len(sides) < SEVERAL or any(each != every[0] for each in every):
        return made
    for name, own in sides.items():
        for at, column in own.items():
            made[at] = replace(column, aside={"column": name})
    return made


def of_kernels(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of the measurements of several kernels, whose name stands in front of each: beside a
    known one, `torch (us) | ours (us) | ours GB/s`; or rates of products and of attention, which
    have no parts: `Default heuristics (TFLOPS) | Tuned (TFLOPS)`."""
    columns = of_conditions(grid, columns, schema)
    made, sides = list(columns), dict[str, dict[int, Column]]()
    if "kernel" not in fields(schema):
        return made
    labels = [_UNIT_FIRST.sub(r"\3 \1 (\2)", plain(label)) for label in grid.header()]
    eager = any(map(_EAGER.search, labels))
    every = [each for each in map(_IN_FRONT_OF_UNIT.fullmatch, labels) if each]
    with_rates = {each[1] for each in every if _OF_A_RATE.search(each[2])}
    for at, label in enumerate(labels):
        found = _IN_FRONT_OF_UNIT.fullmatch(label)
        apart = LIBRARY.sub(" ", found[1]) if found else ""
        rated = found is not None and found[1] in with_rates  # `JIT ms` beside `JIT TFLOPS`
        words = set(split(apart)) - ({"jit", "compile", "compiled"} if rated or eager else set())
        words -= _of_how(found[1], rated=rated) if found else set()
        if "column" in columns[at].aside:
            continue  # of a condition
        if found is None or words & NO_KERNEL or STATISTICS.search(label) or RATIO.search(label):
            continue
        if _NO_KERNEL_IN_SIGNS.search(label):
            continue
        if "direction" not in fields(schema) and words & _PASSES:
            continue  # of several products
        rate = found[2].casefold().replace("flops/s", "flop/s").replace("b/s", "B/s")
        rate = _TERSE.get(found[2], "" if rate in ("tf", "gf") else rate)
        size = _IN_BYTES.search(found[2])
        rate = f"memory ({size[1]})" if size else rate.replace("gB", "GB").replace("tB", "TB")
        told = measured_as(rate, schema)
        if told is not None and told.spec is not None and told.scale:
            sides.setdefault(found[1].rstrip(" :"), {})[at] = told
    made, sides = _with_terse_rates(made, sides, labels)
    named = [c for c in columns if "kernel" in c.aside]
    named += [c for name, own in sides.items() if LIBRARY.search(name) for c in own.values()]
    known = {column.spec.name for column in named if column.spec}
    rates = [at for own in sides.values() for at, c in own.items()
             if c.spec and c.spec.name == "flops_rate" and columns[at].spec is None]  # fmt: skip
    held = {column.spec.name for column in columns if column.spec}
    if len(rates) > 1 and "flops_rate" not in held and "operator" not in fields(schema):
        known |= {"flops_rate"}
    proves = next((of for name, of in _PROOFS.items() if name in fields(schema)), None)
    if proves is not None and any(proves(grid, columns, own) for own in sides.values()):
        known |= {"time", "flops_rate"}
    for name, own in sides.items():
        measured = [column.spec.name for column in own.values() if column.spec]
        alone = not any(columns[at].spec for at in own)
        if alone and len(set(measured)) == len(measured) and set(measured) & known:
            for at, column in own.items():
                made[at] = replace(column, aside=of_curve(name, schema))
    return made


def _of_how(name: str, *, rated: bool) -> set[str]:
    """Words that say in the name of a kernel what it is, and no part of a call; of functions that
    have a rate how they work."""
    words = {"kernel"} if _SOMEONES_KERNEL.fullmatch(name) else set[str]()
    return words | _OF_TILES if rated and _A_FUNCTION.search(name) else words


_A_FUNCTION = re.compile(
    r"(?<![A-Za-z])\w*(?:gemm|matmul|attn|attention|fmha|mma|kernel)\w*_\w*_\w*", re.IGNORECASE
)
"""The name of a function in a program, of several parts."""

_OF_TILES = {"bound", "block", "blocks", "tile", "tiles", "warps", "threads", "stages", "smem",
             "load", "store", "dense", "kernel", "size", "quant", "dequant", "scale"}  # fmt: skip
"""Words of such names that say how a kernel works."""

_SOMEONES_KERNEL = re.compile(
    r"(?:(?:our|my|this|new|custom|fused|naive|optimi[sz]ed|hand-?written|cuda|hip|metal|sycl|triton"
    r"|vectorized|tiled|reference|baseline) ){1,3}kernel",
    re.IGNORECASE,
)
"""The kernel of someone, and no part of a call: `Custom Kernel (ms) | PyTorch (ms)`."""


def _of_a_product(grid: Grid, columns: Sequence[Column], own: Mapping[int, Column]) -> bool:
    """Whether the time and the rate of one name are of the product whose sizes stand beside."""
    held = {each.spec.name: at for at, each in enumerate(columns) if each.spec is not None}
    labels = [normalise(plain(label)) for label in grid.header()]
    sizes = [held[name] for name in "bmnk" if name in held]
    if "m" not in held and "mpergroup" in labels:
        sizes += [at for at, label in enumerate(labels) if label in {"mpergroup", *_GROUPS}]
    pairs = _pairs([own.get(at, Column()) for at in range(len(columns))])
    whole = len(sizes) - ("b" in held) >= len("mnk") and {"n", "k"} <= held.keys()
    whole = whole and not any(columns[at].spec for at in own)
    return whole and len(pairs) == 1 and _proved(grid, sizes, *pairs[0])


def _of_attention(grid: Grid, columns: Sequence[Column], own: Mapping[int, Column]) -> bool:
    """Whether the time and the rate of one name are of the attention whose lengths stand beside:
    a time times its rate grows as queries times keys do, over several lengths."""
    held = {each.spec.name: at for at, each in enumerate(columns) if each.spec is not None}
    pairs = _pairs([own.get(at, Column()) for at in range(len(columns))])
    if "seq" not in held or len(pairs) != 1:
        return False
    lengths = [held["seq"], held.get("kv_seq", held["seq"])]
    sizes = [*lengths, *(held[name] for name in ("batch", "heads", "head_dim") if name in held)]
    (time, _), (rate, _) = pairs[0]
    works, areas = list[float](), set[float]()
    for row in grid.rows:
        texts = [plain(cell.text) for cell in row.cells]
        if len(texts) != grid.width or _unmeasured(texts[time]) or _unmeasured(texts[rate]):
            continue
        if not all(BARE_NUMBER.fullmatch(texts[at]) for at in (*sizes, time, rate)):
            return False
        area = math.prod(_amount(texts[at]) for at in sizes)
        areas.add(area)
        works.append(_amount(texts[time]) * _amount(texts[rate]) / area if area else 0.0)
    return len(areas) >= SEVERAL_SIZES and 0 < max(works) <= min(works) * SPREAD


_WORK = re.compile(r"[KMGTP]?(?:FL)?OPS?(?: ?\((?:theoretical|total|ideal)\))?", re.IGNORECASE)
"""A label of work, or of a rate: of which the numbers below it tell."""


def works_apart(grid: Grid, columns: Sequence[Column]) -> list[Column]:
    """Columns with none for operations that the calls of a table have, in whatever time: numbers
    below `GFLOPs` that are as their sizes in every row, `S | flash (ms) | GFLOPs`."""
    made, held = list(columns), {each.spec.name: at for at, each in enumerate(columns) if each.spec}
    lengths = [held["seq"], held.get("kv_seq", held["seq"])] if "seq" in held else []
    lengths += [held[name] for name in ("m", "n", "k") if name in held]
    sizes = [*lengths, *(held[name] for name in ("batch", "heads", "head_dim") if name in held)]
    for at, label in enumerate(map(plain, grid.header())):
        spec = columns[at].spec
        if not lengths or spec is None or spec.name != "flops_rate" or not _WORK.fullmatch(label):
            continue
        rows = [[plain(cell.text) for cell in row.cells] for row in grid.rows]
        told = [row for row in rows if len(row) == grid.width
                and all(BARE_NUMBER.fullmatch(row[place]) for place in (*sizes, at))]  # fmt: skip
        areas = [math.prod(_amount(row[place]) for place in sizes) for row in told]
        each = [_amount(row[at]) / area for row, area in zip(told, areas, strict=True) if area]
        if len({*areas}) >= SEVERAL_SIZES and 0 < max(each) <= min(each) * SPREAD:
            made[at] = Column()
    return made


_PROOFS = {"m": _of_a_product, "kv_seq": _of_attention}
"""How a time and a rate prove that they are of whole calls, by a size that these have alone."""

SEVERAL_SIZES = 3
"""Sizes of calls whose work proves which time belongs to which rate."""

SPREAD = 1.05
"""How far the work of attention may be apart from its products, whose softmax some count too."""

_A_PART = re.compile(
    r"(\w[\w .+/-]{0,40}?)[ _:-]{1,2}(\w[\w .+/-]{0,40}?) ?[(\[]([mu]s|µs|s)[)\]]", re.IGNORECASE
)

_A_WHOLE = re.compile(r"total|sum|overall|e2e|end[- ]to[- ]end|all|whole", re.IGNORECASE)

_OF_COMM = re.compile(r"\bcomm(?:unication)?\b", re.IGNORECASE)

_SUM = "the times of its parts stand beside it and sum up to it"


def of_wholes(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of times with those of whole calls alone, where parts of each of several kernels
    stand in front of their total and sum up to it in every row: `A compute | A comm | A total`."""
    made, sides = list(columns), dict[str, dict[int, re.Match[str]]]()
    if "kernel" not in fields(schema):
        return made
    for at, label in enumerate(map(plain, grid.header())):
        if found := _A_PART.fullmatch(label):
            sides.setdefault(found[1].casefold(), {})[at] = found
    wholes = dict[int, re.Match[str]]()
    for own in sides.values():
        whole = [at for at, each in own.items() if _A_WHOLE.fullmatch(each[2])]
        parts = [at for at in own if at not in whole]
        exchanged = any(_OF_COMM.search(own[at][2]) for at in parts)
        if len(parts) < SEVERAL or len({each[3] for each in own.values()}) > 1:
            continue
        summed = len(whole) == 1 and _sum_up(grid, parts, whole[0])
        if "m" in fields(schema) and summed and exchanged:
            made[whole[0]] = Column()  # more than a product
        elif summed or (not whole and exchanged):
            for at in parts:  # of nothing, where nobody says how long the whole took
                made[at] = Column()
            wholes |= {at: own[at] for at in whole}
    if wholes:  # `ours total` beside `torch total`, which has its parts
        ones = (own for own in sides.values() if len(own) == 1)
        wholes |= {at: each for own in ones for at, each in own.items()
                   if made[at] == Column() and _A_WHOLE.fullmatch(each[2])}  # fmt: skip
    for at, each in wholes.items():
        aside, scale = of_curve(each[1], schema), timed(each[3]) or 0.0
        made[at] = Column(fields(schema)["time"], scale, aside, law=_SUM)
    return made


def _sum_up(grid: Grid, parts: Sequence[int], whole: int) -> bool:
    """Whether the numbers of some columns sum up to that of another in every row."""
    seen = False
    for row in grid.rows:
        texts = [plain(cell.text) for cell in row.cells]
        if len(texts) != grid.width or _unmeasured(texts[whole]):
            continue
        if not all(BARE_NUMBER.fullmatch(texts[at]) for at in (*parts, whole)):
            return False
        told = [printed(texts[at].replace(",", "")) for at in parts]
        total = printed(texts[whole].replace(",", ""))
        least, most = sum(each.low for each in told), sum(each.high for each in told)
        if not (least <= total.high and total.low <= most):
            return False
        seen = True
    return seen


_OF_CUDA = re.compile(
    r"(cuda(?:[ _-](?:c\+\+|kernel|graphs?))?)(?:[ _](?:time|latency))?"
    r"[ _]?[(\[]?(?:[mun]s|µs|[TG]i?(?:FLOP|flop|Flop)[sS]?(?:/s)?|[GT]i?B/s)[)\]]?",
    re.IGNORECASE,
)


def of_cuda(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of times and rates with that of a kernel in CUDA beside those of other kernels: it is
    no time of any device, `torch (us) | triton (us) | cuda (us)`."""
    made = list(columns)
    measured = {at for at, each in enumerate(columns)
                if each.spec is not None and says_how_fast(each.spec)}  # fmt: skip
    found = {at: told for at in measured
             if (told := _OF_CUDA.fullmatch(plain(grid.header()[at])))
             and "kernel" not in columns[at].aside}  # fmt: skip
    if not found or "kernel" not in fields(schema) or found.keys() == measured:
        return made
    if all("kernel" in columns[at].aside for at in measured - found.keys()):
        for at, told in found.items():
            made[at] = replace(made[at], aside={**made[at].aside, "kernel": told[1]})
    return made


_DEVICE_BEHIND = re.compile(r"^([^()\[\]]{1,60}?(?: ?[(\[][^()\[\]]{1,20}[)\]])?)(?: ?[(\[]| on )"
                            r"((?=[^()\[\]]{0,40}[0-9])[A-Z][^()\[\]]{1,60})[)\]]?$")  # fmt: skip
"""A quantity in front of whom it is of: `TFLOPS (H100)`, `time (us) on MI300X`."""


_OF_ONE = re.compile(
    r"^[(\[]?(?:1|one|single) ?[x×]?(?: ?(?:GPU|GCD|die|card|device|chip|stack|tile))?[)\]] ?",
    re.IGNORECASE,
)
"""How many of a device computed, behind its name: `MI250X (1 GCD)`."""


def of_devices(grid: Grid, columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns of the same measurements of several devices, each named in front of its own or behind
    it: `a100_sxm_us | a100_sxm_tflops | rtx6000ada_us | ...`, `TFLOPS (H100) | TFLOPS (B200)`."""
    made, sides = list(columns), dict[str, dict[int, Column]]()
    for at, named in enumerate(map(plain, grid.header())):
        label = _DEVICE_BEHIND.sub(r"\2 \1", named)
        for cut in re.finditer(r"[ _:-]+", label) if columns[at].spec is None else ():
            if cut.start() > LONGEST_NAME:
                break
            name, rest = label[: cut.start()].replace("_", " "), label[cut.end() :].strip("()[] ")
            rest = _OF_ONE.sub("", rest).strip("()[] ")
            one = only(name)
            if one is None or one.start or one.end < len(name):
                continue
            told = column_named(rest, schema)
            if told.spec is not None and says_how_fast(told.spec) and told.scale and not told.aside:
                sides.setdefault(name, {})[at] = replace(told, aside={"gpu": name})
    measured = [sorted(c.spec.name for c in own.values() if c.spec) for own in sides.values()]
    alone = not any(column.spec and says_how_fast(column.spec) for column in columns)
    if sides and alone and measured.count(measured[0]) == len(measured):
        for own in sides.values():
            for at, column in own.items():
                made[at] = column
    return made


def by_devices(columns: Sequence[Column], schema: Schema) -> list[Column]:
    """Columns set apart by the name of a device as those of that device."""
    return [
        replace(each, aside={"gpu": each.aside["column"]})
        if list(each.aside) == ["column"] and "gpu" in fields(schema)
        and (one := only(each.aside["column"])) is not None
        and not one.start and one.end == len(each.aside["column"])
        else each
        for each in columns
    ]  # fmt: skip


LONGEST_NAME = 80
"""Characters of the name of a device with its maker, form and memory: none has as many."""


_ANY_BANDWIDTH = re.compile(
    r"(?:(?:avg|average|mean|raw|eff(?:ective)?|achieved|measured|message|payload|data)[ _.]{0,2})?"
    r"(?:bandwidth|bw|throughput)",
    re.IGNORECASE,
)

_IN_MEGABYTES = {"KB": 1, "MB": 2, "GB": 3}
"""Units of sizes that some count in 1,000s and others in 1,024s, by their power."""

WIDTHS = (1.0, 2.0, 4.0, 8.0)
"""Bytes of an element."""

_OF_TIMES = "a size over its time is the printed bandwidth"


def of_their_times(
    grid: Grid, columns: Sequence[Column], schema: Schema, above: Mapping[str, Cell]
) -> list[Column]:
    """Columns of collectives with a bandwidth of which no label says the kind, `Bandwidth (GB/s)`,
    as that of the algorithm where each is its size over its time; and with elements as bytes where
    that proves how wide they are. The size of all rows may be what the text `above` says."""
    made, own = list(columns), fields(schema)
    held = {each.spec.name: at for at, each in enumerate(columns) if each.spec is not None}
    labels = [plain(label) for label in grid.header()]
    sized = [SIZED.fullmatch(f"bw ({label})" if label in BANDWIDTH else label) for label in labels]
    rates = [(at, BANDWIDTH[each[2]]) for at, each in enumerate(sized) if each
             and columns[at] == Column() and each[2] in BANDWIDTH
             and _ANY_BANDWIDTH.fullmatch(each[1])]  # fmt: skip
    size = held.get("bytes", held.get("elements"))
    if len(rates) != 1 or "time" not in held or "algbw" in held:
        return made
    [(rate, scale)], time = rates, held["time"]
    if not columns[time].scale:
        return made
    if "busbw" in held:  # beside which it is that of the algorithm alone, or nobody's
        moved = (size, columns[size].scale) if size is not None and "bytes" in held else None
        took = time, columns[time].scale
        if moved and moved[1] and over_time(grid, moved, took, (rate, scale)):
            made[rate] = Column(own["algbw"], scale, law=_OF_TIMES)
        return made
    if size is None:
        if (said := above.get("bytes")) and over_time(
            grid, (None, float(said.text)), (time, columns[time].scale), (rate, scale)
        ):
            made[rate] = Column(own["algbw"], scale, law=_OF_TIMES)
        return made
    factors: tuple[float, ...] = (
        WIDTHS if "elements" in held and "bytes" not in held else (columns[size].scale,)
    )
    factors = factors if columns[size].scale else _in_either(labels[size]) or factors
    took = time, columns[time].scale
    fits = [each for each in factors if over_time(grid, (size, each), took, (rate, scale))]
    if not fits and "bytes" in held and (ends := _ends(labels)):
        ratio = _ratio(above)
        around = [_around(grid, (size, columns[size].scale * by), ends, (rate, scale))
                  for by in (1.0, ratio)]  # fmt: skip
        if around[0] and (ratio == 1.0 or not around[1]):
            made[rate] = Column(own["algbw"], scale, law=_OF_ENDS)
    if len(fits) == 1:
        made[rate] = Column(own["algbw"], scale, law=_OF_TIMES)
    if not fits and not columns[size].scale:  # of the bus, as nobody says
        by = _ratio(above)
        fits = [n for n in factors if n and over_time(grid, (size, n * by), took, (rate, scale))]
    if len(fits) == 1:
        made[size] = Column(own["bytes"], fits[0], law=columns[size].law or _OF_TIMES)
    return made


def _in_either(label: str) -> tuple[float, ...]:
    """Bytes that a size in megabytes or the like may be counted in.

    >>> _in_either("size (KB)"), _in_either("size (bytes)")
    ((1000.0, 1024.0), ())
    """
    sized = SIZED.fullmatch(label)
    power = _IN_MEGABYTES.get(sized[2]) if sized else None
    return (1000.0**power, 1024.0**power) if power else ()


_OF_ENDS = "a size over its least and over its most time are around the printed bandwidth"

_END = re.compile(r"(?<![A-Za-z])(min|max)(?:imum)?(?![A-Za-z])", re.IGNORECASE)


def _ends(labels: Sequence[str]) -> list[Measured]:
    """The columns of the least and of the most time of each call."""
    found = dict[str, Measured]()
    for at, label in enumerate(labels):
        end = _END.search(label)
        if end and (scale := timed(_END.sub("median", label))):
            found[end[1].casefold()] = at, scale
    return [found["min"], found["max"]] if len(found) == len(("min", "max")) else []


def _ratio(above: Mapping[str, Cell]) -> float:
    """Ratio of the bandwidth of the bus to that of the algorithm, 1 where nothing tells."""
    if not {"op", "ranks"} <= above.keys():
        return 1.0
    ranks = whole(above["ranks"].text)
    return (ranks and ratio_of(above["op"].text, ranks)) or 1.0


def _around(grid: Grid, size: Measured, ends: Sequence[Measured], rate: Measured) -> bool:
    """Whether every rate is between a size over its most time and over its least."""
    rows = [[plain(cell.text) for cell in row.cells] for row in grid.rows]
    rows = [texts for texts in rows if len(texts) == grid.width]
    places = [at for at, _ in (size, *ends, rate)]
    if not all(BARE_NUMBER.fullmatch(texts[at]) for texts in rows for at in places):
        return False
    for texts in rows:
        moved = _amount(texts[size[0]]) * size[1] / rate[1]
        told = printed(texts[rate[0]].replace(",", ""))
        least, most = (_amount(texts[at]) * scale for at, scale in ends)
        if not (least and most and moved / most <= told.high and told.low <= moved / least):
            return False
    return bool(rows)


def over_time(
    grid: Grid, size: tuple[int | None, float], time: tuple[int, float], rate: tuple[int, float],
    *, off: float = 0.0,
) -> bool:  # fmt: skip
    """Whether every size over its time is its rate, as far as the digits of both go, or `off` by a
    part of it; the size of a column, or one of all rows."""
    seen = False
    for row in grid.rows:
        texts = [plain(cell.text) for cell in row.cells]
        if len(texts) != grid.width:
            continue
        places = [at for at in (size[0], time[0], rate[0]) if at is not None]
        if _unmeasured(texts[time[0]]) and _unmeasured(texts[rate[0]]):
            continue
        if not all(BARE_NUMBER.fullmatch(texts[at]) for at in places):
            return False
        many = 1.0 if size[0] is None else _amount(texts[size[0]])
        took, told = (printed(texts[at].replace(",", "")) for at in (time[0], rate[0]))
        least, most = took.low * told.low, took.high * told.high
        by = time[1] * rate[1]
        if not by or not least * (1 - off) <= many * size[1] / by <= most * (1 + off):
            return False
        seen = True
    return seen
