"""Labels and values of statements: which field a label names, and the cell that a value makes.

In: a label, and the text of a value, as a statement prints them. Out: a field of `Configuration`,
and a cell, or None where the text is no value of it.
"""

from __future__ import annotations

import re
from functools import cache

import polars as pl
from assay.ingest.columns.titles import model_named
from assay.ingest.numbers.units import SUFFIXES, suffix
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import FieldSpec, by_label, fields
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.attention_names import attention_named, switches_flash
from assay.ingest.vocabulary.devices import (
    OF_EACH_NODE,
    devices,
    may_be_device,
    names_card,
    only,
    several,
)
from assay.ingest.vocabulary.networks import network_named
from assay.ingest.vocabulary.program_names import program_named
from assay.ingest.vocabulary.recomputation import how_much_again, switch
from assay.ingest.vocabulary.sectioned_keys import undotted
from assay.ingest.vocabulary.sharding_names import sharding_labelled, sharding_set
from assay.ingest.vocabulary.terms import configured_by, how_much, normalise

_SWITCH = {"1": "True", "0": "False"}
"""Numbers that switch a thing on or off in a command or a statement, beside words."""

_DTYPE = deferred(
    r"(?:torch\.|jnp\.|amp_|mixed[ -]precision,? \(?)?"
    r"(bf16|fp16|fp32|tf32|(?:mx-?)?fp8|(?:nv-?|mx-?)?fp4|bfloat16|float16|float32)"
    r"(?:[-_ ](?:mixed|true|amp)(?:[ -]precision)?)?\)?"
)

_MANY = deferred(r"[0-9][0-9,]*\s?[x×*]\s?(?=[A-Za-z])")
"""How many of a device stand before its name."""

_ENDS = deferred(r"[.;,](?=\s|$)")
"""Where a name ends, and another part of a sentence begins."""

_AMONG = deferred(r"\b(?:nodes?|servers?|machines?|with|of|each|per|on)\b")
"""Words of a value that is more than the name of a device: `one node with 8 H100 GPUs`."""

_NOUN = deferred(
    r"([0-9][0-9,]*(?:\.[0-9]+)?[kKM]?) (?:(tokens?)|(sequences?|samples?|examples?|images?)"
    r"|(?:optimi[sz]er )?(steps?|micro-?batches))"
)

_NOUNS = {
    "seq_len": 2, "global_batch_tokens": 2, "micro_batch": 3, "batch_size": 3, "global_batch": 3,
    "accumulation": 4,
}  # fmt: skip
"""Fields, and which noun stands behind their values: `4096 tokens`, `8 steps`."""


def _counted(name: str, text: str) -> tuple[str, str]:
    """A field and its value without the noun that it counts; a batch of tokens is another field."""
    found = _NOUN.fullmatch(text.strip())
    if name == "batch_size" and (each := _OF_EACH.fullmatch(text.strip())):
        return "micro_batch", each[1]
    if found is None:
        return name, text
    if found[2] and name == "global_batch":
        return "global_batch_tokens", found[1]
    return name, found[1] if name in _NOUNS and found[_NOUNS[name]] else text


_OF_EACH = deferred(
    r"([0-9][0-9,]*)(?: [a-z]+)? ?(?:/|(?:per|on each|for each)\b) ?"
    r"(?:GPU|NPU|TPU|HPU|device|card|rank|worker|chip|accelerator|replica)",
    re.IGNORECASE,
)
"""A batch of one replica: `32 per GPU`."""

_BRACKETED = deferred(r"\s*\([^()]*\)\s*$")

_SCOPE = deferred(
    r"\((global|total|effective|micro|local|per[ -](?:GPU|device|accelerator|card|NPU|rank))\)\s*$",
    re.IGNORECASE,
)
"""Whose a batch is, in brackets behind its label."""

_NO_VALUE = ("none", "null", "nil", "~", "")

_SWITCHED = {
    "bf16": "bf16", "bfloat16": "bf16", "fp16": "fp16", "float16": "fp16", "fp8": "fp8",
    "xla_use_bf16": "bf16", "te_fp8": "fp8", "use_fp8": "fp8", "enable_fp8": "fp8",
    "use_bf16": "bf16", "use_fp16": "fp16", "enable_bf16": "bf16",
}  # fmt: skip
"""Switches that say the number format."""

_NAME = deferred(r"[A-Za-z][\w./-]*(?: [\w./-]+){0,3}")


