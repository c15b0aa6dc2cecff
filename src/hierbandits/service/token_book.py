"""Who may ask what: tokens, of which the service keeps digests only."""

import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from typing import Protocol, TypeAlias

import msgspec

SCOPES = ("decide", "reward", "read", "admin")
"""What a token may be good for; "admin" is good for everything."""

_PREFIX = "hb"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NOBODY = bytes(32)


class Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token without its secret; `policies` is None if it is good for all of them."""

    name: str
    digest: str
    scopes: list[str]
    policies: list[str] | None
    created: float
    expires: float | None = None

    def allows(self, scope: str) -> bool:
        """Whether it is good for this."""
        return scope in self.scopes or "admin" in self.scopes

    def sees(self, policy: str) -> bool:
        """Whether it is good for a policy of this name, be there one or not."""
        return self.policies is None or policy in self.policies


Mark: TypeAlias = tuple[int, int] | None
"""What changes whenever the tokens do; None if there are none."""


class TokenPlace(Protocol):
    """Where tokens are kept, as JSON."""

    def __str__(self) -> str:
        """What people call it."""

    def mark(self) -> Mark:
        """What is to be compared with an earlier one."""

    def read(self) -> bytes:
        """All tokens."""

    def changing(self) -> AbstractContextManager[Callable[[bytes], object]]:
        """Nobody else changes the tokens in the block; what it gives replaces all of them."""

    def close(self) -> None:
        """Read no more."""


class TokenBook:
    """The tokens of a service.

    A program that makes or revokes one changes the place where they are kept; a service that runs
    sees that when it next calls `refresh`.
    """

    def __init__(self, place: TokenPlace) -> None:
        self._place = place
        self._seen: Mark = None
        self._tokens: dict[str, Token] = {}
        self.refresh()

    def __len__(self) -> int:
        return len(self._tokens)

    def all(self) -> list[Token]:
        """All tokens by name."""
        return sorted(self._tokens.values(), key=lambda token: token.name)

    def refresh(self) -> None:
        """Read the tokens again if another has changed them."""
        seen = self._place.mark()
        if seen is None:
            self._tokens, self._seen = {}, None
        elif seen != self._seen:
            try:
                tokens = msgspec.json.decode(self._place.read(), type=list[Token])
            except msgspec.MsgspecError as error:
                raise ValueError(f"{self._place} is not a sound file of tokens: {error}") from error
            self._tokens, self._seen = {token.name: token for token in tokens}, seen

    def create(
        self,
        name: str,
        scopes: Sequence[str],
        policies: Sequence[str] | None,
        now: float,
        expires: float | None = None,
    ) -> str:
        """Make a token; the secret that is returned is kept nowhere."""
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"name must be letters, digits, '_' and '-', at most 64 of them, got {name!r:.80}"
            )
        unknown = [scope for scope in scopes if scope not in SCOPES]
        if unknown or not scopes:
            raise ValueError(f"scopes must be some of {', '.join(SCOPES)}, got {scopes!r:.80}")
        if policies is not None and not policies:
            raise ValueError("policies must be names of policies, or None for all, got none")
        text = f"{_PREFIX}_{name}.{secrets.token_urlsafe(32)}"
        with self._changing():
            if name in self._tokens:
                raise ValueError(f"name must be of a new token, got {name!r}: revoke that first")
            bound = None if policies is None else list(policies)
            digest = _digest(text).hex()
            self._tokens[name] = Token(name, digest, list(scopes), bound, now, expires)
        return text

    def revoke(self, name: str) -> None:
        """Make a token useless."""
        with self._changing():
            if name not in self._tokens:
                raise ValueError(f"name must be of a token, got {name!r:.80}")
            del self._tokens[name]

    def adopt(self, other: "TokenBook") -> None:
        """Take over all tokens of another book; ValueError if there are others here."""
        with self._changing():
            theirs = {token.name: token for token in other.all()}
            if self._tokens and self._tokens != theirs:
                raise ValueError(f"target must have no tokens of its own, got {self._place}")
            self._tokens = theirs

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change the tokens, one program at a time."""
        with self._place.changing() as write:
            self._seen = None
            self.refresh()
            yield
            write(self.to_json())
        self._seen = None
        self.refresh()

    def close(self) -> None:
        """Read no more."""
        self._place.close()

    def to_json(self) -> bytes:
        """All tokens, without their secrets."""
        rows = [msgspec.to_builtins(token) for token in self.all()]
        return json.dumps(rows, indent=1).encode()

    def find(self, text: str, now: float) -> Token | None:
        """The token of this text, if it is one and has not expired."""
        name = text.removeprefix(f"{_PREFIX}_").partition(".")[0]
        token = self._tokens.get(name)
        known = _NOBODY if token is None else bytes.fromhex(token.digest)
        if not hmac.compare_digest(_digest(text), known) or token is None:
            return None
        return token if token.expires is None or now < token.expires else None


def _digest(text: str) -> bytes:
    """Secrets are long and random: a plain hash is enough."""
    return sha256(text.encode()).digest()
