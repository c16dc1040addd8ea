"""Tables of operators as grids with a column for each quantity, whatever their benchmark writes.

In: a grid. Out: the same with what stands in rows put into columns: a metric and its unit beside
one column of values, the name of what was varied beside one of its values, settings as an object in
a cell. And whether the labels of a grid are those of training, which is no operator's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from assay.ingest.columns.headers import plain
from assay.ingest.columns.subject import of_an_optimizer as names_an_optimizer
from assay.ingest.grids.aligned import figure_above
from assay.ingest.grids.grid import LONGEST, Grid, GridCell, GridRow
from assay.ingest.kernels.kernel_headings import LIBRARIES, heading_above, headings_around
from assay.ingest.kernels.row_names import BANDWIDTH_UNIT, ONE_NAMED
from assay.ingest.kernels.settings_around import FAR, ROW
from assay.ingest.numbers.printed import printed, whole
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import by_label
from assay.ingest.schema.record import Line, Schema
from assay.ingest.tables.csv_sections import timed
from assay.ingest.vocabulary.devices import only
from assay.ingest.vocabulary.terms import meaning, normalise
from assay.ingest.vocabulary.words import of_one_device

_UNITS = ("metricunit", "unit", "units", "timeunit")

_VALUES = (
    "realtime",
    "yvalue50",
    "median",
    "p50",
    "value",
    "yvalue",
    "mean",
    "avg",
    "average",
    "result",
)
"""Labels of the column of values beside one of units, the one that is taken first: benchmarks that
print quantiles mean the median."""

_QUANTITIES = {"s": "time", "B": "memory"}

OF_TRAINING = {"step_time", "step_rate", "tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s",
               "samples_per_gpu_per_s", "item_rate", "mfu", "hfu", "mfu_weights",
               "hfu_weights"}  # fmt: skip

MOST_NAMES = 16
"""Names of metrics, or of what was varied, of one table."""


def of_training(grid: Grid) -> bool:
    """Whether a label names what is measured of a training step, and no call that Google's
    benchmark timed, which counts items a second too; or what the two passes of a layer cost."""
    labels = [plain(label) for label in grid.header()]
    if set(_COSTS) <= set(labels):
        return True
    if {"real_time", "cpu_time", "time_unit"} <= set(labels):
        return False
    said = [None if _OF_PEAK.search(label) else meaning(label) for label in labels]
    return any(each is not None and each.field in OF_TRAINING for each in said)


def rates_of_runs(grid: Grid) -> bool:
    """Whether a label is a rate of tokens, sequences or images, which whole runs have alone, or
    there is the time of a step beside a share of the peak, or beside operations of each device."""
    told = {label: each.field for label in map(plain, grid.header()) if (each := meaning(label))}
    of_each = any(name == "model_flops_rate" and of_one_device(at) for at, name in told.items())
    of_steps = "step_time" in told.values() and (of_each or {"mfu", "hfu"} & {*told.values()})
    return bool(of_steps or _RATES_OF_RUNS & {*told.values()})


_RATES_OF_RUNS = {
    "tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "samples_per_gpu_per_s", "item_rate",
}  # fmt: skip

_COSTS = ("flops_fwd", "flops_bwd")
"""Labels of an estimate of layers, whose own format reads it."""

_OF_PEAK = re.compile(r"(?:%|percent|share|fraction) ?(?:of )?\w* ?(?:peak|roofline)|%peak", re.I)
"""A share of what a device can do, which kernels have as much as runs."""


_OPTIMIZERS = ("optimizer", "optimiser", "implementation", "impl", "variant", "version", "backend")

_IN_UNITS = {1.0: "s", 1e-3: "ms", 1e-6: "us"}


def of_an_optimizer(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid of a table below a heading of an optimizer's steps, with the labels of a kernel and
    of its time where it has some of optimizers and of a step; any other as it is.

    Nothing that training alone has stands beside them.
    """
    said = [meaning(plain(label)) for label in grid.header()]
    known = [each for each in said if each is not None]
    at = _place(grid, _OPTIMIZERS)
    if len(grid.heads) != 1 or grid.labels:
        return grid
    if at is None:
        return _implementations_apart(lines, _shapes_apart(grid))
    if not known or any(each.field not in ("step_time", "memory", "optimizer") for each in known):
        return grid
    heading = heading_above(lines, grid)
    if heading is None or not names_an_optimizer(heading.text):
        return grid
    head = grid.heads[0]
    cells = list(head.cells)
    for place, each in enumerate(said):
        if place == at:
            cells[at] = cells[at]._replace(text="kernel")
        elif each is not None and each.field == "step_time":
            unit_of = _IN_UNITS.get(each.scale) if each.unit_known else None
            label = f"time ({unit_of})" if unit_of else "time"
            cells[place] = cells[place]._replace(text=label)
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


_WAYS = re.compile(
    r"((?:py)?torch(?:\.compile)?|for-?loop|foreach|fused|single[- ]tensor|multi[- ]tensor"
    r"|apex(?: \w+)?|capturable|naive|eager|compiled?|default|bnb(?: 8-?bit)?|ours|triton"
    r"|deepspeed(?: \w+)?|cpu|cuda|custom|baseline|reference|standard|native|optimi[sz]ed)"
    r"(?:[ _]time)?(?:(?: ?[(\[]|[ _])([mu]s|µs|s|[KMG]i?B)[)\]]?)?",
    re.IGNORECASE,
)
"""Ways to compute the step of an optimizer, side by side: `for-loop (ms) | foreach (ms)`."""

_OF_PYTORCH = {"forloop", "foreach", "fused", "singletensor", "multitensor"}

_OF_A_STEP = re.compile(r"\boptimi[sz]er(?:\.| )step\b|\badam\w* step\b", re.IGNORECASE)

_AN_OPTIMIZER = re.compile(
    r"[\s#*]*(?:[0-9.]+[.)]? )?((?:fused[ _-]?)?(?:adam\w*|lamb|lion|sgd|adafactor|muon|shampoo"
    r"|rmsprop|adagrad|sophia)(?:[ -]?8-?bit)?)"
    r"(?:[ -](?:optimi[sz]er|steps?|updates?|kernels?|times?|latency|performance|benchmarks?"
    r"|results))*(?: ?[(\[][^()]*[)\]])?[\s*:]*",
    re.IGNORECASE,
)
"""A heading that is the name of an optimizer, and no more than that its step was timed."""

_TRAINS = re.compile(r"train|fine-?tun|epoch|end[- ]to[- ]end|e2e|throughput|loss", re.IGNORECASE)


