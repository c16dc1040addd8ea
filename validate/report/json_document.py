"""The report as one JSON document: ratios are fractions, values SI (docs/report.schema.json).

Numbers that do not exist (an interval of one group, a bound of a model without one) are null, and
so is what JSON cannot write (nan, inf).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from itertools import count
from typing import Any

import polars as pl
from assay.ingest.binding.statement_frame import open_statements
from assay.ingest.schema.fields import about_rows
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Code
from assay.model.schedule import STEP
from assay.validate.arithmetic.decided import FIELD
from assay.validate.arithmetic.identity_check import equal
from assay.validate.cases.cases import CONFIGURED
from assay.validate.cases.standing import rows as standing_rows
from assay.validate.cases.standing import standing, weighed
from assay.validate.cases.step_cases import filled
from assay.validate.laws.finding import as_dict
from assay.validate.predict.moves import moves
from assay.validate.report.run_section import traced
from assay.validate.report.safe import json_text
from assay.validate.runs.run_record import Record, records
from assay.validate.score.accuracy import ACCURACY
from assay.validate.score.assess import Report

LEFT = ("case", "scope", "subject", "quantity", "value", "unit", "source", "line")

PLACE = r"^(.*)#([0-9]+)(?::[0-9]+)?$"
"""Source and line of a case."""

PAIRS = (
    "case", "scope", "subject", "quantity", "observed", "observed_low", "observed_high",
    "predicted", "predicted_low", "predicted_high", "unit", "error", "kind", "origin",
    "value_origin", "formula_id", "source", "line", "column", "model", "basis",
)  # fmt: skip


VERSION = 2
"""Of the document's schema. In version 1 `runs` held what is `cases` now."""


def document(report: Report) -> dict[str, Any]:
    """The document of `assay report`, as values that `json` can write."""
    scores, left = report.scores, report.comparison
    return {
        "schema": VERSION,
        "sources": _sources(report),
        "tables": _tables(report),
        "not_understood": _not_understood(report),
        "runs": finite([_record(run) for run in records(report)]),
        "cases": _cases(report),
        "accuracy": _rows(scores.accuracy.select(*ACCURACY)),
        "agreement": _rows(scores.agreement.select(*ACCURACY)),
        "protocol": [*scores.protocol, *_identities(report)],
        "pairs": _pairs(report),
        "findings": finite([as_dict(found) for found in report.findings]),
        "unpredicted": _rows(_of_rows(left.unpredicted, report.outcome.reading).select(*LEFT)),
        "unobserved": _unobserved(report),
        **_traces(report),
        "refused": [
            {
                "source": fault.span.source,
                "line": fault.span.line,
                "column": fault.span.column,
                "code": str(fault.code),
                "message": fault.message,
                "text": fault.text,
            }
            for fault in (*report.outcome.unreadable, *report.outcome.reading.refused)
        ],
    }


TRACE = {
    "shapes": ("source", "line", "column", "kind", "subject", "dtype", "operator", "calls", "time",
               "spread", "measured", "predicted", "error", "cost"),
    "classes": ("source", "kind", "calls", "measured", "covered", "predicted", "error", "by_call",
                "weighted"),
    "missing": ("source", "kind", "reason", "kernels", "measured"),
    "layers": ("source", "layer", "direction", "calls", "measured", "covered", "predicted",
               "error", "by_call", "weighted"),
    "steps": ("source", "gpu", "device", "step", "start", "duration", "kernels", "busy", "compute",
              "exposed", "idle", "unlaunched", "covered", "predicted", "error", "weighted"),
    "ranks": ("rank", "messages", "transfer", "waiting", "compute"),
}  # fmt: skip
"""Columns of the frames of `TraceTime` that the document holds, each under `trace_<name>`."""


def _traces(report: Report) -> dict[str, list[dict[str, Any]]]:
    """Where the time of traces went; nothing where none was read."""
    said = traced(report)
    frames = {name: getattr(said, name) for name in TRACE} if said is not None else {}
    return {
        f"trace_{name}": _rows(frames[name].select(columns))
        if name in frames and frames[name].width
        else []
        for name, columns in TRACE.items()
    }


def dumps(report: Report) -> str:
    """The document as text, one entry a line; the same report gives the same bytes."""
    parts = [
        f" {json.dumps(name)}: "
        + (f"[{''.join(map(_line, rows, count()))}]" if isinstance(rows, list) else f"{rows}")
        for name, rows in document(report).items()
    ]
    return json_text("{\n" + ",\n".join(parts) + "\n}\n")


