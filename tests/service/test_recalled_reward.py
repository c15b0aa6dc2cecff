"""An agent that is told what it has forgotten."""

import pytest
from numpy.testing import assert_allclose
from support.service_lives import KINDS, Core, task_of

from hierbandits.service.recalled_reward import learn_recalled


@pytest.mark.parametrize("kind", ["armed", "linear", "deep-armed", "bernoulli"])
def test_a_reward_is_learned_or_replaced(tmp_path, kind):
    """In place of none, and in place of another: each time as if it had been the first."""
    settings, told = KINDS[kind], []
    for case in ("at once", "late", "replaced"):
        core = Core(tmp_path / f"{case}.db", settings)
        made = [core.decide(task_of(settings, 0), id=f"d{place}") for place in range(4)]
        if case != "late":
            core.live.reward([(one.id, float(case == "at once")) for one in made])
        else:
            core.live.agent.expire(0.0)
        for one in made if case != "at once" else ():
            parts = core.live.view.decision(one.id)
            if case == "late":
                assert learn_recalled(core.live.agent, parts, 1.0) == {"late": one.id}
            else:
                assert learn_recalled(core.live.agent, parts, 1.0) == {}
        told.append(core.live.agent.table())
        core.storage.close()
    for name in ("mean", "within_var", "shared_var", "rewards"):
        for other in told[1:]:
            assert_allclose(other[name], told[0][name], rtol=1e-9, atol=1e-12)
