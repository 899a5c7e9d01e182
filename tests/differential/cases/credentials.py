"""Credentials of tools and toolsets: requested, stored, or taken from the configuration."""

from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.differing import KEPT_CREDENTIALS
from tests.differential.script import call

KEY = {"type": "apiKey", "in": "header", "name": "X-Key"}


def _config(stage, **raw):
    config = {"auth_scheme": KEY, "credential_key": "the key"}
    if raw:
        config["raw_auth_credential"] = {"auth_type": "apiKey", **raw}
    return stage.ns.AuthConfig.model_validate(config)


def _tool(stage, config, **kwargs):
    def unlock(door: str, credential):
        return f"{door} opened with {credential.api_key}"

    return stage.ns.AuthenticatedFunctionTool(func=unlock, auth_config=config, **kwargs)


def given(stage, key: str):
    """Return the user's answer to the latest credential request."""
    question = stage.call("adk_request_credential")
    config = dict(question.get_function_calls()[0].args["authConfig"])
    config["exchangedAuthCredential"] = {"authType": "apiKey", "apiKey": key}
    return stage.answer(question, **config)


async def _kept(stage, service):
    tool = _tool(stage, _config(stage), response_for_auth_required="one moment")
    answers = (call("unlock", door="a"), "It is open.", call("unlock", door="b"), "So is it.")
    agent = stage.agent("agent", *answers, tools=[tool])
    await stage.open(agent, services={"credential_service": getattr(stage.ns, service)()})
    await stage.say()
    await stage.say(given(stage, "k-1"))
    await stage.say("And b?")


for _service, _differs in {
    "InMemoryCredentialService": None,
    "SessionStateCredentialService": KEPT_CREDENTIALS,
}.items():
    _play = partial(_kept, service=_service)
    add(Case(f"a credential is kept by {_service}", _play, _differs))


@case()
async def a_configured_key_is_used_as_it_is(stage):
    tool = _tool(stage, _config(stage, api_key="own"))
    await stage.open(stage.agent("agent", call("unlock", door="a"), "Open.", tools=[tool]))
    await stage.say()


@case()
async def a_tool_without_an_auth_config_gets_no_credential(stage):
    def unlock(door: str, credential):
        return f"{door} {credential}"

    tool = stage.ns.AuthenticatedFunctionTool(func=unlock)
    await stage.open(stage.agent("agent", call("unlock", door="a"), "Open.", tools=[tool]))
    await stage.say()


def _toolset(stage, config):
    class Guarded(stage.ns.BaseToolset):
        def get_auth_config(self):
            return config

        async def get_tools(self, readonly_context=None):
            credential = readonly_context.get_credential("the key")

            def unlock(door: str):
                return f"{door} opened with {credential.api_key}"

            return [stage.ns.FunctionTool(unlock)]

    return Guarded()


async def _guarded(stage, resumable):
    tools = [_toolset(stage, _config(stage))]
    agent = stage.agent("agent", call("unlock", door="a"), "It is open.", tools=tools)
    service = stage.ns.InMemoryCredentialService()
    await stage.open(agent, resumable=resumable, services={"credential_service": service})
    await stage.say()
    await stage.say(given(stage, "k-1"))
    await stage.say("Thanks.")


for _resumable in (False, True):
    _kind = " in a resumable app" if _resumable else ""
    add(Case(f"a toolset asks for a credential{_kind}", partial(_guarded, resumable=_resumable)))


@case()
async def a_toolset_uses_a_configured_key(stage):
    tools = [_toolset(stage, _config(stage, api_key="own"))]
    await stage.open(stage.agent("agent", call("unlock", door="a"), "It is open.", tools=tools))
    await stage.say()
