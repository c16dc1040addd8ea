"""Names among the words of a title: one device, how many of it, one number format.

In: a heading, or a line above a table. Out: the name as it is printed, None where there is none or
more than one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from assay.ingest.columns.number_formats import of_products
from assay.ingest.lines.outlines import by_outline
from assay.ingest.numbers.printed import MOST_DIGITS
from assay.ingest.numbers.units import SUFFIXES, suffix
from assay.ingest.schema.record import REMEMBERED, Cell, Line, ValueOrigin
from assay.ingest.schema.terminals import deferred
from assay.ingest.vocabulary.card_counts import counted_cards, counted_chips, slices_in
from assay.ingest.vocabulary.devices import SIGN, devices, names_card, only, several, signed
from assay.ingest.vocabulary.languages import in_english
from assay.ingest.vocabulary.terms import NUMBER_FORMAT, TOKENS

_TITLE_COUNT = deferred(rf"(?<![A-Za-z0-9.,])([0-9][0-9,]*) ?[x×] ?(?={SIGN})")

_COUNT_BEHIND = deferred(
    rf"{SIGN}s? ?[x×*] ?([0-9][0-9,]*)"
    r"(?!\w|[.,][0-9]| ?(?:nodes?|GB|GiB|台|机|节点|faster|slower|more|the|as)\b)"
)
"""`A100 * 8`, `H100 x 16`."""

BOUNDED = deferred(
    r"\b(?:up to|at most|at least|as many as|more than|less than|fewer than|over"
    r"|scal(?:e[sd]?|ing)(?: \w+){0,3}? to|(?:from|between) [0-9][0-9,]*(?: \w+)? (?:to|and))"
    r"(?: (?:about|around|roughly))? [0-9][0-9,]*|[≥≤<>]=? ?[0-9][0-9,]*"
    r"|(?<=[0-9]) (?:out )?of (?:the |its )?[0-9]+(?= GPUs)",
    re.IGNORECASE,
)
"""A number that is the bound of several, `up to 4,096 GPUs`, or the whole of a part, `4 of 8`."""

_NODES = deferred(
    r"\bnodes?\b|\b(?:servers|machines|hosts|boxes) (?:of|with) [0-9]{1,2}\b", re.IGNORECASE
)

_COUNTED_NODES = deferred(r"(?<![\w.,])([0-9][0-9,]*|one|single)[ -]nodes?\b", re.IGNORECASE)

_IN_EACH = deferred(r"\b(?:of|with|each|per|having)\b|nodes? ?[x×]", re.IGNORECASE)

_SEVERAL_HOSTS = deferred(
    r"(?<![\w.,-])(?:[2-9]|[1-9][0-9]+) ?[x×]? ?(?:[a-z][\w-]*\.[0-9]*[a-z]+ )?"
    r"(?:instances|servers|machines|hosts|boxes)\b"
)
"""Machines under other names than nodes, counted: each may have the devices counted beside."""

_OF_A_HOST = deferred(
    r"(?:\b(?:per|each|every) |/ ?)(?:server|machine|host|box|instance)\b", re.IGNORECASE
)
"""Devices beside it are counted of each machine: `A100 x 8 per server`."""

LARGEST_NODE = 16
"""Devices beyond which a number is of no single node."""

_TITLE_DTYPE = deferred(rf"(?<![A-Za-z0-9]){NUMBER_FORMAT}(?![A-Za-z0-9])")

_COUNTED = deferred(
    rf"(?<![\w.,])([0-9][0-9,]*) {SIGN} GPUs?(?![A-Za-z])"
    rf"|(?:(?<= on )|(?<= using )|(?<= across ))([0-9][0-9,]*) {SIGN}s?(?![\w-])"
    r"(?! (?:nodes?|servers?|machines?|instances?|hosts?|systems?|boxes|pods?)\b)"
    rf"|(?<![\w.,×x–-])(?<![0-9] )([0-9][0-9,]*) {SIGN}s(?![\w-])(?! (?:per|a|in|each|on each)\b)"
    rf"|(?<=[(（])([0-9][0-9,]*) {SIGN}(?=[)）])"
)
"""`8 V100 GPUs`, `on 1,024 A800`, `256 H100s with FSDP`, `Llama 7B (32 H100)`."""

_WORKERS = deferred(
    r"(?<![Uu]p to )(?<!and )(?<!or )(?<! to )(?<!from )(?<!over )(?<!than )(?<!least )(?<!every )"
    r"(?<!each )(?<!per )(?<!beyond )(?<! [0-9], )(?<! [0-9]{2}, )(?<! [0-9]{3}, )"
    r"(?<![\w.,/–x×*-])(?<![x×*] )([0-9][0-9,]*) "
    r"(?:GPUs|NPUs|TPUs|HPUs|accelerators|devices|chips|cards)\b"
    r"(?! (?:each|per|in each|on each|a node)\b| (?:to|and|or|vs) [0-9])"
)
"""`on 8 GPUs`, of whatever kind."""

_OF_A_NODE = deferred(
    r"(?<![\w.,/–-])([0-9][0-9,]*) (?:GPUs|NPUs|TPUs|HPUs|accelerators|devices|chips|cards)\b"
)

_IN_WORDS = deferred(
    r"(?<!\bto )(?<!\bor )(?<!\band )(?<!than )"
    rf"\b(one|single|two|four|eight|sixteen) (?={SIGN})"
    r"(?!(?:\S+ ){1,3}(?:servers?|machines?|instances?|hosts?|systems?|boxes|clusters?|pods?"
    r"|slices?)\b)",
    re.IGNORECASE,
)

_DIGITS = {
    "one": "1x ", "single": "1x ", "two": "2x ", "four": "4x ", "eight": "8x ", "sixteen": "16x ",
}  # fmt: skip

_OF = r"(?:\s?[:=：]\s?|\s(?:of|is|was)\s|为|\s)"

_ONE = (
    r"([0-9][0-9,]*)(?![\w.%]|,[0-9])(?!\s*(?:/|and|or|to|-|–|→|->|vs\.?|、)\s*[0-9]|,\s*[0-9]{2,})"
    r"(?!\s*\(\s*[0-9][0-9,]*[kK]? (?:for|with|on|in|when|if)\b)"
    r"(?!\s*\([^()]{1,60}\)\s*(?:or|and|to|vs\.?|/|,)\s*[0-9])"
    r"(?!,? (?:and |but )?(?:later|then|finally|afterwards)\b)"
    rf"(?!\s*(?:[x×]\b|GPU|NPU|TPU|node|chip|device|{SIGN}))"
)

_DIGIT = re.compile("[0-9]")

_OF_EACH = (
    r"(?: (?:images|samples|sequences))? ?(?:/|per |on each )"
    r"(?:GPU|device|accelerator|card|rank|NPU)\b"
)

_SETTINGS = {
    "seq_len": re.compile(
        r"(?:\b(?:seq(?:uence)?(?:[ _-]?len(?:gth)?)?|ctx"
        r"|context(?:[ _-]len(?:gth)?|(?= of\b|[ =](?:[0-9]{3,}|[0-9]{1,3}[kK])(?:[,;)]|\s*$))))"
        rf"|序列长度){_OF}{_ONE.replace('[0-9,]*)', '[0-9,]*[kK]?)', 1)}"
        r"|(?<![\w.,/–-])(?<!to )(?<!and )(?<!or )(?<!vs )"
        r"([1-9][0-9]{2,6}|[1-9],[0-9]{3}|[0-9]{1,3}[kK])"
        r"(?: tokens? ?(?:/ ?|per |in (?:each|every) )sequence\b|-token sequences\b)",
        re.IGNORECASE,
    ),
    "global_batch": re.compile(
        rf"(?:\bglobal[ _-]batch(?:[ _-]size)?|\bGBS|全局批(?:次)?(?:大小)?){_OF}{_ONE}"
        r"(?! ?(?:[kM]?i? ?tok))",
        re.IGNORECASE,
    ),
    "micro_batch": re.compile(
        rf"(?:\bmicro[ _-]?batch(?:[ _-]size)?|\bMBS|微批(?:次)?(?:大小)?){_OF}{_ONE}"
        rf"|\b(?:local )?(?:batch(?:[ _-]size)?|bsz?){_OF}([0-9][0-9,]*)(?={_OF_EACH})"
        r"|(?<![\w.,/–-])(?<!to )(?<!and )(?<!or )(?<!vs )(?<!most )(?<!least )(?<! [0-9], )"
        r"(?<! [0-9]{2}, )(?<! [0-9]{3}, )"
        r"([0-9][0-9,]*) (?:images?|imgs?|samples?|sequences?|videos?|clips?) ?"
        r"(?:/ ?|(?:per|on each|on every|for each) )(?:GPU|device|accelerator|card|rank|NPU|chip)\b"
        r"(?! ?(?:/|per |and |each )(?:s|sec\w*|min\w*|hour)\b| for\b)",
        re.IGNORECASE,
    ),
    "batch_size": re.compile(
        rf"(?<!\w[ _-])\bbatch[ _-]size{_OF}{_ONE}(?!{_OF_EACH}| ?(?:tokens|per|/|\([0-9 ]*per))"
        r"(?!.*\baccum)"  # whose it is, then, its statement says
        r"|(?:(?<=[,;:|–—] )|(?<=\())(?:mini-?)?(?:batch|bsz?)(?:\s?=\s?|\s)([4-9]|[1-9][0-9,]+)"
        r"(?=[*_]*\s*(?:[,;)|]|$))(?!.*\baccum)",  # the next ones are counted, perhaps
        re.IGNORECASE,
    ),
    "vocab": re.compile(
        rf"\bvocab(?:ulary)?(?:[ _-]size)?{_OF}(?=[0-9,]{{4,}}){_ONE}(?! ?(?:→|->|to\b))",
        re.IGNORECASE,
    ),
}
"""Settings that a title or a caption says in words, with one number: `sequence length 2048`."""

_OF_SETTINGS = {
    "seq_len": ("seq", "ctx", "context", "序列"), "global_batch": ("global", "gbs", "全局"),
    "micro_batch": ("micro", "mbs", "微批", "batch", "gpu", "each", "per ", "/"),
    "batch_size": ("batch", "bs"), "vocab": ("vocab",),
}  # fmt: skip
"""One of these is in small letters in every text that says the setting: most lines have none."""

_LENGTH = deferred(
    r"(?<![A-Za-z0-9.])(?:M?SL(?=[ =:_-]?[0-9])"
    r"|(?i:seq(?:uence)?[ ._-]{0,2}(?:len(?:gth)?)?|ctx|context(?:[ _-]len(?:gth)?)?"
    r"|max[ _-]?len(?:gth)?))[ =:_-]{0,2}([0-9]{2,7}|[0-9]{1,4}[kK])"
    r"(?![A-Za-z0-9.%]|,[0-9]| ?[x×+/–-] ?[0-9])"
    r"|(?<![A-Za-z0-9.,+/–-])((?<![0-9] )[0-9]{3,7}|[0-9]{1,4}[kK])[ -](?:tokens? )?"
    r"(?i:context|ctx|seq(?:uence)?[ _-]?len(?:gth)?|seq)(?![A-Za-z])"
)
"""Length of sequences in the name of a run: `GPT3-1.3B 2k context`, `Phase 2 (SL512)`."""

_OF_NO_NAME = deferred(
    r"\b(?:at|to|until|oom|fail\w*|beyond|above|than|vs|not|no|for|if|when|and|or|eval\w*)\b|[<>≤≥~]",
    re.IGNORECASE,
)
"""Words of a remark on a length that is perhaps not that of its row."""


def length_named(text: str) -> str | None:
    """The length of sequences that a name of a run says, if it is one.

    >>> length_named("GPT3-1.3B 2k context"), length_named("Ph2 (SL512)"), length_named("MSL 2048")
    ('2048', '512', '2048')
    >>> length_named("OOM at seq 8192"), length_named("seq 128 / seq 512"), length_named("SLURM 22")
    (None, None, None)
    """
    if not _DIGIT.search(text) or len(text) > LONGEST_NAME or _OF_NO_NAME.search(text):
        return None
    found = {each[1] or each[2] for each in _LENGTH.finditer(text)}
    if len(found) != 1:
        return None
    digits = found.pop()
    if digits.isdecimal():
        return digits
    return str(round(float(digits[:-1]) * suffix("k", "seq_len", digits[:-1])))


LONGEST_TITLE = 200
"""Characters of a heading beyond which it is prose."""

LONGEST_NAME = 80
"""Letters beyond which a text is no name of a run."""

_DUAL = deferred(
    rf"\b(?:dual|two) {SIGN}(?![ -](?:nodes?|servers?|machines?|hosts?|instances?|systems?|boxes"
    r"|pods?|clusters?)\b)",
    re.IGNORECASE,
)

_SINGLE = deferred(
    r"(?:^|[\s#(（:：,，、/])单[卡机]?卡?(?<!单机)(?=(?:训练|微调)?\s*(?:[，,、）)；;]|$)"
    r"| (?:全参|Q?-?LoRA|SFT|DPO)(?![A-Za-z]))"
    r"|\b(?:on|using|with) (?:a single|a|one|1|single) (?:GPU|NPU|accelerator)(?![\w/-])"
    r"(?! (?:per|for (?:each|every)|(?:in |on )?(?:each|every))\b)"
    r"|(?:[#(,:–—-]\s*|^)[*_]{0,2}(?:single|one|1)[*_]{0,2}[ -]"
    r"(?:(?:consumer|desktop|gaming|local|small|big|commodity)[ -])?(?:GPU|NPU|card)[*_]{0,2}"
    r"(?=\s*(?:[,;:)]|$|first\b|(?:fine-?)?(?:tun|train)))",
    re.IGNORECASE,
)
"""One device of no name: `单卡微调`, `on a single GPU`, `### Single GPU`."""

_OF_A_PROCESS = deferred(
    r"\b(?:each|every|one|per|an?) (?:rank|process|worker|replica|actor|stage|expert)\b"
    r"|\b(?:also|even|still) (?:runs?|works?|fits?|trains?)\b"
    r"|\b(?:can|could|may|might) (?:also |even |still )?(?:be )?(?:run|train|fit|work)",
    re.IGNORECASE,
)
"""A part of a run, which is on one device whatever the whole is on, or what one is enough for."""

_IN_STEPS = deferred(
    r"\b(?:two|three|four|six|eight|[2-9]|[0-9]{2,})[ -](?:GPU|NPU|card)s\b", re.IGNORECASE
)
"""Devices beside one that are others of them: `one card, two cards`."""

_OF_ONE = re.compile(r"单|(?i:[gn]pu|card|accel)")
"""Found in every text that names one so."""

_NO_NAMES = (
    "Train|Training|Table|Step|Section|Part|Experiment|Model|Size|The|For|With|On|Of|Run|Case|Figure|"
    "Version|Phase|Stage|Node|Nodes|Config|Batch|Total|About|LLM|VLM|MLLM|GPUs?|NPU|TPU|CPU|"
    "Same|Both|Each|Every|All|Our|This|That|These|Its|Their|Only|From|And|Or|In|At|By|As|An?|Does"
    "|Scaling|Dense|Pre-?train\\w*|Fine-?tun\\w*"
    "|How|Why|When|What|Where|Which|Notes?|My|Your|Now|Then|Here|Inside|Meet|Can|Is|Are|We|To|Into"
    "|Fast(?:er)?|Slow|D(?:as|er|ie|em|en|es)|Eine?[mnrs]?|Unsere?[mnrs]?|Modelle?s?|Mit|Auf|Für|Bei"
    "|L[ae]s?|Une?|Notre|Nos|E[ln]|Los|Wie|Warum|Comment|Pourquoi|Cómo|Como"
    "|(?:Gett|Mak|Runn|Mov|Start|Speed|Bring|Putt|Tak|Teach|Push|Port|Fitt|Squeez|Serv|Test|Us|Try"
    "|Benchmark|Profil|Measur|Compar|Optimi[sz]|Accelerat|Build|Reproduc|Continu|Adapt|Tun|Launch"
    "|Shard|Debug|Evaluat|Deploy|Migrat|Introduc|Understand|Explor|Fix|Improv|Reach|Keep|Cutt"
    "|Doubl|Halv|Convert|Extend|Grow|Shrink|Quanti[sz]|Compil|Pack|Feed|Look|Work|Want|Learn)ing"
    "|LAION|SlimPajama|COYO|DataComp|YFCC|JFT|IG|SA|WebLI|FineWeb\\w*|OBELICS|CC|Dolma|RefinedWeb"
    "|DCLM|Pile|m?C4|OpenWebText|Imag(?:e|en)Net"
)
"""Words that begin a title and no name of a model: those of a sentence, and of sets of data."""

_NAMED_MODEL = deferred(
    rf"(?<![A-Za-z0-9./_-])(?!(?:{_NO_NAMES})\b)"
    r"((?:[A-Z][A-Za-z]+(?:-(?:like|style))?|m?[Tt][05]"
    r"|(?:gpt|llama|opt|bloom|pythia|qwen|mistral|gemma|olmo|mpt|falcon|chatglm|baichuan|internlm"
    r"|aquila)"
    r"(?=[-_]?[0-9]))(?:[-_ ]?[0-9][0-9.]*)?"
    r"(?:[-_ ]?[A-Z][a-z]+[A-Z]?|-[A-Z]{1,8}(?=[- ])|-[A-Z](?=[-_ ])|-[vV][0-9](?:\.[0-9])?)?[-_ ]"
    r"(?:[0-9]+x)?[0-9]+(?:\.[0-9]+)?[BbMm]"
    r"(?:-A[0-9.]+B|(?<=[0-9]B)-[0-9]+E|(?<=MoE-[0-9]B)-[0-9]{1,3}B|-v[0-9]\.[0-9]|(?<=[bB])[0-9])?)"
    r"(?![A-Za-z0-9])"
    r"(?!(?:,|/| and| or| &){1,2} ?[0-9]+(?:\.[0-9]+)?[BbMm]\b)"
    r"|(?:(?<=`)(?<!branch `)(?<!tag `)(?<!file `)|(?<=\b[Mm]odel )|(?<=\b[Mm]odel: )"
    r"|(?<=\b[Mm]odel=))"
    r"([a-z][a-z0-9]{1,15}(?:-[a-z0-9.]{1,12}){0,3}?[-_][0-9]+(?:\.[0-9]+)?[bm])"
    r"(?=[`\s,;)]|$)(?! (?:and|or) )"
    r"|(?<![\w./-])[A-Za-z][\w-]{2,24}/([A-Za-z][\w.]{1,16}-(?:[A-Za-z][\w.]{0,12}-|[0-9](?:\.[0-9])?-){0,3}"
    r"[0-9]+(?:\.[0-9]+)?[bB](?:-(?:[A-Za-z]{2,9}|v[0-9.]{1,4})){0,2})"
    r"(?![\w/.-]*[A-Za-z0-9])(?! (?:and|or) )"
    r"|(?<![A-Za-z0-9_./`-])([a-z]{3,16}[0-9.]{0,3}(?:-[a-z]{2,12}[0-9.]{0,3}|-[0-9](?:\.[0-9])?){0,3}"
    r"-[0-9]+(?:\.[0-9]+)?b)(?![A-Za-z0-9_/`-]|\.[\w/`])(?! (?:and|or) )"
)
"""`Llama 3.1 8B`, `LLAMA2-7B`, `Qwen3-30B-A3B`: a name, and a size behind it; one in small letters
as code, or behind the word for it."""

_SIZED_FAMILY = deferred(
    r"(?<![\w.-])([0-9]+(?:\.[0-9]+)?[BM](?: |-)"
    r"(?:GPT(?:-?[23])?|[Ll]lama(?:[- ]?[23](?:\.[0-9])?)?"
    r"|LLaMA(?:-?[23])?|BERT|m?T5|ViT|DiT|OPT|BLOOM|Bloom|[Mm]istral|[Ff]alcon"
    r"|[Gg]emma(?:[- ]?[23])?|[Qq]wen(?:[- ]?[0-9](?:\.[0-9])?)?|OLMo|Mamba(?:-2)?))(?![\w-])"
    r"(?! (?:and|or|vs\.?|to) )"
)
"""`33B GPT`, `13B llama`: a size, and the family of models behind it."""

_PUBLIC = deferred(
    r"(?<![A-Za-z0-9./_-])((?i:ResNe[Xx]?t-?[0-9]{2,3}(?:[ -]?v1\.5|d)?"
    r"|(?:Wide[- ]?ResNet|WRN)-?[0-9]{2,3}-(?:[0-9]{1,2}_)?[0-9]{1,2}"
    r"|ResNeSt-?[0-9]{2,3}|DenseNet-?[0-9]{2,3}|AmoebaNet-D|Swin-UNETR?"
    r"|EfficientNetV2-[SMLX]L?|SegFormer-B[0-5]|AlexNet|GoogLeNet|ConvNeXtV2-[A-Z]"
    r"|(?:ViT|DeiT|Swin|ConvNeXt|DiT|BEiT|CoAtNet|(?:Fast-?)?Conformer)(?:v2)?[-_ ]"
    r"(?:T(?:i(?:ny)?)?|S(?:mall)?|B(?:ase)?|L(?:arge)?|XL|H(?:uge)?|g(?:iant)?)"
    r"(?:[-/_][0-9]{1,2}(?:-[0-9]{3})?)?|(?:RoBERTa|(?:Camem|AL)?BERT|ELECTRA|DeBERTa(?:-?v[23])?"
    r"|XLM-R(?:oBERTa)?|m?T5(?:-?v1[._]1)?|Flan-T5|m?BART|PEGASUS|XLNet|Longformer)"
    r"[-_ ](?:small|base|large|xx?l(?:arge)?)(?:[-_ ](?:un)?cased)?|BERT(?:BASE|LARGE)|DistilBERT"
    r"|DistilGPT-?2|GPT-?[23][-_ ](?:small|medium|large|XL)|GPT-J|EfficientNet-B[0-8]|VGG-?1[169]"
    r"|MobileNet-?v[1-4]"
    r"|Inception[- ]?v[34]|Whisper[-_ ](?:tiny|base|small|medium|large)(?:-v[1-3](?:-turbo)?)?"
    r"|wav2vec ?2\.0(?: (?:Base|Large))?|wav2vec2?-(?:base|large)|Mask R-CNN|YOLOv[0-9]+[nsmlx]?"
    r"|Stable Diffusion (?:v?[1-3]\.[0-9]|XL|v?[23](?! (?:or|and|to)\b))|SDXL(?: 1\.0)?"
    r"|(?:(?:3D|nn|V)[- ]?)U-?Net|U-?Net-?3D|STDiT(?:-?[23])?|DeepFM"
    r"|Transformer-XL|SSD-?300|RetinaNet|EfficientDet-D[0-7]|GNMT|RNN-?T|FastPitch|Tacotron ?2"
    r"|WaveGlow|QuartzNet|HiFi-GAN"
    r"|(?-i:SD[ -]?v?(?:1\.[45]|2\.[01]|3\.5)|SD3|Wan ?2\.[12]|Wide ?(?:&|&amp;|and) ?Deep)"
    r"|FLUX\.1(?:[- ]dev)?|AlphaFold-?[23]|OpenFold|FourCastNet(?:-?v2)?|GraphCast"
    r"|(?:Deformable[- ])?DETR|DINOv[23]|BLIP-2|RegNet[XY]-[0-9.]{1,4}GF|PixArt-[αΣ]|HunyuanVideo"
    r"|RWKV-[4-7]|Mistral[- ](?:Nemo|Small|Large)"
    r"|DeepSeek-R1-Distill-(?:Qwen|Llama)-[0-9.]{1,4}B"
    r"|DeepSeek[- ]?(?:V[23](?:\.[0-9])?(?:[- ]Lite)?|R1)"
    r"|Kimi[- ]K2|Grok-[1-4]|DBRX|GLM-4\.[5-7](?:-Air)?|Phi-[1-4](?:\.5)?(?:-(?:mini|small"
    r"|medium))?"
    r"|Llama[- ]?4[- ](?:Scout|Maverick)|TinyLlama|StarCoder(?:Base|-?2)|GPT-OSS|InstructBLIP"
    r"|LLaVA(?:-NeXT|-1\.5)?"
    r"|OLMoE|DLRM(?:[- ]?(?:v2|DCN-?v2))?|Transformer[- ](?:big|base)|Qwen3-Next|ChatGLM[2-4]?"
    r"|EVA-CLIP|ModernBERT-(?:base|large)|HuBERT(?:[-_ ](?:base|large))?))"
    r"(?![A-Za-z0-9]|[-/.][A-Za-z0-9]"
    r"|,? ?(?:/|and|or|,|&) ?(?:tiny|small|medium|base|large|huge|XL)\b)"
)
"""A public model by its name without a number of parameters: `ResNet-50`, `BERT-large`."""

_MAY_BE_PUBLIC = re.compile(
    "resne|densenet|wide[- ]?resnet|wrn-|amoebanet|swin-unet|segformer|alexnet|googlenet"
    "|(?:vit|deit|swin|convnext|dit|beit|coatnet|conformer)(?:v2)?[-_ ]|bert|xlm-r|electra"
    "|t5[-_ ]|t5v1|gpt-?[23j]|m?bart[-_ ]|pegasus|xlnet|longformer|sd[ -]?v?[123]|detr\\b|dinov"
    "|castnet|graphcast|regnet|pixart|hunyuan|wan ?2|rwkv|mistral[- ]"
    "|deepseek|kimi|grok|dbrx|glm|phi-|llama[- ]?4|tinyllama|starcoder|gpt-oss|blip|llava|olmoe"
    "|dlrm|transformer[- ]b|qwen3-next|eva-clip|efficientnet|vgg|mobilenet|inception|whisper"
    "|hubert"
    "|wav2vec|r-cnn|yolo|diffusion|sdxl|flux|fold|u-?net|wide ?(?:&|and)|stdit|deepfm"
    "|former-xl|ssd-?300|retinanet|efficientdet|gnmt|rnn-?t|fastpitch|tacotron|waveglow|quartznet"
    "|hifi-gan"
)
"""In every text that names one of them, in small letters: most lines have none."""

_ITS_SIZE = re.compile(r"\s*\((?:[^()]*?[ ,])?~?[0-9.]+ ?[BM]\b[^()]*\)")
"""How many parameters a model has, in brackets right behind its name."""

_SIZED = deferred(
    r"(?<![A-Za-z0-9_.-])(?<![0-9],)(?<!\bto )(?<!\band )(?<!\bor )(?<!\band the )(?<!\bor the )"
    r"(?<![和或与及、比于到至除每])(?<![和或与及比于到至除] )"
    r"(?<!\bvs )(?<![BMT][–,/~])"
    r"(?<![BMT], )(?<![BMT] / )([0-9]+(?:\.[0-9]+)?)([BMT])"
    r"(?=[ -](?:[Mm]odel|[Pp]aram|[Dd]ense|MoE|LLM|GPT|[Tt]ransformer|[Nn]etwork)"
    r"|[ 的]?模型(?![和或与及、] ?[0-9])"
    r"|[ -](?:tun(?:e|ing)|sweeps?|scaling"
    r"|(?:pre-?)?training (?:runs?|speed|throughput|performance))\b)"
)

_SIZE_ON = deferred(
    r"(?:^|(?<![0-9]),|[:;(]|\*\*|\]|, ) ?([0-9]+(?:\.[0-9]+)?)([BT])(?:,| on) "
    r"(?=[0-9,]+ ?(?:[x×] ?)?(?:nodes?|[GNTX]PUs?|GCDs?|chips?|devices?|\ufffc|[DH]GX)|\ufffc)"
)
"""The size of a model in a list that names its devices: `405B on 128 nodes`, `70B, 64 GPUs`."""

_SIZE_AHEAD = deferred(
    r"\s*#+ (?:[0-9]+(?:\.[0-9]+)*[.)]? )?([0-9]+(?:\.[0-9]+)?)([BM])"
    r"(?= ?(?:\(|[,:–—-] |$)| (?:on|with|at)\b| (?:pre-?)?(?:training|fine-?tuning)\b"
    r"(?! (?:tokens?|samples|steps|data|examples)\b))"
)
"""A heading that begins with the size of a model: `### 33B (64 nodes, global batch 1024)`."""

_OF_EXPERTS = deferred(
    r"(?<![\w.])(?:[0-9]+x[0-9]+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?B-A[0-9]+(?:\.[0-9]+)?)[BM](?!\w)"
)
"""Another model beside the one of a size: `our 800M dense into a 3B-A800M MoE`."""

_EXCEPTION = deferred(
    r"\([^()]*[0-9][^()]*\bfor (?:the )?[^()]*\)"
    r"|[(（][^()（）]*[0-9][BM] ?模型[为是用:：][^()（）]*[)）]"
)
"""Brackets that speak of one of several: `2048 (4096 for the 34B model)`."""

_OF_SOME = deferred(
    r"[(（](?:(?:bf|fp|tf)(?:16|32|8) )?(?:for|on|except(?: for| on)?|but not) "
    r"[^()（）]*[A-Z][^()（）]*[)）]"
)

_ONE_MACHINE = (
    r"(?:just |only |even )?(?:one|an? single|single|an?|1)[ -](?:[\w-]+ ){0,2}?"
    r"(?:[GNTX]PU|GCD|card|device|node|machine|server|accelerator|chip|[AHBVL][0-9]{2,3}|MI[0-9]{3}X?)"
    r"s?(?![A-Za-z0-9])"
)

_TOO_SMALL = deferred(
    rf"(?:n[o'’]t|cannot|never|no longer)(?: [a-z]+)? fit(?: [a-z]+)? (?:on|in|into|onto|within)"
    rf" {_ONE_MACHINE}"
    rf"|\b(?:too|so) (?:large|big|long|wide|deep)(?: to (?:fit|train|run))?"
    rf"(?: (?:for|on|in|into))? {_ONE_MACHINE}"
    rf"|\b(?:(?:more|larger|bigger|longer) than|beyond|exceed(?:s|ed|ing)?|outgr[eo]w\w*)"
    rf" {_ONE_MACHINE}"
    rf"|\b{_ONE_MACHINE} (?:is|was|are)(?: (?:simply|just))?(?:n[’']t| not| no longer| never)"
    r" (?:\w+ )?(?:enough|sufficient)"
    rf"|\b{_ONE_MACHINE} (?:is|was) too (?:small|little)",
    re.IGNORECASE,
)
"""Words of a device that would not do, and on which nothing ran."""

_MAY_BE_TOO_SMALL = re.compile(
    r"\b(?:fit|too|so|than|beyond|exceed\w*|outgr\w+|enough|sufficient)\b", re.IGNORECASE
)


def without_some(text: str) -> str:
    """A text with blanks for brackets that speak of some of several, and for a device that would
    not do.

    >>> without_some("of a node (for MI250 a GCD), bf16").split()
    ['of', 'a', 'node', ',', 'bf16']
    >>> without_some("Models that do not fit on one GPU, bf16").split()
    ['Models', 'that', 'do', ',', 'bf16']
    """
    if _MAY_BE_TOO_SMALL.search(text):
        text = _TOO_SMALL.sub(lambda found: " " * len(found[0]), text)
    return _OF_SOME.sub(lambda found: " " * len(found[0]), text)


SIZES = ("model_size", "parameters")

SIZED = re.compile(r"(?<![A-Za-z0-9.])[0-9]+(?:\.[0-9]+)? ?[bBmM](?![A-Za-z0-9])")
"""A name of a model that says its size: no statement about another one is of its row."""

NEAR_SIZE = 1.3
"""How far the size in a model's name may be from that which its rows print: `7B` of 6.7."""


