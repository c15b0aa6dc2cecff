"""What a service answers in place of what was asked for, as errors of their own."""

from collections.abc import Mapping
from typing import Any


class ServiceError(Exception):
    """The service did not do what it was asked to; its words are the message.

    `status` is that of HTTP, None if there was no answer; `code` is a word for programs.
    `request_id` finds the request in the service's log.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        code: str = "",
        request_id: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail, self.status, self.code, self.request_id = detail, status, code, request_id

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (type(self), self.detail, self.status, self.code, self.request_id)


class BadRequest(ServiceError, ValueError):
    """The request itself is wrong: it will never work."""


class Unauthorized(ServiceError):
    """The token is missing, wrong, revoked or expired."""


class Forbidden(ServiceError):
    """The token is not good for this."""


class NotFound(ServiceError, LookupError):
    """There is no such thing, or none that the token may see."""


class Conflict(ServiceError):
    """It contradicts what the service knows: a second value for a reward, say."""


class Gone(ServiceError):
    """It was there and is deleted."""


class Unavailable(ServiceError):
    """Not now: there was no answer, or the service has asked to come again later."""


KINDS: dict[int, type[ServiceError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: Unavailable,
    409: Conflict,
    410: Gone,
    413: BadRequest,
    422: BadRequest,
    429: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def error_of(status: int, parts: Mapping[str, Any], request_id: str | None = None) -> ServiceError:
    """The error that a problem (RFC 9457) stands for."""
    detail = str(parts.get("detail") or f"the service answered {status}")
    code = str(parts.get("code") or "")
    kind = KINDS.get(status, ServiceError)
    return kind(detail, status=status, code=code, request_id=request_id)


def _made(
    kind: type[ServiceError], detail: str, status: int | None, code: str, request_id: str | None
) -> ServiceError:
    return kind(detail, status=status, code=code, request_id=request_id)
