"""Names of accelerators: one list for titles, sentences, columns and cells.

In: a text. Out: the devices that it names, each as it is printed, and where. Known are the machines
of `model/machines/machines.toml` (a test compares), what other makers call theirs, and the shape of
a name behind a maker's: a device that nobody described is still a device, and what a text says of
two of them it says of none.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import NamedTuple

from assay.ingest.expressions.compiled import compiled
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

PEAKS = {
    "V100": (125, 125), "A100": (312, 312), "A800": (312, 312), "A40": (150, 150),
    "A10": (125, 125), "A6000": (155, 310), "L40S": (363, 733), "L4": (121, 243),
    "H100": (990, 1979), "H800": (990, 1979), "H200": (990, 1979), "GH200": (990, 1979),
    "H20": (148, 296), "B200": (2250, 4500), "B300": (2250, 4500), "GB200": (2500, 5000),
    "GB300": (2500, 5000), "MI210": (181, 181), "MI250X": (383, 383), "MI300X": (1308, 2615),
    "MI325X": (1308, 2615), "MI350X": (2307, 4614), "MI355X": (2517, 5034), "3090": (71, 142),
    "4090": (331, 661), "Gaudi2": (432, 865),
}  # fmt: skip
"""TFLOP/s that a device has at most in a 16-bit format and in any that models train in: what its
datasheet says, rounded up. `model/machines/machines.toml` has the figures, and a test compares."""

_MAKERS = (
    "NVIDIA|AMD|Intel|Huawei|Google|AWS|Amazon|Meta|Microsoft|Cambricon|Hygon|Biren|MetaX"
    "|Moore Threads|Iluvatar|Enflame|Kunlunxin|Tenstorrent|Qualcomm|SambaNova|Graphcore|Cerebras"
    "|英伟达|昇腾|寒武纪|海光|昆仑芯|天数智芯|摩尔线程|沐曦|燧原(?:科技)?|壁仞(?:科技)?"
)

_BRANDS = (
    "Tesla|GeForce|GTX|Quadro|Radeon(?: AI)?(?: Pro)?|Instinct|Habana|Cloud AI|power[- ]limited"
)

_TI = r"(?: ?Ti)?(?: (?:SUPER|Super)\b)?"
"""Letters that may stand behind the number of a card."""

_NAMES = (
    r"GB[123]00|GB10|GH200|VR[123]00|[ABH][1-9]00X?|V100|P100|A10[GM]"
    r"|(?:RTX[ -]?)?(?:A(?:[2456]000|[45]500)|PRO[ -]?6000|6000[ _-]?Ada(?: Generation)?)"
    r"|RTX[ -]?(?:[245]000|4500)(?:[ _-]SFF)?[ _-]?Ada(?: Generation)?|RTX[ -]?PRO[ -]?[245][05]00"
    rf"|RTX[®™]?[ -]?[0-9]{{4}}{_TI}(?: ?D(?![A-Za-z0-9]))?"
    r"|(?:GTX|Titan) ?(?:[0-9]{3,4}(?: ?Ti)?|V|X[Pp]?|RTX)|DGX Spark"
    r"|MI[0-9]{2,3}[APX]?|(?:RX|W) ?[67]9?[0-9]00(?: ?XTX?)?|RX ?90[67]0(?: ?XT)?"
    r"|Gaudi[®™]?[ -]?[1-9]|HL-?[1-3][0-9]{2}[A-Z]?|Arc ?(?:Pro ?)?[AB][0-9]{2,3}|A7[57]0|B5[78]0"
    r"|(?:Data Center GPU )?Max[ -]1[15][05]0|Ponte Vecchio"
    r"|TPU[ -]?(?:v[2-9]|[4-9](?=[epx]))(?:[epx]|litepod| lite)?(?:-[0-9]{1,5})?"
    r"|(?<![-_])v[2-9](?:p|e|litepod| lite)(?:-[0-9]{1,5})?|(?<![-_])v[2-4]-[0-9]{1,5}"
    r"|Trillium|Ironwood"
    r"|Trainium ?[1-9]|Trn[1-9](?:n?\.[0-9a-z]+)?|Inferentia ?[1-9]|Inf[12](?:\.[0-9a-z]+)?"
    r"|Ascend[ -]?[0-9]{3}[A-Z]?[0-9]?|Atlas ?[0-9]{3}[A-Z]?[0-9]?|910[ABC][0-9]?"
    r"|Snt[39][ab][0-9]{0,2}|MLU ?[0-9]{3}(?:-[A-Z][0-9]+)?|BW[0-9]{3,4}|K100(?:[_-]?AI)?|Z100L?"
    r"|BR10[046]|MTT ?S[0-9]{2,4}|C500|P800|BI-?V?1[05]0"
    r"|MTIA(?: ?v?[1-9])?|Maia(?: ?[12]00)?|WSE-?[0-9]|CS-[123]|SN[0-9]{2}L?|Groq(?:Chip ?[0-9]?)?"
    r"|Bow[ -](?:IPU|POD[ -]?[0-9]+)|GC200|IPU-?(?:POD|M)[0-9]+"
    r"|(?:Wormhole|Blackhole|Grayskull)(?: [enp](?:75|[13][05]0)[a-ds]?)?|[np](?:150|300)[a-ds]"
    r"|[np](?:150|300)(?= (?:results?|peak|cards?|boards?|devices?)\b)"
    r"|RNGD|M[1-9] (?:Pro|Max|Ultra)|(?<=Apple )M[1-9](?= |[^\w-]|$)"
)
"""Names in any case: of NVIDIA, AMD, Intel, Google, Amazon, Huawei, and of others who make them."""

_SHORT = "V100S|H20-3e|BMG(?:-G[0-9]{2})?|L40[SG]?|L20|L4|A10|A16|A30|A40|H20|T4G?|P40|K40|K80"
"""Names so short that in small letters they are something else."""

_KINDS = (
    "TPU|IPU|NPU|DCU|MLU|HPU|Gaudi(?![®™]? (?:[Ss]oftware|SDK|[Dd]river|[Ff]irmware))|Trainium"
    "|Inferentia|Ascend(?! (?:[Ss]oftware|SDK|[Dd]river|[Ff]irmware))|Cerebras(?![-_ ]?GPT)"
    "|Graphcore|SambaNova|Jetson|昇腾|寒武纪|昆仑芯|L40s"
)
"""Kinds of devices: a text that names one alone does not say which of them it is."""

_SHAPE = (
    rf"(?<!WS )(?<!zon )(?<!gle )(?<!oft )(?!{NUMBER_FORMAT}|[DH]GX|CUDA|T5|C86|DTK|CANN|HDK)"
    r"[A-Z]{1,4}-?[0-9]{1,4}[A-Z]{0,2}"
)
"""A name, where it stands right behind a maker's; behind those of clouds stand instances, too."""

