"""Which public shape a printed model name means: LLAMA3-8B, meta-llama/Llama-3.1-70B, mixtral 8x7b.

Names are compared without case, punctuation, organisation and words that change no shape. Releases
that kept the shape of an earlier one (Llama 3.1 that of Llama 3) are aliases. LookupError lists the
known names.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from assay.model.shapes import shapes

SAME_SHAPE = (("llama31", "llama3"), ("llama33", "llama3"))
"""A later release, and the one whose shape it has; only where that gives a known name."""

WORDS = re.compile(r"(instruct|chat|base|hf|pretrain(ing|ed)?|model|fp8|bf16|fp16)$")


def plain(text: str) -> str:
    """The name as it is compared.

    >>> plain("meta-llama/Llama-2-70b-hf"), plain("LLAMA3-8B")
    ('llama270b', 'llama38b')
    """
    name = re.sub(r"[^a-z0-9]", " ", text.strip().lower().rpartition("/")[2]).split()
    while name and WORDS.fullmatch(name[-1]):
        name.pop()
    return "".join(name)


@functools.cache
def _known() -> Mapping[str, str]:
    return {plain(name): name for name in shapes()}


def resolve(text: str) -> str:
    """The name in `shapes.toml` that `text` means; LookupError where none does.

    >>> resolve("LLAMA3-8B"), resolve("Llama 3.1 405B"), resolve("Mixtral_8x7B")
    ('Llama-3-8B', 'Llama-3-405B', 'Mixtral-8x7B')
    """
    name, known = plain(text), _known()
    spellings = [name, *(name.replace(new, old, 1) for new, old in SAME_SHAPE)]
    for spelling in spellings:
        if spelling in known:
            return known[spelling]
    raise LookupError(f"no shape is called {text!r}; known are {', '.join(shapes())}")
