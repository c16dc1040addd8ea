"""Cells and labels that say several things at once: layouts, machines, calculations.

In: the text of a cell, or of a label. Out: what it says, by field. A text is taken apart only if
every part of it is known: what is left over might be what the numbers mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

from assay.ingest.columns.titles import (
    LARGEST_NODE,
    family_named,
    format_named,
    model_named,
)
from assay.ingest.grids.grid import LONGEST
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.attention_names import attention_named, switches_flash
from assay.ingest.vocabulary.card_counts import CARDS, cards_of
from assay.ingest.vocabulary.devices import (
    OF_EACH_NODE,
    SIGN,
    devices,
    only,
    several,
    signed,
)
from assay.ingest.vocabulary.recomputation import how_much_named
from assay.ingest.vocabulary.sectioned_keys import in_section
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, SCALED, configured_by, normalise

NAMES = {
    "tp": "tp", "mp": "tp", "pp": "pp", "dp": "dp", "cp": "cp", "ep": "ep", "vp": "vp", "vpp": "vp",
    "mbs": "micro_batch", "mb": "micro_batch", "tmbspg": "micro_batch",
    "gbs": "global_batch", "gb": "global_batch",
    "gas": "accumulation", "ga": "accumulation", "nl": "layers", "hs": "hidden",
    "nah": "heads", "seqlen": "seq_len", "seq": "seq_len", "sl": "seq_len",
}  # fmt: skip
"""Short names that a layout is written with, each before its number: `tp2`, `PP=4`."""

_PART = deferred(r"([A-Za-z]+)[=:]?([0-9]+)(k?)", re.IGNORECASE)

_WAYS = deferred(r"\b([0-9]+)[- ]way ([TPDCE]P)\b", re.IGNORECASE)
"""A degree in front of its name: `2-way TP`."""

_LETTERS = deferred(r"(?=.*[tT].*[pP]|.*[dD].*[tTpP])(?:[tpdceTPDCE][0-9]+){2,5}")
"""Degrees by the first letters of their names, as papers write them: `t2p8d4`."""

_INTRODUCED = deferred(r"(?:[A-Za-z]|[1-5][dD]\b)[A-Za-z +-]*(?:[(（]([^()（）]*)[)）]|: (.*))")
"""A layout behind a word on how it was found: `auto (TP=2, PP=8)`."""

_ZERO = deferred(r"(?:zero|z)[-=]?([0-3])(?:=-?[0-9]+)?", re.IGNORECASE)  # zero1=8: over 8 ranks

_NODES = deferred(r"([0-9]+)n([0-9]+)g", re.IGNORECASE)

_DTYPE = deferred(NUMBER_FORMAT, re.IGNORECASE)

_SCALED_FORMAT = deferred(rf"({NUMBER_FORMAT}){SCALED}", re.IGNORECASE)

_PRODUCT = deferred(r"[0-9]+(?:[x×][0-9]+)+")

_APART = deferred(r"[\s+_,;·/()\[\]{}（），]+")

_HYPHEN = deferred(r"(?<=[A-Za-z][0-9])-(?=[A-Za-z])|(?<=[A-Za-z][0-9]{2})-(?=[A-Za-z])")  # TP8-PP4

_SPACED = deferred(
    r"\b((?:FSDP2?|HSDP|TP|PP|DP|CP|EP|VPP|VP))\s+(?=[0-9]+(?![0-9A-Za-z.]))", re.IGNORECASE
)
"""A short name set apart from its number: `FSDP 8, TP 8, PP 8`."""

_DEGREE = deferred(
    r"\b(FSDP2?|HSDP|TP|PP|DP|CP|EP|VPP|VP)[ -](?:degree|size)(?: of)?[ =:]{1,3}"
    r"(?=[0-9]+(?![0-9A-Za-z.]))",
    re.IGNORECASE,
)
"""The same with the word for the number: `FSDP + CP degree 4`."""

_FSDP = deferred(r"(fsdp[12]?|hsdp)(?:[=:]?([0-9]+))?", re.IGNORECASE)

_COMPILED = deferred(r"(?:torch\.)?compile", re.IGNORECASE)

_ASYNC = deferred(r"\basync(?:hronous)?[ -]?TP\b", re.IGNORECASE)
"""How traffic of tensor parallelism runs, which no column holds: `Async TP`."""

_RUN_ON = deferred(r"(?:(?:tp|pp|dp|cp|ep|vpp|vp|sd)[0-9]+){2,}", re.IGNORECASE)  # PP2DP4TP1

_SHARDING = deferred(r"sharding[0-9]*", re.IGNORECASE)

_CORES_OF_A_NODE = deferred(
    r"([0-9]{1,3})[x×]?(?:NCs?|GPUs?|NPUs?|cores?|chips)/node(?![A-Za-z])", re.IGNORECASE
)
"""Devices of each node: `32xNC/node`."""

_SHARDS = deferred(r"sd[0-9]+", re.IGNORECASE)
"""A degree of sharding of states, of what stage another part says: `sd8_stage2`."""

_COUNTED = deferred(
    rf"([0-9][0-9,]*) ?[x×*] ?"
    rf"((?:{SIGN}s?|[A-Z]{{1,3}}[0-9]{{1,4}}[A-Za-z]*)(?:[ _-][\w-]+){{0,3}}"
    rf"|{SIGN}(?:[ _-][\w-]+){{0,3}} ?"
    r"\((?:(?:[0-9]{2,3} ?Gi?B(?: each)?|SXM[2-6]?|PCIe|HBM[23]?e?|NVL)[,/ ]{0,2}){1,3}\))"
)
"""Devices counted, with what is said of one of them in brackets: `8x H100`, `8 x A100 (40GB)`."""

_OF_MANY = deferred(
    r"([0-9][0-9,]*)\s*(?:[gnhtxi]pus?|gcds?|dcus?|mlus?|devices?|accelerators?|cards?|chips?|ranks?)",
    re.IGNORECASE,
)

_COUNTED_BEHIND = deferred(rf"([^()]{{2,40}}?)\s*\(\s*{_OF_MANY.pattern}\s*\)?", re.IGNORECASE)
"""A device and, in brackets, how many there were of it: `A100 (8 GPUs)`."""

_ON_NODES = deferred(
    r"([0-9]{1,6})[ -]?(?:nodes?|ノード|노드|节点|節點|Knoten|nœuds)", re.IGNORECASE
)

_SIZE = deferred(r"([0-9]+(?:\.[0-9]+)?)\s?([BM])(?:\s+params?)?", re.IGNORECASE)


_SETTING = deferred(r"([A-Za-z_]\w*)\s*=\s*(?:[\"“'‘]([^\"“”'‘’]*)[\"”'’]|([\w.]+))")

_STAGE = deferred(r"stage-?([0-3])")

_SWITCHED = {
    "flashattention": ("attention", "flash"), "useflashattn": ("attention", "flash"),
    "useremat": ("recompute", "full"),
}  # fmt: skip

_RECORD = deferred(r"[A-Za-z_]\w*\(([^()]+)\)")
"""Settings as the record of a program prints them: `GPTConfig(seq_len=1024, num_layers=24)`."""

_STAGE_ALONE = deferred(r"sharding[ _-]?stage[ _-]?[0-3]", re.IGNORECASE)

_STAGED = deferred(r"\bZeRO[ -]?(?:stage[ -]?)?([0-3])\b", re.IGNORECASE)

_SET_UPS = {"deepspeed", "deepspeedconfig", "dsconfig", "zero", "sharding", "strategy"}
"""Labels of columns that name the file of a set-up of sharding."""

_FULLY = {"fsdp", "fsdp2", "megatronfsdp", "fullyshard", "fsdpsize", "fsdpdegree"}
"""Labels of columns whose cells switch full sharding on, or say among how many ranks."""

_ON = {"yes", "true", "on", "y", "✓", "✔", "✅"}

_OF_A_STAGE = re.compile(r"(?:use)?zero(?:stage)?([123])(?:size|ranks|group|groupsize)?")
"""Labels of columns whose cells switch one stage of ZeRO on, as shortened."""

_SHARERS = re.compile(r"\s*(?:-1|2|4|8|16|32|64|128|256|512)\s*")
"""Among how many the states of an optimizer are shared: `Zero1 | 8`, all of them as -1."""

_CLUSTERS = {"集群", "集群规模", "机器规模", "训练规模", "规模", "cluster", "clustersize",
             "nodesxgpus", "nodesxcards", "nodesxnpus", "nodesxdevices"}  # fmt: skip
"""Labels of columns that say nodes and the devices of each: `4x8`."""

_STRATEGY = deferred(
    r"(?:FSDP[12]?[ :=(-]+)?(FULL_SHARD|NO_SHARD|HYBRID_SHARD|SHARD_GRAD_OP)\)?"
    r"(?:[ ,+]+(?:auto_wrap|auto wrap|(?:cpu_)?offload))*",
    re.IGNORECASE,
)
"""How FSDP shards, by PyTorch's own names, which mean nothing else."""

