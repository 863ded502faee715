/** Names that are longer than a Dock's own, for Docks that share one. */
import type { Client, DockInfo } from '@dock/sdk'
import { listWorkspaces } from './workspaces.ts'

export type LongNamed = { id: string; dock: DockInfo; names: string[] }

/** Returns each Dock with its names, the shortest first, as the SSH gateway accepts them. */
export async function withLongNames(client: Client, docks: readonly DockInfo[]): Promise<LongNamed[]> {
  const workspaces = await listWorkspaces(client)
  return docks.map((dock) => {
    const workspace = workspaces.find(({ id }) => id === dock.workspaceId)
    const { name, id } = dock
    if (name === null) return { id, dock, names: [] }
    if (!workspace) return { id, dock, names: [name] }
    const longer = `${name}.${workspace.slug}`
    return { id, dock, names: [name, longer, `${longer}.${workspace.organization.slug}`] }
  })
}
