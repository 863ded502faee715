/** Machines of fast Runs: plans, metering and removal. The ways of a Run are in modules/runs/fast-runs.test.ts. */
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { requireFastRunSlot } from '../../limits/index.ts'
import { pruneMachines } from './machine-store.ts'

let world: TestWorld
useTestWorld(
  (fresh) => {
    world = fresh
  },
  { billing: true },
)
beforeEach(() => plan({}))

const plan = async ({
  docksMax = null,
  fastMax = null,
}: {
  docksMax?: number | null
  fastMax?: number | null
}) => {
  const { db, organizationId } = world
  await sql`insert into plans (name, currency, docks_max, fast_runs_max, vcpu_second, memory_gib_second, disk_gib_month,
      snapshot_gib_month)
    values (${organizationId}, 'EUR', ${docksMax}, ${fastMax}, 0, 0, 0, 0)
    on conflict (name) do update set docks_max = excluded.docks_max, fast_runs_max = excluded.fast_runs_max`.execute(
    db,
  )
  await sql`insert into organization_plans (organization_id, plan, active) values (${organizationId}, ${organizationId}, true)
    on conflict (organization_id) do nothing`.execute(db)
}

let issueNumber = 0
const insertRun = async (state: string): Promise<string> => {
  const id = newUuid()
  const { organizationId, workspaceId, caller } = world
  await sql`insert into runs (id, organization_id, workspace_id, installation_id, provider_installation_id, repository_id,
      repo, issue_number, created_by, execution_target, state, branch, base_branch, agent, settings, created_at, updated_at)
    values (${id}, ${organizationId}, ${workspaceId}, ${newUuid()}, 1, 1, 'acme/app', ${++issueNumber}, ${caller.userId},
      'fast', ${state}, 'b', 'main', 'command', '{}', now(), now())`.execute(world.db)
  return id
}
const claim = (runId: string): Promise<void> =>
  world.modules.docks.machines.claim(world.caller, {
    runId,
    organizationId: world.organizationId,
    workspaceId: world.workspaceId,
    turn: 1,
    environment: null,
    noEnv: false,
    image: null,
    also: () => [],
    given: (after) => sql`select 1 as id where ${after}`,
  })
const find = (runId: string) => world.modules.docks.machines.find(world.organizationId, runId)
const boot = async (runId: string) => {
  await claim(runId)
  const machine = (await find(runId))!
  await world.modules.docks.machines.boot(machine, 'op_1')
  return machine
}

it('counts fast Runs at work against the plan, and their machines as Docks', async () => {
  const { db, organizationId } = world
  await plan({ fastMax: 1, docksMax: 2 })
  const slot = () => outcomeOf(requireFastRunSlot(db, { organizationId, billing: true }))
  expect(await slot()).toBe('succeeded')
  const first = await insertRun('provisioning')
  expect(await slot()).toBe('fast_run_concurrency_exceeded')
  expect(await outcomeOf(claim(first))).toBe('succeeded')
  expect(await outcomeOf(claim(await insertRun('pending')))).toBe('fast_run_concurrency_exceeded')
  await plan({ docksMax: 2 })
  expect(await outcomeOf(claim(await insertRun('pending')))).toBe('succeeded')
  expect(await outcomeOf(world.create())).toBe('concurrency_exceeded')
  expect(await outcomeOf(claim(await insertRun('pending')))).toBe('concurrency_exceeded')
})

it('is metered while it runs', async () => {
  const machine = await boot(await insertRun('provisioning'))
  const spans = async () =>
    (
      await sql<{
        cpus: number
        isOpen: boolean
      }>`select cpus, until_at = 'infinity' as "isOpen" from usage_spans
        where thing_id = ${machine.id}`.execute(world.db)
    ).rows
  expect(await spans()).toEqual([{ cpus: 2, isOpen: true }])
  for (let times = 0; times < 2; times++) await world.modules.docks.machines.end(machine)
  expect(await spans()).toEqual([{ cpus: 2, isOpen: false }])
  expect((await world.reserved()).slots).toBe(0)
})

it('gets what the Environment passes, but no key of a Dock', async () => {
  const { db, organizationId } = world
  await sql`update environment_versions set pass_dock_credentials = true where organization_id = ${organizationId}`.execute(
    db,
  )
  await sql`update environments set secrets_access = 'members' where organization_id = ${organizationId}`.execute(
    db,
  )
  await boot(await insertRun('provisioning'))
  expect(world.host.starts.at(-1)).toMatchObject({ generation: 1, env: {} })
  await world.create()
  expect(world.host.starts.at(-1)!.env).toHaveProperty('DOCK_API_KEY')
})

it('goes with its organization, and its row a day after its end', async () => {
  const { db, organizationId, modules, host } = world
  const [first, second] = [
    await boot(await insertRun('provisioning')),
    await boot(await insertRun('provisioning')),
  ]
  const rows = async () =>
    (
      await sql<{
        id: string
      }>`select id from run_machines where organization_id = ${organizationId}`.execute(db)
    ).rows.map(({ id }) => id)
  await modules.docks.machines.end(first)
  await sql`update run_machines set state_changed_at = ${world.clock.now()} where id = ${first.id}`.execute(
    db,
  )
  await pruneMachines(db, world.clock.now())
  expect(await rows()).toHaveLength(2)
  await pruneMachines(db, new Date(world.clock.now().getTime() + 25 * 3600_000))
  expect(await rows()).toEqual([second.id])
  expect(await modules.docks.removeMachines(organizationId)).toBe(1)
  expect(host.sandboxes.size).toBe(0)
  expect(await modules.docks.removeMachines(organizationId)).toBe(0)
  expect(await rows()).toEqual([])
})
