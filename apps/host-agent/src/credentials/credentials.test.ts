/** Questions of git in Docks, through an agent of a host in memory: who is heard, and as whom. */
import { newUuid } from '@dock/foundation'
import type { CredentialAsked } from '@dock/host-protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMemoryHost, startCommand } from '../fakes/memory-host.ts'

let host: Awaited<ReturnType<typeof createMemoryHost>>
beforeEach(async () => {
  host = await createMemoryHost()
})
afterEach(() => host.remove())

const question = { protocol: 'https' as const, host: 'github.com', path: 'acme/app.git' }
const post = (path: string, body: object) =>
  host.agent.app.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const run = async (): Promise<string> => {
  const dockId = newUuid()
  expect((await post(`/docks/${dockId}/start`, startCommand())).status).toBe(200)
  return dockId
}
const clone = (dockId: string, generation = 1) =>
  post(`/docks/${dockId}/repositories`, { operationId: 'op', generation, repositories: [], timeoutMs: 1000 })
const heard = (): CredentialAsked[] => {
  const events: CredentialAsked[] = []
  host.agent.events.listen((event) => {
    if (event.type === 'credential.asked') events.push(event)
  })
  return events
}
const doorOf = (dockId: string) => host.doors.get(host.networks.find(dockId)?.gateway ?? '')

it('opens a door where repositories are cloned; a question goes out as this Dock’s, its answer comes back', async () => {
  const events = heard()
  const dockId = await run()
  expect(doorOf(dockId)).toBeUndefined()
  expect(await (await clone(dockId)).json()).toEqual({ failed: [], cloned: [], toSetUp: [] })
  const answered = doorOf(dockId)!.ask(question)
  await expect.poll(() => events).toEqual([expect.objectContaining({ dockId, generation: 1, question })])
  const credential = { username: 'x', password: 'secret' }
  expect((await post(`/credentials/${events[0]!.askId}`, { credential })).status).toBe(200)
  expect(await answered).toEqual(credential)
  expect((await post(`/credentials/${newUuid()}`, { credential })).status).toBe(200)
})

it('waits for an answer only so long', async () => {
  const dockId = await run()
  await clone(dockId)
  const events = heard()
  const answered = doorOf(dockId)!.ask(question)
  await expect.poll(() => events).toHaveLength(1)
  await host.clock.pass(30_000)
  expect(await answered).toBeNull()
})

it('closes the door before the Dock’s addresses can be another’s, and asks nothing of a Dock that ended', async () => {
  const dockId = await run()
  await clone(dockId)
  const door = doorOf(dockId)!
  const events = heard()
  host.driver.kill(dockId)
  await expect.poll(() => host.doors.size).toBe(0)
  expect(await door.ask(question)).toBeNull()
  expect(events).toEqual([])
})

it('opens the doors of Docks that another agent left running', async () => {
  const dockId = await run()
  host.doors.clear()
  const agent = await host.startAgent()
  expect(doorOf(dockId)).toBeDefined()
  expect(agent.docks.known(dockId)?.running?.generation).toBe(1)
})

it('clones only in the boot that is meant', async () => {
  const dockId = await run()
  expect((await clone(dockId, 2)).status).toBe(409)
  expect((await clone(newUuid())).status).toBe(409)
  expect(host.doors.size).toBe(0)
})

it('writes the helper to memory as root, and gives no command an address or word as an argument', async () => {
  const dockId = await run()
  const before = host.driver.executed.length
  const repository = {
    ...{ id: newUuid(), name: 'acme/app', url: 'https://github.com/acme/app.git', folder: 'app' },
    ...{ branch: '--upload-pack=x', hasSetupScript: true },
  }
  const body = { operationId: 'op', generation: 1, repositories: [repository], timeoutMs: 1000 }
  expect((await post(`/docks/${dockId}/repositories`, body)).status).toBe(200)
  const [helper, cloned] = host.driver.executed.slice(before)
  expect(helper).toMatchObject({ uid: 0, input: expect.stringContaining('/dev/tcp/10.0.0.254/') })
  expect(cloned).toMatchObject({
    uid: 1000,
    env: expect.objectContaining({ DOCK_BRANCH: repository.branch }),
  })
  expect(JSON.stringify(cloned!.argv)).not.toContain('upload-pack')
})
