"""Commands of one block of code that run different things: `bash run_8b.sh  # micro batch 4` above
`bash run_70b.sh  # micro batch 1`.

In: the statements of a document, the records of its tables, and its lines. Out: the same statements
without what these commands say otherwise of a setting, for none of them is of all rows; and the
rows of the model whose size each command names, with what its line says. Commands that name no
sizes are those of rows that they fit: `--devices 1` is not of a row of eight. Commands that have a
number or a letter each, `1.` in front of them or `# (1)` behind, are of the rows so called.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.titles import SIZED
from assay.ingest.grids.grid import LONGEST
from assay.ingest.legends.label_signs import Explanation, give
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.command_lines import command
from assay.ingest.statements.context import Context
from assay.ingest.statements.phrases import phrases
from assay.ingest.statements.row_words import SETTINGS, sign_of, signs_of
from assay.ingest.statements.values import saying

_FENCE = re.compile(r"\s*(?:```|~~~)")

_COMMAND = deferred(
    r"\s*(?:[$>]\s+)?(?:[A-Z_]{2,20}=\S+ )*(?:bash|sh|python3?|torchrun|srun|sbatch|accelerate"
    r"|deepspeed|mpirun|\./\S+)\s+(?P<what>\S.*)"
)
"""A line that starts something."""

_SIZE = deferred(r"(?<![0-9A-Za-z.])([0-9]{1,4}(?:\.[0-9]{1,2})?)([bBmM])(?![A-Za-z0-9])")

_SCALES = {"b": 1e9, "m": 1e6}

_OF_CODE = deferred(r"[_/=.]")

SEVERAL = 2
"""Commands of a block."""


def settle(context: Context, records: Sequence[Record], lines: Sequence[Line]) -> list[Explanation]:
    """Take from statements, in place, what commands say in several ways, and give it to the rows of
    the sizes or the signs that they name; the lines of these commands, noted as used."""
    rows = [row for row in records if row.tabled and row.alike is None]
    used = {*_by_their_sizes(context, rows, lines), *_by_their_signs(context, rows, lines)}
    used |= _by_their_settings(context, rows, lines)
    context.used |= used
    return [
        Explanation({}, line.number, ((line.number, 0, len(line.text)),))
        for line in lines if line.number in used
    ]  # fmt: skip


def _by_their_sizes(context: Context, rows: Sequence[Record], lines: Sequence[Line]) -> set[int]:
    """Give rows what commands of one block that name a size each say in several ways; the lines of
    these commands."""
    used = set[int]()
    for block in _blocks(lines) if rows else ():
        told = {line.number: _settings(line) for line in block}
        sizes = {line.number: _named(line) for line in block}
        each_of_one = None not in sizes.values() and len({*sizes.values()}) == len(sizes)
        apart = {
            name for name in SETTINGS
            if len({
                cell.text if cell else "" for values in told.values()
                if (cell := values.get(name)) or each_of_one  # what others do not say, either
            }) > 1
        }  # fmt: skip
        if not each_of_one:
            sizes = {at: size for at, size in sizes.items() if apart & told[at].keys()}
        if len(sizes) < SEVERAL or None in sizes.values() or len({*sizes.values()}) < len(sizes):
            continue
        context.statements = [
            replace(each, values={
                name: cell for name, cell in each.values.items()
                if not (name in apart and cell.line in told)
            })
            for each in context.statements
        ]  # fmt: skip
        used |= told.keys()
        for line in block:
            size = sizes.get(line.number)
            values = {n: c.text for n, c in told[line.number].items() if n in apart}
            for row in rows if size else ():
                if size in _sizes(row):
                    give(row, values)
    return used


_KIND = r"(?:(?:row|run|case|exp(?:eriment)?|config|command|job|set-?up) ?)?"

_OF_ITEM = deferred(
    rf"\s*(?:(?:[-*+•]|[0-9]{{1,2}}[.)]) )?[*_]{{0,2}}{_KIND}"
    r"[(\[#]{0,2}(?P<name>[0-9]{1,2}|[A-Za-z][0-9]?|[A-Za-z][\w.+-]{1,23})"
    r"[)\].:]{0,2}[*_]{0,2}[:：.]?\s{1,3}(?:[-–—:=] )?"
    r"(?:(?:the )?same as (?:command )?[(`*]{0,2}(?P<as>\w[\w.+-]{0,23})[)`*]{0,2},?"
    r" (?:plus|with|and|but with|but|\+) )?`(?P<code>[^`]{8,2000})`[.;]?\s*",
    re.IGNORECASE,
)
"""An item of a list that is a sign of a row and its command: ``- **B** `torchrun … --tp 2` ``."""

_SIGNED = deferred(
    r"(?:\s*\[(?P<first>[0-9]{1,2}|[A-Za-z])\] ?(?:[$>] )?(?P<own>\S.{8,2000})"
    rf"|(?P<code>\s*\S.{{8,2000}}?)\s{{1,8}}#\s?{_KIND}[(\[#]?(?P<name>[0-9]{{1,2}}|[A-Za-z])"
    r"[)\].:]?\s*)"
)
"""A command of a block, and the sign of its row behind it or in front: `bash run.sh --tp 2  # (1)`,
`[1] $ bash run.sh --tp 2`."""

_REMARK = deferred(
    rf"\s*#\s*(?:{_KIND[:-1]}\s*[(\[#]?(?P<kind>[0-9]{{1,2}}|[A-Za-z])\b.{{0,80}}"
    r"|[(\[#]?(?P<sign>[0-9]{1,2}|[A-Za-z])(?:[)\].:]+(?: .{0,80})?)?"
    r"|(?P<label>[A-Za-z][\w.+-]{1,24}):?)\s*",
    re.IGNORECASE,
)
"""The sign of the row of the command below it, or what that is called: `# (1) small`."""


class _Signed(NamedTuple):
    """A command in one or more lines, its sign, and that of the one that it has more than."""

    name: str
    same: str
    lines: list[Line]


def _by_their_signs(context: Context, rows: Sequence[Record], lines: Sequence[Line]) -> set[int]:
    """Give rows what the commands with their signs say, where several are: those of the section of
    the commands, else any; the lines of these commands, which say nothing of other rows."""
    used = set[int]()
    for group in _signed(lines) if rows else ():
        names = [each.name for each in group]
        told = _told(group)
        section = _section_at(context, group[0].lines[0].number)
        here = [row for row in rows if _section_at(context, row.line) == section]
        for mine in (here, rows):
            called = {name: [row for row in mine if name in signs_of(row)] for name in names}
            if sum(map(bool, called.values())) >= SEVERAL:
                break
        else:
            continue
        if len({*names}) < len(names) or not all(told.values()):
            continue
        at = {line.number for each in group for line in each.lines}
        context.statements = [each for each in context.statements if each.line not in at]
        for name, those in called.items():
            for row in those:
                own = {n: c._replace(value_origin="stated") for n, c in told[name].items()}
                row.cells = {**own, **row.cells}
        used |= at
    return used


def _by_their_settings(context: Context, rows: Sequence[Record], lines: Sequence[Line]) -> set[int]:
    """Give rows what the commands say that fit them, where several of one section, between which no
    row stands, say a setting otherwise: it is of none but those; the lines of these commands."""
    used = set[int]()
    at = [row.line for row in rows]
    groups: dict[tuple[tuple[int, ...], int], dict[int, dict[str, Cell]]] = {}
    for each in context.statements if rows else ():
        if (begun := context.commands.get(each.line, 0)) and not each.subject:
            group = groups.setdefault((each.section, bisect_right(at, begun)), {})
            group.setdefault(begun, {}).update(
                (name, cell)
                for name, cell in each.values.items()
                if name in SETTINGS and cell.state == "value"
            )
    others = {line.number for line in lines if _OF_NO_RUN.search(line.text)} if groups else set()
    for (section, _), every in groups.items():
        told = {begun: values for begun, values in every.items() if begun not in others}
        apart = _apart(told.values())
        if not apart:
            continue
        used |= told.keys()
        context.statements = [
            replace(each, values={n: c for n, c in each.values.items() if n not in apart})
            if context.commands.get(each.line) in told else each
            for each in context.statements
        ]  # fmt: skip
        for row in rows:
            if _path_at(context, row.line)[: len(section)] == section:
                row.cells = {**_of_the_fitting([*told.values()], apart, row.cells), **row.cells}
    return used


def _apart(commands: Collection[Mapping[str, Cell]]) -> set[str]:
    """Settings that commands say otherwise than others of them do."""
    said: dict[str, set[Any]] = {}
    for values in commands:
        for name, cell in values.items():
            said.setdefault(name, set()).add(saying(cell))
    return {name for name, several in said.items() if len(several) > 1}


def _of_the_fitting(
    commands: Sequence[Mapping[str, Cell]], apart: Set[str], own: Mapping[str, Cell]
) -> dict[str, Cell]:
    """Settings that all commands say which fit a row best: those with most of its settings, of the
    ones in which they differ, and none otherwise."""
    fits = {at: _fit(values, apart, own) for at, values in enumerate(commands)}
    alike = {at: many for at, many in fits.items() if many is not None}
    if not alike or (len(alike) == len(commands) and not any(alike.values())):
        return {}  # nothing tells which of them started it
    best = max(alike.values())
    mine = [commands[at] for at, many in alike.items() if many == best]
    return {
        name: cell._replace(value_origin="stated")
        for name, cell in mine[0].items()
        if name in apart and all(
            name in each and saying(each[name]) == saying(cell) for each in mine
        )
    }  # fmt: skip


def _fit(command: Mapping[str, Cell], apart: Set[str], own: Mapping[str, Cell]) -> int | None:
    """How many settings, of those in which commands differ, a row has as a command says; None where
    it has one otherwise."""
    alike = [
        own[name].state != "value" or saying(own[name]) == saying(command[name])
        for name in apart if name in own and name in command
    ]  # fmt: skip
    each, nodes = command.get("gpus_per_node"), command.get("nodes")
    if each and "gpus" in own and "gpus" not in command and (nodes or "nodes" not in own):
        many = [number_of(cell) or math.nan for cell in (each, nodes) if cell]
        alike.append(math.prod(many) == number_of(own["gpus"]))
    return len(alike) if all(alike) else None


_OF_NO_RUN = deferred(
    r"(?:pre-?process|convert|conversion|download|tokeni[sz]|eval|generat|infer|serve|serving"
    r"|prepare|export|merge|upload|chat|deploy|plot|install|clone|docker build)",
    re.IGNORECASE,
)
"""In a command that trains nothing."""


def _told(group: Sequence[_Signed]) -> dict[str, dict[str, Cell]]:
    """Settings of the commands of a group, by their signs; one may be another and more."""
    told: dict[str, dict[str, Cell]] = {}
    for each in group:
        own = dict(told.get(each.same, {}))
        for line in each.lines:
            own |= command(line)
        told[each.name] = own
    return told


def _section_at(context: Context, line: int) -> int:
    """The heading above a line; 0 where there is none."""
    return next(reversed(_path_at(context, line)), 0)


def _path_at(context: Context, line: int) -> tuple[int, ...]:
    """The headings above a line, outermost first."""
    at = bisect_right(context.sections, line, key=lambda each: each[0])
    return context.sections[at - 1][1] if at else ()


def _signed(lines: Sequence[Line]) -> Iterator[list[_Signed]]:
    """The commands with signs that follow each other: items of a list, or lines of a block."""
    held: list[_Signed] = []
    code, sign, goes_on = False, "", False
    for line in lines:
        if goes_on and held and line.text.strip():
            held[-1].lines.append(line)
            goes_on = line.text.rstrip().endswith("\\")
            continue
        if _FENCE.match(line.text):
            code, sign = not code, ""
        short = len(line.text) <= LONGEST
        remark = _REMARK.fullmatch(line.text) if code and short else None
        if remark:
            sign = next(filter(None, remark.groups()))
            continue
        found = (_in_block(line, sign) if code else _item(line)) if short else None
        if held and line.text.strip() and not found:
            yield held
            held = []
        held += [found] if found else []
        goes_on = bool(found and code and line.text.rstrip().endswith("\\"))
        sign = sign if not line.text.strip() else ""
    if held:
        yield held


def _in_block(line: Line, sign: str) -> _Signed | None:
    """The command with a sign of its own, or below one, that a line of a block begins."""
    if sign and _STARTS.match(line.text):
        return _Signed(sign_of(sign), "", [line])
    found = _SIGNED.fullmatch(line.text)
    group = "own" if found and found["own"] else "code"
    if found is None or not _STARTS.match(found[group]):
        return None
    text = line._replace(text=found[group], column=line.column + found.start(group))
    return _Signed(sign_of(found["name"] or found["first"]), "", [text])


def _item(line: Line) -> _Signed | None:
    """The command with a sign that an item of a list is."""
    found = _OF_ITEM.fullmatch(line.text)
    if found is None or not (found["as"] or _STARTS.match(found["code"])):
        return None
    text = line._replace(text=found["code"], column=line.column + found.start("code"))
    return _Signed(sign_of(found["name"]), sign_of(found["as"] or ""), [text])


_STARTS = deferred(
    r"\s*(?:[$>]\s+)?(?:[A-Z_][A-Z0-9_]{1,40}=\S+ ){0,30}(?:bash|sh|python[0-9.]*|torchrun|srun"
    r"|sbatch|accelerate|deepspeed|mpirun|tune|litgpt|xtuner|llamafactory-cli|axolotl|nemo|uv|\./\S+)\s"
    r"|\s*(?:[A-Z_][A-Z0-9_]{1,40}=\S+ ){1,30}\S+\.sh\b"
)
"""How a command begins, behind variables perhaps."""


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The commands of each block of code, where they are several."""
    held: list[Line] | None = None
    for line in lines:
        if _FENCE.match(line.text):
            if held is not None and len(held) >= SEVERAL:
                yield held
            held = [] if held is None else None
        elif held is not None and len(line.text) <= LONGEST and _COMMAND.match(line.text):
            held.append(line)


def _settings(line: Line) -> Mapping[str, Cell]:
    """Settings of a command, by its options and by the remark behind it."""
    text, _, remark = line.text.partition(" #")
    said = command(line._replace(text=text)) if "=" in text or "--" in text else {}
    told = phrases(line._replace(text=remark), least=1) if remark else {}
    return {
        name: cell for name, cell in {**told, **said}.items()
        if name in SETTINGS and cell.state == "value"
    }  # fmt: skip


def _named(line: Line) -> float | None:
    """The one size of a model that a command names."""
    plain = _OF_CODE.sub(" ", line.text.partition(" #")[0])
    sizes = {float(found[1]) * _SCALES[found[2].lower()] for found in _SIZE.finditer(plain)}
    return sizes.pop() if len(sizes) == 1 else None


def _sizes(row: Record) -> set[float]:
    """Sizes that a row gives its model, as a number or in its name."""
    found = {number for name in ("model_size", "parameters") if (cell := row.cells.get(name))
             and (number := number_of(cell)) is not None}  # fmt: skip
    model = row.cells.get("model")
    if model is not None and SIZED.search(model.text):
        found |= {float(m[1]) * _SCALES[m[2].lower()] for m in _SIZE.finditer(model.text)}
    return found
