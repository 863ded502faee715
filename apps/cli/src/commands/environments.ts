import type { Client, Environment } from '@dock/sdk'
import { pick } from '../docks/pick.ts'
import { readTextFile } from '../docks/sizes.ts'
import { findOrganization, organizationFlag } from '../docks/workspaces.ts'
import { formatAge } from '../output/formats.ts'
import type { Argument, Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { UsageError } from '../program/failures.ts'
import type { Input } from '../program/input.ts'
import { readSecret } from '../settings/read-secret.ts'

const argument: Argument = { name: 'ENVIRONMENT', kind: 'environment' }

const listAll = async (client: Client, input: Input): Promise<Environment[]> => {
  const { id } = await findOrganization(client, input.text('org'))
  return client.call('listEnvironments', { query: { organizationId: id } })
}

const find = async (
  context: Context,
  input: Input,
): Promise<{ client: Client; environment: Environment }> => {
  const client = await context.client()
  const all = await listAll(client, input)
  return { client, environment: pick('Environment', all, input.arg('ENVIRONMENT'), ({ name }) => [name]) }
}

const list: Command = {
  path: ['env', 'ls'],
  summary: 'List Environments',
  flags: [organizationFlag],
  async run(context, input) {
    const all = await listAll(await context.client(), input)
    context.out.list(all, {
      NAME: (each) => (each.isDefault ? `${each.name} (default)` : each.name),
      VERSION: (each) => String(each.currentVersion),
      VARIABLES: (each) => String(each.varNames.length),
      REPOSITORIES: (each) => String(each.repos.length),
      AGE: (each) => formatAge(each.createdAt),
      ID: (each) => each.id,
    })
  },
}

const show: Command = {
  path: ['env', 'show'],
  summary: 'Show an Environment; values stay secret',
  args: [argument],
  flags: [organizationFlag],
  async run(context, input) {
    const { environment } = await find(context, input)
    context.out.result(environment, () =>
      context.out.fields([
        ['name', environment.name],
        ['id', environment.id],
        ['version', String(environment.currentVersion)],
        ['secrets for', environment.secretsAccess],
        ['variables', environment.varNames.join(', ') || '–'],
        ['files', environment.files.map(({ path }) => path).join(', ') || '–'],
        ['repositories', environment.repos.map(({ fullName }) => fullName).join(', ') || '–'],
      ]),
    )
  },
}

const create: Command = {
  path: ['env', 'create'],
  summary: 'Make an empty Environment',
  args: [{ name: 'NAME' }],
  flags: [organizationFlag],
  async run(context, input) {
    const client = await context.client()
    const { id } = await findOrganization(client, input.text('org'))
    const environment = await client.call('createEnvironment', {
      body: { organizationId: id, name: input.arg('NAME') },
    })
    context.out.result(environment, () =>
      context.out.line(context.out.isQuiet ? environment.id : `Made ${environment.name}.`),
    )
  },
}

const remove: Command = {
  path: ['env', 'rm'],
  summary: 'Delete an Environment',
  args: [argument],
  flags: [organizationFlag],
  async run(context, input) {
    const { client, environment } = await find(context, input)
    await context.confirm(`Delete the Environment ${environment.name} with its secrets?`)
    const answer = await client.call('deleteEnvironment', { params: { ref: environment.id } })
    context.out.result({ id: environment.id, ...answer }, () =>
      context.out.note(`Deleted ${environment.name}.`),
    )
  },
}

const set: Command = {
  path: ['env', 'set'],
  summary: 'Set a variable; the value is read from standard input',
  details:
    'The value is not an argument, because other programs can see arguments and your shell keeps them.',
  args: [argument, { name: 'VARIABLE' }],
  flags: [
    organizationFlag,
    { name: 'from-file', value: 'FILE', about: 'read the value from a file, with its line breaks' },
  ],
  async run(context, input) {
    const { client, environment } = await find(context, input)
    const key = input.arg('VARIABLE')
    if (key.includes('='))
      throw new UsageError('The value is read from standard input. Write the name alone.')
    const file = input.text('from-file')
    const value =
      file === undefined
        ? (await readSecret(context, `Value of ${key}: `)).replace(/\r?\n$/, '')
        : await readTextFile(file)
    const changed = await client.call('setEnvironmentVariable', {
      params: { ref: environment.id },
      body: { key, value },
    })
    context.out.result(changed, () => context.out.note(`Set ${key}. Docks get it when they start.`))
  },
}

const unset: Command = {
  path: ['env', 'unset'],
  summary: 'Remove a variable',
  args: [argument, { name: 'VARIABLE' }],
  flags: [organizationFlag],
  async run(context, input) {
    const { client, environment } = await find(context, input)
    const key = input.arg('VARIABLE')
    const changed = await client.call('removeEnvironmentVariable', { params: { ref: environment.id, key } })
    context.out.result(changed, () => context.out.note(`Removed ${key}.`))
  },
}

export const environmentCommands: readonly Command[] = [list, show, create, set, unset, remove]