_NODES_BY_CARDS = deferred(r"([0-9]+)\s*[x×*]\s*([0-9]+)")

_STAGE_OF_FILE = deferred(
    r"(?<![A-Za-z0-9])(?:z|zero|stage|zero[_-]?stage)[_-]?([0-3])(?![0-9])", re.IGNORECASE
)

_RECIPES = {"scaling", "recipe", "scalingrecipe", "fp8recipe", "float8recipe", "quantization"}

_NARROW = deferred(
    r"\b(?:tensor-?wise|row-?wise|block-?wise|delayed|current scaling)", re.IGNORECASE
)

_NARROW_NAME = deferred(
    r"(?<![A-Za-z0-9])(?:mx-?fp8|float-?8|fp-?8|(?:nv|mx)?-?fp4)(?![A-Za-z0-9])", re.IGNORECASE
)

_NAMED_NARROW = {
    "fp8": "fp8", "float8": "fp8", "mxfp8": "mxfp8", "fp4": "fp4", "nvfp4": "nvfp4",
    "mxfp4": "mxfp4",
}  # fmt: skip

_PLAIN_FORMAT = deferred(r"\b(?:none|baseline)\b.*\b(bf16|bfloat16|fp16|float16)\b", re.IGNORECASE)


_MESHED = deferred(
    r"\b(?:(?:dcn|ici)_[a-z]+|fsdp(?:_transpose)?|data|dp)(?:_parallelism)? ?= ?[0-9]"
)
"""An axis of a mesh of devices that shares the batch or the weights."""

_AXES = {"tensor": "tp", "expert": "ep", "context": "cp", "pipeline": "pp"}
"""Other axes of such a mesh, by the degree that each is: `fsdp=64, tensor=4`."""


def settings(text: str) -> dict[str, str]:
    """Values of a cell that lists settings, by field; settings that are nobody's are left out.

    >>> settings('flash_attention=True, recompute=False, sharding="stage2", sharding_degree=8')
    {'attention': 'flash', 'recompute': 'False', 'zero_stage': '2'}
    >>> settings("per_device_bs=4, accumulate=32, (global bs = 2M tokens)"), settings("a = b + c")
    ({'micro_batch': '4', 'accumulation': '32'}, {})
    >>> settings("ParallelArgs(use_remat=True, dp=1, op=4, pp=2)")
    {'recompute': 'full', 'dp': '1', 'tp': '4', 'pp': '2'}
    >>> settings("checkpoint='never'"), settings("checkpoint='out/last.pt'")
    ({'recompute': 'none'}, {})
    >>> settings("fsdp=64, tensor=4, dcn_data=2"), settings("tensor=4, width=2")
    ({'tp': '4'}, {})
    """
    record = _RECORD.fullmatch(text.strip())
    text = record[1] if record else text
    meshed = _MESHED.search(text) is not None
    bare = re.sub(r"\([^()]*\)", " ", text)
    if re.search(r"\w", _SETTING.sub(" ", bare)):
        return {}
    said: dict[str, str] = {}
    for key, quoted, word in _SETTING.findall(bare):
        value, label = quoted or word, normalise(key)
        name = "tp" if record and key == "op" else configured_by(key)
        name = _AXES.get(label, name) if meshed else name
        if stage := _STAGE.fullmatch(value) if name == "sharding" else None:
            said["zero_stage"] = stage[1]
        elif label in _SWITCHED and value.casefold() == "true":
            said |= dict([_SWITCHED[label]])
        elif label == "checkpoint" and (much := how_much_named(f"{key}={value}")):
            said |= {"activation_checkpointing": "True"} if much == "on" else {"recompute": much}
        elif label == "lbs":  # of a device, where nothing else of the cell is
            said.setdefault("micro_batch", value)
        elif name == "recompute" or (name and value.isdecimal() and name != "sharding"):
            said[name] = value
        else:
            said |= _worded(key, value)
    return said


_TOKENS_OF_A_BATCH = deferred(
    r"(?<![\w/-])(?:([A-Za-z_]+(?:[ -][A-Za-z_]+){0,2})\s*[=: ]\s*(?:[0-9]+ ?[(（])?)?"
    r"([0-9][0-9,]*(?:\.[0-9]+)?) ?([kKMB]?) ?-?(?:tokens?|toks?)\b"
    r"( ?(?:/|per|in (?:a|each)) ?(?:global )?(?:batch|step|iteration|update)\b)?"
)

_OF_ALL = {"gbs", "gb", "globalbs", "globalbsz", "bs", "bsz", "batch", "totalbatch"}
"""Names of a batch in tokens, among settings, besides those that name it in full."""


def batch_in_tokens(text: str) -> tuple[str, str]:
    """The tokens of a batch that a cell has among its settings, and what its number counts.

    >>> batch_in_tokens("per_device_bs=4, (global bs = 2M tokens)"), batch_in_tokens("2M tokens")
    (('2', 'M'), ('', ''))
    >>> batch_in_tokens("tp=2, 524,288 tokens per batch"), batch_in_tokens("micro batch 4k tokens")
    (('524288', ''), ('', ''))
    """
    said = set[tuple[str, str]]()
    for found in _TOKENS_OF_A_BATCH.finditer(text) if "tok" in text else ():
        name = configured_by(found[1]) if found[1] else None
        of_all = name in ("global_batch", "batch_size") or normalise(found[1] or "") in _OF_ALL
        if of_all or (found[4] and not found[1]):
            said.add((found[2].replace(",", ""), found[3]))
    return said.pop() if len(said) == 1 else ("", "")


_OPTION = deferred(r"--([A-Za-z][\w.-]*)(?:(?:=|\s+(?!--))(\"[^\"]*\"|[^\s\"]+))?\s*")

_OVERRIDE = deferred(r"\+{0,2}((?:[A-Za-z]\w*\.)*[A-Za-z]\w*)=(\"[^\"]*\"|[^\s\"]+)\s*")

_OF_SECTION = deferred(r"(?:^|\s)\+{0,2}[A-Za-z]\w*\.[\w.]+=")
"""A key with its section: beside one, those without are of a configuration as well."""

_LEFT_OUT = {"eval", "validation", "test", "inference", "generation", "optim", "optimizer", "vllm",
             "rollout", "critic", "reward", "ref", "draft", "teacher", "vision"}  # fmt: skip
"""Sections of options whose settings are of something else than the training of the model."""


def options(text: str) -> dict[str, str]:
    """Settings of a cell that is nothing but options of a command or overrides of a configuration.

    >>> options("--parallelism.tensor_parallel_degree=2 --training.local_batch_size 4 --compile")
    {'tp': '2', 'micro_batch': '4'}
    >>> options("model.tensor_model_parallel_size=4 model.data.seq_length=8192"), options("a.b=c d")
    ({'tp': '4', 'seq_len': '8192'}, {})
    >>> options("model.attn=flash"), options("trainer.strategy=fsdp model.grad_ckpt=true")
    ({'attention': 'flash'}, {'sharding': 'FULL_SHARD', 'activation_checkpointing': 'True'})
    >>> options("parallel.pipeline=8 parallel.virtual_pipeline=null recompute=full")
    {'pp': '8', 'vp': 'null', 'recompute': 'full'}
    """
    said: dict[str, str] = {}
    pattern, at = (_OPTION, 0) if text.startswith("--") else (_OVERRIDE, 0)
    if pattern is _OVERRIDE and not _OF_SECTION.search(text):
        return {}
    while at < len(text):
        found = pattern.match(text, at)
        if found is None:
            return {}
        at = found.end()
        *path, key = re.split(r"\.", found[1])
        value = (found[2] or "").strip("\"'")
        label = in_section(path, key) or key
        if not _LEFT_OUT & set(path):
            said |= _worded(label, value)
            name = configured_by(label)
            form = _STAGES if name == "zero_stage" else _WHOLE
            if name in _OVERRIDDEN and (value in UNSET or form.fullmatch(value)):
                said[name] = value
    return said


UNSET = ("null", "None")
"""Values of an override by which a setting is none, whatever the configuration below it says."""

_WHOLE, _STAGES = re.compile("0*[1-9][0-9]*"), re.compile("[0-3]")


def _worded(label: str, value: str) -> dict[str, str]:
    """Settings of an option whose value is a word, or a switch."""
    name, on = configured_by(label), value.casefold()
    value = re.sub("-(?:true|mixed)$", "", value)  # as Lightning writes number formats
    if name == "recompute" or (name == "dtype" and _DTYPE.fullmatch(value)):
        return {name: value}
    if name == "activation_checkpointing" and on in ("true", "false"):
        return {name: on.capitalize()}
    if name == "attention" or normalise(label) in ("attention", "attn"):
        kernel = attention_named(value)
        return {"attention": kernel} if kernel else {}
    if on == "true" and switches_flash(normalise(label)):
        return {"attention": "flash"}
    if normalise(label) in _STRATEGIES and _FULL_SHARDING.fullmatch(value):
        return {"sharding": "FULL_SHARD"}
    return {}


