"""Settings that a sentence states in words that mean one thing alone.

In: a sentence in English, with a sign for each device that it names. Out: field, word and place of
each. Whose a batch is (`batch of 8 on each GPU`, `4096 images per optimizer step`), what gradients
are accumulated over, how many ways a model is split, how long its sequences are and how wide it is
are said in few nouns and many orders; each order is a form here, with one number in it. A number
that is one of several (`1, 2 and 4`), or the bound of them (`up to 64`), is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from math import prod
from typing import NamedTuple

from assay.ingest.schema.record import REMEMBERED
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import SIGN


class Part(NamedTuple):
    """Field and value that a part of a sentence says, and where; `""` is a field left open.

    A weak part is one only beside others: it may be of something else.
    """

    name: str
    word: str
    at: int
    weak: bool = False


COUNTS = {
    "one": "1", "a single": "1", "single": "1", "two": "2", "three": "3", "four": "4", "five": "5",
    "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "twelve": "12",
    "sixteen": "16", "twenty": "20", "twenty-four": "24", "thirty-two": "32", "forty-eight": "48",
    "sixty-four": "64",
}  # fmt: skip
"""Counts in words."""

_IN_WORDS = "|".join(sorted(COUNTS, key=len, reverse=True))

COUNT = rf"(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+(?:\.[0-9]+)?[kKM]?|(?:{_IN_WORDS}))"

NUMBER = (
    rf"(?<![\w.,$€^*-])(?<![0-9][/*x×])(?<![0-9] [*x×] )(?P<n>{COUNT})"
    r"(?![\w%^]|\*\*[0-9]|[.,:][0-9]|-[0-9]| ?[x×*/] ?[0-9]| ?\([^()]{1,40}\) ?[x×*] ?[0-9]"
    r"|,? (?:or (?:more|larger|higher|greater|above|beyond)|and (?:above(?! all)|beyond|larger)"
    r"|upwards?)\b"
    r"|(?<=[a-z]) (?:[a-z]+ )?(?:rows|runs|lines|tables|columns|entries|models|config(?:uration)?s"
    r"|cases|variants|experiments)\b)"
)
"""A number, in digits or in words, that is no part of another, of a product or of a range, and in
words does not count the rows that something is said of."""

_SEVERAL_BEFORE = deferred(
    r"(?:(?:(?:^|[:;({\[]|\b(?:on|with|using|over|for|in|from|across|between|at|of|either))\s*"
    r"[0-9][0-9,.]*[kK]?\s*(?:,|,? (?:and|or|to|vs\.?)\b|/|-|–|→|->)"
    r"|(?<![A-Za-z] )(?<![A-Za-z]-)(?<![\w:=(.,])[0-9][0-9,.]*[kK]?\}?,"
    r"|\b[0-9][0-9,.]*[kK]?\}?\s*(?:or|to|vs\.?|→|->|–)"
    r"|(?<![\w.,])[0-9]{1,6}[kK]?(?:, [0-9]{1,6}[kK]?){1,8},? and"
    r"|\b(?:up to|at most|at least|as (?:many|few|much|long) as|(?:more|less|fewer|greater|longer"
    r"|shorter) than|beyond|below|above|under|from|between|maximum of|minimum of"
    r"|multiples? of|about|around|roughly|approximately))|[~≈≤≥<>])\s*$",
    re.IGNORECASE,
)
"""In front of a number that is one of several, or a bound."""

_SEVERAL_BEHIND = deferred(
    r",? (?:and|but|then)? ?(?:later|then|finally|afterwards)\b|"
    r"(?:[ -]?(?:tokens?|sequences?|samples?|images?|GPUs?|nodes|steps|layers|heads))?"
    r"(?: each)?(?: on average\b|\s*(?:\}|、 ?[0-9]|(?:,? (?:or|to|vs\.?|versus)|/|→|->|–"
    r"|\.\.+|…)\s*[0-9]"
    r"|\([^()]{1,60}\)\s*(?:(?:or|and|to|vs\.?|/)\s*[0-9]|,\s*[0-9]+ ?\()"
    r"|\(\s*[0-9][0-9,]*[kKMB]? (?:for|with|on|in|when|if)\b"
    r"|(?:,|,? and) ?[0-9][0-9,.]*[kK]?(?=\s*(?:[,.;)]|and\b|or\b|$))))",
    re.IGNORECASE,
)

_ONE = (
    r"(?:group of (?:GPUs|devices|cards|ranks|chips)|(?-i:CP|SP|TP|MP)[ -]group"
    r"|(?:context|sequence|tensor|model)[ -]parallel group"
    r"|graphics card|(?:[GNTHIX]PU|GCD)|device|card|accelerator|chip|rank|worker|replica|process"
    rf"|core|tile|{SIGN})s?\b"
)

_ONE_OF = (
    rf"(?:(?:per|each|every)[ -](?:data[ -]parallel |model )?|/ ?|an? |(?:on|in|for|to|by|at"
    rf"|onto) (?:each|every|an?|one"
    rf"|a single) (?:of (?:(?:the|our) )?(?:[0-9]+ )?)?|on its own ){_ONE}|apiece\b"
    r"|(?:on|for|to|with) each\b(?! (?!GPU)\w)"
)
"""Behind a batch: it is that of one device."""

_THINGS = (
    r"(?:sequences?|seqs?|samples?|examples?|images?|imgs?|instances?|sentences?|clips?|videos?"
    r"|utterances?|pairs?|documents?|crops?|frames?|pictures?|graphs?|molecules?|items?)\b"
)

_A_THING = "seq|sam|exa|im|ins|sent|cli|vid|utt|pai|doc|cro|fra|pic|gra|mol|item"
"""One of these is in every text with one of the things that batches are of."""

_BATCH = r"(?:(?:mini|train(?:ing)?)[ _-]?)*(?:batch(?:es)?(?:[ _-]?sizes?)?|bs|bsz)"

_NO_COUNT = r"(?<!of )(?<!num_)(?<!num )(?<!# )"
"""In front of batches that are not themselves counted: their number is no size."""

_MICRO = r"micro[ _-]?(?:train(?:ing)?[ _-])?(?:batch(?:es)?(?:[ _-]?sizes?)?|bs)"

_SET = (
    r"(?:\s*[:=]\s*|[\s,]+(?:(?:is|are|was|were|of|to|at|be|been|being|stays?|stayed|remains?|remained"
    r"|kept|set|fixed|held|constant|equals?|equal|always|just|only|here|throughout|halved|doubled"
    r"|raised|lowered|increased|reduced|changed|chosen|pinned|frozen|both|each|all|then|thus|again|now"
    r"|still|contains?|contained|counts?|comprises?|amounts?|runs?|has|have|had|takes?|by|as|it|the|same"
    r"|everywhere|configured|defaults?|exactly|simply)\s+)*)"
)
"""Between a label and its number."""

_WHOLE = (
    r"(?:global|total|effective|overall|aggregated?|combined|whole|resulting|cumulative)"
    r"(?:[ _-](?:global|effective|train(?:ing)?|mini|GPU))*[ _-]?"
)

_OF_ALL = (
    r"(?:(?:across|over|on|for|from|summed over|summed across|with) )?all (?:of )?"
    rf"(?:(?:the|our|these|[0-9]+) )*(?:{_ONE}|them\b|nodes\b)|in total\b|in all\b(?! [a-z])"
    r"|(?:for|in|of|over) the (?:whole|entire) (?:job|run)\b|overall\b|globally\b"
    r"|altogether\b|all together\b|combined\b"
)

_STEP = (
    r"(?:(?:optimi[sz]er|optimi[sz]ation|training|weight|parameter|gradient|SGD|global|full|model)"
    r"[ -])*(?:step|update|iteration)s?\b"
)

_A = r"(?:/ ?|(?:per|an?|each|every|in each|in every|in an?|in one|for each|for every|for one) )"

_NO_RATE = r"(?! ?(?:/|per|an?|every|each|in an?) ?(?:s|sec|second|ms|min|minute|hour|day)\b)"

_NOT_OF_ONE = rf"(?!,? ?(?:per|on each|of each|for each|on every|/|a) ?{_ONE})"

_MANY = r"(?:GPUs?|devices|ranks|cards|chips|accelerators|workers|processes|NPUs)"

_KIND = "(?P<kind>tensor|pipeline|data|context|expert|sequence)"

_PARALLEL = rf"{_KIND}(?:[ -]model)?[ -]parallel(?:ism|i[sz]ation)?"

_NO_WAYS = r"(?![ -]way| (?:nodes|hosts|servers|machines|instances|racks)\b)"

_DEGREE = r"(?:[ -](?:size|degree|rank|group|width|level|dimension|world size|factor|ways?))*"

_TAKES = (
    r"(?:sees|uses|consumes|covers|processes|averages(?: over)?|takes|has|contains|comprises|spans"
    r"|is over|works on|holds|counts|numbers|is made (?:up )?of|is(?: always)?(?= [0-9])"
    r"|(?:(?:always|still) )?(?:stays|remains|is kept|is held) at|amounts to)"
)

_HAS = (
    r"(?:ha[sd]|gets?|got|sees?|saw|process(?:es|ed)?|handle[sd]?|takes?|took"
    r"|receive[sd]?|work(?:s|ed) on"
    r"|draws?|drew|holds?|held|compute[sd]?|reads?|(?:is|was) (?:fed|given)|train(?:s|ed) on)"
)

_DURING = (
    r"(?: (?:during|for|in|while|of|used (?:for|in)) (?:the |all )*(?:pre-?|fine-?)?t"
    r"(?:rain|un)\w*)?"
)

_ON_ONE = r"(?:/ ?|(?:per|on|for|to|by)(?: an?| each| every| one)? |an? |each |every )"

_TEXTS = (
    r"(?:sequences?|seqs|samples?|sentences?|inputs?|examples?|documents?|chunks|texts?|contexts?)"
)

_TOKENS = "(?P<m> million| ?[MK])? tok(?:en)?s?\\b"

_DONE = "(?:(?:that are )?(?:processed|consumed|seen|trained on|handled|used))"

_ON_ALL = rf"(?:(?:by|on|across|over|from) all (?:of )?(?:(?:the|our|these|[0-9]+) )*(?:{_ONE}))"
"""Behind what a step takes: it is that of the whole job."""

_FORMS: tuple[tuple[str, str, str], ...] = (
    # field, a part of a word that is in each, form; the first that takes a number has it
    (
        "micro_batch", "b",
        rf"(?<!global )(?<!total )(?<!effective )\b{_BATCH}{_SET}{{N}}(?: {_THINGS})?,? ?\(?"
        rf"(?:{_ONE_OF})",
    ),
    ("micro_batch", "b", rf"(?<![\w-])b ?= ?{{N}}(?: {_THINGS})? ?(?:{_ONE_OF})"),
    (
        "micro_batch", "b",
        rf"(?:per|each|every|single)[ -]{_ONE}[ -](?:(?:train(?:ing)?|local|micro|mini)[ -]?)*"
        rf"{_BATCH}{_SET}{{N}}",
    ),
    (
        "global_batch", "same",  # as that of a device is named beside it
        rf"\b(?:same|identical|gleicher?|même) (?:batch|lot) ?(?:of |von |de |[(（]){{N}}"
        rf"(?: {_THINGS})?(?=[)）]?,? (?:and |und |et )?[^.;]{{0,40}}"
        r"\b(?:micro|mikro|local)[ -]?batch)",
    ),
    (
        "batch_size", "batches of",
        r"^\W*(?:we|I|training|all (?:runs|models|networks))\b[^.;,:]{0,40}?\bus(?:e[sd]?|ing) "
        r"(?:(?:mini|training)[ -]?)?batches of {N}"
        rf"(?: {_THINGS})?(?=\s*(?:[.,;)]|$)| and\b(?! [0-9])| with\b)",
    ),
    (
        "micro_batch", "b",
        rf"\b{_BATCH} ?(?:/ ?|(?:per|on each|for each|of each|on every|of one|on one|for one) )"
        rf"{_ONE}{_SET}{{N}}",
    ),
    (
        "micro_batch", "b",
        rf"\b{_BATCH} (?:is|are|was|were) (?:[a-z]+ )?per[ -]{_ONE}[;:,]+ "
        r"(?:(?:here|namely|always|it is),? )*{N}",
    ),
    (
        "micro_batch", "b",
        rf"\b(?:per|(?:on|for|with) (?:each|every))[ -]{_ONE},? "
        rf"(?:(?:we|it|use[sd]?|the|an?|with) )*"
        rf"{_BATCH}{_SET}{{N}}",
    ),
    ("micro_batch", "b", rf"\b{_BATCH}{_SET}{COUNT} ?\({{N}}(?: {_THINGS})? ?(?:{_ONE_OF})"
    r"(?! ?[x×*])"),
    (
        "micro_batch", _A_THING,
        rf"{{N}} {_THINGS}(?: (?:of|x|×|with) (?:length )?{COUNT}(?:[ -]tokens)?"
        rf"(?: each)?)? ?,? ?\(?"
        rf"(?:{_ONE_OF}){_NO_RATE}"
        r"(?! (?:is|are|was|were) (?:logged|shown|saved|printed|drawn|generated|kept))",
    ),
    (
        "micro_batch", _A_THING,
        rf"\b(?:each|every)(?: of (?:the|our)(?: [0-9]+)?)? {_ONE}(?: \([^()]*\))? {_HAS}"
        rf"(?: an? (?:(?:local|mini|micro)[ -]?)?batch(?: size)? of)? {{N}} {_THINGS}{_NO_RATE}",
    ),
    ("micro_batch", "micro", rf"{{N}} {_THINGS} (?:in|per|for|to) (?:an? |each |every "
    rf"|one )?{_MICRO}"),
    (
        "micro_batch", "at a time",
        rf"(?:{_THINGS} ?{_ON_ONE}{_ONE}|\b(?:each|every|one) {_ONE}[^.;]{{0,40}}?{_THINGS})"
        rf"[^.;]{{0,60}}?[ (]{{N}}(?: {_THINGS})? at a time\b",
    ),
    (
        "micro_batch", "micro",
        rf"\b(?:in|as|into|by) (?:{COUNT} )?micro-?batches of {{N}}(?! ?tokens)",
    ),
    (
        "accumulation", "micro",
        rf"{_ONE}[^.;]{{0,60}}?\b(?:in|as|into) {{N}} micro-?batches of [0-9]",
    ),
    (
        "accumulation", "accumulat",
        r"\baccumulat(?:ed|ing|es?)(?: (?:the )?gradients?)? {N} times\b",
    ),
    (
        "global_batch", "b",
        rf"\b{_WHOLE}{_BATCH}(?: \((?!(?:in )?tokens)[^()]{{1,60}}\))?{_SET}{{N}}"
        rf"(?! ?(?:[MmKk] |million )?tokens){_NOT_OF_ONE}",
    ),
    (
        "global_batch", "b",
        rf"(?<!micro )(?<!micro-)(?<!micro_)\b{_BATCH}{_SET}{{N}}(?: {_THINGS})? ?"
        rf"\((?:i\.e\.,? |that is,? )?{COUNT}(?: {_THINGS})? ?(?:{_ONE_OF})(?! ?[x×*])",
    ),
    (
        "micro_batch", "each",
        rf"{_ONE}(?: \([^()]*\))?[^.;0-9]{{0,24}}, ?each (?:with|at|on|running|using|of) (?:an? )?"
        rf"(?:(?:local|micro|mini)[ -]?)?{_BATCH}{_SET}{{N}}",
    ),
    ("micro_batch", "each", rf"(?<![0-9] )\b{_BATCH}{_SET}{{N}} each(?=\s*(?:[.,;)]|$))"),
    (
        "micro_batch", "each",
        rf"{_ONE}[;,] (?:and )?each (?:gets|got|has|had|sees|takes|took"
        rf"|receives) (?:an? )?{_BATCH} of {{N}}",
    ),
    ("micro_batch", "each", rf"{_ONE}, {{N}} {_THINGS} each(?=\s*(?:[.,;)]|$))"),
    (
        "micro_batch", "b",
        rf"\b{_BATCH}{_SET}{COUNT}\b[^.;]{{0,60}}?[(,;=] ?{{N}} ?(?:/|per|on each|for each) ?{_ONE}"
        r"(?=\s*(?:[),.;]|$))",
    ),
    (
        "global_batch", "b",
        rf"{{N}}-(?:sample|sequence|image|example) (?:global |total )?(?:mini-?)?batch(?:es)?"
        rf" (?:{_OF_ALL})",
    ),
    (
        "global_batch", "b",
        r"{N}-(?:sample|sequence|image|example) (?:global|total|effective|overall) "
        r"(?:mini-?)?batch\b",
    ),
    (
        "global_batch_tokens", "tok",
        rf"\b(?:{_WHOLE}{_BATCH}|gbs)(?:{_SET}{COUNT}(?: {_THINGS})?)? ?\({{N}}{_TOKENS}\)",
    ),
    ("global_batch", "b", rf"\b{_BATCH} ?\((?:global|total|overall|effective)\){_SET}{{N}}"),
    ("global_batch", "b", rf"\b{_BATCH}{_SET}{{N}} ?[(（](?:global|total|overall|effective|全局"
        rf"|总)[)）]"),
    ("global_batch", "b", rf"\b{_BATCH}{_SET}{{N}}(?: {_THINGS})?,? ?\(?(?:{_OF_ALL})"),
    (
        "global_batch", "batch",
        rf"\bbatch (?:has|contains|holds|is) {{N}} {_THINGS},? (?:that is|i\.e\.,?|or|=) {COUNT}"
        rf" {_THINGS} (?:{_ONE_OF})",
    ),
    (
        "global_batch", "batch",
        rf"{{N}} {_THINGS} {_A}(?:global|whole|total|effective) (?:mini-?)?batch",
    ),
    (
        "global_batch", "batch",
        rf"{{N}} {_THINGS} (?:per|in each|in every|in a|a) (?:mini-?)?batch,? (?:{_OF_ALL})",
    ),
    (
        "global_batch", _A_THING,
        rf"{{N}} {_THINGS} (?:(?:is|are|was|were|gets?) (?:processed|consumed|seen|used|trained on"
        rf"|taken|fed|handled|read|worked on) )?{_A}{_STEP}{_NOT_OF_ONE}{_NO_RATE}"
        r"(?! and (?:per|on|each) )",
    ),
    ("global_batch", _A_THING, rf"\b(?:one|each|every|an?|per) {_STEP} "
        rf"(?:always |then |again )?{_TAKES} {{N}} {_THINGS}"),
    ("global_batch", _A_THING, rf"\b(?:one|each|every|an?|the) {_STEP} "
        rf"(?:is|was) (?:(?:always|exactly|just) )?{{N}} {_THINGS}"
        r"(?! (?:per|on|slower|ahead|of (?!length|[0-9]))\b)"),
    ("global_batch", _A_THING, rf"\b(?:one|each|every|an?|per) (?:weight |optimi[sz]er |gradient )?"
        rf"(?:step|update) over {{N}} {_THINGS}"),
    (
        "global_batch_tokens", "tok",
        rf"\b{_BATCH} (?:per|for each|of each) {_STEP}{_SET}{{N}}{_TOKENS}",
    ),
    (
        "global_batch", "batch",
        rf"\b(?:global|total|effective|overall) (?:mini-?)?batch {_TAKES} {{N}} {_THINGS}",
    ),
    (
        "global_batch", "batch",
        rf"(?<=[a-z,;)] ){{N}}(?: {_THINGS})? (?:in total|in all(?! [a-z])|overall)\b",
    ),
    (
        "global_batch_tokens", "token",
        rf"(?<!sequences of )(?<!samples of )(?<![x×*] )"
        rf"{{N}}{_TOKENS} ?{_A}(?:(?:global|total|effective|whole) )?(?:{_STEP}|(?:mini-?)?batch\b)"
        rf"{_NOT_OF_ONE}{_NO_RATE}",
    ),
    ("global_batch_tokens", "tok", rf"\b(?:one|each|every|the|our"
    rf"|an?|per) {_STEP} (?:{_TAKES}|(?:is|was)(?: (?:always|exactly|just))?) {{N}}{_TOKENS}"
    r"(?! (?:per|on(?! all\b)|of)\b)"),
    (
        "global_batch_tokens", "tok",
        rf"{{N}}(?P<m> million| ?[MK])?[ -]tok(?:en)?s? (?:global |total |effective )?"
        rf"(?:mini-?)?batch(?:es)?\b{_NOT_OF_ONE}",
    ),
    (
        "global_batch", "token",
        rf"{{N}} {_THINGS} ?[x×*] ?[0-9][0-9,]*[kK]?[ -]tokens? {_A}(?:{_STEP}|batch\b)",
    ),
    (
        "gpus", "world",
        rf"(?<!parallel )(?<!model )(?<![TPDCE]P )\bworld[ -]size{_SET}{{N}}",
    ),
    (
        "global_batch_tokens", "token",
        rf"\b{_WHOLE}{_BATCH} (?:{_TAKES}|amounts to|equals|corresponds to|is) {{N}}{_TOKENS}",
    ),
    (
        "global_batch_tokens", "token",
        rf"\b{_WHOLE}{_BATCH} (?:\(in tokens\)|in tokens){_SET}{{N}}(?P<m> million| ?[MK]\b)?",
    ),
    (
        "global_batch", "token",
        rf" tokens(?:,| each,|,? i\.e\.,?)? \(?{{N}} {_THINGS} (?:of|[x×]) [0-9]",
    ),
    (
        "global_batch_tokens", "token",
        rf"\btokens (?:{_DONE} )?(?:{_ON_ALL} )?"
        rf"{_A}(?:(?:global|total|effective) )?(?:{_STEP}|batch\b)(?: {_ON_ALL})?(?! ?,){_SET}{{N}}"
        r"(?P<m> million| ?[MK]\b)?",
    ),
    (
        "global_batch_tokens", "token",
        r"(?<![卡U])(?<![卡U]上)每个? ?(?:step|iter(?:ation)?|步|次?迭代)(?:[中里内上])?"
        r"(?![^，。；,;]*(?:[每单]|平均))"
        r"[^，。；,;0-9]{0,20}? ?(?:tokens?|词元)(?: ?的)? ?(?:总?数量?|总量)"
        r"(?: ?(?:is|均|都|总是|一直|恒|固定|保持|[为是在:：=])){0,3} ?{N}(?P<m> ?[MK]\b)?",
    ),
    (
        "global_batch_tokens", "tok",
        rf"\b(?:{_BATCH}|gbs){_SET}{{N}}(?P<m> million| ?[MK])?[ -]tok(?:en)?s?\b(?! ?(?:per"
        rf"|each|/|a"
        rf"|(?:on|for) (?:each|every|an?|one|the)|per[ -]\w+)\b)",
    ),
    (
        "global_batch_tokens", "token",
        rf"\b{_BATCH} ?\((?:in )?tokens\){_SET}{{N}}(?P<m> million| ?[MK]\b)?",
    ),
    ("global_batch_tokens", "token", r"\b\w*batch_size\s*[:=]\s*{N},?\s*(?:#|//)[^;]*\btokens\b"),
    (
        "accumulation", "accumulat|sum|aggregat|averag",
        r"\b(?:accumulat\w+(?: of)?(?: (?:the )?gradients?)?|(?:summed|sum|aggregated|averaged)"
        r"(?: of)? (?:the )?gradients?|\bgradients? (?:(?:is|are|was|were|being) )?"
        r"(?:summed|aggregated|averaged)) "
        r"(?:over|for|across|every|of|during) {N} (?:(?:micro|mini|local|forward|backward|small)"
        r"[ -]?)*(?:steps?|batch(?:es)?|iterations?|passes)\b",
    ),
    (
        "accumulation", "accum",
        r"(?!(?:one|a single|single)\b){N}[ -](?:steps? of )?(?:(?:grad(?:ient)?"
        r"|batch)\.?[ -])?accum"
        r"(?:ulation)?(?:[ -]steps?)?\b",
    ),
    (
        "accumulation", "micro",
        rf"{{N}} micro-?(?:batches|steps) (?:make up|make|form|give) (?:(?:one|each|every|an?"
        rf"|the) )?"
        rf"(?:accumulation|{_STEP}|(?:global )?batch\b)",
    ),
    (
        "accumulation", "every",
        r"\b(?:step|update)[sd]?(?: the (?:weights|parameters|model|optimi[sz]er))? (?:once )?"
        r"every {N} (?:micro|mini)?-?batches",
    ),
    (
        "kind", "paral",
        rf"\b{_PARALLEL}{_DEGREE} (?:over|across|among|spans|spanning|covers) (?:(?:the|all) )?"
        rf"{{N}}{_NO_WAYS}",
    ),
    ("kind", "p", rf"\b(?P<kind>(?-i:[TDPEC]P)) (?:over|across|among|spanning) {{N}} {_MANY}\b"),
    (
        "dp", "replica",
        r"\b(?:across|over|into|with|on) {N} (?:model |data[ -]parallel )?replicas\b"
        r"(?! (?:of the data|per))",
    ),
    (
        "kind", "paral",
        rf"{{N}}[ -](?:way[ -])?{_PARALLEL}[ -]?(?:ranks?|replicas?|groups?|workers?|shards?)?\b"
        r"(?!\)?[ =:(]*[0-9])",
    ),
    (
        "kind", "way",
        rf"{{N}}[ -]way {_KIND}(?=[,.;]| and\b|$|[ -](?:slic|split|shard|partition)ing\b)",
    ),
    (
        "kind", "p",
        r"\b(?P<kind>(?-i:[TPDEC]P))[ -](?:world[ -])?"
        r"(?:degree|size|width|dim(?:ension)?|level|rank|factor)s?"
        r"(?: (?:of|is|was|equals?|stays|at)| ?[:=])* {N}",
    ),
    ("kind", "way", r"{N}[ -]way (?P<kind>TP|PP|DP|CP|EP)\b"),
    ("tp", "model", r"{N}[ -]way model[ -]parallel(?:ism)?\b(?!.*(?:pipeline|\bPP))"),
    (
        "tp", "model",
        r"(?<!pipeline )(?<!pipeline-)\bmodel[ -]parallel(?:ism)?(?: ?[:=]| is| of) {N}[ -]way\b"
        r"(?!.*(?:pipeline|\bPP))",
    ),
    ("kind", "p", r"\b(?P<kind>(?-i:[TPDEC]P)) over {N}(?=\s*(?:[,.;)]|$|and\b))"),
    (
        "kind", "p",
        r"\b(?P<kind>(?-i:[TPDEC]P)) (?:(?:is|was|left|kept|set|fixed|held|stays) )*(?:at"
        r"|to) {N}\b",
    ),
    ("kind", "p", r"\b(?P<kind>(?-i:[TPDEC]P)) (?:takes|amounts to|equals|occupies) {N}\b"),
    ("kind", "p", r"{N} (?:ranks|replicas|ways|groups) of (?P<kind>(?-i:[TPDEC]P))\b"),
    ("pp", "pipeline", r"{N} pipeline[ -](?:parallel )?stages\b"),
    ("pp", "pipelin", r"{N}-stage pipelin(?:e|ing)\b"),
    ("pp", "pipeline", rf"\bpipeline(?:[ -]parallel)? depth{_SET}{{N}}"),
    ("pp", "pipeline", r"\bpipeline (?:is|was) {N} deep\b"),
    ("pp", "pipeline", r"\bpipeline (?:of|with|has|had|into) {N} partitions\b"),
    ("pp", "stages", r"\b(?:1F1B|GPipe|pipelined?|schedule)\b[^.;,0-9]{0,20} (?:over|across"
    "|with) {N} stages\b"),
    ("pp", "pipeline", r"\bpipeline of {N}(?= across| stages|[,;.)]| and|$)"),
    ("pp", "pipeline", r"\bpipeline (?:of |with |has |had |is )?(?:a )?depth(?: of| is| =)? {N}"),
    (
        "pp", "pipeline",
        r"\bpipeline(?:[ -]parallel(?:ism|ization)?)? "
        r"(?:has|had|with|of|in|into|is (?:cut|split) into) {N} stages",
    ),
    (
        "kind", "way",
        r"\b(?:split|shard(?:ed|s)?|partition(?:ed|s)?|divided|cut) {N}[ -]ways? "
        rf"(?:(?:with|by|using|via|through|in) |\(){_KIND}",
    ),
    (
        "cp", "ring|context|ulysses|sequence",
        r"\b(?:split|shard(?:ed|s)?|partition(?:ed|s)?|spread|divided|cut) (?:(?:it|them|"
        r"(?:the|each"
        rf"|every|all) \w+|sequences) )?(?:over|across|among) {{N}} {_MANY} "
        r"(?:(?:with|by|using|via) |\()(?:ring[ -]attention|context|ulysses|sequence[ -]parallel)",
    ),
    (
        "ep", "expert",
        r"\b(?:split|shard(?:ed|s)?|partition(?:ed|s)?|spread|divided|placed|distributed) "
        rf"(?:over|across|among|on) {{N}} {_MANY} (?:(?:with|by|using|via|through) |\()expert",
    ),
    (
        "tp", "tensor",
        r"\b(?:split|shard(?:ed|s)?|partition(?:ed|s)?|spread|divided|cut)"
        r"(?: (?:it|them|(?:the|each|every|all) \w+))? (?:over|across|among|into) "
        rf"{{N}}(?: {_MANY})? (?:(?:with|by|using|via|through) |\()tensor",
    ),
    (
        "vp", "virtual",
        rf"{{N}} virtual (?:pipeline )?(?:stages|chunks) (?:per|on each|in each|for each|a) "
        rf"(?:(?:pipeline|physical) )?(?:stage|{_ONE})",
    ),
    (
        "vp", "stage",
        r"\b(?:each|every|a|per) (?:(?:pipeline|physical) )?stage (?:keeps|has|holds|runs|owns|gets"
        r"|hosts|is (?:split|cut|divided) into) {N} (?:model |virtual )*(?:chunks|stages)\b",
    ),
    ("vp", "chunk", rf"{{N}} (?:model |virtual )?chunks (?:per|on each|on every|in each|for each"
    rf"|a) (?:(?:pipeline )?stage\b|{_ONE})"),
    ("seq_len", "token", rf"{{N}}[ -]tokens?[ -](?:long )?(?:windows?|blocks?|seqs?|{_TEXTS})\b"),
    (
        "seq_len", "token",
        rf"\b{_TEXTS}(?: (?:of|at|with|are|were|have|to|into|fixed|packed|padded|cut|truncated"
        rf"|length"
        r"|chunks|blocks|sequences|all))+ {N} tokens\b",
    ),
    (
        "seq_len", "sequence|context",
        r"\b(?:sequences|contexts?(?: windows?)?) (?:of|at|with|are|is) (?:length )?(?=[0-9]){N}"
        rf"(?! ?(?:{_THINGS}|GPU|images))",
    ),
    ("seq_len", "tokens each", rf"\b{_TEXTS},? (?:of |with |at )?{{N}} tokens each\b"),
    ("seq_len", "long", rf"\b(?:{_TEXTS}|each(?: of (?:them|which))?)(?: (?:are|is|was|were"
        rf"|being))?,? "
    r"(?=[0-9][0-9,]{2}|[0-9]+[kK]){N}(?: tokens)? long\b"),
    ("seq_len", "of length", rf"{_TEXTS} (?:of|with|at) length {{N}}"),
    ("seq_len", "word|piece", r"\b(?:max(?:imum|\.)?|up to) (?=[0-9]{2}){N} (?:word"
        r"|sub-?word)[ -]?pieces"),
    (
        "seq_len", "token",
        rf"\btokens? ?(?:/ ?|per )(?:sample|sequence|example|document){_SET}{{N}}",
    ),
    ("seq_len", "token", r"{N} tokens ?(?:/|per|an?|in an?|in each|in every|each|every|/) ?"
    r"(?:(?:training|input|packed) )?(?:sequence|sample|document|example|input)s?\b"),
    (
        "seq_len", "token",
        rf"\b(?:{_TEXTS}|contexts?)(?: (?:have|has|had|hold|held|is|are|was|were))? "
        r"(?:(?:always|all|each|exactly|cut|truncated|packed|padded|limited|clipped|chunked|trimmed"
        r"|capped|at|to|off|into|of|up) )*{N} tokens\b(?! (?:per|a|each|on average|in total))",
    ),
    (
        "seq_len", "pack|pad|trunc|chunk|cut|clip|trim",
        rf"(?:^|[,;(] ?|\b(?:{_TEXTS}|everything|all|we|data) (?:(?:is|are|was|were|get|being) )*)"
        rf"(?:pack(?:ed|ing)?|pad(?:ded|ding)?|truncat(?:ed|ing)|chunk(?:ed|ing)|cut|clip(?:ped)?"
        rf"|trim(?:med)?) (?:(?:all|the|our|{_TEXTS}|everything) )*(?:in)?to (?:a )?"
        r"(?:max(?:imum)? )?(?:length (?:of )?)?{N}(?= tokens\b|\s*(?:[.,;)]|$))"
        rf"(?! ?(?:{_THINGS}|bits|GPU|x|px))",
    ),
    (
        "seq_len", "seq|context|length",
        r"\b(?:seq(?:uence)?|context)[ _-]?length (?:(?:is|was|stays|remains|at|of) )?"
        r"(?:(?:the|our) )?"
        r"(?:(?:usual|same|standard|common|customary|full) )+{N}",
    ),
    (
        "seq_len", "context|seq",
        r"(?<![\w.-])(?:(?:an?|the|our|at|with|in|full) )+{N}[ -](?:contexts?|seq(?:uence)?)"
        r"(?: (?:window|length))?(?=\s*(?:[.,;)]|$)| (?:and|with|in|on|for (?:all|both|every))\b)"
        r"(?! ?parallel)",
    ),
    (
        "seq_len", "seq|context|length",
        r"\b(?:seq(?:uence)?[ -]length|context(?:[ -]length)?|length) "
        r"(?:went|goes|is|was|grew|moved|rises|rose) (?:up |down )?to {N}",
    ),
    (
        "seq_len", "seq|context|length",
        r"\bat (?:seq(?:uence)? )?length {N}",
    ),
    (
        "seq_len", "seq|context|length",
        r"\b(?:at|with|for|using) (?:an?|the) (?:fixed|constant) (?:sequence|context)[ -]length"
        r"(?: of| =|:)? {N}",
    ),
)  # fmt: skip

_ITEM = r"(?:^|[,;(（·/]|\band\b)[\s*_`]*(?:(?:again|still|now|always|also) )?"

_ENDED = r"(?=[*_`]*\s*(?:[,;:)）.–—\]](?![0-9])|$|and\b))"
"""The ends of an item of a list of settings."""

_LONG = r"(?=[0-9][0-9,]{2,}|[0-9]+[kK])"
"""A number of tokens that a sequence may have, ahead."""

_LABELLED: tuple[tuple[str, str, str], ...] = (
    ("seq_len", "token", rf"{_ITEM}{_LONG}{{N}} tokens{_ENDED}"),
    ("gpus", "world", rf"{_ITEM}world ?[:=]? ?{{N}}{_ENDED}"),
    (
        "seq_len", "seq|context|ctx",
        rf"{_ITEM}{_LONG}{{N}}[ -](?:seq(?:uence)?|context|ctx)(?:[ -]?len(?:gth)?)?{_ENDED}",
    ),
    (
        "seq_len", "len",
        rf"\b(?:max(?:imum)?[ _-]?(?:seq(?:uence)?[ _-]?)?len(?:gth)?)`*{_SET}{_LONG}{{N}}",
    ),
    ("seq_len", "input", rf"\binput[ _-]len(?:gth)?{_SET}{_LONG}{{N}}"),
    ("seq_len", "token", rf"\bat {_LONG}{{N}} tokens{_ENDED}"),
    ("seq_len", "len", rf"{_ITEM}(?:len(?:gth)?|seqlen)`*\s*[=:]?\s*{_LONG}{{N}}{_ENDED}"),
    ("seq_len", "t=|t =", rf"{_ITEM}T ?= ?{_LONG}{{N}}{_ENDED}"),
    ("seq_len", "context", r"{N}[ -](?:tokens?[ -])?context(?: (?:length|window))?\b"),
    (
        "seq_len", "seq|context|cutoff|cut-off|block",
        r"\b(?:seq(?:uence)?[ _-]?len(?:gth)?s?|context[ _-](?:len(?:gth)?|window|size)"
        rf"|cut-?off[_ -]len(?:gth)?|block[_ -]size){_DURING}{_SET}{{N}}",
    ),
    (
        "micro_batch", "micro",
        rf"{_NO_COUNT}\b(?!micro[ -]?batches ?[:=]){_MICRO}{_SET}{{N}}"
        rf"(?! ?(?:steps|micro|batches|tokens)|(?<=\bone) {_ONE})",
    ),
    (
        "accumulation", "micro",
        r"\b(?:number|num|count|#)(?: of|_of)?[ _]?micro[ _-]?batches"
        rf"(?: per [a-z]+(?: step)?)?(?:,? \(?m\)?(?= ?[:=]| is))?{_SET}{{N}}",
    ),
    (
        "accumulation", "micro",
        rf"{{N}} micro-?(?:batches|steps) (?:of|with|holding) (?:size {COUNT}\b|{COUNT} "
        rf"(?:[0-9][0-9,]*-token )?{_THINGS})",
    ),
    (
        "micro_batch", "micro",
        rf"{COUNT} micro-?(?:batches|steps) (?:of|with|holding) (?=size |{COUNT} "
        rf"(?:[0-9][0-9,]*-token )?{_THINGS})(?:size )?{{N}}",
    ),
    (
        "accumulation", "micro",
        rf"{{N}} micro-?batches (?:{_A}(?:{_STEP}|(?:global |full )?(?:mini-?)?batch\b))",
    ),
    (
        "accumulation", "accum",
        r"\b(?:grad(?:ient)?s?[ _-])?accum(?:\.|ulation|ulate)?(?:[ _-](?:steps?|iter(?:ation)?s?"
        rf"|factor|count))?(?:{_SET}|\s*[x×]\s*| ?\(){{N}}"
        r"(?! ?(?:GPU|device|card|%|m?s\b|sec|min|times|/ ?[\w(]))",  # no part of a formula
    ),
    (
        "kind", "tensor|pipeline",
        rf"{_ITEM}(?P<kind>tensor|pipeline) ?[=:]? ?{{N}}{_ENDED}",
    ),
    (
        "kind", "paral",
        rf"(?<!per )(?<!each )(?<!every )\b{_PARALLEL}{_DEGREE}(?: of)?"
        rf"(?: (?:over|across|among)| \(|{_SET}){{N}}{_NO_WAYS}",
    ),
    ("vp", "interleav", r"\binterleav(?:ed|ing)[^.;,()0-9]{0,24}[(,] ?(?:v|vp|vpp) ?= ?{N}"),
    ("vp", "interleav", rf"\binterleav(?:e|ing)(?: (?:factor|degree|stages))?{_SET}{{N}}(?! ?"
        rf"(?:x|%|times))"),
    (
        "cp", "ring|ulysses",
        rf"\b(?:ring|ulysses)(?:[ -]attention)?(?: SP)? (?:degree|size){_SET}{{N}}",
    ),
    ("seq_len", "position", rf"{_ITEM}{_LONG}{{N}} positions{_ENDED}"),
    ("seq_len", "context", rf"{_LONG}{{N}}[ -](?:amino-acid|frame|patch|byte"
        rf"|character)s?[ -]context\b"),
    ("seq_len", "seq", rf"\bseq\.? ?len\.{_SET}{_LONG}{{N}}"),
    ("seq_len", "token", r"\b(?:cut|truncated|capped) (?:off )?at {N} tokens"),
    (
        "accumulation", "accum",
        r"\bdivides (?:the )?(?:grad(?:ient)? )?accum\w*(?: steps)? by (?:the )?(?:world size"
        r"|number of (?:[GN]PUs|ranks|devices|processes))[,;:]? (?:so|i\.e\.,?|that is) {N}\b",
    ),
    ("accumulation", "ga", rf"(?<![\w-])(?:ga|grad acc)(?: steps)?(?: ?[=:] ?| ){{N}}{_ENDED}"),
    ("seq_len", "cutoff", rf"{_ITEM}{_LONG}{{N}} (?:token )?cut-?off{_ENDED}"),
    ("seq_len", "window", rf"{_ITEM}{_LONG}{{N}}(?:[ -]token)? window{_ENDED}"),
    ("seq_len", "context", rf"{_LONG}{{N}} tokens of context\b"),
    ("seq_len", "long", rf"{_LONG}{{N}}-long {_TEXTS}"),
    ("seq_len", "token", rf"\b(?:blocks|windows?|segments|pieces) of {_LONG}{{N}} tokens\b"),
    (
        "batch_size", "batch",
        r"{N}-(?:sample|sequence|image|example) (?:mini-?)?batch(?:es)?\b",
    ),
    (
        "seq_len", "sequence",
        rf"(?:\b(?:with|and|at|using)|[,;]) (?=[0-9]{{1,3}}[kK]){{N}} (?:sequences|seqs){_ENDED}",
    ),
    ("seq_len", "cutoff|cut-off", rf"\bcut-?off{_SET}{_LONG}{{N}}{_ENDED}"),
    (
        "batch_size", "batch",
        rf"(?<!global )(?<!micro)(?<!micro-)\b(?:mini-?)?batch(?:es)? (?:holds?|has|have|contains?)"
        rf" {{N}} {_THINGS}(?=\s*(?:[.,;)]|$|and\b|with\b|of\b))",
    ),
    (
        "batch_size", "batch size of",
        r"(?<!global )(?<!micro )(?<!total )(?<!effective )(?<!micro-)(?<!mini)(?<!mini-)"
        r"\bbatch size of (?=[a-z]){N}(?=\s*(?:[,.;)]|$|and\b|with\b))",
    ),
    (
        "batch_size", "batch of|batch size of",
        rf"\b(?:an?|the) (?:mini-?)?batch(?: size)? of {{N}} {_THINGS}"
        r"(?=\s*(?:[.,;)]|$)| (?:and|with|in)\b)",
    ),
    (
        "batch_size", "batch of|batch size of",
        rf"{_ITEM}batch(?: size)? of {{N}}{_ENDED}",
    ),
    ("vp", "virtual", rf"\bvirtual[ -]pipeline(?:[ -](?:parallel|size|degree|stages))*{_SET}{{N}}"),
)  # fmt: skip
"""Labels and their numbers: a statement beside others, or as all of a sentence."""

_OF_A_MODEL: tuple[tuple[str, str, str], ...] = (
    (
        "ffn_hidden", "mlp|ffn|feed|intermediate",
        r"\b(?:MLPs?|FFNs?|feed-?forward|intermediate)(?:[ _-](?:inner|hidden|layer|intermediate))*"
        rf"[ _-](?:widths?|dim(?:ension)?s?|size|units){_SET}{{N}}(?! ?[x×])",
    ),
    ("hidden", "wi", rf"(?<!MLP )(?<!FFN )(?<!forward )(?<!tensor )"
        rf"(?<!pipeline )(?<!beam )(?<!bus )\bwidth{_SET}{{N}}(?! ?(?:x|px|pixels))"),
    ("hidden", "wide", r"{N}[ -]wide\b"),
    ("hidden", "dim", r"{N}[ -]dims?\b(?! heads?)"),
    ("hidden", "embedding", r"(?:^|[,;(] ?)embeddings? (?:of )?(?=[0-9]{3}){N}(?=\s*(?:[,;.)]|$))"),
    (
        "hidden", "hidden|model|embedding",
        rf"\b(?!model[ _-]sizes?{_SET}[0-9]{{1,2}}(?![0-9,]))"  # in billions
        r"(?:hidden|model|embedding)[ _-](?:state )?(?:sizes?|dim"
        r"(?:ension)?s?|dimensionality|width"
        rf"|units){_SET}{{N}}",
    ),
    (
        "layers", "layer|block",
        r"{N}[ -](?:transformer |decoder |encoder |identical |stacked |dense )*"
        r"(?:layers?|blocks?)\b"
        r"(?! (?:of|per|each|at a time|sizes?|[0-9])|/)",
    ),
    (
        "vocab", "vocab",
        r"\bvocab(?:ulary)?(?:[ _-]size)?"
        rf"(?:{_SET}| (?:has|had|contains|(?:(?:is|was) )?padded to) ){{N}}",
    ),
    ("experts", "expert", r"{N} (?:routed |total |fine-grained |local |MoE )*experts\b(?! "
    r"(?:per(?! (?:\w+ )?(?:layer|block)s?\b)|on|each|of|a)\b)"),
    ("heads", "head count", rf"\bhead count{_SET}{{N}}"),
    ("vocab", "vocab", r"{N}[ -](?:entry|token|word-?piece|symbol|sub-?word)s? vocab(?:ulary)?\b"),
    ("hidden", "dimensional", r"{N}[ -]dimensional (?:embeddings?|hidden|model|states?)"),
    (
        "heads", "head",
        r"(?<![0-9] there are ){N} (?:attention |query |self-attention |Q )*heads\b",
    ),
    ("kv_heads", "head", r"{N} (?:KV|K/V|key-?value|key/value|key and value) ?heads\b"),
)  # fmt: skip
"""Forms that are a statement only beside others: they may be of another model."""

_ALONE_OF_A_MODEL = (
    (
        "vocab", "vocab",
        r"\b(?:the|our|its) vocab(?:ulary)? (?:ha[sd]|contains?|holds|consists of|is) {N} "
        r"(?:entries|tokens|pieces|subwords|types|symbols|words)\b",
    ),
    (
        "vocab", "token",
        r"\b(?:one|same|shared|our|a|the) (?:[\w-]+ )?tokeni[sz]er\b[^.;0-9]{0,48}?"
        r"\b(?:with|has|of|and) (?:an?|its|the) vocab(?:ulary)?(?:[ _-]size)?"
        r"(?: of|:| =| has| with)? {N}",
    ),
    (
        "vocab", "token",
        r"\btokeni[sz]er (?:has|had|uses|with|comes with)(?: an?)? vocab(?:ulary)?"
        r"(?:[ _-]size)?(?: of|:| =)? {N}",
    ),
    (
        "experts", "expert",
        r"\b(?:each|every|the|our|all) (?:MoE|mixture-of-experts) (?:layers?|blocks?|models?) "
        r"(?:has|have|uses?|contains?|consists? of|with|comprises?) {N} (?:\w+ )?experts\b",
    ),
    (
        "vocab", "token",
        r"\btokeni[sz]er (?:has|had|with|of|contains|uses|comes with) (?:an? (?:vocabulary"
        r"|vocab) of )?"
        r"{N} (?:entries|tokens|pieces|subwords|types|symbols|words)",
    ),
)  # fmt: skip


@cache
def _forms() -> tuple[tuple[str, str, re.Pattern[str], bool], ...]:
    """Every form: field, parts of words of which each text with it has one, expression, alone."""
    groups = (
        (_FORMS, True), (_LABELLED, False), (_ALONE_OF_A_MODEL, True), (_OF_A_MODEL, False),
    )  # fmt: skip
    return tuple(
        (name, word, deferred(form.replace("{N}", NUMBER), re.IGNORECASE), alone)
        for forms, alone in groups
        for name, word, form in forms
    )


@lru_cache(maxsize=REMEMBERED)  # sentences have the same few words again and again
def _forms_with(words: frozenset[str]) -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """The forms, in their order, that a text with these parts of words may be in."""
    return tuple(each[:1] + each[2:] for each in _forms() if each[1] in words)


@cache
def _words() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Hints beside forms, and the parts of words of which a text with it has one."""
    return tuple((word, tuple(word.split("|"))) for word in dict.fromkeys(f[1] for f in _forms()))


