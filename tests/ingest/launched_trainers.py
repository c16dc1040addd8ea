"""Logs of more trainers, as launchers, terminals and collectors of logs hand them on: their steps.

Written as those of `test_trainers.py`, and read by its tests.
"""

from __future__ import annotations

from typing import Any

T, GB, GIB, MIB = 1e12, 1e9, 2.0**30, 2.0**20

KNOWN, GENERIC, MEGATRON = "trainer_step", "generic_step", "megatron_iteration"

LAUNCHED: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "accelerate_print": (GENERIC, {
        "step": [100, 200, 300], "total_steps": [1200] * 3, "loss": [2.1203, 1.9203, 1.8203],
        "samples_per_s": [41.2, 41.3, 41.3], "memory": [0.0312 * T] * 3}),
    "actions_stamped": (GENERIC, {
        "step": [50, 100, 150], "samples_per_s": [812.3, 813.0, 812.9],
        "loss": [3.412, 3.212, 3.102]}),
    "ai_toolkit": (GENERIC, {
        "step": [20, 21, 22], "loss": [0.3912, 0.3612, 0.4012],
        "step_time_average": [3.52, 3.52, 3.51], "learning_rate": [0.0001] * 3}),
    "aligned_kv": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "grad_norm": [1.212, 1.112, 1.012], "token_rate": [73012, 73093, 73069],
        "memory": [0.0612 * T] * 3, "step_time": []}),
    "axolotl_2025": (KNOWN, {
        "loss": [1.1032, 1.0871, 1.0712], "tokens_per_gpu_per_s": [3912.41, 4102.77, 4099.02],
        "max_allocated": [31.1 * GIB, 31.2 * GIB, 31.2 * GIB]}),
    "chinese": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "tokens_per_gpu_per_s": [9123.4, 9131.0, 9130.2], "step_time": [0.898, 0.897, 0.897]}),
    "cloud_json": (KNOWN, {
        "step": [5, 6, 7], "step_time": [4.112, 4.11, 4.109], "loss": [12.19, 12.09, 12.011]}),
    "clu_logging": (GENERIC, {
        "step": [100, 200, 300], "step_rate": [2.41, 2.4, 2.4], "loss": [8.912, 8.412, 8.112]}),
    "colon_block": (GENERIC, {
        "step": [100, 200], "loss": [4.1203, 3.9203], "step_time": [0.898, 0.897],
        "token_rate": [73012, 73093]}),
    "colossalai_bar": (GENERIC, {
        "step": [10, 11, 12], "loss": [8.912, 8.871, 8.84],
        "step_time_average": [3.53, 3.52, 3.51], "step_time": []}),
    "colossalai_gemini": (GENERIC, {
        "step": [1, 2, 3, 4], "step_time": [6.812, 1.102, 1.098, 1.101],
        "flops_rate": [14.801 * T, 91.492 * T, 91.825 * T, 91.575 * T],
        "loss": [11.012, 10.871, 10.702, 10.511]}),
    "compose_docker": (GENERIC, {
        "step": [10, 20, 30], "step_time": [0.912, 0.91, 0.911], "loss": [8.912, 8.512, 8.212],
        "token_rate": [143711, 144027, 143869]}),
    "composer_bar": (GENERIC, {
        "step": [10, 11, 12], "step_rate": [1.01, 1.0, 1.0], "loss": [2.1203, 2.1103, 2.1003]}),
    "coqui": (GENERIC, {
        "step": [24, 49], "loss": [3.1212, 2.9212]}),
    "deepspeed_pipe": ("deepspeed_step", {
        "step": [10, 20], "step_time": [4.101, 4.09], "samples_per_s": [62.423, 62.592],
        "lm_loss": [8.912, 8.612]}),
    "deit": (KNOWN, {
        "batch": [0, 10, 20], "epoch": [0] * 3, "loss": [6.9521, 6.9421, 6.9321],
        "step_time": [4.8061, 0.8241, 0.4192],
        "max_allocated": [9812 * MIB, 9914 * MIB, 9914 * MIB], "step": []}),
    "determined": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "tokens_per_gpu_per_s": [9123.4, 9131.0, 9130.2], "step_time": [0.898, 0.897, 0.897]}),
    "dit": (GENERIC, {
        "step": [100, 200, 300], "loss": [0.1712, 0.1612, 0.1601],
        "step_rate": [2.51, 3.12, 3.13]}),
    "dlrm": (GENERIC, {
        "step": [1024, 2048, 3072], "step_time": [0.02711, 0.02602, 0.02604],
        "loss": [0.160312, 0.142012, 0.139871]}),
    "docker_json": (GENERIC, {
        "step": [1, 2, 3], "step_time": [1.2034, 0.4032, 0.4029],
        "tokens_per_gpu_per_s": [13610, 40630, 40660], "loss": [10.912, 10.712, 10.312]}),
    "dolomite": (GENERIC, {
        "step": [10, 20, 30], "step_time": [2.2012, 2.1927, 2.1928],
        "loss": [8.9121, 8.6121, 8.3121]}),
    "emoji": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "step_time": [0.898, 0.897, 0.897], "token_rate": [73000, 73100, 73100]}),
    "espnet": (KNOWN, {
        "loss": [120.1, 110.1, 100.1], "step_time": [0.981, 0.971, 0.972]}),
    "fabric_print": (GENERIC, {
        "loss": [4.1203, 3.9203, 3.8203], "samples_per_s": [821.8, 832.0, 832.0],
        "step_rate": [3.21, 3.25, 3.25]}),
    "fairseq_hydra_json": (KNOWN, {
        "step": [100, 200, 300], "loss": [15.912, 13.104, 11.87],
        "tokens_per_s": [91203.1, 91802.4, 91777.0], "step_rate": [0.7] * 3,
        "elapsed": [150, 293, 436]}),
    "flair": (GENERIC, {
        "step": [10, 20, 30], "loss": [1.23121231, 1.13121231, 1.03121231],
        "elapsed": [3.12, 6.21, 9.3], "samples_per_s": [1231.2, 1240.01, 1242.11],
        "step_time": []}),
    "flops_words": (GENERIC, {
        "step": [10, 20, 30], "loss": [8.912, 8.612, 8.312],
        "flops_rate_per_gpu": [181.2 * T, 181.9 * T, 181.8 * T],
        "step_time": [0.412, 0.411, 0.411]}),
    "gpt2_tf": (GENERIC, {
        "batch": [1, 2, 3, 4], "loss": [3.92, 3.82, 3.72, 3.62], "step_time": []}),
    "graphcore": (GENERIC, {
        "step": [100, 200, 300], "loss": [8.9121, 8.1121, 7.9121],
        "samples_per_s": [812.12, 812.31, 812.29]}),
    "h100_bench": (GENERIC, {
        "step": [5, 6, 7], "step_time": [3.412, 3.401, 3.402],
        "tokens_per_gpu_per_s": [19209, 19271, 19265],
        "flops_rate_per_gpu": [612.1 * T, 614.1 * T, 613.9 * T], "memory": [71.2 * GIB] * 3}),
    "haiku_dict": (GENERIC, {
        "step": [100, 200, 300], "loss": [8.9121, 8.1121, 7.9121],
        "step_rate": [2.41, 2.42, 2.42]}),
    "hf_trainer_strings": (KNOWN, {
        "step": [10, 20, 30], "loss": [2.134, 1.982, 1.871],
        "learning_rate": [1.91e-05, 1.81e-05, 1.71e-05], "step_time": []}),
    "icefall": (GENERIC, {
        "loss": [8.012, 1.412, 1.212], "learning_rate": [0.003, 0.0031, 0.0032]}),
    "journal": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "step_time": [0.8981, 0.8971, 0.8974], "memory": [0.0412 * T] * 3}),
    "json_nested": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "step_time": [0.8981, 0.8971, 0.8974], "tokens_per_gpu_per_s": [9123.4, 9131.0, 9130.2]}),
    "keras_log": (GENERIC, {
        "loss": [0.3121, 0.1521, 0.1121], "validation_loss": [0.1612, 0.1212, 0.1012],
        "step_time": [0.017, 0.016, 0.016]}),
    "kohya": (GENERIC, {
        "step": [10, 11, 12], "step_time_average": [2.16, 2.15, 2.15],
        "total_steps": [1600] * 3, "step_time": []}),
    "ldm_lightning": (GENERIC, {
        "step": [99, 100, 101], "loss": [0.121, 0.12, 0.12], "step_rate": [1.43] * 3}),
    "liger": (KNOWN, {
        "step": [10, 20, 30], "loss": [1.1032, 1.0832, 1.0732]}),
    "lightning_rank": (GENERIC, {
        "step_rate": [0.98, 0.98, 0.99], "loss": [8.12, 8.02, 7.92]}),
    "lightning_rich": (GENERIC, {
        "batch": [100, 200, 300], "step_rate": [2.46, 2.47, 2.47], "loss": [6.12, 5.81, 5.33]}),
    "lit_llama": (GENERIC, {
        "step": [0, 1, 2, 3], "step_time": [9.12033, 0.81241, 0.81109, 0.81077],
        "tokens_per_gpu_per_s": [449, 5042, 5050, 5052]}),
    "llama2_c": (KNOWN, {
        "batch": [0, 10, 20, 30], "loss": [10.4123, 9.1234, 8.1234, 7.1234],
        "learning_rate": [0, 5e-06, 1e-05, 1.5e-05],
        "step_time": [9.12131, 0.41212, 0.41198, 0.41202]}),
    "llama_cpp_finetune": (GENERIC, {
        "step": [0, 1, 2, 3], "loss": [0.0, 4.231203, 4.131203, 3.931203]}),
    "llamafactory_2025": (KNOWN, {
        "loss": [1.4821, 1.3911, 1.3207], "learning_rate": [1.9992e-05, 1.9968e-05, 1.9928e-05],
        "epoch": [0.03, 0.05, 0.08], "step": []}),
    "llm_foundry": (KNOWN, {
        "step": [1, 2], "loss": [11.812, 11.712], "step_rate": [0.1513, 0.152],
        "mfu": [0.4012, 0.403], "max_reserved": [0.06113 * T, 0.06113 * T]}),
    "loguru": (GENERIC, {
        "step": [50, 100, 150], "step_time": [0.61, 0.62, 0.62], "loss": [4.12, 3.92, 3.72],
        "memory": [38.2 * GIB] * 3}),
    "marian": (KNOWN, {
        "step": [1000, 2000, 3000], "grad_norm": [1.231, 0.9812, 0.8711], "step_time": []}),
    "maxtext_2025": (KNOWN, {
        "step": [0, 1, 2], "step_time": [31.204, 4.112, 4.109],
        "flops_rate_per_gpu": [12.812 * T, 97.225 * T, 97.296 * T],
        "tokens_per_gpu_per_s": [262.53, 1992.218, 1993.672], "loss": [12.21, 12.19, 12.011]}),
    "megatron_2019": (MEGATRON, {
        "iteration": [100, 200, 300], "step_time": [0.4213, 0.4089, 0.4092],
        "lm_loss": [9.712034, 8.620187, 7.910442]}),
    "megatron_2025_power": (MEGATRON, {
        "iteration": [2, 3], "step_time": [9.1204, 9.1012],
        "model_flops_rate": [411.9 * T, 412.7 * T], "lm_loss": [11.81204, 11.71132],
        "global_batch": [256, 256]}),
    "megatron_compose": (MEGATRON, {
        "iteration": [10, 20], "step_time": [4.1203, 4.1011], "lm_loss": [9.912034, 9.212034]}),
    "megatron_sagemaker": (MEGATRON, {
        "iteration": [10], "step_time": [4.1203]}),
    "megatron_tgs_fork": (MEGATRON, {
        "iteration": [1, 2], "step_time": [41.2031, 9.1203],
        "tokens_per_gpu_per_s": [812.1, 3668.9]}),
    "metrics_csv": (GENERIC, {
        "step": [9, 19, 29], "loss": [8.9121, 8.5121, 8.2121],
        "step_time": [1.0893, 1.0884, 1.0886], "token_rate": [120312.1, 120412.1, 120399.2]}),
    "min_max_avg": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "token_rate": [73012, 73093, 73069], "step_time": []}),
    "mindformers_2025": (KNOWN, {
        "step": [1, 2, 3], "total_steps": [19] * 3, "step_time": [103.328, 1.752, 1.754],
        "loss": [10.649, 10.633, 9.673],
        "flops_rate_per_gpu": [2.896 * T, 170.738 * T, 170.523 * T]}),
    "mingpt": (GENERIC, {
        "step": [0, 100, 200, 300], "loss": [1.12345, 0.81234, 0.71234, 0.61234]}),
    "mmcv1": (KNOWN, {
        "epoch": [1] * 3, "batch": [50, 100, 150], "step_time": [0.595, 0.571, 0.572],
        "loss": [1.8876, 1.1276, 0.9476], "step": [], "max_allocated": [3762 * MIB] * 3}),
    "modulus": (GENERIC, {
        "step": [0, 100, 200], "loss": [1.212, 0.1112, 0.09121],
        "step_time": [0.01203, 0.01012, 0.01011]}),
    "mosaic_tokens": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "tokens_per_gpu_per_s": [64000, 64100, 64100], "step_time": [1.02] * 3}),
    "mxnet": (GENERIC, {
        "samples_per_s": [1910.41, 2012.13, 2010.87], "loss": [6.812301, 6.612301, 6.412301]}),
    "nanochat": (KNOWN, {
        "step": [0, 1, 2, 3], "total_steps": [21400] * 4,
        "loss": [11.090355, 10.890355, 10.690355, 10.490355],
        "step_time": [9.12112, 0.41212, 0.41198, 0.41202],
        "tokens_per_s": [57481, 1272173, 1272605, 1272482],
        "mfu": [0.0217, 0.4812, 0.4813, 0.4813]}),
    "nanotron_2025": (MEGATRON, {
        "iteration": [11, 12], "step_time": [2.12, 2.11],
        "tokens_per_s": [1980000.0, 1990000.0], "tokens_per_gpu_per_s": [30900.0, 31000.0]}),
    "nanovlm": (GENERIC, {
        "step": [100, 200, 300], "loss": [2.1234, 1.9234, 1.8234],
        "token_rate": [12345.67, 12401.11, 12399.07]}),
    "nemo1_2023_bar": ("step_progress", {
        "step": [3, 4, 5], "step_time": [8.12, 8.09, 8.1],
        "consumed_samples": [1024, 1280, 1536]}),
    "nemo2_tflops": (MEGATRON, {
        "iteration": [0, 1, 2], "step_time": [31.77, 8.914, 8.902]}),
    "nemo_rl": (GENERIC, {
        "step": [1, 2], "loss": [0.0123, 0.0113], "step_time": [101.2, 99.2]}),
    "notebook_steps": (GENERIC, {
        "step": [10, 20, 30], "step_time": [0.412, 0.402, 0.401],
        "samples_per_s": [2485.4, 2547.3, 2553.6]}),
    "olmo_core_2025": (KNOWN, {
        "step": [10, 20], "tokens_per_gpu_per_s": [9812, 9822], "mfu": [0.4121, 0.4125],
        "loss": [9.812, 9.212]}),
    "open_clip": (KNOWN, {
        "epoch": [0] * 3, "loss": [9.0121, 8.1121, 7.9121], "step_time": [6.312, 1.112, 1.11],
        "samples_per_s": [1297.8, 7366.9, 7380.2], "step": []}),
    "open_instruct": (GENERIC, {
        "step": [10, 20, 30], "loss": [1.2103, 1.1103, 1.0703],
        "token_rate": [12031.2, 12101.9, 12100.4]}),
    "optimum_habana": (KNOWN, {
        "loss": [2.312, 2.112, 2.012], "max_allocated": [61.21 * GIB] * 3}),
    "orbit": (GENERIC, {
        "step": [100, 200, 300], "step_rate": [1.2, 2.4, 2.4], "loss": [8.912, 7.812, 7.212]}),
    "paddleclas": (GENERIC, {
        "samples_per_gpu_per_s": [62.25166, 621.02718, 621.22306], "loss": [7.0112, 6.9812, 6.9612],
        "step_time": [4.11234, 0.41222, 0.41209]}),
    "paddlenlp_2021": (GENERIC, {
        "step": [10, 20, 30], "loss": [9.121231231, 8.121231231, 7.821231231],
        "step_rate": [2.31, 2.51, 2.52]}),
    "paxml": (GENERIC, {
        "step": [100, 200, 300], "loss": [6.3584294, 5.824545, 5.382527]}),
    "prime": (GENERIC, {
        "step": [10, 11, 12], "loss": [8.1203, 8.0203, 7.9203],
        "token_rate": [120312.2, 120412.11, 120399.07], "mfu": [0.412, 0.4123, 0.4123]}),
    "python_logging": (GENERIC, {
        "step": [50, 100, 150], "loss": [4.1203, 3.9203, 3.8203],
        "samples_per_s": [812.1, 813.1, 812.9], "step_time": [0.315] * 3}),
    "pytorch_tutorial": (GENERIC, {
        "batch": [2000, 4000, 6000, 8000], "loss": [2.173, 1.873, 1.673, 1.573]}),
    "rates_words": (GENERIC, {
        "step": [100, 200, 300], "total_steps": [5000] * 3, "loss": [4.1203, 3.9203, 3.8203],
        "mfu": [0.412, 0.413, 0.413], "step_time": [0.898, 0.897, 0.897],
        "tokens_per_gpu_per_s": [9123, 9131, 9130]}),
    "sagemaker": (GENERIC, {
        "step": [10, 20, 30], "samples_per_s": [41.2, 41.31, 41.29],
        "flops_rate_per_gpu": [181.2 * T, 181.68 * T, 181.59 * T],
        "loss": [8.91203, 8.51203, 8.21203]}),
    "sec_per_step_words": (GENERIC, {
        "step": [100, 200, 300], "step_time": [0.898, 0.897, 0.897],
        "tokens_per_gpu_per_s": [9123, 9131, 9130], "loss": [4.1203, 3.9203, 3.8203]}),
    "skypilot": (GENERIC, {
        "step": [100, 200, 300], "step_time": [0.89812, 0.89737, 0.89745],
        "tokens_per_gpu_per_s": [9123.4, 9131.0, 9130.2]}),
    "slurm_mixed_ranks": (GENERIC, {
        "step": [100, 101, 102], "loss": [4.1203, 4.1103, 4.1003],
        "step_time": [0.898, 0.897, 0.899], "tokens_per_gpu_per_s": [9123, 9131, 9111]}),
    "spmd_json": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203],
        "step_time": [0.8981, 0.8971, 0.8974],
        "flops_rate_per_gpu": [412.1 * T, 412.6 * T, 412.4 * T],
        "max_reserved": [61.2 * GIB] * 3}),
    "structlog": (GENERIC, {
        "step": [100, 200, 300], "step_time": [0.812, 0.811, 0.81],
        "loss": [9.812, 9.412, 9.112], "token_rate": [161203.1, 161401.9, 161601.2]}),
    "swift_megatron": (GENERIC, {
        "step": [5, 10, 15], "total_steps": [200] * 3, "loss": [1.2031, 1.1831, 1.1612],
        "memory": [61.21 * GIB, 61.3 * GIB, 61.3 * GIB], "elapsed": [72, 119, 166]}),
    "swin": (KNOWN, {
        "batch": [0, 10, 20], "loss": [6.9421, 6.9321, 6.9221],
        "step_time": [6.3411, 0.4012, 0.4009], "grad_norm": [1.9121, 1.8121, 1.7121]}),
    "tf_cnn_benchmarks": (KNOWN, {
        "batch": [1, 10, 20, 30], "samples_per_s_average": [2812.3, 2820.1, 2819.8, 2819.9]}),
    "time_first": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.12, 3.92, 3.82],
        "samples_per_s": [71.2, 71.3, 71.3]}),
    "tinyllama": (GENERIC, {
        "step": [2048, 2049, 2050, 2051], "step_time": [0.5621, 0.51187, 0.5122, 0.51234],
        "loss": [10.9812, 10.9013, 10.8811, 10.879]}),
    "tmux_wrapped": (GENERIC, {
        "step": [100, 110, 120], "loss": [3.1203, 3.0903, 3.0703]}),
    "torchtitan_wps": (KNOWN, {
        "step": [1, 10, 20], "loss": [12.2403, 10.2211, 8.7301],
        "tokens_per_gpu_per_s": [801, 5425, 5459], "mfu": [0.0469, 0.3177, 0.3197],
        "max_reserved": [46.31 * GIB, 54.02 * GIB, 54.02 * GIB]}),
    "torchtune_bar": (GENERIC, {
        "loss": [1.512, 1.492, 1.482], "step_time_average": [1.92, 1.91, 1.91]}),
    "torchvision_refs": (KNOWN, {
        "batch": [0, 10, 20], "epoch": [0] * 3, "loss": [6.9521, 6.9321, 6.9221],
        "samples_per_s": [12.12, 812.12, 815.02], "step_time": [3.7421, 0.7441, 0.3925]}),
    "trainer_state": (KNOWN, {
        "step": [10, 20, 30], "loss": [2.134, 1.982, 1.871],
        "learning_rate": [1.91e-05, 1.81e-05, 1.71e-05]}),
    "transformer_xl": (GENERIC, {
        "step": [200, 400, 600], "step_time": [0.41231, 0.39812, 0.39833],
        "loss": [7.61, 6.71, 6.41]}),
    "trl_new_bar": (KNOWN, {
        "loss": [0.0312, 0.0302, 0.0292], "consumed_tokens": [81203, 162406, 243609]}),
    "tutel": (GENERIC, {
        "step": [0, 1, 2, 3], "step_time": [1.212301, 0.041203, 0.041101, 0.041112],
        "flops_rate": [3.21 * T, 94.45 * T, 94.68 * T, 94.66 * T]}),
    "ultralytics": (GENERIC, {
        "step_rate": [5.49, 5.71, 5.72]}),
    "unsloth": (KNOWN, {
        "loss": [1.8212, 2.3001, 1.6921], "learning_rate": [4e-05, 8e-05, 0.00012]}),
    "val_mixed": (GENERIC, {
        "step": [100, 200, 300], "loss": [4.1203, 3.9203, 3.8203]}),
    "values_first": (GENERIC, {
        "step": [100, 200, 300], "loss": [7.812, 7.412, 7.212],
        "step_time": [0.912, 0.91, 0.911], "token_rate": [71800, 72000, 71900],
        "mfu": [0.412, 0.413, 0.413]}),
    "verl_ray": (KNOWN, {
        "step": [1, 2, 3], "step_time": [101.2, 99.2, 99.0],
        "tokens_per_gpu_per_s": [1003.0, 1035.8, 1050.5],
        "max_allocated": [61.2 * GIB, 61.4 * GIB, 61.4 * GIB]}),
    "wandb_csv": (KNOWN, {
        "step": [0, 1, 2], "loss": [10.91, 10.81, 10.61], "step_time": [29.1, 3.1, 3.1]}),
    "wandb_history_export": (KNOWN, {
        "step": [0, 1, 2], "step_time": [29.1, 3.1, 3.1], "loss": [10.91, 10.81, 10.61],
        "token_rate": [9012.1, 84562.6, 84560.1], "elapsed": [31.2, 34.3, 37.4]}),
    "wenet": (GENERIC, {
        "step_rate": [1.231, 1.24, 1.239], "loss": [120.123001, 101.123001, 91.123001],
        "step": [], "epoch": []}),
    "word_language_model": (GENERIC, {
        "batch": [200, 400, 600], "step_time": [0.01232, 0.01002, 0.01004],
        "loss": [7.63, 6.85, 6.48], "epoch": [1] * 3}),
    "xtuner_v0": (KNOWN, {
        "step": [10, 20, 30], "step_time": [5.0712, 5.0601, 5.0588],
        "loss": [1.8123, 1.7811, 1.7502], "max_allocated": [41203 * MIB] * 3}),
}  # fmt: skip
"""Sample → the frame of its steps, and columns with all their values; none where it is empty."""
