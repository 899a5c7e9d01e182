"""What is sent to a model: contents, configuration, tools (adk-runtime 7.2, 7.3)."""

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
from devui.runtime.mistakes import Spelt, brief, place
from devui.runtime.models.llm_response import CacheMetadata

# Contents for code of others, which may change them in place (adk-runtime 7.3).
#
# A request has the contents of the session's events themselves: to copy a whole conversation for
# each request would take longer than all else. Code that may change them gets a list that copies
# what it takes out, and nothing else.


_NO_CONTENTS = (str, bytes, dict, list, types.Part)
"""What is put among the contents by mistake; whatever else behaves like a Content may be one."""
_PUT = (
    "it has to be a list of types.Content, such as"
    ' types.Content(role="user", parts=[types.Part(text=...)]).'
)


class OwnContents(list[types.Content]):
    """A list of contents, each of which becomes the list's own when it is first taken out.

    Until then it is what the list was made of: somebody else's. What is put in, and what is no
    Content, stays as it is. Otherwise a list like others; what makes a new list of it takes all
    that goes there out.
    """

    def __init__(self, contents: Iterable[types.Content] = ()) -> None:
        """Hold the contents without copying any."""
        super().__init__(contents)
        self._others = bytearray(b"\1") * len(self)
        """For each place whether its content is somebody else's still."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> types.Content: ...

    @overload
    def __getitem__(self, place: slice) -> list[types.Content]: ...

    def __getitem__(self, place: SupportsIndex | slice) -> types.Content | list[types.Content]:
        """One content, or a plain list of some; the list's own from now on."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        result = super().__getitem__(place)
        if self._others[place]:
            self._others[place] = False
            result = _own(result)
            super().__setitem__(place, result)
        return result

    def __iter__(self) -> Iterator[types.Content]:
        """All that are there by the time when they are reached, as of any list."""
        place = 0
        while place < len(self):
            yield self[place]
            place += 1

    def __reversed__(self) -> Iterator[types.Content]:
        """From the last one to the first."""
        for index in range(len(self) - 1, -1, -1):
            if index < len(self):
                yield self[index]

    @overload
    def __setitem__(self, place: SupportsIndex, content: types.Content) -> None: ...

    @overload
    def __setitem__(self, place: slice, content: Iterable[types.Content]) -> None: ...

    def __setitem__(self, place: SupportsIndex | slice, content: Any) -> None:
        """Put one in the place of another, or several in the places of a slice."""
        if isinstance(place, slice):
            content = list(content)
            super().__setitem__(place, content)
            self._others[place] = bytes(len(content))
        else:
            super().__setitem__(place, content)
            self._others[place] = False

    def __delitem__(self, place: SupportsIndex | slice) -> None:
        """Leave out one, or those of a slice."""
        super().__delitem__(place)
        del self._others[place]

    def append(self, content: types.Content) -> None:
        """Put one at the end."""
        super().append(content)
        self._others.append(False)

    def extend(self, contents: Iterable[types.Content]) -> None:
        """Put several at the end."""
        self[len(self) :] = contents

    def insert(self, place: SupportsIndex, content: types.Content) -> None:
        """Put one before a place."""
        super().insert(place, content)
        self._others.insert(place, False)

    def pop(self, place: SupportsIndex = -1) -> types.Content:
        """Take one out, for good."""
        if not self:
            return super().pop(place)  # which raises as of any list
        content = self[place]
        del self[place]
        return content

    def remove(self, content: types.Content) -> None:
        """Leave out the first that is equal."""
        del self[self.index(content)]

    def clear(self) -> None:
        """Leave out all."""
        del self[:]

    def reverse(self) -> None:
        """Turn the order round."""
        super().reverse()
        self._others.reverse()

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Put them in the order of `key`, which sees every one of them."""
        self[:] = sorted(self, key=key, reverse=reverse)

    def copy(self) -> list[types.Content]:
        """All of them, in a plain list."""
        return self[:]

    def __add__(self, others: list[Any]) -> list[Any]:
        """All of them and others, in a plain list."""
        return self[:] + others

    def __radd__(self, others: list[Any]) -> list[Any]:
        """Others and all of them, in a plain list."""
        return others + self[:]

    # As with any list, more may be put in than added.
    def __iadd__(self, contents: Iterable[types.Content]) -> Self:  # type: ignore[override,misc]
        """Put several at the end."""
        self.extend(contents)
        return self

    def __mul__(self, times: SupportsIndex) -> list[types.Content]:
        """All of them, several times, in a plain list."""
        return self[:] * times

    __rmul__ = __mul__

    def __imul__(self, times: SupportsIndex) -> Self:
        """Have all of them several times."""
        self[:] = self[:] * times
        return self

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[types.Content]]]:
        """A copy, shallow or deep, and what is pickled, is a plain list."""
        return list, (self[:],)

    def put_in(self) -> Iterator[types.Content]:
        """What has been put in or taken out, and what is in its place by now."""
        place = self._others.find(0)
        while place >= 0:
            yield super().__getitem__(place)
            place = self._others.find(0, place + 1)


@contextmanager
def own_contents(llm_request: LlmRequest, *, by: str) -> Iterator[None]:
    """While code of others has the request, what it takes out of the contents is its own.

    Args:
        llm_request: The request.
        by: Whose code that is.

    Raises:
        TypeError: it has put something else there.
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
            raise TypeError(f"After {by}, `llm_request.contents` holds {brief(content)}; {_PUT}")