_COMMAS = ("", ",", ";", ":", ".", "(", ")", "–", "—", "|", "•", "·", "，", "；", "（", "）")
"""Signs before and behind an item of a list of settings; at the ends of the list nothing."""


def stands_alone(text: str, begin: int, end: int) -> bool:
    """Whether a part of a sentence is all that stands between two commas.

    >>> stands_alone("seq 2048, 32 GPUs, bf16", 10, 17), stands_alone("the 32 GPUs of it", 4, 11)
    (True, False)
    """
    behind = text[end:].lstrip(" *`")
    return text[:begin].rstrip(" *`-")[-1:] in _COMMAS and (
        behind[:1] in _COMMAS or behind.startswith("and ")
    )


TIMES_MANY = deferred(
    r"\s*[x×*]\s*(?:the )?(?:(?:number|count) of|#|n(?:um)?_?(?:gpu|device|node)|GPUs?\b"
    r"|devices\b|nodes\b|world|dp\b|N\b)",
    re.IGNORECASE,
)
"""Behind a number that only a product with how many devices there are makes one of the job."""


OF_A_PRODUCT = deferred(r"[A-Za-z_)] ?[*×·] ?[\w`][\w` -]{0,24}[=:]\s*$")
"""In front of what names make together: `batch * seqlen = 16384`."""

