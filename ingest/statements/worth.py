"""Which lines are worth a look: quick signs of what may state something of a run."""

from __future__ import annotations

from assay.ingest.columns.turns import TURNS, may_turn
from assay.ingest.prose.claims import CLAIMED
from assay.ingest.schema.terminals import deferred
from assay.ingest.statements.nested import ENDS as OBJECT
from assay.ingest.statements.trained_with import FORMS as WITH
from assay.ingest.statements.trained_with import names_program
from assay.ingest.vocabulary.devices import HINT
from assay.ingest.vocabulary.networks import FORMS as NETWORKS
from assay.ingest.vocabulary.networks import names_network

_PARTS = (
    r"(?i:(?:seq(?:uence)?\.?|context) (?:len(?:gth)?\.?|width)|batch(?:[ -]size)?"
    r"|vocab(?:ulary)? size"
    r"|parallel(?:ism)? (?:size|degree)|hidden (?:size|dim)|accumulation steps"
    r"|number of (?:layers|heads))(?:[*_` :=(]+"
    r"|(?: (?:of|is|was|at|to|kept|fixed|held|always|constant))+ )[0-9]",
    rf"[0-9] ?[x×]? ?`?{HINT}|(?i:\b(?:one|single|two|four|eight|sixteen) ){HINT}",
    r"[0-9] (?:devices|instances|servers|hosts|IPUs|HPUs|cards)\b",
    r"[Nn]odes? ?(?:of|with|[x×*]) ?[0-9]+ (?:GPU|devi|accel)",
    r"total parameters|device mesh with|capacity: ",
    r"(?:ctivation|radient) (?:checkpointing|recomput)|[Rr]emat(?:erial|\b)",
    r"(?i:\b(?:no|full|selective|without) recomput|recomput\w* (?:is|was|were|activations|every"
    r"|all)\b"
    r"|ctivations (?:are|were) (?:\w+ )?(?:recomp|check))",
    r"(?i:[a-z][ _]parallel(?:ism)?[*_:]* (?:(?:is|was|are) )?(?:not|off|dis|un|on|en|yes)"
    r"|\b[STPC]P[*_:]* (?:on|off|none)\b|(?:no|without|neither"
    r"|(?:not|n.t) (?:use|need)) (?:any )?(?:tensor|pipeline|model|context|expert"
    r"|sharding|[TPC]P\b))",
    r"(?i:(?:half|single|double)[ -]precision|\btf32\b)|不使用|未使用|没有使用",
    r"梯度检查点|激活检查点|重计算",
    r"(?i:parallelit[äa]t|parallelismus|paral(?:l)?elismo|parall[ée]lisme|neu berechnet"
    r"|neuberechnung|recalcul|genauigkeit|(?:be|ver)arbeitet [0-9]|[0-9] \w+ akkumul)",
    r"\b[Nn]o (?:gradient|grad\.?) accum|\b[Tt]raining an? [0-9]|ccumulate(?: any| the)? grad"
    r"|(?:not|n.t|ver) accumulate\b",
    r"ccumulating gradients|adients (?:are|were) (?:never|not) acc|(?i:\bno accum)"
    r"|(?:radient|grad\.) accumulation|accumulation de[ls]? |radienten-?[Aa]kkum|accumulo de?i"
    r"|(?i:\b(?:layers?|blocks?) (?:(?:is|are|was|were|gets?) )?(?:\w+ )?"
    r"(?:check-?p|re-?comp|remat))",
    r"(?i:(?:recomput\w*|check-?point\w*|(?-i:\bAC)\b)(?:[ _-](?:mode|policy|granularity))?"
    r"[*_.]{0,3}[:=]? ?[*_]{0,2}(?:full|sele|none|off|on\b))",
    r"tates?,? (?:and (?:gradients|parameters|weights) )?(?:alone |only )?(?:are|were) (?:all "
    r"|only )?"
    r"(?:sharded|partitioned)",
    r"(?i:(?:never|not|n.t)(?: (?:use[sd]?|need(?:ed)?|apply|enabled?))?(?: any)?"
    r"(?: activation| gradient)? (?:check-?point|re-?comput|remat))",
    r"再計算|チェックポイント|勾配の?[累蓄]積|[누축]적",
    r"[a-z][-_][0-9.]{1,5}[bBmM]\b",
    r"\bSDPA\b|caled[-_ ]dot[-_ ]product|[Ff]lash[ -]?[Aa]tt|ttention[ _](?:back|impl|kern)"
    r"|[0-9]M[ -]tok|(?i:\brecomput\w+ only\b)|\bSAC\b|(?i:check-pointing (?:is|was|on)\b)",
    r"\b[TPDCE]P (?:and [TPDCE]P )?(?:(?:sizes?|degrees?|is|was|are|were|at|of|both|to) )+[0-9]",
    r"(?i:world size (?:of )?[0-9]|micro-?batch(?:es)? of|\bstage-[0-3]\b|朴素实现)",
    r"(?i:\bno (?:act\w*\.? )?ckpt|\b(?:act|grad)\w*\.?[ -](?:ckpt|checkp|recomp))",
    r"(?:[Aa]|ach|ery|[Tt]he) (?:[\w-]+ )?(?:node|server) (?:of [\w` -]{3,24} )?"
    r"has [*_]{0,2}(?:[0-9]|four|eight)",
    r"nodes of (?:four|eight) ",
    r"(?i:ZeRO[ -](?:stage[ -]?)?[0-3]|deepspeed(?: config\w*)?:? stage|zero_optimization"
    r"|(?:zero|_z)_?[0-3](?:_\w+)*\.json|\bzero-?[0-3]\b)",
    r"(?i:bf16|fp16|fp8|float-?16)[ -](?:mixed[ -])?precision",
    r"(?:[固设限]定[为成]|设置[为成]|默认为|实验[均都]为|(?:fixed|set) (?:to|at)) ?[*`]*[0-9]",
    r"`[\w.]+ ?[=:] ?[\w.'\"]+`[^`]{1,3}`[\w.]+ ?[=:]|(?i:accumulat[a-z]+ [a-z ]{0,16}(?:over"
    r"|for|across) "
    r"(?:[0-9]|two|three|four|eight|sixteen))",
    r"(?:devices|GPUs|accelerators|cards|nodes|machines|servers) (?:used )?(?:are|were) ",
    r"^\W*[A-Za-z0-9,-]+ (?:GPUs|accelerators|devices|cards|chips)[,.;]",
    rf"\b[Mm]y (?:own )?(?:{HINT}|[2-5]0[5-9]0)|\b[Oo]ne [2-5]0[5-9]0\b",
    r"[0-9][`*]* (?:in|for|across) all\b",
    r"[a-z](?:Args|Config|Arguments)\(\w+=",
    r"(?i:(?:\b(?:on|across|with|using)|w/) [0-9,]+ (?:devices|GPUs|processes)\b)|MEMBER: [0-9]",
    r"(?i:\b(?:base_)?(?:model|device|gpu|accelerator)(?:[_ ]name(?:_or_path)?)?[\"']?\s*[:=]\s*"
    r"[\"']?[A-Za-z])",
    r"(?i:pipelining|\bno pipelin|(?:pure|only|plain|purely) data[ -]parallel|omputed (?:in|during)"
    r"|padded (?:up )?(?:to|from) [0-9])",
    r"[0-9](?:[BM]| [bm]illion)? (?:total |trainable )?[Pp]arameter|(?i:precision\W*$)"
    r"|GPUs (?:each|per node)",
    r"GPU models and conf",
    # parts of a sentence: a number and its noun, a short name and its number
    r"[0-9][ -](?:way [TPDCEtpdce]|hidden\b)",
    r"(?:^|[^0-9])[0-9]{1,4}[ -](?:\w+ )?(?:layers?|heads|experts)\b",  # no model has more
    r"\b(?:[TPDCE]P|[MG]BS) ?[=-]? ?[0-9]|\b(?:[tpd]p|[mg]bs)[0-9]",
    r"[a-z]-?[Pp]arallel(?:ism)?(?:[ -](?:size|degree))?(?: of| is| to)? [0-9]",
    r"(?i:accumulation (?:of |is )?[0-9]|\bseq(?: len(?:gth)?)? [0-9]{3})",
    r"(?i:\b(?:single|one)[ -](?:GPU|node)\b)|精度[均都]?[为是：:]",
    "[\u3040-\u30ff\uac00-\ud7a3][：:=]? ?[0-9]",
    r"(?i:\b(?:micro|global)[- ]batch(?:[ -]size)?(?: of| is| to)? [0-9])",
    r"(?i:\b(?:hidden|ffn|vocab\w*|context|seqlen|sequences) (?:of )?[0-9])",
    r"[一-鿿][：:为]? ?[0-9]",
    r"(?i:world[ _]size[ :=]+[0-9])|[0-9]-GPU\b",
    r"[a-z一-鿿] ?[(（](?:[TPDCE]P|[MG]BS|V?PP|BS|tokens|per [A-Za-z]+)[)）]"
    r"(?: (?:of|is|was|to))?[:=：为是]? ?[0-9]",
    r"(?i:\b(?:virtual (?:pipeline )?(?:stages|chunks)|model chunks|interleav\w+ (?:of|factor)))",
    r"[a-z]_[a-z_]+ [0-9]+ [a-z]+_[a-z_]+ [0-9]",
    r"[a-zA-Z]{2,3}\)? ?[=:] ?\(?[0-9]+ ?[/x×,-]",
    r"(?:模型(?:名称)?|机器|硬件|显卡|加速卡) ?[:：] ?[A-Za-z0-9]|[0-9一二两三四六八十] ?[卡张块]",
    rf"(?i:\b(?:alle?|every|each|everything|tous|toutes)\b)[^.;]{{0,100}}?(?:{HINT}"
    r"|(?i:bf16|fp16|fp8|float-?16))",
    r"(?i:(?:on|using|with) [*_]{0,2}(?:one|a single|single|two|four|eight)[*_]{0,2} "
    r"(?:[0-9]+ ?Gi?B )?(?:GPU|NPU|card|accelerator|device|chip))",
    CLAIMED,
    r"[0-9] hosts\]|_component_|_target_|(?i:same (?:model|architecture))",
    r"(?i:\b(?:bf16|fp16|[bt]?f(?:loat|p)?-?(?:16|32)|(?:mx-?)?fp8)\b[^\"':=]*$)",
    r"(?:FULL|HYBRID|NO)_SHARD|SHARD_GRAD_OP|FSDP|HSDP|\bfully_shard|(?i:fully[- ]shard)",
    r"[0-9] (?:images|imgs|samples|sequences|seqs|examples|videos|clips|graphs)\b ?"
    r"(?:/|per|on each|for each|par) ?(?:[GN]PU|device|card|rank|worker|process|chip|carte)",
    r"(?i:^[\W_]*(?:[\w-]+ ){0,2}(?:hardware|gpus?|nodes?|machines?|cluster|system|platform"
    r"|runtime|server|instance|environment|optimi[sz]er|parallelism|set-?up|config(?:uration)?"
    r"|settings?)"
    r"(?: (?:type|model|name|used))?[*_`]* ?[:：].*[0-9])",
    rf"[0-9] (?:GPUs?|cards|карт\w*|видеокарт\w*) \(?{HINT}|\bon the [2-5]0[5-9]0\b",
    r"(?i:\b(?:on|auf|sur|en) (?:(?:an?|the|my|our|local|free|single|colab|ein|une?|un) )*)"
    rf"{HINT}",
    r"\b(?:one|two|four|eight) \W*Tesla",
    r"[a-z]_[a-z_]+`? ?[=:]? ?`?[0-9]|[а-я]{3}[ :=—]+[0-9]|[0-9] [а-я]{4}",
    r"(?i:\b(?:secuencia|sequência|sequenza|séquence|sequenzlänge|lote)\b.{0,12}[0-9])",
    "(?:[0-9]|GPU) ?[\uac00-\ud7a3枚基]|[\uac00-\ud7a3] ?(?:GPU|[A-Za-z]+[0-9])|1 ?枚の",
    r"(?i:\b(?:une?|un[ao]|uma?|eine[rmn]?) "
    r"(?:(?:seule?|sol[ao]|einzige[rn]?|einzelnen?|únic[ao]) )?"
    r"(?:GPU|karte|grafikkarte|carte|tarjeta|placa)\b|на одной )",
    "(?:シングル|単一の?|単体の?) ?GPU|单[张块卡]|ZeRO-[0-3] ?(?:相当|を)",
    r"[0-9][kKM]? tokens (?:per|/|a) (?:\w+ )?(?:step|batch|update)",
    r"(?i:\b(?:each|every) (?:GPU|device|accelerator|card|rank|worker|chip)\b.*[0-9] )",
    r"(?i:\b(?:flags|set-?ups?|settings|config\w*|options|arguments|recipe) (?:\w+ )?(?:as|like)"
    r" (?:\w+ ){0,4}above|(?:scripts?|commands?|snippet|listing|recipe|`(?: as| from)?) above\b"
    r"|\bthe above (?:\w+ )?(?:script|command|snippet)|variables above\b|\bnot cumulative\b"
    r"|\b(?:mit de[nmr] obigen|oben\b|ci-dessus)|\breproduc(?:e|ing|tion)"
    r"|\bcommands? (?:behind|for|of|used)"
    r"|\b(?:were|are) (?:had|made|obtained|started|produced) )",
    "复现|再現|재현",
    "[위앞](?:의|에서)? ?(?:환경|명령|스크립트|설정|옵션)"
    "|上[記述]?の(?:環境|コマンド|スクリプト|設定|オプ|構成)"
    "|上[述面文]的?(?:环境|命令|脚本|配置|参数|设置|选项)",
)

