"""Settings of every process of ours, made from IDENTITY and the state folder. Refuses what it does not understand.

A process reads three things: the environment variables IDENTITY (who am I), HELDOUT_STATE (where the state folder is)
and HELDOUT_DEBUG; ``config.json`` in the state folder (where the services are); and the files of its own secret
folder. Nothing secret stands in the environment. An identity without a secret has no setting that would need it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from leaderboard.identities import IDENTITIES, OWNER_ROLE

BASE_DIR = Path(__file__).resolve().parent.parent


def _flag(name: str) -> bool:
    value = os.environ.get(name, "")
    if value not in {"", "True", "False"}:
        raise ImproperlyConfigured(f"{name} is {value!r}; it may be True, False or empty.")
    return value == "True"


def _config(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text()))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ImproperlyConfigured(f"{path} is not JSON: {error}. Remove it and run 'make demo' again.") from error


IDENTITY = os.environ.get("IDENTITY", "none")
if IDENTITY not in {*IDENTITIES, "owner", "none"}:
    raise ImproperlyConfigured(f"IDENTITY is {IDENTITY!r}; it may be one of {', '.join(IDENTITIES)} or owner.")

STATE = Path(os.environ.get("HELDOUT_STATE") or BASE_DIR / "var").resolve()
CONFIG = _config(STATE / "config.json")
SECRETS = STATE / "secrets" / IDENTITY
PUBLIC_KEYS = STATE / "public"
STORE = STATE / "store"
JOURNAL = STATE / "journal"
INTAKE = STATE / "intake"
LAUNCHER_SOCKET = CONFIG.get("launcher_socket", str(STATE / "run" / "launcher" / "launcher.sock"))


def _secret(name: str) -> str:
    """The text of one of our own secret files; empty where this identity has none by the table."""
    own = IDENTITIES[IDENTITY].secrets() if IDENTITY in IDENTITIES else {"database.password"}
    if IDENTITY == "none" or name not in own:
        return ""
    path = SECRETS / name
    try:
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"{IDENTITY} can't read its secret {path}: {error.strerror}.") from error


def _with_secret(app: dict[str, Any]) -> dict[str, Any]:
    """A provider of config.json, with its client secret from the web's own folder: config.json is open to all."""
    if "secret" in app:
        raise ImproperlyConfigured("config.json, openid_connect: move 'secret' to secrets/web/oidc-PROVIDER_ID.secret.")
    if IDENTITY != "web":
        return app
    path = SECRETS / f"oidc-{app['provider_id']}.secret"
    try:
        return {**app, "secret": path.read_text().strip()}
    except OSError as error:
        raise ImproperlyConfigured(f"web can't read {path}: {error.strerror}.") from error


DEBUG = _flag("HELDOUT_DEBUG")
SECRET_KEY = _secret("django.key") or "this identity signs nothing"
_WEB = CONFIG.get("web", {})
PUBLIC_URL = _WEB.get("public_url", "http://127.0.0.1:8000")
ALLOWED_HOSTS = _WEB.get("allowed_hosts", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]

_DATABASE = CONFIG.get("database", {})
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _DATABASE.get("name", "heldout"),
        "USER": OWNER_ROLE if IDENTITY in {"owner", "none"} else IDENTITIES[IDENTITY].role,
        "PASSWORD": _secret("database.password"),
        "HOST": _DATABASE.get("host", ""),
        "PORT": str(_DATABASE.get("port", "")),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": 10},
    }
}
if IDENTITY == "web":
    # Threads of one process, no prefork: the pool keeps connections between requests (a new one each costs 5 times).
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 2, "max_size": 16, "timeout": 20}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "leaderboard.User"

INSTALLED_APPS = [
    "leaderboard",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.admin",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "csp",
    "django_htmx",
    "django_tables2",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "leaderboard.web.access.SignInFirst",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "leaderboard.urls"
ASGI_APPLICATION = "leaderboard.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "leaderboard" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["leaderboard.web.tags"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_ADAPTER = "leaderboard.web.accounts.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "leaderboard.web.accounts.SocialAccountAdapter"
OPEN_SIGNUP = bool(_WEB.get("open_signup", False))
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [_with_secret(app) for app in CONFIG.get("openid_connect", [])]}}
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/"

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PUBLIC_URL.startswith("https://")
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
_PROVIDERS = {
    "{0.scheme}://{0.netloc}".format(urlsplit(app.get("settings", {}).get("server_url", "")))
    for app in CONFIG.get("openid_connect", [])
}
"""Where signing in through a provider leads; the button is a form, and its answer a redirect."""
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'", *sorted(_PROVIDERS)],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
UPLOAD_PART_LIMIT = 16 * 1024 * 1024
UPLOAD_LIMIT = int(_WEB.get("upload_limit", 64 * 1024**3))

STATIC_URL = "static/"
STATIC_ROOT = STATE / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

LEASE_SECONDS = int(CONFIG.get("lease_seconds", 30))
HEARTBEAT_SECONDS = int(CONFIG.get("heartbeat_seconds", 2))
MAX_ATTEMPTS = int(CONFIG.get("max_attempts", 3))
RETRY_SECONDS = int(CONFIG.get("retry_seconds", 10))
ENGINE = CONFIG.get("engine", "transformers")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
}