NEAR = 48
"""Letters in front of a number in which its label stands."""


_IN_FULL = deferred(
    r"(?: ?[MK]\b| million\b)?(?:[ -](?P<of>tok(?:en)?s?))?\b(?:,? \(|, )(?:(?:i\.e\.|that is"
    r"|exactly|precisely|namely|=),? ?){0,2}(?P<full>[0-9]{5,}|[0-9]{1,3}(?:,[0-9]{3}){1,4})"
    r"(?: (?P<within>tok(?:en)?s?)\b)?\s?(?:\)|[.;]?$)(?: (?P<behind>tok(?:en)?s?)\b)?",
    re.IGNORECASE,
)
"""Behind a round count, the same one to the last digit: `4M tokens (4,194,304)`."""

_ROUNDED_BY = 0.1
"""Part of a count that its short form may leave out: `1M` stands for 1,048,576."""


def _counted_in_full(field: str, short: str, full: re.Match[str]) -> tuple[str, str]:
    """The field and the digits of a count that is printed in full behind its short form; sequences
    that turn out to be tokens are those. Another number in brackets changes nothing."""
    times = {"K": 1e3, "M": 1e6}.get(short[-1:].upper())
    if times is None:
        return field, short
    exact, near = float(full["full"].replace(",", "")), float(short[:-1]) * times
    if abs(exact - near) > _ROUNDED_BY * exact:
        return field, short
    counted = full["of"] or full["within"] or full["behind"]
    return f"{field}_tokens" if counted and field == "global_batch" else field, f"{exact:.0f}"


