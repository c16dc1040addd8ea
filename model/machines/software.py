"""Software stacks: what the program of a training run does, wherever a step depends on it.

In: what a run says of its framework, its date and its kernels. Out: a `SoftwareStack` with the
reason why it is this one. The stacks lie in `software.toml`, each with its evidence; a machine's
generation never chooses one, it only rules out years in which the machine did not exist.
Units: B on the wire or in memory, shares, years with their fractions.

Source: `software.toml`, where every stack names its evidence.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from assay.model.machines.datasheets import Machine
from assay.model.machines.dtypes import NARROW

SINCE = {
    "volta": 2018.0, "turing": 2018.8, "ampere": 2020.5, "ada": 2022.8, "hopper": 2023.0,
    "blackwell": 2025.0, "blackwell-rtx": 2025.1, "cdna1": 2020.9, "cdna2": 2021.9, "cdna3": 2024.0,
    "cdna4": 2025.5,
}  # fmt: skip
"""Years from which runs on machines of a generation were possible."""

ACCUMULATION = {"product32": 6.0, "added32": 10.0, "added16": 6.0, "none": 0.0}
"""Bytes a parameter and micro-batch moves beyond the 16-bit gradient that its product writes: a
product that adds into fp32 reads and writes 4 instead of writing 2; an addition apart reads the
gradient (2) and reads and writes the sum (4 each, or 2 each)."""


BUCKETS: Mapping[Any, float] = {"all": float("inf"), "layer": 0.0}
"""Words for how much one collective of gradients holds, in B."""


@dataclass(frozen=True, kw_only=True)
class SoftwareStack:
    """A program of some years; every field, in bytes or shares, is explained in `software.toml`."""

    name: str
    attention: str
    library: str
    casts: str
    scaling: str
    norms: str
    misaligned: str
    selective: float
    accumulation: str
    reduced: float  # B of a gradient on the wire
    gathered: float  # B of a weight on the wire
    hidden: frozenset[str]
    prefetch: str
    bucket: float  # B; inf: everything at once, 0: a layer
    broadcast: bool
    shards: tuple[int, int]  # ZeRO stages
    states: tuple[float, float, float]  # B a parameter: weights, gradients, optimizer
    flattened: float  # B a parameter
    logits: float  # B a logit
    cross_entropy: float  # B a logit moves
    received: int  # micro-batches
    dropout: bool
    reserve: float  # share of what tensors hold
    evidence: str
    piped: int = 3  # ZeRO stage
    loaded: float = 0.0  # B
    channels: bool = True
    early_stop: bool = False
    copies: bool = False
    reason: str = ""

    @property
    def accumulated(self) -> float:
        """Bytes a parameter moves in every micro-batch to add up its gradient."""
        return ACCUMULATION[self.accumulation]


@dataclass(frozen=True)
class _Named:
    stack: SoftwareStack
    frameworks: tuple[str, ...]
    begin: float
    end: float


@functools.cache
def _known() -> tuple[_Named, ...]:
    text = (resources.files(__package__) / "software.toml").read_text(encoding="utf-8")
    return tuple(_read(name, facts) for name, facts in tomllib.loads(text)["stack"].items())


def _read(name: str, facts: Mapping[str, Any]) -> _Named:
    about = ("frameworks", "from", "until", "hidden", "bucket", "states", "shards")
    plain = {key: value for key, value in facts.items() if key not in about}
    weights, gradients, optimizer = facts["states"]
    least, most = facts["shards"]
    stack = SoftwareStack(
        name=name,
        hidden=frozenset(facts["hidden"]),
        bucket=BUCKETS.get(facts["bucket"], facts["bucket"]),
        states=(weights, gradients, optimizer),
        shards=(least, most),
        **plain,
    )
    end = facts.get("until", float("inf"))
    return _Named(stack, tuple(facts["frameworks"]), facts.get("from", 0.0), end)


def stacks() -> Mapping[str, SoftwareStack]:
    """Every stack by name."""
    return {one.stack.name: one.stack for one in _known()}


def frameworks() -> tuple[str, ...]:
    """Every spelling of a program that has a stack, in the order of `software.toml`."""
    return tuple(dict.fromkeys(name for one in _known() for name in one.frameworks))


def year(text: str | None) -> float | None:
    """The year, with its fraction, of a date as documents print it; None where there is none.

    >>> year("2023-07"), year("02-25"), year(None)
    (2023.5, None, None)
    """
    found = re.match(r"(20[0-9]{2})(?:-([0-9]{2}))?", text or "")
    if found is None:
        return None
    return int(found.group(1)) + (int(found.group(2) or 1) - 1) / 12.0


def software(row: Mapping[str, Any], machine: Machine) -> SoftwareStack:
    """The stack of a run, from its columns `software`, `framework`, `date`, else assumed.

    Columns that name a part of it (`attention`, `eager`, `reduce_dtype`, `tp_overlap`,
    `ep_overlap`) go before the stack's own. LookupError for a `software` that is none.
    """
    named = row.get("software")
    when = year(row.get("date"))
    if named is not None:
        if named not in stacks():
            raise LookupError(f"no software is called {named!r}; known are {', '.join(stacks())}")
        found = replace(stacks()[named], reason="named")
    else:
        found = _by_framework(row, machine, when) or _assumed(row, machine, when)
    found = _with_parts(found, row)
    if when is not None and when < SHARDED_APART:
        found = replace(found, copies=False)
    if machine.vendor != "NVIDIA" or (when is not None and when >= CONNECTED_LATE):
        found = replace(found, channels=False)
    if found.scaling == "by date":
        found = replace(found, scaling=scaling_of(when, machine))
    if found.attention != "by date":
        return found
    return replace(found, attention=_generation(row, machine, when, found))


SHARDED_APART = 2024.5
"""Year from which fully sharded programs shard every parameter by itself: PyTorch 2.4 has FSDP2."""

CONNECTED_LATE = 2024.4
"""Year from which NCCL (2.22) sets a connection up when a collective first needs it: what its
communicators hold from then on depends on what they are used for, and nothing is counted."""

LLAMA = 2023.5
"""Year from which models with gated MLPs were trained outside the project that published them."""

FUSED_SINCE = 2022.5
"""Fused attention kernels were published in May 2022 (arXiv 2205.14135)."""


def _generation(
    row: Mapping[str, Any], machine: Machine, when: float | None, stack: SoftwareStack
) -> str:
    """The kernel of a stack that has it by date; Volta has no fused one that trains."""
    if machine.generation == "volta":
        return "unfused"
    before = when is not None and when < FUSED_SINCE
    if before and (row.get("attention") or "unfused") == "unfused":
        return "unfused"
    return attention_of(when, machine, stack.library)[0]


def _by_framework(
    row: Mapping[str, Any], machine: Machine, when: float | None
) -> SoftwareStack | None:
    """The program's stack of its date; without one the newest, if the run uses what is new."""
    framework = row.get("framework")
    stage = row.get("zero_stage") or 0
    named = [one for one in _known() if framework is not None and framework in one.frameworks]
    wanted = [one for one in named if stage <= one.stack.shards[1]] or named
    if not wanted:
        return None
    if when is None:
        earliest = _earliest(row, machine)
        fitting = [one for one in wanted if one.begin <= earliest < one.end]
        chosen = fitting[0] if fitting and earliest < MODERN else wanted[-1]
        return replace(chosen.stack, reason=f"{framework}; the date is assumed")
    fitting = [one for one in wanted if one.begin <= when < one.end]
    chosen = (fitting or wanted[-1:])[0]
    return replace(chosen.stack, reason=f"{framework} of {int(when)}")


