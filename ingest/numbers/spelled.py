"""Numbers as people write them, in the way in which one grammar reads them.

In: the text of a cell. Out: the same with its number in digits: `approx. 1.3 s` as `~1.3 s`,
`1.23×10^4` and `12.3 thousand` as `1.23e4` and `12.3e3`, `1.2 s per step` as `1.2 s/step`, and
without signs that only praise it. What is no number stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ABOUT = re.compile(
    r"^\s*(?:(?:about|approx(?:\.|imately)?|roughly|around|circa|nearly|c\.|env\.|environ|etwa"
    r"|cerca(?: de)?)\s|[≃∼～≅]|大约|[约約]|およそ|약)\s*[~≈]?\s*(?=[0-9])",
    re.IGNORECASE,
)
"""Words and signs by which a number is rough."""

_STATISTIC = re.compile(
    r"^\s*(?:avg|average|mean|median|med)\.?\s*[:=]?\s*(?=[~≈]?[0-9])", re.IGNORECASE
)
"""A word for one number of many, in front of it: `median 1.2`."""

_PRAISE = re.compile("[⚡🥇🥈🥉🔥🚀⬆⬇▲▼△▽✨👑★☆🟢🟡🟠🔴🟩🟨🟥\ufe0f]")

_SPREAD = re.compile(r"\s*[\[(]\s*(?:±|\+/-|\+-)[^\[\]()]{1,16}[\])]")

_POWER = re.compile(
    r"(?<=[0-9])\s*[×x*·⋅]\s*10\s*(?:(?:\^|\*\*)\s*\{?([+-]?[0-9]{1,2})\}?|([⁻⁰¹²³⁴-⁹]{1,3}))(?![0-9])"
)
"""A power of ten behind a number: `1.23×10^4`."""

_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

_MANY = {
    "thousand": 3, "million": 6, "mio": 6, "billion": 9, "bn": 9, "mrd": 9, "万": 4, "萬": 4,
    "만": 4, "亿": 8, "億": 8, "억": 8, "百万": 6,
}  # fmt: skip

_IN_WORDS = re.compile(
    r"(?<=[0-9])\s?(thousand|million|mio\.?|billion|bn|mrd\.?|百万|[万萬만亿億억])(?![A-Za-z])",
    re.IGNORECASE,
)
"""A word for a power of ten behind a number: `7 billion`, `70亿`."""

_JOINT = re.compile(r"(?<=[A-Za-z])\.?\s*(?:/|\bper\b)\s*(?=[A-Za-z])", re.IGNORECASE)
"""Between the parts of a unit: `tokens per second`, `sec. / iter`."""

_POINT_BEHIND = re.compile(r"(?<=[0-9 ][A-Za-z]{3})\.$|(?<=[0-9 ][A-Za-z]{4})\.$")
"""The point of an abbreviated unit: `1.2 sec.`."""


@lru_cache(maxsize=4096)
def spelled(text: str) -> str:
    """A cell with its number in digits and its unit in one piece.

    >>> spelled("approx. 1.3 s"), spelled("median 1.2"), spelled("1.2 s ⚡")
    ('~1.3 s', '1.2', '1.2 s')
    >>> spelled("1.23×10^4"), spelled("7 billion"), spelled("2.4万 tokens per second")
    ('1.23e4', '7e9', '2.4e4 tokens/second')
    >>> spelled("0.84 (±0.02)"), spelled("1.2 secs."), spelled("8 x 10 GB"), spelled("per step")
    ('0.84', '1.2 secs', '8 x 10 GB', 'per step')
    """
    if not any(map(str.isdigit, text)):
        return text
    if not text.isascii():
        text = _PRAISE.sub("", text).strip()
    text = _STATISTIC.sub("", _ABOUT.sub("~", text))
    text = _SPREAD.sub("", text) if "±" in text or "+" in text else text
    text = _POWER.sub(_in_digits, text) if "10" in text else text
    text = _IN_WORDS.sub(lambda found: f"e{_MANY[found[1].casefold().rstrip('.')]}", text)
    return _POINT_BEHIND.sub("", _JOINT.sub("/", text))


def _in_digits(found: re.Match[str]) -> str:
    """A power of ten as programs print it."""
    return f"e{int(found[1] or found[2].translate(_RAISED))}"
