"""Keys that say what they are only with the section that they stand in.

In: the names of the sections around a key of a configuration, outermost first, and the key itself:
`[parallel]` and `tensor`, `mesh` and `data`, `zero_optimization` and `stage`, `model` and `name`.
Out: the label that says both at once, for `values.known` to look up, or None where the section
adds nothing. `ASIDE` are sections of something else than the training of the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from assay.ingest.vocabulary.terms import normalise

ASIDE = re.compile(
    r"(?:^|[._])(?:eval|evaluation|valid|validation|val|test|infer|inference|generation|rollout|"
    r"sampling|sampler|vllm|sglang|serving|tokenizer|optim|optimizer|scheduler|vision|critic"
    r"|reward|ref|draft|teacher|(?<!activation_)(?<!gradient_)checkpoint|logging|logger)(?:[._]|$)",
    re.IGNORECASE,
)
"""Keys around a value that is of something else than the model's training."""

_HOW = ("mode", "policy", "type", "strategy", "granularity")

_ON = ("enabled", "enable")

_AXES = {  # what is shared among devices: axes of a mesh, or keys of a section of degrees
    each: f"{each} parallel"
    for each in ("tensor", "pipeline", "data", "context", "expert", "model")
} | {"pipe": "pipeline parallel"}

_OF_MODEL = {"name": "model name", "id": "model name", "nameorpath": "model name",
             "pretrainedmodelnameorpath": "model name", "size": "model size",
             "flavor": "model size"}  # fmt: skip

_OF_BATCH = {
    "micro": "micro batch size", "local": "micro batch size", "perdevice": "micro batch size",
    "pergpu": "micro batch size", "global": "global batch size", "total": "global batch size",
    "accumulation": "gradient accumulation steps",
}  # fmt: skip

_SECTIONS: tuple[tuple[re.Pattern[str], Mapping[str, str]], ...] = (
    (re.compile(r"(?:[a-z]+)?parallel(?:ism|ization|isation)?(?:config|conf|size|sizes|degree"
                r"|degrees|args)?|(?:device)?mesh(?:shape|config)?"), _AXES),
    (re.compile(r"(?:base|pretrained)?model(?:config|conf|args)?"), _OF_MODEL),
    (re.compile(r"zero(?:optimization|config)?"), {"stage": "zero stage"}),
    (re.compile(r"(?:activation|gradient|grad|act)(?:checkpoint|checkpointing|ckpt|recomputation)"
                r"|recompute|recomputation|remat|rematerialization"),
     dict.fromkeys(_HOW, "recompute mode") | dict.fromkeys(_ON, "activation checkpointing")),
    (re.compile(r"(?:self)?(?:attention|attn)"),
     dict.fromkeys((*_HOW, "impl", "implementation", "backend", "kernel"), "attention backend")),
    (re.compile(r"(?:(?:mixed|train|training)?precision|amp|autocast)"),
     dict.fromkeys(("dtype", "compute", "computedtype", "mode", "type"), "compute dtype")),
    (re.compile(r"batch(?:size|sizes)?"), _OF_BATCH),
    (re.compile(r"(?:gpu|accelerator|device)s?"),
     {"name": "gpu name", "model": "gpu name", "type": "gpu name", "count": "gpu count"}),
    (re.compile(r"encoderconf"), {"outputsize": "hidden size"}),  # ESPnet's width of all blocks
    *((re.compile(each), dict.fromkeys(_ON, each)) for each in ("bf16", "bfloat16", "fp16", "fp8")),
)  # fmt: skip
"""Names of sections without case and signs, and what keys are in each: labels that say both."""


def in_section(sections: Sequence[str], key: str) -> str | None:
    """The label of a key with what the section says that it stands in; None where that is nothing.

    >>> in_section(["parallel"], "tensor"), in_section(["train", "mesh"], "data")
    ('tensor parallel', 'data parallel')
    >>> in_section(["model"], "name"), in_section(["zero_optimization"], "stage")
    ('model name', 'zero stage')
    >>> in_section(["optimizer"], "name"), in_section(["data"], "tensor"), in_section([], "name")
    (None, None, None)
    """
    section = normalise(sections[-1]) if sections else ""
    keys = next((keys for name, keys in _SECTIONS if name.fullmatch(section)), None)
    return keys.get(normalise(key)) if keys else None


_LENGTH_OF_TOKENIZER = re.compile(r"(?:\w+\.)*tokenizer\.max_(?:seq|sequence)_len(?:gth)?")
"""Tokens that a tokenizer cuts each sequence of the training to, as torchtune sets them."""

_DOTTED = re.compile(r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*")


def undotted(label: str) -> str | None:
    """Label of a key with the sections before its dots: itself, or both; None for one of something
    else than the training, and a label without sections as it is.

    >>> undotted("trainer.num_nodes"), undotted("parallel.tensor"), undotted("tokens/s")
    ('num_nodes', 'tensor parallel', 'tokens/s')
    >>> undotted("optimizer.batch_size")
    >>> undotted("tokenizer.max_seq_len"), undotted("tokenizer.vocab_size")
    ('max_seq_len', None)
    """
    if "." not in label or not _DOTTED.fullmatch(label):
        return label
    if ASIDE.search(label) and not _LENGTH_OF_TOKENIZER.fullmatch(label):
        return None
    *sections, key = label.split(".")
    return in_section(sections, key) or key
