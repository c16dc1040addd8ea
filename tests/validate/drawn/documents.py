"""Markdown documents of drawn configurations: tables, and statements of every kind around them.

In: a random generator. Out: a text, and for each row of its tables the true configuration, which
fields of it the document prints, and the kind of document. Rates are computed from the truth by a
known formula and printed as documents print them, so that a statement which is wrong or speaks of
another table contradicts them. `KINDS` says how the statements stand to the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from assay.model.formulas.registry import FORMULAS

Truth = dict[str, int]

KINDS = ("before", "after", "tail", "nested", "fenced", "contradicting", "stale", "absent", "whole")
"""Statements above a table, below it, with a tail, in the heading above, in a block; one that the
rows contradict; an older one of another section; none but of another table; one for all tables."""

FORMULA_IDS = ("narayanan-eq3", "megatron-2021-old", "korthikanti-2022.mfu", "narayanan-eq3-stored")

STATED = ("hidden", "layers", "seq_len", "vocab")
"""Fields that a drawn statement may hold."""


@dataclass
class Drawn:
    """A document, and for the line of each row the truth and what of it is printed."""

    kind: str
    lines: list[str] = field(default_factory=list)
    rows: dict[int, Truth] = field(default_factory=dict)
    printed: dict[int, set[str]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclass(frozen=True)
class Style:
    """How one document spells its statements and headers."""

    names: dict[str, str]
    join: str
    sentence: bool
    columns: dict[str, str]
    speeds: tuple[str, ...]
    formula: str


SPELLINGS = {
    "hidden": ("NHIDDEN", "HIDDEN", "hidden_size", "hidden-size"),
    "layers": ("NLAYERS", "num_layers", "NUM_LAYERS", "num-layers"),
    "seq_len": ("SEQ_LEN", "seq_length", "SEQ_LENGTH", "seq-length"),
    "vocab": ("VOCAB_SIZE", "vocab_size", "VOCAB_LENGTH"),
}

HEADERS = {
    "nodes": ("Nodes",), "gpus": ("GPUs", "NGPU", "#GPUs"), "tp": ("TP",), "pp": ("PP",),
    "dp": ("DP",), "micro_batch": ("MBS", "Micro-BS"), "global_batch": ("GBS", "Glob-BS"),
    "step_time": ("Sec/it",), "samples_per_s": ("samples/s",), "tokens_per_s": ("tokens/s",),
    "tokens_per_gpu_per_s": ("tokens/s/GPU",), "model_flops_rate": ("TFLOPs",),
}  # fmt: skip

SPEEDS = (
    ("step_time", "model_flops_rate"),
    ("step_time", "samples_per_s", "model_flops_rate"),
    ("step_time", "tokens_per_gpu_per_s", "model_flops_rate"),
    ("samples_per_s", "tokens_per_gpu_per_s", "model_flops_rate"),
    ("samples_per_s", "tokens_per_s", "model_flops_rate"),
)

FORMATS: dict[str, Callable[[float], str]] = {
    "step_time": "{:.2f}".format, "samples_per_s": "{:.3f}".format, "tokens_per_s": "{:.1f}".format,
    "tokens_per_gpu_per_s": "{:.3f}".format, "model_flops_rate": "{:.2f}".format,
}  # fmt: skip


def drawn(random: Random, kind: str | None = None) -> Drawn:
    """A document of one kind, of any where none is named."""
    kind = kind or random.choice(KINDS)
    document = Drawn(kind)
    style = _style(random)
    count = 2 if kind in ("stale", "absent", "whole") else random.choice((1, 1, 2))
    models = [_model(random) for _ in range(count)]
    if kind == "whole":
        for model in models[1:]:
            model["seq_len"], model["vocab"] = models[0]["seq_len"], models[0]["vocab"]
    elif kind in ("stale", "absent"):
        while models[1]["seq_len"] == models[0]["seq_len"]:
            models[1]["seq_len"] = _model(random)["seq_len"]
    document.lines += [f"# Throughput {random.randint(1, 99)}", ""]
    if kind == "whole":
        document.lines += [_said(style, models[0], ("seq_len", "vocab")), ""]
    for at, model in enumerate(models):
        _section(document, random, style, model, at)
    return document


def _style(random: Random) -> Style:
    return Style(
        names={name: random.choice(known) for name, known in SPELLINGS.items()},
        join=random.choice((" / ", ", ", "; ", " ")),
        sentence=random.random() < 0.3,
        columns={name: random.choice(known) for name, known in HEADERS.items()},
        speeds=random.choice(SPEEDS),
        formula=random.choice(FORMULA_IDS),
    )


def _model(random: Random) -> Truth:
    return {
        "hidden": random.choice((1024, 2048, 2560, 4096, 5120, 6144, 8192, 9216, 12288)),
        "layers": random.randint(8, 96),
        "seq_len": random.choice((512, 1024, 2048, 4096, 8192, 16384)),
        "vocab": random.choice((32000, 50257, 50304, 51200, 128256)),
    }


def _section(document: Drawn, random: Random, style: Style, model: Truth, at: int) -> None:
    kind = document.kind
    lines = document.lines
    silent = kind == "absent" and at == 1
    told = {n for n in STATED if not (n == "seq_len" and (silent or kind == "whole"))}
    told -= {"vocab"} if kind == "whole" else set()
    names = tuple(n for n in STATED if n in told)
    lines += [f"## Part {at + 1}", ""]
    said = dict(model)
    if kind == "contradicting":
        said["seq_len"] = model["seq_len"] * random.choice((2, 4))
    if kind == "stale":
        old = dict(_model(random))
        lines += [_said(style, old, STATED), "", f"## Part {at + 1}, later", ""]
    text = _said(style, said, names)
    if kind == "nested":
        lines += [text, "", f"### Runs {at + 1}", "", "Some words about what was tried here.", ""]
    elif kind == "tail":
        size = 12 * model["layers"] * model["hidden"] ** 2 / 1e9
        ratio = model["hidden"] // model["layers"]
        lines += [f"{text}; Model size: {size:.0f}B, ratio={ratio}", ""]
    elif kind == "fenced":
        lines += ["```bash", *(f"{style.names[n]}={said[n]}" for n in names), "```", ""]
    elif kind == "after":
        rest = tuple(n for n in names if n not in ("seq_len", "vocab"))
        lines += [_said(style, said, rest), ""]
    else:
        lines += [text, ""]
    known = set(model) - ({"seq_len"} if silent or kind == "contradicting" else set())
    _table(document, random, style, model, known)
    if kind == "after":
        lines += ["notes:", f"- Seq length is {model['seq_len']}",
                  f"- {style.names['vocab']}={model['vocab']}", ""]  # fmt: skip


def _said(style: Style, model: Truth, names: tuple[str, ...]) -> str:
    return style.join.join(f"{style.names[name]}={model[name]}" for name in names)


def _table(document: Drawn, random: Random, style: Style, model: Truth, known: set[str]) -> None:
    counts = ("nodes", "tp", "pp", "dp", "micro_batch", "global_batch")
    if random.random() < 0.5:
        counts = ("gpus", *counts[1:])
    columns = [*counts, *style.speeds]
    head = [style.columns[name] for name in columns]
    document.lines += ["| " + " | ".join(head) + " |", "|" + " -: |" * len(head)]
    for _ in range(random.randint(3, 7)):
        row = _row(random, model, style)
        cells = [FORMATS[n](row[n]) if n in FORMATS else str(row[n]) for n in columns]
        document.lines.append("| " + " | ".join(cells) + " |")
        truth = {n: row[n] for n in (*model, *counts)}
        document.rows[len(document.lines)] = truth
        document.printed[len(document.lines)] = known | set(counts)
    document.lines.append("")


def _row(random: Random, model: Truth, style: Style) -> dict[str, Any]:
    tp, pp, dp = (random.choice(each) for each in ((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4, 6, 8)))
    while tp * pp * dp % 8:
        dp *= 2
    micro = random.choice((1, 2, 4))
    row: dict[str, Any] = {
        **model, "tp": tp, "pp": pp, "dp": dp, "gpus": tp * pp * dp, "nodes": tp * pp * dp // 8,
        "micro_batch": micro, "global_batch": micro * dp * random.choice((8, 12, 16, 32, 64)),
    }  # fmt: skip
    flop = float(FORMULAS[style.formula].count(row))
    rate = random.uniform(60e12, 180e12)
    time = round(flop * row["global_batch"] / (rate * row["gpus"]), 6)
    samples = row["global_batch"] / time
    return row | {
        "step_time": time,
        "samples_per_s": samples,
        "tokens_per_s": samples * row["seq_len"],
        "tokens_per_gpu_per_s": samples * row["seq_len"] / row["gpus"],
        "model_flops_rate": flop * samples / row["gpus"] / 1e12,
    }
