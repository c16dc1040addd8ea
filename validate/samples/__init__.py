"""Samples for `assay report --example`: a log, and tables of the throughput of its forerunners.

Copies of two fixtures, with what their documents leave out beside them.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def samples() -> list[str]:
    """The packaged inputs.

    >>> [Path(path).name for path in samples()]
    ['bloom_176b.log', 'bloom_prequel.md']
    """
    return sorted(str(path) for path in FOLDER.iterdir() if path.suffix in (".log", ".md"))
