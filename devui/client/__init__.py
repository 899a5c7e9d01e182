"""A client of the server's endpoints, for scripts, notebooks, the terminal and coding agents."""

from devui.client.client import UNDER_WAY, USER, Client
from devui.failures import (
    AuthenticationError,
    BadRequestError,
    ConflictError,
    DevuiError,
    NotFoundError,
    UnavailableError,
)

__all__ = [
    "UNDER_WAY",
    "USER",
    "AuthenticationError",
    "BadRequestError",
    "Client",
    "ConflictError",
    "DevuiError",
    "NotFoundError",
    "UnavailableError",
]
