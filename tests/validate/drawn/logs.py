"""Logs of drawn jobs: a configuration in one of many carriers, then steps.

In: a random generator. Out: a text, and for each line of a step the true configuration, all of
which the log prints. Values of validation stand beside those of training, and some logs hold an
older job's configuration with its own steps above; neither speaks for the steps below.
"""

from __future__ import annotations

import json
import pprint
from collections.abc import Callable, Mapping
from random import Random

from tests.validate.drawn.documents import Drawn, Truth

SPELLINGS = {
    "hidden": ("hidden_size", "d_model", "n_embd", "hidden_dim", "dim_model"),
    "layers": ("num_layers", "n_layers", "num_hidden_layers", "n_layer"),
    "heads": ("num_attention_heads", "n_heads", "n_head", "num_heads"),
    "seq_len": ("seq_length", "seq_len", "max_seq_len", "sequence_length", "block_size"),
    "vocab": ("vocab_size", "padded_vocab_size"),
    "tp": ("tensor_parallel_size", "tensor_model_parallel_size", "tp", "tp_size"),
    "pp": ("pipeline_parallel_size", "pipeline_model_parallel_size", "pp"),
    "micro_batch": ("micro_batch_size", "per_device_train_batch_size"),
    "global_batch": ("global_batch_size", "global_train_batch_size"),
    "gpus": ("world_size", "num_gpus", "n_gpus"),
}

GROUPS = {
    "model": ("hidden", "layers", "heads", "vocab"), "data": ("seq_len",),
    "parallel": ("tp", "pp", "gpus"), "train": ("micro_batch", "global_batch"),
}  # fmt: skip

AT = "[2024-05-01 10:00:{:02d},000] [INFO] "

Sections = Mapping[str, Mapping[str, int]]


def _yaml(said: Sections) -> list[str]:
    return [
        line for section, pairs in said.items()
        for line in (f"{section}:", *(f"  {key}: {value}" for key, value in pairs.items()))
    ]  # fmt: skip


def _toml(said: Sections) -> list[str]:
    return [
        line for section, pairs in said.items()
        for line in (f"[{section}]", *(f"{key} = {value}" for key, value in pairs.items()), "")
    ]  # fmt: skip


def _json(said: Sections) -> list[str]:
    return json.dumps(said, indent=2).splitlines()


def _object(said: Sections) -> list[str]:
    return [f"config: {json.dumps(said)}"]


def _python(said: Sections) -> list[str]:
    return [f"INFO:root:config = {dict(said)!r}"]


def _printed(said: Sections) -> list[str]:
    return pprint.pformat({name: dict(pairs) for name, pairs in said.items()}).splitlines()


def _options(said: Sections) -> list[str]:
    own = {k: v for name, pairs in said.items() if name != "validation" for k, v in pairs.items()}
    words = [f"--{key.replace('_', '-')} {value}" for key, value in own.items()]
    return ["torchrun --standalone train.py " + " ".join(words) + " --lr 1e-4"]


def _options_below(said: Sections) -> list[str]:
    own = {k: v for name, pairs in said.items() if name != "validation" for k, v in pairs.items()}
    return [
        "python train.py \\",
        *(f"    --{key}={value} \\" for key, value in own.items()),
        "    --bf16",
    ]


def _assigned(said: Sections) -> list[str]:
    own = {k: v for name, pairs in said.items() if name != "validation" for k, v in pairs.items()}
    return [f"export {key.upper()}={value}" for key, value in own.items()]


def _logged(said: Sections) -> list[str]:
    own = {k: v for name, pairs in said.items() if name != "validation" for k, v in pairs.items()}
    return [AT.format(at % 60) + f"{key}: {value}" for at, (key, value) in enumerate(own.items())]


def _namespace(said: Sections) -> list[str]:
    own = {k: v for name, pairs in said.items() if name != "validation" for k, v in pairs.items()}
    return ["args: Namespace(" + ", ".join(f"{k}={v}" for k, v in own.items()) + ", name='x')"]


CARRIERS: Mapping[str, Callable[[Sections], list[str]]] = {
    "yaml": _yaml, "toml": _toml, "json": _json, "object": _object, "python": _python,
    "printed": _printed, "options": _options, "options below": _options_below,
    "assigned": _assigned, "logged": _logged, "namespace": _namespace,
}  # fmt: skip


def drawn_log(random: Random, kind: str | None = None) -> Drawn:
    """A log whose configuration stands in one carrier, of any where none is named."""
    kind = kind or random.choice([*CARRIERS])
    document = Drawn(kind)
    for _ in range(random.choice((1, 1, 2))):
        truth = _configuration(random)
        names = {name: random.choice(known) for name, known in SPELLINGS.items()}
        sections = {
            section: {names[name]: truth[name] for name in members}
            for section, members in GROUPS.items()
        }
        other = {names["seq_len"]: 2 * truth["seq_len"], names["micro_batch"]: 7}
        sections["validation"] = other
        items = list(sections.items())
        random.shuffle(items)
        document.lines += [*CARRIERS[kind](dict(items)), ""]
        for n in range(1, random.randint(4, 8)):
            time = 2.5 + random.random()
            document.lines.append(f"step: {n}  loss: {9 - n / 10:.3f}  step_time: {time:.3f} s")
            document.rows[len(document.lines)] = dict(truth)
            document.printed[len(document.lines)] = set(truth)
    return document


def _configuration(random: Random) -> Truth:
    tp, pp, dp = random.choice((1, 2, 4, 8)), random.choice((1, 2, 4)), random.choice((1, 2, 8))
    heads = random.choice((16, 32, 40, 64))
    micro = random.choice((1, 2, 4))
    return {
        "hidden": heads * random.choice((64, 128)), "layers": random.randint(8, 96),
        "heads": heads, "seq_len": random.choice((512, 1024, 2048, 4096, 8192)),
        "vocab": random.choice((32000, 50257, 50304, 128256)), "tp": tp, "pp": pp,
        "gpus": tp * pp * dp, "micro_batch": micro,
        "global_batch": micro * dp * random.choice((4, 8, 16, 32)),
    }  # fmt: skip