def of_another_size(text: str, own: Mapping[str, Cell]) -> bool:
    """Whether a text names one size of a model, and a row `own` prints another, or has it in the
    name of its model.

    >>> row = {"model": Cell("Llama 7B", 1)}
    >>> of_another_size("BLOOM-176B", row), of_another_size("LLaMA-7b", row)
    (True, False)
    >>> of_another_size("Results for Llama and BLOOM-176B on A100", row)
    False
    """
    named = {each.replace(" ", "") for each in SIZED.findall(text)}
    size = size_of(own)
    if len(named) != 1 or size is None or not differs(_sized(named.pop()), size):
        return False
    return "model" not in own or not lists_family(text, own["model"].text)


_FIRST_WORD = re.compile(r"[A-Za-z]{3,}")

_OF_A_SIZE = r"[A-Za-z]{2,}[\w.-]{0,12}?[- ]?(?<![0-9.])[0-9]+(?:\.[0-9]+)?[BMT](?![A-Za-z0-9])"

_LISTED_WITH = r"(?: models?)?(?: ?/ ?|, ?(?:and )?| (?:and|&|or|\+) |[和与及、])(?:the )?"

_BESIDE_A_SIZE = deferred(
    r"(?<![\w-])(?<!unlike )(?<!than )(?<!to )(?<!of )(?<!with )(?P<first>[A-Za-z]{3,})"
    rf"{_LISTED_WITH}{_OF_A_SIZE}"
    rf"|{_OF_A_SIZE}(?:-[A-Za-z0-9]+)?{_LISTED_WITH}(?P<last>[A-Za-z]{{3,}})(?![A-Za-z])",
    re.IGNORECASE,
)
"""A family of models without a size in one list with a model of another family."""


