"""Configuration that stands outside its rows: the statements of a document.

A statement is a line of configuration: assignments, `20 nodes, 2 replicas`, a heading that names a
device, a model or a number format, an option of a command, a key of a dump, a list in a sentence.
`assay.ingest.binding.binder` says what rows make of them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import starmap

import polars as pl
from assay.ingest.columns.cells import number_of
from assay.ingest.columns.composite import size_alone
from assay.ingest.columns.number_formats import EVERY as FORMATS
from assay.ingest.columns.other_runs import (
    but_for_others,
    is_intended,
    of_these_runs,
    sentences,
)
from assay.ingest.columns.table_titles import own_table, table_above, table_end, table_of_all_rows
from assay.ingest.columns.titles import OF_DEVICES, family_named, line_of_other, model_named
from assay.ingest.columns.turns import later, turned, turned_device
from assay.ingest.grids.delimited import named_table, uncommented, without_signs
from assay.ingest.prose.counted_machines import one_of_each
from assay.ingest.prose.notebook_code import LAW as OF_HOST
from assay.ingest.prose.notebook_code import in_notebook
from assay.ingest.prose.only_device import only_device
from assay.ingest.prose.only_model import only_model
from assay.ingest.prose.other_formats import other_formats
from assay.ingest.prose.scopes import OTHERS, WHOSE, Scoped, paragraphs, scoped
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Line, Statement
from assay.ingest.schema.terminals import deferred
from assay.ingest.source.headings import (
    introduces,
    of_constants,
    of_script,
    of_set_up,
    of_training,
    of_what_ran,
    part_of_set_up,
    precedes,
    set_up_on,
)
from assay.ingest.source.notebook import above_outputs, is_notebook
from assay.ingest.source.posts import author_of
from assay.ingest.source.prefixes import all_ascii, holds
from assay.ingest.statements.command_lines import (
    Preparing,
    assigned,
    resolved,
)
from assay.ingest.statements.lists import MANY
from assay.ingest.statements.named_machines import NamedMachines
from assay.ingest.statements.nested import HEADING, LONGEST, Block, Nest, blocks_in, of_jobs
from assay.ingest.statements.one_line import PRINTED, SENTENCES, but_for_some, loaded, stated
from assay.ingest.statements.phrases import phrases
from assay.ingest.statements.row_words import SAME_FACT
from assay.ingest.statements.same_as import Reference, refers, taken_over
from assay.ingest.statements.sentences import for_each, of_every_run, of_whole_document
from assay.ingest.statements.trained_with import versioned
from assay.ingest.statements.under_headings import UnderHeadings
from assay.ingest.statements.values import (
    cell_of,
    saying,
)
from assay.ingest.statements.worth import POSTED, SAYS, may_state
from assay.ingest.statements.wrapped import (
    FARTHEST,
    Again,
    Beside,
    Items,
    each_adds,
    each_alone,
    lists_another,
    lists_one,
    named_beside,
    names_another,
    said_beside,
    with_sentence,
)
from assay.ingest.vocabulary.devices import SIGN, Device, device_at, only, signed
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_SAME = deferred(
    r"\W*(?:(?:with|for|on|here|now|again|still|using) )*(?:the )?same (?:model|architecture)\b"
    r"(?! (?:as|used|size))[^.;]{0,80}[.:]?\s*",
    re.IGNORECASE,
)
"""A line that says it of the model above: `Same model on half of the nodes:`."""

_TITLE_INSIDE = deferred(
    r"\s*(?:<table\b[^<>]*>\s*)?<caption\b(?!.*<t[rdh]\b)"
    r"|\s*\.\. (?:table|csv-table|list-table)::\s*\S",
    re.IGNORECASE,
)
"""A line inside a table that is no row of it."""

_ABOUT_MACHINES = deferred(
    r"[#\s\d.*]*(?:[\w-]+\s){0,2}(?:environment|hardware|set-?up|testbed|platform)s?"
    r"(?:\s(?:set-?up|details|information))?\W*|.*(?:环境|硬件)\w*",
    re.IGNORECASE,
)
"""A heading over what the machines were: `## Test environment`, `### 硬件环境`."""

ARCHITECTURE = ("hidden", "layers", "heads", "kv_heads", "ffn_hidden", "vocab")

SPELLED_OUT = 5
"""Fields of `ARCHITECTURE` that make a block one that spells a model out."""


@dataclass
class Context:
    """The statements of one document, and what the side file and the caller assume."""

    statements: list[Statement] = field(default_factory=list)
    sections: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)  # by heading line
    assumed: UnderHeadings = field(default_factory=lambda: UnderHeadings({}))
    used: set[int] = field(default_factory=set)
    titles: dict[int, str] = field(default_factory=dict)  # text of a heading by its line
    commands_on: dict[int, Cell] = field(default_factory=dict)
    """The device that the line over a command is for, by the line of the command."""
    commands: dict[int, int] = field(default_factory=dict)
    """The line on which a command begins, by each of its lines with options that say something."""
    not_understood: list[int] = field(default_factory=list)  # lines like statements that were not
    too_long: list[Line] = field(default_factory=list)  # in which no statement was looked for
    references: list[Reference] = field(default_factory=list)  # to how other runs were set up
    comments: list[int] = field(default_factory=list)  # lines with which those of a thread begin
    stacked: list[int] = field(default_factory=list)  # lines that say that each row adds to others
    later: dict[int, frozenset[str]] = field(default_factory=dict)
    """Fields that a line below tables says of runs that came after theirs, by that line."""
    measured: Set[int] = frozenset()  # lines with rows of tables, whoever reads them
    device: Cell | None = None  # the one that a document with tables names
    model: Cell | None = None  # the one that its author says to train
    formats: Mapping[int, Cell] = field(default_factory=dict)  # of no 16 bits, by section
    programs: Mapping[int, Cell] = field(default_factory=dict)  # that trained, by section

    def assumed_in(self, section: Sequence[int]) -> dict[str, Cell]:
        """Fields that are assumed for rows in a section: of the innermost heading first."""
        found: dict[str, Cell] = {}
        for line in reversed(section):
            found = {**self.assumed.under(self.titles.get(line, "")), **found}
        return found

    def adds_up(self, line: int) -> bool:
        """Whether the rows of a table that `line` is of each have what those above them have."""
        at = bisect_right(self.sections, line, key=lambda each: each[0])
        begin = self.sections[at - 1][0] if at else 0
        return any(begin <= said < line < said + FARTHEST for said in self.stacked)

    @property
    def unmet(self) -> list[str]:
        """Headings that something is assumed under and that the document does not have."""
        return self.assumed.unmet(self.titles.values())


def read_context(
    source: str,
    lines: Sequence[Line],
    taken: set[int],
    assumed: Mapping[str, Cell],
    tabled: Set[int] = frozenset(),
    names: Iterable[str] = (),
    measured: Set[int] = frozenset(),
) -> Context:
    """The statements among `lines` that no format has claimed; `tabled` are rows of tables, and
    `names` those of what ran in them and on what; `measured` are rows of others as well."""
    context = Context(
        measured=measured,
        assumed=UnderHeadings(assumed),
        too_long=list(_too_long(lines, taken)),
        device=only_device(lines, tabled) if tabled else None,
        model=only_model(lines, tabled) if tabled else None,
        formats=other_formats(lines, tabled) if tabled else {},
    )
    path: list[tuple[int, int, bool]] = []  # (level, line, about machines) of the open headings
    lines = _above_values(source, _of_these_runs(lines), taken)
    blocks, nest, items, preparing = blocks_in(lines), Nest(), Items(), Preparing()
    beside = _beside_tables(lines, blocks, taken, tabled)
    worked_out = {blocks[n.number] for n in lines if n.number in blocks and _SUM.search(n.text)}
    named, again = NamedMachines(), Again(beside)
    variables, models = dict[str, Cell](), dict[str, Cell]()  # of a shell; said last of a model
    silent: set[tuple[str, bool, bool]] = set()  # lines that state nothing: logs repeat themselves
    above: Line | None = None  # of prose
    authors: dict[str, list[tuple[int, int, bool]]] = {}  # sections of a thread, by who writes
    for at, (line, says) in enumerate(zip(lines, _say(lines), strict=True)):
        block = blocks.get(line.number)
        heading = None if block else HEADING.match(line.text)
        again.pass_by(line, [n for _, n, _ in path], heading=heading is not None, code=bool(block))
        if not block and not (heading and line.number in taken):
            path = _opened(context, path, line, heading, authors)
        variables = {} if heading else variables
        row = line.number in taken and not _TITLE_INSIDE.match(line.text)
        before, above = above, None
        skipped = (
            nest.aside(line, block) or preparing.holds(line, code=bool(block)) or row
            or (block is not None and block in worked_out)
        )  # fmt: skip
        if skipped or len(line.text) > LONGEST:
            continue
        above = None if block or heading else line
        more = {} if block else items.said_by(line, heading=heading is not None)
        if items.aside and above:
            continue
        _note(context, before, above, [number for _, number, _ in path])
        called = named.said_by(line, heading=heading is not None) if above or heading else {}
        noted, told = _at_tables(context, beside, above)
        more = told | more | called | nest.said_by(line)
        more |= (
            in_notebook(lines, at) if source.endswith(".ipynb")
            else loaded(lines, at) if block else {}
        )  # fmt: skip
        key = line.text, bool(line.prefix), heading is not None
        if key in silent and not models and not more:
            continue
        if more or may_state(line.text):
            section = tuple(number for _, number, _ in path)
            statement = (
                None if key in silent
                else stated(source, line, section, says=says, heading=key[2])
                or _of_a_model(source, line, section)
            )  # fmt: skip
            rest = _divided(context, statement, line) if above else statement
            rest = _turning(_beside(rest, line, section, more), above, section)
            statement = _of_its_own_name(
                _in_its_place(rest, lines, at, taken), context, lines[max(0, at - 1) : at + 1]
            )
            variables |= (given := assigned(line))
            silent |= set() if given or statement else {key}
            if (statement := statement or _of_same(line, section, models)) is None:
                continue
            statement = _resolved(statement, variables)
            models |= _of_the_model(statement)
            placed = _placed(
                statement, line, block, environment=any(p[2] for p in path), noted=noted
            )
            _keep(
                context, lines, at, again.placed(_of_host(placed, line, source)),
                in_list=bool(above) and items.holds(line),
            )  # fmt: skip
    _divide(context, lines, blocks, tabled, names)
    return _settled(context, lines, tabled or taken, taken, blocks)


_SUM = re.compile(r"\|\s*bc\b")
"""A line of a shell that works a number out of those above it, which are an example."""


def _of_these_runs(lines: Sequence[Line]) -> list[Line]:
    """Lines without the ends of sentences that begin in the line above and tell of other runs."""
    return list(starmap(but_for_others, zip([None, *lines], lines, strict=False)))


_COMMENT = deferred(
    r"\s*\*\*@?([\w.-]+)\*\*(?: \([^()]*\))?"
    rf"(?:,? (?:commented|replied|wrote|said|left a comment)\b|{POSTED}[^|]{{0,40}}$)"
    r"|\s{0,4}(?:> ?)?\*\*@([\w.-]{2,38})\*\*(?: ?\([\w ]{2,24}\))?(?: ?[·•][^|.!?]{0,60})?\s*$"
)
"""How a comment of a thread begins: it is of its author's runs, as all others of that author."""

