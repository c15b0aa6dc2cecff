"""Judges a candidate by a policy's log, in a process of its own: the service goes on meanwhile.

python -m hierbandits.service.evaluation_process < ORDER

It ends when its standard input does: whoever has started it is gone then.
"""

import os
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from hierbandits.agent import Agent
from hierbandits.evaluation import evaluate
from hierbandits.evaluation.targets import Variant
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.policies.recipes import USUAL
from hierbandits.service.api_problem import Problem
from hierbandits.service.data_place import DataPlace
from hierbandits.service.evaluation_reply import (
    BEST_ARM,
    CANDIDATE,
    Answer,
    Findings,
    findings,
)
from hierbandits.service.judged_log import JudgedLog, log_of_one, log_of_workers
from hierbandits.service.log_export import OFFERED, LoggedDecision, LogRows, Names, write_rows
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.wire import ProblemPart

LEAST_ROWS = 20
"""With fewer rows there is nothing to tell."""

_MANY = 0.2  # the share of decisions without a reward that is worth a warning


_SEEN = (
    "The candidate's prior was learned from a log. If rows of this policy were in it, they have "
    "been seen by what they judge, which flatters it a little."
)


class Order(msgspec.Struct):
    """What is to be judged: `settings` by the log of a policy in a data folder."""

    folder: str
    policy: str
    settings: PolicySettings
    confidence: float
    scratch: str
    """A folder for files that are deleted at the end."""
    shared: bool = False
    """Whether it is a policy that workers of the process's store share."""


def main() -> None:
    """Take an order from the standard input, and write findings, or a problem, as JSON."""
    os.nice(10)
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=Order)
    threading.Thread(target=_end_with_the_service, args=(order.scratch,), daemon=True).start()
    try:
        answer = Answer(judged(order))
    except Problem as problem:
        answer = Answer(None, ProblemPart(**problem.to_dict()))
    sys.stdout.buffer.write(msgspec.json.encode(answer))
    sys.stdout.flush()


def _end_with_the_service(scratch: str) -> None:
    """End this process as soon as nobody can give it orders any more."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(1)


def judged(order: Order) -> Findings:
    """What the log that is stored by now tells of the order's settings."""
    place = DataPlace.of_process(Path(order.folder))
    try:
        with (log_of_workers if order.shared else log_of_one)(place, order.policy) as log:
            return _judged(order, log)
    except ValueError as error:
        raise _refused("does_not_fit", f"the log cannot judge this: {error}") from error


def _judged(order: Order, log: JudgedLog) -> Findings:
    settings = order.settings
    agent = _agent_of(settings, log)
    features: Any = settings.arms if isinstance(settings.arms, dict) else None
    if settings.encoder is not None or (features is None and not agent.prior.is_armed):
        raise _refused(
            "no_features",
            "arms must be names, or have their features in the settings, so that a log can tell "
            "what other arms would have earned; here each call brings its own",
        )
    names = Names()
    arms = [names.text(arm) for arm in agent.arms or ()]
    rows, path = _Rows(log.decisions, set(arms)), Path(order.scratch) / "log.parquet"
    number = write_rows(iter(rows), path)
    rows.check(number)
    prior = _stated(agent, settings, arms)
    rule = f"frozen:{settings.rule or USUAL}"
    evaluation = evaluate(
        path,
        {CANDIDATE: Variant(rule, settings.floor or 0.0, prior), BEST_ARM: BEST_ARM},
        ["dm", "dr"],
        task="task", arm="arm", reward="reward", propensity="propensity", time="time",
        eligible="eligible" if rows.are_barred else None,
        arms=arms or None, arm_features=features,
        rewards=getattr(agent.prior, "rewards", None),  # their family, if they are not Gaussian
        confidence=order.confidence, progress=False,
    )  # fmt: skip
    warnings = rows.warnings()
    if prior is not None and prior.learned_from is not None:
        warnings.append(_SEEN)
    until = rows.decisions if log.until is None else log.until
    return findings(evaluation, number, until, warnings)


def _refused(code: str, detail: str) -> Problem:
    return Problem(409, code, detail)


def _agent_of(settings: PolicySettings, log: JudgedLog) -> Agent:
    """The candidate before any reward, with the arms that the policy has been given since."""
    agent = settings.make_agent(lambda event: None, seed=0)
    if settings.arms is None or isinstance(settings.arms, list):
        for change in log.added_arms:
            change.happen(agent)
    return agent


def _stated(agent: Agent, settings: PolicySettings, arms: list[str]) -> Any:
    """The candidate's prior; None if it is to be fitted."""
    prior: Model = agent.prior
    if settings.prior is None or isinstance(prior, UnknownWidths | UnknownFamilyWidths):
        return None
    if prior.is_armed and isinstance(prior, GaussianHierarchy):
        return prior.with_arms(arms)
    if prior.is_armed and isinstance(prior, GeneralizedHierarchy):
        return GeneralizedHierarchy(prior.hierarchy.with_arms(arms), prior.rewards)
    return prior


class _Rows:
    """The rows that can judge: rewarded, and chosen by the policy at random."""

    def __init__(self, found: Iterable[LoggedDecision], arms: set[str]) -> None:
        self._found, self._arms = found, arms
        self.decisions = self._waiting = self._unexplored = 0
        self.are_barred = False  # whether some could not play all arms

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        rows = LogRows()
        for one in self._found:
            self.decisions += 1
            if one.reward is None:
                self._waiting += 1
            elif one.best or one.group != "policy" or one.parts["propensity"] is None:
                self._unexplored += 1
            else:
                row = rows.row(one)
                self.are_barred = self.are_barred or set(row[OFFERED]) != self._arms
                yield row

    def check(self, number: int) -> None:
        """Raise a Problem if they are too few."""
        if number < LEAST_ROWS:
            raise _refused(
                "too_few_rows",
                f"at least {LEAST_ROWS} rewarded decisions with propensities must be in the log, "
                f"got {number} of {self.decisions:,} decisions: {self._waiting:,} have no reward, "
                f"{self._unexplored:,} were not chosen by chance",
            )

    def warnings(self) -> list[str]:
        """What the log itself makes doubtful."""
        told = []
        if self._waiting > _MANY * self.decisions:
            told.append(
                f"{self._waiting:,} of {self.decisions:,} decisions have no reward and are left "
                "out. If no reward means that nothing was earned, set reward_wait and "
                "default_reward: else the rows that are left flatter all policies."
            )
        if self._unexplored:
            told.append(
                f"{self._unexplored:,} decisions that chance did not make are left out: those of "
                "control, sticky and shadow tasks, without exploring, or without propensities."
            )
        return told


if __name__ == "__main__":
    main()
