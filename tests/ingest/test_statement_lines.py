"""Single lines of logs and documents, and what each states: as they were thought of, then read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from assay.ingest.inputs.read import read
from assay.ingest.lines.lark import grammar, parsed_alike
from assay.ingest.prose import counted_machines
from assay.ingest.schema.configuration import Configuration
from assay.ingest.schema.fields import fields
from assay.ingest.schema.record import Line, Statement
from assay.ingest.statements import phrases
from assay.ingest.statements.context import read_context
from hypothesis import example, given
from hypothesis import strategies as st
from lark.exceptions import UnexpectedInput

from tests.conftest import mostly_slow

STEPS = "".join(f"step: {n}  loss: 2.5  step_time: 1.{n} s\n" for n in range(5))

LINES: dict[str, dict[str, str]] = {
    "NumNodes=16 NumCPUs=2048 NumTasks=128 CPUs/Task=16": {"nodes": "16"},
    "All distributed processes registered. Starting with 32 processes": {"gpus": "32"},
    "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/16": {"gpus": "16"},
    "World size: 64": {"gpus": "64"},
    "NOTE: Global batch size 1024 on 2 hosts results in 512 local batch size. With 4 dev per host "
    "(8 dev total), that's a 128 per-device batch size.": {
        "global_batch": "1024",
        "nodes": "2",
    },
    "gpus: 0,1,2,3": {"gpus_per_node": "4"},
    "gpus: 1,024": {"gpus": "1024"},
    "WORLD_SIZE=64": {"gpus": "64"},
    "Distributed world size: 64": {"gpus": "64"},
    "Number of processes: 64": {"gpus": "64"},
    "Total number of GPUs: 64": {"gpus": "64"},
    "Running on 64 GPUs": {"gpus": "64"},
    "INFO - training on 8 nodes with 4 GPUs each": {"nodes": "8", "gpus_per_node": "4"},
    "n_nodes=8, n_gpus_per_node=4": {"nodes": "8", "gpus_per_node": "4"},
    "global batch size = 512 (micro batch size 2 x 16 dp x 16 accumulation)": {
        "global_batch": "512",
        "micro_batch": "2",
        "dp": "16",
        "accumulation": "16",
    },
    "effective batch size: 512": {"global_batch": "512"},
    "Batch size per device: 4": {"micro_batch": "4"},
    "per-device batch size: 4": {"micro_batch": "4"},
    "per_device_batch_size = 4": {"micro_batch": "4"},
    "Gradient accumulation steps: 8": {"accumulation": "8"},
    "grad_accum: 8": {"accumulation": "8"},
    "Context length: 4096": {"seq_len": "4096"},
    "seqlen=4096": {"seq_len": "4096"},
    "sequence_length = 4096": {"seq_len": "4096"},
    "Sequence Length: 4,096": {"seq_len": "4096"},
    "dim = 4096": {},
    "d_model=4096, n_layers=32, n_heads=32": {"hidden": "4096", "layers": "32", "heads": "32"},
    "embed_dim: 4096": {"hidden": "4096"},
    "model_dim: 4096": {"hidden": "4096"},
    "hidden_dimension: 4096": {"hidden": "4096"},
    "num_blocks: 32": {"layers": "32"},
    "decoder_layers: 32": {"layers": "32"},
    "num_decoder_layers: 32": {"layers": "32"},
    "n_kv_heads: 8": {"kv_heads": "8"},
    "num_kv_heads=8": {"kv_heads": "8"},
    "mlp_dim: 14336": {"ffn_hidden": "14336"},
    "ffn_dim: 14336": {"ffn_hidden": "14336"},
    "intermediate_size=14336": {"ffn_hidden": "14336"},
    "vocab_size: 128256": {"vocab": "128256"},
    "Vocab size: 128,256": {"vocab": "128256"},
    "vocabulary size is 128256": {"vocab": "128256"},
    "padded_vocab_size: 128256": {"vocab": "128256"},
    "tensor parallel size: 8": {"tp": "8"},
    "tensor_parallelism: 8": {"tp": "8"},
    "TP size = 8": {"tp": "8"},
    "tp_degree=8": {"tp": "8"},
    "tensor-parallel degree 8, pipeline-parallel degree 2": {"tp": "8", "pp": "2"},
    "TP=8 PP=2 DP=4": {"tp": "8", "pp": "2", "dp": "4"},
    "TP: 8, PP: 2, DP: 4": {"tp": "8", "pp": "2", "dp": "4"},
    "tp8 pp2 dp4": {"tp": "8", "pp": "2", "dp": "4"},
    "parallelism: tp=8 pp=2 dp=4 cp=1": {"tp": "8", "pp": "2", "dp": "4", "cp": "1"},
    "dp_size=4 tp_size=8 pp_size=2": {"dp": "4", "tp": "8", "pp": "2"},
    "Using bfloat16 precision": {"dtype": "bfloat16"},
    "dtype: torch.bfloat16": {"dtype": "bfloat16"},
    "precision: bf16": {"dtype": "bf16"},
    "Mixed precision: bf16": {"dtype": "bf16"},
    "compute_dtype=bfloat16": {"dtype": "bfloat16"},
    "param_dtype: float32": {},
    "ZeRO stage: 3": {"zero_stage": "3"},
    "zero_stage=3": {"zero_stage": "3"},
    "Using ZeRO stage 3": {"zero_stage": "3"},
    "Device: NVIDIA A100-SXM4-80GB": {"gpu": "NVIDIA A100-SXM4-80GB"},
    "GPU: NVIDIA H100 80GB HBM3": {"gpu": "NVIDIA H100 80GB HBM3"},
    "device_name: NVIDIA H100 80GB HBM3": {"gpu": "NVIDIA H100 80GB HBM3"},
    "Using 8 x NVIDIA H100 80GB HBM3": {"gpus": "8", "gpu": "H100 80GB"},
    "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-1234)": {"gpu": "NVIDIA A100-SXM4-80GB"},
    "Number of parameters: 8,030,261,248": {"parameters": "8030261248"},
    "Total params: 8,030,261,248": {"parameters": "8030261248"},
    "Model has 8,030,261,248 parameters": {"parameters": "8030261248"},
    "number of parameters: 8030.26M": {"parameters": "8030.26"},
    "Activation checkpointing: True": {"activation_checkpointing": "True"},
    "gradient_checkpointing: true": {"activation_checkpointing": "True"},
    "Model: meta-llama/Llama-3.1-8B": {"model": "Llama-3.1-8B"},
    "model_name: llama2-70b": {"model": "llama2-70b"},
    "num_experts: 64": {"experts": "64"},
    "n_routed_experts: 64": {"experts": "64"},
}

SENTENCES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("sentences.toml").read_text("utf-8")
)

SILENT = (
    "It ran on A100 at first, and on H100 with sequence length 2048.",
    "Images of width 4096 are cut.",
    "see layers 12 and 13",
    "The 96-layer model of the other paper was slower.",
    "We scaled tensor parallelism from 4 to 8.",
    "TP8 was slower than TP4 PP2.",
    "We also tried a sequence length of 8192.",
    "max_length: 20",
    "eval batch size per device: 64",
    "model: encoder",
    "device: cuda:0",
    "The 64 GPUs of the other cluster were busy.",
    "rank 3 of 64 done",
    "stage=1 layers=8 [0, 8)",
    "Loaded 32 layers of the tokenizer",
    "validation.sequence_length: 1024",
    "{'loss': 2.1, 'epoch': 0.02, 'learning_rate': 1e-05}",
    '{"eval": {"seq_length": 512, "micro_batch_size": 4, "num_layers": 3}}',
    "Unlike Megatron-LM 3.0, it trains without patches.",
    "We compare our results with those of DeepSpeed 0.14.",
    "Throughput is 1.4x higher than with NeMo 24.07.",
    "Checkpoints can be converted to NeMo 2.0 with this script.",
    "The Megatron 530B model was trained elsewhere.",
    "See the NeMo 24.07 documentation for training results.",
    "from megatron.core import parallel_state",
    "WARNING: /opt/NeMo/nemo/collections/nlp/models.py:42 deprecated in 2.0",
    "transformers==4.40.1",
    "Clone the repository of Nemotron-4 15B.",
)  # fmt: skip
"""Lines that state nothing of the run."""


def stated(text: str, folder: Path) -> dict[str, str]:
    """Fields that a line above the steps of a log states, with their texts."""
    path = folder / "a.log"
    path.write_text(f"{text}\n{STEPS}", encoding="utf-8")
    said = read([path]).reading.statements
    return {} if said is None else dict(said.select("field", "text").iter_rows())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What each line says above the steps of a log of its own, all read at once."""
    folder = tmp_path_factory.mktemp("lines")
    paths = {}
    for number, text in enumerate([*LINES, *SENTENCES, *SILENT]):
        path = paths[text] = folder / f"{number}.log"
        path.write_text(f"{text}\n{STEPS}", encoding="utf-8")
    said = read([*paths.values()]).reading.statements
    assert said is not None
    found: dict[str, dict[str, str]] = {path.as_posix(): {} for path in paths.values()}
    for source, field, value in said.select("source", "field", "text").iter_rows():
        found[source][field] = value
    return {text: found[path.as_posix()] for text, path in paths.items()}