@cache
def known(label: str) -> str | None:
    """The field that a label of a statement names; None for what is private or names none.

    `n_gpu` is what one process of a Hugging Face trainer sees; `Models:` names several.

    >>> known("--hidden-size"), known("_n_gpu"), known("lm loss")
    ('hidden', None, None)
    """
    if label.startswith("_") or label.strip(" *_-").casefold() in ("n_gpu", "models"):
        return None
    if not label.startswith("Devices") and (  # in words all that a run had
        own := _OF_PROGRAMS.get(label.casefold().strip("`\"'").rpartition(".")[2])
    ):
        return own
    if (plain := undotted(label)) is None:
        return None
    bare = _BRACKETED.sub("", label := plain)
    if scope := _SCOPE.search(label):
        label = bare = f"{scope[1]} {bare}"  # `Batch Size (global)`
    found = by_label(Configuration).get(normalise(label)) or by_label(Configuration).get(
        normalise(bare)
    )
    if found is None and " " in label.strip() and len(label) <= LONGEST_LABEL:
        return configured_by(label)  # `Per-GPU batch size`: its words say what it is
    return found[0].name if found else None


_OF_PROGRAMS = {
    "ctx": "seq_len", "hosts": "nodes", "attention": "attention", "attn": "attention",
    "flash_attn": "attention", "flash_attention": "attention",  # `fa2`
    "devices": "gpus_per_node",  # to Lightning and what is built on it
    "samples_per_gpu": "micro_batch", "videos_per_gpu": "micro_batch",
    "imgs_per_gpu": "micro_batch", "images_per_gpu": "micro_batch",
    "per_device_batch": "micro_batch", "accum_grad": "accumulation",
    "ims_per_batch": "global_batch", "num_microbatches": "accumulation",
    "num_model_chunks": "vp",
    "amp": "dtype", "amp_dtype": "dtype", "amp-dtype": "dtype", "autocast": "dtype",  # `--amp bf16`
    "number of microbatches": "accumulation", "number of micro-batches": "accumulation",
    "microbatches": "accumulation", "micro-batches": "accumulation",
}  # fmt: skip
"""Names of arguments that mean another thing to a program than in words, or nothing elsewhere."""

_MAY_NAME_MODEL = ("preset", "model_preset", "model-preset", "model_config", "model-config")
"""Arguments that choose a model, if their value is the name of one."""

LONGEST_LABEL = 40
"""Letters beyond which a label is a sentence."""


def no_value(text: str) -> bool:
    """Whether a text says that there is no value."""
    return text.strip("\"'").casefold() in _NO_VALUE


def cell_of(spec: FieldSpec, text: str, line: Line, at: int = 0) -> Cell | None:
    """The cell of a value, `at` letters behind the begin of its line; None where it is none."""
    text, place = text.strip().strip("\"'`"), (line.number, line.column + at)
    text, _, rest = (text, "", "") if spec.numeric else text.partition("`")
    if _OPTIONS.match(text) or not _CODE_ENDS.match(rest):
        return None
    if spec.dtype == pl.Boolean:
        word = _SWITCH.get(text) or switch(text)
        return None if word is None else Cell(word, *place)
    if spec.name == "dtype":
        kind = _DTYPE.fullmatch(text.casefold())
        return Cell(kind[1], *place) if kind else None
    if spec.name == "recompute" and (much := how_much_again(text)) not in (None, "on"):
        return Cell(much or text, *place)  # `core_attn`
    if spec.name in ("program", "attention", "network", "sharding"):
        return _called_so(spec.name, text, place)
    if spec.name == "model":
        return (
            Cell(text.rpartition("/")[2], *place)
            if _NAME.fullmatch(text) and re.search("[0-9]", text)
            else None
        )
    if spec.name == "gpu":
        text = _TIMES_BEHIND.sub("", _NEXT_SENTENCE.split(text, maxsplit=1)[0])
        if not may_be_device(text) or several(text) or (_HOSTS.search(text) and not devices(text)):
            return None
    if spec.name == "gpu" and _AMONG.search(text) and (one := only(text)):
        return Cell(one.text, place[0], place[1] + one.at)
    if spec.name == "gpu" and (many := _MANY.match(text)):
        name = _ENDS.split(OF_EACH_NODE.sub("", text[many.end() :]))[0].rstrip()
        return Cell(name, place[0], place[1] + many.end())
    if not spec.numeric:
        return Cell(text, *place)
    return _number(spec, text, place)


