"""`python -m tests.studies.page [build/accuracy.json] > docs/accuracy.md`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HEAD = """# Accuracy

Generated from `build/accuracy.json` (`make accuracy`) by `python -m tests.studies.page`.
What is fitted, and what was chosen while looking at which rows: [model.md](model.md). Errors are
|predicted/measured − 1|; bounds resample whole groups, or are the spread over splits.
"""

COLUMNS = ("| figure | value | interval | n |", "| --- | --: | --: | --: |")


def page(entries: Iterable[Mapping[str, Any]]) -> str:
    """All figures as one table per family of names."""
    parts = [HEAD]
    family = None
    for entry in entries:
        first = str(entry["name"]).partition(".")[0]
        if first != family:
            family = first
            parts += [f"\n## {first}\n", *COLUMNS]
        parts.append(_row(entry))
    return "\n".join(parts) + "\n"


def _row(entry: Mapping[str, Any]) -> str:
    """One figure.

    >>> _row({"name": "a.b", "value": 2.7734, "unit": "%", "n": 85, "low": 2.1, "high": 3.5})
    '| a.b | 2.773 % | 2.1 – 3.5 | 85 |'
    """
    unit = "" if entry["unit"] == "1" else f" {entry['unit']}"
    bounds = "" if entry["low"] is None else f"{entry['low']:.4g} – {entry['high']:.4g}"
    return f"| {entry['name']} | {entry['value']:.4g}{unit} | {bounds} | {entry['n']} |"


if __name__ == "__main__":
    source = Path(sys.argv[1] if len(sys.argv) > 1 else "build/accuracy.json")
    sys.stdout.write(page(json.loads(source.read_text(encoding="utf-8"))))
