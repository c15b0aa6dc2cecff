"""Digits: the files, the fetched copy, the world they make, and the appendix's experiment.

The fetcher is scikit-learn's own, and runs here against a server on this machine that stands in
for openml.org: its `urlopen` is pointed there.  That the real site serves the original images
cannot be tested without a network; a checksum refuses anything else.
"""

import gzip
import hashlib
import json
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import numpy as np
import polars as pl
import pytest

from hierbandits import POLICIES, simulate
from hierbandits.environments import DigitBandit, images
from hierbandits.environments import digit_bandit as world
from hierbandits.environments.images import LABELS, PICTURES, Images, downsampled, load, read_idx
from hierbandits.experiments import EXPERIMENTS, Options
from hierbandits.experiments.digits import strip
from hierbandits.keyed_random import Events
from hierbandits.simulation.schedules import Concurrent

MNIST = Path(__file__).parent.parent.parent / "shared" / "data" / "mnist"


@pytest.fixture(scope="module")
def small():
    """scikit-learn's bundled digits."""
    return load("digits8x8")


@pytest.fixture(scope="module")
def bandit(small):
    return DigitBandit.of(*small.halves(), 3)


# Files


def _idx(array):
    return bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.data


@pytest.fixture
def tiny(monkeypatch):
    """Forty random pictures that pass for MNIST."""
    rng = np.random.default_rng(0)
    arrays = {
        PICTURES: rng.integers(0, 256, (40, 28, 28), np.uint8),
        LABELS: rng.integers(0, 10, 40, np.uint8),
    }
    for name, array in arrays.items():
        monkeypatch.setitem(images.SHA256, name, hashlib.sha256(array.data).hexdigest())
    monkeypatch.setattr(images, "TRAINING", 40)
    return arrays


def _assert_loaded(found, arrays):
    np.testing.assert_array_equal(found.pictures, arrays[PICTURES])
    np.testing.assert_array_equal(found.labels, arrays[LABELS])
    assert found.features.shape == (40, 49)
    assert found.side == 7


@pytest.mark.parametrize("packed", [True, False])
def test_idx_files_are_read_packed_or_not(tiny, tmp_path, packed):
    for name, array in tiny.items():
        path = tmp_path / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(_idx(array)) if packed else _idx(array))
    _assert_loaded(load(None, tmp_path), tiny)
    _assert_loaded(load("mnist", tmp_path), tiny)


GOOD = _idx(np.arange(24, dtype=np.uint8).reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(GOOD, mtime=0)[:-10], "cannot be read: .*end-of-stream"),
        (gzip.compress(GOOD, mtime=0)[:10] + b"\xff" * 30, "cannot be read: .*invalid"),
        (GOOD[:-1], r"must hold 24 bytes after its header .* \(2, 3, 4\), got 23: is it complete"),
        (GOOD + b"x", "must hold 24 bytes .* got 25"),
        (GOOD[:10], "must be an idx file of bytes with 3 axes, got .* 00 00 08 03"),
        (b"", "begins with nothing"),
        (b"\x89PNG and more", "begins with 89 50 4e 47"),
        (_idx(np.arange(24, dtype=np.uint8)), "with 3 axes, got .* 00 00 08 01"),
        (b"\x00\x00\x0d\x03" + GOOD[4:], "begins with 00 00 0d 03"),
    ],
)
def test_damaged_and_foreign_files_are_named(content, message, tmp_path):
    path = tmp_path / "some-file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"some-file .*{message}"):
        read_idx(path, 3)


def test_other_images_are_refused(tiny, tmp_path):
    other = tiny[PICTURES].copy()
    other[7, 3, 3] ^= 1
    (tmp_path / PICTURES).write_bytes(_idx(other))
    (tmp_path / LABELS).write_bytes(_idx(tiny[LABELS]))
    with pytest.raises(ValueError, match=f"{PICTURES} is not MNIST's: the sha256"):
        load(None, tmp_path)


