"""What the service counts and measures, for Prometheus."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from hierbandits.service.rollout_state import FALSE_ALARMS, RolloutState

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


class ServiceMetrics:
    """Counters and histograms; their labels are policies, operations and codes, never tasks."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"hierbandits_{name}", what, labels, registry=self.registry)

        def histogram(name: str, what: str, buckets: Iterable[float], *labels: str) -> Histogram:
            return Histogram(
                f"hierbandits_{name}", what, labels, buckets=list(buckets), registry=self.registry
            )

        self.requests = counter("requests", "Requests by answer", "operation", "status")
        self.latency = histogram(
            "request_seconds", "Time to answer a request", _SECONDS, "operation"
        )
        self.decisions = counter("decisions", "Decisions made", "policy", "group")
        self.rewards = counter("rewards", "Rewards by what became of them", "policy", "status")
        self.expired = counter("expired_decisions", "Decisions that waited too long", "policy")
        self.commits = histogram("commit_seconds", "Time to store a batch", _SECONDS)
        self.batches = histogram("commit_events", "Events stored together", _SIZES)
        self.freshness = histogram(
            "freshness_seconds",
            "From the receipt of rewards until they are stored and decisions use them",
            _SECONDS,
            "policy",
        )

        def gauge(name: str, what: str, *labels: str) -> Gauge:
            return Gauge(f"hierbandits_{name}", what, labels, registry=self.registry)

        self.pending = gauge("pending_decisions", "Decisions that await their reward", "policy")
        self.evidence = gauge(
            "log_evidence_per_event",
            "How well the model foretells rewards, in nats; a fall says that it fits no more",
            "policy",
        )
        self.loaded = gauge("policies", "Policies that are served")
        self.ready = gauge("ready", "1 if all policies are loaded and can store what happens")
        self.share = gauge(
            "rollout_share", "The share of tasks that the policy decides for", "policy"
        )
        self.rolled_back = gauge("rolled_back", "1 if the policy is rolled back", "policy")
        self.guardrails = gauge(
            "guardrail_evidence",
            "That a guardrail is crossed: at 1 the policy is rolled back",
            "policy",
            "guardrail",
        )
        self.ratios = gauge(
            "sample_ratio_evidence", "That exposures of an arm are missing: 1 is an alarm", "policy"
        )
        self.ratio_alarms = gauge(
            "sample_ratio_off", "1 since exposures of an arm were found missing", "policy"
        )
        self._before: list[Callable[[], None]] = []

    def before_scrape(self, fill: Callable[[], None]) -> None:
        """Let gauges be filled before each look at the metrics."""
        self._before.append(fill)

    def show_rollout(self, policy: str, state: RolloutState) -> None:
        """How far a policy is rolled out, and what watches it."""
        self.share.labels(policy).set(state.ramp.share)
        self.rolled_back.labels(policy).set(state.ramp.phase == "rolled back")
        for guardrail, watch in state.watches.items():
            told = watch.told()
            self.guardrails.labels(policy, guardrail).set(told["evidence"] / told["needed"])
        if state.ratio is not None:
            self.ratios.labels(policy).set(state.ratio.evidence * FALSE_ALARMS)
            self.ratio_alarms.labels(policy).set(state.ratio_alarm)

    def forget_policies(self) -> None:
        """Let gauges say nothing of policies and guardrails that may be gone."""
        for gauge in (self.pending, self.evidence, self.share, self.rolled_back):
            gauge.clear()
        for gauge in (self.guardrails, self.ratios, self.ratio_alarms):
            gauge.clear()

    def text(self) -> bytes:
        """All metrics in Prometheus's text format."""
        for fill in self._before:
            fill()
        return generate_latest(self.registry)
