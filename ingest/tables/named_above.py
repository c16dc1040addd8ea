"""Quantities that the text above a table names: what its numbers are where no label says it.

In: the lines above a table, those that declare something first. Out: the field that they name, with
its unit where they give one (`tokens per second per GPU`); None where they name none or several.
And the quantities with which a caption, the line over a table or its heading begins (`Table 3: Step
time in seconds for GPT on 64 A100`), with the labels which are of one of these: `ours`, `value`, an
empty one, `Mem.` beside `Time`. A text that compares, tells of one rate or speaks of a node, of
serving or of a kernel begins with none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from assay.ingest.columns.composite import named
from assay.ingest.columns.headers import Column, generic, header, plain
from assay.ingest.columns.subject import many_devices
from assay.ingest.columns.titles import SIZED, family_named, model_named, names_format, says_of_runs
from assay.ingest.grids.grid import LONGEST, Grid
from assay.ingest.lines.outlines import once
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import REMEMBERED, Line, Schema
from assay.ingest.tables import captions
from assay.ingest.tables.documents import unmarked
from assay.ingest.tables.units_beside import whose_rates
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.program_names import program_named
from assay.ingest.vocabulary.words import Said, english, said

COUNTED = (
    r"(?<!output )(?<!generated )(?<!generation )(?<!input )(?<!prompt )(?<!decoded )"
    r"\b(?:(?<![0-9] )(?:(?:thousand|million|billion)s?(?: of)? |[kM] ?))?"
)
"""A number of things in which rates are counted, and no rate itself: `million samples per second`;
none of tokens that a model was asked or answers."""

_THINGS_RATED = (
    r"(?:tok(?:en)?s?|words?|samples?|sequences?|seqs?|sentences?|utterances?|ima?ges?|imgs?|items?)"
    r"(?: ?/ ?| per )s(?:ec(?:ond)?)?\b"
)

_BY_THE_THOUSAND = re.compile(
    r"(?:(?<=\bin )|(?<=\bunits of )|(?<=[(\[])|(?<=\bunit: )|(?<=\bunits: )|(?<=[a-z], ))"
    r"(?:[x×*·]\s?)?(?:10\s?(?:\^|\*\*)\s?\{?(?P<power>[369])\}?|10(?P<raised>[³⁶⁹])"
    r"|1[eE](?P<e>[369])|1[,.’']?000)"
    rf"\s?[x×*·]?\s?(?={_THINGS_RATED})"
    rf"|(?P<kilo>\bkilo[- ]?)(?={_THINGS_RATED})"
    r"|(?P<behind>(?<=/s)|(?<=sec)|(?<=second)|(?<=GPU)|(?<=device)),? ?[(\[]?"
    r"(?:divided by|[/÷]) ?1[,.]?000\b[)\]]?",
    re.IGNORECASE,
)
"""How many of the things that a rate counts each number stands for, in digits: `in 10³ tokens/s`,
`(1000 samples/s)`, `tokens/s divided by 1000`."""

_COUNTS = {"3": "thousand ", "6": "million ", "9": "billion "}


def _in_words(text: str) -> str:
    """A line with the thousands that its units count by in words.

    >>> _in_words("Throughput in 10^3 tokens/s"), _in_words("up to 1.2 x 10^6 tokens/s")
    ('Throughput in thousand tokens/s', 'up to 1.2 x 10^6 tokens/s')
    """
    if "10" not in text and "1e" not in text.casefold() and "kilo" not in text.casefold():
        return text
    return _BY_THE_THOUSAND.sub(_count_in_words, text)


def _count_in_words(found: re.Match[str]) -> str:
    if found["behind"] is not None:
        return " in thousands"
    power = found["power"] or found["e"] or (found["raised"] or "3").translate(_RAISED)
    return _COUNTS[power]


_RAISED = str.maketrans("³⁶⁹", "369")

SENTENCE_END = re.compile(r"(?<=[.;。；])\s+|(?<=[。；])")


_PHRASE = re.compile(
    rf"{COUNTED}(?:tokens?|toks?|words|samples?|sequences?|sentences?|utterances?"
    r"|images?|imgs?|items?)(?: (?:processed|trained|consumed|seen))?(?:\s*/\s*|\s+per\s+)"
    r"(?:gpu|device|npu|card|chip|sec(?:ond)?|s)\b"
    r"(?:(?:\s*/\s*|\s+per\s+|\s+and\s+)(?:gpu|gcd|tile|card|chip|device|accelerator|rank"
    r"|[nhtx]pu|dcu|p|sec(?:ond)?|s)\b)?"
    r"(?:,? (?:[(\[]|in )(?:in )?(?:thousands?|millions?|billions?|[kM]|[x×*] ?1[0e][0-9,^]*)"
    r"(?![A-Za-z0-9])[)\]]?)?|\bTGS\b|\bMFU\b|\bTFLOPS?\b|(?<=[はが为是：])TFLOPS?/(?:s/)?GPU(?![A-Za-z])"
    r"|\b(?:(?:step|iter(?:ation)?)[ -](?:time|latency)"
    r"|(?:time|latency) (?:per|of (?:one|a|an|each)) (?:(?:training|optimi[sz]er|global|full) )?"
    r"(?:step|iter(?:ation)?))\b"
    r"(?:\s*[(\[](?:ms|s|sec|seconds|milliseconds)[)\]]| in (?:ms|s|seconds|milliseconds)\b)?"
    r"|(?<![\w/])(?<!first )(?<!last )(?<!few )(?<!some )(?<![0-9] )(?:milli)?seconds of "
    r"(?:one|an?|each|every) (?:(?:training|optimi[sz]er|global|full) )?(?:step|iter(?:ation)?)\b"
    r"|(?<![\w/])(?:ms|s|secs?|(?:milli)?seconds)\s*(?:/|\bper)\s*"
    r"(?:(?:training|optimi[sz]er|global|full) )?(?:step|iter(?:ation)?|it)\b"
    r"|(?<![\w/])(?:(?:milli)?seconds|secs?|minutes|hours) (?:for|per) [0-9][0-9,]*k? "
    r"(?:steps|iterations|iters)\b"
    r"|\btime (?:for|of|per) [0-9][0-9,]*k? (?:steps|iterations|iters)"
    r"(?:\s*[(\[](?:ms|s|secs?|seconds|min|minutes|h)[)\]]"
    r"| in (?:ms|s|seconds|milliseconds|minutes|hours)\b)",
    re.IGNORECASE | re.ASCII,  # `単位はTFLOPS/GPUです`
)

_SUBJECT = (
    r"(?:(?:again|here|all|the|training|train|mean|average|avg\.?|median|global|total|aggregate"
    r"|end-to-end|measured|(?:single|multi)-(?:GPU|node)|[A-Z]\w+'s) )*"
    r"(?:throughputs?|speeds?|performance|rates?|numbers|values|cells|timings|times?)"
)

_OF_WHOM = re.compile(
    r"\b(?:throughputs?|rates?|speeds?|performance) (?:per|for each|of (?:one|each|a single))[ -]"
    r"(?:(GPU|GCD|tile|device|card|chip|NPU|accelerator|rank)|node|host|server|machine)\b",
    re.IGNORECASE,
)
"""Whose a rate is, in words apart from it: `throughput per device in tokens/s`."""


def of_a_node(text: str) -> bool:
    """Whether a text says of its rates that they are of a node each.

    >>> of_a_node("throughput per node in tokens/s"), of_a_node("throughput per GPU in tokens/s")
    (True, False)
    """
    return any(not found[1] for found in _OF_WHOM.finditer(unmarked(text)))


_OF_MEMORY = re.compile(
    r"\b(?:(?:peak|highest|largest|max(?:imum)?)\s+(?:(?:allocated|used|reserved)\s+)?"
    r"(?:(?:GPU|CUDA|device)\s+)?(?:mem(?:ory)?|VRAM)\b"
    r"(?:\s+(?:usage|allocated|used|reserved|per\s+GPU))?"
    r"(?:\s+(?:of|on)\s+(?:a|one|each|any)(?:\s+of)?(?:\s+the)?"
    r"\s+(?:GPU|device|accelerator|rank|card)s?)?"
    r"|memory\s+per\s+(?:GPU|card|device))\b"
    r"(?:\s*[(\[][MG]i?B(?:\s+per\s+(?:GPU|device|accelerator|card))?[)\]]|,?\s+in\s+[MG]i?B\b)?"
    r"|^\W{0,8}(?:GPU\s+)?(?:memory|VRAM)(?:\s+(?:usage|consumption|footprint))?\s*[(\[][MG]i?B[)\]]"
    r"(?=[^.;|]{0,40}\b(?:pre-?)?(?:train|fine-?tun))"
    r"|\b(?:GPU\s+)?(?:memory|VRAM)(?:\s+(?:usage|consumption|footprint))?"
    r"(?=\s+(?:of\s+(?:the|a|each)\s+\w+\s+)?"
    r"(?:when|during|while|for|in|of)\s+(?:\w+[ -])?(?:train|fine-?tun))"
    r"|\bmemory\s+(?:requirements?|needs?|needed|required)\s+(?:for|of|to|when)\s+(?:\w+[ -]){0,2}?"
    r"(?:train|fine-?tun)(?:ing|e)?\b"
    r"|(?:(?<=training )|(?<=tuning ))(?:GPU )?(?:memory|VRAM)\b(?!\s+(?:bound|efficien|limit|sav))"
    r"|\b(?:GPU\s+memory|VRAM)(?=\s+(?:is |was )?(?:required|needed|usage|use[ds]?|consumption"
    r"|footprint|consumed|taken))"
    r"|(?:(?:单卡|每卡)?(?:峰值|最大)|单卡|每卡)显存(?:占用|使用量?|消耗)?"
    r"|显存(?:占用|使用)?的?峰值"
    r"|(?:ピーク|最大)(?:GPU)?メモリー?(?:使用量|消費量)?"
    r"|(?:최대|피크) ?(?:GPU ?)?메모리(?: ?사용량)?",
    re.IGNORECASE,
)


def meant_above(above: Sequence[Line], declared: Sequence[Line], schema: Schema) -> Said | None:
    """The one quantity in which the text above a table, or else around it, says it measures; what
    the line right above it names goes before all else."""
    last = opens_table(above)
    heard = heard_in(last.text) if last else None
    if last and _COMPARES.search(last.text):
        return None
    if last and heard and not heard.phrases:
        told = {known for each in heard.of_memory if (known := said(each))}
        if told:
            found = told.pop() if len(told) == 1 else None
            return found if found is not None and found.field in fields(schema) else None
        if _OF_ANOTHER.search(last.text) or _names_a_setting(last.text, schema):
            return None
    found = said_above([last] if last and heard and len(heard.phrases) == 1 else above)
    if found is None and not any(heard_in(line.text).phrases for line in above):
        apart = any(not of_set_up_alone(line) for line in above if line.text.strip())
        found = None if apart else said_above(declared)
    return found if found is not None and found.field in fields(schema) else None


_COMPARES = re.compile(
    r"\bspeed-?ups?\b|\brelative (?:to|throughput|speed)|\bnormali[sz]ed\b", re.IGNORECASE
)
"""Words of a line that opens a table of ratios, whatever unit it names."""


def _names_a_setting(text: str, schema: Schema) -> bool:
    """Whether a line that opens a table names what was set for each run: `Batch size per GPU:`."""
    (column,) = header([text.strip(" *_:：.")], schema) if len(text) <= LONGEST else (None,)
    return column is not None and column.spec is not None and column.spec.configuration


def of_set_up_alone(line: Line) -> bool:
    """Whether a heading or a line says with what the runs below it ran, or nothing, and of no other
    quantity: `### Llama 3 8B on H100`, `Now with FP8:`, `## Results`."""
    return _of_set_up_alone(line.text)


@once
def _of_set_up_alone(line: str) -> bool:
    """The same of a line that stands nowhere; what costs least is asked first."""
    text = unmarked(line).strip(" #*_:：.")
    if _OF_ANOTHER.search(text):
        return False
    if _BEGINS_AS_SET_UP.match(text) or _GENERAL.fullmatch(text) or SIZED.search(text):
        return True
    told = devices(text) or names_format(text) or says_of_runs(line) or named(text)
    return bool(told or family_named(text) or program_named(text, any_case=True))


def beside(heading: str, other: str) -> bool:
    """Whether two headings are of one kind, and tell two things of it apart.

    >>> beside("## Box A (GTX 1080 Ti)", "## Box B (p2.8xlarge)"), beside("## Speed", "## Accuracy")
    (True, False)
    """
    kind, another = (_KIND.fullmatch(text.strip(" *:")) for text in (heading, other))
    return bool(kind and another and kind[1] == another[1])


_KIND = re.compile(r"(#*\s*(?:[A-Za-z]\w{2,}[ :-]+)+)(?:[A-Z]|[0-9]{1,3})(?:\s*[(:–—-].*)?")
"""A heading that numbers things of a kind: `Box B (p2.8xlarge)`, `System 2: two sockets`."""

_BEGINS_AS_SET_UP = re.compile(
    r"(?:(?:and|now|then|the same|same|again)[ ,]+)*"
    r"(?:with|without|using|w/o?|on|for|at|no|same|single|multi|相同|使用|关闭|开启)(?![A-Za-z])",
    re.IGNORECASE,
)

_GENERAL = re.compile(
    r"(?:(?:[0-9.]+|[A-Z]|main|training|pre-?training|fine-?tuning|results?|performance|throughputs?"
    r"|speed|benchmarks?|benchmarking|scaling|weak|strong|comparison|measurements|experiments?"
    r"|table|tables|section|appendix|end-to-end|llms?|language|models?|the|of|and|on|more|gpus?"
    r"|训练|性能|结果|实验|对比|测试|吞吐|速度|微调)(?![A-Za-z0-9])[\s,.:：&()-]*)*",
    re.IGNORECASE,
)
"""Headings that say of no quantity but a rate that it is below them."""


def opens_table(above: Sequence[Line]) -> Line | None:
    """The line right above a table where it is its caption, opens it with a colon, or is nothing
    but a quantity with its unit."""
    last = next((line for line in reversed(above) if line.text.strip()), None)
    if last is None or captions.is_caption(last):
        return last
    if last.text.rstrip(" *_").endswith((":", "：")):
        return last
    bare = unmarked(last.text).strip(" #*_.")
    of_all = bare.endswith((")", "B", "s", "U")) and (_OF_MEMORY.fullmatch(bare) or declares(bare))
    begins = _OF_MEMORY.match(bare)  # `Peak VRAM in MB of finetuning …`
    return last if of_all or (begins and begins[0].rstrip(")]").endswith("B")) else None


_OF_ANOTHER = re.compile(
    r"\b(?:loss(?:es)?|perplexity|ppl|accurac(?:y|ies)|scores?"
    r"|memory(?! (?:constraint|budget|limit))|energy|power|costs?|prices?"
    r"|latency|hours|minutes|seconds|days|times?|bubbles?|bandwidth|efficiency|convergence"
    r"|evaluation|quality|bpb|statistics|overheads?|speed-?ups?|ratios?|relative|improvements?"
    r"|gains?|versions?)\b"
    r"|显存|内存|损失|精度对比|能耗|メモリ|損失",
    re.IGNORECASE,
)
"""Words of a line that opens a table of another quantity than a rate."""


_OF_SAMPLES = re.compile(
    r"\b(?:samples?|sequences?|sentences?)(?:\s*/\s*|\s+per\s+|\s+a\s+)(?:s|sec|second)\b",
    re.IGNORECASE,
)


def named_rate(above: Sequence[Line]) -> str | None:
    """The field of a rate in `/s` whose things the text above names: sequences; None if it names
    no such thing, or others as well."""
    things = {thing for line in above for thing in _rated(line.text)}
    return "samples_per_s" if things == {"samples_per_s"} else None


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _rated(text: str) -> frozenset[str]:
    """Fields of the things that a line names with a rate."""
    things = {told.field for phrase in _PHRASE.findall(text) if (told := said(phrase))}
    return frozenset(things | {"samples_per_s"} if _OF_SAMPLES.search(text) else things)


def said_above(above: Sequence[Line]) -> Said | None:
    """The one quantity that the lines above a table name, and that is no kernel's; none where the
    nearest of them is of another table of the section: `The inference speed is in img/s.`"""
    last = next((heard_in(line.text) for line in reversed(above) if line.text.strip()), None)
    if last is not None and last.of_kernels and last.phrases:
        return None
    heard = [each for line in above if not (each := heard_in(line.text)).of_kernels]
    found = [told for each in heard for phrase in each.phrases if (told := said(phrase))]
    found = found or [told for each in heard for m in each.of_memory if (told := said(m))]
    known = [told for told in found if told.unit_known]
    one = len({told.field for told in found}) == 1 >= len({told.scale for told in known})
    return (known or found)[0] if one else None


_WHOSE = (
    r"(?: (?:of|over|across|for|from|on|per) (?:(?:the|an?|all|each|one|whole|entire|full|single"
    r"|[0-9]{1,5}) ){1,3}(?:job|run|cluster|machine|system|model|GPUs?|GCDs?|devices?|cards?|chips?"
    r"|accelerators?|NPUs?|TPUs?))?"
)
"""Whose rates are, in words behind them."""

_DECLARES = re.compile(
    rf"(?:(?:again|here|now|all),? )?(?:(?:{_SUBJECT}){_WHOSE}(?: is| are|:)?"
    rf"(?: (?:given|shown|reported|measured?|expressed|all))? (?:in |with |by |as |\()?)?"
    rf"(?:(?:the|model|training|achieved|measured|average|mean|median|absolute|total|aggregate"
    rf"|per-GPU) )*(?:{_PHRASE.pattern})"
    r"(?:/s(?:ec)?)?(?:/(?:GPU|device|accelerator|chip|card)| per (?:GPU|device"
    r"|accelerator|chip|card|accelerator|tile))?"
    r"[)\]]?(?: [a-z0-9().-]+)*",
    re.IGNORECASE | re.ASCII,
)
"""A part of a sentence that is nothing but a quantity with its unit, and how it was taken."""


@once
def declares(text: str) -> bool:
    """Whether a sentence of a line, or what stands between two of its commas, is a quantity with
    its unit, and says nothing of it but how it was taken: `Throughput in images per second, one
    GPU.`, `Mixed precision, avg. iteration time in milliseconds.`"""
    for whole in SENTENCE_END.split(_TIMES.sub("time", _TAG.sub("", unmarked(text))).strip()):
        sentence = _GOES_ON.sub("", whole)
        if _VERB.search(sentence) or _NO_TRAINING.search(sentence):
            continue
        own = _CALLED_TABLE.sub("", sentence)
        parts = (part.strip(" .:;").removeprefix("in ") for part in own.split(","))
        if any(map(_DECLARES.fullmatch, parts)):
            return True
    return False


_TIMES = re.compile(r"(?<=step )times\b|(?<=iteration )times\b|(?<=iter )times\b", re.IGNORECASE)

_GOES_ON = re.compile(r" (?:is|are|was|were)\s*:?\s*$")
"""The end of a sentence that goes on in a table: `the milliseconds of a step were`."""

_CALLED_TABLE = re.compile(
    r"^\W*(?:Table|Tab\.|Tabelle|Tableau|Tabla|表)\s?[0-9A-Z.]{0,6}\s?[.:：]\s*", re.I
)
"""How a caption begins: `Table 7.`, `Table:`."""

_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)

_VERB = re.compile(
    r"\b(?:was|were|has|have|had|reach(?:es|ed)?|gets?|got|takes?|took|gives?|increas\w+|improv\w+"
    r"|drops?|dropped|than|from|vs|up to|about|only|see|can|could|does|did|we|you|it)\b"
    r"|[0-9][0-9,.]*(?<![,.]) ?(?:k|M|thousand|million)? ?(?:tokens?|samples?|images?|sequences?"
    r"|sentences?|words|imgs?|items|ms|s|seconds|milliseconds)\b"
    r"(?! (?:per|in (?:each|a)) (?:sample|sequence|document|row)\b)",
    re.IGNORECASE,
)
"""Words of a sentence that tells of a rate or compares it, and declares nothing."""

_NO_TRAINING = re.compile(r"\b(?:inference|serving|generat\w+|decod\w+|eval\w*|valid\w+)\b", re.I)


class Heard(NamedTuple):
    """Phrases of rates and of memory in a line, and whether it is of kernels."""

    phrases: tuple[str, ...]
    of_memory: tuple[str, ...]
    of_kernels: bool


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def heard_in(text: str) -> Heard:
    """Phrases in a line, asked once."""
    bare = _TIMES.sub("time", unmarked(_in_words(text)))
    bare = _OF_ONE_IN_JAPANESE.sub(r"\1/GPU", _PER_CARD.sub("/GPU", bare))
    if _MAY_BE_RATED.search(bare):
        for form, things in _RATES_ELSEWHERE:
            bare = form.sub(partial(_rate_in_english, things), bare)
    if "秒" in bare or "초" in bare:
        bare = _BY_STROKES.sub(lambda told: english(told[0]).replace(" ", ""), bare)
    kernels = {found[0].casefold() for found in _OF_KERNELS.finditer(text)}
    of_kernels = bool(kernels) and not (
        (many_devices(text) and (model_named(text) or _OF_TRAINING.search(text)))
        or (kernels == {"attention"} and _OF_STEPS.search(text))
    )
    phrases = (each for sentence in SENTENCE_END.split(bare) for each in _phrases(sentence))
    of_memory = tuple(_with_its_unit(found, bare) for found in _OF_MEMORY.finditer(bare))
    return Heard(tuple(phrases), of_memory, of_kernels)


def _with_its_unit(found: re.Match[str], text: str) -> str:
    """The name of a memory in a text, with the unit that it says behind a few other words."""
    apart = None if "B" in found[0] else _UNIT_BEHIND.match(text, found.end())
    phrase = _HIGHEST.sub("peak", found[0].lstrip(" #*=_>-"))
    phrase = _NEEDED.sub("memory", _OF_WHICH_DEVICE.sub("", phrase))
    return f"{phrase} ({apart[1]})" if apart else phrase


_HIGHEST = re.compile(r"^(?:highest|largest)\b", re.IGNORECASE)
"""Other words for a peak, in front of a memory."""

_NEEDED = re.compile(r"^memory\s+(?:require|need).*", re.IGNORECASE)
"""Memory that training needs, by any words: `memory requirements for training`."""

_OF_WHICH_DEVICE = re.compile(
    r"\s+(?:of|on)\s+any(?:\s+of)?(?:\s+the)?\s+(?:GPU|device|accelerator|rank"
    r"|card)s?\b",
    re.IGNORECASE,
)
"""Of which device the peak is: `of any of the GPUs`, `on any rank`. That of all may be a sum."""

_UNIT_BEHIND = re.compile(
    r"(?:(?!\.\s)[^;|。；]){0,80}?"
    r"(?:[(\[（【]|(?<!^),? in |(?:单位|單位|単位|단위)(?:均?为|都?是|는|は)?\s?[:：]?\s?)"
    r"([MG]i?B)(?![A-Za-z/])"
)
"""`Peak memory of fine-tuning (GB)`, `peak memory reported by the allocator, in GB`, or
`峰值显存，单位 GB`."""


_MAY_BE_RATED = re.compile("秒|초당|[Ss]ekunde|seconde|segundo|secondo|в секунду", re.IGNORECASE)
"""In every text in another language that names a rate."""

_OF_A_CARD = (
    r"(?:(?:每|单)(?:[张块个])?(?:显卡|卡|GPU)的?|(?:1 ?)?GPU ?(?:あたりの?|当たりの?|당) ?)"
)

_A_SECOND = (
    r"每秒(?:钟)?(?:能|可)?(?:处理|训练|消耗|完成)?的?总?"
    r"|(?:1 ?秒(?:間)?(?:あたり|当たり|に処理(?:する|した|できる))|毎秒)の?(?:処理)?"
    r"|초당 (?:처리(?:한|하는|된)? )?"
)

_PER_SECOND = r"(?:pro|je|par|por|al|в) (?:sekunde|seconde|segundo|secondo|секунду)\b"

_THINGS = {
    "images": "图片|图像|图|画像|이미지|Bilder|images|imágenes|imagens|immagini|изображений"
    "|картинок",
    "samples": "样本|序列|句子|サンプル|샘플|Samples|Sequenzen|échantillons|séquences|muestras"
    "|amostras|campioni|примеров|сэмплов",
    "tokens": "tokens?|词元|トークン|토큰|jetons|токенов",
}

_RATES_ELSEWHERE = [
    (
        re.compile(
            rf"({_OF_A_CARD})?(?:{_A_SECOND})\s*(?:{words})(?:数量?| ?수)?(?![A-Za-z])"
            rf"|\b(?:{words}) {_PER_SECOND}",
            re.IGNORECASE,
        ),
        things,
    )
    for things, words in _THINGS.items()
]
"""Rates in other languages: `每秒处理的样本数`, `Bilder pro Sekunde`."""


def _rate_in_english(things: str, told: re.Match[str]) -> str:
    """The rate that a phrase in another language is, of one device where it says so."""
    return f" {things} per second{' per GPU' if told[1] else ''} "


_BY_STROKES = re.compile(
    r"(?:トークン|サンプル|画像|词元|样本|图片|图像|토큰|샘플|이미지)\s*/\s*[秒초](?:\s*/\s*(?:GPU|NPU|[卡枚]))?"
    r"|(?:毫|ミリ|밀리)?[秒초]\s*/\s*(?:1 ?)?(?:ステップ|イテレーション|反復|스텝|步|迭代"
    r"|iter|step)"
)
"""Rates as units in other languages: `トークン/秒/GPU`."""

_PER_CARD = re.compile(r"\s*/\s*卡")

_OF_ONE_IN_JAPANESE = re.compile(
    r"GPU\s*(?:1|１|一)?\s*(?:基|枚|台|個)?\s*(?:あたり|当たり)の?\s*((?:tokens?|samples?)/s(?:ec)?)"
)
"""A rate of one device: `GPU 1 基あたりの tokens/s`."""


def _phrases(sentence: str) -> Iterator[str]:
    """The phrases of a sentence, each with whose it is; of a node it is nobody's here."""
    whose = [match[1] for match in _OF_WHOM.finditer(sentence)]
    for phrase in _PHRASE.findall(sentence):
        told = said(phrase) if whose else None
        if told is None or told.field not in ("tokens_per_s", "samples_per_s", "item_rate"):
            yield phrase
        elif all(whose):
            yield f"{phrase} per {whose[0]}"


