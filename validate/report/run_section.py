"""The section on runs: how fast each was, under which formula, and what a model says."""

from __future__ import annotations

from collections.abc import Sequence

from assay.validate.cases.steps import RULE
from assay.validate.report.layout import Column, Items, Section, Table, percent, place, quantity
from assay.validate.runs.run import Metric, Remembered, Run

SHOWN = 20


def section(runs: Sequence[Run]) -> Section | None:
    """One row per run, and the rules that its figures rest on."""
    if not runs:
        return None
    names = [Column("run", "<", flexible=True), Column("machine", "<")]
    names += [Column(name, ">") for name in (
        "rows", "left out", "step time", "spread", "tokens/s", "TFLOP/s", "MFU", "memory",
        "skipped", "NaN", "predicted", "error",
    )]  # fmt: skip
    rows = [_row(run) for run in runs[:SHOWN]]
    found = Section(f"Runs ({len(runs):,})", [Table(names, rows)])
    notes = [f"Step time: {RULE}. Spread: 1.48 median absolute deviations."]
    bases = {run.metrics[name].basis for run in runs for name in ("mfu", "model_flops_rate")
             if name in run.metrics}  # fmt: skip
    if bases:
        notes.append(f"TFLOP/s and MFU by: {'; '.join(sorted(bases))}.")
    for run in runs[:SHOWN]:
        if run.parts:
            notes.append(f"{place(run.case)} is one run of {len(run.parts)} parts. {_proof(run)}")
        if run.memory:
            notes.append(f"{place(run.case)}: {_memory(run.memory)}.")
        if run.validation:
            said = ", ".join(f"{loss:.6g} at {when}" for when, loss in run.validation[-5:])
            notes.append(f"{place(run.case)}: validation loss {said}.")
    found.parts.append(Items(notes))
    return found


def _proof(run: Run) -> str:
    return " ".join(f"{each}." for each in run.why)


def _memory(memory: Remembered) -> str:
    """Printed against predicted memory of the ranks of a run."""
    error = percent(memory.predicted / memory.fullest - 1, signed="+")
    return (
        f"memory of {memory.ranks} ranks predicted to {percent(memory.mape)} on average; the "
        f"fullest held {quantity(memory.fullest, 'B')}, predicted {quantity(memory.predicted, 'B')}"
        f" ({error})"
    )


def _row(run: Run) -> list[str]:
    step = run.metrics.get("step_time")
    model, seconds = _best(run)
    error = seconds / step.value - 1 if step and step.value and seconds else None
    rate = run.metrics.get("model_flops_rate")
    return [
        place(run.case), run.machine or "–", f"{run.rows:,}", f"{run.left_out:,}",
        _said(step), percent(step.noise if step else None),
        _figure(run, "tokens_per_s"), f"{rate.value / 1e12:.4g}" if rate and rate.value else "–",
        percent(run.metrics["mfu"].value) if "mfu" in run.metrics else "–",
        _said(run.metrics.get("memory_max_reserved")),
        _figure(run, "skipped_iterations"), _figure(run, "nan_iterations"),
        f"{quantity(seconds, 's')} ({model})" if seconds else "–", percent(error, signed="+"),
    ]  # fmt: skip


def _best(run: Run) -> tuple[str, float | None]:
    """The step model where there is one, else the first."""
    if not run.predicted:
        return "", None
    name = "step" if "step" in run.predicted else next(iter(run.predicted))
    return name, run.predicted[name]


def _said(metric: Metric | None) -> str:
    return quantity(metric.value, metric.unit or "1") if metric else "–"


def _figure(run: Run, name: str) -> str:
    metric = run.metrics.get(name)
    return f"{metric.value:,.0f}" if metric and metric.value is not None else "–"


SHAPES = {
    "model": ("hidden", "layers", "heads", "seq_len", "vocab", "experts"),
    "layout": ("gpus", "tp", "pp", "dp", "cp", "ep"),
    "batch": ("micro_batch", "global_batch"),
    "memory policy": ("dtype", "zero_stage", "recompute"),
}
"""Configuration on a screen that shows one run, row by row."""


def _progress(progress: tuple[int, int], step: Metric | None) -> tuple[str, str]:
    """The last iteration, and how long the rest takes at the pace so far."""
    done, schedule = progress
    text = f"iteration {done:,} of {schedule:,}"
    if step is None or not step.value or done >= schedule:
        return text, ""
    left = (schedule - done) * step.value
    hours, minutes = divmod(round(left / 60), 60)
    span = f"{hours:,} h {minutes} min" if hours else f"{minutes} min"
    return text, f"{span} to go at this pace"


def lines(run: Run) -> list[tuple[str, str, str]]:
    """Name, value and basis of every figure of one run, for a screen that shows one."""
    rows = [("run", run.case, ""), ("machine", run.machine or "unknown", "")]
    for name, columns in SHAPES.items():
        said = [f"{each}={run.configuration[each]}" for each in columns
                if each in run.configuration]  # fmt: skip
        if said:
            rows.append((name, ", ".join(said), ""))
    step = run.metrics.get("step_time")
    if run.progress:
        rows.append(("progress", *_progress(run.progress, step)))
    if run.window:
        first, last = run.window
        rows.append(("window", f"iterations {first:,} to {last:,}", f"{run.left_out} left out"))
    for metric in run.metrics.values():
        value = quantity(metric.value, metric.unit or "1")
        if metric.noise is not None:
            value += f" ± {percent(metric.noise)}"
        if metric.unit == "1" and metric.name in ("mfu", "hfu"):
            value = percent(metric.value)
        rows.append((metric.name, value, metric.basis.removesuffix(f"; {RULE}")))
    for when, loss in run.validation[-3:]:
        rows.append(("validation loss", f"{loss:.6g}", when))
    for model, seconds in run.predicted.items():
        error = percent(seconds / step.value - 1, signed="+") if step and step.value else ""
        rows.append((f"predicted ({model})", quantity(seconds, "s"), error))
    if run.memory:
        rows.append(("memory", _memory(run.memory), "counted bytes of each rank's stage"))
    proofs = ("", *(why.partition(": ")[2] for why in run.why))
    rows += [("part", part, proof) for part, proof in zip(run.parts, proofs, strict=False)]
    return rows
