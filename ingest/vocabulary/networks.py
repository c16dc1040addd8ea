"""Networks between nodes by the words and rates that documents print.

In: a text, be it a heading, a cell or a sentence. Out: the one network that it gives a rate of, as
it is printed, and what that rate is of. A network that is named without a rate has none here, and
links inside a node are no network.

Units: B/s, one direction.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_KIND = (
    r"(?:infiniband|\bIB\b|\bRoCE(?:[ -]?v2)?\b|ethernet|\bEFA(?: ?v[0-9])?\b|omni-?path"
    r"|slingshot(?:[ -]?1[01])?"
    r"|(?:(?<=[0-9]GbE)|(?<=[0-9][ -]GbE)|(?<=[0-9]GE)|(?<=[0-9] GE))"
    r"(?! (?:RoCE|IB|RDMA|NIC|ether))"
    r"|\bRDMA\b|\bNICs?\b|\b[NHE]DR\b|\binter-?(?:node|machine|host)\b(?: (?:bandwidth|interconnect"
    r"|network|link))?|\bnode-(?:to-)?node\b(?: (?:bandwidth|interconnect|network))?"
    r"|\bnetwork(?:ing)?\b|(?<!-)\binterconnect\b|网络|互联|机间)"
)

_RATE = (
    r"(?<![A-WYZa-wyz0-9.])(?P<rate>[0-9]+(?:,[0-9]{3})?(?:\.[0-9]+)?)"
    r" ?-?(?:(?P<unit>[TG])(?-i:b)(?:ps|it|/s(?:ec)?|it/s|E)?\b|(?P<giga>Gig)(?:abit)?\b"
    r"|(?P<g>G)E?(?=[ )]|$))"
)

_PART = r"(?:GPU|device|rank|accelerator|node|server|host|machine)"

_PER = rf"(?:[^0-9\w;.。]{{0,3}}(?:per|each|/) ?(?P<of>{_PART})\)?)?"

_BEFORE = re.compile(
    rf"(?:(?P<count>[1-9][0-9]?) ?[x×*] ?)?{_RATE}{_PER}"
    rf"(?P<gap>[^0-9,;。.|，]{{0,16}}?)(?P<kind>{_KIND})"
    rf"(?:[A-Za-z ]{{0,24}}?(?:per|each|/) ?(?P<then>{_PART})"
    r"|,? ?\(?(?P<cards>[1-9][0-9]?) (?:per|in each|on each) (?:node|server|host|machine)\b\)?)?",
    re.IGNORECASE,
)
"""`8x 400 Gb/s InfiniBand`, `1600 Gbps node-node interconnect`, `400G NICs (8 per node)`."""

_BEHIND = re.compile(
    rf"(?:(?<![\w.-])(?P<cards>[1-9][0-9]?) (?:[A-Za-z]+ )?)?(?P<kind>{_KIND})"
    rf"(?P<gap>[^0-9;。.|]{{0,20}}?)"
    rf"(?:(?P<count>[1-9][0-9]?) ?[x×*] ?)?{_RATE}(?: ?[x×*] ?(?P<times>[1-9][0-9]?)\b)?{_PER}",
    re.IGNORECASE,
)
"""`InfiniBand HDR 200 Gb/s (per GPU)`, `RoCE 4x100G`, `8 NICs of 400 Gb/s`."""

_BY_CLASS = re.compile(
    r"(?:(?P<count>[1-9][0-9]?) ?[x×*] ?)?\b(?P<kind>[NHE]DR)(?P<rate>100|200|400|800)\b(?!-)"
    rf"(?:[ -](?:InfiniBand|IB)\b)?{_PER}"
)
"""`4x HDR200 InfiniBand`, `NDR400`: the number behind the class is the rate of a card."""

_CARDS = {
    "one": 1, "single": 1, "two": 2, "dual": 2, "three": 3, "four": 4, "quad": 4, "six": 6,
    "eight": 8, "sixteen": 16,
}  # fmt: skip

_IN_WORDS = re.compile(
    rf"(?<![\w-])({'|'.join(_CARDS)})[ -](?:[A-Z][\w-]{{1,16}} )?$", re.IGNORECASE
)
"""In front of a rate: how many cards of it there are, `four 200 Gb/s NICs`."""

_A_CARD = re.compile(r" ?(?:\([^()]{1,24}\) )?(?:NIC|port|card|adapter|HCA|link|rail)s?\b", re.I)

_FABRIC = re.compile(
    r"\[?(?:InfiniBand|Slingshot|Omni-?Path|RoCE|Ethernet|EFA)[\w .-]{0,12}"
    r"(?:\](?:\[[^\[\]]{0,40}\]|\([^()]{0,80}\)))?(?: with | using |, | \(| )$",
    re.IGNORECASE,
)
"""In front of cards that are called by no kind of network: `Slingshot-11 with four NICs of …`."""

_LINK = re.compile(r"\[([^\[\]]*)\](?:\[[^\[\]]*\]|\([^()]*\))")

_EACH = re.compile(rf"\b(?:each|every|per) ({_PART})\b[^0-9.;]{{0,16}}$", re.IGNORECASE)
"""In front of a rate: what it is of."""

_OF_NODE = re.compile(r"node-(?:to-)?node|bandwidth", re.IGNORECASE)
"""Words of a network by which its rate is that of a whole node."""

_ELSEWHERE = re.compile(
    r"(?<=\w\W)measur\w+|\b(?:measur\w+(?! (?:on|with|in)\b)|achiev\w+|reach\w*|busbw"
    r"|algbw|utili[sz]\w+|attain\w*|observed|up to|at least"
    r"|instead|unlike|versus|vs|compared?|than|would|could|if|future|slower|faster|upgrad\w+|without"
    r"|require\w*|recommend\w*|disk|storage|file ?system|NFS|Lustre|management|download)\b",
    re.IGNORECASE,
)
"""Words beside which a rate is not that of the network that runs used."""

_MARKS = (
    "infiniband", "roce", "ethernet", "gb/s", "gbps", "gbit", "tb/s", "tbps",
    "00g ib", "00g nic", "00g ndr", "00g hdr", "00g edr", "00gb edr", "00gb hdr", "gbe", "0ge ",
    "dr100", "dr200", "dr400",
)  # fmt: skip

FORMS = (
    r"(?i:infiniband|\broce\b|[0-9]g ethernet|00gb? (?:ib|nics?|[nhe]dr)\b|gb/s|gbps|gbit"
    r"|[0-9] tb/s"
    r"|[0-9] ?tbps|[0-9][ -]?gbe|00ge|gigabit|\b[nhe]dr[1248]00|ethernet [0-9]+g)"
)
"""Found in every line that may give a rate of a network, in polars' syntax."""

