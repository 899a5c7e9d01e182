"""`NodeInfo`: where in a graph of nodes an event came from (adk-runtime 1.2)."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class NodeInfo(BaseModel):
    """The place of the node that made an event.

    `path` joins segments by `/`; each is a name, or `name@run`: `wf@1/writer@2`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        defer_build=True,
    )

    path: str = ""
    """Empty for what no node made."""
    output_for: list[str] | None = None
    """Paths of further nodes whose output the event's `output` also is."""
    message_as_output: bool | None = None
    """True when the event's content is the node's output."""

    @property
    def name(self) -> str:
        """Name of the node, without its run."""
        return self._segment(-1)[0]

    @property
    def run_id(self) -> str:
        """Which run of the node it was; empty if the path does not tell."""
        return self._segment(-1)[1] or ""

    @property
    def parent_run_id(self) -> str | None:
        """Which run of the enclosing node it was; None if there is none or it is not told."""
        return self._segment(-2)[1]

    def _segment(self, index: int) -> tuple[str, str | None]:
        segments = self.path.split("/")
        if len(segments) < -index:
            return "", None
        name, at, run = segments[index].rpartition("@")
        return (name, run) if at else (run, None)
