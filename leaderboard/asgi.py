"""The web server's entry point (uvicorn): pages and event streams in one process."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
application = get_asgi_application()
