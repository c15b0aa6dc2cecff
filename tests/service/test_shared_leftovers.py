"""Rows of policies that are gone are found."""

from support.shared_stores import SETTINGS, books

from hierbandits.service.doctor import doctor
from hierbandits.service.wire import DecisionRequest


def test_doctor_tells_which_rows_belong_to_no_policy(store_url, tmp_path):
    with books(store_url) as (book,):
        book.put("shop", SETTINGS["armed"])
        book.put("other", SETTINGS["armed"])
        book.turns("shop").live.decide([DecisionRequest("t"), DecisionRequest("u")])
        assert doctor(tmp_path / "none", store=store_url).faults == []
        with book.links.transaction() as db:
            db.execute("DELETE FROM shared_policies WHERE name = 'shop'")
    report = doctor(tmp_path / "none", store=store_url)
    found = [fault.split(": ")[1] for fault in report.faults]
    assert "2 rows of shared_tasks belong to no policy" in found
    assert "2 rows of shared_decisions belong to no policy" in found
    assert len(found) == 6  # and its version, its generation, its rollout and the change of it
