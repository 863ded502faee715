"""One Dock service and one caller: everything that does not belong to one Dock."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import List

from .. import models
from .dock import AsyncDock, OnExit
from .routes import AsyncClient
from .saved import AsyncEnvironments, AsyncSnapshots, AsyncTemplates


class AsyncDockService:
    """
    A Dock service. The address and the key default to `DOCK_URL` and `DOCK_API_KEY`. The end of a `with` block closes
    the connections; Docks go on.
    """

    def __init__(
        self, base_url: str | None = None, api_key: str | None = None, *, client: AsyncClient | None = None
    ) -> None:
        #: Calls any route of the service: `client.read_me()`.
        self.client = client or AsyncClient(base_url, api_key)
        self._owns_client = client is None
        self.snapshots = AsyncSnapshots(self.client)
        self.templates = AsyncTemplates(self.client)
        self.environments = AsyncEnvironments(self.client)

    async def create(
        self,
        *,
        from_: str | None = None,
        name: str | None = None,
        workspace_id: str | None = None,
        image: str | None = None,
        cpus: int | None = None,
        memory_mib: int | None = None,
        disk_gib: int | None = None,
        ttl_seconds: int | None = None,
        environment: str | None = None,
        no_env: bool | None = None,
        env: Mapping[str, str] | None = None,
        setup_script: str | None = None,
        on_exit: OnExit = "stop",
        runtime: models.RuntimeName | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncDock:
        """Create a Dock and return it when it is ready; see `Dock.create`."""
        return await AsyncDock.create(
            from_=from_,
            name=name,
            workspace_id=workspace_id,
            image=image,
            cpus=cpus,
            memory_mib=memory_mib,
            disk_gib=disk_gib,
            ttl_seconds=ttl_seconds,
            environment=environment,
            no_env=no_env,
            env=env,
            setup_script=setup_script,
            on_exit=on_exit,
            runtime=runtime,
            idempotency_key=idempotency_key,
            client=self.client,
        )

    async def get(self, id_or_name: str, *, on_exit: OnExit = "keep") -> AsyncDock:
        """Return a Dock by id or name."""
        return await AsyncDock.get(id_or_name, on_exit=on_exit, client=self.client)

    async def list(self) -> List[AsyncDock]:
        """Return all Docks that you can see."""
        return [AsyncDock(self.client, info, on_exit="keep") for info in await self.client.list_docks(all=True)]

    async def aclose(self) -> None:
        """Close the connections. Docks go on."""
        if self._owns_client:
            await self.client.aclose()

    async def __aenter__(self) -> AsyncDockService:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
