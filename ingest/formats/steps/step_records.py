"""From lines taken apart to rows: which shapes are step records, and which column a number is of.

In: `Found` values of one input. Out: records of the frames of `step_lines`, each with the words or
the trainer that made it one.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.formats.steps.step_clocks import clocks_of, seconds
from assay.ingest.formats.steps.step_draws import once_each, within, without_repeats
from assay.ingest.formats.steps.step_lines import GenericStep, TrainerSummary
from assay.ingest.formats.steps.step_pairs import Pair, number
from assay.ingest.formats.steps.step_pieces import put_together
from assay.ingest.formats.steps.step_shapes import BAR, COMPARED, LEAST, Found, Shape, shapes
from assay.ingest.formats.steps.step_words import Meaning, meaning, words
from assay.ingest.formats.steps.trainers import Trainer, trainer_of
from assay.ingest.lines.metrics import COUNTS
from assay.ingest.numbers.units import unit
from assay.ingest.schema.fields import by_label, fields
from assay.ingest.schema.record import Cell, Code, Diagnostic, Line, Record, Span
from assay.ingest.vocabulary.terms import configured_by, normalise

GENERIC = "generic"
"""The mark of rows whose format nobody has written down."""


class StepRecord(NamedTuple):
    """A row to be, and the line or block that it was made of."""

    record: Record
    found: Found


def step_records(found: Iterable[Found], alone: list[Found]) -> Iterator[StepRecord]:
    """The records of summaries, and of every shape that is one of steps, shape by shape.

    `alone`: see `shapes`.
    """
    steps: list[Found] = []
    for each in without_repeats(found):
        part = _summed_up(each)
        if part is None:
            steps.append(each)
        else:
            yield StepRecord(_summary(each, part), each)
    known = False
    reasons: dict[int, str] = {}
    unknown: list[Shape] = []
    loose: list[Shape] = []
    for shape in shapes(steps, alone):
        once_each(shape)
        trainer = trainer_of(shape.typical)
        if trainer is None:
            shape.take_counts_in_front()
        if trainer is not None:
            known = True
            for each in shape.found:
                each.meanings = trainer.meanings(each)
            yield from _records(shape, trainer, trainer.name)
        elif why := _accepted(shape):
            reasons[id(shape)] = why
            unknown.append(shape)
        elif any(_tells(what, shape) for what in shape.typical.meanings):
            loose.append(shape)
    unknown = [each for each in unknown if each.typical.said.form != "bar"
               or not any(within(each, other) for other in unknown)]  # fmt: skip
    whole = put_together(unknown, loose, beside=known)
    whole = _told_best(whole)
    steps_of = [shape for shape in whole if not shape.typical.validates("loss")]
    trains = known or any(shape.typical.has("loss") for shape in steps_of)
    for shape in whole:
        evaluates = shape.typical.validates() and (known or steps_of)
        if not (evaluates or (trains and shape.typical.validates("loss"))):
            yield from _records(shape, None, reasons[id(shape)])


def _told_best(shapes: Sequence[Shape]) -> list[Shape]:
    """The shapes but those of which another tells of the same steps, and the same of them, with
    what is learnt, which these have none of: lines of a process that only makes the samples."""
    if all(shape.training & _TIED for shape in shapes):
        return [*shapes]
    typed = {id(shape): _typed(shape) for shape in shapes}
    counting = [shape for shape in shapes if shape.counters]
    longest: dict[str, int] = {}  # column → lines of the longest shape that counts and has it
    learning: defaultdict[int, list[Shape]] = defaultdict(list)  # count → shapes that have it
    for other in counting:
        for name in typed[id(other)]:
            longest[name] = max(longest.get(name, 0), len(other.found))
        if other.training & _TIED:
            for count in set(other.counts(other.counters[0])):
                learning[count].append(other)

    def told_better(shape: Shape) -> bool:
        if shape.training & _TIED:
            return False
        if not shape.counters:
            return any(longest.get(name, 0) >= len(shape.found) for name in typed[id(shape)])
        mine = shape.counts(shape.counters[0])
        held = Counter(id(other) for count in mine for other in learning.get(count, ()))
        return any(
            2 * many >= len(mine) and typed[id(shape)] & typed[at] for at, many in held.items()
        )

    return [shape for shape in shapes if not told_better(shape)]


def _typed(shape: Shape) -> set[str]:
    """Columns of quantities with a unit."""
    return {what.field for each in shape.found for what in each.meanings if what and what.typed}


def _tells(what: Meaning | None, shape: Shape) -> bool:
    """Whether a quantity may be one of a step that other lines tell of: one with a unit, or one
    beside the count of that step, as `[100] l2_grads = 0.77` is."""
    counted = bool(shape.counters) and what is not None and what.field not in ("", "step", "epoch")
    return counted or (not shape.counters and what is not None and what.typed)


def capped(source: str, alone: Sequence[Found]) -> list[Diagnostic]:
    """A remark on lines that were compared with some shapes of more, at the first of them."""
    if not alone:
        return []
    first = min((each.first for each in alone), key=lambda line: (line.number, line.column))
    message = (
        f"this and {len(alone) - 1:,} more kinds of lines are compared with the {COMPARED} "
        "commonest kinds alone"
    )
    return [Diagnostic(Span(source, first.number, first.column), Code.CAPPED, message)]


def _records(shape: Shape, trainer: Trainer | None, why: str) -> Iterator[StepRecord]:
    """The rows of a shape."""
    shape.clocks = clocks_of(shape)
    bare = next((key for key in shape.counters[:1] if re.fullmatch("#[0-9]+", key)), None)
    for each in shape.found:
        if bare is not None and each.value(bare) is None:
            continue  # what has no count where all others have one sums them up
        if trainer is not None and trainer.sums_up(each):
            continue
        if _of_both(each) and not _of_both(shape.typical):
            continue  # what tells of training and of validation where no other line does
        if shape.typical.has("loss") and not each.has("loss") and _of_evaluation(each):
            continue  # `step:1K success:0.0% eval_s:72.4` under the labels of a step
        record = _record(each, shape)
        record.cells |= _named(record, trainer, why, len(shape.found))
        yield StepRecord(record, each)


_BOTH = re.compile(r"(?i)\[train(?:ing)?\].*\[(?:val(?:id(?:ation)?)?|eval|dev|test)\]")


def _of_both(found: Found) -> bool:
    """Whether a line has a part of training and one of validation, as the results of an epoch."""
    return _BOTH.search(found.first.text) is not None


def _of_evaluation(found: Found) -> bool:
    """Whether a label says that something of a line is of an evaluation."""
    return any(_EVALUATES & set(words(pair.label)) for pair, _ in found.places)


_EVALUATES = {"eval", "evaluation", "val", "valid", "validation"}

_SUMS = {
    "train runtime": "training", "train samples per second": "training",
    "eval runtime": "evaluation", "eval loss": "evaluation", "predict runtime": "prediction",
}  # fmt: skip
"""Labels of a dictionary or a block that sums up a part of a Hugging Face Trainer's work."""


