"""The card of an agent of another server: its purpose, and where messages go (adk-runtime 14)."""

import asyncio
import ipaddress
import json
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from a2a.client import A2ACardResolver
from a2a.client.card_resolver import parse_agent_card
from a2a.client.errors import AgentCardResolutionError as NoCardError
from a2a.types import AgentCard
from google.protobuf.json_format import ParseError

from devui.runtime.models.quoting import quote_agent

_WEB = ("http://", "https://")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WHERE = (
    "It is mostly at the server's address with AGENT_CARD_WELL_KNOWN_PATH behind it; an address"
    " without a path means that."
)
REFUSED = frozenset({401, 403})
CREDENTIALS = (
    'Give credentials: httpx_client=httpx.AsyncClient(headers={"Authorization": "Bearer ..."}).'
)
_LONGEST_DESCRIPTION = 1024
"""Characters of a description that came over the network."""


class AgentCardResolutionError(Exception):
    """There is no card, or none that can be used; the message says what to do."""


async def read_card(source: str, http: httpx.AsyncClient) -> AgentCard:
    """The card at an address or in a file.

    What comes over the network may only name addresses of the server that it came from: messages
    go there, and headers with credentials.

    Raises:
        AgentCardResolutionError: it cannot be had, or says nothing of where messages go.
    """
    if source.startswith(_WEB):
        card = await _fetched(source, http)
    else:
        card = await asyncio.to_thread(_from_file, Path(source))
    if not any(interface.url for interface in card.supported_interfaces):
        raise AgentCardResolutionError(
            f"The agent card {source!r} has no address for messages; its server has to put one"
            " into `supportedInterfaces`."
        )
    return card


def description_of(card: AgentCard, source: str | None) -> str:
    """What the card says that the agent is for, as other agents' models may read it.

    Words from the network are cut and quoted: they could pose as the developer's.
    """
    text: str = card.description
    if not text or source is None or not source.startswith(_WEB):
        return text
    cut = text[:_LONGEST_DESCRIPTION]
    return quote_agent(cut if cut == text else f"{cut} [...]")


async def _fetched(source: str, http: httpx.AsyncClient) -> AgentCard:
    origin = _origin(source)
    address = urlsplit(source)
    resolver = A2ACardResolver(http, f"{address.scheme}://{address.netloc}")
    path = f"{address.path}?{address.query}" if address.query else address.path
    try:
        card: AgentCard = await resolver.get_agent_card(relative_card_path=path)
    except NoCardError as error:
        raise AgentCardResolutionError(_why(source, error)) from error
    for interface in card.supported_interfaces:
        if _origin(interface.url) != origin:
            raise AgentCardResolutionError(
                f"The agent card {source!r} sends messages elsewhere, to {interface.url!r}. If you"
                " trust that server, save the card in a file and give its path."
            )
    return card


def _why(source: str, error: Exception) -> str:
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPStatusError):
        status = cause.response.status_code
        said = f"The server answers HTTP {status} instead of the agent card {source!r}."
        return f"{said} {CREDENTIALS}" if status in REFUSED else f"{said} {_WHERE}"
    if isinstance(cause, httpx.RequestError):
        reason = str(cause) or type(cause).__name__
        return f"The agent card {source!r} cannot be fetched: {reason}. Is the server running?"
    return f"What {source!r} gives is no agent card: {error}. {_WHERE}"


def _from_file(path: Path) -> AgentCard:
    try:
        return parse_agent_card(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise AgentCardResolutionError(
            f"There is no agent card file {str(path)!r}; give a path that is right from"
            f" {str(Path.cwd())!r}, or an address that begins with http:// or https://."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise AgentCardResolutionError(f"The agent card {path} cannot be read: {error}") from error
    except (ValueError, ParseError) as error:
        raise AgentCardResolutionError(
            f"{path} holds no agent card: {error}. It has to be the JSON that the other server"
            " gives at its AGENT_CARD_WELL_KNOWN_PATH."
        ) from error


def _origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of an address to which messages may be sent."""
    try:
        address = urlsplit(url)
        port = address.port or _DEFAULT_PORTS.get(address.scheme)
    except ValueError as error:
        raise AgentCardResolutionError(f"{url!r} is no address: {error}.") from error
    host = address.hostname or ""
    if address.scheme not in _DEFAULT_PORTS or not host:
        raise AgentCardResolutionError(
            f"{url!r} is no address of a server; it has to begin with https://, and name a host."
        )
    if address.scheme == "http" and not _is_this_machine(host):
        raise AgentCardResolutionError(
            f"{url!r} is not encrypted, so that anyone on the way could answer for the agent; use"
            " https://. Only this machine itself may be asked by http://."
        )
    return address.scheme, host, port


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