_HOW_LONG = deferred(
    r"[ -](?:(?:training|train|warm-?up|measured|timed|full|optimi[sz]er|consecutive|more|whole"
    r"|repeated|independent|short|long) ){0,2}?"
    r"(?:(?:iter(?:ation)?|epoch|update|run|repeat|trial|minute|min|hour|h|second|sec|s|day)s?\b"
    r"|steps?(?: each\b| (?:per|in|of|for|after|behind|before|were|was|are|is|at|from|on|with"
    r"|averaged|measured)\b(?! (?:gradient |grad\.? )?accum)))",
    re.IGNORECASE,
)
"""Behind a number: how long something ran, or how often, `50 steps each`."""


def claims(text: str) -> list[Part]:
    """Parts that a sentence states, each number once; and a field left open, where a form of it is
    a statement by itself.

    >>> [(c.name, c.word) for c in claims("A mini-batch is 2 images per GPU, 16 in total.")]
    [('micro_batch', '2'), ('global_batch', '16'), ('', '')]
    >>> claims("We sweep the micro-batch over 1, 2 and 4."), claims("up to 64-way data parallelism")
    ([], [])
    """
    found = list(_product(text))
    taken = {claim.at for claim in found}
    low, stated = text.casefold(), bool(found)
    words = frozenset(word for word, each in _words() if any(part in low for part in each))
    for name, form, alone in _forms_with(words):
        for each in form.finditer(text):
            at = each.start("n")
            if at in taken or of_several(text, each, "n"):
                continue
            if OF_A_PRODUCT.search(text, max(0, at - NEAR), at):
                continue
            if text[:at].rstrip(" *`").endswith(",") and _HOW_LONG.match(text, each.end("n")):
                continue  # an item of its own
            taken.add(at)
            held = each.groupdict()
            digits = COUNTS.get(each["n"].casefold(), each["n"].replace(",", ""))
            digits += (held.get("m") or "").strip()[:1].upper()
            field = _degree(held["kind"]) if name == "kind" else name
            if in_full := _IN_FULL.match(text, each.end("n")):
                field, digits = _counted_in_full(field, digits, in_full)
            found.append(Part(field, digits, at))
            stated |= alone
    return [*found, Part("", "", 0)] if stated else found


