"""Headers said in words: `Median TPS/GPU`, `Time per Global Step (s)`, `Params (B)`.

In: the label of a column. Out: the field it fills and the factor to that field's unit, or None. A
label is read only if every word of it is known: one word more (`Peak TFLOPs`, `tokens/s per node`,
`step time p90`) may make it another quantity, and then it is nobody's column. Labels in other
languages are read in English; their words are in `labels.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from assay.ingest.expressions.compiled import compiled
from assay.ingest.numbers.units import unit
from assay.ingest.vocabulary.languages import SIMPLE

TOKENS = {"tok", "toks", "token", "tokens"}

SAMPLES = {"sample", "samples", "seq", "seqs", "sequence", "sequences", "sentence", "sentences",
           "example", "examples", "ex", "sent", "sents", "utt", "utts", "utterance",
           "utterances"}  # fmt: skip

ITEMS = {"image", "images", "img", "imgs", "im", "clip", "clips", "video", "videos", "pairs",
         "graphs", "volumes", "item", "items", "frame", "frames", "mel", "mels", "crops", "patches",
         "mol", "mols", "molecule", "molecules", "proteins", "scenes", "scans", "segment",
         "segments", "windows", "snippets", "spectrograms"}  # fmt: skip
"""Things that are counted a second and are neither tokens nor sequences of them."""

FLOPS = {"flop": 1.0, "flops": 1.0, "gflop": 1e9, "gflops": 1e9, "tflop": 1e12, "tflops": 1e12,
         "pflop": 1e15, "pflops": 1e15, "eflop": 1e18, "eflops": 1e18,
         "mtflops": 1e12, "mtflop": 1e12}  # fmt: skip
"""Words of operations a second; `mTFLOPs` are the model's, beside those of the hardware."""

TIMES = {"s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3, "msec": 1e-3,
         "millisecond": 1e-3, "milliseconds": 1e-3}  # fmt: skip

SECOND = {word for word, scale in TIMES.items() if scale == 1.0}

MILLISECOND = set(TIMES) - SECOND

DAY = {"day", "d"}

HOUR = {"hour", "hours", "hr", "hrs", "h"}

STEP = {"step", "steps", "it", "its", "iter", "iters", "iteration", "iterations", "globalstep",
        "globalsteps"}  # fmt: skip

GPU = {"gcd", "gcds", "gpu", "gpus", "ngpu", "ngpus"}

DEVICE = GPU | {"device", "devices", "chip", "chips", "accelerator", "accelerators", "card",
                "cards", "npu", "npus", "xpu", "xpus", "hpu", "hpus", "dev", "tpu", "tpus",
                "ipu", "ipus",
                "tile", "tiles", "rank", "accel", "accels"}  # fmt: skip

MEMORY = {"mem", "memory", "vram", "hbm", "gram"}

BATCH = {"batch", "bs", "bsz", "batchsize", "minibatch"}

COUNTING = {"#", "no", "num", "number", "count", "of", "used", "total"}

MEDIAN = {"median", "p50"}

MEAN = {"mean", "avg", "average"}

PLAIN = {"steady", "state", "measured", "observed", "training", "train", "the", "e2e", "single",
         "processed", "trained", "student"}  # fmt: skip
"""Words that leave a measured quantity what it is."""

COUNTS = {"k": 1e3, "m": 1e6, "b": 1e9, "thousands": 1e3, "millions": 1e6, "billions": 1e9,
          "thousand": 1e3, "million": 1e6, "billion": 1e9}  # fmt: skip

ALTERS = (
    set(COUNTS) | set(TIMES) | TOKENS | DEVICE | SECOND | {"%"}
    | {"total", "aggregate", "aggregated", "all", "job", "cluster", "global", "sum", "node",
       "nodes", "host", "cpu", "ram", "system", "replica", "user", "std", "stdev", "stddev", "sd",
       "σ", "var", "min", "max", "p90", "p95", "p99", "peak", "theoretical", "ideal", "target",
       "expected", "projected", "estimated", "est", "estimate", "extrapolated", "predicted",
       "simulated", "change", "delta", "δ",
       "diff", "vs", "gain", "speedup", "saved", "reduction", "increase", "improvement", "fwd",
       "bwd", "forward", "backward", "reserved", "active", "t", "relative", "rel", "normalized",
       "normalised", "norm", "log", "thousand"}
)  # fmt: skip
"""Words that, in brackets behind a known label, make it another quantity or another unit."""

_WORD = re.compile(r"[a-zµσδ]+[0-9]*(?:[a-z]+)?|[#/%]|[0-9]+", re.IGNORECASE)

_PER = re.compile(r"(?<![a-z])per(?![a-z])", re.IGNORECASE)

_COUNTED = re.compile(r"(?<![a-z])([km])(?=tok|words|samples|sequences|seqs)", re.IGNORECASE)
"""A sign of counting right before its things: `Ktok/s`."""

_SEQUENCES = re.compile(r"(?<![A-Za-z])S(?=/s(?:ec)?\b)")  # `Throughput (S/s/GPU)`

_KILO_TOKENS = re.compile(r"(?<![A-Za-z])[Kk]t(?= ?/ ?s(?:ec)?\b)")  # Kt/s

_SNAKE = re.compile(
    r"(?<![a-z])(toks?|tokens|samples|seqs|sequences|imgs?|images|its?|steps|iters|iterations)_"
    r"(?:(?:per_)?(gpu|device|chip)_)?(?:per_|pro_|par_)?(s|sec|second)(?:_(?:per_)?(gpu|device|chip))?"
    r"(?![a-z])",
    re.IGNORECASE,
)
"""Names of columns with underscores for strokes: `tok_s_gpu`, `it_s`; `sample_s` may be either way,
and `step_s` is a time beside `step_ms`."""

_OF_BOTH = re.compile(
    r"(?:/|(?<![a-z])per(?![a-z]))\s*(?:\(\s*(?:seconds?|secs?|s)\.?\s*[·⋅*×x -]\s*"
    r"([GNTH]PU|device|card|chip|accelerator)s?\s*\)"
    r"|(\()?\s*([GNTH]PU|device|card|chip|accelerator)s?\s*[·⋅*× -]\s*"
    r"(?:seconds?|secs?|s)(?![a-z/])\.?\s*(?(2)\)))",
    re.IGNORECASE,
)
"""Whose a rate is and in what, as one unit: `samples / GPU sec.`, `tokens/(s·GPU)`."""

