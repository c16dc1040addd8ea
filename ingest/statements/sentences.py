"""Parts of a sentence that say a configuration: a label and its number, or a number and its noun.

In: a sentence. Out: field, word and place of each part. `sequence length 8192`, `global batch of
512`, `96 layers`, `8-way tensor parallelism`, `TP8 PP4` and `TP/PP/DP = 8/4/2` are parts. A label
of one small word (`hidden 12288`) is one only in a sentence that has others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.ingest.columns.composite import NAMES, degrees, layout
from assay.ingest.prose.claims import (
    COUNTS,
    OF_A_PRODUCT,
    Part,
    among_several,
    stands_alone,
)
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.lists import NARROWEST, PAIR, by_letters, of_letter
from assay.ingest.statements.values import OF_MACHINES, known
from assay.ingest.vocabulary.attention_names import SDPA
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, configured_by

SMALL = {"width": "hidden", "batch": "batch_size"}
"""Words that name a field in a sentence about a model, and other things elsewhere."""

OTHERS = 2
"""Other parts, weak or not, of a sentence in which a weak one is taken."""

_HAN = "\u4e00-\u9fff"

_WORDS_OF_HAN = 4
"""Letters of a Chinese label of two words: `序列长度`, `张量并行`."""

_VALUE = deferred(
    rf"(?<![^\W{_HAN}])(?<![.$^/-])(?<![0-9]\*)([0-9]+(?:,[0-9]{{3}})*(?:\.[0-9]+)?[kKMB]?)"
    r"(?![A-Za-z0-9_^%/]|\*+[\w(]|\.[0-9]| ?[x×] ?[0-9]"
    r"| ?\([^()]{1,40}\) ?[x×*] ?[0-9])"
)

_OF_OTHERS = (
    r"\s*\(\s*[0-9][0-9,]*[kKMB]? (?:for|with|on|in|when|if)\b"
    r"|,?\s*but\s+[0-9][0-9,]*[kK]?(?: \w+)? (?:for|on|in|with)\b"
)
"""Behind a value: that of others."""

_BOTH = deferred(
    rf"{_OF_OTHERS}|"
    r"\s*\([^()]{1,60}\)\s*(?:or|and|to|vs\.?|/|,)\s*[0-9]"
    r"|\s*and\s*[0-9][0-9,]*[kK]?(?=\s*(?:[.;)]|,? respectively|$))"
    r"|\s*(?:or|to|vs|→|->|–|-|/)\s*[0-9]|,\s*[0-9.]+(?:e[0-9]+)?\s*(?:[,;.)]|or|and|$)"
)
"""Behind a value that is one of several: `2,3`, `2048 or 4096`."""

_LABEL = deferred(
    rf"(?<![$\w*/=])[A-Za-z#][A-Za-z0-9_#.-]*(?: [A-Za-z#][A-Za-z0-9_#-]*){{0,5}}$|[{_HAN}]{{2,8}}$"
)

_ENDS = deferred(
    r"[\s*_`]*(?:(?:tokens|sequences|samples|examples|images|steps|layers)\b[\s*_`]*)?"
    r"(?:(?:everywhere|throughout|packed|padded|unpacked)\b\s*)?"
    r"(?:[,;.)(|&，。；、）]|[:：]?[\s*_`]*$|[でをにのはと](?![0-9])|(?:and|with|on|per|of|in|for|within"
    r"|across|at|using|over|by|through|via|inside|among|between)\b"
    r"|[x×](?= [a-z])|(?:so|because|since|leaves?|gives?|(?:is|was|were|are) used)\b|\\|-|<)"
)

_NEXT = deferred(r" [A-Za-z_][\w-]*(?: [a-z]+)* [0-9]")
"""Another label with its number right behind a value: `num_layers 40 hidden_size 5120`."""

_COUNTED_IN = deferred(r"[\s*_`]*(tokens?|sequences|samples|examples|images)\b")

_EACH = deferred(
    r"(?: sequences| samples)? ?\(?(?:/ ?|per |on each |for each )(?:GPU|device"
    r"|accelerator|rank|replica)",
    re.IGNORECASE,
)
"""Behind a batch: it is that of one replica."""

_A_NODE = deferred(
    r"(?: sequences| samples| images)? ?\(?(?:/ ?|per |(?:on|for|in) (?:each|every) |a )"
    r"(?:compute )?(?:node|host|machine|server)\b",
    re.IGNORECASE,
)

_OF_A_NODE = deferred(
    r"\b(?:per|each|every)[ -](?:node|host|machine|server),?[ -](?:\w+[ -]){0,3}?"
    r"batch(?:[ _-]size)?\b[^.;,0-9]{0,12}$",
    re.IGNORECASE,
)
"""Beside a batch: it is that of a node, which is no setting of a run."""

_OF_SOME_LENGTH = deferred(
    r"(?:longest|shortest|average|avg|mean|median|typical|prompt|output|response|generation)\b",
    re.IGNORECASE,
)
"""In front of a length that is none of what is trained on."""

OF_FAMILIES = deferred(
    r"\b(?:family|series|suite|collection|generation) of\b[^.;]{0,80}\bcontext\b[^.;0-9]{0,24}$"
    r"|\b(?:supports?|up to) an?? ?(?:[\w-]+ ){0,2}context\b[^.;0-9]{0,24}$",
    re.IGNORECASE,
)
"""In front of the context that models can have, whatever they were trained with."""

_OF_A_GROUP = deferred(
    r"(?:parallel|\b[TPDCE]P)[ -]world[ _-]size\b[^.;,0-9]{0,12}$"
    r"|\bbatch\b[^.;]{0,40}[x×*] ?[0-9]+ [A-Za-z]+ ?= ?$",
    re.IGNORECASE,
)
"""In front of a number that is none of all devices: `model-parallel world size 8`, or what a batch
and they make, `batch 16 x 8 GPUs = 128`."""

_TOO_SHORT = re.compile("[0-9]|1[0-5]")
"""A number that is no length of what is trained on, but a degree: `context 2`."""

_NO_WIDTH = re.compile("tensor|pipeline|data|beam|bus|lane|warp", re.IGNORECASE)
"""In front of a width that is none of a model."""

_OF_HOSTS = deferred(
    r" ?(?:of (?:the|these|those|our) (?:same )?|such )?(?:nodes?|hosts?|servers?|machines?|boxes"
    r"|[x×] ?[0-9])\b",
    re.IGNORECASE,
)

_OF_NO_STEP = deferred(
    r"(?:eval\w*|val|valid\w*|test\w*|roll-?outs?|inference|prompts?|generation|sampling|replay"
    r"|decod\w*"
    r"|experience|buffer|serving|request)",
    re.IGNORECASE,
)
"""In front of a batch that is not trained on."""

OF_BATCHES = ("batch_size", "global_batch", "micro_batch")
"""Fields that count what one step or a part of it takes."""

_EACH_BEFORE = deferred(
    r"(?:每[张块个]?(?:卡|\s?[GN]PU)|单卡)的?\s*(?:batch(?:[ _]?size)?|批次?大小|bs)"
    r"\s*[均都]?[为是:：=]?\s*$",
    re.IGNORECASE,
)
"""In front of a batch: `每卡 batch size 为 2`."""

OF_EACH = ("micro_batch", "accumulation")
"""Fields that are settings of a run wherever a sentence gives each device so many."""

_ON_EACH = deferred(
    r"[\s*_`]*(?:(?:micro-?)?(?:batches|steps|samples|sequences)\s)?(?:on|for) (?:each|every)"
    r" (?:GPU|device|card|rank|worker|NPU|chip|accelerator)\b",
    re.IGNORECASE,
)

OF_TOKENS = {"global_batch": "global_batch_tokens"}
"""Fields that are others where their value is counted in tokens."""

_BOUND = deferred(
    r"[,;|(){}\[\]—，。；、（）]|\. |\band\b|\bwith\b|\bpacked to\b|\bfor\b|\bof\b(?= [0-9])|--"
    r"|\ba\b"
    r"|[0-9] "
)

_SIGN = deferred(
    r"[\s*`\"']*(?:(?:[均都恒]|一律|统一|始终|一直)?(?:[均都恒]|固定|设置|设定|限定|默认)?(?:[:=：为是取成到在]|设为|取为)|\((?=$)"
    r"|\b(?:of|at|equals|(?:is|was|are|were"
    r"|stay(?:s|ed)?|remain(?:s|ed)?)"
    r"(?: (?:(?:always|kept|set|fixed|held|constant|pinned|chosen|both|all|again|here|simply|just"
    r"|equal|left|now|still) ?)*(?:to|at)?)?))?[\s*`\"']*$"
)

_GLOSS = deferred(
    rf"(?<=[A-Za-z{_HAN}]) ?[(（](?!(?i:global|total|effective|overall|micro|local|mini|per|each"
    rf"|on)\b)"
    r"(?:[A-Za-z]{1,9}|[A-Za-z]{1,12}(?:[ _-][A-Za-z]{1,12}){1,2})[)）]$"
)
"""The short name of a label, behind it: `micro-batch size (MBS)`, `张量并行度（TP）`."""

_SET_TO = deferred(
    r"\b(?:set|sets|setting|fix|fixed|fixing|keep|kept|held|hold|cut"
    r"|lowered|raised|changed)\b.* (?:to|at) $"
)

_VERB = deferred(
    r" (?:(?:is|was|were|are) )?(?:set|fixed|kept|held|cut|lowered|raised|changed|reduced"
    r"|increased)$"
)
"""Between a label and the value that it is set to."""

_COUNTED = deferred(
    r"(?<![\w.,$-])(?<![0-9] there are )(?!1[ -])([0-9]+(?:,[0-9]{3})*)[ -]"
    r"(?:transformer |decoder |attention |message[- ]passing )?"
    r"(layers?|blocks?|heads?|hidden(?: (?:units|dimensions|size))?|experts?)\b"
    r"(?!s? (?:of(?! (?:width|hidden|dim(?:ension)?|d_model|model width)\b)"
    r"|per(?! (?:MoE |sparse |expert )?(?:layer|block)\b)|each|[0-9]))"
)

_PARTS = {"layer": "layers", "block": "layers", "head": "heads", "expert": "experts",
          "hidden": "hidden"}  # fmt: skip
"""Words behind a number for the fields that they count."""

_NOUNS = {"context": "seq_len", "virtual stages": "vp", "virtual pipeline": "vp"}
"""Nouns behind a number that are no label before one."""

_WAYS = deferred(
    r"(?<![\w.-])([0-9]+)[ -]way (tensor|pipeline|data|expert|context)"
    r"(?=(?:[ -](?:model[ -])?|(?:, | and )[^.;]{0,60})parallel)",
    re.IGNORECASE,
)

_SHORT_WAYS = deferred(r"(?<![\w.-])([0-9]+)[ -]way (TP|PP|DP|CP|EP)\b")

_BEFORE_NOUN = deferred(
    r"(?<![\w.,$/-])(?<![x×*] )([0-9]+(?:,[0-9]{3})*[kKM]?)[ -]"
    r"(?:tokens? )?((?:[A-Za-z][\w-]*)(?: [A-Za-z][\w-]*){0,3})"
)
"""A number before what it is of: `16 gradient accumulation steps`, `512 global batch`."""

_OF_TOKENS_EACH = deferred(
    r"\b(?:[Ss]equences|[Ss]amples) +(?:of|have|are|with) +([0-9]+(?:,[0-9]{3})*[kK]?) tokens\b"
    r"(?! on average)"
    r"|(?<![\w.,$-])([0-9]+(?:,[0-9]{3})*[kK]?)[ -]token (?:sequences|context)\b"
    r"|(?<![\w.,$-])([0-9]+(?:,[0-9]{3})*[kK]?) tokens (?:per|a|each|/) ?(?:sequence|sample)\b"
    r"|(?<![\w.,$-])[0-9]+ (?:sequences|samples) ?[x×*] ?([0-9]+(?:,[0-9]{3})*[kK]?) tokens\b"
    r"|\bbatch(?:[ _-]size)?(?: of|:| =)? [0-9][0-9,]* ?[x×] ?([0-9]{3,}"
    r"(?:,[0-9]{3})*[kK]?) tokens\b"
    r"|\bpacked (?:in)?to (?:a length of )?([0-9]+(?:,[0-9]{3})*[kK]?)\b(?![.%][0-9])"
)

_ACCUMULATED = deferred(
    r"(?<![\w.,-])([0-9]+)[ -](?:steps? of (?:gradient |grad\.? |batch )?accumulation"
    r"|(?:gradient |grad\.? )?accumulation(?: step)?s?)\b"
    r"|(?<![\w.,-])([0-9]+) (?:micro-?(?:steps|batches)|forward(?: |-)passes) "
    r"(?:for|per|in|to|before|make|give) (?:(?:each|every|an?|one|the) )?"
    r"(?:(?:optimi[sz]er|training|weight) )?(?:step|update)\b"
    r"|\baccumulat(?:ed?|es|ing|ion)(?: of)?(?: (?:the )?gradients)? (?:over|for|across) ([0-9]+) "
    r"(?:steps|micro-?batches|mini-?batches|iterations|batches)\b"
    r"|\b(?:grad(?:ient)?[ _.])?accum(?:[ =:]| of )([0-9]+)(?![\w.,]*[0-9]|[kKM]| ?/ ?[\w(])",
    re.IGNORECASE,
)
"""Steps that gradients are accumulated over: `8 steps of gradient accumulation`."""

_ACCUMULATES = deferred(
    r"\W*(?:(?:the|we|and|all) )*(?:gradients? (?:are|is|were|was) accumulated|accumulate\b)",
    re.IGNORECASE,
)
"""How a sentence begins that is about it."""

_SPACED = deferred(
    r"(?<![\w-])((?:TP|PP|DP|CP|EP|VPP|GBS|MBS|tp|pp|dp|cp|ep|gbs|mbs)(?= )"
    r"|(?:(?=[TPDCE]P-[0-9]{1,4}[ ,/+x×]{1,3}[TPDCE]P-)|(?<=[0-9] )|(?<=[0-9], ))[TPDCE]P(?=-)"
    r"|FSDP(?=[ =-](?:[4-9]|[0-9]{2,4}) ?(?:[x×*+,/&]|and|with) ?[TPCE]P\b))[ =-]"
    r"([0-9]+|one|two|four|eight|sixteen)(?!\w|\.[0-9]|-[0-9])"
    rf"(?!{_OF_OTHERS})"
)

_WORDS = deferred(
    r"(?<![^\s,;:()`，；、：（·])[A-Za-z]{2,7}[0-9](?:[\w/-](?![一-鿿]))*(?![^\s,;.()`，；、。）·])"
)
"""Words of letters and digits, set apart: `TP8`, `tp8-pp4-dp2`."""

_SPELLED = deferred(
    r"(?<![\w.])([Tt]ensor|[Pp]ipeline|[Cc]ontext|[Dd]ata|[Ee]xpert)(?: ?[:=] ?| )([0-9]{1,4})"
    r"(?![\w.]|-way)"
)
"""Degrees by the words for what is split: `tensor 4 / pipeline 2 / data 8`."""

_BEHIND = deferred(r"(?<![\w.-])([0-9]{1,5})([LHA])(?![\w-])")

_A_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,2}|[0-9]{1,7}[kK]?)"

_NUMBERS_IN_TURN = deferred(
    rf"(?<![\w.,$/×*-])(?P<open>[(\[])?{_A_NUMBER}(?:(?P<sign>\s?[x×*/·-]\s?)(?!\s){_A_NUMBER}"
    rf"(?:(?P=sign){_A_NUMBER}){{0,3}}|(?:,\s?{_A_NUMBER}){{0,3}},? ?(?:and )?{_A_NUMBER})"
    r"(?(open)[)\]])(?![\w%/×*-]|[.,][0-9]|\s?[x×*/]\s?[0-9])"
    r"(?! ?\([^()]{1,40}\)[,;] ?\(?[0-9])(?!,? (?:and|or|to|vs\.?) \(?[0-9])(?!; ?\(?[0-9])"
)
"""Numbers one behind the other, all with the same sign between them: `8/4/2`, `8, 4 and 16`."""

_WORD = r"[A-Za-z]{1,11}(?:[ -][A-Za-z]{1,11}){0,3}"

_BETWEEN = r"(?:\s?[/×*,·]\s?(?:and )?| x |(?<=[A-Z])x(?=[A-Z])| and |(?<=[A-Za-z]P)-(?=[A-Z]P))"

_LABELS_BEFORE = deferred(
    r"(?:^|(?<=[^\w/×]))(?:(?P<noun>batch(?: sizes?)?) )?\(?"
    rf"(?P<labels>{_WORD}(?:{_BETWEEN}{_WORD}){{1,4}})\)?[*_`]*\s?"
    r"(?P<sign>[=:]|\b(?:of|at|(?:(?:is|are|was|were)(?: (?:set|fixed|kept|always) (?:to|at))?)))"
    r"[\s*_`]*$"
)

_LABELS_BEHIND = deferred(
    r"\s?(?:(?:device )?mesh )?(?:(?:for|over|in the order(?: of)?|as|=) )?"
    rf"[(\[](?P<labels>{_WORD}(?:{_BETWEEN}{_WORD}){{1,4}})[)\]]"
)

_OF_PARALLELISM = re.compile(
    r"[ -](?:(?:model )?parallel(?:ism)?(?: (?:sizes?|degrees?))?|degrees?|sizes?)$", re.IGNORECASE
)

_OF_A_BATCH = re.compile(r"[ -]batch(?:[ -]?sizes?)?$", re.IGNORECASE)

_WHOSE = re.compile(r"micro|global|local|total|effective|per[ -](?:GPU|device)", re.IGNORECASE)
"""Whose a batch is, in front of the noun that a further label has."""

_FIELDS_IN_TURN = {*NAMES.values(), "micro_batch", "global_batch", "seq_len", "accumulation"}

_RECOMPUTED = deferred(
    r"(?<![A-Za-z0-9_])(no|without|full|selective)(?:-layer)?(?: any)?(?: (?:form|kind|sort) of)?"
    r" (?:(?:op|per-op|layer|block"
    r"|attention) )?(?:activation )?"
    r"(?:recomput\w+|remat(?:eriali[sz]\w+)?|(?:activation |gradient )?check-?pointing|"
    r"(?:activation|gradient) checkpoints|(?:(?:activation|gradient|act\.?"
    r"|grad\.?)[ -])?ckpt(?:ing)?"
    r"|(?-i:AC))\b(?! (?:is |was )?(?:off|disabled)| (?:except|apart|other|beyond|but|besides|when"
    r"|whenever|wherever|if|as soon"
    r"|(?:(?:we|you|one|it|they) )?(?:can|could|would|may|might|should))\b"
    r"| for (?:the )?(?:[0-9]|[A-Z][\w.-]*[0-9])"
    r"| (?:for|on|in) (?:the |those |all )?(?:larger?|largest|bigg(?:er|est)|small(?:er|est)?)\b"
    r"| (?:for|on|in) (?:the |those |all )?(?:models?|sizes|runs|ones) (?:from|of|over|up to|with"
    r"|larger|bigger|smaller|beyond|(?:above|below|at) [0-9]|[<>≥≤]))"
    r"|(?<![\w-])(?:(?:activation )?recomput(?:e|ation)|(?:activation|gradient) check-?pointing"
    r"|recompute[ -]activations|remat(?:eriali[sz]ation)?|(?-i:AC)(?= (?:mode|policy)\b))"
    r"(?:[ _-](?:policy|mode|granularity))?"
    r"(?:(?::| (?:is|was))?(?: (?:always|turned|switched)){0,2} (?:on|enabled|active|used)\b,?)?"
    r"(?: (?:is|was))? ?[:=(（]? ?(full|selective|none)\b(?! or\b| ?/)"
    r"|\b(?:ckpt|(?-i:AC)) ?[:=] ?(full|selective|none|off)\b"
    r"|\bactivations (?:are|were) (fully|selectively) (?:recomputed|check-?pointed"
    r"|re-?materiali[sz]ed)\b"
    r"|\b(?:recomputes?|recomputed|check-?points?|check-?pointed)(?: (?:activations|everything))?"
    r" (selectively|fully)\b"
    r"|\b(neither) (?:activation|gradient) (?:recomput\w+|check-?pointing) nor\b"
    r"|\b(?:do|did|does) (not) (?:re-?materiali[sz]e|recompute|checkpoint) "
    r"(?:(?:any|the) )?(?:anything|activations?)\b"
    r"|\b(never|not)(?: ever)? (?:use[sd]?|appl(?:y|ied)|enabled?|turned on|needed) (?:any )?"
    r"(?:activation|gradient) (?:recomput\w+|check-?pointing|remat\w*)\b(?! (?:in|for|on"
    r"|with) (?!any|all"
    r"|these|our))",
    re.IGNORECASE,
)

_SAC = deferred(
    r"(?<![\w-])(?<!no )(?<!without )(?<!w/o )"
    r"(?P<op>(?:(?i:per[ -]op(?:erator)?|op(?:erator)?(?:[ -]level)?|selective)[ -])?)SAC"
    r"(?![\w-])(?! ?\(?(?:every|each|[2-9]|off\b|is off|or\b|vs))"
)
"""Selective activation checkpointing in short: `FSDP2, per-op SAC`, `FSDP + SAC`."""

_OF_TRAINERS = deferred(r"\b(?:[FH]SDP[12]?|AC|torch\.compile|fully_shard)\b")
"""Words beside which the short name alone is that."""

_AGENTS = deferred(r"\b(?:RL|actors?|agents?|PPO|TD3|DDPG|polic(?:y|ies)|replay|Hopper-v)\b")
"""Words beside another algorithm of that name."""

_CHECKPOINTED = deferred(
    r"\b(?:(?:gradient|activation)[ -](?:check-?points?(?:ing)?|recomput\w+|remateriali[sz]ation)"
    r"|(?:re-?comput(?:e|ation)|(?<![A-Za-z] )(?<![A-Za-z]-)check-?pointing)"
    r"(?= (?:(?:is|was|were|turned|switched|always) ){0,3}(?:on|off|disabled|enabled|not)\b)"
    r"|remat(?:eriali[sz]ation)?|(?:grad(?:ient)?|act(?:ivation)?)\.?[ -]?(?:ckpt|checkpointing))\b"
    r"(?![ -](?:polic|granular|sav|load|file|dir|director|interval|frequen|over|cost|format|option)"
    r"|s? (?:is |are )?(?:saved|written|stored))"
    r"(?P<on>[*_`:]*(?: (?:is|was|are|were|turned|switched|always|generally|also))*"
    r" (?:on\b(?! (?:every|each|all)\b)|(?:enabled|used|active|applied)\b)"
    r"|[*_`]*(?= everywhere| throughout| for all)|\s*\(?[\s*_`]*\w+=True[\s*_`]*"
    r"|[*_`]* ?[=:] ?(?:true|yes)\b)?"
    r"(?P<no>[*_`]* ?(?:[=:] ?(?:false|no|none|off|disabled|0)|false)\b)?"
    r"(?P<off>[*_`:]*(?: (?:is|was|are|were|turned|switched|always|generally))*"
    r" (?:off|disabled|none|not (?:used|enabled|needed|applied)|unused)\b)?"
    r"(?P<all> (?:on|of|for|in|at|after|to) (?:every|each|all|whole|entire)(?: the)?"
    r"(?: (?:decoder|transformer|encoder|single))* (?:layers?|blocks?)\b)?",
    re.IGNORECASE,
)
"""Recomputation that a sentence switches: `gradient checkpointing on`, or for each layer."""

_EVERY_LAYER = deferred(
    r"\b(?:recomput(?:e|es|ed|ing)|check-?point(?:s|ed|ing)?|re-?materiali[sz](?:e|es|ed|ing)) "
    r"(?:(?:the )?activations? (?:in|of|at) )?(?:every|each|all)(?: the)? "
    r"(?:(?:decoder|transformer) )?(?:layers?|blocks?)\b"
    r"|\b(?:every|each|all) (?:(?:of )?the )?(?:single )?(?:(?:decoder|transformer|encoder"
    r"|attention) )?"
    r"(?:layers?|blocks?)(?: (?:is|are|was|were|gets?|being))? (?:(?:fully|always|entirely) )?"
    r"(?:check-?pointed|re-?computed|re-?materiali[sz]ed)\b"
    r"|\b(?:every|each|all)(?: the)? (?:single )?(?:(?:decoder|transformer|encoder) )?"
    r"(?:layers?|blocks?) (?:check-?pointed|re-?computed|re-?materiali[sz]ed)(?=\s*(?:[,.;)]|$))"
    r"|\bactivations (?:are|were) (?:recomputed|check-?pointed|re-?materiali[sz]ed) "
    r"(?:(?:at|in|for|of) )?(?:every|each|all) (?:(?:decoder|transformer) )?(?:layers?|blocks?)\b",
    re.IGNORECASE,
)
"""The same by its verb: `we recompute activations in every block`."""

_KIND = deferred(r"\b(?:full|selective) $", re.IGNORECASE)
"""In front of a switch that is off: of one kind it may be, and another on."""

_OF_RECOMPUTATION = re.compile("heckpoint|ecomp|emat|ckpt")

_LISTS_IT = deferred(
    r"(?:[,;(+:&/，、；（：]|\b(?:and|with|use[sd]?|using|w/|plus|enabled?|also))\s*[*_`]*$"
)

_LISTED = deferred(
    r"[*_`]*\s*(?:[,;:).+&，、；）。：]|$|and\b|as\b|with\b|throughout\b|everywhere\b"
    r"|(?:again|too|here|as well)(?=\W|$)"
    r"|(?:for|in|on) (?:all|every|each)\b)"
)
"""Around a switch that is an item of a list, and so on."""

_OF_NO_RUNS = deferred(
    r"\b(?:supports?|supported|supporting|features?|options?|optional\w*|can|could|may|might|should"
    r"|try|consider|recommend\w*|suggest\w*|implement\w*|needs?|requires?|available|effect|costs?"
    r"|slows?|saves?|trades?|reduc\w+|without|no|not|instead|vs|excludes?|excluding|w/o)\b",
    re.IGNORECASE,
)
"""Words of a sentence about what recomputation is, or may be, beside those on how runs ran."""

_SWITCHES = {
    re.compile(
        r"(?<![Uu]lysses )(?<!DeepSpeed )(?<!DeepSpeed-Ulysses )(?<![Rr]ing )"
        r"(?:\bsequence|(?<=[\w+,&(] )Sequence)[ -][Pp]arallel(?:ism)?\b(?! ?[=:])"
        r"(?! (?:attention|implement|method|kernel|version|group))"
        r"|\bSequence[ -][Pp]arallel(?:ism)? (?:is|was) (?:always )?(?:on|enabled|active|used)\b"
    ): ("sequence_parallel", "True"),
    re.compile(r"\bdistributed optimizer\b(?! ?[=:])"): ("zero_stage", "1"),
    re.compile(r"(?<![\w.-])(?:use_)?checkpoint=True\b"): ("activation_checkpointing", "True"),
}  # fmt: skip
"""Words of a sentence that say of something that it is on."""

_FLASH = deferred(
    r"(?P<off>\b(?:no|without|not use|never use[sd]?) (?:any )?)?"
    r"(?<![A-Za-z0-9_])(?:flash[ -_]?att(?:ention|n)"
    r"(?:_v?[1-3](?![A-Za-z0-9_])|(?![A-Za-z_])(?:[ -]?v?[1-3](?:\.[0-9]+)*)?)"
    r"|attention(?: backend| kernel)? ?[:=] ?(?:\w+ )?flash\b)"
    r"(?P<out>(?: (?:is|was|are|were|has been|turned|switched))* (?:off|disabled|unused"
    r"|not (?:used|enabled))\b(?! (?:for|in|on|at|when|where|if|unless|with) (?!all|every|each)))?"
    r"|(?P<plain>\b(?:eager|unfused|naive|un-fused|vanilla)(?: PyTorch)?[ -](?:(?:softmax"
    r"|self)[ -])?"
    r"attention\b|\battn_implementation\W{1,4}eager\b|\battention(?: backend| kernel"
    r"| implementation)? ?[:=] ?(?:eager|unfused|naive)\b|朴素(?:的)?注意力"
    r"|注意力(?:机制)?(?:采用|使用|为)朴素)"
    r"|(?<![\w-])(?-i:FA-?[23])(?![\w-])|(?P<zh>(?:不使用|未使用|未开启|关闭"
    r"|没有使用) ?flash[ -]?att(?:ention|n))",
    re.IGNORECASE,
)
"""Attention in one kernel, or in several."""

_SDPA = deferred(rf"{SDPA}(?![\w/(]|[-_](?!att)|\.\w)", re.IGNORECASE)

_OF_ITSELF = deferred(
    r"[`\"'*_ ]*(?:(?:['’]s|的) ?(?:sequence|序列|论文|仓库|作者|版本|安装|编译)"
    r"|vs\.?|versus|against|or\b|paper|repo|library|package|docs?|install|wheel"
    r"|is (?:installed|required|needed"
    r"|supported|faster)|speeds?|require|support|backward|forward|kernels? (?:is|are|take)|[vx=]*"
    r"(?:>=|==))",
    re.IGNORECASE,
)
"""Behind attention that a sentence is about, whatever ran with it."""

_ADVISES = deferred(
    r"(?:\b(?:install|pip|supports?|requires?|enable|try|consider|recommend\w*|can|could|may|if"
    r"|optional|compared?|vs\.?|versus|than|faster|available|build|compile[sd]? from"
    r"|integrates|incorporates|bundles|offers|provides|ships(?: with)?)\b"
    r"|支持|集成|整合|内置|提供|統合|내장)[^,;，；]{0,60}$",
    re.IGNORECASE,
)
"""In front of attention that a program has for those who want it: `It integrates FlashAttention`.
"""


def _attention(text: str) -> Part | None:
    """The attention that a sentence says the runs had; none of several, or of advice."""
    every = list(_FLASH.finditer(text)) if "tt" in text or "FA" in text or "注意力" in text else []
    kinds = {"unfused" if any(each.groups()) else "flash" for each in every}
    if not every:
        return _chosen_by_library(text)
    if len(kinds) != 1 or _WITH_AND_WITHOUT.search(text):
        return None
    found = every[0]
    if _OF_ITSELF.match(text, found.end()) or _ADVISES.search(text, 0, found.start()):
        return None
    without = found["off"] and found["off"].casefold().startswith("without")
    if without and _BEGINS.search(text, 0, found.start()) and _AND_SO.match(text, found.end()):
        return None  # `without FlashAttention scores are stored` is of no run
    if not text.isascii() and _OFF_IN_ASIA.match(text, found.end()):
        return None
    if not any(found.groups()) and (
        _OFF.search(_clause(text, found)) or _CONDITION.match(text, found.end())
    ):
        return None
    return Part("attention", kinds.pop(), found.start())


def _chosen_by_library(text: str) -> Part | None:
    """PyTorch's own attention, where a sentence names no kernel and says that the runs had it."""
    found = _SDPA.search(text)
    if found is None or _WITH_AND_WITHOUT.search(text) or _OFF.search(_clause(text, found)):
        return None
    behind = _OF_ITSELF.match(text, found.end()) or _CONDITION.match(text, found.end())
    if behind or _OFF_IN_ASIA.match(text, found.end()) or _ADVISES.search(text, 0, found.start()):
        return None
    flash = _FLASH_OF_IT.search(text, max(0, found.start() - 8), found.end() + 8)
    return Part("attention", "flash" if flash else "sdpa", found.start())


