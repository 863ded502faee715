"""Snapshots, Templates and Environments: what stays when a Dock is stopped."""

from __future__ import annotations

from typing import List

from .. import models
from .connect import first_organization
from .routes import AsyncClient
from .runtime import AsyncStream, aclosing
from .waiting import until_completed


class AsyncSnapshots:
    """The Snapshots of Docks. Their files can be read while the Dock is stopped."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def list(self, *, dock_id: str | None = None) -> List[models.Snapshot]:
        """Return all Snapshots that you can see, or those of one Dock, newest first."""
        snapshots: List[models.Snapshot] = []
        cursor: str | None = None
        while True:
            if dock_id is None:
                page = await self._client.list_snapshots(limit=100, cursor=cursor)
            else:
                page = await self._client.list_dock_snapshots(dock_id, limit=100, cursor=cursor)
            snapshots += page["snapshots"]
            cursor = page["nextCursor"]
            if cursor is None:
                return snapshots

    async def latest(self, dock_id: str) -> models.Snapshot | None:
        """Return the latest completed Snapshot of a Dock, or None."""
        return await self._client.read_latest_snapshot(dock_id)

    async def tree(self, id: str) -> List[models.SnapshotFile]:
        """Return all files of a Snapshot."""
        return (await self._client.read_snapshot_tree(id, timeout=600))["files"]

    async def read(self, id: str, path: str) -> bytes:
        """Return the bytes of a file. `path` is as in the tree."""
        return await self._client.read_snapshot_file(id, path=path)

    async def read_text(self, id: str, path: str) -> str:
        """Return a file as text."""
        return (await self.read(id, path)).decode("utf-8", "replace")

    async def stream(self, id: str, path: str) -> AsyncStream[bytes]:
        """Yield the bytes of a file as they arrive."""
        async with self._client.read_snapshot_file_stream(id, path=path) as response:
            async with aclosing(response.chunks()) as chunks:
                async for chunk in chunks:
                    yield chunk

    async def delete(self, id: str) -> None:
        """Delete a Snapshot, for good."""
        answer = await self._client.delete_snapshot(id, confirm_delete=id)
        await until_completed(self._client, answer["operation"])


class AsyncTemplates:
    """Docks that are kept as the start of others: `Dock.create(from_="name")`."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def list(self) -> List[models.Template]:
        """Return the Templates of your organizations."""
        return await self._client.list_templates()

    async def create(self, dock_id: str, name: str) -> models.Template:
        """Save a running Dock as a Template. Replaces one with the same name."""
        return await self._client.create_template({"dockId": dock_id, "name": name})

    async def get(self, name: str, *, organization_id: str | None = None) -> models.Template:
        """Return a Template of an organization; default: your first one."""
        organization = organization_id or await first_organization(self._client)
        return await self._client.read_template(name, organization_id=organization)

    async def delete(self, name: str, *, organization_id: str | None = None) -> None:
        """Delete a Template."""
        organization = organization_id or await first_organization(self._client)
        answer = await self._client.delete_template(name, organization_id=organization)
        await until_completed(self._client, answer["operation"])


class AsyncEnvironments:
    """
    Variables, files and repositories that Docks start with. `ref` is a name or an id. Without `organization_id`, they
    are those of your first organization.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def list(self, *, organization_id: str | None = None) -> List[models.Environment]:
        """Return the Environments of an organization."""
        return await self._client.list_environments(organization_id=await self._organization(organization_id))

    async def create(
        self,
        name: str,
        *,
        secrets_access: models.SecretsAccess | None = None,
        organization_id: str | None = None,
    ) -> models.Environment:
        """Create an Environment; it starts empty."""
        body: models.CreateEnvironmentBody = {
            "organizationId": await self._organization(organization_id),
            "name": name,
        }
        if secrets_access is not None:
            body["secretsAccess"] = secrets_access
        return await self._client.create_environment(body)

    async def get(self, ref: str, *, organization_id: str | None = None) -> models.Environment:
        """Return an Environment."""
        organization = await self._organization(organization_id)
        return await self._client.read_environment(ref, organization_id=organization)

    async def update(
        self, ref: str, change: models.UpdateEnvironmentBody, *, organization_id: str | None = None
    ) -> models.Environment:
        """Change an Environment."""
        organization = await self._organization(organization_id)
        return await self._client.update_environment(ref, change, organization_id=organization)

    async def delete(self, ref: str, *, organization_id: str | None = None) -> None:
        """Delete an Environment."""
        organization = await self._organization(organization_id)
        await self._client.delete_environment(ref, organization_id=organization)

    async def set_variable(self, ref: str, key: str, value: str, *, organization_id: str | None = None) -> None:
        """Set a variable. Docks get it when they start, or after `client.upgrade_environment()`."""
        organization = await self._organization(organization_id)
        await self._client.set_environment_variable(
            ref, {"key": key, "value": value}, organization_id=organization
        )

    async def remove_variable(self, ref: str, key: str, *, organization_id: str | None = None) -> None:
        """Remove a variable."""
        organization = await self._organization(organization_id)
        await self._client.remove_environment_variable(ref, key, organization_id=organization)

    async def _organization(self, given: str | None) -> str:
        return given or await first_organization(self._client)
