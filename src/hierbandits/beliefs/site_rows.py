"""What stands for each reward that is not Gaussian: the reward itself, and its site."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierbandits.beliefs.settled_sites import SettledSites
from hierbandits.checks import index_array, state_copy
from hierbandits.kernels.site_change import SITE_PARTS
from hierbandits.kernels.summation import add_rows
from hierbandits.types import Features, Indices, Matrix, Vector

MOST_ROWS = 200_000
"""Where rewards do not add up, so many have a row; the sites of the oldest half are then settled.

So a refit takes a fraction of a second at most.
"""

NEWEST = 2_000
"""Where rewards do not add up, a task's rows among so many are matched again as it learns."""


class SiteRows:
    """Rewards in rows, each with its node, its features, its exposure and its site.

    Where `adds_up`, all rewards of a node's arm are one row, their sum: what they tell of the arm
    is what their sum tells.  Then there are no more rows than nodes and arms.  Otherwise every
    reward has a row of d + 6 numbers, up to MOST_ROWS of them.
    """

    def __init__(self, dim: int, *, armed: bool, adds_up: bool) -> None:
        self._dim, self._armed, self.adds_up = dim, armed, armed and adds_up
        self.size = 0
        self._told: Indices = np.zeros(1, np.intp)  # the number of rewards
        self.settled = SettledSites(dim, armed=armed)
        self._row_of: Indices = np.empty(0, np.intp)  # where rewards add up: of a node's arm, or -1
        self._nodes: Indices = np.empty(0, np.intp)
        self._features: Features = np.empty(0, np.intp) if armed else np.empty((0, dim))
        # A row's reward, exposure and site lie together: to add to them touches one cache line.
        self._numbers: Matrix = np.empty((0, 2 + SITE_PARTS))
        self.news: Indices | None = None  # nodes of the last rewards, until they match again
        self.moved: Matrix | None = None  # how far predictors did as these matched
        self._again: tuple[Indices, Matrix, Matrix] | None = None  # rows that are matched anew

    @property
    def nodes(self) -> Indices:
        """The node of each row."""
        return self._nodes[: self.size]

    @property
    def features(self) -> Features:
        """The features of each row, or its arm."""
        return self._features[: self.size]

    @property
    def rewards(self) -> Vector:
        """The reward of each row, or the sum of its rewards."""
        return self._numbers[: self.size, 0]

    @property
    def exposure(self) -> Vector:
        """The exposure of each row, or the sum of its rewards'."""
        return self._numbers[: self.size, 1]

    @property
    def sites(self) -> Matrix:
        """The precision, the weighted observation and the log scale of each row's site, (3, n)."""
        return self._numbers[: self.size, 2:].T

    @property
    def num_rewards(self) -> int:
        """How many rewards there are, in rows and settled."""
        return int(self._told[0])

    @num_rewards.setter
    def num_rewards(self, number: int) -> None:
        self._told[0] = number

    @property
    def num_empty(self) -> int:
        """The rows whose sites are empty: their rewards told next to nothing."""
        return int((~self.sites[:2].any(axis=0)).sum())

    def add(
        self,
        nodes: Indices,
        features: Features,
        rewards: Vector,
        exposure: Vector,
        sites: Matrix,
        number: int,
    ) -> None:
        """More rewards, or sums of so many rewards, with their sites.

        An interrupt leaves it wholly done, and `num_rewards` larger, or to be done again.
        """
        self.news, self.moved = nodes, None
        if not self.adds_up:
            self._append(nodes, features, (rewards, exposure, *sites), number)
            if self.size > MOST_ROWS:
                self._settle(self.size - MOST_ROWS // 2)
            return
        if self._add_known(nodes, features, rewards, exposure, sites, number):
            return
        keys = nodes * self._dim + features
        self._make_room(keys)
        known = self._row_of[keys]
        new = np.unique(keys[(known < 0) | (known >= self.size)])
        self._append(new // self._dim, new % self._dim, [np.zeros(new.size)] * (2 + SITE_PARTS), 0)
        self._add_known(nodes, features, rewards, exposure, sites, number)

    def _add_known(
        self,
        nodes: Indices,
        arms: Features,
        rewards: Vector,
        exposure: Vector,
        sites: Matrix,
        number: int,
    ) -> bool:
        """Add rewards to their rows, if all have one already."""
        return add_rows(
            nodes, arms, self._dim, self._row_of, self.size, rewards, exposure, sites,
            self._numbers, self._told, number,
        )  # fmt: skip

    def _settle(self, number: int) -> None:
        """Let the sites of so many rewards, the oldest, be as they are from now on."""
        settled, left = self.settled.copy(), slice(number, self.size)
        settled.add(self.nodes[:number], self.features[:number], self.sites[:, :number])
        nodes, features = self._nodes[left].copy(), self._features[left].copy()
        numbers = self._numbers[left].copy()
        # At once, as above.
        self.settled, self._nodes, self._features, self._numbers, self.size = (
            *(settled, nodes, features, numbers, nodes.size),
        )

    def _append(
        self, nodes: Indices, features: Features, numbers: Iterable[Vector], number: int
    ) -> None:
        """More rows, of so many rewards; until the last statement nobody sees them."""
        stop = self.size + nodes.size
        if stop > self._nodes.size:
            room = max(stop, self.size + self.size // 2)
            larger = (
                _grown(self._nodes, self.size, room),
                _grown(self._features, self.size, room),
                _grown(self._numbers, self.size, room),
            )
            self._nodes, self._features, self._numbers = larger
        self._nodes[self.size : stop] = nodes
        self._features[self.size : stop] = features
        for mine, values in zip(self._numbers.T, numbers, strict=True):
            mine[self.size : stop] = values
        if self.adds_up:
            keys = nodes * self._dim + features
            self._make_room(keys)
            self._row_of[keys] = np.arange(self.size, stop)
        # At once: no interrupt comes between the parts of an assignment.
        self.size, self._told[0] = stop, self._told[0] + number

    def _make_room(self, keys: Indices) -> None:
        """Let there be a place for the row of each of these arms of nodes."""
        most = int(keys.max(initial=-1)) + 1
        if most > self._row_of.size:
            room = max(most, self._row_of.size + self._row_of.size // 2)
            larger = np.full(room, -1)
            larger[: self._row_of.size] = self._row_of
            self._row_of = larger

    def of_nodes(self, nodes: Indices) -> Indices:
        """The rows of these nodes, in order; where rewards do not add up, of the newest alone."""
        if self.adds_up:
            keys = (np.unique(nodes)[:, None] * self._dim + np.arange(self._dim)).ravel()
            rows = self._row_of[keys[keys < self._row_of.size]]
            return np.sort(rows[(rows >= 0) & (rows < self.size)])
        first = max(0, self.size - max(NEWEST, 4 * nodes.size))
        places: Indices = first + np.flatnonzero(np.isin(self.nodes[first:], nodes))
        return places

    def tell(self, node: int) -> None:
        """A reward of a node has changed: its sites are to match anew, too."""
        known = np.empty(0, np.intp) if self.news is None else self.news
        self.news = np.append(known, node)

    def match_again(self, places: Indices, match: Callable[..., object], moved: Matrix) -> Matrix:
        """Let the sites of some rows match anew, by `SiteBelief._match_sites`, which fills `moved`.

        These are all that `news` asks for.  After an interrupt `end_match` does what is left.
        """
        sites = self.sites[:, places].copy()
        self._again = places, sites, moved
        rows = self.nodes[places], self.features[places], self.rewards[places]
        match(*rows, self.exposure[places], sites, furthest=moved)
        self.end_match()
        return moved

    def end_match(self) -> None:
        """Take sites that were matched anew and are not taken yet."""
        if self._again is None:
            return
        places, sites, moved = self._again
        mine, is_done = self.sites, (self.sites[:, places] != sites).any()
        left = (None, moved) if is_done else (self.news, self.moved)
        # At once, as above.
        mine[:, places], (self.news, self.moved), self._again = sites, left, None

    def row_of(self, node: int, features: Any, reward: float) -> int:
        """The row of a reward that was observed earlier, or -1."""
        if not self.adds_up:
            return int(self._rows_of(node, features, reward)[-1:].max(initial=-1))
        key = node * self._dim + int(features)
        row = int(self._row_of[key]) if key < self._row_of.size else -1
        return row if row < self.size else -1

    def number_of(self, node: int, features: Any, reward: float) -> int:
        """How many rows of their own such rewards have."""
        return 0 if self.adds_up else int(self._rows_of(node, features, reward).size)

    def _rows_of(self, node: int, features: Any, reward: float) -> Indices:
        """The rows of a reward, where each has one."""
        rows: Indices = np.flatnonzero((self.nodes == node) & (self.rewards == reward))
        equal = self.features[rows] == features
        same: Indices = rows[equal if self._armed else equal.all(axis=1)]
        return same

    def copy(self) -> "SiteRows":
        """Independent rows."""
        twin = SiteRows(self._dim, armed=self._armed, adds_up=self.adds_up)
        twin._append(self.nodes, self.features, self._numbers[: self.size].T, self.num_rewards)
        twin.settled = self.settled.copy()
        return twin

    def state(self) -> dict[str, NDArray[Any]]:
        """All rows by name."""
        numbers = self._numbers[: self.size].T.copy()
        rows = {"site_nodes": self.nodes, "site_features": self.features, "site_numbers": numbers}
        return rows | self.settled.state()

    def _take_state(
        self, arrays: dict[str, NDArray[Any]], num_nodes: int, num_rewards: int
    ) -> None:
        """Take the rows that `state` described, checked, in place of none."""
        nodes = index_array("site_nodes", arrays["site_nodes"], num_nodes, "nodes").copy()
        size, given = nodes.size, arrays["site_features"]
        features: Features
        if self._armed:
            features = index_array("site_features", given, self._dim, "arms").copy()
        else:
            features = state_copy("site_features", given, (size, self._dim))
        if len(features) != size:
            raise ValueError(f"site_features must have {size} rows, as site_nodes")
        shape = (2 + SITE_PARTS, size)
        numbers = state_copy("site_numbers", arrays["site_numbers"], shape)
        if (numbers[1] <= 0).any() or (numbers[2] < 0).any():
            raise ValueError("site_numbers must have positive exposures, and precisions from 0 on")
        if self.adds_up and np.unique(nodes * self._dim + features).size != size:
            raise ValueError("site_nodes must have one row for each arm of a node")
        self.settled._take_state(arrays, num_nodes)
        self._append(nodes, features, numbers, num_rewards)


def _grown(array: NDArray[Any], used: int, room: int) -> NDArray[Any]:
    """The same rows in an array of this many, all of whose memory is there now."""
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    larger[used:] = 0
    return larger
