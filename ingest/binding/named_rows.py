"""Settings of sentences that name some of the models of a document, and not that of a row.

In: the rows of a table, with what its text says of them, and its paragraphs. Out: the same rows,
with what a part of a sentence right around them says of those that it names, `13B TP2, 30B TP4`,
and without what others say of other rows: `For Sparrow we set the micro-batch to 64.` What is said
of all rows, or of the others, takes nothing from any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType

from assay.ingest.binding.called import amount, sizes_of
from assay.ingest.binding.comparing import SHARES, consistent
from assay.ingest.binding.mentions import (
    Paragraph,
    paragraphs_of,
    said_in,
    sizes_by_place,
    sizes_in,
)
from assay.ingest.columns.number_formats import kinds_in, of_products
from assay.ingest.columns.titles import full_name
from assay.ingest.legends.whose_clauses import OTHERS, Naming, as_before, may_be_of, parts_of
from assay.ingest.prose.scopes import in_range, meant, scoped, size_of, where_named
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.row_words import SAME_FACT
from assay.ingest.statements.values import known
from assay.ingest.vocabulary.devices import devices, lacks
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

NOT_OF_THEM = {"model", "model_size", "parameters", "program", "network"}
"""Fields that a sentence gives for itself, and not to the models that it names."""

FEWEST = 2

MOST = 60
"""Models of a document, beyond which no sentence is about one."""


def models_of(rows: Iterable[Record]) -> Mapping[str, float]:
    """How rows call their models, or else the sizes that they print, and about how many parameters
    these have; none where there are too many. Models of one name go by their sizes, too."""
    found = dict[str, dict[str, float]]()
    for row in rows:
        if name := name_of(row):
            size = max(map(amount, sizes_of(row)), default=0.0)
            found.setdefault(name, {}).setdefault(full_name(row.cells) or name, size)
    models = {
        whole if len(sizes) > 1 else name: size
        for name, sizes in found.items() for whole, size in sizes.items()
    }  # fmt: skip
    return models if FEWEST <= len(models) <= MOST else {}


def name_of(row: Record, models: Mapping[str, float] = MappingProxyType({})) -> str:
    """The model of a row, with its size where some `models` of that name are told apart by it, or
    else the size that it prints; empty where it has neither."""
    model, size = row.cells.get("model"), row.cells.get("model_size")
    if model is None and size is not None and size.value_origin == "printed":
        return size.text
    whole = full_name(row.cells)
    return whole if whole in models or model is None else model.text


def by_name(
    table: Sequence[Record],
    models: Mapping[str, float],
    near: Sequence[Paragraph],
    said: Mapping[int, Paragraph],
) -> None:
    """Give rows of a table, in place, what parts of the sentences `near` it say of them by name,
    and take from them what parts of any say of others. `said` are paragraphs by their lines."""
    names = list(models)
    called = [name_of(row, models) for row in table]
    of_rows = [names.index(each) if each in models else -1 for each in called]
    _but_for_others(table, of_rows, said, lambda text: named_in(text, models), len(names))
    for paragraph in near if names else ():
        if not paragraph.heading:
            _tell(table, of_rows, paragraph, models)
    computing = [_computes(row) for row in table]
    kinds = sorted(set(filter(None, computing)))
    of_rows = [kinds.index(each) if each else -1 for each in computing]
    if len(kinds) >= FEWEST:
        _but_for_others(
            table, of_rows, said, lambda text: _devices(text, kinds), len(kinds), FEWEST
        )


def _but_for_others(
    table: Sequence[Record],
    of_rows: Sequence[int],
    said: Mapping[int, Paragraph],
    naming: Callable[[str], Sequence[Naming]],
    kinds: int,
    least: int = 1,
) -> None:
    """Take from rows of some kinds what those of another have from the same place in a sentence,
    where its part there is of these; so many kinds are named in it at least."""
    having = dict[tuple[str, str, int, int], list[tuple[Record, int]]]()
    for row, kind in zip(table, of_rows, strict=True):
        for name, cell in row.cells.items() if kind >= 0 else ():
            if cell.line in said and name != "gpu" and _is_told(name, cell, row):
                place = (name, cell.text, cell.line, cell.column)
                having.setdefault(place, []).append((row, kind))
    for (name, _, line, _), rows in having.items():
        if len({kind for _, kind in rows}) < FEWEST:
            continue
        sentence, at = said[line].sentence_at(rows[0][0].cells[name])
        plain = sentence and not _ASSIGNS.search(sentence)
        names = naming(sentence) if plain else ()
        if len({each.key for each in names}) >= least:
            owners = may_be_of(sentence, at, names, frozenset(range(kinds)))
            for row, kind in rows:
                if kind not in owners:
                    del row.cells[name]


_ASSIGNS = deferred(r"\b[A-Za-z_]{4,}=\S{1,40}[ ,;/].{0,200}\b[A-Za-z_]{4,}=")
"""A line of settings as programs print them, which is no sentence: whose it is its place says."""


def _tell(
    table: Sequence[Record],
    of_rows: Sequence[int],
    paragraph: Paragraph,
    models: Mapping[str, float],
) -> None:
    """Give rows what parts of the sentences of a paragraph say of their models."""
    for begin, sentence in paragraph.sentences_placed():
        names = named_in(sentence, models)
        before = _headed(sentence) if names else {}
        plain, parts = parts_of(of_products(sentence), names, frozenset(range(len(models))))
        for at, end, owners in parts:
            part = said_in(plain[at:end], plain)
            told: Mapping[str, Cell] = {n: c for n, c in part.items() if n not in NOT_OF_THEM}
            told = told or as_before(before, plain[at:end])
            before = told or before
            for row, kind in zip(table, of_rows, strict=True) if told else ():
                if kind in owners:
                    _give(row, told, paragraph, begin + at)


def _headed(sentence: str) -> Mapping[str, Cell]:
    """The setting of which a sentence then has one number for each name: `Batch size: 7B 8, …`."""
    label, colon, _ = sentence.partition(":")
    field = known(label.strip(" *-`")) if colon else None
    return {field: Cell("0", 0)} if field in SHARES else {}


def _give(row: Record, told: Mapping[str, Cell], paragraph: Paragraph, begin: int) -> None:
    """Give a row what a part of a paragraph, so far in its text, says of it by name; what the row
    has otherwise stays, but for what nobody could tell of that paragraph as a whole."""
    here = {line.number for line in paragraph.lines}
    new = {
        name: paragraph.placed(cell._replace(column=begin + cell.column))
        for name, cell in told.items() if _lacks(row, name, here)
    }  # fmt: skip
    for name, cell in consistent(new, row.cells).items():
        row.cells[name] = cell._replace(value_origin="stated")


def _lacks(row: Record, name: str, here: set[int]) -> bool:
    """Whether a row has neither a setting, nor another name of it; or has it unknown from here."""
    held = row.cells.get(name)
    if held is None:
        return row.cells.keys().isdisjoint(SAME_FACT.get(name, ()))
    return held.state == "unknown" and held.value_origin != "printed" and held.line in here


def but_for_unable(records: Iterable[Record], lines: Sequence[Line]) -> None:
    """Take out, in place, the number format that is assumed of rows whose devices have no units for
    it, or set in a command or in code, `bf16=True`, where rows that it is taken for as well ran on
    others, and its line names none of the former. What a sentence says of all is its author's."""
    told: dict[Hashable, list[tuple[Record, bool]]] = {}
    for row in records:
        held, gpu = row.cells.get("dtype"), row.cells.get("gpu")
        if held is None or gpu is None or held.value_origin == "printed" or row.alike is not None:
            continue
        ran, kinds = devices(gpu.text), kinds_in(held.text) - {"fp16", "fp32"}
        if ran and kinds:
            unable = all(lacks(each, kind) for each in ran for kind in kinds)
            told.setdefault((held.law or held.line, *kinds), []).append((row, unable))
    some = [row for every in told.values() if not all(unable for _, unable in every)
            for row, unable in every if unable]  # fmt: skip
    texts = {line.number: line.text for line in lines} if some else {}
    for row in some:
        held, gpu = row.cells["dtype"], row.cells["gpu"]
        text = texts.get(held.line, "")
        set_so = held.law is not None or held.line not in texts or "=" in text or "--" in text
        named = {each.key for each in devices(text)}
        if set_so and named.isdisjoint(each.key for each in devices(gpu.text)):
            del row.cells["dtype"]


