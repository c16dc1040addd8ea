"""Printed units: what a suffix or a bracket means in SI.

Byte units are decimal for `GB` and binary for `GiB`, as printed. Spelling is compared without case
and blanks: `T/s` is tokens per second in the tables that print it, beside `S/s` for samples.
"""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf, log2
from typing import NamedTuple


class Unit(NamedTuple):
    """A printed unit: its SI unit, the factor to it, and of whom a number in it is, if it says.

    `tokens/s/GPU` and `tokens/s` are two units: their numbers are never compared.
    """

    si: str
    scale: float
    per: str | None = None  # device


def _units(si: str, **scales: float) -> dict[str, Unit]:
    return {name: Unit(si, scale) for name, scale in scales.items()}


def _a_second(si: str, things: str) -> dict[str, Unit]:
    """Units of things a second, however the second is written."""
    seconds = ("s", "sec", "sec.", "secs", "second")
    return {f"{thing}/{second}": Unit(si, 1) for thing in things.split() for second in seconds}


DEVICES = (
    "GPU", "card", "chip", "device", "NPU", "GCD", "HPU", "TPU", "IPU", "XPU", "DCU", "accelerator",
)  # fmt: skip
"""Words behind the stroke of a unit that is of one device."""


def _of_a_device(si: str, scale: float, *names: str) -> dict[str, Unit]:
    return {f"{name}/{one}": Unit(si, scale, "device") for name in names for one in DEVICES}


UNITS: dict[str, Unit] = {
    **_units("s", s=1, sec=1, secs=1, second=1, seconds=1, ms=1e-3, msec=1e-3, us=1e-6, µs=1e-6),
    **_units("s", min=60, minutes=60, h=3600, hours=3600, ns=1e-9),
    **_units("B", B=1, KB=1e3, MB=1e6, GB=1e9, TB=1e12),
    **_units("B", Mo=1e6, Go=1e9, To=1e12, Mio=2**20, Gio=2**30),  # in French
    **_units("B", KiB=2**10, MiB=2**20, GiB=2**30, TiB=2**40),
    **_units("flop/s", FLOPS=1, GFLOPS=1e9, TFLOPS=1e12, PFLOPS=1e15),
    **_units("1", x=1, X=1),
    "×": Unit("1", 1),
    "%": Unit("1", 0.01),
    "T/s": Unit("token/s", 1),
    "TPS": Unit("token/s", 1),
    "FPS": Unit("item/s", 1),
    **_units("token/s", **{"Kt/s": 1e3, "Kt/sec": 1e3, "Ktok/s": 1e3, "Ktokens/s": 1e3}),
    **_units("token/s", **{"Mtok/s": 1e6, "Mtokens/s": 1e6}),
    "SPS": Unit("sample/s", 1),
    "S/s": Unit("sample/s", 1),
    **_a_second("token/s", "tok toks token tokens"),
    **_a_second("sample/s", "sample samples samp smp seq seqs sequence sequences"),
    **_a_second("sample/s", "sentence sentences sent sents utt utts utterance utterances"),
    **_a_second("sample/s", "example examples ex"),
    **_a_second("item/s", "image images img imgs im ims item items frame frames mel mels"),
    **_a_second("item/s", "clip clips video videos vid volume volumes pairs graphs crops patches"),
    **_a_second("item/s", "mol mols molecule molecules proteins scenes scans segments"),
    **_a_second("item/s", "windows snippets spectrograms"),
    **_units("item/s", **{"mol/ms": 1e3, "molecules/ms": 1e3, "images/ms": 1e3, "img/ms": 1e3}),
    **_a_second("step/s", "it its iter iters iteration iterations step steps"),
    "秒": Unit("s", 1),
    "초": Unit("s", 1),
    "밀리초": Unit("s", 1e-3),
    "毫秒": Unit("s", 1e-3),
    "秒/步": Unit("s", 1),
    "毫秒/步": Unit("s", 1e-3),
    "词元/秒": Unit("token/s", 1),
    "令牌/秒": Unit("token/s", 1),
    "样本/秒": Unit("sample/s", 1),
    "/s": Unit("1/s", 1),
    "/sec": Unit("1/s", 1),
    "s/it": Unit("s", 1),
    "s/iter": Unit("s", 1),
    "sec/it": Unit("s", 1),
    "sec/iter": Unit("s", 1),
    "s/step": Unit("s", 1),
    **_units("s", **{"s/batch": 1, "sec/step": 1, "sec/batch": 1, "s/iteration": 1}),
    **_units("s", **{"s/update": 1, "s/ba": 1}),
    **_units("s", **{"seconds/it": 1, "seconds/iter": 1, "seconds/iteration": 1}),
    **_units("s", **{"seconds/step": 1, "seconds/batch": 1}),
    "ms/batch": Unit("s", 1e-3),
    "ms/it": Unit("s", 1e-3),
    "ms/iter": Unit("s", 1e-3),
    "ms/step": Unit("s", 1e-3),
    **_of_a_device(
        "token/s",
        1,
        "tokens/second",
        "token/second",
        "tok/sec",
        "T/s",
        "tok/s",
        "tokens/s",
        "tokens/sec",
        "token/s",
        "token/sec",
    ),
    **{
        f"{name}/{device}": Unit("token/s", 1, "device")
        for name in ("tokens/s", "token/s", "tokens/sec")
        for device in ("p",)
    },  # tokens/s/p: per processor, as tables of NPUs say
    **_units("flop/s", TFLOP=1e12, TF=1e12, teraFLOPS=1e12, petaFLOPS=1e15),
    "TFLOP/s": Unit("flop/s", 1e12),
    **_of_a_device(
        "flop/s",
        1e12,
        "TFLOP/s",
        "MODEL_TFLOP/s",
        "TFLOPs",
        "TFLOP/sec",
        "TFLOPS",
        "TFLOPs/s",
        "TFLOPs/sec",
        "TF",
        "TF/s",
    ),
    **_of_a_device("flop/s", 1e9, "GFLOP/s"),
    **_of_a_device("flop/s", 1e15, "PFLOP/s"),
    "TFLOPs/s": Unit("flop/s", 1e12),
    **_units("flop/s", **{"TFLOPs/sec": 1e12, "TFLOP/sec": 1e12, "TF/s": 1e12}),
    **_units("flop/s", **{"GFLOP/s": 1e9, "GFLOPs/s": 1e9, "GFLOP/sec": 1e9, "GF/s": 1e9}),
    **_units("flop/s", **{"PFLOP/s": 1e15, "PFLOPs/s": 1e15}),
}

