"""Work on what comes next while others use what came before, in order and a few items ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2
"""Items under way at a time: text is searched without the interpreter's lock."""


def ahead(items: Iterator[Item], work: Callable[[Item], Result]) -> Iterator[Result]:
    """The result of `work` for each item, in order; the first is done before more is asked for.

    What is still under way when the caller stops is waited for.
    """
    first = next(items, None)
    if first is None:
        return
    yield work(first)
    with ThreadPoolExecutor(THREADS) as others:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(others.submit(work, item))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