_STRATEGIES = {"strategy", "distributedstrategy", "parallelstrategy"}

_FULL_SHARDING = re.compile("fsdp[12]?", re.IGNORECASE)


_NAMED_NUMBER = deferred(r"([A-Za-z][A-Za-z_ -]*?)\s*[ =:]\s*([0-9]+)(k)?", re.IGNORECASE)

_SET = {"seq_len", "micro_batch", "global_batch", "batch_size", "tp", "pp", "dp", "cp", "ep"}
"""Fields that a name and a number among other words of a cell may set."""

_OVERRIDDEN = _SET | {"vp", "accumulation", "zero_stage", "nodes", "layers", "hidden", "heads",
                      "kv_heads", "ffn_hidden"}  # fmt: skip
"""Fields that an option or an override sets."""

_DEGREES_ALONE = deferred(r"(?:(?:TP|PP|DP|CP|EP|VPP?)[=-]?[0-9]{1,4}[ +/-]*){1,6}", re.IGNORECASE)
"""A part of a cell that is degrees of a layout: `TP2`, `TP4 PP2`."""

_ALSO = {"batch": "batch_size"}
"""Names that are clear before a number alone."""


def mentioned(text: str) -> dict[str, str]:
    """Settings among the parts of a cell in words: a name that is clear, and its number.

    >>> mentioned("Full, FSDP, seq 4096"), mentioned("FSDP, seq 4k"), mentioned("seq 4096")
    ({'seq_len': '4096'}, {'seq_len': '4096'}, {})
    >>> mentioned("No AC, batch 2"), mentioned("8xH100 7B bs=4 seq=2048 +compile")
    ({'batch_size': '2'}, {'model_size': '7B', 'batch_size': '4', 'seq_len': '2048'})
    """
    parts = re.split(r"[,;]\s+", text) if len(text) <= LONGEST else []
    said: dict[str, str] = {}
    if len(parts) == 1 and text.count("=") > 1:
        parts = text.split()
        sizes = {part for part in parts if _SIZE.fullmatch(part) and part[-1] in "BM"}
        said |= {"model_size": sizes.pop()} if len(sizes) == 1 else {}
    if len(parts) > 1:
        sizes = {part for part in parts if _SIZE.fullmatch(part) and part[-1] == "B"}
        said |= {"model_size": sizes.pop()} if len(sizes) == 1 else {}
        for told in (layout(part) for part in parts if _DEGREES_ALONE.fullmatch(part)):
            said |= told
    for found in map(_NAMED_NUMBER.fullmatch, parts if len(parts) > 1 else []):
        name = (configured_by(found[1]) or _ALSO.get(found[1].casefold())) if found else None
        if found is None or name not in _SET or (found[3] and name != "seq_len"):
            continue
        value = str(int(found[2]) * (1024 if found[3] else 1))
        if said.setdefault(name, value) != value:
            return {}
    return said


def recipe(label: str, text: str) -> dict[str, str]:
    """The number format that a recipe of narrow products, or none of them, stands for; the stage of
    ZeRO that a word names.

    >>> recipe("Scaling", "tensorwise with float8 all-gather"), recipe("Scaling", "none (bfloat16)")
    ({'dtype': 'fp8'}, {'dtype': 'bfloat16'})
    >>> recipe("recipe", "mxfp8 grouped GEMM"), recipe("recipe", "mxfp8 experts, fp8 attention")
    ({'dtype': 'mxfp8'}, {})
    >>> recipe("Setting", "Fully-sharded ZeRO 3")
    {'zero_stage': '3'}
    >>> recipe("FSDP", "64"), recipe("FSDP", "0")
    ({'sharding': 'FULL_SHARD'}, {})
    >>> recipe("fsdp_mode", "SHARD_GRAD_OP"), recipe("fsdp", "full_shard auto_wrap")
    ({'sharding': 'SHARD_GRAD_OP'}, {'sharding': 'FULL_SHARD'})
    >>> recipe("Zero1", "-1"), recipe("ZeRO-2", "✓"), recipe("ZeRO-1", "31"), recipe("Zero1", "1")
    ({'zero_stage': '1'}, {'zero_stage': '2'}, {}, {})
    >>> recipe("deepspeed", "configs/ds_z2_config.json"), recipe("deepspeed", "zero3_offload.json")
    ({'zero_stage': '2'}, {'zero_stage': '3'})
    """
    if strategy := _STRATEGY.fullmatch(text.strip()):
        return {"sharding": strategy[1].upper()}
    if (counted := _NODES_BY_CARDS.fullmatch(text)) and normalise(label) in _CLUSTERS:
        return {"nodes": counted[1], "gpus_per_node": counted[2]}
    if stages := set(_STAGED.findall(text)):
        return {"zero_stage": stages.pop()} if len(stages) == 1 else {}
    if normalise(label) in _FULLY and (switch := text.strip().casefold()):
        return {"sharding": "FULL_SHARD"} if switch in _ON or switch.strip("0").isdecimal() else {}
    if staged := _OF_A_STAGE.fullmatch(normalise(label)):
        on = text.strip().casefold() in _ON or (staged[1] == "1" and _SHARERS.fullmatch(text))
        return {"zero_stage": staged[1]} if on else {}
    if normalise(label) in _SET_UPS and (stages := set(_STAGE_OF_FILE.findall(text))):
        return {"zero_stage": stages.pop()} if len(stages) == 1 else {}
    if normalise(label) not in _RECIPES:
        return {}
    if _DTYPE.fullmatch(text.strip()):
        return {"dtype": text.strip()}
    if plain := _PLAIN_FORMAT.search(text):
        return {"dtype": plain[1].casefold()}
    kinds = {_NAMED_NARROW[each.casefold().replace("-", "")] for each in _NARROW_NAME.findall(text)}
    if len(kinds) > 1:
        return {}  # `mxfp8 experts + fp8 attention`
    return {"dtype": kinds.pop()} if kinds else {"dtype": "fp8"} if _NARROW.search(text) else {}


def product(text: str, names: Sequence[str]) -> dict[str, str]:
    """Degrees in a product among the parts of a text, by what a legend says its factors are.

    >>> product("nl24_fp16_8x1x1_mb16", ("dp", "tp", "pp"))
    {'dp': '8', 'tp': '1', 'pp': '1'}
    """
    for part in _APART.split(text.strip()):
        factors = re.split("[x×]", part)
        if len(names) > 1 and _PRODUCT.fullmatch(part) and len(factors) == len(names):
            return dict(zip(names, factors, strict=True))
    return {}


def layout(text: str) -> dict[str, str]:
    """Values of a text that is nothing but a layout, by field; none where it is something else.

    >>> layout("zero1(dp2)+tp2+pp4")
    {'zero_stage': '1', 'dp': '2', 'tp': '2', 'pp': '4'}
    >>> layout("nl24_fp16_8x1x1_mb16_gb128_1n8g")["nodes"], layout("PP2DP4TP1")["dp"]
    ('1', '4')
    >>> layout("zero2"), layout("tp2 or so"), layout("16")
    ({'zero_stage': '2'}, {}, {})
    >>> layout("[TP=8 PP=4] x [DP=16]"), layout("[32xNC(DP)] x 16Nodes(DP)")
    ({'tp': '8', 'pp': '4', 'dp': '16'}, {'dp': '512'})
    >>> layout("tp2sd4_stage2"), layout("sd8_stage1")
    ({'tp': '2', 'zero_stage': '2'}, {'zero_stage': '1'})
    >>> layout("sharding8 stage2"), layout("32xNC/node; TP=8, PP=1")["gpus_per_node"]
    ({'zero_stage': '2'}, '32')
    >>> layout("FSDP 32, TP 8"), layout("torch.compile + Float8")
    ({'sharding': 'FULL_SHARD', 'dp': '32', 'tp': '8'}, {'dtype': 'Float8'})
    >>> layout("no TP, PP=2"), layout("no TP")
    ({'tp': '1', 'pp': '2'}, {})
    >>> layout("FSDP + CP degree 4"), layout("TP size 2, PP size 8")
    ({'sharding': 'FULL_SHARD', 'cp': '4'}, {'tp': '2', 'pp': '8'})
    >>> layout("HSDP 2 x 16"), layout("HSDP 2x8 x TP 4")
    ({'sharding': 'HYBRID_SHARD', 'dp': '32'}, {'sharding': 'HYBRID_SHARD', 'dp': '16', 'tp': '4'})
    >>> layout("dp_replicate 2, dp_shard 16, tp 8"), layout("dp_shard=-1, tp=2")
    ({'tp': '8', 'dp': '32'}, {})
    >>> layout("auto (TP=2, PP=8)"), layout("t2p8d4"), layout("2-way TP, 4-way PP, SL4k")["seq_len"]
    ({'tp': '2', 'pp': '8'}, {'tp': '2', 'pp': '8', 'dp': '4'}, '4096')
    >>> layout("3d（tp=2）"), layout("auto (TP8)"), layout("MoE: EP8")
    ({'tp': '2'}, {}, {})
    """
    if len(text) > LONGEST:
        return {}
    found = _layout(text)
    if not found and (behind := _INTRODUCED.fullmatch(text.strip())):
        found = _layout(behind[1] or behind[2])
        found = found if len(found) > 1 or (behind[1] and "=" in behind[1]) else {}
    return dict(found)


