"""Logs of trainers of translation, speech and science, and lines as more collectors keep them.

Written as those of `test_trainers.py`, and read by its tests.
"""

from __future__ import annotations

from typing import Any

from tests.ingest.launched_trainers import GENERIC, KNOWN, MEGATRON, T

COLLECTED: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "arctic": (GENERIC, {
        "step": [1, 2, 3, 4], "total_steps": [100] * 4, "loss": [1.8213, 1.7213, 1.6913, 1.6713],
        "step_time": [12.313, 3.213, 3.201, 3.203],
        "tokens_per_gpu_per_s": [2661, 10198, 10236, 10230]}),
    "areal": (GENERIC, {
        "step": [1, 2, 3], "step_time": []}),
    "aws_logs_tail": (GENERIC, {
        "step": [25, 50, 75, 100], "loss": [9.0123, 8.4123, 8.0123, 7.8123],
        "samples_per_s": [41.2, 61.2, 61.4, 61.3], "step_time": [6.21, 4.18, 4.17, 4.18]}),
    "axlearn": (GENERIC, {
        "step": [100, 200, 300], "step_time_average": [2.312311, 2.012311, 2.011311],
        "loss": [9.1231, 7.1231, 6.1231]}),
    "clearml_console": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [4.1231, 3.9231, 3.8231, 3.7231],
        "step_rate": [2.31, 2.51, 2.52, 2.51], "samples_per_s": [591.4, 642.6, 645.1, 642.6]}),
    "cri_logs": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [9.1231, 8.1231, 7.6231, 7.3231],
        "step_time": [1.231, 0.931, 0.929, 0.93],
        "tokens_per_gpu_per_s": [8120, 10700, 10700, 10700],
        "grad_norm": [1.23, 1.03, 0.93, 0.91]}),
    "csv_like_print": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [6.81, 6.61, 6.51, 6.41],
        "step_time": [1.21, 1.11, 1.12, 1.11], "token_rate": [108300, 118081, 117028, 118081]}),
    "datadog_json": (GENERIC, {
        "step": [50, 100, 150, 200], "loss": [6.812, 6.312, 6.012, 5.812],
        "step_time": [2.31, 1.91, 1.92, 1.91], "token_rate": [453200, 548200, 545400, 548300],
        "total_steps": [5000] * 4}),
    "deepspeed_engine": ("deepspeed_throughput", {
        "global_step": [10, 20, 30, 40], "samples_per_s": [16.012, 16.521, 16.523, 16.519]}),
    "dlas": (GENERIC, {
        "step": [1000, 2000, 3000, 4000], "step_time": [], "step_rate": []}),
    "dle_bert": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [11.2013, 11.1813, 11.0702, 10.812],
        "learning_rate": [4.2e-06, 8.4e-06, 1.26e-05, 1.68e-05]}),
    "dle_resnet": (GENERIC, {
        "loss": [7.0123, 6.9012, 6.8012, 6.7012], "step_time": []}),
    "elapsed_only": (GENERIC, {
        "step": [100, 200, 300, 400], "loss": [6.8, 6.6, 6.5, 6.45], "step_time": [],
        "elapsed": [60, 120, 180, 240]}),
    "electra": (GENERIC, {
        "step": [10, 20, 30, 40], "total_steps": [1000000] * 4,
        "loss": [49.1234, 48.7211, 47.9121, 46.8122], "step_time": []}),
    "ezpz": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [1812, 1512, 1312, 1212], "step_time": []}),
    "fairchem": (GENERIC, {
        "loss": [31.2, 29.2, 28.1, 27.7], "learning_rate": [2e-06, 4e-06, 6e-06, 8e-06],
        "step_rounded": [100, 200, 300, 400]}),
    "fastai": (GENERIC, {
        "epoch": [0, 1, 2, 3], "loss": [2.312341, 1.812341, 1.612341, 1.412341],
        "validation_loss": [1.912231, 1.612231, 1.512231, 1.482231], "step_time": []}),
    "fixed_width": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [6.8123, 6.6123, 6.5123, 6.4123],
        "step_time": [0.33121, 0.32911, 0.32931, 0.32912],
        "tokens_per_gpu_per_s": [24731.1, 24889.2, 24874.3, 24888.1]}),
    "flame": (GENERIC, {
        "step": [1, 32, 64, 96], "loss": [10.4331, 10.1331, 9.4331, 8.9331],
        "tokens_per_gpu_per_s": [3121, 41231, 41301, 41299],
        "mfu": [0.0316, 0.4169, 0.4176, 0.4176], "grad_norm": [12.31, 9.312, 4.312, 3.312]}),
    "flashlight": (GENERIC, {
        "step": [1000, 2000, 3000, 4000], "loss": [51.23311, 38.12212, 31.00121, 28.44121]}),
    "fsdp_t5": (GENERIC, {
        "epoch": [1, 2, 3], "loss": [2.1234, 1.8234, 1.7234]}),
    "gcp_json_payload": (GENERIC, {
        "step": [10, 20, 30], "loss": [9.12, 8.12, 7.82], "step_time": [2.4121, 2.4011, 2.4022],
        "tokens_per_gpu_per_s": [3391.1, 3406.6, 3405.1], "mfu": [0.412, 0.414, 0.414]}),
    "hf_2026": (KNOWN, {
        "loss": [1.812, 1.712, 1.692], "grad_norm": [3.12, 2.91, 2.71]}),
    "hf_metrics": ("trainer_summary", {
        "elapsed": [754.56, 31.21], "samples_per_s": [68.919, 160.201],
        "step_rate": [0.538, 5.021], "loss": [1.4512, 1.2912]}),
    "hifigan": (GENERIC, {
        "step": [0, 5, 10, 15]}),
    "joeynmt": (GENERIC, {
        "step": [100, 200, 300, 400], "loss": [9.123456, 8.123456, 7.523456, 7.223456],
        "token_rate": [12312, 16312, 16298, 16301], "learning_rate": [0.0003] * 4}),
    "json_perf": (GENERIC, {
        "step": [5, 10, 15], "loss": [6.8, 6.6, 6.5], "step_time": [0.8121, 0.8021, 0.8032],
        "token_rate": [161400, 163400, 163200]}),
    "k_diffusion": (GENERIC, {
        "step": [0, 25, 50, 75], "loss": [0.912311, 0.412311, 0.312311, 0.282311]}),
    "keithito": (GENERIC, {
        "step": [1, 2, 3, 4, 5], "loss": [1.12312, 1.02312, 0.92312, 0.82312, 0.80312],
        "step_time": [21.312, 11.012, 7.512, 5.812, 4.812]}),
    "lightning_2026_rich": (GENERIC, {
        "step": [0, 1, 2, 3], "loss": [11.031, 10.812, 10.612, 10.412],
        "step_time": [3.312, 3.112, 3.108, 3.11], "consumed_samples": [512, 1024, 1536, 2048]}),
    "llama_recipes": (GENERIC, {
        "step": [0, 1, 2, 3],
        "loss": [2.1123456954956055, 1.9923456954956056, 1.8923456954956055, 1.8123456954956054],
        "total_steps": [388] * 4}),
    "llmc_py": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [10.990123, 9.890123, 9.190123, 8.790123],
        "step_time": [21.23123, 1.41231, 1.41031, 1.41131],
        "token_rate": [24694, 371227, 371753, 371490], "total_steps": [10] * 4}),
    "loki_logcli": (GENERIC, {
        "step": [100, 200, 300, 400], "loss": [5.1231, 4.9231, 4.8231, 4.7231],
        "step_time": [0.4123, 0.4023, 0.4021, 0.4022], "samples_per_s": []}),
    "makemore": (GENERIC, {
        "step": [0, 10, 20, 30], "loss": [3.2958, 2.8958, 2.7958, 2.6958],
        "step_time": [0.41231, 0.02131, 0.02091, 0.02102]}),
    "maxdiffusion": (GENERIC, {
        "step": [0, 1, 2, 3, 4], "step_time": [91.231, 1.231, 0.612, 0.611, 0.612],
        "flops_rate_per_gpu": [0.812 * T, 60.2 * T, 121.1 * T, 121.3 * T, 121.1 * T],
        "loss": [0.912, 0.812, 0.712, 0.702, 0.693]}),
    "mcore_2026": (MEGATRON, {
        "iteration": [1, 2, 3], "step_time": [41.2312, 5.6123, 5.6011],
        "lm_loss": [12.01, 11.98, 11.92], "model_flops_rate": [91.2 * T, 670.1 * T, 671.4 * T]}),
    "mindspeed_rl": (MEGATRON, {
        "iteration": [1, 2, 3], "step_time": []}),
    "mingpt_ddp": (GENERIC, {
        "step": [0, 0, 100, 100, 200, 200, 300, 300],
        "loss": [4.31231, 4.30991, 2.61231, 2.60991, 2.41231, 2.40991, 2.21231, 2.20991]}),
    "mistral_finetune": (GENERIC, {
        "step": [10, 20, 30], "loss": [1.221, 1.121, 1.021], "step_time": [],
        "max_allocated": [52200000000.0] * 3}),
    "mlflow_prefix": (GENERIC, {
        "step": [100, 200, 300], "loss": [5.12, 4.82, 4.62],
        "tokens_per_gpu_per_s": [9812.1, 9912.1, 9911.1], "step_time": [0.8349, 0.8264, 0.8265]}),
    "mnist": (GENERIC, {
        "loss": [2.312312, 1.812312, 1.212312, 0.812312], "step": []}),
    "modelscope_swift_plugin": (KNOWN, {
        "step": [5, 10, 15], "loss": [1.81, 1.71, 1.69], "memory": [65712999628.8] * 3}),
    "mozilla_deepspeech": (GENERIC, {
        "step": [100, 200, 300, 400], "loss": [91.123456, 71.123456, 61.123456, 55.123456],
        "elapsed": [81, 141, 201, 261]}),
    "nematus": (GENERIC, {
        "step": [1000, 2000, 3000, 4000],
        "samples_per_s": [341.231123, 345.631123, 345.231123, 345.131123]}),
    "nemo_aligner": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [0.693, 0.681, 0.672, 0.659],
        "consumed_samples": [128, 256, 384, 512]}),
    "nemo_automodel_rl": (GENERIC, {
        "step": [1, 2, 3], "loss": [0.0123, 0.0113, 0.0103], "step_time": [101.23, 98.12, 99.01]}),
    "nemo_run": (MEGATRON, {
        "iteration": [0, 1, 2, 3], "step_time": [31.77, 9.914, 9.902, 9.897]}),
    "neuron_nemo": (GENERIC, {
        "step": [0, 1, 2, 3], "consumed_samples": [256, 512, 768, 1024], "step_time": []}),
    "olmo_2026": (KNOWN, {
        "step": [10, 20, 30], "loss": [9.812, 8.812, 8.312], "tokens_per_gpu_per_s": [9812] * 3}),
    "opennmt_tf": (GENERIC, {
        "step": [100, 200, 300, 400, 500], "step_rate": [1.51, 2.02, 2.01, 2.03, 2.02],
        "loss": [9.712345, 8.912871, 8.10112, 7.622218, 7.201223], "step_time": [],
        "learning_rate": [1.2e-05, 2.5e-05, 3.7e-05, 4.9e-05, 6.2e-05]}),
    "paddleseg": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [2.8123, 2.6123, 2.5123, 2.4123],
        "samples_per_gpu_per_s": [6.599, 13.0655, 13.0911, 13.074]}),
    "paddlespeech": (GENERIC, {
        "step": [50, 100, 150], "loss": [77.10012, 67.10012, 57.10012]}),
    "pals_megatron": (MEGATRON, {
        "iteration": [1, 2, 3], "step_time": [21.2312, 5.6123, 5.6011]}),
    "per_epoch_time": (GENERIC, {
        "epoch": [1, 2, 3, 4], "loss": [1.812, 1.712, 1.612, 1.512], "step_time": [],
        "validation_loss": [1.891, 1.791, 1.691, 1.591]}),
    "per_epoch_time2": (GENERIC, {
        "epoch": [1, 2, 3, 4], "loss": [1.812, 1.712, 1.612, 1.512], "step_time": [],
        "validation_loss": [1.891, 1.791, 1.691, 1.591]}),
    "per_rank_glued": (GENERIC, {
        "step": [1, 1, 2, 2, 3, 3], "loss": [9.1, 9.1, 9, 9, 8.9, 8.9]}),
    "ppocr": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [94.3, 74.3, 54.3, 44.3],
        "samples_per_gpu_per_s": [70.62809, 209.04444, 209.3864, 209.15033]}),
    "ray_train": (GENERIC, {
        "step": [1, 2, 3], "loss": [2.41231, 2.21231, 2.11231]}),
    "rich_info": (GENERIC, {
        "step": [5, 10, 15, 20], "loss": [9.1231, 8.9231, 8.8231, 8.7231],
        "samples_per_s": [41.2, 41.3, 41.3, 41.3], "step_time": [1.55, 1.55, 1.56, 1.55]}),
    "sat_glm": (MEGATRON, {
        "iteration": [50, 100, 150, 200], "step_time": [12.3123, 12.0111, 12.0109, 12.0114],
        "lm_loss": [7.1234, 6.7234, 6.4234, 6.2234]}),
    "sentence_steps": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [7.12, 6.92, 6.72, 6.52],
        "step_time": [2.31, 2.11, 2.21, 2.15], "samples_per_s": [48.1, 48.2, 48.3, 48.4],
        "total_steps": [500] * 4}),
    "simpletuner": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [0.1231, 0.0931, 0.2031, 0.1131],
        "step_time_average": [2.95] * 4, "total_steps": [10000] * 4}),
    "sockeye": (GENERIC, {
        "step": [50, 100, 150, 200, 250],
        "samples_per_s": [612.31, 651.02, 650.44, 650.87, 649.12],
        "token_rate": [14122.1, 15010.77, 14998.2, 15003.1, 14960.31],
        "step_rate": [2.41, 2.56, 2.55, 2.55, 2.54]}),
    "tf_time_history": (GENERIC, {
        "step": [100, 200, 300, 400], "loss": [9.1, 8.7, 8.3, 7.9]}),
    "thumt": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [9.912, 9.812, 9.712, 9.612],
        "step_time": [1.312, 0.412, 0.408, 0.411]}),
    "thunder_bench": (GENERIC, {
        "step": [0, 1, 2, 3], "loss": [10.5, 10.4375, 10.25, 9.8125],
        "step_time": [41.23112, 0.41231, 0.4119, 0.41202]}),
    "torch_xla": (GENERIC, {
        "step": [0, 0, 10, 10, 20, 20], "loss": [6.875, 6.8789, 6.8125, 6.8089, 6.7125, 6.7089],
        "step_time": [], "samples_per_s": []}),
    "torchrun_custom_avg": (GENERIC, {
        "step": [50, 100, 150], "loss": [6.812, 6.312, 6.112],
        "step_time": [0.3312, 0.3291, 0.3293], "tokens_per_gpu_per_s": [24731, 24889, 24874],
        "mfu": [0.412, 0.415, 0.414]}),
    "torchtune_2026": (GENERIC, {
        "step": [1, 2, 3, 4],
        "loss": [1.8123456716537476, 1.7123456716537475, 1.6923456716537475, 1.6523456716537477],
        "step_time_average": [4.05] * 4}),
    "trainium_nxd_2026": (GENERIC, {
        "step": [10, 20, 30], "loss": [6.81, 6.61, 6.51], "samples_per_s": [15.96, 16.01, 16.02],
        "step_time": [2.0051, 1.9991, 1.9981]}),
    "trax": (GENERIC, {
        "step": [1, 100, 200, 300, 400],
        "loss": [10.31221112, 8.91231222, 7.81231123, 7.11231444, 6.71231999]}),
    "tunix": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [2.312, 2.112, 2.012, 1.912], "total_steps": [1000] * 4,
        "step_rate": [1.12, 1.31, 1.33, 1.32]}),
    "two_line_eval": (GENERIC, {
        "step": [10, 20, 30, 40], "step_time": []}),
    "two_line_loose": (GENERIC, {
        "step": [10, 20, 30, 40], "step_time": [0.9121, 0.9021, 0.9023, 0.9019]}),
    "two_line_steps": (GENERIC, {
        "step": [10, 20, 30, 40], "loss": [6.12, 5.92, 5.82, 5.72],
        "step_time": [0.9121, 0.9021, 0.9023, 0.9019]}),
    "uer": (GENERIC, {
        "step": [100, 200, 300, 400], "total_steps": [100000] * 4,
        "token_rate": [12312.31, 16312.31, 16298.11, 16301.21], "loss": [8.12, 7.62, 7.22, 6.92]}),
    "veomni": (GENERIC, {
        "step": [1, 2, 3, 4], "loss": [1.81, 1.71, 1.69, 1.65], "grad_norm": [3.1, 2.9, 2.8, 2.7],
        "step_time_average": [3.07] * 4, "mfu": [0.41] * 4}),
    "wall_time_words": (GENERIC, {
        "step": [100, 200, 300], "loss": [6.81, 6.61, 6.51], "step_time": [2.012, 1.998, 1.999],
        "elapsed": [200, 400, 600], "total_steps": [100000] * 3}),
    "xlm": (GENERIC, {
        "batch": [5, 10, 15, 20], "samples_per_s": [41.12, 161.31, 160.31, 161.01],
        "learning_rate": [1e-07, 3e-07, 5e-07, 7e-07]}),
}  # fmt: skip
"""Sample → the frame of its steps, and columns with all their values; none where it is empty."""
