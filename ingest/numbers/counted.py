"""Whole numbers of settings beside what they count: `256 seqs`, `2^10`, `8*32=256`, `one`.

In: the text of a cell and its field. Out: the number alone, or nothing where it is no more.
"""

from __future__ import annotations

import re
from math import prod

_NUMERALS = {
    "one": "1", "single": "1", "a single": "1", "two": "2", "three": "3", "four": "4", "six": "6",
    "eight": "8", "sixteen": "16",
}  # fmt: skip

_SOLVED = re.compile(r"([0-9]{1,6})((?:\s*[x×*·]\s*[0-9]{1,6}){1,3})\s*=\s*([0-9][0-9,]{0,9})")
"""A product and what it is: `8*32=256`."""

_OF_TWO = re.compile(r"2\s?(?:\^|\*\*)\s?\{?([1-9]|[12][0-9])\}?")

_LOWER = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s?([bm])(?=$|\s*\()")
"""A size in small letters: `7b`."""

_OF_BATCHES = re.compile(
    r"(?<=[0-9kKM])\s?(?:seqs?\.?|sequences?|samples?|images?|imgs?|examples?|sentences?|tok(?:en)?s?"
    r"|utterances|clips|videos|graphs|pairs)$",
    re.IGNORECASE,
)

_THINGS = {
    "seq_len": re.compile(r"(?<=[0-9kK])\s?(?:tok(?:en)?s?|ctx|context)\.?$", re.IGNORECASE),
    "micro_batch": _OF_BATCHES, "global_batch": _OF_BATCHES, "batch_size": _OF_BATCHES,
}  # fmt: skip
"""Field → what its number counts, behind it."""

_OF_EACH = re.compile(
    r"(?<=[0-9B])\s?(?:(?:/\s?|per )(?:[GNTHX]PU|device|card|chip|rank|GCD|accelerator)|each)$",
    re.IGNORECASE,
)


def of_each(text: str) -> str:
    """A number without the words that it is that of each device.

    >>> of_each("67.2 GB per GPU"), of_each("4/GPU"), of_each("4/node")
    ('67.2 GB', '4', '4/node')
    """
    return _OF_EACH.sub("", text)


def bare_count(text: str, field: str) -> str:
    """The number of a cell of a setting; empty where it is no more than that, or something else.

    >>> bare_count("256 seqs", "global_batch"), bare_count("8*32=256", "global_batch")
    ('256', '256')
    >>> bare_count("7b", "parameters"), bare_count("8*3=256", "global_batch")
    ('7B', '')
    >>> bare_count("One", "gpus"), bare_count("8", "tp")
    ('1', '')
    """
    if numeral := _NUMERALS.get(text.casefold()):
        return numeral
    if power := _OF_TWO.fullmatch(text):
        return str(2 ** int(power[1]))
    if solved := _SOLVED.fullmatch(text):
        factors = [int(solved[1]), *map(int, re.findall("[0-9]+", solved[2]))]
        result = int(solved[3].replace(",", ""))
        return str(result) if prod(factors) == result else ""
    if field in ("parameters", "model_size"):
        found = _LOWER.match(text)
        return f"{found[1]}{found[2].upper()}{text[found.end() :]}" if found else ""
    bare = of_each(text) if field == "micro_batch" else text
    things = _THINGS.get(field)
    bare = things.sub("", bare) if things else bare
    return bare if bare != text else ""
