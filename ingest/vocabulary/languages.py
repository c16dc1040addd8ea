"""Settings of runs in other languages than English, in English words.

In: a text. Out: the same in the words that the forms of sentences know, and where each of its
letters stood. Only what names a setting, a machine or a count is put into English, in the order of
English: `размер батча на одну карту — 4` is `batch size per GPU = 4`. What stands around it stays:
who reads it asks for settings, and not for prose. The words are in `languages.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from importlib.resources import files
from typing import Any, NamedTuple

from assay.ingest.expressions.compiled import compiled


class Plain(NamedTuple):
    """A text in English words, and the place of each of its letters in the original."""

    text: str
    places: Sequence[int]

    def place(self, at: int) -> int:
        """Where the letter at a place stands in the original."""
        return self.places[at] if at < len(self.places) else (self.places or [0])[-1]


SIMPLE = str.maketrans(
    "顯記憶體節點數時間訓練單張圖樣層參並線維總設備積計長詞處機臺規錄損佔準與隱頭專選擇關閉啟開無態資級類動權優狀彙當"
    "啓鍵嵌蓋轉換編碼輸陣務環檢階虛擬統級續",
    "显记忆体节点数时间训练单张图样层参并线维总设备积计长词处机台规录损占准与隐头专选择关闭启开无态资级类动权优状汇当"
    "启键嵌盖转换编码输阵务环检阶虚拟统级续",
)
"""Letters of Chinese that are written otherwise in Taiwan and Hong Kong."""

_HAN_BUT_FOR = re.compile(
    "(?:(?<=[^，。；,;])|[,，] ?)(?:除非?|如无|若无)了?(?:有?特[别殊]|另有|另外|额外)"
    "(?:说明|注明|标注|指明|声明)"
    "的?(?:之?外)?(?=[均都固一默为是设])"
)
"""Words that leave a setting as it is: `序列长度除特别说明外均为 2048`."""

_HAN_NUMBER = re.compile(
    r"(?<![0-9一二两三四五六七八九十百])([一二两三四五六七八九十]{1,3})(?=\s?(?:[卡张块台机路层枚基]|个?节点|個))"
)

_HAN = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

_WORDED = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "sixteen": 16, "twenty": 20, "twenty-four": 24, "thirty-two": 32,
    "forty": 40, "forty-eight": 48, "sixty-four": 64, "ninety-six": 96,
}  # fmt: skip

_WORDED_NUMBER = re.compile(
    rf"(?<![\w-])({'|'.join(sorted(_WORDED, reverse=True))})"
    r"(?= (?:[GNTHX]PU|GCD|accelerator|device|card|chip|node|server|machine|host)s\b)"
)
"""A number of machines or of devices in English: `sixteen GPUs`; none of a title, `Two nodes`."""

_POWER = re.compile(
    r"(?<![\w.×*^])\$?2 ?(?:\^|\*\*) ?\{?([1-9]|[12][0-9]|3[0-4])\}?\$?"
    r"(?= (?:tok(?:en)?s?|sequences?|samples?)\b)"
)
"""A number of tokens, or of sequences, as a power of two: `$2^{22}$ tokens`, `2**9 samples`."""

_OF_TWO = ("2^", "2 ^", "2**", "2 **")

_WITH_POINTS = re.compile(
    r"((?:\b(?:sequence|context) length|\bbatch(?: size)?)(?::| =| of| is)? )"
    r"([1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?!\w|[.,][0-9])",
    re.IGNORECASE,
)
"""A length or a batch whose thousands a point sets apart, in a text that is not in English."""

_GROUPS = re.compile(
    r"(?<![\w'’.,])([1-9][0-9]{0,2}(?:(?:['’][0-9]{3})+|(?:[\u00a0\u2009\u202f][0-9]{3})+))"
    r"(?![0-9'’]|[.,][0-9])"
)
"""A whole number in groups of three that an apostrophe or a blank that keeps them together sets
apart: `1'024 sequences`."""

_MACHINES = re.compile(
    r"(?<![\w.,])[0-9]{1,9}(?:,[0-9]{1,6}){1,8}(?= ?(?:[x×*] ?[A-Z]|[A-Z][A-Za-z]{0,7}[0-9]"
    r"|[台张机卡]|(?:[GNTHIX]PU|node|GCD|card)s?\b))"
)
"""Numbers with commas between them in front of machines: `2048,8 x A100`, `1,024 GPUs`."""

_NO_GROUP = re.compile(r",(?![0-9]{3}(?![0-9]))|(?<=[0-9]{4}),")
"""A comma that sets no group of three digits apart."""

_BLANKS = re.compile(" {2,}")

_HAS_HAN = re.compile("[\u4e00-\u9fff]")

_HAS_KANA = re.compile("[\u3040-\u30ff]")

_HAS_HANGUL = re.compile("[\uac00-\ud7a3]")

_HAS_EUROPEAN = re.compile(
    r"nœud|knoten|batch-?grö|losgröße|séquence|sequenz|kontextlänge|gradientenakk|akkumulation|läufe|messungen"
    r"|accumul(?:ation d|o d)|[0-9] go\b|chaque (?:nœud|serveur|mach)"
    r"|jede[rs]? (?:server|rechner|masch)"
    r"|verteilte|optimi[sz]ad?[oe]u?r distrib|ottimizzatore|zu je"
    r"|(?:keine|weder|ohne) (?:tensor|pipeline|modell)"
    r"|(?:auf den|sur les|en l[ao]s|nos|nas) (?:anderen|übrigen|autres|otr|outr)"
    r"|cada (?:nó|nodo|servidor|máq)|ogni (?:nodo|server|macch)"
    r"|les (?:mesures|runs)|(?:un|une) seule? |(?:par|pro|je|por) (?:gpu|carte|karte|tarjeta)"
    r"|trainiert|neuberechnung|[0-9][ -]?(?:B|Mrd\.?)[ -](?:parametern?\b|modell)"
    r"|entraîn|précision|taille d|tamaño|tamanho|\blotes? |secuencia|entren|longitud|nodos\b"
    r"|\bnós\b"
    r"|camadas|capas\b|couches|treino|treinamos|comprimento|dimensão|una sola|precisión|precisão"
    r"|(?:par|pro|por) (?:placa)|sequência|sequenza|de lote|ejecuciones|mediciones"
    r"|(?:los|os|gli) e[sx]periment|precis(?:ión|ão|ione) mi|por (?:cada )?nodo|acumulaç?[cã]"
    r"|tou(?:te)?s les |allen? (?:Versuch|Experiment|Läuf|Mess|Test)|einer ein|gemischte"
    r"|[Ss]e usaron|tod[oa]s (?:l[oa]s|[oa]s) |tutt[ie] (?:gli|i|le) |precisione"
    r"|einzelne|einzige|attention flash"
    r"|kartach|węzeł|długość|parallel(?:ität|ismus|ismo)|parallélisme|paralelismo|параллелизм|micro-?lot"
    r"|^\W*(?:[0-9.]+ )?mit (?:grad|act)|eine (?:karte|gpu) (?:pro|je)"
    r"|recalcul|akkumul|arbeitet [0-9]|globale[rn]? batch|étape|milli?ard|millones|bilhões"
    r"|aktivierungen|(?:aktivierte|eingeschaltete)[mns] "
    r"|activations (?:ne )?sont|activaciones (?:no )?se|ativações são"
    r"|checkpointing (?:est|ist|war|était|es|está|è|era|a[ck]?t+iv|d[eé]sa|deak)"
    r"|(?:sans|ohne|sin|sem|senza|avec|mit|con|com) (?:gradient|activation)"
    r"|\bгб\b|[а-яё]{4}|auf (?:vier|acht|zwei|[0-9])|sur (?:deux|quatre|huit|[0-9])",
    re.IGNORECASE,
)
"""In every text whose words are read as German, French, Spanish, Portuguese, Italian
or Russian."""

_HAS_MANY_WORDS = re.compile(
    r"\bw/|all o(?:ver|n [bft])|thing(?: \w+)? on [bft]|the board"
    r"|(?:is|was) (?:therefore|thus|hence|always|then|again|so|still|not|never) ?"
    r"|seq\w*\. ?len|\bas (?:in|for) the |\b(?:should|must) (?:be )?[nrk]|\b(?:each"
    r"|every)\b.{0,12}"
    r"(?:ing|ed with) |redundancy|zero,? (?:at|in|of|its|the|[fst])|micro-?batch"
    r"|[a-z] [a-z] ?= ?[0-9]"
    r"|[0-9][kK]? as |P and [TPDCE]P|\bTP (?:with|in|on)|mesh \(|[0-9] ranks|-node |pipeline "
    r"|[0-9] K |-N ?[0-9]|[sd]/(?:node|host)|[0-9] (?:[GN]PU|GCD|card|acc|chip)|\bonly\b|closed"
    r"|left out|padd|no pipel|pipelining|there (?:are|were)|consists|built|made|comprises|offers"
    r"|[a-z0-9] each\b|arithm|math|computation|not in use|avoided|skipped"
    r"|activations (?:are|were|check)|gradients check|batch of|\bpure"
    r"|s? (?:is|are|was|were) (?:re-?comp|check|re-?mat)|% (?:[a-z]+er )?(?:in|with|at|for) "
    r"|^\W*(?:[0-9.]+ )?with (?:full |sele\w* )?(?:grad|act)"
    r"|(?:one|single) (?:card|gpu|device) (?:per|for|in)"
    r"|per s\w* and |fsdp2? (?:as|als|\()"
    r"|there (?:is|was)"
    r"|neither|of (?:them|these)|tensor width|\bb(?:s|sz|atch(?:[ _]size)?) ?[=:] ?[0-9]+ ?\("
    r"|whole-|single (?:[cGdac]\w+s)\b|(?:one|single|1) (?:full|whole|complete|entire) "
    r"|torch\.[bf]|recompute-act|--(?:amp|pre|dty)|tiles|16 weights|\b(?-i:AC|SP)\b|\.{4}"
    r"|ckpt|checkpoint"
    r"|remat_"
    r"|zero(?: (?:is|was|one"
    r"|two|three|\(?o[123])|-dp|:)"
    r"|\(nodes?\)|=dict|dict\(|data\.train_"
    r"|/(?:dev|gpu|card)|single-GPU|recompute (?:is|was)|everything (?:is |was )?re|attn_impl|\(="
    r"|[0-9][x×][TPDCE]P[0-9]|\bseq[0-9]|, which |lone |nothing |left off|[0-9]-(?:[GN]PU"
    r"|chip|GCD) |[x×] ?GPU"
    r"|AMP d|checkpointing (?:of|for|all|every|on|off|is|was|en|dis)"
    r"|tion of (?:all|every|each)|mixed.precision|stage|contribut|GPUs of |\((?:t|p), ?"
    r"|[PSB]S?\) |in (?:one|a single|the same) [bwmsPdhr]|tokens of context|accumulation (?:or|and)"
    r"|['’](?:t|ve)\b|cannot|can not|\bnot\b|\bnever\b|turn|switch|disable|skip|avoid|omit|has been"
    r"|\bre-|check-|rematerialis|\b(?:bf|fp)-|ecomput(?:e|ing)|adients|ZeRO-I"
    r"|optimi[sz](?:er|ation),? |over [0-9]"
    r"|parallelism (?:with|at)|[0-9] dev|(?:per|each|every|single)[ -](?:acc|card|dev)"
    r"|update freq|[0-9] custom |\(.?(?:full|sel|none|no|off|on|partial|block)\b"
    r"|(?:card|GPU|device|chip) (?:only|at a|each time)|\(mbs\)"
    r"|pointing (?:is )?on \(| per (?:system|box|cha)|amp_[bf]|[,;] SL ?=? ?[0-9]",
    re.IGNORECASE,
)
"""In every text in which an expression of more words, or of other ones, is put in those of"
" forms."""

