"""Formats of users: what a TOML describes is read, and a fault in one is told by its key."""

from __future__ import annotations

import pickle
from pathlib import Path

import polars as pl
import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.formats.own.description import describe
from assay.ingest.formats.own.fault import BadFormat
from assay.ingest.formats.own.own_format import build, together
from assay.ingest.formats.own.own_format import tested as own
from assay.ingest.formats.own.safety import endless, runaway
from assay.ingest.lines.lark import parse_line
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.fields import fields
from assay.ingest.schema.format import Format
from assay.ingest.schema.reading import Reading
from assay.ingest.schema.record import Code, Diagnostic
from assay.ingest.source.opening import source
from assay.ingest.vocabulary.terms import normalise
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT, examples

SWIFT = (ROOT / "examples" / "own_format" / "swift_format" / "swift_step.toml").read_text(
    encoding="utf-8"
)

OWN_GRAMMAR = """\
name = "epochs"
heads = ["Epoch "]
grammar = '''
epoch_line: "Epoch " epoch "/" epochs BAR metric (BAR metric)*
best_line: "Epoch " epoch " is the best"
epoch: INT
epochs: INT
metric: KEY ": " VALUE
BAR: /\\s*\\|\\s*/
KEY: /[a-z][a-z ]*/
VALUE: /[^|\\s]+/
%import .common (INT)
'''
[columns.epoch]
type = "integer"
[columns.epochs]
type = "integer"
[columns.loss]
[columns.step_time]
labels = { "time" = "ms" }
unit = "s"
quantity = "step_time"
[[samples]]
line = "Epoch 3/10 | loss: 0.25 | time: 812.5"
values = { epoch = 3, epochs = 10, loss = 0.25, step_time = 0.8125 }
[[samples]]
line = "Epoch 7 is the best"
values = { epoch = 7 }
"""


def read(fmt: Format, text: str, *others: Format) -> Reading:
    opened = source("a.log", text.encode())
    assert not isinstance(opened, Diagnostic)
    return read_source(opened, (*others, fmt))


def conserved(reading: Reading) -> None:
    (a,) = reading.accounting
    assert a.lines == a.claimed + a.refused + a.blank + a.not_ours


def test_lines_of_labelled_cells_are_read() -> None:
    reading = read(
        own("s.toml", SWIFT),
        "NHIDDEN=4096\n"
        "step=120 loss=2.31 tok/s=51234 mem=61.2GiB mfu=43.1%\n"
        "[2025-01-01 10:00:00] step=121  tok/s=51,230 mem=612.0 MiB mfu=43.2% eta=3h\n"
        "step=122 mem=61.5\n"
        "the step=123 stands in a sentence\n",
    )
    conserved(reading)
    frame = reading.frames["swift_step"]
    assert frame.select("line", "step", "loss", "tokens_per_s", "memory", "mfu").rows() == [
        (2, 120, 2.31, 51234.0, 61.2 * 2**30, 43.1 * 0.01),
        (3, 121, None, 51230.0, 612.0 * 2**20, 43.2 * 0.01),
        (4, 122, None, None, 61.5 * 2**30, None),
    ]
    assert frame["hidden"].to_list() == [4096, 4096, 4096]  # from the line above
    assert frame["timestamp"].to_list() == [None, "2025-01-01 10:00:00", None]
    assert frame["other"].to_list()[1] == [{"name": "eta", "text": "3h"}]
    assert frame["memory_ulp"].to_list()[0] == pytest.approx(0.1 * 2**30)
    assert reading.accounting[0].not_ours == 1


def test_bad_values_are_told_of_where_they_stand() -> None:
    reading = read(
        own("s.toml", SWIFT), "step=x loss=1\nstep=3 mfu=143%\nstep=4 loss=2.x\nstep=5 loss=1\n"
    )
    conserved(reading)
    assert [(d.span.line, d.span.column, d.code) for d in (*reading.refused, *reading.remarks)] == [
        (1, 6, Code.UNDECODABLE), (2, 12, Code.OUT_OF_RANGE), (3, 13, Code.UNDECODABLE),
    ]  # fmt: skip
    assert reading.frames["swift_step"]["step"].to_list() == [3, 4, 5]


