"""Files that are none, or never end, or hurt: each with its message and exit code, quickly."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from assay.ingest.formats import FORMATS
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.record import Diagnostic
from assay.ingest.source import opening
from assay.ingest.source.opening import Source, source

from tests.adversarial.inputs import log_lines
from tests.cli.conftest import Run
from tests.conftest import mostly_slow


def pipe(path: Path) -> None:
    os.mkfifo(path)


def circle(path: Path) -> None:
    path.symlink_to(path.name)


def to_nowhere(path: Path) -> None:
    path.symlink_to("nothing")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def listener(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


@pytest.mark.parametrize(
    ("make", "said"),
    [(pipe, "it is a pipe"), (circle, "levels of symbolic links"), (to_nowhere, "No such file"),
     (device, "it is a device"), (listener, "it is a pipe")],
)  # fmt: skip
@pytest.mark.parametrize("command", mostly_slow(["check", "report", "ingest"], 2))
def test_what_is_no_file_is_named(
    assay: Run, tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None], said: str, command: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    make(Path("odd.log"))
    more = ["-o", tmp_path / "out"] if command == "ingest" else []
    alone = assay(command, "odd.log", *more)
    assert alone.code == 2, alone.err
    assert f"odd.log:1:1: unreadable: cannot be read: {said}" in alone.err or said in alone.err
    assert not [*(tmp_path / "out").glob("**/*")]
    beside = assay(command, "odd.log", log, *more)
    assert beside.code in (3, 4), beside.err  # the other is read


def test_links_in_a_circle_end(assay: Run, tmp_path: Path, log: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "back").symlink_to(tmp_path)
    (tmp_path / "a" / "run.log").write_bytes(log.read_bytes())
    done = assay("check", tmp_path / "a")
    assert done.code == 0, done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read(assay: Run, log: Path) -> None:
    log.chmod(0)
    done = assay("report", log)
    assert done.code == 2
    assert "Permission denied" in done.err


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=19).compress(data)


@pytest.mark.parametrize("pack", mostly_slow([gzip.compress, bz2.compress, lzma.compress, _zstd]))
def test_a_stream_that_expands_without_end_is_cut(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "_MOST", 2**20)
    text = log_lines(50).encode()
    whole = source("bomb.log.gz", pack(text + (b" " * 4095 + b"\n") * 2**12))
    assert isinstance(whole, Source)
    sizes = [len(chunk) for chunk in whole.chunks()]
    assert max(sizes) <= 2**27
    assert sum(sizes) <= 2**27
    reading = read_source(whole, FORMATS)
    assert reading.frames["megatron_iteration"].height == 50
    (remark,) = [each for each in reading.remarks if each.code == "cut-short"]
    assert "expands to more than 300 times its size" in remark.message


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, _zstd])
def test_a_stream_in_a_stream_is_refused(pack: Callable[[bytes], bytes]) -> None:
    refused = source("run.log.gz", gzip.compress(pack(log_lines(5).encode())))
    assert isinstance(refused, Diagnostic)
    assert (refused.code, refused.message) == (
        "unreadable", "a compressed stream that holds another one; unpack it once"
    )  # fmt: skip


def test_what_compresses_well_is_read_whole() -> None:
    text = (log_lines(50) * 20).encode()
    whole = source("run.log.gz", gzip.compress(text))
    assert isinstance(whole, Source)
    assert b"".join(whole.chunks()) == text
    assert not whole.fault


def test_stdin_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            return bytes(size)

    class Disk:
        free = 2**24

    monkeypatch.setattr(opening.shutil, "disk_usage", lambda _: Disk)
    with pytest.raises(OSError, match="may not end"):
        opening._spooled(Endless())  # type: ignore[arg-type]


@pytest.mark.parametrize("change", ["grows", "shrinks", "vanishes"])
def test_a_file_that_changes_while_it_is_read(
    assay: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path = tmp_path / "run.log"
    path.write_text(log_lines(2000))
    begin, seen = opening.Source.blocks, []

    def changed(self: Source) -> object:
        for block in begin(self):
            yield block
            if not seen:
                seen.append(change)
                if change == "vanishes":
                    path.unlink()
                else:
                    text = log_lines(2100 if change == "grows" else 100)
                    path.write_text(text)

    monkeypatch.setattr(opening.Source, "blocks", changed)
    done = assay("check", path)
    assert done.code in (0, 1, 2, 3), (done.code, done.err)
    assert seen == [change]


@pytest.mark.parametrize("output", ["run.log", "sub"])
def test_an_output_onto_an_input(assay: Run, tmp_path: Path, log: Path, output: str) -> None:
    (tmp_path / "run.log").write_bytes(log.read_bytes())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "run.log").write_bytes(log.read_bytes())
    for force in ([], ["--force"]):
        done = assay("ingest", tmp_path / output, "-o", tmp_path / output, *force)
        assert done.code == 2, done.err
    assert (tmp_path / "run.log").read_bytes() == log.read_bytes()
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["run.log"]
