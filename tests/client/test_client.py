"""The client against a real service: every call, odd names, repeated requests, errors."""

import inspect
import threading

import pytest
from support.scripted_server import scripted
from support.servers import Server

import hierbandits as hb
from hierbandits.client import (
    BadRequest,
    Conflict,
    NotFound,
    ServiceError,
    Unauthorized,
    Unavailable,
    Wanted,
    client_calls,
)

ODD = ['"', "a/b", "..", ".", "5", "%41", "ü é", "?x=1#y", "[1]", "/", "  ", "null"]
DECISION = {"id": "a", "task": "t", "arm": "x", "propensity": 0.5, "version": 1}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("client") / "data") as server:
        yield server


@pytest.fixture
def client(server):
    with hb.Client(server.url, timeout=120) as client:
        yield client


@pytest.fixture
def shop(client, request):
    name = f"shop-{abs(hash(request.node.name))}"
    assert client.put_policy(name, {"arms": ["x", "y"]}).created
    return name


def test_a_decision_and_its_reward(client, shop):
    decision = client.decide(shop, "north")
    assert decision.arm in ("x", "y")
    assert 0 < decision.propensity <= 1
    assert (decision.task, decision.version, decision.duplicate) == ("north", 1, False)
    assert client.decide(shop, "north", id=decision.id).duplicate
    assert client.reward(shop, decision.id, 1.5).status == "learned"
    assert client.reward(shop, decision.id, 1.5).status == "duplicate"
    with pytest.raises(Conflict, match=r"1\.5") as conflict:
        client.reward(shop, decision.id, 2)
    assert (conflict.value.status, conflict.value.code) == (409, "conflict")
    assert conflict.value.request_id
    assert client.correct(shop, decision.id, 2).status == "corrected"
    record = client.decision(shop, decision.id)
    assert (record.arm, record.reward, record.offered) == (decision.arm, 2.0, ("x", "y"))


def test_a_round_tells_errors_one_by_one(client, shop):
    wanted = ["a", Wanted("b", arms=["y"], id="mine"), Wanted("c", arms=["z"]), Wanted("d", id="")]
    first, second, third, fourth = client.decide_many(shop, wanted)
    assert (first.task, second.id, second.arm) == ("a", "mine", "y")
    assert isinstance(third, BadRequest)
    assert "'z'" in str(third)
    assert isinstance(fourth, BadRequest)
    rewards = [(first.id, 1.0), ("mine", 0.0), ("nobody", 1.0)]
    learned, also, unknown = client.reward_many(shop, rewards)
    assert (learned.status, also.status) == ("learned", "learned")
    assert isinstance(unknown, NotFound)


def test_policies_versions_and_arms(client, shop):
    assert shop in [policy.name for policy in client.policies()]
    assert client.put_policy(shop, {"arms": ["x", "y"]}).version == 1
    changed = client.put_policy(shop, {"arms": ["x", "y"], "floor": 0.1})
    assert (changed.version, changed.created) == (2, False)
    assert [version.settings.get("floor") for version in client.versions(shop)] == [None, 0.1]
    assert client.add_arm(shop, "z").arms == ("x", "y", "z")
    client.retire_arm(shop, "z")
    assert {client.decide(shop, f"task-{i}").arm for i in range(20)} <= {"x", "y"}
    assert client.policy(shop).settings["floor"] == 0.1
    client.delete_policy(shop)
    with pytest.raises(NotFound):
        client.policy(shop)


def test_what_is_known_of_tasks(client, shop):
    decision = client.decide(shop, "north")
    client.reward(shop, decision.id, 3.0)
    client.decide(shop, "south")
    assert client.tasks(shop) == client.tasks(shop, limit=2)
    assert client.tasks(shop, "no", offset=0).tasks == ("north",)
    belief = client.task(shop, "north")
    assert (belief.task, belief.decisions, [row.arm for row in belief.rows]) == (
        "north", 1, ["x", "y"],
    )  # fmt: skip
    row = next(row for row in belief.rows if row.arm == decision.arm)
    assert row.rewards == 1
    assert row.low < row.mean < row.high
    assert client.delete_task(shop, "north") >= 2  # the events that held it
    assert client.tasks(shop).tasks == ("south",)


def test_policies_and_logs_move_as_files(client, shop):
    decision = client.decide(shop, "north")
    client.reward(shop, decision.id, 3.0)
    copy = f"{shop}-copy"
    assert client.import_policy(copy, client.export_policy(shop)).created
    assert client.task(copy, "north") == client.task(shop, "north")
    assert client.export_log(shop)[:4] == b"PAR1" == client.export_log(shop, every=True)[:4]
    with pytest.raises(BadRequest, match="archive must be"):
        client.import_policy(f"{shop}-3", b"not a policy")
    with pytest.raises(NotFound):
        client.export_policy("nothing")
    assert "/backups/" in client.backup()


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_those_that_were_given(client, shop, name):
    decision = client.decide(shop, name)
    assert decision.task == name
    for other in ODD:
        if other != name:
            with pytest.raises(NotFound):
                client.task(shop, other)
    assert client.task(shop, name).task == name
    assert client.delete_task(shop, name) >= 1
    assert client.policy(shop).tasks == 0


