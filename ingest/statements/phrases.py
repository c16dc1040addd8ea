"""Configuration said in words, in lists and in records of objects, inside a longer line.

In: a line of a document. Out: field → cell of what it says. A line is taken apart at its commas: a
part is a label and its value (`mbs=4`, `sequence length 8192`), a number of devices (`8xH100 GPUs`,
`4 nodes`), a ZeRO stage or a number format as a precision. One such part alone is prose, unless the
line speaks of the numbers below; two that say a field differently say nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from assay.ingest.columns.composite import ONE_NODE, cards_of, hosts_of_cards
from assay.ingest.columns.number_formats import ALONE, EVERY, LISTED, WIDE, computed_in
from assay.ingest.columns.other_runs import without_reasons
from assay.ingest.columns.titles import LARGEST_NODE, in_english, titled, without_some
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.command_lines import ASIDE
from assay.ingest.statements.sentences import (
    OTHERS,
    Part,
    computed_again,
    of_every_run,
    parts,
    stands_alone,
    switched,
)
from assay.ingest.statements.values import OF_MACHINES, cell_of, said
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

LEAST = 2
"""Parts that make a line of prose a statement; one is enough where it speaks of what is below."""

_DEVICE = rf"(?:[DH]GX[ -]?)?({SIGN})"

_APART = r"(?<![^\W\u4e00-\u9fff])"
"""Behind no letter or digit but a Chinese one: `单机8卡A100`."""

_COUNT = (
    rf"{_APART}(?<![.,$])(?<![0-9][-–])(?<![0-9] [-–] )(?<![0-9] to )(?<!GX-)"
    r"(?<![Uu]p to )(?<!at most )(?<!at least )(?<!many as )(?<!than )(?<!over )"
    r"([0-9][0-9,]*)"
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
    r"|^\W*(?:compute )?nodes?:[^;]{0,80}$|\b[a-z]+[0-9][\w-]*\.(?:[0-9]*xlarge|metal)"
    r" (?:has|have|with|is) $",
    re.IGNORECASE,
)
"""In front of a number of devices: they are those of each node."""

_COUNTS = deferred(
    r"\b(?:of|on|for|with|using|across) [0-9][0-9,]*(?:, [0-9][0-9,]*)*,? (?:and|or) [0-9][0-9,]* ?"
    rf"[x×]? ?(?:NVIDIA |AMD )?{SIGN}"
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

_BOXES = deferred(rf"{_COUNT} ?[x×*]? ?(?:NVIDIA )?[DH]GX[ -]({SIGN})")
"""Machines of several devices each, counted: `4x DGX H100`."""

_OWNS = deferred(
    r"\b(?!(?:job|run|jobs|runs|experiments?|training|setup|set-up) )[\w()-]+ "
    r"(?:has|owns|consists of|comprises|provides|offers|operates|is (?:made (?:up )?|built )of)"
    r"(?: (?:a total of|up to|about|over))? $"
)
"""In front of a number: so many a site has, on however many a job ran."""

_VENDED = deferred(r"NVIDIA|AMD|Intel|TPU|Gaudi|Trainium|Ascend")
"""The name of a maker, or one that nothing but a device has."""

_LISTED_DEVICE = deferred(
    rf"(?:^\W*|[,;:(，；：（、|] ?)(?:GPUs?:? )?{_DEVICE}"
    r"(?=\s*(?:[,;.()|，；。（）、]|$)|(?: GPUs?| cards?)\b)"
)
"""A device that is a part of a list, without a number."""

_ON = deferred(
    r"\b(?:on|using|uses?|used|(?:is|are|was|were) from)"
    r" (?:an? |the |our |la |le |une? |(?:one|a single) (?=[DH]GX)|up to [0-9][0-9,]* ?[x×]? ?)?"
    r"(?:(?:(?i:free|rented|cloud|local|partition|Google|Colab|Kaggle|AWS|GCP|Azure|Lambda|RunPod)"
    r"(?:'s)?) ){0,3}"
    rf"{_DEVICE}(?![A-Za-rt-z0-9])"
    rf"|\b[Nn]odes? with (?:the |our )?{_DEVICE}s? (?:GPUs|cards|accelerators)\b"
    rf"|在[^，。；,;A-Za-z0-9]{{0,8}}{_DEVICE}[^，。；,;]{{0,14}}?上"
)
"""A device that something ran on, however many there were."""

_IN_WORDS = deferred(
    r"\b(one|single|dual|two|four|eight|sixteen) [*_]{0,2}(?:(?:NVIDIA|AMD|Intel) +)?"
    rf"{_DEVICE}s?(?![A-Za-z0-9])"
    r"(?![ -](?:nodes?|servers?|machines?|instances?|hosts?|systems?|boxes|pods?|DGX)\b)",
    re.IGNORECASE,
)

_IN_WORDS_ALONE = deferred(
    r"(?:\b(?:train\w*|(?:pre|fine)-?t\w+|r[ua]ns?|running|measured|benchmark\w*|timed|tested|taken"
    r"|experiments?)\b[^.;]{0,140}?\b(?:on|using|with|use[sd]?)|[,;(]|^\W*(?:on|using|with))"
    r" [*_]{0,2}(?:a )?(one|single|two|four|eight|sixteen)[*_]{0,2} (?:[0-9]{1,3} ?Gi?B )?"
    r"(?:GPU|NPU|card|accelerator|device|chip)s?"
    r"(?=(?: here)?\s*(?:[,;:.)]|$)"
    r"| (?:unless|each|with|for (?:all|every|each)|and|in (?:bf|fp|float))\b)",
    re.IGNORECASE,
)
"""Devices of no name, counted in words: `we train on one GPU each`, `(bf16, one card)`."""

_OF_A_PART = deferred(
    r"\b(?:rank|process(?:es)?|worker|replica|actor|stage|expert|shard|server|teacher|tokeni[sz])",
    re.IGNORECASE,
)
"""In front of a device: a part of a run is on it, and not the whole."""

_RATED = deferred(
    r"\b(?:numbers|values|figures|rates?|speeds?|throughputs?|performance|MFU|T?FLOPS?|tokens)\b"
    r"[^.;]{0,40}\b(?:for|of|on|per) (?:one|a single|single|each)\s*$",
    re.IGNORECASE,
)
"""In front of a device: rates are those of one, however many there were."""

_BEHIND_NAME = deferred(
    rf"({SIGN})s? ?(?:[x×*] ?([0-9]{{1,5}})(?![\w.]|,[0-9]| ?(?:nodes?|GB|GiB|台|机|节点))"
    r"|([0-9]{1,5}) ?(?:장|대|개|枚|基)(?!\s*(?:の)?(?:노드|ノード)))"
)
"""A device and how many of it: `A100-80GB x8`, `H100 64枚`."""

_OF_SEVERAL = deferred(
    r"\b(?:each|every|per|nodes?|servers?|machines?|hosts?|instances?|box(?:es)?|cluster|partition"
    r"|supercomputer|site|has|have)\b|/node|ノード|サーバ|クラスタ|あたり|노드|서버|클러스터|당 "
    r"|节点|每|集群|服务器|台",
    re.IGNORECASE,
)
"""Words beside which a number behind the name of a device may be that of each machine, or of all
that a site has."""

_ONE_GPU = deferred(
    r"((?:^|[.;,(] ?)\W*(?:an? )?(?:single|one|1)[ -]GPU(?=\W*$|[.;,)]))"
    r"|^(?!.*\b[0-9]+ ?[x×]? ?GPUs\b)"
    r"(?!.*\b(?:each|every|per|ranks?|process(?:es)?|stages?|experts?|workers?|fits?)\b)"
    r".*\b(?:on|using) (?:an? )?(?:single|one) GPU(?=[.,;)]|$| with\b)",
    re.IGNORECASE,
)
"""A sentence of one device of no name: `Single GPU.`"""

_NUMBERS = {"one": "1", "single": "1", "dual": "2", "two": "2", "four": "4", "eight": "8",
            "sixteen": "16"}  # fmt: skip

_CARDS = deferred(
    rf"^(?!.*(?:每|/ ?卡|单卡)).*?{_COUNT} ?[卡张块](?:卡)?(?=\s*(?:[，,。；;、（(]|$))"
)
"""Cards that are counted apart from their name: `Ascend 910B，8 卡，FP16`."""

_EACH = deferred(
    rf"\b(?:each|every|nodes?|instances?|servers?|machines?|hosts?)\b[^.;:]{{0,40}}?"
    rf"\b(?:with|contains?|has|having|of)\b[^.;:0-9]{{0,20}}{_COUNT} ?[x×]? ?`?{_DEVICE}",
    re.IGNORECASE,
)

_OF_NODES = deferred(r"\b(?:each|every|nodes|servers|machines|hosts)\b", re.IGNORECASE)
"""In front of a count in words: it is of one of them."""

_NODES = deferred(
    rf"(?<!batch of ){_COUNT} ?(?:[x×] ?)?(?:`?[a-z][\w-]*\.[0-9]*[a-z]+`? )?"
    r"(?:nodes|servers|hosts|instances(?! (?:of [0-9][0-9,]*(?:\s*[),.;]|\s*$| tok)|per batch)))\b"
)
"""Machines; `1024 instances of 4096` are sequences of so many tokens."""

_GPUS = deferred(
    rf"(?<!with )(?<!of )(?<!has )(?<!have )(?<![x×] ){_COUNT} "
    r"(?:GPUs|GCDs|NPUs|IPUs|HPUs|cards|devices|accelerators|chips)\b"
    r"(?! ?(?:each|per|in each|on each|/))"
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
    r"(?![\w-])",
    re.IGNORECASE,
)

_WORKERS = deferred(
    rf"\b(?:(?:on|across|with|using|used) {_COUNT}|(?:images|samples|sequences) over ([0-9]+)) "
    r"(?:devices|GPUs|gpus|IPUs|HPUs|accelerators)\b(?! (?:each|per|in each|on each))"
)

_ALL_ARE = deferred(
    r"\b(?:devices|GPUs|accelerators|cards|nodes|machines|servers)\b (?:used )?(?:are|were)"
    rf"(?: all)? {_DEVICE}"
)

_SYSTEM = deferred(
    r"(?:\b(?:machines?|hardware|system|GPUs?|devices?|accelerators?)|机器|硬件|显卡|加速卡)[:：] ?"
    rf"{_DEVICE}(?![A-Za-z0-9])",
    re.IGNORECASE,
)

_PER_NODE = deferred(
    rf"{_COUNT} (?:GPUs?|devices|accelerators) (?:each|per node|on each node)\b"
    rf"|\bnodes? ?(?:[x×]|of|with) ?{_COUNT} (?:GPUs|devices|accelerators)\b"
)

_IN_ALL = deferred(r"\bStarting with ([0-9]+) processes|\bMEMBER: [0-9]+/([0-9]+)")
"""Processes of a job as Lightning and its Fabric count them, one for each device."""

_HAS = deferred(r"\b[Mm]odel has ([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{6,}) parameters\b")

_NAMED = deferred(
    r"\W*(?:model(?:[_ ]name(?:_or_path)?)?|模型(?:名称)?)[\"']?\s*[:：=]\s*[\"']?"
    r"((?:[\w.-]+/)?[A-Za-z][\w.]*(?:-[\w.]+)*?[-_ ]?[0-9]+(?:\.[0-9]+)?[bBmM](?:-[\w.]+)*)"
    r"[\"',]*\s*",
    re.IGNORECASE,
)

_BY_NAME = deferred(
    r"\W*(?:device|gpu|accelerator)(?:[_ ](?:name|type))?[\"']?\s*[:=]\s*[\"']?"
    rf"({SIGN}[\w -]*?)[\"',]*\s*",
    re.IGNORECASE,
)

_HOSTS = deferred(r"\[([0-9]+) hosts\] x \[([0-9]+) GPU/host\]")

_ZERO = deferred(
    r"\bZeRO(?:[ -]?stage)?[ -]?([0-3])\b(?!\s*(?:,|and|/|or|vs)\s*[0-3])", re.IGNORECASE
)

_OF_NOTHING_ELSE = deferred(
    r"\W*(?:(?:here|in all runs|throughout)[, ]+)?(?:(?:the|our|every|all|each)\s)?"
    r"(?:[\w-]+\s){1,4}?(?:is|was|are|were)\s"
    r"(?:(?:always|kept|set|fixed|held|constant(?:ly)?) )*(?:(?:to|at) )?"
    r"[0-9][0-9,]*[kKMB]?(?:\s(?:tokens|sequences|samples|images|examples))?"
    r"(?:\s(?:(?:in|for|across)\s(?:all|every|each|both)\s[\w ]{1,24}|throughout|everywhere"
    r"|(?:per|on each|for each) \w+))?"
    r"(?:\W*$|(?: ?[,;–—] | ?\(| and )(?!.*\b(?:for|in|on) (?:the|a|some|one)\b)"
    r"(?!.*\b(?:except|but|while|whereas|respectively|later|then|other|otherwise|increas\w+"
    r"|doubl\w+|reduc\w+|grow\w*)\b))",
    re.IGNORECASE,
)
"""A sentence whose subject is a label, and that gives it a value."""

_LABEL_AND_VALUE = deferred(
    r"\W*[A-Za-z][\w-]*(?: [A-Za-z][\w-]*){1,4} [0-9][0-9,]*[kK]?(?: (?:tokens|sequences))?\W*"
)
"""A sentence that is nothing but a label and its value: `Sequence length 4096.`"""

_ZERO_ALONE = deferred(
    r"\W*(?:(?:DeepSpeed|with|using|optimi[sz]er)[ :]+)*ZeRO[ -](?:stage[ -]?)?[0-3]"
    r"(?:,? \(?(?:with|no|without) [\w ]{3,30}\)?)?\W*",
    re.IGNORECASE,
)
"""All of a line: `DeepSpeed ZeRO-3`."""

_NOTED = deferred(
    r"\W*(?:trained|training|fine-?tun(?:ed|ing)|measured|benchmarked|timed|run)"
    r"(?: (?:is|was) (?:done|run|performed))? (?:with|on|in|at|using)\b"
    r"(?!.*\b(?:is|are|was|were|has|have|can|takes?|took|gives?|makes?|leads?|improves?|reduces?"
    r"|increases?|helps?|works?|becomes?|does|do|uses?|the same|then|tuned|tested|evaluated)\b)",
    re.IGNORECASE,
)
"""How a sentence without a verb begins that notes how the runs of a table ran."""

_OURS = deferred(
    r"(?!.*\b(?:also|only|first|initially|sometimes|part|some|for (?!all|every|both|each|train)"
    r"|besides?|another|other|additionally|optional\w*|reduc\w+|master|baselines?)\b)"
    r"\W*(?:here |so )?(?:we|I|(?:the |our )?(?:training|fine-?tuning|(?:models?|networks?|runs?) "
    r"(?:is|are|was|were)))\b[^.;:]{0,120}?"
    r"\b(?:train|fine-?tun|pre-?train|ran|run|use[sd]?|measured?|benchmark|time[ds]?|done)",
    re.IGNORECASE,
)
"""How a sentence begins that says how its authors ran all that they ran."""

_OF_WHAT_IS_BELOW = deferred(
    r":\s*$|^\W*(?:[a-z]+ )?(?:settings|setup|configuration|hyper-?parameters)\b|"
    r"\bunless (?:otherwise )?(?:noted|stated|specified|mentioned|said|indicated|given)\b|"
    r"\bunless [\w' -]{1,40} (?:says?|states?|notes?|indicates?) (?:otherwise|so)\b|"
    r"[若如]无特[殊别]说明|除非[另特]有说明|"
    r"\b(?:numbers|results|tables?|measurements|benchmarks|experiments|runs|rows|entries|baseline)\b",
    re.IGNORECASE,
)

_ASIDE = deferred(
    r"\b(?:(?<!excluding )(?<!without )(?<!minus )(?:eval|evaluation|valid(?:ation)?)"
    r"|inference|generat(?:e|ion|ed)|prompts?"
    r"|decod(?:e|es|ed|ing)|prefill|tokeni[sz]er|vs\.?|versus"
    r"|(?<!accumulated )(?<!accumulating )(?<!gradients )over"
    r"(?! (?:the )?(?:last |first |all )?[0-9][0-9,]* (?:GPUs|ranks|nodes|devices|cards|chips"
    r"|epochs|(?:training |measured )?(?:iterations|steps|batches)|micro-?batches))|than|"
    r"instead of|compared|(?:for|in) comparison|slower|against|"
    r"rather|whereas|could|would|"
    r"might|can (?:run|be)|as few as|at least|minimum|different (?:to|from|than|outcome)|"
    r"earlier|previously|formerly|initially|originally|later|tried|should|if"
    r"|e\.g|for (?:example|instance))\b|(?<!对)比如(?!下)|例如|代表",
    re.IGNORECASE,
)
"""Words beside which a number is of something else than the run."""

_FOR_COMPARISON = deferred(r"\b(?:for|in|as a) comparison\b,?", re.IGNORECASE)

_ON_WHAT = deferred(
    rf"\W*(?:(?:and|then|now|here) )?(?:on|with|using) (?:an? |one |my |our )?(?:single )?"
    rf"(?:[0-9]+ ?[x×]? ?)?(?:NVIDIA |AMD )?{SIGN}[^.;0-9]{{0,20}}(?:\([^()]*\)[^.;0-9]{{0,20}})?"
    r"\b(?:for|in) comparison[,:]?\s*",
    re.IGNORECASE,
)
"""A line on what other numbers were taken, which follow it: `On one A100 I get for comparison`."""


def _of_what_follows(text: str) -> str:
    """A sentence that opens a table, without words that only say what that is there for."""
    return _FOR_COMPARISON.sub(" ", text.replace(" tried ", " "))


def _compared(text: str) -> str:
    """The same where it has no colon at its end and is of nothing else."""
    told = "comparison" in text and _ON_WHAT.fullmatch(signed(text))
    return _FOR_COMPARISON.sub(" ", text) if told else text


_OPENS = deferred(r":(?:\\n)?[\"',\s]*$")
"""How a line ends that opens a table, in a notebook as well."""

OF_ONE = deferred(r"(?<!zero[ _-])\b(?:stage|rank|stage_id)\s*[=:]\s*[0-9]", re.IGNORECASE)
"""A line about one rank or one stage of a pipeline: its layers are not the model's."""

