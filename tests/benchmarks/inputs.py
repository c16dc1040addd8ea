"""Inputs of the benchmarks, drawn with a seed: the same bytes on every machine.

In: a folder, a size, a kind. Out: the file. `dense` has iteration lines only, `prefixed` the same
lines behind a launcher's prefix, `configured` behind the dump of arguments that real logs begin
with, which binds a score of values to each; `noise95` and `noise998` have so many of hundred, of
thousand, lines of what training jobs print besides. Dumps of an estimator come with their
configurations.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.conftest import FIXTURES

SEED = 20260401
KINDS = {"dense": 1.0, "prefixed": 1.0, "configured": 1.0, "noise95": 0.05, "noise998": 0.002}
"""Kind of log → share of iteration lines."""
_LINES = 20_000  # drawn and written at a time

ITERATION = (
    " iteration {n:8}/ 9000000 | consumed samples: {samples:12} | consumed tokens: {tokens:14} | "
    "elapsed time per iteration (s): {time:.2f} | learning rate: {rate:.3E} | "
    "global batch size: {batch:5} | lm loss: {loss:.6E} | grad norm: {norm:.3f} | "
    "num zeros: {zeros:.1f} | number of skipped iterations: {skipped:3} | "
    "number of nan iterations:   0 | samples per second: {speed:.3f} | TFLOPs: {flops:.2f} |\n"
)

ARGUMENTS = {
    "world_size": 320, "data_parallel_size": 4, "tensor_model_parallel_size": 8,
    "pipeline_model_parallel_size": 10, "num_layers": 80, "hidden_size": 14400,
    "num_attention_heads": 80, "ffn_hidden_size": 57600, "seq_length": 2048,
    "padded_vocab_size": 50432, "micro_batch_size": 2, "global_batch_size": 2048,
    "params_dtype": "torch.bfloat16", "bf16": True, "fp16": False, "lr": 6e-05,
    "checkpoint_activations": True, "use_distributed_optimizer": False,
}  # fmt: skip
"""Of the job that prints these lines, about: what a dump in front of them says."""

WORDS = (
    "worker", "checkpoint", "shard", "layer", "tensor", "buffer", "stream", "bucket", "socket",
    "interface", "topology", "channel", "ring", "cache", "kernel", "module", "tokenizer", "dataset",
    "index", "document", "sample", "prefetch", "queue", "barrier", "group", "handle",
)  # fmt: skip
TEMPLATES = (
    (3, "\n"),
    (4, "node{n3}:{n4}:{n4} [{n1}] NCCL INFO Channel {n2}/32 : {n1} -> {n2} via P2P/direct\n"),
    (4, "node{n3}:{n4}:{n4} [{n1}] NCCL INFO Trees [{n1}] {n2}/-1/-1->{n2}->{n2}\n"),
    (6, "[2026-03-1{n1} 1{n1}:4{n1}:0{n1},{n3}] [INFO] [{w}.py:{n3}:{w}] {w} took {n2}.{n3} ms\n"),
    (4, " > building {w} map for {n6} {w}s ...\n"),
    (4, "WARNING: {w} {w} is deprecated and will go in {n1}.{n2}; use {w} instead\n"),
    (3, "    self.{w} = {w}({w}, {w}, {n4})\n"),
    (3, "Loading {w}s: {n2}%|####      | {n3}/999 [00:1{n1}<00:0{n1}]\n"),
    (2, "  successfully saved {w} at iteration {n6} to /data/{w}/{w}_{n6}\n"),
    (1, "rank {n3}: peak {w} {n2}.{n1} GB of 80\n"),
)
"""Other lines of a job: weight and line, `{w}` a word and `{n3}` a number of three digits."""


def log(folder: Path, kind: str, size: int) -> Path:
    """A log of at least `size` bytes; drawn anew only if it is not there."""
    path = folder / f"{kind}-{size}.log"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    written = 0
    with part.open("w", encoding="utf-8") as file:
        for block in _blocks(kind):
            written += file.write(block)
            if written >= size:
                break
    return part.rename(path)


def trace(folder: Path, size: int) -> Path:
    """A profiler's trace of at least `size` bytes: the events of a real one again and again."""
    path = folder / f"trace-{size}.json"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    real = gzip.decompress((FIXTURES / "kineto" / "bert_small_h100.json.gz").read_bytes())
    text = json.dumps(json.loads(real), indent=2).encode()  # as traces are found that tools rewrote
    begin, end = text.index(b"[", text.index(b'"traceEvents"')) + 1, text.rindex(b"]")
    events = text[begin:end].strip()
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        written = file.write(text[:begin] + events)
        while written < size:
            written += file.write(b",\n" + events)
        file.write(text[end:])
    return part.rename(path)