def test_labelled_cells_are_read_column_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    fmt = own("s.toml", SWIFT)
    rows = [
        f"step={n} loss={3 - n / 1000:.3f} tok/s={51000 + n} mem={n / 100:.1f}GiB mfu=4{n % 10}%"
        for n in range(1000)
    ]
    text = "\n".join([*rows, "step=x loss=1", "step=7 mfu=143%", "noise", "step=8"]) + "\n"
    opened = source("a.log", text.encode())
    assert not isinstance(opened, Diagnostic)
    slow = read_source(opened, (fmt,), engine="folds")
    parsed: list[str] = []
    monkeypatch.setattr(
        "assay.ingest.lines.records.parse_line",
        lambda *given: (parsed.append(given[2]), parse_line(*given))[1],
    )
    fast = read_source(opened, (fmt,))
    assert len(parsed) < 20  # one example of each layout, and what does not fit one
    assert fast.frames["swift_step"].equals(slow.frames["swift_step"])
    assert fast.frames["swift_step"].height == 1002
    assert (fast.refused, fast.accounting) == (slow.refused, slow.accounting)


def test_an_own_grammar_may_have_several_kinds_of_lines() -> None:
    fmt = own("e.toml", OWN_GRAMMAR)
    reading = read(fmt, "Epoch 1/9 | time: 100.0 | x y: 3\nEpoch 1 is the best\nEpoch 2 of 9\n")
    conserved(reading)
    frame = reading.frames["epochs"]
    assert frame.select("epoch", "epochs", "step_time").rows() == [(1, 9, 0.1), (1, None, None)]
    assert frame["other"].to_list()[0] == [{"name": "x y", "text": "3"}]
    assert [d.code for d in reading.refused] == [Code.SYNTAX]


def test_a_grammar_may_stand_in_a_file_beside(tmp_path: Path) -> None:
    head, _, rest = OWN_GRAMMAR.partition("grammar = '''\n")
    grammar, _, tail = rest.partition("'''\n")
    (tmp_path / "e.lark").write_text(grammar)
    text = head + 'grammar_file = "e.lark"\n' + tail
    reading = read(own((tmp_path / "e.toml").as_posix(), text), "Epoch 1/9 | loss: 1\n")
    assert reading.frames["epochs"]["loss"].to_list() == [1.0]
    (tmp_path / "e.lark").write_text(grammar.replace("epoch: INT", "epoch: INTEGER"))
    with pytest.raises(BadFormat, match=r"e\.toml:3: grammar_file: e\.lark:3: .*INTEGER"):
        own((tmp_path / "e.toml").as_posix(), text)


@pytest.mark.parametrize(
    ("separator", "assign", "line", "values"),
    [
        ("|", ":", "step: 12 | lm loss: 2.5 | mem: 61.2 GiB |", "2.5"),
        (" | ", " = ", "step = 12 | lm loss = 2.5 | a", "2.5"),
        (", ", ":", "step: 12, lm loss: 1,002.5, x: 1", "1002.5"),
        (" ", "=", "step=12 lm loss=2.5 mem=61.2 GiB done", "2.5"),
        (" ", ":", "step:  12  lm loss:  2.5  memory:  0.94GiB(1.19%)", "2.5"),
        (",", " ", "step 12, lm loss 2.5, took 4.2 s", "2.5"),
        (" ", " ", "step 12 lm loss 2.5 took 4.2 s", "2.5"),
        ("\t", "=", "step=12\tlm loss=2.5\tother", "2.5"),
        (";", "->", "step -> 12 ; lm loss->2.5", "2.5"),
        ("/", ":", "step: 12 / lm loss: 2.5", "2.5"),
    ],
)
def test_the_standard_grammar_reads_what_people_print(
    separator: str, assign: str, line: str, values: str
) -> None:
    text = f"""
name = "cells"
heads = ["step"]
separator = {separator!r}
assign = {assign!r}
[columns.step]
type = "integer"
[columns.lm_loss]
labels = ["lm loss"]
[[samples]]
line = "{line}"
values = {{ step = 12, lm_loss = {values} }}
""".replace("'\\t'", '"\\t"')
    reading = read(own("c.toml", text), line + "\n")
    assert reading.frames["cells"].select("step", "lm_loss").rows() == [(12, float(values))]
    conserved(reading)


