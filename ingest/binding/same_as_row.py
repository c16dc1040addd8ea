"""Tables whose runs are set up as that of one row of a table above.

In: the rows of a table, the paragraphs between it and the table before, and the tables above. Out:
the same rows, in place, with the settings of the row that one of these paragraphs refers to: `with
the config of run 4`, `the first row of the table above under several power limits`, `for the
16-node case, everything else the same`. Of what a row says itself, or is said right above it,
nothing is taken over, nor what goes along with a setting that is another one there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set

from assay.ingest.binding.comparing import differs_from
from assay.ingest.binding.mentions import Paragraph, sizes_in
from assay.ingest.columns.cells import number_of
from assay.ingest.columns.other_runs import sentences
from assay.ingest.prose.claims import COUNTS
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.row_words import SAME_FACT
from assay.ingest.statements.same_as import apart_from, goes_along
from assay.ingest.tables.captions import FIELD
from assay.ingest.vocabulary.terms import normalise

_A_SETUP = (
    r"(?:config(?:uration)?s?|settings?|set-?ups?|(?:hyper-?)?parameters|options|flags|arguments"
    r"|layout)"
)

_A_ROW = r"(?:runs?|rows?|lines?|configs?|configurations?|experiments?|cases?|entr(?:y|ies)|jobs?)"

_NAMED = deferred(
    rf"\b(?:{_A_SETUP} (?:of|from|as (?:in|for)|used (?:in|for)|like)|(?:same|identical) (?:as|to)"
    rf"|repeat(?:ed|s|ing)?|re-?ran|re-?run(?:ning)?|again) (?:the )?(?P<what>{_A_ROW}|test|trial) "
    r"#?(?P<name>[A-Za-z]?[0-9]{1,3}[a-z]?|[A-H])\b"
    r"(?! ?(?:,|and|&|to|-|–) ?#?[0-9A-H]\b|[.,][0-9])",
    re.IGNORECASE,
)
"""`with the config of run 4`, `settings as in row B2`."""

_COUNTED = {
    "first": 0, "top": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4,
    "last": -1, "bottom": -1, "letzten": -1, "ersten": 0, "dernière": -1, "première": 0,
    "最后一": -1, "第一": 0, "最後の": -1, "最初の": 0,
}  # fmt: skip

_IN_ORDER = deferred(
    rf"\b(?P<which>{'|'.join(_COUNTED)}) (?:(?:training|measured) )?{_A_ROW} (?:of|in|from) "
    r"(?:the |our |that )?(?:(?P<first>first table)|(?:(?:table|results?|list) above"
    r"|(?:above|previous|last|preceding) table))\b",
    re.IGNORECASE,
)
"""`the first configuration of the table above`."""

_WITH_IT = deferred(
    r"(?:^|; )\W*(?:with|using|for|from|on top of|starting from|taking|mit|avec) (?:the |der |la )?"
    r"(?P<which>first|second|third|fourth|fifth|last|letzten|ersten|dernière|première) "
    r"(?:of these )?"
    r"(?:config(?:uration)?|set-?up|settings?|layout|variant|Konfiguration|Einstellung)\b"
    r"[^.;:0-9]{0,24}?\b(?:also|again|now|then|next|further|vary|varied|swept|looked|repeated"
    r"|measured|auch|noch|dann|aussi|ensuite)\b"
    r"|^\W*(?:我们)?再?(?:用|以|在|使用|基于|采用)(?:上表)?的?(?P<han>最后一|第一)[个行种组]的?"
    r"(?:配置|设置)"
    r"|^\W*(?P<kana>最後の|最初の)(?:構成|設定)(?:で|を使って)",
    re.IGNORECASE,
)
"""How a sentence begins that goes on with a row of the table above: `With the last configuration we
also looked at`."""

_OF_COUNT = deferred(
    rf"\b(?:for|on|at|in|with|of) (?:the |our )?(?P<n>[0-9]{{1,5}}|{'|'.join(COUNTS)})[ -]"
    rf"(?P<unit>nodes?|servers?|machines?|GPUs?|NPUs?|TPUs?|cards?|chips?|devices?)[ -]{_A_ROW}\b",
    re.IGNORECASE,
)
"""`for the 16 node case`."""

_LIKE_COUNT = deferred(
    r"(?:^\W*(?:(?:all|these|this|everything|it|they)\b[^.;:]{0,16}? )?(?:the |exactly the )?"
    rf"(?:same|identical)|\b(?:same|identical)(?: [\w-]+)? {_A_SETUP}|\b(?:set up|configured))"
    r" (?:as|to|like)(?: (?:in|for|on|of|with|by))?(?: the| our)?"
    rf" (?P<n>[0-9]{{1,5}}|{'|'.join(COUNTS)})[ -](?P<unit>(?:node|server|machine|instance|[GNT]PU"
    rf"|card|chip|device)s?)[ -]{_A_ROW}\b",
    re.IGNORECASE,
)
"""`Same as the 8-node run above`, `with the same settings as the 16-GPU run`."""

_ALL_ELSE = deferred(
    r"\b(?:everything|all|anything)(?: else)?"
    r"(?: (?:is|was|being|kept|left|stays?|stayed|remain\w*)){0,2}"
    r" (?:the )?(?:same|unchanged|identical|fixed|as (?:it was|before|above))\b"
    r"|\b(?:otherwise|rest|others?)(?: (?:is|was|were|are))? (?:the )?(?:same|unchanged|identical"
    r"|as (?:before|above))\b|\b(?:same|identical) otherwise\b",
    re.IGNORECASE,
)

_OF_NOTHING = deferred(
    r"\b(?:not|nearly|almost|roughly|unlike|similar|would|could|should|can|may|might|why|whether|than"
    r"|compared?|vs|versus|faster|slower)\b|[?？]",
    re.IGNORECASE,
)
"""Words of a sentence that does not say of the runs below that they were set up so."""

_LABELS = {
    "run", "row", "#", "id", "no", "nr", "config", "configuration", "exp", "experiment", "case",
    "runid", "test", "trial", "setup", "name", "line", "entry", "job", "",
}  # fmt: skip
"""Labels of columns by which rows are referred to, in one spelling."""

_NODES = re.compile("node|server|machine|instance", re.IGNORECASE)


def set_up_like(
    table: Sequence[Record],
    paragraphs: Sequence[Paragraph],
    above: Sequence[Sequence[Record]],
    spoken: Sequence[Set[str]],
) -> None:
    """Fill rows of a table, in place, with the settings of the one row of a table `above` that the
    paragraphs right above it refer to; `spoken` are fields that each row's own words speak of."""
    found = [told for each in paragraphs for told in _references(each, above)] if above else []
    if not found or any(row.alike for row in table):
        return
    sentence, row, begin = found[0]
    if any(other is not row for _, other, _ in found):
        return
    apart = {*apart_from(_LIKE_COUNT.sub("as it", sentence), ())}
    for each, own in zip(table, spoken, strict=True):
        _take_over(each, row, apart | own, begin)


