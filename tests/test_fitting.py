"""Learning the prior: the E-step against brute force, the optimum against what is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from support.oracle import full, random_cov
from support.worlds import assert_close, worlds

from hierbandits import Belief, TaskSums
from hierbandits.fitting import expectation, fit_prior, search
from hierbandits.fitting import maximum_evidence as fitting
from hierbandits.fitting import width_errors as errors
from hierbandits.fitting.expectation import Model, expect
from hierbandits.fitting.structure import Structure
from hierbandits.fitting.units import Units

STRUCTURES = ["scalar", "diagonal", "full", "low-rank"]
FORMS = [(s, False) for s in STRUCTURES] + [("scalar", True), ("diagonal", True)]


def _drawn(rng, *, tasks, events, task_cov, noise, hyper_cov, mean, populations=1, armed=False):
    """Sums of a world drawn from the model: `events` per task."""
    d = len(mean)
    mu = rng.multivariate_normal(mean, hyper_cov, populations)
    theta = np.repeat(mu, tasks, axis=0)
    theta = theta + rng.multivariate_normal(np.zeros(d), task_cov, len(theta))
    rows = np.repeat(np.arange(len(theta)), events)
    x = rng.integers(0, d, rows.size) if armed else rng.standard_normal((rows.size, d))
    signal = theta[rows, x] if armed else (x * theta[rows]).sum(1)
    sums = TaskSums.zeros(len(theta), d, armed=armed)
    sums.add(rows, x, signal + noise * rng.standard_normal(rows.size))
    return sums


def _evenly(sums, populations):
    """The population of each task: equal shares, in order."""
    return np.arange(len(sums.n)) * populations // len(sums.n)


def _problem(sums, populations, structure, monkeypatch, rank=1):
    """The problem that fit_prior sets itself, and its units."""
    caught = {}

    def catch(problem, units, *_):
        caught.update(problem=problem, units=units)

    monkeypatch.setattr(fitting, "_fit", catch)
    fit_prior(sums, population=_evenly(sums, populations), structure=structure, rank=rank)
    monkeypatch.undo()
    return caught["problem"], caught["units"]


@dataclass
class Brute:
    """What the E-step gives, from the dense joint."""

    scatter: np.ndarray
    square: float
    hyper_scatter: np.ndarray
    steps: np.ndarray


def _brute(world, joint, about):
    d, m, populations = world.prior.dim, world.num_tasks, world.num_populations
    scatter, hyper, steps, square = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d), 0.0
    difference = np.hstack([np.eye(d), -np.eye(d)])
    for s in range(m):
        mean, cov = joint.of(s, m + s // (m // populations))
        step = difference @ mean
        if (world.tasks == s).any():
            scatter += np.outer(step, step) + difference @ cov @ difference.T
    for p in range(populations):
        mean, cov = joint.of(m + p)
        hyper += np.outer(mean - about, mean - about) + cov
        steps += mean - world.prior.hyper_mean
    for task, x, y in zip(world.tasks, world.vectors(), world.rewards, strict=True):
        mean, cov = joint.of(task)
        square += (y - x @ mean) ** 2 + x @ cov @ x
    return Brute(scatter, square, hyper, steps)


@pytest.mark.parametrize("chunk", [expectation._CHUNK, 1])
@settings(max_examples=60)
@given(world=worlds(levels=st.just(2)), seed=st.integers(0, 2**32 - 1))
def test_the_e_step_matches_the_dense_joint(chunk, world, seed):
    prior = world.prior
    world.hyper_means = np.tile(prior.hyper_mean, (world.num_populations, 1))
    world.noise_std = np.full(len(world.rewards), prior.noise_std)
    sums = TaskSums.zeros(world.num_tasks, prior.dim, armed=prior.is_armed)
    sums.add(world.tasks, world.features, world.rewards)
    seen = np.flatnonzero(sums.n)
    kept = TaskSums(sums.xx[seen], sums.xy[seen], sums.yy[seen], sums.n[seen])
    model = Model(prior.hyper_mean, prior.hyper_cov, prior.task_cov, prior.noise_std**2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expectation, "_CHUNK", chunk)
        found = expect(model, kept, seen // world.shape[0], world.num_populations)
    joint = world.joint()
    scale = np.sqrt(np.diagonal(full(prior.hyper_cov)).max())
    about = prior.hyper_mean + scale * np.random.default_rng(seed).standard_normal(prior.dim)
    brute = _brute(world, joint, about)

    def form(cov):  # the armed form keeps variances alone
        return np.diagonal(cov) if prior.is_armed else cov

    unit = max(1.0, np.abs(joint.log_evidence))
    assert_close(found.log_evidence, joint.log_evidence, scale=unit)
    assert_close(found.task_scatter(prior.task_cov), form(brute.scatter), rtol=1e-7)
    hyper = found.hyper_scatter(prior.hyper_cov, prior.hyper_mean, about)
    assert_close(hyper, form(brute.hyper_scatter), rtol=1e-7)
    assert_close(found.square, brute.square, scale=max(sums.yy.sum(), brute.square), rtol=1e-7)
    slope = np.linalg.solve(full(prior.hyper_cov), brute.steps)
    assert_close(found.hyper_slope, slope, rtol=1e-5, scale=np.abs(slope).max() + 1 / scale)


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("populations", [1, 3])
def test_the_gradient_is_the_slope_of_evidence_and_weak_priors(
    structure, armed, populations, monkeypatch
):
    rng = np.random.default_rng(1)
    cov = np.diag([0.3, 0.1, 0.5, 0.2]) if armed else random_cov(rng, 4, 0.5)
    sums = _drawn(rng, tasks=4, events=5, task_cov=cov, noise=0.7, hyper_cov=np.eye(4),
                  mean=np.arange(4.0), populations=populations, armed=armed)  # fmt: skip
    problem, _ = _problem(sums, populations, structure, monkeypatch, rank=2)
    free = problem.free(problem.start)
    free = free + 0.3 * rng.standard_normal(free.size)
    value, slope = problem.value_and_slope(free)
    model = problem.model(free)
    expected = problem.expect(model).log_evidence + problem.log_prior(model)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert slope.size == len(problem.bounds()) == len(problem.steps())
    for i, move in enumerate(1e-5 * np.eye(free.size)):
        ahead, behind = (problem.value_and_slope(free + s * move)[0] for s in (1, -1))
        np.testing.assert_allclose(slope[i], (ahead - behind) / 2e-5, rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("populations", [1, 6])
def test_a_fit_climbs_to_a_top_whose_evidence_a_belief_confirms(structure, armed, populations):
    rng = np.random.default_rng(2)
    cov = np.diag([0.3, 0.1, 0.5, 0.2]) if armed else random_cov(rng, 4, 0.5)
    sums = _drawn(rng, tasks=12, events=9, task_cov=cov, noise=0.7, hyper_cov=np.eye(4),
                  mean=np.arange(4.0), populations=populations, armed=armed)  # fmt: skip
    fit = fit_prior(sums, population=_evenly(sums, populations), structure=structure)
    assert fit.converged
    assert fit.iterations == len(fit.trace) - 1
    assert (np.diff(fit.trace) > -1e-9 * np.abs(fit.trace[-1])).all()
    assert fit.trace[-1] > fit.trace[0]
    belief = Belief.from_sums(fit.prior, sums, populations)
    np.testing.assert_allclose(belief.log_evidence().sum(), fit.log_evidence, rtol=1e-9)


@pytest.mark.parametrize(("structure", "armed"), [f for f in FORMS if f[0] != "low-rank"])
def test_em_and_lbfgs_stop_at_the_same_top(structure, armed, monkeypatch):
    rng = np.random.default_rng(3)
    cov = np.diag([0.3, 0.1, 0.5]) if armed else random_cov(rng, 3, 0.7)
    sums = _drawn(rng, tasks=15, events=12, task_cov=cov, noise=0.4, hyper_cov=np.eye(3),
                  mean=np.ones(3), populations=5, armed=armed)  # fmt: skip
    fit = fit_prior(sums, population=_evenly(sums, 5), structure=structure, tolerance=1e-10)
    problem, units = _problem(sums, 5, structure, monkeypatch)
    model, trace = search.em(problem, 3000, 1e-11)
    assert (np.diff(trace) > -1e-9).all()
    np.testing.assert_allclose(units.cov_out(model.task_cov), fit.prior.task_cov, atol=2e-4)
    np.testing.assert_allclose(units.cov_out(model.hyper_cov), fit.prior.hyper_cov, atol=2e-3)
    np.testing.assert_allclose(np.sqrt(model.noise_var) * units.reward, fit.prior.noise_std, 1e-4)


def test_the_m_step_is_where_its_objective_is_flat():
    rng = np.random.default_rng(4)
    scatter = random_cov(rng, 3)
    for structure, count in [("scalar", 7), ("diagonal", 7), ("full", 7), ("full", 1), ("full", 0)]:
        form = Structure.of(structure, 3, 1, armed=False)
        cov = form.maximise(scatter if count else np.zeros((3, 3)), count)
        inverse = np.linalg.inv(cov)
        slope = (inverse @ scatter @ inverse - count * inverse) / 2 if count else 0 * cov
        slope = slope + form.log_prior_slope(cov)
        np.testing.assert_allclose(form.slope(form.free(cov), slope), 0.0, atol=1e-10)


def test_the_weak_priors_are_as_documented(monkeypatch):
    rng = np.random.default_rng(16)
    cov = random_cov(rng, 3)
    documented = (np.linalg.slogdet(cov)[1] - np.trace(cov)) / 2
    np.testing.assert_allclose(Structure.of("full", 3, 1, armed=False).log_prior(cov), documented)
    for armed in (False, True):
        scalar = Structure.of("scalar", 3, 1, armed=armed)
        var = np.full(3, 0.3)
        value = scalar.log_prior(var if armed else np.diag(var))
        np.testing.assert_allclose(value, (np.log(0.3) - 0.3) / 2)
    problem, _ = _problem(TaskSums.zeros(2, 3), 1, "full", monkeypatch)
    model = Model(np.zeros(3), np.eye(3), cov, 0.2)
    noise = -(np.log(0.2) + 1 / 0.2) / 200
    np.testing.assert_allclose(problem.log_prior(model), documented + noise)


@pytest.mark.parametrize(("structure", "armed"), FORMS)
def test_widths_are_recovered_better_from_more_tasks(structure, armed):
    rng = np.random.default_rng(5)
    stds = np.full(3, 0.3) if structure == "scalar" else np.array([0.2, 0.4, 0.8])
    cov = np.diag(stds**2)
    if structure in ("full", "low-rank"):
        loading = np.array([0.3, -0.6, 0.5])
        cov = cov + np.outer(loading, loading)
    errors = []
    for tasks in (25, 2500):
        sums = _drawn(rng, tasks=tasks, events=30, task_cov=cov, noise=0.5, hyper_cov=np.eye(3),
                      mean=np.array([1.0, -2.0, 3.0]), armed=armed)  # fmt: skip
        fit = fit_prior(sums, structure=structure)
        errors.append(np.abs(full(fit.prior.task_cov) - cov).max() / cov.max())
        logs = np.log(fit.task_widths.std / np.sqrt(np.diagonal(cov)))
        assert (np.abs(logs) < 6 * fit.task_widths.log_error).all()
        noise = np.log(fit.noise_width.std / 0.5)
        assert abs(noise[0]) < 6 * fit.noise_width.log_error[0]
        assert fit.converged
    assert errors[1] < 0.12
    assert errors[1] < errors[0]


def test_the_hyper_prior_of_many_populations_is_recovered():
    rng = np.random.default_rng(6)
    mean, hyper = np.array([1.0, -2.0]), np.array([[1.0, 0.5], [0.5, 2.0]])
    sums = _drawn(rng, tasks=10, events=15, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=hyper, mean=mean, populations=500)  # fmt: skip
    fit = fit_prior(sums, population=_evenly(sums, 500), structure="full")
    np.testing.assert_allclose(fit.prior.hyper_mean, mean, atol=6 * np.sqrt(2 / 500))
    np.testing.assert_allclose(fit.prior.hyper_cov, hyper, atol=6 * 2 * np.sqrt(2 / 500))
    assert (np.abs(np.log(fit.hyper_widths.std**2 / [1.0, 2.0]) / 2) < 6 / np.sqrt(1000)).all()
    np.testing.assert_allclose(fit.hyper_widths.log_error, 1 / np.sqrt(1000), rtol=0.1)
    known = fit_prior(sums, population=_evenly(sums, 500), structure="full", hyper_mean=mean,
                      hyper_cov=hyper, noise_std=0.5)  # fmt: skip
    np.testing.assert_array_equal(known.prior.hyper_mean, mean)
    np.testing.assert_allclose(known.prior.hyper_cov, hyper, rtol=1e-12)
    np.testing.assert_allclose(known.prior.noise_std, 0.5, rtol=1e-12)
    assert np.isnan(known.noise_width.log_error).all()
    assert np.isnan(known.hyper_widths.log_error).all()


@pytest.mark.parametrize("structure", ["scalar", "diagonal", "full"])
def test_intervals_cover_at_their_rate(structure):
    """30 tasks, 200 data sets: each of the widths and the noise is within 6 standard errors."""
    rng = np.random.default_rng(7)
    runs, stds = 200, np.array([0.3, 0.3])
    inside = []
    for _ in range(runs):
        sums = _drawn(rng, tasks=30, events=15, task_cov=np.diag(stds**2), noise=0.5,
                      hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
        fit = fit_prior(sums, structure=structure)
        task, noise = fit.task_widths, fit.noise_width
        low, high = np.append(task.low, noise.low), np.append(task.high, noise.high)
        truth = np.append(stds, 0.5)
        inside.append((low < truth) & (truth < high))
    cover = np.mean(inside, axis=0)
    assert (np.abs(cover - 0.95) < 6 * np.sqrt(0.95 * 0.05 / runs)).all(), cover


def test_widths_that_the_data_cannot_see_may_be_zero():
    """Tasks differ along the first feature alone: the second's interval starts at zero."""
    rng = np.random.default_rng(14)
    cov = np.diag([0.25, 1e-8])
    for armed in (False, True):
        sums = _drawn(rng, tasks=40, events=20, task_cov=cov, noise=0.5, hyper_cov=np.eye(2),
                      mean=np.ones(2), armed=armed)  # fmt: skip
        for structure in ("diagonal",) if armed else ("diagonal", "full", "low-rank"):
            widths = fit_prior(sums, structure=structure).task_widths
            assert widths.maybe_zero.tolist() == [False, True]
            assert widths.low[0] > 0.3
            assert widths.low[1] == 0.0
            assert widths.std[1] < 0.15


