"""What is sent to a model: contents, configuration, and the tools it may call."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Any, Self

from google.genai import types
from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr

from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.copying import altered, blank, exchanged
from devui.runtime.ignored import Spelt
from devui.runtime.mistakes import given, place
from devui.runtime.models.asides import Aside
from devui.runtime.models.cache_metadata import CacheMetadata
from devui.runtime.models.own_contents import taken_out
from devui.runtime.models.system_instruction import appended

if TYPE_CHECKING:
    from devui.runtime.tools.base_tool import BaseTool

logger = logging.getLogger(__name__)


_NO_CONFIG = types.GenerateContentConfig()
_NO_TOOL = types.Tool()
_NO_LIVE_CONFIG = types.LiveConnectConfig()
"""To be copied: each request needs one, and validating nothing takes ten times as long."""


class LlmRequest(Spelt):
    """One request to a model (adk-runtime 9.1).

    Its contents are the session's own `Content` objects, not copies: a model that
    wants to change one replaces it in the list by a changed copy. What callbacks, and steps of
    one's own in a flow, take out of the list is a copy.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, defer_build=True)

    model: str | None = None
    """The name of the model to ask."""
    contents: Annotated[list[types.Content], BeforeValidator(taken_out)] = Field(
        default_factory=list
    )
    """The conversation, oldest first."""
    config: types.GenerateContentConfig = Field(default_factory=lambda: altered(_NO_CONFIG))
    """Generation settings, system instruction and tool declarations."""
    live_connect_config: types.LiveConnectConfig = Field(
        default_factory=lambda: altered(_NO_LIVE_CONFIG), exclude=True
    )
    """Live mode, which is left out: there for code that copies requests, which share one."""
    # Typed Any at run time: tools stand above models in the order of imports.
    tools_dict: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """The tools behind the declarations, by name."""
    cache_config: ContextCacheConfig | None = None
    """The app's wishes for a cache of requests; models that have none leave it alone."""
    cache_metadata: CacheMetadata | None = None
    """The cache that the agent's latest response told of; counts this invocation as a user."""
    cacheable_contents_token_count: int | None = None
    """Tokens of the agent's latest request; only with a `cache_config`."""
    previous_interaction_id: str | None = None
    """For models whose provider keeps the conversation; callbacks may set it."""
    _beginning: int = PrivateAttr(default=0)
    """How many contents at the beginning, files of a static instruction, nothing is put before."""

    @classmethod
    def blank(cls) -> Self:
        """An empty request: without validation, which would cost more than filling it."""
        empty: Self = blank(cls)
        return altered(
            empty,
            contents=[],
            config=altered(_NO_CONFIG),
            tools_dict={},
        )

    def append_instructions(self, instructions: list[str] | types.Content) -> list[types.Content]:
        """Add to the system instruction, pieces separated by a blank line.

        One that is no string, which callbacks and tools may set, gets a part more.

        Non-text parts of a `Content` cannot stand in a system instruction: a
        reference takes their place, and they are appended to `contents`.

        Returns:
            The user contents that were appended for non-text parts.

        Raises:
            TypeError: `instructions` is neither a list of strings nor a Content.
        """
        if isinstance(instructions, types.Content):
            texts, extra = _split_instruction(instructions)
            self._append_text(texts)
            self.contents.extend(extra)
            if extra:
                self._beginning = len(self.contents)
            return extra
        if not isinstance(instructions, list):
            raise TypeError(
                "instructions must be a list of strings or a Content,"
                f" not {type(instructions).__name__}."
            )
        self._append_text(instructions)
        return []

    def put_history(self, history: list[types.Content]) -> None:
        """Join the conversation with the instructions that `contents` has so far.

        Files of a static instruction must stand at the same place in every request, so that
        providers can cache them: then all that is there stays at the beginning. Otherwise it goes
        before the user's last words.
        """
        instructions, self.contents = self.contents, history
        if not instructions:
            return
        if self._beginning:
            self.contents[:0] = instructions
            self._beginning = len(instructions)
        else:
            self.insert_before_user_turn(instructions)

    def insert_before_user_turn(self, contents: list[types.Content]) -> None:
        """Put contents of this request alone before the last run of words with the role `user`.

        Where a model goes on after the responses of its tools, that is after the responses, so
        that the contents before stay the same and can be cached (adk-runtime 6.3, 7.3).
        """
        start = len(self.contents)
        while start > self._beginning and _is_said(self.contents[start - 1]):
            start -= 1
        self.contents[start:start] = contents

    def append_tools(self, tools: list[BaseTool]) -> None:
        """Declare tools to the model; all of them share one declaration list.

        A tool without a declaration is skipped. Of two tools with one name the
        later one answers the calls, with a warning.

        Raises:
            TypeError: a tool declares itself by something else than a FunctionDeclaration.
        """
        declarations = []
        for tool in tools:
            declaration = tool._get_declaration()
            if declaration is None:
                continue
            if tool.name in self.tools_dict:
                logger.warning(
                    "Two tools are named %r: the earlier one can no longer be called."
                    " Rename one of them.",
                    tool.name,
                )
            try:
                name = declaration.name
            except AttributeError:
                raise TypeError(
                    f"{place(type(tool)._get_declaration)} of tool {tool.name!r} returned"
                    f" {given(declaration)}; it must return a types.FunctionDeclaration, or None."
                ) from None
            # The tool's own name decides: toolsets rename tools without knowing their declarations.
            if name != tool.name:
                declaration = declaration.model_copy(update={"name": tool.name})
            declarations.append(declaration)
            self.tools_dict[tool.name] = tool
        if declarations:
            self._append_declarations(declarations)

    def set_output_schema(
        self,
        output_schema: types.SchemaUnion | None = None,
        *,
        base_model: types.SchemaUnion | None = None,
    ) -> None:
        """Ask the model for JSON of this shape; `base_model` is its older name.

        Raises:
            ValueError: no shape is given.
        """
        schema = output_schema or base_model
        if schema is None:
            raise ValueError("set_output_schema needs an output_schema: a model class or a schema.")
        self.config.response_schema = schema
        self.config.response_mime_type = "application/json"

    def _append_text(self, texts: list[str]) -> None:
        if not texts:
            return
        try:
            text = "\n\n".join(texts)
        except TypeError as error:
            raise TypeError(f"instructions must be strings: {error}") from None
        self.config.system_instruction = appended(text, self.config.system_instruction)

    def _append_declarations(self, declarations: list[types.FunctionDeclaration]) -> None:
        tools = list(self.config.tools or [])
        for tool in tools:
            if isinstance(tool, types.Tool) and tool.function_declarations:
                tool.function_declarations.extend(declarations)
                return
        self.config.tools = [*tools, exchanged(_NO_TOOL, "function_declarations", declarations)]


def _is_said(content: types.Content) -> bool:
    if content.role != "user":
        return False
    return not any(part.function_response for part in content.parts or [])


def _split_instruction(content: types.Content) -> tuple[list[str], list[types.Content]]:
    """Texts for the system instruction, and user contents for what is not text."""
    texts: list[str] = []
    extra: list[types.Content] = []
    for part in content.parts or []:
        if part.text:
            texts.append(part.text)
            continue
        kind, described = _describe_media(part)
        if not kind:
            continue
        name = f"{kind}_{len(extra)}"
        texts.append(f"[See {name}{described}]")
        label = types.Part(text=f"This is {name}:")
        extra.append(Aside(role="user", parts=[label, part]))
    return texts, extra


def _describe_media(part: types.Part) -> tuple[str, str]:
    """The kind of a media part, and what is known about it in parentheses."""
    if part.inline_data:
        kind, data = "inline_data", part.inline_data
        facts = [data.display_name, data.mime_type]
    elif part.file_data:
        kind = "file_data"
        facts = [part.file_data.display_name, part.file_data.file_uri, part.file_data.mime_type]
    else:
        return "", ""
    known = ", ".join(fact for fact in facts if fact)
    return kind, f" ({known})" if known else ""
