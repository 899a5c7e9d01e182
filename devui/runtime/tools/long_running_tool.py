"""`LongRunningFunctionTool`: a function whose result arrives later."""

from collections.abc import Callable
from typing import Any

from google.genai import types

from devui.runtime.copying import altered
from devui.runtime.tools.function_tool import FunctionTool

_NOTE = (
    "NOTE: This operation takes long. If it has already answered with an intermediate or"
    " pending status, do not call it again."
)


class LongRunningFunctionTool(FunctionTool):
    """A function tool that may answer later (adk-runtime 8.4).

    Returning None pauses the turn after the function-call event; a client sends
    the function response when it has one. Returning a value gives the model an
    interim response.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        require_confirmation: bool | Callable[..., Any] = False,
    ) -> None:
        """Wrap a function; models are told that it takes long."""
        super().__init__(func, require_confirmation=require_confirmation)
        self.is_long_running = True

    def _get_declaration(self) -> types.FunctionDeclaration:
        declared = super()._get_declaration()
        told = "\n\n".join(filter(None, [declared.description, _NOTE]))
        return altered(declared, description=told)
