"""Gemini, over google-genai."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import partial
from types import AsyncGeneratorType
from typing import Any

from google.genai import Client, types
from google.genai.errors import ClientError
from pydantic import Field, PrivateAttr, field_validator

from devui.runtime.models.base_llm import BaseLlm, Clients, LlmCapabilities
from devui.runtime.models.gemini_cache import Arguments, answers_with_cache
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.missing_results import with_all_results
from devui.runtime.models.response_aggregator import ResponseAggregator
from devui.runtime.tools.artifact_parts import as_safe_part_for_llm
from devui.runtime.utils.model_name_utils import is_gemini_model

_API_VERSION = "GOOGLE_GENAI_API_VERSION"
_BACKENDS = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
"""Environment variables that select Vertex AI, the older one last."""
_VERSION_AT_END = re.compile(r"(https?://[^/?#]+\.googleapis\.com)/(v\d[a-z\d.-]*)/?")
"""A URL of Google's API that ends with the version, which google-genai adds by itself."""
_TOO_MANY_REQUESTS = 429
_SOME_FILE = "inline file"
"""The name of a file in the note that replaces it if Gemini can't read it."""
_hanging_up: set[asyncio.Task[None]] = set()
"""The tasks that close connections; without a reference, they could be garbage-collected."""
_NO_AUTOMATIC_CALLS = types.AutomaticFunctionCallingConfig(disable=True)


class Gemini(BaseLlm):
    """A Gemini model (adk-runtime 9.3).

    The client is created on first use, one per event loop, from the environment:
    `GOOGLE_API_KEY` or `GEMINI_API_KEY` for the Gemini API, or the variables of
    google-genai for Vertex AI.
    """

    model: str = "gemini-2.5-flash"
    """The model's name; see `supported_models`."""
    client: Client | None = Field(default=None, exclude=True)
    """A client to use as it is, instead of creating one."""
    client_kwargs: dict[str, Any] | None = Field(default=None, exclude=True, repr=False)
    """More arguments for `google.genai.Client`, such as `api_key` or `location`."""
    base_url: str | None = None
    """The service's URL, for proxies and test servers.

    A URL of Google's own may end with the API version, which then overrides `api_version`.
    """
    api_version: str | None = None
    """The API version; by default `GOOGLE_GENAI_API_VERSION`, or else google-genai's own."""
    retry_options: types.HttpRetryOptions | None = None
    """How to retry failed requests; None never retries."""
    use_interactions_api: bool = False
    """Not supported: requests hold the whole conversation."""
    speech_config: types.SpeechConfig | None = None
    """Settings for live mode; not used."""

    _client_by_loop: Clients[Client] = PrivateAttr(default_factory=Clients)

    @field_validator("use_interactions_api")
    @classmethod
    def _refuse_interactions(cls, value: bool) -> bool:
        if value:
            raise ValueError(
                "Gemini's interactions API is not supported: devui stores the conversation, not"
                " Google. Remove use_interactions_api."
            )
        return value

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return patterns of Gemini's names in the Gemini API and in Vertex AI."""
        return [
            r"gemini-.*",
            r"gemma-4.*",
            r"model-optimizer-.*",
            r"projects/.+/locations/.+/endpoints/.+",
            r"projects/.+/locations/.+/publishers/google/models/gemini.+",
        ]

    @property
    def api_client(self) -> Client:
        """The client of the running event loop; outside of one, a new client each time.

        Raises:
            ValueError: there is no API key, or google-genai's settings contradict each other.
        """
        if self.client is not None:
            return self.client
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return _new_client(self)
        if loop not in self._client_by_loop:
            self._client_by_loop[loop] = _new_client(self)
        return self._client_by_loop[loop]

    @property
    def capabilities(self) -> LlmCapabilities:
        """What the model supports: output schemas together with tools only on Vertex AI.

        This doesn't create a client, which needs a key: callbacks may answer instead of the model.
        """
        takes_both = is_gemini_model(self.model) and self._asks_vertex()
        return LlmCapabilities(output_schema_and_tools=takes_both)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask Gemini.

        Raises:
            google.genai.errors.APIError: the service refused the request, or failed.
            ValueError: there is no API key.
        """
        self._maybe_append_user_content(llm_request)
        client = self.api_client
        ask = partial(_stream if stream else _answer, client)
        arguments = _arguments(llm_request, self.model, for_vertex=bool(client.vertexai))
        try:
            responses = answers_with_cache(client, ask, llm_request, arguments)
            async with aclosing(responses):
                async for response in responses:
                    yield response
        except ClientError as error:
            if error.code == _TOO_MANY_REQUESTS:
                error.add_note(
                    "The quota of this API key is used up for now. Wait a moment, use another"
                    " model or key, or let Gemini(retry_options=...) retry."
                )
            raise

    def _asks_vertex(self) -> bool:
        """Return whether the client uses Vertex AI, or will once it is created."""
        if self.client is not None:
            return bool(self.client.vertexai)
        kwargs = self.client_kwargs or {}
        choices = [
            kwargs[name] for name in ("enterprise", "vertexai") if kwargs.get(name) is not None
        ]
        if choices or self.model.startswith("projects/"):
            return bool(choices[0]) if choices else True
        settings = [os.environ[name] for name in _BACKENDS if name in os.environ]
        return bool(settings) and settings[0].lower() in {"1", "true"}


def _http_options(
    llm: Gemini, client_options: types.HttpOptions | dict[str, Any] | None
) -> types.HttpOptions:
    """Return the client's HTTP options, with the model's settings for those that aren't set."""
    versioned = _VERSION_AT_END.fullmatch(llm.base_url or "")
    base_url, version = versioned.groups() if versioned else (llm.base_url, None)
    own = {
        "base_url": base_url,
        "api_version": version or llm.api_version or os.environ.get(_API_VERSION) or None,
        "retry_options": llm.retry_options,
    }
    options = types.HttpOptions.model_validate(client_options or {})
    unset = {name: value for name, value in own.items() if getattr(options, name) is None}
    return options.model_copy(update=unset)


