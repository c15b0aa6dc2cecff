"""What trained beliefs say of rows that have contexts: each row, in its own context, as a task."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.gaussian import Prediction
from hierbandits.beliefs.posterior import Posterior
from hierbandits.evaluation.pairs import Pairs
from hierbandits.evaluation.training import Training
from hierbandits.logs import Encoder
from hierbandits.policies.arm_posteriors import ArmPosteriors
from hierbandits.policies.recipes import Recipe
from hierbandits.types import Indices, Matrix, Vector

CHUNK = 4_000_000  # numbers of covariances at a time


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """The posterior of each task's theta, arm by arm."""

    posteriors: ArmPosteriors[Any]  # of the coordinates of theta
    mean: Matrix  # (nodes, K, width)
    cov: Matrix  # (nodes, K, width, K, width)

    @classmethod
    def of(cls, posteriors: ArmPosteriors[Any], encoder: Encoder) -> "Coefficients":
        """Read a belief, node by node."""
        nodes = range(int(posteriors.row.max()) + 1)
        each = [posteriors.belief.task(node) for node in nodes]
        form = (len(encoder.arms), encoder.width)
        mean = np.stack([one.mean for one in each]).reshape(-1, *form)
        cov = np.stack([one.cov for one in each]).reshape(-1, *form, *form)
        return cls(posteriors, mean, cov)

    def at(self, tasks: Indices, contexts: Matrix) -> ArmPosteriors[Any]:
        """The posteriors of all arms in these tasks and contexts, (E, width), event by event."""
        nodes = self.posteriors.row[tasks]
        num_arms = self.mean.shape[1]
        mean, covs = np.empty((tasks.size, num_arms)), np.empty((tasks.size, num_arms, num_arms))
        step = max(1, CHUNK // self.cov[0].size)
        for start in range(0, tasks.size, step):
            part = slice(start, start + step)
            z, node = contexts[part], nodes[part]
            mean[part] = np.einsum("ekq,eq->ek", self.mean[node], z)
            half = np.einsum("ekqlr,er->ekql", self.cov[node], z)
            covs[part] = np.einsum("ekql,eq->ekl", half, z)
        var = np.maximum(np.einsum("ekk->ek", covs), 0.0)
        prediction = Prediction(mean, var, np.zeros_like(var))
        events = np.arange(tasks.size)
        return ArmPosteriors(self.posteriors.belief, None, events, prediction, covs, tasks)


@dataclass(slots=True, eq=False)
class ContextTraining:
    """A training, and what it says of some rows; every belief is read once."""

    training: Training
    encoder: Encoder
    _known: dict[Recipe | None, Coefficients] = field(default_factory=dict, init=False)
    _pairs: Pairs | None = field(default=None, init=False)
    _told: dict[Recipe | None, ArmPosteriors[Any]] = field(default_factory=dict, init=False)

    @property
    def group(self) -> int:
        """The group of rows that is judged with it."""
        return self.training.group

    def at(self, pairs: Pairs) -> "ContextTraining":
        """The same, asked about these rows from now on."""
        if pairs is not self._pairs:
            self._pairs, self._told = pairs, {}
        return self

    def model(self) -> ArmPosteriors[Belief]:
        """What the hierarchy itself believes of the rows."""
        return self._asked(None)

    def arm_posteriors(self, recipe: Recipe) -> ArmPosteriors[Posterior]:
        """What a policy of this recipe believes of the rows: often what the hierarchy does."""
        prior = self.training.prior
        return self._asked(None if recipe.believe(prior) is prior else recipe)

    def arm_values(self) -> Vector:
        """See `Training.arm_values`."""
        return self.training.arm_values()

    def _asked(self, recipe: Recipe | None) -> ArmPosteriors[Any]:
        pairs = self._pairs
        assert pairs is not None
        assert pairs.cells is not None
        if recipe not in self._known:
            made: ArmPosteriors[Any] = (
                self.training.model() if recipe is None else self.training.arm_posteriors(recipe)
            )
            self._known[recipe] = Coefficients.of(made, self.encoder)
        if recipe not in self._told:
            contexts = self.encoder._raw_contexts(pairs.cells)
            self._told[recipe] = self._known[recipe].at(pairs.tasks, contexts)
        return self._told[recipe]
