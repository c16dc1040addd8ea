"""Devices that a sentence counts, and the machines that hold them.

In: a sentence. Out: what it says of `gpu`, `gpus`, `nodes` and `gpus_per_node`, each a part
with its place: `8xH100 GPUs`, `4 nodes of 8 A100 each`, `one DGX A100`. A number of devices
beside one of nodes is of each node where no single one could hold as many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from assay.ingest.columns.titles import LARGEST_NODE
from assay.ingest.prose.claims import COUNT, COUNTS, NUMBER, Part, of_several, stands_alone
from assay.ingest.prose.machine_words import (
    A_HOST,
    DEVICES,
    ENDS,
    HOST,
    INSTANCE,
    KIND,
    NEAR,
    NOUN,
    OWNS,
    PLURAL,
    TIMES,
    beside_training,
    counts_hosts,
)
from assay.ingest.prose.outright_counts import CHIPS, said_outright, without
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.card_counts import (
    ONE_NODE,
    cards_of,
    chips_in,
    counted_chips,
    hosts_of_cards,
    slices_in,
)
from assay.ingest.vocabulary.devices import (
    SIGN,
    Device,
    device_at,
    devices,
    names_card,
    only,
    several,
    signed,
)
from assay.ingest.vocabulary.languages import in_english

_DEVICE = rf"(?:[DH]GX[ -]?)?({SIGN})"

_APART = r"(?<![^\W\u4e00-\u9fff])"
"""Behind no letter or digit but a Chinese one: `单机8卡A100`."""

_COUNT = (
    rf"{_APART}(?<![.$])(?<![0-9][-–/])(?<![0-9] [-–] )(?<![0-9] to )(?<!GX-)"
    r"(?<![0-9],)(?<![Uu]p to )(?<!at most )(?<!at least )(?<!many as )(?<!than )(?<!over )"
    r"(?<!(?i:batch) )(?<!(?i:size) )(?<!(?i:bsz) )(?<!(?i:bs) )(?<!(?i:seq) )(?<!(?i:len) )"
    r"(?<!(?i:length) )(?<!(?i:ctx) )(?<!(?i:rank) )([0-9]+(?:,[0-9]{3})*)"
)
"""A number that is no bound of several."""

_MANY = deferred(
    rf"{_COUNT} ?[xX×*卡块张]? ?(?:(?:GPUs?|cards) +\(?)?`?{_DEVICE}s?(?![A-Za-z0-9])"
    r"(?:`? ?(?:GPUs?|cards?|chips?))?"
)

_DIGIT = re.compile("[0-9]")

_NODE_HAS = deferred(
    r"\b(?:node|server|machine|host|box|instance)s?\b(?:[^.;:0-9]{0,40}"
    r"\b(?:has|have|with|contains?|holds?)\b([^.;:]{0,40})| ?\()$"
    r"|^\W*(?:compute )?nodes?(?: types?| specs?)?(?: `[^`]{1,24}`)?:[^;]{0,80}$"
    r"|[{,(] ?[\"']?(?:(?:compute|per|each)[ _])?(?:node|host|server)(?:[ _](?:type|spec|shape"
    r"|hardware))?[\"']?: ?[\"']?$"
    r"|\b[a-z]+[0-9][\w-]*\.(?:[0-9]*xlarge|metal)"
    r" (?:has|have|with|is) $"
    r"|(?:`[^`]{1,24}`|\b[a-z]+_[\w-]{1,24}) (?:nodes|servers|machines):\s?$",
    re.IGNORECASE,
)
"""In front of a number of devices: they are those of each node."""

_COUNTS = deferred(
    r"\b(?:(?:of|on|for|with|using|across) [0-9][0-9,]*(?:, [0-9][0-9,]*)*,? (?:and|or)"
    r"|(?:on|using|across)(?: [0-9][0-9,]{0,6}(?: ?/|,)){1,8}|with(?: [0-9][0-9]?(?: ?/|,)){2,8})"
    rf" [0-9][0-9,]* ?[x×]? ?(?:NVIDIA |AMD )?{SIGN}"
)
"""Numbers of devices of as many runs: `results of 8 and 128 H100`."""

_TIMES = deferred(r"(?<![\w.,/-])([0-9]{1,5}) ?[x×*] ?$")
"""In front of a number of devices: so many times as many, `4 × 8 A100`."""

_IN_ALL_OF = deferred(r" ?= ?([0-9]{1,6}) (?:GPU|GCD|device|card|chip|tile)s?\b")

_A_NODE = deferred(
    r"(?: \([^()]*\))? ?(?:nodes|servers|machines|instances|hosts|boxes)\b"
    r"|(?: \([^()]*\))?[^.,;:()0-9]{0,24}?(?:\bper|\ba|/|\b(?:in|on) each|\bin every)"
    r" ?(?:node|server|host)\b"
)
"""Behind a number of devices: they are those of each node."""

_WORDED = "|".join(sorted((*COUNTS, "dual", "a pair of", "pair of", "both"), key=len, reverse=True))

_BOXES = deferred(
    rf"(?:{_COUNT} ?[x×*]? ?|(?i:\b({_WORDED})) )(?:NVIDIA )?[DH]GX[ -]({SIGN})"
    r"(?! (?:nodes?|boxe?s?|systems?|servers?|machines?),?"
    r" ?(?:\(|of|with|each|[x×])[^.;,()]*[0-9][^.;,()]*\beach)"
)
"""Machines of several devices each, counted: `4x DGX H100`, `two HGX H200 boxes`."""


_VENDED = deferred(r"NVIDIA|AMD|Intel|TPU|Gaudi|Trainium|Ascend")
"""The name of a maker, or one that nothing but a device has."""

_LISTED_DEVICE = deferred(
    rf"(?:^\W*|[,;:(，；：（、|] ?)(?:GPUs?:? )?{_DEVICE}"
    r"(?=\s*(?:[,;.()|，；。（）、]|$)|(?: GPUs?| cards?| platform)\b)"
)
"""A device that is a part of a list, without a number."""

_ON = deferred(
    r"\b(?:on|using|uses?|used|(?:is|are|was|were) from)"
    r" (?:an? |the |our |my |l[ae] |une? |(?:one|a single) (?=[DH]GX)|up to [0-9][0-9,]* ?[x×]? ?)?"
    r"(?:(?:(?i:free|rented|cloud|local|partition|Google|Colab|Kaggle|AWS|GCP|Azure|Lambda|RunPod)"
    r"(?:'s)?) ){0,3}"
    rf"{_DEVICE}(?![A-Za-rt-z0-9])"
    rf"|\b[Nn]odes? with (?:the |our )?{_DEVICE}s? (?:GPUs|cards|accelerators)\b"
    rf"|[0-9] [DH]GX[ -]{SIGN} (?:nodes|systems|servers)\b"
    rf"|(?:^|[,;(] ?)(?:(?:on|again|still) )?(?:the )?same {_DEVICE}"
    r"(?:s\b| (?:GPU|card|node|machine|server|box|cluster))"
    rf"|在[^，。；,;A-Za-z0-9]{{0,8}}{_DEVICE}[^，。；,;]{{0,14}}?上"
)
"""A device that something ran on, however many there were."""

_IN_WORDS = deferred(
    rf"\b({_WORDED}) [*_]{{0,2}}(?:[0-9]{{1,3}} ?Gi?B )?(?:(?:NVIDIA|AMD|Intel) +)?{_DEVICE}s?"
    r"(?![A-Za-z0-9])"
    r"(?! (?:apiece|each)\b)(?![ -]"
    r"(?:nodes?|servers?|machines?|instances?|hosts?|systems?|boxes|pods?|DGX)\b)",
    re.IGNORECASE,
)

_IN_WORDS_ALONE = deferred(
    r"(?:(?:\b(?:train\w*|(?:pre|fine)-?t\w+|r[ua]ns?|running|measured|benchmark\w*|timed|tested"
    r"|taken|experiments?|everything|numbers|results)\b[^.;]{0,140}?"
    r"\b(?:on|using|with|use[sd]?)|[,;(]|^\W*(?:on|using|with)) "
    rf"|^[\W_]*(?=(?:{_WORDED}) [a-z]+ (?:(?:were|are) used|(?:over|with) an? NVLink"
    r"|connected|linked|bridged|joined))"
    r"|^[\W_]*(?=(?:[a-z-]+ ){1,2}[a-z]+\s*(?:[,;:.)]|$)))"
    rf"[*_]{{0,2}}(?:a )?({_WORDED})[*_]{{0,2}} (?:[0-9]{{1,3}} ?Gi?B )?"
    r"(?:GPU|NPU|card|accelerator|device|chip)s?"
    r"(?=(?: here)?\s*(?:[,;:.)]|$)"
    r"| (?:unless|each|with|for (?:all|every|each|about|[0-9])|and|over [0-9]|over an? NVLink"
    r"|(?:connected|linked|bridged|joined) (?:by|with|over|through)|(?:were|are) used"
    r"|in (?:bf|fp|float))"
    r")",
    re.IGNORECASE,
)
"""Devices of no name, counted in words: `we train on one GPU each`, `(bf16, one card)`."""

_EACH_IN_WORDS = deferred(
    rf"\b({_WORDED}) (?:GPU|NPU|card|accelerator|device|chip)s?\b", re.IGNORECASE
)

_OF_A_PART = deferred(
    r"\b(?:rank|process(?:es)?|worker|replica|actor|stage|expert|shard|server|teacher|tokeni[sz])",
    re.IGNORECASE,
)
"""In front of a device: a part of a run is on it, and not the whole."""

_RATED = deferred(
    r"(?<![0-9] )\b(?:numbers|values|figures|rates?|speeds?|throughputs?|performance|MFU|T?FLOPS?"
    r"|tokens)\b"
    r"[^.;]{0,40}\b(?:for|of|on|per) (?:one|a single|single|each)\s*$",
    re.IGNORECASE,
)
"""In front of a device: rates are those of one, however many there were."""

_BEHIND_NAME = deferred(
    rf"(?<!GX[ -])({SIGN})s?(?: ?[(（][0-9]{{2,3}} ?Gi?B?[)）])? ?(?:[x×*] ?([0-9]{{1,5}})"
    r"(?: ?[枚基张張块塊장](?!ずつ)"
    r"|(?!\w|[.,][0-9]| ?(?:nodes?|GB|GiB|台|机|节点|faster|slower|the|more|as|speed\w*)\b))"
    r"|\((?:[x×*] ?)?(?:(?<=[x×*])|(?<=[x×*] )|(?=[0-9]+ ?[x×]\)))([0-9]{1,5})(?: ?[x×])?(?=[),;])"
    r"|([0-9]{1,5}) ?(?:장|대|개|枚|基)(?!\s*(?:の)?(?:노드|ノード))"
    r"|(?:,|\() ?(?i:(?:just |only )?(one|two|four|eight)(?: (?:of (?:them|these)|cards?|GPUs?))?)"
    r"(?=\)|[,;.](?!\d)|\s*$))"
)
"""A device and how many of it: `A100-80GB x8`, `H100 64枚`, `A40 (just one)`."""

_OF_SEVERAL = deferred(
    r"\b(?:each|every|per)\b(?![ -](?:GPU|NPU|device|card|chip|accelerator|rank|step|iteration"
    r"|update|second)s?\b)"
    r"|\b(?:nodes?|servers?|machines?|hosts?|instances?|box(?:es)?|cluster|partition"
    r"|supercomputer|site|has|have)\b|/node|ノード|サーバ|クラスタ|あたり|노드|서버|클러스터|당 "
    r"|节点|每(?![张块个]? ?(?:卡|[GN]PU|步|次))|集群|服务器|台",
    re.IGNORECASE,
)
"""Words beside which a number behind the name of a device may be that of each machine, or of all
that a site has."""

_ALONE = deferred(
    r"(?<![\w.,])(?:one|1|a single|single)[ -](?:node|server|machine|host)\b(?! (?:of|has|have))",
    re.IGNORECASE,
)
"""One machine, whose devices are all."""

_ONE_GPU = deferred(
    r"((?:^|[.;,(:/·] ?|\b(?:is|are|was|were) )\W*(?:(?:an?|just|only) )?"
    r"(?:single|one|1)[ -](?:[GNH]PU|GCD|card|accelerator|device)"
    r"(?: only)?(?=\W*$|[.;,)/·。，、；]| ?\([^()]{1,40}\)\W*$))"
    r"|^(?!.*\b[0-9]+ ?[x×]? ?GPUs\b)"
    r"(?!.*\b(?:each|every|per|ranks?(?! ?[=:]? ?[0-9])|process(?:es)?|stages?|experts?|workers?"
    r"|fits?|also|even|can|could|may|possible)\b)"
    r".*\b(?:on|using) (?:an? )?(?:single|one|1) (?:GPU|(?<=single )(?:card|device|accelerator|GCD"
    r"|chip))(?=[.,;)。，、；]|$| with\b)"
    r"|^\W*(?:all|everything|each run|every run)(?: runs?| ran| is| was)? (?:on|using) (?:an? )?"
    r"(?:single|one|1) (?:card|device|accelerator|GCD|chip)(?=[.,;)]|$)"
    r"|^\W*(?:single|one)[- ](?:device|card|accelerator)[ -](?:training|fine-?tuning|runs?|results"
    r"|numbers|throughput|benchmarks?|measurements?)\b",
    re.IGNORECASE,
)
"""A sentence of one device of no name: `Single GPU.`"""

_ONE_OF_EACH = deferred(
    r"\b(?:train\w*|tuned|ran|run|measured|benchmarked|timed|tested)\b[^.;:]{0,60}? (?:on|with"
    r"|using) (?:just |only )?((?:a single|one|single) (?:GPU|card|device|accelerator|chip))"
    r" (?:of (?:each|every)\b|from (?:each|every|two|three|four|five|several|different|all)"
    r" (?:[\w-]+ )?(?:generations?|kinds?|types?|vendors?|makers?|manufacturers?|series"
    r"|famil(?:y|ies))\b)",
    re.IGNORECASE,
)
"""One device at a time of several that are compared: `on single cards from three generations`."""


def one_of_each(text: str) -> bool:
    """Whether a text says that one device at a time was measured of several that it names.

    >>> one_of_each("We ran it on one card of each kind."), one_of_each("We ran it on one card.")
    (True, False)
    """
    return _ONE_OF_EACH.search(in_english(text).text) is not None


_MORE = deferred(
    r"\b(?:two|three|four|six|eight|[2-9]|[1-9][0-9]+)[ -](?:[GN]PU|card|accelerator)s?\b",
    re.IGNORECASE,
)
"""Devices beside one that are others of them: `one card, two cards and four cards`."""


_NUMBERS = {**COUNTS, "dual": "2", "a pair of": "2", "pair of": "2", "both": "2"}

_CARDS = deferred(
    rf"^(?!.*(?:每|/ ?卡|单卡)).*?{_COUNT} ?[卡张块](?:卡)?(?=\s*(?:[，,。；;、（(]|$))"
)
"""Cards that are counted apart from their name: `Ascend 910B，8 卡，FP16`."""

_NO_HOST = (
    r"(?:of (?:the|our|these)(?: [0-9]+)? )?(?:[\w-]+ ){0,2}?(?:heading|title|section|table|figure"
    r"|column|panel|plot|worker|rank|process|replica|run|job"
    r"|experiment|trial|training|model|network|variant|seed|config|setting|row|entry|benchmark"
    r"|test|result|measurement|fine-?tun|pre-?train|time)"
)
"""Behind `each`: what it is of is no machine."""

_EACH = deferred(
    rf"\b(?:each|every|nodes?|instances?|servers?|machines?|hosts?)\b(?! {_NO_HOST})[^.;:]{{0,40}}?"
    rf"\b(?:with|contains?|has|having|of)\b[^.;:0-9]{{0,20}}{_COUNT} ?[x×]? ?`?{_DEVICE}",
    re.IGNORECASE,
)

_OF_NODES = deferred(
    rf"\b(?:(?:each|every)(?! {_NO_HOST})|nodes|servers|machines|hosts)\b",
    re.IGNORECASE,
)
"""In front of a count in words: it is of one of them."""

_NODES = deferred(
    rf"(?<!batch of ){_COUNT} ?(?:[x×] ?)?(?:(?:`?[a-z][\w-]*\.(?:[0-9]*[a-z]+|[a-z]+[0-9]+)`? "
    r"|`{1,2}[\w.-]+`{1,2} )?"
    r"(?:nodes|servers|hosts|instances(?! (?:of [0-9][0-9,]*(?:\s*[),.;]|\s*$| tok)|per batch)))\b"
    r"|`?[a-z]+[0-9][\w-]*\.(?:[0-9]*xlarge|metal)\b`?(?! ?[x×*] ?[0-9]))"
)
"""Machines, `2x p5.48xlarge`; `1024 instances of 4096` are sequences of so many tokens."""

_GPUS = deferred(
    rf"(?<!with )(?<!of )(?<!has )(?<!have )(?<![x×≥≤<>=] )(?<![≥≤<>]){_COUNT} "
    r"(?:GPUs|GCDs|NPUs|IPUs|HPUs|cards|devices|accelerators|chips)\b"
    r"(?! ?(?:each|per|in each|on each|/)| of (?:an?|each|every) (?:\w+ )?"
    r"(?:node|server|machine|host)\b)"
)
"""Devices of no name, counted."""

_SPREAD = deferred(r"\b(?:across|over|on)\b")

_EACH_OF = deferred(r"\b(?:of|with|each|per|having|has|have)\b|[x×*]")

_COUNTED_AGAIN = deferred(
    r" ?(?:of|with|each with|x|×) ?[0-9]+(?![0-9.])(?! ?(?:[A-Z]i?B\b|cores|CPUs))"
)
"""Behind nodes how many devices each has."""

_ONE_NODE = deferred(
    r"\b(?:single|one|1)[ -](?:node|(?:machine|server|box|workstation|host)(?= (?:with|of|that)\b))"
    r"(?![\w-])"
    r"|(?:^\W*|[,;:(] |\b(?:on|in|within|inside|using) (?:just |only |a |always )?)"
    r"(?:single|one|1)[ -](?:machine|server|box|workstation|host)(?=\s*(?:$|[,;.)]|each\b))",
    re.IGNORECASE,
)
"""One machine: by its devices, or as all that an item of a list, or of a sentence, says."""

_ALL_OF_ONE = deferred(
    r"\ball (?:the )?(?:[0-9]+ )?(?:cards|GPUs|devices|accelerators) (?:of|in|on) "
    r"(?:an?|one|the|each) (?:single )?(?:host|node|machine|server|box)\b"
)
"""As many devices as one machine has."""

_WORKERS = deferred(
    rf"\b(?:(?:(?:on|across|with|using|used) |w/ ?){_COUNT}|(?:images|samples"
    rf"|sequences) over ([0-9]+)) "
    r"(?:devices|GPUs|gpus|IPUs|HPUs|accelerators)\b(?! (?:each|per|in each|on each))"
)

PER_NODE = deferred(
    rf"\b(?i:{HOST})\b[^.;]{{0,60}}?(?<![\w.,]){_COUNT} (?:GPUs?|devices|accelerators)"
    r" each\b(?! [a-z]+\b(?<!and)(?<!with)(?<!on)(?<!in)"
    r"(?<!for)(?<!at)(?<!connected)(?<!linked)(?<!over))"
    rf"|{_COUNT} (?:GPUs?|devices|accelerators) (?:per node|on each node)\b"
    rf"|\b(?:nodes? ?[x×]|(?:nodes?|servers|machines|hosts|boxes) (?:of|with)"
    r"|(?:nodes|servers|machines|hosts|boxes),? (?:(?:each of which|which|that)(?: each)? "
    rf"(?:has|have|had|holds?|contains?)|each (?:has|having|had))) ?{_COUNT} "
    r"(?:GPUs|cards|devices|accelerators)\b(?! (?:in total|altogether|together|in all)\b)"
    r"|\bnodes of (two|four|eight|sixteen) (?:GPUs|devices|accelerators)\b"
    r"|\b(?:GPU|NPU|GCD|device|accelerator|card|chip)s?/(?:node|host|server"
    r"|machine)[*_`]*(?: ?[:=] ?| )"
    r"[*_`]*([0-9]{1,2})\b(?![.,][0-9])"
)


def _of_each(many: re.Match[str], nodes: re.Match[str], text: str) -> bool:
    """Whether devices beside a number of nodes are those of each: no node holds dozens."""
    first, second = sorted((many, nodes), key=re.Match.start)
    between = text[first.end() : second.start()]
    if first is many and _SPREAD.search(between):
        return False
    each, count = _EACH_OF.search(between), int(many[1].replace(",", ""))
    behind = text[second.end() :]
    if first is many and _COUNTED_AGAIN.match(behind):  # `16 H100 (2 nodes of 8)`
        return False
    if first is many and "(" in between and behind.startswith(")"):  # `64x A100 (8 nodes)`
        return each is not None or count <= ONE_NODE
    if first is nodes and _of_all_in_brackets(between, count):
        return False
    each = each or _EACH_OF.match(behind.lstrip(" )GPUs"))
    return each is not None or count <= LARGEST_NODE


def _of_all_in_brackets(before: str, count: int) -> bool:
    """Whether devices in brackets right behind machines are more than one holds: `2 nodes (16 ×
    H100)`."""
    return count > ONE_NODE and before.rstrip().endswith("(")


def _node_that_has(
    many: re.Match[str], nodes: re.Match[str] | None, text: str
) -> re.Match[str] | None:
    """The words that make devices those of each node, in front of their number."""
    has = _NODE_HAS.search(text, 0, many.start(1))
    of_all = has and nodes and _of_all_in_brackets(has[0], int(many[1].replace(",", "")))
    return None if of_all else has


_OF_THEM = deferred(r" (?:nodes|servers|machines|hosts)\b")


def _named_devices(text: str, nodes: re.Match[str] | None) -> Iterator[Part]:
    """Devices by their name, and how many of them there are, in all or in each of the nodes."""
    plain = signed(text)
    known = plain != text  # else no form in which a sign stands is in it
    each = _EACH.search(plain) if known else None
    if each:
        yield Part("gpus_per_node", each[1].replace(",", ""), each.start(1))
        yield _gpu(text, each.start(2))
    elif boxes := _BOXES.search(plain) if known else None:
        group = 1 if boxes[1] else 2
        if not nodes and not OWNS.search(plain, 0, boxes.start(group)):
            word = _NUMBERS.get(boxes[group].casefold(), boxes[group].replace(",", ""))
            yield Part("nodes", word, boxes.start(group))
        yield _gpu(text, boxes.start(3))
    elif cards := hosts_of_cards(text):
        yield from _cards(cards, text)
    elif (cards := _CARDS.search(plain)) and only(text):
        yield Part("gpus", cards[1], cards.start(1))
        yield from one_device(text)
    elif many := _MANY.search(plain) if known else None:
        each_node = (nodes and _of_each(many, nodes, text)) or _A_NODE.match(plain, many.end())
        has = _node_that_has(many, nodes, plain)
        of_them = _OF_THEM.match(plain, many.end()) and not re.search("[x×*]", many[0])
        of_them = of_them or (has and has[0].endswith("(") and _number(many[1]) > LARGEST_NODE)
        if of_them or _COUNTS.search(plain) or (has and _DIGIT.search(has[1] or "")):
            # `16 H100 nodes`; `8 and 16 H100`; `A node has 8 GPUs (4 MI250X)`: which of them
            yield _gpu(text, many.start(2))
            return
        each_node = each_node or has
        held = "gpus_per_node" if each_node else "gpus"
        if (times := _TIMES.search(plain, 0, many.start(1))) and not each_node:
            whole = _IN_ALL_OF.match(plain, many.end())
            every = whole[1] if whole else str(int(times[1]) * int(many[1].replace(",", "")))
            yield Part(held, every, many.start(1))
        elif nodes or len({each[1] for each in _MANY.finditer(plain)}) == 1:
            yield Part(held, many[1].replace(",", ""), many.start(1))
        yield _gpu(text, many.start(2))  # of two numbers neither is that of every run
    elif (
        known
        and (counted := _IN_WORDS.search(plain))
        and not (nodes and not _OF_NODES.search(plain, 0, counted.start()))
        and not _RATED.search(plain, 0, counted.start(2))
    ):
        yield from _many_in_words(counted, plain, device_at(text, counted.start(2)))
        yield _gpu(text, counted.start(2))
    elif of_node := PER_NODE.search(plain):
        group = of_node.lastindex or 1
        word = COUNTS.get(of_node[group], of_node[group].replace(",", ""))
        yield Part("gpus_per_node", word, of_node.start(group))
        yield from _not_counted(text)
    else:
        yield from _not_counted(text)


_POD = re.compile(r".*v[2-9](?:[a-z]|litepod)*-[0-9]{1,5}", re.IGNORECASE)
"""The name of a slice of a pod, which has many devices: `TPU v6e-256`."""


def _counted_behind(text: str, nodes: re.Match[str] | None) -> Iterator[Part]:
    """The one device of a text behind whose name stands how many there are."""
    found = list(_BEHIND_NAME.finditer(signed(text))) if devices(text) else []
    if len(found) == 1:
        group = next(group for group in (2, 3, 4, 5) if found[0][group])
        if not nodes and not _OF_SEVERAL.search(_ALONE.sub(" ", text)):
            many = found[0][group].casefold()
            yield Part("gpus", COUNTS.get(many, many), found[0].start(group))
        yield _gpu(text, found[0].start(1))


def _many_in_words(counted: re.Match[str], plain: str, device: Device) -> Iterator[Part]:
    """Devices that a text counts in words, of each node or of all; none of several numbers. Of a
    slice of a pod its name says how many there are."""
    if _RANGED.search(plain, 0, counted.start(1)):
        return
    if _POD.fullmatch(device.text):
        chips = CHIPS.fullmatch(device.text)
        if chips and _NUMBERS[counted[1].casefold()] == "1":
            yield Part("gpus", chips[1], counted.start(1))
        return
    of_node = _A_NODE.match(plain, counted.end()) or _OF_NODES.search(plain, 0, counted.start())
    of_node = of_node or _A_NODE_HAS.search(plain, 0, counted.start(1))
    number = _NUMBERS[counted[1].casefold()]
    part = number == "1" and plain.startswith((" of a ", " of an "), counted.end())
    yield Part("gpus_per_node" if of_node and not part else "gpus", number, counted.start(1))


_A_NODE_HAS = deferred(
    r"\b(?:an?|the|one) (?:[\w-]+ ){0,2}?node (?:(?:of|in) (?:the |our )?[\w`-]+ )?"
    r"(?:has|holds|contains|hosts|houses|carries|comes with|is equipped with)\b[^.;,:0-9]{0,24}$",
    re.IGNORECASE,
)
"""In front of devices: they are those of each node, `A node has four A100`."""

_RANGED = deferred(
    r"(?:\b(?:one|two|three|four|six|eight|[0-9]+),? (?:to|or|and|through|vs\.?) |\bup to )$",
    re.IGNORECASE,
)
"""In front of a number in words: it is the last of several, `one to sixteen A100`."""


def _not_counted(text: str) -> Iterator[Part]:
    """A device that a text names and does not count."""
    if (alone := only(text)) and (told := _told_of(text, alone)):
        counted = _COUNTS_IT.search(text, 0, alone.start)
        colab = _COLAB.search(text) and "tpu" not in alone.key
        one = _ON_ONE.search(text, 0, alone.start) and _ALONE_BEHIND.match(text, alone.end)
        if (colab or one or _is_mine(text, alone)) and not counted:
            yield Part("gpus", "1", alone.at)
        yield Part("gpu", alone.text, alone.at, weak=told == "listed")
        if told == "site":
            yield Part("", "", 0)  # a statement by its form


def _gpu(text: str, start: int) -> Part:
    """The part that names the device whose sign begins at a place."""
    device = device_at(text, start)
    return Part("gpu", device.text, device.at)


def _cards(found: re.Match[str], text: str) -> Iterator[Part]:
    """Nodes, their devices and what these are, as counted in Chinese."""
    for name, word in cards_of(found, text).items():
        yield Part(name, word, found.start())
    yield from one_device(text)


def one_device(text: str) -> Iterator[Part]:
    """The one device that a text names, and that it is one where it is its author's."""
    if device := only(text):
        yield Part("gpu", device.text, device.at)
        if _is_mine(text, device):
            yield Part("gpus", "1", device.at)


