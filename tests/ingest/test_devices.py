"""A device that is named is never another's: in titles, sentences, columns and cells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from assay.ingest.columns.titles import counted_devices, devices_in_all, titled
from assay.ingest.inputs.read import read
from assay.ingest.schema.record import Line
from assay.ingest.statements.context import read_context
from assay.ingest.statements.phrases import phrases
from assay.ingest.vocabulary import devices as vocabulary
from assay.ingest.vocabulary.devices import PEAKS, devices, only, peaks, several, signed
from assay.model.machines.datasheets import candidates, machines

from tests.conftest import mostly_slow

KNOWN = sorted({name for one in machines().values() for name in (one.name, one.model)})

OTHERS = [
    "Trainium 3", "MTIA", "Maia 100", "Cerebras WSE-3", "SN40L", "Groq", "MLU590", "BW1000",
    "Ascend 910C", "Arc A770", "RTX 3090", "GB10", "T4", "P100", "L4", "V100S", "K80", "CS-3",
    "NVIDIA L60", "AMD MI430X", "Gaudi 4", "RTX 2080 Ti", "Intel Arc B580", "BR104", "MTT S4000",
    "RTX 5000 Ada", "RTX 4000 SFF Ada", "RTX PRO 4500", "rtx2000_ada",
]  # fmt: skip
"""Devices that `machines.toml` may lack, as their makers and others write them."""

EVERY = [*KNOWN, *OTHERS]

BESIDE = ("A100", "H100")


def _others(name: str) -> list[str]:
    return [other for other in BESIDE if devices(other)[0].key != devices(name)[0].key]


@pytest.mark.parametrize("name", EVERY)
def test_a_name_is_one_device(name: str) -> None:
    for text in (name, f"8x {name}", f"on {name}s in bf16", f"- {name}: fast", f"({name})"):
        (found,) = devices(text)
        assert found.text in name
        assert found.text in text[found.start : found.end]
        assert len(signed(text)) == len(text)
        assert found.kind or only(text)
        assert not several(text)


@pytest.mark.parametrize("name", KNOWN)
def test_a_known_name_means_its_machine(name: str) -> None:
    device = only(f"on 8 {name} in bf16")
    assert device is not None
    assert set(candidates(device.text)) == set(candidates(name))


@pytest.mark.parametrize("name", EVERY)
def test_a_sentence_about_two_says_nothing_of_one(name: str) -> None:
    for other in _others(name):
        for text in (
            f"bf16 on {name} and fp16 on {other}",
            f"on 8x {other} and on 8x {name}, sequence length 2048, bf16",
            f"All rows: {name}, {other}, micro-batch 4, sequence length 2048",
            f"Setup: 16 nodes of 8 {other}. Then 16 nodes of 8 {name}. TP 4, PP 2",
        ):
            said = phrases(Line(1, text, 0, {}))
            assert not {"gpu", "gpus", "gpus_per_node"} & said.keys(), text
            assert said.get("model") is None
            title = titled(Line(1, f"## {text}", 0, {}))
            assert title["gpu"].state == "unknown", text
            assert peaks(text) is None


@pytest.mark.parametrize("name", EVERY)
def test_a_title_names_its_device_and_no_model(name: str) -> None:
    title = titled(Line(1, f"## Training on 8x {name} (bf16)", 0, {}))
    assert title["gpu"].text in name
    assert title["gpus"].text == "8"
    assert not {"model", "model_size"} & title.keys()


def _document(name: str, other: str) -> str:
    return f"""# Results on {other}

All rows ran on 8x {other} with micro-batch 4 and sequence length 2048.

## Results on {name}

8x {name}, micro-batch 4, sequence length 2048, bf16.

| Model | TP | Tokens/s/GPU |
|---|---|---|
| Llama 7B | 2 | 101 |

## By device

| Model | GPU | TP | Tokens/s/GPU |
|---|---|---|---|
| Llama 7B | {name} | 2 | 102 |
| Llama 7B | 8x {name} | 2 | 103 |

## {name} and {other}

| Model | TP | {name} tokens/s/GPU | {other} tokens/s/GPU |
|---|---|---|---|
| Llama 7B | 2 | 104 | 105 |
"""


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_no_row_has_the_device_of_another(share: int, tmp_path: Path) -> None:
    names = [(name, other) for name in EVERY[::share] for other in _others(name)[:1]]
    for at, (name, other) in enumerate(names):
        (tmp_path / f"{at}.md").write_text(_document(name, other), encoding="utf-8")
    frame = read([tmp_path]).reading.frames["markdown_table"]
    seen = 0
    for row in frame.iter_rows(named=True):
        name, other = names[int(Path(row["source"]).stem)]
        wanted = other if row["tokens_per_gpu_per_s"] == 105 else name
        assert row["gpu"] is None or row["gpu"].removeprefix("8x ") in wanted, (row["source"], row)
        seen += row["gpu"] is not None
    assert seen > 4 * len(names)


def test_the_peaks_are_those_of_devices_that_are_known() -> None:
    assert all(
        peaks(f"on 8x {name} in bf16") == PEAKS[name] for name in PEAKS if not name.isdigit()
    )


@pytest.mark.parametrize("around", ["{}", "8x {}\nseq_len=2048", "| 8 | 1 |\non {}, bf16\n| 9 |"])
def test_what_says_that_no_name_is_there_is_right(around: str) -> None:
    """Names are looked for only where a number or a word may be one: in all that name a device."""
    spelled = {form(name) for name in EVERY for form in (str, str.lower, str.upper, str.title)}
    for text in (around.format(name) for name in sorted(spelled)):
        found = [*re.finditer(vocabulary._DEVICE, text)] if vocabulary._HINT.search(text) else []
        assert [device.start for device in devices(text)] == [each.start() for each in found], text


COUNTED = (
    "All experiments ran on a server with 8 {} GPUs.", "Trained on 8 {} GPUs, bf16",
    "## 8 {} GPUs", "on one node of 8 {} GPUs", "7 nodes of 8 {} GPUs", "7 nodes, {} cards",
    "8 {} GPUs per node, batch size 8 on {} GPUs", "GPUs: {}", "num_gpus: {}", "--gpus {}",
    "using {} GPUs", "a node with {} GPUs", "{} chips were used", "1 node, {} GPUs",
    "{} instances and 8 {} devices", "{} 显卡 8 张", "8 卡 {} 服务器", "auf 8 {}", "sur 8 GPU {}",
    "на 8 {}", "{} を 8 枚", "{} 8장", "{} ×8", "dual {} cards, batch of 8 for each {} GPU",
)  # fmt: skip
"""Texts that count devices, or name them where a count could stand."""

MACHINES = ("gpus", "nodes", "gpus_per_node", "batch_size", "micro_batch", "layers", "seq_len")


@pytest.mark.parametrize(
    "name", mostly_slow([*EVERY, "3090", "4090", "RTX 6000 Ada", "v5p-128", "910B"], 5)
)
def test_a_number_of_a_name_is_no_count(name: str) -> None:
    inside = set(re.findall("[0-9]+", name)) - {"1", "2", "7", "8"}
    for text in (each.replace("{}", name) for each in COUNTED):
        line = Line(1, text, 1, {})
        cells = [
            *titled(line).items(),
            *(
                pair
                for said in read_context("a.md", [line], set(), {}).statements
                for pair in said.values.items()
            ),
        ]
        told = {c.text for name, c in cells if name in MACHINES and c.state == "value"}
        told |= {counted_devices(text), devices_in_all(text)} - {None}
        assert not told & inside, text
