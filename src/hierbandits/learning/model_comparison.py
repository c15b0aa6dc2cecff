"""Are tasks one, alike, or strangers?  The evidence for each, widths integrated out."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from hierbandits.beliefs.evidence import Evidence
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.learning.family_evidence import FamilyEvidence, GivenFamilyWidth
from hierbandits.learning.width_evidence import GivenTaskWidth, WidthEvidence
from hierbandits.learning.width_grid import finer, log_weights, masses
from hierbandits.reporting.notebook_card import notebook_card
from hierbandits.types import Indices, Matrix, Vector

LOWEST, HIGHEST, FURTHEST = -7, 5, 20  # of the widths, powers of two
EDGE_MASS = 0.01  # a probability at an end of the grid that is worth a word


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """Three models of the same rewards, each averaged over the same widths.

        pooled        theta_p ~ N(c, q^2 U^2), one for all tasks of a population
        hierarchical  mu_p ~ N(c, q^2 U^2), theta_s ~ N(mu_p, t^2 U^2)
        independent   theta_s ~ N(c, t^2 U^2)

    in units of the noise, whose scale is integrated out unless it is given.  c is the mean reward
    of the log if armed and otherwise 0, and U is 1 over a feature's root mean square: all three
    know the mean and the scale of rewards, and nothing about which arm is good.  q and t are
    log-uniform from 2^-7 to 2^5, or as far up as there is weight; the grid is finer where the
    weight is, and sums over it are by the trapezoid rule.  The same U for every model and arm
    keeps the comparison fair: a fitted shape would be an advantage that only the hierarchy has.
    """

    task_widths: Vector  # the grid of t, in noise units, (T,)
    hyper_widths: Vector  # the grid of q, (Q,)
    pooled: Vector  # log evidence for each q, (Q,)
    hierarchical: Matrix  # for each t and q, (T, Q)
    independent: Vector  # for each t, (T,)
    centre: float  # c
    unit: Vector  # U, (d,)
    noise: Mapping[str, float]  # each model's noise at its typical widths
    scale: str = "in units of the noise"  # of widths

    @classmethod
    def of(
        cls, sums: TaskSums, population: Indices, noise_std: float | None = None
    ) -> "Comparison":
        """Compare the models on these sums."""
        return cls.by(WidthEvidence.of(sums, population, noise_std or 1.0), noise_std)

    @classmethod
    def by(
        cls, evidence: "WidthEvidence | FamilyEvidence", noise_std: float | None
    ) -> "Comparison":
        """Compare the models by the evidence of every two widths."""
        search = _Search(evidence, noise_std)
        comparison = search.run()
        for name, widths in comparison.typical.items():
            search.noise[name] = noise_std or search.width_evidence.noise(*widths)
        return comparison

    def __repr__(self) -> str:
        odds = ", ".join(f"{name} {share:.3g}" for name, share in self.probability.items())
        return f"<Comparison: {self.best} fits best; probabilities: {odds}>"

    def _repr_html_(self) -> str:
        logs, shares = self.log_evidence, self.probability
        best = logs[self.best]
        rows = [[name, f"{logs[name] - best:.4g}", f"{shares[name]:.3g}"] for name in logs]
        columns = ("model", "log evidence less the best", "probability")
        return notebook_card(repr(self), (), [("One, alike, or strangers?", columns, rows)])

    @property
    def log_evidence(self) -> dict[str, float]:
        """Each model's log evidence, averaged over its widths, up to a constant that all share."""
        return {name: float(logsumexp(log)) for name, log in self._weighted.items()}

    @property
    def probability(self) -> dict[str, float]:
        """How probable each model is, if all three were as probable beforehand."""
        logs = np.array(list(self.log_evidence.values()))
        weights = np.exp(logs - logsumexp(logs))
        return dict(zip(self.log_evidence, weights.tolist(), strict=True))

    @property
    def best(self) -> str:
        """The most probable model."""
        logs = self.log_evidence
        return max(logs, key=lambda name: logs[name])

    def log_odds(self, model: str, other: str) -> float:
        """By how much the log speaks for one model over another."""
        logs = self.log_evidence
        return logs[model] - logs[other]

    @property
    def typical(self) -> dict[str, tuple[float, float]]:
        """Each model's task and hyper width in noise units: geometric means of its posterior."""
        t, q = np.log(self.task_widths), np.log(self.hyper_widths)
        mass = self.masses
        both = (float(np.exp(t @ mass["hierarchical task"])),
                float(np.exp(q @ mass["hierarchical hyper"])))  # fmt: skip
        return {
            "pooled": (0.0, float(np.exp(q @ mass["pooled hyper"]))),
            "hierarchical": both,
            "independent": (float(np.exp(t @ mass["independent task"])), 0.0),
        }

    @property
    def masses(self) -> dict[str, Vector]:
        """How probable each point of the grid is, for the widths of each model."""
        logs = self._weighted
        both = masses(logs["hierarchical"])
        return {
            "pooled hyper": masses(logs["pooled"]),
            "hierarchical task": both.sum(1),
            "hierarchical hyper": both.sum(0),
            "independent task": masses(logs["independent"]),
        }

    @property
    def edges(self) -> list[str]:
        """Where a model has more than EDGE_MASS of its probability at an end of the grid."""
        return [
            f"{name} width at the {end} end"
            for name, mass in self.masses.items()
            for end, place in (("low", 0), ("high", -1))
            if mass[place] > EDGE_MASS
        ]

    @property
    def _weighted(self) -> dict[str, Matrix]:
        """Log evidence plus the log-uniform prior of each point."""
        t, q = log_weights(self.task_widths), log_weights(self.hyper_widths)
        return {
            "pooled": self.pooled + q,
            "hierarchical": self.hierarchical + t[:, None] + q,
            "independent": self.independent + t,
        }


