"""Small linear algebra, against dense numpy on random matrices, batched, diagonal and singular."""

import numpy as np
import pytest
from scipy.special import erf

from hierbandits.algebra import (
    condition,
    eigenvalues,
    explained,
    inverse,
    is_singular,
    is_well_conditioned,
    normal_quantile,
    settle,
    square_root,
    squared,
    summed,
    times,
    transposed,
    unwhitening,
    whitening,
)

CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def _cov(rng, dim, rank=None, batch=()):
    """Random covariances, of full rank unless `rank` is given."""
    root = rng.standard_normal((*batch, dim, dim if rank is None else rank))
    return root @ np.swapaxes(root, -1, -2)


def _dense_posterior(mean, cov, precision, weighted):
    """Mean, covariance and log determinant, with no inverse of the covariance."""
    inner = np.eye(len(mean)) + cov @ precision
    after = np.linalg.solve(inner, cov)
    return mean + after @ (weighted - precision @ mean), after, np.linalg.slogdet(inner)[1]


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_the_root_of_a_regular_covariance_is_its_cholesky_factor(dim):
    cov = _cov(np.random.default_rng(dim), dim)
    root = square_root(cov)
    np.testing.assert_allclose(root, np.linalg.cholesky(cov), **CLOSE)
    np.testing.assert_allclose(squared(root, diagonal=False), cov, **CLOSE)


def test_coordinates_of_very_different_sizes_stay_apart_in_a_root():
    cov, sizes = _cov(np.random.default_rng(3), 3), np.array([1.0, 2.0**60, 2.0**-60])
    root = square_root(cov * np.outer(sizes, sizes))
    np.testing.assert_allclose(root / sizes[:, None], np.linalg.cholesky(cov), **CLOSE)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_the_root_of_a_singular_covariance_is_symmetric(rank):
    cov = _cov(np.random.default_rng(rank), 4, rank)
    root = square_root(cov)
    np.testing.assert_allclose(root @ root.T, cov, **CLOSE)
    np.testing.assert_allclose(root, root.T, **CLOSE)
    assert np.isfinite(root).all()


def test_a_root_survives_eigenvalues_that_round_below_zero():
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    cov = vectors * [-1e-17, 1.0, 2.0] @ vectors.T
    root = square_root((cov + cov.T) / 2)
    np.testing.assert_allclose(root @ root.T, cov, rtol=1e-9, atol=1e-9)


def test_the_root_of_a_diagonal_is_its_roots():
    variances = np.array([4.0, 0.0, 9.0])
    np.testing.assert_array_equal(square_root(variances), [2.0, 0.0, 3.0])
    np.testing.assert_array_equal(squared(np.array([2.0, -3.0]), diagonal=True), [4.0, 9.0])
    np.testing.assert_array_equal(inverse(np.array([4.0, 0.5])), [0.25, 2.0])
    np.testing.assert_array_equal(eigenvalues(np.array([3.0, 1.0, 2.0])), [1.0, 2.0, 3.0])


def test_batches_of_roots_are_squared_one_by_one():
    factors = np.random.default_rng(0).standard_normal((2, 4, 3, 3))
    expected = [[factor @ factor.T for factor in row] for row in factors]
    np.testing.assert_allclose(squared(factors, diagonal=False), expected, **CLOSE)


