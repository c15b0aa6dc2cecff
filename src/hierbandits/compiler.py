"""How kernels are compiled: when they are first called, and once for all later processes."""

import sys
from collections.abc import Callable
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import cfunc, njit
from numba.core import event

Kernel = TypeVar("Kernel", bound=Callable[..., object])

# Sums may be reordered, which lets them use vector instructions; NaN and infinity keep their
# meaning.
_OPTIONS: dict[str, Any] = {
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    "error_model": "numpy",
}


def compiled(function: Kernel) -> Kernel:
    """Compile `function` when it is first called, and keep its machine code on disk."""
    return _kept(function, _OPTIONS)


def compiled_in_order(function: Kernel) -> Kernel:
    """`compiled`, for sums that must not be reordered: they keep account of their rounding."""
    return _kept(function, {"error_model": "numpy"})


def _kept(function: Kernel, options: dict[str, Any]) -> Kernel:
    try:
        kernel = njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        kernel = njit(**options)(function)
    else:
        if kernel is not function:  # it is, if numba is told to compile nothing
            _keep_while_all_sources_are_the_same(kernel)
    return cast(Kernel, kernel)


def _keep_while_all_sources_are_the_same(kernel: Any) -> None:
    """Numba compiles again if the kernel's own file has changed; others are compiled into it."""
    kept = kernel._cache._cache_file
    kept._source_stamp = (*kept._source_stamp, _sources())


@lru_cache(maxsize=1)
def _sources() -> str:
    """A digest of the sources of all kernels."""
    here = Path(__file__)
    digest = sha256(here.read_bytes())
    for path in sorted((here.parent / "kernels").glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def inlined(function: Kernel) -> Kernel:
    """Compile `function` into each kernel that calls it: a call costs more than a short loop."""
    return cast(Kernel, njit(forceinline=True, **_OPTIONS)(function))


def inlined_in_order(function: Kernel) -> Kernel:
    """`inlined`, for sums that must not be reordered."""
    options: dict[str, Any] = {"fastmath": {"contract"}, "error_model": "numpy"}
    return cast(Kernel, njit(forceinline=True, **options)(function))


@cache
def compiled_address(
    function: Callable[..., Any],
    signature: str,
    failing: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None,
) -> int:
    """Compile a function for code that knows its address alone; returns the address.

    No error can leave it: what it raises is printed and ignored.  So `failing` makes a function of
    one that is not the package's own, which answers for it where it raises one.

    A kernel that is told it can call the function (see `kernels.family_call`), and need not be
    compiled for each such function.  The address is good in this process.
    """
    is_ours = (function.__module__ or "").startswith(f"{__package__}.")  # no other is kept on disk
    if failing is not None and not is_ours:
        function = failing(njit(error_model="numpy")(function))
    try:
        code = cfunc(signature, cache=is_ours, error_model="numpy")(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        code = cfunc(signature, error_model="numpy")(function)
    _ADDRESSED.append(code)
    return int(code.address)


_ADDRESSED: list[Any] = []  # an address is good for as long as its code is kept


class _Notice(event.Listener):  # type: ignore[misc]
    """Tells the user, once in a process, why the first call takes some seconds."""

    is_printed = False

    def on_start(self, event: event.Event) -> None:
        """Print the notice if this is the first kernel of the package."""
        module = event.data["dispatcher"].py_func.__module__ or ""  # None if exec made the function
        if not _Notice.is_printed and module.startswith(f"{__package__}."):
            _Notice.is_printed = True
            print("hierbandits: compiling kernels, once; later runs load them", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Do nothing: numba asks for this method."""


event.register("numba:compile", _Notice())
