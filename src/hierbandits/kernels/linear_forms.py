"""Linear functions of vectors, and their means and variances if these are Gaussian, row by row."""

from hierbandits.compiler import compiled
from hierbandits.types import Indices, Matrix, Vector


@compiled
def linear_forms(
    nodes: Indices, features: Matrix, means: Matrix, covs: Matrix, mean: Vector, var: Vector
) -> None:
    """Fill mean, x @ means[node], and var, x' covs[node] x, of each row x."""
    dim = features.shape[1]
    for e in range(nodes.size):
        node = nodes[e]
        total, square = 0.0, 0.0
        for i in range(dim):
            total += features[e, i] * means[node, i]
            along = 0.0
            for j in range(dim):
                along += covs[node, i, j] * features[e, j]
            square += features[e, i] * along
        mean[e], var[e] = total, square


@compiled
def linear_values(
    theta: Matrix, runs: Indices, tasks: Indices, features: Matrix | Indices, out: Vector
) -> None:
    """out[e] = features[e] @ theta[run, task]."""
    for e in range(runs.size):
        total = 0.0
        for i in range(features.shape[1]):
            total += features[e, i] * theta[runs[e], tasks[e], i]
        out[e] = total
