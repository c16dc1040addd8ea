"""Step times of training configurations: the baselines that every step model has to beat."""

from __future__ import annotations

from assay.validate.protocol.entries import Entry


def entries() -> list[Entry]:
    """Figures of every configuration model on the measured step times."""
    return []
