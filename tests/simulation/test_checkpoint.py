"""Checkpoints: an interrupted study resumes, and no chunk of another study is taken for its own."""

from functools import partial

import numpy as np
import pytest
from support.environments import ENVIRONMENTS

from hierbandits import Recipe, simulate
from hierbandits.models.variants import as_given
from hierbandits.policies.greedy_rule import greedy
from hierbandits.simulation.checkpoint import Checkpoint
from hierbandits.simulation.schedules import Concurrent


def _study(policies, runs=430, environment="linear, arms per round", **options):
    return simulate(
        ENVIRONMENTS[environment],
        policies,
        Concurrent(3),
        runs=runs,
        seed=5,
        num_interactions=6,
        **options,
    )


def test_an_interrupted_study_resumes_from_its_finished_chunks(tmp_path):
    done = []
    whole = _study(["HierTS", "TS"])

    def stop_after_three(runs, total):
        assert total == 2 * whole.runs
        done.append(runs)
        if len(done) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _study(["HierTS", "TS"], checkpoint=tmp_path, progress=stop_after_three)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 3
    stamps = [path.stat().st_mtime_ns for path in kept]
    kept[0].write_bytes(kept[0].read_bytes()[:100])  # and one was damaged
    resumed = _study(["HierTS", "TS"], checkpoint=tmp_path)
    assert [path.stat().st_mtime_ns for path in kept[1:]] == stamps[1:]
    assert len(list(tmp_path.iterdir())) == 6
    for name in ("HierTS", "TS"):
        np.testing.assert_array_equal(resumed.outcomes[name].curve, whole.outcomes[name].curve)


def test_a_checkpoint_of_other_settings_is_not_used(tmp_path):
    _study(["HierTS"], runs=50, checkpoint=tmp_path)
    changed = _study(["HierTS"], runs=50, environment="armed", checkpoint=tmp_path)
    fresh = _study(["HierTS"], runs=50, environment="armed")
    np.testing.assert_array_equal(changed.outcomes["HierTS"].total, fresh.outcomes["HierTS"].total)


def test_a_finished_study_is_read_back_whole(tmp_path):
    options = {"runs": 30, "variance": True, "snapshot_every": 2, "checkpoint": tmp_path}
    first, again = (_study(["HierTS"], **options) for _ in range(2))
    np.testing.assert_array_equal(again.rounds, first.rounds)
    one, other = first.outcomes["HierTS"], again.outcomes["HierTS"]
    for name in ("curve", "per_task", "variance", "explored", "snapshots"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.seconds == other.seconds  # the second was not computed


def test_a_name_of_any_letters_is_a_file(tmp_path):
    study = partial(_study, {"a/b ü": Recipe(as_given, greedy, "x")}, runs=2)
    one, again = (study(checkpoint=tmp_path) for _ in range(2))
    assert len(list(tmp_path.glob("*.chunk"))) == 1
    np.testing.assert_array_equal(*(s.outcomes["a/b ü"].total for s in (one, again)))


def test_what_running_changes_does_not_lose_the_chunk(tmp_path):
    class Counting:
        calls = 0

        def __call__(self, belief, rng, tasks, arms):
            self.calls += 1
            return np.zeros(tasks.size, np.intp)

    rule, again = Counting(), Counting()
    for each in (rule, again):
        _study({"mine": Recipe(as_given, each, "x")}, runs=3, checkpoint=tmp_path)
    assert (rule.calls > 0, again.calls) == (True, 0)


def test_chunks_alone_are_removed_from_a_folder(tmp_path):
    folder, outside = tmp_path / "chunks", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    _study(["HierTS"], checkpoint=folder)
    chunks = sorted(folder.iterdir())
    stale = folder / f".{chunks[0].name}.0123456789abcdef.part"
    stale.touch()
    kept = ["mine.chunk", "HierTS-0-0123456789abcdef.chunk", "a.chunk.old"]
    for name in kept:
        (folder / name).touch()
    whole = chunks[0].read_bytes()
    (folder / "my.chunk").write_bytes(whole)
    (outside / "chunk").write_bytes(whole)
    (folder / "HierTS-1-0123456789abcdef.chunk").symlink_to(outside / "chunk")
    Checkpoint.remove(folder)
    left = [*kept, "my.chunk", "HierTS-1-0123456789abcdef.chunk"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(left)
    assert (outside / "chunk").read_bytes() == whole
