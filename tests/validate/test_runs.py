"""Runs: their step time, rates, memory and counts, and what differs between two."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.formats import FORMATS
from assay.ingest.inputs.read import read
from assay.ingest.pipeline.source_reading import read_source
from assay.ingest.schema.reading import Reading
from assay.ingest.source.opening import Source, source
from assay.validate.cases.cases import cases
from assay.validate.cases.observe import about
from assay.validate.cases.steps import steps as of_runs
from assay.validate.cases.steps import warm_up
from assay.validate.runs.differences import difference, gate
from assay.validate.runs.run import Run, runs
from assay.validate.score.assess import assess

from tests.conftest import FIXTURES

JOB = FIXTURES / "arguments" / "gpt2_18b_v100.log"


def summarised(reading: Reading) -> tuple[Run, ...]:
    return runs(reading, cases(reading, about(FORMATS)))


def parse(text: str) -> Reading:
    whole = source("job.log", text.encode())
    assert isinstance(whole, Source)
    return read_source(whole, FORMATS)


def test_a_job_is_summarised() -> None:
    (run,) = summarised(read([JOB]).reading)
    figures = run.metrics
    assert run.case.endswith("gpt2_18b_v100.log#88")
    assert (run.machine, run.rows, run.left_out, run.window) == ("V100-32g", 20, 1, (20, 200))
    assert figures["step_time"].value == pytest.approx(1.3806)
    assert figures["step_time"].noise == pytest.approx(0.0015, abs=2e-4)
    assert figures["mfu"].value == pytest.approx(
        72 * 4 * 1024 * 40 * 6144**2 * (1 + 1024 / (6 * 6144) + 50688 / (16 * 40 * 6144))
        / 1.3806 / 16 / 125e12
    )  # fmt: skip
    assert "narayanan-eq3-stored over V100-32g fp16" in figures["mfu"].basis
    assert figures["memory_max_allocated"].value == pytest.approx(26204.5595703125 * 2**20)
    assert "rank 3" in figures["memory_max_allocated"].basis
    assert figures["skipped_iterations"].value == 19
    assert [when for when, _ in run.validation] == ["iteration 100", "iteration 200"]


def test_tokens_per_second_are_all_tokens_over_all_time() -> None:
    lines = ["using world size: 8, data-parallel-size: 8, tensor-model-parallel size: 1, "
             "pipeline-model-parallel size: 1", "SEQ_LEN=1000"]  # fmt: skip
    lines += [
        f" iteration {n}/ 9 | elapsed time per iteration (ms): {ms} | global batch size: {batch} |"
        for n, ms, batch in [(1, 9000.0, 16), (2, 1000.0, 16), (3, 1010.0, 16), (4, 990.0, 16)]
    ]
    (run,) = summarised(parse("\n".join(lines) + "\n"))
    assert run.left_out == 1
    assert run.metrics["tokens_per_s"].value == pytest.approx(48_000 / 3.0)


def test_a_run_for_every_setting_holds_what_its_steps_say_and_no_more() -> None:
    n = 40
    log = "".join(f"world size: {at + 1}\nstep {at} loss: 2.5 tokens/s: 10\n" for at in range(n))
    reading = parse(log)
    found = of_runs(reading)
    assert len(found) == len(summarised(reading)) == n
    said = {"source", "line", "case", "step", "loss", "token_rate", "gpus"}
    assert said <= set(found[0].every.columns)
    assert len(found[0].every.columns) < 30  # the frame has more than a hundred
    assert all(one.every is one.rows is one.steady for one in found)  # no copies of a slice


def test_superseded_rows_do_not_count() -> None:
    def line(n: int, ms: float) -> str:
        return f" iteration {n}/ 90 | elapsed time per iteration (ms): {ms} |\n"

    text = "".join(line(n, 5000.0) for n in range(1, 9)) + "".join(
        line(n, 1000.0) for n in range(3, 20)
    )
    (run,) = summarised(parse(text))
    assert run.metrics["superseded"].value == 6
    assert run.metrics["step_time"].value == 1.0


@pytest.mark.parametrize(
    ("times", "expected"),
    [([], 0), ([1.0, 1.0], 0), ([9, 1, 1, 1], 1), ([9, 8, 7, 1, 1, 1, 1, 1, 1, 1], 3),
     ([9, 8, 7, 6, 5, 4, 3, 2, 1.5, 1], 5)],
)  # fmt: skip
def test_warm_up_is_left_out_but_never_most(times: list[float], expected: int) -> None:
    assert warm_up(times) == expected


def test_documents_that_quote_lines_hold_no_run() -> None:
    assert summarised(read([FIXTURES / "markdown_table" / "bloom_prequel.md"]).reading) == ()


def test_two_runs_are_compared_argument_by_argument() -> None:
    text = JOB.read_text()
    slower = text.replace("init_method_std ................................. 0.02",
                          "init_method_std ................................. 0.03")  # fmt: skip
    slower = slower.replace(
        "elapsed time per iteration (ms): 1", "elapsed time per iteration (ms): 2"
    )
    first, second = parse(text), parse(slower)
    found = difference(*summarised(first), *summarised(second), first, second)
    assert [a.name for a in found.arguments] == ["megatron.init_method_std"]
    assert found.configuration == []
    step = next(c for c in found.changes if c.name == "step_time")
    assert step.change == pytest.approx(1 / 1.3806, rel=1e-3)
    assert step.beyond_noise is True
    assert next(c for c in found.changes if c.name == "lm_loss").beyond_noise is None


@pytest.mark.parametrize("text", ["", "step_time", "step_time>5", "5%>step_time", "step time>+5%"])
def test_what_is_no_gate(text: str) -> None:
    with pytest.raises(ValueError, match="is no gate"):
        gate(text)


@pytest.mark.parametrize(("rows", "known"), [(1, False), (2, False), (4, True)])
def test_the_spread_of_a_row_or_two_is_unknown(rows: int, known: bool) -> None:
    text = "".join(
        f" iteration {n}/ 9 | elapsed time per iteration (ms): {1000 + n} |\n" for n in range(rows)
    )
    (run,) = summarised(parse(text))
    assert (run.metrics["step_time"].noise is not None) is known
    assert run.progress == (rows - 1, 9)


def test_shapes_that_are_no_gpt_get_the_formula_that_counts_them() -> None:
    text = JOB.read_text()
    argument = "  hidden_size ..................................... 6144\n"
    gated = text.replace(argument, argument + "  swiglu .......................... True\n")
    mixture = text.replace(argument, argument + "  num_experts ..................... 8\n")
    (run,) = summarised(parse(gated))
    assert run.metrics["model_flops_rate"].basis == "megatron-core.gated.gqa.dense.full"
    h, f, s, v, layers = 6144, 24576, 1024, 50688, 40
    flop = 3 * 2 * s * (layers * (4 * h * h + 2 * s * h + 3 * h * f) + h * v)
    assert run.metrics["model_flops_rate"].value == pytest.approx(flop * 4 / 1.3806 / 16)
    (run,) = summarised(parse(mixture))
    assert "mfu" not in run.metrics
    assert run.metrics["step_time"].value == pytest.approx(1.3806)


def test_a_time_that_follows_from_a_printed_rate_is_no_forecast(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    path.write_text(
        "".join(
            f" iteration {n}/ 9 | elapsed time per iteration (s): 10.0 | global batch size: 20 | "
            "samples per second: 2.0 |\n"
            for n in range(1, 6)
        )
    )
    report = assess([path])
    assert "throughput" in set(report.comparison.pairs["model"])
    (run,) = runs(report.outcome.reading, report.cases, report.comparison.pairs)
    assert run.predicted == {}


def test_ranks_that_print_one_step_are_one_step() -> None:
    lines = ["using world size: 8, data-parallel-size: 8, tensor-model-parallel size: 1, "
             "pipeline-model-parallel size: 1"]  # fmt: skip
    lines += [
        f"[rank{rank}]: iteration {n}/ 9 | elapsed time per iteration (ms): "
        f"{1000 + 10 * rank}.0 | global batch size: 8 | number of skipped iterations: 1 |"
        for n in range(1, 9)
        for rank in range(4)
    ]
    (run,) = summarised(parse("\n".join(lines) + "\n"))
    assert (run.rows, run.left_out) == (8, 1)
    assert run.metrics["step_time"].value == pytest.approx(1.03)
    assert run.metrics["skipped_iterations"].value == 8


def throughput(n: int) -> str:
    """A line of DeepSpeed's timer after 10 n steps."""
    return (
        f"[2024-01-01 10:00:{n:02},223] [INFO] [timer.py:260:stop] epoch=0/micro_step={20 * n}/"
        f"global_step={10 * n}, RunningAvgSamplesPerSec=16.4, CurrSamplesPerSec=16.5{n}, "
        "MemAllocated=4.31GB, MaxMemAllocated=20.31GB\n"
    )


def test_rates_by_the_count_of_steps_are_a_run_where_nothing_else_tells_its_pace() -> None:
    alone = "".join(throughput(n) for n in range(1, 5))
    (run,) = summarised(parse(alone))
    assert run.rows == 4
    assert "step_time" not in run.metrics
    (pace,) = of_runs(parse(alone))
    assert (pace.pace, pace.steady["samples_per_s"].to_list()) == (
        "samples_per_s", [16.52, 16.53, 16.54])  # fmt: skip
    steps = "".join(
        f"iteration {n}/ 9 | elapsed time per iteration (ms): 812.{n} | lm loss: 3.{n} |\n"
        for n in range(1, 5)
    )
    (timed,) = summarised(parse(alone + steps))
    assert timed.metrics["step_time"].value == pytest.approx(0.8123, rel=1e-3)
