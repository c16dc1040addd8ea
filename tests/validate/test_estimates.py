"""The three published estimators on what they printed: every number, at its printed precision."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from assay.ingest.numbers.printed import BINARY_ULPS
from assay.model.reproductions import deepflow_unconfigured
from assay.validate.score.assess import Report, assess

from tests.conftest import FIXTURES

ESTIMATOR_MODELS = ("deepflow", "transformer-perf-estimates", "ulysses")


def pairs(report: Report, model: str) -> pl.DataFrame:
    """The pairs of one model, with whether prediction and print agree.

    Floats printed in full agree within 4 units of their last place, nothing more; for the others
    our own rounding gets the same slack at the ends of the printed interval.
    """
    found = report.comparison.pairs.filter(pl.col("model") == model)
    slack = BINARY_ULPS * np.spacing(found["value"].abs().to_numpy())
    low = pl.coalesce("predicted_low", "predicted")
    high = pl.coalesce("predicted_high", "predicted")
    meets = (low <= pl.col("high") + pl.col("slack")) & (high >= pl.col("low") - pl.col("slack"))
    near = (pl.col("predicted") - pl.col("value")).abs() <= pl.col("slack")
    full = pl.col("kind") == "binary"
    return found.with_columns(slack=pl.Series(slack)).with_columns(
        equal=pl.when(full).then(near).otherwise(meets)
    )


def unequal(report: Report, model: str) -> list[tuple[object, ...]]:
    rows = pairs(report, model).filter(~pl.col("equal"))
    return rows.select("source", "line", "subject", "quantity", "value", "predicted").rows()


# ---- DeepFlow


def dumps(corpus: Path) -> list[Path]:
    return sorted(
        folder
        for folder in (corpus / "corpus" / "estimator_dump").iterdir()
        if re.match("[0-9]{2}_", folder.name)
    )


@pytest.fixture(scope="module")
def configured(corpus: Path) -> Report:
    return assess(dumps(corpus), models=["deepflow", "roofline", "b3"])


def test_21_dumps_equal_their_configuration(corpus: Path, configured: Report) -> None:
    assert len(dumps(corpus)) == 21
    assert unequal(configured, "deepflow") == []
    rest = configured.comparison.unpredicted
    assert rest.is_empty()
    counts = Counter(pairs(configured, "deepflow")["scope"].to_list())
    per_dump = {scope: count / 21 for scope, count in counts.items()}
    # 9 GEMMs of flop, two levels of bytes, time and two pairs of lines; 36 triples of reloads
    assert per_dump["gemm"] == 9 * 8 + 36 * 3
    assert per_dump["pointwise"] == 6 * 5 + 4 * 5 + 2
    assert per_dump["machine"] == 7
    assert per_dump["configuration"] == 9 + 18 + 4  # parts, memory lines, totals


def test_our_own_models_stand_beside_it(configured: Report) -> None:
    times = configured.comparison.pairs.filter(
        (pl.col("scope") == "gemm") & (pl.col("quantity") == "time")
    )
    assert set(times["model"]) == {"deepflow", "roofline", "b3"}
    assert configured.scores.accuracy.is_empty()  # an estimate is not the truth
    assert not configured.scores.agreement.is_empty()


@pytest.fixture(scope="module")
def alone(corpus: Path) -> Report:
    folders = dumps(corpus)
    return assess([folder / "summary.txt" for folder in folders], models=["deepflow"])


def test_dumps_alone_predict_what_they_did_not_consume(alone: Report) -> None:
    assert unequal(alone, "deepflow") == []
    solved = deepflow_unconfigured.solutions(alone.observations)
    assert len(solved) == 21
    key = ("case", "scope", "subject", "quantity")
    predicted = set(pairs(alone, "deepflow").select(key).rows())
    for case, solution in solved.items():
        consumed = {(case, *used) for used in solution.consumed}
        assert not predicted & consumed
        times = {(c, s, q) for c, _, s, q in predicted if c == case and q == "time"}
        gemm_times = [s for c, scope, s, q in predicted if (c, scope, q) == (case, "gemm", "time")]
        assert len(gemm_times) == 7
        assert len(consumed) == 12
        assert times
        assert "left to check" in solution.describe()
        assert solution.open == ["l2_bandwidth"]


def test_the_rest_of_a_dump_alone_is_what_power_decides(alone: Report) -> None:
    solved = deepflow_unconfigured.solutions(alone.observations)
    consumed = {(case, *key) for case, one in solved.items() for key in one.consumed}
    rest = {
        (scope, quantity)
        for case, scope, subject, quantity in alone.comparison.unpredicted.select(
            "case", "scope", "subject", "quantity"
        ).iter_rows()
        if (case, scope, subject, quantity) not in consumed
    }
    assert rest == {
        ("configuration", "memory_overflow"),
        ("configuration", "memory_overflow_per_shard"),
        ("machine", "interconnect_bandwidth"),
        ("machine", "l2_bandwidth"),
        ("machine", "memory_size"),
    }


def test_second_generation_is_read_and_listed(corpus: Path) -> None:
    folders = sorted((corpus / "corpus" / "estimator_dump").glob("second_generation_*"))
    report = assess(folders)
    reading = report.outcome.reading
    assert reading.refused == ()
    assert all(account.not_ours == 0 for account in reading.accounting)
    assert report.comparison.pairs.is_empty()
    assert report.comparison.unpredicted.height == report.observations.height > 150
    units = [each for each in report.findings if each.law == "estimator-unit"]
    assert [each.spans[0].line for each in units] == [75, 84, 93] * 2


# ---- per-layer estimates


@pytest.fixture(scope="module")
def layers(corpus: Path) -> Report:
    seed = next((corpus / "corpus" / "seeds").glob("003*"))
    return assess([seed], machine="A100-40g")


def test_every_cell_of_the_published_tables(layers: Report) -> None:
    frame = layers.outcome.reading.frames["layer_estimates"]
    assert frame.height == 14
    assert unequal(layers, "transformer-perf-estimates") == []
    assert layers.comparison.unpredicted.is_empty()
    rows = pairs(layers, "transformer-perf-estimates")
    numbers = rows.filter(pl.col("subject") != "total").height
    texts = frame.select("layer", "comm_fwd_type", "comm_bwd_type", "comm_topology")
    missing = layers.outcome.reading.provenance.filter(
        (pl.col("state") == "missing") & (pl.col("frame") == "layer_estimates")
    )
    named = sum(texts[name].count() for name in texts.columns)
    assert numbers + named + missing.height == 14 * 31
    assert rows.filter(pl.col("subject") == "total").height == 2 * 10  # nine sums and a share


def test_own_models_on_the_layers(layers: Report) -> None:
    times = layers.comparison.pairs.filter(
        (pl.col("scope") == "layer") & (pl.col("quantity") == "t_fwd")
    )
    assert Counter(times["model"]) == {"transformer-perf-estimates": 14, "roofline": 6, "b3": 6}


def test_notebooks_say_the_same_as_the_document(corpus: Path, layers: Report) -> None:
    folder = corpus / "corpus" / "layer_estimates"
    seen = layers.outcome.reading.frames["layer_estimates"]
    for name in ("transformer_estimates_917b558", "transformer_estimates_cf96a49"):
        report = assess([folder / f"{name}.ipynb"], machine="A100-40g")
        read = report.outcome.reading.frames["layer_estimates"]
        place = ("source", "line", "column", "table")
        assert read.drop(place).equals(seen.drop(place))
        assert unequal(report, "transformer-perf-estimates") == []


def test_a_notebook_without_parallelism_stays_unpredicted(corpus: Path) -> None:
    path = corpus / "corpus" / "layer_estimates" / "transformers_0b5061a.ipynb"
    report = assess([path], machine="A100-40g")
    frames = report.outcome.reading.frames
    rows = frames["layer_estimates"]
    assert rows.height == 34
    assert rows["m1"].null_count() == 34
    assert report.comparison.pairs.is_empty()
    # 312 TFLOP/s is what its times in milliseconds mean; in seconds it would be 0.312
    fc1 = rows.row(0, named=True)
    assert fc1["flops_fwd"] / fc1["t_total_fwd"] == pytest.approx(312e12, rel=1e-4)
    said = frames["layer_total"].filter(pl.col("layer") == "iteration")
    assert said["iteration_time"].to_list() == pytest.approx([0.5197914570492645, 1.0907086666248])
    assert said["memory_consumed"][0] == pytest.approx(56.561369088e9)
    lists = report.outcome.reading.provenance.filter(
        (pl.col("field") == "comm_fwd") & (pl.col("state") == "unknown")
    )
    assert lists["text"].str.starts_with("[").all()
    assert lists.height == 6


def test_nothing_about_the_case_is_in_the_code(tmp_path: Path) -> None:
    """The model line and the tables changed together: the same cells, other numbers."""
    from assay.model.reproductions.transformer_estimates import (
        BLOCKS,
        Model,
        Peaks,
        table,
        totals,
        unit,
    )

    model = Model(batch=2, seq_len=1024, hidden=6144, heads=48, depth=12, m=8)
    peaks = Peaks(312e12, 78e12, 1555e9, 600e9, 8)
    scale = {"flop": 1e12, "B": 1e9, "s": 1e-3, "1": 1.0}
    text = (FIXTURES / "layer_estimates" / "gpt3_tensor_parallel_4.txt").read_text()
    header = next(line for line in text.splitlines() if line.startswith("Unnamed"))
    names = ["frac_t_comm_bwd" if n == "frac_t_comm" else n for n in header.split(",")[1:]]
    lines = [
        "model: batch size = 2, seq length = 1024, embed = 6144, attention heads = 48, depth = 12",
        "parallelization: m1 = 8, m2 = 1",
    ]
    for block, title in (("mlp", "MLP"), ("attention", "SA")):
        rows = table(block, model, peaks)
        lines += ["", f"************** {title} layer estimates **************", "", header]
        for at, cells in enumerate(rows):
            shown = [
                "" if v is None else v if isinstance(v, str) else f"{v / scale[unit(n)]:.6f}"
                for n in names
                for v in [cells[n]]
            ]
            lines.append(",".join([str(at), *shown]))
        lines += ["", "", *(
            f"{n:20}{v / scale[unit(n)]:.6f}"
            for n, v in totals(rows, model.depth).items() if n != "comm_share"
        ), "dtype: float64", ""]  # fmt: skip
    assert set(BLOCKS) == {"mlp", "attention"}
    path = tmp_path / "other.txt"
    path.write_text("\n".join(lines) + "\n")
    report = assess([path], machine="A100-40g")
    assert unequal(report, "transformer-perf-estimates") == []
    assert report.comparison.unpredicted.is_empty()
    assert report.outcome.reading.frames["layer_estimates"].height == 14
    # and the model line alone changed: what is printed no longer follows
    path.write_text("\n".join(lines).replace("embed = 6144", "embed = 8160") + "\n")
    assert unequal(assess([path], machine="A100-40g"), "transformer-perf-estimates")


# ---- Ulysses


@pytest.fixture(scope="module")
def trace(corpus: Path) -> Report:
    return assess([next((corpus / "corpus" / "seeds").glob("001*"))])


def test_the_trace_is_predicted_but_for_one_line(trace: Report) -> None:
    quantities = Counter(pairs(trace, "ulysses")["quantity"])
    assert quantities["elements"] == quantities["bytes"] == 25
    assert quantities["flop"] == 4
    assert quantities["peak_memory"] == 11
    rest = trace.comparison.unpredicted
    assert rest.filter(~pl.col("quantity").str.starts_with("dim"))["quantity"].to_list() == [
        "current_memory"
    ]
    assert rest.filter(pl.col("quantity").str.starts_with("dim")).height == 2  # L and d' solved
    assert [(line, quantity) for _, line, _, quantity, *_ in unequal(trace, "ulysses")] == [
        (71, "dim0")  # the label says N/DP/TP, the shape is N/DP
    ]


def test_the_workspace_is_fitted_on_other_lines(trace: Report) -> None:
    rows = pairs(trace, "ulysses").filter(pl.col("quantity") == "peak_memory").sort("line")
    for subject, inputs in rows.select("subject", "inputs").iter_rows():
        assert f"peak_memory of {subject}" not in inputs
    fitted = rows.filter(pl.col("line").is_between(20, 66))
    assert (fitted["inputs"].list.len() == 8).all()


def test_the_foreign_host_is_kept(trace: Report) -> None:
    events = trace.outcome.reading.frames["ulysses_event"]
    assert events["host"].n_unique() == 2
    assert events.filter(pl.col("line") == 68)["kind"].to_list() == ["nccl"]


@pytest.fixture(scope="module")
def samples() -> Report:
    folders = ("deepflow_dump", "layer_estimates", "ulysses_trace")
    return assess([FIXTURES / name for name in folders], models=ESTIMATOR_MODELS)


@pytest.mark.parametrize("model", ESTIMATOR_MODELS)
def test_samples_agree(model: str, samples: Report) -> None:
    assert unequal(samples, model) == []
    assert not pairs(samples, model).is_empty()
