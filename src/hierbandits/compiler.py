"""How kernels are compiled: on first use, kept on disk, and said once."""

import sys
from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit
from numba.core import event

Kernel = TypeVar("Kernel", bound=Callable[..., object])

# Sums may be reordered, which is what vectorises them; NaN and infinity keep their meaning.
_OPTIONS = {"fastmath": {"reassoc", "contract", "arcp", "nsz"}, "error_model": "numpy"}


def compiled(function: Kernel) -> Kernel:
    """Compile `function` when it is first called and keep the machine code for later processes."""
    try:
        kernel = njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        kernel = njit(**_OPTIONS)(function)
    return cast(Kernel, kernel)


class _Notice(event.Listener):  # type: ignore[misc]
    """Tells the user, once in a process, why the first run takes some seconds."""

    said = False

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__ or ""  # none if exec made it
        if not _Notice.said and module.startswith(f"{__package__}."):
            _Notice.said = True
            print("hierbandits: compiling kernels, once; later runs load them", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        """Nothing to add."""


event.register("numba:compile", _Notice())
