"""Generates the modules of `devui.client` that have a method for each endpoint.

`scripts/describe` writes them from the routes. This module decides how the methods are called, and
which routes need none. A route that is neither named nor left out, or a name without a route, is an
error.
"""

import re
import subprocess
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import get_type_hints, is_typeddict

from devui.debugger.breakpoints import kinds
from devui.debugger.guard import effects, guard
from devui.debugger.stepping import commands
from devui.store import rows, session_lists
from devui.web.adk.answers import AdkRunErrorJson
from devui.web.openapi import (
    ADK,
    DEBUGGER,
    DEVELOPMENT,
    TELEMETRY,
    Endpoint,
    endpoints,
)
from devui.web.panels.bundles.api import BundleJson
from devui.wire import engines
from tests.source import ROOT

FOLDER = ROOT / "devui" / "client"
NAMES = {
    "GET /api/search": "search",
    "GET /api/sessions": "sessions",
    "POST /api/sessions/import": "import_session",
    "GET /api/jobs": "jobs",
    "GET /api/jobs/{job}": "job_status",
    "POST /api/jobs/{job}/stop": "stop_job",
    "POST /api/sessions/prune": "prune_sessions",
    "POST /api/sign-in-links": "new_sign_in_link",
    "GET /api/sessions/{key}/export": "export_session",
    "GET /api/sessions/{key}/export/preview": "preview_export",
    "GET /api/sessions/{key}/notes": "notes",
    "PATCH /api/sessions/{key}/notes/{number}": "set_note",
    "GET /api/tags": "tags",
    "PATCH /api/sessions/{key}/tags": "change_tags",
    "POST /api/sessions/{key}/runs": "start_run",
    "GET /api/sessions/{key}/run": "newest_run",
    "GET /api/sessions/{key}/queue": "queue",
    "POST /api/sessions/{key}/queue": "queue_message",
    "PATCH /api/sessions/{key}/queue/{number}": "edit_queued",
    "DELETE /api/sessions/{key}/queue/{number}": "remove_queued",
    "POST /api/sessions/{key}/queue/{number}/send": "send_queued",
    "GET /api/sessions/{key}/questions": "questions",
    "POST /api/sessions/{key}/answers": "answer_question",
    "GET /api/runs/{run}": "run",
    "GET /api/runs/{run}/activity": "activity",
    "GET /api/runs/{run}/log": "log",
    "POST /api/runs/{run}/commands": "command",
    "POST /api/runs/{run}/calls": "end_call",
    "GET /api/apps/{app}/breakpoints": "breakpoints",
    "POST /api/apps/{app}/breakpoints": "add_breakpoint",
    "PATCH /api/apps/{app}/breakpoints/{number}": "change_breakpoint",
    "DELETE /api/apps/{app}/breakpoints/{number}": "delete_breakpoint",
    "GET /api/sessions/{key}/hits": "hits",
    "POST /api/sessions/{key}/hits": "try_breakpoint",
    "GET /api/compare": "compare",
    "GET /api/compare/events": "compare_events",
    "GET /api/apps/{app}/memory": "memory",
    "GET /api/apps/{app}/tools": "tools",
    "PUT /api/apps/{app}/tools/{tool}": "set_effect",
    "POST /api/apps/{app}/tools/{tool}/trials": "try_tool",
    "GET /api/sessions/{key}/trials": "trials",
    "POST /api/sessions/{key}/spans/{span}/trials": "try_model",
    "GET /api/sessions/{key}/events": "events",
    "GET /api/sessions/{key}/events/{number}": "event",
    "GET /api/sessions/{key}/filter": "filter_words",
    "GET /api/sessions/{key}/state": "state",
    "GET /api/sessions/{key}/state/history": "key_history",
    "GET /api/sessions/{key}/stream": "stream",
    "GET /api/sessions/{key}/uncommitted": "uncommitted",
    "GET /api/sessions/{key}/cutoff": "cutoff",
    "POST /api/sessions/{key}/close": "close_invocation",
    "GET /api/sessions/{key}/forks": "forks",
    "POST /api/sessions/{key}/forks": "fork",
    "POST /api/sessions/{key}/rewind": "rewind",
    "GET /api/sessions/{key}/runs": "runs",
    "GET /api/sessions/{key}/recording": "recording",
    "POST /api/sessions/{key}/replays": "start_replay",
    "GET /api/runs/{run}/replay": "replay",
    "GET /api/sessions/{key}/test": "test_offer",
    "POST /api/sessions/{key}/test": "make_test",
    "GET /api/sessions/{key}/edits": "edits",
    "GET /api/sessions/{key}/usage": "usage",
    "GET /api/sessions/{key}/spans": "spans",
    "GET /api/sessions/{key}/trace": "trace",
    "GET /api/sessions/{key}/spans/{span}": "span",
    "GET /api/sessions/{key}/spans/{span}/diff": "compare_prompts",
    "POST /v1/traces": "import_spans",
}
"""The methods of `Client`."""
ADK_NAMES = {
    "GET /health": "health",
    "GET /version": "version",
    "GET /list-apps": "list_apps",
    "POST /run": "run",
    "POST /run_sse": "run_sse",
    "GET /apps/{app}/app-info": "app_info",
    "PATCH /apps/{app}/users/{user}/memory": "add_session_to_memory",
    "GET /apps/{app}/users/{user}/sessions": "list_sessions",
    "POST /apps/{app}/users/{user}/sessions": "create_session",
    "GET /apps/{app}/users/{user}/sessions/{session}": "get_session",
    "POST /apps/{app}/users/{user}/sessions/{session}": "create_session_with_id",
    "PATCH /apps/{app}/users/{user}/sessions/{session}": "patch_session",
    "DELETE /apps/{app}/users/{user}/sessions/{session}": "delete_session",
    "GET /apps/{app}/users/{user}/sessions/{session}/artifacts": "list_artifacts",
    "POST /apps/{app}/users/{user}/sessions/{session}/artifacts": "save_artifact",
    "GET /apps/{app}/users/{user}/sessions/{session}/artifacts/{name}": "load_artifact",
    "DELETE /apps/{app}/users/{user}/sessions/{session}/artifacts/{name}": "delete_artifact",
    "GET /apps/{app}/users/{user}/sessions/{session}/artifacts/{name}/versions": "list_versions",
    "GET /apps/{app}/users/{user}/sessions/{session}/artifacts/{name}/versions/{version}": (
        "load_version"
    ),
    "GET /apps/{app}/users/{user}/sessions/{session}/artifacts/{name}/versions/metadata": (
        "list_versions_metadata"
    ),
    "GET /apps/{app}/users/{user}/sessions/{session}/artifacts/{name}/versions/{version}"
    "/metadata": "version_metadata",
    "GET /dev/apps/{app}/debug/trace/session/{session}": "session_spans",
    "GET /dev/apps/{app}/debug/trace/{event}": "event_span",
    "GET /dev/apps/{app}/build_graph": "app_build",
    "GET /dev/apps/{app}/build_graph_image": "agent_graphs",
    "GET /dev/apps/{app}/graph": "app_graph",
    "GET /dev/apps/{app}/users/{user}/sessions/{session}/events/{event}/graph": "event_graph",
    "GET /dev/apps/{app}/builder": "agent_yaml",
    "GET /dev/apps/{app}/tests": "list_tests",
    "GET /dev/apps/{app}/tests/{test}": "get_test",
    "GET /openapi.json": "openapi",
}
"""The methods of `Client.adk`."""
CONSTANT = {
    "POST /dev/apps/{app}/builder/cancel",
    "GET /dev/apps/{app}/eval-sets",
    "GET /dev/apps/{app}/eval_sets",
    "GET /dev/apps/{app}/eval-results",
    "GET /dev/apps/{app}/eval_results",
    "GET /dev/apps/{app}/metrics-info",
    "GET /config/telemetry",
    "POST /config/telemetry",
    "GET /dev-ui/config",
    "GET /dev-ui/assets/config/runtime-config.json",
}
"""Requests of ADK's front end whose answer is always the same: they have no methods.

Neither do those that `is_without` recognizes by their operations.
"""
WHOLE = {
    "POST /api/sessions/import": "bundle: dict[str, Any] | IO[bytes]",
    "POST /v1/traces": "traces: dict[str, Any]",
    "POST /apps/{app}/users/{user}/sessions/{session}": "state: dict[str, Any] | None = None",
}
"""Bodies that are passed as one argument."""
ALIASES = [
    (commands, "CommandName"),
    (effects, "EffectChoice"),
    (engines, "ReplayEngine"),
    (guard, "Policy"),
    (kinds, "On"),
    (rows, "Scope"),
    (session_lists, "Choice"),
    (session_lists, "Sort"),
]
"""Named types that the signatures use."""
FLAGS = {"GET /list-apps": "detailed"}
"""Query flags that choose between the two types of an answer: the second if set, else the first."""
RAISED = {AdkRunErrorJson}
"""Messages in streams that are raised as errors."""
KEYWORDS = {"from", "with", "continue"}
BY_CLIENT = {"actor": "self.actor", "key": "key or uuid4().hex"}
"""Members of bodies that callers don't have to give."""
POSITIONAL = 4
WIDTH = 92