def _implementations_apart(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid of steps of an optimizer with a row for each way to compute them, which stand side
    by side, where a heading names the optimizer or a line above says that it is of its steps; any
    other as it is."""
    labels = [plain(label) for label in grid.header()]
    found = [_WAYS.fullmatch(label) for label in labels]
    ways = {at: each for at, each in enumerate(found) if each and each[2]}
    units = {each[2] for each in ways.values()}
    if len(units) != 1 or not (named := _optimizer_above(lines, grid, ways)):
        return grid
    what = "memory" if (unit_of := units.pop()).endswith("B") else "time"
    rest = [f"axis: {label}" for at, label in enumerate(labels) if at not in ways]
    said = {at: [each[1]] for at, each in ways.items()}
    made = _melted(grid, said, [*rest, "kernel"], f"{what} ({unit_of})")
    return with_column(made, "operator", named)


def _optimizer_above(lines: Sequence[Line], grid: Grid, ways: Mapping[int, re.Match[str]]) -> str:
    """Whose steps several ways compute, as the headings around say it, none of training between."""
    known = _OF_PYTORCH & {normalise(each[1]) for each in ways.values()}
    near = lines[max(0, grid.begin - _STEPS_ABOVE) : grid.begin] if len(known) > 1 else ()
    pages = [at for at, line in enumerate(near) if line.text.startswith("# ")]
    if any(_OF_A_STEP.search(line.text) for line in near[pages[-1] if pages else 0 :]):
        return "optimizer step"
    if len(ways) < len(("one", "other")) or any(map(_TRAINS.search, grid.header())):
        return ""
    for heading in headings_around(lines, grid):
        if named := _AN_OPTIMIZER.fullmatch(heading):
            return named[1]
        if _TRAINS.search(heading):
            break
    return ""


_STEPS_ABOVE = 30

_IN_UNITS_OF = re.compile(r"units?:? ?[(:\[]? ?([A-Za-z/µ]+)[)\]]?", re.IGNORECASE)

_SETTINGS = re.compile(r"[A-Za-z_]+ ?= ?[0-9]+(?:, ?[A-Za-z_]+ ?= ?[0-9]+)*")

_WITH_PASS = re.compile(
    r"(\S.*?) ?[-:,(] ?(f(?:or)?w(?:ar)?d?|b(?:ack)?w(?:ar)?d?|fwd? ?\+ ?bwd?)\)?", re.IGNORECASE
)

_PASSES = {"fw": "forward", "bw": "backward", "fw+bw": "forward+backward"}


def _shapes_apart(grid: Grid) -> Grid:
    """The grid of a table of names by shapes, whose corner says the unit of all, with a row for
    each: `Units: GB/s | B=8, M=256, K=512 | ...`, as the benchmarks of xFormers print it."""
    labels = [plain(label) for label in grid.header()]
    corner = _IN_UNITS_OF.fullmatch(labels[0]) if len(labels) > 1 else None
    if corner is None or not all(map(_SETTINGS.fullmatch, labels[1:])):
        return grid
    what = _quantity(corner[1])
    told = [ONE_NAMED.findall(label) for label in labels[1:]]
    names = [name for name, _ in told[0]]
    if what is None or any([name for name, _ in each] != names for each in told):
        return grid
    said = {at: [size for _, size in each] for at, each in enumerate(told, 1)}
    made = _melted(grid, said, ["kernel", *names], what)
    found = [_WITH_PASS.fullmatch(plain(row.cells[0].text)) for row in made.rows]
    if not found or not all(found):
        return made

    def row_of(row: GridRow, name: str, word: str) -> GridRow:
        first, *cells = row.cells
        return replace(row, cells=(first._replace(text=name), first._replace(text=word), *cells))

    both = zip(made.rows, found, strict=True)
    rows = (row_of(row, each[1], _pass_of(each[2])) for row, each in both if each)
    return replace(made, heads=(row_of(made.heads[0], "kernel", "direction"),), rows=tuple(rows))


def _pass_of(text: str) -> str:
    """A pass as tables of kernels call it.

    >>> _pass_of("fw"), _pass_of("fw+bw"), _pass_of("bwd")
    ('forward', 'forward+backward', 'bwd')
    """
    return _PASSES.get(text.casefold().replace(" ", ""), text)


def _melted(
    grid: Grid, said: Mapping[int, Sequence[str]], names: Sequence[str], value: str
) -> Grid:
    """The grid with a row for each cell of some columns, and what is said of each of them in
    columns of their own, behind all others."""
    head = grid.heads[0]
    end = head.cells[-1]
    cells = (*(end._replace(text=name) for name in names), end._replace(text=value))
    rows = []
    for row in grid.rows:
        whole = len(row.cells) == grid.width
        for at, texts in said.items() if whole else ():
            cell = row.cells[at]
            rest = [each for n, each in enumerate(row.cells) if n not in said]
            line = row.line._replace(column=cell.column)
            own = (cell._replace(text=text) for text in texts)
            rows.append(replace(row, line=line, cells=(*rest, *own, cell)))
    return replace(grid, heads=(replace(head, cells=cells),), rows=tuple(rows))


LIBRARY = re.compile(rf"(?<![A-Za-z])(?:{LIBRARIES})(?![A-Za-z])", re.IGNORECASE)

_WHO = ("candidate", "variant", "version", "impl", "method", "approach", "algorithm", "config",
        "mode", "library", "strategy", "optimization", "path")  # fmt: skip

_WHAT = ("test", "workload", "benchmark", "function", "case", "primitive", "task")
"""Labels of names under a heading of kernels: of those who compute, and of what is computed."""

_OF_KERNELS = re.compile(
    r"(?<![A-Za-z])(?:kernels?|gemms?|mat-?muls?|(?:flash[ -]?)?attention|micro-?benchmarks?"
    r"|(?:rms|layer|group)[ _-]?norm|softmax|rope|swiglu|gelu|ops|operators?|primitives?"
    r"|cross[ _-]?entropy|geglu|rotary(?: embedding)?|dropout"
    r"|elementwise|reductions?)(?![A-Za-z])|内核|算子|커널",
    re.IGNORECASE,
)

_OF_RUNS = re.compile(
    r"train|fine-?tun|\bsteps?\b|epoch|inference|decod|prefill|generat|serving|end[- ]to[- ]end|e2e"
    r"|throughput|tokens?\b|\btok/|samples?/|img|images?\b|\bfps\b|\bloss|accuracy|\bppl\b|ttft|tpot"
    r"|\bmodels?\b|estimat|predict|expect|project(?:ed|ion)|target|theor|simulat|训练|推理|预期|理论",
    re.IGNORECASE,
)
"""Found in headings and labels of tables of whole runs, or of what nobody measured."""

_CALLED = re.compile(
    r"(?:exp|sin|cos|tanh|add|mul|sub|div|copy|sqrt|log|pow|sum|relu|gelu|silu|sigmoid|softmax|swiglu"
    r"|(?:rms|layer|group)_?norm|matmul|gemm|gemv|transpose\w*|reduce\w*|rope|cumsum|sort|topk|dropout"
    r"|embedding|conv\w*|quantize\w*|dequantize\w*|scan|histogram|gather|scatter)(?![A-Za-z])",
    re.IGNORECASE,
)


_NO_NAME = re.compile(r"[A-Za-z][=:]?[0-9]{1,7}(?:[ ,_x/-]{1,2}[A-Za-z][=:]?[0-9]{1,7}){1,5}")
"""Sizes behind letters, which are the name of nothing."""


def named_by_heading(lines: Sequence[Line], grid: Grid, schema: Schema) -> Grid:
    """The grid of a table whose first column has names with the label of what these are, where the
    heading above is of kernels or the names are of operators: `Candidate | Latency (us)`. None of
    whole runs, and none that has such a label."""
    known = by_label(schema)
    specs = [known.get(normalise(plain(label)), (None, 1.0))[0] for label in grid.header()]
    if grid.labels or len(grid.heads) != 1 or any(s and s.name in _NAMING for s in specs):
        return grid
    around = headings_around(lines, grid)
    if any(map(_OF_RUNS.search, (*around[:1], *grid.header()))):
        return grid
    rows = [row for row in grid.rows if len(row.cells) == grid.width and not row.blank]
    for at, spec in enumerate(specs[: len(("rank", "name"))]):
        texts = [plain(row.cells[at].text) for row in rows]
        label = normalise(plain(grid.header()[at]))
        if not label and not at and (_opened(lines, grid) or _of_sizes(lines, grid)):
            beside = any(map(LIBRARY.search, grid.header()[1:]))
            label = "case" if beside else "impl"
        shape = _BEGINS if label in _WHO else NAMED  # `v2` is a version
        if spec is not None or not texts or not all(map(shape.match, texts)):
            continue
        if all(map(_NO_NAME.fullmatch, texts)):  # `B4096 H1024`
            continue
        called = sum(_CALLED.search(text) is not None for text in texts)
        if len(texts) > 1 and called * 3 >= len(texts) * 2 and label not in _WHO:
            name = "operator"
        elif (
            any(map(_OF_KERNELS.search, around)) or _opened(lines, grid) or _of_sizes(lines, grid)
        ) and label in (
            *_WHO,
            *_WHAT,
        ):
            name = "kernel" if label in _WHO else "operator"
        else:
            return grid
        head = grid.heads[0]
        cells = [each._replace(text=name) if n == at else each
                 for n, each in enumerate(head.cells)]  # fmt: skip
        return replace(grid, heads=(replace(head, cells=tuple(cells)),))
    return grid


def _opened(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the line right above a table, which opens it, speaks of an operator."""
    near = [line.text.rstrip() for line in lines[max(0, grid.begin - 2) : grid.begin]]
    text = next((text for text in reversed(near) if text), "")
    return text.endswith((":", "：")) and _OF_KERNELS.search(text) is not None


_SIZE_NAMED = re.compile(r"(?<![A-Za-z0-9_])([MNKmnk]) ?[=:] ?[0-9][0-9,]{1,9}(?![A-Za-z])")


def _of_sizes(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether the heading of a table says all three sizes of a product, as calls alone have them:
    `M=4096, K=12288, N=49152`."""
    heading = heading_above(lines, grid)
    found = _SIZE_NAMED.findall(heading.text) if heading and len(heading.text) <= LONGEST else []
    return {*map(str.casefold, found)} == {*"mnk"}


_NORM = re.compile(r"(?<![A-Za-z])(?:rms|layer)[ _-]?norm(?:ali[sz]ation)?(?![A-Za-z])", re.I)


def with_width(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid with labels of sizes over its columns of letters, as the text above says what these
    are; and below a heading of norms those of a width and of tokens over its columns `N` and `M`,
    where no other letter is one: a norm is over M rows of N numbers."""
    labels = [plain(label) for label in grid.header()]
    letters = [label for label in labels if len(label) == 1 and label.isalpha()]
    if len(grid.heads) == 1 and not grid.labels and not letters:
        return _with_sizes_of_norms(lines, grid)
    if not letters or len(grid.heads) != 1:
        return grid
    names = _letters_explained(lines, grid, letters)
    if not names and letters in (["N"], ["n"], ["M", "N"], ["m", "n"]):
        names = _of_a_norm(lines, grid, labels)
    if not names:
        return grid
    head = grid.heads[0]
    cells = tuple(cell._replace(text=names.get(plain(cell.text), cell.text)) for cell in head.cells)
    return replace(grid, heads=(replace(head, cells=cells),))


_SHAPE = re.compile(r"[(\[]?([0-9]{1,8}(?:(?: ?[x×*] ?|, ?)[0-9]{1,8}){1,3}),?[)\]]?")


def _with_sizes_of_norms(lines: Sequence[Line], grid: Grid) -> Grid:
    """The grid of calls of a norm with a column for the width that each is over, the last size of
    one column of shapes, and for its rows where that has no more than both: `[8×1024×2048]`."""
    labels = [normalise(plain(label)) for label in grid.header()]
    if (told := _with_sizes_by_names(grid, labels)) is not None:
        return told
    named = next(filter(_OF_KERNELS.search, headings_around(lines, grid)), "")
    if not _NORM.search(named) or {"hidden", "hiddensize", "hiddendim", "operator"} & {*labels}:
        return grid
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    shapes = [[_SHAPE.fullmatch(plain(row.cells[at].text)) for row in rows]
              for at in range(grid.width)]  # fmt: skip
    places = [at for at, found in enumerate(shapes) if found and all(found)]
    if len(places) != 1:
        return grid
    sizes = [re.findall("[0-9]+", found[1]) for found in shapes[places[0]] if found]
    if len({len(each) for each in sizes}) != 1:
        return grid
    names = ["tokens", "hidden"] if len(sizes[0]) == len(("M", "N")) else ["hidden"]
    said = {row.line.number: each[-len(names) :] for row, each in zip(rows, sizes, strict=True)}

    def with_cells(row: GridRow, texts: Sequence[str], at: int) -> GridRow:
        return replace(row, cells=(*row.cells, *(row.cells[at]._replace(text=t) for t in texts)))

    made = [with_cells(row, said[row.line.number], places[0]) if row in rows else row
            for row in grid.rows]  # fmt: skip
    return replace(grid, heads=(with_cells(grid.heads[0], names, -1),), rows=tuple(made))


_SHAPES = {"shape", "inputshape", "tensorshape", "xshape", "size", "inputsize", "dims", "shapes"}
"""Labels of the sizes of what was called with."""

_NAMES_OF_CALLS = {
    "kernel",
    "kernelname",
    "name",
    "function",
    "layer",
    "benchmark",
    "module",
    "算子",
}
"""Labels below which a norm may stand by its name, where no column is one of operators."""

_NAMES_OF_NORMS = re.compile(
    r"(?:(?:fused|add|residual|skip|gated|triton|torch|cuda|my|apex|liger|quack)[ _-]){0,4}"
    r"(?:rms|layer)[ _-]?norm(?:ali[sz]ation)?"
    r"(?:[ _-](?:fwd|bwd|forward|backward|residual|add|fused|v[0-9]|kernel)){0,3}",
    re.IGNORECASE,
)
"""An operator that is a norm over the last size of its input, and no more than sums before it."""


def _with_sizes_by_names(grid: Grid, labels: Sequence[str]) -> Grid | None:
    """The grid of several operators with a column for the width of those that are norms, the last
    of the sizes in a column of shapes, and for their rows where two are said. None of others."""
    ops = [at for at, label in enumerate(labels) if label in _OPERATORS]
    ops = ops or [at for at, label in enumerate(labels) if label in _NAMES_OF_CALLS]
    places = [at for at, label in enumerate(labels) if label in _SHAPES]
    held = {"hidden", "hiddensize", "hiddendim", "tokens", "rows"} & {*labels}
    if len(ops) != 1 or len(places) != 1 or held:
        return None
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    said = dict[int, list[str]]()
    for row in rows:
        shape = _SHAPE.fullmatch(plain(row.cells[places[0]].text))
        of_norm = _NAMES_OF_NORMS.fullmatch(plain(row.cells[ops[0]].text))
        if of_norm and shape is None:
            return None
        sizes = re.findall("[0-9]+", shape[1]) if of_norm and shape else []
        said[row.line.number] = [sizes[0] if len(sizes) == len(("M", "N")) else "", *sizes[-1:]]
    if not any(any(each) for each in said.values()):
        return None

    def row_of(row: GridRow, texts: Sequence[str]) -> GridRow:
        own = [*texts, "", ""][: len(("tokens", "hidden"))]
        return replace(row, cells=(*row.cells, *(row.cells[-1]._replace(text=t) for t in own)))

    made = [row_of(row, said[row.line.number]) if row in rows else row for row in grid.rows]
    return replace(grid, heads=(row_of(grid.heads[0], ["tokens", "hidden"]),), rows=tuple(made))


def _of_a_norm(lines: Sequence[Line], grid: Grid, labels: Sequence[str]) -> dict[str, str]:
    """The meaning of `N` and `M` in calls of a norm; below the name of a figure, whose axis has
    any name, where the text above says all numbers as widths."""
    heading = heading_above(lines, grid)
    if grid.syntax == "text":
        at = next(n for n, label in enumerate(labels) if label in ("N", "n"))
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        named = figure_above(lines[: grid.begin])
        of_norm = named is not None and _NORM.search(named.text) is not None
        return {labels[at]: "hidden"} if of_norm and _widths_said(lines, grid, texts) else {}
    if heading is None or not _NORM.search(heading.text):
        return {}
    return dict.fromkeys("Nn", "hidden") | dict.fromkeys("Mm", "tokens")


_WIDTHS = re.compile(
    r"\b(?:d_?model|hidden[ _-]?(?:sizes?|dim(?:ension)?s?)?|n_embd|widths?"
    r"|feature dim(?:ension)?s?)"
    r"(?![A-Za-z])(?P<rest>(?:(?!\. )[^|]){1,120})",
    re.IGNORECASE,
)


def _widths_said(lines: Sequence[Line], grid: Grid, texts: Sequence[str]) -> bool:
    """Whether a sentence above a table says all numbers of a column as widths: `d_model of 4096 or
    8192`."""
    sizes = {text.removesuffix(".0").replace(",", "") for text in texts}
    for line in lines[max(0, grid.begin - FAR) : grid.begin]:
        for found in _WIDTHS.finditer(line.text) if len(line.text) <= _PARAGRAPH else ():
            if sizes <= {each.replace(",", "") for each in _A_SIZE.findall(found["rest"])}:
                return bool(sizes)
    return False


_A_SIZE = re.compile(
    r"(?<![\w.,])[0-9]{1,3}(?:,[0-9]{3})+(?![\w,]|\.[0-9])|(?<![\w.])[0-9]{2,7}(?!\w)"
)

_PARAGRAPH = 1000
"""Letters of a line of text that may say what was run."""

_SIZES_EXPLAINED = {
    "hidden": r"hidden(?: (?:size|dim(?:ension)?|width))?|model dim(?:ension)?|d_?model"
    r"|(?:row|feature|embedding) (?:width|size|dim(?:ension)?)|number of (?:columns|features)",
    "tokens": r"(?:number of |num(?:ber)? )?(?:tokens|rows)|token count",
    "batch": r"batch(?: ?size)?",
    "seq": r"(?:sequence|context) length|seq(?:uence)?[ _]?len(?:gth)?",
    "vocab": r"vocab(?:ulary)?(?: ?size)?",
    "ffn_hidden": r"(?:intermediate|ffn|mlp)(?: (?:hidden )?(?:size|dim(?:ension)?))",
    "experts": r"(?:number of |num )experts",
}

_EXPLAINED = re.compile(
    r"(?<![\w`])[`*]{0,2}(?P<letter>[A-Za-z])[`*]{0,2} ?"
    r"(?:=|:|is|are|denotes|stands for|means|–|—|\()"
    r" ?(?:the |our )?(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _SIZES_EXPLAINED.items())
    + r")(?![\w])"
    r"|(?<!\w)(?:"
    + "|".join(f"(?P<{name}_>{words})" for name, words in _SIZES_EXPLAINED.items())
    + r") ?[(\[]?[`*]{0,2}(?P<behind>[A-Z])[`*]{0,2}(?![\w])",
    re.IGNORECASE,
)
"""A letter and its meaning: `N is the hidden size`, `M: tokens`, `hidden size (N)`."""


def _letters_explained(lines: Sequence[Line], grid: Grid, letters: Sequence[str]) -> dict[str, str]:
    """Meanings of letters over columns by the text above a table, each in one way and no two
    the same; nothing of three that a product has."""
    if {*map(str.casefold, letters)} >= {*"mnk"}:
        return {}
    told = dict[str, set[str]]()
    for line in lines[max(0, grid.begin - FAR) : grid.begin]:
        if len(line.text) > LONGEST or ROW.match(line.text):
            continue
        for found in _EXPLAINED.finditer(line.text):
            letter = found["letter"] or found["behind"]
            name = next(each for each, words in found.groupdict().items()
                        if words and each not in ("letter", "behind"))  # fmt: skip
            told.setdefault(letter, set()).add(name.rstrip("_"))
    names = {letter: next(iter(told[letter])) for letter in letters
             if len(told.get(letter, ())) == 1}  # fmt: skip
    own = {normalise(plain(label)) for label in grid.header()}
    apart = len({*names.values()}) == len(names) and not own & {*map(normalise, names.values())}
    return names if apart else {}


def of_anything(lines: Sequence[Line], grid: Grid) -> bool:
    """Whether a table has nothing but operations and their times, and neither the headings around
    it nor most of the names are of kernels: so do pages about anything list what takes how long."""
    labels = [normalise(plain(label)) for label in grid.header()]
    if "operation" not in labels or any(map(_OF_KERNELS.search, headings_around(lines, grid))):
        return False
    rest = [label for label in labels if label != "operation"]
    if not all(map(_OF_ANYTHING.match, rest)):
        return False
    at = labels.index("operation")
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    return 2 * sum(_CALLED.search(text) is not None for text in texts) < len(texts)


_OF_ANYTHING = re.compile(
    r"(?:avg|average|mean|median|total|typical)?(?:time|latency|duration|elapsed|runtime|memory|notes?"
    r"|description|details|remarks?|frequency|status|complexity|relative|improvement|speedup|impact)"
)


def of_all_calls(grid: Grid) -> bool:
    """Whether the times of a table sum up all calls of a profile: a column says what part of its
    whole each is, and no time is that of one call."""
    labels = [plain(label) for label in grid.header()]
    return any(map(_OF_A_WHOLE.fullmatch, labels)) and not any(map(_OF_ONE_CALL.search, labels))


_OF_A_WHOLE = re.compile(
    r"(?:%|percent(?:age)?|share|fraction|portion|pct\.?) ?(?:of )?(?:the )?"
    r"(?:(?:total|overall|whole|all|gpu|cuda|device|kernels?|step|iteration|run|time|runtime)"
    r"[ -]?){1,3}"
    r"|share|%|percent(?:age)?|pct\.?|(?:(?:total|gpu|cuda|device|self|kernel) ?)*"
    r"(?:time)? ?[(\[]?(?:%|pct|share|percent)[)\]]?|占比|时间占比",
    re.IGNORECASE,
)

_OF_ONE_CALL = re.compile(
    r"(?<![a-z])(?:(?:avg|average|mean|median)|(?:p50|min|each|per)(?![a-z]))|/ ?(?:call|launch)"
    r"|平均",
    re.IGNORECASE,
)


_BEGINS = re.compile(r"[A-Za-z]")

_NAMING = {"operator", "kernel", "experts"}


def in_columns(grid: Grid, schema: Schema) -> Grid:
    """The grid with a column for each quantity, setting and object's member that its rows name."""
    if grid.labels or len(grid.heads) != 1:
        return grid
    grid = _of_copies(_of_pairs(_of_pytest(_of_nvbench(_of_timers(_of_ncu(grid))))))
    grid = _varied_apart(_metrics_apart(_summary(_totals_apart(grid))), schema)
    return _settings_apart(grid, schema)


_SENDS = {"src", "source", "from", "sender", "srcgpu", "gpusrc", "fromgpu", "sourcegpu", "srcrank",
          "srcdev", "srcdevice", "sourcedevice"}  # fmt: skip

_TAKES = {"dst", "dest", "destination", "to", "target", "receiver", "dstgpu", "gpudst", "togpu",
          "destgpu", "targetgpu", "dstrank", "dstdev", "dstdevice", "targetdevice",
          "destinationgpu"}  # fmt: skip
"""Labels of the two ends of a copy."""

_A_PAIR = {"pair", "gpupair", "devicepair", "pairs", "link", "srcdst", "gpus", "path", "peers",
           "fromto"}  # fmt: skip

_PAIRED = re.compile(
    r"(?:GPU|dev(?:ice)?|rank)?[ _]?[0-9]{1,4} ?(?:<?[-=]{1,3}>|[-–—→↔⇄/]|to) ?"
    r"(?:GPU|dev(?:ice)?|rank)?[ _]?[0-9]{1,4}",
    re.IGNORECASE,
)
"""Both ends in one cell: `0->1`, `GPU0 - GPU4`."""

_OF_A_COPY = re.compile(
    r"(?:[a-z ]{0,30}(?:bw|bandwidth|throughput|latency)[a-z ]{0,20})?[ (\[]{0,2}"
    r"([GM]i?B/s|[GM]B/sec|GBps|[mu]s|µs)[)\]]?",
    re.IGNORECASE,
)


def _of_pairs(grid: Grid) -> Grid:
    """The grid of bandwidths or latencies between pairs of devices with the name of what was done
    there, a copy from one to the other: `src | dst | GB/s`."""
    labels = [plain(label) for label in grid.header()]
    names = [normalise(label) for label in labels]
    ends = [at for at, name in enumerate(names) if name in _SENDS | _TAKES]
    both = (
        len(ends) == len(("from", "to")) and names[ends[0]] in _SENDS and names[ends[1]] in _TAKES
    )
    rows = [row for row in grid.rows if len(row.cells) == grid.width]
    if both:
        both = all(_AN_END.fullmatch(plain(row.cells[at].text)) for row in rows for at in ends)
    else:
        ends = [at for at, name in enumerate(names) if name in _A_PAIR]
        both = len(ends) == 1 and all(
            _PAIRED.fullmatch(plain(row.cells[ends[0]].text)) for row in rows
        )
    rest = [label for at, label in enumerate(labels) if at not in ends]
    if not both or not rows or not any(map(_OF_A_COPY.fullmatch, rest)):
        return grid
    return with_column(grid, "operator", "p2p copy")


_A_TEST = re.compile(
    r"(?:host|device|all)_to_(?:host|device|all)(?:_[a-z]+){0,6}_(?:ce|sm)|device_local_copy",
    re.IGNORECASE,
)
"""The name of a test of nvbandwidth: `device_to_device_memcpy_read_ce`."""

_OF_A_TEST = re.compile(
    r"(mean|avg\.?|average|median)?(?:lowest|min(?:imum)?|sum|result|measured|value|achieved)?"
    r"[ _]?(?:bandwidth|bw|throughput)?[ _]?[(\[]?([GM]i?B/s|GBps)[)\]]?",
    re.IGNORECASE,
)


def _of_copies(grid: Grid) -> Grid:
    """The grid of tests of nvbandwidth with the name of each as that of the operator, and the one
    bandwidth of each, or their mean, as what was measured."""
    labels = [plain(label) for label in grid.header()]
    first = [plain(row.cells[0].text) for row in grid.rows if row.cells and not row.one]
    if not first or not all(map(_A_TEST.fullmatch, first)):
        return grid
    rates = {at: told for at, label in enumerate(labels)
             if at and (told := _OF_A_TEST.fullmatch(label))}  # fmt: skip
    means = [at for at, told in rates.items() if told[1]]
    mine = means if len(means) == 1 else [*rates]
    if len(mine) != 1:
        return grid
    renamed = {0: "operator", mine[0]: f"bandwidth ({rates[mine[0]][2]})"}
    head = grid.heads[0]
    cells = (cell._replace(text=renamed.get(at, cell.text)) for at, cell in enumerate(head.cells))
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


_AN_END = re.compile(r"(?:GPU|cuda:|dev(?:ice)?|rank|node)?[ _:]?[0-9]{1,4}", re.IGNORECASE)

_NCU = ("Kernel Name", "Metric Name", "Metric Unit", "Metric Value")

_DURATIONS = {"Duration", "gpu__time_duration.sum", "gpu__time_duration.avg"}

_IN_NCU = {"nsecond": "ns", "usecond": "us", "msecond": "ms", "second": "s"}


def _of_ncu(grid: Grid) -> Grid:
    """The kernels of Nsight Compute's long table, which has a metric in each row, with their time;
    its `Device` is a number."""
    labels = [plain(label) for label in grid.header()]
    if not {*_NCU} <= {*labels} or len(grid.heads) != 1:
        return grid
    name, metric, of_unit, value = map(labels.index, _NCU)
    head = grid.heads[0]

    def row_of(row: GridRow, time: str, operator: str) -> GridRow:
        cells = row.cells[name]._replace(text=operator), row.cells[value]._replace(text=time)
        return replace(row, cells=cells)

    rows = []
    for row in grid.rows:
        if len(row.cells) == grid.width and plain(row.cells[metric].text) in _DURATIONS:
            measure = plain(row.cells[of_unit].text)
            time = f"{plain(row.cells[value].text)} {_IN_NCU.get(measure, measure)}"
            rows.append(row_of(row, time, row.cells[name].text))
    return replace(grid, heads=(row_of(head, "time", "operator"),), rows=tuple(rows))


_COUNTS = ("instances", "calls", "numcalls", "ofcalls", "count")

_NAMES = ("name", "kernelname", "function")

_OPERATORS = ("operator", "op", "opname", "operation")


_PROVIDERS = ("provider", "backend", "implementation", "library", "impl")


_ONE_TIME = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)?) ?([mun]?s|µs|μs)?")


