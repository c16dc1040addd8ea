"""Devices that texts count in words of their own: cards and their machines in Chinese, `4机32卡`,
`单机8卡`, `2台8卡`; slices of TPUs by their names, `v6e-256`.

In: a text. Out: how many devices it counts in all or in each node, and how many nodes.
"""

from __future__ import annotations

import re

CARDS = re.compile(
    r"(?:((?<![0-9.])[0-9]+|[单双一二两三四八])\s*"
    r"(?:机|节点|(台|[台个][^0-9。;；]{0,12}[各每][^0-9。;；]{0,8})))?\s*([0-9]+|(?<=[机点])单)\s*[卡张块]"
)

_IN_BRACKETS = re.compile(r"[(（]([0-9]+)[x×*]([0-9]+)(?:[x×*][0-9]+ ?GB?)?[)）]")

ONE_NODE = 8
"""Cards that one node holds, usually."""

_CHINESE = {"单": "1", "双": "2", "一": "1", "二": "2", "两": "2", "三": "3", "四": "4", "八": "8"}


def hosts_of_cards(text: str) -> re.Match[str] | None:
    """Nodes and cards on them, counted in Chinese: `4机32卡`, `单机8卡`, `2台8卡`."""
    found = CARDS.search(text)
    return found if found and found[1] else None


def cards_of(found: re.Match[str], text: str) -> dict[str, str]:
    """How many devices and nodes cards counted in Chinese are: `2台8卡` is eight in each of two."""
    nodes = _CHINESE.get(found[1], found[1]) if found[1] else None
    said = {"nodes": nodes} if nodes else {}
    cards = _CHINESE.get(found[3], found[3])
    if found[2]:
        return said | {"gpus_per_node": cards}
    total = _all_cards(int(cards), int(nodes or 1), text)
    return ({"gpus": str(total)} if total else {}) | said


def counted_cards(text: str) -> dict[str, str]:
    """How many devices and nodes a title counts, if it is one number of each.

    >>> counted_cards("### 调优（13B，双机16卡）"), counted_cards("### 64卡 结果")
    ({'gpus': '16', 'nodes': '2'}, {'gpus': '64'})
    >>> counted_cards("单机单卡"), counted_cards("单卡")
    ({'gpus': '1', 'nodes': '1'}, {})
    >>> counted_cards("### 8卡 / 16卡"), counted_cards("### 每卡8卡时"), counted_cards("到 64卡")
    ({}, {}, {})
    >>> counted_cards("4 机 × 8 卡 H800"), counted_cards("2 节点 × 8 卡和 4 节点 × 8 卡")
    ({'gpus': '32', 'nodes': '4'}, {})
    """
    if "卡" not in text or _BOUNDED.search(text):
        return {}
    if products := _NODES_TIMES_CARDS.findall(text):
        nodes, cards = products[0]
        return {"gpus": str(int(nodes) * int(cards)), "nodes": nodes} if len(products) == 1 else {}
    found = list(CARDS.finditer(text))
    return cards_of(found[0], text) if len(found) == 1 and found[0][0].endswith("卡") else {}


_NODES_TIMES_CARDS = re.compile(
    r"(?<![0-9.])([0-9]{1,4})\s?(?:机|台(?:机器|服务器)?|个?节点)\s?[×x*]\s?([0-9]{1,2})\s?[卡张块]"
)
"""Nodes and the cards of each as a product: `4 机 × 8 卡`."""

_BOUNDED = re.compile(
    "[各至到]|每(?! ?[个一]? ?(?:[Ss]tep|[Ii]ter|[Bb]atch|步|次|批|轮))"
    "|最[多少大小高低]|以[上下内]|不同|超过|[0-9] ?[-–~～/、,，和或及与] ?[0-9]+ ?卡"
)
"""Words by which a number of cards is that of a part, or one of several; none of them says so of a
step: `每个 step 的批大小`."""


def _all_cards(cards: int, nodes: int, text: str) -> int | None:
    """Cards of all nodes: `两机8卡(2x8)` are 16, as the product in brackets says.

    Without one, no more cards than one node holds may be those of each of several.
    """
    product = _IN_BRACKETS.search(text)
    if product and int(product[1]) == nodes and cards in (int(product[2]), nodes * int(product[2])):
        return nodes * int(product[2])
    return cards if nodes == 1 or cards > ONE_NODE else None


SLICES = re.compile(
    r"(?:([0-9]{1,6}) ?[x×*] ?)?(?:TPU ?)?(v[2-9](?:p|e|litepod)?)-([0-9]{1,9})", re.IGNORECASE
)
"""Slices of TPUs, how many of them first: `4x v5p-512`."""

BY_CORES = {"v2", "v3", "v4", "v5p"}
"""Generations of TPUs whose slices are named by their TensorCores: `v5p-128` has 64 chips."""

CORES_OF_CHIP = 2

SLICE_LAW = "a slice of this TPU is named by its TensorCores, two a chip"


def chips_in(slices: re.Match[str]) -> tuple[int, str | None]:
    """How many chips slices have, which some generations name by their cores and others by chips;
    by a law in the first case."""
    chips = int(slices[1] or 1) * int(slices[3])
    if slices[2].casefold() not in BY_CORES:
        return chips, None
    return chips // CORES_OF_CHIP, SLICE_LAW


_SLICES_IN = re.compile(rf"(?<![\w.,-]){SLICES.pattern}(?![\w-]|\.[0-9])", re.IGNORECASE)

_BOUND_OF_SLICES = re.compile(
    r"\b(?:up to|at most|at least|more than|less than|than|over|from|between|to|vs\.?|versus|fits?"
    r"|than)(?: on| in)?(?: (?:an?|one|the|single))* (?:[Tt][Pp][Uu] )?$",
    re.IGNORECASE,
)


def slices_in(text: str) -> list[re.Match[str]]:
    """The slices that a title names, each once.

    >>> [found[0] for found in slices_in("Gemma on 2x v5p-512 and on v6e-32")]
    ['2x v5p-512', 'v6e-32']
    """
    return list({found[0].casefold(): found for found in _SLICES_IN.finditer(text)}.values())


def counted_chips(text: str) -> tuple[int, int, str | None] | None:
    """How many chips the one kind of slices has that a title names, where it stands in the text,
    and by which law; None where there are several, or it is a bound.

    >>> counted_chips("Gemma on v6e-32: speed")
    (32, 9, None)
    >>> counted_chips("Scaling from v6e-32 to v6e-256"), counted_chips("Up to a v6e-256")
    (None, None)
    """
    found = slices_in(text)
    if len(found) != 1 or _BOUND_OF_SLICES.search(text, 0, found[0].start()):
        return None
    chips, law = chips_in(found[0])
    return chips, found[0].start(), law