def lists_family(text: str, model: str) -> bool:
    """Whether a text names the family of a model, without a size, in one list with a model of
    another family and its size.

    >>> lists_family("DeepSeek / Qwen3-235B on H20", "DeepSeek 671b")
    True
    >>> lists_family("Llama-7B on H20", "Llama 70B"), lists_family("Llama-7B", "BLOOM-176B")
    (False, False)
    """
    own = _FIRST_WORD.match(model)
    return own is not None and any(
        own[0].casefold() == str(each["first"] or each["last"]).casefold()
        for each in _BESIDE_A_SIZE.finditer(text)
    )


def size_of(own: Mapping[str, Cell]) -> float | None:
    """Parameters of the model of a row, as it prints them or as the name says that it prints."""
    held, model = own.get("model_size") or own.get("parameters"), own.get("model")
    if held is not None:
        return _amount(held)
    named = SIZED.findall(model.text) if model and model.value_origin == "printed" else []
    return _sized(named[0].replace(" ", "")) if len(named) == 1 else None


def full_name(own: Mapping[str, Cell]) -> str:
    """The model of a row, with the size that the row prints beside a name that says none.

    >>> full_name({"model": Cell("LLaMA2", 1), "parameters": Cell("70", 1, scale=1e9)})
    'LLaMA2 70B'
    """
    model = own.get("model")
    if model is None or SIZED.search(model.text):
        return model.text if model else ""
    return f"{model.text} {size_printed(own)}".rstrip()


