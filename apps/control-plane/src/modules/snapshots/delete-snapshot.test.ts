import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createVisitor, type Visitor } from '../accounts/index.ts'
import { branchDock, readDock, resumeDock, stopDock } from '../docks/index.ts'
import { createTemplate } from '../templates/index.ts'
import { deleteSnapshot, listSnapshots } from './index.ts'

let world: TestWorld
let admin: Visitor
useTestWorld(async (fresh) => {
  world = fresh
  admin = createVisitor(world.caller, { role: 'admin', outsider: 'snapshot_not_found' })
  await become('admin')
})

const become = (role: string) =>
  sql`update memberships set role = ${role} where organization_id = ${world.organizationId}`.execute(world.db)
const context = () => world.modules.context
const stop = (id: string) => stopDock(context(), world.caller, id, { force: false })
const remove = (id: string) => deleteSnapshot(context(), admin, id, id)
const snapshotsOf = async (dockId: string): Promise<string[]> =>
  (await listSnapshots(context(), world.caller, { limit: 100 })).snapshots
    .filter((snapshot) => snapshot.dockId === dockId)
    .map((snapshot) => snapshot.id)
/** Creates a Dock, stops it twice, and returns it with both Snapshots. */
const stoppedTwice = async (): Promise<{ dockId: string; newest: string; oldest: string }> => {
  const { id: dockId } = await world.create()
  await stop(dockId)
  world.clock.advance(60_000)
  await world.report()
  await resumeDock(context(), world.caller, dockId, {})
  await stop(dockId)
  const [newest, oldest] = await snapshotsOf(dockId)
  return { dockId, newest: newest!, oldest: oldest! }
}

it('removes row and capture, and the Dock resumes from the previous Snapshot', async () => {
  const { dockId, newest, oldest } = await stoppedTwice()
  const { operation } = await remove(newest)
  expect(operation).toMatchObject({ targetType: 'snapshot', targetId: newest, status: 'completed' })
  expect(await snapshotsOf(dockId)).toEqual([oldest])
  expect([...world.host.captures]).toEqual([oldest])
  await resumeDock(context(), world.caller, dockId, {})
  const started = world.host.calls.filter((call) => call.method === 'start').at(-1)
  expect(started?.body).toMatchObject({ source: { captureId: oldest } })
})

it('sets lastSnapshotAt to the latest remaining Snapshot, or to null', async () => {
  const { dockId, newest, oldest } = await stoppedTwice()
  const lastAt = async () => (await readDock(context(), world.caller, dockId)).lastSnapshotAt
  const [, before] = (await listSnapshots(context(), world.caller, { limit: 100 })).snapshots
  await remove(newest)
  expect(await lastAt()).toBe(before!.createdAt)
  await remove(oldest)
  expect(await lastAt()).toBeNull()
  expect(await outcomeOf(resumeDock(context(), world.caller, dockId, {}))).toBe('conflict')
})

it('requires the exact confirmation and an admin, and is a 404 for strangers', async () => {
  const { newest, oldest } = await stoppedTwice()
  const confirm = (confirmation: string | undefined, caller = admin) =>
    outcomeOf(deleteSnapshot(context(), caller, oldest, confirmation))
  expect(await confirm(undefined)).toBe('confirm_required')
  expect(await confirm(newest)).toBe('confirm_required')
  await become('member')
  expect(await confirm(oldest)).toBe('forbidden')
  const outsider = createVisitor(world.stranger, { role: 'admin', outsider: 'snapshot_not_found' })
  expect(await confirm(oldest, outsider)).toBe('snapshot_not_found')
})

it('is refused while a branch or the Dock itself starts from the Snapshot', async () => {
  const { dockId, newest } = await stoppedTwice()
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('start', promise)
  const starts = () => world.host.calls.filter((call) => call.method === 'start').length
  const before = starts()
  const branch = branchDock(context(), world.caller, dockId, { ttlSeconds: null }, undefined)
  await expect.poll(starts).toBe(before + 1)
  expect(await outcomeOf(remove(newest))).toBe('snapshot_in_use')
  const resume = resumeDock(context(), world.caller, dockId, {})
  await expect.poll(starts).toBe(before + 2)
  expect(await outcomeOf(remove(newest))).toBe('snapshot_in_use')
  resolve()
  await Promise.all([branch, resume])
  expect(await outcomeOf(remove(newest))).toBe('succeeded')
})

it('is refused while a Template uses the Snapshot', async () => {
  const { dockId, newest, oldest } = await stoppedTwice()
  const gates = { retentionEnabled: async () => false, hasConnectors: async () => false }
  await createTemplate(context(), gates, admin, { dockId, name: 'golden' })
  expect(await outcomeOf(remove(newest))).toBe('snapshot_in_use')
  expect(await outcomeOf(remove(oldest))).toBe('succeeded')
})

it('does not wait for a silent host, which removes the capture when it reconnects', async () => {
  const { dockId, newest, oldest } = await stoppedTwice()
  world.host.failures.set('destroyCapture', ['lost'])
  const { operation } = await remove(newest)
  expect(operation.status).toBe('completed')
  expect(await snapshotsOf(dockId)).toEqual([oldest])
  expect(world.host.captures.has(newest)).toBe(true)
  expect(await outcomeOf(resumeDock(context(), world.caller, dockId, {}))).toBe('succeeded')
  await world.report()
  expect([...world.host.captures]).toEqual([oldest])
})

it('resumes from the Snapshot with the highest number, whatever its time', async () => {
  const { dockId, newest } = await stoppedTwice()
  await sql`update snapshots set created_at = created_at - interval '1 day' where id = ${newest}`.execute(
    world.db,
  )
  await resumeDock(context(), world.caller, dockId, {})
  expect(world.host.starts.at(-1)?.source).toEqual({ kind: 'capture', captureId: newest })
})
