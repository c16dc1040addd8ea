"""The command line: `main` is `assay`, `app` all of it. Heavy imports stay inside the commands."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

    app: typer.Typer

__all__ = ["app", "main"]

ALLOCATOR = "background_thread:true,dirty_decay_ms:100,muzzy_decay_ms:0,narenas:2"
"""Of jemalloc, which polars brings along: a peak of a gigabyte's report is a sixth lower."""


def main() -> None:
    """Run `assay`: of one command alone, only that one is imported and put together."""
    # imports are kept for good: looking for garbage among them is a tenth of the start, and again
    # a fifth of the whole at the end, where the system takes everything back by itself
    gc.set_threshold(250_000)
    atexit.register(gc.freeze)
    # nothing here multiplies matrices that are worth threads, and each costs a start on every core
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # before polars is imported: what its allocator no longer needs goes back to the system soon
    os.environ.setdefault("_RJEM_MALLOC_CONF", ALLOCATOR)
    from assay.validate.cli import commands

    asked = sys.argv[1] if len(sys.argv) > 1 and "_ASSAY_COMPLETE" not in os.environ else ""
    commands.of(asked)() if asked in commands.COMMANDS else commands.whole()()


def __getattr__(name: str) -> typer.Typer:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assay.validate.cli import commands

    return commands.whole()
