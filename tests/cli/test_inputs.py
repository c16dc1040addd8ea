"""The input table of the design, row by row: what happens to odd inputs."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import IRON, TABLE, Ran, Run
from tests.conftest import FIXTURES, mostly_slow

PREQUEL = FIXTURES / "markdown_table" / "bloom_prequel.md"


def head_of_it(folder: Path) -> Path:
    shutil.copy(PREQUEL.with_suffix(".toml"), folder / "good.toml")
    lines = PREQUEL.read_bytes().splitlines(keepends=True)
    (folder / "good.md").write_bytes(b"".join(lines[:200]))
    return folder / "good.md"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """The head of a document that is read and predicted, with its side file."""
    return head_of_it(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The report of that document before anything is done to it."""
    done = Ran(["report", "--json", str(head_of_it(tmp_path_factory.mktemp("whole"))), *PLAIN])
    return json.loads(done.out)


def document(assay: Run, *arguments: object, stdin: bytes | None = None) -> tuple[Any, int, str]:
    done = assay("report", "--json", *arguments, stdin=stdin)
    return json.loads(done.out), done.code, done.err


# --- an empty file; a file with nothing known


@pytest.mark.parametrize("content", [b"", b"\n \n\n"])
def test_an_empty_file_is_an_error_that_says_so(assay: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "empty.log").write_bytes(content)
    done = assay("report", tmp_path / "empty.log")
    assert done.code == 4
    assert done.err.endswith("empty.log is empty\n")
    assert "empty.log: empty" in done.out
    assert "formats new" not in done.out + done.err


def test_a_file_with_nothing_known_names_the_formats_and_the_nearest_miss(
    assay: Run, tmp_path: Path
) -> None:
    path = tmp_path / "prose.txt"
    path.write_text("nothing here\nthe next iteration of the design\n" * 2406)
    done = assay("report", path)
    assert done.code == 4
    assert "recognised 0 of 4,812 lines; tried megatron_iteration" in done.err
    assert f"nearest miss: megatron_iteration (2,406 lines hold one of its heads, the first at " \
           f"{path}:2" in done.err  # fmt: skip


