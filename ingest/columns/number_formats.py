"""The number format that a sentence says runs computed in.

In: a sentence. Out: the parts of it that name a format. Of several formats the one that was
multiplied in is meant, which is for the caller to say; a wide one, in which much else is kept
beside it, counts only where the sentence speaks of runs or calls it their precision.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.terms import NUMBER_FORMAT

_NARROW = r"(?:bf16|fp16|fp8|bfloat-?16|float-?(?:16|8)|mx-?fp8|nv-?fp4)"

_WIDE = r"(?:tf32|fp32|float-?32)"

ALONE = deferred(
    r"\W*(?:(?:using|training|running|enabled|in|with) )+(bf16|fp16|fp8|bfloat-?16|float-?16)"
    r"(?:[ -]mixed)?[ -]precision\W*",
    re.IGNORECASE,
)
"""All of a line: `Using bf16 mixed precision`."""

_CALLED = deferred(
    rf"(?<![\w-])({_NARROW})[ -](?:mixed[ -])?precision"
    r"|(?:(?:\bprecision|\b(?:compute|computation|training|autocast)[ _-](?:d-?type|data[ -]?type)"
    r"|(?:^\W*|[.;,] )(?:the )?(?:d-?type|data[ -]?type))"
    r"(?:\W{1,3}| (?:is|was) )(?:AMP |mixed )?"
    r"|(?:精度|정밀도)(?:[均都]?[为是：:]| (?=[a-zA-Z])|는|은|は)\s*`?)"
    rf"({_NARROW})(?![\w-]*/|[\w-]*\+|\w*[0-9])",
    re.IGNORECASE,
)

_OTHER_PARTS = (
    r"gradients|gradient(?!\s*(?:$|check-?point|ckpt|accumulat))|weights|states?|optimi[sz]er|master|accumul"
    r"|reduc"
)
"""Parts that may be kept in another format; gradient checkpointing is none of them."""

_OF_NOTHING_ELSE = (
    rf"(?!\s*and\s+[`(]?(?:{NUMBER_FORMAT}|(?i:int|nf|{_OTHER_PARTS})))"
    r"(?!\s*(?:/|or|vs|\+|to|gradients?|weights|states?|communication|reductions?"
    r"|optimi[sz]er|accumulation|inputs?|caches?|moments?|copies)\b|/|\+)"
)

_USED = deferred(
    r"\b(?:in|us(?:e[sd]?|ing)|with|is|are|was|were|mixed[ -]precision,?) +"
    rf"(?:pure |plain |mixed |all |back (?:to|in|on) )?[`(]?({_NARROW})\b`?{_OF_NOTHING_ELSE}",
    re.IGNORECASE,
)
"""A number format that is used: a part of a sentence, and never the whole of what it says."""

_IS_USED = deferred(
    rf"(?<![\w-])({_NARROW})\)? (?:is|was) used\b(?! (?:for|only|in)\b)"
    rf"|\b(?:so|hence|thus|therefore),? (?:we (?:use|used) |only |in |with )?({_NARROW})"
    r"(?=\s*(?:[.,;)]|$))"
    rf"|(?:^\W*|[,;(] )compute:? `?({_NARROW})`?(?=\s*(?:[.,;)]|$))",
    re.IGNORECASE,
)

_ALL_IN_IT = deferred(
    rf"^\W*(?:all|everything)(?: (?:runs?|is|in|with|at|uses))* `?({_NARROW})`?(?=\s*[,;]\s)",
    re.IGNORECASE,
)
"""How a list begins that is of all runs: `Everything bf16, fork of the spring`."""

_MIXED = deferred(
    r"(?:\b(?:AMP|autocast|(?:mixed|half)[ -]precision|16-bit)(?: training)?[ ,]{0,2}[(`]{0,2}"
    rf"(?:with |in |using |is |means |= ?)?`?({_NARROW})\b`?{_OF_NOTHING_ELSE}"
    rf"|(?<![\w-])({_NARROW})[ -](?:AMP|autocast|mixed|compute|(?:pre-?)?training)\b"
    rf"|(?<![\w-])({_NARROW}) (?:params?|parameters|activations|compute) ?(?:/|,|and|with) ?"
    r"(?:fp|float)-?32 (?:\w+ ){0,2}(?:reduc|grad|master|optim|param|weight|state|moment)\w*"
    rf"|(?<![\w-])({_WIDE}) (?:params?|parameters|weights) ?(?:/|,|and|&) ?(?:activations"
    rf"|compute)\b"
    rf"|(?<![\w-])({_NARROW}) (?:params?|parameters|weights) ?(?:/|,|and|&) ?(?:all )?"
    r"(?:reductions?|grad(?:ient)?s|activations|compute)\b"
    rf"|(?<![\w-])({_NARROW}) ?[/+] ?(?:fp|float)-?32,? mixed\b"
    rf"|\bmixed[ _]`?({_NARROW})(?:`? ?[/+] ?`?(?:fp|float)-?32\b|(?<=_float16)|(?<=_bfloat16))"
    rf"|\bO[1-3],? ?[(:] ?(?:pure |mixed |almost )?({_NARROW})\b"
    r"|(?:^\W*|[,;(] |\b(?:with|in|using|torchao|the|TE) )"
    r"((?:float|fp)-?8|mx-?fp8|(?:nv|mx)-?fp4)(?: (?:hybrid|delayed|current|block|dynamic"
    r"|(?:tensor|row|block)-?wise)){0,2}[ -](?:recipe|scaling|linear layers?|linears|GEMMs?"
    r"|mat-?muls?|(?:row|tensor|block)-?wise)\b(?!.*\b(?:can|could|would|will|should|supports?"
    r"|supported|planned|available|faster|slower|needs?|requires?)\b))",
    re.IGNORECASE,
)
"""A format of products beside a wider one of the rest: `AMP (fp16)`, `bf16 autocast`."""

_BEGINS_MIXED = deferred(
    r"\W*(?:(?:with|in|using|training|automatic|native|torch) )*"
    rf"(?:(?:AMP|mixed[ -]precision)\b|{_NARROW}[ -](?:AMP|autocast|mixed)\b"
    rf"|{_NARROW} (?:params?|parameters|weights|activations|compute) ?(?:/|,|and|with|&) ?(?!on\b))"
    r"(?!.*\b(?:can|could|may|has|have|had|needs?|gives?|brings?|makes?|helps?|saves?|works?"
    r"|support\w*|takes?|took|occup\w+|costs?|bytes|faster|slower|available|requires?|option\w*"
    r"|(?:is|are|was|were) (?!used|on|enabled|applied))\b)",
    re.IGNORECASE,
)
"""How a remark begins that is about it, without a verb."""

_KEPT = (
    r"weights?|gradients?|grads?|states?|master|moments?|optimi[sz]er|accumul\w*|reduc\w*|softmax"
    r"|loss(?:es)?|logits?|norms?|layer ?norms?|router|embeddings?|buffers?|cop(?:y|ies)|inputs?"
    r"|outputs?|communication|all-?reduce\w*|teacher|EMA|VAE|encoders?|decoders?|statistics|scal\w+"
    r"|layers?|heads?|part(?:s|ly)?|only|some|checkpoints?|params?|parameters?|biases"
)
"""Parts of a run that are kept or computed in a wide format beside its products."""

_IN_FULL = deferred(
    rf"\b(?:full|single)[ -]precision,? ?[(`]{{0,2}}({_WIDE})\b(?! (?:{_KEPT})\b)"
    rf"|(?<![\w-])({_WIDE})[ -]precision\b"
    rf"|\bprecision\W{{1,3}}`?({_WIDE})\b(?!\s*[/+,]| and\b| (?:{_KEPT})\b)"
    r"|\b(?:train\w*|ran|runs?|running|done|benchmark\w*|measured|timed|experiments?|results|numbers"
    r"|timings|models?|everything|computed?)\b[^.;,()]{0,50}?\b(?:in|with|using|is|are|use[sd]?) "
    rf"(?:full |pure |plain )?`?({_WIDE})\b(?!\s*[/+]| (?:and|or|{_KEPT})\b)",
    re.IGNORECASE,
)

OF_A_PART = deferred(rf"\b(?:{_KEPT})\b", re.IGNORECASE)

LISTED = deferred(
    rf"(?:\band +|[,，、] *|[:：] ?|\w \+ (?:the )?|i\.e\.,? |(?:精度|数据类型)(?:为"
    rf"|是)? ?)`?({NUMBER_FORMAT})`?"
    r"(?=\s*(?:[,.;)，。；、）]|$| +(?:and|with|unless)\b| +\+ [A-Za-z]))",
    re.IGNORECASE,
)
"""A number format that stands alone in a list of settings."""

EVERY = deferred(
    rf"(?<![A-Za-z0-9]){NUMBER_FORMAT}(?![A-Za-z0-9])"
    r"(?!_(?:opt_level|lm_cross|backend|(?:initial_)?(?:loss_)?scale))",
    re.IGNORECASE,
)
"""A number format, and no option that is called after one: `fp16_opt_level`."""

WIDE = {"fp32"}
"""The format of what is accumulated and kept, beside the one of the products."""


def kinds_in(text: str) -> set[str]:
    """The number formats that a text names, each by its short name.

    >>> sorted(kinds_in("bfloat16 (bf16), master weights in float-32"))
    ['bf16', 'fp32']
    """
    found = (each[0].casefold().replace("-", "") for each in EVERY.finditer(text))
    return {each.replace("bfloat", "bf").replace("float", "fp") for each in found}


_ANY_MIXED = deferred(r"\bmixed[- ]precision\b|\bAMP\b", re.IGNORECASE)
"""Runs in mixed precision, in whatever format."""

_HALF = deferred(
    r"(?<![A-Za-z0-9])(?:(fp16|float-?16|half[- ]precision)|(bf16|bfloat-?16))(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def mixed_format(texts: Iterable[str]) -> str:
    """The one format that all lines of prose name which speak of mixed precision; empty where none
    does, or two of them differ.

    >>> mixed_format(["Mixed precision (`--fp16`) casts to FP16.", "| Mixed precision, bf16 |"])
    'fp16'
    >>> mixed_format(["AMP in FP16 on V100.", "AMP in BF16 on A100."])
    ''
    """
    found = set[str]()
    for text in texts:
        if ("ixed" in text or "AMP" in text) and not text.lstrip().startswith("|"):
            every = _HALF.finditer(text) if _ANY_MIXED.search(text) else ()
            found |= {"fp16" if each[1] else "bf16" for each in every}
    return found.pop() if len(found) == 1 else ""


_OF_LIGHTNING = deferred(r"(?<![\w.-])(16|32)-(true|mixed)\b")
"""A precision as Lightning calls it: `16-true`, beside `bf16-true`."""

_IN_WORDS = deferred(
    r"\b(?:otherwise|else) (fp16|bf16|fp32)(?=\s*(?:[.,;)]|$))"
    r"|\b(half|single)[ -]precision\b(?! (?:weights|gradients|states|copies|master|accum|optim))"
    r"|\b(apex)\b[^.;]{0,24}?\bO[12]\b"
    r"|\b(tf32)[ -](?:enabled|on|mode|math|precision)\b|\b(tf32) (?:is|was) (?:on|enabled|used)\b",
    re.IGNORECASE,
)

_CALLED_SO = {"half": "fp16", "single": "fp32", "apex": "fp16"}


def _in_words(text: str) -> Used | None:
    """The format that a sentence without the name of any other says in words: `half precision`."""
    if found := _OF_LIGHTNING.search(text):
        return Used(f"fp{found[1]}", found.start(1))
    every = {next(filter(None, each.groups())).casefold() for each in _IN_WORDS.finditer(text)}
    found = _IN_WORDS.search(text)
    others = {each[0].casefold() for each in EVERY.finditer(text)} - {"tf32", *every}
    if found is None or len(every) > 1 or others:
        return None
    word = next(filter(None, found.groups())).casefold()
    return Used(_CALLED_SO.get(word, word), found.start())


def names_mixed(label: str) -> bool:
    """Whether a label is of runs in mixed precision, and says not in which format."""
    return _ANY_MIXED.search(label) is not None and EVERY.search(label) is None


def all_mixed(text: str) -> bool:
    """Whether a part of a sentence says that what it is about ran in mixed precision, and no more.

    >>> all_mixed("Phase 2 only, mixed precision."), all_mixed("Mixed precision is 2x as fast.")
    (True, False)
    """
    return any(_ALL_MIXED.fullmatch(part) for part in _PARTS.split(text))


_PARTS = re.compile(r"[,;.:]+(?: |$)")

_ALL_MIXED = re.compile(
    r"[\s*_#-]*(?:(?:all|the)(?: (?:results|runs|numbers|rows))?(?: (?:are|were|is|ran))? )?"
    r"(?:(?:in|with|using) )?(?:automatic )?mixed[- ]precision(?: \(AMP\))?(?: only)?[\s*_]*",
    re.IGNORECASE,
)


_OUTER = (
    r"(?:first|last|final|input|output|outer(?:most)?|top|bottom)"
    r"(?: (?:and|or|the|few|one|two|three|four|[0-9]|first|last|final|output)){0,5}"
)
"""Layers at the ends of a model, in front of the word for them."""

_PART = (
    r"(?:master|(?:main|fp32) (?:weights|params|grads)|optimi[sz]er|states?|reduced|reductions?"
    r"|(?:Adam |first |second )?moments|grad(?:ient)?s?(?![ -]?(?:check|ckpt|accum))|softmax"
    r"|accumulat(?:ion(?! of)|ors?|ed)|(?:all-?|reduce-?)(?:reduc|gather|scatter)\w*|router|RoPE"
    r"|rotary|communicat\w+(?![ -]overlap)|loss(?:es)?(?![ -]scal)|logits?|(?:layer|RMS)[ -]?norms?"
    r"|norms|embeddings?|checkpoints?(?!ing)|teacher|EMA|VAE|(?:KV )?cache|evaluat\w+|inference"
    r"|exported|data ?sets?|biases|(?:LM|output|classif\w+|prediction)[ -]?heads?"
    rf"|{_OUTER} (?:(?:transformer|linear|decoder|dense|model) )?"
    r"(?:layers?|blocks?|projections?|linears?)"
    r"|(?:attention|dot products|gating)(?= (?:is|are|was|were|stays?|remains?|runs?|kept|left)\b))"
)
"""Parts of a run, and things beside it, whose format is not that of its products."""

_STEPS_IN = (
    r"(?:(?!\b(?:and|with|but|while|whereas|everything|all|else|rest|train\w*|precision|compute"
    r"|model|mat-?muls?|GEMMs?)\b)[^.;,()0-9/+|:&]){1,36}?"
)

_OF_PARTS = deferred(
    rf"\b{_PART}\b{_STEPS_IN}`?{NUMBER_FORMAT}`?"
    r"(?![\w-]| (?:train|pre-?train|mixed|autocast|compute))"
    rf"|(?<![\w-]){NUMBER_FORMAT}(?: for (?:the )?|[ -]){_PART}(?![\w-])"
    rf"|\b(?:except|but|besides|apart)(?: for| from|,)?(?: in)?(?: the)? (?:{_PART}s?|{_OUTER}),? "
    rf"[^.;,0-9]{{0,20}}{NUMBER_FORMAT}(?![\w-])"
    rf"|(?<![\w-]){NUMBER_FORMAT} (?:results|numbers|figures|timings|runs|measurements|rows)"
    r" (?:(?:are|were)(?: [a-z]+){0,2}? (?:in (?:the (?:next|second|third|other)|another|section"
    r"|appendix|table [0-9])|elsewhere|lower|higher|worse|better|slower|faster|similar|comparable"
    r"|identical|not|missing|omitted|excluded|pending)\b|(?:follow|come|differ|will|can|may)\b)"
    rf"|(?<![\w-]){NUMBER_FORMAT} (?:(?:is|was|are) (?:not (?:supported|available|stable|possible)"
    r"|un(?:supported|available|stable))|(?:diverge[sd]|overflow(?:s|ed)|became unstable)\b)"
    r"|\b(?:no|lacks?|lacking|instead of|rather than) (?:native |hardware )?"
    rf"{NUMBER_FORMAT}(?![\w-])|(?<![\w-]){NUMBER_FORMAT} (?:is |was )?(?:off|disabled)\b",
    re.IGNORECASE,
)
"""A number format that a part of a run has, or runs that are told elsewhere, or that none had:
`optimizer states in fp32`, `except the loss, which is FP32`, `V100 has no bf16`."""

_WITH_THE_REST = deferred(
    r"\b(?:weights|params|parameters|model|activations|training|layers)\b"
    r"[^.;:()0-9]{0,32}(?:,|,? and|&) (?:the )?$",
    re.IGNORECASE,
)
"""In front of a part in the same format as the whole: `weights, gradients and states in bf16`."""


def of_products(text: str) -> str:
    """A text with blanks for the number formats that were not those of its products.

    >>> of_products("BF16 for all except the loss, which is FP32.").split()
    ['BF16', 'for', 'all', '.']
    >>> of_products("All-reduce in fp16, gradient checkpointing, bf16").strip()
    ', gradient checkpointing, bf16'
    >>> of_products("All weights and gradients are bf16.")
    'All weights and gradients are bf16.'
    """
    if EVERY.search(text) is None:
        return text

    def blank(found: re.Match[str]) -> str:
        whole = _WITH_THE_REST.search(text, max(0, found.start() - LONGEST_LIST), found.start())
        return found[0] if whole else " " * len(found[0])

    return _OF_PARTS.sub(blank, text)


LONGEST_LIST = 60
"""Letters in which what else has a format stands in front of a part of a run."""


class Used(NamedTuple):
    """A number format, where it stands, and whether its sentence is a remark about it alone."""

    word: str
    at: int
    alone: bool = False


def computed_in(text: str) -> Used | None:
    """The format of its runs that a sentence names, if it is one.

    >>> computed_in("trained with AMP (FP16)")
    Used(word='FP16', at=18, alone=False)
    >>> computed_in("Everything here ran in fp32.").word
    'fp32'
    >>> computed_in("The loss is computed in fp32."), computed_in("Gradients in fp32")
    (None, None)
    >>> computed_in("No FP8 was used."), computed_in("Weights and matmuls in bf16").word
    (None, 'bf16')
    """
    text = _UNUSED.sub(lambda found: " " * len(found[0]), text)
    if named := _NOTHING_BUT.fullmatch(text):
        return _used(named)._replace(alone=True)
    text = of_products(text)
    for pattern in (_CALLED, _MIXED):
        kind = list(pattern.finditer(text))
        if kind:
            one = len({_used(each).word.casefold() for each in kind}) == 1
            alone = _BEGINS_MIXED.match(text) is not None
            return _used(kind[0])._replace(alone=alone) if one else None
    if whole := _ALL_IN_IT.match(text):
        return _used(whole)._replace(alone=True)
    if every := _ALL_MULTIPLIED.search(text):
        return _used(every)._replace(alone=True)
    used = list(_USED.finditer(text)) or list(_IS_USED.finditer(text))
    used = used or list(_MULTIPLIED_IN.finditer(text))
    used = used or list(_IN_OTHER_LANGUAGES.finditer(text))
    if used:
        return _used(used[0]) if len(used) == 1 else None
    if len(kinds_in(text)) == 1:
        full = _IN_FULL.search(text)
        if full and not OF_A_PART.search(text, 0, full.start(full.lastindex or 0)):
            return _used(full)
    return _in_words(text)


_UNUSED = deferred(
    rf"\b(?:no|not|never|without|neither|nor|n['’]t(?: use)?)(?: any| use)? `?{NUMBER_FORMAT}`?"
    r"(?![\w-])(?: (?:is|was|were|has been) (?:ever )?(?:used|enabled|involved))?"
    rf"|(?<![\w-])`?{NUMBER_FORMAT}`? (?:is|was|were) (?:(?:not|never|nowhere)(?: used| enabled)?"
    r"|used nowhere|disabled|off)\b",
    re.IGNORECASE,
)
"""A number format that runs did not have: `No FP8 was used`."""

_IN_OTHER_LANGUAGES = deferred(
    rf"(?:训练|計算|计算|学習|精度|全部|統一|统一|均|都|全て|すべて)[^。；;,，、A-Za-z0-9]{{0,10}}({NUMBER_FORMAT})"
    r"(?=\s*(?:精度|混合精度|で|を|格式|进行|進行|训练|$|[。；;,，、]))"
    r"|(?:^|[。；;,，、（(：:])\s*(?:同样|同樣|也|仍|均|都|一律)?(?:使用|采用|採用|启用)(?:了|的是)?\s*"
    rf"`?({NUMBER_FORMAT})`?(?=\s*(?:精度|混合精度|格式|训练|$|[。；;,，、）)]))"
    rf"|\b(?:gerechnet|trainiert|gemessen|calculs?|entra[îi]nements?|entrenamientos?|c[áa]lculos?"
    rf"|Genauigkeit)\b[^.;,0-9]{{0,30}}\b(?:in|en|em|mit)\s+`?({NUMBER_FORMAT})`?(?![\w-])",
    re.IGNORECASE,
)
"""The same in Chinese, Japanese, German, French and Spanish: `学習はすべて BF16 で行いました`."""

_MULTIPLIED_IN = deferred(
    r"\b(?:mat-?muls?|GEMMs|matrix multiplications?|linear layers|(?:forward and )?backward"
    r"(?: pass)?|compute)(?: (?:is|are|was|were|run|ran|done|all))* (?:in|with)"
    rf" `?({NUMBER_FORMAT})`?(?![\w-])",
    re.IGNORECASE,
)

_ALL_MULTIPLIED = deferred(
    r"(?:^\W*|[,;] |\b(?:and|but|while|whereas) )(?:(?:all|the|our|every|of) )*"
    r"(?:(?:forward|backward|dense|actual|heavy|large|model) )?"
    r"(?:mat-?muls?|GEMMs?|matrix (?:multiplications?|products?|multiplies)|multiplications"
    r"|computations?|compute|arithmetic|math)"
    r" (?:is|are|was|were)(?: (?:done|run|performed|computed|executed|carried out|all|always|kept"
    rf"|made|still))* (?:in|with) `?({NUMBER_FORMAT})`?"
    r"(?=\s*(?:[.;)]|$|,? (?:and|with|while|but|which)\b))"
    r"|(?:^\W*(?:we|I) |[,;] (?:and )?|\band )(?:(?:we|I) )?(?:compute|multiply|train) in "
    rf"`?({_NARROW})`?(?=\s*(?:[.;)]|$))"
    r"|(?:矩阵(?:乘法?|运算)|計算|行列積)(?:精度|自体)?(?:[均都]|全部)?(?:は|を|使用|采用|用|以|在)"
    rf" ?`?({NUMBER_FORMAT})`?(?=\s*(?:精度|で行|でし|です|格式|进行|$|[。；;,，、]))",
    re.IGNORECASE,
)
"""A clause on what all was multiplied in, whatever the rest is kept in: `Weights are kept in fp32
and the matrix multiplications are done in bf16.`"""

_NOTHING_BUT = deferred(
    r"\W*(?:(?:all|everything|mixed|pure|native|training|using|in|is|are|was|were|the|our|runs?"
    rf"|precision|d(?:ata )?type|compute) )*({NUMBER_FORMAT})"
    r"(?:[ -](?:mixed|AMP|autocast|precision|training|compute|everywhere|throughout))*"
    r"(?:(?: (?:with|via|through|using)|,| ?\() ?(?:(?:the|NVIDIA|FP32|tensor-?wise|row-?wise"
    r"|delayed|current|dynamic|per-tensor|block|loss|stochastic|static|gradient|master) )*"
    r"(?:TE|Transformer ?Engine|AMP|autocast|APEX|torchao|MS-AMP|O[12]|scaling|recipe|rounding"
    r"|accumulation|reductions?|reduce|master weights|weights)"
    r"(?: [0-9][\w.]*)?\)?)?[\s*_`.,;:!]*",
    re.IGNORECASE,
)
"""A sentence that is a number format, and by what it is made: `FP8 with TE.`"""

BEGINS = deferred(
    rf"(?:\W*(?:Table|Tab\.) ?[0-9]{{1,2}}[*_]*[.:])?\W*({NUMBER_FORMAT})"
    r"(?=`?\*{0,2}(?: (?:throughout|everywhere|training|autocast|mixed[ -]precision"
    r"|weights (?:with|and) FP32 (?:\w{1,12} )?(?:states|moments|optimi[sz]er|master weights)))?"
    r"(?:,|;| \+) )",
    re.IGNORECASE,
)
"""A list of settings that begins with a number format: `bf16, sequence length 4096`."""


_AN_ITEM = deferred(
    rf"(?:^\W*|[,;+·/] ?|\band )`?({NUMBER_FORMAT})`?"
    r"(?=\s*(?:[,;+·(（、，；]|$|\b(?:and|with|mixed|autocast|AMP)\b|사용|を?使用))",
    re.IGNORECASE,
)


def listed_in(item: str) -> Used | None:
    """The one number format that an item of a list of settings names, as one of several things.

    >>> listed_in("bf16, gradient checkpointing"), listed_in("gradients in fp32, bf16 elsewhere")
    (Used(word='bf16', at=0, alone=False), None)
    """
    if len(kinds_in(item)) != 1:
        return None
    found = _AN_ITEM.search(item)
    return Used(found[1], found.start(1)) if found else None


def _used(found: re.Match[str]) -> Used:
    group = found.lastindex or 0
    return Used(found[group].replace("-", ""), found.start(group))
