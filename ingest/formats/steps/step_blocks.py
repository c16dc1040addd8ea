"""Blocks of lines that are one record: a head of counts, or a dictionary, and what stands below.

In: lines and where to look. Out: a `Found` of several lines, or None. A block holds one label and
value a line: `[step=10/739328,epoch=0]` with `    train/CrossEntropyLoss=9.5` below it,
`step: 100` with `loss: 5.1`, a dictionary that is written over several lines, a box of two
columns, `| loss | 5.1 |`, or what Julia's logger frames: `┌ Info: train`, `│   loss = 5.1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.ingest.formats.steps.step_pairs import Pair, Said, said, values
from assay.ingest.formats.steps.step_shapes import LEAST, Found
from assay.ingest.formats.steps.step_words import VALIDATION, meaning, words
from assay.ingest.schema.format import Reach
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred

LONGEST = 120
"""Lines of a block."""
_LONGEST_HEAD = 200  # characters

_COUNTS = (
    r"(?:(?:[A-Za-z]+\s)?[A-Za-z_]*(?:batch|step|iter(?:ation)?|epoch)\w*"
    r"\s*[=: ]\s*[0-9,]+(?:\s?/\s?[0-9,]+)?[\s,|;-]*)+"
)

_HEAD = deferred(
    rf"^\W*(?:\w+\]\W*)?(?:TIME:\s[-0-9/]+\s[0-9:.]+\W+)?(?P<counts>{_COUNTS})\W*(?:done\W*)?$",
    re.IGNORECASE,
)
"""A line that holds nothing but counts, in whatever frame: `===== Step 1/100 =====`."""

_LOGGED_HEAD = deferred(
    rf"^\S[^\[\]]*\s\[\s*(?P<counts>{_COUNTS})(?:eta=[^\[\]]*)?\]\s*$", re.IGNORECASE
)
"""One that ends with counts in brackets, behind what a logger prints."""

_TOTALS = deferred(r"^\W*\*{3,} (?:train|eval|predict|test)[\w ]* metrics \*{3,}\s*$")

_TOTAL = deferred(r"^\s*(?P<label>[a-z]\w*)\s+=\s+(?P<value>\S.*?)\s*$")
"""Totals of a part of a Hugging Face Trainer's work, as `log_metrics` prints them."""

STRANGE = 5
"""Lines of others between a head that is drawn across the page and the first of its labels."""

_DRAWN = deferred(r"[=*#~-]{4}")

_BULLET = deferred(r"^\s*(?:[-|*•>│┃▪·]\s*){1,3}")

_BODY = deferred(r"^\s*[A-Za-z][^:=|]{0,70}(?:\([^()]*\))?\s*[:=]\s*\S(?:[^:=]|:[0-9]{2}){0,40}$")

_ASIDE = deferred(r"\([^()]*\)")
"""An addition of a line in brackets: `98304 steps/s (collection: 0.7s, learning 0.2s)`."""

_PASSED = deferred(r"^\W*$|^\W*[A-Za-z][\w ()/-]{0,60}(?::|\.\.\.|…)\s*$")
"""Rules, headings, and what is being done, inside a block."""

_BOXED = deferred(
    r"^\s*[|│┃]\s*(?P<label>[A-Za-z][^|│┃]{0,70}?)\s*[|│┃]\s*(?P<value>[^|│┃]{0,40}?)\s*[|│┃]\s*$"
)
"""A row of two columns; its value is empty where its label heads others."""

_FRAMED = deferred(
    r"^\s*[|│┃]\s*(?P<label>[A-Za-z][^\s|│┃]{0,70})\s{2,}(?P<value>[^\s|│┃]{1,40})\s*[|│┃]\s*$"
)
"""A row of a frame in which blanks part a label and its value."""

_DICT = deferred(r"^\s*\{\s*(['\"])[^'\"]+\1:\s*[^{}\[\]]+,\s*$")