def _totals_apart(grid: Grid) -> Grid:
    """The grid of a profile with the times of all calls of a name told from those of one: they are
    so many as a column counts times the mean of another, `CUDA time | Calls | Avg/call`."""
    labels = [plain(label) for label in grid.header()]
    count, times = _place(grid, _COUNTS), [at for at, each in enumerate(labels) if timed(each)]
    means = [at for at in times if _OF_ONE_CALL.search(labels[at])]
    rows = [[plain(cell.text) for cell in row.cells] for row in grid.rows
            if len(row.cells) == grid.width]  # fmt: skip
    if count is None or len(means) != 1 or not rows:
        return grid
    totals = [at for at in times if at not in means and all(
        _sums_up(row, (at, means[0]), row[count], labels) for row in rows)]  # fmt: skip
    head = grid.heads[0]
    cells = (cell._replace(text=f"total {labels[at]}") if at in totals else cell
             for at, cell in enumerate(head.cells))  # fmt: skip
    return replace(grid, heads=(replace(head, cells=tuple(cells)),)) if totals else grid


def _sums_up(
    row: Sequence[str], places: tuple[int, int], count: str, labels: Sequence[str]
) -> bool:
    """Whether the first of two times of a row is the other as often as it was called, as far as
    their digits go."""
    found = [_ONE_TIME.fullmatch(row[at]) for at in places]
    scales = [timed(f"({each[2]})") if each and each[2] else timed(labels[at])
              for each, at in zip(found, places, strict=True)]  # fmt: skip
    calls = whole(count.replace(",", ""))
    if calls is None or not all(found) or not all(scales):
        return False
    total, mean = ((printed(each[1]), scale or 0.0)
                   for each, scale in zip(found, scales, strict=True) if each)  # fmt: skip
    low, high = (calls * end * mean[1] for end in (mean[0].low, mean[0].high))
    return bool(low <= total[0].high * total[1] and total[0].low * total[1] <= high)


