"""The exact recursion for arms with full covariances: an arm is a unit vector of `dense`.

The same functions as in `dense`, with the same arguments; a feature is an arm's index.
"""

from functools import lru_cache

import numpy as np

from hierbandits.compiler import compiled
from hierbandits.kernels import dense
from hierbandits.kernels.node_address import NodeAddress, dense_nodes
from hierbandits.kernels.node_arrays import NodeArrays
from hierbandits.types import Indices, Matrix, Vector

draw = dense.draw
spread = dense.spread


@lru_cache(maxsize=8)
def unit_vectors(num_arms: int) -> Matrix:
    """The arms as features, (K, K); nobody writes into it.

    It is not marked so, since kernels would be compiled once more for such an array.
    """
    return np.eye(num_arms)


def observe(
    nodes: NodeArrays,
    tasks: Indices,
    features: Indices,
    rewards: Vector,
    noise_std: Vector,
    evidence: Matrix,
) -> None:
    """Learn a batch of rewards, in order."""
    dense.observe_rows(nodes, tasks, _table(nodes), features, rewards, noise_std, evidence)


def observe_event(
    nodes: NodeAddress, node: int, arm: int, reward: float, noise_std: float, evidence: Matrix
) -> tuple[float, float]:
    """Learn one reward of a task; returns its innovation and the innovation's variance."""
    return dense.observe_event(nodes, node, _table_at(nodes)[arm], reward, noise_std, evidence)


def predict_event(nodes: NodeAddress, node: int, arm: int) -> tuple[float, float, float]:
    """The mean of an arm's mean reward, its own variance and its ancestors'."""
    return dense.predict_event(nodes, node, _table_at(nodes)[arm])


def predict(nodes: NodeArrays, tasks: Indices, table: Indices, rows: Indices, out: Matrix) -> None:
    """Fill the mean of arms' mean rewards, their own variance and their ancestors'."""
    dense.predict(nodes, tasks, _table(nodes), table[rows], out)


def shift(nodes: NodeArrays, node: int, arm: int, amount: float) -> None:
    """Move the means by what a changed reward implies; see `dense.shift`."""
    dense.shift(nodes, node, _table(nodes)[arm], amount)


def choose(
    nodes: NodeAddress, node: int, normals: Vector, first: int, table: Indices, largest: float
) -> int:
    """The row of a table that is best in one draw of a node's parameter, or TIED."""
    return dense.choose(nodes, node, normals, first, _table_at(nodes)[table], largest)


def _table(nodes: NodeArrays) -> Matrix:
    roots = nodes[-1]
    return unit_vectors(roots.shape[2])


def _table_at(nodes: NodeAddress) -> Matrix:
    return unit_vectors(num_arms_at(nodes))


@compiled
def num_arms_at(nodes: NodeAddress) -> int:
    """The number of arms of the nodes at an address."""
    num_arms: int = dense_nodes(nodes)[-1].shape[2]
    return num_arms
