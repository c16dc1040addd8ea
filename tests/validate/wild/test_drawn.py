"""Documents drawn in the manner of other trainers: what they print, and nothing else, is bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from assay.ingest.inputs.read import read
from assay.validate.score.assess import understand

STEPS = "\n".join(
    f"step: {n}  loss: {5 - n * 0.01:.4f}  step_time: {2.5 + n * 0.01:.3f} s" for n in range(1, 9)
)

HYDRA = f"""[2024-05-01 10:00:00,000][INFO] - config:
model:
  hidden_size: 4096
  num_layers: 32
data:
  seq_length: 2048
validation:
  seq_length: 512
  micro_batch_size: 64
trainer:
  devices: 8
  num_nodes: 2
  accumulate_grad_batches: 4
{STEPS}
"""

JOBS = f"""# Two jobs

### Job A

`torchrun --nproc_per_node 8 --nnodes 2 train.py --seq-length 2048 --global-batch-size 256`

```
{STEPS}
```

### Job B

`torchrun --nproc_per_node 8 --nnodes 4 train.py --micro-batch-size 1 --global-batch-size 512`

```
{STEPS}
```
"""

PROSE = """# Throughput

We benchmark on 4 nodes with 8xA100 80GB GPUs each. Earlier we used 16 V100 GPUs.

## Llama 2 7B

All runs use sequence length 4096, global batch size 512 and bf16 mixed precision. With a sequence
length of 8192 we ran out of memory, and TP=8 was slower than TP=4.

| PP | MBS | TFLOPs/GPU | tokens/s/GPU |
|----|-----|-----------|------|
| 1 | 2 | 180 | 3700 |

## 42B model

| PP | MBS | TFLOPs/GPU | tokens/s/GPU |
|----|-----|-----------|------|
| 4 | 1 | 170 | 380 |
"""

STALE = """SEQ_LEN=1024
NHIDDEN=2048

## New numbers

SEQ_LEN=$SEQ
NHIDDEN=4096; NLAYERS=32; Model size: 6.7B, ratio=128

| GPUs | GBS | Sec/it | TFLOPs |
|---|---|---|---|
| 8 | 64 | 3.1 | 150 |
"""

CAPTIONS = """## Dual 4090

`python train.py --model_name meta-llama/Llama-2-7b-hf --context_length 512`

| Batch Size | Peak Memory (GiB) | tokens/s/GPU |
|---|---|---|
| 4 | 11.22 | 998 |

*Llama-2 7B with Context Length of 2048*
"""

CASES: list[tuple[str, str, int, dict[str, Any]]] = [
    ("hydra.log", HYDRA, 0, {"seq_len": 2048, "micro_batch": None, "gpus": 16, "hidden": 4096}),
    ("jobs.md", JOBS, 0, {"gpus": 16, "global_batch": 256, "seq_len": 2048, "micro_batch": None}),
    ("jobs.md", JOBS, -1, {"gpus": 32, "global_batch": 512, "seq_len": None, "micro_batch": 1}),
    ("prose.md", PROSE, 0, {"gpus": 32, "machine": "A100-80g", "seq_len": 4096, "tp": None}),
    ("prose.md", PROSE, -1, {"hidden": None, "model_size": 42e9, "global_batch": None}),
    ("stale.md", STALE, 0, {"seq_len": None, "hidden": 4096, "layers": 32, "model_size": 6.7e9}),
    ("captions.md", CAPTIONS, 0, {"seq_len": 2048, "gpus": 2, "machine": "RTX-4090"}),
]


@pytest.mark.parametrize(("name", "text", "row", "expected"), CASES)
def test_what_a_drawn_document_prints_is_bound(
    name: str, text: str, row: int, expected: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    wide = understand(read([tmp_path / name])).cases.configuration.sort("line")
    found = wide.row(row, named=True)
    assert {key: found[key] for key in expected} == expected