OF_ALL = deferred(
    r"\ball (?:of )?(?:the |our |these )?"
    r"(?:experiments|runs|results|measurements|numbers)\b"
    r"(?! (?:below|here|in this (?:sub-?)?section|in this table|that follow))",
    re.IGNORECASE,
)
"""A line about every measurement of its document, those above it too."""

MEASURED = deferred(
    r"[0-9]\s*(?:[TGP]FLOP|tok(?:en)?s?/s|samples?/s|s(?:ecs?)?/it|ms/it|it/s|%\s*MFU)"
    r"|\b(?:MFU|HFU|TFLOPs?|TFLOPS|throughput|speed|latency)\b\W{0,3}[0-9]",
    re.IGNORECASE,
)
"""A line with a measurement: what it says of the configuration, it says of itself."""

_SAID_SO = deferred(
    r"\b(?:applied|using|enabled) (selective|full) activation (?:check|recomp)", re.IGNORECASE
)

_TOTAL = deferred(r"\bsize: ([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{6,}) total parameters\b")

_MESH = deferred(r"\bdevice mesh with \[([^\[\]]*)\], \[([0-9, ]+)\]")

_RECORD = deferred(r"\b(?:[A-Z]\w*(?:Args|Config|Arguments)|Namespace)\((.{10,})")

