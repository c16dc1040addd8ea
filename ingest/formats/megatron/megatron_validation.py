"""Megatron's validation lines: the losses on held-out data at some iteration.

In: `validation loss at iteration N | lm loss value: … | lm loss PPL: … |`. Out: one record per
line; losses of other names are kept in `other`.
"""

from __future__ import annotations

import pandera.polars as pa
from assay.ingest.lines.records import Kind, folding
from assay.ingest.schema.fields import logged, named
from assay.ingest.schema.format import Format


class MegatronValidation(pa.DataFrameModel):
    """Loss and perplexity on held-out data."""

    iteration: int = logged(kind="exact", ge=0, nullable=True)
    moment: str = named(meaning="what stands for the iteration or behind it: on which data")
    lm_loss: float = logged(["lm loss value", "loss value", "lm loss"], nullable=True)
    lm_ppl: float = logged(
        ["lm loss PPL", "loss PPL", "lm_loss_ppl value", "lm PPL"],
        ge=0,
        nullable=True,
        meaning="perplexity",
    )

    class Config:
        """Meaning of the rows."""

        metadata = {"rows": "validation"}


KINDS = (Kind("validation_line", "HEAD", "megatron_validation", MegatronValidation),)

FORMAT = Format(
    name="megatron_validation",
    heads=("loss at ", "results at "),
    schemas={"megatron_validation": MegatronValidation},
    origin="measured",
    fold=folding("megatron_validation", KINDS),
    glued=True,
    binds=False,
)
