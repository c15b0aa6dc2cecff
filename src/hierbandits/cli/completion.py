"""What a shell offers when a person presses Tab: names of policies and of experiments."""


def policy_names(incomplete: str) -> list[tuple[str, str]]:
    """The policies whose names begin so, with what they do."""
    from hierbandits import POLICIES

    names = {name: recipe.summary for name, recipe in POLICIES.items()}
    return [(name, summary) for name, summary in names.items() if name.startswith(incomplete)]


def experiment_names(incomplete: str) -> list[tuple[str, str]]:
    """The experiments whose names begin so, with what they show."""
    from hierbandits.experiments import EXPERIMENTS

    names = {name: entry.summary for name, entry in EXPERIMENTS.items()}
    return [(name, summary) for name, summary in names.items() if name.startswith(incomplete)]
