"""`BaseAuthProvider`: provides the credentials of custom schemes (adk-runtime 8.6)."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_schemes import CustomAuthScheme
from devui.runtime.auth.auth_tool import AuthConfig

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class BaseAuthProvider(ABC):
    """Provides the credentials of a `CustomAuthScheme`."""

    @property
    def supported_auth_schemes(self) -> tuple[type[Any], ...]:
        """The classes of schemes that it provides credentials for."""
        return ()

    @abstractmethod
    async def get_auth_credential(
        self, auth_config: AuthConfig, context: "Context"
    ) -> AuthCredential | None:
        """Return the credential; with `oauth2.auth_uri` but no token, the user has to log in."""


# `AuthProviderRegistry`: providers by the class of scheme (adk-runtime 8.6).


class AuthProviderRegistry:
    """One provider for each class of scheme."""

    def __init__(self) -> None:
        self._providers: dict[type[Any], BaseAuthProvider] = {}

    def register(self, auth_scheme_type: type[Any], provider_instance: BaseAuthProvider) -> None:
        """Use this provider for the class, instead of an earlier one."""
        self._providers[auth_scheme_type] = provider_instance

    def specialize(self, scheme: CustomAuthScheme) -> CustomAuthScheme:
        """Return a scheme read from JSON as the registered class with its `type_`, if any."""
        for kind in self._providers if type(scheme) is CustomAuthScheme else ():
            if issubclass(kind, CustomAuthScheme) and _type_of(kind) == scheme.type_:
                return kind.model_validate(scheme.model_dump())
        return scheme

    def get_provider(self, auth_scheme: Any) -> BaseAuthProvider | None:
        """Return the provider for a scheme or a class of schemes; None if there is none."""
        scheme_type = auth_scheme if isinstance(auth_scheme, type) else type(auth_scheme)
        return self._providers.get(scheme_type)


def _type_of(kind: type[CustomAuthScheme]) -> Any:
    return kind.model_fields["type_"].default
