"""Output by offset, and input that no byte of is lost or written twice."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
import threading
from typing import Any

import pytest

from dock_sdk import AsyncClient, AsyncDockProcesses, Client, ConflictError, DockError, DockProcesses, OutputLostError, ProcessInput

from .conftest import LocalService, Request, Response, failure, success

PID = "7cec42be-3a8b-4b0c-864c-b053dcefb13f"


def process(**more: Any) -> dict[str, Any]:
    kept = {"firstOffset": 0, "endOffset": 10, "open": False}
    details = {"command": "x", "state": "ended", "exitCode": 0, "signal": None, "reason": "exited"}
    return {"id": PID, **details, "stdout": kept, "stderr": None, "stdin": {"offset": 0, "open": True}, **more}


class Output:
    """Ten bytes of output. The first connections break after three bytes."""

    def __init__(self, breaks: int, first: int = 0) -> None:
        self.breaks = breaks
        self.first = first
        self.offsets: list[int] = []

    def __call__(self, request: Request) -> Response:
        if "/output" not in request.path:
            return success(process())
        offset = int(re.findall(r"[?&]offset=(\d+)", request.path)[0])
        self.offsets.append(offset)
        start = max(offset, self.first)
        headers = {"x-dock-start-offset": str(start), "x-dock-first-offset": str(self.first)}
        return Response(200, b"0123456789"[start:], headers, 3 if len(self.offsets) <= self.breaks else None)


async def test_reads_on_where_a_connection_broke(service: LocalService) -> None:
    output = service.respond = Output(breaks=2)
    async with AsyncClient(service.url, "k") as client:
        found = AsyncDockProcesses(client, "d").attach(PID)
        assert await found.stdout.text() == "0123456789"
        assert output.offsets == [0, 3, 6]
        assert await AsyncDockProcesses(client, "d").attach(PID, offset=7).stdout.text() == "789"
        assert [line async for line in found.stdout.lines(offset=8)] == ["89"]


def test_starts_at_the_first_byte_that_is_kept(service: LocalService) -> None:
    service.respond = Output(breaks=0, first=4)
    with Client(service.url, "k") as client:
        assert DockProcesses(client, "d").attach(PID).stdout.text() == "456789"


def test_says_that_output_is_lost(service: LocalService) -> None:
    service.respond = Output(breaks=0, first=4)
    with Client(service.url, "k") as client, pytest.raises(OutputLostError, match="Bytes 2 to 4 of stdout"):
        DockProcesses(client, "d").attach(PID, offset=2).stdout.text()


def test_reads_both_outputs_on_by_their_offsets(service: LocalService) -> None:
    def line(stream: str, offset: int, text: str) -> bytes:
        data = base64.b64encode(text.encode()).decode()
        return json.dumps({"stream": stream, "offset": offset, "data": data}).encode() + b"\n"

    seen = []

    def respond(request: Request) -> Response:
        if "/output" not in request.path:
            return success(process(stderr={"firstOffset": 0, "endOffset": 2, "open": False}))
        seen.append(request.path.split("?")[1])
        if len(seen) == 1:
            body = line("stdout", 0, "01234") + line("stderr", 0, "e")
            return Response(200, body + line("stdout", 5, "56789"), break_after=len(body) + 7)
        return Response(200, line("stderr", 1, "f") + line("stdout", 5, "56789") + b'{"stream":"stdout","end":true}\n')

    service.respond = respond
    with Client(service.url, "k") as client:
        chunks = list(DockProcesses(client, "d").attach(PID))
    assert [(chunk.stream, chunk.offset, chunk.data) for chunk in chunks] == [
        ("stdout", 0, b"01234"),
        ("stderr", 0, b"e"),
        ("stderr", 1, b"f"),
        ("stdout", 5, b"56789"),
    ]
    assert seen[1] == "stream=both&offset=5&stderrOffset=1&follow=true"


class Input:
    """Takes input as the service does: what was sent before is not written again, and a gap is a conflict."""

    def __init__(self) -> None:
        self.received = b""
        self.lock = threading.Lock()
        #: What happens to the next writes: `lost` after half of the bytes, or `refused`.
        self.accidents: list[str] = []

    def __call__(self, request: Request) -> Response:
        with self.lock:
            if not request.path.partition("?")[0].endswith("/stdin"):
                return success(process(stdin={"offset": len(self.received), "open": True}))
            offset = int(request.path.rpartition("=")[2])
            accident = self.accidents.pop(0) if self.accidents else ""
            if accident == "refused" or offset > len(self.received):
                return failure(409, "conflict")
            body = request.body[: len(request.body) // 2] if accident == "lost" else request.body
            self.received += body[len(self.received) - offset :]
            answer = success({"offset": len(self.received)})
            return Response(200, answer.body, break_after=2) if accident == "lost" else answer


def test_all_handles_of_a_process_share_its_input(service: LocalService) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with Client(service.url, "k") as client:
            for attempt in range(1500):
                found: list[ProcessInput] = []
                processes, barrier = DockProcesses(client, "d"), threading.Barrier(4)

                def attach() -> None:
                    barrier.wait()
                    found.append(processes.attach(f"{PID}-{attempt}").stdin)

                threads = [threading.Thread(target=attach) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert len(set(map(id, found))) == 1
    finally:
        sys.setswitchinterval(interval)


def is_mixed(text: bytes, writers: int) -> bool:
    return any(text.count(bytes([65 + each]) * 1000) != 8 for each in range(writers)) or len(text) != writers * 8_000


def test_two_threads_write_to_one_process_without_loss(service: LocalService) -> None:
    program = service.respond = Input()
    with Client(service.url, "k") as client:

        def write(number: int) -> None:
            own = DockProcesses(client, "d").attach(PID)
            for _ in range(8):
                own.stdin.write(bytes([65 + number]) * 1000)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not is_mixed(program.received, 4)


async def test_two_tasks_write_to_one_process_without_loss(service: LocalService) -> None:
    program = service.respond = Input()
    async with AsyncClient(service.url, "k") as client:
        handles = [AsyncDockProcesses(client, "d").attach(PID) for _ in range(4)]
        await asyncio.gather(
            *(handle.stdin.write(bytes([65 + number]) * 1000) for number, handle in enumerate(handles) for _ in range(8))
        )
    assert not is_mixed(program.received, 4)


def test_sends_the_rest_after_a_broken_write(service: LocalService) -> None:
    program = service.respond = Input()
    program.accidents = ["lost", "lost"]
    with Client(service.url, "k") as client:
        stdin = DockProcesses(client, "d").attach(PID).stdin
        stdin.write("0123456789")
        stdin.write(["a", b"b"])
    assert program.received == b"0123456789ab"


def test_a_refused_write_leaves_the_input_usable(service: LocalService) -> None:
    program = service.respond = Input()
    program.accidents = ["refused"]
    with Client(service.url, "k") as client:
        stdin = DockProcesses(client, "d").attach(PID).stdin
        with pytest.raises(DockError):
            stdin.write("lost")
        stdin.write("kept")
    assert program.received == b"kept"


def test_says_why_a_process_takes_no_input(service: LocalService) -> None:
    service.respond = lambda request: success(process(stdin={"offset": 0, "open": False}))
    with Client(service.url, "k") as client, pytest.raises(ConflictError, match="stdin=True"):
        DockProcesses(client, "d").attach(PID).stdin.write("x")


def test_starts_words_or_a_line_in_a_folder(service: LocalService) -> None:
    service.respond = lambda request: success(process())
    with Client(service.url, "k") as client:
        DockProcesses(client, "d").start(["ls", "a b"], cwd="project")
        DockProcesses(client, "d").start("ls | wc", cwd="/tmp", stdin=True, hold_output=False)
    assert [json.loads(request.body) for request in service.requests] == [
        {"stdin": False, "holdOutput": True, "argv": ["ls", "a b"], "cwd": "/home/user/work/project"},
        {"stdin": True, "holdOutput": False, "command": "ls | wc", "cwd": "/tmp"},
    ]


async def test_a_cancelled_write_makes_the_input_unusable(service: LocalService) -> None:
    program = Input()
    arrived, may_end = threading.Event(), threading.Event()

    def respond(request: Request) -> Response:
        if request.method == "POST":
            arrived.set()
            may_end.wait()
        return program(request)

    service.respond = respond
    async with AsyncClient(service.url, "k") as client:
        stdin = AsyncDockProcesses(client, "d").attach(PID).stdin
        writing = asyncio.create_task(stdin.write("a"))
        await asyncio.to_thread(arrived.wait)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        may_end.set()
        with pytest.raises(DockError) as caught:
            await stdin.write("b")
    assert caught.value.code == "input_uncertain"