def _is_mine(text: str, device: Device) -> bool:
    """Whether a text speaks of a device as the one that its author has: `on my 3090`."""
    mine = ("y " in text or "I " in text) and _MINE.search(text, 0, device.at)
    return bool(mine) and not _OF_A_BOX.match(text, device.end)


def _told_of(text: str, device: Device) -> Literal["run", "site", "listed"] | None:
    """How a text speaks of a device that it does not count: by its maker or as what something ran
    on; as what a site has; in a list."""
    if _OF_SITE.search(signed(text)):
        return "site"
    if _VENDED.match(text, device.start) or _ON.search(signed(text)):
        return "run"
    return "listed" if _LISTED_DEVICE.search(signed(text)) else None


_ON_ONE = re.compile(r"\b[Oo]n an? (?:NVIDIA )?$")

_ALONE_BEHIND = re.compile(
    r" (?:GPU|card)\b| in (?:an?|one|my|our)\b| with [0-9]+ ?Gi?B(?! each)| ?\([0-9]+ ?Gi?B\)"
)
"""Around a device of which there was one: `on an RTX 3090 in one of our workstations`, `on an A10G
with 24 GB`."""

_COLAB = re.compile(r"\bColab\b")
"""A service whose machines have one GPU each."""

_MINE = re.compile(
    r"\b[Mm]y (?:(?:own|old|new|single|lone|good old|home|desktop|gaming|GeForce|NVIDIA) )*"
    r"(?:RTX |GTX |GeForce )*$"
    r"|\bI (?:have |just |only |also )?(?:rented|bought|own|have|had|got|borrowed) (?:an?|one) "
    r"(?:(?:used|new|single|cheap|spot|cloud|second-?hand|NVIDIA|GeForce|RTX|GTX) )*$"
)
"""In front of a device: the one that its author has."""

