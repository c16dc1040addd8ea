"""Every spelling of the vocabulary in every carrier that can hold it, and where each was seen."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest
from assay.ingest.columns.headers import header
from assay.ingest.formats.markdown_table import MarkdownTable
from assay.ingest.formats.megatron.megatron_iteration import MegatronIteration
from assay.ingest.inputs.paths import named
from assay.ingest.inputs.read import read
from assay.ingest.lines.metrics import column
from assay.ingest.numbers.units import UNITS, unit
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Cell, Line
from assay.ingest.statements import argument_names
from assay.ingest.statements.argument_names import Argument
from assay.ingest.statements.command_lines import LEFT_OPEN, command
from assay.ingest.statements.context import read_context
from assay.ingest.tables.csv_sections import CsvTable
from assay.ingest.vocabulary.frameworks import DEEPSPEED, FRAMEWORKS
from assay.ingest.vocabulary.terms import (
    Term,
    configured_by,
    meaning,
    nearest,
    normalise,
    spellings,
    terms,
)

CONFIGURED = [term for term in terms().values() if term.role == "configuration"]

of_every_term = pytest.mark.parametrize("term", terms().values(), ids=lambda term: term.name)

of_every_setting = pytest.mark.parametrize("term", CONFIGURED, ids=lambda term: term.name)

WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_ .-]*")


def counted(name: str) -> bool:
    """Whether a field holds a whole number."""
    return bool(fields(Configuration)[name].dtype.is_integer())


@of_every_term
def test_the_vocabulary_reads_its_own_spellings(term: Term) -> None:
    assert {label: getattr(meaning(label), "field", None) for label in term.labels} == (
        dict.fromkeys(term.labels, term.name)
    )


@of_every_term
def test_in_a_table_header(term: Term) -> None:
    for label in term.labels if term.name in fields(MarkdownTable) else ():
        beside = [label.rstrip("*")] if label.endswith("*") else []  # else the sign of a footnote
        found, *_ = header([label, *beside], MarkdownTable)
        assert found.spec is not None, label
        assert found.spec.name == term.name, label


@of_every_term
def test_in_a_cell_of_a_log(term: Term) -> None:
    own = fields(MegatronIteration).get(term.name)
    for label in term.labels if own is not None and own.known else ():
        found = column(MegatronIteration, label)
        assert found is not None, label
        assert found[0].name in (term.name, term.name + "_average"), label


@of_every_term
def test_in_the_header_of_a_csv(term: Term) -> None:
    for label in term.labels if term.name in fields(MarkdownTable) else ():
        found = CsvTable("x", MarkdownTable, (frozenset({term.name}),)).header(f"{label},note")
        assert found is not None, label


@of_every_setting
def test_in_a_side_file_and_on_the_command_line(term: Term) -> None:
    assert [named({label: "8"}) for label in term.labels] == [{term.name: "8"}] * len(term.labels)


@of_every_setting
def test_in_a_statement(term: Term) -> None:
    for label in in_words(term):
        value = value_of(term.name)
        for text in (f"{label}={value}", f"- {label}: {value}", f"- {label} is {value}"):
            if text.startswith(label) and label.count(" ") > 3:
                continue  # a sentence
            assert [said.keys() for said in statements([text])] == [{term.name}], text


@of_every_setting
def test_in_an_argument_dump(term: Term) -> None:
    for label in term.labels if counted(term.name) else ():
        key, name = label.replace(" ", "_").lower(), term.name
        if not re.fullmatch(r"[a-z_]\w*", key):
            continue
        said = {key: Argument("3", 1, 1)}
        if all(key not in names or names[key] == name for names in FRAMEWORKS.values()):
            assert argument_names.megatron(said)[name].text == "3", key
            inside = {f"model.{key}": Argument("3", 1, 1)}
            assert argument_names.nemo(inside)[name].text == "3", key
        if key not in DEEPSPEED:
            assert argument_names.deepspeed(said)[name].text == "3", key


@of_every_setting
def test_among_the_options_of_a_command(term: Term) -> None:
    for label in term.labels:
        key = label.replace(" ", "-").lower()
        if normalise(label) in LEFT_OPEN:
            assert command(Line(1, f"torchrun train.py --{key} 8 --lr=1e-4", 1, {})) == {}, key
        elif re.fullmatch(r"[a-z][\w.-]*", key) and counted(term.name):
            said = command(Line(1, f"torchrun train.py --{key} 8 --lr=1e-4", 1, {}))
            assert {field: cell.text for field, cell in said.items()} == {term.name: "8"}, key


def beside(name: str, value: object, key: str) -> dict[str, object]:
    """An object of a configuration with a value under a key, and some of other fields."""
    others = {"hidden_size": 64, "num_layers": 3, "num_attention_heads": 5, "seq_length": 128}
    fillers = {k: v for k, v in others.items() if configured_by(k) != name}
    return {"model": fillers, "run": {key: value}, "validation": {key: 9, "seq_length": 77}}


def value_of(name: str) -> object:
    """A value of a field."""
    return {"zero_stage": 2, "model_size": "8B"}.get(name, 8)


def in_words(term: Term) -> list[str]:
    """The labels of a field of numbers that are made of words."""
    if not fields(Configuration)[term.name].numeric:
        return []
    return [label for label in term.labels if WORDS.fullmatch(label)]


@pytest.mark.parametrize("spell", [json.dumps, repr], ids=["json", "python"])
@of_every_setting
def test_in_an_object_that_a_line_holds(term: Term, spell: Callable[[object], str]) -> None:
    value = value_of(term.name)
    for label in term.labels if fields(Configuration)[term.name].numeric else ():
        text = f"config: {spell(beside(term.name, value, label))}"
        (said,) = statements([text])
        assert said[term.name].text == str(value).removesuffix("B"), text


DUMPS = {
    "yaml": ["model:", "  hidden_dropout: 0.1", "  {key}: {value}", "validation:", "  {key}: 9"],
    "toml": ["[model]", "hidden_dropout = 0.1", "{key} = {value}", "", "[validation]", "{key} = 9"],
    "json": ['{{', '  "model": {{', '    "{key}": {value},', '  }},', '  "validation": {{',
             '    "{key}": 9', "  }}", "}}"],
    "python": ["config = Config(model=ModelArgs(name='x',", "    {key}={value}),",
               "    evaluation=EvalArgs(", "        {key}=9))"],
}  # fmt: skip


@pytest.mark.parametrize("kind", DUMPS)
@of_every_setting
def test_in_a_nested_dump(term: Term, kind: str) -> None:
    value = value_of(term.name)
    shown = f'"{value}"' if isinstance(value, str) else value
    for label in in_words(term):
        if not re.fullmatch(r"[A-Za-z_]\w*", label):
            continue
        found = statements([line.format(key=label, value=shown) for line in DUMPS[kind]])
        assert [cell.text for said in found for n, cell in said.items() if n == term.name] == [
            str(value).removesuffix("B")
        ], label


LOGGED = ("[2024-05-01 10:00:00,000] [INFO] {label}: {value}", "{label} = {value}",
          "[INFO]  >>> {label}: {value}", "INFO:root:{label}: {value}")  # fmt: skip


@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.slow)])
@of_every_setting
def test_in_a_line_of_a_log(term: Term, share: int, tmp_path: Path) -> None:
    """Each label in a form at least; each in every form now and then."""
    steps = "".join(f"step: {n}  loss: 2.5  step_time: 1.{n} s\n" for n in range(5))
    lines = {
        str(tmp_path / f"{at}.log"): form.format(label=label, value=value_of(term.name))
        for at, (label, form) in enumerate(itertools.product(in_words(term), LOGGED))
        if at % share == 0
        if not (form.startswith("{label}") and label.count(" ") > 3)  # a sentence
    }
    for path, line in lines.items():
        Path(path).write_text(line + "\n" + steps, "utf-8")
    said = read(list(lines)).reading.statements if lines else None
    found = [] if said is None else said.select("source", "field").rows()
    assert sorted(found) == sorted((path, term.name) for path in lines), lines


def statements(texts: Sequence[str]) -> list[dict[str, Cell]]:
    """Fields that the lines of a document state, statement by statement."""
    lines = [Line(n, text, 1, {}) for n, text in enumerate(texts, start=1)]
    return [dict(each.values) for each in read_context("a.md", lines, set(), {}).statements]


def test_no_two_terms_claim_a_label() -> None:
    assert len(spellings()) > 200


def test_every_configuration_column_is_a_term_and_every_quantity_has_a_basis() -> None:
    configured = {name for name, spec in fields(Configuration).items() if spec.configuration}
    assert configured == {n for n, term in terms().items() if term.role == "configuration"}
    for term in terms().values():
        if term.role in ("rate", "time", "memory", "utilisation"):
            assert term.unit, term.name
            assert term.per, term.name
            assert term.value, term.name


def test_a_rate_of_one_device_is_never_that_of_the_job() -> None:
    for name, known in UNITS.items():
        of_one = name.casefold().endswith((
            "/gpu", "/npu", "/p", "/card", "/chip", "/device", "/gcd", "/hpu", "/tpu", "/ipu",
            "/xpu", "/dcu", "/accelerator",
        ))  # fmt: skip
        assert (known.per == "device") == of_one, name
    assert unit("tokens/s/GPU") != unit("tokens/s")
    whole, own = terms()["tokens_per_s"], terms()["tokens_per_gpu_per_s"]
    assert (whole.unit, whole.per) == ("token/s", "job")
    assert (own.unit, own.per) == ("token/s", "device")


def test_a_time_without_a_unit_has_none() -> None:
    for label in ("iteration time", "step time", "elapsed time per iteration"):
        found = column(MegatronIteration, label)
        assert found is not None
        assert math.isnan(found[1])


@pytest.mark.parametrize(
    ("label", "name"),
    [("recompue", "recompute"), ("hiden", "hidden"), ("num_layer_s", "layers"), ("gpu", "gpu")],
)
def test_the_nearest_is_named(label: str, name: str) -> None:
    assert nearest(label) == name


@pytest.mark.parametrize(
    "label", ["TFLOPs (total)", "tokens/s per node", "lm loss", "device count x"]
)
def test_what_is_no_configuration_is_none(label: str) -> None:
    assert configured_by(label) is None


def test_a_wrong_key_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        ValueError, match="'hiden' is no configuration column; did you mean 'hidden'"
    ):
        named({"hiden": 1})
    with pytest.raises(ValueError, match="'hidden' and 'NHIDDEN' are one configuration column"):
        named({"hidden": 1, "NHIDDEN": 2})


@cache
def _texts(place: str) -> str:
    """The documents of the corpus whose path holds a place of the vocabulary."""
    root = Path(os.environ["ASSAY_CORPUS"]) / "corpus"
    paths = [path for path in sorted(root.rglob("*")) if path.is_file()]
    held = [path for path in paths if place in path.relative_to(root).as_posix()]
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in held)


@pytest.mark.skipif("ASSAY_CORPUS" not in os.environ, reason="ASSAY_CORPUS is not set")
@of_every_term
def test_a_spelling_stands_where_it_is_said_to(term: Term) -> None:
    for label, place in term.seen.items():
        if "/" in place:
            assert label in _texts(place), (label, place)
