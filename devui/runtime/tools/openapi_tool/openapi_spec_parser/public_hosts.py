"""Requests that reach public hosts only (adk-runtime 8.9).

A description from elsewhere, or a name that a model made up, must not open the way into the
network that the agent runs in.
"""

import asyncio
import ipaddress
import socket
from urllib.parse import urlsplit

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""The IPv4 addresses, as a network sees them that has only IPv6."""
_TUNNELS = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "2001::/32", "2002::/16")))
"""Addresses with an IPv4 address in them that may be of any network; no service has one today."""


class BlockedHost(ValueError):
    """The host is not public."""


class UnknownHost(ValueError):
    """The host has no address."""


async def public_addresses(url: str) -> list[str]:
    """The addresses of a URL's host, which are to be tried in this order.

    Going to one of them, and not to the host by its name, leaves no time to change it.

    Raises:
        BlockedHost: any of its addresses is not public.
        UnknownHost: it has none.
    """
    parts = urlsplit(url)
    name = parts.hostname or ""
    addresses = await _addresses(name, parts.port or parts.scheme)
    for address in addresses:
        if not _is_public(address):
            raise BlockedHost(
                f"The host {name!r} is in a private network ({address}). If that is where the"
                " service is meant to be, its developer allows it with"
                " OpenAPIToolset(allow_private_network_access=True)."
            )
    return addresses


async def _addresses(name: str, port: int | str) -> list[str]:
    try:
        return [str(ipaddress.ip_address(name))]
    except ValueError:
        loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnknownHost(f"The host {name!r} is not known: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _is_public(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.is_site_local or any(parsed in network for network in _TUNNELS):
            return False
        parsed = parsed.ipv4_mapped or (
            ipaddress.IPv4Address(parsed.packed[-4:]) if parsed in _NAT64 else parsed
        )
    return parsed.is_global and not parsed.is_multicast
