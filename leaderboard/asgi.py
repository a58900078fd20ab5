"""The web server's entry point (uvicorn): pages and event streams in one process."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from leaderboard.web.bodies import BodyCap

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
application = BodyCap(get_asgi_application(), limit=settings.UPLOAD_PART_LIMIT + 64 * 1024)
