import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { branchDock, deleteDock, readDock, resumeDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const context = () => world.modules.context
const read = (id: string) => readDock(context(), world.caller, id)
const setupsOf = (id: string) =>
  world.host.calls.filter((call) => call.method === 'setup' && call.dockId === id)
const work = async (modules = world.modules): Promise<void> => {
  await modules.runner.sweep()
  await modules.runner.settled()
}
/** Keeps a setup script running until the returned function is called. */
const hold = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('setup', promise)
  return resolve
}
const jobUnderWay = (id: string) => expect.poll(() => setupsOf(id).length).toBeGreaterThan(0)

it('runs the script once after ready, and does not lock the Dock meanwhile', async () => {
  const dock = await world.create({ setupScript: 'make canary' })
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'running', setupError: null })
  await work()
  expect(setupsOf(dock.id)).toMatchObject([{ body: { generation: 1, script: 'make canary' } }])
  expect(await read(dock.id)).toMatchObject({ setupStatus: 'done', setupError: null })
  await stopDock(context(), world.caller, dock.id, { force: false })
  await resumeDock(context(), world.caller, dock.id, {})
  await work()
  expect(await read(dock.id)).toMatchObject({ state: 'ready', setupStatus: 'done' })
  expect(setupsOf(dock.id)).toHaveLength(1)
})

it('is done without a script, and a branch does not run its source’s script', async () => {
  const dock = await world.create({ setupScript: '' })
  expect(dock.setupStatus).toBe('done')
  const copy = await branchDock(context(), world.caller, dock.id, { ttlSeconds: null }, undefined)
  expect(copy.setupStatus).toBe('done')
  await work()
  expect(setupsOf(dock.id)).toEqual([])
})

it('reports the error with the values of variables masked', async () => {
  world.host.setupOutcome = {
    exitCode: 3,
    output: 'using s3cr3t-value\nand line-two\nok 1\n',
    timedOut: false,
  }
  const dock = await world.create({
    setupScript: 'false',
    env: { TOKEN: 's3cr3t-value', BOTH: 'line-one\nline-two', N: '1' },
  })
  await work()
  expect(await read(dock.id)).toMatchObject({
    setupStatus: 'failed',
    setupError: 'exit code 3\nusing ***\nand ***\nok 1',
  })
  world.host.setupOutcome = { exitCode: 137, output: '', timedOut: true }
  const slow = await world.create({ setupScript: 'sleep inf' })
  await work()
  expect((await read(slow.id)).setupError).toBe('timed out after 30 minutes')
})

it('stores script and variables only sealed, and deletes the script once it has run', async () => {
  const dock = await world.create({ setupScript: 'echo canary-script', env: { A: 'canary-value' } })
  const rows = async (): Promise<string> => {
    const result = await sql<{ text: string }>`
      select string_agg(t, ' ') as text from (
        select d::text as t from docks d where id = ${dock.id}
        union all select o::text from operations o where target_id = ${dock.id}
        union all select k::text from idempotency_keys k) all_rows`.execute(world.db)
    return result.rows[0]!.text
  }
  expect(await rows()).not.toContain('canary')
  await work()
  expect(await rows()).not.toContain('canary')
  const sealed = await sql<{ script: string | null; env: string | null }>`
    select setup_script_sealed as script, env_sealed as env from docks where id = ${dock.id}`.execute(
    world.db,
  )
  expect(sealed.rows[0]).toEqual({ script: null, env: expect.stringMatching(/^v1\./) })
})

it('is ended by a stop, and ignores a later result from the host', async () => {
  const dock = await world.create({ setupScript: 'sleep' })
  const end = hold()
  world.host.failures.set('setup', ['not_running'])
  const running = work()
  await jobUnderWay(dock.id)
  expect((await stopDock(context(), world.caller, dock.id, { force: true })).state).toBe('archived')
  expect(await read(dock.id)).toMatchObject({ setupStatus: 'failed', setupError: 'stopped' })
  end()
  await running
  expect(await read(dock.id)).toMatchObject({ setupStatus: 'failed', setupError: 'stopped' })
})

it('is ended by a delete', async () => {
  const dock = await world.create({ setupScript: 'sleep' })
  const end = hold()
  world.host.failures.set('setup', ['not_found'])
  const running = work()
  await jobUnderWay(dock.id)
  expect((await deleteDock(context(), world.caller, dock.id, dock.id)).operation.status).toBe('completed')
  end()
  await running
  const left = await sql<{ n: number }>`select count(*)::int as n from operations
    where target_id = ${dock.id} and status <> 'completed'`.execute(world.db)
  expect(left.rows[0]!.n).toBe(0)
})

