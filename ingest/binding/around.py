"""Where the paragraphs of a document stand among its tables, headings and comments.

In: the paragraphs of a document (`assay.ingest.binding.mentions`), the lines of its rows, and its
sections. Out: of each table the paragraphs that may speak of it, nearest first: those above it in
its section, with the heading; the note right below it; those right below the headings around it;
those of sections on how things were set up; and those in which it is said of all runs how they ran.
A comment in a thread is of who wrote it: nothing outside it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf

from assay.ingest.binding.comparing import Section, over_rows, reach
from assay.ingest.binding.mentions import Paragraph
from assay.ingest.columns.other_runs import of_the_table_above
from assay.ingest.columns.table_titles import of_all_rows
from assay.ingest.columns.turns import later
from assay.ingest.schema.record import Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import NUMBERED, of_set_up, part_of_set_up
from assay.ingest.statements.context import ELSEWHERE, Context

OWN, AROUND, SET_UP, OF_ALL, MACHINE = range(5)
"""How a paragraph stands to a table."""

MOST = 48
"""Paragraphs of one kind that are asked about a table: more speak of many things."""

Path = Section
"""The headings above a line, outermost first."""


class Around:
    """The paragraphs around each table of a document; tables are asked for from the top down."""

    def __init__(
        self,
        paragraphs: Sequence[Paragraph],
        rows: Sequence[int],
        empty: Sequence[int],
        context: Context,
    ) -> None:
        self._every, self._empty, self._rows = paragraphs, empty, rows
        self._firsts = [each.first for each in paragraphs]
        self._comments = frozenset(context.comments)
        self._titles = dict(context.titles)
        self._sections = context.sections or list(self._in_plain_text())
        self._headings = [line for line, _ in self._sections]
        self._paths = [self._path(each.first) for each in paragraphs]
        self._tables: dict[Path, int] = {}  # the first row of each section itself
        for line in rows:
            self._tables.setdefault(self._path(line), line)
        self._over = over_rows(map(self._path, context.measured))
        self._opening: dict[Path, list[int]] = {}
        for at, (each, path) in enumerate(zip(paragraphs, self._paths, strict=True)):
            if each.first < self._first_table(path) and not TITLE.match(each.lines[0].text):
                self._opening.setdefault(path, []).append(at)
        self._set_up = list(self._of_set_up())
        self._of_all = list(islice(self._of_all_runs(), MOST))
        self._before: list[int] = []  # paragraphs that the table before had

    def _path(self, line: int) -> Path:
        at = bisect_right(self._headings, line)
        return self._sections[at - 1][1] if at else ()

    def _in_plain_text(self) -> Iterator[tuple[int, Path]]:
        """The sections of a document without headings, by its numbered lines."""
        path: list[tuple[int, int]] = []
        for each in self._every:
            found = _NUMBERED.fullmatch(each.text.strip()) if len(each.lines) == 1 else None
            if found is None:
                continue
            depth = found[1].strip(".").count(".")
            path = [*(above for above in path if above[0] < depth), (depth, each.first)]
            self._titles[each.first] = found[2]
            yield each.first, tuple(line for _, line in path)

    def heading_above(self, line: int) -> int:
        """The nearest heading above a line; 0 where there is none."""
        at = bisect_right(self._headings, line)
        return self._headings[at - 1] if at else 0

    def tables(self, rows: Sequence[Record]) -> Iterator[list[Record]]:
        """The rows between the same two paragraphs, and empty lines."""
        held: list[Record] = []
        for row in rows:
            if held and self._apart(held[-1].line, row.line):
                yield held
                held = []
            held.append(row)
        if held:
            yield held

    def is_over(self, paragraph: Paragraph, line: int) -> bool:
        """Whether what a paragraph says of all runs is of those at a line (`reach`)."""
        path = reach(self._path(paragraph.first), self._over)
        return self._path(line)[: len(path)] == path

    def _apart(self, line: int, other: int) -> bool:
        return any(
            bisect_left(places, line) != bisect_left(places, other)
            for places in (self._firsts, self._empty)
        )

    def speaking(self, first: int, last: int) -> Iterator[tuple[Paragraph, int]]:
        """The paragraphs that may speak of a table between two lines, nearest first, each with how
        it stands to it: in its `OWN` section, right below a heading `AROUND` it, in a section on
        the `SET_UP`, or anywhere, of which what is said `OF_ALL` runs counts; or around the table
        before, on whose `MACHINE` these ran as well."""
        begin, path = bisect_left(self._firsts, first), self._path(first)
        mine, comment = self._above(begin, path)
        note = bisect_left(self._firsts, last)
        below = [note] if self._is_note(note, path) else []
        again = any(_SAME_AGAIN.search(self._every[at].text) for at in mine)
        other = [at for at in (self._before if again else []) if at not in mine]
        before, self._before = self._before, [*mine, *other][:MOST]
        yield from ((self._every[at], OWN) for at in [*mine, *below, *other])
        if not again and any(_SAME_MACHINE.search(self._every[at].text) for at in mine):
            yield from ((self._every[at], MACHINE) for at in before if at not in mine)
        if comment:  # of somebody else than who opened its thread
            return
        for depth in range(len(path) - 1, -1, -1):
            opening = self._opening.get(path[:depth], [])
            if path[:depth] in self._tables:
                opening = [at for at in opening if not of_all_rows(self._every[at].text)]
            upto = opening[: bisect_left(opening, begin)][-MOST:]
            yield from ((self._every[at], AROUND) for at in reversed(upto))
        upto = [at for at, parent in self._set_up if at < begin and path[: len(parent)] == parent]
        yield from ((self._every[at], SET_UP) for at in reversed(upto[-MOST:]))
        yield from (
            (each, OF_ALL) for each in map(self._every.__getitem__, self._of_all)
            if self.is_over(each, first)
        )  # fmt: skip

    @staticmethod
    def number(speaking: Sequence[tuple[Paragraph, int]]) -> str:
        """The number of a table by its title, among the paragraphs that speak of it; or nothing."""
        titles = (TITLE.match(each.lines[0].text) for each, place in speaking if place == OWN)
        return next((found["number"] for found in titles if found and found["number"]), "")

    def _above(self, begin: int, path: Path) -> tuple[list[int], bool]:
        """Paragraphs of the section of a table above it, but for those of another one, and whether
        they are a comment in a thread."""
        found: list[int] = []
        titled = False  # whether the title of another table stands below
        for at in range(begin - 1, max(-1, begin - MOST), -1):
            if self._paths[at] != path:
                break
            each = self._every[at]
            if _OPENS_COMMENT.match(each.text):
                return found, True
            if TITLE.match(each.lines[0].text):
                if not titled and not (found and found[-1] != at + 1):
                    found.append(at)
                titled = True
            elif not self._notes(at) and not (titled and each.first > self._first_table(path)):
                found.append(at)
            if each.behind_rule:
                break
        return found, bool(path) and path[-1] in self._comments

    def _first_table(self, path: Path) -> float:
        """The first row of a table in a section itself."""
        return self._tables.get(path, inf)

    def _notes(self, at: int) -> bool:
        """Whether a paragraph is a note on the table above it: it says so, or another stands
        between it and the next table."""
        each = self._every[at]
        if not each.behind_table or each.heading:
            return False
        if of_the_table_above(each.text):
            return True
        after = self._every[at + 1] if at + 1 < len(self._every) else None
        if after is None:  # the last one is over a table, or below all of them
            return bisect_right(self._rows, each.lines[-1].number) == len(self._rows)
        titles = at and _is_bold(each) and _is_bold(self._every[at - 1])
        return not (after.behind_table or titles or each.text.rstrip().endswith(":"))

    def _is_note(self, at: int, path: Path) -> bool:
        return (
            at < len(self._every)
            and self._paths[at] == path
            and self._every[at].behind_table
            and not later(self._every[at].text)
            and self._notes(at)
        )

    def _of_all_runs(self) -> Iterator[int]:
        """Paragraphs of sections without tables, of which what is said of all runs is of all."""
        for at, path in enumerate(self._paths):
            title = self._titles.get(path[-1], "") if path else ""
            bare = self._first_table(path) == inf and not ELSEWHERE.search(title)
            if bare and of_all_rows(self._every[at].text):  # of the tables in the parts of it
                bare = not any(table[: len(path)] == path for table in self._tables)
            if bare and any(clause.of_all for clause in self._every[at].clauses):
                yield at

    def _of_set_up(self) -> Iterator[tuple[int, Path]]:
        """Paragraphs of sections on how things were set up, above the tables that these have, each
        with the heading around those that it speaks of."""
        for at, path in enumerate(self._paths):
            if not path or self._first_table(path) < self._every[at].first:
                continue
            title, parent = self._titles.get(path[-1], ""), path[:-1]
            if self._first_table(path) < inf and not _OF_ALL_BELOW.search(title):
                continue
            above = self._titles.get(parent[-1], "") if parent else ""
            if part_of_set_up(title) and of_set_up(above):
                yield at, parent[:-1]
            elif of_set_up(title) or _OF_THE_MODEL.fullmatch(title):
                yield at, parent


_NUMBERED = deferred(
    r"([0-9]{1,2}\.|[0-9]{1,2}(?:\.[0-9]{1,2}){1,3}\.?)\s+((?=[A-Z])(?:[A-Z][A-Z0-9 ,:()/&'.-]{4,}"
    r"[a-z]{0,3}(?:\s?\(.*\))?|(?<=[0-9]\s)[^.:;]{3,90}|(?<=[0-9]\.\s)[^.:;]{3,60}))"
)
"""A heading of a plain text, by its number: `3.1 Weak scaling`, `5. APPLICATION TEST`."""

TITLE = deferred(
    r"\s*(?:[-*+] )?(?:\*\*[^*]{3,160}\*\*:?\s*$|__[^_]{3,160}__:?\s*$"
    r"|[*_]{0,2}(?:Table|Tab\.|Tabelle|Tableau|Tabla|表) ?(?P<number>[A-Z0-9]\w*(?:\.[0-9]+)*)\b"
    r"(?! (?:and [Tt]|(?:shows?|gives?|lists?|reports?|compares?|summari[sz]es?|has|contains?|is"
    r"|presents?|breaks?|collects?|illustrates?|provides?|details?|describes?)\b)))"
)
"""A line that is the title of one table: in bold, or numbered."""

_SAME_MACHINE = deferred(
    r"\b(?:same|identical) (?:[\w-]+ )?(?:clusters?|machines?|hardware|nodes?|systems?|box|hosts?"
    r"|servers?|GPUs|NPUs|TPUs|cards?|chips|devices|accelerators|workstation|partition)\b|同一(?:集群|机器|台机器|环境)",
    re.IGNORECASE,
)

_OF_ALL_BELOW = deferred(
    r"\b(?:set-?ups?|environment|test ?bed|methodology|conditions|aufbau|umgebung|environnement"
    r"|entorno|ambiente)\b|環境|环境|환경|設定|设置|설정|条件",
    re.IGNORECASE,
)
"""Words of a heading over a set-up that goes on below the first table in it; one that names
settings, `## Batch size and precision`, is of its own table."""

_OF_THE_MODEL = deferred(
    rf"{NUMBERED}(?:(?:the|our) )?(?:models?|networks?|architecture"
    r"|infrastructure|compute|模型|モデル|모델|modelle|modèles|modelos|modelli)"
    r"(?: (?:architecture|details|size|and (?:data|training|hardware)))?\W*",
    re.IGNORECASE,
)
"""A heading over what the model of a document is."""

_BOLD = deferred(r"\s*(\*\*|__)[^*_|]{2,80}(?:\1:?|:\1)\s*")


def _is_bold(paragraph: Paragraph) -> bool:
    """Whether a paragraph is a title in bold letters: behind a table with one of its own it is that
    of the next table, whatever stands between them."""
    return len(paragraph.lines) == 1 and _BOLD.fullmatch(paragraph.lines[0].text) is not None


_OPENS_COMMENT = deferred(
    r"\s*(?:#+ )?@?[A-Za-z][\w.-]{1,38}(?: \([\w ]{2,24}\))?\s*"
    r"(?:·|\b(?:commented|replied|wrote|said|reviewed|left a comment)\b"
    r"|\W{0,3}(?:on )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* [0-9]{1,2}\b)"
    r"[^.]{0,60}$",
    re.IGNORECASE,
)
"""The line of a thread that says who writes what follows."""

_SAME_AGAIN = deferred(
    r"\b(?:same|identical) (?:[\w-]+ ){0,2}?(?:set-?ups?|settings?|config\w*|hyper-?parameters"
    r"|conditions|recipe)\b(?!.{0,20}\b(?:first|opening|original|description|section|issue|post)\b)"
    r"|\b(?:otherwise|rest|everything else) (?:is |as |the )?"
    r"(?:same|identical|unchanged|as (?:above|before))"
    r"|同上|(?:配置|设置|参数)(?:与|和)上[^。；;]{0,8}(?:相同|一致)|条件は(?:上|同)",
    re.IGNORECASE,
)
"""A table whose runs were set up as those of the table before."""
