"""A decision made once more, from the ledger: which arm, and why this one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from math import isclose
from time import monotonic
from typing import Any

from hierbandits.agent import Agent
from hierbandits.agent.decision import task_name
from hierbandits.policies.choice_account import ChoiceAccount
from hierbandits.service.choice_words import Told, why
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.snapshots import Snapshots
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.stored_event import agent_events, decoded
from hierbandits.service.wire import DecisionRequest
from hierbandits.types import Name

MOST_SECONDS = 20.0
"""How long a replay may take, unless it is given longer."""

MOST_ARMS, MOST_DRAWS = 30, 100
"""What is shown of a decision: the arms that came nearest, and the first draws."""

CONFIDENCE = 0.95


class CannotReplay(RuntimeError):
    """A sentence that says why a decision cannot be made once more."""


@dataclass(slots=True)
class DecisionReplay:
    """Finds the state of a policy before a decision, and lets it decide again."""

    record: PolicyRecord
    storage: Storage
    snapshots: Snapshots
    most_seconds: float = MOST_SECONDS

    def of(
        self, number: int, place: int, asked: list[DecisionRequest] | None = None
    ) -> dict[str, Any]:
        """The decision at a place, and its account.

        `asked` are the requests of its round, which the ledger does not have: what they brought
        is known of the latest rounds only.
        """
        data = self.storage.event(self.record.id, number)
        event = {} if data is None else decoded(data)
        decisions = event.get("decisions", ())
        parts = decisions[place] if place < len(decisions) else None
        if parts is None:
            raise CannotReplay("There is no such decision, or its task was deleted.")
        versions = {one.number: one for one in self.storage.versions(self.record.id)}
        settings = PolicySettings.from_json(versions[event["policy_version"]].settings)
        shown = parts | {"policy_version": event["policy_version"], "best": event["best"]}
        try:
            account, replayed = self._account(number, place, event, settings, asked)
        except CannotReplay as reason:
            words = why(shown, settings, None)
            return {"decision": shown, "why": words, "arms": [], "problem": str(reason)}
        return {
            "decision": shown,
            "why": why(shown, settings, account),
            "confidence": CONFIDENCE,
            "events_replayed": replayed,
            **_shown(*account, parts.get("would", parts["arm"])),
        }

    def _account(
        self,
        number: int,
        place: int,
        event: dict[str, Any],
        settings: PolicySettings,
        asked: list[DecisionRequest] | None,
    ) -> tuple[Told, int]:
        """What was known of the arms and what the rule made of it; how many events that took.

        A snapshot may be of an earlier release, which went on from it otherwise than the ledger
        tells.  So there may be several pasts: the one that chooses as the policy did is right.
        """
        if "luck" not in event:
            raise CannotReplay(
                "An earlier release made this decision, and did not keep its random numbers."
            )
        if None in event["decisions"]:
            raise CannotReplay("A task of the same round was deleted, and its share of the draws.")
        until, deadline = number - 1, monotonic() + self.most_seconds
        found = self.snapshots.found(self.record.id, event["policy_version"])
        for seen in [*(seen for seen, _ in found if seen <= until), 0]:
            agent = self._agent_after(seen, until, event, settings, deadline)
            told = None if agent is None else _told_by(agent, event, place, settings, asked)
            if told is not None:
                return told, until - seen
        raise CannotReplay(
            "No replay gives the choice that was made, so none is shown. Either a task was "
            "deleted since, or an earlier release went on from a snapshot that is gone."
        )

    def _agent_after(
        self,
        seen: int,
        until: int,
        event: dict[str, Any],
        settings: PolicySettings,
        deadline: float,
    ) -> Agent | None:
        """The policy before a decision, from its snapshot after event `seen`; 0: the ledger."""
        record, version, storage = self.record, event["policy_version"], self.storage
        agent, clock = None, lambda: float(event["time"])
        if seen:
            agent = self.snapshots.one(record, version, seen, lambda event: None, clock)
            if agent is None:
                return None
        else:
            agent = settings.make_agent(lambda event: None, 0, clock)
        events = takewhile(lambda one: one[0] <= until, storage.events(record.id, seen))
        agent.catch_up(agent_events(_in_time(events, deadline), agent.position[0]))
        return agent


def _in_time(events: Iterable[tuple[int, bytes]], deadline: float) -> Iterator[tuple[int, bytes]]:
    """Events until it is too late."""
    for one in events:
        if monotonic() > deadline:
            raise CannotReplay(
                "It takes too long to go back to this decision from the snapshots of the policy. "
                "The command `hierbandits policy explain` takes as long as it needs."
            )
        yield one


def _told_by(
    agent: Agent,
    event: dict[str, Any],
    place: int,
    settings: PolicySettings,
    asked: list[DecisionRequest] | None,
) -> Told | None:
    """What an agent makes of a round; None unless it chooses in all of it as was chosen."""
    agent.begin_luck(event["luck"])
    decisions, best = event["decisions"], event["best"]
    tasks = [task_name(parts["task"]) for parts in decisions]
    contexts = _contexts(asked, settings)
    if "would" in decisions[place]:
        told = _advice(agent, tasks, decisions, place, asked, contexts)
        return told if _played(told) == decisions[place]["would"] else None
    arms = [_arms(agent, settings, parts, asked, i) for i, parts in enumerate(decisions)]
    for i, parts in enumerate(decisions):
        if "would" in parts:  # their advice came first
            _advice(agent, tasks, decisions, i, asked, contexts, first=i)
    accounts = agent.account_many(tasks, arms, context=contexts, best=best, confidence=CONFIDENCE)
    again = agent.decide_many(
        tasks, arms, ids=[one["id"] for one in decisions], best=best, context=contexts
    )
    for one, parts, account in zip(again, decisions, accounts, strict=True):
        if not one.arm == parts["arm"] == _played(account):
            return None
        if not isclose(one.propensity or 0.0, parts["propensity"] or 0.0, rel_tol=1e-9):
            return None  # the last digits of a belief may depend on when it was read
    return accounts[place]


def _arms(
    agent: Agent,
    settings: PolicySettings,
    parts: dict[str, Any],
    asked: list[DecisionRequest] | None,
    place: int,
) -> Any:
    """The arms that a request could play: by name where they are the policy's own."""
    offered = parts["offered"]
    if agent.prior.is_armed:
        return offered
    if asked is not None:
        given: Any = asked[place].arms
        if isinstance(given, dict):
            return {name: given[name] for name in offered}
        return offered
    if isinstance(settings.arms, dict) and settings.encoder is None:
        own: Any = settings.arms
        if parts["features"] == own.get(parts["arm"]):
            return offered
    raise CannotReplay(
        "The request brought the features of its arms, or a context. The ledger keeps those of "
        "the arm that was played; of the others the service knows its latest rounds only, until "
        "it is stopped."
    )


