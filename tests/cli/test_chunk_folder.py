"""A long command that is interrupted resumes from its finished chunks."""

import json

from support.processes import command, interrupted

from hierbandits.archive import read_archive
from hierbandits.cli.chunk_folder import CHUNKS


def test_an_interrupted_sweep_resumes(tmp_path):
    arguments = ["sweep", "--world", "paper-a,paper-b,arms", "--policy", "HierTS,TS,PooledTS"]
    arguments += ["--schedule", "federated,sequential", "--runs", "20", "--jobs", "1"]
    arguments += ["--out", str(tmp_path)]
    status, message = interrupted(*arguments, once=lambda: list(tmp_path.glob(f"{CHUNKS}/*.chunk")))
    assert status == 130
    assert message.endswith("Interrupted: run the same command again to resume\n")
    chunks = list(tmp_path.glob(f"{CHUNKS}/*.chunk"))
    assert 1 <= len(chunks) < 18
    seconds = {read_archive(chunk, "chunk", 1)[0]["seconds"] for chunk in chunks}

    resumed = command(*arguments, "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert not (tmp_path / CHUNKS).exists()
    rows = json.loads(resumed.stdout)["rows"]
    assert len(rows) == 18
    assert seconds <= {row["seconds"] for row in rows}  # those chunks were not computed again
