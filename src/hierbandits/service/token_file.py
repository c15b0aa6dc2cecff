"""Who may ask what: tokens, of which the service keeps digests only, in a file of their own."""

import fcntl
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec

from hierbandits.atomic_write import atomic_write

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


class TokenFile:
    """The tokens of a data folder.

    A program that makes or revokes one replaces the file; a service that runs sees that when it
    next calls `refresh`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._tokens: dict[str, Token] = {}
        self.refresh()

    def __len__(self) -> int:
        return len(self._tokens)

    def all(self) -> list[Token]:
        """All tokens by name."""
        return sorted(self._tokens.values(), key=lambda token: token.name)

    def refresh(self) -> None:
        """Read the file again if another has replaced it."""
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            self._tokens, self._seen = {}, None
            return
        seen = found.st_mtime_ns, found.st_ino
        if seen != self._seen:
            try:
                tokens = msgspec.json.decode(self._path.read_bytes(), type=list[Token])
            except msgspec.MsgspecError as error:
                raise ValueError(f"{self._path} is not a sound file of tokens: {error}") from error
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

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change the file, one program at a time."""
        lock = os.open(self._path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._seen = None
            self.refresh()
            yield
            rows = [msgspec.to_builtins(token) for token in self.all()]
            with atomic_write(self._path) as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(json.dumps(rows, indent=1).encode())
            self._seen = None
            self.refresh()
        finally:
            os.close(lock)

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
