"""Sentences of a document that speak of other runs than its own.

In: a line of prose. Out: the line with blanks where it speaks of what somebody else ran, of what
was run at another time, of what is planned, advised or the default of a program, of a model beside
the one that is trained, of what stands in another place, of all runs but some, or of what failed.
What such a sentence says of a configuration is of no row. Of a site's machines the number goes and
the name stays: on however many of them a job ran.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from assay.ingest.schema.record import REMEMBERED, Line
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.devices import SIGN, signed
from assay.ingest.vocabulary.languages import in_english

_END = re.compile(
    r"(?<=[\w)`*%\]])(?<!e\.g)(?<!i\.e)(?<! vs)[.!?](?:\*\*)?\s+(?=[A-Z`*(_])|[。；！？]"
    r"|(?<=\s\s)[.]\s+(?=[A-Z])"  # behind what was told before and is blank
    r"|(?<=[\w)`*%\]]);\s+|$"
)

_ASKED = re.compile(r"[?？]\W*$|吗\W*$|でしょうか")
"""A question, which tells of nothing that ran."""

_AT_ANOTHER_TIME = deferred(
    r"\b(?:last|previous) (?:year|month|week|time|spring|summer|autumn|winter)\b"
    r"|\b(?:years?|months?|weeks?) ago\b"
    r"|\b(?:earlier|previous|prior|old|older|past) (?:versions?|runs?|works?|results?|experiments?"
    r"|papers?|tests?|jobs?|tables?|posts?|releases?|pages?|measurements|numbers|figures|timings"
    r"|README|blog|docs|documentation|wiki|reports?|(?:cluster|set-?up|system|machines?|server"
    r"|hardware) (?:had|used))\b|^\W*(?:we|I|it|this) used to (?:run|use|train|have|be|set)\b"
    r"|^\W*(?:before|prior to|until) (?:(?:this|the|that) (?:\w+ )?(?:fix|change|update|patch"
    r"|commit|release|version|upgrade|switch|merge|rewrite|refactoring)\b"
    r"|(?:version |release |v)[0-9])"
    r"|^\W*(?:in |with )?(?:the )?(?:version |release |v)[0-9][\w.]* (?:the (?:\w+ ){0,3})?"
    r"(?:used|had|(?:was|were)(?! (?:used|installed|run|tested|benchmarked|measured)))\b"
    r"|(?<!repeated the )(?<!repeat the )(?<!reran the )"
    r"\bcompar(?:e[ds]?|isons?|ing) (?:it |them |this |ours |these )?(?:with|to|against)\b"
    r"|\b(?:in|by) contrast\b|\bcontrary to\b|\bas opposed to\b"
    r"|\b(?:are|is) (?:planned|on order|ordered|on (?:its|their) way)\b"
    r"|\bunder way\b|\b(?:will|to) follow\b|\bwill be (?:run|added)\b"
    r"|\bwe (?:are )?plan(?:ning)?\b|\bin the queue\b|\bpending\b|\bTODO\b|^\W*next(?: up)?[:,]"
    r"|\b(?:earlier|previous|first|initial|original|old) (?:attempts?|versions?|releases?)\b"
    r"|\b(?:our|my) \[?(?:first|last|initial|original) (?:blog[ -]?)?(?:posts?|articles?|papers?"
    r"|blogs?|reports?|write-?ups?)\b"
    r"|\bat first\b|^\W*(?:originally|initially|previously|formerly|back then|until recently)\b"
    r"|\b(?:for|till|until|by) (?:next (?:week|month|year|quarter)|tomorrow)\b|^\W*tomorrow\b"
    r"|\bon (?:our|my|the) (?:to-?do )?list\b|\byet to\b|\bstill (?:to be|running|missing|queued)\b"
    r"|^\W*(?:missing|untested|TB[DA]|to[ -]do)\b|\bwill come\b|\bas soon as\b"
    r"|\bno (?:\w+ )?(?:numbers|results|measurements|figures) (?:for|on|with|at|from)\b"
    r"|\b(?:we|I) have no (?:\w+ ){1,3}(?:numbers|results|measurements|figures|timings)\b"
    r"|\b(?:we|I)(?: are|'re|'m| am) (?:\w+ )?(?:collecting|gathering|preparing|working on)\b"
    r"|\bcoming soon\b|\bfuture\b|\bupcoming\b|\broad-?map\b|\bgoing to\b"
    r"|\bwill (?:be )?(?:train|scal|add|try|tri|run|releas|arriv|support|mov|switch|extend)\w*"
    r"|\b(?:we|I) (?:also|additionally) (?:re-?)?(?:ran|run|train|trained|tried|tested|timed"
    r"|measured|benchmarked|repeated)\b"
    r"|\b(?:would|hopefully|hopes?|wish|expects?)\b|\bnot shown\b"
    r"|^\W*(?:as (?:a )?)?next(?: step)?,? (?:we|I)\b"
    r"|\b(?:we|I)(?:'d)? (?:(?:also|still|now|then) )*(?:want|intend|aim|mean|like) to (?:also )?"
    r"(?:re-?)?(?:see|try|test|run|train|scale|measure|repeat|add|do|get|explore|look)\b"
    r"|之前的|此前|上一版|计划|预计|后续|前回|以前の|従来|次回|今後|予定"
    r"|\b(?:planen|geplant|künftig|früher|im Vorjahr|letztes Jahr|zum Vergleich|würden?"
    r"|erwarten|(?<!wie )erwartet|erhoffen|vermutlich|noch nicht|pas encore"
    r"|nous (?:attendons|espérons)|esperamos|aún no|ainda não|non ancora|ci aspettiamo)\b"
    r"|ещё не|ожидаем"
    r"|预期|尚未|还没|まだ|期待|아직|기대"
    r"|\b(?:bientôt|comptons|prévoyons|demnächst|planeamos|planejamos|próxim[oa]s?|em breve)\b"
    r"|планиру\w+|\bскоро\b|в будущем|예정|계획|予定"
    r"|\b(?:prévu|prochaine?s?|auparavant|l['’]an dernier|à titre de comparaison)\b",
    re.IGNORECASE,
)

_ADVISED = deferred(
    r"(?<!configurations we )(?<!settings we )\brecommend\w*|\bminimum requirements?\b"
    r"|\byou (?:can|could|need|may|might|must|should|want"
    r"|have)\b|\b(?:if|when) (?:you|your)\b|\brequires?\b|\bneeds? (?!to\b)"
    r"|^\W*to (?:train|run|use|fine-?tune|launch|start|scale|fit|try|do)\b.{0,60}?[,:]"
    r" ?(?:please )?(?:set|use|run|add|pass|change|reduce|increase|lower|raise)\b"
    r"|^\W*(?:\w+ ){0,2}(?:requirements?|prerequisites?)\b[^.]{0,20}[:：]|^\W*(?:at least|min\.)"
    r"|^\W*(?:please )?(?:use|try|pass|choose|pick|consider|prefer|start (?:with|from)) "
    r"(?!of\b|cases?\b|(?:the )?(?:memory|table|following))"
    r"|^\W*(?:for|on|with) [^.,;]{0,40}\b(?:GPUs?|cards?|GB|memory|machines)\b,? (?:please )?"
    r"(?:set|use|pass|try|choose|add|lower|reduce)\b|^\W*(?:please )?(?:set|lower|raise|reduce"
    r"|increase|pass) (?!up\b|of\b|sizes?\b|to\b)[^.;]{3,50} (?:on|for|with|if) [^.;]{0,24}"
    r"\b(?:GPUs?|cards?|GB|memory)\b"
    r"|^\W*(?:tip|hint)\b|\b(?:limited|restricted) to\b(?! ?[0-9]+ ?(?:k?W|watts?|[MG]Hz)\b)"
    r"|\b(?:is|are|was) (?:good )?enough\b"
    r"|^\W*(?:for|on|with|in case of)\b(?:[^.,;]{0,50},| (?:the )?(?:bigg|larg|small|long|short"
    r"|best|bett|max|high|low|few|more|less)\w* [^.,;]{0,40}) "
    r"(?<!we )(?<!I )(?:please )?(?:set|use|raise|lower|reduce|increase|drop|choose|pass|change"
    r"|switch|start)\b"
    r"|\b(?:should|must|has to|have to) be\b"
    r"|(?<!fp8 )(?<!bf16 )(?<!fp16 )\bsupports?\b(?! (?:from|by))"
    r"|\b(?:script|program|tool) accepts\b|\busers? (?:can|could|may|might|must|should)\b"
    r"|^\W*(?:ideally|(?:an )?alternative(?:ly)?|other options)\b|^\W*e\.g\."
    r"|\bworks? (?:too|as well)\b|\balso works?\b|^\W*for [^.,;]{2,24} (?:consider|try)\b"
    r"|\bscales? (?:up )?to\b|\bsuppose\b|\bis (?:possible|optional|available|experimental)\b"
    r"|\b(?:max(?:imum|imal)?|largest|biggest) (?:possible |feasible )?(?:(?:micro|global|local)"
    r"[ -]?)?batch(?:[ -]sizes?)? (?:is|was|that|which|we)\b"
    r"|^\W*(?:imagine|consider(?! (?:the )?(?:memory|table|following))|picture|say,"
    r"|(?:let us|let's) (?:say|assume|imagine|consider|take)"
    r"|assum(?:e|ing)\b(?!.*\b(?:peak|T?FLOP))|stell(?:en Sie sich| dir)|angenommen|imaginons"
    r"|supposons|supongamos|imaginemos|suponha)\b|^\W*(?:想象|设想|例えば)"
    r"|至少|假设|假如|如果|最低でも|必要(?:です|があ)|필요|추천|권장|최소"
    r"|\b(?:braucht|benötigt|basta|necesit\w+|au moins|al menos|pelo menos|il faut)\b"
    r"|минимум|нужн[оаы]|требу\w+|建议|推荐|最低要求|最低配置|至少需要|若要|如需|推奨|\b(?:mindestens|empfohlen|recommandé)",
    re.IGNORECASE,
)

_FAILED = deferred(
    r"^\W*(?:OOMs?|out of memory) (?:with|at|for|when|on|in|beyond|above|from)\b"
    r"|\balso tried\b[^.;]{0,60},? (?:which|but)\b"
    r"|\bOOM(?:s|ed|['’]d)\b(?! (?:row|cell|entr|mark|mean))"
    r"|\b(?:ga[vt]e|gives?|g[eo]ts?|produc\w+|hits?|went|goes|to|result\w* in|bec[oa]me) NaNs?\b"
    r"|\bdiverge[sd]?\b|\bdid(?: not|n['’]t)\b(?! (?:use|apply|need) (?:any )?(?:(?:gradient|batch"
    r"|activation) (?:accumulation|check-?pointing|recomputation)"
    r"|(?:tensor|pipeline|model|context|expert)[a-z, ]{0,24}[ -]parallelism)\b"
    r"(?! (?:in|for|on|with) (?!any|all|every)))|\bdoes(?: not|n't)\b|\bfail(?:s|ed)?\b|\bcrash\w*"
    r"|\b(?:ran|runs?|go(?:es)?|went|leads? to|led to|(?:end|result)(?:s|ed)? in(?: an?)?"
    r"|(?<![\"”’'—–-] )(?<![—–-]` )(?<!OOM )(?<!cell )(?<!cells )(?<!empty )(?<!blank )"
    r"(?:is|are|was|were|gets?|got|gives?|gave|h(?:its?|ad))(?: an?)?)"
    r" (?:CUDA )?(?:out[ -]of[ -]memory|OOMs?)\b(?! (?:row|cell|entr|mark|mean|for|where|if))"
    r"|\b(?:exhaust|exceed)(?:s|ed) (?:the |its |device |GPU )*memory\b"
    r"|\b(?:no longer|never|can ?not|can['’]t|could ?n(?:ot|['’]t)) (?:\w+ )?fits?\b"
    r"|\bn(?:e |['’])(?:pass|rentr|tien|tenai|entr|suffi)\w* (?:pas|plus)\b"
    r"|\b(?:pass|reich)(?:t|te|en|ten) (?:nicht|nirgends)\b"
    r"|\b(?:no|não|non) (?:cab[eí]|coub|cup|entra|entrò|ci sta)\w*"
    r"|\bне (?:помеща|помести|умеща|умести|влез|хвата|хвати)\w*"
    r"|[放装]不下|爆显存|載らな|乗らな|収まらな|들어가지 않"
    r"|\bnot (?:yet )?(?:been )?(?:supported|possible|tested|measured|included|done|tried)\b"
    r"|\b(?:not (?:yet )?run|never (?:ran|run|tried|tested|trained|measured)) (?:\w+ )?"
    r"(?:with|on|at|in)\b"
    r"|\b(?:was|were|is|are) (?:left out|omitted)\b"
    r"|(?<!parallelism is )(?<!parallelism was )(?<!checkpointing is )(?<!checkpointing was )"
    r"(?<!recomputation is )(?<!recomputation was )(?<!accumulation is )(?<!accumulation was )"
    r"\bnot (?:yet )?(?:been )?(?:used|enabled)\b"
    r"|\baccumulation (?:is|was) not (?:used|enabled) (?:in|for|on|with) (?!any|all|every)",
    re.IGNORECASE,
)

_ELSEWHERE = deferred(
    r"\bcan be found\b|\bsee (?:below|above|also|section|appendix|the)\b"
    r"|^\W*see [^.;:]{3,24} for\b|\b(?:are|is|see) (?:\w+ )?(?:in|at|on|under)? ?[`\[(]{0,2}"
    r"[\w/-]+\.(?:md|rst|txt|csv|html|ipynb|json|pdf|log)\b|\bREADME of\b"
    r"|\btable (?:in|of|from) (?:the|our) (?:next|last|first|second"
    r"|other|previous|paper|appendix)\b"
    r"|^\W*(?:the )?(?:results|numbers|figures|values|times|rates)"
    r" (?:with|on|for|at|in|using|from) [^.;:]{2,40}? (?:are|were|look)"
    r" (?:\w+ )?(?:similar|comparable|the same|identical|close|worse|better|lower|higher|within)\b"
    r"|^\W*(?:the )?(?:fig(?:ure)?\.?|plot|chart|(?:\w+ )?curves?)\b(?!.*\btables?\b)"
    r"(?: in fig\.)?[^.;:]{0,30}?\b(?:is|are|was|were|shows?|plots?|compares?|comes?|came|stems?"
    r"|belongs?)\b"
    r"|\bof the (?:appendix|supplement)\b"
    r"|\b(?:tables?|numbers|results|figures|values|timings|measurements|runs|logs)\b"
    r"[^.;:,]{0,40}?\b(?:stays?|lives?|moved|(?:(?:is|are|was|were|has|have)(?: been)? )"
    r"(?:kept|moved|removed|dropped|tracked|archived|retired)) (?:in|on|at|to|from|under) "
    r"(?![0-9]|.{0,40}\b(?:below|following|this (?:page|document|file)|here)\b)"
    r"|\b(?:tables?|numbers|results|figures|values|timings|measurements|runs)\b[^.;:]{0,40}?"
    r" (?:is|are|was|were) (?:now |all |since )?(?:removed|dropped|gone|archived|retired)\b"
    r"|^\W*(?:we|I) (?:have )?(?:dropped|removed|retired|archived|moved)\b"
    r"|\b(?:contributions?|pull requests|PRs|reports?|numbers|results)\b[^.;:]{0,40}"
    r"\b(?:is|are) (?:\w+ )?welcome\b"
    r"|\b(?:numbers|results|figures|values)\b.{0,40}\b(?:are|live) (?:in|on) (?:the|our|a) "
    r"(?:\w+ )?(?:readme|wiki|blog|paper|issue|website|page|section|chapter)\b"
    r"|^\s*(?:[-*+] )?!\[[^\[\]]{0,200}\]\(|^\W*\[[^\[\]]{1,120}\]\([^()]{1,200}\)\W*$"
    r"|^[\s*+-]*\[ \] "
    r"|^\W*(?:fig(?:ure)?\.? [0-9]+[.:] )?(?:\w+ )?(?:loss|perplexity|accuracy|convergence)"
    r" (?:curves?|plots?|comparisons?|with|on|for|over)\b"
    r"(?!.*(?:throughput|speed|time|memory|table))"
    r"|^\W*(?:the |all |our )?(?:checkpoints?|weights|tokeni[sz]ers?)\b.{0,20}"
    r"\b(?:converted|exported|quanti[sz]ed|merged|trained)\b"
    r"|\balso (?:report|show|give|list)\w*\b.{0,60}\bin (?:table|fig(?:ure)?)\.? [0-9]"
    r"|\bin (?:the )?(?:appendix|supplement)\b|\bin (?:section|chapter) [0-9A-Z]"
    r"|^\W*(?:an?|one|another|some) (?:\w+ )?(?:run|experiment|test|job)s?"
    r" (?:in|with|on|at|using)\b"
    r"[^.:]*?\b(?:gave|gives|got|reach\w*|took|takes|was|were|had|achiev\w*)\b"
    r"|\bthe same (?:\w+ )?on\b.*\b(?:took|takes|needed|needs|was|were|is|gave|reached|reaches)\b"
    r"|\bthe (?:last|final|first|remaining) [0-9.]+ ?(?:%|percent)"
    r"|\bthe baselines? (?:was|were|ran|runs|uses?|used|is)\b|\baccording to the\b"
    r"|^\W*(?:the )?(?:(?:vision|image|audio|speech|text|video)[ -](?:encoder|tower|backbone)"
    r"|(?:draft|reward|teacher|reference|judge|embedding)[ -](?:model|network)|actor|critic"
    r"|generation|rollouts?|decoding|sampling|inference|serving"
    r"|(?:inf\.?|infer\.?|test|eval\.?|evaluation|prediction)[ _-]"
    r"(?:times?|speeds?|latency|throughput|FPS))\b"
    r"|^\W*(?:the |all |our )*(?:evaluations?|validation|testing)(?: (?:itself|steps?|scripts?"
    r"|jobs?|runs?|passes|harness|suite|loop|server))? (?:(?:is|are|was|were) (?:done|run|performed"
    r"|carried|executed"
    r"|conducted)|ran|runs?|uses?|used|took|takes|needs?|needed|happen(?:s|ed)"
    r"|(?:is|was) (?:on|with|in|at)\b)",
    re.IGNORECASE,
)

_BESIDE = deferred(
    r"^\W*(?:(?:the|all|our|these) )*(?:"
    r"(?!.*\b(?:throughput|speed|train\w*|times?)\b)(?:[\w@./-]+ ){0,3}?(?:accurac(?:y|ies)"
    r"|perplexit(?:y|ies)|scores?|BLEU|ROUGE|MMLU|GSM8K|HellaSwag|mAP|WER|FID|(?:downstream"
    r"|(?:zero|few)-shot) \w+|(?:validation|eval(?:uation)?|test) loss(?:es)?)\b(?! and\b|/|,)"
    r"[^.;,]{0,30}?\b(?:evaluated|measured|computed|calculated|scored|assessed"
    r"|uses? (?:beam|greedy))\b"
    r"|debug\w* (?:runs?|jobs?) |(?:smoke|unit|regression|integration|CI) tests? (?:uses?|used"
    r"|runs?|ran|is|are|was|were|needs?|takes?)\b"
    r"|hyper-?param\w* (?:(?:is|are|was|were) )?(?:tuned|searched|swept|search|tuning|sweeps?)\b"
    r"|(?:judge|verifier|grader|sandbox|evaluator)s? (?:is|are|was|were|runs?|ran|uses?|used) "
    r"|accuracy (?:runs? |experiments? |tests? )"
    r"|convergence (?:(?:is|was) (?:check|test|verif|valid|confirm)\w*|runs? |tests? )"
    r"|base (?:model|checkpoint) (?:(?:was|is) (?:pre-?)?trained|has) "
    r"|production (?:\w+ )?(?:training|runs?|jobs?|models?) "
    r"|(?:final|full|real|actual|next|later|main|larger) (?:\w+ ){1,2}will (?:use|need|take|run) "
    r"|(?:fine-?tuning|alignment|RLHF|SFT|distillation|annealing) (?:afterwards?|later|after that) "
    r"|(?:other|some|many|several|most) (?:teams?|groups|labs|people|authors|papers|works|projects"
    r"|companies|users) "
    r"|reference (?:numbers|results|values|figures|timings) (?:is|are|was|were"
    r"|uses?|used|comes?|came)\b"
    r"|(?:first [0-9][0-9,.]*k? (?:warm-?up )?|warm-?up )(?:steps|iterations|phase|period|stage) "
    r"(?:uses?|used|(?:is|are|was|were) (?:run|done|made|trained) )"
    r"|(?:checkpoints?|weights)\b.{0,20}\b(?:saved|written|stored|loaded|dumped|evaluated)\b"
    r"[^.;,]*\b(?:by|from|on|with|using)\b)"
    r"|^\W*(?:warm-?up: )?(?:in|for|during)? ?(?:the )?(?:first [0-9][0-9,.]*k? (?:steps"
    r"|iterations)|warm-?up(?: phase| period| steps)?)\b"
    r"(?!.*(?:measur|averag|throughput|time|speed)),? (?:the|a|we|it|global|micro|batch|use[sd]?)\b"
    r"|^\W*on [^.;:]{3,40}?,? the same (?:\w+ )?(?:takes|took|needs|needed|runs?|ran|gets?|got|gave"
    r"|gives|reach\w*|is|was)\b"
    r"|^\W*(?:in|for) (?:the )?fig(?:ure)?s?\.? [0-9](?!.*\btables?\b)"
    r"|^\W*(?:we|I) (?:evaluated?|score) [^.;]*\b(?:lm[-_ ]eval\w*|harness|accurac(?:y|ies)"
    r"|perplexity|downstream|zero-shot|few-shot)\b"
    r"|^\W*(?:we|I) (?:generated?|sampled?) (?:the |all |our )?(?:samples?|images|texts?"
    r"|completions|responses|outputs|videos)\b",
    re.IGNORECASE,
)
"""Work beside the training that is measured, which is of no row: scores are computed, a
search, a test of the code, checkpoints written, the first steps of a run."""

_ANOTHER_MODEL = re.compile(
    r"\W*(?:the |our |its |their )?(?:teachers?|predecessors?)(?=[ ,(:])(?! (?:and|forcing)\b)",
    re.IGNORECASE,
)
"""How a sentence begins about a model beside the one that is trained, or before it."""

_NAMES_OF_OTHERS = (
    r"(?:GPT|Llama|LL[aA]MA|BERT|RoBERTa|PaLM|OPT|BLOOM|Falcon|T5|Mi[sx]tral|Qwen|DeepSeek|Gopher"
    r"|Chinchilla|MT-NLG|Turing|Megatron|DeepSpeed|Meta|Google|OpenAI|NVIDIA|Microsoft|DeepMind"
    r"|Anthropic|MosaicML|Databricks|Mistral|Alibaba|Baidu)"
)

_OF_OTHERS = deferred(
    r"(?i:\bthe (?:original|official|released|published) (?:\w+ )?(?:models?|papers?|training|runs?"
    r"|checkpoints?"
    r"|authors?|implementation|recipe)\b)"
    r"|(?i:^\W*the (?:original|official|published|reference|authors['’]?) (?:\w+ )?"
    r"(?:config(?:uration)?|settings?|setup|recipe|scripts?|implementation)\b"
    r"(?: (?:of|in|from|by) [^.;:,0-9]{1,30}?)? "
    r"(?:ha(?:s|ve|d)|uses?|sets?|gives?|says?|(?:is|are|was|were)"
    r"(?! (?:used|kept|followed|run|taken|applied|unchanged)))\b)"
    r"|(?i:\b(?:our|an|the) (?:earlier|previous|older) (?:report|paper|post|page|version"
    r"|release)\b)"
    r"|(?i:\b(?:the|their|this) (?:paper|authors?)(?:'s?)? (?:\w+ )?(?:reports?|reported|used?|uses"
    r"|trains?|trained|claims?|states?|measured?|measures|was trained|were trained)\b)"
    r"|\b[Tt]he original [A-Z][\w.-]* (?:was|is|were|used|had)\b"
    r"|\b[A-Z]\w+['’]s [A-Z][\w.-]* (?:was|were|has been|used|uses)\b"
    r"|(?:^|[,(] ?)(?!(?:We|I|They|It|This|These|Those|Model|Models|Everything|All|Each|Both"
    r"|Pre-?trained|Fine-?tuned|Was|Were|Jointly|And|Then|Results?|Table|Tables|Section|Values|Numbers|Rates"
    r"|Figures|Timings|Times|Throughputs?|Measurements)\b)"
    r"[A-Z][\w.&-]*(?: (?:et al\.?|and [A-Z][\w-]*|team|Research|AI|[A-Z][\w-]*))*,? "
    r"(?:trained|reports?|reported|claims?|claimed|published|quotes?|announced)\b"
    r"|\b[A-Z]\w+['’]s (?:own )?(?:results?|numbers?|figures?|reports?|papers?|benchmarks?|blogs?"
    r"|reference|READMEs?|docs|documentation|website|white ?papers?|press release)\b"
    r"|(?i:\bvendors?\b|\b(?:for|as a) (?:reference|comparison)\b(?!.*[:：][\s*_]*$))"
    r"|\bet al\b|^\W*(?:The )?(?:original )?" + _NAMES_OF_OTHERS + r"[\w.-]*(?: [0-9.]+[BM]?)?"
    r"(?: team| paper| authors)? (?:originally )?(?:used?|uses|took|had|has|needed)\b"
    r"|\b[Ii]n \[[0-9]{1,3}\]|(?i:\b(?:teams?|authors|colleagues?|others|someone|people)\b.{0,24}"
    r"\b(?:trains?|trained|uses?|used|gets?|got|reports?|ran|runs)\b)"
    r"|(?:^|[,(] ?)(?:[A-Z]\w*[A-Z0-9]|[A-Z][\w-]*-[0-9])[\w-]*(?: [0-9][\w.]*)? "
    r"(?:gets?|got|reach(?:es|ed)?|achieve[sd]?|attain(?:s|ed)?|hits?|obtain(?:s|ed)?) "
    r"(?:about |up to |around |~)?[0-9]"
    r"|(?i:^\W*(?:the )?(?:numbers?|values?|figures?|results?|rates?|ones) in (?:\w+ )?"
    r"(?:parenthes[ei]s|brackets|italics?|gr[ea]y)\b[^.;]{0,40}\b(?:from|by|taken|reported|published|quoted)\b)"
    r"|^\W*@\w+|(?i:\b(?:he|she|his|her)\b.{0,40}[0-9])"
    r"|论文中|原论文|官方(?:使用|报告|结果|数据|在)|据.{0,12}报[道告]|他社"
    r"|\b(?:Meta|Google|OpenAI|NVIDIA|Microsoft|DeepMind)(?: ?(?:使用|采用|用了)|(?:は|が))",
)

_ENGINE = (
    r"(?:vLLM|SG-?Lang|(?:TensorRT|TRT)-LLM|TGI|Text Generation Inference|llama\.cpp|LMDeploy"
    r"|ExLlama(?:V2)?|MLC[ -]LLM|DeepSpeed-(?:MII|Inference|FastGen)|FasterTransformer|Ollama"
    r"|Triton Inference Server)"
)
"""Programs that serve models and train none."""

_FORETOLD = deferred(
    r"\bextrapolat\w+|\bproject(?:ed|ions?) (?:to|for|of)\b|\bpredicts?\b|\bsimulators?\b"
    r"|\b(?:is|are|was|were) (?:\w+ )?(?:estimated|predicted|simulated) (?:for|at|on|to)\b"
    r"|^\W*(?:simulated|estimated|predicted) (?:for|on|at|with)\b"
    r"|\b(?:estimates?|predictions|simulations)\b[^.;:]{0,24}?\b(?:is|are|was|were|assumes?|for)\b"
    r"|\btheoretical (?:memory|throughput|speed|(?:step )?time)\b"
    r"|[0-9] ?[TB](?:illion)? tokens\b[^.;:]{0,40}?\b(?:takes?|needs?)\b[^.;:]{0,24}"
    r"\b(?:days|hours|weeks|months)\b"
    r"|\b(?:same|similar) (?:trends?|picture|behaviou?r|patterns?|conclusions?|observations?)\b"
    r"|\bsimilar results\b|\b(?:results?|trends?|conclusions?|findings?)\b[^.;]{0,20}? holds?\b"
    r"|\bconfirm(?:s|ed) (?:this|that|these|it|the)\b"
    r"|\bbest (?:of|among) (?:\w+ ){0,3}[0-9]|\b(?:best|fastest|optimal)(?: \w+)? (?:is|was)\b",
    re.IGNORECASE,
)
"""Numbers foretold of runs, seen in others too, or of the best of several."""

_FORESEES = ("apolat", "roject", "redict", "imula", "stimate", "heoretical", " tokens", "same ",
             "imilar", " hold", "onfirm", "best ", "fastest", "ptimal")  # fmt: skip
"""In every sentence that tells it."""

_OF_NO_RUN = deferred(
    r"\b(?:served|hosted|deployed) (?:from|on|with|by|in|at|via)\b|\brents?\b|\brented (?:out"
    r"|for)\b"
    r"|[$€£] ?[0-9][0-9.,]* ?(?:/|per|an?) ?(?:GPU|h\b|hour|card|month)"
    r"|\bcosts? (?:[$€£]|less|more)|\bcosts?\b[^.;]{0,24}[0-9] ?(?:dollars|euros?|USD|EUR|cents)\b"
    r"|\bshared (?:by|between|among|with)\b.{0,24}\b(?:groups?|users|teams|labs|departments"
    r"|people)\b"
    r"|\b(?:extract|pre-?process|pre-?comput|tokeni[sz]|filter|deduplicat|download|render|transcod"
    r"|resiz|transcrib|annotat)(?:ed|ing|es)?\b.{0,40}\b(?:on|took|takes|with|using)\b.{0,30}[0-9]"
    r"|\b(?:embeddings|features|latents|activations|logits|labels|captions|annotations|index(?:es)?"
    r"|data|dataset|corpus|samples|images)\b[^.;]{0,30}\b(?:is|are|was|were|been) (?:\w+ )?"
    r"(?:(?:pre-?)?(?:comput|cach|encod|generat|label|annotat|extract|index|caption)\w*|built)\b"
    r".{0,30}\b(?:on|with|using)\b.{0,30}[0-9]"
    r"|^\W*(?:for|at|during|in) (?:the |our |all )?(?:serving|inference|deployment|decoding"
    r"|generation|rollouts?|test(?:ing)?(?:[ -]time)?|eval(?:uation)?(?:[ -]time)?|validation"
    r"|debug(?:ging)?|(?:data )?pre-?processing|tokeni[sz]ation|baselines?(?! and\b)"
    r"|accuracy|convergence|hyper-?param\w* (?:search|tuning|sweeps?))\b(?!:)"
    r"|\b(?:serves?|serving|handles?)\b[^.;]{0,24}[0-9] (?:\w+ )?(?:users|requests|clients|queries"
    r"|streams|sessions)\b"
    rf"|\b{_ENGINE} (?:workers?|engines?|servers?|instances?)\b|^\W*{_ENGINE}\b|\b(?:with|by"
    rf"|from|on|in|use|uses|using|via) {_ENGINE}\b"
    r"|\b(?:average|mean|median|typical) (?:\w+ )?(?:samples?|sequences?|documents?|prompts?"
    r"|examples?) (?:lengths? )?(?:is|are|was|were|has|have|had|of|contains?)\b"
    r"|\bKV[ -]caches?\b|\b(?:estimator|predictor|simulator|calculator|planner"
    r"|(?:cost|performance|analytical|memory) model)s? (?:assumes?|takes?|supposes?|expects?)\b"
    r"|\bmax[_-](?:model[_-]len|num[_-](?:seqs|batched[_-]tokens))\b"
    r"|\bgpu[_-]memory[_-]utilization\b|\btensor_parallel_size\b.{0,80}\bmax_tokens\b"
    r"|\b(?:shall|will|plan to|intend to|hope to) (?:also )?(?:be )?(?:publish|release|report"
    r"|benchmark"
    r"|measure|re-?run|repeat|test)\w*"
    r"|\b(?:reported|alleged|supposed)ly\b|推理时|推理(?:仅|只)|评测|部署(?:时|在)|推論(?:時|は|では)|추론"
    r"|\b(?:inferencia|inferência|inférence|Inferenz)\b|инференс",
    re.IGNORECASE,
)
"""Machines that serve a model, prepare its data, are let to others, or of which is only heard."""

_EFFECT = deferred(
    r"^\W*(?:(?:the )?(?:peak )?(?:memory|throughput|speed|MFU|step time|performance)(?: usage)? )?"
    r"(?:with(?:out)?|turning (?:on|off)|enabling|disabling|switching(?: (?:on|off))?|adding"
    r"|removing|dropping|replacing)\b(?! (?:these|this|all|our|the (?:settings?|set-?up|config)))"
    r"(?!.*\b(?:we|our|all|every) (?:\w+ )?(?:use[sd]?|train(?:ed)?|ran|run|measure[sd]?)\b)"
    r"[^.;:]{3,80}?\b(?:drop|ris|rose|fall|fell|increas|decreas|reduc|sav|cost|gain|improv|grow"
    r"|grew|shrink|slow|speed|lower|rais|higher|more|less|faster|hurt|help)\w*\b"
    r"(?=[^;:]*[0-9] ?(?:%|x\b|×|percent|[GM]i?B|times)|\W*$)"
    r"|^\W*(?:on|using|with|scaling to) [^.;:,]{2,40} (?:is|was|gives?|gave|scales?|shows?|yields?)"
    r" (?:\w+ ){0,2}linear"
    r"|^\W*(?:on|using|at|with|in) [^.;:]{3,40}?,? (?:the )?(?:throughput|speed|performance|memory"
    r"|(?:step |iteration )?time|MFU|utili[sz]ation) (?:\w+ )?(?:doubl|halv|drop|f[ae]ll|rise|rose"
    r"|increas|decreas|grow|grew|improv|gets? |goes |went )"
    r"|^\W*(?:on|with|in|at|using) [^.;:]{2,40}?,? the (?:rates|numbers|results|figures|values"
    r"|times) (?:are|were|is)"
    r" (?:within|about|roughly|the same|similar|close|identical|almost|nearly|[0-9])"
    r"|^\W*(?:on|with|in|at|using) [^.;:]{2,40}?,? (?:the|these|all) (?:\w+ )?(?:rates|numbers"
    r"|results|figures|values|times|throughputs?|speeds?) (?:\w+ ){0,2}?(?:doubl|halv|quarter|tripl"
    r"|drop|f[ae]ll|rise|rose|increas|decreas|grow|grew|improv|shrink|go (?:up|down))"
    r"|^\W*(?:the )?(?:peak )?(?:GPU )?(?:memory|throughput|speed|MFU|(?:step |iteration )?time"
    r"|usage|footprint)(?: \w+){0,2} (?:drops?|dropped|rises?|rose|falls?|fell|increase[sd]?"
    r"|decrease[sd]?|grows?|grew|shrinks?|shrank|goes|went|improve[sd]?)(?: (?:up|down|further))? "
    r"(?:to|by|from) [^.;:]{1,40}? (?:with|when|if|on|under|using|by|once|after|at)\b"
    r"|^\W*(?:when|once|if|as soon as|after) (?:we|you|I) [^.;:,]{3,60}, (?:the |it |memory|all "
    r"|a )(?:(?!(?:we|our)\b)[\w.-]+ ){0,4}?(?:fits?|runs?|gets?|reach\w*|needs?|takes?|drops?"
    r"|falls?|rises?|goes|doubles?|halves)\b"
    r"|\b(?:another|a (?:second|third|further|different)) set of (?:runs|experiments|tests"
    r"|measurements)\b(?!.*:\W*$)",
    re.IGNORECASE,
)
"""The effect of a switch, and no word of which runs had it: `Without checkpointing memory is 20 GB
higher`; or runs that stand somewhere else."""

_KIND = (
    r"(?:(?:(?:MoE|mixture[- ]of[- ]experts|dense|sparse)|(?:vision|image|video|audio|speech|text"
    r"|language|multi-?modal|(?:en|de)coder(?:-decoder|-only)?|convolutional|transformer|recurrent"
    r"|quanti[sz]ed|base|chat|instruct|distilled|compiled)"
    r"(?= (?:models?|ones?|runs?|networks?|variants?)\b)))"
)
"""A kind of models or runs, of which a document may have others too."""

_NOT_ALL = deferred(
    rf"\b(?:the |for |all )+{_KIND}\b[^.;]{{0,60}}?[0-9][^.;]{{0,60}}?"
    r"(?:,|\b(?:and|while|whereas|but|with)) (?:(?:and|while|whereas|but|with|for|all) )?"
    rf"(?:the |all |for )*{_KIND}\b[^.;]{{0,60}}?[0-9]"
    r"|\b(?:only (?:we )?(?:train\w*|fine-?tun\w*|kept|keep|cast|ran|run|use[sd]?)"
    r"|(?:train\w*|tuned|kept|cast|ran|run) only) the (?:\w+ )?(?:adapters?|heads?|encoders?"
    r"|decoders?|backbones?|routers?|embeddings?|norms?|layers?|projections?|LoRA)\b"
    r"|\bones (?:on |with |at |in |used |uses )?[0-9]"
    r"|\b(?:in|during) (?:the )?(?:phase [0-9]|(?:first|second|third|last|final) (?:\w+ )?"
    r"phase)\b|^\W*(?:the )?(?:phase [0-9]|(?:first|second|third|last|final) (?:\w+ )?(?:phase"
    r"|stage))(?: (?:uses?|used|runs?|ran|has|had|is|was|takes?|took|trains?|trained)\b|:)"
    r"|\b(?:small|large|big|tiny)\w* (?:models?|runs?|networks?|variants?|jobs?)\b.{0,60}[0-9]"
    r".{0,40}\b(?:small|large|big|huge|rest)\w*(?: (?:ones?|models?|runs?))?\b.{0,20}[0-9]|"
    r"\b(?:not|almost|nearly|virtually|practically|mostly) (?:all|every|each)\b"
    r"|^\W*(?:for|with|at|on) (?:(?:very|such) )?(?:long|short|larg|small|big|high|low)\w* "
    r"(?:sequences|contexts|models|batches|inputs|images|resolutions|runs|sizes|jobs),? we\b"
    r"|\bexcepted\b|\b(?:leaving|putting|setting) [^.;,]{2,30} aside\b|[A-Z0-9]\w* aside,"
    r"|(?<!all )(?<!each )\b(?:two|three|four|five|[2-9]) of (?:the|our|these) (?:[a-z0-9]+ )?"
    r"(?:runs|experiments|models|rows|jobs|configurations)\b"
    r"|^\W*(?:(?:only |just )?one of|(?:only|just) one|another|a (?:second|third|further))"
    r" (?:the |our |these )?(?:runs?|experiments?|rows?|models?|jobs?|tests?)\b(?!.*:\W*$)"
    r"|^\W*(?:most|many|several|half|a few)(?: of)? (?:the |our |these )?(?:other )?(?:runs"
    r"|experiments|models|rows|results|measurements|tests|numbers|configurations|jobs|entries)\b"
    r"|\b(?:everything|all|any)(?: else)? (?:but|except(?:ing)?|apart from|other than|save)"
    r"(?: for)? (?:the )?(?-i:[A-Z0-9])"
    r"|\bthe (?:smallest|largest|biggest|smaller|larger|bigger) (?:\w+ )?(?:models?|ones?"
    r"|networks?|variants?|configurations?|runs?|rows?)\b(?!,? ?\(?(?-i:[A-Z0-9]))"
    r"|\b(?:all|every|each)(?: of)?(?: the| our| these)?(?: [\w-]+){0,2}? (?:runs?"
    r"|experiments?|results?|numbers|models?|rows|measurements?|tests?|tables|benchmarks?)\b"
    r"(?: but\b|[^.;]{0,60}?\b(?:except(?:ing)?(?! (?:as|where|when|if)\b)|apart from|other than"
    r"|excluding(?! (?:the |any )?(?:evaluation|validation|warm-?ups?|compil\w+|checkpoint\w*"
    r"|start-?up|data loading|pre-?processing|I/O|(?:first|last) (?:few |[0-9]+ )?(?:steps"
    r"|iterations|batches|epochs?))))\b)"
    r"|\b(?:all|every)(?: of)?(?: the| our| these)? (?:other|remaining|further|reference|baselines?"
    r"|original|published|previous|earlier|first|last)\b"
    r"|\b(?:all|every|each)\b[^.;:]{0,40}?\b(?:(?:of|in) the (?:first|second|third|last|left|right"
    r"|upper|lower|other) (?:table|column|section|part|figure)"
    r"|(?:in|of) (?:table|section|fig(?:ure)?)\.? [0-9]"
    r"|(?:of|from|by|in) (?:(?:the )?(?:authors?|literature|others)|other papers?)\b)",
    re.IGNORECASE,
)
"""Of all runs but some, and no word of which row is one of them."""

_RELEASE = r"(?<![\w.])v?[0-9]\.[0-9]{1,2}(?:\.[0-9]{1,2})?(?![\w%]|\.\w)"

_BY_DEFAULT = deferred(
    r"\bby default\b|\bthe default\b|\bdefaults? (?:is|are|to|value)\b"
    r"|^\W*(?:the )?defaults? (?:\w+ )?(?:of|in|from) (?:the|this|its) (?!table|runs|experiments)"
    r"|\b(?<!this )(?<!these )(?:config(?:uration)?s?|recipes?|scripts?|examples?|README|YAML)\b"
    r"[^.;:]{0,40}? (?:is|are|was|were) (?:\w+ )?(?:written|meant|made|tuned|designed|intended"
    r"|set up|tailored) for (?=(?:an? |one |the )?[A-Z0-9])"
    rf"|{_RELEASE} (?:brought|brings|introduced|introduces|added|adds|came with|comes with"
    r"|switched to|switches to|turned on|enabled)\b(?! us\b)"
    rf"|\b(?:up to|until|through|before|since|as of) (?:version |release )?{_RELEASE}"
    r"(?=\W*$| on\b| onwards?\b)",
    re.IGNORECASE,
)
"""Words for what a program does unless it is told otherwise, a file that it comes with is for, or
some of its releases do: `0.4 brought FlashAttention-2`."""

_RAN_BY_DEFAULT = deferred(
    r"\b(?:experiments?|runs|results|numbers|measurements?|benchmarks?|tests|figures|models)\b"
    r"[^.;:]{0,40}?\b(?:were|was|are) (?:all )?(?:conducted|run|made|measured|obtained|done"
    r"|performed|collected|trained|taken|produced)\b"
    r"[^.;:]{0,80}?\b(?:using|with|at|in|under) the default (?=settings?\b|configurations?\b"
    r"|config\b|values\b|(?:hyper-?)?parameters\b|options\b|arguments\b|recipe\b)"
    r"|\b(?:empty|blank|missing|unset)(?: (?:cells?|entr(?:y|ies)|fields?|values?))?(?: here)?"
    r" ?(?:=|:|(?:means?|stands? for|is|are|denotes?|takes?|uses?|has|have)\b)"
    r"(?: (?:of|at|with))? (?:the|its|their) defaults?(?: (?:values?|settings?|ones?))?\b"
    r"|\b(?:cells?|columns?|fields?|entries|settings?)(?: (?:that|which) (?:are|is|were|was))?"
    r" (?:left )?(?:empty|blank|out)\b[^.;:]{0,24} (?:the|its|their) defaults?\b",
    re.IGNORECASE,
)
"""Runs that were made with the defaults of a program, which are then theirs: `the experiments were
conducted on one A100 with the default settings: a batch of 16`; and cells that are left empty for
these."""

_OF_OURS = deferred(
    r"\b(?:we|our|ours|I|my|here|unless|below|all|every|both|these|this (?:run|table|page|section"
    r"|report|work|post|document|benchmark))\b",
    re.IGNORECASE,
)
"""Words of a sentence that names others and speaks of its own runs: `as the paper, we use 2048`."""

_SITE = deferred(
    r"\b(?:cluster|supercomputer|site|partition|data ?cent(?:er|re)|lab|machine room|pool|rack)\b"
    r"[^.;:0-9]{0,30}\b(?:has|have|had|owns?|consists? of|comprises?|provides?|offers?|operates?"
    r"|contains?|holds?|with|(?:is|was) (?:made (?:up )?|built )?of)\b"
    r"|(?:集群|机房|超算|算力中心)[^。；;0-9]{0,12}(?:有|共|由|包含)"
    r"|(?<!ている)(?<!した)(?<!使った)(?<!借りた)クラスタ(?:ー)?(?:には|は|に)"
    r"|\b(?:compute|resources|hours) (?:was|were|is|are) (?:provided|granted|donated|sponsored)\b"
    r"|\breproducible on\b|\bthanks?\b|\bgrateful\b|\backnowledge\b"
    r"|\b(?:have|had|got|given) access to\b",
    re.IGNORECASE,
)

_A_NODE_THERE = deferred(
    r"\b(?:one|an?|single|two|three|four|eight|[0-9]+) (?:[\w-]+ )?(?:nodes?|servers?|machines?"
    r"|hosts?|box(?:es)?|workstations?) (?:of|in|on|from) (?:the|our|my) (?:`?[\w-]+`? ){0,3}"
    r"(?:cluster"
    r"|supercomputer|partition|lab|pool)"
    r"(?=,? (?:with|having|each (?:of (?:which|them|these) )?(?:with|having|has|have|holds?))\b)",
    re.IGNORECASE,
)
"""Machines of a site that are counted, which have what is told: `one node of our cluster with`."""

_SPECIFIED = deferred(
    r"(?:^|[,(] ?)\W*(?:(?i:one|an?|each|every|the|a single) )?(?:NVIDIA |AMD |Intel )?"
    rf"{SIGN}(?: GPUs?)? (?:has|have|offers?|provides?|delivers?|comes?|peaks?|is rated|needs?"
    r"|counts?|is counted|shows? up|appears?|equals?)\b"
)

_COUNTS = deferred(
    rf"(?<![\w.,-])(?:[0-9][0-9,]*|(?i:one|an?|two|four|eight|sixteen|single))"
    rf"(?= ?[x×]? ?(?:NVIDIA |AMD |Intel )?{SIGN}"
    r"|[ -](?:GPUs?|GCDs?|NPUs?|chips|devices|accelerators|cards|nodes?|servers|machines|hosts)\b"
    r"| ?(?:张|卡|块|台|个节点|枚|基))"
)

_OF_A_NODE = deferred(
    r"\b(?:nodes?|servers?|machines?|hosts?|each|every)\b[^.;,0-9]{0,44}"
    r"\b(?:of|with|has|have|having|contains?|containing)\b[^.;,0-9]{0,12}$"
    r"|\b(?:nodes|servers|machines|hosts|boxes|instances|VMs) ?[:(] ?$",
    re.IGNORECASE,
)

_EACH = deferred(
    r"[^.;,()0-9]{0,24}?\b(?:each|per|in every|a) ?(?:node|server|host|machine|box)?\b"
)


@lru_cache(maxsize=REMEMBERED)  # a line above a table is asked by the table and as a statement
def of_these_runs(text: str) -> str:
    """A text with blanks for what it says of other runs, and for what a site has of machines.

    >>> of_these_runs("Meta trained it on 16,384 H100. We use TP=8.").strip()
    'We use TP=8.'
    >>> of_these_runs("Our cluster has 256 H100 GPUs."), of_these_runs("Runs used 8 GPUs.")
    ('Our cluster has     H100 GPUs.', 'Runs used 8 GPUs.')
    >>> of_these_runs("All runs but the last use bf16.").strip()
    ''
    >>> of_these_runs("The MoE models use EP 8, the dense one TP 2. Seq 4096.").strip()
    'Seq 4096.'
    >>> of_these_runs("In case we don't get A100s: 32 nodes, TP=4").strip()
    ': 32 nodes, TP=4'
    >>> of_these_runs("Unfused up to 0.3; 0.4 brought FlashAttention. We use torch 2.1.").strip()
    'We use torch 2.1.'
    >>> of_these_runs("The batch is 1024 (previously 512).").rstrip(" .")
    'The batch is 1024'
    """
    if _ASSIGNED.fullmatch(text):
        return text
    if _REPLY.match(text):
        return _blank(text)
    if stages := _OF_STAGES.search(text):
        text = text[: stages.start()] + _blank(stages[0]) + text[stages.end() :]
    if "(" in text or "（" in text:
        text = _FORMERLY.sub(lambda found: _blank(found[0]), text)
    text = unreported(text)
    if _HAD_NOT.search(text):
        for found in _NOT_HAD.finditer(signed(text)):
            text = text[: found.start()] + _blank(found[0]) + text[found.end() :]
    if any(map(text.__contains__, ("see", "refer", " in ", ", which ", "or example, our"))):
        text = _POINTER.sub(_unpointed, text)
    if followed := _FOLLOWED.match(text):
        text = _blank(followed[0]) + text[followed.end() :]
    return "".join(map(_own, sentences(text)))


_HAD_NOT = deferred(r"n['’]t |\bnot |\bno |\black|\buntil ", re.IGNORECASE)

_NOT_HAD = deferred(
    r"(?:\b(?:(?:just )?in case|since|as|because|if|when) )?\b(?:we|I|they|you) "
    r"(?:(?:still|currently|also) )?(?:(?:do|did|could|can)(?:n['’]t| not) (?:(?:yet|currently"
    r"|even) )?(?:get|have|own|afford|find|obtain)|ha(?:ve|d) no|lack(?:ed)?)(?: access to)? "
    rf"(?:(?:any|the|enough|an?|our) )?(?:NVIDIA |AMD )?{SIGN}[^.;,:()]{{0,60}}"
    rf"|\b(?:there (?:is|are|was|were) )?no (?:NVIDIA |AMD )?{SIGN}s? [^.;,:()]{{0,20}}?"
    r"\b(?:available|free|left|at hand)\b"
    rf"|\buntil (?:we (?:get|have) |(?:the|our) )(?:NVIDIA |AMD )?{SIGN}[^.;,:()]{{0,30}}?"
    r"(?=[.;,:()]| (?:we|I) |$)",
    re.IGNORECASE,
)
"""Devices that nobody had: `just in case we don't get A100s`."""


def _unpointed(found: re.Match[str]) -> str:
    """Blanks for the end of a sentence that points elsewhere; one that says nothing else stays."""
    return found[0] if _FOR_WHOM.search(found.string, 0, found.start()) else _blank(found[0])


_FOR_WHOM = deferred(
    r"(?:^|[.;:] )\W*(?:for|to|if|when|in case|before|about|regarding|as for)\b[^,.;]*$",
    re.IGNORECASE,
)
"""All that stands in front of it: `For Lark-30B, please refer to …`."""

_POINTER = deferred(
    r"(?<=[\w)\]`*])(?:[,;]| [–—-]|(?= \()) ?\(?(?:(?:but|and|for [^.;:,()|]{2,40},?) )?"
    r"(?:please )?(?:see|refer to|cf\.)(?: also)? "
    r"(?![^.;()|]{0,24}\b[0-9.,]+ ?(?:s|ms|x|%|GB|TF|tok))[^.;()|]{2,90}\)?(?=[.;]|\W*$)"
    r"|\bfor example, (?=our (?:models|runs|experiments)\b)"
    r"|(?:(?<=ttention)|(?<=ttention[ -][1-4])), which [^.;]{3,200}(?=[.;]|\W*$)"
    r"| \((?:please )?(?:see|refer to|cf\.)(?: also)? [^()|]{2,90}\)"
    r"| \((?:(?:the|our) )?(?:older |other |previous |earlier |old )?[^.;:()|]{2,40} (?:are|is|live"
    r"|can be found|were moved) (?:in|on|at|to) [^.;:()|]{3,40}"
    r"(?:page|section|docs?|file|readme|release|blog|wiki|report|paper|appendix)s?\)",
    re.IGNORECASE,
)
"""The end of a sentence that points to where others stand, `…, see the old page for V100`, or tells
what its attention is like: `…, which never writes the scores`."""


_FOLLOWED = deferred(
    r"\W*(?:(?:this|these)(?: \w+)? (?:is|are|was|were) )?(?:(?:an?|the|our|my|short|quick) ){0,3}"
    r"(?:(?:follow[ -]?up|sequel|companion|addendum|supplement|counterpart)"
    r"(?: (?:page|post|note|notes|document|report|experiment))? (?:of|to|for|on)"
    r"|following up on) "
    r"(?:the|our|my|this|that|last|an?)\b"
    r"(?:[^.;:,()|\[\]]|\[[^\[\]]{1,80}\]|\([^()]{1,120}\)){3,160}"
    r"(?=[.,;:]|$)",
    re.IGNORECASE,
)
"""How a text begins that goes on where another page ends: `Follow-up of the 2B comparison, now`."""

_REPORTED = deferred(
    r"^\W*(?:In |The )?(?:[Pp]rior|[Pp]revious|[Ee]arlier|[Rr]elated|[Pp]ublished|[Ee]xisting)"
    r" works?\b"
    r"|^\W*[A-Z][\w-]+(?: and [A-Z][\w-]+| et al\.?)?,? (?:\([^()]{2,40}\) |\[[0-9, ]{1,20}\] )?"
    r"(?:reports?|reported|claims?|claimed|published|announced)\b"
    r"(?! (?:are|is|were|was|in|on|for|at|by|as|with|here|below|above|there)\b)"
)
"""How a sentence begins that tells what others published."""

_LIKEWISE = deferred(
    r"\W*(?:and |while |whereas )?[A-Z][\w.&-]*(?: [A-Z0-9][\w.-]*){0,3} "
    r"(?:(?:on|with|at) [^,;]{2,40}? )?"
    r"(?:gets?|got|reach(?:es|ed)?|achieve[sd]?|attain(?:s|ed)?|hits?|obtain(?:s|ed)?|saw|sees"
    r"|reports?|reported|needs?|needed|takes?|took|trained|ran|used?|uses)\b"
)
"""How a clause begins behind one of what others published that goes on with the next of them:
`Prior work reports 38% of peak; Megatron-LM on A100 reaches 52%`."""


_TOLD_BY = ("ork", "eport", "laim", "nnounce", "esults", "umbers", "enchmarks", "igures",
            "easurements")  # fmt: skip
"""Parts of words one of which is in every such sentence."""

_ON_A_PAGE = deferred(
    r"^(?!.*\b(?:below|above|following|this page|here|[Tt]able)\b)"
    r"(?=.*(?:\]\([^()]{0,120}\.(?:md|rst|html?)\b|:(?:doc|ref):`|[\w/-]\.(?:md|rst)\b"
    r"|\b(?:another|an? (?:own|separate)|(?:its|their) own) (?:page|document|file)\b))"
    r"\W*(?:(?:The |Our |For )?(?:[\w.-]+ ){0,3}?"
    r"(?:[Rr]esults|[Nn]umbers|[Bb]enchmarks|[Ff]igures|[Mm]easurements)\b"
    r"(?: (?:on|for|of|with|from)\b)?[^.;:|]{0,60}?"
    r"(?:\b(?:are|is|were) (?:kept |listed |given |reported |documented |now )?(?:in|on|at)"
    r"|\b(?:can be|are) found\b|\b(?:have|has|were|are) moved\b|\bhave (?:an?|their own) page\b"
    r"|,? (?:please )?see\b)"
    r"|(?:Please )?[Ss]ee .{2,160}\bfor (?:the |our )?(?:[\w.-]+ ){0,3}?"
    r"(?:results|numbers|benchmarks|figures|measurements)\b)",
)
"""A sentence that says on which other page results are: they are not those of this one."""


def unreported(text: str) -> str:
    """A text with blanks for what it tells of others as published by them, and for what it says to
    stand on another page.

    >>> unreported("Prior work reports 38%; Foo-LM on A100 reaches 52%; we use V100.").strip()
    'we use V100.'
    >>> unreported("We use V100. Foo et al. reported 38% on A100.").strip()
    'We use V100.'
    >>> unreported("We use V100. Results on P40 are kept in :doc:`p40`.").strip()
    'We use V100.'
    """
    if not any(word in text for word in _TOLD_BY):
        return text
    told, goes_on = list[str](), False
    for sentence in sentences(text):
        if _ON_A_PAGE.match(sentence):
            told.append(_blank(sentence))
            continue
        named = _REPORTED.search(sentence) or (goes_on and _LIKEWISE.match(sentence))
        theirs = bool(named) and not (_OF_OURS.search(sentence) or _TURNS.search(sentence))
        told.append(_blank(sentence) if theirs else sentence)
        goes_on = theirs and sentence.rstrip().endswith(";")
    return "".join(told)


_ASSIGNED = re.compile(r"\s*(?:export )?(?:[A-Za-z_][\w.-]*=[\w.+:-]+(?:[,;]?\s+|[,;]?$))+")
"""Names and their values alone, with no word of any run: most lines of a dump."""

_OF_STAGES = deferred(
    r"\b(?:pre-?train\w*|(?:first |1st )?(?:stage|phase)(?: ?(?:1|one|I|A))?)\b[^.:|]{0,60}?[0-9]"
    r"[^.:|]{0,40}?(?:[,;]|\b(?:and|while|whereas|but))[^.:|]{0,16}?"
    r"\b(?:fine-?tun\w*|SFT|mid-?training|annealing|(?:the )?(?:second |2nd )?"
    r"(?:stage|phase)(?: ?(?:2|two|II|B))?)\b[^.:|]{0,40}?\b"
    r"(?:[0-9]|one\b|two\b|four\b|eight\b)[^.;|]*"
    r"|[0-9][0-9,]*k?,? ?(?:\(|for )(?:the )?(?:pre-?training|fine-?tuning|SFT|long[ -]context)"
    r"[^.;|0-9]{0,24}?(?:,|\band) [0-9][0-9,]*k?,? ?(?:\(|for )[^.;|0-9]{3,40}"
    r"|(?:^|(?<=[.;:|()]))[^.;:|()]{0,120}?[0-9][^.;:|()0-9]{0,24} (?:in|for|during) (?:the )?"
    r"(?:first (?:stage|phase)|(?:stage|phase) ?(?:1|one|I|A)\b)[^.:|()]{1,60}?[0-9][^.;:|()]{0,24}"
    r" (?:in|for|during) (?:the )?(?:second (?:stage|phase)|(?:stage|phase) ?(?:2|two|II|B))\b",
    re.IGNORECASE,
)
"""Numbers of two stages of training, and no word of which of them the runs are: `stage 1 on 8 GPUs,
stage 2 on 64`, `ZeRO-2 in stage 1, ZeRO-3 in stage 2`."""


_REPLY = re.compile(r"[\s>*_]*@[\w-]+[*_]* ?(?:: |wrote|said|reports|reported)")
"""A reply of somebody else, quoted: `> @somebody: I see 4.1 s on 8xH100`."""

_FRONTED = deferred(r"(?:<[^<>]*>|\W)*On [^.;:]{2,90}?(?=,? we (?:also )?compare\b)")
"""On what both ran that a sentence compares: `On A800 nodes we compare with Foo`."""


_REASON = deferred(
    r",? \b(?:because|as (?=only [0-9]|no (?:more|larger|longer)\b)"
    r"|since (?=(?:it|they|we|the|there|this|only|no|most|otherwise)\b"
    r"|[\w-]+ (?:is|was|were|are|has|had|does"
    r"|did|do|can|cannot|overflow\w*|diverge\w*|fail\w*|needs?|\w{3,}ed)\b))"
    r"(?![^.;:]{3,90} (?:is|are|was|were) (?:always (?:on|used|enabled|applied|active)\b"
    r"|(?:turned |switched )?(?:on|used|enabled|applied|active) (?:(?:in|for|on|with) (?:all|every"
    r"|each)\b|throughout\b|everywhere\b)))"  # that is of these runs
    r"(?:[^;:]|:(?!\W*$))*",
    re.IGNORECASE,
)


IS_OPEN = deferred(
    r"^(?!\s*[|>#]).{40,}[^\s.:;!?|。：；]\s*$"
    r"|^ {0,3}[A-Z][^|>#:=]{15,40}\b(?:with|on|of|in|and|at|using)\s*$"
)
"""A line of prose as wide as a page whose sentence does not end with it, or one that cannot."""

GOES_ON = deferred(
    r"^ {0,3}(?:[a-z(][\w()-]*(?: [\w(`*]|, |\.(?:$| +[A-Z]))"
    r"|(?:\(?`{1,2}[^`]{1,60}`{1,2}\)?|--[a-z][\w=-]*)(?:,| [\w(]|\.$))"
)
"""A line that begins in the middle of a sentence: no key of a dump, no bullet."""


_LEAVES_OUT = re.compile(r"\s*(?:(?:and|or|but) )?(?:except|apart|other than|unless|but|only)\b")
"""How a line begins that says which runs the sentence before it is not of."""


def but_for_others(before: Line | None, line: Line) -> Line:
    """A line with blanks for the end of a sentence that begins in the line before and tells of no
    run of its document.

    >>> above = Line(3, "Once our allocation has started in spring we will", 1, {})
    >>> but_for_others(above, Line(4, "repeat it on 64 B200. We use bf16.", 1, {})).text.strip()
    'We use bf16.'
    """
    if before is None or line.number != before.number + 1 or line.prefix or before.prefix:
        return line
    goes_on = IS_OPEN.match(before.text) and GOES_ON.match(line.text)
    if not goes_on or _LEAVES_OUT.match(line.text):
        return line
    head, end = list(sentences(before.text))[-1].strip(), next(sentences(line.text), "")
    left = of_these_runs(f"{head} {end}")[len(head) + 1 :]
    if left.strip() or not end.strip():
        return line
    return line._replace(text=left.ljust(len(end)) + line.text[len(end) :])


def without_reasons(sentence: str) -> str:
    """A sentence with blanks for why it is so: that is of what else there is.

    >>> without_reasons("We use fp32 because fp16 overflows.").rstrip()
    'We use fp32'
    >>> without_reasons("It is 4 because AC is on in all runs.").rstrip()
    'It is 4 because AC is on in all runs.'
    """
    return _REASON.sub(lambda found: _blank(found[0]), sentence)


_TURNS = deferred(
    r"[,;，；—–]\s*(?:(?:but|and|while|whereas|yet|so) )?"
    r"(?=(?:we|ours?|here|I|my|mine|this (?:run|work|page)|the (?:student|present one))\b"
    r"|我们|本文|本项目|这里)",
    re.IGNORECASE,
)
"""Where a sentence turns from others to its own runs: `they had 64, we use 8`."""

_OPENS = deferred(
    r"\W*(?:(?:in|at|on|for|during|until|before|prior to|with)\b(?! (?:contrast|line|accord\w*"
    r"|agreement|keeping|addition|order|complian\w+|analogy|respect)\b| (?:an? |the )?"
    r"(?:(?:fair(?:er)?|better|easier|direct) )?"
    r"(?:comparison (?:with|to)|consisten\w+|compatib\w+|comparab\w+))"
    r"[^,;，；—–]*|originally|initially|previously|formerly|back then"
    r"|(?:\w+ ){1,3}ago|last \w+)[,，]\s*",
    re.IGNORECASE,
)
"""When, where or for what something was done, in front of who did it: `For evaluation, we use`."""

_CONTRASTS = deferred(
    r"\W*(?:unlike|instead of|in place of|rather than|in lieu of)\b", re.IGNORECASE
)


def _own(sentence: str) -> str:
    """A sentence with blanks for what it says of other runs, and for its reasons."""
    if "=" in sentence and _EXPLAINED.match(sentence):
        return _blank(sentence)
    sentence = _untested(without_reasons(_told_of_all(sentence)))
    so = _THEREFORE.search(sentence)
    if so and not (
        _PLANNED.search(sentence, so.start()) or _SAID_ONCE.search(sentence, so.start())
    ):
        return _blank(sentence[: so.start()]) + _own(sentence[so.start() :])
    if turn := _TURNS.search(sentence):
        head, tail = sentence[: turn.end()], sentence[turn.end() :]
        if _CONTRASTS.match(head) or _of_others(head):
            opens = _OPENS.fullmatch(head) and not sentence.rstrip(" *_").endswith((":", "："))
            return _blank(head) + (_blank(tail) if opens else _own(tail))
    if not _of_others(sentence):
        return _uncounted(_uncompared(sentence))
    fronted = _FRONTED.match(sentence)
    begin = fronted.end() if fronted else 0
    return sentence[:begin] + _blank(sentence[begin:])


_SAID_ONCE = deferred(
    r"(?:we|I|it is|it's|is) (?:(?:won|don|isn)['’]?t|do not|will not|not|only)"
    r" (?:repeat|list|mention|show|not|named?)(?:ed)?\b"
    r"|(?:we|I) (?:skip|omit|drop|leave out) (?:it|this|that)\b"
    r"|no (?:column|row|table) (?:says|lists|repeats)\b",
    re.IGNORECASE,
)
"""Words that say once what is so in all runs: `…, so we don't repeat it in the tables.`"""

_SET_SO = r"`?[A-Za-z][\w.]{1,30} ?(?:=|==) ?-?[\w.]{1,12}`?"

_EXPLAINED = deferred(
    r"\W*(?P<lead>(?:in (?:the )?case (?:of|that)|when|if|whenever|for|setting|在|当|如果|若|假如"
    r"|倘若)[ :]?)?"
    rf"\W*(?:设置为?\W*)?{_SET_SO}"
    rf"(?:(?:[,，、;]? ?(?:and |和|且|与)?|[ `]){{1,3}}{_SET_SO}){{0,4}}`? ?"
    r"(?:is (?:set|used|given)|are (?:set|used|given))?"
    r"(?:的?情况下|的话|时|则|means|indicates|表明|表示|意味着"
    r"|(?(lead)(?:[,，]|(?=shards?|splits?))|(?!)))"
    r"[^.。;；]{0,24}?"
    r"(?:optimi[sz]er|parameters?|weights|gradients|states|layers?|tensors?|优化器|参数|权重|梯度"
    r"|状态)"
    r"[^.。;；]{0,24}?"
    r"(?:distributed|sharded|split|partitioned|replicated|stored|kept|live|分布|切分|划分|存放|分片"
    r"|复制|保存|over )",
    re.IGNORECASE,
)
"""A sentence that explains what settings do, and says them of no run: `zero1=8 的情况下, 优化器状态
分布在单节点内`, `when tp=2, layers are split over two devices`."""


def _told_of_all(sentence: str) -> str:
    """A sentence on what all models or runs use with blanks for what that takes, and for the word
    that it is an example of what is told before it.

    >>> _told_of_all("For example, our models use FlashAttention, which requires a factor.").strip()
    'our models use FlashAttention'
    >>> _told_of_all("For example, we use 8 GPUs."), _told_of_all("Models, which require 8 GPUs.")
    ('For example, we use 8 GPUs.', 'Models, which require 8 GPUs.')
    """
    found = _USED_BY_ALL.fullmatch(sentence)
    if found is None or not (found["for"] or found["which"]):
        return sentence
    return _blank(found["for"] or "") + found["told"] + _blank(found["which"] or "") + found["end"]


_USED_BY_ALL = deferred(
    r"(?P<for>\W*for (?:example|instance),? )?"
    r"(?P<told>\W*(?:(?:all|both|each|every one)(?: of)? )?(?:all|our|these|the|both) "
    r"(?:[\w-]+ )?(?:models|networks|runs|experiments|jobs) (?:(?:all|always|both) )?"
    r"(?:uses?|used|employs?|(?:are|were) (?:trained|run) (?:with|in|using))\b[^,;]{1,80})"
    r"(?P<which>, which (?:(?:also|in turn|then) )?(?:requires?|needs?|takes?|costs?|saves?|allows?"
    r"|enables?|lets?|reduces?|supports?)\b.*?)?(?P<end>\s*)",
    re.IGNORECASE,
)

_TESTED = deferred(
    r"(?:(?<=[,;(—–]) ?|^\W*|\b(?=and |but ))(?:(?:and|but|then|later|was|were|is|are|models?) )*"
    r"(?:tested|evaluated?|deployed|validated?|served|(?:evaluation|inference|testing|validation)"
    r"(?: (?:is|was|runs|ran))?(?: done)?) (?:\([^()]{1,40}\) )?(?:only )?(?:on|with|using|at|in)\b"
    r"[^,;()—–]*",
    re.IGNORECASE,
)

_TRAINED = deferred(
    r"t(?:rain|un)(?:ed|ing|e)?\b[^,;.]{0,40}?\b(?:on|with|using|in|at|took|takes|is|was)\b",
    re.IGNORECASE,
)


_OF_TESTS = ("ested", "esting", "valuat", "eployed", "alidat", "erved", "nference")


def _untested(sentence: str) -> str:
    """A sentence with blanks for on what was tested what it says to be trained elsewhere."""
    if not any(map(sentence.__contains__, _OF_TESTS)):
        return sentence
    if (tested := _TESTED.search(sentence)) is None:
        return sentence
    own = sentence[: tested.start()] + _blank(tested[0]) + sentence[tested.end() :]
    return own if _TRAINED.search(own) else sentence


_THEREFORE = deferred(
    r"(?<=[,;–—-]) ?(?:and )?(?:so|therefore|hence)(?: that)? "
    r"(?=(?:we|I|now|from (?:here|now|then|(?:this|that) point) on(?:wards?)?|everything) )",
    re.IGNORECASE,
)
"""Behind what failed, what was done about it: `It did not fit, so we rented 8 V100.`"""

_PLANNED = deferred(
    r" (?:so|therefore|hence) (?:we|I) (?:can|could|will|would|may|might|plan|hope)\b"
)

_ONE_ROW = deferred(
    r"\b(?:the )?(?:(?:very )?(?:last|first|second|third|final|bottom|top|middle|left-?most"
    r"|right-?most)|(?:two|three) (?:last|first))(?: (?:two|three|four))? "
    r"(?:rows?|lines?|entr(?:y|ies)|columns?|bars?|results?|numbers?)\b"
    r"|^\W*(?:the )?(?:rows?|lines?|entr(?:y|ies)|columns?) "
    r"(?:marked|labell?ed|called|named|with|from|of|in (?:bold|italics|gr[ae]y)|[\"“'`(*])"
    r"|\b(?:copied|quoted|cited|taken|borrowed|reproduced) from\b"
    r"|最后一行|第一行|末行|最終行|第 ?[0-9]+ ?(?:[步行项]|个?(?:步骤|配置))"
    r"|\bdie letzte Zeile\b|\bla dernière ligne\b",
    re.IGNORECASE,
)
"""A sentence about some of the rows, and no word of which they are in them."""


_BUT_FOR_NOTES = deferred(
    r"\b(?:unless|except|but|if not)(?: (?:where|when|as|if))?(?: otherwise| it is)?"
    r" (?:noted|stated|given|said|named|listed|marked|shown|specified|mentioned|indicated)"
    r"(?: otherwise)? (?:in|by) (?:the )?(?:\w+ )?(?:columns?|row|label)\b",
    re.IGNORECASE,
)
"""A sentence about all rows but those that say otherwise: `unless noted in the last column`."""


_BLANKS = deferred(
    r"(?<![\w-])(?:missing|blanks?|empty|dash(?:es)?|n/?a|tbd|[–—?-])"
    r"(?: (?:cells?|entr(?:y|ies)|values?|fields?|numbers?))?['\"`*]{0,3}"
    r" ?(?:=|:|means?|stands? for|(?:is|are|was|were)\b(?= not)) ?"
    r"(?:(?:it |they )?(?:is|was|are|were) )?not (?:yet )?(?:been )?\w+(?: yet| so far)?"
    r"(?=\s*(?:[),.;]|$))",
    re.IGNORECASE,
)
"""Words for what cells without a number mean, and nothing of others: `– = not measured`."""


_BOTH_RAN = deferred(
    r"(?:\b(?:we|I|(?:this|the) (?:\w+ )?(?:page|table|section|numbers|figures|results)(?: below)?)"
    r"(?: have| also)* compared?|\bcompar(?:es|isons?|ing(?= (?:(?:v(?:ersion )?)?[0-9]|it\b|the"
    r"|this)))|^\W*compare)\b[^.;,()]{0,60}?(?:[0-9]\.[0-9][\w.]*[^.;,()]{0,30}?)? ?"
    r"\b(?:with|to|against|and|of) (?:the |our |its )?(?:immediately )?(?:previous|preceding|last"
    r"|old(?:er)?|earlier|prior) (?:\w+ )?(?:releases?|versions?|commits?|branch|code|kernels?"
    r"|implementation)(?: \(?v?[0-9][\w.]*\)?)?(?:,? (?:both|each|all))?,? ?"
    r"(?=(?:running |measured |made )?(?:on|using|at|in|with|for)\b)",
    re.IGNORECASE,
)
"""Words that two versions were compared, in front of what both ran on: `we compare 2.3 with the
previous release on 8 H100`."""


_NEGATED = re.compile(r"not\b|n['’]t\b|\bnever\b", re.IGNORECASE)


def _of_others(sentence: str) -> bool:
    if _NEGATED.search(sentence):
        sentence = in_english(sentence).text  # `we did not need ZeRO` is no failure
    sentence = _BLANKS.sub(" ", _BUT_FOR_NOTES.sub(" ", sentence))
    sentence = _BOTH_RAN.sub(" ", sentence) if "ompar" in sentence else sentence
    if _ONE_ROW.search(sentence) and not sentence.rstrip(" *_").endswith((":", "：")):
        return True
    if _NOT_ALL.search(sentence) or _ASKED.search(sentence):
        return True
    if _OF_NO_RUN.search(sentence) or _EFFECT.search(sentence):
        return True
    if any(map(sentence.__contains__, _FORESEES)) and _FORETOLD.search(sentence):
        return not sentence.rstrip(" *_").endswith((":", "："))
    if _ANOTHER_MODEL.match(sentence) or any(
        words.search(sentence)
        for words in (_AT_ANOTHER_TIME, _ADVISED, _FAILED, _ELSEWHERE, _BESIDE)
    ):
        return not sentence.rstrip(" *_").endswith((":", "："))  # what it opens is of it
    sentence = _RAN_BY_DEFAULT.sub(" ", sentence)
    others = _OF_OTHERS.search(sentence) or _BY_DEFAULT.search(sentence)
    return others is not None and not _OF_OURS.search(sentence)


_FORMERLY = deferred(
    r"[(（](?:(?:it |this |that |which )?(?:was|were|had been|used to be)|previously|formerly"
    r"|originally|before(?: that)?|up from|down from)"
    r"\b[^()（）]{1,40}[)）]"
    r"|[(（](?:此前|之前|原来|原先|原为|上一版|以前は|従来は)[^()（）]{1,40}[)）]"
    r"|[(（][^()（）]{1,30} (?:in|for|of|until|up to) (?:the |our )?"
    r"(?:previous|earlier|last|old(?:er)?) (?:version|release|post|edition|page|one|report)s?[)）]",
    re.IGNORECASE,
)
"""Brackets that say what a setting was before: `batch 1024 (previously 512)`."""

_THAN = re.compile(
    r"\b(?:faster|slower|better|worse|higher|lower|cheaper|quicker) than\b.*"
    r"|(?i:\b(?:relative to|normali[sz]ed (?:to|by)|with respect to"
    r"|(?:computed|measured|calculated) against"
    r"|(?:speed-?ups?|gains?|improvements?|savings?) (?:is |are )?(?:over|against))\b"
    r"(?![^,;]*FLOP)[^,;]*)"
)
"""Of what a sentence compares its own runs with."""

_COMPARES = (" than ", "elative to", "ormali", "respect to", " against ", " over ")
"""In every sentence that does."""


_SUBJECT = deferred(
    r"\W*(?:the )?[\w./=-]+(?: [\w./=-]+){0,3} (?:is|was|are|were|runs?|ran|trains?)\b[^,;]{0,20}$",
    re.IGNORECASE,
)
"""All that stands in front of a comparison: what is compared, `ZeRO-2 was 15% faster than`."""


def _uncompared(sentence: str) -> str:
    found = _THAN.search(sentence) if any(map(sentence.__contains__, _COMPARES)) else None
    if found is None:
        return sentence
    begin = 0 if _SUBJECT.match(sentence, 0, found.start()) else found.start()
    return sentence[:begin] + _blank(sentence[begin : found.end()]) + sentence[found.end() :]


_COUNT = r"(?:[0-9][0-9,]*|one|an?|two|three|four|eight|sixteen|(?:a )?single)"

_NOUNS = r"(?:[GN]PUs?|cards?|accelerators?)\b"

_EITHER = deferred(
    rf"\b(?P<one>{_COUNT})(?= ?[x×]? ?(?:NVIDIA |AMD |Intel )?(?:{SIGN}|{_NOUNS}))[^.;,()]{{0,24}}"
    r"(?:\([^()]*\))?"
    rf"(?P<other>[ ,(]+(?:or|and|then)\b (?:[^.;()]{{0,40}}?\b{_COUNT} of (?:them|those|these)\b"
    rf"|(?:on |over |with )?{_COUNT} (?=(?:NVIDIA |AMD )?(?:{SIGN}|{_NOUNS}))))"
    rf"|\b(?P<first>{_COUNT}) (?:(?:NVIDIA |AMD )?{SIGN}s?(?: {_NOUNS})?|{_NOUNS})(?: ?\([^()]*\))?"
    r"(?P<last>[ ,(]+or (?:on |over |with )?(?:two|three|four|eight|sixteen|[2-9]|[1-9][0-9]{1,2})"
    r"(?=\s*(?:[,.;:()]|$|(?:with|when|where|if)\b)))",
    re.IGNORECASE,
)
"""Devices of one run or of another: `one A100 or DAP over two of them`."""


_MAY_ADD = re.compile(r"\b(?:or|and|then) ")


_DEFINED = deferred(
    r"\bnumber of (?:\w+ ){1,3}?(?P<whose>(?:on|in|for|of|per|by|to) (?:one|an?|each|every|1"
    r"|a single) (?:GPU|GCD|NPU|TPU|device|card|chip|accelerator|rank|node|machine|server)\b)",
    re.IGNORECASE,
)
"""A word that is explained: it counts things of one device, `the number of utterances on one GPU`,
on however many of them a job ran."""


_RULE = deferred(
    r"\b(?:base|reference) batch(?: sizes?)?\b[^.;,]*"
    r"|\b(?:learning[ -]rates?|LR)\b(?:[^.;,]|\.[0-9]){0,30}?\b(?:for|scaled|tuned|rule)\b"
    r"[^.;,]{0,24}\bbatch[^.;,]*|\blr ?= ?[0-9.e-]+ ?[*x×] ?[^.;,]{0,24}",
    re.IGNORECASE,
)
"""The batch that a rule for learning rates begins with: `the rate is 0.1 for a batch of 256`."""

_COUNTED = deferred(
    r"(?:\b(?:MFU|T?FLOPs?)\b[^.;:]{0,24}?\b(?:count|comput|calculat|estimat|assum|deriv)\w*"
    r"|\b(?:count|comput|calculat|estimat|assum)\w*\b[^.;:]{0,24}?\b(?:MFU|T?FLOPs?)\b"
    r"|\b(?:formula|FLOP count)\b)[^.;:]{0,24}?(?P<again>\b(?:without|w/o|no|with|full|the)"
    r" (?:any |full |selective )?(?:activation |gradient )?(?:re-?comput\w+|check-?pointing))"
    r"(?! (?:runs?|rows?)\b)"
    r"|(?P<work>(?:\b(?:without|no|with|full) )?(?:activation )?re-?comput\w+ FLOPs?\b)"
)
"""Work that is counted for a rate, not what was done: `we count FLOPs without recomputation`."""


_HOURS = deferred(
    r"(?<![\w.,-])[0-9][0-9,.]{0,12} ?[kKM]?[ -]?(?=(?:(?:NVIDIA|AMD) )?"
    rf"(?:{SIGN}|(?:G|T|N)PU|card|device|accelerator|chip|node|core)"
    r"(?:[ -](?:[0-9]+ ?GB|SXM\w*|PCIe))?"
    r"(?:[ -](?:GPU|core|card|chip|node))?[- ](?:hours?|hrs?|days?|weeks?|months?|years?|minutes?"
    r"|seconds?|h)\b)",
    re.IGNORECASE,
)
"""A number of hours of devices, on however many of them: `3000 A100-hours`."""

_TESTED_ON = deferred(
    r"[^,;.|:()]{1,40}\((?:for |at |in |during )?(?:eval(?:uation)?|test(?:ing)?|inference"
    r"|validation|val|serving|generation)(?: time| only)?\)",
    re.IGNORECASE,
)
"""Settings of no training, as brackets behind them say: `batch size 64 (eval)`."""


_UNITS_OF_HOURS = ("hour", "day", "week", "month", "year", "-h", "hrs")


def _without_asides(sentence: str) -> str:
    """A sentence with blanks for hours of devices, and for settings of tests, rates and rules."""
    if any(map(sentence.__contains__, _UNITS_OF_HOURS)):
        for hours in list(_HOURS.finditer(signed(sentence))):
            sentence = sentence[: hours.start()] + _blank(hours[0]) + sentence[hours.end() :]
    if "(" in sentence:
        sentence = _TESTED_ON.sub(lambda found: _blank(found[0]), sentence)
    if ("comput" in sentence or "point" in sentence) and (found := _COUNTED.search(sentence)):
        begin, end = found.span("again" if found["again"] else "work")
        sentence = sentence[:begin] + " " * (end - begin) + sentence[end:]
    if "atch" in sentence and (" rate" in sentence or "base " in sentence or "lr" in sentence):
        sentence = _RULE.sub(lambda found: _blank(found[0]), sentence)
    return sentence


def _uncounted(sentence: str) -> str:
    sentence = _without_asides(sentence)
    if "umber of " in sentence and (defined := _DEFINED.search(sentence)):
        begin, end = defined.span("whose")
        sentence = sentence[:begin] + _blank(defined["whose"]) + sentence[end:]
    plain = signed(sentence)
    if _MAY_ADD.search(sentence) and (either := _EITHER.search(plain)):
        for part in ("one", "other") if either["one"] else ("first", "last"):
            begin, end = either.span(part)
            sentence = sentence[:begin] + " " * (end - begin) + sentence[end:]
        plain = signed(sentence)
    if not (_SITE.search(_A_NODE_THERE.sub(" ", sentence)) or _SPECIFIED.search(plain)):
        return sentence
    for count in _COUNTS.finditer(plain):
        if _OF_A_NODE.search(plain, 0, count.start()) or _EACH.match(plain, count.end()):
            continue
        sentence = sentence[: count.start()] + _blank(count[0]) + sentence[count.end() :]
    return sentence


def _blank(text: str) -> str:
    return " " * len(text)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, with the blanks behind them."""
    begin = 0
    for end in _END.finditer(text):
        yield text[begin : end.end()]
        begin = end.end()


