"""Forms that say of each of their numbers what it counts: machines, devices of each, or of all.

In: a sentence, its devices signed. Out: its parts in such forms, and where these stand; in them no
number may count another thing: `two boxes of 8 H100 each`, `4 台 8 卡 A800 服务器`.
"""

from __future__ import annotations

import re

from assay.ingest.columns.titles import LARGEST_NODE
from assay.ingest.prose.claims import COUNT, COUNTS, Part, of_several
from assay.ingest.prose.machine_words import (
    A_HOST,
    DEVICES,
    ENDS,
    HOST,
    INSTANCE,
    KIND,
    NAMED,
    NEAR,
    NOUN,
    OWNS,
    PLURAL,
    TIMES,
    counts_hosts,
)
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.card_counts import ONE_NODE
from assay.ingest.vocabulary.devices import SIGN, names_card

_HAS = r"(?:has|have|had|with|holds?|held|contains?|contained|carry|carries|carried)"


def _n(field: str) -> str:
    """The expression of a number that is the value of a field: no factor, no range, no price."""
    return (
        r"(?<![\w.,$€^/])(?<![0-9A-Za-z][-–])(?<![0-9][x×*])(?<![0-9] [x×*] )(?<!over )"
        rf"(?P<{field}>{COUNT})(?![A-WYZa-wyz0-9_%^]|[.,:][0-9]|-[0-9])"
    )


_BEHIND_HOST = deferred(
    rf"(?<![\w.-]){INSTANCE}(?: (?:instances|nodes|VMs))? ?[x×*] ?(?P<nodes>[0-9]+)(?![\w.-])"
    rf"(?! ?{DEVICES})(?: ?\({_n('gpus')}{TIMES}{DEVICES}\))?",
    re.IGNORECASE,
)
"""Machines counted behind their name: `p5.48xlarge ×32 (256 H100)`."""

_OF_A_SITE = (
    r"(?: (?:of|on|in|from) (?:(?:the|our|this|that|a) )?(?![0-9]|(?:each|every|which)\b)"
    rf"(?!(?:{COUNT})\b|{SIGN})[\w`-]+(?: [A-Za-z][\w-]*)?(?= ?[,(]| (?:with|each)\b))?"
)
"""Behind machines: whose they are, `nodes of JUWELS Booster`."""

_ALL_BEHIND_HOSTS = deferred(
    rf"{_n('nodes')} ?(?:[x×] ?)?{KIND}{HOST}(?: (?:of|in|on|from) (?:(?:either|both|each|the|our"
    rf"|that|this|a) )?(?![0-9])[\w`-]+(?: (?:partition|cluster|system|machine|queue|pool|site))?)?"
    rf" ?(?:\((?:= ?)?|[/=] ?){_n('gpus')}{TIMES}{DEVICES}"
    rf"(?: (?:in )?total)?{ENDS}",
    re.IGNORECASE,
)
"""Devices of all machines behind these: `twenty nodes (160 H100)`."""

_OF_THE_SAME = deferred(
    rf"{_n('gpus')}{TIMES}{DEVICES} ?(?:\((?:= ?)?|,? (?:on|in|i\.e\.,?|that is,?|=) )"
    rf"{_n('nodes')} (?:of (?:the|these|those|our)(?: same)?|such|more of the same) "
    rf"{KIND}{PLURAL}\b(?! (?:of|with|each))",
    re.IGNORECASE,
)
"""Devices of all machines, and how many of those that were spoken of: `256 GPUs (32 of the same
nodes)`, `64 GPUs on 8 of these nodes`."""

_HOSTS_OF_THEM = deferred(
    rf"{_n('gpus_per_node')}{TIMES}{NAMED}\)? (?:virtual )?{PLURAL},? {_n('nodes')} of"
    rf" (?:them|these){ENDS}",
    re.IGNORECASE,
)
"""Machines by their devices, and then counted: `8x A100 virtual machines, four of them`."""

_DEVICES_OF_THEM = deferred(
    rf"(?:{SIGN})s?(?: {NOUN})?, {_n('gpus')} of (?:them|these){ENDS}", re.IGNORECASE
)
"""Devices that are counted behind their name: `GPU: A100, 16 of them`."""