_GEFORCE = (
    r"(?:(?<=[x×*卡块张])|(?<=[x×*卡块张] )|(?<=ual )|(?<=wo )|(?<=ngle )"
    r"|(?<=one )|(?<=\bOne )|(?<=four )|(?<=\bFour )|(?<=hree )|(?<=ight )|(?<=\ba )|(?<=\bmy )|"
    rf"(?<=\bour )|(?<=[0-9]GB )|(?<=[0-9] GB )|(?<=pair of ))[12345]0[5-9]0{_TI}"
    r"(?![0-9%]|[.,][0-9]| ?(?:tokens|samples|sequences|steps|seq|ms)\b| s\b)(?!(?<=a [0-9]{4})s\b)"
    rf"|(?:(?<=\bon )|(?<=\bon the )|(?<=\band )|(?<=\bor )|^)[2345]0[5-9]0{_TI}"
    r"(?=s?`?(?:[,;.)|:，。；）、]|\s*$| (?:and|or|with|in|at)\b| [(]))"
    rf"|(?:(?<=^# )|(?<=^## )|(?<=^### ))[2345]0[5-9]0{_TI}"
    r"(?! (?i:tok|st|sam|seq|ctx|it|ep|im))(?=(?: [A-Za-z][\w-]{0,20}){0,3} "
    r"(?i:benchmarks?|benchmarking|results|performance|numbers|timings?|measurements)\W*$)"
    rf"|[2345]0[5-9]0{_TI}(?=s?(?: GPUs?| cards?)\b"
    r"|[ -]?(?:8|1[0126]|24|32|48) ?GB\b| [(](?:8|1[0126]|24|32|48) ?GB[)]"
    r"| ?(?:@|\bat) ?[1-9][0-9]{2} ?W\b| ?[(][1-9][0-9]{2} ?W\b)"
)
"""A card by its number alone, where the words around it make it one."""

