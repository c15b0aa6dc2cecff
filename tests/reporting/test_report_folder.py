"""The folder of a report: no file goes that a report cannot be proved to have written."""

import json
import os
from hashlib import sha256

import pytest

from hierbandits.reporting.report_folder import ReportFolder

OLD, NEW = {"a.json": b"1", "b.json": b"2"}, {"b.json": b"3", "c.json": b"4"}


def _files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def _without_settings(folder):
    return {name: data for name, data in _files(folder).items() if name != "settings.json"}


def _settings(folder):
    return json.loads((folder / "settings.json").read_text())


def test_files_of_an_earlier_report_are_replaced_or_removed(tmp_path):
    folder = ReportFolder(tmp_path / "deep" / "out")
    folder.write({"seed": 1}, OLD)
    assert _without_settings(folder.path) == OLD
    (folder.path / "mine").write_bytes(b"mine")
    folder.check()
    folder.write({"seed": 2}, NEW)
    assert _without_settings(folder.path) == NEW | {"mine": b"mine"}
    settings = _settings(folder.path)
    assert settings["seed"] == 2
    assert settings["files"] == ["b.json", "c.json", "settings.json"]
    assert settings["digests"] == {n: [sha256(data).hexdigest()] for n, data in NEW.items()}


@pytest.mark.parametrize("name", ["settings.json", "b.json", "c.json"])
@pytest.mark.parametrize("what", ["file", "folder", "link", "dangling link"])
def test_what_no_report_wrote_is_not_replaced(name, what, tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "out"
    folder.mkdir()
    outside.write_bytes(b"outside")
    if what == "file":
        (folder / name).write_bytes(b"{}")
    elif what == "folder":
        (folder / name).mkdir()
    else:
        (folder / name).symlink_to(outside if what == "link" else tmp_path / "nowhere")
    before = _files(folder)
    with pytest.raises(FileExistsError, match=f"{folder / name} must be as an earlier report left"):
        ReportFolder(folder).write({}, NEW)
    assert _files(folder) == before
    assert len(list(folder.iterdir())) == 1
    assert outside.read_bytes() == b"outside"
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_was_changed_since_is_not_replaced_or_removed(tmp_path):
    folder = ReportFolder(tmp_path)
    for name in OLD:
        folder.write({}, OLD)
        (tmp_path / name).write_bytes(b"changed")
        before = _files(tmp_path)
        for call in (folder.check, lambda: folder.write({}, NEW)):
            with pytest.raises(FileExistsError, match="changed since or is not a report's"):
                call()
        assert _files(tmp_path) == before
        (tmp_path / name).unlink()


def test_settings_of_other_hands_name_no_files_of_a_report(tmp_path):
    """The right digest of a file is known to those alone who have its bytes."""
    folder, outside = tmp_path / "out", tmp_path / "outside.json"
    ReportFolder(folder).write({}, OLD)
    outside.write_bytes(b"1")
    (folder / "mine.json").write_bytes(b"mine")
    (folder / "link.json").symlink_to(outside)
    (folder / "down").mkdir()
    (folder / "down" / "a.json").write_bytes(b"1")
    digest = sha256(b"1").hexdigest()
    settings = _settings(folder)
    for name in ("../outside.json", str(outside), "..", ".", "", "\0", "down/a.json", "a\\b"):
        settings["digests"][name] = [digest]
    settings["files"] += ["mine.json", "../outside.json"]
    (folder / "settings.json").write_text(json.dumps(settings))
    ReportFolder(folder).write({}, NEW)
    assert _without_settings(folder) == NEW | {"mine.json": b"mine", "link.json": b"1"}
    assert (folder / "down" / "a.json").exists()
    assert outside.read_bytes() == b"1"
    for name in ("mine.json", "link.json"):
        settings = _settings(folder)
        settings["digests"][name] = ["0" * 64, 3, None, digest]
        (folder / "settings.json").write_text(json.dumps(settings))
        with pytest.raises(FileExistsError, match=name):
            ReportFolder(folder).write({}, OLD)
        settings["digests"].pop(name)
        (folder / "settings.json").write_text(json.dumps(settings))
    assert (folder / "link.json").is_symlink()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"files": ["m"]}', '{"digests": ["m"]}', '{"digests": {"m": 3}}',
                "\x00", "[" * 100_000, '{"digests": {}}'],
)  # fmt: skip
def test_settings_that_are_no_reports_are_not_replaced(content, tmp_path):
    (tmp_path / "m").touch()
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(FileExistsError, match=r"settings\.json must be as an earlier"):
        ReportFolder(tmp_path).check()
    with pytest.raises(FileExistsError, match=r"settings\.json must be as an earlier"):
        ReportFolder(tmp_path).write({}, NEW)
    assert _files(tmp_path) == {"m": b"", "settings.json": content.encode()}


def test_after_an_interruption_anywhere_the_next_report_takes_over(tmp_path, monkeypatch):
    replace, unlink = os.replace, os.unlink
    steps = 0

    def step(do, *arguments):
        nonlocal steps
        steps -= 1
        if steps == 0:
            raise KeyboardInterrupt
        do(*arguments)

    monkeypatch.setattr(os, "replace", lambda *two: step(replace, *two))
    monkeypatch.setattr("pathlib.Path.unlink", lambda path, missing_ok=False: step(unlink, path))
    for last in range(1, 7):
        steps = -1
        ReportFolder(tmp_path / str(last)).write({"seed": 1}, OLD)
        steps = last
        if last < 6:
            with pytest.raises((KeyboardInterrupt, FileNotFoundError)):
                ReportFolder(tmp_path / str(last)).write({"seed": 2}, NEW)
        steps = -1
        ReportFolder(tmp_path / str(last)).check()
        ReportFolder(tmp_path / str(last)).write({"seed": 3}, OLD)
        assert _without_settings(tmp_path / str(last)) == OLD
        assert _settings(tmp_path / str(last))["seed"] == 3
