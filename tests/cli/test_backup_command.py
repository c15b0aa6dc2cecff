"""The command `hierbandits backup`: a folder that can be served, or one line."""

from support.local_services import LocalService
from typer.testing import CliRunner

from hierbandits.cli import app


def test_a_folder_is_copied_once(tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["x", "y"]})
    words = ["backup", "--data", str(tmp_path / "data"), "--out", str(tmp_path / "copy")]
    assert CliRunner().invoke(app, words).exit_code == 0
    with LocalService(tmp_path / "copy") as copy:
        assert copy.request("GET", "/policies/shop").status_code == 200
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2
    assert again.stderr.startswith("Error: out must be a new folder")
    assert len(again.stderr.splitlines()) == 1


def test_damage_is_one_line(tmp_path):
    (tmp_path / "ledger.db").write_bytes(b"not a database" * 1000)
    words = ["backup", "--data", str(tmp_path), "--out", str(tmp_path / "copy")]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "copy").exists()
