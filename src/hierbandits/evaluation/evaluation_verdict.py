"""The answer of an evaluation in one sentence, with how certain it is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from hierbandits.evaluation.amounts import number, percent
from hierbandits.evaluation.diagnostics import FEW_OVERALL, Diagnostics
from hierbandits.evaluation.difference import LOGGED, Difference
from hierbandits.reporting.shown_name import shown_name
from hierbandits.types import Name


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the best of the policies earns more than the log, and than the best single arm.

    The best is the one of the highest estimate among those that earn more than the log for sure,
    or among all if none does.  It was picked, so the intervals of a verdict are wide enough to
    hold for all policies at once (Bonferroni).
    """

    sentence: str
    policy: str | None  # the best; None if the rows do not tell
    more_than_log: bool | None  # None: the rows do not tell
    more_than_arm: bool | None  # whether it, or the next best, beats the best single arm
    compared: int  # policies that it was picked from

    def __str__(self) -> str:
        return self.sentence


def verdict(
    differences: Sequence[Difference],
    diagnostics: Mapping[str, Diagnostics],
    best_arm: tuple[str | None, str],
    confidence: float,
) -> Verdict:
    """The verdict on frozen policies, each by the method to be trusted first.

    `differences` holds one difference to the log for each policy, and one to the best single arm.
    `best_arm` is the name of that policy, and how `single_arm` puts it.  Replayed policies are
    judged if there are no others: replay answers another question.
    """
    frozen = [each for each in differences if each.method != "replay"]
    if not frozen:
        return _on_replay(differences, confidence)
    doubted = [name for name, each in diagnostics.items() if each.contradicts_propensities]
    if doubted and all(each.method != "dm" for each in frozen):
        mean = diagnostics[doubted[0]].mean_weight
        return _untold(
            "These rows give no answer, because their propensities contradict themselves: the "
            f"weights of {shown_name(doubted[0])} average {mean:.3f}, and should average 1."
        )
    known = {each.policy: each for each in frozen if each.against == LOGGED and isfinite(each.low)}
    if not known:
        return _untold(
            "These rows do not tell what any of the policies would earn: too few of them show "
            "what the policies would have done."
        )
    if all(each.value == each.error == 0 for each in known.values()):
        return _untold("All of these policies play as the log did, and earn the same.")
    name, words_for_arm = best_arm
    told = for_all(confidence, len(known))
    ends = {policy: each.interval(told) for policy, each in known.items()}
    better = [policy for policy in known if ends[policy][0] > 0]
    best = max(better or known, key=lambda policy: (known[policy].value, policy == name))
    more = True if better else False if all(high < 0 for _, high in ends.values()) else None
    others = [e for e in frozen if e.against == name and e.policy in known]
    if best != name:
        others = [each for each in others if each.policy == best]
    to_arm = max(others, key=lambda each: each.value, default=None)  # of the best, or the next best
    words = _Words(confidence, told, name, words_for_arm)
    over_arm, sentence = words.on(more, known[best], to_arm, diagnostics.get(best))
    return Verdict(sentence, best, more, over_arm, len(known))


def for_all(confidence: float, count: int) -> float:
    """The confidence of each of so many intervals that hold all at once (Bonferroni)."""
    return 1 - (1 - confidence) / max(count, 1)


