import asyncio
import resource

import pytest
import uvloop

from hierbandits.service.child_process import ChildProcess

_ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(b"%d\\n" % len(line))
    sys.stdout.buffer.flush()
"""


@pytest.fixture
def echo(tmp_path, monkeypatch):
    """The name of a module that tells how long each line is that it hears."""
    (tmp_path / "echo_module.py").write_text(_ECHO)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "echo_module"


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_it_answers_small_and_large_questions_until_it_is_ended(echo, run):
    async def talk():
        child = await ChildProcess.start(echo, is_asked=True)
        for size in (10, 3_000_000):
            await child.send(b"x" * size + b"\n")
            assert await child.told.readline() == b"%d\n" % (size + 1)
        assert not child.is_over
        await child.end()
        assert child.is_over
        assert await child.told.read() == b""
        await child.end()  # again

    run(talk())


def test_what_it_says_of_its_failure_is_kept(echo):
    async def talk():
        child = await ChildProcess.start("no_such_module", is_asked=True, keeps_errors=True)
        assert b"no_such_module" in await child.errors.read()
        assert await child.wait() == 1

    asyncio.run(talk())


def test_one_that_ends_in_the_middle_of_an_order_is_an_error_and_no_more(tmp_path, monkeypatch):
    (tmp_path / "deaf_module.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    async def talk():
        child = await ChildProcess.start("deaf_module", is_asked=True)
        sending = asyncio.ensure_future(child.send(b"x" * 10_000_000))
        await asyncio.sleep(0.05)
        await child.end()
        with pytest.raises(BrokenPipeError):
            await sending

    asyncio.run(talk())


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_the_memory_of_who_starts_it_is_not_copied(echo, run):
    """A copy would be seen by the pages that are made anew when they are written."""
    memory = [bytearray(5_000) for _ in range(20_000)]  # small parts, so that no page is huge

    async def talk():
        child = await ChildProcess.start(echo, is_asked=True)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for part in memory:
            part[2_500] = 1
        after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        await child.end()
        return after - before

    assert run(talk()) < 1_000