_IN_RECORD = deferred(r"\b([a-z]\w*)=([0-9]+|None|True|False|'[^']*')(?=[,)\s]|$)")

_CAPACITY = deferred(rf"\bcapacity: {_DEVICE}(?: [A-Z0-9]+)* with [0-9.]+ ?GiB")


MESH = {"dp_replicate": "dp", "dp_shard": "dp", "dp": "dp", "tp": "tp", "pp": "pp", "cp": "cp",
        "ep": "ep"}  # fmt: skip
"""Dimensions of a device mesh by the degree that they are of; two may be of one."""

OF_RECORDS = {"dim": "hidden"}
"""Names inside a record of a model's arguments that mean something elsewhere."""


def phrases(line: Line, least: int = LEAST) -> dict[str, Cell]:
    """Configuration that a line says in words, by field, if it says `least` things.

    Of a line that is known to speak of a run one is enough, whatever it may mean elsewhere.

    >>> said = phrases(Line(1, "- on 8xH100 GPUs, batch size 1, sequence length 8192", 1, {}))
    >>> {name: cell.text for name, cell in said.items()}
    {'gpus': '8', 'gpu': 'H100', 'batch_size': '1', 'seq_len': '8192'}
    >>> said = phrases(Line(1, "bf16 on four nodes, each has eight NVIDIA A100 GPUs", 1, {}))
    >>> said["gpus_per_node"].text, "gpus" in said
    ('8', False)
    >>> phrases(Line(1, "We also tried a sequence length of 4096.", 1, {}))
    {}
    """
    found: dict[str, dict[str, Cell]] = {}
    spoken: list[str] = []
    for begin, text in _sentences(_in_digits(without_some(in_english(line.text)))):
        opens = _OPENS.search(text)  # what was tried is in the table that it opens
        if _ASIDE.search(_of_what_follows(text) if opens else _compared(text)):
            continue
        spoken.append(text)
        few = 1 if _KEYED.match(text) else least
        told = _told(text, few, logged=bool(line.prefix))
        alone = _alone(text, told)
        told += switched(text) if told or alone else ()
        told += _titled(text, told) if len(told) >= LEAST else ()
        below = told and (_OF_WHAT_IS_BELOW.search(text) or of_every_run(text))
        if alone or len(told) >= few or below:
            for name, word, at, _ in told:
                if name:
                    cell = _cell(name, word, line, begin + at)
                    if cell is None:
                        return {}  # a degree of zero is the number of a rank
                    found.setdefault(name, {}).setdefault(word, cell)
    said = {name: next(iter(each.values())) for name, each in found.items() if len(each) == 1}
    lengths = found.get("seq_len", {})
    if len(lengths) > 1 and len(set(_LENGTH.findall(" ".join(spoken)))) > 1:  # who knows whose
        said["seq_len"] = next(iter(lengths.values()))._replace(state="unknown")
    if "gpu" in found and several("; ".join(spoken)):  # numbers of which of them
        said = {n: cell for n, cell in said.items() if n not in (*OF_MACHINES, "gpu")}
    if "gpus" in said and len({m[1] for m in _EVERY_COUNT.finditer(" ".join(spoken))}) > 1:
        del said["gpus"]  # of one of several runs
    in_form = _IN_A_FORM.search(line.text) or devices(line.text)
    return said | _by_form(line) if in_form else said


