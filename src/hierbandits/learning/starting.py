"""The start that a log teaches: what `learn_prior` hands out, and what its promises are about."""

from hierbandits.beliefs.task_posteriors import TaskPosteriors
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.logs import Start, Survey
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.stated_covs import parts_in_common
from hierbandits.models.unknown_widths import UnknownWidths


def start_from(
    survey: Survey, sums: TaskSums, learned: GaussianHierarchy, noise_std: float | None
) -> Start:
    """The best start that a log allows.

    With one population it knows the log's tasks and leaves widths open, so that they go on being
    learned: it has less regret than one that states the widths that fit best, most of all where
    tasks are nearly equal.  There is one exception: where arms are correlated otherwise than by a
    part in common, the start states what fits best, be it any covariance or a few factors (see
    `StructureChoice` for when a log says so).  Open widths learn a factor of few arms, too: with it
    they have as little regret there, but promises of them say less and are too high.  With several
    populations a new one is one more draw from the learned hyper-prior, and `learned` is all that
    is known of it.
    """
    encoder = survey.log.encoder
    if survey.num_populations > 1:
        return Start(learned, encoder=encoder)
    arms = survey.arms if survey.is_armed else None
    return Start(open_or_stated(learned, noise_std), sums, survey.tasks, arms, encoder)


def open_or_stated(
    learned: GaussianHierarchy, noise_std: float | None
) -> UnknownWidths | GaussianHierarchy:
    """The prior of the start of one population: open widths, unless these would miss much."""
    open_widths = UnknownWidths.of(learned.dim, armed=learned.is_armed, noise_std=noise_std)
    would_miss = False
    if learned.is_armed and not learned.is_diagonal:
        would_miss = open_widths.is_diagonal or parts_in_common(learned.task_cov) is None
    return learned if would_miss else open_widths


def starting_prior(
    prior: GaussianHierarchy, posteriors: TaskPosteriors, sums: TaskSums
) -> GaussianHierarchy:
    """What an agent should believe before it meets new tasks.

    With one population the hyper-posterior given the log takes the place of the hyper-prior, so
    that the log's sums must not be learned again.  With several, a new population is one more draw
    from the learned hyper-prior.
    """
    if len(posteriors.hyper_mean) > 1:
        return prior
    covs = [posteriors.hyper_cov[0], prior.task_cov]
    return prior.with_levels(posteriors.hyper_mean[0], covs, learned_from=sums.totals())
