"""Laws of an estimator's dump: its totals, its own definitions, and what cannot be.

A `Dump` is one dump as its laws look at it: rows by frame and name, sizes printed in powers of 1024
under decimal names. An estimator may define what it prints as it likes: a breach of its own
definitions is a warning, an impossible number or a sum that is none an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from assay.ingest.schema.record import Span
from assay.validate.cases.memo import once
from assay.validate.laws.evidence import Evidence
from assay.validate.laws.finding import Finding, Kind, Number, Severity
from assay.validate.predict.estimates import beside

POWER = "power-shares"

DEFINITION = "estimator-definition"

OVERFLOW = "memory-overflow"

NEGATIVE = "negative-size"

UNIT = "estimator-unit"

DERATE = 0.7


@once
def dumps(evidence: Evidence) -> list[Finding]:
    """Everything that is said of every dump of the first generation."""
    return list(_each(evidence))


def corrected_units(evidence: Evidence) -> list[Finding]:
    """Sizes that an estimator prints under a unit that its own arithmetic refutes."""
    frame = evidence.reading.frames.get("deepflow_component", pl.DataFrame())
    told = evidence.reading.provenance.filter(
        (pl.col("frame") == "deepflow_component")
        & (pl.col("field") == "capacity")
        & (pl.col("value_origin") == "corrected")
    )
    if frame.is_empty() or told.is_empty():
        return []
    place = ["source", "line", "column"]
    found = told.select(*place, "law", "text").join(frame, on=place, maintain_order="left")
    return [
        Finding(
            law=UNIT,
            kind="identity",
            severity="warning",
            spans=(Span(row["source"], row["line"], row["column"] or 1),),
            observed=(Number(row["subject"], float(row["text"]), *2 * (float(row["text"]),), "1"),),
            implied=(Number(row["subject"], *3 * (row["capacity"],), "B"),),
            explanation=f"{row['subject']}: {row['law']}",
            meaning="The size that is proven is used; the printed unit is the estimator's slip.",
        )
        for row in found.iter_rows(named=True)
    ]


def _each(evidence: Evidence) -> Iterator[Finding]:
    frame = evidence.reading.frames.get("deepflow_dump", pl.DataFrame())
    for row in frame.iter_rows(named=True):
        dump = Dump(evidence, row)
        for law in (weights, left_out, sums, time_per_step, _power, _derate, _hidden_bytes,
                    _interconnect, _overflow, _negative):  # fmt: skip
            yield from law(dump)


def _power(dump: Dump) -> list[Finding]:
    """Power shares of the configuration that sum to more than the budget."""
    config = dump.config
    if config is None:
        return []
    shares = [config[name] for name in ("core", "dram", "l2", "shared", "interconnect")]
    total = sum(share for share in shares if share is not None)
    if None in shares or total <= 1.0 + 1e-9:
        return []
    text = f"power shares sum to {total:.4f} of the budget"
    return [dump.finding(POWER, "identity", "warning", [config], text,
                         "The chip draws more than its budget; it cannot be built so.",
                         (Number("power", total, total, total, "1"),),
                         (Number("power", 1.0, 0.0, 1.0, "1"),))]  # fmt: skip


def _derate(dump: Dump) -> list[Finding]:
    """Rates of the chip are printed before the derate that its times use."""
    chip, gemm = dump.machine(), dump.named("gemm").get("Cf")
    if chip is None or gemm is None or not chip["peak_flops"] or not gemm["time"]:
        return []
    used = gemm["flop"] / gemm["time"] if gemm["flop"] else 0.0
    low = chip["peak_flops"] - (chip["peak_flops_ulp"] or 0.0) / 2
    if not 0 < used < DERATE * 1.02 * low + (chip["peak_flops_ulp"] or 0.0):
        return []
    text = (
        f"{chip['peak_flops'] / 1e12:g} Tflops are before the derate: products run at "
        f"{used / 1e12:.3f}"
    )
    meaning = "Multiply printed rates by 0.7 before comparing them with times."
    return [dump.finding(DEFINITION, "convention", "note", [chip], text, meaning)]


def _hidden_bytes(dump: Dump) -> list[Finding]:
    """The hidden weight's gradient counted in bytes where elements are meant."""
    kernels = dump.named("kernel")
    row, clip = kernels.get("hidden_backward"), kernels.get("gradclip_hidden")
    forward = kernels.get("hidden_forward")
    if row is None or clip is None or forward is None:
        return []
    if not row["bytes"] or not clip["bytes"] or not forward["bytes"] or not clip["flop"]:
        return []
    weight = clip["flop"] // 4
    size = clip["bytes"] * 4 // (clip["flop"] * 3)
    if row["bytes"] != forward["bytes"] // 4 + 3 * weight or size == 1:
        return []
    text = (
        f"the bytes of {row['name']} count three transfers of the weight's gradient as single "
        f"bytes, not elements of {size}"
    )
    meaning = "The kernel moves more than the line says."
    return [dump.finding(DEFINITION, "convention", "note", [row], text, meaning)]