def _told(text: str, least: int, *, logged: bool) -> list[Part]:
    """Parts of a sentence, weak ones only beside others; of formats, the one of products."""
    named = list(_devices(text))
    if least < LEAST and all(name != "gpu" for name, *_ in named):
        named += _one_device(text)
    others = len({part.name for part in named}) if least == LEAST else OTHERS + 1
    told = [*named, *parts(signed(text), logged=logged, others=others)]
    if told and not any(name == "dtype" for name, *_ in told):
        told += [Part("dtype", kind[1], kind.start(1)) for kind in LISTED.finditer(text)]
    if len({part.name for part in told}) <= OTHERS and least == LEAST:
        told = [part for part in told if not part.weak]
    if len({each[0].casefold() for each in EVERY.finditer(text)} - WIDE) > 1:
        told = [part for part in told if part.name != "dtype"]  # which of them, for which rows
    return told


def _alone(text: str, told: Sequence[Part]) -> bool:
    """Whether a sentence says one thing, and is about nothing else."""
    return computed_again(text) or (
        len(told) == 1
        and (
            _ZERO_ALONE.fullmatch(text) is not None
            or _NOTED.match(text) is not None
            or (_OURS.match(text) is not None and _of_all(told[0], text))
            or _OF_NOTHING_ELSE.match(text) is not None
            or (not told[0].weak and _LABEL_AND_VALUE.fullmatch(text) is not None)
        )
    )


