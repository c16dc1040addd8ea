"""Templates that names of runs are made by: `<model>_<gpu>x<count>_mb<micro batch>[_ck]`.

In: the records of tables, and the lines of their document. Out: the same rows, with what the places
of the template are in their names, and what its optional parts, `[_ck]` or `` then `-sp` for
sequence parallelism``, say of the rows that have them and of those that have not; and the parts of
the text that say how names are made, which say nothing of rows; nor does an example of one that is
explained, `` `tp2sd4` means `tensor_parallel=2`, `sharding=4` ``, beside rows with names of the
kind. A place is what its own name says, or else what the letters in front of it are short for:
`tp<T>`. Names that are not all of the template are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.columns.composite import NAMES, size_alone
from assay.ingest.columns.row_texts import own_words
from assay.ingest.columns.titles import model_named
from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.label_signs import (
    Explanation,
    field_of_numbers,
    meanings,
    paragraphs,
    placed,
    settings_of,
)
from assay.ingest.schema.record import Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.tables.row_cells import worth
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, configured_by, normalise

_SPAN = deferred(r"``([^`]{1,160})``|`([^`]{1,160})`")
"""Words in the letters of code."""

_PLACE = deferred(
    r"<([A-Za-z][\w .-]{0,30})>|\{([A-Za-z][\w .-]{0,30})\}|\[([^\[\]<>{}]{1,24})\]"
    r"|(\[[^\[\]<>{}]{0,24}(?:<[A-Za-z][\w .-]{0,30}>|\{[A-Za-z][\w .-]{0,30}\})\])"
)
"""A place for a value in a template, or a part of it that may be left out: `[_ck]`, `[_<note>]`."""

_MAY_HOLD = re.compile(r"`[^`]*(?:<[A-Za-z][^<>`]*>|\{[A-Za-z][^{}`]*\})[^`]*`")

_TAIL = deferred(r"[-_+.][\w+]*?(?:<([A-Za-z][\w .-]{0,30})>|\{([A-Za-z][\w .-]{0,30})\})?")
"""A part that is put behind a name: `-flash`, `-vp<V>`."""

_ADDED = deferred(
    r"(?:if|when|where|for|with|means?|is|stands for|marks|denotes|[:=–—(])?\s*(?P<meant>[^`]*)",
    re.IGNORECASE,
)
"""Words behind such a part: `` `-sp` for sequence parallelism``."""

_STOP = deferred(r"[.;。；](?=\s|$)")

_AND_THEN = deferred(
    r"\W*(?:(?:and|or|then|plus|by|followed|optionally|an?|the|possibly|perhaps|with|ending|suffix"
    r"(?:es)?|optional|also|if needed)\W+)*",
    re.IGNORECASE,
)
"""Words between two parts of a name, or between what one and the next mean."""

_JOINED = deferred(r",?\s*(?:and|or|then|plus)?\s*(?:an?|the|optionally)?\s*$|[,(]\s*$")

LEAST = 2
"""Places of a template; one alone fits many names that it is not for."""

LONGEST_NAME = 100
"""Letters of a name that is made by a template."""

_VALUES = {
    "seq_len", "tp", "pp", "dp", "cp", "ep", "vp", "micro_batch", "global_batch", "batch_size",
    "accumulation", "gpus", "nodes", "gpus_per_node", "zero_stage", "layers", "hidden", "heads",
}  # fmt: skip
"""Fields of whole numbers that a place may be."""

_PLAIN = {
    "model": "model", "modelname": "model", "gpu": "gpu", "device": "gpu", "accelerator": "gpu",
    "gputype": "gpu", "card": "gpu", "dtype": "dtype", "precision": "dtype", "size": "model_size",
    "modelsize": "model_size", "params": "model_size", "context": "seq_len", "ctx": "seq_len",
    "seq": "seq_len", "seqlen": "seq_len", "contextlength": "seq_len",
}  # fmt: skip
"""Names of places that are no names of whole numbers elsewhere."""

_COUNTS = {"count", "n", "num", "number", "cards", "ngpu", "ngpus", "numgpus", "gpus"}
"""Names of a place right behind a device and the sign of a product: `<gpu>x<count>`."""

_WORDS: Mapping[str, str] = {
    "gpu": r"[A-Za-z][\w.-]*?",
    "dtype": NUMBER_FORMAT,
    "model_size": r"[0-9]+(?:\.[0-9]+)?[bBmM]",
}

_OFF = {
    "sequence_parallel": "False", "recompute": "none", "activation_checkpointing": "False",
    "attention": "unfused",
}  # fmt: skip
"""Settings of names in which the part that switches something on is missing."""

_ON = {"sequence_parallel": ("True",), "activation_checkpointing": ("True",),
       "recompute": ("full", "selective"), "attention": ("flash",)}  # fmt: skip


class _Part(NamedTuple):
    """A part of a template: what names hold there, and what they say by it."""

    pattern: str
    field: str  # of the value of a place
    on: Mapping[str, str]  # said by an optional part
    optional: bool


class _Template(NamedTuple):
    form: re.Pattern[str]
    parts: tuple[_Part, ...]
    said: Explanation


def tell(
    records: Sequence[Record], lines: Sequence[Line]
) -> tuple[set[int], Sequence[Explanation]]:
    """Give rows of tables, in place, what the places of their names are; the lines that said it,
    and the parts of the text that say how names are made."""
    used, explained = set[int](), list[Explanation]()
    prose = [line.text for line in lines if len(line.text) <= LONGEST]
    exampled = any(map(_EXAMPLE.search, prose))
    worded = any(map(_IN_WORDS.search, prose))
    if not exampled and not worded and not any(map(_MAY_HOLD.search, prose)):
        return used, explained
    rows = [record for record in records if record.tabled and record.alike is None]
    labels = [[w.line.text.strip(" `*") for w in own_words(row) if w.line.number == row.line]
              for row in rows]  # fmt: skip
    explained += _examples(lines, {_kind(text) for row in rows for _, text in row.other})
    names = meanings(lines)
    for template in (*_templates(lines, names), *(_worded(lines) if worded else ())):
        for row, texts in zip(rows, labels, strict=True):
            fits = (template.form.fullmatch(t) for t in texts if len(t) <= LONGEST_NAME)
            found = next(filter(None, fits), None)
            for name, text in _told(template, found, names).items() if found else ():
                if name not in row.cells or _in_short(row, name, found):
                    row.cells[name] = worth(name, text, row.line, row.column, "stated")
                used.add(template.said.line)
        if template.said.line in used:
            explained.append(template.said)
    return used, explained


_NAME_OF_PLACE = r"[A-Za-z][A-Za-z ]{1,20}[A-Za-z]"

_IN_WORDS = deferred(
    r"(?:[(（]|[:：] ?|\b(?:is|are|reads?|lists?|gives?) )(?P<names>"
    rf"{_NAME_OF_PLACE} ?(?P<sign>[/@·|×_]) ?{_NAME_OF_PLACE}"
    rf"(?: ?(?P=sign) ?{_NAME_OF_PLACE}){{0,3}})"
    r"(?=\s*(?:[)）.;,]|$))",
    re.IGNORECASE,
)
"""Meanings of the parts of names, with the sign that is between them: `(model / context / dtype)`.
"""


def _worded(lines: Sequence[Line]) -> Iterator[_Template]:
    """Templates of names whose parts a text names in words, one of them no number."""
    for line in lines:
        for found in _IN_WORDS.finditer(line.text) if len(line.text) <= LONGEST else ():
            sign = found["sign"]
            names = [name.strip() for name in found["names"].split(sign)]
            fields = [_PLAIN.get(normalise(name)) or field_of_numbers(name) for name in names]
            if not all(fields) or len(set(fields)) < len(fields) or _VALUES.issuperset(fields):
                continue
            parts = [
                _Part(_captured(field, name, sign), field, {}, optional=False)
                for field, name in zip(fields, names, strict=True)
            ]
            form = rf"\s?{re.escape(sign)}\s?".join(part.pattern for part in parts)
            said = Explanation({}, line.number, ((line.number, *found.span("names")),))
            yield _Template(re.compile(form), tuple(parts), said)


_EXAMPLE = deferred(
    r"`(?P<name>[A-Za-z]{1,8}[0-9][\w.-]{0,40}[0-9][\w.-]{0,20})`\s?"
    r"(?:(?:则|就|即)?(?:表示|代表|意为|指的?是?)|means?\b|denotes?\b|stands for\b|is short for\b)"
    r"[^.;。；]{4,200}"
)
"""A name with numbers, and what it says by them."""


def _examples(lines: Sequence[Line], kinds: set[str]) -> Iterator[Explanation]:
    """The explanations of one name as an example, where rows have names of the kind."""
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        for found in _EXAMPLE.finditer(text) if "`" in text else ():
            if _kind(found["name"]) in kinds:
                places = tuple(placed(paragraph, *found.span()))
                yield Explanation({}, places[0][0], places)


def _kind(name: str) -> str:
    """A name without its numbers."""
    return re.sub("[0-9]+", "0", name.strip(" `*"))


def _in_short(row: Record, name: str, found: re.Match[str] | None) -> bool:
    """Whether a cell of a row is no more than the name that the template takes apart."""
    return found is not None and row.cells[name].text.strip(" `*") == found[0]


def _told(
    template: _Template, found: re.Match[str] | None, names: Mapping[str, str]
) -> dict[str, str]:
    """Settings that a name says by the values of its places and its optional parts."""
    said: dict[str, str] = {}
    for part, text in zip(template.parts, found.groups() if found else (), strict=False):
        if part.optional and text is None:
            off = {n: _OFF[n] for n, told in part.on.items() if told in _ON.get(n, ())}
            said = off | said
        elif part.optional and not part.field:
            said |= part.on
        elif part.field == "model" and (size := size_alone(text)):
            said["model_size"] = size
        elif part.field == "model":
            meant = names.get(text, "")
            said["model"] = model_named(meant) or text if meant else text
        elif part.field in _VALUES:
            number = re.sub(r"\D", "", text)
            said[part.field] = str(int(number) * (1024 if text[-1] in "kK" else 1))
        elif part.field:
            said[part.field] = text
    return said


def _templates(lines: Sequence[Line], names: Mapping[str, str]) -> Iterator[_Template]:
    for paragraph in paragraphs(lines):
        text = " ".join(line.text for line in paragraph)
        if not _MAY_HOLD.search(text):
            continue
        spans = list(_SPAN.finditer(text))
        for at, span in enumerate(spans):
            code = span[1] or span[2]
            parts = _parts(code, names)
            if sum(bool(part.field) for part in parts) < LEAST:
                continue
            tails, end = _tails(text, spans[at:])
            parts += tails
            places = tuple(placed(paragraph, span.start(), end))
            form = "".join(part.pattern for part in parts)
            told = tuple(part for part in parts if re.compile(part.pattern).groups)
            yield _Template(re.compile(form), told, Explanation({}, places[0][0], places))


def _parts(code: str, names: Mapping[str, str]) -> list[_Part]:
    """The parts of a template; none of what has no places that are known."""
    parts: list[_Part] = []
    last, before = 0, ""
    for place in _PLACE.finditer(code):
        literal = code[last : place.start()]
        parts.append(_Part(re.escape(literal), "", {}, optional=False))
        last = place.end()
        if place[3]:
            parts.append(_optional(place[3], settings_of(names.get(place[3].strip("-_+."), ""))))
            continue
        if place[4]:
            parts.append(_tail(place[4].strip("[]"), ""))
            continue
        name = place[1] or place[2]
        field = _field(name, literal, before)
        parts.append(
            _Part(_captured(field, name, code[last : last + 1]), field, {}, optional=False)
        )
        before = field
    parts.append(_Part(re.escape(code[last:]), "", {}, optional=False))
    return parts


def _optional(written: str, meant: Mapping[str, str]) -> _Part:
    """A part that names have or have not; it may be a word of which more is not said."""
    on = meant or settings_of(written.strip("-_+. "))
    return _Part(f"({re.escape(written)})?", "", on, optional=True)


def _captured(field: str, name: str, behind: str) -> str:
    """The pattern of the values of a place."""
    if field in _VALUES:
        return r"([0-9]{1,7}[kK]?)" if field == "seq_len" else r"([0-9]{1,7})"
    if field in _WORDS:
        return f"({_WORDS[field]})"
    if len(name) == 1 and not field:
        return r"[0-9]{1,7}"
    apart = re.escape(behind) if behind in "-_+./" else ""
    return rf"([^\s{apart}]+?)" if field else rf"[^\s{apart}]+?"


def _field(name: str, literal: str, before: str) -> str:
    """The field of a place by its name, or by the letters in front of it."""
    short = normalise(name)
    front = re.split(r"[^A-Za-z]+", literal)[-1].casefold()
    if before == "gpu" and literal in ("x", "×", "*") and (short in _COUNTS or len(short) == 1):
        return "gpus"
    if known := _PLAIN.get(short) or NAMES.get(short) or field_of_numbers(name):
        return known
    if front in _ZERO:
        return "zero_stage"
    known = configured_by(name) or NAMES.get(front) or configured_by(front) or ""
    return known if known in _VALUES else ""


_ZERO = {"z", "zero"}


def _tails(text: str, spans: Sequence[re.Match[str]]) -> tuple[list[_Part], int]:
    """Parts that are put behind the names of a template, with what each means, and where the text
    on them ends."""
    tails: list[_Part] = []
    end = spans[0].end()
    behind = [span for span in spans[1:] if _TAIL.fullmatch(span[1] or span[2])]
    if not behind or not _AND_THEN.fullmatch(text[end : behind[0].start()]):
        return tails, end
    for span, until in pairwise([*(each.span() for each in behind), (len(text), 0)]):
        stop = _STOP.search(text, span[1], until[0])
        end = stop.start() if stop else until[0]
        meant = _ADDED.fullmatch(_JOINED.sub("", text[span[1] : end]).strip())
        tails.append(_tail(text[span[0] : span[1]].strip("`"), meant["meant"] if meant else ""))
        if stop and not _AND_THEN.fullmatch(text[end : until[0]]):
            break
    return tails, end


def _tail(code: str, meaning: str) -> _Part:
    """A part that names may have, with or without a value of its own."""
    place = _PLACE.search(code)
    if place is None:
        return _optional(code, settings_of(meaning.strip(" .,;()")))
    name, literal = place[1] or place[2], code[: place.start()]
    field = _field(name, literal, "")
    return _Part(f"(?:{re.escape(literal)}{_captured(field, name, '')})?", field, {}, optional=True)