def _interconnect(dump: Dump) -> list[Finding]:
    chip, config = dump.machine(), dump.config
    if chip is None or config is None or chip["interconnect_bandwidth"] != 0.0:
        return []
    if not config["interconnect"]:
        return []
    text = f"interconnect bandwidth 0.0 with {config['interconnect']:g} of the power budget"
    meaning = "The bandwidth is of what the estimate used, not of the chip."
    return [dump.finding(DEFINITION, "convention", "note", [chip, config], text, meaning)]


def _overflow(dump: Dump) -> list[Finding]:
    value = dump.row["memory_overflow"]
    if value is None or value - (dump.row["memory_overflow_ulp"] or 0.0) <= 1.0:
        return []
    rate = number("memory_overflow", value, dump.row["memory_overflow_ulp"], "1")
    text = f"the step needs {value:g} times the memory there is, and is timed as if it fitted"
    meaning = "The time is of a machine that could hold the model."
    return [dump.finding(OVERFLOW, "statistical", "note", [dump.row], text, meaning, (rate,))]


def _negative(dump: Dump) -> list[Finding]:
    found = []
    for rows in dump.rows.values():
        for name in (name for name in SIZES if rows and name in rows[0]):
            for row in (row for row in rows if row[name] is not None and row[name] < 0):
                value = float(row[name])
                text = f"{name.replace('_', ' ')} is {value:g}: no size or rate is below zero"
                found.append(dump.finding(
                    NEGATIVE, "identity", "error", [row], text,
                    "The estimate is of a chip that cannot exist; use nothing of it.",
                    (Number(name, value, value, value, "1"),),
                ))  # fmt: skip
    return found


Row = Mapping[str, Any]

GIB = 2.0**30


class Dump:
    """The rows of one dump, by frame and name."""

    def __init__(self, evidence: Evidence, row: Row) -> None:
        self.row = row
        self.source, self.first = row["source"], row["dump"]
        self.rows = {
            name: rows.get((self.source, self.first), []) for name, rows in _rows(evidence).items()
        }
        self._named: dict[str, dict[str, Row]] = {}
        self.config = _configs(evidence).get(self.source)

    def named(self, frame: str) -> dict[str, Row]:
        """Rows of a frame by name; the first stands where a name comes twice."""
        if frame not in self._named:
            found = self._named[frame] = {}
            for row in self.rows.get(f"deepflow_{frame}", ()):
                found.setdefault(row["name"], row)
        return self._named[frame]

    def machine(self) -> Row | None:
        """The row of the chip."""
        return next(iter(self.rows.get("deepflow_machine", ())), None)

    def finding(
        self, law: str, kind: Kind, severity: Severity, rows: list[Row], text: str, meaning: str,
        observed: tuple[Number, ...] = (), implied: tuple[Number, ...] = (),
    ) -> Finding:  # fmt: skip
        """A finding about `rows` of this dump, its span the first of them."""
        spans = dict.fromkeys(Span(r["source"], r["line"], r["column"] or 1) for r in rows)
        return Finding(law, kind, severity, tuple(spans)[:4], observed, implied, text, meaning,
                       cases=(f"{self.source}#{self.first}",))  # fmt: skip


Rows = dict[tuple[str, int], list[Row]]
"""Source and first line of a dump → its rows."""

SIZES = ("memory", "memory_per_shard", "memory_bandwidth", "memory_size", "l2_bandwidth", "l2_size",
         "shared_memory_size", "interconnect_bandwidth", "bytes", "flop", "gmem_bytes",
         "l2mem_bytes", "time", "step_time", "parameters")  # fmt: skip
"""Columns that are never below zero."""

LAWLESS = ("deepflow_reload", "deepflow_component")
"""Frames that no law looks at."""