_A_REPLICA = (
    r"(?:(?:data[ -]parallel|DP|model|pipeline(?:[ -]parallel)?)[ -]"
    rf"(?:rank|replica|group|worker|instance)s?\b|replica\b(?=[^.;,]{{0,12}} {_A}{_STEP}"
    r"| (?:then |now |still )?(?:remains?|(?:is|are|was|were) left)\b))"
)

_OF_A_REPLICA = deferred(
    rf"{NUMBER}(?: {_THINGS}| tokens\b)? ?(?:{_A}{_STEP} (?:and )?)?"
    rf"(?:/ ?|(?:per|on|in|for|to|by)(?: an?| each| every| one)? |an? |each |every ){_A_REPLICA}"
    rf"|\b(?:each|every|per|an?) {_A_REPLICA}[^.;0-9]{{0,40}}?{NUMBER.replace('<n>', '<m>')}"
    rf" {_THINGS}"
    rf"|\b(?:each|every) replica [^.;0-9]{{0,40}}?{NUMBER.replace('<n>', '<k>')}"
    rf" {_THINGS} {_A}{_STEP}",
    re.IGNORECASE,
)

_AT_ONCE = deferred(r"\b(?:micro|local)\b[^.;,]{0,32}$", re.IGNORECASE)


def without_replicas(text: str) -> str:
    """A text with blanks for what one replica of a model, or one device, takes in a step of the
    optimizer, however that is cut into micro-batches: `64 sequences per data-parallel replica`. One
    sequence it can not cut.

    >>> without_replicas("64 sequences per DP replica"), without_replicas("4 images per replica")
    ('   sequences per DP replica', '4 images per replica')
    >>> without_replicas("16 sequences per GPU and optimizer step, 2 at a time")
    '   sequences per GPU and optimizer step, 2 at a time'
    """
    if not _MAY_BE_CUT.search(text):
        return text
    for found in (*_OF_A_REPLICA.finditer(text), *_OF_A_STEP.finditer(text)):
        group = next(group for group in "nmk" if found.groupdict().get(group))
        begin, end = found.span(group)
        if COUNTS.get(found[group].casefold(), found[group]) == "1":
            continue
        if not _AT_ONCE.search(text, 0, begin):
            text = text[:begin] + " " * (end - begin) + text[end:]
    return text


