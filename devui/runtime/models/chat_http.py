"""HTTP responses with chat completions: their parsing, retries and errors (adk-runtime 9.5)."""

import json
import random
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from devui.runtime.http_client import httpx
from devui.runtime.models.chat_dialect import Json

# When a request is retried, following OpenAI's own client (adk-runtime 9.5).
#
# Once an answer has begun, there is no retry: parts of it may have been shown already.


NOT_ANSWERED = (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout)
"""Transient connection errors, after which a request is retried."""

_PASSING = frozenset({408, 409, 429})
_FIRST_SECONDS, _LONGEST_SECONDS = 0.5, 8.0
_LONGEST_TOLD_SECONDS = 60.0


def may_pass(status: int) -> bool:
    """Return whether an HTTP status indicates a failure that may be transient."""
    return status in _PASSING or status >= httpx.codes.INTERNAL_SERVER_ERROR


def pause(attempt: int, headers: Mapping[str, str] | None = None) -> float:
    """Return how many seconds to wait after a failed attempt.

    Args:
        attempt: The number of attempts that failed before it.
        headers: The response's headers, in which a service may say how long to wait.
    """
    try:
        seconds = float((headers or {}).get("retry-after", ""))
    except ValueError:  # missing, or a date
        seconds = -1.0
    if 0 <= seconds <= _LONGEST_TOLD_SECONDS:
        return seconds
    # Jitter, so that clients refused at the same time don't all retry at the same time.
    longest: float = min(_FIRST_SECONDS * 2**attempt, _LONGEST_SECONDS)
    return longest * random.uniform(0.75, 1.0)  # noqa: S311  no secret


_LINE_END = re.compile(rb"[\r\n]")
_BODY_LENGTH = 500
"""How many characters of a body an error message quotes."""


class ChatCompletionError(Exception):
    """The service refused the request, failed, or didn't answer in this protocol."""

    def __init__(self, status: int, message: str) -> None:
        self.status_code = status
        """The HTTP status; 0 for failures without one, such as within a stream."""
        super().__init__(message)


def completion(response: Any, body: bytes, url: str) -> Json:
    """Return the answer in a response's body.

    Raises ChatCompletionError if there is none: some services report errors with HTTP 200, and
    a wrong URL may lead to a web page.
    """
    answer = _parse(body, url, response.status_code)
    if error := answer.get("error"):
        raise ChatCompletionError(
            response.status_code, f"{url} answered with an error: {_reason(error)}"
        )
    if not answer.get("choices"):
        raise ChatCompletionError(
            response.status_code,
            f"{url} returned no answer. It sent: {_start(body)}. Check base_url.",
        )
    return answer


async def chunks(response: Any, url: str) -> AsyncIterator[Json]:
    """Yield the chunks of a stream of server-sent events, up to its end marker.

    Raises ChatCompletionError if the stream reports an error or contains no answer, or if it ends
    with neither the marker nor a finish reason: a partial answer must not pass for a complete one.
    """
    began = ended = False
    async with aclosing(_data(response)) as pieces:
        async for data in pieces:
            if data == b"[DONE]":
                ended = ended or began
                break
            chunk = _parse(data, url, 0)
            if error := chunk.get("error"):
                raise ChatCompletionError(0, f"The service aborted its answer: {_reason(error)}")
            began = began or bool(chunk.get("choices"))
            ended = ended or has_ended(chunk)
            yield chunk
    if not ended:
        media = response.headers.get("content-type", "no content type")
        raise broken_off(f"{url} ended its response ({media})")


async def _data(response: Any) -> AsyncGenerator[bytes, None]:
    """Yield the data of a stream's events, one line per event.

    The HTTP client's own line iterator isn't used because it also splits at Unicode line
    separators, which an answer may contain.
    """
    rest = b""
    async for piece in response.aiter_bytes():
        *lines, rest = _LINE_END.split(rest + piece)
        for line in lines:
            if data := _data_of(line):
                yield data
    if data := _data_of(rest):
        yield data


def _data_of(line: bytes) -> bytes:
    """Return what follows `data:`; empty for comments, other fields and ends of events."""
    field, _, value = line.partition(b":")
    return value.strip() if field == b"data" else b""


def has_ended(chunk: Json) -> bool:
    """Return whether a chunk has a finish reason."""
    return any(choice.get("finish_reason") for choice in chunk.get("choices") or [])


def broken_off(what: str) -> ChatCompletionError:
    """Return the error for a stream that ended too early."""
    return ChatCompletionError(
        0,
        f"{what} before the answer was complete. Try again. If it keeps happening, check that"
        " base_url points to a service that streams chat completions.",
    )


_SET_KEY: Final = "Set OPENAI_API_KEY in the environment or in the .env file beside the agent."


def without_key(model: str) -> ChatCompletionError:
    """Return the error for a request to OpenAI without an API key."""
    return ChatCompletionError(
        401,
        f"No API key for {model!r}. {_SET_KEY} For another service that speaks OpenAI's chat"
        " completions, pass `base_url` to OpenAILlm.",
    )


def failure(status: int, body: bytes, url: str) -> ChatCompletionError:
    """Return the error for a response with an HTTP error status, with advice on what to do."""
    try:
        reason = _reason(json.loads(body).get("error"))
    except (ValueError, AttributeError):
        reason = _start(body)
    advice = {
        401: f" {_SET_KEY}",
        404: " Check the model name and base_url.",
        429: " Wait a moment, or use another model or key.",
    }
    message = f"{url} answered with HTTP {status}: {reason.rstrip('.')}.{advice.get(status, '')}"
    return ChatCompletionError(status, message)


def _parse(body: bytes, url: str, status: int) -> Json:
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise ChatCompletionError(
        status, f"{url} returned no answer. It sent: {_start(body)}. Check base_url."
    )


def _start(body: bytes) -> str:
    return body.decode(errors="replace")[:_BODY_LENGTH]


def _reason(error: Any) -> str:
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)