def test_what_cannot_be_loaded_is_said(tiny, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=f"data must be a folder .* which has no {PICTURES}"):
        load(None, tmp_path / "nowhere")
    (tmp_path / PICTURES).write_bytes(_idx(tiny[PICTURES]))
    with pytest.raises(ValueError, match=f"which has no {LABELS}"):
        load(None, tmp_path)
    with pytest.raises(ValueError, match="dataset must be one of mnist, digits8x8, got 'cifar'"):
        load("cifar")
    with pytest.raises(ValueError, match="data is for mnist; digits8x8 is in scikit-learn"):
        load("digits8x8", tmp_path)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ValueError, match=r"scikit-learn is needed .* --data"):
        load("digits8x8")


def test_down_sampling_by_hand():
    picture = np.zeros((1, 4, 4), np.uint8)
    picture[0, 0] = [255, 255, 0, 51]
    picture[0, 1] = [255, 255, 0, 0]
    picture[0, 3] = [0, 102, 204, 204]
    expected = [[1.0, 51 / 4 / 255, 102 / 4 / 255, 408 / 4 / 255]]
    np.testing.assert_allclose(downsampled(picture, 2, white=255), expected, rtol=1e-15)
    np.testing.assert_allclose(downsampled(picture, 1, white=255)[0, :4], [1, 1, 0, 0.2])


def test_halves_share_no_picture():
    numbers = np.arange(101)
    whole = Images(numbers.astype(np.uint8).reshape(-1, 1, 1), numbers, numbers[:, None] / 101)
    train, test = whole.halves()
    assert (len(train.labels), len(test.labels)) == (50, 51)
    assert set(train.labels) | set(test.labels) == set(numbers)
    assert set(train.labels) != set(range(50))
    for half in (train, test):  # the parts of a picture stay together
        np.testing.assert_array_equal(half.pictures[:, 0, 0], half.labels)
        np.testing.assert_array_equal(half.features[:, 0], half.labels / 101)
    np.testing.assert_array_equal(whole.halves()[0].labels, train.labels)


def test_the_bundled_digits(small):
    assert small.pictures.shape == (1797, 8, 8)
    assert small.features.shape == (1797, 64)
    assert (small.features.min(), small.features.max(), small.side) == (0.0, 1.0, 8)
    assert np.unique(small.labels).tolist() == list(range(10))


# Fetching


