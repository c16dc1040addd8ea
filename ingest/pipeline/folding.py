"""Folding of one input: lines become records of formats, and configuration is bound to them.

Every line of the input is in exactly one of four sums afterwards: claimed, refused, blank, not
ours. Nothing here knows a format; formats are data and a fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from operator import attrgetter
from pathlib import Path

import polars as pl
from assay.ingest.binding.batches_said import (
    beside_micro_batches,
    by_other_rows,
    settle_batches,
)
from assay.ingest.binding.binder import bind
from assay.ingest.binding.bound_rows import UnlikeError, bind_rows, unbound
from assay.ingest.binding.mentioned import MOST_LINES, mentioned
from assay.ingest.binding.named_rows import but_for_unable, but_for_unnamed
from assay.ingest.binding.noted_memory import settle_noted
from assay.ingest.binding.shaped import described, shaped, shaped_by_text
from assay.ingest.binding.speeds_proven import settle_speeds
from assay.ingest.columns.footnotes import unborne
from assay.ingest.columns.titles import size_printed
from assay.ingest.columns.turns import but_for_later
from assay.ingest.legends import (
    added_items,
    alternative_commands,
    compared_programs,
    conditioned,
    labelled_clauses,
    marked_rows,
    models_in_turn,
    name_templates,
    noted_rows,
    one_but_others,
    switched_formats,
)
from assay.ingest.legends.label_signs import Explanation, Sign, paragraphs, tell, without
from assay.ingest.legends.stated_wrong import correct
from assay.ingest.lines.candidates import candidates
from assay.ingest.lines.rows import BoundRows, Rows
from assay.ingest.pipeline.ledger import Ledger
from assay.ingest.pipeline.scan import Engine, Scan, scan
from assay.ingest.pipeline.superseded import superseded
from assay.ingest.prose.degree_letters import letters_in, with_degrees
from assay.ingest.prose.only_program import only_programs
from assay.ingest.prose.scopes import WHOSE
from assay.ingest.schema.fields import rows_of
from assay.ingest.schema.format import LAST, Folded, Format, Region
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span, Statement
from assay.ingest.source.blocks import series
from assay.ingest.source.headings import around_headings, headed
from assay.ingest.source.inline_markup import in_markdown, set_in_italics
from assay.ingest.source.notebook import is_notebook, markdown_cells, written
from assay.ingest.source.opening import Source
from assay.ingest.source.prefixes import all_ascii, holds, peel, region
from assay.ingest.statements.context import Context, read_context
from assay.ingest.statements.nested import LONGEST
from assay.ingest.statements.one_line import stated as stated_by
from assay.ingest.statements.trained_with import (
    as_the_document_says,
    of_their_tasks,
    versions_below,
)
from assay.ingest.statements.worth import WORTH
from assay.ingest.statements.wrapped import near_tables


@dataclass
class Carved:
    """One source on its way: what the formats made of it, and what became of its lines."""

    source: Source
    found: Scan
    folds: list[tuple[Format, Folded]]
    rows: dict[str, list[BoundRows]]
    ledger: Ledger
    statements: Sequence[Statement] = ()


def carved(
    source: Source,
    formats: Sequence[Format],
    assumed: Mapping[str, Cell] | None = None,
    *,
    engine: Engine = "auto",
    spool: Path | None = None,
) -> Carved:
    """Everything about one source but types and checks of the records that folds gave."""
    found = scan(source, formats, engine, spool)
    try:
        return folded(source, found, formats, assumed or {})
    except UnlikeError:
        return folded(source, scan(source, formats, "folds"), formats, assumed or {})


def folded(
    source: Source, found: Scan, formats: Sequence[Format], assumed: Mapping[str, Cell]
) -> Carved:
    """Fold a source that has been scanned, format by format."""
    ledger = Ledger(remarks=list(source.remarks))
    for fault in source.refused:
        ledger.refused[fault.span.line] = "source"
        ledger.diagnostics.append(fault)
    concerned = filter(found.concerns, formats)
    ordered = sorted(concerned, key=lambda fmt: (not fmt.before, fmt.behind))
    folds = list[tuple[Format, Folded]]()
    for fmt in ordered:
        if made := _folded(source, found, fmt, ledger, folds):
            folds.append((fmt, made))
    _close(source, found, folds, formats, ledger)
    found.documents.clear()
    rows, statements = _bind(source, found, folds, assumed, ledger)
    if source.seams or source.moved:
        statements = [replace(each, values=_placed(source, each.values)) for each in statements]
        for record in chain.from_iterable(folded.records for _, folded in folds):
            record.cells.update(_placed(source, record.cells))
            record.line, record.column = source.moved_from(record.line, record.column)
    for fmt, folded in folds:
        if fmt.repeats:
            _mark_repeats(source, fmt, folded.records, rows, ledger)
    return Carved(source, found, folds, rows, ledger, statements)


def _placed(source: Source, values: Mapping[str, Cell]) -> dict[str, Cell]:
    """Cells of lines that were joined or spelled anew where they stand on disk."""
    return {
        name: cell._replace(line=line, column=column)
        for name, cell in values.items()
        for line, column in (source.place(cell.line, cell.column),)
    }


def _folded(
    source: Source,
    found: Scan,
    fmt: Format,
    ledger: Ledger,
    before: Sequence[tuple[Format, Folded]],
) -> Folded | None:
    """Fold a source with one format, behind those `before`; a line that another has is ambiguous,
    unless that one yields it."""
    rows = found.rows.get(fmt.name, [])
    seen = _seen_by(source, found, fmt, ledger)
    if not seen.lines and not rows:
        return None
    folded = fmt.fold(seen)
    for line, column in _seen(found, rows):
        folded.claimed.add(line)
        if folded.parts is not None:
            folded.parts.add((line, column))
    double = _double(fmt, folded, ledger)
    if double:
        for made in (folded for one, folded in before if one.yields):
            _yield_tables(made, set(double), ledger)
        double = [line for line in double if line in ledger.claimed]
    for line in double:
        other = ledger.claimed.pop(line)
        message = f"claimed by {other} and by {fmt.name}; neither is believed"
        ledger.diagnostics.append(Diagnostic(Span(source.name, line), Code.AMBIGUOUS, message))
        ledger.refused[line] = fmt.name
    for line in folded.claimed - set(double) - ledger.refused.keys():
        ledger.claimed[line] = fmt.name
    for fault in folded.refused:
        if fault.span.line not in double:
            ledger.refused[fault.span.line] = fmt.name
            ledger.diagnostics.append(fault)
            ledger.claimed.pop(fault.span.line, None)
    ledger.blank |= folded.blank
    if fmt.before:
        refused = {fault.span.line for fault in folded.refused}
        ledger.owned |= folded.claimed | folded.blank | refused
    ledger.remarks += folded.remarks
    ledger.tables += [(fmt.name, note) for note in folded.tables]
    return folded


def _seen_by(source: Source, found: Scan, fmt: Format, ledger: Ledger) -> Region:
    """The lines that a format looks at."""
    if found.looked is not None:
        spoken = ledger.claimed.keys() | ledger.refused.keys() | ledger.blank
        without = spoken if fmt.behind else ledger.owned
        return found.looked.region(fmt, met=fmt.name in found.met, without=without)
    nothing = Region(source, (), found.read)
    if found.lines.is_empty():  # thousands of empty files are looked at for each format
        return nothing
    if fmt.behind:
        taken = ledger.claimed.keys() | ledger.refused.keys() | ledger.blank | found.read
        free = found.lines.filter(~pl.col("line").is_in(sorted(taken)))
        hits = candidates(free, fmt)
        return region(source, peel(hits)) if hits.height else Region(source, ())
    if fmt.lines == "document" and not (ledger.owned or fmt.unwraps):
        return found.document(glued=fmt.glued) if fmt.name in found.met else nothing
    single = fmt.lines == "single"
    if not single and fmt.name not in found.met:
        return nothing
    hits = candidates(found.lines, fmt) if single else found.lines
    if ledger.owned:
        hits = hits.filter(~pl.col("line").is_in(sorted(ledger.owned)))
    if fmt.unwraps and source.carries and hits.height:
        hits = source.on_disk
    if hits.is_empty():
        return nothing
    return region(source, peel(hits, glued=fmt.glued), found.read)


def _close(
    source: Source,
    found: Scan,
    folds: list[tuple[Format, Folded]],
    formats: Sequence[Format],
    ledger: Ledger,
) -> None:
    """Fold the last lines, behind the last step, for what they tell of the end of its run."""
    if found.looked is not None and not len(found.looked.closing):
        return
    last = _last_step(found, folds)
    if last is None:
        return
    spoken = ledger.claimed.keys() | ledger.refused.keys() | ledger.blank | found.read
    first = max(last + 1, source.height - LAST + 1)
    free = found.lines.filter(pl.col("line") >= first, ~pl.col("line").is_in(sorted(spoken)))
    for fmt in formats:
        if fmt.closing is None or free.is_empty():
            continue
        told = free.filter(pl.col("text").str.contains(fmt.closing.finds))
        more = fmt.closing.fold(region(source, peel(told)))
        if not more.records:
            continue
        mine = next((folded for one, folded in folds if one is fmt), None)
        if mine is None:
            folds.append((fmt, more))
        else:
            mine.records += more.records
            mine.claimed |= more.claimed
        for line in more.claimed:
            ledger.claimed[line] = fmt.name


def _last_step(found: Scan, folds: Sequence[tuple[Format, Folded]]) -> int | None:
    """The line of the last record that is one of a step; None where there is none."""
    lines: list[int] = []
    for fmt, folded in folds:
        main = next(iter(fmt.schemas))
        steps = _of_steps(fmt)
        lines += (
            int(each.alike.lines[-1]) if each.alike else each.line
            for each in folded.records
            if (each.frame or main) in steps
        )
        lines += (each.last for each in found.rows.get(fmt.name, ()) if main in steps)
    return max(lines, default=None)


def _of_steps(fmt: Format) -> set[str]:
    """The frames of a format whose rows are steps."""
    return {name for name, of in fmt.schemas.items() if rows_of(of, fmt.origin) == "step"}


def has_steps(fmt: Format) -> bool:
    """Whether records of a format may be steps, behind which a run may end."""
    return bool(_of_steps(fmt))


def _seen(found: Scan, rows: Sequence[Rows]) -> Iterable[tuple[int, int]]:
    """Rows whose lines another format may look at too: line and column."""
    if not found.met:
        return
    for each in rows:
        yield from each.frame().select("line", "column").iter_rows()


def _yield_tables(folded: Folded, double: Set[int], ledger: Ledger) -> None:
    """Take from a format every table with lines that another format has, too."""
    theirs: set[int] = set()
    for note in folded.tables:
        lines = set(range(note.line, note.last + 1))
        if lines & double:
            theirs |= lines & folded.claimed
    folded.records = [each for each in folded.records if each.line not in theirs]
    folded.claimed -= theirs
    for line in theirs:
        ledger.claimed.pop(line, None)


def _double(fmt: Format, folded: Folded, ledger: Ledger) -> list[int]:
    """Lines that another format has claimed too, unless each holds a part of its own there."""
    mine = folded.parts or set()
    lines = folded.claimed | {d.span.line for d in folded.refused}
    double = lines & ledger.claimed.keys()
    if folded.parts is not None:
        both = {line for line, column in mine if (line, column) in ledger.parts}
        whole = ledger.claimed.keys() - {line for line, _ in ledger.parts}
        double = (double & both) | (double & whole)
    ledger.parts |= mine
    return sorted(double)


def _bind(
    source: Source,
    found: Scan,
    folds: Sequence[tuple[Format, Folded]],
    assumed: Mapping[str, Cell],
    ledger: Ledger,
) -> tuple[dict[str, list[BoundRows]], Sequence[Statement]]:
    """Bind configuration outside the records; the lines that were used are claimed."""
    rows = {fmt.name: [unbound(each) for each in found.rows.get(fmt.name, [])] for fmt, _ in folds}
    binding = [(fmt, folded) for fmt, folded in folds if fmt.binds]
    if not any(folded.records or rows[fmt.name] for fmt, folded in binding):
        return rows, ()
    document = any(fmt.lines == "document" and folded.records for fmt, folded in binding)
    lines = _stating(source, found, document=document)
    taken = ledger.claimed.keys() | ledger.refused.keys() | ledger.blank | found.read
    taken -= set[int]().union(*(folded.shared for _, folded in folds))
    tabled = {row.line for _, folded in binding for row in folded.records if row.tabled}
    every = [record for _, folded in binding for record in folded.records]
    others = _other_below(found, every, tabled) if document else {}
    prose: Sequence[Line] = (
        _without(in_markdown(_prose(found)), others) if tabled and document else ()
    )
    letters = letters_in(prose)
    of_names, templates = name_templates.tell(every, prose)
    told, signs = tell(every, without(prose, templates))
    of_unmarked, unmarked = noted_rows.tell(every, prose)
    of_some, conditions = conditioned.tell(every, prose)
    of_one, singled = one_but_others.tell(every, prose)
    of_marked, marks = marked_rows.tell(every, prose)
    in_turn, turns = models_in_turn.tell(every, prose, letters)
    listed = added_items.tell(every, prose)
    of_labels, clauses = labelled_clauses.tell(every, without(prose, turns))
    told |= (
        of_some
        | of_one
        | of_unmarked
        | of_names
        | of_marked
        | in_turn
        | of_labels
        | {item.line for item in listed}
        | switched_formats.tell(every, paragraphs(prose))
    )
    explained: list[Sign | Explanation] = [
        *signs, *unmarked, *templates, *conditions, *singled, *marks, *turns, *listed,
        *clauses,
    ]  # fmt: skip
    prose = without(prose, explained)
    stated = with_degrees(
        headed(
            without(_without(_marked(_with_near(lines, found, tabled), found), others), explained)
        )
        if document
        else lines,
        letters,
    )
    context = read_context(
        source.name, stated, set(taken), assumed, tabled, _ran(every), tabled | _measured(folds)
    )
    _name_programs(context, every, prose, tabled)
    context.used |= told
    context.used |= correct(context, prose, tabled)
    prose = without(prose, alternative_commands.settle(context, every, prose))
    context.statements += chain.from_iterable(_of_tables(source.name, f) for _, f in folds)
    ledger.remarks += _unmet(source, context.unmet, context.titles.values())
    ledger.remarks += _unread(source, context.too_long)
    context.statements.sort(key=lambda statement: statement.line)
    bind(chain.from_iterable(folded.records for _, folded in binding), context)
    if tabled and document:
        mentioned(
            every, headed(with_degrees(prose, letters)), taken, context,
            dict(chain.from_iterable(f.machines.items() for _, f in folds)),
        )  # fmt: skip
        but_for_unnamed(every, _marked(lines, found), tabled)
        shapes = described(context.statements, prose)
        context.used.update(
            *(shaped(folded.records, folded.models, shapes) for _, folded in binding),
            shaped_by_text(every, prose, context.statements, context.titles),
            settle_batches(every, prose, tabled),
        )
        by_other_rows(every)
        _understand(ledger, settle_speeds(every, prose))
        beside_micro_batches(every)
        settle_noted(every, prose)
        but_for_unable(every, prose)
    for fmt, _ in binding:
        if fmt.name in found.rows:
            main = next(iter(fmt.schemas.values()))
            rows[fmt.name] = bind_rows(found.rows[fmt.name], context, main)
    for line in context.used:
        ledger.claimed[line] = "context"
    return rows, context.statements


def _measured(folds: Iterable[tuple[Format, Folded]]) -> set[int]:
    """Lines with rows of tables, of kernels and training alike."""
    documents = (folded for fmt, folded in folds if fmt.lines == "document")
    return {row.line for folded in documents for row in folded.records}


def _ran(records: Sequence[Record]) -> set[str]:
    """How rows of tables call what ran."""
    named = (row.cells.get(name) for row in records if row.tabled for name in WHOSE)
    sizes = {size_printed(row.cells) for row in records if row.tabled} - {""}
    return {cell.text for cell in named if cell is not None} | sizes


def _of_tables(source: str, folded: Folded) -> Iterator[Statement]:
    """Statements that tables of labels and values are, those of their rows in words included."""
    yield from folded.statements
    for line, section in folded.pairs:
        told = stated_by(source, line, section, says=None, heading=False)
        if told is not None:
            values = {n: cell._replace(value_origin="stated") for n, cell in told.values.items()}
            yield replace(told, values=values)


def _name_programs(
    context: Context, records: Sequence[Record], prose: Sequence[Line], tabled: Set[int]
) -> None:
    """Note the programs that a document says to train with, and their versions in statements; and
    those that its rows compare."""
    context.programs = only_programs(prose, tabled, context.titles.keys()) if prose else {}
    texts = {line.number: line.text for line in prose}
    context.statements = as_the_document_says(
        context.statements, context.programs, texts, context.titles.keys()
    )
    context.statements = of_their_tasks(context.statements, texts, context.titles, context.sections)
    context.statements += versions_below(context.statements, context.programs, context.sections)
    of_others = {
        each.section[-1]: cell for each in context.statements
        if each.section and (cell := each.values.get("program")) and cell.state == "unknown"
    }  # fmt: skip
    context.programs = {**of_others, **context.programs}
    compared_programs.settle(records, context.programs)


def _understand(ledger: Ledger, labels: Mapping[int, str]) -> None:
    """Count columns as understood that what stands beside them has proven, by lines of rows."""
    for at, (name, note) in enumerate(ledger.tables):
        told = {label for line, label in labels.items() if note.line <= line <= note.last}
        if told & {*note.not_understood}:
            rest = tuple(label for label in note.not_understood if label not in told)
            known = tuple(label for label in note.header if label in {*note.understood, *told})
            ledger.tables[at] = name, note._replace(understood=known, not_understood=rest)


def _with_near(lines: Sequence[Line], found: Scan, tabled: Set[int]) -> Sequence[Line]:
    """The lines of a document and those around its tables that may say a setting."""
    every = _every(found) if tabled else ()
    if not every or is_notebook(every):
        return lines
    held = {line.number for line in lines}
    near = [line for line in near_tables(every, tabled) if line.number not in held]
    return sorted([*lines, *near], key=attrgetter("number")) if near else lines


def _other_below(
    found: Scan, rows: Sequence[Record], tabled: Set[int]
) -> dict[tuple[int, int, str], Line]:
    """Lines below tables with blanks for what they say of runs that none of them shows, and for
    notes to which no row points, by their places in the document."""
    every = in_markdown(_every(found)) if tabled else ()
    if not every or every[-1].number <= min(tabled) or len(every) > MOST_LINES:
        return {}
    printed = {cell.text for row in rows for cell in row.cells.values()}
    printed |= {text for row in rows for _, text in row.other}
    of_none = unborne(_every(found), tabled)
    own = (
        line._replace(text=" " * len(line.text)) if line.number in of_none else line
        for line in but_for_later(every, tabled, printed)
    )
    pairs = zip(every, own, strict=True)
    return {_place(line): other for line, other in pairs if other is not line}


def _without(lines: Sequence[Line], others: Mapping[tuple[int, int, str], Line]) -> Sequence[Line]:
    return [others.get(_place(line), line) for line in lines] if others else lines


def _marked(lines: Sequence[Line], found: Scan) -> Sequence[Line]:
    """Some lines of a document without the tags of HTML; which of them are of a table, and where a
    paragraph ends, the others say between which they stand."""
    if not any("<" in line.text or set_in_italics(line.text) for line in lines):
        return in_markdown(lines)
    every = _every(found)
    plain = dict(zip(map(_place, every), in_markdown(every), strict=True))
    alone = in_markdown(lines)
    return [plain.get(_place(line), own) for line, own in zip(lines, alone, strict=True)]


def _place(line: Line) -> tuple[int, int, str]:
    return line.number, line.column, line.text


def _prose(found: Scan) -> Sequence[Line]:
    """All lines of a document; of a notebook those of its text."""
    every = _every(found)
    return markdown_cells(every) if is_notebook(every) else every


def _every(found: Scan) -> Sequence[Line]:
    """All lines of a document, peeled."""
    looked = found.looked
    return looked.lines[False].every if looked is not None else found.document().lines


def _stating(source: Source, found: Scan, *, document: bool) -> Sequence[Line]:
    """The lines that may state something, peeled."""
    if document:
        lines = _every(found)
        if is_notebook(lines):
            return written(lines)
    if found.looked is not None:
        return found.looked.stating(headings=document)
    texts = found.lines["text"]
    worth = holds(texts, *WORTH, plain=all_ascii(texts))
    kept = found.lines.filter(worth | series(around_headings(texts)) if document else worth)
    return region(source, peel(kept)).lines


MOST_UNMET, MOST_TITLES, SHORT = 20, 2000, 200
"""Headings that a document does not have, its titles, and characters of either, of which it is
asked which are the nearest: that takes long."""


def _unmet(source: Source, headings: Sequence[str], titles: Iterable[str]) -> Iterator[Diagnostic]:
    """Remark that nothing stands under headings that a side file names."""
    short = [title for title in dict.fromkeys(titles) if len(title) <= SHORT][:MOST_TITLES]
    for at, heading in enumerate(headings):
        asked = at < MOST_UNMET and len(heading) <= SHORT
        near = get_close_matches(heading, short, n=1, cutoff=0.4) if asked else []
        meant = f"; the nearest is {near[0]!r}" if near else ""
        message = f"the side file states values under {heading!r}, which is no heading here{meant}"
        yield Diagnostic(Span(source.name, 1), Code.UNSET, message)


def _unread(source: Source, lines: Sequence[Line]) -> Iterator[Diagnostic]:
    """Remark that no configuration was looked for in lines that are too long."""
    if lines:
        number, longest = len(lines), max(len(line.text) for line in lines)
        message = (
            f"no configuration is looked for in {number:,} line{'s' if number > 1 else ''} of more "
            f"than {LONGEST:,} characters, up to {longest:,}"
        )
        yield Diagnostic(Span(source.name, lines[0].number), Code.TOO_LONG, message)


def _mark_repeats(
    source: Source,
    fmt: Format,
    records: Sequence[Record],
    rows: dict[str, list[BoundRows]],
    ledger: Ledger,
) -> None:
    lines, remarks = superseded(fmt, source.name, records, rows.get(fmt.name, []))
    ledger.remarks += remarks
    if lines:
        rows[fmt.name] = [replace(run, again=frozenset(lines)) for run in rows[fmt.name]]
