"""What other agents said and did, told to an agent's model as quotations (adk-runtime 7.3)."""

from google.genai import types

from devui.runtime.models.quoting import AGENT_PREAMBLE, quote_agent


def quoted(content: types.Content, author: str, *, thoughts: bool) -> types.Content | None:
    """Another agent's content as a user content; None if nothing in it is to be told."""
    parts = [
        told for part in content.parts or [] if (told := _told(part, author, thoughts=thoughts))
    ]
    if not parts:
        return None
    return types.Content(role="user", parts=[types.Part(text=AGENT_PREAMBLE), *parts])


def _told(part: types.Part, author: str, *, thoughts: bool) -> types.Part | None:
    """A part in the form in which others are told of it; media are passed on as they are."""
    if part.thought:
        return _quotation(f"[{author}] thought:", part.text) if thoughts else None
    if part.text is not None:
        return _quotation(f"[{author}] said:", part.text)
    if call := part.function_call:
        given = dict(sorted((call.args or {}).items()))
        return _quotation(f"[{author}] called the tool `{call.name}` with:", str(given))
    if response := part.function_response:
        said = f"[{author}] got this from the tool `{response.name}`:"
        return _quotation(said, str(response.response))
    told = (part.inline_data, part.file_data, part.executable_code, part.code_execution_result)
    return part if any(told) else None  # the rest is between the other agent and its model


def _quotation(said: str, text: str | None) -> types.Part | None:
    if not text or not text.strip():
        return None
    return types.Part(text=f"{said}\n{quote_agent(text)}")