_FLASH_OF_IT = deferred(
    r"(?<![\w-])flash[-_ ]SDPA\b|\bSDPA ?[-_:(]{1,2} ?flash(?![\w-]| ?att)",
    re.IGNORECASE,
)
"""PyTorch's attention with the kernel that it chose: `flash sdpa`, `SDPA (flash)`."""


_OFF_IN_ASIA = deferred(
    r"[^,，、;；。.]{0,12}?(?:なし|無し|無効|オフ|使わ(?:ず|な)|(?:使って|して)い(?:な|ま?せん)|しません"
    r"|有無|않|없|끔|끄|꺼|미사용|비활성|유무|여부|关闭|禁用|停用|未启用|未使用|与否|有无)"
)
"""Behind attention that is off, or perhaps: `FlashAttentionを無効にした`."""

_BEGINS = deferred(r"(?:^|[.;:(–—] ?)\W*(?:and |but )?$")

_AND_SO = deferred(
    r"[`*_]{0,2}(?: (?:kernels?|2|3))?,? (?:[\w-]+ ){0,6}?(?:is|are|was|were|be|do|does|did|has"
    r"|have|had|use[sd]?|needs?|needed|takes?|took|runs?|ran|doubles?|grows?|falls?|drops?|fits?|goes"
    r"|we|it|you|one|would|could|can|will|stores?|stored)\b",
    re.IGNORECASE,
)
"""Behind what a clause begins to say is not so: how it is then."""