def _of_all(told: Part, text: str) -> bool:
    """Whether a part is a format, or one device of which there is no more: `on an A6000`."""
    return told.name == "dtype" or (
        told.name == "gpu" and text[: told.at].endswith((" an ", " a "))
    )


_KEYED = deferred(
    r"[\W_]*(?:(?:[\w-]+ ){0,2}(?:hardware|GPUs?|devices?|accelerators?|nodes?|machines?|cluster"
    r"|system|platform|runtime|server|instance|environment|precision|d(?:ata)?[ _-]?type"
    r"|batch(?:es)?|batch[ _-]sizes?|(?:seq(?:uence)?|context)(?:[ _-]len(?:gth)?)?|optimi[sz]er"
    r"|parallelism|sharding|strategy|set-?up|config(?:uration)?|settings?|training|model|runs?)"
    r"(?: (?:type|model|name|used))?"
    r"|(?:测试|实验|训练|硬件|软件)?(?:环境|硬件|配置|设置|机器|精度|批大小|显卡|参数)"
    r"|(?:測定|実験|計算|学習)?(?:環境|条件|設定|構成|精度))"
    r"(?: ?[(（][^()（）]{0,30}[)）])?[*_`]* ?[:：](?!:)",
    re.IGNORECASE,
)
"""How an item of a list of settings begins: one thing said of the runs is enough in it."""

