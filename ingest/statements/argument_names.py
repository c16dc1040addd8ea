"""Arguments of a training job, by their printed names, as configuration values.

Each framework has its own names; what they mean is said here once. What follows from the arguments
by the rules of the framework that printed them (no ZeRO without DeepSpeed or a distributed
optimizer, a gradient accumulation of one where none can be) is marked inferred, with its law.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from assay.ingest.schema.configuration import MOST_SEQUENCES, Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell
from assay.ingest.vocabulary.frameworks import DEEPSPEED, MEGATRON, NEMO, NEMO_SECTIONS, NEOX
from assay.ingest.vocabulary.terms import configured_by


class Argument(NamedTuple):
    """One printed argument: its value as text, and where it stands."""

    text: str
    line: int
    column: int


ZERO_LAW = "neither DeepSpeed nor a distributed optimizer: nothing is sharded"

CLOSURE_LAW = "gpus = tp·pp·dp·cp"

GATED = ("glu",)
"""How the names of gated activations end: swiglu, geglu, fast-swiglu."""

ATTENTION = {"flash": "flash", "fused": "flash", "unfused": "unfused", "local": "unfused"}
"""Backends of Megatron-core's attention by what they do."""

NARROW = ("fp4", "fp8")
"""Arguments that say a format of the products with weights."""

BATCH_LAW = "global batch = micro-batch · dp · accumulation"

DP_NAMES = ("tp", "pp", "dp")


