"""A request that adds or retires an arm, whose worker may die before it answers."""

import threading

from support.service_calls import BROKEN, Line

WIDTHS = {"hyper_mean": 0.4, "hyper_std": 0.8, "task_std": 0.5}
"""What is said of arms that are added."""


class ArmRequest:
    """One change of a policy's arms, asked for in a thread of its own: an arm more, or one less."""

    def __init__(self, policy, port, added, retired=None):
        self._policy, self._line = policy, Line(port)
        self.added, self.retired = added, retired
        self.status = None  # of the answer, if one has come

    def begin(self):
        """Ask for it."""
        request = ("DELETE", f"{self._policy}/arms/{self.retired}", None)
        if self.added is not None:
            request = ("POST", f"{self._policy}/arms", {"name": self.added} | WIDTHS)

        def ask():
            try:
                self.status, _ = self._line.call(*request)
            except BROKEN:
                pass
            finally:
                self._line.close()

        self._thread = threading.Thread(target=ask)
        self._thread.start()

    def wait(self):
        """Wait until it is answered, or nobody can answer it."""
        self._thread.join(60)
        assert not self._thread.is_alive()

    def is_there(self, before, offered, version, arms):
        """Whether it has happened, by version and arms before and after: wholly or not at all."""
        self.wait()
        after = [arm for arm in offered if arm != self.retired]
        after += [] if self.added is None else [self.added]
        assert (version, arms) in ((before, offered), (before + 1, after)), (version, arms)
        assert version > before or self.status != 200  # what was acknowledged is there
        return version > before
