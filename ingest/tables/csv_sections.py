"""CSV tables of measurements inside a document: sections of rows under a header.

In: the lines of a document. Out: raw frames with the columns of a schema. A line is a header if it
names the columns that the table's `needs` ask for; its rows end at a blank line or the next header.
Rows that split into as many cells as the header, none of them quoted, become a raw frame at once;
odd ones go through the rule `csv_line` of the format's grammar. What a cell may hold is proved
later, against the terminal of its column, the same for both paths.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import polars as pl
from assay.ingest.grids.delimited import split
from assay.ingest.lines.lark import Tree, parse_line, parsed_alike
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.format import Folded, Region
from assay.ingest.schema.record import Code, Diagnostic, Line, Schema, Span
from assay.ingest.vocabulary.terms import configured_by, normalise

TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

TIME_LABELS = {
    f"{name}_{suffix}": scale
    for name in ("t", "time", "latency", "duration", "elapsed", "mean", "avg_time", "median")
    for suffix, scale in TIMES.items()
}
"""Headers of a time column, each with its unit; `timed` knows more of them."""

_TIMED = re.compile(
    r"(?:(?:(?:t_?)?a?ve?g|aveg|average|mean|median|p50|measured|kernel|gpu|cuda|xpu|npu|hpu|mlu|musa"
    r"|mtia|device|exec|execution|run|gemm)"
    r"(?:[\s_]+|(?=time)|(?=/(?:call|op|launch))|(?=[(\[]|[mnu]s$))|(?:time|latency|duration|elapsed|runtime|时延|延迟|耗时|时间)[\s_]*)*"
    r"(?:: ?(?:avg|average|mean|median|p50) ?)?"
    r"(?:(?:/|per[ _])(?:call|op|launch)[\s_]*)?(?:(?<=[A-Za-z\s])/ ?|,? in |(?<=_)in_)?[(\[]?"
    r"(s|secs?|seconds|ms|msecs?|milliseconds|us|µs|usecs?|microseconds|ns|nsecs?)[)\]]?"
    r"(?:[\s_:]+(?:avg|average|mean|median|p50)|(?:/| per )(?:call|op|launch))?",
    re.IGNORECASE,
)

_NUMBERED = re.compile(r"(?:^|,)\s*\"?[+-]?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\"?\s*(?:,|$)")

_BEGIN = re.compile(r"[\s\"A-Za-z_#\u2e80-\uffff]")


def _may_begin(text: str) -> bool:
    """Whether a line may be a header: its cells are labels, none of them a number."""
    return _NUMBERED.search(text) is None and _BEGIN.match(text) is not None


_ASIDE = {"B": "A", "d_type": "a_type", "q_dtype_w": "q_dtype_a"}
"""Labels that are of a matrix, or of the format of a result, beside another."""

_PREFIX = {"s": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}


def timed(label: str) -> float | None:
    """The unit of a column that says nothing but that it is a time; None where it says more.

    >>> timed("mean_time_us"), timed("ms"), timed("avg latency (usec)"), timed("min_us")
    (1e-06, 0.001, 1e-06, None)
    >>> timed("tavg(usec)"), timed("tmax(usec)")
    (1e-06, None)
    >>> timed("time:avg(us)"), timed("time:max(us)")
    (1e-06, None)
    >>> timed("time (µs)"), timed("seconds"), timed("latency_us_p50"), timed("latency_us_p20")
    (1e-06, 1.0, 1e-06, None)
    >>> timed("AverageNs"), timed("means"), timed("TotalDurationNs"), timed("Median / μs")
    (1e-09, None, None, 1e-06)
    """
    found = _TIMED.fullmatch(label.strip())
    if found is None or len(label.strip()) < 2:  # `s` is a sequence
        return None
    unit = found[1].casefold().replace("\u03bc", "u")  # both signs for micro fold to this one
    return 1e-6 if unit.startswith("mic") else _PREFIX[unit[0]]


ENDS = {"status", "state", "result", "outcome", "error", "exit", "failure", "exception"}
"""Labels of columns that say how a call ended."""

LONGEST_OUTCOME = 60
"""Characters of a cell that says no more than how a call ended."""

_OF_ANOTHER = re.compile(r"\b(?:with|without|for|when|if) \S{0,40}[A-Za-z]", re.IGNORECASE)
"""An outcome of another setting than that of its row: `OOM with 64 heads`."""

_SIGNS = re.compile(r"^(?i:n/?a)?[—–✗❌(\s-]+|(?<!\()\)$")


NO_ROOM_ELSEWHERE = re.compile(
    r"\W{0,4}(?:(?:CUDA[- ]|GPU[- ])?(?:speicher(?:überlauf|mangel| voll| reicht nicht(?: aus)?"
    r"| nicht ausreichend| erschöpft)|(?:zu wenig|kein|nicht genug|nicht genügend)"
    r" (?:GPU-)?speicher"
    r"|passt nicht(?: (?:in den|auf die|auf den) [\w-]{1,20})?"
    r"|mémoire (?:insuffisante|saturée|pleine)|(?:dépassement|manque) (?:de )?mémoire"
    r"|(?:à )?court de mémoire|ne tient pas(?: en mémoire)?"
    r"|(?:sin|falta de|fuera de|desbordamiento de) memoria|memoria (?:insuficiente|agotada|llena)"
    r"|no cabe(?: en memoria)?|(?:sem|falta de|estouro de) memória"
    r"|memória (?:insuficiente|esgotada)"
    r"|não coube|memoria (?:insufficiente|esaurita)|(?:нехватка|не хватило|не хватает|недостаточно"
    r"|мало) памяти|память (?:кончилась|закончилась)|не влезло|brak pamięci|za mało pamięci"
    r"|(?:onvoldoende|te weinig) geheugen|nedostatek paměti)"
    r"|(?:(?:fail(?:ed|ure)?|errors?|crash(?:ed)?|killed|aborted|died|runs?|ran"
    r"|job)\b[ :,(–—-]{0,4})?"
    r"(?:(?:RuntimeError|(?:cuda|hip)Malloc\w{0,8}(?: failed)?)[: ]{1,2})?"
    r"(?:(?:CUDA|HIP|GPU|XLA|torch|cuda)[ _.]){0,3}"
    r"(?:OOM(?:[- ]?killed|ed)?|out[- _]of[- _]memory|OutOfMemory(?:Error|Exception)?"
    r"|RESOURCE_EXHAUSTED|(?:[A-Z]{2,8}_){1,4}OUT_OF_(?:DEVICE_|HOST_)?MEMORY"
    r"|(?:cuda|hip)Error(?:OutOfMemory|MemoryAllocation))"
    r"|(?:not enough|insufficient|exceed(?:s|ed) (?:the )?(?:GPU |device )?|no)(?: ?GPU"
    r"| ?device)? ?(?:memory|VRAM|HBM)"
    r"|(?:does not|doesn[’']t|did not|didn[’']t|won[’']t|will not|would not|cannot) fit"
    r"(?: (?:in|into|on) (?:the )?(?:GPU |device )?(?:memory|VRAM|HBM|GPUs?|card|device))?"
    r"|(?:(?:GPU|CUDA|HBM) ?)?(?:显存|内存)(?:不足|溢出|不够用?|爆了?|炸了|超限|超出|耗尽|放不下)"
    r"|(?:超出?|撑)?爆?(?:显存|内存)(?=\W{0,3}OOM)|(?:超出?|撑?爆)(?:显存|内存|了)|放不下"
    r"|(?:(?:训练|运行|启动)?失败|跑不(?:起来|动|了|下|通)|无法(?:运行|训练|启动)|报错?|直接"
    r"|崩溃|溢出|触发|出现|発生|失敗|エラー|실패)(?=\W{0,3}OOM)"
    r"|OOM ?(?=了|错误|报错|崩溃|失败|エラー|発生|발생)"
    r"|メモリー?(?:不足|溢れ|が足りない)|(?:乗|載)らない|메모리 ?(?:부족|초과))"
    r"(?:\W{0,3}OOM|了|(?:错误|报错|崩溃|失败|エラー|(?:が|를|이)? ?(?:発生|발생)))?\W{0,4}",
    re.IGNORECASE,
)
"""A cell that says in another language, or at length, that memory was not enough."""


@lru_cache(maxsize=1024)
def ended(text: str) -> str | None:
    """The event that a cell says happened instead of a measurement; None of any other.

    >>> ended("OOM"), ended("(out of memory)"), ended("failed"), ended("12.5 ms"), ended("fa2")
    ('OOM', 'out of memory', 'failed', None, None)
    """
    if not (any(map(str.isalpha, text)) and len(text) <= LONGEST_OUTCOME):
        return None
    tree = parsed_alike("table_cell", "quantity_cell", text)
    child = tree.children[0] if tree is not None and tree.children else None
    if not isinstance(child, Tree) or child.data != "outcome" or _OF_ANOTHER.search(text):
        return "OOM" if NO_ROOM_ELSEWHERE.fullmatch(text) else None
    return _SIGNS.sub("", text)


_BANDWIDTH = re.compile(r"((?:alg|bus)_?bw)_(?:(G)|(M))B(?:ps|_?s|_per_s(?:ec)?)")


def bandwidth_named(label: str) -> tuple[str, float] | None:
    """The field and the factor of a bandwidth whose label says its unit in a word, where big and
    small letters tell bytes from bits.

    >>> bandwidth_named("busbw_GBps"), bandwidth_named("busbw_Gbps")
    (('busbw', 1000000000.0), None)
    """
    found = _BANDWIDTH.fullmatch(label.strip())
    return (found[1].replace("_", ""), 1e9 if found[2] else 1e6) if found else None


_RATE = re.compile(r"[GT](?:FLOP|flop|Flop)[sS]?(?:_per_s(?:ec)?|/s)?|[gt]flops?(?:_per_s(?:ec)?)?")
"""The label of a column that is a unit of rates: `tflops`."""

Columns = Sequence[tuple[str, FieldSpec | None, float]]


@dataclass(frozen=True)
class CsvTable:
    """A kind of CSV table: its grammar, its schema, and what a header must name.

    `needs` holds sets of columns; a header names at least one of each.
    """

    name: str
    schema: Schema
    needs: tuple[frozenset[str], ...]

    def header(self, text: str) -> Columns | None:
        """The columns of a header that names what is needed, else None."""
        if not _may_begin(text) or text.count(",") < len(self.needs) - 1:
            return None
        known = by_label(self.schema)
        columns = []
        labels = [label.strip().strip('"') for label in text.split(",")]
        for shown in labels:
            spec, scale = known.get(normalise(shown), (None, 1.0))
            if shown == "Runtime" and "OperationKind" in labels:  # the profiler of CUTLASS
                spec, scale = fields(self.schema).get("time"), TIMES["ms"]
            if spec is None and (name := configured_by(shown)) in fields(self.schema):
                spec = fields(self.schema)[name]
            if spec is None and (told := bandwidth_named(shown)):
                spec, scale = fields(self.schema).get(told[0]), told[1]
            if spec is None and (seconds := timed(shown)) is not None:
                spec, scale = fields(self.schema).get("time"), seconds
            if spec is None and _RATE.fullmatch(shown) and (rate := unit(shown)):
                spec, scale = fields(self.schema).get("flops_rate"), rate.scale
            if _ASIDE.get(shown) in labels:
                spec = None
            columns.append((shown, spec, scale))
        named = of_whoever(labels, [spec for _, spec, _ in columns])
        named = of_one_statistic(labels, named)
        columns = [(shown, spec, scale)
                   for (shown, _, scale), spec in zip(columns, named, strict=True)]  # fmt: skip
        names = {spec.name for _, spec, _ in columns if spec}
        return columns if all(names & need for need in self.needs) else None

    def fold(self, region: Region, folded: Folded) -> list[Line]:
        """Put every table of `region` into `folded`; returns the lines outside of tables."""
        lines = region.lines
        begins = [at for at, line in enumerate(lines) if _may_begin(line.text)]
        heads = {at: columns for at in begins if (columns := self.header(lines[at].text))}
        if not heads:
            return list(lines)
        blank = [at for at, line in enumerate(lines) if not line.text or line.text.isspace()]
        ends = sorted({*heads, *blank, len(lines)})
        outside: list[Line] = []
        done = 0
        for at, columns in heads.items():
            outside += lines[done:at]
            done = ends[bisect_right(ends, at)]
            folded.claimed.add(lines[at].number)
            rows = lines[at + 1 : done]
            left = self._section(region, rows, columns, folded)
            outside += [row for row in rows if (row.number, row.column) in left]
        return outside + list(lines[done:])

    def _section(
        self, region: Region, rows: Sequence[Line], columns: Columns, folded: Folded
    ) -> set[tuple[int, int]]:
        """The rows under one header: most through the splitter, the odd ones through Lark. Returns
        the places of those of other calls, which have a name and lack a size that this kind has."""
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
        other = self._of_other_calls(columns, names)
        left = set() if other is None else set(fast.filter(other).select("line", "column").rows())
        fast = fast if other is None else fast.filter(~other)
        folded.claimed |= set(fast["line"].to_list())
        by_place = {(row.number, row.column): row for row in rows} if rest else {}
        slow = []
        for place in sorted(set(rest)):
            cells = self._odd_row(region, by_place[place], len(columns), folded)
            if cells:
                folded.claimed.add(place[0])
                slow.append((*place, *cells))
        odd = pl.DataFrame(slow, schema=fast.schema, orient="row")
        folded.raw.append(_raw(source, pl.concat([fast, odd]), names, columns))
        return left

    def _of_other_calls(self, columns: Columns, names: Sequence[str]) -> pl.Expr | None:
        """Whether a row lacks a size of every call of this kind, and says by a name what it is of:
        a norm among products. None where the header has no column of names."""
        needed = {field for need in self.needs if len(need) == 1 for field in need}
        sizes = [pl.col(name) for name, (_, spec, _) in zip(names, columns, strict=True)
                 if spec is not None and spec.numeric and spec.name in needed]  # fmt: skip
        named = [pl.col(name) for name, (_, spec, _) in zip(names, columns, strict=True)
                 if spec is not None and spec.name == "kernel"]  # fmt: skip
        if not named or not sizes:
            return None
        return pl.any_horizontal(
            each.str.strip_chars().fill_null("").is_in(["", "-"]) for each in sizes
        ) & pl.any_horizontal(
            each.str.contains("[A-Za-z]").fill_null(value=False) for each in named
        )

    def _odd_row(
        self, region: Region, line: Line, width: int, folded: Folded
    ) -> list[str | None] | None:
        """A row with quotes, too many or too few cells, or the last of an input cut inside it."""
        span = Span(region.source.name, line.number, line.column)
        tree = parse_line(self.name, "csv_line", line.text, span)
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


_BY_NAME = ("kernel", "kernelname", "backend", "provider", "kernelprovider", "kernelsource",
            "implementation", "impl", "library", "name", "op", "operator")  # fmt: skip
"""Labels of who computes, the one that says it best first; the last may be of what is computed."""


_STATISTICS = ("median", "p50", "mean", "avg", "average")
"""Words for one time of several calls, the one that is believed first in front."""


def of_one_statistic(
    labels: Sequence[str], specs: Sequence[FieldSpec | None]
) -> list[FieldSpec | None]:
    """The fields of columns of collectives of which one at most is the time of a call, where each
    says which one of several it is: the median beside the mean, in whichever order they stand. Of
    other calls the first counts."""
    if not any(spec is not None and spec.name == "ranks" for spec in specs):
        return list(specs)
    times = [at for at, spec in enumerate(specs) if spec is not None and spec.name == "time"]
    said = {at: [each for each in _STATISTICS if each in _words(labels[at])] for at in times}
    timed_by = {at: _STATISTICS.index(words[0]) for at, words in said.items() if words}
    if len(timed_by) <= 1:
        return list(specs)
    best = min(timed_by, key=lambda at: timed_by[at])
    return [None if at in timed_by and at != best else spec for at, spec in enumerate(specs)]


def _words(label: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", label.casefold())


def of_whoever(labels: Sequence[str], specs: Sequence[FieldSpec | None]) -> list[FieldSpec | None]:
    """The fields of columns of which one at most names who computes, the one whose label says it
    best: `backend` beside `op`."""
    told = [at for at, spec in enumerate(specs) if spec is not None and spec.name == "kernel"]
    names = {at: normalise(labels[at]) for at in told}
    known = [at for at in told if names[at] in _BY_NAME]
    if len(told) <= 1 or not known:
        return list(specs)
    best = min(known, key=lambda at: _BY_NAME.index(names[at]))
    return [None if at in told and at != best else spec for at, spec in enumerate(specs)]


def _raw(source: str, cells: pl.DataFrame, names: Sequence[str], columns: Columns) -> pl.DataFrame:
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
    if "outcome" not in taken and (outcome := _outcomes(cells, names, columns)) is not None:
        taken["outcome"] = outcome
    both = _operands(names, [label for label, *_ in columns])
    if both is not None:
        taken.setdefault("dtype", both)
    extra = {"other": pl.concat_list(other)} if other else {}
    return cells.select("line", "column", source=pl.lit(source), **taken, **extra)


def _outcomes(cells: pl.DataFrame, names: Sequence[str], columns: Columns) -> pl.Expr | None:
    """The event that cells of measurements say happened instead of one; None where none says it."""
    told: dict[str, str] = {}
    last = [name for name, (label, spec, _) in zip(names, columns, strict=True)
            if spec is None and normalise(label) in ENDS]  # fmt: skip
    measured = [
        name
        for name, (_, spec, _) in zip(names, columns, strict=True)
        if spec is not None and (spec.quantity is not None or spec.unit == "flop/s")
    ]
    for name in (*measured, *last):
        texts = cells[name].drop_nulls()
        words = texts.filter(texts.cast(pl.Float64, strict=False).is_null()).unique()
        told |= {text.strip(): said for text in words if (said := ended(text.strip()))}
    if not told:
        return None
    ends = {
        name: pl.col(name)
        .str.strip_chars()
        .replace_strict(told, default=None, return_dtype=pl.String)
        for name in (*measured, *last)
    }
    nothing = pl.all_horizontal(pl.col(name).is_null() for name in measured)
    return pl.coalesce(
        *(ends[name] for name in measured), *(pl.when(nothing).then(ends[name]) for name in last)
    )


def _operands(names: Sequence[str], labels: Sequence[str]) -> pl.Expr | None:
    """The format of both operands of a product, as `bf16:row` or `bf16_r`; `AxB` of two formats."""
    for one, other in (("A", "B"), ("a_type", "b_type"), ("q_dtype_a", "q_dtype_w")):
        if one in labels and other in labels:
            left, right = (
                pl.col(names[labels.index(each)]).str.extract(
                    r"^(?:torch\.|dtypes\.)?([a-z]+[0-9][a-z0-9_]*?)(?:_r)?(?::|$)"
                )
                for each in (one, other)
            )
            return pl.when(left == right).then(left).otherwise(pl.format("{}x{}", left, right))
    return None
