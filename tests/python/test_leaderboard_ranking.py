"""The statistics of leaderboards, against plain definitions."""

from __future__ import annotations

import itertools
import math
import os
import random

import numpy as np
import pytest

from floatgate.study.leaderboard import ranking

SEED = int(os.environ.get("FLOATGATE_SEED", "1"))


def plain_p(differences: list[float]) -> float:
    """The p value by its definition: all ways to give the ranks a sign, each as likely."""
    there = [one for one in differences if one]
    sizes = [abs(one) for one in there]
    ranks = [sum(other < one for other in sizes) + (sum(other == one for other in sizes) + 1) / 2 for one in sizes]
    middle = sum(ranks) / 2
    far = abs(sum(rank for rank, one in zip(ranks, there, strict=True) if one > 0) - middle)
    ways = [
        abs(sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign) - middle) >= far
        for signs in itertools.product((False, True), repeat=len(ranks))
    ]
    return min(1.0, sum(ways) / len(ways))


@pytest.mark.parametrize("case", range(40))
def test_p_is_that_of_all_signs(case: int) -> None:
    draw = random.Random(f"{SEED}:{case}")
    differences = [draw.choice((-1, 1)) * draw.choice((0.0, 0.1, 0.2, 0.35, draw.random())) for _ in range(case % 11)]
    assert ranking.signed_rank_p(differences) == pytest.approx(plain_p(differences)), (SEED, differences)


def test_p_of_published_tables() -> None:
    """Ranks 1 to 10 with a sum of 8 on one side are the critical value at 5 %; all signs alike give 2 / 2^n."""
    critical = [1, 2, -3, 4, -5, 6, 7, 8, 9, 10]
    assert ranking.signed_rank_p([float(one) for one in critical]) == pytest.approx(0.048828125)
    assert ranking.signed_rank_p([0.1 * one for one in range(1, 9)]) == 2 / 256
    assert ranking.signed_rank_p([]) == ranking.signed_rank_p([0.0, 0.0]) == 1.0


@pytest.mark.parametrize(("traces", "tests"), [(6, 2), (9, 21), (12, 18)])
def test_the_least_p_is_that_of_the_clearest_differences(traces: int, tests: int) -> None:
    clearest = ranking.signed_rank_p([1.0 + 0.1 * one for one in range(traces)])
    assert ranking.holm([clearest] * tests)[0] == pytest.approx(ranking.least_p(traces, tests))


def test_holm_corrects_step_by_step() -> None:
    assert ranking.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert ranking.holm([0.9, 0.8]) == [1.0, 1.0]
    assert ranking.holm([]) == []


@pytest.mark.parametrize("case", range(20))
def test_adjusted_means_are_least_squares(case: int) -> None:
    """They solve the regression on indicators of policies and fields, with gaps and weights."""
    draw = np.random.default_rng([SEED, case])
    policies, fields = 5, 8
    values = draw.normal(size=(policies, fields))
    values[1:][draw.random((policies - 1, fields)) < 0.3] = math.nan
    values[1:, 0] = draw.normal(size=policies - 1)
    weights = draw.integers(1, 4, size=fields).astype(float)
    rows, right, weight = [], [], []
    for policy, field in itertools.product(range(policies), range(fields)):
        if not math.isnan(values[policy, field]):
            row = np.zeros(policies - 1 + fields)
            if policy:
                row[policy - 1] = 1
            row[policies - 1 + field] = 1
            rows.append(row)
            right.append(values[policy, field])
            weight.append(math.sqrt(weights[field]))
    scaled = np.array(rows) * np.array(weight)[:, None]
    solved = np.linalg.lstsq(scaled, np.array(right) * weight, rcond=None)[0][: policies - 1]
    assert ranking.adjusted_means(values, 0, weights) == pytest.approx([0, *solved]), (SEED, case)


def test_adjusted_means_without_gaps_are_plain_ones() -> None:
    values = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 5.0], [math.nan] * 3])
    means = ranking.adjusted_means(values, 0)
    assert means[:2] == pytest.approx([0, 1])
    assert math.isnan(means[2])


def test_a_gap_does_not_favour_who_ran_on_hard_fields_alone() -> None:
    """The second policy is always 0.1 below the first; it ran where both are high."""
    values = np.array([[0.0, 0.0, 2.0], [math.nan, math.nan, 1.9]])
    assert ranking.adjusted_means(values, 0) == pytest.approx([0, -0.1])


def test_samples_draw_traces_and_not_fields() -> None:
    """Two fields of a trace are drawn together: their mean never takes a value between those of traces."""
    values = np.array([[0.0] * 4, [1.0, 3.0, 10.0, 10.0]])
    samples = ranking.resampled_means(values, 0, [0, 0, 1, 1])
    assert samples.shape == (ranking.RESAMPLES, 2)
    assert {round(float(one), 9) for one in samples[:, 1]} == {2.0, 6.0, 10.0}
    again = ranking.resampled_means(values, 0, [0, 0, 1, 1])
    assert (samples == again).all()


def test_intervals_hold_the_mean_of_a_known_law() -> None:
    """Of 100 sets of 12 traces from one law, most intervals hold its mean (a few less than 95: samples are small)."""
    draw = np.random.default_rng(SEED)
    held = 0
    for _ in range(100):
        values = np.vstack([np.zeros(12), draw.normal(0.3, 0.2, 12)])
        ends = ranking.middle_95(ranking.resampled_means(values, 0, list(range(12)))[:400, 1].tolist())
        assert ends is not None
        held += ends[0] <= 0.3 <= ends[1]
    assert held >= 80, (SEED, held)


def test_ranks_share_and_leave_out() -> None:
    assert ranking.ranks(np.array([0.5, 0.2, math.nan, 0.2])) == [3, 1, None, 1]


def test_the_front_keeps_what_nothing_beats() -> None:
    rows = [(1.0, 5.0), (2.0, 1.0), (2.0, 2.0), (3.0, 0.5), (1.0, 5.0)]
    assert ranking.front(rows) == [True, True, False, True, True]


def test_percentiles_are_those_of_the_ranks() -> None:
    assert ranking.middle_95([float(one) for one in range(1001)]) == (25.0, 975.0)
    assert ranking.middle_95([1.0, math.nan]) is None
    assert ranking.middle_95([*(float(one) for one in range(1001)), *[math.nan] * 100]) == (25.0, 975.0)
    assert ranking.middle_95([]) is None