_NOT_SPLIT = re.compile(r"\b(?:no|without|w/o) (TP|PP|CP|EP)(?![A-Za-z0-9])", re.IGNORECASE)
"""One way to split a model that is not used."""


@lru_cache(maxsize=4096)  # a table has the same cells again and again, and sentences their words
def _layout(text: str) -> Mapping[str, str]:
    said: dict[str, str] = {}
    if not _NOT_SPLIT.fullmatch(text.strip()):  # alone it may only say what differs
        text = _NOT_SPLIT.sub(r"\1=1", text)
    text = _by_mesh(text) if "shard" in text or "replicate" in text else text
    text = _HYBRID.sub(_whole, text) if "HSDP" in text else text
    text = re.sub(r"\s*=\s*", "=", _WAYS.sub(r"\2=\1", text.strip()))  # gas = 1
    text = _DEGREE.sub(r"\1=", text) if "egree" in text or "size" in text else text
    text = _SPACED.sub(r"\1=", _HYPHEN.sub(" ", _ASYNC.sub(" ", _by_units(text))))
    if "/node" in text and (node := _CORES_OF_A_NODE.search(text)):
        said["gpus_per_node"] = node[1]
        text = text.replace(node[0], " ")
    parts = [part for part in _APART.split(text) if part and part not in ("x", "×")]
    for part in parts:
        found = _part(part)
        if found is None or any(said.get(k, v) != v for k, v in found.items()):
            return {}
        said |= found
    alone = len(parts) == 1 and text.strip().casefold().startswith("zero")
    alone = alone or bool(_STAGE_ALONE.fullmatch(text.strip()))
    alone = alone or any(map(_SHARDS.fullmatch, parts)) or any(map(_SHARDING.fullmatch, parts))
    alone = alone or any(map(_COMPILED.fullmatch, parts))
    return said if set(said) - {"zero_stage", "dtype", "attention"} or alone else {}


_MESH = deferred(
    r"(?<![\w])(?:dp|data[ _]parallel)_(shard|replicate)(?:_(?:degree|size))?[ =:]{1,3}([0-9]{1,5})"
    r"(?![\w.])"
)


def _by_mesh(text: str) -> str:
    """A layout with the degree of data parallelism for the dimensions of a mesh that are of it, as
    torchtitan calls them: `dp_replicate 2, dp_shard 16, tp 8`."""
    many = dict[str, str](_MESH.findall(text))
    told = f" dp={prod(map(int, many.values()))}"
    return f"{_MESH.sub(' ', text)}{told}" if len(many) == len(_MESH.findall(text)) > 0 else text


_HYBRID = deferred(
    r"\bHSDP ?[=:(]? ?([0-9]{1,4}) ?[x×] ?([0-9]{1,4})\b\)?(?! ?(?:GPU|node|[TPCE]P)|=|[.,]?[0-9])"
)
"""Copies of a model, and by how many devices each is shared: `HSDP 2 x 16`."""


def _whole(found: re.Match[str]) -> str:
    """Hybrid sharding with all devices that it spreads data over."""
    return f"HSDP={int(found[1]) * int(found[2])}"


_UNITS = deferred(
    r"([0-9]{1,5}) ?[x×]? ?(?:NCs?|Nodes?|GPUs?|cores?|chips|devices) ?\(([TPDCE]P)\)",
    re.IGNORECASE,
)


def _by_units(text: str) -> str:
    """A layout with degrees for what is counted and spread by each: `[32xNC(DP)] x 16Nodes(DP)`."""
    many: dict[str, int] = {}
    for count, name in _UNITS.findall(text):
        many[name] = many.get(name, 1) * int(count)
    told = " ".join(f"{name}={count}" for name, count in many.items())
    return f"{_UNITS.sub(' ', text)} {told}" if many else text


def _part(text: str) -> dict[str, str] | None:
    """Values of one part: none where it may be anything, None where it is not known."""
    if zero := _ZERO.fullmatch(text):
        return {"zero_stage": zero[1]}
    if _DTYPE.fullmatch(text):
        return {"dtype": text}
    if nodes := _NODES.fullmatch(text):
        return {"nodes": nodes[1], "gpus_per_node": nodes[2]}
    if shards := _FSDP.fullmatch(text):
        kind = "HYBRID_SHARD" if shards[1].casefold() == "hsdp" else "FULL_SHARD"
        return {"sharding": kind} | ({"dp": shards[2]} if shards[2] else {})
    if _COMPILED.fullmatch(text):
        return {}
    if word := _WORDS.get(text.casefold()):
        return dict([word])
    if stage := re.fullmatch(r"stage([0-3])", text, re.IGNORECASE):
        return {"zero_stage": stage[1]}
    if _PRODUCT.fullmatch(text) or _SHARDING.fullmatch(text):
        return {}
    if _LETTERS.fullmatch(text):
        degrees = re.findall("([a-z])([0-9]+)", text.casefold())
        return {letter + "p" if letter != "p" else "pp": many for letter, many in degrees}
    if _RUN_ON.fullmatch(text):
        told = [(n.casefold(), v) for n, v, _ in _PART.findall(text)]
        return {NAMES[name]: value for name, value in told if name != "sd"}
    if _SHARDS.fullmatch(text):
        return {}
    part = _PART.fullmatch(text)
    name = NAMES.get(part[1].casefold()) if part and not devices(text) else None  # GB200
    if part is None or name is None or (part[3] and name != "seq_len"):
        return None
    return {name: str(int(part[2]) * 1024) if part[3] else part[2]}


_WORDS = {
    **dict.fromkeys(("flash", "flashattn", "fa2", "fa3"), ("attention", "flash")),
    "unfused": ("attention", "unfused"),
    **{
        f"{what}{sign}{how}": ("activation_checkpointing", str(how in ("", "true", "on")))
        for what in ("ac", "ckpt", "remat", "recompute")
        for how in ("", "true", "false", "on", "off")
        for sign in (("", "=", "-") if how else ("",))
    },
}
"""Parts of a layout without a number, and what each says: `tp4pp2-mbs1-flash`, `nl24_actrue`."""

_GRAMS = deferred(
    r"[\s,;:|/+()\[\]（），；]+|(?<![0-9\s])[x×](?=[A-Z])|(?<=[0-9])×(?=[A-Z]{2}[0-9])"
)
"""Between the words of a label that is put together of settings."""

_DEGREE_WORD = deferred(r"([TPDCE]P|VPP?)-([0-9]{1,4})|([0-9]{1,4})x?([TPDCE]P)", re.IGNORECASE)
"""A degree with a hyphen, or in front of its name: `TP-4`, `4TP`."""

_FILLING = {
    "x", "×", "on", "@", "and", "with", "w", "amp", "mixed", "precision", "mixed-precision",
    "compile", "compiled", "torch.compile", "1f1b", "gpipe", "interleaved", "lora", "qlora",
}  # fmt: skip
"""Words of such a label that change no setting of it, or that others read."""

MOST_WORDS = 3
"""Words of one part of such a label: `Llama 3 8B`, `no recompute`, `8 H100`."""


@lru_cache(maxsize=4096)
def composed(text: str) -> Mapping[str, str]:
    """Values of a label whose every word is of a setting, a machine, a size or a model: the words
    that say nothing else together are one.

    >>> composed("8xH100 TP4 bf16"), composed("Kite-7B TP4, PP2")
    ({'gpus': '8', 'gpu': 'H100', 'tp': '4', 'dtype': 'bf16'}, \
{'model': 'Kite-7B', 'tp': '4', 'pp': '2'})
    >>> composed("TP-4 PP-2, bs 4 (tuned)"), composed("FSDP + selective AC")["recompute"]
    ({}, 'selective')
    """
    words = [word for word in _GRAMS.split(text) if word] if len(text) <= LONGEST else []
    said: dict[str, str] = {}
    at = pieces = 0
    while at < len(words):
        pieces += 1
        if words[at].casefold() in _FILLING:
            at += 1
            continue
        for many in range(min(MOST_WORDS, len(words) - at), 0, -1):
            told = _gram(words[at : at + many])
            if told and told.get("model", text) in text:  # and not put together here
                break
        else:
            return {}
        if any(said.get(name, value) != value for name, value in told.items()):
            return {}
        said |= told
        at += many
    return _of_nodes(said, text) if pieces > 1 else {}


