"""Names among the words of a title: one device, how many of it, one number format.

In: a heading, or a line above a table. Out: the name as it is printed, None where there is none or
more than one.
"""

from __future__ import annotations

import re

# A title is about everything below it: `## Pre-training on DGX-H100 (BF16)`. A device whose name
# leaves its memory open (A100, V100) is not taken from a title.
_TITLE_DEVICE = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=[0-9]x))(?:GB[23]00|GH200|H20|B[123]00|MI[0-9]{3}[AX]?|L40S?|A40"
    r"|A800|H[128]00(?:(?:[ _-]?[0-9]{2,3} ?GB)?[ _-]?(?:PCI-?[Ee]|PCIE|NVL)(?![A-Za-z0-9]))?"
    r"|[AV]100[ _-]?(?:(?:SXM[0-9]?|PCI-?[Ee]|PCIE)[ _-]?)?[0-9]{2} ?GB"
    r"(?:[ _-]?(?:PCI-?[Ee]|PCIE)(?![A-Za-z0-9]))?)(?![A-Za-z0-9])"
)

_TITLE_COUNT = re.compile(
    r"(?<![A-Za-z0-9.,])([0-9][0-9,]*) ?[x×] ?"
    r"(?=(?:NVIDIA |AMD )?(?:[ABHLV][0-9]{2,3}|GB[0-9]{3}|MI[0-9]{3}))"
)

_NODES = re.compile(r"\bnodes?\b", re.IGNORECASE)

_TITLE_DTYPE = re.compile(r"(?<![A-Za-z0-9])(?:[Bb][Ff]16|[Ff][Pp](?:8|16|32))(?![A-Za-z0-9])")


def device_named(text: str) -> str | None:
    """The device that a line names, if it is one and its name says which.

    >>> device_named("Pre-training on DGX-H100 (BF16)"), device_named("H100 against H200")
    ('H100', None)
    >>> device_named("two H100 PCIe"), device_named("on A100-PCIE-40GB")  # not those on a board
    ('H100 PCIe', 'A100-PCIE-40GB')
    """
    return _only_one(_TITLE_DEVICE, text)


def format_named(text: str) -> str | None:
    """The number format that a line names, if it is one."""
    return _only_one(_TITLE_DTYPE, text)


def counted_devices(text: str) -> str | None:
    """How many devices a line names (`8×H100`), if it is one number; nothing beside nodes.

    >>> counted_devices("Llama on 8x H100"), counted_devices("2 nodes of 8xH100")
    ('8', None)
    """
    return None if _NODES.search(text) else _only_one(_TITLE_COUNT, text)


def _only_one(pattern: re.Pattern[str], text: str) -> str | None:
    found = {match[match.lastindex or 0].casefold(): match for match in pattern.finditer(text)}
    if len(found) != 1:
        return None
    match = next(iter(found.values()))
    return match[match.lastindex or 0]
