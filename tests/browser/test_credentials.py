"""Credentials that agents' tools need, as a person enters them on the page."""

import pytest
from playwright.sync_api import expect

from tests.kit.browser import SessionPage, Visit
from tests.kit.oauth import SECRET, child, given_by
from tests.kit.server import running, write_app

pytestmark = pytest.mark.browser
pytest.importorskip("authlib")

AGENT = '''
import urllib.request

from devui.runtime.agents import Agent
from devui.runtime.auth import AuthConfig, AuthCredential, OAuth2Auth
from devui.runtime.auth.auth_schemes import (
    HTTPBase, HTTPBearer, OAuth2, OAuthFlow, OAuthFlows,
)
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools.base_authenticated_tool import AuthenticatedFunctionTool

URL = {url!r}
flow = OAuthFlow(
    authorizationUrl=URL + "/authorize", tokenUrl=URL + "/token", scopes={{"mail": "read"}}
)
client = OAuth2Auth(client_id="app", client_secret={secret!r}, redirect_uri=URL + "/back")


def mail(credential: AuthCredential) -> str:
    """Read the mail."""
    headers = {{"Authorization": "Bearer " + credential.oauth2.access_token}}
    asked = urllib.request.Request(URL + "/api/mail", headers=headers)
    with urllib.request.urlopen(asked) as answer:
        return f"status {{answer.status}}"


def wiki(credential: AuthCredential) -> str:
    """Read the wiki."""
    given = credential.http.credentials
    return f"{{credential.http.scheme}} {{given.username}} {{len(given.password)}}"


def tickets(credential: AuthCredential) -> str:
    """Read the tickets."""
    return f"{{credential.http.scheme}} {{len(credential.http.credentials.token)}}"


def needs(func, scheme, raw=None):
    config = AuthConfig(auth_scheme=scheme, raw_auth_credential=raw)
    return AuthenticatedFunctionTool(func=func, auth_config=config)


names = ("mail", "wiki", "tickets")
root_agent = Agent(
    name="Reader",
    tools=[
        needs(mail, OAuth2(flows=OAuthFlows(authorizationCode=flow)),
              AuthCredential(auth_type="oauth2", oauth2=client)),
        needs(wiki, HTTPBase(scheme="basic")),
        needs(tickets, HTTPBearer()),
    ],
    model=ScriptedLlm(rules=[
        *(Rule(after=name, then=Say("Read with {{result}}.")) for name in names),
        *(Rule(user=name, then=Call(name)) for name in names),
    ]),
)
'''


@pytest.fixture(scope="module")
def service():
    with child("tests.kit.oauth_server") as url:
        yield url


@pytest.fixture(scope="module")
def reader(tmp_path_factory, service):
    folder = tmp_path_factory.mktemp("reading")
    write_app(folder / "agents", "reader", AGENT.format(url=service, secret=SECRET))
    with running(folder / "agents", folder / "data", "--no-auth") as server:
        yield server


@pytest.fixture
def reading(browser, reader):
    with Visit(browser, reader) as reading:
        yield reading


def session_with_question(visit: Visit, text: str, user: str) -> SessionPage:
    """Start a session with a question, for the test's own user: credentials are kept per user."""
    session = visit.session("reader", user=user)
    session.say(text)
    expect(session.page.locator(".ask")).to_have_count(1)
    return session


def send(session: SessionPage) -> None:
    session.page.locator(".ask").get_by_role("button", name="Send answer").click()


def is_answered(session: SessionPage, visit: Visit, says: str) -> None:
    """Check that the form is gone, the tool has continued, and a new page shows the same."""
    expect(session.messages.last).to_contain_text(says)
    session.ends()
    expect(session.page.locator(".ask")).to_have_count(0)
    session.equals(visit.again(session), "#messages")


def signed_in(session: SessionPage, visit: Visit, service: str) -> str:
    """Follow the link, agree there, and return the address where the browser ends up."""
    visit.allow(f"{service}/(back|favicon.ico)|another origin: {service}/")
    with visit.context.expect_page() as opened:
        session.page.get_by_role("link", name="Open the sign-in page").click()
    opened.value.wait_for_url(f"{service}/back?**")
    address = opened.value.url
    opened.value.close()
    return address


def test_the_question_names_the_tool_that_needs_the_credential(reading):
    needed = {"wiki": "a sign-in", "mail": "you to sign in to the service"}
    for tool, what in needed.items():
        session = session_with_question(reading, tool, "eve")
        question = session.page.locator(".ask")
        expect(question).to_contain_text(f"The tool {tool} of Reader needs {what}.")
        session.equals(reading.again(session), "#messages")


def test_a_username_and_password_are_requested_and_used(reading):
    session = session_with_question(reading, "wiki", "ada")
    session.page.get_by_label("Username").fill("ada")
    password = session.page.get_by_label("Password")
    expect(password).to_have_attribute("type", "password")
    password.fill("12345")
    password.press("Enter")
    is_answered(session, reading, "Read with basic ada 5.")


def test_a_token_is_requested_and_used(reading):
    session = session_with_question(reading, "tickets", "bob")
    token = session.page.get_by_label("Token", exact=True)
    expect(token).to_have_attribute("type", "password")
    token.fill("t-123")
    send(session)
    is_answered(session, reading, "Read with bearer 5.")


def test_a_person_signs_in_at_the_service_and_the_tool_continues(reading, service):
    session = session_with_question(reading, "mail", "cleo")
    address = signed_in(session, reading, service)
    session.page.get_by_label("Address after signing in").fill(address)
    send(session)
    is_answered(session, reading, "Read with status 200.")
    assert given_by(service, "app")


def test_a_wrong_return_address_is_refused_and_the_form_stays(reading, service):
    session = session_with_question(reading, "mail", "dan")
    back = session.page.get_by_label("Address after signing in")
    reading.allow("422")
    back.fill("i am in")
    send(session)
    session.told_at(back, "has no code")
    address = signed_in(session, reading, service)
    back.fill(address.replace("state=", "state=x"))
    send(session)
    session.told_at(back, "is from another sign-in")
    back.fill(address)
    send(session)
    is_answered(session, reading, "Read with status 200.")