LEVEL_OF_COMMENTS = 2
"""Level of heading at which a comment stands in a thread, below its title."""


def _note(context: Context, before: Line | None, line: Line | None, section: Sequence[int]) -> None:
    """Note what a line of prose says of how rows add up, and references to runs elsewhere."""
    if line is None:
        return
    if each_adds(whole := with_sentence(before, line)):
        context.stacked.append(line.number)
    elif before and before.number in context.stacked[-1:] and each_alone(whole):
        context.stacked.pop()
    if other := refers(before, line, tuple(section)):
        context.references.append(other)


_IN_BOLD = deferred(r"\s*\*\*[^*]{3,80}\*\*:?\s*")
"""A line in bold that stands for a heading."""


def _of_a_model(source: str, line: Line, section: tuple[int, ...]) -> Statement | None:
    """Statements of a line in bold as a heading, if that names a model, as what follows is."""
    if not _IN_BOLD.fullmatch(line.text):
        return None
    title = stated(source, line, section, says=None, heading=True)
    return title if title is not None and "model" in title.values else None


def _beside_tables(
    lines: Sequence[Line], blocks: Mapping[int, Block], taken: Set[int], tabled: Set[int]
) -> Beside | None:
    """Where lines stand among the tables of a document; None where it has none."""
    if not tabled:
        return None
    headings = [
        line.number for line in lines
        if line.number not in blocks and line.number not in taken and HEADING.match(line.text)
    ]  # fmt: skip
    return Beside(tabled, headings, lines)


def _opened(
    context: Context,
    path: list[tuple[int, int, bool]],
    line: Line,
    heading: re.Match[str] | None,
    authors: dict[str, list[tuple[int, int, bool]]],
) -> list[tuple[int, int, bool]]:
    """The open headings at a line, which may be one itself or begin a comment of a thread, whose
    own headings are parts of it; `authors` are the sections of those who have written before."""
    comment = None if heading else _COMMENT.match(line.text)
    who = (comment[1] or comment[2]) if comment else None
    author = who or (author_of(line.text) if heading else "")
    level = len(heading[1]) if heading else LEVEL_OF_COMMENTS
    if not author:
        begun = next((opened[-1][0] for opened in authors.values()), level)
        return path if not heading or level > begun else _entered(context, path, line, level)
    context.comments.append(line.number)
    first = context.sections[0][0] if context.sections and comment else 0
    title = [p for p in path[:1] if p[1] == first and p[0] == level]  # of the thread, as deep
    path = authors.setdefault(author, [*title, *_entered(context, path, line, level)])
    context.sections[-1] = (line.number, tuple(number for _, number, _ in path))
    return path


def _entered(
    context: Context, path: Sequence[tuple[int, int, bool]], line: Line, level: int
) -> list[tuple[int, int, bool]]:
    """The open headings below a new one, which is noted."""
    about = _ABOUT_MACHINES.fullmatch(line.text) is not None
    path = [*(p for p in path if p[0] < level), (level, line.number, about)]
    context.sections.append((line.number, tuple(number for _, number, _ in path)))
    context.titles[line.number] = line.text.strip(" #*:")
    return path


_OF_NO_TABLE = re.compile(r"\s*(?:[>@]|[-*+] \[)")
"""How a quotation begins, or what is yet to be done: no note on the table above it."""

MOST_BACK = 50
"""Statements among which another device is looked for."""


def _named_anew(context: Context, line: Line) -> dict[str, Cell]:
    """The device that a line above a table names in words that are not understood, unknown, where
    what was said before is of another one."""
    device = named_beside(line)
    if device is None:
        return {}
    section = context.sections[-1][1] if context.sections else ()
    held = (
        each.values["gpu"]
        for each in reversed(context.statements[-MOST_BACK:])
        if "gpu" in each.values and not each.until and section[: len(each.section)] == each.section
    )
    cell, last = Cell(device.text, line.number, line.column, state="unknown"), next(held, None)
    if last is None or last.line in section[-1:]:  # the heading above it names one
        return {}
    return {"gpu": cell} if line_of_other(last, cell) else {}


