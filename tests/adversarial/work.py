"""Work without a clock: calls of functions, and cells that queries give."""

from __future__ import annotations

import sys
from collections.abc import Callable
from cProfile import Profile
from types import FrameType
from typing import Any
from unittest.mock import patch

import polars as pl


def work(act: Callable[[], object]) -> int:
    """Calls, of Python and of C, and cells of collected frames that `act` takes."""
    cells = 0

    def counted(collect: Callable[..., Any]) -> Callable[..., Any]:
        def collected(*args: Any, **kwargs: Any) -> Any:
            nonlocal cells
            found = collect(*args, **kwargs)
            cells += found.height * found.width if isinstance(found, pl.DataFrame) else 0
            return found

        return collected

    # queries of frames go to the engine themselves, those of lazy frames by their own collect
    lazy, eager = (counted(each.collect) for each in (pl.LazyFrame, pl.InMemoryEngine))
    calls = Profile()  # counts in C: a function of Python for each call took most of the time
    with (
        patch.object(pl.LazyFrame, "collect", lazy),
        patch.object(pl.InMemoryEngine, "collect", eager),
        calls,
    ):
        act()
    return cells + sum(each.callcount for each in calls.getstats())


def loops(act: Callable[[], object]) -> int:
    """Lines of this package that `act` runs, those of comprehensions too, which call nothing."""
    count = 0

    def line(_frame: FrameType, event: str, _arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return line

    def call(frame: FrameType, _event: str, _arg: object) -> Any:
        return line if frame.f_globals.get("__name__", "").startswith("assay.") else None

    sys.settrace(call)
    try:
        act()
    finally:
        sys.settrace(None)
    return count
