"""How far a long read has got, on stderr, and only where somebody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from assay.validate.cli.guard import complain

if TYPE_CHECKING:
    from assay.ingest.inputs.chunks import Chunk

WORTH_A_LINE = 100
"""Inputs from which a command says how many it has read, where nobody watches."""

_EVERY = 0.1

_WIDTH = 20


@contextmanager
def progress(paths: Sequence[str]) -> Iterator[Callable[[Chunk], None]]:
    """A function to be told of each chunk that is done; the bar is gone when the block ends."""
    from assay.ingest.inputs.paths import inputs
    from assay.ingest.store.write import is_saved

    files = [path for path in inputs(paths) if not is_saved(Path(path))]
    bar = Bar(len(files), sum(map(_size, files)))
    try:
        yield bar.advance
    finally:
        bar.close()


class Bar:
    """Inputs done of all, a bar, the rate, the time that is left."""

    def __init__(self, files: int, size: int) -> None:
        self.files, self.size = files, size
        self.done = self.read = 0
        self.began = self.shown = time.monotonic()
        self.watched = sys.stderr.isatty()

    def advance(self, chunk: Chunk) -> None:
        """Count a chunk, and draw, though not more often than the eye can follow."""
        self.done += len(chunk.paths)
        self.read += chunk.size
        now = time.monotonic()
        if self.watched and (now - self.shown >= _EVERY or self.done == self.files):
            self.shown = now
            sys.stderr.write(f"\r\x1b[K{self.line(now - self.began)}")
            sys.stderr.flush()

    def line(self, seconds: float) -> str:
        """The bar as text, `seconds` after it began.

        >>> bar = Bar(2000, 40_000_000)
        >>> bar.done, bar.read = 500, 10_000_000
        >>> bar.line(4.0)
        '[#####---------------] 500/2,000 inputs, 2.5 MB/s, 125/s, 0:12 left'
        >>> bar.done, bar.read = 2000, 40_000_000
        >>> bar.line(16.0)
        '[####################] 2,000 inputs, 2.5 MB/s, 125/s; working out what they say'
        """
        share = self.read / self.size if self.size else self.done / max(self.files, 1)
        filled = round(_WIDTH * min(share, 1.0))
        left = seconds * (1.0 - share) / share if share else 0.0
        bar = f"[{'#' * filled}{'-' * (_WIDTH - filled)}]"
        rates = f"{self.read / 1e6 / seconds:.1f} MB/s, {self.done / seconds:,.0f}/s"
        if self.done == self.files:
            return f"{bar} {self.files:,} inputs, {rates}; working out what they say"
        time_left = f"{int(left) // 60}:{int(left) % 60:02} left"
        return f"{bar} {self.done:,}/{self.files:,} inputs, {rates}, {time_left}"

    def close(self) -> None:
        """Take the bar away; a line instead where nobody watched and there was much to do."""
        if self.watched:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        elif self.done >= WORTH_A_LINE:
            complain(f"read {self.done:,} inputs, {self.read / 1e6:,.1f} MB")


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except OSError:
        return 0