_OF_TRAINING = re.compile(
    r"\b(?:(?:pre-?|fine-?)?train(?:ing)?|fine-?tuning) (?:runs? )?(?:on|with|over|across|of)\b"
    r"|\b(?:pre-?)?trained (?:on|with|over)\b",
    re.IGNORECASE,
)
"""Words of whole runs, on several devices: `GPT training on 8 H100, TFLOPS per GPU`."""

_OF_KERNELS = re.compile(
    r"\b(?:mat-?mul|gemm|attention|(?<!Linux )(?<!open )(?<!host )kernels?"
    r"(?! (?:modules?|drivers?|version|parameters?|[0-9]))|softmax|(?:rms|layer)-?norm|swiglu"
    r"|all-?(?:reduce|gather)"
    r"|bandwidth|inference|decod(?:e|ing)|prefill|serving)\b"
    r"|^\s*\S*[-_](?:fwd|bwd|forward|backward|attn)(?![A-Za-z0-9])\S*(?: \(\S+\))?:\s*$",
    re.IGNORECASE,
)
"""Found in a line that names what is no run, or the figure of a pass: `sdpa-fwd-d64 (TFLOPS):`."""


_OF_STEPS = re.compile(
    r"\b(?:activation|gradient)[ -](?:re-?comput|check-?point)|\bglobal[ -]batch|\bZeRO\b|\bFSDP"
    r"|\b(?:pipeline|data)[ -]parallel",
    re.IGNORECASE,
)
"""Settings of training steps, beside which attention is one of them: `bf16, flash attention and
activation checkpointing on`."""


