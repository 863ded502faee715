/** An attacker adds the public key of another person, calls a Dock like theirs, and asks the gateway about their keys. */
import { join } from 'node:path'
import type { Dock } from '@dock/contract'
import { type Client, createClient } from '@dock/sdk'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { type BenchServer, withServer } from '../../../bench/parts/bench-server.ts'
import { addProvedKey } from '../../api/ssh/add-proved-key.ts'
import { askAboutKeys } from '../../api/ssh/ask-about-keys.ts'
import { createSshClient, type Outcome } from '../../api/ssh/ssh-client.ts'
import { createDock, run } from '../../e2e/support/dock.ts'
import { signUp } from '../dashboard/people.ts'
import type { Report } from './report.ts'

const name = 'brave-otter'

/** Signs up, confirms the address, and returns a client with an API key. */
const signUpMallory = async (server: BenchServer): Promise<Client> => {
  const { ask } = await signUp(server, 'Mallory', 'mallory@example.test')
  const { apiKey } = await ask<{ apiKey: string }>('POST', '/v1/api-keys', { name: 'k' })
  return createClient({ baseUrl: server.admin.baseUrl, apiKey })
}

/** Makes a Dock with the name of the victim's in an organization of the attacker's own. */
const addNamesake = async (mallory: Client): Promise<{ dock: Dock; fullName: string }> => {
  const slug = 'mallory'
  const { id: organizationId } = await mallory.call('createOrganization', { body: { name: slug, slug } })
  const [workspace] = await mallory.call('listWorkspaces', { params: { orgId: organizationId } })
  if (!workspace) throw new Error('the new organization has no workspace')
  const body = { workspaceId: workspace.id, name, cpus: 1, memoryMiB: 1024, diskGiB: 2 }
  const dock = await mallory.call('createDock', { body })
  return { dock, fullName: `${name}.${workspace.slug}.${slug}` }
}

/** Returns a public key of the type `ssh-dss`, which no gateway accepts. Its numbers are arbitrary. */
const keyOfRefusedType = (): string => {
  const fields = [Buffer.from('ssh-dss'), ...[128, 20, 128, 128].map((length) => Buffer.alloc(length, 0x55))]
  const parts = fields.flatMap((field) => [Buffer.from([0, 0, 0, field.length]), field])
  return `ssh-dss ${Buffer.concat(parts).toString('base64')}`
}

export async function squattedSshKeys(report: Report): Promise<void> {
  const port = await freePort()
  const environment = { DOCK_WARM_POOL: '0', DOCK_SSH_PORT: String(port), DOCK_SIGNUP: 'open' }
  await withServer(environment, async (server) => {
    const client = await createSshClient(() => port)
    try {
      const victim = await createDock(server, { name })
      await run(server, victim.id, 'echo victim >/home/user/whose')
      const mallory = await signUpMallory(server)
      const namesake = await addNamesake(mallory)
      await run({ ...server, client: mallory }, namesake.dock.id, 'echo mallory >/home/user/whose')

      const published = await client.makeKey('published', '-t', 'ed25519')
      await mallory.call('addSshKey', { body: { name: 'squatted', publicKey: published } })
      await addProvedKey(server.client, client, 'own')

      // As an agent with two keys: the published one is offered first.
      const ssh = (user: string, ...keys: string[]): Promise<Outcome> =>
        client.run('ssh', [
          ...['-o', 'LogLevel=INFO', ...client.options(keys[0]), '-l', user],
          ...keys.slice(1).flatMap((key) => ['-i', join(client.folder, key)]),
          ...['127.0.0.1', 'cat /home/user/whose'],
        ])
      const shown = ({ stdout, stderr }: Outcome): string =>
        stdout.trim() || (stderr.trim().split('\n')[0]?.trim() ?? 'nothing')
      // The means of the attack work: the squatted key opens the attacker's Dock where it is named.
      const named = await ssh(namesake.fullName, 'published')
      const control = named.stdout === 'mallory\n'
      const both = await ssh(name, 'published', 'id')
      report.attack({
        what: 'the name of the own Dock, with a squatted key offered first',
        control,
        holds: both.stdout === 'victim\n',
        seen: `reaches ${shown(both)}; by its full name, the namesake is ${shown(named)}`,
      })
      const only = await ssh(name, 'published')
      report.attack({
        what: 'the name of the own Dock, with nothing but a squatted key',
        control,
        holds: only.code === 255 && only.stdout === '' && only.stderr.includes('dock ssh-key prove'),
        seen: shown(only),
      })
      const added = await server.client.call('addSshKey', { body: { name: 'mine', publicKey: published } })
      const unproved = await ssh(name, 'published')
      report.attack({
        what: 'the same, once the owner has added the key without a proof',
        control: control && added.publicKey === published,
        holds: unproved.code === 255 && unproved.stdout === '',
        seen: shown(unproved),
      })

      const lines = [published, await client.makeKey('nobody', '-t', 'ed25519')]
      const [refused] = await askAboutKeys(port, name, [keyOfRefusedType()])
      const users = [name, namesake.fullName, victim.id, 'no-such-dock']
      const answers: string[] = []
      for (const user of users) answers.push((await askAboutKeys(port, user, lines)).join(','))
      report.attack({
        what: 'asks which keys lead to which names',
        control: refused === false,
        holds: new Set(answers).size === 1 && answers[0] === 'true,true',
        seen: `for ${users.length} names: ${answers.join(' ')}; a key of a refused type: ${refused}`,
      })
    } finally {
      await client.remove()
    }
  })
}
