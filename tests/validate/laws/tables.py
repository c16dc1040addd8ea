"""Tables that are consistent by construction, and ways of spoiling one cell of them.

A table follows one known formula; its runs have random shapes, layouts and speeds; every column is
printed with one to six digits, rounded or cut. `spoil` changes one cell by more than three times
its interval, in a way that people slip.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from typing import Any

from assay.model.formulas.registry import FORMULAS
from assay.model.machines.datasheets import machine

MACHINE = "A100-80g"
PEAK = machine(MACHINE).peak("bf16")
RATES = ("megatron-2021-old", "narayanan-eq3", "narayanan-eq3-stored", "korthikanti-2022.mfu",
         "korthikanti-2022.hfu", "palm-2022", "mosaic-2022.mfu", "mosaic-2023.mfu",
         "mosaic-2022.mfu*", "megatron-core.plain.gqa.dense.full",
         "megatron-core.plain.gqa.dense.causal", "megatron-core.gated.gqa.dense.full",
         "megatron-core.gated.gqa.dense.causal")  # fmt: skip
MFUS = ("mosaic-2022.mfu", "mosaic-2023.mfu", "palm-2022", "korthikanti-2022.mfu",
        "megatron-core.gated.gqa.dense.causal", "mosaic-2022.mfu*")  # fmt: skip
SHAPES = [(768, 12, 12), (1024, 24, 16), (2048, 24, 16), (2560, 32, 32), (4096, 32, 32),
          (5120, 40, 40), (6144, 48, 64), (8192, 80, 64), (12288, 96, 96),
          (14336, 70, 112)]  # fmt: skip

COUNTS = ("GPUs", "ParamCount", "NHIDDEN", "NLAYERS", "NHEADS", "FFN", "SEQ_LEN", "VOCAB", "TP",
          "PP", "DP", "MBS", "GA", "GBS")  # fmt: skip
INPUTS = {
    "hidden": "NHIDDEN", "layers": "NLAYERS", "heads": "NHEADS", "ffn_hidden": "FFN",
    "seq_len": "SEQ_LEN", "vocab": "VOCAB", "parameters": "ParamCount", "tp": "TP",
}  # fmt: skip
"""Inputs of formulas and the columns that print them."""

SPEEDS = ("Sec/it", "samples/s", "tokens/s", "tokens/s/GPU", "TFLOPs", "MFU")


@dataclass(frozen=True)
class Table:
    """Cells as text by column; `digits` of the printed columns; `formula` they follow."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]
    formula: str
    places: dict[str, int] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        return len(self.columns) * len(self.rows)

    def text(self) -> str:
        head = [f"| {' | '.join(self.columns)} | GPUType | Precision |",
                f"|{' --- |' * (len(self.columns) + 2)}"]  # fmt: skip
        body = [
            f"| {' | '.join(row[name] for name in self.columns)} | A100-SXM4-80GB | bf16 |"
            for row in self.rows
        ]
        return "\n".join([*head, *body]) + "\n"


def shown(value: float, digits: int, *, cut: bool, style: str) -> str:
    """A number with so many digits: in all (`significant`) or behind the point (`decimals`)."""
    exact = Decimal(repr(value))
    place = exact.adjusted() - digits + 1 if style == "significant" else -digits
    if style == "decimals" and exact.adjusted() + digits < 0:
        place = exact.adjusted()
    unit = Decimal(1).scaleb(place)
    found = (exact / unit).to_integral_value(ROUND_DOWN if cut else ROUND_HALF_EVEN) * unit
    return f"{found:f}"


def consistent(seed: int, rows: int = 10) -> Table:
    """One table; everything about it follows from `seed`."""
    luck = random.Random(seed)
    utilisation = luck.random() < 0.4
    formula = luck.choice(MFUS if utilisation else RATES)
    model = luck.choice(SHAPES) if luck.random() < 0.6 else None
    speeds = _speeds(luck, utilisation=utilisation)
    runs = [_run(luck, formula, model) for _ in range(rows)]
    needed = set(FORMULAS[formula].inputs)
    wanted = {INPUTS[name] for name in needed & set(INPUTS)} | {"GPUs", "SEQ_LEN", "GBS"}
    wanted |= {"NHIDDEN"} if "head_dim" in needed else set()
    wanted |= {name for name in ("TP", "PP", "DP", "MBS", "GA") if luck.random() < 0.7}
    columns = [name for name in COUNTS if name in wanted] + [n for n in SPEEDS if n in speeds]
    cut, style = luck.random() < 0.5, luck.choice(["significant", "decimals"])
    digits = {name: luck.randint(1, 6) for name in SPEEDS}
    cells = [
        {
            name: str(run[name]) if name in COUNTS
            else shown(run[name], digits[name], cut=cut, style=style)
            for name in columns
        }
        for run in runs
    ]  # fmt: skip
    return Table(tuple(columns), tuple(cells), formula, digits)


