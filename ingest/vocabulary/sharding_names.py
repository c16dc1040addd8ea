"""How FSDP shares a model among devices, as sentences and labels of rows name it.

In: a sentence on how runs were done, or the label of one. Out: `FSDP`, or `HSDP` that shards in
groups of devices, and where it is said. Which strategy that was, and whether there was tensor
parallelism beside it, it does not say. Of a text that names another way beside it, or the two
versions, or what is done with the weights behind a layer, nobody knows what its runs did.
"""

from __future__ import annotations

import re

_FULLY = r"full(?:y)?[- ]shard(?:ed|ing)?[- ]data[- ]paral(?:lelism|lel)"

_NAMES = rf"(?P<hybrid>HSDP)|(?-i:FSDP[12]?|fully_shard)|{_FULLY}(?: ?\((?-i:FSDP[12]?)\))?"

_USED = (
    r"(?:\b(?:with|using|via|by|under|uses?|used|is|are|was|were|and|plus|in"
    r"|mit|als|verwende[nt]?|nutz(?:en|t)|avec|utilis\w+|con|com|usamos)|[用で]|[:：+(,;]|^)\s*"
    r"(?:[*`_(]|(?:the|only|plain|native|standard|pure|full|always|(?:Py)?[Tt]orch(?:['’]s)?"
    r"|(?:Py)?[Tt]orch v?[0-9]+(?:\.[0-9]+){1,2}|JAX|GSPMD|SPMD)\s)*"
)

_IN_SENTENCE = re.compile(
    rf"{_USED}(?P<name>{_NAMES})(?![\w-])(?![ ]?(?:=|[:：]|['’]s\b|[0-9]))"
    r"(?! (?:runs?|rows?|jobs?|lines?|cases?|version|variant|row|numbers|results?|needs?|is|was|can"
    r"|gives?|gave|fails?|units?|wrap\w*|checkpoints?|plugin|backend|tutorial|docs?|paper|support)\b)",
    re.IGNORECASE,
)
"""FSDP as what runs were done with: `bf16 with FSDP2`, `it is fully sharded data parallel`."""

_SHARDED_OVER = re.compile(
    r"\b(?:sharded|shared|split|distributed)(?: \w+){0,5}? (?:with|by|using|via) (?:PyTorch )?"
    r"(?P<name>FSDP[12]?)(?![\w-])"
)

_LABEL = re.compile(
    rf"\W*(?:(?:plain|native|(?:Py)?[Tt]orch|full)[ -]){{0,2}}(?P<name>{_NAMES})(?![\w-])"
    r"(?=\s*(?:$|[,;+&(]|only\b|alone\b|default\b|with\b|w/))",
    re.IGNORECASE,
)
"""A label that begins with it: `FSDP2 + policy per layer`, `FSDP only`."""

_DOUBTFUL = re.compile(
    r"\b(?:not|n['’]t|never|no|instead|rather|than|vs\.?|versus|unlike|compar\w+|or|either|if|when"
    r"|where|unless(?! (?:otherwise|(?:\w+ )?(?:noted|stated|mentioned|said|specified|marked))\b)"
    r"|optional\w*|could|can|would|should|may|might|support\w*|plan\w*|later|earlier"
    r"|previous\w*|tried|fails?|failed|(?:move|moved|switch|switched|port|ported|migrat\w+|from|to)"
    r"(?= (?:PyTorch )?FSDP)|faster|slower|between|respectively|ZeRO(?:[ -]?(?:stage[ -]?)?[0-3])?"
    r"|DDP|distributed[ -]?data[ -]?parallel\w*|DeepSpeed|Megatron\w*|reshard\w*"
    r"|SHARD_GRAD_OP|NO_SHARD|HYBRID_SHARD|FULL_SHARD"
    r"|hybrid|shard_grad_op|grad_op)\b|->|→|=>",
    re.IGNORECASE,
)
"""Words beside which FSDP is perhaps not what all of a text's runs used, or not by its default."""

