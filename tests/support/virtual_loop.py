"""An event loop whose time is a number: sleeps take no time, and no thread ever runs."""

import asyncio
import selectors


class _Selector(selectors.SelectSelector):
    """Sleeps by moving the loop's clock."""

    slept = 0.0

    def select(self, timeout=None):
        if timeout is not None and timeout > 0:
            self.slept += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """What runs in it happens in one order, which depends on nothing but the program."""

    def __init__(self):
        self._clockwork = _Selector()
        super().__init__(self._clockwork)

    def time(self):
        return self._clockwork.slept

    def run_in_executor(self, executor, func, *args):
        """Threads are for real loops: here the function is called at once."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


def run(coroutine):
    """What a coroutine returns, in a loop of this kind."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)
