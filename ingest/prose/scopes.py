"""What a sentence gives some rows and other rows otherwise, by their models, sizes or devices.

In: a sentence. Out: `Scoped` values: a field, its value, and the name of the rows that have it:
`7B`, `Llama-3.1 8B`, `H100`, or all models of a range (`up to 2.7B`, `from 30B`). A sentence is
understood where values and names take turns: `checkpointing off for 1B and 3B and on for 7B`,
`models up to 2.7B run without recomputation, 6.7B with selective recomputation`; else it gives
nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import devices

_SIZE = r"[0-9]+(?:\.[0-9]+)? ?[BMT]"

_NAMED = rf"(?:[A-Z][\w.+]*[- ](?:[0-9.]{{1,4}}[- ])?)?{_SIZE}(?![\w/%])(?:-[A-Za-z][\w-]{{0,12}})?"

_FAMILY = r"[A-Z][A-Za-z]{2,}[\w.+-]{0,12}"

_ONE = deferred(rf"(?:the |our |both )?(?:{_NAMED})(?: (?:models?|runs?|one))?")

_RANGE = deferred(
    r"(?P<most>(?:up to|≤|<=|not (?:larger|bigger) than|at most) ?(?:and including )?)(?:the )?"
    rf"({_SIZE})\b"
    rf"|(?P<under>(?:below|under|<|(?:smaller|less) than) ?)(?:the )?({_SIZE})\b"
    r"|(?P<least>(?:from|≥|>=|at least|starting (?:at|from)) ?)(?:the )?"
    rf"({_SIZE})\b(?: (?:on|upwards?|up))?"
    rf"|(?P<over>(?:above|over|>|beyond|(?:larger|bigger|more) than) ?)(?:the )?({_SIZE})\b"
    rf"|(?:the )?({_SIZE}) and (?:(?P<up>above|larger|bigger|up|over|upwards?)"
    r"|(?P<down>below|smaller|under))\b",
    re.IGNORECASE,
)

_OF = {"most": "up to", "under": "below", "least": "from", "over": "above", "up": "from",
       "down": "up to"}  # fmt: skip

_BETWEEN = deferred(
    r"\s*(?:,|,? and|,? or|&|/|,? as well as)\s*(?:the |for |on |with )?$", re.IGNORECASE
)
"""Between the names of one list."""

_AGAIN = r"(?:re-?comput\w*|check-?point\w*|remat(?:eriali[sz]\w+)?|ckpt|AC\b)"

_KIND = r"(?:(?:activation|gradient|act\.|grad\.) ?)?"

_VALUES = deferred(
    rf"(?P<none>\b(?:without|no|w/o)(?: any)? {_KIND}{_AGAIN}"
    rf"|\b{_KIND}{_AGAIN} (?:is |was |turned )?(?:off|disabled)\b)"
    rf"|(?P<selective>\bselective(?:ly)?(?: {_KIND}{_AGAIN})?)"
    rf"|(?P<full>\bfull {_KIND}{_AGAIN}"
    r"|\b(?:re-?comput\w*|check-?point\w*)(?: of)? (?:every|each|all) (?:layers?|blocks?)"
    r"|\b(?:every|each) (?:layer|block) (?:is |was )?(?:re-?computed|check-?pointed)"
    r"|\bfull\b(?! (?:batch|node|size)))"
    r"|(?P<on>\b(?:on|enabled)\b ?(?:\((?P<every>[^()]*(?:every|each|all|full)[^()]*)\))?"
    r"(?= (?:for|on|in|with)\b|[.;,]|$))"
    r"|(?P<off>\b(?:off|disabled|none)\b(?= (?:for|on|in|with|except|apart|other)\b|[.;,)]|$))"
    r"|(?P<key>\b(?:TP|PP|CP|DP|EP|VPP?|MBS|GBS|GAS?)) ?[=:]? ?(?P<many>[0-9]{1,5})\b"
    r"(?![.,]?[0-9])"
    r"|(?P<count>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,6})[ -](?P<noun>layers|heads|blocks)\b",
    re.IGNORECASE,
)

_KEYS = {"tp": "tp", "pp": "pp", "cp": "cp", "dp": "dp", "ep": "ep", "vp": "vp", "vpp": "vp",
         "mbs": "micro_batch", "gbs": "global_batch", "ga": "accumulation", "gas": "accumulation",
         "layers": "layers", "blocks": "layers", "heads": "heads"}  # fmt: skip

_WORTH = deferred(
    rf"{_AGAIN}|\b(?:TP|PP|CP|DP|EP|VPP?|MBS|GBS|GAS?) ?[=:]? ?[0-9]|[0-9][ -](?:layers|heads)",
    re.IGNORECASE,
)
"""In every sentence that may give such a value."""

_SPEAKS_OF_IT = deferred(_AGAIN, re.IGNORECASE)

_GIVEN_TO = deferred(
    r"(?:\b(?:for|on|at|in|with|of)|\() ?(?:all |the |our |both |models? )*$", re.IGNORECASE
)
"""Before the names of those that have a value said in front of them."""

_EXCEPT = deferred(
    r"\b(?:except|apart from|other than|besides|but not)(?: for| on| at| of)?(?: the)? ?$",
    re.IGNORECASE,
)


class Scoped(NamedTuple):
    """A field, its value, and the name of the rows that have it; none of all the others."""

    field: str
    value: str
    rows: str


class _Token(NamedTuple):
    """Names or values of a sentence, and where they stand."""

    begin: int
    end: int
    names: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()


def scoped(text: str) -> list[Scoped]:
    """What a sentence gives some rows and others otherwise.

    >>> [tuple(each) for each in scoped("Checkpointing is off for 1B and 3B and full for 7B.")]
    [('recompute', 'none', '1B'), ('recompute', 'none', '3B'), ('recompute', 'full', '7B')]
    >>> [each[1:] for each in scoped("Models up to 2.7B run without recomputation, 13B selective.")]
    [('none', 'up to 2.7B'), ('selective', '13B')]
    >>> [tuple(each) for each in scoped("We run it with EP 8, TP 1, PP 4 (H100) or PP 2 (B200).")]
    [('pp', '4', 'H100'), ('pp', '2', 'B200')]
    >>> scoped("The 70B needs TP 8 on H100."), scoped("We use TP 8.")
    ([], [])
    """
    if not _WORTH.search(text):
        return []
    tokens = _joined(sorted([*_values(text), *_names(text)]), text)
    if but := _but_for_some(tokens, text):
        return but
    names = [token for token in tokens if token.names]
    if len(names) < TWO or any(bool(a.names) == bool(b.names) for a, b in pairwise(tokens)):
        return []
    if tokens[0].names:  # `X without, Y with selective recomputation`
        pairs = list(zip(names, [token for token in tokens if token.values], strict=False))
        pairs = pairs if tokens[-1].values else []
    else:
        pairs = list(zip(names, [token for token in tokens if token.values], strict=False))
        pairs = pairs if tokens[-1].names and all(_is_given(each, text) for each in names) else []
    told = [{field for field, _ in values.values} for _, values in pairs]
    common = set.intersection(*told) if told else set[str]()
    found = [
        Scoped(field, value, name)
        for who, values in pairs
        for name in who.names
        for field, value in values.values
        if field in common
    ]
    return found if len({(each.field, each.rows) for each in found}) == len(found) else []


TWO = 2


def _but_for_some(tokens: Sequence[_Token], text: str) -> list[Scoped]:
    """The same where all rows but some have a value, and those perhaps another one, behind their
    names; what they have is not known else.

    >>> [tuple(each) for each in scoped("Checkpointing is off except for the 34B and 70B.")]
    [('recompute', 'none', ''), ('recompute', '', '34B'), ('recompute', '', '70B')]
    """
    kinds = [bool(token.names) for token in tokens]
    if kinds not in ([False, True], [False, True, False]):
        return []
    first, those, *rest = tokens
    if not _EXCEPT.search(text[: those.begin]) or len(first.values) != 1:
        return []
    ((field, value),) = first.values
    other = dict(rest[0].values).get(field, "") if rest else ""
    return [Scoped(field, value, ""), *(Scoped(field, other, name) for name in those.names)]


def _is_given(names: _Token, text: str) -> bool:
    before = text[: names.begin]
    return _GIVEN_TO.search(before) is not None and _EXCEPT.search(before) is None


def _values(text: str) -> Iterator[_Token]:
    of_it = _SPEAKS_OF_IT.search(text) is not None
    for found in _VALUES.finditer(text):
        if found["key"]:
            yield _Token(*found.span(), values=((_KEYS[found["key"].casefold()], found["many"]),))
        elif found["noun"]:
            said = found["count"].replace(",", "")
            yield _Token(*found.span(), values=((_KEYS[found["noun"].casefold()], said),))
        elif of_it:
            how = "none" if found["none"] or found["off"] else ""
            how = how or ("selective" if found["selective"] else "")
            how = how or ("full" if found["full"] or found["every"] else "")
            said = ("recompute", how) if how else ("activation_checkpointing", "True")
            yield _Token(*found.span(), values=(said,))


def _names(text: str) -> Iterator[_Token]:
    """Names of models, their sizes, ranges of them, and devices, each alone."""
    taken: list[tuple[int, int]] = []
    for found in _RANGE.finditer(text):
        size = next(filter(None, (found[n] for n in (2, 4, 6, 8, 9))))
        kind = next(name for name in _OF if found[name])
        taken.append(found.span())
        yield _Token(*found.span(), names=(f"{_OF[kind]} {size.replace(' ', '')}",))
    for device in devices(text):
        taken.append((device.start, device.end))
        yield _Token(device.start, device.end, names=(device.text,))
    for found in _ONE.finditer(text):
        if not any(a < found.end() and found.start() < b for a, b in taken):
            bare = re.sub(r"^(?:the|our|both) | (?:models?|runs?|one)$", "", found[0])
            yield _Token(*found.span(), names=(bare,))


def _joined(tokens: Iterable[_Token], text: str) -> list[_Token]:
    """Tokens with the names of one list as one, and the values of one list; names of another kind
    than those before them (`70B on H100`) are left apart."""
    found: list[_Token] = []
    for token in tokens:
        last = found[-1] if found else None
        if last is None or bool(last.names) != bool(token.names):
            found.append(token)
        elif token.names and _BETWEEN.match(text[last.end : token.begin]):
            found[-1] = last._replace(end=token.end, names=(*last.names, *token.names))
        elif token.values and _near(text[last.end : token.begin]):
            found[-1] = last._replace(end=token.end, values=(*last.values, *token.values))
        else:
            found.append(token)
    return [each._replace(values=_once(each.values)) for each in found]


def _near(between: str) -> bool:
    return len(between) <= MOST_BETWEEN and not re.search(r"[.;:]", between)


MOST_BETWEEN = 12
"""Letters between two values of one list."""


def _once(values: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys(values))


def is_range(rows: str) -> bool:
    """Whether the name of some rows is that of a range of models: `up to 2.7B`."""
    return _IN_RANGE.fullmatch(rows) is not None


def size_of(name: str) -> float | None:
    """The size of a model by a name that is nothing else: `2.7B`; None of any other."""
    found = _A_SIZE.fullmatch(name)
    return float(found[1]) * _SCALES[found[2].upper()] if found else None


_A_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([BMTbmt])")

_SCALES = {"M": 1e6, "B": 1e9, "T": 1e12}


def in_range(size: float, rows: str) -> bool | None:
    """Whether a model of some size is of a range; None of what is no range.

    >>> in_range(2.7e9, "up to 2.7B"), in_range(30e9, "above 30B"), in_range(7e9, "7B")
    (True, False, None)
    """
    found = _IN_RANGE.fullmatch(rows)
    if found is None:
        return None
    limit = float(found[2]) * _SCALES[found[3].upper()]
    alike = abs(size - limit) <= 1e-6 * limit
    over, under = size > limit, size < limit
    return {"up to": under or alike, "below": under and not alike, "from": over or alike,
            "above": over and not alike}[found[1]]  # fmt: skip


_IN_RANGE = re.compile(r"(up to|below|from|above) ([0-9.]+) ?([BMTbmt])")


def paragraphs(texts: Iterable[tuple[int, str]]) -> Iterator[tuple[range, str]]:
    """The texts of consecutive lines, each behind the lines that it stands in."""
    held: list[tuple[int, str]] = []
    for number, text in chain(texts, [(-1, "")]):
        if held and (number != held[-1][0] + 1 or not text.strip() or _BEGINS.match(text)):
            lines = range(held[0][0], held[-1][0] + 1)
            yield lines, " ".join(each.strip() for _, each in held)
            held = []
        if text.strip():
            held.append((number, text))


_BEGINS = re.compile(r"\s*(?:[-*+•]|[0-9]+[.)]|#|>)\s")
"""Beginning of an item, of a heading or of a quotation."""
