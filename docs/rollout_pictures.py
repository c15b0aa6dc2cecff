"""Makes the pictures of docs/operating.md, in Chromium: `python docs/rollout_pictures.py`."""

import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
IMAGES = Path(__file__).with_name("images")
SETTINGS = {
    "arms": ["winter", "gift", "free"], "rewards": "bernoulli", "control_arm": "winter",
    "ratio_check": "rewards",
    "guardrails": [
        {"name": "refunds", "at_most": 0.05}, {"name": "seconds", "at_most": 2, "high": 30},
    ],
}  # fmt: skip
STEPS = [{"share": 0.4, "seconds": 3600}, {"share": 0.7, "seconds": 86400}, {"share": 1}]


def live(client, rng, rounds, refunds):
    """Visitors come, buy, and give back what they bought."""
    for _ in range(rounds):
        wanted = [{"task": f"city {n}"} for n in range(40)]
        made = client.post("/policies/banners/rounds", json={"decisions": wanted}).json()
        rows = [
            {
                "id": one["id"],
                "value": float(rng.random() < 0.2),
                "metrics": {"refunds": float(rng.random() < refunds), "seconds": rng.exponential()},
            }
            for one in made["decisions"]
        ]
        client.post("/policies/banners/rewards", json={"rewards": rows})


def main():
    """Take a picture of a ramp, and one of a policy that is rolled back."""
    from support.browsers import Visit, browser
    from support.servers import Server

    rng = np.random.default_rng(3)
    with (
        tempfile.TemporaryDirectory() as folder,
        browser() as chromium,
        Server(Path(folder) / "data") as server,
    ):
        client = server.client()
        client.put("/policies/banners", json=SETTINGS)
        start = {"action": "start", "steps": STEPS, "reason": "spring"}
        client.post("/policies/banners/rollout", json=start)
        live(client, rng, 15, 0.03)
        for name, phase in (("ramp", "ramping"), ("rolled_back", "rolled back")):
            while client.get("/policies/banners/rollout").json()["phase"] != phase:
                live(client, rng, 3, 0.15)
            with Visit(chromium, server, width=900) as visit:
                visit.page.goto(f"{server.url}/dashboard#/policy/banners/rollout")
                visit.page.locator("#status", has_text="Updated").wait_for()
                visit.page.screenshot(path=IMAGES / f"rollout_{name}.png", full_page=True)


if __name__ == "__main__":
    main()
