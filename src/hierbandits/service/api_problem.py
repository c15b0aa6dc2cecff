"""What goes wrong with a request, as the service answers it."""

from http import HTTPStatus
from typing import Any


class Problem(Exception):
    """An answer that is not what was asked for: a status, a code for programs, words for people.

    The reply is `application/problem+json` (RFC 9457).  `retry_after` seconds later the same
    request may work.
    """

    def __init__(
        self, status: int, code: str, detail: str, *, retry_after: float | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.retry_after = status, code, detail, retry_after

    def to_dict(self) -> dict[str, Any]:
        """What the body of the reply holds."""
        title = HTTPStatus(self.status).phrase
        return {"status": self.status, "code": self.code, "title": title, "detail": self.detail}


def bad_request(detail: str) -> Problem:
    """The request itself is wrong: it will never work."""
    return Problem(400, "bad_request", detail)


def not_found(what: str, name: str) -> Problem:
    """No such thing, or none that the caller may see: both have the same answer."""
    return Problem(404, "not_found", f"{what} {name!r:.200} is not known")


class PolicyGone(Problem):
    """A policy that was known is deleted.  There may be a new one of its name, so look again."""

    def __init__(self, name: str) -> None:
        super().__init__(404, "not_found", f"policy {name!r:.200} is not known")


def unavailable(detail: str, retry_after: float = 1.0) -> Problem:
    """Not now, but soon."""
    return Problem(503, "unavailable", detail, retry_after=retry_after)