_NOT_SEQUENCE_PARALLEL = deferred(
    r"\b(?:no|without|disabl(?:ed?|ing)|not us(?:e|ed|ing)|turn(?:ed)? off)(?: any)? "
    r"sequence[ -]parallel(?:ism)?\b(?! (?:in|for|on) (?!all|any))"
    r"|\bsequence[ -]parallel(?:ism)? (?:(?:is|was|turned|switched) )*(?:off|disabled|not used)\b",
    re.IGNORECASE,
)

_NOT_INTERLEAVED = deferred(
    r"\b(?:no|without) (?:pipeline )?interleaving\b|\binterleaving (?:is|was) (?:not (?:used"
    r"|applied)"
    r"|off|disabled)\b|\bnon-interleaved\b",
    re.IGNORECASE,
)
"""A stage is one chunk of the model."""

_WITH_AND_WITHOUT = deferred(
    r"\b(?:with (?:and|or|vs\.?) without|with/without|on/off"
    r"|on and off)\b"
)

_NOT_ACCUMULATED = deferred(
    r"\b(?:no|without|w/o)(?: any)? (?:(?:gradient|grad\.?|batch) )?accumulation\b"
    r"(?! of\b| in (?!(?:the|all|any|every|each)(?: of)?(?: the| these)? (?:above|below|run|row)"
    r"|(?:this|these|them|any|all|either|both)\b(?! \w+ (?:but|except)))"
    r"| on [0-9])"
    r"|\b(?:gradient|grad\.?) accumulation(?: steps)?(?::| is| was)? "
    r"(?:off|disabled|none|not used|never used|unused)\b(?! (?:in|for|on|with) (?!any|all|every))"
    r"|\b(?:not|n['’]t|never) (?:use[sd]?|appl(?:y|ied)|need(?:ed)?|rely on)(?: any)? (?:gradient"
    r"|grad\.?|batch) accumulation\b(?! (?:in|for|on|with|of) (?!any|all|every))"
    r"|\b(?:(?:never|(?:do|did|does)(?: not|n['’]t)) accumulate|without accumulating)"
    r"(?:(?: any| the)? gradients?\b(?! (?:in|over|across) (?!any|all|every))"
    r"|(?= *(?:[,.;:)—–]|$)))"
    r"|\baccum(?:ulation)?(?: steps)?: ?(?:none|off)\b"
    r"|(?:不使用|未使用|没有使用|无|未开启|不开启|关闭|不做|没有|未做|没做|未进行)(?:任何)?\s*"
    r"(?:gradient accumulation(?: steps)?|梯度累[积加计])"
    r"|\bgradients (?:are|were) (?:never|not) accumulated\b(?! (?:in|over|across) (?!any|all"
    r"|every))",
    re.IGNORECASE,
)
"""Every micro-batch is a step: `no grad accumulation`."""

