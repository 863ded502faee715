import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { LeaseLost, type OperationRow } from '../../../engine/index.ts'
import { stopDock } from '../index.ts'
import { createStopSaga, type StopData } from '../stop/stop-saga.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const starts = () => world.host.calls.filter((call) => call.method === 'start').length

/** Starts a create whose call to the host hangs, as if the process died. */
const hangingCreate = async () => {
  const gate = Promise.withResolvers<void>()
  world.host.gate.set('start', gate.promise)
  const create = world.create()
  await expect.poll(starts, { timeout: 60_000 }).toBe(1)
  return {
    open: gate.resolve,
    create: create.then(
      () => 'created',
      (error: unknown) => error,
    ),
  }
}

it('a process that starts alone resumes the operations of the previous process at once', async () => {
  const { open, create } = await hangingCreate()
  const next = world.another()
  await next.runner.sweep()
  expect(starts()).toBe(1)
  await next.start()
  await expect.poll(starts, { timeout: 60_000 }).toBe(2)
  open()
  await next.runner.settled()
  await next.stop()
  // The previous process was still alive. It has lost its lease, so it changes nothing.
  expect(await create).toMatchObject({ code: 'service_unavailable' })
  expect(world.host.sandboxes.size).toBe(1)
  expect(await world.reserved()).toMatchObject({ slots: 1, recounted: 1 })
})

it('a process that has lost the lease of a stop neither fails its Snapshot nor orders its capture removed', async () => {
  const { id } = await world.create()
  await stopDock(world.modules.context, world.caller, id, { force: false })
  const operation = (
    await sql<
      OperationRow<StopData>
    >`select id, organization_id as "organizationId", kind, target_id as "targetId",
      dock_id as "dockId", host_id as "hostId", generation, data, cause, step from operations
      where dock_id = ${id} and kind = 'stop'`.execute(world.db)
  ).rows[0]!
  const { db, clock, host: gateway } = world
  const parts = {
    db,
    clock,
    gateway,
    owner: 'another',
    origins: { isInherited: async () => false, isOfLostTime: async () => false },
  }
  const late = createStopSaga({ ...parts, ttl: { note: () => undefined } })
  const error = { code: 'service_unavailable', message: 'late' }
  await expect(late.fail(operation, error)).rejects.toThrow(LeaseLost)
  const { rows } =
    await sql`select s.status, (select count(*) from host_orders o where o.thing_id = s.id)::int as orders
    from snapshots s where s.dock_id = ${id}`.execute(db)
  expect(rows).toEqual([{ status: 'completed', orders: 0 }])
})