class _OpenML(HTTPServer):
    """A stand-in for openml.org that offers one data set under the name mnist_784."""

    def __init__(self, pictures, labels):
        super().__init__(("127.0.0.1", 0), _Answers)
        pixels = [f"pixel{i + 1}" for i in range(784)]
        rows = [",".join(map(str, [*x.ravel(), y])) for x, y in zip(pictures, labels, strict=True)]
        head = ["@RELATION mnist_784", *(f"@ATTRIBUTE {name} REAL" for name in pixels)]
        classes = "@ATTRIBUTE class {0,1,2,3,4,5,6,7,8,9}"
        self.arff = "\n".join([*head, classes, "@DATA", *rows, ""]).encode()
        self.md5 = hashlib.md5(self.arff).hexdigest()
        self.size = len(labels)
        self.asked = []
        no = {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        self.columns = [
            no | {"index": str(i), "name": name, "data_type": "numeric", "is_target": "false"}
            for i, name in enumerate(pixels)
        ]
        target = {"index": "784", "name": "class", "data_type": "nominal", "is_target": "true"}
        self.columns.append(no | target | {"nominal_value": list("0123456789")})

    def answer(self, path):
        if "/list/data_name/mnist_784" in path:
            return {"data": {"dataset": [{"did": 554, "name": "mnist_784", "version": "1"}]}}
        if "/features/" in path:
            return {"data_features": {"feature": self.columns}}
        if "/qualities/" in path:
            quality = [{"name": "NumberOfInstances", "value": str(self.size)}]
            return {"data_qualities": {"quality": quality}}
        url = "https://www.openml.org/data/v1/download/52667/mnist_784.arff"
        about = {"id": "554", "name": "mnist_784", "version": "1", "status": "active"}
        about |= {"format": "ARFF", "file_id": "52667", "url": url, "md5_checksum": self.md5}
        return {"data_set_description": about | {"description": "a stand-in"}}


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        is_data = "/download/" in self.path
        content = (
            self.server.arff if is_data else json.dumps(self.server.answer(self.path)).encode()
        )
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def openml(tiny, tmp_path, monkeypatch):
    """The stand-in, with twelve more rows than the training set, as OpenML has its test set."""
    more = np.concatenate([tiny[PICTURES], tiny[PICTURES][:12]])
    server = _OpenML(more, np.concatenate([tiny[LABELS], tiny[LABELS][:12]]))

    def to_the_stand_in(request):
        path = urlsplit(request.full_url).path
        return urlopen(Request(f"http://127.0.0.1:{server.server_port}{path}"))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", to_the_stand_in)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_mnist_is_fetched_once_and_kept(openml, tiny, tmp_path):
    _assert_loaded(load(), tiny)
    assert any("/download/" in path for path in openml.asked)
    kept = {path.name for path in (tmp_path / "hierbandits-mnist").iterdir()}
    assert kept == {f"{PICTURES}.gz", f"{LABELS}.gz"}
    openml.asked.clear()
    _assert_loaded(load(), tiny)
    assert not openml.asked


def test_a_download_of_other_images_is_refused(openml, tmp_path, monkeypatch):
    monkeypatch.setitem(images.SHA256, LABELS, "0" * 64)
    with pytest.raises(
        ValueError, match=r"what openml.org sent to .*openml is not MNIST's: the sha256"
    ):
        load()
    assert not (tmp_path / "hierbandits-mnist" / f"{LABELS}.gz").exists()


def test_a_damaged_download_is_refused(openml):
    openml.arff = openml.arff[:-100]
    with (
        pytest.warns(RuntimeWarning, match="redownloading"),
        pytest.raises(ValueError, match=r"could not be fetched .*md5.*--data.*digits8x8"),
    ):
        load()


def test_without_a_network_the_ways_out_are_said(tmp_path, monkeypatch):
    def unreachable(request):
        raise URLError("no route")

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between its attempts
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    with (
        pytest.warns(UserWarning, match="network error"),
        pytest.raises(ValueError, match=r"could not be fetched .*no route.*--data.*digits8x8"),
    ):
        load()


# What is estimated


def test_a_linear_reward_is_found():
    """Where rewards are linear, weights do not matter; the ridge is small beside the data."""
    rng = np.random.default_rng(0)
    features, theta = 30 * rng.random((400, 5)), rng.standard_normal(5)
    np.testing.assert_allclose(world.fit(features, features @ theta), theta, rtol=1e-3)


def test_the_fit_agrees_with_its_own_choices(small):
    """Weighted least squares again, with the weights counted from simulated choices of thirty."""
    rng = np.random.default_rng(0)
    rows = rng.choice(1797, 300, replace=False)
    features, rewards = small.features[rows], np.where(small.labels[rows] == 8, 0.9, 0.1)
    theta = world.fit(features, rewards)
    sets = rng.integers(0, 300, (100_000, 30))
    picks = sets[np.arange(len(sets)), (features @ theta)[sets].argmax(axis=1)]
    weights = 0.5 + 0.5 * 300 * np.bincount(picks, minlength=300) / len(sets)
    root = np.sqrt(weights)[:, None]
    padded = np.vstack([root * features, 0.5 * np.eye(64)])  # the ridge as data: sigma = 1/2
    targets = np.concatenate([root[:, 0] * rewards, np.zeros(64)])
    again = np.linalg.lstsq(padded, targets, rcond=None)[0]
    moved = np.sqrt(np.mean((features @ (again - theta)) ** 2))
    plain = np.linalg.lstsq(np.vstack([features, 0.5 * np.eye(64)]),
                            np.concatenate([rewards, np.zeros(64)]), rcond=None)[0]  # fmt: skip
    unweighted = np.sqrt(np.mean((features @ (plain - theta)) ** 2))
    assert moved < 0.02 < 0.05 < unweighted


def test_sigma_0_describes_the_tasks_of_the_other_half():
    """The Mahalanobis distance of a new task's fit to mu_* is d on average."""
    rng = np.random.default_rng(0)
    features = rng.random((12_000, 6)) * [1, 1, 1, 1, 1, 0]  # the last pixel is always black
    rewards = np.where(features.sum(axis=1) > 3.4, 0.9, 0.1)
    mean, cov = world.estimate(features[:6000], rewards[:6000], 200)
    assert np.linalg.eigvalsh(cov)[0] == pytest.approx(world.DIAGONAL)
    fits = []
    for _ in range(300):
        rows = 6000 + rng.choice(6000, 200, replace=False)
        fits.append(world.fit(features[rows], rewards[rows]))
    away = np.array(fits)[:, :5] - mean[:5]
    distance = np.einsum("ij,jk,ik->i", away, np.linalg.inv(cov[:5, :5]), away)
    assert distance.mean() == pytest.approx(5, rel=0.2)
    assert mean[5] == 0


def test_the_problem_is_the_papers(bandit, small):
    train, test = small.halves()
    assert (bandit.num_tasks, bandit.num_arms, bandit.subsample) == (10, 30, 224)
    np.testing.assert_array_equal(bandit.prior.hyper_mean, np.zeros(64))
    np.testing.assert_array_equal(bandit.prior.hyper_cov, np.eye(64))
    assert bandit.prior.noise_std == 0.5
    expected = world.estimate(train.features, np.where(train.labels == 3, 0.9, 0.1), 224)
    np.testing.assert_array_equal(bandit.hyper, expected[0])
    np.testing.assert_allclose(bandit.prior.task_cov, expected[1], atol=1e-15)
    np.testing.assert_array_equal(bandit.features, test.features)
    np.testing.assert_array_equal(bandit.mean_rewards, np.where(test.labels == 3, 0.9, 0.1))
    assert world.subsample_size(30_000) == 500


# The world


def _events(rng, size=60, first=100):
    return Events(
        first + rng.integers(0, 3, size), rng.integers(0, 10, size), rng.integers(0, 9, size)
    )


def test_regret_is_that_of_the_labels(bandit, small):
    """Arms are pictures of the task's sub-sample; regret recomputed picture by picture."""
    labels = small.halves()[1].labels
    worlds = bandit.worlds(np.random.default_rng(0), 7, 100, 3)
    rng = np.random.default_rng(1)
    events = _events(rng, size=400)
    arms = worlds.offer(events)
    assert arms.table is worlds.offer(events).table  # the pictures are not copied
    places = rng.integers(0, 30, 400)
    choices = arms.numbers(places)
    rewards, regret = worlds.play(events, arms, choices)
    without = 0
    for e in range(400):
        offered = arms.rows_of(e)
        assert offered.size == 30
        assert set(offered) <= set(worlds.pools[events.run[e] - 100, events.task[e]])
        assert choices[e] == offered[places[e]]
        there, chosen = (labels[offered] == 3).any(), labels[choices[e]] == 3
        without += not there
        assert regret[e] == pytest.approx(0.8 if there and not chosen else 0.0)
        assert rewards[e] in (0.0, 1.0)
    assert 0 < without < 60
    np.testing.assert_array_equal(arms.features(choices), bandit.features[choices])


def test_luck_and_pictures_belong_to_the_event(bandit):
    worlds = bandit.worlds(np.random.default_rng(0), 7, 100, 3)
    events = _events(np.random.default_rng(1))
    order = np.random.default_rng(2).permutation(60)
    shuffled = Events(events.run[order], events.task[order], events.interaction[order])
    arms, again = worlds.offer(events), worlds.offer(shuffled)
    offered = arms.flat_rows().reshape(60, 30)
    np.testing.assert_array_equal(again.flat_rows().reshape(60, 30), offered[order])
    rewards = worlds.play(events, arms, offered[:, 0])[0]
    np.testing.assert_array_equal(
        worlds.play(shuffled, again, offered[order, 0])[0], rewards[order]
    )
    other = bandit.worlds(np.random.default_rng(0), 8, 100, 3)
    assert (other.offer(events).flat_rows() != arms.flat_rows()).mean() > 0.9


def test_rewards_and_pictures_have_their_frequencies(bandit):
    worlds = bandit.worlds(np.random.default_rng(0), 7, 0, 1)
    n = 20_000
    events = Events(np.zeros(n, int), np.full(n, 2), np.arange(n))
    arms = worlds.offer(events)
    pool = worlds.pools[0, 2]
    assert len(set(pool)) == pool.size == 224
    counts = np.bincount(arms.flat_rows(), minlength=len(bandit.features))
    assert counts.sum() == counts[pool].sum() == 30 * n
    expected = 30 * n / 224
    assert np.abs(counts[pool] - expected).max() < 6 * np.sqrt(expected)
    for positive, mean in ((True, 0.9), (False, 0.1)):
        picture = pool[(bandit.mean_rewards[pool] == 0.9) == positive][0]
        rewards = worlds.play(events, arms, np.full(n, picture))[0]
        assert abs(rewards.mean() - mean) < 6 * 0.3 / np.sqrt(n)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_plays(bandit, policy):
    study = simulate(bandit, [policy], Concurrent(5), runs=2, num_interactions=3)
    assert study.rounds[-1] == 6
    assert (study.outcomes[policy].total <= 0.8 * 30 + 1e-9).all()


def test_numbers_do_not_depend_on_jobs(bandit):
    """Also where the features are large, which other processes share as read-only memory."""
    large = DigitBandit(
        prior=bandit.prior,
        hyper=bandit.hyper,
        features=np.tile(bandit.features, (4, 1)),
        mean_rewards=np.tile(bandit.mean_rewards, 4),
        subsample=500,
    )
    assert large.features.nbytes > 2**20
    names = ["HierTS", "TS"]
    one, two = (
        simulate(large, names, Concurrent(5), runs=3, num_interactions=20, jobs=jobs)
        for jobs in (1, 2)
    )
    for name in names:
        np.testing.assert_array_equal(one.outcomes[name].curve, two.outcomes[name].curve)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_tasks": 0}, "num_tasks must be a whole number of at least 1"),
        ({"num_arms": 0}, "num_arms must be a whole number of at least 1"),
        ({"subsample": 900}, "subsample must be at most 899 pictures, got 900"),
        ({"hyper": np.zeros(3)}, "hyper must have shape"),
        ({"mean_rewards": np.zeros(3)}, "mean_rewards must have shape"),
        ({"features": np.zeros((899, 3))}, "features must have shape"),
    ],
)
def test_bad_worlds_are_named(bandit, changes, message):
    names = ("prior", "hyper", "features", "mean_rewards", "subsample")
    with pytest.raises(ValueError, match=message):
        DigitBandit(**({name: getattr(bandit, name) for name in names} | changes))
    with pytest.raises(ValueError, match=r"digit must be among \[0, 1\], got 7"):
        world.class_rewards(np.array([0, 1]), 7)


