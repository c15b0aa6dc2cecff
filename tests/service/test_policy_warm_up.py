"""No request waits for a kernel."""

import logging
from pathlib import Path

import msgspec
from support.processes import python
from support.service_lives import KINDS

from hierbandits.service import policy_warm_up
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.policy_warm_up import warm_up_policy

TESTS = Path(__file__).parent.parent
PLAIN = PolicySettings(arms=["x", "y"], draws=5)


def test_the_first_requests_load_nothing(tmp_path):
    """Neither of policies that were there at the start, nor of a new one."""
    for what in ("fill", "ask"):
        done = python("-m", "support.served_kernel_loads", what, str(tmp_path / "data"), path=TESTS)
        assert (done.returncode, done.stdout.strip()) == (0, ""), (done.stdout, done.stderr[-3000:])


def test_every_kind_of_policy_lives_through_it(caplog, monkeypatch):
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(policy_warm_up, "_WARM", set())
    for settings in KINDS.values():
        warm_up_policy(settings, None)  # nothing is asked of the storage
    assert caplog.text == ""


def test_policies_that_look_alike_are_warm_at_once(monkeypatch):
    monkeypatch.setattr(policy_warm_up, "_WARM", set())
    made = []
    make = PolicySettings.make_agent

    def counting(self, *args, **more):
        made.append(self)
        return make(self, *args, **more)

    monkeypatch.setattr(PolicySettings, "make_agent", counting)
    changed = (
        (PLAIN, {}, 1), (PLAIN, {}, 1), (PLAIN, {"arms": ["u", "v"], "sticky": True}, 1),
        (PLAIN, {"rule": "HierTS"}, 2), (PLAIN, {"arms": ["u", "v", "w"]}, 3),
        (KINDS["correlated"], {}, 4), (KINDS["common"], {}, 5), (KINDS["common"], {}, 5),
    )  # fmt: skip
    for settings, changes, lives in changed:
        settings = msgspec.structs.replace(settings, **changes)
        warm_up_policy(settings, None)
        assert len(made) == lives


def test_a_warm_up_that_fails_is_a_line_in_the_log(caplog, monkeypatch):
    monkeypatch.setattr(policy_warm_up, "_WARM", set())
    warm_up_policy(PolicySettings(), None)  # neither arms nor a prior
    assert "a policy is not warm" in caplog.text
