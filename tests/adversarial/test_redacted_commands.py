"""No secret that stands in an input is in anything that a command writes under `--redact`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from tests.adversarial.inputs import log_lines, wrong_rows
from tests.adversarial.test_secrets import BODY, HEX, KINDS
from tests.cli.conftest import Run
from tests.conftest import FIXTURES, mostly_slow

CORES = (BODY[:20], HEX, "QWERTYUIOPASDFGH")
"""Of every secret one of these is a part."""


@pytest.fixture(scope="module", params=[4, pytest.param(1, marks=pytest.mark.slow)])
def inputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of inputs in which a share of all secrets stand where people leave them."""
    folder = tmp_path_factory.mktemp("secret")
    secrets = list(KINDS.values())[:: request.param]
    said = [f"  remote_{at} ........................... {each}" for at, each in enumerate(secrets)]
    lines = log_lines(20).replace("-------- end", "\n".join(said) + "\n-------- end", 1)
    wrong = [f" iteration 9/ 10 | lm loss: {each} |" for each in secrets]
    around = [f"export REMOTE='{each}'\ntorchrun train.py --key {each}" for each in secrets]
    (folder / "run.log").write_text("\n".join([*around, lines, *wrong, ""]))
    rows = "".join(f"| 8 | {each} | 10.5 | {each} |\n" for each in secrets)
    head = "| GPUs | Notes | Sec/it | TFLOPs |\n| --- | --- | --- | --- |\n"
    (folder / f"table-{secrets[0]}.md").write_text(f"# Run {secrets[1]}\n\n{head}{rows}")
    cells = [{"cell_type": "code", "source": [], "outputs": [
        {"output_type": "stream", "text": [f" iteration 5/ 10 | note: {each} | lm loss: 1.5 |\n"]}
    ]} for each in secrets]  # fmt: skip
    (folder / "run.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1))
    _of_programs(folder, secrets)
    _of_tables(folder, secrets)
    return folder


def _of_programs(folder: Path, secrets: list[str]) -> None:
    """Output of profilers, shells and trainers, with secrets where they take what they are told."""
    env = "".join(f"declare -x TOKEN_{at}={each}\n" for at, each in enumerate(secrets))
    urls = "".join(f"GET https://ada:{each}@host/x?token={each} step 3 loss: 2.5\n"
                   for each in secrets if "://" not in each)  # fmt: skip
    (folder / "job.out").write_text(env + urls + log_lines(3))
    kernel = {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "dur": 5}
    events = [{**kernel, "name": f"gemm {each}", "ts": 10 * at, "args": {"stream": 7, "device": 0,
               "correlation": at, "note": each}} for at, each in enumerate(secrets)]  # fmt: skip
    steps = [{**kernel, "cat": "user_annotation", "name": f"ProfilerStep#{at}", "ts": 100 * at,
              "dur": 90, "args": {"cwd": secrets[0]}} for at in range(3)]  # fmt: skip
    trace = {"schemaVersion": 1, "trace_name": secrets[1], "traceEvents": [*steps, *events]}
    (folder / "trace.json").write_text(json.dumps(trace, indent=1))
    database = folder / "run.sqlite"
    database.write_bytes((FIXTURES / "nsys" / "three_kernels.sqlite").read_bytes())
    with closing(sqlite3.connect(database)) as base, base:
        base.execute("UPDATE StringIds SET value = value || ' ' || ?", (secrets[2],))
        base.execute("UPDATE NVTX_EVENTS SET text = ?", (secrets[3],))
        base.execute("UPDATE TARGET_INFO_GPU SET name = ?", (secrets[4],))
    state = [{"step": at, "loss": 2.5, "note": each} for at, each in enumerate(secrets)]
    said = {"log_history": state, "global_step": 9, "best_model_checkpoint": secrets[5]}
    (folder / "trainer_state.json").write_text(json.dumps(said, indent=1))
    head = ",".join(f'"{each} - train/loss"' for each in secrets[:3])
    (folder / "wandb.csv").write_text(f'"Step",{head}\n' + "1,2.5,2.5,2.5\n" * 3)


def _of_tables(folder: Path, secrets: list[str]) -> None:
    """Tables in every syntax with secrets for notes, and side files that state them."""
    rows = "".join(f'8,"{each}",10.5,50.1\n' for each in secrets)
    (folder / "table.csv").write_text(f"GPUs,Notes,Sec/it,TFLOPs\n{rows}")
    rows = "".join(f"<tr><td>8</td><td>{each}</td><td>{each}</td></tr>\n" for each in secrets)
    html = f"<table><tr><th>GPUs</th><th>GPU</th><th>TFLOPs</th></tr>\n{rows}</table>\n"
    (folder / "page.html").write_text(html)
    listed = "".join(f"   * - 8\n     - {each}\n     - 50.1\n" for each in secrets)
    head = "   * - GPUs\n     - Notes\n     - TFLOPs\n"
    (folder / "page.rst").write_text(f".. list-table:: T\n   :header-rows: 1\n\n{head}{listed}")
    objects = [{"gpus": 8, "note": each, each: 1, "tflops": 50.1} for each in secrets]
    (folder / "rows.json").write_text(json.dumps(objects, indent=1))
    dump = "".join(f"model_{at}: {each}\n" for at, each in enumerate(secrets))
    (folder / "config.yaml").write_text(f"hidden_size: 4096\nmodel: {secrets[0]}\n{dump}")
    (folder / f"wrong-{secrets[0]}.md").write_text(wrong_rows(40))
    (folder / "table.toml").write_text(f'[configuration]\ngpu = "{secrets[0]}"\n')
    (folder / "job.toml").write_text(f'[configuration]\n"{secrets[1]}" = 5\n')


def _clean(text: str) -> bool:
    return not any(core in text for core in CORES)


def test_ingested_folders_hold_none(assay: Run, inputs: Path, tmp_path: Path) -> None:
    done = assay("ingest", inputs, "-o", tmp_path / "out", "--redact", "--max-bad", "100%")
    assert done.code in (0, 3), done.err
    assert _clean(done.out), done.out
    assert _clean(done.err), done.err
    for path in (tmp_path / "out").rglob("*"):
        assert _clean(path.name)
        if path.suffix == ".parquet":
            for column in pl.read_parquet(path).iter_columns():
                assert _clean(str(column.to_list())), (path.name, column.name)
        elif path.is_file():
            assert _clean(path.read_text("utf-8", "replace")), path.name


def test_without_it_they_are_there(assay: Run, inputs: Path) -> None:
    done = assay("report", "--full", inputs, "--max-bad", "100%")
    assert not _clean(done.out)


def _told(path: Path) -> str:
    """All texts that stand in a file, as those who open it see them."""
    if path.suffix == ".parquet":
        return str([column.to_list() for column in pl.read_parquet(path).iter_columns()])
    if path.suffix == ".duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(str(path), read_only=True) as base:
            tables = [name for (name,) in base.execute("SHOW TABLES").fetchall()]
            return str([base.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables])
    return path.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize(
    "command",
    [["report", "-o", "r.html", "-o", "r.md", "-o", "r.json", "-o", "r.parquet", "--junit",
      "junit.xml", "--max-mape", "step_time=1%"],
     ["check", "--sarif", "r.sarif", "--write-baseline", "known.toml"],
     ["export", "--to", "csv", "-o", "."],
     pytest.param(["export", "--to", "ndjson", "-o", "."], marks=pytest.mark.slow),
     pytest.param(["export", "-o", "all.duckdb"], marks=pytest.mark.slow)],
    ids=" ".join,
)  # fmt: skip
def test_what_commands_write_holds_none(
    assay: Run, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = assay(*command, inputs, "--redact", "--max-bad", "100%")
    assert done.code in (0, 1, 3, 4), done.err
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    for path in written:
        text = path.name + _told(path)
        at = next((text.find(core) for core in CORES if core in text), -1)
        assert at < 0, (path.name, text[max(0, at - 200) : at + 60])


@pytest.mark.parametrize(
    "command",
    mostly_slow(
        [["report", "--full"], ["report"], ["report", "--json"], ["check", "--json"], ["check"]], 3
    ),
    ids=" ".join,
)
def test_what_commands_show_holds_none(assay: Run, inputs: Path, command: list[str]) -> None:
    done = assay(*command, inputs, "--redact", "--max-bad", "100%")
    assert done.code in (0, 1, 3, 4), done.err
    for text in (done.out, done.err):
        at = next((text.find(core) for core in CORES if core in text), -1)
        assert at < 0, text[max(0, at - 200) : at + 60]