def _speeds(luck: random.Random, *, utilisation: bool) -> list[str]:
    said = luck.sample(SPEEDS[:4], luck.randint(1, 3))
    return [*said, "MFU" if utilisation else "TFLOPs"]


def _run(luck: random.Random, formula: str, model: tuple[int, int, int] | None) -> dict[str, Any]:
    hidden, layers, heads = model or luck.choice(SHAPES)
    if model is None:
        layers = luck.randint(4, 100)
    tp, pp, dp = 2 ** luck.randint(0, 3), luck.choice([1, 2, 4, 5, 6, 8, 12]), luck.randint(1, 32)
    micro, steps = 2 ** luck.randint(0, 4), luck.randint(1, 64)
    seq = luck.choice([1024, 2048, 4096, 8192])
    batch = micro * steps * dp - (luck.randint(0, micro * dp - 1) if luck.random() < 0.2 else 0)
    vocab = luck.choice([50257, 50304, 128256, 250880])
    gpus = tp * pp * dp
    case = {
        "hidden": hidden, "layers": layers, "heads": heads, "kv_heads": heads, "vocab": vocab,
        "head_dim": hidden / heads, "ffn_hidden": 4 * hidden, "seq_len": seq, "tp": tp,
        "parameters": vocab * hidden + seq * hidden + layers * (12 * hidden**2 + 13 * hidden),
    }  # fmt: skip
    rate = luck.uniform(0.2, 0.6) * PEAK
    per_sequence = float(FORMULAS[formula].count(case))
    samples = rate * gpus / per_sequence
    return {
        "GPUs": gpus, "ParamCount": case["parameters"], "NHIDDEN": hidden, "NLAYERS": layers,
        "NHEADS": heads, "FFN": 4 * hidden, "SEQ_LEN": seq, "VOCAB": vocab, "TP": tp, "PP": pp,
        "DP": dp, "MBS": micro, "GA": steps, "GBS": batch, "Sec/it": batch / samples,
        "samples/s": samples, "tokens/s": samples * seq, "tokens/s/GPU": samples * seq / gpus,
        "TFLOPs": rate / 1e12, "MFU": rate / PEAK,
    }  # fmt: skip


CLASSES = ("exchanged", "lost digit", "shifted digit", "unit", "factor", "stale", "copied")


def spoil(table: Table, kind: str, seed: int) -> tuple[Table, int, str] | None:
    """The table with one cell (of a copied row all measured cells) wrong; row and column of it.

    None where that class changes nothing by more than three times the interval here.
    """
    luck = random.Random(f"{kind} {seed}")
    at = luck.randrange(len(table.rows))
    row = table.rows[at]
    if kind == "copied":
        other = luck.choice([r for i, r in enumerate(table.rows) if i != at])
        speeds = [name for name in table.columns if name in SPEEDS]
        new = {**row, **{name: other[name] for name in speeds}}
        return _with(table, at, new, speeds[0])
    names = [name for name in table.columns if name in (*SPEEDS, *LAYOUT)]
    luck.shuffle(names)
    for name in names:
        for new in _changes(table, at, name, kind, luck):
            if _far(row[name], new[name], name):
                return _with(table, at, new, name)
    return None


LAYOUT = ("GPUs", "TP", "PP", "DP", "MBS", "GA", "GBS", "NLAYERS", "NHIDDEN", "SEQ_LEN")


def _with(table: Table, at: int, new: dict[str, str], name: str) -> tuple[Table, int, str] | None:
    if new == table.rows[at]:
        return None
    rows = [*table.rows[:at], new, *table.rows[at + 1 :]]
    return replace(table, rows=tuple(rows)), at, name


