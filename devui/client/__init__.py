"""A client of the server's endpoints, for scripts, notebooks, the terminal and coding agents."""

from devui.client.client import UNDER_WAY, USER, Client
from devui.failures import Failed, Misused, MovedOn, NoServer, NotSignedIn, NotThere

__all__ = [
    "UNDER_WAY",
    "USER",
    "Client",
    "Failed",
    "Misused",
    "MovedOn",
    "NoServer",
    "NotSignedIn",
    "NotThere",
]
