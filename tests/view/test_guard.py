"""The viewer answers those who have its address, and nobody else."""

import http.client
import socket

import pytest

pytest.importorskip("viser")

from routh.view import guard as guards

UPGRADE = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": "viser-v1.1.1",
}


@pytest.fixture(scope="module")
def served():
    server, guard = guards.start()
    yield server, guard
    server.stop()


def ask(guard, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", guard.port, timeout=600)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return (
            response.status,
            response.getheader("Location"),
            response.read() if response.status == 200 else b"",
        )
    finally:
        connection.close()


def test_the_address_leads_to_the_page_and_the_websocket(served):
    _, guard = served
    path = guard.address.partition(str(guard.port))[2]
    status, location, _ = ask(guard, path)
    assert status == 302
    status, _, page = ask(guard, location)
    assert status == 200
    assert b"<html" in page
    good = {**UPGRADE, "Origin": f"http://127.0.0.1:{guard.port}"}
    assert ask(guard, f"/?token={guard.token}", **good)[0] == 101


def test_a_hundred_requests_without_the_token_or_from_elsewhere_get_nothing(served):
    _, guard = served
    ours, token = f"http://127.0.0.1:{guard.port}", guard.token
    wrong = ["", "?token=", "?token=x", f"?token={token[:-1]}", f"?token={token}x", f"?Token={token}"]
    paths = [f"/{name}{query}" for query in wrong for name in ("", "index.html", "%2e%2e/x")]
    served_count = 0
    for path in paths:
        for headers in ({}, UPGRADE, {**UPGRADE, "Origin": ours}, {"Cookie": f"token={token}"}):
            served_count += ask(guard, path, **headers)[0] in (200, 101, 302)
    for origin in (
        "http://evil.example",
        f"http://evil.example:{guard.port}",
        "null",
        "",
        f"https://{ours[7:]}",
        f"http://127.0.0.1:{guard.port + 1}",
        f"{ours}.evil.example",
    ):
        for _ in range(5):
            served_count += ask(guard, f"/?token={token}", **{**UPGRADE, "Origin": origin})[0] == 101
    served_count += ask(guard, f"/?token={token}", **UPGRADE)[0] == 101  # no origin at all
    for host in ("evil.example", f"evil.example:{guard.port}", "127.0.0.1", "127.0.0.1:1"):  # DNS rebinding
        served_count += ask(guard, f"/?token={token}&websocket=x", Host=host)[0] in (200, 302)
    assert served_count == 0
    assert len(paths) * 4 + 7 * 5 + 5 > 100


def test_it_listens_on_loopback_only(served):
    """What listens everywhere hears all of 127.0.0.0/8, too: no name has to be resolved for this."""
    _, guard = served
    with socket.create_server(("0.0.0.0", 0)) as everywhere:
        if not reached("127.0.0.2", everywhere.getsockname()[1]):
            pytest.skip("127.0.0.2 is no address of this machine")
    assert reached("127.0.0.1", guard.port)
    assert not reached("127.0.0.2", guard.port)


def reached(host, port):
    try:
        socket.create_connection((host, port), timeout=600).close()
    except OSError:
        return False
    return True


def test_no_client_can_ask_for_a_tunnel(served):
    server, _ = served
    from viser import _messages

    handlers = server._websock_server._incoming_handlers
    assert _messages.ShareUrlRequest not in handlers
    assert _messages.ShareUrlDisconnect not in handlers


def test_a_server_whose_checks_do_not_hold_is_not_started(monkeypatch):
    monkeypatch.setattr(guards, "_guarded", lambda serve, guard: serve)
    with pytest.raises(guards.GuardError, match="answers without the token"):
        guards.start()


def test_each_server_has_a_token_of_its_own_and_frees_its_port():
    server, one = guards.start()
    other, two = guards.start()
    assert one.token != two.token
    assert one.port != two.port
    server.stop()
    other.stop()
    again, three = guards.start(port=one.port)
    assert three.port == one.port
    again.stop()


def test_nothing_is_printed_not_even_where_rich_knows_a_notebook(monkeypatch, capsys):
    import rich

    said = []
    monkeypatch.setattr(rich, "print", lambda *words, **_: said.append(words))
    server, _ = guards.start()
    guards.stop(server)
    assert said == []
    assert capsys.readouterr().out == ""
    assert rich.print("x") is None
    assert said == [("x",)]  # as it was
