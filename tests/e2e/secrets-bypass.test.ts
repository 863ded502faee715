/**
 * `secretsAccess: admins` on real Docks: a member is refused on every way to the secrets of a Dock, even after their
 * files were removed from the disk; an admin is not. `tests/api/secrets-bypass.test.ts` covers every route.
 */
import { newUuid } from '@dock/foundation'
import { expect, it } from 'vitest'
import { run } from './support/dock.ts'
import { joinAsMember } from './support/join-as-member.ts'
import type { Client } from './support/server.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const { client, admin } = server
const { organizationId, workspaceId } = admin
const size = { workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2 }
const path = 'config/token'
const file = `/home/user/work/${path}`

const makeEnvironment = async (secretsAccess: 'admins' | 'members'): Promise<string> => {
  const body = { organizationId, name: freshName(secretsAccess), secretsAccess }
  const { id } = await client.call('createEnvironment', { body })
  await client.call('setEnvironmentFile', { params: { ref: id }, body: { path, contents: 'hidden' } })
  return id
}

type Resources = { running: string; stopped: string; snapshot: string; template: string }

const makeResources = async (environment: string): Promise<Resources> => {
  const running = (await client.call('createDock', { body: { ...size, environment } })).id
  const stopped = (await client.call('createDock', { body: { ...size, environment } })).id
  await client.call('stopDock', { params: { id: stopped }, body: {} })
  const snapshot = (await client.call('readLatestSnapshot', { params: { id: stopped } }))!.id
  const template = `t-${newUuid().slice(0, 8)}`
  await client.call('createTemplate', { body: { dockId: running, name: template } })
  return { running, stopped, snapshot, template }
}

const ways = ({ running, stopped, snapshot, template }: Resources) => {
  const params = { id: running }
  const withoutIt = { noEnv: true as const }
  return {
    exec: (as: Client) => as.call('execInDock', { params, body: { command: `cat ${file}` } }),
    terminal: (as: Client) => as.call('openTerminal', { params }),
    port: (as: Client) => as.call('exposePort', { params, body: { port: 8080 } }),
    tree: (as: Client) => as.call('readSnapshotTree', { params: { id: snapshot } }),
    file: (as: Client) => as.call('readSnapshotFile', { params: { id: snapshot }, query: { path: file } }),
    branch: (as: Client) => as.call('branchDock', { params, body: withoutIt }),
    template: (as: Client) => as.call('createDock', { body: { ...size, from: template, ...withoutIt } }),
    resume: (as: Client) => as.call('resumeDock', { params: { id: stopped }, body: withoutIt }),
  }
}

const refused = { code: 'environment_secrets_admin_only' }

it('keeps a member away from secrets for admins, even after their removal, and from nothing else', async () => {
  const member = await joinAsMember(server)
  const closed = ways(await makeResources(await makeEnvironment('admins')))
  for (const [way, go] of Object.entries(closed)) await expect(go(member), way).rejects.toMatchObject(refused)

  expect((await closed.exec(client)).stdout).toBe('hidden')
  expect(JSON.stringify(await closed.tree(client))).toContain(file)
  for (const way of ['branch', 'template', 'resume'] as const) {
    const { id } = await closed[way](client)
    expect(await run(server, id, 'find ~/work ~/.dock ! -type d'), way).toBe('')
    const command = { params: { id }, body: { command: 'true' } }
    await expect(member.call('execInDock', command), way).rejects.toMatchObject(refused)
  }

  const open = ways(await makeResources(await makeEnvironment('members')))
  expect((await open.exec(member)).stdout).toBe('hidden')
  for (const [way, go] of Object.entries(open)) await expect(go(member), way).resolves.toBeDefined()
})
