import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { branchDock, resumeDock, stopDock } from '../docks/index.ts'

let world: TestWorld
useTestWorld(
  (fresh) => {
    world = fresh
  },
  { billing: true },
)

const plan = async (values: {
  active?: boolean
  docksMax?: number | null
  budget?: number | null
  spent?: number
}) => {
  await sql`insert into plans (name, currency, docks_max, budget_micros, vcpu_second, memory_gib_second,
      disk_gib_month, snapshot_gib_month)
    values (${world.organizationId}, 'EUR', ${values.docksMax ?? null}, ${values.budget ?? null}, 0, 0, 0, 0)
    on conflict (name) do update set docks_max = excluded.docks_max, budget_micros = excluded.budget_micros`.execute(
    world.db,
  )
  await sql`insert into organization_plans (organization_id, plan, active, spent_month, spent_micros)
    values (${world.organizationId}, ${world.organizationId}, ${values.active ?? true},
      date_trunc('month', metering_day()), ${values.spent ?? 0})
    on conflict (organization_id) do update set active = excluded.active,
      spent_micros = excluded.spent_micros`.execute(world.db)
}
const branch = (id: string) =>
  branchDock(world.modules.context, world.caller, id, { ttlSeconds: null }, undefined)
const resume = (id: string) => resumeDock(world.modules.context, world.caller, id, {})

it('refuses to start compute without an active subscription', async () => {
  expect(await outcomeOf(world.create({}, 'key'))).toBe('subscription_required')
  await plan({ active: false })
  expect(await outcomeOf(world.create({}, 'key'))).toBe('subscription_required')
  await plan({})
  const dock = await world.create({}, 'key')
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  await plan({ active: false })
  expect(await outcomeOf(resume(dock.id))).toBe('subscription_required')
  expect(await outcomeOf(branch(dock.id))).toBe('subscription_required')
  expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
})

it('limits the number of live Docks, even for concurrent starts', async () => {
  await plan({ docksMax: 3 })
  const answers = await Promise.all(Array.from({ length: 8 }, () => outcomeOf(world.create())))
  expect(answers.filter((answer) => answer === 'succeeded')).toHaveLength(3)
  expect(answers.filter((answer) => answer === 'concurrency_exceeded')).toHaveLength(5)
  const [dockId] = world.host.sandboxes.keys()
  expect(await outcomeOf(branch(dockId!))).toBe('concurrency_exceeded')
  await stopDock(world.modules.context, world.caller, dockId!, { force: false })
  expect(await outcomeOf(branch(dockId!))).toBe('succeeded')
  expect(await outcomeOf(resume(dockId!))).toBe('concurrency_exceeded')
})

it('starts nothing once the budget is spent', async () => {
  await plan({ budget: 1000, spent: 999 })
  expect(await outcomeOf(world.create())).toBe('succeeded')
  await plan({ budget: 1000, spent: 1000 })
  expect(await outcomeOf(world.create())).toBe('budget_exceeded')
})

it('gives every month its own budget', async () => {
  await plan({ budget: 1000, spent: 1000 })
  await sql`update organization_plans set spent_month = spent_month - interval '1 month'`.execute(world.db)
  expect(await outcomeOf(world.create())).toBe('succeeded')
})

it('is ignored if billing is disabled', async () => {
  world = await createTestWorld(world.db)
  await plan({ active: false, docksMax: 0 })
  expect(await outcomeOf(world.create())).toBe('succeeded')
})
