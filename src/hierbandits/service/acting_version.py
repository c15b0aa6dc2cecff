"""A version of a policy that decides: what it is told to be, and its agent."""

from collections.abc import Callable, Sequence
from typing import Any

from hierbandits.agent import Agent
from hierbandits.agent.decision import Decision, task_name
from hierbandits.agent.journal import Event
from hierbandits.service.decision_plan import Plan
from hierbandits.service.expected_rewards import Expected, ExpectedRewards
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.stored_event import agent_events
from hierbandits.service.wire import DecisionRequest
from hierbandits.types import Name


class ActingVersion:
    """Decides, and sees every event, also those that another version brought about.

    Its agent writes its own events to `written`, before they happen.
    """

    def __init__(
        self, number: int, settings: PolicySettings, agent: Agent, written: list[Event]
    ) -> None:
        self.number, self.settings, self.agent, self.written = number, settings, agent, written
        self._expected = ExpectedRewards(agent, settings)

    def attempt(self, call: Callable[[], Any]) -> Any:
        """What the agent answers; a call that it refuses has written nothing."""
        try:
            return call()
        except BaseException:
            self.written.clear()
            raise

    def follow(self, number: int, data: bytes) -> None:
        """Let an event happen that another version wrote."""
        self.agent.catch_up(agent_events([(number, data)], self.agent.position[0]))

    def check_rewards(self, values: Sequence[float]) -> None:
        """Raise a ValueError if such rewards cannot be learned."""
        self.agent.belief.check_rewards("value", values)

    def check_arm(self, name: Name, widths: dict[str, float | None]) -> None:
        """Raise a ValueError if such an arm cannot be added."""
        names = ("hyper_mean", "hyper_std", "task_std")
        self.agent.prior.with_arm(name, *(widths.get(one) for one in names))

    def decide(
        self, requests: Sequence[DecisionRequest], plan: Plan, ids: Sequence[str]
    ) -> tuple[list[Decision], list[Expected]]:
        """Decisions of one round by a plan, and what is expected of each; the event is written."""
        first, settings = requests[0], self.settings
        tasks = [task_name(request.task) for request in requests]
        contexts = None if first.context is None else [one.context or {} for one in requests]
        arms = None if all(one is None for one in plan.arms) else plan.arms
        odds: list[list[float]] | None = None if settings.ratio_check == "none" else []
        decisions = self.attempt(
            lambda: self.agent.decide_many(
                tasks, arms, ids=ids, best=first.best, context=contexts, odds=odds
            )
        )
        expected = [Expected()] * len(decisions)
        try:
            if settings.draws:
                expected = self._expected.of(decisions, plan.arms, contexts)
        except Exception as error:  # no refusal: the agent has decided
            raise RuntimeError(f"the gaps of {len(decisions)} decisions are not known") from error
        (event,) = self.written
        for place, parts in enumerate(event["decisions"]):
            expected[place].put_in(parts)
            if plan.groups[place] != "policy":
                parts |= {"group": plan.groups[place]}
            if plan.would[place] is not None:
                parts |= {"would": plan.would[place]}
            if odds and len(odds[place]) > 1:
                parts["odds"] = odds[place]
        return decisions, expected
