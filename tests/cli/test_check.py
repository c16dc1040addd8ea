"""`assay check`: what it shows, what makes it fail, exemptions, SARIF."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Ran, Run
from tests.conftest import FIXTURES

PREQUEL = FIXTURES / "markdown_table" / "bloom_prequel.md"
MOSAIC = FIXTURES / "markdown_table" / "mosaic_2022.md"


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `--write-baseline` writes of the prequel."""
    known = tmp_path_factory.mktemp("baseline") / "known.toml"
    assert Ran(["check", str(PREQUEL), "--write-baseline", str(known)]).code == 0
    return known


def test_a_document_without_contradictions(assay: Run) -> None:
    done = assay("check", MOSAIC)
    assert (done.code, done.out) == (0, "")
    assert "no findings" in done.err


def test_of_what_holds_nothing_no_finding_is_denied(assay: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.md"
    empty.touch()
    for path in (empty, tmp_path / "missing.md"):
        done = assay("check", path)
        assert done.code in (2, 4)
        assert done.err
        assert "no findings" not in done.err


def test_contradictions_are_shown_at_their_place_and_fail(assay: Run) -> None:
    done = assay("check", PREQUEL)
    assert done.code == 1
    places = re.findall(r"^\S+\.md:([0-9]+):1: (error|warning): ([a-z-]+): ", done.out, re.M)
    assert len(places) == 9
    assert ("319", "error", "parallel-degrees") in places
    assert "3 errors, 6 warnings" in done.err
    assert "\x1b" not in done.out


@pytest.mark.parametrize(("severity", "n"), [("error", 3), ("warning", 9)])
def test_severity_is_what_is_shown_and_what_fails(assay: Run, severity: str, n: int) -> None:
    done = assay("check", PREQUEL, "--severity", severity, "--json")
    assert (done.code, len(json.loads(done.out))) == (1, n)


def test_notes_fail_only_when_asked_for(assay: Run) -> None:
    assert assay("check", MOSAIC).code == 0
    assert assay("check", MOSAIC, "--severity", "note").code == 1


def test_json_is_the_list_alone(assay: Run) -> None:
    found = json.loads(assay("check", PREQUEL, "--json").out)
    assert {frozenset(each) for each in found} == {
        frozenset({"law", "class", "severity", "spans", "observed", "implied", "explanation",
                   "meaning"})
    }  # fmt: skip
    assert all(1 <= len(each["spans"]) <= 4 for each in found)


def test_an_ingested_folder_is_checked_like_its_sources(assay: Run, tmp_path: Path) -> None:
    assert assay("ingest", PREQUEL, "-o", tmp_path / "read").code == 0
    again = assay("check", tmp_path / "read", "--severity", "note", "--json")
    assert again.out == assay("check", PREQUEL, "--severity", "note", "--json").out
    assert "heading-against-column" in again.out


def test_one_law_alone(assay: Run) -> None:
    found = json.loads(assay("check", PREQUEL, "--law", "size-label", "--json").out)
    assert [each["law"] for each in found] == ["size-label"]
    unknown = assay("check", PREQUEL, "--law", "nonsense")
    assert unknown.code == 2
    assert "parallel-degrees" in unknown.err


def test_a_baseline_silences_what_it_was_written_from(assay: Run, baseline: Path) -> None:
    done = assay("check", PREQUEL, "--ignore", baseline)
    assert (done.code, done.out) == (0, "")
    assert assay("check", PREQUEL, "--write-baseline", baseline).code == 2, "needs --force"


def test_an_exemption_follows_a_line_that_moves(assay: Run, baseline: Path, tmp_path: Path) -> None:
    moved = tmp_path / PREQUEL.name
    moved.write_text("\n\n" + PREQUEL.read_text())
    moved.with_suffix(".toml").write_text(PREQUEL.with_suffix(".toml").read_text())
    assert assay("check", moved, "--ignore", baseline).code == 0
    changed = moved.read_text().replace("| GB   | 147.04 |", "| 61GB | 147.04 |")
    moved.write_text(changed)
    done = assay("check", moved, "--ignore", baseline)
    assert done.code == 0, "another memory is no other finding"


def test_a_changed_number_shows_again(assay: Run, baseline: Path, tmp_path: Path) -> None:
    copy = tmp_path / PREQUEL.name
    copy.with_suffix(".toml").write_text(PREQUEL.with_suffix(".toml").read_text())
    text = PREQUEL.read_text()
    for old, new, law in (
        ("| 18B  |", "| 12B  |", "size-label"),
        ("205.52 | 142.59", "196.75 | 148.95", "heading-against-column"),
    ):
        assert old in text
        copy.write_text(text.replace(old, new))
        done = assay("check", copy, "--ignore", baseline, "--json")
        assert (done.code, {each["law"] for each in json.loads(done.out)}) == (1, {law})


def test_a_baseline_keeps_the_reasons_it_goes_on_from(assay: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    assay("check", PREQUEL, "--severity", "error", "--write-baseline", first)
    first.write_text(first.read_text().replace("found when this file was written", "looked at", 1))
    done = assay("check", PREQUEL, "--ignore", first, "--write-baseline", second)
    assert done.code == 0
    assert second.read_text().count("[[ignore]]") == 9
    assert second.read_text().count("looked at") == 1
    assert assay("check", PREQUEL, "--ignore", second).code == 0


def test_a_baseline_of_odd_names(assay: Run, tmp_path: Path) -> None:
    copy = tmp_path / 'a\U000e0041 "b"\n.md'
    copy.write_text("".join(PREQUEL.read_text().splitlines(keepends=True)[:345]))
    known = tmp_path / "known.toml"
    assert assay("check", copy, "--write-baseline", known).code == 0
    assert assay("check", copy, "--ignore", known).code == 0


def test_an_exemption_that_covers_nothing_is_reported(assay: Run, tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    known.write_text('[[ignore]]\nlaw = "repeat"\nat = "gone.md:3"\nreason = "was there"\n')
    done = assay("check", MOSAIC, "--ignore", known)
    assert done.code == 0
    assert "not found any more" in done.err


@pytest.mark.parametrize(
    "text",
    ['[[ignore]]\nlaw = "repeat"\nat = "a.md:3"\n', "[other]\n", "not toml",
     '[[ignore]]\nlaw = "repeat"\nat = "a.md"\nreason = "x"\n'],
)  # fmt: skip
def test_an_exemption_needs_its_reason(assay: Run, tmp_path: Path, text: str) -> None:
    known = tmp_path / "known.toml"
    known.write_text(text)
    done = assay("check", MOSAIC, "--ignore", known)
    assert done.code == 2
    assert "known.toml" in done.err


def test_sarif(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "found.sarif"
    assert assay("check", PREQUEL, "--sarif", path).code == 1
    document = json.loads(path.read_text())
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(run["results"]) == 9
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] >= 1


def test_nothing_recognised_and_nothing_opened(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text("nothing to see\n")
    assert assay("check", tmp_path / "prose.txt").code == 4
    assert assay("check", tmp_path / "missing.txt").code == 2


@pytest.mark.slow  # the numbers themselves: tests/validate/test_identities.py
def test_the_report_says_what_errors_do(assay: Run) -> None:
    options = ("--model", "constant_mfu", "--full")
    plain = assay("report", PREQUEL, *options)
    assert "5 of 5 rows with an error have numbers left out" in " ".join(plain.out.split())
    kept = assay("report", PREQUEL, "--keep-contradicted", *options)
    assert "0 of 5 rows with an error have numbers left out" in " ".join(kept.out.split())
    fixed = assay("report", PREQUEL, "--apply-corrections", *options)
    assert "Corrected: dp = 4" in fixed.out
