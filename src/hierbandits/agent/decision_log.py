"""The settled decisions of an agent as a log."""

import json
from collections.abc import Sequence

from hierbandits.agent.ledger import Entry
from hierbandits.logs.columns import Columns
from hierbandits.logs.log import Log
from hierbandits.logs.sources import polars_module
from hierbandits.types import Name, TaskName


def decision_log(entries: Sequence[Entry], arms: Sequence[Name] | None, *, by_arm: bool) -> Log:
    """The log of these decisions, in the order in which they were made.

    With `by_arm` it names the arms played, else it has their features.  `arms` are all arms that
    there are, if that is known.  The task of a path is written as JSON, and the first name of the
    path is its population.  Names of which some are strings and some are integers become strings.
    """
    if not entries:
        raise ValueError("log must hold decisions that have their rewards, got none")
    entries = sorted(entries, key=lambda entry: entry.place)
    decisions = [entry.decision for entry in entries]
    text = _texts("task", [decision.task for decision in decisions])
    columns = {
        "task": [text[decision.task] for decision in decisions],
        "reward": [entry.reward for entry in entries],
        "decision": [decision.id for decision in decisions],
        "time": [decision.time for decision in decisions],
    }
    if isinstance(decisions[0].task, tuple):
        firsts = [d.task[0] for d in decisions if isinstance(d.task, tuple)]
        populations = _texts("population", firsts)
        columns["population"] = [populations[first] for first in firsts]
    if all(decision.propensity is not None for decision in decisions):
        columns["propensity"] = [decision.propensity for decision in decisions]
    if by_arm:
        offered = {arm for decision in decisions for arm in decision.offered}
        known = None if arms is None or not offered <= set(arms) else arms
        names = _texts("arm", list(offered if known is None else known))
        columns["arm"] = [names[decision.arm] for decision in decisions]
        columns["eligible"] = [[names[arm] for arm in d.offered] for d in decisions]
        own = None if known is None else [names[arm] for arm in known]
    else:
        columns["features"] = [decision.features for decision in decisions]
        own = None
    frame = polars_module().DataFrame(columns, strict=True)
    return Log.read(frame, Columns(**{name: name for name in columns}), arms=own)


def _texts(what: str, names: Sequence[TaskName]) -> dict[TaskName, Name]:
    """What each name is in a column, whose cells are all integers or all strings."""
    distinct = list(dict.fromkeys(names))
    if all(isinstance(name, int) and abs(name) < 2**63 for name in distinct):
        return {name: name for name in distinct if isinstance(name, int)}
    texts = {name: json.dumps(name) if isinstance(name, tuple) else str(name) for name in distinct}
    if len(set(texts.values())) < len(texts):
        seen: dict[str, TaskName] = {}
        for name, cell in texts.items():
            if cell in seen:
                raise ValueError(
                    f"{what} names must differ as text in a log, got {seen[cell]!r} and {name!r}"
                )
            seen[cell] = name
    return dict(texts)
