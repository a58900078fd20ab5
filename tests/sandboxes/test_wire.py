"""The wire: what it carries, and each rule that a side can break."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes import wire

SMALL = wire.Caps(frame=100, frames=3, total=250)


def decoder(caps: wire.Caps = SMALL) -> wire.Decoder:
    return wire.Decoder(wire.FROM_GUEST, caps)


def frame(kind: bytes = wire.DONE, payload: bytes = b"{}") -> bytes:
    return kind + len(payload).to_bytes(4, "big") + payload


def code_of(data: bytes, caps: wire.Caps = SMALL) -> str:
    with pytest.raises(wire.WireError) as caught:
        list(decoder(caps).feed(data))
    return caught.value.code


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text()), max_size=5), st.integers(1, 7))
def test_what_is_encoded_comes_out_again_in_pieces_of_any_size(messages: list[dict[str, object]], size: int) -> None:
    encoder = wire.Encoder(wire.Caps())
    data = b"".join(encoder.encode(wire.OUTPUT, message) for message in messages)
    reader = decoder(wire.Caps())
    found = [each for start in range(0, len(data), size) for each in reader.feed(data[start : start + size])]
    assert [json.loads(each.untrusted_payload) for each in found] == messages
    reader.finish()


def test_a_character_cut_by_a_piece_comes_out_whole() -> None:
    data = frame(wire.OUTPUT, '{"text":"naïve"}'.encode())
    reader, place = decoder(), data.index(b"\xc3") + 1
    (found,) = [*reader.feed(data[:place]), *reader.feed(data[place:])]
    assert wire.parse(found.untrusted_payload) == {"text": "naïve"}


def test_it_refuses_a_frame_as_soon_as_its_length_is_announced() -> None:
    assert code_of(wire.DONE + (101).to_bytes(4, "big")) == "frame"


def test_it_refuses_one_frame_too_many() -> None:
    assert len(list(decoder().feed(frame() * 3))) == 3
    assert code_of(frame() * 4) == "frames"


def test_it_refuses_one_byte_too_many() -> None:
    caps = wire.Caps(frame=100, frames=3, total=2 * len(frame()))
    assert len(list(decoder(caps).feed(frame() * 2))) == 2
    assert code_of(frame() * 2 + b"x", caps) == "total"


@pytest.mark.parametrize("kind", [wire.ITEM, b"?", b"\x00"])
def test_it_refuses_a_kind_that_this_side_does_not_send(kind: bytes) -> None:
    assert code_of(frame(kind)) == "kind"


def test_it_refuses_a_stream_that_ends_in_a_frame() -> None:
    with pytest.raises(wire.WireError, match="truncated"):
        list(wire.read(io.BytesIO(frame()[:-1]), decoder()))


def test_it_reads_a_file_to_its_end() -> None:
    assert len(list(wire.read(io.BytesIO(frame() * 2), decoder()))) == 2


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b'{"a":1,"a":2}', "duplicate"),
        (b'{"b":[{"a":1,"a":2}]}', "duplicate"),
        (b'{"a":1.5}', "json"),
        (b'{"a":1e3}', "json"),
        (b'{"a":NaN}', "json"),
        (b'{"a":-Infinity}', "json"),
        (b"[]", "json"),
        (b"1", "json"),
        (b'{"a":', "json"),
        (b"\xff\xfe", "json"),
        (b"", "json"),
        (b'{"a":' + b"1" * 5000 + b"}", "json"),
        (b'{"a":' + b"[" * 16 + b"]" * 16 + b"}", "depth"),
        (b'{"a":' + b"[" * 500 + b"]" * 500 + b"}", "depth"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "json"),
        (b'{"a":' * 17 + b"1" + b"}" * 17, "depth"),
    ],
)
def test_it_refuses_a_payload(payload: bytes, code: str) -> None:
    with pytest.raises(wire.WireError) as caught:
        wire.parse(payload)
    assert caught.value.code == code


def test_brackets_inside_text_are_no_depth() -> None:
    assert wire.parse(json.dumps({"text": "[{" * 1000}).encode()) == {"text": "[{" * 1000}


def test_the_deepest_allowed_payload_is_read() -> None:
    assert wire.parse(b'{"a":' + b"[" * 15 + b"]" * 15 + b"}")


def test_a_lone_surrogate_crosses() -> None:
    (found,) = decoder().feed(wire.Encoder(SMALL).encode(wire.OUTPUT, {"text": "\ud800"}))
    assert wire.parse(found.untrusted_payload) == {"text": "\ud800"}


def test_the_writing_side_has_caps_of_its_own() -> None:
    with pytest.raises(wire.WireError, match="frame"):
        wire.Encoder(SMALL).encode(wire.OUTPUT, {"text": "x" * 100})
    encoder = wire.Encoder(SMALL)
    for _ in range(3):
        encoder.encode(wire.DONE, {})
    with pytest.raises(wire.WireError, match="frames"):
        encoder.encode(wire.DONE, {})
    with pytest.raises(wire.WireError, match="total"):
        wire.Encoder(wire.Caps(total=3)).encode(wire.DONE, {})


def test_kinds_of_the_two_sides_are_distinct() -> None:
    assert not wire.FROM_GUEST & wire.FROM_HOST
