"""What a ledger says, read by a program of its own: nothing here is shared with the service."""

import json
from collections import Counter
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Read:
    """A decision in a ledger."""

    task: str
    arm: str
    reward: float | None = None
    is_default: bool = False
    is_given_up: bool = False  # nobody waits for its reward
    learned: int = 0  # how many times a reward of it was learned
    corrected: int = 0
    metrics: dict = field(default_factory=dict)


class LedgerReading:
    """All decisions of a policy, with their rewards; an event that cannot be is an error."""

    def __init__(self, events):
        self.decisions = {}
        self.kinds = Counter()
        self.changes = []  # what and who
        for number, (given, data) in enumerate(events, 1):
            assert given == number
            event = json.loads(data)
            self.kinds[event["kind"]] += 1
            getattr(self, f"_{event['kind']}")(event)

    @property
    def pending(self):
        return [id for id, one in self.decisions.items() if not one.is_given_up and not one.learned]

    def totals(self, tasks, arms):
        """For each task and arm the number and the sum of its rewards."""
        counts = np.zeros((len(tasks), len(arms)))
        sums = np.zeros_like(counts)
        for one in self.decisions.values():
            if one.reward is not None:
                where = tasks.index(one.task), arms.index(one.arm)
                counts[where] += 1
                sums[where] += one.reward
        return counts, sums

    def _decide(self, event):
        for one in event["decisions"]:
            if one is not None:
                assert one["id"] not in self.decisions
                self.decisions[one["id"]] = Read(one["task"], one["arm"])

    def _reward(self, event):
        for id, value in zip(event["ids"], event["values"], strict=True):
            one = self.decisions[id]
            assert not one.is_given_up
            self._learn_one(one, value)

    def _learn(self, event):
        one = self.decisions[event["late"]]
        assert one.is_given_up
        assert (event["tasks"], event["arms"]) == ([one.task], [one.arm])
        self._learn_one(one, *event["rewards"])

    def _learn_one(self, one, value):
        assert one.reward is None or one.is_default
        one.reward, one.is_default, one.learned = value, False, one.learned + 1

    def _correct(self, event):
        one = self.decisions[event["id"]]
        assert one.reward is not None
        one.reward, one.is_default, one.corrected = event["value"], False, one.corrected + 1

    def _expire(self, event):
        for id in event["ids"]:
            one = self.decisions[id]
            assert one.reward is None
            one.is_given_up = event["default"] is None
            if not one.is_given_up:
                one.reward, one.is_default, one.learned = event["default"], True, one.learned + 1

    def _forget(self, event):
        self._deleted(event)
        self.decisions = {
            id: one for id, one in self.decisions.items() if one.task != event["task"]
        }

    def _erased(self, event):
        pass

    def _deleted(self, event):
        self.changes.append(("task deleted", event["by"]))

    def _change(self, event):
        self.changes.append((event["what"], event["by"]))

    def _measure(self, event):
        for id, name, value in zip(event["ids"], event["names"], event["values"], strict=True):
            assert name not in self.decisions[id].metrics
            self.decisions[id].metrics[name] = value
