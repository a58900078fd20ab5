"""Guest images: made from what is pinned, found again by it, with nothing in them but what runs."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from box import engine, environments, images, rootfs
from box.progress import Missing
from box.state import REPOSITORY, here


def _tar(path: Path, members: dict[str, int]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, mode in members.items():
            member = tarfile.TarInfo(f"./{name}")
            member.mode, member.size = mode, 1
            archive.addfile(member, io.BytesIO(b"x"))
    return path


def _stripped(tmp_path: Path, members: dict[str, int], removed: list[str], programs: list[str]) -> dict[str, int]:
    rootfs.strip(_tar(tmp_path / "whole", members), tmp_path / "kept", removed, programs)
    with tarfile.open(tmp_path / "kept") as archive:
        return {member.name: member.mode for member in archive}


def test_programs_are_an_allow_list(tmp_path: Path) -> None:
    kept = _stripped(
        tmp_path, {"usr/bin/python3.11": 0o755, "usr/bin/apt": 0o755, "sbin/mkfs": 0o755}, [], ["python3.11"]
    )
    assert set(kept) == {"./usr/bin/python3.11"}


def test_no_setuid_bit_survives(tmp_path: Path) -> None:
    assert _stripped(tmp_path, {"usr/lib/helper": 0o6755}, [], []) == {"./usr/lib/helper": 0o755}


def test_a_removed_folder_goes_with_all_below_it_and_no_namesake(tmp_path: Path) -> None:
    kept = _stripped(tmp_path, {"etc/apt/sources.list": 0o644, "etc/aptitude": 0o644}, ["etc/apt"], [])
    assert set(kept) == {"./etc/aptitude"}


def test_a_shell_is_found_where_programs_look_for_it(tmp_path: Path) -> None:
    assert "./bin/sh" in _stripped(tmp_path, {"bin/dash": 0o755}, [], ["dash"])
    assert "./bin/sh" not in _stripped(tmp_path, {"bin/dash": 0o755}, [], [])


@pytest.mark.root
def test_packages_join_the_base_as_root_s_readable_and_unwritable_by_others(tmp_path: Path) -> None:
    module = tmp_path / "packages" / "a.py"
    module.parent.mkdir(mode=0o700)
    module.write_text("")
    module.chmod(0o666)
    os.chown(module, 1000, 1000)
    pipe = io.BytesIO()
    rootfs.join(_tar(tmp_path / "base", {"usr/x": 0o644}), module.parent, pipe)
    with tarfile.open(fileobj=io.BytesIO(pipe.getvalue())) as archive:
        found = {member.name: (member.mode, member.uid) for member in archive}
    assert found == {"./usr/x": (0o644, 0), rootfs.SITE: (0o755, 0), f"{rootfs.SITE}/a.py": (0o644, 0)}


def test_a_stream_that_the_engine_refuses_is_reported_in_its_words() -> None:
    with pytest.raises(Missing, match="reference"):
        engine.docker_reading(lambda pipe: None, "import", "-", "NOT A NAME")


@pytest.mark.parametrize("guest", images.ENGINES)
def test_every_guest_has_its_pinned_inputs(guest: str) -> None:
    own = rootfs.specification()["guests"][guest]
    assert own["requirements"] == f"guest-{guest}"
    assert environments.lock_file(own["requirements"]).exists()


def test_only_the_guest_code_of_sandboxes_goes_in() -> None:
    names = {str(path.relative_to(REPOSITORY)) for path in images._guest_files()}
    assert "sandboxes/wire.py" in names
    assert all(name.startswith("sandboxes/") and name.endswith(".py") for name in names)


@pytest.mark.engine
def test_an_image_with_the_same_inputs_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    built = images.ensure(here(), "transformers")
    asked: list[tuple[str, ...]] = []
    real = engine.docker
    monkeypatch.setattr(engine, "docker", lambda *words: (asked.append(words), real(*words))[1])
    assert images.ensure(here(), "transformers") == built
    assert not [words for words in asked if words[0] == "build"]
    assert images.recorded(here())["transformers"]["id"] == built


LOOK = """
import json, os, sys
found = {"path": sys.path, "uid": os.getuid(), "bad": []}
found["programs"] = sorted(os.listdir("/usr/bin") + os.listdir("/bin"))
for folder, _, names in os.walk("/"):
    if folder.startswith(("/proc", "/sys", "/dev")):
        continue
    for name in names:
        status = os.lstat(os.path.join(folder, name))
        if status.st_mode & 0o6000 or (status.st_mode & 0o002 and not os.path.islink(os.path.join(folder, name))):
            found["bad"].append(os.path.join(folder, name))
found["apt"] = os.path.exists("/etc/apt")
import sandboxes.wire, torch
print(json.dumps(found))
"""


@pytest.mark.engine
def test_the_image_holds_the_guest_and_nothing_to_climb_on() -> None:
    image = images.ensure(here(), "transformers")
    command = ("docker", "run", "--rm", "--network=none", "--read-only", "--entrypoint", "/usr/bin/python3.11", image)
    done = subprocess.run((*command, "-I", "-B", "-c", LOOK), capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["uid"] == 62065
    assert found["programs"] == ["python3.11"]
    assert (found["bad"], found["apt"]) == ([], False)
    assert found["path"][-2:] == ["/opt/heldout", "/opt/heldout/site-packages"]