NAMES = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.floats(-1e9, 1e9).map(lambda value: f"{value:.6g}"),
    st.sampled_from(["nan", "inf", "1e-05"]),
)


@settings(max_examples=examples(25), deadline=None)
@given(
    cells=st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=6),
    separator=st.sampled_from([" ", "|", ", ", ";", " - "]),
    assign=st.sampled_from(["=", ": ", "->"]),
    prefix=st.sampled_from(["", "[2025-01-01 10:00:00] ", "3: ", "[node0137:0]: "]),
)
def test_every_cell_comes_back(
    cells: dict[str, str], separator: str, assign: str, prefix: str
) -> None:
    """Cells printed under the labels of a line stand in its row, whatever the line."""
    # `xa_` and `xa` are one label, which a description is refused for
    assume(len({normalise(f"x{name}") for name in cells}) == len(cells))
    said = {"tick": "7", **{f"x{name}": value for name, value in cells.items()}}
    line = separator.join(f"{name}{assign}{value}" for name, value in said.items())
    text = [f"name = 'made'\nheads = ['tick']\nseparator = '{separator}'\nassign = '{assign}'"]
    text += [f"[columns.{name}]" for name in said]
    values = ", ".join(f"{name} = '{value}'" for name, value in said.items() if value != "nan")
    text.append(f"[[samples]]\nline = '{line}'\nvalues = {{ {values} }}")
    described = describe("m.toml", "\n".join(text))
    reading = read(build(described), f"{line}\n{prefix}{line}\n")
    conserved(reading)
    for row in reading.frames["made"].iter_rows(named=True):
        read_back = {name: row[name] for name in said}
        assert [repr(value) for value in read_back.values()] == [
            repr(float(value)) for value in said.values()
        ]
    assert reading.frames["made"].height == 2
    assert not reading.refused


def test_only_declared_labels_are_read() -> None:
    text = SWIFT.replace("[columns.mfu]", '[columns.epoch]\nlabels = ["ep"]\n[columns.mfu]')
    reading = read(own("s.toml", text), "step=1 ep=3 gpus=8\n")
    frame = reading.frames["swift_step"]
    assert frame.select("epoch", "ep", "gpus").rows() == [(3.0, None, None)]
    assert frame["other"].to_list() == [[{"name": "gpus", "text": "8"}]]


def test_a_configuration_column_may_be_declared() -> None:
    text = SWIFT.replace("[columns.mfu]", '[columns.gpus]\nlabels = ["world"]\n[columns.mfu]')
    fmt = own("s.toml", text)
    spec = fields(fmt.schemas["swift_step"])["gpus"]
    assert (spec.dtype, spec.kind, spec.configuration) == (pl.Int64(), "exact", True)
    reading = read(fmt, "step=1 world=64\nstep=2 world=0\n")
    assert reading.frames["swift_step"]["gpus"].to_list() == [64]
    assert [d.code for d in reading.refused] == [Code.OUT_OF_RANGE]


def test_products_are_gemm_cases() -> None:
    text = """
name = "matmul_bench"
heads = ["matmul"]
scope = "gemm"
separator = " "
assign = "="
before = 'matmul '
[columns.m]
type = "integer"
[columns.n]
type = "integer"
[columns.k]
type = "integer"
[columns.time]
unit = "s"
quantity = "time"
labels = { "t" = "us" }
[[samples]]
line = "matmul m=8 n=16 k=32 t=12.5"
values = { m = 8, n = 16, k = 32, time = 12.5e-6 }
""".replace('heads = ["matmul"]', 'heads = ["m="]')
    from assay.validate.cases.cases import cases
    from assay.validate.cases.observe import about, observe

    reading = read(own("m.toml", text), "matmul m=8 n=16 k=32 t=12.5\n")
    frames = about(reading.formats)
    assert observe(reading, frames).select("scope", "subject", "quantity", "value").rows() == [
        ("gemm", "1x8x16x32", "time", pytest.approx(12.5e-6))
    ]
    assert cases(reading, frames).gemm.select("m", "n", "k").rows() == [(8, 16, 32)]
    without = text.replace("[columns.k]", "[columns.kk]").replace("k = 32", "kk = 32")
    with pytest.raises(BadFormat, match="needs the integer column 'k'"):
        own("m.toml", without)


