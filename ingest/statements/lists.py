"""Statements that stand in a row, with others that are nobody's, and with a tail.

In: a line without what stands around a statement (`bare`). Out: field → cell. `HIDDEN=9216;
NLAYERS=52; Model size: 54B, ratio=177` is a list of pairs; so is a line of a dump (`"hidden_size":
2048,`). What follows behind the pairs, in brackets or in a few words, is a tail; a sentence that
mentions a pair is prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.ingest.columns.titles import BOUNDED, without_some
from assay.ingest.prose.claims import Part as Named
from assay.ingest.prose.claims import among_several
from assay.ingest.prose.counted_machines import machines
from assay.ingest.prose.machine_words import counts_hosts
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.values import known, no_value, said
from assay.ingest.vocabulary.devices import names_card, several, signed
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.sectioned_keys import ASIDE
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_BRACKETED = deferred(r"\([^()]*\)")

_APART = deferred(r"[;；，、]|,(?![0-9]{3}(?![0-9]))|\s+/\s+|\s+and\s+|\s+&\s+")

_PAIR = deferred(
    r"\s*(?:(?:and|with|uses|using|[A-Za-z]+ (?:uses|with|of))\s+)?"
    r"[\"'`]?(?P<key>[A-Za-z_#\u4e00-\u9fff][\w.#-]*(?: [\w.#-]+){0,4}?)[\"'`]?"
    r"\s*(?P<sign>[:：=])\s*"
    r"(?P<value>\S.*?)\s*"
)

_NUMBERED = deferred(r"(?<![\w.-])([A-Za-z_][\w-]*) ?= ?([0-9]+)", re.ASCII)

_STAGE = deferred(r"\s*(?:DS_)?ZeRO[ -](?:stage[ -]?)?(?P<value>[0-3])\s*", re.IGNORECASE)

_EXPERIMENT = deferred(r"^\s*[A-Z][a-z]+ [0-9]+: ?")

_FORMULA = deferred(r"[\w-]{1,40} ?= ?[0-9][0-9,]{0,15} ?[/x×*] ?\([^()]*[A-Za-z][^()]*\)")
"""A value that follows from settings of each row: `accum = 480 / (4 * mb)`."""

_NUMBER_ALONE = deferred(r"\s*[0-9.]+(?:e[0-9]+)?\s*")

_EVERYWHERE = deferred(
    r"\s*[`*]*(?:The )?(?P<key>[A-Za-z_][\w-]*(?: [\w-]+){0,3}?)\s*(?:=|:|\bis\b|\bwas\b)\s*"
    r"(?P<value>[0-9]+)[`*]*(?: (?:tokens|sequences|samples))?\s+"
    r"(?:everywhere|throughout|(?:in|for|across) (?:all|every|each)(?: of)?(?: the)? "
    r"(?:entries|rows?|runs?|experiments?|tables?|measurements?|results?|configurations?|cases))\W*"
)

_CODE = deferred(r"`([A-Za-z_][\w.]*)\s*[=:]\s*[\"']?([\w.]+)[\"']?`")

_SETTLED = deferred(
    r"\W*(?:[0-9]\.\s*)?[`*]*(?P<key>[A-Za-z][A-Za-z_ ]*?)[`*]*(?:\s?[(（][^()（）]*[)）])?"
    r"(?:[:：，,]|\s|(?=[\u4e00-\u9fff])).*?"
    r"(?:固定为|设置为|默认为|实验[均都]为|\b(?:is|are) (?:fixed|set) (?:to|at))"
    r"\s*[*`]*(?P<value>[0-9]+)(?![0-9]*[.%\w])"
)

_MARK = deferred(r"\s*(?:[*+-] |[0-9]{1,2}[.)] )")
"""Sign of an item of a list, in front of its pair."""

MOST_WORDS = 3
"""Words of a part that is no pair, before it makes the line a sentence."""

CODED = 2
"""Pairs set as code in one sentence that make it one about settings."""

MANY = 3
"""Known pairs that make any line one of configuration."""


class Part(NamedTuple):
    """One part of a list: what its pair says, whether it is a pair, how many words it has."""

    cells: dict[str, Cell]
    pair: bool
    words: int
    number: bool


def listed(line: Line, bare: str) -> dict[str, Cell]:
    """Field → cell of a line that is a list of pairs; nothing where it is none.

    >>> text = "HIDDEN=9216; NLAYERS=52; Model size: 54B, ratio=177"
    >>> {name: cell.text for name, cell in listed(Line(1, text, 1, {}), text).items()}
    {'hidden': '9216', 'layers': '52', 'model_size': '54'}
    >>> listed(Line(1, "TP=8, which is slower than we thought", 1, {}), "TP=8, which is slower …")
    {}
    """
    text = _EXPERIMENT.sub(lambda m: " " * len(m[0]), bare.replace("**", "  "))
    for aside in (_FORMULA, _BRACKETED):
        text = aside.sub(lambda found: " " * len(found[0]), text)
    text = _MARK.sub(lambda found: " " * len(found[0]), text)
    shift = max(0, line.text.find(bare[:12]))
    settled = _SETTLED.match(line.text)
    if settled and (held := said(settled["key"], settled["value"], line, settled.start("value"))):
        return held
    spans = list(_CODE.finditer(line.text))
    if len(spans) >= CODED:
        coded: dict[str, Cell] = {}
        for span in spans:
            coded |= said(span[1], span[2], line, span.start(2))
        return coded
    parts = list(_parts(text, line, shift, letters=by_letters(text)))
    told = [part for part in parts if part.cells]
    if not told:
        return {}
    sentence = any(not p.pair and not p.number and p.words > MOST_WORDS for p in parts)
    if len(told) < MANY and (sentence or not parts[0].cells):
        return {}
    found: dict[str, dict[str, Cell]] = {}
    for at, part in enumerate(parts):
        several = at + 1 < len(parts) and parts[at + 1].number
        for name, cell in part.cells.items():
            found.setdefault(name, {})[cell.text] = cell
            if several:  # `mbs=2,3` is two values
                found[name][""] = cell
    return {name: next(iter(each.values())) for name, each in found.items() if len(each) == 1}


def by_commas(text: str) -> str:
    """A list of settings between slashes with commas in their places."""
    strokes = text.count(" / ")
    few = strokes == OF_A_LIST - 1 and _FEW_ITEMS.fullmatch(text)
    if (strokes >= OF_A_LIST or few) and not _NUMBERS_APART.search(text):
        return text.replace(" / ", " ; ")
    if " || " in text:
        return text.replace(" || ", "  ; ")
    if text.count(" · ") > 1:
        return text.replace(" · ", " ; ")
    if "  " in text and _SPREAD.fullmatch(text):
        return _GAP.sub(lambda gap: ";".ljust(len(gap[0])), text)
    if " | " in text and not text.lstrip().startswith("|") and _PIPED.search(text):
        return text.replace(" | ", " ; ")
    return text.replace(" ", ",") if "=" in text and _ASSIGNED.search(text) else text


def pairs_apart(text: str) -> str:
    """A text with a sign between pairs that follow each other with a blank between them.

    >>> pairs_apart("Layers: 22 Heads: 32 Hidden size: 2048"), pairs_apart("Cost: 32 GPUs: 4 nodes")
    ('Layers: 22;Heads: 32;Hidden size: 2048', 'Cost: 32 GPUs: 4 nodes')
    """
    return _NEXT_PAIR.sub(_apart, text) if text.count(":") + text.count("=") > 1 else text


def _apart(found: re.Match[str]) -> str:
    """A pair, and a sign in place of the blank in front of the next, where its label is known or
    the next has nothing but a number."""
    words = found["key"].split()
    labelled = any(known(" ".join(words[at:])) for at in range(len(words)))
    if not (labelled or _NUMBER_THEN.match(found.string, found.end())):
        return found[0]
    return found["pair"] + ";".ljust(len(found[0]) - len(found["pair"]))


_NEXT_PAIR = deferred(
    r"(?P<pair>(?P<key>[A-Za-z][\w-]*(?: [\w-]+){0,3})[*_]{0,2} ?[:=][ *_]{0,4}"
    r"[0-9](?:[0-9,.]{0,12}[0-9])?[kKMB]?)[ *_]{1,6}"
    r"(?=(?!(?:or|and|to|vs|versus|than|but|not|if|when|while) )"
    r"[A-Za-z][\w-]*(?: [\w-]+){0,4}[*_]{0,2} ?[:=][ *_]{0,4}\w)"
)
"""A pair with a number, and behind it the label of the next: what that counts is not the number."""

_NUMBER_THEN = deferred(
    r"[^:=]{1,60}[:=][ *_]{0,4}[0-9][0-9,.]{0,12}[kKMB]?[ *_]*(?:$|[.,;](?:\s|$)|[A-Z][\w ]*[:=])"
)

_ASSIGNED = re.compile(
    rf"^(?=(?:[^=]*=){{2}})(?=.* {NUMBER_FORMAT}(?: |$))"
    rf"(?:(?:[a-z]\w*=[\w.]+|{NUMBER_FORMAT})(?: (?=\S)|\s*$)){{3,12}}$"
    r"|^\W*(?:[a-z_]\w*\.[\w.]*=[\w./-]+(?:\W* (?=\S)|\W*$)){3,24}$"
)
"""Settings and a number format among them, with blanks between: `tp=2 pp=4 bf16 seq=2048`; or
overrides of a configuration, each with its section: `trainer.devices=8 model.seq_length=4096`."""


_SPREAD = re.compile(
    r"[^\w|]*(?:[\w.-]+(?: [\w.-]+){0,2} {2,}){0,2}"
    r"(?:[A-Za-z_][\w./-]*(?: [\w./-]+){0,2} ?[:=] ?(?! )[^\s:=]+(?: [^\s:=]+){0,5}"
    r"(?: {2,}|\s*$)){2,}"
)
"""Settings with wide blanks between them: `dtype: bf16   seq: 4096   zero: 3`."""

_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")

_PIPED = re.compile(r"(?:^|\| )\W*[A-Za-z][\w ./-]{0,30}[:=] ?[^|]+(?:\| |$)")
"""Settings with strokes between them: `hosts: 2 | per host: 8x A100`."""

_NUMBERS_APART = re.compile(r" / [0-9][0-9.,]*[kKMB]?(?= /|\W*$)")
"""A number of several: `TP 1 / 2 / 4 / 8`."""


_FEW_ITEMS = re.compile(r"(?:[^/=]{1,40}? / ){2}[^/=]{1,40}")
"""Three items of few words each: `micro_bs: 6 / acc: 10 / nodes: 1`."""

OF_A_LIST = 3
"""Slashes with a blank on both sides in a line that is a list."""


def twice_over(line: Line) -> dict[str, Cell]:
    """Fields that a line gives several values: `trn1 is TP=8, PP=4, the A100 TP=4, PP=2`."""
    values: dict[str, set[str]] = {}
    for pair in _NUMBERED.finditer(line.text):
        values.setdefault(pair[1], set()).add(pair[2])
    found: dict[str, Cell] = {}
    for key in (key for key, every in values.items() if len(every) > 1):
        found |= said(key, min(values[key]), line, 0)
    return found


def by_letters(text: str) -> bool:
    """Whether a text spells out width and depth by the letters of formulas: `h=6144, L=48`."""
    keys = {pair[1] for pair in PAIR.finditer(text)}
    return bool(keys & {"h", "d", "hidden"}) and bool(keys & {"L", "l"})


def of_letter(key: str, value: str) -> str:
    """The label that a letter of formulas stands for beside those of width and depth: of `h=32` it
    is how many heads there are, as no model is so narrow.

    >>> of_letter("h", "6144"), of_letter("h", "32"), of_letter("d", "4096"), of_letter("d", "4")
    ('hidden', 'heads', 'hidden', 'd')
    """
    wide = value.isdecimal() and int(value) >= NARROWEST
    if key == "d" and wide:
        return "hidden"
    return "heads" if key == "h" and value.isdecimal() and not wide else LETTERS.get(key, key)


NARROWEST = 128
"""The least width of a model."""


def _parts(text: str, line: Line, shift: int, *, letters: bool) -> Iterator[Part]:
    begin = 0
    for end in [*(m.span() for m in _APART.finditer(text)), (len(text), len(text))]:
        part, at = text[begin : end[0]], begin
        begin = end[1]
        if not part.strip(" `*\"'()[]{}.:\\"):
            continue
        number = _NUMBER_ALONE.fullmatch(part) is not None
        stage = _STAGE.fullmatch(part)
        if stage:
            place = line.column + shift + at + stage.start("value")
            yield Part({"zero_stage": Cell(stage["value"], line.number, place)}, True, 2, False)
        elif pair := _PAIR.fullmatch(part):
            value = pair["value"].rstrip(" `*\"').]}\\").lstrip("`*\"'")
            key = pair["key"] if " " in pair["key"] else pair["key"].rpartition(".")[2]
            key = of_letter(key, value) if letters else key
            cells = said(key, value, line, shift + at + pair.start("value"))
            guessed = any(cell.state == "unknown" for cell in cells.values())
            aside = "." in pair["key"] and ASIDE.search(pair["key"])
            if aside or "=" in value or (guessed and not _whole(text, part)):
                cells = {}
            yield Part(cells, pair=True, words=len(part.split()), number=number)
        else:
            yield Part({}, pair=False, words=len(part.split()), number=number)


def _whole(text: str, part: str) -> bool:
    """Whether a part is all of a line."""
    return text.strip(" ,;\\") == part.strip(" ,;\\")


def everywhere(line: Line) -> dict[str, Cell]:
    """Values that a note gives all rows, above and below: `TP=4 in all of the entries`."""
    found = _EVERYWHERE.fullmatch(line.text.lstrip(" -*+"))
    if not found:
        return {}
    at = found.start("value") + len(line.text) - len(line.text.lstrip(" -*+"))
    return said(found["key"], found["value"], line, at)


PAIR = deferred(
    r"(?<![\w$.-])(?<![0-9] )([A-Za-z_][\w-]*) ?= ?([0-9](?:[\w.]*\w)?)(?!\w|[.,][0-9])"
    r"(?!(?<=[0-9][KMkm]) ?tok)(?! ?[×/*] ?[0-9])"
)
"""A name and its value; none of a product: `5 gradaccum * 8 GPUs = 491,520`; nor a batch that is
counted in tokens: `GBS=4M tokens`."""

LETTERS = {"h": "hidden", "L": "layers", "l": "layers", "a": "heads", "s": "seq_len", "V": "vocab",
           "v": "vocab"}  # fmt: skip
"""Letters of formulas for what they stand for, where a title spells out width and depth by them."""


_COUNTS = deferred(r"(?<![\w.,$-])([0-9][0-9,]*) ([GHINX]PUs|GCDs|nodes|cards)\b(?! per|/| each)")


def in_title(line: Line) -> dict[str, Cell]:
    """Pairs that stand in a title: `### 8 GPUs: TP=8, PP=1`, `## 22B (h=6144, L=48, a=64)`."""
    found: dict[str, Cell] = {}
    pairs = list(PAIR.finditer(line.text))
    letters = by_letters(line.text)
    for pair in pairs:
        if _OF_A_NOUN.search(line.text, 0, pair.end(1)) or among_several(line.text, *pair.span(2)):
            continue
        key = of_letter(pair[1], pair[2]) if letters else pair[1]
        found |= said(key, pair[2], line, pair.start(2))
    plain = in_english(line.text)
    text = BOUNDED.sub(lambda found: " " * len(found[0]), signed(plain.text))
    counts = {each[2]: each for each in _COUNTS.finditer(text)}
    for what, each in counts.items():
        name = "nodes" if what == "nodes" else "gpus"
        if names_card(each[1]) or among_several(text, *each.span(1)):
            continue
        if name == "gpus" and _TIMES.search(text, 0, each.start(1)):
            continue
        at = line.column + plain.place(each.start(1))
        found.setdefault(name, Cell(each[1].replace(",", ""), line.number, at))
    if of_each := _of_each_node(without_some(plain.text)):
        at = line.column + plain.place(of_each.at)
        found.setdefault("gpus_per_node", Cell(of_each.word, line.number, at))
    of_runs = without_some(line.text)
    if "gpus" not in found and (card := _ONE_CARD.search(of_runs)):
        found["gpus"] = Cell("1", line.number, line.column + card.start())
    if "nodes" not in found and (one := _ONE_NODE.search(of_runs)):
        found["nodes"] = Cell("1", line.number, line.column + one.start())
    return found


_TIMES = deferred(
    r"(?:\b(?:nodes?|servers?|hosts?|machines?|boxes)|(?<![\w.,])[0-9]{1,4}) ?[x×] ?$",
    re.IGNORECASE,
)
"""In front of the devices of each node: `4 nodes x 8 GPUs`."""

_OF_A_NOUN = deferred(r"(?<!\bmodel)(?<=[A-Za-z]) size$", re.IGNORECASE)
"""The last word of a label of two: `Batch size = 256` is no size of a model."""

_SAYS_EACH = deferred(
    r"(?:\b(?:per|an?|each|every|one|single)|/) ?(?:node|server|host|machine|instance)\b"
    r"|\b(?:nodes|servers|hosts|machines|instances)\b[^.;]{0,40}\b(?:each|apiece)\b"
    r"|\b(?:nodes|servers|hosts|machines|instances) (?:of|with|[x×]) ?[0-9]"
    r"|每[个台]?\s?(?:节点|机|服务器|台)",
    re.IGNORECASE,
)
"""Words of a title that say outright that devices are those of each machine."""

_RATE_OF_EACH = deferred(
    r"\b(?:throughputs?|speeds?|rates?|performance|tokens|samples|images|memory|bandwidth|costs?"
    r"|FLOPS?|TFLOPS?|MFU)\b[^.;,(]{0,24}(?:\b(?:per|each|a)|/) ?(?:node|server|host|machine)\b",
    re.IGNORECASE,
)
"""Words of a title that name what its table gives of each machine, however many devices it has."""

_COUNTED_EACH = deferred(
    r"(?<![\w.,])([0-9]{1,3})[^.;,()0-9]{0,24}(?:\b(?:per|an?|each)|/) ?(?:node|server|host"
    r"|machine)\b"
)

_A_COUNT = re.compile(r"[0-9]+|[A-Za-z]+")


def _of_each_node(text: str) -> Named | None:
    """The devices of each machine that a title says outright: `4 nodes, each with 8 MI300X`, `H100
    cluster (8 GPUs per node)`; nothing where it names several kinds of them.

    >>> _of_each_node("H100 cluster (8 GPUs per node)").word, _of_each_node("8xA100 nodes")
    ('8', None)
    >>> _of_each_node("2, 4 and 8 GPUs per node"), _of_each_node("Tokens/s per node with 8 GPUs")
    (None, None)
    """
    if not _SAYS_EACH.search(text) or _RATE_OF_EACH.search(text) or several(text):
        return None
    told = [part for part in machines(text) if part.name == "gpus_per_node"]
    if len({part.word for part in told}) != 1 or len({*_COUNTED_EACH.findall(signed(text))}) > 1:
        return None
    count = _A_COUNT.match(text, told[0].at)
    return told[0] if count and counts_hosts(text, count, 0) else None


_ONE_CARD = deferred(
    r"^(?!.*\b(?:two|three|four|eight|both|all|several|multi\w*|[0-9]+)[ -](?:[GN]PU|card)s)"
    r"(?!.*\b(?:per|each|every|of) (?:one|a single|single)\b)"
    r".*\b(?:one|a single|single)[ -](?:card|GPU|NPU|accelerator)\b(?! (?:per|each|of|to|or|and"
    r"|vs)\b)",
    re.IGNORECASE,
)
"""A title of runs on one device: `### Gradient checkpointing, still one card`."""

_ONE_NODE = deferred(
    r"(?<!\bof )\b(?:one|1|a single|single)[ -](?:(?:full|whole|entire|complete) )?node\b"
    r"(?! (?:of|down|fail|per|to|and|or|vs)\b)"
    r"|^[\W\d]*(?:[A-Za-z][\w-]* ){0,3}?on an? (?:[\w-]+ )?(?:node|server|machine|workstation|box) "
    r"(?:with|of) (?=[0-9]|two\b|four\b|eight\b)",
    re.IGNORECASE,
)
"""A title of runs on one machine: `### On one node`, `## On a server with four A100`."""


def states(key: str, value: str) -> bool:
    """Whether a pair looks like one of configuration, understood or not."""
    return known(key) is not None and not no_value(value)
