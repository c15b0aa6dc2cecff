"""What is assumed: hierarchies of tasks, immutable and checked once."""

from hierbandits.models.bernoulli_rewards import BernoulliRewards
from hierbandits.models.beta_hierarchy import BetaHierarchy
from hierbandits.models.binomial_rewards import BinomialRewards
from hierbandits.models.gamma_hierarchy import GammaHierarchy
from hierbandits.models.gaussian_rewards import GaussianRewards
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.model import Model
from hierbandits.models.poisson_rewards import PoissonRewards
from hierbandits.models.reward_families import FAMILIES
from hierbandits.models.reward_family import RewardFamily
from hierbandits.models.unknown_widths import UnknownWidths

__all__ = [
    "FAMILIES",
    "BernoulliRewards",
    "BetaHierarchy",
    "BinomialRewards",
    "GammaHierarchy",
    "GaussianHierarchy",
    "GaussianRewards",
    "GeneralizedHierarchy",
    "LogTotals",
    "Model",
    "PoissonRewards",
    "RewardFamily",
    "UnknownWidths",
]
