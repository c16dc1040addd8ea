"""Settings that the prose of a document mentions, clause by clause, and whom each clause is about.

In: the lines of a document. Out: `Clause` values: what each clause of the prose says of a
configuration, the sizes of models and the devices that it names, and where it stands. A clause is
left out that may be of no run of its document: a condition, a wish, a comparison, another time. Of
a clause that gives two values of a setting, that setting is not known.

A sentence that is understood as a whole is a statement (`assay.ingest.statements.context`); a
clause is for rows of which no statement says a setting (`assay.ingest.binding.mentioned`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import NamedTuple

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.footnotes import of_other_rows
from assay.ingest.columns.number_formats import of_products
from assay.ingest.columns.other_runs import of_the_trained, of_these_runs, sentences
from assay.ingest.columns.titles import EACH_ITS_OWN, model_named
from assay.ingest.prose.claims import among_several
from assay.ingest.prose.counted_machines import counted_otherwise
from assay.ingest.prose.scopes import WHOSE, is_beyond, scoped
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.nested import HEADING, blocks_in
from assay.ingest.statements.one_line import but_for_some
from assay.ingest.statements.phrases import MEASURED, but_for_a_number, of_one, phrases
from assay.ingest.statements.sentences import both_ways, of_every_run
from assay.ingest.statements.wrapped import EACH_ADDS
from assay.ingest.vocabulary.devices import devices, signed
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, TOKENS


class Clause(NamedTuple):
    """The settings that a part of a sentence mentions, and whom it is about."""

    values: Mapping[str, Cell]
    sizes: frozenset[str]
    devices: frozenset[str]
    formats: frozenset[str]  # for which its numbers are
    of_all: bool  # its sentence is of every run
    text: str
    tables: frozenset[str] = frozenset()  # whose runs its sentence is of, by their numbers


_LEADS_AWAY = deferred(
    r"(?<=[.;] )(?:[Pp]lease )?(?:[Ss]ee|[Vv]isit|[Rr]efer to|[Cc]onsult|[Cc]heck|[Ll]ook at)\b"
    r"[^.;]{1,80}?\b(?:pages?|docs?|documentation|guides?|link|README)\b"
    r"(?:[^.;]|[.](?=[^ ])){0,160}? (?:for|about|on) (?:the )?[^.;]{1,80}[.;]?"
    r"|(?<=[。；])关于[^。；]{1,40}(?:请?参?[见考阅]|在)[^。；]{0,40}(?:页面|文档|链接)[^。；]{0,20}"
)
"""A sentence that says where else something is: `See this page for the A100.`"""


@dataclass(frozen=True)
class Paragraph:
    """Consecutive lines of prose, or a heading; what its clauses mention is read when asked for."""

    lines: tuple[Line, ...]
    heading: bool
    behind_table: bool
    """Whether a table, or code, stands between the paragraph before and this one."""
    behind_rule: bool
    """Whether a rule does."""

    @property
    def first(self) -> int:
        """Its first line."""
        return self.lines[0].number

    @property
    def item(self) -> bool:
        """Whether the paragraph is an item of a list."""
        return not self.heading and _BEGINS.match(self.lines[0].text) is not None

    @property
    def explains(self) -> bool:
        """Whether the paragraph explains a sign or a word of a table."""
        first = self.lines[0].text
        return _DEFINES.match(first) is not None or _FOOTNOTE.match(first) is not None

    @cached_property
    def text(self) -> str:
        """Its lines without markup, one behind the other."""
        whole = "".join(f"{_unmarked(line.text)} " for line in self.lines)
        whole = _LEADS_AWAY.sub(lambda found: " " * len(found[0]), whole)
        return _IN_GROUPS.sub(lambda found: found[0].translate(_BLANKS), whole)

    @cached_property
    def of_models(self) -> tuple[tuple[int, int, Clause], ...]:
        """Where the clauses begin and end that name a size of a model, whatever they mention, with
        the values that their sentences give some rows and others otherwise."""
        found: list[tuple[int, int, Clause]] = []
        at = 0
        for sentence in sentences(self.text):
            begin, at = at, at + len(sentence)
            each = scoped(sentence) if sizes_in(sentence) else ()
            apart = {one.field: Cell(one.value, 0) for one in each}
            for start, part in _parts(sentence) if sizes_in(sentence) else ():
                if sizes := sizes_in(_OF_SOME.sub(_blank, _USED_OF_IT.sub(_blank, part))):
                    clause = Clause(apart, sizes, frozenset(), frozenset(), of_all=False, text=part)
                    found.append((begin + start, begin + start + len(part), clause))
        return tuple(found)

    def clause_at(self, line: int, column: int) -> Clause | None:
        """The clause that names a size of a model in which a place in one of the lines stands."""
        place = self._place(line, column)
        return next((c for a, b, c in self.of_models if a <= place < b), None)

    def sentence_of(self, cell: Cell) -> str:
        """The sentence that a cell of one of the lines stands in: by its column, or the only one
        that has its text, or else the only one; empty where neither is one: a value may be told in
        other words, `full` of `完全重计算`."""
        place, at = self._place(cell.line, cell.column), 0
        having = [text for text in sentences(self.text) if cell.text in text]
        for text in sentences(self.text):
            if at <= place < at + len(text) and text in having:
                return text
            at += len(text)
        having = having or [text for text in sentences(self.text) if text.strip()]
        return having[0] if len(having) == 1 else ""

    def sentence_around(self, cell: Cell) -> tuple[str, int]:
        """The same by its column, for a value that is told in other words, or `sentence_at`."""
        place = self._place(cell.line, cell.column)
        if place >= 0 and cell.text in ("True", "False"):
            held = (each for each in self.sentences_placed() if 0 <= place - each[0] < len(each[1]))
            return next(((text, place - at) for at, text in held), ("", 0))
        return self.sentence_at(cell)

    def sentence_at(self, cell: Cell) -> tuple[str, int]:
        """The sentence in which a cell of one of the lines stands, and where in it: by its column,
        where its label or its text begins, or where its text is the only one; else empty."""
        place = self._place(cell.line, cell.column)
        if place < 0 or self.text.find(cell.text, place, place + len(cell.text) + LABEL) < 0:
            place = self.text.find(cell.text) if self.text.count(cell.text) == 1 else -1
        held = (each for each in self.sentences_placed() if 0 <= place - each[0] < len(each[1]))
        return next(((text, place - at) for at, text in held if place >= 0), ("", 0))

    def sentences_from(self, cell: Cell) -> tuple[str, int]:
        """The sentence of a cell with the few that follow it, and where it stands in them."""
        sentence, at = self.sentence_at(cell)
        every = [text for _, text in self.sentences_placed()]
        first = every.index(sentence) if sentence in every else 0
        return "".join(every[first : first + FOLLOWING]) if sentence else "", at

    def sentences_placed(self) -> Iterator[tuple[int, str]]:
        """Its sentences, and where in its text each begins."""
        at = 0
        for text in sentences(self.text):
            yield at, text
            at += len(text)

    def _place(self, line: int, column: int) -> int:
        """Where in the text a place in one of the lines is; -1 in none of them."""
        for each, start in zip(self.lines, self._starts, strict=False):
            if each.number == line:
                return start + column - each.column
        return -1

    def instead_of(self, name: str, cell: Cell) -> Cell | None:
        """The cell that the whole of a sentence gives a setting where the line of a cell that is a
        part of it says something else by itself; None where it says the same, less or nothing."""
        if len(self.lines) == 1:
            return None
        told = [clause.values[name] for clause in self.clauses if name in clause.values]
        told = [other for other in told if (other.text, cell.text) not in SAYS_LESS]
        texts = {other.text for other in told}
        return told[0] if len(texts) == 1 and cell.text not in texts else None

    @cached_property
    def of_others(self) -> tuple[Clause, ...]:
        """Clauses of a note that some rows point to which are of all the others."""
        if not _FOOTNOTE.match(self.lines[0].text):
            return ()
        found = of_other_rows(self.text)
        text = " " * found.end() + self.text[found.end() :] if found else ""
        return tuple(map(self._placed, _clauses(text)))

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses; none of a paragraph that explains a sign or a word of a table."""
        return () if self.explains else tuple(map(self._placed, _clauses(self.text)))

    def _placed(self, clause: Clause) -> Clause:
        return clause._replace(values={n: self.placed(c) for n, c in clause.values.items()})

    def placed(self, cell: Cell) -> Cell:
        """A cell by its place in the text, where it stands in its line."""
        at = min(bisect_right(self._starts, cell.column), len(self.lines)) - 1
        line = self.lines[at]
        place = line.column + cell.column - self._starts[at]
        return cell._replace(line=line.number, column=place)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins in the text."""
        return [0, *accumulate(len(line.text) + 1 for line in self.lines)]


def paragraphs_of(lines: Sequence[Line], tabled: Set[int], taken: Set[int]) -> list[Paragraph]:
    """The paragraphs of a document, but for those of code and of tables; a heading is its own.

    Rows of tables stand in the lines `tabled`; of others that are `taken` notes on rows are prose.
    """
    blocks = blocks_in(lines)
    found: list[Paragraph] = []
    held: list[Line] = []
    apart = ruled = False  # whether a table, or a rule, stands above

    def close() -> None:
        nonlocal apart, ruled
        if held:
            heading = HEADING.match(held[0].text) is not None
            found.append(Paragraph(tuple(held), heading, apart, ruled))
            held.clear()
            apart = ruled = False

    for line in lines:
        blank = not line.text.strip()
        other = line.number in blocks or line.number in tabled or bool(line.prefix)
        other |= line.number in taken and not _FOOTNOTE.match(line.text)
        prose = not (blank or other) and len(line.text) <= LONGEST
        prose = prose and not _OF_A_TABLE.match(line.text)
        opens = _BEGINS.match(line.text) is not None or _RAISED.match(line.text) is not None
        apart_from = held and line.number != held[-1].number + 1
        if not prose or opens or apart_from or len(held) == MOST_IN_ONE:
            close()
        rule = other is False and _RULE.fullmatch(line.text) is not None
        ruled |= rule
        apart |= not (prose or blank or rule or _OPENS_NO_TABLE.match(line.text))
        if prose:
            held.append(line._replace(text=of_the_trained(line.text)))
            if HEADING.match(line.text):
                close()
    close()
    return found


SAYS_LESS = {("FSDP", "FULL_SHARD"), ("HSDP", "HYBRID_SHARD")}
"""A word of a text, and what says the same of runs and more."""

_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*|\s*<hr ?/?>\s*")

_DEFINES = deferred(
    r"\s*(?:(?:[-*+]|[0-9]{1,2}[.)]) +)?"
    r"`{1,2}[^`]{1,40}`{1,2}\s*(?:[:=–—]|-{1,2} |\bmeans\b|\bis\b)"
)
"""How a line begins that says what a word of a table stands for."""

_FOOTNOTE = deferred(
    r"\s*(?:[†‡§¶¹²³⁴⁵⁶ᵃᵇᶜ]{1,3}|\\\*{1,3}|\*(?=[A-Za-z(])(?!.*\*)"
    r"|\^\S|\[\^?\w{1,6}\]:?|\(?[a-z]\)|<sup>) ?(?=\S)"
)
"""How a note begins that rows point to."""

_RAISED = re.compile(r"\s*<sup\b[^<>]*>[^<>]{1,4}</sup>\s*\w")
"""How a note on some rows begins on the line below a sentence on all of them."""

_OPENS_NO_TABLE = re.compile(
    r"\s*(?:`{3}|~{3}|\.\. (?:note|tip|hint|seealso|warning|important|caution|attention|danger"
    r"|admonition|rubric|versionadded|versionchanged|deprecated)::)"
)
"""A fence of code, or a directive of reStructuredText over prose."""

FOLLOWING = 3
"""Sentences of a paragraph, with the first, in which another may give some rows another value."""

LABEL = 24
"""Letters of a label and what stands behind it in front of a value."""

MOST_IN_ONE = 40
"""Lines of a paragraph; more without an empty one between them are no sentences."""

LONGEST = 4000
"""Letters of a line of prose."""

_OF_A_TABLE = deferred(
    r"\s*(?:\||<t[rdh]\b|</?(?:table|thead|tbody|tfoot|tr|colgroup|col|pre|style|script|link|meta|head)\b"
    r"|[+=-]{3}[+= -]*$|`{3}|~{3}|>|!?\[[^\]]*\]\(|\.\. |:[a-z-]+:|\$ |--?[a-z]|[{}<]\s*$|\* - )"
    r"|[^|]*\|[^|]*\||\s*(?:[^\s,;\t]{1,24}[,;\t]\s?){3}[^\s,;\t]*\s*$"
    r"|\s*\S[^\n]{0,80}?[^\s.!?:;,](?: {2,}|\t)\S[^\n]{0,80}?(?: {2,}|\t)\S"
    r"|\s*[A-Za-z][\w ()/-]{0,40}?[\w)](?: {3,}|\t)\S{1,40}(?: \S{1,20}){0,3}\s*$"
)
"""Lines that are no prose: rows of tables, markup, commands, quotations."""

_BEGINS = re.compile(r"\s*(?:[-*+•]|[0-9]+[.)]|#)\s")


_IN_GROUPS = deferred(
    r"(?<![\w.,])[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3})+(?![\w]|[.,][0-9]| [0-9])"
)
"""A number with blanks between its thousands."""

_BLANKS = str.maketrans(dict.fromkeys(" \u00a0\u2009\u202f", ","))

_MARKUP = deferred(
    r"</?[A-Za-z][^<>]{0,200}>|&nbsp;|__|\*\*(?![0-9])|(?<![0-9])\*\*|(?<![\w*])\*(?=\w)"
    r"|(?<=\w)\*(?![\w*])"
)


def _unmarked(text: str) -> str:
    """A text without its markup, as wide."""
    return _MARKUP.sub(lambda found: " " * len(found[0]), text)


def _clauses(text: str) -> Iterator[Clause]:
    """The clauses of a paragraph that may be of its document's runs, by place in its text."""
    at = 0
    for sentence in sentences(text):
        begin, at = at, at + len(sentence)
        plainly = _told_plainly(sentence) if begin == 0 else sentence
        tables = frozenset(found["number"] for found in _RUNS_OF_TABLE.finditer(plainly))
        plainly = _RUNS_OF_TABLE.sub(_but_what, plainly) if tables else plainly
        plainly = _ONLY_THERE.sub(_not_else, but_for_a_number(plainly))
        own = of_these_runs(_TRIED.sub(_as_ran, EACH_ADDS.sub(_blank, plainly)))
        if not own.strip() or _OF_NO_RUN.search(own) or of_one(own) or is_beyond(own, text):
            continue
        own = of_products(own)
        sizes = sizes_in(_OF_SOME.sub(_blank, _USED_OF_IT.sub(_blank, own)))
        named = frozenset(each.key for each in devices(own))
        of_all = of_every_run(own) or _OF_ALL_MODELS.match(own) is not None
        divided = scoped(sentence)
        apart, called = {each.field for each in divided}, {each.rows for each in divided}
        apart |= _AGAIN if apart & _AGAIN or both_ways(own) else set()
        for start, clause in _plain_parts(own):
            plain = _without_doubtful_items(clause)
            if _NOT_SO.search(plain) or MEASURED.search(clause) or EACH_ITS_OWN.search(clause):
                continue
            plain = _VAGUE.sub(_but_for_hosts, plain)
            line = Line(0, plain, begin + start, {})
            told = phrases(line, least=1)
            values = {
                name: cell for name, cell in told.items()
                if name not in apart and not but_for_some(cell, line)
                and not (name in WHOSE and _is_called(cell, clause, begin + start, called))
                and not _listed_on(own, cell, begin)
                and not (name == "gpus" and _OF_EACH.match(clause))
                and not (name in _AGAIN and _OF_COUNTING.search(own))
                and (number_of(cell) or _LEAST.get(name, 0)) >= _LEAST.get(name, 0)
            }  # fmt: skip
            if "model" not in values and (model := model_named(_USED_OF_IT.sub(_blank, clause))):
                at = begin + start + clause.index(model)
                values["model"] = Cell(model, 0, at)
            formats = frozenset(found[1].casefold() for found in _FOR_FORMAT.finditer(clause))
            if values:
                yield Clause(values, sizes, named, formats, of_all, clause, tables)