@pytest.mark.parametrize("dim", [1, 3, 6])
def test_an_inverse_is_exactly_symmetric(dim):
    cov = _cov(np.random.default_rng(dim), dim) + np.eye(dim)
    result = inverse(cov)
    np.testing.assert_allclose(result @ cov, np.eye(dim), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(result, result.T)


def test_eigenvalues_grow():
    cov = _cov(np.random.default_rng(3), 5)
    values = eigenvalues(cov)
    assert (np.diff(values) > 0).all()
    np.testing.assert_allclose(values.sum(), np.trace(cov), **CLOSE)
    np.testing.assert_allclose(np.log(values).sum(), np.linalg.slogdet(cov)[1], **CLOSE)


def test_products_and_transposes_are_batched():
    rng = np.random.default_rng(4)
    matrices, vectors = rng.standard_normal((2, 3, 4, 5)), rng.standard_normal((2, 3, 5))
    np.testing.assert_array_equal(transposed(matrices)[1, 2], matrices[1, 2].T)
    np.testing.assert_allclose(times(matrices, vectors)[1, 2], matrices[1, 2] @ vectors[1, 2])
    np.testing.assert_allclose(times(matrices[0, 0], vectors[0, 0]), matrices[0, 0] @ vectors[0, 0])
    diagonals = rng.standard_normal((2, 3, 5))
    np.testing.assert_array_equal(times(diagonals, vectors), diagonals * vectors)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rank", [0, 1, 2, 4], ids="rank {}".format)
def test_conditioning_is_that_of_the_dense_gaussian(rank, seed):
    """Also for singular prior covariances, and a zero one."""
    rng = np.random.default_rng([seed, rank])
    dim, batch = 4, (3,)
    cov = _cov(rng, dim, rank, batch)
    factor = np.stack([square_root(each) for each in cov])
    precision = _cov(rng, dim, int(rng.integers(1, 5)), batch) * 10.0 ** rng.integers(-3, 4)
    mean, weighted = rng.standard_normal((2, *batch, dim))
    after_mean, after, log_det = condition(mean, factor, precision, weighted)
    for i in range(batch[0]):
        expected = _dense_posterior(mean[i], cov[i], precision[i], weighted[i])
        np.testing.assert_allclose(after_mean[i], expected[0], rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(after[i] @ after[i].T, expected[1], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(log_det[i], expected[2], rtol=1e-9, atol=1e-9)
        alone = condition(mean[i], factor[i], precision[i], weighted[i])
        for part, whole in zip(alone, (after_mean, after, log_det), strict=True):
            np.testing.assert_allclose(part, whole[i], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_conditioning_of_diagonals_is_that_of_their_matrices(seed):
    rng = np.random.default_rng(seed)
    mean, weighted = rng.standard_normal((2, 3, 4))
    factor, precision = rng.uniform(0.1, 3.0, (2, 3, 4))
    factor[1, 2] = precision[2, 0] = 0.0
    after_mean, after, log_det = condition(mean, factor, precision, weighted)
    for i in range(3):
        dense = _dense_posterior(
            mean[i], np.diag(factor[i] ** 2), np.diag(precision[i]), weighted[i]
        )
        np.testing.assert_allclose(after_mean[i], dense[0], **CLOSE)
        np.testing.assert_allclose(np.diag(after[i] ** 2), dense[1], **CLOSE)
        np.testing.assert_allclose(log_det[i], dense[2], **CLOSE)


def test_no_data_change_nothing():
    rng = np.random.default_rng(7)
    mean, factor = rng.standard_normal(3), rng.standard_normal((3, 3))
    after_mean, after, log_det = condition(mean, factor, np.zeros((3, 3)), np.zeros(3))
    np.testing.assert_array_equal(after_mean, mean)
    np.testing.assert_allclose(after @ after.T, factor @ factor.T, **CLOSE)
    assert log_det == 0.0


@pytest.mark.parametrize("least", [-0.5, -0.9999, -1.0, -30.0])
@pytest.mark.parametrize("turned", [False, True])
def test_negative_eigenvalues_count_as_zero(least, turned):
    """I + W then has pivots below one, or no Cholesky factor at all."""
    rng = np.random.default_rng(8)
    vectors = np.linalg.qr(rng.standard_normal((3, 3)))[0] if turned else np.eye(3)
    scale = 1e6 if turned else 1.0  # turned, a small one would not show in the pivots
    wrong = vectors * [1000.0 * scale, 2.0, least * scale] @ vectors.T
    right = _cov(rng, 3)
    information = np.stack([right, (wrong + wrong.T) / 2])
    factor, mean = np.stack([np.eye(3), np.eye(3)]), np.zeros((2, 3))
    left = 1 / (1 + np.array([1000.0 * scale, 2.0, 0.0]))
    covs = np.stack([np.linalg.inv(np.eye(3) + right), vectors * left @ vectors.T])
    weighted = np.stack([right @ [1.0, 2.0, 3.0], vectors @ [3000.0 * scale, 1.0, 0.0]])
    after_mean, after, log_det = condition(mean, factor, information, weighted)
    for i in range(2):
        np.testing.assert_allclose(after[i] @ after[i].T, covs[i], rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(log_det[i], -np.linalg.slogdet(covs[i])[1], rtol=1e-7)
        np.testing.assert_allclose(after_mean[i], covs[i] @ weighted[i], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [1e6, 1e14, 1e22])
@pytest.mark.parametrize("seed", range(5))
def test_a_huge_precision_in_one_direction_says_nothing_of_the_others(seed, size):
    """There S' C S has rounding errors beside which one is small, of either sign."""
    rng = np.random.default_rng(seed)
    factor, x = rng.standard_normal((2, 4, 4)), rng.standard_normal(4)
    precision = np.stack([np.eye(4), size * np.outer(x, x)])  # one of a batch alone is so
    mean, after, log_det = condition(np.zeros((2, 4)), factor, precision, size * x * [[0], [3.0]])
    cov = factor[1] @ factor[1].T
    var = 1 / size + x @ cov @ x
    np.testing.assert_allclose(
        after[1] @ after[1].T, cov - np.outer(cov @ x, cov @ x) / var, rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(np.sum((after[1].T @ x) ** 2), x @ cov @ x / var / size, rtol=1e-8)
    np.testing.assert_allclose(mean[1], 3.0 * cov @ x / var, rtol=1e-7)
    np.testing.assert_allclose(log_det[1], np.log1p(size * (x @ cov @ x)), rtol=1e-9)


def test_one_direction_that_is_known_is_told_from_another_that_has_pivots_alike():
    """The first pivots of I + W are small where its largest entry comes last."""
    x = np.array([0.01, 0.004, 3.0])
    _, after, _ = condition(np.zeros(3), np.eye(3), 1e9 * np.outer(x, x), 1e9 * x)
    unknown = np.array([0.4, -1.0, 0.0])
    np.testing.assert_allclose(np.sum((after.T @ unknown) ** 2), unknown @ unknown, rtol=1e-9)


def test_a_message_is_what_is_left_when_the_node_is_integrated_out():
    """W (I + W)^-1, also where W is so large that a difference would not tell."""
    rng = np.random.default_rng(13)
    vectors, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    for values in (np.array([3.0, 1e-9, 0.2, 40.0]), np.array([1e18, 0.0, 1e14, 0.0])):
        told = settle((vectors * values) @ vectors.T, vectors @ values)
        expected = (vectors * (values / (1 + values))) @ vectors.T
        np.testing.assert_allclose(told.message, expected, atol=1e-12)
        np.testing.assert_array_equal(told.message, told.message.T)
    small = settle(1e-9 * np.outer(vectors[0], vectors[0]), vectors[0]).message
    np.testing.assert_allclose(small, 1e-9 * np.outer(vectors[0], vectors[0]), rtol=1e-8)


@pytest.mark.parametrize("shared", [True, False])
def test_what_data_say_of_the_parent_is_symmetric(shared):
    """Sigma^-1 P G = Sigma^-1 - Sigma^-1 P Sigma^-1 where P = (Sigma^-1 + G)^-1."""
    rng = np.random.default_rng(9)
    sigma = _cov(rng, 3, batch=() if shared else (4,)) + np.eye(3)
    up, data = np.linalg.inv(sigma), _cov(rng, 3, 2, (4,))
    after = np.linalg.inv(up + data)
    factor = np.linalg.cholesky(after)
    result = explained(factor @ transposed(factor) @ up, data)
    np.testing.assert_allclose(result, up - up @ after @ up, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(result, transposed(result))
    diagonal, counts = rng.uniform(0.5, 2.0, 3), rng.uniform(0.0, 9.0, (4, 3))
    after = 1 / (diagonal + counts)
    np.testing.assert_allclose(
        explained(after * diagonal, counts), diagonal - diagonal**2 * after, **CLOSE
    )


@pytest.mark.parametrize("condition", [1.0, 1e5, 1e10, 2e15])
def test_whitening_is_a_root_that_can_be_inverted(condition):
    rng = np.random.default_rng(11)
    for d in (1, 2, 5):
        values = np.geomspace(1.0, 1 / condition, d)
        vectors, _ = np.linalg.qr(rng.standard_normal((d, d)))
        units = 10.0 ** rng.integers(-8, 8, d)  # of the features
        cov = (vectors * values) @ vectors.T * np.outer(units, units)
        cov = (cov + cov.T) / 2
        root, scales = whitening(cov), np.outer(units, units)
        np.testing.assert_allclose(root @ root.T / scales, cov / scales, atol=1e-14)
        identity = root @ unwhitening(root, cov) / units[:, None] * units
        np.testing.assert_allclose(identity, np.eye(d), atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_a_coordinate_without_variance_takes_none_from_rounding(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((4, 4))
    cov = 1e-59 * root @ root.T  # more than FLOOR
    cov[2] *= 1e-3
    cov[:, 2] *= 1e-3  # less
    np.testing.assert_allclose(whitening(cov) @ whitening(cov).T, cov, atol=2e-60)
    identity = unwhitening(whitening(cov), cov) @ whitening(cov)
    np.testing.assert_allclose(identity, np.eye(4), atol=1e-12)


def test_whitening_of_a_singular_covariance_has_a_floor():
    loading = np.array([[1.0, 2.0, 0.0], [0.5, -1.0, 0.0]])
    cov = loading.T @ loading  # rank two, and a coordinate without variance
    root = whitening(cov)
    np.testing.assert_allclose(root @ root.T, cov, atol=1e-15)
    np.testing.assert_allclose(root @ unwhitening(root, cov), np.eye(3), atol=1e-13)
    assert (is_singular(cov), is_singular(np.eye(3)), is_well_conditioned(cov)) == (
        True,
        False,
        False,
    )
    rng = np.random.default_rng(12)
    for _ in range(20):  # what rounding leaves of an eigenvalue may be positive
        loading = rng.standard_normal((4, 2))
        assert ((whitening(loading @ loading.T) ** 2).sum(axis=0) < 1e-50).sum() == 2
    diagonal = np.array([4.0, 0.0])
    np.testing.assert_allclose(whitening(diagonal), [2.0, 1e-30])
    np.testing.assert_allclose(unwhitening(whitening(diagonal), diagonal), [0.5, 1e30])
    assert (is_singular(np.array([1.0, 0.0])), is_singular(np.ones(2))) == (True, False)


def test_a_normal_interval_holds_as_often_as_it_says():
    for confidence in (0.5, 0.8, 0.95, 0.999):
        reach = normal_quantile(confidence)
        np.testing.assert_allclose(erf(reach / np.sqrt(2)), confidence, rtol=1e-12)


@pytest.mark.parametrize("shape", [(), (2,), (2, 3)])
def test_rows_are_summed_by_group(shape):
    rng = np.random.default_rng(10)
    group = np.array([3, 0, 3, 5, 0, 3])
    rows = rng.standard_normal((6, *shape))
    total = summed(rows, group, 7)
    assert total.shape == (7, *shape)
    for g in range(7):
        np.testing.assert_allclose(total[g], rows[group == g].sum(axis=0), **CLOSE)
    assert (total[[1, 2, 4, 6]] == 0.0).all()


@pytest.mark.parametrize("rounding", [-0.99, -30.0])
def test_information_below_zero_counts_as_none(rounding):
    """Precisions beyond 1 / eps leave rounding in directions of which nothing is known."""
    known, unknown = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    precision = 1e4 * np.outer(known, known) + rounding * np.outer(unknown, unknown)
    mean, factor, log_det = condition(np.zeros(2), np.eye(2), precision, 2e4 * known)
    cov = np.outer(known, known) / (1e4 + 1) + np.outer(unknown, unknown)
    np.testing.assert_allclose(factor @ factor.T, cov, atol=1e-12)
    np.testing.assert_allclose(mean, 2e4 / (1e4 + 1) * known, atol=1e-11)
    np.testing.assert_allclose(log_det, np.log1p(1e4))
