from hierbandits.service.decision_row import decision_row

PARTS = {
    "id": "x", "task": ["north", "a"], "arm": 3, "offered": [3, 4], "features": 0,
    "propensity": 0.5, "time": 9.0, "gap": None, "expected": 0.25, "expected_std": 0.1,
}  # fmt: skip


def test_a_row_has_what_a_table_shows():
    row = decision_row(PARTS, 7)
    assert (row["label"], row["key"]) == ("north / a", '["north","a"]')
    assert (row["arm"], row["arms"], row["group"], row["version"]) == (3, 2, "policy", 7)
    assert (row["expected"], row["gap"], row["propensity"]) == (0.25, None, 0.5)
    assert {"features", "would", "offered"}.isdisjoint(row)


def test_a_shadow_says_what_it_would_have_played():
    row = decision_row(PARTS | {"group": "shadow", "would": 4}, 1)
    assert (row["group"], row["would"]) == ("shadow", 4)