_REMARK = deferred(
    r"[(（](?:e\.g|i\.e|for (?:example|instance)|such as|see\b|cf\.|instead of|rather than"
    r"|if\b|as in|compared|unlike|例如|比如)[^()（）]*[)）]",
    re.IGNORECASE,
)
"""Brackets about something else than what their sentence says."""


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


_LENGTH = deferred(
    r"(?:序列长度|(?i:\bseq(?:uence)?[ _-]?len(?:gth)?))\s*(?:[:=：为是]|of |is )?"
    r"\s*([0-9][0-9,]*[kK]?)"
)
"""Lengths of sequences under one name: those of the model and of its context may differ."""

_OF_CARDS = deferred(r"[二两四八](?= ?[卡张块])")


def _in_digits(text: str) -> str:
    """A text as wide with digits for words that count cards, `单机八卡`, or steps and samples."""
    text = _OF_STEPS.sub(lambda found: _IN_DIGITS[found[0].casefold()].rjust(len(found[0])), text)
    text = _OF_A_NODE.sub(lambda found: _IN_DIGITS[found[0].casefold()].rjust(len(found[0])), text)
    return _OF_CARDS.sub(lambda found: _DIGITS[found[0]], text)


_OF_STEPS = deferred(
    r"\b(?:two|three|four|six|eight|ten|twelve|sixteen)"
    r"(?= (?:(?:steps? of )?(?:gradient|grad\.?|batch) accum|accum|micro-?batches"
    r"|(?:nodes|servers|hosts)(?: of| with|,|$)"
    r"|(?:images|samples|sequences|examples) (?:per|on each) ))",
    re.IGNORECASE,
)

_OF_A_NODE = deferred(
    r"(?:(?<=\bnode of )|(?<=\bnodes of ))"
    r"(?:two|four|six|eight|sixteen)(?= )",
    re.IGNORECASE,
)

_IN_DIGITS = {
    "two": "2", "three": "3", "four": "4", "six": "6", "eight": "8", "ten": "10", "twelve": "12",
    "sixteen": "16",
}  # fmt: skip


_DIGITS = {"二": "2", "两": "2", "四": "4", "八": "8"}


_EVERY_COUNT = deferred(r"(?<![\w.,-])([0-9][0-9,]*) (?:GPUs|devices|accelerators|chips)\b")


def _titled(text: str, told: Sequence[Part]) -> Iterator[Part]:
    """The model, its size and the number format that a sentence names beside other parts."""
    for name, cell in titled(Line(1, text, 0, {})).items():
        if name in NAMED and all(name != part.name for part in told):
            yield Part(name, cell.text + SIGNS.get(cell.scale, ""), cell.column)


NAMED = ("model", "model_size", "dtype")
"""Fields that a sentence names as a heading does."""

SIGNS = {scale: sign for sign, scale in SUFFIXES.items()}


