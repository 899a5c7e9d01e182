"""`BaseAuthenticatedTool`: a tool that gets a credential (adk-runtime 8.6)."""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

PENDING = "The user has been asked for permission. Wait for the answer."
"""The result that the model reads until there is a credential."""


class BaseAuthenticatedTool(BaseTool):
    """Obtains its credential before a call; if the user must be asked, the call waits."""

    def __init__(
        self,
        *,
        name: str,
        description: str,
        auth_config: AuthConfig | None = None,
        response_for_auth_required: dict[str, Any] | str | None = None,
    ) -> None:
        """Describe the tool.

        Args:
            name: The name by which the model calls it.
            description: The description that the model reads.
            auth_config: The credential it needs; None if it needs none.
            response_for_auth_required: What the model reads while the user is being asked.
        """
        super().__init__(name=name, description=description)
        self._credentials_manager = CredentialManager(auth_config) if auth_config else None
        self._response_for_auth_required = response_for_auth_required

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context") -> Any:
        """Call the tool with its credential, or ask the user for it."""
        manager = self._credentials_manager
        credential = await credential_for_call(manager, tool_context)
        if manager and credential is None:
            return self._response_for_auth_required or PENDING
        return await self._run_async_impl(
            args=args, tool_context=tool_context, credential=credential
        )

    @abstractmethod
    async def _run_async_impl(
        self, *, args: dict[str, Any], tool_context: "Context", credential: AuthCredential | None
    ) -> Any:
        """Do what the model asked for; `credential` is None only without an auth_config."""


async def credential_for_call(
    manager: CredentialManager | None, tool_context: "Context"
) -> AuthCredential | None:
    """Return the credential for a call; None if it needs none or the user has been asked for it.

    With a manager, None means that the call has to wait.
    """
    if manager is None:
        return None
    credential = await manager.get_auth_credential(tool_context)
    if credential is None:
        await manager.request_credential(tool_context)
    return credential


# `AuthenticatedFunctionTool`: a function that gets a credential (adk-runtime 8.6).


_PARAMETER = "credential"


class AuthenticatedFunctionTool(FunctionTool):
    """Calls a function once its credential is ready, and passes it as `credential`.

    The model doesn't see that parameter. If the user must be asked, the call waits.
    """

    def __init__(
        self,
        *,
        func: Callable[..., Any],
        auth_config: AuthConfig | None = None,
        response_for_auth_required: dict[str, Any] | str | None = None,
    ) -> None:
        """Wrap a function.

        Args:
            func: Called with the model's arguments and the credential.
            auth_config: The credential it needs; None if it needs none.
            response_for_auth_required: What the model reads while the user is being asked.

        Raises:
            ValueError: its signature can't be read.
        """
        super().__init__(func=func)
        self._ignore_params.append(_PARAMETER)
        self._credentials_manager = CredentialManager(auth_config) if auth_config else None
        self._response_for_auth_required = response_for_auth_required

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context") -> Any:
        """Call the function with its credential, or ask the user for it."""
        manager = self._credentials_manager
        credential = await credential_for_call(manager, tool_context)
        if manager and credential is None:
            return self._response_for_auth_required or PENDING
        arguments = {**args, _PARAMETER: credential}
        return await super().run_async(args=arguments, tool_context=tool_context)