_HAS_MARKS = re.compile(r"[*`\\]|(?<!\w)_|&(?:times|#215|#xd7);")


@lru_cache(maxsize=65_536)  # a line is asked by all who look for what it says
def in_english(text: str) -> Plain:
    """A text with its words of settings in English, without signs of emphasis, and with its powers
    of two as numbers.

    >>> in_english("**размер батча на одну карту** — 4").text
    'batch size per GPU = 4'
    >>> in_english("两机十六卡 H800").text, in_english("2 nós com 8 V100 cada").text
    ('2机16卡 H800', '2 nodes with 8 V100 each')
    >>> in_english("every step takes $2^{22}$ tokens").text
    'every step takes 4194304 tokens'
    >>> in_english("global batch 1'024 of 4'096 tokens, 12'5 and 5'120.5").text
    "global batch 1024 of 4096 tokens, 12'5 and 5'120.5"
    >>> in_english("Kontextlänge 4.096, Schrittzeit 1.024 s").text
    'sequence length 4096, Schrittzeit 1.024 s'
    >>> in_english("seq 2048,8 x A100").text, in_english("1,024 A100").text
    ('seq 2048, 8 x A100', '1,024 A100')
    """
    plain = Plain(text, range(len(text)))
    if any(map(text.__contains__, _OF_TWO)):  # before a power looks like an emphasis
        plain = _replace(plain, _POWER, lambda found: str(2 ** int(found[1])))
    if _GROUPS.search(plain.text):
        plain = _replace(plain, _GROUPS, lambda found: re.sub("[^0-9]", "", found[1]))
    if _HAS_MARKS.search(plain.text):
        plain = _put(plain, "marks")
    if not text.isascii():
        if _HAS_KANA.search(text):
            plain = _put(plain, "japanese")
        elif _HAS_HAN.search(text):
            plain = plain._replace(text=plain.text.translate(SIMPLE))
            plain = _replace(plain, _HAN_BUT_FOR, lambda found: "")
            plain = _put(_replace(plain, _HAN_NUMBER, _in_digits), "chinese")
        if _HAS_HANGUL.search(text):
            plain = _put(plain, "korean")
    if "," in plain.text and _MACHINES.search(plain.text):
        plain = _apart(plain)
    if _WORDED_NUMBER.search(plain.text):
        plain = _replace(plain, _WORDED_NUMBER, lambda found: str(_WORDED[found[1]]))
    if _HAS_MANY_WORDS.search(plain.text):
        plain = _put(plain, "english")
    if _HAS_EUROPEAN.search(text):
        plain = _replace(_put(plain, "european"), _word(), _meant)
        plain = _replace(plain, _WITH_POINTS, lambda found: found[1] + found[2].replace(".", ""))
    return plain if plain.text == text else _replace(plain, _BLANKS, lambda _: " ")


