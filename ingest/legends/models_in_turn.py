"""Settings that one sentence gives several models in turn: `Kite-2B runs on one server with 8
stages, Kite-9B on two with 16 and Kite-30B on four`.

In: the records of tables, and the lines of their document. Out: the same rows, with what the part
of such a sentence behind the name of their model says; and these parts, which are of no other rows.
A sentence counts where the names open its parts: values in front of names (`TP 2 for Kite-2B and
TP 4 for Kite-9B`) are not told apart here. What a sentence says of one column of several of a
table (`Interleaved uses two chunks per stage`) is of the rows of that column alone, and so what it
says of several in turn, or of the programs of rows: `DeepSpeed uses ZeRO-3, Megatron-LM TP 8`.
Items of a list may begin with the names of models: `- Kite: 24 layers, sequence length 2048`; one
above all tables is of all rows, another of those of its section.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from math import inf

from assay.ingest.columns.other_runs import sentences
from assay.ingest.legends.label_signs import Explanation, give, paragraphs, placed, settings_of
from assay.ingest.prose.degree_letters import with_degrees
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import headed, of_set_up
from assay.ingest.vocabulary.program_names import program_named

_OPENS = deferred(
    r"(?:\W*(?:here|in this section|below|now|hier|ici|in it)?,?\s*)?"
    r"(?:(?:the|our|both|for|with|we (?:run|train)|das|die|der|für|bei|le|la|les|pour)\s+){0,2}\W*",
    re.IGNORECASE,
)
"""Words of a sentence before the name that opens its first part."""

_BEHIND = deferred(r"\b(?:for|with|on|of|in|at|für|bei|pour|para)\s+(?:the )?\W*$", re.IGNORECASE)
"""Before a name behind its value, or one that opens a part if the first one does so, too."""

_ENDS = deferred(
    r"[;；。]|\.(?=\s|$)|,? (?:(?:and|but|with|where|und) )?(?:both|all|each|every|neither|none"
    r"|the (?:rest|others?)|beide|alle|jeweils)\b"
)
"""Where the part of the last name ends: what follows is of all, or of others."""

_NOT_SO = deferred(
    r"\b(?:respectively|than|vs\.?|versus|compared|while|whereas|faster|slower|if|would|could|can"
    r"|should|may|might|need\w*|require\w*|fits?|recommend\w*|instead|jeweils|beziehungsweise"
    r"|schneller|langsamer|als)\b|分别",
    re.IGNORECASE,
)
"""Words of a sentence whose parts are perhaps of no runs, or of others than they name."""

_COUNTED = r"(?:[0-9]{1,5}|one|two|three|four|six|eight|sixteen)"

_NOUN = deferred(
    rf"\bon (?:a single|an?|{_COUNTED}) (servers?|nodes?|machines?|hosts?|GPUs?|NPUs?|TPUs?|cards?"
    r"|chips|devices)\b",
    re.IGNORECASE,
)

_ELIDED = deferred(rf"(\bon {_COUNTED})(?=\s*(?:,|\(|$|(?:with|using|and|at|in)\b))", re.IGNORECASE)
"""A count whose noun stood in an earlier part: `GPT-14B on two with …`."""

FEWEST = 2


def tell(
    records: Sequence[Record], lines: Sequence[Line], letters: Mapping[str, str]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows, in place, what a sentence says of their model in its turn; the lines that said it,
    and the parts of the sentences. `letters` are those that the document has for degrees."""
    rows = [row for row in records if row.tabled and row.alike is None]
    used, explained = set[int](), list[Explanation]()
    for name_of, asked in (
        (_model_of, _in_turn), (_side_of, _of_one_side), (_side_of, _in_turn),
        (_program_of, _in_turn),
    ):  # fmt: skip
        names = {name_of(row) for row in rows} - {""}
        if not FEWEST <= len(names) <= MOST_NAMES or max(map(len, names)) > LONGEST_NAME:
            continue
        called = _by_short_names(names) if name_of is not _model_of else {n: n for n in names}
        sayings = list(_sayings(lines, {*called}, letters, asked))
        heads = [line for line in headed(lines) if line.text.startswith("#")] if sayings else []
        for name, said in sayings:
            first, last = _section(heads, said.line)
            for row in rows if name else ():
                if first <= row.line < last:
                    _take_back(row, said)
                    give(row, said.values if name_of(row) == called[name] else {})
            used.add(said.line)
            explained.append(said)
    heads = [line for line in headed(lines) if line.text.startswith("#")]
    models = [_model_of(row) or _titled(row, heads) for row in rows]
    first_row = min((row.line for row in rows), default=0)
    for name, said in _items({*models} - {""}, lines):
        first, last = (0, inf) if said.line < first_row else _section(heads, said.line)
        mine = [
            row for row, model in zip(rows, models, strict=True)
            if first <= row.line < last and _is_called(model, name)
        ]  # fmt: skip
        for row in mine:
            give(row, said.values)
        used.update({said.line} if mine else ())
        explained.append(said)
    return used, explained