def _called_so(name: str, text: str, place: tuple[int, int]) -> Cell | None:
    """The cell of a value of a field whose values have names; ways of sharding may have others."""
    if name == "attention":
        kernel = attention_named(text)
        return Cell(kernel, *place) if kernel else None
    if name == "sharding":
        way = sharding_labelled(text) or (text, 0)
        return Cell(way[0], place[0], place[1] + way[1])
    found = program_named(text, any_case=True) if name == "program" else network_named(text)
    return Cell(found.text, place[0], place[1] + found.at) if found else None


_TIMES_BEHIND = re.compile(r" ?[x×*] ?[0-9]{1,4}$")
"""How many there are of a device, behind its name: `Ascend 910B × 8`."""

_NEXT_SENTENCE = re.compile(r"[.;] (?=[A-Z][a-z]+(?: [a-z]+){0,2}(?:: | is | are | was | were ))")
"""Where a sentence begins behind the devices of a line: `Hardware: 16 GPUs. Precision: bf16.`"""

_HOSTS = re.compile(r"\b[0-9]+ ?(?:nodes?|servers?|machines?|hosts?)\b", re.IGNORECASE)

_CODE_ENDS = re.compile(r"\s*(?:[.;,)]|$)")
"""Behind a value in code, where no word goes on that may say of which rows it is."""

_OPTIONS = re.compile(r"--[A-Za-z]")
"""Options of a command, as a variable holds them: what each says is read of the options."""

_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?[A-Za-z]?")
"""The parts that commas make of one number: `0,1,2,3` are four."""

_LISTED = re.compile(r"\[?[0-9]{1,2}(?:, ?[0-9]{1,2})+\]?")
"""Numbers of devices: `--gpus 0,1,2,3`."""

OF_MACHINES = ("gpus", "nodes", "gpus_per_node")
"""Fields that count devices and what holds them."""

_ONE_VALUE = re.compile(r"\[ ?([0-9]+) ?\]?")
"""A list of the values of all epochs, which are one: `update_freq=[8]`."""

_DIGITS = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,15})?")


def _number(spec: FieldSpec, text: str, place: tuple[int, int]) -> Cell | None:
    if "," in text.strip(", ") and not _THOUSANDS.fullmatch(text.strip(", ")):
        return None
    if spec.name in OF_MACHINES and (names_card(text) or text[-1:] in ("M", "B", "T")):
        return None  # `GPUs: 3090`, `910B`
    if spec.name == "accumulation" and (one := _ONE_VALUE.fullmatch(text)):
        text = one[1]
    digits, scale = text.replace(",", "").replace("_", ""), 1.0
    if spec.dtype.is_integer():
        digits = re.sub(r"\.0+$", "", digits)
    if spec.name == "model_size":
        digits = digits.upper()  # `6.7b`
    if digits[-1:] in SUFFIXES:
        digits, letter = digits[:-1].rstrip(), digits[-1]  # `2.65 B`
        scale = suffix(letter, spec.name, digits if _DIGITS.fullmatch(digits) else "")
    if not _DIGITS.fullmatch(digits):
        return None
    if spec.name == "model_size" and scale == 1.0:
        return None  # `size=4` is of anything
    if spec.name == "zero_stage" and digits not in ("0", "1", "2", "3"):
        return None
    if spec.dtype.is_integer() and "." in digits and scale == 1.0:
        return None
    if not float(digits) and spec.name != "zero_stage":
        return None  # no count of anything is zero
    return Cell(digits, *place, scale, "nominal" if scale != 1.0 else None)


UNSET = {"maxlength": "20"}
"""Lengths that programs print where nobody set one: Hugging Face's, of texts to generate."""


def unset(label: str, text: str) -> bool:
    """Whether a value is what a program prints where nobody set one."""
    return UNSET.get(normalise(label)) == text.strip(" \"'`,")


def of_listed(name: str, text: str) -> tuple[str, str]:
    """A field and its value; a list of devices is how many of a node are used, and how much is
    computed again may be only on or off.

    >>> of_listed("gpus", "0,1,2,3"), of_listed("gpus", "1,024")
    (('gpus_per_node', '4'), ('gpus', '1,024'))
    >>> of_listed("recompute", "1"), of_listed("recompute", "full")
    (('activation_checkpointing', 'True'), ('recompute', 'full'))
    """
    bare = text.strip(" \"'`")
    if name == "recompute" and (word := _SWITCH.get(bare) or switch(bare)):
        return ("activation_checkpointing", word) if word == "True" else (name, "none")
    if name == "gpus" and _LISTED.fullmatch(text.strip(" \"'")):
        return "gpus_per_node", str(text.count(",") + 1)
    return name, text


