"""The settings of the test process: the owner of an installation of its own. Importing them starts it."""

import os

from tests import installation

os.environ["HELDOUT_STATE"] = str(installation.ensure().root)
os.environ["IDENTITY"] = "owner"

from leaderboard.settings import *  # noqa: F403  the environment must stand first

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # in this process only: rows of made-up people
