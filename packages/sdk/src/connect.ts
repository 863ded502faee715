/** What every object of the SDK needs: a client, and the workspace of new Docks. */
import { type Client, type ClientOptions, createClient } from './client.ts'

/** Where the service is and who calls it; or a client that exists. */
export type ConnectOptions = ClientOptions & { client?: Client | undefined }

/** Returns the given client, or a new one. */
export function clientOf({ client, ...options }: ConnectOptions): Client {
  return client ?? createClient(options)
}

/** Returns the first workspace of the caller's first organization. */
export async function firstWorkspace(client: Client, signal: AbortSignal | undefined): Promise<string> {
  for (const { id } of await client.call('listOrganizations', { signal })) {
    const [workspace] = await client.call('listWorkspaces', { params: { orgId: id }, signal })
    if (workspace) return workspace.id
  }
  throw new TypeError('You are in no workspace. Give workspaceId.')
}
