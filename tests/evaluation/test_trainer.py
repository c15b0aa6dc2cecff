"""Trainings on groups of rows: each prior is fitted once, to the rows it should see."""

import numpy as np
from support.cluster_checks import sample_log

from hierbandits.evaluation.reward_model import RewardModel
from hierbandits.evaluation.trainer import Trainer
from hierbandits.evaluation.training import Training
from hierbandits.logs import Columns, GroupSums, Log, Split, Survey


def _trainer(prior=None):
    log = Log.read(sample_log(), Columns(task="store", reward="revenue", arm="promo"))
    survey = Survey.of(log)
    split = Split.for_evaluation(survey, "folds", folds=3, seed=0)
    sums = GroupSums(3)
    for batch in log.batches():
        sums.add(batch, split.groups(batch.numbers))
    return Trainer(survey, sums, RewardModel(None, prior, None), None), survey, sums, split


def test_a_prior_is_fitted_to_its_groups_alone():
    trainer, survey, sums, split = _trainer()
    trainer.fit_for(split, True, True, True, "local")
    for groups in ([1, 2], [0, 2], [0], [0, 1, 2]):
        alone = Training.of(survey, 0, sums.of(groups), None, None).prior
        assert trainer.prior(groups).to_dict() == alone.to_dict()
        np.testing.assert_array_equal(trainer.training(0, groups).sums.n, sums.of(groups).n)


def test_a_prior_is_fitted_once():
    trainer, *_ = _trainer()
    first = trainer.prior([0, 1])
    trainer.fit([[0, 1], (1, 2)])
    assert trainer.prior(range(2)) is first
    assert trainer.prior([1, 2]) is not first


def test_a_given_prior_is_taken():
    given = _trainer()[0].prior([0])
    trainer = _trainer(given)[0]
    trainer.fit([[0], [1]])
    assert trainer.prior([1]).to_dict() == given.to_dict()
