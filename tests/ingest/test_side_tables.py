"""Tables of one input that its side file describes."""

from __future__ import annotations

from pathlib import Path

from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.own_format import load
from assay.ingest.inputs.read import read
from assay.ingest.schema.reading import Outcome

TABLE = "cfg,workers,t16,t8\ntp2,8,1871.4,1310.2\ntp4,16,2044.9,\n"

SIDE = """
[configuration]
seq_len = 4096

[tables]
header = ["cfg", "workers", "t16"]
split = { cfg = 'tp(?P<tp>[0-9]+)' }
melt = { labels = { t16 = "bf16", t8 = "fp8" }, name = "dtype", value = "step_time", unit = "ms" }

[columns.gpus]
labels = ["workers"]

[columns.step_time]
labels = []
unit = "s"
quantity = "step_time"
"""


def _times(outcome: Outcome) -> dict[str, list[tuple[float, str, int]]]:
    return {
        name: [
            (round(time, 9), dtype, gpus)
            for time, dtype, gpus in frame.sort("source", "line", maintain_order=True)
            .select("step_time", "dtype", "gpus")
            .rows()
        ]
        for name, frame in outcome.reading.frames.items()
        if frame.height
    }


WANTED = [(1.8714, "bf16", 8), (1.3102, "fp8", 8), (2.0449, "bf16", 16)]


def test_a_side_file_describes_the_tables_of_its_input_alone(tmp_path: Path) -> None:
    (tmp_path / "sweep.csv").write_text(TABLE)
    (tmp_path / "sweep.toml").write_text(SIDE)
    (tmp_path / "other.csv").write_text(TABLE)
    assert _times(read([tmp_path])) == {"sweep": WANTED}


def test_inputs_of_one_name_share_a_description_or_have_one_each(tmp_path: Path) -> None:
    for at, side in (("a", SIDE), ("b", SIDE), ("c", SIDE.replace('"ms"', '"s"'))):
        (tmp_path / at).mkdir()
        (tmp_path / at / "sweep.csv").write_text(TABLE)
        (tmp_path / at / "sweep.toml").write_text(side)
    found = _times(read([tmp_path]))
    first, second = sorted(found)
    assert (first, found[first]) == ("sweep", WANTED + WANTED)
    assert second.startswith("sweep_")
    assert [time for time, _, _ in found[second]] == [1871.4, 1310.2, 2044.9]


def test_a_side_file_that_cannot_be_used_says_why_and_the_input_is_read(tmp_path: Path) -> None:
    (tmp_path / "sweep.csv").write_text("gpus,step_ms\n8,812.4\n")
    (tmp_path / "sweep.toml").write_text(SIDE.replace("[columns.gpus]", "[columns.gpus]\nunti = 1"))
    outcome = read([tmp_path])
    (fault,) = outcome.unreadable
    assert "columns.gpus.unti: is no key of a format; did you mean 'unit'?" in fault.message
    assert outcome.reading.frames["markdown_table"]["step_time"].to_list() == [0.8124]


def test_a_description_that_is_given_and_beside_its_input_counts_once(tmp_path: Path) -> None:
    sample = "\n[[samples]]\ntable = '''\ncfg,workers,t16\ntp2,8,1.0\n'''\n"
    sample += 'values = { tp = 2, gpus = 8, dtype = "bf16", step_time = "1.0 ms" }\n'
    text = 'name = "mine"\n' + SIDE.replace("[configuration]\nseq_len = 4096\n", "") + sample
    (tmp_path / "sweep.csv").write_text(TABLE)
    (tmp_path / "sweep.toml").write_text(text)
    given = load(tmp_path / "sweep.toml")
    assert _times(read([tmp_path / "sweep.csv"])) == {"mine": WANTED}
    assert _times(read([tmp_path / "sweep.csv"], formats=(*FORMATS, given))) == {"mine": WANTED}
