"""Cells of a column taken together: its scale, whether of one device, how exact.

In: the records of a table and its columns. Out: their cells, changed in place, each with its law.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import pairwise
from math import log, log2
from statistics import median

from assay.ingest.columns.cells import OF_NOTHING, amount
from assay.ingest.columns.headers import EACH, OF_EACH, OF_ONE, RESERVED, Column
from assay.ingest.numbers.units import UNITS
from assay.ingest.schema.fields import FieldSpec
from assay.ingest.schema.record import Cell, Record
from assay.ingest.vocabulary.devices import PEAKS, peaks
from assay.ingest.vocabulary.terms import normalise
from assay.ingest.vocabulary.words import (
    BATCH,
    PLAIN,
    SAID_WHOSE,
    TIMES,
    of_one_device,
    split,
)

MOST_RATE = 6e15
"""More flop/s than any device has as its dense peak in a format that models train in."""

_SIXTEEN = re.compile(r"16|tf32|fp32", re.IGNORECASE)

LEAST_PEAK = 1e12 * min(least for least, _ in PEAKS.values())
"""flop/s that every device whose peak is known can reach."""

IMPOSSIBLE = 1e6
"""A rate of a GPU in TFLOP/s that none has: such a column is printed in FLOP/s."""


class Above:
    """Devices that the text above a table names, for rows that name none: how many, and which.

    It is asked of few tables, and looked through when it is.
    """

    def __init__(
        self, devices: Callable[[], int], text: Callable[[], str], whole: Callable[[], bool]
    ) -> None:
        self._devices, self._text, self._whole = devices, text, whole

    @cached_property
    def devices(self) -> int:
        """How many; 0 where that is not said."""
        return self._devices()

    @cached_property
    def text(self) -> str:
        """All that is said above."""
        return self._text()

    @cached_property
    def peaks(self) -> tuple[float, float] | None:
        """Peaks of the one device that it names."""
        return peaks(self.text)

    @cached_property
    def whole(self) -> bool:
        """Whether it says of its rates that they are of all devices."""
        return self._whole()


def rates(records: Sequence[Record], columns: Sequence[Column], above: Above) -> None:
    """A column headed TFLOPs whose numbers no GPU reaches is in FLOP/s, or the whole job's."""
    ours = [c for c in columns if c.spec and c.spec.unit == "flop/s" and c.scale == 1e12]
    whole = {c.spec.name for c in ours if c.spec and not of_one_device(c.label)}
    for spec in _fields_of(ours):
        held = [(r, r.cells[spec.name]) for r in records if spec.name in r.cells]
        bare = [(r, c) for r, c in held if c.state == "value" and c.scale == 1e12]
        amounts = (amount(c._replace(text=text)) for r, c in bare for text in r.texts(spec.name))
        if bare and all(each >= IMPOSSIBLE * 1e12 for each in amounts):
            law = "no GPU reaches so many TFLOP/s: printed in FLOP/s"
            for record, cell in bare:
                record.cells[spec.name] = cell._replace(scale=1.0, law=law)
        elif spec.name in whole and _of_the_job(each_row(bare, spec.name), above):
            for record, cell in bare:
                record.cells[spec.name] = cell._replace(state="unknown")


def of_datasheets(records: Sequence[Record], measures: Container[str]) -> bool:
    """Whether a table has nothing but rates, and most of them are the peaks that datasheets give
    the devices of their rows: `BF16 (TFLOP/s)` over 1307 for an MI300X, 989 for an H100. No run
    comes that near to them, and tables of an MFU say them under any heading."""
    held = [(record, name) for record in records for name in record.cells if name in measures]
    if not {name for _, name in held} <= {"model_flops_rate", "hardware_flops_rate", "memory"}:
        return False
    asked = [
        (amount(cell) / 1e12, known, record.cells.get("dtype"))
        for record, name in held
        if name != "memory" and (cell := record.cells[name]).state == "value"
        if (said := record.cells.get("gpu")) and (known := peaks(said.text))
    ]
    alike = sum(
        any(abs(rate / (times * most) - 1) < _A_PEAK for most in of_format for times in (1, 2))
        for rate, known, dtype in asked
        for of_format in [known if dtype is None or _SIXTEEN.search(dtype.text) else known[1:]]
    )
    return alike > 1 and 3 * alike >= 2 * len(asked)


_A_PEAK = 0.012
"""How far a rate is from a peak that it is, at most, as datasheets round them; some are doubled
for matrices half of which is nothing."""


def _fields_of(columns: Iterable[Column]) -> Iterable[FieldSpec]:
    """The field of each column, once where several groups of columns have it."""
    return {column.spec.name: column.spec for column in columns if column.spec}.values()


def each_row(held: Sequence[tuple[Record, Cell]], name: str) -> list[tuple[Record, Cell]]:
    """Every row that the records stand for, in order, with its cell of one field."""
    if any(record.alike for record, _ in held):
        rows = sorted((row for record, _ in held for row in record.each()), key=lambda r: r.line)
        return [(row, row.cells[name]) for row in rows]
    return list(held)


