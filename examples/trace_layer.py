"""Profile one transformer layer on your GPU, forward and backward, and write a trace.

    python trace_layer.py --hidden 4096 --heads 32 --kv-heads 8 --seq 4096 -o layer.json.gz
    assay report layer.json.gz

The layer is the usual one: a norm, attention with rotary positions and grouped heads, a norm and a
gated feed-forward part. `--attention` chooses who computes the attention: `math` (two products
and a softmax), `flash` and `cudnn` (one kernel). Every operator is recorded with the dimensions of
its inputs and every part of the layer with its name, for that is what a model needs.

Needs PyTorch 2.5 or newer with an accelerator; assay itself does not.
"""

import argparse
import contextlib
import gzip
import pathlib
import shutil
import tempfile

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

KERNELS = {
    "math": SDPBackend.MATH,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


class Attention(nn.Module):
    """Causal attention over x [batch, seq, hidden] with `kv_heads` shared key and value heads."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, head_dim: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.qkv = nn.Linear(hidden, (heads + 2 * kv_heads) * head_dim, bias=False)
        self.out = nn.Linear(heads * head_dim, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, seq, _ = x.shape
        qkv = self.qkv(x).view(batch, seq, -1, self.head_dim).transpose(1, 2)
        query, key, value = qkv.split([self.heads, self.kv_heads, self.kv_heads], dim=1)
        mixed = functional.scaled_dot_product_attention(
            rotated(query), rotated(key), value, is_causal=True, enable_gqa=True
        )
        return self.out(mixed.transpose(1, 2).reshape(batch, seq, -1))


class Feedforward(nn.Module):
    """A gated feed-forward part: out(silu(gate(x)) * up(x)), gate and up in one product."""

    def __init__(self, hidden: int, ffn: int) -> None:
        super().__init__()
        self.gate_up = nn.Linear(hidden, 2 * ffn, bias=False)
        self.out = nn.Linear(ffn, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.out(functional.silu(gate) * up)


class Layer(nn.Module):
    """One pre-norm transformer layer over x [batch, seq, hidden]."""

    def __init__(self, hidden: int, heads: int, kv_heads: int, head_dim: int, ffn: int) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(hidden)
        self.attention = Attention(hidden, heads, kv_heads, head_dim)
        self.feedforward_norm = nn.RMSNorm(hidden)
        self.feedforward = Feedforward(hidden, ffn)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x))
        return x + self.feedforward(self.feedforward_norm(x))


def rotated(x: torch.Tensor) -> torch.Tensor:
    """x [batch, heads, seq, head_dim] turned by its positions."""
    half = x.shape[-1] // 2
    frequency = 1e4 ** (-torch.arange(half, device=x.device) / half)
    angle = torch.outer(torch.arange(x.shape[-2], device=x.device), frequency)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def profiled(
    layer: nn.Module, x: torch.Tensor, steps: int, attention: str, *, stacks: bool
) -> torch.profiler.profile:
    """The profile of `steps` forward and backward passes, after three that warm up."""
    kernel = sdpa_kernel(KERNELS[attention]) if attention in KERNELS else contextlib.nullcontext()
    profile = torch.profiler.profile(
        schedule=torch.profiler.schedule(wait=2, warmup=1, active=steps),
        record_shapes=True,
        with_stack=stacks,
        with_modules=stacks,
    )
    with kernel, profile:
        for _ in range(3 + steps):
            with torch.profiler.record_function("forward"):
                y = layer(x)
            with torch.profiler.record_function("backward"):
                y.backward(torch.ones_like(y))
            torch.cuda.synchronize()
            profile.step()
    return profile


def written(profile: torch.profiler.profile, path: pathlib.Path) -> None:
    """The trace of `profile` at `path`, compressed where the name says `.gz`."""
    if path.suffix != ".gz":
        profile.export_chrome_trace(str(path))
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder) / "trace.json"
        profile.export_chrome_trace(str(plain))
        with plain.open("rb") as source, gzip.open(path, "wb") as target:
            shutil.copyfileobj(source, target)


def options() -> argparse.Namespace:
    """The shape of the layer, from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=int, default=4096)
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--kv-heads", type=int, help="default: as many as heads")
    parser.add_argument("--head-dim", type=int, help="default: hidden / heads")
    parser.add_argument("--ffn", type=int, help="default: 3.5 x hidden")
    parser.add_argument("--seq", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2, help="steps that are recorded")
    parser.add_argument("--dtype", choices=DTYPES, default="bf16")
    parser.add_argument("--attention", choices=["auto", *KERNELS], default="auto")
    parser.add_argument("--compile", action="store_true", help="through torch.compile")
    parser.add_argument("--stacks", action="store_true", help="record modules and Python frames")
    parser.add_argument("-o", "--output", type=pathlib.Path, default="layer.json.gz")
    return parser.parse_args()


def main() -> None:
    """Build the layer, profile it, write the trace."""
    args = options()
    if not torch.cuda.is_available():
        raise SystemExit("trace_layer: no accelerator that PyTorch can use")
    head_dim = args.head_dim or args.hidden // args.heads
    ffn = args.ffn or args.hidden * 7 // 2
    with torch.device("cuda"):
        layer = Layer(args.hidden, args.heads, args.kv_heads or args.heads, head_dim, ffn)
        x = torch.randn(args.batch, args.seq, args.hidden, dtype=DTYPES[args.dtype])
    layer = layer.to(DTYPES[args.dtype])
    x.requires_grad_()
    if args.compile:
        layer = torch.compile(layer)
    profile = profiled(layer, x, args.steps, args.attention, stacks=args.stacks)
    written(profile, args.output)
    print(f"{args.output}: {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