def test_numbers_and_texts_are_different_tasks_and_arms(client, shop):
    client.decide_many(shop, [5, "5"])
    client.delete_task(shop, 5)
    assert client.tasks(shop).tasks == ("5",)
    client.add_arm(shop, "7")
    client.add_arm(shop, 7)
    client.add_arm(shop, "a/b")
    client.retire_arm(shop, "7")
    client.retire_arm(shop, "a/b")
    assert client.decide(shop, "t", [7]).arm == 7
    with pytest.raises(BadRequest):
        client.decide(shop, "t", ["7"])


def test_ids_of_ones_own_may_have_any_characters(client, shop):
    for id in ("order/17", "reward", "a b", "%2F", "ü"):
        assert client.decide(shop, "t", id=id).id == id
        assert client.reward(shop, id, 1.0).id == id
        assert client.decision(shop, id).reward == 1.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), 10**400])
def test_what_is_no_number_is_refused(client, shop, value):
    id = client.decide(shop, "t").id
    with pytest.raises(ValueError, match=r"value|number|JSON"):
        client.reward(shop, id, value)
    assert client.policy(shop).rewards == 0


def test_a_boolean_is_no_number_for_the_service(client, shop):
    with pytest.raises(BadRequest):
        client.reward(shop, client.decide(shop, "t").id, True)


def test_threads_may_share_a_client(client, shop):
    def act(name):
        for _ in range(5):
            client.reward(shop, client.decide(shop, name).id, 1.0)

    threads = [threading.Thread(target=act, args=(f"t{i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.policy(shop).rewards == 20


def test_the_token_and_the_address_may_come_from_the_environment(tmp_path, monkeypatch):
    server = Server(tmp_path / "data")
    token = server.token("one", ["decide"], ["shop"])
    with server:
        monkeypatch.setenv("HIERBANDITS_URL", server.url)
        with hb.Client() as nobody, pytest.raises(Unauthorized):
            nobody.policies()
        monkeypatch.setenv("HIERBANDITS_TOKEN", token)
        with hb.Client() as client:
            assert repr(client) == f"Client({server.url}, with a token)"
            with pytest.raises(ServiceError) as refused:
                client.put_policy("shop", {"arms": ["x", "y"]})
            assert (type(refused.value).__name__, refused.value.status) == ("Forbidden", 403)
            assert token not in f"{refused.value!r} {refused.value} {vars(refused.value)}"


def test_what_may_work_later_is_repeated_with_the_same_id():
    answers = [None, (429, {}), (503, {}, {"retry-after": "0"}), (502, b"<html>"), (200, DECISION)]
    with scripted(*answers) as script, hb.Client(script.url) as client:
        assert client.decide("shop", "t").arm == "x"
        assert len({body for *_, body in script.asked}) == 1
        assert len(script.asked) == 5


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 500])
def test_what_will_never_work_is_not_repeated(status):
    problem = {"status": status, "code": "why", "detail": "the words"}
    with scripted((status, problem)) as script, hb.Client(script.url) as client:
        with pytest.raises(ServiceError, match="the words") as error:
            client.decide("shop", "t")
        assert (error.value.status, error.value.code) == (status, "why")
        assert len(script.asked) == 1


def test_what_must_not_happen_twice_is_not_repeated_if_it_may_have_happened():
    with scripted(None) as script, hb.Client(script.url) as client:
        for call in (client.delete_policy, lambda name: client.delete_task(name, "t")):
            script.asked.clear()
            with pytest.raises(Unavailable, match="no answer from http"):
                call("shop")
            assert len(script.asked) == 1


def test_a_service_that_is_not_there():
    with hb.Client("http://127.0.0.1:9", retries=1) as client:
        with pytest.raises(Unavailable, match=r"no answer from http://127\.0\.0\.1:9") as error:
            client.delete_policy("shop")
        assert error.value.status is None
        assert error.value.__cause__ is None


def test_methods_show_the_arguments_of_their_calls():
    shown = inspect.signature(hb.Client.decide)
    assert list(shown.parameters)[:3] == ["self", "policy", "task"]
    bound = inspect.signature(hb.Client("http://127.0.0.1:9").reward)
    assert list(bound.parameters) == ["policy", "id", "value", "metrics"]
    assert "ServedDecision" in str(shown.return_annotation)
    assert hb.Client.decide.__doc__ == client_calls.decide.__doc__


def test_a_candidate_is_judged_by_the_log(client, shop):
    with pytest.raises(BadRequest, match="Nobody"):
        client.evaluate(shop, {"rule": "Nobody"})
    with pytest.raises(NotFound):
        client.evaluation(shop, "nothing")
    for _ in range(10):
        made = client.decide_many(shop, [f"t{i}" for i in range(10)])
        client.reward_many(shop, [(one.id, float(one.arm == "x")) for one in made])
    found = client.evaluate(shop, {"rule": "HierGreedy"}, confidence=0.9)
    assert (found.rows + found.rows_of_training, found.confidence) == (100, 0.9)
    candidate, _, best = found.policies
    assert best.arms == ("x",)
    assert candidate.reward.value == pytest.approx(1.0, abs=0.2)
