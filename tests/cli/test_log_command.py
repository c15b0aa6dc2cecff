"""The command `hierbandits log export`: a file that learn and evaluate read."""

import polars as pl
import pytest
from support.local_services import LocalService
from typer.testing import CliRunner

from hierbandits.cli import app


@pytest.fixture
def folder(tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["x", "y"]})
        for id in ("a", "b"):
            local.request("POST", "/policies/shop/decisions", json={"task": "t", "id": id})
        local.request("POST", "/policies/shop/decisions/a/reward", json={"value": 1.5})
    return tmp_path / "data"


def run(folder, *words):
    return CliRunner().invoke(app, ["log", "export", *map(str, words), "--data", str(folder)])


def test_rewarded_decisions_or_all(folder, tmp_path):
    assert run(folder, "shop", "--out", tmp_path / "log.parquet").exit_code == 0
    log = pl.read_parquet(tmp_path / "log.parquet")
    assert log.select("decision", "task", "reward").rows() == [("a", "t", 1.5)]
    assert run(folder, "shop", "--out", tmp_path / "all.parquet", "--every").exit_code == 0
    assert pl.read_parquet(tmp_path / "all.parquet")["decision"].to_list() == ["a", "b"]


def test_what_is_wrong_is_one_line(folder, tmp_path):
    (tmp_path / "there").write_bytes(b"mine")
    for words, message in (
        (["shop", "--out", tmp_path / "there"], "--out must be a new file"),
        (["none", "--out", tmp_path / "new"], "policy 'none' is not known"),
    ):
        result = run(folder, *words)
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert (tmp_path / "there").read_bytes() == b"mine"
    assert not (tmp_path / "new").exists()