@pytest.mark.parametrize("text", [*LINES, *SENTENCES])
def test_a_line_states(text: str, alone: dict[str, dict[str, str]]) -> None:
    assert alone[text] == (LINES | SENTENCES)[text]


@pytest.mark.parametrize("text", SILENT)
def test_a_line_states_nothing(text: str, alone: dict[str, dict[str, str]]) -> None:
    assert alone[text] == {}


WORDS = sorted({word for text in SENTENCES for word in text.split()})


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join))
@example("H=2M, L=1.")
@example("12 layers, L=24, H=8192.")
@example("Model parallelism is not used, i.e. TP=1, PP=1.")
def test_no_words_are_an_error(text: str) -> None:
    assert phrases.phrases(Line(1, text, 1, {}), least=1).keys() <= fields(Configuration).keys()


def _launcher(variables: int) -> str:
    """A command behind the environment that it hands on, as launchers of many nodes print it."""
    passed = " ".join(f"-x NCCL_VARIABLE_{n}=value_{n}" for n in range(variables))
    return f"mpirun {passed} python train.py --num-layers 24 --hidden-size 1024"


def test_a_command_of_many_thousand_letters_states(tmp_path: Path) -> None:
    said = _launcher(200)
    assert len(said) > 6000
    assert stated(said, tmp_path) == {"layers": "24", "hidden": "1024"}


