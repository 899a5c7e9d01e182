"""Access tokens, sign-in codes, and cookies of signed-in browsers."""

import pytest

from devui.web.security.access import CODE_LIFETIME, MIN_TOKEN, Access, WeakToken

TOKEN = "0123456789abcdef"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.req("R07")
def test_each_access_has_a_new_random_token() -> None:
    assert Access().token != Access().token
    assert len(Access().token) >= 43


@pytest.mark.parametrize("blank", [None, "", "  \n"])
def test_a_blank_token_is_replaced_by_a_random_one(blank: str | None) -> None:
    access = Access(blank)
    assert len(access.token) >= 43
    assert not access.admits_bearer("")
    assert access.admits_bearer(access.token)


@pytest.mark.parametrize("token", ["short", "x" * (MIN_TOKEN - 1), "a token with blanks", "ü" * 20])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(WeakToken):
        Access(token)


@pytest.mark.req("R07")
@pytest.mark.parametrize("wrong", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ü\ud800"])
def test_only_the_exact_token_is_admitted(wrong: str) -> None:
    access = Access(f" {TOKEN}\n")
    assert access.admits_bearer(TOKEN)
    assert not access.admits_bearer(wrong)


@pytest.mark.req("R07")
def test_a_key_is_admitted_like_the_token_until_access_is_revoked() -> None:
    access = Access(TOKEN)
    key = access.new_key()
    assert key != access.new_key()
    assert access.admits_bearer(key)
    assert access.admits_bearer(TOKEN)
    access.revoke(TOKEN)
    assert not access.admits_bearer(key)


@pytest.mark.req("R08")
def test_a_code_signs_in_one_browser_once() -> None:
    access = Access()
    code = access.new_code()
    secret = access.redeem(code)
    assert secret is not None
    assert access.admits_cookie([secret])
    assert access.redeem(code) is None


@pytest.mark.req("R08")
def test_a_code_expires_after_ten_minutes() -> None:
    clock = Clock()
    access = Access(clock=clock)
    early, late = access.new_code(), access.new_code()
    clock.now += CODE_LIFETIME - 1
    assert access.redeem(early)
    clock.now += 1
    assert access.redeem(late) is None


def test_codes_are_independent_and_wrong_ones_use_up_none() -> None:
    access = Access()
    first, second = access.new_code(), access.new_code()
    assert access.redeem("nonsense") is None
    assert access.redeem(second)
    assert access.redeem(first)


def test_a_foreign_cookie_beside_the_right_one_does_no_harm() -> None:
    access = Access(TOKEN)
    secret = access.sign_in(TOKEN)
    assert secret is not None
    assert access.admits_cookie(["from another port", secret])
    assert not access.admits_cookie(["from another port"])
    assert not access.admits_cookie([])
    assert not access.admits_cookie([TOKEN])


def test_a_wrong_token_does_not_sign_in() -> None:
    assert Access(TOKEN).sign_in("wrong") is None


@pytest.mark.req("R07")
def test_revoking_invalidates_cookies_codes_and_token_and_notifies() -> None:
    access, notices = Access(TOKEN), []
    access.on_revoke(lambda: notices.append("revoked"))
    secret, code = access.sign_in(TOKEN), access.new_code()
    access.revoke()
    assert secret is not None
    assert not access.admits_cookie([secret])
    assert not access.admits_bearer(TOKEN)
    assert access.redeem(code) is None
    assert notices == ["revoked"]
    assert access.admits_bearer(access.token)


def test_a_weak_new_token_revokes_nothing() -> None:
    access = Access(TOKEN)
    with pytest.raises(WeakToken):
        access.revoke("weak")
    assert access.admits_bearer(TOKEN)


def test_only_the_latest_sign_ins_are_kept() -> None:
    access = Access(TOKEN)
    secrets = [access.sign_in(TOKEN) or "" for _ in range(100)]
    assert access.admits_cookie([secrets[-1]])
    assert not access.admits_cookie([secrets[0]])
