"""Predicting a configuration from a file, and calibrating a site from its tables."""

import json
from pathlib import Path

import polars as pl
import pytest
from assay.model.fit import kernel_fit
from assay.model.machines import datasheets
from assay.model.stacks.stack import dump, load
from assay.model.transformer.parameters import parameters
from assay.model.transformer.shapes import shapes
from assay.validate.calibrate.site_residuals import calibrate
from assay.validate.cli import app
from assay.validate.plan.planning import Unpredictable, lines, of_cases, predictions
from assay.validate.report.sections import sections
from assay.validate.report.terminal import render
from assay.validate.score.assess import assess
from typer.testing import CliRunner

LLAMA = """
[configuration]
model = "Llama-3-70B"
dtype = "bf16"
gpus = 64
tp = 4
pp = 8
vp = 5
micro_batch = 1
global_batch = 128
seq_len = 8192
"""
TABLE = "fixtures/markdown_table/mosaic_2022.md"


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(LLAMA, encoding="utf-8")
    return path


def test_a_named_model(config):
    (found,) = predictions(config, "H100")
    assert found["step_time_low"] < found["step_time"] < found["step_time_high"]
    assert sum(found["spent"].values()) == pytest.approx(found["step_time"])
    # three quarters of the dense peak at most, a fifth at least
    flop = 6 * 70.5e9 * 128 * 8192
    assert 0.2 < flop / (64 * 989e12 * found["step_time"]) < 0.75
    assert any("bubble" in line for line in lines(found))


def test_the_command(config):
    run = CliRunner().invoke(app, ["predict", str(config), "--machine", "H100", "--json"])
    assert run.exit_code == 0
    assert json.loads(run.stdout)[0]["machine"] == "H100"


def test_the_program_and_its_switches_are_stated(config):
    """In the file or by --set; a word of none is refused with those that there are."""
    config.write_text(LLAMA + 'framework = "nemo"\ndate = "2024-07"\n', encoding="utf-8")
    (found,) = predictions(config, "H100")
    assert (found["software"], found["software_because"]) == ("nemo", "nemo of 2024")
    (waited,) = predictions(config, "H100", given={"tp_overlap": "no"})
    assert waited["step_time"] > found["step_time"]
    for pair, said in (
        ("framework=abacus", "megatron-core"),
        ("tp_overlap=maybe", "true, yes"),
        ("date=monday", "2024-07"),
        ("node_bandwidth=fast", "no number"),
        ("framwork=nemo", "framework"),
    ):
        run = CliRunner().invoke(app, ["predict", str(config), "--machine", "H100", "--set", pair])
        assert run.exit_code != 0
        assert said in run.stderr


def test_a_mixture_is_measured_by_its_own_products(tmp_path):
    """Six operations a weight that a token visits, and attention without a mask."""
    path = tmp_path / "run.toml"
    path.write_text(
        'model = "Qwen3-30B-A3B"\ndtype = "bf16"\ngpus = 16\nep = 8\nmicro_batch = 1\n'
        "global_batch = 512\nseq_len = 4096\n",
        encoding="utf-8",
    )
    (found,) = predictions(path, "H100")
    shape = shapes()["Qwen3-30B-A3B"]
    weights = parameters(shape).active - parameters(shape).embedding
    flop = 6 * weights + 12 * 48 * 32 * 128 * 4096
    ideal = flop * 512 * 4096 / 16 / 989e12
    assert found["mfu"] == pytest.approx(ideal / found["step_time"], rel=0.01)


def test_narrower_products_are_faster_where_there_are_units_for_them(config):
    """Their casts cost more, so that a quarter of the bits is not four times the rate."""
    spent = [
        predictions(config, "GB300", given={"dtype": name})[0]["step_time"]
        for name in ("NVFP4", "MXFP8", "bf16")
    ]
    assert spent == sorted(spent)
    assert spent[0] > 0.4 * spent[2]
    run = CliRunner().invoke(
        app, ["predict", str(config), "--machine", "H100", "--set", "dtype=nvfp4"]
    )
    assert run.exit_code != 0
    assert "H100 has no fp4" in run.stderr


def test_adapters_beside_frozen_weights_are_predicted(tmp_path):
    """Of a table with both, the row of adapters is faster than that which trains all weights."""
    path = tmp_path / "runs.md"
    path.write_text(
        "Precision BF16, 8 H100 GPUs\n\n"
        "| Model | Task | #GPUs | GBS | MBS | Seq Length | TP | PP | Tokens/sec/GPU |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
        "| Llama2-7B | SFT | 8 | 32 | 1 | 4096 | 1 | 1 | 11000 |\n"
        "| Llama2-7B | LoRA | 8 | 32 | 1 | 4096 | 1 | 1 | 15000 |\n",
        encoding="utf-8",
    )
    pairs = assess([path], machine="H100").comparison.pairs
    rates = pairs.filter(model="step", quantity="tokens_per_gpu_per_s").sort("line")
    whole, adapters = rates["predicted"].to_list()
    assert 1.2 * whole < adapters < 1.6 * whole


def test_what_cannot_exist(config):
    config.write_text(LLAMA.replace("tp = 4", "tp = 3"), encoding="utf-8")
    run = CliRunner().invoke(app, ["predict", str(config), "--machine", "H100"])
    assert run.exit_code == 4
    assert "64 heads do not divide among TP 3" in run.stderr
    config.write_text("[configuration]\nhidden = 8192\n", encoding="utf-8")
    with pytest.raises(Unpredictable, match="lacks"):
        predictions(config, "H100")


