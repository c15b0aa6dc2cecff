"""Every kind of model: its name in files, its belief, and what it needs of a log."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hierbandits.beliefs.adaptive_belief import AdaptiveBelief
from hierbandits.beliefs.adaptive_matched_belief import AdaptiveMatchedBelief
from hierbandits.beliefs.belief import Belief
from hierbandits.beliefs.grid_belief import GridBelief
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.models.beta_hierarchy import BetaHierarchy
from hierbandits.models.gamma_hierarchy import GammaHierarchy
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.model import Model
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.types import Indices


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One kind of model."""

    tag: str  # what its files are marked with
    model: type[Model]
    belief: type[Posterior]  # made of a model and the other arguments of `belief_in`

    @property
    def record(self) -> type[TaskSums]:
        """What a log is reduced to for a belief in such a model."""
        return self.belief.RECORD


KINDS = (
    ModelKind("gaussian hierarchy", GaussianHierarchy, Belief),
    ModelKind("unknown widths", UnknownWidths, AdaptiveBelief),
    ModelKind("generalized hierarchy", GeneralizedHierarchy, MatchedBelief),
    ModelKind("unknown family widths", UnknownFamilyWidths, AdaptiveMatchedBelief),
    ModelKind("beta hierarchy", BetaHierarchy, GridBelief),
    ModelKind("gamma hierarchy", GammaHierarchy, GridBelief),
)
"""All kinds of models: the one place that asks of which kind a model is."""


def kind_of(model: Model) -> ModelKind:
    """The kind of a model that is given as a prior."""
    for kind in KINDS:
        if isinstance(model, kind.model):
            return kind
    names = " or ".join(kind.model.__name__ for kind in KINDS)
    raise ValueError(f"prior must be a {names}, got {model!r:.80}")


def belief_in(
    model: Model,
    num_tasks: int | tuple[int, ...] = 0,
    num_populations: int = 1,
    hyper_means: ArrayLike | None = None,
    *,
    population: ArrayLike | None = None,
) -> Posterior:
    """The belief in a model before any reward; see `Belief` for the arguments."""
    make: Any = kind_of(model).belief  # each takes the model of its own kind
    belief: Posterior = make(model, num_tasks, num_populations, hyper_means, population=population)
    return belief


def belief_after(model: Model, record: TaskSums, population: Indices) -> Posterior:
    """The belief in a model after a log, of which `population` gives each task's population."""
    belief = belief_in(model, population=population)
    belief.check_past(population.size, record)
    nodes = np.arange(population.size) if model.num_levels > 1 else belief.roots[population]
    belief._raw_learn_past(nodes, record)
    return belief


def model_to_dict(model: Model) -> dict[str, Any]:
    """A model of any kind as plain data, marked with its kind."""
    return {"kind": kind_of(model).tag} | model.to_dict()


def model_from_dict(parts: dict[str, Any]) -> Model:
    """The model that `model_to_dict` described, checked again."""
    tag = parts.get("kind") if isinstance(parts, dict) else None
    for kind in KINDS:
        if kind.tag == tag:
            return kind.model.from_dict({key: parts[key] for key in parts if key != "kind"})
    known = ", ".join(repr(kind.tag) for kind in KINDS)
    raise ValueError(f"kind must be one of {known}, got {tag!r:.80}")
