"""What is known when rewards are of a family and widths are unknown."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.beliefs.family_width_look import FIRST_WIDTHS, FamilyWidthLook
from hierbandits.beliefs.matched_belief import MatchedBelief
from hierbandits.beliefs.refit import FIRST_REFIT, SWEEPS, TOLERANCE, Refit
from hierbandits.beliefs.settled_sites import with_squares
from hierbandits.checks import index_array, positive, read_only, state_copy
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.log_totals import LogTotals
from hierbandits.models.unknown_family_widths import UnknownFamilyWidths
from hierbandits.types import Indices, Matrix


class AdaptiveMatchedBelief(MatchedBelief):
    """A `MatchedBelief` whose widths are fitted as rewards come in.

    A look comes with each refit: it weighs widths by the evidence of the rewards so far (see
    `FamilyWidthLook`), and sites match anew under those in the middle.  The log evidence is that
    of all rewards under the widths of the last look.
    """

    KIND: ClassVar[str] = "adaptive matched belief"
    FITS_WIDTHS: ClassVar[bool] = True
    LOOK_GROWTH: ClassVar[float] = 1.5  # it looks at widths as rewards grow by so much

    def __init__(
        self,
        prior: UnknownFamilyWidths,
        num_tasks: int | tuple[int, ...] = 0,
        num_populations: int = 1,
        hyper_means: ArrayLike | None = None,
        *,
        population: ArrayLike | None = None,
    ) -> None:
        if hyper_means is not None:
            raise ValueError("hyper_means must not be given: they are the prior's, of all runs")
        if not isinstance(prior, UnknownFamilyWidths):
            raise ValueError(f"prior must be UnknownFamilyWidths, got {prior!r:.80}")
        model = GeneralizedHierarchy(prior.hierarchy(), prior.rewards)
        super().__init__(model, num_tasks, num_populations, population=population)
        self.prior = prior
        # t, q and r of a look
        self._found_widths: Matrix = np.tile(FIRST_WIDTHS, (self.num_populations, 1))
        self.look_due = FIRST_REFIT  # the rewards of all populations at the next look

    def hierarchy(self, population: int = 0) -> GaussianHierarchy:
        """The hierarchy that is believed now, its widths fitted to the rewards so far."""
        row = index_array("population", [population], self.num_populations, "populations")[0]
        levels, forest = self._nodes.levels, self._nodes.forest
        return levels.hierarchies[levels.root_rows().index(int(forest.level[forest.root[row]]))]

    def add_populations(self, *_: Any, **__: Any) -> Indices:
        """Refused: populations with widths of their own are given at the start."""
        raise ValueError("populations must be given at the start where widths are unknown")

    @property
    def learned_from(self) -> list[LogTotals]:
        """The totals of the log that the prior's mean already holds."""
        return [] if self.prior.learned_from is None else [self.prior.learned_from]

    def refit(self, *, sweeps: int = SWEEPS, tolerance: float = TOLERANCE) -> Refit:
        """Fit the widths, and match the site of every reward under them, until none moves."""
        trees, work = np.arange(self.num_populations), self.copy()  # an interrupt leaves nothing
        report = MatchedBelief.refit(work, sweeps=sweeps, tolerance=tolerance)
        if work._told_rows.size:
            work._fit_widths()
            report = MatchedBelief.refit(work, sweeps=sweeps, tolerance=tolerance)
        before, after = self._hyper_moments(trees), work._hyper_moments(trees)
        self.last_refit = Refit.between(before, after, report.sweeps, report.change, tolerance)
        look = max(1.0, self.LOOK_GROWTH * float(self._evidence.count.sum()))
        # At once: no interrupt comes between the parts of an assignment.
        (
            self._nodes,
            self._evidence,
            self._site_rows,
            self._found_widths,
            self.due,
            self.swept,
            self.look_due,
        ) = (
            *(work._nodes, work._evidence, work._site_rows, work._found_widths),
            *(work.due, work.swept, look),
        )
        return self.last_refit

    def _raw_settle(self) -> None:
        """Look at the widths if rewards have grown by half; else as any `MatchedBelief`."""
        known = self._evidence.count
        each = max(1, int(np.count_nonzero(known))) if self.look_due == FIRST_REFIT else 1
        if known.sum() >= each * self.look_due:
            self.refit()
        else:
            super()._raw_settle()

    def revise(self, *event: Any, **options: Any) -> None:
        """Replace a reward of exposure 1 that was observed earlier by a corrected one."""
        super().revise(*event, **options)
        if self.look_due != FIRST_REFIT:  # it counts as a reward
            self.look_due = max(1.0, self.look_due - 1.0)

    def _raw_keep(self, nodes: Indices) -> Callable[[], None]:
        """Copy what `revise` of these nodes changes; returns a function that puts it back."""
        put_back, due = super()._raw_keep(nodes), self.look_due

        def put_all_back() -> None:
            put_back()
            self.look_due = due

        return put_all_back

    def _fit_widths(self) -> None:
        """Look at each population's widths, and start it over from its sites under these."""
        rows, nodes = self._told_rows, self._nodes
        of_row = nodes.forest.populations(rows.nodes)
        populations, hierarchies = np.unique(of_row), []
        for population in populations.tolist():
            own = np.flatnonzero(of_row == population)
            before = self._found_widths[population].tolist()
            look = FamilyWidthLook.of_rows(self.prior, rows, own, before)
            self._found_widths[population] = look.found
            hierarchies.append(look.hierarchy())
        sites, parts = rows.settled.copy(), self._evidence.parts
        sites.add(rows.nodes, rows.features, rows.sites)
        sums, before = with_squares(sites.sums(self.num_nodes)), parts[:, populations].copy()
        known = [self.hierarchy(population) for population in populations.tolist()]
        logs = []  # of the sites, under the widths before and after
        for each in (known, hierarchies):
            self._restart(populations, each, sums)
            logs.append(self._evidence.log()[populations])
        before[1] -= 2.0 * (logs[1] - logs[0])
        parts[:, populations] = before

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All state as plain data and arrays that cannot be written, without copies."""
        meta, arrays = super().state()
        own = {"family_widths": read_only(self._found_widths)}
        own_meta = {"model": self.prior.to_dict(), "look_due": self.look_due}
        return own_meta | meta, arrays | own

    def copy(self) -> "AdaptiveMatchedBelief":
        """An independent belief of the same state."""
        twin = super().copy()
        assert isinstance(twin, AdaptiveMatchedBelief)
        twin._found_widths = self._found_widths.copy()
        return twin

    @classmethod
    def from_state(
        cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> "AdaptiveMatchedBelief":
        """The belief that `state` described, checked."""
        prior = UnknownFamilyWidths.from_dict(meta["model"])
        belief = super().from_state(meta, arrays)
        assert isinstance(belief, cls)
        levels = belief._nodes.levels
        form = levels.dim, levels.is_armed, levels.num_levels, levels.is_diagonal
        if form != (prior.dim, prior.is_armed, 2, prior.is_diagonal):
            raise ValueError(f"hierarchies must have the form of {prior}")
        if belief.family != prior.rewards:
            raise ValueError(f"rewards must be those of {prior}, got {belief.family}")
        belief.prior = prior
        belief.look_due = float(positive("look_due", meta.get("look_due", FIRST_REFIT), ()))
        shape = belief.num_populations, 3
        belief._found_widths = state_copy("family_widths", arrays["family_widths"], shape)
        if (belief._found_widths[:, :2] <= 0).any() or not (belief._found_widths[:, 2] >= 0).all():
            raise ValueError("family_widths must be two widths and a share of each population")
        return belief