_MAY_BE_CUT = re.compile("replica|arallel|DP|ptimi|pdate|at a time|(?i:micro-?batch)")

_ONE_UPDATE = (
    r"(?:(?:optimi[sz]er|optimi[sz]ation|weight|parameter|gradient|model)[ -](?:steps?|updates?)"
    r"|updates?)\b"
)

_IN_PARTS = (
    rf"(?=[ ,(;–—]{{1,3}}(?:[a-z]+ ){{0,3}}(?:{COUNT} at a time\b"
    rf"|in {COUNT} (?:micro|accum)|in micro-?batches of\b|as {COUNT} micro"
    rf"|{COUNT} micro-?batches\b|micro-?batch(?:es)?(?: size)? (?:of )?{COUNT}\b))"
)

_OF_A_STEP = deferred(
    rf"{NUMBER} {_THINGS} ?{_ON_ONE}{_ONE}"
    rf"(?:,? (?:and|in|for|during) (?:each |every |an? |one )?{_ONE_UPDATE}"
    rf"|,? ?{_A}{_ONE_UPDATE}|(?:,? (?:and |{_A}){_STEP})?{_IN_PARTS})"
    rf"|\b(?:each|every|per|an?|one) {_ONE}[^.;0-9]{{0,40}}?{NUMBER.replace('<n>', '<m>')}"
    rf" {_THINGS}(?:,? {_A}{_ONE_UPDATE}|(?:,? {_A}{_STEP})?{_IN_PARTS})",
    re.IGNORECASE,
)
"""Sequences of one device until its weights are next updated, or in the parts that are said behind
it: `16 sequences per GPU and optimizer step`, `16 sequences per GPU, 2 at a time`."""


