"""What every form of the recursion offers, so that a belief can use any."""

from typing import Any, Protocol

from hierbandits.kernels.node_address import NodeAddress
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.types import Features, Indices, Matrix, Vector

TIED, UNFIT = -1, -2
"""What `choose` returns if several arms are best, and if a feature is too large or no number."""


class Loops(Protocol):
    """The loops over the nodes of a forest; features are rows of d numbers, or arm indices."""

    def observe(
        self,
        nodes: NodeArrays,
        tasks: Indices,
        features: Features,
        rewards: Vector,
        noise_std: Vector,
        evidence: Matrix,
        /,
    ) -> None:
        """Learn a batch of rewards, in order."""

    def observe_event(
        self,
        nodes: NodeAddress,
        node: int,
        features: Any,
        reward: float,
        noise_std: float,
        evidence: Matrix,
        /,
    ) -> tuple[float, float]:
        """Learn one reward of a task; returns its innovation and the innovation's variance.

        `features` are (d,), or an arm.  With `predict_event` in turn this is what rewards that are
        not Gaussian need: their evidence is no sum of Gaussian terms, so `evidence` may be empty.
        """

    def predict_event(
        self, nodes: NodeAddress, node: int, features: Any, /
    ) -> tuple[float, float, float]:
        """The mean of x @ theta of one event, its own variance and its ancestors'."""

    def shift(self, nodes: NodeArrays, node: int, features: Any, amount: float, /) -> None:
        """Move the means by what a changed reward implies."""

    def predict(
        self,
        nodes: NodeArrays,
        tasks: Indices,
        table: Features,
        rows: Indices,
        out: Matrix,
        /,
    ) -> None:
        """Fill the mean of x @ theta, its own variance and its ancestors'."""

    def draw(
        self,
        nodes: NodeArrays,
        slot_node: Indices,
        slot_parent: Indices,
        normals: Matrix,
        out: Matrix,
        /,
    ) -> None:
        """Draw every slot's parameter given its parent's."""

    def spread(
        self, nodes: NodeAddress, node: int, number: int, normals: Vector, first: int, /
    ) -> Matrix:
        """The mean of a node's parameter, and below it so many draws, (1 + number, d).

        Every draw has ancestors of its own.  The normals begin at `first`.
        """

    def choose(
        self,
        nodes: NodeAddress,
        node: int,
        normals: Vector,
        first: int,
        table: Features,
        largest: float,
        /,
    ) -> int:
        """The row of a table that is best in one draw of a node's parameter, or TIED or UNFIT."""
