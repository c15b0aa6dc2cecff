"""Run every soak for SOAK_SECONDS, or those that are named, and print their counts."""

import importlib
import os
import pkgutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))

sys.path.insert(0, str(HERE.parent))  # where tests find `support`
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")])
)
names = [one.name for one in pkgutil.iter_modules([str(HERE)]) if one.name != "__main__"]
failed = []
for name in sys.argv[1:] or names:
    print(f"{name}: {SECONDS:g} seconds", flush=True)
    try:
        counts = importlib.import_module(f"tests.soak.{name}").main(SECONDS)
    except Exception as error:
        failed.append(name)
        print(f"    FAILED: {error}")
    else:
        for what, count in counts.items():
            print(f"    {count:>12,} {what}")
sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
