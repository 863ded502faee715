import { limits } from '@dock/contract'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { createDock, execInDock, stopDock } from '../index.ts'
import { deleteExpiredOutcomes } from './exec-once.ts'

let world: TestWorld
let dockId: string
useTestWorld(async (fresh) => {
  world = fresh
  dockId = (await world.create()).id
})

const exec = (command: string, key?: string, modules = world.modules) =>
  execInDock(
    modules.context,
    world.caller,
    dockId,
    { command, timeoutSeconds: 600, env: {}, cwd: '/' },
    { key },
  )
const ran = (): string[] =>
  world.host.calls
    .filter((call) => call.method === 'exec')
    .map((call) => (call.body as { command: string }).command)
/** Saves the outcomes that wait for their time, as a shutdown does. */
const save = (): Promise<void> => world.modules.context.keyedExecs.saveAll()
const fail = (...failures: Parameters<typeof world.host.failures.set>[1]) =>
  world.host.failures.set('exec', failures)

it('caps the timeout at the deployment’s maximum', async () => {
  world.modules.context.execTimeoutSecondsMax = 30
  await exec('true')
  expect(world.host.calls.at(-1)?.body).toMatchObject({ timeoutMs: 30_000 })
})

it('distinguishes commands that the host refused from commands that failed', async () => {
  fail('busy', 'frozen', 'unlinked', 'failed', 'lost', 'exec_refused', 'not_running', 'stale_generation')
  const codes: string[] = []
  for (let call = 0; call < 8; call++) codes.push(await outcomeOf(exec('x')))
  expect(codes).toEqual([
    'rate_limited',
    'exec_busy',
    'exec_busy',
    'exec_failed',
    'exec_failed',
    'validation_error',
    'dock_not_running',
    'dock_not_running',
  ])
})

it('allows 120 commands per minute and Dock, for all callers together', async () => {
  for (let call = 0; call < 120; call++) await exec('x')
  expect(await outcomeOf(exec('x'))).toBe('rate_limited')
  expect(ran()).toHaveLength(120)
  dockId = (await world.create()).id
  expect(await outcomeOf(exec('x'))).toBe('succeeded')
})

it('returns the first outcome to a repeated request, whatever its body, even after a restart and a stop', async () => {
  const first = await exec('first', 'k')
  await save()
  expect(await exec('second', 'k', world.another())).toEqual(first)
  expect(await outcomeOf(exec('sleep', 'slow'))).toBe('exec_timeout')
  expect(await outcomeOf(exec('sleep', 'slow'))).toBe('exec_timeout')
  await stopDock(world.modules.context, world.caller, dockId, { force: false })
  expect(await exec('third', 'k')).toEqual(first)
  expect(await outcomeOf(exec('third', 'new'))).toBe('dock_not_running')
  expect(ran()).toEqual(['first', 'sleep'])
})

it('saves an outcome after the answer, and repeated requests get it meanwhile', async () => {
  const first = await exec('first', 'k')
  expect(await keptKeys()).toEqual([])
  expect(await exec('second', 'k')).toEqual(first)
  world.clock.advance(99)
  expect(await keptKeys()).toEqual([])
  world.clock.advance(1)
  await expect.poll(keptKeys).toEqual(['k'])
  await save()
  expect(await exec('third', 'k')).toEqual(first)
  expect(ran()).toEqual(['first'])
})

it('an outcome that a dead process did not save is lost, and the command never runs again', async () => {
  await exec('first', 'k')
  const next = world.another()
  expect(await outcomeOf(exec('second', 'k', next))).toBe('exec_result_expired')
  expect(ran()).toEqual(['first'])
})

it('a save that fails loses the outcome alone, and its process forgets it', async () => {
  await exec('first', 'k')
  vi.spyOn(world.modules.context.sealer, 'seal').mockRejectedValueOnce(new Error('no key'))
  await save()
  expect(await outcomeOf(exec('second', 'k'))).toBe('exec_result_expired')
  expect(ran()).toEqual(['first'])
})

it('keeps sealed outcomes for a day, and the key forever', async () => {
  world.host.output = { stdout: 'canary', stderr: '' }
  await exec('canary', 'k')
  await save()
  const rows = await sql<{ row: string }>`select exec_keys::text as row from exec_keys
    where dock_id = ${dockId}`.execute(world.db)
  expect(rows.rows[0]?.row).not.toContain('canary')
  world.clock.advance(24 * 3600_000 - 1)
  await deleteExpiredOutcomes(world.modules.context)
  expect((await exec('again', 'k')).stdout).toBe('canary')
  world.clock.advance(1)
  await deleteExpiredOutcomes(world.modules.context)
  expect(await outcomeOf(exec('again', 'k'))).toBe('exec_result_expired')
  expect(ran()).toHaveLength(1)
})

it.each(['stdout', 'stderr'] as const)('keeps outcomes with at most 64 KiB of %s', async (stream) => {
  const output = { stdout: '', stderr: '' }
  world.host.output = { ...output, [stream]: 'é'.repeat(limits.exec.keptBytesMax / 2) }
  const first = await exec('fits', 'fits')
  await save()
  expect(await exec('fits', 'fits')).toEqual(first)
  world.host.output = { ...output, [stream]: `${'é'.repeat(limits.exec.keptBytesMax / 2)}x` }
  expect(await outcomeOf(exec('long', 'long'))).toBe('succeeded')
  expect(await outcomeOf(exec('long', 'long'))).toBe('exec_result_expired')
  expect(ran()).toEqual(['fits', 'long'])
})

