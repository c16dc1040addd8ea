"""Shapes of the models of rows, and their sizes, by the tables and texts that say it.

In: rows of tables, of which the text around them may have said the model or its size; what tables
say that models are, by name or size. Out: the same rows with the shape of their model, and its name
where a document has one of that size. A row that says otherwise of a part of it has another model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isclose

from assay.ingest.binding.comparing import without
from assay.ingest.columns.cells import number_of
from assay.ingest.columns.headers import plain
from assay.ingest.columns.other_runs import sentences
from assay.ingest.columns.titles import SIZED, model_named, rounds_to
from assay.ingest.grids.grid import LONGEST
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.prose.scopes import paragraphs, size_of
from assay.ingest.schema.record import Cell, Line, Record, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.phrases import phrases
from assay.ingest.statements.values import saying
from assay.ingest.vocabulary.languages import in_english

NAMES = ("model", "model_size", "parameters")


def described(
    statements: Iterable[Statement], prose: Iterable[Line] = ()
) -> dict[str, dict[str, Cell]]:
    """Shapes of models that lines say which name one model, or that stand in brackets behind the
    name or the size of one, by its name in small letters, or its size; none of a model whose shape
    two lines say otherwise.
    """
    found: dict[str, dict[str, Cell]] = {}
    apart = set[str]()
    said = ((_name(each.values), each.values) for each in statements)
    for called, values in chain(said, _in_brackets(prose)):
        shape = {
            name: cell._replace(value_origin="stated") for name, cell in values.items()
            if name in SHAPE and cell.state == "value"
        }  # fmt: skip
        if not called or len(shape) < LEAST:
            continue
        held = found.setdefault(called, shape)
        if any(name in held and saying(held[name]) != saying(shape[name]) for name in shape):
            apart.add(called)
    return {called: shape for called, shape in found.items() if called not in apart}


def _name(values: Mapping[str, Cell]) -> str:
    """The name of the model of a statement in small letters, if its size is in it."""
    model = values.get("model")
    return model.text.casefold() if model is not None and SIZED.search(model.text) else ""


def _by_size(size: float | None) -> str:
    """How a model is called that has no name but its size."""
    return f"{size:g} parameters" if size else ""


def _in_brackets(prose: Iterable[Line]) -> Iterator[tuple[str, Mapping[str, Cell]]]:
    """Names or sizes of models in sentences, each with what stands in brackets behind it.

    >>> line = Line(1, "Kite-40B (60 layers, hidden size 8192) and a 7B model (32 layers).", 1, {})
    >>> [(name, {n: cell.text for n, cell in each.items()}) for name, each in _in_brackets([line])]
    [('kite-40b', {'hidden': '8192', 'layers': '60'}), ('7e+09 parameters', {'layers': '32'})]
    """
    for line in prose:
        plain = in_english(line.text) if len(line.text) <= LONGEST else None
        if plain is None or "layers" not in plain.text:
            continue
        for found in _SHAPED.finditer(plain.text):
            words = found[1].split()
            names = [" ".join(words[at:]) for at in range(len(words))]
            model = next((name for name in names if model_named(name) == name), "")
            size = _ITS_SIZE.search(found[1])
            if not model and not size:
                continue
            called = model.casefold() or (_by_size(float(size[1]) * 1e9) if size else "")
            told = phrases(Line(line.number, found[2], found.start(2), {}), least=1)
            yield (
                called,
                {
                    name: cell._replace(column=line.column + plain.place(cell.column))
                    for name, cell in told.items()
                },
            )


_ITS_SIZE = deferred(r"(?:^|\s)([0-9]{1,4}(?:\.[0-9]{1,2})?) ?B(?:[ -](?:parameter )?model)?$")
"""The size of a model at the end of some words: `a 1.3B model`."""

_SHAPED = deferred(
    r"(?<![\w.-])([A-Za-z0-9][\w.-]{0,40}(?: [\w.-]{1,40}){0,3}) ?\(([^()]{8,160})\)"
)
"""Words, and brackets behind them."""

SHAPE = ("hidden", "layers", "heads", "kv_heads", "ffn_hidden")

LEAST = 2
"""Fields that make a shape."""


def shaped(
    records: Iterable[Record],
    models: Mapping[str, Mapping[str, Cell]],
    told: Mapping[str, Mapping[str, Cell]],
) -> set[int]:
    """Fill in the shapes of the models of rows, in place, by tables or by what the text has `told`
    of models by their names; returns the lines that say them."""
    records, used = list(records), set[int]()
    _but_for_other_sizes(records)
    for record in records if models or told else ():
        shape = _shape(record, models) if record.tabled else {}
        if record.tabled and not shape and (model := record.cells.get("model")):
            called = plain(model.text).casefold()
            shape = told.get(called) or told.get(_TUNED.sub("", called), {})
        elif record.tabled and not shape:
            shape = told.get(_by_size(_size(record)), {})
        of_it = {name: cell for name, cell in shape.items() if name != "seq_len"}  # a run's choice
        if any(_contradicts(record.cells.get(name), cell) for name, cell in of_it.items()):
            continue
        for name, cell in shape.items():
            if name == "model" and size_of(cell.text):
                continue  # a size is no name
            held = record.cells.get(name)
            if held is None or (
                held.value_origin == "assumed"
                and name not in NAMES
                and saying(held) != saying(cell)
            ):
                record.cells[name] = cell
                used.add(cell.line)
    return used


_TUNED = deferred(r"[-_ ](?:chat|instruct|it|base|hf)(?:[-_ ]hf)?$")
"""The end of a name by which a model of the same shape is told apart: `Kite-7B-Chat`."""


def _but_for_other_sizes(records: Sequence[Record]) -> None:
    """Leave out the depth and the width that a text gives rows of models of different sizes, in
    place, but for those that are as large as it makes them: it is of one of these."""
    alike: dict[tuple[Cell, Cell], list[Record]] = {}
    for record in records:
        layers, hidden = record.cells.get("layers"), record.cells.get("hidden")
        if layers and hidden and record.tabled and record.line not in (layers.line, hidden.line):
            alike.setdefault((layers, hidden), []).append(record)
    for (layers, hidden), rows in alike.items():
        sizes = [size for row in rows if (size := _size(row))]
        if not sizes or max(sizes) < OTHER_SIZE * min(sizes):
            continue
        if any("experts" in row.cells for row in rows):
            continue  # of which one of the same shape may have more
        whole = PER_LAYER * (number_of(layers) or 0.0) * (number_of(hidden) or 0.0) ** 2
        for row in rows:
            size = _size(row)
            if size is None or not whole / OTHER_SIZE < size < whole * OTHER_SIZE:
                for name in SHAPE:
                    if name in row.cells and row.cells[name].line != row.line:
                        del row.cells[name]


OTHER_SIZE = 1.3
"""How many times as large one model is as another that is no rounding of it."""

PER_LAYER = 12
"""Parameters of a layer, in squares of its width."""


def sized(records: Iterable[Record], prose: Sequence[Line]) -> set[int]:
    """Fill in, in place, how large the models of rows of tables are whose size nothing has said, by
    sentences that say it right behind the name, or of it; returns the lines that say it."""
    rows = [
        row for row in records
        if row.tabled and "model" in row.cells and not row.cells.keys() & {*NAMES[1:]}
    ]  # fmt: skip
    names = {row.cells["model"].text for row in rows}
    if not names or len(names) > MOST_NAMES:
        return set()
    at = {line.number: line for line in prose if len(line.text) <= LONGEST}
    texts = [
        (numbers, text) for numbers, text in paragraphs((n, line.text) for n, line in at.items())
        if _COUNTS_THEM.search(text)
    ]  # fmt: skip
    told = {name: _told_size(name, texts, at) for name in names}
    for row in rows:
        if cell := told[row.cells["model"].text]:
            row.cells["model_size"] = cell
    return {cell.line for cell in told.values() if cell}


def shaped_by_text(
    records: Iterable[Record],
    prose: Sequence[Line],
    statements: Sequence[Statement],
    titles: Mapping[int, str],
) -> set[int]:
    """Fill in, in place, the sizes of the models of rows of tables (`sized`), their shapes that
    sentences give which begin with their names, and what the section about the model, as one of the
    `titles` says, states of the one model that all rows are of; returns the lines that say so."""
    rows = [row for row in records if row.tabled and "model" in row.cells]
    names = {row.cells["model"].text for row in rows}
    used = sized(rows, prose)
    for name in names if len(names) <= MOST_NAMES else ():
        told = _told_shape(name, prose)
        alone = len(names) == 1 and not any(row.cells.keys() & {*SHAPE} for row in rows)
        told = {**(_about_the_model(statements, titles) if alone else {}), **told}
        for row in rows if told else ():
            if row.cells["model"].text == name:
                row.cells |= {n: cell for n, cell in told.items() if n not in row.cells}
                used |= {cell.line for cell in told.values()}
    return used | (_give_vocabularies(rows, prose) if len(names) <= MOST_NAMES else set())


def _give_vocabularies(rows: Sequence[Record], prose: Sequence[Line]) -> set[int]:
    """Give rows, in place, the vocabularies of their models, and take those from rows of others."""
    lines = [line for line in prose if "vocab" in line.text.casefold()]
    names = {row.cells["model"].text for row in rows} if lines else set[str]()
    told = {name: told_vocabulary(name, lines).get("vocab") for name in names}
    own = {(cell.line, cell.text) for cell in told.values() if cell}
    for row in rows if own else ():
        held, mine = row.cells.get("vocab"), told[row.cells["model"].text]
        if held is not None and held.value_origin == "printed":
            continue
        if mine:
            row.cells["vocab"] = mine
        elif held is not None and (held.line, held.text.replace(",", "")) in own:
            del row.cells["vocab"]
    return {line for line, _ in own}


def _told_shape(name: str, prose: Sequence[Line]) -> dict[str, Cell]:
    """The shape and the parameters in sentences that begin with the name of a model; no field that
    two of them say otherwise.

    >>> line = Line(1, "The WrenNet-L model has 9,310,000 parameters and 12 layers.", 1, {})
    >>> {name: cell.text for name, cell in _told_shape("WrenNet-L", [line]).items()}
    {'layers': '12', 'parameters': '9310000'}
    >>> _told_shape("WrenNet", [line])
    {}
    """
    of_it = re.compile(rf"\W*(?:(?:The|Our|This) )?[`*_]{{0,2}}{re.escape(name)}{_IS_BUILT}")
    found: dict[str, Cell] = {}
    apart = set[str]()
    for line in prose:
        if name not in line.text or len(line.text) > LONGEST:
            continue
        begin = 0
        for sentence in sentences(line.text):
            if of_it.match(sentence) and not _OF_SEVERAL_PARTS.search(sentence):
                told = phrases(Line(line.number, sentence, line.column + begin, {}), least=1)
                for field in (*SHAPE, "parameters"):
                    cell = told.get(field)
                    if cell is None or cell.state != "value":
                        continue
                    held = found.setdefault(field, cell._replace(value_origin="stated"))
                    apart |= {field} if saying(held) != saying(cell) else set()
            begin += len(sentence)
    return {field: cell for field, cell in found.items() if field not in apart}


def told_vocabulary(name: str, prose: Iterable[Line]) -> dict[str, Cell]:
    """How many tokens a text says that the vocabulary of a model, or of its family, holds; nothing
    where it says two numbers.

    >>> line = Line(1, "Llama-3's vocabulary grew to 128,256 tokens (Llama-2 had 32,000).", 1, {})
    >>> [cell.text for cell in told_vocabulary("Llama 3 8B", [line]).values()]
    ['128256']
    >>> told_vocabulary("Llama 3.1 8B", [line]), told_vocabulary("Llama-2-7B", [line])
    ({}, {})
    """
    names = dict.fromkeys(_AS_CALLED.sub("", each) for each in (name, *_of_family(name)))
    called = "|".join(map(_in_any_spelling, names))
    of_it = re.compile(
        rf"(?<![\w./-])(?:{called}){_NAME_ENDS}"
        rf"(?:['’]s? |[`*_]{{0,2}} {_COMES_WITH} (?:an? |the |its )?)(?:[a-z]+ ){{0,2}}"
        rf"{_VOCABULARY}{_HOLDS}{_SO_MANY.format(1)}"
        rf"|\b{_VOCABULARY} (?:of|for|in) (?:the )?[`*_]{{0,2}}(?:{called}){_NAME_ENDS}[`*_]{{0,2}}"
        rf"{_HOLDS}{_SO_MANY.format(2)}"
        rf"|\b{_VOCABULARY}[^.;:]{{0,60}}?(?<![\w.,-])(?P<n3>[0-9][0-9,]{{3,8}}) "
        rf"(?:tokens |entries )?(?:for|in|with) (?:the )?[`*_]{{0,2}}(?:{called}){_NAME_ENDS}",
        re.IGNORECASE,
    )
    found = dict[str, Cell]()
    for line in prose:
        for each in of_it.finditer(line.text) if "vocab" in line.text.casefold() else ():
            at = each.start(each.lastgroup or 0)
            digits = each[each.lastgroup or 0].replace(",", "")
            found.setdefault(digits, Cell(digits, line.number, line.column + at,
                                          value_origin="stated"))  # fmt: skip
    return {"vocab": next(iter(found.values()))} if len(found) == 1 else {}


def _of_family(name: str) -> list[str]:
    """The name of a model without what stands behind its size, and without that too."""
    size = SIZED.search(name)
    heads = [name[: size.end()], name[: size.start()]] if size else []
    return [head for each in heads if re.search(r"[A-Za-z]{3}", head := each.strip(" -_/"))]


def _in_any_spelling(name: str) -> str:
    """An expression for a name, however its parts are joined."""
    return r"[\s_-]?".join(map(re.escape, re.findall(r"[A-Za-z]+|[0-9.]+|[^\w\s-]", name)))


_AS_CALLED = re.compile(r"^[\w.-]+/")
"""In front of the name of a model, whose it is: `meta-llama/`."""

_NAME_ENDS = r"(?![\w-]|\.[0-9]| ?[0-9])"

_COMES_WITH = r"(?:has|have|had|comes with|ships with|uses|used|with|brings)"

_VOCABULARY = r"(?:[0-9]{2,3}k )?vocab(?:ulary|s)?(?:[ _-]size)?"

_HOLDS = (
    r"(?: (?:of|is|has|with|holds|counts|contains|grew|grown|was|were|had|extended|expanded|padded"
    r"|increased|enlarged|now|to|from [0-9][0-9,]{3,8}|size|:|=)){0,4}[ (:=]{1,2}"
)

_SO_MANY = r"(?P<n{}>[0-9][0-9,]{{3,8}})(?!\w|[.,-][0-9])"


_IS_BUILT = (
    r"[`*_]{0,2}(?: [a-z][a-z-]{2,20}){0,2}"
    r" (?:is|are|has|have|uses?|with|consists?|comprises?|contains|stacks|features)\b"
)
"""Behind the name of a model, how a sentence goes on that says what it is made of."""

_OF_SEVERAL_PARTS = deferred(
    r"\b(?:than|unlike|compar\w+|versus|vs|instead|distil\w*|teacher|draft|frozen|trainable|adapters?"
    r"|embeddings?|tokeni[sz]er|up to|between|from [0-9])\b|\bencoder\b.{0,200}?\bdecoder\b",
    re.IGNORECASE,
)
"""Words of a sentence whose numbers are perhaps of another model, or of a part of this one."""


def _about_the_model(statements: Sequence[Statement], titles: Mapping[int, str]) -> dict[str, Cell]:
    """The widths that sections about the model state and no other statement of the document says
    otherwise. How deep a model is they may say of each of its parts."""
    found: dict[str, Cell] = {}
    for each in statements:
        if any(_OF_THE_MODEL.fullmatch(titles.get(at, "")) for at in each.section):
            for name in WIDTHS & each.values.keys():
                found.setdefault(
                    name, each.values[name]._replace(value_origin="assumed", law=OF_IT)
                )
    said = {(name, saying(each.values[name])) for each in statements
            for name in WIDTHS & each.values.keys()}  # fmt: skip
    once = {name for name in found if sum(name == held for held, _ in said) == 1}
    return {name: cell for name, cell in found.items() if name in once and cell.state == "value"}


WIDTHS = {"hidden", "heads", "kv_heads", "ffn_hidden"}

OF_IT = "the section about the model says so, and all rows are of one"

_OF_THE_MODEL = deferred(
    r"\W*(?:[0-9.]+ )?(?:(?:the|our) )?(?:model|network)(?:['’]s)?"
    r"(?: (?:overview|architecture|configuration|description|structure|details|and|&)){1,4}\W*"
    r"|\W*(?:[0-9.]+ )?(?:default (?:model )?configuration|(?:model|network)? ?architecture)\W*",
    re.IGNORECASE,
)
"""A heading over what a document says of its model, whoever runs it."""


def _told_size(
    name: str, texts: Iterable[tuple[Iterable[int], str]], lines: Mapping[int, Line]
) -> Cell | None:
    """How large a text says that a model of some name is; None where it does not, or in two ways.

    >>> text = "Wren-8x7B is a mixture of experts with 46.7B parameters (12.9B are active)."
    >>> _told_size("Wren-8x7B", [([3], text)], {3: Line(3, text, 1, {})}).text
    '46.7'
    >>> _told_size("Wren", [([3], "Wren has an encoder of 84M parameters")], {})
    """
    of_it = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.[0-9]|/[\w])")
    found: dict[str, Cell] = {}
    for numbers, text in texts:
        for each in of_it.finditer(text) if name in text else ():
            alone = _SIZE_ALONE.match(text, each.end())
            size = alone or _SIZE_BEHIND.match(text, each.end())
            if size is None or (not alone and _OF_A_PART.search(size["words"] or "")):
                continue
            digits, sign = size["size"], size["sign"][0].upper()
            if _HAS_SIZE.search(name) and not rounds_to(name, digits + sign):
                continue
            for line in filter(None, map(lines.get, numbers)):
                if (place := line.text.find(digits)) >= 0:
                    cell = Cell(digits, line.number, line.column + place, SUFFIXES[sign])
                    found.setdefault(digits + sign, cell._replace(value_origin="stated"))
                    break
    return next(iter(found.values())) if len(found) == 1 else None


MOST_NAMES = 60
"""Models of a document, beyond which its text does not say of each how large it is."""

_HAS_SIZE = re.compile(r"[0-9][BbMm](?![A-Za-z0-9])")

_THEM = r"(?:[Pp]aram(?:eter|[èe]tre|[áâé]metro)?[ns]?\b|weights\b|パラメータ|个?参数|파라미터)"

_COUNTS_THEM = re.compile(rf"[BMn] ?-?{_THEM}|[(（][0-9.]{{1,6}} ?[BM][)）]")

_SIZE_ALONE = re.compile(
    r"[`*_]{0,3} ?[(（](?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?) ?(?P<sign>[BM])[)）]"
)
"""In brackets of its own behind the name, without a word for what it counts: `large-v2 (1.55B)`."""

_SIZE_BEHIND = re.compile(
    r"[`*_]{0,3}(?: ?[(（:：,，]| –| —|(?P<words>(?: \([^()0-9]{1,40}\))?,? "
    r"(?:is|has|have|with|of|which has|counts|hat|ist|mit|avec|a|est)\b[^.;:()0-9]{0,80}?"
    r"(?: \([^()]{1,40}\) [^.;:()0-9]{0,40}?)?)|は|有|共)"
    r"\s?(?:about |around |roughly |ca\. |an? |~|≈|约|約)?"
    r"(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?)[ -]?(?P<sign>[BM]|[bm]illion) ?-?(?:total )?"
    rf"{_THEM}"
    r"(?! (?:more|less|fewer|are active|each\b))"
)
"""Behind the name of a model, how many parameters it has: `(675M parameters)`, `is a decoder with
1.2B parameters`."""

_OF_A_PART = re.compile(
    r"\b(?:than|(?<!-)like|unlike|compar\w+|vs|versus|instead|from|distil\w*|encoders?|embeddings?"
    r"|tokeni[sz]er|teacher|draft|head|adapters?|LoRA|VAE|active|activated|trainable|trained|frozen"
    r"|plus|and|between|up to|over|less|fewer|more|not|no)\b",
    re.IGNORECASE,
)
"""Words between a model and a number of parameters that is perhaps not of it, or not of all."""


def _contradicts(own: Cell | None, cell: Cell) -> bool:
    return own is not None and own.value_origin == "printed" and saying(own) != saying(cell)


def _shape(record: Record, models: Mapping[str, Mapping[str, Cell]]) -> Mapping[str, Cell]:
    """The shape of the model of a row: by its name, or by a size that one model alone has."""
    model = record.cells.get("model")
    if model is not None and plain(model.text) in models:
        own = models[plain(model.text)]
        return _but_for_names(own) if _size(record) else without(own, ("model",))
    size = _size(record)
    each = [shape for name, shape in models.items() if size and _is_as_large(name, shape, size)]
    each = [shape for shape in each if shape.keys() - set(NAMES)] or each
    if len(each) != 1:
        return {}
    return _but_for_names(each[0]) if model is not None or not _one_family(models) else each[0]


def _one_family(models: Iterable[str]) -> bool:
    """Whether all models with a size in their names are of one name but for that."""
    return len({SIZED.sub("", name).strip(" -_").casefold() for name in models
                if SIZED.search(name) and not size_of(name)}) == 1  # fmt: skip


def _but_for_names(shape: Mapping[str, Cell]) -> dict[str, Cell]:
    return {name: cell for name, cell in shape.items() if name not in NAMES}


def _size(record: Record) -> float | None:
    """The size of the model of a row, as it is called."""
    for name in ("model_size", "parameters"):
        if (size := record.cells.get(name)) is not None and size.state == "value":
            return number_of(size)
    model = record.cells.get("model")
    sizes = SIZED.findall(model.text) if model is not None else []
    return size_of(sizes[0]) if len(sizes) == 1 else None


def _is_as_large(name: str, shape: Mapping[str, Cell], size: float) -> bool:
    """Whether a model is called by a size."""
    told = shape.get("model_size") or shape.get("parameters")
    own = [number_of(told)] if told else [size_of(each) for each in SIZED.findall(name)]
    return any(each and isclose(each, size, rel_tol=SAME_SIZE) for each in own)


SAME_SIZE = 1e-6