class _Search:
    """Extends and refines the grid until each model's mass is inside it, on enough points."""

    def __init__(
        self, width_evidence: WidthEvidence | FamilyEvidence, noise_std: float | None
    ) -> None:
        self.width_evidence, self.noise = width_evidence, dict[str, float]()
        self._noise_std = noise_std
        # By task width:
        self._given: dict[float, GivenTaskWidth | GivenFamilyWidth]
        self._given = {0.0: width_evidence.at(0.0)}

    def run(self) -> Comparison:
        highest = HIGHEST
        task = hyper = 2.0 ** np.arange(LOWEST, HIGHEST + 1)
        while True:
            comparison = self._compared(task, hyper)
            if highest < FURTHEST and any("high" in edge for edge in comparison.edges):
                more = 2.0 ** np.arange(highest + 1, highest + 4)
                highest, task, hyper = highest + 3, np.append(task, more), np.append(hyper, more)
                continue
            mass = comparison.masses
            new_task = finer(task, mass["hierarchical task"], mass["independent task"])
            new_hyper = finer(hyper, mass["hierarchical hyper"], mass["pooled hyper"])
            if new_task.size == task.size and new_hyper.size == hyper.size:
                return comparison
            task, hyper = new_task, new_hyper

    def _compared(self, task: Vector, hyper: Vector) -> Comparison:
        for t in task.tolist():
            if t not in self._given:
                self._given[t] = self.width_evidence.at(t)
        widths = np.append(0.0, hyper)  # no hyper width: independent tasks
        both = np.array([self._log(self._given[t].evidence(widths)) for t in task.tolist()])
        return Comparison(
            task_widths=task,
            hyper_widths=hyper,
            pooled=self._log(self._given[0.0].evidence(hyper)),
            hierarchical=both[:, 1:],
            independent=both[:, 0],
            centre=self.width_evidence.centre,
            unit=self.width_evidence.unit,
            noise=self.noise,
        )

    def _log(self, evidence: Evidence) -> Vector:
        if self._noise_std is None:
            return evidence.log_any_scale()
        log: Vector = evidence.log() - evidence.count * np.log(self._noise_std)
        return log
