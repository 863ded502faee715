/** Organizations and workspaces of the caller, by name. */
import type { Client, Organization, Workspace } from '@dock/sdk'
import type { Flag } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { notFound } from '../program/failures.ts'
import { isId, pick } from './pick.ts'

export const organizationFlag: Flag = {
  name: 'org',
  value: 'ORGANIZATION',
  about: 'the organization; without it your first one',
}

export type WorkspaceOfOrganization = Workspace & { organization: Organization }

/** Returns all workspaces of the caller. */
export async function listWorkspaces(client: Client): Promise<WorkspaceOfOrganization[]> {
  const organizations = await client.call('listOrganizations')
  const lists = await Promise.all(
    organizations.map(async (organization) => {
      const workspaces = await client.call('listWorkspaces', { params: { orgId: organization.id } })
      return workspaces.map((workspace) => ({ ...workspace, organization }))
    }),
  )
  return lists.flat()
}

/** Returns the organization with this id, slug or name; without a text, the first one. */
export async function findOrganization(client: Client, text: string | undefined): Promise<Organization> {
  const organizations = await client.call('listOrganizations')
  if (text !== undefined) return pick('organization', organizations, text, ({ slug, name }) => [slug, name])
  const [first] = organizations
  if (!first) throw notFound('You are in no organization. Make one: dock org create NAME')
  return first
}

/** Returns the id of the workspace that is named, or of the profile, or the first one. */
export async function findWorkspaceId(context: Context, text: string | undefined): Promise<string> {
  const client = await context.client()
  const wanted = text ?? (await context.connection()).workspaceId
  if (wanted !== undefined && isId(wanted)) return wanted
  const workspaces = await listWorkspaces(client)
  if (wanted !== undefined)
    return pick('workspace', workspaces, wanted, ({ slug, name, organization }) => [
      slug,
      name,
      `${slug}.${organization.slug}`,
    ]).id
  const [first] = workspaces
  if (!first) throw notFound('You are in no workspace. Make one: dock workspace create NAME')
  return first.id
}
