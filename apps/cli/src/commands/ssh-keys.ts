import { hostname } from 'node:os'
import type { Client, SshKey } from '@dock/sdk'
import { pick } from '../docks/pick.ts'
import { formatAge } from '../output/formats.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { exitCodes } from '../program/exit-codes.ts'
import { notFound } from '../program/failures.ts'
import { proveSshKey } from '../ssh/prove-ssh-key.ts'
import { isSameKey, type PublicKeyFile, readPublicKey } from '../ssh/ssh-key-files.ts'

type ProvedKey = SshKey & { provedAt: string | null; expiresAt: string | null }

/** Returns the keys of the account, each with the time of its proof. */
const listProvedKeys = async (client: Client): Promise<ProvedKey[]> => {
  const [keys, proofs] = await Promise.all([client.call('listSshKeys'), client.call('listSshKeyProofs')])
  return keys.map((key) => {
    const { provedAt = null, expiresAt = null } = proofs.find(({ sshKeyId }) => sshKeyId === key.id) ?? {}
    return { ...key, provedAt, expiresAt }
  })
}

const list: Command = {
  path: ['ssh-key', 'ls'],
  summary: 'List your SSH keys',
  async run(context) {
    const all = await listProvedKeys(await context.client())
    context.out.list(
      all,
      {
        NAME: (each) => each.name,
        FINGERPRINT: (each) => each.fingerprint,
        PROVED: (each) => (each.provedAt === null ? 'no' : 'yes'),
        'LAST USED': (each) => formatAge(each.lastUsedAt),
        AGE: (each) => formatAge(each.createdAt),
        ID: (each) => each.id,
      },
      { empty: 'You have no SSH key here. Add one: dock ssh-key add' },
    )
  },
}

const withoutProof =
  'Until it is proved, it opens Docks by id and full name only, as dock ssh and dock config-ssh use them.'

const add: Command = {
  path: ['ssh-key', 'add'],
  summary: 'Add an SSH key and prove that it is yours; without FILE, the usual one of this computer',
  args: [{ name: 'FILE', kind: 'file', isOptional: true }],
  flags: [{ name: 'name', value: 'NAME', about: 'its name; without it the name of this computer' }],
  async run(context, input) {
    const key = await readPublicKey(context.env, input.optional('FILE'))
    const body = { name: input.text('name') ?? (hostname() || 'this computer'), publicKey: key.line }
    const made = await (await context.client()).call('addSshKey', { body })
    let failure: string | undefined
    const proof = await proveSshKey(context, made, key).catch((error: Error) => {
      failure = error.message
    })
    context.out.result({ ...made, provedAt: proof?.provedAt ?? null }, () =>
      context.out.line(
        context.out.isQuiet ? made.id : `Added ${made.fingerprint}${proof ? ', proved' : ''}.`,
      ),
    )
    if (failure !== undefined)
      context.out.note(`The key is not proved: ${failure}\n${withoutProof} Try again: dock ssh-key prove`)
  },
}

/** Returns the keys to prove: the one in the file, or all that are not proved. */
const keysToProve = async (context: Context, given: PublicKeyFile | undefined): Promise<ProvedKey[]> => {
  const all = await listProvedKeys(await context.client())
  if (!given) return all.filter(({ provedAt }) => provedAt === null)
  const found = all.filter(({ publicKey }) => isSameKey(publicKey, given.line))
  if (found.length > 0) return found
  throw notFound(`${given.file} is not in your account. Add it: dock ssh-key add ${given.file}`)
}

const prove: Command = {
  path: ['ssh-key', 'prove'],
  summary: 'Prove that SSH keys are yours, so that they open Docks by short names; without FILE, all keys',
  details:
    'Signs a text of the service with ssh-keygen. The private key stays where it is: in a file of this computer, or in\nyour SSH agent. Anybody can add a public key, so one that is not proved opens Docks by id and full name only.',
  args: [{ name: 'FILE', kind: 'file', isOptional: true }],
  async run(context, input) {
    const file = input.optional('FILE')
    const given = file === undefined ? undefined : await readPublicKey(context.env, file)
    const keys = await keysToProve(context, given)
    const results: { id: string; name: string; provedAt: string | null; reason: string | null }[] = []
    for (const key of keys) {
      const { id, name } = key
      const outcome = await proveSshKey(context, key, given).then(
        ({ provedAt }) => ({ provedAt, reason: null }),
        (error: Error) => ({ provedAt: null, reason: error.message }),
      )
      results.push({ id, name, ...outcome })
    }
    context.out.result(results, () => {
      if (results.length === 0) context.out.note('All your SSH keys here are proved.')
      for (const { id, name, reason } of results) {
        if (reason !== null) context.out.warn(`${name} is not proved: ${reason}`)
        else context.out.line(context.out.isQuiet ? id : `Proved ${name}.`)
      }
    })
    // Keys of other computers stay as they are, which is no failure if one of this computer was proved.
    const isDone = results.length === 0 || results.some(({ reason }) => reason === null)
    return isDone ? exitCodes.ok : exitCodes.error
  },
}

const remove: Command = {
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

export const sshKeyCommands: readonly Command[] = [list, add, prove, remove]