def files() -> dict[Path, str]:
    """Return the intended content of each file."""
    all_endpoints = list(endpoints())
    own = [each for each in all_endpoints if each.family in {DEBUGGER, TELEMETRY}]
    adk = [each for each in all_endpoints if each.family in {ADK, DEVELOPMENT}]
    return {
        FOLDER / "endpoints.py": _module(
            "Endpoints", "The endpoints of the debugger's API, a method each.", own, NAMES, set()
        ),
        FOLDER / "adk_endpoints.py": _module(
            "AdkEndpoints",
            "The endpoints of ADK's REST API, a method each.",
            adk,
            ADK_NAMES,
            CONSTANT,
        ),
    }


def request_of(endpoint: Endpoint) -> str:
    return f"{endpoint.method.upper()} {endpoint.path}"


def named(items: list[Endpoint], names: dict[str, str], constant: set[str]) -> dict[str, Endpoint]:
    """Return the endpoints that have methods, by request.

    Raises AssertionError for an endpoint that is neither named nor left out, and for one that is
    left out needlessly.
    """
    by_request = {request_of(each): each for each in items}
    unknown = (names.keys() | constant) - by_request.keys()
    assert not unknown, f"no such routes: {unknown}"
    assert len(set(names.values())) == len(names), "two methods have one name"
    first = {id(by_request[each].operation) for each in names}
    without = {
        request
        for request, each in by_request.items()
        if request not in names and is_without(each, first)
    }
    needless = constant & (without | names.keys())
    assert not needless, f"these aren't needed in CONSTANT: {needless}"
    missing = by_request.keys() - names.keys() - without - constant
    assert not missing, f"name the methods in {__file__}: {missing}"
    return {request: each for request, each in by_request.items() if request in names}


