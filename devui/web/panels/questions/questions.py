"""Agents' questions to people as forms, and the filled-in forms as function responses.

An agent asks with a call that no tool answers: a confirmation, an input, a credential (adk-runtime
8.4 to 8.6, 12.6), or a long-running tool of the app's own. The answer is a message of the user
with a function response of the same id.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from devui.debugger.events.summary import unwrapped
from devui.web.errors import BadRequest, Unprocessable
from devui.web.panels.questions.parts import QuestionChoice, QuestionField
from devui.web.panels.questions.schema_forms import Fields, SchemaForm, WrongFields, schema_of
from devui.web.security.intake import parse_typed, parse_typed_or_text
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped, web_address
from devui.wire.events import fields_in


@dataclass(frozen=True, slots=True)
class Form:
    """A question as presented to a person."""

    hint: str
    """The question in words."""
    fields: tuple[QuestionField, ...]
    choices: tuple[QuestionChoice, ...]
    about: str = ""
    """The subject of the decision: the call, the agent's payload."""


CREDENTIAL: Final = "adk_request_credential"
"""The name of the call that asks for a credential."""
_ONE_LINE: Final = 60
"""Maximum characters of JSON that still read well on one line."""
_FOR_PROGRAMS: Final = "ToolConfirmation"
"""Marks the hint that runtimes use if the author gave none: it says how programs answer."""
_NO_CODE: Final = (
    "the address has no code: sign in first, then paste the full address from the browser"
)
_OTHER_SIGN_IN: Final = (
    "the address is from another sign-in: open the sign-in page from this question"
)
_NO_AUTHLIB: Final = (
    " Fetching the token requires authlib, which isn't installed: run pip install"
    " 'devui[oauth]', then answer."
)
_TRUTH: Final = ("true", "false")
_SEND: Final = (QuestionChoice("send", "Send answer"),)


def form_of(
    name: str, args: Mapping[str, Any], who: str, latest: Mapping[str, Any] | None = None
) -> Form:
    """Return the form for the call of this name; `who` needs the answer and appears in a sentence.

    `latest` is the current response, which a long-running tool's form updates.
    """
    if name == CREDENTIAL:
        return _credential(args, who)
    form = _FORMS.get(name)
    return form(args) if form else _any_form(latest)