_OF_A_BOX = re.compile(
    r"(?:s\b|(?: ?Ti| SUPER)?s?[- ](?:GPUs|cards|rigs?|box(?:es)?|machines?|nodes?|servers?"
    r"|workstations?|clusters?|hosts?|pair|setup)\b)"
)
"""Behind it: there may be more of them."""

_COUNTS_IT = re.compile(r"[0-9] ?[x×*]?[\s*_]*$")

_OF_SITE = deferred(
    rf"\b(?:cluster|supercomputer|site|partition|lab)\b[^.;:]{{0,60}}?(?<=  )(?:NVIDIA )?{SIGN}",
    re.IGNORECASE,
)
"""A site that has devices, on however many of which a job ran: their number is no longer there."""

_OF_MACHINERY = deferred(
    r"node|server|host|machine|instance|gpu|npu|card|device|accelerator|chip|zero"
    r"|[bt]?fp?(?:8|16|32)|b?float"
    r"|autocast|[卡张块]"
    r"|precision|精度|정밀도",
    re.IGNORECASE,
)
"""In every text that says something of machines, of ZeRO or of a number format, but for those that
name a device: most have none of these words, and each is looked for in ten forms."""


_OF_NO_DEVICES = (
    r"[ -](?:[\w-]+ ){0,2}(?:CPUs?|processors?|cores?|sockets?|NICs?|[TG]i?B|HCAs?|ports?|SSDs?"
    r"|adapters?|EPYC|Xeon|rails?)\b"
)
"""Behind a number for each machine: what it counts is no device."""

