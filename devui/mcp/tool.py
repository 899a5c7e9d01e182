"""The base classes of tools: each tool is a class with its name, description, schema and action."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devui.client import Client
from devui.failures import BadRequestError, NotFoundError


class Tool(BaseModel):
    """A call of a tool with its arguments.

    The coding agent reads the docstring of a subclass as the tool's description, and a docstring
    below a member as the description of that argument.
    """

    model_config = ConfigDict(
        extra="forbid", use_attribute_docstrings=True, coerce_numbers_to_str=True
    )

    reads: ClassVar[bool] = True
    """Whether the tool is read-only."""

    def answer(self, client: Client) -> str:
        """Run the tool, and return its answer.

        Raises what the client raises; the error's message then becomes the answer.
        """
        raise NotImplementedError

    @classmethod
    def tool_name(cls) -> str:
        """Return the tool's name: `what_happened` for the class `WhatHappened`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def about(cls) -> str:
        """Return the tool's description, on one line."""
        return " ".join((cls.__doc__ or "").split())

    @classmethod
    def schema_of_arguments(cls) -> dict[str, Any]:
        """Return the JSON schema of the arguments, without anything that a reader doesn't need."""
        schema = cls.model_json_schema()
        members = {name: _slim(each) for name, each in schema.get("properties", {}).items()}
        required = {"required": schema["required"]} if "required" in schema else {}
        return {"type": "object", "properties": members, **required}

    @classmethod
    def read(cls, arguments: dict[str, Any]) -> "Tool":
        """Parse the arguments of a call. Raises BadRequestError, which names each wrong one."""
        try:
            return cls.model_validate(arguments)
        except ValidationError as error:
            wrong = [
                f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}"
                for each in error.errors(include_url=False)
            ]
            names = ", ".join(cls.model_fields)
            raise BadRequestError(
                f"{'; '.join(wrong)}. Arguments of {cls.tool_name()}: {names}"
            ) from error


def _slim(member: dict[str, Any]) -> dict[str, Any]:
    """Return an argument's schema without title, default and the null of an optional argument."""
    kinds = [each for each in member.pop("anyOf", ()) if each.get("type") != "null"]
    member |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}
    for name in ("title", "default", "additionalProperties", "minimum"):
        member.pop(name, None)
    return member


class SessionTool(Tool):
    """A tool that is about one session."""

    session: int | None = Field(default=None, ge=1)
    """Session number; default: the most recently active"""

    def of(self, client: Client) -> Mapping[str, Any]:
        """Return the session. Raises NotFoundError."""
        if self.session is None:
            rows = client.sessions()["sessions"]
            if not rows:
                raise NotFoundError(
                    "there are no sessions yet: start one with send_message and app"
                )
            return rows[0]
        sessions = client.sessions(key=self.session)["sessions"]
        if not sessions:
            raise NotFoundError(f"there is no session {self.session}: call list_sessions")
        return sessions[0]

    def key_of(self, client: Client) -> int:
        """Return the session's number. Raises NotFoundError."""
        return int(self.of(client)["key"])


def known_app(name: str, apps: Sequence[str]) -> str:
    """Return the name of an app. Raises NotFoundError if it isn't among `apps`."""
    if name not in apps:
        raise NotFoundError(f"there is no app {name}; available: {', '.join(apps) or 'none'}")
    return name
