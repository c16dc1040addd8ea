"""Models by the names that their authors give them: a word and a size, `pico-1.3B`.

In: a line of a document, and whether it is a title. Out: the cell of field `model`, or that of how
large the model is with which a title ends: `## Recomputation, 52B`. A title names one, and a
sentence that opens a table, begins with it or says what is measured of it; one that compares two,
or tells of data of as many tokens, names none.
"""

from __future__ import annotations

import re

from assay.ingest.columns.titles import SIZED, model_named, rounds_to
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import SIGN, only, signed

_NO_NAMES = (
    r"(?:sub|under|over|above|below|nearly|about|near|roughly|multi|non|pre|post|mid|our|ours|size"
    r"|model|models|dense|moe|params?|layers?|up|to|the|an?|of|and|or|both|each|all|tokens?|steps?"
    r"|data|dataset|corpus|fineweb|edu|web|slimpajama|redpajama|openwebtext|pile|dolma|dclm|c4|first"
    r"|batch|seq|context|mem|gpu|tpu|hbm|int|fp|bf|tf|nf|max|min|top|active|total|small|large)"
)

_NAME = deferred(
    rf"(?<![\w./@%-])(?!(?:[a-z]+-)?{_NO_NAMES}[-_][0-9])([a-z][a-z0-9]{{1,15}}(?:-[a-z]{{2,10}})?[-_]"
    r"(?:[0-9]{1,2}x)?[0-9]{1,4}(?:\.[0-9]{1,2})?[bBmM](?:-(?:base|moe|dense|instruct|chat))?)"
    r"(?![\w-]|\.[a-z0-9]|/[\w])"
)

_HINT = re.compile(r"[a-z0-9][-_][0-9x.]{1,8}[bBmM]\b")

_OTHERWISE = deferred(
    r"\b(?:than|vs\.?|versus|compar\w+|like|similar\w*|unlike|instead|also|earlier|previous\w*"
    r"|teacher|draft|tokeni[sz]er|tokens|data ?sets?|corpus|inference|serving|eval\w*|download\w*"
    r"|branch(?:es)?|checkpoints?|weights|from|load\w*|convert\w*|e\.g|example|see)\b|--|=|\?",
    re.IGNORECASE,
)
"""Words of a line whose model is perhaps not the one that was run."""

_MEASURED_OF = deferred(
    r"(?:^\W*|\b(?:(?:pre-?)?train(?:s|ed|ing)?|fine-?tun(?:ed?|es|ing)|speeds?|throughputs?"
    r"|performance|benchmark\w*|measure\w*|times?|scaling|sweep|ablations?|results|runs?|ran"
    r"|profil\w+|numbers|memory)"
    r"(?: (?:speed|throughput|runs?|time|results))?(?: (?:of|for|with|on))?"
    r"(?: (?:a|an|the|our|one))?[ *_`]{1,3}"
    r"|^[\W_]*(?:[\w-]+ )?(?:sweep|scaling|benchmarks?|throughput|results|profil\w+|ablations?"
    r"|timings?|measurements|numbers|training|comparison)\b[^.;:]{0,80}?\b(?:for|of|with|on)"
    r" (?:(?:a|an|the|our) )?(?:[0-9.]{1,5} ?[BM] )?(?:model )?[(*_` ]{0,3})$",
    re.IGNORECASE,
)
"""In front of a model: it is what was measured."""


def own_model(line: Line, *, title: bool) -> dict[str, Cell]:
    """The model that a line names by a word of its authors' and a size, if it is one.

    >>> said = own_model(Line(1, "## Sweep of pico-1.3B on one node", 1, {}), title=True)
    >>> said["model"].text, own_model(Line(1, "fineweb-edu-10B in 8 shards", 1, {}), title=True)
    ('pico-1.3B', {})
    >>> own_model(Line(1, "pico-1.3b is faster than nano-1.1b", 1, {}), title=False)
    {}
    """
    if _OTHERWISE.search(line.text):
        return {}
    if not title and (known := _known_on_its_device(line)):
        return known
    if not _HINT.search(line.text):
        return {}
    found = list(_NAME.finditer(signed(line.text)))
    if len({each[1].casefold() for each in found}) != 1:
        return {}
    opens = title or line.text.rstrip(" *_").endswith((":", "："))
    if not opens and not _MEASURED_OF.search(line.text, 0, found[0].start(1)):
        return {}
    return {"model": Cell(found[0][1], line.number, line.column + found[0].start(1))}


