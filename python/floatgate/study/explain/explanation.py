"""One run or forecast explained: the sentences that its figures carry, and the settings that would change it most."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from floatgate.base import units
from floatgate.base.errors import one_line
from floatgate.base.text_table import named
from floatgate.report import lifetime_summary
from floatgate.report.sections import drive, workload
from floatgate.report.sections.forecast import host_writes
from floatgate.report.sections.limits.figures import FIGURES
from floatgate.report.sections.limits.rules import RULES, Rule, filled, names_in
from floatgate.report.sections.limits.settings import ACTS_ON, SETTINGS, Gain, Setting, plain_text
from floatgate.report.sections.limits.waits import Value
from floatgate.study.explain import defaults
from floatgate.study.explain.case import Case

SCHEMA = "floatgate.explain/1"
LEAST = 0.01
"""Share of wear or time from which on an estimated gain is worth a suggestion."""


class Known:
    """The figures of one case, each computed once."""

    def __init__(self, case: Case) -> None:
        """Compute figures when they are first needed."""
        self.case = case
        self.value = cache(self._value)

    def _value(self, name: str) -> Value:
        return FIGURES[name].of(self.case)

    def text(self, name: str) -> str:
        """Return a figure as a sentence shows it."""
        return FIGURES[name].text(self.value(name))

    def all_known(self, names: Sequence[str]) -> bool:
        """Return whether all of these figures are known."""
        return all(self.value(name) is not None for name in names)


@dataclass(frozen=True)
class Sentence:
    """A rule that applies: its text, and the figures that carry it."""

    rule: Rule
    text: str
    figures: Mapping[str, Value]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        return {"rule": self.rule.name, "about": self.rule.about, "text": self.text, "figures": dict(self.figures)}


@dataclass(frozen=True)
class Estimate:
    """What a setting may gain in one respect: a share, or None where no figure says how much."""

    gain: Gain
    share: float | None

    def text(self) -> str:
        """Format as ``acts on 11 % of the wear``."""
        if self.share is None:
            return f"may lower the {self.gain.of}, and no figure says by how much"
        if self.gain.basis == ACTS_ON:
            return f"acts on {units.share(self.share)} of the {self.gain.of}"
        return f"about {units.share(self.share)} less {self.gain.of} {self.gain.basis}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        return {
            "of": self.gain.of,
            "share": self.share,
            "basis": self.gain.basis or None,
            "figure": self.gain.figure or None,
            "measured_by": self.gain.measured,
        }


@dataclass(frozen=True)
class Choice:
    """A value to try, and the defaults that change with it (:mod:`.defaults`)."""

    value: Any
    also: Mapping[str, Any] = field(default_factory=dict)

    def changes(self, key: str) -> dict[str, Any]:
        """Return all settings that it changes."""
        return {key: self.value, **self.also}

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        return {"value": self.value, "also": dict(self.also)}


@dataclass(frozen=True)
class Suggestion:
    """A setting to try.

    Attributes:
        setting: its row.
        now: the present value.
        choices: the values to try.
        estimates: what it may gain.
        why: why it may help.
        rules: names of the rules that suggest it.
        commands: prove it.
    """

    setting: Setting
    now: Any
    choices: tuple[Choice, ...]
    estimates: tuple[Estimate, ...]
    why: str
    rules: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key of the setting."""
        return self.setting.key

    @property
    def rank(self) -> float:
        """The largest share that it may gain; below nought where none is known."""
        return max((one.share for one in self.estimates if one.share is not None), default=-1.0)

    def head(self) -> str:
        """Format as ``ftl.separate.policy = sepbit (now none): acts on 11 % of the wear``."""
        values = " or ".join(plain_text(one.value) for one in self.choices)
        gains = "; ".join(one.text() for one in self.estimates)
        shared = self.choices[0].also if all(one.also == self.choices[0].also for one in self.choices) else {}
        also = f", with {' and '.join(_set(key, value) for key, value in shared.items())}" if shared else ""
        return f"{self.key} = {values} (now {plain_text(self.now)}{also}): {gains}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        return {
            "key": self.key,
            "now": self.now,
            "choices": [one.to_dict() for one in self.choices],
            "estimates": [one.to_dict() for one in self.estimates],
            "why": self.why,
            "rules": list(self.rules),
            "commands": list(self.commands),
        }


