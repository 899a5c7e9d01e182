"""All cases; importing this module fills the list."""

from tests.differential.case import CASES
from tests.differential.cases import (
    callbacks,
    extras,
    generated,
    human,
    instructions,
    resume,
    state,
    text,
    tools,
    transfers,
    workflows,
)

__all__ = [
    "CASES",
    "callbacks",
    "extras",
    "generated",
    "human",
    "instructions",
    "resume",
    "state",
    "text",
    "tools",
    "transfers",
    "workflows",
]