_OF_ALL = re.compile(r"[0-9][0-9,]*\s*[x×]?\s*[a-z]+", re.IGNORECASE)  # `(8 GPUs)`

_TOGETHER = re.compile(r"\s(?:all )?(?:together|combined|in total|altogether)$", re.IGNORECASE)
"""Behind the devices of a remark, which it leaves what they are: `(8 GPUs together)`."""

_EVERY = re.compile(r"(?:all|both)\s", re.IGNORECASE)  # `(all devices)`

_RUNNING = {"ranks", "processes", "workers", "gcds", "dies", "nodes", "machines", "hosts"}
"""Things that run on devices, or have several of them: a rate of all of these is of all devices."""

_THE_SUM = {"all", "sum", "summed"}
"""Remarks by which a rate is of all devices: `tok/s (all)`."""

_SUMMED = re.compile(
    r"(?:sum(?:med)?(?: up)?|total(?:led)?|aggregated?|added(?: up)?) (?:over|of|across|for)"
    r" (?:(?:all|the|our|its|of) ){0,3}(?P<of>[a-z]+s|dies)",
    re.IGNORECASE,
)
"""The same with what was added up, which must be devices: `tok/s (sum over GPUs)`."""

_THE_WHOLE = re.compile(
    r"(?:of |for |on |over )?(?:the )?(?:whole|entire|full|complete) (?:instance|machine|server"
    r"|box|VM|job|run|cluster|system|pod|slice|partition|allocation)"
    r"|整机|全机|(?:der |die )?(?:ganze|gesamte)[nrs]? (?:Maschine|Instanz|Job|Server)",
    re.IGNORECASE,
)
"""Remarks that a rate is of all devices of what ran: `tok/s (whole machine)`."""

_UNIT_AND_WHOSE = re.compile(
    r"(?<=[(\[])([^(),\[\]]{0,24}(?:/ ?|per )s(?:ec(?:ond)?)?)[,;]\s*(?=[^(),\[\]]{2,40}[)\]])",
    re.IGNORECASE,
)
"""A unit that has whose the rate is with it in brackets: `(tokens/s, all GPUs)`."""

_DEVICES_COUNTED = (
    r"(?P<n>[0-9]{1,5}) ?[x×]? ?"
    r"(?P<kind>GPU|GCD|device|card|chip|accelerator|NPU|TPU|HPU|XPU|rank|node)s?"
)
"""How many a rate is of: `8 GPUs`."""

_ON_COUNTED = re.compile(
    rf"(?:, ?| (?=[(\[])| (?=(?:on|over|across|for|with) ))[(\[]?(?:(?:on|over|across|for|with) )?"
    rf"{_DEVICES_COUNTED}[)\]]?$",
    re.IGNORECASE,
)
"""How many something was measured on, behind what it is: `MFU (8 GPUs)`."""

_WHATEVER_COUNT = {
    "step_time", "mfu", "hfu", "tokens_per_gpu_per_s", "samples_per_gpu_per_s",
    "items_per_gpu_per_s",
}  # fmt: skip
"""Fields that are of a step or of one device, on however many it was measured."""

_OF_THE_COUNTED = {"tokens_per_s", "samples_per_s", "item_rate", "model_flops_rate"}

_IN_TOTAL = re.compile(r"(?<=/s|ec) (?:in )?(total|aggregate|overall)$", re.IGNORECASE)
"""Whose a rate is, right behind its unit: `images/sec total`."""

_OVER_ALL = re.compile(
    r"(?<=/s|ec|nd) (?:(?:(?:summed )?(?:over|across)|of|for|on) (?=all|[0-9]))?"
    rf"(all (?:the )?[a-z]+|{_DEVICES_COUNTED}"
    r"|(?:sum(?:med)?|aggregated|added up) (?:over|across|of) (?:the )?[a-z]{3,12})$",
    re.IGNORECASE,
)
"""The same in words: `samples per second of all GPUs`, `tokens/s on 8 GPUs`."""

_BRACKETED = re.compile(r"[(\[]([^()\[\]]*)[)\]]")


class Said(NamedTuple):
    """Meaning of a label: a field, the factor to its unit, how sure a bare number's unit is.

    `rank` tells several columns of one field apart: the plain one first, then the median, the mean.
    """

    field: str
    scale: float = 1.0
    unit_known: bool = True
    nominal: bool = False
    rank: int = 0
    share: float = 1.0  # of a number with its own unit that is the field's: of 100 steps, 0.01


class Words(NamedTuple):
    """A label taken apart: words above the line, words under it, words in brackets."""

    over: tuple[str, ...]
    under: tuple[str, ...]
    beside: tuple[str, ...]

    def every(self) -> tuple[str, ...]:
        """All words, in no matter which place."""
        return self.over + self.under + self.beside


def split(text: str) -> list[str]:
    """The words of a label or a remark, `per` as a stroke.

    >>> split("Tokens per sec/GPU"), split("tok_s_gpu")
    (['tokens', '/', 'sec', '/', 'gpu'], ['tok', '/', 's', '/', 'gpu'])
    """
    return list(_split(text))


@lru_cache(maxsize=4096)  # labels are asked again and again
def _split(text: str) -> tuple[str, ...]:
    if "_" in text:
        text = _SNAKE.sub(lambda found: "/".join(filter(None, found.groups())), text)
        text = text.replace("_", " ")
    if "all" in text.casefold():
        text = _OF_ALL_RANKS.sub(lambda found: re.sub(r"\W", "", found[0]), text)
    text = _SEQUENCES.sub("samples", text) if "S/s" in text else text
    apart = _PER.sub(" / ", _KILO_TOKENS.sub("k tok", _ONE_IN_ANOTHER.sub(" ", text)))
    apart = _COUNTED.sub(r"\1 ", apart)
    return tuple(_spelled(word.casefold()) for word in _WORD.findall(apart))


_ONE_IN_ANOTHER = re.compile(
    r"(?<=[a-z]{3})(?=(?:Rate|Throughput|Time|Memory|Size|Length|Batch|Per)(?![a-z]))"
    r"|(?<=\b[GNHTX]PU)(?=(?:Rate|Throughput|Speed|Memory)(?![a-z]))"
)
"""Between words of a variable that are told apart by capitals: `GlobalRate`, `GPUThroughput`."""

