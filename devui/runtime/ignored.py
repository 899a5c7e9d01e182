"""Arguments that a class ignores, as google-adk's does, and that somebody meant (devui's own)."""

import logging
from typing import Any

from pydantic import BaseModel, model_validator

from devui.runtime.mistakes import caller, unknown_names

logger = logging.getLogger(__name__)


class Spelt(BaseModel):
    """It warns of arguments that it does not have: a setting that is misspelt does nothing."""

    @model_validator(mode="before")
    @classmethod
    def _tell_of_ignored(cls, values: Any) -> Any:
        if cls.model_config.get("extra", "ignore") == "ignore":
            for name, close in unknown_names(values, cls.model_fields):
                warn_of_ignored(cls, name, close)
        return values


def warn_of_ignored(owner: type[BaseModel], name: str, instead: str) -> None:
    """Warn of an argument that has no effect, and tell what to do `instead`."""
    logger.warning("%s has no `%s`%s It is ignored%s.", owner.__name__, name, instead, caller())