def _line(row: dict[str, Any], at: int) -> str:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    return f"{',' if at else ''}\n  {text}"


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame; what is no finite number is null."""
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    held = [pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in floats]
    return frame.with_columns(held).to_dicts()


def _sources(report: Report) -> list[dict[str, Any]]:
    reading = report.outcome.reading
    short = {
        each.span.source: each.message for each in reading.remarks if each.code == Code.CUT_SHORT
    }
    return [
        {
            "name": account.source,
            "sha256": account.sha256,
            "lines": account.lines,
            "claimed": account.claimed,
            "refused": account.refused,
            "blank": account.blank,
            "not_ours": account.not_ours,
            "suspicious": len(account.suspicious),
            "cut_short": short.get(account.source),
        }
        for account in reading.accounting
    ]


def _record(run: Record) -> dict[str, Any]:
    """One run, field by field."""
    fields = {**run.__dict__, "error": run.error}
    measured = dict(run.parts_measured)
    return fields | {"parts_measured": measured, "diagnosis": list(run.diagnosis)}


def _tables(report: Report) -> list[dict[str, Any]]:
    """Every table with digits: what was understood of it, and what was not."""
    return [
        {
            "source": account.source,
            "line": note.line,
            "syntax": note.syntax,
            "remark": note.remark or None,
            "header": list(note.header),
            "rows": note.rows,
            "read": note.read,
            "understood": list(note.understood),
            "not_understood": list(note.not_understood),
        }
        for account in report.outcome.reading.accounting
        for note in account.tables
        if note.rows
    ]


def _not_understood(report: Report) -> list[dict[str, Any]]:
    """Every statement of configuration that was not understood."""
    said = open_statements(report.outcome.reading)
    return said.select("source", "line", "field", "text").to_dicts()


def _cases(report: Report) -> list[dict[str, Any]]:
    """Every case of the scope configuration, with each of its values and where it came from."""
    values: dict[str, dict[str, Any]] = {}
    steps = report.outcome.reading.with_rows("step")
    frameworks = {held.name: about_rows(held.schema).get("framework") for held in steps}
    wide = report.cases.configuration
    kinds = wide.schema
    wide = _distinct(wide, report.outcome.reading)
    others, moved = _alternatives(report), _moves(report, wide)
    columns = ("case", "name", "value", "value_origin", "line", "law")
    assumed = filled(report.cases.trained_whole().configuration) if _steps(report) else None
    for case, name, text, origin, line, law in (
        _origins(report, assumed).select(columns).iter_rows()
    ):
        values.setdefault(case, {})[name] = {
            "value": _typed(text, kinds[name]),
            "value_origin": origin,
            "line": line,
            "law": law,
        }
    return [
        {
            "case": case,
            "source": source,
            "framework": frameworks.get(frame),
            "machine": machine,
            "configuration": values.get(case, {}),
            "alternatives": others.get(case, {}),
            "moves": moved.get(case, {}),
        }
        for case, source, frame, machine in wide.select(
            "case", "source", "frame", "machine"
        ).iter_rows()
    ]


def _steps(report: Report) -> bool:
    """Whether the step model was asked."""
    return any(model.name == STEP.name for model in report.models)


def _origins(report: Report, assumed: pl.DataFrame | None) -> pl.DataFrame:
    """Every value of a case with its origin, those that the step model takes among them."""
    held = report.cases.origins
    if assumed is None:
        return held
    fresh = assumed.join(held, on=["case", "name"], how="anti", maintain_order="left")
    line = pl.lit(None, held.schema["line"])
    fresh = fresh.with_columns(value_origin=pl.lit("assumed"), line=line)
    return pl.concat([held, fresh.select(held.columns)]).sort("case", "name")


def _alternatives(report: Report) -> dict[str, dict[str, list[float]]]:
    """Case → field → the values that would fit, where numbers took a statement back."""
    return {
        case: {FIELD: [candidate.value for candidate in each.decision.survivors]}
        for each in report.decided
        if each.value is None
        for case in each.cases
    }


def _moves(report: Report, cases: pl.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    """Case → field that the step model assumes → its value, the next one, what that changes."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    if not _steps(report):
        return found
    configuration = report.cases.trained_whole().configuration
    configuration = configuration.join(cases.select("case"), on="case", how="semi")
    for case, name, assumed, other, change in moves(configuration, report.stack).iter_rows():
        told = {"assumed": assumed, "next": other, "step_time": change}
        found.setdefault(case, {})[name] = told
    return found


def _distinct(wide: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The cases; of a long input those whose configuration is new."""
    if not reading.long:
        return wide
    of_long = pl.col("case").is_in(standing(reading)["case"].implode())
    new = wide.filter(of_long).unique(
        ["source", "frame", "machine", *CONFIGURED], keep="first", maintain_order=True
    )
    return pl.concat([wide.filter(~of_long), new]).sort("source", "line", maintain_order=True)


def _typed(text: str, kind: pl.DataType) -> Any:
    if kind.is_integer():
        return int(text)
    if kind.is_float():
        return float(text)
    return text == "true" if kind == pl.Boolean else text


def _pairs(report: Report) -> list[dict[str, Any]]:
    names = {"value": "observed", "low": "observed_low", "high": "observed_high"}
    pairs = _of_rows(report.comparison.pairs, report.outcome.reading)
    return _rows(pairs.rename(names).select(*PAIRS))


def _of_rows(frame: pl.DataFrame, reading: Reading) -> pl.DataFrame:
    """The rows that are told one by one: none of long inputs, which are told run by run."""
    return frame.join(standing(reading), on="case", how="anti", maintain_order="left")


def _identities(report: Report) -> Iterable[dict[str, Any]]:
    """How many printed numbers each formula reproduces, as protocol entries."""
    counts = (
        weighed(report.checks, report.outcome.reading)
        .with_columns(same=equal() & ~pl.col("exchanged"))
        .group_by("quantity", "formula_id")
        .agg(standing_rows().alias("len"), standing_rows(pl.col("same")).alias("same"))
        .sort("quantity", "formula_id")
    )
    for quantity, formula, n, same in counts.iter_rows():
        yield {
            "name": f"identity.{quantity}",
            "model": formula,
            "value": same / n,
            "unit": "1",
            "n": n,
            "low": None,
            "high": None,
        }


def finite(value: Any) -> Any:
    """A value with null in place of every number that JSON cannot write."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _unobserved(report: Report) -> list[dict[str, Any]]:
    """A prediction stands where its case stands."""
    parts = pl.col("case").str.extract(PLACE, 1).alias("source")
    line = pl.col("case").str.extract(PLACE, 2).cast(pl.Int64).alias("line")
    rest = _of_rows(report.comparison.unobserved, report.outcome.reading)
    rest = rest.with_columns(pl.coalesce(parts, "case"), line)
    return _rows(rest.select(*LEFT))
