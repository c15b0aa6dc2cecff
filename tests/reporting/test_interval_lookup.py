"""A plot that readers search: all its numbers are in the page, and names have no power there."""

import json
import re

import numpy as np
from support.odd_names import ODD_NAMES

from hierbandits.reporting.interval_lookup import MOST_CELLS, MOST_GROUPS, IntervalLookup


def _lookup(items, groups, homes=1):
    rng = np.random.default_rng(3)
    size = len(items), len(groups)
    return IntervalLookup(
        item="task", group="arm", items=items, groups=groups,
        homes=[f"home {p}" for p in range(homes)], remarks=[f"{i} rows" for i in range(size[0])],
        home=np.arange(size[0]) % homes, mean=rng.normal(size=size), reach=rng.random(size),
        home_mean=rng.normal(size=(homes, size[1])), home_reach=rng.random((homes, size[1])),
    )  # fmt: skip


def _data(html):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])


def test_every_item_is_there_with_its_intervals():
    plot = _lookup(["a", "b", "c"], ["x", "y"], homes=2)
    html = plot.html(np.array([2, 0, 1]), "elsewhere")
    data = _data(html)
    assert (data["items"], data["groups"]) == (["a", "b", "c"], ["x", "y"])
    assert data["home"] == [0, 1, 0]
    for name, values in (("mean", plot.mean), ("reach", plot.reach), ("homeMean", plot.home_mean),
                         ("homeReach", plot.home_reach)):  # fmt: skip
        np.testing.assert_allclose(np.array(data[name]).T, values, rtol=1e-3)
    assert "All 3 tasks are here." in html
    assert "elsewhere" not in html


def test_a_page_stays_small_and_says_what_is_left_out():
    order = np.random.default_rng(0).permutation(5000)
    plot = _lookup([f"t{i}" for i in range(5000)], [f"a{j}" for j in range(30)])
    html = plot.html(order, "all are in tasks.parquet")
    data = _data(html)
    kept = MOST_CELLS // MOST_GROUPS
    assert data["items"] == [f"t{i}" for i in sorted(order[:kept])]
    assert len(data["mean"]) == MOST_GROUPS
    assert f"{kept} of 5,000 tasks are here; all are in tasks.parquet." in html
    assert "the first 24 of 30 arms" in html
    assert len(html) < 500_000
    few = _lookup([f"t{i}" for i in range(5000)], ["a"])
    assert len(_data(few.html(order, "x"))["items"]) == 2000


def test_names_cannot_end_the_script():
    names = [*ODD_NAMES, "</script><script>alert(1)</script>", "<!--"]
    html = _lookup(names, names[:3]).html(np.arange(len(names)), "x")
    assert html.count("<script") == html.count("</script>") == 2
    assert "<!--" not in html
    assert "\x1b" not in html
    data = _data(html)
    assert data["items"][-2:] == names[-2:]
    assert max(map(len, data["items"])) <= 300
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")  # nothing is fetched
