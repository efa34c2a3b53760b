"""What the domain name system tells of a domain's servers. Only the domain is asked for."""

from typing import TYPE_CHECKING, Any

from workspace import ServerAway

if TYPE_CHECKING:
    from dns.resolver import Resolver

SECONDS = 8.0
"""How long one question may take, with all its tries."""


class Names:
    """Questions to the resolver of this machine, or to a given one."""

    def __init__(self, resolver: "Resolver | None" = None) -> None:
        self._resolver = resolver

    def services(self, name: str) -> tuple[tuple[str, int], ...]:
        """Host and port of those that give a service (`_imaps._tcp.example.org`), the preferred first (RFC 2782).

        Raises:
            ServerAway: if no name server answers.
        """
        found = sorted(self._ask(name, "SRV"), key=lambda one: (one.priority, -one.weight))
        hosts = [(str(one.target).rstrip(".").lower(), int(one.port)) for one in found]
        # A single dot says that there is decidedly no such service.
        return tuple((host, port) for host, port in hosts if host and port)

    def mail_hosts(self, domain: str) -> tuple[str, ...]:
        """The hosts that take the mail of a domain, the preferred first.

        Raises:
            ServerAway: if no name server answers.
        """
        found = sorted(self._ask(domain, "MX"), key=lambda one: one.preference)
        return tuple(str(one.exchange).rstrip(".").lower() for one in found)

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts kept under a name.

        Raises:
            ServerAway: if no name server answers.
        """
        return tuple(b"".join(one.strings).decode("utf-8", "replace") for one in self._ask(name, "TXT"))

    def _ask(self, name: str, kind: str) -> list[Any]:
        import dns.exception
        import dns.name
        import dns.resolver

        try:
            if self._resolver is None:
                self._resolver = dns.resolver.Resolver()
            return list(self._resolver.resolve(name, kind, search=False, lifetime=SECONDS))
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer, dns.name.NameTooLong, dns.name.LabelTooLong):
            return []
        except dns.exception.DNSException as error:
            raise ServerAway("No name server answers: this machine seems to be offline.") from error
