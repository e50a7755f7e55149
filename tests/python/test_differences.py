"""Differences of two settings: run by run, for every figure."""

from __future__ import annotations

import math
from typing import Any

import pytest

from floatgate.results import metrics
from floatgate.study.differences import between

FIGURES = [tuple(metric.key.split(".")) for metric in metrics.compared()]
T_95 = {1: 12.706, 2: 4.303, 3: 3.182}
"""Student's t for 95 % two-sided, by degrees of freedom."""
NOISE = {3: 40.0, 4: -25.0, 5: 10.0, 6: 0.0}
"""What a seed does to both settings: much more than what they differ by."""
EFFECT = {3: 1.0, 4: 1.5, 5: 0.75, 6: 1.25}


def result(figures: dict[tuple[str, ...], float | None]) -> dict[str, Any]:
    made: dict[str, Any] = {"evidence": {"enough": True}}
    for keys, value in figures.items():
        table = made
        for key in keys[:-1]:
            table = table.setdefault(key, {})
        table[keys[-1]] = value
    return made


def seeded(effect: float) -> dict[int | None, dict[str, Any]]:
    """A setting's results: each figure has a level and a scale of its own, and the noise of the seed."""
    return {
        seed: result(
            {keys: 100.0 * (n + 1) + noise + effect * (n + 1) * EFFECT[seed] for n, keys in enumerate(FIGURES)}
        )
        for seed, noise in NOISE.items()
    }


def student(deltas: list[float]) -> tuple[float, list[float]]:
    mean = math.fsum(deltas) / len(deltas)
    sd = math.sqrt(math.fsum((delta - mean) ** 2 for delta in deltas) / (len(deltas) - 1))
    half = T_95[len(deltas) - 1] * sd / math.sqrt(len(deltas))
    return mean, [mean - half, mean + half]


def test_differences_of_all_figures_are_paired_by_seed() -> None:
    # In another order, and each with a seed that the other has not.
    ours, theirs = seeded(1.0), dict(reversed(seeded(0.0).items()))
    ours[7] = result(dict.fromkeys(FIGURES, 1e6))
    theirs[8] = result(dict.fromkeys(FIGURES, 1e-6))
    entry = between(ours, theirs)
    assert entry is not None
    assert entry["pairs"] == 4
    assert list(entry["figures"]) == [".".join(keys) for keys in FIGURES]
    for n, keys in enumerate(FIGURES):
        mean, interval = student([(n + 1) * effect for effect in EFFECT.values()])
        figure = entry["figures"][".".join(keys)]
        assert figure["difference"] == pytest.approx(mean), keys
        assert figure["difference_95"] == pytest.approx(interval), keys
        # Unpaired, the noise of the seeds would make it some ten times as wide.
        assert figure["difference_95"][1] - figure["difference_95"][0] < 2 * mean, keys
    assert entry["waf_bytes"] == pytest.approx(entry["figures"]["waf_bytes"]["difference"])
    assert entry["waf_95"] == pytest.approx(entry["figures"]["waf"]["difference_95"])


def test_a_seed_whose_figure_is_unknown_in_one_setting_makes_no_pair() -> None:
    ours, theirs = seeded(1.0), seeded(0.0)
    ours[4]["wear"]["erases_std"] = None
    theirs[6]["latency_us"]["read"]["p99"] = None
    entry = between(ours, theirs)
    assert entry is not None
    for keys, lacking in ((("wear", "erases_std"), 4), (("latency_us", "read", "p99"), 6)):
        n = FIGURES.index(keys)
        mean, interval = student([(n + 1) * effect for seed, effect in EFFECT.items() if seed != lacking])
        figure = entry["figures"][".".join(keys)]
        assert (figure["difference"], figure["difference_95"]) == (pytest.approx(mean), pytest.approx(interval))
