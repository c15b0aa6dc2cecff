"""A scientist, an engineer and a researcher get from a raw file to a warm agent by themselves."""

from pathlib import Path

from support.processes import python


def test_three_persons_need_no_step_by_hand(tmp_path):
    done = python(Path(__file__).with_name("three_persons.py"), tmp_path, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("All three are done.\n")
