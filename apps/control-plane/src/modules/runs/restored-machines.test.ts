/** Machines of fast Runs after a restore of the database: in the lost time they may have become Docks, with the same id. */
import { createLogger, newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { callsOf } from '@dock/testkit/src/docks/lost-time-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { sweepRuns } from './run-sweep.ts'

let world: TestWorld
let hours = 0
useTestWorld(async (fresh) => {
  world = fresh
  // The worlds share the records of starts and epochs, so each begins after those before it.
  world.clock.advance(++hours * 3600_000)
  await world.report()
})

const bootMachine = async () => {
  const { db, organizationId, workspaceId, caller, modules } = world
  const runId = newUuid()
  await sql`insert into runs (id, organization_id, workspace_id, installation_id, provider_installation_id, repository_id,
      repo, issue_number, created_by, execution_target, state, branch, base_branch, agent, settings, created_at, updated_at)
    values (${runId}, ${organizationId}, ${workspaceId}, ${newUuid()}, 1, 1, 'acme/app', ${hours}, ${caller.userId},
      'fast', 'provisioning', 'b', 'main', 'command', '{}', now(), now())`.execute(db)
  const { machines } = modules.docks
  await machines.claim(caller, {
    runId,
    organizationId,
    workspaceId,
    turn: 1,
    environment: null,
    noEnv: false,
    image: null,
    also: () => [],
    given: (after) => sql`select 1 as id where ${after}`,
  })
  const machine = (await machines.find(organizationId, runId))!
  await machines.boot(machine, 'op_1')
  return machine
}
/** The Run's time is over, and the sweep comes by. */
const sweep = async (runId: string) => {
  const { db, clock, modules } = world
  await sql`update runs set state = 'pr_opened', archive_at = ${clock.now()} where id = ${runId}`.execute(db)
  await sweepRuns({
    db,
    clock,
    docks: modules.context,
    machines: modules.docks.machines,
    logger: createLogger('test'),
  } as never)
}
/** The host remembers a later start of this epoch. Its next report tells. */
const restore = () => {
  world.host.instance = {
    watermark: { epoch: world.modules.context.epoch(), startId: newUuid(), mark: 3 },
    erasures: [],
  }
  world.clock.advance(10_000)
}
const startAgain = async () => {
  world.clock.advance(10_000)
  const next = world.another()
  await next.start()
  await next.stop()
}
const entries = async () =>
  (
    await sql`select kind, thing_id as "thingId", generation, state from quarantine
      where host_id = ${world.hostId}`.execute(world.db)
  ).rows
const orders = async () =>
  (await sql`select 1 from host_orders where host_id = ${world.hostId}`.execute(world.db)).rows

it('a machine from before the restore is quarantined at its end, because it may be a Dock', async () => {
  const { id, runId } = await bootMachine()
  restore()
  await world.report()
  expect(await entries()).toEqual([])
  await sweep(runId)
  expect(await orders()).toEqual([])
  expect((await world.reserved()).slots).toBe(0)
  await world.report()
  expect(callsOf(world, 'destroy')).toEqual([])
  expect(await entries()).toMatchObject([{ kind: 'dock', thingId: id, generation: 1, state: 'held' }])
})

it('a machine from after the restore is destroyed at its end', async () => {
  restore()
  await world.report()
  const { id, runId } = await bootMachine()
  await sweep(runId)
  expect(world.host.sandboxes.has(id)).toBe(false)
  await world.report()
  expect(await entries()).toEqual([])
})

it('a machine from before a start waits for the first report of its host', async () => {
  const { id, runId } = await bootMachine()
  await startAgain()
  await sweep(runId)
  expect([await orders(), callsOf(world, 'destroy')]).toEqual([[], []])
  expect((await world.reserved()).slots).toBe(1)
  await world.report()
  await sweep(runId)
  expect(world.host.sandboxes.has(id)).toBe(false)
  expect(await entries()).toEqual([])
})

it('a machine from before a start ends without an order if its host is lost, and is kept if the host returns', async () => {
  const { id, runId } = await bootMachine()
  await startAgain()
  await sql`update hosts set state = 'offline', lost_at = ${world.clock.now()} where id = ${world.hostId}`.execute(
    world.db,
  )
  await sweep(runId)
  expect([await orders(), callsOf(world, 'destroy')]).toEqual([[], []])
  expect((await world.reserved()).slots).toBe(0)
  restore()
  await world.report()
  expect(await entries()).toMatchObject([{ kind: 'dock', thingId: id, state: 'held' }])
})

it('a machine of a deleted organization is destroyed in any case', async () => {
  const { id } = await bootMachine()
  restore()
  await world.report()
  await world.modules.docks.removeMachines(world.organizationId)
  expect(world.host.sandboxes.has(id)).toBe(false)
})
