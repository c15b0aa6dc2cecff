"""The options of `hierbandits reproduce digits`."""

import json

import pytest
from typer.testing import CliRunner

from hierbandits.cli import app

SMALL = ["reproduce", "digits", "--dataset", "digits8x8", "--digit", "1", "--runs", "2"]
SMALL += ["--jobs", "1"]


def _errors(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2
    return " ".join(result.output.split())


def test_a_reading_is_asked_for_by_options(tmp_path):
    asked = ["--estimator", "positive-mean", "--arms-from", "test-half", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, [*SMALL, *asked])
    assert result.exit_code == 0, result.output
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert (settings["estimator"], settings["arms from"]) == ("positive-mean", "test-half")
    assert f"Figure: {tmp_path / 'digits.png'}" in result.output.replace("\n", " ")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--estimator", "x"], "estimator must be one of choice-weighted, least-squares, "
                               "positive-mean, got 'x'"),
        (["--arms-from", "x"], "arms_from must be one of subsample, test-half, got 'x'"),
        (["--digit", "10"], "digits must be distinct and from 0 to 9, got (1, 10)"),
    ],
)  # fmt: skip
def test_a_bad_option_is_named_and_leaves_no_folder(option, message, tmp_path):
    out = tmp_path / "deep" / "out"
    assert _errors(*SMALL, *option, "--out", str(out)) == f"Error: {message}"
    assert not out.parent.exists()


@pytest.mark.parametrize("option", ["--estimator", "--arms-from", "--dataset", "--data"])
def test_options_of_the_digits_are_refused_elsewhere(option, tmp_path):
    error = _errors("reproduce", "meta", option, "x", "--out", str(tmp_path / "out"))
    assert error == f"Error: {option} is for the experiment digits alone, got it for meta"
    assert not (tmp_path / "out").exists()


def test_where_mnist_cannot_be_fetched_the_options_are_named(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", unreachable)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    error = _errors("reproduce", "digits", "--jobs", "1", "--out", str(tmp_path / "out"))
    assert "MNIST could not be fetched from openml.org (no route)" in error
    assert error.endswith("(--data FOLDER or --dataset digits8x8)")
