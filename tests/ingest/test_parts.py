"""Many inputs: the same bytes whoever reads them, whatever interrupts them, and each one once."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.installed import known
from assay.ingest.inputs import chunks
from assay.ingest.inputs.chunks import Chunk, plan, unpacked
from assay.ingest.inputs.parts import Another, Share, identity, ingest, make_part
from assay.ingest.inputs.paths import inputs
from assay.ingest.inputs.read import read, read_chunk, recipe
from assay.ingest.inputs.workers import processes, run
from assay.ingest.pipeline.folding import folded
from assay.ingest.pipeline.merge import merge, renamed
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.record import Code
from assay.ingest.source.opening import Source, source
from assay.ingest.store import parquet
from assay.ingest.store.load import load
from assay.ingest.store.write import PARTS
from polars.testing import assert_frame_equal

from ..conftest import FIXTURES, ROOT, mostly_slow
from .deadly import deadly

IRON = (
    " iteration {n:8}/ 1000 | consumed samples: {s} | elapsed time per iteration (ms): {t:.1f} | "
    "global batch size: {b:5} | lm loss: 6.1E+00 | number of skipped iterations:   0 |\n"
)


def write_logs(folder: Path, count: int) -> list[Path]:
    """Logs of two lines each; every seventh is a copy, every fifth has a refused line."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for at in range(count):
        kind = at - at % 7 if at % 7 == 6 else at
        text = "".join(IRON.format(n=n, s=4 * n, t=100.0 + kind + n, b=4) for n in (1, 2))
        if kind % 5 == 0:
            text += IRON.format(n=3, s=12, t=1.0, b=4).replace("1.0 |", "fast |", 1)
        made.append(folder / f"run{at:04}.log")
        made[-1].write_text(text)
    return made


def bytes_of(folder: Path) -> dict[str, bytes]:
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def rows_once(folder: Path, logs: Sequence[Path]) -> None:
    frame = pl.read_parquet(folder / "megatron_iteration.parquet")
    assert frame.select("source", "line").is_duplicated().sum() == 0
    assert sorted(set(frame["source"])) == sorted(path.as_posix() for path in logs)
    assert frame.height == sum(len(path.read_text().splitlines()) for path in logs)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "MANY", 4)


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    return write_logs(tmp_path / "logs", 18)


HOW = recipe({})


