"""Event files of TensorBoard: scalars by tag and step.

In: an event file, read by the reader of the package `tensorboard` (the extra of that name). Out:
the values of each step that the file holds, in order, with the number of the first event of each as
its line. Values are floats of 32 bits, written with as many digits as tell them from their
neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

MAGIC = b"brain.Event:"
"""Stands in the first event of every such file."""


class NoReader(RuntimeError):
    """The extra that reads event files is not installed."""


def scalars(path: str) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Steps in order, each with its tags and values as text.

    A job that begins again writes its steps again: of two values of one tag the later stands.

    Raises `NoReader` without the extra, and ValueError behind the last step of a damaged file.
    """
    try:
        loader: Any = import_module("tensorboard.backend.event_processing.event_file_loader")
        tensors: Any = import_module("tensorboard.util.tensor_util")
    except ImportError:
        raise NoReader(
            "an event file of TensorBoard: its reader is an extra, pip install 'assay[tensorboard]'"
        ) from None
    held: dict[int, dict[str, str]] = {}
    many, damage = 0, ""
    try:
        for event in loader.EventFileLoader(path).Load():
            many += 1
            for value in event.summary.value if event.HasField("summary") else ():
                text = _scalar(value, tensors.make_ndarray)
                if text is not None:
                    held.setdefault(event.step, {})[value.tag] = text
    except Exception as fault:  # of protobuf or of the loader: a damaged file
        damage = f"nothing can be read behind event {many:,}: {fault}"
    for step in sorted(held):
        yield step, list(held[step].items())
    if damage:
        raise ValueError(damage)


def _scalar(value: Any, array: Any) -> str | None:
    """The one number of a value as text; None where it is a picture, a text, a histogram."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return _text(value.simple_value)
    if kind != "tensor":
        return None
    try:
        number = array(value.tensor)
    except (TypeError, ValueError):
        return None
    return _text(number.item()) if number.size == 1 and number.dtype.kind in "fiu" else None


def _text(number: float) -> str:
    """The shortest text that is read as this number of 32 bits."""
    return str(number) if isinstance(number, int) else str(np.float32(number))
