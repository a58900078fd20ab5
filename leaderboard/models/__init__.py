"""What the database holds: ids, digests, states and released numbers. Never a hidden prompt, answer or completion."""

from leaderboard.models.benchmark import Benchmark, Item, Preset, Release
from leaderboard.models.checkpoint import Checkpoint, Upload, UploadedFile
from leaderboard.models.entry import LogEntry
from leaderboard.models.grade import Grade, ReleasedScore
from leaderboard.models.run import Attempt, PracticeResult, Run
from leaderboard.models.submission import QuotaEntry, Submission
from leaderboard.models.team import Membership, Team, User

__all__ = [
    "Attempt",
    "Benchmark",
    "Checkpoint",
    "Grade",
    "Item",
    "LogEntry",
    "Membership",
    "PracticeResult",
    "Preset",
    "QuotaEntry",
    "Release",
    "ReleasedScore",
    "Run",
    "Submission",
    "Team",
    "Upload",
    "UploadedFile",
    "User",
]
