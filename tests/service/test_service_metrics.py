import re

from prometheus_client.parser import text_string_to_metric_families

from hierbandits.service.service_metrics import ServiceMetrics


def families(metrics):
    """All metrics by name."""
    return {one.name: one for one in text_string_to_metric_families(metrics.text().decode())}


def test_counts_are_written_for_prometheus():
    metrics = ServiceMetrics()
    metrics.decisions.labels("shop", "policy").inc(3)
    metrics.rewards.labels("shop", "learned").inc()
    metrics.latency.labels("decide").observe(0.003)
    found = families(metrics)
    (sample,) = [
        one for one in found["hierbandits_decisions"].samples if one.name.endswith("_total")
    ]
    assert sample.name == "hierbandits_decisions_total"
    assert (sample.labels, sample.value) == ({"policy": "shop", "group": "policy"}, 3.0)
    buckets = {
        one.labels["le"]: one.value
        for one in found["hierbandits_request_seconds"].samples
        if one.name.endswith("_bucket")
    }
    assert buckets["0.002"] == 0.0
    assert buckets["0.005"] == buckets["+Inf"] == 1.0


def test_names_follow_the_convention_and_no_label_is_unbounded():
    metrics = ServiceMetrics()
    for name, family in families(metrics).items():
        assert re.fullmatch(r"hierbandits_[a-z_]+", name)
        assert family.documentation
    labels = {
        label
        for collector in metrics.registry._collector_to_names
        for label in collector._labelnames
    }
    assert labels == {"operation", "status", "policy", "group", "guardrail"}


def test_gauges_are_filled_when_someone_looks():
    metrics, looks = ServiceMetrics(), []
    metrics.before_scrape(lambda: looks.append(1) or metrics.loaded.set(len(looks)))
    assert b"hierbandits_policies 1.0" in metrics.text()
    assert b"hierbandits_policies 2.0" in metrics.text()


def test_two_services_count_apart():
    one, other = ServiceMetrics(), ServiceMetrics()
    one.decisions.labels("shop", "policy").inc()
    assert b"shop" not in other.text()
