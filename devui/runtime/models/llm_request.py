"""`LlmRequest`: the contents, settings and tools sent to a model (adk-runtime 7.2, 7.3)."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Protocol, Self, SupportsIndex, overload

from google.genai import types
from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr

from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.copying import blank, copy_with, json_copy
from devui.runtime.duplicate_tools import DuplicateToolError, is_same
from devui.runtime.mistakes import SpellCheckedModel, brief, place
from devui.runtime.models.llm_response import CacheMetadata

# Contents for user code, which may change them in place (adk-runtime 7.3).
#
# A request shares its contents with the session's events: copying the whole conversation for each
# request would take longer than everything else. Code that may change the contents gets a list
# that copies only the items it accesses.


_NO_CONTENTS = (str, bytes, dict, list, types.Part)
"""Types that are put among the contents by mistake; any other object may act as a Content."""
_PUT = (
    "it has to be a list of types.Content, such as"
    ' types.Content(role="user", parts=[types.Part(text=...)]).'
)


class OwnContents(list[types.Content]):
    """A list that copies each of its contents on first access.

    Until then, an item is the original, which the list shares. Items that are put in later, or
    aren't Contents, are never copied. Methods that return a new list access all items in it.
    """

    def __init__(self, contents: Iterable[types.Content] = ()) -> None:
        """Take the contents without copying any."""
        super().__init__(contents)
        self._others = bytearray(b"\1") * len(self)
        """For each item, 1 while it is the shared original."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> types.Content: ...

    @overload
    def __getitem__(self, place: slice) -> list[types.Content]: ...

    def __getitem__(self, place: SupportsIndex | slice) -> types.Content | list[types.Content]:
        """Return one content, or a plain list for a slice; both are copied on first access."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        result = super().__getitem__(place)
        if self._others[place]:
            self._others[place] = False
            result = _own(result)
            super().__setitem__(place, result)
        return result

    def __iter__(self) -> Iterator[types.Content]:
        """Yield the items, including any added meanwhile, as for any list."""
        place = 0
        while place < len(self):
            yield self[place]
            place += 1

    def __reversed__(self) -> Iterator[types.Content]:
        for index in range(len(self) - 1, -1, -1):
            if index < len(self):
                yield self[index]

    @overload
    def __setitem__(self, place: SupportsIndex, content: types.Content) -> None: ...

    @overload
    def __setitem__(self, place: slice, content: Iterable[types.Content]) -> None: ...

    def __setitem__(self, place: SupportsIndex | slice, content: Any) -> None:
        if isinstance(place, slice):
            content = list(content)
            super().__setitem__(place, content)
            self._others[place] = bytes(len(content))
        else:
            super().__setitem__(place, content)
            self._others[place] = False

    def __delitem__(self, place: SupportsIndex | slice) -> None:
        super().__delitem__(place)
        del self._others[place]

    def append(self, content: types.Content) -> None:
        """Append a content."""
        super().append(content)
        self._others.append(False)

    def extend(self, contents: Iterable[types.Content]) -> None:
        """Append several contents."""
        self[len(self) :] = contents

    def insert(self, place: SupportsIndex, content: types.Content) -> None:
        """Insert a content before an index."""
        super().insert(place, content)
        self._others.insert(place, False)

    def pop(self, place: SupportsIndex = -1) -> types.Content:
        """Remove a content and return it."""
        if not self:
            return super().pop(place)  # raises like any list
        content = self[place]
        del self[place]
        return content

    def remove(self, content: types.Content) -> None:
        """Remove the first equal content."""
        del self[self.index(content)]

    def clear(self) -> None:
        """Remove all contents."""
        del self[:]

    def reverse(self) -> None:
        """Reverse the contents in place."""
        super().reverse()
        self._others.reverse()

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sort in place, which copies every item that is still shared."""
        self[:] = sorted(self, key=key, reverse=reverse)

    def copy(self) -> list[types.Content]:
        """Return all items in a plain list."""
        return self[:]

    def __add__(self, others: list[Any]) -> list[Any]:
        return self[:] + others

    def __radd__(self, others: list[Any]) -> list[Any]:
        return others + self[:]

    # As with any list, `+=` accepts any iterable, whereas `+` needs a list.
    def __iadd__(self, contents: Iterable[types.Content]) -> Self:  # type: ignore[override,misc]
        self.extend(contents)
        return self

    def __mul__(self, times: SupportsIndex) -> list[types.Content]:
        return self[:] * times

    __rmul__ = __mul__

    def __imul__(self, times: SupportsIndex) -> Self:
        self[:] = self[:] * times
        return self

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[types.Content]]]:
        """Copy, shallowly or deeply, and pickle as a plain list."""
        return list, (self[:],)

    def put_in(self) -> Iterator[types.Content]:
        """Yield the items that have been accessed, replaced or added."""
        place = self._others.find(0)
        while place >= 0:
            yield super().__getitem__(place)
            place = self._others.find(0, place + 1)


