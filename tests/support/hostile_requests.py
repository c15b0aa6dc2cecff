"""Requests as a careless or a hostile client sends them, and what an answer must always be."""

import json
import time

from hierbandits.service.api_examples import EXAMPLES
from hierbandits.service.service_app import OPERATIONS

ODD = [
    "NaN", "Infinity", "-Infinity", "1e308", "-1e308", "1e999", "1e-999", "true", "false", "null",
    '"1.5"', '""', '"\\u0000"', '"\\ud800"', '"\U0001f600"', "[]", "{}", "[[1],[1,2]]", "[null]",
    "0", "-0.0", "-1", "9223372036854775808", "1" + "0" * 400, "1" * 5000, '{"a":{"b":[{}]}}',
    "[" * 500 + "]" * 500, '{"a":' * 300 + "1" + "}" * 300, '"' + "x" * 3000 + '"', "nul", "'a'",
    "0x10", "1_000", "01", ".5", "5.", "+1", "/* */1", "",
]  # fmt: skip
NAMES = [
    "shop", "shop", "shop", "deep", "linear", "absent", "%FF", "%00", "%", "%zz", "..", "a%2Fb",
    "%E2%80%AE", "x" * 300, "%C2%B2", "-5", "ü", "null", "%22shop%22", "a b", "?", "#", ";", "",
]  # fmt: skip
IDS = ["k1", "k2", "1.0.00000000", "ffffffffffffffff.ffffffff.ffffffff", "1.0", "-1.0.aaaaaaaa"]
SETTINGS = [
    {"arms": ["red", "blue"]},
    {"arms": {"red": [1.0, 0.0], "blue": [0.0, 1.0]}, "sticky": True},
    {"num_features": 3, "draws": 10},
    {"arms": [1, 2, "x"], "control_share": 0.5, "control_arm": 1, "rewards": "bernoulli"},
    {"arms": ["a", "b"], "mode": "shadow", "reward_wait": 0.001, "default_reward": 0.0},
]
WORDS = {
    "decide": [{"task": "ada"}, {"task": 7, "id": "k1", "arms": ["red"]}, {"task": ["a", "b"]},
               {"task": "t", "arms": {"x": [1, 2, 3], "y": [0, 0, 1]}, "best": True},
               {"task": "t", "played": "a"}, {"task": "t", "context": {"page": "home"}}],
    "put_policy": SETTINGS,
}  # fmt: skip
ROOM = {"x-request-id": "r" * 50}


def odd_text(rng, value):
    """A value as JSON in which one part is odd, or which is no JSON at all."""
    if rng.random() < 0.25:
        return rng.choice(ODD)
    if isinstance(value, dict) and value:
        name = rng.choice(list(value))
        parts = {one: json.dumps(part) for one, part in value.items()}
        parts[name] = odd_text(rng, value[name])
        if rng.random() < 0.1:
            del parts[name]
        if rng.random() < 0.1:
            parts["odd"] = rng.choice(ODD)
        return "{" + ",".join(f"{json.dumps(one)}:{part}" for one, part in parts.items()) + "}"
    if isinstance(value, list) and value:
        parts = [json.dumps(part) for part in value]
        parts[rng.randrange(len(parts))] = odd_text(rng, rng.choice(value))
        return "[" + ",".join(parts) + "]"
    return rng.choice(ODD)


def odd_body(rng, operation):
    """A body for an operation: sound, odd, cut off or of random bytes."""
    bodies = WORDS.get(operation.name) or [EXAMPLES.get(operation.name, (None, None))[0] or {}]
    value, kind = rng.choice(bodies), rng.random()
    if kind < 0.2:
        return json.dumps(value).encode()
    if kind < 0.85:
        return odd_text(rng, value).encode("utf-8", "surrogatepass")
    data = bytearray(json.dumps(value).encode())
    if kind < 0.93:
        return bytes(data[: rng.randrange(len(data) + 1)])
    for _ in range(3):
        data.insert(rng.randrange(len(data) + 1), rng.randrange(256))
    return bytes(data)


def odd_request(rng, operations=OPERATIONS):
    """A method, a path and a body for one of the operations, some part of which may be odd."""
    left_out = ["docs"] if rng.random() < 0.1 else ["docs", "delete_policy"]
    one = rng.choice([one for one in operations if one.name not in left_out])
    names = {"policy": NAMES, "id": [*IDS, *NAMES], "task": ["ada", "7", *NAMES], "arm": NAMES}
    path = one.path
    for name, some in names.items():
        for form in ("{%s}", "{%s:path}"):
            path = path.replace(form % name, rng.choice(some))
    if one.query and rng.random() < 0.7:
        word = rng.choice(["5", "0", "-1", "%C2%B2", "1e3", "x" * 50, "9" * 20, "%FF", ""])
        path += f"?{rng.choice(list(one.query))}={word}"
    method = one.method if rng.random() < 0.97 else rng.choice(["PATCH", "HEAD", "OPTIONS", "PUT"])
    return method, path, odd_body(rng, one) if one.takes is not None else b""


class Answers:
    """Checks every answer, and counts them."""

    def __init__(self):
        self.statuses, self.longest, self.took = {}, 0.0, []

    def check(self, request, response, seconds):
        status, told = response.status_code, f"{request!r:.500} -> {response.status_code}"
        assert status < 500, f"{told}: {response.text:.500}"
        if status >= 400 and request[0] != "HEAD":
            parts = response.json()
            form = {"errorCode", "errorDetails"} if "errorCode" in parts else {"code", "detail"}
            assert form <= set(parts), told
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if status >= 400:
            self.took.append(seconds)

    def percentile(self, share):
        """Milliseconds within which that share of the refusals came."""
        ordered = sorted(self.took)
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def send_odd_requests(send, rng, answers, number):
    """Send so many requests; `send(method, path, body)` gives the answer."""
    for _ in range(number):
        request = odd_request(rng)
        start = time.perf_counter()
        response = send(*request)
        answers.check(request, response, time.perf_counter() - start)