# The experiment


KEYS = {"experiment", "panel", "sigma_q", "sigma_0", "L", "policy", "runs"}
KEYS |= {"mean", "standard_error", "digit"}


def _means(rows, digit):
    return {row["policy"]: row["mean"] for row in rows if row["digit"] == digit}


def test_the_experiment_on_the_bundled_digits(tmp_path):
    told = []
    options = Options(
        dataset="digits8x8", quick=True, runs=3, progress=lambda *progress: told.append(progress)
    )
    report = EXPERIMENTS["digits"].run(options)
    page = report.write(tmp_path).read_text()
    assert told[-1] == (24, 24)
    rows = json.loads((tmp_path / "summary.json").read_text())
    assert len(rows) == 8
    assert all(set(row) >= KEYS for row in rows)
    assert {(row["panel"], row["digit"]) for row in rows} == {("0", 0), ("1", 1)}
    assert all((row["sigma_q"], row["sigma_0"], row["L"]) == (1.0, None, 5) for row in rows)
    for digit in (0, 1):
        means = _means(rows, digit)
        assert means["OracleTS"] < means["HierTS"] < means["TS"]
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert (settings["d"], settings["pictures"], settings["n"]) == (64, [898, 899], 400)
    assert settings["sha256"] == load("digits8x8").sha256()
    for name in ("digits", "hyper"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / f"{name}.svg").read_text()
    drawn = (tmp_path / "hyper.svg").read_text()
    assert all(f"<!-- {rounds} -->" in drawn for rounds in range(80, 801, 80))
    assert page.count("data:image/png;base64,") == 2
    curves = pl.read_parquet(tmp_path / "curves.parquet")
    last = curves.filter((pl.col("round") == 800) & (pl.col("policy") == "TS"))
    assert last.group_by("digit").len()["len"].to_list() == [3, 3]
    ends = last.filter(pl.col("digit") == 1)["regret"]
    assert ends.mean() == pytest.approx(_means(rows, 1)["TS"])


