"""Requests that reach public hosts only (adk-runtime 8.9).

A description from elsewhere, or a name that a model made up, must not open the way into the
network that the agent runs in.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit


class BlockedHost(ValueError):
    """The host is not public, or unknown."""


@dataclass(frozen=True, slots=True)
class PinnedHost:
    """A host and the address it was found at; going there leaves no time to change it."""

    name: str
    address: str

    def url(self, url: str) -> str:
        """The URL with the address in place of the host's name."""
        parts = urlsplit(url)
        address = f"[{self.address}]" if ":" in self.address else self.address
        port = f":{parts.port}" if parts.port else ""
        return parts._replace(netloc=address + port).geturl()


async def public_host(url: str) -> PinnedHost:
    """The host of a URL; raises BlockedHost if any of its addresses is not public."""
    loop = asyncio.get_running_loop()
    host = _Host.of(url)
    if host.is_address:
        return host.pinned([host.name])
    with host.known():
        found = await loop.getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM)
    return host.pinned([str(entry[4][0]) for entry in found])


def public_host_now(url: str) -> PinnedHost:
    """The same for code in a thread of its own, which may wait for the answer."""
    host = _Host.of(url)
    if host.is_address:
        return host.pinned([host.name])
    with host.known():
        found = socket.getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM)
    return host.pinned([str(entry[4][0]) for entry in found])


@dataclass(frozen=True, slots=True)
class _Host:
    """Where a URL leads, before its addresses are known."""

    name: str
    port: int | str

    @classmethod
    def of(cls, url: str) -> "_Host":
        parts = urlsplit(url)
        return cls(parts.hostname or "", parts.port or parts.scheme)

    @property
    def is_address(self) -> bool:
        try:
            ipaddress.ip_address(self.name)
        except ValueError:
            return False
        return True

    @contextmanager
    def known(self) -> Iterator[None]:
        """Around the question for its addresses."""
        try:
            yield
        except (OSError, UnicodeError) as error:
            raise BlockedHost(f"The host {self.name!r} is not known: {error}") from error

    def pinned(self, addresses: list[str]) -> PinnedHost:
        for address in addresses:
            if not _is_public(address):
                raise BlockedHost(
                    f"The host {self.name!r} is in a private network ({address}). If that is where"
                    " it is meant to be, the developer of the tool allows it with"
                    " allow_private_network_access=True."
                )
        return PinnedHost(self.name, addresses[0])


def _is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped:
        parsed = parsed.ipv4_mapped
    return parsed.is_global and not parsed.is_multicast
