"""Rates whose label does not say of whom, decided by the peak of the device that ran them."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.vocabulary.devices import PEAKS
from assay.model.machines.datasheets import machines

HEAD = "| GPUs | GPU | Global batch size | Step time (s) | TFLOPS |\n|---|---|---|---|---|\n"


def _rates(folder: Path, *rows: str) -> list[float | None]:
    page = folder / "page.md"
    page.write_text(HEAD + "\n".join(rows) + "\n")
    return read([page]).reading.frames["markdown_table"].sort("line")["model_flops_rate"].to_list()


def test_more_than_a_device_can_is_of_all(tmp_path: Path) -> None:
    assert _rates(tmp_path, "| 8 | A100-80GB | 64 | 9.1 | 1152 |") == [None]
    assert _rates(tmp_path, "| 8 | H100 | 64 | 9.1 | 1152 |") == [1152e12]  # in fp8 it can


def test_one_wrong_number_is_left_to_the_laws(tmp_path: Path) -> None:
    rows = [f"| 8 | A100-80GB | 64 | 9.1 | {rate} |" for rate in (144.2, 1442.0, 151.0)]
    assert _rates(tmp_path, *rows) == [144.2e12, 1442e12, 151e12]


@pytest.mark.parametrize("name", PEAKS)
def test_peaks_are_those_of_the_datasheets(name: str) -> None:
    found = [m for at, m in machines().items() if name.casefold() in at.casefold().split("-")]
    assert found
    for machine in found:
        own = {dtype: rate / 1e12 for dtype, rate in machine.peaks.items()}
        assert max(own.get("bf16", 0.0), own["fp16"]) <= PEAKS[name][0]
        assert max(own.get("fp8", 0.0), own["fp16"]) <= PEAKS[name][1]


OF_ONE = (
    "Throughput is reported in tokens per second per GPU (TPS).",
    "TPS (tokens/s/GPU) was averaged over 50 steps.",
    "We report tps per device below.",
)


@pytest.mark.parametrize("text", [*OF_ONE, "Throughput is in tokens per second (TPS)."])
def test_an_abbreviation_is_of_whom_the_text_says(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    table = "| GPUs | TPS | MFU |\n|---|---|---|\n| 8 | 5512 | 32% |\n| 16 | 5412 | 31% |\n"
    page.write_text(f"# Llama 3.1 8B\n\n{text}\n\n{table}")
    (row, _) = read([page]).reading.frames["markdown_table"].sort("line").rows(named=True)
    own = (None, 5512.0) if text in OF_ONE else (5512.0, None)
    assert (row["tokens_per_s"], row["tokens_per_gpu_per_s"]) == own
