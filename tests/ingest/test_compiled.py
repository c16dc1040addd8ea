"""Expressions whose tables were kept find what those find that are compiled here and now."""

from __future__ import annotations

import gc
import marshal
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from assay.ingest.expressions import compiled as module
from assay.ingest.expressions.compiled import compiled, keep, kept, remade, worked_out
from assay.ingest.inputs.read import read
from assay.ingest.schema.terminals import _Deferred

PUBLISHED = Path(__file__).parent / "published"

TEXTS = [
    line
    for path in sorted(PUBLISHED.glob("*.md"))[::9]
    for line in path.read_text("utf-8").splitlines()[:12]
    if line
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where this test keeps tables; what others kept is as if it were not there."""
    path = tmp_path / "kept.tables"
    monkeypatch.setattr(module, "_place", lambda: path)
    monkeypatch.setattr(module, "_made", {})
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept.cache_clear()
    yield path
    kept.cache_clear()


def expressions() -> list[tuple[str, int]]:
    """Some of those that reading asks for, and some that hold what others do not."""
    asked = {(e.pattern, int(e._flags)) for e in gc.get_objects() if type(e) is _Deferred}
    return [
        *sorted(asked)[::9],
        (r"(?P<n>\d+)(?P<unit>[kM])?", 0),
        (r"(?<!\w)[^\W\d_]+(?=:)", re.IGNORECASE),
        (r"(?x) a b # c", re.MULTILINE),
        ("[äöü]+|显存", re.IGNORECASE),
    ]


def test_what_is_kept_finds_what_is_compiled_finds() -> None:
    read(sorted(PUBLISHED.glob("*.md"))[:1])  # imports all that reads documents
    asked = expressions()
    assert len(asked) > 100
    for pattern, flags in asked:
        made, plain = remade(pattern, worked_out(pattern, flags)), re.compile(pattern, flags)
        assert (made.pattern, made.flags, made.groups) == (pattern, plain.flags, plain.groups)
        assert made.groupindex == plain.groupindex
        for text in TEXTS:
            assert [(m.span(), m.groups(), m.lastgroup) for m in made.finditer(text)] == [
                (m.span(), m.groups(), m.lastgroup) for m in plain.finditer(text)
            ]


def test_tables_are_kept_and_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled("a(b)?", re.IGNORECASE).fullmatch("AB")
    keep()
    kept.cache_clear()
    assert set(kept()) == {("a(b)?", int(re.IGNORECASE))}
    monkeypatch.setattr(module, "worked_out", None)  # nothing is worked out again
    made = compiled("a(b)?", re.IGNORECASE).fullmatch("AB")
    assert made
    assert made[1] == "B"


def test_those_of_others_stay(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in ("one", "two"):
        monkeypatch.setattr(module, "_made", {})
        compiled(pattern)
        keep()
    kept.cache_clear()
    assert {pattern for pattern, _ in kept()} == {"one", "two"}


def test_too_many_of_others_are_left(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled("one")
    keep()
    monkeypatch.setattr(module, "_made", {("two", 0): worked_out("two", 0)})
    monkeypatch.setattr(module, "MOST", 0)
    keep()
    kept.cache_clear()
    assert {pattern for pattern, _ in kept()} == {"two"}


@pytest.mark.parametrize("damage", ["nothing", "cut", "other", "invalid"])
def test_what_is_damaged_is_compiled_anew(place: Path, damage: str) -> None:
    compiled("a+b")
    keep()
    held = place.read_bytes()
    state = len(module._state())
    flags, words, *others = marshal.loads(held[state:])["a+b", 0]
    invalid = {("a+b", 0): (flags, words[::-1], *others)}
    place.write_bytes({
        "nothing": b"",
        "cut": held[:-7],
        "other": bytes(state) + held[state:],
        "invalid": held[:state] + marshal.dumps(invalid),
    }[damage])  # fmt: skip
    kept.cache_clear()
    module._made.clear()
    found = compiled("a+b").search("caab")
    assert found
    assert found.span() == (1, 4)


def test_an_expression_that_is_none_is_an_error(place: Path) -> None:
    with pytest.raises(re.error):
        compiled("(")


@pytest.mark.parametrize("writes", [False, True])
def test_a_process_leaves_tables_where_it_leaves_bytecode(tmp_path: Path, writes: bool) -> None:
    code = "from assay.ingest.expressions.compiled import compiled; compiled('a+'), compiled('b+')"
    prefix = {
        "PYTHONPYCACHEPREFIX": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "" if writes else "1",
    }
    subprocess.run([sys.executable, "-c", code], env=prefix, check=True)
    assert bool(list(tmp_path.rglob("compiled*.tables"))) == writes