def size_printed(own: Mapping[str, Cell]) -> str:
    """The size of a model in a cell of its own, as names have it; empty where there is none.

    >>> size_printed({"parameters": Cell("124000000", 1)})
    '124M'
    """
    size = own.get("model_size") or own.get("parameters")
    if size is None or size.state != "value" or size.value_origin != "printed":
        return ""
    number = _amount(size) or 0.0
    sign = next((sign for sign in "TB" if number >= SUFFIXES[sign]), "M")
    return f"{number / SUFFIXES[sign]:.4g}{sign}" if number else ""


def differs(one: float, size: float) -> bool:
    """Whether two sizes of a model are of two models, as far as names are rounded."""
    return min(one, size) > 0 and not 1 / NEAR_SIZE < one / size < NEAR_SIZE


def _sized(text: str) -> float:
    return float(text[:-1]) * SUFFIXES[text[-1].upper()]


def _amount(cell: Cell) -> float | None:
    try:
        return float(cell.text) * cell.scale if cell.state == "value" else None
    except ValueError:
        return None


_ZERO = deferred(r"\bZeRO(?:[ -]?stage)?[ -]?([0-3])\b", re.IGNORECASE)


def device_named(text: str) -> str | None:
    """The device that a line names, if it is one.

    >>> device_named("Pre-training on DGX-H100 (BF16)"), device_named("H100 against L4")
    ('H100', None)
    >>> device_named("two H100 PCIe"), device_named("on TPU v5p-128 with MaxText.")
    ('H100 PCIe', 'TPU v5p-128')
    >>> device_named("### Training on A100"), device_named("the A100s ran in BF16")
    ('A100', None)
    >>> device_named("fp16, 32 heads, A100"), device_named("an A100 has 312 TFLOPS")
    ('A100', None)
    >>> device_named("me@h100-07:~/bench$ python bench.py")
    """
    text = _PROMPT.sub("$ ", text, count=1) if "@" in text else text
    device = only(text)
    if device is None or (_SOME.search(text) and not _counts(text)):
        return None
    return device.text


