"""What a file really is, by its first bytes: a name proves nothing.

``check(file, role)`` says for every file that is not what its name promises what it is and what to do instead.
The signatures only choose the wording: whatever is not recognised here must still pass the strict parser of its role.
"""

from __future__ import annotations

import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass

from evaluator.errors import Finding
from evaluator.intake.names import Role, shown
from evaluator.intake.report import OpenFile

_CONVERT = "Load it in your own training environment and save it with save_pretrained(..., safe_serialization=True)."
_WHOLE = "Upload the files themselves, one by one, not an archive."
_PEEK = 4096


@dataclass(frozen=True)
class Kind:
    code: str
    what: str
    remedy: str


PICKLE = Kind("pickle", "a Python pickle, which runs code when it is loaded", _CONVERT)
TORCH_ZIP = Kind("pickle", "a PyTorch archive (a zip file with a pickle inside), which runs code when loaded", _CONVERT)
NUMPY_ZIP = Kind("archive", "a NumPy archive", _CONVERT)
ZIP = Kind("archive", "a zip archive", _WHOLE)
TAR = Kind("archive", "a tar archive", _WHOLE)
SEVEN = Kind("archive", "a 7-Zip archive", _WHOLE)
GGUF = Kind("gguf", "a GGUF or GGML model file", "Upload the safetensors folder that the GGUF file was made from.")
HDF5 = Kind("hdf5", "an HDF5 file (Keras or TensorFlow weights)", _CONVERT)
ONNX = Kind("onnx", "an ONNX graph", "Upload the safetensors folder that the graph was exported from.")
NUMPY = Kind("numpy", "a NumPy array file", _CONVERT)
COMPRESSED = Kind("compressed", "a compressed file", "Decompress it first and upload the content.")
EXECUTABLE = Kind("executable", "a program", "Delete it. A checkpoint holds data only.")
HTML = Kind("html", "a web page, perhaps an error or sign-in page saved by a download", "Download the real file again.")
POINTER = Kind(
    "lfs-pointer",
    "a git-lfs pointer file, not the weights",
    'Run "git lfs pull" in the repository it came from, then upload the real file.',
)

_STARTS: tuple[tuple[bytes, Kind], ...] = (
    (b"version https://git-lfs.github.com/spec/", POINTER),
    (b"GGUF", GGUF),
    (b"FUGG", GGUF),
    (b"lmgg", GGUF),
    (b"tjgg", GGUF),
    (b"\x89HDF\r\n\x1a\n", HDF5),
    (b"\x93NUMPY", NUMPY),
    (b"\x1f\x8b", COMPRESSED),
    (b"BZh", COMPRESSED),
    (b"\xfd7zXZ\x00", COMPRESSED),
    (b"\x28\xb5\x2f\xfd", COMPRESSED),
    (b"\x04\x22\x4d\x18", COMPRESSED),
    (b"7z\xbc\xaf\x27\x1c", SEVEN),
    (b"\x7fELF", EXECUTABLE),
    (b"MZ\x90\x00", EXECUTABLE),
    (b"\xcf\xfa\xed\xfe", EXECUTABLE),
    (b"#!", EXECUTABLE),
)
_HTML = re.compile(rb"\s*<(!doctype html|html)", re.IGNORECASE)
_ONNX = re.compile(rb"\x08[\x01-\x20](\x12.[a-zA-Z]|:)", re.DOTALL)
_ZLIB = re.compile(rb"\x78[\x01\x5e\x9c\xda]")


def recognise(head: bytes, binary: bool = True) -> Kind | None:
    """The kind of file that begins with ``head``, where it is one we know and don't take.

    ``binary`` adds the signatures that ordinary text could begin with.
    """
    if head[4:9] == b"\x00\x00\x00\x00{":
        return None  # a safetensors length and header; any two bytes may come before, among them other signatures
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    return next((kind for test, kind in _TESTS if test(head)), None) or (_of_binary(head) if binary else None)


def _of_binary(head: bytes) -> Kind | None:
    if _looks_like_old_pickle(head):
        return PICKLE
    if _ONNX.match(head):
        return ONNX
    return COMPRESSED if _ZLIB.match(head) else None


def check(file: OpenFile, role: Role | None) -> list[Finding]:
    where = shown(file.name)
    if file.size == 0:
        remedy = "Upload it again; the file was empty when it arrived." if role else "Delete it."
        return [Finding("empty-file", where, "The file has no content at all.", remedy)]
    head = file.read(_PEEK)
    binary = role is None or role is Role.WEIGHTS
    if kind := recognise(head, binary):
        return [Finding(kind.code, where, f"By its content this is {kind.what}.", kind.remedy)]
    if binary:
        return []  # an unknown name has its finding already; weights have a parser of their own
    if b"\x00" in head:
        problem = "The file should be text, but it holds binary data."
        return [Finding("not-text", where, problem, "Upload the file that belongs under this name.")]
    return []


def _is_zip(head: bytes) -> bool:
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def _is_torch_zip(head: bytes) -> bool:
    return _is_zip(head) and (b"data.pkl" in head or b"/version" in head[:128])


def _is_numpy_zip(head: bytes) -> bool:
    return _is_zip(head) and b".npy" in head[:256]


def _is_tar(head: bytes) -> bool:
    return head[257:262] == b"ustar"


def _is_html(head: bytes) -> bool:
    return _HTML.match(head) is not None


def _announces_pickle(head: bytes) -> bool:
    """Protocols 2 to 5. Opcodes are only named, never executed."""
    return head[:1] == b"\x80" and head[1:2] in {b"\x02", b"\x03", b"\x04", b"\x05"} and _opcodes(head[2:], 2)


def _looks_like_old_pickle(head: bytes) -> bool:
    """Protocols 0 and 1 have no mark; they begin with one of a few opcodes and go on well-formed."""
    return head[:1] in {b"(", b"c", b"}", b"]"} and _opcodes(head, 4)


def _opcodes(head: bytes, wanted: int) -> bool:
    """True where ``head`` begins with at least ``wanted`` well-formed pickle opcodes (or ends within one)."""
    seen = 0
    try:
        for _ in pickletools.genops(head):
            seen += 1
            if seen >= wanted:
                return True
    except ValueError:
        return False
    return True


_TESTS: tuple[tuple[Callable[[bytes], bool], Kind], ...] = (
    (_is_torch_zip, TORCH_ZIP),
    (_is_numpy_zip, NUMPY_ZIP),
    (_is_zip, ZIP),
    (_is_tar, TAR),
    (_is_html, HTML),
    (_announces_pickle, PICKLE),
)
