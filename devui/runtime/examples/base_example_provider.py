"""`BaseExampleProvider`: examples chosen for what the user asks (adk-runtime 8.8)."""

from abc import ABC, abstractmethod

from devui.runtime.examples.example import Example


class BaseExampleProvider(ABC):
    """Where examples come from when they are not the same for every question."""

    @abstractmethod
    def get_examples(self, query: str) -> list[Example]:
        """The examples that fit the user's words."""
