"""Messages as JSON and back, checked against their types.

Apart from the framing, because the library that checks them takes a good part of the time in which
a server shows its first page, and only a worker's messages need it.
"""

from json import loads  # by name: see worker/link.py
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from devui.wire.messages import ToServer, ToWorker
from devui.wire.recordings import Recording, ReplayVerdict


class Codec:
    """Values of one type."""

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def dump(self, message: Any, *, indent: int | None = None) -> bytes:
        """The message as JSON; with an indent it has many lines."""
        return self._adapter.dump_json(message, indent=indent)

    def to_value(self, message: Any) -> Any:
        """The message as a value of JSON."""
        return self._adapter.dump_python(message, mode="json")

    def of_value(self, value: Any) -> Any:
        """The message of such a value; raises ValueError."""
        return self._adapter.validate_python(value)

    def load(self, body: bytes) -> Any:
        """The message; raises ValueError with the first thing that is wrong."""
        try:
            return self._validated(body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise ValueError(f"{first['msg']} at {first['loc']}") from error

    def _validated(self, body: bytes) -> Any:
        """The message. Pydantic's own parser takes 200 levels, and events have more."""
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


# A message's `kind` tells its class.
TO_WORKER = Codec(Annotated[ToWorker, Field(discriminator="kind")])
TO_SERVER = Codec(Annotated[ToServer, Field(discriminator="kind")])
RECORDING = Codec(Recording)
VERDICT = Codec(ReplayVerdict)