def test_a_balanced_one_way_layout_has_the_textbook_answer():
    """With one arm and n rewards per task, REML is (between - within) / n; ours is near it."""
    rng = np.random.default_rng(8)
    m, n = 400, 10
    y = 3.0 + 0.6 * rng.standard_normal((m, 1)) + 0.9 * rng.standard_normal((m, n))
    sums = TaskSums.zeros(m, 1, armed=True)
    sums.add(np.repeat(np.arange(m), n), np.zeros(m * n, int), y.ravel())
    within = ((y - y.mean(1, keepdims=True)) ** 2).sum() / (m * (n - 1))
    between = n * y.mean(1).var(ddof=1)
    fit = fit_prior(sums)
    # The weak prior's slope, (1 - v / unit) / 2, moves the top by about that many tasks' worth.
    np.testing.assert_allclose(fit.prior.task_cov, (between - within) / n, rtol=2 / m)
    np.testing.assert_allclose(fit.prior.noise_std**2, within, rtol=1e-3)


def _degenerate(case, armed):
    """Six tasks of five features with next to no data, or data of one value."""
    rng = np.random.default_rng(10)
    d, m = 5, 6
    sums = TaskSums.zeros(m, d, armed=armed)
    size = {"none": 0, "one event": 1, "one task": 40, "wide": m}.get(case, 60)
    tasks = np.arange(size) % m if case in ("constant", "zero", "wide") else np.zeros(size, int)
    x = rng.integers(0, d, size) if armed else rng.standard_normal((size, d))
    y = {"constant": 3.7, "zero": 0.0}.get(case, rng.standard_normal(size)) * np.ones(size)
    sums.add(tasks, x, y)
    return sums


