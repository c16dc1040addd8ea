"""Step records of any trainer, by the shape of a file.

In: the lines that no other format has claimed. Out: rows of one frame, marked generic, each naming
the words that made it one. A line alone decides nothing: lines with the same labels are one shape,
and a shape is a step record if at least three lines share it, a count of steps rises by few strides
and a quantity of training stands beside it; or if a line holds a count of steps and two quantities
with units. A time that only rises is elapsed, no step time.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from assay.ingest.formats.steps.step_pairs import Pair, Said, is_bar_of_training, number, said
from assay.ingest.formats.steps.step_words import Meaning, meaning, words
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields, logged, named
from assay.ingest.schema.format import Folded, Format, Reach, Region
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.vocabulary.terms import configured_by

GENERIC = "generic"
"""The mark of rows whose format nobody has written down."""


class GenericStep(Configuration):
    """A step as a line of any trainer prints it, as far as labels and units tell."""

    step: int = logged(
        kind="exact", ge=0, nullable=True, role="counter", meaning="count of steps, as printed"
    )
    total_steps: int = logged(
        kind="exact", ge=0, nullable=True, role="schedule", meaning="what it counts up to"
    )
    batch: int = logged(
        kind="exact",
        ge=0,
        nullable=True,
        meaning="count of a bar or bracket without a word for it, beside a step if there is one",
    )
    epoch: float = logged(ge=0, nullable=True)
    loss: float = logged(
        nullable=True, role="loss", meaning="of training, whatever the trainer minimises"
    )
    validation_loss: float = logged(nullable=True)
    learning_rate: float = logged(nullable=True)
    grad_norm: float = logged(nullable=True)
    loss_scale: float = logged(ge=0, nullable=True)
    consumed_samples: int = logged(kind="exact", ge=0, nullable=True)
    consumed_tokens: int = logged(kind="exact", ge=0, nullable=True)
    step_time: float = logged(
        unit="s", quantity="step_time", gt=0, nullable=True, role="time",
        meaning="time of one step",
    )  # fmt: skip
    step_time_average: float = logged(unit="s", gt=0, nullable=True, meaning="mean of several")
    elapsed: float = logged(unit="s", ge=0, nullable=True, meaning="time since some start")
    step_rate: float = logged(
        unit="1/s", ge=0, nullable=True, meaning="steps per second, smoothed where a bar shows it"
    )
    samples_per_s: float = logged(unit="sample/s", quantity="samples_per_s", ge=0, nullable=True)
    samples_per_s_average: float = logged(unit="sample/s", ge=0, nullable=True)
    tokens_per_s: float = logged(
        unit="token/s", quantity="tokens_per_s", ge=0, nullable=True, meaning="of all devices"
    )
    tokens_per_gpu_per_s: float = logged(
        unit="token/s", quantity="tokens_per_gpu_per_s", ge=0, nullable=True
    )
    token_rate: float = logged(
        unit="token/s", ge=0, nullable=True, meaning="of whom, and since when, nobody says"
    )
    flops_rate_per_gpu: float = logged(
        unit="flop/s", ge=0, nullable=True, meaning="of one device, by the trainer's own formula"
    )
    flops_rate: float = logged(
        unit="flop/s", ge=0, nullable=True, meaning="of one device or of all: nobody says"
    )
    mfu: float = logged(
        unit="1", ge=0, nullable=True, meaning="share of a peak, by the trainer's own formula"
    )
    memory: float = logged(unit="B", ge=0, nullable=True, meaning="under a label without more")
    allocated: float = logged(unit="B", ge=0, nullable=True)
    max_allocated: float = logged(unit="B", ge=0, nullable=True)
    reserved: float = logged(unit="B", ge=0, nullable=True)
    max_reserved: float = logged(unit="B", ge=0, nullable=True)
    words: str = named(meaning="the labels that made the line a record, and how many are like it")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


LEAST = 3
"""Lines of one shape that make it one by themselves."""

STRIDES = 4
"""Different strides of a count of steps, of which most rises are one."""


DATE = 9e8
"""Seconds that are a date, since 1970, and no duration."""


@dataclass
class _Found:
    """A line, or a block of lines, and what it says."""

    lines: list[Line]
    said: Said
    places: list[tuple[Pair, Line]]
    block: bool = False
    meanings: list[Meaning | None] = field(default_factory=list)

    @property
    def first(self) -> Line:
        return self.lines[0]


@dataclass
class _Shape:
    """Lines with the same labels."""

    found: list[_Found] = field(default_factory=list)


def fold(region: Region) -> Folded:
    """Every shape among the lines that is one of step records."""
    folded = Folded(parts=set())
    shapes: dict[tuple[str, ...], _Shape] = defaultdict(_Shape)
    for each in _found(region):
        shapes[_signature(each)].found.append(each)
    for shape in shapes.values():
        why = _accepted(shape.found)
        if why is None:
            continue
        rising = _only_rises(shape.found)
        step = next(iter(_counters(shape.found)), None)
        for each in shape.found:
            record = _record(each, rising, step, f"{why} ({len(shape.found)} alike)")
            folded.records.append(record)
            for line in each.lines:
                folded.claimed.add(line.number)
                folded.parts.add((line.number, line.column))  # type: ignore[union-attr]
    folded.records.sort(key=lambda record: (record.line, record.column))
    return folded


def _found(region: Region) -> Iterator[_Found]:
    """Lines and blocks that have pairs, in order; none in fences of source code."""
    lines = [line for line in region.lines if line.number not in region.read]
    at = 0
    while at < len(lines):
        line = lines[at]
        block = _block(lines, at)
        if block is not None:
            yield block
            at += len(block.lines)
            continue
        at += 1
        if region.cut(line) or not _OPENS_HERE.search(line.text):
            continue
        what = said(line.text)
        if what is None:
            continue
        if what.form == "bar" and not _of_training(what, line.text):
            continue
        yield _meant(_Found([line], what, [(pair, line) for pair in what.pairs]))


def _meant(found: _Found) -> _Found:
    """The same with the meaning of each pair; of a bar its count is the step or a batch."""
    found.meanings = [
        None
        if pair.label == "bar" and found.said.form == "bar"
        else meaning(pair.label, pair.behind)
        for pair, _ in found.places
    ]
    return found


def _of_training(what: Said, text: str) -> bool:
    """Whether a bar shows quantities of training, or says that it counts steps."""
    held = [meaning(pair.label, pair.behind) for pair in what.pairs]
    return any(each is not None and each.training for each in held) or is_bar_of_training(text)


_HEAD = re.compile(
    r"^\s*\[?\s*(?:[A-Za-z_]*(?:batch|step|iter(?:ation)?|epoch)\w*\s*[=: ]\s*"
    r"[0-9,]+(?:/[0-9,]+)?[\s,|;]*)+\]?\s*:?\s*$",
    re.IGNORECASE,
)
"""A line that holds nothing but counts."""

_BODY = re.compile(r"^\s*[-|*]?\s*[A-Za-z][^:=|]{0,70}(?:\([^()]*\))?\s*[:=]\s*\S[^:=]{0,40}$")

_LONGEST_BLOCK = 120


def _block(lines: Sequence[Line], at: int) -> _Found | None:
    """A head of counts, and the lines of one label and value below it."""
    head = lines[at]
    if not _HEAD.match(head.text):
        return None
    what = said(head.text.strip(" []:"))
    if what is None or any(meaning(p.label) is None for p in what.pairs):
        return None
    shift = len(head.text) - len(head.text.lstrip(" []:"))
    places = [(pair._replace(start=pair.start + shift), head) for pair in what.pairs]
    held = [head]
    for line in lines[at + 1 : at + _LONGEST_BLOCK]:
        if line.number != held[-1].number + 1 and line.number != held[-1].number:
            break
        if line.prefix.get("rank") != head.prefix.get("rank") or not _BODY.match(line.text):
            break
        if _HEAD.match(line.text) and _first_label(line.text) == _first_label(head.text):
            break
        more = said(line.text)
        if more is not None and len(more.pairs) > 2:
            break
        if more is None:
            held.append(line)  # a word under a label
            continue
        held.append(line)
        places += [(pair, line) for pair in more.pairs]
    if len(held) < LEAST:
        return None
    found = _meant(_Found(held, Said(tuple(p for p, _ in places), "block"), places, block=True))
    loss = any(m and m.field in ("loss", "validation_loss") for m in found.meanings)
    return found if loss else None


def _first_label(text: str) -> tuple[str, ...]:
    """The words before the first number of a line."""
    return words(re.split("[0-9]", text, maxsplit=1)[0])


def _signature(each: _Found) -> tuple[str, ...]:
    """The labels of a line, and who prints the like of it."""
    labels = [
        "*".join(words(pair.label)) + ("/" if pair.total else "")
        for pair, _ in each.places
        if pair.label
    ]
    return (each.said.form, *sorted(set(labels)))


_TIED = {"loss", "validation_loss", "grad_norm", "learning_rate"}


def _accepted(found: Sequence[_Found]) -> str | None:
    """The words that make a shape one of step records; None where nothing does."""
    one = found[0]
    held = [each for each in one.meanings if each is not None]
    if not held and one.said.form != "bar":
        return None
    labels = _labels(one)
    training = {each.field for each in held if each.training}
    typed = {each.field for each in held if each.typed}
    counts = _counters(found)
    counted = bool(counts) or one.said.form == "bar" or any(each.field == "step" for each in held)
    if one.block and "loss" in training:
        return labels
    if len(found) >= LEAST and counts and (training or one.said.form == "bar"):
        return labels if counts[0] or "loss" in training else None
    if len(found) >= LEAST and not counted and _steady(found, training, typed):
        return labels
    measured = typed - {"clock", "elapsed"} if not training else typed
    if counted and one.said.form != "bar" and (training & typed) and _measures(measured, training):
        return labels
    return labels if counted and one.said.form == "bar" and training else None


def _measures(typed: set[str], training: set[str]) -> bool:
    """Whether a line beside its count of steps holds two quantities, one with its unit at least."""
    return len(typed | (training & _TIED)) >= 2


def _steady(found: Sequence[_Found], training: set[str], typed: set[str]) -> bool:
    """Lines without a count: a dict with a loss and its schedule, or three numbers with units."""
    one = found[0]
    schedule = training & {"learning_rate", "grad_norm"}
    if one.said.form == "braces" and "loss" in training and schedule:
        return True
    rates = {"samples_per_s", "token_rate", "tokens_per_s", "tokens_per_gpu_per_s", "step_time"}
    units = sum(1 for each in one.meanings if each is not None and each.typed)
    return bool(training & rates) and units >= LEAST


def _labels(one: _Found) -> str:
    """The labels that mean something, as printed."""
    pairs = zip(one.places, one.meanings, strict=True)
    named_ = [pair.label for (pair, _), what in pairs if what is not None and not pair.total]
    return ", ".join(dict.fromkeys([*(["bar"] if one.said.form == "bar" else []), *named_]))


def _values(found: Sequence[_Found], label: str) -> list[int]:
    values = []
    for each in found:
        for at, (pair, _) in enumerate(each.places):
            counts = label or (at + 1 < len(each.places) and each.places[at + 1][0].total)
            if pair.label == label and not pair.total and counts:
                text = number(pair.text)
                if re.fullmatch(r"[0-9]{1,15}(?:\.0*)?", text):
                    values.append(int(float(text)))
                break
    return values


def _counters(found: Sequence[_Found]) -> list[str]:
    """The labels of counts of steps that rise by few strides, the first the best."""
    one = found[0]
    labels = [
        (what.order, pair.label)
        for (pair, _), what in zip(one.places, one.meanings, strict=True)
        if what is not None and what.field == "step" and not pair.total
    ]
    if one.said.form == "bar":
        labels.append((9, "bar"))
    elif any(pair.total and not pair.label for pair, _ in one.places):
        labels.append((10, ""))  # `[100/5005]` behind an epoch
    rising = [(order, label) for order, label in labels if _rises(_values(found, label))]
    often = {label: _strictly(_values(found, label)) for _, label in rising}
    return [label for _, label in sorted(rising, key=lambda each: (-often[each[1]], each[0]))]


def _strictly(values: Sequence[int]) -> int:
    """In how many lines a count differs from that of the line before."""
    return sum(a != b for a, b in pairwise(values))


def _rises(values: Sequence[int]) -> bool:
    """Whether integers rise by few strides, now and then beginning again."""
    strides = Counter(b - a for a, b in pairwise(values) if b != a)
    up = sum(count for stride, count in strides.items() if stride > 0)
    every = strides.total()
    if not up or up < 0.6 * every:
        return False
    often = sum(c for s, c in strides.most_common(STRIDES) if s > 0)
    return often >= 0.5 * up


def _clocks(found: Sequence[_Found]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = defaultdict(list)
    for each in found:
        for (pair, _), what in zip(each.places, each.meanings, strict=True):
            if what is not None and what.field == "clock":
                try:
                    values[pair.label].append(float(number(pair.text)) * what.scale)
                except ValueError:
                    continue
    return values


def _only_rises(found: Sequence[_Found]) -> dict[str, str | None]:
    """Meaning of a time without a word for it: elapsed if it only rises, else of a step."""
    said_: dict[str, str | None] = {}
    counts = _counters(found)
    falls = sum(b < a for a, b in pairwise(_values(found, counts[0]))) if counts else 0
    clocks = _clocks(found)
    for label, values in clocks.items():
        down = sum(b < a for a, b in pairwise(values))
        few = len(values) < LEAST or max(values, default=0.0) >= DATE
        # one that begins again with the steps only rises otherwise
        rises = down <= max(falls, 0.02 * len(values))
        said_[label] = None if few else "elapsed" if rises else "step_time"
    of_step = [label for label, name in said_.items() if name == "step_time"]
    for label in of_step:  # of several it is the one that holds the others
        most = all(a >= b for o in of_step for a, b in zip(clocks[label], clocks[o], strict=False))
        said_[label] = "step_time" if most else None
    return said_


def _record(each: _Found, rising: dict[str, str | None], step: str | None, why: str) -> Record:
    """The row of one line or block; `step` is the label of what counts steps in its shape."""
    first = each.first
    record = Record(first.number, {}, first.column, mark=GENERIC, prefix=dict(first.prefix))
    record.cells["words"] = Cell(why, first.number, first.column)
    placed = list(zip(each.places, each.meanings, strict=True))

    def rank(at: int) -> tuple[bool, int, int]:
        (pair, _), what = placed[at]
        return pair.label != step, what.order if what else 99, at

    order = sorted(range(len(placed)), key=rank)
    taken: dict[int, str] = {}
    has_step = any(what and what.field == "step" for _, what in placed)
    for at in order:
        (pair, line), what = placed[at]
        name, scale = (what.field, what.scale) if what else ("", 1.0)
        if not pair.label and step == "" and at + 1 < len(placed) and placed[at + 1][0][0].total:
            name = "batch"
        if name == "clock":
            name = rising.get(pair.label) or ""
        if pair.label == "bar" and each.said.form == "bar":
            name = "" if pair.total and has_step else ("batch" if has_step else "step")
        if pair.label == "s/it" and each.said.form == "bar":
            name, scale = "step_time_average", 1.0
        if pair.total:
            name = "total_steps" if name == "step" else ""
        if name == "step" and "step" in record.cells:
            continue
        if name and name not in record.cells and _fits(name, pair.text):
            place = line.column + pair.start
            record.cells[name] = Cell(number(pair.text), line.number, place, scale)
            taken[at] = name
    for at, ((pair, _), _) in enumerate(placed):
        if at not in taken:
            unit_ = f" {pair.behind}" if pair.behind and pair.behind != pair.label else ""
            record.other.append((pair.label, pair.text + unit_))
            _configure(record, each.places[at])
    return record


def _configure(record: Record, place: tuple[Pair, Line]) -> None:
    """Take a pair for what it says of the configuration: `trainer/device_train_microbatch_size`."""
    pair, line = place
    name = configured_by(re.split("[/ ]", pair.label)[-1]) if pair.label else None
    if (
        name in CONFIGURED
        and name not in record.cells
        and _COUNT.fullmatch(text := number(pair.text))
    ):
        record.cells[name] = Cell(text, line.number, line.column + pair.start)


_COUNT = re.compile(r"[1-9][0-9]{0,11}")

CONFIGURED = ("micro_batch", "global_batch", "global_batch_tokens", "accumulation", "seq_len")
"""Fields that a step's line may say of its run; a degree there may be the number of a rank."""


