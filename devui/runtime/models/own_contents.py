"""Contents for code of others, which may change them in place (adk-runtime 7.3).

A request has the contents of the session's events themselves: to copy a whole conversation for each
request would take longer than all else. Code that may change them gets a list that copies what it
takes out, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

from google.genai import types

from devui.runtime.copying import altered, json_copy
from devui.runtime.mistakes import given

if TYPE_CHECKING:
    from devui.runtime.models.llm_request import LlmRequest

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
        found = super().__getitem__(place)
        if self._others[place]:
            self._others[place] = False
            found = _own(found)
            super().__setitem__(place, found)
        return found

    def __iter__(self) -> Iterator[types.Content]:
        """All that are there by the time when they are reached, as of any list."""
        place = 0
        while place < len(self):
            yield self[place]
            place += 1

    def __reversed__(self) -> Iterator[types.Content]:
        """From the last one to the first."""
        for place in range(len(self) - 1, -1, -1):
            if place < len(self):
                yield self[place]

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
        found = self[place]
        del self[place]
        return found

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
        raise TypeError(f"After {by}, `llm_request.contents` is {given(contents)}; {_PUT}")
    for content in contents.put_in() if type(contents) is OwnContents else contents:
        if isinstance(content, _NO_CONTENTS):
            raise TypeError(f"After {by}, `llm_request.contents` holds {given(content)}; {_PUT}")


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
        return altered(content)
    return altered(content, parts=[_own_part(part) for part in content.parts])


def _own_part(part: types.Part) -> types.Part:
    call, response = part.function_call, part.function_response
    if call is not None:
        return altered(part, function_call=altered(call, args=json_copy(call.args)))
    if response is not None:
        own = altered(response, response=json_copy(response.response))
        return altered(part, function_response=own)
    return altered(part)