# Populations


def _taken(sums, rows):
    return TaskSums(*(getattr(sums, name)[rows] for name in ("xx", "xy", "yy", "n")))


@pytest.mark.parametrize("armed", [False, True])
def test_populations_may_have_any_size_and_order(armed):
    """The evidence is the sum of those of beliefs that each hold one population."""
    rng = np.random.default_rng(17)
    sums = _drawn(rng, tasks=6, events=12, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=np.eye(2), mean=np.ones(2), populations=5, armed=armed)  # fmt: skip
    kept = [0, 6, 7, 12, 13, 14, 15, 16, 18, 19, 24, 25, 26, 27]  # 1, 2, 5, 2 and 4 tasks
    sums, population = _taken(sums, kept), np.array(kept) // 6
    fit = fit_prior(sums, population=population)
    evidence = [
        Belief.from_sums(fit.prior, _taken(sums, np.flatnonzero(population == p))).log_evidence()
        for p in range(5)
    ]
    np.testing.assert_allclose(fit.log_evidence, np.sum(evidence), rtol=1e-10)
    mixed = rng.permutation(len(kept))
    names = rng.permutation(5)
    other = fit_prior(_taken(sums, mixed), population=names[population[mixed]])
    np.testing.assert_allclose(other.prior.task_cov, fit.prior.task_cov, rtol=1e-6)
    np.testing.assert_allclose(other.prior.hyper_cov, fit.prior.hyper_cov, rtol=1e-6)
    np.testing.assert_allclose(other.log_evidence, fit.log_evidence, rtol=1e-10)


