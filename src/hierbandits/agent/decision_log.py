"""The settled decisions of an agent as a log."""

import json
from collections.abc import Sequence

from hierbandits.agent.agent_state import AgentState
from hierbandits.logs.columns import Columns
from hierbandits.logs.log import Log
from hierbandits.logs.polars_import import polars_module
from hierbandits.types import Name, TaskName


def decision_log(state: AgentState, *, by_arm: bool) -> Log:
    """The log of an agent's settled decisions, in the order in which they were made.

    With `by_arm` it names the arms played, else it has their features.  The task of a path is
    written as JSON, and the first name of the path is its population.  Names of which some are
    strings and some are integers become strings.
    """
    entries = sorted(state.ledger.settled.values(), key=lambda entry: entry.place)
    if not entries:
        raise ValueError("log must hold decisions that have their rewards, got none")
    arms = state.catalogue.all_names
    tasks = [entry.member.task for entry in entries]
    text = _texts("task", tasks)
    columns = {
        "task": [text[task] for task in tasks],
        "reward": [entry.reward for entry in entries],
        "decision": [entry.id for entry in entries],
        "time": [entry.time for entry in entries],
    }
    if isinstance(tasks[0], tuple):
        firsts = [task[0] for task in tasks if isinstance(task, tuple)]
        populations = _texts("population", firsts)
        columns["population"] = [populations[first] for first in firsts]
    if all(entry.propensity is not None for entry in entries):
        columns["propensity"] = [entry.propensity for entry in entries]
    if by_arm:
        offered = {arm for entry in entries for arm in entry.offered}
        known = None if arms is None or not offered <= set(arms) else arms
        names = _texts("arm", list(offered if known is None else known))
        columns["arm"] = [names[entry.arm] for entry in entries]
        columns["eligible"] = [[names[arm] for arm in entry.offered] for entry in entries]
        own = None if known is None else [names[arm] for arm in known]
    else:
        columns["features"] = [entry.row.tolist() for entry in entries]
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
