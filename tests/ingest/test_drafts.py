"""`assay formats new LOG`: the format that it writes reads the steps of the log it was made of."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.description import describe
from assay.ingest.formats.own.draft import draft, guessed
from assay.ingest.formats.own.own_format import build
from assay.ingest.formats.own.recognised import recognised
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.source.opening import Source, open_source

from tests.conftest import mostly_slow
from tests.ingest.launched_trainers import GENERIC, KNOWN, LAUNCHED
from tests.ingest.test_trainers import SAMPLES

NOT_LINES = {
    "chinese": "names of columns are Latin",
    "cloud_json": "lines in strings of JSON",
    "colon_block": "a block is no line",
    "coqui": "a block is no line",
    "docker_json": "lines in strings of JSON",
    "llm_foundry": "a block is no line",
    "metrics_csv": "separated values",
    "nemo_rl": "a block is no line",
    "olmo_core_2025": "a block is no line",
    "open_clip": "its last line has a column more than the others",
    "pytorch_tutorial": "its lines begin with a number",
    "tinyllama": "a word in one of its lines",
    "trainer_state": "a JSON document",
    "ultralytics": "columns under a header",
    "wandb_csv": "separated values",
}

NAMES = [
    name
    for name, (kind, _) in LAUNCHED.items()
    if kind in (GENERIC, KNOWN) and name not in NOT_LINES
]


@pytest.mark.parametrize(
    "path",
    mostly_slow(sorted(SAMPLES / f"{name}.log" for name in NAMES), 9),
    ids=lambda path: path.name,
)
def test_what_is_written_reads_the_steps(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    found = guessed(recognised(lines))
    assert found is not None
    made = build(describe("mine.toml", draft(found, "mine")))
    opened = open_source(path)
    assert isinstance(opened, Source)
    steps = read_source(opened, (made, *FORMATS)).frames["mine"]
    _, columns = LAUNCHED[path.stem]
    assert steps.height == max(len(values) for values in columns.values())
