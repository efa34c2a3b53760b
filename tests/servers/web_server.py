"""A web server on loopback that answers as a test says, and remembers what it was asked."""

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request; the names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Said:
    """One answer. `cut` breaks the connection off after so many bytes of the body; 0 before the first line."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None


@dataclass
class WebServer:
    """`asked` is all that came in, in order; `url` has no slash at its end."""

    url: str
    port: int
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def web_server(answer: Callable[[Asked], Said], tls: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    """The server, running, over TLS if a context with a certificate is given."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = 30

        def setup(self) -> None:
            if tls is not None:
                self.request = tls.wrap_socket(self.request, server_side=True)
            super().setup()

        def finish(self) -> None:
            super().finish()
            if tls is not None:
                self.request.close()

        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline(65_537)
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", "0")))
            asked = Asked(self.command, self.path, headers, body)
            here.asked.append(asked)
            said = answer(asked)
            if said.cut == 0:
                self.close_connection = True
                return
            self.send_response(said.status)
            for name, value in {"content-length": str(len(said.body)), **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body[: said.cut])
            if said.cut is not None:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A client that goes away, or does not like the certificate, is what the tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    scheme = "http" if tls is None else "https"
    here = WebServer(f"{scheme}://127.0.0.1:{server.server_port}", server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
