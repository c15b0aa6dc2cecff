"""What `dense` and `diagonal` both offer, so that a belief can use either."""

from typing import Protocol

from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.types import Features, Indices, Matrix, Vector


class Loops(Protocol):
    """The loops over the nodes of a forest; features are rows of d numbers, or arm indices."""

    def observe(
        self,
        nodes: NodeArrays,
        tasks: Indices,
        features: Features,
        rewards: Vector,
        noise_std: Vector,
        evidence: tuple[Vector, Vector, Vector],
        /,
    ) -> None:
        """Learn a batch of rewards, in order."""

    def shift(self, nodes: NodeArrays, node: int, features: Features, amount: float, /) -> None:
        """Move the means by what a changed reward implies."""

    def predict(
        self,
        nodes: NodeArrays,
        tasks: Indices,
        table: Features,
        rows: Indices,
        out: tuple[Vector, Vector, Vector],
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
