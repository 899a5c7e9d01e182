"""Helpers that make credentials from keys, tokens and clients."""

from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.cases.openapi import CALLS, served

TOKENS = {
    "a key in a header": ("apikey", "header", "x-key", "k-1"),
    "a key in the query": ("apikey", "query", "key", "k-1"),
    "a bearer token": ("oauth2Token", None, None, "t-1"),
}
LOGIN = {
    "authorization_endpoint": "https://id.example/login",
    "token_endpoint": "https://id.example/token",
}
CLIENT = {"client_id": "c", "client_secret": "s", "redirect_uri": "https://app.example/back"}
CLIENTS = {"a client": CLIENT, "a downloaded client": {"web": CLIENT}}
SCHEMES = {
    "a key": {"type": "apiKey", "in": "header", "name": "x-key"},
    "a bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "basic": {"type": "http", "scheme": "basic"},
    "a flow": {
        "type": "oauth2",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": "https://id.example/login",
                "tokenUrl": "https://id.example/token",
                "scopes": {"read": "to read"},
            }
        },
    },
    "discovery": {"type": "openIdConnect", "openIdConnectUrl": "https://id.example/known"},
}
WRONG = {
    "a key nowhere": ("token_to_scheme_credential", ("apikey", "body", "key", "k")),
    "another token": ("token_to_scheme_credential", ("password",)),
    "a client without secret": (
        "openid_dict_to_scheme_credential",
        (LOGIN, ["read"], {"client_id": "c"}),
    ),
    "a login without endpoints": ("openid_dict_to_scheme_credential", ({}, ["read"], CLIENT)),
    "a scheme without type": ("dict_to_auth_scheme", ({"in": "header"},)),
    "a scheme of no kind": ("dict_to_auth_scheme", ({"type": "nothing"},)),
    "a key without a name": ("dict_to_auth_scheme", ({"type": "apiKey", "in": "query"},)),
}


def _told(model):
    return model and model.model_dump(by_alias=True, exclude_none=True, mode="json")


async def _by_token(stage, arguments):
    scheme, credential = stage.ns.token_to_scheme_credential(*arguments)
    how = {"auth_scheme": scheme, "auth_credential": credential}
    await served(stage, [CALLS["a query"]], **how)


async def _by_login(stage, client):
    pair = stage.ns.openid_dict_to_scheme_credential(dict(LOGIN), ["read"], client)
    stage.note("made", [_told(one) for one in pair])


async def _scheme(stage, scheme_dict):
    stage.note("scheme", _told(stage.ns.dict_to_auth_scheme(scheme_dict)))


async def _wrong(stage, helper, arguments):
    try:
        getattr(stage.ns, helper)(*arguments)
    except ValueError:
        stage.note("refused", helper)


for _name, _given in TOKENS.items():
    add(Case(f"a helper makes {_name}", partial(_by_token, arguments=_given)))
for _name, _client in CLIENTS.items():
    add(Case(f"a helper makes a login of {_name}", partial(_by_login, client=_client)))
for _name, _given in SCHEMES.items():
    add(Case(f"a helper makes a scheme: {_name}", partial(_scheme, scheme_dict=_given)))
for _name, (_helper, _given) in WRONG.items():
    add(Case(f"a helper refuses {_name}", partial(_wrong, helper=_helper, arguments=_given)))


@case()
async def a_helper_makes_schemes_of_what_is_not_there_yet(stage):
    for arguments in (("apikey", "header", "x-key"), ("oauth2Token",)):
        scheme, credential = stage.ns.token_to_scheme_credential(*arguments)
        stage.note("made", [_told(scheme), credential])


@case()
async def a_helper_makes_an_account_of_a_key_file(stage):
    key = {"type": "service_account", "project_id": "p", "client_email": "a@b.example"}
    pair = stage.ns.service_account_dict_to_scheme_credential(key, ["read"])
    stage.note("scheme", [pair[0].type_.value, sorted(pair[0].model_dump(exclude_none=True))])
    account = pair[1].service_account
    stage.note("account", [account.scopes, account.service_account_credential.client_email])
