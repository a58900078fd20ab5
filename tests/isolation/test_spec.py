"""The specification as a value: closed, the same for equal runs, and nothing in it from a request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evaluator.isolation import spec
from evaluator.isolation.base import LaunchFacts, Limits
from leaderboard.identities import IDENTITIES, UID_BASE

FACTS = LaunchFacts("11111111-2222-4333-8444-555555555555", 2, 7, {"files": []}, "transformers", "sha256:" + "a" * 64)
BODY = spec.container(FACTS, Path("/store/abc"), "installation")
HOST = BODY["HostConfig"]


def variables(facts: LaunchFacts) -> dict[str, str]:
    return dict(each.split("=", 1) for each in spec.environment(facts))


def test_the_guest_has_no_network_no_rights_and_no_writable_root() -> None:
    assert (HOST["NetworkMode"], HOST["ReadonlyRootfs"], HOST["CapDrop"]) == ("none", True, ["ALL"])
    assert HOST["SecurityOpt"][0] == "no-new-privileges"
    assert HOST["SecurityOpt"][1].startswith('seccomp={"archMap"')


def test_swap_is_none_and_everything_is_limited() -> None:
    assert HOST["Memory"] == HOST["MemorySwap"] == FACTS.limits.memory
    assert (HOST["PidsLimit"], HOST["NanoCpus"]) == (256, 2_000_000_000)
    assert {"Name": "core", "Soft": 0, "Hard": 0} in HOST["Ulimits"]


def test_the_checkpoint_is_the_only_mount_and_read_only() -> None:
    (mount,) = HOST["Mounts"]
    assert (mount["Source"], mount["Target"], mount["ReadOnly"]) == ("/store/abc", "/model", True)


def test_the_guests_user_is_no_identity() -> None:
    uid = int(BODY["User"].split(":")[0])
    assert uid == 62065
    assert uid not in {UID_BASE + row.uid_offset for row in IDENTITIES.values()}


def test_the_name_carries_run_and_attempt() -> None:
    assert spec.name_of(FACTS, "i" * 40) == f"heldout-iiiiiiiiiiii-{FACTS.run}-2"
    assert BODY["Hostname"] == "run-11111111-2"


def test_no_variable_can_steer_the_interpreter_or_the_loader() -> None:
    names = variables(FACTS) | variables(replace(FACTS, engine="vllm"))
    assert not [name for name in names if name.startswith(("LD_", "PYTHON", "HTTP", "NVIDIA"))]
    assert names["HF_HUB_OFFLINE"] == "1"


def test_vllm_runs_in_one_process_with_a_cache_of_its_own() -> None:
    found = variables(replace(FACTS, engine="vllm"))
    assert (found["VLLM_ENABLE_V1_MULTIPROCESSING"], found["VLLM_CACHE_ROOT"]) == ("0", "/tmp/vllm")
    assert not [name for name in variables(FACTS) if name.startswith("VLLM_")]


def test_a_gpu_is_one_device_by_its_uuid() -> None:
    body = spec.container(replace(FACTS, gpu="GPU-1"), Path("/store/abc"), "installation")
    assert body["HostConfig"]["DeviceRequests"] == [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=GPU-1"]}]
    assert variables(replace(FACTS, gpu="GPU-1"))["NVIDIA_DRIVER_CAPABILITIES"] == "compute"
    assert "DeviceRequests" not in HOST


def test_equal_runs_have_one_digest_whatever_their_names() -> None:
    other = replace(FACTS, run="99999999-2222-4333-8444-555555555555", attempt=1, fence=9)
    assert spec.spec_digest(other) == spec.spec_digest(FACTS)


def test_another_limit_image_or_engine_is_another_digest() -> None:
    others = [
        replace(FACTS, limits=Limits(memory=1 << 30)),
        replace(FACTS, image_digest="sha256:" + "b" * 64),
        replace(FACTS, engine="vllm"),
    ]
    assert len({spec.spec_digest(each) for each in [FACTS, *others]}) == 4


def test_what_is_recorded_is_scalar() -> None:
    recorded = spec.maximum(FACTS) | spec.flags(replace(FACTS, engine="vllm"))
    assert all(isinstance(value, int | str) for value in recorded.values())
    assert recorded["threads"] == 1