_OF_EACH = deferred(
    r"\W*(?:and )?(?:each|every one|all) (?:\w+ )?of (?:which|them|these)\b", re.IGNORECASE
)
"""How a clause begins that is of each of the machines that its sentence has counted."""


def said_in(part: str, sentence: str) -> Mapping[str, Cell]:
    """Settings that a part of a sentence gives the rows that it is of, by place in it; nothing
    where the sentence may be of no run."""
    own = of_these_runs(sentence)
    doubtful = _OF_NO_RUN.search(own) or _REACHED.search(part) or of_one(own)
    if part.strip(" .") not in own or doubtful:
        return {}
    told = [clause.values for clause in _clauses(part)]
    return dict(chain.from_iterable(values.items() for values in told))


_REACHED = deferred(
    r"\b(?:reach|get|got|achiev|attain|hit|giv|gav|tak|took|run|ran)\w* "
    r"(?:(?:at|in|about|only|~) ?)?"
    r"[0-9]+(?:\.[0-9]| ?(?:%|s\b|ms\b|sec|hour|min|T?FLOP|tok|samp|ima|seq))",
    re.IGNORECASE,
)
"""A number that was measured: that of another run, perhaps, than the row has."""


def _is_called(cell: Cell, clause: str, begin: int, names: Set[str]) -> bool:
    """Whether a cell of a clause, which begins so far in its text, is the name of some rows."""
    return clause.startswith(tuple(filter(None, names)), cell.column - begin)


