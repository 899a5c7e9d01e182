"""Examples that show a model how to answer."""

from devui.runtime.examples.base_example_provider import BaseExampleProvider
from devui.runtime.examples.example import Example

__all__ = ["BaseExampleProvider", "Example"]
