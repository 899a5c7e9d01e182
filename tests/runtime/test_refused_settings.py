"""Settings that contradict each other are refused, as by google-adk 2.13.0."""

import pytest
from pydantic import ValidationError

from devui.runtime.auth.auth_credential import ServiceAccount
from devui.runtime.models.llm_response import CacheMetadata

FINGERPRINT = {"fingerprint": "f", "contents_count": 1}
CACHE = {"cache_name": "c", "expire_time": 1.0, "invocations_used": 0}


@pytest.mark.parametrize(
    ("kind", "settings", "words"),
    [
        (ServiceAccount, {"scopes": ["s"]}, "service_account_credential"),
        (ServiceAccount, {"use_default_credential": None}, "service_account_credential"),
        (ServiceAccount, {"use_default_credential": True, "use_id_token": True}, "audience"),
        (CacheMetadata, FINGERPRINT | {"contents_count": -1}, "greater than or equal to 0"),
        (CacheMetadata, FINGERPRINT | CACHE | {"invocations_used": -1}, "greater than or equal"),
        *((CacheMetadata, FINGERPRINT | CACHE | {name: None}, "together") for name in CACHE),
    ],
)
def test_contradictory_settings_are_refused(kind, settings, words):
    with pytest.raises(ValidationError, match=words):
        kind(**settings)


def test_consistent_settings_are_accepted():
    assert ServiceAccount(use_default_credential=True, scopes=["s"]).scopes == ["s"]
    assert ServiceAccount(use_default_credential=True, use_id_token=True, audience="https://a")
    assert CacheMetadata(**FINGERPRINT).cache_name is None
    assert CacheMetadata(**FINGERPRINT, **CACHE).invocations_used == 0
