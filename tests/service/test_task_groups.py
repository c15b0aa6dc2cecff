"""A fixed share of tasks is held out, by a secret."""

from hierbandits.service.task_groups import in_share


def test_the_share_is_right_and_the_answer_is_always_the_same():
    salt, tasks = b"0123456789abcdef", [f'"user {i}"' for i in range(20_000)]
    members = [in_share(salt, task, 0.1) for task in tasks]
    assert members == [in_share(salt, task, 0.1) for task in tasks]
    assert abs(sum(members) - 2000) < 6 * (20_000 * 0.1 * 0.9) ** 0.5


def test_a_larger_share_holds_a_smaller_one_and_other_secrets_choose_others():
    tasks = [f'"{i}"' for i in range(2000)]
    few = {task for task in tasks if in_share(b"s", task, 0.1)}
    many = {task for task in tasks if in_share(b"s", task, 0.3)}
    others = {task for task in tasks if in_share(b"t", task, 0.1)}
    assert few < many
    assert few != others


def test_no_share_and_the_whole():
    assert not in_share(b"s", '"a"', 0.0)
    assert all(in_share(b"s", f'"{i}"', 1.0) for i in range(1000))


def test_a_number_and_a_text_are_different_tasks():
    differ = [in_share(b"s", f"{i}", 0.5) != in_share(b"s", f'"{i}"', 0.5) for i in range(64)]
    assert any(differ)
