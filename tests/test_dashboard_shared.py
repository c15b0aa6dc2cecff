"""The dashboard over workers that share a store, in a real browser: every view, and live."""

import json

import numpy as np
import pytest
from support.browsers import Visit, browser
from support.shared_stores import SETTINGS
from support.shared_workers import SharedWorkers
from test_dashboard import shown

SHOP = json.loads(SETTINGS["armed"].to_json()) | {"control_share": 0.3, "control_arm": "a"}


@pytest.fixture(scope="module")
def chromium():
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def workers(postgres, tmp_path_factory, chromium):
    """Two workers, each of which has decided and heard of rewards."""
    url = postgres.database()
    workers, rng = (
        SharedWorkers(tmp_path_factory.mktemp("shared"), url, 2),
        np.random.default_rng(0),
    )
    try:
        workers.start()
        workers.clients = [one.client() for one in workers.servers]
        assert workers.clients[0].put("/policies/shop", json=SHOP).is_success
        for n in range(60):
            asked = [{"task": f"shop {i}"} for i in rng.integers(30, size=20)]
            made = workers.clients[n % 2].post("/policies/shop/rounds", json={"decisions": asked})
            ids = [one["id"] for one in made.json()["decisions"]]
            given = [{"id": id, "value": rng.normal()} for id in ids[::2]]
            rewards = workers.clients[1 - n % 2].post(
                "/policies/shop/rewards", json={"rewards": given}
            )
            assert {one["status"] for one in rewards.json()["rewards"]} == {"learned"}
        yield workers
    finally:
        for client in getattr(workers, "clients", ()):
            client.close()
        workers.kill()
        postgres.drop(url)


@pytest.mark.parametrize("width", [1200, 390])
def test_every_view_shows_its_data(chromium, workers, width):
    expected = {
        "overview": ["1,200", "600", "50 %", "earn", "Predictions", "of the rewards come within"],
        "population": ["average", "of what is not known"],
        "tasks": ["1 to 25 of 30 tasks"],
        "decisions": ["propensity", "control", "waits"],
        "settings": ["There is one version"],
        "task/%22shop 3%22": ["What is believed lies"],
    }
    with Visit(chromium, workers.servers[0], width=width, dark=width == 390) as visit:
        for name, words in expected.items():
            text = shown(visit.open(f"#/policy/shop/{name}"))
            assert [word for word in words if word not in text] == [], name
            assert visit.fits(), name
            assert not visit.page.locator("#alarm").is_visible()
        page = visit.open("#/policy/shop/decisions")
        shown(page)
        page.locator("tbody tr", has_text="policy").first.locator("a").first.click()
        page.wait_for_selector(".answer p")
        assert "cannot be made once more" in page.inner_text(".answer")
        assert page.locator(".error").count() == 0
        assert visit.fits()


def test_tasks_are_sorted_and_searched(chromium, workers):
    with Visit(chromium, workers.servers[1]) as visit:
        page = visit.open("#/policy/shop/tasks")
        shown(page)
        page.select_option("#sort", "decisions")
        page.wait_for_function(
            "() => { const all = [...document.querySelectorAll('tbody td:nth-child(2)')]"
            ".map((one) => Number(one.textContent)); return all.length === 25 "
            "&& all.every((one, i) => i === 0 || one <= all[i - 1]); }"
        )
        page.fill("#search", "SHOP 17")
        page.wait_for_selector("text=1 to 1 of 1 tasks")


def test_what_another_worker_does_is_seen_without_a_reload(chromium, workers):
    with Visit(chromium, workers.servers[0]) as visit:
        page = visit.open("#/policy/shop/decisions")
        shown(page)
        workers.clients[1].post("/policies/shop/decisions", json={"task": "somebody new"})
        page.wait_for_selector("text=somebody new", timeout=15_000)


def test_what_workers_do_not_serve_is_said_and_is_no_error(chromium, workers):
    with Visit(chromium, workers.servers[0], expects_errors=True) as visit:
        text = shown(visit.open("#/policy/shop/rollout"))
        assert "created" in text  # who changed what
        assert "Candidate" not in text
        assert not visit.page.locator("#alarm").is_visible()
        asked = len(visit.asked)
        for name in ("tasks", "rollout"):  # without a reload
            visit.page.evaluate(f"location.hash = '#/policy/shop/{name}'")
            visit.page.wait_for_selector(f"nav [aria-current][data-key={name}]")
            text = shown(visit.page)
        assert "created" in text
        again = [path for path in visit.asked[asked:] if path.endswith("/promotion")]
        assert again == []  # it was asked for once
