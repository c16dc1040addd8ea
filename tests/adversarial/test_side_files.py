"""Side files by the megabyte: keys of many parts, as many headings as the document has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from assay.grammars.toml import MOST_PARTS, toml
from assay.ingest.inputs.side_files import side_file
from assay.ingest.schema.record import Cell, Diagnostic
from assay.ingest.statements.under_headings import UNDER, UnderHeadings
from assay.model.transformer import shapes
from assay.validate.cli import app
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.adversarial.work import work

WORDS = st.sampled_from(["a", "B", "b1", "Ä", "ß", "a-b", "→", "4", "  ", "(a)", "#", "ı"])

TITLES = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)


def has(heading: str, title: str) -> bool:
    """The rule in one pattern: a title holds the words of a heading."""
    whole = rf"(?<!\w){re.escape(heading.strip(' #*:'))}(?!\w)"
    return re.search(whole, title, re.IGNORECASE) is not None


@given(st.lists(TITLES, max_size=5, unique=True), st.lists(TITLES, max_size=5))
def test_titles_have_the_headings_whose_words_they_hold(
    headings: list[str], titles: list[str]
) -> None:
    cells = {f"{each}{UNDER}tp": Cell(each, 0) for each in headings} | {"pp": Cell("2", 0)}
    held = UnderHeadings(cells)
    assert held.everywhere == {"pp": Cell("2", 0)}
    for title in titles:
        first = next((each for each in headings if has(each, title)), None)
        assert held.under(title) == ({} if first is None else {"tp": Cell(first, 0)})
    unmet = [each for each in headings if not any(has(each, title) for title in titles)]
    assert held.unmet(titles) == unmet


def test_what_is_said_first_under_a_title_counts() -> None:
    cells = {f"a{UNDER}tp": Cell("1", 0), f"b{UNDER}pp": Cell("2", 0), f"a{UNDER}pp": Cell("3", 0)}
    found = UnderHeadings(cells).under("A and B")
    assert {name: cell.text for name, cell in found.items()} == {"tp": "1", "pp": "2"}


def test_headings_are_looked_for_all_at_once() -> None:
    def asked(n: int) -> int:
        cells = {f"Throughput of run {at}{UNDER}tp": Cell("1", 0) for at in range(n)}

        def act() -> None:
            held = UnderHeadings(cells)
            for at in range(n):
                held.under(f"{at}. Throughput of run {at}")
            assert not held.unmet(f"Throughput of run {at}" for at in range(n))

        return work(act)

    assert asked(400) <= 5 * asked(100)


@pytest.mark.parametrize("key", ["a.b", "a . 'b.c' . \"d\"", ".".join("a" * MOST_PARTS)])
def test_keys_of_a_few_parts_are_what_they_were(key: str) -> None:
    text = f"[{key}]\n{key} = 1 # {'.'.join('a' * 10)}\nx = 1.5"
    assert toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("part", ["a", "'a'", '"a b"', "a-1 "])
def test_a_key_of_thousands_of_parts_is_refused(part: str, tmp_path: Path) -> None:
    key = ".".join([part] * 100_000)
    for text in (f"{key} = 1", f"x = 1\n[{key}]", f"a = {{ {key} = 1 }}"):
        (tmp_path / "run.toml").write_text(text, encoding="utf-8")
        found = side_file(tmp_path / "run.md")
        assert isinstance(found, Diagnostic)
        assert f"a key of more than {MOST_PARTS} parts" in found.message


def test_a_side_file_with_such_a_key_is_named(tmp_path: Path) -> None:
    page = tmp_path / "run.md"
    page.write_text("| GPUs | Sec/it |\n| - | - |\n| 8 | 10.5 |\n", encoding="utf-8")
    (tmp_path / "run.toml").write_text(".".join("a" * 200_000) + " = 1", encoding="utf-8")
    done = CliRunner().invoke(app, ["check", str(page)])
    assert done.exit_code == 3  # something was refused
    said = done.output
    assert "run.toml" in said
    assert "a key of more than 64 parts" in said


@pytest.mark.parametrize("text", [".".join("a" * 200_000) + " = 1", "a = " + "[" * 200_000])
@pytest.mark.parametrize("option", ["--stack", "--machines", "--ignore"])
def test_so_are_other_files_that_users_write(option: str, text: str, tmp_path: Path) -> None:
    page, own = tmp_path / "run.md", tmp_path / "own.toml"
    page.write_text("| GPUs | Sec/it |\n| - | - |\n| 8 | 10.5 |\n", encoding="utf-8")
    own.write_text(text, encoding="utf-8")
    command = "check" if option == "--ignore" else "report"
    done = CliRunner().invoke(app, [command, str(page), option, str(own)])
    assert done.exit_code == 2
    said = " ".join(done.output.replace("│", " ").split())
    assert "parts" in said or "too deeply" in said


@pytest.mark.parametrize("text", [".".join("a" * 200_000) + " = 1", "a = " + "[" * 200_000])
def test_and_files_of_shapes(text: str, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text, encoding="utf-8")
    with pytest.raises(tomllib.TOMLDecodeError, match=r"parts|too deeply"):
        shapes.load(own)