def _known_on_its_device(line: Line) -> dict[str, Cell]:
    """The model that a line which opens something says to be on a device, beside a program perhaps.

    >>> said = _known_on_its_device(Line(1, "torchtitan, Llama 3 8B on 8 H100s, TOML:", 1, {}))
    >>> said["model"].text, said["model"].column
    ('Llama 3 8B', 13)
    >>> _known_on_its_device(Line(1, "Training Llama 3 8B on an H100 needs these:", 1, {}))
    {}
    """
    plain = signed(line.text) if line.text.rstrip(" *_").endswith((":", "：")) else ""
    found = _ON_DEVICES.search(plain)
    before = plain[: found.start()] if found else ""
    clause = _CLAUSE.split(before)[-1].strip(" `")
    if found is None or SIGN[0] in before or model_named(clause) != clause:
        return {}
    if not SIZED.search(clause):
        return {}
    return {"model": Cell(clause, line.number, line.column + before.rindex(clause))}


_ON_DEVICES = deferred(rf" on (?:[0-9]{{1,5}} ?[x×]? ?|one |a single |two |four |eight )?{SIGN}")

_CLAUSE = re.compile(r"[,;:(–—*|#>] *")

_DESCRIBED = deferred(
    r"\b(?:(?:[Tt]he|[Oo]ur) (?:[a-z-]{2,20} )?(?:model|network) (?:here )?is"
    r"|(?:[Ww]e|I) (?:pre-?)?train(?:ed)?|[Dd]as Modell ist|[Ll]e modèle est|[Ee]l modelo es)"
    r" (?:(?:an?|the|our|eine?|der|die|das|une?|le|la) )?[*_`]{0,2}"
    r"(?P<model>[A-Z][A-Za-z]{2,20}(?:[-_ ]?[A-Za-z0-9.]{1,8}){0,2}?)[*_`]{0,2}"
    r"(?: (?:model|network))?,? ?(?:(?:with|of|which has|having|mit|avec|con) |\()"
    r"(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?) ?(?P<sign>[BM]|[bm]illion) ?"
    r"(?:[Pp]aram(?:eter|[èe]tre|[áé]metro)?[ns]?|weights)\b"
)
"""A sentence that says what the model is, and how large."""

_SIZED = deferred(
    r"\b(?:[Ww]e|I)(?: (?:then|now))? (?:(?:pre-?)?train|fine-?tune|benchmark)(?:e?d)?"
    r" (?:(?:an?|the|our) )?(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?)[ -]?(?P<sign>[BM]|[bm]illion)"
    r"[ -]param(?:eter)?s?[ -](?P<model>[A-Za-z][A-Za-z0-9]{1,20}(?:-[0-9]{1,2})?)(?![\w-])"
    r"(?=(?P<called> (?:model|network)\b)?)"
)
"""A sentence on how large the model is that it trains, and which: `a 7B parameter Wren model`."""

_IN_APPOSITION = deferred(
    r"\b(?:(?:[Ww]e|I|[Ss]cripts?|[Rr]uns?|[Bb]enchmarks?|[Ee]xamples?|[Rr]ecipes?|that|which)"
    r"(?: (?:then|now|all|here))? (?:(?:pre-?)?train|fine-?tune|benchmark|use)(?:e?d|s)?"
    r"|(?:[Mm]odel|[Nn]etwork)(?: (?:here|used))? is) [*_`]{0,2}"
    r"(?P<model>[A-Z][A-Za-z]{2,20}(?:[-_ ]?[A-Za-z0-9.]{1,8}){0,2}?)[*_`]{0,2}(?:,| \(|: | [–—])"
    r" ?(?:an?|our|the) (?:[a-z-]{2,16} ){0,2}(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?)[ -]?"
    r"(?P<sign>[BM]|[bm]illion)[ -]param(?:eter)?s? (?:[\w-]+ ){0,3}(?:model|network|LLM|LM"
    r"|transformer|decoder)s?\b"
)
"""A sentence on which model it uses, with what that is: `uses Wren, a 1.1B parameter LLM`."""

_NO_MODEL = deferred(r"(?:Transformer|Model|Network|LLM|GPU|(?!GPT)[A-Z]{3})\b|[a-z]")
"""Words for every model in the place of a name."""


