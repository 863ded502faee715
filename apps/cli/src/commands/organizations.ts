import type { OrganizationLimitValues } from '@dock/sdk'
import { pick } from '../docks/pick.ts'
import { findOrganization, listWorkspaces, organizationFlag } from '../docks/workspaces.ts'
import { formatAge, formatBytes, formatMebibytes } from '../output/formats.ts'
import type { Argument, Command } from '../program/command.ts'

const organizationArgument: Argument = { name: 'ORGANIZATION', isOptional: true }

const listOrganizations: Command = {
  path: ['org', 'ls'],
  summary: 'List your organizations',
  async run(context) {
    const all = await (await context.client()).call('listOrganizations')
    context.out.list(all, {
      NAME: (each) => each.name,
      SLUG: (each) => each.slug,
      ROLE: (each) => each.role,
      SEATS: (each) => String(each.seats),
      AGE: (each) => formatAge(each.createdAt),
      ID: (each) => each.id,
    })
  },
}

const members: Command = {
  path: ['org', 'members'],
  summary: 'List the members of an organization',
  args: [organizationArgument],
  async run(context, input) {
    const client = await context.client()
    const { id } = await findOrganization(client, input.optional('ORGANIZATION'))
    const all = await client.call('listMembers', { params: { id } })
    context.out.list(all, {
      EMAIL: (each) => each.email,
      ROLE: (each) => each.role,
      SINCE: (each) => formatAge(each.createdAt),
      ID: (each) => each.userId,
    })
  },
}

const invite: Command = {
  path: ['org', 'invite'],
  summary: 'Invite somebody by email',
  args: [{ name: 'EMAIL' }],
  flags: [
    organizationFlag,
    { name: 'role', value: 'ROLE', about: 'their role', choices: ['member', 'admin', 'owner'] },
  ],
  async run(context, input) {
    const client = await context.client()
    const { id } = await findOrganization(client, input.text('org'))
    const role = input.text('role') as 'member' | 'admin' | 'owner' | undefined
    const body = { email: input.arg('EMAIL'), ...(role === undefined ? {} : { role }) }
    const answer = await client.call('inviteMember', { params: { id }, body })
    context.out.result(answer, () => context.out.note(`Invited ${input.arg('EMAIL')}.`))
  },
}

const formatGibibytes = (gibibytes: number): string => formatBytes(gibibytes * 1024 ** 3)

const limitRows: readonly {
  name: keyof OrganizationLimitValues
  label: string
  format?: (value: number) => string
}[] = [
  { name: 'docks', label: 'Docks' },
  { name: 'cpus', label: 'processors' },
  { name: 'memoryMiB', label: 'memory', format: formatMebibytes },
  { name: 'diskGiB', label: 'disk', format: formatGibibytes },
  { name: 'storedGiB', label: 'stored Snapshots', format: formatGibibytes },
  { name: 'snapshots', label: 'Snapshots' },
  { name: 'workspaces', label: 'workspaces' },
  { name: 'environments', label: 'Environments' },
  { name: 'repositories', label: 'repositories of an Environment' },
  { name: 'templates', label: 'Templates' },
]

const limits: Command = {
  path: ['org', 'limits'],
  summary: 'Show what an organization may use, and uses',
  args: [organizationArgument],
  async run(context, input) {
    const client = await context.client()
    const { id } = await findOrganization(client, input.optional('ORGANIZATION'))
    const answer = await client.call('readOrganizationLimits', { params: { id } })
    context.out.result(answer, () =>
      context.out.table(
        ['LIMIT', 'USED', 'MOST'],
        limitRows.map(({ name, label, format = String }) => [
          label,
          format(answer.usage[name]),
          format(answer.limits[name]),
        ]),
      ),
    )
  },
}

const createOrganization: Command = {
  path: ['org', 'create'],
  summary: 'Make an organization',
  args: [{ name: 'NAME' }],
  async run(context, input) {
    const made = await (await context.client()).call('createOrganization', {
      body: { name: input.arg('NAME') },
    })
    context.out.result(made, () => context.out.line(context.out.isQuiet ? made.id : `Made ${made.slug}.`))
  },
}

const listAllWorkspaces: Command = {
  path: ['workspace', 'ls'],
  summary: 'List your workspaces',
  async run(context) {
    const all = await listWorkspaces(await context.client())
    context.out.list(all, {
      NAME: (each) => each.name,
      SLUG: (each) => each.slug,
      ORGANIZATION: (each) => each.organization.slug,
      AGE: (each) => formatAge(each.createdAt),
      ID: (each) => each.id,
    })
  },
}

const createWorkspace: Command = {
  path: ['workspace', 'create'],
  summary: 'Make a workspace',
  args: [{ name: 'NAME' }],
  flags: [organizationFlag],
  async run(context, input) {
    const client = await context.client()
    const { id: orgId } = await findOrganization(client, input.text('org'))
    const made = await client.call('createWorkspace', {
      params: { orgId },
      body: { name: input.arg('NAME') },
    })
    context.out.result(made, () => context.out.line(context.out.isQuiet ? made.id : `Made ${made.slug}.`))
  },
}

const removeWorkspace: Command = {
  path: ['workspace', 'rm'],
  summary: 'Delete an empty workspace',
  args: [{ name: 'WORKSPACE' }],
  async run(context, input) {
    const client = await context.client()
    const all = await listWorkspaces(client)
    const found = pick('workspace', all, input.arg('WORKSPACE'), ({ slug, name }) => [slug, name])
    await context.confirm(`Delete the workspace ${found.name}?`)
    const answer = await client.call('deleteWorkspace', { params: { id: found.id } })
    context.out.result({ id: found.id, ...answer }, () => context.out.note(`Deleted ${found.name}.`))
  },
}

export const organizationCommands: readonly Command[] = [
  listOrganizations,
  createOrganization,
  members,
  invite,
  limits,
  listAllWorkspaces,
  createWorkspace,
  removeWorkspace,
]
