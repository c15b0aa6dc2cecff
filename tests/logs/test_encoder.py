"""The encoder: the same row has the same features for ever."""

import json

import numpy as np
import polars as pl
import pytest
from support.context_worlds import CITIES, CONTEXT, NAMES, PROMOS, context_log

import hierbandits as hb
from hierbandits.logs.context_column import CategoryColumn, NumberColumn

AGE = NumberColumn("age", 40.0, 8.0)
CITY = CategoryColumn("city", ("Köln", "北京"), (0.75, 0.25))
ENCODER = hb.Encoder("promo", ("a", "b"), (AGE, CITY))


def test_features_are_the_context_in_the_place_of_the_arm():
    x = ENCODER.encode({"age": 48, "city": "北京"})
    np.testing.assert_array_equal(x, [[1, 1, 0.75, 0, 0, 0], [0, 0, 0, 1, 1, 0.75]])
    assert (ENCODER.dim, ENCODER.width, ENCODER.context) == (6, 3, ("age", "city"))
    assert ENCODER.coordinates == (
        *("promo=a", "promo=a × age", "promo=a × city=北京"),
        *("promo=b", "promo=b × age", "promo=b × city=北京"),
    )
    assert ENCODER.typical == {"age": 40.0, "city": "Köln"}


def test_an_unseen_value_counts_as_the_average():
    np.testing.assert_array_equal(ENCODER.encode({"age": 40, "city": "Ulm"}, ["b"]), np.eye(6)[3])


def test_rows_are_encoded_alike_one_by_one_in_lists_and_in_tables(tmp_path):
    _, frame, log = context_log()
    encoder, some = log.encoder, frame.head(20)
    rows = some.select(CONTEXT).to_dicts()
    one_by_one = np.array([encoder.encode(row) for row in rows])
    assert one_by_one.shape == (20, 3, encoder.dim)
    some.write_csv(tmp_path / "some.csv")
    some.write_parquet(tmp_path / "some.parquet")
    for many in (rows, some, tmp_path / "some.csv", tmp_path / "some.parquet"):
        np.testing.assert_array_equal(encoder.encode(many), one_by_one)
    arms = some["promo"].to_list()
    played = one_by_one[np.arange(20), [encoder.arms.index(arm) for arm in arms]]
    np.testing.assert_array_equal(encoder.encode(some, arms), played)
    np.testing.assert_array_equal(encoder.encode(rows, arms), played)
    assert [encoder._raw_values(cells) for cells in encoder.cells(some, range(20), None)] == rows


def test_fit_learns_what_a_log_does():
    _, frame, log = context_log()
    fitted = hb.Encoder.fit(frame, arm="promo", context=CONTEXT)
    assert fitted == log.encoder
    assert set(fitted.arms) == set(PROMOS)
    age, city, vip = fitted.columns
    assert age.mean == pytest.approx(frame["age"].mean())
    assert set(city.values) == set(CITIES)
    assert vip.values == (False, True)
    named = hb.Encoder.fit(frame, arm="promo", context=["age"], arms=[*PROMOS, "new"])
    assert named.arms == (*PROMOS, "new")


def test_a_log_has_features_by_its_encoder():
    _, frame, log = context_log()
    (batch,) = log.batches()
    x = log.encoder.encode(frame, frame["promo"].to_list())
    np.testing.assert_array_equal(batch.features, x)
    assert [log.encoder.arms[arm] for arm in batch.arms] == frame["promo"].to_list()
    small = hb.Log.read(frame, log.columns, batch_rows=37)
    assert small.encoder.arms == log.encoder.arms
    for one, other in zip(small.encoder.columns, log.encoder.columns, strict=True):
        assert one.coded(np.arange(2.0)) == pytest.approx(other.coded(np.arange(2.0)), rel=1e-12)
    other = hb.Log.read(frame.head(9), log.columns, encoder=log.encoder)
    (few,) = other.batches()
    np.testing.assert_array_equal(few.features, x[:9])