def _summary(grid: Grid) -> Grid:
    """A table whose names are of operators: the summary of a profiler, which counts their calls, a
    benchmark of Google's, or kernels beside who provides them."""
    at = _place(grid, _NAMES)
    counted = _place(grid, _COUNTS) is not None
    if at is None and counted and _place(grid, (*_OPERATORS, *_PROVIDERS)) is None:
        at = _place(grid, ("kernel", "kernels", "cudakernel", "gpukernel"))  # of no one else
    timed = _place(grid, ("realtime",)) is not None and _place(grid, ("timeunit",)) is not None
    if _place(grid, _COUNTS) is None and not timed:
        at = _place(grid, ("kernel", "kernelname")) if _place(grid, _OPERATORS) is None else None
        if _place(grid, _PROVIDERS) is None and at is not None and not _all_called(grid, at):
            at = None
    if at is None:
        return grid
    head = grid.heads[0]
    cells = [each._replace(text="operator") if n == at else each
             for n, each in enumerate(head.cells)]  # fmt: skip
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


def _all_called(grid: Grid, at: int) -> bool:
    """Whether all names of a column are of operators, `softmax`, `rmsnorm`, and devices stand side
    by side: nobody says who computed them."""
    if sum(only(plain(label)) is not None for label in grid.header()) <= 1:
        return False
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    return len({*texts}) > 1 and all(map(_CALLED_SO.fullmatch, texts))