def _listed_on(sentence: str, cell: Cell, begin: int) -> bool:
    """Whether the number of a clause goes on in the sentence that it is of: `lengths of 2048, 4096
    and 8192`, `4 MI250X per node, which show up as 8 GCDs`."""
    at = cell.column - begin
    end = at + len(cell.text)
    if counted_otherwise(sentence, at):  # in words, too
        return True
    printed = sentence[at:end] == cell.text and cell.text.isdecimal()
    return printed and among_several(sentence, at, end)


_RUNS_OF_TABLE = deferred(
    r"(?P<what>(?:^\W*|\b(?:runs?|models?|results?|numbers|rows?|entries|experiments?|measurements"
    r"|configurations?|everything|those|all) (?:(?:reported|listed|shown|given|collected) )?))"
    r"(?:in|of|for) (?:[Tt]able|[Tt]ab\.) (?P<number>[A-Z]?\.?[0-9]+(?:\.[0-9]+)*)(?![\w.-]*[0-9])",
    re.IGNORECASE,
)
"""The table whose runs a sentence is of: `all runs in Table 6`, `In Table 6, …`."""


_OF_NUMBERED = deferred(
    r"(?:^\W*(?:(?:also|likewise|finally),? )?|\b(?:runs?|models?|results?|numbers|rows?|entries"
    r"|experiments?|measurements|configurations?|everything|those|all) (?:(?:reported|listed|shown"
    r"|given|collected) )?)(?:in|of|for|from) (?:table|tab\.)s? "
    r"(?P<in>[0-9]+(?:(?:, | and |, and | & |[–-])[0-9]+)*)\b"
    r"|^\W*tables? (?P<of>[0-9]+(?:(?:, | and |, and | & )[0-9]+)*) (?:uses?|used|was|were|is|are) "
    r"(?:(?:also|all|then) )?(?!(?:the )?(?:same|as)\b)",
    re.IGNORECASE,
)
"""The tables whose runs a sentence is of, and of no others: `Table 3 was measured on H100`."""

