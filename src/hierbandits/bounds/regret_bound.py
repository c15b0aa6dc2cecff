"""A regret bound, by its terms and constants."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A bound on Bayes regret: total = sqrt(2 d D m n (c1 m + c2) log(1 / delta)) + c3.

    D is d, or 1 in the finite-action form.  The terms add up to the total exactly: the root with
    c2 = 0, then what it grows by as the hyper-parameter has to be learned (c2 with c4 = 1), then
    by c4, and c3 in two parts.  The paper names the pieces m sqrt(c1 n) and sqrt(c2 m n); the
    second one by itself is `hyper_alone`, at least hyper_regret + concurrency_regret because
    sqrt(x + y) <= sqrt(x) + sqrt(y), so that task_regret + hyper_alone + c3 is looser.
    """

    constants: str  # "repaired" or "paper"
    total: float
    task_regret: float
    hyper_regret: float
    concurrency_regret: float
    forced_regret: float
    tail_regret: float
    hyper_alone: float
    variance: float
    c: float
    c1: float
    c2: float
    c3: float
    c4: float
    c_q: float
    sigma_max: float
    eta: float | None
    delta: float

    def rows(self) -> list[tuple[str, float, str]]:
        """Name, value and meaning of every term and constant, for printing."""
        values = [(name, getattr(self, name), text) for name, text in _MEANING.items()]
        return [row for row in values if row[1] is not None]


_MEANING = {
    "task_regret": "regret for learning the tasks: the bound if the hyper-parameter were known",
    "hyper_regret": "regret for learning the hyper-parameter, on top of that",
    "concurrency_regret": "price of concurrency: acting before a round's rewards are in",
    "forced_regret": "price of concurrency: the forced start in every task",
    "tail_regret": "regret where a confidence interval fails",
    "total": "the bound: the sum of the above",
    "hyper_alone": "the paper's hyper-parameter term, sqrt(2 d D m n c2 log(1 / delta))",
    "variance": "d (c1 m + c2), the bound on the sum of posterior variances V(m, n)",
    "c": "1 + lambda_1(Sigma_0) / sigma^2",
    "c1": "variance of learning one task, per dimension",
    "c2": "variance of learning the hyper-parameter, per dimension, c4 included",
    "c3": "forced start and tail",
    "c4": "sequential-concurrent ratio",
    "c_q": "largest variance of an arm from the hyper-parameter",
    "sigma_max": "largest standard deviation of an arm",
    "eta": "how well a spanning set of unit arms explores the worst direction",
    "delta": "probability that a confidence interval fails",
}
