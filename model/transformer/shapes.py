"""Shapes of transformers: what a decoder is made of, and which public shape a printed name means.

`shapes.toml` holds public models with the source of every one; a `Model` can as well be built from
a training run's arguments with `gpt` and `llama`. `parameters` counts what each part has.

Names (LLAMA3-8B, meta-llama/Llama-3.1-70B, mixtral 8x7b) are compared without case, punctuation,
organisation and words that change no shape. Releases that kept the shape of an earlier one (Llama
3.1 that of Llama 3) are aliases.

Units: widths in elements, heads, layers, tokens of context.
Source: shapes.toml names one for each model (its paper or published configuration).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from assay.grammars.toml import toml

NORMS = {"layer": 2, "rms": 1}
"""Vectors of one norm: a layer norm has a weight and a bias."""

BIASES = ("none", "qkv", "all")

POSITIONS = ("learned", "rotary", "alibi", "none")

STYLES: dict[str, dict[str, Any]] = {
    "gpt": {"gated": False, "norm": "layer", "biases": "all", "positions": "learned"},
    "llama": {"gated": True},
}
"""Meaning of each `style` of shapes.toml where a model does not say otherwise."""


@dataclass(frozen=True, kw_only=True)
class Experts:
    """The MLPs of a mixture: `routed` experts of which a token visits `per_token`.

    Shapes: an expert has matrices [hidden, ffn_hidden], or [latent, ffn_hidden] between projections
    [hidden, latent] and [latent, hidden] of the layer; the router [hidden, routed].
    """

    routed: int
    per_token: int
    ffn_hidden: int  # of one routed expert
    shared_ffn_hidden: int = 0  # of all shared experts together
    shared_gate: bool = False  # a scalar gate on the shared experts
    router_bias: bool = False
    dense_layers: int = 0  # layers at the bottom that have one dense MLP instead
    node_limit: int | None = None  # groups of experts, a node each, that a token visits at most
    latent: int | None = None  # width that tokens are projected to before they travel, and back


@dataclass(frozen=True, kw_only=True)
class Latent:
    """Multi-head latent attention; `q_rank` None projects queries from the hidden state.

    Shapes: down-projections [hidden, q_rank] and [hidden, kv_rank + rope_dim]; per head queries of
    qk_dim + rope_dim elements, values of v_dim. Source: DeepSeek-V2 (arXiv 2405.04434).
    """

    q_rank: int | None = None
    kv_rank: int
    qk_dim: int
    rope_dim: int
    v_dim: int


@dataclass(frozen=True, kw_only=True)
class Hybrid:
    """Layers of one block each: state space (Mamba-2), attention, dense MLPs; the rest has experts.

    Shapes: a state-space block projects [hidden, 2·inner + 2·groups·state + heads], inner = heads ·
    head_dim, and [inner, hidden]; every head has a state [head_dim, state]. Units: layers, heads,
    elements, tokens of a chunk. Source: Dao and Gu 2024 (arXiv 2405.21060).
    """

    mamba_layers: int
    attention_layers: int
    mlp_layers: int = 0
    heads: int
    head_dim: int
    state: int
    groups: int
    kernel: int = 4  # tokens of the convolution
    chunk: int = 128

    @property
    def inner(self) -> int:
        """Columns of all heads, in elements."""
        return self.heads * self.head_dim

    @property
    def convolved(self) -> int:
        """Columns that the convolution passes over, in elements."""
        return self.inner + 2 * self.groups * self.state


@dataclass(frozen=True, kw_only=True)
class Model:
    """One decoder-only transformer.

    Shapes: queries [hidden, heads·head_dim], keys and values [hidden, kv_heads·head_dim], an MLP
    [hidden, ffn_hidden], embedding [vocab, hidden]. Raises ValueError for an unknown norm, bias or
    position, and where the heads do not group.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn_hidden: int
    vocab: int  # rows of the embedding matrix
    context: int  # positions; they have parameters only where they are learned
    gated: bool
    norm: str = "rms"
    biases: str = "none"
    positions: str = "rotary"
    tied: bool = False
    qk_norm: bool = False  # a norm over each head's queries and keys
    embedding_norm: bool = False
    experts: Experts | None = None
    latent: Latent | None = None
    hybrid: Hybrid | None = None
    window: int | None = None  # last tokens that `windowed_layers` attend to
    windowed_layers: int = 0

    def __post_init__(self) -> None:
        for value, known in (
            (self.norm, NORMS),
            (self.biases, BIASES),
            (self.positions, POSITIONS),
        ):
            if value not in known:
                raise ValueError(f"{self.name}: {value!r} is not one of {', '.join(known)}")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.name}: {self.heads} heads over {self.kv_heads} kv heads")

    @property
    def mlp_matrices(self) -> int:
        """Matrices [hidden, ffn_hidden] of one MLP: up, down, and the gate where there is one."""
        return 3 if self.gated else 2

    @property
    def dense_layers(self) -> int:
        """Layers whose MLP is not a mixture."""
        if self.hybrid is not None:
            return self.hybrid.mlp_layers
        return self.layers if self.experts is None else self.experts.dense_layers

    @property
    def sparse_layers(self) -> int:
        """Layers with routed experts."""
        if self.hybrid is None:
            return self.layers - self.dense_layers
        mixers = self.hybrid.mamba_layers + self.hybrid.attention_layers
        return self.layers - self.dense_layers - mixers

    @property
    def attention_layers(self) -> int:
        """Layers with attention."""
        return self.layers if self.hybrid is None else self.hybrid.attention_layers

    @property
    def mamba_layers(self) -> int:
        """Layers with a state space."""
        return 0 if self.hybrid is None else self.hybrid.mamba_layers

    @property
    def blocks_per_layer(self) -> int:
        """Blocks, each with a norm before and an addition behind it: two, or one.

        Units: a count.
        """
        return 2 if self.hybrid is None else 1