_AGAIN_IN_CHINESE = deferred(
    r"(?:(?P<off>关闭了?|不使用|未使用|未开启|不开启?|未启用|禁用了?|无)|(?:开启|使用|启用|打开|采用|改用|改为)了?)\s*"
    r"(?:(?:(?!相同|同样|一样|同等|一致)[^。;；,，]){1,48}[与和及、]\s?)?"
    r"(?P<how>全量|完全|全部|全|选择性)?(?:的)?(?:梯度检查点|激活检查点|激活值?重计算|重计算"
    r"|`?(?:(?:gradient|activation) )?(?:check-?point(?:ing|s)|recomput(?:e|ation))`?)"
    r"(?: ?[(（](?P<kind>全量|完全|全部|全|选择性|(?:full|selective)\b)[^()（）]{0,20}[)）])?"
    r"(?!之?后|时|会|将|则|可以|导致|设置|选项|参数)"
    r"|(?:^[\s*•+-]*|[，,；;、：:（(]\s*)(?P<bare>选择性|全量|完全|全部|全层|全)(?:激活)?重计算(?=\s*(?:[（(，,；;。、：:]|$))"
    r"|(?<![将把若果需请])(?<![将把若果需请] )(?:梯度检查点|激活检查点|重计算"
    r"|(?:gradient|activation) (?:checkpointing|recomputation))"
    r" ?[:：]?[均都已]{0,2}(?:(?P<not>关闭|未开启|未启用)|开启|打开|启用)(?![时后前会则]|之后|与否)"
    r"(?: ?[(（](?P<way>全量|完全|全部|全|选择性|(?:full|selective)\b)[^()（）]{0,20}[)）])?"
)
"""Recomputation that a sentence in Chinese switches."""

_AMOUNT_IN_CHINESE = {"无": "none", "全": "full", "完": "full", "选": "selective"} | {
    "f": "full", "s": "selective",
}  # fmt: skip
"""How much is computed again, by the first letter of the word for it."""

_BUT_FOR = deferred("除[^。；;，,]{1,60}外")
"""Rows in Chinese of which a sentence is not."""

_NOT_PARALLEL = deferred(
    r"(?:\b(?:no|without|not (?:use|need)|neither)|n['’]t (?:use|need))(?: any)? "
    r"(?:(?:tensor|pipeline|model|context|sequence|expert|data)[ -]?(?:parallel(?:ism)?)?"
    r"(?:,|,? n?or|,? and| ?/)? ?){1,3}"
    r"parallel(?:ism)?\b"
    r"(?! (?:over|across|between|communic"
    r"|in\b(?! this (?:repo|page|report|post|project|code|note))))"
    r"|\b(?:no|without) pipeline(?=\s*(?:[.,;)]|$))"
    r"|\b(?:no|without|neither) (?:[TPCE]P)(?:(?:,|,? ?(?:n?or|and|/)) ?[TPCE]P){0,3}\b(?! ?[=0-9])"
    r"|\b(?-i:[TPCE]P)(?:(?:,|,? and| ?/) ?(?-i:[TPCE]P)){0,3} (?:(?:is|are|was|were|both) )*"
    r"(?:off|disabled|not used|unused)\b"
    r"|(?:^|[,;(] ?|\b(?:with|and) )(?:tensor|pipeline|model|context|expert)(?:,? and (?:tensor"
    r"|pipeline|context|expert))?[ -]parallel(?:ism)?(?: (?:is|was|are|were|turned|switched))* "
    r"(?:off|disabled|not (?:used|needed)|unused|none)\b",
    re.IGNORECASE,
)
"""Degrees of one: `no tensor or pipeline parallelism`, `no TP/PP/CP`."""

_NOTHING_SPLIT = deferred(
    r"\W*(?:here,? |throughout,? |(?:in|for) (?:all|any)[a-z ]{3,24}, )?(?:(?:(?:we|I"
    r"|(?:the|all|our|these|both)(?: of (?:the|our|these))? (?:runs?|models?|jobs?|experiments?))"
    r" (?:(?:did|do)(?: not|n['’]t) (?:use|need)|use[sd]? no|(?:(?:are|were) trained|ran|run)"
    r" without)|no|neither)(?: any)? (?P<what>(?:[a-z]{4,8}(?:,? n?or |,? and |, | ?/ ?|[ -])){1,4}"
    r"parallelism)(?: (?:is|was|are|were) (?:used|needed|applied|necessary))?"
    r"|[a-z]{4,8}(?:,? and [a-z]{4,8})?[ -]parallelism (?:is|was|were|are) (?:off|disabled|unused"
    r"|not (?:used|needed)))"
    r"(?: (?:here|anywhere|at all|throughout|in any (?:run|case|row|of [a-z ]{3,24})"
    r"|(?:in|for) all(?: of)?(?: the| these| our)? (?:runs?|rows?|cases|models?)))?\W*",
    re.IGNORECASE,
)
"""A whole sentence that says that nothing is split in some way."""


def nothing_split(text: str) -> bool:
    """Whether a sentence says of all runs that they split a model in some way not at all.

    >>> nothing_split("We did not use tensor parallelism."), nothing_split("No TP for the 7B one.")
    (True, False)
    """
    return "arallel" in text and _NOTHING_SPLIT.fullmatch(text) is not None


_DEGREES = re.compile(r"[ (][TPCE]P")

_NOT_IN_CHINESE = deferred(
    r"(?:不使用|未使用|没有使用|未开启|不开启?|没有开启|未启用|无|关闭)\s*"
    r"((?:(?:张量|流水线?|模型|上下文|专家|tensor|pipeline|context|expert)(?:模型)?(?:并行"
    r"| parallelism)"
    r"\s*(?:[和与及、或/]|以及)?\s*){1,3})"
)
"""The same in Chinese: `没有使用张量并行和流水线并行`."""

_KIND_IN_CHINESE = {"张量": "tp", "流水": "pp", "上下": "cp", "专家": "ep"}

_REST_IS_DATA = deferred(
    r"\b(?:rest|remaining \w+|remainder|everything else|others?) (?:is|are|was|were|goes to|go to"
    r"|uses?) (?:(?:all|pure|purely|plain|only) )?(?:data[- ]parallel(?:ism)?|DP)\b"
    r"|其余(?:均|都|全部|卡|部分)*(?:为|是|用|采用|使用|做)?(?:纯)? ?(?:数据并行|data paral)",
    re.IGNORECASE,
)
"""Behind a degree: devices that are not of it share the data, and there are no stages."""

_PIPELINED = deferred(r"\bPP|\bpipelin|流水|\bstages?\b(?! ?[0-3]\b)", re.IGNORECASE)

_UNSHARDED = deferred(
    r"\b(?:no|without(?: any)?) sharding(?: of (?:the )?(?:parameters|weights|states|gradients"
    r"|model"
    r"|anything|optimi[sz]er)\b|(?=\s*(?:[.,;)]|$)))|\bnothing is sharded\b"
    r"|\bZeRO (?:is|was) (?:disabled|off|not used)\b"
    r"|\b(?:no|without|not use(?: any)?) (?:DeepSpeed )?ZeRO\b(?![ -]?[0-3]| stage)"
    r"|(?:不使用|未使用|没有使用|未开启|不开启|关闭)\s*(?:DeepSpeed )?ZeRO(?![ -]?[0-3A-Za-z])",
    re.IGNORECASE,
)

_OFF = deferred(
    r"\b(?:no|without|not|disabl(?:ed?|ing)|off|never|avoid\w*)\b|[不未无]|没有|关闭|[禁停]用",
    re.IGNORECASE,
)

_FOR_EACH = deferred(
    r"(?<![\w.,])([0-9]+(?:,[0-9]{3})*[kK]?)(?: tokens| sequences)?"
    r"(?:\s+(?:for|with|on)\s+(?:the\s+)?|\s*\()"
    r"((?:[A-Z][\w.-]*[ -](?:v?[0-9.]{1,4}[ -])?)?[0-9]+(?:\.[0-9]+)?[BM]\b"
    r"|[Mm]ixed[ -][Pp]recision|AMP\b"
    r"|(?:fp|tf|bf|float|bfloat)(?:16|32|8)\b|[A-Z][A-Za-z]*-?[0-9][\w.-]*\b"
    r"|[A-Z][a-z]{3,}[A-Za-z]*\b(?=(?: models?| family)?(?:[,;.)]| and\b|$)))(?:\))?"
)
"""A value and the model or the format that it is of: `8192 for 8B`, `256 for mixed precision`."""

_OF_ONE_MODEL = deferred(r"[0-9][0-9,]*[kK]?(?: tokens| sequences)? for (?:the )?(?=\S*[0-9])")
"""A value that a sentence gives one model alone: `512 for the 70B`."""

_AND = deferred(r"(?: models?| training)?\s*(?:,\s*and|,|;|/|,?\s*\b(?:and|but|versus|vs\b\.?))\s*")


_HOW_FOR_EACH = deferred(
    r"[`*]*\b(no|none|selective|full)\b[`*]*(?: (?:activation |gradient )?"
    r"(?:recomput\w+|check-?pointing|AC))? for (?:the )?"
    r"((?:[A-Z][\w.-]*[ -])?[0-9]+(?:\.[0-9]+)?[BM])\b",
    re.IGNORECASE,
)
"""How much is computed again, and the model that it is of: `full for 70B`."""


_FORMAT_FOR_EACH = deferred(
    rf"(?<![\w-])({NUMBER_FORMAT}) for (?:the )?"
    r"((?:[A-Z][\w.-]*[ -])?[0-9]+(?:\.[0-9]+)?[BM]|[A-Z][\w-]{2,})\b"
)
"""A number format, and the model that it is of: `FP8 for 8B, BF16 for 70B`."""


def for_each(text: str) -> tuple[str, dict[str, str]] | None:
    """The field that a sentence gives a model, or each of several, a value of, by its name.

    >>> for_each("Sequence length 8192 for 8B, 4096 for 70B.")
    ('seq_len', {'8B': '8192', '70B': '4096'})
    >>> for_each("Global batch 512 for 70B."), for_each("We use 8 for 8B and 16 for 70B.")
    (('global_batch', {'70B': '512'}), None)
    >>> for_each("a vocabulary of 128256 for Foo 8B vs 32768 for Bar 7B")
    ('vocab', {'Foo 8B': '128256', 'Bar 7B': '32768'})
    >>> for_each("`selective` activation checkpointing for 8B and `full` for 70B")
    ('recompute', {'8B': 'selective', '70B': 'full'})
    >>> for_each("MI300X, FP8 for 8B, BF16 for 70B; GBS grows with the number of nodes.")
    ('dtype', {'8B': 'FP8', '70B': 'BF16'})
    >>> for_each("Batch size per GPU is 96 for mixed precision and 48 for FP32.")
    ('micro_batch', {'mixed precision': '96', 'FP32': '48'})
    """
    how = {found[2]: found[1].casefold() for found in _HOW_FOR_EACH.finditer(text)}
    if len(how) > 1 and ("heckpoint" in text or "ecomput" in text):
        return "recompute", {name: "none" if word == "no" else word for name, word in how.items()}
    kinds = {found[2]: found[1] for found in _FORMAT_FOR_EACH.finditer(text)}
    if len(kinds) > 1:
        return "dtype", kinds
    every = list(_FOR_EACH.finditer(text))
    told = {found[2]: found[1].replace(",", "") for found in every}
    gaps = [text[a.end() : b.start()] for a, b in pairwise(every)]
    alone = len(every) == 1 and not _OF_ONE_MODEL.search(text, every[0].start())
    if not every or alone or len(told) < len(every) or not all(map(_AND.fullmatch, gaps)):
        return None
    before = text[max(0, every[0].start() - 60) : every[0].start()]
    sign = _SIGN.search(before)
    words = re.findall(r"[A-Za-z][\w-]*", before[: sign.start()] if sign else before)
    for count in range(min(4, len(words)), 0, -1):
        label = " ".join(words[-count:])
        name = known(label) or configured_by(label)
        if name and fields(Configuration)[name].dtype.is_integer():
            return name, told
    return None