def test_populations_without_data_change_nothing():
    rng = np.random.default_rng(18)
    sums = _drawn(rng, tasks=4, events=8, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=np.eye(2), mean=np.ones(2), populations=3)  # fmt: skip
    population = _evenly(sums, 3)
    empty = TaskSums.zeros(5, 2)
    more = TaskSums(*(np.concatenate([getattr(empty, name), getattr(sums, name)])
                      for name in ("xx", "xy", "yy", "n")))  # fmt: skip
    longer = np.concatenate([[9, 0, 7, 3, 3], 2 * population + 4])
    one, two = fit_prior(sums, population=population), fit_prior(more, population=longer)
    np.testing.assert_allclose(two.prior.task_cov, one.prior.task_cov, rtol=1e-8)
    np.testing.assert_allclose(two.prior.hyper_cov, one.prior.hyper_cov, rtol=1e-8)
    lone = np.where(population == 1, 2, 0)  # the only data are in one of two populations
    quiet = _taken(sums, np.arange(12))
    for name in ("xx", "xy", "yy", "n"):
        getattr(quiet, name)[population == 1] = 0.0
    only = _taken(quiet, np.flatnonzero(population != 1))
    one, two = fit_prior(only), fit_prior(quiet, population=lone)
    np.testing.assert_allclose(two.prior.task_cov, one.prior.task_cov, rtol=1e-8)
    np.testing.assert_allclose(two.prior.hyper_cov, one.prior.hyper_cov, rtol=1e-8)
    assert np.isnan(two.hyper_widths.log_error).all()


