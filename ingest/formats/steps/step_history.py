"""Histories of steps that are no log: what a run keeps of its metrics, as one file.

In: CSV with a column that counts steps (Lightning's `metrics.csv`, exports of W&B's history), the
golden values of Megatron's tests, the `trainer_state.json` of a Hugging Face Trainer, and event
files of TensorBoard. Out: the frames of step records, by the same shapes and words as lines of
logs. A file without a count of steps that rises is none, and left to others. What is counted are
its steps; one of which nothing is understood is not ours.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import tempfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from assay.ingest.formats.steps.event_files import MAGIC, NoReader, scalars
from assay.ingest.formats.steps.step_lines import SCHEMAS
from assay.ingest.formats.steps.step_pairs import Pair, Said
from assay.ingest.formats.steps.step_records import capped, meant, step_records
from assay.ingest.formats.steps.step_shapes import Found
from assay.ingest.formats.steps.tracker_exports import (
    Columns,
    Scalar,
    columns,
    counts_steps,
    of_one_run,
    steps_of,
)
from assay.ingest.numbers.printed import whole
from assay.ingest.schema.format import Made, Whole, whole_format
from assay.ingest.schema.record import Code, Diagnostic, Line, Span
from assay.ingest.source.opening import packed
from assay.ingest.vocabulary.terms import configured_by

PEEK = 64 * 1024
"""Bytes in which the header of a file stands, or the first words of a document."""

PREAMBLE = 64
"""Bytes in which an event file says what it is."""

LARGEST = 2**28
"""Bytes of a JSON document that is read, since it is held whole; a larger one is text."""


class Value(NamedTuple):
    """One printed value of a step: its label, its text, and where it stands."""

    label: str
    text: str
    line: int
    column: int


class Fault(NamedTuple):
    """Why a step, or all behind it, cannot be read, and its line."""

    line: int
    code: Code
    message: str


Step = Sequence[Value]


def read(source: Whole) -> Made | None:
    """Read a whole history; None for a file of another kind."""
    with source.begin() as file:
        head = file.read(PEEK)
    if packed(head):
        head = next(source.chunks(), b"")[:PEEK]
    reader = _reader(head, source.name)
    if reader is None:
        return None
    steps: list[Step] = []
    faults: list[Fault] = []
    for each in reader(source):
        if isinstance(each, Fault):
            faults.append(each)
        else:
            steps.append(each)
    alone: list[Found] = []
    made = list(step_records((meant(each) for each in _found(steps) if each.places), alone))
    if not made and (not faults or reader is not _events):
        return None
    refused = (Diagnostic(Span(source.name, one.line), one.code, one.message) for one in faults)
    return Made(
        {},
        claimed=len(made),
        not_ours=len(steps) - len(made),
        refused=tuple(refused),
        remarks=tuple(capped(source.name, alone)),
        records=[each.record for each in made],
    )


def _reader(head: bytes, name: str) -> Callable[[Whole], Iterator[Step | Fault]] | None:
    """How a file that begins so is read."""
    if MAGIC in head[:PREAMBLE]:
        return _events
    begin = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if begin.startswith((b"{", b"[")):
        return _document if _DOCUMENT.search(begin) else None
    lines = begin.decode("utf-8", "replace").splitlines()[: 1 + FIRST] or [""]
    header = _header(lines[0], name)
    if header is None:
        return None
    if columns(header[0]):
        return _by_metric
    return None if _of_runs(*header, lines[1:]) else _separated


FIRST = 16
"""Rows of separated values that tell whether they are of one run or of several."""

_SET_UP = {"model", "gpu", "gpus", "nodes"}
"""Settings that differ between runs and not between steps of one."""


def _of_runs(labels: Sequence[str], separator: str, lines: Sequence[str]) -> bool:
    """Whether rows are of runs: they say with what each ran, and their count does not rise."""
    if not _SET_UP & {configured_by(label) for label in labels}:
        return False
    at = next(n for n, label in enumerate(labels) if counts_steps(label))
    rows = [line.split(separator) for line in lines if '"' not in line]
    told = (whole(row[at]) for row in rows if len(row) == len(labels))
    counts = [count for count in told if count is not None]
    return any(one >= other for one, other in pairwise(counts))


def _found(steps: Iterable[Step]) -> Iterator[Found]:
    """Each step as a line of pairs, as a dictionary would be.

    Of several on one line, as JSON without line ends has them, the later ones begin where their
    first value stands: rows are told apart by their places.
    """
    before = 0
    for step in steps:
        begin = step[0].line if step else 0
        column = step[0].column if step and begin == before else 1
        lines = {v.line: Line(v.line, "", column if v.line == begin else 1, {}) for v in step}
        places = [
            (Pair(v.label, v.text, "", v.column - lines[v.line].column), lines[v.line])
            for v in step
        ]
        said = Said(tuple(pair for pair, _ in places), "braces")
        yield Found(list(lines.values()), said, places)
        before = begin


_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|nan|NaN|-?inf")

_SEPARATORS = ",;\t"


_OF_RUNS = {"State", "Created", "Runtime", "Status", "Run ID", "Sweep"}
"""Labels beside a name in what W&B and MLflow export of runs: a row is a run, and no step."""


def _header(line: str, name: str) -> tuple[list[str], str] | None:
    """The labels of a header with a count of steps, and what parts them."""
    separator = max(_SEPARATORS, key=line.count)
    try:
        labels = [label.strip() for label in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return None
    if len(labels) < 2 or any(_NUMBER.fullmatch(label) for label in labels):
        return None
    if "Name" in labels and _OF_RUNS & set(labels):
        return None
    own = of_one_run(labels, name) if any(map(counts_steps, labels)) else None
    return (own, separator) if own else None


def _separated(source: Whole) -> Iterator[Step | Fault]:
    """Rows of separated values; empty cells say nothing, and those of no label."""
    for each in _rows(source):
        if isinstance(each, Fault):
            yield each
        else:
            yield [
                value for value in each if value.label and _NUMBER.fullmatch(value.text)
            ]  # fmt: skip


def _by_metric(source: Whole) -> Iterator[Step | Fault]:
    """Rows that name their metric, put together by step."""
    faults: list[Fault] = []
    for step in steps_of(_scalars(_rows(source), faults)):
        yield [
            Value("step", step[0].step, step[0].line, step[0].column),
            *(Value(each.metric, each.value, each.line, each.column) for each in step),
        ]
    yield from faults


def _scalars(rows: Iterable[Step | Fault], faults: list[Fault]) -> Iterator[Scalar]:
    """The numbers of rows that name their metric; what cannot be read is put into `faults`."""
    at: Columns | None = None
    for row in rows:
        if isinstance(row, Fault):
            faults.append(row)
            continue
        at = at or columns([value.label for value in row])
        if at is None:
            return
        step, value = row[at.step], row[at.value]
        if _NUMBER.fullmatch(value.text) and _STEPS.fullmatch(step.text):
            run = row[at.run].text if at.run >= 0 else ""
            count = step.text.removesuffix(".0")
            yield Scalar(run, row[at.metric].text, count, value.text, value.line, value.column)


_STEPS = re.compile(r"[0-9]{1,15}(?:\.0)?")


def _rows(source: Whole) -> Iterator[Step | Fault]:
    """The cells of each row of separated values."""
    lines = _lines(source)
    number, first = next(((n, line) for n, line in lines if line.strip()), (0, ""))
    header = _header(first, source.name)
    if header is None:
        return
    labels, separator = header
    for number, line in lines:
        if not line.strip():
            continue
        try:
            cells = next(csv.reader([line], delimiter=separator), [])
        except csv.Error as fault:
            yield Fault(number, Code.SYNTAX, f"this line is no CSV: {fault}")
            continue
        if len(cells) != len(labels):
            message = f"{len(cells)} cells, the header has {len(labels)}"
            yield Fault(number, Code.CELL_COUNT, message)
            continue
        row, at = [], 0
        for label, cell in zip(labels, cells, strict=True):
            text = cell.strip()
            at = max(line.find(text, at), at)
            row.append(Value(label, text, number, at + 1))
            at += len(text)
        yield row


def _lines(source: Whole) -> Iterator[tuple[int, str]]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    left, number = "", 0
    for chunk in chain(source.chunks(), (b"",)):
        *whole, left = (left + decoder.decode(chunk, final=not chunk)).split("\n")
        for line in whole:
            number += 1
            yield number, line.rstrip("\r")
    if left.strip():
        yield number + 1, left.rstrip("\r")


def _events(source: Whole) -> Iterator[Step | Fault]:
    """Scalars of an event file; the reader wants a file that is not packed."""
    with tempfile.NamedTemporaryFile(prefix="assay-") as copy:
        for chunk in source.chunks():
            copy.write(chunk)
        copy.flush()
        try:
            for number, (step, values) in enumerate(scalars(copy.name), 1):
                yield [Value("step", str(step), number, 1)] + [
                    Value(tag, text, number, at) for at, (tag, text) in enumerate(values, 2)
                ]
        except (NoReader, ValueError) as fault:
            yield Fault(1, Code.UNREADABLE, str(fault))


_DOCUMENT = re.compile(
    rb"\"log_history\"\s*:\s*\[|\"(?:start_step|step_interval)\"\s*:"
    rb"|\A\[\s*\{[^{}\[\]]*\"_?(?:global_)?(?:step|iteration)\"\s*:"
    rb"|\A\{[^{}\[\]]*\"(?:train|eval|predict)_runtime\"\s*:"
)
"""Found in the beginning of the documents that are read: of a trainer's state, of golden values, of
a list of steps, of a trainer's totals."""

