"""The command `hierbandits backup`: a folder that can be served."""

from pathlib import Path

from support.local_services import LocalService
from typer.testing import CliRunner

from hierbandits.cli import app


def test_a_folder_is_copied_and_the_copy_can_be_served(tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["x", "y"]})
    result = CliRunner().invoke(app, ["backup", "--data", str(tmp_path / "data")])
    assert result.exit_code == 0, result.output
    copy = Path(result.stdout.strip())
    assert copy.parent == tmp_path / "data" / "backups"
    with LocalService(copy) as local:
        assert local.request("GET", "/policies/shop").status_code == 200


def test_a_folder_that_is_none(tmp_path):
    result = CliRunner().invoke(app, ["backup", "--data", str(tmp_path / "none")])
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