_COUNTED = (
    rf"(?<![\w.,$€^-])(?P<m>{COUNT})(?=[ x×*.,;)-]|$)(?!{_OF_NO_DEVICES})"
    r"(?! ?[x×*] ?[0-9](?![0-9]{1,2} ?Gi?B\b)|[.,][0-9])[ -]?(?:[x×*] ?)?"
    r"(?:(?:NVIDIA|AMD|Intel|Huawei) )?"
)

_OF_THEM_EACH = (
    rf"(?:{_COUNTED}(?:{SIGN}s?(?: {NOUN})?|{NOUN}|(?<=[x×*] |.[x×*])[0-9]{{2,3}} ?Gi?B\b"
    rf"|(?=(?: each| apiece)?\s*(?:[.,;)]|$|and\b))))"
)

_HOSTS = deferred(
    rf"{NUMBER} ?(?:[x×*] ?)?{KIND}{HOST},? ?(?:\(|\[|[x×*] |by |of |with "
    rf"|each (?:with |of |having |containing )|(?:that|which) (?:each )?(?:has|have) "
    rf"|having |containing |in which each has )+{_OF_THEM_EACH}",
    re.IGNORECASE,
)
"""Machines and the devices of each: `12 nodes of 8`, `4 servers, each with eight A100`."""

