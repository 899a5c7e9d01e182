"""`AuthenticatedFunctionTool`: a function that is given a credential (adk-runtime 8.6)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager
from devui.runtime.tools.base_authenticated_tool import PENDING, credential_for_call
from devui.runtime.tools.function_tool import FunctionTool

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

_PARAMETER = "credential"


class AuthenticatedFunctionTool(FunctionTool):
    """Calls the function when its credential is ready; its parameter `credential` gets it.

    The model does not see that parameter. If the user has to be asked, the call waits.
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
            func: What to call.
            auth_config: The credential it needs; None for none.
            response_for_auth_required: What the model reads while the user is asked.

        Raises:
            ValueError: its signature cannot be read, or it is a generator function.
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
        given = {**args, _PARAMETER: credential}
        return await super().run_async(args=given, tool_context=tool_context)