def but_for_unnamed(records: Iterable[Record], lines: Sequence[Line], tabled: Set[int]) -> None:
    """Take from rows, in place, what a sentence says that names the models of others alone, or what
    others alone have."""
    rows = [each for each in records if each.tabled]
    _but_for_switched_off(rows, lines, tabled)
    if not (models := models_of(rows)):
        return
    held = {
        line.number: each
        for each in paragraphs_of(lines, tabled, tabled) if not each.heading for line in each.lines
    }  # fmt: skip
    behind = dict[tuple[str, str, int, int], Mapping[str, Cell]]()
    for row in rows:
        model = name_of(row, models)
        for name, cell in list(row.cells.items()):
            paragraph = held.get(cell.line) if _is_told(name, cell, row) else None
            place = name, cell.text, cell.line, cell.column
            if paragraph and place not in behind:
                behind[place] = _said_behind(paragraph, name, cell, models)
            if paragraph and (other := behind[place].get(model)):
                row.cells[name] = other
                continue
            sentence = paragraph.sentence_of(cell) if paragraph else ""
            if sentence and (apart := _APART.search(sentence)):
                if model in _named(apart["whom"], models):
                    del row.cells[name]
                    continue
                sentence = sentence[: apart.start()] + sentence[apart.end() :]
            those = _named(_beside(cell, sentence), models) if sentence else set[str]()
            own = {
                each.rows: each.value for each in scoped(sentence, models) if each.field == name
            } if those else {}  # fmt: skip
            if value := _own(own, model):
                row.cells[name] = cell._replace(text=value, scale=1.0)
            elif those and model not in those and not ("" in own or _is_of_others(sentence)):
                del row.cells[name]


