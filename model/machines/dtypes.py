"""Number formats: canonical names, bytes of an element, and the spellings that are met.

Source: IEEE 754, OCP 8-bit floating point and microscaling formats; spellings are those of logs
and frameworks.
"""

from __future__ import annotations

import re

DTYPES = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp4", "int8")
"""Canonical names; `dtype` maps every other spelling to one of them."""

ITEMSIZE: dict[str, float] = {
    "fp64": 8.0, "fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "fp4": 0.5,
    "int8": 1.0,
}  # fmt: skip
"""Bytes of one element in memory; tf32 is stored as fp32."""

NARROW = ("fp8", "fp4")
"""Formats of products alone: what stands between them is in 16 bits."""


def dtype(text: str) -> str:
    """Canonical name of a number format as logs, frameworks and tables spell it.

    Both operands of `AxB->C` must agree; the format of the result does not matter to the rate.
    Raises LookupError, which lists the canonical names.

    >>> [dtype(t) for t in ("torch.bfloat16", "amp_bf16", "bf16xbf16->bf16", "half", "fp8_e4m3")]
    ['bf16', 'bf16', 'bf16', 'fp16', 'fp8']
    >>> [dtype(t) for t in ("FP8-CS (FP8-MX)", "MXFP8", "fp8 delayed scaling", "BF16 autocast")]
    ['fp8', 'fp8', 'fp8', 'bf16']
    >>> dtype("NVFP4"), dtype("mxfp4"), dtype("f8_fnuz_r"), dtype("bf8_r")
    ('fp4', 'fp4', 'fp8', 'fp8')
    """
    operands, _, _ = text.strip().lower().partition("->")
    operands = re.sub(r"\s*\([^()]*\)$", "", operands)  # `FP8-CS (FP8-MX)`: the second is aside
    operands = operands.removesuffix("_r")  # real numbers, as rocBLAS calls them
    plain = re.sub(r"^(torch\.|jnp\.|np\.|amp_|pure_|mixed_)+", "", operands)
    for name, spelling in _DTYPE_SPELLINGS:
        if spelling.fullmatch(plain):
            return name
    if operands.count("x") == 1 and operands.index("x"):
        left, right = (dtype(side) for side in operands.split("x"))
        if left == right:
            return left
        raise LookupError(f"{text!r} multiplies {left} by {right}: no single peak applies")
    raise LookupError(f"no number format is called {text!r}; known are {', '.join(DTYPES)}")


_SCALINGS = "hybrid|block(wise)?|sub-?channel|current|delayed|tensor(wise)?|row(wise)?|cs|ds|mx|sc"
"""How the factors of fp8 are chosen, which its peak does not depend on."""

_DTYPE_SPELLINGS = (
    ("fp64", re.compile(r"fp64|f64|float64|double")),
    ("fp32", re.compile(r"fp32|f32|float32|float|single")),
    ("tf32", re.compile(r"tf32|tensorfloat32")),
    ("bf16", re.compile(r"(bf16|bfloat16)([-_ ]?(mixed|amp|autocast))?")),
    ("fp16", re.compile(r"(fp16|float16)([-_ ]?(mixed|amp|autocast))?|f16|half|16[-_]mixed")),
    ("fp8", re.compile(r"(mx)?(fp|f|float)8([-_ ]?(" + _SCALINGS + r")([-_ ]?scaling)?)?")),
    ("fp8", re.compile(r"b?(fp|f)8([-_]?fnuz)?")),
    ("fp8", re.compile(r"((mx)?(fp|f|float)8[-_]?)?e[45]m[23](fn)?(uz)?")),
    ("fp4", re.compile(r"(nv|mx)?(fp|f|float)4([-_]?e2m1(fn)?)?")),
    ("int8", re.compile(r"int8|s8|i8")),
)  # fmt: skip
