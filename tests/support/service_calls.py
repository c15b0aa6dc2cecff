"""Calls of the service over connections that stay open, as quick as the standard library is."""

import http.client
import json

BROKEN = (OSError, http.client.HTTPException)
"""What a call raises whose answer never came."""


class Refused(Exception):
    """An answer that is not the one that was hoped for."""

    def __init__(self, path, status, body):
        super().__init__(f"{path}: {status} {body}")
        self.status = status


class Line:
    """One connection to a server; not for several threads."""

    def __init__(self, port, timeout=60):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def call(self, method, path, body=None):
        """The status and the JSON of the answer."""
        self._connection.request(method, path, None if body is None else json.dumps(body))
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")

    def get(self, path):
        """What is there; anything else than 200 is an error."""
        status, found = self.call("GET", path)
        if status != 200:
            raise Refused(path, status, found)
        return found

    def post(self, path, body):
        """The answer; anything else than 200 is an error."""
        status, found = self.call("POST", path, body)
        if status != 200:
            raise Refused(path, status, found)
        return found

    def close(self):
        self._connection.close()