_DICT_BODY = deferred(r"^\s*(['\"])[^'\"]+\1:\s*[^{}]+?(?P<end>\}?),?\s*$")

_NUMBERED = deferred(
    r"^\s*\[(?P<count>[0-9]+)\]\s+(?P<label>[A-Za-z][\w/.-]*)\s*[=:]\s*(?P<value>[-+0-9.naife]+)\s*$"
)
"""A row of those that tell of one count, which stands in front of each: `[50] l2_grads = 0.77`."""

_LOGGED = deferred(r"^┌ [A-Z][a-z]+: (?P<what>.*)$")

_LOGGED_BODY = deferred(r"^[│└]\s{3}(?P<label>\S.*?) = (?P<value>\S.*?)\s*$")

_SINGLE = deferred(r"(?<=[0-9])f(?=-?[0-9]+$)")
"""The exponent of a number of single precision, as Julia writes it: `6.9812f0`."""

BLOCK_HEADS = {
    r"\[[0-9]+\]\s+[A-Za-z][A-Za-z0-9_/.-]*\s?[=:]\s?[-0-9.][-+0-9.e]*\s*$"
    r"|[|│┃]\s+[A-Za-z][A-Za-z0-9_/ ().-]*\s[|│┃]\s+[-0-9.][-0-9.e+]*\s*[|│┃]\s*$"
    r"|[|│┃]\s+[A-Za-z][A-Za-z0-9_/.-]*\s\s+[-0-9.][-0-9.e+]*\s*[|│┃]\s*$": Reach(2),
    r"┌ [A-Z][a-z]+: ": Reach(LONGEST, "└ "),
    r"(?:[Bb]atch|[Ss]tep|STEP|[Ii]ter(?:ation)?|[Ee]poch)\s{0,2}[=: ]\s{0,3}[0-9,]+(?:/[0-9,]+)?"
    r"(?:[,;\s]+epoch\s?[=:]\s?[0-9./]+)?(?:,eta=[^\[\]]*)?(?: done)?[\s\]:.=*#-]*$"
    r"|\*{3,} (?:train|eval|predict|test)[a-z_ ]* metrics \*{3,}\s*$"
    r"|\s*train_(?:loss|runtime|samples|samples_per_second)\s+=\s+[0-9][0-9.:]*\s*$": Reach(
        LONGEST
    ),
    r"\{\s*['\"][A-Za-z_/ .-]+['\"]: *[0-9.eE+-]+, *$": Reach(LONGEST, r"\}\s*$"),
}
"""Beginnings of blocks, and how many lines may belong to one; of a box each row."""


def block_at(lines: Sequence[Line], at: int) -> Found | None:
    """The block that begins at a line; None where none does."""
    head = lines[at]
    if len(head.text) > _LONGEST_HEAD:
        return None
    if "{" in head.text and _DICT.match(head.text):
        return _dictionary(lines, at)
    if head.text.rstrip().endswith(":") and (introduced := _introduced(lines, at)) is not None:
        return introduced
    if head.text.lstrip()[:1] in ("|", "│", "┃"):
        row = next((each for each in (_BOXED, _FRAMED) if each.match(head.text)), None)
        if row is not None:
            return _box(lines, at, row)
    if "[" in head.text and (numbered := _NUMBERED.match(head.text)):
        return _numbered(lines, at, numbered)
    if "metrics *" in head.text and _TOTALS.match(head.text):
        return _totals(lines, at)
    if head.text.lstrip().startswith("train_") and _TOTAL.match(head.text):
        bare = _totals(lines[at : at + MOST_TOTALS], 0, below=0)
        labels = {pair.label for pair, _ in bare.places} if bare else set[str]()
        return bare if len(labels & _OF_TRAINING) > 1 else None
    if head.text.startswith("┌ ") and (logged := _LOGGED.match(head.text)):
        validates = not VALIDATION.isdisjoint(words(logged["what"]))
        return None if validates else _logged(lines, at)
    return _counted(lines, at)