@dataclass(frozen=True, slots=True)
class _Words:
    """Puts differences into words."""

    confidence: float  # as people asked for it
    told: float  # of one interval, so that all hold at once
    arm_policy: str | None
    arm: str  # that policy in words

    def on(
        self,
        more: bool | None,
        to_log: Difference,
        to_arm: Difference | None,
        diagnosis: Diagnostics | None,
    ) -> tuple[bool | None, str]:
        name = self._named(to_log.policy)
        if more:
            text = f"{name} would earn {self._amount(to_log)} more per decision than the log did"
            text += f" ({self.interval(to_log)})"
        elif more is None:
            text = (
                "Whether any of these policies earns more than the log did cannot be told from "
                f"these rows: the best of them, {_lowered(name)}, would earn "
                f"{self.signed(to_log)} per decision ({self.interval(to_log)})"
            )
        else:
            text = (
                "None of these policies earns as much as the log did: the best of them, "
                f"{_lowered(name)}, would earn {self._amount(to_log)} less per decision "
                f"({self.interval(to_log)})"
            )
        over_arm, beside = self._on_arm(to_arm, to_log.policy)
        text += beside if more else ""
        if diagnosis is not None and diagnosis.effective_rows < FEW_OVERALL:
            text += f"; this rests on {diagnosis.effective_rows:.0f} effective rows and is rough"
        if to_log.method == "dm":
            text = f"If the reward model is right, which nothing here checks: {_lowered(text)}"
        elif diagnosis is not None and diagnosis.unsupported > 0:
            part = f"{percent(diagnosis.unsupported)} of choices that no row speaks for"
            if_so = {
                "ips": f"If the {part} earn nothing",
                "snips": f"If the {part} earn as much as its others",
            }.get(to_log.method, f"If the reward model is right about the {part}")
            text = f"{if_so}: {_lowered(text)}"
        return over_arm, f"{text}."

    def _on_arm(self, to_arm: Difference | None, best: str) -> tuple[bool | None, str]:
        """Whether the policy earns more than the best single arm, and the words for it."""
        if to_arm is None:
            return None, ""
        arm, who = _lowered(self._named(to_arm.against)), "it"
        if best == self.arm_policy:
            arm, who = "that", f"{_lowered(shown_name(to_arm.policy))}, the next best,"
        low, high = to_arm.interval(self.told)
        if low == high == 0:
            return None, f", and {who} plays the same arms"
        if low > 0:
            return True, (f", and {self._amount(to_arm)} more than {arm} ({self.interval(to_arm)})")
        if high < 0:
            return False, f", and {who} {self._amount(to_arm)} less ({self.interval(to_arm)})"
        interval = f" ({self.interval(to_arm)})" if isfinite(low) else ""
        return None, f"; whether {who} earns more than {arm} cannot be told{interval}"

    def _named(self, policy: str) -> str:
        """A policy as a sentence begins with it."""
        if policy != self.arm_policy:
            return shown_name(policy)
        return self.arm[0].upper() + self.arm[1:]

    def interval(self, difference: Difference) -> str:
        low, high = difference.interval(self.told)
        if high < 0:
            low, high = -high, -low
        half, sign = (high - low) / 2, low < 0 < high
        if min(abs(low), abs(high)) < half / 20:  # an end near zero keeps its digits
            half /= 10
        ends = f"{number(low, half, sign=sign)} to {number(high, half, sign=sign)}"
        return f"{100 * self.confidence:g} % interval {ends}"

    def _amount(self, difference: Difference) -> str:
        return number(abs(difference.value), self._half(difference))

    def signed(self, difference: Difference) -> str:
        return f"{self._amount(difference)} {'more' if difference.value >= 0 else 'less'}"

    def _half(self, difference: Difference) -> float:
        return difference.interval(self.told)[1] - difference.value


def single_arm(arms: Sequence[Name], *, barred: bool) -> str:
    """The policy of the best single arm, which may differ between folds, in words.

    `barred` says that rows may bar it.
    """
    counts = Counter(arms).most_common()
    if len(counts) == 1:
        name = repr(shown_name(counts[0][0]))
        return f"playing {name} wherever it is eligible" if barred else f"always playing {name}"
    some = ", ".join(f"{shown_name(arm)!r} in {times}" for arm, times in counts[:3])
    more = ", ..." if len(counts) > 3 else ""
    return f"the best single arm (of {len(arms)} folds, {some}{more})"


def _on_replay(differences: Sequence[Difference], confidence: float) -> Verdict:
    """The verdict on learning policies alone."""
    known = [each for each in differences if isfinite(each.low)]
    if not known:
        return _untold("These rows do not tell what the policies would earn: replay kept too few.")
    best = max(known, key=lambda each: each.value)
    words = _Words(confidence, 1 - (1 - confidence) / len(known), None, "")
    low, high = best.interval(words.told)
    more = True if low > 0 else False if high < 0 else None
    told = f"{words.signed(best)} per decision than the log did"
    text = (
        f"While it learns, over the {best.degrees + 1:,.0f} decisions that replay could check, "
        f"{shown_name(best.policy)} earned {told} ({words.interval(best)})"
    )
    if more is None:
        text += ", so these rows do not tell whether it is better"
    return Verdict(f"{text}.", best.policy, more, None, len(known))


def _untold(sentence: str) -> Verdict:
    return Verdict(sentence, None, None, None, 0)


def _lowered(text: str) -> str:
    """A text as the middle of a sentence has it; names stay as they are."""
    for start in ("Always", "Playing", "The", "Whether", "None"):
        if text.startswith(f"{start} "):
            return text[0].lower() + text[1:]
    return text
