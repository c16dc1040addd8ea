"""Settings that the prose around a table mentions, for rows of which no statement says them.

In: the rows of a document's tables with what statements say of them, and its paragraphs. Out: the
same rows, with what the clauses nearest to them mention: those above their table in its section,
nearest first, with its heading; the note right below it; those right below the headings around it;
and those of sections on how things were set up. A clause is of no row of another model or device
than it names; one that counts other devices than a row has says nothing of how that was shared. Of
two values in one paragraph nobody knows which; of a setting that a column of the table gives some
rows, nothing is said of the others. What would contradict the counts of a row is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf, isclose, prod

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.other_runs import of_the_table_above
from assay.ingest.columns.row_texts import spoken_of_itself
from assay.ingest.columns.spoken_of import MACHINES, spoken_of
from assay.ingest.columns.titles import SIZED
from assay.ingest.prose.mentions import Clause, Paragraph, paragraphs_of, sizes_in
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import of_set_up, part_of_set_up
from assay.ingest.statements.context import ARCHITECTURE, Context
from assay.ingest.statements.row_words import SAME_FACT
from assay.ingest.statements.values import known, saying
from assay.ingest.vocabulary.devices import devices, of_systems

SHARES = {
    "gpus", "nodes", "tp", "pp", "dp", "cp", "ep", "vp", "micro_batch", "global_batch",
    "batch_size", "global_batch_tokens", "accumulation",
}  # fmt: skip
"""Fields of how a run was shared among devices: a clause on another run says none of them."""

OF_ONE_MODEL = frozenset(ARCHITECTURE) - {"vocab"}
"""Fields in which the models of a document differ."""

NAMED = {"model", "model_size", "parameters", "program", "network"}
"""Fields of which clauses far from a table may name another's."""


OWN, AROUND, SET_UP = range(3)
"""How a paragraph stands to a table."""


def mentioned(records: Sequence[Record], lines: Sequence[Line], context: Context) -> None:
    """Fill settings of rows of tables, in place, by what the prose around them mentions."""
    rows = sorted((r for r in records if r.tabled), key=lambda record: record.line)
    if not rows or len(lines) > MOST_LINES:
        return
    tabled = {line for row in rows for line, _ in row.places()}
    around = _Around(paragraphs_of(lines, tabled), sorted(tabled), context)
    models = {row.cells["model"].text for row in rows if "model" in row.cells}
    for table in around.tables(rows):
        own = {name for row in table for name, c in row.cells.items() if _is_own(c)}
        near = list(around.chain(table[0].line, table[-1].line))
        for row in table:
            _fill(row, near, own | _spoken_by(row), models, context)


MOST_LINES = 20_000
"""Lines of a document; what is longer is a log."""


def _is_own(cell: Cell) -> bool:
    return cell.value_origin == "printed" and cell.state in ("value", "outcome")


def _spoken_by(row: Record) -> set[str]:
    """Fields that the words of a row, or the labels over them, speak of, understood or not."""
    found = set(spoken_of_itself(row))
    for label, text in row.other:
        found |= spoken_of(label)
        if name := known(label):
            found.add(name)
        if _AGAIN.match(text) or _OF_AGAIN.search(label):
            found |= {"recompute", "activation_checkpointing"}
    return found


_AGAIN = deferred(
    r"\W*(?:none|full|selective|sel\.?|off|on|no(?:ne)?|yes|disabled|enabled|全量|选择性|关闭|なし|選択的)\b",
    re.IGNORECASE,
)

_OF_AGAIN = deferred(
    r"\b(?:ckpt|check-?point|recomp|remat|AC)\w*|重计算|検査点|再計算", re.IGNORECASE
)


