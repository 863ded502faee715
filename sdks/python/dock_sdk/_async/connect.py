"""Defaults that need a request: the caller's first organization and workspace."""

from __future__ import annotations

from .routes import AsyncClient


async def first_organization(client: AsyncClient) -> str:
    """Return the caller's first organization."""
    for organization in await client.list_organizations():
        return organization["id"]
    raise ValueError("You are in no organization. Give organization_id.")


async def first_workspace(client: AsyncClient) -> str:
    """Return the first workspace of the caller's first organization."""
    for workspace in await client.list_workspaces(await first_organization(client)):
        return workspace["id"]
    raise ValueError("Your organization has no workspace. Give workspace_id.")