def _at_tables(
    context: Context, beside: Beside | None, line: Line | None
) -> tuple[int, dict[str, Cell]]:
    """The first row of the tables that a line of prose is a note below, and what it says beside
    those of its section; 0 and nothing where it stands at none."""
    if beside is None or line is None:
        return 0, {}
    noted = beside.under(line.number)
    if noted and (names := later(line.text)):
        same = {other for name in names for other in SAME_FACT.get(name, ())}
        context.later[line.number] = names | same
    noted = 0 if _OF_NO_TABLE.match(line.text) else noted
    if not noted and not beside.over(line.number):
        return 0, {}
    told = said_beside(line, under=noted != 0)
    if not noted and "gpu" not in told:
        told |= _named_anew(context, line)
    return noted, {name: cell for name, cell in told.items() if not but_for_some(cell, line)}


def _settled(
    context: Context,
    lines: Sequence[Line],
    rows: Set[int],
    taken: Set[int],
    blocks: Mapping[int, Block],
) -> Context:
    """A context whose statements know of each other; `rows` are the lines of runs, among those that
    formats have taken."""
    texts = {line.number: line.text for line in lines}
    told = of_jobs(context.statements, blocks, texts)
    context.statements = versioned(list(_alternatives(told, texts)))
    context.statements += taken_over(
        context.references, context.statements, context.titles, context.sections, context.comments
    )
    context.statements.sort(key=lambda each: each.line)
    _raise_set_ups(context, rows, taken, blocks, texts)
    context.statements += list(_of_later_entries(context, texts))
    if moved := above_outputs(lines) if is_notebook(lines) else {}:
        context.statements = [
            replace(each, line=moved.get(each.line, each.line)) for each in context.statements
        ]
    return context


def _of_later_entries(context: Context, texts: Mapping[int, str]) -> Iterator[Statement]:
    """Unknown values, around the entries of a diary or a changelog, for what one of them says to
    differ from there on: the next goes on from it."""
    for each in context.statements:
        title = context.titles.get(each.section[-1], "") if each.section else ""
        names = turned(texts.get(each.line, "")) if _ENTRY.match(title) else frozenset()
        if names:
            left = Cell(texts[each.line].strip(), each.line, 1, state="unknown")
            said = each.values if _FROM_HERE.search(texts[each.line]) else {}
            values = {name: said.get(name, left) for name in sorted(names)}
            yield Statement(each.line, each.section[:-1], values)


_ENTRY = deferred(
    r"\W*(?:v?[0-9]+\.[0-9]|[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]"
    r"|[0-9]{1,2}(?:st|nd|rd|th|\.)? [A-Z][a-z]{2}"
    r"|(?:Day|Week|Month|Entry|Update|Release|Version|Tag|Woche|Jour|Semaine) [0-9]"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
    r"|第?[0-9]+[月周天日])",
)
"""A heading that is a day, a week or a version."""


def _of_same(line: Line, section: tuple[int, ...], models: dict[str, Cell]) -> Statement | None:
    """Fields said last of a model, where a line says that its runs are of the same."""
    same = models and _SAME.fullmatch(line.text)
    return Statement(line.number, section, dict(models)) if same else None


def _resolved(statement: Statement, variables: Mapping[str, Cell]) -> Statement:
    """A statement with the values of a shell's variables in it."""
    if all(cell.state != "unknown" for cell in statement.values.values()):
        return statement
    return replace(statement, values=resolved(statement.values, variables))


def _above_values(source: str, lines: Sequence[Line], taken: Set[int]) -> Sequence[Line]:
    """The lines without the signs of comments: of all in a table of separated values, elsewhere of
    those that are no headings."""
    if source.endswith(".ipynb"):
        lines = list(_unquoted(lines, taken))
    if not named_table(source):
        return without_signs(lines, source, taken)
    return [line if line.number in taken else uncommented(line) for line in lines]


_ARGUMENT = deferred(
    r"(\s*\"\s*)([A-Za-z]\w* ?= ?(?:[0-9][0-9_]*|True|[\w.]*float16),?"
    r"|[A-Za-z]\w*(?:\.[A-Za-z]\w*){1,3} ?= ?(?:[0-9][0-9_]*|True|False|\\\"[\w./-]{1,60}\\\"))"
    r"\s*(?:#[^\"\\]{0,80})?(?:\\n)?\",?\s*"
)
"""An argument of a call, or a setting of an object, as the source of a notebook holds it."""

_LAST_QUOTE = deferred(r"\\\"$")

_CALL_OF_ELSE = deferred(
    r"gener|sampl|eval|infer|predict|decod|llm|pipeline|tokeni[sz]|dummy|warm", re.IGNORECASE
)
"""Calls whose arguments are no settings of training."""


def _unquoted(lines: Sequence[Line], taken: Set[int]) -> Iterator[Line]:
    """The lines of a notebook, those without their quotes that are one argument of a call, or set
    one field of an object: `cfg.seq_len = 1024`."""
    opened = ""
    for line in lines:
        if "(\\n" in line.text or '")"' in line.text or '")\\n' in line.text:
            opened = line.text
        found = _ARGUMENT.fullmatch(line.text) if "=" in line.text else None
        if found is None or line.number in taken or _CALL_OF_ELSE.search(opened):
            yield line
        else:
            bare = _LAST_QUOTE.sub('" ', found[2]).replace(
                '\\"', ' "'
            )  # as wide as it stands there
            yield line._replace(text=bare, column=line.column + found.end(1))


def _too_long(lines: Sequence[Line], taken: Set[int]) -> Iterator[Line]:
    """The lines in which no statement is looked for, though no format has them."""
    return (each for each in lines if len(each.text) > LONGEST and each.number not in taken)


def _say(lines: Sequence[Line]) -> Sequence[bool | None]:
    """Whether something is found in each line that `SAYS` finds; None where they are few.

    Of those that are few, not many are asked.
    """
    if len(lines) < _MANY:
        return [None] * len(lines)
    texts = pl.Series([line.text for line in lines])
    return holds(texts, *SAYS, plain=all_ascii(texts)).to_list()


_MANY = 300
"""Lines that are looked through together sooner than one by one."""


