"""Downloads over connections that break. The service serves ranges of one file, as Dock does."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from dock_sdk import AsyncClient, Client, DockError, LocalFileError
from dock_sdk._async.files import AsyncDockFiles
from dock_sdk._sync.files import DockFiles

from .conftest import LocalService, Request, Response

CONTENT = b"".join(b"%d\n" % number for number in range(5000))


class Source:
    """The file, and after how many bytes the next responses break off."""

    def __init__(self, *cuts: int) -> None:
        self.content = CONTENT
        self.version: str | None = 'W/"1-2-3"'
        self.cuts = list(cuts)
        self.ranges: list[str | None] = []
        #: Becomes the file after the next break.
        self.later: tuple[bytes, str] | None = None

    def __call__(self, request: Request) -> Response:
        wanted = request.headers.get("range")
        self.ranges.append(wanted)
        found = re.fullmatch("bytes=([0-9]+)-([0-9]*)", wanted or "")
        start = int(found[1]) if found else 0
        end = int(found[2]) + 1 if found and found[2] else len(self.content)
        if start >= len(self.content):
            return Response(416)
        headers = {} if self.version is None else {"etag": self.version}
        if found:
            headers["content-range"] = f"bytes {start}-{end - 1}/{len(self.content)}"
        cut = self.cuts.pop(0) if self.cuts else None
        response = Response(206 if found else 200, self.content[start:end], headers, cut)
        if self.later is not None:
            self.content, self.version = self.later
        return response


def test_goes_on_where_the_connection_broke(service: LocalService, tmp_path: Path) -> None:
    source = service.respond = Source(0, 1000, 7, len(CONTENT) - 1007)
    with Client(service.url, "k") as client:
        assert DockFiles(client, "d").download("a", tmp_path / "a") == []
    assert (tmp_path / "a").read_bytes() == CONTENT
    assert source.ranges == [None, "bytes=0-", "bytes=1000-", "bytes=1007-"]


async def test_goes_on_within_the_part_that_was_asked_for(service: LocalService) -> None:
    source = service.respond = Source(10)
    async with AsyncClient(service.url, "k") as client:
        assert await AsyncDockFiles(client, "d").read("a", start=100, end=200) == CONTENT[100:200]
    assert source.ranges == ["bytes=100-199", "bytes=110-199"]


@pytest.mark.parametrize(
    "later", [(CONTENT, 'W/"1-2-4"'), (CONTENT * 2, 'W/"1-2-3"'), (CONTENT[:5], 'W/"1-2-3"')]
)
def test_mixes_no_two_versions(service: LocalService, tmp_path: Path, later: tuple[bytes, str]) -> None:
    source = service.respond = Source(1000)
    source.later = later
    with Client(service.url, "k") as client, pytest.raises(DockError) as caught:
        DockFiles(client, "d").download("a", tmp_path / "a")
    assert caught.value.code == "file_changed"
    assert [*tmp_path.iterdir()] == []


def test_does_not_guess_if_the_service_names_no_version(service: LocalService) -> None:
    source = service.respond = Source(1000)
    source.version = None
    with Client(service.url, "k") as client, pytest.raises(DockError):
        DockFiles(client, "d").read("a")
    assert source.ranges == [None]


def test_opens_no_pipe_of_this_computer(service: LocalService, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LocalFileError):
        with Client(service.url, "k") as client:
            DockFiles(client, "d").upload(tmp_path / "pipe", "a")
