"""Whatever an engine makes of the specification that we did not ask for is refused, known to us or not."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import Fault
from evaluator.isolation import spec
from evaluator.isolation.effective import assert_effective
from tests.isolation.test_spec import FACTS

ASKED = spec.container(FACTS, Path("/store/abc"), "installation")


def inspected() -> dict[str, Any]:
    """What an honest engine says of the container it made."""
    asked = copy.deepcopy(ASKED)
    host = asked.pop("HostConfig")
    environment = [asked["Env"][-1], *asked["Env"][:-1]]
    return {
        "Image": asked["Image"],
        "Config": asked
        | {"Env": environment, "Labels": asked["Labels"] | {"heldout.inputs": "x"}, "Domainname": "", "Volumes": None},
        "HostConfig": host | {"Binds": None, "Privileged": False, "ConsoleSize": [0, 0], "CpuShares": 0, "Dns": []},
        "Mounts": [{"Type": "bind", "Source": "/store/abc", "Destination": "/model", "Mode": "", "RW": False}],
        "NetworkSettings": {"Networks": {"none": {}}},
        "ExecIDs": None,
    }


def refusal(found: dict[str, Any]) -> str:
    with pytest.raises(Fault) as caught:
        assert_effective(ASKED, found)
    assert (caught.value.code, caught.value.retry) == ("effective", False)
    return caught.value.detail


def test_it_takes_what_was_asked() -> None:
    assert_effective(ASKED, inspected())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("NetworkMode", "bridge"),
        ("ReadonlyRootfs", False),
        ("CapDrop", []),
        ("CapDrop", None),
        ("SecurityOpt", ["no-new-privileges"]),
        ("SecurityOpt", ["no-new-privileges", "seccomp=unconfined"]),
        ("IpcMode", "host"),
        ("CgroupnsMode", "host"),
        ("MemorySwap", -1),
        ("Memory", 0),
        ("PidsLimit", None),
        ("NanoCpus", 0),
        ("Tmpfs", {"/tmp": "rw,exec"}),
        ("Ulimits", []),
        ("LogConfig", {"Type": "json-file", "Config": {}}),
        ("MaskedPaths", []),
        ("ReadonlyPaths", ["/proc/bus"]),
        ("RestartPolicy", {"Name": "always", "MaximumRetryCount": 0}),
        ("Runtime", "other"),
        ("Mounts", []),
    ],
)
def test_it_refuses_a_field_that_is_not_as_asked(key: str, value: object) -> None:
    found = inspected()
    found["HostConfig"][key] = value
    assert f"HostConfig.{key}" in refusal(found)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("Privileged", True),
        ("CapAdd", ["SYS_ADMIN"]),
        ("Binds", ["/:/host"]),
        ("Devices", [{"PathOnHost": "/dev/kvm"}]),
        ("DeviceRequests", [{"Count": -1}]),
        ("PidMode", "host"),
        ("UTSMode", "host"),
        ("UsernsMode", "host"),
        ("VolumesFrom", ["other"]),
        ("ExtraHosts", ["a:1.2.3.4"]),
        ("GroupAdd", ["0"]),
        ("CgroupParent", "/"),
        ("OomKillDisable", True),
        ("Sysctls", {"net.core.somaxconn": "1"}),
        ("PublishAllPorts", True),
        ("AutoRemove", True),
        ("SomethingNewInNextYearsEngine", "on"),
    ],
)
def test_it_refuses_a_field_that_nobody_asked_for(key: str, value: object) -> None:
    found = inspected()
    found["HostConfig"][key] = value
    assert f"HostConfig.{key}" in refusal(found)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("User", "0:0"),
        ("User", ""),
        ("Entrypoint", ["/bin/sh"]),
        ("Cmd", ["--model", "/model", "--engine", "transformers"]),
        ("Env", [*ASKED["Env"], "LD_PRELOAD=/model/x.so"]),
        ("Env", ASKED["Env"][1:]),
        ("Hostname", "host"),
        ("Tty", True),
        ("StdinOnce", False),
        ("Volumes", {"/data": {}}),
        ("ExposedPorts", {"80/tcp": {}}),
        ("Healthcheck", {"Test": ["CMD", "true"]}),
        ("Labels", {}),
        ("Labels", ASKED["Labels"] | {"other": "1"}),
    ],
)
def test_it_refuses_another_process_than_asked_for(key: str, value: object) -> None:
    found = inspected()
    found["Config"][key] = value
    refusal(found)


MOUNT = {"Type": "bind", "Source": "/store/abc", "Destination": "/model", "RW": False}


@pytest.mark.parametrize(
    "mounts",
    [
        [],
        None,
        [MOUNT | {"RW": True}],
        [MOUNT | {"Source": "/"}],
        [MOUNT, {"Type": "volume", "Source": "/var/x", "Destination": "/data", "RW": True}],
    ],
)
def test_it_refuses_other_mounts(mounts: object) -> None:
    assert "mounts" in refusal(inspected() | {"Mounts": mounts})


@pytest.mark.parametrize("networks", [{}, {"bridge": {}}, {"none": {}, "bridge": {}}])
def test_it_refuses_other_networks(networks: object) -> None:
    assert "networks" in refusal(inspected() | {"NetworkSettings": {"Networks": networks}})


def test_it_refuses_another_image_and_anything_executed() -> None:
    assert "image" in refusal(inspected() | {"Image": "sha256:" + "b" * 64})
    assert "executed" in refusal(inspected() | {"ExecIDs": ["1"]})