_NODES_HAVE_THEM = deferred(
    rf"\b(?:{PLURAL}|(?:an?|each|every|one|the|our) (?:[\w-]+ )?{HOST}) {_HAS}"
    rf" {_n('gpus_per_node')} of (?:them|these|those)\b",
    re.IGNORECASE,
)
"""Devices of each machine: `nodes have eight of them`."""

_PER_NODE_OF = deferred(
    rf"\b(?:per|each|every) (?:[\w-]+ )?{HOST} (?:of|with|having|containing)"
    rf" {_n('gpus_per_node')}{TIMES}{DEVICES}",
    re.IGNORECASE,
)
"""A machine by its devices, of which something is counted: `32 images per node of eight V100`."""

_A_NODE_IS = deferred(
    rf"(?:\b(?:an?|the|one|each|every|where|1) |^\W*|[\"“”'‘’`(])node[\"”’'`]? ?(?:is|=|means"
    rf"|refers to) ?(?:an? (?:(?:[\w-]+|{SIGN}) ){{0,4}}?{HOST},? (?:of|with|having|containing) )?"
    rf"{_n('gpus_per_node')}{TIMES}{DEVICES}",
    re.IGNORECASE,
)
"""A node by its devices: `a node is a VM with eight H100`, `"node" = 4 x V100`."""

_EACH_AND_ALL = deferred(
    rf"(?:\b(?:each|apiece)|(?:\bper|/) ?{HOST})[,;:]? ?(?:(?:and|so|or|i\.e\.,?|making|=) ?)?"
    rf"\(?{_n('gpus')} (?:altogether|(?:in )?total|in all|overall)\b{ENDS}",
    re.IGNORECASE,
)
"""Devices of all machines behind those of each: `sixteen in each and 64 altogether`."""

_IN_ALL = deferred(
    rf"{_n('gpus')}{TIMES}{DEVICES} (?:altogether|in total|in all|overall)\b"
    r"(?! (?:in|on|per|for)\b)",
    re.IGNORECASE,
)
"""Devices of all machines: `2 nodes, 8 A100 altogether`."""

_BY_PRODUCT = deferred(
    rf"{_n('gpus')}{TIMES}{DEVICES} ?\((?P<nodes>[0-9]{{1,4}}) ?[x×*]"
    r" ?(?P<gpus_per_node>[0-9]{1,2})\)",
    re.IGNORECASE,
)
"""Devices as nodes times those of each: `32 A100 (4 × 8)`."""

_ALL_ON_HOSTS = deferred(
    rf"{_n('gpus')}{TIMES}{DEVICES},? (?:(?:split|spread|distributed|divided|partitioned|evenly"
    r"|equally|located|hosted|placed|housed|installed) ){0,3}(?:over|across|among|on|in|(?<=t )with"
    rf"|(?<=d )with|between) {_n('nodes')} {KIND}{PLURAL}\b(?! ?(?:of|with|each|apiece|[x×(]))",
    re.IGNORECASE,
)
"""Devices of all machines in front of these: `16 GPUs split over two servers`."""

_ON_EACH_OF = deferred(
    rf"(?:{_n('gpus_per_node')}{TIMES}{DEVICES}"
    rf"|\b(?:launch\w*|start\w*|spawn\w*) {_n('ranks')} (?:training )?processes) (?:on|in) each of"
    rf" (?:the |our )?{_n('nodes')} {KIND}{PLURAL}\b",
    re.IGNORECASE,
)
"""Machines behind the devices of each: `8 GPUs on each of 2 machines`; a process has one device."""

_BOXES_OF_EACH = deferred(
    rf"{_n('nodes')} ?(?:[x×] ?)?{KIND}{PLURAL}{_OF_A_SITE}(?:,? (?:with |of )?| \()"
    rf"{_n('gpus_per_node')}{TIMES}{DEVICES}(?: \([a-z]+\))?"
    rf" (?:each|apiece|in each|on each){ENDS}",
    re.IGNORECASE,
)
"""Machines and the devices of each: `two DGX-1 boxes, eight GPUs each`, `two nodes of Aurora, 12
tiles (ranks) each`."""

_OF_A_SITE_EACH = deferred(
    rf"{_n('nodes')} {PLURAL}{_OF_A_SITE},? each (?:with|having|containing|of)"
    rf" {_n('gpus_per_node')}{TIMES}{DEVICES}",
    re.IGNORECASE,
)
"""Machines of a site and the devices of each: `four nodes of LUMI, each with 8 GCDs`."""

