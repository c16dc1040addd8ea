"""Ingested folders, damaged or crafted: exit 2 or 4 with the file named, never a bug of ours."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.adversarial.inputs import dump, record, table_rows
from tests.cli.conftest import Ran
from tests.conftest import mostly_slow

STEPS = "megatron_iteration.parquet"

Harm = Callable[[Path], object]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a log with a line that is refused, and of a table."""
    home = tmp_path_factory.mktemp("whole")
    lines = [*(record(n) for n in range(1, 200)), " iteration 200/ 9000000 | lm loss: many |"]
    (home / "run.log").write_text(dump() + "\n".join(lines) + "\n")
    (home / "table.md").write_text(table_rows(12))
    done = Ran(["ingest", str(home / "run.log"), str(home / "table.md"), "-o", str(home / "out"),
                "--max-bad", "100%"])  # fmt: skip
    assert done.code == 0, done.err
    return home / "out"


def cut(name: str, share: float) -> Harm:
    def harm(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(len(data) * share)])

    return harm


def bytes_of(name: str, data: bytes) -> Harm:
    return lambda folder: (folder / name).write_bytes(data)


def overwritten(name: str) -> Harm:
    def harm(folder: Path) -> None:
        data = bytearray((folder / name).read_bytes())
        data[4 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4)
        (folder / name).write_bytes(data)

    return harm


def changed(name: str, *columns: pl.Expr) -> Harm:
    def harm(folder: Path) -> None:
        frame = pl.read_parquet(folder / name)
        frame.with_columns(*columns).write_parquet(folder / name)

    return harm


def without(name: str, column: str) -> Harm:
    return lambda folder: pl.read_parquet(folder / name).drop(column).write_parquet(folder / name)


def shortened(name: str) -> Harm:
    return lambda folder: pl.read_parquet(folder / name).head(2).write_parquet(folder / name)


def said(**changes: object) -> Harm:
    def harm(folder: Path) -> None:
        path = folder / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return harm


def of_first_source(**changes: object) -> Harm:
    def harm(folder: Path) -> None:
        path = folder / "manifest.json"
        manifest: dict[str, Any] = json.loads(path.read_text())
        manifest["sources"][0] |= changes
        path.write_text(json.dumps(manifest))

    return harm


HARMS: dict[str, Harm] = {
    **{f"{name} cut at {share}": cut(f"{name}.parquet", share)
       for name in ("megatron_iteration", "provenance", "quarantine") for share in (0, 0.5, 0.98)},
    **{f"{name} gone": lambda folder, name=name: (folder / f"{name}.parquet").unlink()
       for name in ("megatron_iteration", "provenance", "quarantine")},
    "frame is text": bytes_of(STEPS, b"a,b\n1,2\n"),
    "frame is a foreign Parquet": lambda folder: pl.DataFrame({"a": [1]}).write_parquet(
        folder / STEPS),
    "frame is another frame": lambda folder: shutil.copy(
        folder / "markdown_table.parquet", folder / STEPS),
    "frame is overwritten": overwritten(STEPS),
    "provenance is overwritten": overwritten("provenance.parquet"),
    "frame is a folder": lambda folder: ((folder / STEPS).unlink(), (folder / STEPS).mkdir()),
    "line is text": changed(STEPS, pl.col("line").cast(pl.String)),
    "line is wide": changed(STEPS, pl.col("line").cast(pl.Int64)),
    "line is null": changed(STEPS, pl.lit(None, pl.UInt32).alias("line")),
    "source is null": changed(STEPS, pl.lit(None, pl.String).alias("source")),
    "source is foreign": changed(STEPS, pl.lit("nobody.log").alias("source")),
    "time is text": changed(STEPS, pl.col("step_time").cast(pl.String)),
    "time is zero": changed(STEPS, pl.col("step_time") * 0),
    "time is below zero": changed(STEPS, -pl.col("step_time")),
    "iteration is null": changed(STEPS, pl.lit(None, pl.Int64).alias("iteration")),
    "degree is zero": changed(STEPS, pl.lit(0, pl.Int64).alias("tp")),
    "degree of a case is zero": changed("cases.parquet", pl.col("tp") * 0),
    "a case is gone": changed("cases.parquet", pl.col("case") + 1),
    "others are numbers": changed(STEPS, pl.lit(1).alias("other")),
    "a column is gone": without(STEPS, "step_time"),
    "provenance has no field": without("provenance.parquet", "field"),
    "provenance has no lines": changed("provenance.parquet", pl.lit(None, pl.UInt32).alias("line")),
    "provenance is wide": changed("provenance.parquet", pl.col("line").cast(pl.Float64)),
    "quarantine has no code": changed("quarantine.parquet", pl.lit("odd").alias("code")),
    "quarantine has no text": changed("quarantine.parquet", pl.lit(None, pl.String).alias("text")),
    "rows are lost": shortened(STEPS),
    "manifest is empty": bytes_of("manifest.json", b""),
    "manifest is cut": cut("manifest.json", 0.5),
    "manifest is a list": bytes_of("manifest.json", b"[]"),
    "manifest is null": bytes_of("manifest.json", b"null"),
    "manifest is deep": bytes_of("manifest.json", b"[" * 100_000),
    "manifest is no UTF-8": bytes_of("manifest.json", b"\xff\xfe{}"),
    "sources are a number": said(sources=3),
    "sources are empty": said(sources=[]),
    "sources are null": said(sources=[None]),
    "frames are a list": said(frames=[]),
    "frames name a path": said(frames={"../run": {"rows": 1, "schema": "0"}}),
    "layout is text": said(layout="1"),
    "formats are text": said(formats="x"),
    "unreadable is a number": said(unreadable=[3]),
    "lines are text": of_first_source(lines="many"),
    "lines are below zero": of_first_source(claimed=-1),
    "name is a number": of_first_source(name=3),
    "suspicious is null": of_first_source(suspicious=None),
}  # fmt: skip

COMMANDS = ("report", "check", "export", "ingest", "diff")


@pytest.mark.parametrize("name", mostly_slow(HARMS, 14))
def test_a_damaged_folder_is_named(whole: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "hurt"
    shutil.copytree(whole, folder)
    HARMS[name](folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for command in COMMANDS:
        out = tmp_path / command
        if command == "export":
            out.mkdir()
        more = {"export": ["-o", out, "--to", "csv"], "ingest": ["-o", out],
                "diff": [whole]}.get(command, [])  # fmt: skip
        done = Ran([command, str(folder), *map(str, more)])
        # ingest looks at what it copies, not at each value: who reads it does
        copied = command == "ingest" and done.code == 0
        assert done.code in (2, 4) or copied, (command, done.code, done.err)
        assert "hurt" in done.err or copied, (command, done.err)
        if copied:
            again = Ran(["check", str(out)])
            assert again.code in (2, 4), (again.code, again.err)
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert after == before, "an input was changed"