def _blocks(kind: str) -> Iterator[str]:
    draw = random.Random(SEED)
    # a pool of lines is drawn once and mixed anew for each block: a gigabyte is drawn in seconds
    pool = noise(draw, _LINES)
    number = 0
    if kind == "configured":
        yield arguments({})
    while True:
        count = round(KINDS[kind] * _LINES)
        records = [_iteration(draw, kind, number + at) for at in range(1, count + 1)]
        number += count
        if count == _LINES:
            yield "".join(records)
            continue
        block = draw.sample(pool, _LINES - count)
        for at, record in zip(
            sorted(draw.choices(range(len(block)), k=count)), records, strict=True
        ):
            block[at] += record
        yield "".join(block)


def arguments(others: Mapping[str, object]) -> str:
    """The dump of arguments that a job begins with, some of them with other values."""
    said = "".join(
        f"  {name} {'.' * (48 - len(name))} {value}\n"
        for name, value in (ARGUMENTS | dict(others)).items()
    )
    return f"{'-' * 24} arguments {'-' * 24}\n{said}{'-' * 20} end of arguments {'-' * 20}\n"


def fleet(folder: Path, count: int) -> Path:
    """A folder of `count` logs of ten iterations each, behind the arguments of different jobs."""
    here = folder / f"fleet-{count}"
    if here.is_dir():
        return here
    part = folder / f".fleet-{count}"
    part.mkdir(parents=True, exist_ok=True)
    draw = random.Random(SEED)
    for at in range(count):
        tensor, pipeline = draw.choice((1, 2, 4, 8)), draw.choice((1, 2, 5, 10))
        job = {
            "tensor_model_parallel_size": tensor, "pipeline_model_parallel_size": pipeline,
            "data_parallel_size": 320 // tensor // pipeline,
            "micro_batch_size": draw.choice((1, 2, 4)),
        }  # fmt: skip
        lines = [_iteration(draw, "configured", n) for n in range(1, 11)]
        (part / f"run{at:05}.log").write_text(arguments(job) + "".join(lines), encoding="utf-8")
    return part.rename(here)


def noise(draw: random.Random, count: int) -> list[str]:
    """So many other lines of a job."""
    weights, lines = zip(*TEMPLATES, strict=True)
    return [_noise(draw, line) for line in draw.choices(lines, weights, k=count)]


def _noise(draw: random.Random, template: str) -> str:
    def drawn(at: re.Match[str]) -> str:
        return draw.choice(WORDS) if at[1] == "w" else str(draw.randrange(10 ** int(at[1][1:])))

    return re.sub(r"\{(\w+)\}", drawn, template)


def _iteration(draw: random.Random, kind: str, number: int) -> str:
    time = 100.0 + 10.0 * draw.random()
    text = ITERATION.format(
        n=number, samples=2048 * number, tokens=2048 * 2048 * number, time=time,
        rate=6e-5 * draw.random() + 1e-7, batch=2048, loss=1.5 + draw.random(),
        norm=draw.random(), zeros=float(draw.randrange(100)), skipped=draw.randrange(3),
        speed=2048 / time, flops=15_680 / time,
    )  # fmt: skip
    return f"[default{number % 8}]:{text}" if kind == "prefixed" else text


def dumps(folder: Path, count: int) -> Path:
    """A folder of `count` distinct dumps of an estimator, each beside its configuration."""
    here = folder / f"dumps-{count}"
    if here.is_dir():
        return here
    model = FIXTURES / "deepflow_dump" / "lstm_core_0.26.txt"
    text = model.read_text(encoding="utf-8")
    said = model.with_suffix(".yaml").read_text(encoding="utf-8")
    part = folder / f".dumps-{count}"
    part.mkdir(parents=True, exist_ok=True)
    draw = random.Random(SEED)
    for at in range(count):
        factor, batch = draw.uniform(0.5, 2.0), draw.randrange(1, 1000)
        varied = re.sub(
            r"(time: )([0-9.]+)", lambda m, by=factor: m[1] + repr(float(m[2]) * by), text
        )
        (part / f"run{at:05}.txt").write_text(varied, encoding="utf-8")
        (part / f"run{at:05}.yaml").write_text(
            re.sub(r"batch_size: [0-9]+", f"batch_size: {batch}", said), encoding="utf-8"
        )
    return part.rename(here)
