"""The registry of formulas: every way of counting operations under the id that names it.

What counts is in `flop_formulas` and `megatron_core`; here each gets its id, its columns, and where
it can be looked up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from assay.model.formulas import flop_formulas, megatron_core


class Formula(NamedTuple):
    """One way of counting, where it can be looked up, and what it was compared with.

    `count` takes a mapping with `inputs` as keys, numbers or polars expressions, and gives flop per
    sequence; it raises KeyError for a missing input.
    """

    formula_id: str
    quantity: str  # mfu: the model's own operations; hfu: with those done again; *_star: partial
    expression: str  # per iteration, in the symbols of docs/formulas.md
    source: str
    checked: str
    inputs: tuple[str, ...]  # columns
    count: Callable[..., Any]  # case mapping → flop per sequence
    basis: str


def _keywords(function: Callable[..., Any], names: tuple[str, ...], case: Mapping[str, Any]) -> Any:
    return function(**{name: case[name] for name in names})


def _formula(
    formula_id: str,
    quantity: str,
    function: Callable[..., Any],
    expression: str,
    source: str,
    checked: str,
) -> Formula:
    names = tuple(inspect.signature(function).parameters)
    return Formula(
        formula_id,
        quantity,
        expression,
        source,
        checked,
        names,
        partial(_keywords, function, names),
        f"{function.__module__}.{function.__name__}",
    )


_BIGSCIENCE = "Megatron-DeepSpeed training loop, BigScience"

_PREQUEL = "BLOOM prequel: rates of the tables"

_2022 = ("MosaicML examples, LLM throughput tables, 2022", "87 of 87 printed cells")

_2023 = ("MosaicML examples, LLM throughput tables, 2023", "77 of 77 printed cells")

_KORTHIKANTI = "Korthikanti et al. 2022 (arXiv 2205.05198), appendix A"

SIMPLE = (
    _formula(
        "megatron-2021-old",
        "hfu",
        flop_formulas.megatron_2021_old,
        "8·P·s·B, P = L(12h²+13h) + 6h(TP−1)L + 2h·TP",
        f"{_BIGSCIENCE}, up to 2022-02-20",
        f"{_PREQUEL} up to 02-20, all but one in its last digit",
    ),
    _formula(
        "narayanan-eq3",
        "hfu",
        flop_formulas.narayanan_eq3,
        "96·B·s·L·h²·(1 + s/6h + V/16Lh)",
        f"Narayanan et al. 2021 (arXiv 2104.04473), eq. 3; {_BIGSCIENCE}, from 2022-02-21",
        f"{_PREQUEL} from 02-21, all but three that print another batch; BLOOM 149.02 TFLOP/s",
    ),
    _formula(
        "narayanan-eq3-stored",
        "mfu",
        flop_formulas.narayanan_eq3_stored,
        "72·B·s·L·h²·(1 + s/6h + V/16Lh)",
        f"{_BIGSCIENCE}, without activation recomputation",
        "three quarters of narayanan-eq3; no published figure at hand",
    ),
    _formula(
        "korthikanti-2022.mfu",
        "mfu",
        flop_formulas.korthikanti_2022,
        "72·B·s·L·h²·(1 + s/6h + V/12Lh)",
        _KORTHIKANTI,
        "4 of 4 utilisations of table 5",
    ),
    _formula(
        "korthikanti-2022.hfu",
        "hfu",
        flop_formulas.korthikanti_2022_selective,
        "72·B·s·L·h²·(1 + s/3h + V/12Lh)",
        f"{_KORTHIKANTI}, selective recomputation",
        "4 of 4 utilisations of table 5",
    ),
    _formula("mosaic-2022.mfu*", "mfu_star", flop_formulas.mosaic_matrices, "3·2·P·s·B", *_2022),
    _formula(
        "mosaic-2022.mfu", "mfu", flop_formulas.mosaic_2022, "(3·2·P·s + 2·[2·L·h·s²])·B", *_2022
    ),
    _formula(
        "mosaic-2022.hfu*",
        "hfu_star",
        flop_formulas.mosaic_matrices_hardware,
        "(3+r)·2·P·s·B",
        *_2022,
    ),
    _formula(
        "mosaic-2022.hfu",
        "hfu",
        flop_formulas.mosaic_2022_hardware,
        "((3+r)·2·P·s + (2+r)·[2·L·h·s²])·B",
        *_2022,
    ),
    _formula("mosaic-2023.mfu*", "mfu_star", flop_formulas.mosaic_matrices, "3·2·P·s·B", *_2023),
    _formula(
        "mosaic-2023.mfu", "mfu", flop_formulas.mosaic_2023, "(3·2·P·s + 3·[2·2·L·h·s²])·B", *_2023
    ),
    _formula(
        "mosaic-2023.hfu*",
        "hfu_star",
        flop_formulas.mosaic_matrices_hardware,
        "(3+r)·2·P·s·B",
        *_2023,
    ),
    _formula(
        "mosaic-2023.hfu",
        "hfu",
        flop_formulas.mosaic_2023_hardware,
        "(3+r)·(2·P·s + [2·2·L·h·s²])·B",
        *_2023,
    ),
    _formula(
        "palm-2022",
        "mfu",
        flop_formulas.palm_2022,
        "(6N + 12·L·H·Q·s)·s·B",
        "Chowdhery et al. 2022 (arXiv 2204.02311), appendix B",
        "PaLM 540B 46.2 %, MT-NLG 530B 30.2 %",
    ),
)

CORE_CHECKS = {
    "megatron-core.plain.gqa.dense.full": "4 of 4 utilisations of Korthikanti et al., table 5",
    "megatron-core.gated.gqa.dense.full": "Megatron-LM's Llama 3 table: 8B and 70B, not 405B",
    "megatron-core.gated.gqa.dense.causal": "Megatron-Bridge 25.11: 15 of 15 Llama 3 rates",
    "megatron-core.gated.gqa.moe.causal": "Megatron-Bridge 25.11: 6 of 7 Qwen3 rates",
    "megatron-core.gated.mla.moe.causal": "Megatron-Bridge 25.11: 2 of 5 DeepSeek-V3 rates",
}
"""Published rates that a variant gives at their printed precision."""

MEGATRON_CORE = tuple(
    Formula(
        variant.formula_id,
        "mfu",
        megatron_core.EXPRESSION,
        "Megatron-LM training loop, Megatron-core",
        CORE_CHECKS.get(variant.formula_id, ""),
        variant.inputs,
        partial(megatron_core.flop, variant),
        "assay.model.formulas.megatron_core.flop",
    )
    for variant in megatron_core.VARIANTS
)

FORMULAS: dict[str, Formula] = {each.formula_id: each for each in SIMPLE + MEGATRON_CORE}
"""All formulas by id, in the order they are documented."""


def formula(formula_id: str) -> Formula:
    """The formula of that id; KeyError names the ids that exist.

    >>> formula("palm-2022").inputs
    ('parameters', 'layers', 'heads', 'head_dim', 'seq_len')
    """
    try:
        return FORMULAS[formula_id]
    except KeyError:
        raise KeyError(f"no formula {formula_id!r}; there are {', '.join(FORMULAS)}") from None


def table() -> str:
    """The registry in Markdown, as docs/formulas.md shows it: a row per formula that was compared
    with published figures or stands alone, then the ids of the other variants.

    >>> table().splitlines()[2].split("|")[1].strip()
    '`megatron-2021-old`'
    """
    lines = ["| id | flop per iteration | source | checked against |", "|---|---|---|---|"]
    for each in FORMULAS.values():
        if each.checked:
            cells = (f"`{each.formula_id}`", each.expression, each.source, each.checked)
            lines.append(f"| {' | '.join(cells)} |")
    others = [f"`{each.formula_id}`" for each in FORMULAS.values() if not each.checked]
    return "\n".join([*lines, "", *(f"- {each}" for each in others)])