def answer_of(name: str, args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """Return the function response for a filled-in form.

    Raises:
        WrongFields: a field has an invalid value.
        Unprocessable: the choice isn't one of the question's buttons.
    """
    return _ANSWERS.get(name, _any_answer)(args, fields)


def sign_in_link(args: Mapping[str, Any]) -> str:
    """Return the sign-in page that the call asks for; "" for anything but http(s)."""
    oauth2 = fields_in(fields_in(_auth(args).get("exchangedAuthCredential")).get("oauth2"))
    address = str(oauth2.get("authUri") or "")
    return web_address(address)


# --- confirmations -------------------------------------------------------------------------


def _confirmation(args: Mapping[str, Any]) -> Form:
    confirmation = fields_in(args.get("toolConfirmation"))
    call = fields_in(args.get("originalFunctionCall"))
    payload = confirmation.get("payload")
    hint = str(confirmation.get("hint") or "")
    if not hint or _FOR_PROGRAMS in hint:
        hint = "Allow this call?"
    schema = schema_of(payload)
    fields: tuple[QuestionField, ...] = ()
    if schema is not None:
        fields = tuple(map(_of_payload, SchemaForm(schema, "payload").fields(payload)))
    elif payload is not None:
        fields = (_json_field("payload", "Payload", payload),)
    about = f"{call.get('name', '')}({_arguments(fields_in(call.get('args')))})"
    return Form(
        hint, fields, (QuestionChoice("yes", "Confirm"), QuestionChoice("no", "Reject")), about
    )


def _of_payload(field: QuestionField) -> QuestionField:
    """Return the field for a payload: an unchecked box would send nothing, as if there were none.

    Text fields are never required, since an empty text is a valid value.
    """
    if field.kind == "boolean":
        return replace(field, kind="choice", options=_TRUTH, required=True)
    return replace(field, required=field.required and field.kind not in {"text", "long"})


def _confirm(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    if fields.get("choice") not in {"yes", "no"}:
        raise Unprocessable("choose yes or no")
    answer: dict[str, Any] = {"confirmed": fields["choice"] == "yes"}
    schema = schema_of(fields_in(args.get("toolConfirmation")).get("payload"))
    if schema is not None and any(name.startswith("payload.") for name in fields):
        answer["payload"] = SchemaForm(schema, "payload").read(fields)
    elif "payload" in fields:
        answer["payload"] = _json(fields, "payload", "Payload")
    return answer


# --- inputs --------------------------------------------------------------------------------


def _input(args: Mapping[str, Any]) -> Form:
    schema = fields_in(args.get("response_schema") or args.get("responseSchema"))
    hint = str(args.get("message") or "Enter your answer.")
    about = "" if args.get("payload") is None else _readable(args["payload"])
    if schema.get("type") == "boolean":
        yes_or_no = QuestionChoice("true", "Yes"), QuestionChoice("false", "No")
        return Form(hint, (), yes_or_no, about)
    if isinstance(schema.get("enum"), list):
        options = tuple(QuestionChoice(str(one), str(one)) for one in schema["enum"])
        return Form(hint, (), options, about)
    return Form(hint, _fields(schema), _SEND, about)


def _fields(schema: Mapping[str, Any]) -> tuple[QuestionField, ...]:
    if schema.get("type") == "object" and schema.get("properties"):
        return SchemaForm(schema, "answer").fields()
    (field,) = SchemaForm(_alone(schema), "of").fields()
    return (replace(field, name="answer", kind="long" if field.kind == "text" else field.kind),)


def _alone(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a single answer as that of an object with this one member."""
    one = schema or {"type": "string"}
    rest = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    answer = {"title": "Answer", **one}
    return {"properties": {"answer": answer}, "required": ["answer"], **rest}


def _answer(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    schema = fields_in(args.get("response_schema") or args.get("responseSchema"))
    if schema.get("type") == "boolean":
        return {"result": fields.get("choice") == "true"}
    if isinstance(schema.get("enum"), list):
        return {"result": _option(schema["enum"], fields.get("choice"))}
    if schema.get("type") == "object" and schema.get("properties"):
        return {"result": SchemaForm(schema, "answer").read(fields)}
    try:
        answer = SchemaForm(_alone(schema), "of").read({"of.answer": fields.get("answer", "")})
    except WrongFields as error:
        raise WrongFields({"answer": str(error)}) from error
    return {"result": answer["answer"]}


def _option(options: list[Any], text: str | None) -> Any:
    matches = [one for one in options if str(one) == text]
    if not matches:
        raise Unprocessable(f"choose one of {', '.join(map(str, options))}")
    return matches[0]


# --- credentials ---------------------------------------------------------------------------


def _credential(args: Mapping[str, Any], who: str) -> Form:
    scheme = fields_in(_auth(args).get("authScheme"))
    match _scheme_type(scheme):
        case "apiKey":
            where = f"{scheme.get('in', 'header')} {scheme.get('name', '')}".strip()
            key = QuestionField("key", "API key", "secret", hint=f"sent as {where}", required=True)
            return Form(f"{who} needs an API key.", (key,), _SEND)
        case "http":
            return Form(f"{who} needs a sign-in.", _http_fields(scheme), _SEND)
        case "oauth2" | "openIdConnect":
            back = QuestionField(
                "back",
                "Address after signing in",
                "text",
                hint="open the link, sign in, then paste the address from the browser",
                required=True,
            )
            need = f"{who} needs you to sign in to the service."
            return Form(need + ("" if find_spec("authlib") else _NO_AUTHLIB), (back,), _SEND)
        case _:
            config = _json_field("config", "Credential, as JSON", _auth(args))
            return Form(f"{who} needs a credential.", (config,), _SEND)


def _http_fields(scheme: Mapping[str, Any]) -> tuple[QuestionField, ...]:
    if str(scheme.get("scheme") or "").lower() == "basic":
        name = QuestionField("username", "Username", "text", required=True)
        return name, QuestionField("password", "Password", "secret", required=True)
    return (QuestionField("token", "Token", "secret", required=True),)


def _credentials(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    config = dict(_auth(args))
    scheme = fields_in(config.get("authScheme"))
    match _scheme_type(scheme):
        case "apiKey":
            credential: dict[str, Any] = {"authType": "apiKey", "apiKey": fields.get("key", "")}
        case "http":
            names = ("username", "password", "token")
            values = {name: fields[name] for name in names if fields.get(name)}
            kind = str(scheme.get("scheme") or "bearer").lower()
            credential = {"authType": "http", "http": {"scheme": kind, "credentials": values}}
        case "oauth2" | "openIdConnect":
            base = dict(fields_in(config.get("exchangedAuthCredential")))
            login = fields_in(base.get("oauth2"))
            back = _sent_back(login, fields.get("back", "").strip())
            credential = {**base, "oauth2": {**login, "authResponseUri": back}}
        case _:
            values = _json(fields, "config", "The credential")
            if not isinstance(values, dict):
                raise WrongFields({"config": "must be a JSON object"})
            return values
    return {**config, "exchangedAuthCredential": credential}


def _sent_back(login: Mapping[str, Any], address: str) -> str:
    """Return the address if this sign-in can have ended there: with a code or an error (RFC 6749
    4.1.2). Raises WrongFields.

    Runtimes drop any other address and ask again without telling the person why.
    """
    query = dict(parse_qsl(urlsplit(address).query))
    if not query.keys() & {"code", "error"}:
        raise WrongFields({"back": _NO_CODE})
    if login.get("state") and query.get("state") != login["state"]:
        raise WrongFields({"back": _OTHER_SIGN_IN})
    return address


def _auth(args: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields_in(args.get("authConfig"))


def _scheme_type(scheme: Mapping[str, Any]) -> str:
    return str(scheme.get("type") or scheme.get("type_") or "")


# --- long-running tools ----------------------------------------------------------------------


def _choices(args: Mapping[str, Any]) -> Form:
    options = args.get("options")
    labels = [str(one) for one in options] if isinstance(options, list) else []
    return Form(
        "Choose one.", (), tuple(QuestionChoice(visible(one), visible(one)) for one in labels)
    )


def _choice(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    return {"result": _option(args.get("options") or [], fields.get("choice"))}


def _any_form(latest: Mapping[str, Any] | None) -> Form:
    field = _json_field("response", "Result of the call, as JSON or text", {"status": "done"})
    text = _result_text(latest) if latest else ""
    if text and text == clipped(text):  # the start of a longer text would be sent as the whole
        field = replace(field, value=text)
    hint = "This call is long-running. Enter its result, and update it whenever it changes."
    return Form(hint, (field,), (QuestionChoice("send", "Send result"),))


def _any_answer(args: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    if not fields.get("response", "").strip():
        raise WrongFields({"response": "enter a result first; for an empty text, enter two quotes"})
    value = _json(fields, "response", "The result", parse=parse_typed_or_text)
    return value if isinstance(value, dict) else {"result": value}


def _result_text(response: Mapping[str, Any]) -> str:
    """Return the text that `_any_answer` reads as this response."""
    value = unwrapped(response)
    if isinstance(value, str):
        try:
            if parse_typed_or_text(value) == value:
                return value
        except BadRequest:
            pass
    return json.dumps(response if isinstance(value, dict) else value, ensure_ascii=False, indent=2)


# --- JSON in a field -------------------------------------------------------------------------


def _arguments(args: Mapping[str, Any]) -> str:
    """Return the arguments in full: each on its own line if they are long together."""
    each = [f"{name}={_readable(value)}" for name, value in args.items()]
    line = ", ".join(each)
    return line if len(line) <= _ONE_LINE else "\n  " + ",\n  ".join(each) + "\n"


def _readable(value: Any) -> str:
    """Format JSON for display: on one line if it is short."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _ONE_LINE else json.dumps(value, ensure_ascii=False, indent=2)


def _json_field(name: str, label: str, value: Any) -> QuestionField:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return QuestionField(name, label, "json", value=clipped(text), required=True)


def _json(
    fields: Fields, name: str, label: str, *, parse: Callable[[str], Any] = parse_typed
) -> Any:
    try:
        return parse(fields.get(name, ""))
    except BadRequest as error:
        raise WrongFields({name: f"{label}: {error}"}) from error


_FORMS: Final[Mapping[str, Callable[[Mapping[str, Any]], Form]]] = {
    "adk_request_confirmation": _confirmation,
    "adk_request_input": _input,
    "get_user_choice": _choices,
}
_ANSWERS: Final[Mapping[str, Callable[[Mapping[str, Any], Fields], dict[str, Any]]]] = {
    "adk_request_confirmation": _confirm,
    "adk_request_input": _answer,
    CREDENTIAL: _credentials,
    "get_user_choice": _choice,
}