def _references(
    paragraph: Paragraph, above: Sequence[Sequence[Record]]
) -> Iterator[tuple[str, Record, int]]:
    """The sentences of a paragraph that refer to a row of a table, each with that and where its
    paragraph begins."""
    if paragraph.heading or paragraph.explains:
        return
    for sentence in sentences(paragraph.text):
        row = _row_of(sentence, above)
        if row is None or row.alike or _OF_NOTHING.search(_IN_BRACKETS.sub(" ", sentence)):
            continue
        sizes, own = sizes_in(sentence), sizes_in(_model_of(row))
        if not (sizes and own) or sizes & own:
            yield sentence, row, paragraph.first


_IN_BRACKETS = re.compile(r"\([^()]{1,160}\)")


def _model_of(row: Record) -> str:
    cell = row.cells.get("model")
    return cell.text if cell else ""


def _row_of(sentence: str, above: Sequence[Sequence[Record]]) -> Record | None:
    """The one row that a sentence refers to; None where it refers to none, or to several."""
    if found := _NAMED.search(sentence):
        for table in reversed(above):
            rows = [row for row in table if _is_called(row, found["what"], found["name"])]
            if rows:
                return rows[0] if len(rows) == 1 else None
        return None
    if found := _IN_ORDER.search(sentence) or _WITH_IT.search(sentence):
        told = found.groupdict()
        table = above[0] if told.get("first") else above[-1]
        at = _COUNTED[(told["which"] or told.get("han") or told["kana"]).casefold()]
        each_its_line = len({row.line for row in table}) == len(table)
        return table[at] if each_its_line and -len(table) <= at < len(table) else None
    if found := _LIKE_COUNT.search(sentence):
        counted = (_counted_so(table, found) for table in reversed(above))
        rows = next((rows for rows in counted if rows), [])
        return rows[0] if len(rows) == 1 else None
    if (found := _OF_COUNT.search(sentence)) and _ALL_ELSE.search(sentence):
        rows = _counted_so(above[-1], found)
        return rows[0] if len(rows) == 1 else None
    return None


