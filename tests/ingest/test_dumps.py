"""Configuration in the logs of each framework, dump by dump."""

from __future__ import annotations

from pathlib import Path

import pytest
from assay.ingest.schema.record import Code
from assay.validate.score.assess import assess

from .test_job_logs import parse

STEP = " iteration       12/      50 | elapsed time per iteration (ms): 8400.2 | lm loss: 5.0 |\n"
CORE = """\
using world size: 16, data-parallel size: 2, context-parallel size: 1, \
hierarchical context-parallel sizes: None, tensor-model-parallel size: 4, \
pipeline-model-parallel size: 2
using torch.bfloat16 for parameters ...
------------------------ arguments ------------------------
  attention_backend ............................... AttnBackend.flash
  bf16 ............................................ True
  cp_comm_type .................................... ['p2p']
  data_parallel_size .............................. 2
  ffn_hidden_size ................................. 14336
  global_batch_size ............................... 128
  group_query_attention ........................... True
  hidden_size ..................................... 4096
  micro_batch_size ................................ 1
  num_attention_heads ............................. 32
  num_experts ..................................... None
  num_layers ...................................... 32
  num_query_groups ................................ 8
  params_dtype .................................... torch.bfloat16
  pipeline_model_parallel_size .................... 2
  recompute_granularity ........................... None
  seq_length ...................................... 4096
  sequence_parallel ............................... True
  swiglu .......................................... True
  tensor_model_parallel_size ...................... 4
  use_distributed_optimizer ....................... True
  world_size ...................................... 16
-------------------- end of arguments ---------------------
INFO:megatron.core.num_microbatches_calculator:setting number of microbatches to constant 64
 > padded vocab (size: 128000) with 256 dummy tokens (new size: 128256)
|   1  NVIDIA H100 80GB HBM3          On  |   00000000:2B:00.0 Off |                    0 |
| N/A   27C    P0              69W / 700W |      4MiB / 81559MiB |      0%      Default |
"""
NEOX = """\
NeoXArgs.configure_distributed_args() using world size: 8 and model-parallel size: 2 
-------------------- arguments --------------------
  attention_config ................ ['global', 'global']updated
  activation ...................... swiglu......................updated
  train_micro_batch_size_per_gpu .. 4...........................updated
  train_batch_size ................ 128.........................updated
  hidden_size ..................... 2048........................updated
  num_layers ...................... 24..........................updated
  num_attention_heads ............. 16..........................updated
  seq_length ...................... 2048........................updated
  pipe_parallel_size .............. 0...........................updated
  model_parallel_size ............. 2...........................updated
  precision ....................... bfloat16....................updated
  zero_stage ...................... 1...........................updated
  deepspeed ....................... True........................default
---------------- end of arguments ----------------
"""  # noqa: W291 - as it is printed
NEMO = """\
[NeMo I 2024-01-01 12:00:00 megatron_gpt_pretraining:34] 
    
    ************** Experiment configuration ***********
[NeMo I 2024-01-01 12:00:00 megatron_gpt_pretraining:35] 
    name: megatron_gpt
    restore_from_path: null
    trainer:
      devices: 8
      num_nodes: 2
      precision: bf16-mixed
    model:
      micro_batch_size: 4
      global_batch_size: 128
      tensor_model_parallel_size: 4
      pipeline_model_parallel_size: 1
      encoder_seq_length: 512
      max_position_embeddings: ${.encoder_seq_length}
      num_layers: 12
      hidden_size: 768
      num_attention_heads: 12
      activation: fast-swiglu
      sequence_parallel: false
      data:
        data_prefix:
        - 1.0
        - /data/x
        seq_length: 4096
      activations_checkpoint_granularity: selective
GPU available: True (cuda), used: True
"""  # noqa: W291, W293 - as it is printed
BRIDGE = """\
------- Task Configuration -------
dataset:
  seq_length: 8192
model:
  _target_: megatron.bridge.models.llama.LlamaModelProvider
  hidden_size: 4096
  num_layers: 32
  num_moe_experts: 8
train:
  global_batch_size: 512
  micro_batch_size: 1
----------------------------------
"""
DEEPSPEED = """\
[2024-01-01 10:00:00,123] [INFO] [config.py:984:print] DeepSpeedEngine configuration:
[2024-01-01 10:00:00,123] [INFO] [config.py:988:print]   activation_checkpointing_config  {
    "partition_activations": false, 
    "number_checkpoints": null
}
[2024-01-01 10:00:00,123] [INFO] [config.py:988:print]   bfloat16_enabled ............. True
[2024-01-01 10:00:00,123] [INFO] [config.py:988:print]   train_batch_size ............. 512
[2024-01-01 10:00:00,123] [INFO] [config.py:988:print]   train_micro_batch_size_per_gpu  4
[2024-01-01 10:00:00,123] [INFO] [config.py:988:print]   world_size ................... 16
[2024-01-01 10:00:00,123] [INFO] [config.py:988:print]   zero_optimization_stage ...... 1
[2024-01-01 10:00:00,123] [INFO] [config.py:974:print_user_config]   json = {
    "train_batch_size": 512, 
    "zero_optimization": {
        "stage": 1
    }
}
"""  # noqa: W291 - as it is printed
SAID = {
    "megatron-core": (CORE, {
        "hidden": 4096, "layers": 32, "heads": 32, "kv_heads": 8, "ffn_hidden": 14336,
        "seq_len": 4096, "vocab": 128256, "dtype": "bf16", "gpus": 16, "tp": 4, "pp": 2, "dp": 2,
        "cp": 1, "micro_batch": 1, "global_batch": 128, "accumulation": 64, "zero_stage": 1,
        "recompute": "none", "gated": True, "sequence_parallel": True, "attention": "flash",
        "experts": None, "gpu": "NVIDIA H100 80GB HBM3 81559MiB"}),
    "gpt-neox": (NEOX, {
        "hidden": 2048, "layers": 24, "heads": 16, "gpus": 8, "tp": 2, "pp": 1, "dp": 4,
        "micro_batch": 4, "global_batch": 128, "accumulation": 8, "zero_stage": 1, "gated": True,
        "dtype": "bf16", "vocab": None}),
    "nemo": (NEMO, {
        "hidden": 768, "layers": 12, "heads": 12, "seq_len": 512, "nodes": 2, "gpus_per_node": 8,
        "tp": 4, "pp": 1, "micro_batch": 4, "global_batch": 128, "recompute": "selective",
        "gated": True, "sequence_parallel": False, "dtype": "bf16"}),
    "megatron-bridge": (BRIDGE, {
        "hidden": 4096, "layers": 32, "seq_len": 8192, "global_batch": 512, "micro_batch": 1,
        "experts": 8}),
    "deepspeed": (DEEPSPEED, {
        "dp": 16, "micro_batch": 4, "global_batch": 512, "accumulation": 8, "zero_stage": 1,
        "dtype": "bf16"}),
}  # fmt: skip


