/** Operations whose data a former version saved, and operations whose data cannot be read. Real database, fake host. */
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createVisitor } from '../../accounts/index.ts'
import { deleteSnapshot, listSnapshots } from '../../snapshots/index.ts'
import { createTemplate } from '../../templates/index.ts'
import { branchDock, deleteDock, readDock, resumeDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const context = () => world.modules.context
const stop = (id: string) => stopDock(context(), world.caller, id, { force: false })
const gates = { retentionEnabled: async () => false, hasConnectors: async () => false }
const admin = () => createVisitor(world.caller, { role: 'admin', outsider: 'snapshot_not_found' })
const becomeAdmin = () =>
  sql`update memberships set role = 'admin' where organization_id = ${world.organizationId}`.execute(world.db)
const stateOf = async (id: string) => (await readDock(context(), world.caller, id)).state
const callsOf = (method: string) => world.host.calls.filter((call) => call.method === method).length
const operationOf = async (kind: string) =>
  (
    await sql<{ status: string; data: unknown; error: unknown; waitsMs: number | null }>`
      select status, data, error, extract(epoch from lease_until - ${world.clock.now()}::timestamptz)::float8 * 1000 as "waitsMs"
      from operations where organization_id = ${world.organizationId} and kind = ${kind}`.execute(world.db)
  ).rows[0]!

type Call = 'start' | 'stop' | 'capture' | 'destroy' | 'destroyCapture' | 'setup'
const create = async () => (await world.create()).id
const archived = async () => {
  const id = await create()
  await stop(id)
  return id
}

/** Starts the work, and returns once its call to the host hangs. The first process never continues it. */
const hangAt = async (method: Call, work: () => Promise<unknown>) => {
  const before = callsOf(method)
  const gate = Promise.withResolvers<void>()
  world.host.gate.set(method, gate.promise)
  work().catch(() => undefined)
  await expect.poll(() => callsOf(method), { timeout: 60_000 }).toBe(before + 1)
  world.host.gate.delete(method)
  return gate.resolve
}

/** Lets a new process take over everything that the first one has begun. */
const takeOver = async () => {
  const next = world.another()
  await next.start()
  return next
}

/** Kinds of operations, the call at which each hangs, and how it is begun with what `prepare` has made. */
const kinds: [string, Call, () => Promise<string>, (id: string) => Promise<unknown>][] = [
  ['create', 'start', async () => '', () => world.create()],
  [
    'branch',
    'capture',
    create,
    (id) => branchDock(context(), world.caller, id, { ttlSeconds: null }, undefined),
  ],
  ['resume', 'start', archived, (id) => resumeDock(context(), world.caller, id, {})],
  [
    'recover',
    'start',
    create,
    (dockId) => world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId, generation: 1 }),
  ],
  ['stop', 'stop', create, stop],
  ['delete', 'destroy', create, (id) => deleteDock(context(), world.caller, id, id)],
  [
    'setup',
    'setup',
    async () => (await world.create({ setupScript: 'true' })).id,
    () => world.modules.runner.sweep(),
  ],
  [
    'save-template',
    'capture',
    create,
    (dockId) => createTemplate(context(), gates, admin(), { dockId, name: 'golden' }),
  ],
  [
    'snapshot-delete',
    'destroyCapture',
    async () => {
      await archived()
      return (await listSnapshots(context(), world.caller, { limit: 100 })).snapshots[0]!.id
    },
    (id) => deleteSnapshot(context(), admin(), id, id),
  ],
]

it.each(kinds)(
  'a %s that was saved before data had versions continues',
  async (kind, method, prepare, begin) => {
    await becomeAdmin()
    const id = await prepare()
    const open = await hangAt(method, () => begin(id))
    await sql`update operations set data = data - 'dataVersion' where kind = ${kind}`.execute(world.db)
    const next = await takeOver()
    await expect.poll(async () => (await operationOf(kind)).status, { timeout: 60_000 }).toBe('completed')
    expect(await operationOf(kind)).toMatchObject({ error: null, data: { dataVersion: 1 } })
    open()
    await next.stop()
  },
)

it('an operation whose data cannot be read is kept as it is, and continues once it can be read', async () => {
  const { id } = await world.create()
  const open = await hangAt('stop', () => stop(id))
  await sql`update operations set data = data || '{"dataVersion": 99}' where kind = 'stop'`.execute(world.db)
  const kept = (await operationOf('stop')).data
  const next = await takeOver()
  await expect.poll(async () => (await operationOf('stop')).waitsMs, { timeout: 60_000 }).toBe(60_000)
  expect(await operationOf('stop')).toMatchObject({ status: 'processing', data: kept })
  expect(callsOf('stop')).toBe(1)
  expect(await stateOf(id)).toBe('archiving')

  await sql`update operations set data = data || '{"dataVersion": 1}' where kind = 'stop'`.execute(world.db)
  world.clock.advance(61_000)
  await next.runner.sweep()
  await next.runner.settled()
  expect(await stateOf(id)).toBe('archived')
  open()
  await next.stop()
})
