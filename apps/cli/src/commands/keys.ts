import { readFile } from 'node:fs/promises'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { pick } from '../docks/pick.ts'
import { secondsOf } from '../docks/sizes.ts'
import { formatAge } from '../output/formats.ts'
import type { Command } from '../program/command.ts'
import type { Environment } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'

const stateOf = ({
  revokedAt,
  expiresAt,
}: {
  revokedAt: string | null
  expiresAt: string | null
}): string => {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) < Date.now() ? 'expired' : 'active'
}

const listKeys: Command = {
  path: ['key', 'ls'],
  summary: 'List your API keys',
  async run(context) {
    const all = await (await context.client()).call('listApiKeys')
    context.out.result(all, () =>
      context.out.table(
        ['NAME', 'BEGINS WITH', 'STATE', 'LAST USED', 'AGE', 'ID'],
        all.map((each) => [
          ...[
            each.name,
            each.keyPrefix,
            stateOf(each),
            formatAge(each.lastUsedAt),
            formatAge(each.createdAt),
            each.id,
          ],
        ]),
        { ids: all.map(({ id }) => id) },
      ),
    )
  },
}

const createKey: Command = {
  path: ['key', 'create'],
  summary: 'Make an API key; it is shown once',
  args: [{ name: 'NAME' }],
  flags: [{ name: 'expires', value: 'TIME', about: 'until when it is valid, for example 30d' }],
  async run(context, input) {
    const expires = input.text('expires')
    const expiresAt =
      expires === undefined
        ? undefined
        : new Date(Date.now() + secondsOf('expires', expires) * 1000).toISOString()
    const body = { name: input.arg('NAME'), ...(expiresAt === undefined ? {} : { expiresAt }) }
    const made = await (await context.client()).call('createApiKey', { body })
    context.out.result(made, () => context.out.line(made.apiKey))
  },
}

const removeKey: Command = {
  path: ['key', 'rm'],
  summary: 'Revoke an API key',
  args: [{ name: 'KEY' }],
  async run(context, input) {
    const client = await context.client()
    const active = (await client.call('listApiKeys')).filter(({ revokedAt }) => revokedAt === null)
    const { id, name } = pick('API key', active, input.arg('KEY'), (each) => [each.name, each.keyPrefix])
    await context.confirm(`Revoke the API key ${name}?`)
    const answer = await client.call('revokeApiKey', { params: { id } })
    context.out.result({ id, ...answer }, () => context.out.note(`Revoked ${name}.`))
  },
}

const listSshKeys: Command = {
  path: ['ssh-key', 'ls'],
  summary: 'List your SSH keys',
  async run(context) {
    const all = await (await context.client()).call('listSshKeys')
    context.out.result(all, () =>
      context.out.table(
        ['NAME', 'FINGERPRINT', 'LAST USED', 'AGE', 'ID'],
        all.map((each) => [
          ...[each.name, each.fingerprint, formatAge(each.lastUsedAt), formatAge(each.createdAt), each.id],
        ]),
        { ids: all.map(({ id }) => id), empty: 'You have no SSH key here. Add one: dock ssh-key add' },
      ),
    )
  },
}

const usualFiles = ['id_ed25519.pub', 'id_ecdsa.pub', 'id_rsa.pub']

const readPublicKey = async (env: Environment, file: string | undefined): Promise<string> => {
  const folder = join(env.HOME || homedir(), '.ssh')
  const files = file === undefined ? usualFiles.map((each) => join(folder, each)) : [file]
  for (const each of files) {
    const text = await readFile(each, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    // A private key must never leave this computer.
    if (/PRIVATE KEY/.test(text))
      throw new LocalError('private_key', `${each} is a private key. Name the file that ends in .pub.`)
    return text.trim()
  }
  throw new LocalError('local_file', `There is no ${files.join(' or ')}. Make a key: ssh-keygen -t ed25519`)
}

const addSshKey: Command = {
  path: ['ssh-key', 'add'],
  summary: 'Add an SSH key; without FILE, the usual one of this computer',
  args: [{ name: 'FILE', kind: 'file', isOptional: true }],
  flags: [{ name: 'name', value: 'NAME', about: 'its name; without it the name of this computer' }],
  async run(context, input) {
    const publicKey = await readPublicKey(context.env, input.optional('FILE'))
    const body = { name: input.text('name') ?? (hostname() || 'this computer'), publicKey }
    const made = await (await context.client()).call('addSshKey', { body })
    context.out.result(made, () =>
      context.out.line(context.out.isQuiet ? made.id : `Added ${made.fingerprint}.`),
    )
  },
}

const removeSshKey: Command = {
  path: ['ssh-key', 'rm'],
  summary: 'Remove an SSH key',
  args: [{ name: 'KEY' }],
  async run(context, input) {
    const client = await context.client()
    const all = await client.call('listSshKeys')
    const { id, name } = pick('SSH key', all, input.arg('KEY'), (each) => [each.name, each.fingerprint])
    await context.confirm(`Remove the SSH key ${name}?`)
    const answer = await client.call('deleteSshKey', { params: { id } })
    context.out.result({ id, ...answer }, () => context.out.note(`Removed ${name}.`))
  },
}

export const keyCommands: readonly Command[] = [
  ...[listKeys, createKey, removeKey],
  ...[listSshKeys, addSshKey, removeSshKey],
]
