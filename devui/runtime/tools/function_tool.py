"""`FunctionTool`: a function, as a tool."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.calling import call
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.function_arguments import convert, missing
from devui.runtime.tools.function_declaration import declare
from devui.runtime.tools.function_signature import FunctionSignature

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class FunctionTool(BaseTool):
    """A tool that calls a function (adk-runtime 8.2).

    The declaration comes from the function's signature and docstring. Plain
    functions run in a thread, so they never hold up the event loop; `async def`
    functions run on it. A parameter annotated `ToolContext` (or one that is
    named `tool_context`) gets the context and is hidden from the model.
    """

    def __init__(self, func: Callable[..., Any]) -> None:
        """Wrap a function, method, partial or callable object.

        Raises:
            ValueError: its signature cannot be read, or it is a generator function.
        """
        self.func = func
        self._signature = FunctionSignature.of(func)
        self._declaration: types.FunctionDeclaration | None = None
        super().__init__(name=self._signature.name, description=self._signature.doc)

    def _get_declaration(self) -> types.FunctionDeclaration:
        if self._declaration is None:
            self._declaration = declare(self._signature, self.description)
        return self._declaration.model_copy()

    async def run_async(self, *, args: dict[str, Any], tool_context: "Context") -> Any:
        """Call the function with the arguments the model wrote.

        Mandatory arguments that are missing give the model an error to correct
        itself by; the function is not called then. Exceptions pass through.
        """
        if names := missing(self._signature, args):
            return {
                "error": (
                    f"{self.name}() was not called: it needs {', '.join(names)}."
                    " Call it again with all mandatory arguments."
                )
            }
        named = convert(self._signature, args)
        positional = self._take_positional(named)
        if self._signature.context:
            named[self._signature.context] = tool_context
        return await call(self.func, *positional, **named)

    def _take_positional(self, named: dict[str, Any]) -> list[Any]:
        """Move the arguments of positional-only parameters out of `named`, in order."""
        positional = []
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY:
                break
            value = named.pop(name, parameter.default)
            positional.append(value)
        return positional