def test_rows_that_lack_a_part_of_their_context_are_refused_or_left_out(tmp_path):
    _, frame, _ = context_log(count=50)
    ages = pl.Series("age", [None if i in (3, 7) else 30.0 + i for i in range(50)])
    frame = frame.with_columns(ages)
    columns = hb.Columns(**NAMES)
    with pytest.raises(ValueError, match=r"context must not be missing, .* 'age' at row 3"):
        hb.Log.read(frame, columns)
    log = hb.Log.read(frame, columns, reading=hb.Reading(drop_missing=True))
    assert log.encoder.columns[0].mean == ages.mean()
    path = tmp_path / "log.csv"
    frame.with_columns(pl.col("age").cast(pl.String).fill_null("NaN")).write_csv(path)
    with pytest.raises(ValueError, match=r"at row 3"):
        hb.Log.read(path, columns)
    text = hb.Log.read(path, columns, reading=hb.Reading(drop_missing=True))
    assert text.encoder.columns[0] == log.encoder.columns[0]


def test_inspect_tells_all_that_is_wrong_with_a_context():
    _, frame, _ = context_log(count=50)
    ages = [None if i in (3, 7) else 30.0 for i in range(50)]
    frame = frame.with_columns(age=pl.Series(ages), day=pl.Series([[1]] * 50))
    named = {**NAMES, "features": ["age", "city", "day"]}
    problems = hb.inspect(frame, **named).problems
    told = " ".join(str(problem) for problem in problems)
    assert "'age'" in told
    assert "3" in told
    assert "be a number, text or a boolean" in told


def test_an_encoder_comes_back_from_json():
    again = hb.Encoder.from_dict(json.loads(json.dumps(ENCODER.to_dict())))
    assert again == ENCODER
    assert repr(again) == "<Encoder of 2 arms × (1, age, city): 6 features>"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arm": 3}, "arm must be the name of a column, got 3"),
        ({"arms": ["a", "a"]}, "arms must have distinct names"),
        ({"arms": []}, "encoder must have arms, and different columns"),
        ({"arms": "ab"}, "parts must have lists of arms and of columns"),
        ({"columns": []}, "encoder must have arms, and different columns"),
        ({"columns": [AGE.to_dict(), AGE.to_dict()]}, "different columns of context"),
        ({"columns": [3]}, "columns must be those of an encoder, got 3"),
        ({"more": 1}, "parts must be the arm, arms and columns"),
        ({"arms": list(range(400))}, r"at most 1,000 features, got 1,200 of 400 arms x 3 numbers"),
    ],
)
def test_what_is_no_encoder_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        hb.Encoder.from_dict(ENCODER.to_dict() | change)
    with pytest.raises(ValueError, match=r"parts must be the arm, .* of one, got None"):
        hb.Encoder.from_dict(None)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"age": 1}, r"context must have a value for each column, .* got none for 'city'"),
        ({"age": 1, "city": "x", "agee": 2}, "got another, 'agee'"),
        ({"age": "1", "city": "x"}, "context must have a number as the value of 'age', got '1'"),
    ],
)
def test_contexts_that_do_not_fit_are_refused(context, message):
    with pytest.raises(ValueError, match=message):
        ENCODER.encode(context)
    with pytest.raises(ValueError, match=message):
        ENCODER.encode([context])


def test_arms_and_tables_that_do_not_fit_are_refused():
    rows = [{"age": 1, "city": "x"}] * 2
    with pytest.raises(ValueError, match=r"arms must be among the encoder's \('a', 'b'\), got 'c'"):
        ENCODER.encode(rows, ["a", "c"])
    with pytest.raises(ValueError, match="arms must be one for each of 2 rows, got 1"):
        ENCODER.encode(rows, ["a"])
    frame = pl.DataFrame({"age": [1.0], "promo": ["a"]})
    with pytest.raises(ValueError, match="columns must be in the log, got 'city'"):
        hb.Encoder.fit(frame, arm="promo", context=["age", "city"])
    with pytest.raises(ValueError, match="context must be a sequence of columns, got 'age'"):
        hb.Encoder.fit(frame, arm="promo", context="age")
    with pytest.raises(ValueError, match="source must have at least one row"):
        hb.Encoder.fit(frame.clear(), arm="promo", context=["age"], arms=["a"])
    with pytest.raises(ValueError, match="context must be columns of the table"):
        ENCODER.cells(frame, range(1), None)


def test_a_log_is_read_with_an_encoder_of_its_own_columns():
    _, frame, log = context_log(count=60)
    for columns in (hb.Columns(task="store", arm="promo", reward="revenue"), log.columns):
        with pytest.raises(ValueError, match="encoder must"):
            hb.Log.read(frame, columns, encoder=ENCODER)
    with pytest.raises(ValueError, match="arms must be the encoder's"):
        hb.Log.read(frame, log.columns, encoder=log.encoder, arms=["a", "b"])