# Without weak priors


def _one_way(rng, m, n, task_std):
    """One arm, n rewards a task: the sums, and the mean squares between and within tasks."""
    y = 3.0 + task_std * rng.standard_normal((m, 1)) + 0.9 * rng.standard_normal((m, n))
    sums = TaskSums.zeros(m, 1, armed=True)
    sums.add(np.repeat(np.arange(m), n), np.zeros(m * n, int), y.ravel())
    within = ((y - y.mean(1, keepdims=True)) ** 2).sum() / (m * (n - 1))
    return sums, n * y.mean(1).var(ddof=1), within, y


def test_without_weak_priors_a_one_way_layout_is_the_textbooks_exactly():
    sums, between, within, _ = _one_way(np.random.default_rng(19), 25, 6, 0.6)
    fit = fit_prior(sums, weak_priors=False, tolerance=1e-10)
    np.testing.assert_allclose(fit.prior.task_cov, (between - within) / 6, rtol=1e-5)
    np.testing.assert_allclose(fit.prior.noise_std**2, within, rtol=1e-5)
    assert not fit.at_edge
    assert fit.trace[-1] == pytest.approx(fit.log_evidence, rel=1e-12)


@pytest.mark.parametrize("structure", ["scalar", "diagonal"])
def test_a_width_that_is_best_at_zero_sits_at_its_bound(structure):
    """Tasks more alike than the noise allows: the noise is then that of all rewards together."""
    rng = np.random.default_rng(20)
    while True:
        sums, between, within, y = _one_way(rng, 25, 6, 0.0)
        if between < 0.9 * within:
            break
    fit = fit_prior(sums, structure=structure, weak_priors=False, tolerance=1e-10)
    assert fit.at_edge
    assert fit.task_widths.at_bound.all()
    assert fit.task_widths.maybe_zero.all()
    assert fit.task_widths.std[0] < 1e-6
    assert fit.task_widths.low[0] == 0.0
    assert not fit.noise_width.at_bound.any()
    np.testing.assert_allclose(fit.prior.noise_std**2, y.var(ddof=1), rtol=1e-5)
    weak = fit_prior(sums, structure=structure)
    assert not weak.at_edge
    assert not weak.task_widths.at_bound.any()
    assert weak.task_widths.maybe_zero.all()


