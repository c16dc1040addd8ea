"""`assay report` and `assay machines`: outputs, options, exit codes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import Ran, Run
from tests.conftest import FIXTURES, ROOT

SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())
PROGRAM = "from assay.validate.cli import app; app()"
PREQUEL = "fixtures/markdown_table/bloom_prequel.md"
MOSAIC = "fixtures/markdown_table/mosaic_2022.md"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


SOME = [
    f"fixtures/{name}"
    for name in ("arguments", "deepflow_dump", "gemm_table", "markdown_table/mosaic_2022.md",
                 "ulysses_trace", "generic_step")
]  # fmt: skip
"""Of each scope, quantity and kind of finding something."""


@pytest.fixture(
    scope="module",
    params=[SOME, pytest.param(["fixtures"], marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def everything(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The JSON report of some fixtures, or of all."""
    with pytest.MonkeyPatch.context() as here:
        here.chdir(ROOT)
        done = Ran(["report", *request.param, "--json"])
    assert done.code == 0, done.err
    return dict(json.loads(done.out))


def head_of(document: dict[str, Any], rows: int = 5) -> dict[str, Any]:
    """A report with no more than so many rows in each of its lists."""
    return {k: v[:rows] if isinstance(v, list) else v for k, v in document.items()}


MANY = 50
"""Sources of a report of all fixtures, at the least."""


def test_the_document_fits_its_schema(everything: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    # of some fixtures the first rows of each list, of all of them every row
    some = everything if len(everything["sources"]) > MANY else head_of(everything, 40)
    faults = list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(some))
    assert not faults, faults[:3]