def test_nothing_known_without_a_near_miss(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    done = assay("report", tmp_path / "a.txt")
    assert done.code == 4
    assert "recognised 0 of 1 line;" in done.err
    assert "nearest" not in done.err


# --- binary, bad UTF-8, BOM, CRLF, lone CR, NUL, ANSI


PLAIN = ("--model", "constant_mfu", "--model", "roofline")
"""Models that need no fit: what is read does not depend on them."""


@pytest.mark.parametrize(
    "harm",
    mostly_slow(
        [
            lambda data: b"\xef\xbb\xbf" + data,
            lambda data: data.replace(b"\n", b"\r\n"),
            lambda data: b"\xff\xfe\x80 noise\n" + data,
            lambda data: b"progress 1%\rprogress 2%\n" + data,
            lambda data: b"\x00\x00\n" + data,
            lambda data: b"\x1b[31mred\x1b[0m\n" + data,
            lambda data: bytes(range(256)) + b"\n" + data,
            gzip.compress,
        ],
        3,
    ),
    ids=["BOM", "CRLF", "bad UTF-8", "lone CR", "NUL", "ANSI", "binary", "gzip"],
)
def test_a_damaged_surrounding_is_read(assay: Run, good: Path, whole: Any, harm: Any) -> None:
    assert whole["pairs"]
    good.write_bytes(harm(good.read_bytes()))
    found, code, _ = document(assay, good, *PLAIN)
    assert code == 0
    assert found["refused"] == []
    assert len(found["pairs"]) == len(whole["pairs"])
    assert [row["mape"] for row in found["accuracy"]] == [row["mape"] for row in whole["accuracy"]]


def test_a_hurt_claimed_line_is_refused_with_its_place(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "hurt.log"
    path.write_bytes(
        IRON.format(n=1, s=4).encode()
        + IRON.format(n=2, s=8).encode().replace(b"size:     4", b"size: \xff4")
    )
    found, code, err = document(assay, path)
    (refusal,) = found["refused"]
    assert (refusal["line"], refusal["source"]) == (2, str(path))
    assert refusal["column"] > 1
    assert code == 4  # nothing to join comes before too many refusals
    assert "refused 1 of 2 lines" in err


# --- several inputs, some unreadable or unknown


def test_an_unreadable_input_among_many(assay: Run, good: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.log"
    done = assay("report", good, missing, *PLAIN)
    assert done.code == 3
    assert str(missing) in done.err
    assert "13B" in done.out or "step" in done.out
    assert done.out.rstrip().splitlines()[-1].lstrip().startswith(f"{missing}:1:1: unreadable")


def test_an_unknown_input_among_many_is_a_note(assay: Run, good: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("just prose\n")
    done = assay("report", good, tmp_path / "notes.txt", *PLAIN)
    assert done.code == 0
    assert "notes.txt: no format knows a line of it" in done.out


def test_only_unknown_and_unreadable_inputs(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("just prose\n")
    assert assay("report", tmp_path / "notes.txt", tmp_path / "missing").code == 4


def test_no_input_could_be_opened(assay: Run, tmp_path: Path) -> None:
    done = assay("report", tmp_path / "missing.log", tmp_path / "no*.md")
    assert done.code == 2
    assert "no input could be opened" in done.err


# --- a claimed line that does not parse, a row with a cell too many


def test_a_row_with_a_cell_too_many_counts_against_max_bad(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "wide.md"
    path.write_text(TABLE + "|   24 |  8 |  3 |  1 |   1 |  64 |   5.00 |  41.00 | 7 |\n")
    found, code, err = document(assay, path)
    (refusal,) = found["refused"]
    assert (refusal["line"], refusal["code"]) == (5, "cell-count")
    assert "refused 1 of 5 lines" in err
    assert code in (3, 4)
    _, lenient, err = document(assay, "--max-bad", "20%", path)
    assert "refused" not in err
    assert lenient != 3
    _, lenient, err = document(assay, "--max-bad", "1", path)
    assert "refused" not in err


def test_refusals_beyond_max_bad_are_code_3(assay: Run, good: Path) -> None:
    text = good.read_text()
    lines = text.splitlines(keepends=True)
    broken = [line.rstrip("\n") + " 1 |\n" if line.startswith("|    40 |") else line
              for line in lines]  # fmt: skip
    good.write_text("".join(broken))
    found, code, err = document(assay, good, *PLAIN)
    assert code == 3
    assert {refusal["code"] for refusal in found["refused"]} == {"cell-count"}
    assert found["accuracy"], "the report is written all the same"
    assert "--max-bad" in err


# --- a record cut at its end


def test_a_record_cut_at_its_end_keeps_its_complete_cells(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "cut.log"
    cut = IRON.format(n=20, s=80)
    path.write_text(IRON.format(n=10, s=40) + cut[: cut.index("37.9")])
    done = assay("report", path, "--full")
    assert f"{path}:2:" in done.out
    assert "truncated" in done.out
    found, _, _ = document(assay, path)
    assert found["refused"] == []
    assert found["sources"][0]["claimed"] == 2
    assert len(found["unpredicted"]) == 1, "the unterminated step time is dropped"


def test_a_stream_that_is_cut_off_is_said_to_be_so(assay: Run, tmp_path: Path) -> None:
    path, folder = tmp_path / "run.log.gz", tmp_path / "read"
    packed = gzip.compress("".join(IRON.format(n=n, s=4 * n) for n in range(1, 400)).encode())
    path.write_bytes(packed[: len(packed) // 2])
    said = "the gzip stream is cut off (it ends early); what came before it is read"
    report, check = assay("report", path), assay("check", path)
    assert said in " ".join(report.out.split())
    assert said in report.err
    assert said in check.err
    kept = assay("ingest", path, "-o", folder)
    assert said in kept.err.splitlines()[-1]
    assert kept.code == 0, "what came before it is right"
    assert said in " ".join(assay("report", folder).out.split())
    path.write_bytes(packed)
    assert "cut" not in assay("check", path).err


# --- a value out of its column's range, a failed cast


def test_a_value_out_of_range_refuses_its_row_alone(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "range.md"
    path.write_text(TABLE + "|   24 |  0 |  3 |  1 |   1 |  64 |   5.00 |  41.00 |\n")
    found, _, _ = document(assay, path)
    (refusal,) = found["refused"]
    assert (refusal["line"], refusal["code"]) == (5, "out-of-range")
    assert "tp" in refusal["message"]
    assert len({row["case"] for row in found["cases"]}) == 2


def test_a_failed_cast_costs_its_cell_alone(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "cast.csv"
    path.write_text("gpu,dtype,b,m,n,k,t_us\nH100,bf16,1,8,8,8,1.5\nH100,bf16,1,8,8,8,fast\n")
    found, _, _ = document(assay, path)
    assert found["refused"] == []
    assert {pair["line"] for pair in found["pairs"]} == {2}


# --- a line longer than 16 MiB


def test_a_line_too_long_is_refused_with_its_length(assay: Run, good: Path) -> None:
    length = 16 * 2**20 + 1
    good.write_bytes(b"x" * length + b"\n" + PREQUEL.read_bytes())
    found, code, _ = document(assay, good, *PLAIN)
    (refusal,) = found["refused"]
    assert (refusal["line"], refusal["code"]) == (1, "too-long")
    assert f"{length:,}" in refusal["message"]
    assert code == 0  # one line of two hundred is within 1 %


# --- stdin, folders, globs


def test_stdin(assay: Run) -> None:
    data = PREQUEL.read_bytes()
    found, code, _ = document(assay, "-", "--machine", "A100-80g", *PLAIN, stdin=data)
    assert code == 0
    assert found["sources"][0]["name"] == "<stdin>"


def test_a_folder_and_a_glob_are_the_same(assay: Run, good: Path) -> None:
    folder, _, _ = document(assay, good.parent, *PLAIN)
    glob, _, _ = document(assay, good.parent / "*.md", *PLAIN)
    assert folder == glob


def test_what_is_no_text_is_called_binary(assay: Run, tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(random.Random(3).randbytes(3000))
    (tmp_path / "gbk.log").write_bytes("训练开始了\n".encode("gbk") * 40)
    done = assay("report", tmp_path)
    assert done.code == 4
    assert "weights.bin: it is binary, not text" in done.out
    assert "formats new" in done.out.partition("gbk.log: ")[2]