def _counted_so(table: Sequence[Record], found: re.Match[str]) -> list[Record]:
    """The rows of a table on as many devices or nodes as words say."""
    word = found["n"].casefold()
    count = float(word if word.isdecimal() else COUNTS[word])
    name = "nodes" if _NODES.match(found["unit"]) else "gpus"
    cells = ((row, row.cells.get(name)) for row in table)
    return [
        row for row, cell in cells if cell and cell.state == "value" and number_of(cell) == count
    ]


def _is_called(row: Record, what: str, name: str) -> bool:
    """Whether a row has a name under a label of such names, or under the word for it."""
    word = normalise(what).rstrip("s")
    return any(
        text.strip(" #*`").casefold() == name.casefold()
        and (normalise(label) in _LABELS or normalise(label).rstrip("s") == word)
        for label, text in row.other
    )


_TAKEN_OVER = frozenset(
    {name for name, spec in fields(Configuration).items() if spec.configuration} | {FIELD}
)


def _take_over(row: Record, other: Record, apart: Set[str], begin: int) -> None:
    """Give a row the settings of another one, but for those of some fields, and for what it says
    itself or is said in line `begin` or below."""
    own = {
        name: cell for name, cell in row.cells.items()
        if _is_near(cell, begin) and not (name in _COUNTS and _is_that_of(cell, begin))
    }  # fmt: skip
    apart = apart | {
        along for name, cell in own.items()
        if name in other.cells and differs_from(cell, other.cells[name])
        for along in goes_along(name)
    }  # fmt: skip
    closed = own.keys() | {fact for name in own for fact in SAME_FACT.get(name, ())} - _COUNTS
    for name, cell in _settings_of(other).items():
        if name not in closed and name not in apart:
            row.cells[name] = cell


_COUNTS = {"gpus", "nodes"}


def _is_near(cell: Cell, begin: int) -> bool:
    printed = cell.value_origin in ("printed", "corrected")
    return cell.value_origin != "assumed" and (printed or cell.line >= begin)


def _is_that_of(cell: Cell, begin: int) -> bool:
    """Whether a count is open only for what a paragraph says, which is on how many that row ran."""
    return cell.state == "unknown" and cell.value_origin == "stated" and cell.line >= begin


def _settings_of(row: Record) -> Mapping[str, Cell]:
    """The settings that a row has, as they are stated of others."""
    return {
        name: cell._replace(value_origin="stated") if cell.value_origin == "printed" else cell
        for name, cell in row.cells.items()
        if name in _TAKEN_OVER and cell.state == "value"
    }