def is_without(endpoint: Endpoint, first: set[int]) -> bool:
    """Return whether an endpoint can't have a method of its own.

    Such an endpoint refuses every request, is a second address (`first` has the operations with
    methods), or is a page or file of the front end.
    """
    operation = endpoint.operation
    is_page = endpoint.family == DEVELOPMENT and operation.answer is None
    return operation.status is None or id(operation) in first or is_page


def _module(
    name: str,
    about: str,
    items: list[Endpoint],
    names: dict[str, str],
    constant: set[str],
) -> str:
    methods = [
        _Method(each, names[request]) for request, each in named(items, names, constant).items()
    ]
    text = "\n".join(method.text() for method in methods)
    imports: dict[str, set[str]] = {}
    for method in methods:
        for module, type_ in method.imported:
            imports.setdefault(module, set()).add(type_)
    types_ = "".join(
        f"    from {module} import {', '.join(sorted(names))}\n"
        for module, names in sorted(imports.items())
    )
    head = f'"""{about}\n\nscripts/describe writes this module from the routes.\n"""\n\n'
    head += "from __future__ import annotations\n\n"
    if abstract := _used_names(("Mapping", "Sequence"), text):
        head += f"from collections.abc import {', '.join(abstract)}\n"
    typing_names = _used_names(("IO", "Any", "Literal", "overload"), text)
    typing_names += ["TYPE_CHECKING"] if types_ else []
    head += f"from typing import {', '.join(sorted(typing_names))}\n"
    head += "from uuid import uuid4\n" if "uuid4" in text else ""
    head += "\nfrom devui.client.connection import Connection, Stream\n\n"
    head += f"if TYPE_CHECKING:\n{types_}\n\n" if types_ else "\n"
    return _formatted(f'{head}class {name}(Connection):\n    """{about}"""\n\n{text}')


