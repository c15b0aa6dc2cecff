"""Files that were damaged, cut, or edited with care: each is refused, or loads and works."""

import copy
from collections import Counter

import numpy as np

from hierbandits import (
    AdaptiveBelief,
    Agent,
    Belief,
    GridBelief,
    MatchedBelief,
    Posterior,
    Start,
    TaskSums,
    UnknownWidths,
)
from hierbandits.archive import read_archive, write_archive
from hierbandits.beliefs.model_kinds import belief_in
from support.agent_lives import (
    EVERY_PRIOR,
    GRID_PRIORS,
    PRIORS,
    agent_can_forget,
    first_arms,
    long_life,
    new_agent,
    task_of,
)
from support.agents import Clock

JUNK = [
    *(None, True, False, 0, 1, -1, 2, 3, 7, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.5, 1e300),
    *("", "a", "t1", "nobody", "x" * 5000, "\x1b[31m", [], [[]], [1, 2], ["a"], {}, {"a": 1}),
]
NUMBERS = [0.0, -1.0, 0.5, 1e300, -1e300, 1e-300, 2.0**31, 2.0**62, np.nan, np.inf]
SHAPES = (np.ravel, np.transpose, np.atleast_2d, lambda a: a[:0], lambda a: a[1:], lambda a: a[:-1])
DTYPES = ("f8", "f4", "i8", "i4", "u1", "?", ">f8", "f2")


def saved_files(folder):
    """A file of each kind: how to load it, and its kind and version."""
    files = {}
    for form in EVERY_PRIOR:
        alone = () if form in GRID_PRIORS else ("TS", "PooledTS")
        for policy in ("HierTS", "HierTS-forced", *alone):
            agent = new_agent(form, policy, remember=20, draws=5 if policy == "HierTS" else None)
            long_life(agent, form, np.random.default_rng(2))
            path = folder / f"{form}-{policy}"
            agent.save(path)
            files[path] = "agent", 2
        if "deep" not in form:
            belief = belief_in(EVERY_PRIOR[form], 3)
            belief.observe([0, 1], [0, 1] if belief.is_armed else np.eye(belief.dim), [1.0, 0.0])
            belief.save(folder / f"{form}-belief")
            files[folder / f"{form}-belief"] = belief.KIND, 2
    for armed in (True, False):
        agent = Agent(UnknownWidths.of(3, armed=armed), seed=0, clock=Clock())
        rng = np.random.default_rng(3)
        for event in range(20):
            made = agent.decide(f"t{event % 3}", None if armed else rng.normal(size=(4, 3)))
            if event % 4:
                agent.reward(made.id, float(rng.normal()))
        agent.save(folder / f"adaptive-{armed}")
        files[folder / f"adaptive-{armed}"] = "agent", 2
        adaptive = AdaptiveBelief(UnknownWidths.of(3, armed=armed), 2)
        adaptive.save(folder / f"adaptive-belief-{armed}")
        files[folder / f"adaptive-belief-{armed}"] = "adaptive belief", 2
    sums = TaskSums.zeros(2, 3, armed=True)
    sums.add([0, 1, 1], [0, 1, 2], [1.0, 2.0, 3.0])
    Start(PRIORS["armed"], sums, ["s", "t"], ["x", "y", "z"]).save(folder / "start")
    files[folder / "start"] = "start", 1
    return files


def damaged(whole, rng):
    """The bytes of a file after an accident."""
    size, kind = len(whole), rng.integers(5)
    at, length = int(rng.integers(size)), int(rng.integers(1, 200))
    if kind == 0:
        return whole[:at]
    if kind == 1:
        return whole[:at] + whole[at + length :]
    if kind == 2:
        return whole[:at] + bytes(length) + whole[at + length :]
    if kind == 3:
        return whole[:at] + whole[at : at + length] + whole[at:]
    changed = bytearray(whole)
    for place in rng.integers(0, size, int(rng.integers(1, 4))):
        changed[place] ^= 1 << rng.integers(8)
    return bytes(changed)


def edited_plain(data, rng):
    """Plain data after someone changed something in it."""
    data = copy.deepcopy(data)
    places = list(_places(data))
    holder, key = places[rng.integers(len(places))]
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = JUNK[rng.integers(len(JUNK))]
    return data


