"""`python -m bench.rollback`: how soon a policy is rolled back once a guardrail is crossed.

A server in a process of its own decides for clients that never stop asking, each on a connection
of its own.  One client sends a bad metric after the other.  The time is from when it begins to send
the metric that crosses the guardrail until the last decision by the policy has been answered to any
client.
"""

import argparse
import threading
import time

from bench.served import Caller, served

SETTINGS = {
    "arms": ["x", "y", "z"], "draws": 50, "control_arm": "x",
    "guardrails": [{"name": "errors", "at_most": 0.1}],
}  # fmt: skip


def busy(port: int, name: str, seen: list[tuple[float, str]], is_over: threading.Event) -> None:
    """Ask for decisions until the end; note when each was answered, and who decided."""
    caller, number = Caller(port), 0
    while not is_over.is_set():
        number += 1
        task = {"task": f"{name} {number % 1000}"}
        told = caller.ask("POST", "/policies/p/decisions", task)
        seen.append((time.perf_counter(), told.get("group", "policy")))


def rollback_seconds(port: int, clients: int) -> tuple[float, int]:
    """Cross the guardrail of a new policy; the seconds, and how many decisions were made."""
    caller = Caller(port)
    caller.ask("PUT", "/policies/p", SETTINGS)
    is_over, seen = threading.Event(), [list[tuple[float, str]]() for _ in range(clients)]
    threads = [
        threading.Thread(target=busy, args=(port, str(place), rows, is_over))
        for place, rows in enumerate(seen)
    ]
    for thread in threads:
        thread.start()
    time.sleep(1.0)
    began = 0.0
    for number in range(1000):
        id = caller.ask("POST", "/policies/p/decisions", {"task": f"bad {number}"})["id"]
        began = time.perf_counter()
        path = f"/policies/p/decisions/{id}/metrics"
        caller.ask("POST", path, {"values": {"errors": 1.0}})
        if caller.ask("GET", "/policies/p/rollout")["phase"] == "rolled back":
            break
    time.sleep(1.0)
    is_over.set()
    for thread in threads:
        thread.join()
    rows = [row for one in seen for row in one]
    assert rows[-1][1] == "control"
    last = max(when for when, group in rows if group == "policy")
    return max(last - began, 0.0), len(rows)


def main() -> None:
    """Print the seconds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    slowest = []
    for _ in range(given.times):
        with served() as port:
            seconds, number = rollback_seconds(port, given.clients)
            slowest.append(seconds)
            print(f"{seconds:.3f} s, beside {number:,} decisions", flush=True)
    print(f"the last decision by the policy: {max(slowest):.3f} s after the crossing, at most")


if __name__ == "__main__":
    main()
