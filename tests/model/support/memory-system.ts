/** The system under test: real operations, sagas and database, with an in-memory host and a manual clock. */

import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { DockModules } from '../../../apps/control-plane/src/dock-modules.ts'
import { createVisitor, type Visitor } from '../../../apps/control-plane/src/modules/accounts/index.ts'
import {
  branchDock,
  createDock,
  deleteDock,
  execInDock,
  listDocks,
  readDock,
  resumeDock,
  stopDock,
  updateDock,
} from '../../../apps/control-plane/src/modules/docks/index.ts'
import { stopDueDocks } from '../../../apps/control-plane/src/modules/docks/stop/stop-dock.ts'
import { deleteSnapshot, listDockSnapshots } from '../../../apps/control-plane/src/modules/snapshots/index.ts'
import { checkFakeHost } from './invariants.ts'
import type { Calls, System } from './system.ts'

type Database = Parameters<typeof createTestWorld>[0]

export type MemorySystem = System & {
  world: TestWorld
  /** The modules of the current process. */
  modules: DockModules
  caller: Visitor
}

const callsOf = (system: Pick<MemorySystem, 'world' | 'modules' | 'caller'>, admin: Visitor): Calls => {
  const { world, caller } = system
  const context = () => system.modules.context
  return {
    create: ({ name, ttlSeconds }, key) => {
      const body = world.body({ ttlSeconds, ...(name === null ? {} : { name }) })
      return createDock(context(), caller, body, key ?? undefined)
    },
    branch: (id, key) => branchDock(context(), caller, id, { ttlSeconds: null }, key ?? undefined),
    stop: (id, force) => stopDock(context(), caller, id, { force }),
    resume: (id, body) => resumeDock(context(), caller, id, body),
    remove: async (id) => (await deleteDock(context(), caller, id, id)).operation,
    update: (id, body) => updateDock(context(), caller, id, body),
    exec: async (id, text, key) => {
      const body = { command: text, timeoutSeconds: 60, env: {}, cwd: '/' }
      return (await execInDock(context(), caller, id, body, { key: key ?? undefined })).stdout
    },
    list: async () =>
      (await Array.fromAsync(listDocks(context(), caller, { filter: 'r', all: true }))).flat(),
    findSnapshot: async (id) => {
      const { snapshots } = await listDockSnapshots(context(), caller, id, { limit: 100 })
      return snapshots.find(({ status }) => status === 'completed')?.id
    },
    removeSnapshot: async (id) => (await deleteSnapshot(context(), admin, id, id)).operation,
  }
}

/** Checks that a stranger sees no Dock. */
const checkStranger = async ({ world, modules }: MemorySystem, ids: readonly string[]): Promise<void> => {
  const listed = await Array.fromAsync(listDocks(modules.context, world.stranger, { filter: 'r', all: true }))
  expect(listed.flat()).toEqual([])
  for (const id of ids.slice(0, 1))
    await expect(readDock(modules.context, world.stranger, id)).rejects.toMatchObject({
      code: 'dock_not_found',
    })
}

/** Creates a system on a database that earlier runs may have used. */
export async function newSystem(db: Database): Promise<MemorySystem> {
  await sql`truncate hosts, docks, snapshots, operations, idempotency_keys, exec_keys, dock_state_changes, dock_events,
    dock_usage, users, organizations, environments restart identity cascade`.execute(db)
  // In these tests, hosts are lost only by declaration, never by silence.
  const world = await createTestWorld(db, { hostLostAfterMs: 10 * 365 * 86_400_000 })
  await sql`update memberships set role = 'admin'`.execute(db)
  const admin = createVisitor(world.caller, { role: 'admin', outsider: 'snapshot_not_found' })
  const base = { world, modules: world.modules, caller: world.caller }
  const system: MemorySystem = Object.assign(base, {
    db: world.db,
    calls: callsOf(base, admin),
    failNext: (command, failure) => world.host.failures.set(command, [failure]),
    settle: async (online) => {
      world.host.failures.clear()
      await (online ? report(system) : settle(system))
    },
    check: async (model) => {
      await checkStranger(
        system,
        model.docks.map(({ id }) => id),
      )
      await checkFakeHost(world, model)
    },
  } satisfies System)
  return system
}

/**
 * Replaces the current process with a new one, which has nothing of its memory. Outcomes of commands are saved before, as
 * they are 100 ms after each command.
 */
export async function replaceProcess(system: MemorySystem): Promise<void> {
  await system.modules.context.keyedExecs.saveAll()
  system.modules = system.world.another()
}

/** Waits until every operation is completed or blocked, including those that the engine started itself. */
export async function settle({ modules, world }: MemorySystem): Promise<void> {
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

/** Sends the host's inventory and waits for everything that follows from it. */
export async function report(system: MemorySystem): Promise<void> {
  const { world, modules } = system
  await modules.hostEvents.handle(
    world.hostId,
    inventoryOf({ runtimes: [...world.host.sandboxes.values()], captures: [...world.host.captures] }),
  )
  await modules.hostEvents.settled()
  await settle(system)
}

/**
 * Advances the clock while the host is silent. The process checks for silence only in the last 40 s, because only those
 * matter.
 */
export async function passInSilence({ world, modules }: MemorySystem, seconds: number): Promise<void> {
  const leap = Math.max(0, seconds - 40)
  await modules.hostEvents.noticeSilence()
  world.clock.advance(leap * 1000)
  for (let left = seconds - leap; left > 0; left -= 5) {
    world.clock.advance(Math.min(left, 5) * 1000)
    await modules.hostEvents.noticeSilence()
  }
}

/** Runs the task of every timer once. */
export async function tickTimers(system: MemorySystem): Promise<void> {
  const { hostEvents, context } = system.modules
  await settle(system)
  await hostEvents.noticeSilence()
  await stopDueDocks(context)
  await settle(system)
  await context.activity.sweep()
}