def edited(meta, arrays, rng):
    """The parts of a file after someone changed one of them."""
    if rng.random() < 0.6:
        return edited_plain(meta, rng), arrays
    arrays = dict(arrays)
    name = sorted(arrays)[rng.integers(len(arrays))]
    array, kind = arrays[name].copy(), rng.integers(5)
    if kind == 0 and array.size:
        with np.errstate(invalid="ignore"):
            array.flat[rng.integers(array.size)] = np.array(
                NUMBERS[rng.integers(len(NUMBERS))]
            ).astype(array.dtype)
    elif kind == 1 and array.size:
        array.flat[rng.integers(array.size)] = array.flat[rng.integers(array.size)]
    elif kind == 2:
        array = SHAPES[rng.integers(len(SHAPES))](array)
    elif kind == 3:
        with np.errstate(all="ignore"):
            array = array.astype(DTYPES[rng.integers(len(DTYPES))])
    else:
        del arrays[name]
        return meta, arrays
    arrays[name] = np.ascontiguousarray(array)
    return meta, arrays


def _places(part):
    """Every place in plain data that could hold something else."""
    items = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in items:
        yield part, key
        if isinstance(value, dict | list):
            yield from _places(value)


def load(path, kind):
    """Load a file of a kind; what is returned can be used."""
    if kind == "agent":
        return Agent.load(path, clock=Clock())
    beliefs = {one.KIND: one for one in (Belief, AdaptiveBelief, MatchedBelief, GridBelief)}
    return (beliefs | {"start": Start})[kind].load(path)


def use(loaded, folder):
    """Do with what was loaded what people do; it never fails."""
    if isinstance(loaded, Start):
        loaded = Agent(loaded, seed=0, clock=Clock())
    if isinstance(loaded, Posterior):
        loaded.observe([0], [0] if loaded.is_armed else np.ones((1, loaded.dim)), [1.0])
        loaded.sample(np.random.default_rng(0), [0])
        loaded.save(folder / "again")
        return
    state = loaded._state
    arms = None if state.catalogue.own is not None else np.ones((2, state.prior.dim))
    deep = state.roster.path_length > 1
    loaded.summary()
    made = [loaded.decide(task, arms) for task in (*loaded.tasks[:3], ("n", 9) if deep else "new")]
    loaded.decide_many([*loaded.tasks[:2]], arms)
    for each in (*loaded.pending[:2], *made):
        loaded.reward(each.id, 1.0)
    for entry in list(state.ledger.settled.values())[-1:]:
        loaded.correct(entry.id, 0.0)
    loaded.expire(10.0, default=0.0)
    if agent_can_forget(loaded):
        loaded.forget(loaded.tasks[0])
    loaded.save(folder / "again")
    Agent.load(folder / "again")


def fuzz_journals(folder, number, seed):
    """Replay so many journals of which one event was edited; counts of what became of them."""
    rng, counts, lives = np.random.default_rng(seed), Counter(), []
    for form in ("armed", "linear", "deep-armed", "bernoulli", "poisson", "beta", "gamma"):
        events = []
        agent = new_agent(form, "HierTS-forced", journal=events.append, draws=4)
        sums = TaskSums.zeros(2, agent.prior.dim, armed=agent.prior.is_armed)
        sums.add([0, 1], [0, 1] if sums.is_armed else np.eye(2), [1.0, 0.0])
        if form != "poisson":  # whose sums do not say enough
            agent.learn_past([task_of(form, 0), task_of(form, 9)], sums)
        long_life(agent, form, rng, 4)
        lives.append((form, events))
    for _ in range(number):
        form, events = lives[rng.integers(len(lives))]
        place = int(rng.integers(len(events)))
        wrong = [*events[:place], edited_plain(events[place], rng), *events[place + 1 :]]
        try:
            with np.errstate(all="ignore"):
                again = Agent.replay(
                    wrong, EVERY_PRIOR[form], "HierTS-forced", arms=first_arms(form), clock=Clock()
                )
        except ValueError:
            counts["events_refused"] += 1
        else:
            counts["events_used"] += 1
            use(again, folder)
    return dict(counts)


def fuzz(folder, number, seed):
    """Load and use so many files that are not as they were saved; counts of what became of them."""
    files, rng, counts = saved_files(folder), np.random.default_rng(seed), Counter()
    paths = list(files)
    wholes = {path: path.read_bytes() for path in paths}
    parts = {path: read_archive(path, *files[path]) for path in paths}
    for _ in range(number):
        path = paths[rng.integers(len(paths))]
        kind, version = files[path]
        wrong, way = folder / "wrong", "damaged"
        if rng.random() < 0.3:
            wrong.write_bytes(damaged(wholes[path], rng))
        else:
            way = "edited"
            write_archive(wrong, kind, version, *edited(*parts[path], rng))
        try:
            with np.errstate(all="ignore"):
                loaded = load(wrong, kind)
        except ValueError:
            counts[f"{way}_refused"] += 1
        else:
            counts[f"{way}_used"] += 1
            try:
                with np.errstate(all="ignore"):
                    use(loaded, folder)
            except ValueError as error:
                if "(limits." not in str(error):  # which a file may have as it likes
                    raise
    return dict(counts)