_TWO = 2
"""Short names glued to their numbers in a sentence, before one of them counts."""


def parts(text: str, stated: Sequence[Part], *, logged: bool, others: int = 0) -> list[Part]:
    """The parts of a sentence, weak ones only where there are `OTHERS` beside them.

    `stated` is what the sentence says in forms of its own; `others` are parts of it that were found
    before: devices, formats.

    >>> [(p.name, p.word) for p in parts("hidden 12288, TP8 PP4, L=3", [], logged=False)]
    [('hidden', '12288'), ('tp', '8'), ('pp', '4')]
    >>> parts("hidden 3 of us", [], logged=False), parts("see layers 12 and 13", [], logged=False)
    ([], [])
    """
    found = list(stated)
    taken = {part.at for part in stated if part.name}
    each = [part for part in _of_each_device(text) if part.at not in taken or not part.name]
    found += each
    taken |= {part.at for part in each if part.name}
    others_say = [*_labelled(text, logged=logged), *_counted(text), *_short(text)]
    found += [part for part in others_say if part.at not in taken or not part.name]
    found += [*_lettered(text), *_with_particles(text)]
    named = {part.name for part in found if part.name}
    if len(named) + others <= OTHERS:
        found = [part for part in found if not part.weak]
    return found


def _labelled(text: str, *, logged: bool) -> Iterator[Part]:
    """Labels in words right before their numbers; `""` for one whose meaning is left open."""
    for value in _VALUE.finditer(text):
        if _BOTH.match(text, value.end()):
            continue
        if not (_ENDS.match(text, value.end()) or _NEXT.match(text, value.end())):
            continue
        before = text[max(0, value.start() - 60) : value.start()]
        if OF_A_PRODUCT.search(before) or _OF_A_GROUP.search(before):
            continue
        sign = _SIGN.search(before)
        signed = sign is not None and not sign[0].isspace() and sign[0] != ""
        before = before[: sign.start()] if sign else before
        set_to = before.endswith((" to", " at")) and _SET_TO.search(text, 0, value.start())
        if set_to:
            before, signed = _VERB.sub("", before[: -len(" to")]), True
        before = _GLOSS.sub("", before) if before.endswith((")", "）")) else before
        start = max((m.end() for m in _BOUND.finditer(before)), default=0)
        tail = _LABEL.search(before, start)
        words = tail[0].split() if tail else []
        told = list(_by_label(words, value, text, signed=signed, logged=logged))
        yield from told
        if set_to and told:
            yield Part("", "", 0)  # a statement by its verb


def _by_label(
    words: list[str], value: re.Match[str], text: str, *, signed: bool, logged: bool
) -> Iterator[Part]:
    """The part that words before a value make with it, by the most of them that are a label."""
    for count in range(min(6, len(words)), 0, -1):
        label = " ".join(words[-count:])
        name = known(label) or configured_by(label) or SMALL.get(label.casefold())
        each = _EACH.match(text, value.end()) or _EACH_BEFORE.search(text, 0, value.start())
        if each and name in ("batch_size", "global_batch"):
            # a share of the whole one is of who knows how many micro-batches
            name = "micro_batch" if name == "batch_size" else None
        if name in OF_BATCHES and (
            _A_NODE.match(text, value.end()) or _OF_A_NODE.search(text, 0, value.start())
        ):
            continue  # of as many devices as a node has
        if (
            name in OF_BATCHES
            and words[-count - 1 : -count]
            and _OF_NO_STEP.fullmatch(words[-count - 1])
        ):
            return
        if name == "gpus" and _A_NODE.match(text, value.end()):
            name = "gpus_per_node"
        name = _counted_in(name, text, value.end()) if name else None
        if not name or (name in OF_MACHINES and text[: value.start()].endswith(" of ")):
            continue  # `16 nodes of 4`
        of_some = name in _OF_A_MODEL and _OF_SOME.search(" ".join(words[:-count]))
        if of_some or (name == "seq_len" and _TOO_SHORT.fullmatch(value[1])):
            return
        if (
            label.casefold() == "width"
            and words[:-count]
            and _NO_WIDTH.fullmatch(words[-count - 1])
        ):
            return
        if name == "seq_len" and _OF_SOME_LENGTH.match(" ".join(words[-count - 1 :])):
            return
        if name in OF_MACHINES and (
            _OF_HOSTS.match(text, value.end()) or _TAKEN_BY.search(text, 0, value.start())
        ):
            continue  # `Devices: 4 nodes x 8 H100`, `tokens per step by all GPUs are 2097152`
        if fields(Configuration)[name].dtype.is_integer():
            long = not label.isascii() and len(label) >= _WORDS_OF_HAN
            spelled_out = count > 1 or "_" in label or "-" in label or long
            spelled_out |= signed and label not in SMALL
            spelled_out |= label not in SMALL and _is_item(label, value, text)
            spelled_out |= label == "batch" and each is not None
            spelled_out |= name in OF_EACH and _ON_EACH.match(text, value.end()) is not None
            word = value[1].replace(",", "")
            yield Part(name, word, value.start(1), weak=not spelled_out)
            if (logged and signed and count > 1) or (
                name in OF_EACH and _ON_EACH.match(text, value.end())
            ):
                yield Part("", "", 0)  # a line of a log, or of each device: a statement by its form
        return


_TAKEN_BY = deferred(
    r"\b(?:tokens?|samples?|sequences?|images?|batch(?:es)?)\b[^.;:,]{0,60}"
    r"\b(?:by|per|across|over|on) (?:(?:all|each|every|the|one|an?|our|of) )*"
    r"(?:[GNTX]PU|GCD|device|card|chip|accelerator|node|machine|rank)s?\b[a-z ]{0,40}$",
    re.IGNORECASE,
)
"""In front of how much devices take, which is no number of them."""

_OF_A_MODEL = {"layers", "heads", "experts"}

_OF_SOME = deferred(
    r"\b(?:re-?comput|check-?point|ckpt|remat|(?:un)?frozen|freez|train(?:ed|able)|dense|sparse|MoE"
    r"|LoRA|adapter|offload|virtual|activ|shared|selected|local|warm-?up|fused|first|last|skipped"
    r"|extra|additional|conv|pooling|mamba|cross|window)\w*(?: (?:num(?:ber)?|of|the))*$",
    re.IGNORECASE,
)
"""Words in front of a label by which it counts some of the layers: `recomputed layers: 8`."""

_PARTICLES = deferred(
    r"(시퀀스 ?길이|컨텍스트 ?길이|글로벌 ?배치(?: ?(?:크기|사이즈))?"
    r"|마이크로 ?배치(?: ?(?:크기|사이즈))?|배치 ?(?:크기|사이즈)"
    r"|シーケンス長|系列長|コンテキスト長|グローバルバッチ(?:サイズ)?|マイクロバッチ(?:サイズ)?|バッチサイズ)(?:는|은|이|가|를|을|は|が|を"
    r"|も)?\s*[:：=＝]?\s*"
    r"([0-9]+(?:,[0-9]{3})*[kK]?)"
    r"(?![0-9A-Za-z%.]|\s*(?:[/~〜–-]|から|또는|または|および|와|과|と)\s*[0-9])"
)
"""A setting and its value in Korean or Japanese, with the particle between them."""

_IN_ENGLISH = {
    "시퀀스": "seq_len", "컨텍스트": "seq_len", "シーケ": "seq_len", "系列長": "seq_len",
    "コンテ": "seq_len", "글로벌": "global_batch", "グロー": "global_batch",
    "마이크": "micro_batch", "マイク": "micro_batch", "배치": "batch_size", "バッチ": "batch_size",
}  # fmt: skip


def _with_particles(text: str) -> Iterator[Part]:
    """Settings that a sentence says in Korean or in Japanese."""
    for found in _PARTICLES.finditer(text) if not text.isascii() else ():
        name = _IN_ENGLISH[found[1][:3].strip()]
        yield Part(name, found[2].replace(",", ""), found.start(2))


def _is_item(label: str, value: re.Match[str], text: str) -> bool:
    """Whether a label and its value are all that stands between two commas."""
    before = text[: value.start()].rstrip().removesuffix(label)
    packed = _PACKED.match(text, value.end())
    return stands_alone(text, len(before), packed.end() if packed else value.end())


_PACKED = deferred(r" (?:packed|padded|unpacked)\b")


def _counted_in(name: str, text: str, at: int) -> str | None:
    """The field that a value is of by the noun behind it; None for a count of something else."""
    noun = _COUNTED_IN.match(text, at)
    if noun is None or name in ("seq_len", "global_batch_tokens", "vocab"):
        return name
    return OF_TOKENS.get(name) if noun[1].startswith("token") else name


def _counted(text: str) -> Iterator[Part]:
    """Numbers before what they count: `48 layers`, `8-way tensor parallelism`, `4096 context`."""
    taken: set[int] = set()
    for found in _COUNTED.finditer(text):
        noun = found[2].split()[0].rstrip("s")
        taken.add(found.start(1))
        weak = found[2] == "hidden" and "-" not in found[0]
        yield Part(_PARTS[noun], found[1].replace(",", ""), found.start(1), weak=weak)
    for found in [*_WAYS.finditer(text), *_SHORT_WAYS.finditer(text)]:
        taken.add(found.start(1))
        if not among_several(text, *found.span(1)):
            yield Part(f"{found[2][0].lower()}p", found[1], found.start(1))
    for pattern, field in ((_OF_TOKENS_EACH, "seq_len"), (_ACCUMULATED, "accumulation")):
        for found in pattern.finditer(text):
            group = found.lastindex or 1
            taken.add(found.start(group))
            yield Part(field, found[group].replace(",", ""), found.start(group))
            if field == "accumulation" and (_ACCUMULATES.match(text) or "micro" in found[0]):
                yield Part("", "", 0)  # a statement by its subject
    for found in _BEFORE_NOUN.finditer(text):
        of_host = found[2].startswith("local ") and _HOSTS.search(text)
        if found.start(1) not in taken and not of_host and (name := _noun(found[2])):
            yield Part(name, found[1].replace(",", ""), found.start(1), weak=True)


_SAMPLES = (
    r"(?:images?|imgs?|image pairs|samples?|sequences?|seqs?|examples?|videos?|clips|crops|graphs"
    r"|utterances|prompts|documents|pairs)"
)

_A_DEVICE = (
    r"(?:GPU|GCD|NPU|HPU|IPU|TPU(?: core)?|chip|core|device|card|rank|worker|process|accelerator"
    r"|replica|tile|carte|карту)"
)