@contextmanager
def own_contents(llm_request: LlmRequest, *, by: str) -> Iterator[None]:
    """Give user code its own copies of the contents that it accesses.

    Args:
        llm_request: The request.
        by: What the code is called in errors.

    Raises:
        TypeError: the code has put something other than Contents there.
    """
    llm_request.contents = OwnContents(llm_request.contents)
    try:
        yield
        _check(llm_request.contents, by)
    finally:
        llm_request.contents = for_reading(llm_request.contents)


def _check(contents: Any, by: str) -> None:
    if isinstance(contents, str | dict | types.Content | types.Part):
        raise TypeError(f"After {by}, `llm_request.contents` is {brief(contents)}; {_PUT}")
    for content in contents.put_in() if type(contents) is OwnContents else contents:
        if isinstance(content, _NO_CONTENTS):
            raise TypeError(f"After {by}, `llm_request.contents` contains {brief(content)}; {_PUT}")


def for_reading(contents: list[types.Content]) -> list[types.Content]:
    """Return the contents without copying any, for code that changes none."""
    return list.__getitem__(contents, slice(None)) if type(contents) is OwnContents else contents


def taken_out(contents: Any) -> Any:
    """Return a plain list for pydantic, which reads lists without calling their methods."""
    return contents[:] if type(contents) is OwnContents else contents


def _own(content: types.Content) -> types.Content:
    """Copy a Content, down to the arguments of calls but not files; return others unchanged."""
    if not isinstance(content, types.Content):
        return content
    if content.parts is None:
        return copy_with(content)
    return copy_with(content, parts=[_own_part(part) for part in content.parts])


def _own_part(part: types.Part) -> types.Part:
    call, response = part.function_call, part.function_response
    if call is not None:
        return copy_with(part, function_call=copy_with(call, args=json_copy(call.args)))
    if response is not None:
        own = copy_with(response, response=json_copy(response.response))
        return copy_with(part, function_response=own)
    return copy_with(part)


# Contents of a single request, such as a file that the model has asked for (adk-runtime 8.8).


class RequestOnlyContent(types.Content):
    """A content that is part of a single request, and never of the history.

    For example, an instruction moved out of the system instruction, a memory or a file. It may
    follow the latest tool responses without hiding them from code that looks for them
    (adk-runtime 6.3, 7.3, 8.8).
    """


def newest_first(contents: list[types.Content]) -> Iterator[types.Content]:
    """Iterate over the contents, newest first, without asides."""
    return (
        content for content in reversed(contents) if not isinstance(content, RequestOnlyContent)
    )


# Copies of a request's settings, so that changes don't affect the originals (adk-runtime 7.2).


_DATA = frozenset({"timeout", "retry_options", "extra_body", "headers"})
"""HTTP options that are plain data; the others may hold a client or a TLS context."""


def own_config(config: types.GenerateContentConfig) -> types.GenerateContentConfig:
    """Copy the settings deeply, except for HTTP options that can't be copied, which are shared."""
    options = config.http_options
    if options is None:
        return config.model_copy(deep=True)
    copy = config.model_copy(update={"http_options": None}).model_copy(deep=True)
    copy.http_options = own_http_options(types.HttpOptions.model_validate(options))
    return copy


def own_http_options(options: types.HttpOptions) -> types.HttpOptions:
    """Copy the data in the options, but share clients and TLS contexts."""
    data = {name: copy.deepcopy(value) for name, value in options if name in _DATA}
    return options.model_copy(update=data)


# Adding texts to a system instruction in any form that `google-genai` accepts.
#
# ADK uses strings; callbacks and custom tools may set something else (adk-runtime 9.1).


def prepended(text: str, present: types.ContentUnion | None) -> types.ContentUnion:
    """Put a text before the present instruction, whichever form it has."""
    if not present:
        return text
    if isinstance(present, str):
        return f"{text}\n\n{present}"
    if isinstance(present, types.Content):
        parts = [types.Part(text=text), *(present.parts or [])]
        return present.model_copy(update={"parts": parts})
    pieces: list[types.PartUnion] = list(present) if isinstance(present, list) else [present]
    return [text, *pieces]


def appended(text: str, present: types.ContentUnion | None) -> types.ContentUnion:
    """Put a text after the present instruction, whichever form it has."""
    if not present:
        return text
    if isinstance(present, str):
        return f"{present}\n\n{text}"
    if isinstance(present, types.Content):
        parts = [*(present.parts or []), types.Part(text=text)]
        return present.model_copy(update={"parts": parts})
    pieces: list[types.PartUnion] = list(present) if isinstance(present, list) else [present]
    return [*pieces, text]


logger = logging.getLogger(__name__)


_NO_CONFIG = types.GenerateContentConfig()
_NO_TOOL = types.Tool()
_NO_LIVE_CONFIG = types.LiveConnectConfig()
"""Copied for each request, since creating one with validation takes ten times as long."""


class DeclaredTool(Protocol):
    """What a request needs of a BaseTool, which belongs to a higher layer."""

    name: str

    def _get_declaration(self) -> types.FunctionDeclaration | None: ...

    def _origin(self) -> str: ...


