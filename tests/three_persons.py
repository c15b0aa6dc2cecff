"""Three persons use hierbandits on a messy log that this script makes, with no step by hand.

python tests/three_persons.py FOLDER    # an empty folder; the test runs it in one of its own

The scientist runs what each command prints, from a raw file to a warm agent.  The engineer runs
that agent in a process of its own, which is killed and goes on.  The researcher reproduces the
paper with a policy of hers.  Every step is a process that people start in the same way.
"""

import csv
import http.client
import json
import os
import runpy
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
COMMAND = str(Path(sys.executable).with_name("hierbandits"))
SEED = 7  # not that of the sample log


class Person:
    """Somebody in a folder, who types commands and reads what they print."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def types(self, line: str, status: int = 0) -> list[str]:
        """Type a line; it must end with this status.  The lines of its output."""
        words = shlex.split(line)
        start = {"hierbandits": [COMMAND], "python": [sys.executable]}[words[0]]
        done = subprocess.run(
            [*start, *words[1:]], cwd=self.folder, env={**os.environ, "COLUMNS": "200"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = f"$ {line}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        assert done.returncode == status, f"status {done.returncode}, not {status}:\n{said}"
        print(f"$ {line}", flush=True)
        return done.stdout.splitlines()

    @staticmethod
    def proposed(lines: list[str], words: str) -> str:
        """The last of the commands that a command has proposed with these words."""
        return [line for line in lines if line.startswith(words)][-1].partition(": ")[2]

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of a CSV file."""
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def writes(self, name: str, rows: list[dict[str, str]]) -> None:
        """Write rows to a CSV file."""
        with (self.folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def scientist(me: Person) -> None:
    """From a raw file to a warm agent, and two nights of batches."""
    runpy.run_path(str(EXAMPLES / "messy_log.py"))["write"](me.folder / "raw log.csv", SEED)
    looked = me.types(me.proposed(me.types("hierbandits inspect 'raw log.csv'"), "Perhaps"), 1)
    assert sum(line.startswith("Problem: ") for line in looked) >= 4
    assert any("--merge-names makes them one" in line for line in looked)
    learn = me.proposed(looked, "Go on with: hierbandits learn") + " --merge-names"
    evaluate = me.proposed(looked, "Go on with: hierbandits evaluate") + " --merge-names"
    sound = me.types(learn.replace("learn", "inspect", 1).replace(" --agent=agent.hb", ""))
    assert "No problems." in sound

    learned = me.types(f"{learn} --runs=0")
    assert (me.folder / "results/learn/report.html").is_file()
    snippet = [line.strip() for line in learned if line.startswith("    ")][-4:]
    assert snippet[0] == "import hierbandits as hb", snippet
    (me.folder / "snippet.py").write_text("\n".join(snippet), encoding="utf-8")
    assert me.types("python snippet.py") != []

    judged = me.types(f"{evaluate} --policy=HierOPO --policy='best arm' --method=dr")
    assert "would earn" in " ".join(judged)
    assert (me.folder / "results/evaluate/report.html").is_file()

    stores = sorted({row["store"].strip() for row in me.rows("raw log.csv")})
    me.writes("tonight.csv", [{"store": name} for name in [*stores[:40], "Ein neuer Laden"]])
    decide = "hierbandits decide agent.hb tonight.csv --task=store --out=decisions.csv"
    me.types(decide)
    made = me.rows("decisions.csv")
    assert len({row["decision"] for row in made}) == 41
    assert all(0 < float(row["propensity"]) <= 1 for row in made)
    me.types(decide)  # run again by mistake: nothing happens
    assert me.rows("decisions.csv") == made
    me.writes("rewards.csv", [{"decision": row["decision"], "reward": "21.5"} for row in made])
    for learned_rewards in (41, 0):  # the second file is the first one again
        counts = json.loads("\n".join(me.types("hierbandits reward agent.hb rewards.csv --json")))
        assert counts["learned"] == learned_rewards, counts


def engineer(me: Person) -> None:
    """The agent serves in a process of its own, which is killed and goes on."""
    state = me.folder / "state"
    state.mkdir()
    (state / "agent.hb").write_bytes((me.folder / "agent.hb").read_bytes())
    with _serve(state) as (served, port):
        made = [_ask(port, "/decide", {"store": store}) for store in ("東京 1", "東京 1", "Oslo 1")]
        assert {each["promo"] for each in made} <= {
            "none", "10% off", "free shipping", "two for one"
        }  # fmt: skip
        assert _ask(port, "/reward", {"id": made[0]["id"], "value": 25.0}) == {"learned": True}
        served.kill()

    with _serve(state) as (served, port):
        for each, is_new in zip(made, (False, True, True), strict=True):
            answer = _ask(port, "/reward", {"id": each["id"], "value": 25.0})
            assert answer == {"learned": is_new}
        served.send_signal(signal.SIGTERM)
        assert served.wait(timeout=60) == 0
    print("$ the agent was killed, and knows all that it had decided and learned", flush=True)


@contextmanager
def _serve(state: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """The web app in a process of its own, and its port; at the end it is gone."""
    words = [sys.executable, str(EXAMPLES / "web_app.py"), str(state), "--port", "0"]
    served = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert served.stdout is not None
        yield served, int(served.stdout.readline().rsplit(":", 1)[1])
    finally:
        served.kill()
        served.communicate()


def _ask(port: int, path: str, data: dict[str, object]) -> dict[str, object]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, json.dumps(data))
    answer: dict[str, object] = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def researcher(me: Person) -> None:
    """The paper's figure, with a policy of her own in it."""
    source = (EXAMPLES / "paper_extended.py").read_text(encoding="utf-8")
    (me.folder / "my_policies.py").write_text(source, encoding="utf-8")
    said = me.types(
        "hierbandits reproduce synthetic --quick --runs=4 --tasks=4 --concurrent=2 "
        "--from=my_policies.py --policies=TwoDraws,TS --jobs=1"
    )
    assert any(line.startswith("TwoDraws") for line in said)
    assert (me.folder / "results/synthetic/report.html").is_file()
    swept = me.types(
        "hierbandits sweep --from=my_policies.py --world=paper-a --policy=HierTS,TwoDraws "
        "--schedule=federated --runs=4 --json"
    )
    assert "TwoDraws" in "\n".join(swept)


if __name__ == "__main__":
    person = Person(Path(sys.argv[1]).resolve())
    scientist(person)
    engineer(person)
    researcher(person)
    print("All three are done.")
