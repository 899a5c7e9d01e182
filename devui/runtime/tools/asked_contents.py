"""What a model has just asked a tool to show it, for one request only (adk-runtime 8.8)."""

from collections.abc import Iterator

from devui.runtime.models.llm_request import LlmRequest


def names_asked_for(llm_request: LlmRequest, tool: str, key: str) -> Iterator[str]:
    """The names under `key` in the responses of the tool that the request ends with."""
    last = llm_request.contents[-1] if llm_request.contents else None
    for part in (last.parts if last else None) or []:
        response = part.function_response
        names = (response.response or {}).get(key) if response else None
        if response and response.name == tool and isinstance(names, list):
            yield from (name for name in names if isinstance(name, str))
