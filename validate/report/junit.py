"""JUnit XML, which every CI shows: one suite, one case per thing that was judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from assay.validate.report.safe import xml


@dataclass(frozen=True)
class Result:
    """One case: `failure` is empty where it passed; `error` says that it could not be judged."""

    suite: str
    name: str
    failure: str = ""
    error: str = ""
    details: str = ""


def junit(name: str, results: Sequence[Result]) -> str:
    """The XML of a test suite; the same results give the same bytes.

    >>> print(junit("gates", [Result("gates", "gemm.time", failure="mape 9% is over 5%")]))
    <?xml version="1.0" encoding="utf-8"?>
    <testsuites>
      <testsuite name="gates" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="gates" name="gemm.time">
          <failure message="mape 9% is over 5%" />
        </testcase>
      </testsuite>
    </testsuites>
    <BLANKLINE>
    """
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(
        root, "testsuite", name=name, tests=str(len(results)),
        failures=str(sum(bool(result.failure) for result in results)),
        errors=str(sum(bool(result.error) for result in results)), skipped="0",
    )  # fmt: skip
    for result in results:
        case = ElementTree.SubElement(
            suite, "testcase", classname=xml(result.suite), name=xml(result.name)
        )  # fmt: skip
        for kind in ("failure", "error"):
            if message := getattr(result, kind):
                element = ElementTree.SubElement(case, kind, message=xml(message))
                element.text = xml(result.details) or None
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'