_PER_DEVICE = deferred(
    rf"(?<![\w.,$/–-])(?<! to )(?<! or )([0-9][0-9,]*) {_SAMPLES} ?"
    rf"(?:/ ?|(?:per|on each|for each|in each|on every|par) ){_A_DEVICE}\b"
    r"(?! ?(?:/|per |and |each )(?:s|sec\w*|min\w*|hour|day|epoch)\b)",
    re.IGNORECASE,
)
"""A batch of one replica by what it holds: `2 images per GPU`."""

SHARE_OF = deferred(
    r"\b(?:global|total|effective)[ -]?batch(?:[ -]size)?(?: (?:is|was|of|has|with|at|grows"
    r"|scales))*[ :=(]*$",
    re.IGNORECASE,
)
"""In front of what each device has of a batch of all: `global batch 2 sequences per GPU`."""

_TOKENS_EACH = deferred(
    r"(?<![\w.,$/–-])([0-9]{1,4}) (?:sequences|samples) ?[x×*] ?[0-9][0-9,]*[kK]? tokens "
    rf"(?:per|on each) {_A_DEVICE}\b",
    re.IGNORECASE,
)

_TAKES = deferred(
    rf"\b(?:each|every|one) {_A_DEVICE} (?:[a-z]+ ){{1,3}}?"
    r"(?:a (?:local |micro-?)?batch (?:size )?of )?"
    rf"([0-9][0-9,]*) {_SAMPLES}\b(?! ?(?:/|per |a )(?:s|sec\w*|min\w*|hour|day|epoch|class)\b)",
    re.IGNORECASE,
)
"""The same of what each does: `each GPU processes 4 sequences`."""

_BATCH_OF_EACH = deferred(
    r"\bbatch(?:[ -]size)?(?: of|(?: is| was)?(?: (?:set|fixed|kept|held))?(?: (?:to|at))?|:| =)? ?"
    r"[*_`]*([0-9][0-9,]*)[*_`]*"
    rf"(?: {_SAMPLES})?(?: ?/ ?| (?:per|on each|for each|on every) ){_A_DEVICE}\b"
    rf"|\b(?:bs|batch)[ =:]{{1,2}}([0-9]{{1,5}}) ?(?:/|per ){_A_DEVICE}\b",
    re.IGNORECASE,
)

_IN_ALL = deferred(
    r"[,;]? ?\(?(?:(?:for )?(?:a|in) total (?:batch(?: size)? )?(?:of )?|i\.e\. )?([0-9][0-9,]*)"
    r"(?: in (?:total|all)| total| overall| globally| across all (?:GPUs|devices|ranks))\b"
)
"""Behind the batch of each: that of all, `(256 in total)`."""

_HELD_BY = deferred(
    rf"(?<![\w.,$/–-])([0-9][0-9,]*) {_SAMPLES} (?:in|per|to) (?:a|an|the|each|every) "
    r"(global|effective|total|micro)[ -]?batch\b",
    re.IGNORECASE,
)
"""A batch by what is in it: `2,048 sequences in the global batch`."""

_WHOLE = {"global", "effective", "total"}

_TOKENS_A_STEP = deferred(
    r"(?<![\w.,$/–-])(?<![0-9] [x×*] )(?<![0-9][x×*] )(?<![0-9][x×*])(?<!sequences of )"
    r"(?<!samples of )"
    r"([0-9][0-9,]*(?:\.[0-9]+)?[kKM]?) tokens (?:per|/|a) "
    r"(?:(?:optimi[sz]er|training|global) )?(?:step|batch|update)\b"
    rf"(?! (?:and|per|on each) (?:{_A_DEVICE}|s|second)\b)"
)


def _of_each_device(text: str) -> Iterator[Part]:
    """Batches of one replica, by what stands behind their number, and of all in tokens."""
    for found in [*_PER_DEVICE.finditer(text), *_TOKENS_EACH.finditer(text)]:
        yield Part("micro_batch", found[1].replace(",", ""), found.start(1))
    for found in _TAKES.finditer(text):
        yield Part("micro_batch", found[1].replace(",", ""), found.start(1))
        yield Part("", "", 0)  # a statement by its form
    for found in _BATCH_OF_EACH.finditer(text):
        group = found.lastindex or 1
        yield Part("micro_batch", found[group].replace(",", ""), found.start(group))
        if whole := _IN_ALL.match(text, found.end()):
            yield Part("global_batch", whole[1].replace(",", ""), whole.start(1))
    for found in _HELD_BY.finditer(text):
        kind = "global_batch" if found[2].casefold() in _WHOLE else "micro_batch"
        yield Part(kind, found[1].replace(",", ""), found.start(1))
    for found in _TOKENS_A_STEP.finditer(text):
        yield Part("global_batch_tokens", found[1].replace(",", ""), found.start(1), weak=True)


_HOSTS = deferred(r"\bhosts?\b")
"""A batch that JAX calls local is of a host and not of a device: `1024 on 1 hosts results in 1024
local batch size`, of 8 devices."""


def _noun(words: str) -> str | None:
    """The field that words behind a number name: the most of them that are a label."""
    each = words.split()
    for count in range(len(each), 1, -1):
        if each[count - 1] in ("per", "of", "for", "on", "in"):
            continue  # of what comes behind it
        if name := known(" ".join(each[:count])):
            return name if fields(Configuration)[name].dtype.is_integer() else None
    return _NOUNS.get(" ".join(each[:2])) or _NOUNS.get(each[0])


def _lettered(text: str) -> Iterator[Part]:
    """Width and depth by the letters of formulas: `L=96, h=12288`, `48L, 6144H`."""
    if by_letters(text):
        for pair in PAIR.finditer(text):
            name = of_letter(pair[1], pair[2])
            if name != pair[1] and pair[2].isdecimal():
                yield Part(name, pair[2], pair.start(2))
    pairs = PAIR.finditer(text) if "=" in text else ()
    capitals = {pair[1]: pair for pair in pairs if pair[1] in "LHASBT"}
    yield from _degrees_by_letters(text)
    for letters, least, names in _CAPITALS:
        second = capitals[letters[1]][2].strip("kK.") if set(letters) <= capitals.keys() else ""
        if second.isdecimal() and int(second) >= least:
            for letter, name in names.items():
                if letter in capitals:
                    yield Part(name, capitals[letter][2], capitals[letter].start(2))
    behind = {found[2]: found for found in _BEHIND.finditer(text)}
    if behind.keys() >= {"L", "H"}:
        wide = int(behind["H"][1]) >= NARROWEST
        kinds = {"L": "layers", "H": "hidden" if wide else "heads"} | (
            {"A": "heads"} if wide else {}
        )
        for letter in behind.keys() & kinds.keys():
            yield Part(kinds[letter], behind[letter][1], behind[letter].start(1))


_BY_LETTER = deferred(
    r"(?<![\w$.*·×-])(?<![*·×] )([tpdvbB]) ?= ?([0-9]{1,5})(?![\w.,]*[0-9]|[%e])(?! ?[*·×/])"
)

_OF_LETTERS = {"t": "tp", "p": "pp", "d": "dp", "v": "vp", "b": "micro_batch", "B": "global_batch"}
"""Letters of degrees and batches, as the papers on Megatron-LM have them."""


def _degrees_by_letters(text: str) -> Iterator[Part]:
    """Degrees by the letters of formulas, where those of tensors and of stages stand together:
    `p=16, t=8, d=6`."""
    found: dict[str, set[str]] = {}
    every = list(_BY_LETTER.finditer(text)) if "=" in text else []
    for each in every:
        found.setdefault(each[1], set()).add(each[2])
    if {"t", "p"} <= found.keys() and all(len(values) == 1 for values in found.values()):
        for each in every:
            yield Part(_OF_LETTERS[each[1]], each[2], each.start(2))


_CAPITALS = (
    ("LH", 128, {"L": "layers", "H": "hidden", "A": "heads", "S": "seq_len"}),
    ("BT", 64, {"B": "batch_size", "T": "seq_len"}),
)  # fmt: skip
"""Capitals of formulas that stand together, how much the second of them is at least, and what each
is: `L=24, H=1024, A=16`, and `B=32, T=1024` of programs of the kind of nanoGPT."""


_ASSIGNED = deferred(r"(?<![\w$.*·×-])([A-Za-z]{1,6}) ?= ?([0-9]{1,6})(?![\w.]*[0-9]|[%])")

_BESIDE_DEGREES = {"mb": "micro_batch", "gb": "global_batch", "s": "seq_len"}
"""Short names that mean something beside those of degrees: `tp=4 pp=8 mb=1 gb=2048`."""


_ALL_ALIKE = deferred(r"(?<![\w=])((?:[TPDCE]P ?= ?){2,4})([0-9]{1,4})(?!\w|[.,][0-9])")
"""Degrees that are as large as each other: `TP=PP=1`."""


def _all_alike(text: str) -> Iterator[Part]:
    for alike in _ALL_ALIKE.finditer(text):
        for short in re.findall("[TPDCE]P", alike[1]):
            yield Part(short.casefold(), alike[2], alike.start(2))


_OPENS_WITH_DEGREE = deferred(
    r"^\W*(?:all|these|everything|every run|runs?|both)\b[^.;?]{0,60}?(?:\band|,|\bat|\bwith) "
    r"[TPDCE]P ?=? ?[0-9]{1,4}(?: ?[,.;:)]|$)",
    re.IGNORECASE,
)
"""A sentence on the runs of a table with one degree in a list: `All at 8K context and CP 16:`."""

_DEGREES_OF = {"tp", "pp", "dp", "cp", "ep"}
"""Fields whose short name with a number, `TP2`, says the same beside nothing of its kind."""


def _short(text: str) -> Iterator[Part]:
    """Degrees and batches by their short names: `TP8 PP4`, `TP/PP/DP = 8/4/2`."""
    yield from _all_alike(text)
    found = [
        Part(NAMES.get(s[1].casefold(), "dp"), COUNTS.get(s[2], s[2]), s.start(2))
        for s in _SPACED.finditer(text)
        if not among_several(text, *s.span(2))
    ]
    for word in _WORDS.finditer(text):
        found += [Part(name, value, word.start()) for name, value in layout(word[0]).items()]
    alone = len({part.name for part in found}) < _TWO and not _OPENS_WITH_DEGREE.search(text)
    kept = _DEGREES_OF if alone else {part.name for part in found}
    yield from (part._replace(weak=alone) for part in found if part.name in kept)
    pairs = {pair[1]: pair for pair in _ASSIGNED.finditer(text)} if text.count("=") > 1 else {}
    named = {key: NAMES.get(key.casefold()) for key in pairs}
    if len({*filter(None, named.values())}) >= _TWO:
        for key, pair in pairs.items():
            name = named[key] or _BESIDE_DEGREES.get(key)
            if name and pair[2].isdecimal():
                yield Part(name, pair[2], pair.start(2))
    if "parallel" in text.casefold() or "layout" in text.casefold():
        spelled = {way[1].casefold(): way for way in _SPELLED.finditer(text)}
        if len(spelled) >= _TWO:
            for kind, way in spelled.items():
                yield Part(f"{kind[0]}p", way[2], way.start(2))
    yield from in_turn(text)


def in_turn(text: str) -> Iterator[Part]:
    """Degrees, batches and lengths that labels name one behind the other, with their numbers in the
    same order: `TP/PP/DP = 8/4/2`, `8x4x16 (TPxPPxDP)`, `micro/global batch size: 2/1024`."""
    for several in _NUMBERS_IN_TURN.finditer(text):
        values = re.findall(_A_NUMBER, several[0])
        before = _LABELS_BEFORE.search(text, max(0, several.start() - 90), several.start())
        behind = None if before else _LABELS_BEHIND.match(text, several.end())
        told = before or behind
        if told is None:
            continue
        spoken = several["sign"] is None and several["open"] is None
        if spoken and before and before["sign"] in ("of", "at"):
            continue  # `TP and PP of 4 and 8` may be of two runs
        names = _named_in_turn(told["labels"], of_batches=bool(told.groupdict().get("noun")))
        if len(names) != len(values):
            continue
        at = several.start()
        for name, value in zip(names, values, strict=True):
            at = text.index(value, at)
            yield Part(name, value.replace(",", ""), at)
            at += len(value)
        yield Part("", "", 0)  # a statement by its form


