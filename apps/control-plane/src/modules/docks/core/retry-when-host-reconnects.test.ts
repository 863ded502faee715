import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { describe, expect, it } from 'vitest'
import { branchDock, readDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
  world.host.reconnects = true
})

const callsOf = (method: string) => world.host.calls.filter((call) => call.method === method)
const branch = (id: string) =>
  branchDock(world.modules.context, world.caller, id, { ttlSeconds: null }, undefined)

describe('a host whose link breaks and that reconnects soon', () => {
  it.each(['lost', 'lost-after'] as const)('receives the same start again: %s', async (failure) => {
    world.host.failures.set('start', [failure, failure])
    expect(await world.create()).toMatchObject({ state: 'ready' })
    const starts = callsOf('start')
    expect(starts).toHaveLength(3)
    expect(new Set(starts.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(world.host.sandboxes.size).toBe(1)
  })

  it('receives the same capture again', async () => {
    const { id } = await world.create()
    world.host.failures.set('capture', ['lost-after'])
    expect(await branch(id)).toMatchObject({ state: 'ready' })
    expect(world.host.captures.size).toBe(1)
  })

  it('is given up after the third attempt', async () => {
    world.host.failures.set('start', ['lost', 'lost', 'lost'])
    await expect(world.create({ name: 'broken' }, 'key')).rejects.toMatchObject({
      code: 'service_unavailable',
    })
    expect(callsOf('start')).toHaveLength(3)
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
  })

  it('does not receive a refused command again', async () => {
    const { id } = await world.create()
    world.host.failures.set('capture', ['failed'])
    await expect(branch(id)).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(callsOf('capture')).toHaveLength(1)
    expect((await readDock(world.modules.context, world.caller, id)).state).toBe('ready')
  })
})

it('a host that does not reconnect is given up', async () => {
  world.host.reconnects = false
  world.host.failures.set('start', ['lost'])
  await expect(world.create()).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(callsOf('start')).toHaveLength(1)
})