def _counted(lines: Sequence[Line], at: int) -> Found | None:
    """The labels and values below a line that holds nothing but counts."""
    head = lines[at]
    counts = _HEAD.match(head.text) or _LOGGED_HEAD.match(head.text)
    if counts is None:
        return None
    what = said(counts["counts"])
    if what is None or any(meaning(p.label) is None for p in what.pairs):
        return None
    shift = counts.start("counts")
    places = [(pair._replace(start=pair.start + shift), head) for pair in what.pairs]
    held, last, before, strange = [head], 0, head, 0
    aside = 0  # column of the heading of a validation whose part the lines are
    for line in lines[at + 1 : at + LONGEST]:
        if not _goes_on(before, line, blank=1 if len(held) == 1 else 0):
            break
        before = line
        if _HEAD.match(line.text) and _first_label(line.text) == _first_label(head.text):
            break
        more = _pairs_of(line)
        if more is None:
            strange += 1
            if len(places) > len(what.pairs) or strange > STRANGE or not _DRAWN.search(head.text):
                break
            continue
        held.append(line)  # or a word under a label
        passed = _PASSED.match(line.text) is not None
        if passed and line.text.rstrip().endswith(":") and (not aside or line.column <= aside):
            aside = 0 if VALIDATION.isdisjoint(words(line.text)) else line.column
        places += [(pair, line) for pair in more if not aside]
        last = last if passed else len(held) - 1
    return _block(held[: last + 1], places)


def _pairs_of(line: Line) -> list[Pair] | None:
    """The pairs of a line of a block; None where it is none."""
    boxed = _BOXED.match(line.text)
    if boxed is not None:
        return list(_in_box(boxed))
    if _PASSED.match(line.text):
        return []
    bullet = _BULLET.match(line.text)
    text = " " * bullet.end() + line.text[bullet.end() :] if bullet else line.text
    alone = _ASIDE.sub(lambda aside: " " * len(aside[0]), text)
    if not _BODY.match(alone.rstrip() if alone.count(":") < text.count(":") else text):
        return None
    more = said(text)
    if more is None:
        return []
    if len(more.pairs) > 2:
        more = said(alone)
    return None if more and len(more.pairs) > 2 else list(more.pairs if more else ())


def _in_box(row: re.Match[str]) -> Iterator[Pair]:
    """The number of a row of a box, if it holds one."""
    value = said(f"x = {row['value']}") if row["value"] else None
    if value is not None and len(value.pairs) == 1:
        pair = value.pairs[0]
        begin = row.start("value") + pair.start - len("x = ")
        yield pair._replace(label=row["label"], start=begin, span=row.span("value"))


def _box(lines: Sequence[Line], at: int, form: re.Pattern[str]) -> Found | None:
    """A box of labels and values, to the row that ends it; one of its rows counts the steps."""
    held: list[Line] = []
    places: list[tuple[Pair, Line]] = []
    for line in lines[at : at + LONGEST]:
        row = form.match(line.text)
        if row is None or (held and not _goes_on(held[-1], line)):
            break
        held.append(line)
        places += [(pair, line) for pair in _in_box(row)]
    return _block(held, places)


def _numbered(lines: Sequence[Line], at: int, first: re.Match[str]) -> Found | None:
    """The rows below one another that a count in brackets begins, a label and a value each."""
    held: list[Line] = []
    count = Pair("", first["count"], "", first.start("count"), span=first.span("count"))
    places = [(count, lines[at])]
    for line in lines[at : at + LONGEST]:
        row = _NUMBERED.match(line.text)
        if row is None or row["count"] != first["count"] or (held and not _goes_on(held[-1], line)):
            break
        held.append(line)
        places += [(pair, line) for pair in values(row["label"], row["value"], row.start("value"))]
    if len(held) < LEAST:
        return None
    return Found(held, Said(tuple(pair for pair, _ in places), "block"), places, block=True)


_OF_TRAINING = {"train_runtime", "train_samples_per_second", "train_steps_per_second"}
"""Totals that only the training of such a Trainer has, two of which need no heading."""