def _contexts(asked: list[DecisionRequest] | None, settings: PolicySettings) -> list[Any] | None:
    if settings.encoder is None or asked is None or asked[0].context is None:
        return None
    return [request.context or {} for request in asked]


def _advice(
    agent: Agent,
    tasks: list[Any],
    decisions: list[dict[str, Any]],
    place: int,
    asked: list[DecisionRequest] | None,
    contexts: list[Any] | None,
    first: int = 0,
) -> Told:
    """What the policy would have played in shadow mode: each request was advised in turn."""
    for i in range(first, place + 1):
        if "would" not in decisions[i]:
            continue
        given: Any = None if asked is None or asked[i].arms is None else [asked[i].arms]
        if agent.prior.is_armed and len(decisions[i]["offered"]) > 1:  # shown by another policy
            given = [decisions[i]["offered"]]
        context = None if contexts is None else [contexts[i]]
        if given is None and agent.offers is None:
            raise CannotReplay("The request brought its arms, which the ledger does not keep.")
        told = agent.account_many([tasks[i]], given, context=context, confidence=CONFIDENCE)
        agent.advise([tasks[i]], given, context=context)
    return told[0]


def _played(told: Told) -> Name:
    names, account = told
    place: int = account.numbers.tolist().index(account.chosen)
    return names[place]


def _shown(names: tuple[Name, ...], account: ChoiceAccount, played: Name) -> dict[str, Any]:
    """An account as plain data: the arms that came nearest, the played one among them."""
    rank = account.scores.get("value", account.scores.get("bound", account.mean))
    order = sorted(range(len(names)), key=lambda i: (names[i] != played, -float(rank[i])))
    order = sorted(order[:MOST_ARMS], key=lambda i: -float(rank[i]))
    rows = [
        {
            "arm": names[i],
            "mean": float(account.mean[i]),
            "low": float(account.low[i]),
            "high": float(account.high[i]),
            "scores": {name: float(row[i]) for name, row in account.scores.items()},
        }
        for i in order
    ]
    draws = None
    if account.draws is not None:
        draws = account.draws[:MOST_DRAWS, order].tolist()
    return {
        "how": account.how,
        "by": account.by,
        "arms": rows,
        "num_arms": len(names),
        "draws": draws,
        "played_draw": account.played_draw,
        "problem": None,
    }
