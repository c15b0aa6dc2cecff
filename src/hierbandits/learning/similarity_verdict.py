"""How alike tasks are, in plain sentences; and what cannot be told of that."""

import numpy as np

from hierbandits.learning.sentence import Claim, Sentence, listed, number
from hierbandits.learning.task_similarity import Similarity
from hierbandits.reporting.rounding import in_percent, short_percents
from hierbandits.types import Mask, Vector

REPEATED = 100.0  # a condition number from which features are too much alike


def on_similarity(similarity: Similarity) -> list[Sentence]:
    """How alike tasks are, in rewards."""
    sentences = what_is_not_told(similarity)
    told = similarity.told
    if told.any():
        sentences += [*_on_share(similarity), *_on_needs(similarity)]
        unsure = similarity.named(similarity.maybe_zero & told)
        if unsure and not similarity.maybe_zero[told].all():
            text = f"The log does not tell the task width from zero for {listed(unsure)}."
            sentences.append(Sentence(Claim.WIDTHS_MAYBE_ZERO, text, about=unsure))
    if similarity.condition > REPEATED:
        text = (
            f"Features nearly repeat each other (condition number {similarity.condition:.2g}), so "
            "that the log hardly tells in which of them tasks differ: widths of such features can "
            "be far off. A feature far from zero repeats a constant one: subtract its mean first."
        )
        sentences.append(Sentence(Claim.NEARLY_REPEATED, text))
    if not similarity.converged:
        text = "The fit did not converge: take its widths with care."
        sentences.append(Sentence(Claim.NOT_CONVERGED, text))
    return sentences


def what_is_not_told(similarity: Similarity) -> list[Sentence]:
    """What this log cannot tell apart, whatever the numbers say."""
    sentences, seen = [], similarity.tasks_seen > 0
    if not similarity.is_noise_told:
        few = "No" if similarity.repeats == 0 else "Hardly a"
        has = "two rewards of one arm" if similarity.is_armed else "more rewards than features"
        text = f"{few} task has {has}, so that differences between tasks and noise cannot be told "
        sentences.append(Sentence(Claim.NOISE_NOT_TOLD, text + "apart."))
    if len(similarity.populations) > 1 and not similarity.pairs_seen.any():
        text = (
            "No population has two tasks to compare, so that differences between tasks and "
            "between populations cannot be told apart."
        )
        sentences.append(Sentence(Claim.POPULATIONS_NOT_TOLD, text))
    elif lone := similarity.named(seen & (similarity.pairs_seen == 0)):
        text = f"Only one task has data of {listed(lone)}: how much tasks differ there, the log "
        sentences.append(Sentence(Claim.WIDTH_NOT_TOLD, text + "cannot tell.", about=lone))
    if never := similarity.named(~seen):
        what = (
            "Nobody played these arms:"
            if similarity.is_armed
            else "These features are always zero:"
        )
        text = f"{what} {listed(never)}. Of that the log says nothing."
        sentences.append(Sentence(Claim.NOT_PLAYED, text, about=never))
    return sentences


def _on_share(similarity: Similarity) -> list[Sentence]:
    of = "of the variance of rewards about what tasks have in common lies between tasks"
    low, high = (short_percents(end) for end in similarity.share_ends)
    if similarity.maybe_zero[similarity.told].all():
        text = (
            f"The log tells no task width from zero: tasks may not differ. At most {high} % {of}."
        )
        return [Sentence(Claim.MAYBE_NO_SHARE, text)]
    sure = in_percent(similarity.confidence)
    share = short_percents(similarity.overall_share)
    text = f"About {share} % ({sure} from {low} to {high}) {of}."
    return [Sentence(Claim.SHARE, text)]


def _on_needs(similarity: Similarity) -> list[Sentence]:
    """How many rewards a task needs, coordinate by coordinate where that differs."""
    told, zero = similarity.told, similarity.maybe_zero
    then = "before its own data weigh as much as what other tasks say"
    of = " of an arm" if similarity.is_armed else ""
    known, unsure = told & ~zero, told & zero
    least = _rewards(float(similarity.rewards_ends[0][unsure].min(initial=np.inf)))
    many = f"at least {least}"
    if known.any():
        many = f"about {_from_to(similarity, similarity.rewards_to_equal, known)}"
    more = f" ({least} at least where the width may be zero)"
    more = more if known.any() and unsure.any() else ""
    rewards = "reward" if many.endswith(" 1") else "rewards"
    text = f"A task needs {many} {rewards}{of}{more} {then}."
    return [Sentence(Claim.NEEDS, text, about=similarity.named(told))]


def _rewards(value: float) -> str:
    """Nobody has less than one reward."""
    return number(max(value, 1.0))


def _from_to(similarity: Similarity, values: Vector, which: Mask) -> str:
    """One number, or the least and the most with whose they are."""
    places = np.flatnonzero(which)
    least, most = (places[pick(values[places])] for pick in (np.argmin, np.argmax))
    ends = [_rewards(float(values[place])) for place in (least, most)]
    if ends[0] == ends[1]:
        return ends[0]
    names = [listed([similarity.coordinates[place]]) for place in (least, most)]
    return f"{ends[0]} ({names[0]}) to {ends[1]} ({names[1]})"