_FOR_EACH = deferred(
    r"(?<![\w.,])([0-9][0-9,]*[kK]?)(?:(?: \w+)?(?: (?:per|on each|a) [\w-]+)|(?: \w+)?)"
    r" (for|with|on|in|at|when|under) [^.;]{2,60}?(?:,|,? and|,? or|,? but)(?: of)?"
    r" ([0-9][0-9,]*[kK]?)(?:(?: \w+)?(?: (?:per|on each|a) [\w-]+)|(?: \w+)?) \2\b",
    re.IGNORECASE,
)
"""Numbers of several runs: `256 for mixed precision and 128 for TF32`."""


def of_each_run(text: str) -> set[int]:
    """Places of numbers each of which is of another run."""
    return {each.start(group) for each in _FOR_EACH.finditer(text) for group in (1, 3)}


def of_several(text: str, found: re.Match[str], group: str | int) -> bool:
    """Whether a number that an expression has found is one of several, or bounds them."""
    begin, end = found.span(group)
    return begin in of_each_run(text) or among_several(text, begin, end)


def among_several(text: str, begin: int, end: int) -> bool:
    """Whether the number between two places of a text is one of several, or bounds them.

    >>> among_several("lengths of 2048, 4096 and 8192", 11, 15), among_several("TP 8, PP 4", 3, 4)
    (True, False)
    """
    before = _SEVERAL_BEFORE.search(text, max(0, begin - 40), begin)
    if before and _DIGITS_AND.search(before[0]) and text[begin].isalpha():
        before = None
    return before is not None or _SEVERAL_BEHIND.match(text, end) is not None


