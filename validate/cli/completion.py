"""Values that a shell completes. It runs on every TAB, so nothing heavy is imported."""

from __future__ import annotations


def machine_names(begun: str) -> list[str]:
    """Known machines whose names begin like that."""
    from assay.model.machine import machines

    return [name for name in machines() if name.startswith(begun)]
