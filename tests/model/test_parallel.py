"""Groups on nodes, stages, and what a configuration that cannot exist is told."""

import dataclasses

import pytest
from assay.model.transformer.parallel import (
    check,
    faults,
    gpus,
    gradient_group,
    group,
    stage_layers,
    stages_leave_node,
    tensor_group,
)
from assay.model.transformer.training_run import run
from hypothesis import given
from hypothesis import strategies as st

ROW = {
    "case": "a", "machine": "A100-80g", "dtype": "fp16", "gpus": 384, "hidden": 14336,
    "layers": 72, "heads": 64, "seq_len": 2048, "vocab": 250880, "tp": 8, "pp": 12, "dp": 4,
    "micro_batch": 4, "global_batch": 2048, "recompute": "full", "gpus_per_node": 8,
    "node_bandwidth": 50e9, "zero_stage": 1,
}  # fmt: skip


def built(**changes):
    found = run(ROW | changes)
    assert found is not None
    return found


def test_groups_of_the_bloom_layout():
    one = built()
    assert gpus(one) == 384
    assert tensor_group(one) == (8, 8, 1)
    assert gradient_group(one) == (4, 1, 8)
    assert gradient_group(built(tp=4, dp=8)) == (8, 2, 4)
    assert gradient_group(built(tp=2, dp=16)) == (16, 4, 2)
    assert stages_leave_node(one)
    assert not stages_leave_node(built(tp=1, pp=8, dp=1, gpus=8))


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4))
def test_members_and_sharers_fill_a_node(ranks, stride, node):
    per_node = 2**node
    found = group(2**ranks, 2**stride, per_node)
    assert 1 <= found.inside <= found.ranks
    assert found.inside * found.sharing <= per_node
    assert found.leaves_node == (found.inside < found.ranks)


@given(st.integers(1, 200), st.integers(1, 40))
def test_every_layer_is_on_a_stage(layers, stages):
    found = stage_layers(layers, stages)
    assert (sum(found), len(found)) == (layers, stages)
    assert max(found) - min(found) <= 1


@pytest.mark.parametrize(
    ("changes", "numbers"),
    [
        ({"gpus": 400}, ("384", "400")),
        ({"heads": 28}, ("28 heads", "TP 8")),
        ({"layers": 10}, ("10 layers", "PP 12")),
        ({"cp": 3}, ("2048 tokens", "CP 3")),
        ({"ep": 2}, ("EP 2",)),
        ({"vp": 2, "pp": 1}, ("2 chunks", "PP is 1")),
        ({"zero_stage": 4}, ("stage 4",)),
        ({"recompute": "some"}, ("'some'",)),
        ({"ffn_hidden": 57345}, ("57345", "TP 8")),
    ],
)
def test_what_cannot_exist_names_its_numbers(changes, numbers):
    row = ROW | changes
    with pytest.raises(ValueError, match="cannot exist") as told:
        check(run(row), gpus_given=row["gpus"])
    for number in numbers:
        assert number in str(told.value)


def test_what_can_exist_is_told_nothing():
    assert faults(built(), gpus_given=384) == ()


def test_several_nodes_need_a_network():
    lonely = dataclasses.replace(built(), node_bandwidth=None)
    assert "48 nodes of 8" in faults(lonely)[0]
