"""Authentication of tools: requests for credentials, and answers. Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.auth.auth_credential import (
        AuthCredential,
        AuthCredentialTypes,
        HttpAuth,
        HttpCredentials,
        OAuth2Auth,
        ServiceAccount,
        ServiceAccountCredential,
    )
    from devui.runtime.auth.auth_handler import AuthHandler
    from devui.runtime.auth.auth_schemes import (
        AuthScheme,
        AuthSchemeType,
        OpenIdConnectWithConfig,
    )
    from devui.runtime.auth.auth_tool import AuthConfig, AuthToolArguments
    from devui.runtime.auth.base_auth_provider import BaseAuthProvider
    from devui.runtime.auth.credential_manager import CredentialManager

__all__ = [
    "AuthConfig",
    "AuthCredential",
    "AuthCredentialTypes",
    "AuthHandler",
    "AuthScheme",
    "AuthSchemeType",
    "AuthToolArguments",
    "BaseAuthProvider",
    "CredentialManager",
    "HttpAuth",
    "HttpCredentials",
    "OAuth2Auth",
    "OpenIdConnectWithConfig",
    "ServiceAccount",
    "ServiceAccountCredential",
]

__getattr__ = lazy(
    __name__,
    {
        "AuthConfig": "auth_tool",
        "AuthCredential": "auth_credential",
        "AuthCredentialTypes": "auth_credential",
        "AuthHandler": "auth_handler",
        "AuthScheme": "auth_schemes",
        "AuthSchemeType": "auth_schemes",
        "AuthToolArguments": "auth_tool",
        "BaseAuthProvider": "base_auth_provider",
        "CredentialManager": "credential_manager",
        "HttpAuth": "auth_credential",
        "HttpCredentials": "auth_credential",
        "OAuth2Auth": "auth_credential",
        "OpenIdConnectWithConfig": "auth_schemes",
        "ServiceAccount": "auth_credential",
        "ServiceAccountCredential": "auth_credential",
    },
)