_IN_EACH_HOST = deferred(
    rf"(?:{_COUNTED}(?:(?:{SIGN}s?|{NOUN})(?: |(?=/)))*"
    rf"(?:\([^()0-9]*[0-9]?[^()0-9]{{0,3}}{SIGN}[^()]{{0,16}}\) )?"
    rf"(?:per |/ ?|an? |each |to (?:a|each|every|one) )"
    rf"|{_COUNTED.replace('<m>', '<i>')}(?:(?:{SIGN}s?|{NOUN}) )+(?:(?:in|on|at) (?:each|every)"
    r"|of (?:an?|each|every)) "
    rf"|(?:{SIGN}s?|{NOUN})(?:,| ?\(| ?[–—;]) ?{_COUNTED.replace('<m>', '<g>')}"
    r"(?:of (?:them|these|which) )?(?:in|on|inside) (?:an?|each|every) )"
    rf"(?:{HOST}\b|rack)|"
    rf"\b(?:each|every) (?:of (?:the|our) (?:[0-9]+ )?)?{KIND}{HOST}"
    r"(?: (?:of|in|on) (?:the|our) [\w`-]+(?: (?:partition|cluster|queue|system|machine))?)?"
    r" (?:is equipped with|has|had|with|of"
    rf"|holds|held|hosts|hosted|includes|features|sports"
    rf"|contains?|contained|exposes?|carries|comes with|houses|provides|offers|packs) "
    rf"{_COUNTED.replace('<m>', '<k>')}"
    rf"|{HOST}\b[^.;()]{{0,30}}"
    rf"(?:,| (?:with|of|having|containing)(?= \S{{1,12}} (?:{SIGN}|{NOUN}))) "
    rf"{_COUNTED.replace('<m>', '<j>')}(?:(?:{SIGN}s?|{NOUN}) )*"
    rf"(?:apiece|each|in each|on each)\b",
    re.IGNORECASE,
)
"""Devices of each machine: `8 to a node`, `each node exposes eight`."""

_ONE_OF_IT = deferred(r" of an? [\w-]+$", re.IGNORECASE)
"""One device of a machine, which has others: `a single H100 of a node`."""

_HOSTS_ALONE = deferred(
    rf"{NUMBER} ?(?:[x×*] ?)?{KIND}(?:nodes|servers|hosts|machines|instances|VMs"
    rf"|{INSTANCE})\b(?! (?:of [0-9]|per batch))",
    re.IGNORECASE,
)

_OF_ITS_SITE = (
    r" (?:of|in|on|from) (?:the|our|my) (?:`?[\w-]+`? ){0,3}(?:cluster|partition|supercomputer"
    r"|system|queue|lab|group|university|institute)\b"
)
"""Behind a machine: where it stands, among others."""

_AT_ITS_SITE = deferred(rf"({HOST}){_OF_ITS_SITE}", re.IGNORECASE)

_ONE_HOST = deferred(
    rf"(?:\b(?:an?|one|single|our|my|this|the|same|1)(?: single| x)? |^|[:/(,] ?|\b(?:on|using"
    rf"|with) )"
    rf"(?:(?!each|every|per|nodes|and|on|the|(?:[0-9]+|{'|'.join(COUNTS)}) )(?:[\w-]+|{SIGN}) )"
    rf"{{0,2}}?{HOST}(?:{_OF_ITS_SITE}(?=,? (?:with|having) |,? ?\())?"
    rf"(?:,? (?:with|of"
    rf"|containing|having|that has"
    rf"|which has|holding|equipped with|featuring|i\.e\.,?|that is,?) |,? ?\()"
    rf"(?:a total of )?{_OF_THEM_EACH}"
    rf"|(?<![\w.,$-])(?P<k>[0-9]+)(?: ?[x×]? ?|-)(?:NVIDIA )?(?:{SIGN}"
    rf"|GPU|card|NPU|chip|accelerator|GCD|way)[ -](?:{SIGN} )?(?:node|server"
    r"|machine|VM|instance|host|box|workstation|rig)\b"
    rf"|{_COUNTED.replace('<m>', '<j>')}(?:{SIGN}s?|{NOUN})(?: {NOUN})? (?:in|on|inside|from) "
    rf"(?:an?|one|a single|the same|our|my) {KIND}(?:node|server|machine|VM|instance|host|DGX)\b",
    re.IGNORECASE,
)
"""One machine and its devices: `a server with four A100`, `an 8xV100 server`."""

_SEVERAL_HOSTS = deferred(
    rf"\b(?:(?:(?<!GB )(?<!memory )each|every|per)\b(?! ?(?:{NOUN}|rank|step|iteration"
    r"|update|second|sample|sequence|batch|epoch|worker|process|token|image))|(?<!no )(?:nodes"
    r"|servers|hosts|machines|instances|boxes|VMs|workstations|clusters?)"
    r"|apiece)\b|/ ?(?:node|server|host)",
    re.IGNORECASE,
)

_TO_A_RANK = deferred(
    r"\b(?:one|a single|1) (?:GPU|device|accelerator|card|chip) per "
    r"(?:[\w-]+ ){0,2}(?:rank|process|replica|worker)\b",
    re.IGNORECASE,
)
"""How ranks are told off to devices, which counts none: `one GPU per data parallel rank`."""

_PRICED = deferred(r"\bcosts?\b|\bdraws?\b|\bdollars?\b|[$€]|\bper hour\b|/ ?h\b", re.IGNORECASE)
"""A machine as one pays for it, whatever ran on it."""

_OF_THOSE = deferred(
    rf"(?:\b(?:rented|used|use|took|take|booked|ran on|run on|have|had|on) |\()"
    rf"(?P<n>(?!(?:one|1) of (?:these|those|our|the) ){COUNT}) of "
    rf"(?:them\b|(?:these|those|our|the)(?P<h> {HOST}\b)|(?:these|those)\b)"
    rf"|\b(?P<m>{COUNT}) of (?:them|(?:these|those|the)(?P<k> {HOST}\b)|these|those)"
    r" (?:were |are )?used\b",
    re.IGNORECASE,
)


_OF_A_NUMBER_ELSE = deferred(
    r"(?:parallel\w*(?: of)?|\b[TPDCE]P)[ =]*$|\bper (?:GPU|card|device|rank)[,;(/ ]{1,3}$"
    r"|\b(?:batch(?:es)?|bs|bsz|GBS|MBS|samples|sequences|tokens)\b[^,;.()0-9]{0,24}$"
    r"|\b(?:NIC|HCA|adapter|rail|link|port|socket|CPU|core|switch|disk|drive|SSD|NVMe|cable)"
    r"(?:e?s)?[*_`]{0,2}[ ,(:=]{1,3}$",
    re.IGNORECASE,
)
"""In front of a number for each machine: it is a degree, a batch or parts of another kind, and
counts no devices."""


def _number(word: str) -> float:
    digits = COUNTS.get(word.casefold(), word.replace(",", ""))
    return float(digits) if digits[-1:].isdigit() else float("inf")


def _hosts(whole: str, text: str) -> Iterator[Part]:
    """Machines, and the devices of each of them."""
    told = dict[str, Part]()

    def put(name: str, found: re.Match[str], group: str) -> None:
        word = found[group].casefold()
        word = COUNTS.get(word, word.replace(",", ""))
        if not names_card(word):
            told.setdefault(name, Part(name, word, found.start(group)))

    every = [each for each in _HOSTS.finditer(text) if counts_hosts(text, each, "n")]
    every = [each for each in every if _number(each["m"]) <= LARGEST_NODE]
    if len(every) == 1:
        if not OWNS.search(text, 0, every[0].start("n")):
            put("nodes", every[0], "n")
        between = text[every[0].end("n") : every[0].start("m")]
        of_all = _of_all_in_brackets(between, int(_number(every[0]["m"])))
        put("gpus" if of_all else "gpus_per_node", every[0], "m")
    for each in _IN_EACH_HOST.finditer(text):
        group = next(g for g in "imkjg" if each[g])
        if not _OF_A_NUMBER_ELSE.search(text, 0, each.start(group)):
            part = group == "i" and _number(each["i"]) == 1 and _ONE_OF_IT.search(each[0])
            put("gpus" if part else "gpus_per_node", each, group)
    alone = [each for each in _HOSTS_ALONE.finditer(text) if counts_hosts(text, each, "n")]
    if len(alone) == 1 and not OWNS.search(text, 0, alone[0].start("n")):
        put("nodes", alone[0], "n")
    several = _SEVERAL_HOSTS.search(_AT_ITS_SITE.sub(r"\1", text))
    if not told and not several and not _PRICED.search(text):
        one = list(_ONE_HOST.finditer(text))
        if len(one) == 1:
            group = next(g for g in "mkj" if one[0][g])
            put("gpus_per_node", one[0], group)
            kind = group == "k" and _KIND_OF_HOST.match(text, one[0].start())
            if told and not (kind and not _A_SINGLE.search(text, 0, one[0].start())):
                told["nodes"] = Part("nodes", "1", one[0].start())
                told["gpus"] = told["gpus_per_node"]._replace(name="gpus")
    if "nodes" not in told and (those := _OF_THOSE.search(text)):
        group = "n" if those["n"] else "m"
        host = those["h"] or those["k"] or A_HOST.search(text, 0, those.start())
        put("nodes" if host else "gpus", those, group)
    yield from told.values()
    if "nodes" in told and _RAN_ON.search(text):
        yield Part("", "", 0)  # a statement by its verb
    if told and (device := only(whole)):
        yield Part("gpu", device.text, device.at)