_HOSTS_OF_A_KIND = deferred(
    rf"{_n('nodes')} ?(?:[x×] ?)?(?P<gpus_per_node>[0-9]{{1,2}})"
    rf"(?:-(?:GPU|card|way)| ?[x×] ?(?={SIGN})) ?(?:(?:{SIGN}) )?{PLURAL}\b",
    re.IGNORECASE,
)
"""Machines of a kind, by its devices: `four 8-GPU V100 servers`."""

_MODELS_OF_EACH = deferred(
    rf"(?<![\w.,/$-])(?P<nodes>[0-9]{{1,4}}) ?[x×] ?(?-i:[A-Z])[\w-]*(?: [\w-]+){{0,4}}, each"
    rf" (?:with|having|containing|of) {_n('gpus_per_node')}{TIMES}{DEVICES}",
    re.IGNORECASE,
)
"""Machines by the name of a model: `2 × PowerEdge XE9680, each with 8 H100`."""

_OF_A_SLICE = deferred(
    rf"\b(?:an?|one|a single|single|the|our|1) {_n('gpus')}-(?:chip|device|card|accelerator)"
    rf" (?:[\w-]+ )?(?:{SIGN})(?: [\w-]+)? (?:slice|pod)\b"
    rf"|\b(?:an?|one|a single|single|the|our|1) (?:{SIGN}) (?:slice|pod) (?:of|with)"
    rf" {_n('chips')} (?:chips|devices)\b",
    re.IGNORECASE,
)
"""Devices of one slice: `a 64-chip TPU v5p slice`."""

_SLICE = deferred(
    rf"(?:\b(?:an?|one|a single|single|the|our|1) |^\W*)(?P<slice>{SIGN}) (?:pod slice|slice|pod)\b"
)
"""One slice, whose name says how large it is: `one v5e-256 pod`."""

CHIPS = deferred(r".*v(?:5e|5litepod|6e)-([0-9]{1,5})", re.IGNORECASE)
"""The name of a slice that says how many chips it has; those of other kinds count cores."""

_ONE_OF_A_NODE = deferred(
    rf"^\W*(?:on |using )?(?P<gpus>one|a single|single|1) GPU (?:of|in|on) (?:an?|the|our|one)"
    rf" (?:{SIGN}|[DH]GX)",
    re.IGNORECASE,
)
"""One of several devices: `One GPU of an MI210 node`."""

_ONE_RENTED = deferred(
    r"\b(?P<gpus>one|a single|single) (?:(?:free|rented|cloud|local|Google|Colab|Kaggle|AWS|GCP"
    rf"|Azure|Lambda|RunPod|consumer|gaming)(?:'s)? ){{1,3}}(?:{SIGN})(?![\w-]|s\b"
    r"| (?:nodes?|servers?|machines?|box(?:es)?|instances?|cluster))",
    re.IGNORECASE,
)
"""One device, by where it is: `one free Colab T4`."""

_NAMED_IN_BRACKETS = deferred(
    rf"(?:^\W*|[,;:] ?|\b(?:on|using|with|uses?|used) ){_n('gpus')}"
    rf"(?: (?:consumer|gaming|desktop|rented|cloud|local|server|custom|identical))?"
    rf"[ -](?:GPU|card|accelerator|NPU|device)s? \((?:an? )?(?:{SIGN})[^()0-9,;x×]{{0,16}}(?:\)|,)",
    re.IGNORECASE,
)
"""Devices that have their name in brackets: `one GPU (A100 40GB)`."""

_SOME_OF_THEM = deferred(
    rf"\b(?:only |just )?{_n('gpus')} (?:out )?of (?:the|its|our|these|those)"
    rf" (?:(?:node|server|machine|host|box)(?:'s|’s) )?{COUNT} (?:available )?{DEVICES}"
    rf"|\b(?:only |just ){_n('all')} of (?:the|its|our) {DEVICES} (?:of|in)"
    r" (?:the|a|our|one) (?:node|server|machine|host|box)\b",
    re.IGNORECASE,
)
"""Devices of which there were more: `only 2 of the 8 GPUs`, `just one of the GPUs in the node`."""