def test_a_line_that_two_formats_claim_names_both() -> None:
    text = SWIFT.replace("swift_step", "other_step")
    reading = read(own("o.toml", text), "step=1 loss=2\n", own("s.toml", SWIFT))
    (fault,) = reading.refused
    assert fault.code is Code.AMBIGUOUS
    assert "swift_step" in fault.message
    assert "other_step" in fault.message
    conserved(reading)


def test_a_format_goes_to_another_process_as_its_text() -> None:
    fmt = own("s.toml", SWIFT)
    again = pickle.loads(pickle.dumps(fmt))
    line = "step=120 loss=2.31 mem=61.2GiB\n"
    assert read(again, line).frames["swift_step"].equals(read(fmt, line).frames["swift_step"])


FAULTS = [
    ("origin = ", "orgin = ", r"s\.toml:5: orgin: is no key of a format; did you mean 'origin'\?"),
    ('origin = "measured"', 'origin = "guessed"', r"s\.toml:5: origin: expected one of measured"),
    ("unit = ", "units = ", r"columns\.tokens_per_s\.units: is no key .* did you mean 'unit'"),
    ('name = "swift_step"', 'name = "Swift"', r"s\.toml:3: name: expected lower-case"),
    ('name = "swift_step"', "", r"name: expected a text in quotes; it is missing"),
    ('name = "swift_step"', 'name = "step_rate"', r"s\.toml:3: name: .* packaged format"),
    ('name = "swift_step"', 'name = "deepspeed_step"', r"s\.toml:3: name: .* packaged format"),
    ('heads = ["step="]', "heads = []", r"s\.toml:6: heads: expected what lines .* begin with"),
    ('heads = ["step="]', 'heads = ["STEP="]', r"samples\.0\.line: is no line of this format"),
    ('assign = "="', "", r"assign: expected, beside `separator`"),
    ('assign = "="', 'assign = ":"', r"samples\.0\.line: is refused|samples\.0\.line: is no line"),
    ('separator = " "', 'separator = " "\ngrammar = "x"', r"expected either .*; got grammar and"),
    ('separator = " "\nassign = "="', "", r"expected either .* got none of them"),
    ('unit = "token/s"', 'unit = "tok/s"', r"tokens_per_s\.unit: frames hold SI: .*token/s"),
    ('unit = "token/s"', 'unit = "s"', r"the quantity 'tokens_per_s' is in token/s; got 's'"),
    ('"mem" = "GiB"', '"mem" = "GIG"', r"columns\.memory\.labels\.mem: 'GIG' is no unit"),
    ('"mem" = "GiB"', '"mem" = "ms"', r"'ms' is in s, and the column's unit is B"),
    ("[columns.loss]", '[columns.loss]\nkind = "about"', r"columns\.loss\.kind: expected one of"),
    ("[columns.loss]", '[columns.loss]\ntype = "double"', r"columns\.loss\.type: expected one of"),
    ("[columns.loss]", "[columns.loss]\nnullable = 1", r"columns\.loss\.nullable: expected true"),
    ("[columns.loss]", '[columns.loss]\nlabels = ["step"]', r"'step' belongs to 'step' already"),
    ("[columns.loss]", '[columns.loss]\nge = "0"', r"columns\.loss\.ge: expected a number"),
    ("[columns.loss]", "[columns.line]", r"columns\.line: every frame has a column of this name"),
    ("[columns.loss]", '[columns.gpu]\ntype="float"', r"columns\.gpu: .* holds String, not float"),
    ("loss = 2.31, ", "loss = 2.13, ", r"samples\.0\.values\.loss: expected 2\.13, read 2\.31"),
    ("loss = 2.31, ", "lss = 2.31, ", r"values\.lss: is no column; did you mean 'loss'\?"),
    ("loss = 2.31, ", "", r"samples\.0\.values: loss is read as 2\.31 and is not among"),
    ('"61.2 GiB"', '"61.2 GB"', r"memory: expected '61\.2 GB', read 65\d+\.\d+ B"),
    ("le = 1\n", "le = 0.1\n", r"samples\.0\.line: loses a cell at column 48: mfu was 0\.431"),
    ("[[samples]]", "[[sample]]", r"sample: is no key of a format; did you mean 'samples'"),
    ('assign = "="', 'assign = "', r"s\.toml:8:\d+: not TOML"),
    ('separator = " "', "before = '('\nseparator = \" \"", r"s\.toml:7: before: no regular exp"),
    ('separator = " "', "before = '([a-z]+ ?)+'\nseparator = \" \"", r"s\.toml:7: before: .*ever"),
]