_NO_DEVICE = (
    r"(?:SM|GFX|CC|NVL|PCIE|DDR|[HNEFQX]DR|GEN|CX|HBM|USB|CPU|RAM|SSD|HDD|IB|QSFP|OSFP|GPT|BERT|LLM"
    r"|TOP|GPU|NPU|TPU|RFC|ISO|CVE|PR|FP|BF|TF|INT|MB|GB|TB|KB|MHZ|GHZ|BS|MBS|GBS|SEQ|TP|PP|DP|CP"
    r"|EP|VPP|RTX|GTX|ND|NC|DL|XE|SR|SYS|DGX|HGX)-?[0-9]"
)
"""Letters in front of numbers that are no device of a maker unknown: of nodes, links, formats."""

_CALLED = rf"(?!{_NO_DEVICE})[A-Z]{{2,4}}-?[0-9]{{3,4}}[A-Z]?(?![A-Za-z0-9.%-]|,[0-9])"

_A_CARD = (
    r"(?:[GNX]PUs?|AI (?:chips?|accelerators?)|accelerators?|加速卡|训练卡|计算卡|智算卡|AI ?芯片)"
    r"(?![A-Za-z])(?![ -]?(?:nodes?|servers?|box(?:es)?|instances?|hosts?|machines?|clusters?)\b)"
)

_OF_A_MAKER = (
    rf"(?:{_CALLED}(?= ?{_A_CARD})"
    r"|(?:(?<=[0-9] [卡张块])|(?<=[0-9][卡张块])|(?<=[0-9] [卡张块] )|(?<=[0-9][卡张块] )"
    r"|(?i:(?<=device: )|(?<=device=)|(?<=accelerator: )|(?<=accelerator=)|(?<=accelerators: )"
    r"|(?<=[gn]pu: )|(?<=[gn]pu=)|(?<=[gn]pus: )|(?<=device\": \")|(?<=加速卡：)|(?<=加速卡: )"
    r"|(?<=芯片：)|(?<=NPU：)|(?<=NPU ：)|(?<=\bNPU )))"
    rf"{_CALLED}(?! ?(?:server|node|服务器)))"
)
"""A device of a maker that nobody knows, where the words around it make it one: `8 卡 XY920`."""

_FORM = r"[ _-]?(?i:SXM[0-9]?|PCI-?E(?:[0-9]|x[0-9]+)?|NVL4?(?![0-9])|OAM)(?![A-Za-z0-9])"

_GIGABYTES = r"[ _-]?[0-9]{2,3} ?[Gg](?:i?[Bb])?(?![A-Za-z0-9])"

_MEMORY = (
    rf"(?:{_GIGABYTES}"
    r"|(?:(?<=[Aa]100)-(?:40|80)|(?<=[Hh]100)-(?:80|94|96)|(?<=[Hh]200)-141)(?![A-Za-z0-9×-]|[.,][0-9]))"
)
"""How much memory a device has, without its unit where the device comes with so much."""

_STACKED = r"[ _-]?HBM[0-9]e?(?![A-Za-z0-9])"