def _apart(plain: Plain) -> Plain:
    """A text with a blank behind each comma between a number and one of machines."""
    cuts = [
        found.start() + comma.end()
        for found in _MACHINES.finditer(plain.text) for comma in _NO_GROUP.finditer(found[0])
    ]  # fmt: skip
    for cut in reversed(cuts):
        text, places = plain
        plain = Plain(f"{text[:cut]} {text[cut:]}", [*places[:cut], places[cut], *places[cut:]])
    return plain


def _in_digits(found: re.Match[str]) -> str:
    """A number below a hundred that is written in Chinese."""
    tens, ten, ones = found[1].rpartition("十") if "十" in found[1] else ("", "", found[1])
    if not ten and len(ones) > 1:
        return found[0]
    many = _HAN.get(tens, 1 if ten else 0) * 10 if ten else 0
    return str(many + _HAN.get(ones, 0))


@cache
def _rules() -> Mapping[str, Sequence[tuple[re.Pattern[str], str]]]:
    """Expressions of each group of languages, and what each means in English."""
    switch = _data()["switch"]
    return {
        group: [
            (compiled(words.replace("<switch>", switch), re.IGNORECASE), meant)
            for words, meant in rules
        ]
        for group, rules in _data().items()
        if group not in ("words", "switch")
    }


