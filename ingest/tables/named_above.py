"""Quantities that the text above a table names: what its numbers are where no label says it.

In: the lines above a table, those that declare something first. Out: the field that they name, with
its unit where they give one (`tokens per second per GPU`); None where they name none or several.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from assay.ingest.columns.composite import named
from assay.ingest.columns.headers import header
from assay.ingest.columns.subject import many_devices
from assay.ingest.columns.titles import SIZED, family_named, model_named, names_format, says_of_runs
from assay.ingest.grids.grid import LONGEST
from assay.ingest.lines.outlines import once
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import REMEMBERED, Line, Schema
from assay.ingest.tables import captions
from assay.ingest.tables.documents import unmarked
from assay.ingest.vocabulary.devices import devices
from assay.ingest.vocabulary.program_names import program_named
from assay.ingest.vocabulary.words import Said, english, said

COUNTED = (
    r"(?<!output )(?<!generated )(?<!generation )(?<!input )(?<!prompt )(?<!decoded )"
    r"\b(?:(?<![0-9] )(?:(?:thousand|million|billion)s?(?: of)? |[kM] ?))?"
)
"""A number of things in which rates are counted, and no rate itself: `million samples per second`;
none of tokens that a model was asked or answers."""

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
    r"|(?<![\w/])(?:ms|s|secs?|(?:milli)?seconds)\s*(?:/|\bper)\s*"
    r"(?:(?:training|optimi[sz]er|global|full) )?(?:step|iter(?:ation)?|it)\b",
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
    r"\b(?:(?:peak|highest|largest|max(?:imum)?)\s+(?:(?:allocated|used)\s+)?"
    r"(?:(?:GPU|CUDA|device)\s+)?(?:mem(?:ory)?|VRAM)\b"
    r"(?:\s+(?:usage|allocated|used|per\s+GPU))?"
    r"(?:\s+(?:of|on)\s+(?:a|one|each|any)(?:\s+of)?(?:\s+the)?"
    r"\s+(?:GPU|device|rank|card)s?)?"
    r"|memory\s+per\s+(?:GPU|card|device))\b"
    r"(?:\s*[(\[][MG]i?B(?:\s+per\s+(?:GPU|device|card))?[)\]]|,?\s+in\s+[MG]i?B\b)?"
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
    """The one quantity that the lines above a table name, and that is no kernel's."""
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
    rf"(?: (?:given|shown|reported|measured|all))? (?:in |\()?)?"
    rf"(?:(?:the|model|training|achieved|measured|average|mean|median|absolute|total|aggregate"
    rf"|per-GPU) )*(?:{_PHRASE.pattern})"
    r"(?:/s(?:ec)?)?(?:/(?:GPU|device|chip|card)| per (?:GPU|device|chip|card|accelerator|tile))?"
    r"[)\]]?(?: [a-z0-9().-]+)*",
    re.IGNORECASE | re.ASCII,
)
"""A part of a sentence that is nothing but a quantity with its unit, and how it was taken."""


@once
def declares(text: str) -> bool:
    """Whether a sentence of a line, or what stands between two of its commas, is a quantity with
    its unit, and says nothing of it but how it was taken: `Throughput in images per second, one
    GPU.`, `Mixed precision, avg. iteration time in milliseconds.`"""
    for sentence in SENTENCE_END.split(_TAG.sub("", unmarked(text)).strip()):
        if _VERB.search(sentence) or _NO_TRAINING.search(sentence):
            continue
        own = _CALLED_TABLE.sub("", sentence)
        parts = (part.strip(" .:;").removeprefix("in ") for part in own.split(","))
        if any(map(_DECLARES.fullmatch, parts)):
            return True
    return False


_CALLED_TABLE = re.compile(
    r"^\W*(?:Table|Tab\.|Tabelle|Tableau|Tabla|表)\s?[0-9A-Z.]{0,6}\s?[.:：]\s*", re.I
)
"""How a caption begins: `Table 7.`, `Table:`."""

_TAG = re.compile(r"</?[a-z][^<>]{0,200}>", re.IGNORECASE)

_VERB = re.compile(
    r"\b(?:was|were|has|have|had|reach(?:es|ed)?|gets?|got|takes?|took|gives?|increas\w+|improv\w+"
    r"|drops?|dropped|than|from|vs|up to|about|only|see|can|could|does|did|we|you|it)\b"
    r"|[0-9][0-9,.]*(?<![,.]) ?(?:k|M|thousand|million)? ?(?:tokens?|samples?|images?|sequences?"
    r"|sentences?|words|imgs?|items|ms|s|seconds|milliseconds)\b",
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
    bare = _OF_ONE_IN_JAPANESE.sub(r"\1/GPU", _PER_CARD.sub("/GPU", unmarked(text)))
    if _MAY_BE_RATED.search(bare):
        for form, things in _RATES_ELSEWHERE:
            bare = form.sub(partial(_rate_in_english, things), bare)
    if "秒" in bare or "초" in bare:
        bare = _BY_STROKES.sub(lambda told: english(told[0]).replace(" ", ""), bare)
    of_kernels = _OF_KERNELS.search(text) is not None and not (
        many_devices(text) and (model_named(text) or _OF_TRAINING.search(text))
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
    r"\s+(?:of|on)\s+any(?:\s+of)?(?:\s+the)?\s+(?:GPU|device|rank|card)s?\b", re.IGNORECASE
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