_OF_OTHERS_TOO = deferred(
    r"\b(?:compar\w+|than|unlike|contrast|(?:as|like) (?:in|for)|same|similar\w*)\b"
    r"|\b(?:all|every|both|other|each) tables?\b|\btables? [0-9]+ (?:to|through)\b",
    re.IGNORECASE,
)
"""Words of a sentence that may be of more tables than it numbers."""


def tables_of(sentence: str) -> frozenset[str]:
    """The numbers of the tables of whose runs alone a sentence is.

    >>> sorted(tables_of("In Tables 2 and 3 we use TP=4.")), sorted(tables_of("As in Table 2."))
    (['2', '3'], [])
    """
    found = _OF_NUMBERED.search(sentence) if "able" in sentence or "ab." in sentence else None
    if found is None or _OF_OTHERS_TOO.search(sentence):
        return frozenset()
    told = found["in"] or found["of"]
    more = _A_TABLE.findall(sentence)
    return frozenset() if re.search("[–-]", told) else frozenset(re.findall("[0-9]+", told) + more)


_A_TABLE = re.compile(r"[Tt]ables? ([0-9]+)")


_ONLY_THERE = deferred(
    r"\b(?:is|are|was|were) (?:(?:used|enabled|applied|on) only|only (?:used|enabled|applied|on)) "
    r"(?:where|when|if) (?:(?:the|a) (?:table|row|label|entry)s? (?:says?|shows?|lists?|has|have)"
    r"(?: (?:so|it|them))?|(?:it is |this is |so )?(?:noted|stated|said|indicated|listed|marked"
    r"|given|shown))\b",
    re.IGNORECASE,
)
"""Behind something that rows which say nothing of it are without."""