_FORMS = "|".join(_PARTS)

POSTED = (
    r"\s?[-–—·,:]{0,2} ?(?:(?:on|posted|opened)? ?)(?:[0-9]{1,2}\.? (?:Jan|Feb|Mar|Apr|May|Jun|Jul"
    r"|Aug|Sep|Oct|Nov|Dec)|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* [0-9]{1,2}\b"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}|(?:[0-9]+|an?) (?:minute|hour|day|week|month|year)s? ago"
    r"|yesterday)"
)
"""When a comment of a thread was posted, behind its author, in polars' syntax."""

COMMENTS = (
    rf"\*\*(?: \([^()]*\))?(?:,? (?:commented|replied|wrote|said|left a)|{POSTED})"
    r"|^\s*(?:> ?)?\*\*@[\w.-]{2,38}\*\*(?:\s*$| ?[·•(])"
)
"""A comment of a thread begins there, behind the name of its author."""

FORMS = (
    "|".join(filter(str.isascii, _PARTS)),
    "|".join(part for part in _PARTS if not part.isascii()),
    f"{WITH}|{NETWORKS}|{COMMENTS}",
)
"""One is found in every line that says something of a run in words, in polars' syntax; apart those
with letters of other scripts, which with the others take more states than a search keeps."""

OPENS = r"(?:^|\s)[\"']?[A-Za-z_][\w.-]*[\"']?\s*(?::|[:=]\s*[\w.]*[\[({])\s*$|^\s*\[[\w.-]+\]\s*$"
"""How a line ends that opens a key of a dump, in polars' syntax."""