LARGEST = 25_600e9 / 8
"""B/s of a node beyond which a rate is of something else."""


class Network(NamedTuple):
    """A network as a text says it: how many cards of which rate, or the rate of which part."""

    text: str
    at: int
    rate: float  # B/s, one direction
    cards: int | None = None  # each of that rate
    of: str = ""  # "gpu" or "node": what the rate is of; "" where nothing says

    def of_node(self, gpus: float, usual: float | None, host: float | None = None) -> float:
        """Bytes per second of all cards of a node of `gpus` devices.

        `usual` is the share of one device in the usual node. A rate of which nothing says what it
        is of is that of one device's card where devices have their own (`OWN_CARD`) and these are
        no slower, else that of the node. `host` devices of a rack have cards of their own: what is
        counted is theirs. Units: B/s, one direction.
        """
        if self.of == "gpu":
            return self.rate * gpus
        hosts = gpus / host if host and host < gpus else 1.0
        if self.cards is not None:
            return self.rate * self.cards * hosts
        own = usual is not None and OWN_CARD <= self.rate <= usual * (1.0 + SAME)
        return self.rate * (gpus if own and not self.of else hosts)


SAME = 0.01
"""How far two rates may lie apart that are one."""

OWN_CARD = 25e9
"""B/s, one direction, of a card of 200 Gb/s: the slowest in nodes that have one for each device."""


