"""The policies that can be evaluated, by name or as objects, and of which kind they are."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from hierbandits.evaluation.frozen_policies import BestArm, FunctionPolicy, OneArm
from hierbandits.evaluation.pessimistic_policy import PessimisticPolicy
from hierbandits.evaluation.regret_bounds import RegretBounds
from hierbandits.evaluation.reward_model import Stated
from hierbandits.evaluation.training import Trained, Training, checked_prior
from hierbandits.keyed_random import Stream
from hierbandits.logs import Survey
from hierbandits.models.variants import as_given
from hierbandits.policies.frozen_rules import Frozen, evenly
from hierbandits.policies.greedy_rule import greedy
from hierbandits.policies.recipes import POLICIES, Recipe
from hierbandits.policies.rule import frozen_of
from hierbandits.types import Indices, Mask, Matrix

FROZEN_METHODS = ("ips", "snips", "dm", "dr")
LEARNING_METHODS = ("replay",)
METHODS = FROZEN_METHODS + LEARNING_METHODS
"""The ways to estimate what a policy would have earned: see docs/evaluation.md."""

BEST_ARM = "best arm"
"""The name of the policy that always plays the best single arm."""

Function: TypeAlias = Callable[..., Any]
"""Of a task and its eligible arms, and of the context where rows have one: probabilities."""


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A frozen policy by its name, with a prior of its own, or with decisions made by chance.

    The reward model and the other policies keep the prior of the evaluation.
    """

    policy: str
    floor: float = 0.0  # the share of decisions that are made uniformly at random
    prior: Stated | None = None


Policies: TypeAlias = str | Iterable[str] | Mapping[str, str | Recipe | Function | Variant]


@dataclass(frozen=True, slots=True, eq=False)
class FrozenTarget:
    """A policy that does not learn from the evaluated rows."""

    name: str
    is_trained: bool  # from other rows of the log
    freeze: Callable[[Survey, Trained | None], Frozen]
    is_hieropo: bool = False
    is_best_arm: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class LearningTarget:
    """A policy that learns from the very rows that it is evaluated on."""

    name: str
    recipe: Recipe


Target: TypeAlias = FrozenTarget | LearningTarget


def targets_of(policies: Policies, *, alpha: float, draws: int, seed: int) -> list[Target]:
    """The policies that a caller names, or gives under other names."""
    if isinstance(policies, str):
        policies = [policies]
    if isinstance(policies, Mapping):
        named = list(policies.items())
    else:
        named = [(str(name), name) for name in policies]
    if not named:
        raise ValueError("policies must hold at least one policy, got none")
    names = [name for name, _ in named]
    if len(set(names)) < len(names) or "logged" in names:
        raise ValueError(f"policies must have distinct names other than 'logged', got {names!r}")
    return [_target(name, given, alpha, draws, seed) for name, given in named]


def _target(name: str, given: Any, alpha: float, draws: int, seed: int) -> Target:
    if isinstance(given, Recipe):
        return _learning(name, given)
    if isinstance(given, str):
        return _named(name, given, alpha, draws, seed)
    if isinstance(given, Variant):
        return _varied(_named(name, given.policy, alpha, draws, seed), given)
    if callable(given):
        return FrozenTarget(name, False, lambda survey, _: _function(survey, name, given))
    raise ValueError(
        f"policies must be names, recipes, or functions of a task and its arms, got {given!r:.80}"
    )


def _function(survey: Survey, name: str, given: Function) -> Frozen:
    if isinstance(given, PessimisticPolicy) and given.log.source is survey.log.source:
        raise ValueError(
            f"policy {name!r} was learned from these very rows, which would flatter it: "
            "evaluate 'HierOPO', which is learned from other rows than it is judged by"
        )
    return FunctionPolicy(survey, name, given)


def _named(name: str, given: str, alpha: float, draws: int, seed: int) -> Target:
    if given == "uniform":
        return FrozenTarget(name, False, lambda survey, _: evenly)
    if given == "greedy":
        return _after_training(name, Recipe(as_given, greedy, name), draws, seed)
    if given == "HierOPO":
        return FrozenTarget(name, True, lambda _, t: _hieropo(t, alpha), is_hieropo=True)
    if given == BEST_ARM:
        return FrozenTarget(name, True, _best_arm, is_best_arm=True)
    if given.startswith("arm:"):
        arm = given.removeprefix("arm:")
        return FrozenTarget(name, False, lambda survey, _: OneArm(survey, _arm_number(survey, arm)))
    if given.startswith("frozen:"):
        recipe = _frozen_recipe(name, given.removeprefix("frozen:"))
        return _after_training(name, recipe, draws, seed)
    if given in POLICIES:
        return _learning(name, POLICIES[given])
    raise ValueError(f"policy must be one of {known_policies()}, got {given!r}")