_KIND_OF_HOST = deferred(r"[0-9]+-(?:GPU|card|NPU|chip|accelerator|GCD|way)\b")

_A_SINGLE = deferred(
    r"\b(?:an?|one|single|our|my|this|the|same|1)(?: [A-Za-z][\w-]*){0,2} $", re.IGNORECASE
)
"""In front of a kind of machine, of which there was one: `on an 8-GPU server`."""


def of_either(text: str) -> int | None:
    """Where devices in brackets behind a few nodes may be those of each, or of all: `two nodes (8
    H100)`; a multiplication sign is of each, and so is a word."""
    for found in _HOSTS.finditer(text):
        count, nodes = _number(found["m"]), _number(found["n"])
        between = text[found.end("n") : found.start("m")]
        few = 1 < nodes < count <= ONE_NODE and count % nodes == 0
        if (
            few
            and between.rstrip().endswith("(")
            and not _OF_EACH_SAID.search(text, found.end("n"))
        ):
            return found.start("m")
    return None


_OF_EACH_SAID = deferred(r"[x×*]|\beach\b|\bper\b|\bof\b|\btotal\b|\ball\b")


_RAN_ON = deferred(
    r"\b(?:were|was|are|is) used\b|\b(?:run|job|training|it|took|occup\w+|ran|trained"
    r"|tuned) .{0,20}"
    r"\b(?:on|took|takes?|occup\w+|with|over|across)\b|\bwe (?:used?|rented|took|had|ran)\b",
    re.IGNORECASE,
)

_WE_RAN = deferred(
    r"\b(?:we|I) (?:(?:only|just|always) )?(?:used|rented|took|ran|measured|benchmarked|timed)"
    r"(?: (?:on|with|everything on))? $"
    r"|\b(?:measured|benchmarked|timed|obtained|collected)\b(?:[^.;,]|\.(?=\w)){0,60}\bon $",
    re.IGNORECASE,
)
"""In front of a machine: all that was measured ran on it."""

_MAY_COUNT = deferred(rf"\b{HOST}\b|/node|of (?:them|these|those)\b|rack\b", re.IGNORECASE)


_OF_EACH_HOST = deferred(r"\b(?:per|each|every) (?:node|server|machine|host)\b ?:", re.IGNORECASE)
"""In front of devices that are counted of each machine: `per node: 8x A100`."""


_NODE_IS = deferred(
    r"(?P<first>^\W*|(?<=[,;:] ))?\b(?:(?:one|an?|1|each|every|the) (?:[\w-]+ ){0,2}?"
    r"(?:node|server|machine|host|box|instance)"
    r"(?: (?:of|in) (?:the |our )?(?:[\w`-]+ )?(?:partition|cluster|system))? "
    r"(?:is|=|equals|means|consists of|comprises|corresponds to|has|holds|contains|exposes)"
    r"|(?:these|our|all(?: the)?) (?:nodes|servers|machines|hosts|boxes|instances) "
    r"(?:have|hold|contain|expose|come with))"
    rf"[ *_]+(?P<n>[0-9]{{1,2}}|{'|'.join(COUNTS)}) (?:[GNTHX]PU|GCD|accelerator)s\b"
    r"(?! (?:or|to|and the (?:other|rest)|in total) )",
    re.IGNORECASE,
)
"""A node by the devices that it is or has: `One node is 8 GPUs.`, `these nodes have 4 gpus`"""


_SEEN = deferred(
    r"\b(?:Slurm|SLURM|PyTorch|HIP|ROCm|TensorFlow|JAX|programs|the system)\b[^.;]{0,30}"
    r"\bsees? [*_]*([0-9]{1,2})[*_]* (?:GPUs|devices|GCDs)\b"
)
"""How many devices programs see on a node."""

_DIES_AS_DEVICES = deferred(
    r"\b(?:GCD|die|tile)s? (?:is |are |being )?(?:(?:counted |treated |seen )?as|called) "
    r"(?:an? |one )?"
    rf"(?:GPU|device)s?\b[^.;0-9]{{0,24}}?\b([0-9]{{1,2}}|{'|'.join(COUNTS)}) "
    r"(?:of (?:them|these) )?(?:per|on each|in each|on every|on a|to a) (?:node|server|host)\b",
    re.IGNORECASE,
)
"""Dies that a text counts as devices, and how many a node has: `GCDs count as GPUs, 8 per node`."""

_IN_ALL_A_NODE = deferred(
    rf"[0-9]+ ?[x×] ?(?:[A-Z][\w-]* )?{SIGN}s? (?:modules? )?(?:per|/|a|in each) ?"
    r"(?:node|host|server)"
    r"\s?(?:=|\(|i\.e\.,?) ?\(?([0-9]{1,3}) (?:GCD|GPU|die|tile|core|device)s?\b"
)
"""Modules of a node, and how many devices those are: `4x MI250X per node = 8 GCDs`."""


def devices_of_a_node(text: str) -> tuple[str, int] | None:
    """How many devices a text says in as many words that a node has, and where."""
    whole = _IN_ALL_A_NODE.search(signed(text)) or _SEEN.search(text)
    if whole := whole or _DIES_AS_DEVICES.search(text):
        return COUNTS.get(whole[1], whole[1]), whole.start(1)
    found = _NODE_IS.search(text)
    return (COUNTS.get(found["n"], found["n"]), found.start("n")) if found else None


_TWICE = deferred(rf"(?<![\w.,$-])([1-9][0-9]{{0,3}}) ?[x×] ?([1-9][0-9]?) ?(?:[x×] ?)?(?={SIGN})")
"""Nodes and the devices of each in front of their name: `2x8 A100`."""


_OF_EACH_BEHIND = deferred(
    rf"{COUNT}{TIMES}(?:{DEVICES})(?: ?\([^()0-9]{{0,30}}\))? ?(?:(?:/ ?|\b(?:per|an?|each|every"
    rf"|(?:in|on|at) (?:each|every)|to an?) )(?:\w+ )?{HOST}\b|\)? ?virtual machines\b"
    rf"|(?:,(?: and)? (?!{COUNT} (?:{DEVICES}))(?=[^,]{{0,9}}[A-Za-z]{{2}})"
    rf"(?:(?! per |batch)[^,.;()/]){{2,30}}){{1,3}}"
    rf"(?:/ ?| per | in each ){HOST}\b"
    r"|\)? (?:VMs|workstations|rigs)\b|\) (?:nodes|servers|machines|hosts|boxes|instances)\b)",
    re.IGNORECASE,
)
"""A number of devices that are those of each machine: `4 GPUs/node`, `8x A100 VMs`."""

_EACH_BEHIND = deferred(rf"{COUNT}{TIMES}(?:{DEVICES}) (?:each|apiece)\b{ENDS}", re.IGNORECASE)

_SOME_HOSTS = deferred(rf"\b{PLURAL}\b", re.IGNORECASE)

_OF_HOSTS = deferred(rf"\b{PLURAL}\b[^.;,0-9]{{0,30}}$", re.IGNORECASE)