_SOME = deferred(
    r"\b[Tt]he (?:NVIDIA |AMD )?[A-Z]{1,3}[0-9]{2,4}[A-Z]?s\b"
    r"|\b(?:[Aa]n?|[Tt]he) (?:NVIDIA |AMD )?[A-Z]{1,3}[0-9]{2,4}[A-Z]?"
    r" (?:has|offers|can|could|supports|comes)\b"
)
"""Some of the devices of a document, or one of a kind, of which more is said: `the A100s ran in
BF16`, `an H100 has 80 GB`."""

_PROMPT = deferred(r"^[^@|]{0,48}@[\w.-]+(?::| )[~/][^\s$#]*(?:\]\s?)?[$#] ")
"""The prompt of a shell: the name of a host names no device, `me@h100-07:~/bench$ `."""


def _counts(text: str) -> bool:
    """Whether a text says how many devices there are: `8x A100`, `8 A100 GPUs`."""
    plain = signed(text)
    return any(
        pattern.search(plain)
        for pattern in (_TITLE_COUNT, _COUNT_BEHIND, _COUNTED, _IN_WORDS, _DUAL)
    )


def format_named(text: str) -> str | None:
    """The number format that a line names, if it is one; none that it says was not used, none that
    a file has in its name, and none that says of which rows one of two numbers is.

    >>> format_named("8 GPUs, FP8 は使っていません"), format_named("without FP8, in bf16")
    (None, 'bf16')
    >>> format_named("run by `train_TF32_8GPU.sh`")
    >>> format_named("The output is BF16."), format_named("FP8 inputs, accumulation in fp32")
    (None, 'FP8')
    >>> format_named("batches of 48 for AMP and 24 for FP32"), format_named("batch 24 for FP32")
    (None, 'FP32')
    >>> format_named("Master weights are kept in FP32"), format_named("bf16, fp32 optimizer states")
    (None, 'bf16')
    """
    return _only_one(_TITLE_DTYPE, _UNUSED.sub(" ", text))


_BESIDE_PRODUCTS = (
    r"(?:(?:master|main) (?:weights|param(?:eter)?s|cop(?:y|ies)|gradients?|grads?)"
    r"|optimi[sz]er(?![ -]off)(?:[ -](?:states?|moments?))?|(?:adam |first |second )?moments"
    r"|(?:gradients?|grads?)(?![ -](?:check|ckpt))"
    r"(?:[ -](?:reduc\w+|all-?reduce\w*|accum\w*|communication))?)\b"
)
"""Parts of a run that are kept or summed up in a format beside that of its products; none that are
kernels, whose own format it may be."""

_A_FORMAT = rf"(?:mixed[ -]precision|AMP|{NUMBER_FORMAT})"

_UNUSED = deferred(
    rf"[0-9]+ (?:for|with|in) (?:the )?{_A_FORMAT}[,;]?(?: and| or)? (?:of )?"
    rf"[0-9]+ (?:for|with|in) (?:the )?{_A_FORMAT}(?![A-Za-z0-9])"
    r"|(?:\b(?:no|not|without|w/o|never)\s+(?:in\s+|using\s+|with\s+|yet\s+)?"
    r"|(?:不用|未使用|没有使用|未开启|未启用)\s*)"
    rf"{NUMBER_FORMAT}(?![A-Za-z0-9])"
    r"|[\w./-]+\.(?:sh|py|ya?ml|json|sbatch|slurm|toml|log)\b"
    rf"|(?<![A-Za-z0-9]){NUMBER_FORMAT}\s*(?:(?:は|を|も)?\s*"
    r"(?:使って(?:い)?ません|使わ|使用し?て?(?:い)?(?:ません|ない|せず)|無効|オフ)"
    r"|(?:未使用|未开启|未启用|没有|关闭)"
    r"|\s(?:is|was|were|are)\s+(?:not|never|off|disabled)\b"
    r"|[\"']?\s?[=:]\s?[\"']?(?:0|false|off|none)\b"
    rf"|[ -](?:accum\w*|acc\b|master|peak|{_BESIDE_PRODUCTS}|outputs?\b(?! tokens)))"
    r"|\b(?:peak|theoretical|nominal)(?: performance)?[ _]+(?:in |of |at |dense )?"
    rf"\(?{NUMBER_FORMAT}"
    rf"|\b(?:accum\w*|{_BESIDE_PRODUCTS}"
    r"|output(?! tokens)(?:s|[ _]d?type|[ _]format)?|out_d?type)"
    r"(?:\s*[:=]\s*|(?:\s+(?:is|are|stays?|remains?|always|kept|done|in|as|to)){1,3}\s+|\s+)"
    rf"`?(?:torch\.)?{NUMBER_FORMAT}(?![A-Za-z0-9])",
    re.IGNORECASE,
)
"""A number format that nothing was run in, `FP8 は使っていません`, `FP8=0`, or that of sums and
outputs."""


def names_format(text: str) -> bool:
    """Whether a line names a number format that something was run in, or several."""
    return (
        _TITLE_DTYPE.search(text) is not None
        and _TITLE_DTYPE.search(_UNUSED.sub(" ", text)) is not None
    )


_IN_ONE_NODE = re.compile(r"\bintra[- ]node\b", re.IGNORECASE)

_BETWEEN_NODES = re.compile(r"\b(?:inter|multi|cross)[- ]nodes?\b", re.IGNORECASE)


_BOX = deferred(rf"[DH]GX[^()]{{0,24}}\(([0-9]{{1,2}}) ?[x×] ?{SIGN}[^()]{{0,40}}\)")
"""The devices of a machine, in brackets behind its name: `multi-node: DGX A100 (8x A100 80GB)`."""


_ONE_BOX = deferred(
    r"\b(?:an?|one|(?:a )?single|our|my|1) ([0-9]{1,2})-(?:GPU|card|NPU|chip|accelerator|GCD|way)"
    r" (?:[A-Z][\w-]* )?(?:node|server|machine|VM|instance|host|box|workstation|rig)\b"
)
"""One machine by how many devices it has: `on one 8-card server`."""


_IN_DIES = re.compile(r"[0-9] ?[x×]? ?MI250X?(?: ?\(|, )([0-9]{1,6}) GCDs?\)")
"""Modules, and in brackets what programs count on them: `128 MI250X (256 GCDs)`."""


@lru_cache(maxsize=REMEMBERED)  # every table asks the lines above it, which tables share
def counted_devices(text: str) -> str | None:
    """How many devices a line names (`8×H100`), if it is one number.

    Beside a number of nodes it is of all of them only where one node cannot hold so many, or where
    there is but one.

    >>> counted_devices("Llama on 8x H100"), counted_devices("2 nodes of 8xH100")
    ('8', None)
    >>> counted_devices("8 nodes, 64x H100"), counted_devices("on 1 node, 8x H100")
    ('64', '8')
    >>> counted_devices("one node of eight MI300X"), counted_devices("eight H100s and 16x H100")
    ('8', None)
    >>> counted_devices("4x A100, intra-node"), counted_devices("8x H100, intra- and inter-node")
    ('4', None)
    >>> counted_devices("### NVIDIA A100 * 8 (80GB)"), counted_devices("A100 x 2 nodes")
    ('8', None)
    >>> counted_devices("H100 80GB × 8 / ノード"), counted_devices("A100 x 8 per server")
    (None, None)
    """
    if "GCD" in text and (dies := _IN_DIES.search(text)):
        return dies[1]
    text = _IN_WORDS.sub(lambda found: _DIGITS[found[1].casefold()], signed(in_english(text).text))
    text = BOUNDED.sub(" ", text)
    text = text if _BETWEEN_NODES.search(text) else _IN_ONE_NODE.sub("1 node", text)
    count = _one_count(_TITLE_COUNT, text) or _one_count(_COUNT_BEHIND, text)
    if count is None or not _NODES.search(text):
        each = count is not None and int(count.replace(",", "")) <= LARGEST_NODE
        of_several = _SEVERAL_HOSTS.search(text) or _OF_A_HOST.search(text)
        return None if each and of_several else count
    nodes = _one_count(_COUNTED_NODES, text)
    if nodes is None or (_IN_EACH.search(text) and nodes not in ("1", "one", "single")):
        return None
    whole = int(count.replace(",", ""))
    if not nodes[0].isdigit() or nodes == "1":
        return count
    many = int(nodes.replace(",", ""))
    return count if whole > LARGEST_NODE and whole % many == 0 else None


def counted_before_name(text: str) -> str | None:
    """How many devices a label of a side counts before their name, with or without a sign.

    >>> counted_before_name("ours, 2 T4"), counted_before_name("T4"), counted_before_name("8xH100")
    ('2', None, '8')
    """
    return _only_one(_BEFORE_NAME, signed(text))


