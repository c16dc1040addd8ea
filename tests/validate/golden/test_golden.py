"""Goldens: what leaves them alone, what is caught, and with which message."""

from __future__ import annotations

import bz2
import dataclasses
import gzip
import lzma
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandera.polars as pa
import pytest
import zstandard
from assay.ingest.formats import FORMATS
from assay.ingest.formats.megatron import megatron_iteration
from assay.ingest.schema.fields import logged
from assay.ingest.schema.reading import Reading
from assay.validate.golden.compare import Cause
from assay.validate.golden.document import Entry, parse, write
from assay.validate.golden.folder import Checked, Settings, cases, check, update

from tests.conftest import FIXTURES, mostly_slow

LINE = (
    " iteration {i}/ 1000 | consumed samples: {s} | elapsed time per iteration (s): {t} "
    "| global batch size: 2048 | lm loss: 6.384045E+01 | TFLOPs: 149.02 | odd one: {o} |\n"
)
TIMES = ("105.22", "105.9", "106.10", "105.22", "1.0E+02")


def log(times: Sequence[str] = TIMES) -> str:
    return "noise, 3 of it\n" + "".join(
        LINE.format(i=i, s=2048 * i, t=t, o=i % 2) for i, t in enumerate(times, 9)
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run.log").write_text(log())
    assert outcomes(tmp_path) == ["written"]
    return tmp_path


def outcomes(folder: Path, **options: object) -> list[str]:
    settings = options.pop("settings", Settings())
    return [made.outcome for made in update(folder, settings, **options)]  # type: ignore[arg-type]


def checked(folder: Path, settings: Settings | None = None) -> Checked:
    (case,) = cases(folder)
    return check(case, settings or Settings())


def causes(found: Checked) -> list[Cause]:
    return [reason.cause for reason in found.difference.reasons]


def test_a_golden_shows_printed_digits_and_no_positions(folder: Path) -> None:
    text = (folder / "run.golden").read_text()
    assert "step_time: 106.10 s\n" in text
    assert "step_time: 1.0e+2 s\n" in text
    assert 'other "odd one": "1"\n' in text
    assert "run.log" not in text
    assert "line" not in text
    assert text == write(parse(text))
    assert causes(checked(folder)) == []


@pytest.mark.parametrize(
    ("name", "change"),
    mostly_slow(
        [
            ("run.log", lambda data: data.replace(b"\n", b"\r\n")),
            ("run.log", lambda data: b"\xef\xbb\xbf" + data),
            ("run.log", lambda data: data.replace(b"| TFLOPs", b"|   TFLOPs")),
            ("run.log.gz", gzip.compress),
            ("run.log.bz2", bz2.compress),
            ("run.log.xz", lzma.compress),
            ("run.log.zst", zstandard.compress),
        ],
        3,
    ),
)
def test_what_is_not_read_leaves_a_golden_alone(folder: Path, name: str, change: object) -> None:
    data = (folder / "run.log").read_bytes()
    (folder / "run.log").unlink()
    (folder / name).write_bytes(change(data))  # type: ignore[operator]
    assert causes(checked(folder)) == []
    assert outcomes(folder) == ["unchanged"]


def test_order_of_lines_leaves_a_golden_alone(folder: Path) -> None:
    lines = log().splitlines(keepends=True)
    for seed in range(5):
        random.Random(seed).shuffle(lines)
        (folder / "run.log").write_text("".join(lines))
        assert outcomes(folder) == ["unchanged"]


def test_a_repeated_record_counts(folder: Path) -> None:
    lines = log().splitlines(keepends=True)
    (folder / "run.log").write_text("".join([*lines, lines[-1]]))
    found = checked(folder)
    assert causes(found) == [Cause.READING]
    assert "1 records new in megatron_iteration" in str(found.difference)


def test_one_digit_of_an_input_is_caught(folder: Path) -> None:
    (folder / "run.log").write_text(log().replace("106.10", "106.11"))
    found = checked(folder)
    assert causes(found) == [Cause.READING]
    assert "reading: megatron_iteration.step_time was 106.10 s, is 106.11 s" in str(
        found.difference
    )
    assert "\n-step_time: 106.10 s\n+step_time: 106.11 s\n" in found.difference.diff


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_digit_of_a_record_is_caught(share: int, folder: Path) -> None:
    text = log()
    head = text.index("iteration 9")
    end = text.index("\n", head)
    digits = [at for at in range(head, end) if text[at].isdigit()]
    assert len(digits) > 30
    for at in digits[::share]:
        other = str((int(text[at]) + 1) % 10)
        (folder / "run.log").write_text(text[:at] + other + text[at + 1 :])
        assert causes(checked(folder)), text[head:end]


def test_a_hand_edited_golden_is_named(folder: Path) -> None:
    golden = folder / "run.golden"
    golden.write_text(golden.read_text().replace("106.10", "106.11"))
    found = checked(folder)
    assert causes(found) == [Cause.EDITED, Cause.READING]
    assert "edited by hand: its digest is not that of its text" in str(found.difference)
    assert "\n-step_time: 106.11 s\n+step_time: 106.10 s\n" in found.difference.diff


def test_an_edit_that_agrees_with_the_input_is_still_an_edit(folder: Path) -> None:
    (folder / "run.log").write_text(log().replace("106.10", "106.11"))
    golden = folder / "run.golden"
    golden.write_text(golden.read_text().replace("106.10", "106.11"))
    assert causes(checked(folder)) == [Cause.EDITED]


def test_a_golden_with_other_line_ends_is_no_edit(folder: Path) -> None:
    golden = folder / "run.golden"
    golden.write_bytes(golden.read_bytes().replace(b"\n", b"\r\n"))
    assert causes(checked(folder)) == []


@pytest.mark.parametrize("text", ["", "nothing of ours\n", "assay golden 1\n", "\xff"])
def test_a_broken_golden_is_named(folder: Path, text: str) -> None:
    (folder / "run.golden").write_bytes(text.encode("latin-1"))
    assert causes(checked(folder))[0] == Cause.EDITED


def test_another_version_says_so(folder: Path) -> None:
    golden = folder / "run.golden"
    golden.write_text(golden.read_text().replace("assay golden 1", "assay golden 99"))
    assert causes(checked(folder)) == [Cause.VERSION]


def declared_otherwise(**columns: object) -> Settings:
    """The registry with columns of the training line declared otherwise."""
    base = megatron_iteration.MegatronIteration
    notes = dict.fromkeys(columns, float)
    schema = type(base)("Other", (base,), {"__annotations__": notes, **columns})
    changed = [
        dataclasses.replace(fmt, schemas={fmt.name: schema})
        if fmt is megatron_iteration.FORMAT
        else fmt
        for fmt in FORMATS
    ]
    assert issubclass(schema, pa.DataFrameModel)
    return Settings(formats=changed)


def test_a_column_of_a_schema_is_caught(folder: Path) -> None:
    column = logged(["elapsed time per iteration (s)"], unit="s", gt=0, kind="truncated")
    found = checked(folder, declared_otherwise(step_time=column))
    assert causes(found) == [Cause.SCHEMA]
    assert (
        "schema: megatron_iteration is declared otherwise: "
        "step_time was Float64, decimal, s, is Float64, truncated, s" in str(found.difference)
    )


def test_a_column_that_the_input_does_not_fill_is_caught(folder: Path) -> None:
    found = checked(folder, declared_otherwise(energy=logged(["energy"], nullable=True)))
    assert causes(found) == [Cause.SCHEMA]
    assert "a column that this input does not fill" in str(found.difference)


def constant(value: float) -> Settings:
    """A registry with one model that has one constant."""

    def predict(reading: Reading) -> Mapping[str, Sequence[Entry]]:
        frame = reading.frames["megatron_iteration"].unique("global_batch")
        return {
            "predicted": [
                (
                    ("global_batch", str(batch)),
                    ("configuration.step_time by slope", f"{value * batch:.6g} s"),
                )
                for batch in frame.sort("global_batch")["global_batch"]
            ]
        }

    return Settings(predict=predict)


def test_a_constant_of_a_model_is_caught(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(log())
    assert outcomes(tmp_path, settings=constant(0.05)) == ["written"]
    assert causes(checked(tmp_path, constant(0.05))) == []
    assert causes(checked(tmp_path, constant(0.05 * (1 + 1e-9)))) == []
    found = checked(tmp_path, constant(0.0501))
    assert causes(found) == [Cause.MODEL]
    assert (
        "model: predicts otherwise for the same input: configuration.step_time by slope "
        "was 102.4 s, is 102.605 s" in str(found.difference)
    )


def test_predictions_that_move_with_the_input_are_not_blamed_on_the_model(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(log())
    outcomes(tmp_path, settings=constant(0.05))
    (tmp_path / "run.log").write_text(log().replace("2048", "2040"))
    found = checked(tmp_path, constant(0.05))
    assert causes(found) == [Cause.READING, Cause.MODEL]
    assert "model: predictions moved with what was read" in str(found.difference)


def test_all_and_only(folder: Path) -> None:
    (folder / "prose.txt").write_text("nothing of ours\n")
    (folder / "lost.golden").write_text((folder / "run.golden").read_text())
    (folder / "new.log").write_text(log())
    found = {case.name: causes(check(case, Settings())) for case in cases(folder)}
    assert found == {
        "lost.golden": [Cause.ORPHAN],
        "new.log": [Cause.MISSING],
        "prose.txt": [Cause.UNKNOWN],
        "run.log": [],
    }


def test_inputs_that_differ_in_their_ending_keep_it(tmp_path: Path) -> None:
    for name in ("run.out", "run.err", "other.log", "rank.0", "rank.1.gz"):
        (tmp_path / name).write_text(log())
    assert {case.name: case.golden.name for case in cases(tmp_path)} == {
        "run.out": "run.out.golden",
        "run.err": "run.err.golden",
        "other.log": "other.golden",
        "rank.0": "rank.0.golden",
        "rank.1.gz": "rank.1.golden",
    }


def test_tolerances_are_recorded_and_hold(folder: Path) -> None:
    (folder / "run.log").write_text(log().replace("106.10", "107.00"))
    assert causes(checked(folder)) == [Cause.READING]
    (folder / "run.log").write_text(log())
    assert outcomes(folder, tolerances={"step_time": "1%"}) == ["held back"]
    assert outcomes(folder, tolerances={"step_time": "1%"}, replacing=True) == ["written"]
    assert "[tolerance]\nstep_time: 1%\n" in (folder / "run.golden").read_text()
    assert outcomes(folder) == ["unchanged"]
    (folder / "run.log").write_text(log().replace("106.10", "107.00"))
    assert causes(checked(folder)) == []
    (folder / "run.log").write_text(log().replace("106.10", "107.20"))
    found = checked(folder)
    assert causes(found) == [Cause.READING]
    assert "106.10" in found.difference.diff
    (folder / "run.log").write_text(log())
    assert outcomes(folder, tolerances={"step_time": "none"}, replacing=True) == ["written"]
    assert "tolerance" not in (folder / "run.golden").read_text()


def test_a_diff_shows_only_what_no_tolerance_covers(folder: Path) -> None:
    outcomes(folder, tolerances={"step_time": "1%"}, replacing=True)
    drifted = log().replace("106.10", "106.50").replace("105.9 ", "105.8 ")
    (folder / "run.log").write_text(
        drifted.replace("149.02 | odd one: 1", "150.02 | odd one: 1", 1)
    )
    found = checked(folder)
    assert "106.50" not in found.difference.diff
    assert "1.5002e+14" in found.difference.diff


def test_digits_more_or_fewer_agree_at_the_printed_precision(folder: Path) -> None:
    (folder / "run.log").write_text(log().replace("106.10", "106.1"))
    assert causes(checked(folder)) == []
    assert outcomes(folder) == ["held back"]


def test_an_update_needs_leave_to_change(folder: Path) -> None:
    before = (folder / "run.golden").read_bytes()
    (folder / "run.log").write_text(log().replace("106.10", "106.11"))
    (made,) = update(folder, Settings())
    assert made.outcome == "held back"
    assert "+step_time: 106.11 s" in made.diff
    assert (folder / "run.golden").read_bytes() == before
    assert outcomes(folder, replacing=True) == ["written"]
    assert causes(checked(folder)) == []


def test_refusals_are_part_of_a_golden(folder: Path) -> None:
    broken = LINE.format(i="14", s="9", t="3.0", o="1").replace("size: 2048", "size: many")
    (folder / "run.log").write_text(log() + broken)
    found = checked(folder)
    assert Cause.REFUSED in causes(found)
    assert found.refused == 1
    outcomes(folder, replacing=True)
    assert causes(checked(folder)) == []
    (folder / "run.log").write_text(log() + broken.replace("many", "some"))
    assert causes(checked(folder)) == [Cause.REFUSED]


def test_states_are_not_one_another(tmp_path: Path) -> None:
    table = (
        "| GPUs | Mem | Sec/it |\n| ---: | --: | ---: |\n"
        "| 8 | 67GB | 12.5 |\n| 16 | OOM | |\n| 32 | GB | 13.0 |\n| 64 | | 14 |\n"
    )
    (tmp_path / "table.md").write_text(table)
    outcomes(tmp_path)
    text = (tmp_path / "table.golden").read_text()
    assert 'memory: outcome "OOM"\n' in text
    assert 'memory: unknown "GB"\n' in text
    assert "memory: missing\n" in text
    assert "memory: 6.7e+10 B" in text
    (tmp_path / "table.md").write_text(table.replace("| 32 | GB", "| 32 | OOM"))
    assert causes(checked(tmp_path)) == [Cause.READING]


def test_where_a_value_comes_from_is_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(log())
    (tmp_path / "run.toml").write_text("[configuration]\nhidden = 14336\n")
    outcomes(tmp_path)
    assert "hidden: 14336 (assumed: run.toml)\n" in (tmp_path / "run.golden").read_text()
    (tmp_path / "run.log").write_text("NHIDDEN=14336\n" + log())
    found = checked(tmp_path)
    assert "hidden was 14336 (assumed: run.toml), is 14336 (stated)" in str(found.difference)


def test_compressed_inputs_have_the_same_side_file(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("[configuration]\nhidden = 14336\n")
    (tmp_path / "run.log.gz").write_bytes(gzip.compress(log().encode()))
    outcomes(tmp_path)
    assert "hidden: 14336 (assumed: run.toml)\n" in (tmp_path / "run.golden").read_text()


def test_goldens_do_not_depend_on_the_folder(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.log").write_text(log())
        outcomes(tmp_path / name)
        texts.append((tmp_path / name / "run.golden").read_text())
    assert texts[0] == texts[1]


def test_values_that_name_a_place_are_counted(tmp_path: Path) -> None:
    name = "gpt2_18b_v100.log"
    text = (FIXTURES / "arguments" / name).read_text()
    goldens = []
    for folder, noise in (("one", ""), ("two", "a line of noise\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(noise + text)
        outcomes(tmp_path / folder)
        goldens.append((tmp_path / folder / name).with_suffix(".golden").read_text())
    assert 'run: "#1"' in goldens[0]
    first, second = (golden.partition("[schema")[2] for golden in goldens)
    assert first == second


def test_a_diff_of_many_changes_is_not_searched_for(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(log([f"{100 + at % 7}.25" for at in range(400)]))
    outcomes(tmp_path)
    (tmp_path / "run.log").write_text(log([f"{100 + at % 7}.75" for at in range(400)]))
    found = checked(tmp_path)
    assert causes(found) == [Cause.READING]
    lines = found.difference.diff.split("\n")
    assert sum(line.startswith("-step_time") for line in lines) == 400
    assert sum(line.startswith("-") for line in lines) == 401
    assert "and 395 more values" in str(found.difference.reasons[0])
