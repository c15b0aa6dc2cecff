"""The dashboard in a real browser: every view with data, empty, hostile, broken, by keyboard."""

import json
from urllib.parse import quote

import numpy as np
import pytest
from support.browsers import Visit, browser
from support.servers import Server

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.model_kinds import model_to_dict

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "\u202egnisrever ‮ שלום عليكم",
    "n" * 1000,
    "👩‍👩‍👧‍👦🏳️‍🌈 \u0000\u0007",
    "a/b?c#d%20&e='f'\"g\"",
    "..",
]
SERIES = [f"banner of the spring, number {n}" for n in range(60)]
TABS = ["overview", "population", "tasks", "decisions", "rollout", "settings"]


def fill(client, name, arms, tasks, rounds=12, seed=0, **more):
    """Decide and reward; the ids of the decisions."""
    rng, ids = np.random.default_rng(seed), []
    reply = client.put(f"/policies/{name}", json={"arms": arms, "draws": 10} | more)
    assert reply.status_code == 200, reply.text
    for _ in range(rounds):
        asked = [{"task": task} for task in tasks]
        made = client.post(f"/policies/{name}/rounds", json={"decisions": asked}).json()
        new = [one["id"] for one in made["decisions"]]
        given = [{"id": id, "value": float(rng.random() < 0.4)} for id in new[::2]]
        client.post(f"/policies/{name}/rewards", json={"rewards": given})
        ids += new
    return ids


def hierarchy(**options):
    return model_to_dict(GaussianHierarchy.armed(2, **options))


@pytest.fixture(scope="module")
def chromium():
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def server(tmp_path_factory, chromium):
    """A service with policies of several kinds."""
    with Server(tmp_path_factory.mktemp("page") / "data") as server:
        client = server.client()
        tasks = [f"shop {n}" for n in range(30)]
        server.ids = fill(
            client, "shop", ["red", "blue"], tasks, rewards="bernoulli",
            control_share=0.3, control_arm="red",
        )  # fmt: skip
        fill(client, "hostile", HOSTILE, HOSTILE[:-1], description=HOSTILE[0])
        client.put("/policies/empty", json={"arms": ["red", "blue"]})
        widths = {"hyper_std": 1.0, "task_std": 0.5, "noise_std": 1.0}
        fill(client, "known", ["x", "y"], tasks[:3], 2, prior=hierarchy(**widths), rule="HierTS")
        covs = {"hyper_cov": [[1, 0.5], [0.5, 1]], "task_cov": [[1, 0.2], [0.2, 1]]}
        prior = hierarchy(**covs, noise_std=1.0)
        fill(client, "correlated", ["x", "y"], tasks[:3], 2, prior=prior, rule="HierUCB")
        deep = GaussianHierarchy.deep(hyper_mean=[0, 0], covs=[np.eye(2)] * 3, noise_std=1.0)
        rows = {"x": [1.0, 0.5], "y": [0.2, 1.0]}
        paths = [["north", "a"], ["south", "b"]]
        fill(client, "deep", rows, paths, 2, prior=model_to_dict(deep), rule="HierGreedy")
        fill(client, "features", rows, tasks[:3], 2, rule="HierRandUCB")
        fill(client, "series", SERIES, ["one task"], 2)
        yield server


def shown(page):
    """Wait until a view is drawn; its text."""
    page.wait_for_selector("#waiting", state="detached")
    page.locator("#status", has_text="Updated").wait_for()
    return page.inner_text("main")


@pytest.mark.parametrize("width", [1200, 390])
def test_every_view_shows_its_data(chromium, server, width):
    expected = {
        "overview": ["red", "earn", "decisions", "Predictions", "of the rewards come within"],
        "population": ["on average", "of what is not known"],
        "tasks": ["1 to 25 of 30 tasks", "shop 3"],
        "decisions": ["propensity", "control", "waits"],
        "settings": ["bernoulli", "There is one version"],
    }
    with Visit(chromium, server, width=width, dark=width == 390) as visit:
        for name, words in expected.items():
            text = shown(visit.open(f"#/policy/shop/{name}"))
            assert [word for word in words if word not in text] == [], name
            assert visit.fits(), name
        assert "shop" in shown(visit.open())
        assert visit.page.locator("tbody tr").count() == 8
        assert visit.fits()


def test_a_task_and_a_decision_are_explained(chromium, server):
    with Visit(chromium, server) as visit:
        text = shown(visit.open("#/policy/shop/task/" + quote('"shop 3"')))
        assert "What is believed lies" in text or "no rewards of its own" in text
        page = visit.open("#/policy/shop/decisions")
        shown(page)
        page.locator("tbody tr", has_text="policy").first.locator("a").first.click()
        page.wait_for_selector(".answer p")
        assert page.locator(".error").count() == 0
        assert "What the policy saw" in page.inner_text("main")
        assert page.locator(".rows svg").count() >= 3  # two arms and the axis
        control = next(id for id in server.ids if is_control(server, id))
        visit.open(f"#/policy/shop/decision/{control}").wait_for_selector(".answer p")
        assert "control group" in page.inner_text(".answer")


def is_control(server, id):
    return server.client().get(f"/policies/shop/decisions/{id}").json().get("group") == "control"


