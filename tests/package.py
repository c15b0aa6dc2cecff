"""Builds the wheel and the sdist, installs each in a clean environment, and tries it there.

python tests/package.py    # leaves both files in dist/; `make package` does the same

The wheel is built from the sdist.  It is tried alone and with its extra `all`; then the sdist
takes its place, as pip builds it.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
IN_SDIST = ("pyproject.toml", "README.md", "LICENSE", "Makefile", "tests/smoke.py")
IN_SDIST += ("src/hierbandits/dashboard/page/index.html",)
IN_SDIST += ("docs/index.md", "examples/messy_log.py", "src/hierbandits/py.typed")


def main() -> None:
    """Build, then install and try."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    _run([sys.executable, "-m", "build", "--outdir", dist, ROOT])
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = set(IN_SDIST) - names
    assert not missing, f"{sdist.name} lacks {sorted(missing)}"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "venv"
        venv.create(home, with_pip=True)
        python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        for number, (what, kind) in enumerate(
            [([wheel], "core"), ([f"{wheel}[all]"], "all"),
             (["--force-reinstall", "--no-deps", sdist], "all")]
        ):  # fmt: skip
            _run([python, "-m", "pip", "install", "--quiet", *what])
            here = Path(folder) / str(number)
            here.mkdir()
            _run([python, ROOT / "tests" / "smoke.py", kind], cwd=here)


def _run(words, cwd=None) -> None:
    """Run a command that knows nothing of this repository's sources."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([str(word) for word in words], env=environment, cwd=cwd, check=True)


if __name__ == "__main__":
    main()
