"""`BaseAuthProvider`: gives credentials of a scheme of one's own (adk-runtime 8.6)."""

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
        """The classes of schemes that it gives credentials for."""
        return ()

    @abstractmethod
    async def get_auth_credential(
        self, auth_config: AuthConfig, context: "Context"
    ) -> AuthCredential | None:
        """The credential; one with `oauth2.auth_uri` and no token sends the user to log in."""


# `AuthProviderRegistry`: providers by the class of scheme (adk-runtime 8.6).


class AuthProviderRegistry:
    """One provider for each class of scheme."""

    def __init__(self) -> None:
        self._providers: dict[type[Any], BaseAuthProvider] = {}

    def register(self, auth_scheme_type: type[Any], provider_instance: BaseAuthProvider) -> None:
        """Use this provider for the class, in place of one that was used before."""
        self._providers[auth_scheme_type] = provider_instance

    def specialize(self, scheme: CustomAuthScheme) -> CustomAuthScheme:
        """A scheme that was read from JSON as one of the class that has its `type_`, if known."""
        for kind in self._providers if type(scheme) is CustomAuthScheme else ():
            if issubclass(kind, CustomAuthScheme) and _type_of(kind) == scheme.type_:
                return kind.model_validate(scheme.model_dump())
        return scheme

    def get_provider(self, auth_scheme: Any) -> BaseAuthProvider | None:
        """The provider for a scheme or a class of schemes; None if there is none."""
        scheme_type = auth_scheme if isinstance(auth_scheme, type) else type(auth_scheme)
        return self._providers.get(scheme_type)


def _type_of(kind: type[CustomAuthScheme]) -> Any:
    return kind.model_fields["type_"].default