@pytest.mark.parametrize("policy", ["known", "correlated", "deep", "features"])
def test_every_model_shows(chromium, server, policy):
    with Visit(chromium, server) as visit:
        for name in TABS:
            assert shown(visit.open(f"#/policy/{policy}/{name}"))
        page = visit.open(f"#/policy/{policy}/tasks")
        shown(page)
        page.locator("tbody a").first.click()
        page.wait_for_selector(".rows svg")
        page = visit.open(f"#/policy/{policy}/decisions")
        shown(page)
        page.locator("tbody a").first.click()
        page.wait_for_selector(".answer p")
        assert page.locator(".error").count() == 0


def test_a_policy_without_decisions_says_so_everywhere(chromium, server):
    words = ["No reward has come yet", "No task was met yet", "No task was met yet"]
    words += ["No decision was made yet", "no ramp was started", "Settings"]
    with Visit(chromium, server) as visit:
        for name, expected in zip(TABS, words, strict=True):
            assert expected in shown(visit.open(f"#/policy/empty/{name}"))


@pytest.mark.parametrize("width", [1200, 390])
def test_hostile_names_are_text_and_break_nothing(chromium, server, width):
    with Visit(chromium, server, width=width) as visit:
        for name in TABS:
            text = shown(visit.open(f"#/policy/hostile/{name}"))
            assert visit.fits(), name
            assert visit.page.evaluate("window.hacked") is None
        assert HOSTILE[0] in text
        for name in HOSTILE[:-1]:
            shown(visit.open(f"#/policy/hostile/task/{quote(json.dumps(name), safe='')}"))
            assert visit.page.locator("h1").text_content() == name
            assert visit.fits(), name[:10]
        page = visit.open("#/policy/hostile/tasks")
        shown(page)
        page.fill("#search", "<SCRIPT>")
        page.wait_for_selector("text=1 to 1 of 1 tasks")
        page.locator("tbody a").click()
        page.wait_for_selector(".rows svg")
        assert visit.page.evaluate("window.hacked") is None


def test_names_that_are_cut_can_be_told_apart(chromium, server):
    """Names of one series differ at their end, which stays when the middle is left out."""
    with Visit(chromium, server, width=390) as visit:
        for view in ("population", "task/%22one%20task%22"):
            shown(visit.open(f"#/policy/series/{view}"))
            names = visit.page.locator(".rows .name")
            ends = {text.split("\n")[-1].strip()[-9:] for text in names.all_inner_texts()}
            assert len(ends) == 40, view
            wide = "one => one.lastChild.nodeType === 3 && one.scrollWidth <= one.clientWidth + 1"
            assert names.evaluate_all(f"all => all.every({wide})"), view
            assert "the first 40 of 60" in visit.page.inner_text("main")
        assert visit.page.locator("nav .policy").is_visible()
        assert visit.fits()


def test_a_name_that_turns_text_round_turns_no_other(chromium, server):
    with Visit(chromium, server) as visit:
        text = shown(visit.open("#/policy/hostile/settings"))
        assert "\u202e" not in text
        assert "\\u202egnisrever" in text


def test_paper_is_light_and_says_when_it_was(chromium, server):
    with Visit(chromium, server, dark=True) as visit:
        page = visit.open("#/policy/shop/overview")
        shown(page)
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.inner_text("#status").startswith("As of ")
        page.emulate_media(media="print")
        for name, light in (("--page", "#fff"), ("--accent", "#0068a3"), ("--bad", "#a8231a")):
            found = f"getComputedStyle(document.documentElement).getPropertyValue('{name}')"
            assert page.evaluate(found) == light


def test_the_tables_are_paged_by_the_service(chromium, server):
    with Visit(chromium, server) as visit:
        page = visit.open("#/policy/shop/tasks")
        shown(page)
        page.click("text=Next")
        page.wait_for_selector("text=26 to 30 of 30 tasks")
        assert page.locator("tbody tr").count() == 5
        assert page.locator("button", has_text="Next").is_disabled()
        page.select_option("#sort", "newest")
        page.wait_for_selector("text=1 to 25 of 30 tasks")
        assert page.locator("tbody a").first.inner_text() == "shop 29"
        page.fill("#search", "SHOP 17")
        page.wait_for_selector("text=1 to 1 of 1 tasks")


def test_it_is_live_without_a_reload(chromium, server):
    client = server.client()
    with Visit(chromium, server) as visit:
        page = visit.open("#/policy/shop/decisions")
        shown(page)
        page.evaluate("window.same = true")
        client.post("/policies/shop/decisions", json={"task": "somebody new"})
        page.wait_for_selector("text=somebody new", timeout=15_000)
        assert page.evaluate("window.same")


def test_a_keyboard_is_enough(chromium, server):
    with Visit(chromium, server) as visit:
        page = visit.open()
        shown(page)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "skip"
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "shop":
                break
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Predictions")
        assert page.evaluate("document.activeElement.id") == "main"
        for view, mark in (("Tasks", "#search"), ("Decisions", "tbody a")):
            page.evaluate("document.body.focus()")
            for _ in range(40):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.textContent") == view:
                    break
            ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert ring != "none"
            page.keyboard.press("Enter")
            page.wait_for_selector(mark)
        page.locator("tbody a").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".answer p")


def test_an_unknown_policy_or_decision_is_an_error_that_is_shown(chromium, server):
    with Visit(chromium, server, expects_errors=True) as visit:
        for where in ("#/policy/nobody", "#/policy/shop/decision/none", "#/policy/shop/task/x"):
            page = visit.open(where)
            page.wait_for_selector("#alarm:not([hidden])")
            assert "is not known" in page.inner_text("#alarm")
            assert page.locator("#waiting").count() == 0