@dataclass(frozen=True)
class Dropped:
    """A setting that the core refuses for this experiment, and why."""

    key: str
    value: Any
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        return {"key": self.key, "value": self.value, "why": self.why}


@dataclass(frozen=True)
class Explanation:
    """What limits one run or forecast, and what to try."""

    case: Case
    sentences: Sequence[Sentence]
    suggestions: Sequence[Suggestion]
    dropped: Sequence[Dropped]

    def stated(self) -> list[tuple[str, str]]:
        """Return life, basis and demand of a forecast in the words of ``floatgate lifetime``; nothing of a run."""
        if not self.case.is_forecast:
            return []
        result = dict(self.case.result)
        demand = host_writes.per_day(result)
        return [*lifetime_summary.answer(result), *([] if demand is None else [("per day", demand)])]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it (schema ``floatgate.explain/1``)."""
        return {
            "schema": SCHEMA,
            "folder": str(self.case.folder),
            "kind": self.case.kind,
            "stated": [text for _, text in self.stated()],
            "sentences": [one.to_dict() for one in self.sentences],
            "settings": [one.to_dict() for one in self.suggestions],
            "refused": [one.to_dict() for one in self.dropped],
        }

    def text(self, measured: Sequence[Sequence[str]] = ()) -> str:
        """Return the sentences, then the settings with their commands.

        Args:
            measured: for each setting what its trials measured, one text each; empty where nothing was run.
        """
        lines = [("forecast" if self.case.is_forecast else "run", f"{self.case.folder}: {self._what()}")]
        lines += self.stated()
        lines += [(one.rule.about, one.text) for one in self.sentences]
        for number, one in enumerate(self.suggestions):
            lines += [(f"try {number + 1}", one.head()), ("", one.why), *(("", command) for command in one.commands)]
            if measured:
                lines += [("measured", text) for text in measured[number]]
        if not self.suggestions:
            lines.append(("try", "no setting follows from these figures"))
        return named(lines)

    def _what(self) -> str:
        """Format as ``mlc-20nm 128 GiB, uniform, functional``."""
        result = self.case.result
        size = drive.physical_bytes(result)
        parts = [f"{drive.name(result) or 'drive'}{f' {units.binary_bytes(size)}' if size else ''}"]
        parts += [workload.short_name(result)] + ([] if self.case.is_forecast else [str(result.get("mode"))])
        return ", ".join(parts)


def explain(case: Case, most: int = 3) -> Explanation:
    """Evaluate the rules for a case, and choose settings.

    Args:
        case: the run or forecast.
        most: how many settings to suggest.
    """
    known = Known(case)
    sentences = [one for one in (_sentence(rule, known) for rule in RULES) if one is not None]
    candidates = sorted(_merged(_candidates(sentences, known)), key=_order)
    chosen: list[Suggestion] = []
    dropped: list[Dropped] = []
    for one in candidates:
        if len(chosen) == most:
            break
        accepted = _accepted(one, case, dropped)
        if accepted is not None:
            chosen.append(accepted)
    return Explanation(case, sentences, chosen, dropped)


def _order(one: Suggestion) -> tuple[bool, bool, float]:
    """Return what suggestions are sorted by: a known gain first, this drive before another one, the largest share."""
    return one.rank < 0, one.setting.last, -one.rank


def _sentence(rule: Rule, known: Known) -> Sentence | None:
    """Return the sentence of a rule that applies; None where it does not."""
    if not all(one.holds(known.value(one.figure)) for one in rule.when) or not known.all_known(rule.figures):
        return None
    texts = {name: known.text(name) for name in names_in(rule.sentence)}
    return Sentence(rule, filled(rule.sentence, texts), {name: known.value(name) for name in rule.figures})


def _candidates(sentences: Sequence[Sentence], known: Known) -> Iterator[Suggestion]:
    """Yield what the rules that apply suggest, where its own conditions hold."""
    for sentence in sentences:
        for name in sentence.rule.settings:
            one = _suggestion(SETTINGS[name], sentence.rule, known)
            if one is not None:
                yield one


def _suggestion(setting: Setting, rule: Rule, known: Known) -> Suggestion | None:
    """Return a setting with its estimates; None where it does not apply or would gain too little."""
    case, now = known.case, known.case.setting(setting.key)
    needs = names_in(setting.why)
    if now is None or not all(one.holds(known.value(one.figure)) for one in setting.when) or not known.all_known(needs):
        return None
    choices = tuple(Choice(value, setting.along(case, value)) for value in setting.values(case) if value != now)
    estimates = _estimates(setting, known)
    if not choices or not estimates:
        return None
    texts = {name: known.text(name) for name in needs}
    return Suggestion(setting, now, choices, estimates, filled(setting.why, texts), (rule.name,))


def _estimates(setting: Setting, known: Known) -> tuple[Estimate, ...]:
    """Return the estimates of a setting, the largest first: by that a trial is judged."""
    estimates = [one for one in (_estimate(gain, known) for gain in setting.gains) if one is not None]
    return tuple(sorted(estimates, key=lambda one: -1.0 if one.share is None else one.share, reverse=True))


def _estimate(gain: Gain, known: Known) -> Estimate | None:
    """Return the estimate of a gain; None where its figure is not known, or it is not worth a suggestion.

    Less wear gains nothing where the host has written the rated bytes first.
    """
    if gain.saves_wear and known.value("rated_years") is not None:
        return None
    if not gain.figure:
        return Estimate(gain, None)
    value, scale = known.value(gain.figure), known.value(gain.scale)
    if not isinstance(value, float) or not isinstance(scale, float) or value * scale * gain.part < LEAST:
        return None
    return Estimate(gain, value * scale * gain.part)


def _merged(candidates: Iterator[Suggestion]) -> list[Suggestion]:
    """Return one suggestion for each key: that with the largest gain, with the gains of its like from other rules."""
    best: dict[str, Suggestion] = {}
    for one in candidates:
        other = best.get(one.key)
        if other is None:
            best[one.key] = one
        elif other.choices != one.choices:
            best[one.key] = max(other, one, key=lambda each: each.rank)
        else:
            lead, more = (one, other) if one.rank > other.rank else (other, one)
            kinds = {each.gain.of for each in lead.estimates}
            added = [each for each in more.estimates if each.gain.of not in kinds]
            rules = tuple(dict.fromkeys((*other.rules, *one.rules)))
            best[one.key] = replace(lead, estimates=(*lead.estimates, *added), rules=rules)
    return list(best.values())


def _accepted(one: Suggestion, case: Case, dropped: list[Dropped]) -> Suggestion | None:
    """Return a suggestion with the values that the core takes for this experiment; None without any."""
    choices = []
    for choice in one.choices:
        also = defaults.accepted(case, choice.changes(one.key))
        if isinstance(also, str):
            dropped.append(Dropped(one.key, choice.value, one_line(also)))
        else:
            choices.append(Choice(choice.value, {**choice.also, **also}))
    if not choices:
        return None
    done = replace(one, choices=tuple(choices))
    return replace(done, commands=tuple(_commands(done, case)))


def _commands(one: Suggestion, case: Case) -> Iterator[str]:
    """Yield the commands that prove a suggestion, as a user pastes them.

    A comparison has the experiment as it was beside the values; one that changes further settings is a run of its own.
    """
    file = str(case.file)
    alone = [] if case.is_forecast else [plain_text(each.value) for each in one.choices if not each.also]
    if alone:
        varied = f"{one.key}={','.join([plain_text(one.now), *alone])}"
        yield shlex.join(["floatgate", "compare", file, "--vary", varied])
    for each in one.choices:
        if case.is_forecast or each.also:
            sets = [part for key, value in each.changes(one.key).items() for part in ("--set", _set(key, value))]
            yield shlex.join(["floatgate", "lifetime" if case.is_forecast else "run", file, *sets])


def _set(key: str, value: Any) -> str:
    return f"{key}={plain_text(value)}"
