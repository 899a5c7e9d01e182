"""Encodes messages as JSON and decodes them, checking their types.

Separate from the framing because importing pydantic takes much of the time that a server needs for
its first page, and only the messages of workers need it.
"""

from json import loads  # by name: see worker/link.py
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from devui.wire.messages import ToServer, ToWorker
from devui.wire.recordings import Recording, ReplayVerdict


class Codec:
    """Encodes and decodes the values of one type."""

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def dump(self, message: Any, *, indent: int | None = None) -> bytes:
        """Encode the message as JSON; with an indent, on several lines."""
        return self._adapter.dump_json(message, indent=indent)

    def to_value(self, message: Any) -> Any:
        """Convert the message to a JSON value."""
        return self._adapter.dump_python(message, mode="json")

    def of_value(self, value: Any) -> Any:
        """Convert a JSON value to a message. Raises ValueError."""
        return self._adapter.validate_python(value)

    def load(self, body: bytes) -> Any:
        """Decode the message. Raises ValueError with the first problem."""
        try:
            return self._validated(body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise ValueError(f"{first['msg']} at {first['loc']}") from error

    def _validated(self, body: bytes) -> Any:
        """Decode the message, even if it has more than the 200 levels of pydantic's parser."""
        try:
            return self._adapter.validate_json(body)
        except ValidationError as error:
            if "recursion limit" not in str(error):
                raise
        try:
            value = loads(body)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        return self._adapter.validate_python(value)


# A message's `kind` determines its class.
TO_WORKER = Codec(Annotated[ToWorker, Field(discriminator="kind")])
TO_SERVER = Codec(Annotated[ToServer, Field(discriminator="kind")])
RECORDING = Codec(Recording)
VERDICT = Codec(ReplayVerdict)