_BY_SPELLING = {name.casefold().replace(" ", ""): unit for name, unit in UNITS.items()}

_MANY = {"万": 1e4, "亿": 1e8}
"""Ten thousand and a hundred million, which Chinese puts in front of what is counted."""

_COUNTED = {"token/s", "sample/s"}

_IN_ENGLISH = {
    "毫秒": "ms", "ミリ秒": "ms", "밀리초": "ms", "秒": "s", "초": "s",
    "词元": "tokens", "令牌": "tokens", "トークン": "tokens", "토큰": "tokens",
    "样本": "samples", "样本数": "samples", "序列": "samples", "条": "samples",
    "条样本": "samples", "サンプル": "samples", "샘플": "samples",
    "图片": "images", "图像": "images", "张图": "images", "张图片": "images", "张": "images",
    "图": "images", "画像": "images", "枚": "images", "이미지": "images", "장": "images",
    "帧": "frames", "视频": "videos", "動画": "videos",
    "迭代": "iter", "イテレーション": "iter", "步": "step", "ステップ": "step", "스텝": "step",
    "卡": "GPU", "GPU": "GPU", "NPU": "NPU", "token": "tokens", "tokens": "tokens",
    "iter": "iter", "it": "it", "step": "step", "s": "s", "ms": "ms", "sec": "s",
    "samples": "samples", "sample": "samples", "images": "images",
}  # fmt: skip
"""Words of units in Chinese, Japanese and Korean, and those that stand beside them."""

_PRINTED = re.compile(
    r"([~≈约]?\s*)([0-9][0-9,]*(?:\.[0-9]+)?)\s*(?:([千万亿만억])\s?)?"
    r"([^\W\d_]{1,8}(?:\s?[/／每]\s?[^\W\d_]{1,8}){1,2})"
)
"""A number and its unit that is one thing for another: `38.4 万 token/秒`."""


def in_english(text: str) -> str | None:
    """A number whose unit is in Chinese, Japanese or Korean with it in English; None of others.

    >>> in_english("96 样本/秒"), in_english("41.4万 token/s"), in_english("3.1 秒/步")
    ('96 samples/s', '414k tokens/s', '3.1 s/step')
    >>> in_english("96 篇/秒"), in_english("12 images/s")
    (None, None)
    """
    found = None if text.isascii() or len(text) > _LONGEST else _PRINTED.fullmatch(text.strip())
    if found is None:
        return None
    words = [_IN_ENGLISH.get(word.strip(), "") for word in re.split("[/／每]", found[4])]
    if not all(words) or unit(printed := "/".join(words)) is None:
        return None
    if found[3] is None:
        return f"{found[1]}{found[2]} {printed}"
    scaled = Decimal(found[2].replace(",", "")).scaleb(_ZEROS[found[3]] - 3)
    return f"{found[1]}{scaled:f}k {printed}" if words[0] == "tokens" else None


_LONGEST = 40

_ZEROS = {"千": 3, "万": 4, "만": 4, "亿": 8, "억": 8}


SUFFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
"""Count suffixes, as in 250k or 200B: such a number is nominal."""


def suffix(letter: str, field: str, digits: str = "") -> float:
    """The factor of a count's suffix: a length of sequences counts in powers of 1,024, all else in
    those of 1,000; thousands that round a power of two are that power, hundreds of them are even.
    A batch is a power of two where its thousands are one, or round one.

    >>> suffix("k", "seq_len"), suffix("k", "vocab"), suffix("M", "parameters")
    (1024.0, 1000.0, 1000000.0)
    >>> 262 * suffix("k", "seq_len", "262"), 16.4 * suffix("k", "seq_len", "16.4")
    (262144.0, 16384.0)
    >>> suffix("k", "seq_len", "128"), suffix("k", "seq_len", "200")
    (1024.0, 1000.0)
    >>> suffix("K", "global_batch", "32"), suffix("K", "global_batch", "48")
    (1024.0, 1000.0)
    """
    factor = SUFFIXES[letter]
    if field not in {"seq_len", *_BATCHES} or factor not in _LENGTHS:
        return factor
    if factor == SUFFIXES["k"] and 1 <= (count := float(digits.replace(",", "") or 0)) < inf:
        power = 2.0 ** round(log2(count * factor))
        if round(power / factor, len(digits.partition(".")[2])) == count:
            return power / count
        if count % _EVEN == 0 or (field in _BATCHES and not log2(count).is_integer()):
            return factor
        return _LENGTHS[factor]
    return _LENGTHS[factor] if field == "seq_len" else factor


_BATCHES = ("micro_batch", "global_batch", "batch_size")

_EVEN = 100
"""Thousands of tokens whose multiples are meant as they stand: `200k`."""

_LENGTHS = {1e3: 1024.0, 1e6: 1024.0**2}


_TYPESET = re.compile(
    r"\\(?:(?:SI|qty)(?:\[[^\[\]]{0,80}\])?\{(?P<number>[^{}]{1,40})\}(?:\[[^\[\]]{0,40}\])?"
    r"|(?:si|unit)(?:\[[^\[\]]{0,80}\])?)\{(?P<unit>(?:[^{}]|\{[^{}]{0,8}\}){1,80})\}"
)
"""A unit, or a number and its unit, as siunitx sets them: `\\si{\\giga\\byte}`, `\\qty{80}{GB}`."""

_MACRO = re.compile(r"\\([A-Za-z]+)\s*(?:\{(-?[0-9])\})?")

_SYMBOLS = {
    "per": "/", "of": "", "tothe": "^", "raiseto": "^", "second": "s", "minute": "min", "hour": "h",
    "byte": "B", "watt": "W", "joule": "J", "hertz": "Hz", "percent": "%", "flop": "FLOP",
    "flops": "FLOPS", "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E",
    "milli": "m", "micro": "µ", "nano": "n", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti",
    "us": "µs",
}  # fmt: skip
"""Macros of units and the signs that they set; any other one is called by what it stands for."""


def typeset(text: str) -> str:
    """A text whose units are written out that siunitx has macros for.

    >>> typeset(r"Memory [\\si{\\giga\\byte}]"), typeset(r"\\qty{4.1}{\\milli\\second\\per\\step}")
    ('Memory [GB]', '4.1 ms/step')
    >>> typeset(r"rate (\\unit{tokens\\,\\second\\tothe{-1}})"), typeset(r"\\si{samples.s^{-1}}")
    ('rate (tokens s^-1)', 'samples s^-1')
    """
    if not any(map(text.__contains__, _SETTING_UNITS)):
        return text

    def written(found: re.Match[str]) -> str:
        bare = re.sub(r"\\[,;:! ]|~|\.(?=[A-Za-z\\])", " ", found["unit"])
        bare = _MACRO.sub(lambda each: _SYMBOLS.get(each[1], each[1]) + (each[2] or ""), bare)
        bare = re.sub("[{}]|\\\\(?=%)", "", bare).strip()
        return f"{found['number'] or ''} {bare}".strip()

    return _TYPESET.sub(written, text)


_SETTING_UNITS = ("\\si", "\\unit", "\\SI", "\\qty")


def unit(text: str) -> Unit | None:
    """The unit printed as `text`, or None where it is not one we know.

    >>> unit("GiB").scale, unit("secs").si
    (1073741824, 's')
    >>> unit("tokens/s/GPU") == unit("tokens/s"), unit("万词元/秒").scale
    (False, 10000.0)
    """
    plain = text.casefold().replace(" ", "")
    many = _MANY.get(plain[:1])
    if many is None:
        return _BY_SPELLING.get(plain)
    known = _BY_SPELLING.get(plain[1:])
    return known._replace(scale=known.scale * many) if known and known.si in _COUNTED else None