class _Around:
    """Where the paragraphs of a document stand among its tables and headings."""

    def __init__(
        self, paragraphs: Sequence[Paragraph], rows: Sequence[int], context: Context
    ) -> None:
        self._every, self._rows = paragraphs, rows
        self._tables: dict[tuple[int, ...], float] = {}
        self._firsts = [each.first for each in paragraphs]
        self._headings = [line for line, _ in context.sections]
        self._context = context
        self._paths = [self._path(each.first) for each in paragraphs]
        self._before: list[int] = []  # paragraphs that the table before had

    def _path(self, line: int) -> tuple[int, ...]:
        at = bisect_right(self._headings, line)
        return self._context.sections[at - 1][1] if at else ()

    def tables(self, rows: Sequence[Record]) -> Iterator[list[Record]]:
        """The rows between the same two paragraphs."""
        held: list[Record] = []
        for row in rows:
            if held and bisect_left(self._firsts, held[-1].line) != bisect_left(
                self._firsts, row.line
            ):
                yield held
                held = []
            held.append(row)
        if held:
            yield held

    def chain(self, first: int, last: int) -> Iterator[tuple[Paragraph, int]]:
        """The paragraphs that may speak of a table, nearest first, each with how it stands to it:
        in its `OWN` section, right below a heading `AROUND` it, or in a section on the `SET_UP`."""
        begin, path = bisect_left(self._firsts, first), self._path(first)
        mine, comment = self._above(begin, path)
        note = bisect_left(self._firsts, last)
        below = [note] if self._is_note(note, path) else []
        again = any(_SAME_AGAIN.search(self._every[at].text) for at in mine)
        other = [at for at in (self._before if again else []) if at not in mine]
        self._before = [*mine, *other]
        yield from ((self._every[at], OWN) for at in [*mine, *below, *other])
        if comment:  # of somebody else than who opened its thread
            return
        for depth in range(len(path) - 1, -1, -1):
            yield from ((self._every[at], AROUND) for at in self._opening(path[:depth], begin))
        yield from ((self._every[at], SET_UP) for at in self._of_set_up(path, begin))

    def _above(self, begin: int, path: tuple[int, ...]) -> tuple[list[int], bool]:
        """Paragraphs of the section of a table above it, but for those of another one, and whether
        they are a comment in a thread."""
        found: list[int] = []
        titled = False  # whether the title of another table stands below
        comment = bool(path) and path[-1] in self._context.comments
        for at in range(begin - 1, -1, -1):
            if self._paths[at] != path:
                break
            each = self._every[at]
            if _OPENS_COMMENT.match(each.text):
                return found, True
            if _TITLE.match(each.lines[0].text):
                if not titled and not (found and found[-1] != at + 1):
                    found.append(at)
                titled = True
            elif not self._notes(at) and not (titled and each.first > self._first_table(path)):
                found.append(at)
            if each.behind_rule:
                break
        return found, comment

    def _first_table(self, path: tuple[int, ...]) -> float:
        """The first row of a table in a section itself."""
        if path not in self._tables:
            rows = (line for line in self._rows if self._path(line) == path)
            self._tables[path] = next(rows, inf)
        return self._tables[path]

    def _opening(self, path: tuple[int, ...], begin: int) -> Iterator[int]:
        """Paragraphs below a heading around a table, but for those behind a table of its own."""
        for at in range(begin - 1, -1, -1):
            each = self._every[at]
            own = self._paths[at] == path and each.first < self._first_table(path)
            if own and not _TITLE.match(each.lines[0].text):
                yield at

    def _notes(self, at: int) -> bool:
        """Whether a paragraph is a note on the table above it: it says so, or another stands
        between it and the next table."""
        each = self._every[at]
        if not each.behind_table or each.heading:
            return False
        if of_the_table_above(each.text):
            return True
        after = self._every[at + 1] if at + 1 < len(self._every) else None
        return after is None or (not after.behind_table and not each.text.rstrip().endswith(":"))

    def _is_note(self, at: int, path: tuple[int, ...]) -> bool:
        return (
            at < len(self._every)
            and self._paths[at] == path
            and self._every[at].behind_table
            and self._notes(at)
        )

    def _of_set_up(self, path: tuple[int, ...], begin: int) -> Iterator[int]:
        """Paragraphs of sections on how things were set up, above a table and beside its own."""
        titles = self._context.titles
        for at in range(begin - 1, -1, -1):
            other = self._paths[at]
            if not other or other == path[: len(other)]:
                continue
            title = titles.get(other[-1], "")
            parent = other[:-1]
            if part_of_set_up(title) and parent and of_set_up(titles.get(parent[-1], "")):
                parent = parent[:-1]
            elif not of_set_up(title):
                continue
            if path[: len(parent)] == parent and self._first_table(other) == inf:
                yield at


