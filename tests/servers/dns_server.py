"""A name server on loopback that knows what a test tells it, and remembers what it was asked."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset

Records = Mapping[tuple[str, str], list[str]]
"""Name without the last dot and kind of record -> the records as text."""


@dataclass
class NameServer:
    """`asked` is each name with the kind of record that was wanted; `broken` has it answer SERVFAIL."""

    records: Records
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    broken: bool = False

    def resolver(self) -> dns.resolver.Resolver:
        """One that asks this server alone."""
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers = ["127.0.0.1"]
        resolver.port = self.port
        return resolver

    def answer(self, packet: bytes) -> bytes:
        query = dns.message.from_wire(packet)
        question = query.question[0]
        name, kind = str(question.name).rstrip(".").lower(), dns.rdatatype.to_text(question.rdtype)
        self.asked.append((name, kind))
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        found = self.records.get((name, kind))
        if self.broken:
            response.set_rcode(dns.rcode.SERVFAIL)
        elif found:
            response.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, *found))
        elif not any(known == name for known, _ in self.records):
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()


@contextmanager
def name_server(records: Records) -> Iterator[NameServer]:
    """The server, running."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(("127.0.0.1", 0))
        server = NameServer(records, here.getsockname()[1])

        def serve() -> None:
            while True:
                packet, address = here.recvfrom(4096)
                if not packet:
                    return  # the end
                here.sendto(server.answer(packet), address)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
                end.sendto(b"", ("127.0.0.1", server.port))
            thread.join()