def _of_the_job(bare: Sequence[tuple[Record, Cell]], above: Above) -> bool:
    return (
        any(_of_all(r, c) for r, c in bare)
        or _grows_with_devices(bare)
        or _beyond_their_device(bare, above)
    )


def peak(record: Record, above: Above) -> float | None:
    """flop/s that no device of a row goes beyond, where it or the text above says which it is."""
    said = record.cells.get("gpu")
    known = peaks(said.text) if said else above.peaks
    if known is None:
        return None
    dtype = record.cells.get("dtype")
    return known[0 if dtype is not None and _SIXTEEN.search(dtype.text) else 1] * 1e12


def _of_all(record: Record, cell: Cell) -> bool:
    """Whether a rate is of more than one device: beyond any peak, or by its utilisation."""
    shares = [record.cells[name] for name in ("mfu", "hfu") if name in record.cells]
    share = [amount(each) for each in shares if each.state == "value"]
    return amount(cell) > MOST_RATE * min([1.0, *(each for each in share if each > 0)])


def _beyond_their_device(held: Sequence[tuple[Record, Cell]], above: Above) -> bool:
    """Whether most rates are more than a device of their row can reach, and all of its devices
    together can. One alone may be a wrong number, which a law tells."""
    free = [(r, c) for r, c in held if "mfu" not in r.cells]
    if not any(amount(c) > LEAST_PEAK for _, c in free):
        return False
    many = [(r, c, count) for r, c in free if (count := _devices(r, above)) > 1]
    asked = [(amount(c), peak(r, above), count) for r, c, count in many]
    known = [(rate, most, count) for rate, most, count in asked if most]
    beyond = sum(most < rate <= most * count for rate, most, count in known)
    return bool(known) and 2 * beyond > len(known)


def _devices(record: Record, above: Above) -> float:
    """How many devices a row has, or the text above its table names."""
    gpus = record.cells.get("gpus")
    return amount(gpus) if gpus is not None and gpus.state == "value" else above.devices


def _grows_with_devices(held: Sequence[tuple[Record, Cell]]) -> bool:
    """Whether the rate of one configuration rises as the number of its devices: no rate of one."""
    points: dict[tuple[tuple[str, str], ...], dict[float, float]] = {}
    for record, cell in held:
        gpus = record.cells.get("gpus")
        if gpus is not None and gpus.state == "value" and amount(gpus) and amount(cell):
            same = [(n, c.text) for n, c in record.cells.items() if n in _ONE_RUN]
            points.setdefault(tuple(same), {})[amount(gpus)] = amount(cell)
    most = max(points.values(), key=len, default={})
    return len(most) >= POINTS and all(
        NEARLY[0] <= log(more / less) / log(many / few) <= NEARLY[1]
        for (few, less), (many, more) in pairwise(sorted(most.items()))
    )


_ONE_RUN = ("model", "model_size", "parameters", "hidden", "layers", "seq_len", "dtype", "gpu")

POINTS = 3
"""Numbers of devices before a rate is said to grow with them."""

NEARLY = 0.7, 1.1
"""Growth of a rate with devices, as a power, where it is of them all; of one it is about 0."""

PLAUSIBLE = 0.05
"""The least median of a column of fractions beside which one number above 1 is a wrong cell."""

SEVERAL = 4
"""Numbers of a column before most of them say what it is in."""


