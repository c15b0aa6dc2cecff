"""The command line: one thin command per library function, one file per command."""

# The terminal comes first: it says what is not installed.  The commands are in the order of --help.
from hierbandits.cli.terminal import app  # isort: skip
from hierbandits.cli.interruption import own_process  # isort: skip
from hierbandits.cli import (  # isort: skip
    inspect_command,
    learn_command,
    decide_command,
    reward_command,
    evaluate_command,
    serve_command,
    token_command,
    policy_command,
    rollout_command,
    explain_command,
    log_command,
    backup_command,
    doctor_command,
    move_command,
    policies_command,
    reproduce_command,
    sweep_command,
    bound_command,
)

__all__ = [
    "app",
    "backup_command",
    "bound_command",
    "decide_command",
    "doctor_command",
    "evaluate_command",
    "explain_command",
    "inspect_command",
    "learn_command",
    "log_command",
    "main",
    "move_command",
    "policies_command",
    "policy_command",
    "reproduce_command",
    "reward_command",
    "rollout_command",
    "serve_command",
    "sweep_command",
    "token_command",
]


def main() -> None:
    """Run the command line, in a process of its own."""
    own_process()
    app(prog_name="hierbandits")
