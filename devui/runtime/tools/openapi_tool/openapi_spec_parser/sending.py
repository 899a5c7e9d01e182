"""Sends a tool's request, but only to hosts that are allowed (adk-runtime 8.9)."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from devui.runtime.http_client import httpx, kinds
from devui.runtime.tools.openapi_tool.openapi_spec_parser.requests import Request

# Requests that reach public hosts only (adk-runtime 8.9).
#
# A description from elsewhere, or a name that a model made up, must not open the way into the
# network that the agent runs in.


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv4 addresses as seen in IPv6-only networks."""
_TUNNELS = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "2001::/32", "2002::/16")))
"""Ranges whose addresses contain an IPv4 address, maybe a private one; no service uses them now."""


class BlockedHost(ValueError):
    """The host isn't public."""


class UnknownHost(ValueError):
    """The host has no address."""


async def public_addresses(url: str) -> list[str]:
    """Return the addresses of a URL's host, to be tried in this order.

    Connecting to one of them instead of the host's name leaves no time to change it.

    Raises:
        BlockedHost: any of its addresses isn't public.
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
        entries = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnknownHost(f"The host {name!r} is not known: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def _is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.is_site_local or any(ip in network for network in _TUNNELS):
            return False
        ip = ip.ipv4_mapped or (ipaddress.IPv4Address(ip.packed[-4:]) if ip in _NAT64 else ip)
    return ip.is_global and not ip.is_multicast


HttpxClientFactory = Callable[[], httpx.AsyncClient]
"""Creates the client for one call, of httpx or httpx2; it is closed after the call."""

_PATIENCE = httpx.Timeout(600.0, connect=10.0, pool=10.0)
"""The time limits in seconds. A service may take long to answer: giving up early may lead to a
second call that repeats the work."""


async def send(
    request: Request,
    *,
    verify: bool | str | ssl.SSLContext,
    make_client: HttpxClientFactory | None,
    private: bool,
) -> Any:
    """Send a request, and return the service's response.

    Args:
        request: The request to send.
        verify: Whether and how to check the service's certificate, if there is no `make_client`.
        make_client: Returns the client to use, instead of one that waits ten minutes for a
            response.
        private: Whether the service may be in a private network. If not, redirects aren't followed,
            even if the client usually does.

    Raises:
        ValueError: a header or an address can't be sent, or the host is unknown or not public.
        HTTPError: the service can't be reached, or breaks off its response; the class is that of
            the client's library.
    """
    url = httpx.URL(request.url)
    if request.query:
        url = url.copy_merge_params(tuple(request.query))
    headers = dict(request.headers)
    if request.cookies:
        headers["Cookie"] = "; ".join(f"{name}={text}" for name, text in request.cookies.items())
    _check(headers)
    arguments = {"method": request.method, "headers": headers, **request.content}
    if make_client is not None:
        client = make_client()
    elif private:
        client = httpx.AsyncClient(verify=verify, timeout=_PATIENCE)
    else:
        # With its own transport, the client uses no proxy except the one looked up here.
        transport = httpx.AsyncHTTPTransport(verify=verify, proxy=_proxy(url))
        client = httpx.AsyncClient(transport=transport, timeout=_PATIENCE)
    async with client:
        if private:
            return await client.request(url=str(url), **arguments)
        return await _send_to_public(client, url, arguments)


async def _send_to_public(client: Any, url: Any, options: dict[str, Any]) -> Any:
    """Send a request to a host at one of its addresses, which were checked to be public.

    A proxy resolves the host itself, and may know names that are unknown here.
    """
    transport = client._transport_for_url(url)
    through_proxy = _is_proxy(transport)
    try:
        addresses = await public_addresses(str(url))
    except UnknownHost:
        if not through_proxy:
            raise
        addresses = []
    if through_proxy:
        return await client.request(url=str(url), follow_redirects=False, **options)
    _keep_transport(client, transport, {url.copy_with(host=each).host for each in addresses})
    for address in addresses[:-1]:
        try:
            return await _send_to(client, address, url, options)
        except kinds("ConnectError", "ConnectTimeout"):
            continue  # nothing was sent yet
    return await _send_to(client, addresses[-1], url, options)


def _is_proxy(transport: Any) -> bool:
    """Whether an httpx transport uses a proxy, from the client or from the environment."""
    is_known = isinstance(transport, kinds("AsyncHTTPTransport"))
    return is_known and "_proxy_url" in vars(transport._pool)


def _keep_transport(client: Any, transport: Any, addresses: set[str]) -> None:
    """Make a client use the host's transport for the addresses of the host, too.

    For other hosts, such as one that it asks for a token, it follows its own rules.
    """
    by_rules = client._transport_for_url
    vars(client)["_transport_for_url"] = lambda url: (
        transport if url.host in addresses else by_rules(url)
    )


async def _send_to(client: Any, address: str, url: Any, options: dict[str, Any]) -> Any:
    headers = {**options["headers"], "Host": url.netloc.decode()}
    return await client.request(
        url=str(url.copy_with(host=address)),  # a client of httpx doesn't accept a URL of httpx2
        follow_redirects=False,
        extensions={"sni_hostname": url.raw_host.decode()},
        **{**options, "headers": headers},
    )


def _proxy(url: Any) -> str | None:
    """Return the proxy that the environment sets for the host."""
    proxies = getproxies()
    address = proxies.get(url.scheme) or proxies.get("all")
    if not address or proxy_bypass(url.host):
        return None
    return address if "://" in address else f"http://{address}"


def _check(headers: Mapping[str, Any]) -> None:
    for name, text in headers.items():
        if not isinstance(text, str):
            continue  # the client accepts bytes, too
        odd = dict.fromkeys(
            letter for letter in text if not (letter.isascii() and letter.isprintable())
        )
        odd.pop("\t", None)
        if odd:
            characters = ", ".join(map(repr, odd))
            raise ValueError(
                f"the header {name} can hold printable ASCII characters only, not {characters}."
            )