MOST_TOTALS = 12
"""Lines of totals without a heading."""


def _totals(lines: Sequence[Line], at: int, below: int = 1) -> Found | None:
    """The totals one line `below` their heading, or where they stand without it, one a line."""
    held = [*lines[at : at + below]]
    places: list[tuple[Pair, Line]] = []
    for line in lines[at + below : at + LONGEST]:
        row = _TOTAL.match(line.text)
        if row is None or (held and not _goes_on(held[-1], line)):
            break
        held.append(line)
        places += [
            (pair._replace(label=row["label"]), line)
            for pair in values(row["label"], row["value"], row.start("value"))
        ]
    return Found(held, Said(tuple(pair for pair, _ in places), "block"), places) if places else None


def _logged(lines: Sequence[Line], at: int) -> Found | None:
    """The record that Julia's logger frames, a label and a value a line."""
    held = [lines[at]]
    places: list[tuple[Pair, Line]] = []
    for line in lines[at + 1 : at + LONGEST]:
        row = _LOGGED_BODY.match(line.text)
        if row is None or not _goes_on(held[-1], line):
            return None
        held.append(line)
        value = _SINGLE.sub("e", row["value"])
        places += [(pair, line) for pair in values(row["label"], value, row.start("value"))]
        if line.text.startswith("└"):
            return _block(held, places)
    return None


def _dictionary(
    lines: Sequence[Line], at: int, above: Sequence[tuple[Pair, Line]] = ()
) -> Found | None:
    """A dictionary over several lines, to its closing brace; `above` are pairs of its head."""
    held = [lines[at]]
    places: list[tuple[Pair, Line]] = []
    for line in lines[at + 1 : at + LONGEST]:
        body = _DICT_BODY.match(line.text)
        if body is None or not _goes_on(held[-1], line):
            return None
        held.append(line)
        if body["end"]:
            break
    else:
        return None
    for line in held:
        more = said(line.text.replace("{", " ", 1) if line is held[0] else line.text)
        places += [(pair, line) for pair in more.pairs] if more else []
    return _block([*_lines_of(above), *held], [*above, *places])


def _lines_of(places: Sequence[tuple[Pair, Line]]) -> list[Line]:
    return list({line.number: line for _, line in places}.values())


def _introduced(lines: Sequence[Line], at: int) -> Found | None:
    """The dictionary over several lines right below one that counts a step and ends in a colon:
    `train | step: 312 | steps/sec: 1.1 | output:`."""
    head = lines[at]
    opens = at + 1 < len(lines) and _DICT.match(lines[at + 1].text) is not None
    what = said(head.text) if opens and _goes_on(head, lines[at + 1]) else None
    if what is None or what.form != "plain":
        return None
    front = words(head.text[: what.pairs[0].start])
    known = [meaning(pair.label) for pair in what.pairs if pair.label]
    counts = any(each is not None and each.field == "step" for each in known)
    if not counts or not VALIDATION.isdisjoint(front):
        return None
    return _dictionary(lines, at + 1, [(pair, head) for pair in what.pairs])


def _block(held: list[Line], places: list[tuple[Pair, Line]]) -> Found | None:
    if len(held) < LEAST:
        return None
    known = [found for pair, _ in places if (found := meaning(pair.label, pair.behind))]
    fields = {found.field for found in known}
    trains = any(found.training for found in known)
    if not trains or not fields & {"step", "epoch"}:
        return None
    return Found(held, Said(tuple(pair for pair, _ in places), "block"), places, block=True)


def _goes_on(last: Line, line: Line, blank: int = 0) -> bool:
    """Whether a line stands right below another of the same rank, or below blank lines."""
    below = last.number <= line.number <= last.number + 1 + blank
    return below and line.prefix.get("rank") == last.prefix.get("rank")


def _first_label(text: str) -> tuple[str, ...]:
    """The words before the first number of a line."""
    return words(re.split("[0-9]", text, maxsplit=1)[0])
