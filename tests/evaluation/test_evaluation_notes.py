"""What an evaluation says that it did."""

import numpy as np
from support.logged import World

from hierbandits import evaluate
from hierbandits.evaluation.evaluation_notes import notes
from hierbandits.logs import Split


def test_a_given_prior_is_told_of():
    rng = np.random.default_rng(13)
    world = World.drawn(rng)
    log = world.log(world.rows(rng, 100))
    given = [evaluate(log, "greedy", ["dr"], prior=given).notes for given in (world.prior(), None)]
    assert ["The prior was given." in " ".join(notes) for notes in given] == [True, False]


def test_methods_and_splits_are_explained():
    assert notes([], {"ips"}, Split.none(), prior_given=False)[1].startswith(
        "Nothing had to be trained"
    )
    replayed, by_time = notes(
        [], {"replay"}, Split(kind="time", num_groups=2, judged=(1,), cut=17), prior_given=False
    )
    assert "they are replayed" in replayed
    assert "(from 17 on)" in by_time
    folds = Split(kind="folds", num_groups=4, judged=(0, 1, 2, 3))
    assert "cross-fitted in 4 folds" in notes([], {"dr"}, folds, prior_given=False)[-1]


def test_named_policies_are_explained_and_others_are_not():
    first, *_ = notes(["best arm", "mine", "greedy"], {"dr"}, Split.none(), prior_given=False)
    assert first == (
        "best arm plays always the one arm that the model expects most of over all tasks; "
        "greedy plays in each task the arm that the model expects most of."
    )
    assert not any(
        "plays" in note for note in notes(["mine"], {"dr"}, Split.none(), prior_given=False)
    )