def _of_nodes(said: dict[str, str], text: str) -> dict[str, str]:
    """The same with devices as those of each node where the text multiplies them, `4 nodes x 8
    A100`; none where they may be either."""
    if not {"nodes", "gpus"} <= said.keys() or said["nodes"] == "1":
        return said
    if _TIMES_NODES.search(text):
        return {"gpus_per_node" if n == "gpus" else n: value for n, value in said.items()}
    return said if int(said["gpus"]) > LARGEST_NODE else {}


_TIMES_NODES = deferred(r"nodes?\s*(?:[x×*]|\b(?:of|with|each|à)\b)", re.IGNORECASE)


def _gram(words: Sequence[str]) -> dict[str, str]:
    """Values of some words of a label that say one thing together; empty where they do not."""
    text = " ".join(words)
    if model_named(text) == text:
        return {"model": text}
    if told := named(text):
        return told
    if len(words) == 1:
        if degree := _DEGREE_WORD.fullmatch(text):
            name, many = (degree[1], degree[2]) if degree[1] else (degree[4], degree[3])
            return {NAMES[name.casefold()]: many}
        return _part(text) or _set_by(text)
    return _counted_plainly(text) or _set_by(text)


def _set_by(text: str) -> dict[str, str]:
    """A setting by its name and a number: `bs 4`, `seq2048`, `ctx=4k`."""
    found = _NAMED_NUMBER.fullmatch(text) or _RUN_TOGETHER.fullmatch(text)
    name = configured_by(found[1]) or _ALSO.get(found[1].casefold()) if found else None
    known = name in _SET or name in ("accumulation", "vp")
    if found is None or name is None or not known or (found[3] and name != "seq_len"):
        return {}
    return {name: str(int(found[2]) * (1024 if found[3] else 1))}


_RUN_TOGETHER = deferred(r"([A-Za-z]{2,8})([0-9]{1,6})(k)?", re.IGNORECASE)


_IN_A_FILE = deferred(
    r"(?<![A-Za-z])(tp|pp|dp|cp|ep|vpp|vp|mbs|gbs|gas)[_=-]?([0-9]{1,5})(?![0-9]|\.[0-9])",
    re.IGNORECASE,
)

_A_FILE = deferred(r"[\w./=-]{6,}")


def file_named(text: str) -> dict[str, str]:
    """Degrees and batches in the name of a configuration, which has other parts as well; two of
    them or more, one of these a degree.

    >>> file_named("config_TP2PP4SH1SP1A10080Gx1x8"), file_named("recipes/kite_tp2.yaml")
    ({'tp': '2', 'pp': '4'}, {})
    >>> file_named("conf/kite-tp4_pp2-gbs256.sh")
    {'tp': '4', 'pp': '2', 'global_batch': '256'}
    """
    said: dict[str, str] = {}
    for name, value in _IN_A_FILE.findall(text) if _A_FILE.fullmatch(text) else ():
        if said.setdefault(NAMES[name.casefold()], value) != value:
            return {}
    return said if len(said) > 1 and {"tp", "pp", "dp"} & said.keys() else {}


_DATE = deferred(r"(?:20[0-9]{2}-?[01][0-9]|[01][0-9]-)-?[0-3][0-9](?:-?[0-9]{4,6})?")

_LENGTH = deferred(r"[0-9]{1,4}[kK]")
"""A part of a name that may be how long sequences are: which a legend says."""


def run_named(text: str) -> dict[str, str]:
    """Values of the name of a run that is put together of a model, settings and perhaps a date.

    >>> run_named("2025-02-10_qwen2.5-1.5b_4k_mb8")
    {'model': 'qwen2.5-1.5b', 'micro_batch': '8'}
    >>> run_named("llama3-8b_tp2_bf16_try3"), run_named("llama3-8b_bf16")
    ({}, {})
    >>> run_named("llama3_8b_fp8_tp1_64gpus"), run_named("gpt-13b-tp4-mbs2-8xh100")["gpus"]
    ({'model': 'llama3_8b', 'dtype': 'fp8', 'tp': '1', 'gpus': '64'}, '8')
    """
    signs = ("_", "-") if len(text) <= LONGEST and " " not in text else ()
    return next((said for sign in signs if (said := _run_in_parts(text, sign))), {})


def _run_in_parts(text: str, sign: str) -> dict[str, str]:
    """Values of such a name whose parts a sign keeps apart, which may be in its model as well."""
    parts = [part for part in text.split(sign) if part]
    said: dict[str, str] = {}
    at = 0 if len(parts) > LEAST_PARTS else len(parts)
    while at < len(parts):
        many = 0 if "model" in said else _parts_of_model(parts[at : at + MOST_OF_MODEL], sign)
        if many:
            told: Mapping[str, str] | None = {"model": sign.join(parts[at : at + many])}
        elif _DATE.fullmatch(parts[at]) or _LENGTH.fullmatch(parts[at]):
            told = {}
        else:
            told = _part(parts[at])
            told = _counted_in(parts[at]) or None if told is None else told
        if told is None or any(said.get(n, v) != v for n, v in told.items()):
            return {}
        said |= told
        at += max(many, 1)
    more = set(said) - {"model", "model_size", "dtype", "zero_stage"}
    return said if more and {"model", "model_size"} & said.keys() else {}


def _parts_of_model(parts: Sequence[str], sign: str) -> int:
    """The number of parts, from the first, that are the name of a model; 0 where none are."""
    for many in range(len(parts), 0, -1):
        names = {sign.join(parts[:many])}
        names |= {"-".join(parts[:many])} if size_alone(parts[many - 1]) else set()
        if any(model_named(name) == name for name in names):
            return many
    return 0


def _counted_in(part: str) -> dict[str, str]:
    """Devices or nodes that a part of a name counts, `64gpus`, `8xh100`, `4nodes`, or the size of a
    model that it is."""
    said = named(part)
    return said if said and set(said) <= {"gpus", "nodes", "gpu", "model_size"} else {}


MOST_OF_MODEL = 4
"""Parts of the name of a run that may be the name of its model."""

LEAST_PARTS = 2
"""Parts of what is a name alone, or a name and a remark: no settings."""

_SEVERAL = deferred(r"\(?[A-Za-z]+(?:\s*[x×*/,·-]\s*[A-Za-z]+){1,4}\)?")

_NUMBERS = deferred(r"\(?[0-9]+(?:\s*[x×*/,·-]\s*[0-9]+){1,4}\)?|[0-9]+\s*\([0-9]+\)")

_BEHIND = deferred(r"[A-Za-z][A-Za-z -]*\(([^()]+)\)")
"""A label that explains its cells behind its name: `Layout (DPxTPxPP)`."""

_GLUED = deferred(r"(?<=[A-Z])x(?=[A-Z])")

_SPELLED = {
    "dataparallel": "dp", "dp": "dp", "modelparallel": "tp", "tensorparallel": "tp", "mp": "tp",
    "tp": "tp", "pipelinestage": "pp", "pipelinestages": "pp", "pipelineparallel": "pp",
    "pp": "pp", "contextparallel": "cp", "cp": "cp", "expertparallel": "ep", "ep": "ep",
    "tensor": "tp", "pipeline": "pp", "data": "dp", "context": "cp", "expert": "ep",
}  # fmt: skip
"""Names of degrees in full: `data_parallel / model_parallel / pipeline_stage`."""

_SHARDED = deferred(r"\b(?:FSDP[12]?|DDP)\b", re.IGNORECASE)
"""Ways of data parallelism, of as many devices as a label of several degrees has for it."""

_DEGREES = {"tp", "pp", "dp", "cp", "ep", "vp", "vpp", "mp", "op"}


def degrees(label: str) -> tuple[str, ...]:
    """Fields of a label that names several degrees, in order; none where a word is another.

    >>> degrees("TP x PP x DP"), degrees("tp/pp"), degrees("tokens/s")
    (('tp', 'pp', 'dp'), ('tp', 'pp'), ())
    >>> degrees("Layout (DPxTPxPP)"), degrees("Speed (MaxOut)")
    (('dp', 'tp', 'pp'), ())
    >>> degrees("(t, p, d)"), degrees("t/p")
    (('tp', 'pp', 'dp'), ('tp', 'pp'))
    >>> degrees("FSDP2 x TP"), degrees("DP x FSDP x TP")
    (('dp', 'tp'), ())
    >>> degrees("tensor / pipeline"), degrees("tensor / cores")
    (('tp', 'pp'), ())
    """
    named = _BEHIND.fullmatch(label)
    label = _SHARDED.sub("DP", _GLUED.sub(" x ", named[1] if named else label))
    words = re.findall("[A-Za-z]+", label.replace(" x ", " ")) if _SEVERAL.fullmatch(label) else []
    words = [word.casefold() for word in words if word.casefold() != "x"]
    if not words or len({*words} & _SPELLED.keys() - _DEGREES) == len(words):
        parts = re.split(r"\s*[/×*,]\s*|\s+x\s+", label)
        told = [_SPELLED.get(normalise(part), "") for part in parts]
        return tuple(told) if len(told) > 1 and all(told) and len(set(told)) == len(told) else ()
    if len(words) > 1 and {"t", "p"} <= set(words) <= set("tpdce"):  # `(t, p, d)`
        words = [f"{word}p" for word in words]
    if len(words) < 2 or not set(words) <= _DEGREES:
        return ()
    fields = tuple({"mp": "tp", "op": "tp", "vpp": "vp"}.get(word, word) for word in words)
    return fields if len(set(fields)) == len(fields) else ()


