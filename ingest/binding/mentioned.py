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
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from math import inf, prod

from assay.ingest.binding.around import AROUND, MACHINE, OF_ALL, OWN, SET_UP, Around
from assay.ingest.binding.called import (
    SIZED_BY,
    as_large,
    by_size,
    call,
    call_as_printed,
    model_of_page,
    model_of_section,
    models_of_all,
    models_printed,
    name_models,
    only_model,
    size_around,
    size_in_commands,
    sizes_of,
)
from assay.ingest.binding.comparing import SHARES, consistent, may_hold, turned
from assay.ingest.binding.mentions import (
    SAYS_LESS,
    Clause,
    Paragraph,
    paragraphs_of,
    sizes_in,
    tables_of,
)
from assay.ingest.binding.named_rows import by_name, models_of
from assay.ingest.binding.same_as_row import set_up_like
from assay.ingest.binding.started_below import called, letters
from assay.ingest.columns.cells import number_of
from assay.ingest.columns.other_runs import sentences
from assay.ingest.columns.row_texts import spoken_of_itself
from assay.ingest.columns.spoken_of import (
    AS_ABOVE,
    MACHINES,
    kept_as_above,
    settled_nearer,
    spoken_of,
)
from assay.ingest.columns.titles import (
    EXPERTS_OF,
    SIZED,
    lists_family,
    model_named,
    rounds_to,
)
from assay.ingest.prose.only_model import OF_FAMILY
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import LOWEST
from assay.ingest.statements.context import ARCHITECTURE, Context
from assay.ingest.statements.named_machines import has_word
from assay.ingest.statements.row_words import ADDS, SAME_FACT
from assay.ingest.statements.values import known, saying
from assay.ingest.tables.captions import named as adapters
from assay.ingest.vocabulary.devices import devices, of_systems
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

OF_ONE_MODEL = frozenset(ARCHITECTURE) - {"vocab"}
"""Fields in which the models of a document differ."""

NAMED = {"model", "model_size", "parameters", "program", "network"}
"""Fields of which clauses far from a table may name another's."""


def mentioned(
    records: Sequence[Record],
    lines: Sequence[Line],
    taken: Set[int],
    context: Context,
    machines: Mapping[str, Mapping[str, Cell]],
) -> None:
    """Fill settings of rows of tables, in place, by what the prose around them mentions; lines that
    are `taken` are of tables, and of other records. `machines` are what computes in those that the
    document calls by names."""
    rows = sorted((r for r in records if r.tabled), key=lambda record: record.line)
    if not rows or len(lines) > MOST_LINES:
        return
    tabled = {line for row in rows for line, _ in row.places()}
    paragraphs = paragraphs_of(lines, tabled, taken)
    empty = [line.number for line in lines if not line.text.strip()]
    around = Around(paragraphs, sorted(tabled), empty, context)
    _but_for_nearer(around.tables(rows), paragraphs)
    _but_for_its_post(rows, paragraphs, context.comments)
    models = {row.cells["model"].text for row in rows if "model" in row.cells}
    said = {line.number: each for each in paragraphs if not each.heading for line in each.lines}
    _but_for_others(rows, said, models)
    led = _led_in(paragraphs)
    _but_for_listed(rows, led, models)
    _tell_tables(rows, lines, around, paragraphs, context, machines)
    _but_for_listed(rows, led, models)