def names_network(text: str) -> bool:
    """Whether a text may name a network and its rate: a quick look."""
    small = text.lower()
    return any(mark in small for mark in _MARKS)


def network_named(text: str) -> Network | None:
    """The network that a text gives a rate of, if it is one.

    >>> network_named("InfiniBand HDR 200 Gb/s (per GPU)")[1:]
    (0, 25000000000.0, None, 'gpu')
    >>> network_named("4 * 100Gb RoCE")[2:], network_named("1600 Gbps node-node interconnect")[2:]
    ((12500000000.0, 4, ''), (200000000000.0, None, 'node'))
    >>> network_named("Slingshot-11 with four 200 Gb/s NICs per node")[2:]
    (25000000000.0, 4, 'node')
    >>> network_named("2x 25GbE")[2:], network_named("4x HDR200 InfiniBand")[2:]
    ((3125000000.0, 2, ''), (25000000000.0, 4, ''))
    >>> network_named("NVLink 900 GB/s"), network_named("memory bandwidth of 3.35 TB/s per node")
    (None, None)
    """
    if not names_network(text) or _ELSEWHERE.search(text):
        return None
    every = [
        *_BEFORE.finditer(text), *_BEHIND.finditer(text), *_BY_CLASS.finditer(text)
    ]  # fmt: skip
    found = [each for each in map(_network, every) if each is not None]
    best = max(found, key=lambda each: (each.cards is not None, bool(each.of)), default=None)
    if best is None or best.rate * (best.cards or 1) > LARGEST:
        return None
    alike = all(each.rate == best.rate and each.cards in (None, best.cards) for each in found)
    return best if alike else None


def _network(found: re.Match[str]) -> Network | None:
    """The network that one match says; None where a bare `G` may be of memory."""
    parts = found.groupdict()
    count = parts["count"] or parts.get("cards") or parts.get("times")
    if parts.get("g") and not count and found["gap"].strip():
        return None
    scale = 1e12 if parts.get("unit") in ("T", "t") else 1e9
    rate = float(found["rate"].replace(",", "")) * scale
    begin, end = found.span()
    before = found.string[: found.start("rate")]
    counted = None if count else _IN_WORDS.search(before, max(0, len(before) - 32))
    behind = _A_CARD.match(found.string, end)
    of_cards = "nic" in found["kind"].casefold() or "nics" in found[0].casefold() or behind
    if counted and of_cards:
        count, begin = str(_CARDS[counted[1].casefold()]), min(begin, counted.start())
        end = behind.end() if behind else end
    each = _EACH.search(before)
    word = parts["of"] or parts.get("then") or (each[1] if each else "")
    of = "" if not word else "gpu" if word.casefold() in _OF_GPU else "node"
    if count is None and of == "node" and found["kind"].casefold() == "nics":
        of = ""  # of so many cards as nobody says
    if not of and count is None and _OF_NODE.search(found["kind"]):
        of = "node"
    number = int(count) if count else None
    if found["kind"].casefold().startswith("nic") and (
        fabric := _FABRIC.search(found.string, max(0, begin - 120), begin)
    ):
        begin = fabric.start()
    text = _LINK.sub(r"\1", found.string[begin:end]).strip()
    text = text.rstrip(")") if text.count(")") > text.count("(") else text
    text += ")" if text.count("(") > text.count(")") else ""
    return Network(text, begin, rate / 8.0, number, of)


_OF_GPU = ("gpu", "device", "rank", "accelerator")