_ZERO_SWITCH = deferred(r"(?:use|enable)?[_-]?zero[_-]?([123])(?:[_-]optimi[sz]er)?")
"""A switch of one stage of ZeRO: `--use_zero_1 1`."""


def switched_on(label: str, text: str) -> tuple[str, str] | None:
    """The field that a switch says by being on, and its value: `bf16=True`, `use_flash_attn: 1`.

    >>> switched_on("bf16", "true"), switched_on("use_flash_attention", "True")
    (('dtype', 'bf16'), ('attention', 'flash'))
    >>> switched_on("use_flash_attention", "false"), switched_on("fsdp", "full_shard auto_wrap")
    (None, ('sharding', 'FULL_SHARD'))
    """
    if sharded := sharding_set(label, text):
        return "sharding", sharded
    if label.strip("- ").casefold() == "xla_fsdp_grad_ckpt" and "true" in text.casefold():
        return "activation_checkpointing", "True"
    if text.strip("\"'").casefold() not in ("true", "1"):
        return None
    own = label.casefold().lstrip("-").removesuffix(".enabled")
    if stage := _ZERO_SWITCH.fullmatch(own):
        return "zero_stage", stage[1]
    if kind := _SWITCHED.get(own):
        return "dtype", kind
    return ("attention", "flash") if switches_flash(normalise(own)) else None


def said(label: str, text: str, line: Line, at: int = 0) -> dict[str, Cell]:
    """Cells of a label and its value, by field: nothing where either is not known.

    A value that is a shell's variable or a calculation is said and not known: the cell is unknown,
    so that no older statement speaks in its place.
    """
    if on := switched_on(label, text):
        return {on[0]: Cell(on[1], line.number, line.column + at)}
    if label.strip("-") == "fsdp" and _WRAPS.fullmatch(text.strip("\"'[]")):
        return {"sharding": Cell(text, line.number, line.column + at, state="unknown")}
    name = how_much(known(label), text)
    if (turned := switch(text)) and (off := _switched(name, label, turned)):
        return {off[0]: Cell(off[1], line.number, line.column + at)}
    if label.casefold().strip("-") in _MAY_NAME_MODEL and model_named(text.strip("\"'")):
        name = "model"
    if name is None or (no_value(text) and not _chosen(name, text)) or unset(label, text):
        return {}
    if name == "dtype" and (bits := _BITS.fullmatch(text)) and _IN_BITS.search(label):
        text = f"fp{bits[1]}"
    name, text = of_listed(*_counted(name, text))
    if name == "sharding" and (stage := _STAGE.fullmatch(text)):
        name, text = "zero_stage", stage[1]
    spec = fields(Configuration)[name]
    cell = cell_of(spec, text, line, at)
    if cell is None and spec.numeric and OPEN.match(text.strip().strip("\"'")):
        cell = Cell(text, line.number, line.column + at, state="unknown")
    return {name: cell} if cell else {}


def _switched(name: str | None, label: str, turned: str) -> tuple[str, str] | None:
    """A way of splitting up a model that a word turns on or off: who is not split up has one part.
    Keys of programs are left out, as `None` is there what nobody set."""
    if label.strip("*_` ") == "SP":
        return "sequence_parallel", turned
    spelled_out = name in ("tp", "pp", "cp", "ep") and (" " in label or label.isupper())
    return (str(name), "1") if spelled_out and turned == "False" else None


_WRAPS = deferred(r"auto_wrap|offload(?: auto_wrap)?")
"""Words of the option `--fsdp` on layers, and not on how they are sharded."""
_STAGE = deferred(r"stage[ _-]?([0-3])", re.IGNORECASE)
"""Stage of ZeRO, as Paddle's `sharding` says it."""

_BITS = deferred(r"(16|32)(?:-(?:true|mixed))?")

_IN_BITS = deferred(r"precision$", re.IGNORECASE)
"""The key of a number format that Lightning and others count in bits: `precision=32`."""


def _chosen(name: str, text: str) -> bool:
    """Whether the word for no value is one of the choices of a field: how much is computed again is
    `none` where it is not `full`, and nobody knows of it where it is `None`, or `null`."""
    return name == "recompute" and text.strip("\"'") == "none"


OF_JOBS = ("batch_size", "global_batch")
"""Fields of batches that may turn out to be another one's."""

_BATCHES = ("micro_batch", "global_batch", "global_batch_tokens")