_BEFORE_NAME = deferred(rf"(?<![\w.,/-])(?<![0-9] [x×] )([0-9]{{1,5}}) ?[x×]? ?(?={SIGN})")


def _named_count(text: str) -> str | None:
    """How many devices a text counts before their name, but for those of each of its machines.

    >>> _named_count("on 16 nodes, 128 A100 GPUs"), _named_count("each node has 8 NVIDIA H100 GPUs")
    ('128', None)
    """
    count = _one_count(_COUNTED, BOUNDED.sub(" ", signed(text)))
    if count is None or not _MACHINES.search(text):
        return count
    alone = _one_count(_COUNTED_NODES, text) in ("1", "one", "single")
    return count if alone or int(count.replace(",", "")) > LARGEST_NODE else None


_MACHINES = deferred(r"\b(?:nodes?|hosts?|servers?|machines?|instances?)\b", re.IGNORECASE)


def counted_nodes(text: str) -> str | None:
    """How many nodes a text counts, in digits.

    >>> counted_nodes("2 nodes, 16x H100"), counted_nodes("H100 nodes"), counted_nodes("one node")
    ('2', None, '1')
    """
    nodes = _one_count(_COUNTED_NODES, text)
    if nodes is None:
        return None
    return nodes.replace(",", "") if nodes[0].isdigit() else "1"


def settings_named(text: str) -> dict[str, str]:
    """Lengths and batches that a title or a caption says, each once and with one number.

    >>> settings_named("30B decoder, global batch 1024, sequence length 2048, bf16")
    {'seq_len': '2048', 'global_batch': '1024'}
    >>> settings_named("sequence length 2048 and 4096"), settings_named("seq 2048 against seq 4096")
    ({}, {})

    A command is no caption: what it says is said of its section.
    """
    if " --" in text or not _DIGIT.search(text) or EACH_ITS_OWN.search(text):
        return {}
    text = in_english(text).text
    if _OF_NO_TRAINING.search(text):
        text = _OF_NO_TRAINING.sub(" ", text)
    plain, low = signed(text), text.casefold()
    found = {
        name: _only_one(_SETTINGS[name], plain)
        for name, words in _OF_SETTINGS.items() if any(map(low.__contains__, words))
    }  # fmt: skip
    return {name: _whole(value.replace(",", "")) for name, value in found.items() if value}


EACH_ITS_OWN = re.compile(
    r"[0-9]B\b[^.;:|]{0,40}?\b(?:at|with|on|in|use[sd]?)\b[^.;:|,]{0,30}?[0-9][^.;:|]{0,30}?(?:,|\band\b)"
    r"[^.;:|]{0,40}?[0-9]B\b[^.;:|]{0,20}?\b(?:at|with|on|in|use[sd]?) (?:\w+ ){0,2}[0-9]"
)
"""Words of a line that gives models numbers of their own: `7B runs at seq 4096, 13B at 2048`."""

_OF_NO_TRAINING = re.compile(
    r"\b(?:evaluat(?:e[sd]?|ing|ion)|validat(?:e[sd]?|ing|ion)|inference|serving|decoding)\b"
    r"(?: ?\([^()]{1,60}\))?[^,;.|()]{0,60}",
    re.IGNORECASE,
)
"""Words of a caption on what is not trained: `evaluation with a batch of 64`."""


def _whole(number: str) -> str:
    """A number without its sign of counting: `8k` tokens are 8192."""
    return str(1024 * int(number[:-1])) if number[-1:] in "kK" else number


@lru_cache(maxsize=REMEMBERED)
def devices_in_all(text: str) -> str | None:
    """How many devices a text without a number of nodes names, whatever they are.

    >>> devices_in_all("All runs use 8 GPUs and bf16."), devices_in_all("8 GPUs per node")
    ('8', None)
    >>> devices_in_all("on one node of 8 GPUs"), devices_in_all("on a single node (8 GPUs)")
    ('8', '8')
    """
    text = BOUNDED.sub(" ", in_english(text).text)
    if not _NODES.search(text):
        return _one_count(_WORKERS, signed(text))  # no number of a name: `on Gaudi 2 cards`
    nodes = {match[1].casefold() for match in _COUNTED_NODES.finditer(text)}
    alone = bool(nodes) and nodes <= {"1", "one", "single"}
    return _one_count(_OF_A_NODE, signed(text)) if alone else None


def _only_one(pattern: re.Pattern[str], text: str) -> str | None:
    found = {match[match.lastindex or 0].casefold(): match for match in pattern.finditer(text)}
    if len(found) != 1:
        return None
    match = next(iter(found.values()))
    return match[match.lastindex or 0]


def _one_count(pattern: re.Pattern[str], text: str) -> str | None:
    """The one number of devices that a text says; none that is the name of a card, and none of a
    list of them.

    >>> [counted_devices(text) for text in ("on 4, 8x A100", "1/2/4x A100", "batch 64, 4x A100")]
    [None, None, '4']
    """
    found = {match[match.lastindex or 0].casefold(): match for match in pattern.finditer(text)}
    if len(found) != 1:
        return None
    ((count, match),) = found.items()
    begin = match.start(match.lastindex or 0)
    if names_card(count) or len(count) > MOST_DIGITS:
        return None
    return None if _IN_A_LIST.search(text, max(0, begin - 40), begin) else count


_IN_A_LIST = deferred(
    r"(?:\b(?:on|across|over|using|with)\s"
    r"(?:[0-9][0-9,]{0,6}\s?(?:,|,? ?(?:and|or|to)\b|/|→|->|–)\s?){1,8}"
    r"|(?<![\w.,/])(?:[0-9][0-9,]{0,6}\s?(?:/|\bor\b|→|->)\s?){1,8})$"
)
"""In front of the last number of a list: `on 4, 8 and `, `1/2/`."""


def model_named(text: str) -> str | None:
    """The model that a line names by its name and size, if it is one.

    >>> model_named("### Llama 3.1 8B training"), model_named("Qwen3-30B-A3B MOE")
    ('Llama 3.1 8B', 'Qwen3-30B-A3B')
    >>> model_named("### GPT-J 6B on TPU v4-32 with EasyLM")
    'GPT-J 6B'
    >>> model_named("Llama 2 7B and Llama 2 13B"), model_named("bf16 on Ascend 910B")
    (None, None)
    >>> model_named("Llama 3.1 8B, 70B and 405B"), model_named("Llama 3.1 8B and bf16")
    (None, 'Llama 3.1 8B')
    >>> model_named("I'm training a 13B llama on A100"), model_named("a 33B GPT (60 layers)")
    ('13B llama', '33B GPT')
    >>> model_named("GPT-3 2.7B needs checkpointing. Numbers for 1.3B below")
    >>> model_named("GPT-2 XL (1.5B, 48 layers) on V100"), model_named("ViT-L/16 and ResNet-50")
    ('GPT-2 XL', None)
    """
    sized = _SIZE.search(text) is not None
    if not sized and not _MAY_BE_PUBLIC.search(text.casefold()):
        return None
    plain = signed(text)
    found = _only_one(_NAMED_MODEL, plain) if sized else None
    found = found or (_only_one(_SIZED_FAMILY, plain) if sized else None)
    if found is None and _MAY_BE_PUBLIC.search(text.casefold()):
        found = _only_one(_PUBLIC, plain)
        plain = _ITS_SIZE.sub("", plain) if found else plain
        plain = _OF_PARAMETERS.sub("", plain) if found else plain
    if found is None or not sized:
        return found
    own = found.replace(" ", "").casefold()
    for size in _OTHER_SIZE.finditer(plain):
        said = size[0].replace(" ", "")
        counted = _COUNTS_PARAMETERS.match(plain, size.end()) is not None
        if said.casefold() not in own and not (counted and rounds_to(found, said)):
            return None
    return found


_COUNTS_PARAMETERS = deferred(
    r" ?(?:total )?(?:param(?:eter)?s|weights)\b(?! for\b)", re.IGNORECASE
)


def rounds_to(model: str, size: str) -> bool:
    """Whether a model may have as many parameters as a text says, by the size in its name: that is
    rounded, and experts share what is no expert's.

    >>> rounds_to("Wren-3B", "2.8B"), rounds_to("Wren-8x7B", "46.7B"), rounds_to("Wren-7B", "13B")
    (True, True, False)
    """
    if (experts := EXPERTS_OF.search(model)) and size[-1].upper() == "B":
        whole = int(experts[1]) * float(experts[2])
        return _LEAST_OF_EXPERTS * whole <= float(size[:-1]) <= whole
    named = [each.replace(" ", "") for each in SIZED.findall(model)]
    return len(named) == 1 and not differs(_sized(named[0]), _sized(size))


EXPERTS_OF = deferred(
    r"(?<![A-Za-z0-9.])([0-9]{1,3})x([0-9]{1,3}(?:\.[0-9]{1,2})?)[Bb](?![A-Za-z0-9])"
)
"""Experts in the name of a model, and the size of the model that each is of: `8x7B`."""

_LEAST_OF_EXPERTS = 0.6
"""Of as many models as there are experts, how much the one that they share has at least."""


