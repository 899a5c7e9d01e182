"""`BaseCredentialExchanger`: makes a credential that can be sent from one that cannot.

See adk-runtime 8.6.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import AuthScheme


class CredentialExchangeError(Exception):
    """A login, a client or an account was not given a token."""


class ExchangeResult(NamedTuple):
    """The credential to use, and whether it is a new one."""

    credential: AuthCredential
    was_exchanged: bool


class BaseCredentialExchanger(ABC):
    """Exchanges one kind of credential (adk-runtime 8.6)."""

    @abstractmethod
    async def exchange(
        self, auth_credential: AuthCredential, auth_scheme: AuthScheme | None = None
    ) -> ExchangeResult:
        """The credential to send for the given one, which is left as it is.

        Raises CredentialExchangeError if there is none to be had.
        """