def scales(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Lengths, counts and shares in the units in which all cells of their columns are."""
    lengths(records)
    fractions(records, columns)
    percentages(records, columns)


def percentages(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A column of utilisations above 1 is of percentages, all of it, and is marked so.

    One number above 1 in a column of fractions is that cell's own fault.
    """
    for spec in _fields_of(column for column in columns if column.scale == 1.0):
        if spec.unit != "1" or spec.quantity is None:
            continue
        cells = [(r, r.cells[spec.name]) for r in records if spec.name in r.cells]
        bare = [r for r, c in cells if c.state == "value" and c.scale == 1.0]
        texts = [text.replace(",", "") for record in bare for text in record.texts(spec.name)]
        values = [float(text) for text in texts]
        if not _in_percent(values):
            continue
        digits = max(_decimals(t) for t, value in zip(texts, values, strict=True) if value > 1.0)
        for record in records:
            cell = record.cells.get(spec.name)
            if cell and cell.state == "value" and cell.scale == 1.0:
                law = "a utilisation above 1 is printed in percent"
                record.cells[spec.name] = cell._replace(scale=0.01, law=law)
                finer = _decimals(cell.text) > max(1, digits)
                if finer and median(values) >= MOSTLY and amount(cell) <= 1.0:
                    record.cells[spec.name] = cell._replace(state="unknown")


MOSTLY = 10.0
"""Percentages in the middle of a column beside which a share with more digits, `0.417`, may be a
fraction."""


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def _in_percent(values: list[float]) -> bool:
    above = sum(value > 1.0 for value in values)
    if above == 0:
        return False
    few = len(values) >= SEVERAL and above <= max(1, len(values) // 10)
    return not (few and median(values) >= PLAUSIBLE)


def whole_numbers(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A measured column of whole numbers may be rounded or cut: its cells say which by no digit."""
    for spec in _fields_of(columns):
        if spec.quantity is None or spec.kind != "decimal":
            continue
        cells = [(r, r.cells[spec.name]) for r in records if spec.name in r.cells]
        held = [(r, cell) for r, cell in cells if cell.state == "value" and cell.kind is None]
        if not all(text.isdigit() for r, _ in held for text in r.texts(spec.name)):
            continue
        for record, cell in held:
            law = cell.law or "whole numbers: rounded or cut"
            record.cells[spec.name] = cell._replace(kind="nominal", law=law)


def lengths(records: Sequence[Record]) -> None:
    """Millions of tokens are powers of two where every length of their column is one; elsewhere,
    beside `3.7M` and `600K`, they are even."""
    cells = [(r, r.cells["seq_len"]) for r in records if "seq_len" in r.cells]
    held = [(r, c) for r, c in cells if c.state == "value" and c.scale > 1.0 and amount(c) > 0]
    if all(log2(float(c.text)).is_integer() for _, c in held if _NUMERAL.fullmatch(c.text)):
        return
    for record, cell in held:
        if cell.scale == MILLION_TOKENS:
            record.cells["seq_len"] = cell._replace(scale=1e6)


MILLION_TOKENS = 1024.0**2


def fractions(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A column of counts whose numbers mostly have fractions is in a unit that it does not say:
    `param_count` of 25.56."""
    for spec in _fields_of(column for column in columns if column.scale == 1.0):
        if not spec.configuration or spec.kind != "exact":
            continue
        cells = [(r, r.cells[spec.name]) for r in records if spec.name in r.cells]
        held = [(r, cell) for r, cell in cells if cell.state == "value" and cell.scale == 1.0]
        parts = [_FRACTION.fullmatch(text) for r, _ in held for text in r.texts(spec.name)]
        if 2 * sum(map(bool, parts)) > len(parts):
            for record, cell in held:
                record.cells[spec.name] = cell._replace(state="unknown")


_FRACTION = re.compile(r"[0-9,]*\.[0-9]*[1-9][0-9]*")


def whose_batches(records: Sequence[Record]) -> None:
    """Batches of rows as those of whom their numbers say."""
    _shares_of_rates(records)
    _local_batches(records)
    _of_one_replica(records)
    _batches_of_jobs(records)


EVEN = 4
"""Batches of one device are mostly multiples of this, or less."""


def _shares_of_rates(records: Sequence[Record]) -> None:
    """Take no batch of each device that is the rate of its row by its devices in every row that can
    tell: `images per GPU` of 390 beside 3120 images/s on 8 of them are a second's."""
    held = [(r, r.cells["micro_batch"]) for r in records if "micro_batch" in r.cells]
    told = []
    for record, cell in held:
        rate = record.cells.get("item_rate", record.cells.get("samples_per_s"))
        gpus = record.cells.get("gpus")
        if rate and gpus and all(c.state == "value" for c in (rate, gpus, cell)) and amount(gpus):
            told.append(abs(amount(rate) / amount(gpus) - amount(cell)) <= SHARE * amount(cell))
    odd = any(amount(cell) % EVEN for _, cell in held)  # which few batches are
    if told and all(told) and (odd or len(told) >= PROOFS):
        for record, cell in held:
            record.cells["micro_batch"] = cell._replace(state="unknown")


def _local_batches(records: Sequence[Record]) -> None:
    """Where a row has local batches beside micro-batches of another size, its accumulation counts
    local ones; in micro-batches it is as many times more, unless these make the batch of its job
    with the steps as printed.
    """
    for record in records:
        said = next((text for label, text in record.other if normalise(label) == "lbs"), "")
        micro, steps = record.cells.get("micro_batch"), record.cells.get("accumulation")
        if micro is None or steps is None or not said.isdigit():
            continue
        if micro.state != "value" or steps.state != "value" or not steps.text.isdigit():
            continue
        times, rest = divmod(int(said), int(amount(micro)) or 1)
        if rest or times < 2 or _in_micro_batches(record):
            continue
        law = "accumulation counts local batches (LBS), each of several micro-batches"
        record.cells["accumulation"] = steps._replace(
            text=str(int(steps.text) * times), value_origin="solved", law=law
        )


def _in_micro_batches(record: Record) -> bool:
    """Whether the steps of a row are of micro-batches, as these make the batch of its job."""
    held = {name: amount(cell) for name, cell in record.cells.items() if name in _OF_THE_JOB
            and cell.state == "value"}  # fmt: skip
    return "global_batch" in held and held["global_batch"] == _of_replicas(held, fewest=1)


_OF_THE_JOB = {"global_batch", "micro_batch", "accumulation", "gpus", "tp", "pp", "cp"}


def _of_one_replica(records: Sequence[Record]) -> None:
    """Take batches beside accumulation for micro-batches where one of them is of one sequence that
    is accumulated: it can be neither that of a step nor shared among devices."""
    held = [record for record in records if "batch_size" in record.cells]
    told = [(r.cells["batch_size"], r.cells["accumulation"]) for r in held
            if "accumulation" in r.cells and "micro_batch" not in r.cells]  # fmt: skip
    known = all(c.state == "value" and c.scale == 1.0 for pair in told for c in pair)
    if len(told) < len(held) or not known:
        return
    if any(amount(batch) == 1 and amount(steps) > 1 for batch, steps in told):
        law = "a batch of one sequence that is accumulated is that of each device"
        for record in held:
            record.cells["micro_batch"] = record.cells.pop("batch_size")._replace(law=law)


_OF_REPLICA = re.compile(
    r"(?:batch[ _-]?size|batch|bsz?)\s*(?:per|/)\s*"
    r"(?:DP(?: rank| group)?|(?:model )?replica|data[ -]parallel(?: rank| group| replica)?)",
    re.IGNORECASE,
)
"""A batch of one replica of the model: that of the job is as many times more as it has replicas."""


def replica_batches(records: Sequence[Record], columns: Sequence[Column]) -> set[str]:
    """Solve the global batch of rows that print that of a replica and how many there are; returns
    the labels of the columns that were used."""
    labels = {column.label for column in columns if _OF_REPLICA.fullmatch(column.label)}
    used = set()
    for record in records if labels else ():
        dp = record.cells.get("dp")
        for label, text in record.other:
            count = text.replace(",", "").strip()
            if label not in labels or dp is None or dp.state != "value" or not count.isdigit():
                continue
            if "global_batch" not in record.cells and dp.text.isdigit():
                law = "the batch of a replica times the data-parallel degree"
                record.cells["global_batch"] = dp._replace(
                    text=str(int(count) * int(dp.text)), value_origin="solved", law=law
                )
                used.add(label)
    return used


def _batches_of_jobs(records: Sequence[Record]) -> None:
    """Take the batches of rows that do not say whose for those of the job, where in each of them
    it is that of a device, times the steps and the replicas that the row prints, or where they grow
    as the devices do."""
    held = [record for record in records if "batch_size" in record.cells]
    if not held or any("global_batch" in record.cells for record in held):
        return
    told = [
        {name: amount(cell) for name, cell in record.cells.items() if cell.state == "value"
         and name in ("batch_size", "micro_batch", "accumulation", "gpus", "tp", "pp", "cp")}
        for record in held
    ]  # fmt: skip
    law = "the micro-batch times accumulation and replicas is the batch of the job"
    if not all(each.get("batch_size") == _of_replicas(each) for each in told):
        if not _grow_alike(told):
            return
        law = "a batch that grows as the devices do is that of all of them"
    for record in held:
        record.cells["global_batch"] = record.cells.pop("batch_size")._replace(law=law)


def _grow_alike(told: Sequence[Mapping[str, float]]) -> bool:
    """Whether batches of three numbers of devices or more are as many times as large as these."""
    if any("micro_batch" in each or not each.get("gpus") for each in told):
        return False
    if any("batch_size" not in each for each in told):
        return False
    shares = {each["batch_size"] / each["gpus"] for each in told}
    return len({each["gpus"] for each in told}) >= POINTS and len(shares) == 1


def _of_replicas(known: Mapping[str, float], fewest: int = 2) -> float | None:
    """The batch of all replicas of a row; None where it does not print all of it, or has fewer
    devices."""
    if not {"micro_batch", "gpus"} <= known.keys() or known["gpus"] < fewest:
        return None
    ranks = known.get("tp", 1.0) * known.get("pp", 1.0) * known.get("cp", 1.0)
    return known["micro_batch"] * known.get("accumulation", 1.0) * known["gpus"] / ranks


def unnamed(records: Sequence[Record], counted: Callable[[], str | None]) -> None:
    """Give rates in `/s` the field of what the text above their table says that they count; it is
    asked where there are such rates."""
    rated = [(record, record.cells.get("item_rate")) for record in records]
    bare = [(record, cell) for record, cell in rated if cell and cell.law == OF_NOTHING]
    field = counted() if bare else None
    for record, cell in bare:
        if field and field not in record.cells:
            law = "the text above the table says what is counted per second"
            record.cells[field] = cell._replace(law=law)
            del record.cells["item_rate"]


def of_each(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Samples or things per second of one device are those of the job by its number of devices,
    for what asks for these; as printed they stand beside."""
    for name in EACH.values():
        if not any(c.rank == OF_EACH and c.spec and c.spec.name == name for c in columns):
            continue
        for record in records:
            cell, gpus = record.cells.get(name), record.cells.get("gpus")
            if cell is None or cell.state != "value":
                continue
            record.cells[OF_ONE] = cell
            if gpus is None or gpus.state != "value" or amount(gpus) < 1:
                record.cells[name] = cell._replace(state="unknown")
                continue
            record.cells[name] = cell._replace(
                scale=cell.scale * amount(gpus), value_origin="solved", law=_TIMES_THEM
            )


_TIMES_THEM = "samples per second of one device, times the devices"


def as_printed(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Take the rates of the job out again that nobody prints, once they have told what they can."""
    if any(column.rank == OF_EACH for column in columns):
        for record in records:
            for name in EACH.values():
                cell = record.cells.get(name)
                if (
                    cell is not None
                    and OF_ONE in record.cells
                    and (cell.law == _TIMES_THEM or cell.state == "unknown")
                ):
                    del record.cells[name]


_BARE_TIME = re.compile(
    r"(?:elapsed|wall|total|mean|avg|median|interval)?[ _]?(?:time|latency|duration|elapsed)?"
    r"[ _]?[(\[]?(ms|msec|s|sec|secs|seconds)[)\]]?",
    re.IGNORECASE,
)
"""A label of a time that does not say of what: `elapsed_ms`, `time (s)`."""

SHARE = 0.01
"""How far the batch of a step may be from its rate times its time: digits of both are few."""


def bare_times(columns: Sequence[Column]) -> list[Column]:
    """Columns of times of nobody knows what, where none is of steps."""
    if any(c.spec is not None and c.spec.name == "step_time" for c in columns):
        return []
    return [c for c in columns if c.spec is None and _BARE_TIME.fullmatch(c.label.strip())]


def times_of_steps(records: Sequence[Record], columns: Sequence[Column]) -> Iterator[str]:
    """A time of nobody knows what is a step's where, in every row that can tell, its rate times
    it is the batch of a step: the labels of such columns."""
    for column in bare_times(columns):
        found = _BARE_TIME.fullmatch(column.label.strip())
        assert found is not None
        scale = UNITS[found[1].casefold()].scale
        held = [(r, text) for r in records if (text := dict(r.other).get(column.label))]
        told = [(r, t.replace(",", "")) for r, t in held if _NUMERAL.fullmatch(t.replace(",", ""))]
        asked = [_of_a_step(record, float(text) * scale) for record, text in told]
        proofs = [proof for proof in asked if proof is not None]
        proofs = proofs or _of_same_devices([(r, float(text) * scale) for r, text in told])
        if len(proofs) < PROOFS or not all(proofs):
            continue
        yield column.label
        law = "the rate of its row times this time is the batch, or the operations, of a step"
        for record, text in told:
            record.other.remove((column.label, dict(record.other)[column.label]))
            record.cells["step_time"] = Cell(
                text, record.line, record.column, scale, value_origin="printed", law=law
            )


def unitless_times(columns: Sequence[Column]) -> list[Column]:
    """Columns of times of a step whose labels say no unit, where a rate may prove one."""
    names = {c.spec.name for c in columns if c.spec}
    if not names & {"tokens_per_s", "tokens_per_gpu_per_s", "samples_per_s", "item_rate"}:
        return []
    return [c for c in columns if c.spec and c.spec.name == "step_time" and not c.unit_known]


def unsaid_units(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Times of a step without a unit are in the one in which, in every row that can tell, the rate
    times the time is the batch of a step."""
    if not unitless_times(columns):
        return
    cells = [(r, r.cells["step_time"]) for r in records if "step_time" in r.cells and not r.alike]
    bare = [(r, c) for r, c in cells if c.state == "unknown" and _NUMERAL.fullmatch(c.text)]
    for scale in (1.0, 1e-3):
        told = [_of_a_step(record, float(cell.text) * scale) for record, cell in bare]
        proofs = [proof for proof in told if proof is not None]
        if len(proofs) >= PROOFS and all(proofs):
            law = "its unit is the one in which the rate times the time is the batch of a step"
            for record, cell in bare:
                record.cells["step_time"] = cell._replace(state="value", scale=scale, law=law)


IN_BYTES = 2.0**29
"""A memory beyond which no number of a device's can be in kilobytes: it would be 512 GB."""


def unitless_memory(columns: Sequence[Column]) -> list[str]:
    """Fields of memory whose columns say no unit, and whose numbers may say it."""
    bare = [c.spec for c in columns if c.spec and c.spec.unit == "B" and not c.unit_known]
    return [spec.name for spec in bare if spec.name in ("memory", RESERVED)]


def in_bytes(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A column of memory without a unit, of whole numbers that are too large for kilobytes, is in
    bytes, as allocators count."""
    for name in unitless_memory(columns):
        held = [(r, r.cells[name]) for r in records if name in r.cells and not r.alike]
        bare = [(r, c) for r, c in held if c.state == "unknown" and c.text]
        if not bare or not all(c.text.isdigit() for _, c in bare):
            continue
        if max(float(c.text) for _, c in bare) >= IN_BYTES:
            law = "no device has so much in kilobytes: printed in bytes"
            for record, cell in bare:
                record.cells[name] = cell._replace(state="value", scale=1.0, law=law)


_PASSES = ({"fwd", "forward"}, {"bwd", "backward"})


def parts_of_steps(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Take no time for that of a step which is less than its two passes took, in columns beside it:
    `fwd_ms, bwd_ms, step_ms` tells of the optimizer's."""
    passes = [
        {c.label: TIMES[words[-1]] for c in columns
         if c.spec is None and (words := split(c.label)) and words[-1] in TIMES
         and each & set(words) and not other & set(words)}
        for each, other in (_PASSES, _PASSES[::-1])
    ]  # fmt: skip
    if not all(passes):
        return
    for record in records:
        step, told = record.cells.get("step_time"), dict(record.other)
        if step is None or step.state != "value":
            continue
        times = [
            [float(told[label]) * scale for label, scale in each.items()
             if _NUMERAL.fullmatch(told.get(label, ""))]
            for each in passes
        ]  # fmt: skip
        if all(times) and amount(step) < sum(map(min, times)):
            record.cells["step_time"] = step._replace(state="unknown")


def _of_same_devices(told: Sequence[tuple[Record, float]]) -> list[bool]:
    """Whether each time is that of a step: rows of other batches of a device whose samples in it
    are those of the same whole number of devices; nothing where they cannot tell."""
    held = []
    for record, seconds in told:
        known = {n: amount(c) for n, c in record.cells.items() if c.state == "value"}
        if "accumulation" in record.cells or not known.get("micro_batch"):
            return []
        if "samples_per_s" in known:
            held.append((known["micro_batch"], known["samples_per_s"] * seconds))
    if len({micro for micro, _ in held}) < PROOFS:
        return []
    count = round(median(samples / micro for micro, samples in held))
    return [abs(samples - micro * count) <= SHARE * micro * count for micro, samples in held]


PROOFS = 2
"""Rows whose arithmetic says what a time is of, before it is taken so."""

_NUMERAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _of_a_step(record: Record, seconds: float) -> bool | None:
    """Whether a time is that of a step; None where the row prints no rate, or no batch."""
    known = {n: amount(c) for n, c in record.cells.items() if c.state == "value"}
    length, devices = known.get("seq_len", 0.0), known.get("gpus", 0.0) or _laid_out(known)
    batch = known.get("global_batch", 0.0) or _composed(known) or _of_training(record)
    batch = batch or _of_nobody(known, seconds)
    of_device = known.get("tokens_per_gpu_per_s", 0.0) * devices
    tokens = known.get("tokens_per_s", 0.0) or of_device
    if tokens and (whole := known.get("global_batch_tokens", 0.0) or batch * length):
        return abs(tokens * seconds - whole) <= SHARE * whole
    samples = known.get("samples_per_s", 0.0) or known.get("item_rate", 0.0)
    if samples and batch:
        return abs(samples * seconds - batch) <= SHARE * batch
    rate, weights = known.get("model_flops_rate", 0.0) * devices, known.get("parameters", 0.0)
    if rate and (whole := weights * batch * length) and "experts" not in known:
        return OPERATIONS[0] <= rate * seconds / whole <= OPERATIONS[1]
    return None


OPERATIONS = 5.0, 13.0
"""Operations of a step for each weight and token: six, eight where they are done again, and those
of attention. A part of a step, or two of them, is beyond."""


def _laid_out(known: Mapping[str, float]) -> float:
    """Devices of a layout that is printed whole; 0 of any other."""
    degrees = [known.get(name, 0.0) for name in ("dp", "tp", "pp")]
    return math.prod(degrees) * known.get("cp", 1.0)


def _composed(known: Mapping[str, float]) -> float:
    """Sequences of a step by what its devices take: 0 where a row does not say all of it."""
    spread = known.get("tp", 1.0) * known.get("pp", 1.0) * known.get("cp", 1.0)
    replicas = known.get("dp", 0.0) or known.get("gpus", 0.0) / (spread or 1.0)
    return known.get("micro_batch", 0.0) * known.get("accumulation", 1.0) * replicas


def _of_nobody(known: Mapping[str, float], seconds: float) -> float:
    """A batch of nobody that is what its row takes in a time; 0 of any other."""
    batch = known.get("batch_size", 0.0)
    took = known.get("samples_per_s", 0.0) * seconds
    return batch if abs(took - batch) <= SHARE * batch else 0.0


def _of_training(record: Record) -> float:
    """The one batch that a row prints without saying of whom, by no word but training's."""
    said = {
        text for label, text in record.other
        if BATCH & (words := set(split(label))) and not words - BATCH - PLAIN - {"size"}
    }  # fmt: skip
    return float(text) if len(said) == 1 and _NUMERAL.fullmatch(text := said.pop()) else 0.0


COMMON_PEAK = 1e15
"""flop/s of a device that nothing names, roughly."""

POOR = 0.05
"""A share of that below which a rate of the whole job may well be one of a device."""

_SIZED = re.compile(r"(?<![A-Za-z0-9.])([0-9]+(?:\.[0-9]+)?) ?[bB](?![A-Za-z0-9])")


_OF_PROCESSES = {
    "rank", "localrank", "globalrank", "rankid", "gpuid", "deviceid", "gpuindex", "gpurank",
    "workerid", "processid", "procid",
}  # fmt: skip

_OF_A_RUN = ("tokens_per_s", "samples_per_s", "item_rate")


def of_processes(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """Rates in rows of the processes of a run, `rank` 0, 1, 2, are of nobody known: of the process
    or of all. Ranks of adapters do not begin at 0."""
    labels = [c.label for c in columns if c.spec is None]
    label = next((label for label in labels if normalise(label) in _OF_PROCESSES), None)
    if label is None:
        return
    counted = {text for record in records for name, text in record.other if name == label}
    names = {c.label: c.spec.name for c in columns if c.spec and c.spec.name in _OF_A_RUN}
    if len(counted) < PROOFS or not {str(n) for n in range(len(counted) - 1)} <= counted:
        return
    free = {name for label, name in names.items() if not set(split(label)) & SAID_WHOSE}
    for record in records:
        for name in free & record.cells.keys():
            record.cells[name] = record.cells[name]._replace(state="unknown")


OF_NOBODY = "(whose?)"
"""Behind a label of a rate: whose it is the document says in two ways."""


def of_whom(records: Sequence[Record], columns: Sequence[Column], above: Above) -> None:
    """A rate of tokens whose label does not say of whom, where one device could reach it alone and
    all of them together would do badly, is of nobody known.
    """
    labels = [c.label for c in columns if c.spec is not None and c.spec.name == "tokens_per_s"]
    if not labels or any(set(split(label)) & SAID_WHOSE for label in labels):
        return
    held = [(r, r.cells["tokens_per_s"]) for r in records if "tokens_per_s" in r.cells]
    if any(label.endswith(OF_NOBODY) for label in labels):
        each = each_row([(r, c) for r, c in held if c.state == "value"], "tokens_per_s")
        for record, cell in held:
            if not all(0.0 < _most_of_one(r, above) < amount(c) for r, c in each):
                record.cells["tokens_per_s"] = cell._replace(state="unknown")
        return
    short = in_short(columns)
    if short and (
        len(_OF_TORCHTITAN & {normalise(c.label.rpartition(".")[2]) for c in columns}) >= TWO
        or any(map(_by_torchtitan, records))
        or _TORCHTITAN.search(above.text)
    ):
        for record, cell in held:
            law = "torchtitan counts the tokens of one device"
            record.cells["tokens_per_gpu_per_s"] = cell._replace(law=law, value_origin="assumed")
            del record.cells["tokens_per_s"]
        return
    if any(_beyond_memory(record, cell, above) for record, cell in each_row(held, "tokens_per_s")):
        for record, cell in held:
            record.cells["tokens_per_s"] = cell._replace(state="unknown")
        return
    told = [(r, c) for r, c in held if not _timed(r)]
    each = each_row(told, "tokens_per_s")
    if told and not all(_of_one_alone(r, c, above, counted=not short) for r, c in each):
        told = []
    free = [(r, c) for r, c in held if c.state == "value" and not _settled(r)]
    if not any(_doubtful(record, cell, above) for record, cell in each_row(free, "tokens_per_s")):
        free = []
    if (told or free) and not above.whole:
        for record, cell in [*told, *free]:
            record.cells["tokens_per_s"] = cell._replace(state="unknown")


def in_short(columns: Sequence[Column]) -> bool:
    """Whether rates of tokens are labelled in letters alone, which do not say of whom they are."""
    labels = [c.label for c in columns if c.spec is not None and c.spec.name == "tokens_per_s"]
    return bool(labels) and {normalise(label) for label in labels} <= {"tps", "wps"}


_TORCHTITAN = re.compile(
    r"--(?:parallelism\.(?:data|tensor|pipeline|context|expert)_parallel_|training\.local_batch_size\b"
    r"|activation_checkpoint\.mode\b)"
)
"""Options that torchtitan alone has."""

_OF_TORCHTITAN = {
    "flavor", "localbatchsize", "dataparallelsharddegree", "dataparallelreplicatedegree",
    "dpshard", "dpreplicate", "tensorparalleldegree", "acmode", "selectiveacoption",
}  # fmt: skip
"""Names of its settings as labels of columns; others have some of them, nobody several."""

TWO = 2


def _by_torchtitan(record: Record) -> bool:
    """Whether a cell of a row is options of torchtitan."""
    return any(_TORCHTITAN.search(text) for _, text in record.other)


LEAST_STATES = 6.0
"""Bytes of each parameter that is trained, at the least: weight, gradient, two narrow moments."""


def _beyond_memory(record: Record, cell: Cell, above: Above) -> bool:
    """Whether a rate, if it is of all devices, is of a model that their memory cannot hold: what
    each device computes for a token of it says how large it is."""
    names = ("model_flops_rate", "memory")
    own = [record.cells[name] for name in names if name in record.cells]
    count = _devices(record, above)
    if cell.state != "value" or count < 2 or len(own) < len(names) or not amount(cell):
        return False
    if any(each.state != "value" for each in own) or "trained_part" in record.cells:
        return False
    flops, memory = map(amount, own)
    return flops * count / (6.0 * amount(cell)) * LEAST_STATES > memory * count


def amounts_again(records: Sequence[Record]) -> None:
    """A column that says how much is computed again, and of some rows that it is off: nothing is in
    these. Where it is said of some only that it is on, all stay a switch."""
    switches = [r.cells[SWITCH] for r in records if SWITCH in r.cells]
    told = any("recompute" in r.cells for r in records)
    on = any(cell.state != "value" or not _OFF.fullmatch(cell.text) for cell in switches)
    if not switches or not told or on:
        return
    for record in records:
        if cell := record.cells.get(SWITCH):
            record.cells.setdefault("recompute", cell._replace(text="none"))


SWITCH = "activation_checkpointing"

_OFF = re.compile(r"(?:off|no|n|false|none|disabled|0|✗|✘|❌)", re.IGNORECASE)


OF_EACH_LAW = "fewer devices than nodes: as many in each node"


def devices_of_nodes(records: Sequence[Record], columns: Sequence[Column]) -> None:
    """A count of devices beside one of nodes that is less in some row is of each node; one that
    stays as it is while nodes become more may be, and is of nobody known."""
    names = {c.spec.name for c in columns if c.spec is not None}
    packed = any({"gpus", "nodes"} <= set(c.degrees) for c in columns)
    if not (names & {"gpus", "nodes"} or packed) or "gpus_per_node" in names:
        return
    held = [
        r for r in records
        if all(n in r.cells and r.cells[n].state == "value" for n in ("gpus", "nodes"))
    ]  # fmt: skip
    counts = {(amount(r.cells["gpus"]), amount(r.cells["nodes"])) for r in held}
    gpus, nodes = {one for one, _ in counts}, {many for _, many in counts}
    if any(one < many for one, many in counts):
        for record in held:
            cell = record.cells.pop("gpus")
            record.cells["gpus_per_node"] = cell._replace(law=OF_EACH_LAW, value_origin="solved")
    elif (len(gpus) == 1 and len(nodes) > 1) or (packed and not _in_all(counts)):
        for record in held:
            record.cells["gpus"] = record.cells["gpus"]._replace(state="unknown")


def _in_all(counts: Set[tuple[float, float]]) -> bool:
    """Whether devices beside nodes are surely those of all of them: of one, or as many more as
    there are more nodes."""
    return {many for _, many in counts} == {1.0} or (
        len(counts) > 1 and len({one / many for one, many in counts}) == 1
    )


ALONE = 1.15
"""How much faster than its utilisation says a device may seem, as models count their operations."""


def _timed(record: Record) -> bool:
    """Whether a row says by a time, or by a rate of one device, whose its rate is."""
    others = ("tokens_per_gpu_per_s", "step_time", "samples_per_s")
    return any(n in record.cells and record.cells[n].state == "value" for n in others)


def _settled(record: Record) -> bool:
    """Whether a row says elsewhere how fast one device is."""
    others = ("tokens_per_gpu_per_s", "mfu", "model_flops_rate", "step_time")
    return any(n in record.cells and record.cells[n].state == "value" for n in others)


def _of_one_alone(record: Record, cell: Cell, above: Above, *, counted: bool = True) -> bool:
    """Whether a rate of the job is no more than one device makes at the row's own utilisation;
    where the devices are not `counted` there may be many of them."""
    count = _devices(record, above)
    if cell.state != "value" or (count < 2 and (counted or count)):
        return False
    return amount(cell) <= _most_of_one(record, above)


def _most_of_one(record: Record, above: Above) -> float:
    """Tokens per second that a device may seem to make at the row's own utilisation; 0 where
    nothing says that."""
    known = record.cells
    gpu = known.get("gpu")
    said = {n: amount(c) for n, c in known.items() if c.state == "value"}
    most = peaks(gpu.text) if gpu else above.peaks
    flops = said.get("model_flops_rate", 0.0)
    if not flops and most:
        flops = said.get("mfu", 0.0) * most[0] * 1e12  # as shares of peaks are counted, in 16 bits
    named = set(_SIZED.findall(known["model"].text if "model" in known else above.text))
    size = said.get("parameters", 0.0) or said.get("model_size", 0.0)
    size = size or (float(named.pop()) * 1e9 if len(named) == 1 else 0.0)
    return ALONE * flops / (6.0 * size) if size else 0.0


def _doubtful(record: Record, cell: Cell, above: Above) -> bool:
    count = _devices(record, above)
    model = record.cells.get("model")
    sized = _SIZED.search(model.text) if model is not None else None
    if cell.state != "value" or count < 2 or sized is None or _settled(record):
        return False
    alone = 6.0 * float(sized[1]) * 1e9 * amount(cell) / (peak(record, above) or COMMON_PEAK)
    return alone / count < POOR and alone <= 1.0