_INTEGER = re.compile(r"[0-9]+(?:\.0*)?")


def _fits(name: str, text: str) -> bool:
    """Whether a number can stand in a column; an abbreviated count is kept as it is printed."""
    spec = fields(GenericStep)[name]
    if text in ("n/a", "N/A", "None", "null"):
        return False
    return not spec.dtype.is_integer() or _INTEGER.fullmatch(number(text)) is not None


_BLOCK_HEAD = (
    r"(?i)^[^|]{0,200}\[?(?:batch|step|iter(?:ation)?)\s?[=: ]\s?[0-9,]+(?:/[0-9,]+)?"
    r"(?:[,;\s]+epoch\s?[=:]\s?[0-9.]+(?:/[0-9]+)?)?\]?:?\s*$"
)

_OPENS = (
    r"(?i)(?:^|[^a-z])(?:global|train(?:ing)?|num|optim(?:izer)?|micro)?[ _]?"
    r"(?:steps?|iter(?:ation)?s?|itr|batch|updates?|it)"
    r"(?:[\"'\])]|\(train\))?\s*[:=#]?\s*[\"'\[(]?\s*[0-9]"
    r"|[0-9]%\s?\|[^|]*\|\s*[0-9.,]+/[0-9.,]+\s*\["
    r"|loss[\"'\])]?\s*[:=]?\s*[\"'(\[]?\s*-?(?:[0-9]|nan|inf)"
    r"|[0-9]\s?(?:tok(?:en)?s?|samples?)/s|samples?_?per_?sec"
)
"""Found in every line that may be a record by itself, and in the head of a block."""

_OPENS_HERE = re.compile(_OPENS)

FORMAT = Format(
    name="generic_step",
    heads=("",),
    schemas={"generic_step": GenericStep},
    origin="measured",
    fold=fold,
    opens=_OPENS,
    reach={_BLOCK_HEAD: Reach(_LONGEST_BLOCK)},
    behind=True,
)
