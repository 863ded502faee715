import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { resumeDock, stopDock } from '../docks/index.ts'
import { readEnvironmentRow } from './environment-store.ts'
import { makeVersion } from './make-version.ts'
import { pruneVersions, versionsKept } from './prune-versions.ts'

let world: TestWorld
let environmentId: string
useTestWorld(async (fresh) => {
  world = fresh
  const found = await sql<{ id: string }>`select id from environments
    where organization_id = ${world.organizationId}`.execute(world.db)
  environmentId = found.rows[0]!.id
})

const setVariable = async (value: string) => {
  const row = await readEnvironmentRow(world.db, environmentId)
  await makeVersion(world.modules.context, row!, {
    bundle: (bundle) => ({ ...bundle, variables: { VALUE: value } }),
  })
}
const prune = () => pruneVersions({ db: world.db, clock: world.clock })
const held = async (): Promise<number[]> =>
  (
    await sql<{
      version: number
    }>`select version from environment_versions where environment_id = ${environmentId}
      and bundle_sealed is not null order by version`.execute(world.db)
  ).rows.map(({ version }) => version)
const listed = async (): Promise<number> =>
  (
    await sql<{ n: number }>`select count(*)::int as n from environment_versions
      where environment_id = ${environmentId}`.execute(world.db)
  ).rows[0]!.n

it('clears bundles that are neither current nor pinned, after the grace period for running creations', async () => {
  await setVariable('two')
  await sql`update environments set secrets_access = 'members' where id = ${environmentId}`.execute(world.db)
  const dock = await world.create()
  await setVariable('three')
  await setVariable('four')
  expect(await held()).toEqual([2, 3, 4])
  await prune()
  expect(await held()).toEqual([2, 3, 4])
  world.clock.advance(3_600_001)
  await prune()
  expect(await held()).toEqual([2, 4])
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  expect(await outcomeOf(resumeDock(world.modules.context, world.caller, dock.id, {}))).toBe('succeeded')
  expect(
    world.host.calls.filter(({ method }) => method === 'applyEnvironment' || method === 'start').length,
  ).not.toBe(0)
  await sql`update docks set environment_version = 4 where id = ${dock.id}`.execute(world.db)
  await prune()
  expect(await held()).toEqual([4])
  await sql`update docks set environment_version = 2 where id = ${dock.id}`.execute(world.db)
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  expect(await outcomeOf(resumeDock(world.modules.context, world.caller, dock.id, {}))).not.toBe('succeeded')
})

it('keeps a bundle that an operation may roll a Dock back to', async () => {
  await setVariable('two')
  await setVariable('three')
  world.clock.advance(3_600_001)
  const operation = newUuid()
  await sql`insert into operations (id, organization_id, kind, target_type, target_id, generation, status, data, cause,
      created_at, updated_at)
    values (${operation}, ${world.organizationId}, 'resume', 'dock', ${newUuid()}, 1, 'blocked',
      ${JSON.stringify({ before: { environmentId, environmentVersion: 2 } })}::jsonb, '{}', now(), now())`.execute(
    world.db,
  )
  await prune()
  expect(await held()).toEqual([2, 3])
  await sql`update operations set status = 'completed' where id = ${operation}`.execute(world.db)
  await prune()
  expect(await held()).toEqual([3])
})

it('keeps the newest versions and those that Docks are pinned to', async () => {
  const dock = await world.create()
  expect(dock).toMatchObject({ environment: 'default' })
  await sql`insert into environment_versions (environment_id, organization_id, version, created_at)
    select ${environmentId}, ${world.organizationId}, n, ${world.clock.now()}
    from generate_series(2, ${versionsKept + 50}::int) n`.execute(world.db)
  await sql`update environments set current_version = ${versionsKept + 50} where id = ${environmentId}`.execute(
    world.db,
  )
  world.clock.advance(3_600_001)
  await prune()
  expect(await listed()).toBe(versionsKept + 1)
})

it('limits the number of versions created per hour', async () => {
  const { context } = world.modules
  for (let made = 0; made < 240; made++)
    await context.rateLimits.take('environmentVersions', world.organizationId)
  expect(await outcomeOf(setVariable('late'))).toBe('rate_limited')
  const row = await readEnvironmentRow(world.db, environmentId)
  expect(await outcomeOf(makeVersion(context, row!, {}))).toBe('succeeded')
})
