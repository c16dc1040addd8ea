"""Any machine under any layout: a finite time and finite memory, or what is wrong with numbers."""

import math
import random
import re

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


def check(draws, seed):
    rng = random.Random(seed)
    feasible, seen = [], set()
    for _ in range(draws):
        row = drawn(rng)
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
    times = STEP.time(components(feasible), STEP.starts)
    assert all(math.isfinite(one) and one > 0 for one in times)
    assert seen == set(machines())


def test_some_draws():
    check(3_000, SEED)


@pytest.mark.slow
def test_many_draws():
    for part in range(20):
        check(5_000, SEED + part)


def test_no_machine_lacks_what_a_layout_can_need():
    for one in machines().values():
        assert one.link_bandwidth, one.name
        assert one.gpus_per_node, one.name
        assert one.node_bandwidth, one.name