def _summed_up(found: Found) -> str | None:
    """The part that a dictionary sums up; None where it is one of a step."""
    if found.said.form not in ("braces", "block") or found.has("learning_rate"):
        return None
    held = {" ".join(words(pair.label)) for pair, _ in found.places}
    if found.has("step") and found.has("loss") and "train runtime" not in held:
        return None  # a step that shows the loss of the last validation too
    return next((part for label, part in _SUMS.items() if label in held), None)


def _summary(found: Found, part: str) -> Record:
    first = found.first
    record = Record(first.number, {}, first.column, "trainer_summary", prefix=dict(first.prefix))
    record.cells["phase"] = Cell(part, first.number, first.column)
    known = by_label(TrainerSummary)
    for pair, line in found.places:
        spec, scale = known.get(normalise(" ".join(words(pair.label))), (None, 1.0))
        text = seconds(pair.text) if pair.moment else number(pair.text)
        lasts = spec is not None and spec.unit == "s"
        if spec is None or spec.name in record.cells or not text or (pair.moment and not lasts):
            record.other.append((pair.label, pair.text))
        else:
            record.cells[spec.name] = Cell(text, line.number, line.column + pair.start, scale)
    return record


def _named(record: Record, trainer: Trainer | None, why: str, many: int) -> dict[str, Cell]:
    """The reason that a line is a record: its trainer, or the words of its shape."""
    if trainer:
        record.frame = "trainer_step"
        return {"trainer": Cell(why, record.line, record.column)}
    record.frame, record.mark = "generic_step", GENERIC
    return {"words": Cell(f"{why} ({many} alike)", record.line, record.column)}