_CALLED_SO = re.compile(
    r"(?:fused[ _-]?)?(?:softmax|swi?glu|geglu|gelu|silu|relu|sigmoid|tanh|(?:add[ _+-]?)?"
    r"(?:rms|layer|group|batch)[ _-]?norm|mat-?mul|gemm|gemv|transpose|rope|rotary|cumsum|sort"
    r"|top-?k|dropout|embedding|conv[123]d|(?:de)?quantize|(?:cross[ _-]?)?entropy|attention"
    r"|vector[ _-]?add|reduce|reduction"
    r"|scan|histogram|gather|scatter|add|mul|exp|sum|mean|adamw?|mlp|moe)"
    r"(?:[ _-]?(?:fwd|bwd|forward|backward|kernel))?",
    re.IGNORECASE,
)
"""A name that is that of an operator, and no more than its pass beside it."""

_NVBENCH = {
    "benchmark": "operator", "device": "device id", "devicename": "gpu", "batchgpu": "batched",
}  # fmt: skip
"""Labels of nvbench that mean another thing elsewhere."""

_METRICS = {"CPU Time", "GPU Time", "Noise", "Samples"}


def of_nvbench(grid: Grid) -> bool:
    """Whether a table is one of nvbench, by its metrics, whose units may stand behind them."""
    return {label.partition(" (")[0] for label in grid.header()} >= _METRICS


