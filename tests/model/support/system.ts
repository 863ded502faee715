/** The real thing that the model is compared with: operations, sagas and store on a database, a host in memory. */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { DockModules } from '../../../apps/control-plane/src/dock-modules.ts'
import { createVisitor, type Visitor } from '../../../apps/control-plane/src/modules/accounts/index.ts'
import { hostFacts } from '../../../apps/control-plane/src/modules/docks/fake-host.ts'
import { stopDueDocks } from '../../../apps/control-plane/src/modules/docks/index.ts'
import { createTestWorld, type TestWorld } from '../../../apps/control-plane/src/modules/docks/test-world.ts'

type Database = Parameters<typeof createTestWorld>[0]

export type System = {
  world: TestWorld
  /** The process that serves now. */
  modules: DockModules
  caller: Visitor
  /** The same person as an admin is seen by routes that ask for one. */
  admin: Visitor
}

/** A world of its own in a database that earlier runs have used. */
export const newSystem = async (db: Database): Promise<System> => {
  await sql`truncate hosts, docks, snapshots, operations, idempotency_keys, exec_keys, dock_state_changes, dock_events,
    dock_usage, users, organizations, environments restart identity cascade`.execute(db)
  const world = await createTestWorld(db)
  await sql`update memberships set role = 'admin'`.execute(db)
  const admin = createVisitor(world.caller, { role: 'admin', outsider: 'snapshot_not_found' })
  return { world, modules: world.modules, caller: world.caller, admin }
}

/** Another process takes over: what was in the memory of the one before is gone. */
export const replaceProcess = (system: System): void => {
  system.modules = system.world.another()
}

/** Until every operation is done or waits for its host: the engine may have begun some by itself. */
export const settle = async ({ modules, world }: System): Promise<void> => {
  const underWay = async (): Promise<number> =>
    (
      await sql<{ n: number }>`select count(*)::int as n from operations
        where status in ('pending', 'processing')`.execute(world.db)
    ).rows[0]!.n
  do {
    await modules.runner.sweep()
    await modules.runner.settled()
  } while ((await underWay()) > 0)
  await modules.context.activity.settled()
}

/** The host's full report, and all that follows from it. */
export const report = async (system: System): Promise<void> => {
  const { world, modules } = system
  await modules.hostEvents.handle(world.hostId, {
    type: 'inventory',
    facts: hostFacts(),
    pressure: { memAvailableBytes: 8 * 1024 ** 3, diskFreeBytes: 50 * 1024 ** 3 },
    runtimes: [...world.host.sandboxes.values()],
    pool: [],
    captures: [...world.host.captures],
  })
  await modules.hostEvents.settled()
  await settle(system)
}

/** Everything that timers do, once. */
export const tickTimers = async (system: System): Promise<void> => {
  const { hostEvents, context } = system.modules
  await settle(system)
  await hostEvents.noticeSilence()
  await stopDueDocks(context)
  await settle(system)
  await context.activity.sweep()
}

/** The code of what was thrown, or `done`; anything but a refusal to the caller is a defect. */
export const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof ServiceError) return error.code
    throw error
  }
}