def meant(found: Found) -> Found:
    """The same with the meaning of each pair; of a bar its count is the step or a batch."""
    bar = found.said.form == "bar"
    found.meanings = [_meant(pair, bar) for pair, _ in found.places]
    if found.has("step_time"):
        _leave_parts(found)
    if found.has("samples_per_s") and any("cost" in words(pair.label) for pair, _ in found.places):
        _of_a_card(found)
    _beside_averages(found)
    if found.has("learning_rate", "grad_norm") and not found.has("loss"):
        for at, (pair, _) in enumerate(found.places):
            if pair.label == "L" and _DECIMAL.fullmatch(pair.text):
                found.meanings[at] = Meaning("loss", training=True)
    return found


_PASSES = ({"fwd", "forward"}, {"bwd", "backward", "bckwd"})
"""Words of the two passes whose times stand beside that of a step."""


def _leave_parts(found: Found) -> None:
    """Take no time for that of a step which is less than both its passes took: `fwd 0.8s bwd 1.2s
    step 0.3s` tells of the optimizer's."""
    times = [
        (set(words(pair.label)), float(number(pair.text)) * known.scale)
        if not pair.moment and (known := unit(pair.behind)) and known.si == "s"
        else (set[str](), math.nan)
        for pair, _ in found.places
    ]
    passes = [next((time for held, time in times if held & each), math.nan) for each in _PASSES]
    for at, what in enumerate(found.meanings):
        if what is not None and what.field == "step_time" and times[at][1] < sum(passes):
            found.meanings[at] = None


def _of_a_card(found: Found) -> None:
    """Take Paddle's `ips` for what it is: samples of this process over the `batch_cost` beside it
    (PaddleClas, trainer.py; PaddleOCR, program.py)."""
    for at, (pair, _) in enumerate(found.places):
        what = found.meanings[at]
        if pair.label == "ips" and what is not None and what.field == "samples_per_s":
            found.meanings[at] = what._replace(field="samples_per_gpu_per_s")


def _beside_averages(found: Found) -> None:
    """Take a number without a label right in front of an average of losses for the loss itself:
    `518.02, 517.98 avg loss`."""
    for at, ((pair, line), (after, _)) in enumerate(pairwise(found.places)):
        between = line.text[pair.span[1] : after.start] if pair.span[1] else ""
        what = found.meanings[at + 1]
        averaged = what is not None and what.field == "loss" and what.order > 1
        if averaged and not pair.label and not pair.behind and between.strip() == ",":
            found.meanings[at] = Meaning("loss", training=True)


_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")
"""No layers and no length, as other numbers called `L` are."""


def _meant(pair: Pair, bar: bool) -> Meaning | None:
    if bar and pair.label == BAR:
        return None
    found = meaning(pair.label, "s" if pair.moment else pair.behind)
    if found is None and not pair.behind and _IN_BYTES.fullmatch(pair.text):
        taken = meaning(pair.label, "B")  # no device has so much in kilobytes
        found = taken if taken is not None and taken.field in _MEMORY else None
    if bar and found is not None and pair.label == pair.behind and pair.label.startswith("s/"):
        return found._replace(field="step_time_average")  # bars smooth what they show
    return found


_IN_BYTES = re.compile("5[4-9][0-9]{7}|[6-9][0-9]{8}|[1-9][0-9]{9,11}")
"""More than 512 GB, if it were in kilobytes."""

_MEMORY = {"max_reserved", "reserved", "max_allocated", "allocated", "memory"}

_RATES = {
    "samples_per_s", "samples_per_gpu_per_s", "token_rate", "tokens_per_s", "tokens_per_gpu_per_s",
}  # fmt: skip

BATCHES = 4
"""Order among counters from which on they may count batches, or sizes of them."""

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
    if many >= LEAST and not counts and "loss" in training and shape.epochs:
        return labels
    if many >= LEAST and shape.total_counts and "loss" in training:
        return labels
    if many >= LEAST and counts and one.has("epoch") and one.has("step") and one.has("clock"):
        return labels
    worded = bool(counts) and not counts[0].startswith("#")
    if many >= LEAST and worded and (shape.fractions or shape.percents):
        count = meaning(counts[0])
        if count is not None and count.order < BATCHES:
            return labels  # of the peak nobody but a job has a share
    if many >= LEAST and counts and (training or bar):
        return labels if worded or "loss" in training or _scheduled(one, training) else None
    if many >= LEAST and not counted and _steady(shape, training):
        return labels
    measured = typed - {"clock", "elapsed"} if not training else typed
    if (counted or _leads(one)) and not bar and training & typed and _measures(measured, training):
        return labels
    return labels if counted and bar and training else None