def _not_else(found: re.Match[str]) -> str:
    return "is not used".ljust(len(found[0]))


def _but_what(found: re.Match[str]) -> str:
    return found["what"].ljust(len(found[0]))


def _told_plainly(sentence: str) -> str:
    """The first sentence of a paragraph without what only says when, and in which order, its author
    did what is told below it: `Before the main run we tried FP8 on 8 nodes.`"""
    found = _NARRATED.match(sentence)
    if found is None or _IN_VAIN.search(sentence, found.end()):
        return sentence
    if "also" in found[0] and _WORSE.search(sentence, found.end()):
        return sentence  # beside what the table is of
    begin = found.start("who") if found["when"] else 0
    head = " " * begin + sentence[begin : found.end("who")]
    return f"{head} ran".ljust(found.end()) + sentence[found.end() :]


_NARRATED = deferred(
    r"\W*(?P<when>(?:before|after|during|once|first|finally|then|next|later|also)\b[^,;.:]{0,60}?"
    r",? )?(?:(?:as an?|for|with|on|in|at)\b[^,;.:]{0,60}?,? )?(?P<who>\b(?:we|I))"
    r" (?:(?:also|then|first|finally|later|once|additionally) )*"
    r"(?:tried|tested|ran|re-?ran|measured|pushed|repeated|looked at|trained|benchmarked|compared)"
    r"\b(?=[^.;]{0,160}(?:\d|[:：]))",
    re.IGNORECASE,
)
"""How a paragraph begins that tells what its author ran."""

