"""A fuzz of every public name: whatever it is given, it must not reach outside its arrays.

    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=... python -m support.surface_fuzz SECONDS SEED

Arguments are drawn by `Values` or are objects that earlier calls gave; some of them are spoilt.
What a call returns may be asked next, so that the surface is all that can be reached from the
public names.  Prints counts as JSON, and what went wrong.
"""

import contextlib
import inspect
import io
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numba
import numpy as np
from numba.core import event
from numba.core.errors import NumbaError

from support.hostile_values import Values
from support.public_surface import function_target, is_ours, public_values, targets_of

OUT_OF_BOUNDS = "index is out of bounds"  # what numba says; numpy's own say more
CALL_SECONDS = 1.0
MOST_MEMORY = 6 << 30
KEPT = 12  # objects of each class


class Late(BaseException):
    """A call took too long."""


class SurfaceFuzz:
    """Calls public names with hostile arguments, and counts what happens."""

    def __init__(self, seed, folder):
        self.values, self.random = Values(seed, folder), random.Random(seed)
        self.pool = defaultdict(list)  # objects by class
        self.known = set()  # classes whose methods are targets
        self.targets, self.spent = [], []
        self.counts, self.faults, self.unnamed = Counter(), Counter(), Counter()
        for name, value in public_values().items():
            if isinstance(value, type):
                self._meet(value)
            elif isinstance(value, dict):
                for inner in value.values():
                    self._keep(inner)
            elif inspect.isfunction(value):
                self._add(function_target(name, value))
            else:
                self._keep(value)

    def _add(self, target):
        self.targets.append(target)
        self.spent.append(0.0)

    def _meet(self, kind):
        if kind not in self.known:
            self.known.add(kind)
            for target in targets_of(kind):
                self._add(target)

    def _keep(self, value, depth=0):
        """Let what a call gave be asked, and be an argument, later."""
        if isinstance(value, dict | list | tuple) and depth < 2 and len(value) < 20:
            for inner in value.values() if isinstance(value, dict) else value:
                self._keep(inner, depth + 1)
        kind = type(value)
        if isinstance(value, BaseException | type) or not is_ours(kind):
            return
        if callable(value) and inspect.isfunction(value):
            return
        self._meet(kind)
        held = self.pool[kind]
        held.append(value)
        if len(held) > KEPT:
            held.pop(self.random.randrange(KEPT))

    def run(self, seconds):
        """Call names for so long, those first that have had least time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            few = self.random.sample(range(len(self.targets)), min(8, len(self.targets)))
            place = min(few, key=lambda one: self.spent[one])
            start = time.monotonic()
            self.call(self.targets[place])
            self.spent[place] += time.monotonic() - start + 1e-5

    def call(self, target):
        """One call, whose outcome is counted."""
        self.values.begin()
        first = []
        if target.owner is not None:
            owners = self._objects(target.owner)
            if not owners:
                return
            first = [self.random.choice(owners)]
        arguments, named = self._arguments(target)
        self.counts["calls"] += 1
        signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
        try:
            result = target.function(*first, *arguments, **named)
            if inspect.isgenerator(result):
                result = next(result, None)
        except Late:
            self.counts["late"] += 1
            self._forget(first)
        except MemoryError:
            self.counts["refused for memory"] += 1
        except Exception as error:
            self._judge(target, error)
        else:
            self.counts["done"] += 1
            self._keep(result)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _forget(self, objects):
        for one in objects:
            held = self.pool[type(one)]
            held[:] = [other for other in held if other is not one]

    def _judge(self, target, error):
        text = str(error)
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        if isinstance(error, NumbaError) or (
            isinstance(error, IndexError) and text == OUT_OF_BOUNDS
        ):
            self.counts["out of bounds"] += 1
            self.faults[f"{target.name}: {type(error).__name__} {text:.200} at {where}"] += 1
            return
        names = {parameter.name for parameter in target.signature.parameters.values()}
        plain = isinstance(error, ValueError | TypeError | LookupError | OSError)
        if plain and any(name in text for name in names - {"self"}):
            self.counts["refused by name"] += 1
        else:
            self.counts["refused otherwise"] += 1
            self.unnamed[f"{target.name}: {type(error).__name__} {text:.90} at {where}"] += 1

    def _arguments(self, target):
        arguments, named = [], {}
        spoil = self.random.choice([0, 0, 1, 1, 2])
        chosen = set(
            self.random.sample(range(len(target.arguments)), min(spoil, len(target.arguments)))
        )
        for place, parameter in enumerate(target.arguments):
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            has_default = parameter.default is not parameter.empty
            if has_default and place not in chosen and self.random.random() < 0.5:
                if parameter.kind is parameter.POSITIONAL_ONLY:
                    break
                continue
            value = self._value(parameter)
            if place in chosen:
                value = self.values.spoilt(value)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                arguments.append(value)
            else:
                named[parameter.name] = value
        return arguments, named

    def _value(self, parameter):
        annotation = str(parameter.annotation)
        objects = [
            value
            for kind, held in self.pool.items()
            if any(base.__name__ in annotation for base in kind.__mro__[:-1])
            for value in held
        ]
        if objects and self.random.random() < 0.8:
            return self.random.choice(objects)
        if self.random.random() < 0.05:
            held = [value for values in self.pool.values() for value in values]
            if held:
                return self.random.choice(held)
        return self.values.plausible(parameter.name, annotation)

    def _objects(self, owner):
        return [
            value for kind, held in self.pool.items() if owner in kind.__mro__ for value in held
        ]


class _Compiling(event.Listener):
    """Whether a kernel is being compiled, which may take its time."""

    depth = 0

    def on_start(self, event):
        _Compiling.depth += 1

    def on_end(self, event):
        _Compiling.depth -= 1


def _late(signum, frame):
    if _Compiling.depth:
        signal.setitimer(signal.ITIMER_REAL, CALL_SECONDS)
    else:
        raise Late


def main(seconds, seed):
    """Fuzz for so many seconds; returns counts, faults, and errors that name no argument."""
    assert numba.config.BOUNDSCHECK, "bounds checks must be on"
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGALRM, _late)
    event.register("numba:compile", _Compiling())
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        fuzz = SurfaceFuzz(seed, Path(folder))
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            fuzz.run(seconds)
        os.chdir("/")
    fuzz.counts["names"] = len(fuzz.targets)
    return fuzz


if __name__ == "__main__":
    done = main(float(sys.argv[1]), int(sys.argv[2]))
    answer = {"counts": done.counts, "faults": done.faults, "unnamed": done.unnamed}
    print(json.dumps(answer, indent=1))
