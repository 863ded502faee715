"""A Dock: an isolated Linux machine that keeps its disk when it is stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import List, Literal, TypeVar

from .. import models
from .._text import absolute_path, is_id, shell_line
from ..errors import ClosedError, DockConnectionError, DockError, NotFoundError, has_code
from ..results import ExecResult, exec_result
from .connect import first_workspace
from .files import AsyncDockFiles
from .process import AsyncDockProcesses, AsyncProcess
from .routes import AsyncClient
from .saved import AsyncSnapshots
from .waiting import until_completed, until_reached, until_state

OnExit = Literal["stop", "delete", "keep"]

_READY = ("ready", "idle", "running")
_STARTING = ("provisioning", "provisioned", "cloning")

D = TypeVar("D", bound="AsyncDock")


class AsyncDock:
    """
    A Dock. The end of a `with` block stops it, which keeps its disk. With `on_exit="delete"` it deletes it, and with
    `on_exit="keep"` it does nothing.
    """

    def __init__(self, client: AsyncClient, info: models.Dock, *, on_exit: OnExit = "stop", owns_client: bool = False) -> None:
        self.id = info["id"]
        #: The client of this Dock, for every route that has no method here.
        self.client = client
        self.files = AsyncDockFiles(client, self.id)
        self.processes = AsyncDockProcesses(client, self.id)
        #: The Dock as it was last read; see `refresh`.
        self.info = info
        self._on_exit = on_exit
        self._uses_client = owns_client
        if owns_client:
            client._users += 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.name or ''} {self.info['state']}>"

    @property
    def name(self) -> str | None:
        return self.info["name"]

    @classmethod
    async def create(
        cls: type[D],
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
        client: AsyncClient | None = None,
    ) -> D:
        """
        Create a Dock and return it when it is ready. `from_` is the name of a Template. Without
        `workspace_id`, it is made in the first workspace of your first organization. Without `client`, the address and
        the key are `DOCK_URL` and `DOCK_API_KEY`.
        """
        used = client or AsyncClient()
        try:
            body: models.CreateDockBody = {"workspaceId": workspace_id or await first_workspace(used)}
            options = {"from": from_, "name": name, "image": image, "ttlSeconds": ttl_seconds, "noEnv": no_env}
            sizes = {"cpus": cpus, "memoryMiB": memory_mib, "diskGiB": disk_gib}
            start = {"environment": environment, "env": env, "setupScript": setup_script}
            body.update(_given({**options, **sizes, **start}))  # type: ignore[typeddict-item]
            info = await used.create_dock(body, idempotency_key=idempotency_key, x_dock_runtime=runtime)
        except BaseException:
            if client is None:
                await used.aclose()
            raise
        return cls(used, info, on_exit=on_exit, owns_client=client is None)

    @classmethod
    async def get(
        cls: type[D], id_or_name: str, *, on_exit: OnExit = "keep", client: AsyncClient | None = None
    ) -> D:
        """Return a Dock by id or name. The end of a `with` block leaves it alone."""
        used = client or AsyncClient()
        try:
            info = await _find(used, id_or_name)
        except BaseException:
            if client is None:
                await used.aclose()
            raise
        return cls(used, info, on_exit=on_exit, owns_client=client is None)

    @classmethod
    async def list(cls: type[D], *, client: AsyncClient | None = None) -> List[D]:
        """Return all Docks that you can see. The end of a `with` block leaves them alone."""
        used = client or AsyncClient()
        try:
            found = await used.list_docks(all=True)
        except BaseException:
            if client is None:
                await used.aclose()
            raise
        return [cls(used, info, on_exit="keep", owns_client=client is None) for info in found]

    async def refresh(self) -> models.Dock:
        """Read the Dock again."""
        self.info = await self.client.read_dock(self.id)
        return self.info

    async def update(
        self,
        *,
        name: str | None = None,
        ttl_seconds: int | Literal["none"] | None = None,
        cpus: int | None = None,
        memory_mib: int | None = None,
        disk_gib: int | None = None,
    ) -> models.Dock:
        """Rename the Dock, set its auto-stop timer (`"none"` removes it), or resize it while it is stopped."""
        body = _given({"name": name, "cpus": cpus, "memoryMiB": memory_mib, "diskGiB": disk_gib})
        if ttl_seconds is not None:
            body["ttlSeconds"] = None if ttl_seconds == "none" else ttl_seconds
        self.info = await self.client.update_dock(self.id, body)  # type: ignore[arg-type]
        return self.info

    async def exec(
        self,
        command: str | Sequence[str],
        *,
        timeout_seconds: int | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        cancel_on_disconnect: bool = False,
        idempotency_key: str | None = None,
    ) -> ExecResult:
        """
        Run a command to its end: a line of shell, or words that no shell reads. Its exit code is in the result. With
        `cancel_on_disconnect`, the command ends when this call is interrupted. For output as it comes, or longer than
        ten minutes, use `spawn`.
        """
        body: models.ExecInDockBody = {"command": shell_line(command)}
        if timeout_seconds is not None:
            body["timeoutSeconds"] = timeout_seconds
        if env is not None:
            body["env"] = dict(env)
        if cwd is not None:
            body["cwd"] = absolute_path(cwd)
        return exec_result(
            await self.client.exec_in_dock(
                self.id,
                body,
                idempotency_key=idempotency_key,
                x_dock_cancel_on_disconnect="true" if cancel_on_disconnect else None,
            )
        )

    async def spawn(
        self,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        pty: models.TerminalCells | None = None,
        timeout_seconds: int | None = None,
        stdin: bool = False,
        hold_output: bool = True,
        idempotency_key: str | None = None,
    ) -> AsyncProcess:
        """Start a process that outlives this program; see `processes`."""
        return await self.processes.start(
            command,
            env=env,
            cwd=cwd,
            pty=pty,
            timeout_seconds=timeout_seconds,
            stdin=stdin,
            hold_output=hold_output,
            idempotency_key=idempotency_key,
        )

    async def port(self, port: int) -> models.PortEntry:
        """Expose a port and return its address. Repeating it is harmless."""
        return await self.client.expose_port(self.id, {"port": port})

    async def ports(self) -> List[models.PortEntry]:
        """Return the exposed ports."""
        return await self.client.list_ports(self.id)

    async def close_port(self, port: int) -> None:
        """Stop exposing a port."""
        await self.client.unexpose_port(self.id, port)

    async def branch(
        self: D,
        *,
        name: str | None = None,
        cpus: int | None = None,
        memory_mib: int | None = None,
        disk_gib: int | None = None,
        ttl_seconds: int | None = None,
        environment: str | None = None,
        no_env: bool | None = None,
        env: Mapping[str, str] | None = None,
        on_exit: OnExit = "stop",
        runtime: models.RuntimeName | None = None,
        idempotency_key: str | None = None,
    ) -> D:
        """Copy the Dock while it runs, and return the copy when it is ready."""
        sizes = {"cpus": cpus, "memoryMiB": memory_mib, "diskGiB": disk_gib}
        start = {"environment": environment, "noEnv": no_env, "env": env}
        body = _given({"name": name, "ttlSeconds": ttl_seconds, **sizes, **start})
        info = await self.client.branch_dock(
            self.id,
            body,  # type: ignore[arg-type]
            idempotency_key=idempotency_key,
            x_dock_runtime=runtime,
        )
        return type(self)(self.client, info, on_exit=on_exit, owns_client=self._uses_client)

    async def stop(self, *, force: bool = False) -> None:
        """Save the Dock as a Snapshot and stop it. Return when it is stopped. `force` saves nothing."""
        await until_reached(lambda: self.client.stop_dock(self.id, {"force": force}))
        await until_state(self.refresh, ["archived"], ["archiving"])

    async def last_stop(self) -> models.DockStop | None:
        """Return who or what last stopped the Dock, why and when; None if it has never stopped."""
        return (await self.client.read_dock_last_stop(self.id))["lastStop"]

    async def resume(
        self,
        *,
        ttl_seconds: int | None = None,
        cpus: int | None = None,
        memory_mib: int | None = None,
        disk_gib: int | None = None,
        environment: str | None = None,
        no_env: bool | None = None,
    ) -> None:
        """Boot the stopped Dock and return when it is ready."""
        sizes = {"cpus": cpus, "memoryMiB": memory_mib, "diskGiB": disk_gib}
        body = _given({"ttlSeconds": ttl_seconds, "environment": environment, "noEnv": no_env, **sizes})
        try:
            await self.client.resume_dock(self.id, body)  # type: ignore[arg-type]
        except DockConnectionError:
            # The request may have arrived.
            if (await until_reached(self.refresh))["state"] == "archived":
                raise
        await until_state(self.refresh, _READY, _STARTING)

    async def delete(self) -> None:
        """Delete the Dock with all its Snapshots, for good."""
        try:
            answer = await self.client.delete_dock(self.id, confirm_delete=self.id)
        except DockConnectionError:
            # The request may have arrived.
            try:
                answer = await self.client.delete_dock(self.id, confirm_delete=self.id)
            except DockError as error:
                if not has_code(error, "dock_not_found"):
                    raise
                return
        await until_completed(self.client, answer["operation"])

    async def snapshots(self) -> List[models.Snapshot]:
        """Return the Snapshots of this Dock, newest first."""
        return await AsyncSnapshots(self.client).list(dock_id=self.id)

    async def aclose(self) -> None:
        """Close the connections, if the Dock made its own client. The Dock goes on."""
        if self._uses_client:
            self._uses_client = False
            self.client._users -= 1
            # Branches share it.
            if self.client._users == 0:
                await self.client.aclose()

    async def __aenter__(self: D) -> D:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._leave()
        finally:
            await self.aclose()

    async def _leave(self) -> None:
        if self._on_exit == "keep":
            return
        try:
            await (self.delete() if self._on_exit == "delete" else self.stop())
        except ClosedError:
            raise
        except DockError as problem:
            if has_code(problem, "dock_not_found"):
                return
            if self._on_exit == "stop" and (await self.refresh())["state"] == "archived":
                return
            raise


async def _find(client: AsyncClient, id_or_name: str) -> models.Dock:
    if is_id(id_or_name):
        return await client.read_dock(id_or_name)
    named = [dock for dock in await client.list_docks(all=True) if dock["name"] == id_or_name]
    if len(named) == 1:
        return named[0]
    if named:
        raise DockError("name_ambiguous", f"You have several Docks with the name {id_or_name!r}. Use the id.")
    raise NotFoundError("dock_not_found", 404, f"You have no Dock with the name {id_or_name!r}.")


def _given(values: Mapping[str, object]) -> dict[str, object]:
    """Return what is not None."""
    return {key: value for key, value in values.items() if value is not None}