_WORSE = deferred(r"\bwhich (?:was|were|is) (?:\w+ )?(?:slower|worse|no (?:faster|better))\b")

_IN_VAIN = deferred(
    r"\b(?:but|however|unfortunately|died|dies|crash\w*|fail\w*|hung|hangs|no luck|without success"
    r"|gave up|could not|couldn['’]t|did not|didn['’]t)\b",
    re.IGNORECASE,
)
"""Behind what was tried: there is no run of it."""

_TRIED = deferred(r"^\W*(?:I |we )?tried\b", re.IGNORECASE)
"""How a sentence begins on what its author ran, not on what was tried beside that."""


def _as_ran(found: re.Match[str]) -> str:
    return f"{found[0][:-5]}ran  "


_LEAST = {"seq_len": 16, "hidden": 32, "vocab": 100}
"""Numbers that a setting is at least; `sequence length, three modes` says none."""

_AGAIN = {"recompute", "activation_checkpointing"}
"""Two names of one switch."""

_OF_COUNTING = deferred(
    r"\b(?:[TPG]?FLOP\w*|[MH]FU|count(?:s|ed|ing)?|utili[sz]ation)\b|算力|利用率|计算量",
    re.IGNORECASE,
)
"""Words of a sentence on what is counted: `model FLOPs, that is without recomputation`."""


def _without_doubtful_items(clause: str) -> str:
    """A list of noun phrases with blanks for those items that may be of no run; else as it is."""
    if clause.count(",") < FEWEST_COMMAS or _FINITE.search(clause):
        return clause
    items = re.split(r"(, )", clause)
    return "".join(" " * len(item) if _NOT_SO.search(item) else item for item in items)


FEWEST_COMMAS = 2

_FINITE = deferred(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|we|I|it|they|you|can|will|gives?|takes?|needs?)\b",
    re.IGNORECASE,
)


def _plain_parts(sentence: str) -> Iterator[tuple[int, str]]:
    """The clauses of a sentence; of one that may be of no run what a colon opens in it."""
    for start, clause in _parts(sentence):
        opened = clause.rfind(": ") + 1
        if opened and _NOT_SO.search(clause, 0, opened):
            yield start + opened, clause[opened:]
        else:
            yield start, clause


def _parts(sentence: str) -> Iterator[tuple[int, str]]:
    """The clauses of a sentence, each behind where it begins; a remark in brackets that may be of
    no run is left out, and is a clause of its own."""
    plain = _BRACKETS.sub(_without_doubtful, sentence)
    begin = 0
    for found in _BOUND.finditer(plain):
        if begin < found.start():
            yield begin, plain[begin : found.start()]
        begin = found.end()
    if begin < len(plain):
        yield begin, plain[begin:]


def _without_doubtful(found: re.Match[str]) -> str:
    doubtful = _NOT_SO.search(found[0]) or MEASURED.search(found[0])
    return " " * len(found[0]) if doubtful else found[0]


_OF_SOME = re.compile(
    r"[(（][^()（）]{0,60}(?:\bfor\b|为|是)[^()（）]{0,60}[)）]"
    r"|\bas (?:for|with|in) (?:the )?(?:[A-Za-z][\w.-]*[ -])?[0-9]+(?:\.[0-9]+)?[BM]\b"
    r"|\b(?:[Bb]ranch|[Tt]ag|[Cc]ommit|[Rr]epo(?:sitory)?|[Ss]cript|[Ff]ile) [`'\"]?[\w./-]+[`'\"]?"
)
"""A remark on some of the models, beside what is of all: `2048 (4096 for the 34B)`; or what is as
for another one; or the name of what is no model."""


_USED_OF_IT = deferred(
    r"(?<![\w.,$-])[0-9]+(?:\.[0-9]+)? ?[BM] (?:(?:params?|parameters) )?(?:are |of them )?"
    r"(?:activ(?:e|ated)|used|touched)\b"
    r"|\bactiv(?:e|ated)(?: (?:params?|parameters|size))?(?:[:=] ?| of | )"
    r"[0-9]+(?:\.[0-9]+)? ?[BM]\b|激活(?:参数量?)? ?[0-9]+(?:\.[0-9]+)? ?[BM]\b"
    r"|[0-9]+(?:\.[0-9]+)? ?[BM] ?激活",
    re.IGNORECASE,
)
"""How much of a model of experts a token uses: it is called by its whole size."""


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