def test_an_unknown_machine_is_told_where_the_list_is(config):
    run = CliRunner().invoke(app, ["predict", str(config), "--machine", "abacus"])
    assert run.exit_code == 2
    assert "`assay machines` lists" in " ".join(run.stderr.split())
    assert "--machines FILE adds others" in " ".join(run.stderr.split())


def test_rows_that_a_stack_has_seen_are_no_accuracy_of_it(calibrated):
    own = load(dump(calibrated))
    assert own.parts["configuration"].seen
    plain = assess([TABLE], machine="A100-80g", models=["step"])
    again = assess([TABLE], machine="A100-80g", models=["step", "constant_mfu"], stack=own)
    assert plain.scored.filter(model="step").height > 50
    assert plain.fitted.is_empty()
    assert set(plain.scored["case"]) & set(again.fitted["case"])
    assert not set(again.scored.filter(model="step")["case"]) & set(again.fitted["case"])
    assert again.scored.filter(model="constant_mfu").height >= plain.scored.height / 2
    text = render(sections(again), width=200)
    assert "are fitted: the stack has seen them" in text


@pytest.mark.slow  # test_calibrate.py asks it of attention, which is fitted sooner
def test_kernels_that_a_stack_has_seen_are_no_accuracy_of_it(tmp_path, monkeypatch):
    """Half of the products are calibrated; of the table only the other half is scored."""
    monkeypatch.setattr(kernel_fit, "SCOUTS", 2)  # it is not about how good the fit is
    rows = [(2**a, 2**b, 2**c) for a in range(8, 13) for b in range(10, 13) for c in range(10, 13)]
    head = "gpu,dtype,m,n,k,time_us\n"
    lines = [f"H100 SXM,bf16,{m},{n},{k},{5 + 2 * m * n * k / 6e8:.3f}\n" for m, n, k in rows]
    half, whole = tmp_path / "half.csv", tmp_path / "whole.csv"
    half.write_text(head + "".join(lines[::2]), encoding="utf-8")
    whole.write_text(head + "".join(lines), encoding="utf-8")
    path = tmp_path / "own.toml"
    run = CliRunner().invoke(app, ["calibrate", str(half), "-o", str(path)])
    assert run.exit_code == 0, run.output
    own = load(path.read_text(encoding="utf-8"))
    assert len(own.parts["gemm"].seen) == len(lines[::2])
    report = assess([whole], models=["stack", "roofline"], stack=own)
    scored = report.scored.filter(scope="gemm", quantity="time")
    assert scored.filter(model="stack").height == len(lines[1::2])
    assert scored.filter(model="roofline").height == len(lines)
    assert report.fitted.height == len(lines[::2])


@pytest.fixture(scope="module")
def calibrated():
    """The stack of a site with one table, which several tests ask."""
    return calibrate([TABLE], "A100-80g")


def test_calibrate_reads_once_and_from_the_standard_input(calibrated, tmp_path):
    text = Path(TABLE).read_text(encoding="utf-8")
    out = tmp_path / "site.toml"
    run = CliRunner().invoke(
        app, ["calibrate", "-", "-o", str(out), "--machine", "A100-80g"], input=text
    )
    assert run.exit_code == 0, run.output
    piped = load(out.read_text(encoding="utf-8")).parts["configuration"]
    named = load(dump(calibrated)).parts["configuration"]
    assert (piped.values, piped.rows, piped.seen) == (named.values, named.rows, named.seen)


def test_calibrate_then_predict(calibrated, config, tmp_path):
    again = load(dump(calibrated))
    part = again.part("configuration")
    assert part.rows == 36
    assert 1.0 < part.values["slowdown"] < 1.4
    assert part.low["slowdown"] <= part.values["slowdown"] <= part.high["slowdown"]
    stack = tmp_path / "site.toml"
    stack.write_text(dump(calibrated), encoding="utf-8")
    wide = predictions(config, "A100-80g")[0]
    narrow = predictions(config, "A100-80g", stack)[0]
    assert narrow["residuals_of"] == "mosaic_2022.md"
    ratio = [one["step_time_high"] / one["step_time_low"] for one in (wide, narrow)]
    assert ratio[1] < ratio[0]


def test_one_machine_at_a_time():
    with pytest.raises(Unpredictable, match="A100-40g, A100-80g"):
        calibrate([TABLE])


OWN = """
[machine.X1]
vendor = "Acme"
generation = "one"
peak.bf16 = [1e15, "X1 sheet"]
memory_bandwidth = [2e12, "X1 sheet"]
memory_bytes = [96e9, "X1 sheet"]
sms = [64, "X1 sheet"]
l2_bytes = [1048576, "X1 sheet"]
link_bandwidth = [200e9, "X1 sheet"]
gpus_per_node = [8, "X1 sheet", "assumed"]
"""


def test_a_users_own_machine(tmp_path):
    """Known while its file is, refused with what is known afterwards."""
    (tmp_path / "x1.toml").write_text(OWN)
    case = {"case": "a", "machine": "X1", "model": "Llama-3-8B", "dtype": "bf16", "gpus": 8,
            "tp": 8, "seq_len": 8192, "micro_batch": 1, "global_batch": 64}  # fmt: skip
    datasheets.learn(tmp_path / "x1.toml")
    try:
        found = of_cases(pl.DataFrame([case]))[0]
    finally:
        datasheets.learn(None)
    assert found["machine"] == "X1"
    assert "products measured on" in " ".join(found["wider_because"])
    assert found["step_time_low"] < found["step_time"] < found["step_time_high"]
    with pytest.raises(LookupError, match="no machine is called"):
        datasheets.machine("X1")
