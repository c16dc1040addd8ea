"""Settings that a document says of one table, or of one machine, and not of the next."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read
from assay.validate.score.assess import understand

from tests.conftest import mostly_slow

ONE = """
| Model | Tokens/s/GPU | Optimizer |
|---|---|---|
| Llama 7B | 2,310 | Adam |
"""
TWO = """
| Model | TFLOP/s/GPU | Loss |
|---|---|---|
| GPT 22B | 141.2 | 2.1 |
"""

NAMES = ("gpu", "gpus", "tp", "seq_len", "micro_batch")

DOCUMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "another machine, said below": (
        "8x A100 80GB, TP=2, sequence length 2048.\n"
        f"{ONE}\nOn 64 H100, sequence length 8192:\n{TWO}",
        {"gpu": "H100", "gpus": 64, "seq_len": 8192},
    ),
    "titles in bold": (
        f"**8x A100, TP=2**\n{ONE}\n**64x H100**\n{TWO}",
        {"gpu": "H100", "gpus": 64},
    ),
    "captions below": (
        f"{ONE}\n*Table 1: 8x A100, TP=2, sequence length 2048.*\n"
        f"{TWO}\n*Table 2: 64 H100, TP=8.*\n",
        {"gpu": "H100", "gpus": 64, "tp": 8},
    ),
    "captions above": (
        f"*Table 1: 8x A100, TP=2, sequence length 2048.*\n{ONE}\n*Table 2: 64 H100.*\n{TWO}\n",
        {"gpu": "H100", "gpus": 64},
    ),
    "more of them": (
        f"## Small\n\n8 GPUs, micro batch size 4, sequence length 2048\n{ONE}\n### Large\n\n"
        f"On 64 GPUs:\n{TWO}",
        {"gpus": 64, "seq_len": 2048},
    ),
    "bullets of several": (
        f"- run A: 8x A100, TP=2\n- run B: 64 H100, TP=8\n{TWO}",
        {},
    ),
    "of every run, in the introduction": (
        f"All experiments were run on A800, one card unless stated otherwise.\n\n## Small\n{ONE}\n"
        f"## Large\n\nThe data are public.\n{TWO}",
        {"gpu": "A800", "gpus": 1},
    ),
    "what opens at a click": (
        f"8 A800, TP=2.\n\n<details>\n<summary>64x H100</summary>\n{TWO}\n</details>",
        {"gpu": "H100", "gpus": 64},
    ),
    "a tab": (
        f'On 8 A800.\n\n=== "64x H100"\n{TWO}',
        {"gpu": "H100", "gpus": 64},
    ),
    "named right below": (
        f"{ONE}\nThe second.\n{TWO}\nTraining speed of two models on 64xH100.\n",
        {"gpu": "H100", "gpus": 64},
    ),
    "said below of something else": (
        f"{TWO}\nTraining speed is worse than on 64xH100.\n",
        {},
    ),
    "of every run, in a section of its own": (
        f"## What we did\n\nEvery run used 64 H100.\n\n## Large\n{TWO}",
        {"gpu": "H100", "gpus": 64},
    ),
    "of every run of others": (
        f"## Related work\n\nEvery run used 64 H100.\n\n## Large\n{TWO}",
        {},
    ),
    "the machine that a program prints": (
        f"## System info\n\n```\n- GPU type: 8x H100 80GB HBM3\n```\n\n## Large\n{TWO}",
        {"gpu": "H100 80GB HBM3", "gpus": 8},
    ),
    "on what both ran that are compared": (
        f"On A800 nodes (40 GB) we compare with Foo on 8 V100. Tokens per second:\n{TWO}",
        {"gpu": "A800"},
    ),
    "possible, and not done": (
        f"All models can be trained on 8 A800.\n{TWO}",
        {},
    ),
    "one device each": (
        f"We train a small model of speech on recordings of six languages with the trainer of a "
        f"library that many know, on **one** GPU each. Audio is padded.\n\n## Large\n{TWO}",
        {"gpus": 1},
    ),
    "of every run but one": (
        f"All runs but the last were on A800 in bf16.\n\n## Large\n{TWO}",
        {},
    ),
    "another program": (
        f"We compare with DeepSpeed on 8x V100 (TP=4).\n{TWO}",
        {},
    ),
    "another model": (
        f"BLOOM-176B was trained on 384 A100 with TP=4.\n{TWO}",
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", mostly_slow(DOCUMENTS, 2))
def test_the_last_table_has_its_own_settings(name: str, tmp_path: Path) -> None:
    text, expected = DOCUMENTS[name]
    path = tmp_path / "page.md"
    path.write_text(f"# Training performance\n\n{text}", encoding="utf-8")
    last = understand(read([path])).cases.configuration.sort("line").row(-1, named=True)
    found = {each: last[each] for each in NAMES if last[each] is not None}
    assert found == expected
