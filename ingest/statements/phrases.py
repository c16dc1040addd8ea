"""Configuration said in words, in lists and in records of objects, inside a longer line.

In: a line of a document. Out: field → cell of what it says. A line is taken apart at its commas: a
part is a label and its value (`mbs=4`, `sequence length 8192`), a number of devices (`8xH100 GPUs`,
`4 nodes`), a ZeRO stage or a number format as a precision. One such part alone is prose, unless the
line speaks of the numbers below; two that say a field differently say nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from assay.ingest.columns.cells import number_of
from assay.ingest.columns.number_formats import (
    ALONE,
    BEGINS,
    LISTED,
    WIDE,
    computed_in,
    kinds_in,
    of_products,
)
from assay.ingest.columns.other_runs import without_reasons
from assay.ingest.columns.titles import (
    family_named,
    model_named,
    rounds_to,
    titled,
    without_some,
)
from assay.ingest.numbers.units import SUFFIXES
from assay.ingest.prose.claims import (
    COUNT,
    COUNTS,
    NEAR,
    TIMES_MANY,
    Part,
    claims,
    of_each_run,
    of_several,
    without_replicas,
)
from assay.ingest.prose.counted_machines import (
    PER_NODE,
    devices_of_a_node,
    machines,
    of_either,
    one_device,
)
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.lists import by_commas, pairs_apart
from assay.ingest.statements.sentences import (
    OF_FAMILIES,
    OTHERS,
    SHARE_OF,
    computed_again,
    in_turn,
    nothing_split,
    of_every_run,
    parts,
    switched,
)
from assay.ingest.statements.values import OF_MACHINES, cell_of, of_whom, said
from assay.ingest.vocabulary.devices import (
    SIGN,
    device_at,
    devices,
    names_card,
    only,
    several,
    signed,
)
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.program_names import program_named
from assay.ingest.vocabulary.sectioned_keys import ASIDE
from assay.ingest.vocabulary.sharding_names import sharding_told
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, TOKENS

LEAST = 2
"""Parts that make a line of prose a statement; one is enough where it speaks of what is below."""

_DEVICE = rf"(?:[DH]GX[ -]?)?({SIGN})"

_ALL_ARE = deferred(
    r"\b(?:devices|GPUs|accelerators|cards|nodes|machines|servers)\b (?:used )?(?:are|were)"
    rf"(?: (?:all|custom|NVIDIA's))* {_DEVICE}"
)

_SYSTEM = deferred(
    r"(?:\b(?:machines?|hardware|system|GPUs?|devices?|accelerators?)|机器|硬件|显卡|加速卡)[:：] ?"
    rf"{_DEVICE}(?![A-Za-z0-9])",
    re.IGNORECASE,
)

_IN_ALL = deferred(r"\bStarting with ([0-9]+) processes|\bMEMBER: [0-9]+/([0-9]+)")
"""Processes of a job as Lightning and its Fabric count them, one for each device."""

_HAS = deferred(r"\b[Mm]odel has ([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{6,}) parameters\b")

_EXACT = deferred(r"(?<![\w,.])([0-9]{1,3}(?:,[0-9]{3}){2,4}) (?:total )?parameters\b")
"""All parameters of a model, counted to the last one."""

_NAMED = deferred(
    r"\W*(?:model(?:[_ ]name(?:_or_path)?)?|模型(?:名称)?)[\"']?\s*[:：=]\s*[\"']?"
    r"((?:[\w.-]+/)?[A-Za-z][\w.]*(?:-[\w.]+)*?[-_ ]?[0-9]+(?:\.[0-9]+)?[bBmM](?:-[\w.]+)*)"
    r"[\"',]*\s*",
    re.IGNORECASE,
)

_BY_NAME = deferred(
    r"\W*(?:device|gpu|accelerator)(?:[_ ](?:name|type))?[\"']?\s*[:=]\s*[\"']?"
    rf"({SIGN}[\w -]*?)[\"',]*\s*"
    rf"|\W*GPU models and configuration\s*:\s*(?:GPU 0: )?({SIGN})\s*(?:\(UUID: [^()]*\))?\s*",
    re.IGNORECASE,
)
"""A device by its label, or as PyTorch's `collect_env` lists the first of a machine."""

_ENABLED = deferred(
    r"[\"']?\b(bf16|fp16|fp8|bfloat16)[\"']?\s*:\s*\{[^{}]*[\"']?\benabled[\"']?\s*:\s*[Tt]rue\b"
)
"""A number format that an object switches on: `"bf16": {"enabled": true}`."""

_HOSTS = deferred(r"\[([0-9]+) hosts\] x \[([0-9]+) GPU/host\]")

_ZERO = deferred(
    r"\bZeRO(?:[ -]?(?:stage|阶段|ステージ|단계))?[ -]?([0-3])(?![A-Za-z0-9_])"
    r"(?!\s*(?:,|and|/|or|vs)\s*[0-3])"
    r"|\bdeepspeed(?: config\w*)?:? stage[ :=-]{0,2}([0-3])\b(?!\s*(?:,|and|/|or|vs)\s*[0-3])"
    r"|\bzero_optimization\b\W{1,8}stage\W{1,4}([0-3])\b"
    r"|\b(?:ds|deepspeed)_(?:config_)?(?:zero|z|stage)_?([0-3])(?:_\w+)*\.json\b"
    r"|\bzero_?([0-3])(?:_\w+)*\.json\b",
    re.IGNORECASE,
)

_OF_NOTHING_ELSE = deferred(
    r"\W*(?:(?:here|throughout|in (?:all|every|each)(?: of)?(?: the| our)? (?:runs?|rows?"
    r"|experiments?|cases?|tables?|measurements?)(?: below| here)?)[, ]+)?"
    r"(?:(?:the|our|every|all|each)\s)?"
    r"(?:[\w-]+\s){1,4}?(?:is|was|are|were|stays?|stayed|remains?|remained)\s"
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
    r"\W*[A-Za-z][\w-]*(?: [A-Za-z][\w-]*){1,4}(?:[*_`]* ?[:=] ?[*_`]*|(?<=[a-z]) )"
    r"[0-9][0-9,]*[kK]?(?: (?:tokens|sequences))?\W*"
)
"""A sentence that is nothing but a label and its value: `Sequence length 4096.`"""