def _raise_set_ups(
    context: Context,
    lines: Set[int],
    taken: Set[int],
    blocks: Mapping[int, Block],
    texts: Mapping[int, str],
) -> None:
    """Let what stands under a heading about the set-up, or is said of every run, speak for the
    sections beside it, and how an introduction says that all is computed.

    What precedes all tables does so too, whatever its heading is, if it is prose. Only where no row
    stands below that heading, and where nothing else that is raised beside it
    says a field otherwise; what a block of code says, a command to try perhaps, stays in its
    section, but for what names the machine or stands under a heading of what all have in common,
    and for options alone, without a command that they are of.
    """
    rows, held = sorted(lines), _holding(context, lines)
    on_one = _set_up_on_one(context)
    paths = {
        path for line, path in context.sections
        if of_set_up(context.titles[line]) or _of_script_of_model(path, context.titles)
        or path in on_one
    } - held  # fmt: skip
    parents = {
        path: _model_of_script(path, context.titles) or _out_of(path, paths) for path in paths
    } | {
        path: _out_of(path[:-1], paths) for line, path in context.sections
        if path[:-1] in paths and path not in paths and part_of_set_up(context.titles[line])
    } | {
        path: path[:-2] for path in paths if path[:-1] and introduces(context.titles[path[-2]])
    }  # fmt: skip
    for each in context.statements if on_one else ():
        if on := next((on_one[p] for p in _around(each.section) if p in on_one), None):
            context.commands_on |= {cell.line: on for cell in each.values.values()}
    written = _configurations(blocks, texts)
    if (only := _only_configuration(context, written, held, rows)) and only not in parents:
        parents[only] = only[:-1]
    context.statements = [part for s in context.statements for part in _introduced(context, s)]
    context.statements, of_all = _said_of_every_run(context, blocks, texts)
    context.statements = list(_of_whole_document(context, blocks, texts))
    told = [
        (s, parents.get(s.section, s.section[:-1])) for s in context.statements
        if s.section and s.section not in held and not s.of_run
        and (s.section in parents or s.line in of_all or _of_all_sections(s, context, texts)
             or (s.values.keys() <= _HOW_COMPUTED and _introduces(context, s)))
        and (
            s.line not in blocks or s.line in written or s.line in of_all
            or _NAMES_MACHINE.match(texts[s.line])
            or of_constants(context.titles.get(s.section[-1], ""))
        )
    ]  # fmt: skip
    before = _before_tables(context, rows[0], taken) if rows else set()
    at_once = {id(each) for each, _ in told}
    late = [
        (s, s.section[:-1])
        for s in context.statements
        if s.section in before and s.line not in blocks and not s.of_run and id(s) not in at_once
    ]
    raised: dict[int, tuple[int, ...]] = {}
    for part in (False, True):  # a part of the set-up that says otherwise keeps it to itself
        mine = [each for each in told if part or each[0].section[:-1] == each[1]]
        twice = _said_twice(mine)
        apart = {id(each) for each, parent in mine if _of_one_machine(each, parent, twice)}
        doubtful = {
            parent for each, parent in mine
            if id(each) not in apart and any((parent, name) in twice for name in each.values)
        }  # fmt: skip
        raised |= {
            id(each): parent for each, parent in mine
            if parent not in doubtful and id(each) not in apart
        }  # fmt: skip
    raised |= _raised_late(late, [(s, raised[id(s)]) for s, _ in told if id(s) in raised])
    beside = [(s, raised[id(s)]) for s, _ in [*told, *late] if id(s) in raised]
    commands = _commands_raised(context, parents, blocks, beside)
    context.statements = [
        commands.get(id(each)) or replace(each, section=raised.get(id(each), each.section))
        for each in context.statements
    ]


def _set_up_on_one(context: Context) -> dict[tuple[int, ...], Cell]:
    """The sections on the set-up of one device, `#### A100 环境配置`, `## Set-up (8x H100)`, each
    with that: its rows ran so, wherever they stand. None where several devices have one."""
    found: dict[tuple[int, ...], Device] = {}
    for line, path in context.sections:
        if device := set_up_on(context.titles[line]):
            found[path] = device
    if len({device.key for device in found.values()}) > 1:
        return {}
    return {path: Cell(device.text, path[-1], 1) for path, device in found.items()}


def _out_of(path: tuple[int, ...], paths: Set[tuple[int, ...]]) -> tuple[int, ...]:
    """The section around one on the set-up and those around it that are on it as well."""
    while path[:-1] in paths:
        path = path[:-1]
    return path[:-1]


