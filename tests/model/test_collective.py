import numpy as np
import polars as pl
import pytest
from assay.model.frames import PREDICTION
from assay.model.kernels import collective
from assay.model.kernels.kernel import Floats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

FREE = {"latency": 1e-12, "step": 1e-15, "segment": 1e-20, "copy": 1e9, "switch_latency": 1e-12}


def table(name: str, size: float, ranks: float, **more: float) -> dict[str, Floats]:
    one = {"operation": float(collective.OPERATIONS.index(name)), "bytes": size, "ranks": ranks,
           "link_bandwidth": 300e9, "in_network": 0.0} | more  # fmt: skip
    return {key: np.array([value]) for key, value in one.items()}


def seconds(at: dict[str, Floats], **values: float) -> float:
    return float(collective.collective(at, collective.COLLECTIVE.starts | values)[0])


@pytest.mark.parametrize(
    ("name", "factor"),
    [("all_reduce", 1.75), ("all_gather", 0.875), ("reduce_scatter", 0.875), ("all_to_all", 0.875),
     ("p2p", 1.0)],
)  # fmt: skip
def test_bandwidth_term_by_hand(name: str, factor: float) -> None:
    time = seconds(table(name, 1e9, 8.0), **FREE, link=0.5)
    assert time == pytest.approx(factor * 1e9 / 150e9, rel=1e-4)


def test_the_measured_bus_bandwidth_of_the_formulas() -> None:
    # 2^28 half elements in 2.11 ms on 8 GPUs: 445 GB/s.
    at = table("all_reduce", 2.0**29, 8.0)
    bus = collective.bus_bandwidth(at["operation"], at["bytes"], at["ranks"], np.array([2.11e-3]))
    assert bus.item() == pytest.approx(445e9, rel=2e-3)


def test_the_best_number_of_segments() -> None:
    volume, rate, cost = 1e8, 1e11, 2e-6
    by_hand = min((1 + 1 / count) * volume / rate + cost * count for count in range(1, 500))
    # n segments: V/B + V/(nB) of filling + n·cost; at the optimum V/B + 2·sqrt(cost·V/B)
    formula = collective.pipelined(np.array([volume]), np.array([rate]), cost).item()
    assert formula == pytest.approx(by_hand, rel=1e-3)


def test_in_network_needs_the_switch_and_one_node() -> None:
    plain = seconds(table("all_reduce", 1e9, 8.0))
    assert seconds(table("all_reduce", 1e9, 8.0, in_network=1.0)) < plain
    assert seconds(table("all_gather", 1e9, 8.0, in_network=1.0)) == seconds(
        table("all_gather", 1e9, 8.0)
    )


def test_across_nodes_the_network_cards_decide_and_groups_share_them() -> None:
    node = {"ranks_per_node": 8.0, "node_bandwidth": 50e9}
    alone = seconds(table("all_reduce", 1e9, 32.0, **node), **FREE, network=0.5)
    assert alone == pytest.approx(2 * 31 / 32 * 1e9 / 25e9, rel=1e-3)
    shared = seconds(table("all_reduce", 1e9, 32.0, **node, sharing=8.0), **FREE, network=0.5)
    assert shared == pytest.approx(8 * alone, rel=1e-3)
    swap = seconds(table("all_to_all", 1e9, 32.0, **node), **FREE, network=0.5)
    assert swap == pytest.approx(8 * 24 / 32 * 1e9 / 25e9, rel=1e-3)


def test_a_group_that_does_not_fill_the_node_has_its_part_of_the_cards() -> None:
    node = {"ranks_per_node": 2.0, "node_bandwidth": 50e9, "gpus_per_node": 8.0}
    time = seconds(table("all_reduce", 1e9, 4.0, **node), **FREE, network=1.0)
    assert time == pytest.approx(2 * 3 / 4 * 1e9 / 12.5e9, rel=1e-3)


def test_a_tree_wins_for_small_messages_on_many_nodes() -> None:
    node = {"ranks_per_node": 8.0, "node_bandwidth": 400e9}
    at = table("all_reduce", 1024.0, 512.0, **node)
    start = collective.COLLECTIVE.starts
    assert collective.tree(at, start).item() < collective.ring(at, start).item() / 10


def test_a_group_over_nodes_without_a_known_network_has_no_time() -> None:
    assert np.isnan(seconds(table("all_reduce", 1e9, 32.0, ranks_per_node=8.0)))


@settings(max_examples=examples(50), deadline=None)
@given(
    name=st.sampled_from(collective.OPERATIONS),
    size=st.floats(1, 1e10),
    more=st.floats(1.0, 100.0),
    ranks=st.sampled_from([2.0, 4.0, 8.0, 16.0]),
    switch=st.sampled_from([0.0, 1.0]),
)
def test_larger_messages_take_longer(
    name: str, size: float, more: float, ranks: float, switch: float
) -> None:
    small = seconds(table(name, size, ranks, in_network=switch))
    assert seconds(table(name, size * more, ranks, in_network=switch)) >= small


@pytest.mark.parametrize(
    ("text", "name"),
    [("alltoall", "all_to_all"), ("AllReduce", "all_reduce"), ("all_gather_perf", "all_gather"),
     ("reduce-scatter", "reduce_scatter"), ("sendrecv", "p2p")],
)  # fmt: skip
def test_spellings(text: str, name: str) -> None:
    assert collective.operation(text) == name


def test_an_unknown_operation_is_refused() -> None:
    with pytest.raises(LookupError, match="known are all_gather"):
        collective.operation("broadcast")


def test_predictions_use_the_network_that_the_case_states() -> None:
    cases = pl.DataFrame({"case": ["a", "b"], "machine": ["A100-80g"] * 2, "dtype": ["bf16"] * 2,
                          "op": ["allreduce"] * 2, "bytes": [1e9] * 2, "ranks": [16] * 2,
                          "ranks_per_node": [8] * 2, "node_bandwidth": [50e9, None]})  # fmt: skip
    found = collective.predict(cases)
    assert found.schema == pl.Schema(PREDICTION)
    slow, fast = found["value"].to_list()
    assert slow > 3 * fast  # 4 x 100 Gb/s here, 8 x 200 Gb/s by default
