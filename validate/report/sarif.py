"""Findings as SARIF 2.1.0, the form that code hosts show beside a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from assay.ingest.schema.record import Span
from assay.validate.laws.finding import Finding, as_dict
from assay.validate.laws.laws import LAWS
from assay.validate.report.contradictions import finite
from assay.validate.report.safe import json_text, sarif

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def dumps(findings: Iterable[Finding]) -> str:
    """The document as text, one line end at its end."""
    text = json.dumps(document(findings), indent=1, ensure_ascii=False, allow_nan=False)
    return json_text(text) + "\n"


def document(findings: Iterable[Finding]) -> dict[str, Any]:
    """One run with every law as a rule and every finding as a result."""
    rules = [
        {
            "id": law.name,
            "shortDescription": {"text": law.sentence},
            "help": {"text": f"Ties {', '.join(law.ties)}. {law.rule.capitalize()}."},
            "properties": {"class": law.kind},
        }
        for law in LAWS
    ]
    index = {law.name: at for at, law in enumerate(LAWS)}
    tool = {"name": "assay", "version": version("assay"), "rules": rules}
    results = [_result(finding, index) for finding in findings]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": tool}, "results": results, "columnKind": "unicodeCodePoints"}],
    }


def _result(finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    said = as_dict(finding)
    return {
        "ruleId": finding.law,
        "ruleIndex": index[finding.law],
        "level": finding.severity,
        "message": {"text": sarif(f"{finding.explanation}. {finding.meaning}")},
        "locations": [_location(finding.spans[0])],
        "relatedLocations": [
            {"id": at, **_location(span)} for at, span in enumerate(finding.spans[1:], 1)
        ],
        "properties": {
            "class": finding.kind,
            "observed": finite(said["observed"]),
            "implied": finite(said["implied"]),
        },
    }


def _location(span: Span) -> dict[str, Any]:
    region = {"startLine": max(span.line, 1), "startColumn": max(span.column, 1)}
    where = {"artifactLocation": {"uri": _uri(span.source)}, "region": region}
    return {"physicalLocation": where}


def _uri(source: str) -> str:
    """A relative path as it is, an absolute one as a file URI; any bytes that a name may hold.

    A colon in the first folder of a relative path would be read as a scheme.
    """
    path = quote(os.fsencode(source))
    return f"file://{path}" if path.startswith("/") else path