_EACH_OF_ALL = deferred(
    rf"\b(?:on|to|for|in) each of (?:the|our|these) {_n('gpus')}{TIMES}{DEVICES}", re.IGNORECASE
)
"""All devices, of each of which something is said: `batches of 10 on each of the two P40s`."""

_OF_A_POD = deferred(
    rf"(?:{SIGN})s? (?:with|using|of) {_n('gpus')} (?:chips|devices){ENDS}", re.IGNORECASE
)
"""Devices behind their name: `TPU v3 with 512 chips`."""

_ALL_OF_THIS_HOST = deferred(
    rf"\b(?:use[sd]?|using|ran on|runs? on|on|with) (?:all )?(?:the |of the )?{_n('gpus')}{TIMES}"
    rf"{DEVICES} (?:of|in|on|inside|from) (?P<one>this|that|our|my|one|a single)"
    rf" (?:[\w-]+ )?(?:node|server|machine|host|box|workstation|instance|VM|DGX)\b",
    re.IGNORECASE,
)
"""All devices of one machine: `all cases use the 8 GPUs of this host`."""

_RATES_ON = deferred(
    r"^\W*(?:(?:training|mean|median|average|peak|total|aggregate|global|measured) )?"
    r"(?:throughputs?|speeds?|rates?|samples|images|tokens|sequences|(?:step|iteration"
    r"|epoch) times?"
    r"|times?|timings|performance|results|numbers|seconds|memory)\b(?! (?:for|of) (?:one|each))"
    rf"[^.;:]{{0,60}}? (?:on|over|across|using|summed over) (?:all )?{_n('gpus')}{TIMES}{DEVICES}"
    rf"(?: in (?:total|all))?{ENDS}",
    re.IGNORECASE,
)
"""The quantity of a table, and on how many devices: `Throughput in sequences/s on eight GPUs.`"""

_HAD_FOR_THIS = deferred(
    rf"\b(?:we|I) (?:only |just )?(?:had|got|used|took|booked"
    rf"|reserved) {_n('gpus')}{TIMES}{DEVICES}"
    r" for (?:this|these|it|that|the) ?(?:[\w-]+ )?(?:one|table|test|runs?|experiments?|part"
    r"|benchmarks?|comparison|sweep|section|job|study)?(?=\s*(?:[.,;:)]|$))",
    re.IGNORECASE,
)
"""Devices of the runs that a sentence speaks of: `we had 96 GPUs for this`."""

_OF_EVERY_RUN = deferred(
    rf"(?:^\W*|[,;:(] ?|\b(?:on|with|using) ){_n('gpus')}{TIMES}{DEVICES}"
    r" (?:each|apiece|per (?:run|experiment|job|configuration|measurement)"
    r"|(?:in|for) (?:each|every|either|both)"
    r" (?:run|case|set-?up|configuration|experiment|job)s?"
    r"|of (?:either|each|every) (?:kind|type|sort|generation"
    rf"|vendor|model)){ENDS}",
    re.IGNORECASE,
)
"""Devices of each of several runs: `16 GPUs each`, `256 chips of either kind`."""

_LONE_HOST = deferred(
    r"\(?(?P<one>(?<=\()(?:a |one )?(?:single|one|1)[ -](?:machine|server|box|workstation|host"
    r"|instance|VM))(?=\))",
    re.IGNORECASE,
)
"""One machine, in brackets behind its devices: `8 H100 (single instance)`."""

_NODES_USED = deferred(
    r"(?:^|[.;,|] ?)\W*nodes used ?[:=] ?(?P<nodes>[0-9]+)(?![\w-]|[.,][0-9])", re.IGNORECASE
)
"""Machines behind a label: `Nodes used: 8`."""

_HAN_NODE = r"(?:节点|服务器|机器|主机|台)"

_HAN_CARD = rf"(?:[张块卡个]\s?)?(?:[x×*]\s?)?(?:(?:{SIGN})|[卡张块]|GPU|NPU|加速卡|显卡)"

_HAN_COUNTS = {"一": "1", "两": "2", "二": "2", "三": "3", "四": "4", "八": "8"}


def _han(field: str) -> str:
    """The expression of a number in a Chinese text, in which no space sets it apart."""
    return (
        r"(?<![A-Za-z0-9.,$/~～至到每第、-])(?<![至到每第、] )"
        rf"(?P<{field}>[0-9]+|[一两二三四八](?=[台个]))\s?"
    )