_TITLE = deferred(
    r"\s*(?:[-*+] )?(?:\*\*[^*]{3,160}\*\*:?\s*$|__[^_]{3,160}__:?\s*$"
    r"|[*_]{0,2}(?:Table|Tab\.|Tabelle|Tableau|Tabla|表) ?[A-Z0-9]\w*(?:\.[0-9]+)*\b)"
)
"""A line that is the title of one table: in bold, or numbered."""

_OPENS_COMMENT = deferred(
    r"\s*(?:#+ )?@?[A-Za-z][\w.-]{1,38}(?: \([\w ]{2,24}\))?\s*"
    r"(?:·|\b(?:commented|replied|wrote|said|reviewed|left a comment)\b"
    r"|\W{0,3}(?:on )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* [0-9]{1,2}\b)"
    r"[^.]{0,60}$",
    re.IGNORECASE,
)
"""The line of a thread that says who writes what follows."""

_SAME_AGAIN = deferred(
    r"\b(?:same|identical) (?:[\w-]+ ){0,2}?(?:set-?ups?|settings?|config\w*|hyper-?parameters"
    r"|conditions|recipe)\b(?!.{0,20}\b(?:first|opening|original|description|section|issue|post)\b)"
    r"|\b(?:otherwise|rest|everything else) (?:is |as |the )?"
    r"(?:same|identical|unchanged|as (?:above|before))"
    r"|同上|(?:配置|设置|参数)(?:与|和)上[^。；;]{0,8}(?:相同|一致)|条件は(?:上|同)",
    re.IGNORECASE,
)
"""A table whose runs were set up as those of the table before."""


def _fill(
    row: Record,
    around: Sequence[tuple[Paragraph, int]],
    own: set[str],
    models: set[str],
    context: Context,
) -> None:
    held = dict(row.cells)
    found: dict[str, Cell] = {}
    closed = set(own)
    if (model := held.get("model")) and SIZED.search(model.text):
        closed |= {"model_size", "parameters"}
    for paragraphs, place in _lists(around):
        near = place == OWN
        told = _told(paragraphs, row, models, near=near)
        for name, cell in told.items():
            if name in closed or (name in NAMED and not near):
                continue
            closed |= {name, *SAME_FACT.get(name, ())}
            if cell is not None and _open(name, held, near=near):
                found[name] = cell
        for each in paragraphs:
            closed |= _settled_by(each)
    for name, cell in _consistent(found, held).items():
        row.cells[name] = cell._replace(value_origin="stated")
        context.used.add(cell.line)


def _told(
    paragraphs: Sequence[Paragraph], row: Record, models: set[str], *, near: bool
) -> dict[str, Cell | None]:
    """What some paragraphs together say of a row; None of what they say in two ways."""
    told: dict[str, Cell | None] = {}
    apart = OF_ONE_MODEL if len(models) > 1 else frozenset[str]()
    for clause in chain.from_iterable(each.clauses for each in paragraphs if not each.heading):
        if not _is_of(clause, row, models, near=near):
            continue
        for name, cell in _sayings(clause, row).items():
            if name in apart and not clause.sizes:
                continue
            if name in told and _unlike(told[name], cell):
                told[name] = None
            else:
                told.setdefault(name, cell)
    named = {each.key for paragraph in paragraphs for each in devices(paragraph.text)}
    if len(named) > 1 and "gpu" in told:
        told["gpu"] = None
    return told


def _settled_by(paragraph: Paragraph) -> frozenset[str]:
    """Fields of which a text nearer to a row speaks, understood or not."""
    systems = paragraph.heading and of_systems(paragraph.text)
    return spoken_of(paragraph.text) | (frozenset(MACHINES) if systems else frozenset())


def _lists(
    around: Iterable[tuple[Paragraph, int]],
) -> Iterator[tuple[list[Paragraph], int]]:
    """Each paragraph; the items of one list together, and the sections on the set-up: of what two
    of them say in two ways nobody knows."""
    held: list[Paragraph] = []
    level = OWN
    for paragraph, place in around:
        last = held[-1] if held else paragraph
        items = last.item and paragraph.item and abs(paragraph.first - last.first) <= BETWEEN_ITEMS
        if held and not items and not place == level == SET_UP:
            yield held, level
            held = []
        held.append(paragraph)
        level = place
    if held:
        yield held, level


