"""A viser server that answers only those who were given its address.

viser itself listens on every interface, asks for no password, takes websocket handshakes from pages of any
origin, and lets every client open a public tunnel. Here the checks stand inside its own server, before any of
its code sees a request: the token of the address, the host that was asked for, and the page that asks. The
tunnel is taken away. After the start the checks are tried from outside, so a viser that no longer calls them
is not served.
"""

from __future__ import annotations

import hmac
import http.client
import io
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit

from routh.base.status import RouthError, optional

if TYPE_CHECKING:
    import viser
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request

LOOPBACK = "127.0.0.1"
_STARTING = threading.Lock()


class GuardError(RouthError):
    """The viewer's checks are not in force, so it was not started."""


class Guard:
    """Decides about each request of one server."""

    def __init__(self, host: str, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self.host, self.port = host, port

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"http://{_shown(self.host)}:{self.port}/?token={self.token}"

    def verdict(self, path: str, headers: dict[str, str]) -> tuple[int, dict[str, str]] | None:
        """Verdict: None to let it pass, else the status and headers (lower-case names) of the answer."""
        if not self._is_ours(headers.get("host", "")):
            return 421, {}
        query = parse_qs(urlsplit(path).query)
        given = query.get("token", [""])[-1]
        if not hmac.compare_digest(given.encode(), self.token.encode()):
            return 403, {}
        if headers.get("upgrade", "").lower() == "websocket":
            origin = urlsplit(headers.get("origin", ""))
            if origin.scheme != "http" or not self._is_ours(origin.netloc):
                return 403, {}
            return None
        if "websocket" not in query:  # the page must know under which address its websocket answers
            socket_address = f"ws://{headers['host']}/?token={self.token}"
            return 302, {"Location": f"/?token={self.token}&websocket={quote(socket_address, safe='')}"}
        return None

    def _is_ours(self, netloc: str) -> bool:
        names = {self.host, "localhost", LOOPBACK} if self.host == LOOPBACK else {self.host}
        if self.host in ("0.0.0.0", "::", ""):  # told to answer on every interface: any name may be meant
            return netloc.rpartition(":")[2] == str(self.port)
        return netloc in {f"{name}:{self.port}" for name in names}


def start(*, host: str = LOOPBACK, port: int = 0, title: str = "routh") -> tuple[viser.ViserServer, Guard]:
    """A guarded viser server; port 0 takes a free one.

    Raises
    ------
    GuardError
        Where requests without the token are answered after all.
    """
    viser = optional("viser", "view")
    serving = optional("websockets.asyncio.server", "view", "viser")
    guard = Guard(host, port or _free_port(host))
    with _STARTING:
        before = serving.serve
        vars(serving)["serve"] = _guarded(before, guard)
        try:
            with _silence():  # it prints an address without the token
                server = viser.ViserServer(host=host, port=guard.port, label=title, verbose=False)
        finally:
            vars(serving)["serve"] = before
    _take_tunnel_away(server)
    guard.port = int(server.get_port())
    if not _refuses(guard):
        server.stop()
        raise GuardError("this version of viser answers without the token; wanted viser 1.1")
    return server, guard


def stop(server: viser.ViserServer) -> None:
    """End a server, without a word."""
    with _silence():
        server.stop()


@contextmanager
def _silence() -> Iterator[None]:
    """Nothing that viser prints is seen, in a notebook neither, where rich goes past the standard output."""
    import rich

    before = rich.print
    rich.print = lambda *_, **__: None
    try:
        with redirect_stdout(io.StringIO()):
            yield
    finally:
        rich.print = before


def _guarded(serve: Callable[..., object], guard: Guard) -> Callable[..., object]:
    """websockets' ``serve`` with the guard in front of viser's own handler of requests."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    def serve_guarded(
        handler: object, *places: object, process_request: Callable[..., object], **options: object
    ) -> object:
        def checked(connection: ServerConnection, request: Request) -> object:
            headers = {name.lower(): value for name, value in request.headers.raw_items()}
            answer = guard.verdict(request.path, headers)
            if answer is None:
                return process_request(connection, request)
            code, further = answer
            return Response(
                code, http.client.responses.get(code, ""), Headers({**further, "Content-Length": "0"})
            )

        return serve(handler, *places, process_request=checked, **options)

    return serve_guarded


def _take_tunnel_away(server: viser.ViserServer) -> None:
    """No client may ask for a public address."""
    from viser import _messages

    for name in ("ShareUrlRequest", "ShareUrlDisconnect"):
        server._websock_server._incoming_handlers.pop(getattr(_messages, name), None)


def _refuses(guard: Guard) -> bool:
    """Whether a page and a handshake without the token are refused, asked over the network."""
    upgrade = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    host = LOOPBACK if guard.host in ("0.0.0.0", "") else guard.host
    for headers in ({}, upgrade):
        connection = http.client.HTTPConnection(host, guard.port, timeout=10)
        try:
            connection.request("GET", "/", headers=headers)
            if connection.getresponse().status not in (403, 421):
                return False
        except OSError:
            return False
        finally:
            connection.close()
    return True


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _shown(host: str) -> str:
    if host in ("0.0.0.0", ""):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
