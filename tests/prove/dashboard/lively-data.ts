/** Fills a fresh server with what every page of the dashboard shows: people, Docks, Environments, keys, webhooks, plans. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Receiver, startReceiver } from '../../e2e/support/receiver.ts'
import type { Server } from '../../e2e/support/server.ts'
import { type InSession, signIn } from '../../e2e/support/session.ts'
import { type LivelyDocks, makeLivelyDocks } from './lively-docks.ts'
import { type Person, signUp } from './people.ts'

const run = promisify(execFile)

export type Lively = LivelyDocks & {
  organizationId: string
  environmentId: string
  emptyEnvironmentId: string
  webhookId: string
  goneWebhookId: string
  hostId: string
  /** Of the sign-in of a machine, which nobody has approved yet. */
  deviceCode: string
  /** Of an invitation to the newcomer. */
  invitationToken: string
  people: Record<'member' | 'newcomer' | 'founder' | 'unconfirmed' | 'closed', Person>
  close: () => Promise<void>
}

const plans = {
  currency: 'EUR',
  plans: [
    {
      name: 'team',
      ...{ concurrentDocks: 10, concurrentFastRuns: 5, monthlyBudget: 500_000_000 },
      prices: {
        ...{ vcpuSecond: '13.9', memoryGiBSecond: '1.4', diskGiBMonth: 100_000, snapshotGiBMonth: 50_000 },
      },
    },
  ],
}

/** Writes what the server reads at its start. */
export async function writeSettings(dataDir: string): Promise<Record<string, string>> {
  await writeFile(join(dataDir, 'plans.json'), JSON.stringify(plans))
  return {
    DOCK_SIGNUP: 'open',
    DOCK_ALLOW_INSECURE_WEBHOOKS: 'loopback',
    // Their buttons are shown. Nothing calls them.
    ...{ GITHUB_CLIENT_ID: 'proof', GITHUB_CLIENT_SECRET: 'proof' },
    ...{ GITLAB_CLIENT_ID: 'proof', GITLAB_CLIENT_SECRET: 'proof' },
  }
}

const makeEnvironments = async ({ client, admin }: Server) => {
  const { organizationId } = admin
  const make = (name: string) => client.call('createEnvironment', { body: { organizationId, name } })
  const [{ id }, { id: emptyEnvironmentId }] = await Promise.all([make('web-app'), make('empty')])
  const params = { ref: id }
  for (const [key, value] of Object.entries({
    DATABASE_URL: 'postgres://shop:secret@db.internal:5432/shop',
    STRIPE_API_KEY: 'sk_test_canary',
    A_NAME_THAT_IS_AS_LONG_AS_SOMEBODY_WHO_LIKES_LONG_NAMES_MAKES_IT: 'x'.repeat(300),
  }))
    await client.call('setEnvironmentVariable', { params, body: { key, value } })
  await client.call('setEnvironmentFile', {
    params,
    body: { path: 'config/service-account.json', contents: '{"key": "canary"}\n' },
  })
  return { environmentId: id, emptyEnvironmentId }
}

const makeKeys = async ({ client, admin }: Server, ask: InSession): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-proof-key-'))
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
  const publicKey = (await readFile(join(folder, 'key.pub'), 'utf8')).trim()
  await rm(folder, { recursive: true })
  await ask('POST', '/v1/ssh-keys', { name: 'laptop', publicKey })
  await ask('POST', '/v1/api-keys', { name: 'build server' })
  const { id } = await ask<{ id: string }>('POST', '/v1/api-keys', { name: 'old laptop' })
  await client.call('revokeApiKey', { params: { id } })
  const { organizationId } = admin
  await client.call('setProviderKey', { body: { organizationId, provider: 'openai', key: 'sk-canary' } })
}