def _but_for_switched_off(
    records: Sequence[Record], lines: Sequence[Line], tabled: Set[int]
) -> None:
    """Take from rows, in place, what a sentence says of those alone that have what a column of
    yes and no is about, if they have it not; and the other way round: `With DS it is ZeRO 1.`"""
    rows = [row for row in records if row.alike is None]
    kinds = dict[str, set[bool]]()
    for row in rows:
        for label, on in _switches(row):
            kinds.setdefault(label, set()).add(on)
    both = {label for label, said in kinds.items() if len(said) > 1}
    held = {
        line.number: each
        for each in (paragraphs_of(lines, tabled, tabled) if both else ())
        if not each.heading for line in each.lines
    }  # fmt: skip
    for row in rows if both else ():
        switched = dict(_switches(row))
        for name, cell in list(row.cells.items()):
            told = cell.value_origin != "printed" and cell.line != row.line
            paragraph = held.get(cell.line) if told else None
            sentence, at = paragraph.sentence_around(cell) if paragraph else ("", 0)
            under = {label: _is_under(label, sentence, at) for label in both if label in sentence}
            if any(on not in (None, switched.get(label)) for label, on in under.items()):
                del row.cells[name]


def _switches(row: Record) -> list[tuple[str, bool]]:
    """The labels of a row under which it says yes or no, and which."""
    texts = [(label.strip(" *`"), text.strip(" *`").casefold()) for label, text in row.other]
    return [
        (label, text in _IS_ON) for label, text in texts
        if text in _IS_ON | _IS_OFF and _A_SWITCH.fullmatch(label)
    ]  # fmt: skip


_IS_ON = {"y", "yes", "on", "true", "✓", "✔", "✅", "☑", "√", "✔️", "enabled", "是", "开", "有"}

_IS_OFF = {"n", "no", "off", "false", "✗", "✘", "❌", "×", "✖", "x", "disabled", "none", "否", "关",
           "无"}  # fmt: skip

_A_SWITCH = deferred(r"[A-Za-z][\w+.-]*(?: [\w+.-]+){0,3}")


def _is_under(label: str, sentence: str, at: int) -> bool | None:
    """Whether a part of a sentence is of what has something, or has it not; None of whatever.

    >>> _is_under("DS", "With DS it is ZeRO 1", 14), _is_under("DS", "bf16, ZeRO 1 with DS", 0)
    (True, None)
    >>> _is_under("DS", "Without DS the micro-batch is 1", 27), _is_under("DS", "DS, bf16", 4)
    (False, None)
    """
    word = rf"[`*_\"“]{{0,2}}{re.escape(label)}[`*_\"”]{{0,2}}(?![\w-])"
    found = re.search(
        rf"(?:(?P<first>^\W*)|\b)(?:(?:only )?(?:with|w/|for|where|when|if|in) (?:the |all )?"
        rf"(?P<off>out )?{word}|(?P<off2>without |w/o |no ){word}"
        rf"|(?:the |all )?{word}(?= (?:rows?|runs?|jobs?|ones|only)\b))",
        sentence,
        re.IGNORECASE,
    )
    if found is None or _EITHER_WAY.search(sentence):
        return None
    begin = 0 if found["first"] is None else found.start()
    end = _NEXT_CLAUSE.search(sentence, found.end())
    whole = found["first"] is not None
    if not whole:
        commas = [each.end() for each in _COMMA.finditer(sentence, 0, found.start())]
        begin, end = max(commas, default=0), _COMMA.search(sentence, found.end()) or end
    inside = begin <= at < (end.start() if end else len(sentence))
    return not (found["off"] or found["off2"]) if inside else None