def _tell_tables(
    rows: Sequence[Record],
    lines: Sequence[Line],
    around: Around,
    paragraphs: Sequence[Paragraph],
    context: Context,
    machines: Mapping[str, Mapping[str, Cell]],
) -> None:
    """Fill settings of the rows of each table, in place, from paragraphs."""
    models = {row.cells["model"].text for row in rows if "model" in row.cells}
    said = {line.number: each for each in paragraphs if not each.heading for line in each.lines}
    only = only_model(paragraphs, models)
    printed = {cell.text for row in rows if (cell := row.cells.get("model")) and _is_own(cell)}
    called = by_size(paragraphs, models, printed)
    elsewhere_printed = models_printed(rows)
    page, of_all, since = model_of_page(paragraphs), models_of_all(paragraphs), 0
    above, called_so = list[Sequence[Record]](), models_of(rows)
    settled = dict[str, int]()  # fields spoken of otherwise in this section, by where
    for table in around.tables(rows):
        begin = max(since, around.heading_above(table[0].line))
        trained = size_in_commands(lines, begin, table[0].line)
        own = _printed_in(table, context)
        name_models(table)
        near = list(around.speaking(table[0].line, table[-1].line))
        number = around.number(near)
        tuned = {label for row in table for label, text in row.other if adapters(text)}
        own_page = None if page and _names_another(page, near) else page
        on_it = _on_machine(near, machines) if machines else {}
        headed = around.heading_above(table[0].line) > since  # since the table before
        apart = dict[str, int]() if headed else dict(settled)
        call_as_printed(table, near, elsewhere_printed)
        for row in table:
            if "gpu" not in row.cells:
                row.cells |= {n: cell for n, cell in on_it.items() if n not in row.cells}
            _fill(row, near, own | _spoken_by(row, tuned), models, context, since, number)
            apart |= {} if headed else _settled_nearer(row, near, since, table[0].line)
            _without_older(row, apart)
            _but_for_its_own(row, near, models)
            if not any(name in row.cells for name in SIZED_BY[:3]):
                row.cells |= trained
            _but_for_unfit(row)
            call(row, called, near)
            if not any(name in row.cells for name in SIZED_BY[:3]):
                model = only[0] if only and around.is_over(only[1], row.line) else None
                row.cells |= _model_of(model or _of_all_above(of_all, row, around), near, own_page)
        _but_for_numbered(table, number, said)
        by_name(table, called_so, [p for p, place in near if place == OWN], said)
        between = [
            each for each, place in near if place == OWN and since < each.first < table[0].line
        ]
        set_up_like(table, between, above, [_spoken_by(row, tuned) for row in table])
        above.append(table)
        since, settled = table[-1].line, apart


def _but_for_numbered(table: Sequence[Record], number: str, held: Mapping[int, Paragraph]) -> None:
    """Take from rows of the table of a number what a sentence says of tables of other numbers: `In
    Table 3 we use TP=4.` `held` are paragraphs by their lines."""
    for row in table if number else ():
        for name, cell in list(row.cells.items()):
            each = held.get(cell.line) if cell.value_origin != "printed" else None
            tables = tables_of(each.sentence_at(cell)[0]) if each else frozenset[str]()
            if tables and number not in tables:
                del row.cells[name]


def _names_another(model: Cell, around: Iterable[tuple[Paragraph, int]]) -> bool:
    """Whether the text around a table names another model than that of its page."""
    return any(place == OWN and _of_another(model, each.text) for each, place in around)


def _model_of(
    model: Cell | None, around: Sequence[tuple[Paragraph, int]], page: Cell | None
) -> Mapping[str, Cell]:
    """The model of a row: that which is known, or that of its section, or that of its page."""
    model = model or model_of_section(around) or page
    return {"model": model} if model else {}


def _of_all_above(
    told: Sequence[tuple[Cell, Paragraph]], row: Record, around: Around
) -> Cell | None:
    """The model that is said above a row to be that of all results below, by the last that is over
    it."""
    above = [
        each for each in told if each[1].first < row.line and around.is_over(each[1], row.line)
    ]
    return above[-1][0] if above else None


def _printed_in(table: Sequence[Record], context: Context) -> set[str]:
    """Fields that rows of a table print, or the same facts under other names."""
    first = table[:1] if _adds_up(table, context) else table
    own = {name for row in first for name, c in row.cells.items() if _is_own(c)}
    return own | {
        fact for name in own for fact in SAME_FACT.get(name, ())
        if name in ONE_FACT or _varies(name, table)
    }  # fmt: skip


def _of_another(model: Cell, text: str) -> bool:
    """Whether a text names a model, or a size of one, that is not this one."""
    named = model_named(text)
    other = named is not None and named.casefold() != model.text.casefold()
    return other or not sizes_in(text) <= sizes_in(model.text)


