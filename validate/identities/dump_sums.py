"""Totals and parts of an estimator's dump: memory and parameters, time and what it leaves out.

An estimator may define its totals as it likes: what breaks its own definition is a warning, a sum
that is none an error.
"""

from __future__ import annotations

from assay.validate.identities.dump import GIB, Dump, Row, batch_and_sequence, number, whole
from assay.validate.identities.finding import Finding, Number, Severity

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
"""What `time_per_step` divides: a day over so many passes of a corpus of so many words."""


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