def _new_client(llm: Gemini) -> Client:
    kwargs = llm.client_kwargs or {}
    options = {**kwargs, "http_options": _http_options(llm, kwargs.get("http_options"))}
    if llm.model.startswith("projects/"):
        options = {"vertexai": True, **options}
    try:
        return Client(**options)
    except ValueError as error:
        raise ValueError(
            f"No client for {llm.model!r}: {error} Set GOOGLE_API_KEY in the environment or"
            " in the .env file beside the agent (keys: https://aistudio.google.com/apikey),"
            " or use a model that needs none, such as ScriptedLlm."
        ) from error


async def _answer(client: Client, arguments: Arguments) -> AsyncGenerator[LlmResponse, None]:
    answer = await client.aio.models.generate_content(**arguments)
    yield _explained(LlmResponse.create(answer))


async def _stream(client: Client, arguments: Arguments) -> AsyncGenerator[LlmResponse, None]:
    aggregator = ResponseAggregator()
    chunks = aiter(await client.aio.models.generate_content_stream(**arguments))
    try:
        async for chunk in chunks:
            fragment = aggregator.add(chunk)
            if fragment is not None:
                yield fragment
    finally:
        _let_go(chunks)
    yield _explained(aggregator.whole())


def _let_go(chunks: AsyncIterator[types.GenerateContentResponse]) -> None:
    """Close the connection of an answer that is no longer read.

    This is done in a separate task: an event loop closes all generators at once when it ends,
    which fails for those that have to await something.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # the event loop has ended, and the connection with it
        return
    if not isinstance(chunks, AsyncGeneratorType) or chunks.ag_frame is not None:
        hanging_up = loop.create_task(_hang_up(chunks))
        _hanging_up.add(hanging_up)
        hanging_up.add_done_callback(_hanging_up.discard)


async def _hang_up(chunks: AsyncIterator[types.GenerateContentResponse]) -> None:
    """Stop reading an answer, so that its connection is closed.

    Closing the generator would leave the connection open, and the model running, until garbage
    collection. Cancelling a read closes it, but only once all that has arrived has been read.
    """
    got: object = chunks
    while got is not None and not isinstance(got, BaseException):
        read = asyncio.ensure_future(anext(chunks, None))
        await asyncio.sleep(0)
        read.cancel()
        [got] = await asyncio.gather(read, return_exceptions=True)


def _explained(response: LlmResponse) -> LlmResponse:
    """Add an error message if the service sent only a code."""
    if response.error_code and not response.error_message:
        response.error_message = (
            f"Gemini ended its answer with {response.error_code}"
            " (https://ai.google.dev/api/generate-content#FinishReason)."
        )
    return response


def _arguments(llm_request: LlmRequest, model: str, *, for_vertex: bool) -> Arguments:
    """Return the arguments for google-genai, which leave calling functions to the runtime."""
    update: dict[str, Any] = {"automatic_function_calling": _NO_AUTOMATIC_CALLS}
    whole = with_all_results(llm_request.contents)
    contents = [_with_readable_files(_without_empty_parts(each)) for each in whole]
    if not for_vertex:  # the Gemini API refuses both
        update["labels"] = None
        contents = [_without_display_names(content) for content in contents]
    config = llm_request.config.model_copy(update=update)
    return {"model": llm_request.model or model, "contents": contents, "config": config}


def _without_empty_parts(content: types.Content) -> types.Content:
    """Remove empty parts, with which a stream may end.

    With one in the conversation, Gemini refuses every later request. A content of only empty parts
    is left alone, since Gemini requires parts in each content.
    """
    parts = content.parts or []
    remaining = [part for part in parts if _says_something(part)]
    if not remaining or len(remaining) == len(parts):
        return content
    return content.model_copy(update={"parts": remaining})


def _says_something(part: types.Part) -> bool:
    """Return whether a part isn't empty; thought signatures count, as Gemini needs them back."""
    values = (value for name, value in part if name not in {"text", "thought"})
    return bool(part.text) or any(value is not None for value in values)


def _with_readable_files(content: types.Content) -> types.Content:
    """Replace files that Gemini refuses with their text, or with a note."""
    parts = content.parts or []
    if not any(part.inline_data for part in parts):
        return content
    readable = [as_safe_part_for_llm(part, _SOME_FILE) for part in parts]
    return content.model_copy(update={"parts": readable})


def _without_display_names(content: types.Content) -> types.Content:
    parts = content.parts or []
    if not any(_is_named(part) for part in parts):
        return content
    return content.model_copy(update={"parts": [_nameless(part) for part in parts]})


def _is_named(part: types.Part) -> bool:
    data = part.inline_data or part.file_data
    return data is not None and data.display_name is not None


def _nameless(part: types.Part) -> types.Part:
    if part.inline_data:
        data = part.inline_data.model_copy(update={"display_name": None})
        return part.model_copy(update={"inline_data": data})
    if part.file_data:
        file = part.file_data.model_copy(update={"display_name": None})
        return part.model_copy(update={"file_data": file})
    return part
