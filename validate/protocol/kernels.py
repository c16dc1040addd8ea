"""Times of kernels: matrix products, attention and collectives on measured GPUs."""

from __future__ import annotations

from assay.validate.protocol.entries import Entry


def entries() -> list[Entry]:
    """Figures of every kernel model on the measured kernel times."""
    return []