_EITHER_WAY = deferred(
    r"\b(?:with (?:and|or) without|with/without|both|either|regardless|also|same|too|unlike"
    r"|than|faster|slower|not)\b",
    re.IGNORECASE,
)

_NEXT_CLAUSE = deferred(
    r"[;。；]|,? (?:but|while|whereas|otherwise|the (?:rest|others?))\b", re.IGNORECASE
)

_COMMA = deferred(r"[,;，；] ?|^")


def _said_behind(
    paragraph: Paragraph, name: str, cell: Cell, models: Mapping[str, float]
) -> Mapping[str, Cell]:
    """A cell of all models with the values that parts behind it in its sentence, or of the next
    ones, give some of them by name: `TP 1; 30B: 2`."""
    sentence, begin = paragraph.sentences_from(cell)
    if not sentence.startswith(cell.text, begin) or _IN_TURN.match(sentence, begin):
        return {}
    names = named_in(sentence[begin:], models)
    if not names or min(each.begin for each in names) == 0:
        return {}
    stop = _STOP.search(sentence, begin)
    own_end = stop.start() - begin if stop else len(sentence)
    called, found = list(models), dict[str, Cell]()
    every = frozenset(range(len(called)))
    plain, parts = parts_of(of_products(sentence[begin:]), names, every)
    for at, end, owners in parts if parts and parts[0][0] else parts[1:]:
        told = said_in(plain[at:end], plain)
        own = told.get(name)
        if own is None and at < own_end:
            own = as_before({name: cell}, plain[at:end]).get(name)
        if name == "dtype" and len(formats := _FORMAT.findall(plain[at:end])) == 1:
            own = cell._replace(text=formats[0])
        if own and own.state == "value" and own.text != cell.text:
            for each in owners:
                found.setdefault(called[each], cell._replace(text=own.text, scale=own.scale))
    return found


_STOP = re.compile(r"\.\s")

_IN_TURN = deferred(r"[0-9][0-9,.]*[kK]? ?(?:/|, ?[0-9]) ?[0-9]?")
"""A value that others follow, each of another model: `4 / 2 / 1 for 8B / 13B / 34B`."""

_FORMAT = deferred(rf"(?<![\w/-]){NUMBER_FORMAT}(?![\w/-]| (?:master|weights?|grad|optim|states?))")


def _own(told: Mapping[str, str], model: str) -> str | None:
    """The value that a sentence gives a model, by its name or by a range of sizes that it is of."""
    sizes = [size for each in sizes_in(model) if (size := size_of(each))]
    ranged = (
        value for rows, value in told.items() if any(in_range(size, rows) for size in sizes)
    )  # fmt: skip
    return told.get(model) or next(ranged, None)


def _is_of_others(sentence: str) -> bool:
    """Whether a sentence speaks of more rows than it names."""
    return (_OF_OTHERS.search(sentence) or OTHERS.search(sentence)) is not None


_OF_OTHERS = deferred(
    r"\b(?:all|every\w*|each|both|others?|rest|remaining|same|any|throughout|except|apart|besides"
    r"|unless)\b|所有|全部|均|各|其[他余它]|都|すべて|全て|모든|\b(?:alle|allen|tous|toutes|todos|todas)\b",
    re.IGNORECASE,
)
"""Words of a sentence that speaks of more rows than it names."""


_APART = deferred(
    r"[0-9][0-9,]*[kK]?,? but [0-9][0-9,]*[kK]?(?: \w+)? (?:for|in|on|with) (?P<whom>[^;.()]{1,60})"
)
"""Behind a value of all other rows, those that have another: `TP 2, but 4 for the 30B`."""

_BRACKETS = re.compile(r"[(（][^()（）]*[)）]")


def _beside(cell: Cell, sentence: str) -> str:
    """The words of a sentence that are about a cell: what brackets add is about what is in them."""
    outside = _BRACKETS.sub(" ", sentence)
    return outside if cell.text in outside else sentence


def _named(sentence: str, models: Mapping[str, float]) -> set[str]:
    """The models that a sentence names, by words of their names or by sizes of these, and those of
    a range that begins or ends with one of them."""
    sizes = sizes_in(sentence)
    outright = {each for each in models if sizes & sizes_in(each)} | meant(sentence, models)
    names = list(models)
    return outright and outright | {names[each.key] for each in named_in(sentence, models)}