TAILED = (
    r"[=:]\s*[\"']?[0-9][0-9,_.]*[\"']?\s*"
    r"(?:[,;(][^\"{\[]*$|,?\s*[#/*]|\s[\w.+]+=|\s\\$)"
)
"""How a value goes on that others, a remark or a bracket stand behind, in polars' syntax."""

REST = r"[\s\x1c-\x1f*_`:.,\\]*$"
"""Marks and blanks behind the last value of a line."""

_WORDS = (
    r"[Tt]rue|[Ff]alse|(?:amp_|torch\.|jnp\.)?"
    r"(?:bf16|fp16|fp32|fp8|bfloat16|float16|BF16|FP16|FP32|FP8)(?:[- ](?:true|mixed|AMP))?"
    "|FULL_SHARD|HYBRID_SHARD|SHARD_GRAD_OP|NO_SHARD|selective|full"
    "|(?i:flash(?:[-_]?att(?:entio)?n)?(?:[-_]?[1-4])?|fa[1-4])"
)

_NOUNS = r"(?: (?:tokens|sequences|samples|examples|images|steps|micro-?batches))?"

_VALUES = rf"-1|[0-9][0-9,]*(?:\.[0-9]+)?[kKMB]?{_NOUNS}|\[[0-9]{{1,6}}\]|{_WORDS}"