_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|-?[0-9][0-9.eE+-]*|-?Infinity|NaN")


class Printed(NamedTuple):
    """A number of a JSON document as it is printed, and where."""

    text: str
    at: int


def _document(source: Whole) -> Iterator[Step | Fault]:
    """Steps of a JSON document, in order."""
    held = io.BytesIO()
    for chunk in source.chunks():
        held.write(chunk)
        if held.tell() > LARGEST:
            return
    text = held.getvalue().decode("utf-8-sig", "replace")
    numbers = (found for found in _TOKEN.finditer(text) if not found[0].startswith('"'))

    def printed(said: str) -> Printed:
        found = next(numbers)
        return Printed(said, found.start())

    try:
        document = json.loads(text, parse_int=printed, parse_float=printed, parse_constant=printed)
    except (ValueError, RecursionError, StopIteration):  # one that is cut is read as text
        return
    starts = [0, *(each.end() for each in re.finditer("\n", text))]
    for step in _steps(document):
        yield [_placed(label, number, starts) for label, number in step]


def _placed(label: str, number: Printed, starts: Sequence[int]) -> Value:
    line = bisect_right(starts, number.at)
    text = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}.get(number.text, number.text)
    return Value(label, text, line, number.at - starts[line - 1] + 1)


def _steps(document: object) -> Iterator[list[tuple[str, Printed]]]:
    """The numbers of each step: a dictionary a step, or a curve a label."""
    if isinstance(document, dict) and isinstance(document.get("log_history"), list):
        document = document["log_history"]
    if isinstance(document, list):
        for each in document:
            if isinstance(each, dict):
                yield [(k, v) for k, v in each.items() if isinstance(v, Printed)]
        return
    if isinstance(document, dict) and any(f"{part}_runtime" in document for part in _PARTS):
        yield from _totals(document)
    elif isinstance(document, dict):
        yield from _curves(document)