_DIMENSIONS = {"l": "layers", "d": "hidden", "a": "heads", "v": "vocab"}

_OF_A_SHAPE = ("layers", "hidden", "heads", "kv_heads", "ffn_hidden", "vocab")


def of_a_shape(label: str) -> tuple[str, ...]:
    """Fields of a label that names several dimensions of a model, in order, the first letters of
    them as well: `h` is its width beside heads, and heads beside a width.

    >>> of_a_shape("L / d / heads"), of_a_shape("dims (hidden/layers/heads)")
    (('layers', 'hidden', 'heads'), ('hidden', 'layers', 'heads'))
    >>> of_a_shape("L/h/a"), of_a_shape("layers/d_model/h"), of_a_shape("L/d"), of_a_shape("d/s")
    (('layers', 'hidden', 'heads'), ('layers', 'hidden', 'heads'), (), ())
    """
    if len(label) > MOST_OF_A_LABEL or not any(sign in label for sign in "/×x,-"):
        return ()
    inside = _BEHIND.fullmatch(label)
    parts = re.split(r"\s*[/×,]\s*|\s+[x-]\s+", inside[1] if inside else label)
    named = [_DIMENSIONS.get(part.casefold(), "") or configured_by(part) or "" for part in parts]
    for at, part in enumerate(parts):
        if part.casefold() == "h" and not named[at]:
            named[at] = "heads" if "hidden" in named else "hidden" if "heads" in named else ""
    whole = len(named) > 1 and len(set(named)) == len(named) and {*named} <= {*_OF_A_SHAPE}
    spelled = len(named) > len("LD") or any(len(part) > 1 for part in parts)  # `(L, D)` is anything
    return tuple(named) if whole and spelled and "layers" in named else ()


MOST_OF_A_LABEL = 60
"""Letters of a label that is no sentence."""


def numbers(text: str) -> list[str]:
    """The numbers of a cell below such a label: `4 x 4 x 2`; none where it holds something else."""
    return re.findall("[0-9]+", text) if _NUMBERS.fullmatch(text.strip()) else []


def machine(text: str) -> dict[str, str]:
    """Devices, how many, on how many nodes, where a text says so; empty where it does not.

    >>> machine("A100单机8卡（1x8）"), machine("H100-55机440卡（55x8）")["nodes"], machine("4xA10G")
    ({'gpu': 'A100', 'gpus': '8', 'nodes': '1'}, '55', {'gpus': '4', 'gpu': 'A10G'})
    >>> machine("A100两机8卡(2x8)"), machine("A100两机8卡")
    ({'gpu': 'A100', 'gpus': '16', 'nodes': '2'}, {'gpu': 'A100', 'nodes': '2'})
    >>> machine("4xA10G (24GB)"), machine("4xA10G (train)")
    ({'gpus': '4', 'gpu': 'A10G (24GB)'}, {})
    >>> machine("N4C32"), machine("8x H100 per node")
    ({'nodes': '4', 'gpus': '32'}, {'gpu': 'H100', 'gpus_per_node': '8'})
    >>> machine("8p-NPU(Ascend 910B)"), machine("4p-NPU-ARM")
    ({'gpus': '8', 'gpu': 'Ascend 910B'}, {'gpus': '4'})
    >>> machine("4 x trn1.32xlarge"), machine("2x p4d.24xlarge")
    ({'nodes': '4', 'gpu': 'trn1.32xlarge'}, {'nodes': '2'})
    >>> machine("8 x A100 (40GB)"), machine("2 x H100 (8 used)")
    ({'gpus': '8', 'gpu': 'A100 (40GB)'}, {})
    >>> machine("4x A3 (h100-80gb-8)")
    {'nodes': '4', 'gpu': 'h100-80gb', 'gpus_per_node': '8'}
    """
    if len(text) > LONGEST:
        return {}
    if counted := _NODES_AND_CARDS.fullmatch(text.strip(_AROUND)):
        return {"nodes": counted[1], "gpus": counted[2]}
    if of_each := OF_EACH_NODE.search(text):
        said = machine(text[: of_each.start()])
        count = said.pop("gpus", None)
        return said | ({"gpus_per_node": count} if count else {})
    if cards := CARDS.search(text):
        lead = re.match(r"[A-Z][A-Za-z]*[0-9]+[A-Za-z]*", text)
        said = {"gpu": lead[0]} if lead else {}
        if lead and (memory := re.search(r"[x×*](?:[0-9]+[x×*])?([0-9]{2,3}) ?GB?[)）]", text)):
            said["gpu"] = f"{lead[0]} {memory[1]}GB"
        return said | cards_of(cards, text)
    text = _ASIDE.sub("", text.strip())
    if hosts := _INSTANCES.fullmatch(text):
        return {"nodes": hosts[1].replace(",", "")} | ({"gpu": hosts[2]} if only(hosts[2]) else {})
    if hosts_of := cloud_machines(text):
        return hosts_of
    if (counted := _COUNTED.fullmatch(signed(text))) and not several(text):
        device = text[counted.start(2) :]
        if any(map(_part, device.split()[1:])):  # `8xH100 TP4`
            return {}
        return {"gpus": counted[1].replace(",", ""), "gpu": device}
    if several_of := _OF_ANY.fullmatch(text):
        return {"gpus": several_of[1]}
    if (of_kind := _OF_KIND.fullmatch(text)) and (one := only(of_kind[2])):
        return {"gpus": of_kind[1], "gpu": one.text} if one.text == of_kind[2] else {}
    return {}


_INSTANCES = deferred(
    r"([0-9][0-9,]*) ?[x×*]? ?([a-z]{1,4}[0-9]+[a-z]*\.(?:[0-9]*x?large|metal)[\w-]*)",
    re.IGNORECASE,
)
"""Instances of a cloud, which are nodes: `4 x trn1.32xlarge`."""

_OF_CLOUD = deferred(
    r"(?:([0-9][0-9,]*) ?[x×*] ?)?[A-Za-z][\w.-]* ?\(([a-z]{1,3}[0-9]{1,4}(?:-mega)?-[0-9]{2,3}gb)"
    r"-([0-9]{1,2})\)",
    re.IGNORECASE,
)
"""Machines of a cloud, and in brackets its name of their devices and how many each has: `4x A3
(h100-80gb-8)`."""


def cloud_machines(text: str) -> dict[str, str]:
    """Nodes, devices and how many each node has, where a text counts machines of a cloud and says
    in brackets what they are; empty elsewhere.

    >>> cloud_machines("4x A3 (h100-80gb-8)"), cloud_machines("4x A100 (80gb)")
    ({'nodes': '4', 'gpu': 'h100-80gb', 'gpus_per_node': '8'}, {})
    """
    found = _OF_CLOUD.fullmatch(text)
    if found is None:
        return {}
    many, device, each = found.groups()
    return {"nodes": (many or "1").replace(",", ""), "gpu": device, "gpus_per_node": each}


_ASIDE = deferred(r"(?<=\S)\s*\((?:mine|ours|own|rented|spot|on-?demand|cloud|local|baseline)\)$")
"""Words in brackets that say whose a machine is: `4x RTX 4090 (mine)`."""

_OF_ANY = deferred(r"([0-9]{1,4})[pP]-(?:[GN]PU|竞品)[\w-]*")
"""The same of a device that has no name: `8p-竞品A`, `1p-NPU-ARM`."""

_OF_KIND = deferred(r"([0-9]{1,4})p-[A-Z]PU\s*[(（]([^()（）]+)[)）]")
"""Devices as tables of NPUs count them: `8p-NPU(Ascend 910B)`."""


_AROUND = " :,-–()[]@"
"""Signs around what a label says."""


def size_alone(text: str) -> str | None:
    """The size of a model that a text is, if it is nothing else.

    >>> size_alone("(16b)"), size_alone("910B"), size_alone("Llama 7B")
    ('16B', None, None)
    """
    bare = text.strip(_AROUND)
    size = _SIZE.fullmatch(bare) if len(text) <= LONGEST else None
    return f"{size[1]}{size[2].upper()}" if size and not only(bare) else None  # 910B is a device