def test_a_line_too_long_for_statements_is_told(tmp_path: Path) -> None:
    assert stated("\n".join([_launcher(1000), _launcher(900)]), tmp_path) == {}
    reading = read([tmp_path / "a.log"]).reading
    (told,) = [each for each in reading.remarks if each.code == "too-long"]
    assert told.span.line == 1
    assert told.message.startswith("no configuration is looked for in 2 lines of more than 20,000")
    assert reading.frames["generic_step"].height == 5


SET_UP = """# Vega

## Set-up

{}

## Results

| GPUs | GBS | s/it |
|---|---|---|
| 16 | 512 | 9.1 |
"""

PAIRS = "| Parameter | Value |\n|---|---|\n| Sequence length | 4096 |\n| Tensor parallel | 8 |"


@pytest.mark.parametrize("said", [PAIRS, "- Sequence length: 4096\n- Tensor parallel: 8"])
def test_the_set_up_is_said_of_the_sections_beside_it(said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(SET_UP.format(said), encoding="utf-8")
    rows = read([path]).reading.frames["markdown_table"]
    assert rows.select("seq_len", "tp").rows() == [(4096, 8)]


@pytest.mark.parametrize(
    "said",
    [
        "```\ntrain.py --tensor-model-parallel-size 4\n```",  # a command to try
        "- Tensor parallel: 8\n\n## Configuration\n\n- Tensor parallel: 4",
        PAIRS + "\n\n| GPUs | s/it |\n|---|---|\n| 8 | 8.1 |",  # it has rows of its own
    ],
    ids=["command", "two", "rows"],
)
def test_a_set_up_that_may_be_of_something_else_is_not(said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(SET_UP.format(said), encoding="utf-8")
    rows = read([path]).reading.frames["markdown_table"]
    assert rows.select("tp", "global_batch").rows()[-1] == (None, 512)


@pytest.mark.parametrize("behind", mostly_slow(["  # 层", ""]))
def test_many_lines_state_what_few_do(behind: str) -> None:
    """Among few lines each is asked what it says; of many, all at once."""
    said = [*LINES, *SENTENCES, *SILENT]
    lines = [Line(n, text + behind, 1, {}) for n, text in enumerate(said[:250], 1)]
    quiet = [Line(n, f"worker {n}: waits", 1, {}) for n in range(1000, 1400)]

    def told(lines: list[Line]) -> list[Statement]:
        return read_context("run.log", lines, set(), {}).statements

    assert told([*lines, *quiet]) == told(lines)
    assert len(told(lines)) > len(LINES) / 2


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_words_that_are_looked_for_first_leave_nothing_out(
    share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [Line(1, text, 1, {}) for text in [*LINES, *SENTENCES, *SILENT][::share]]
    found = [phrases.phrases(line) for line in lines]
    monkeypatch.setattr(phrases, "_IN_A_FORM", re.compile(""))
    for name in ("_OF_MACHINERY", "_MAY_COUNT"):
        monkeypatch.setattr(counted_machines, name, re.compile(""))
    assert [phrases.phrases(line) for line in lines] == found
    assert sum(map(bool, found)) > len(lines) / 4


@pytest.mark.parametrize("text", ["TP={0}, PP={0}2", "{0}0B model: GBS={0}k", "- seq is {0}4 bf16"])
def test_lines_alike_but_for_their_digits_are_read_as_lark_reads_each(text: str) -> None:
    for digit in range(0, 10, 3):
        one = text.format(digit)
        try:
            tree = grammar("context").parse(one, start="statement_line")
        except UnexpectedInput:
            tree = None
        assert parsed_alike("context", "statement_line", one) == tree
