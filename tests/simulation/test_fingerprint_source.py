"""A change of any file of the package, in whatever folder, renews every fingerprint."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hierbandits

PACKAGE = Path(hierbandits.__file__).parent

DIGEST = """
from hierbandits.simulation.fingerprint import fingerprint
print(fingerprint(1))
"""

DIGESTS_OF_CHANGES = """
import json, sys
from pathlib import Path
import hierbandits
from hierbandits.simulation import fingerprint as module

package = Path(hierbandits.__file__).parent

def digest():
    module._package_source.cache_clear()  # it is read once in a process
    return module.fingerprint(1)

before, changed = digest(), {}
for path in sorted(path for path in package.rglob("*") if path.is_file()):
    content = path.read_bytes()
    path.write_bytes(content + b"#")
    changed[str(path.relative_to(package))] = digest()
    path.write_bytes(content)
json.dump({"before": before, "changed": changed, "after": digest()}, sys.stdout)
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package, which processes started by `_run` import."""
    copy = tmp_path / "hierbandits"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _run(code, package):
    environment = {
        **os.environ,
        "PYTHONPATH": str(package.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return result.stdout


def test_every_file_of_the_package_is_part_of_the_fingerprint(package):
    """One byte more in any file is another fingerprint, and each file's is its own."""
    digests = json.loads(_run(DIGESTS_OF_CHANGES, package))
    every = (path for path in PACKAGE.rglob("*") if path.is_file())
    files = {str(path.relative_to(PACKAGE)) for path in every if "__pycache__" not in path.parts}
    assert set(digests["changed"]) == files
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert {name.partition("/")[0] for name in files if "/" in name} == folders
    assert {"__init__.py", "checks.py", "kernels/dense.py", "policies/arms.py"} < files
    assert len({digests["before"], *digests["changed"].values()}) == 1 + len(files)
    assert digests["after"] == digests["before"]


def test_a_new_process_sees_a_changed_file(package):
    before = _run(DIGEST, package)
    assert _run(DIGEST, package) == before
    path = package / "kernels" / "dense.py"
    path.write_bytes(path.read_bytes() + b"\n")
    assert _run(DIGEST, package) != before


def test_a_new_file_in_a_folder_below_a_folder_counts(package):
    before = _run(DIGEST, package)
    deeper = package / "policies" / "deeper"
    deeper.mkdir()
    (deeper / "new.py").write_text("answer = 42\n")
    assert _run(DIGEST, package) != before


def test_the_folder_of_the_package_does_not_matter(package):
    from hierbandits.simulation.fingerprint import fingerprint

    assert _run(DIGEST, package).strip() == fingerprint(1)
