import numpy as np
import pytest
from assay.model.kernels import experts
from assay.model.kernels.kernel import Floats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import examples

H100 = {"peak": 989e12, "memory_bandwidth": 3352e9, "itemsize": 2.0, "link_bandwidth": 450e9}


def table(**shape: float) -> dict[str, Floats]:
    one = {"tokens": 4096.0, "hidden": 4096.0, "width": 1536.0, "topk": 8.0, "experts": 128.0,
           "ranks": 8.0, "dispatch": 1.0, "sms": 24.0} | H100 | shape  # fmt: skip
    return {name: np.array([value]) for name, value in one.items()}


def seconds(**shape: float) -> float:
    return float(experts.grouped(table(**shape), experts.GROUPED.starts)[0])


def test_even_use_by_hand() -> None:
    """512 tokens, two of eight experts each, on one rank: 128 rows an expert, whole tiles of 64."""
    pairs, active, *rows = experts.occupied(512.0, 8.0, 1.0, 2.0, 0.0)
    assert (pairs, active) == (1024.0, 8.0)
    assert rows[2] == pytest.approx(8 * 64 * 2.5, rel=0.02)  # half of the experts need a third tile


def test_a_token_that_visits_a_rank_counts_with_all_its_experts() -> None:
    """Eight ranks, eight experts a token: every token visits; sixteen ranks: every second one."""
    assert experts.occupied(1024.0, 256.0, 8.0, 8.0, 0.0)[0] == 1024 * 8
    assert experts.occupied(1024.0, 256.0, 16.0, 8.0, 0.0)[0] == 1024 * 8 / 2


def test_unequal_popularity_loads_the_busiest_rank() -> None:
    even, milder, steeper = (
        experts.occupied(4096.0, 128.0, 32.0, 8.0, skew)[0] for skew in (0.0, 1.01, 1.2)
    )
    assert even < milder < steeper <= 4096 * 8


def test_few_tokens_take_as_long_as_the_weights() -> None:
    """One token reads its eight experts: 3·4096·1536·8 elements at nearly the memory's rate."""
    weights = 3 * 4096 * 1536 * 8 * 2 / (0.9 * 3352e9)
    assert seconds(tokens=1.0, ranks=1.0) == pytest.approx(weights, rel=0.2)


def test_a_configuration_for_these_experts_is_faster() -> None:
    assert seconds(tuned=1.0) < 0.7 * seconds(tuned=0.0)
    unknown = table() | {"tuned": np.array([np.nan])}
    assert experts.grouped(unknown, experts.GROUPED.starts)[0] == seconds()


@settings(max_examples=examples(60), deadline=None)
@given(tokens=st.integers(64, 65536), count=st.sampled_from([8, 64, 256]),
       ranks=st.sampled_from([1, 2, 8]), topk=st.integers(1, 8), width=st.integers(16, 8192),
       skew=st.sampled_from([0.0, 1.01, 1.2]), tuned=st.sampled_from([0.0, 1.0]))  # fmt: skip
def test_any_layer_takes_a_finite_time_below_no_roofline(
    *, tokens: int, count: int, ranks: int, topk: int, width: int, skew: float, tuned: float
) -> None:
    at = table(tokens=tokens, experts=count, ranks=ranks, topk=topk, width=width, skew=skew,
               tuned=tuned)  # fmt: skip
    time = experts.grouped(at, experts.GROUPED.starts)[0]
    assert np.isfinite(time)
    assert time > experts.flop(at)[0] / at["peak"][0]
    twice = experts.grouped(at | {"tokens": 2 * at["tokens"]}, experts.GROUPED.starts)[0]
    assert twice > 0.9 * time  # tiles fill up, and popularity is drawn anew


@settings(max_examples=examples(60), deadline=None)
@given(tokens=st.integers(1, 10**6), topk=st.integers(1, 16), sms=st.integers(1, 32),
       dispatch=st.sampled_from([0.0, 1.0]))  # fmt: skip
def test_an_exchange_keeps_to_its_links(tokens: int, topk: int, sms: int, dispatch: float) -> None:
    at = table(tokens=tokens, topk=topk, sms=sms, dispatch=dispatch)
    time = experts.exchange(at, experts.EXCHANGE.starts)[0]
    size = 1.0 if dispatch else 2.0
    assert time > tokens * 4096 * size * min(topk / 8, 1) * 7 / 8 / 450e9 * 0.9
    more = experts.exchange(at | {"sms": at["sms"] + 1}, experts.EXCHANGE.starts)[0]
    assert more <= time


def test_a_token_is_sent_once_to_each_rank_it_visits() -> None:
    few, many = (float(experts._avoided(table(topk=float(topk)))[0]) for topk in (1, 128))
    assert few == pytest.approx(7 / 8)
    assert many == 0.0