class LlmRequest(SpellCheckedModel):
    """One request to a model (adk-runtime 9.1).

    Its contents are the session's own `Content` objects, not copies: to change one, a model
    replaces it in the list with a changed copy. Callbacks and custom flow steps get copies when
    they take items out of the list.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, defer_build=True)

    model: str | None = None
    """The name of the model to ask."""
    contents: Annotated[list[types.Content], BeforeValidator(taken_out)] = Field(
        default_factory=list
    )
    """The conversation, oldest first."""
    config: types.GenerateContentConfig = Field(default_factory=lambda: copy_with(_NO_CONFIG))
    """Generation settings, system instruction and tool declarations."""
    live_connect_config: types.LiveConnectConfig = Field(
        default_factory=lambda: copy_with(_NO_LIVE_CONFIG), exclude=True
    )
    """For code that copies requests: live mode isn't supported. Requests from `blank` share it."""
    # Typed as Any, since tools import models.
    tools_dict: dict[str, Any] = Field(default_factory=dict, exclude=True)
    """The tools behind the declarations, by name."""
    cache_config: ContextCacheConfig | None = None
    """The app's settings for caching requests; models without a cache ignore them."""
    cache_metadata: CacheMetadata | None = None
    """The cache that the agent's latest response reported; its uses include this invocation."""
    cacheable_contents_token_count: int | None = None
    """The tokens of the agent's latest request; set only with a `cache_config`."""
    previous_interaction_id: str | None = None
    """For models whose provider keeps the conversation; callbacks may set it."""
    _beginning: int = PrivateAttr(default=0)
    """How many contents, with the files of a static instruction, must stay at the beginning."""

    @classmethod
    def blank(cls) -> Self:
        """Create an empty request without validation, which would cost more than filling it."""
        empty: Self = blank(cls)
        return copy_with(
            empty,
            contents=[],
            config=copy_with(_NO_CONFIG),
            tools_dict={},
        )

    def append_instructions(self, instructions: list[str] | types.Content) -> list[types.Content]:
        """Extend the system instruction, with a blank line before each piece.

        If callbacks or tools have set an instruction that isn't a string, it gets another part.

        A system instruction can't hold the non-text parts of a `Content`: a reference takes
        their place, and they are added to `contents`.

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
        """Combine the conversation with the instructions that are in `contents` so far.

        They go before the user's latest message, unless there are files of a static instruction:
        these must have the same position in every request, so that providers can cache them. All
        instructions then stay at the beginning.
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
        """Insert contents of this request only, before the user's latest messages.

        If the latest contents are tool responses, insert after them, so that everything before
        stays the same and can be cached (adk-runtime 6.3, 7.3).
        """
        start = len(self.contents)
        while start > self._beginning and _is_said(self.contents[start - 1]):
            start -= 1
        self.contents[start:start] = contents

    def append_tools(self, tools: Sequence[DeclaredTool]) -> None:
        """Declare tools to the model, in a single list of declarations.

        Tools without a declaration, and tools that are declared already, are skipped.

        Raises:
            DuplicateToolError: another tool has the same name.
            TypeError: a tool's declaration is something other than a FunctionDeclaration.
        """
        declarations = []
        for tool in tools:
            declaration = tool._get_declaration()
            if declaration is None:
                continue
            if tool.name in self.tools_dict:
                existing = self.tools_dict[tool.name]
                if is_same(existing, tool):
                    continue
                raise DuplicateToolError(tool.name, existing._origin(), tool._origin())
            try:
                name = declaration.name
            except AttributeError:
                raise TypeError(
                    f"{place(type(tool)._get_declaration)} of tool {tool.name!r} returned"
                    f" {brief(declaration)}; it must return a types.FunctionDeclaration, or None."
                ) from None
            # The tool's own name wins: toolsets rename tools without changing their declarations.
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
        """Ask the model for JSON of this schema; `base_model` is the parameter's older name.

        Raises:
            ValueError: no schema is given.
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
        self.config.tools = [*tools, copy_with(_NO_TOOL, function_declarations=declarations)]


def _is_said(content: types.Content) -> bool:
    if content.role != "user":
        return False
    return not any(part.function_response for part in content.parts or [])


def _split_instruction(content: types.Content) -> tuple[list[str], list[types.Content]]:
    """Return texts for the system instruction, and user contents for parts that aren't text."""
    texts: list[str] = []
    extra: list[types.Content] = []
    for part in content.parts or []:
        if part.text:
            texts.append(part.text)
            continue
        kind, details = _describe_media(part)
        if not kind:
            continue
        name = f"{kind}_{len(extra)}"
        texts.append(f"[See {name}{details}]")
        label = types.Part(text=f"This is {name}:")
        extra.append(RequestOnlyContent(role="user", parts=[label, part]))
    return texts, extra


def _describe_media(part: types.Part) -> tuple[str, str]:
    """Return a media part's kind, and its details in parentheses; both are empty for others."""
    if part.inline_data:
        kind, data = "inline_data", part.inline_data
        facts = [data.display_name, data.mime_type]
    elif part.file_data:
        kind = "file_data"
        facts = [part.file_data.display_name, part.file_data.file_uri, part.file_data.mime_type]
    else:
        return "", ""
    details = ", ".join(fact for fact in facts if fact)
    return kind, f" ({details})" if details else ""
