"""The registry of formulas: every way of counting operations under the id that names it.

What counts is in `flop_formulas` and `megatron_core`; here each gets its id, its columns, and where
it can be looked up.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from assay.model import flop_formulas, megatron_core


class Formula(NamedTuple):
    """One way of counting, and where it can be looked up."""

    formula_id: str
    quantity: str  # mfu: the model's own operations; hfu: with those done again; *_star: partial
    expression: str  # per iteration, in the symbols of docs/formulas.md
    source: str
    inputs: tuple[str, ...]  # columns
    count: Callable[..., Any]  # case mapping → flop per sequence
    basis: str


def _keywords(function: Callable[..., Any], case: Mapping[str, Any]) -> Any:
    return function(**{name: case[name] for name in inspect.signature(function).parameters})


def _formula(
    formula_id: str, quantity: str, function: Callable[..., Any], expression: str, source: str
) -> Formula:
    return Formula(
        formula_id,
        quantity,
        expression,
        source,
        tuple(inspect.signature(function).parameters),
        partial(_keywords, function),
        f"{function.__module__}.{function.__name__}",
    )


_BIGSCIENCE = "Megatron-DeepSpeed training loop, BigScience"
_MOSAIC = "MosaicML examples, LLM throughput tables"

SIMPLE = (
    _formula(
        "megatron-2021-old",
        "hfu",
        flop_formulas.megatron_2021_old,
        "8·P·s·B, P = L(12h²+13h) + 6h(TP−1)L + 2h·TP",
        f"{_BIGSCIENCE}, up to 2022-02-20",
    ),
    _formula(
        "narayanan-eq3",
        "hfu",
        flop_formulas.narayanan_eq3,
        "96·B·s·L·h²·(1 + s/6h + V/16Lh)",
        f"Narayanan et al. 2021 (arXiv 2104.04473), eq. 3; {_BIGSCIENCE}, from 2022-02-21",
    ),
    _formula(
        "narayanan-eq3-stored",
        "mfu",
        flop_formulas.narayanan_eq3_stored,
        "72·B·s·L·h²·(1 + s/6h + V/16Lh)",
        f"{_BIGSCIENCE}, without activation recomputation",
    ),
    _formula("mosaic-2022.mfu*", "mfu_star", flop_formulas.mosaic_matrices, "3·2·P·s·B", _MOSAIC),
    _formula(
        "mosaic-2022.mfu",
        "mfu",
        flop_formulas.mosaic_2022,
        "(3·2·P·s + 2·[2·L·h·s²])·B",
        f"{_MOSAIC}, 2022",
    ),
    _formula(
        "mosaic-2022.hfu*",
        "hfu_star",
        flop_formulas.mosaic_matrices_hardware,
        "(3+r)·2·P·s·B, r = 1 with full recomputation, 0 without",
        _MOSAIC,
    ),
    _formula(
        "mosaic-2022.hfu",
        "hfu",
        flop_formulas.mosaic_2022_hardware,
        "((3+r)·2·P·s + (2+r)·[2·L·h·s²])·B",
        f"{_MOSAIC}, 2022",
    ),
    _formula("mosaic-2023.mfu*", "mfu_star", flop_formulas.mosaic_matrices, "3·2·P·s·B", _MOSAIC),
    _formula(
        "mosaic-2023.mfu",
        "mfu",
        flop_formulas.mosaic_2023,
        "(3·2·P·s + 3·[2·2·L·h·s²])·B",
        f"{_MOSAIC}, 2023",
    ),
    _formula(
        "mosaic-2023.hfu*",
        "hfu_star",
        flop_formulas.mosaic_matrices_hardware,
        "(3+r)·2·P·s·B",
        _MOSAIC,
    ),
    _formula(
        "mosaic-2023.hfu",
        "hfu",
        flop_formulas.mosaic_2023_hardware,
        "(3+r)·(2·P·s + [2·2·L·h·s²])·B",
        f"{_MOSAIC}, 2023",
    ),
    _formula(
        "palm-2022",
        "mfu",
        flop_formulas.palm_2022,
        "(6N + 12·L·H·Q·s)·s·B",
        "Chowdhery et al. 2022 (arXiv 2204.02311), appendix B",
    ),
)

MEGATRON_CORE = tuple(
    Formula(
        variant.formula_id,
        "mfu",
        "6·B·s·(L·attention + k·h·Σ ffn + h·V [+ further-token layers])",
        "Megatron-LM training loop, Megatron-core",
        variant.inputs,
        partial(megatron_core.flop, variant),
        "assay.model.megatron_core.flop",
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