_DEVICE = (
    r"(?:(?<![A-Za-z0-9.])|(?<=[0-9][x×X])|(?<=[DdHh][Gg][Xx]))"
    r"(?P<front>[1-9][0-9]{1,2} ?GB (?=[A-Z]))?"  # `8x 80GB A100`
    rf"(?P<maker>(?i:(?:(?:{_MAKERS}|{_BRANDS})[®™]?[ -]?)+))?"
    rf"(?:(?P<name>{_SHORT}|(?i:{_NAMES})|{_GEFORCE}|{_OF_A_MAKER})|(?P<kind>{_KINDS})|(?(maker)(?<![A-Za-z]){_SHAPE}|(?!)))"
    r"(?=s?(?![A-Za-z0-9])|[x×][0-9]|[ _-]?[0-9]{2,3} ?[Gg]|[A-Z])"
    rf"(?P<rest>(?:{_FORM}|{_MEMORY}|{_STACKED})*)(?=s?(?![A-Za-z0-9])|[x×][0-9])"
)

_PIECE = rf"(?P<form>{_FORM})|(?P<memory>{_GIGABYTES}|-[0-9]{{2,3}}(?![A-Za-z0-9]))|{_STACKED}"
"""A part of what stands behind a name, where `_DEVICE` has found it."""

_HINT = re.compile(r"[0-9]|[A-Z]PU|[A-Z][a-z]{3}|DCU|MTIA|昇腾|寒武纪|昆仑芯|tpu|gaudi|trainium")
"""Found in every text that names a device."""

_NUMBERED = re.compile(
    r"[0-9](?:(?<=[A-Za-z].)(?<![TPDCEtpdce][Pp].)|(?<=[A-Za-z]-.)|(?<=[2345])0[5-9]0|(?<=6)000|(?<=9)10)"
)
_WORDED = re.compile(
    "[tinmdh][plc]u|昇腾|寒武纪|昆仑芯|gaudi|trainium|inferentia|ascend|cerebras|graphcore|sambanova"
    "|jetson|dgx spark|ponte vecchio|trillium|ironwood|mtia|maia|groq|wormhole|blackhole"
    "|grayskull|rngd|titan|[rg]tx|atlas|bmg|max 1|(?:rx|w) [67]"
)
"""One of both is found in every text that names a device: a number behind a letter, of no degree of
parallelism (`TP8`), or one that is a name, a word in small letters. Most rows of tables have
neither, and to look for names costs."""

HINT = (
    r"(?:(?:NVIDIA|AMD|Tesla|Intel|Google|AWS|Huawei) |[ABHLPTVablhv][0-9]{1,3}|GB[0-9]|GH2|MI[0-9]"
    r"|RTX|TPU|[Gg]audi|[Tt]rainium|[Tt]rn[0-9]|Ascend|910[ABCabc]|MTIA|Maia|WSE|CS-|SN[0-9]|Groq"
    r"|MLU|BW1|Arc |Titan|TITAN|Snt9|昇腾|昆仑芯|燧原|摩尔线程)"
)
"""Found in texts that name a device, in polars' syntax: what makes a line worth a look."""

SIGN = "\ufffc\ufffd*+"
"""A device in a text of `signed`, as the expressions that look for what is said of one spell it."""


class Device(NamedTuple):
    """A device as a text names it: without its maker, with form and memory where they are said.

    `kind` is whether only its kind is named; two devices are one if `same` is.
    """

    text: str
    start: int
    at: int
    end: int
    key: str
    form: str
    memory: str
    kind: bool


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return compiled(pattern)  # when a device is first looked for: most inputs need none


@lru_cache(maxsize=65_536)  # a line and a cell are asked by all who look for what they say
def devices(text: str) -> tuple[Device, ...]:
    """Every device that a text names, in order.

    >>> [device.text for device in devices("bf16 on Trainium2 and fp16 on 8x NVIDIA A100-80GB")]
    ['Trainium2', 'A100-80GB']
    >>> [device.text for device in devices("Ascend 910B, L4 and H100 80GB SXM5; W8A16, step 4090")]
    ['Ascend 910B', 'L4', 'H100 80GB']
    >>> [device.text for device in devices("on an L40S ([data](https://x.com/l4-and-a100.pdf))")]
    ['L40S']
    """
    if "\n" in text and not any(map(devices, text.split("\n"))):
        return ()  # tables share the lines above them
    if not (may_name(text) and _HINT.search(text)):
        return ()
    if "](" in text:  # where a link goes says nothing of the line
        text = _ADDRESS.sub(lambda found: " " * len(found[0]), text)
    return tuple(map(_device, _expression(_DEVICE).finditer(text)))