_MACHINES_THERE = re.compile(r"\b(?:nodes|servers|machines|hosts|boxes|instances|VMs)\s*$")
"""At the end of a number that is not exact: machines, of which each has what is told behind it."""


def _but_for_hosts(found: re.Match[str]) -> str:
    """Blanks for a range, but for the machines that it counts: `up to 64 DGX nodes (8 each)`."""
    hosts = _MACHINES_THERE.search(found[0])
    return " " * hosts.start() + hosts[0] if hosts else _blank(found)


_BRACKETS = re.compile(r"[(（][^()（）]{0,200}[)）]")

_BOUND = deferred(
    r"[;；](?=\s|$)|(?<=[0-9)])\.\s+(?=[a-z`])|(?<=[a-z)])\.\s+(?=[0-9])|(?: [—–]|--) "
    r"|,? and (?=(?:you|we|I|it|this|that|they)\b)"
    r"|(?:, | )(?:but|while|whereas|where|although|though|because|since"
    r"|as (?=(?:it|we|they|the)\b)|so (?=that|it|we|the\b)|which)\b|, so\b|，(?:但|而|因此|所以)"
)
"""Between two clauses of a sentence."""

_VAGUE = deferred(
    r"\b(?:up to|from|between|at least|at most|more than|less than|about|roughly|around)"
    r"\s[^,;()]{0,60}"
    r"|(?<!\b[FfBb][PpFf])(?<!\b[FfBb][PpFf][0-9])"
    r"[0-9][0-9,.]*[kKMB]?\s*(?:-|–|~|to|and|or|/|\.\.\.?|→|->|oder|bis|ou|à|또는|및|或|和|至|到|または|と)"
    r"\s*[0-9][0-9,.]*[kKMB]?\b[^,;()]{0,40}"
)
"""Words of a clause that give a range, several values, or a value that is not exact."""

_NOT_SO = deferred(
    r"\b(?:if|unless(?! (?:otherwise|noted|stated|[\w' ]{1,30} says? (?:otherwise|so)))|whether"
    r"|could|would|should|might|may|must|cannot|can(?:not|'t)?|to try|trying|than|vs\.?|versus"
    r"|instead|rather|compared?|unlike|before|after|earlier|later|previous\w*|first|third|last|then"
    r"|(?<!per )second"
    r"|initial\w*|original\w*|until|beyond|above which|once|when(?:ever)?|larger|smaller|longer"
    r"|shorter|faster|slower|best|worst|only|also|e\.g|i\.e|for example|such as|like|default"
    r"|increas\w+|decreas\w+|reduc(?:e[ds]?|ing|tions?)(?! in (?:fp|bf|float))"
    r"|doubl\w+|halv\w+|vari(?:ed|es|able)|vary\w*|sweep\w*|swept"
    r"|different|respectively|either(?! way)|neither|both|alternat\w+|another|other|others"
    r"|others'|per se"
    r"|example|hypothetic\w*|estimate\w*|extrapolat\w*|project(?:ed|ion)\w*|expected|ideal\w*"
    r"|theoretical\w*|peak (?:of|is|rate|perf\w*)|costs?|saves?|gains?|improv\w+|speed-?ups?|helps?"
    r"|OOMs?|out of memory|crash\w*|fail\w*|too (?:large|small|much|slow|long)|not enough"
    r"|does ?n[o']t|do ?n[o']t|did ?n[o']t|won't|needs?|needed|required?|requires|enough|fits?"
    r"|sufficient|recommend\w*|suggest\w*|supports?|supported|enables?|allows?|available|planned|plans?"
    r"|(?:an?|some|one|other|my|our|two|few) (?:colleague|friend|user|customer|reader)s?"
    r"|(?:users|customers|readers|people) (?:report|see|can|may|should|ask|who|with)"
    r"|someone|somebody|they(?! (?:all |both )?share)"
    r"|(?:is|are|was|were) (?:very |quite |so )?(?:fast|slow|good|bad|great|nice|quick|cheap"
    r"|expensive)"
    r"|means?|meaning|denotes?|stands? for|refers? to|is short for|`\s?="
    r"|future|next(?! table)|soon|todo|one of|some|several|few|most|many|part of|half of"
    r"|rest(?! (?:is|was|are) (?:all |pure |plain )?data)"
    r"|remaining"
    r"|except|apart from)\b"
    r"|如果|若|例如|比如|可以|可能|建议|推荐|支持|相比|对比|之前|此前|(?<!脚本)(?<!实验)(?<!均)(?<!都)默认|分别|除了|最多|至少|左右|约"
    r"|場合|可能|予定|以前|例えば|推奨|最大で",
    re.IGNORECASE,
)
"""Words beside which a setting is perhaps that of some rows, or of none."""