def _scheduled(one: Found, training: set[str]) -> bool:
    """Whether the schedule of training stands beside a count without a word, and an epoch or a
    rate of training."""
    beside = one.has("epoch") or bool(training & _RATES)
    return beside and bool(training & {"learning_rate", "grad_norm"})


def _leads(one: Found) -> bool:
    """Whether a line begins with a count and its total, without a word: `469/469 [====] -`.

    With times alone it may be of anything: `313/313 [====] - 1s 2ms/step`.
    """
    timed = {"step_time", "step_time_average", "clock", "elapsed"}
    if not any(each and each.training and each.field not in timed for each in one.meanings):
        return False
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
    units = sum(1 for each in one.meanings if each is not None and each.typed)
    if "loss" in training and schedule and units:
        return True
    return bool(training & {*_RATES, "step_time"}) and units >= LEAST


def _labels(one: Found) -> str:
    """The labels that mean something, as printed."""
    pairs = zip(one.places, one.meanings, strict=True)
    named_ = [pair.label for (pair, _), what in pairs if what and pair.label and not pair.total]
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
        if pair.label == BAR:
            name = "batch" if has_step else "step"
    elif key.startswith("#") and shape.counters[:1] == [key]:
        counted = sum(other.total for other, _ in each.places)  # `[0/300][20/1251]`
        within = (each.has("epoch") and not shape.through_epochs) or _second(each, pair)
        alone = key.endswith("/") and not (within or shape.begins_again or counted > 1)
        name = "step" if alone else "batch"
    elif key == "#0/" and not shape.counters and _leads(each):
        name = "batch"
    elif key == "" and pair.total and shape.counters[:1] and shape.counters[0].endswith("/"):
        within = each.has("epoch") and not shape.through_epochs
        name = "" if within or shape.begins_again else "step"
    if key in shape.moving or (pair.total and not key and shape.moving):
        return ("batch" if pair.total else ""), 1.0
    if name == "clock":
        known = shape.clocks.get(key)
        return known if known else ("", 1.0)
    if name == "share":
        share = 0.01 if key in shape.percents else 1.0
        return ("mfu", share) if share < 1.0 or key in shape.fractions else ("", 1.0)
    if name == "elapsed" and not pair.moment and not shape.since_a_start(key):
        return "", 1.0
    if pair.total:
        mine = pair.label in shape.counters[:1] or not shape.counters or not pair.label
        return ("total_steps" if name == "step" and mine else ""), 1.0
    return name, scale


def _second(each: Found, pair: Pair) -> bool:
    """Whether a count stands in the second of two brackets, and the first counts what holds it."""
    return re.search(r"\[[0-9]+\]\s?\[\s*$", each.first.text[: pair.start]) is not None


_DURATIONS = ("elapsed", "step_time", "step_time_average")
"""Columns of times that may be printed as `0:00:02.514`."""

_INTEGER = re.compile(r"[0-9]+(?:\.0*)?")

_ROUNDED = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+|[kKMB])")

_SHORT = re.compile(r"([0-9.]+)([kKMBGT])")


_NEVER_ZERO = _RATES | {"samples_per_s_average", "step_rate", "flops_rate", "flops_rate_per_gpu",
                        "mfu"}  # fmt: skip

_ZERO = re.compile(r"0+\.?0*|\.0+")


def _cell(name: str, pair: Pair, line: Line, scale: float) -> Cell | None:
    """The cell of a number that can stand in a column; a count that is abbreviated is rounded."""
    spec = fields(GenericStep)[name]
    place, text = line.column + pair.start, number(pair.text)
    if text in ("n/a", "N/A", "None", "null"):
        return None
    if name in _NEVER_ZERO and _ZERO.fullmatch(text):
        return None  # not measured yet: `Throughput: 0 tokens/s | MFU: 0.0%`
    if pair.moment:
        passed = seconds(text) if name in _DURATIONS else ""
        return Cell(passed, line.number, place) if passed else None
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