_ADDRESS = re.compile(r"(?<=\]\()(?:https?://|[./#])[^()\s]{1,300}(?=\))")


def by_kind(text: str) -> bool:
    """Whether the name of a device is no more than its kind."""
    return _expression(_KINDS).fullmatch(text) is not None


def other_of_its_kind(device: Device, text: str) -> bool | None:
    """Whether a text names another device of a maker unknown than this one, by the letters of its
    name; None for a device that is known.

    >>> (card,) = devices("8 卡 XY920")
    >>> other_of_its_kind(card, "XY920, XY-920"), other_of_its_kind(card, "the older XY910")
    (False, True)
    >>> other_of_its_kind(devices("8x H100")[0], "H100")
    """
    if device.kind or not re.fullmatch(_CALLED, device.text):
        return None
    letters, number = re.split(r"-?(?=[0-9])", device.text, maxsplit=1)
    named = re.findall(
        rf"(?<![A-Za-z0-9]){letters}-?([0-9]{{2,4}}[A-Z]{{0,2}})(?![A-Za-z0-9])", text
    )
    return any(each != number for each in named)


def may_name(text: str) -> bool:
    """Whether a text may name a device: a quick look."""
    return bool(_NUMBERED.search(text) or _WORDED.search(text.casefold()))


def _device(found: re.Match[str]) -> Device:
    begin = next((found.end(n) for n in ("maker", "front") if found[n]), found.start())
    name, rest = found.string[begin : found.start("rest")], found["rest"]
    form, memory, shown = "", re.sub("[^0-9]", "", found["front"] or ""), 0
    for piece in _expression(_PIECE).finditer(rest):
        if piece["form"]:
            form = piece["form"].strip(" _-").casefold().rstrip("0123456789")
        memory = re.sub("[^0-9]", "", piece["memory"]) if piece["memory"] else memory
        if piece["memory"] or (piece["form"] and not (memory and form == "sxm")):
            shown = piece.end()
    key = _KEY.sub("", name.casefold())
    key = _CARDS.get(key[:5], key)
    if chip := _OF_AMAZON.match(key):
        key = f"trn{chip[1]}"
    if slice_of := _SLICE.fullmatch(name):
        key = slice_of[1].casefold()
    form = "" if form in ("sxm", "oam") else form.replace("-", "")
    return Device(
        name + rest[:shown], found.start(), begin, found.end(), key, form, memory,
        found["kind"] is not None,
    )  # fmt: skip


OF_EACH_NODE = re.compile(
    r"(?:\s*/\s*|[ (]+(?:per|each|in each|on each|in every|a)\s+)"
    r"(?:node|host|server|machine)[\s)]*$",
    re.IGNORECASE,
)
"""Behind devices that are counted of each node: `8x H100 per node`."""

_SLICE = re.compile(r"(?:TPU[ -]?)?(v[2-7][ep]?)-[0-9]{1,5}", re.IGNORECASE)
"""A slice of chips by how many it has: `v6e-256`."""

_OF_AMAZON = re.compile("(?:trn|trainium)([1-9])")
"""A chip of Amazon's by its own name and by that of its instances."""

_CARDS = {
    "trill": "v6e", "ironw": "v7", "hl205": "gaudi", "hl225": "gaudi2", "hl325": "gaudi3",
    "hl338": "gaudi3",
}  # fmt: skip
"""Devices that a maker calls by the number of their card, too, by how that begins."""

_KEY = re.compile(
    r"(?<=ada) generation$|[ _®™-]|^(?:rtx|gtx|geforce|ascend|arc|tpu)(?=[ _-]?[0-9avb])"
)
"""Signs and words that one name is printed with and without."""


