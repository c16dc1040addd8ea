"""How attention is computed, as a cell or a setting says it.

In: what is printed as the value of such a setting. Out: `flash` where scores never stand in memory,
`unfused` where they do, `sdpa` where PyTorch's function chooses between kernels; None where another
library chooses, or where it is another kernel.
"""

from __future__ import annotations

import re
from typing import Literal

Kernel = Literal["flash", "sdpa", "unfused"]

_FLASH = re.compile(
    r"(?:(?:use|with) )?(?:flash(?:[-_ ]?att(?:entio)?n)?|FA)"
    r"(?:[-_ ]?v?[1-4](?:\.[0-9]{1,2}){0,2})?(?: (?:kernel|on))?"
    r"|(?:torch[-_. ])?SDPA[-_ /:(]{1,2}flash\)?|flash[-_ ]SDPA?",
    re.IGNORECASE,
)

_UNFUSED = re.compile(
    r"(?:un-?fused|not fused|non-?fused|eager|naive|vanilla)"
    r"(?:[-_ ](?:attention|attn|softmax|kernel|PyTorch))?"
    r"|(?:torch[-_. ])?SDPA[-_ /:(]{1,2}math\)?|math[-_ ]SDPA?",
    re.IGNORECASE,
)

SDPA = (
    r"(?:\b(?:torch|PyTorch)(?:[-_. ]|['’]s ){1,2})?(?:\bSDPA|(?:\b(?:nn\.)?(?:F|functional)\.)?"
    r"\bscaled[-_ ]dot[-_ ]product[-_ ]attention)\b(?:\(\))?"
)
"""PyTorch's attention, which chooses a kernel by what it is called with."""

_SDPA = re.compile(rf"(?:(?:use|with) )?{SDPA}(?:[-_ ](?:attention|attn|kernel))?", re.IGNORECASE)

_OTHER = re.compile(
    r"(?:torch |PyTorch |cu)?DNN|xformers|mem(?:ory)?[-_ ]eff(?:icient)?|fused"
    r"|flex(?:[-_ ]?att(?:entio)?n)?|triton|math|standard|default|baseline|local|TE|ring|core|none",
    re.IGNORECASE,
)
"""Kernels that a library chooses, or that are called by what says not how they work."""


def attention_named(text: str) -> Kernel | None:
    """How attention is computed, by the name of its kernel.

    >>> attention_named("FlashAttention-2"), attention_named("FA3"), attention_named("unfused")
    ('flash', 'flash', 'unfused')
    >>> attention_named("sdpa"), attention_named("causal"), attention_named("PyTorch SDPA")
    ('sdpa', None, 'sdpa')
    >>> attention_named("sdpa_math"), attention_named("SDPA (flash)")
    ('unfused', 'flash')
    >>> attention_named("flash_attention_2 + packing"), attention_named("eager + flash")
    ('flash', None)
    """
    bare = text.strip(" *_`'\"")
    if _FLASH.fullmatch(bare):
        return "flash"
    if _UNFUSED.fullmatch(bare):
        return "unfused"
    if _SDPA.fullmatch(bare):
        return "sdpa"
    parts = [part for part in _ADDED.split(bare) if names_attention(part)] if "+" in bare else ()
    return attention_named(parts[0]) if len(parts) == 1 else None


_ADDED = re.compile(r"\s*\+\s*")


_TOLD_FLASH = re.compile(r"\bflash[-_ ]?att(?:entio)?n\b|\bFA-?[23]\b", re.IGNORECASE)

_OFF = re.compile(
    r"(?:\b(?:no|without|w/o|non)[ -]|\b(?:not use|disable)\w* )(?:the )?"
    r"(?:flash[-_ ]?att(?:entio)?n|FA-?[23])\b"
    r"|\b(?:flash[-_ ]?att(?:entio)?n|FA)(?:[-_ ]?v?[1-4])?(?: (?:is|was))?\s?[=:]?\s?"
    r"(?:off|disabled|no|none|false|not used)\b",
    re.IGNORECASE,
)
"""Words by which the fused kernel is switched off."""

_TOLD_UNFUSED = re.compile(
    r"\b(?:un-?fused|not fused|non-?fused)\b|\bwritten out\b"
    r"|\b(?:materiali[sz]\w+|stores?|keeps?) (?:all |all of )?(?:the |its )?"
    r"(?:attention |full |whole )*(?:scores|score matrix|matrix)\b",
    re.IGNORECASE,
)

_OF_IT = re.compile(r"\b(?:attention|attn|softmax|scores?)\b", re.IGNORECASE)


def attention_told(text: str) -> Kernel | None:
    """How attention is computed, by a phrase of a legend that describes its kernel.

    >>> attention_told("attention as in HF (not fused)"), attention_told("softmax(QK)V written out")
    ('unfused', 'unfused')
    >>> attention_told("FlashAttention-2 through torch"), attention_told("unfused optimizer")
    ('flash', None)
    >>> attention_told("flash attention = off"), attention_told("no FlashAttention")
    ('unfused', 'unfused')
    """
    if _OFF.search(text):
        return "unfused"
    flash = _TOLD_FLASH.search(text) is not None
    unfused = _TOLD_UNFUSED.search(text) is not None and _OF_IT.search(text) is not None
    return None if flash == unfused else "flash" if flash else "unfused"


def names_attention(text: str) -> bool:
    """Whether a text names a kernel of attention, known or not: no mask, and no kind of heads.

    >>> names_attention("sdpa"), names_attention("GQA"), names_attention("causal")
    (True, False, False)
    """
    return attention_named(text) is not None or _OTHER.fullmatch(text.strip(" *_`'\"")) is not None


_SWITCH = re.compile(r"(?:use|enable|with)?flash(?:attention|attn|atten)v?[1-4]?(?:enabled)?")


def switches_flash(label: str) -> bool:
    """Whether a label, without case and signs, is that of a switch of fused attention.

    >>> switches_flash("useflashattention"), switches_flash("flashattn"), switches_flash("flash")
    (True, True, False)
    """
    return _SWITCH.fullmatch(label) is not None
