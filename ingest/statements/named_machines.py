"""Machines that a document calls by names of their own: `* **Birch** – 64 nodes, 8 × H100 each`.

In: the lines of a document, from the top down. Out: for a heading or a line of prose that speaks of
one of several machines by its name, the device of that and how many of it a node has. How many
nodes a machine has is no setting of a run on it. A document with one machine needs no name for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.ingest.columns.other_runs import of_these_runs
from assay.ingest.columns.titles import model_named
from assay.ingest.prose.counted_machines import machines
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.values import known
from assay.ingest.vocabulary.devices import devices, only, several
from assay.ingest.vocabulary.program_names import program_named

_NAME = (
    r"(?:[*_]{0,2}`{0,2}(?P<name>[A-Z][A-Za-z]{2,20}(?:[ -]?[0-9A-Z][\w-]{0,8})?"
    r"|(?<=`)[a-z][\w-]{1,20})`{0,2}[*_]{0,2})"
)

_DEFINED = deferred(
    rf"\s*(?:[-*+•] |[0-9]{{1,2}}[.)] ){_NAME}(?: ?\([^()]{{0,60}}\))?[*_]{{0,2}}\s?(?:[-–—:：]|,"
    rf"|has|is)\s?[*_]{{0,2}}"
    r"(?P<what>\S.{5,200})"
)

_IN_BRACKETS = deferred(rf"{_NAME},? \((?P<what>[^()]{{3,90}})\)")

_OF_SITES = deferred(
    r"\b(?:clusters?|machines|systems|supercomputers?|partitions?|sites?|platforms?|servers|hosts"
    r"|data ?cent(?:er|re)s)\b",
    re.IGNORECASE,
)
"""Words of a sentence that introduces machines: `two clusters, Alder (A100) and Birch (H100)`."""

_EQUATED = deferred(
    r"\s*[*_`]{0,3}(?P<name>[A-Za-z][a-zA-Z]{2,20}(?:[-_]?[0-9]{1,3})?)[*_`]{0,3}\s{0,12}=\s{0,4}"
    r"(?P<what>(?:an? |one |[0-9]{1,3} ?[x×] ?)[^=]{3,160})$"
)
"""A line of a notebook that says what is behind a name: `alder = 4x A100, no NVLink`."""

_MAY_DEFINE = re.compile(
    r"^\s*[*_`]{0,3}[A-Za-z][\w-]{2,24}[*_`]{0,3} {0,12}= "
    r"|^\s*(?:[-*+•]|[0-9]{1,2}[.)]) |\([^()]{2,90}\).*\([^()]{2,90}\)"
)
"""In every line that introduces machines: an item of a list, a name and an equals sign, or two
pairs of brackets."""

_COMPARES = deferred(
    r"\b(?:than|unlike|vs\.?|versus|compared|whereas|while|instead|rather|also|not|faster"
    r"|slower)\b",
    re.IGNORECASE,
)

_NO_NAMES = {
    "hardware", "software", "gpu", "gpus", "cluster", "clusters", "node", "nodes", "setup", "small",
    "medium", "large", "config", "platform", "machine", "machines", "system", "server", "baseline",
    "training", "inference", "model", "models", "first", "second", "nvidia", "amd", "intel", "run",
    "runs", "test", "tests", "ours", "network", "environment", "compute", "interconnect", "default",
    "device", "devices", "accelerator", "accelerators", "all", "each", "every", "both", "one",
    "two",
    "single", "multi", "our", "the", "table", "results", "experiments", "evaluation", "pretraining",
    "finetuning", "memory", "cpu", "host", "note", "precision", "with", "using", "for", "from",
    "throughput", "benchmark", "benchmarks", "training cluster", "same", "total", "minimum", "full",
    "recommended", "added", "fixed", "support", "new", "update", "local", "cloud", "section",
    "batch", "speed", "speedup", "ratio", "peak", "fast", "slow", "theirs", "old", "others",
}  # fmt: skip
"""Words in front of devices that are no names of machines."""

SEVERAL = 2


class NamedMachines:
    """The machines that a document has introduced by names so far."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, Cell]] = {}

    def said_by(self, line: Line, *, heading: bool) -> dict[str, Cell]:
        """The device of the one machine that a line speaks of by its name.

        >>> named, text = NamedMachines(), "* **{}** – 16 nodes, 8 × {} each"
        >>> for at, each in enumerate((("Alder", "A100"), ("Birch", "H100"))):
        ...     _ = named.said_by(Line(at, text.format(*each), 1, {}), heading=False)
        >>> said = named.said_by(Line(9, "## Scaling on Birch", 1, {}), heading=True)
        >>> {name: cell.text for name, cell in said.items()}
        {'gpu': 'H100', 'gpus_per_node': '8'}
        >>> named.said_by(Line(9, "Birch is faster than Alder.", 1, {}), heading=False)
        {}
        """
        if len(line.text) > LONGEST:
            return {}
        may_define = not heading and _MAY_DEFINE.search(line.text) and devices(line.text)
        defined = dict(_defined(line)) if may_define else {}
        if defined:
            self._held |= defined
            return {}
        if len(self._held) < SEVERAL:
            return {}
        text = line.text if heading else of_these_runs(line.text)
        spoken = [name for name in self._held if has_word(text, name)]
        if len(spoken) != 1 or devices(text) or (not heading and _COMPARES.search(text)):
            return {}
        return self._held[spoken[0]]


LONGEST = 400


def has_word(text: str, word: str) -> bool:
    """Whether a text has a name as a word of its own."""
    return word in text and re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text) is not None


def _defined(line: Line) -> Iterator[tuple[str, dict[str, Cell]]]:
    """The machines that a line introduces by their names, and the device of each."""
    found = [_DEFINED.match(line.text)] if line.text.lstrip()[:1] in "-*+•0123456789" else []
    found = found if any(found) else [_EQUATED.match(line.text)]
    if not any(found) and _OF_SITES.search(line.text):
        found = list(_IN_BRACKETS.finditer(line.text))
        found = found if len(found) >= SEVERAL else []
    for each in filter(None, found):
        name, what = each["name"], each["what"]
        device = only(what)
        if device is None or several(what) or not _may_be_name(name):
            continue
        at = line.column + each.start("what")
        told = {"gpu": Cell(device.text, line.number, at + device.at)}
        count = [part for part in machines(what) if part.name == "gpus_per_node"]
        if len({part.word for part in count}) == 1:
            told["gpus_per_node"] = Cell(count[0].word, line.number, at + count[0].at)
        yield name, told


def _may_be_name(name: str) -> bool:
    """Whether a word may be the name of a machine: of no device, model, program or setting."""
    if name.casefold() in _NO_NAMES or known(name) or devices(name):
        return False
    return model_named(name) is None and program_named(name) is None