_DIGITS_AND = re.compile(r"[0-9]\s*(?:,|,? and)\s*$")
"""A number in digits that another is added to: one in words is of something else, as nobody writes
`2048, four` of one setting."""


def _degree(kind: str) -> str:
    return f"{kind[0].lower()}p" if kind.casefold() != "sequence" else "cp"


_FACTOR = (
    r"(?:(?:micro|mini|per|data|batch|gradient|grad"
    r"|accumulation)[A-Za-z /-]{0,30} )?[0-9][0-9,]*(?: ?\([A-Za-z][^()]{0,40}\)"
    r"| (?![x×*] )[A-Za-z][A-Za-z ./-]{0,40}?(?=\s*[x×*)=,.;]|$))?"
)

_FACTORS = deferred(
    rf"(?:(?P<before>[0-9][0-9,]*)[a-z ]{{0,12}}(?: ?\(| ?= ?))?"
    rf"(?P<factors>{_FACTOR}(?:(?: [x×*] ?| ?[×*] ?){_FACTOR}){{1,4}})"
    r"\)?(?: ?= ?(?P<behind>[0-9][0-9,]*))?"
)

_SPLIT = deferred(r" [x×*] ?| ?[×*] ?")

_NAMED = {
    "micro_batch": deferred(
        rf"^(?!.*tokens\b).*(?:(?:per|each|/|on each)[ -]?{_ONE}|micro|\ba {_ONE})", re.IGNORECASE
    ),
    "accumulation": deferred(r"acc", re.IGNORECASE),
    "seq_len": deferred(
        r"\b(?:block|context|seq(?:uence)?)[ _-]?(?:size|len)|\btokens(?! (?:per|on|an?) )\b",
        re.IGNORECASE,
    ),
    "gpus_per_node": deferred(r"(?:per|each|a|/) ?(?:node|host|server)", re.IGNORECASE),
    "nodes": deferred(r"nodes?|hosts?|servers?|machines?", re.IGNORECASE),
    "dp": deferred(r"data|\bdp\b|replicas", re.IGNORECASE),
    "gpus": deferred(rf"{_MANY}|world|{SIGN}", re.IGNORECASE),
}  # fmt: skip
"""Factors of a batch by the words behind each, those first that hold words of others; tokens of one
device are none."""


def _product(text: str) -> Iterator[Part]:
    """The factors of a batch and what they make, where a sentence multiplies them and its product
    is right: `128 (4 per device x 8 accumulation steps x 4 devices)`."""
    if "atch" not in text and "批" not in text:
        return
    for each in _FACTORS.finditer(text):
        begin, told, open_ones = each.start("factors"), list[Part](), list[Part]()
        for part in _SPLIT.split(each["factors"]):
            at = text.index(part, begin)
            begin = at + len(part)
            digits = re.search("[0-9][0-9,]*", part)
            name = next((n for n, words in _NAMED.items() if words.search(part)), None)
            if digits:
                found = Part(name or "micro_batch", digits[0].replace(",", ""), at + digits.start())
                (told if name else open_ones).append(found)
        kinds = {claim.name for claim in told}
        of_label = open_ones and _OF_A_BATCH.search(text, 0, open_ones[0].at)
        if len(open_ones) == 1 and "gpus" in kinds and ("accumulation" in kinds or of_label):
            told += open_ones  # what remains is what one device takes at a time
        whole = each["before"] or each["behind"]
        names = [claim.name for claim in told]
        if not whole or len(set(names)) < len(_SPLIT.split(each["factors"])):
            continue
        if "micro_batch" in names and prod(int(c.word) for c in told) == int(
            whole.replace(",", "")
        ):
            yield from told
            group = "before" if each["before"] else "behind"
            made = "global_batch_tokens" if "seq_len" in names else "global_batch"
            yield Part(made, whole.replace(",", ""), each.start(group))


_OF_A_BATCH = deferred(
    r"(?<!global )(?<!total )\bbatch(?:[ _-]?size)?(?: (?:of|is|was))?[ :=]{1,3}$", re.IGNORECASE
)
"""In front of a factor: `batch size 16 x 8 GPUs = 128`."""

_COUNTS_SOMETHING = r"(?:batch|minibatch|sequence|sample|example|image|token|crop|step|update)"

CLAIMED = (
    rf"(?i:\b(?:mini|micro)?-?(?:batch(?:es)?|bs)\b[^.;|0-9]*[0-9]"
    rf"|[0-9][kM]? (?:\w+ )?(?:{_COUNTS_SOMETHING}s?) (?:per|a|an|each|on|to|in|every|of|overall) "
    r"|[0-9](?:M| million)? ?-?tokens?[ -](?:per|a|an|each|in|every|seq|inp|con|win|sam|chu|blo)"
    r"|(?:sequences?|samples|inputs|contexts?) (?:of|at|with|to|are|is)(?: length)? [0-9]"
    r"|(?:accumul\w*|summed|every)\b[^.;|0-9]*[0-9]"
    r"|(?:sequence|sample|image)s? (?:(?:is|are|was|were) [a-z]+ )?(?:per|an?|in each|each|every) "
    r"(?:[a-z]+ )?(?:step|update|iteration)\b"
    r"|\b(?:update|step|iteration) "
    r"(?:sees|consumes|uses|covers|takes|processes|is|was) (?:always )?[0-9]"
    r"|parallel\w*[^.;|0-9]*[0-9]|[0-9][ -](?:data|tensor|pipeline|context|expert)[ -]"
    r"|pipeline (?:has|with|of|is|depth)[^.;|]*[0-9]|chunks (?:per|on|for|a) "
    r"|\b(?:one|two|three|four|five|six|seven|eight|sixteen|[0-9]+)[ x×](?:[\w.-]+ )*"
    r"(?:nodes?|servers?|hosts|instances|boxes|machines|workstations?|VMs?)\b"
    r"|(?:node|server|machine|box|workstation|VM|DGX\S*) (?:of|with|\()[^.;|]*[0-9]"
    r"|(?:batchgrö|sequenzl|akkumulation|knoten|nœud|séquence|couches|\blotes? |secuencias"
    r"|camadas|capas\b|trainiert|entraîn)[^.;|]*[0-9]"
    r"|tokeni[sz]er has |\b(?:wide|width|experts|blocks)\b|[0-9]k? tokens[,;:)]|[0-9]k? tokens$"
    r"|\bmax[ _]?len(?:gth)?\b[^.;|0-9]*[0-9]|\blength [0-9]|\bT ?= ?[0-9]{3})"
)
"""Found in every line with one of these forms, in polars' syntax."""
