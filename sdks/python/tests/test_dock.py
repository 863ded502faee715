"""What the end of a `with` block does, and changes of state."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from dock_sdk import AsyncDock, AsyncDockService, Client, ClosedError, Dock, DockError, DockService, NotFoundError

from .conftest import LocalService, Request, Response, failure, success

ID = "5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11"


class Machine:
    """One Dock that changes its state as the service does, two reads after it was asked."""

    def __init__(self) -> None:
        self.state = "ready"
        self.calls: list[str] = []
        self.later: list[str] = []
        self.start = ["provisioning", "unreachable", "ready"]

    def __call__(self, request: Request) -> Response:
        path = request.path.partition("?")[0]
        name = f"{request.method} {path.replace(ID, 'ID')}"
        if name == "GET /v1/docks/ID":
            self.state = self.later.pop(0) if self.later else self.state
            return success(self.view()) if self.state != "deleted" else failure(404, "dock_not_found")
        if path.startswith("/v1/operations/"):
            return success({"id": "op_1", "status": "completed"})
        self.calls.append(name)
        if path.endswith("/stop"):
            self.later = ["archiving", "archived"]
        elif path.endswith("/resume"):
            self.later = [*self.start]
        elif request.method == "DELETE":
            if self.state == "deleted":
                return failure(404, "dock_not_found")
            assert request.headers["x-confirm-delete"] == ID
            self.state = "deleted"
            return success({"operation": {"id": "op_1", "status": "pending"}})
        elif path == "/v1/organizations":
            return success([{"id": "org"}])
        elif path.endswith("/workspaces"):
            return success([{"id": "w1"}, {"id": "w2"}])
        elif path == "/v1/docks" and request.method == "GET":
            return success([self.view()])
        return success(self.view())

    def view(self) -> dict[str, object]:
        return {"id": ID, "name": "mine", "state": self.state, "setupError": None}


@pytest.fixture
def machine(service: LocalService, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("DOCK_URL", service.url)
    monkeypatch.setenv("DOCK_API_KEY", "k")
    machine = Machine()
    service.respond = machine
    return machine


CREATE = ["GET /v1/organizations", "GET /v1/organizations/org/workspaces", "POST /v1/docks"]
STOP = "POST /v1/docks/ID/stop"
DELETE = "DELETE /v1/docks/ID"


def test_stops_the_dock_and_closes_its_connections(machine: Machine) -> None:
    with Dock.create(from_="base", memory_mib=1024) as dock:
        assert machine.calls == CREATE
    assert machine.calls == [*CREATE, STOP]
    assert dock.info["state"] == "archived"
    with pytest.raises(ClosedError, match="closed"):
        dock.exec("true")


def test_sends_what_was_given(machine: Machine, service: LocalService) -> None:
    with Dock.create(from_="base", memory_mib=1024, env={"A": "1"}, on_exit="keep"):
        pass
    body = next(request.body for request in service.requests if request.method == "POST")
    assert body == b'{"workspaceId": "w1", "from": "base", "memoryMiB": 1024, "env": {"A": "1"}}'


async def test_deletes_only_when_asked(machine: Machine) -> None:
    async with await AsyncDock.create(workspace_id="w", on_exit="delete"):
        pass
    assert machine.calls == ["POST /v1/docks", DELETE]


def test_stops_also_after_an_error(machine: Machine) -> None:
    with pytest.raises(ZeroDivisionError), Dock.create(workspace_id="w"):
        print(1 / 0)
    assert machine.calls == ["POST /v1/docks", STOP]


async def test_stops_also_when_it_is_cancelled(machine: Machine) -> None:
    started = asyncio.Event()

    async def work() -> None:
        async with await AsyncDock.create(workspace_id="w"):
            started.set()
            await asyncio.sleep(1000)

    task = asyncio.create_task(work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert machine.calls == ["POST /v1/docks", STOP]


def test_a_dock_that_was_deleted_meanwhile_is_no_error(machine: Machine) -> None:
    with Dock.create(workspace_id="w", on_exit="delete") as dock:
        dock.delete()
    assert machine.calls == ["POST /v1/docks", DELETE, DELETE]


def test_leaves_a_dock_alone_that_it_did_not_create(machine: Machine) -> None:
    with Dock.get("mine") as dock:
        assert dock.id == ID
    assert machine.calls == ["GET /v1/docks"]
    with pytest.raises(NotFoundError, match="no Dock with the name"):
        Dock.get("other")


def test_a_branch_keeps_the_connections_of_its_source(machine: Machine) -> None:
    with Dock.create(workspace_id="w", on_exit="keep") as dock:
        copy = dock.branch(name="copy")
    copy.refresh()
    with copy:
        pass
    with pytest.raises(ClosedError):
        copy.refresh()


def test_a_given_client_stays_open(machine: Machine, service: LocalService) -> None:
    with Client(service.url, "k") as client:
        with Dock.create(workspace_id="w", client=client):
            pass
        assert [dock.name for dock in DockService(client=client).list()] == ["mine"]


def test_lists_docks_that_share_connections(machine: Machine) -> None:
    [dock] = Dock.list()
    with dock:
        assert dock.refresh()["name"] == "mine"
    assert machine.calls == ["GET /v1/docks"]
    with pytest.raises(ClosedError):
        dock.refresh()


async def test_stops_and_resumes(machine: Machine) -> None:
    async with AsyncDockService() as service, await service.create(on_exit="keep") as dock:
        await dock.stop()
        assert machine.state == "archived"
        await dock.resume()
        assert machine.state == "ready"
        machine.start = ["provisioning", "error"]
        with pytest.raises(DockError, match="The Dock is error now"):
            await dock.resume()


def test_copies_files_of_this_computer(machine: Machine, service: LocalService, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("content")
    (tmp_path / "a").chmod(0o750)
    with Dock.get(ID) as dock:
        service.respond_in_turn(failure(429, "rate_limited"), success({}))
        dock.files.upload(tmp_path / "a", "to/")
        sent = service.requests[-1]
        assert (sent.path, sent.body) == (
            f"/v1/docks/{ID}/files?path=%2Fhome%2Fuser%2Fwork%2Fto%2Fa&mode=750",
            b"content",
        )
        service.respond_in_turn(Response(200, b"new"))
        dock.files.download("x/b", tmp_path)
        assert (tmp_path / "b").read_text() == "new"
        dock.files.download("x/b", tmp_path / "made" / "c")
        assert (tmp_path / "made" / "c").read_text() == "new"
        service.respond_in_turn(Response(200, b"broken", {"x-dock-mode": "4710"}, break_after=2))
        with pytest.raises(DockError):
            dock.files.download("x/b", tmp_path)
        service.respond_in_turn(Response(200, b"new", {"x-dock-mode": "4710"}))
        dock.files.download("x/b", tmp_path)
        assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o710
    assert (tmp_path / "b").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "made"]
