"""Configuration in objects that a line holds whole: JSON, or a dictionary as Python prints it.

In: a line of a document. Out: field → cell of every value that the vocabulary knows, however deep
it stands, but for what stands under a key of something else than the model's training. Two values
that say a field differently say nothing of it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

from assay.ingest.schema.record import Cell, Line
from assay.ingest.statements.command_lines import ASIDE
from assay.ingest.statements.values import known, said

ENDS = r"[\w\"'\]}]\}\s*$"
"""How a line ends that holds an object, in polars' syntax."""

LONGEST = 20_000
"""Letters of a line beyond which nothing is looked for in it."""

_HOLDS = re.compile(rf"\{{\s*[\"'][A-Za-z_].*{ENDS}")

_LEAST = 3
"""Known values that make an object one of configuration."""

_ABOUT = ("event", "type", "name", "phase", "mode", "split", "kind", "stage")
"""Keys whose words say what an object is about."""


def nested(line: Line) -> dict[str, Cell]:
    """Configuration in the object that a line ends with, if enough of its values are known.

    >>> text = "config: {'model': {'n_layer': 24, 'n_head': 16}, 'train': {'seq_len': 2048}}"
    >>> {name: cell.text for name, cell in nested(Line(1, text, 1, {})).items()}
    {'layers': '24', 'heads': '16', 'seq_len': '2048'}
    >>> nested(Line(1, "{'loss': 2.1, 'epoch': 0.02}", 1, {}))
    {}
    """
    if len(line.text) > LONGEST or not (found := _HOLDS.search(line.text)):
        return {}
    held = _object(line.text[found.start() :].strip())
    said_by: dict[str, dict[str, Cell]] = {}
    for key, text in _values(held) if isinstance(held, dict) else ():
        at = max(0, line.text.find(key))
        for name, cell in said(key, text, line, at).items():
            said_by.setdefault(name, {})[cell.text] = cell
    if len(said_by) < _LEAST:
        return {}
    return {name: next(iter(each.values())) for name, each in said_by.items() if len(each) == 1}


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _values(held: dict[Any, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Keys and values as texts, of all objects in this one that are not of something else."""
    about = (str(held[key]) for key in _ABOUT if isinstance(held.get(key), str))
    if any(ASIDE.search(each) for each in about):
        return
    of_model = any(known(str(key)) in ("layers", "heads") for key in held)
    for key, value in held.items():
        where = f"{path}.{key}"
        if ASIDE.search(where):
            continue
        if isinstance(value, dict):
            yield from _values(value, where)
        elif isinstance(value, (str, int, float)):
            name = str(key).rpartition(".")[2]
            yield ("hidden_dim" if name == "dim" and of_model else name), str(value)