_OF_ALL_RANKS = re.compile(r"\ball[- ]?(?:to[- ]?all|2[- ]?all|gather|reduce)\b", re.IGNORECASE)
"""A collective, which is one word: nothing of it is of all devices."""


@lru_cache(maxsize=4096)
def _spelled(word: str) -> str:
    """A long word with a letter wrong or too many, as it is meant: `throuthput`."""
    if word in _SHORTENED:
        return _SHORTENED[word]
    if not 7 <= len(word) <= 16 or word in _MISSPELT or word in STEP:
        return word
    return next(iter(get_close_matches(word, _MISSPELT, 1, 0.88)), word)


_SHORTENED = {
    "percent": "%", "pct": "%", "util": "utilization", "utils": "utilization",
    "utilisation": "utilization", "tput": "throughput",
    "thrpt": "throughput", "thpt": "throughput", "thruput": "throughput", "thput": "throughput",

}  # fmt: skip
"""Words of labels that stand for another."""


@cache
def _labels() -> Mapping[str, Any]:
    text = files("assay.ingest.vocabulary").joinpath("labels.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


Rules = Sequence[tuple[re.Pattern[str], str]]
"""Expressions, and what each means in English, in the order in which they are to be replaced."""


@cache
def _of_asia() -> Rules:
    """Rules for labels in Chinese, Japanese and Korean, a word before those that it holds."""
    every = (rule for group in ("asian", "japanese", "chinese", "korean")
             for rule in _labels()[group])  # fmt: skip
    rules = [(compiled(words, re.IGNORECASE), f" {meant} ") for words, meant in every]
    words = sorted(_labels()["elsewhere"].items(), key=lambda word: -len(word[0]))
    return [*rules, *((re.compile(re.escape(word)), f" {meant} ") for word, meant in words)]


@cache
def _of_europe() -> Rules:
    """Rules for phrases and compounds in languages of the continent."""
    return [(_whole(words), meant) for words, meant in _labels()["european"]]


@cache
def _any_of_europe() -> re.Pattern[str]:
    return _whole("|".join(words for words, _ in _labels()["european"]))


def _whole(words: str) -> re.Pattern[str]:
    """An expression for words that neither begin nor end within another."""
    return compiled(rf"(?<!\w)(?:{words})(?:(?<=\W)|(?!\w))", re.IGNORECASE)


@cache
def _in_europe() -> Mapping[str, str]:
    return {str(word): str(meant) for word, meant in _labels()["europe"].items()}


_LETTERS = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=4096)
def european(label: str) -> bool:
    """Whether a label has a word of a language of the continent, whose numbers may have commas for
    points."""
    words = {word.casefold() for word in _LETTERS.findall(label)}
    known = words & _in_europe().keys() - set(_labels()["short"])
    return bool(known) or _any_of_europe().search(label) is not None


_INVERSE = re.compile(
    r"\s*[·⋅*.]?\s*\b(s|sec|second|step|iter|[GNTX]PU|device|card|chip|GCD)s?"
    r"\s?(?:\$?\^\s?\{?\(?[-−–]1\)?\}?\$?|⁻¹)(?![0-9])",
    re.IGNORECASE,
)
"""A unit as physicists write that something is by it: `tokens s⁻¹ GPU⁻¹`, `tok·s^{-1}`."""


@lru_cache(maxsize=4096)
def english(label: str) -> str:
    """A label with its words in English, where they are known in another language.

    >>> english("Zeit pro Schritt (s)"), english("メモリ使用量 (GB)"), english("pro rata")
    ('step time (s)', 'memory usage (GB)', 'pro rata')
    >>> english("Anzahl der Schichten"), english("隠れ次元"), english("專家平行")
    ('number of layers', 'hidden size', 'expert parallel')
    """
    if "1" in label or "⁻¹" in label:
        label = _INVERSE.sub(r"/\1", label)
    label = _OF_BOTH.sub(lambda found: f"/s/{found[1] or found[3]}", label.translate(_WIDE))
    if not label.isascii():
        label = _from_asia(label)
    label = _SYSTEM_WIDE.sub("total ", _PER_DEVICE.sub("per ", label))
    if european(label):
        for words, meant in _of_europe():
            label = words.sub(meant, label)
        known = _in_europe()
        label = _LETTERS.sub(lambda word: known.get(word[0].casefold(), word[0]), label)
        label = _OF_WHAT.sub(r"\2 \1", " ".join(label.split()))
    return label


_SYSTEM_WIDE = re.compile(
    r"\bsystem(?: |-wide )(?=throughput|rate|speed|tok|sampl|seq|ima?g)", re.IGNORECASE
)
"""In front of a rate of all devices, as the sheets of makers have it: `System Throughput`; behind
it the word is one machine of several."""


def _from_asia(label: str) -> str:
    """A label with its Chinese, Japanese and Korean in English: as it is written, or in the
    letters of the mainland where that says all of it."""
    written, simple = label, label.translate(SIMPLE)
    for words, meant in _of_asia():
        written = words.sub(meant, written)
    if simple != label and not written.isascii():
        for words, meant in _of_asia():
            simple = words.sub(meant, simple)
        written = simple if simple.isascii() else written
    return " ".join(written.split())


_OF_WHAT = re.compile(
    r"\b(size|length) (?:of )?((?:(?:micro|global|local|total) ?)?batch|sequence|context)\b"
)
"""A size or a length in front of its thing, as other languages have it: `taille de lot`."""

_PER_DEVICE = re.compile(r"(?<= )(?:pro|par|por|na|на|je) (?=[GN]PUs?\b)")
"""A short word that is clear before its device: `TFLOP/s pro GPU`."""

_WIDE = str.maketrans("（）［］：％／", "()[]:%/")

_AT_STEP = re.compile(
    r"(?:@ ?|\bat )(?:step|iter(?:ation)?) ?[0-9]+\s*$"
    r"| over [0-9,]+ (?:step|iter(?:ation)?)s(?=\))",
    re.IGNORECASE,
)
"""When something was measured says nothing of what it is: `ms/iter @ step 10`."""


