import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HostSummary } from '@dock/contract'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { createMemoryHost } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createCredentialFile } from './credential-file.ts'
import { keepLinked } from './keep-linked.ts'

let controlPlane: TestControlPlane
let url: string
let session: { origin: string; cookie: string }
let folder: string
let host: Awaited<ReturnType<typeof createMemoryHost>>
let ended: AbortController
let linked: Promise<unknown>
beforeAll(async () => {
  controlPlane = await startTestControlPlane()
  url = `http://127.0.0.1:${(await controlPlane.listen()).port}`
  const { admin, config } = controlPlane
  const origin = config.apiUrl
  const signedIn = await controlPlane.fetch('/api/auth/sign-in/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ email: admin.email, password: admin.password }),
  })
  const cookies = signedIn.headers.getSetCookie().map((each) => each.split(';')[0])
  session = { origin, cookie: cookies.join('; ') }
})
afterAll(() => controlPlane.stop())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-link-'))
  host = await createMemoryHost()
  ended = new AbortController()
  linked = Promise.resolve()
})
afterEach(async () => {
  ended.abort()
  await linked.catch(() => undefined)
  await expect.poll(linkedNow, patiently).toEqual([])
  await host.remove()
  await rm(folder, { recursive: true })
})

const credentials = () => createCredentialFile(join(folder, 'credential.json'))
const giveToken = async () =>
  writeFile(join(folder, 'token'), await controlPlane.controlPlane.docks.enrolment.issueJoinToken())
const link = () => {
  linked = keepLinked({
    url,
    joinTokenFile: join(folder, 'token'),
    credentials: credentials(),
    facts: host.agent.facts,
    handler: (request) => host.agent.app.fetch(request),
    connect: host.agent.connect,
    signal: ended.signal,
    logger: host.logger,
  })
}
const patiently = { timeout: 60_000 }

/** Sends a request as an instance admin with a session. */
const resetCredential = async (hostId: string) => {
  const path = `/v1/hosts/${hostId}/reset-credential`
  const response = await controlPlane.fetch(path, { method: 'POST', headers: session })
  return (await response.json()) as { ok: boolean; data: { hostId: string; credential: string } }
}
const enrol = async () => {
  await giveToken()
  link()
  await expect.poll(linkedNow, patiently).toHaveLength(1)
  return (await credentials().read())!
}
const readHost = async (hostId: string) =>
  (await controlPlane.call('GET', `/v1/hosts/${hostId}`)).body.data as HostSummary
const linkedNow = () => controlPlane.controlPlane.docks.context.gateway.hostsWithControlLink()

it('a machine becomes a host with a token, once', async () => {
  const { hostId } = await enrol()
  await expect.poll(async () => (await readHost(hostId)).state, patiently).toBe('online')
  expect(await readHost(hostId)).toMatchObject({ id: hostId, address: '127.0.0.1', maxDocks: 200 })
  const facts = await host.agent.facts()
  const { enrolment } = controlPlane.controlPlane.docks
  const joinToken = await enrolment.issueJoinToken()
  await enrolment.register({ joinToken, facts }, '')
  await expect(enrolment.register({ joinToken, facts }, '')).rejects.toMatchObject({ code: 'unauthorized' })
})

it('a reset closes the session at once, and the host enrols again under its id with the next token', async () => {
  const { hostId, credential } = await enrol()
  const reset = await resetCredential(hostId)
  expect(reset).toMatchObject({ ok: true, data: { hostId } })
  expect(linkedNow()).toEqual([])
  const { gateway } = controlPlane.controlPlane.docks.context
  expect(await gateway.waitForControlLink(hostId, 1)).toBe(false)
  const back = gateway.waitForControlLink(hostId, 25_000)
  await giveToken()
  expect(await back).toBe(true)
  expect(linkedNow()).toEqual([hostId])
  expect(await gateway.waitForControlLink(hostId, 1)).toBe(true)
  const fresh = (await credentials().read())!
  expect(fresh.hostId).toBe(hostId)
  expect([credential, reset.data.credential]).not.toContain(fresh.credential)
  const { enrolment } = controlPlane.controlPlane.docks
  for (const former of [credential, reset.data.credential]) expect(await enrolment.isGood(former)).toBe(false)
})

it('a reset closes the session also if the id is written in capitals', async () => {
  const { hostId } = await enrol()
  expect(await resetCredential(hostId.toUpperCase())).toMatchObject({ ok: true, data: { hostId } })
  expect(linkedNow()).toEqual([])
})

it('the host continues with the credential that the reset showed, once it is in its file', async () => {
  const { hostId } = await enrol()
  const { data } = await resetCredential(hostId)
  await credentials().write(data)
  await expect.poll(linkedNow, patiently).toEqual([hostId])
  expect(await credentials().read()).toEqual(data)
})

it('an API key cannot reset a host, and an unknown host cannot be reset', async () => {
  const { hostId } = await enrol()
  expect(await controlPlane.call('POST', `/v1/hosts/${hostId}/reset-credential`)).toMatchObject({
    status: 403,
    body: { code: 'session_required' },
  })
  expect(linkedNow()).toEqual([hostId])
  for (const unknown of ['nothing', '00000000-0000-4000-8000-000000000000'])
    expect(await resetCredential(unknown)).toMatchObject({ ok: false, code: 'host_not_found' })
})

it('a token is issued on the root socket only', async () => {
  const response = await fetch(`${url}/v1/fleet/join-token`, { method: 'POST', body: '{}' })
  expect(response.status).toBe(404)
})

it('a token alone is not enough to take over a host', async () => {
  const { hostId, credential } = await enrol()
  const { enrolment } = controlPlane.controlPlane.docks
  const facts = await host.agent.facts()
  const joinToken = await enrolment.issueJoinToken()
  for (const proof of [{}, { formerCredential: 'host_guessed' }])
    await expect(enrolment.register({ joinToken, hostId, facts, ...proof }, '')).rejects.toMatchObject({
      code: 'unauthorized',
    })
  expect(await enrolment.isGood(credential)).toBe(true)
  // The refusals have not used up the token.
  const again = await enrolment.register({ joinToken, hostId, facts, formerCredential: credential }, '')
  expect(again.hostId).toBe(hostId)
})