@pytest.mark.parametrize(("old", "new", "message"), FAULTS, ids=[new for _, new, _ in FAULTS])
def test_a_fault_is_told_by_file_line_and_key(old: str, new: str, message: str) -> None:
    assert old in SWIFT
    with pytest.raises(BadFormat, match=message):
        own("s.toml", SWIFT.replace(old, new, 1))


def test_without_a_sample_there_is_no_format() -> None:
    with pytest.raises(BadFormat, match="a format without a sample is not a format"):
        own("s.toml", SWIFT.partition("[[samples]]")[0])


GRAMMARS = [
    ("epoch: INT\n", "epoch: INTEGER\n", r"e\.toml:6: grammar: .*INTEGER"),
    ("epoch: INT\n", "epoch INT\n", r"e\.toml:6: grammar: "),
    ("epoch_line", "epoch_rule", None),  # another rule still ends in _line
    ("_line:", "_rule:", r"e\.toml:4: grammar: no rule ends in `_line`"),
    ("KEY: /[a-z][a-z ]*/", "KEY: /[a-z]*/", r"e\.toml:10: grammar: .*zero-width"),
    ("KEY: /[a-z][a-z ]*/", "KEY: /([a-z]+ ?)+/", r"e\.toml:10: grammar: .*for ever"),
    (".common", ".uncommon", r"only `%import \.common"),
    ("epochs: INT", "epochs: INT" + " BAR?" * 14, r"e\.toml:7: grammar: a rule of 14 optional"),
    ("epochs: INT", "epochs: INT~1..4000", r"e\.toml:7: grammar: .*4000 times"),
    (
        'best_line: "Epoch " epoch " is the best"',
        'best_line: "Epoch " (one | two)\none: INT\ntwo: INT',
        r"e\.toml:\d+: grammar: Reduce/Reduce collision",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), GRAMMARS, ids=[new for _, new, _ in GRAMMARS])
def test_a_bad_grammar_is_told_with_its_line(old: str, new: str, message: str | None) -> None:
    assert old in OWN_GRAMMAR
    text = OWN_GRAMMAR.replace(old, new)
    if message is None:
        with pytest.raises(BadFormat, match=r"samples\.0\.line: is refused"):
            own("e.toml", text)
        return
    with pytest.raises(BadFormat, match=message) as fault:
        own("e.toml", text)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("pattern", "ends"),
    [
        (r"(?:, [0-9]+)*", True), (r"[a-z ]+", True), (r"(a+b)+", True),
        (r"(?:[^|]*[^|\s])?", True),
        (r"(a+)+", False), (r"(\w+\s?)+", False), (r"(?:a*)*", False), (r"((a+))*", False),
        (r"(?:(?:a|b+)?)+", False), (r"x(a+a+)+y", False),
    ],
)  # fmt: skip
def test_expressions_that_may_run_for_ever_are_known(pattern: str, ends: bool) -> None:
    assert (runaway(pattern) is None) is ends


def test_every_packaged_grammar_ends() -> None:
    for path in sorted((ROOT / "grammars").glob("*.lark")):
        assert endless(path.read_text(encoding="utf-8")) is None, path.name


def test_two_formats_of_one_name_are_refused() -> None:
    fmt = own("s.toml", SWIFT)
    with pytest.raises(BadFormat, match=r"called 'swift_step': s\.toml and t\.toml"):
        together([*FORMATS, fmt, own("t.toml", SWIFT)])


def test_an_untested_format_is_the_same() -> None:
    said = own("s.toml", SWIFT).said
    assert said is not None
    assert build(said).schemas.keys() == {"swift_step"}