def timeless(label: str) -> str:
    """A label without the step at which something was measured.

    >>> timeless("Perf at iter 500"), timeless("ms/iter")
    ('Perf ', 'ms/iter')
    """
    return _AT_STEP.sub("", label)


_SEVERAL_STEPS = re.compile(
    r"((?<![a-z])(?:per|for|of|time)|/) ?([0-9][0-9,]*)(k?) ?(?:steps|iter(?:ation)?s|its)\b",
    re.IGNORECASE,
)
"""A time of several steps: `Time for 100 iterations (s)`, `Time 1k iterations`."""

_IN_LONG_UNITS = re.compile(
    r"^(?:h(?:(?:ou)?rs?)?|min(?:ute)?s?)(?= ?(?:/|(?:per|for)\b))"
    r"|(?<=[(\[])(?:h(?:(?:ou)?rs?)?|min(?:ute)?s?)(?=[)\]])",
    re.IGNORECASE,
)
"""Units of the times of many steps that no one step is timed in: `hours per 1k steps`."""

_SECONDS = {"h": 3600.0, "m": 60.0}

_ONE_STEP = re.compile(
    r"(?:^|(?<=\btime )|(?<=\btime (?:of|in) )|(?<=\btime (?:for|per) ))(?:1|one|a single) "
    r"(?=(?:(?:optimi[sz]er|training) )?(?:step|iter(?:ation)?)\b)",
    re.IGNORECASE,
)
"""How many steps a time is of, where that is one: `1 iteration (s)`, `Time 1 iteration`."""

_FIRST_RANK = re.compile(r"\b(rank|gpu|device) 0\b", re.IGNORECASE)
"""The rank on which something was measured, which stands for all: `max allocated (rank 0)`."""

_AFTER_THE_FIRST = re.compile(
    r"^(?:later|subsequent|following|further) (?=(?:steps?|iterations?|iters?)\b)"
    r"|(?<=[a-z]) after (?:the )?(?:first(?: (?:step|one|iteration))?|warm-?up|compil(?:e|ation))\b"
    r"|(?<=[a-z]),? from (?:the )?(?:second|2nd) (?:(?:step|iteration|one) )?on(?:wards?)?\b",
    re.IGNORECASE,
)
"""Which steps of a run were timed: those that are as all later ones."""

_POWER = re.compile(
    r"[(\[]?\s*(?:[x×*]\s*)?(?:10\s*(?:\^|\*\*)\s*\{?([0-9]{1,2})\}?|10([⁰¹²³⁴-⁹]{1,2}))\s*[)\]]?"
)
"""A power of ten that the numbers of a column are to be multiplied with: `(x10^6)`."""

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")

_AT_LAST = re.compile(
    r"\s*\((?:last|latest)\)\s*$|(?<![a-z])interval[ _](?=(?:samples|tokens)[ _]per)", re.IGNORECASE
)
"""Which of a run's values a tracker shows, or over what its trainer takes a mean."""

_BEHIND_COMMA = re.compile(
    rf",\s*((?:over |across )?(?:(?:all|every|each|per|total|in total|the whole"
    rf"|sum(?:med)?|aggregated|added)\b[^,()\[\]]*"
    rf"|{_DEVICES_COUNTED}))$",
    re.IGNORECASE,
)
"""Whose a quantity is, behind a comma: `Tokens/s, all GPUs`, `Samples/s, 8 GPUs`."""

_OVER_ITS_UNIT = re.compile(
    r"^((?:(?:training|total|overall|mean|average) )?(?:throughput|speed|rate|performance)) ?/ ?"
    r"(?=[(\[]?(?:[kKM] ?)?(?:tok(?:en)?s?|samples?|seq(?:uence)?s?|images?|imgs?|TFLOPs?) ?"
    r"(?:/|per\b))",
    re.IGNORECASE,
)
"""A quantity as a fraction of its unit: `Throughput / tokens/s`."""

_SPREAD = re.compile(
    r"(?:(?:(?<=\()|(?<=[)\]])|\b)(?:mean|avg|average)?\s*(?:±|\+/-|\+-)"
    r"\s*(?:std|sd|stdev|stddev|σ)\b"
    r"|[(\[]\s*(?:min(?:imum)?\.?\s?(?:-|–|—|/|,|\.\.\.?|to)\s?max(?:imum)?\.?"
    r"|p[0-9]{1,2}\s?(?:-|–|—|\.\.\.?|to)\s?p[0-9]{1,2})(?:\s(?:over|of|across)\s[^()\[\]]{1,30})?[)\]]"
    r"|(?P<kept>\b(?:mean|avg\.?|average|median|p50)\s)[(\[]\s*(?:std|sd|stdev|stddev|σ|IQR|range"
    r"|(?:80|9[059])\s?%\s?(?:CI|interval))[)\]])",
    re.IGNORECASE,
)
"""How a cell says its spread, not what it is of: `(mean ± std)`, `median (min – max)`."""

_OF_ITS_WHOLE = re.compile(
    r"\(\s*(?:([GT]i?B)\s*)?(?:(?:out )?of|/|sur|von)\s*"
    r"(?:16|24|32|40|48|64|80|94|96|128|141|180|192|256|288)(?:\s*([GT]i?B))?\s*\)",
    re.IGNORECASE,
)
"""How much a device has beside what of it was used: `Peak memory (GB of 64)`."""

_CLOCK = re.compile(r"\s*[(\[]?(?<![a-z])h{1,2}:mm?:ss?(?![a-z])[)\]]?", re.IGNORECASE)
"""How the times of a column are written: `Iteration Time h:mm:ss`."""

_MISSPELT = ("throughput", "latency", "memory", "iteration", "utilization")

_SCALED = re.compile(r"10\s*(?:\^|\*\*)|10[⁰¹²³⁴-⁹]|[x×*]\s*1?0{2,}|[0-9]e[0-9]")

_FOREIGN = re.compile(r"[^\x00-\x7fµσδΔ×†‡↑↓]")


_TF = re.compile(r"(?<![A-Za-z])(?:m(?:odel )?)?([TP])Fs?(?= ?/ ?s)")

_MANY_FLOPS = re.compile(r"\b(?:giga|tera|peta|exa)[- ]?(?=flops?\b)", re.IGNORECASE)
"""The prefix of operations in full: `Peta-FLOPS`, `tera flop/s`."""