def _around(section: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """A section and those around it, innermost first."""
    return (section[:depth] for depth in range(len(section), 0, -1))


def _said_of_every_run(
    context: Context, blocks: Mapping[int, Block], texts: Mapping[int, str]
) -> tuple[list[Statement], Set[int]]:
    """The statements of a document, and the lines of its blocks of code that a sentence on every
    run introduces: `All runs use:`. A file that it names there is of no rows of that name."""
    found, kept = set[int](), list[Statement]()
    for each in context.statements:
        block = blocks.get(each.line)
        title = context.titles.get(each.section[-1], "") if block and each.section else ""
        if block is None or not title or model_named(title) or ELSEWHERE.search(title):
            kept.append(each)
            continue
        near = (texts.get(block.begin - 1, ""), texts.get(block.begin - 2, ""))
        above = next(filter(str.strip, near), "")
        of_all = _OPENS_BLOCK.search(above) is not None and (
            of_every_run(above) or _SHARED_BY_ALL.search(above) is not None
        )
        found |= {each.line} if of_all else set()
        kept.append(replace(each, subject="") if of_all else each)
    return kept, found


_OPENS_BLOCK = deferred(
    r"(?:[:：]|\b(?:with|using|uses?|shares?|by|from|are|is|settings|options|flags|arguments))"
    r"[*_ ]*$",
    re.IGNORECASE,
)
"""How a line ends that introduces the block of code below it."""

_SHARED_BY_ALL = deferred(
    r"\b(?:all|each|every one|both) of (?:them|these|the (?:runs|models|configs|jobs)) "
    r"(?:shares?|uses?|starts? from|includes?|have|has|inherits?)\b",
    re.IGNORECASE,
)


def _of_whole_document(
    context: Context, blocks: Mapping[int, Block], texts: Mapping[int, str]
) -> Iterator[Statement]:
    """The statements; those that a sentence makes on every run of the document, or on all that come
    after, or that stand in a block of code which it introduces, as ones of no section in it."""
    roots = {path[:1] for _, path in context.sections}
    whole = next(iter(roots)) if len(roots) == 1 else ()
    for each in context.statements:
        block = blocks.get(each.line)
        if block is not None:
            near = (texts.get(block.begin - 1, ""), texts.get(block.begin - 2, ""))
            above = next(filter(str.strip, near), "")
            found = _OPENS_BLOCK.search(above) and of_whole_document(list(sentences(above))[-1])
            wide = each.values if found else {}
        else:
            wide = _in_sentences_on_all(each, texts.get(each.line, ""))
        if not wide or not each.section or each.of_run or each.here or each.until:
            yield each
            continue
        yield replace(each, section=whole, values=wide, subject="" if block else each.subject)
        if rest := {name: cell for name, cell in each.values.items() if name not in wide}:
            yield replace(each, values=rest)


def _in_sentences_on_all(statement: Statement, text: str) -> dict[str, Cell]:
    """The values of a statement that stand in sentences of a line on every run of a document."""
    if not of_whole_document(text):
        return {}
    told = "".join(part if of_whole_document(part) else " " * len(part) for part in sentences(text))
    if told == text:
        return dict(statement.values)
    told = told.casefold()
    return {name: cell for name, cell in statement.values.items() if cell.text.casefold() in told}


_Raised = tuple[Statement, tuple[int, ...]]
"""A statement and the section that it is to speak for."""


def _said_twice(told: Iterable[_Raised]) -> set[tuple[tuple[int, ...], str]]:
    """The sections and fields that statements say in more than one way, each of all rows. What a
    section says itself to differ in some rows, below its value, is said in one: they know it."""
    said: dict[tuple[tuple[int, ...], str], set[tuple[str, float, str]]] = {}
    told = list(told)
    of_some = {(each.line, name) for each, _ in told if each.subject for name in each.values}
    valued = {(each.section, name): each.line for each, _ in told for name, cell in
              each.values.items() if cell.state == "value"}  # fmt: skip
    for each, parent in told:
        for name, cell in each.values.items() if not (each.here or each.subject) else ():
            if name == "sharding" and cell.text == "FSDP":
                continue  # in whatever way
            turns = cell.state == "unknown" and (each.section, name) in valued
            if turns and valued[each.section, name] < each.line:
                continue
            if cell.state != "unknown" or (each.line, name) not in of_some:
                said.setdefault((parent, name), set()).add(saying(cell))
    return {key for key, cells in said.items() if len(cells) > 1}


def _raised_late(late: Sequence[_Raised], told: Sequence[_Raised]) -> dict[int, tuple[int, ...]]:
    """Statements that only precede the tables, but for sections that say a field otherwise than the
    set-up, or than each other."""
    twice = _said_twice([*told, *late])
    doubtful = {
        each.section
        for each, parent in late
        if any((parent, name) in twice for name in each.values)
    }
    return {id(each): parent for each, parent in late if each.section not in doubtful}


def _holding(context: Context, lines: Set[int]) -> set[tuple[int, ...]]:
    """The sections in which one of the lines stands, or in a part of them."""
    ends, rows = [*(line for line, _ in context.sections), math.inf], sorted(lines)
    return {
        path[:depth]
        for at, (line, path) in enumerate(context.sections)
        if bisect_right(rows, line) < bisect_left(rows, ends[at + 1])
        for depth in range(1, len(path) + 1)
    }


def _before_tables(context: Context, row: int, taken: Set[int]) -> set[tuple[int, ...]]:
    """The sections of prose above the first row of a document, whatever they are called, but for
    those of something else, of one model, or of one day. In a thread each speaks for oneself."""
    return {
        path for line, path in context.sections
        if line < row and precedes(context.titles[line])
        and not (context.comments or model_named(context.titles[line]))
        and not _ENTRY.match(context.titles[line])
    } - _holding(context, taken)  # fmt: skip


def _configurations(blocks: Mapping[int, Block], texts: Mapping[int, str]) -> Set[int]:
    """The lines of blocks of code that hold keys and values, or options alone, and start nothing:
    `num_layers: 40`, `--num-layers 40 \\`."""
    lines: dict[Block, list[int]] = {}
    for number, block in blocks.items():
        lines.setdefault(block, []).append(number)
    found = set[int]()
    for numbers in lines.values():
        told = [text for number in numbers if (text := texts.get(number, "").strip(" \\"))]
        pairs = sum(map(bool, map(_PAIR.match, told))) > 1 and not any(map(_COMMAND.search, told))
        if pairs or (told and all(map(_IS_OPTION.match, told))):
            found.update(numbers)
    return found


_PAIR = deferred(r"\s*(?:- )?[\"']?[A-Za-z][\w.-]*[\"']?\s*[:=]\s*\S")

_COMMAND = deferred(
    r"^\s*(?:[$>%] )?(?:[A-Z_]+=\S+ )*(?:bash|sh|python3?|torchrun|srun|sbatch|accelerate|deepspeed"
    r"|mpirun|pip3?|git|docker|cd|export|module|conda|make|wget|curl|source|sudo|import|from|def)\b"
    r"|(?:^|\s)--[a-z]|^#!"
)
"""A line of a shell, or of a program."""


def _only_configuration(
    context: Context, written: Set[int], held: Set[tuple[int, ...]], rows: Sequence[int]
) -> tuple[int, ...]:
    """The section of the one configuration of a document that stands above all its tables, and with
    none of them: what it says is of all of them. Empty where there is none, or more than one."""
    told: dict[tuple[int, ...], set[str]] = {}
    for each in context.statements:
        if each.line in written:
            told.setdefault(each.section, set()).update(each.values)
    if len(told) != 1 or not rows:
        return ()
    ((section, names),) = told.items()
    last = max(each.line for each in context.statements if each.line in written)
    apart = not section or section in held or ELSEWHERE.search(context.titles[section[-1]])
    return () if apart or len(names) < SPELLED_OUT or last > rows[0] else section


_IS_OPTION = re.compile(r"--[a-z][\w-]+(?:[ =]|$)|# ")


def _of_one_machine(
    statement: Statement, parent: Sequence[int], twice: Set[tuple[Sequence[int], str]]
) -> bool:
    """Whether a statement says nothing but what one of several machines has: of how runs were set
    up it leaves nothing open."""
    names = statement.values.keys()
    return names <= _OF_A_MACHINE and any((parent, name) in twice for name in names)


_OF_A_MACHINE = {"gpu", "gpus", "nodes", "gpus_per_node", "network"}
_HOW_COMPUTED = {"dtype", "attention"}
"""Fields that an introduction says of all that follows: numbers in it are often of highlights."""


def _introduces(context: Context, statement: Statement) -> bool:
    """Whether a statement stands in the introduction of its document: `## Overview`."""
    return bool(statement.section) and introduces(context.titles.get(statement.section[-1], ""))


def _introduced(context: Context, statement: Statement) -> Iterator[Statement]:
    """A statement, in two where an introduction says in it how all is computed, and more."""
    how = {n: cell for n, cell in statement.values.items() if n in _HOW_COMPUTED}
    if 0 < len(how) < len(statement.values) and _introduces(context, statement):
        rest = {n: cell for n, cell in statement.values.items() if n not in how}
        yield replace(statement, values=rest)
        yield replace(statement, values=how)
    else:
        yield statement


def _of_script_of_model(path: Sequence[int], titles: Mapping[int, str]) -> bool:
    """Whether a section is the script of the one model that the heading around it names."""
    return bool(_model_of_script(tuple(path), titles))


def _model_of_script(path: tuple[int, ...], titles: Mapping[int, str]) -> tuple[int, ...]:
    """The section of the one model whose training a section, or the script in it, is of: that of
    the nearest heading but for those of trainings and scripts; empty where it names none."""
    parent = path
    while len(parent) > 1 and (
        of_script(titles.get(parent[-1], "")) or of_training(titles.get(parent[-1], ""))
    ):
        parent = parent[:-1]
    named = parent and model_named(titles.get(parent[-1], ""))
    return parent if named and len(parent) < len(path) else ()


def _commands_raised(
    context: Context,
    parents: Mapping[tuple[int, ...], tuple[int, ...]],
    blocks: Mapping[int, Block],
    told: Sequence[tuple[Statement, tuple[int, ...]]],
) -> dict[int, Statement]:
    """Statements in blocks of code below a heading on how all was run, for the sections beside it,
    each by the one that it was; of models of the size that is said there, where one is. None where
    two of them, or what is raised beside them, say a field in two ways."""
    mine = [
        (each, parents[each.section]) for each in context.statements
        if each.line in blocks and each.section in parents and not (each.of_run or each.subject)
        and (
            of_what_ran(context.titles.get(each.section[-1], ""))
            or _of_script_of_model(each.section, context.titles)
        )
    ]  # fmt: skip
    said: dict[tuple[Sequence[int], str], set[tuple[str, float, str]]] = {}
    for each, parent in [*mine, *told]:
        for name, cell in each.values.items():
            said.setdefault((parent, name), set()).add(saying(cell))
    doubtful = {parent for (parent, _), cells in said.items() if len(cells) > 1}
    found: dict[int, Statement] = {}
    for each, parent in mine if mine else ():
        sizes = {
            number_of(other.values["model_size"]) for other in context.statements
            if other.section == each.section and "model_size" in other.values
        }  # fmt: skip
        size = next(iter(sizes)) if len(sizes) == 1 and each.size is None else each.size
        if parent not in doubtful:
            found[id(each)] = replace(each, section=parent, size=size)
    return found


def _of_all_sections(statement: Statement, context: Context, texts: Mapping[int, str]) -> bool:
    """Whether a statement is of every run, under a heading of nothing else than those; below one of
    a model it is of every run of that."""
    title, text = context.titles.get(statement.section[-1], ""), texts[statement.line]
    if len(statement.section) > 1 and (model_named(title) or size_alone(title)):
        return False
    every = of_every_run(text) or _EVERY_RUN.search(text) is not None
    every = every or (
        statement.values.keys() <= {*ARCHITECTURE} and _OF_EVERY_MODEL.search(text) is not None
    )
    every = every or _ends_one_of_all(statement, texts.get(statement.line - 1, ""), text)
    return every and not ELSEWHERE.search(title)


_OF_EVERY_MODEL = deferred(
    r"\b(?:all|both|each|every)(?: of)?(?: the| our| these| them)*(?: (?:[\w-]+ )?models?)? "
    r"(?:have|has|share)\b",
    re.IGNORECASE,
)
"""How large all models of a document are: `both have 32 layers`."""


def _ends_one_of_all(statement: Statement, above: str, text: str) -> bool:
    """Whether a statement stands in the end of a sentence of every run that begins in the line of
    prose above: `All runs were made with this script: micro-batch 1,` and, below it, `bf16.`"""
    if not _UNENDED.fullmatch(above) or not _GOES_ON.match(text):
        return False
    begun, end = list(sentences(above))[-1], next(iter(sentences(text)), "")
    within = all(
        cell.column <= len(end) for cell in statement.values.values() if cell.line == statement.line
    )
    return within and of_every_run(f"{begun} {end}")


_UNENDED = deferred(r"\s*(?![|#>]|[-*+•] |[0-9]{1,2}[.)] |```)[^|]{40,}[^.!?:;。：|]\s*")

_GOES_ON = deferred(r"\s*(?:[a-z][\w-]* |[0-9(`][\w,]*[ ,.])(?![^ ]* ?[:=|])")
"""A line that begins in the middle of a sentence."""


_EVERY_RUN = deferred(
    r"(?:所有|全部)(?:的)?(?:实验|结果|测试|测量|数据|训练|任务|脚本)(?:默认)?[均都在使采]|(?:全て|すべて)の(?:実験|測定|結果|計測)"
    r"|모든 ?(?:실험|측정|결과|테스트)|\b[Aa]lle (?:Läufe|Messungen|Experimente|Modelle)\b"
    r"|\b(?:wird|wurde|werden|wurden|ist|sind) durchgehend\b"
    r"|\btou(?:s les runs|tes les mesures)\b"
)
"""Every run in other languages."""


ELSEWHERE = deferred(
    r"\b(?:related|previous|prior|background|inference|serving|deploy\w*|eval\w*|future"
    r"|limitations?"
    r"|data ?sets?|data|faq|install\w*|usage|quick ?start|accuracy|quality|converge\w*|news"
    r"|changelog)\b",
    re.IGNORECASE,
)
"""Headings below which `all results` are not those of the tables beside them."""

_NAMES_MACHINE = deferred(
    r"\s*(?:(?:[-*]|[0-9]{1,2}[.)]) )?"
    r"(?:(?:GPUs?|accelerators?|devices?|hardware)(?: (?:type|name|model)s?)?"
    r"|GPU models and configuration|GPU 0)\s*:\s*\S",
    re.IGNORECASE,
)
"""A line of what a program prints of the system that it is on: `- GPU type: 8x H100`."""


def _of_each(line: Line, section: tuple[int, ...]) -> Iterator[Statement]:
    """Statements of a line that speaks of a model, or of each of several, and of no other row."""
    ran = (each for each in SENTENCES.split(line.text) if not is_intended(each))
    for found in filter(None, map(for_each, ran)):
        name, told = found
        spec = fields(Configuration)[name]
        unknown = Cell(line.text.strip(), line.number, line.column, state="unknown")
        if len(told) > 1:
            yield Statement(line.number, section, {name: unknown})
        for model, value in told.items():
            if cell := cell_of(spec, value, line):
                yield Statement(line.number, section, {name: cell}, subject=model, here=True)


_ON_DEVICE = deferred(
    rf"(?<=\()({NUMBER_FORMAT}) (?:on|for) (?:the |our |all )?(?={SIGN}s?(?: GPUs?| cards?)?\))"
    rf"|(?<![\w-])({NUMBER_FORMAT}) (?:on|for) (?:the |our |all )?"
    rf"(?={SIGN}s?,? (?:and )?{NUMBER_FORMAT} "
    r"(?:elsewhere|otherwise|on (?:all |the )?(?:other|rest)))",
    re.IGNORECASE,
)


def _formats_of_devices(line: Line, section: tuple[int, ...]) -> Iterator[Statement]:
    """Statements of a line that gives runs on one device a number format of their own: `bf16 (fp16
    on the T4)`, `fp16 on the V100, bf16 elsewhere`."""
    plain = signed(line.text) if " on " in line.text or " for " in line.text else ""
    for found in _ON_DEVICE.finditer(plain) if len({*FORMATS.findall(plain)}) > 1 else ():
        device = device_at(line.text, found.end())
        group = found.lastindex or 1
        cell = Cell(found[group], line.number, line.column + found.start(group))
        yield Statement(line.number, section, {"dtype": cell}, subject=device.text, here=True)


def _divided(context: Context, statement: Statement | None, line: Line) -> Statement | None:
    """A statement without what its line says of each of several models, which is noted."""
    section = context.sections[-1][1] if context.sections else ()
    apart = list(_of_each(line, section))
    context.statements += [*apart, *_formats_of_devices(line, section)]
    if statement is None or not apart:
        return statement
    told = {name for each in apart for name in each.values}
    values = {name: cell for name, cell in statement.values.items() if name not in told}
    return replace(statement, values=values) if values else None


def _divide(
    context: Context,
    lines: Sequence[Line],
    blocks: Mapping[int, Block],
    rows: Set[int],
    named: Iterable[str],
) -> None:
    """Note what sentences give some rows and others otherwise, in place of what their lines say;
    `named` are names of rows."""
    texts = [
        (line.number, line.text) for line in lines
        if rows and line.number not in blocks and line.number not in rows
        and len(line.text) <= LONGEST and not line.text.lstrip().startswith("|")
    ]  # fmt: skip
    at = {line.number: line for line in lines}
    sections = [line for line, _ in context.sections]
    tabled = {_section_of(context, sections, row) for row in rows}
    models = [name for name in named if not only(name) and not size_alone(name)]
    for numbers, text in paragraphs(texts):
        end = 0
        for sentence in _SENTENCES.split(text):
            begin = text.find(sentence, end)
            end = begin + len(sentence)
            if not (told := scoped(sentence, models)):
                continue
            names = {each.field for each in told}
            names |= {other for name in names & _AGAIN for other in SAME_FACT[name]}
            called = {each.rows for each in told}
            since = max(
                (each.since for each in context.statements if each.line in numbers), default=0
            )
            context.statements = [
                replace(
                    each,
                    values={
                        n: c for n, c in each.values.items()
                        if n not in names and not (n in WHOSE and c.text in called)
                    },
                )
                if each.line in numbers
                else each
                for each in context.statements
            ]  # fmt: skip
            section = _section_of(context, sections, numbers[0])
            here = section in tabled
            if OTHERS in called:
                tables = [*(at[row].text for row in rows if row in at), *named]
                told = _without_strange_others(told, [*tables, *context.titles.values()])
            line = _from([at[number] for number in numbers], begin)
            context.statements += (
                replace(each, since=since) for each in _of_scopes(told, line, section, here=here)
            )
    context.statements = [each for each in context.statements if each.values]


def _from(lines: Sequence[Line], at: int) -> Line:
    """The one of several lines, and what of it, from a place in their texts one behind another."""
    for line in lines if at else ():
        bare = line.text.strip()
        if at <= len(bare):
            at += len(line.text) - len(line.text.lstrip())
            return line._replace(text=line.text[at:], column=line.column + at)
        at -= len(bare) + 1
    return lines[0]


_AGAIN = {"recompute", "activation_checkpointing"}
"""Fields of which a line that is asked by itself may find one, and the sentence the other."""

_SENTENCES = deferred(r"(?<=[\w)*`\"”])[.;] +(?=[A-Z`*])|。")


def _without_strange_others(told: Sequence[Scoped], texts: Sequence[str]) -> list[Scoped]:
    """Values of some rows and of all others, without those of the others where none of the texts
    names the first: nobody knows then which rows are the others."""
    first = {each.rows.casefold() for each in told} - {OTHERS}
    if all(any(name in text.casefold() for text in texts) for name in first):
        return [each._replace(rows="") if each.rows == OTHERS else each for each in told]
    return [each for each in told if each.rows != OTHERS]


def _section_of(context: Context, headings: Sequence[int], line: int) -> tuple[int, ...]:
    """The headings above a line, outermost first."""
    begun = bisect_right(headings, line) - 1
    return context.sections[begun][1] if begun >= 0 else ()


def _of_scopes(
    told: Sequence[Scoped], line: Line, section: tuple[int, ...], *, here: bool
) -> Iterator[Statement]:
    """Statements of the rows that have each value; of all others it is not known, unless said."""
    unknown = Cell(line.text.strip(), line.number, line.column, state="unknown")
    for name in dict.fromkeys(each.field for each in told):
        if all(each.rows for each in told if each.field == name):
            yield Statement(line.number, section, {name: unknown})
    for each in told:
        spec = fields(Configuration)[each.field]
        cell = cell_of(spec, each.value, line) if each.value else unknown
        if cell and each.rows:
            yield Statement(line.number, section, {each.field: cell}, subject=each.rows, here=here)
        elif cell:
            yield Statement(line.number, section, {each.field: cell})


def _beside(
    statement: Statement | None, line: Line, section: tuple[int, ...], more: Mapping[str, Cell]
) -> Statement | None:
    """A statement with values that it does not say itself."""
    if not more:
        return statement
    statement = statement or Statement(line.number, section, {})
    return replace(statement, values={**more, **statement.values})


def _keep(
    context: Context, lines: Sequence[Line], at: int, statement: Statement, *, in_list: bool
) -> None:
    """Notes the statement that a line is, and the command that it is a part of, but for options in
    a list of settings."""
    if all(cell.state == "unknown" for cell in statement.values.values()):
        context.not_understood.append(lines[at].number)
    if not in_list and _OPTION.search(lines[at].text):
        _note_command(context, lines, at, statement)
    context.statements.append(statement)


def _note_command(context: Context, lines: Sequence[Line], at: int, statement: Statement) -> None:
    """Notes where the command of a line with options begins, and what device it is for."""
    context.commands[lines[at].number] = _begun(lines, at)
    if on := _opened_for(lines, at):
        context.commands_on |= {cell.line: on for cell in statement.values.values()}


def _begun(lines: Sequence[Line], at: int) -> int:
    """The line on which the command begins that goes on at one: lines before end in `\\`."""
    while at and lines[at - 1].text.rstrip().endswith("\\"):
        at -= 1
    return lines[at].number


def _opened_for(lines: Sequence[Line], at: int) -> Cell | None:
    """The one device that the line of prose over a command names: `To reproduce on Gaudi2:`."""
    for line in reversed(lines[max(0, at - LONGEST_COMMAND) : at]):
        text = _TAGS.sub("", line.text).rstrip(" *_`")
        if text.endswith((":", "：")) and len(text) <= LONGEST:
            last = text[max(text.rfind(". "), 0) :]
            device = only(last)
            return Cell(device.text, line.number, line.column) if device else None
    return None


LONGEST_COMMAND = 12
"""Lines of a command behind the one that opens it."""

_OPTION = re.compile(
    r"(?:^|\s)--[a-z]|^\s*(?:[$>] )?(?:[A-Z][A-Z0-9_]{0,40}=\S{1,80} ){1,16}"
    r"(?:bash|sh|srun|sbatch|python3?|torchrun|deepspeed|accelerate|\./\S)"
)
"""An option of a command, or the variables that stand in front of one."""

_TAGS = re.compile("</?[a-z][^<>]*>")


def _in_its_place(
    statement: Statement | None, lines: Sequence[Line], at: int, taken: Set[int]
) -> Statement | None:
    """A statement of the rows of one table alone, where its line is the title of that; and of no
    device, where its sentence names another in the line above or below."""
    if statement is None:
        return None
    until = table_end(lines, at, taken) or own_table(lines, at, taken)
    if "gpu" in statement.values and (names_another(lines, at) or lists_another(lines, at)):
        values = dict(statement.values)
        if one_of_each(lines[at].text):
            del values["gpu"]  # how many of it are as many of the others
        else:
            values |= {n: c._replace(state="unknown") for n, c in values.items() if n in OF_DEVICES}
        statement = replace(statement, values=values)
    elif "gpu" in statement.values and "gpus" not in statement.values and lists_one(lines, at):
        one = statement.values["gpu"]._replace(text="1")
        statement = replace(statement, values={**statement.values, "gpus": one})
    if not until and later(lines[at].text):
        return statement
    if until or _under_its_table(lines, at, taken):
        return replace(statement, caption=True, until=until)
    held = table_above(lines[at], taken) or table_of_all_rows(lines, at, taken)
    if held:
        return replace(statement, caption=True, since=held[0], until=held[1])
    return statement


_SHAPED = deferred(
    r"(?:['’]s)?[`*_\])]{0,3}(?:[ -](?:shape|architecture|geometry|dimensions|layout|blueprint"
    r"|config(?:uration)?|Architektur|形状|架构|结构|構成|アーキテクチャ)\b"
    r"| ?(?:形状|的?架构|的?结构|(?:と同じ)?構成"
    r"|(?:の)?アーキテクチャ))",
    re.IGNORECASE,
)
"""Behind the name of a model: another is built like it."""

_SHAPE_OF = deferred(
    r"\b(?:shape|architecture|geometry|dimensions|layout|blueprint|config(?:uration)?|Architektur)"
    r" (?:of|as|from|is|von|de) (?:an? |the |that of )?[`*_\[]{0,3}$",
    re.IGNORECASE,
)


def _of_its_own_name(
    statement: Statement | None, context: Context, lines: Sequence[Line]
) -> Statement | None:
    """A statement without the model after which another is shaped that a heading above it names:
    `Model is the Pythia-1.4B shape` below `# Wren-1.4B`."""
    model = statement.values.get("model") if statement else None
    line = next((each for each in lines if model and each.number == model.line), None)
    if statement is None or model is None or line is None or line.number in statement.section:
        return statement
    at = model.column - line.column
    named = {
        each.values["model"].text for each in context.statements
        if each.line in statement.section and "model" in each.values
    }  # fmt: skip
    if named <= {model.text}:
        return statement
    if not (_SHAPED.match(line.text, at + len(model.text)) or _SHAPE_OF.search(line.text, 0, at)):
        return statement
    values = {name: cell for name, cell in statement.values.items() if name != "model"}
    return replace(statement, values=values) if values else None


def _turning(
    statement: Statement | None, line: Line | None, section: tuple[int, ...]
) -> Statement | None:
    """A statement with unknown values for what its line of prose says to differ from here on."""
    if line is None or line.prefix:
        return statement
    held = dict(statement.values) if statement else {}
    told = {other for name in held for other in SAME_FACT.get(name, ())}
    names = turned(line.text) - held.keys() - told
    if not names:
        return statement
    held = {name: cell for name, cell in _from_here_on(line).items() if name in names} | held
    names -= {*held, *(other for name in held for other in SAME_FACT.get(name, ()))}
    left = {name: _unclear(name, line) for name in sorted(names)}
    if "gpu" in left:
        left["gpu"] = left["gpu"]._replace(text=turned_device(line.text))
    statement = statement or Statement(line.number, section, {})
    return replace(statement, values={**left, **held})


def _unclear(name: str, line: Line) -> Cell:
    """A setting that differs from a line on, unknown, with the sentence of it that speaks of it."""
    said = (text for text in sentences(line.text) if name in turned(text))
    return Cell(next(said, line.text).strip(), line.number, line.column, state="unknown")


_FROM_HERE = deferred(
    r"\bfrom (?:here|now|then|(?:this|that) point) on(?:wards?)?\b|\bsince then\b"
    r"|\b(?:again|now)\b(?! (?:and|we see|faster|slower))",
    re.IGNORECASE,
)

_EARLIER = deferred(
    r"\b(?:than|before|earlier|previous\w*|was|were|had|instead of|not|without|only|half|halv\w+"
    r"|twice|doubl\w+|from [0-9]|up to|except)\b",
    re.IGNORECASE,
)


_IN_BRACKETS = deferred(r"\([^()]{1,80}\)")
"""A remark beside a setting: `two 3090s (without NVLink)`."""


def _from_here_on(line: Line) -> dict[str, Cell]:
    """Settings that sentences say to be so from here on: `From now on everything is in bf16.`"""
    found: dict[str, Cell] = {}
    begin = 0
    for part in sentences(of_these_runs(line.text)):
        if _FROM_HERE.search(part) and not _EARLIER.search(_IN_BRACKETS.sub(" ", part)):
            own = line._replace(text=part, column=line.column + begin)
            found |= phrases(own, least=1)
        for kept in _STILL.finditer(part):
            if not _EARLIER.search(kept["what"]):
                place = line.column + begin + kept.start("what")
                found |= phrases(line._replace(text=kept["what"], column=place), least=1)
        begin += len(part)
    return found


_STILL = deferred(
    r"(?:^|[,;(–—] ?)(?:but |and |all |again )?(?:still|as before|unchanged)"
    r"(?: (?:at|in|with|on|using))?:? (?P<what>[^,;.()–—]{3,40})(?=[,;.()–—]|$)",
    re.IGNORECASE,
)
"""A part of a sentence that says what has not changed: `still ctx 2048`."""


_OF_A_TABLE = deferred(
    r"\W*(?:(?:training|step|iteration|measured|mean|median|peak|end-to-end) )*"
    r"(?:speeds?|throughputs?|times?|timings?|rates?|performance|results|numbers|tokens|memory"
    r"|MFU)\b"
    r"(?!.*\b(?:is|are|was|were|has|have|can|does|do|see|than|vs)\b)[^:|]{8,160}",
    re.IGNORECASE,
)
"""A line that names what a table holds, and has no verb: `Training speed of GPTs on 8xA100.`"""

APART = 6
"""Lines below a caption within which no other table may begin: it may be that one's."""


def _under_its_table(lines: Sequence[Line], at: int, taken: Set[int]) -> bool:
    """Whether a line names what the table right above it holds."""
    number = lines[at].number
    if not taken & {number - 1, number - 2} or not _OF_A_TABLE.fullmatch(lines[at].text):
        return False
    return taken.isdisjoint(range(number + 1, number + APART))


def _of_the_model(statement: Statement) -> dict[str, Cell]:
    """Fields of a model that a statement says, of no table alone."""
    if statement.of_run or statement.caption:
        return {}
    return {n: c for n, c in statement.values.items() if n in (*ARCHITECTURE, "seq_len")}


def _alternatives(statements: Sequence[Statement], texts: Mapping[int, str]) -> Iterator[Statement]:
    """The statements; of bullets that list a run each, only what all of them say alike. Bullets of
    which no two say the same are of one run."""
    group: list[Statement] = []
    for statement in [*statements, None]:
        bullet = (
            statement is not None
            and len(statement.values) >= MANY
            and (_BULLET.match(texts[statement.line]) is not None)
        )
        if group and (statement is None or not bullet or statement.line > group[-1].line + CLOSE):
            yield from _in_common(group)
            group = []
        if statement is not None and bullet:
            group.append(statement)
        elif statement is not None:
            yield statement


def _in_common(group: Sequence[Statement]) -> Iterator[Statement]:
    names = [name for each in group for name in each.values]
    if len(set(names)) == len(names):  # parts of one set-up
        last = replace(group[-1], values={n: c for each in group for n, c in each.values.items()})
        yield from [last] if len(group) > 1 else group
        return
    same = {
        name: cell.text
        for name, cell in group[0].values.items()
        if all(each.values.get(name, cell).text == cell.text for each in group)
        and all(name in each.values for each in group)
    }
    for each in group:
        values = {
            name: cell if name in same else cell._replace(text="several", state="unknown")
            for name, cell in each.values.items()
        }
        yield replace(each, values=values)


_BULLET = deferred(r"\s*(?:[-*+]|[0-9]{1,2}[.)]) ")

CLOSE = 4
"""Lines between two bullets of one list."""


def _placed(
    statement: Statement, line: Line, block: Block | None, *, environment: bool, noted: int
) -> Statement:
    """A statement with what its place says: a block's name, a heading, a logger's prefix, and the
    first row of the tables that it is a note below."""
    if noted and not statement.until:
        statement = replace(statement, since=noted)
    subject = (block.subject or _of_object(line)) if block else _of_item(line)
    if statement.until or not (environment or block or line.prefix or subject):
        return statement
    return Statement(
        statement.line, statement.section, statement.values, statement.size, statement.backward,
        statement.outright, statement.of_run or bool(line.prefix), subject,
        environment and not block, caption=statement.caption, since=statement.since,
    )  # fmt: skip


_ITEM = deferred(
    r"\s*(?:[-*+]|[0-9]{1,2}[.)]) "
    r"\*\*(?P<name>[^*:：]{2,40}?)(?P<model> models?)?(?:[:：]\*\*|\*\* ?[:：]) ",
    re.IGNORECASE,
)


def _of_item(line: Line) -> str:
    """The model that an item of a list is about: `- **BERT Model**: sequence length 512`."""
    found = _ITEM.match(line.text)
    if found is None:
        return ""
    name = found["name"]
    return name if found["model"] or name in (model_named(name), family_named(name)) else ""


_OBJECT = deferred(
    r"\s*(?:[\"'](?P<quoted>[\w.+ -]{1,40})[\"']|(?P<bare>[A-Za-z][\w-]{0,39}))\s*[:=]"
    r"\s*(?:dict\(|\{)[^{}()]{1,400}[)}]\s*,?\s*(?:(?:#|//).*)?"
)


def _of_object(line: Line) -> str:
    """The key of an object that a line of code holds whole, after which a row may be called:
    `"gqa": dict(n_head=32, n_kv_head=8),`."""
    found = _OBJECT.fullmatch(line.text)
    return (found["quoted"] or found["bare"]) if found else ""


def _of_host(statement: Statement, line: Line, source: str) -> Statement:
    """A statement of all of a notebook, where its line prints the device that it ran on."""
    if "gpu" not in statement.values or not source.endswith(".ipynb"):
        return statement
    printed = PRINTED.fullmatch(signed(line.text))
    if printed is None and statement.values["gpu"].law != OF_HOST:
        return statement
    alone = printed is not None and printed["listed"]
    listed = {"gpus": statement.values["gpu"]._replace(text="1")} if alone else {}
    values = {**statement.values, **listed}
    return Statement(line.number, (), values, environment=True, host=True)


def architectures(statements: Sequence[Statement]) -> Iterator[dict[str, Cell]]:
    """The models that statements in consecutive lines spell out, each once."""
    seen: set[tuple[tuple[str, str], ...]] = set()
    block: dict[str, Cell] = {}
    last = 0
    for statement in [*statements, None]:
        if statement is None or statement.line > last + NEAR:
            if len(block.keys() & set(ARCHITECTURE)) >= SPELLED_OUT:
                key = tuple(sorted((name, cell.text) for name, cell in block.items()))
                if key not in seen:
                    seen.add(key)
                    yield block
            block = {}
        if statement is not None:
            one = {n: c for n, c in statement.values.items() if n in (*ARCHITECTURE, "dtype")}
            if len(statement.values) == 1:
                block |= one
            last = statement.line


NEAR = 16
"""Lines between two statements of one dump."""
