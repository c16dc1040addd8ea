"""Rows that print a FLOP rate or a utilisation and no time, beside what a predicted time means."""

import pytest
from assay.model.formulas.registry import formula
from assay.model.machines.datasheets import machine
from assay.validate.report.leftovers import most_wanted, unpredicted
from assay.validate.report.summary import sentences
from assay.validate.score.assess import assess

LLAMA = {"hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 32, "head_dim": 128,
         "ffn_hidden": 11008, "seq_len": 4096, "vocab": 32000}  # fmt: skip
TITLE = """\
# Llama-2 7B

Measured on H100 SXM 80GB in bf16, sequence length 4096, no activation recomputation.

"""
UNSAVED = ", no activation recomputation"
FULL, CAUSAL = (f"megatron-core.gated.gqa.dense.{mask}" for mask in ("full", "causal"))


def table(head, value, title=TITLE, batch=("GBS", 128)):
    cells = {"Model": "Llama-2 7B", "GPUs": 8, "TP": 1, "PP": 1, "MBS": 1,
             **dict([batch] if batch else []), head: value}  # fmt: skip
    return f"{title}| {' | '.join(cells)} |\n|{'---|' * len(cells)}\n| " + (
        " | ".join(map(str, cells.values())) + " |\n"
    )


def told(tmp_path, *texts, models=("step",)):
    paths = []
    for at, text in enumerate(texts):
        paths.append(tmp_path / f"{at}.md")
        paths[-1].write_text(text, encoding="utf-8")
    return assess(paths, models=models)


def of_step(report):
    pairs = report.comparison.pairs
    return [row for row in pairs.iter_rows(named=True) if row["model"] == "step"]


@pytest.fixture(scope="module")
def seconds(tmp_path_factory):
    """The predicted step time of the row, which prints one."""
    (row,) = of_step(told(tmp_path_factory.mktemp("timed"), table("Step time (s)", 6.0)))
    return row["predicted"]


@pytest.mark.parametrize(
    ("head", "quantity", "unit"),
    [
        ("TFLOP/s/GPU", "model_flops_rate", 1e12),
        ("MFU (%)", "mfu", machine("H100").peak("bf16") / 100),
        ("HFU (%)", "hfu", machine("H100").peak("bf16") / 100),
    ],
)
def test_a_rate_that_was_made_of_the_predicted_time_is_met(tmp_path, seconds, head, quantity, unit):
    printed = formula(FULL).count(LLAMA) * 128 / (seconds * 8) / unit
    report = told(tmp_path, table(head, f"{printed:.9f}"))
    (row,) = of_step(report)
    assert (row["quantity"], row["origin"]) == (quantity, "published")
    assert row["error"] == pytest.approx(0.0, abs=1e-9)
    assert row["predicted_low"] < row["predicted"] < row["predicted_high"]
    assert f"under {FULL}" in row["basis"]
    assert "assumed" in row["basis"]
    assert ("989 TFLOP/s" in row["basis"]) == (quantity != "model_flops_rate")
    assert row["formula_id"] is None  # nothing that is printed says it
    assert any(FULL in said and "assumed" in said for said in sentences(report))
    assert set(report.scored["quantity"]) == {quantity}


def test_the_interval_holds_other_counts_of_the_same_step(tmp_path, seconds):
    (row,) = of_step(told(tmp_path, table("TFLOP/s/GPU", 400.0)))
    (timed,) = of_step(told(tmp_path, table("Step time (s)", 6.0)))
    of_time = timed["predicted"] / timed["predicted_high"]
    fewer = formula(CAUSAL).count(LLAMA) / formula(FULL).count(LLAMA)
    assert row["predicted_low"] <= row["predicted"] * of_time * fewer * (1 + 1e-9)


def test_the_formula_that_the_document_proves_is_the_row_s_own(tmp_path):
    """Rows with a time follow the causal count; the one without says nothing and is like them."""
    head = "Model | GPUs | TP | PP | MBS | GBS | Step time (s) | TFLOP/s/GPU"
    work = formula(CAUSAL).count(LLAMA) * 128 / 8e12
    rows = [(time, f"{work / time:.2f}") for time in (6.11, 6.37, 6.83, 7.29, 7.57)]
    rows.append(("", "402.31"))
    lines = [f"| Llama-2 7B | 8 | 1 | 1 | 1 | 128 | {a} | {b} |" for a, b in rows]
    text = TITLE + "\n".join([f"| {head} |", "|" + "---|" * 8, *lines]) + "\n"
    (row,) = (each for each in of_step(told(tmp_path, text))
              if each["quantity"] == "model_flops_rate")  # fmt: skip
    assert row["basis"].endswith(f"under {CAUSAL}")
    assert row["value"] == pytest.approx(402.31e12)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (table("MFU (%)", 50, TITLE.replace(" H100 SXM 80GB", " GPUs")), "needs machine"),
        (table("MFU (%)", 50, TITLE.replace(", sequence length 4096", "")), "needs seq_len"),
        (table("HFU (%)", 50, TITLE.replace(UNSAVED, "")), "needs recompute"),
    ],
)  # fmt: skip
def test_a_row_that_is_not_complete_stays_without(tmp_path, text, reason):
    report = told(tmp_path, text, models=())
    assert of_step(report) == []
    assert report.comparison.unpredicted.height == 1
    shown = str(unpredicted(report)) + most_wanted(report)
    assert reason in shown
    assert "needs time" not in shown


def test_a_utilisation_of_narrow_formats_has_no_peak_that_is_known(tmp_path):
    fp8 = TITLE.replace("bf16", "fp8")
    assert of_step(told(tmp_path, table("MFU (%)", 40, fp8))) == []
    (row,) = of_step(told(tmp_path, table("TFLOP/s/GPU", 600, fp8)))
    assert row["quantity"] == "model_flops_rate"


def test_a_printed_time_is_what_is_predicted(tmp_path):
    text = TITLE + (
        "| Model | GPUs | TP | PP | MBS | GBS | Step time (s) | MFU (%) |\n|"
        + "---|" * 8
        + "\n| Llama-2 7B | 8 | 1 | 1 | 1 | 128 | 6.5 | 51.3 |\n"
    )
    assert {row["quantity"] for row in of_step(told(tmp_path, text))} == {"step_time"}


def test_a_rate_without_a_step_s_batch_is_taken_as_of_one_micro_batch(tmp_path):
    (row,) = of_step(told(tmp_path, table("MFU (%)", 50, batch=None)))
    assert row["quantity"] == "mfu"