_OF_AUDIO = re.compile(
    r"(?<![a-z])(?:audio|speech)[ _-](?:s|secs?|seconds?)(?: ?/ ?| per |_per_)"
    r"(?:s|sec|second)(?![a-z])",
    re.IGNORECASE,
)
"""Seconds of audio that are trained on in one: `audio s/s`."""

_OF_CONTENT = re.compile(
    r"^(?:effective|non-?pad(?:ding|ded)?|real) (?=tok)|(?<![a-z])audio[ _](?=clip)", re.IGNORECASE
)
"""In front of tokens or clips: what they are, which leaves their rate what it is."""


_DEVICE_WORD = r"(?:GPU|GCD|tile|device|card|chip|NPU|TPU|HPU|accelerator|rank)"

_AND_OF_ONE = re.compile(
    rf"((?:/|\bper )\s?(?:s|sec|second|{_DEVICE_WORD}))\s+and\s+"
    rf"(?:per )?(?=(?:s|sec|second|{_DEVICE_WORD})\b)",
    re.IGNORECASE,
)
"""A rate of one device with `and`, and perhaps one `per` for both: `tokens per second and GPU`."""


_BY_A_LETTER = re.compile(r"(?<![A-Za-z/])[ST](?=/s(?:ec)?(?![A-Za-z]))")
"""Sequences and tokens, of which a rate of Composer's tables is: `GPUThroughput (S/s/GPU)`."""


@lru_cache(maxsize=4096)
def said(label: str) -> Said | None:
    """Meaning of the label of a column, None where a word of it is unknown.

    >>> said("Model TFLOPs/sec/GPU").field, said("Tokens/s (k)").scale, said("Tokens/s per node")
    ('model_flops_rate', 1000.0, None)
    >>> said("Step time (mean ± std)").field, said("Tokens/s (all devices)").field
    ('step_time', 'tokens_per_s')
    >>> said("% of peak FLOPS (MFU)").scale, said("Peak MFU (%)"), said("% of peak")
    (0.01, None, None)
    >>> said("Step time (s), median (min – max)").field, said("Step time (s), std")
    ('step_time', None)
    """
    label = _AT_LAST.sub("", timeless(_CLOCK.sub("", english(label))))
    label = _UNIT_AND_WHOSE.sub(r"\1) (", label) if "," in label or ";" in label else label
    label = _BEHIND_COMMA.sub(r" (\1)", _SPREAD.sub(r"\g<kept> ", _ONE_STEP.sub("", label)))
    label = _AFTER_THE_FIRST.sub("", _FIRST_RANK.sub(r"\g<1>0", label))
    label = _OVER_ALL.sub(r" (\1)", _IN_TOTAL.sub(r" (\1)", label))
    label = _AND_OF_ONE.sub(r"\1 per ", label) if " and " in label else label
    label = _BY_A_LETTER.sub(lambda found: "samples" if found[0] == "S" else "tokens", label)
    label = _OVER_ITS_UNIT.sub(r"\1 ", label) if label.count("/") > 1 else label
    label = _TF.sub(r"\1FLOP", _OF_AUDIO.sub("items/s", _OF_CONTENT.sub("", label)))
    label = _MANY_FLOPS.sub(lambda found: found[0][0], label)
    label = _OF_ITS_WHOLE.sub(lambda found: f"({found[1] or found[2] or ''})", label)
    if power := _POWER.search(label):
        whole = said(_POWER.sub(" ", label, count=1))
        scale = 10.0 ** int((power[1] or power[2]).translate(_RAISED))
        return whole._replace(scale=whole.scale * scale, nominal=True) if whole else None
    if _FOREIGN.search(label):
        return None
    if either := _either(label):
        return either
    if several := _SEVERAL_STEPS.search(label):
        count = int(several[2].replace(",", "")) * (1000 if several[3] else 1)
        long = _IN_LONG_UNITS.search(label)
        label = _IN_LONG_UNITS.sub("s", label, count=1)
        whole = said(_SEVERAL_STEPS.sub(r"\1 step", label, count=1)) if count else None
        timed = whole is not None and whole.field == "step_time"
        share = 1.0 / max(count, 1)
        scale = share * (_SECONDS[long[0][0].casefold()] if long else 1.0)
        return whole._replace(scale=whole.scale * scale, share=share) if whole and timed else None
    words = _words(label)
    for read in (
        _utilisation,
        _rate,
        _flops,
        _time,
        _memory,
        _batch,
        _length,
        _parameters,
        _gpus,
        _degree,
        _accumulation,
        _nodes,
    ):
        if found := read(words):
            return found
    if on := _ON_COUNTED.search(label):
        whole = said(label[: on.start()])
        of_each = {"model_flops_rate"} if DEVICE & set(split(label[: on.start()])) else set()
        return whole if whole and whole.field in _WHATEVER_COUNT | of_each else None
    return None


def _either(label: str) -> Said | None:
    """Meaning of a label of two rates of which each row has the one of what it counts.

    >>> said("images/s or sequences/s").field, said("tokens/s or samples/s")
    ('item_rate', None)
    """
    one, _, other = label.partition(" or ")
    if "/" not in one or "/" not in other:
        return None
    rates = [told for each in (one, other) if (told := said(each))]
    known = {told.field for told in rates} <= {"item_rate", "samples_per_s"}
    plain = all(told.scale == 1.0 for told in rates)
    return Said("item_rate") if len(rates) > 1 and known and plain else None


def counted(label: str) -> str:
    """How many devices a rate, a time or a utilisation was measured on, as its label says; empty
    where it does not.

    >>> counted("Tokens/s (8 GPUs)"), counted("Step time (s), 16 x GPU"), counted("Speedup, 8 GPUs")
    ('8', '16', '')
    """
    found = _ON_COUNTED.search(_UNIT_AND_WHOSE.sub(r"\1) (", label))
    if not found or found["kind"].casefold().startswith("node"):
        return ""
    told = said(label)
    return found["n"] if told and told.field in _WHATEVER_COUNT | _OF_THE_COUNTED else ""


