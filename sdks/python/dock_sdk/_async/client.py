"""A typed client of every route of the service."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, BinaryIO, TypeVar

import httpx

from .._request import Call, data_of, error_of
from .._retry import RetryPlan
from ..errors import ClosedError, DockConnectionError, DockError
from .runtime import AsyncStream, Home, aclosing, asynccontextmanager, in_thread, pause

T = TypeVar("T")

#: Bytes to send. An iterable or a file is sent as it is read, and once; a function that returns one may be called again.
AsyncRawBody = bytes | str | AsyncIterable[bytes] | BinaryIO | Callable[[], AsyncIterable[bytes]]

_CHUNK_BYTES = 256 * 1024


class AsyncRawResponse:
    """A response whose body is read as a stream."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.headers: Mapping[str, str] = response.headers

    async def chunks(self) -> AsyncStream[bytes]:
        """Yield the bytes as they arrive. Raise `DockConnectionError` if the connection breaks."""
        try:
            async for chunk in self._response.aiter_bytes():
                if chunk:
                    yield chunk
        except (httpx.TransportError, httpx.StreamError) as error:
            problem = DockConnectionError("The connection broke during the response.")
            # Idle is not broken: a process may be silent for long.
            problem.code = "read_timeout" if isinstance(error, httpx.ReadTimeout) else problem.code
            raise problem from error


class AsyncClientCore:
    """Sends requests. `AsyncClient` has a method for each route."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        retries: int = 4,
        retry_after_seconds_max: float = 30.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """
        `base_url` is the service's address without `/v1`; default: `DOCK_URL`. `api_key` defaults to `DOCK_API_KEY`.
        A longer `Retry-After` than `retry_after_seconds_max` is an error at once. `http` replaces the HTTP client, for
        own certificates or proxies; you close it.
        """
        address = base_url or os.environ.get("DOCK_URL")
        if not address:
            raise ValueError("Give base_url, or set DOCK_URL to the address of your Dock service.")
        if not address.startswith(("http://", "https://")):
            raise ValueError(f"{address} is not the address of a service.")
        self.base_url = address.rstrip("/")
        self._api_key = api_key or os.environ.get("DOCK_API_KEY")
        self._retries = retries
        self._retry_after_seconds_max = retry_after_seconds_max
        self._owns_http = http is None
        # Servers close idle connections after five seconds. A request on one of them would fail.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=3.0)
        self._http = http or httpx.AsyncClient(limits=limits)
        self._home = Home()
        self._is_closed = False
        self._users = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.base_url}{' (closed)' if self._is_closed else ''}>"

    async def __aenter__(self: T) -> T:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. Later calls raise `ClosedError`. Docks and processes go on."""
        self._is_closed = True
        if self._owns_http:
            await self._http.aclose()

    async def _call(self, call: Call, body: AsyncRawBody | None = None) -> Any:
        """Return the `data` of the response."""

        async def read(response: httpx.Response) -> Any:
            return data_of(response.status_code, response.headers, await _whole(response))

        return await self._request(call, body, read)

    async def _bytes(self, call: Call) -> bytes:
        """Return the bytes of a response that is not JSON."""

        async def read(response: httpx.Response) -> bytes:
            content = await _whole(response)
            if response.is_success:
                return content
            raise error_of(response.status_code, response.headers, content)

        return await self._request(call, None, read)

    @asynccontextmanager
    async def _open(self, call: Call) -> AsyncIterator[AsyncRawResponse]:
        """Return a response to read as a stream."""

        async def read(response: httpx.Response) -> httpx.Response:
            if response.is_success:
                return response
            raise error_of(response.status_code, response.headers, await _whole(response))

        response = await self._request(call, None, read)
        try:
            yield AsyncRawResponse(response)
        finally:
            await response.aclose()

    async def _request(
        self, call: Call, body: AsyncRawBody | None, read: Callable[[httpx.Response], Awaitable[T]]
    ) -> T:
        headers = {name.lower(): value for name, value in call.headers.items() if value is not None}
        headers.setdefault("accept-encoding", "identity")
        if self._api_key is not None:
            headers.setdefault("authorization", f"Bearer {self._api_key}")
        # Without retries no request is repeated, and the service need not remember its result.
        if call.takes_key and self._retries > 0:
            headers.setdefault("idempotency-key", str(uuid.uuid4()))
        if body is not None:
            headers.setdefault("content-type", "application/octet-stream")
        elif call.body is not None:
            headers.setdefault("content-type", "application/json")
        is_sent_once = not (body is None or callable(body) or isinstance(body, (bytes, str)))
        is_repeatable = call.method in ("GET", "PUT") or call.takes_key
        # The command ended with the connection, so its result is not what was asked for.
        is_safe = is_repeatable and "x-dock-cancel-on-disconnect" not in headers
        retries = 0 if is_sent_once else self._retries
        plan = RetryPlan(retries, self._retry_after_seconds_max, is_safe=is_safe)
        url = call.url(self.base_url)
        while True:
            try:
                return await self._attempt(call, url, headers, body, read)
            except DockError as error:
                seconds = plan.seconds_to_wait(error)
                if seconds is None:
                    raise
            await pause(seconds)

    async def _attempt(
        self,
        call: Call,
        url: str,
        headers: dict[str, str],
        body: AsyncRawBody | None,
        read: Callable[[httpx.Response], Awaitable[T]],
    ) -> T:
        if self._is_closed:
            raise ClosedError("This client is closed, as it is after the end of a `with` block. Use Dock.get() to go on with a Dock.")
        self._home.check()
        content = json.dumps(call.body) if body is None and call.body is not None else _content(body)
        # A write waits as long as the service takes nothing.
        timeout = httpx.Timeout(10.0, read=call.read_seconds, write=call.read_seconds, pool=None)
        try:
            request = self._http.build_request(call.method, url, headers=headers, content=content, timeout=timeout)
            response = await self._http.send(request, stream=True)
            try:
                return await read(response)
            except BaseException:
                await response.aclose()
                raise
        except httpx.TransportError as error:
            reason = str(error) or type(error).__name__
            message = f"{self.base_url} cannot be reached, or the connection broke: {reason}."
            raise DockConnectionError(message) from error
        except RuntimeError as error:
            # Another thread or task closed the client meanwhile.
            if self._is_closed:
                raise ClosedError("This client was closed during the request.") from error
            raise


async def _whole(response: httpx.Response) -> bytes:
    try:
        return await response.aread()
    finally:
        await response.aclose()


def _content(body: AsyncRawBody | None) -> bytes | str | AsyncIterable[bytes] | None:
    if body is None or isinstance(body, (bytes, str)):
        return body
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    source: Any = body() if callable(body) else body
    chunks: AsyncIterable[bytes] = _file_chunks(source) if hasattr(source, "read") else source
    return chunks


async def _file_chunks(file: BinaryIO) -> AsyncStream[bytes]:
    while True:
        chunk = await in_thread(file.read, _CHUNK_BYTES)
        if not chunk:
            return
        yield chunk