def described_model(line: Line) -> dict[str, Cell]:
    """The model that a sentence says to be trained, with how large that is.

    >>> said = described_model(Line(1, "The model is a Wren-base with 120M parameters.", 1, {}))
    >>> said["model"].text, said["model_size"].text
    ('Wren-base', '120')
    >>> described_model(Line(1, "Our model is a Transformer with 3B parameters.", 1, {}))
    {}
    >>> said = described_model(Line(1, "We train a 7B parameter Wren model on it.", 1, {}))
    >>> said["model"].text, said["model_size"].text
    ('Wren', '7')
    """
    if "aram" not in line.text or _COMPARES.search(line.text):
        return {}
    found = _DESCRIBED.search(line.text) or _IN_APPOSITION.search(line.text)
    if found is None or _NO_MODEL.match(found["model"]):
        found = _SIZED.search(line.text)
    if found is None:
        return {}
    scale = SUFFIXES[found["sign"][0].upper()]
    at = line.column + found.start("size")
    size = {"model_size": Cell(found["size"], line.number, at, scale)}
    if _NO_MODEL.match(found["model"]) or not found.groupdict().get("called", " "):
        return size
    return {"model": Cell(found["model"], line.number, line.column + found.start("model")), **size}


def size_behind(line: Line, model: Cell) -> dict[str, Cell]:
    """How many parameters a line says, right behind the name of its model, that this has.

    >>> line = Line(1, "Model: Wren-3B (2.8B parameters)", 1, {})
    >>> size_behind(line, Cell("Wren-3B", 1, 8))["model_size"].text
    '2.8'
    """
    at = model.column - line.column
    if not line.text.startswith(model.text, at):
        return {}
    found = _BEHIND.match(line.text, at + len(model.text))
    if found is None or not rounds_to(model.text, found["size"] + found["sign"][0].upper()):
        return {}
    scale = SUFFIXES[found["sign"][0].upper()]
    place = line.column + found.start("size")
    return {"model_size": Cell(found["size"], line.number, place, scale)}


_BEHIND = deferred(
    r"[*_`]{0,3}(?: ?[:(,]| –| —| has| with) ?(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?) ?"
    r"(?P<sign>[BM]|[bm]illion) ?(?:total )?(?:[Pp]aram|weights)"
)

_COMPARES = deferred(
    r"\b(?:than|vs\.?|versus|compar\w+|unlike|instead|also|earlier|previous\w*|teacher|draft)\b",
    re.IGNORECASE,
)

_ENDS_IN_SIZE = deferred(
    r"[#\s\d.]*(?P<what>[^\W\d_][^|:,;()]{2,60}?)(?:[:,;]|\s[–—-]|\s?\() ?(?:the |our )?"
    r"(?P<size>[0-9]{1,4}(?:\.[0-9]{1,2})?) ?(?P<sign>[BM])(?: (?:model|param(?:eter)?s))?\)?"
    r"(?: (?:on|at|auf|sur|en) (?P<on>[^|:,;]{2,40}))?\W*",
)

_OF_DATA = deferred(
    r"\b(?:batch\w*|vocab\w*|steps?|budget|samples|sequences|text|c4|pile|\w*web\w*|edu|shards?|data"
    r"|optimi[sz]er states?)\b|[0-9] ?[BMT]\b",
    re.IGNORECASE,
)
"""Words of a title whose last number may count something else than parameters."""


def size_of_title(line: Line) -> dict[str, Cell]:
    """How large the model is of what a title stands over, where that is its last word, or the
    device is.

    >>> size_of_title(Line(1, "## Long context (14B)", 1, {}))["model_size"].text
    '14'
    >>> size_of_title(Line(1, "# Notes: 14B on our H100 nodes", 1, {}))["model_size"].text
    '14'
    >>> size_of_title(Line(1, "## Loss on FineWeb-Edu, 10B", 1, {}))
    {}
    """
    found = _ENDS_IN_SIZE.fullmatch(line.text)
    if found is not None and found["on"] and only(found["on"]) is None:
        return {}
    if found is None or _OTHERWISE.search(line.text) or _OF_DATA.search(found["what"]):
        return {}
    at = line.column + found.start("size")
    return {"model_size": Cell(found["size"], line.number, at, SUFFIXES[found["sign"]])}
