"""Laws of an estimator's dump: its totals, its own definitions, and what cannot be.

An estimator may define what it prints as it likes; a breach of its own definitions is a warning,
an impossible number an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from assay.validate.identities.dump import SIZES, Dump, number
from assay.validate.identities.dump_sums import left_out, sums, time_per_step, weights
from assay.validate.identities.evidence import Evidence
from assay.validate.identities.finding import Finding, Number

POWER = "power-shares"
DEFINITION = "estimator-definition"
OVERFLOW = "memory-overflow"
NEGATIVE = "negative-size"

DERATE = 0.7


def dumps(evidence: Evidence) -> list[Finding]:
    """Everything that is said of every dump of the first generation."""
    if "dump-findings" not in evidence.memo:
        evidence.memo["dump-findings"] = list(_each(evidence))
    found: list[Finding] = evidence.memo["dump-findings"]
    return found


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
