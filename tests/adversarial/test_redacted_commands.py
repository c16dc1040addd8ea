"""No secret that stands in an input is in anything that a command writes under `--redact`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.adversarial.inputs import log_lines
from tests.adversarial.test_secrets import BODY, HEX, KINDS
from tests.cli.conftest import Run

CORES = (BODY[:20], HEX, "QWERTYUIOPASDFGH")
"""Of every secret one of these is a part."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of inputs in which secrets stand where people leave them."""
    folder = tmp_path_factory.mktemp("secret")
    secrets = list(KINDS.values())
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
    return folder


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


@pytest.mark.parametrize(
    "command",
    [["report"], ["report", "--full"], ["report", "--json"], ["check"], ["check", "--json"]],
    ids=" ".join,
)
def test_what_commands_show_holds_none(assay: Run, inputs: Path, command: list[str]) -> None:
    done = assay(*command, inputs, "--redact", "--max-bad", "100%")
    assert done.code in (0, 1, 3, 4), done.err
    for text in (done.out, done.err):
        at = next((text.find(core) for core in CORES if core in text), -1)
        assert at < 0, text[max(0, at - 200) : at + 60]
