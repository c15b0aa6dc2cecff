"""Values for any parameter: plausible ones by its name and its type, and ways to spoil them."""

import numpy as np
import polars as pl

import hierbandits as hb
from hierbandits.environments.events import Events

SIZES = (0, 1, 2, 3, 5)
HUGE = (2**45, 2**63 - 1, 2**64, -(2**31), -(2**63))
"""As a size, each asks for more memory than there is; none for nearly all of it."""
LINEAR = {
    dim: hb.GaussianHierarchy(
        hyper_mean=np.linspace(-0.2, 0.3, dim),
        hyper_cov=np.eye(dim) + 0.2,
        task_cov=0.3 * np.eye(dim) + 0.1,
        noise_std=0.5,
    )
    for dim in (2, 3)
}
ARMED = {
    dim: hb.GaussianHierarchy.armed(dim, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    for dim in (2, 3)
}
TOGETHER = hb.GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.4, common_std=0.5, noise_std=0.5)
CORRELATED = hb.GaussianHierarchy.armed(
    3, hyper_cov=np.eye(3) + 0.3, task_cov=np.diag([0.2, 0.3, 0.4]), noise_std=0.5
)
DEEP = hb.GaussianHierarchy.deep(
    hyper_mean=[0.0, 0.1], covs=[np.eye(2), 0.5 * np.eye(2), 0.2 * np.eye(2)], noise_std=0.5
)
FAMILIES = [
    hb.GeneralizedHierarchy(ARMED[3], "bernoulli"),
    hb.GeneralizedHierarchy(LINEAR[2], "poisson"),
    hb.GeneralizedHierarchy(CORRELATED, "binomial"),
]
GRIDS = [hb.BetaHierarchy(3, resolution=8), hb.GammaHierarchy(2, resolution=8)]
"""Which few policies can believe in."""
MODELS = [
    *LINEAR.values(),
    *ARMED.values(),
    TOGETHER,
    CORRELATED,
    DEEP,
    hb.UnknownWidths.of(2, armed=False),
    hb.UnknownWidths.of(3, armed=True),
    *FAMILIES,
]


def sizes_of(thing):
    """The number of features, whether there are arms in their place, and the number of events."""
    sizes = {}
    if isinstance(thing, hb.Arms):
        sizes["events"], table = thing.num_events, thing.table
        sizes["armed"] = table.ndim == 1
        if table.ndim == 2:
            sizes["dim"] = table.shape[1]
        return sizes
    for part in (thing, *(getattr(thing, name, None) for name in ("belief", "prior", "hierarchy"))):
        try:
            dim, armed = part.dim, part.is_armed
        except Exception:  # it has none, or it is spoilt
            continue
        if isinstance(dim, int):
            return {"dim": dim, "armed": armed is True}
    return sizes


def _saved():
    """The states of beliefs, as files hold them."""
    for model in (*MODELS, *GRIDS):
        belief = hb.POLICIES["HierTS"](model, (2, 2) if model.num_levels == 3 else 2, 2).belief
        belief.observe([0, 1], [0, 1] if model.is_armed else np.eye(model.dim)[:2], [1.0, 0.0])
        yield belief.state()


