"""Inspect: every problem of a messy log at once, and a reading that goes on."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.log_sources import ARMS, KINDS, as_source, full_frame
from support.messy_logs import HEADER, MESSES, ROLES, as_text, messy_file, rows_of, write

import hierbandits as hb


def _problem(inspection, column, words):
    (problem,) = [p for p in inspection.problems if p.column == column and words in p.finding]
    return problem


@given(seed=st.integers(0, 2**32), names=st.lists(st.sampled_from(MESSES), unique=True))
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_mess_is_told_with_its_rows_and_what_goes_on_does(seed, names, tmp_path):
    path = tmp_path / "log.csv"
    order = [name for name in MESSES if name in names]  # copies come after what they copy
    _, done = messy_file(seed, order, path)
    inspection = hb.inspect(path, **ROLES)
    assert inspection.is_sound == (not names)
    touched = [row for name in names for row in done[name][0]]
    for rows, column, words in done.values():
        problem = _problem(inspection, column, words)
        assert problem.stops
        assert problem.count >= len(rows) - len(touched) + len(set(touched))
        if len(names) == 1:
            assert (problem.count, list(problem.rows)) == (len(rows), rows[:5])
    columns = hb.Columns(**ROLES)
    if names:
        with pytest.raises(ValueError, match=r"at row|must be different"):
            hb.Log.read(path, columns).sums()
    read = hb.Log.read(path, columns, reading=inspection.suggested)
    assert hb.inspect(path, **ROLES, reading=inspection.suggested).is_sound
    assert read.sums().num_rows == hb.inspect(read).summary.num_rows


CELLS = {
    "task": ["s", "S ", "7", "", '""'],
    "arm": ["a", "b", " a", '""', "NA"],
    "reward": ["1", "2.5", "", "NaN", "inf", "1,5", " 3", "x", "1e70"],
    "p": ["0.5", "1", "0", "1.5", ""],
    "when": ["2024-03-14", "2024-03-14T10:00", "03/14/2024", "5", "", "2024-03-14T10:00Z"],
    "id": ["1", "2", "3", ""],
    "may": ["a|b", "b", "a||b", ""],
}
NAMED = {name: name for name in ("task", "arm", "reward")}
NAMED |= {"propensity": "p", "time": "when", "decision": "id", "eligible": "may"}


@given(
    rows=st.lists(
        st.tuples(*(st.sampled_from(cells) for cells in CELLS.values())), min_size=1, max_size=6
    ),
    strip=st.booleans(),
    drop=st.booleans(),
    words=st.sampled_from([(), ("NA",), ("x", "inf")]),
    roles=st.sets(st.sampled_from(["propensity", "time", "decision", "eligible"])),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_log_is_sound_exactly_if_it_is_read(rows, strip, drop, words, roles, tmp_path):
    """The inspection and the readers of cells agree on any file."""
    path = tmp_path / "log.csv"
    quoted = [[f'"{cell}"' if "," in cell else cell for cell in row] for row in rows]
    write(path, as_text(quoted, header=list(CELLS)))
    reading = hb.Reading(strip=strip, drop_missing=drop, missing=words)
    named = {role: column for role, column in NAMED.items() if role in NAMED and (
        role in ("task", "arm", "reward") or role in roles
    )}  # fmt: skip
    try:
        num_rows = hb.Log.read(path, hb.Columns(**named), reading=reading).sums().num_rows
    except ValueError as error:
        num_rows = None
        if "at least one row" in str(error):
            return
    inspection = hb.inspect(path, **named, reading=reading)
    assert inspection.is_sound == (num_rows is not None), inspection.problems
    if num_rows is not None:
        assert inspection.summary.num_rows == num_rows


@pytest.mark.parametrize("kind", KINDS)
def test_a_clean_log_of_any_kind_has_no_problems_that_stop(kind, tmp_path):
    frame = full_frame(np.random.default_rng(0))
    named = {"task": "task", "arm": "arm", "reward": "reward", "population": "country"}
    more = {"decision": "id", "propensity": "p", "time": "when"}
    inspection = hb.inspect(as_source(kind, frame, tmp_path), **named, **more, arms=ARMS)
    assert inspection.is_sound
    summary = inspection.summary
    assert (summary.num_rows, inspection.num_rows) == (500, 500)
    assert summary.arms == ARMS
    counts = frame["arm"].value_counts()
    assert dict(zip(summary.arms, summary.arm_rows.tolist(), strict=True)) == dict(counts.rows())
    assert {p.name: p.distinct for p in inspection.columns}["id"] == 500
    if kind != "csv":
        lists = hb.inspect(as_source(kind, frame, tmp_path), task="task", features="x", reward="p")
        assert lists.is_sound
        assert lists.summary.num_features == 3


def test_names_that_look_alike_are_told_with_their_rows(tmp_path):
    rows = rows_of(np.random.default_rng(1))
    rows[11][1] += " "
    rows[17][2], rows[19][2] = rows[17][2].upper(), rows[19][2].replace("o", "ö")
    rows[23][2] = rows[19][2].replace("ö", "o\u0308")  # the same letter in another form
    rows[19][2:3], rows[23][2:3] = ["öl"], ["o\u0308l"]
    rows[17][2] = "NONE"
    path = write(tmp_path / "log.csv", as_text(rows))
    inspection = hb.inspect(path, **ROLES)
    assert inspection.is_sound  # but odd
    spaces = _problem(inspection, "store", "spaces around them")
    assert (spaces.rows, spaces.count, spaces.fix) == ((11,), 1, {"strip": True})
    letters = _problem(inspection, "promo", "case, spaces or the form of letters")
    assert 17 in letters.rows
    assert "'NONE' (1 row)" in letters.finding
    assert "'öl' (1 row) and 'o\u0308l' (1 row)" in letters.finding
    assert "store" not in [p.column for p in hb.inspect(
        path, **ROLES, reading=hb.Reading(strip=True)).problems]  # fmt: skip


def test_empty_text_in_a_frame_is_a_name_that_is_told():
    frame = pl.DataFrame({"s": ["a", "b", "a"], "k": ["x", "", ""], "y": [1.0, 2.0, 3.0]})
    inspection = hb.inspect(frame, task="s", arm="k", reward="y")
    empty = _problem(inspection, "k", "whose name is empty")
    assert (empty.stops, empty.rows, empty.count) == (False, (1,), 2)
    read = hb.Log.read(frame, hb.Columns(task="s", arm="k", reward="y"), reading=hb.Reading(
        **empty.fix)).sums()  # fmt: skip
    assert (read.num_rows, read.arms) == (1, ("x",))


def test_row_ids_and_thousands_of_arms_are_noticed():
    rows = np.arange(3000)
    frame = pl.DataFrame({"s": rows, "k": rows % 1500, "y": np.sin(rows)})
    inspection = hb.inspect(frame, task="s", arm="k", reward="y")
    assert "3,000 tasks in 3,000 rows" in _problem(inspection, "s", "tasks in").finding
    assert "1,500 arms, with 2.0 rows each" in _problem(inspection, "k", "arms, with").finding
    few = hb.inspect(frame.with_columns(s=pl.col("s") % 50, k=pl.col("k") % 3),
                     task="s", arm="k", reward="y")  # fmt: skip
    assert few.problems == ()


def test_constant_and_equal_columns_are_named():
    x = np.arange(40) % 7
    frame = pl.DataFrame({"s": x % 3, "k": x % 2, "y": 1.0, "z": x, "w": x, "c": "EU"})
    inspection = hb.inspect(frame, task="s", arm="k", reward="y")
    assert _problem(inspection, "y", "all rows have '1.0'").role == "reward"
    findings = [p.finding for p in inspection.problems]
    assert "columns that hold one value: 'c'" in findings
    assert "columns that are equal in every row: 'z', 'w'" in findings
    apart = frame.with_columns(w=pl.Series(x).reverse(), y=pl.Series(x) * 0.5, c=pl.Series(x))
    equal = [p.finding for p in hb.inspect(apart, task="s", arm="k", reward="y").problems]
    assert equal == ["columns that are equal in every row: 'z', 'c'"]


def test_rows_that_contradict_each_other_are_told_and_not_dropped(tmp_path):
    rows = rows_of(np.random.default_rng(2))
    rows += [list(rows[5]), [*rows[9][:3], "99", *rows[9][4:]]]
    path = write(tmp_path / "log.csv", as_text(rows))
    inspection = hb.inspect(path, **ROLES, reading=hb.Reading(drop_repeated=True))
    (problem,) = [p for p in inspection.problems if p.stops]
    assert (problem.rows, problem.fix) == ((301,), {})
    assert "'d9' in 9 and 301" in problem.finding
    assert inspection.summary.left_out.repeated == 1
    assert len([p for p in hb.inspect(path, **ROLES).problems if p.stops]) == 2
    without = {role: column for role, column in ROLES.items() if role != "decision"}
    (whole,) = [p for p in hb.inspect(path, **without).problems if "every column" in p.finding]
    assert (whole.rows, whole.stops) == ((300,), False)
    assert "--decision=id" in whole.remedy


def test_without_roles_columns_are_listed_and_roles_proposed(tmp_path):
    rows = rows_of(np.random.default_rng(3))
    rows[3][1] += " "
    path = write(tmp_path / "log.csv", as_text(rows))
    inspection = hb.inspect(path)
    assert inspection.proposal == ROLES
    assert [p.kind for p in inspection.columns] == [
        *("text", "text", "text", "numbers", "dates", "numbers", "text")
    ]
    assert _problem(inspection, "store", "spaces around").rows == (3,)
    assert inspection.commands[0].startswith(f"hierbandits inspect {path} --task=store --arm=promo")
    assert inspection.commands[0].endswith("--strip")


def test_a_file_with_broken_lines_says_which(tmp_path):
    rows = rows_of(np.random.default_rng(4))
    rows[7].append("more")
    rows[250] += ["a", "b"]
    path = write(tmp_path / "log.csv.gz", as_text(rows))
    inspection = hb.inspect(path, **ROLES)
    (problem,) = [p for p in inspection.problems if p.stops]
    assert problem.rows == (7, 250)
    assert problem.finding == "2 rows have more cells than the header's 7"
    rows = rows_of(np.random.default_rng(4))
    rows[4][1] = "Malmö"
    (tmp_path / "log.csv").write_bytes(as_text(rows).encode("latin1"))
    (problem,) = [p for p in hb.inspect(tmp_path / "log.csv").problems if p.stops]
    assert "1 lines are not UTF-8: the file's lines 6, counted from 1" in problem.finding


def test_a_task_that_moves_is_told(tmp_path):
    rows = rows_of(np.random.default_rng(5))
    rows[20][6] = "US"
    path = write(tmp_path / "log.csv", as_text(rows))
    inspection = hb.inspect(path, task="store", arm="promo", reward="revenue", population="country")
    (problem,) = [p for p in inspection.problems if p.stops]
    assert "population must stay 'EU'" in problem.finding


def test_a_log_brings_its_roles_and_nothing_else_is_given(tmp_path):
    path = write(tmp_path / "log.csv", as_text(rows_of(np.random.default_rng(6))))
    log = hb.Log.read(path, hb.Columns(**ROLES))
    assert hb.inspect(log).roles == ROLES
    with pytest.raises(ValueError, match="task must not be given with a Log, got 'store'"):
        hb.inspect(log, task="store")
    with pytest.raises(ValueError, match="reading must not be given with a Log"):
        hb.inspect(log, reading=hb.Reading(strip=True))
    with pytest.raises(ValueError, match="task and reward must name columns"):
        hb.inspect(path, arm="promo")
    with pytest.raises(ValueError, match="columns must be in the log, got 'shop'"):
        hb.inspect(path, task="shop", arm="promo", reward="revenue")


def test_progress_is_told(tmp_path):
    path = write(tmp_path / "log.csv", as_text(rows_of(np.random.default_rng(7))))
    told = []
    hb.inspect(path, progress=lambda done, total: told.append((done, total)))
    assert told == [(300, None)]


def test_batches_do_not_matter(tmp_path):
    """Rows are numbered through the file, and counts are those of the whole."""
    rows = rows_of(np.random.default_rng(8), 400) * 400  # more than one batch
    rows[150_000] = [*rows[150_000][:3], "", *rows[150_000][4:]]
    path = write(tmp_path / "log.csv", as_text(rows))
    inspection = hb.inspect(path, task="store", arm="promo", reward="revenue")
    assert [p.rows for p in inspection.problems if p.stops] == [(150_000,)]
    assert inspection.summary.num_rows == 159_999
    assert {p.name: p.distinct for p in inspection.columns}["store"] == 20
    assert replace(inspection.reading) == hb.Reading()
    assert [p.name for p in inspection.columns] == HEADER


def test_a_log_that_is_too_large_to_learn_from_is_told_at_once():
    names = [f"n{place}" for place in range(1001)]
    frame = pl.DataFrame({"s": names * 2, "k": names * 2, "y": [1.0, 2.0] * 1001})
    (stops,) = [p for p in hb.inspect(frame, task="s", arm="k", reward="y").problems if p.stops]
    assert "learn and evaluate refuse it: log must have at most 1,000,000,000 tasks" in str(stops)
    few = frame.with_columns(s=pl.lit("one"))
    (stops,) = [p for p in hb.inspect(few, task="s", arm="k", reward="y").problems if p.stops]
    assert "1,000 arms whose widths are fitted (limits.fit_arms, or --most-arms)" in str(stops)
    assert hb.inspect(few, task="k", arm="s", reward="y").is_sound