ENDS = rf"(?:[=:：]|\bis)[\s*_`]*[\"']?(?:{_VALUES})[\"']?[)}}]*{REST}|{TAILED}|{OBJECT}"
"""How an assignment or a `label: value` ends, if a value is all that stands behind its label."""

_WORTHY = (
    r"[=:：]\s*[\"']?\S|\bis\s+[0-9]|^\s*#|--[A-Za-z]|^\s*(?:```|~~~)|[_-][a-z]+[0-9]+[_-]"
    rf"|(?i:[0-9]\s*(?:node|replica|gpu))|(?i:precision|ZeRO)|\b{HINT}"
    rf"|:\s*$|(?:\*\*|</summary>)\s*$|{OPENS}"
)

WORTH = (f"{_WORTHY}|{TURNS}", *FORMS)
"""One is found in every line that may state something, be a heading, fence a block or name one."""

_WORTH = deferred(f"{_WORTHY}|{_FORMS}|{COMMENTS}")

_RAN_WITH = (
    r"(?i:\b(?:and|but|also|runs?|ran|train(?:ed|ing)?|tuned|launched|started|measured|all) with"
    r" (?:the (?:flags?|options?) )?|\b(?:(?:same|gleicher?|derselbe)(?: (?:command|runs?|settings?"
    r"|script|set-?up|config\w*|flags|options|model|job|befehl|aufruf))?(?: as)?|above),?"
    r" (?:above,? )?(?:but )?(?:with|plus|adding|mit|\+) (?:the (?:flags?|options?) )?)`--[A-Za-z]"
    r"|(?i:^[\W_]*(?:with|using|mit|avec|con|com|使用|采用) ?(?:(?:the|den|les) )?"
    r"(?:(?:flags?|options?|optionen) )?)`--[A-Za-z][^`]{1,60}`(?:(?:,| and|,? plus|,? und|,? et)?"
    r" `--[A-Za-z][^`]{1,60}`){0,6}[\W_]*$"
    r"|(?i:(?:^[\W_]*|[,;] )`--[a-z][^`]{1,60}`(?: \([^()]{1,24}\))? "
    r"(?:(?:is|was|are|were) (?:used |on |set )?)?"
    r"(?:everywhere\b|throughout\b|(?:in|on|for|with) (?:all|every)\b)"
    r"|\b(?:all|every) (?:(?:of )?(?:the|our|these) )?(?:runs?|rows?|jobs?|models?|layouts?|cases"
    r"|experiments?|results|config\w*) (?:(?:were|was|are|is) (?:run |started )?with|use[sd]?|have"
    r"|had|got|get)"
    r" `--[a-z])"
)
"""An option alone in a sentence that says what was run with it, in polars' syntax."""

SAYS = (rf"{ENDS}|[=:][\"']?\$|(?:^|[\s'\"(])--[A-Za-z]|{_RAN_WITH}", *FORMS[:2])
"""One is found in every line that is a list, a command or prose with something of a run in it."""

SAID = deferred("|".join(SAYS))


def may_state(text: str) -> bool:
    """Whether a line may state something: a quick look."""
    worthy = _WORTH.search(text) is not None or may_turn(text)
    return worthy or names_program(text) or names_network(text)