def for_reading(contents: list[types.Content]) -> list[types.Content]:
    """The contents for who changes none of them: without copies."""
    return list.__getitem__(contents, slice(None)) if type(contents) is OwnContents else contents


def taken_out(contents: Any) -> Any:
    """What pydantic is to check: it would read a list past the list's own methods."""
    return contents[:] if type(contents) is OwnContents else contents


def _own(content: types.Content) -> types.Content:
    """A copy, down to the arguments of calls; files are shared, and what is no Content stays."""
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


# Contents of one request alone, such as a file that the model has asked for (adk-runtime 8.8).


class Aside(types.Content):
    """A content that is shown in one request, and never kept in the history.

    An instruction that had to move out of the system instruction, a memory, a file: it may stand
    behind what tools have just answered, and hides nothing of it (adk-runtime 6.3, 7.3, 8.8).
    """


def newest_first(contents: list[types.Content]) -> Iterator[types.Content]:
    """What has been said, from the last content on, past asides."""
    return (content for content in reversed(contents) if not isinstance(content, Aside))


# Settings of a request to be changed, while those they were made of stay (adk-runtime 7.2).


_DATA = frozenset({"timeout", "retry_options", "extra_body", "headers"})
"""HTTP options that are data; the others may hold a client or a context of TLS."""


def own_config(config: types.GenerateContentConfig) -> types.GenerateContentConfig:
    """A deep copy of the settings; what no copy can be made of in the HTTP options is shared."""
    options = config.http_options
    if options is None:
        return config.model_copy(deep=True)
    copy = config.model_copy(update={"http_options": None}).model_copy(deep=True)
    copy.http_options = own_http_options(types.HttpOptions.model_validate(options))
    return copy


def own_http_options(options: types.HttpOptions) -> types.HttpOptions:
    """A copy with data of its own, which shares clients and contexts of TLS."""
    data = {name: copy.deepcopy(value) for name, value in options if name in _DATA}
    return options.model_copy(update=data)


# Texts added to a system instruction, which may have any form that `google-genai` takes.
#
# ADK gives texts; callbacks and tools of one's own may put something else there (adk-runtime
# 9.1).


def prepended(text: str, present: types.ContentUnion | None) -> types.ContentUnion:
    """The present instruction in whichever form it has, after the text."""
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
    """The present instruction in whichever form it has, before the text."""
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
"""To be copied: each request needs one, and validating nothing takes ten times as long."""


class DeclaredTool(Protocol):
    """What a request needs of a tool: a BaseTool, which stands above it."""

    name: str

    def _get_declaration(self) -> types.FunctionDeclaration | None: ...

    def _origin(self) -> str: ...


class LlmRequest(Spelt):
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
        return copy_with(
            empty,
            contents=[],
            config=copy_with(_NO_CONFIG),
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

    def append_tools(self, tools: Sequence[DeclaredTool]) -> None:
        """Declare tools to the model; all of them share one declaration list.

        A tool without a declaration is skipped, and so is one that is declared already.

        Raises:
            DuplicateToolError: another tool has the same name.
            TypeError: a tool declares itself by something else than a FunctionDeclaration.
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
        self.config.tools = [*tools, copy_with(_NO_TOOL, function_declarations=declarations)]


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
        kind, details = _describe_media(part)
        if not kind:
            continue
        name = f"{kind}_{len(extra)}"
        texts.append(f"[See {name}{details}]")
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
    details = ", ".join(fact for fact in facts if fact)
    return kind, f" ({details})" if details else ""