def _is_told(name: str, cell: Cell, row: Record) -> bool:
    """Whether the text says a setting of a row; of one whose model nobody knows, from afar."""
    near = name_of(row) and cell.value_origin != "printed"
    return (
        bool(near or cell.value_origin == "assumed") and cell.state == "value" and cell.line > 0
        and cell.line != row.line and name not in NOT_OF_THEM
    )  # fmt: skip


def named_in(sentence: str, models: Mapping[str, float]) -> Sequence[Naming]:
    """Where a sentence names models: by name, by size, or by what they are larger than; each by its
    place among the models.

    >>> sized = {"GPT-7B": 7e9, "GPT-13B": 13e9, "GPT-30B": 30e9}
    >>> [(each.begin, each.key) for each in named_in("models up to 13B, the largest", sized)]
    [(7, 0), (7, 1), (18, 2)]
    """
    order = {name: at for at, name in enumerate(models)}
    whole = {name: re.escape(name) for name in models if name.casefold() in sentence.casefold()}
    names = [
        Naming(*found.span(), order[name])
        for name, form in whole.items()
        for found in re.finditer(rf"(?<![\w-]){form}(?![\w-])", sentence, re.IGNORECASE)
    ]
    for begin, end, theirs in where_named(sentence, models):
        if not any(each.begin < end and begin < each.end for each in names):
            names += [Naming(begin, end, order[name]) for name in theirs]
    called = [(each.begin, each.end) for each in names]
    for begin, end, size in sizes_by_place(sentence):
        if any(a <= begin and end <= b for a, b in called):
            continue
        place, is_meant = _range_of(sentence, begin, end, amount(size))
        names += [Naming(*place, order[each]) for each, of in models.items() if of and is_meant(of)]
    for form, pick in ((_LARGEST, max), (_SMALLEST, min)):
        for found in form.finditer(sentence) if models and all(models.values()) else ():
            names.append(Naming(*found.span(), order[pick(models, key=models.__getitem__)]))
    return names


def _range_of(
    sentence: str, begin: int, end: int, size: float
) -> tuple[tuple[int, int], Callable[[float], bool]]:
    """Where a size of models stands with the words of a range, and which sizes are meant by it."""
    before, behind = _RANGE.search(sentence, 0, begin), _ON.match(sentence, end)
    least, most = size * (1.0 - SAME_SIZE), size * (1.0 + SAME_SIZE)
    place = before.start() if before else begin, behind.end() if behind else end
    word = before.lastgroup if before else behind.lastgroup if behind else ""
    if word in ("below", "down"):
        return place, lambda each: each < (least if word == "below" else most)
    if word in ("above", "up"):
        return place, lambda each: each > (most if word == "above" else least)
    return place, lambda each: least <= each <= most


SAME_SIZE = 0.02
"""How far two sizes may lie apart that are one."""

_RANGE = deferred(
    r"(?:(?P<down>\b(?:up to|at most|through)|<=|≤)|(?P<below>\b(?:below|under|smaller than)|<)"
    r"|(?P<up>\b(?:at least|from|starting (?:at|from|with))|>=|≥)"
    r"|(?P<above>\b(?:above|over|larger than|bigger than|beyond)|>)) ?(?:the |about |~)?$",
    re.IGNORECASE,
)

_ON = deferred(
    r"(?P<up> ?\+| (?:and|or) (?:up|above|larger|bigger|beyond)\b| (?:on|up)wards?\b)"
    r"|(?P<down> (?:and|or) (?:below|smaller|down|under|less)\b)",
    re.IGNORECASE,
)

_MODEL = (
    r"(?: (?:model|one)\b|(?=\W*$|[,;:.)(]| (?:need|use|is|was|has|had|on|with|ran|runs|took|take"
    r"|[0-9])))"
)

_LARGEST = deferred(rf"\bthe (?:largest|biggest){_MODEL}", re.IGNORECASE)

_SMALLEST = deferred(rf"\bthe smallest{_MODEL}", re.IGNORECASE)


def _computes(row: Record) -> str:
    """The device of a row, whatever its memory and form; empty where nobody knows, or of two."""
    gpu = row.cells.get("gpu")
    keys = {each.key.partition(".")[0] for each in devices(gpu.text)} if gpu else set()
    return keys.pop() if len(keys) == 1 else ""


def _devices(sentence: str, kinds: Sequence[str]) -> Sequence[Naming]:
    """Where a sentence names devices of rows."""
    return [
        Naming(each.start, each.end, kinds.index(key))
        for each in devices(sentence) if (key := each.key.partition(".")[0]) in kinds
    ]  # fmt: skip
