"""The command `hierbandits doctor`: a sound folder, a damaged one, and none."""

import json

from support.local_services import LocalService
from typer.testing import CliRunner

from hierbandits.cli import app


def run(folder, *words):
    return CliRunner().invoke(app, ["doctor", "--data", str(folder), *words])


def test_a_folder_is_sound_until_a_bit_flips(tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/shop", json={"arms": ["x", "y"]})
        for id in ("aaaa", "bbbb"):
            local.request("POST", "/policies/shop/decisions", json={"task": "t", "id": id})
    sound = run(tmp_path / "data")
    assert sound.exit_code == 0, sound.output
    assert sound.stdout.splitlines()[1].split()[:2] == ["shop", "1"]
    assert "Everything is as it was written" in sound.stdout
    ledger = tmp_path / "data" / "ledger.db"
    data = bytearray(ledger.read_bytes())
    data[data.rindex(b"bbbb")] ^= 1
    ledger.write_bytes(data)
    damaged = run(tmp_path / "data", "--json")
    assert damaged.exit_code == 1
    told = json.loads(damaged.stdout)
    assert not told["is_sound"]
    assert told["faults"]
    assert run(tmp_path / "data").stdout.count("wrong: ") == len(told["faults"])


def test_a_folder_that_is_none(tmp_path):
    result = run(tmp_path)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "must be a data folder" in result.stderr
