"""Why a decision was made as it was, in sentences."""

from typing import Any

from hierbandits.policies.choice_account import ChoiceAccount
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.types import Name

Told = tuple[tuple[Name, ...], ChoiceAccount]


def why(parts: dict[str, Any], settings: PolicySettings, told: Told | None) -> list[str]:
    """Sentences about a decision; those about draws and scores need what a replay has told."""
    arm, group = parts["arm"], parts.get("group", "policy")
    if group == "control":
        return [
            f"This task is in the control group. {_percent(settings.control_share)} of all tasks "
            "always are, and so are tasks that a rollout has not reached, or was rolled back from. "
            f"They get the arm “{arm}”, whatever the policy believes.",
            "Nothing was drawn for it. The table shows what the policy believed of this arm.",
        ]
    if group == "sticky":
        return [
            f"This task keeps the arm that it had first, “{arm}”. The policy chose nothing anew."
        ]
    if group == "shadow":
        words = [
            f"The policy runs in shadow mode: you played “{arm}”, and it would have played "
            f"“{parts.get('would')}”."
        ]
        return words + (_of_rule(parts.get("would"), told) if told else [])
    if group == "previous":
        return [
            f"A candidate is being ramped, and has not reached this task: version "
            f"{parts['policy_version']} decided, the one before it.",
            *why(parts | {"group": "policy"}, settings, told),
        ]
    if told is None:
        return []
    by = told[1].by
    if by == "best":
        return [f"The request asked for the best arm, without exploring. {_highest(arm)}"]
    if by == "floor":
        return [
            f"This is one of the decisions that are made at random, so that every arm stays in the "
            f"log: each of the {len(told[0])} arms had the same chance, and the lot fell on "
            f"“{arm}”.",
            "What the policy believed had no say.",
        ]
    if by == "forced":
        return [
            f"The task is new. It plays each of its spanning arms once before the policy may "
            f"choose, and it was the turn of “{arm}”."
        ]
    return _of_rule(arm, told)


def why_by_row(parts: dict[str, Any], settings: PolicySettings) -> list[str]:
    """Sentences about a decision of which no more is known than its row tells."""
    arm, words = parts["arm"], why(parts, settings, None)
    if not words and parts["best"]:
        words = [f"The request asked for the best arm, without exploring. {_highest(arm)}"]
    elif not words:
        number, chance = len(parts["offered"]), parts["propensity"]
        among = "the only arm" if number == 1 else f"one of {number} arms"
        how = "" if chance is None else f" Its chance was {_percent(chance)}."
        words = [f"The policy chose “{arm}”, {among} that it could play.{how}"]
    if parts.get("expected") is not None:
        words.append(
            f"It expected a mean reward of {parts['expected']:.3g} of it, known to within "
            f"{parts['expected_std']:.2g} (a standard deviation){_of_gap(parts['gap'])}."
        )
    return [
        *words,
        "Workers that share a policy keep this much of a decision. They do not keep what they "
        "drew, nor what they believed of the other arms: so it cannot be made once more.",
    ]


def _of_gap(gap: float | None) -> str:
    if gap is None:
        return ""
    return f", and {gap:.2g} more of another arm" if gap > 0 else ", and no more of any other"


def _of_rule(arm: Any, told: Told) -> list[str]:
    names, account = told
    place = names.index(arm)
    if account.how == "draws":
        assert account.draws is not None
        assert account.played_draw is not None
        number, share = len(account.draws), account.scores["best in draws"][place]
        return [
            f"The policy drew {_times(number)} what the arms may be worth for this task, given all "
            f"rewards so far. It played by draw {account.played_draw + 1}, in which “{arm}” was "
            "worth most.",
            f"In {_percent(share)} of the draws “{arm}” was the best arm.",
        ]
    if account.how == "mixture":
        share = account.scores["share"]
        mixed = [i for i in range(len(names)) if share[i] > 0]
        if len(mixed) == 1:
            assert account.draws is not None
            if (account.draws.argmax(axis=1) == place).all():
                return [
                    f"The policy drew {_times(len(account.draws))} what the arms may be worth for "
                    f"this task. In every draw “{arm}” was worth most, so there was nothing to "
                    "learn from another one."
                ]
            return [
                "The policy weighed what each arm is expected to lose against what it would "
                f"teach. “{arm}” alone has the best balance."
            ]
        odds = " and ".join(f"“{names[i]}” with {_percent(share[i])}" for i in mixed)
        return [
            "The policy weighed what each arm is expected to lose against what it would teach, "
            f"and mixed the two arms that teach most for their price: {odds}.",
            f"The lot fell on “{arm}”.",
        ]
    if account.how == "bounds":
        return [
            f"“{arm}” has the highest bound: what it may be worth if things go well for it. Arms "
            "that are known less well have wider bounds."
        ]
    if account.how == "means":
        return [_highest(arm)]
    return ["A rule of your own chose this arm."]


def _highest(arm: Any) -> str:
    return f"“{arm}” has the highest expected reward for this task, or shares it with others."


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _percent(share: float) -> str:
    return f"{100 * float(share):.3g} %"