def _words(label: str) -> Words:
    over: list[str] = []
    under: list[str] = []
    beside: list[str] = []
    for remark in _BRACKETED.findall(label):
        bare = _TOGETHER.sub("", remark.strip())
        whole = _OF_ALL.fullmatch(bare) or _EVERY.match(bare) or _SUMMED.fullmatch(bare)
        counted = whole and split(bare)[-1] in DEVICE | _RUNNING
        counted = counted or bare.casefold() in _THE_SUM or bool(_THE_WHOLE.fullmatch(bare))
        beside += ["total"] if counted else split(remark)
    words = split(_BRACKETED.sub(" ", label))
    words, after = words[1:] if words[:1] == ["/"] else words, False  # `Per GPU tokens/s`
    for word in words:
        if word == "/":
            after = True
        elif after:
            under.append(word)
            after = word in PLAIN or word in {"global", "optimizer"}  # `per global step`
        else:
            over.append(word)
    return Words(tuple(over), tuple(under), tuple(beside))


def _rank(words: Words) -> int:
    held = set(words.every())
    return 2 if held & MEDIAN else 3 if held & MEAN else 1


def _left(words: tuple[str, ...], *known: set[str]) -> set[str]:
    return set(words) - set().union(*known, PLAIN, MEDIAN, MEAN)


def _joined(words: Words) -> tuple[set[str], set[str]]:
    """Words above and under the line, a unit in brackets taken apart as well."""
    over, under, after = set(words.over), set(words.under), False
    for word in words.beside:
        if word == "/":
            after = True
        else:
            (under if after else over).add(word)
    return over, under


ATTAINED = {"achieved", "sustained", "reached", "attained", "obtained"}
"""Words by which a rate or a share was really there, beside a peak."""


def _utilisation(words: Words) -> Said | None:
    kinds = {"mfu", "hfu"} & set(words.every())
    if {"model", "utilization"} <= set(words.every()) and {"flop", "flops"} & set(words.every()):
        kinds |= {"mfu"}  # `Model FLOPS util.`
    known = {"mfu", "hfu", "%", "/", "bf16", "utilization"} | ATTAINED
    rest = _left(words.every(), known, DEVICE)
    before = {"of", "peak", "%"} <= set(words.over) and kinds & set(words.beside)
    behind = {"of", "peak"} <= set(words.beside) and "peak" not in words.over
    if before or behind:  # `% of peak (MFU)`, `MFU (% of FP8 peak)`
        rest -= {"of", "peak", "the", "fp8", "fp16", "dense", "theoretical", "hardware"}
    rest -= {"model", "flop", "flops", "compute"} if kinds == {"mfu"} else {"flop", "flops"}
    if len(kinds) != 1 or rest - ({"hardware"} if "utilization" in words.every() else set()):
        return None
    percent = "%" in words.every()
    return Said(kinds.pop(), 0.01 if percent else 1.0, rank=_rank(words))


_OF_TEXT = {"word", "words"}
"""Tokens of a vocabulary, as toolkits of translation call them: `words/s`."""

WHOLE = {"total", "aggregate", "aggregated", "job", "global", "cluster", "overall", "whole"}
"""Words of a rate that is of all devices."""


_LETTERS_ALONE = {("k",), ("m",), ("b",)}
"""Names of sides that stand over a unit in brackets, and count nothing: `B (tok/s)` beside `A`."""


def _rate(words: Words) -> Said | None:
    """Tokens or samples a second, of the job or of a device."""
    over, under = _joined(words)
    if short := over & {"tps", "wps", "tgs", "tgps", "tpgps"}:  # `wps`: words of a vocabulary
        under |= {"s"} if short <= {"tps", "wps"} else {"s", "gpu"}
        over = over - short | {"tokens"}
    if words.over in _LETTERS_ALONE and (TOKENS | SAMPLES) & {*words.beside}:
        return None
    if words.over == ("t",) and set(words.under) & SECOND:  # `T/s/GPU`
        over = {"tokens"}
    kind = "token" if over & (TOKENS | _OF_TEXT) else "sample" if over & SAMPLES else None
    scale = 1.0
    if kind == "token" and under & DAY and not under & SECOND:  # `t/s/d` is of no day
        under, scale = under - DAY | {"s"}, 1 / 86_400
    if kind and under & HOUR:  # `M tokens per hour`
        under, scale = under - HOUR | {"s"}, 1 / 3_600
    if kind is None or not under & SECOND:
        return _other_rate(words, over, under)
    for word in over & set(COUNTS):
        scale *= COUNTS[word]
    known = (TOKENS | _OF_TEXT if kind == "token" else SAMPLES) | set(COUNTS) | WHOLE
    known |= {"of"} if over & set(COUNTS) else set()  # `thousands of tokens per second`
    fillers = {"throughput", "speed", "rate", "performance", "metric", "ips", "in", "/"} | ATTAINED
    if "p" in under:  # tokens/s/p: per processor, as tables of NPUs say
        under = under - {"p"} | {"npu"}
    device = bool((under | over) & DEVICE)
    if _left((*over, *under), known, fillers, SECOND, DEVICE) or (device and over & WHOLE):
        return None
    if kind == "sample":
        field = "samples_per_gpu_per_s" if device else "samples_per_s"
        return Said(field, scale, rank=_rank(words))
    field = "tokens_per_gpu_per_s" if device else "tokens_per_s"
    return Said(field, scale, rank=_rank(words) if scale >= 1.0 else 4)  # a second before a day


def _other_rate(words: Words, over: set[str], under: set[str]) -> Said | None:
    """Steps a second, or things that are no sequences: `it/s`, `images/sec`."""
    known = {"throughput", "speed", "rate", "in", "/"} | SECOND
    if over & ITEMS and under & MILLISECOND and not under & SECOND:  # `mol/ms`
        told = _other_rate(words, over, under - MILLISECOND | {"s"})
        return told and told._replace(scale=1e3 * told.scale)
    if over == {"ups"} and not under:  # as fairseq calls them
        over, under = {"updates"}, {"s"}
    if not under and "fps" in over and {"train", "training"} & over:
        over, under = over - {"fps"} | {"frames"}, {"s"}
    of_steps = STEP | {"batches", "updates"}
    of_steps |= {"global", "optimizer", "opt", "optim"} if over & STEP else set()
    for field, things in (("step_rate", of_steps), ("item_rate", ITEMS | WHOLE)):
        if over & things - WHOLE and under & SECOND and not _left((*over, *under), things, known):
            return Said(field, rank=_rank(words))
    if over - known == {"ips"} and not under - SECOND:  # instances a second
        return Said("item_rate", rank=_rank(words))
    whole = {"total", "aggregate", "aggregated", "overall", "global"}
    if over & ITEMS and under & SECOND and not _left((*over, *under), ITEMS, known, whole):
        return Said("item_rate", rank=_rank(words))
    known |= DEVICE
    if over & ITEMS and under & SECOND and not _left((*over, *under), ITEMS, known):
        return Said("items_per_gpu_per_s", rank=_rank(words))
    return None


