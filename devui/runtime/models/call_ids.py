"""Ids for calls of tools that have none, by which services of chat completions know results.

Ids that the runtime made up are not in a request, and Gemini gives none (adk-runtime 9.4).
"""

from google.genai import types

from devui.runtime.copying import altered


class CallIds:
    """Gives calls an id each, and their results the same; one for each request."""

    def __init__(self) -> None:
        self._given = 0
        self._open: list[tuple[str | None, str]] = []
        """Name and id of the calls that were given one and have no result yet."""

    def parts(self, content: types.Content) -> list[types.Part]:
        """The parts of the next content, with ids where calls and results have none.

        A result without an id is that of the first such call of its name in the content before.
        """
        parts = content.parts or []
        if any(part.function_call for part in parts):
            self._open = []
        return [self._with_id(part) for part in parts]

    def _with_id(self, part: types.Part) -> types.Part:
        call, response = part.function_call, part.function_response
        if call and not call.id:
            return altered(part, function_call=altered(call, id=self._new(call.name)))
        if response and not response.id:
            return altered(part, function_response=altered(response, id=self._of(response.name)))
        return part

    def _new(self, name: str | None) -> str:
        self._given += 1
        call_id = f"call{self._given:05}"  # nine letters and digits: Mistral takes nothing else
        self._open.append((name, call_id))
        return call_id

    def _of(self, name: str | None) -> str | None:
        found = next((one for one in self._open if one[0] == name), None)
        if found is None:
            return None
        self._open.remove(found)
        return found[1]