def only(text: str) -> Device | None:
    """The device that a text names, if it is one: what says most of it.

    >>> only("8x H100 (H100 SXM5 80GB)").text, only("on L4 and on H100"), only("TPUs, or A100")
    ('H100 SXM5 80GB', None, None)
    >>> only("H100 PCIe against H100"), only("bf16, 4090 tokens")
    (None, None)
    """
    found = devices(text)
    named = _chips([device for device in found if not device.kind])
    if not named or not _one(found):
        return None
    return max(named, key=_says_most)


def _says_most(device: Device) -> tuple[bool, bool, int]:
    """How much a name says of its device: a memory, then a number, then more letters."""
    return bool(device.memory), any(map(str.isdigit, device.text)), len(device.text)


def _chips(named: list[Device]) -> list[Device]:
    """Devices without servers that are called beside what they hold: `Atlas 900 A2, 8 × Ascend
    910B3`."""
    chips = [device for device in named if not device.key.startswith("atlas")]
    return chips if any(device.key.startswith("910") for device in chips) else named


def several(text: str) -> bool:
    """Whether a text names more than one device, or may.

    >>> several("on Trainium2 and on A100"), several("A100 nodes of 8 A100-40GB")
    (True, False)
    """
    return not _one(devices(text))


def _one(found: tuple[Device, ...]) -> bool:
    """Whether these are one device, as far as their names say."""
    named = _chips([device for device in found if not device.kind])
    kinds = {device.key for device in found if device.kind}
    return (
        len({(device.key, device.form) for device in named}) <= 1
        and len({device.memory for device in named if device.memory}) <= 1
        and all(_of_kind(device, kind) for device in named for kind in kinds)
        and (bool(named) or len(kinds) <= 1)
    )


def _of_kind(device: Device, kind: str) -> bool:
    """Whether a device may be one of a kind: `Gaudi 2` beside `Gaudi`, `910B` beside `NPU`."""
    makers = _OF_KIND.get(kind)
    return device.text.casefold().startswith(kind) or (
        makers is not None and re.match(makers, device.key) is not None
    )


_OF_KIND = {
    "tpu": "tpu|v[2-9]|trillium|ironwood", "ipu": "ipu|bow|gc200", "npu": "910|ascend|atlas|snt",
    "ascend": "910|atlas|snt", "昇腾": "910|atlas|snt", "graphcore": "ipu|bow|gc200",
    "hpu": "gaudi|hl", "cerebras": "wse|cs", "sambanova": "sn", "mlu": "mlu", "寒武纪": "mlu",
    "dcu": "bw|k100|z100", "trainium": "trn", "inferentia": "inf", "gaudi": "hl",
    "昆仑芯": "p800|r[23]00", "l40s": "l40",
}  # fmt: skip
"""Kinds, and how the names of their devices begin."""


def is_one_of(device: Device, keys: Collection[str]) -> bool:
    """Whether a device is among those of some keys, or may be one of a kind that is.

    >>> (chip,) = devices("Trainium2")
    >>> is_one_of(chip, {"trn2"}), is_one_of(chip, {"trainium"}), is_one_of(chip, {"a100", "tpu"})
    (True, True, False)
    """
    return device.key in keys or any(_of_kind(device, key) for key in keys if key in _OF_KIND)


def peaks(text: str) -> tuple[float, float] | None:
    """TFLOP/s in 16 bits and at most of the one device that a text names.

    >>> peaks("8x A100-40GB"), peaks("Trainium2, beside A100"), peaks("L4 and H100")
    ((312, 312), None, None)
    """
    device = only(text)
    return None if device is None else _PEAKS.get(device.key)


_PEAKS = {name.casefold(): peak for name, peak in PEAKS.items()}


_OF_AN_INSTANCE = re.compile(r"\.(?:[0-9]*x?large|metal)")
"""The size of an instance: `trn1.32xlarge` is a node, which counts as one."""


