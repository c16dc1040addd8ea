"""Step records of any trainer, by the shape of a file.

In: the lines that no other format has claimed. Out: rows of two frames. Those of trainers whose
lines are known (`trainers.toml`) mean what the trainer's source says; all others are marked
generic, each naming the words that made it one. A line alone decides nothing: lines with the same
labels are one shape, and a shape is a step record if at least three lines share it, a count of
steps rises by few strides and a quantity of training stands beside it; or if a line holds a count
of steps and two quantities with units.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ingest.formats.steps.step_blocks import BLOCK_HEADS, block_at
from assay.ingest.formats.steps.step_pairs import (
    LONGEST,
    Pair,
    Said,
    is_bar_of_training,
    number,
    said,
)
from assay.ingest.formats.steps.step_shapes import BAR, LEAST, Found, Shape, shapes
from assay.ingest.formats.steps.step_words import Meaning, meaning
from assay.ingest.formats.steps.trainers import Trainer, trainer_of
from assay.ingest.lines.metrics import COUNTS
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields, logged, named
from assay.ingest.schema.format import Folded, Format, Region
from assay.ingest.schema.record import Cell, Line, Record
from assay.ingest.vocabulary.terms import configured_by

GENERIC = "generic"
"""The mark of rows whose format nobody has written down."""


class StepLine(Configuration):
    """A step as a line of any trainer prints it, as far as labels and units tell."""

    step: int = logged(
        kind="exact", ge=0, nullable=True, role="counter", meaning="count of steps, as printed"
    )
    step_rounded: float = logged(ge=0, nullable=True, meaning="the same, printed in few digits")
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
    consumed_samples: float = logged(ge=0, nullable=True, meaning="since the start")
    consumed_tokens: float = logged(ge=0, nullable=True, meaning="since the start")
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


class GenericStep(StepLine):
    """A step of a trainer that nobody has written down."""

    words: str = named(meaning="the labels that made the line a record, and how many are like it")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


class TrainerStep(StepLine):
    """A step of a trainer whose line is known: every label means what its source says."""

    trainer: str = named(meaning="whose line it is")

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "step"}


def fold(region: Region) -> Folded:
    """Every shape among the lines that is one of step records."""
    folded = Folded(parts=set())
    for shape in shapes(_found(region)):
        trainer = trainer_of(shape.typical)
        why = trainer.name if trainer else _accepted(shape)
        if why is None:
            continue
        for each in shape.found:
            if trainer:
                each.meanings = trainer.meanings(each)
            record = _record(each, shape)
            record.cells |= _named(record, trainer, why, len(shape.found))
            folded.records.append(record)
            for line in each.lines:
                folded.claimed.add(line.number)
                folded.parts.add((line.number, line.column))  # type: ignore[union-attr]
    folded.records.sort(key=lambda record: (record.line, record.column))
    return folded


def _named(record: Record, trainer: Trainer | None, why: str, many: int) -> dict[str, Cell]:
    """The reason that a line is a record: its trainer, or the words of its shape."""
    if trainer:
        record.frame = "trainer_step"
        return {"trainer": Cell(why, record.line, record.column)}
    record.frame, record.mark = "generic_step", GENERIC
    return {"words": Cell(f"{why} ({many} alike)", record.line, record.column)}


def _found(region: Region) -> list[Found]:
    """Lines and blocks that have pairs, in order; none in fences of source code."""
    lines = [
        line
        for line in region.lines
        if line.number not in region.read and len(line.text) <= LONGEST
    ]
    found: list[Found] = []
    bars: list[tuple[int, str]] = []  # how many were found before each bar, and its count
    at = 0
    while at < len(lines):
        line = lines[at]
        if "bar" in line.prefix:
            bars.append((len(found), line.prefix["bar"]))
        block = block_at(lines, at)
        if block is not None:
            found.append(_meant(block))
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
        found.append(_meant(Found([line], what, [(pair, line) for pair in what.pairs])))
    _counted_by_bars(found, bars)
    return found


def _counted_by_bars(found: Sequence[Found], bars: Sequence[tuple[int, str]]) -> None:
    """The count of a line that stands alone between two bars of one count.

    A bar is drawn before the line is written and again behind it. Where lines and bars come
    through two buffers, several lines stand between two bars, or the bars differ.
    """
    before = dict(bars)  # the last in front of each
    after: dict[int, str] = {}
    for count, bar in bars:
        after.setdefault(count, bar)
    for at, each in enumerate(found):
        around = before.get(at)
        if around is not None and around == after.get(at + 1):
            done, _, of = around.partition("/")
            each.at, each.of = int(done), int(of)


def _meant(found: Found) -> Found:
    """The same with the meaning of each pair; of a bar its count is the step or a batch."""
    bar = found.said.form == "bar"
    found.meanings = [
        None
        if bar and pair.label == BAR
        else meaning(pair.label, "s" if pair.moment else pair.behind)
        for pair, _ in found.places
    ]
    return found


def _of_training(what: Said, text: str) -> bool:
    """Whether a bar shows quantities of training, or says that it counts steps."""
    held = [meaning(pair.label, pair.behind) for pair in what.pairs]
    return any(each is not None and each.training for each in held) or is_bar_of_training(text)


_TIED = {"loss", "validation_loss", "grad_norm", "learning_rate"}


def _accepted(shape: Shape) -> str | None:
    """The words that make a shape one of step records; None where nothing does."""
    one, many = shape.typical, len(shape.found)
    held = [each for each in one.meanings if each is not None]
    bar = one.said.form == "bar"
    if not held and not bar:
        return None
    labels = _labels(one)
    training = shape.training - {"validation_loss"}
    typed = {each.field for each in held if each.typed}
    counts = shape.counters
    counted = bool(counts) or bar or one.has("step")
    if one.block and "loss" in training:
        return labels
    if many >= LEAST and not counts and "loss" in training and one.has("step") and shape.epochs:
        return labels
    if many >= LEAST and counts and (training or bar):
        return labels if not counts[0].startswith("#") or "loss" in training else None
    if many >= LEAST and not counted and _steady(shape, training):
        return labels
    measured = typed - {"clock", "elapsed"} if not training else typed
    if (counted or _leads(one)) and not bar and training & typed and _measures(measured, training):
        return labels
    return labels if counted and bar and training else None


def _leads(one: Found) -> bool:
    """Whether a line begins with a count and its total, without a word: `469/469 [====] -`."""
    return one.keys[:1] == ["#0/"] and not one.first.text[: one.places[0][0].start].strip()


def _measures(typed: set[str], training: set[str]) -> bool:
    """Whether a line beside its count of steps holds two quantities, one with its unit at least."""
    return len(typed | (training & _TIED)) >= 2


def _steady(shape: Shape, training: set[str]) -> bool:
    """Lines without a count: a dict with a loss and its schedule, or three numbers with units."""
    one = shape.typical
    schedule = training & {"learning_rate", "grad_norm"}
    if one.said.form == "braces" and "loss" in training and schedule:
        return True
    rates = {"samples_per_s", "token_rate", "tokens_per_s", "tokens_per_gpu_per_s", "step_time"}
    units = sum(1 for each in one.meanings if each is not None and each.typed)
    if "loss" in training and schedule and units:
        return True
    return bool(training & rates) and units >= LEAST


def _labels(one: Found) -> str:
    """The labels that mean something, as printed."""
    pairs = zip(one.places, one.meanings, strict=True)
    named_ = [pair.label for (pair, _), what in pairs if what is not None and not pair.total]
    return ", ".join(dict.fromkeys([*([BAR] if one.said.form == "bar" else []), *named_]))


def _record(each: Found, shape: Shape) -> Record:
    """The row of one line or block."""
    first = each.first
    record = Record(first.number, {}, first.column, prefix=dict(first.prefix))
    step = shape.counters[0] if shape.counters else None
    placed = list(zip(each.places, each.meanings, each.keys, strict=True))

    def rank(at: int) -> tuple[bool, int, int]:
        _, what, key = placed[at]
        return key != step, what.order if what else 99, at

    order = sorted(range(len(placed)), key=rank)
    taken: set[int] = set()
    for at in order:
        (pair, line), what, key = placed[at]
        name, scale = _column(each, shape, pair, what, key)
        cell = _cell(name, pair, line, scale) if name else None
        if cell is None and name == "step" and _ROUNDED.fullmatch(pair.text):
            name = "step_rounded"
            cell = _cell(name, pair, line, scale)
        if cell is not None and name not in record.cells:
            record.cells[name] = cell
            taken.add(at)
    if each.at is not None and "step" not in record.cells and not shape.counters:
        of_bar = {"value_origin": "solved", "law": "count of the progress bar around the line"}
        record.cells["step"] = Cell(str(each.at), first.number, first.column, **of_bar)  # type: ignore[arg-type]
        record.cells["total_steps"] = Cell(str(each.of), first.number, first.column, **of_bar)  # type: ignore[arg-type]
    for at, ((pair, _), _, _) in enumerate(placed):
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


def _column(
    each: Found, shape: Shape, pair: Pair, what: Meaning | None, key: str
) -> tuple[str, float]:
    """The column of a pair, and the factor to its unit; empty where it has none."""
    name, scale = (what.field, what.scale) if what else ("", 1.0)
    has_step = each.has("step")
    if each.said.form == "bar":
        if pair.label.startswith("s/") and pair.label == pair.behind:
            return "step_time_average", 1.0
        if pair.label == BAR:
            name = "batch" if has_step else "step"
    elif key.startswith("#") and shape.counters[:1] == [key]:
        counted = sum(other.total for other, _ in each.places)  # `[0/300][20/1251]`
        alone = key.endswith("/") and not (each.has("epoch") or shape.begins_again or counted > 1)
        name = "step" if alone else "batch"
    elif key == "#0/" and not shape.counters and _leads(each):
        name = "batch"
    elif key == "" and pair.total and shape.counters[:1] and shape.counters[0].endswith("/"):
        name = "" if each.has("epoch") or shape.begins_again else "step"
    if name == "clock":
        known = shape.clocks.get(key)
        return known if known else ("", 1.0)
    if name == "elapsed" and not pair.moment and not shape.since_a_start(key):
        return "", 1.0
    if pair.total:
        mine = pair.label in shape.counters[:1] or not shape.counters or not pair.label
        return ("total_steps" if name == "step" and mine else ""), 1.0
    return name, scale


_INTEGER = re.compile(r"[0-9]+(?:\.0*)?")

_ROUNDED = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+|[kKMB])")

_SHORT = re.compile(r"([0-9.]+)([kKMBGT])")

_PARTS = re.compile(r"([0-9]+)\s?([dhms])")

_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def _cell(name: str, pair: Pair, line: Line, scale: float) -> Cell | None:
    """The cell of a number that can stand in a column; a count that is abbreviated is rounded."""
    spec = fields(GenericStep)[name]
    place, text = line.column + pair.start, number(pair.text)
    if text in ("n/a", "N/A", "None", "null"):
        return None
    if pair.moment:
        if name != "elapsed" or not _PARTS.search(text):
            return None
        whole = sum(int(n) * _SECONDS[unit_] for n, unit_ in _PARTS.findall(text))
        return Cell(str(whole), line.number, place)
    if short := _SHORT.fullmatch(text):
        if spec.unit == "B" and scale == 2.0**20 and short[2] == "M":
            return Cell(short[1], line.number, place, scale)
        if spec.unit == "B" or spec.dtype.is_integer():
            return None  # 12.3G may be decimal or binary
        return Cell(short[1], line.number, place, scale * COUNTS[short[2]])
    if spec.dtype.is_integer():
        if not _INTEGER.fullmatch(text):
            return None
        text = text.split(".")[0]  # `global_step=99.00`
    return Cell(text, line.number, place, scale)


_OPENS = (
    r"(?i)loss[\"'\])]?[a-z_/ ]{0,16}\)?(?:\s|[\"'(\[:=>-]){0,6}-?(?:[0-9]|nan|inf)"
    r"|(?:^|[^a-z])(?:lr|learning[_ ]?rate|g(?:rad(?:ient)?)?[_ ]?norm|mfu|t[pg]s|[wu]ps)\b"
    r"[^0-9]{1,40}[0-9]"
    r"|[0-9]%?\s?(?:tok(?:en)?s?/s|samples?/s|[tgp]flop|(?:bf16 )?mfu|(?:m?s|sec|it|steps?|ba)"
    r"/(?:it|step|batch|s)|it (?:\[|rate:))"
    r"|(?:tok(?:en)?s?|samples?|ima?ge?s?|steps?|iter(?:ation)?s?|batch(?:es)?)[_ ]?(?:per[_ ]?|/)"
    r"(?:s|gpu|device)[^0-9]{1,24}[0-9]"
    r"|(?:step|iter(?:ation)?|batch)[_ ]?(?:time|ms)[^0-9]{1,12}[0-9]"
    r"|(?:^|[^a-z])(?:time|seconds?|ms|latency)[_ ]?(?:(?:per[_ ]?|/)(?:step|it)|[:=] ?[0-9])"
    r"[^|]{0,60}[0-9]"
    r"|tflops?[^0-9]{1,24}[0-9]"
    rf"|{'|'.join(BLOCK_HEADS)}"
)
"""Found in every line that may be a record by itself, and in the head of a block."""

_OPENS_HERE = re.compile(_OPENS)

FORMAT = Format(
    name="generic_step",
    heads=("",),
    schemas={"trainer_step": TrainerStep, "generic_step": GenericStep},
    origin="measured",
    fold=fold,
    opens=_OPENS,
    reach=BLOCK_HEADS,
    behind=True,
)