_HAN_PRODUCT = deferred(
    rf"{_han('nodes')}个?(?:节点|机|台)\s?[x×*]\s?(?P<gpus_per_node>[0-9]+)\s?{_HAN_CARD}"
)
"""Nodes times the cards of each: `8 节点 × 8 卡`."""

_HAN_OF_CARDS = deferred(
    rf"{_han('nodes')}台\s?(?P<gpus_per_node>[0-9]+)\s?(?:[x×*卡张]\s?)?(?:{SIGN})\s?(?:服务器|机器|主机)"
)
"""Machines by their cards: `两台 8×A100 服务器`."""

_HAN_OF_EACH = deferred(
    rf"每[个台]?\s?{_HAN_NODE}[^0-9，。；,;（(）)]{{0,6}}\s?(?P<gpus_per_node>[0-9]+)\s?{_HAN_CARD}"
)
"""Cards of each node: `每节点 4 卡`."""

_HAN_NODES = deferred(
    rf"{_han('nodes')}(?:个\s?(?:计算\s?)?(?:节点|服务器)|节点(?!数)|机(?=\s?[，,、]\s?每)|台\s?(?:(?:{SIGN})\s?)?(?:服务器|机器|主机"
    rf"|(?:{INSTANCE})))"
    r"(?!\s?[x×*、/~～-]\s?[0-9]|以[上下内]|左右)",
    re.IGNORECASE,
)
"""Nodes: `使用 16 个节点`."""

_HAN_ONE_NODE = deferred(
    rf"(?P<one>单(?:机|节点))\s?(?P<gpus>[0-9]+)\s?(?:{_HAN_CARD}|[x×*]\s?(?={SIGN}))"
    rf"|{_han('all')}{_HAN_CARD}\s?(?:(?:{SIGN})\s?)?(?P<single>单(?:机|节点))(?=[上，,。；;、（()）\s]|$)"
)
"""One node and its cards: `单机 8×A100`, `8 卡 A800 单机`."""

_HAN_MODELS = deferred(
    rf"{_han('nodes')}台\s?(?:{SIGN}|[A-Za-z][\w-]*)(?: (?:{SIGN}|[\w-]+)){{0,3}}\s?[，,（(、]\s?"
    rf"(?:共(?:计|有)?|合计|总共)\s?(?P<gpus>[0-9]+)\s?{_HAN_CARD}"
)
"""Machines by the name of a model, and the cards of all: `2 台 Atlas 800T A2，共 16 卡`."""

_HAN_IN_ALL = deferred(rf"共(?:计|有|用)?\s?(?P<gpus>[0-9]+)\s?[张块]?\s?(?:卡|GPU|(?:{SIGN}))")
"""Cards of all nodes: `共 16 张 A100`."""

_HAN_USED = deferred(
    r"(?<![可需]以)(?<![可能需要须若]|[测估理])(?<!推理时)"
    r"(?:使用|采用|利用|(?<![使采利])用|在)了?\s?(?P<gpus>[0-9]+)"
    r"\s?[张块个颗枚片]\s?(?:[GNX]PU|DCU|MLU|显卡|加速卡|加速器|芯片|卡)"
    r"(?=\s?(?:上?(?:进行|来|训练|微调|预训练|测|完成|运行|得|跑)|上?\s?(?:[，,；;。：:）)]|$)))"
)
"""Cards that a run was done with: `使用64张GPU训练`, `在 64 块 NPU 上测得`."""

_HAN_ONE_CARD = deferred(rf"(?P<gpus>单)[张卡块]\s?(?:{SIGN})(?=\s?(?:[，,；;。）)、上]|$))")
"""One card: `单卡 RTX 3090，fp16`."""

_HAN_ONE_ALONE = deferred(
    r"^(?!.{0,80}(?:吞吐|显存|性能|速度|峰值|算力|耗时|加速|利用率|指标|单位|口径|图 ?[0-9]"
    r"|多[卡机]|双卡|[0-9] ?[卡机]))"
    r"(?:.{0,60}?[，,；;、]|[^，,；;：:、（(]{0,12}[：:])?\s?(?:使用|采用|在)?(?P<gpus>单)[张块]?卡"
    r"(?:上?(?:训练|微调|运行|测试))?(?=\s?(?:[，,；;。]|$))"
)
"""The same as an item of a list: `LoRA，单卡，lr=1e-4`."""