_ITEM = deferred(
    r"\s{0,4}(?:[-*+]|[0-9]{1,2}[.)]) "
    r"[*_`]{0,3}(?P<name>[A-Za-z][\w .-]{1,40}?)[*_`]{0,3}[:：][*_`]{0,3} "
)


def _titled(row: Record, heads: Sequence[Line]) -> str:
    """The heading right above a row that names no model itself, without its number."""
    at = bisect_right(heads, row.line, key=_number)
    return _NUMBERED.sub("", heads[at - 1].text).strip(" *`_") if at else ""


_NUMBERED = deferred(r"^#{1,6}\s{1,3}(?:[0-9A-Z]{1,2}(?:\.[0-9]{1,2}){0,3}[.)]?\s{1,3})?")


def _items(models: Set[str], lines: Sequence[Line]) -> Iterator[tuple[str, Explanation]]:
    """The items of a list that each begin with another model of the rows of a document, and say
    several settings of it."""
    held: list[tuple[str, Explanation]] = []
    for paragraph in (*paragraphs(lines), []) if models else ():
        text = " ".join(line.text for line in paragraph)
        item = _ITEM.match(text)
        if held and (item is None or paragraph[0].number > held[-1][1].line + FAR):
            yield from held if _are_told_apart([name for name, _ in held], models) else ()
            held = []
        values = _settings(text[item.end() :], "", {}) if item and models else {}
        if item and len(values) >= FEWEST and not _NOT_SO.search(text):
            places = tuple(placed(paragraph, item.end(), len(text)))
            held.append((item["name"], Explanation(values, places[0][0], places)))


FAR = 4
"""Lines between two items of one list."""


def _is_called(model: str, name: str) -> bool:
    """Whether a model is one of a name, perhaps with its size behind it: `GPT-3 175B`, `GPT-3`."""
    rest = model[len(name) :]
    return model.casefold().startswith(name.casefold()) and (not rest or rest[0] in " -_(")


def _are_told_apart(names: Sequence[str], models: Iterable[str]) -> bool:
    """Whether several names are those of some models, and no model has two of them."""
    called = [sum(_is_called(model, name) for name in names) for model in models]
    every = all(any(_is_called(model, name) for model in models) for name in names)
    return every and len(names) >= FEWEST and max(called, default=0) == 1


def _model_of(row: Record) -> str:
    return _bare(row.cells["model"].text) if "model" in row.cells else ""


def _side_of(row: Record) -> str:
    """The words over the column of a row that stands beside others in its table."""
    return _bare(dict(row.other).get("column", ""))


def _take_back(row: Record, said: Explanation) -> None:
    """Take from a row, in place, settings that its table has from the caption that says them, which
    are of some rows alone."""
    for name in said.values:
        held = row.cells.get(name)
        if held and held.value_origin == "stated" and held.line == said.line != row.line:
            del row.cells[name]


def _program_of(row: Record) -> str:
    """The program that a row prints of itself."""
    cell = row.cells.get("program")
    return _bare(cell.text) if cell and cell.value_origin == "printed" else ""


def _by_short_names(names: Set[str]) -> dict[str, str]:
    """The names of sides, and by the programs that they begin with those of one side alone.

    >>> _by_short_names({"Megatron-LM", "DeepSpeed-Longer"})["DeepSpeed"]
    'DeepSpeed-Longer'
    """
    found = {name: name for name in names}
    shorts = {name: _FIRST_WORD.match(name) for name in names}
    words = {name: word[0] for name, word in shorts.items() if word and program_named(word[0])}
    for name, word in words.items():
        if [*words.values()].count(word) == 1:
            found.setdefault(word, name)
    return found


_FIRST_WORD = deferred(r"[A-Za-z][A-Za-z]{2,}(?:-LM)?(?=[ -]|$)")


def _section(heads: Sequence[Line], line: int) -> tuple[float, float]:
    """Where the section of a line begins, with those below it, and ends: all of the document for a
    section on how things were set up."""
    at = bisect_right(heads, line, key=_number)
    if not at or of_set_up(heads[at - 1].text.lstrip("# ")):
        return 0, inf
    level = _level(heads[at - 1])
    return heads[at - 1].number, next((h.number for h in heads[at:] if _level(h) <= level), inf)


def _number(line: Line) -> int:
    return line.number


def _level(heading: Line) -> int:
    return len(heading.text) - len(heading.text.lstrip("#"))


LONGEST_NAME, MOST_NAMES = 40, 40


