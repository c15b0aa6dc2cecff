"""The command `hierbandits policy explain`."""

import json

import pytest
from support.local_services import LocalService
from typer.testing import CliRunner

from hierbandits.cli import app


@pytest.fixture
def explain(tmp_path):
    def run(*words):
        return CliRunner().invoke(app, ["policy", "explain", *words])

    return run


def test_a_decision_is_explained_while_the_service_runs(explain, tmp_path):
    folder = str(tmp_path / "data")
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["red", "blue"], "rule": "HierTS"})
        made = local.request("POST", "/policies/shop/decisions", json={"task": "t", "id": "v 1"})
        told = explain("shop", "v 1", "--data", folder)
        assert told.exit_code == 0, told.output
        assert "drew 50 times" in told.output
        assert "expected" in told.output
        found = json.loads(explain("shop", "v 1", "--data", folder, "--json").output)
        assert found["decision"]["arm"] == made.json()["arm"]
        assert found["problem"] is None
        assert explain("shop", "v 1", "--data", folder, "--quiet").output == ""


def test_what_is_wrong_is_one_line(explain, tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["red"]})
        for words, message in (
            (("shop", "none"), "no such decision"),
            (("other", "x"), "name must be of a policy"),
        ):
            refused = explain(*words, "--data", str(tmp_path / "data"))
            assert refused.exit_code == 2
            assert message in refused.output
            assert len(refused.output.strip().splitlines()) == 1
    assert explain("shop", "x", "--data", str(tmp_path)).exit_code == 2
