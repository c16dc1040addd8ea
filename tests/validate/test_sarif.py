"""SARIF 2.1.0: what its schema requires of the parts that are written."""

from __future__ import annotations

import json

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.schema.record import Span
from assay.validate.laws.finding import Finding, Number
from assay.validate.laws.laws import findings
from assay.validate.report import sarif
from jsonschema import Draft202012Validator

from tests.conftest import FIXTURES

MESSAGE = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
LOCATION = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": -1},
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "additionalProperties": False,
                    "properties": {
                        "uri": {"pattern": "^(file:///|[^/:]+(/|$))[!-~]*$"},
                    },
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "startLine": {"type": "integer", "minimum": 1},
                        "startColumn": {"type": "integer", "minimum": 1},
                    },
                },
            },
        },
    },
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "required": ["message"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": -1},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": MESSAGE,
        "locations": {"type": "array", "items": LOCATION},
        "relatedLocations": {"type": "array", "uniqueItems": True, "items": LOCATION},
        "properties": {"type": "object"},
    },
}
RULE = {
    "type": "object",
    "required": ["id"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "shortDescription": MESSAGE,
        "help": MESSAGE,
        "properties": {"type": "object"},
    },
}
DRIVER = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "rules": {"type": "array", "uniqueItems": True, "items": RULE},
    },
}
RUN = {
    "type": "object",
    "required": ["tool"],
    "additionalProperties": False,
    "properties": {
        "tool": {"type": "object", "required": ["driver"], "properties": {"driver": DRIVER}},
        "results": {"type": "array", "items": RESULT},
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {"type": "array", "items": RUN},
    },
}
"""The schema of SARIF 2.1.0, of what is used, with nothing allowed beside it."""


@pytest.fixture(scope="module")
def found() -> list[Finding]:
    return findings(read([FIXTURES / "markdown_table" / "bloom_prequel.md"]).reading)


@pytest.mark.parametrize("source", ["a.log", "runs/a b.log", "/tmp/x/a.log", "a\udcff.log", "-"])
def test_it_keeps_to_the_schema(source: str, found: list[Finding]) -> None:
    moved = [
        each._replace(spans=tuple(Span(source, span.line, span.column) for span in each.spans))
        for each in found
    ]
    document = json.loads(sarif.dumps(moved).encode("utf-8"))
    Draft202012Validator(SCHEMA).validate(document)
    (run,) = document["runs"]
    assert len(run["results"]) == len(found)


def test_it_opens_at_the_line(found: list[Finding]) -> None:
    (run,) = json.loads(sarif.dumps(found))["runs"]
    said = {
        (result["ruleId"], place["physicalLocation"]["region"]["startLine"])
        for result in run["results"]
        for place in result["locations"]
    }
    assert {("parallel-degrees", 319), ("exchanged-cells", 340), ("formula", 341)} <= said
    (moved,) = (each for each in run["results"] if each["ruleId"] == "exchanged-cells")
    (other,) = moved["relatedLocations"]
    assert other["physicalLocation"]["region"]["startLine"] == 279


def test_bounds_that_are_open_are_null(found: list[Finding]) -> None:
    number = Number("step_time", 1.0, 1.0, float("inf"), "s")
    text = sarif.dumps([found[0]._replace(implied=(number,))])
    assert json.loads(text)["runs"][0]["results"][0]["properties"]["implied"][0]["high"] is None
