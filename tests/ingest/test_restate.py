"""Values stated of an ingested folder give what the same give when stated of the inputs."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.inputs.paths import inputs as paths_of
from assay.ingest.inputs.read import read
from assay.ingest.schema.reading import Reading
from assay.ingest.store.write import save
from polars.testing import assert_frame_equal

from ..conftest import FIXTURES

TABLE = """\
# Results
| Nodes | GPUs | MBS | TP | Sec/it | TFLOPs |
|------:|-----:|----:|---:|-------:|-------:|
|     4 |   32 |   2 |  8 |   1.50 |  98.50 |
|     8 |      |   2 |  8 |   1.25 |  97.25 |
|       |      |   2 |  8 |   1.75 |  96.25 |
"""

SHARE = 6
"""One fixture in so many is enough for a run of the tests with every change."""

STATED = [
    {"gpu": "A100-80g"},
    {"gpu": "V100-32g", "gpus": "64"},
    {"nodes": "16", "seq_len": "4096", "vocab": "50304"},
]


def _same(one: Reading, other: Reading) -> None:
    assert one.frames.keys() == other.frames.keys()
    for name, frame in one.frames.items():
        assert_frame_equal(frame, other.frames[name])
    assert_frame_equal(one.provenance, other.provenance)
    assert one.refused == other.refused
    assert one.overridden == other.overridden


@pytest.fixture(
    scope="module",
    params=[SHARE, pytest.param(1, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def inputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A share of the fixtures, or all, and a table behind a side file."""
    folder = tmp_path_factory.mktemp("stated")
    (folder / "table.md").write_text(TABLE)
    (folder / "table.toml").write_text('[configuration]\ngpu = "H100"\ngpus_per_node = 8\n')
    return [*map(Path, paths_of([FIXTURES])[:: request.param]), folder / "table.md"]


@pytest.fixture(scope="module")
def frames(inputs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what they give when nothing is stated."""
    folder = tmp_path_factory.mktemp("ingested") / "frames"
    save(read(inputs), folder)
    return folder


@pytest.mark.parametrize("stated", STATED, ids="-".join)
def test_a_folder_takes_what_is_stated_as_its_inputs_would(
    stated: dict[str, str], inputs: list[Path], frames: Path
) -> None:
    direct = read(inputs, stated=stated).reading
    later = read([frames], stated=stated).reading

    _same(later, direct)
    rows = direct.frames["markdown_table"]
    assert (
        rows.filter(source=inputs[-1].as_posix())["gpu"].to_list()
        == [stated.get("gpu", "H100")] * 3
    )


@pytest.mark.slow
@pytest.mark.parametrize("stated", STATED, ids="-".join)
def test_so_does_the_corpus(stated: dict[str, str], corpus: Path, tmp_path: Path) -> None:
    save(read([corpus / "corpus"]), tmp_path / "frames")
    direct = read([corpus / "corpus"], stated=stated).reading
    _same(read([tmp_path / "frames"], stated=stated).reading, direct)


def test_a_value_that_does_not_fit_is_told(tmp_path: Path) -> None:
    (tmp_path / "table.md").write_text(TABLE)
    save(read([tmp_path / "table.md"]), tmp_path / "frames")
    with pytest.raises(ValueError, match="gpus was stated as 'many', expected an integer"):
        read([tmp_path / "frames"], stated={"gpus": "many"})