def gpt(
    *, hidden: int, layers: int, heads: int, vocab: int, context: int, ffn_hidden: int | None = None
) -> Model:
    """A GPT-2 style decoder: layer norms, biases, learned positions, tied output.

    Units: elements; `ffn_hidden` is 4·hidden unless given. Source: Radford et al. 2019.

    >>> from assay.model.transformer.parameters import parameters
    >>> parameters(gpt(hidden=768, layers=12, heads=12, vocab=50257, context=1024)).total
    124439808
    """
    return Model(
        name="gpt", hidden=hidden, layers=layers, heads=heads, kv_heads=heads,
        head_dim=hidden // heads, ffn_hidden=ffn_hidden or 4 * hidden, vocab=vocab,
        context=context, gated=False, norm="layer", biases="all", positions="learned", tied=True,
    )  # fmt: skip


def llama(
    *, hidden: int, layers: int, heads: int, kv_heads: int, ffn_hidden: int, vocab: int,
    context: int, head_dim: int | None = None,
) -> Model:  # fmt: skip
    """A Llama style decoder: RMS norms, gated MLP, grouped queries, rotary positions, own head.

    Units: elements; `head_dim` is hidden/heads unless given. Source: Touvron et al. 2023.

    >>> from assay.model.transformer.parameters import parameters
    >>> shape = llama(hidden=4096, layers=32, heads=32, kv_heads=8, ffn_hidden=14336, vocab=128256,
    ...               context=8192)
    >>> parameters(shape).total
    8030261248
    """
    return Model(
        name="llama", hidden=hidden, layers=layers, heads=heads, kv_heads=kv_heads,
        head_dim=head_dim or hidden // heads, ffn_hidden=ffn_hidden, vocab=vocab, context=context,
        gated=True,
    )  # fmt: skip


@functools.cache
def shapes() -> Mapping[str, Model]:
    """The packaged public models by name."""
    text = (resources.files(__package__) / "shapes.toml").read_text(encoding="utf-8")
    return _read(tomllib.loads(text))


def load(path: Path) -> Mapping[str, Model]:
    """Models of a TOML file in the form of `shapes.toml`.

    Raises OSError or TOMLDecodeError for a file that cannot be read, ValueError for a contradictory
    shape, TypeError or KeyError for a field that is unknown or missing.
    """
    return _read(toml(path.read_text(encoding="utf-8")))


def _read(document: Mapping[str, Any]) -> dict[str, Model]:
    return {name: _model(name, facts) for name, facts in document["model"].items()}


