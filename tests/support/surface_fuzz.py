"""A fuzz of every public name: whatever it is given, it must not reach outside its arrays.

    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=F python -m support.surface_fuzz SECONDS SEED MOST LEAST

MOST is how many seconds a call may take, LEAST how many calls are made at least.

Arguments are sound objects, those that earlier calls gave, or drawn by `Values`; some are spoilt.
The classes of what calls return are asked too, so that the surface is all that can be reached from
the public names.  Prints what was counted as JSON.
"""

import contextlib
import dis
import inspect
import io
import json
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from numba.core.errors import NumbaError

import hierbandits
from hierbandits import Belief
from support.hostile_values import Values
from support.public_surface import (
    all_classes,
    function_target,
    is_a,
    is_ours,
    public_values,
    targets_of,
)
from support.surface_cast import cast

OUT_OF_BOUNDS = "index is out of bounds"  # what a kernel says; numpy itself says more
MOST_MEMORY = 1 << 44  # far from what sound calls need, and from what hostile ones ask for
PACKAGE = Path(hierbandits.__file__).parent
VARIOUS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
ALSO = {
    "covs": ["hyper_cov", "task_cov"],
    "count": ["num_populations"],
    "table": ["features"],
    "old_reward": ["rewards"],
    "meta": ["parts"],
}
"""What messages call an argument in place of its name."""
HONEST = ("Agent.log",)  # says that nothing was rewarded yet: no argument is wrong
KEPT = 12  # objects of each class that calls gave
RENEWED = 20_000  # calls after which the sound objects are made anew


class Late(BaseException):
    """A call took too long."""


class SurfaceFuzz:
    """Calls public names with hostile arguments, and counts what happens."""

    def __init__(self, seed, folder, most):
        self.most = most  # seconds of a call
        self.values, self.random = Values(seed, folder), random.Random(seed)
        self.classes = all_classes()
        self.given = defaultdict(list)  # what calls gave, by class
        self.sound = defaultdict(list)  # sound objects, by class
        self.met = set()  # classes whose methods are called
        self.targets, self.spent, self.reached = [], [], set()
        self.counts, self.faults, self.unnamed = Counter(), Counter(), Counter()
        self.nameless = Counter()
        for name, value in public_values().items():
            if isinstance(value, type):
                self._meet(value, is_public=True)
            elif isinstance(value, dict):
                self._keep(list(value.values()), most=100)
            elif inspect.isfunction(value):
                self._add(function_target(name, value))
            else:
                self._keep(value)

    def run(self, seconds, least):
        """Call names for so long, and so many at least, those first that have had least time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end or self.counts["calls"] < least:
            if (self.counts["calls"] + 1) % RENEWED == 0:
                self.renew()
            few = self.random.sample(range(len(self.targets)), 8)
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
            self.values.fit(first[0])
        arguments = self._arguments(target)
        named = dict(arguments)
        places = [
            named.pop(one.name)
            for one in target.arguments
            if one.name in named and one.kind is one.POSITIONAL_ONLY
        ]
        self.counts["calls"] += 1
        try:
            result = _in_time(self.most, target.function, *first, *places, **named)
        except Late:
            self.counts["late"] += 1
            self._forget(first)
        except MemoryError:
            self.counts["refused for memory"] += 1
        except Exception as error:
            self._judge(target, error, arguments)
        else:
            self.counts["done"] += 1
            self.reached.add(target.name)
            self._keep(result)

    def _judge(self, target, error, arguments):
        """Count an error: of a kernel, or of the package and of no argument, it is a fault."""
        try:
            text = str(error)
        except Exception:  # it holds an object whose own text fails
            text = ""
        last = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{target.name}: {type(error).__name__} {text:.120} at {Path(last.filename).name}"
        what += f":{last.lineno}"
        if isinstance(error, NumbaError) or (
            isinstance(error, IndexError) and text == OUT_OF_BOUNDS
        ):
            self.counts["faults"] += 1
            self.faults[what] += 1
        elif _is_named(target, text, arguments):
            self.counts["refused by name"] += 1
        else:
            self.counts["refused otherwise"] += 1
            self.unnamed[what] += 1
            if _is_own(error) and target.name not in HONEST:
                self.nameless[what] += 1

    def _arguments(self, target):
        """What to give, by the names of the parameters."""
        arguments = {}
        places = range(len(target.arguments))
        spoilt = self.random.sample(places, min(self.random.choice([0, 0, 1, 1, 2]), len(places)))
        for place, parameter in enumerate(target.arguments):
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            is_optional = parameter.default is not parameter.empty and place not in spoilt
            if is_optional and self.random.random() < 0.7:
                continue
            value = self._value(parameter)
            if place in spoilt:
                value = self.values.spoilt(value)
            arguments[parameter.name] = value
        return arguments

    def _value(self, parameter):
        """An object of the parameter's class, or a value that suits its name."""
        annotation = str(parameter.annotation)
        words = {*re.findall(r"\w+", annotation), parameter.name.title().replace("_", "")}
        objects = []
        for name in sorted(words & set(self.classes)):
            objects += self._objects(self.classes[name])
        if self.random.random() < 0.9:
            objects = [one for one in objects if self.values.fits(one)]
        is_known = self.values.knows(parameter.name)
        if objects and self.random.random() < (0.5 if is_known else 0.8):
            value = self.random.choice(objects)
            self.values.fit(value)
            return value
        if self.random.random() < 0.02:
            return self.random.choice([one for held in self.given.values() for one in held])
        return self.values.plausible(parameter.name, annotation)

    def _objects(self, owner):
        """Objects of a class, mostly sound ones if there are any."""
        both = [self.sound, self.given]
        for held in both if self.random.random() < 0.7 else both[::-1]:
            found = [one for kind, ones in held.items() if is_a(kind, owner) for one in ones]
            if found:
                return found
        return []

    def renew(self):
        """Make sound objects anew, in place of those that calls have changed."""
        self.sound.clear()
        for value in cast():
            self.sound[type(value)].append(value)
            self._meet(type(value))

    def _meet(self, kind, is_public=False):
        """Call the methods of a class from now on, and make its objects if it is public."""
        if kind not in self.met:
            self.met.add(kind)
            for target in targets_of(kind):
                if is_public or target.owner is not None:
                    self._add(target)

    def _add(self, target):
        self.targets.append(target)
        self.spent.append(0.0)

    def _keep(self, value, most=KEPT):
        """Let what a call gave, or holds, be an argument later."""
        if isinstance(value, dict):
            value = list(value.values())
        for one in value if isinstance(value, list | tuple) and len(value) < 50 else ():
            if not isinstance(one, list | tuple | dict):
                self._keep(one, most)
        if not is_ours(type(value)) or inspect.isfunction(value) or isinstance(value, Exception):
            return
        self._meet(type(value))
        held = self.given[type(value)]
        held.append(value)
        if len(held) > most:
            held.pop(self.random.randrange(most))

    def _forget(self, objects):
        """Ask an object no more whose call was cut off in the middle."""
        for one in objects:
            for held in (self.given, self.sound):
                held[type(one)][:] = [other for other in held[type(one)] if other is not one]

    def report(self):
        """What was counted, what went wrong, and the names that no call got through."""
        missed = sorted({target.name for target in self.targets} - self.reached)
        parts = {"counts": self.counts, "faults": self.faults, "unnamed": self.unnamed}
        parts["nameless"] = self.nameless
        return parts | {"reached": sorted(self.reached), "missed": missed}


