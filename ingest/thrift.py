"""Thrift's compact protocol, as far as the footers of Parquet files are written in it.

In and out: bytes, and a struct as a dict from the number of a field to its type and value. A list
is the type of its items and the items; maps and sets, which no footer has, are refused.
"""

from __future__ import annotations

from typing import Any

Struct = dict[int, tuple[int, Any]]

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, _, _, STRUCT = range(1, 13)


def parsed(data: bytes) -> Struct:
    """The struct that `data` begins with. Raises ValueError for what is none."""
    found: Struct = _read(data, 0, STRUCT)[0]
    return found


def spelled(struct: Struct) -> bytes:
    """The bytes of a struct."""
    out = bytearray()
    _write(out, STRUCT, struct)
    return bytes(out)


def number(value: int) -> bytes:
    """A number that is not negative, seven bits to the byte."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    """A number of at most 64 bits that may be negative."""
    return number((value << 1) ^ (value >> 63))


def _read(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """A value of one type that begins at `at`, and where it ends."""
    if kind in (TRUE, FALSE):  # the type of a field says which
        return kind == TRUE, at
    if kind == BYTE:
        return data[at], at + 1
    if kind in (I16, I32, I64):
        found, at = _number(data, at)
        return (found >> 1) ^ -(found & 1), at
    if kind == DOUBLE:
        return data[at : at + 8], at + 8
    if kind == BINARY:
        length, at = _number(data, at)
        return data[at : at + length], at + length
    if kind == LIST:
        return _read_list(data, at)
    if kind == STRUCT:
        return _read_struct(data, at)
    raise ValueError(f"type {kind} in a footer")


def _read_list(data: bytes, at: int) -> tuple[tuple[int, list[Any]], int]:
    head, at = data[at], at + 1
    kind, count = head & 15, head >> 4
    if count == 15:
        count, at = _number(data, at)
    items = []
    for _item in range(count):
        item, at = _read(data, at, BYTE if kind in (TRUE, FALSE) else kind)
        items.append(item)
    return (kind, items), at


def _read_struct(data: bytes, at: int) -> tuple[Struct, int]:
    found: Struct = {}
    name = 0
    while head := data[at]:
        at += 1
        if head >> 4:
            name += head >> 4
        else:
            name, at = _read(data, at, I16)
        value, at = _read(data, at, head & 15)
        found[name] = head & 15, value
    return found, at + 1


def _number(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[at]
        found |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return found, at


def _write(out: bytearray, kind: int, value: Any) -> None:
    if kind in (TRUE, FALSE):
        return
    if kind == BYTE:
        out.append(value)
    elif kind in (I16, I32, I64):
        out += signed(value)
    elif kind == BINARY:
        out += number(len(value))
        out += value
    elif kind == LIST:
        _write_list(out, *value)
    elif kind == STRUCT:
        _write_struct(out, value)
    else:  # eight bytes as they are
        out += value


def _write_list(out: bytearray, kind: int, items: list[Any]) -> None:
    if len(items) < 15:
        out.append(len(items) << 4 | kind)
    else:
        out.append(15 << 4 | kind)
        out += number(len(items))
    for item in items:
        _write(out, BYTE if kind in (TRUE, FALSE) else kind, item)


def _write_struct(out: bytearray, struct: Struct) -> None:
    last = 0
    for name, (kind, value) in sorted(struct.items()):
        if 0 < name - last < 16:
            out.append((name - last) << 4 | kind)
        else:
            out.append(kind)
            _write(out, I16, name)
        _write(out, kind, value)
        last = name
    out.append(0)