_OF_PARAMETERS = deferred(
    r"(?:,|\b(?:with|of|having|has)) (?:about )?[0-9.]+ ?(?:[BMT]|billion"
    r"|million)(?: parameters| params)"
)
"""How many parameters a model has, behind its name: `GPT-2 with 1.5B parameters`."""

_SIZE = re.compile("[0-9][BMTbm]")
"""In every text with a size of a model in it: most lines have none, which costs little to see."""

_OTHER_SIZE = deferred(
    r"(?<![\w.-])[0-9]+(?:\.[0-9]+)?[ ]?[BT](?![\w-])"
    rf"(?!\s*(?:{TOKENS}|(?:param(?:eter)?s?\s+)?activ(?:e|ated)\b))"
)
"""Sizes in a text that names a model: another one than its own is of another model."""


_FAMILY = deferred(
    rf"[\s#*\d.]*?((?!(?:{_NO_NAMES})\b)[A-Z][A-Za-z]*[-_ ]?[0-9][0-9.]*|BERT|GPT|LL[Aa]MA|Llama|"
    r"OPT|BLOOM|Falcon|Mistral|Mixtral|Gemma|Phi|Qwen|DeepSeek|Pythia|MPT|Nemotron|Granite|OLMo)"
    r"(?:[- ](?:models?|family|series|pre-?training|training|results))?[\s*:]*"
)


def family_named(text: str) -> str | None:
    """The family of models that is all a heading names; rows below it print their sizes.

    >>> family_named("### GPT-3"), family_named("## Llama 2 models"), family_named("## Table 2")
    ('GPT-3', 'Llama 2', None)
    >>> family_named("### H100"), family_named("### GPT-3 175B"), family_named("# Float8")
    (None, None, None)
    """
    found = _FAMILY.fullmatch(text)
    if found is None or devices(text) or names_format(text) or _NO_FAMILY.match(found[1]):
        return None
    return found[1]


_PUBLIC_FAMILY = (
    r"(?:BERT|GPT|LL[Aa]MA|Llama|OPT|BLOOM|Falcon|Mistral|Mixtral|Gemma|Phi|Qwen|DeepSeek|Pythia"
    r"|MPT|Nemotron|Granite|OLMo|m?T5|ViT|DiT|Mamba)(?:[- ]?[0-9](?:\.[0-9])?)?"
)

_FAMILY_FIRST = deferred(
    r"[\s#*\d.]*?(?:(?:[A-Za-z][a-z-]{2,12} ){0,2}?(?i:(?:pre-?)?training|fine-?tuning|SFT|scaling"
    r"|throughput|performance|speed)(?: (?:of|for))?(?: (?:the|our))? )?"
    rf"({_PUBLIC_FAMILY})"
    r"(?:[- ](?:style )?(?:models?|family|series|pre-?training|training|fine-?tuning|results|runs"
    r"|scaling|sizes))*\s*"
    r"(?:[,:(]|\b(?:on|with|in|using|over|at)\b|$)(?P<rest>.*)"
)


def family_first(text: str) -> str | None:
    """The family of public models that a heading begins with, on what or with what it ran behind
    it; rows below it print their sizes.

    >>> family_first("### Llama-2 pre-training on H100"), family_first("## GPT-3, 8 nodes")
    ('Llama-2', 'GPT-3')
    >>> family_first("# Continued pretraining of Qwen2.5 (8x H200)")
    'Qwen2.5'
    >>> family_first("## GPT-3 with 7B experts"), family_first("## T5 (and BERT)")
    (None, None)
    """
    found = _FAMILY_FIRST.fullmatch(text) if len(text) <= LONGEST_TITLE else None
    rest = found["rest"] if found else ""
    other = SIZED.search(rest) or re.search(rf"\b{_PUBLIC_FAMILY}\b", rest)
    return found[1] if found and not other else None


_OF_PAGE = deferred(
    r"\s*# [^A-Za-z]{0,6}?(?P<lead>(?i:(?:(?:my|our|some|the) )?"
    r"(?:(?:benchmark(?:s|ing)?|experiments|results|notes|performance|throughput|speeds?|scaling"
    r"|(?:(?:pre-?)?train|fine-?tun)ing)(?: (?:of|for|on|with))?(?: (?:an?|the))? ){1,3})?)"
    r"(?:(?:OneFlow|LiBai|Megatron(?:-(?:LM|DeepSpeed|Core))?|DeepSpeed|NeMo|Colossal-?AI|Paddle(?:NLP)?"
    r"|MindSpeed|MindSpore|[Tt]orch[Tt]itan|MaxText|PyTorch|JAX|TensorFlow|Horovod|Alpa|FSDP|fairseq"
    r"|Hugging ?Face|HF|Composer|NVIDIA|AMD|Intel)(?:['’]s)? )?"
    rf"(?P<family>{_PUBLIC_FAMILY})"
    r"(?P<what>(?:[- ](?i:(?:pre-?)?train(?:ing)?|fine-?tuning|tuning|models?|runs|speeds?"
    r"|experiments?|benchmarks?|results|numbers|notes|performance|throughput|measurements|scaling"
    r"|study|logs?|sweeps?|perf|tests?)(?![\w-]))*)\s*"
    r"(?:[,:(–—]|(?<= )-(?= )|\b(?:on|with|in|using|at|for)\b|$)(?P<rest>.*)"
)


def family_of_page(text: str) -> str | None:
    """The family of public models whose runs a document is of, by its title.

    >>> family_of_page("# GPT2 Experiments on A100"), family_of_page("# Mixtral on H200")
    ('GPT2', 'Mixtral')
    >>> family_of_page("# OneFlow GPT Pretrain Performance Benchmark")
    'GPT'
    >>> family_of_page("# LLaMA-Factory benchmarks"), family_of_page("# GPT-2 vs. T5 on A100")
    (None, None)
    >>> family_of_page("# Llama on our cloud")  # whatever is said of it there
    """
    found = _OF_PAGE.fullmatch(text) if len(text) <= LONGEST_TITLE else None
    if found is None or SIZED.search(found["rest"]) or families_in(found["rest"]):
        return None
    of_runs = found["lead"] or found["what"] or devices(found["rest"]) or not found["rest"]
    return found["family"] if of_runs else None


def families_in(text: str) -> set[str]:
    """The families of public models that a text names, in whatever name, without their signs.

    >>> sorted(families_in("see gpt2-a100 and GPT-3, not llama.cpp"))
    ['gpt2', 'gpt3', 'llama']
    """
    return {re.sub("[- ]", "", each[0]).casefold() for each in _A_FAMILY.finditer(text)}


_A_FAMILY = deferred(
    rf"(?<![A-Za-z0-9])(?:{_PUBLIC_FAMILY}|(?i:{_PUBLIC_FAMILY})(?<!\b[Oo]pt)|Gemini|CLIP|SAM|PaLM"
    r"|(?i:roberta|bart|whisper|yi|internlm|chatglm|glm|baichuan|kimi|grok|swin|vicuna|alpaca))"
    r"(?![A-Za-z])"
)


def size_of_heading(text: str) -> str | None:
    """The size of a model that is all a heading names, below one that names the family perhaps.

    >>> size_of_heading("### 14B model:"), size_of_heading("### 14B tokens")
    ('14B', None)
    """
    found = _SIZE_OF_HEADING.fullmatch(text)
    return found[1] if found else None


_SIZE_OF_HEADING = deferred(
    r"\s*#{1,6} (?:[0-9.]{1,6} )?([0-9]{1,4}(?:\.[0-9]{1,2})?[BM])"
    r"(?: (?:models?|parameters|params))?(?: \([^()BM]{1,60}\))?[\s:#]*"
)


def family_of_sizes(label: str) -> str | None:
    """The family of public models whose sizes a column holds by its label.

    >>> family_of_sizes("GPT size"), family_of_sizes("Model size"), family_of_sizes("Batch size")
    ('GPT', None, None)
    """
    found = _SIZES_OF_FAMILY.fullmatch(label) if len(label) <= LONGEST_NAME else None
    return found[1] if found else None


_SIZES_OF_FAMILY = deferred(
    rf"({_PUBLIC_FAMILY})[ -](?:model )?(?:sizes?|params?|parameters|scale|规模|参数量?)"
)


def _named_with_size(text: str) -> str | None:
    """The model that a heading names by its family and, in brackets, its size.

    >>> _named_with_size("## GPT-2 (124M)"), _named_with_size("### Llama 3 (8B) training")
    ('GPT-2 (124M)', 'Llama 3 (8B)')
    >>> _named_with_size("## Layout 2 (7B)"), _named_with_size("GPT-2 (124M) is small")
    (None, None)
    """
    found = _WITH_SIZE.fullmatch(text) if "#" in text and "(" in text else None
    return found[1] if found else None


_WITH_SIZE = deferred(
    r"\s*#{1,6} (?:[0-9.]{1,6} )?((?:BERT|GPT|LL[Aa]MA|Llama|OPT|BLOOM|Falcon|Mistral"
    r"|Mixtral|Gemma|Phi|Qwen|DeepSeek|Pythia|MPT|Nemotron|Granite|OLMo|m?T5|ViT|DiT|Mamba)"
    r"(?:[- ]?[0-9](?:\.[0-9])?)?(?: (?:XL|[Ll]arge|[Mm]edium|[Ss]mall))?"
    r" \([0-9]{1,4}(?:\.[0-9]{1,2})? ?[BM]\))"
    r"(?: (?:pre-?)?(?:training|model|results|benchmarks?|performance|throughput))?[\s:#]*"
)


