"""Findings that a user has looked at: files of exemptions, each with its reason.

```toml
[[ignore]]
law = "size-label"
at = "notes.md:331"
numbers = ["model_size=18000000000"]
reason = "the label is of the six-layer model, on purpose"
```

An entry covers a finding of its law in a file of that name that is about the same numbers; where it
names none, the line decides. So an entry survives lines that move, and not a number that changes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.grammars.toml import toml
from assay.validate.laws.finding import Finding

HEAD = """\
# Findings that are known. Each entry needs a reason; one that covers nothing any more is reported.
"""

BASELINE = "found when this file was written"


class Unreadable(ValueError):
    """A file of exemptions that does not say what it should."""


@dataclass(frozen=True)
class Exemption:
    """One entry: which finding, and why it is accepted."""

    law: str
    file: str  # the name of the file, without folders
    line: int
    numbers: tuple[str, ...]
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether this entry is about that finding."""
        span = finding.spans[0]
        same = self.law == finding.law and _name(span.source) == self.file
        if not same:
            return False
        return self.numbers == numbers(finding) if self.numbers else self.line == span.line


def numbers(finding: Finding) -> tuple[str, ...]:
    """Observed numbers of a finding, as an entry writes them."""
    return tuple(f"{each.quantity}={each.value:.10g}" for each in finding.observed)


def load(path: Path) -> tuple[Exemption, ...]:
    """The entries of a file; Unreadable says what is wrong with it."""
    try:
        table = toml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise Unreadable(f"{path}: {fault}") from None
    entries = table.get("ignore", [])
    if not isinstance(entries, list) or set(table) - {"ignore"}:
        raise Unreadable(f"{path}: expected tables [[ignore]] and nothing else")
    return tuple(_entry(path, number, entry) for number, entry in enumerate(entries, 1))


def _entry(path: Path, number: int, entry: object) -> Exemption:
    where = f"{path}: entry {number}"
    if not isinstance(entry, dict):
        raise Unreadable(f"{where} is no table")
    for name in ("law", "at", "reason"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise Unreadable(f"{where} needs a {name}")
    file, _, line = entry["at"].rpartition(":")
    if not file or not line.isdigit():
        raise Unreadable(f"{where}: at is FILE:LINE, not {entry['at']!r}")
    said = entry.get("numbers", [])
    if not isinstance(said, list):
        raise Unreadable(f"{where}: numbers is a list of quantity=value")
    return Exemption(
        entry["law"], Path(file).name, int(line), tuple(map(str, said)), entry["reason"]
    )


def without(
    findings: Iterable[Finding], accepted: Sequence[Exemption]
) -> tuple[list[Finding], list[Exemption]]:
    """The findings no entry covers, and the entries that cover none."""
    left, used = [], set()
    for finding in findings:
        covering = next((i for i, each in enumerate(accepted) if each.covers(finding)), None)
        if covering is None:
            left.append(finding)
        else:
            used.add(covering)
    return left, [each for i, each in enumerate(accepted) if i not in used]


def exempted(finding: Finding) -> Exemption:
    """The entry that covers a finding, as a baseline has it."""
    span = finding.spans[0]
    return Exemption(finding.law, _name(span.source), span.line, numbers(finding), BASELINE)


def dumps(entries: Iterable[Exemption]) -> str:
    """A file of exemptions, each once."""
    blocks = [HEAD]
    for each in dict.fromkeys(entries):
        said = ", ".join(_quoted(number) for number in each.numbers)
        blocks.append(
            f"[[ignore]]\nlaw = {_quoted(each.law)}\n"
            f"at = {_quoted(f'{each.file}:{each.line}')}\n"
            f"numbers = [{said}]\nreason = {_quoted(each.reason)}\n"
        )
    return "\n".join(blocks)


def _name(source: str) -> str:
    """The name of a file without its folders; bytes that are no text are replaced."""
    return Path(source).name.encode("utf-8", "replace").decode("utf-8")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