def test_bytes_do_not_depend_on_workers_shares_or_memory(
    tmp_path: Path, logs: list[Path], few: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs" / "prose.txt").write_text("nothing\n")
    (tmp_path / "logs" / "broken.gz").write_bytes(b"\x1f\x8b nonsense")
    given = [tmp_path / "logs", smallest(FIXTURES / "gemm_table")]
    one = ingest(given, tmp_path / "one", HOW)
    two = ingest(given, tmp_path / "two", HOW, engine=processes(2))
    for number in (3, 1, 2):
        ingest(given, tmp_path / "three", HOW, share=Share(number, 3))
    ingest(given, tmp_path / "three", HOW)
    expected = bytes_of(tmp_path / "one")
    assert bytes_of(tmp_path / "two") == expected
    assert bytes_of(tmp_path / "three") == expected
    assert (one.rows, one.accounting, one.unreadable) == (two.rows, two.accounting, two.unreadable)
    assert [fault.span.source for fault in one.unreadable] == [f"{tmp_path}/logs/broken.gz"]
    said = (tmp_path / "one" / "manifest.json").read_text()
    assert os.uname().nodename not in said
    monkeypatch.setattr(parquet, "ROWS", 7)
    ingest(given, tmp_path / "small", HOW)
    for name in expected:
        if name.endswith(".parquet"):
            assert_frame_equal(
                pl.read_parquet(tmp_path / "small" / name), pl.read_parquet(tmp_path / "one" / name)
            )


def test_the_folder_holds_what_reading_gives(tmp_path: Path, logs: list[Path], few: None) -> None:
    names = ("deepflow_dump", "gemm_table", "megatron_iteration", "ulysses_trace")
    given = [tmp_path / "logs", *(FIXTURES / name for name in names)]
    ingest(given, tmp_path / "out", HOW)
    plain, again = read(given), load(tmp_path / "out")
    assert again.unreadable == plain.unreadable
    for name, frame in plain.reading.frames.items():
        assert_frame_equal(again.reading.frames[name], frame)
    assert_frame_equal(again.reading.provenance, plain.reading.provenance)
    for field in ("refused", "remarks", "accounting", "raw", "overridden"):
        assert getattr(again.reading, field) == getattr(plain.reading, field)


@pytest.mark.slow  # its bytes are compared above
def test_reading_with_workers_is_reading(tmp_path: Path, logs: list[Path], few: None) -> None:
    one, two = read([tmp_path]), read([tmp_path], workers=2)
    assert one.reading.accounting == two.reading.accounting
    assert one.reading.refused == two.reading.refused
    for name, frame in one.reading.frames.items():
        assert_frame_equal(two.reading.frames[name], frame)


def test_identical_content_is_parsed_once(
    tmp_path: Path, logs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []

    def counted(source: Source, *rest: Any, **more: Any) -> Any:
        parsed.append(source.name)
        return folded(source, *rest, **more)

    monkeypatch.setattr("assay.ingest.pipeline.small.folded", counted)
    monkeypatch.setattr("assay.ingest.pipeline.folding.folded", counted)
    outcome = read([tmp_path])
    assert len(parsed) == len({path.read_bytes() for path in logs}) < len(logs)
    assert len(outcome.reading.accounting) == len(logs)
    # a side file makes another reading of the same bytes
    parsed.clear()
    logs[6].with_suffix(".toml").write_text('[configuration]\ngpu = "A100-80g"\n')
    alone = read([tmp_path]).reading.frames["megatron_iteration"]
    assert logs[6].as_posix() in parsed
    assert alone.filter(source=logs[6].as_posix())["gpu"].unique().to_list() == ["A100-80g"]
    assert alone.filter(source=logs[0].as_posix())["gpu"].unique().to_list() == [None]


def everything(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix not in (".golden",))


def smallest(folder: Path) -> Path:
    return min(everything(folder), key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("path", mostly_slow(p for p in everything(FIXTURES)
                                             if p.stat().st_size < 8_000
                                             or p == smallest(p.parent)),
                         ids=lambda p: p.relative_to(FIXTURES).as_posix())  # fmt: skip
def test_a_reading_under_another_name_is_the_reading_of_another_name(path: Path) -> None:
    data = path.read_bytes()
    first, second = source("a/first.log", data), source("b (2)$1.log", data)
    assert isinstance(first, Source)
    assert isinstance(second, Source)
    moved, expected = (
        renamed(read_source(first, FORMATS), second.name),
        read_source(second, FORMATS),
    )
    for name, frame in expected.frames.items():
        assert_frame_equal(moved.frames[name], frame)
    assert_frame_equal(moved.provenance, expected.provenance)
    for field in ("refused", "remarks", "accounting", "raw", "overridden"):
        assert getattr(moved, field) == getattr(expected, field)


# --- interruption


SMALLER = """
from assay.ingest.inputs import chunks
from assay.validate.cli import app
chunks.MANY = {}
app()
"""


def interrupted(logs: Path, output: Path, parts: int) -> None:
    """An ingest that is killed as soon as it has left so many parts behind."""
    command = [sys.executable, "-c", SMALLER.format(chunks.MANY), "ingest", logs, "-o", output,
               "-j", "2"]  # fmt: skip
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while running.poll() is None and len(list((output / PARTS).glob("[!.]*/part.json"))) < parts:
        time.sleep(0.005)
    if running.poll() is None:
        os.kill(running.pid, signal.SIGKILL)  # its workers must notice by themselves
    running.wait()


@pytest.mark.parametrize(
    ("count", "many"),
    [pytest.param(1000, chunks.MANY, marks=pytest.mark.slow), (30, 3)],
    ids=["thousand", "some"],
)
def test_a_killed_ingest_goes_on_where_it_was(
    tmp_path: Path, count: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "MANY", many)
    logs = write_logs(tmp_path / "logs", count)
    (tmp_path / "logs" / "broken.gz").write_bytes(b"\x1f\x8b nonsense")
    output = tmp_path / "out"
    interrupted(tmp_path / "logs", output, 2)
    assert not list(output.glob("*.parquet")), "nothing half-written is visible"
    before = load(output)
    done = {account.source for account in before.reading.accounting}
    missing = {fault.span.source for fault in before.unreadable}
    assert done
    assert {path.as_posix() for path in logs} <= done | missing
    assert done.isdisjoint(missing)
    again = ingest([tmp_path / "logs"], output, HOW)
    assert again.resumed >= len(done)
    rows_once(output, logs)
    ingest([tmp_path / "logs"], tmp_path / "whole", HOW)
    assert bytes_of(output) == bytes_of(tmp_path / "whole")


def test_an_input_that_changes_between_attempts_is_read_anew(
    tmp_path: Path, logs: list[Path], few: None
) -> None:
    ingest([tmp_path / "logs"], tmp_path / "out", HOW, share=Share(1, 2))
    changed, side = logs[0], logs[2].with_suffix(".toml")
    changed.write_text(IRON.format(n=7, s=28, t=9.0, b=4) * 1)
    side.write_text('[configuration]\ngpu = "A100-80g"\n')
    done = ingest([tmp_path / "logs"], tmp_path / "out", HOW)
    assert 0 < done.resumed < 9
    frame = pl.read_parquet(tmp_path / "out" / "megatron_iteration.parquet")
    assert frame.filter(source=changed.as_posix())["iteration"].to_list() == [7]
    steps = load(tmp_path / "out").reading.frames["megatron_iteration"]
    assert steps.filter(source=logs[2].as_posix())["gpu"].to_list() == ["A100-80g"] * 2
    ingest([tmp_path / "logs"], tmp_path / "whole", HOW)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "whole")


def test_parts_that_were_read_another_way_are_not_used(
    tmp_path: Path, logs: list[Path], few: None
) -> None:
    ingest([tmp_path / "logs"], tmp_path / "out", HOW, share=Share(1, 2))
    done = ingest([tmp_path / "logs"], tmp_path / "out", recipe({"gpu": "H100-80g"}))
    assert done.resumed == 0
    frame = load(tmp_path / "out").reading.frames["megatron_iteration"]
    assert frame["gpu"].unique().to_list() == ["H100-80g"]


def test_a_damaged_part_is_made_anew(tmp_path: Path, logs: list[Path], few: None) -> None:
    ingest([tmp_path / "logs"], tmp_path / "out", HOW, share=Share(1, 2))
    for part in list((tmp_path / "out" / PARTS).glob("*/part.json"))[:2]:
        part.write_text("{")
    ingest([tmp_path / "logs"], tmp_path / "out", HOW)
    rows_once(tmp_path / "out", logs)


def test_shares_leave_what_is_missing_by_name(tmp_path: Path, logs: list[Path]) -> None:
    for number in (1, 3):
        ingest([tmp_path / "logs"], tmp_path / "out", HOW, share=Share(number, 3))
    outcome = read([tmp_path / "out"])
    assert [fault.span.source for fault in outcome.unreadable] == [
        path.as_posix() for path in logs[1::3]
    ]
    assert "its ingest has not finished" in outcome.unreadable[0].message
    assert len(outcome.reading.accounting) == 12
    everything = {(tmp_path / "out").as_posix(), *(path.as_posix() for path in logs)}
    assert set(inputs([tmp_path])) == everything


def test_the_same_part_twice_is_no_matter(tmp_path: Path, logs: list[Path]) -> None:
    """As when a scheduler runs a task again of which it lost the answer."""
    home = tmp_path / PARTS
    home.mkdir()
    (chunk,) = plan([path.as_posix() for path in logs])
    asked = identity(HOW)
    first = make_part(HOW, asked, home, Path(), chunk)
    assert make_part(HOW, asked, home, Path(), chunk) == first
    assert [path.name for path in home.iterdir()] == [Path(first).name]
    with pytest.raises(Another, match="another assay"):
        make_part(HOW, "that of another version", home, Path(), chunk)


# --- what fails


def test_an_earlier_ingest_is_replaced_whole(tmp_path: Path) -> None:
    ingest([FIXTURES / "markdown_table"], tmp_path / "out", HOW)
    ingest([FIXTURES / "gemm_table"], tmp_path / "out", HOW)
    assert sorted(bytes_of(tmp_path / "out")) == [
        "gemm_table.parquet", "manifest.json", "provenance.parquet", "quarantine.parquet",
    ]  # fmt: skip


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(FileExistsError, match="holds other files"):
        ingest([FIXTURES], tmp_path, HOW)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_bug_costs_its_file_only(
    tmp_path: Path, logs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sometimes(source: Source, *rest: Any, **more: Any) -> Any:
        if source.name.endswith("run0003.log"):
            raise ZeroDivisionError("by zero")
        return folded(source, *rest, **more)

    monkeypatch.setattr("assay.ingest.pipeline.small.folded", sometimes)
    monkeypatch.setattr("assay.ingest.pipeline.folding.folded", sometimes)
    done = ingest([tmp_path / "logs"], tmp_path / "out", HOW)
    (fault,) = done.unreadable
    assert (fault.span.source, fault.code) == (logs[3].as_posix(), Code.UNREADABLE)
    assert "a bug of assay: ZeroDivisionError" in fault.message
    rows_once(tmp_path / "out", logs[:3] + logs[4:])


def test_a_worker_that_dies_costs_its_input_only() -> None:
    todo = [Chunk(((f"{at}a",), (f"{at}b",))) for at in range(6)]
    seen: dict[str, bool] = {}
    for chunk, result in run(partial(deadly, frozenset({"2a", "4b"})), todo, 2):
        for path in chunk.paths:
            assert path not in seen, "each input once"
            seen[path] = result is not None
    assert [path for path, lived in sorted(seen.items()) if not lived] == ["2a", "4b"]
    assert len(seen) == 12


def test_what_a_dead_worker_read_is_named(tmp_path: Path, logs: list[Path]) -> None:
    def engine(work: Any, todo: Sequence[Chunk]) -> Any:
        for chunk in todo:
            for part in chunk.parts():
                dead = part.paths[0].endswith("run0003.log")
                yield part, None if dead else work(part)

    done = ingest([tmp_path / "logs"], tmp_path / "out", HOW, engine=engine)
    assert "the process that read it died" in done.unreadable[0].message
    rows_once(tmp_path / "out", logs[:3] + logs[4:])
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["unreadable"] == [
        {"name": logs[3].as_posix(), "message": done.unreadable[0].message}
    ]
    shutil.rmtree(tmp_path / "out")
    ingest([tmp_path / "logs"], tmp_path / "out", HOW, engine=engine, share=Share(1, 1))
    assert [fault.span.source for fault in read([tmp_path / "out"]).unreadable] == [
        logs[3].as_posix()
    ]


def test_ingested_folders_are_inputs_too(tmp_path: Path, logs: list[Path]) -> None:
    ingest(logs[:10], tmp_path / "a", HOW)
    ingest(logs[10:], tmp_path / "b", HOW)
    ingest([tmp_path / "b", tmp_path / "a"], tmp_path / "both", HOW)
    ingest(logs, tmp_path / "whole", HOW)
    assert bytes_of(tmp_path / "both") == bytes_of(tmp_path / "whole")
    logs[0].write_text(logs[1].read_text())
    outcome = read([logs[0], tmp_path / "a"])
    assert "is there twice" in outcome.unreadable[0].message
    assert len(outcome.reading.accounting) == 10


def test_own_formats_reach_the_workers(tmp_path: Path, few: None) -> None:
    own = ROOT / "examples/own_format/swift_format/swift_step.toml"
    how = recipe({}, known((str(own),)))
    logs = [tmp_path / f"{at}.log" for at in range(6)]
    for at, log in enumerate(logs):
        log.write_text(f"step={at} loss=2.31 tok/s=51234 mem=61.2GiB mfu=43.1%\n")
    one = ingest(logs, tmp_path / "one", how)
    ingest(logs, tmp_path / "two", how, engine=processes(2))
    assert list(one.rows.values()) == [6]
    assert bytes_of(tmp_path / "two") == bytes_of(tmp_path / "one")


@pytest.mark.parametrize("share", [7, pytest.param(2, marks=pytest.mark.slow)])
def test_inputs_read_together_are_read_as_each_alone(share: int, tmp_path: Path) -> None:
    small = [p.as_posix() for p in everything(FIXTURES) if p.stat().st_size < 20_000]
    (tmp_path / "bad.md").write_text(
        "| TP | Sec/it |\n|--|--|\n| 8 | x |\n| 0 | 1.0 |\n| 8 | 1.0 |\n"
    )
    paths = [*small[::share], str(tmp_path / "bad.md")]
    together = read_chunk(HOW, Chunk(tuple((path,) for path in paths)))
    alone = merge([read_chunk(HOW, Chunk(((path,),))).reading for path in paths])
    assert len(together.reading.refused) > 0
    assert list(together.reading.frames) == list(alone.frames)
    for name, frame in alone.frames.items():
        assert_frame_equal(together.reading.frames[name], frame)
    assert_frame_equal(together.reading.provenance, alone.provenance)
    for field in ("refused", "remarks", "accounting", "raw", "overridden"):
        assert getattr(together.reading, field) == getattr(alone, field)


def test_a_script_that_is_not_guarded_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import operator\n"
        "from assay.ingest.inputs.chunks import Chunk\n"
        "from assay.ingest.inputs.workers import run\n"
        "print('begun', flush=True)\n"
        "chunks = [Chunk((('a',),), 1), Chunk((('b',),), 2), Chunk((('c',),), 3)]\n"
        "print(sorted(size for _, size in run(operator.attrgetter('size'), chunks, 2)))\n"
        "print(__spec__, __file__.endswith('script.py'))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["begun", "[1, 2, 3]", "None True", ""]
    assert done.stderr == ""


def test_a_packed_input_is_planned_by_what_it_holds(tmp_path: Path) -> None:
    """Twenty kilobytes of gzip may hold ten megabytes; a torn one is as large as it stands."""
    text = b"step 1 loss 2.5\n" * 100_000
    packed, torn = tmp_path / "run.log.gz", tmp_path / "torn.log.gz"
    packed.write_bytes(gzip.compress(text))
    torn.write_bytes(b"\x1f\x8b")
    named = tmp_path / "plain.log.gz"
    named.write_bytes(b"step 1 loss 2.5\n")
    assert unpacked(str(packed)) == len(text)
    assert [unpacked(str(path)) for path in (torn, named)] == [2, 16]
    assert [chunk.size for chunk in plan([str(packed)])] == [len(text)]
    assert unpacked(str(tmp_path / "none.log.gz")) == 0
