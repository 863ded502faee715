/** What tests of operations share that were under way at a backup and are taken up again after its restore. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { TestWorld } from './dock-world.ts'

type Method = 'start' | 'stop' | 'capture' | 'destroy'

export function callsOf(world: TestWorld, method: Method) {
  return world.host.calls.filter((call) => call.method === method)
}

/** Begins the work and leaves it at the host's door, as a process does that ends there. */
export async function cutOff(world: TestWorld, method: Method, work: () => Promise<unknown>): Promise<void> {
  const before = callsOf(world, method).length
  world.host.gate.set(method, new Promise(() => undefined))
  work().catch(() => undefined)
  await expect.poll(() => callsOf(world, method).length, { timeout: 30_000 }).toBe(before + 1)
  world.host.gate.delete(method)
}

const unfinished = async ({ db, organizationId }: TestWorld): Promise<number> =>
  (
    await sql`select 1 from operations where organization_id = ${organizationId}
      and status <> 'completed'`.execute(db)
  ).rows.length

/** The database is restored, the host tells of it, and a new process takes up what the database has under way. */
export async function takeUp(world: TestWorld): Promise<void> {
  world.host.instance = {
    watermark: { epoch: world.modules.context.epoch(), startId: newUuid(), mark: 3 },
    erasures: [],
  }
  world.clock.advance(10_000)
  await world.report()
  const next = world.another()
  await next.start()
  await expect.poll(() => unfinished(world), { timeout: 30_000 }).toBe(0)
  await next.runner.settled()
  await next.stop()
  await world.report()
}