@cache
def _data() -> Mapping[str, Any]:
    text = files("assay.ingest.vocabulary").joinpath("languages.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _word() -> re.Pattern[str]:
    """Any of the words that mean the same wherever they stand."""
    return compiled(rf"(?<!\w)(?:{'|'.join(_data()['words'])})(?!\w)", re.IGNORECASE)


def _meant(found: re.Match[str]) -> str:
    return str(_data()["words"].get(found[0].lower(), found[0]))


def _put(plain: Plain, group: str) -> Plain:
    for pattern, meant in _rules()[group]:
        plain = _replace(plain, pattern, partial(_expanded, meant))
    return plain


def _expanded(meant: str, found: re.Match[str]) -> str:
    return found.expand(meant)


def _replace(
    plain: Plain, pattern: re.Pattern[str], meant: Callable[[re.Match[str]], str]
) -> Plain:
    """A text with what an expression finds replaced; numbers keep their places."""
    parts, places, last = list[str](), list[int](), 0
    for found in pattern.finditer(plain.text):
        word = meant(found)
        parts += [plain.text[last : found.start()], word]
        places += plain.places[last : found.start()]
        at = [plain.place(found.start())] * len(word)
        for group, held in enumerate(found.groups(), 1):
            if held and (begin := word.find(held)) >= 0:
                at[begin : begin + len(held)] = plain.places[slice(*found.span(group))]
        places += at
        last = found.end()
    if not parts:
        return plain
    return Plain("".join([*parts, plain.text[last:]]), [*places, *plain.places[last:]])
