"""The search of a page in a real browser: a script types, and the page's own list answers."""

import json
import re
import shutil
import subprocess
from html import unescape

import numpy as np
import pytest

from hierbandits.reporting.interval_lookup import IntervalLookup

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium")

ITEMS = ["North 1", "north 2", "South <b>", "東京_1$", *(f"x{i}" for i in range(80))]
MEANS = np.column_stack([np.arange(84.0), -np.arange(84.0)])
TYPING = """
const type = (text, group) => {
  const search = document.querySelector(".lookup input");
  const choice = document.querySelector(".lookup select");
  search.value = text;
  choice.value = group;
  search.dispatchEvent(new Event("input"));
  choice.dispatchEvent(new Event("change"));
  const lines = [...document.querySelectorAll(".lookup li")].map((line) => line.textContent);
  return { lines, note: document.querySelector(".lookup [role=status]").textContent };
};
const asked = ASKED.map(([text, group]) => type(text, group));
const answer = document.createElement("pre");
answer.id = "answer";
answer.textContent = JSON.stringify(asked);
document.body.append(answer);
"""


def _answers(folder, asked):
    """What the page shows after each text is typed and each group is chosen."""
    plot = IntervalLookup(
        item="task", group="arm", items=ITEMS, groups=["up", "down"], homes=["all"],
        remarks=["3 rows"] * 84, home=np.zeros(84, int), mean=MEANS, reach=np.full((84, 2), 0.5),
        home_mean=np.zeros((1, 2)), home_reach=np.ones((1, 2)),
    )  # fmt: skip
    typing = TYPING.replace("ASKED", json.dumps(asked))
    page = folder / "page.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><body>{plot.html(np.arange(84), "elsewhere")}'
        f'<script type="module">{typing}</script>',
        encoding="utf-8",
    )
    done = subprocess.run(
        [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
         f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000", "--dump-dom",
         page.as_uri()],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    found = re.search('<pre id="answer">(.*?)</pre>', done.stdout.decode("utf-8"), re.DOTALL)
    assert found, done.stderr.decode("utf-8", "replace")[-2000:]
    return json.loads(unescape(found[1]))


def test_the_search_finds_tasks_by_part_of_a_name_in_the_order_of_the_chosen_arm(tmp_path):
    asked = [["nOrTh", 0], ["north", 1], ["<b>", 0], ["東京", 0], ["nobody", 0], ["", 0]]
    up, down, marked, tokyo, nobody, every = _answers(tmp_path, asked)
    assert [line[:7] for line in up["lines"]] == ["north 2", "North 1"]
    assert [line[:7] for line in down["lines"]] == ["North 1", "north 2"]
    assert up["lines"][0] == "north 21 (0.5 to 1.5), 3 rows"
    assert "2 of 84 tasks, highest mean first" in up["note"]
    assert marked["lines"] == ["South <b>2 (1.5 to 2.5), 3 rows"]  # as it is, and no tag
    assert tokyo["lines"][0].startswith("東京_1$")
    assert nobody["lines"] == []
    assert nobody["note"].startswith("0 of 84 tasks")
    assert len(every["lines"]) == 60
    assert every["lines"][0].startswith("x79")
    assert "The 60 highest are shown" in every["note"]