def _of_nvbench(grid: Grid) -> Grid:
    """A table of nvbench, with labels for its benchmarks and devices, and with those of what was
    varied, in front of its metrics, that mean nothing else."""
    if not of_nvbench(grid):
        return grid
    head, axes = grid.heads[0], grid.header().index("Samples")
    types = [at for at in range(axes) if _typed(grid, at)]

    def label(at: int, text: str) -> str:
        varied = at < axes and normalise(text) != "skipped"
        if types == [at]:
            return "dtype"
        return _NVBENCH.get(normalise(text), f"axis: {text}" if varied else text)

    cells = [cell._replace(text=label(at, plain(cell.text))) for at, cell in enumerate(head.cells)]
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


_TYPES = re.compile(r"(?!offset|index).*?(?:t|type)(?:\{ct\})?", re.IGNORECASE)

_TYPE = re.compile(r"(?:bf|tf|[fiuc])[0-9]{1,3}(?:_?e[0-9]m[0-9])?", re.IGNORECASE)
"""A type as nvbench calls it: `F32`, `I64`."""


def _typed(grid: Grid, at: int) -> bool:
    """Whether an axis is the type of what is computed, and none of its offsets: `T{ct}`."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
    named = _TYPES.fullmatch(plain(grid.header()[at])) is not None
    return named and bool(texts) and all(map(_TYPE.fullmatch, texts))


def _of_timers(grid: Grid) -> Grid:
    """A comparison of PyTorch's timers with its title as the operator of all rows, behind the
    label of each."""
    if not grid.series or not grid.caption.strip("-[] "):
        return grid
    head = grid.heads[0]

    def row_of(row: GridRow, text: str, label: str) -> GridRow:
        first, *rest = row.cells
        cells = (first._replace(text=label), first._replace(text=text), *rest)
        return replace(row, cells=cells)

    rows = (row_of(row, grid.caption.strip(), row.cells[0].text) for row in grid.rows)
    return replace(grid, heads=(row_of(head, "operator", "sub_label"),), rows=tuple(rows))


_PYTEST = {"name": "operator", "stats.median": "median (s)"}
"""Labels of what pytest-benchmark writes as JSON, in seconds."""


def _of_pytest(grid: Grid) -> Grid:
    """The functions that pytest-benchmark timed, with labels for their names and their medians."""
    labels = [plain(label) for label in grid.header()]
    if not {*_PYTEST, "stats.iqr", "options.min_rounds"} <= set(labels):
        return grid
    head = grid.heads[0]
    cells = [cell._replace(text=_PYTEST.get(label, cell.text))
             for cell, label in zip(head.cells, labels, strict=True)]  # fmt: skip
    return replace(grid, heads=(replace(head, cells=tuple(cells)),))


def with_operators(grid: Grid, schema: Schema) -> Grid:
    """The grid with the label of operators over its first column of names, where it has no such
    label: `layer` over `qkv_proj`, `input_rmsnorm`."""
    known = by_label(schema)
    specs = [known.get(normalise(plain(label)), (None, 1.0))[0] for label in grid.header()]
    if grid.labels or len(grid.heads) != 1 or any(s and s.name == "operator" for s in specs):
        return grid
    head = grid.heads[0]
    for at, spec in enumerate(specs):
        texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells)]
        if (spec is None or spec.name == "kernel") and all(map(NAMED.match, texts)):
            cells = [each._replace(text="operator") if n == at else each
                     for n, each in enumerate(head.cells)]  # fmt: skip
            return replace(grid, heads=(replace(head, cells=tuple(cells)),))
    return grid


def with_column(grid: Grid, label: str, text: str) -> Grid:
    """The grid with one more column, of the same text in every row."""
    if grid.labels or len(grid.heads) != 1:
        return grid

    def row_of(row: GridRow, text: str) -> GridRow:
        return replace(row, cells=(*row.cells, row.cells[-1]._replace(text=text)))

    rows = (row_of(row, text) if len(row.cells) == grid.width else row for row in grid.rows)
    return replace(grid, heads=(row_of(grid.heads[0], label),), rows=tuple(rows))


NAMED = re.compile(r"[A-Za-z]\w*[A-Za-z]")
"""A cell that begins with the name of what was called."""


def _place(grid: Grid, names: Sequence[str]) -> int | None:
    """The column with the first of some labels that the grid has."""
    labels = [normalise(plain(label)) for label in grid.header()]
    return next((labels.index(name) for name in names if name in labels), None)


def _metrics_apart(grid: Grid) -> Grid:
    """Values beside their unit, in a column for each unit: `speed, ms, 0.24` under `time (ms)`."""
    of_unit, of_value = _place(grid, _UNITS), _place(grid, _VALUES)
    if of_unit is None or of_value is None:
        return grid
    times = {text for row in grid.rows if len(row.cells) == grid.width
             if (measure := unit(text := plain(row.cells[of_unit].text))) and measure.si == "s"
             and not measure.per}  # fmt: skip
    if len(times) > 1:  # in one column: each beside its unit
        grid = _with_their_units(grid, of_unit, of_value, times)

    def label(row: GridRow) -> str | None:
        text = plain(row.cells[of_unit].text)
        return "time" if len(times) > 1 and text in times else _quantity(text)

    return _apart(grid, of_unit, of_value, label)


def _with_their_units(grid: Grid, of_unit: int, of_value: int, times: Set[str]) -> Grid:
    """The grid with the unit of a time behind each value that has one: `1325.5` and `us`."""

    def row_of(row: GridRow) -> GridRow:
        if len(row.cells) != grid.width or plain(row.cells[of_unit].text) not in times:
            return row
        cells = list(row.cells)
        value = cells[of_value]
        cells[of_value] = value._replace(text=f"{value.text} {plain(cells[of_unit].text)}")
        return replace(row, cells=tuple(cells))

    return replace(grid, rows=tuple(map(row_of, grid.rows)))


def _quantity(printed: str) -> str | None:
    """The label of a column in a unit."""
    if BANDWIDTH_UNIT.fullmatch(printed):
        return f"bandwidth ({printed})"
    measure = unit(printed)
    if measure is None or measure.per:
        return None
    if measure.si == "flop/s":
        return printed
    return f"{_QUANTITIES[measure.si]} ({printed})" if measure.si in _QUANTITIES else None


_VARIED = ("xname", "axis", "xaxis", "variable", "sweep", "param", "parameter", "argument")
"""Labels of the name of what was varied, beside its value."""


def _varied_apart(grid: Grid, schema: Schema) -> Grid:
    """Values beside the name of what was varied, in a column for each field that one names."""
    of_name, of_value = _place(grid, _VARIED), _place(grid, ("xvalue", "xval", "value"))
    if of_name is None or of_value is None:
        return grid
    of_label, known = _place(grid, ("xlabel",)), by_label(schema)
    places = [at for at in (of_label, of_name) if at is not None]

    def named(row: GridRow) -> str | None:
        texts = (plain(row.cells[at].text) for at in places)
        found = (known.get(normalise(text)) for text in texts)
        return next((each[0].labels[0] for each in found if each), None)

    own = {known[name][0].labels[0]: at for at, text in enumerate(grid.header())
           if (name := normalise(plain(text))) in known}  # fmt: skip
    filled = _in_their_columns(grid, of_value, lambda row: own.get(named(row) or ""))

    def unheld(row: GridRow) -> str | None:
        name = named(row)
        return None if filled is not grid and name in own else name

    return _apart(filled, None, of_value, unheld)


def _in_their_columns(grid: Grid, values: int, column: Callable[[GridRow], int | None]) -> Grid:
    """The grid with values in the `column` of the field that they are of, where there is one that
    is empty in each row or says the same."""
    rows = list[GridRow]()
    for row in grid.rows:
        at = column(row) if len(row.cells) == grid.width else None
        if at is not None:
            cells = list(row.cells)
            if plain(cells[at].text) not in ("", plain(cells[values].text)):
                return grid
            cells[at], cells[values] = cells[values], cells[values]._replace(text="")
            row = replace(row, cells=tuple(cells))  # noqa: PLW2901
        rows.append(row)
    return replace(grid, rows=tuple(rows))


def _apart(
    grid: Grid, names: int | None, values: int, label: Callable[[GridRow], str | None]
) -> Grid:
    """The grid with the cells of one column in one for each label that `label` gives its rows; a
    column of names goes where every row has one."""
    whole = [len(row.cells) == grid.width for row in grid.rows]
    labels = [label(row) if fits else None for row, fits in zip(grid.rows, whole, strict=True)]
    told = list(dict.fromkeys(each for each in labels if each))
    own = {normalise(plain(each)) for each in grid.header()}
    if not told or len(told) > MOST_NAMES or any(normalise(each) in own for each in told):
        return grid
    gone = {values, names} if all(labels) else set()

    def row_of(row: GridRow, new: Sequence[str]) -> GridRow:
        cell = row.cells[values]
        kept = tuple(each for at, each in enumerate(row.cells) if at not in gone)
        return replace(row, cells=(*kept, *(cell._replace(text=text) for text in new)))

    rows = [
        row_of(row, [row.cells[values].text if each == one else "" for each in told]) if fits
        else row
        for row, one, fits in zip(grid.rows, labels, whole, strict=True)
    ]  # fmt: skip
    return replace(grid, heads=(row_of(grid.heads[0], told),), rows=tuple(rows))


def _settings_apart(grid: Grid, schema: Schema) -> Grid:
    """Members of objects in cells, `{"bsz": 1, "seq_len": 2048}`, in columns of their own, or in
    the column of the same field where a row leaves it empty."""
    known = by_label(schema)
    own = {known[name][0].name: at for at, label in enumerate(grid.header())
           if (name := normalise(plain(label))) in known}  # fmt: skip
    held = [_fields_told(row, schema) if len(row.cells) == grid.width else {} for row in grid.rows]
    told = list(dict.fromkeys(name for each in held for name in each))
    added = [name for name in told if name not in own]
    if not told:
        return grid
    head = grid.heads[0]
    end = head.cells[-1]
    labels = {spec.name: spec.labels[0] for spec, _ in known.values()}

    def row_of(row: GridRow, members: Mapping[str, GridCell]) -> GridRow:
        if len(row.cells) != grid.width:
            return row
        nothing = end._replace(text="", line=row.line.number)
        cells = list(row.cells)
        for name, at in own.items():
            cells[at] = cells[at] if cells[at].text else members.get(name, cells[at])
        return replace(row, cells=(*cells, *(members.get(name, nothing) for name in added)))

    rows = [row_of(row, each) for row, each in zip(grid.rows, held, strict=True)]
    cells = (*head.cells, *(end._replace(text=labels[name]) for name in added))
    return replace(grid, heads=(replace(head, cells=cells),), rows=tuple(rows))


def _fields_told(row: GridRow, schema: Schema) -> dict[str, GridCell]:
    """The fields that members of objects in a row say, each said by one of them."""
    known = by_label(schema)
    found: dict[str, list[GridCell]] = {}
    for name, cell in _settings(row):
        member = "tokens" if name == "M" else name  # rows of the one operand, as Triton's are
        spec = known[normalise(member)][0] if normalise(member) in known else None
        if spec is not None and spec.quantity is None:
            found.setdefault(spec.name, []).append(cell)
    return {name: cells[0] for name, cells in found.items() if len(cells) == 1}


def _settings(row: GridRow) -> Iterator[tuple[str, GridCell]]:
    """The plain members of every object in the cells of a row, each where its cell stands."""
    for cell in row.cells:
        if not cell.text.startswith("{") or len(cell.text) > LONGEST:
            continue
        try:
            members = json.loads(cell.text)
        except (ValueError, RecursionError):
            continue
        for name, value in members.items() if isinstance(members, Mapping) else ():
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                yield name, cell._replace(text=str(value).removeprefix("torch."))