def _model(name: str, facts: Mapping[str, Any]) -> Model:
    """One table of the file; kv_heads, head_dim and the style have the defaults of their family."""
    about = {"style", "source", "published", "published_active", "label"}
    known = {key: value for key, value in facts.items() if key not in about}
    for key, kind in (("experts", Experts), ("latent", Latent), ("hybrid", Hybrid)):
        if key in known:
            known[key] = kind(**known[key])
    known.setdefault("kv_heads", known["heads"])
    known.setdefault("head_dim", known["hidden"] // known["heads"])
    return Model(name=name, **(STYLES[facts["style"]] | known))


SAME_SHAPE = (
    ("llama3.1", "llama3"), ("llama3.3", "llama3"), ("llama31", "llama3"), ("llama33", "llama3"),
    ("qwen2.5", "qwen2"), ("llama30b", "llama33b"), ("llama", "llama2"),
    ("gpt2117m", "gpt2"), ("gpt2124m", "gpt2"), ("gpt2345m", "gpt2medium"),
    ("gpt2355m", "gpt2medium"), ("gpt2762m", "gpt2large"), ("gpt2774m", "gpt2large"),
    ("gpt21.5b", "gpt2xl"), ("qwen1.57b", "qwen7b"), ("qwen1.514b", "qwen14b"),
    ("qwen1.572b", "qwen72b"), ("smollm2", "smollm"), ("bloomz", "bloom"),
    ("bloom7.1b", "bloom7b1"), ("starcoder15.5b", "starcoder15b"),
    ("olmo21124", "olmo2"), ("tnlg", "turingnlg"), ("deepseekllm", "deepseek"),
    ("deepseekr1distillllama", "llama3"), ("deepseekr1distillqwen", "qwen2.5"),
    ("deepseekr1distillqwen", "qwen2"),
    ("deepseekr1", "deepseekv3"), ("deepseekv3.1", "deepseekv3"),
    ("nemotronv3", "nemotron3"), ("nvidianemotron3", "nemotron3"), ("nemotron15b", "nemotron415b"),
    ("llama", "llama3"), ("llama", "llama3.2"), ("llama3", "llama3.2"),
    ("llama234b", "codellama34b"), ("codellama7b", "llama27b"), ("codellama13b", "llama213b"),
    ("openllama", "llama2"), ("vicuna", "llama2"), ("alpaca", "llama2"),
    ("mistral7bv0.1", "mistral7b"), ("mistral7bv0.2", "mistral7b"), ("mistralsmall22b",
    "codestral22b"), ("mixtral8x7bv0.1", "mixtral8x7b"), ("mixtral8x22bv0.1", "mixtral8x22b"),
    ("qwen2.5coder", "qwen2.5"), ("qwen2.5math", "qwen2.5"), ("qwen3coder30b", "qwen330b"),
    ("qwen1.8b", "qwen1.51.8b"), ("phi3.5mini", "phi3mini"), ("yi1.56b", "yi6b"),
    ("yi1.534b", "yi34b"), ("internlm2.5", "internlm2"), ("chatglm26b", "chatglm36b"),
    ("granite3.1", "granite3.0"), ("granite3", "granite3.0"), ("glm4.6", "glm4.5"),
    ("commandr", "commandr35b"), ("arctic", "snowflakearctic"), ("apertusv1", "apertus"),
    ("nemotron4", "nemotron"), ("kimik21t", "kimik2"), ("gpt175b", "gpt3175b"),
    ("llama4maverick17b128e", "llama4maverick"), ("llama4scout17b16e", "llama4scout"),
)  # fmt: skip
"""A release or another spelling, and the name whose shape it has; only where that is known."""

WORDS = re.compile(
    r"(instruct|chat|base|hf|deduped|pretrain(ing|ed)?|model|it|pt|(mx|nv)?fp[48]|bf16|fp16|fsdp[12]?"
    r"|ddp)$"
)
"""Words behind a name that change no shape: its tuning, its number format, how it was spread."""


RELEASE = re.compile(
    r"\s*\([0-9.]+\)\s*$|[\s,(_-]+[0-9]+[ -]?(?:nodes?|gpus?)\)?\s*$", re.IGNORECASE
)
"""The release of a program in brackets behind a model's name, or on how many machines it ran."""


def plain(text: str) -> str:
    """The name as it is compared.

    >>> plain("meta-llama/Llama-2-70b-hf"), plain("LLAMA3-8B"), plain("Gemma 2B (26.02)")
    ('llama270b', 'llama38b', 'gemma2b')
    """
    name = re.sub(
        r"[^a-z0-9]", " ", RELEASE.sub("", text).strip().lower().rpartition("/")[2]
    ).split()
    while name and WORDS.fullmatch(name[-1]):
        name.pop()
    if name[:2] == ["meta", "llama"]:
        name.pop(0)
    return "".join(name)


def _dotted(text: str) -> str:
    """The name as it is compared first, its version's point kept: Qwen2.5-7B is not Qwen2-57B."""
    bare = RELEASE.sub("", text)
    return plain(re.sub(r"(?<=[0-9])(?:\.|_(?![0-9.]+[bB]))(?=[0-9])", "point", bare)).replace(
        "point", "."
    )


@functools.cache
def _known() -> Mapping[str, str]:
    return {_dotted(name): name for name in shapes()}


@functools.cache
def _of_active() -> Mapping[str, list[str]]:
    """Names without their number of active parameters: `qwen330b` of `qwen330ba3b`."""
    found: dict[str, list[str]] = {}
    for spelling, name in _known().items():
        if sized := re.fullmatch("(.*)a[0-9.]+b", spelling):
            found.setdefault(sized[1], []).append(name)
    return found


@functools.cache
def _undotted() -> Mapping[str, str]:
    return {spelling.replace(".", ""): name for spelling, name in _known().items()}


@functools.cache
def _sizes() -> Mapping[str, float]:
    """Parameters in billions that the project of each shape states."""
    text = (resources.files(__package__) / "shapes.toml").read_text(encoding="utf-8")
    stated = {
        name: facts.get("published", facts.get("label"))
        for name, facts in tomllib.loads(text)["model"].items()
    }
    return {
        name: float(size.removesuffix("B")) if isinstance(size, str) else size / 1e9
        for name, size in stated.items()
    }


def _meant(spelling: str) -> str | None:
    """The name that a spelling is, or is but for its number of parameters, all or active ones."""
    known = _known()
    if spelling in known:
        return known[spelling]
    longer = _of_active().get(spelling, [])
    if len(longer) == 1:
        return longer[0]
    if (sized := _WITH_SIZE.fullmatch(spelling)) is None:
        return None
    begin, end = sized.span(2)
    for cut in range(end - 1, max(begin, end - 4) - 1, -1):
        name = known.get(spelling[:cut])
        if name and _near(_sizes()[name], float(spelling[cut:end])):
            return name
    return None


_WITH_SIZE = re.compile(r"(.*?)([0-9]+)b(a[0-9.]+b)?")


def _near(stated: float, printed: float) -> bool:
    """Whether a printed number of billions is the one that a project states."""
    return abs(stated - printed) < SIZED * printed


SIZED = 0.05
"""How far a printed number of parameters may lie from the one that a project states."""


def resolve(text: str) -> str:
    """The name in `shapes.toml` that `text` means. Raises LookupError, which lists the names.

    >>> resolve("LLAMA3-8B"), resolve("Llama 3.1 405B"), resolve("Mixtral_8x7B")
    ('Llama-3-8B', 'Llama-3-405B', 'Mixtral-8x7B')
    >>> resolve("GPT 20B")  # and no GPT-2 of 0B
    Traceback (most recent call last):
    ...
    LookupError: no shape is called 'GPT 20B'; known are ...
    >>> resolve("DeepSeek V3 671B"), resolve("Qwen3 MoE 30B"), resolve("llama-65b")
    ('DeepSeek-V3', 'Qwen3-30B-A3B', 'Llama-65B')
    """
    if (name := _resolved(text)) is None:
        raise LookupError(f"no shape is called {text!r}; known are {_names()}")
    return name


@functools.cache  # a document may name thousands of models that are none of them
def _names() -> str:
    return ", ".join(shapes())


@functools.lru_cache(maxsize=2**16)  # several ask for each name of a document
def _resolved(text: str) -> str | None:
    name = _dotted(text)
    bare = name.replace(".", "")
    size = _APART.search(text)
    others = [new + name.removeprefix(old) for old, new in SAME_SHAPE if name.startswith(old)]
    spellings = dict.fromkeys((name, name.replace("moe", ""), *others))
    found = [_meant(spelling) for spelling in spellings]
    spelled = (bare.replace(old, new, 1) for old, new in SAME_SHAPE if old in bare)
    found += [_undotted().get(spelling) for spelling in (bare, *spelled)]
    known = next((each for each in found if each and _of_size(each, size)), None)
    remark = _REMARK.search(text) if known is None else None
    return _resolved(text[: remark.start()]) if remark else known


_REMARK = re.compile(r"\s*\((?![^()]*(?:[0-9][bB]\b|(?i:lora|dora|peft|adapter)))[^()]*\)\s*$")
"""Behind a name, in brackets: what was done with it, or where; a size there may be its own, and
adapters are no model."""


_APART = re.compile(r"(?<![.0-9])[0-9](?:\.[0-9])?[-_ ]([0-9]+(?:\.[0-9]+)?)[bB](?![A-Za-z])")
"""A size set apart from a version: `Llama3-3B` is no Llama of 33B."""

OTHER_SIZE = 1.5
"""Times by which the size in a name rounds at most."""


def _of_size(name: str, printed: re.Match[str] | None) -> bool:
    """Whether a shape may have the size that a name has apart from its version, if it has one."""
    if printed is None:
        return True
    ratio = _sizes()[name] / float(printed[1])
    return 1.0 / OTHER_SIZE < ratio < OTHER_SIZE