def _bare(name: str) -> str:
    return name.strip(" *`_")


_Asked = Callable[[str, Sequence[re.Match[str]]], Iterable[tuple[str, int, int]]]


def _sayings(
    lines: Sequence[Line], names: set[str], letters: Mapping[str, str], asked: _Asked
) -> Iterator[tuple[str, Explanation]]:
    """The parts of sentences of a document that are of some of the rows alone, by their names."""
    every = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    named = re.compile(rf"(?<![\w.-])(?:{every})(?![\w.]*\w|-\w)")
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        at = 0
        for sentence in sentences(text) if named.search(text) else ():
            begin, at = at, at + len(sentence)
            parts = list(asked(sentence, [*named.finditer(sentence)]))
            noun = next((n[1] for _, a, b in parts if (n := _NOUN.search(sentence[a:b]))), "")
            told = [_settings(sentence[a:b], noun, letters) for _, a, b in parts]
            doubtful = any(not name for name, _, _ in parts)  # of nobody, understood or not
            if not (doubtful or sum(map(bool, told)) >= min(FEWEST, len(parts) or FEWEST)):
                continue
            for (name, first, last), values in zip(parts, told, strict=True):
                places = tuple(placed(paragraph, begin + first, begin + last))
                yield name, Explanation(values, places[0][0], places)


def _of_one_side(sentence: str, found: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """The name of the one side of a table that a sentence is about, which begins with it, and where
    what it says stands; the name of no side where its subject has several.

    >>> text = "Interleaved uses two chunks per stage."
    >>> found = list(re.finditer("Interleaved", text))
    >>> [(name, text[a:b]) for name, a, b in _of_one_side(text, found)]
    [('Interleaved', ' two chunks per stage')]
    """
    verb = _USES.search(sentence)
    subject = [each for each in found if verb and each.end() <= verb.start()]
    if verb is None or not subject or _NOT_SO.search(sentence) or len(found) > len(subject):
        return
    if _OPENS.fullmatch(sentence, 0, subject[0].start()) is None:
        return
    if _VERB_BEFORE.search(sentence, subject[-1].end(), verb.start()):
        return
    end = _ENDS.search(sentence, verb.end())
    name = subject[0][0] if len(subject) == 1 else ""
    yield name, verb.end(), end.start() if end else len(sentence)


_USES = deferred(r"\b(?:uses|has|used|had|(?:runs|ran|is run|was run) with|keeps|splits)\b")

_VERB_BEFORE = deferred(r"\b(?:is|are|was|were|runs|ran|means|does|do|did)\b")
"""A verb in front of another, which then is of another subject: `A is in fp32, b uses bf16`."""


def _in_turn(sentence: str, found: Sequence[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """The names that open the parts of a sentence in turn, and where each part begins and ends.

    >>> text = "The A-1B runs on 2 nodes, A-3B on four; both are in bf16."
    >>> [text[a:b] for _, a, b in _in_turn(text, list(re.finditer(r"A-.B", text)))]
    [' runs on 2 nodes, ', ' on four']
    >>> text = "TP 2 for A-1B and TP 4 for A-3B"
    >>> list(_in_turn(text, list(re.finditer(r"A-.B", text))))
    []
    """
    if len(found) < FEWEST or len({each[0] for each in found}) < len(found):
        return
    if _OPENS.fullmatch(sentence, 0, found[0].start()) is None or _NOT_SO.search(sentence):
        return
    behind = [_BEHIND.search(sentence, 0, each.start()) is not None for each in found]
    if any(behind) and not all(behind):
        return
    end = _ENDS.search(sentence, found[-1].end())
    last = end.start() if end else len(sentence)
    if _ENDS.search(sentence, found[0].end(), found[-1].start()):
        return
    begins = [each.start() for each in found[1:]]
    for each, until in zip(found, [*begins, last], strict=True):
        yield each[0], each.end(), until


def _settings(part: str, noun: str, letters: Mapping[str, str]) -> Mapping[str, str]:
    """Settings that the part of a model says; with the noun of a count of another part."""
    whole = _ELIDED.sub(lambda count: f"{count[1]} {noun.rstrip('s')}s", part) if noun else part
    (line,) = with_degrees([Line(0, whole, 1, {})], letters)
    return settings_of(_JOINS.sub("", line.text.strip(" ,.;:*_`")), _OF_A_MODEL)


_OF_A_MODEL = {
    "layers", "hidden", "heads", "kv_heads", "ffn_hidden", "experts", "model_size", "parameters",
}  # fmt: skip
"""Fields of a model that a part says of the one that it names."""


_JOINS = deferred(r",?\s+(?:and|und|et|y|as well as|the)\s*$", re.IGNORECASE)
