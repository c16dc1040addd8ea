"""Logs of trainers of vision, speech, translation, graphs and games, and of language in Chinese.

Written as those of `test_trainers.py`, and read by its tests.
"""

from __future__ import annotations

from typing import Any

from tests.ingest.launched_trainers import GENERIC, KNOWN

FURTHER: dict[str, tuple[str, dict[str, list[Any]]]] = {
    "allennlp": (GENERIC, {"step": [12, 13, 14, 15]}),
    "annotated": (
        GENERIC,
        {
            "step": [1, 41, 81, 121],
            "loss": [10.0, 9.31, 8.66, 8.05],
            "token_rate": [1234.1, 1235.1, 1236.1, 1237.1],
        },
    ),
    "apex": (
        KNOWN,
        {
            "batch": [10, 20, 30, 40],
            "loss": [7.001, 6.5163, 6.0549, 5.6312],
            "step_time": [0.93, 0.311, 0.311, 0.312],
        },
    ),
    "audiocraft": (GENERIC, {"step_rate": [2.3, 2.31, 2.32, 2.33]}),
    "basicsr": (KNOWN, {"step": [100, 200, 300, 400], "step_time": [1.23, 0.413, 0.416, 0.415]}),
    "caffe": (
        GENERIC,
        {
            "step": [0, 100, 200, 300],
            "loss": [7.0029, 6.5198, 6.0555, 5.6347],
            "step_rate": [5.20833, 5.18135, 5.15464, 5.12821],
        },
    ),
    "chainer": (GENERIC, {"step": [100, 200, 300, 400], "loss": [2.0076, 1.8615, 1.7347, 1.6091]}),
    "char_rnn": (
        GENERIC,
        {
            "step": [1, 2, 3, 4],
            "loss": [5.0023, 4.652, 4.3265, 4.028],
            "step_time": [0.63, 0.2127, 0.2134, 0.2104],
        },
    ),
    "chinese2": (
        GENERIC,
        {"loss": [10.0045, 9.3056, 8.6582, 8.0482], "step_time": [3.6, 1.2122, 1.2141, 1.2044]},
    ),
    "chinese3": (
        GENERIC,
        {
            "step": [10, 20, 30, 40],
            "loss": [10.0045, 9.3056, 8.6582, 8.0482],
            "step_time": [3.6, 1.21, 1.21, 1.2],
        },
    ),
    "cosmos": (GENERIC, {"loss": [10.0045, 9.3056, 8.6582, 8.0482]}),
    "cyclegan": (GENERIC, {"step": [100, 200, 300, 400]}),
    "dgl": (GENERIC, {"epoch": [0, 1, 2, 3], "loss": [2.001, 1.8634, 1.7324, 1.617]}),
    "dinov2": (
        KNOWN,
        {
            "loss": [10.0045, 9.3056, 8.6582, 8.0482],
            "step_time": [3.6, 1.2122, 1.2141, 1.2044],
            "max_allocated": [32728154112.0, 32728154112.0, 32728154112.0, 32728154112.0],
        },
    ),
    "funasr": (GENERIC, {"step": [50, 100, 150, 200]}),
    "gluonnlp": (
        GENERIC,
        {
            "step": [50, 100, 150, 200],
            "token_rate": [41200.0, 41300.0, 41400.0, 41500.0],
            "step_time": [0.2421, 0.2431, 0.2441, 0.2451],
        },
    ),
    "gnmt": (GENERIC, {"batch": [0, 10, 20, 30], "token_rate": [114478, 338080, 340877, 340595]}),
    "graphgym": (GENERIC, {"epoch": [0, 1, 2, 3], "loss": [5.0023, 4.652, 4.3265, 4.028]}),
    "horovod_synth": (GENERIC, {"step": [0, 1, 2, 3]}),
    "hugectr": (
        GENERIC,
        {"step": [1000, 2000, 3000, 4000], "loss": [0.2099, 0.1907, 0.1778, 0.1617]},
    ),
    "maskrcnn": (
        KNOWN,
        {
            "step": [20, 40, 60, 80],
            "loss": [2.1018, 1.9588, 1.8227, 1.6929],
            "step_time": [1.35, 0.4549, 0.4506, 0.4505],
            "max_allocated": [3577741312.0, 3577741312.0, 3577741312.0, 3577741312.0],
        },
    ),
    "nnunet": (GENERIC, {"epoch": [0, 1, 2, 3], "loss": [0.4094, 0.3767, 0.3526, 0.3223]}),
    "paddledetection": (
        GENERIC,
        {
            "loss": [3.0012, 2.7922, 2.601, 2.4225],
            "samples_per_gpu_per_s": [68.8172, 204.0816, 204.8, 202.4676],
        },
    ),
    "parallel_wavegan": (GENERIC, {"step": [100, 200, 300, 400]}),
    "prime_rl": (
        GENERIC,
        {
            "step": [0, 1, 2, 3],
            "step_time": [93.0, 31.48, 31.33, 31.48],
            "token_rate": [21212, 21213, 21214, 21215],
            "mfu": [0.31, 0.311, 0.312, 0.313],
        },
    ),
    "rsl_rl": (GENERIC, {"step": [0, 1, 2, 3], "step_time": [2.7, 0.91, 0.91, 0.91]}),
    "sb3": (GENERIC, {"loss": [9.1, 9.2, 9.3, 9.4], "step": [1, 2, 3, 4]}),
    "slowfast": (
        GENERIC,
        {
            "step": [10, 20, 30, 40],
            "loss": [6.0021, 5.5868, 5.1937, 4.8293],
            "step_time": [1.5, 0.5059, 0.5045, 0.503],
        },
    ),
    "ssd_nv": (GENERIC, {"step": [0, 20, 40, 60], "loss": [5.002, 4.652, 4.327, 4.028]}),
    "step_sec": (
        GENERIC,
        {
            "step": [10, 20, 30, 40],
            "loss": [10.0045, 9.3056, 8.6582, 8.0482],
            "step_rate": [0.28, 0.82, 0.82, 0.83],
        },
    ),
    "tacotron2": (
        GENERIC,
        {
            "batch": [0, 1, 2, 3],
            "loss": [5.0006, 4.6577, 4.3258, 4.0243],
            "grad_norm": [3.1, 3.2, 3.3, 3.4],
            "step_time": [6.3, 2.12, 2.14, 2.1],
        },
    ),
    "torchforge": (GENERIC, {"step": [1, 2, 3, 4]}),
    "tpu_estimator": (
        GENERIC,
        {"step": [0, 100, 200, 300], "loss": [8.0053, 7.4415, 6.9246, 6.4351]},
    ),
    "vit_jax": (GENERIC, {"step": [10, 20, 30, 40]}),
    "yolov5": (GENERIC, {"step_rate": [18.0, 6.06, 6.0, 6.05]}),
    "yolox": (
        GENERIC,
        {
            "step": [10, 20, 30, 40],
            "step_time": [1.2, 0.404, 0.403, 0.401],
            "loss": [14.0, 13.0, 12.1, 11.3],
        },
    ),
}
"""Sample → the frame of its steps, and columns with all their values; none where it is empty."""
