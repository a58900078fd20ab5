"""Who may make an account: nobody by themselves, unless the operator opened sign-up or an identity provider vouches."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Local accounts: made by an operator; by anyone where ``web.open_signup`` is true in config.json."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.OPEN_SIGNUP)


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Accounts from a provider in ``openid_connect``: the operator chose it, so whom it knows may come in.

    Coming in gives no rights: a new account belongs to no team.
    """

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return True