def of_the_trained(text: str) -> str:
    """A text with blanks for its sentences about a model beside the one that is trained.

    >>> of_the_trained("The teacher is Falcon-40B; we train Falcon-7B.").strip()
    'we train Falcon-7B.'
    """
    if "eacher" not in text and "redecessor" not in text:
        return text
    every = sentences(text)
    return "".join(_blank(each) if _ANOTHER_MODEL.match(each) else each for each in every)


_INTENDED = deferred(
    r"^\W*(?:please )?(?:try|retry|consider|test|check|see)\b|^\W*next\b[^.;]{0,12}[:,]"
    r"|\b(?:we|I) (?:(?:also|still|now) )?(?:plan|intend|want|hope|aim)\b|\bplanned\b|\bTODO\b"
    r"|\b(?:would|could|should|will)\b",
    re.IGNORECASE,
)


def is_intended(sentence: str) -> bool:
    """Whether a sentence tells of what shall be tried, and of nothing that ran.

    >>> is_intended("- try a batch of 1 for the 13B"), is_intended("We tried TP 2 for the 13B")
    (True, False)
    """
    return _INTENDED.search(sentence) is not None


_NOTE = deferred(
    r"\W*(?:(?:and|all|all of|both|both of|every one of) )*(?:these|those|the above)\b(?! (?:two )?"
    r"(?:tables?|sections?)\b.{0,40}\b(?:below|following)\b)"
    r"|.{0,60}?\b(?:tables?|numbers|results|runs|measurements|values|rows) above\b"
    r"|.{0,60}?\babove (?:table|numbers|results|runs|measurements|values|rows)\b"
    r"|\W*(?:以上|上表|上述)",
    re.IGNORECASE,
)
"""A line that speaks of the table right above it."""


def of_the_table_above(text: str) -> bool:
    """Whether a line right below a table speaks of that one, and not of the next.

    >>> of_the_table_above("These were run on A100."), of_the_table_above("These run on A100:")
    (True, False)
    """
    return not text.rstrip().endswith((":", "：")) and _NOTE.match(text) is not None
