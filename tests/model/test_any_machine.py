"""Any machine under any layout: a finite time and finite memory, or what is wrong with numbers."""

import math
import random
import re
import warnings

import pytest
from assay.model.machines.datasheets import machines
from assay.model.schedule import STEP
from assay.model.step.memory import stages
from assay.model.step.step import components
from assay.model.transformer.parallel import faults
from assay.model.transformer.shapes import shapes
from assay.model.transformer.training_run import run

SEED = 20220220


def drawn(rng):
    """One case row, feasible or not."""
    machine = machines()[rng.choice(list(machines()))]
    name = rng.choice([None, None, *shapes()])
    shape = shapes().get(name)
    heads = shape.heads if shape else rng.choice([8, 12, 16, 20, 25, 32, 40, 64, 96])
    tp, pp = rng.choice([1, 1, 2, 4, 8, 16]), rng.choice([1, 1, 2, 3, 4, 8, 16])
    cp, dp = rng.choice([1, 1, 1, 2, 4, 8]), rng.choice([1, 2, 3, 8, 16, 64, 512])
    return {
        "case": "drawn", "machine": machine.name, "dtype": rng.choice(list(machine.peaks)),
        "gpus": tp * pp * cp * dp, "heads": heads, "kv_heads": shape.kv_heads if shape else heads,
        "hidden": shape.hidden if shape else heads * rng.choice([64, 96, 128, 150]),
        "layers": shape.layers if shape else rng.choice([12, 24, 40, 96]), "model": name,
        "seq_len": rng.choice([512, 1024, 2048, 4096, 8192, 131072]),
        "vocab": rng.choice([50257, 32000, 128256]), "tp": tp, "pp": pp, "cp": cp, "dp": dp,
        "ep": rng.choice([1, 1, 2, 8, 64]), "vp": rng.choice([1, 1, 2, 5]),
        "micro_batch": rng.choice([1, 2, 3, 8]), "global_batch": dp * rng.choice([1, 8, 31, 64]),
        "recompute": rng.choice(["none", "full", "selective"]),
        "zero_stage": rng.choice([0, 1, 2, 3]), "sequence_parallel": rng.choice([True, False]),
        "attention": rng.choice(["unfused", "flash", "flash1", None]),
        "launch": rng.choice(["async", "blocking"]),
    }  # fmt: skip


def extreme(rng):
    """The same with networks, nodes, lengths and batches that nobody has."""
    row = drawn(rng)
    if row["model"] is None:
        row["layers"] = rng.choice([1, row["layers"], 10_000])
        row["hidden"] = row["heads"] * rng.choice([1, 64, 2**20])
    return row | {
        "node_bandwidth": rng.choice([None, 0.0, 10 ** rng.uniform(-308, 308)]),
        "gpus_per_node": rng.choice([None, 1, 72, 2**40]),
        "seq_len": 2 ** rng.randrange(8, 62), "micro_batch": 10 ** rng.randrange(19),
        "global_batch": row["dp"] * 10 ** rng.randrange(19), "vocab": 10 ** rng.randrange(1, 19),
    }  # fmt: skip


def check(draws, seed, draw=drawn):
    rng = random.Random(seed)
    feasible, seen = [], set()
    for _ in range(draws):
        row = draw(rng)
        built = run(row)
        assert built is not None, row
        said = faults(built)
        if said:
            assert all(re.search(r"[0-9]", one) for one in said), said
            continue
        feasible.append(built)
        seen.add(built.machine.name)
    for built in feasible:
        for held in stages(built):
            assert all(math.isfinite(size) and size >= 0 for size in held), built
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        times = STEP.time(components(feasible), STEP.starts)
    assert all(math.isfinite(one) and one > 0 for one in times)
    assert seen == set(machines())


def test_some_draws():
    check(3_000, SEED)


def test_some_extreme_draws():
    check(3_000, SEED, extreme)


def test_a_network_that_is_none_is_refused_with_its_figure():
    row = drawn(random.Random(SEED)) | {
        "model": None, "machine": "H100", "dtype": "bf16", "heads": 32, "kv_heads": 32,
        "hidden": 4096, "layers": 32, "tp": 8, "pp": 1, "cp": 1, "dp": 2, "ep": 1, "vp": 1,
        "gpus": 16, "recompute": "none", "sequence_parallel": True, "seq_len": 4096,
    }  # fmt: skip
    for bandwidth in (0.0, 1e-300, 400.0):
        (said,) = faults(run(row | {"node_bandwidth": bandwidth}))
        assert f"{bandwidth:g} B/s a node" in said
    assert not faults(run(row | {"node_bandwidth": 400e9}))


@pytest.mark.slow
def test_many_draws():
    for part in range(20):
        check(5_000, SEED + part)


def test_no_machine_lacks_what_a_layout_can_need():
    for one in machines().values():
        assert one.link_bandwidth, one.name
        assert one.gpus_per_node, one.name
        assert one.node_bandwidth, one.name
