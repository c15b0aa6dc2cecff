"""The rows of a belief that a corrected reward changes, copied, so that they can be put back."""

from dataclasses import dataclass

import numpy as np

from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.nodes import Nodes
from hierbandits.types import Indices, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """What some nodes, all above them and their populations' evidence were."""

    nodes: Nodes
    evidence: Evidence
    path: Indices  # the nodes and all above them
    populations: Indices
    state: Matrix
    roots: Matrix
    parts: Matrix  # of the evidence

    @classmethod
    def of(cls, nodes: Nodes, evidence: Evidence, rows: Indices) -> "KeptRows":
        """Copy what belongs to these nodes."""
        forest, each = nodes.forest, rows.tolist()
        path = np.unique([above for node in each for above in forest.path(node)])
        trees = np.unique([forest.population(node) for node in each])
        parts = evidence.parts[:, trees]
        return cls(nodes, evidence, path, trees, nodes.state[path], nodes.roots[trees], parts)

    def put_back(self) -> None:
        """Let all be as it was; twice is as once."""
        self.nodes.state[self.path] = self.state
        self.nodes.roots[self.populations] = self.roots
        self.evidence.parts[:, self.populations] = self.parts
