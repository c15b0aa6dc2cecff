"""HierTS across schedules: rows and files."""

from support.study_files import assert_rows_match, totals

from hierbandits.simulation.schedules import SCHEDULES


def test_the_files_of_concurrency_hold_what_its_rows_say(reports):
    report, folder, _ = reports("concurrency")
    by_schedule = {row["schedule"]: row for row in report.rows if row["panel"] == "schedules"}
    assert_rows_match(by_schedule, totals(folder / "tasks_schedules.parquet", "schedule"))
    by_size = {
        (row["policy"], row["L"], row["repeats"]): row for row in report.rows if row["panel"] == "L"
    }
    assert len(by_size) == 20
    assert_rows_match(by_size, totals(folder / "tasks_L.parquet", "policy", "L", "repeats"))


def test_every_schedule_has_its_label_and_the_size_of_its_rounds(reports):
    report, _, _ = reports("concurrency")
    rows = [row for row in report.rows if row["panel"] == "schedules"]
    assert len(rows) == len(SCHEDULES)
    assert [(row["schedule"], row["L"]) for row in rows] == [
        ("sequential, in turn", None),
        ("meta-learning", None),
        ("multi-task", None),
        ("concurrent, L = 5", 5),
        ("concurrent, L = 5, distinct", 5),
        ("federated", 10),
        ("arriving", None),
    ]
    assert report.settings["schedules"] == [row["schedule"] for row in rows]