MODERN = 2023.0
"""Year from which a run uses what came after 2022: Hopper, grouped queries, fused attention."""


def _earliest(row: Mapping[str, Any], machine: Machine) -> float:
    """The year before which a run cannot have been, from its machine and from what it uses."""
    later = any((
        row.get("sequence_parallel"), (row.get("cp") or 1) > 1, row["dtype"] in NARROW,
        (row.get("kv_heads") or row["heads"]) < row["heads"],
        (row.get("attention") or "").startswith(("flash", "sdpa", "cudnn", "triton")),
    ))  # fmt: skip
    used = LLAMA if row.get("gated") else MODERN if later else 2021.0
    return max(SINCE.get(machine.generation, MODERN), used)


def _assumed(row: Mapping[str, Any], machine: Machine, when: float | None) -> SoftwareStack:
    """Full sharding is PyTorch's, everything else Megatron's; what a run uses tells its years."""
    when = _earliest(row, machine) if when is None else when
    if row.get("zero_stage") == 3 and row["tp"] * row["pp"] > 1:
        name = "deepspeed"
    elif row.get("zero_stage") == 3:
        name = "fsdp" if when >= 2023.5 else "composer-2022"
    elif machine.vendor == "Google":
        name = "xla"
    else:
        name = "megatron-core" if when >= MODERN else "megatron-2021"
    return replace(
        stacks()[name], reason=f"assumed: nothing names the program; {int(when)} or later"
    )


