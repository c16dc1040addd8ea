"""The report as one JSON document: ratios are fractions, values SI (docs/report.schema.json).

Numbers that do not exist (an interval of one group, a bound of a model without one) are null, and
so is what JSON cannot write (nan, inf).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

import polars as pl
from assay.validate.accuracy import ACCURACY
from assay.validate.assess import Report
from assay.validate.identities.check import equal
from assay.validate.identities.finding import as_dict

FRAMEWORKS = {"megatron_iteration": "Megatron"}
"""Which framework wrote the frames of a format; a document says of none."""

LEFT = ("case", "scope", "subject", "quantity", "value", "unit", "source", "line")
PAIRS = (
    "case", "scope", "subject", "quantity", "observed", "observed_low", "observed_high",
    "predicted", "predicted_low", "predicted_high", "unit", "error", "kind", "origin",
    "value_origin", "formula_id", "source", "line", "column", "model", "basis",
)  # fmt: skip


def document(report: Report) -> dict[str, Any]:
    """The document of `assay report`, as values that `json` can write."""
    found: dict[str, Any] = _clean(
        {
            "sources": _sources(report),
            "runs": _runs(report),
            "accuracy": report.scores.accuracy.select(*ACCURACY).to_dicts(),
            "agreement": report.scores.agreement.select(*ACCURACY).to_dicts(),
            "protocol": [*report.scores.protocol, *_identities(report)],
            "pairs": _pairs(report),
            "findings": [as_dict(found) for found in report.findings],
            "unpredicted": report.comparison.unpredicted.select(*LEFT).to_dicts(),
            "unobserved": _unobserved(report),
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
    )
    return found


def dumps(report: Report) -> str:
    """The document as text, one line end at its end; the same report gives the same bytes."""
    return json.dumps(document(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _sources(report: Report) -> list[dict[str, Any]]:
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
        }
        for account in report.outcome.reading.accounting
    ]


def _runs(report: Report) -> list[dict[str, Any]]:
    """Every case of the scope configuration, with each of its values and where it came from."""
    values: dict[str, dict[str, Any]] = {}
    wide = report.cases.configuration
    kinds = wide.schema
    columns = ("case", "name", "value", "value_origin", "line")
    for case, name, text, origin, line in report.cases.origins.select(columns).iter_rows():
        values.setdefault(case, {})[name] = {
            "value": _typed(text, kinds[name]),
            "value_origin": origin,
            "line": line,
        }
    return [
        {
            "case": case,
            "source": source,
            "framework": FRAMEWORKS.get(frame),
            "machine": machine,
            "configuration": values.get(case, {}),
        }
        for case, source, frame, machine in wide.select(
            "case", "source", "frame", "machine"
        ).iter_rows()
    ]


def _typed(text: str, kind: pl.DataType) -> Any:
    if kind.is_integer():
        return int(text)
    if kind.is_float():
        return float(text)
    return text == "true" if kind == pl.Boolean else text


def _pairs(report: Report) -> list[dict[str, Any]]:
    return (
        report.comparison.pairs.rename(
            {"value": "observed", "low": "observed_low", "high": "observed_high"}
        )
        .select(*PAIRS)
        .to_dicts()
    )


def _identities(report: Report) -> Iterable[dict[str, Any]]:
    """How many printed numbers each formula reproduces, as protocol entries."""
    counts = (
        report.checks.with_columns(same=equal() & ~pl.col("exchanged"))
        .group_by("quantity", "formula_id")
        .agg(pl.len(), pl.col("same").sum())
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


def _unobserved(report: Report) -> list[dict[str, Any]]:
    """A prediction stands where its case stands."""
    parts = pl.col("case").str.extract(r"^(.*)#([0-9]+)$", 1).alias("source")
    line = pl.col("case").str.extract(r"#([0-9]+)$", 1).cast(pl.Int64).alias("line")
    rest = report.comparison.unobserved.with_columns(pl.coalesce(parts, "case"), line)
    return rest.select(*LEFT).to_dicts()