class Values:
    """Draws arguments; those of one call have sizes that fit each other, unless they are spoilt."""

    def __init__(self, seed, folder):
        self.rng, self.folder = np.random.default_rng(seed), folder
        self.begin()

    def begin(self):
        """Choose the sizes of the next call."""
        self.events = int(self.rng.choice(SIZES))
        self.dim = int(self.rng.integers(2, 4))
        self.armed = bool(self.rng.integers(2))
        self.saved = self.pick(_SAVED)

    def fit(self, thing):
        """Let what is drawn next have the sizes of an object."""
        vars(self).update(sizes_of(thing))

    def fits(self, thing):
        """Whether an object has the sizes of this call, as far as it has any."""
        return all(getattr(self, name) == size for name, size in sizes_of(thing).items())

    def pick(self, values):
        """One of some values."""
        return values[int(self.rng.integers(len(values)))]

    def plausible(self, name, annotation):
        """What a careful caller would give; None if neither the name nor the type is known."""
        for words, make in _BY_NAME.items():
            if name in words.split():
                return make(self)
        for word, make in _BY_TYPE.items():
            if word in annotation:
                return make(self)
        return self.anything()

    def knows(self, name):
        """Whether a parameter's name says what is meant."""
        return any(name in words.split() for words in _BY_NAME)

    def anything(self):
        """A value of any kind."""
        return self.pick([self.floats, self.integers, self.table, self.scalar, self.odd])()

    def integers(self, stop=3):
        return self.rng.integers(0, stop, self.events)

    def floats(self):
        return self.rng.standard_normal(self.events)

    def vector(self):
        return self.rng.standard_normal(self.dim)

    def table(self):
        return self.rng.standard_normal((self.events, self.dim))

    def matrix(self):
        root = self.rng.standard_normal((self.dim, self.dim))
        return root @ root.T + 0.1 * np.eye(self.dim)

    def features(self):
        if self.rng.random() < 0.15:
            return int(self.rng.integers(3)) if self.armed else self.vector()
        return self.integers(self.dim) if self.armed else self.table()

    def set_of_arms(self):
        size = int(self.rng.integers(1, 4))
        if self.armed:
            return self.rng.integers(0, self.dim, size)
        return self.rng.standard_normal((size, self.dim))

    def arms(self):
        kind = self.rng.random()
        if kind < 0.3:
            return None if self.armed else self.set_of_arms()
        if kind < 0.5:
            return [self.set_of_arms() for _ in range(self.events)]
        if kind < 0.6:
            return ["a", "b", "c"][: self.dim]
        if kind < 0.7:
            return {"a": [1.0] * self.dim, "b": [0.5] * self.dim}
        return self.rng.standard_normal((self.events, 3, self.dim))

    def squares(self):
        own = abs(self.table())
        return own if self.armed else own[:, :, None] * own[:, None, :]

    def masks(self):
        size = int(self.rng.integers(1, 4))
        shape = size if self.rng.random() < 0.5 else (self.events, size)
        return self.rng.random(shape) < 0.8

    def scalar(self):
        return self.pick([0, 1, 2, 3, 0.5, 0.05, 1.5, True])

    def number(self):
        return int(self.rng.integers(0, 4))

    def path(self):
        return self.folder / f"file-{self.rng.integers(5)}"

    def odd(self):
        """A value that fits nowhere."""
        return self.pick(_ODD)

    def spoilt(self, value):
        """The value with something wrong or unusual about it, or another in its place."""
        if self.rng.random() < 0.2:
            return self.odd()
        if isinstance(value, dict) and value:
            key = self.pick(list(value))
            return {**value, key: self.spoilt(value[key])}
        if isinstance(value, list | tuple) and value:
            place = int(self.rng.integers(len(value)))
            return [self.spoilt(one) if i == place else one for i, one in enumerate(value)]
        if isinstance(value, bool | int | float) or value is None:
            return self.pick([-1, -5, 1e300, 1.5, "1", np.float32(2), [value], *HUGE])
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
            return self.odd()
        return self.pick(_SPOILS)(self, value.copy())


def _at_random(values, value, new):
    if value.size:
        value.flat[int(values.rng.integers(value.size))] = new
    return value


def _masked(values, value):
    return np.ma.array(value, mask=values.rng.random(value.shape) < 0.5)


def _read_only(values, value):
    value.flags.writeable = False
    return value


def _unaligned(values, value):
    raw = np.zeros(value.nbytes + 1, np.uint8)
    moved = raw[1:].view(value.dtype).reshape(value.shape) if value.size else value
    moved[...] = value
    return moved


def _strided(values, value):
    return np.repeat(value, 2, axis=0)[::2] if value.ndim else value


_SPOILS = [
    lambda values, value: value[:-1] if value.ndim else value,
    lambda values, value: np.concatenate([value, value]) if value.ndim else value,
    lambda values, value: value[..., :-1] if value.ndim else value,
    lambda values, value: np.stack([value, value]),
    lambda values, value: value.ravel(),
    lambda values, value: value[:0] if value.ndim else value,
    lambda values, value: np.array(values.scalar()),
    lambda values, value: value.astype(np.float32),
    lambda values, value: value.astype(np.int8),
    lambda values, value: value.astype(np.uint64),
    lambda values, value: value.astype(complex),
    lambda values, value: value.astype(object),
    lambda values, value: value.astype(str),
    lambda values, value: value.astype(">f8"),
    lambda values, value: value > 0,
    lambda values, value: value.tolist(),
    lambda values, value: -1 - value.astype(np.int64),
    lambda values, value: _at_random(values, value, -1),
    lambda values, value: _at_random(values, value, 7),
    lambda values, value: _at_random(values, value.astype(np.int64), values.pick([2**31, 2**62])),
    lambda values, value: _at_random(values, value.astype(float), values.pick([np.nan, np.inf])),
    lambda values, value: _at_random(values, value.astype(float), 1e300),
    lambda values, value: np.asfortranarray(value),
    lambda values, value: value[::-1] if value.ndim else value,
    lambda values, value: np.broadcast_to(value, (2, *value.shape)),
    _masked,
    _read_only,
    _unaligned,
    _strided,
]

