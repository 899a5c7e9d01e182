"""Jinja templates, which see nothing but data (adk-runtime 6.3)."""

from collections.abc import Mapping
from typing import Any

try:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment
except ImportError as error:
    raise ImportError("Jinja instructions need the package jinja2: pip install jinja2.") from error

_environment = SandboxedEnvironment(enable_async=True, undefined=StrictUndefined)


async def render(template: str, values: Mapping[str, Any]) -> str:
    """Render the template with these values; functions among them may be async.

    Raises:
        jinja2.TemplateError: The template has an error, uses an unknown name, or accesses
            something that the sandbox forbids.
    """
    return await _environment.from_string(template).render_async(values)
