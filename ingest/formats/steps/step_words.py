"""From a printed label and the unit beside it to the quantity it names.

In: a label as words, and the unit behind the value if there is one. Out: a `Meaning`: the column,
the factor to its unit, and whether the words say that it is a quantity of a training step. A number
whose unit nobody prints is kept and not typed, but for what has none: losses, rates of learning,
norms, counts. What `assay.ingest` knows of labels elsewhere stands in schemas; this is the one
place where the generic reader asks.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from assay.ingest.numbers.units import Unit, unit
from assay.ingest.schema.terminals import deferred

COUNTERS = {
    "global step": 0, "globalstep": 0, "global steps": 0, "step": 1, "steps": 1,
    "step i": 1, "optimizer step": 1, "optim step": 1, "global iteration": 1,
    "iteration": 2, "iter": 2, "iterations": 2, "iters": 2, "itr": 2, "global iter": 2, "it": 2,
    "num updates": 3, "updates": 3, "update": 3, "update step": 3,
    "batch": 4, "batch idx": 4, "batch id": 4, "batches": 4, "local step": 5, "micro step": 5,
    "nupdates": 3, "n updates": 3, "total step": 0, "learning iteration": 2, "step in epoch": 5,
    "overall step": 0, "completed steps": 1, "epoch step": 5, "metrics step": 1,
    "iter num": 2, "step num": 1, "iteration number": 2, "i": 6,
}  # fmt: skip
"""Labels that count steps; of several in a record the first in this order is the step."""

_BESIDE_COUNTERS = {"completed", "finished", "at", "current", "cur", "train", "training", "trainer",
                    "of", "progress", "the"}  # fmt: skip

VALIDATION = {"val", "valid", "validation", "eval", "evaluation", "test", "dev", "cv"}
"""Words of what is no training."""

_DEVICE = {"gpu", "gpus", "device", "chip", "npu", "rank", "card", "tpu", "accelerator", "xpu",
           "core"}  # fmt: skip

_OVERALL = {"global", "total", "all", "aggregate", "cluster", "overall"}

_AVERAGE = {"avg", "average", "mean", "running", "rolling", "smoothed", "ema", "harmonic"}

_TOKENS = {"token", "tokens", "tok", "toks", "tks"}

_SAMPLES = {"sample", "samples", "sequence", "sequences", "seq", "seqs", "example", "examples",
            "image", "images", "img", "imgs", "sentence", "sentences", "sent", "sents", "smp",
           "smps", "samp"}  # fmt: skip

_STEP = {"step", "steps", "iter", "iteration", "iterations", "iters", "batch", "batches", "ba",
         "it", "its", "itr", "update", "updates", "bch"}  # fmt: skip

_SECOND = {"s", "sec", "secs", "second", "seconds"}

_ONE = {"s", "sec", "second", "step", "iter", "iteration", "it", "batch"} | _DEVICE
"""Divisors of a number: `timing/seconds_per_step` is a group and its label."""

_TIMES = {"time", "timing", "latency", "dt", "duration", "elapsed", "took", "runtime", "e2e",
          "uptime", "walltime", "wallclock"}  # fmt: skip

_WHOSE = {"train", "training", "cur", "curr", "current", "last", "the", "inst", "instant", "per",
          "in", "for", "wall", "clock", "ms", "us", "total", "global", "avg", "average", "mean",
          "speed", "throughput", "perf", "performance", "metrics", "stats", "timer", "timers",
          "completed", "finished", "end", "to", "running", "of", "one", "each", "approx",
          "e2e", "this"}  # fmt: skip

_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
"""Letters in the label of a rate: `tokens/s (k)`, `Mtok/s`."""

_OF_RATES = (
    _TOKENS | _SAMPLES | _STEP | _SECOND | _DEVICE | _OVERALL | _AVERAGE | _WHOSE
    | {"tps", "tgs", "rate", "interval", "processed", "consumed", "trained", "system", "local",
       "real", "actual", "ips", "timing", "num", "number", *_SCALES}
)  # fmt: skip
"""Words that leave a rate of training what it is."""

_GENERATED = {"input", "output", "prompt", "prompts", "prefill", "decode", "generation",
              "generated", "inference", "requests"}  # fmt: skip
"""Words of tokens that a model reads or writes, and does not learn from."""

_LOSS = _WHOSE | {"loss", "lm", "reduced", "ce", "language", "model", "cross", "entropy", "step",
                  "is", "batch", "nll", "ppo", "sft", "pretrain", "pretraining", "crossentropyloss",
                  "languagecrossentropy", "log", "logging", "causal", "postfix", "function",
                  "tok", "token", "word", "main", "minibatch", "xent"}  # fmt: skip

_OF_A_PART = {"value", "policy", "actor", "critic", "reward", "kl", "aux", "auxiliary", "z", "mtp",
              "router", "balance", "balancing", "load", "moe", "expert", "mlm", "nsp", "ctc", "att",
              "attn", "mel", "mag", "duration", "pitch", "gate", "gan", "gen", "generator", "disc",
              "discriminator", "adv", "style", "content", "perceptual", "pixel", "rec", "recon",
              "reconstruction", "commit", "vq", "box", "bbox", "giou", "iou", "cls", "obj", "conf",
              "dfl", "mask", "seg", "rpn", "kd", "distill", "distillation", "contrastive", "itc",
              "surrogate", "entropy", "reg", "regularization", "l", "mse", "mae", "vb"}  # fmt: skip
"""Words in front of `loss` that make it one of several which a trainer adds up."""

_ROLES = {"ref", "reference", "rollout", "forward", "backward", "generation"}
"""Further words of a part of a step, whose share of the peak is not that of the step."""

_LOSSES = {"loss", "crossentropyloss", "xent"}

_HOLDERS = {"model", "optim", "optimizer", "learner"}
"""Words in front of a rate of learning or a norm that say where it is kept."""

_NOT_REACHED = {"peak", "max", "maximum", "min", "minimum", "std", "theoretical", "ideal", "target",
                "expected", "promised", "best", "limit", "required"}  # fmt: skip
"""Words of operations per second that a device could do, or did once."""

_NOT_HELD = {"total", "available", "free", "limit", "capacity", "left"}
"""Words of memory that a device has, and nobody may use."""

NOT_OF_DEVICES = {"cpu", "host", "ram", "swap", "disk", "file", "system", "pinned", "rss"}
"""Words of memory that no device has."""

_FLOPS = deferred(r"([gtp]?)flops?s?")

_PREFIX = {"": 1.0, "g": 1e9, "t": 1e12, "p": 1e15}

_WORD = deferred(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|/")

_BETWEEN_BARS = deferred(r"^\|(\w+)\|$")
"""`|g|`: the norm of what stands between."""

_A_SECOND = deferred(r"(?i)(?<![a-z])(toks?|tokens|samples|seqs|images|imgs?)_s(?:ec)?(?![a-z])")
"""A rate whose stroke is a line below: `tok_s`, `samples_sec`."""

_SEVERAL = deferred(r"(ms|s|secs?|seconds)\s?/\s?([0-9]{1,9})\s?[a-z]+")
"""`s/100 iters`: a unit that says of how many."""

_FOR_SEVERAL = deferred(
    r"(?i)(.*time.*?)(?:\(|\s)([0-9]+)\s?(?:it(?:er(?:ation)?)?s?|steps?|batches)\)?"
)
"""`Time(1000 iters)`, `time for last 10 iterations`: a label that says so."""

_UP_TO = deferred(r"(.*)/(?:max|total)_?(?:steps?|iter(?:ation)?s?)")

_IN_LABEL = deferred(
    r"(?i)[\s_]*[(\[]([^()\[\]]+)[)\]]$|[\s_]in[\s_](s|ms|sec|seconds)$|_([kmgt]i?b)$"
)

_PER = deferred(r"[ _]per[ _]")

_CHINESE = {
    "训练": "train", "验证": "val", "测试": "test", "评估": "eval", "全局": "global",
    "总": "total", "平均": "average", "当前": "current", "每": "per", "单步": "step",
    "步数": "step", "步": "step", "迭代次数": "iteration", "迭代": "iteration",
    "批次": "batch", "轮次": "epoch", "轮数": "epoch", "轮": "epoch", "损失值": "loss",
    "损失": "loss", "学习率": "learning rate", "梯度范数": "grad norm", "耗时": "time",
    "用时": "time", "时间": "time", "显存": "memory", "卡": "gpu", "秒": "second",
    "样本": "samples", "词元": "tokens", "令牌": "tokens", "已消耗": "consumed",
    "已用": "elapsed", "已用显存": "used memory", "吞吐": "throughput", "吞吐量": "throughput",
    "吞吐率": "throughput", "速度": "speed", "峰值": "peak", "占用": "usage",
    "η": "learning rate", "‖∇‖": "grad norm", "∇": "grad", "Δt": "dt",
}  # fmt: skip
"""Words of labels in Chinese, and signs; what is read there is what is read under these."""

_IN_CHINESE = deferred("|".join(sorted(_CHINESE, key=len, reverse=True)))

MANY = 7  # words of a label


class Meaning(NamedTuple):
    """The column a label names, the factor to its unit, and whether it speaks of training."""

    field: str
    scale: float = 1.0
    training: bool = False
    typed: bool = False  # whether a unit was printed, or its label names one
    order: int = 0  # of several for one column the lowest is taken


@lru_cache(maxsize=16_384)  # an export has some thousands of columns
def words(label: str) -> tuple[str, ...]:
    """The words of a label, `/` as `per`.

    >>> words("CurrSamplesPerSec"), words("TFLOP/s/device"), words("train/grad_norm")
    (('curr', 'samples', 'per', 'sec'), ('tflops', 'per', 'device'), ('train', 'grad', 'norm'))
    """
    if not label.isascii():
        label = _IN_CHINESE.sub(lambda found: f" {_CHINESE[found[0]]} ", label)
    label = _BETWEEN_BARS.sub(r"\1 norm", label)
    text = re.sub(r"(?i)\b([gtp]?flop)s?(?:/s(?:ec)?)\b", r"\1s ", label)
    text = re.sub(r"(?i)\b([gtpm]?)(flops?)\b", lambda m: (m[1] + m[2]).lower(), text)
    text = re.sub(r"(?i)\b([km])(?=tok|samples?)", r"\1 ", text)
    text = _A_SECOND.sub(r"\1 per s", text)
    text = re.sub(r"(?i)e2e", "etwoe", text)
    text = re.sub(r"(?i)(/|per[ _])dev\b", r"\1device", text)
    text = re.sub(r"\bGPUs\b", "gpus", text).replace("TGS", "tgs").replace("MFU", "mfu")
    found = [each.lower() for each in _WORD.findall(text)]
    out: list[str] = []
    for at, word in enumerate(found):
        if word == "/":
            after = found[at + 1] if at + 1 < len(found) else ""
            if after in _ONE:
                out.append("per")
        else:
            out.append("e2e" if word == "etwoe" else word)
    return tuple(out)


@lru_cache(maxsize=16_384)
def meaning(label: str, behind: str = "") -> Meaning | None:
    """Meaning of a label with the unit `behind` its value; None where it is none of ours.

    >>> meaning("tgs (tokens/gpu/second)").field, meaning("step_avg", "ms").field
    ('tokens_per_gpu_per_s', 'step_time_average')
    >>> meaning("Speed", "samples/sec").field, meaning("mfu").field, meaning("hfu") is None
    ('samples_per_s', 'share', True)
    """
    counts = _UP_TO.fullmatch(label)
    if counts:
        label = counts[1]
    in_label = _IN_LABEL.search(label) if not behind else None
    named = next((each for each in in_label.groups() if each), "") if in_label else ""
    if in_label and unit(named):
        label, behind = label[: in_label.start()], named
    said = words(label)
    if len(said) > MANY:
        return None
    for_several = _FOR_SEVERAL.fullmatch(label)
    if for_several:
        behind = f"{behind}/{for_several[2]} iters"
    several = _SEVERAL.fullmatch(behind)
    if several and (of_all := unit(several[1])):
        return Meaning("step_time_average", of_all.scale / max(1, int(several[2])), True, True)
    known = unit(_PER.sub("/", behind)) if behind else None
    all_words = (*said, *words(behind)) if behind else said
    for rule in (_counter, _rate, _work, _loss, _schedule, _consumed, _memory, _clock):
        found = rule(said, all_words, known)
        if found is not None:
            return found
    return None


def is_part_of_loss(label: str) -> bool:
    """Whether a label names a loss that is only a part of what a trainer minimises.

    >>> is_part_of_loss("value loss"), is_part_of_loss("train loss")
    (True, False)
    """
    said = words(label)
    return said[-1:] == ("loss",) and any(word in _OF_A_PART for word in said)


def _counter(said: tuple[str, ...], _every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    if known is not None:
        return None
    text = " ".join(word for word in said if word not in _BESIDE_COUNTERS)
    if text in COUNTERS:
        return Meaning("step", order=COUNTERS[text])
    if text in ("epoch", "ep"):
        return Meaning("epoch")
    return None


def _rate(said: tuple[str, ...], every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    """Tokens, samples or steps per second, of one device or of all.

    One word more (`rollout tokens/s`, `peak samples/s`, `tokens/s/node`) makes it another.
    """
    held = set(every)
    si = known.si if known else ""
    if held & VALIDATION:
        return None
    scale = known.scale if known else 1.0
    for letter in held & _SCALES.keys():
        scale *= _SCALES[letter]
    found = _any_rate(said, every, si, scale)
    others = [word for word in held - _OF_RATES if not word.isdigit()]
    if found is None or not others:
        return found
    return found._replace(field="", training=found.training and not held & _GENERATED)


def _any_rate(
    said: tuple[str, ...], every: tuple[str, ...], si: str, scale: float
) -> Meaning | None:
    held = set(every)
    per_second = si != "s" and _a_second(every)
    tokens = si == "token/s" or (per_second and bool(held & _TOKENS)) or "tps" in said
    if tokens or "tgs" in held:
        if held & _AVERAGE:
            return None
        name = "token_rate"
        if _of_one(every) or "tgs" in held:
            name = "tokens_per_gpu_per_s"
        elif held & _OVERALL or held & _DEVICE:
            name = "tokens_per_s"
        return Meaning(name, scale, training=True, typed=True)
    if si == "sample/s" or (per_second and held & _SAMPLES and not held & _TOKENS):
        if _of_one(every):
            name = "" if held & _AVERAGE else "samples_per_gpu_per_s"
            return Meaning(name, scale, training=True, typed=True)
        name = "samples_per_s_average" if held & _AVERAGE else "samples_per_s"
        return Meaning(name, scale, training=True, typed=True)
    if per_second and held & _STEP and not held & (_SAMPLES | _TOKENS | _DEVICE):
        return Meaning("step_rate", training=False, typed=True)
    return None


def _a_second(every: tuple[str, ...]) -> bool:
    return any(a == "per" and b in _SECOND for a, b in pairwise(every))


def _of_one(every: tuple[str, ...]) -> bool:
    """Whether words say that a rate is of one device: `tokens/s/GPU`, not `tokens/s (8 GPUs)`."""
    if any(a == "per" and b in _DEVICE for a, b in pairwise(every)):
        return True
    counted = any(a.isdigit() and b in _DEVICE for a, b in pairwise(every))
    return bool(set(every) & _DEVICE) and not counted and not set(every) & _OVERALL


def _work(said: tuple[str, ...], every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    """Floating-point operations per second, and what share of the peak they are."""
    held = set(every)
    if held & _NOT_REACHED:
        return None
    utilised = {"mfu", "hfu"} & held or (
        "utilization" in held and ("flops" in held or {"floating", "point"} <= held)
    )
    if utilised:
        if held & {"hfu", "hardware", "hw", *_AVERAGE}:
            return None
        percent = known is not None and known.si == "1" and known.scale == 0.01
        if percent:
            return Meaning("mfu", 0.01, training=True, typed=True)
        alone = not any(word in _OF_A_PART | _ROLES for word in said)
        return Meaning("share") if known is None and alone else None
    found = next((match for word in said if (match := _FLOPS.fullmatch(word))), None)
    if known is not None and known.si == "flop/s":
        scale = known.scale
    elif known is None and found is not None and (found[1] or _a_second(every)):
        scale = _PREFIX[found[1]]
    else:
        return None
    if held & _AVERAGE:
        return None
    if held & _OVERALL and not held & _DEVICE:
        return Meaning("", training=True, typed=True)  # there is no column for it
    name = "flops_rate_per_gpu" if held & _DEVICE else "flops_rate"
    return Meaning(name, scale, training=True, typed=True)


def _loss(said: tuple[str, ...], _every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    held = set(said)
    if known is not None or not (held & _LOSSES or "languagecrossentropy" in held):
        return None
    if "scale" in held:
        return Meaning("loss_scale") if held <= _WHOSE | {"loss", "scale"} else None
    if held & VALIDATION:
        return Meaning("validation_loss", training=True) if held <= _LOSS | VALIDATION else None
    if not held <= _LOSS:
        return Meaning("", training=True)  # of a part, or under a name of its own
    exact = {"lm", "reduced", "ce", "language", "cross"} & held
    return Meaning("loss", training=True, order=0 if exact else 1 + bool(held & _AVERAGE))


def _schedule(said: tuple[str, ...], _every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    plain = tuple(word for word in said if word not in _WHOSE | _HOLDERS)
    if known is not None:
        return None
    if _rate_of_learning(plain):
        return Meaning("learning_rate", training=True)
    squared = tuple(word for word in plain if word not in ("l", "2"))
    if plain in _NORMS or squared in (_NORMS if squared == plain else _SQUARED):
        return Meaning("grad_norm", training=True)
    return None


_NORMS = {("grad", "norm"), ("gnorm",), ("gradnorm",), ("gradient", "norm"), ("grad", "gnorm"),
          ("g", "norm"), ("gn",)}  # fmt: skip

_SQUARED = {*_NORMS, ("grad",), ("grads",), ("gradient",), ("gradients",), ("norm", "grad"),
            ("grads", "norm"), ("gradients", "norm"), ("norm", "grads")}  # fmt: skip
"""Words beside `l2` that make a norm that of the gradient: `l2_grads`."""


def _rate_of_learning(plain: tuple[str, ...]) -> bool:
    """Whether words name a rate of learning, or that of the first of several groups of parameters:
    `optim0_lr0`, `optim/learning_rate_group0`, `lr-DecoupledAdamW/group0`, `lr/pg0`."""
    if "0" in plain:
        plain = tuple(word for word in plain if word not in _FIRST)
        plain = plain[:1] if plain[:1] == ("lr",) else plain
    plain = plain[:-1] if plain[-1:] == ("schedule",) else plain
    return plain in (("lr",), ("l", "r"), ("learning", "rate"), ("learningrate",), ("lrate",))


_FIRST = {"0", "group", "groups", "pg", "param", "params"}
"""Words of the first of several groups of parameters."""


def _consumed(said: tuple[str, ...], _every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    held = set(said)
    if known is not None or not held & {"consumed", "seen", "processed"}:
        return None
    if held <= {"num", "consumed", "seen", "processed", "input", "n", "train"} | _WHOSE | _TOKENS:
        return Meaning("consumed_tokens") if held & _TOKENS else None
    if held <= {"num", "consumed", "seen", "processed", "n", "train"} | _WHOSE | _SAMPLES:
        return Meaning("consumed_samples") if held & _SAMPLES else None
    return None


def _memory(said: tuple[str, ...], every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    held = set(every)
    others = NOT_OF_DEVICES - ({"system"} if held & _DEVICE else set())  # `system/GPU active mem`
    if known is None or known.si != "B" or held & others:
        return None
    most = bool(held & {"max", "peak", "maximum"})
    if held & {"reserved", "cached"}:
        name = "max_reserved" if most else "reserved"
    elif held & {"allocated", "alloc"}:
        name = "max_allocated" if most else "allocated"
    elif held & {"mem", "memory", "vram"} and not held & _NOT_HELD:
        name = "memory"
    else:
        return None
    return Meaning(name, known.scale, training=False, typed=True)


def _clock(said: tuple[str, ...], every: tuple[str, ...], known: Unit | None) -> Meaning | None:
    """A time of one step, a mean of them, or one of which the shape of the file has to tell."""
    held = set(said)
    if said[:1] == ("per",) and held <= {"per"} | _SECOND | _DEVICE:  # `7380.2/s` of something
        return None
    scale = known.scale if known is not None and known.si == "s" else None
    each = set(every) - held
    if scale is not None and "per" in each and each & _STEP:  # `latency=242.1 ms/step`
        held |= _STEP & each
    if known is None:
        named = next((word for word in reversed(said) if word in _SECOND | {"ms", "us"}), "")
        seconds = unit(named)
        scale = seconds.scale if seconds is not None else None
    cost = {"cost"} if known is not None and held & _STEP else set()  # Paddle's word for a time
    cost |= {"t"} if known is not None else set()
    if held & VALIDATION or not held or not held <= _TIMES | _WHOSE | _STEP | _SECOND | cost:
        return None
    if scale is None:  # of what unit, times of day may tell
        plain = held & _TIMES and not held & (_AVERAGE | {"elapsed"})
        return Meaning("clock", 1.0) if plain and known is None else None
    if held & {"total", "elapsed"} and not held & _STEP:
        return Meaning("elapsed", scale, typed=True)
    if held & _STEP:
        name = "step_time_average" if held & _AVERAGE else "step_time"
        return Meaning(name, scale, training=True, typed=True)
    if held & (_TIMES | {"t"}) or held <= _SECOND | _WHOSE:
        return None if held & _AVERAGE else Meaning("clock", scale, typed=True)
    return None