def _named_in_turn(labels: str, *, of_batches: bool = False) -> tuple[str, ...]:
    """Fields of labels that stand one behind the other, the noun of the last being that of all;
    words in front of the first are left out.

    >>> _named_in_turn("The tensor, pipeline and data parallel sizes"), _named_in_turn("MBS / GBS")
    (('tp', 'pp', 'dp'), ('micro_batch', 'global_batch'))
    >>> _named_in_turn("micro/global batch size"), _named_in_turn("tokens / s")
    (('micro_batch', 'global_batch'), ())
    """
    parts = re.split(_BETWEEN, labels)
    if of_batches or _OF_A_BATCH.search(parts[-1]):
        parts = [f"{part} batch size" if _WHOSE.fullmatch(part) else part for part in parts]
    else:
        parts = [_OF_PARALLELISM.sub("", part) for part in parts]
    first = parts[0].split()
    for begin in range(len(first)):
        each = [" ".join(first[begin:]), *parts[1:]]
        names = degrees("/".join(each)) or tuple(
            NAMES.get(part.casefold()) or known(part) or configured_by(part) or "" for part in each
        )
        if {*names} <= _FIELDS_IN_TURN:
            return names if len({*names}) == len(names) else ()
    return ()


_OF_EVERY_RUN = deferred(
    r"\b(?:all|every|each|both)(?: of)?(?: the| our| these| this| my)?(?: [\w/-]+){0,2}? "
    r"(?:(?:runs?|computations?|experiments?|measurements?|results?|numbers?|benchmarks?|tests?"
    r"|jobs?|trainings?|(?:test |use )?cases"
    r"|timings?|figures|configurations?|entries|rows?|workloads|throughputs?|speeds"
    r"|(?:performance|throughput|benchmark) data)\b"
    r"|(?:models?|networks?|LLMs?)\b[^.;]{0,40}?"
    r"\b(?:train\w*|(?:pre|fine)-?t\w+|ran|run|use[sd]?|using|measured|benchmarked|timed|in)\b"
    r"|(?:scripts?|commands?|recipes?) (?:takes?|uses?|sets?|runs?|trains?|assumes?)\b)"
    r"|(?:^\W*|, )our (?:own )?(?:models|networks|runs|experiments|trainings|jobs) "
    r"(?:(?:all|always) )?(?:use|employ|(?:are|were) (?:trained|run)|ran?|run)\b"
    r"|\beverything (?:here|below|above|on this page|in this \w+|is|was|ran|runs|uses)\b"
    r"|(?:\beverything|(?:^|[.;,] )all) (?:(?:in|with|on|at|uses) )?(?=[`\"]?(?:--[a-z]"
    r"|(?:bf|fp|tf|float)(?:8|16|32)\b|bfloat|mixed|full[ -]prec|sequences? (?:of|len)|seq|micro"
    r"|global|[0-9]+ ?[x×]|FSDP|DDP|ZeRO|TP|PP))"
    r"|(?<!` )\b(?:everywhere|throughout)\b"
    r"|(?:所有|全部)的?(?:训练|性能|吞吐|实验|测试|测量)?(?:实验|训练|测试|数据|结果|性能|吞吐|运行|任务"
    r"|用例|案例|\s?cases?\b)(?:[^，。；,;]{0,4}?(?:均|都)|\s?(?:[，,]|的|中[，,]?)\s?(?:(?:[`*]*[A-Za-z]"
    r"[\w ]{1,24}[`*]*|(?:序列|上下文)长度|精度|[微全]?局?批[\w]{0,4})\s?[均都统]))"
    r"|\b(?:step|batch|GPU|device|accelerator|card|rank)s? always (?:sees?|takes?|has"
    r"|have|holds?|gets?)\b",
    re.IGNORECASE,
)

_OF_NO_RUN = deferred(
    r"\b(?:evaluat|serv|deploy|quanti[sz]|stor|sav|export|convert|releas|distribut|publish|load)"
    r"(?:e[ds]?|ing)\b(?! (?:optimi[sz]er|training|data|checkpoint))",
    re.IGNORECASE,
)


def of_every_run(text: str) -> bool:
    """Whether a sentence is about every run, of which it then says one setting as well as two.

    >>> of_every_run("All models were trained in bf16."), of_every_run("All GPUs have 80 GB.")
    (True, False)
    >>> of_every_run("本页所有性能数据均为 BF16。"), of_every_run("以下实验使用 BF16。")
    (True, False)
    >>> of_every_run("All models are stored in bf16."), of_every_run("Every run used A100 nodes.")
    (False, True)
    """
    return _OF_EVERY_RUN.search(text) is not None and not _OF_NO_RUN.search(text)


def of_whole_document(text: str) -> bool:
    """Whether a sentence is about every run of its document, or all that come after, in whatever
    section they stand.

    >>> of_whole_document("Every run in this note is in bf16."), of_whole_document("All runs do.")
    (True, False)
    >>> of_whole_document("For this and other subsequent runs, the batch size is 4.")
    True
    >>> of_whole_document("All cell outputs and tables of this tutorial come from one H100.")
    True
    """
    return _OF_WHOLE_DOCUMENT.search(text) is not None and not _OF_NO_RUN.search(text)


_RUNS = (
    r"(?:runs?|experiments?|measurements?|results?|numbers|benchmarks?|tests?|jobs?|trainings?"
    r"|timings?|figures|tables?|(?:cell )?outputs?|configurations?|commands?)"
)

_OF_DOCUMENT = (
    r"(?:(?:this|the (?:whole|entire)) (?:[\w-]+ )?(?:notes?|pages?|documents?|docs?|posts?"
    r"|reports?|articles?|read-?me|files?|tutorials?|notebooks?|write-?ups?|guides?|blog))"
)

_OF_WHOLE_DOCUMENT = deferred(
    rf"(?:\b(?:all|every|each)(?: of)?(?: the| our| my)?|^\W*the) (?:[\w-]+ )?{_RUNS}"
    rf"(?:,? (?:and )?(?:[\w-]+ )?{_RUNS}){{0,2}}"
    rf"(?: (?:reported|listed|shown|given|presented))? (?:in|on|of) {_OF_DOCUMENT}\b"
    rf"|\beverything (?:in|on) {_OF_DOCUMENT}\b|\bthroughout {_OF_DOCUMENT}\b"
    r"|\b(?:for|in|of|from) (?:this|these|the (?:first|above)) and (?:in )?(?:all )?(?:the )?"
    rf"(?:other )?(?:subsequent|later|following|further|remaining|other) (?:{_RUNS}|sections?)\b"
    r"|\bin (?:all )?(?:the )?(?:subsequent|later|remaining) sections\b"
    r"|\b(?:for|in) (?:everything|all) (?:that|which) follows\b|\bin all (?:of )?what follows\b"
    r"|\b(?:for|in) everything (?:below|from here on)\b",
    re.IGNORECASE,
)
"""A sentence on every run of a document: `every run in this note`, `this and all later runs`."""


def computed_again(text: str) -> bool:
    """Whether a sentence says how much is computed again or accumulated, and nothing else.

    >>> computed_again("Gradient checkpointing is on."), computed_again("Full recomputation costs.")
    (True, False)
    """
    if not _OF_RECOMPUTATION.search(text) and "ccumul" not in text:
        return False
    text = _UNLESS.sub("", _FOR_THAT.sub("", _ASIDE.sub("", text)))
    items = _SWITCHES_APART.split(text.strip(" .,;:*-。"))
    return all(_is_switch(_BY_US.sub("", item, count=1).strip(" *_`")) for item in items)


_SWITCHES_APART = deferred(r"(?:\s*[,;+&/] (?:with |and |but )?|,? (?:and|but) (?:with )?)")


def _is_switch(item: str) -> bool:
    """Whether an item of a list is a switch of what this module knows, and nothing else."""
    alone = (_RECOMPUTED, _NOT_ACCUMULATED, _EVERY_LAYER, _NOT_PARALLEL, _UNSHARDED, _OTHER_SWITCH)
    if any(words.fullmatch(item) for words in alone):
        return True
    said = _CHECKPOINTED.fullmatch(item) if _OF_RECOMPUTATION.search(item) else None
    return said is not None and any(said.groups())


_OTHER_SWITCH = deferred(
    r"(?:(?:sequence|data) parallel(?:ism)?|distributed optimi[sz]er"
    r"|flash[ -]?attention(?:[ -]?[0-9])?"
    r"|torch\.compile|(?:cuda|CUDA) graphs?|(?:communication|comm)[ -]overlap|fused kernels?)"
    r"(?: (?:is|was|are|were|turned|switched))*(?: (?:on|off|used|enabled|disabled))?"
    r"|(?:no|without) (?:sequence parallel(?:ism)?|distributed optimi[sz]er|flash[ -]?attention"
    r"|torch\.compile|(?:CPU )?offload(?:ing)?|compilation|dropout|interleaving)",
    re.IGNORECASE,
)
"""Switches beside those on what is computed again, in one list with them."""


_UNLESS = deferred(
    r"^\W*(?:here|throughout|below|in (?:all|every|each) (?:runs?|experiments?|cases?)|by default"
    r"|unless (?:(?:otherwise )?(?:stated|noted|specified|mentioned|said|indicated)(?: otherwise)?"
    r"|(?:we|I) (?:say|state|note) otherwise)),? ",
    re.IGNORECASE,
)
"""How a sentence begins that is of every run."""

_FOR_THAT = deferred(r"^[^.;]{3,80}?\b(?:because|since|as)(?: of)?\s", re.IGNORECASE)
"""How a sentence begins that has a switch as its reason: `The factor is 4 because …`."""

_BY_US = deferred(
    r"\W*(?:(?:here|throughout|below|in (?:all|every|each) (?:runs?|experiments?|cases?)),? ?)?"
    r"(?:we|I|(?:(?:all|every|each|the|our|these)(?: of)?(?: the| our| these)? )?(?:runs?|models?"
    r"|experiments?|jobs?|results|numbers|measurements|training|trainings))"
    r"(?: (?:always|all|consistently))?"
    r"(?: (?:use[sd]?|appl(?:y|ied|ies)|employ(?:ed|s)?|enabled?|adopt(?:ed|s)?|ha[dsv]e?|with"
    r"|(?:are|were|is|was)? ?(?:train(?:ed|s)?|ran|run|done|measured|obtained|taken) (?:with"
    r"|using))"
    r"|(?: (?:are|were|is|was))? (?:train(?:ed|s)?|ran|run|done|measured)(?= without\b)"
    r"|(?= (?:recompute|check-?point|re-?materiali[sz]e)s?\b)"
    r"|(?= (?:never|(?:do|did) not|(?:do|did)n['’]t) (?:recompute|check-?point"
    r"|re-?materiali[sz]e|accumulate|use[sd]?|apply|enabled?)\b)"
    r"|(?= do not use| did not use)) (?:(?:do|did) (?=not use))?",
    re.IGNORECASE,
)
"""How a sentence begins that says how all was run: `we use`, `all runs were trained with`."""

