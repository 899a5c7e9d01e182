"""Renders models as HTML: one template per model class, with exactly its fields as variables.

A model is a frozen dataclass with a class attribute `template`. The same part is rendered in a
page, as a response to htmx and as a message of the stream (Law 5). Autoescaping is on for every
template name, and an undefined variable is an error (R17). Apart from the Markdown filter, which
sanitizes its output, only `part` marks text as safe, and what it marks was rendered by the same
environment.
"""

import sys
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import fields
from functools import cache, partial
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, ClassVar, Protocol

from jinja2 import (
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    StrictUndefined,
    Template,
    compiler,
)
from jinja2.bccache import Bucket
from markupsafe import Markup
from starlette.responses import HTMLResponse

from devui import __version__
from devui.web.assets import Assets
from devui.web.htmx import CONFIG_JSON
from devui.web.lazy_modules import LazyModule
from devui.web.text import formats, tracebacks


class Model(Protocol):
    """A dataclass with a template."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    template: ClassVar[str]
    """The template's path below `templates/`, such as `parts/row.html`."""


class Renderer:
    """The Jinja environment, with what all templates share."""

    def __init__(
        self,
        assets: Assets,
        *,
        needs_sign_in: bool = True,
        editor: str = "",
        editors: tuple[tuple[str, str], ...] = (),
        folder: str = "",
    ) -> None:
        """Load the templates.

        Args:
            needs_sign_in: whether users have to sign in; if not, every page says so (R07).
            editor: the name of the editor that opens lines of code; "" for no such buttons.
            editors: the value and name of each editor that a person may choose.
            folder: the agents' folder, whose code the editor opens.
        """
        self.assets = assets
        self.environment = _environment(assets)
        self.environment.globals["needs_sign_in"] = needs_sign_in
        self.environment.globals |= {"editor": editor, "editors": editors}
        self.environment.globals["tracebacks"] = partial(
            tracebacks.pieces, folder=folder if editor else ""
        )
        self.environment.globals["part"] = self.part
        self._template = cache(self.environment.get_template)

    def part(self, model: Model) -> Markup:
        """Render a model; in templates `{{ part(row) }}`."""
        template = self._template(model.template)
        return Markup(template.render(_variables(model)))  # noqa: S704  (autoescaped output)

    def parts(self, models: Iterable[Model]) -> Markup:
        """Render several models one after the other."""
        return Markup("").join(self.part(model) for model in models)

    def page(
        self, model: Model, *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> HTMLResponse:
        """Return a response with a rendered model: a whole page or a fragment, depending on its
        template."""
        return HTMLResponse(self.part(model), status_code=status, headers=headers)


class _Environment(Environment):
    """Gives each template its globals as one dict.

    Jinja resolves a chain of mappings in Python for each rendered part, and for each macro that a
    part imports: a third of the time of a long page.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._ready: dict[str, Template] = {}

    def get_template(
        self,
        name: str | Template,
        parent: str | None = None,
        globals: MutableMapping[str, Any] | None = None,  # noqa: A002  (Jinja's name)
    ) -> Template:
        """Return a template, from a cache where possible: Jinja's lookup is slow, and each part
        imports macros."""
        if globals is not None or not isinstance(name, str):
            return super().get_template(name, parent, globals)
        if name not in self._ready:
            self._ready[name] = super().get_template(name, parent)
        return self._ready[name]

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **(d or {})}


class _BytecodeCache(FileSystemBytecodeCache):
    """Compiled templates, stored beside Python's compiled modules, and only if Python stores those.

    Compiling the templates of a session page takes a tenth of a second, which the first page would
    wait for.
    """

    def __init__(self) -> None:
        folder = Path(cache_from_source(__file__)).parent / "templates"
        installed = Path(compiler.__file__).stat().st_mtime_ns  # another Jinja may differ
        made_by = f"{sys.implementation.cache_tag}-{installed:x}-{__version__}"
        super().__init__(str(folder), f"%s.{made_by}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load compiled code if there is any; if it is unreadable, it is compiled and stored
        again."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001  (for a truncated file, pickle raises anything)
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store compiled code; if the folder isn't writable, each process compiles for itself."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)


def _environment(assets: Assets) -> Environment:
    environment = _Environment(
        loader=FileSystemLoader(assets.templates),
        bytecode_cache=_BytecodeCache(),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # a page has hundreds of parts, and each would check its file
    )
    environment.filters.update(formats.FILTERS)
    environment.filters["markdown"] = LazyModule("devui.web.text.markdown").call("to_html")
    environment.globals.update(
        asset=assets.url,
        styles=assets.styles,
        htmx_config=CONFIG_JSON,
        version=__version__,
    )
    return environment


@cache
def _field_names(kind: type[Model]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _variables(model: Model) -> dict[str, object]:
    return {name: getattr(model, name) for name in _field_names(type(model))}
