"""A service on this computer whose responses a test decides."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Response:
    """With `break_after`, the connection ends after this many bytes of the body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    break_after: int | None = None


def success(data: Any, status: int = 200) -> Response:
    return Response(status, json.dumps({"ok": True, "data": data}).encode())


def failure(status: int, code: str, **headers: str) -> Response:
    body = json.dumps({"ok": False, "code": code, "message": "A sentence."}).encode()
    return Response(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class LocalService:
    """`respond` is called with each request; several may run at once."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.respond: Callable[[Request], Response] = lambda request: success(None)
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Headers and body leave in one packet.
            wbufsize = 64 * 1024

            def handle_one(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Request(self.command, self.path, headers, self._body(headers))
                service.requests.append(request)
                self._send(service.respond(request))

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

            def _body(self, headers: dict[str, str]) -> bytes:
                if headers.get("transfer-encoding") != "chunked":
                    return self.rfile.read(int(headers.get("content-length", "0")))
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def _send(self, response: Response) -> None:
                self.send_response(response.status)
                for name, value in {"content-length": str(len(response.body)), **response.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(response.body[: response.break_after])
                if response.break_after is not None:
                    self.close_connection = True
                    self.wfile.flush()
                    self.connection.shutdown(socket.SHUT_RDWR)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def respond_in_turn(self, *responses: Response) -> None:
        """Give these responses; the last one also to all later requests."""
        left = list(responses)
        self.respond = lambda request: left.pop(0) if len(left) > 1 else left[0]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service() -> Iterator[LocalService]:
    local = LocalService()
    yield local
    local.close()
