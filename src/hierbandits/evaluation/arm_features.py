"""The features of a log's arms, and the sums of features that follow from sums of arms."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import real_array
from hierbandits.types import Matrix, Name, Vector


def feature_table(arm_features: Mapping[Name, Any] | None, arms: tuple[Name, ...]) -> Matrix | None:
    """The features of these arms, (K, d), in their order; None if none were given."""
    if arm_features is None:
        return None
    if not isinstance(arm_features, Mapping):
        raise ValueError(f"arm_features must map arms to features, got {arm_features!r:.80}")
    missing = [arm for arm in arms if arm not in arm_features]
    if missing:
        raise ValueError(
            f"arm_features must have every arm of the log, got none for {missing[0]!r}"
        )
    rows: list[Vector] = [np.asarray(arm_features[arm]) for arm in arms]
    if len({row.shape for row in rows}) > 1:
        raise ValueError("arm_features must all have the same number of entries, got several")
    return real_array("arm_features", np.stack(rows), (len(arms), None))


def with_features(sums: TaskSums, table: Matrix) -> TaskSums:
    """Sums of arms as sums of their features, which is all that a linear belief needs."""
    size, dim = len(sums.n), table.shape[1]
    outer = np.einsum("ai,aj->aij", table, table).reshape(len(table), -1)
    xx = (sums.xx @ outer).reshape(size, dim, dim)
    return TaskSums(xx, sums.xy @ table, sums.yy, sums.n)