PIPED = (2.0, 6.0, 12.0)
"""Bytes a parameter under DeepSpeed's pipeline in bf16: its BF16_Optimizer adds up micro-batches in
fp32 beside the gradients themselves, and shards what Adam needs alone."""


def _with_parts(stack: SoftwareStack, row: Mapping[str, Any]) -> SoftwareStack:
    said: dict[str, Any] = {}
    if stack.name == "deepspeed" and row["dtype"] == "bf16" and row["pp"] > 1:
        said["states"] = PIPED
    attention = row.get("attention")
    if attention in {"unfused", "flash1", "flash2", "flash3", "cudnn", "triton1"}:
        said["attention"] = attention
    elif attention == "flash" and stack.attention == "unfused":
        said["attention"] = "by date"
    if row.get("eager") is not None:
        said["norms"] = "autocast" if row["eager"] else "fused"
    if row.get("scaling") is not None:
        said["scaling"] = row["scaling"]
    if row.get("reduce_dtype") is not None:
        said["reduced"] = 4.0 if row["reduce_dtype"] == "fp32" else 2.0
    if row.get("tp_overlap") is not None:
        hidden = stack.hidden - {"tensor"}
        said["hidden"] = hidden | {"tensor"} if row["tp_overlap"] else hidden
    if row.get("ep_overlap") is not None:
        hidden = said.get("hidden", stack.hidden) - {"experts"}
        said["hidden"] = hidden | {"experts"} if row["ep_overlap"] else hidden
    return replace(stack, **said) if said else stack


GROUPED = 2025.0
"""Year from which Transformer Engine (2.0, February 2025) scales by the values at hand, and by
groups of them where the tensor cores take such factors."""


def scaling_of(year: float | None, accelerator: Machine) -> str:
    """The scaling of 8-bit values in a program that does not name it, by its date.

    `year` has fractions; without one the GPU tells whether it can be earlier. Source: the release
    notes of Transformer Engine 2.0 and 2.1.
    """
    blackwell = accelerator.generation == "blackwell"
    if blackwell:
        return "mx"
    return "current" if year is not None and year >= GROUPED else "delayed"


def attention_of(
    year: float | None, accelerator: Machine, library: str = "torch"
) -> tuple[str, str]:
    """The kernel of a program that does not name it, and why: from its date and its library.

    `year` has fractions; None is today. The GPU only rules out what cannot run on it:
    FlashAttention 3 is for Hopper alone. Transformer Engine prefers cuDNN's kernel on Hopper and
    later (its `get_attention_backend`).
    """
    newest = accelerator.generation in {"hopper", "blackwell"}
    blackwell = accelerator.generation == "blackwell"
    if year is not None and year < FIRST["flash2"]:
        return "flash1", f"assumed: before FlashAttention 2 ({FIRST['flash2']:.1f})"
    if newest and (library == "te" or blackwell) and (year or FIRST["cudnn"]) >= FIRST["cudnn"]:
        if blackwell:
            return "cudnn", "assumed: FlashAttention 3 does not run on Blackwell, cuDNN's does"
        return "cudnn", "assumed: Transformer Engine prefers cuDNN's kernel on Hopper"
    if year is None:
        return "flash2", "assumed: nothing says which attention kernel, nor when"
    if year >= FIRST["flash3"] + ADOPTED and accelerator.generation == "hopper":
        return "flash3", f"assumed: a year after FlashAttention 3 ({FIRST['flash3']:.1f})"
    return "flash2", f"assumed: after FlashAttention 2 ({FIRST['flash2']:.1f})"


FIRST = {"flash1": 2022.4, "triton1": 2022.8, "flash2": 2023.54, "flash3": 2024.52, "cudnn": 2024.1}
"""Years of publication: arXiv 2205.14135, flash-attention 0.2, arXiv 2307.08691, arXiv 2407.08608,
cuDNN 9."""

ADOPTED = 1.0
"""Years that programs take until they call a new kernel by default."""