class Opened(NamedTuple):
    """A quantity in the words of a text, as the label of a column has them, and what it is."""

    phrase: str
    said: Said


def opened(lines: Sequence[Line]) -> tuple[Opened, ...]:
    """The quantities with which the text nearest above a table begins a sentence; texts that say
    with what its runs ran and nothing else may stand between them and the table.

    >>> line = Line(3, "Table 3: Step time (s) and peak memory (GiB) of BERT on 8 A100.", 1, {})
    >>> [each.said.field for each in opened([line])]
    ['step_time', 'memory']
    >>> opened([line._replace(text="Step time of BERT relative to that on 8 A100 (s).")])
    ()
    """
    size = _unit_of_all(lines)
    for paragraph in _paragraphs(lines):
        text = " ".join(line.text.strip() for line in paragraph)
        sentences = SENTENCE_END.split(text) if len(text) <= LONGEST else ()
        found = {told for each in sentences if (told := _begins(each, size))}
        if found:
            return found.pop() if len(found) == 1 else ()
        said_so = (paragraph[0]._replace(text=each) for each in sentences)
        if not sentences or not all(map(_of_how, said_so)):
            return ()
    return ()


def _of_how(sentence: Line) -> bool:
    """Whether a sentence says only with what runs ran, in what numbers are, or over what."""
    text = sentence.text
    return bool(of_set_up_alone(sentence) or _UNITS.search(text) or _TAKEN_OVER.match(text))


