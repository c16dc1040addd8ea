"""Logs of scripts that one person wrote, and what trainers show in notebooks: their steps.

Written as those of `test_trainers.py`, and read by its tests.
"""

from __future__ import annotations

from typing import Any

from tests.ingest.launched_trainers import GENERIC, GIB, KNOWN

SCRIPTED: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "bars_within_steps": (GENERIC, {
        "step": [1, 2, 3], "learning_rate": [1.5e-8, 3e-8, 4.5e-8], "step_time_average": [],
        "step_rate": [], "loss": []}),
    "batch_product": (KNOWN, {
        "step": [0, 10, 20], "gpus": [8, 8, 8], "step_time": [63.5114, 0.39102, 0.38987],
        "mfu": [None, 0.4307, 0.4308]}),
    "chinese4": (GENERIC, {
        "step": [10, 20, 30, 40], "total_steps": [200000] * 4,
        "learning_rate": [1.5e-6, 3e-6, 4.5e-6, 6e-6],
        "step_time": [23.312, 21.067, 21.052, 21.058], "elapsed": [233, 444, 654, 899],
        "tokens_per_s": [90000, 99500, 99600, 99600], "token_rate": [],
        "memory": [66.4 * GIB, 66.4 * GIB, 66.4 * GIB, 66.5 * GIB]}),
    "counted_devices": (GENERIC, {
        "step": [100, 200, 300], "tokens_per_s": [812345, 814001, 813877],
        "step_time": [1.2907, 1.2881, 1.2883], "tokens_per_gpu_per_s": [], "token_rate": []}),
    "diffusers_redrawn": (GENERIC, {
        "step": [1, 2, 3], "total_steps": [400] * 3, "loss": [0.211, 0.143, 0.0914],
        "step_time_average": [6.5, 5.38, 4.99]}),
    "julia_logger": (GENERIC, {
        "step": [50, 100, 150, 200], "loss": [6.9812, 6.9107, 6.834, 6.7521],
        "learning_rate": [0.004, 0.008, 0.012, 0.016], "grad_norm": [3.412, 2.981, 2.604, 2.377],
        "samples_per_s": [1137.3, 1366.8, 1369.7, 1365.3], "step_time": []}),
    "levanter_short_counts": (GENERIC, {
        "step": [8, 18, 28, 988, None], "step_rounded": [None] * 4 + [1010],
        "loss": [10.9, 9.42, 8.87, 4.13, 4.09], "step_time_average": [2.5] * 5}),
    "notebook_progress": (GENERIC, {
        "step": [10, 20, 30], "loss": [None, 1.4123, 1.3551],
        "validation_loss": [1.512011, 1.401177, 1.360042], "step_time": []}),
    "orbit_controller": (GENERIC, {
        "step": [100, 200, 300], "loss": [6.8213, 6.1027, 5.7318],
        "learning_rate": [3.1e-5, 6.2e-5, 9.3e-5], "step_rate": [0.8, 1.9, 1.9],
        "validation_loss": [], "elapsed": [], "step_time": []}),
    "pde_script": (GENERIC, {
        "step": [100, 200, 300, 400], "epoch": [0, 0, 0, 1],
        "loss": [1.4022, 0.7344, 0.5227, 0.4391], "grad_norm": [9.87, 4.4, 3.3, 2.7],
        "step_time": [0.1832, 0.1835, 0.1841, 0.183], "elapsed": [20, 39, 57, 77],
        "samples_per_s": [174.7, 174.4, 173.8, 174.9],
        "memory": [9.81 * GIB, 9.81 * GIB, 9.81 * GIB, 9.84 * GIB]}),
    "shown_then_counted": (GENERIC, {
        "step": [1, 2, 3], "loss": [3.12, 2.87, 2.64], "step_time_average": [2.16, 2.14, 2.13]}),
    "torchtune_redrawn": (GENERIC, {
        "step": [1, 2, 3], "loss": [1.7213, 1.6809, 1.6127], "learning_rate": [2e-6, 4e-6, 6e-6],
        "tokens_per_gpu_per_s": [1288.06, 1498.12, 1512.77]}),
}  # fmt: skip
"""Sample → the frame of its steps, and columns with all their values; none where it is empty."""