_EACH = re.compile(r"\b(?:FSDP[12]?|HSDP)(?![\w-])")


def sharding_told(text: str) -> tuple[str, int] | None:
    """How a sentence says that a model was sharded, and where.

    >>> sharding_told("Everything ran in bf16 with FSDP2."), sharding_told("HSDP, bf16")
    (('FSDP', 28), ('HSDP', 0))
    >>> sharding_told("We port it from FSDP to DDP."), sharding_told("FSDP1 and FSDP2, bf16")
    (None, None)
    >>> sharding_told("Sharding is fully sharded data parallelism over all chips.")
    ('FSDP', 12)
    """
    return _told(_IN_SENTENCE.search(text) or _SHARDED_OVER.search(text), text)


def sharding_labelled(text: str) -> tuple[str, int] | None:
    """How the label of a row says that its model was sharded, and where.

    >>> sharding_labelled("FSDP2 + policy per layer"), sharding_labelled("FSDP only")
    (('FSDP', 0), ('FSDP', 0))
    >>> sharding_labelled("FSDP → DDP"), sharding_labelled("FSDP size 8")
    (None, None)
    >>> sharding_labelled("FSDP with NO_SHARD"), sharding_labelled("FULL_SHARD vs NO_SHARD")
    (('NO_SHARD', 10), None)
    """
    if strategies := list(_STRATEGY.finditer(text)):
        told = {each[0] for each in strategies}
        doubtful = len(told) > 1 or _DOUBTFUL.search(_STRATEGY.sub(" ", text))
        return None if doubtful else (strategies[0][0], strategies[0].start())
    return _told(_LABEL.match(text), text)


_STRATEGY = re.compile(r"\b(?:FULL_SHARD|HYBRID_SHARD|SHARD_GRAD_OP|NO_SHARD)\b")
"""A way of sharding by its name in FSDP, wherever in a label: `FSDP (bf16, FULL_SHARD)`."""


def sharding_set(option: str, text: str) -> str | None:
    """How an option says that a model is sharded: by the name of a way, or by how many share it.

    >>> sharding_set("fsdp", "full_shard auto_wrap"), sharding_set("ici_fsdp_parallelism", "-1")
    ('FULL_SHARD', 'FSDP')
    >>> sharding_set("ici_fsdp_parallelism", "1"), sharding_set("fsdp", "true")
    (None, None)
    >>> sharding_set("engine.strategy", "fsdp2"), sharding_set("--strategy", "ddp")
    ('FSDP', None)
    """
    own, words = option.lstrip("-").rpartition(".")[2].casefold(), text.strip("\"'").split()
    if own == "fsdp" and words and (named := _STRATEGY.fullmatch(words[0].upper())):
        return named[0]
    if own == "strategy" and words and (named := _BY_NAME.fullmatch(words[0])):
        return named[1].upper()
    shared = words and _SHARES.fullmatch(own) and _SEVERAL.fullmatch(words[0])
    return "FSDP" if shared else None


_SHARES = re.compile(
    r"(?:ici_|dcn_)?fsdp_(?:parallelism|size|degree|dim)|data_parallel_shard_degree|dp_shard"
)
"""Options of how many devices share the weights of a model among them."""

_BY_NAME = re.compile("(fsdp|hsdp)2?", re.IGNORECASE)
"""A way of sharding as the strategy of a trainer: `--strategy fsdp`, `engine.strategy=fsdp2`."""

_SEVERAL = re.compile(r"-1|[2-9]|[1-9][0-9]{1,4}")
"""More than one, or all that are left."""


def _told(found: re.Match[str] | None, text: str) -> tuple[str, int] | None:
    if found is None or _DOUBTFUL.search(text) or len(set(_EACH.findall(text))) > 1:
        return None
    hybrid = found.groupdict().get("hybrid")
    return ("HSDP" if hybrid else "FSDP"), found.start("name")
