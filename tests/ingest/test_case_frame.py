"""Configuration as `ingest` writes it: statements as they stand, few cases for many rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from assay.ingest.inputs.parts import ingest
from assay.ingest.inputs.read import read, recipe
from assay.ingest.schema.acceptance import by_row
from assay.ingest.store.case_frame import BOUND, case_frame
from assay.ingest.store.load import load
from assay.ingest.store.write import save
from polars.testing import assert_frame_equal

FIXTURES = Path(__file__).parents[2] / "fixtures"

JOB = """ using world size: 8, data-parallel-size: 2, tensor-model-parallel size: 4, \
pipeline-model-parallel size: 1
------------------------ arguments ------------------------
  hidden_size ..................................... 2048
  num_layers ...................................... 24
  seq_length ...................................... 1024
-------------------- end of arguments ---------------------
"""

STEP = (
    " iteration {n:8d}/  500000 | consumed samples: {samples:12d} | elapsed time per iteration "
    "(ms): {time:.1f} | learning rate: 1.500E-04 | global batch size:    16 | lm loss: "
    "6.000000E+00 | loss scale: 1.0 | grad norm: 1.000 |\n"
)


def log(path: Path, steps: int, jobs: int = 1) -> Path:
    """A log of jobs that each print their arguments, and then their steps."""
    lines = []
    for _ in range(jobs):
        lines.append(JOB)
        lines += [STEP.format(n=n, samples=16 * n, time=230 + n % 7) for n in range(1, steps + 1)]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_many_steps_of_one_job_are_few_cases(tmp_path: Path) -> None:
    save(read([log(tmp_path / "a.log", 20_000)]), tmp_path / "out")
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    steps = cases.filter(pl.col("frame") == "megatron_iteration")
    assert steps.select("rows", "hidden", "layers", "seq_len", "tp").rows() == [
        (20_000, 2048, 24, 1024, 4)
    ]
    assert steps["global_batch"].to_list() == [None]  # which the rows print themselves
    assert cases["case"].n_unique() <= 10


def test_two_jobs_that_say_the_same_are_one_case(tmp_path: Path) -> None:
    cases = case_frame(read([log(tmp_path / "a.log", 5, jobs=2)]).reading)
    steps = cases.filter(pl.col("frame") == "megatron_iteration")
    assert steps["case"].n_unique() == 1
    assert sum(steps["rows"]) == 10


def test_every_row_is_of_a_case_with_what_is_bound_to_it() -> None:
    for path in [*FIXTURES.glob("markdown_table/*.md"), *FIXTURES.glob("megatron_iteration/*.log")]:
        reading = read([path]).reading
        cases = case_frame(reading)
        for name, frame in reading.frames.items():
            if not set(BOUND) <= set(frame.columns):
                continue
            mine = cases.filter(pl.col("frame") == name)
            assert sum(mine["rows"]) == frame.height, (path, name)
            for row in frame.iter_rows(named=True):
                (held,) = mine.filter(
                    (pl.col("line") <= row["line"]) & (pl.col("last_line") >= row["line"])
                ).iter_rows(named=True)
                for field in BOUND:
                    assert held[field] in (None, row[field]), (path, row["line"], field)


@pytest.mark.parametrize("whole", [True, False], ids=["in memory", "some at a time"])
def test_a_row_is_written_as_it_is_printed(tmp_path: Path, *, whole: bool) -> None:
    path = log(tmp_path / "a.log", 30)
    if whole:
        save(read([path]), tmp_path / "out")
    else:
        ingest([path], tmp_path / "out", recipe({}))
    rows = pl.read_parquet(tmp_path / "out" / "megatron_iteration.parquet")
    assert rows["hidden"].null_count() == rows["seq_len"].null_count() == 30
    assert set(rows["global_batch"]) == {16}  # the line prints it
    (case,) = set(rows["case"])
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet").filter(pl.col("case") == case)
    assert set(cases["hidden"]) == {2048}
    again = load(tmp_path / "out").reading.frames["megatron_iteration"]
    assert_frame_equal(again, read([path]).reading.frames["megatron_iteration"])


def test_what_is_bound_stands_in_no_row_of_any_document(tmp_path: Path) -> None:
    outcome = read([FIXTURES / "markdown_table", FIXTURES / "megatron_iteration"])
    save(outcome, tmp_path / "out")
    origins = outcome.reading.provenance.filter(
        pl.col("field").is_in(list(BOUND)) & (pl.col("value_origin") != "printed")
    )
    assert origins.height > 100
    for name in origins["frame"].unique():
        rows = pl.read_parquet(tmp_path / "out" / f"{name}.parquet")
        whole = outcome.reading.frames[name]
        for field in BOUND:
            said = origins.filter((pl.col("frame") == name) & (pl.col("field") == field))
            bound = by_row(said, {name: whole}).select("source", "line", "column").unique()
            there = rows.join(bound, on=["source", "line", "column"], how="semi")
            assert there[field].null_count() == there.height == bound.height, (name, field)
            kept = whole.join(bound, on=["source", "line", "column"], how="anti")[field]
            assert rows[field].drop_nulls().equals(kept.drop_nulls()), (name, field)


def test_a_row_of_no_case_is_damage(tmp_path: Path) -> None:
    save(read([log(tmp_path / "a.log", 3)]), tmp_path / "out")
    file = tmp_path / "out" / "cases.parquet"
    pl.read_parquet(file).with_columns(case=pl.col("case") + 1).write_parquet(file)
    (fault,) = load(tmp_path / "out").unreadable
    assert "is of a case that is not there" in fault.message


def test_statements_are_written_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "## A100 80GB\n\nNHIDDEN=8192; NLAYERS=40\n\nSEQ_LEN=$LENGTH\n\n"
        "| GPUs | Sec/it |\n|---|---|\n| 8 | 12.5 |\n",
        encoding="utf-8",
    )
    save(read([path]), tmp_path / "out")
    said = pl.read_parquet(tmp_path / "out" / "statements.parquet")
    assert said.select("line", "field", "value", "text", "scope", "strength").rows() == [
        (1, "gpu", None, "A100 80GB", "section", "stated"),
        (3, "hidden", 8192.0, "8192", "section", "stated"),
        (3, "layers", 40.0, "40", "section", "stated"),
        (5, "seq_len", None, "$LENGTH", "section", "open"),
    ]
    again = load(tmp_path / "out").reading
    assert again.statements is not None
    assert again.statements.equals(said)


DUMP = """------------------------ arguments ------------------------
  hidden_size ..................................... 2048
  num_layers ...................................... 24
  num_attention_heads ............................. 16
  ffn_hidden_size ................................. 8192
  padded_vocab_size ............................... 50304
{}-------------------- end of arguments ---------------------
"""


def test_a_dump_says_nothing_of_the_job_below_it(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    length = "  seq_length ...................................... 1024\n"
    step = STEP.format(n=1, samples=16, time=230.5)
    path.write_text(DUMP.format(length) + step + DUMP.format("") + step, encoding="utf-8")
    steps = read([path]).reading.frames["megatron_iteration"]
    assert steps["seq_len"].to_list() == [1024, None]
    assert steps["hidden"].to_list() == [2048, 2048]


def test_the_same_on_another_machine_is_of_no_machine_before_it() -> None:
    document = Path(__file__).parent / "published" / "queues.rst"
    cases = case_frame(read([document]).reading)
    assert [row["gpu"] for row in cases.sort("line").to_dicts()] == ["H200", "a100"]


def test_what_a_site_has_is_not_what_a_job_ran_on() -> None:
    document = Path(__file__).parent / "published" / "site_has_nodes.md"
    cases = case_frame(read([document]).reading).to_dicts()
    assert {case.get("nodes") for case in cases} == {1}  # said of the run; the site has 31