def _varied(target: Target, variant: Variant) -> FrozenTarget:
    floor, prior = variant.floor, variant.prior
    if not 0 <= floor <= 1:
        raise ValueError(f"floor must be in [0, 1], got {floor!r:.80}")
    if isinstance(target, LearningTarget):
        raise ValueError(f"policy {target.name!r} must be frozen to be varied")

    def freeze(survey: Survey, training: Trained | None) -> Frozen:
        if prior is not None and isinstance(training, Training):
            own = checked_prior(prior, survey, training.table)
            assert own is not None
            training = replace(training, prior=own)
        frozen = target.freeze(survey, training)

        def mixed(tasks: Indices, eligible: Mask, /) -> Matrix:
            shares: Matrix = (1 - floor) * frozen(tasks, eligible) + floor * evenly(tasks, eligible)
            return shares

        return mixed

    return FrozenTarget(target.name, target.is_trained, freeze)


def _hieropo(training: Trained | None, alpha: float) -> Frozen:
    assert training is not None
    return RegretBounds.of(training.model(), alpha)


def _best_arm(survey: Survey, training: Trained | None) -> Frozen:
    assert training is not None
    return BestArm.of(training)


def known_policies() -> str:
    """The policies that have names, as text for messages."""
    learning = [name for name, recipe in POLICIES.items() if not recipe.knows_truth]
    return (
        f"{BEST_ARM}, HierOPO, greedy, uniform, arm:NAME, {', '.join(learning)}, "
        "or frozen: and one of those"
    )


def _learning(name: str, recipe: Recipe) -> LearningTarget:
    if recipe.knows_truth:
        raise ValueError(f"policy {name!r} must be told the truth, which a log does not know")
    return LearningTarget(name, recipe)


def _frozen_recipe(name: str, recipe_name: str) -> Recipe:
    """The recipe of a learning policy that can be evaluated as it stands after training."""
    if recipe_name not in POLICIES:
        raise ValueError(
            f"policy frozen:NAME must name one of {', '.join(POLICIES)}, got {recipe_name!r}"
        )
    recipe = _learning(name, POLICIES[recipe_name]).recipe
    if recipe.forced:
        raise ValueError(f"policy {recipe_name!r} must choose by its belief alone to be frozen")
    return recipe


def _after_training(name: str, recipe: Recipe, draws: int, seed: int) -> FrozenTarget:
    """A policy as it stands after the training rows."""
    frozen = frozen_of(recipe.rule)

    def freeze(survey: Survey, training: Trained | None) -> Frozen:
        assert training is not None
        stream = Stream(seed, f"frozen {training.group}")
        return frozen(training.arm_posteriors(recipe), draws, stream)

    return FrozenTarget(name, True, freeze)


def _arm_number(survey: Survey, name: str) -> int:
    """The number of an arm; an arm that is an integer may be given as text."""
    for place, arm in enumerate(survey.arms):
        if str(arm) == name:
            return place
    some = ", ".join(str(arm) for arm in survey.arms[:10])
    raise ValueError(f"arm:NAME must name an arm of the log ({some}), got {name!r}")


def plan(targets: list[Target], methods: Iterable[str] | None) -> dict[str, tuple[str, ...]]:
    """The methods by which each policy is evaluated; None asks for all.

    A method that does not fit any policy is refused, and so is a policy that none fits.
    """
    asked = METHODS if methods is None else tuple(dict.fromkeys(methods))
    for method in asked:
        if method not in METHODS:
            raise ValueError(f"methods must be among {', '.join(METHODS)}, got {method!r}")
    chosen: dict[str, tuple[str, ...]] = {}
    for target in targets:
        learning = isinstance(target, LearningTarget)
        own = LEARNING_METHODS if learning else FROZEN_METHODS
        chosen[target.name] = tuple(method for method in asked if method in own)
        if not chosen[target.name]:
            raise ValueError(_why_not(target, asked))
    for method in asked if methods is not None else ():
        if not any(method in used for used in chosen.values()):
            kind = "a learning" if method in LEARNING_METHODS else "a frozen"
            raise ValueError(f"method {method!r} needs {kind} policy, got none among {[*chosen]!r}")
    return chosen


def _why_not(target: Target, asked: tuple[str, ...]) -> str:
    given = ", ".join(asked)
    if isinstance(target, LearningTarget):
        return (
            f"policy {target.name!r} learns as it goes, so its choices have no fixed probabilities "
            f"for {given} to weigh: evaluate it by replay, or as it stands after training, as "
            f"'frozen:{target.name}'"
        )
    return (
        f"policy {target.name!r} is frozen, and replay would throw away most rows for nothing: "
        f"evaluate it by {', '.join(FROZEN_METHODS)}"
    )


def possible_methods(
    survey: Survey, targets: list[Target], methods: Iterable[str] | None
) -> dict[str, tuple[str, ...]]:
    """The methods of each policy that this log allows: without propensities, dm alone."""
    methods = None if methods is None else tuple(methods)
    if methods == ():
        raise ValueError("methods must hold at least one method, got none")
    chosen = plan(targets, methods)
    if survey.has_propensities:
        return chosen
    need = (
        "propensities: name their column, or say uniform if every eligible arm was equally likely"
    )
    for target in targets:
        used = chosen[target.name]
        if "replay" in used:
            raise ValueError(f"replay of policy {target.name!r} needs {need}")
        if methods is None:
            chosen[target.name] = ("dm",)
        elif used != ("dm",):
            first = next(method for method in used if method != "dm")
            raise ValueError(f"method {first!r} needs {need}")
    return chosen