_PARTS = ("train", "eval", "predict")


def _totals(document: Mapping[str, object]) -> Iterator[list[tuple[str, Printed]]]:
    """Totals of a trainer's parts, one by one: `all_results.json` has all of them. What has
    settings beside them is of somebody's own, and no file of the trainer's."""
    if any(map(configured_by, document)):
        return
    for part in _PARTS:
        others = tuple(f"{each}_" for each in _PARTS if each != part)
        held = [(k, v) for k, v in document.items() if isinstance(v, Printed)]
        if isinstance(document.get(f"{part}_runtime"), Printed):
            yield [(k, v) for k, v in held if not k.startswith(others)]


def _curves(document: Mapping[str, object]) -> Iterator[list[tuple[str, Printed]]]:
    """Golden values of Megatron: a curve a label, by step or from a first step at an interval."""
    held: dict[int, list[tuple[str, Printed]]] = {}
    for label, curve in document.items():
        if not isinstance(curve, dict):
            continue
        values, first, every = (
            curve.get(name) for name in ("values", "start_step", "step_interval")
        )
        if isinstance(values, dict):
            pairs = [(name, value) for name, value in values.items() if _COUNT.fullmatch(name)]
        elif isinstance(values, list) and _whole(first) and _whole(every):
            begin, stride = int(first.text), int(every.text)  # type: ignore[union-attr]
            pairs = [(str(begin + at * stride), value) for at, value in enumerate(values)]
        else:
            continue
        for name, value in pairs:
            if isinstance(value, Printed):
                held.setdefault(int(name), []).append((label, value))
    for step in sorted(held):
        values_ = held[step]
        yield [("step", Printed(str(step), values_[0][1].at)), *values_]


def _whole(said: object) -> bool:
    return isinstance(said, Printed) and _COUNT.fullmatch(said.text) is not None


_COUNT = re.compile("[0-9]{1,15}")
"""A count of steps; a longer number is none."""


FORMAT = whole_format("step_history", SCHEMAS, read)
