"""What notebooks show: short, and safe whatever the names are."""

from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import hierbandits as hb
from hierbandits.reporting.notebook_card import MOST_ROWS, notebook_card, notebook_frame

NASTY = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """The tags of a page, and whether each is closed."""

    def __init__(self, html):
        super().__init__()
        self.seen, self.open = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_card_has_the_first_rows_and_no_foreign_tags():
    rows = [[NASTY, str(i)] for i in range(MOST_ROWS + 3)]
    html = notebook_card(NASTY, [NASTY], [(NASTY, (NASTY, "n"), rows)])
    tags = Tags(html)
    assert (tags.open, tags.seen.count("td")) == ([], 2 * MOST_ROWS)
    assert "script" not in tags.seen
    assert "... and 3 rows more" in html


def test_a_page_in_a_frame_runs_nothing():
    html = notebook_frame(f'<p class="a">{NASTY}</p>')
    assert Tags(html).seen == ["iframe"]
    assert 'sandbox=""' in html


@pytest.fixture(scope="module")
def shown():
    """One of each: a report, a study, a log, an agent, a decision, an evaluation, sums."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "task": rng.choice(["a", "b", NASTY], 90),
            "arm": [f"arm {i % 30}" for i in range(90)],
            "reward": rng.normal(size=90),
            "p": np.full(90, 1 / 30),
        }
    )
    named = {"task": "task", "arm": "arm", "reward": "reward"}
    _, report = hb.learn_prior(frame, **named, runs=0, held_out=0, structure="scalar")
    log = hb.Log.read(frame, hb.Columns(**named))
    agent = hb.Agent(report.start, seed=0)
    world = hb.environments.KnownBandit(prior=report.prior, means=rng.normal(size=(3, 30)))
    study = hb.simulate(world, list(hb.POLICIES)[:8], hb.schedules.Federated(), 3)
    return {
        "report": report,
        "page": report.report(),
        "log": log,
        "agent": agent,
        "decision": agent.decide(NASTY),
        "study": study,
        "evaluation": hb.evaluate(frame, ["greedy"], **named, propensity="p", split="folds"),
        "outcome": study.outcomes["HierTS"],
        "sums": log.sums().sums,
    }


def test_every_object_has_a_short_line(shown):
    for name, value in shown.items():
        assert 10 < len(repr(value)) < 450, name
        assert "\n" not in repr(value), name


def test_every_object_shows_itself_in_a_notebook(shown):
    for name in ("report", "page", "log", "agent", "decision", "study", "evaluation"):
        tags = Tags(shown[name]._repr_html_())
        assert "script" not in tags.seen, name
        assert set(tags.seen) & {"table", "iframe"}, name
    assert shown["report"].verdict[0].split(".")[0] in shown["report"]._repr_html_()
    assert "LinUCB" not in repr(shown["study"])  # the seventh and the eighth are counted
    assert "and 2 more>" in repr(shown["study"])


def test_figures_are_pictures_that_show_themselves(shown):
    pictures = shown["page"].pictures
    assert list(pictures) == shown["page"].figures != []
    for picture in (*pictures.values(), shown["study"].picture("Regret")):
        assert picture._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"