_NO_BRAIN_FLOAT = (
    r"g?v100s?|[pkm][0-9]{1,3}|t4g?|titan\w*|[12]0[5-8]0(?:ti|super)?|16[56]0(?:ti|super)?|910a"
)
"""Keys of devices that came before bf16 and TF32: they have neither in hardware."""

_NO_EIGHT_BITS = (
    r"a100|a800|a10g?|a16|a30|a40|a[2-6][05]00|30[5-9]0(?:ti)?|mi100|mi2[0-9]{2}x?|910b[0-9]?"
)
"""Keys of devices that have these, and no fp8 yet."""

_LACKING = re.compile(rf"({_NO_BRAIN_FLOAT})|{_NO_EIGHT_BITS}")


def lacks(device: Device, kind: str) -> bool:
    """Whether a device has no units for a number format, by its short name.

    >>> [lacks(each, "bf16") for each in devices("V100, T4, RTX 2080 Ti, A100, RTX 3090, L4")]
    [True, True, True, False, False, False]
    >>> [lacks(each, "fp8") for each in devices("V100, A100-80GB, MI250X, MI300X, H100, RTX 4090")]
    [True, True, True, False, False, False]
    """
    found = _LACKING.fullmatch(device.key)
    newer = ("fp8",) if found is None or found[1] is None else ("fp8", "bf16", "tf32")
    return found is not None and kind in newer


def signed(text: str) -> str:
    """A text of the same length with a `SIGN` in the place of each device that it names by more
    than its kind, and by no instance of a cloud.

    >>> signed("on 8x NVIDIA A100s") == "on 8x \ufffc" + 10 * "\ufffd" + "s"
    True
    """
    for device in devices(text):
        if device.kind or _OF_AN_INSTANCE.search(device.text):
            continue
        sign = "\ufffc" + "\ufffd" * (device.end - device.start - 1)
        text = text[: device.start] + sign + text[device.end :]
    return text


def device_at(text: str, start: int) -> Device:
    """The device whose `SIGN` begins at a place of the signed text."""
    return next(device for device in devices(text) if device.start == start)


_NUMBER_OF_CARD = re.compile("[1-5]0[5-9]0")


def names_card(digits: str) -> bool:
    """Whether digits are what people call a card by: `3090 GPUs` are no three thousand.

    >>> names_card("3090"), names_card("1080"), names_card("3,090"), names_card("1024")
    (True, True, False, False)
    """
    return _NUMBER_OF_CARD.fullmatch(digits) is not None


_SHAPED = re.compile(r"[A-Za-z]{1,6}[ -]?[0-9]{2,}|v[0-9][a-z]")
"""In every name of a device that its label calls one; `cuda:0` is one for a program."""


def may_be_device(text: str) -> bool:
    """Whether a text whose label says that it is a device may be its name.

    >>> may_be_device("Foo 9000"), may_be_device("cuda:0"), may_be_device("L4")
    (True, False, True)
    """
    return _SHAPED.search(text) is not None or bool(devices(text))


_OF_SYSTEMS = {
    "aurora": "Max 1550", "sunspot": "Max 1550", "polaris": "A100", "sophia": "A100",
    "thetagpu": "A100", "perlmutter": "A100", "leonardo": "A100", "selene": "A100",
    "frontier": "MI250X", "crusher": "MI250X", "lumi": "MI250X", "setonix": "MI250X",
    "summit": "V100", "sierra": "V100", "alps": "GH200", "jupiter": "GH200", "eos": "H100",
}  # fmt: skip
"""Public systems with accelerators of one kind, by name; source: the pages of their sites."""


def of_systems(text: str) -> tuple[Device, ...]:
    """The device of each public system that a title names, to tell one system from another.

    >>> [device.text for device in of_systems("## Polaris")], of_systems("## Results")
    (['A100'], ())
    """
    names = [word for word in re.findall(r"[a-z]+", text.casefold()) if word in _OF_SYSTEMS]
    return tuple(device for name in names for device in devices(_OF_SYSTEMS[name]))
