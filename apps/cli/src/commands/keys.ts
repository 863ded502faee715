import { pick } from '../docks/pick.ts'
import { secondsOf } from '../docks/sizes.ts'
import { formatAge } from '../output/formats.ts'
import type { Command } from '../program/command.ts'

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
    context.out.list(all, {
      NAME: (each) => each.name,
      'BEGINS WITH': (each) => each.keyPrefix,
      STATE: (each) => stateOf(each),
      'LAST USED': (each) => formatAge(each.lastUsedAt),
      AGE: (each) => formatAge(each.createdAt),
      ID: (each) => each.id,
    })
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

export const keyCommands: readonly Command[] = [listKeys, createKey, removeKey]
