"""A network that breaks off, on loopback: what it lets through of each connection is told beforehand."""

import selectors
import socket
import struct
import threading
from collections.abc import Iterable

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close at once, which tells the other side "reset by peer"


class Proxy:
    """Passes bytes between whoever connects to `port` and a server on this machine.

    Each connection in turn is broken off once the server has sent as many bytes as `limits` says next, None for
    never; those that come after the last are not broken off. Every second one that breaks is reset, the others
    just end. With `stall` they stay open, and nothing comes any more. `slipped_in` is something that the server
    says, and what somebody in between adds to it.

    `connections` is how many there were, `received` how many bytes came from the server, `sent` all that was said
    to it.
    """

    def __init__(
        self,
        server_port: int,
        limits: Iterable[int | None] = (),
        *,
        stall: bool = False,
        slipped_in: tuple[bytes, bytes] = (b"", b""),
    ) -> None:
        self._server_port = server_port
        self._limits = iter(limits)
        self._stall = stall
        self._marker, self._slipped_in = slipped_in
        self._servers: set[socket.socket] = set()
        self._left: dict[socket.socket, int] = {}
        self._other: dict[socket.socket, socket.socket] = {}
        self.connections = 0
        self.received = 0
        self.sent = bytearray()

    def __enter__(self) -> "Proxy":
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._wake, self._woken = socket.socketpair()
        for one in (self._listener, self._woken):
            self._selector.register(one, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name="proxy")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._wake.send(b"x")
        self._thread.join()
        for one in (self._listener, self._wake, self._woken, *self._other):
            one.close()
        self._selector.close()

    def _serve(self) -> None:
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._woken:
                    return
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj in self._other:
                    self._pass_on(key.fileobj)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self._server_port))
        except OSError:
            client.close()
            return
        self.connections += 1
        self._other |= {client: server, server: client}
        self._servers.add(server)
        limit = next(self._limits, None)
        if limit is not None:
            self._left[server] = limit
        for one in (client, server):
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, one: socket.socket) -> None:
        try:
            data = one.recv(1 << 16)
            if one in self._left:
                data = data[: self._left[one]]
                self._left[one] -= len(data)
            if self._marker and self._marker in data and one in self._servers:
                data += self._slipped_in
            self._other[one].sendall(data)
        except OSError:
            data = b""
        if one in self._servers:
            self.received += len(data)
        else:
            self.sent += data
        if not data:
            self._end(one)
        elif self._left.get(one) == 0:
            self._break_off(one)

    def _break_off(self, server: socket.socket) -> None:
        if self._stall:
            self._selector.unregister(server)
            return
        if self.connections % 2:
            self._other[server].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._end(server)

    def _end(self, one: socket.socket) -> None:
        for side in (one, self._other.pop(one)):
            self._other.pop(side, None)
            self._left.pop(side, None)
            self._servers.discard(side)
            if side in self._selector.get_map():
                self._selector.unregister(side)
            side.close()
