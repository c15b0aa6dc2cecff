"""Logs on a real file system of fsspec: the same numbers as from files on this machine."""

import io
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from support.cluster_checks import sample_log

from hierbandits import evaluate, inspect, learn_prior
from hierbandits.logs import Columns, Log
from hierbandits.logs.remote_files import is_remote, opened_remote, remote_facts, remote_files

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")

COLUMNS = Columns(task="store", reward="revenue", arm="promo")
NAMES = {"task": "store", "reward": "revenue", "arm": "promo"}


@pytest.fixture
def storage():
    """A file system in memory, empty."""
    files = fsspec.filesystem("memory")
    files.store.clear()
    yield files
    files.store.clear()


def put(storage, path, frame):
    """Write a frame there as Parquet, in row groups of 100 rows."""
    place = io.BytesIO()
    frame.write_parquet(place, row_group_size=100)
    storage.pipe(path, place.getvalue())


@pytest.fixture
def log(storage, tmp_path):
    """The same four files there and here; returns both paths."""
    frame = pl.DataFrame(sample_log(num_rows=1000))
    (tmp_path / "log").mkdir()
    for place in range(4):
        part = frame[place * 250 : (place + 1) * 250]
        put(storage, f"/bucket/log/part-{place}.parquet", part)
        part.write_parquet(tmp_path / "log" / f"part-{place}.parquet")
    storage.pipe("/bucket/log/_SUCCESS", b"")
    return "memory://bucket/log", tmp_path / "log"


@pytest.mark.parametrize("form", ["{}", "{}/", "{}/*.parquet", "{}/part-[0-3].parquet"])
def test_folders_and_patterns_give_the_sums_of_local_files(log, form):
    far, near = log
    here, there = (Log.read(form.format(path), COLUMNS) for path in (near, far))
    for one, other in ((there.sums(), here.sums()), (there.file_sums(), here.file_sums())):
        assert (one.tasks, one.arms) == (other.tasks, other.arms)
        for name, values in one.sums.state().items():
            np.testing.assert_array_equal(values, other.sums.state()[name])


def test_one_file_and_a_list_of_files(log):
    far, near = log
    names = ["part-2.parquet", "part-0.parquet"]
    one = Log.read([f"{far}/{name}" for name in names], COLUMNS).sums()
    other = Log.read([near / name for name in names], COLUMNS).sums()
    assert one.tasks == other.tasks
    np.testing.assert_array_equal(one.sums.xy, other.sums.xy)
    assert Log.read(f"{far}/part-1.parquet", COLUMNS).sums().num_rows == 250


def test_learn_evaluate_and_inspect_take_them(log):
    far, near = log
    one, told = learn_prior(far, **NAMES, runs=0)
    other, _ = learn_prior(near, **NAMES, runs=0)
    assert one.to_dict() == other.to_dict()
    (first, *_), origin = told.settings["made_from"]["files"], told.settings["made_from"]["log"]
    assert origin == far
    assert first["name"] == "memory:///bucket/log/part-0.parquet"
    assert (first["sha256"], first["bytes"] > 1000) == (None, True)
    assert first["modified"].endswith("Z")
    pages = [
        evaluate(path, ["best arm", "TS"], **NAMES, propensity="p", folds=2) for path in (far, near)
    ]
    ours, theirs = ([each.value for each in page.estimates] for page in pages)
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert inspect(far, **NAMES).num_rows == inspect(near, **NAMES).num_rows == 1000


def test_columns_of_all_files_count(storage):
    """A later file may have other columns, in another order, and wider numbers."""
    put(storage, "/b/1.parquet", pl.DataFrame({"store": ["s"], "promo": ["a"], "revenue": [1]}))
    later = {"note": ["x"], "revenue": [0.5], "store": ["t"], "promo": ["b"]}
    put(storage, "/b/2.parquet", pl.DataFrame(later))
    assert Log.read("memory://b", COLUMNS).sums().sums.xy.tolist() == [[1.0, 0.0], [0.0, 0.5]]


def test_folders_named_by_a_column(storage):
    for store in ("s", "t"):
        part = pl.DataFrame({"promo": ["a", "b"], "revenue": [1.0, 2.0]})
        put(storage, f"/hive/store={store}/part.parquet", part)
    sums = Log.read("memory://hive", COLUMNS).sums()
    assert sums.tasks == ("s", "t")
    assert sums.sums.n.tolist() == [2.0, 2.0]


def test_batches_are_no_larger_than_asked(log):
    far, _ = log
    sizes = [batch.num_rows for batch in Log.read(far, COLUMNS, batch_rows=60).batches()]
    assert max(sizes) <= 60
    assert sum(sizes) == 1000


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("memory://bucket/none/", "source must be a file or a folder of .parquet files, got"),
        ("memory://bucket/log/*.csv", "source must be a file or a folder of .parquet files, got"),
        ("nowhere://bucket/log", "source 'nowhere://bucket/log' could not be read: Protocol not"),
        ("memory://bucket/log/_SUCCESS", "source must end in .parquet where it is a URL, got"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(log, source, told):
    with pytest.raises((ValueError, FileNotFoundError), match=told.replace("*", r"\*")):
        Log.read(source, COLUMNS)


def test_what_a_storage_says_is_told_with_the_source():
    class Locked(fsspec.AbstractFileSystem):
        protocol = "locked"

        def ls(self, path, detail=True, **options):
            raise RuntimeError("no password")

    fsspec.register_implementation("locked", Locked, clobber=True)
    told = r"^source 'locked://bucket/log/' could not be read: no password$"
    with pytest.raises(ValueError, match=told):
        Log.read("locked://bucket/log/", COLUMNS)


def test_a_damaged_file_is_refused(storage):
    storage.pipe("/b/1.parquet", b"no Parquet")
    with pytest.raises(ValueError, match=r"source 'memory.*1.parquet' could not be read: "):
        Log.read("memory://b/1.parquet", COLUMNS)


def test_here_and_there_do_not_mix(log):
    far, near = log
    with pytest.raises(ValueError, match="files must be in one file system, got"):
        Log.read([f"{far}/part-0.parquet", f"{near}/part-1.parquet"], COLUMNS)


def test_parts_of_the_module(log):
    far, _ = log
    assert is_remote(far)
    assert not is_remote("log.parquet")
    files = remote_files(far)
    assert files == [f"memory:///bucket/log/part-{place}.parquet" for place in range(4)]
    assert opened_remote(files).count_rows() == 1000
    assert remote_facts(files[0])["name"] == files[0]


def test_without_fsspec_it_says_what_to_install():
    code = """
import sys
sys.modules["fsspec"] = None
from hierbandits.logs import Columns, Log
try:
    Log.read("s3://bucket/log", Columns(task="t", arm="a", reward="r"))
except ValueError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "source 's3://bucket/log' needs more packages" in run.stdout
    assert "pip install 'hierbandits[remote]'" in run.stdout