const makeWebhooks = async ({ admin }: Server, ask: InSession, receiver: Receiver) => {
  const { organizationId } = admin
  const make = async (name: string, path: string): Promise<string> => {
    const body = { organizationId, name, url: receiver.url(path), events: ['dock.ready', 'dock.archived'] }
    const { id } = await ask<{ id: string }>('POST', '/v1/webhooks/endpoints', body)
    await ask('POST', `/v1/webhooks/endpoints/${id}/test?organizationId=${organizationId}`)
    return id
  }
  const body = `{"error":"no channel for this event","hint":"${'Create the channel first. '.repeat(20)}"}\n`
  receiver.respondWith('/chat', 204, { status: 422, body }, 404)
  receiver.respondWith('/gone', 410)
  const webhookId = await make('Team chat', '/chat')
  const goneWebhookId = await make('Old receiver', '/gone')
  return { webhookId, goneWebhookId }
}

const makePeople = async (server: Server, ask: InSession) => {
  const { organizationId } = server.admin
  const members = `/v1/organizations/${organizationId}/members`
  const member = await signUp(server, 'Grace Hopper', 'grace@example.test')
  const newcomer = await signUp(server, 'Alan Newcomer', 'alan@example.test')
  const founder = await signUp(server, 'Mary Founder', 'mary@example.test')
  await founder.ask('POST', '/v1/organizations', { name: 'A fresh start' })
  const unconfirmed = await signUp(server, 'Not Confirmed', 'unconfirmed@example.test', false)
  const closed = await signUp(server, 'Has Left', 'closed@example.test')
  await closed.ask('POST', '/v1/account/close')
  await ask('POST', members, { email: member.email, role: 'member' })
  const [toMember] = await member.ask<{ id: string }[]>('GET', '/v1/me/invitations')
  await member.ask('POST', `/v1/me/invitations/${toMember?.id}/accept`, {})
  await ask('POST', members, { email: 'somebody.with.a.long.address@department.example.test', role: 'admin' })
  await ask('POST', members, { email: newcomer.email, role: 'member' })
  const sent = await ask<{ id: string; email: string }[]>(
    'GET',
    `/v1/organizations/${organizationId}/invitations`,
  )
  const invited = sent.find(({ email }) => email === newcomer.email)
  const { link } = await ask<{ link: string }>(
    'POST',
    `/api/dashboard/organizations/${organizationId}/invitations/${invited?.id}/link`,
  )
  return {
    people: { member, newcomer, founder, unconfirmed, closed },
    invitationToken: link.split('/').at(-1) ?? '',
  }
}

/** Makes all of it. */
export async function makeLively(server: Server): Promise<Lively> {
  const { client, admin } = server
  const { organizationId } = admin
  const receiver = await startReceiver()
  const ask = await signIn(admin)
  const webhooks = await makeWebhooks(server, ask, receiver)
  const environments = await makeEnvironments(server)
  const [docks, people] = await Promise.all([
    makeLivelyDocks(server),
    makePeople(server, ask),
    makeKeys(server, ask),
  ])
  // The Docks of this Environment keep the earlier version. The repository belongs to an Environment without Docks.
  const params = { ref: environments.environmentId }
  await client.call('setEnvironmentVariable', { params, body: { key: 'FEATURE_CART', value: 'on' } })
  await client.call('addEnvironmentRepository', {
    params,
    body: { provider: 'github', repositoryId: '1', fullName: 'acme/web-shop', setupScript: 'npm ci' },
  })
  await ask('POST', '/v1/organizations', { name: 'Northwind Traders' })
  await ask('POST', `/v1/organizations/${organizationId}/workspaces`, { name: 'Research' })
  await ask('PUT', `/v1/organizations/${organizationId}/plan`, { plan: 'team', active: true })
  const [host] = await ask<{ id: string }[]>('GET', '/v1/hosts')
  const { userCode } = await client.call('createDeviceCode', { body: { machineName: 'dock on laptop' } })
  return {
    ...docks,
    ...people,
    ...environments,
    ...webhooks,
    organizationId,
    hostId: host?.id ?? '',
    deviceCode: userCode,
    close: () => receiver.close(),
  }
}
