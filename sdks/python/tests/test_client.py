"""Requests, retries and errors."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest

from dock_sdk import (
    AsyncClient,
    CapacityError,
    Client,
    ClosedError,
    ConflictError,
    Dock,
    DockApiError,
    DockConnectionError,
    NotFoundError,
    RateLimitError,
    ServiceError,
    UnauthorizedError,
)

from dock_sdk._request import Call

from .conftest import LocalService, Response, failure, success

ID = "5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11"


def test_sends_path_query_key_and_body(service: LocalService) -> None:
    service.respond = lambda request: success({"exitCode": 0})
    with Client(service.url + "/", "dock_example") as client:
        assert client.exec_in_dock(ID, {"command": "true"}, idempotency_key="k")["exitCode"] == 0
        client.read_environment("a/b ü", organization_id="x&y")
        client.list_docks(all=True)
    first, second, third = service.requests
    assert (first.method, first.path, first.body) == ("POST", f"/v1/docks/{ID}/exec", b'{"command": "true"}')
    assert first.headers["authorization"] == "Bearer dock_example"
    assert first.headers["idempotency-key"] == "k"
    assert first.headers["content-type"] == "application/json"
    assert second.path == "/v1/environments/a%2Fb%20%C3%BC?organizationId=x%26y"
    assert third.path == "/v1/docks?all=true"


def test_sends_bytes_of_names_as_they_are(service: LocalService) -> None:
    with Client(service.url, "k") as client:
        client.write_dock_file(ID, b"hi", path="/tmp/a\udcff b+%")
        client.write_dock_file(ID, iter([b"h", b"i"]), path="/a")
    assert service.requests[0].path == f"/v1/docks/{ID}/files?path=%2Ftmp%2Fa%FF%20b%2B%25"
    assert [request.body for request in service.requests] == [b"hi", b"hi"]


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_refuses_parameters_that_lead_to_other_routes(service: LocalService, id: str) -> None:
    with Client(service.url, "k") as client, pytest.raises(ValueError):
        client.read_dock(id)
    assert service.requests == []


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthorized", UnauthorizedError),
        (404, "dock_not_found", NotFoundError),
        (409, "dock_busy", ConflictError),
        (503, "no_host_capacity", CapacityError),
        (500, "not_known_yet", ServiceError),
    ],
)
def test_raises_a_class_for_each_kind_of_failure(
    service: LocalService, status: int, code: str, kind: type[DockApiError]
) -> None:
    service.respond = lambda request: failure(status, code)
    with Client(service.url, "k", retries=0) as client, pytest.raises(kind) as caught:
        client.read_me()
    assert (caught.value.code, caught.value.status, caught.value.message) == (code, status, "A sentence.")


def test_says_that_a_response_is_of_another_service(service: LocalService) -> None:
    for response in (Response(200, b"<html>"), Response(302), Response(404, b"{}")):
        service.respond_in_turn(response)
        with Client(service.url, "k") as client, pytest.raises(DockApiError) as caught:
            client.read_me()
        assert caught.value.code == "bad_response"


def test_repeats_a_create_with_the_same_key(service: LocalService) -> None:
    dock = success({"id": ID}, 201)
    service.respond_in_turn(Response(200, b"x" * 10, break_after=3), failure(503, "service_unavailable"), dock)
    with Client(service.url, "k") as client:
        assert client.create_dock({"workspaceId": "w"})["id"] == ID
    keys = {request.headers["idempotency-key"] for request in service.requests}
    assert len(service.requests) == 3 and len(keys) == 1


def test_makes_no_key_if_it_never_repeats_a_request(service: LocalService) -> None:
    service.respond_in_turn(success({"exitCode": 0}))
    with Client(service.url, "k", retries=0) as client:
        client.exec_in_dock(ID, {"command": "true"})
    assert "idempotency-key" not in service.requests[0].headers


def test_waits_for_a_request_with_its_key_that_still_runs(service: LocalService) -> None:
    busy = [failure(409, "idempotency_in_progress")] * 4
    service.respond_in_turn(*busy, success({"id": ID}))
    # These waits are no attempts.
    with Client(service.url, "k", retries=1) as client:
        assert client.create_dock({"workspaceId": "w"})["id"] == ID
    assert len(service.requests) == 5


def test_waits_as_long_as_retry_after_says(service: LocalService) -> None:
    service.respond_in_turn(failure(429, "rate_limited", retry_after="1"), success({}))
    started = time.monotonic()
    with Client(service.url, "k") as client:
        client.stop_dock(ID)
    assert time.monotonic() - started >= 1
    assert len(service.requests) == 2


def test_does_not_wait_for_a_long_retry_after(service: LocalService) -> None:
    service.respond = lambda request: failure(429, "rate_limited", retry_after="31")
    with Client(service.url, "k") as client, pytest.raises(RateLimitError) as caught:
        client.read_me()
    assert caught.value.retry_after_seconds == 31
    assert len(service.requests) == 1


def test_does_not_repeat_what_may_have_happened(service: LocalService) -> None:
    for response in (failure(503, "service_unavailable"), Response(200, b"xxx", break_after=1)):
        service.requests.clear()
        service.respond_in_turn(response)
        with Client(service.url, "k") as client, pytest.raises((ServiceError, DockConnectionError)):
            client.stop_dock(ID)
        assert len(service.requests) == 1


def test_repeats_nothing_for_a_key_that_the_route_does_not_take(service: LocalService) -> None:
    service.respond = lambda request: Response(200, b"xxx", break_after=1)
    with Client(service.url, "k") as client, pytest.raises(DockConnectionError):
        client._call(Call("POST", f"/v1/docks/{ID}/stop", headers={"Idempotency-Key": "ignored"}))
    assert len(service.requests) == 1


def test_does_not_repeat_a_command_that_ended_with_its_connection(service: LocalService) -> None:
    service.respond = lambda request: Response(200, b"xxx", break_after=1)
    with Client(service.url, "k") as client, pytest.raises(DockConnectionError):
        client.exec_in_dock(ID, {"command": "x"}, x_dock_cancel_on_disconnect="true")
    assert len(service.requests) == 1


def test_sends_a_stream_once(service: LocalService) -> None:
    service.respond = lambda request: failure(503, "service_unavailable")
    with Client(service.url, "k") as client, pytest.raises(ServiceError):
        client.write_dock_file(ID, iter([b"x"]), path="/a")
    assert len(service.requests) == 1


def test_says_that_nothing_listens() -> None:
    with Client("http://127.0.0.1:9", "k", retries=0) as client, pytest.raises(DockConnectionError) as caught:
        client.read_me()
    assert "http://127.0.0.1:9 cannot be reached" in str(caught.value)


def test_says_that_it_is_closed(service: LocalService) -> None:
    client = Client(service.url, "k")
    client.close()
    client.close()
    with pytest.raises(ClosedError, match="This client is closed"):
        client.read_me()


def test_says_that_it_belongs_to_another_event_loop(service: LocalService) -> None:
    http = httpx.AsyncClient()
    client = AsyncClient(service.url, "k", http=http)

    async def use() -> None:
        async with http:
            await client.read_me()

    asyncio.run(use())
    with pytest.raises(ClosedError, match="another event loop"):
        asyncio.run(client.read_me())


async def test_asks_for_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCK_URL", raising=False)
    with pytest.raises(ValueError, match="DOCK_URL"):
        Dock.create()
    with pytest.raises(ValueError, match="not the address"):
        AsyncClient("localhost")


def test_asks_for_a_runtime_in_a_header(service: LocalService) -> None:
    service.respond = lambda request: success({"id": ID, "name": "n"})
    with Client(service.url, "k") as client:
        dock = Dock.create(client=client, workspace_id="w", runtime="microvm", idempotency_key="k", on_exit="keep")
        dock.branch(runtime="gvisor", on_exit="keep")
        dock.branch(on_exit="keep")
    sent = [request.headers.get("x-dock-runtime") for request in service.requests]
    assert sent == ["microvm", "gvisor", None]
    assert service.requests[0].headers["idempotency-key"] == "k"