_ZERO_ALONE = deferred(
    r"\W*(?:(?:(?:DeepSpeed|with|using|(?:distributed )?optimi[sz]er)[ :(]+)*"
    r"ZeRO[ -](?:stage[ -]?)?[0-3]"
    r"|DeepSpeed:? stage[ :-]{0,2}[0-3]|zero_optimization\W{1,8}stage\W{1,4}[0-3](?=\W).*)"
    r"(?:,? \(?(?:with|no|without) [\w ]{3,30}\)?)?\W*(?:(?:is |was )?(?:used|enabled|on)\W*)?",
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

_COUNTED_FIRST = deferred(
    rf"\W*{COUNT} (?:GPU|NPU|accelerator|device|card|chip)s"
    r"(?:,? (?:averaged?|mean|median|synthetic|real|random|same|identical|unless|best)\b"
    r"(?!.*\b(?:is|are|was|were|has|have|had|can|could|takes?|took|needs?|gives?)\b)|\W*$)",
    re.IGNORECASE,
)
"""A remark without a verb that begins with the devices of a table: `8 GPUs, mean of 5 runs.`"""

_OURS = deferred(
    r"(?!.*\b(?:also|only|first|initially|sometimes|part|some"
    r"|for (?!all|every|both|each|train|[0-9.,]+[kKM]? (?:epochs|steps|iter|days|hours|updates)"
    r"|(?:one|two|three|four|five|ten|several) (?:epoch|day|hour|week))"
    r"|besides?|another|other|additionally|optional\w*|reduc\w+|master|baselines?)\b)"
    r"\W*(?:[^.;:]{0,60}? and |here |so )?(?:we|I|(?:the |our )?(?:training|fine-?tuning"
    r"|(?:models?|networks?|runs?) (?:is|are|was|were))"
    r"|our (?:\w+ )?(?:MoE|LLM|transformer|model|network) (?:is|was))\b[^.;:]{0,120}?"
    r"\b(?:train|fine-?tun|pre-?train|ran|run|use[sd]?|measured?|benchmark|time[ds]?|done|employ"
    r"|adopt|chose|choose)",
    re.IGNORECASE,
)
"""How a sentence begins that says how its authors ran all that they ran."""

_OF_WHAT_IS_BELOW = deferred(
    r":\s*$|^\W*(?:[a-z]+ )?(?:settings|setup|configuration|hyper-?parameters)\b|"
    r"\bunless (?:otherwise )?(?:noted|stated|specified|mentioned|said|indicated|given)\b|"
    r"\bunless [\w' -]{1,40} (?:says?|states?|notes?|indicates?) (?:otherwise|so)\b|"
    r"[若如]无特[殊别]说明|除非[另特]有说明|"
    r"\b(?:numbers|results|tables?|measurements|benchmarks|experiments|runs|rows|entries"
    r"|baseline)\b",
    re.IGNORECASE,
)

_ASIDE = deferred(
    r"^\W*(?:an?|another|the|our) (?:smaller|larger|bigger|different|second|other|wider|deeper|toy"
    r"|tiny) (?:\w+ )?(?:model|network|configuration|variant)\b"
    r"|\b(?:(?<!excluding )(?<!without )(?<!minus )(?:eval|evaluation|evaluate|valid(?:ation)?)"
    r"(?! (?:loss|perplexity|ppl|accuracy)(?: of|:| =)? [0-9])"
    r"|infer(?:ence)?(?:_\w*)?|generat(?:e|ion|ed)|prompts?"
    r"|decod(?:e|es|ed|ing)|prefill|tokeni[sz]er(?! (?:has|had|uses|with|comes"
    r"|contains)\b)(?![^.;0-9]{0,60}\bvocab)"
    r"|vs\.?|versus"
    r"|(?<!accumulated )(?<!accumulating )(?<!gradients )over"
    r"(?! (?:the )?(?:last |first |all )?[0-9][0-9,]* (?:GPUs|ranks|nodes|devices|cards|chips"
    r"|epochs|(?:training |measured )?(?:iterations|steps|batches)|micro-?batches))|than|"
    r"instead of|compared|(?:for|in) comparison|slower|against|"
    r"rather|whereas|could|would|"
    r"might|can (?:run|be)|as few as|at least|minimum|different (?:to|from|than|outcome)|"
    r"as (?:fast|slow|good|large|much|quick) as|according to|billed"
    r"|(?<=, )for reference(?=[.\s]*$)|untouched|(?:was|were) not (?:touched|involved)"
    r"|earlier|previously|formerly|initially|originally|later|tried|should|suppose|imagine"
    r"|assuming"
    r"|recall that|thank|cited for|marked (?:with|by)|starting point|an? typical|even with"
    r"|if(?! not (?:otherwise )?(?:stated|noted|specified|mentioned|said|given))"
    r"|=\s?[0-9]+ or [A-Za-z_]+\s?="
    r"|for (?:rows? |lines? |runs? |#)?[0-9]+ ?[-–] ?[0-9]+(?=\W*$)"
    r"|e\.g|for (?:example|instance))\b|(?<!对)比如(?!下)|例如|代表|기존 ?연구"
    r"|선행 ?연구|尝试过|试过|还测试"
    r"|^\W*next steps?\b"
    r"|\binput[ -](?:length|tokens|len)\b[^.;]{0,40}\boutput[ -](?:length|tokens|len)\b"
    r"|\blogin nodes?\b"
    r"|最[大多]支持|支持最[大多]|作为(?:对比|对照|参考)|官方公布|n['’](?:avons|ai|ont|a) pas"
    r"|\bnicht (?:getestet|verwendet|benutzt)\b|\bno (?:hemos|usamos|probamos)\b",
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


_COMPARED_HERE = deferred(
    r"^\W*(?:(?:here|below|in this (?:section|post|table)|(?:before|after|for|during) (?:the|our)"
    r" [a-z]+(?: [a-z]+)?),? )?(?:we|I) compared?\b"
    r"(?! (?:it|them|this|that) (?:to|with|against))",
    re.IGNORECASE,
)
"""How a sentence begins that says how all was run that is compared below it."""


def _of_what_follows(text: str) -> str:
    """A sentence that opens a table, without words that only say what that is there for."""
    return _FOR_COMPARISON.sub(" ", text.replace(" tried ", " "))


_NOT_HERE = deferred(
    r"\b(?:(?:instead|in place|in lieu) of|rather than) (?:the |our )?(?:full|selective|none|no)\b"
    r"(?: (?:activation |gradient )?(?:re-?comput\w+|check-?point\w+|AC|remat)\b)?"
    r"|\b(?:because|since|as) (?:someone|somebody|people|you|he|she|they|@[\w-]+)"
    r"(?: was| were)? asked?(?:ing)?\b[^,;:.]{0,60}",
    re.IGNORECASE,
)
"""Settings that the runs below a line have not, `full recomputation instead of selective`, and
who wanted them."""


def _compared(text: str) -> str:
    """The same where it has no colon at its end and is of nothing else."""
    told = "comparison" in text and _ON_WHAT.fullmatch(signed(text))
    text = _COMPARED_HERE.sub(" ", text) if "compare" in text else text
    return _FOR_COMPARISON.sub(" ", text) if told else text


_AGAINST = deferred(
    r"^(\W*(?:[Ww]e|I|(?:[Aa]ll|[Tt]hese|[Tt]he) (?:runs|rows|numbers)) [^.;:]{8,200}?),? against "
    r"(?:(?:plain|stock|vanilla|standard|upstream|the|our|its|their) ){0,3}[A-Z]"
    r"(?:[^.;:0-9]|(?<=[A-Za-z-])[0-9]){1,40}(?=[.;:]|$)"
)
"""With what runs are compared at the end of a sentence on how their authors ran them: `We ran it in
bf16 with a batch of 4, against plain Hugging Face.`"""

_OPENS = deferred(r":(?:\\n)?[\"',\s]*$")
"""How a line ends that opens a table, in a notebook as well."""

_OF_ONE = deferred(
    r"(?<!zero[ _.-])(?<!zero_optimization\.)(?<!zero_config\.)"
    r"\b(?:stage|(?P<rank>rank)|stage_id)\s*[=:]\s*[0-9]",
    re.IGNORECASE,
)

_ADAPTER = deferred(
    r"(?<![a-z])q?(?:lo|do)ra(?![a-z])|adapter|alpha|linear layers|dropout"
    r"|target[ _]modules",
    re.IGNORECASE,
)


def of_one(text: str) -> bool:
    """Whether a line is about one rank or one stage of a pipeline: its layers are not the model's.

    >>> of_one("rank = 3, layers = 4"), of_one("LoRA with rank = 16, micro-batch = 4")
    (True, False)
    """
    found = _OF_ONE.search(text)
    return found is not None and not (found["rank"] and _ADAPTER.search(text))


OF_ALL = deferred(
    r"(?:\bfor )?\ball (?:of )?(?:the |our |these )?"
    r"(?:models (?:use|have|share)\b|"
    r"(?:experiments|runs|results|measurements|numbers"
    r"|(?<=for all the )models|(?<=for all )models)\b)"
    r"(?! (?:below|here|in this (?:sub-?)?section|in this table|that follow))"
    r"|\b(?:in|for|to|of|by|on) all (?:of )?(?:the |our |these )?tables\b"
    r"(?! (?:below|here|in this (?:sub-?)?section|that follow|but|except|apart))"
    r"|^\W*(?:[\w^]{1,8}\W{1,4})?all (?:of )?(?:the |our |these )?tables (?:use|have|share|are"
    r"|were|give)\b"
    r"|\bin (?:both|all)(?: of)?(?: the| these| our)?(?: (?:two|three|four))? (?:sections"
    r"|tables|parts)\b(?! (?:below|here|that follow|but|except|apart))"
    r"|所有表(?:格)?[均都中]|以上所有(?:结果|数据)",
    re.IGNORECASE,
)
"""A line about every measurement of its document, those above it too."""

MEASURED = deferred(
    r"[0-9][kKM]?\s*(?:[TGP]FLOP|tok(?:en)?s?/s(?!tep)|samples?/s|ima?ge?s?/s|m?s(?:ecs?)?/(?:it|step)|it/s|%\s*MFU)"
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
    {'gpus': '8', 'gpu': 'H100', 'seq_len': '8192', 'batch_size': '1'}
    >>> said = phrases(Line(1, "bf16 on four nodes, each has eight NVIDIA A100 GPUs", 1, {}))
    >>> said["gpus_per_node"].text, "gpus" in said
    ('8', False)
    >>> phrases(Line(1, "We also tried a sequence length of 4096.", 1, {}))
    {}
    """
    found: dict[str, dict[str, Cell]] = {}
    line = _but_for_what_is_not(line)
    plain = in_english(by_commas(line.text))
    sentences = list(_sentences(without_some(plain.text)))
    for begin, whole in sentences:
        text = _before_an_aside(whole)
        told = _enough(text, 1 if _KEYED.match(text) else least, logged=bool(line.prefix))
        plainly = nothing_split(text) or not _of_something_else(text)
        for name, word, at, _ in told if told and plainly else ():
            if name:
                cell = _cell(name, word, line, plain.place(begin + at))
                if cell is None:
                    return {}  # a degree of zero is the number of a rank
                found.setdefault(name, {}).setdefault(_amount(cell), cell)
    both = "activation_checkpointing" in found and "none" in found.get("recompute", {})
    for name in ("activation_checkpointing", "recompute") if both else ():
        del found[name]  # on in some runs, and off in others
    said = {name: next(iter(each.values())) for name, each in found.items() if len(each) == 1}
    said = of_whom(said, line.text)
    said = said if (held := without_turns(said, line)) is None else held
    said = {
        name: cell for name, cell in said.items()
        if not _counts_tokens(name, cell, said) and not _of_a_part(name, said, line.text)
    }  # fmt: skip
    spoken = [text for _, text in sentences if found and not _of_something_else(text)]
    lengths = found.get("seq_len", {})
    if len(lengths) > 1 and len(set(_LENGTH.findall(" ".join(spoken)))) > 1:  # who knows whose
        said["seq_len"] = next(iter(lengths.values()))._replace(state="unknown")
    if "gpu" in found and several("; ".join(spoken)):  # numbers of which of them
        said = {n: cell for n, cell in said.items() if n not in (*OF_MACHINES, "gpu")}
    if "gpus" in said and len({m[1] for m in _EVERY_COUNT.finditer(" ".join(spoken))}) > 1:
        del said["gpus"]  # of one of several runs
    said = _shared(said, line)
    if "(" in line.text and (either := of_either(signed(line.text))) is not None:
        left = Cell(line.text[either:].strip()[:24], line.number, line.column, state="unknown")
        said |= {"gpus": left, "gpus_per_node": left}
    in_modules = _IN_MODULES.search(line.text) is not None
    if "GCD" in line.text or in_modules:
        node = devices_of_a_node(line.text)
        counted = in_modules and not _DIES.search(line.text)
        if node or counted or _IN_DIES.match(line.text):  # a node has twice as many of those
            said = {n: cell for n, cell in said.items() if n not in ("gpus", "gpus_per_node")}
        if node:
            said["gpus_per_node"] = Cell(node[0], line.number, line.column + node[1])
    in_form = _IN_A_FORM.search(line.text) or devices(line.text)
    return said | _by_form(line) if in_form else said


_TURNS = deferred(r"\brespectively\b|分别|それぞれ|\bjeweils\b|\brespectivement\b", re.IGNORECASE)

_IN_TURN = deferred(
    r"[0-9][0-9,.]*[kKM]?(?: ?(?:,|、|/) ?[0-9][0-9,.]*[kKM]?){0,6},? ?"
    r"(?:\band\b|\bor\b|\bund\b|\bet\b|[/和与、と]) ?[0-9][0-9,.]*[kKM]?(?![\w])"
)
"""Several numbers of one setting."""

_WORDS = r"[A-Za-z][\w+-]{1,24}(?: [A-Za-z][\w+-]{1,24}){0,3}"

_CASE = (
    r"[^\s，,、；;。.：:]{1,12} ?时 ?(?:默认|则|均|都)?(?:取?值?为|是|取|用|设为|[=:：])"
    r" ?[0-9]{1,9}"
)

_OF_CASE = r"[0-9]{1,9} ?[(（][^()（）]{1,16}[)）]"

_BY_CASE = deferred(
    rf"{_CASE}(?:[，,、；;] ?而?{_CASE}){{1,7}}"
    rf"|(?<![\w.]){_OF_CASE}(?:(?:[、，,/]| ?和| and| or) ?{_OF_CASE}){{1,7}}"
)
"""Numbers of one setting, each with its runs: `1x8时为4，2x8时为2`, `4 (1x8), 2 (2x8)`."""

_FROM_TO = deferred(rf"(?:^|[.,;:(] ){_WORDS} ?→ ?{_WORDS}(?=\s*(?:[.,;:)]|$))")
"""Words around an arrow, and no numbers: `2 nodes → 16 GPUs` follow from each other."""


def without_turns(values: Mapping[str, Cell], line: Line) -> dict[str, Cell] | None:
    """Values of a line without those that it gives as several, each of other runs, `10 and 16
    respectively`, or as one before a change and one behind it, `old kernel → FlashAttention-2`;
    None of a line that says nothing so."""
    spans = [found.span() for found in _FROM_TO.finditer(line.text)] if "→" in line.text else []
    spans += [found.span() for found in _BY_CASE.finditer(line.text)]
    if not spans and not _TURNS.search(line.text):
        return None
    of_one_run = [part.at for part in in_turn(line.text) if part.name]
    spans += [
        found.span() for found in _IN_TURN.finditer(line.text)
        if not any(found.start() <= at < found.end() for at in of_one_run)
    ]  # fmt: skip
    return {
        name: cell for name, cell in values.items()
        if not any(begin <= cell.column - line.column < end for begin, end in spans)
    }  # fmt: skip


_LEAVES_OUT = deferred(r" (?:except|but|apart from|other than) ")

_BUT_FOR_A_NUMBER = deferred(
    r"(?:^|(?<=[.;,:(] ))[^.;,:()]{2,60}?,?"
    r" (?:(?:except|apart from|other than)(?: (?:for|at|in|with|on|when|where))?"
    r"|but [0-9]{1,4} (?:for|at|in|with|on|when))"
    r"(?: (?:the|an?|rows?|runs?|longest|largest|last|sequences?|seq|context|length|len|batch|size"
    r"|of|is|it)){0,4}[ =]{1,2}[0-9][0-9,]{1,8}[kK]?(?![\w%]|[.,][0-9]| ?(?:GPU|node|chip|card))"
    r"[^.;()]{0,60}(?:\([^()]{0,40}\))?"
)
"""Words on the rows of one number, and on all others: `CP is 1 except for 65536, where it is
8`."""


def but_for_a_number(text: str) -> str:
    """A text with blanks for what it says of the rows of one number, and of all others: only their
    cells tell which these are.

    >>> but_for_a_number("TP=2 here, CP is 1 except for 65536, where it is 8.").split()
    ['TP=2', 'here,', '.']
    >>> but_for_a_number("bf16 except for 7B; TP=2 but on 64 GPUs").split()[0]
    'bf16'
    """
    text = _ONLY_WHERE.sub(_blank, text) if "时" in text or "情况下" in text else text
    return _BUT_FOR_A_NUMBER.sub(_blank, text) if _LEAVES_OUT.search(text) else text


_ONLY_WHERE = deferred(
    r"[^，,。；;：:]{0,24}(?:(?:大于|小于|超过|[不高低少多]于|达到|以上|以下|以内|[<>≤≥])"
    r"[^，,。；;：:]{0,16}|[0-9][kK]? ?[卡机张台]?)(?:时(?!间|长|延|刻|钟)|情况下)"
    r"(?![，, ]{0,2}[^，,。；;]{0,12}(?:如下|下表|结果|数据))[，, ]{0,2}[^，,。；;]{1,60}"
)
"""Words in Chinese on the rows of some numbers: `序列长度大于 32K 时开启重计算`."""


def _but_for_what_is_not(line: Line) -> Line:
    """A line with blanks for rows that it leaves out, and for what those that it opens have not."""
    line = line._replace(text=but_for_a_number(pairs_apart(line.text)))
    if "nless " in line.text or " except " in line.text:
        line = line._replace(text=_UNLESS_SAID.sub(_but_for_those, line.text))
    if "xtend" in line.text:
        line = line._replace(text=_EXTENDED.sub(_blank, line.text))
    if " against " in line.text:
        whole = _AGAINST.sub(lambda told: told[1].ljust(len(told[0])), line.text)
        line = line._replace(text=whole)
    if " than " in line.text:
        line = line._replace(text=_OF_THE_HOST.sub(lambda told: " " * len(told[0]), line.text))
    for words, of_some in ((_APART, _OF_SOME_PLACE), (_STANDS_FOR, _NOTATION)):
        if words.search(line.text):
            line = line._replace(text=of_some.sub(_blank, line.text))
    if _VARIED.search(line.text):
        line = line._replace(text=_VARIED.sub(lambda told: " " * len(told[0]), line.text))
    if _OPENS.search(line.text):
        line = line._replace(text=_NOT_HERE.sub(lambda told: " " * len(told[0]), line.text))
    return line


_EXTENDED = deferred(
    r"\bextend(?:s|ed|ing)? (?:it|this|that|them|(?:the|our) [\w-]+) (?:further )?to"
    r" [^.;,:()]{1,60}",
    re.IGNORECASE,
)
"""A setting of some of the runs of which a sentence tells: `and to extend it to ZeRO stage 3`."""

_OF_THE_HOST = deferred(
    r"(?: and| with|,)? more than [0-9]+ ?[GT]i?B (?:of )?(?:CPU |host |system )?(?:RAM|memory)\b",
    re.IGNORECASE,
)
"""Memory of a host, which compares nothing: `one A100 and more than 64 GB of CPU RAM`."""

_APART = re.compile("elsewhere|otherwise|everywhere else")

_IN_SOME_PLACE = r"(?<![\w.])[0-9][0-9,]{0,8}[kK]?(?![\w%]|[.,][0-9])"

_OF_SOME_PLACE = deferred(
    rf"[^.;,:()0-9]{{2,80}}{_IN_SOME_PLACE}(?: [^.;,:()]{{1,60}}?)?,?(?: and| but| or)?"
    rf" (?:(?:elsewhere|(?<!ed )(?<!said )(?<!says )otherwise|everywhere else),?"
    rf" (?:[a-z]+ ){{0,2}}?{_IN_SOME_PLACE}"
    rf"|{_IN_SOME_PLACE} (?:elsewhere|otherwise|everywhere else)\b)"
)
"""Words that give rows of one place a number and all others another: `On gamma the micro-batch is
2, elsewhere 1`."""

_STANDS_FOR = re.compile(r"[\"“”`'’] (?:means|denotes|stands|refers|is short)\b|\bnotation\b")

_NOTATION = deferred(
    r"(?:[\"“‘']|`{1,2}|\b(?i:notation) [\"“`]?)(?=[^\"”’`]{0,12}[0-9])[\w ×*/+.-]{2,16}?"
    r"[\"”’'`]{0,2}"
    r" (?:means|denotes|stands for|refers to|is short for) [^.;]{2,120}"
)
"""Words that tell how figures of a table are to be read, and of no run what it had: `"2 x 8" means
two nodes with eight GPUs each`."""

_VARIED = deferred(
    r"\b(?:[Ee]ffects?|[Ii]mpacts?|[Ii]nfluence|[Aa]blations?|[Bb]enefits?) of (?:the )?"
    r"[^.;:,()0-9]{3,80}?(?= on\b|[.;:,(]|$)"
    r"|(?<![Aa]ll )(?<![Bb]oth )(?<!hese )\b(?:[Cc]olumns|[Rr]ows)(?:: ?| (?:are|show) )"
    r"(?!(?:all|each|measured|run|trained|with|without|in|for|from|of|had|have)\b)"
    r"[^.;:,()0-9]{3,80}(?=[.;,)]|$)"
)
"""Words on what is varied, which some of the runs have: `Effect of recomputation and SP on …`, or
what stands along an axis: `columns: activation checkpointing`."""


_HYBRID = deferred(r"\bHSDP\b|\bhybrid[- _]shard", re.IGNORECASE)


def _of_a_part(name: str, beside: Mapping[str, Cell], text: str) -> bool:
    """Whether a number is of a part: of the layers, those that are computed again, trained or
    frozen; of data parallelism, replicas that are sharded as well."""
    if name == "layers":
        once = "recompute" in beside and _RECOMPUTED_AT_ONCE.search(text) is not None
        return once or _SOME_LAYERS.search(text) is not None
    return name == "dp" and "replicas" in text and _HYBRID.search(text) is not None


MOST_OF_EACH = 1024
"""Sequences that no device takes at once beside a batch that is counted in tokens."""


def _counts_tokens(name: str, cell: Cell, beside: Mapping[str, Cell]) -> bool:
    """Whether the number of a micro-batch, beside a batch in tokens, is too large for one of
    sequences: `4M tokens (32,768 per GPU)`."""
    if name != "micro_batch" or cell.state != "value" or "global_batch_tokens" not in beside:
        return False
    return (number_of(cell) or 0.0) >= MOST_OF_EACH


_RECOMPUTED_AT_ONCE = deferred(
    r"\b(?:uniform|block)\b[^.;]{0,24}?\b[0-9]+ layers?\b", re.IGNORECASE
)
"""How many layers of a stage, or of a chunk, are computed again: `full (uniform, 1 layer)`."""


_SOME_LAYERS = deferred(
    r"\b(?:(?:(?:LoRA|adapters?|recompute[ds]?|recomputation|(?:check-?pointing|offload(?:ing|ed|s)?)"
    r"|free[sz](?:e|ing)|(?:un)?frozen|every (?:second|other|third|fourth))"
    r"(?: (?:on|in|for|of|to|applied to|only)){0,2}|last|top|first|final|bottom|upper|lowest)"
    r"(?: the)?(?: (?:last|top|first))? [0-9]{1,3}(?: of(?: the)? [0-9]{1,3})?"
    r"(?: [a-z]+)?[ -](?:layers|blocks)"
    r"|[0-9]{1,3} (?:[a-z]+ )?(?:layers|blocks) (?:are|were|is|stay) (?:[a-z]+ )?(?:(?:un)?frozen"
    r"|(?:re)?trained|fine-?tuned|recomputed|check-?pointed|offloaded))\b",
    re.IGNORECASE,
)
"""How many layers of a model are trained, frozen or computed again: `LoRA on 16 layers`."""


def _amount(cell: Cell) -> str:
    """The value of a cell, by which `8k context (8192)` says one thing."""
    digits = cell.text.replace(",", "")
    return str(float(digits) * cell.scale) if digits.isdecimal() else cell.text.casefold()


def _shared(said: dict[str, Cell], line: Line) -> dict[str, Cell]:
    """All that a line says, with the devices that share a sequence, whose batch is that of all."""
    if "equence" not in line.text:
        return said
    if _SHARED_BY_ALL.search(line.text) and "micro_batch" in said:
        return {"global_batch": said["micro_batch"], **said}
    found = _SHARED.search(line.text)
    if found is None:
        return said
    whole = {"batch_size": "global_batch"}
    said = {whole.get(name, name): cell for name, cell in said.items()}
    return {**said, "cp": Cell(found[1], line.number, line.column + found.start(1))}


_SHARED_BY_ALL = deferred(
    r"\ball (?:the |of the )?(?:GPUs|devices|ranks|cards|chips) "
    r"share (?:one|an?|the same) sequence\b",
    re.IGNORECASE,
)

_SHARED = deferred(
    r"\b(?:one|a|the|each|every) sequence (?:is |was )?(?:shared|split|sharded|distributed|spread)"
    r" (?:by|over|across|among|between) (?:all )?(?:the |our )?([0-9]+) "
    r"(?:GPU|device|accelerator|rank|card|chip)s\b",
    re.IGNORECASE,
)
"""A sequence that several devices share: their context is parallel, and a batch is of all."""


_UNLESS_MARKED = deferred(
    r"\b(?:unless|except|other than|if not)(?: (?:where|when|for|those|the|rows?|runs?|it is"
    r"|otherwise"
    r"|ones))* (?:marked|noted|flagged|indicated|tagged)\b[^.;,]{0,30}",
    re.IGNORECASE,
)
"""Rows that a sentence leaves out have signs of their own."""

_UNLESS_SAID = deferred(
    r" unless (?:it|they|the (?:row|label|table|name|entry|column)|a (?:row|label|name)) "
    rf"(?:says?|states?|shows?|reads?|names?) (?:so|otherwise|[`\"']?{NUMBER_FORMAT}[`\"']?)"
    r"(?P<end>[.,;)]?)"
    r"|,? (?:unless|except|but) (?:(?:where|when|if|wherever|for (?:the )?(?:rows|runs|ones)"
    rf" (?:where|in which)) )?(?:[A-Z]{{2,5}} \()?[`\"']?{NUMBER_FORMAT}[`\"')]? (?:is|was) "
    r"(?:explicitly )?(?:listed|written|noted|stated|named|given|said|shown|mentioned|marked"
    r"|specified|indicated)"
    r"(?: (?:in|among|by|with|as|under|behind|beside) [^.;,()]{2,40})?(?P<end2>[.,;)]?)"
    r"|,? (?:except|but not) (?:where|when|if) (?:it is )?(?:otherwise )?(?:told|said|stated|noted"
    r"|given|mentioned|specified|indicated|shown)(?: (?:otherwise|so))?(?P<end3>[.,;)]|$)"
    r"|(?:^|(?<=[.:;*] ))unless (?:(?:it|they|the (?:row|label|table|name|entry)) "
    rf"(?:says?|states?|shows?|reads?|names?) [`\"']?{NUMBER_FORMAT}[`\"']?"
    rf"|[`\"']?{NUMBER_FORMAT}[`\"']? (?:is|was) (?:listed|written|noted|stated|named|given|said"
    r"|shown|mentioned|marked|specified|indicated)),? ",
    re.IGNORECASE,
)
"""Rows that a sentence leaves out say so themselves: `bf16 unless it says float8`."""


def _but_for_those(found: re.Match[str]) -> str:
    return (found["end"] or found["end2"] or found["end3"] or "").ljust(len(found[0]))


_VERSUS = deferred(
    r"((?:^|[ (/])[A-Za-z][A-Za-z.+()/-]*) (?:vs\.?|versus) (?=(?:the )?[A-Za-z][A-Za-z.+-]*"
    r"(?:[ ,;:.)]|$))",
    re.IGNORECASE,
)
"""Between two that a table has both of, and of which neither is a setting: `LoRA vs. full`."""


def _before_an_aside(text: str) -> str:
    """A sentence up to the clause behind it that speaks of something else: `We train on 8 A100, and
    it is slow as soon as we go over one node.`"""
    if not _of_something_else(text) or _OPENS.search(text) or _NOT_RUN_ON.search(text):
        return text
    clauses = [found.start() for found in _CLAUSE.finditer(text)]
    heads = (text[:at] for at in reversed(clauses))
    return next((head for head in heads if not _of_something_else(head)), text)


_NOT_RUN_ON = deferred(r"\buntouched\b|\b(?:was|were) not (?:touched|involved)\b")

_CLAUSE = deferred(
    r", (?:and|but|so|which|as) (?!(?:on|with|for|in)\b)[^,]*\b(?:is|was|are|were|it|I|we)\b"
    r"|, (?:(?:the|our) )?[a-z]\w+ (?:is|was|are|were)\b"
)


def _of_something_else(text: str) -> bool:
    """Whether a sentence has words beside which its numbers are of something else than the run."""
    plainly = _VERSUS.sub(r"\1 and ", _spread(_UNLESS_MARKED.sub(" ", text)))
    opens = _OPENS.search(text)  # what was tried is in the table that it opens
    return _ASIDE.search(_of_what_follows(plainly) if opens else _compared(plainly)) is not None


def _enough(text: str, least: int, *, logged: bool) -> Sequence[Part]:
    """The parts of a sentence, if they are enough, or its form is that of a statement."""
    named = _of_a_model(text)
    told = _told(text, 1 if named else least, logged=logged)
    told = told or _noun_phrases(text) or _items_of_runs(text)
    alone = _alone(text, told) or _begins_with_switch(text)
    always = least < LEAST or not text.isascii()  # in Chinese they are sentences of their own
    always |= _ON_IN_ALL.search(text) is not None and of_every_run(text)
    told += switched(text) if told or alone or always else ()
    of_model = (bool(told) and named) or _TRAINS_IT.match(text) is not None
    told += _titled(text, told) if len(told) >= LEAST or of_model else ()
    below = told and (_OF_WHAT_IS_BELOW.search(text) or of_every_run(text) or of_model)
    return told if alone or len(told) >= least or below else ()


def _begins_with_switch(text: str) -> bool:
    """Whether a list of noun phrases begins with a switch of recomputation, `Selective activation
    recomputation, sequence parallelism whenever TP > 1`, or with how a run is spread, in front of
    more than one: `plain DDP, no gradient accumulation, no activation checkpointing`."""
    if _NO_CLAUSES.match(text) is None or _LISTS_FEATURES.search(_PARALLEL.sub(" ", text)):
        return False
    if _SPREAD_BY.match(text) and len({part.name for part in switched(text)} - {""}) > 1:
        return True
    return computed_again(_FIRST_COMMA.split(text, maxsplit=1)[0])


_SPREAD_BY = deferred(
    r"[\W_]*(?:(?:plain|pure|vanilla|simple|standard|stock|native|just|only|PyTorch|torch"
    r"|distributed) )*(?:DDP|FSDP[12]?|HSDP|data[- ]parallel(?:ism)?|ZeRO-?[0-3])"
    r"(?:\([^()]*\))?[,;] ",
    re.IGNORECASE,
)
"""How a list begins with the way in which a run is spread."""

_FIRST_COMMA = deferred(r"\s*[,;]\s")

_PARALLEL = deferred(
    r"\b(?:sequence|tensor|pipeline|data|expert|context) parallelism\b", re.IGNORECASE
)


def _noun_phrases(text: str) -> list[Part]:
    """The number format of a list of noun phrases that names how much is computed again or sharded,
    or what the run was made with: `Megatron-LM (core 0.3), bf16, selective recomputation`,
    `PyTorch 2.4, CUDA 12.4, bf16`, `AdamW, bf16, no dropout`."""
    if _NO_CLAUSES.match(text) is None or _LISTS_FEATURES.search(text):
        return []
    recipe = _OF_RECIPE.search(text)
    switches = recipe is not None and any(part.name for part in switched(text))
    told = switches and recipe is not None and (recipe["how"] or program_named(text))
    if not told and not _MADE_WITH.search(text) and not _OF_A_TABLE.match(text):
        return []  # what a program can do, perhaps
    kinds = list(LISTED.finditer(text)) or list(filter(None, [BEGINS.match(text)]))
    if len(kinds) != 1 or len(kinds_in(text)) > 1:
        return []
    return [Part("dtype", kinds[0][1], kinds[0].start(1))]


_OF_A_TABLE = deferred(r"\W*(?:Table|Tab\.) ?[0-9]{1,2}[*_]*[.:][^.;|]{1,40} \+ [A-Z]")
"""A caption that begins with what the runs of its table had: `Table 4: FP8 + async TP`."""

_MADE_WITH = deferred(
    r"(?:^[\W_]*|[,;·|(] ?)`?(?:(?:[Pp]y[Tt]orch|torch|CUDA|ROCm|JAX|CANN|NCCL|cuDNN|TensorFlow"
    r"|DeepSpeed|Megatron(?:-LM)?|NeMo|Python|driver|[Tt]ransformers|[Ff]lash-?[Aa]ttn"
    r"|Transformer ?Engine|TE|Lightning|Ubuntu) v?[0-9][\w.+-]*(?: nightly)?"
    r"|(?:[\w.-]+ )?fork(?: of [\w.-]+)?|branch `?[\w./-]+`?|commit `?[0-9a-f]{6,40}`?"
    r"|(?:container|image|module)s? `?[\w./:+-]*[0-9][\w./:+-]*`?"
    r"|(?:fused )?(?:Adam(?:W|afactor)?|SGD|LAMB|Lion|Muon|Adafactor|torch\.compile)"
    r"|(?:(?:q-?)?(?:LoRA|DoRA)(?: with an?)?|(?:(?:LoRA with an? )?(?:[48]-bit|NF4|int[48])"
    r" (?:Adam\w*|base(?: model| weights)?)))(?: \([^()]{2,40}\))?"
    r"|no dropout|dropout 0(?:\.[0-9])?|(?:synthetic|dummy|random|mock) data)`?"
    r"(?=\s*(?:[,;.·|)]|$))"
)
"""An item of a list that says with what something was run."""


def _items_of_runs(text: str) -> list[Part]:
    """Switches that are items of a list in a sentence on how the runs were done: `The runs were
    started with sweep.sh, plain DDP, no gradient accumulation.`"""
    if not _OF_THE_RUNS.match(text):
        return []
    return [
        part for part in switched(text)
        if part.name and text[: part.at].endswith((", ", "; ", "("))
        and _ITEM_ENDS.match(text, part.at)
    ]  # fmt: skip


_OF_THE_RUNS = deferred(
    r"\W*(?:the|all|our|these|both|every|each)(?: of)?(?: the| our| these)? (?:runs?|jobs?"
    r"|experiments?|measurements?|numbers|results) (?:was|were|are|is) (?:\w+ )?(?:started|launched"
    r"|done|made|run|taken|measured|obtained|trained|collected|recorded)\b",
    re.IGNORECASE,
)

_ITEM_ENDS = deferred(r"[\w-]+(?: [\w-]+){0,4}\s*(?:[,.;)]|$)")

_OF_RECIPE = deferred(
    r"(?:^|[,;(+/] ?|\b(?:and|with) )[\W_]{0,3}(?:(?P<how>no|full|selective|without)(?: \w+)? "
    r"(?:re-?comput|remat|check-?point|AC\b)|(?:activation|gradient|grad\.?)[ -](?:check-?point"
    r"|recomput|ckpt)|distributed optimi[sz]er\b)",
    re.IGNORECASE,
)

_LISTS_FEATURES = deferred(
    r"\b(?:supports?|supported|features?|options?|optional|available|etc|more|\.\.\.|implement\w*"
    r"|techniques?|tricks|methods?|optimi[sz]ations?|including|such)\b|…"
    r"|parallelism\b(?! ?[=:0-9])",
    re.IGNORECASE,
)

_ON_IN_ALL = deferred(
    r"\b(?:is|are|was|were) (?:turned |switched )?(?:on|off|used|enabled|disabled|applied|active)"
    r" (?:in|for|on|throughout|everywhere)\b",
    re.IGNORECASE,
)
"""A switch of every run: `selective recomputation and sequence parallelism are on in every row`."""


_TRAINS_IT = deferred(
    r"\W*(?:I am|we are|I['’]m|we['’]re) (?:pre-?training|training|fine-?tuning) an? [0-9A-Z]"
    r"|\W*(?:we|I) (?:compared?|benchmark(?:ed)?|measured?|tested)\b[^.;]{0,60}"
    r"\b(?:for|when|while|in) (?:pre-?training|training|fine-?tuning) (?=[A-Z])"
    r"|\W*(?:we|I) (?:pre-?)?train(?:ed)? (?:an?|our|the) [^.;,0-9]{0,40}"
    r"[0-9]+(?:\.[0-9]+)?[ -]billion[ -]parameter"
    r"|\W*(?:the|our|this) (?:[\w-]+ ){0,2}?(?:model|network|LLM|transformer) (?:has|had|counts)"
    r" (?:about |roughly |around )?[0-9]+(?:\.[0-9]+)? ?(?:B|billion) (?:parameters|weights)\b",
    re.IGNORECASE,
)
"""How a sentence begins that says which model its author trains, or how large that is: `I am
training a 7B …`, `The model has 6.7 billion parameters`."""


def _of_a_model(text: str) -> bool:
    """Whether a sentence says which model was trained, or begins with its name."""
    model = model_named(text)
    return model is not None and bool(
        _TRAINS.match(text) or text.lstrip("*_-•> ").startswith(model)
    )


_TRAINS = deferred(
    r"\W*(?:(?:here|below|in this (?:section|post|table)),? )?(?:we|I)"
    r" (?:pre-?train|train|fine-?tune)(?:ed|d)?\b"
    r"|\W*(?:I am|we are|I['’]m|we['’]re) (?:pre-?training|training|fine-?tuning)\b"
    r"|\W*(?:the |our )?model (?:here )?is\b"
    r"|\W*(?:(?:continued|continual|full|supervised|LoRA|QLoRA|distributed) )*"
    r"(?:pre-?training|training|fine-?tuning)(?: of)? (?:an? |the )?[A-Z]",
    re.IGNORECASE,
)
"""How a sentence begins that says which model was trained: `We train GPT-2 with …`."""


_IN_MODULES = deferred(
    r"\bMI250X?\b(?: Instinct)?[^.;,0-9]{0,12}\b(?:modules|cards|OAMs|packages)\b"
)
"""Cards of two dies each, which programs count."""

_DIES = deferred(r"\b[0-9]+ GCDs?\b")

_IN_DIES = deferred(
    r"(?!.*\b[0-9]+ GCDs?\b)(?:.*\bMI250X?\b.*\bmodules?\b|.*\bmodules?\b.*\bMI250X?\b)"
    r"|.*\bMI250X?\b[^.;]{0,24}\beach\b[^.;]{0,24}\b(?:with|has|have|of) (?:two|2)"
    r" [^.;,]{0,30}\b(?:GCD|die)s?\b"
)
"""A text that counts a device by its modules, whose dies it speaks of and does not count, or counts
as those of each module: `four MI250X, each with two GCDs`."""


def _told(text: str, least: int, *, logged: bool) -> list[Part]:
    """Parts of a sentence, weak ones only beside others; of formats, the one of products."""
    text = without_replicas(text)
    stated = claims(signed(text))
    degrees = {part.at for part in stated if part.name}  # `expert parallelism over 8 GPUs`
    plainly = _spread(text)
    named = [part for part in machines(plainly) if part.at not in degrees or not part.name]
    named += _precision(text)
    if least < LEAST and all(name != "gpu" for name, *_ in named):
        named += one_device(text)
    others = len({part.name for part in named}) if least == LEAST else OTHERS + 1
    told = [*named, *parts(signed(text), stated, logged=logged, others=others)]
    told = [
        part for part in told
        if "batch" not in part.name or not TIMES_MANY.match(text, part.at + len(part.word))
    ]  # fmt: skip
    told = [part for part in told if not _of_no_run(part, text)]
    told = told or list(_set_so(text))
    if not told:
        return []
    if (micro := _IN_SHORT.search(text)) and any(part.name == "micro_batch" for part in told):
        # so many sequences of a device, beside it, are those of a step
        told = [part for part in told if part.name != "micro_batch"]
        told.append(Part("micro_batch", micro[1], micro.start(1)))
    told += _coded(text)
    if any(part[:2] == ("sharding", "FSDP") for part in told):  # in whatever way
        told = [part for part in told if part[:2] != ("sharding", "FULL_SHARD")]
    if apart := of_each_run(text):
        told = [part for part in told if part.at not in apart or not part.name]
    if told and not any(name == "dtype" for name, *_ in told):
        listed = [BEGINS.match(text), *LISTED.finditer(text), *_LISTED_AGAIN.finditer(text)]
        told += [Part("dtype", kind[1], kind.start(1)) for kind in listed if kind]
    if len({part.name for part in told}) <= OTHERS and least == LEAST:
        told = [part for part in told if not part.weak]
    if len(kinds_in(of_products(text)) - WIDE) > 1:
        told = [part for part in told if part.name != "dtype"]  # which of them, for which rows
    return told


def _of_no_run(part: Part, text: str) -> bool:
    """Whether a length is that which models can have, whatever they were trained with, or that of
    the parts in which something is computed, or a batch is the share of a device in a global one,
    of who knows how many micro-batches."""
    if part.name == "seq_len" and _IN_CHUNKS.search(text, 0, part.at):
        return "chunk" in text[max(0, part.at - NEAR) : part.at + NEAR]
    words = {"seq_len": OF_FAMILIES, "micro_batch": SHARE_OF}.get(part.name)
    factor = text.startswith(
        (" (", "/", " /"), part.at + len(part.word)
    )  # `= 8 (each) x 4`, `1/64`
    return words is not None and not factor and words.search(text, 0, part.at) is not None


_IN_CHUNKS = deferred(
    r"\b(?:logits?|loss(?:es)?|(?:LM|output) head|cross[- ]entrop(?:y|ies)|CE|softmax|projections?"
    r"|MLPs?|FFNs?|feed-?forwards?|attention|queries|keys|scans?|prefill\w*|recurren\w+"
    r"|activations|computes?d?|computing|evaluat\w+|gather\w*|offload\w*)\b[^.;]{0,80}?"
    r"\b(?:in|into|over|by|as|with|at|per|to)(?: fixed| equal| small)? (?:chunks? (?:of "
    r"|size (?:of )?|= ?)?)?$",
    re.IGNORECASE,
)
"""In front of how many tokens at a time something is computed for: `the loss in chunks of`."""


_KEY_IN_CODE = deferred(
    r"(?<![\w`])`{1,2}(?:--)?([a-z_][\w.-]*)[= ][\"']?([a-zA-Z]\w*)[\"']?`{1,2}(?![\w`])"
)


def _coded(text: str) -> Iterator[Part]:
    """How much is computed again, and how a model is sharded, where a sentence says so by what a
    program is told: `recompute="selective"`."""
    for found in _KEY_IN_CODE.finditer(text) if "`" in text else ():
        told = said(found[1].rpartition(".")[2], found[2], Line(1, "", 1, {}), 0)
        for name, cell in told.items():
            if name in ("recompute", "sharding") and cell.state == "value":
                yield Part(name, cell.text, found.start(2))


_SET_SO = deferred(
    r"\W*(?:(?P<key>[A-Za-z]{1,20}(?:[_.-][A-Za-z]{1,20}){1,4})(?:=|:? )[\"']?"
    r"(?P<value>[\w.-]{1,24})[\"']?`{0,2} (?:is|was|are|were) (?:set|used|on)"
    r"|(?:the )?`{0,2}(?P<name>[A-Za-z_][\w. -]{1,30}?)`{0,2} (?:is|was|are|were)"
    r" (?:left|kept) at (?:its|the|their) default(?: value)?(?: of|,|:)? \(?`{0,2}"
    r"(?P<word>[\w.-]{1,24})`{0,2}\)?)"
    r"(?:,? (?:for|in|on|with) (?:all|both|these|those|every|each|them)\b[^.;,]{0,40}"
    r"|,? throughout|,? everywhere)?\W*",
    re.IGNORECASE,
)
"""A sentence that only says how a setting was: `` `ac_mode: full` was set for these four``."""


def _set_so(text: str) -> Iterator[Part]:
    """The setting that a sentence says to have been set, or left at its default."""
    found = _SET_SO.fullmatch(text) if " set" in text or " used" in text or " at " in text else None
    if found is None:
        return
    group = "value" if found["key"] else "word"
    told = said(
        (found["key"] or found["name"]).rpartition(".")[2], found[group], Line(1, "", 1, {})
    )
    for name, cell in told.items():
        if cell.state == "value":
            yield Part(name, cell.text, found.start(group))


_LISTED_AGAIN = deferred(
    rf"(?:^\W*|[,;(:] *)(?:(?:again|still|also|always|all|everything|every run|as before|likewise)"
    rf"(?: (?:is|in|with|at|uses?))? ?){{1,3}}`?({NUMBER_FORMAT})`?(?=\s*(?:[.,;)]|$))",
    re.IGNORECASE,
)
"""A number format as an item of a list with a word in front of it: `again bf16`."""

_IN_SHORT = deferred(r"\b(?:MBS|mbs)\b\W{0,3}(?:of )?([0-9]+)(?![\w/-]|[.,] ?[0-9])")


def _alone(text: str, told: Sequence[Part]) -> bool:
    """Whether a sentence says one thing, and is about nothing else."""
    return (
        computed_again(text)
        or nothing_split(text)
        or _SET_SO.fullmatch(text) is not None
        or (
            len(told) == 1
            and (
                _ZERO_ALONE.fullmatch(text) is not None
                or _NOTED.match(text) is not None
                or (told[0].name == "gpus" and _COUNTED_FIRST.match(text) is not None)
                or (_OURS.match(text) is not None and _of_all(told[0], text))
                or _OF_NOTHING_ELSE.match(text) is not None
                or _kept(told[0], text)
                or _an_item(told[0], text)
                or (not told[0].weak and _LABEL_AND_VALUE.fullmatch(text) is not None)
            )
        )
    )


_KEPT = deferred(
    r"(?:\b(?:fixed|kept|held|constant)(?: constant| fixed)? (?:at|to)|\b(?:stay(?:s|ed)"
    r"|remain(?:s|ed))"
    r"(?: (?:fixed|constant))?(?: at)?) $",
    re.IGNORECASE,
)

_KEPT_FOR = deferred(
    r"[\w,]+(?: (?:tokens|sequences|samples|images|examples|steps|micro-?(?:batches|steps)))?"
    r"\s*(?:[,.;)]|$|\b(?:throughout|everywhere|(?:for|in"
    r"|across) (?:all|every|each|the (?:entire|whole)))\b)"
)


def _kept(told: Part, text: str) -> bool:
    """Whether a sentence keeps a setting while others change: `TP is fixed at 8`."""
    kept = not told.weak and _KEPT.search(text, 0, told.at)
    return bool(kept) and _KEPT_FOR.match(text, told.at) is not None


_IN_A_LIST = deferred(r"[,;·|/] +(?:[A-Za-z][\w-]*[ =]){1,4}$|^[\W_]*(?:[A-Za-z][\w-]*[ =]){1,4}$")

_NO_CLAUSES = deferred(
    r"(?!.*\b(?:is|are|was|were|be|been|has|have|had|can|could|will|would|may|might|do|does|did|to"
    r"|that|which|who|when|where|while|because|since|but|until|after|before|we|you|they|it"
    r"|gives?|takes?|needs?|uses?|makes?|gets?|fits?|up|from|between|or|per|not|beyond|unlike|as"
    r"|like|see)\b)"
    r".*[,;·|/] ",
    re.IGNORECASE,
)
"""A list of noun phrases: `C4, sequence length 2048, target loss 2.69.`"""


def _an_item(told: Part, text: str) -> bool:
    """Whether a setting is an item of a list that has no clauses."""
    return (
        not told.weak
        and _NO_CLAUSES.match(text) is not None
        and _IN_A_LIST.search(text, 0, told.at) is not None
    )


_ONE_BEFORE = deferred(r" (?:an?|my(?: own)?)(?: (?:NVIDIA|GeForce|AMD))* $")


_ON_IT = deferred(
    r"\bon (?:a (?:cluster|node|server|machine|system|box) (?:of|with) )?"
    r"(?:up to [0-9][0-9,]* )?(?:[0-9][0-9,]* )?(?:(?:NVIDIA|AMD|Intel|Huawei|Google) )*$"
)
"""In front of the devices that all was run on: `we train on up to 1,024 H800 GPUs`."""


def _of_all(told: Part, text: str) -> bool:
    """Whether a part is of all runs: a format, one device of which there is no more, `on an
    A6000`, or a setting of no model that its sentence tells apart."""
    if told.name == "gpu":
        return (_ONE_BEFORE.search(text, 0, told.at) or _ON_IT.search(text, 0, told.at)) is not None
    if told.name == "dtype" or told.weak:
        return told.name == "dtype"
    text = _ZERO.sub(" ", text)  # no stage of a training
    return not (OF_ONE_KIND.search(text) or model_named(text) or family_named(text))


OF_ONE_KIND = deferred(
    r"\b(?:small|large|big|tiny|huge|long|short|high|low)(?:er|est)?\b|\b(?:former|latter|second"
    r"|third|next|last|then|later|until|up to|when|where|if|while|once|(?<!as )before|after|stage"
    r"|phase|ablations?|vary|varied|sweep|between|either|different|double|half)\b|[0-9] ?[BM]\b"
    r"|(?:train|tun)\w* (?:an? |the |our |this )?(?-i:[A-Z])",
    re.IGNORECASE,
)
"""Words of a sentence about some of the runs."""


_KEYED = deferred(
    r"[\W_]*(?:(?:[\w-]+ ){0,2}(?:hardware|GPUs?|devices?|accelerators?|nodes?|machines?|cluster"
    r"|system|platform|runtime|server|instance|environment|precision|d(?:ata)?[ _-]?type"
    r"|batch(?:es)?|batch[ _-]sizes?|(?:seq(?:uence)?|context)(?:[ _-]len(?:gth)?)?|optimi[sz]er"
    r"|parallelism|sharding|strategy|set-?up|config(?:uration)?|settings?|training|model|runs?"
    r"|(?:activation |gradient )?(?:re-?computation|check-?pointing))"
    r"(?: (?:type|model|name|used|regime|recipe|mode))?"
    r"|(?:测试|实验|训练|硬件|软件)?(?:环境|硬件|配置|设置|机器|精度|批大小|显卡|参数)"
    r"|(?:測定|実験|計算|学習)?(?:環境|条件|設定|構成|精度)"
    r"|(?:(?:학습|실험|훈련|테스트|측정) ?)?(?:환경|하드웨어|설정|구성|장비|조건|GPU))"
    r"(?: ?[(（][^()（）]{0,30}[)）])?[*_`]* ?[:：](?!:)",
    re.IGNORECASE,
)
"""How an item of a list of settings begins: one thing said of the runs is enough in it."""

_REMARK = deferred(
    r"[(（](?:e\.g|i\.e|for (?:example|instance)|such as|see\b|cf\.|instead of|rather than"
    r"|if\b|as in|compared|unlike|例如|比如)[^()（）]*[)）]"
    r"|[(（][^()（）,;]{0,40}?\b(?:(?:has|have|had|does|do|did|can|could|is|are)(?:n['’]t| not?)"
    r"|lacks?|lacking|without support|cannot)\b[^()（）]*[)）]"
    rf"|[(（](?:there is |there['’]s |as )?(?:no|kein|pas de) {NUMBER_FORMAT}\b[^()（）]*[)）]"
    r"|(?:(?<=uperchip )|(?<=perchips )|(?<=G[HB][23]00 ))\([^()]*\bGrace\b[^()]*\)",
    re.IGNORECASE,
)
"""Brackets about something else than what their sentence says."""


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


_SPREAD_OVER = deferred(
    r"(?:\b(?:launch|start|ran\b|run\b|execut|train|accumulat|shard|spread|split|distribut|partition"
    r"|summed|averag|parallel|packed"
    r"|replicat|repeat|timed|measured|mean|median|FSDP|HSDP|ZeRO|DDP|stage)[\w-]*(?: [0-3])?"
    r"(?: \([^()]{1,24}\))?"
    r"(?: (?:gradients|training|it|them|the \w+|steps?))? |\b(?:batch|expert|tensor|data|pipeline)"
    r"\b[^.,;]{0,24} )over(?= )|\bover(?= (?:all|them|it\b|the whole|[0-9]+ (?:steps"
    r"|iterations|runs"
    r"|epochs|batches)|the first|the last|(?:(?:the|our|its|these|both) )?(?:data[- ]parallel "
    r"|DP )?"
    r"(?:nodes?|GPUs|ranks|devices|cards|chips|machines|hosts|groups?|ICI|DCN)\b"
    r"|(?:an? |the )?(?:[0-9]{2,3} ?Gb|InfiniBand|NVLink"
    r"|NVSwitch|Ethernet|RoCE|EFA|PCIe|Slingshot|torch\.distributed|NCCL))\b)",
    re.IGNORECASE,
)
"""`over` that neither compares nor bounds."""


def _spread(text: str) -> str:
    """A text without the `over` that neither compares nor bounds, as wide."""
    return _SPREAD_OVER.sub(_with, text) if "over" in text.casefold() else text


def _with(found: re.Match[str]) -> str:
    return found[0][:-4] + "with"


_LENGTH = deferred(
    r"(?:序列长度|(?i:\bseq(?:uence)?[ _-]?len(?:gth)?))\s*(?:[:=：为是]|of |is )?"
    r"\s*([0-9][0-9,]*[kK]?)"
)
"""Lengths of sequences under one name: those of the model and of its context may differ."""

_EVERY_COUNT = deferred(r"(?<![\w.,-])([0-9][0-9,]*) (?:GPU|device|accelerator|chip|card)s?\b")


def _titled(text: str, told: Sequence[Part]) -> Iterator[Part]:
    """The model, its size and the number format that a sentence names beside other parts."""
    named = set[str]()
    for name, cell in titled(Line(1, text, 0, {})).items():
        if name == "model_size" and _OF_SOME.search(text, 0, cell.column):
            continue
        if name == "dtype" and _OF_A_PART.match(text, cell.column + len(cell.text)):
            continue  # `fp32 gradient reduction`
        if name in NAMED and all(name != part.name for part in told):
            named.add(name)
            yield Part(name, cell.text + SIGNS.get(cell.scale, ""), cell.column)
    whole = _ACTIVE.sub(_blank, signed(text))
    sizes = {each.groups(): each for each in _PARAMETERS.finditer(whole)}
    model = model_named(text)
    said = named | {part.name for part in told}
    apart = model is not None and _SIZED_NAME.search(model) is not None
    every = {*_ANY_SIZE.findall(whole.replace(model, "") if model and apart else whole)}
    alone = len(every) == 1 and not said & {"model_size", "parameters"}
    if len(sizes) == 1 and alone:
        (digits, *signs), found = next(iter(sizes.items()))
        sign = next(filter(None, signs))
        if model and apart and not rounds_to(model, digits + sign[0].upper()):
            return
        some = _OF_SOME.search(text, 0, found.start())
        if not some and not of_several(text, found, 1):
            yield Part("model_size", digits + sign[0].upper(), found.start(1))


_OF_A_PART = deferred(
    r"[ `*-]{1,3}(?:gradients?|grads?|master|optimi[sz]er|moments?|reduc\w+|accumul\w+|states?"
    r"|softmax|loss(?:es)?|router|norms?|logits?|embeddings?|buffers?|cop(?:y|ies)|communication"
    r"|all-?reduce\w*)\b",
    re.IGNORECASE,
)
"""Behind a number format: a part of a run that is kept in it."""

_PARAMETERS = deferred(
    r"(?<![\w.,$/~≈-])([0-9]+(?:\.[0-9]+)?)[ -]?(?:((?-i:B)|(?:b|tr)illion)"
    r"(?:[ -]?param(?:eter)?s?| weights)?\b"
    r"|((?-i:[BMT])|[bm]illion)(?:[ -]?param(?:eter)?s?| weights| model)\b)"
    rf"(?![-/\w]|,[0-9]| ?(?:{TOKENS}|word|sequence|sample|example|image|row|step|byte|activ"
    r"|updates|documents|cells|param|or |to |and [0-9]|, [0-9.]+ ?B))",
    re.IGNORECASE,
)
"""How many parameters a text says that something has: `the 22B model`, `30 billion parameters`."""

_ACTIVE = deferred(
    r"~?[0-9]+(?:\.[0-9]+)? ?[BM](?:illion)?(?: params| parameters)? activ(?:e|ated)\b"
)
"""Parameters that a token meets, of more that a model has."""

_ANY_SIZE = deferred(
    r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)(?: ?[BT]\b|[ -](?:[bB]|[tT]r)illion\b)"
    rf"(?!s? ?(?:of )?{TOKENS})"
)

_OF_SOME = deferred(
    r"\b(?:for|except(?: for)?) (?:the |our |an? )?$"
    r"|[0-9] ?(?-i:[BM])(?:,|,? (?:and|or|und|et)|[ -](?:models?|runs?|ones?),? and) "
    r"(?:the |our |an? )?$",
    re.IGNORECASE,
)
"""In front of a size: what is said is of that model, among others perhaps, or of another as well:
`the 650M and the 3B model`."""

_SIZED_NAME = re.compile(r"[0-9] ?[BbMm]\b")

NAMED = ("model", "model_size", "dtype")
"""Fields that a sentence names as a heading does."""

SIGNS = {scale: sign for sign, scale in SUFFIXES.items()}


_SENTENCE_END = deferred(
    r"(?:[a-z0-9)`*]|[A-Z]{2})[.?!](?<!e\.g\.)(?<!i\.e\.)(?<!\bcf\.)(?<!\bvs\.) +(?=[A-ZА-Я`*])"
    r"|[。？！]|$"
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


def _precision(text: str) -> Iterator[Part]:
    """The stage of ZeRO and the number format that a text names, each if it is one."""
    zero = [each for each in _ZERO.finditer(text) if not _NOT_IT.search(text, 0, each.start())]
    if zero and len({z[z.lastindex or 0] for z in zero}) == 1:
        group = zero[0].lastindex or 0
        yield Part("zero_stage", zero[0][group], zero[0].start(group))
    if states := _STATES_SHARDED.search(text):
        yield from _states_shared(states, text, named=bool(zero))
    kinds = {each[0].upper(): each for each in _STRATEGY.finditer(text)}
    if len(kinds) == 1:
        strategy, found = next(iter(kinds.items()))
        yield Part("sharding", strategy, found.start())
    elif not kinds and not zero and (full := _FULLY_SHARDED.search(text)):
        yield Part("sharding", "FULL_SHARD", full.start())
    elif not kinds and not zero and (shared := sharding_told(text)):
        yield Part("sharding", *shared)
    if used := computed_in(_OF_THE_PAGE.sub(_blank, text)):
        yield Part("dtype", used.word, used.at)
        if used.alone:
            yield Part("", "", 0)  # a sentence of its own


_OF_THE_PAGE = deferred(
    r"(?:(?<=where)|(?<=thing)|(?<=throughout)) (?:on|in|of|throughout) (?:this|the whole"
    r"|the entire|our|all of this) "
    r"(?:page|document|report|post|article|section|table|readme|file|wiki|issue|thread|benchmark)\b"
)
"""Behind `everywhere`, as wide: where that is."""

_NOT_IT = deferred(
    r"\b(?:not|n['’]t use|instead of|rather than|unlike|than|no|without)(?: (?:DeepSpeed|PyTorch"
    r"|a|the))* $",
    re.IGNORECASE,
)
"""In front of what was not used: `ZeRO-1, not ZeRO-3`."""


def _states_shared(states: re.Match[str], text: str, *, named: bool) -> Iterator[Part]:
    """The stage of ZeRO by what is shared, unless it is `named`; a statement by its subject."""
    what = states["what"].casefold()
    stage = 1 if "grad" not in what else (2 if not _WHOLE_MODEL.search(what) else 3)
    if not named and (stage > 1 or not _WHOLE_MODEL.search(what)):
        yield Part("zero_stage", str(stage), states.start("what"))
    if not text[: states.start("what")].strip(" *_-"):
        yield Part("", "", 0)


_WHOLE_MODEL = re.compile(r"\b(?:parameters|weights)\b")

_STATES_SHARDED = deferred(
    r"(?P<what>(?:(?:the|all|model|both)\s){0,2}"
    r"(?:(?:(?:parameters|weights),? (?:and )?)?(?:gradients?,? (?:and )?)?(?:the )?"
    r"optimi[sz]er(?: |-)states?"
    r"|optimi[sz]er(?: |-)states? and gradients|gradients?,? optimi[sz]er(?: |-)states?,? and "
    r"(?:parameters|weights)))"
    r"(?: alone| only)? (?:are|were) (?:all |only )?(?:sharded|partitioned) (?:over|across|among"
    r"|between) (?:the |all )?"
    r"(?:data[- ]parallel|DP|ranks|GPUs|devices|workers|nodes)\b"
    r"(?!.*\b(?:can|could|may|optional\w*|if|when|reduc\w+|sav\w+)\b)",
    re.IGNORECASE,
)
"""The parts of a model that a sentence says ranks share: `optimizer states are sharded`."""

_STRATEGY = deferred(r"\b(?:FULL_SHARD|HYBRID_SHARD|SHARD_GRAD_OP|NO_SHARD)\b", re.IGNORECASE)

_FULLY_SHARDED = deferred(
    r"\bFSDP[12]?\b[^.;]{0,12}?\bfull(?:y)?[- ]shard(?:ing|ed)?\b"
    r"|\bfull(?:y)?[- ]shard(?:ing|ed)?\b,? ?\(?(?:with |using )?(?:PyTorch )?FSDP[12]?\b",
    re.IGNORECASE,
)
"""Full sharding in words: `FSDP full sharding`, `fully sharded with FSDP2`."""

_AS_BUT_IN = deferred(
    r"^\W*(?:[\w.-]{1,12}[:.)] )?"
    r"(?:(?:the |all )?same(?: [\w-]+){0,2} as|as|like|identical to)"
    r" (?:in )?[\w .-]{1,30},? (?:but|only|except(?: that it is)?)(?: now)?(?: (?:in|with|using))?"
    rf" ({NUMBER_FORMAT})(?=\s*(?:[,.;:()*_]|$))",
    re.IGNORECASE,
)
"""A line that gives its runs the set-up of others in another number format: `as A but in fp8`."""

_FORMS = {
    PER_NODE: "gpus_per_node", _IN_ALL: "gpus", _HAS: "parameters", _EXACT: "parameters",
    _ENABLED: "dtype", _AS_BUT_IN: "dtype",
}  # fmt: skip
"""Forms of lines that say one field each."""

_WHOLE = {ALONE: "dtype", _NAMED: "model"}
"""The same, where it must be all of the line."""


def _plain(name: str, word: str) -> str:
    if name in ("gpus", "parameters", "gpus_per_node"):
        return COUNTS.get(word, word.replace(",", ""))
    return word.rpartition("/")[2] if name == "model" else word.replace("float-", "float")


_IN_A_FORM = deferred(
    r"activation|total parameters|GPU/host|GPUs|devices|accelerators|processes|MEMBER|parameters"
    r"|precision|\b(?:but|only|except)\b|model|模型|device mesh|enabled"
    r"|(?:Args|Config|Arguments|Namespace)\(",
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
            at, word = next((n, group) for n, group in enumerate(whole.groups(), 1) if group)
            put(name, _plain(name, word), whole.start(at))
    if called := _BY_NAME.fullmatch(plain):
        group = called.lastindex or 1
        listed = device_at(text, called.start(2)) if group > 1 else None
        name = listed.text if listed else text[called.start(1) : called.end(1)]
        put("gpu", name, listed.at if listed else called.start(1))
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