def named(text: str) -> dict[str, str]:
    """Values that a label gives the runs below it: a machine, a size, a format, a layout.

    >>> named("16B"), named("8卡"), named("64 GPUs"), named("tp=1"), named("peak")
    ({'model_size': '16B'}, {'gpus': '8'}, {'gpus': '64'}, {'tp': '1'}, {})
    >>> named("H100-80GB FP8"), named("v4-128 (64 chips)")
    ({'gpu': 'H100-80GB', 'dtype': 'FP8'}, {'gpu': 'v4-128', 'gpus': '64'})
    >>> named("fp8_rowwise"), named("FP8 (delayed scaling)"), named("bf16 baseline")
    ({'dtype': 'fp8'}, {'dtype': 'FP8'}, {})
    """
    if len(text) > LONGEST:
        return {}
    bare = text.strip(_AROUND)
    if size := size_alone(bare):
        return {"model_size": size}
    if many := _OF_MANY.fullmatch(bare):
        return {"gpus": many[1].replace(",", "")}
    if (many := _COUNTED_BEHIND.fullmatch(bare)) and {*(told := named(many[1]))} == {"gpu"}:
        return told | {"gpus": many[2].replace(",", "")}
    if said := layout(bare):
        return said
    if (format_at_end := _FORMAT_BESIDE.fullmatch(bare)) and (rest := format_at_end[1]):
        told = named(rest)
        if told and "dtype" not in told:
            return told | {"dtype": format_at_end[2]}
    if said := machine(bare):
        return said
    if _DTYPE.fullmatch(bare) or bare.casefold() in _OF_INTEGERS:
        return {"dtype": format_named(bare) or bare}
    if scaled := _SCALED_FORMAT.fullmatch(bare):
        return {"dtype": scaled[1]}
    if nodes := _ON_NODES.fullmatch(bare):
        return {"nodes": nodes[1]}
    if told := _switched(bare):
        return told
    device = only(bare)
    plain = device is not None and _PLATFORM.sub("", bare) == bare[device.start : device.end]
    return {"gpu": device.text} if device and plain else {}


_OF_INTEGERS = {"int8", "int4"}
"""Formats of products that are words of other things, too, where more stands beside them."""


def _switched(text: str) -> dict[str, str]:
    """One setting by its name: a number behind it, or whether it is on or off.

    >>> _switched("remat = full"), _switched("remat on"), _switched("micro batch = 2")
    ({'recompute': 'full'}, {'activation_checkpointing': 'True'}, {'micro_batch': '2'})
    >>> _switched("FlashAttention off"), _switched("without sequence parallelism")
    ({'attention': 'unfused'}, {'sequence_parallel': 'False'})
    >>> _switched("without CP"), _switched("non-TP"), _switched("no DP")
    ({'cp': '1'}, {'tp': '1'}, {})
    >>> _switched("step 4"), _switched("full")
    ({}, {})
    """
    if again := _HOW_MUCH.fullmatch(text):
        return {"recompute": again[1].casefold() if again[1] else _IN_CHINESE[again[2][0]]}
    if kept := _CHECKPOINTED.fullmatch(text):
        return {"activation_checkpointing": str(not kept[1])}
    if much := how_much_named(text):
        return {"activation_checkpointing": "True"} if much == "on" else {"recompute": much}
    if shared := sequence_switched(text):
        return {"sequence_parallel": shared}
    if undivided := _UNDIVIDED.fullmatch(text):
        return {f"{undivided[1][0].casefold()}p": "1"}
    if found := _SWITCH.fullmatch(text):
        off = any(word and word.casefold() in _OFF for word in (found["before"], found["behind"]))
        if found["flash"]:
            return {"attention": "unfused" if off else "flash"}
        return {"sequence_parallel": str(not off)}
    number = _NAMED_NUMBER.fullmatch(text)
    name = (configured_by(number[1]) or _ALSO.get(number[1].casefold())) if number else None
    if number is None or name not in _SET or (number[3] and name != "seq_len"):
        return {}
    return {name: str(int(number[2]) * (1024 if number[3] else 1))}


_UNDIVIDED = deferred(
    r"(?:no|without|w/o|non)[ -]((?-i:TP|PP|CP|EP)|(?:tensor|pipeline|context|expert)[- ]parallel)"
    r"(?:ism)?",
    re.IGNORECASE,
)
"""A way to divide a model that was not taken: among one device."""


def sequence_switched(text: str) -> str:
    """Whether a text is that sequence parallelism, in short, was on: `True` or `False`; empty where
    it is anything else.

    >>> sequence_switched("SPあり"), sequence_switched("no SP"), sequence_switched("SP 8")
    ('True', 'False', '')
    """
    found = _SP.fullmatch(text)
    word = next(filter(None, found.groups())).casefold() if found else ""
    return str(word not in _OFF) if word else ""


_OFF = {
    "no", "without", "w/o", "off", "false", "disabled", "none", "なし", "無し", "無効", "オフ",
    "없음", "끔", "关闭", "不开启", "未开启", "不开", "未开", "无", "ohne", "aus", "sans", "sin",
    "sem",
}  # fmt: skip

_SP = deferred(
    r"(?:(with|w/|no|without|w/o|mit|ohne|avec|sans|con|sin|com|sem) |(开启|打开|关闭|不开启?"
    r"|未开启?|无) ?)(?-i:SP)|(?-i:SP) ?[=:]? ?(on|off|enabled|disabled|ein|aus"
    r"|あり|有り|なし|無し|有効|無効|オン|オフ|있음|없음|켬|끔|开启|关闭)",
    re.IGNORECASE,
)
"""Sequence parallelism in short, with a word that switches it: `no SP`, `SPあり`."""

_SWITCH = deferred(
    r"(?:(?P<before>with|w/|no|without|w/o) )?"
    r"(?:(?P<flash>flash[ -]?att(?:entio)?n(?:[ -]?v?[123])?|FA[23])|sequence[ -]parallel(?:ism)?)"
    r"(?:\s*[=:]?\s*(?P<behind>on|off|yes|no|none|true|false|enabled|disabled))?",
    re.IGNORECASE,
)

_NODES_AND_CARDS = deferred(r"N([0-9]+)C([0-9]+)")
"""Nodes and all of their cards, as Paddle's tables count them: `N4C32`."""

_FORMAT_BESIDE = deferred(rf"(.+?)(?:\s+|\s*[,/(:+-]\s*)({NUMBER_FORMAT})")
"""A number format behind what else a label says: `H100-80GB FP8`."""

_APART_OF = deferred(r"\s*[,;|，；]\s*|\s+(?:on|@)\s+")


_REMARKED = deferred(r"\s*[(（]([^()（）]+)[)）]$")


_BY_WHOM = deferred(r"[A-Za-z][A-Za-z.+_-]*")
"""A word in brackets that says by which program or in which way, and no setting."""


def called(text: str, *, alone: bool = False) -> dict[str, str]:
    """Values of a name made of parts that each say something of a run, two of them or, where it
    stands `alone` in its column, one: `1.3B, 32xA100-40GB`, `Llama2-7B`.

    >>> called("1.3B, 32xA100-40GB"), called("Llama2-7B"), called("Llama2-7B", alone=True)
    ({'model_size': '1.3B', 'gpus': '32', 'gpu': 'A100-40GB'}, {}, {'model': 'Llama2-7B'})
    >>> called("1.3B, tuned"), called("Llama 3.1 8B (FP8)")
    ({}, {'model': 'Llama 3.1 8B', 'dtype': 'FP8'})
    """
    if len(text) > LONGEST:
        return {}
    remarked = _REMARKED.search(text.strip())
    if remarked and _BY_WHOM.fullmatch(remarked[1]) and not named(remarked[1]):
        text = text.strip()[: remarked.start()]  # `Llama-3 8B (HF)`
    if alone and remarked and (sized := _sized(text.strip()[: remarked.start()], remarked[1])):
        return sized
    parts = _APART_OF.split(_REMARKED.sub(r", \1", text.strip()))
    said: dict[str, str] = {}
    for part in parts:
        told = {"model": part} if model_named(part) == part else named(part)
        told = told or model_in_format(part) or _tuned(part) or _counted_plainly(part)
        if not told or any(said.get(name, value) != value for name, value in told.items()):
            return {}
        said |= told
    several_of = len(parts) > 1 or {"model", "dtype"} <= said.keys()
    return _of_nodes(said, text) if alone or several_of else {}


def _sized(name: str, remark: str) -> dict[str, str]:
    """A model by a name that has no size, and its size in brackets: `gpt2 (124M)`."""
    size = size_alone(remark)
    if size is None or model_named(name) is not None or " " in name.strip():
        return {}
    known = model_named(f"{name} {size}") == f"{name} {size}"
    return {"model": name, "model_size": size} if known else {}


def _counted_plainly(text: str) -> dict[str, str]:
    """Devices with their number in front: `8 Gaudi2`."""
    count, _, device = text.strip().partition(" ")
    one = only(device) if count.isdecimal() and len(count) <= LONGEST_COUNT else None
    return {"gpus": count, "gpu": device} if one and one.text == device else {}


LONGEST_COUNT = 5
"""Digits of a number of devices."""

_TUNED = deferred(
    r"(?P<model>.{2,40}?)[ ,]\s?(?:\+ ?)?(?:Q?LoRA|DoRA|SFT|DPO|GRPO|PPO|full(?:[ -]parameter)?"
    r"(?: (?:FT|SFT|fine-?tun(?:e|ing)))?|(?:full )?fine-?tun(?:e|ing)"
    r"|(?:continued )?pre-?train(?:ing)?)",
    re.IGNORECASE,
)
"""A model and the way in which it was trained: `Llama2-7B LoRA`."""