def _used_names(names: Iterable[str], text: str) -> list[str]:
    return [each for each in names if re.search(rf"\b{each}\b", text)]


def _formatted(text: str) -> str:
    for arguments in (["check", "--select", "I", "--fix", "-q", "-"], ["format", "-q", "-"]):
        command = [sys.executable, "-m", "ruff", *arguments]
        text = subprocess.run(
            command, input=text, capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout
    return text


@dataclass
class _Method:
    """One endpoint as a method."""

    endpoint: Endpoint
    name: str
    imported: set[tuple[str, str]] = field(default_factory=set)
    """The types in its signature, with their modules."""

    def text(self) -> str:
        parameters, call = self._arguments()
        return "\n".join(
            [
                *self._overloads(parameters),
                self._signature(parameters, self._answer),
                textwrap.indent(f'"""{_docstring(self.endpoint)}"""', " " * 8),
                *self._body(", ".join(call)),
                "",
            ]
        )

    def _signature(self, parameters: list[str], answer: str) -> str:
        return f"    def {self.name}({', '.join(parameters)}) -> {answer}:"

    def _overloads(self, parameters: list[str]) -> Iterator[str]:
        """Yield the signatures without and with a flag that decides the type of the answer."""
        flag = FLAGS.get(request_of(self.endpoint))
        if flag is None:
            return
        types_ = map(self._type, get_args(self.endpoint.operation.answer))
        flag_parameters = (f"{flag}: Literal[False] | None = None", f"{flag}: Literal[True]")
        for parameter, answer in zip(flag_parameters, types_, strict=True):
            exact = [parameter if each.startswith(f"{flag}:") else each for each in parameters]
            yield f"    @overload\n{self._signature(exact, answer)} ..."

    def _arguments(self) -> tuple[list[str], list[str]]:
        """Return the parameters, and those of them that are sent, as arguments."""
        operation, request = self.endpoint.operation, request_of(self.endpoint)
        first = [f"{_path_name(name)}: {self._type(each.type)}" for name, each in self._in_path]
        keyword_parameters, members = list[str](), list[str]()
        for name, query in operation.query.items():
            parameter = f"{_python_name(name)}: {self._type(query.type)}"
            (first if query.required else keyword_parameters).append(
                parameter if query.required else f"{parameter} | None = None"
            )
            members.append(_keyword(name, _python_name(name)))
        whole = WHOLE.get(request, "")
        if whole:
            first.append(whole)
        elif operation.body is not None:
            for name, member in operation.body.model_fields.items():
                self._add_member(name, member, first, keyword_parameters)
                members.append(_keyword(member.alias or name, BY_CLIENT.get(name, name)))
        keyword_parameters = [*first[POSITIONAL:], *keyword_parameters]
        parameters = [
            "self",
            *first[:POSITIONAL],
            *(["*", *keyword_parameters] if keyword_parameters else []),
        ]
        call = [*([whole.partition(":")[0]] if whole else []), *self._path, *members]
        return parameters, call

    def _add_member(
        self, name: str, member: FieldInfo, first: list[str], keyword_parameters: list[str]
    ) -> None:
        """Add the parameter for a member of the body."""
        type_ = self._type(member.annotation)
        if name == "actor":
            return
        if member.is_required() and name not in BY_CLIENT:
            (first if len(first) < POSITIONAL else keyword_parameters).append(f"{name}: {type_}")
        elif isinstance(member.default, bool | int | str):
            default = (
                '"' + member.default + '"' if isinstance(member.default, str) else member.default
            )
            keyword_parameters.append(f"{name}: {type_} = {default}")
        else:
            optional = "" if "None" in type_ or type_ == "Any" else " | None"
            keyword_parameters.append(f"{name}: {type_}{optional} = None")

    def _body(self, call: str) -> list[str]:
        """Return the statements that send the request."""
        verb, result = self.endpoint.method, self._answer
        if self.endpoint.operation.media == "text/event-stream":
            verb = "post_stream" if verb == "post" else "follow"
        elif result == "str":
            verb = "get_text"
        elif result == "Stream[bytes]":
            verb = "download"
        elif request_of(self.endpoint) in WHOLE:
            verb = "upload"
        member = f'["{self._member}"]' if self._member else ""
        if result == "None":
            return [f"        self._{verb}({call})"]
        if result == "str":
            return [f"        return self._{verb}({call}){member}"]
        return [f"        answer: {result} = self._{verb}({call}){member}", "        return answer"]

    @property
    def _in_path(self) -> Iterable[tuple[str, Any]]:
        return list(self.endpoint.names)

    @property
    def _path(self) -> Iterator[str]:
        """The segments of the path, as arguments."""
        for step in self.endpoint.path.strip("/").split("/"):
            name = step.strip("{}")
            yield _path_name(name) if name != step else f'"{step}"'

    @property
    def _member(self) -> str:
        """The answer's only member, which the method returns; "" if it has several."""
        answer = self.endpoint.operation.answer
        is_own = self.endpoint.family == DEBUGGER  # ADK's answers stay as they are
        if is_own and self.endpoint.method == "get" and is_typeddict(answer):
            names = list(get_type_hints(answer))
            if len(names) == 1 and names != ["resourceSpans"]:  # a trace is a file
                return names[0]
        return ""

    @property
    def _answer(self) -> str:
        """The type of the result."""
        answer = self.endpoint.operation.answer
        assert answer is not None, f"{self.name} has no JSON to return"
        if answer is BundleJson:
            return "Stream[bytes]"
        type_ = self._type(get_type_hints(answer)[self._member] if self._member else answer)
        media = self.endpoint.operation.media
        return f"Stream[{type_}]" if media == "text/event-stream" else type_

    def _type(self, type_: Any) -> str:
        """Return a type as source code; a model in a body becomes a JSON object."""
        for module, name in ALIASES:
            if type_ == vars(module)[name]:
                self.imported.add((module.__name__, name))
                return name
        origin, arguments = get_origin(type_), get_args(type_)
        if origin is Annotated:
            return self._type(arguments[0])
        if origin in {Union, types.UnionType}:
            return " | ".join(self._type(each) for each in arguments if each not in RAISED)
        if origin is Literal:
            return f"Literal[{', '.join(f'{each!r}' for each in arguments)}]"
        if origin in {list, dict}:
            return self._container(origin, arguments)
        if type_ in {None, types.NoneType}:
            return "None"
        if is_typeddict(type_):
            self.imported.add((type_.__module__, type_.__name__))
        elif _is_model(type_):
            return "Mapping[str, Any]"
        return "Any" if type_ is Any else str(type_.__name__)

    def _container(self, origin: type, arguments: tuple[Any, ...]) -> str:
        """Return a list or dict as source code; one of models may be any sequence or mapping."""
        if any(map(_is_model, arguments)):
            origin = Sequence if origin is list else Mapping
        return f"{origin.__name__}[{', '.join(map(self._type, arguments))}]"


def _is_model(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, BaseModel)


_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def _place(link: re.Match[str]) -> str:
    """Return a link's text, with the page of the guide that it leads to."""
    page = f"api.md{link[2]}" if link[2].startswith("#") else link[2]
    return f"{link[1]} (docs/guide/{page})"


def _docstring(endpoint: Endpoint) -> str:
    """Return what is documented about an endpoint and its query."""
    paragraphs = [f"{endpoint.summary}."]
    paragraphs += [_LINK.sub(_place, each) for each in endpoint.description.split("\n\n") if each]
    lines = [
        "\n".join(textwrap.wrap(each, WIDTH, break_on_hyphens=False, break_long_words=False))
        for each in paragraphs
    ]
    about = [
        f"{_python_name(name)}: {each.description[0].upper()}{each.description[1:]}."
        for name, each in endpoint.operation.query.items()
        if each.description
    ]
    if about:
        lines.append("\n    ".join(["Args:", *about]))
    text = "\n\n".join(lines)
    return f"{text}\n" if "\n" in text else text


def _path_name(name: str) -> str:
    """Return a parameter's name; a session's number in the journal is `session`, as in bodies."""
    return "session" if name == "key" else name


def _python_name(name: str) -> str:
    snake = re.sub(r"(?<=[a-z])[A-Z]", lambda match: f"_{match[0].lower()}", name)
    return f"{snake}_" if snake in KEYWORDS else snake


def _keyword(name: str, value: str) -> str:
    """Return a member or parameter as an argument."""
    return f'**{{"{name}": {value}}}' if name in KEYWORDS else f"{name}={value}"


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
