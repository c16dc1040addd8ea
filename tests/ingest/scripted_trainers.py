"""Logs of scripts that one person wrote, and what trainers show in notebooks: their steps.

Written as those of `test_trainers.py`, and read by its tests.
"""

from __future__ import annotations

from typing import Any

from tests.ingest.launched_trainers import GENERIC, GIB, KNOWN

SCRIPTED: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "batch_product": (KNOWN, {
        "step": [0, 10, 20], "gpus": [8, 8, 8], "step_time": [63.5114, 0.39102, 0.38987],
        "mfu": [None, 0.4307, 0.4308]}),
    "notebook_progress": (GENERIC, {
        "step": [10, 20, 30], "loss": [None, 1.4123, 1.3551],
        "validation_loss": [1.512011, 1.401177, 1.360042], "step_time": []}),
    "pde_script": (GENERIC, {
        "step": [100, 200, 300, 400], "epoch": [0, 0, 0, 1],
        "loss": [1.4022, 0.7344, 0.5227, 0.4391], "grad_norm": [9.87, 4.4, 3.3, 2.7],
        "step_time": [0.1832, 0.1835, 0.1841, 0.183], "elapsed": [20, 39, 57, 77],
        "samples_per_s": [174.7, 174.4, 173.8, 174.9],
        "memory": [9.81 * GIB, 9.81 * GIB, 9.81 * GIB, 9.84 * GIB]}),
}  # fmt: skip
"""Sample → the frame of its steps, and columns with all their values; none where it is empty."""
