"""What the user states: on the command line, in a configuration file, in a side file to correct."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from assay.validate.cli import app
from assay.validate.plan.planning import predictions
from assay.validate.report.json_document import document
from assay.validate.score.assess import assess
from typer.testing import CliRunner

JOB = Path("fixtures/arguments/gpt2_18b_v100.log")

RUN = """
[configuration]
hidden = 4096
layers = 32
heads = 32
vocab = 50304
seq_len = 2048
dtype = "bf16"
gpus = 8
tp = 2
pp = 1
micro_batch = 2
global_batch = 64
recompute = "none"
"""


def invoke(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text(RUN, encoding="utf-8")
    return path


def test_what_is_set_overrules_what_is_printed_and_says_so() -> None:
    found = assess([JOB], models=["step"], given={"seq_len": "2048"})
    assert set(found.cases.configuration["seq_len"]) == {2048}
    (said,) = found.cases.overruled
    assert (said.name, said.stated, said.printed) == ("seq_len", "2048", "1024")
    code, text, _ = invoke("report", str(JOB), "--set", "SEQ-LEN=2048")
    assert code == 0
    assert "seq_len = 2048 overrules 1024" in " ".join(text.split())


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("hiden=4096", "did you mean 'hidden'?"),
        ("recompue=full", "did you mean 'recompute'?"),
        ("seq_len=long", "seq_len was stated as 'long', expected an integer"),
        ("seq_len", "--set is KEY=VALUE"),
        ("tp=0", "tp was stated as '0'"),
    ],
)
@pytest.mark.parametrize("command", ["report", "check", "state"])
def test_what_cannot_be_set_is_refused(command: str, pair: str, message: str) -> None:
    code, _, error = invoke(command, str(JOB), "--set", pair)
    assert code == 2
    assert message in error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('recompue = "full"', "'recompue' is no configuration column; did you mean 'recompute'"),
        ("hiden = 4096", "did you mean 'hidden'"),
        ("micro_batch = 3", "a global batch of 64 does not divide into micro-batches of 3 on DP 4"),
        ("heads = 12", "a hidden size of 4096 does not divide among 12 heads"),
        ("kv_heads = 5", "32 heads do not group into 5 kv heads"),
        ("tp = 3", "TP 3"),
        ('dtype = "bf61"', "bf61"),
        ("gpus = 2.5", "gpus was stated as '2.5'"),
    ],
)
def test_predict_refuses_what_it_does_not_know(config: Path, line: str, message: str) -> None:
    key = line.partition(" ")[0]
    kept = [each for each in RUN.splitlines() if not each.startswith(f"{key} ")]
    config.write_text("\n".join([*kept, line]), encoding="utf-8")
    code, _, error = invoke("predict", str(config), "--machine", "H100")
    assert code in (2, 4)
    assert message in error


def test_predict_names_the_nearest_model(config: Path) -> None:
    config.write_text('model = "Lama-3-70B"\ngpus = 8\n', encoding="utf-8")
    code, _, error = invoke("predict", str(config), "--machine", "H100")
    assert code == 2
    assert "did you mean 'Llama-3-70B'?" in error


def test_predict_says_what_was_assumed_and_the_level(config: Path) -> None:
    (found,) = predictions(config, "H100")
    assert found["interval"] == 0.9
    assert found["attention"] == "cudnn"  # of Transformer Engine on Hopper
    assert "assumed" in found["software_because"]
    assert "hidden" not in found["assumed"]
    flop = 6 * (12 * 32 * 4096**2 + 50304 * 4096) + 12 * 32 * 4096 * 2048
    share = flop * 64 * 2048 / (found["step_time"] * 8 * 989.4e12)
    assert found["mfu"] == pytest.approx(share, rel=0.01)
    code, text, _ = invoke("predict", str(config), "--machine", "H100")
    assert code == 0
    assert "(90 % interval)" in text
    assert "assumed, nobody states it:" in text


def test_predict_takes_what_is_set(config: Path) -> None:
    (plain,) = predictions(config, "H100")
    (longer,) = predictions(config, "H100", given={"seq_len": "4096"})
    assert longer["step_time"] > 1.5 * plain["step_time"]


def test_a_state_is_toml_and_says_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    lines = JOB.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(
        "".join(each for each in lines if "hidden" not in each.lower()), encoding="utf-8"
    )
    code, text, _ = invoke("state", str(path))
    assert code == 0
    assert tomllib.loads(text) == {"configuration": {}}
    assert "# seq_len = 1024  # stated, first in line" in text
    assert "# missing: hidden (model width h): Megatron" in text
    target = tmp_path / "run.toml"
    assert invoke("state", str(path), "-o", str(target))[0] == 0
    assert target.read_text(encoding="utf-8") == text
    assert invoke("state", str(path), "-o", str(target))[0] == 2


def test_a_document_without_runs_has_no_state(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("nothing\n", encoding="utf-8")
    code, _, error = invoke("state", str(path))
    assert code == 4
    assert "no run was found" in error


OPEN = """## V100 32GB

SEQ_LEN=1024

GPUS_PER_NODE=$N
SEQ_LEN=$LENGTH

| Nodes | Sec/it | TFLOPs |
|---|---|---|
| 8 | 12.5 | 100.1 |
| 16 | 6.5 | 98.1 |
"""


def test_what_is_stated_and_not_understood_is_shown_and_nothing_stands_in(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(OPEN, encoding="utf-8")
    report = assess([path])
    wide = report.cases.configuration
    assert wide["machine"].to_list() == ["V100-32g"] * 2
    for name in ("seq_len", "gpus_per_node", "gpus"):  # no older one, no usual node
        assert wide[name].null_count() == wide.height, name
    told = document(report)["not_understood"]
    said = [(each["line"], each["field"], each["text"]) for each in told]
    assert sorted(said) == [(5, "gpus_per_node", "$N"), (6, "seq_len", "$LENGTH")]


SECTIONS = """## LLaMA-7B

| GPUs | Sec/it |
|---|---|
| 8 | 12.5 |

## LLaMA-13B (bf16)

| GPUs | Sec/it |
|---|---|
| 8 | 24.5 |
"""


def test_a_side_file_states_values_under_one_heading(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(SECTIONS, encoding="utf-8")
    side = '[configuration]\nseq_len = 4096\n[[where]]\nheading = "LLaMA-13B"\nseq-length = 2048\n'
    more = '[[where]]\nheading = "LLaMA-70B"\nhidden = 8192\n'
    (tmp_path / "a.toml").write_text(side + more, encoding="utf-8")
    report = assess([tmp_path / "a.md"])
    assert report.cases.configuration["seq_len"].to_list() == [4096, 2048]
    (remark,) = report.outcome.reading.remarks
    assert "'LLaMA-70B'" in remark.message
    assert "LLaMA-13B" in remark.message or "LLaMA-7B" in remark.message


@pytest.mark.parametrize(
    ("side", "said"),
    [('[[where]]\nheading = "x"\nhiden = 1\n', "did you mean 'hidden'"),
     ("[[where]]\nhidden = 1\n", "needs heading")],
)  # fmt: skip
def test_a_section_that_cannot_be_used_says_why(tmp_path: Path, side: str, said: str) -> None:
    (tmp_path / "a.md").write_text(SECTIONS, encoding="utf-8")
    (tmp_path / "a.toml").write_text(side, encoding="utf-8")
    (fault,) = assess([tmp_path / "a.md"]).outcome.unreadable
    assert said in fault.message
