"""``manage.py prepare``, as owner: migrate, then apply grants and guards. Run by set-up and by every upgrade."""

from __future__ import annotations

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

from leaderboard import protection


class Command(BaseCommand):
    help = "Bring the database to the present schema, grants and guards (IDENTITY=owner)."

    def handle(self, *args: object, **options: object) -> None:
        if settings.IDENTITY != "owner":
            raise CommandError("prepare runs as the owner: set IDENTITY=owner")
        call_command("migrate", interactive=False, verbosity=int(str(options["verbosity"])))
        protection.apply()