def test_a_strip_shows_each_parameter_above_its_best_picture():
    rng = np.random.default_rng(0)
    pictures = rng.integers(0, 200, (50, 8, 8), np.uint8)
    shown = Images(pictures, np.zeros(50, int), downsampled(pictures, 4, white=255))
    parameters = rng.standard_normal((3, 4))
    tiles = strip(parameters, shown)
    assert tiles.shape == (20, 30, 3)
    for i, mu in enumerate(parameters):
        above, below = tiles[1:9, 10 * i + 1 : 10 * i + 9], tiles[11:19, 10 * i + 1 : 10 * i + 9]
        red = above[:, :, 0] > above[:, :, 2]
        np.testing.assert_array_equal(red, (mu > 0).reshape(2, 2).repeat(4, 0).repeat(4, 1))
        best = pictures[max(range(50), key=lambda k: shown.features[k] @ mu)]
        np.testing.assert_allclose(below, np.stack([best / best.max()] * 3, axis=2))


@pytest.mark.skipif(not MNIST.is_dir(), reason=f"MNIST's idx files are not in {MNIST}")
def test_the_experiment_on_mnist():
    found = load("mnist", MNIST)
    assert np.bincount(found.labels).tolist() == [
        5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949,
    ]  # fmt: skip
    report = EXPERIMENTS["digits"].run(Options(data=MNIST, runs=4, digits=(0,)))
    means = _means(report.rows, 0)
    assert means["OracleTS"] < means["HierTS"] < means["TS"]
    assert 60 < means["OracleTS"] < 130  # 92 in 20 runs
    assert 140 < means["HierTS"] < 240  # 187
    assert 640 < means["TS"] < 800  # 725
    assert (report.settings["d"], report.settings["pictures"]) == (49, [30_000, 30_000])


@pytest.mark.parametrize("digits", [(0, 10), (-1,), (2, 2)])
def test_bad_digits_are_named(digits):
    with pytest.raises(ValueError, match="digits must be distinct and from 0 to 9, got"):
        EXPERIMENTS["digits"].run(Options(dataset="digits8x8", digits=digits))