it('reports that the Dock ended while the script ran', async () => {
  const dock = await world.create({ setupScript: 'boom' })
  world.host.failures.set('setup', ['not_running'])
  await work()
  expect((await read(dock.id)).setupError).toBe('The Dock ended while its setup script ran.')
})

it('is resumed by another process as the same job', async () => {
  const dock = await world.create({ setupScript: 'slow' })
  const end = hold()
  const first = work()
  await jobUnderWay(dock.id)
  world.clock.advance(16_000)
  const other = world.another()
  await other.runner.sweep()
  await expect.poll(() => setupsOf(dock.id).length).toBe(2)
  const ids = setupsOf(dock.id).map((call) => (call.body as { operationId: string }).operationId)
  expect(new Set(ids).size).toBe(1)
  end()
  await Promise.allSettled([first, other.runner.settled()])
  expect((await read(dock.id)).setupStatus).toBe('done')
})

it('waits for a silent host and joins the run there', async () => {
  const dock = await world.create({ setupScript: 'slow' })
  world.host.failures.set('setup', ['lost'])
  await work()
  expect((await read(dock.id)).setupStatus).toBe('running')
  await world.report()
  await work()
  expect((await read(dock.id)).setupStatus).toBe('done')
  expect(setupsOf(dock.id)).toHaveLength(2)
})

it('waits while the host is frozen or shutting down, and runs at its next report', async () => {
  const dock = await world.create({ setupScript: 'make canary' })
  world.host.failures.set('setup', ['frozen', 'busy'])
  await work()
  for (const tried of [1, 2]) {
    expect(await read(dock.id)).toMatchObject({ setupStatus: 'running', setupError: null })
    expect(setupsOf(dock.id)).toHaveLength(tried)
    await world.report()
    await work()
  }
  expect(await read(dock.id)).toMatchObject({ setupStatus: 'done', setupError: null })
  expect(setupsOf(dock.id).at(-1)).toMatchObject({ body: { script: 'make canary' } })
})

it('passes a Dock’s variables to every boot; a branch’s variables override its source’s', async () => {
  const envs = (id: string) =>
    world.host.calls
      .filter((call) => call.method === 'start' && call.dockId === id)
      .map((call) => (call.body as { env: unknown }).env)
  const dock = await world.create({ env: { A: 'one', B: 'two' } })
  await stopDock(context(), world.caller, dock.id, { force: false })
  await resumeDock(context(), world.caller, dock.id, {})
  expect(envs(dock.id)).toEqual([
    { A: 'one', B: 'two' },
    { A: 'one', B: 'two' },
  ])
  const branch = (env: Record<string, string>) =>
    branchDock(context(), world.caller, dock.id, { ttlSeconds: null, env }, undefined)
  const copy = await branch({ B: 'other', C: 'three' })
  expect(envs(copy.id)).toEqual([{ A: 'one', B: 'other', C: 'three' }])
  const many = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`V${index}`, 'x']))
  await expect(branch(many)).rejects.toMatchObject({ code: 'validation_error' })
  await world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId: dock.id, generation: 2 })
  await world.modules.runner.settled()
  expect(envs(dock.id).at(-1)).toEqual({ A: 'one', B: 'two' })
  expect(envs((await world.create()).id)).toEqual([{}])
})

it('is marked failed even if the first attempt to save that fails, also if the output contains a NUL', async () => {
  world.host.setupOutcome = { exitCode: 1, output: 'a\0b\n', timedOut: false }
  const dock = await world.create({ setupScript: "printf 'a\\0b\\n'; exit 1" })
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'not now'; end $$`.execute(
    world.db,
  )
  await sql`create trigger refuse before update of setup_error on docks execute function refuse()`.execute(
    world.db,
  )
  await work()
  expect(await read(dock.id)).toMatchObject({ setupStatus: 'running' })
  await sql`drop trigger refuse on docks`.execute(world.db)
  await sql`drop function refuse()`.execute(world.db)
  // Another process resumes the operation without calling the host again.
  world.clock.advance(60_000)
  await work(world.another())
  expect(await read(dock.id)).toMatchObject({ setupStatus: 'failed', setupError: 'exit code 1\na\ufffdb' })
  expect(setupsOf(dock.id)).toHaveLength(1)
  const kept = await sql<{ data: object }>`select data from operations where kind = 'setup'`.execute(world.db)
  expect(kept.rows.at(-1)?.data).toEqual({ dataVersion: 1 })
})
