"""docs/architecture.md against the tree: its rooms, the places it points at, its journeys."""

from __future__ import annotations

import ast
import re

import pytest

from tests.conftest import ROOT
from tests.journeys import MARK, counted
from tests.test_imports import ROOMS, by_name

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
BODY, _, JOURNEYS = PAGE.partition(MARK)
FEW = 3
"""Files by which a journey may differ from the page: threads meet one or another first."""


def test_the_rooms_of_the_page_are_those_of_the_house_in_order() -> None:
    listed = re.findall(r"^\| `([a-z_/.]+?)/?` \|", BODY.partition("## Words")[0], re.MULTILINE)
    assert tuple(listed) == ROOMS


def test_every_room_says_in_its_own_file_what_is_in_it() -> None:
    for room in ROOMS:
        if not room.endswith(".py"):
            text = (ROOT / room / "__init__.py").read_text(encoding="utf-8")
            assert ast.get_docstring(ast.parse(text)), f"{room} has no sentence"


@pytest.mark.parametrize("place", sorted(set(re.findall(r"`([a-z_]+/[a-z_/]*(?:\.\w+)?)`", BODY))))
def test_places_exist(place: str) -> None:
    assert any((ROOT / home / place).exists() for home in (".", "ingest")), place


def test_names_stand_where_the_page_says() -> None:
    named = re.findall(r"`([A-Z_]{4,})` (?:in|of) `([a-z_/]+\.py)`", BODY)
    assert len(named) >= 8
    for name, place in named:
        assert re.search(rf"^{name}\b", (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE), (
            f"{place} has no {name}"
        )


def test_the_journeys_visit_the_files_of_the_page() -> None:
    parts = re.split(r"^### (.+)$", JOURNEYS, flags=re.MULTILINE)[1:]
    told = dict(zip(parts[::2], parts[1::2], strict=True))
    found = counted()
    assert list(told) == list(found)
    known = {path.relative_to(ROOT).as_posix() for path in by_name().values()}
    for title, visits in found.items():
        files = {
            f"{room}/{name}.py"
            for room, names in re.findall(r"^- `([a-z_/]+)/`: (.+)$", told[title], re.MULTILINE)
            for name in names.split(", ")
        }
        assert files <= known, f"{title}: {sorted(files - known)} are not there"
        other = files ^ set(visits.files)
        assert len(other) <= FEW, f"{title}: run `make docs`; {sorted(other)}"