def _tuned(text: str) -> dict[str, str]:
    """The model of a text that says besides only in which way it was trained."""
    found = _TUNED.fullmatch(text.strip())
    name = found["model"] if found else ""
    return {"model": name} if name and model_named(name) == name else {}


def model_of_side(label: str) -> str | None:
    """The model that the label of a column is of: it is all that it says, or stands before its size
    in brackets, or beside what it ran on, in or with.

    >>> model_of_side("Kestrel2 34B"), model_of_side("Kestrel2 34B A100 80GB, FP8")
    ('Kestrel2 34B', 'Kestrel2 34B')
    >>> model_of_side("GPT-2 (124M)"), model_of_side("Kestrel2-34B LoRA")
    ('GPT-2', 'Kestrel2-34B')
    >>> model_of_side("Kestrel2 34B as teacher"), model_of_side("Stage 2 (7B)")
    (None, None)
    """
    if len(label) > LONGEST:
        return None
    model, sized = model_named(label), _REMARKED.search(label.strip())
    if model is None and sized and size_alone(sized[1]):
        return family_named(label.strip()[: sized.start()].strip())
    if model is None or model == label:
        return model
    before, _, behind = label.partition(model)
    rest = (part.strip(_AROUND) for part in (before, *_APART_OF.split(behind.strip(_AROUND))))
    return (
        model
        if all(not part or named(part) or _BESIDE_MODELS.fullmatch(part) for part in rest)
        else None
    )


def set_behind(label: str) -> tuple[str, dict[str, str]]:
    """The label of a column without the settings that end it, each a name with its number, and
    what they say: labels of several header rows stand one behind the other.

    >>> set_behind("Kestrel2 34B A100 bs=4"), set_behind("Kestrel2 34B x=4")
    (('Kestrel2 34B A100', {'batch_size': '4'}), ('Kestrel2 34B', {}))
    >>> set_behind("Kestrel2 34B TP=2 mbs = 1")
    ('Kestrel2 34B', {'micro_batch': '1', 'tp': '2'})
    """
    rest, said = label, dict[str, str]()
    while len(rest) <= LONGEST and (found := _SET_BEHIND.search(rest)):
        told = layout(found[1]) or called(found[1], alone=True)
        if told.keys() & said.keys():
            break
        rest, said = rest[: found.start()], said | told
    return rest, said


_SET_BEHIND = deferred(r"(?<=\S)[ ,]{1,3}([A-Za-z][A-Za-z_-]{0,20} ?= ?[0-9]{1,7}[kK]?)$")

_BESIDE_MODELS = deferred(
    r"(?:full|q?-?lora|sft|dpo|ppo|grpo|(?:full |continued )?(?:pre-?|fine-?)?(?:train|tun)ing"
    r"|q?lora (?:fine-?)?tuning|dense|baseline|ours|base|instruct|chat)",
    re.IGNORECASE,
)
"""Words beside the name of a model for how it was trained, or which of its checkpoints it is."""


def model_in_format(text: str) -> dict[str, str]:
    """A model and the number format behind it, where a text is nothing else; what hangs together is
    the name of a checkpoint.

    >>> model_in_format("Kestrel2 34B FP8"), model_in_format("Kestrel2 34B BF16/FP8")
    ({'model': 'Kestrel2 34B', 'dtype': 'FP8'}, {})
    >>> model_in_format("Kestrel2-34B-FP8")
    {}
    """
    model, kind = model_named(text), format_named(text)
    if not model or not kind or not text.startswith(model):
        return {}
    rest = text[len(model) :]
    alone = rest.strip(" ,-–—()[]") == kind and rest.startswith((" ", ","))
    return {"model": model, "dtype": kind} if alone else {}


def behind_model(text: str) -> dict[str, str]:
    """Settings that stand in brackets behind the name of a model, or behind a comma.

    >>> behind_model("LLaMA 3.1 8B (BF16, 8 cards)"), behind_model("13B (tp2 pp4)")
    ({'dtype': 'BF16', 'gpus': '8'}, {'tp': '2', 'pp': '4'})
    >>> behind_model("7B, TP=4"), behind_model("Llama 3 8B (base, 8 experts)")
    ({'tp': '4'}, {})
    """
    remarked = _REMARKED.search(text.strip())
    if remarked is None:
        _, _, rest = text.partition(",") if "," in text else text.partition("(")
        return layout(rest.strip(" )"))
    if said := layout(remarked[1]):
        return said
    for part in _APART_OF.split(remarked[1].strip()):
        told = {n: value for n, value in named(part).items() if n not in ("model", "model_size")}
        if any(said.get(name, value) != value for name, value in told.items()):
            return {}
        said |= told
    return said


_HOW_MUCH = deferred(
    r"(selective)(?:[ -](?:op|layer|activation|gradient))* ?-?(?:recomput\w*|check-?pointing|AC)"
    r"|(不|无|选择性?|完全|全量?)(?:激活)?重计算",
    re.IGNORECASE,
)
"""A name that says how much is computed again."""

_IN_CHINESE = {"不": "none", "无": "none", "选": "selective", "完": "full", "全": "full"}

_CHECKPOINTED = deferred(
    r"(?:with |w/ ?)?((?:no|without|w/o)[ -])?"
    r"(?:(?:gradient|activation|full)[ -])?"
    r"(?:checkpointing|recompute|recomputation|AC|remat(?:eriali[sz]ation)?)",
    re.IGNORECASE,
)

_PLATFORM = deferred(r"^(?:NVIDIA\s)?[DH]GX[ -](?=[A-Z])")
"""Words in front of the device of a machine: `HGX H200`."""


_REMARK = deferred(
    r"(?:[~≈]?\s*[0-9][0-9.,]*\s*[A-Za-z/%]*"
    r"|(?i:(?:CUDA )?OOM|(?:CUDA )?out of memory|failed|crashed)|[-–—✗])\s*\(([^()]+)\)"
)


def remark(text: str) -> dict[str, str]:
    """Values that stand in brackets behind a number, or behind why there is none, where they are
    nothing but a layout.

    >>> remark("142.2 (z = 1, gas = 1, mbs = 4)"), remark("142.2 (best of 3)")
    ({'zero_stage': '1', 'accumulation': '1', 'micro_batch': '4'}, {})
    """
    found = _REMARK.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found and _DTYPE.fullmatch(found[1].strip()):
        return {"dtype": format_named(found[1]) or found[1].strip()}
    return layout(found[1]) if found else {}


class Calculation(NamedTuple):
    """A cell that shows how its number was had: the number, its unit, what it was divided by."""

    text: str
    unit: str
    divisor: float | None


_CALCULATED = deferred(
    r"([0-9.,]+(?:\s*[*x×/÷]\s*[0-9.,]+)+)\s*=\s*([0-9][0-9.,]*)\s*([A-Za-z/]+)?"
)

_STEP = deferred(r"([*x×/÷])\s*([0-9.,]+)")

_TIMES = deferred(
    r"([0-9][0-9,]*(?:\.[0-9]+)?)\s*\\?[*x×]\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]i?B)", re.IGNORECASE
)


def calculation(text: str) -> Calculation | None:
    """A calculation whose result is what it says, within one unit of its last place.

    >>> calculation("17.23 * 2048 / 8 = 4410 tokens/s")
    Calculation(text='4410', unit='tokens/s', divisor=8.0)
    >>> calculation("2 * 3 = 9 GB") is None
    True
    """
    found = _CALCULATED.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if not found:
        return None
    first = re.match(r"[0-9.,]+", found[1])
    assert first is not None
    value, divisor = float(first[0].replace(",", "")), None
    for sign, digits in _STEP.findall(found[1]):
        by = float(digits.replace(",", ""))
        if sign in "/÷" and by == 0.0:
            return None
        value, divisor = (value / by, by) if sign in "/÷" else (value * by, divisor)
    result = found[2].replace(",", "")
    place = 10.0 ** -len(result.partition(".")[2])
    if abs(value - float(result)) > place:
        return None
    return Calculation(result, found[3] or "", divisor)


def times(text: str) -> list[tuple[str, int]]:
    r"""Ways to read an amount of memory times a number of devices: the amount of one, and how many.

    >>> times("66.27 * 8 GB"), times("4 x 72.1 GB"), times("80 GB")
    ([('66.27 GB', 8)], [('72.1 GB', 4)], [])
    >>> times(r"8\*64GB")
    [('64 GB', 8), ('8 GB', 64)]
    """
    found = _TIMES.fullmatch(text.strip()) if len(text) <= LONGEST else None
    ways = [(found[2], found[1]), (found[1], found[2])] if found else []
    return [(f"{one} {found[3]}", int(many)) for one, many in ways if found and many.isdigit()]