def megatron(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """Configuration cells of a dump of Megatron's arguments; `None` says nothing."""
    found = _named(said, MEGATRON | NEOX)
    found |= _named(said, {"num_key_value_heads": "kv_heads", "num_kv_heads": "kv_heads"})
    if _is(said, "group_query_attention"):
        found |= _named(said, {"num_query_groups": "kv_heads"})
    if found.get("pp") and found["pp"].text == "0":  # gpt-neox: no pipeline engine
        found["pp"] = found["pp"]._replace(text="1")
    found |= _dtype(said, fp16="fp16", bf16="bf16")
    if "precision" in said and "dtype" not in found:  # gpt-neox
        word = {"bfloat16": "bf16"}.get(said["precision"].text, said["precision"].text)
        found["dtype"] = _cell(said["precision"], word)
    if "params_dtype" in said and "dtype" not in found:
        found["dtype"] = _cell(said["params_dtype"], said["params_dtype"].text.split(".")[-1])
    found |= _narrow(said)
    found |= _recompute(said) | _checkpoints(said)
    found |= _zero(said)
    found |= _kernels(said)
    return found | _commonly(said, found, MEGATRON | NEOX)


def nemo(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """Configuration cells of a YAML dump, whose names hold the keys around them."""
    plain: dict[str, Argument] = {}
    for section in NEMO_SECTIONS:
        for name, argument in sorted(said.items(), key=lambda pair: pair[0].count(".")):
            if name.partition(".")[0] == section:
                plain.setdefault(name.rpartition(".")[2], argument)
    found = _named(plain, NEMO)
    if "num_query_groups" in plain:
        found |= _named(plain, {"num_query_groups": "kv_heads"})
    precision = said.get("trainer.precision") or said.get("mixed_precision")
    if precision:
        known = {"16": "fp16", "32": "fp32"}
        word = precision.text.removesuffix("-mixed").removesuffix("_mixed")
        narrow = next((name for name in NARROW if name in word), word)
        found["dtype"] = _cell(precision, known.get(narrow, narrow))
    if "dtype" not in found:
        found |= _dtype(plain, fp16="fp16", bf16="bf16")
    found |= _narrow(plain)
    found |= _fed(said)
    granularity = plain.get("activations_checkpoint_granularity")
    if granularity:
        plain["recompute_granularity"] = granularity
    if found.get("vp") and found["vp"].text == "0":
        del found["vp"]
    found |= _recompute(plain) | _kernels(plain) | _distributed(plain)
    return found | _commonly(plain, found, NEMO)


FED = (["dataset"], ["data"])
"""Where, beside the model and not inside it, a trainer says what it feeds the model with."""


def _fed(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """The length of the sequences that the model is fed with; it may take longer ones."""
    for name, argument in said.items():
        *path, last = name.split(".")
        length = configured_by(last) == "seq_len" and argument.text.isdecimal()
        if length and path in FED:
            return {"seq_len": _cell(argument)}
    return {}


def deepspeed(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """Configuration cells of a dump of DeepSpeed's configuration."""
    found = _named(said, DEEPSPEED)
    found |= _dtype(said, fp16="fp16_enabled", bf16="bfloat16_enabled")
    return found | _commonly(said, found, DEEPSPEED)


def closed(found: Mapping[str, Cell]) -> dict[str, Cell]:
    """`found`, and the one degree or count that it leaves open but determines.

    A run's ranks are its tensor, pipeline, data and context parallel degrees multiplied; its batch
    is micro-batches times replicas times accumulation.
    """
    whole = dict(found)
    counts = {name: int(cell.text) for name, cell in found.items() if cell.text.isdecimal()}
    gpus, cp = counts.get("gpus"), counts.get("cp", 1)
    open_degrees = [name for name in DP_NAMES if name not in counts]
    if gpus and len(open_degrees) == 1:
        known = cp
        for name in DP_NAMES:
            known *= counts.get(name, 1)
        if gpus % known == 0:
            name = open_degrees[0]
            counts[name] = gpus // known
            whole[name] = _inferred(found["gpus"], counts[name], CLOSURE_LAW)
    if "global_batch" in counts and "accumulation" not in counts:
        per_step = counts.get("micro_batch", 0) * counts.get("dp", 0)
        if per_step and counts["global_batch"] % per_step == 0:
            value = counts["global_batch"] // per_step
            whole["accumulation"] = _inferred(found["global_batch"], value, BATCH_LAW)
    return whole


def _inferred(of: Cell, value: int, law: str) -> Cell:
    return Cell(str(value), of.line, of.column, value_origin="solved", law=law)


def _cell(argument: Argument, text: str | None = None) -> Cell:
    return Cell(argument.text if text is None else text, argument.line, argument.column)


def _named(said: Mapping[str, Argument], names: Mapping[str, str]) -> dict[str, Cell]:
    """Whole numbers under known names; the first name that a column has wins."""
    found: dict[str, Cell] = {}
    for name, column in names.items():
        argument = said.get(name)
        text = argument.text.removesuffix(".0") if argument else ""
        if argument and text.isdecimal() and column not in found:
            found[column] = _cell(argument, text)
    return found


def _commonly(
    said: Mapping[str, Argument], found: Mapping[str, Cell], names: Mapping[str, str]
) -> dict[str, Cell]:
    """Whole numbers under names that this trainer is not known for, but that all mean alike.

    Two arguments that say a field differently say nothing of it; nor does a batch that can only be
    one of tokens.
    """
    specs = fields(Configuration)
    by_field: dict[str, dict[str, Cell]] = {}
    for name, argument in said.items():
        text = argument.text.removesuffix(".0")
        if name in names or not text.isdecimal():
            continue
        column = configured_by(name.rpartition(".")[2])
        if column is None or column in found or not specs[column].dtype.is_integer():
            continue
        if column == "global_batch" and int(text) > MOST_SEQUENCES:
            continue
        by_field.setdefault(column, {}).setdefault(text, _cell(argument, text))
    return {name: next(iter(held.values())) for name, held in by_field.items() if len(held) == 1}


def _is(said: Mapping[str, Argument], name: str) -> bool:
    return name in said and said[name].text.casefold() == "true"


def _kernels(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """The third matrix of the MLP, sequence parallelism, and whether attention is fused."""
    found = {}
    gate = said.get("swiglu") or said.get("gated_linear_unit")
    activation = said.get("activation")
    if gate and gate.text.casefold() in ("true", "false"):
        found["gated"] = _cell(gate)
    elif activation:
        found["gated"] = _cell(activation, str(activation.text.endswith(GATED)))
    split = said.get("sequence_parallel")
    if split and split.text.casefold() in ("true", "false"):
        found["sequence_parallel"] = _cell(split)
    return found | _attention(said)


def _attention(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """The attention kernel by the arguments; nothing where a library chooses."""
    backend = said.get("attention_backend")
    if backend:
        word = ATTENTION.get(backend.text.rpartition(".")[2])
        return {"attention": _cell(backend, word)} if word else {}
    flash = [name for name in said if name.startswith("use_flash_attn")]
    for name in flash:
        if _is(said, name):
            return {"attention": _cell(said[name], "flash")}
    library = said.get("transformer_impl")
    if flash and (library is None or library.text == "local"):
        return {"attention": _cell(said[flash[0]], "unfused")}
    return {}


def _dtype(said: Mapping[str, Argument], *, fp16: str, bf16: str) -> dict[str, Cell]:
    for name, dtype in ((bf16, "bf16"), (fp16, "fp16")):
        if _is(said, name):
            return {"dtype": _cell(said[name], dtype)}
    if fp16 in said and bf16 in said:
        return {"dtype": _cell(said[fp16], "fp32")}
    return {}


def _narrow(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """The format of products with weights where it is narrower than that of everything else.

    `bf16 True` stands beside `fp8 hybrid`; `fp8_hybrid True` beside `fp8 False` says nothing.
    """
    for name in NARROW:
        either = (name,) if name in said else (f"{name}_hybrid", f"{name}_e4m3")
        for each in either:
            if each in said and said[each].text.casefold() not in ("none", "null", "false", ""):
                return {"dtype": _cell(said[each], name)}
    return {}


def _recompute(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """Policy of recomputation in the backward pass, by the argument names of three generations."""
    granularity = said.get("recompute_granularity")
    if granularity:
        word = {"None": "none", "null": "none"}.get(granularity.text, granularity.text)
        return {"recompute": _cell(granularity, word)}
    for name in ("checkpoint_activations", "activations_checkpoint", "recompute_activations"):
        if name in said:
            word = "selective" if name == "recompute_activations" else "full"
            return {"recompute": _cell(said[name], word if _is(said, name) else "none")}
    return {}


def _checkpoints(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """Where the inputs of layers to compute again lie, if not whole on every device."""
    for name in ("checkpoint_in_cpu", "cpu_checkpointing"):
        if _is(said, name):
            return {"checkpoints": _cell(said[name], "host")}
    for name in ("partition_activations", "distribute_checkpointed_activations"):
        if _is(said, name):
            return {"checkpoints": _cell(said[name], "split")}
    return {}


def _zero(said: Mapping[str, Argument]) -> dict[str, Cell]:
    """The ZeRO stage. Megatron-DeepSpeed prints one even where DeepSpeed is off."""
    stage = said.get("zero_stage")
    if stage and stage.text.isdecimal() and _is(said, "deepspeed"):
        return {"zero_stage": _cell(stage)}
    if "deepspeed" in said and _is(said, "deepspeed"):
        return {}
    if found := _distributed(said):
        return found
    ranks = said.get("world_size")
    if ranks is None or "micro_batch_size" not in said or _sharded(said):
        return {}
    return {"zero_stage": Cell("0", ranks.line, ranks.column, value_origin="solved",
                               law=ZERO_LAW)}  # fmt: skip


def _distributed(said: Mapping[str, Argument]) -> dict[str, Cell]:
    if _is(said, "use_distributed_optimizer"):
        return {"zero_stage": _cell(said["use_distributed_optimizer"], "1")}
    return {}


def _sharded(said: Mapping[str, Argument]) -> bool:
    return any("fsdp" in name and argument.text == "True" for name, argument in said.items())