_ASIDE = deferred(
    r"(?: (?:in|during) (?:the )?backward(?: pass)?\b)?"
    r"(?: \((?![^()]*\b(?:for|except|on|if|when|unless|models?|runs?"
    r"|rows?)\b)[a-z][a-z ,+-]{2,40}\))?"
    r"\W{0,4}(?:(?:is|was) (?:used|applied|needed|necessary|required|enabled|in use)\b)?\W{0,4}"
    r"(?:(?:except|unless) "
    r"(?:where|when|as|if|otherwise|for (?:the |those )?(?:ones|rows|runs)?)? ?"
    r"(?:it is )?(?:marked|noted|indicated|stated|said)(?: (?:with|by) \S{1,3}"
    r"| otherwise)?)?\W{0,4}"
    r"(?:(?:for|in|on) (?:all|every|each|both|any)(?: of)?(?: the| these)?"
    r"(?: (?:runs?|models?|cases?|rows?|experiments?|results?))?(?: above| below)?"
    r"(?: (?:of|in|on) (?:this|the) (?:document|page|section|file|report|read-?me|note|table))?"
    r"|everywhere|throughout|here|in the (?:above|below|runs|rows|table)(?: above"
    r"| below)?)?\W{0,4}$",
    re.IGNORECASE,
)
"""How a sentence ends that is of all runs."""


_OF_SOME_MODELS = deferred(
    r"[*_`]*,? (?:\([^()]{1,40}\) )?(?:only )?(?:for|on|in|with|at|from|above|below"
    r"|beyond) (?:the )?"
    r"(?:[A-Z][\w.]*[ -])?[0-9]+(?:\.[0-9]+)? ?[BMTk]\b|[^.;]{0,60}?,? (?:and|but|or) (?:on|off"
    r"|full"
    r"|selective|none|enabled|disabled) (?:\([^()]{1,40}\) ?)?(?:for|on|in|with|at|from|above|below"
    r"|beyond)\b",
    re.IGNORECASE,
)
"""Behind a switch: it is so for some of several models, `off for 1B and 3B and on for 7B`."""


def _checkpointed(text: str) -> Part | None:
    """Recomputation that a sentence switches on or off, alone or in a list of what runs had."""
    for found in _CHECKPOINTED.finditer(text) if _OF_RECOMPUTATION.search(text) else ():
        if _OF_SOME_MODELS.match(text, found.end()) or _SAYS_WHETHER.search(text, 0, found.start()):
            continue
        if (found["off"] or found["no"]) and not _KIND.search(text, 0, found.start()):
            return Part("recompute", "none", found.start())
        if found["all"]:
            return Part("recompute", "full", found.start())
        listed = _LISTED.match(text, found.end()) and (
            found["on"] or not found.start() or _LISTS_IT.search(text, 0, found.start())
        )
        if listed and not _OF_NO_RUNS.search(_beside(text, found)):
            return Part("activation_checkpointing", "True", found.start())
    every = _EVERY_LAYER.search(text) if _OF_RECOMPUTATION.search(text) else None
    if every and not _OF_NO_RUNS.search(text):
        return Part("recompute", "full", every.start())
    return None


_SAYS_WHETHER = deferred(
    r"\b(?:whether|if|(?:says?|tells?|shows?) (?:how|when))\b[^.;]{0,60}$", re.IGNORECASE
)
"""In front of a switch that rows tell: `ckpt says whether activation checkpointing was on`."""


def _beside(text: str, found: re.Match[str]) -> str:
    """The words of a sentence beside a switch, without remarks in brackets that it is not in, and
    without items that say what there was not: `no accumulation, gradient checkpointing`."""
    if _NO_MORE.match(text, found.end()):
        head = _IS_NOT_THERE.sub(_blank, text[: found.start()])
        text = head + text[found.start() :]
    whole = _IN_BRACKETS.finditer(text) if "(" in text else ()
    apart = [m for m in whole if not m.start() < found.start() < m.end()]
    for each in apart:
        text = text[: each.start()] + " " * len(each[0]) + text[each.end() :]
    return text


_IN_BRACKETS = deferred(r"\([^()]{1,80}\)")

_NO_MORE = deferred(r"[*_`]*(?: on| enabled)?\s*(?:[.;)]|$|, (?:[\w-]+ ){0,3}[\w-]+\s*(?:[.)]|$))")

_IS_NOT_THERE = deferred(
    r"(?:^\W*|(?<=[,;(] ))(?:no|without|w/o)(?: (?!and\b|or\b)[\w-]+){1,3}(?=[,;] )", re.IGNORECASE
)
"""An item of a list by what there was not."""


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


_AS_AN_ARGUMENT = deferred(
    r"(?<![A-Za-z0-9_./-])(?:(?P<what>gradient|activation)_checkpointing|checkpoint_activations)"
    r"(?![A-Za-z0-9_-])"
    r"(?!`? ?(?:[=:]|to \b|argument|option|flag|parameter|参数|选项|设"
    r"|[(（](?:[A-Za-z0-9_]*[,=).:_]"
    r"|[^()（）]*(?:\b(?:off|disabled|default|optional|see|if|when|not|no|saves?|reduces?|trades?|to"
    r"|for)\b"
    r"|关|不|未|默认|可选|见|用于|节省|降低))))"
)
"""Recomputation by the name of an argument: `bf16 and checkpoint_activations`."""


def _in_words(found: re.Match[str]) -> str:
    """The words for such a name, as long as it is.

    >>> _AS_AN_ARGUMENT.sub(_in_words, "with `gradient_checkpointing` on")
    'with `gradient checkpointing` on'
    """
    return f"{found['what']} checkpointing" if found["what"] else "activation checkpoints"


def switched(text: str) -> Iterator[Part]:
    """Switches that a sentence sets: recomputation, sequence parallelism, sharded states."""
    text = _AS_AN_ARGUMENT.sub(_in_words, text) if "checkpoint" in text and "_" in text else text
    text = _WHETHER.sub(_blank, text) if _OF_RECOMPUTATION.search(text) else text
    for some in _SAC.finditer(text) if "SAC" in text and not _AGENTS.search(text) else ():
        if some["op"] or _OF_TRAINERS.search(text):
            yield Part("recompute", "selective", some.start())
    again = list[Part]()
    for found in _RECOMPUTED.finditer(text):
        group = found.lastindex or 1
        word = found[group].casefold()
        none = word in ("no", "without", "not", "neither", "never", "off")
        said = "none" if none else word.removesuffix("ly")
        said = "full" if said == "ful" else said
        again.append(Part("recompute", said, found.start(group)))
    if not again and (kept := _checkpointed(text)):
        again.append(kept)
    yield from again
    if any(part.word == "none" for part in again):  # it may be on in other runs
        blanked = _RECOMPUTED.sub(_blank, text)
        too = (found.start() for found in _CHECKPOINTED.finditer(blanked) if found["on"])
        yield from (Part("activation_checkpointing", "True", at) for at in too)
    yield from _of_one_rank(text)
    if (rest := _REST_IS_DATA.search(text)) and not _PIPELINED.search(text):
        yield Part("pp", "1", rest.start())
    if whole := _UNSHARDED.search(text):
        yield Part("zero_stage", "0", whole.start())
    yield from () if text.isascii() else _again_in_chinese(_BUT_FOR.sub(_blank, text))
    if once := _NOT_ACCUMULATED.search(text):
        yield Part("accumulation", "1", once.start())
    if fused := _attention(text):
        yield fused
    for pattern, (name, word) in _SWITCHES.items():
        on = pattern.search(text)
        if on and not (_OFF.search(_clause(text, on)) or _CONDITION.match(text, on.end())):
            yield Part(name, word, on.start())


def both_ways(text: str) -> bool:
    """Whether a sentence says of recomputation that it is on, and that it is off: of other runs.

    >>> both_ways("No activation checkpointing to 8k, activation checkpointing is on above.")
    True
    >>> both_ways("Activation checkpointing is off."), both_ways("短的关闭重计算，长的开启重计算")
    (False, True)
    """
    if not _OF_RECOMPUTATION.search(text) and "重计算" not in text:
        return False
    again = {part.name: part.word for part in switched(in_english(text).text)}
    return again.get("recompute") == "none" and "activation_checkpointing" in again


def _again_in_chinese(text: str) -> Iterator[Part]:
    """Parts of a sentence in Chinese on recomputation: what it says first, and the contrary too."""
    turned = set[bool]()
    for again in _AGAIN_IN_CHINESE.finditer(text):
        off = bool(again["off"] or again["not"])
        if not turned:
            yield Part("", "", 0)  # a statement by its form
        if off not in turned:
            how = again["how"] or again["kind"] or again["bare"] or again["way"]
            how = _AMOUNT_IN_CHINESE.get(("无" if off else how or " ")[0])
            name = "recompute" if how else "activation_checkpointing"
            yield Part(name, how or "True", again.start())
        turned.add(off)


_WHETHER = deferred(
    r"\b(?:with (?:and|or|vs\.?|versus) without|without (?:and|or|vs\.?|versus) with"
    r"|with ?/ ?without|with ?/ ?w/?o|w/? ?(?:and|or|/) ?w/?o|whether(?: or not)?)"
    r" (?:any )?(?:(?:full|selective) )?(?:(?:activation|gradient) )?"
    r"(?:check-?pointing|recomputation|remat\w*)\b"
    r"|\b(?:(?:activation|gradient) )?(?:check-?pointing|recomputation)\b[)）]?[*_`]{0,3} ?"
    r"(?:(?:사용 ?)?(?:여부|유무)|の?有無|有无|与否|(?:on|off) ?(?:and|or|/|vs\.?) ?(?:on|off)\b)",
    re.IGNORECASE,
)
"""Words of what rows differ in: `with and without gradient checkpointing`, `checkpointing 여부`."""


_WITH_AND = deferred(r"\b(?:with|w/?) ?(?:and|or|vs\.?|versus|/|,) ?$", re.IGNORECASE)
"""In front of `without`: some runs are with it."""


def _of_one_rank(text: str) -> Iterator[Part]:
    """Parallelism of one rank, of one chunk or of none, by the words that say so."""
    for found in _NOT_PARALLEL.finditer(text) if "arallel" in text or _DEGREES.search(text) else ():
        if _WITH_AND.search(text[: found.start()]):
            continue  # what rows differ in
        named = r"tensor|pipeline|model|context|expert|data|[TPCED]P"
        words = re.findall(named, found[0], re.IGNORECASE)
        model = any(word.casefold() == "model" for word in words)
        kinds = "t" if model else "".join(word[0].casefold() for word in words)
        for kind in kinds:
            yield Part(f"{kind}p", "1", found.start())
    if not text.isascii() and (unused := _NOT_IN_CHINESE.search(text)):
        for word in re.findall(r"张量|流水|上下|专家|tensor|pipeline|context|expert", unused[1]):
            name = _KIND_IN_CHINESE.get(word, f"{word[0]}p")
            yield Part(name, "1", unused.start(1))
    if unshared := _NOT_SEQUENCE_PARALLEL.search(text):
        yield Part("sequence_parallel", "False", unshared.start())
    if once := _NOT_INTERLEAVED.search(text):
        yield Part("vp", "1", once.start())


_CONDITION = deferred(
    r"[*_`]*(?: (?:is|was|are|were|used|on|enabled|active|turned|only))* ?\(?"
    r"(?:(?:whenever|when|wherever|where|if|unless|only|as soon as|except|apart|on (?:all"
    r"|every) but)\b|(?:for|in|on) (?:(?:the|runs?|rows?|cases?) )*(?-i:[A-Z]{1,3}-?[0-9]{1,3})\b)",
    re.IGNORECASE,
)
"""Behind a switch: it is on in some runs."""


def _clause(text: str, found: re.Match[str]) -> str:
    """The words between the commas around a part of a text, and at most a few words behind it."""
    begin = max((text.rfind(sign, 0, found.start()) for sign in ",;(，；（"), default=-1) + 1
    ends = (at for sign in ",;)，；）" if (at := text.find(sign, found.end())) >= 0)
    return text[begin : min(*ends, found.end() + len(" is off"), len(text))]