_SENTENCE_END = deferred(
    r"[a-z0-9)`*]\.(?<!e\.g\.)(?<!i\.e\.)(?<!\bcf\.)(?<!\bvs\.) +(?=[A-ZА-Я`*])|。|$"
)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a line without their remarks and reasons, each with where it begins."""
    begin = 0
    for end in _SENTENCE_END.finditer(text):
        yield begin, without_reasons(_REMARK.sub(_blank, text[begin : end.end()]))
        begin = end.end()


def _cell(name: str, word: str, line: Line, at: int) -> Cell | None:
    spec = fields(Configuration)[name]
    if spec.numeric:
        return cell_of(spec, word, line, at)
    return Cell(word, line.number, line.column + at)


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
    each = each or _EACH_OF.match(behind.lstrip(" )GPUs"))
    return each is not None or count <= LARGEST_NODE


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
        if not nodes and not _OWNS.search(plain, 0, boxes.start(1)):
            yield Part("nodes", boxes[1].replace(",", ""), boxes.start(1))
        yield _gpu(text, boxes.start(2))
    elif cards := hosts_of_cards(text):
        yield from _cards(cards, text)
    elif (cards := _CARDS.search(plain)) and only(text):
        yield Part("gpus", cards[1], cards.start(1))
        yield from _one_device(text)
    elif many := _MANY.search(plain) if known else None:
        each_node = (nodes and _of_each(many, nodes, text)) or _A_NODE.match(plain, many.end())
        has = _NODE_HAS.search(plain, 0, many.start(1))
        of_them = _OF_THEM.match(plain, many.end()) and not re.search("[x×*]", many[0])
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
        of_node = _A_NODE.match(plain, counted.end()) or _OF_NODES.search(plain, 0, counted.start())
        held = "gpus_per_node" if of_node else "gpus"
        yield Part(held, _NUMBERS[counted[1].casefold()], counted.start(1))
        yield _gpu(text, counted.start(2))
    elif of_node := _PER_NODE.search(plain):
        group = of_node.lastindex or 1
        yield Part("gpus_per_node", of_node[group].replace(",", ""), of_node.start(group))
        yield from _not_counted(text)
    else:
        yield from _not_counted(text)


def _counted_behind(text: str, nodes: re.Match[str] | None) -> Iterator[Part]:
    """The one device of a text behind whose name stands how many there are."""
    found = list(_BEHIND_NAME.finditer(signed(text))) if devices(text) else []
    if len(found) == 1:
        group = 2 if found[0][2] else 3
        if not nodes and not _OF_SEVERAL.search(text):
            yield Part("gpus", found[0][group], found[0].start(group))
        yield _gpu(text, found[0].start(1))


def _not_counted(text: str) -> Iterator[Part]:
    """A device that a text names and does not count."""
    if (alone := only(text)) and (told := _told_of(text, alone)):
        counted = _COUNTS_IT.search(text, 0, alone.start)
        if _COLAB.search(text) and "tpu" not in alone.key and not counted:
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
    yield from _one_device(text)


def _one_device(text: str) -> Iterator[Part]:
    if device := only(text):
        yield Part("gpu", device.text, device.at)


def _told_of(text: str, device: Device) -> Literal["run", "site", "listed"] | None:
    """How a text speaks of a device that it does not count: by its maker or as what something ran
    on; as what a site has; in a list."""
    if _OF_SITE.search(signed(text)):
        return "site"
    if _VENDED.match(text, device.start) or _ON.search(signed(text)):
        return "run"
    return "listed" if _LISTED_DEVICE.search(signed(text)) else None


_COLAB = re.compile(r"\bColab\b")
"""A service whose machines have one GPU each."""

_COUNTS_IT = re.compile(r"[0-9] ?[x×*]?[\s*_]*$")

_OF_SITE = deferred(
    rf"\b(?:cluster|supercomputer|site|partition|lab)\b[^.;:]{{0,60}}?(?<=  )(?:NVIDIA )?{SIGN}",
    re.IGNORECASE,
)
"""A site that has devices, on however many of which a job ran: their number is no longer there."""

_OF_MACHINERY = deferred(
    r"node|server|host|instance|gpu|npu|card|device|accelerator|chip|zero|[bt]?fp?(?:8|16|32)|b?float"
    r"|autocast|[卡张块]"
    r"|precision|精度|정밀도",
    re.IGNORECASE,
)
"""In every text that says something of machines, of ZeRO or of a number format, but for those that
name a device: most have none of these words, and each is looked for in ten forms."""


def _devices(text: str) -> Iterator[Part]:
    """Devices, how many of them, on how many nodes: field, word and place."""
    if not (_OF_MACHINERY.search(text) or devices(text)):
        return
    plain = signed(text)
    nodes = _NODES.search(plain)
    named = [] if several(text) else list(_counted_behind(text, nodes))
    named = named or ([] if several(text) else list(_named_devices(text, nodes)))
    yield from named
    each = {part.at for part in named if part.name == "gpus_per_node"}
    if nodes and not _OWNS.search(text, 0, nodes.start(1)):
        yield Part("nodes", nodes[1].replace(",", ""), nodes.start(1))
    elif one := _ONE_NODE.search(plain):
        yield Part("nodes", "1", one.start())
    if alone := _ONE_GPU.search(plain):
        yield Part("gpus", "1", 0)
        if alone[1]:
            yield Part("", "", 0)  # a sentence of its own
    counts = [
        count for count in _GPUS.finditer(plain)
        if not names_card(count[1]) and count.start(1) not in each
    ]  # fmt: skip
    if len(counts) == 1 and (not nodes or int(counts[0][1].replace(",", "")) > LARGEST_NODE):
        item = stands_alone(text, counts[0].start(), counts[0].end())
        yield Part("gpus", counts[0][1].replace(",", ""), counts[0].start(1), weak=not item)
    elif not counts and not nodes:
        yield from _in_words_alone(plain)
    workers = _WORKERS.search(plain)
    if workers and not names_card(workers[group := workers.lastindex or 1]):
        yield Part("gpus", workers[group].replace(",", ""), workers.start(group))
        yield Part("", "", 0)  # a sentence of its own
    yield from _precision(text)


def _in_words_alone(text: str) -> Iterator[Part]:
    """Devices of no name that a text counts in words, but for those of a part of a run."""
    few = _IN_WORDS_ALONE.search(text)
    if few is None or _OF_A_PART.search(text, 0, few.start(1)):
        return
    yield Part("gpus", _NUMBERS[few[1].casefold()], few.start(1))
    if text.startswith(" each", few.end()):
        yield Part("", "", 0)  # a sentence of its own


def _precision(text: str) -> Iterator[Part]:
    """The stage of ZeRO and the number format that a text names, each if it is one."""
    if (zero := list(_ZERO.finditer(text))) and len({z[1] for z in zero}) == 1:
        yield Part("zero_stage", zero[0][1], zero[0].start(1))
    if used := computed_in(text):
        yield Part("dtype", used.word, used.at)
        if used.alone:
            yield Part("", "", 0)  # a sentence of its own


_FORMS = {
    _PER_NODE: "gpus_per_node", _IN_ALL: "gpus", _HAS: "parameters",
}  # fmt: skip
"""Forms of lines that say one field each."""

_WHOLE = {ALONE: "dtype", _NAMED: "model"}
"""The same, where it must be all of the line."""


def _plain(name: str, word: str) -> str:
    if name in ("gpus", "parameters", "gpus_per_node"):
        return word.replace(",", "")
    return word.rpartition("/")[2] if name == "model" else word.replace("float-", "float")


_IN_A_FORM = deferred(
    r"activation|total parameters|GPU/host|GPUs|devices|accelerators|processes|MEMBER|parameters"
    r"|precision|model|模型|device mesh|(?:Args|Config|Arguments|Namespace)\(",
    re.IGNORECASE,
)
"""In every line of the forms below, but for those that name a device."""


def _by_form(line: Line) -> dict[str, Cell]:
    """Configuration that lines of known trainers say in a form of their own."""
    text, found = line.text, dict[str, Cell]()

    def put(name: str, word: str, at: int) -> None:
        found.setdefault(name, Cell(word, line.number, line.column + at))

    if again := _SAID_SO.search(text):
        put("recompute", again[1].casefold(), again.start(1))
    if total := _TOTAL.search(text):
        put("parameters", total[1].replace(",", ""), total.start(1))
    if hosts := _HOSTS.search(text):
        put("nodes", hosts[1], hosts.start(1))
        put("gpus_per_node", hosts[2], hosts.start(2))
    plain = signed(text)
    told = [(pattern.search(plain), name) for pattern, name in _FORMS.items()]
    told += [(pattern.fullmatch(text), name) for pattern, name in _WHOLE.items()]
    for whole, name in told:
        if whole and not names_card(whole[whole.lastindex or 0]):
            word = next(group for group in whole.groups() if group)
            put(name, _plain(name, word), whole.start() + whole[0].index(word))
    if called := _BY_NAME.fullmatch(plain):
        put("gpu", text[called.start(1) : called.end(1)], called.start(1))
    if device := only(text):
        said_so = _CAPACITY.search(plain) or _SYSTEM.search(plain) or _ALL_ARE.search(plain)
        if said_so:
            put("gpu", device.text, device.at)
    if mesh := _MESH.search(text):
        names = re.findall(r"\w+", mesh[1])
        sizes = [int(size) for size in re.findall("[0-9]+", mesh[2])]
        degrees: dict[str, int] = {}
        for name, size in zip(names, sizes, strict=False):
            if name in MESH:
                degrees[MESH[name]] = degrees.get(MESH[name], 1) * size
        for name, size in degrees.items():
            put(name, str(size), mesh.start(2))
    return found | _in_record(line)


def _in_record(line: Line) -> dict[str, Cell]:
    """Configuration in a record of arguments: `ModelArgs(dim=4096, n_layers=32)`."""
    found: dict[str, Cell] = {}
    if record := _RECORD.search(line.text):
        for inside in _IN_RECORD.finditer(record[1]):
            at = record.start(1) + inside.start(2)
            if inside[1] in OF_RECORDS and inside[2].isdecimal():
                cell = Cell(inside[2], line.number, line.column + at)
                found.setdefault(OF_RECORDS[inside[1]], cell)
            elif not ASIDE.search(inside[1]):
                for name, cell in said(inside[1], inside[2].strip("'"), line, at).items():
                    found.setdefault(name, cell)
    return found
