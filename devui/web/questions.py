"""What agents ask people, as forms; and what the forms say, as function responses.

An agent asks with a call that no tool answers: a confirmation, an input, a credential (adk-runtime
8.4 to 8.6, 12.6), or a long-running tool of the app's own. The answer is a message of the user
with a function response of the same id.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from devui.web.content import clipped, mapping
from devui.web.errors import BadRequest, Unprocessable
from devui.web.intake import parse_json
from devui.web.parts import AskChoice, AskField, FieldKind
from devui.web.visible import visible

Fields: TypeAlias = Mapping[str, str]
Form: TypeAlias = tuple[str, tuple[AskField, ...], tuple[AskChoice, ...]]
"""The question in words, what to fill in, and the buttons."""

_SEND: Final = (AskChoice("send", "Send answer"),)
_KINDS: Final[Mapping[str, FieldKind]] = {
    "string": "text",
    "integer": "whole",
    "number": "number",
    "boolean": "boolean",
}


def form_of(name: str, args: Mapping[str, Any]) -> Form:
    """How the call of this name is answered."""
    return _FORMS.get(name, _any_form)(args)


def answer_of(name: str, args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """The function response that the filled-in form says.

    Raises:
        Unprocessable: a field does not hold what it is for; the sentence names it.
    """
    return _ANSWERS.get(name, _any_answer)(args, fields)


def sign_in_link(args: Mapping[str, Any]) -> str:
    """Where a person signs in, if the call asks for that; "" for anything but http(s)."""
    oauth2 = mapping(mapping(_auth(args).get("exchangedAuthCredential")).get("oauth2"))
    address = str(oauth2.get("authUri") or "")
    return address if urlsplit(address).scheme in {"http", "https"} else ""


# --- confirmations -------------------------------------------------------------------------


def _confirmation(args: Mapping[str, Any]) -> Form:
    asked = mapping(args.get("toolConfirmation"))
    call = mapping(args.get("originalFunctionCall"))
    payload = asked.get("payload")
    given = json.dumps(call.get("args") or {}, ensure_ascii=False)
    hint = str(asked.get("hint") or "May this call be made?")
    shown = () if payload is None else (_json_field("payload", "Payload", payload),)
    words = f"{hint} {call.get('name', '')} {given}"
    return words, shown, (AskChoice("yes", "Confirm"), AskChoice("no", "Reject"))


def _confirmed(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    if fields.get("choice") not in {"yes", "no"}:
        raise Unprocessable("say yes or no")
    answer: dict[str, Any] = {"confirmed": fields["choice"] == "yes"}
    if "payload" in fields:
        answer["payload"] = _json(fields["payload"], "Payload")
    return answer


# --- inputs --------------------------------------------------------------------------------


def _input(args: Mapping[str, Any]) -> Form:
    schema = mapping(args.get("response_schema") or args.get("responseSchema"))
    hint = str(args.get("message") or "Your answer, please.")
    if schema.get("type") == "boolean":
        return hint, (), (AskChoice("true", "Yes"), AskChoice("false", "No"))
    if isinstance(schema.get("enum"), list):
        return hint, (), tuple(AskChoice(str(one), str(one)) for one in schema["enum"])
    return hint, _fields(schema), _SEND


def _fields(schema: Mapping[str, Any]) -> tuple[AskField, ...]:
    properties = mapping(schema.get("properties"))
    if schema.get("type") != "object" or not properties:
        return (_field("answer", schema or {"type": "string"}, "Answer", required=True),)
    required = schema.get("required") or ()
    return tuple(
        _field(f"answer.{name}", mapping(one), str(name), required=name in required)
        for name, one in properties.items()
    )


def _field(name: str, schema: Mapping[str, Any], label: str, *, required: bool) -> AskField:
    options = schema.get("enum")
    kind: FieldKind = _KINDS.get(str(schema.get("type")), "json")
    default = schema.get("default")
    text = default if isinstance(default, str) else json.dumps(default)
    return AskField(
        name=name,
        label=visible(str(schema.get("title") or label)),
        kind="choice"
        if isinstance(options, list)
        else "long"
        if name == "answer" and kind == "text"
        else kind,
        value="" if default is None else visible(text),
        options=tuple(map(str, options)) if isinstance(options, list) else (),
        hint=visible(str(schema.get("description") or "")),
        required=required and kind != "boolean",
    )


def _given(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    schema = mapping(args.get("response_schema") or args.get("responseSchema"))
    if schema.get("type") == "boolean":
        return {"result": fields.get("choice") == "true"}
    if isinstance(schema.get("enum"), list):
        return {"result": _chosen(schema["enum"], fields.get("choice"))}
    properties = mapping(schema.get("properties"))
    if schema.get("type") != "object" or not properties:
        return {"result": _value(schema or {"type": "string"}, fields.get("answer", ""), "Answer")}
    values = {
        name: _value(mapping(one), fields.get(f"answer.{name}", ""), str(name))
        for name, one in properties.items()
        if fields.get(f"answer.{name}") or mapping(one).get("type") in {"boolean", "string"}
    }
    return {"result": values}


def _value(schema: Mapping[str, Any], text: str, label: str) -> Any:
    if isinstance(schema.get("enum"), list):
        return _chosen(schema["enum"], text)
    match schema.get("type"):
        case "string":
            return text
        case "boolean":
            return text in {"on", "true"}
        case _:
            value = _json(text, label)
    if schema.get("type") == "integer" and not isinstance(value, int):
        raise Unprocessable(f"{label} has to be a whole number")
    return value


def _chosen(options: list[Any], text: str | None) -> Any:
    found = [one for one in options if str(one) == text]
    if not found:
        raise Unprocessable(f"choose one of {', '.join(map(str, options))}")
    return found[0]


# --- credentials ---------------------------------------------------------------------------


def _credential(args: Mapping[str, Any]) -> Form:
    scheme = mapping(_auth(args).get("authScheme"))
    match _scheme_type(scheme):
        case "apiKey":
            where = f"{scheme.get('in', 'header')} {scheme.get('name', '')}".strip()
            key = AskField("key", "API key", "secret", hint=f"sent as {where}", required=True)
            return "An API key is needed.", (key,), _SEND
        case "http":
            return "A sign-in is needed.", _http_fields(scheme), _SEND
        case "oauth2" | "openIdConnect":
            back = AskField(
                "back",
                "Address you were sent back to",
                "text",
                hint="open the link, sign in, and paste the address the browser then shows",
                required=True,
            )
            return "Sign in with the service.", (back,), _SEND
        case _:
            config = _json_field("config", "The credential as JSON", _auth(args))
            return "A credential is needed.", (config,), _SEND


def _http_fields(scheme: Mapping[str, Any]) -> tuple[AskField, ...]:
    if str(scheme.get("scheme") or "").lower() == "basic":
        name = AskField("username", "User name", "text", required=True)
        return name, AskField("password", "Password", "secret", required=True)
    return (AskField("token", "Token", "secret", required=True),)


def _credentials(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    config = dict(_auth(args))
    scheme = mapping(config.get("authScheme"))
    match _scheme_type(scheme):
        case "apiKey":
            made: dict[str, Any] = {"authType": "apiKey", "apiKey": fields.get("key", "")}
        case "http":
            names = ("username", "password", "token")
            given = {name: fields[name] for name in names if fields.get(name)}
            kind = str(scheme.get("scheme") or "bearer").lower()
            made = {"authType": "http", "http": {"scheme": kind, "credentials": given}}
        case "oauth2" | "openIdConnect":
            asked = dict(mapping(config.get("exchangedAuthCredential")))
            oauth2 = {**mapping(asked.get("oauth2")), "authResponseUri": fields.get("back", "")}
            made = {**asked, "oauth2": oauth2}
        case _:
            return mapping_of(_json(fields.get("config", ""), "The credential"))
    return {**config, "exchangedAuthCredential": made}


def _auth(args: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(args.get("authConfig"))


def _scheme_type(scheme: Mapping[str, Any]) -> str:
    return str(scheme.get("type") or scheme.get("type_") or "")


# --- tools that take long -------------------------------------------------------------------


def _choices(args: Mapping[str, Any]) -> Form:
    options = args.get("options")
    named = [str(one) for one in options] if isinstance(options, list) else []
    return "Choose one.", (), tuple(AskChoice(visible(one), visible(one)) for one in named)


def _choice(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    return {"result": _chosen(args.get("options") or [], fields.get("choice"))}


def _any_form(args: Mapping[str, Any]) -> Form:
    field = _json_field("response", "Result of the call, as JSON", {"status": "done"})
    return (
        "This takes long: its result can be given here.",
        (field,),
        (AskChoice("send", "Send result"),),
    )


def _any_answer(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    value = _json(fields.get("response", ""), "The result")
    return value if isinstance(value, dict) else {"result": value}


# --- JSON in a field -------------------------------------------------------------------------


def mapping_of(value: Any) -> dict[str, Any]:
    """The value if it is a JSON object; raises Unprocessable."""
    if not isinstance(value, dict):
        raise Unprocessable("this has to be a JSON object")
    return value


def _json_field(name: str, label: str, value: Any) -> AskField:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return AskField(name, label, "json", value=clipped(text), required=True)


def _json(text: str, label: str) -> Any:
    try:
        return parse_json(text.encode())
    except BadRequest as error:
        raise Unprocessable(f"{label}: {error}") from error


_FORMS: Final[Mapping[str, Callable[[Mapping[str, Any]], Form]]] = {
    "adk_request_confirmation": _confirmation,
    "adk_request_input": _input,
    "adk_request_credential": _credential,
    "get_user_choice": _choices,
}
_ANSWERS: Final[Mapping[str, Callable[[Mapping[str, Any], Fields], dict[str, Any]]]] = {
    "adk_request_confirmation": _confirmed,
    "adk_request_input": _given,
    "adk_request_credential": _credentials,
    "get_user_choice": _choice,
}
