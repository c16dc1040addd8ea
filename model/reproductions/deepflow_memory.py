"""DeepFlow's memory requirement by part of the model and by kind of tensor, in bytes.

Source: DeepFlow, first generation; formulas recomputed from its dumps.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.model.reproductions.deepflow_workload import Workload


class Part(NamedTuple):
    """Elements held by one part of the model."""

    weight: int
    activation: int
    pointwise: int


def parts(work: Workload) -> dict[str, Part]:
    """Elements of weight, activation and pointwise tensors for each part of the model.

    Source: a recurrent cell keeps nine pointwise tensors of width D. The softmax weight is counted
    with the projection width P although its GEMM and the parameter count use D.

    >>> parts(Workload(512, 800_000, 2, 19968, 2048, 20, 4))["projection"]
    Part(weight=40896512, activation=20971520, pointwise=20971520)
    """
    tokens, wide = work.batch * work.sequence, 2 * work.width
    steps = tokens * work.layers
    return {
        "embedding": Part(work.vocabulary * work.width, tokens * work.width, 0),
        "hidden": Part(
            (wide + 1) * work.gate_width * work.layers,
            steps * wide,
            9 * steps * work.width,
        ),
        "softmax": Part(
            (work.projection + 1) * work.vocabulary,
            tokens * work.vocabulary,
            2 * tokens * work.vocabulary + tokens,
        ),
        "projection": Part(
            (work.width + 1) * work.projection,
            tokens * work.projection,
            tokens * work.projection,
        ),
    }


def requirement(work: Workload) -> dict[str, int]:
    """Bytes by part (embedding, hidden, softmax, projection), by kind, and in total.

    >>> {k: round(v / 2**30, 1) for k, v in
    ...  requirement(Workload(512, 800_000, 2, 19968, 2048, 20, 4)).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'embedding': 60.3, 'hidden': 40.5, 'softmax': 97.7, 'projection': 0.3,
     'weight': 89.5, 'activation': 34.4, 'pointwise': 74.8, 'total': 198.8}
    """
    elements = parts(work)
    sizes = {name: sum(part) for name, part in elements.items()}
    for kind in Part._fields:
        sizes[kind] = sum(getattr(part, kind) for part in elements.values())
    sizes["total"] = sum(sum(part) for part in elements.values())
    return {name: count * work.precision for name, count in sizes.items()}
