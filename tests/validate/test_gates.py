"""Gates: what they judge, what they say, and that nothing to judge never passes."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest
from assay.validate.report.junit import Result, junit
from assay.validate.score.gates import Aim, Status, exit_code, judge, least, limit, percent


def figure(model: str, errors: list[float], **changed: Any) -> dict[str, Any]:
    size = [abs(error) for error in errors]
    return {
        "scope": "gemm", "quantity": "time", "model": model, "origin": "measured",
        "n": len(errors), "bias": sum(errors) / max(len(errors), 1),
        "mape": sum(size) / max(len(size), 1), "ci_low": 0.01, "ci_high": 0.05,
        **changed,
    }  # fmt: skip


def pairs(model: str, errors: list[float], **changed: Any) -> list[dict[str, Any]]:
    return [
        {
            "case": f"a.csv#{line}", "scope": "gemm", "subject": f"1x{line}x8x8",
            "quantity": "time", "model": model, "origin": "measured", "error": error,
            "source": "a.csv", "line": line, **changed,
        }
        for line, error in enumerate(errors, 2)
    ]  # fmt: skip


def report(**models: list[float]) -> dict[str, Any]:
    return {
        "accuracy": [figure(model, errors) for model, errors in models.items()],
        "pairs": [pair for model, errors in models.items() for pair in pairs(model, errors)],
    }


def statuses(verdicts: list[Any]) -> list[tuple[str, Status]]:
    return [(verdict.about, verdict.status) for verdict in verdicts]


def test_a_limit_is_kept_or_not() -> None:
    doc = report(waves=[0.02, -0.04])
    kept = judge(doc, limits=[limit("mape", "5%")])
    assert statuses(kept) == [("gemm.time@waves (measured)", Status.PASSED)]
    assert exit_code(kept) == 0
    missed = judge(doc, limits=[limit("mape", "2.5%")])
    assert exit_code(missed) == 1
    assert "mape 3% of 2 rows, limit 2.5%" in missed[0].message
    assert missed[0].rows == (
        "a.csv:3: 1x3x8x8 is off by -4%",
        "a.csv:2: 1x2x8x8 is off by 2%",
    )


def test_bias_is_judged_by_its_size() -> None:
    doc = report(waves=[-0.04, -0.04])
    assert exit_code(judge(doc, limits=[limit("bias", "4.1%")])) == 0
    assert exit_code(judge(doc, limits=[limit("bias", "3.9%")])) == 1
    assert exit_code(judge(report(waves=[-0.04, 0.04]), limits=[limit("bias", "1%")])) == 0


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("5%", Aim()),
        ("gemm=5%", Aim("gemm")),
        ("gemm.time=5%", Aim("gemm", "time")),
        ("gemm.time@tile_wave=5%", Aim("gemm", "time", "tile_wave")),
        ("@tile_wave=0.05", Aim(model="tile_wave")),
    ],
)
def test_what_a_limit_may_speak_of(text: str, aim: Aim) -> None:
    found = limit("mape", text)
    assert found.aim == aim
    assert found.limit == 0.05


@pytest.mark.parametrize("text", ["", "5 percent", "gemm", "gemm=", "gemm.time.x=5%", "-5%"])
def test_what_is_no_limit_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="is no limit; expected"):
        limit("mape", text)


@pytest.mark.parametrize("text", ["configuration", "gemm>80", "gemm>=0", ">=x"])
def test_what_is_no_requirement_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="is no requirement; expected"):
        least(text)


@pytest.mark.parametrize("text", ["layer=5%", "gemm.bytes=5%", "@other=5%"])
def test_a_limit_with_nothing_to_judge_does_not_pass(text: str) -> None:
    verdicts = judge(report(waves=[0.0]), limits=[limit("mape", text)])
    assert [verdict.status for verdict in verdicts] == [Status.EMPTY]
    assert exit_code(verdicts) == 4
    assert "the report has gemm.time@waves (measured)" in verdicts[0].message


def test_an_empty_report_passes_nothing() -> None:
    empty = {"accuracy": [], "pairs": []}
    for gate in (
        {"limits": [limit("mape", "1000%")]},
        {"required": [least("gemm.time>=1")]},
        {"baseline": empty},
        {"baseline": report(waves=[0.1])},
    ):
        assert exit_code(judge(empty, **gate)) == 4
    unscored = {"accuracy": [figure("waves", [])], "pairs": []}
    assert exit_code(judge(unscored, limits=[limit("mape", "5%")])) == 4


def test_nothing_to_judge_outweighs_a_failure() -> None:
    verdicts = judge(report(waves=[0.2]), limits=[limit("mape", "5%"), limit("mape", "layer=5%")])
    assert exit_code(verdicts) == 4


def test_the_narrowest_limit_holds() -> None:
    doc = report(waves=[0.1], plain=[0.1])
    limits = [limit("mape", "5%"), limit("mape", "gemm.time@waves=20%")]
    assert statuses(judge(doc, limits=limits)) == [
        ("gemm.time@plain (measured)", Status.FAILED),
        ("gemm.time@waves (measured)", Status.PASSED),
    ]


def test_yardsticks_are_judged_where_nothing_else_is_or_they_are_named() -> None:
    doc = report(waves=[0.01], roofline=[0.6])
    assert exit_code(judge(doc, limits=[limit("mape", "5%")], yardsticks={"roofline"})) == 0
    assert exit_code(judge(doc, limits=[limit("mape", "5%")])) == 1
    named = [limit("mape", "gemm@roofline=5%")]
    assert exit_code(judge(doc, limits=named, yardsticks={"roofline"})) == 1
    alone = report(roofline=[0.6], constant=[0.3])
    verdicts = judge(alone, limits=[limit("mape", "5%")], yardsticks={"roofline", "constant"})
    assert statuses(verdicts) == [("gemm.time@constant (measured)", Status.FAILED)]


def test_a_number_of_rows_can_be_required() -> None:
    doc = report(waves=[0.1, 0.1])
    assert exit_code(judge(doc, required=[least("gemm.time>=2")])) == 0
    short = judge(doc, required=[least("gemm.time>=3")])
    assert exit_code(short) == 1
    assert short[0].message == "2 scored rows, at least 3 required"
    assert exit_code(judge(doc, required=[least("gemm.time@other>=1")])) == 4


def test_origins_count_together_towards_a_requirement() -> None:
    doc = {
        "accuracy": [figure("waves", [0.1]), figure("waves", [0.1], origin="published")],
        "pairs": [],
    }
    assert exit_code(judge(doc, required=[least("gemm>=2")])) == 0


def test_a_baseline_allows_what_its_interval_holds() -> None:
    before = report(waves=[0.02, 0.04])
    assert exit_code(judge(before, baseline=before)) == 0
    assert exit_code(judge(report(waves=[0.02, 0.07]), baseline=before)) == 0
    worse = judge(report(waves=[0.02, 0.14]), baseline=before)
    assert exit_code(worse) == 1
    assert "mape 8% of 2 rows, was 3% of 2 (the interval's end 5%)" in worse[0].message
    assert worse[0].rows == ("a.csv:3: 1x3x8x8 is off by 14%, was 4%",)


def test_a_baseline_without_an_interval_allows_nothing() -> None:
    before = report(waves=[0.02])
    before["accuracy"][0]["ci_high"] = None
    assert exit_code(judge(before, baseline=before)) == 0
    assert exit_code(judge(report(waves=[-0.021]), baseline=before)) == 1


def test_new_rows_are_told_from_worse_ones() -> None:
    worse = judge(report(waves=[0.02, 0.01, 0.5]), baseline=report(waves=[0.02, 0.04]))
    assert worse[0].rows == ("a.csv:4: 1x4x8x8 is off by 50%, not in the baseline",)


def test_many_worse_rows_are_counted() -> None:
    worse = judge(report(waves=[0.5] * 9), baseline=report(waves=[0.02] * 9))
    assert worse[0].rows[-1] == "and 4 more rows whose error grew"


def test_a_figure_that_vanished_is_nothing_to_judge() -> None:
    verdicts = judge(report(waves=[0.0]), baseline=report(waves=[0.0], plain=[0.0]))
    assert exit_code(verdicts) == 4
    assert verdicts[1].message == "no scored row, the baseline has 1"


def test_percent_speaks_plainly() -> None:
    assert [percent(value) for value in (0.031, 1.0, None)] == ["3.1%", "100%", "unknown"]


def test_junit_counts_and_survives_odd_characters() -> None:
    text = junit(
        "gates",
        [Result("a", "good"), Result("a", "bad", failure="<&\x00\x1b", details="one\ntwo"),
         Result("a", "none", error="nothing to judge")],
    )  # fmt: skip
    suite = ElementTree.fromstring(text)[0]
    assert suite.attrib["tests"] == "3"
    assert (suite.attrib["failures"], suite.attrib["errors"]) == ("1", "1")
    assert suite[1][0].attrib["message"] == "<&\\x00\\x1b"
    assert suite[1][0].text == "one\ntwo"


def test_a_figure_that_is_not_known_does_not_pass() -> None:
    doc = report(waves=[0.1])
    doc["accuracy"][0]["mape"] = None
    assert exit_code(judge(doc, limits=[limit("mape", "500%")])) == 1
    assert exit_code(judge(doc, limits=[limit("mape", "500%")], yardsticks={"waves"})) == 1
    assert exit_code(judge(doc, baseline=report(waves=[0.1]))) == 1
