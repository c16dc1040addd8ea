#!/usr/bin/env python3
"""Measure matrix products, batched products and attention on your own GPU.

    python examples/measure_gemm.py > h100.csv
    assay calibrate h100.csv -o h100.toml
    assay report other_tables/ --stack h100.toml

Needs PyTorch with a CUDA (or ROCm) device; assay itself never imports it. The default output is
CSV: a table of products, then one of attention, each with its header. `--format lines` prints a
line per single product instead. Each time is the median of several repeats, each of which queues
enough calls to outlast the launch; the L2 cache is overwritten before each repeat unless `--warm`
is given.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

SIZES = (512, 1024, 1536, 2048, 3072, 4096, 5120, 8192, 12288, 16384)
ROWS = (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
HEAD_SIZES = (64, 80, 96, 100, 112, 128, 150, 160)
"""100 and 150 are no multiples of 8: what misaligned products cost is a parameter of its own."""

GROUPS = ((32, 32), (32, 8), (64, 8))
CACHE_BYTES = 512 * 2**20
MOST_FLOP, MOST_BYTES = 2e13, 16e9


def products() -> Iterator[tuple[int, int, int, int]]:
    """Single products (b, m, n, k), then the batched ones of unfused attention."""
    for n, k in itertools.product(SIZES, SIZES):
        for m in ROWS:
            yield 1, m, n, k
    for size, seq, heads in itertools.product(HEAD_SIZES, (1024, 2048), (16, 64)):
        yield heads, seq, seq, size  # scores
        yield heads, seq, size, seq  # weighted values


def attentions() -> Iterator[tuple[int, int, int, int, int]]:
    """Calls (batch, seq, heads, kv_heads, head_dim) of causal attention."""
    for seq, batch, (heads, kv_heads) in itertools.product(
        (512, 1024, 2048, 4096, 8192, 16384), (1, 4, 16), GROUPS
    ):
        if batch * seq <= 65536:
            yield batch, seq, heads, kv_heads, 128


class Clock:
    """Times calls on the device with events."""

    def __init__(self, torch: Any, repeats: int, *, cold: bool) -> None:
        self.torch = torch
        self.repeats = repeats
        self.flush = torch.empty(CACHE_BYTES, dtype=torch.int8, device="cuda") if cold else None

    def seconds(self, call: Callable[[], object]) -> float:
        """Median time of one call."""
        for _ in range(3):
            call()
        single = self._elapsed(call, 1)
        count = max(1, min(100, int(2e-3 / max(single, 1e-6))))
        return statistics.median(self._elapsed(call, count) for _ in range(self.repeats))

    def _elapsed(self, call: Callable[[], object], count: int) -> float:
        cuda = self.torch.cuda
        begin, end = (cuda.Event(enable_timing=True) for _ in range(2))
        if self.flush is not None:
            self.flush.zero_()
        cuda.synchronize()
        begin.record()
        for _ in range(count):
            call()
        end.record()
        cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3 / count


def measure_products(torch: Any, clock: Clock, dtype: str) -> Iterator[tuple[int, ...]]:
    """Yields b, m, n, k and nanoseconds."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[dtype]
    for b, m, n, k in products():
        if 2.0 * b * m * n * k > MOST_FLOP or 2.0 * b * (m * k + k * n + m * n) > MOST_BYTES:
            continue
        left = torch.randn(b, m, k, dtype=kind, device="cuda")
        right = torch.randn(b, k, n, dtype=kind, device="cuda")
        if b == 1:
            left, right = left[0], right[0]
        time = clock.seconds(lambda left=left, right=right: torch.matmul(left, right))
        yield b, m, n, k, round(1e9 * time)


def measure_attention(torch: Any, clock: Clock, dtype: str) -> Iterator[tuple[int, ...]]:
    """Yields batch, seq, heads, kv_heads, head_dim and nanoseconds."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}[dtype]
    fused = torch.nn.functional.scaled_dot_product_attention
    for batch, seq, heads, kv_heads, size in attentions():
        shape = (batch, heads, seq, size), (batch, kv_heads, seq, size)
        query, key, value = (
            torch.randn(shape[place > 0], dtype=kind, device="cuda") for place in range(3)
        )
        shared = {"enable_gqa": True} if kv_heads != heads else {}
        call = lambda q=query, k=key, v=value, s=shared: fused(q, k, v, is_causal=True, **s)  # noqa: E731
        try:
            time = clock.seconds(call)
        except (TypeError, RuntimeError) as fault:  # an old release, or no fused kernel
            print(f"attention {batch}x{seq}x{heads}x{kv_heads}: {fault}", file=sys.stderr)
            continue
        yield batch, seq, heads, kv_heads, size, round(1e9 * time)


def main() -> None:
    """Parse arguments, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dtype", choices=("bf16", "fp16", "fp32"), default="bf16")
    parser.add_argument("--format", choices=("csv", "lines"), default="csv")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--warm", action="store_true", help="leave the L2 cache as it is")
    parser.add_argument("--gpu", help="name to print instead of the device's own")
    given = parser.parse_args()
    try:
        import torch  # noqa: PLC0415
    except ImportError:
        sys.exit("this example needs PyTorch: https://pytorch.org/get-started/locally/")
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU here")
    name = given.gpu or torch.cuda.get_device_name(0)
    clock = Clock(torch, given.repeats, cold=not given.warm)
    if given.format == "csv":
        print("gpu,dtype,b,m,n,k,t_us")
    for b, m, n, k, nanoseconds in measure_products(torch, clock, given.dtype):
        if given.format == "csv":
            print(f"{name},{given.dtype},{b},{m},{n},{k},{nanoseconds / 1e3:.3f}", flush=True)
            continue
        if b == 1:
            rate = 2.0 * m * n * k / nanoseconds / 1e3
            shown = f"time={nanoseconds / 1e3:.3f} us {rate:.2f} TFLOPS"
            print(f"gemm {m}x{n}x{k} dtype={given.dtype} {shown}", flush=True)
    if given.format == "csv" and given.dtype != "fp32":
        print("\ngpu,dtype,batch,seq,heads,kv_heads,head_dim,t_us")
        for *shape, nanoseconds in measure_attention(torch, clock, given.dtype):
            cells = ",".join(map(str, shape))
            print(f"{name},{given.dtype},{cells},{nanoseconds / 1e3:.3f}", flush=True)


if __name__ == "__main__":
    main()
