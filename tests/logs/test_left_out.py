"""Rows that were left out are counted by reason."""

from hierbandits.logs.left_out import LeftOut


def test_reasons_are_counted_and_told():
    gone = LeftOut()
    assert (gone.total, str(gone)) == (0, "none")
    gone.add_missing("y", 2)
    gone.add_missing("y", 1000)
    gone.add_missing("arm", 0)
    gone.repeated += 3
    assert gone.total == 1005
    assert str(gone) == "3 that repeat an earlier one, 1,002 without 'y'"
    assert gone.to_dict() == {"repeated": 3, "missing": {"y": 1002}}
