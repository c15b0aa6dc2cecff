"""deploy/alerts.yml against metrics that services gave, judged by Prometheus's own promtool."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from support.local_services import LocalService

from hierbandits.service.service_metrics import ServiceMetrics
from hierbandits.service.storage import StorageFailed

RULES = Path(__file__).parents[1] / "deploy" / "alerts.yml"
ALERTS = {one["alert"]: one for one in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]}
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="promtool, of Debian's package prometheus, is not installed"
)
SETTINGS = {
    "arms": ["x", "y"], "draws": 5, "floor": 0.5, "rule": "HierIDS", "control_arm": "x",
    "ratio_check": "rewards", "guardrails": [{"name": "errors", "at_most": 0.1}],
}  # fmt: skip


class Recording:
    """The metrics of a service, looked at again and again."""

    def __init__(self, interval="1m"):
        self.interval, self._looks = interval, 0
        self._series = {}

    def look(self, text):
        """One more look at the metrics; None if nobody answered."""
        for family in () if text is None else text_string_to_metric_families(text):
            for sample in family.samples:
                labels = ",".join(f'{k}="{v}"' for k, v in sorted(sample.labels.items()))
                values = self._series.setdefault(f"{sample.name}{{{labels}}}", [])
                values += ["_"] * (self._looks - len(values)) + [repr(sample.value)]
        self._looks += 1

    def expecting(self, at, **labels):
        """What promtool must find at this time: for each alert the labels of what it is about."""
        found = []
        for name, rule in ALERTS.items():
            expected = []
            if name in labels:
                about = labels[name] | rule["labels"]
                expected = [{"exp_labels": about, "exp_annotations": rule["annotations"]}]
            found.append({"eval_time": at, "alertname": name, "exp_alerts": expected})
        rows = [
            {"series": name, "values": " ".join(values)} for name, values in self._series.items()
        ]
        return {"interval": self.interval, "input_series": rows, "alert_rule_test": found}


def judged(tmp_path, *tests):
    """Let promtool judge."""
    path = tmp_path / "tests.json"
    plan = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": list(tests)}
    path.write_text(json.dumps(plan))
    done = subprocess.run([PROMTOOL, "test", "rules", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def local(tmp_path):
    with LocalService(tmp_path / "data") as local:
        local.request("PUT", "/policies/p", json=SETTINGS)
        yield local


def lives(local, number=10, lost=(), errors=0.0):
    """Decisions with rewards and metrics; those of lost arms have none."""
    wanted = {"decisions": [{"task": f"task {n}"} for n in range(number)]}
    made = local.request("POST", "/policies/p/rounds", json=wanted).json()["decisions"]
    rows = [
        {"id": one["id"], "value": 1.0, "metrics": {"errors": errors}}
        for one in made
        if "id" in one and one["arm"] not in lost
    ]
    return local.request("POST", "/policies/p/rewards", json={"rewards": rows})


def metrics(local):
    return local.request("GET", "/metrics").text


@needs_promtool
def test_a_healthy_service_is_quiet_and_one_that_is_away_is_not(local, tmp_path):
    recording = Recording()
    for _ in range(15):
        lives(local)
        recording.look(metrics(local))
    quiet = recording.expecting("14m")
    for _ in range(15):
        recording.look(None)
    judged(tmp_path, quiet, recording.expecting("28m", BanditsAreAway={}))


@needs_promtool
def test_a_crossed_guardrail_and_missing_exposures(local, tmp_path):
    bad, missing = Recording(), Recording()
    lives(local)
    bad.look(metrics(local))
    while local.request("GET", "/policies/p/rollout").json()["guardrails"][0]["evidence"] < 10:
        lives(local, number=1, errors=1.0)
    bad.look(metrics(local))
    lives(local, errors=1.0)
    bad.look(metrics(local))
    about = {"policy": "p"}
    crossed = {"GuardrailCrossed": about | {"guardrail": "errors"}, "PolicyRolledBack": about}
    local.request("PUT", "/policies/p", json=SETTINGS | {"guardrails": []})
    body = {"action": "start", "steps": [{"share": 1}]}
    assert local.request("POST", "/policies/p/rollout", json=body).status_code == 200
    for _ in range(4):
        lives_without_metrics(local, lost=("y",))
        missing.look(metrics(local))
    judged(
        tmp_path,
        bad.expecting("0m"),
        bad.expecting("1m", GuardrailNear=about | {"guardrail": "errors"}),
        bad.expecting("2m", **crossed),
        missing.expecting("3m", SampleRatioOff=about),
    )


def lives_without_metrics(local, lost):
    wanted = {"decisions": [{"task": f"task {n}"} for n in range(300)]}
    made = local.request("POST", "/policies/p/rounds", json=wanted).json()["decisions"]
    rows = [{"id": one["id"], "value": 1.0} for one in made if one["arm"] not in lost]
    local.request("POST", "/policies/p/rewards", json={"rewards": rows})


@needs_promtool
def test_a_disk_that_is_full(local, tmp_path, monkeypatch):
    recording = Recording()
    lives(local)
    recording.look(metrics(local))

    def fail(*given):
        raise StorageFailed("the disk is full")

    monkeypatch.setattr(local.service.storage, "commit", fail)
    monkeypatch.setattr(local.service.storage, "try_writing", fail)
    for _ in range(5):
        assert local.request("POST", "/policies/p/decisions", json={"task": "t"}).status_code == 503
        recording.look(metrics(local))
    judged(tmp_path, recording.expecting("5m", BanditsDoNotStore={}, BanditsAreNotReady={}))


@needs_promtool
def test_rewards_that_stop_or_contradict(local, tmp_path):
    about = {"policy": "p"}
    stopped, contradicted = Recording("10m"), Recording("10m")
    for _ in range(14):
        local.request("POST", "/policies/p/decisions", json={"task": "t"})
        stopped.look(metrics(local))
    for _ in range(14):
        lives(local)
        one = local.request("POST", "/policies/p/decisions", json={"task": "t"}).json()["id"]
        for value in (1.0, 2.0):
            path = f"/policies/p/decisions/{one}/reward"
            local.request("POST", path, json={"value": value})
        lives_again = [{"id": one, "value": 3.0}]
        local.request("POST", "/policies/p/rewards", json={"rewards": lives_again})
        contradicted.look(metrics(local))
    judged(
        tmp_path,
        stopped.expecting("130m", RewardsStopped=about),
        contradicted.expecting("130m", RewardsConflict=about),
    )


@needs_promtool
def test_what_grows_slow_stale_long_or_worse(tmp_path):
    slow, kept = Recording(), Recording("4m")
    service = ServiceMetrics()
    service.ready.set(1)
    for _ in range(30):
        service.latency.labels("decide").observe(0.3)
        service.freshness.labels("p").observe(2.0)
        slow.look(service.text().decode())
    later = ServiceMetrics()
    later.ready.set(1)
    for hour in range(30):
        later.pending.labels("p").set(8_000 if hour < 26 else 17_000)
        later.evidence.labels("p").set(-1.0 if hour < 26 else -1.6)
        for _ in range(15):
            kept.look(later.text().decode())
    about = {"policy": "p"}
    judged(
        tmp_path,
        slow.expecting("29m", BanditsAreSlow={}, RewardsAreStale=about),
        kept.expecting("29h", PendingGrows=about, ModelFitsWorse=about),
        kept.expecting("25h"),
    )


def test_every_alert_is_explained():
    text = (RULES.parents[1] / "docs" / "operating.md").read_text()
    assert [name for name in ALERTS if f"`{name}`" not in text] == []