def _changes(table: Table, at: int, name: str, kind: str, luck: random.Random) -> list[Any]:
    row = table.rows[at]
    text = row[name]
    if kind == "exchanged":
        others = [n for n in table.columns if n in (*SPEEDS, *LAYOUT) and n != name]
        if name in LAYOUT:
            others = [n for n in others if n in LAYOUT]
        else:
            others = [n for n in others if n in SPEEDS]
        luck.shuffle(others)
        return [{**row, name: row[other], other: text} for other in others]
    if kind == "stale":
        above = table.rows[at - 1][name] if at else table.rows[at + 1][name]
        return [{**row, name: above}]
    value = Decimal(text)
    digits = text.replace(".", "")
    new: list[str] = []
    if kind == "lost digit" and len(digits) > 1:
        where = [i for i, c in enumerate(text) if c.isdigit()]
        luck.shuffle(where)
        new = [(text[:i] + text[i + 1 :]).lstrip("0") or "0" for i in where]
        new = ["0" + each if each.startswith(".") else each for each in new]
    elif kind == "shifted digit":
        new = [f"{value * 10:f}", f"{value / 10:f}"]
    elif kind == "unit":
        new = [f"{value * 1000:f}", f"{value / 1000:f}"]
    elif kind == "factor":
        factors = [Decimal(each) for each in ("2", "4", "0.5", "0.25")]
        luck.shuffle(factors)
        new = [f"{value * each:f}" for each in factors]
    if name in LAYOUT:
        new = [each for each in new if Decimal(each) == int(Decimal(each)) and Decimal(each) >= 1]
        new = [str(int(Decimal(each))) for each in new]
    return [{**row, name: each} for each in new]


def _far(old: str, new: str, name: str) -> bool:
    """Whether a change is more than three times the interval of the cell."""
    before, after = Decimal(old), Decimal(new)
    if after <= 0:
        return False
    place = Decimal(0) if name in LAYOUT else Decimal(1).scaleb(_last(old))
    return abs(after - before) > 3 * place


def _last(text: str) -> int:
    """The exponent of the last digit that means something; zeros at the end of integers do not."""
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int)
    if "." in text:
        return exponent
    return len(text) - len(text.rstrip("0"))


def visible(table: Table, at: int) -> bool:
    """Whether a row breaks something that follows from what the table prints and its formula.

    An oracle for tests: it knows the formula and how the columns were printed, which laws do not.
    """
    row = {name: Decimal(text) for name, text in table.rows[at].items()}
    count = {name: int(value) for name, value in row.items() if name in COUNTS}
    span = {name: _bounds(table, at, name) for name in table.columns if name in SPEEDS}
    return bool(_broken_layout(count) or _broken_speeds(table, count, span))


def _broken_layout(count: dict[str, int]) -> bool:
    if {"TP", "PP", "DP"} <= set(count) and count["TP"] * count["PP"] * count["DP"] != count[
        "GPUs"
    ]:
        return True
    if not {"MBS", "GA", "GBS"} <= set(count):
        return False
    if "DP" in count:
        replicas = float(count["DP"])
    elif {"TP", "PP"} <= set(count):
        replicas = count["GPUs"] / (count["TP"] * count["PP"])
    else:
        return False
    steps = count["GBS"] / (count["MBS"] * replicas)
    return not int(steps) <= count["GA"] <= -int(-steps // 1)


def _bounds(table: Table, at: int, name: str) -> tuple[float, float]:
    value = Decimal(table.rows[at][name])
    place = Decimal(1).scaleb(_last(table.rows[at][name]))
    return float(value - place / 2), float(value + place)


def _broken_speeds(
    table: Table, count: dict[str, int], span: dict[str, tuple[float, float]]
) -> bool:
    scale = {"samples/s": 1.0, "tokens/s": 1 / count["SEQ_LEN"],
             "tokens/s/GPU": count["GPUs"] / count["SEQ_LEN"]}  # fmt: skip
    said = [(low * scale[n], high * scale[n]) for n, (low, high) in span.items() if n in scale]
    if "Sec/it" in span:
        low, high = span["Sec/it"]
        said.append((count["GBS"] / high, count["GBS"] / max(low, 1e-30)))
    case: dict[str, Any] = {name: count[n] for name, n in INPUTS.items() if n in count}
    case.setdefault("heads", 1)
    case["kv_heads"], case["head_dim"] = case["heads"], case.get("hidden", 1) / case["heads"]
    flop = float(FORMULAS[table.formula].count(case)) / count["GPUs"]
    for name, unit in (("TFLOPs", 1e12), ("MFU", PEAK)):
        if name in span:
            low, high = span[name]
            said.append((low * unit / flop, high * unit / flop))
    return max(low for low, _ in said) > min(high for _, high in said)
