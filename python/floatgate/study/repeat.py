"""The same experiment with several seeds."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from floatgate.base import units
from floatgate.base.parallel import must_be_few
from floatgate.report.sections import amplification, lifetime_headline
from floatgate.report.summary import lines
from floatgate.results.result_view import look
from floatgate.results.seed_stats import SEED_ACTS_ON, SEED_CHANGES_NOTHING, WIDER, Mean, seed_matters, spreads
from floatgate.run.experiment import Experiment
from floatgate.run.run import check
from floatgate.study.compare import Comparison, Setting, whole_runs
from floatgate.study.runs.plan import RunPlan, plan_runs
from floatgate.study.runs.points import Axis, Points

SCHEMA = "floatgate.repeat/1"


class Repetition(Comparison):
    """The results of several seeds, with means over the seeds."""

    file_name = "repeat.json"

    @property
    def seedless(self) -> bool:
        """Return whether all seeds have the same result."""
        return len(self.runs) > 1 and not seed_matters([run.result.to_dict() for run in self.runs])

    def over_seeds(self, *keys: str) -> dict[str, Any] | None:
        """Mean of a figure over the seeds.

        Args:
            keys: where the figure stands in the result: ``"lifetime", "years"``.

        Returns:
            ``mean``, ``sd`` and ``mean_95`` (Student's interval of the mean; both None for a single run), or None
            where no run knows the figure. Write amplification also has ``mean_95_from``, ``seeds_95`` (Student's) and
            ``batches_95`` (from batches of the runs): ``mean_95`` is the wider one. Where the seed changes nothing,
            ``mean_95`` is the interval that the run itself knows, or None.
        """
        values = [value for run in self.runs if (value := look(run.result, *keys)) is not None]
        if not values:
            return None
        if self.seedless:
            *group, name = keys
            return {"mean": values[0], "sd": 0.0, "mean_95": look(self.runs[0].result, *group, f"{name}_95")}
        stats = Mean.of(values)
        entry = {"mean": stats.mean, "sd": stats.sd, "mean_95": list(stats.interval) if stats.interval else None}
        spread = spreads([run.result.to_dict() for run in self.runs]).get(".".join(keys)) if len(values) > 1 else None
        return entry if spread is None else entry | spread.to_dict()

    def _over_seeds(self, key: str) -> dict[str, Any] | None:
        return self.over_seeds(*key.split("."))

    def text(self) -> str:
        """Format drive and workload, one row per seed, and the means."""
        head = [line for line in lines(self.runs[0]) if line[0] in ("drive", "workload")] if self.runs else []
        rows = [f"{name:<10} {value}" for name, value in head]
        rows += ["", super().text(), ""]
        waf, life = self._over_seeds(amplification.IN_BYTES), self._over_seeds(lifetime_headline.YEARS)
        short = next(filter(None, (lifetime_headline.too_short(run.result) for run in self.runs)), None)
        if waf is not None:
            rows.append(f"{'WAF':<10} {self._mean_text(waf)}")
        if short:
            rows.append(f"{'life':<10} no figure yet: {short}")
        elif life is not None:
            rows.append(f"{'life':<10} {units.years(life['mean'])} at this rate, mean of {len(self.runs)} seeds")
        if waf is not None and waf.get("mean_95_from"):
            rows.append(f"{'note':<10} {WIDER}")
        if self.seedless:
            rows.append(f"{'note':<10} {SEED_CHANGES_NOTHING}. {SEED_ACTS_ON}")
        return "\n".join(rows)

    def _mean_text(self, figures: dict[str, Any]) -> str:
        interval: Sequence[float] | None = figures["mean_95"]
        if interval is None:
            return f"{amplification.text(figures['mean'])} (one seed)"
        ends = "-".join(amplification.digits(figures["mean"], list(interval)))
        of = f"95 % of the mean of {len(self.runs)} seeds"
        if figures.get("mean_95_from", "batches") == "batches":
            of = "95 % by batches of the run" if self.seedless else f"{of} by batches of the runs"
        return f"{amplification.text(figures['mean'], list(interval))} ({of}: {ends})"

    def folder_name(self, number: int, setting: Setting, seed: int | None = None) -> str:  # noqa: ARG002
        """Format as ``seed-3``."""
        return f"seed-{setting.overrides[0][1]}"

    def to_dict(self) -> dict[str, Any]:
        """Return the repetition as JSON gives it (schema ``floatgate.repeat/1``)."""
        compared = super().to_dict()
        return {
            "schema": SCHEMA,
            "seeds": [int(setting.overrides[0][1]) for setting in self.settings],
            **{key: self._over_seeds(key) for key in (amplification.IN_PAGES, amplification.IN_BYTES)},
            "lifetime_years": self._over_seeds(lifetime_headline.YEARS),
            "runs": [entry["result"] for entry in compared["settings"]],
            "errors": [entry["error"] for entry in compared["settings"]],
        }


WHOLE = whole_runs("repeat", "run with several seeds")


def plan_seeds(base: Experiment, repeat: int, *, shadow: bool = False, reads_files: bool = False) -> RunPlan:
    """Plan ``repeat`` seeds, counted up from the experiment's own.

    Raises:
        InputError: the experiment is unusable.
    """
    must_be_few(repeat, "--repeat")
    first = int(tomllib.loads(check(base)).get("seed", 1))
    seeds = tuple(str(first + number) for number in range(repeat))
    return plan_runs(base, Points((Axis("seed", seeds),)), shadow=shadow, reads_files=reads_files)
