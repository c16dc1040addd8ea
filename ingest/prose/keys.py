"""Keys to the labels of tables: what each abbreviation stands for, one behind another.

In: the lines of a document. Out: the label of a column → the quantity or the setting that it is.
`Key: N – nodes; T – tensor parallel; mem – peak memory of the fullest rank, GiB` is a key, and so
are three items of a list, `* mbs, gas: micro batch size (per GPU), gradient accumulation steps`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.record import Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.terms import configured_by
from assay.ingest.vocabulary.words import said

LEAST = 3
"""Entries that make a paragraph or a list a key."""

_ENTRY = deferred(
    r"[\s*_`(]*((?:[A-Za-z#%][\w/%#.-]{0,11})(?:[*_`]*, ?[*_`]*[A-Za-z][\w/%.-]{0,11}){0,3})[*_`]*"
    r"\s*(?:–|—|-(?= )|=|:|\bis\b|\bmeans\b|\bstands for\b|\bare\b)\s*(?!\d)([^;|]{2,90}?)[\s.)*_]*"
)

_OPENS = deferred(
    r"[\s*_]*(?:key|legend|abbreviations?|columns?|notation|where|here|glossary)\b[^:;–—=]{0,30}"
    r"(?::|(?<=where)|,)\s*",
    re.IGNORECASE,
)

_ITEM = re.compile(r"\s*(?:[-*+•]|[0-9]{1,2}[.)]) ")

_COMMENT = deferred(r"#+ *(?=[*_`]*[A-Za-z%][\w/%.-]{0,11}[*_`]* ?[=:] ?[^\W\d][^;]*;.*[=:])")
"""The sign of a comment over a sheet that explains several of its labels."""

_NO_PROSE = deferred(r"\s*(?:[|#>]|<t|```|~~~|[-=+]{3})")


def keyed(lines: Sequence[Line]) -> dict[str, str]:
    """Labels that the keys of a document explain, each with the label in full.

    >>> text = "Key: N – nodes; T – tensor parallel; G – GCDs; mem – peak memory of each rank, GiB."
    >>> keyed([Line(1, text, 1, {})])
    {'N': 'nodes', 'T': 'tensor parallel', 'G': 'GCDs', 'mem': 'peak memory of each rank, GiB'}
    """
    found: dict[str, str] = {}
    for entries in _keys(lines):
        told = [(name, in_full(meant)) for name, meant in entries]
        known = {name: meant for name, meant in told if meant}
        if 2 * len(known) >= len(told):
            found = {**known, **found}
    for text, _ in _paragraphs(lines):
        for sentence in _SENTENCE_END.split(text) if _IN_A_ROW.search(text) else ():
            found = {**_lettered(sentence), **found}
    return found


def _lettered(sentence: str) -> dict[str, str]:
    """Letters and short names that a sentence explains one behind another, where each of them is a
    quantity or a setting.

    >>> _lettered("Notation: *b* micro-batch size, *T* tokens/s/GPU")
    {'b': 'micro-batch size', 'T': 'tokens/s/GPU'}
    >>> _lettered("We write b for the micro batch size and t for the step time in seconds.")
    {'b': 'micro batch size', 't': 'step time in seconds'}
    >>> _lettered("Notation: *b* micro-batch size, *q* what we like best")
    {}
    """
    sentence = sentence.strip(" .")
    sentence = sentence[1:-1] if sentence.startswith("(") and sentence.endswith(")") else sentence
    opened = _OPENS_ROW.match(sentence)
    text = sentence[opened.end() :] if opened else sentence
    found: dict[str, str] = {}
    for part in _NEXT_LETTER.split(text) if text else ():
        told = _LETTERED.fullmatch(part.strip())
        meant = in_full(_closed(told["what"], told["verb"])) if told else ""
        plain = told is not None and told["plain"] is not None
        if not told or not meant or (plain and not (opened or told["verb"].strip())):
            return {}
        found[told["plain"] or told["marked"]] = meant
    return found if len(found) > 1 else {}


def _closed(meant: str, verb: str) -> str:
    """A meaning without the bracket that closes the one in front of it: `b (micro batch size)`."""
    return meant.removesuffix(")") if "(" in verb else meant


_SENTENCE_END = re.compile(r"(?<=[.;:])\s+(?=[A-Z])")

_IN_A_ROW = re.compile(
    r"(?<![\w/])[*_`$]{0,3}[A-Za-z]{1,4}[*_`$]{0,3}:? [^.]{2,80}(?:[,;] | and )[*_`$]{0,3}[A-Za-z]"
)
"""In every text that explains letters one behind another."""

_OPENS_ROW = re.compile(
    r"(?:key|legend|abbreviations?|columns?|notation|symbols?|where|here|with|let|glossary"
    r"|we (?:write|use|denote by))\b(?: (?:are|is|as follows))?[:,]?\s+",
    re.IGNORECASE,
)

_NEXT_LETTER = re.compile(
    r"[,;]\s+(?:and\s+)?(?=[*_`$]|[A-Za-z]{1,4}[ :=])|\s+and\s+(?=[*_`$]|[A-Za-z](?:\s|[:=]))"
)

_LETTERED = re.compile(
    r"(?:[*_`$]{1,3}(?P<marked>[A-Za-z#][\w/%.]{0,9})[*_`$]{1,3}|(?P<plain>[A-Za-z]{1,4}))"
    r"(?P<verb>\s*[=:–—]\s*|\s+(?:is|are|denotes|stands for|means|for|gives|holds)\s+|\s*\(|\s+)"
    r"(?:the |our )?(?P<what>[^,;]{2,80}?)"
)
"""A letter, or a short name, and what it stands for."""


def of_one_device(names: dict[str, str]) -> dict[str, str]:
    """Rates of one of what a letter of a key stands for: `tok/s/G`, where `G` are the devices."""
    devices = [name for name, meant in names.items() if configured_by(meant) == "gpus"]
    return {
        f"{rate}/{name}": f"{rate}/GPU"
        for name in devices for rate in _RATES if f"{rate}/{name}" not in names
    }  # fmt: skip


_RATES = ("tok/s", "tokens/s", "t/s", "TF", "TFLOPS", "TFLOP/s", "TFLOPs", "samples/s", "img/s")


_GOES_ON = deferred(
    r"[\s(]*[*_`]{1,2}([A-Za-z#%][\w/%#.-]{0,11})[*_`]{1,2} "
    r"((?:the|an?|what|how|peak|max|in|time|seconds|tokens|samples|number) [^;|]{2,90}?)[\s.)*_]*"
)
"""An item behind another that has the verb: `` `a` is one thing, `b` another``."""


def _keys(lines: Sequence[Line]) -> Iterator[list[tuple[str, str]]]:
    """The entries of each key: of a paragraph, or of a list."""
    for text, items in _paragraphs(lines):
        whole = _OPENS.sub("", text, count=1) if _OPENS.match(text) else text
        parts = items or [part for part in _APART.split(whole) if part]
        entries = [_ENTRY.fullmatch(part) for part in parts]
        if not items and entries and entries[0]:  # `a` is one thing, `b` another
            entries[1:] = [
                each or _GOES_ON.fullmatch(part)
                for each, part in zip(entries[1:], parts[1:], strict=True)
            ]
        told = [pair for each in entries if each for pair in _pairs(each[1], each[2])]
        if len(told) >= LEAST and 2 * sum(map(bool, entries)) > len(entries):
            yield told


_APART = re.compile(r"[;。；]|, (?=[*`])")


def _pairs(names: str, meant: str) -> list[tuple[str, str]]:
    """The labels of an entry, each with its meaning, where it has as many of them."""
    every = re.split(r"[*_`]*, ?[*_`]*", names)
    if len(every) == 1:
        return [(every[0], meant)]
    parts = re.split(r", ?(?![^()]*\))", meant)
    return list(zip(every, parts, strict=True)) if len(parts) == len(every) else []


def _paragraphs(lines: Sequence[Line]) -> Iterator[tuple[str, list[str]]]:
    """Each paragraph of prose in one line, and the items of each list."""
    prose: list[str] = []
    items: list[str] = []
    for line in (*lines, Line(0, "", 0, {})):
        text = line.text
        if text.startswith("#") and (sign := _COMMENT.match(text)):
            yield text[sign.end() :], []
        if text.strip() and not _NO_PROSE.match(text) and len(text) <= LONGEST:
            if found := _ITEM.match(text):
                items.append(text[found.end() :].strip())
                continue
            if items and text.startswith("  "):
                items[-1] += f" {text.strip()}"
                continue
            prose.append(text.strip())
            continue
        if len(prose) <= MOST:
            yield " ".join(prose), []
        if items:
            yield "", items
            yield from ((item, []) for item in items if item.count("`") >= 2 * LEAST)
        prose, items = [], []


MOST = 12
"""Lines of a paragraph that is a key."""

_THINGS = (
    r"(?:sequences|samples|images|utterances|examples|sentences|tokens|frames|clips|videos|crops|patches"
    r"|volumes|graphs|pairs)"
)

_DEVICE = r"(?:GPU|device|card|rank|chip|NPU|GCD|accelerator|tile)"

_REWRITTEN = (
    (deferred(r"`?(?:torch\.cuda\.)?max_memory_(?:allocated|reserved)\(\)`?"), "peak memory"),
    (deferred(r"^what (\S.{2,60}?) (?:says|reports?|shows?|prints?|returns?|gives)\b"), r"\1"),
    (deferred(r"\s*\((?:per|micro|of|in (?!G|M)|i\.e|model|see|one|mean|e\.g)[^()]*\)"), ""),
    (deferred(r" (?:of|on|for|over) (?:the |any |all )?(?:fullest|slowest|first|each|one|worst"
        r"|busiest"
              r"|rank 0|ranks?|GPUs?|devices?)(?: (?:rank|GPU|device|GCD|chip)s?)?\b"), ""),
    (deferred(r"(?:(?:mean|median|average|wall(?:[ -]clock)?) )*time (?:of|for|per) (?:an?|one"
        r"|each|every) "
              r"(?:(?:optimi[sz]er|training|full) )?(?:step|iteration)"), "step time"),
    (deferred(r"\b(?:and|per|on each|of one) (?:superchip|GCD|die|tile|chip|module)\b"), "per GPU"),
    (deferred(r"(?:,| in) \(?([GM]i?B|GB|GiB|ms|s|seconds|milliseconds|%)\)?$"), r" (\1)"),
    (deferred(r",? (?:incl|excl)(?:\.|uding|usive) [^()]{2,40}$"), ""),
    (deferred(r" of the whole job$"), " (total)"),
    (deferred(r"^peak ([GM]i?B)$"), r"peak memory (\1)"),
    (deferred(r"^(?:the |number of (?=pipeline|tensor))"), ""),
    (
        deferred(r"^(?:number of )?(?:sequences|samples|images|utterances)"
        r" (?:per|in (?:an?|each|one))"
        r" (?:(?:optimi[sz]er|training|global) )?(?:step|iteration|update|(?<=global )batch)$"),
        "global batch size",
    ),
    (
        deferred(rf"^(?:number of )?(?!tokens|frames){_THINGS} "
        rf"(?:per|on each|for each|of each|on one) {_DEVICE}$"),
        "micro batch size",
    ),
    (
        deferred(r"^(?:peak|max(?:imum)?|highest) ([GM]i?B)"
        r"(?: (?:per|on|of|over|across) .{1,30})?$"),
        r"peak memory (\1)",
    ),
    (
        deferred(rf"^({_THINGS})(?:/| per )s(?:ec(?:ond)?)?,? (?:summed|added up|in total|together)"
        rf"(?: (?:over|across|of|on) (?:all |the )*(?:job|run|{_DEVICE}s))?$"),
        r"\1/s (total)",
    ),
)  # fmt: skip


_IN_ORDER = deferred(
    r"\b[Cc]olumns(?: (?:are|give|show|list))?(?: from left to right)?(?:,? in "
    r"(?:this )?order)?[:,]? "
    r"([^:;.|]{10,300})[.;]?(?:\s|$)"
)


def in_order(text: str, count: int) -> list[str]:
    """The labels in full of as many columns as a text lists one after another; empty for those that
    no label of ours is.

    >>> in_order("Columns: number of nodes, what is sharded, step time in s.", 3)
    ['number of nodes', '', 'step time in s']
    """
    for found in _IN_ORDER.finditer(text):
        parts = re.split(r",(?: and)? (?![^()]*\))", found[1])
        if len(parts) == count:
            return [in_full(part) for part in parts]
    return []


def in_full(meant: str) -> str:
    """A meaning as a label says it; empty where no label of ours says so."""
    text = meant.strip(" .*`_")
    if _known(text):
        return text
    for pattern, instead in _REWRITTEN:
        text = pattern.sub(instead, text).strip()
        if _known(text):
            return text
    return ""


def _known(text: str) -> bool:
    told = said(text)
    return configured_by(text) is not None or (told is not None and told.unit_known)