_NO_FAMILY = deferred(
    r"(?:FSDP|HSDP|DDP|ZeRO|DeepSpeed ?[0-9]|CUDA|Cuda|PyTorch|Torch|ROCm|JAX|Appendix|Set-?up"
    r"|Week|Day|Level|Float|INT|Int|Benchmark|Results?|Scenario|Chapter|Job|Machine|Cluster|GPU|Issue"
    r"|Version|Release|Variant|Option|Test|Trial|Seed|Epoch|Method|Recipe|Example|Note|Update)(?![a-z])"
)
"""Words with a number behind them that are no model: `FSDP2`, `Setup 1`."""


def _place_of(word: str, text: str) -> int:
    """Where a text has a word or a number by itself, or else in another one; 0 where it has none.

    >>> _place_of("4", "Length 2048, micro batch 4")
    25
    """
    alone = re.search(rf"(?<![\w.,]){re.escape(word)}(?![.,]?\w)", text)
    return alone.start() if alone else max(0, text.find(word))


def titled(line: Line) -> dict[str, Cell]:
    """Everything that a heading says of the runs below it, by field."""
    return {
        name: cell._replace(line=line.number, column=line.column + cell.column)
        for name, cell in _said(line.text).items()
    }


def says_of_runs(text: str) -> bool:
    """Whether a heading says anything of the runs below it."""
    return bool(_said(text))


@lru_cache(maxsize=REMEMBERED)  # a line above a table is asked by the table and as a statement
@by_outline
def _said(line: str) -> Mapping[str, Cell]:
    """The same of a line that stands nowhere: columns count from its first letter."""
    text = _without_question(without_some(in_english(line).text))
    said: dict[str, Cell] = {}
    known = devices(text)

    def put(name: str, word: str | None) -> None:
        if word is not None:
            plain = word.replace(",", "") if name == "gpus" else word
            said[name] = Cell(plain, 0, _place_of(word, text))

    if known:  # else nothing that counts or compares devices finds one
        put("gpu", device_named(text))
        if several(text):
            said["gpu"] = Cell(text, 0, 0, state="unknown")
        put("gpus", counted_devices(text) or _named_count(text))
        if "gpus" not in said and _BETWEEN_NODES.search(text):
            put("gpus_per_node", _only_one(_BOX, signed(text)))
        if slices_in(text):  # `2x v6e-256` are 512, and several are no one number
            said.pop("gpus", None)
        if (slices := counted_chips(text)) and said["gpu"].state == "value":
            chips, at, law = slices
            origin: ValueOrigin = "solved" if law else "printed"
            said["gpus"] = Cell(str(chips), 0, at, value_origin=origin, law=law)
    if "gpus" not in said and (cards := counted_cards(text)):
        for name, count in cards.items():
            put(name, count)
        said |= {name: Cell(text, 0, 0, state="unknown") for name in ON_NODES if name not in cards}
    box = None if {"gpus", "gpus_per_node"} & said.keys() else _only_one(_ONE_BOX, text)
    if box is not None and not several(text):
        put("gpus", box)
        put("gpus_per_node", box)
        said["nodes"] = Cell("1", 0, _place_of(box, text))
    put("dtype", format_named(of_products(text)))
    put("zero_stage", _only_one(_ZERO, text))
    for name, word in settings_named(text).items():
        put(name, word)
    put("model", model_named(text) or _named_with_size(text))
    plain = signed(text) if known else text
    alone = "gpus" not in said and _OF_ONE.search(plain) and not _OF_A_NODE.search(plain)
    alone = alone and not (_OF_A_PROCESS.search(plain) or _IN_STEPS.search(plain))
    if alone and (single := _SINGLE.search(plain)):
        said["gpus"] = Cell("1", 0, single.start())
    if known and (dual := _DUAL.search(plain)):
        said["gpus"] = Cell("2", 0, dual.start())
    return said | _size_said(text, said.get("model"), plain)


def _without_question(text: str) -> str:
    """A title without what it asks in the end; nothing of one that asks, and says nothing of
    runs."""
    if not text.rstrip(" *#").endswith("?"):
        return text
    asks = None if _ASKS.match(text) else _ASKS_AFTER.search(text)
    return "" if asks is None or devices(asks[0]) else text[: asks.start()]


_ASKS_AFTER = deferred(r"(?:[,:;] | [–—-] )[A-Za-z' -]{3,60}\?[ *#]*$")
"""A question behind a title, of no number: `GPT-7B on 8 H100s, which tool?`."""

_ASKS = deferred(
    r"[\s#*\d.]*(?:is|are|was|do|does|did|can|could|should|would|will|what|which|who|how|why|when"
    r"|where|whether)\b",
    re.IGNORECASE,
)


def _size_said(text: str, model: Cell | None, plain: str) -> dict[str, Cell]:
    """How many parameters a line says that its model has, by the one size in it, or right behind
    the name of the model."""
    if not _SIZE.search(text):
        return {}
    if model is not None:
        behind = _SIZE_BEHIND.match(text, model.column + len(model.text))
        sizes = {behind.groups(): behind} if behind else {}
    else:
        plain = _EXCEPTION.sub(lambda found: " " * len(found[0]), plain)
        ahead = _SIZE_AHEAD.match(plain)
        sizes = {match.groups(): match for match in _SIZED.finditer(plain)}
        sizes = sizes or ({ahead.groups(): ahead} if ahead else {})
        sizes = sizes or {match.groups(): match for match in _SIZE_ON.finditer(plain)}
    if len(sizes) != 1 or (model is None and _OF_EXPERTS.search(plain)):
        return {}
    size = next(iter(sizes.values()))
    cell = Cell(size[1], 0, size.start(1), SUFFIXES[size[2]], "nominal")
    return {"model_size": cell}


_SIZE_BEHIND = deferred(r"\s*\(~?([0-9]+(?:\.[0-9]+)?) ?([BM])(?: param\w*)?(?=[),;])")
"""How many parameters a model has, right behind its name: `GPT-2 medium (355M)`."""

ON_NODES = ("gpus", "nodes")

OF_DEVICES = ("gpu", "gpus", "gpus_per_node", "nodes")
"""Fields that say on what a run ran: of other devices than its heading names they are not of it."""


OF_A_RUN = ("tp", "pp", "dp", "cp", "ep", "vp", "micro_batch", "batch_size", "accumulation",
            "global_batch", "global_batch_tokens", "zero_stage")  # fmt: skip
"""Fields that are chosen for the machines of a run: on others they are other ones."""


_OF_REFERENCE = re.compile(
    r"\W*(?:(?:the )?reference|baseline|参考|参照|基线|基準)(?: ?(?:devices?|GPUs?|cards?))?\W*",
    re.IGNORECASE,
)
"""Words for what a row ran on beside the devices that its document is about, whatever it was."""


def of_its_devices(values: Mapping[str, Cell], own: Mapping[str, Cell]) -> Mapping[str, Cell]:
    """Values without those of devices that a line counts where it names another than a row's:
    `4x A100` says nothing of how many H100 there were, nor `one node (8 GPUs)` on how many nodes 16
    GPUs stood."""
    nodes, gpus, mine = values.get("nodes"), values.get("gpus"), own.get("gpus")
    if nodes and gpus and mine and nodes.line == gpus.line and mine.state == "value":
        many = _amount(gpus), _amount(mine)
        some = _amount(nodes) == 1 and (many[1] or 0) < (many[0] or 0)  # of those of one node
        if None not in many and many[0] != many[1] and not some:
            values = {name: cell for name, cell in values.items() if name != "nodes"}
    other = line_of_other(values.get("gpu"), own.get("gpu"))
    said, mine = values.get("gpu"), own.get("gpu")
    unknown = mine is not None and mine.state == "unknown"
    if said and mine and unknown and _OF_REFERENCE.fullmatch(mine.text):
        other = said.line
    if not other:
        return values
    return {
        name: cell
        for name, cell in values.items()
        if not (cell.line == other and name in OF_DEVICES)
    }


def of_another_run(said: Mapping[str, Cell], own: Mapping[str, Cell]) -> bool:
    """Whether a line names other devices than those of a row, or counts others of them: it says
    nothing of how that run was shared among them."""
    gpus, mine = said.get("gpus"), own.get("gpus")
    if gpus is not None and mine is not None and gpus.line != mine.line:
        counts = _amount(gpus), _amount(mine)
        if None not in counts and counts[0] != counts[1]:
            return True
    return line_of_other(said.get("gpu"), own.get("gpu")) != 0


def line_of_other(said: Cell | None, own: Cell | None) -> int:
    """The line that names another device than the row's; 0 where none does."""
    if said is None or own is None or not several(f"{said.text}; {own.text}"):
        return 0
    theirs, mine = ({each.key for each in devices(cell.text)} for cell in (said, own))
    return said.line if theirs and mine and not theirs & mine else 0
