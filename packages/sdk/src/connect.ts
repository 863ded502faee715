/** What every object of the SDK needs: a client, and the workspace of new Docks. */
import { type Client, type ClientOptions, createClient } from './client.ts'

/** Where the service is and who calls it; or a client that exists. */
export type ConnectOptions = ClientOptions & { client?: Client | undefined }

/** Returns the given client, or a new one. */
export function clientOf({ client, ...options }: ConnectOptions): Client {
  return client ?? createClient(options)
}

/** Returns the caller's first organization. */
export async function firstOrganization(client: Client, signal: AbortSignal | undefined): Promise<string> {
  const [organization] = await client.call('listOrganizations', { signal })
  if (organization) return organization.id
  throw new TypeError('You are in no organization. Give organizationId.')
}

/** Returns the first workspace of the caller's first organization. */
export async function firstWorkspace(client: Client, signal: AbortSignal | undefined): Promise<string> {
  const orgId = await firstOrganization(client, signal)
  const [workspace] = await client.call('listWorkspaces', { params: { orgId }, signal })
  if (workspace) return workspace.id
  throw new TypeError('Your organization has no workspace. Give workspaceId.')
}