_OF_A_KIND = deferred(
    rf"\b(?:(?:each|every) (?:[A-Za-z][\w-]* ){{0,2}}(?:{HOST}|blade)\b[^.;:0-9]{{0,30}}"
    r"|(?:node|server|host)s?(?: (?:types?|config(?:uration)?s?|spec\w*|hardware))? ?[:=] ?"
    rf"|(?:nodes|servers|machines|hosts|VMs|boxes|instances|blades)\b(?: (?:used|here|that we"
    rf" (?:use|used)))?(?: (?:are|have|hold|contain|with|of|carry|house)\b|:| ?\()"
    rf"[^.;:()0-9]{{0,16}}(?:(?:[DH]GX[ -]?)?{SIGN}s?(?: (?:nodes|servers|boxes|systems))? ?"
    r"(?:\(|with ))?) ?(?:custom )?$",
    re.IGNORECASE,
)
"""In front of a number: machines of a kind, `Our nodes: `, `DGX H100 nodes (`, `each blade has `,
`the machines are DGX A100 (`."""

_COUNTED_KIND = deferred(
    rf"(?<![\w.-])(?:{COUNT}|a|an|one|single) ?(?:[x×*] ?)?(?:(?:[A-Za-z][\w-]*|{SIGN}) ){{0,3}}$",
    re.IGNORECASE,
)
"""In front of machines: how many of them there are."""

_COUNTED_AS = deferred(
    rf"{COUNT}{TIMES}[^.;()0-9]{{0,40}}?(?:[(,] ?(?={COUNT} GCDs?\))"
    r"|[ (,](?:i\.e\.,?|that is,?|=|or|act(?:s|ing)? as"
    r"|(?:which|that) (?:show up|appear|count|are seen|are visible) as|showing up as"
    rf"|(?:seen|visible|exposed) as) \(?)(?P<n>{COUNT}) (?:GCD|GPU|device|die|tile)s\b",
    re.IGNORECASE,
)
"""Modules of a node, and what programs count on it: `four MI250X, i.e. 8 GCDs`."""


def counted_otherwise(text: str, at: int) -> bool:
    """Whether modules counted at a place of a sentence are more devices to programs."""
    return _COUNTED_AS.match(signed(text), at) is not None


def _settled(parts: list[Part], plain: str) -> Iterator[Part]:
    """Parts of a sentence, each number of devices that is of each node as that, and none that
    another part gainsays."""
    parts = [_of_a_node(part, plain) for part in parts]
    nodes = next((_number(part.word) for part in parts if part.name == "nodes"), None)
    each = {part.at: part for part in parts if part.name == "gpus_per_node"}
    as_many = {at: found for at in each if (found := _COUNTED_AS.match(plain, at))}
    again = {found.start("n") for found in as_many.values()}
    for part in parts:
        if part.name == "gpus" and (
            (part.at in again and nodes != 1)
            or (nodes is not None and _number(part.word) < nodes)
            or (part.at in each and nodes != 1 and _of_hosts(part, plain))
        ):
            continue  # those of each, again
        if part.name in ("gpus_per_node", "gpus") and part.at in as_many:
            yield _as_counted(part, as_many[part.at], nodes or 1)
        else:
            yield part


def _of_hosts(part: Part, plain: str) -> bool:
    """Whether machines stand in front of a number, without one between them."""
    return _OF_HOSTS.search(plain, max(0, part.at - NEAR), part.at) is not None


def _as_counted(part: Part, found: re.Match[str], nodes: float) -> Part:
    """The devices that modules of a node are, if they are no product with the nodes."""
    count = _number(found["n"])
    if count not in (_number(part.word), 2 * _number(part.word)) or (
        nodes > 1 and count == nodes * _number(part.word)
    ):
        return part
    return part._replace(word=str(int(count)), at=found.start("n"))


def _of_a_node(part: Part, plain: str) -> Part:
    """A part that counts devices, as those of each node where words behind it say so."""
    if part.name != "gpus" or _number(part.word) > LARGEST_NODE:
        return part
    told = _OF_EACH_BEHIND.match(plain, part.at) or _of_a_kind(plain, part.at)
    if not told and _EACH_BEHIND.match(plain, part.at):
        told = _SOME_HOSTS.search(plain, 0, part.at)
    return part._replace(name="gpus_per_node") if told else part


def _of_a_kind(plain: str, at: int) -> re.Match[str] | None:
    """Where machines of a kind, of which nobody says how many, stand in front of a number.

    >>> texts = ("DGX H100 nodes (8 H100)", "Each blade houses 8", "4 nodes (8 H100)")
    >>> [_of_a_kind(signed(text), text.rindex("8")) is not None for text in texts]
    [True, True, False]
    """
    found = _OF_A_KIND.search(plain, max(0, at - NEAR), at)
    if found is None or _ONE_NODE.search(plain):
        return None
    counted = _COUNTED_KIND.search(plain, max(0, found.start() - 40), found.start())
    return None if counted else found


_SO_MANY_OF_THEM = deferred(
    rf"(?:\b(?:[GNT]PU|GCD|device|card|accelerator|chip)s|{SIGN}s?)(?: ?[,(;]| [–—-])"
    rf" ?(?:and |with )?{COUNT}"
    rf"(?= of them (?:per|an?|each|every|(?:in|on) (?:an?|each|every)|to an?) {HOST}\b)",
    re.IGNORECASE,
)
"""Devices, and in front of how many of them a node has: `A100 GPUs, eight of them per node`."""


def machines(text: str) -> Iterator[Part]:
    """Devices, how many of them, on how many nodes: field, word and place.

    >>> {p.name: p.word for p in machines("16 V100s (two DGX-1 boxes, eight GPUs each)") if p.name}
    {'gpu': 'V100', 'nodes': '2', 'gpus_per_node': '8', 'gpus': '16'}
    >>> {p.name: p.word for p in machines("32 sequences per node of 8 V100")}
    {'gpu': 'V100', 'gpus_per_node': '8'}
    >>> {p.name: p.word for p in machines("four MI250X a node, i.e. 8 GCDs")}
    {'gpus_per_node': '8', 'gpu': 'MI250X'}
    >>> {p.name: p.word for p in machines("16 A100 GPUs, eight of them per node")}
    {'gpus_per_node': '8', 'gpu': 'A100', 'gpus': '16'}
    """
    plain = signed(text)
    if " of them " in text:
        for found in _SO_MANY_OF_THEM.finditer(plain):
            text = f"{text[: found.end()]} devices {text[found.end() + 9 :]}"
        plain = signed(text)
    runs = _counts_of_runs(plain) or _THEN_MORE.search(plain) is not None
    for part in _in_chips(list(_settled(list(_told(text)), plain)), text):
        if not (runs and part.name in ("nodes", "gpus")):
            yield part


def _in_chips(parts: list[Part], text: str) -> list[Part]:
    """Parts with slices of TPUs as the chips that they have: `2x v6e-256` are 512; without their
    number where a slice is named by its cores."""
    slices = slices_in(text) if "-" in text else []
    if len(slices) != 1 or all(part.name != "gpu" for part in parts):
        return parts
    chips, law = chips_in(slices[0])
    begin = slices[0].start()
    of_them = [part for part in parts if part.name == "gpus" and begin <= part.at < slices[0].end()]
    rest = [part for part in parts if part not in of_them]
    alone = all(part.name not in ("gpus", "nodes") for part in rest) and counted_chips(text)
    known = law is None and (of_them or alone)
    return [*rest, Part("gpus", str(chips), begin)] if known else rest


_THEN_MORE = deferred(
    rf"{SIGN}s?,? (?:and |but )?(?:then|later|by now|now|soon) (?:I |we )?(?:had |got |have )?"
    r"(?:one|two|three|four|eight|another|a second|[0-9]+)\b(?! nodes)"
)
"""Devices of one time and of another: `one RTX 4090, then two`."""

_OF_RUNS = deferred(
    rf"(?<![\w.,])(?P<a>{COUNT}) (?:[\w-]+ )?(?P<noun>node|server|machine|host)s?\b"
    r"(?! (?:is|are|has|have|=|equals?|means|contains?|holds?|consists?|comprises?|exposes?)\b)"
    r"[^.;]{0,40}? (?:to|vs\.?|versus|and|or|against) (?:[^.;]{0,30}? )??"
    rf"(?P<b>{COUNT}) (?:[\w-]+ )?(?P=noun)s?\b",
    re.IGNORECASE,
)
"""Machines of several runs: `from one node (8 GPUs) to 16 nodes (128 GPUs)`."""


