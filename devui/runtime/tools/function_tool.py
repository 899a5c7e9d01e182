"""`FunctionTool`: a function, as a tool."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.genai import types
from pydantic import BaseModel

from devui.runtime.calling import call
from devui.runtime.copying import altered
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.confirmation_gate import is_required, requirement, withheld
from devui.runtime.tools.effect import effect_of
from devui.runtime.tools.function_arguments import bound
from devui.runtime.tools.function_declaration import declare, declare_model
from devui.runtime.tools.function_signature import (
    CONTEXT_NAME,
    FunctionSignature,
    warn_of_contexts,
    warn_of_wrappers,
)
from devui.runtime.tools.tool_progress import ToolProgress

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class FunctionTool(BaseTool):
    """A tool that calls a function (adk-runtime 8.2).

    The declaration comes from the function's signature and docstring. Plain
    functions run in a thread, so they never hold up the event loop; `async def`
    functions run on it. A parameter annotated `ToolContext` (or one that is
    named `tool_context`) gets the context and is hidden from the model.

    A generator tells of its progress: what it yields becomes events, and the one value among
    them is the result; see `ToolProgress`. A function marked with `idempotent` may be called again
    where its result was lost.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        require_confirmation: bool | Callable[..., Any] = False,
    ) -> None:
        """Wrap a function, method, partial or callable object.

        Args:
            func: What to call.
            require_confirmation: Whether the user must agree to each call first; or a function of
                the same arguments that tells.

        Raises:
            ValueError: its signature cannot be read.
            TypeError: `require_confirmation` is something else.
        """
        self.func = func
        self.effect = effect_of(func)
        self._function_signature = FunctionSignature.of(func)
        self._require_confirmation = requirement(require_confirmation)
        signature = self._function_signature
        # An async function may run nodes, which tell events.
        self.emits_events = signature.is_generator or bool(signature.is_async and signature.context)
        self._ignore_params = [signature.context or CONTEXT_NAME, "input_stream"]
        """What the model is not told of; a subclass appends the parameters that it fills itself."""
        self._declaration_cache: dict[tuple[str, ...], types.FunctionDeclaration] = {}
        """By the parameters that are not told of."""
        super().__init__(
            name=self._function_signature.name, description=self._function_signature.doc
        )
        if signature.context is None:
            warn_of_contexts(signature, func)
            warn_of_wrappers(signature, func)

    def _get_declaration(self) -> types.FunctionDeclaration:
        if isinstance(self.func, type) and issubclass(self.func, BaseModel):
            return declare_model(self.func, self.description)
        hidden = tuple(self._ignore_params)
        if hidden not in self._declaration_cache:
            told = self._function_signature.without(hidden)
            self._declaration_cache[hidden] = declare(told, self.description)
        return altered(self._declaration_cache[hidden])

    def _get_mandatory_args(self) -> list[str]:
        """The parameters without a default that the model is told of."""
        return [
            name for name in self._function_signature.mandatory if name not in self._ignore_params
        ]

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context") -> Any:
        """Call the function with the arguments the model wrote.

        Mandatory arguments that are missing give the model an error to correct
        itself by; the function is not called then. Nor is it called before the user
        has agreed, if that is required. Exceptions pass through.
        """
        if names := [name for name in self._get_mandatory_args() if name not in args]:
            return {
                "error": (
                    f"{self.name}() was not called: it needs {', '.join(names)}."
                    " Call it again with all mandatory arguments."
                )
            }
        if (instead := await withheld(self, args, tool_context)) is not None:
            return instead
        signature = self._function_signature
        if not signature.is_generator:
            positional, named = bound(signature, args, tool_context)
            return await call(self.func, *positional, **named)
        progress = ToolProgress(self.name, tool_context)
        positional, named = bound(signature, args, progress.context)
        return await progress.follow(self.func(*positional, **named))

    async def check_require_confirmation(
        self, args: dict[str, Any], tool_context: "Context"
    ) -> bool:
        """Whether the user must agree to a call with these arguments (adk-runtime 8.5)."""
        required = self._require_confirmation
        return bool(required) and await is_required(required, args, tool_context)
