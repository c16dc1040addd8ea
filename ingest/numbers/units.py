"""Printed units: what a suffix or a bracket means in SI.

Byte units are decimal for `GB` and binary for `GiB`, as printed. Spelling is compared without case
and blanks: `T/s` is tokens per second in the tables that print it, beside `S/s` for samples.
"""

from __future__ import annotations

from typing import NamedTuple


class Unit(NamedTuple):
    """A printed unit: its SI unit and the factor to it."""

    si: str
    scale: float


def _units(si: str, **scales: float) -> dict[str, Unit]:
    return {name: Unit(si, scale) for name, scale in scales.items()}


UNITS: dict[str, Unit] = {
    **_units("s", s=1, sec=1, secs=1, second=1, seconds=1, ms=1e-3, msec=1e-3, us=1e-6, µs=1e-6),
    **_units("s", min=60, minutes=60, h=3600, hours=3600, ns=1e-9),
    **_units("B", B=1, KB=1e3, MB=1e6, GB=1e9, TB=1e12),
    **_units("B", KiB=2**10, MiB=2**20, GiB=2**30, TiB=2**40),
    **_units("flop/s", FLOPS=1, GFLOPS=1e9, TFLOPS=1e12, PFLOPS=1e15),
    **_units("1", x=1, X=1),
    "×": Unit("1", 1),
    "%": Unit("1", 0.01),
    "T/s": Unit("token/s", 1),
    "tok/s": Unit("token/s", 1),
    "tok/sec": Unit("token/s", 1),
    "tokens/s": Unit("token/s", 1),
    "tokens/sec": Unit("token/s", 1),
    "token/s": Unit("token/s", 1),
    "tokens/second": Unit("token/s", 1),
    "TPS": Unit("token/s", 1),
    "S/s": Unit("sample/s", 1),
    "samples/s": Unit("sample/s", 1),
    "samples/sec": Unit("sample/s", 1),
    "sample/s": Unit("sample/s", 1),
    "samp/s": Unit("sample/s", 1),
    "seq/s": Unit("sample/s", 1),
    "sequences/s": Unit("sample/s", 1),
    "s/it": Unit("s", 1),
    "s/iter": Unit("s", 1),
    "sec/it": Unit("s", 1),
    "sec/iter": Unit("s", 1),
    "s/step": Unit("s", 1),
    "ms/it": Unit("s", 1e-3),
    "ms/iter": Unit("s", 1e-3),
    "ms/step": Unit("s", 1e-3),
    "T/s/GPU": Unit("token/s", 1),
    "tok/s/GPU": Unit("token/s", 1),
    "tokens/s/GPU": Unit("token/s", 1),
    "tokens/sec/GPU": Unit("token/s", 1),
    "token/s/GPU": Unit("token/s", 1),
    "token/sec/GPU": Unit("token/s", 1),
    "TFLOP": Unit("flop/s", 1e12),
    "TFLOP/s": Unit("flop/s", 1e12),
    "TFLOP/s/GPU": Unit("flop/s", 1e12),
    "MODEL_TFLOP/s/GPU": Unit("flop/s", 1e12),
    "TFLOPs/GPU": Unit("flop/s", 1e12),
    "TFLOP/sec/GPU": Unit("flop/s", 1e12),
    "TFLOPS/GPU": Unit("flop/s", 1e12),
    "TFLOPs/s/GPU": Unit("flop/s", 1e12),
    "TFLOPs/sec/GPU": Unit("flop/s", 1e12),
    "GFLOP/s/GPU": Unit("flop/s", 1e9),
    "PFLOP/s/GPU": Unit("flop/s", 1e15),
    "TFLOPs/s": Unit("flop/s", 1e12),
}

_BY_SPELLING = {name.casefold().replace(" ", ""): unit for name, unit in UNITS.items()}

SUFFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}
"""Count suffixes, as in 250k or 200B: such a number is nominal."""


def unit(text: str) -> Unit | None:
    """The unit printed as `text`, or None where it is not one we know.

    >>> unit("GiB")
    Unit(si='B', scale=1073741824)
    >>> unit("secs").scale
    1
    """
    return _BY_SPELLING.get(text.casefold().replace(" ", ""))