it('never runs a command twice that may have run, and runs a refused one again', async () => {
  fail('lost-after', 'busy', 'unlinked')
  expect(await outcomeOf(exec('lost', 'lost'))).toBe('exec_failed')
  expect(await outcomeOf(exec('lost', 'lost'))).toBe('exec_result_expired')
  expect(await outcomeOf(exec('refused', 'refused'))).toBe('rate_limited')
  expect(await outcomeOf(exec('refused', 'refused'))).toBe('exec_busy')
  expect(await outcomeOf(exec('refused', 'refused'))).toBe('succeeded')
})

it('runs once for 20 concurrent requests in two processes', async () => {
  const other = world.another()
  const codes = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      outcomeOf(exec('raced', 'race', index % 2 ? other : world.modules)),
    ),
  )
  expect(new Set(codes).isSubsetOf(new Set(['succeeded', 'exec_result_expired']))).toBe(true)
  expect(codes).toContain('succeeded')
  expect(ran()).toEqual(['raced'])
})

it('keys are separate for each Dock', async () => {
  await exec('one', 'k')
  dockId = (await createDock(world.modules.context, world.caller, world.body(), undefined)).id
  expect((await exec('two', 'k')).stdout).toBe('two')
})

const keptKeys = async (): Promise<string[]> =>
  (
    await sql<{ key: string }>`select key from exec_keys where organization_id = ${world.organizationId}
      and outcome_sealed is not null order by created_at`.execute(world.db)
  ).rows.map(({ key }) => key)
const storedResults = async (): Promise<number> =>
  (
    await sql<{ bytes: number }>`select result_bytes as bytes from organization_storage
      where organization_id = ${world.organizationId}`.execute(world.db)
  ).rows[0]!.bytes

it('keeps the newest outcomes of a Dock within its budget of sealed bytes', async () => {
  // A NUL takes six bytes in JSON, so the kept outcome is much larger than the output.
  const most = 64 * 1024
  world.host.output = { stdout: '\0'.repeat(most), stderr: '\0'.repeat(most) }
  const keys = Array.from({ length: 12 }, (_, index) => `key-${String(index).padStart(2, '0')}`)
  for (const key of keys) {
    await exec('x', key)
    await save()
    world.clock.advance(1)
  }
  const kept = await keptKeys()
  expect(kept.length).toBeGreaterThan(5)
  expect(kept).toEqual(keys.slice(-kept.length))
  const bytes = await storedResults()
  expect(bytes).toBeLessThanOrEqual(limits.exec.keptBytesPerDockMax)
  expect(bytes).toBeGreaterThan(limits.exec.keptBytesPerDockMax - 1_500_000)
  expect(await outcomeOf(exec('x', keys[0]))).toBe('exec_result_expired')
  expect((await exec('y', keys.at(-1))).stdout).toHaveLength(most)
  expect(ran()).toHaveLength(keys.length)
  await sql`delete from exec_keys where dock_id = ${dockId}`.execute(world.db)
  expect(await storedResults()).toBe(0)
})

it('drops the oldest outcomes of an organization above its budget, across all Docks', async () => {
  const other = dockId
  const bytes = limits.exec.keptBytesPerOrganizationMax / 32
  await sql`insert into exec_keys (dock_id, organization_id, key, created_at)
    select ${other}, ${world.organizationId}, 'old-' || n, ${world.clock.now()}::timestamptz + n * interval '1 ms'
    from generate_series(10, 41) n`.execute(world.db)
  await sql`update exec_keys set outcome_sealed = repeat('x', ${bytes}::int)
    where dock_id = ${other}`.execute(world.db)
  world.clock.advance(1000)
  dockId = (await world.create()).id
  await exec('x', 'new')
  await save()
  const kept = await keptKeys()
  expect(kept).toHaveLength(32)
  expect(kept).not.toContain('old-10')
  expect(kept).toContain('new')
  expect(await storedResults()).toBeLessThanOrEqual(limits.exec.keptBytesPerOrganizationMax)
})

it('limits the number of kept outcomes of a Dock, however short they are', async () => {
  await sql`insert into exec_keys (dock_id, organization_id, key, created_at)
    select ${dockId}, ${world.organizationId}, 'old-' || n, ${world.clock.now()}::timestamptz + n * interval '1 ms'
    from generate_series(1, ${limits.exec.keptPerDockMax}::int) n`.execute(world.db)
  await sql`update exec_keys set outcome_sealed = 'x' where dock_id = ${dockId}`.execute(world.db)
  world.clock.advance(10_000)
  await exec('x', 'new')
  await save()
  const kept = await keptKeys()
  expect(kept).toHaveLength(limits.exec.keptPerDockMax)
  expect(kept[0]).toBe('old-2')
})

it('ends with its caller if the caller wants that, and never runs again with the same key', async () => {
  const gate = Promise.withResolvers<void>()
  world.host.gate.set('exec', gate.promise)
  const body = { command: 'long', timeoutSeconds: 600, env: {}, cwd: '/' }
  const leaving = new AbortController()
  const { context } = world.modules
  const left = execInDock(context, world.caller, dockId, body, { key: 'left', cancelled: leaving.signal })
  await expect.poll(ran).toEqual(['long'])
  leaving.abort()
  expect(await outcomeOf(left)).toBe('exec_failed')
  expect(world.host.cancelled).toEqual(['long'])
  gate.resolve()
  expect(await outcomeOf(exec('long', 'left'))).toBe('exec_result_expired')
  expect(ran()).toEqual(['long'])
})