_OF_NO_RUN = deferred(
    r"\b(?:inference|serv(?:e[ds]?|ing)|deploy\w*|decod(?:e[ds]?|ing)|prefill|generat(?:e[ds]?|ion|ing)"
    r"|eval\w*|benchmarks? (?:score|suite)|accuracy|perplexity|MMLU|vocoder|reward"
    r"|tokeni[sz]er(?![^.;0-9]{0,40}[0-9][0-9,.]*k? ?(?:entries|tokens|pieces|vocab|symbols))"
    r"|rollout"
    r"|RLHF|PPO|GRPO|quanti[sz]\w+|export\w*|convert\w*|licen[sc]e\w*|download\w*|install\w*"
    r"|release[ds]?|announc\w+|card|paper|blog|upcoming|inspired|based on|derived)\b"
    r"|推理|评测|评估|部署|推論|評価",
    re.IGNORECASE,
)
"""Words of a sentence on something else than how the runs of a table ran."""


_OF_ALL_MODELS = deferred(
    r"\W*(?:(?:table|tab\.) ?[A-Z0-9.]+\W*)?(?:all|every|each|both|all three)(?: of)?(?: the| our)?"
    r" (?:models?|networks?|runs?|experiments?|jobs?)\b",
    re.IGNORECASE,
)
"""How a sentence begins that is of every model of its document."""

_FOR_FORMAT = deferred(
    rf"\bfor (?:the )?({NUMBER_FORMAT}|mixed precision|AMP)(?![A-Za-z0-9])", re.IGNORECASE
)

_OF_TEXT = (
    r"(?:[(（][0-9][0-9,]{3,14}[)）] ?)?"
    r"(?:(?:(?:pre-?)?training|unique|raw|more|text|web|code) )?"
)
"""A word, or a number in digits, in front of what a number counts: `300B training tokens`."""

_SIZE = deferred(
    r"(?<![\w.,$])(?<!tokens \()(?<!tokens, )(?<!tokens = )([0-9]+(?:\.[0-9]+)?) ?([BMT])"
    rf"(?![A-Za-z0-9]|[ -]?{_OF_TEXT}(?:{TOKENS}|param\w* ?/))"
)

_IN_NAME = deferred(
    r"(?<=[A-Za-z0-9][-_])([0-9]{1,4}(?:\.[0-9]{1,2})?)(b|(?<=[0-9]{2})m)(?![A-Za-z0-9])"
)
"""The size in the name of a model in small letters: `mistral-7b`."""


_ONE_SIZE = deferred(
    r"(?<![\w.,$])([0-9]+(?:\.[0-9]+)?) ?(B|(?<=[0-9]{2} )M|(?<=[0-9]{2})M)(?![A-Za-z0-9])"
    rf"(?![ -]?{_OF_TEXT}(?:{TOKENS}|batch|context|seq|row|step|docu|sampl|image|example|word|char"
    r"|vocab|pair|hour|GPU|byte|update))"
)


def size_said(text: str) -> tuple[str, str, int] | None:
    """Digits, letter and place of the one size of a model that a text names.

    >>> size_said("## Scaling out: 1.4B"), size_said("7B and 13B"), size_said("2M tokens")
    (('1.4', 'B', 16), None, None)
    """
    plain = signed(text)
    found = {each.groups(): each for each in _ONE_SIZE.finditer(plain)}
    if len(found) != 1:
        return None
    ((digits, letter), each), *_ = found.items()
    return digits, letter, each.start()


def sizes_in(text: str) -> frozenset[str]:
    """Sizes of models that a text names, in one spelling.

    >>> sorted(sizes_in("Llama-2 7B and the 1.3 B one, 15T tokens, 80GB"))
    ['1.3B', '7B']
    >>> sorted(sizes_in("`kite-7b` and kite_160m on a step-3 schedule"))
    ['160M', '7B']
    >>> sizes_in("a batch of 4,194,304 tokens (4M)")
    frozenset()
    """
    return frozenset(size for _, _, size in sizes_by_place(text))


def sizes_by_place(text: str) -> list[tuple[int, int, str]]:
    """Sizes of models that a text names, in one spelling, by where each begins and ends."""
    plain = signed(text)
    named = (found for form in (_SIZE, _IN_NAME) for found in form.finditer(plain))
    return sorted((*found.span(), f"{found[1]}{found[2].upper()}") for found in named)
