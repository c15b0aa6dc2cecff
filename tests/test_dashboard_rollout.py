"""The rollout of a policy on the page: seen, held, rolled back, and refused, in a real browser."""

import pytest
from support.browsers import Visit, browser
from support.logged_worlds import LoggedWorld
from support.servers import Server

HOSTILE = "<img src=x onerror=window.hacked=1>"
SETTINGS = {
    "arms": ["red", HOSTILE], "draws": 10, "control_arm": "red", "ratio_check": "rewards",
    "guardrails": [{"name": HOSTILE, "at_most": 0.1}],
}  # fmt: skip


@pytest.fixture(scope="module")
def chromium():
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def server(tmp_path_factory, chromium):
    with Server(tmp_path_factory.mktemp("rollout") / "data") as server:
        yield server


@pytest.fixture
def client(server):
    client = server.client()
    client.delete("/policies/shop")
    assert client.put("/policies/shop", json=SETTINGS).status_code == 200
    wanted = {"decisions": [{"task": f"t{n}"} for n in range(20)]}
    made = client.post("/policies/shop/rounds", json=wanted).json()["decisions"]
    rows = [{"id": one["id"], "value": 1, "metrics": {HOSTILE: 0}} for one in made]
    client.post("/policies/shop/rewards", json={"rewards": rows})
    return client


def opened(visit):
    page = visit.page
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{visit.server.url}/dashboard#/policy/shop/rollout")
    page.locator("#status", has_text="Updated").wait_for()
    return page


def press(page, name, finding):
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("heading", level=1, name=finding).wait_for()


def test_a_ramp_is_started_held_resumed_and_rolled_back(chromium, server, client):
    with Visit(chromium, server) as visit:
        page = opened(visit)
        text = page.inner_text("main")
        assert "All guardrails hold" in text
        assert HOSTILE in text
        assert "One change so far" in text
        page.get_by_label("Steps, as share:time").fill("0.25:1h 1")
        press(page, "Start a ramp", "decides for 25 % of tasks, and for more soon")
        press(page, "Hold", "The ramp is held")
        press(page, "Resume", "and for more soon")
        press(page, "Roll back", "The policy is rolled back")
        assert client.get("/policies/shop/rollout").json()["phase"] == "rolled back"
        page.get_by_text("reason on the page").first.wait_for()
        assert "25\u00a0% for 1 hour, then 100\u00a0%" in page.inner_text("main")
        assert page.evaluate("window.hacked") is None


def test_what_is_refused_is_told(chromium, server, client):
    with Visit(chromium, server) as visit:
        page = opened(visit)
        page.get_by_label("Steps, as share:time").fill("half")
        page.get_by_role("button", name="Start a ramp").click()
        page.get_by_role("alert").filter(has_text="Steps must be like").wait_for()
    with Visit(chromium, server, expects_errors=True) as visit:
        page = opened(visit)
        page.get_by_label("Steps, as share:time").fill("0.5 0.1")
        page.get_by_role("button", name="Start a ramp").click()
        page.get_by_role("alert").filter(has_text="seconds must be given").or_(
            page.get_by_role("alert").filter(has_text="shares of steps must grow")
        ).wait_for()


def test_a_candidate_is_taken_by_the_next_step(chromium, server, client):
    with Visit(chromium, server) as visit:
        page = opened(visit)
        page.get_by_label("Rule of a candidate").fill("HierTS")
        page.get_by_role("button", name="Evaluate it").click()
        page.get_by_role("heading", name="A candidate has reached: evaluate").wait_for()
        assert page.get_by_role("button", name="Shadow it").count() == 1
        page.get_by_role("button", name="Drop it").click()
        page.get_by_role("heading", name="There is no candidate").wait_for()


def test_a_candidate_goes_all_the_way_and_back(chromium, tmp_path):
    LoggedWorld(tmp_path / "data").close()
    with Server(tmp_path / "data") as server, Visit(chromium, server) as visit:
        page, client = opened(visit), server.client()
        page.get_by_label("Rule of a candidate").fill("HierGreedy")
        page.get_by_role("button", name="Evaluate it").click()
        page.get_by_role("heading", name="A candidate has reached: evaluate").wait_for()
        id = client.get("/policies/shop/promotion").json()["evaluation"]
        while client.get(f"/policies/shop/evaluations/{id}").json()["state"] == "running":
            page.wait_for_timeout(50)
        page.get_by_role("button", name="Shadow it").click()
        page.get_by_role("heading", name="A candidate has reached: shadow").wait_for()
        page.get_by_label("Steps, as share:time").fill("0.25:1h 1")
        press(page, "Ramp it", "The candidate decides for 25 % of tasks, version 1 for the others")
        page.get_by_role("heading", name="No other candidate waits").wait_for()
        press(page, "Roll back", "The candidate is rolled back: the version before it decides")
        assert client.get("/policies/shop").json()["settings"]["rule"] == "HierTS"


@pytest.mark.parametrize("width", [380, 1200])
def test_it_fits_a_phone_and_the_dark(chromium, server, client, width):
    with Visit(chromium, server, width=width, dark=True) as visit:
        page = opened(visit)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_policy_without_a_control_arm_says_what_it_needs(chromium, server):
    server.client().put("/policies/plain", json={"arms": ["x", "y"]})
    with Visit(chromium, server) as visit:
        page = visit.page
        page.goto(f"{server.url}/dashboard#/policy/plain/rollout")
        page.get_by_text("A ramp of the policy needs the setting control_arm").wait_for()
        assert page.get_by_role("button", name="Roll back").count() == 0