_HAN_CARDS_ALONE = deferred(
    r"(?:^(?!\s*[0-9]+\s?卡\s*$)|[，,；;：:（(、]\s?)(?P<gpus>[0-9]+)\s?卡(?=\s?(?:[，,；;：:。）)、]|$))"
    r"(?![、,，]\s?[0-9]+\s?卡)(?<![0-9]卡、..卡)(?<![0-9] 卡、.. 卡)"
)
"""Cards that are an item of a list: `MPT-7B，micro batch 2，32 卡`."""

_OUTRIGHT = (
    _BEHIND_HOST, _OF_THE_SAME, _HOSTS_OF_THEM, _DEVICES_OF_THEM, _NODES_HAVE_THEM,
    _PER_NODE_OF, _A_NODE_IS,
    _EACH_AND_ALL, _IN_ALL, _BY_PRODUCT, _ALL_ON_HOSTS, _ON_EACH_OF, _BOXES_OF_EACH,
    _OF_A_SITE_EACH,
    _HOSTS_OF_A_KIND, _MODELS_OF_EACH, _ALL_BEHIND_HOSTS, _OF_A_SLICE, _SLICE, _ONE_OF_A_NODE,
    _ONE_RENTED, _SOME_OF_THEM, _OF_A_POD, _EACH_OF_ALL, _NAMED_IN_BRACKETS,
    _ALL_OF_THIS_HOST, _RATES_ON,
    _HAD_FOR_THIS, _LONE_HOST, _OF_EVERY_RUN,
    _NODES_USED,
)  # fmt: skip
"""Forms that say of each of their numbers what it counts."""

_OUTRIGHT_IN_CHINESE = (
    _HAN_PRODUCT, _HAN_MODELS, _HAN_OF_CARDS, _HAN_OF_EACH, _HAN_ONE_NODE, _HAN_NODES, _HAN_IN_ALL,
    _HAN_USED, _HAN_ONE_CARD, _HAN_ONE_ALONE, _HAN_CARDS_ALONE,
)  # fmt: skip

_FIELD = {
    "ranks": "gpus_per_node",
    "chips": "gpus",
    "all": "gpus",
    "one": "nodes",
    "single": "nodes",
}
"""Groups of these forms that are a field in another place."""

_MAY_SAY = deferred(
    rf"\b{HOST}\b|/ ?node|\bof (?:them|these|those|the same)\b|\b(?:altogether|total|overall"
    rf"|slice|pod)\b"
    r"|\b(?:each|apiece)\b|\bper [rejcm]|\b(?:in|for) (?:every|either|both)\b"
    r"|\bof (?:either|every)\b"
    r"|\bof (?:the|its|our|these) |with [0-9]+ (?:chips|dev)|\bin all\b|\beach (?:with|of|having"
    r"|containing)\b|\([0-9]+ ?[x×*]"
    r"|(?:GPU|card|accelerator|NPU)s? \(|\b(?:one|single|1)\b|\bfor (?:th|it)"
    r"|^\W*(?:\w+ )?(?:thr|spee|rate|samp|imag|tok|seq|step|iter|epo|tim|perf|resu|numb|seco|mem)",
    re.IGNORECASE,
)
"""In every text with one of these forms."""

_HAN = deferred("[\u4e00-\u9fff]")

_HAN_BOUND = deferred(
    r"(?:最[多少大高]|至[少多]|超过|多达|高达|不同|大于|小于|[约近从>＞<＜]|扩展到"
    r"|[0-9]\s?(?:个节点|卡)?\s?[和或与及])[为是]?\s?$"
)
"""In front of a number in a Chinese text that is one of several, or a bound."""

_HAN_OWNS = deferred("(?:集群|超算|中心|平台)[^，。；,;（(]{0,8}(?:共|有|包含|配备|提供|由)")
"""A site that has machines, on however many of which a job ran."""


