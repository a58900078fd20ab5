"""The Celery application: a doorbell. One app; a worker loads only the tasks of its own identity.

json only, no result backend, no events, no remote control. Acknowledgement emulation is off: it needs Lua and a hash
that all identities would share, through which one could plant a message in another's queue. Delivery is then at most
once, and the clock repeats hints for whatever waits in the database.
"""

from __future__ import annotations

import os
from urllib.parse import quote

from celery import Celery
from kombu import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")

from django.conf import settings

from leaderboard.identities import IDENTITIES

KEY_PREFIX = "heldout:"
TASK_MODULES = {
    "web": "leaderboard.web.tasks",
    "runner": "evaluator.runner.tasks",
    "grader": "evaluator.grader.tasks",
}


def broker_url() -> str:
    identity = IDENTITIES.get(settings.IDENTITY)
    if identity is None or "broker.password" not in identity.secrets():
        return "memory://"
    password = (settings.SECRETS / "broker.password").read_text().strip()
    socket = settings.CONFIG.get("broker", {}).get("socket", str(settings.STATE / "run" / "valkey" / "valkey.sock"))
    return f"redis+socket://{identity.broker_user}:{quote(password, safe='')}@{socket}?virtual_host=0"


def _queue(name: str) -> Queue:
    """A queue of this name. Producers declare nothing: writing another's binding is not theirs to do."""
    foreign = name != settings.IDENTITY
    exchange = Exchange(name, type="direct", no_declare=foreign)
    return Queue(name, exchange, routing_key=name, no_declare=foreign)


app = Celery("heldout")
app.conf.update(
    broker_url=broker_url(),
    broker_transport_options={
        "global_keyprefix": KEY_PREFIX,
        "ack_emulation": False,
        "priority_steps": [0],
        "socket_timeout": 30,
        "socket_connect_timeout": 5,
        "health_check_interval": 25,
    },
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    accept_content=["json"],
    task_serializer="json",
    event_serializer="json",
    result_backend=None,
    task_ignore_result=True,
    task_store_errors_even_if_ignored=False,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    task_send_sent_event=False,
    task_create_missing_queues=False,
    task_default_queue=settings.IDENTITY,
    task_queues=[_queue(name) for name in TASK_MODULES],
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_max_tasks_per_child=1 if settings.IDENTITY == "grader" else 100,
    include=[TASK_MODULES[settings.IDENTITY]] if settings.IDENTITY in TASK_MODULES else [],
    timezone="UTC",
)