_TAKEN_OVER = re.compile(
    r"\W*(?:(?:all |the )?(?:numbers|values|results|times?|rates?) (?:are|is) )?(?:the )?"
    r"(?:(?:mean|median|average|averaged?|steady[ -]state)s? (?:of|over|after)|(?:higher|lower"
    r"|more|less) is better|measured (?:over|after)|after \w+ warm-?up)\b"
    r"(?!.*\b(?:loss|accuracy)\b)",
    re.IGNORECASE,
)
"""A sentence that says over what numbers were taken: `Mean of 100 iterations.`"""


def _paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines above a table from the nearest on, those together over which a sentence goes on."""
    held: list[Line] = []
    for line in reversed([line for line in lines if _LETTER.search(line.text)]):
        if held and not _goes_on(line, held[0]):
            yield held
            held = []
        held.insert(0, line)
    if held:
        yield held


def _goes_on(line: Line, below: Line) -> bool:
    """Whether a sentence of a line goes on in the one below it."""
    if not 0 <= below.number - line.number <= 1 or _STANDS_ALONE.match(line.text):
        return False
    return not _STANDS_ALONE.match(below.text) and not _ENDED.search(line.text)


_LETTER = re.compile(r"[^\W\d_]")

_STANDS_ALONE = re.compile(
    r"\s*(?:#|\\|[-*+•>] |[0-9]{1,2}[.)] |\||<|\.\. |={2,}|\*\*|[_*]*Tab)", re.I
)
"""How a line begins that goes on from none: a heading, an item, a caption, a tag."""

_ENDED = re.compile(r"[.:;!?>|。：；][\s*_]*$")
"""The end of a line that a sentence ends with."""


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def _begins(sentence: str, size: str) -> tuple[Opened, ...]:
    """The quantities with which a sentence begins, one after another; none where something else
    follows them by `and`. `size` is the unit that the text gives all numbers."""
    bare = _TAG.sub("", unmarked(_in_words(sentence))).strip(" \t#=>-–*•.:：")
    if _COMPARES.search(bare) or _NO_TRAINING.search(bare) or of_a_node(bare):
        return ()
    if heard_in(sentence).of_kernels:
        return ()
    rest = _COMMA.sub(" ", _LEADS.sub("", _CALLED_TABLE.sub("", bare), count=1))
    rest = _APART.sub(r"\1 (\3) \2", rest)
    found: list[Opened] = []
    while told := _first(rest, size):
        phrase, meant, rest = told
        if any(each.said.field == meant.field for each in found):
            return ()
        found.append(Opened(phrase, meant))
        joined = _JOINS.match(rest)
        if joined is None:
            break
        rest = rest[joined.end() :]
        if joined[1] is None and not _first(rest, size):  # settings behind a comma
            break
    else:
        return ()
    of_memory = len(found) == 1 and found[0].said.field == "memory"
    return () if of_memory and not heard_in(sentence).of_memory else tuple(found)


MOST_WORDS = 10
"""Words of the name of a quantity with its unit."""


def _first(text: str, size: str) -> tuple[str, Said, str] | None:
    """The quantity with which a text begins, in its words, and the text behind it."""
    ends = (
        [found.end() for found in _WORD.finditer(text)][:MOST_WORDS] if text[:1].isalpha() else ()
    )
    for end in reversed(ends):
        phrase, rest = text[:end].rstrip(" ,;:."), text[end:]
        rest = text[len(phrase) : end] + rest
        if not _MAY_FOLLOW.match(rest) or _NO_PLAIN_NUMBERS.match(rest):
            continue
        told = said(phrase)
        if told is not None and not told.unit_known and (own := _size_behind(rest) or size):
            phrase = f"{phrase} ({own})"
            told = said(phrase)
        if told is None or told.field not in _MEASURED or not told.unit_known:
            continue
        if whose := _OF_EACH.match(rest):
            phrase = f"{phrase} per GPU"
            told = said(phrase) if whose[1] else None
        return (phrase, told, _ASIDE.sub("", rest, count=1)) if told else None
    return None


def _size_behind(rest: str) -> str:
    """The unit that a text gives a quantity behind other words of it; empty where it gives none."""
    found = _SIZE_BEHIND.match(rest)
    return found[1] or found[2] if found else ""


_SIZE_BEHIND = re.compile(
    r"(?:[^,.;:()\[\]]|,(?= in\b)){0,60}?"
    r"(?:[(\[]\s*(?:in )?(seconds|secs?|milliseconds|msecs?|ms|s|[MG]i?B)\s*[)\]]"
    r"|(?<=[, ])in (seconds|secs?|milliseconds|msecs?|ms|[MG]i?B)\b(?!\s*(?:per\b|/)))",
    re.IGNORECASE,
)
"""Words behind a quantity, and its unit: `Step time of the dense models (s)`."""

_APART = re.compile(
    r"^((?:(?:training|mean|average|avg\.?|median|per-GPU|total|overall) ){0,3}"
    r"(?:throughput|speed|performance|rate)s?)(?=\s) ?([^.;:()\[\]]{1,60}?) ?"
    r"[(\[]\s*(?:in )?([A-Za-z]+(?:(?:/| per )[A-Za-z]+){1,2}|TFLOPS)\s*[)\]]",
    re.IGNORECASE,
)
"""How fast something was, and behind words of what it was in which unit: `Training throughput of
Llama models (tokens/s/GPU)`."""

_MEASURED = {
    "step_time", "model_flops_rate", "memory", "tokens_per_s", "tokens_per_gpu_per_s", "mfu", "hfu",
    "samples_per_s", "samples_per_gpu_per_s", "step_rate", "item_rate",
}  # fmt: skip

_WORD = re.compile(r"\S+")

_COMMA = re.compile(r", (?=(?:in|per|each) )", re.IGNORECASE)
"""A comma between a quantity and its unit: `Peak memory, in GiB`."""

_LEADS = re.compile(
    r"^(?:(?:here|below|above|in the table)? ?(?:is|are|we|this table|the (?:following )?table"
    r"(?: below)?"
    r"|(?:all |the )*(?:numbers|values|cells|entries|results|figures|columns?)(?: below| here)?"
    r"|(?:each|every) (?:cell|entry|number|value|column))"
    r" (?:list|report|show|give|present|contain|measure|hold|are|is)s?(?: in)?(?: the| our)? )?"
    r"(?:(?:the|our|achieved|obtained|measured|observed|resulting|overall|end-to-end"
    r"|(?:fine|instruction)-?tuning|pre-?training) ){0,3}",
    re.IGNORECASE,
)
"""Words in front of a quantity that a sentence declares."""

_MAY_FOLLOW = re.compile(
    r"\s*(?:$|[.,;:([{&–—]|- |/ )"
    r"|\s+(?:for|of|on|when|while|during|with|without|in|as|by|across|over|at|using|under|versus"
    r"|vs|against|reached|achieved|measured|obtained|reported|observed|from|after|before|we|and|is"
    r"|are|training|pre-?training|fine-?tuning|nach|je nach|selon|suivant|en fonction d[eu]|según"
    r"|segundo o|secondo|conforme|в зависимости от|при)\b",
    re.IGNORECASE,
)
"""Text behind a quantity that leaves it what it is."""

_NO_PLAIN_NUMBERS = re.compile(
    r"\s*[,(\[]?\s*(?:in (?:units|thousand|million|billion|[kKM]\b|[0-9])|thousand|million|[kKM]\b"
    r"|[x×*÷/] ?1|relative|normali[sz]ed|log|speed-?up|per\b|/ ?(?:node|host|machine))"
    r"|\s+(?:is|are|was|of|at|reached) (?:about |around |over )?[0-9]"
    r"|\s+(?:vs\.?|versus|against) (?!(?:(?:the|global|micro|total|number of|model|max) )*(?:batch"
    r"|sequence|seq|context|GPUs?|devices?|nodes?|sizes?|length|parameters|layers?|parallel)\b)",
    re.IGNORECASE,
)
"""Text behind a quantity after which numbers are not of it as they stand, or one is told."""

_OF_EACH = re.compile(
    r"\s*,?\s*[(]?(?:for|of|on|by|per) (?:each|every|one|a single|an individual|any) "
    r"(?:(GPU|device|card|chip|NPU|accelerator|GCD|rank)|node|host|machine|server)\b",
    re.IGNORECASE,
)

_ASIDE = re.compile(r"^\s*\([^()]{0,60}\)(?=\s+(?:and|&)\s|\s*,)")
"""A remark between two quantities: `Step time (s) (left) and peak memory (GB) (right)`."""

_JOINS = re.compile(
    r"\s*(?:,?\s+(and|as well as|together with|along with|plus)\s+|(&)\s*|,\s+|(/)\s+)"
)
"""Signs and words between two quantities."""


def _unit_of_all(lines: Sequence[Line]) -> str:
    """The unit that the text above a table gives all its numbers; empty where it gives none."""
    found = {
        m[1] for line in lines if len(line.text) <= LONGEST
        for m in _UNITS.finditer(unmarked(line.text))
    }  # fmt: skip
    return found.pop() if len(found) == 1 else ""


_UNITS = re.compile(
    r"\b(?:units?\s*(?:[:=]|is\b|are\b)\s*|(?:all |the )?(?:numbers|values|times?|timings|cells"
    r"|entries|results|figures)(?: below| here)? (?:are |is )?(?:all |given |reported |shown )?"
    r"(?:in )?)(seconds|secs?|milliseconds|msecs?|ms|s|[MG]i?B)\b(?!\s*(?:per\b|/))",
    re.IGNORECASE,
)
"""A sentence that says in what all numbers of a table are: `Units: seconds.`"""


def opened_labels(
    grid: Grid, schema: Schema, lines: Sequence[Line], legend: Mapping[str, str]
) -> dict[str, str]:
    """Labels with the quantity that the text which opens a table names: the one that says nothing,
    of numbers alone, and those that only name one quantity each."""
    labels = [plain(text) for text in grid.header()]
    if grid.labels or len(set(labels)) < len(labels):
        return {}
    columns = header(labels, schema)
    asked = [n for n, c in enumerate(columns) if n and labels[n] not in legend and _open(c)]
    asked = [n for n in asked if numbers_alone(grid, n)]
    told = [
        (of_whom, each.said.field) for each in (opened(lines) if asked else ())
        if (of_whom := _of_whom(each, lines)) and each.said.field in fields(schema)
    ]  # fmt: skip
    held = {c.spec.name for n, c in enumerate(columns) if c.spec and n not in asked}
    found: dict[str, str] = {}
    for phrase, field in told:
        named = [n for n in asked if _noun(labels[n], field)]
        if len(named) == 1 and field not in held:
            found[labels[named[0]]] = phrase
            held.add(field)
    rest = [phrase for phrase, field in told if field not in held]
    free = [n for n in asked if labels[n] not in found and columns[n].spec is None]
    if len(rest) != 1 or len(free) != 1 or _COUNTS_STEPS.fullmatch(labels[0]):
        return found
    (at,) = free
    if _SAYS_NOTHING.fullmatch(labels[at]) or generic(columns[at]):
        found[labels[at]] = rest[0]
    return found


def _open(column: Column) -> bool:
    """Whether a label does not say in what the numbers of its column are."""
    if column.spec is None:
        return not column.degrees
    return column.spec.quantity is not None and not column.unit_known


def numbers_alone(grid: Grid, at: int) -> bool:
    """Whether a column holds numbers without a unit, outcomes and nothing else."""
    texts = [plain(row.cells[at].text) for row in grid.rows if at < len(row.cells) and not row.one]
    numbers = [text for text in texts if _NUMBER.fullmatch(text)]
    return bool(numbers) and all(
        text in numbers or not text or _NO_NUMBER.fullmatch(text) for text in texts
    )


_NUMBER = re.compile(r"[~≈]?\s*[0-9][0-9.,'’]*(?:\s*(?:±|\+/-)\s*[0-9.,]+)?")

_NO_NUMBER = re.compile(r"[-–—/]+|n/?a|none|(?:cuda[ _-]?)?(?:oom|out[ _-]of[ _-]memory)", re.I)


def _of_whom(each: Opened, lines: Sequence[Line]) -> str:
    """The words of a quantity, with whose it is where the text above says that of all its rates;
    empty where nobody knows."""
    whose = whose_rates([line.text for line in lines], each.said.field)
    if not whose or each.said.field not in _OF_ALL:
        return each.phrase
    told = said(f"{each.phrase} {whose}") if whose in ("per GPU", "(total)") else None
    return f"{each.phrase} {whose}" if told else ""


_OF_ALL = {"tokens_per_s", "samples_per_s", "item_rate"}


def _noun(label: str, field: str) -> bool:
    """Whether a label names a quantity and says no more of it: `Mem.`, `Time`."""
    form = _NOUNS.get(field)
    return form is not None and form.fullmatch(label.strip(" .:")) is not None


_NOUNS = {
    "step_time": re.compile(
        r"(?:(?:avg|average|mean|median|wall|step|iter(?:ation)?)[. _-]*)?"
        r"(?:time|t|latency|duration)|step|iter(?:ation)?", re.IGNORECASE,
    ),
    "memory": re.compile(
        r"(?:(?:peak|max(?:imum)?|gpu)[. _-]*){0,2}(?:mem(?:ory)?|vram|hbm)"
        r"(?:[. _-]*(?:usage|use|used|footprint))?|peak", re.IGNORECASE,
    ),
    "mfu": re.compile(r"mfu|(?:flops? )?util(?:i[sz]ation)?", re.IGNORECASE),
    "hfu": re.compile(r"hfu|(?:flops? )?util(?:i[sz]ation)?", re.IGNORECASE),
    "model_flops_rate": re.compile(r"[TP]?FLOPS?|FLOP/s", re.IGNORECASE),
}  # fmt: skip
"""Labels that name a quantity without its unit."""

_SAYS_NOTHING = re.compile(
    r"|(?:(?:our|measured|mean|average|avg\.?|median) )?"
    r"(?:values?|results?|measurements?|numbers?|figures?)"
    r"|ours(?: \(measured\))?|we|this work|measured|observed|achieved|actual|mean|average|avg\.?"
    r"|median|metric|reading|训练结果|结果|数值|值|実測値|測定値|結果|측정값|결과",
    re.IGNORECASE,
)
"""Labels of a column of what was measured, whatever it is."""

_COUNTS_STEPS = re.compile(r"(?:train(?:ing)? |global )?(?:steps?|iter(?:ation)?s?|epochs?)", re.I)
"""The label of a first column below which rows are points of one run."""