def _counts_of_runs(plain: str) -> bool:
    """Whether a text counts the machines of several runs."""
    every = _OF_RUNS.finditer(plain) if _MAY_COUNT.search(plain) else ()
    return any(_number(found["a"]) != _number(found["b"]) for found in every)


_ON_WHICH_A_PART_IS = deferred(
    r"\b(?:group|replica|cop(?:y|ies)|stage|instance|worker|expert|trainer|engine|actor)s? "
    r"(?:of (?:the|our) (?:model|weights) )?(?:(?:each|then|always) )?(?:spans?|spanned"
    r"|occup(?:y|ies|ied)"
    r"|takes?|took|uses?|used|covers?|sits? on|lives? on|needs?|fits? (?:on|in)) (?:exactly |all )?"
    rf"{COUNT} (?:{DEVICES})"
    rf"|(?<![\w.,]){COUNT} (?:{DEVICES}) (?:were|are) (?:allocated|reserved|booked"
    rf"|available),? but\b|\b(?:half|(?:a )?(?:quarter|third)|1/[2-8])(?: of)? an? (?:{HOST})\b",
    re.IGNORECASE,
)
"""Devices that a part of a run is on, `each expert group spans 16 GPUs`, or of which some were; a
part of a node, which is none."""


def _told(text: str) -> Iterator[Part]:
    """The parts of a sentence in each of the forms, some of them more than once."""
    text = _ON_WHICH_A_PART_IS.sub(lambda found: " " * len(found[0]), text)
    text = _TO_A_RANK.sub(lambda found: " " * len(found[0]), text) if " per " in text else text
    if defined := _NODE_IS.search(text):  # which says nothing of how many there were
        word = COUNTS.get(defined["n"], defined["n"])
        yield Part("gpus_per_node", word, defined.start("n"))
        if defined["first"] is not None:
            yield Part("", "", 0)  # a statement by its subject
        text = text[: defined.start()] + " " * len(defined[0]) + text[defined.end() :]
    plain = signed(text)
    twice = [found for found in _TWICE.finditer(plain) if int(found[2]) <= LARGEST_NODE]
    if len(twice) == 1 and not several(text):
        both = twice[0]
        yield Part("nodes", both[1], both.start(1))
        yield Part("gpus_per_node", both[2], both.start(2))
        yield Part("gpus", str(int(both[1]) * int(both[2])), both.start(1))
        yield _gpu(text, both.end())
        return
    outright, spans = said_outright(plain)
    device = only(text) if outright else None
    if device:
        yield Part("gpu", device.text, device.at)
    cut = outright.pop("slice", None)
    if cut and device and "gpus" not in outright and (chips := CHIPS.fullmatch(device.text)):
        outright["gpus"] = Part("gpus", chips[1], cut.at)
    yield from outright.values()
    workers = _WORKERS.search(plain) if "gpus" in outright else None
    on_them = workers and workers.start(workers.lastindex or 1) == outright["gpus"].at
    if on_them or ("nodes" in outright and _RAN_ON.search(plain)):
        yield Part("", "", 0)  # a statement by its verb
    text, plain = without(text, spans), without(plain, spans)
    for part in _told_of_rest(text, plain):
        if part.name not in outright and not _gainsaid(part, outright):
            yield part


def _gainsaid(part: Part, told: dict[str, Part]) -> bool:
    """Whether a part counts other devices than the nodes and those of each make."""
    if part.name != "gpus" or not {"nodes", "gpus_per_node"} <= told.keys():
        return False
    return _number(part.word) != int(told["nodes"].word) * int(told["gpus_per_node"].word)


def _told_of_rest(text: str, plain: str) -> Iterator[Part]:
    """The parts of a text that has no form that says all of it."""
    told = list(_counted_in(text))
    hosts = list(_hosts(text, plain)) if _MAY_COUNT.search(plain) else []
    if hosts and "(" in plain and of_either(plain) is not None:
        told, hosts = (
            [part for part in parts if part.name not in ("gpus", "gpus_per_node")]
            for parts in (told, hosts)
        )
    names = {part.name for part in hosts}
    yield from hosts
    of_each = _OF_EACH_HOST.search(plain) if not hosts else None
    for part in told:
        if part.name == "gpus" and of_each and int(part.word) <= LARGEST_NODE:
            yield part._replace(name="gpus_per_node")
        elif part.name not in names or not part.name:
            if part.name == "gpus" and {"nodes", "gpus_per_node"} <= names:
                each, count = (
                    next(p for p in hosts if p.name == n) for n in ("gpus_per_node", "nodes")
                )
                if int(part.word) != int(each.word) * int(count.word):
                    continue  # those of each, again
            if part.name == "gpus_per_node" and {"nodes", "gpus"} <= names:
                continue  # those of all, again
            yield part


def _counted_in(text: str) -> Iterator[Part]:
    """Devices, how many of them, on how many nodes, in the forms of lists."""
    if not (_OF_MACHINERY.search(text) or devices(text)):
        return
    plain = signed(text)
    nodes = _NODES.search(plain)
    if nodes and not counts_hosts(plain, nodes, 1):
        nodes = None
    named = [] if several(text) else list(_counted_behind(text, nodes))
    named = named or ([] if several(text) else list(_named_devices(text, nodes)))
    yield from named
    each = {part.at for part in named if part.name == "gpus_per_node"}
    if nodes and not OWNS.search(text, 0, nodes.start(1)):
        yield Part("nodes", nodes[1].replace(",", ""), nodes.start(1))
    elif (one := _ONE_NODE.search(plain) or _ALL_OF_ONE.search(plain)) and not beside_training(
        plain, one.start()
    ):
        yield Part("nodes", "1", one.start())
        if _WE_RAN.search(plain, 0, one.start()):
            yield Part("", "", 0)  # a statement by its verb
    alone = _ONE_GPU.search(plain)
    if alone and not (_MORE.search(plain) or _OF_A_PART.search(plain, 0, alone.start())):
        yield Part("gpus", "1", 0)
        if alone[1]:
            yield Part("", "", 0)  # a sentence of its own
    if alone is None and (one := _ONE_OF_EACH.search(plain)):
        yield Part("gpus", "1", one.start(1))
        yield Part("", "", 0)  # a statement by its verb
    counts = [
        count for count in _GPUS.finditer(plain)
        if not names_card(count[1]) and count.start(1) not in each
        and not of_several(plain, count, 1)
    ]  # fmt: skip
    if len(counts) == 1 and (not nodes or _of_all_nodes(counts[0][1], nodes[1], plain)):
        item = stands_alone(text, counts[0].start(), counts[0].end())
        yield Part("gpus", counts[0][1].replace(",", ""), counts[0].start(1), weak=not item)
    elif not counts and not nodes:
        yield from _in_words_alone(plain)
    workers = _WORKERS.search(plain)
    if workers and not names_card(workers[group := workers.lastindex or 1]):
        yield Part("gpus", workers[group].replace(",", ""), workers.start(group))
        yield Part("", "", 0)  # a sentence of its own


def _of_all_nodes(count: str, nodes: str, plain: str) -> bool:
    """Whether devices beside nodes are those of all: more than a node has of the kind, whole."""
    every, several = _number(count), _number(nodes)
    most = LARGEST_NODE if _OF_LARGE_NODES.search(plain) else USUAL_NODE
    return every > LARGEST_NODE or (every > most and several > 1 and every % several == 0)


USUAL_NODE = 8
"""Devices of a node, at most, but for a few kinds."""

_OF_LARGE_NODES = re.compile(r"V100|DGX-2|HGX-2|TPU|[Tt]rn|rainium|GCD|MI250|Gaudi")


def _in_words_alone(text: str) -> Iterator[Part]:
    """Devices of no name that a text counts in words, but for those of a part of a run."""
    few = _IN_WORDS_ALONE.search(text)
    if few is None or len({each[1] for each in _EACH_IN_WORDS.finditer(text)}) > 1:
        return
    goes_on = few[1].casefold() == "both" and not text[few.end() :].strip()
    if goes_on or _OF_A_PART.search(text, 0, few.start(1)):
        return
    yield Part("gpus", _NUMBERS[few[1].casefold()], few.start(1))
    if text.startswith(" each", few.end()):
        yield Part("", "", 0)  # a sentence of its own
