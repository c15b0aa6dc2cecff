"""The service in the test's own process: requests without a socket, and a clock by hand."""

import asyncio

import httpx

from hierbandits.service.service import Service
from hierbandits.service.service_app import service_app


class LocalService:
    """`with LocalService(folder) as local: local.request("GET", "/health")`.

    `kind` is Service or SharedService, and `options` are its own.  The event loop runs during
    requests only.
    """

    def __init__(self, folder, token=None, kind=Service, **options):
        self.service = kind(folder, **{"needs_tokens": False} | options)
        self.token, self._runner = token, asyncio.Runner()

    def __enter__(self):
        self.app = service_app(self.service)
        self._runner.run(self.service.start())
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://local")
        return self

    def __exit__(self, *error):
        self._runner.run(self._client.aclose())
        self._runner.run(self.service.stop())
        self._runner.close()

    def run(self, coroutine):
        """What a coroutine gives, in the event loop of the service."""
        return self._runner.run(coroutine)

    def request(self, method, path, token=None, headers=None, **options):
        """The answer to one request."""
        token, headers = token or self.token, dict(headers or {})
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return self.run(self._client.request(method, path, headers=headers, **options))

    def together(self, *requests):
        """The answers to requests that come at the same time: (method, path, options) each."""

        async def all_of_them():
            made = [self._client.request(m, p, **o) for m, p, o in requests]
            return await asyncio.gather(*made)

        return self.run(all_of_them())
