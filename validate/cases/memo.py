"""Answers that follow from one reading, worked out once for everybody who asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar


class Remembers(Protocol):
    """An object with a place for what has been worked out of it."""

    @property
    def memo(self) -> dict[str, Any]:
        """By the name of the function that worked it out."""
        ...


Held = TypeVar("Held", bound=Remembers)
Answer = TypeVar("Answer")


def once(function: Callable[[Held], Answer]) -> Callable[[Held], Answer]:
    """`function`, called once for each memo: later calls give the same answer.

    Copies of an object that share its memo share the answer, so `function` may look at nothing in
    which they differ.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(held: Held) -> Answer:
        if name not in held.memo:
            held.memo[name] = function(held)
        answer: Answer = held.memo[name]
        return answer

    return known