BETWEEN_ITEMS = 4
"""Lines between the beginnings of two items of one list."""


def _unlike(one: Cell | None, other: Cell) -> bool:
    return one is not None and saying(one) != saying(other)


def _open(name: str, held: Mapping[str, Cell], *, near: bool) -> bool:
    """Whether a row lacks a setting, or has it only by what is assumed."""
    for each in (name, *SAME_FACT.get(name, ())):
        cell = held.get(each)
        if cell is not None and not (near and cell.value_origin == "assumed"):
            return False
    return True


def _is_of(clause: Clause, row: Record, models: set[str], *, near: bool) -> bool:
    """Whether a clause may speak of a row: it names no other model and no other device."""
    model = row.cells.get("model")
    sizes = sizes_in(model.text) if model else frozenset[str]()
    size = row.cells.get("model_size")
    if size is not None and size.state == "value":
        sizes |= {f"{number_of(size) or 0:g}"}
    if clause.sizes and sizes:
        if not any(_as_large(a, b) for a in clause.sizes for b in sizes):
            return False
    elif clause.sizes and not near:
        return False
    if model is not None:
        others = {each for each in models if each != model.text and each in clause.text}
        if others and model.text not in clause.text:
            return False
    if clause.formats and not _in_one_of(row, clause.formats):
        return False
    if len(clause.devices) > 1 or (len(clause.sizes) > 1 and _FOR.search(clause.text)):
        return False  # values and names take turns, perhaps
    gpu = row.cells.get("gpu")
    mine = {each.key.partition(".")[0] for each in devices(gpu.text)} if gpu else set()
    theirs = {key.partition(".")[0] for key in clause.devices}
    return not (mine and theirs) or not mine.isdisjoint(theirs)


_FOR = deferred(r"[0-9]k? (?:for|on|with|at|in)\b|[0-9]k? ?\(")


def _in_one_of(row: Record, formats: frozenset[str]) -> bool:
    kind = row.cells.get("dtype")
    return kind is not None and kind.text.casefold() in formats


def _as_large(one: str, other: str) -> bool:
    a, b = (_amount(each) for each in (one, other))
    return isclose(a, b, rel_tol=0.05)


def _amount(size: str) -> float:
    scale = {"M": 1e6, "B": 1e9, "T": 1e12}.get(size[-1])
    return float(size[:-1]) * scale if scale else float(size)


def _sayings(clause: Clause, row: Record) -> dict[str, Cell]:
    """What a clause says of a row: nothing of how another run was shared."""
    values = {name: c for name, c in clause.values.items() if c.state == "value"}
    apart = any(
        name in SHARES and (own := row.cells.get(name)) is not None
        and own.value_origin != "assumed" and _unlike(own, cell)
        for name, cell in values.items()
    )  # fmt: skip
    return {n: c for n, c in values.items() if not (apart and n in SHARES)}


def _consistent(found: dict[str, Cell], held: Mapping[str, Cell]) -> dict[str, Cell]:
    """What was found, without what contradicts the counts of a row."""
    whole = {
        name: number_of(cell)
        for name, cell in {**held, **found}.items() if cell.state == "value"
        and name in SHARES | {"gpus_per_node"}
    }  # fmt: skip
    get = whole.get
    doubtful = set[str]()
    gpus, nodes, each = get("gpus"), get("nodes"), get("gpus_per_node")
    if gpus and nodes and each and gpus != nodes * each:
        doubtful |= {"nodes", "gpus_per_node"} if "gpus" in held else {"gpus", "nodes"}
    shares = [get(name) or 1 for name in ("tp", "pp", "cp")]
    split = prod(shares)
    devices_ = gpus or (nodes * each if nodes and each else None)
    if devices_ and (devices_ % split or (get("dp") and devices_ != split * (get("dp") or 1))):
        doubtful |= {"tp", "pp", "cp", "dp", "gpus", "nodes", "gpus_per_node"}
    batch, micro = get("global_batch"), get("micro_batch")
    dp = get("dp") or (devices_ / split if devices_ and not devices_ % split else 1)
    if batch and micro and batch % (micro * dp):
        doubtful |= {"global_batch", "micro_batch"}
    return {name: cell for name, cell in found.items() if name not in doubtful}
