"""Predictions of the registered models for a reading, as entries of its golden.

One entry per case that some model predicts: the values the models are given, then one line per
prediction, `scope.quantity by model`. Equal cases are one entry with a count, so that a log of ten
thousand lines of one run is ten lines here. Models that are fitted on what is read are left out:
they move with every row, and one digit would change all their predictions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from assay.ingest.formats.own.installed import known as known_formats
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Reading
from assay.validate.arithmetic.implied import Arithmetic
from assay.validate.cases.cases import CONFIGURED, Cases, cases
from assay.validate.cases.observe import about, observe
from assay.validate.cases.solved_shape import with_shapes
from assay.validate.golden.canonical import quoted
from assay.validate.golden.digits import predicted
from assay.validate.golden.document import PREDICTED, Entry
from assay.validate.golden.folder import Settings
from assay.validate.predict.forecasts import Asked
from assay.validate.predict.models import MODELS, predict

GEMM = ("machine", "dtype", "b", "m", "n", "k")


def settings(
    stated: Mapping[str, str] | None = None, formats: Sequence[Format] | None = None
) -> Settings:
    """How inputs are read for their goldens: all formats there are, all registered models."""
    return Settings(stated=stated, formats=formats or known_formats(), predict=forecast)


def forecast(reading: Reading) -> Mapping[str, Sequence[Entry]]:
    """The section of predictions of a golden; none where no model predicts anything."""
    frames = about(reading.formats)
    known = Arithmetic.of(with_shapes(cases(reading, frames)), observe(reading, frames))
    models = [model for model in MODELS if not model.fitted]
    said = predict(Asked(known.cases, known.observations, known.observations), models)
    if said.is_empty():
        return {}
    given = _given(known.cases)
    lines: dict[str, list[tuple[str, str]]] = {}
    for row in said.sort("case", "scope", "subject", "quantity", "model").iter_rows(named=True):
        what = f"{row['scope']}.{row['quantity']}"
        told = row["scope"] == "gemm"  # the shape is among the values that are given
        subject = f" of {row['subject']}" if row["subject"] and not told else ""
        unit = f" {row['unit']}" if row["unit"] != "1" else ""
        shown = (f"{what}{subject} by {row['model']}", f"{predicted(row['value'])}{unit}")
        lines.setdefault(row["case"], []).append(shown)
    counts = Counter((*given.get(case, ()), *told) for case, told in lines.items())
    return {
        PREDICTED: [
            (("cases", str(count)), *entry) if count > 1 else entry
            for entry, count in counts.items()
        ]
    }


def _given(known: Cases) -> dict[str, Entry]:
    """Case → the values that say what is predicted; nulls are left out."""
    found: dict[str, Entry] = {}
    configured = [name for name in ("machine", *CONFIGURED) if name in known.configuration.columns]
    for frame, columns in ((known.configuration, configured), (known.gemm, list(GEMM))):
        for row in frame.select("case", *columns).iter_rows(named=True):
            case = row.pop("case")
            found[case] = tuple(
                (name, _shown(value)) for name, value in row.items() if value is not None
            )
    return found


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.15g}"
    return quoted(value) if isinstance(value, str) else str(value)
