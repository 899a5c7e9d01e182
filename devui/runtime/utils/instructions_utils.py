"""Fills instructions from state and artifacts (adk-runtime 6.3)."""

import re
from collections.abc import Awaitable, Callable

from google.genai import types

from devui.runtime.agents.context import ReadonlyContext
from devui.runtime.exports import lazy
from devui.runtime.sessions.state import State
from devui.runtime.tools.artifact_parts import as_safe_part_for_llm

InstructionProvider = Callable[[ReadonlyContext], str | Awaitable[str]]

# `{name}`, but not `${name}` nor `\{name}`; the text inside decides whether it is a template.
_TEMPLATE = re.compile(r"(?<![$\\{])\{+[^{}]*\}+")
_ARTIFACT = "artifact."
_BRACES = {"lbrace": "{", "rbrace": "}"}
_PREFIXES = (State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX)

_load = lazy("devui.runtime", {"render": "jinja_templates"})


async def inject_session_state(
    template: str, readonly_context: ReadonlyContext, use_jinja2: bool = False
) -> str:
    """Fill `{key}`, `{app:key}` and `{artifact.name}`; a `?` before `}` makes it optional.

    A value of None gives an empty text, and so does a missing optional one. Braces around anything
    but a name stay as they are, so JSON in an instruction is safe; so do `${x}` and `\\{x}`.
    `{lbrace}` and `{rbrace}` are braces, unless the state has such a key: `{lbrace}name}` gives
    `{name}`.

    With `use_jinja2`, it is a Jinja template in a sandbox: `{{ key }}`, `{{ state["user:key"] }}`,
    `{{ artifact("name") }}`.

    Raises:
        KeyError: A key or artifact that is not optional does not exist.
        ValueError: An artifact is requested and the runner has no artifact service.
        jinja2.TemplateError: The Jinja template has an error or names a key that does not exist.
    """
    if use_jinja2:
        return await _render(template, readonly_context)
    pieces: list[str] = []
    position = 0
    for match in _TEMPLATE.finditer(template):
        pieces.append(template[position : match.start()])
        pieces.append(await _fill(match[0], readonly_context))
        position = match.end()
    pieces.append(template[position:])
    return "".join(pieces)


async def _render(template: str, context: ReadonlyContext) -> str:
    async def artifact(filename: str) -> str:
        return await _artifact(filename, context, optional=False)

    values = {**context.state, "state": context.state, "artifact": artifact}
    text: str = await _load("render")(template, values)
    return text


async def _fill(braced: str, context: ReadonlyContext) -> str:
    inner = braced.strip("{}").strip()
    name = inner.removesuffix("?")
    optional = name != inner
    if name.startswith(_ARTIFACT):
        return await _artifact(name.removeprefix(_ARTIFACT), context, optional=optional)
    if not _is_key(name):
        return braced
    if name in context.state:
        value = context.state[name]
        return "" if value is None else str(value)
    if optional:
        return ""
    if name in _BRACES:
        return _BRACES[name]
    raise KeyError(
        f"The instruction of agent {context.agent_name!r} needs the state key {name!r}, which"
        f" is not set. Set it before the agent runs, or write {{{name}?}} if it may be missing."
        f" To keep the braces in the text, write {_escape(braced)}, or pass a function as the"
        " instruction: what it returns is used unchanged."
    )


def _escape(braced: str) -> str:
    """Return the text with its braces escaped, so that they stay as they are.

    Keys serve as escapes, because google-adk raises for any text with such a key. Any other escape
    would change what some prompt says there.
    """
    return braced.replace("{", "{lbrace}")


async def _artifact(filename: str, context: ReadonlyContext, *, optional: bool) -> str:
    invocation = context._invocation_context
    if invocation.artifact_service is None:
        raise ValueError(
            f"The instruction of agent {context.agent_name!r} needs artifact {filename!r}, but the"
            " runner has no artifact service: Runner(artifact_service=...)."
        )
    artifact = await invocation.artifact_service.load_artifact(
        app_name=invocation.app_name,
        user_id=invocation.user_id,
        session_id=invocation.session.id,
        filename=filename,
    )
    if artifact is not None:
        return _artifact_text(artifact, filename)
    if optional:
        return ""
    raise KeyError(
        f"The instruction of agent {context.agent_name!r} needs artifact {filename!r}, which does"
        f" not exist. Save it first, or write {{artifact.{filename}?}} if it may be missing."
    )


def _artifact_text(artifact: types.Part, filename: str) -> str:
    text = as_safe_part_for_llm(artifact, filename).text
    if text is not None:
        return text
    data = artifact.inline_data or types.Blob()
    return f"[{data.mime_type or 'binary'} artifact, {len(data.data or b'')} bytes]"


def _is_key(name: str) -> bool:
    """Return whether this may be a state key: an identifier, with or without a known prefix."""
    prefix = next((prefix for prefix in _PREFIXES if name.startswith(prefix)), "")
    return name.removeprefix(prefix).isidentifier()
