"""An agent in a web app: a process that decides over HTTP, and survives being killed.

    python examples/web_app.py state --port 8000     # state/ is the folder that it keeps

    POST /decide   {"store": "north"}          -> {"id": "...", "promo": "...", "propensity": 0.4}
    POST /reward   {"id": "...", "value": 12}  -> {"learned": true}; false: the same reward again
    GET  /summary                              -> what the agent knows, as text

Every decision and reward is in state/journal.jsonl before the answer leaves.  A process that was
killed starts again from state/agent.hb and the journal, and knows every event.  It is a small
server of Python's own library: put what is in `App` into the framework that you use.
"""

import argparse
import json
import signal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import hierbandits as hb

PROMOS = ["none", "10% off", "free shipping", "two for one"]


class App:
    """The agent, and what requests ask of it."""

    def __init__(self, folder: Path) -> None:
        self.file, journal = folder / "agent.hb", folder / "journal.jsonl"
        if self.file.exists():
            tail = journal if journal.exists() else ()  # an agent that is new here has none
            self.agent = hb.Agent.load(self.file, tail=tail, journal=journal)
        else:  # nothing is known yet: not even how much stores differ
            self.agent = hb.Agent(arms=PROMOS, seed=0, journal=journal)
            self.agent.save(self.file)

    def decide(self, asked: dict) -> dict:
        """Choose a promotion for a store."""
        decision = self.agent.decide(asked["store"])
        return {"id": decision.id, "promo": decision.arm, "propensity": decision.propensity}

    def reward(self, asked: dict) -> dict:
        """Learn what a decision has brought; the same reward may come twice."""
        return {"learned": self.agent.reward(asked["id"], asked["value"])}


class Handler(BaseHTTPRequestHandler):
    """Hands requests to the app, and its answers or errors back."""

    app: App

    def do_POST(self) -> None:
        """Answer /decide and /reward."""
        actions = {"/decide": self.app.decide, "/reward": self.app.reward}
        try:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = 200, actions[self.path](asked)
        except hb.UnknownDecision as error:
            status, answer = 404, {"error": str(error)}
        except hb.RewardConflict as error:
            status, answer = 409, {"error": str(error)}
        except (LookupError, TypeError, ValueError) as error:
            status, answer = 400, {"error": str(error)}
        self._send(status, json.dumps(answer), "application/json")

    def do_GET(self) -> None:
        """Answer /summary."""
        if self.path == "/summary":
            self._send(200, self.app.agent.summary(), "text/plain")
        else:
            self._send(404, "ask for /summary", "text/plain")

    def _send(self, status: int, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def stop(*_: object) -> None:
    """End the server."""
    raise KeyboardInterrupt


def main() -> None:
    """Serve until the process is told to stop; save the agent then."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    Handler.app = App(options.folder)
    hb.warm_up()  # no request waits for a compiler
    signal.signal(signal.SIGTERM, stop)
    signal.signal(
        signal.SIGINT, stop
    )  # a process in the background may have been told to ignore it
    with ThreadingHTTPServer(("127.0.0.1", options.port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            Handler.app.agent.save(Handler.app.file)


if __name__ == "__main__":
    main()