@once
def _rows(evidence: Evidence) -> dict[str, Rows]:
    """The rows of each frame by their dump."""
    place = ("source", "line", "column", "dump", "name")
    looked_at = {
        *place,
        *(f"{name}{end}" for name in (*SIZES, "peak_flops") for end in ("", "_ulp")),
    }
    found: dict[str, Any] = {
        name: frame.select(each for each in frame.columns if each in looked_at).rows_by_key(
            ["source", "dump"], named=True, include_key=True
        )
        for name, frame in evidence.reading.frames.items()
        if name.startswith("deepflow_") and "dump" in frame.columns and name not in LAWLESS
    }
    return found


@once
def _configs(evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Source of a dump → the row of the configuration beside it."""
    frame = evidence.reading.frames.get("deepflow_config", pl.DataFrame())
    rows: dict[str, dict[str, Any]] = {}
    for row in frame.iter_rows(named=True):
        rows.setdefault(row["source"], row)
    there = evidence.reading.frames.get("deepflow_dump", pl.DataFrame({"source": []}))
    placed = beside(there["source"].to_list(), list(rows))
    return {dump: rows[config] for dump, config in placed.items()}


def number(name: str, value: float, place: float | None, unit: str) -> Number:
    """A printed value with one unit in its last place, rounded or cut."""
    half = place or 0.0
    return Number(name, value, value - half / 2, value + half, unit)


def whole(value: float, slack: float) -> bool:
    """Whether a value is a positive whole number but for `slack`."""
    return value > 0.5 and abs(value - round(value)) <= slack


def batch_and_sequence(dump: Dump) -> tuple[int | None, int | None]:
    """Batch and sequence, from the configuration or from the dump's own integers."""
    if dump.config is not None and dump.config["batch"] and dump.config["sequence"]:
        return int(dump.config["batch"]), int(dump.config["sequence"])
    kernels = dump.named("kernel")
    hidden, embedding = kernels.get("hidden_forward"), kernels.get("embedding_forward")
    clip = kernels.get("gradclip_hidden")
    if hidden is None or embedding is None or clip is None:
        return None, None
    if not hidden["flop"] or not embedding["bytes"] or not clip["flop"]:
        return None, None
    width = round((clip["flop"] / 4 / 8) ** 0.5)  # 2D × 4D elements, 4 flop each
    size = clip["bytes"] * 4 / (clip["flop"] * 3)
    batch = hidden["flop"] / (13 * width)
    steps = embedding["bytes"] / (2 * batch * width * size) if batch else 0.0
    if not (whole(batch, 1e-9) and whole(steps, 1e-9)):
        return None, None
    return round(batch), round(steps)


MEMORY = "estimator-memory"

TOTAL = "estimator-total"

RATE = "estimator-time-per-step"

ONCE = ("softmax_f", "softmax_b", "embedding_f", "embedding_b")

LEFT_OUT = ("projection_f", "projection_b")

PARTS = {
    "total": ("embedding", "hidden", "softmax", "projection"),
    "total_of_kinds": ("weight", "activation", "pointwise"),
}

DAY, EPOCHS, WORDS = 86400.0, 100.0, 768648884.0
"""Parts of `time_per_step`: seconds of a day, passes of a corpus, and words of the corpus."""


def weights(dump: Dump) -> list[Finding]:
    """Weight memory against the parameters of the same dump."""
    memory, kernels = dump.named("memory").get("weight"), dump.named("kernel")
    clip, count = kernels.get("gradclip_hidden"), dump.row["parameters"]
    if memory is None or clip is None or not count or not clip["flop"] or not memory["memory"]:
        return []
    size = clip["bytes"] * 4 / (clip["flop"] * 3)  # clipping: 4 flop and 3 transfers per element
    low, high = ((count + end * (dump.row["parameters_ulp"] or 0.0)) * size for end in (-0.5, 1.0))
    printed = number("weight_memory", memory["memory"], memory["memory_ulp"], "B")
    if printed.low <= high and printed.high >= low:
        return []
    text = (
        f"weights take {memory['memory'] / GIB:.1f} GiB, {count / 1e9:g} billion parameters of "
        f"{size:g} bytes {count * size / GIB:.1f} GiB"
    )
    implied = Number("weight_memory", count * size, low, high, "B")
    text += _softmax_of_projection(kernels, (count * size - memory["memory"]) / size, high - low)
    return [dump.finding(MEMORY, "identity", "warning", [memory, dump.row], text,
                         "Take the memory of the weights from the parameters.",
                         (printed,), (implied,))]  # fmt: skip


def _softmax_of_projection(kernels: dict[str, Row], lacking: float, slack: float) -> str:
    """The cause, where the elements that lack are a softmax weight of D less one of P."""
    sizes = [kernels.get(f"gradclip_{name}") for name in ("hidden", "projection", "softmax")]
    if any(row is None or not row["flop"] for row in sizes):
        return ""
    hidden, projection, softmax = (row["flop"] // 4 for row in sizes if row is not None)
    width = round((hidden / 8) ** 0.5)
    if abs((width - projection / width) * softmax / width - lacking) > slack:
        return ""
    return ": the softmax weight is counted with the projection width, its product with the hidden"


def left_out(dump: Dump) -> list[Finding]:
    """Parts of the step that its total leaves out, told by whole cells."""
    parts, kernels = dump.named("part"), dump.named("kernel")
    total, place = dump.row["step_time"], dump.row["step_time_ulp"] or 0.0
    need = {*ONCE, *LEFT_OUT, "Cf", "Cb", "R"}
    clip = [kernels.get(n) for n in ("apply_grad_softmax", "gradclip_softmax")]
    if total is None or not need <= set(parts) or any(k is None or not k["time"] for k in clip):
        return []
    spent = {name: parts[name]["time"] for name in need}
    if any(value is None for value in spent.values()) or spent["Cb"] < spent["R"]:
        return []
    once = sum(spent[n] for n in ONCE) + spent["R"] + sum(k["time"] for k in clip if k)
    out = sum(spent[n] for n in LEFT_OUT)
    cell = spent["Cf"] + spent["Cb"]
    slack = (2.0 * place + 1e-12 * total) / cell
    if not whole((total - once) / cell, slack) or whole((total - once - out) / cell, slack):
        return []
    text = f"Time leaves out {' and '.join(LEFT_OUT)}, {out:.3f} s: without them {round((total - once) / cell)} whole cells remain, with them none do"  # noqa: E501
    printed = number("step_time", total, place, "s")
    implied = Number("step_time", total + out, total + out - place, total + out + place, "s")
    return [dump.finding(TOTAL, "identity", "warning", [dump.row, parts["projection_f"]], text,
                         "Add the parts that are left out.", (printed,), (implied,))]  # fmt: skip


def sums(dump: Dump) -> list[Finding]:
    """A total of memory against its parts."""
    rows, found = dump.named("memory"), []
    for total, parts in PARTS.items():
        if total not in rows or not set(parts) <= set(rows):
            continue
        stated = rows[total]
        held = [rows[name] for name in parts]
        if any(row["memory"] is None for row in (stated, *held)):
            continue
        made = sum(row["memory"] for row in held)
        place = sum(row["memory_ulp"] or 0.0 for row in (stated, *held)) / 2 + 1.0
        gap = abs(made - stated["memory"])
        if gap <= place:
            continue
        printed = number("memory", stated["memory"], stated["memory_ulp"], "B")
        implied = Number("memory", made, made - place, made + place, "B")
        severity: Severity = "error" if gap > place + 3 * (stated["memory_ulp"] or 0) else "note"
        text = f"a total of {stated['memory'] / GIB:.1f} GiB over parts of {made / GIB:.1f} GiB"
        found.append(
            dump.finding(
                TOTAL, "identity", severity, [stated, *held[:3]], text,
                "One part or the total is wrong.", (printed,), (implied,),
            )
        )  # fmt: skip
    return found


def time_per_step(dump: Dump) -> list[Finding]:
    """A time per step that belongs to another batch than the dump's."""
    printed, place = dump.row["next_step_time"], dump.row["next_step_time_ulp"] or 0.0
    batch, steps = batch_and_sequence(dump)
    if not printed or batch is None or steps is None:
        return []
    unit = EPOCHS * WORDS / (DAY * steps)
    low, high = ((printed + end * place) * unit for end in (-0.5, 1.0))
    own = DAY * batch * steps / (EPOCHS * WORDS)
    if low <= batch <= high:
        return []
    middle = round((low + high) / 2)
    meant_batch = middle if low <= middle <= high else None
    meant = f"batch {meant_batch}" if meant_batch else "no whole batch"
    text = f"time_per_step {printed:g} s is that of {meant}, the dump's batch is {batch}"
    observed = number("time_per_step", printed, place, "s")
    return [dump.finding(RATE, "identity", "warning", [dump.row], text,
                         "Do not compare the two times: they are of different batches.",
                         (observed,), (Number("time_per_step", own, own, own, "s"),))]  # fmt: skip