@pytest.mark.parametrize("framework", SAID)
def test_a_dump_is_bound_to_the_steps_below(framework: str) -> None:
    dump, expected = SAID[framework]
    reading = parse(dump + STEP)
    assert reading.refused == ()
    row = reading.frames["megatron_iteration"].row(0, named=True)
    assert {name: row[name] for name in expected} == expected
    assert reading.frames["runs"].height == 1


@pytest.mark.parametrize(
    "prefix",
    ["", "[default0]:", "node-12: ", "0: ", "worker-0: ",
     "[20251023 12:38:00][rank-0/64][INFO ] [------arguments.py:801] : "],
)  # fmt: skip
@pytest.mark.parametrize("foreign", ["", "> words of another rank\n", STEP.replace("12/", " 1/")])
def test_a_dump_behind_a_launcher_with_others_in_between(prefix: str, foreign: str) -> None:
    lines = [f"{prefix}{line}\n" for line in CORE.splitlines()]
    at = len(lines) // 2
    reading = parse("".join([*lines[:at], foreign, *lines[at:], STEP]))
    rows = reading.frames["megatron_iteration"]
    expected = {k: v for k, v in SAID["megatron-core"][1].items() if prefix == "" or k != "gpu"}
    assert {name: rows[name][-1] for name in expected} == expected
    assert reading.frames["arguments"].height == 22


def test_yaml_has_names_with_their_keys_and_ends_where_it_ends() -> None:
    frame = parse(NEMO + STEP).frames["arguments"]
    said = {name: (value, kind) for name, value, kind in
            frame.select("name", "value", "type").iter_rows()}  # fmt: skip
    assert said["restore_from_path"] == ("null", "none")
    assert said["model.data.seq_length"] == ("4096", "int")
    assert said["model.sequence_parallel"] == ("false", "bool")
    assert "GPU available" not in said
    assert frame.filter(name="model.data.data_prefix")["value"].to_list() == ["1.0", "/data/x"]
    assert set(frame["dump"]) == {"nemo"}


def test_a_dump_that_the_input_cuts_keeps_what_stands() -> None:
    for dump, last in ((CORE, "num_layers"), (NEMO, "num_layers")):
        cut = dump[: dump.index(last) + len(last) + 3]
        reading = parse(cut)
        assert [fault.code for fault in reading.refused] == [Code.TRUNCATED]
        assert reading.frames["arguments"].height > 3


def test_experts_that_are_not_spelled_out_are_not_predicted(tmp_path: Path) -> None:
    mixture = CORE.replace("num_experts ..................................... None",
                           "num_experts ..................................... 8")  # fmt: skip
    for dump, predicted in ((CORE, True), (mixture, False)):
        path = tmp_path / "job.log"
        path.write_text(dump + STEP)
        found = assess([path], models=["step", "constant_mfu", "roofline"])
        assert set(found.comparison.pairs["model"]) == (
            {"step", "constant_mfu", "roofline"} if predicted else set()
        )


@pytest.mark.parametrize("sizes", ["None", "[2, 4]", "None, "])
def test_a_line_of_degrees_that_is_printed_without_a_comma_is_read(sizes: str) -> None:
    head = f"""\
using world size: 64, data-parallel size: 4, context-parallel size: 2, \
hierarchical context-parallel sizes: {sizes}tensor-model-parallel size: 4, \
encoder-tensor-model-parallel size: 0, pipeline-model-parallel size: 2
"""
    run = parse(head + STEP).frames["runs"].select("gpus", "tp", "pp", "dp", "cp").row(0)
    assert run == (64, 4, 2, 4, 2)
