"""From a model to HTML: one template per model class, exactly its fields as variables.

A model is a frozen dataclass with a class attribute `template`. The same part renders inside a
page, as an answer to htmx and as a push on the stream (Law 5). Autoescaping is on for every
template name and an unknown variable is an error (R17); besides the markdown filter, which cleans
what it makes, `part` is the only place that marks text as safe, and what it marks came out of
the same environment.
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
from devui.web.later import Later
from devui.web.text import formats, tracebacks


class Model(Protocol):
    """A dataclass that knows its template."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    template: ClassVar[str]
    """Path below `templates/`, such as `parts/row.html`."""


class Renderer:
    """The one Jinja environment."""

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
            needs_sign_in: whether a sign-in is needed; every page tells when it is not (R07).
            editor: the name of what opens lines of code; "" for no buttons that do so.
            editors: those a person may choose from, each by its value and its name.
            folder: the folder of the agents, whose lines it opens.
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
        """Answer with a model: a whole page or a fragment, as its template is."""
        return HTMLResponse(self.part(model), status_code=status, headers=headers)


class _Environment(Environment):
    """Gives each template its globals as one dict.

    Jinja's own chain of mappings is walked in Python for each rendering of a part, and for each
    macro that a part imports: a third of the time of a long page.
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
        """Jinja's way to a template it has loaded is long, and each part imports some macros."""
        if globals is not None or not isinstance(name, str):
            return super().get_template(name, parent, globals)
        if name not in self._ready:
            self._ready[name] = super().get_template(name, parent)
        return self._ready[name]

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **(d or {})}


class _BytecodeCache(FileSystemBytecodeCache):
    """Compiled templates, kept where Python keeps its compiled modules, and only if it does.

    To compile those of a session takes a tenth of a second, which the first page would wait for.
    """

    def __init__(self) -> None:
        folder = Path(cache_from_source(__file__)).parent / "templates"
        installed = Path(compiler.__file__).stat().st_mtime_ns  # another Jinja may differ
        made_by = f"{sys.implementation.cache_tag}-{installed:x}-{__version__}"
        super().__init__(str(folder), f"%s.{made_by}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read one, if there is one; what can't be read is compiled and written anew."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001  (of a file that is cut off, pickle raises anything)
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep one; where nothing can be written, each process compiles for itself."""
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
        auto_reload=False,  # a page has hundreds of parts, and each would look at its file
    )
    environment.filters.update(formats.FILTERS)
    environment.filters["markdown"] = Later("devui.web.text.markdown").call("to_html")
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