def _flops(words: Words) -> Said | None:
    over, under = _joined(words)
    if "p" in under:  # as of tokens
        under = under - {"p"} | {"npu"}
    units = over & set(FLOPS)
    fillers = {"model", "throughput", "compute", "performance"} | ATTAINED
    fillers |= {"rate", "in", "/", "floating", "point", "operation", "operations"}
    if len(units) > 1 and SECOND & set(
        words.beside
    ):  # `model FLOPS [TFLOP/s/GPU]`: the unit behind the name
        units -= {"flop", "flops"} - set(words.beside)
    if len(units) != 1 or _left((*over, *under), set(FLOPS), SECOND, DEVICE, fillers):
        return None
    word = units.pop()
    if FLOPS[word] < 1e9:  # FLOPs are operations as often as a rate
        return None
    if FLOPS[word] > 1e12 and not under & DEVICE:  # PFLOPs are the whole job's
        return None
    return Said("model_flops_rate", FLOPS[word], rank=_rank(words))


def _time(words: Words) -> Said | None:
    """The time of a step: `ms/iter`, `Median step (s)`, `Time per Global Step (s)`."""
    over, under = _joined(words)
    over -= {"wall", "clock", "wallclock"} if over & {"time", "latency"} else set()
    if over - set(TIMES) == {"batch", "time"} and not under:  # of a batch
        over = over - {"batch"} | {"step"}
    if over & STEP and "or" in over:  # step time (or ms per batch)
        over, under = over - {"or"}, under - {"batch"}
    bare = over - set(TIMES)
    if under == {"batch"} and bare <= {"time", "avg", "average", "mean"}:  # `time / batch`
        under = {"step"}
    in_time = {*words.beside, *words.under} & set(TIMES)
    if "t" in bare and bare <= {"t"} | STEP and in_time:  # `iter_t [s]`, `t_step / s`
        over = over - {"t"} | {"time"}
    if under == {"update"} and not set(words.beside) - set(TIMES):  # `s/update`
        under = {"step"}
    named = over & {"time", "latency", "duration", "runtime"}
    every, rest = over | under, under - set(TIMES)
    if named and every & STEP and rest <= STEP and rest < under and not over & set(TIMES):
        over, under = over | under - rest, rest  # `step time / s`
    if not every & STEP or over & (TOKENS | SAMPLES) or under & SECOND:
        return None
    units = every & set(TIMES)
    named |= over & _TAKES
    elapsed = {"elapsed", "walltime", "wallclock"} | ({"clock"} if "wall" in over else set())
    named |= over & elapsed if under else set()
    if len(units) > 1 or not (units or named) or (under and not under & STEP):
        return None
    fillers = {"time", "latency", "duration", "runtime", "global", "optimizer", "elapsed"}
    fillers |= {"wall", "clock", "walltime", "wallclock", "in", "for", "of", "/"}
    fillers |= {"a", "an", "each", "every", *_TAKES} & over
    if _left((*over, *under), STEP, set(TIMES), fillers):
        return None
    scale = TIMES[units.pop()] if units else 1.0
    return Said("step_time", scale, unit_known=bool(every & set(TIMES)), rank=_rank(words))


_TAKES = {"takes", "took"}
"""Verbs by which a label is of a time: `one step takes`."""


_SHORT_SIZES = {"g": 1e9, "m": 1e6}
"""Units of memories in brackets without their bytes, as cells have them: `GPU_mem (G)`."""


_OF_THE_MOST = {"m", "peak", "max", "gpu", "alloc", "allocated"}
"""Signs of a memory in short: `M_peak / GiB`."""


def _memory(words: Words) -> Said | None:
    """Memory of a device; its unit in brackets, behind it (`Peak VRAM GB`) or in the cells."""
    every = words.every()
    sizes = {word: known.scale for word in every if (known := unit(word)) and known.si == "B"}
    sizes |= {"bytes": 1.0} if "bytes" in every else {}
    sizes |= {word: _SHORT_SIZES[word] for word in words.beside if word in _SHORT_SIZES}
    if sizes and {"m"} < {*words.over} <= _OF_THE_MOST:
        words = words._replace(over=tuple("mem" if w == "m" else w for w in words.over))
        every = words.every()
    if "ram" in words.over and DEVICE & set(words.over):
        words = words._replace(over=tuple("vram" if w == "ram" else w for w in words.over))
        every = words.every()
    most = {"peak", "pk", "max", "maximum"} & set(words.over)
    taken = {"peak", "pk", "max", "maximum", "allocated", "alloc", "usage", "in", "use", "/"}
    taken |= {"rank0", "gpu0", "device0", "torch", "pytorch", "cuda"}
    taken |= {"active"} if most else set()  # as torchtitan calls what tensors hold
    taken |= {"nvidia", "smi"}
    taken_up = {"allocated", "alloc"} & set(words.over)
    by_smi = {"smi"} & set(words.over) if "nvidia" in words.over else set[str]()
    named = most or taken_up or by_smi
    of_each = set(words.under) & DEVICE if taken_up else set[str]()
    both = by_smi or (taken_up and (most or of_each))  # its cells say in which unit
    bare = named and (sizes or both) and not set(every) - taken - set(sizes) - of_each
    if words.over and set(words.over) <= {"gb", "gib"} and words.under:  # `mb/gpu` is a batch
        bare = set(words.under) <= DEVICE
    if not (MEMORY & set(words.over) or bare or (most and sizes and set(words.over) & DEVICE)):
        return None
    fillers = {
        "peak",
        "pk",
        "max",
        "maximum",
        "usage",
        "consumption",
        "used",
        "active",
        "allocated",
        "alloc",
        "in",
        "use",
        "cuda",
        "torch",
        "each",
        "a",
        "of",
        "one",
        "footprint",
        "occupied",
        "rank0",
        "gpu0",
        "device0",
        "worst",
        "highest",
        "nvidia",
        "smi",
        "/",
    }
    if set(words.over) & (DEVICE | most | {"hbm", "vram", "cuda", "torch", "allocated", "alloc"}):
        fillers |= {"process", "proc", "worker"}  # which each has a device
    fillers |= {"actual", "cost"} if "actual" in every else set()  # no cost that was worked out
    if len(sizes) > 1 or _left(every, MEMORY, DEVICE, fillers, set(sizes)):
        return None
    scale = next(iter(sizes.values()), 1.0)
    return Said("memory", scale, unit_known=bool(sizes), rank=1 if most else 3)


