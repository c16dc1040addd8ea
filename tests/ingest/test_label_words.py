"""Labels of tables in other languages and in short, and words of what is computed again.

The words are in `label_words.toml`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from assay.ingest.columns.headers import header
from assay.ingest.formats.markdown_table import MarkdownTable
from assay.ingest.vocabulary.recomputation import how_much_again
from assay.ingest.vocabulary.terms import meaning, told_once

WORDS = tomllib.loads(Path(__file__).with_name("label_words.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("field", WORDS["settings"])
def test_a_label_in_any_language_is_of_its_setting(field: str) -> None:
    labels = WORDS["settings"][field]
    assert {label: getattr(meaning(label), "field", None) for label in labels} == dict.fromkeys(
        labels, field
    )
    for label in labels:
        column = header([label], MarkdownTable)[0]
        assert (label, column.spec and column.spec.name) == (label, field)


@pytest.mark.parametrize("told", WORDS["measured"], ids=lambda told: told["field"])
def test_a_label_in_any_language_has_its_unit(told: dict[str, Any]) -> None:
    for label in told["labels"]:
        column = header([label], MarkdownTable)[0]
        assert (label, column.spec and column.spec.name) == (label, told["field"])
        assert column.scale == pytest.approx(told["scale"]), label


@pytest.mark.parametrize("label", WORDS["nobodys"])
def test_what_looks_alike_is_no_column(label: str) -> None:
    assert header([label], MarkdownTable)[0].spec is None


def test_short_labels_are_read_beside_those_of_a_layout() -> None:
    labels = ["nn", "ppn", "mbs", "SL", "world", "ckpt"]
    named = [column.spec.name for column in header(labels, MarkdownTable) if column.spec]
    wanted = ["nodes", "gpus_per_node", "micro_batch", "seq_len", "gpus"]
    assert named == [*wanted, "activation_checkpointing"]
    assert not [c.label for c in header(["epoch", "ckpt", "SL", "lbs"], MarkdownTable) if c.spec]


def test_of_two_names_of_one_setting_one_is_taken() -> None:
    assert told_once("data parallel DP") == "data parallel"
    for label in ("tensor parallel PP", "hidden size GB", "layers (first)"):
        assert told_once(label) == label


@pytest.mark.parametrize("much", WORDS["again"])
def test_how_much_is_computed_again_in_any_language(much: str) -> None:
    words = WORDS["again"][much]
    assert {word: how_much_again(word) for word in words} == dict.fromkeys(words, much)


@pytest.mark.parametrize("text", WORDS["unclear"])
def test_what_does_not_say_how_much_is_left(text: str) -> None:
    assert how_much_again(text) is None
