"""The dashboard of services that are empty, need tokens, or die."""

import subprocess
import sys

import pytest
from support.browsers import Visit, browser
from support.servers import Server

from hierbandits.cli.token_command import share_link
from hierbandits.service.data_place import DataPlace


@pytest.fixture(scope="module")
def chromium():
    with browser() as one:
        yield one


def test_an_empty_service_is_filled_by_its_commands_dies_and_comes_back(chromium, tmp_path):
    server = Server(tmp_path / "data")
    with server, Visit(chromium, server, expects_errors=True) as visit:
        page = visit.open()
        page.wait_for_selector("text=There is no policy yet")
        commands = page.locator("ol pre").all_inner_texts()
        assert len(commands) == 3
        assert "hierbandits serve --demo" in page.inner_text("main")
        for line in commands:  # they are what they claim to be
            run_as_shown(line, server)
        page.wait_for_selector("text=One policy decides here")
        assert server.client().get("/policies/banners").json()["rewards"] == 1
        page.click("tbody a")
        page.wait_for_selector("text=earned 1 per decision")
        assert visit.errors == []
        server.options["port"] = server.port
        server.kill()
        page.wait_for_selector("#alarm:not([hidden])", timeout=20_000)
        alarm = page.inner_text("#alarm")
        assert "does not answer" in alarm
        assert "older" in alarm
        assert page.is_visible("text=earned 1 per decision")  # what was seen stays
        server.start()
        page.click("text=Try again")
        page.wait_for_selector("#alarm", state="hidden", timeout=20_000)


def run_as_shown(line, server):
    """Run a command that the page shows, in a shell."""
    line = line.replace("hierbandits ", f"{sys.executable} -m hierbandits ", 1)
    environment = {"HIERBANDITS_URL": server.url, "PATH": "/usr/bin:/bin"}
    environment |= {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(line, shell=True, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"status":4' not in done.stdout, done.stdout


def test_a_link_shares_one_policy_until_it_is_revoked(chromium, tmp_path):
    server = Server(tmp_path / "data", logs_requests=True)
    admin = server.token()
    with server, Visit(chromium, server, expects_errors=True) as visit:
        client = server.client(admin)
        for name in ("mine", "theirs"):
            client.put(f"/policies/{name}", json={"arms": ["a"]})
        secret = server.token("guest", ["read"], ["mine"])
        page = visit.page
        page.wait_for_timeout(1500)  # until the service knows it
        page.goto(share_link(server.url, secret, ["mine"]))
        page.wait_for_selector("text=No reward has come yet")
        assert "token" not in page.evaluate("location.href")
        page.click("header .brand a")
        page.wait_for_selector("text=One policy decides here")
        assert "theirs" not in page.inner_text("main")
        assert not any(secret in url for url in visit.asked)
        assert secret not in server.log.read_text()
        assert page.evaluate("localStorage.length") == 0
        DataPlace(server.folder).tokens().revoke("guest")
        page.wait_for_selector("text=This service needs a token", timeout=20_000)
        assert "revoked" in page.inner_text("main")
        page.fill("#token", admin)
        page.keyboard.press("Enter")
        page.wait_for_selector("text=2 policies decide here")
