"""Settings that a text corrects: what it has said before, and what it should have.

In: the lines of a document, and its statements. Out: the same statements, the right number in those
of the section that say the wrong one. A sentence corrects where it names the setting, contrasts two
numbers (`512, not 256`, `should read 512 instead of 256`), and speaks of a mistake; where nothing
has said the wrong number of that setting, it corrects nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from assay.ingest.columns.cells import number_of
from assay.ingest.grids.grid import LONGEST
from assay.ingest.prose.scopes import KEYS, paragraphs
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Line, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.context import Context
from assay.ingest.statements.values import cell_of


class Correction(NamedTuple):
    """The fields that a number may be of, what was said and what is right, and on which lines; one
    of some rows alone leaves open what they have."""

    fields: frozenset[str]
    wrong: str
    right: str
    lines: range
    of_some: bool


_N = "[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,9}"

_THINGS = "(?: (?:sequences|samples|tokens|GPUs|nodes|steps|ways?))?"

_WENT = "(?:was|were|is|are|ran|used|says?|said|reads?|stood|(?:has|have|had) been|stated|claimed)"

_CONTRAST = deferred(
    rf"(?<![\w.,])(?P<right>{_N}){_THINGS}(?:,? (?:and|but)|,)? (?:not|instead of|rather than)"
    rf"(?: (?:the|an?|as|stated|claimed|written|printed|reported|at|our))*"
    rf" (?P<wrong>{_N})(?![\w.]\w)"
    rf"|\bnot (?P<said>{_N}){_THINGS},? but(?: (?:was|were|is|rather|in fact|actually))*"
    rf" (?P<so>{_N})(?![\w.]\w)"
    rf"|(?<![\w.,])(?P<was>{_N}){_THINGS} (?:\([^()]{{0,40}}\) )?should (?:be|read|say|have (?:been"
    rf"|read|said)) (?P<is>{_N})(?![\w.]\w)",
    re.IGNORECASE,
)
"""Two numbers of which one takes the place of the other."""

_MISTAKEN = deferred(
    r"\b(?:wrong(?:ly)?|mistakes?|mistaken(?:ly)?|typos?|err(?:or|ors|atum|ata)|correct(?:s|ed"
    r"|ion|ions)?|should (?:be|read|say|have)|actually|in fact|turn(?:s|ed) out|notic(?:ed|es)"
    rf"|overlooked|misread|misprint\w*|misreported|still {_WENT}|left ?over|by accident"
    r"|accidentally)\b",
    re.IGNORECASE,
)

_KEY = deferred(
    r"\b(?P<key>TP|PP|CP|DP|EP|MBS|GBS|GAS?|(?:(?:micro|global)[ -]?)?batch(?:[ -]?size)?"
    r"|(?:sequence|context)[ -]length|seq(?:[ _]?len)?|nodes|GPUs|layers|heads"
    r"|(?:tensor|pipeline|expert|context|data)[ -]parallelism)\b",
    re.IGNORECASE,
)

_NO_FACT = deferred(r"\?|\b(?:if|would|could|might|may|unless|whether)\b", re.IGNORECASE)

_OF_SOME = deferred(
    r"\b(?:rows?|lines?|entr(?:y|ies)|columns?|(?:runs?|tables?) (?-i:[0-9A-Z])"
    r"|(?:first|second|third|last|other) (?:\w+ )?(?:one|run|table|two|three|half|section))\b",
    re.IGNORECASE,
)
"""Words of a sentence that corrects some rows alone."""

_BATCHES = frozenset({"global_batch", "micro_batch", "batch_size"})

_ENDS = deferred(r"(?<=[\w)*`%\"”])[.;!?] +(?=[A-Z`*(-])")


def correct(context: Context, lines: Sequence[Line], tabled: Set[int]) -> set[int]:
    """Put what a document corrects into the statements of `context` that say it wrong, in the
    sections around it and in its own; of a correction for some rows alone it is not known who has
    what. The lines that correct; `tabled` are rows of tables."""
    prose = [line for line in lines if line.number not in tabled and len(line.text) <= LONGEST]
    at, used = {line.number: line for line in prose}, set[int]()
    heads = [line for line, _ in context.sections]
    for told in corrections((line.number, line.text) for line in prose):
        begun = bisect_right(heads, told.lines[0]) - 1
        where = context.sections[begun][1] if begun >= 0 else ()
        wrong = [
            each for each in context.statements
            if each.line not in told.lines and not told.fields.isdisjoint(each.values)
            and each.section[: len(where)] == where[: len(each.section)]
        ]  # fmt: skip
        line = next((at[n] for n in told.lines if told.right in at[n].text), at[told.lines[0]])
        mended = {id(each): new for each in wrong if (new := _mended(each, told, line))}
        if mended:
            context.statements = [mended.get(id(each), each) for each in context.statements]
            used.update(told.lines)
    return used


def _mended(statement: Statement, told: Correction, line: Line) -> Statement | None:
    """A statement with the right number; None where it does not say the wrong one."""
    values = dict(statement.values)
    for name in told.fields & values.keys():
        if number_of(values[name]) == float(told.wrong):
            cell = cell_of(fields(Configuration)[name], told.right, line)
            left = values[name]._replace(state="unknown")
            values[name] = left if told.of_some or cell is None else cell
    return replace(statement, values=values) if values != dict(statement.values) else None


def corrections(texts: Iterable[tuple[int, str]]) -> Iterator[Correction]:
    """The corrections among lines, each with its number.

    >>> told = corrections([(7, "Erratum: the global batch size should read 512, not 256.")])
    >>> [(list(each.fields), each.wrong, each.right) for each in told]
    [(['global_batch'], '256', '512')]
    >>> list(corrections([(7, "We use a global batch size of 512 and not 256.")]))
    []
    """
    for numbers, text in paragraphs(texts):
        for sentence in _ENDS.split(text) if _MISTAKEN.search(text) else ():
            if _MISTAKEN.search(sentence) and not _NO_FACT.search(sentence):
                yield from _corrected(sentence, numbers)


def _corrected(sentence: str, numbers: range) -> Iterator[Correction]:
    """The correction in a sentence, if it is one of one setting."""
    told = [*_CONTRAST.finditer(sentence)]
    keys = {_fields(each["key"]) for each in _KEY.finditer(sentence)}
    if len(told) != 1 or len(keys) != 1:
        return
    (found,), (fields,) = told, keys
    right, wrong = (
        next(filter(None, (found[name] for name in names))).replace(",", "")
        for names in (("right", "so", "is"), ("wrong", "said", "was"))
    )
    if fields and right != wrong:
        yield Correction(fields, wrong, right, numbers, _OF_SOME.search(sentence) is not None)


def _fields(key: str) -> frozenset[str]:
    """The fields that a word may name; a batch is anybody's."""
    bare = re.sub("[ _-]", "", key.casefold())
    if bare in ("batch", "batchsize"):
        return _BATCHES
    named = KEYS.get(bare) or ("seq_len" if bare.startswith("seq") else "")
    return frozenset({named} if named else ())