def test_the_schema_is_strict(everything: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    everything = head_of(everything, 1)
    assert validator.is_valid(everything)
    assert not validator.is_valid({**everything, "more": 1})
    for name in ("sources", "accuracy", "pairs", "protocol", "findings", "runs", "unpredicted"):
        rows = everything[name]
        assert rows, name
        assert not validator.is_valid({**everything, name: [{**rows[0], "more": 1}]}), name
        for key in rows[0]:
            less = {k: v for k, v in rows[0].items() if k != key}
            assert not validator.is_valid({**everything, name: [less]}), (name, key)


def test_the_document_says_which_inputs_are_cut_short(assay: Run, tmp_path: Path) -> None:
    rows = Path(MOSAIC).read_text().splitlines(keepends=True)[:45]
    whole = gzip.compress("".join(rows).encode())  # the size of one that is cut is anything
    cut, kept = tmp_path / "cut.md.gz", tmp_path / "kept.md.gz"
    cut.write_bytes(whole[: len(whole) // 2])
    kept.write_bytes(whole)
    found = json.loads(assay("report", cut, kept, "--json", "--model", "roofline", "-j", 1).out)
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(head_of(found))
    said = {Path(each["name"]).name: each["cut_short"] for each in found["sources"]}
    assert said["kept.md.gz"] is None
    assert "the gzip stream is cut off" in said["cut.md.gz"]


def test_lines_are_conserved(everything: dict[str, Any]) -> None:
    for source in everything["sources"]:
        parts = (source[name] for name in ("claimed", "refused", "blank", "not_ours"))
        assert sum(parts) == source["lines"], source["name"]


def test_accuracy_follows_from_pairs(everything: dict[str, Any]) -> None:
    """Pairs hold what accuracy sums up, and errors are fractions of what was observed."""
    for pair in everything["pairs"]:
        if pair["observed"]:
            assert pair["error"] == pytest.approx(pair["predicted"] / pair["observed"] - 1.0)
        else:  # a printed zero: equal, or no ratio says how far off
            assert pair["error"] == (0.0 if pair["predicted"] == 0 else None)
        assert pair["observed_low"] <= pair["observed"] <= pair["observed_high"]
    key = ("gemm", "time", "roofline")
    key = ("gemm", "time", "roofline")
    gemm = [
        p["error"]
        for p in everything["pairs"]
        if (p["scope"], p["quantity"], p["model"]) == key and p["origin"] == "measured"
    ]
    (row,) = (r for r in everything["accuracy"] if (r["scope"], r["quantity"], r["model"]) == key)
    assert row["n"] == len(gemm)
    assert row["mape"] == pytest.approx(sum(map(abs, gemm)) / len(gemm))
    assert row["bias"] == pytest.approx(sum(gemm) / len(gemm))
    assert row["ci_low"] <= row["mape"] <= row["ci_high"]


def test_identities_are_paired_and_not_scored(everything: dict[str, Any]) -> None:
    ids = {p["model"] for p in everything["pairs"] if p["quantity"] == "mfu"}
    assert ids == {"mosaic-2022.mfu"}
    assert not {row["model"] for row in everything["accuracy"]} & {*ids, "narayanan-eq3"}
    assert {p["formula_id"] for p in everything["pairs"] if p["quantity"] == "mfu"} == ids


def test_the_same_input_gives_the_same_bytes(assay: Run, tmp_path: Path) -> None:
    """Also in a process that hashes otherwise; text and Markdown come from one list of parts."""
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    here = assay("report", MOSAIC, "--json", "-o", one)
    there = subprocess.run(
        [sys.executable, "-c", PROGRAM, "report", MOSAIC, "--json", "-o", two],
        capture_output=True, check=False, env={**os.environ, "PYTHONHASHSEED": "1"},
    )  # fmt: skip
    assert there.stdout.decode() == here.out
    assert one.read_bytes() == two.read_bytes()


def test_files_are_written_and_not_overwritten(assay: Run, tmp_path: Path) -> None:
    outputs = [tmp_path / "r.md", tmp_path / "r.json"]
    options = ["--model", "constant_mfu", *(word for path in outputs for word in ("-o", path))]
    assert assay("report", MOSAIC, *options).code == 0
    assert outputs[0].read_text().startswith("# assay report\n\n## Summary\n")
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(
        head_of(json.loads(outputs[1].read_text()))
    )
    assert sorted(tmp_path.iterdir()) == sorted(outputs), "no temporary file is left"
    outputs[0].write_text("mine")
    refused = assay("report", MOSAIC, *options)
    assert refused.code == 2
    assert "--force" in refused.err
    assert outputs[0].read_text() == "mine"
    assert assay("report", MOSAIC, *options, "--force").code == 0
    assert outputs[0].read_text() != "mine"


def test_a_report_of_another_kind_is_refused(assay: Run, tmp_path: Path) -> None:
    done = assay("report", PREQUEL, "-o", tmp_path / "r.pdf")
    assert done.code == 2
    assert ".html, .md, .json" in done.err


def test_an_unwritable_output_is_no_traceback(assay: Run, tmp_path: Path) -> None:
    done = assay("report", MOSAIC, "--model", "roofline", "-o", tmp_path / "no" / "r.md")
    assert done.code == 2
    assert "cannot be written" in done.err


def test_an_unknown_machine_is_told_where_the_known_are(assay: Run) -> None:
    for arguments in (["report", PREQUEL, "--machine", "Z80"], ["machines", "Z80"]):
        done = assay(*arguments)
        assert done.code == 2
        assert "`assay machines` lists those that are known" in done.err


def test_an_unknown_model_lists_the_known(assay: Run) -> None:
    done = assay("report", PREQUEL, "--model", "oracle")
    assert done.code == 2
    assert "constant_mfu" in done.err


def test_one_model_alone(assay: Run) -> None:
    found = json.loads(assay("report", MOSAIC, "--json", "--model", "constant_mfu").out)
    assert {row["model"] for row in found["accuracy"]} == {"constant_mfu"}


def test_a_machine_may_be_stated(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("gpu,dtype,b,m,n,k,t_us\nA100,bf16,1,4096,4096,4096,600\n")
    alone = assay("report", path)
    assert alone.code == 4
    assert "A100-40g or A100-80g" in alone.out + alone.err
    assert assay("report", path, "--machine", "A100-80g").code == 0


@pytest.mark.parametrize("text", ["-1", "2x", "101%", "", "nan%"])
def test_a_bad_limit_is_a_usage_error(assay: Run, text: str) -> None:
    done = assay("report", PREQUEL, f"--max-bad={text}")
    assert done.code == 2
    assert "--max-bad" in done.err


def test_a_bug_is_one_line(assay: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug\nwith two lines")

    monkeypatch.setattr("assay.validate.score.assess.assess", broken)
    done = assay("report", PREQUEL)
    assert done.code == 70
    assert done.err.count("\n") == 1
    assert "ZeroDivisionError: a bug" in done.err


def test_a_missing_key_is_a_bug_and_no_usage_error(
    assay: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("nothing of the user's")

    monkeypatch.setattr("assay.validate.score.assess.assess", broken)
    assert assay("report", PREQUEL).code == 70


def test_colour_only_where_it_is_seen(assay: Run) -> None:
    assert "\x1b" not in assay("report", MOSAIC, "--model", "roofline").out


def test_text_of_inputs_is_escaped(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m|b.md"
    path.write_text((FIXTURES / "markdown_table" / "mosaic_2022.md").read_text())
    done = assay("report", path, "-o", tmp_path / "r.md")
    assert "\x1b" not in done.out
    assert "\x1b" not in (tmp_path / "r.md").read_text()
    rows = [line for line in (tmp_path / "r.md").read_text().splitlines() if "31m" in line]
    assert rows
    assert all("|b.md" not in row.replace("\\|", "") for row in rows)


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -c '{PROGRAM}' report {MOSAIC} --model roofline"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"],
        capture_output=True, cwd=ROOT, check=False, env={**os.environ},
    )  # fmt: skip
    assert done.stdout == b"Summary\n"
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_machines_are_listed_with_sources(assay: Run) -> None:
    assert "B200" in assay("machines").out
    done = assay("machines", "NVIDIA H100 80GB HBM3")
    assert done.out.startswith("H100: NVIDIA H100")
    assert "datasheet" in done.out