def said_outright(plain: str) -> tuple[dict[str, Part], list[tuple[int, int]]]:
    """The parts that forms say in which no number may count another thing, and where these are."""
    told, spans = dict[str, Part](), list[tuple[int, int]]()
    forms = (
        *(_OUTRIGHT_IN_CHINESE if _HAN.search(plain) and not _HAN_OWNS.search(plain) else ()),
        *(_OUTRIGHT if _MAY_SAY.search(plain) else ()),
    )
    for form in forms:
        every = list(form.finditer(plain))
        if len(every) != 1 or not (said := _said(form, every[0], plain)):
            continue  # of several neither is of every run
        for part in said:
            told.setdefault(part.name, part)
        begin, end = every[0].span()
        spans.append((said[0].at if form in (_EACH_AND_ALL, _HAN_ONE_ALONE) else begin, end))
        plain = without(plain, spans[-1:])
    return told, spans


def without(text: str, spans: list[tuple[int, int]]) -> str:
    """A text without some of it, as wide."""
    for begin, end in spans:
        text = text[:begin] + " " * (end - begin) + text[end:]
    return text


def _said(form: re.Pattern[str], found: re.Match[str], text: str) -> list[Part]:
    """The parts of a form, if each of its numbers is one of a run and they agree."""
    said = dict[str, Part]()
    for group, word in found.groupdict().items():
        if word is None:
            continue
        name, at = _FIELD.get(group, group), found.start(group)
        if group in ("one", "single", "slice") or word == "单":
            said[name] = Part(name, "1", at)
            continue
        digits = _HAN_COUNTS.get(word) or COUNTS.get(word.casefold(), word.replace(",", ""))
        several_of = (
            of_several(text, found, group)
            if name == "gpus_per_node"
            else (not counts_hosts(text, found, group))
        )
        if not digits.isdecimal() or names_card(digits) or several_of:
            return []
        said[name] = Part(name, digits, at)
    if any(_HAN_BOUND.search(text, max(0, part.at - NEAR), part.at) for part in said.values()):
        return []
    return list(said.values()) if _agree(said, form, found, text) else []


def _agree(said: dict[str, Part], form: re.Pattern[str], found: re.Match[str], text: str) -> bool:
    """Whether the numbers of a form may be those of one run."""
    count = {name: int(part.word) for name, part in said.items()}
    nodes, each, every = (count.get(name) for name in ("nodes", "gpus_per_node", "gpus"))
    if each is not None and not 0 < each <= LARGEST_NODE:
        return False
    first = min(part.at for part in said.values())
    if "nodes" in said and OWNS.search(text, 0, first):
        return False
    if form in (_HAD_FOR_THIS, _RATES_ON) and len({*_COUNTS_OF_DEVICES.findall(text)}) > 1:
        return False
    if form in (_NAMED_IN_BRACKETS, _OF_EVERY_RUN) and A_HOST.search(text):
        return False  # they may be those of one of several
    if form is _OF_EVERY_RUN and (every == 1 or _PARTS_OF_A_RUN.search(text)):
        return False
    if nodes == 1 and form is _ALL_BEHIND_HOSTS:
        return False  # of each of one, too
    if nodes is not None and every is not None and each is None:
        of_each = "(" in found[0] and nodes > 1 and every <= ONE_NODE  # or of all of them
        return 0 < nodes <= every and every % nodes == 0 and not of_each
    if nodes is not None and every is not None and each is not None:
        told_apart = nodes != ONE_NODE or each == ONE_NODE  # `(8 × 4)`: four nodes of eight, too
        return nodes * each == every and each > 1 and told_apart
    return not (every is not None and _OF_EACH_BEFORE.search(text, 0, first))


_PARTS_OF_A_RUN = deferred(
    r"\b(?:replicas?|groups?|stages?|workers?|copies|actors?|learners?|teachers?|islands?|pods?|slices?"
    r"|racks?|clusters?|sites?|cent(?:er|re)s?|experts?|partitions?|ranks?|users?)\b",
    re.IGNORECASE,
)
"""Words for parts of a run, each of which may have the devices that are counted of each."""

_COUNTS_OF_DEVICES = deferred(
    rf"(?<![\w.,])({COUNT})(?= ?(?:[x×*] ?)?(?:{DEVICES})(?! ?(?:per|/|each|a) ))", re.IGNORECASE
)

_OF_EACH_BEFORE = deferred(
    rf"\b(?:each|every|per|an?) (?:[\w-]+ )?{HOST}\b[^.;,]{{0,30}}$", re.IGNORECASE
)
"""In front of devices: they are those of one machine."""