def test_a_full_covariance_of_few_tasks_is_singular_without_weak_priors():
    rng = np.random.default_rng(21)
    sums = _drawn(rng, tasks=3, events=30, task_cov=np.eye(4), noise=0.3, hyper_cov=np.eye(4),
                  mean=np.zeros(4))  # fmt: skip
    bare, weak = (fit_prior(sums, structure="full", weak_priors=w) for w in (False, True))
    assert bare.at_edge
    assert not bare.task_widths.at_bound.any()  # each width is clear, some directions are not
    assert np.linalg.cond(bare.prior.task_cov) > 1e6
    assert np.linalg.cond(weak.prior.task_cov) < 1e4
    assert not weak.at_edge


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("case", ["one event", "one task", "constant", "zero", "wide"])
@pytest.mark.parametrize("populations", [1, 2])
def test_degenerate_logs_without_weak_priors_give_finite_priors(
    structure, armed, case, populations
):
    sums = _degenerate(case, armed)
    fit = fit_prior(sums, population=_evenly(sums, populations), structure=structure,
                    weak_priors=False)  # fmt: skip
    stds = np.array([*fit.task_widths.std, *fit.hyper_widths.std, fit.prior.noise_std])
    assert np.isfinite(stds).all()
    assert (stds > 0).all()
    assert np.isfinite([fit.log_evidence, *fit.trace]).all()


def test_no_events_need_weak_priors():
    with pytest.raises(ValueError, match="sums must hold an event when weak_priors is False"):
        fit_prior(TaskSums.zeros(3, 2), weak_priors=False)


# How sure


def test_errors_are_those_of_the_log_likelihoods_curvature():
    """One way, balanced, by textbook: the information of the two mean squares."""
    m, n = 40, 8
    sums, between, within, _ = _one_way(np.random.default_rng(22), m, n, 0.6)
    fit = fit_prior(sums, weak_priors=False, tolerance=1e-11)
    # between ~ B chi2(m-1) / (m-1), B = noise + n task; within ~ noise chi2(m(n-1)) / (m(n-1))
    task, noise = fit.prior.task_cov[0], fit.prior.noise_std**2
    spread = 2 * between**2 / (m - 1), 2 * within**2 / (m * (n - 1))
    noise_error = np.sqrt(spread[1]) / noise / 2
    task_error = np.sqrt(spread[0] + spread[1]) / n / task / 2
    np.testing.assert_allclose(fit.noise_width.log_error, noise_error, rtol=1e-3)
    np.testing.assert_allclose(fit.task_widths.log_error, task_error, rtol=1e-3)


def test_zero_is_ruled_out_at_its_rate():
    """Where tasks do not differ, one in forty widths is taken for one that does."""
    rng = np.random.default_rng(23)
    runs = 100
    for structure, d in (("diagonal", 1), ("full", 2)):
        out = []
        for _ in range(runs):
            sums = _drawn(rng, tasks=20, events=15, task_cov=np.zeros((d, d)), noise=1.0,
                          hyper_cov=np.eye(d), mean=np.zeros(d))  # fmt: skip
            out.append(~fit_prior(sums, structure=structure).task_widths.maybe_zero)
        assert np.mean(out) < 0.025 + 4 * np.sqrt(0.025 * 0.975 / runs), structure


