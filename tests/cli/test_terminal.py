"""The terminal: the app, its errors in one line, and the folder of a report."""

import pytest
from support.processes import command, python
from typer import Exit

import hierbandits
from hierbandits.cli.terminal import fail, need, report_folder, say, tell


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--version"], [f"hierbandits {hierbandits.__version__}"]),
        (
            ["--help"],
            [f"│ {name} " for name in ("inspect", "learn", "evaluate", "policies")],
        ),
    ],
    ids=lambda value: " ".join(value),
)
def test_commands_answer(arguments, lines):
    result = command(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    places = [f"\n{result.stdout}".index(f"\n{line}") for line in lines]
    assert places == sorted(places)


def test_an_unknown_command_is_named():
    result = command("unknown")
    assert result.returncode == 2
    assert "No such command 'unknown'" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_command_says_what_is_missing(tmp_path):
    (tmp_path / "typer.py").write_text("raise ImportError('typer')")
    missing = python("-c", "import hierbandits.cli", path=tmp_path)
    assert missing.returncode == 1
    assert "pip install 'hierbandits[all]'" in missing.stderr


def test_lines_are_printed_as_they_are(capsys):
    path = "[bold]/a/long/path" * 10
    say(path)
    tell(path)
    out, err = capsys.readouterr()
    assert (out, err) == (f"{path}\n", f"{path}\n")


def test_an_error_is_one_line_and_exits_with_two(capsys):
    with pytest.raises(Exit) as stop:
        fail("tasks must be [few]")
    assert stop.value.exit_code == 2
    assert capsys.readouterr() == ("", "Error: tasks must be [few]\n")


def test_a_package_that_is_not_there_is_named(capsys):
    need("json", "zipfile")
    with pytest.raises(Exit):
        need("json", "no_such_package")
    assert "this command needs no_such_package (No module" in capsys.readouterr().err


def test_a_reports_folder_is_made_before_the_work(tmp_path):
    out = tmp_path / "a" / "b"
    for _ in range(2):
        with report_folder(out):
            assert out.is_dir()
    assert out.is_dir()  # empty, but the work did not fail


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt, Exit])
def test_a_folder_that_failed_work_leaves_empty_is_removed(stop, tmp_path):
    def fail_in(out, leave=()):
        def work():
            with report_folder(out):
                for path in leave:
                    path.touch()
                raise stop

        with pytest.raises(stop):
            work()

    fail_in(tmp_path / "a" / "b")
    assert not (tmp_path / "a").exists()
    (tmp_path / "old").mkdir()
    fail_in(tmp_path / "old")
    fail_in(tmp_path / "old" / "new")
    assert [*(tmp_path / "old").iterdir()] == []  # it was there before
    fail_in(tmp_path / "c" / "d", leave=[tmp_path / "c" / "mine"])
    assert [*tmp_path.rglob("c/*")] == [tmp_path / "c" / "mine"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(Exit), report_folder(tmp_path / "file" / "out"):
        raise AssertionError("no work is done")
    place = tmp_path / "file" / "out"
    assert f"--out must be a folder that can be written, got {place}: " in capsys.readouterr().err


def test_files_of_others_in_the_way_are_named_before_the_work(tmp_path, capsys):
    mine = tmp_path / "settings.json"
    mine.write_text('{"files": ["thesis.txt"]}')
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(Exit), report_folder(tmp_path):
        raise AssertionError("no work is done")
    message = f"--out must be a folder for a report: {mine} must be as an earlier report left it"
    assert message in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").exists()
    assert mine.read_text() == '{"files": ["thesis.txt"]}'
