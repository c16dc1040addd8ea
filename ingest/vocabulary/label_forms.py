"""The forms in which a label is written: as a variable's name, or with its second in words.

In: the label of a column. Out: the same in the words and strokes that tables have it in, whose
units stand in brackets; a label that is known as it is stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from assay.ingest.numbers.units import unit
from assay.ingest.vocabulary.terms import normalise, spellings
from assay.ingest.vocabulary.words import said

LONGEST_LABEL = 80
"""Characters beyond which a label is a sentence."""


@lru_cache(maxsize=4096)  # labels are asked again and again
def in_words(label: str) -> str:
    """A label in words.

    >>> in_words("tokensPerSPerGpu"), in_words("stepTimeMs"), in_words("algbw_gb_per_s")
    ('tokens/s/gpu', 'step time (ms)', 'algbw (GB/s)')
    >>> in_words("ours_tok_per_s"), in_words("perf.peak_mem_gib"), in_words("hf-step-time-ms")
    ('ours (tok/s)', 'peak mem (GiB)', 'hf step time (ms)')
    >>> in_words("cuBLAS"), in_words("DeepSpeed"), in_words("tp_size"), in_words("bf16 GB s⁻¹")
    ('cuBLAS', 'DeepSpeed', 'tp_size', 'bf16 GB/s')
    >>> in_words("AlgBW (GB per second)"), in_words("time per second of audio")
    ('AlgBW (GB/s)', 'time per second of audio')
    """
    if len(label) > LONGEST_LABEL:
        return label
    if _CAMEL.fullmatch(label):
        humps = _HUMPS.findall(label)
        parts = [word.casefold() for word in humps]
        return _joined(parts) if _TELLING & {*parts} or humps[-1] in _UNITS else label
    if normalise(label) in spellings():
        return label
    if (parts := _parts(label)) and said(label) is None:
        return _joined(parts)
    return _A_SECOND.sub("/s", label)


_A_SECOND = re.compile(
    r"(?<=[A-Za-z])\s(?:per\s(?:second|sec\.?)|(?:s|sec)\s?(?:\^\{?[-−]1\}?|⁻¹))"
    r"(?=$|[)\]]|\s?(?:/|per\s)\s?(?:[GNTX]PU|device|card|chip)|\s[(\[])",
    re.IGNORECASE,
)
"""A rate by the second, in words or as physicists write it."""

_CAMEL = re.compile(r"[A-Za-z][a-z]+(?:[A-Z]+[a-z0-9]*|[0-9]+[A-Z][a-z]*)+|[a-z](?:[A-Z][a-z]+)+")

_HUMPS = re.compile(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+(?![a-z])[0-9]*|[0-9]+")

_JOINED = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+")

_BEGINS = re.compile(r"(?:perf|performance|metrics?|stats?|results?|train|training|bench)\.")
"""Where a metric is kept, which its name begins with."""

_TELLING = {
    "per", "time", "tokens", "tok", "samples", "step", "steps", "iter", "iteration", "batch",
    "memory", "mem", "throughput", "latency", "tflops", "tflop", "seq", "sequence", "length",
    "size", "gpus", "nodes", "bandwidth", "mfu", "peak", "vram", "allocated", "reserved",
}  # fmt: skip
"""Words one of which the names of settings and of measurements have, and no name of a program."""

_UNITS = {"Ms", "Us", "Gb", "Gib", "Mb", "Mib"}
"""Units at the end of a name of which the capitals are its words'."""

_AS_PRINTED = {"ms": "ms", "s": "s", "sec": "s", "us": "us", "kb": "KB", "mb": "MB", "gb": "GB",
               "tb": "TB", "gib": "GiB", "mib": "MiB", "pct": "%", "percent": "%",
               "tflops": "TFLOPS", "tflop": "TFLOP", "gflops": "GFLOPS"}  # fmt: skip
"""Units in a name."""


def _parts(label: str) -> list[str]:
    """The words of a variable's name, nothing of any other label."""
    if not _JOINED.fullmatch(label) or ("_" in label and "-" in label):  # behind a kernel's name
        return []
    words = re.split(r"[_.-]", _BEGINS.sub("", label))
    lower = [word.casefold() for word in words]
    tells = "per" in lower or (lower[-1] in _AS_PRINTED and _TELLING & {*lower[:-1]})
    return words if tells and "".join(words).islower() else []


def _joined(words: Sequence[str]) -> str:
    """Words with strokes for `per`, and the unit that they end with in brackets."""
    strokes = [_AS_PRINTED.get(word, word) for word in words]
    text = _PER.sub("/", " ".join(strokes))
    pieces = text.split(" ")
    first = pieces[-1].partition("/")[0]
    if len(pieces) > 1 and (unit(pieces[-1]) or first in _BYTES):
        return f"{' '.join(pieces[:-1])} ({pieces[-1]})"
    return text


_PER = re.compile(r" per (?=[A-Za-z])")

_BYTES = {"KB", "MB", "GB", "TB"}
