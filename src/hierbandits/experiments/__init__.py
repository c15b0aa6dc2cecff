"""The paper's experiments and our own, by name."""

from hierbandits.experiments import (
    adaptive,
    clicks,
    concurrency,
    digits,
    meta,
    rules,
    shapes,
    similarity,
    synthetic,
)
from hierbandits.experiments.experiment import Experiment, Options
from hierbandits.experiments.named_worlds import WORLDS

EXPERIMENTS: dict[str, Experiment] = {
    "synthetic": synthetic.EXPERIMENT,
    "similarity": similarity.EXPERIMENT,
    "adaptive": adaptive.EXPERIMENT,
    "shapes": shapes.EXPERIMENT,
    "concurrency": concurrency.EXPERIMENT,
    "meta": meta.EXPERIMENT,
    "rules": rules.EXPERIMENT,
    "digits": digits.EXPERIMENT,
    "clicks": clicks.EXPERIMENT,
}
"""The experiments that `hierbandits reproduce` knows, by name."""

__all__ = ["EXPERIMENTS", "WORLDS", "Experiment", "Options"]
