import { type ErrorCode, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { branchDock, deleteDock, readDock, resumeDock, stopDock, updateDock } from '../docks/index.ts'
import { changeOrganizationLimits, generousLimits, type Limits, readOrganizationLimits } from './index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const defaults = generousLimits.organization
const context = () => ({ db: world.db, clock: world.clock, defaults })
const limit = (change: Partial<Limits>) =>
  changeOrganizationLimits(context(), world.caller, world.organizationId, change)
const read = () => readOrganizationLimits({ db: world.db, defaults }, world.organizationId)
const branch = (id: string) =>
  branchDock(world.modules.context, world.caller, id, { ttlSeconds: null }, undefined)
const resume = (id: string, body = {}) => resumeDock(world.modules.context, world.caller, id, body)
const stop = (id: string) => stopDock(world.modules.context, world.caller, id, { force: false })
const refusalOf = async (work: Promise<unknown>): Promise<{ code: ErrorCode; message: string }> => {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  if (!(error instanceof ServiceError)) throw new Error(`not refused: ${error}`)
  return { code: error.code, message: error.message }
}

it('cannot be exceeded by ten concurrent creates', async () => {
  await limit({ docks: 4 })
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => outcomeOf(world.create())))
  expect(outcomes.filter((outcome) => outcome === 'succeeded')).toHaveLength(4)
  expect(outcomes.filter((outcome) => outcome === 'concurrency_exceeded')).toHaveLength(6)
  expect(await world.reserved()).toMatchObject({ slots: 4, recounted: 4 })
})

it('refuses create, branch and resume with a message that names the limit and what to do', async () => {
  const dock = await world.create()
  const archived = await world.create()
  await stop(archived.id)
  await limit({ docks: 1 })
  for (const work of [() => world.create(), () => branch(dock.id), () => resume(archived.id)])
    expect(await refusalOf(work())).toEqual({
      code: 'concurrency_exceeded',
      message:
        "The organization may have 1 live Docks at once. Stop one, or ask the instance's operator to raise the limit.",
    })
  await stop(dock.id)
  expect(await outcomeOf(resume(archived.id))).toBe('succeeded')
})

it.each([
  ['cpus', { cpus: 5 }, { cpus: 3 }],
  ['memoryMiB', { memoryMiB: 1535 }, { memoryMiB: 512 }],
  ['diskGiB', { diskGiB: 5 }, { diskGiB: 3 }],
] as const)('counts the %s of all live Docks together', async (name, limits, size) => {
  await limit(limits)
  const first = { cpus: 3, memoryMiB: 1024, diskGiB: 3, ...size }
  const dock = await world.create(first)
  const refusal = await refusalOf(world.create({ ...first, memoryMiB: 1024 }))
  expect(refusal.code).toBe('concurrency_exceeded')
  expect(refusal.message).toContain(name)
  expect(refusal.message).toContain(String(limits[name as never]))
  await stop(dock.id)
  expect(await outcomeOf(world.create({ ...first, memoryMiB: 1024 }))).toBe('succeeded')
})

it('counts the disk, and nothing else, of a Dock in error that keeps its disk', async () => {
  const size = { cpus: 3, memoryMiB: 1024, diskGiB: 3 }
  const { id } = await world.create(size)
  world.host.failures.set('start', ['failed', 'failed', 'failed'])
  await world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId: id, generation: 1 })
  await world.modules.runner.settled()
  expect(await readDock(world.modules.context, world.caller, id)).toMatchObject({ state: 'error' })
  expect((await read()).usage).toMatchObject({ docks: 0, cpus: 0, memoryMiB: 0, diskGiB: 3 })
  await limit({ docks: 1, cpus: 3, memoryMiB: 1024, diskGiB: 5 })
  expect(await refusalOf(world.create(size))).toEqual({
    code: 'concurrency_exceeded',
    message:
      "The organization's live Docks, and those in error that keep their disk, may use 5 diskGiB in total and already use 3. Stop a Dock, delete one in error, choose a smaller disk, or ask the instance's operator to raise the limit.",
  })
  await deleteDock(world.modules.context, world.caller, id, id)
  expect((await read()).usage.diskGiB).toBe(0)
  expect(await outcomeOf(world.create(size))).toBe('succeeded')
})

it('counts the disk of a Dock in error until its stop has saved it', async () => {
  const { id } = await world.create({ diskGiB: 3 })
  world.host.failures.set('start', ['failed', 'failed', 'failed'])
  await world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId: id, generation: 1 })
  await world.modules.runner.settled()
  world.host.failures.set('stop', ['lost'])
  expect(await stop(id)).toMatchObject({ state: 'archiving' })
  expect((await read()).usage.diskGiB).toBe(3)
  await world.report()
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
  expect((await read()).usage).toMatchObject({ diskGiB: 0, snapshots: 1 })
})

it('refuses to start a Dock once the limit of stored bytes or of Snapshots is reached', async () => {
  const dock = await world.create()
  await sql`insert into copy_chunks (organization_id, name, object_key, size_bytes, used_at)
    select ${world.organizationId}, n::text, n::text, 1073741824, now() from generate_series(1, 2) n`.execute(
    world.db,
  )
  await limit({ storedGiB: 2 })
  expect((await refusalOf(world.create())).message).toContain('2 GiB of Snapshots and Templates (storedGiB)')
  await sql`delete from copy_chunks where name = '1'`.execute(world.db)
  expect(await outcomeOf(world.create())).toBe('succeeded')
  await limit({ snapshots: 1 })
  await stop(dock.id)
  expect((await refusalOf(resume(dock.id))).message).toContain('1 Snapshots')
  expect(await read()).toMatchObject({ usage: { storedGiB: 1, snapshots: 1, docks: 1 } })
  await sql`delete from snapshots where dock_id = ${dock.id}`.execute(world.db)
  expect((await read()).usage.snapshots).toBe(0)
})

it('allows stop, capture and a change of the TTL when all limits are exceeded', async () => {
  const dock = await world.create()
  await limit({ docks: 0, cpus: 0, memoryMiB: 0, diskGiB: 0, storedGiB: 0, snapshots: 0 })
  const { context } = world.modules
  expect(await outcomeOf(updateDock(context, world.caller, dock.id, { ttlSeconds: 60 }))).toBe('succeeded')
  expect(await outcomeOf(stop(dock.id))).toBe('succeeded')
  expect((await read()).usage).toMatchObject({ docks: 0, snapshots: 1 })
})

it('returns the Dock for a repeated create, even if that Dock reached the limit', async () => {
  await limit({ docks: 1 })
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => outcomeOf(world.create({}, 'key'))))
  expect(outcomes).toContain('succeeded')
  expect(outcomes).not.toContain('concurrency_exceeded')
})

it('resets a limit to the default with null, and refuses an unknown organization', async () => {
  await limit({ docks: 3, cpus: 4 })
  expect((await limit({})).limits).toMatchObject({ docks: 3, cpus: 4, snapshots: 2_147_483_647 })
  const back = await changeOrganizationLimits(context(), world.caller, world.organizationId, {
    docks: null,
  })
  expect(back.limits).toMatchObject({ docks: 2_147_483_647, cpus: 4 })
  const nobody = changeOrganizationLimits(context(), world.caller, newUuid(), { docks: 1 })
  expect(await outcomeOf(nobody)).toBe('organization_not_found')
})
