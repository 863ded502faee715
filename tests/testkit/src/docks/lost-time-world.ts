/** Helpers for tests of operations that were running when a backup was taken and are resumed after its restore. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { TestWorld } from './dock-world.ts'

type Method = 'start' | 'stop' | 'capture' | 'destroy'

/** Returns the calls of this method that the fake host has received. */
export function callsOf(world: TestWorld, method: Method) {
  return world.host.calls.filter((call) => call.method === method)
}

/** Starts the work and hangs its call to the host forever, as if the process ended during the call. */
export async function abandonDuring(
  world: TestWorld,
  method: Method,
  work: () => Promise<unknown>,
): Promise<void> {
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

/** Simulates a database restore: the host reports a later start of the instance, and a new process resumes all operations. */
export async function restoreAndResume(world: TestWorld): Promise<void> {
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
