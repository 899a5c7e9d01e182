"""A tool as one class: its name, its schema and description, and what it does."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from devui.client import Client
from devui.failures import BadRequestError, NotFoundError


class Tool(BaseModel):
    """One call of a tool with its arguments.

    The docstring of a subclass is what the coding agent reads of it; a docstring below a member
    describes the argument.
    """

    model_config = ConfigDict(
        extra="forbid", use_attribute_docstrings=True, coerce_numbers_to_str=True
    )

    reads: ClassVar[bool] = True
    """Whether it leaves everything as it is."""

    def answer(self, client: Client) -> str:
        """Do it. Raises what the client does: the sentence is the answer then."""
        raise NotImplementedError

    @classmethod
    def tool_name(cls) -> str:
        """`what_happened` for the class `WhatHappened`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def about(cls) -> str:
        """The description, in one line."""
        return " ".join((cls.__doc__ or "").split())

    @classmethod
    def schema_of_arguments(cls) -> dict[str, Any]:
        """The JSON schema of the arguments, without what a reader can do without."""
        schema = cls.model_json_schema()
        members = {name: _slim(each) for name, each in schema.get("properties", {}).items()}
        required = {"required": schema["required"]} if "required" in schema else {}
        return {"type": "object", "properties": members, **required}

    @classmethod
    def read(cls, arguments: dict[str, Any]) -> "Tool":
        """The call with these arguments. Raises BadRequestError with what is wrong with each."""
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
    """An argument that may be left out has one type, and no title and default."""
    kinds = [each for each in member.pop("anyOf", ()) if each.get("type") != "null"]
    member |= kinds[0] if len(kinds) == 1 else {"anyOf": kinds} if kinds else {}
    for name in ("title", "default", "additionalProperties", "minimum"):
        member.pop(name, None)
    return member


class OfSession(Tool):
    """A tool that is about one session."""

    session: int | None = Field(default=None, ge=1)
    """Session number; default: the newest"""

    def of(self, client: Client) -> Mapping[str, Any]:
        """The session. Raises NotFoundError."""
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
        """Its number. Raises NotFoundError."""
        return int(self.of(client)["key"])


def known_app(name: str, apps: Sequence[str]) -> str:
    """The name, if there is such an app. Raises NotFoundError."""
    if name not in apps:
        raise NotFoundError(f"there is no app {name}; available: {', '.join(apps) or 'none'}")
    return name
