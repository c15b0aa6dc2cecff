"""A regret bound: its terms, which add up to it, and the constants that they are made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RegretBound:
    """A bound on Bayes regret: total = sqrt(2 d D m n (c1 m + c2) log(1 / delta)) + c3.

    D is d, or 1 in the finite-action form.  Five terms add up to the total exactly:

        task_regret         the square root with c2 = 0
        hyper_regret        what it grows by if c2 is that of the sequential theorem (c4 = 1)
        concurrency_regret  what it grows by if c2 is then multiplied by c4
        forced_regret       the first part of c3
        tail_regret         the second part of c3

    The paper splits the root in another way, into m sqrt(c1 n) and sqrt(c2 m n).  The second of
    these, with its factors, is `hyper_alone`.  It is at least hyper_regret + concurrency_regret,
    because sqrt(x + y) <= sqrt(x) + sqrt(y); so task_regret + hyper_alone + c3 is a looser bound.
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
        """The name, the value and the meaning of every term and constant that has a value."""
        rows = [(name, getattr(self, name), meaning) for name, meaning in _MEANINGS.items()]
        return [row for row in rows if row[1] is not None]


_MEANINGS = {
    "task_regret": "regret for learning the tasks: the bound if the hyper-parameter were known",
    "hyper_regret": "regret for learning the hyper-parameter, in addition",
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