def _is_own(error):
    """Whether a statement `raise` of the package made this error."""
    step = error.__traceback__
    while step.tb_next is not None:
        step = step.tb_next
    code = step.tb_frame.f_code
    raised = dis.opname[code.co_code[step.tb_lasti]] == "RAISE_VARARGS"
    return raised and Path(code.co_filename).is_relative_to(PACKAGE)


def _is_named(target, text, arguments):
    """Whether a message names an argument; nothing is wrong if the call takes none.

    What the object that was asked is made of, a key of a mapping and a file's path say as much, and
    so does the plural.  A function whose argument is a `name` begins its messages with it.
    """
    names = [one.name for one in target.arguments if one.kind not in VARIOUS]
    if not names:
        return True
    if target.owner is not None:
        names += [name for name in inspect.signature(target.owner).parameters if name != "_"]
    names += _keys(arguments)
    names += [other for name in names for other in ALSO.get(name, [])]
    stems = "|".join(re.escape(name.removesuffix("s")) for name in names if name)
    files = [str(one) for one in arguments.values() if isinstance(one, str | Path)]
    is_label = not isinstance(arguments.get("name", ""), str)
    return (
        is_label or bool(re.search(rf"\b({stems})s?\b", text)) or any(one in text for one in files)
    )


def _keys(value):
    """All keys of a mapping, and of those in it."""
    if isinstance(value, list):
        return [key for one in value for key in _keys(one)]
    if not isinstance(value, dict):
        return []
    return [key for key in value if isinstance(key, str)] + _keys(list(value.values()))


def _in_time(most, function, *arguments, **named):
    """What a function gives, the first of it if it is a generator, unless it takes too long."""
    try:
        signal.setitimer(signal.ITIMER_REAL, most)
        result = function(*arguments, **named)
        return next(result, None) if inspect.isgenerator(result) else result
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _late(signum, frame):
    """Raise Late, but not in the midst of a compiler: it would be left half-way."""
    while frame is not None:
        if "numba" in frame.f_code.co_filename or "llvmlite" in frame.f_code.co_filename:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            return
        frame = frame.f_back
    raise Late


def _check_that_faults_are_seen(fuzz):
    """Reach outside an array on purpose, and be refused for what was not asked for."""
    belief = next(one for one in fuzz._objects(Belief) if not one.is_armed)
    table, rewards = np.ones((1, belief.dim)), np.ones(1)
    astray = np.array([belief.num_nodes + 1000])
    fuzz.call(function_target("astray", lambda: belief._raw_observe(astray, table, rewards)))
    assert list(fuzz.faults.values()) == [1], "bounds checks must be on"
    fuzz.call(function_target("another", lambda noise: belief.checked_nodes([-1])))
    assert list(fuzz.nameless.values()) == [1], "a refusal must name what was asked for"
    for seen in (fuzz.faults, fuzz.nameless, fuzz.unnamed, fuzz.counts):
        seen.clear()


def main(seconds, seed, most, least):
    """Fuzz for so many seconds in this process, which must check bounds; the report."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGALRM, _late)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        fuzz = SurfaceFuzz(seed, Path(folder), most)
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
            fuzz.renew()  # which compiles kernels, before the time runs
            _check_that_faults_are_seen(fuzz)
            fuzz.run(seconds, least)
        os.chdir("/")
    return fuzz.report()


if __name__ == "__main__":
    seconds, seed, most, least = sys.argv[1:]
    print(json.dumps(main(float(seconds), int(seed), float(most), int(least))))
