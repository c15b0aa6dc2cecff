"""Requests with one tenant's token for another's things: no answer may tell that they exist."""

import json

from hierbandits.service.api_examples import EXAMPLES
from hierbandits.service.service_app import OPERATIONS
from hierbandits.service.token_book import SCOPES

HIDDEN, ABSENT = "theirs", "absent"
SECRET_TASK, SECRET_ARM, SECRET_ID = "secret-task", "secret-arm", "secret-id"


class Tenants:
    """Two policies; tokens of all scopes that are good for one of them."""

    def __init__(self, send, make_token):
        self.send = send
        self.root = make_token("root", ["admin"], None)
        self.must("PUT", "/policies/mine", {"arms": ["x", "y"]})
        self.must("PUT", f"/policies/{HIDDEN}", {"arms": ["x", SECRET_ARM]})
        body = {"task": SECRET_TASK, "arms": [SECRET_ARM]}
        made = [self.must("POST", f"/policies/{HIDDEN}/decisions", body) for _ in range(3)]
        self.must("POST", f"/policies/{HIDDEN}/decisions", body | {"id": SECRET_ID})
        self.ids = [SECRET_ID, *(one["id"] for one in made)]
        begun = self.must("POST", f"/policies/{HIDDEN}/evaluations", {})
        self.evaluation = begun["id"]
        self.tokens = {scope: make_token(scope, [scope], ["mine"]) for scope in SCOPES}
        self.tokens["several"] = make_token("several", list(SCOPES), ["mine", "ours"])

    def must(self, method, path, body):
        response = self.send(method, path, json.dumps(body).encode(), self.root)
        assert response.status_code < 300, response.text
        return response.json()

    def probe(self, rng):
        """One probe in two forms, of what is hidden and of what is absent: the same answer."""
        token = self.tokens[rng.choice(list(self.tokens))]
        one = rng.choice([one for one in OPERATIONS if one.scope is not None])
        if "{policy}" not in one.path:
            return self._probe_of_all(one, token)
        id = rng.choice([*self.ids, "nobody", "1.0.00000000"])
        path = one.path.replace("{id:path}", id).replace("{id}", id)
        path = path.replace("{evaluation}", self.evaluation)
        task = rng.choice([SECRET_TASK, "nobody"])
        for form in ("{task:path}", "{task}", "{arm:path}", "{arm}"):
            path = path.replace(form, task if "task" in form else SECRET_ARM)
        body = json.dumps(EXAMPLES.get(one.name, ({}, None))[0] or {}).encode()
        if rng.random() < 0.2:
            body = b"{"
        answers = [
            self.send(one.method, path.replace("{policy}", name), body, token)
            for name in (HIDDEN, ABSENT)
        ]
        hidden, absent = ((one.status_code, _told(one)) for one in answers)
        assert hidden[0] == 404, (one.name, hidden)
        assert hidden[1].replace(HIDDEN, ABSENT) == absent[1], one.name
        assert hidden[0] == absent[0], one.name
        return 2

    def _probe_of_all(self, one, token):
        """What has no policy in its path tells of the caller's own alone."""
        body = json.dumps({"context": {"targetingKey": "ada"}}).encode()
        response = self.send(one.method, one.path, body, token)
        assert HIDDEN not in response.text, one.name
        assert "secret" not in response.text, one.name
        return 1

    def probe_own(self, rng):
        """Ids and tasks of another policy, asked of one's own: not known there."""
        id, token = rng.choice(self.ids), self.tokens["several"]
        value = json.dumps({"value": 1.0}).encode()
        for method, path, body in (
            ("GET", f"/policies/mine/decisions/{id}", b""),
            ("POST", f"/policies/mine/decisions/{id}/reward", value),
            ("PUT", f"/policies/mine/decisions/{id}/reward", value),
            ("GET", f"/policies/mine/evaluations/{self.evaluation}", b""),
            ("GET", f"/policies/mine/tasks/{SECRET_TASK}", b""),
            ("DELETE", f"/policies/mine/tasks/{SECRET_TASK}", b""),
        ):
            hidden = self.send(method, path, body, token)
            absent = self.send(method, self._absent(path, id), body, token)
            assert hidden.status_code == absent.status_code == 404, (path, hidden.text)
            assert self._absent(_told(hidden), id) == _told(absent)
        return 12

    def _absent(self, text, id):
        """A text with names of what is nowhere, in place of what is another policy's."""
        text = text.replace(id, "n" * len(id)).replace(SECRET_TASK, "nobody-here")
        return text.replace(self.evaluation, "e" * len(self.evaluation))


def _told(response):
    """All that an answer tells, but for the request's own id."""
    heads = {name: value for name, value in response.headers.items() if name not in _OWN}
    return json.dumps(heads) + response.text


_OWN = ("x-request-id", "date", "content-length")
