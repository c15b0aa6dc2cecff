import pytest
from support.servers import Server

from hierbandits.service.serve import is_loopback, serve


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_an_address_of_this_machine_alone(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "no.such.host.invalid"])
def test_an_address_that_others_reach(host):
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_without_tokens_nobody_else_is_served(tmp_path, host):
    with pytest.raises(ValueError, match="host must be a loopback address while there are no tok"):
        serve(tmp_path / "data", host=host, port=1)
    with pytest.raises(ValueError, match="host must be"):  # the folder is free again
        serve(tmp_path / "data", host=host, port=1)


def test_a_server_is_used_and_ends_in_order(tmp_path):
    with Server(tmp_path / "data", logs_requests=True) as server:
        client = server.client()
        client.put("/policies/p", json={"arms": ["x", "y"]}).raise_for_status()
        made = client.post("/policies/p/decisions", json={"task": "t", "id": "k"}).json()
        assert server.stop() in (0, -15)
        messages = [line["message"] for line in server.lines()]
        assert messages[-3:] == [
            "stopped",
            "Application shutdown complete.",
            f"Finished server process [{server.process.pid}]",
        ]
        server.start()
        assert server.client().get("/policies/p/decisions/k").json()["arm"] == made["arm"]


def test_one_folder_has_one_server(tmp_path):
    with (
        Server(tmp_path / "data"),
        pytest.raises(RuntimeError, match="another process serves"),
    ):
        Server(tmp_path / "data").start()


def test_tokens_made_later_are_needed_from_then_on(tmp_path):
    with Server(tmp_path / "data") as server:
        client = server.client()
        assert client.get("/policies").status_code == 200
        secret = server.token()
        for _ in range(100):
            if client.get("/policies").status_code == 401:
                break
            __import__("time").sleep(0.05)
        assert client.get("/policies").status_code == 401
        assert client.get("/policies").headers["www-authenticate"] == "Bearer"
        assert server.client(secret).get("/policies").status_code == 200
