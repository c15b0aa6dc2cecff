"""What a start from clicks promises."""

from support.click_logs import learned_clicks


def test_promises_are_made_of_new_tasks_and_own():
    _, report = learned_clicks(runs=6)
    assert report.promises.policies == ("this start", "HierTS", "TS", "PooledTS", "best single arm")
    assert set(report.promises.num_tasks) == {"new", "own"}
    for promise in report.promises.promises:
        assert 0 <= promise.mean < 8  # a round's regret is below 1 for clicks
    assert report.promises.of("own").mean < report.promises.of("new").mean
    new = report.promises.of("new")
    assert new.others.shape == (6, 60)
    assert abs(new.others.mean() - new.mean) < 0.5 * new.mean
    linear = learned_clicks(armed=False, runs=4)[1]
    assert set(linear.promises.num_tasks) == {"new"}