_OF_TOKENS = deferred(r"batch_size\s*[:=][^#]*#.*\btokens\b(?! (?:per|a)\b)")

_OF_THE_JOB = "train_micro_batch_size_per_gpu"
"""An argument of DeepSpeed, beside which `train_batch_size` is that of the whole job."""


def of_whom(values: dict[str, Cell], text: str) -> dict[str, Cell]:
    """The same, its batch of nobody as that of one device or of all, where the numbers beside it
    say whose it must be: `batch size 1024 (32 GPUs with 32 images on each)`; and once alone."""
    batch = values.get("batch_size", values.get("global_batch"))
    if batch is None or batch.state != "value":
        return values
    if "#" in text and _OF_TOKENS.search(text):  # `total_batch_size = 524288 # in tokens`
        rest = {n: cell for n, cell in values.items() if n not in ("batch_size", "global_batch")}
        return rest | {"global_batch_tokens": batch}
    if "batch_size" not in values:
        return values
    place = batch.line, batch.column
    if any((values[n].line, values[n].column) == place for n in _BATCHES if n in values):
        return {name: cell for name, cell in values.items() if name != "batch_size"}
    whose = "global_batch" if _OF_THE_JOB in text else None
    whose = whose or (_noted(text) if "#" in text or "//" in text else None)
    whose = whose or _by_product(int(batch.text) if batch.text.isdigit() else 0, values)
    if whose is None or values.get(whose, batch).text != batch.text:
        return values
    return {name: cell for name, cell in values.items() if name != "batch_size"} | {whose: batch}


def _noted(text: str) -> str | None:
    """Whose a batch is by the remark behind it: `batch_size: 32  # per GPU`."""
    remark = _REMARK.search(text)
    if remark is None or _OF_PARTS.search(remark[1]):
        return None
    each, every = _EACH_DEVICE.search(remark[1]), _WHOLE_JOB.search(remark[1])
    return None if bool(each) == bool(every) else "micro_batch" if each else "global_batch"


_REMARK = deferred(r"batch_?size[\"']?\s*[:=]\s*[0-9]+,?\s*(?:#|//)(.*)", re.IGNORECASE)

_EACH_DEVICE = deferred(
    r"\b(?:per|on each|for each|on every|je|pro|par|por)[ -](?:GPU|NPU|TPU|HPU|device|card|rank"
    r"|chip|worker|process|accelerator|Karte|carte|tarjeta)\b"
    r"|(?:GPU|カード|デバイス) ?1? ?[枚台基]? ?(?:あたり|当たり|毎|ごと)"
    r"|单卡|每[张块个]?(?:GPU|卡|设备)"
    r"|(?:GPU|장치|카드) ?(?:한 ?장)? ?당",
    re.IGNORECASE,
)

_WHOLE_JOB = deferred(
    r"^\W*(?:global|total|effective)\b|\b(?:over|across|on) all (?:the )?"
    r"(?:GPU|NPU|TPU|device|card|rank|chip|worker|process)|全局|全体|合計|전체|\binsgesamt\b",
    re.IGNORECASE,
)

_OF_PARTS = deferred(r"\bnot\b|\*|\btimes\b|[0-9] ?[x×]", re.IGNORECASE)
"""A remark that says otherwise, or calculates."""


def _by_product(batch: int, values: dict[str, Cell]) -> str | None:
    """Whose a batch is by the numbers of devices, of steps and of the other batch beside it; of one
    device no step takes less than it accumulates."""

    def count(name: str) -> int:
        text = values[name].text if name in values else ""
        return int(text) if text.isdigit() else 0

    micro, whole, gpus, steps = map(count, ("micro_batch", "global_batch", "gpus", "accumulation"))
    if micro and gpus and batch == micro * gpus * (steps or 1):
        return "global_batch"
    if gpus != 1 or not batch or steps < 2 or micro:
        return None
    return "micro_batch" if whole == batch * steps or batch % steps else None


OPEN = deferred(r"[0-9$({<]")
"""How a value begins that says something, understood or not."""


_MAKERS = deferred(r"^(?:(?:NVIDIA|AMD|Intel|Tesla|GeForce|Instinct) )+")


def saying(cell: Cell) -> tuple[str, float, str]:
    """A cell's text in small letters, without the maker of a device, its scale and its state: what
    must agree."""
    bare = _MAKERS.sub("", cell.text).casefold()
    return _FORMATS.get(bare, bare), cell.scale, cell.state


_FORMATS = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
"""Number formats that have two names."""