_ODD = [
    *(None, "text", b"bytes", object(), {}, [], (), [[1.0], [1.0, 2.0]], 1j, np.nan, np.inf),
    *(-1, 1e300, *HUGE, np.empty(0), np.empty((0, 3)), np.array(1.0), slice(None), range(3)),
    *(np.datetime64("2020-01-01"), lambda *_: None, np.array([None]), np.zeros((2, 2, 2, 2))),
]

_BY_NAME = {
    "rng": lambda v: np.random.default_rng(int(v.rng.integers(100))),
    "tasks nodes group slots rows places choices played": Values.integers,
    "features x": Values.features,
    "rewards values scores time noise": Values.floats,
    "arms offer": Values.arms,
    "sets": lambda v: v.rng.standard_normal((2, 2, v.dim)),
    "eligible": Values.masks,
    "theta table": Values.table,
    "mu hyper_mean hyper": lambda v: v.pick([v.vector(), 0.3]),
    "hyper_cov task_cov cov": Values.matrix,
    "covs": lambda v: [v.matrix(), v.matrix()],
    "hyper_means truth": lambda v: v.rng.standard_normal((v.number(), v.dim)),
    "prior model": lambda v: v.pick(MODELS),
    "believe": lambda v: lambda prior: prior,
    "num_populations num_tasks runs jobs": lambda v: int(v.rng.integers(1, 4)),
    "policies": lambda v: [v.pick(list(hb.POLICIES))],
    "policy": lambda v: v.pick(list(hb.POLICIES)),
    "num_interactions": lambda v: 2,
    "task name": lambda v: v.pick([0, 1, "a", "b", ("a", "b")]),
    "hyper_std task_std common_std floor delta confidence": lambda v: v.pick([0.3, 0.7]),
    "xx": Values.squares,
    "xy means": Values.table,
    "yy n": lambda v: abs(v.floats()).round(),
    "source log": lambda v: v.pick(_LOGS),
    "meta": lambda v: v.saved[0],
    "arrays": lambda v: v.saved[1],
    "parts": lambda v: v.pick(MODELS).to_dict(),
    "events": lambda v: Events(v.integers(2), v.integers(), v.integers()),
    "num_features dim": lambda v: v.dim,
    "path folder checkpoint journal out": Values.path,
}

_BY_TYPE = {
    "Generator": lambda v: np.random.default_rng(0),
    "PathLike": Values.path,
    "Indices": Values.integers,
    "Mask": Values.masks,
    "Matrix": lambda v: v.pick([v.table(), v.matrix()]),
    "Vector": lambda v: v.pick([v.floats(), v.vector()]),
    "ArrayLike": lambda v: v.pick([v.integers(), v.floats(), v.table(), v.vector(), v.scalar()]),
    "Callable": lambda v: lambda *_: None,
    "bool": lambda v: bool(v.rng.integers(2)),
    "str": lambda v: v.pick(["a", "text", "HierTS", "box"]),
    "int": Values.number,
    "float": lambda v: v.pick([0.5, 0.05, 1.0, 2.0]),
}

_SAVED = list(_saved())


def _logs():
    """A log of arms and one of features."""
    rng, size = np.random.default_rng(0), 40
    frame = pl.DataFrame(
        {
            "task": [f"t{row % 5}" for row in range(size)],
            "arm": [f"a{arm}" for arm in rng.integers(0, 3, size)],
            "x": rng.standard_normal(size),
            "reward": rng.standard_normal(size),
            "propensity": np.full(size, 0.5),
        }
    )
    yield hb.Log.read(
        frame, hb.Columns(task="task", reward="reward", arm="arm", propensity="propensity")
    )
    yield hb.Log.read(frame, hb.Columns(task="task", reward="reward", features=["x"]))


_LOGS = list(_logs())
