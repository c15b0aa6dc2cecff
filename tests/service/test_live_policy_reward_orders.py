"""Rewards that come in any order, after any time, from several clients at once."""

import threading
from collections import Counter

import numpy as np
import pytest
from support.reward_orders import WAIT, check_posterior, rewarded, with_decisions
from support.served_truth import SETTINGS
from support.servers import Server
from support.service_calls import Line
from support.service_desk import NAME, Desk
from support.virtual_loop import run

from hierbandits.service.policy_settings import PolicySettings

NUMBER = 400


@pytest.mark.parametrize("order", ["in order", "shuffled", "the last first"])
def test_the_posterior_is_the_same_in_any_order(tmp_path, order):
    async def life():
        rng = np.random.default_rng(1)
        desk, values = await with_decisions(tmp_path, NUMBER, rng)
        ids = list(values)
        if order == "shuffled":
            ids = [ids[place] for place in rng.permutation(NUMBER)]
        elif order == "the last first":
            ids.reverse()
        await rewarded(desk, values, ids)
        check_posterior(desk, values)

    run(life())


def test_rewards_after_all_waiting_is_over_are_learned_in_full_and_once(tmp_path):
    """Given up without a default: the agent knows nothing of them, the ledger does."""

    async def life():
        rng = np.random.default_rng(2)
        desk, values = await with_decisions(tmp_path, NUMBER, rng, reward_wait=WAIT, remember=10)
        ids = [list(values)[place] for place in rng.permutation(NUMBER)]
        await rewarded(desk, values, ids[:100])
        desk.now += 10_000
        assert await desk.call("expire") == 300
        await rewarded(desk, values, ids[100:])
        again = await desk.call("reward", list(values.items()))
        assert {one.status for one in again} == {"duplicate"}
        other = await desk.call("reward", [(id, value + 1) for id, value in values.items()])
        assert {one.code for one in other} == {"conflict"}
        check_posterior(desk, values)
        check_posterior(Desk(tmp_path), values)  # a process that starts

    run(life())


def test_rewards_replace_defaults_in_full(tmp_path):
    async def life():
        rng = np.random.default_rng(3)
        desk, values = await with_decisions(
            tmp_path, NUMBER, rng, reward_wait=WAIT, default_reward=0.25
        )
        ids = [list(values)[place] for place in rng.permutation(NUMBER)]
        await rewarded(desk, values, ids[:100])
        desk.now += 10_000
        assert await desk.call("expire") == 300
        assert desk.live.view.decision(ids[-1])["reward"] == 0.25
        await rewarded(desk, values, ids[100:])
        check_posterior(desk, values)
        check_posterior(Desk(tmp_path), values)

    run(life())


def test_defaults_beyond_what_is_remembered_are_replaced_in_full_and_once(tmp_path):
    """The agent remembers ten of them; the ledger has all."""

    async def life():
        settings = {"reward_wait": WAIT, "default_reward": 0.25, "remember": 10}
        rng = np.random.default_rng(4)
        desk, values = await with_decisions(tmp_path, NUMBER, rng, **settings)
        ids = [list(values)[place] for place in rng.permutation(NUMBER)]
        await rewarded(desk, values, ids[:100])
        desk.now += 10_000
        assert await desk.call("expire") == 300
        values[ids[-1]] = 0.25  # as the default is, and still it is a reward
        await rewarded(desk, values, ids[100:])
        again = await desk.call("reward", list(values.items()))
        assert {one.status for one in again} == {"duplicate"}
        other = await desk.call("reward", [(id, value + 1) for id, value in values.items()])
        assert {one.code for one in other} == {"conflict"}
        check_posterior(desk, values)
        check_posterior(Desk(tmp_path), values)  # a process that starts
        values |= {id: values[id] - 1.0 for id in ids[50:150]}
        for id in ids[50:150]:
            assert (await desk.call("correct", id, values[id])).status == "corrected"
        check_posterior(desk, values)
        await desk.book.put(NAME, PolicySettings(**SETTINGS | settings | {"remember": 1000}))
        check_posterior(desk, values)  # a version that remembers them

    run(life())


def test_rewards_sent_ten_times_by_eight_clients_are_learned_once(tmp_path):
    with Server(tmp_path / "data") as server:
        line, path = Line(server.port), f"/policies/{NAME}"
        assert line.call("PUT", path, SETTINGS)[0] == 200
        rows = [{"task": f"task-{place % 5}"} for place in range(100)]
        made = line.post(f"{path}/rounds", {"decisions": rows})["decisions"]
        rng = np.random.default_rng(5)
        values = dict(zip([one["id"] for one in made], rng.normal(size=100).tolist(), strict=True))
        said = Counter()

        def client(seed):
            own, order = Line(server.port), np.random.default_rng(seed)
            found = Counter()
            for _ in range(10):
                ids = order.permutation(list(values)).tolist()
                for first in range(0, 100, 20):
                    some = [{"id": id, "value": values[id]} for id in ids[first : first + 20]]
                    answers = own.post(f"{path}/rewards", {"rewards": some})["rewards"]
                    found.update(one["status"] for one in answers)
                id = ids[0]
                other = {"value": values[id] + 1}
                one = f"{path}/decisions/{id}/reward"
                found[own.call("POST", one, other)[0]] += 1
                found[own.post(one, {"value": values[id]})["status"]] += 1
            own.close()
            said.update(found)

        threads = [threading.Thread(target=client, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert said == {"learned": 100, "duplicate": 8 * 10 * 101 - 100, 409: 80}
        shown = line.get(path)
        assert (shown["rewards"], shown["pending"]) == (100, 0)
        line.close()
