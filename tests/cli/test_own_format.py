"""`--format FILE` on the commands that read: a format from outside, as if it were packaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.conftest import ROOT

SWIFT = ROOT / "examples" / "own_format" / "swift_format" / "swift_step.toml"


@pytest.fixture
def swift(tmp_path: Path) -> Path:
    path = tmp_path / "swift.log"
    path.write_text(
        "NHIDDEN=4096\nNLAYERS=32\nNHEADS=32\nSEQ_LEN=2048\nVOCAB_LENGTH=32000\n"
        "GPUs=8\nGBS=64\nMBS=1\nTP=1 PP=1\n"
        + "".join(f"step={n} loss=2.{n} tok/s=2{n}234 mem=61.2GiB mfu=43.1%\n" for n in range(1, 9))
    )
    path.with_suffix(".toml").write_text('[configuration]\ngpu = "A100-80g"\n')
    return path


def test_without_it_nothing_is_known(assay: Run, swift: Path) -> None:
    done = assay("report", swift)
    assert done.code == 4
    assert "swift_step" not in done.err


def test_a_report_reads_and_scores_it(assay: Run, swift: Path) -> None:
    done = assay("report", swift, "--format", SWIFT, "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    observed = {pair["quantity"] for pair in document["pairs"]}
    assert "tokens_per_s" in observed
    assert document["sources"][0]["claimed"] == 17
    assert {row["model"] for row in document["accuracy"]} >= {"step"}


def test_check_reads_it(assay: Run, swift: Path) -> None:
    done = assay("check", swift, "--format", SWIFT, "--json")
    assert done.code in (0, 1)
    assert isinstance(json.loads(done.out), list)


def test_goldens_are_kept_of_it(assay: Run, swift: Path) -> None:
    folder = swift.parent
    assert assay("golden", "update", folder, "--format", SWIFT).code == 0
    text = swift.with_suffix(".golden").read_text()
    assert "swift_step" in text
    assert assay("golden", "check", folder, "--format", SWIFT).code == 0
    swift.write_text(swift.read_text().replace("loss=2.3", "loss=2.9"))
    assert assay("golden", "check", folder, "--format", SWIFT).code == 1


def test_a_bad_file_is_a_usage_error(assay: Run, swift: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(SWIFT.read_text().replace("origin", "orgin"))
    done = assay("report", swift, "--format", bad)
    assert done.code == 2
    assert "bad.toml:5: orgin: is no key of a format; did you mean 'origin'?" in done.err
    assert assay("report", swift, "--format", tmp_path / "none.toml").code == 2


def test_one_file_given_twice_is_one_format(assay: Run, swift: Path) -> None:
    assert assay("check", swift, "--format", SWIFT, "--format", SWIFT).code in (0, 1)


def test_an_unknown_option_names_the_nearest(assay: Run, swift: Path) -> None:
    done = assay("report", swift, "--fromat", SWIFT)
    assert done.code == 2
    assert "--format" in done.err


def test_ingested_folders_are_understood_without_the_file(
    assay: Run, swift: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    done = assay("ingest", swift, "-o", folder, "--format", SWIFT, "-j", "2")
    assert done.code == 0, done.err
    straight = assay("report", swift, "--format", SWIFT, "--json")
    for extra in ([], ["--format", SWIFT]):
        again = assay("report", folder, "--json", *extra)
        assert again.code == 0, again.err
        assert json.loads(again.out)["accuracy"] == json.loads(straight.out)["accuracy"]
    manifest = (folder / "manifest.json").read_text()
    assert "61.2GiB" not in manifest  # neither samples nor comments
    assert SWIFT.name not in manifest
    second = tmp_path / "second"
    assert assay("ingest", folder, "-o", second).code == 0
    assert assay("report", second).code == 0


def test_a_folder_of_another_description_is_refused(
    assay: Run, swift: Path, tmp_path: Path
) -> None:
    folder, other = tmp_path / "out", tmp_path / "other.toml"
    assert assay("ingest", swift, "-o", folder, "--format", SWIFT).code == 0
    other.write_text(SWIFT.read_text().replace("le = 1\n", "le = 2\n"))
    done = assay("report", folder, "--format", other)
    assert done.code == 2
    assert "frame swift_step has another schema" in done.err
    manifest = folder / "manifest.json"
    said = json.loads(manifest.read_text())
    del said["formats"]
    manifest.write_text(json.dumps(said))
    done = assay("report", folder)
    assert done.code == 2
    assert "give its description with --format" in done.err
    assert assay("report", folder, "--format", SWIFT).code == 0


def test_an_ingest_without_the_format_leaves_no_frame_of_it(
    assay: Run, swift: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    assert assay("ingest", swift, "-o", folder, "--format", SWIFT).code == 0
    assert (folder / "swift_step.parquet").is_file()
    other = tmp_path / "other.log"
    other.write_text("Step Time : 5.20s GPU utilization: 402.1TFLOP/s/GPU\n")
    assert assay("ingest", other, "-o", folder, "--force").code == 0
    assert not (folder / "swift_step.parquet").exists()


def test_another_text_is_another_part() -> None:
    from assay.ingest.formats.own.own_format import tested
    from assay.ingest.inputs.parts import identity
    from assay.ingest.inputs.read import Recipe

    text = SWIFT.read_text()
    one, other = (tested("s.toml", t) for t in (text, text.replace('["step="]', '["step=1"]')))
    assert one.schemas.keys() == other.schemas.keys()
    assert identity(Recipe({}, (one,))) != identity(Recipe({}, (other,)))
    assert identity(Recipe({}, (one,))) == identity(Recipe({}, (tested("t.toml", text),)))


def test_watch_and_diff_know_its_steps(assay: Run, tmp_path: Path) -> None:
    file = tmp_path / "steps.toml"
    file.write_text(
        'name = "timed"\nheads = ["step="]\nseparator = " "\nassign = "="\n'
        '[columns.step]\ntype = "integer"\n'
        '[columns.took]\nunit = "s"\nlabels = { t = "ms" }\nquantity = "step_time"\n'
        '[[samples]]\nline = "step=1 t=500"\nvalues = { step = 1, took = "500 ms" }\n'
    )
    for name, time in (("a.log", 500), ("b.log", 550)):
        lines = "".join(f"step={n} t={time + n % 2}.0\n" for n in range(1, 30))
        (tmp_path / name).write_text(lines)
    seen = assay("watch", tmp_path / "a.log", "--updates", "1", "--format", file)
    assert seen.code == 0
    assert "step 500.5 ms" in seen.out
    gate = ("--fail-if", "step_time>+5%", "--format", file)
    done = assay("diff", tmp_path / "a.log", tmp_path / "b.log", *gate)
    assert done.code == 1, done.err
