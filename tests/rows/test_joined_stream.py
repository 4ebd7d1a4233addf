"""Bytes that were read before stand before the rest."""

import io

from eigenfeat.rows.joined_stream import JoinedStream, filled


def test_reads_are_as_long_as_asked_for():
    stream = JoinedStream(b"abcde", io.BytesIO(b"fghij"))
    assert [stream.read(3), stream.read(4), stream.read(5), stream.read(5)] == [b"abc", b"defg", b"hij", b""]
    assert JoinedStream(b"ab", io.BytesIO(b"cd")).read() == b"abcd"


def test_filling_up_to_a_size():
    assert filled(io.BytesIO(b"abcdef"), b"xy", 4) == b"xyab"
    assert filled(io.BytesIO(b"ab"), b"", 4) == b"ab"
