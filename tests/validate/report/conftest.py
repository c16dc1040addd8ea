"""A small report that has something for every part of the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.validate.score.assess import Report, assess

from tests.conftest import FIXTURES

LOG = "arguments/gpt2_18b_v100"
PARTS = (
    ("gemm_table/h100_bf16", ".csv", slice(0, 40)),
    ("markdown_table/mosaic_2022", ".md", slice(0, 40)),
    (LOG, ".log", slice(None)),
)


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The beginning of a GEMM table and of a published table, a log, a dump."""
    folder = tmp_path_factory.mktemp("inputs")
    found = []
    for name, suffix, lines in PARTS:
        whole = (FIXTURES / f"{name}{suffix}").read_text().splitlines(keepends=True)
        path = folder / f"{Path(name).name}{suffix}"
        more = ",bf16,1,64,64,64,5.0\n" if suffix == ".csv" else ""  # of a machine nobody names
        path.write_text("".join(whole[lines]) + more)
        side = FIXTURES / f"{name}.toml"
        path.with_suffix(".toml").write_text(side.read_text())
        found.append(path)
    dump = FIXTURES / "ulysses_trace" / "eight_ranks.log"
    (folder / dump.name).write_text(dump.read_text())
    return [*found, folder / dump.name]


@pytest.fixture(scope="session")
def small(inputs: list[Path]) -> Report:
    return assess(inputs)
