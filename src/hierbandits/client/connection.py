"""Where the service is, how one shows who one is, and how long one waits."""

import math
import os
from dataclasses import dataclass
from urllib.parse import urlsplit

URL = "http://127.0.0.1:8080"
"""Where `hierbandits serve` listens unless it is told otherwise."""


@dataclass(frozen=True, slots=True, repr=False)
class Connection:
    """The address of a service and a token for it; the token is in no text of this object."""

    url: str
    token: str | None
    timeout: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", self.url.rstrip("/"))
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must be as in http://127.0.0.1:8080, got {self.shown!r:.200}")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(
                f"url must have no user, query or fragment, got one of {self.shown!r:.200}: "
                "give a token by token="
            )
        if self.token is not None and not _is_header(self.token):
            raise ValueError("token must be printable ASCII without spaces, got something else")
        if isinstance(self.timeout, bool) or not 0 < self.timeout < math.inf:
            raise ValueError(f"timeout must be positive seconds, got {self.timeout!r:.80}")

    @property
    def shown(self) -> str:
        """The address without what might be secret in it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def headers(self) -> dict[str, str]:
        """What is sent with each request."""
        headers = {"content-type": "application/json", "accept": "application/json"}
        return (
            headers if self.token is None else headers | {"authorization": f"Bearer {self.token}"}
        )

    def __repr__(self) -> str:
        return f"{self.shown}, {'without a' if self.token is None else 'with a'} token"


def check_httpx() -> None:
    """Say what to install where httpx is missing."""
    try:
        import httpx  # noqa: F401
    except ImportError as error:
        text = f"the client needs httpx ({error}): pip install 'hierbandits[client]'"
        raise ImportError(text) from None


def connection(url: str | None, token: str | None, timeout: float) -> Connection:
    """What is given, or what the environment says: HIERBANDITS_URL and HIERBANDITS_TOKEN."""
    found = url or os.environ.get("HIERBANDITS_URL") or URL
    return Connection(found, token or os.environ.get("HIERBANDITS_TOKEN") or None, timeout)


def _is_header(text: str) -> bool:
    return isinstance(text, str) and text.isascii() and text.isprintable() and " " not in text