@pytest.mark.parametrize("width", [0.1, 0.3, 1.0])
def test_the_loss_at_zero_is_that_of_a_fit_without_the_width(width, monkeypatch):
    rng = np.random.default_rng(27)
    sums = _drawn(rng, tasks=30, events=15, task_cov=np.diag([width**2, 0.25]), noise=0.7,
                  hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
    problem, _ = _problem(sums, 1, "diagonal", monkeypatch)
    problem = replace(problem, form=replace(problem.form, weight=0.0), noise_weight=0.0)
    free, _ = search.search(problem, 200, 1e-9)
    model = problem.model(free)

    def without(others):
        value, slope = problem.value_and_slope(np.append(np.log(1e-4), others))
        return -value, -slope[1:]

    best = -minimize(without, free[1:], jac=True, method="L-BFGS-B").fun
    loss = errors._losses(problem, model, "task_cov")[0] * problem.form.drop
    exact = problem.expect(model).log_evidence - best
    np.testing.assert_allclose(loss, exact, atol=0.01, rtol=0.01)


def test_the_drop_that_rules_zero_out():
    drops = [Structure.of("full", d, 1, armed=False).drop for d in (1, 2, 5)]
    draws = np.random.default_rng(24).standard_normal((10**6, 5)) ** 2
    coin = np.random.default_rng(25).integers(0, 2, 10**6)
    for drop, d in zip(drops, (1, 2, 5), strict=True):
        twice = draws[:, : d - 1].sum(1) + coin * draws[:, d - 1]
        assert abs((twice > 2 * drop).mean() - 0.025) < 6 * np.sqrt(0.025 / 10**6)
    assert Structure.of("low-rank", 5, 1, armed=False).drop == pytest.approx(drops[1])
    assert Structure.of("diagonal", 5, 1, armed=False).drop == pytest.approx(1.9207294)


def test_a_factor_start_is_near_the_covariance():
    rng = np.random.default_rng(26)
    loading, own = rng.standard_normal((6, 2)), rng.uniform(0.3, 1.0, 6)
    cov = loading @ loading.T + np.diag(own)
    form = Structure.of("low-rank", 6, 2, armed=False)
    np.testing.assert_allclose(form.cov(form.free(cov)), cov, atol=0.02)


# Few data


@pytest.mark.parametrize(("structure", "armed"), FORMS)
def test_three_tasks_give_sensible_widths(structure, armed):
    rng = np.random.default_rng(9)
    for _ in range(10):
        sums = _drawn(rng, tasks=3, events=6, task_cov=0.09 * np.eye(4), noise=0.5,
                      hyper_cov=np.eye(4), mean=np.zeros(4), armed=armed)  # fmt: skip
        fit = fit_prior(sums, structure=structure)
        assert (fit.task_widths.std > 0.003).all()
        assert (fit.task_widths.std < 3.0).all()
        assert 0.05 < fit.prior.noise_std < 2.0


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("case", ["none", "one event", "one task", "constant", "zero", "wide"])
@pytest.mark.parametrize("populations", [1, 2])
def test_degenerate_logs_give_finite_priors(structure, armed, case, populations):
    sums, d = _degenerate(case, armed), 5
    fit = fit_prior(sums, population=_evenly(sums, populations), structure=structure)
    stds = np.array([*fit.task_widths.std, *fit.hyper_widths.std, fit.prior.noise_std])
    assert np.isfinite(stds).all()
    assert (stds > 0).all()
    assert np.isfinite([fit.log_evidence, *fit.trace]).all()
    belief = Belief.from_sums(fit.prior, sums, populations)
    assert np.isfinite(belief.log_evidence()).all()
    if case == "none":
        np.testing.assert_allclose(full(fit.prior.task_cov), np.eye(d), atol=1e-2)
        np.testing.assert_allclose(fit.prior.noise_std, 1.0, rtol=0.05)


def test_a_large_offset_of_the_rewards_costs_no_accuracy():
    rng = np.random.default_rng(15)
    tasks, arms = np.repeat(np.arange(30), 20), rng.integers(0, 3, 600)
    y = 0.3 * rng.standard_normal((30, 3))[tasks, arms] + 0.5 * rng.standard_normal(600)
    one, two = TaskSums.zeros(30, 3, armed=True), TaskSums.zeros(30, 3, armed=True)
    one.add(tasks, arms, y)
    two.add(tasks, arms, y + 1e4)
    near, far = fit_prior(one), fit_prior(two)
    np.testing.assert_allclose(far.task_widths.std, near.task_widths.std, rtol=1e-3)
    np.testing.assert_allclose(far.prior.noise_std, near.prior.noise_std, rtol=1e-3)


def test_tasks_without_data_change_nothing():
    rng = np.random.default_rng(11)
    sums = _drawn(rng, tasks=10, events=8, task_cov=0.09 * np.eye(2), noise=0.5,
                  hyper_cov=np.eye(2), mean=np.ones(2))  # fmt: skip
    more = TaskSums.zeros(25, 2)
    for name in ("xx", "xy", "yy", "n"):
        getattr(more, name)[5:15] = getattr(sums, name)
    one, two = (fit_prior(part).prior.task_cov for part in (sums, more))
    np.testing.assert_allclose(two, one, rtol=1e-8)


@pytest.mark.parametrize(("structure", "armed"), FORMS)
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_do_not_matter(structure, armed, unit):
    """Rewards times a unit, features over a size: widths follow."""
    rng = np.random.default_rng(12)
    sums = _drawn(rng, tasks=20, events=10, task_cov=0.09 * np.eye(3), noise=0.5,
                  hyper_cov=np.eye(3), mean=np.ones(3), armed=armed)  # fmt: skip
    size = 1.0 if armed else 1e3
    other = TaskSums(sums.xx / size**2, sums.xy * unit / size, sums.yy * unit**2, sums.n)
    one, two = (fit_prior(s, structure=structure) for s in (sums, other))
    np.testing.assert_allclose(two.task_widths.std, unit * size * one.task_widths.std, rtol=1e-3)
    np.testing.assert_allclose(two.prior.noise_std, unit * one.prior.noise_std, rtol=1e-4)
    np.testing.assert_allclose(two.prior.hyper_cov, (unit * size) ** 2 * one.prior.hyper_cov)
    events = sums.n.sum()
    np.testing.assert_allclose(two.log_evidence, one.log_evidence - events * np.log(unit), 1e-6)


def test_the_default_hyper_width_is_wide_in_units_of_the_data():
    sums = TaskSums.zeros(2, 2, armed=True)
    sums.add([0, 0, 1, 1], [0, 1, 0, 1], [3.0, 4.0, 3.0, 4.0])
    units = Units.of(sums, isotropic=False)
    np.testing.assert_allclose(units.wide, 100 * np.sqrt(12.5 / 0.5))
    fit = fit_prior(sums)
    np.testing.assert_allclose(fit.hyper_widths.std, units.wide)
    np.testing.assert_allclose(fit.prior.hyper_mean, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"population": [0, 1]}, "population must have one entry for each of 4 tasks, got 2"),
        ({"population": [0, 1, 4, 0]}, r"population must be in \[0, 4\), got 4"),
        ({"population": [0, 1, -1, 0]}, r"population must be in \[0, 4\), got -1"),
        ({"population": [0.0, 1, 1, 0]}, "population must be integers"),
        ({"structure": "round"}, "structure must be one of"),
        ({"structure": "low-rank", "rank": 2}, "rank must be below the 2 features, got 2"),
        ({"rank": 0}, "rank must be a whole number"),
        ({"hyper_mean": [1.0]}, r"hyper_mean must have shape \(2,\) to match sums"),
        ({"hyper_cov": [1.0, 1.0]}, r"hyper_cov must have shape \(2, 2\) to match sums"),
        ({"hyper_cov": -np.eye(2)}, "hyper_cov must be positive semi-definite"),
        ({"noise_std": 0.0}, "noise_std must be positive"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1"),
        ({"tolerance": -1.0}, "tolerance must be positive"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    sums = TaskSums.zeros(4, 2)
    sums.add([0, 1], np.eye(2), [1.0, 2.0])
    with pytest.raises(ValueError, match=message):
        fit_prior(sums, **arguments)


def test_bad_sums_are_named():
    with pytest.raises(ValueError, match="sums must be TaskSums"):
        fit_prior([1.0])
    sums = TaskSums.zeros(2, 2, armed=True)
    with pytest.raises(ValueError, match="structure must be scalar or diagonal for arms"):
        fit_prior(sums, structure="full")
    with pytest.raises(ValueError, match="hyper_cov must not be negative"):
        fit_prior(sums, hyper_cov=[1.0, -1.0])
    sums.yy[1] = -1.0
    with pytest.raises(ValueError, match=r"sums\.yy must not be negative"):
        fit_prior(sums)
    sums.yy[1] = np.nan
    with pytest.raises(ValueError, match=r"sums\.yy must be finite"):
        fit_prior(sums)


def test_too_few_iterations_are_admitted():
    rng = np.random.default_rng(13)
    sums = _drawn(rng, tasks=50, events=20, task_cov=1e-4 * np.eye(3), noise=0.5,
                  hyper_cov=np.eye(3), mean=np.ones(3))  # fmt: skip
    fit = fit_prior(sums, max_iterations=1)
    assert fit.iterations == 1
    assert not fit.converged
