"""Settings that a text speaks of, in words that need not be understood.

In: a text. Out: the fields of a configuration that it says something of. Whoever speaks of one
nearer to a row than others do settles it: what those say of it no longer holds there, whether or
not the nearer words are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from assay.ingest.columns.number_formats import of_products
from assay.ingest.schema.record import REMEMBERED, Cell
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.sharding_names import sharding_told
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

BATCHES = ("batch_size", "micro_batch", "global_batch", "global_batch_tokens")

MACHINES = ("gpu", "gpus", "gpus_per_node", "nodes")
"""Fields of on what a run ran: who speaks of another device speaks of another count as well."""

_CHANGED = (
    r"(?:no|without|w/?o|not|half|halv\w+|doubl\w+|twice|thrice|tripl\w+|quarter\w*|more|less|fewer"
    r"|larger|bigger|smaller|higher|lower|increas\w+|decreas\w+|reduc\w+|rais\w+|drop\w*|remov\w+"
    r"|disabl\w+|off|instead|other|another|different|[0-9]+[x×]|max(?:imum|imal)?)"
)
"""Words that change how much there is of what stands beside them."""

_DEGREES = {
    "tp": ("TP", "tensor"), "pp": ("PP", "pipeline"), "dp": ("DP", "data"), "cp": ("CP", "context"),
    "ep": ("EP", "expert"), "vp": ("VPP?", "(?:virtual|interleaved)"),
}  # fmt: skip


def _degree(short: str, word: str) -> str:
    what = r"(?:paral\w+|(?<=virtual )pipeline(?: stages)?|(?<=pipeline )stages)"
    spelled = rf"{word}(?:[- ]model)?[- ]{what}(?: (?:size|degree|rank|group)s?)?"
    kind = rf"(?:{short}|{spelled})(?![A-Za-z])"
    return (
        rf"(?<![A-Za-z])(?:(?:{short}|{spelled})\s?(?:[:=]|of|is|to|at|now|→|->)*\s?[0-9]"
        rf"|[0-9]+(?:[- ]way)?[- ]{kind}|[0-9]+[- ]way {word}\b"
        rf"|{_CHANGED}(?: the)? {kind}|{kind} {_CHANGED}\b)"
    )


_SPOKEN: dict[tuple[str, ...], str] = {
    ("dtype",): (
        rf"(?-i:(?<![A-Za-z0-9]){NUMBER_FORMAT}(?![A-Za-z0-9]))"
        r"(?![ -](?:all-?(?:reduce|gather|to)|reduc\w+|gather\w*|comm\w*|grad\w*|master|optim\w*"
        r"|weights?|moments?|states?|residuals?|logits|norms?|softmax|accum\w*|kv|cache|loss|params?))"
        r"|\b(?:half|mixed|single|full|double|reduced|low(?:er)?)[- ]precision\b"
        r"|\b(?-i:AMP)\b|\bautocast\b|半精度|混合精度|demi-précision|précision mixte"
        r"|halbe[rn]? Genauigkeit"
    ),
    ("seq_len",): (
        r"(?:\b|_)seq(?:uence)?s?[ _-]?len\w*|\bsequences? (?:of|with|are|is|at|to)\b|\bseq\b"
        r"|\bcontexts?\b(?!\s?paral)|\bctx\b|\bMSL\b|(?:\b|_)max[ _-]?len\w*"
        r"|\bcutoff[ _-]len|\b(?:block|window)[ _-]size"
        rf"|\b(?:{_CHANGED}|long|short|longer|shorter) (?:the )?(?:sequences?|inputs?|documents?)\b"
        r"|[0-9]k sequences\b|[0-9]k?[ -]tokens?\b"
        r"(?!\s?(?:/|per (?:s|GPU|device|step|batch|iter)|a second|in (?:all|total)|batch))"
        r"|\b(?-i:[TSL]) ?(?:(?:=|is|to|now|→|->) ?)+[0-9]{3}|\blengths?\b"
        r"|(?<![0-9] )\bséquences?\b|\bséquences de [0-9]|(?<![0-9] )\bsequenz"
        r"|\bsequenzen (?:von|mit|der) |(?<![条个])序列|上下文|シーケンス長|系列長|시퀀스"
    ),
    ("global_batch", "global_batch_tokens", "batch_size"): r"\bglobal[ _-]batch|(?<![A-Za-z])GBS",
    ("micro_batch", "batch_size"): (
        r"\b(?:micro|mini|local|per[ -](?:GPU|device|accelerator|card|rank))[ _-]?batch"
        r"|(?<![A-Za-z])MBS"
        r"|\b(?:sequences?|samples?|images?|clips?|videos?) (?:per|an?|on each) "
        r"(?:GPU|device|accelerator|card|rank)\b"
        r"|(?<![\w.,])[0-9]+ (?:per|on each|to a) (?:GPU|device|accelerator|card|rank)\b"
    ),
    BATCHES: (
        r"(?<!per )(?<!per-)(?<![/a-z])(?<!global[ _-])(?<!micro[ _-])(?<!local[ _-])(?<!GPU[ -])"
        r"(?<!device[ -])(?<!next )(?<!previous )(?<!following )(?<!every )(?<!each )"
        r"batch(?:es|[ _-]?size)?s?\b(?![ _-](?:time|norm|latency|prefetch|load|collat|sampler"
        r"|assembl|transfer|cop)\w*|/)"
        r"|(?<![A-Za-z])BS(?![A-Za-z])"
        r"|\b(?:sequences|samples|images) (?:per|an?) (?:step|update|iteration)\b"
        r"|\blots?\b|批|バッチ|배치"
    ),
    ("accumulation",): r"\baccum(?:ul\w+)?\b|\bGAS\b|\bgrad[_ ]?acc\w*|梯度累[积加]|勾配累積",
    ("zero_stage", "sharding"): (
        r"\bZeRO\b(?![ -]?bubble)|\bFSDP2?\b|\bHSDP\b|\bDDP\b|\bshard(?:ed|ing)\b"
        r"|\bshards? (?=(?:the|its|all|over|across|optimi|param|weight|grad|state))"
    ),
    ("recompute",): (
        r"\b(?:activation|gradient|grad|selective|full|layer)[ -]?(?:checkpoint\w*|ckpt)"
        r"|\b(?:re-?comput|remat)\w*|(?:\b(?:no|with|without|w/o?)|\+) ?(?:checkpointing|ckpt|AC)\b"
        r"|\bcheckpoint(?:s|ed|ing)? (?:every|each|all)\b|重计算|激活检查点|再計算|재계산"
    ),
    ("attention",): (
        r"\b(?:flash|eager|fused|unfused|naive|vanilla|(?:Py)?Torch|math|Triton|cuDNN|TE|standard"
        r"|plain|native|default|mem(?:ory)?[- ]efficient)[-_ ]?att(?:ention|n)\b"
        r"|\b(?-i:FA-?[23])\b|\bsdpa\b|\bxformers\b|\bflash_attn\b"
        r"|\batt(?:ention|n)[ _-](?:impl\w*|backends?|kernels?)\b|\battention ?[:=]"
    ),
    ("sequence_parallel",): r"\bsequence[- ]parallel\w*",
    ("gpus", "nodes"): (
        r"(?<![\w.])(?:[0-9][0-9,]*|one|two|four|eight|sixteen|single|dual|half(?: of)?(?: the)?"
        r"|all(?: of)?(?: the)?|both|twice the|double the) ?[x×]?[- ]?"
        r"(?:(?!(?:per|an?|each|every|on|to)\b)[\w-]+ ){0,2}?"
        r"(?:GPUs?|GCDs?|NPUs?|TPUs?|HPUs?|cards?|devices?|accelerators?|chips?|nodes?|servers?"
        r"|machines?|hosts?|boxes|instances?)\b|\bmulti[- ]?(?:node|gpu)\b"
        r"|\b(?:GPUs?|cards?|nodes?) #?[0-9]{1,3}(?:(?:,| and|, and| ?&|[-–]) ?#?[0-9]{1,3}){0,7}"
        r" (?:(?:is|are|was|were|has|had|have|went) )?(?:taken|busy|in use|occupied|broken|dead"
        r"|down|missing|reserved|gone|offline|out of)\b"
        r"|[0-9二两四八] ?(?:[卡张块台]|个?节点)|双[卡机]|单卡|多机"
    ),
    MACHINES: (
        r"\b[a-z]+[0-9]+[a-z]*\.(?:[0-9]*x?large|metal)\b"
        r"|\b(?:newe?r?|older?|other|another|different|bigger|smaller"
        r"|(?<!per )second(?! (?:per|a|an|each|and|or)\b)|rented|borrowed)"
        r" (?:[\w-]+ )?(?:box|machine|server|node|cluster|workstation|cards?|GPUs?|laptop"
        r"|partition)\b"
    ),
    ("tp", "pp", "dp", "cp", "ep"): r"\bparallelism (?:degrees?|layout|strategy|plan)\b",
    **{(name,): _degree(*names) for name, names in _DEGREES.items()},
}  # fmt: skip

EVERY = frozenset({name for names in _SPOKEN for name in names} | {"gpu"})

_EVERY = {names: deferred(form, re.IGNORECASE) for names, form in _SPOKEN.items()}


@lru_cache(maxsize=REMEMBERED)  # rows of a table say the same of their runs again and again
def spoken_of(text: str, device: str = "") -> frozenset[str]:
    """The fields that a text says something of; one that names `device` alone says nothing new.

    >>> sorted(spoken_of("half the batch, 2k tokens")), sorted(spoken_of("w/o TP"))
    (['batch_size', 'global_batch', 'global_batch_tokens', 'micro_batch', 'seq_len'], ['tp'])
    >>> sorted(spoken_of("fused kernels, 21k tokens/s")), sorted(spoken_of("TP + PP"))
    ([], [])
    >>> "gpu" in spoken_of("same layout as on the V100s"), "gpu" in spoken_of("now on V100s")
    (False, True)
    >>> "gpus" in spoken_of("a100_80gb"), "gpus" in spoken_of("a100_80gb", "8xA100_80GB")
    (True, False)
    """
    found = {name for names, form in _EVERY.items() if form.search(text) for name in names}
    found -= _unchanged(text)
    known = {each.key.partition(".")[0] for each in devices(device)}
    named = {each.key.partition(".")[0] for each in devices(text)
             if _COMPARED.search(text, 0, each.start) is None}  # fmt: skip
    return frozenset(found | set(MACHINES if named - known else ()))


_COMPARED = deferred(
    r"\b(?:as|than|like|unlike|vs\.?|versus|compared (?:to|with)|(?:relative|similar) to)"
    r" (?:(?:those |that )?(?:on|for|of|with) )?(?:(?:the|an?|our|all|one) )?(?:(?:single|old) )?$",
    re.IGNORECASE,
)
"""Words before a device that a run is compared with: `same layout as on the V100s`."""


def _unchanged(text: str) -> set[str]:
    """The fields that a text says not to have changed: of those it says nothing new."""
    told = (each.groupdict() for each in _UNCHANGED.finditer(text))
    return {name for groups in told for name, word in groups.items() if word}


_UNCHANGED = deferred(
    r"(?:(?P<micro_batch>\b(?:(?:micro|local)[ -]?batch(?:[ -]size)?|MBS)s?)"
    r"|(?P<global_batch>\b(?:global[ -]batch(?:[ -]size)?|GBS)s?)"
    r"|(?P<seq_len>\b(?:sequence|context)(?:[ -]length)?|\bseq(?:[ _]?len)?)"
    r"|(?P<tp>\bTP)|(?P<pp>\bPP)|(?P<cp>\bCP)|(?P<ep>\bEP)"
    r"|(?P<accumulation>\b(?:gradient )?accumulation))"
    r"(?: (?:is|are|was|were|stays?|stayed|remains?|remained|kept|left|again|still|all))*"
    r" (?:unchanged|untouched|as (?:before|above)|the same)\b(?! (?:as|for|in|on|but)\b)",
    re.IGNORECASE,
)
"""A setting that is as it was: `mbs unchanged`."""


_KEPT: dict[tuple[str, ...], str] = {
    BATCHES: r"(?:(?:global|micro|mini|local)[- ]?)?batch(?:es)?(?:[- ]sizes?)?(?! ?per)",
    (*MACHINES, "network"): r"(?:nodes?|box(?:es)?|servers?|hosts?|machines?|GPUs|cards|NPUs|TPUs)",
    ("gpu", "network"): r"(?:hardware|cluster|system|partition)",
    ("seq_len",): r"(?:(?:sequences?|seq\.?|context)(?:[- ]len(?:gth)?s?)?)",
    (): r"(?:models?|data(?:set)?s?|code|software|container|precision|parallelism|layout)",
}

_ONE_KEPT = rf"(?:{'|'.join(_KEPT.values())})\b"

AS_ABOVE = deferred(
    rf"\b(?:same|identical) (?:(?:two|four|eight|sixteen|[0-9]+) )?{_ONE_KEPT}"
    rf"(?:(?:,? and |, |,? \+ | ?/ ?){_ONE_KEPT}){{0,5}}",
    re.IGNORECASE,
)
"""Words on what was as in the runs above: `Same node and batch`. Of no kind of node: that counts
none."""

_OF_KEPT = {names: deferred(rf"\b{form}\b", re.IGNORECASE) for names, form in _KEPT.items()}


def kept_as_above(text: str) -> frozenset[str]:
    """The fields that a text says to be as they were for the runs above.

    >>> sorted(kept_as_above("Same node and sequence length.")), kept_as_above("same kind of node")
    (['gpu', 'gpus', 'gpus_per_node', 'network', 'nodes', 'seq_len'], frozenset())
    """
    said = [found[0] for found in AS_ABOVE.finditer(text)]
    told = (names for names, form in _OF_KEPT.items() if any(map(form.search, said)))
    return frozenset(name for names in told for name in names)


_COUNTS = ("gpus", "nodes")

_NUMBERS_IN = deferred(
    r"(?<![\w.,])([0-9][0-9,]*(?:\.[0-9]+)?)([kKM]?)(?![\w]|\.[0-9])"
    r"|([0-9]+)(?=[ -]?[x×]|[卡张块台机节个])"
    r"|(?<![A-Za-z.])[A-Za-z]{2,4}[=_-]?([0-9]+)(?![\w.])"
    r"|(?<![A-Za-z])(one|single|two|dual|four|eight|sixteen)(?![a-z])|([单双两二四八])(?=[卡张块台机节个])",
    re.IGNORECASE,
)

_NUMBERS = {
    "one": 1, "single": 1, "单": 1, "two": 2, "dual": 2, "双": 2, "两": 2, "二": 2, "four": 4,
    "四": 4, "eight": 8, "八": 8, "sixteen": 16,
}  # fmt: skip

_THOUSANDS = {"k": (1e3, 1024), "m": (1e6, 1024**2)}

_MIXED = deferred(
    r"\bmixed\b|\bAMP\b|\bautocast|\bhalf\b|\blow|混合|半精度|mixte|halbe", re.IGNORECASE
)

_OF_HALF = {"bf16", "bfloat16", "fp16", "float16", "half"}


@lru_cache(maxsize=REMEMBERED)
def _numbers_in(text: str) -> frozenset[float]:
    """All numbers of a text, those in thousands both ways."""
    found = set[float]()
    for each in _NUMBERS_IN.finditer(text):
        digits, sign, *others = each.groups()
        word = digits or next(filter(None, others))
        number = float(_NUMBERS.get(word.casefold(), 0) or word.replace(",", ""))
        found |= {number * scale for scale in _THOUSANDS.get((sign or "").casefold(), (1,))}
    return frozenset(found)


_THING = (
    r"(?:GPU|GCD|NPU|TPU|HPU|card|device|accelerator|chip|node|server|machine|host|rank|worker)s?"
)

_OF_EACH = deferred(
    r"(?:(?:\b[0-9]+|\bone|\btwo|\bfour|\beight) [\w-]+ )?"
    r"(?:\b(?:per|each|every|same|that|of the|number of)[ -]|"
    rf"/ ?|\b(?:on|to|in) (?:each|every|a|the same) ){_THING}\b"
    r"|单[卡机](?=的?(?:平均)?(?:吞吐|显存|性能|速度|算力|batch|批|利用))|每[卡机]",
    re.IGNORECASE,
)
"""Words of each device, or of the same: they count none."""


def settled_nearer(values: Mapping[str, Cell], nearer: Mapping[int, str]) -> frozenset[str]:
    """Fields of values that a text nearer to their rows, by its line, speaks of in other words.

    >>> far = {"nodes": Cell("1", 3, 1), "gpus": Cell("8", 3, 4), "seq_len": Cell("4096", 3, 9)}
    >>> sorted(settled_nearer(far, {5: "Two nodes"})), settled_nearer(far, {5: "8 GPUs, 4k seq"})
    (['gpus', 'nodes'], frozenset())
    >>> settled_nearer(far, {5: "LoRA r=16, same sequence length:"})
    frozenset()
    """
    apart = set[str]()
    for at, text in nearer.items():
        above = {n: c for n, c in values.items() if 0 < c.line < at and c.state == "value"}
        if not above or len(text) > LONGEST:
            continue
        told = _settles(text)
        agree = {name for name in told & above.keys() if _agrees(name, above[name], text)}
        if "gpus" not in above and (whole := _of_all_nodes(above)):  # `32 GPUs` below 4 nodes of 8
            agree |= {"nodes"} if "gpus" in told and _agrees("gpus", whole, text) else set()
        if not agree.isdisjoint(_COUNTS):  # `8 GPUs` where those were said to be of one node
            lines = {above[name].line for name in agree.intersection(_COUNTS)}
            agree |= {name for name in _COUNTS if name in above and above[name].line in lines}
        apart |= (told & above.keys()) - agree
    return frozenset(apart)


def _of_all_nodes(values: Mapping[str, Cell]) -> Cell | None:
    """The devices of all nodes that one line counts, with those of each."""
    nodes, each = values.get("nodes"), values.get("gpus_per_node")
    if nodes is None or each is None or nodes.line != each.line:
        return None
    if not (nodes.text.isdecimal() and each.text.isdecimal()):
        return None
    return nodes._replace(text=str(int(nodes.text) * int(each.text)))


@lru_cache(maxsize=REMEMBERED)  # every table asks the headings above it, which tables share
def _settles(text: str) -> frozenset[str]:
    """Fields that a text speaks of, whatever device it names."""
    kept = _unchanged(text)
    text = of_products(AS_ABOVE.sub(" ", _STAYS.sub(" ", text)))
    own = _OF_EACH.sub(" ", text)
    forms = ((names, form) for names, form in _EVERY.items() if names != MACHINES)
    return frozenset(
        name for names, form in forms if form.search(own if names == _COUNTS else text)
        for name in names if name not in kept
    )  # fmt: skip


_STAYS = deferred(
    r"\b(?:(?:global|total|effective|overall|whole|micro)[ -])?(?:batch(?:[ -]sizes?)?"
    r"|sequence(?:[ -]lengths?)?|context(?:[ -]length)?)"
    r" (?:(?:always|also) )?(?:(?:stay(?:s|ed)|remain(?:s|ed)|(?:is|was|being) (?:kept|held|left)"
    r"|is|was|kept|held) (?:the same|constant|unchanged|fixed)\b(?!,? (?:at|to|as|=|for|per|of)\b)"
    r"|(?:stay(?:s|ed)|remain(?:s|ed))(?=\s*(?:[),;:.](?![0-9])|$)))",
    re.IGNORECASE,
)
"""Settings that are not changed, and are as was said farther above: `so that the batch stays the
same`, `the batch stays`."""

LONGEST = 200
"""Letters of a heading or a caption."""


_SEVERAL = deferred(
    r"[0-9]k? ?(?:GPUs?|cards|nodes|卡|机|节点)?\s*"
    r"(?:\b(?:and|or|vs\.?|to)\b|[/与和或至到–、-])\s*[0-9]",
    re.IGNORECASE,
)
"""Several values of one setting: `8 and 16 GPUs`."""


def _agrees(name: str, cell: Cell, text: str) -> bool:
    """Whether a text that speaks of a setting says the value of a cell."""
    if name == "dtype":
        named = cell.text.casefold() in text.casefold()
        return named or (cell.text.casefold() in _OF_HALF and _MIXED.search(text) is not None)
    if name == "sharding" and "FSDP" in text:  # which may come and go in one sentence
        told = sharding_told(text)
        return told is not None and told[0] == cell.text
    try:
        number = float(cell.text.replace(",", "")) * cell.scale
    except ValueError:
        return cell.text.casefold() in text.casefold()
    said = frozenset() if _SEVERAL.search(text) else _numbers_in(text)
    return number in said or (name in _COUNTS and number > 1 and not _NUMBERS_IN.search(text))