def _batch(words: Words) -> Said | None:
    if short := {"gbs", "mbs"} & set(words.over):  # `GBS (tokens)`
        named = ("global" if "gbs" in short else "micro", "batch")
        words = words._replace(over=(*(w for w in words.over if w not in short), *named))
    every = words.every()
    if words.over == ("b",) and DEVICE & set(words.beside + words.under):  # `B (per GPU)`
        words = words._replace(over=("batch",))
        every = words.every()
    if not (BATCH | {"microbatch"}) & set(words.over):
        return None
    of_all = set(every) & {"global", "total", "effective", "eff"}
    of_one = set(every) & ({"micro", "mini", "local"} | DEVICE)
    of_one -= {"mini"} if "global" in of_all else set()  # of a step, as Neuron calls it
    fillers = {"size", "sz", "/", "in", "of"}
    instances = set(every) & {"instances"}  # as OLMo-core calls sequences
    of_one |= instances and {"rank", "microbatch"} & set(every)
    counted = set(words.beside) & {"tokens", "tok", "m", "k"}
    if "t" in words.beside and not of_one:  # `GBS (T)`
        words = words._replace(beside=tuple("tokens" if w == "t" else w for w in words.beside))
        counted, every = counted | {"tokens"}, words.every()
    sequences = {"s", "seq", "sequences"} & set(words.beside)  # `Global batch (S)`
    batches = BATCH | {"microbatch"}
    fillers |= {"mini"}
    known = (batches, fillers, of_all, of_one, counted, SAMPLES, ITEMS, sequences, instances)
    if _left(every, *known) or "mini" in of_one:
        return None
    if of_all and not of_one and not set(words.under):
        if not counted:
            return Said("global_batch", rank=1)
        if counted & TOKENS:
            scale = COUNTS.get(next(iter(counted - TOKENS), ""), 1.0)
            return Said("global_batch_tokens", scale, nominal=scale != 1.0, rank=1)
    if of_one and not of_all and not counted:
        return Said("micro_batch", rank=1)
    return None


def _length(words: Words) -> Said | None:
    sequence = {"seq", "sequence", "seqlen"}
    every = set(words.every())
    if not (every & sequence or set(words.over[:1]) & {"context", "ctx"}):
        return None
    fillers = {"context", "ctx", "length", "len", "max", "packed", "pack", "size", "window"}
    over = set(words.over) - sequence - fillers - TOKENS - {"training", "train"}
    if words.under or over or set(words.beside) - TOKENS - {"k", "t"}:
        return None
    kilo = "k" in words.beside
    return Said("seq_len", 1024.0 if kilo else 1.0, nominal=kilo, rank=1)


def _parameters(words: Words) -> Said | None:
    """Parameters in millions or billions; a bare number of them has no factor but its own."""
    every = set(words.every())
    scales = {COUNTS[word] for word in (*words.over, *words.beside) if word in COUNTS}
    named = every & {"params", "param", "parameters", "parameter", "size"}
    if not named or words.under or len(scales) > 1:
        return None
    fillers = named | {"model", "in"} | COUNTING | set(COUNTS)
    if every - fillers or (named & {"size", "parameter"} and not scales):
        return None
    scale = scales.pop() if scales else 1.0
    field = "model_size" if "size" in every else "parameters"
    return Said(field, scale, nominal=scale != 1.0, rank=1)


_DEGREES = {"tensor": "tp", "pipeline": "pp", "data": "dp", "context": "cp", "expert": "ep"}


def _degree(words: Words) -> Said | None:
    """`tensor parallelism`, `pipeline_model_parallel_size`."""
    every = set(words.every())
    kinds = every & set(_DEGREES)
    if len(kinds) != 1 or not every & {"parallel", "parallelism", "mp", "par"} or words.under:
        return None
    fillers = {"parallel", "parallelism", "mp", "par", "model", "size", "degree"}
    rest = every - kinds - fillers - COUNTING
    return None if rest else Said(_DEGREES[kinds.pop()], rank=1)


def _accumulation(words: Words) -> Said | None:
    """`num_accumulation_steps`, `gradient accumulation`, `batch_accum`, `accum (per GPU)`."""
    every = set(words.every())
    named = every & {"accumulation", "accum"}
    rest = every - named - {"gradient", "grad", "batch", "step", "steps", "/"} - COUNTING - DEVICE
    return Said("accumulation", rank=1) if named and not rest else None


def _gpus(words: Words) -> Said | None:
    every = set(words.every())
    held = every & (DEVICE - {"rank"})  # `# Rank` is a place
    plural = any(word.endswith("s") or word == "ngpu" for word in held)
    if not held or words.under or every - DEVICE - COUNTING:
        return None
    return Said("gpus", rank=1) if plural or every & COUNTING else None


def _nodes(words: Words) -> Said | None:
    every = set(words.every())
    counted = "nodes" in every or ("node" in every and every & COUNTING)
    return Said("nodes", rank=1) if counted and not every - {"node", "nodes"} - COUNTING else None


SAID_WHOSE = {
    "both",
    "total",
    "aggregate",
    "aggregated",
    "job",
    "global",
    "overall",
    "cluster",
    "all",
    "whole",
    "entire",
}
"""Words of a label that say a rate is of all devices."""


@lru_cache(maxsize=4096)
def of_one_device(label: str) -> bool:
    """Whether a label says that its numbers are of one device."""
    return bool(set(_words(label).every()) & DEVICE)


def altering(remark: str) -> Iterator[str]:
    """The words of a remark in brackets that make its label another quantity or unit."""
    found = [word for word in split(remark) if word in ALTERS or word == "/"]
    return iter(found or _SCALED.findall(remark))
