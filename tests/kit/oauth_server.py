"""An OAuth 2 server for tests, as a separate process.

`python -m tests.kit.oauth_server` listens on a free port and prints its address first. It knows
the clients `app` and `short` with their secret, the public client `open`, which must prove itself
(PKCE), and the account of `key_file`. Codes, refresh tokens and proofs are valid once.

`/authorize` is the page where the user would agree; it redirects at once. `/token` issues tokens,
`/api/…` answers requests with a token, though none is enough for `/api/scoped`, `/tokens` says who
got what, `/expire` revokes all tokens, `/moved/…` redirects to `/token`, `/null/…` issues a token
that is null, and `/.well-known/…` names the endpoints.
"""

import base64
import hashlib
import json
import secrets
import sys
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey, RSAKey

Fields = dict[str, str]
SECRET = "s-3cret-of-the-client"
SECONDS = {"app": 3600, "short": 30}
"""The lifetime of a client's tokens in seconds; those of `short` are about to end when issued."""


class Refused(Exception):
    """A protocol error, by its name."""


@dataclass
class Server:
    """The server's state."""

    codes: dict[str, Fields] = field(default_factory=dict)
    refresh_tokens: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    given: list[Fields] = field(default_factory=list)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048))

    def authorize(self, request: Fields) -> str:
        """Return where the user ends up after agreeing, or refusing if the scope has `nobody`."""
        answer = {"state": request.get("state", "")}
        if "nobody" in request.get("scope", ""):
            answer |= {"error": "access_denied", "error_description": "the user said no"}
        else:
            code = secrets.token_urlsafe(8)
            self.codes[code] = request
            answer["code"] = code
        return f"{request['redirect_uri']}?{urlencode(answer)}"

    def token(self, request: Fields, client: str) -> dict[str, Any]:
        """Return the tokens for a request."""
        grant = request["grant_type"]
        if grant == "authorization_code":
            self._redeem(request, client)
        elif grant == "refresh_token":
            if self.refresh_tokens.pop(request["refresh_token"], None) != client:
                raise Refused("invalid_grant")
        elif grant == "client_credentials":
            return self._issue(client, request, with_refresh=False)
        elif grant.endswith(":jwt-bearer"):
            return self._account(request)
        return self._issue(client, request, with_refresh=True)

    def _redeem(self, request: Fields, client: str) -> None:
        login = self.codes.pop(request["code"], None)
        if login is None or login["client_id"] != client:
            raise Refused("invalid_grant")
        if login.get("redirect_uri") != request.get("redirect_uri"):
            raise Refused("invalid_grant")
        challenge = login.get("code_challenge", "")
        if challenge or client == "open":
            digest = hashlib.sha256(request.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != challenge:
                raise Refused("invalid_grant")

    def _account(self, request: Fields) -> dict[str, Any]:
        try:
            claims = jwt.decode(request["assertion"], self.key, algorithms=["RS256"]).claims
        except (JoseError, ValueError) as error:
            raise Refused("invalid_grant") from error
        if claims["iss"] != "robot@test" or claims["exp"] < time.time():
            raise Refused("invalid_grant")
        if "target_audience" in claims:
            issued = self._issue("robot@test", {"scope": claims["target_audience"]}, False)
            return {"id_token": issued["access_token"]}
        return self._issue("robot@test", {"scope": claims["scope"]}, with_refresh=False)

    def _issue(self, client: str, request: Fields, with_refresh: bool) -> dict[str, Any]:
        seconds = SECONDS.get(client, 3600)
        token = f"t-{secrets.token_urlsafe(8)}"
        self.tokens[token] = client
        answer: dict[str, Any] = {"access_token": token, "token_type": "Bearer"}
        answer["expires_in"] = seconds
        if with_refresh:
            refresh = f"r-{secrets.token_urlsafe(8)}"
            self.refresh_tokens[refresh] = client
            answer["refresh_token"] = refresh
        scope = request.get("scope", "")
        self.given.append(
            {
                "client": client,
                "grant": request.get("grant_type", ""),
                "token": token,
                "scope": scope,
            }
        )
        return answer


class Handler(BaseHTTPRequestHandler):
    server_state: ClassVar[Server] = Server()

    def do_GET(self) -> None:
        state = self.server_state
        where = urlsplit(self.path)
        address = f"http://{self.headers['Host']}"
        if where.path == "/authorize":
            self._answer(302, {}, Location=state.authorize(dict(parse_qsl(where.query))))
        elif where.path.startswith("/api/"):
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            page = {"page": where.path, "with": token}
            if where.path == "/api/scoped":
                self._answer(401, page, **{"WWW-Authenticate": 'Bearer error="insufficient_scope"'})
            else:
                self._answer(200 if token in state.tokens else 401, page)
        elif where.path == "/tokens":
            self._answer(200, state.given)
        elif where.path == "/expire":
            state.tokens.clear()
            self._answer(200, {})
        elif where.path == "/key":
            self._answer(200, key_file(address, state.key))
        elif where.path.startswith("/.well-known/"):
            endpoints = {"authorization_endpoint": "/authorize", "token_endpoint": "/token"}
            urls = {name: f"{address}{path}" for name, path in endpoints.items()}
            self._answer(200, {"issuer": address, **urls})
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        form = dict(parse_qsl(body))
        if self.path.startswith("/null/"):
            self._answer(200, {"access_token": None, "token_type": "Bearer"})
            return
        if self.path.startswith("/moved/"):
            self._answer(307, {}, Location="/token")
            return
        try:
            self._answer(200, self.server_state.token(form, self._client(form)))
        except Refused as refusal:
            self._answer(400, {"error": str(refusal), "error_description": "no such thing"})

    def _client(self, form: Fields) -> str:
        """Return the client, identified by its secret in header or body; only `open` needs none."""
        if form["grant_type"].endswith(":jwt-bearer"):
            return ""
        authorization = self.headers.get("Authorization", "").removeprefix("Basic ")
        name, _, secret = base64.b64decode(authorization).decode().partition(":")
        if "client_assertion" in form:
            key = OctKey.import_key(SECRET)
            return str(jwt.decode(form["client_assertion"], key).claims["iss"])
        if not authorization:
            name, secret = form.get("client_id", ""), form.get("client_secret", "")
        if name != "open" and secret != SECRET:
            raise Refused("invalid_client")
        return name

    def _answer(self, status: int, body: Any, **headers: str) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


def key_file(address: str, key: RSAKey) -> Fields:
    """Return what a service account is given to sign with."""
    return {
        "type": "service_account",
        "project_id": "p",
        "private_key_id": "k1",
        "private_key": key.as_pem(private=True).decode(),
        "client_email": "robot@test",
        "client_id": "1",
        "auth_uri": f"{address}/authorize",
        "token_uri": f"{address}/token",
        "auth_provider_x509_cert_url": "",
        "client_x509_cert_url": "",
        "universe_domain": "test",
    }


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
