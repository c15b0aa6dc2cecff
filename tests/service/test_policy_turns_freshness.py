"""A reward that is acknowledged is used by the next decision."""

from support.busy_clients import CLIENTS, BusyClients
from support.served_truth import ARMS
from support.service_desk import Desk
from support.virtual_loop import run

from hierbandits.service.wire import DecisionRequest


def test_the_decision_after_a_reward_uses_it(tmp_path):
    """The best arm, without exploring, is the one that has just earned most."""

    async def life():
        desk = await Desk(tmp_path).create()
        value = 10.0
        for arm in ARMS * 4:
            only = DecisionRequest("a-task", arms=[arm])
            made = await desk.turns.ask("decide", only)
            value *= 3.0
            assert (await desk.turns.ask("reward", (made.id, value))).status == "learned"
            best = await desk.turns.ask("decide", DecisionRequest("a-task", best=True))
            assert best.arm == arm

    run(life())


def test_eight_clients_each_find_their_own_rewards_at_once(tmp_path):
    counts = BusyClients(tmp_path / "data").run(seconds=2.0)
    assert counts["rewards"] >= CLIENTS
