"""The scripts in examples/ run as people run them: each in a process of its own."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from support.processes import command, python
from support.servers import Server

import hierbandits as hb

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_a_scientists_day(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = python(EXAMPLES / "scientists_day.py", timeout=900)
    assert done.returncode == 0, done.stderr
    assert "a hierarchy fits best" in done.stdout
    assert "HierOPO would earn" in done.stdout
    assert "a store that opens tomorrow: free shipping" in done.stdout
    assert (tmp_path / "results" / "learn" / "report.html").is_file()
    assert "Zürich 14" in hb.Agent.load("agent.hb").summary(max_rows=300)


def test_a_paper_reproduced_and_extended(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = python(EXAMPLES / "paper_extended.py")
    assert done.returncode == 0, done.stderr
    regret = {words[0]: float(words[1]) for words in map(str.split, done.stdout.splitlines()[:4])}
    assert regret["OracleTS"] < regret["HierTS"] < regret["TS"]
    assert set(regret) == {"OracleTS", "HierTS", "TS", "TwoDraws"}
    assert (tmp_path / "paper_extended.png").read_bytes().startswith(b"\x89PNG")


def test_the_papers_extension_is_a_file_for_the_command_line(tmp_path):
    file, out = EXAMPLES / "paper_extended.py", tmp_path / "out"
    done = command(
        "reproduce", "meta", "--from", file, "--policies", "TwoDraws", "--runs", "2", "--tasks",
        "3", "--jobs", "1", "--out", out,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "TwoDraws" in done.stdout


class Served:
    """The web app, in a process of its own."""

    def __init__(self, folder):
        words = [sys.executable, EXAMPLES / "web_app.py", folder, "--port", "0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ)
        line = self.process.stdout.readline()
        assert line.startswith("http://127.0.0.1:"), line
        self.port = int(line.rsplit(":", 1)[1])

    def ask(self, method, path, data=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, None if data is None else json.dumps(data))
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text if method == "GET" else json.loads(text)

    def end(self, how):
        self.process.send_signal(how)
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        return status


@pytest.fixture
def serve(tmp_path):
    started = []

    def start():
        started.append(Served(tmp_path / "state"))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.end(signal.SIGKILL)


def test_an_agent_in_a_web_app_is_killed_and_goes_on(serve):
    app = serve()
    status, first = app.ask("POST", "/decide", {"store": "north"})
    assert status == 200
    assert 0 < first["propensity"] <= 1
    assert app.ask("POST", "/reward", {"id": first["id"], "value": 12.5}) == (
        200,
        {"learned": True},
    )
    _, waiting = app.ask("POST", "/decide", {"store": "Zürich 14"})
    known = app.ask("GET", "/summary")
    assert app.end(signal.SIGKILL) == -signal.SIGKILL

    again = serve()
    assert again.ask("GET", "/summary") == known
    learned = {"id": waiting["id"], "value": 8}
    assert again.ask("POST", "/reward", learned) == (200, {"learned": True})
    assert again.ask("POST", "/reward", learned) == (200, {"learned": False})
    assert again.ask("POST", "/reward", {**learned, "value": 9})[0] == 409
    assert again.ask("POST", "/reward", {"id": "nobody", "value": 1})[0] == 404
    assert again.ask("POST", "/decide", {"shop": "north"})[0] == 400
    assert again.ask("POST", "/decide", ["north"])[0] == 400
    assert again.ask("POST", "/nowhere", {})[0] == 400
    assert again.ask("GET", "/nowhere")[0] == 404
    known = again.ask("GET", "/summary")
    assert again.end(signal.SIGTERM) == 0
    assert serve().ask("GET", "/summary") == known


class Shop:
    """The web shop, in a process of its own, with clicks in a folder."""

    def __init__(self, folder, url):
        self.log = folder.with_suffix(".log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, EXAMPLES / "web_shop.py", folder, "--port", "0"],
                stdout=log, stderr=log, env={**os.environ, "HIERBANDITS_URL": url},
                start_new_session=True,
            )  # fmt: skip
        self.url = until(lambda: re.search(r"running on (http://\S+)", self.log.read_text()))[1]

    def get(self, path):
        return httpx.get(f"{self.url}{path}", timeout=60, trust_env=False)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def until(find, seconds=240):
    """What is found as soon as there is something."""
    deadline = time.monotonic() + seconds
    while not (found := find()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_a_web_shop_that_decides_through_the_service(tmp_path):
    with Server(tmp_path / "data") as server, hb.Client(server.url, timeout=120) as client:
        client.put_policy("warm", {"arms": ["x", "y"], "rewards": "bernoulli"})
        client.reward("warm", client.decide("warm", "t").id, 1)  # kernels are compiled now
        shop = Shop(tmp_path / "shop", server.url)
        try:
            link = until(lambda: re.search(r'href="(/banner/\w+)"', shop.get("/?country=CH").text))
            assert shop.get(link[1]).headers["location"] == "/offer"
            id = link[1].rsplit("/", 1)[1]
            until(lambda: client.decision("banners", id).reward == 1.0)
            later = until(lambda: re.search(r"/banner/(\w+)", shop.get("/?country=%3Cb").text))
            assert client.decision("banners", later[1]).task == "<b"

            server.kill()
            assert "Warm socks for cold days" in shop.get("/").text  # without the service
            assert shop.get(f"/banner/{later[1]}").status_code == 303
            shop.kill()
            server.options["port"] = server.port
            server.start()
            shop = Shop(tmp_path / "shop", server.url)
            until(lambda: client.decision("banners", later[1]).reward == 1.0)
        finally:
            shop.kill()
