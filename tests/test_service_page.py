"""The page of the service is true: its quick start runs with curl, its tables name what exists."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from test_docs import is_part

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "service.md").read_text()
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:\n((?:    [^\n]*\n)+))?", re.DOTALL | re.MULTILINE)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_the_quick_start_prints_what_is_shown(tmp_path):
    blocks = BLOCK.findall(PAGE)
    assert len(blocks) >= 7
    assert all(shown for _, shown in blocks)
    mark = "--- next ---"
    script = "".join(f"{block}\necho; echo '{mark}'\n" for block, _ in blocks)
    folder = str(Path(sys.executable).parent)
    process = subprocess.Popen(
        ["bash", "-c", script.replace("8080", str(free_port()))],
        cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        start_new_session=True,
    )  # fmt: skip
    try:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if lines.count(f"{mark}\n") == len(blocks):
                break
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    printed = "".join(lines).split(f"{mark}\n")
    for (block, shown), text in zip(blocks, printed, strict=False):
        assert is_part(shown, text), f"{block}\nprints\n{text}\nand not\n{shown}\n{errors[-2000:]}"
    assert len(printed) == len(blocks) + 1


def test_all_metrics_are_in_the_table():
    from hierbandits.service.service_metrics import ServiceMetrics

    text = ServiceMetrics().text().decode()
    kinds = dict(re.findall(r"^# TYPE (hierbandits_\w+) (\w+)$", text, re.MULTILINE))
    names = {name for name in kinds if not name.endswith("_created")}
    assert len(names) >= 11
    table = PAGE.split("| metric |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(hierbandits_\w+)`", table)) == names


def test_alerts_are_about_metrics_that_are_there():
    table, rules = PAGE.split("| metric |")[1].split("\n\n", 1)
    for name in re.findall(r"hierbandits_\w+", rules.split("## Limits")[0]):
        assert f"`{name.removesuffix('_bucket')}`" in table


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("hierbandits.service", r"^ExecStart=\S+/hierbandits (.*)$"),
        ("Containerfile", r"^CMD (.*)$"),
    ],
)
def test_what_deployments_run_is_a_command(file, pattern):
    from typer.main import get_command

    from hierbandits.cli import app

    text = (ROOT / "deploy" / file).read_text()
    (line,) = re.findall(pattern, text, re.MULTILINE)
    words = shlex.split(line.strip("[]").replace(",", " "))
    assert words[0] == "serve"
    command = get_command(app)
    with command.make_context("hierbandits", words, resilient_parsing=False) as context:
        name, serve, rest = command.resolve_command(context, words)
        assert serve.make_context(name, rest, parent=context).params["data"].is_absolute()


def test_the_limits_are_those_of_the_code():
    from hierbandits.service import decision_ids, decision_operations, http_protocol, policy_book
    from hierbandits.service import service as whole

    table = PAGE.split("## Limits")[1]
    assert whole.MOST_BYTES == 1 << 20
    assert http_protocol.MOST_HEAD == 64 << 10
    assert f"| {http_protocol.PATIENCE:.0f} s each |" in table
    assert whole.PATIENCE == http_protocol.PATIENCE
    assert f"| {decision_operations.MOST_OF_A_ROUND:,} |" in table
    assert f"| {decision_ids.LONGEST} printable characters |" in table
    assert f"| {policy_book.LONGEST_NAME} letters, digits" in table
