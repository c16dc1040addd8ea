"""`python -m tests.studies.stacks [FOLDER]`: build the packaged stacks from the tables.

Reads the measured tables under ASSAY_CORPUS and writes one TOML file per machine. The same tables
give the same bytes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import polars as pl
from assay.model.stacks.stack import dump
from assay.validate.calibrate.kernel_stacks import part, stack

from tests.studies import measured

TABLES = {"gemm": measured.gemm, "attention": measured.attention, "collective": measured.collective}

SOURCE = "ai-dynamo aiconfigurator tables, Apache-2.0"


def build(corpus: Path, folder: Path) -> None:
    """Write `<machine>.toml` into `folder` for every GPU that has a table of products."""
    folder.mkdir(parents=True, exist_ok=True)
    for gpu, name in measured.GPUS.items():
        frames = {scope: read(corpus, gpu) for scope, read in TABLES.items()}
        parts = {
            scope: part(frame, scope, origin=f"{_file(scope, frame)}: {SOURCE}")
            for scope, frame in frames.items()
            if not frame.is_empty()
        }
        if "gemm" in parts:
            path = folder / f"{name}.toml"
            path.write_text(dump(stack(name, parts)), encoding="utf-8")
            print(path, file=sys.stderr)


def _file(scope: str, frame: pl.DataFrame) -> str:
    return f"{scope}_{frame['gpu'][0].lower()}_{frame['dtype'][0]}.csv"


if __name__ == "__main__":
    corpus = os.environ.get("ASSAY_CORPUS")
    if not corpus:
        sys.exit("set ASSAY_CORPUS to the folder that holds measured/")
    build(Path(corpus), Path(sys.argv[1] if len(sys.argv) > 1 else "model/stacks"))