def _adds_up(table: Sequence[Record], context: Context) -> bool:
    """Whether rows of a table have what those above them have, and more: what one of them adds is
    no setting that every row says."""
    labels = [next((text for _, text in row.other), "") for row in table[1:]]
    return context.adds_up(table[0].line) or (bool(labels) and all(map(ADDS.match, labels)))


def _but_for_unfit(row: Record) -> None:
    """Take from a row sizes of a batch that do not go together."""
    _within_its_batch(row)
    _shared_by_all(row)


def _within_its_batch(row: Record) -> None:
    """Take from a row that prints its batch what the text says of the batch of one device, where
    that is larger: it is of other runs."""
    batch, micro = row.cells.get("batch_size"), row.cells.get("micro_batch")
    if batch is None or micro is None or not _is_own(batch) or micro.value_origin == "printed":
        return
    sizes = number_of(batch), number_of(micro)
    if sizes[0] is not None and sizes[1] is not None and sizes[1] > sizes[0]:
        del row.cells["micro_batch"]


def _shared_by_all(row: Record) -> None:
    """Take from a row the batch of all devices that was said farther from it than what each of them
    takes at once, where these together take more."""
    whole, micro = row.cells.get("global_batch"), row.cells.get("micro_batch")
    if whole is None or micro is None or _is_own(whole) or not 0 < whole.line < micro.line:
        return
    held = {
        name: number_of(cell) for name, cell in row.cells.items() if cell.state == "value"
        and name in SHARES | {"gpus_per_node"}
    }  # fmt: skip
    count = held.get("gpus") or (held.get("nodes") or 1) * (held.get("gpus_per_node") or 1)
    split = prod(held.get(name) or 1 for name in ("tp", "pp", "cp"))
    if (held.get("micro_batch") or 0) * (count // split or 1) > (held.get("global_batch") or inf):
        del row.cells["global_batch"]


MOST_LINES = 20_000
"""Lines of a document; what is longer is a log."""


def _is_own(cell: Cell) -> bool:
    return cell.value_origin == "printed" and cell.state in ("value", "outcome")


def _varies(name: str, table: Sequence[Record]) -> bool:
    """Whether rows of a table print more than one value of a setting."""
    return len({row.cells[name].text for row in table if name in row.cells}) > 1


def _spoken_by(row: Record, tuned: Set[str]) -> set[str]:
    """Fields that the words of a row, or the labels over them, speak of, understood or not; under
    the labels `tuned` rows say how much of a model they train: `full`, beside `LoRA`."""
    found = set(spoken_of_itself(row))
    for label, text in row.other:
        found |= spoken_of(label) - (set(MACHINES) if devices(label) else set())
        if name := known(label):
            found.add(name)
        if (label not in tuned and _AGAIN.match(text)) or _OF_AGAIN.search(label):
            found |= {"recompute", "activation_checkpointing"}
    return found


_AGAIN = deferred(
    r"\W*(?:none|full|selective|sel\.?|off|on|no(?:ne)?|yes|disabled|enabled|全量|选择性|关闭|なし|選択的)\b",
    re.IGNORECASE,
)

_OF_AGAIN = deferred(
    r"\b(?:ckpt|check-?point|recomp|remat)\w*|\b(?-i:AC)\b|重计算|検査点|再計算", re.IGNORECASE
)


def _fill(
    row: Record,
    around: Sequence[tuple[Paragraph, int]],
    own: set[str],
    models: set[str],
    context: Context,
    since: int,
    number: str,
) -> None:
    held = dict(row.cells)
    found: dict[str, Cell] = {}
    closed = set(own)
    if (model := held.get("model")) and SIZED.search(model.text):
        closed |= {"model_size", "parameters"}
    kept = frozenset[str]()  # what nearer paragraphs say to be as above
    for paragraphs, place in _lists(around):
        of_all = place == OF_ALL
        told = _told(paragraphs, row, models, number, kept, near=place == OWN, only_of_all=of_all)
        here = {line.number for each in paragraphs for line in each.lines}
        for name, cell in told.items():
            if name in closed or (name in NAMED and place != OWN):
                continue
            if place == MACHINE and name not in ("gpu", "gpus_per_node", "network"):
                continue
            other = turned(name, cell, held)
            if not (cell and other and _gives_way(held[other], cell, here, place)):
                other = None
            twice = any(n in held and n != other for n in ONE_FACT.get(name, ()))
            before = held.get(name)
            itself = before is not None and (  # in words of its own, or of those over its column
                before.line == row.line or before.text in dict(row.other).get("column", "")
            )
            if cell and not (twice or itself) and _gives_way(before, cell, here, place):
                found[name] = cell
        closed |= told.keys() if place != MACHINE else set()
        for each in paragraphs:
            closed |= _settled_by(each, told) if place not in (OF_ALL, MACHINE) else set[str]()
            kept |= kept_as_above(each.text) if place == OWN else frozenset()
    if not any(name in held or name in found for name in SIZED_BY):
        found |= size_around(around, since)
    for name, cell in consistent(found, row.cells).items():
        if other := turned(name, cell, row.cells):
            del row.cells[other]
        row.cells[name] = cell._replace(value_origin="stated")
        context.used.add(cell.line)


def _on_machine(
    around: Sequence[tuple[Paragraph, int]], machines: Mapping[str, Mapping[str, Cell]]
) -> Mapping[str, Cell]:
    """Devices of the one machine that the nearest text around a table names."""
    for paragraph, place in around:
        named = [name for name in machines if has_word(paragraph.text, name)]
        if named and place in (OWN, AROUND):
            return machines[named[0]] if len(named) == 1 else {}
    return {}


_A_FORMAT = re.compile(NUMBER_FORMAT, re.IGNORECASE)

_IN_WIDE = re.compile(r"\b(?:tf32|fp32|float-?32)\b", re.IGNORECASE)

ONE_FACT = {name: facts for name, facts in SAME_FACT.items() if name not in ("gpus", "nodes")}


def _gives_way(held: Cell | None, told: Cell, here: set[int], place: int) -> bool:
    """Whether what a row has gives way to what the paragraph of some lines tells: an assumption
    does, what stands farther from it, and what a part of a sentence there says by itself."""
    if held is None:
        return True
    if held.value_origin == "printed" or held.line == 0:
        return False
    if held.state == "unknown":
        # but for what is summed or reduced in, beside the products
        rest = _IN_WIDE.sub("", held.text)
        if rest != held.text and _A_FORMAT.fullmatch(told.text):
            rest = rest.replace(told.text, "")
        above = place == OWN and held.line < min(here)
        return above or (held.line in here and not any(map(str.isdigit, rest)))
    if place != OWN or not _unlike(held, told) or (told.text, held.text) in SAYS_LESS:
        return False
    return held.line in here or held.value_origin == "assumed" or held.line < min(here)


def _told(
    paragraphs: Sequence[Paragraph],
    row: Record,
    models: set[str],
    number: str,
    kept: Set[str] = frozenset(),
    *,
    near: bool,
    only_of_all: bool = False,
) -> dict[str, Cell | None]:
    """Cells that some paragraphs together give a row of the table of a number; None for those that
    they say in two ways."""
    told: dict[str, Cell | None] = {}
    apart = OF_ONE_MODEL if len(models) > 1 else frozenset[str]()
    noted = {line.number for line, _ in row.noted}
    here = {line.number for each in paragraphs for line in each.lines}
    model = row.cells.get("model")
    if model and all(model.text.casefold() in each.text.casefold() for each in paragraphs):
        apart = frozenset[str]()
    for clause in chain.from_iterable(_clauses_of(each, noted) for each in paragraphs):
        if (only_of_all and not clause.of_all) or (clause.tables and number not in clause.tables):
            continue
        if not _is_of(clause, row, models, near=near):
            continue
        for name, cell in _sayings(clause, row, here, kept).items():
            if name in apart and not clause.sizes:
                continue
            if name in told and _unlike(told[name], cell):
                told[name] = None
            else:
                told.setdefault(name, cell)
    named = {each.key for paragraph in paragraphs for each in devices(paragraph.text)}
    if len(named) > 1:
        told.pop("gpu", None)
    return told


def _clauses_of(paragraph: Paragraph, noted: set[int]) -> Sequence[Clause]:
    """The clauses of a paragraph for a row that points to notes in some lines; of headings those
    alone that a program has drawn."""
    if paragraph.heading and not paragraph.text.startswith("#" * LOWEST):
        return ()
    others = noted.isdisjoint(line.number for line in paragraph.lines)
    return [*paragraph.clauses, *(paragraph.of_others if others else ())]


def _settled_by(paragraph: Paragraph, told: Mapping[str, Cell | None]) -> set[str]:
    """Fields of which a text nearer to a row speaks, understood or not; where it has `told` how
    many devices there were, it has not spoken of nodes."""
    spoken = set(spoken_of(AS_ABOVE.sub(" ", paragraph.text)))
    if told.get("gpus") or _COUNTED.search(paragraph.text):
        spoken -= set() if _OF_NODES.search(paragraph.text) else {"nodes"}
    systems = paragraph.heading and of_systems(paragraph.text)
    return spoken | (set(MACHINES) if systems else set())


_COUNTED = deferred(
    r"(?<![\w.,-])[0-9][0-9,]* (?:[A-Z][\w-]* ){0,2}(?:GPU|NPU|TPU|chip|device)s?\b"
)

_OF_NODES = deferred(
    r"\b(?:nodes?|servers?|hosts?|machines?|box(?:es)?|instances?)\b|节点|机|台|ノード|노드",
    re.IGNORECASE,
)


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
        if held and not items and not (place == level and place in (SET_UP, OF_ALL)):
            yield held, level
            held = []
        held.append(paragraph)
        level = place
    if held:
        yield held, level


BETWEEN_ITEMS = 4
"""Lines between the beginnings of two items of one list."""


def _unlike(one: Cell | None, other: Cell) -> bool:
    if one is None or saying(one) == saying(other):
        return False
    return {each.key for each in devices(one.text)} != {d.key for d in devices(other.text)} or (
        not devices(one.text)
    )


def _but_for_others(
    rows: Iterable[Record], held: Mapping[int, Paragraph], models: set[str]
) -> None:
    """Take from rows what a clause says that names the model of other rows, and what a line of a
    sentence that goes on over several says by itself. `held` are paragraphs by their lines."""
    for row in rows:
        for name, cell in list(row.cells.items()):
            paragraph = held.get(cell.line) if cell.value_origin != "printed" else None
            clause = paragraph.clause_at(cell.line, cell.column) if paragraph else None
            said = cell.value_origin == "stated" and name not in ("program", "network")
            said = said and not (clause and name in clause.values)  # it went to its rows alone
            if clause and said and _of_other_model(clause, row, models):
                del row.cells[name]
            elif paragraph and cell.state == "value" and name != "gpu":
                own = paragraph.instead_of(name, cell) or cell
                row.cells[name] = own._replace(value_origin=cell.value_origin, law=cell.law)


def _led_in(paragraphs: Iterable[Paragraph]) -> Mapping[int, Clause]:
    """By the lines of items of lists whose opening line names one model alone, the clause of that:
    `The 8B architecture:` over `- Hidden size: 4096`."""
    led, lead, deep, end = dict[int, Clause](), list[Clause](), 0, 0
    for each in paragraphs:
        near = each.first <= end + 2  # an empty line at most
        inside = each.lines[0].column
        if each.item and lead and near and inside > deep:
            led |= {line.number: lead[0] for line in each.lines if not each.of_models}
        else:
            lead = _opens_for(each)
            deep = inside if each.item else -1
        end = each.lines[-1].number
    return led


def _but_for_listed(rows: Iterable[Record], led: Mapping[int, Clause], models: set[str]) -> None:
    """Take from rows what items say of the model of other rows, by how their list is opened."""
    for row in rows if led else ():
        for name, cell in list(row.cells.items()):
            clause = led.get(cell.line) if cell.value_origin == "stated" else None
            if clause and name not in _OF_ALL_MODELS and _of_other_model(clause, row, models):
                del row.cells[name]


def _opens_for(paragraph: Paragraph) -> list[Clause]:
    """The clause of a line that opens a list, if it names one size of a model and no others."""
    text = paragraph.text.strip()
    opens = text.endswith(":") or (paragraph.item and _NAME_ALONE.fullmatch(text))
    if paragraph.heading or not opens or _OF_MORE.search(text):
        return []
    every = [clause for _, _, clause in paragraph.of_models]
    return every[:1] if len({size for each in every for size in each.sizes}) == 1 else []


_NAME_ALONE = re.compile(r"(?:[-*+] )?[`*]{0,2}[\w.-]{1,24}(?: [\w.-]{1,24}){0,3}[`*]{0,2}")

_OF_ALL_MODELS = {"gpu", "program", "network", "vocab"}
"""Fields in which the models of a document agree, whichever a text speaks of."""

_OF_MORE = deferred(
    r"\b(?:all|every|each|other|others|rest|same|shared|common|both|also|likewise|e\.g|example|instance|like"
    r"|unless|except|default|defaults)\b",
    re.IGNORECASE,
)
"""Words of a line that opens a list of what holds for other models, too."""


def _but_for_its_own(
    row: Record, around: Iterable[tuple[Paragraph, int]], models: set[str]
) -> None:
    """Take from a row what is said of all rows farther away than a clause right above its table
    that gives its model, and not every other, another number: `for 6.9B the batch had to go to 2`,
    whether or not that is understood."""
    sizes = sizes_of(row)
    if not sizes or all(any(size in each.upper() for size in sizes) for each in models):
        return
    for paragraph, place in around:
        for _, _, clause in () if place != OWN or paragraph.heading else paragraph.of_models:
            (size, *others) = clause.sizes
            if others or not any(as_large(size, each) for each in sizes):
                continue
            said = {float(n.replace(",", "")) for n in _A_NUMBER.findall(clause.text)}
            for name in spoken_of(clause.text) & _PER_STEP & row.cells.keys() if said else ():
                cell = row.cells[name]
                farther = not _is_own(cell) and 0 < cell.line < paragraph.first
                if farther and number_of(cell) not in said:
                    del row.cells[name]


_PER_STEP = {
    "batch_size", "micro_batch", "global_batch", "global_batch_tokens", "seq_len", "accumulation",
}  # fmt: skip
"""Fields of what a step takes, of which a model that is larger or smaller may take another."""

_A_NUMBER = re.compile(r"(?<![\w.-])[0-9][0-9,]*(?![\w-]|[.,][0-9])")


def _settled_nearer(
    row: Record, around: Iterable[tuple[Paragraph, int]], since: int, until: int
) -> dict[str, int]:
    """Fields of what a row has from above the end of the table before, line `since`, of which a
    paragraph between that and its own, line `until`, speaks with other numbers, by its line: `Only
    two of the cards were free, context 4096 now.`"""
    found: dict[str, int] = {}
    held = {
        name: cell for name, cell in row.cells.items()
        if 0 < cell.line <= since and not _is_own(cell)
    }  # fmt: skip
    for paragraph, place in around if held else ():
        if place == OWN and since < paragraph.first < until and not paragraph.explains:
            for sentence in sentences(AS_ABOVE.sub(" ", paragraph.text)):
                told = settled_nearer(held, {paragraph.first: sentence})
                found |= dict.fromkeys(told, paragraph.first)
    return found


def _without_older(row: Record, settled: Mapping[str, int]) -> None:
    """Take from a row what stands above the lines that speak of it otherwise."""
    for name, line in settled.items():
        cell = row.cells.get(name)
        if cell is not None and 0 < cell.line < line and not _is_own(cell):
            del row.cells[name]


def _but_for_nearer(tables: Iterable[Sequence[Record]], paragraphs: Sequence[Paragraph]) -> None:
    """Take from the rows of a table what was said of a model above the paragraphs right above it,
    where these say what another model ran on."""
    firsts = [each.first for each in paragraphs]
    since = 0
    for table in tables:
        begin, end = bisect_right(firsts, since), bisect_left(firsts, table[0].line)
        since = table[-1].line
        near = [each for each in paragraphs[begin:end][-NEAREST:] if not each.heading]
        sizes = {clause.sizes for each in near for clause in each.clauses if clause.sizes}
        if len(sizes) != 1 or any("model" in r.cells and _is_own(r.cells["model"]) for r in table):
            continue
        ((size, *others),) = sizes
        for row in table:
            held = sizes_of(row)
            if others or not held or any(as_large(size, each) for each in held):
                continue
            for name in _OF_A_MODEL & row.cells.keys():
                cell = row.cells[name]
                if not _is_own(cell) and cell.line < near[0].first and cell.law != OF_FAMILY:
                    del row.cells[name]  # a family is of models of every size


def _but_for_its_post(
    rows: Sequence[Record], paragraphs: Sequence[Paragraph], posts: Sequence[int]
) -> None:
    """Take from rows of a post of a thread what another post said of a model, where the text above
    them in their own names models of other sizes alone: `I wanted to go to 13B later, and did`."""
    for row in rows if posts else ():
        began = posts[at - 1] if (at := bisect_right(posts, row.line)) else 0
        sizes = {
            size
            for each in paragraphs if began <= each.first < row.line
            for _, _, clause in each.of_models for size in clause.sizes
        }  # fmt: skip
        if not began or not sizes or any(as_large(a, b) for a in sizes for b in sizes_of(row)):
            continue
        for name in _OF_A_MODEL & row.cells.keys():
            if not _is_own(row.cells[name]) and 0 < row.cells[name].line < began:
                del row.cells[name]


_OF_A_MODEL = {*ARCHITECTURE, "experts", "model", "model_size", "parameters"}

NEAREST = 6
"""Paragraphs right above a table that say whose runs it is of."""


def _is_of(clause: Clause, row: Record, models: set[str], *, near: bool) -> bool:
    """Whether a clause may speak of a row: it names no other model and no other device."""
    if _of_other_model(clause, row, models) or (clause.sizes and not near and not sizes_of(row)):
        return False
    if clause.formats and not _in_one_of(row, clause.formats):
        return False
    if len(clause.devices) > 1 or (len(clause.sizes) > 1 and _FOR.search(clause.text)):
        return False  # values and names take turns, perhaps
    gpu = row.cells.get("gpu")
    if near and gpu and gpu.value_origin == "assumed":
        gpu = None  # what stands around the row says better
    mine = {each.key.partition(".")[0] for each in devices(gpu.text)} if gpu else set()
    theirs = {key.partition(".")[0] for key in clause.devices}
    return not (mine and theirs) or not mine.isdisjoint(theirs)


def _of_other_model(clause: Clause, row: Record, models: set[str]) -> bool:
    """Whether a clause names another model than that of a row, and not that: of another size, or
    by the whole name of one of the same."""
    sizes, model = sizes_of(row), row.cells.get("model")
    if clause.sizes and sizes and not any(as_large(a, b) for a in clause.sizes for b in sizes):
        return model is None or not lists_family(clause.text, model.text)
    if model is None:
        return False
    own, text = called(model.text), letters(clause.text)
    if clause.sizes and not sizes and own not in text and EXPERTS_OF.search(model.text):
        return not any(rounds_to(model.text, size) for size in clause.sizes)
    others = {each for each in map(called, models) if each in text}
    return bool(others) and not any(own in each or each in own for each in {*others, text})


_FOR = deferred(r"[0-9]k? (?:for|on|with|at|in)\b|[0-9]k? ?\(")


def _in_one_of(row: Record, formats: frozenset[str]) -> bool:
    kind = row.cells.get("dtype")
    return kind is not None and kind.text.casefold() in formats


def _sayings(clause: Clause, row: Record, here: set[int], kept: Set[str]) -> dict[str, Cell]:
    """Cells that a clause gives a row: none of how another run was shared than the one of which the
    row, or what is said outside the lines of the clause, speaks, but for what was kept there."""
    values = {name: c for name, c in clause.values.items() if c.state == "value"}
    apart = any(
        name in SHARES and (own := row.cells.get(name)) is not None
        and own.value_origin != "assumed" and own.state == "value" and own.line not in here
        and _unlike(own, cell)
        for name, cell in values.items()
    )  # fmt: skip
    same = (
        {"nodes"}
        if "nodes" in values and may_hold("nodes", values["nodes"], values, row.cells)
        else set[str]()
    )
    return {n: c for n, c in values.items() if not (apart and n in SHARES - kept - same)}
