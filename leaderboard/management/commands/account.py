"""``manage.py account NAME``: make a person, a team and the membership between them, where they are missing."""

from __future__ import annotations

from pathlib import Path

from django.core.management import BaseCommand, CommandError, CommandParser

from leaderboard.ledger import accounts
from leaderboard.models.team import Role


class Command(BaseCommand):
    help = "Make an account and its team (IDENTITY=web). What exists is left as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--password-file", required=True, help="A file with the password, on one line.")
        parser.add_argument("--team", required=True, help="Slug of the team.")
        parser.add_argument("--team-name", help="Its name for people.")
        parser.add_argument("--host", action="store_true", help="The team runs this server.")
        parser.add_argument("--role", default=Role.COMPETITOR, choices=Role.values)

    def handle(self, *args: object, **options: object) -> None:
        slug, role = str(options["team"]), str(options["role"])
        try:
            password = Path(str(options["password_file"])).read_text().strip()
        except OSError as error:
            raise CommandError(f"{options['password_file']}: {error.strerror}") from error
        if len(password) < 12:
            raise CommandError(f"{options['password_file']}: a password has at least 12 characters")
        team = accounts.ensure_team(slug, str(options["team_name"] or slug), is_host=bool(options["host"]))
        staff = bool(options["host"]) and role == Role.ADMIN
        user, new = accounts.ensure_user(str(options["name"]), password, staff=staff)
        accounts.ensure_membership(team, user, role)
        self.stdout.write(f"{user.username}: {'made' if new else 'was there'}, {role} of {team.name}")
