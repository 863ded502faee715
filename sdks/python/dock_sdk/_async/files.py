"""The files of a running Dock. Paths without a slash at the start are in the work folder, `/home/user/work`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import List

from .. import models
from .._file_part import FilePart, file_part
from .._local import Draft, file_chunks, octal_mode
from .._retry import Patience
from .._tar_pack import pack_folder
from .._tar_unpack import Unpacker
from .._text import LineSplitter, absolute_path
from ..errors import DockApiError, DockConnectionError, DockError, has_code
from .client import AsyncRawBody
from .routes import AsyncClient
from .runtime import AsyncStream, aclosing, in_thread, pause, stream_in_thread

#: The service sends a line every 30 seconds.
_WATCH_SILENCE_SECONDS = 90.0


class AsyncDockFiles:
    """The files of one Dock."""

    def __init__(self, client: AsyncClient, dock_id: str) -> None:
        self._client = client
        self._dock_id = dock_id

    async def read(self, path: str, *, start: int | None = None, end: int | None = None) -> bytes:
        """Return the bytes of a file, or those from `start` to before `end`."""
        parts = []
        async with aclosing(self.stream(path, start=start, end=end)) as chunks:
            async for chunk in chunks:
                parts.append(chunk)
        return b"".join(parts)

    async def read_text(self, path: str) -> str:
        """Return a file as text."""
        return (await self.read(path)).decode("utf-8", "replace")

    def stream(self, path: str, *, start: int | None = None, end: int | None = None) -> AsyncStream[bytes]:
        """
        Yield the bytes of a file as they arrive. Go on where a connection broke, and raise `file_changed` if the file is
        no longer the same then.
        """
        return self._parts(path, start, end, lambda part: None)

    async def tar(self, path: str) -> AsyncStream[bytes]:
        """Yield a file or folder as tar."""
        headers = {"accept": "application/x-tar"}
        async with self._client.read_dock_file_stream(
            self._dock_id, path=absolute_path(path), headers=headers
        ) as response:
            async with aclosing(response.chunks()) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def _parts(
        self, path: str, start: int | None, end: int | None, opened: Callable[[FilePart], None]
    ) -> AsyncStream[bytes]:
        """Read a file. `opened` is called with what the first response says."""
        # No header asks for zero bytes.
        if end is not None and end <= (start or 0):
            return
        patience = Patience()
        first: FilePart | None = None
        at = start or 0
        while True:
            headers = _range(start, end) if first is None else _range(at, end)
            try:
                async with self._client.read_dock_file_stream(
                    self._dock_id, path=absolute_path(path), headers=headers
                ) as response:
                    part = file_part(response.headers)
                    if first is None:
                        first = part
                        opened(part)
                    elif (part.version, part.start, part.end) != (first.version, at, first.end):
                        raise _changed(path)
                    async with aclosing(response.chunks()) as chunks:
                        async for chunk in chunks:
                            patience.renew()
                            at += len(chunk)
                            yield chunk
                if first.end is None or at >= first.end:
                    return
                raise DockConnectionError("The connection broke during the response.")
            except DockError as error:
                if first is None or first.version is None:
                    raise
                if first.end is not None and at >= first.end:
                    return
                # Now it has fewer bytes than were read.
                if isinstance(error, DockApiError) and error.status == 416:
                    raise _changed(path) from error
                seconds = patience.seconds_to_wait(error)
            await pause(seconds)

    async def write(self, path: str, data: AsyncRawBody, *, mode: str | None = None) -> models.FileEntry:
        """
        Write a file: text, bytes, an open binary file, or an iterable of bytes. Nobody sees half of it. `mode` is octal,
        for example `"755"`.
        """
        return await self._upload(data, absolute_path(path), mode=mode)

    async def write_tar(self, path: str, tar: AsyncRawBody) -> models.FileEntry:
        """Unpack a tar into a folder. Files are replaced, nothing is removed."""
        return await self._upload(tar, absolute_path(path), headers={"content-type": "application/x-tar"})

    async def _upload(
        self, data: AsyncRawBody, path: str, *, mode: str | None = None, headers: dict[str, str] | None = None
    ) -> models.FileEntry:
        try:
            return await self._client.write_dock_file(self._dock_id, data, path=path, mode=mode, headers=headers)
        except DockConnectionError as error:
            # A service that refuses an upload closes the connection, and then httpx does not read why. Ask for what is
            # most often the reason: the Dock, the rights, or the folder.
            await self._client.list_dock_files(self._dock_id, path=os.path.dirname(path) or "/", limit=1)
            raise DockConnectionError(f"The upload broke off. Is the Dock's disk full? {error.message}") from error

    async def stat(self, path: str) -> models.FileEntry:
        """Describe a file or folder. A link is described itself."""
        return (await self._client.list_dock_files(self._dock_id, path=absolute_path(path), limit=1))["entry"]

    async def list(self, path: str = ".") -> List[models.FileEntry]:
        """Return what a folder contains, sorted by name."""
        entries: List[models.FileEntry] = []
        cursor: str | None = None
        while True:
            page = await self._client.list_dock_files(self._dock_id, path=absolute_path(path), cursor=cursor)
            entries += page["entries"]
            cursor = page["nextCursor"]
            if cursor is None:
                return entries

    async def mkdir(self, path: str, *, mode: str | None = None) -> models.FileEntry:
        """Make a folder and those above it. One that is there already is no error."""
        body: models.MakeDockFolderBody = {"path": absolute_path(path), "parents": True}
        if mode is not None:
            body["mode"] = mode
        return await self._client.make_dock_folder(self._dock_id, body)

    async def move(self, source: str, to: str, *, overwrite: bool = False) -> models.FileEntry:
        """Move or rename. A file is replaced only with `overwrite`."""
        body: models.MoveDockFileBody = {
            "from": absolute_path(source),
            "to": absolute_path(to),
            "overwrite": overwrite,
        }
        return await self._client.move_dock_file(self._dock_id, body)

    async def delete(self, path: str, *, recursive: bool = False) -> None:
        """Delete a file or an empty folder; with `recursive` a folder with all it contains."""
        await self._client.delete_dock_file(self._dock_id, path=absolute_path(path), recursive=recursive)

    async def watch(self, path: str = ".", *, recursive: bool = False) -> AsyncStream[models.FileChange]:
        """
        Yield the changes in a folder from now on, until the loop is left or the folder is gone. `watching` comes first.
        `overflow`: changes were lost, for example with the connection: list the folder again.
        """
        patience = Patience()
        has_begun = False
        while True:
            try:
                lines = LineSplitter(length_max=None)
                async with self._client.watch_dock_files_stream(
                    self._dock_id, path=absolute_path(path), recursive=recursive, timeout=_WATCH_SILENCE_SECONDS
                ) as response:
                    async with aclosing(response.chunks()) as chunks:
                        async for data in chunks:
                            patience.renew()
                            for line in lines.feed(data):
                                change: models.FileChange = json.loads(line)
                                if change["type"] == "ended" and change["reason"] == "gone":
                                    return
                                if change["type"] in ("ended", "alive"):
                                    continue
                                # A later connection says nothing of what happened before it.
                                is_late = has_begun and change["type"] == "watching"
                                yield {"type": "overflow"} if is_late else change
                                has_begun = True
                continue
            except DockError as error:
                seconds = 0.0 if has_code(error, "read_timeout") else patience.seconds_to_wait(error)
            await pause(seconds)

    async def upload(self, source: str | os.PathLike[str], to: str) -> None:
        """
        Copy a file or folder of this computer into the Dock. The content of a folder goes into the folder `to`. A file
        goes into the folder `to` if that ends in a slash. Links are copied as links.
        """
        place, path = os.fspath(source), absolute_path(to)
        mode = await in_thread(octal_mode, place)
        if mode is None:
            await self.mkdir(path)
            await self.write_tar(path, lambda: stream_in_thread(pack_folder(place)))
            return
        target = path + os.path.basename(place) if path.endswith("/") else path
        await self.write(target, lambda: stream_in_thread(file_chunks(place)), mode=mode)

    async def download(self, source: str, to: str | os.PathLike[str]) -> List[str]:
        """
        Copy a file or folder of the Dock to this computer. The content of a folder goes into the folder `to`, and
        nothing is written outside of it. Return the links that were left out because they lead out of it.
        """
        path, place = absolute_path(source), os.fspath(to)
        try:
            modes: List[int | None] = []
            async with aclosing(self._parts(path, None, None, lambda part: modes.append(part.mode))) as chunks:
                draft: Draft | None = None
                try:
                    async for chunk in chunks:
                        if draft is None:
                            draft = await in_thread(Draft, place, os.path.basename(path))
                        await in_thread(draft.write, chunk)
                    # A file without bytes has no chunk.
                    if draft is None:
                        draft = await in_thread(Draft, place, os.path.basename(path))
                    await in_thread(draft.finish, modes[0])
                finally:
                    if draft is not None:
                        draft.close()
            return []
        except DockError as error:
            if not has_code(error, "not_a_regular_file"):
                raise
        return await self._download_folder(path, place)

    async def _download_folder(self, path: str, place: str) -> List[str]:
        unpacker = await in_thread(Unpacker, place)
        try:
            async with aclosing(self.tar(path)) as chunks:
                async for chunk in chunks:
                    await in_thread(unpacker.feed, chunk)
            await in_thread(unpacker.end)
        finally:
            unpacker.close()
        return unpacker.skipped_links


def _changed(path: str) -> DockError:
    return DockError("file_changed", f"{path} changed while it was read. Read it again.")


def _range(start: int | None, end: int | None) -> dict[str, str]:
    if start is None and end is None:
        return {}
    return {"range": f"bytes={start or 0}-{'' if end is None else end - 1}"}
