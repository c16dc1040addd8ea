"""Work that kills its process; in a module of its own, which a new process loads quickly."""

from __future__ import annotations

import os
import signal

from assay.ingest.inputs.chunks import Chunk


def deadly(names: frozenset[str], chunk: Chunk) -> list[str]:
    """Kills its process where it meets one of `names`, else gives the paths."""
    if names & set(chunk.paths):
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk.paths
