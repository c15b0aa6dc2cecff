from hierbandits.service.api_problem import Problem, bad_request, not_found, unavailable


def test_a_problem_says_its_status_its_code_and_what_is_wrong():
    assert bad_request("value must be a number, got 'x'").to_dict() == {
        "status": 400,
        "code": "bad_request",
        "title": "Bad Request",
        "detail": "value must be a number, got 'x'",
    }


def test_an_unknown_thing_is_named_and_cut_where_it_is_long():
    assert not_found("policy", "shop").to_dict()["detail"] == "policy 'shop' is not known"
    assert len(not_found("task", "x" * 10_000).detail) < 300


def test_what_may_work_later_says_when():
    assert unavailable("busy").retry_after == 1.0
    assert (unavailable("busy").status, unavailable("busy", 5.0).retry_after) == (503, 5.0)


def test_a_problem_is_an_exception_with_its_detail_as_text():
    assert str(Problem(409, "conflict", "another value")) == "another value"
