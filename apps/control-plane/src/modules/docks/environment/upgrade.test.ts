/** Upgrades of Docks to a newer version of their Environment. Real database, fake host. */
import { newUuid } from '@dock/foundation'
import { type FreshDatabase, whileLocked } from '@dock/testkit'
import { insertEnvironment, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { secondHost } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createVisitor, type Visitor } from '../../accounts/index.ts'
import {
  removeFile,
  removeVariable,
  setFile,
  setVariable,
  updateEnvironment,
  upgradeEnvironment,
} from '../../environments/index.ts'
import { branchDock } from '../boot/branch-dock.ts'
import { resumeDock } from '../boot/resume-dock.ts'
import { execInDock } from '../exec/exec-dock.ts'
import { readOperation } from '../index.ts'
import { stopDock } from '../stop/stop-dock.ts'

let world: TestWorld
let database: FreshDatabase
let admin: Visitor
let environmentId: string

useTestWorld(
  async (fresh, createFreshDatabase) => {
    world = fresh
    database = createFreshDatabase
    await asRole('admin')
    admin = createVisitor(world.caller, { role: 'admin', outsider: 'environment_not_found' })
    const row = await sql<{ id: string }>`select id from environments`.execute(world.db)
    environmentId = row.rows[0]!.id
  },
  { alone: true },
)

const context = () => world.modules.context
const reference = () => ({ ref: environmentId, organizationId: undefined })
const secret = (key: string, value: string) => setVariable(context(), admin, reference(), { key, value })
const upgrade = (dockIds?: string[]) =>
  upgradeEnvironment(context(), admin, reference(), dockIds === undefined ? {} : { dockIds })
const asRole = (role: string) => sql`update memberships set role = ${role}`.execute(world.db)
const stop = (id: string) => stopDock(context(), world.caller, id, { force: false })
const given = () =>
  world.host.calls
    .filter(({ method }) => method === 'applyEnvironment')
    .map(({ dockId, body }) => ({ dockId, body: body as { env: Record<string, string>; files?: unknown } }))
const rowOf = async (id: string) =>
  (
    await sql<{ version: number; passes: boolean; marks: string[] }>`select environment_version as version,
      env_passes as passes, marks from docks where id = ${id}`.execute(world.db)
  ).rows[0]!
const command = { command: 'true', timeoutSeconds: 60, cwd: '/', env: {} }
const run = (id: string) => outcomeOf(execInDock(context(), world.caller, id, command, undefined))

it('delivers new contents to a running Dock, below its own variables, and removes old contents', async () => {
  await secret('OLD', 'x')
  await setFile(context(), admin, reference(), { path: 'token', contents: 'hidden' })
  const dock = await world.create({ env: { OWN: 'own', BOTH: 'own' } })
  await removeVariable(context(), admin, reference(), 'OLD')
  await removeFile(context(), admin, reference(), 'token')
  await secret('NEW', 'y')
  const { currentVersion } = await secret('BOTH', 'shared')
  const { operation } = await upgrade()
  expect(operation).toMatchObject({ targetType: 'environment', targetId: environmentId, status: 'completed' })
  expect(given()).toMatchObject([{ dockId: dock.id, body: { generation: 1, files: [] } }])
  expect(given()[0]!.body.env).toEqual({ NEW: 'y', BOTH: 'own', OWN: 'own' })
  // Earlier files may still be on the disk.
  expect(await rowOf(dock.id)).toEqual({ version: currentVersion, passes: true, marks: [environmentId] })
  await upgrade()
  expect(given()).toHaveLength(1)
})

it('bars members before it delivers secrets for admins', async () => {
  const dock = await world.create()
  await setFile(context(), admin, reference(), { path: 'token', contents: 'hidden' })
  let open: () => void = () => undefined
  world.host.gate.set('applyEnvironment', new Promise((resolve) => (open = resolve)))
  const under = upgrade()
  await expect.poll(() => given().length, { timeout: 20_000 }).toBe(1)
  await asRole('member')
  expect(await run(dock.id)).toBe('environment_secrets_admin_only')
  expect(await rowOf(dock.id)).toMatchObject({ version: 1 })
  open()
  await under
  expect(await rowOf(dock.id)).toEqual({ version: 2, passes: true, marks: [environmentId] })
})

it('admits members again when nothing is passed and nothing is left on the disk', async () => {
  await secret('A', 'x')
  const dock = await world.create()
  await removeVariable(context(), admin, reference(), 'A')
  await upgrade()
  await asRole('member')
  expect(await run(dock.id)).toBe('succeeded')
})

it('a stopped Dock receives the version at its next boot', async () => {
  const dock = await world.create()
  await stop(dock.id)
  const { currentVersion } = await secret('A', 'new')
  await upgrade()
  expect(given()).toEqual([])
  expect(await rowOf(dock.id)).toEqual({ version: currentVersion, passes: true, marks: [] })
  await resumeDock(context(), world.caller, dock.id, {})
  expect(world.host.starts.at(-1)?.env).toEqual({ A: 'new' })
})

it('is not undone by a resume that read the Dock earlier', async () => {
  const dock = await world.create()
  await stop(dock.id)
  await setFile(context(), admin, reference(), { path: 'token', contents: 'hidden' })
  // The resume reads before the upgrade commits, and claims after it.
  const pin = `update docks set environment_version = 2, env_passes = true, marks = '{${environmentId}}'
    where id = '${dock.id}'`
  await whileLocked(database, { lock: pin, waiting: 1 }, () =>
    resumeDock(context(), world.caller, dock.id, {}),
  )
  expect(world.host.starts.at(-1)?.files).toEqual([{ path: 'token', contents: 'hidden' }])
  expect(await rowOf(dock.id)).toEqual({ version: 2, passes: true, marks: [environmentId] })
})

it('marks a branch that was claimed before the upgrade and captured after it', async () => {
  const dock = await world.create()
  let open: () => void = () => undefined
  world.host.gate.set('capture', new Promise((resolve) => (open = resolve)))
  const branching = branchDock(context(), world.caller, dock.id, { ttlSeconds: null }, undefined)
  await expect
    .poll(() => world.host.calls.filter(({ method }) => method === 'capture').length, { timeout: 20_000 })
    .toBe(1)
  await setFile(context(), admin, reference(), { path: 'token', contents: 'hidden' })
  await upgrade()
  expect(given()).toMatchObject([{ dockId: dock.id, body: { files: [{ path: 'token' }] } }])
  open()
  const branch = await branching
  expect(await rowOf(branch.id)).toEqual({ version: 1, passes: false, marks: [environmentId] })
  await asRole('member')
  expect(await run(branch.id)).toBe('environment_secrets_admin_only')
})

it('delivers nothing to a Dock that runs without its Environment', async () => {
  const dock = await world.create({ noEnv: true })
  await setFile(context(), admin, reference(), { path: 'token', contents: 'hidden' })
  await upgrade()
  expect(given()).toEqual([])
  expect(await rowOf(dock.id)).toEqual({ version: 2, passes: false, marks: [] })
})

it('moves only the named Docks, and refuses Docks of another Environment', async () => {
  const [one, other] = [await world.create(), await world.create()]
  await insertEnvironment(world.db, world.organizationId, { name: 'else' })
  const foreign = await world.create({ environment: 'else' })
  await secret('A', 'x')
  for (const id of [foreign.id, newUuid()])
    expect(await outcomeOf(upgrade([one.id, id]))).toBe('dock_not_found')
  expect(given()).toEqual([])
  await upgrade([one.id, one.id])
  expect(given().map(({ dockId }) => dockId)).toEqual([one.id])
  expect(await rowOf(other.id)).toMatchObject({ version: 1 })
  await upgrade([])
  expect(await rowOf(other.id)).toMatchObject({ version: 1 })
})

it.each(['unlinked', 'failed'] as const)(
  'keeps a Dock at its version if its host is %s, moves the others, and moves it when repeated',
  async (failure) => {
    const docks = [await world.create(), await world.create()]
    await secret('A', 'x')
    world.host.failures.set('applyEnvironment', [failure])
    expect((await upgrade()).operation.status).toBe('completed')
    const versions = await Promise.all(docks.map(async ({ id }) => (await rowOf(id)).version))
    expect(versions.toSorted()).toEqual([1, 2])
    await upgrade()
    for (const { id } of docks) expect(await rowOf(id)).toMatchObject({ version: 2 })
  },
)

it('blocks on an interrupted delivery, moves the others, and finishes when the host returns', async () => {
  const docks = [await world.create(), await world.create()]
  await secret('A', 'x')
  world.host.failures.set('applyEnvironment', ['lost'])
  const { operation } = await upgrade()
  expect(operation.status).toBe('blocked')
  const versions = await Promise.all(docks.map(async ({ id }) => (await rowOf(id)).version))
  expect(versions.toSorted()).toEqual([1, 2])
  await world.report()
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
  for (const { id } of docks) expect(await rowOf(id)).toMatchObject({ version: 2 })
  const { status } = await readOperation(context(), world.caller, operation.id)
  expect(status).toBe('completed')
})

it('only a request for the same version and Docks retries a blocked upgrade', async () => {
  const [one, other] = [await world.create(), await world.create()]
  await secret('A', 'x')
  world.host.failures.set('applyEnvironment', ['lost'])
  const { operation } = await upgrade([one.id, other.id])
  expect(operation.status).toBe('blocked')
  world.host.failures.set('applyEnvironment', ['lost'])
  const all = await upgrade()
  expect(all.operation).toMatchObject({ status: 'blocked' })
  expect(all.operation.id).not.toBe(operation.id)
  world.host.failures.set('applyEnvironment', ['lost'])
  expect((await upgrade([other.id, one.id, one.id])).operation).toEqual(operation)
  expect((await upgrade()).operation).toEqual({ ...all.operation, status: 'completed' })
  for (const { id } of [one, other]) expect(await rowOf(id)).toMatchObject({ version: 2 })
  await secret('B', 'y')
  const next = await upgrade([one.id, other.id])
  expect(next.operation).toMatchObject({ status: 'completed' })
  expect(next.operation.id).not.toBe(operation.id)
  expect((await upgrade([one.id, other.id])).operation.id).not.toBe(next.operation.id)
})

it('two concurrent requests retry a blocked upgrade once', async () => {
  await world.create()
  await secret('A', 'x')
  world.host.failures.set('applyEnvironment', ['lost'])
  const { operation } = await upgrade()
  const again = await Promise.all([upgrade(), upgrade()])
  expect(again.map((each) => each.operation.id)).toContain(operation.id)
  expect(given()).toHaveLength(2)
})

it.each(['ready', 'unreachable'])(
  'blocks on the host of a Dock that is %s if the process was killed during its delivery',
  async (state) => {
    const dock = await world.create()
    await secret('A', 'x')
    // The response never arrives, as if the process had died.
    world.host.gate.set('applyEnvironment', new Promise(() => undefined))
    void upgrade()
    await expect.poll(() => given().length, { timeout: 20_000 }).toBe(1)
    world.host.online = false
    await sql`update docks set state = ${state} where id = ${dock.id}`.execute(world.db)
    const next = world.another()
    await next.start()
    const status = async () =>
      (
        await sql<{
          status: string
        }>`select status from operations where kind = 'upgrade-environment'
          and organization_id = ${world.organizationId}`.execute(world.db)
      ).rows[0]!.status
    await expect.poll(status, { timeout: 20_000 }).toBe('blocked')
    expect(await rowOf(dock.id)).toMatchObject({ version: 1 })
    world.host.online = true
    world.host.gate.delete('applyEnvironment')
    await world.report()
    await next.runner.sweep()
    await next.runner.settled()
    await next.stop()
    expect(await rowOf(dock.id)).toMatchObject({ version: 2 })
    expect(await status()).toBe('completed')
  },
)

it('restores the old contents if a delivery fails midway, and revokes the key that came with it', async () => {
  const liveKeys = async () =>
    (
      await sql<{
        id: string
      }>`select id from api_keys where revoked_at is null and dock_id is not null`.execute(world.db)
    ).rows.length
  await updateEnvironment(context(), admin, reference(), { passDockCredentials: true })
  await secret('A', 'old')
  const dock = await world.create()
  await secret('A', 'new')
  world.host.failures.set('applyEnvironment', ['failed'])
  const { operation } = await upgrade()
  expect(operation.status).toBe('completed')
  expect(given().map(({ body }) => body.env.A)).toEqual(['new', 'old'])
  expect(await rowOf(dock.id)).toMatchObject({ version: 3 })
  expect(await liveKeys()).toBe(1)
})

it('blocks if a Dock accepts neither the new nor the old version, unless its sandbox is gone', async () => {
  const dock = await world.create()
  await secret('A', 'x')
  world.host.failures.set('applyEnvironment', ['failed', 'not_running'])
  expect((await upgrade()).operation.status).toBe('completed')
  world.host.failures.set('applyEnvironment', ['failed', 'failed'])
  expect((await upgrade()).operation.status).toBe('blocked')
  world.host.failures.set('applyEnvironment', ['busy'])
  await world.report()
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
  expect(await rowOf(dock.id)).toMatchObject({ version: 1 })
  await world.report()
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
  expect(await rowOf(dock.id)).toMatchObject({ version: 2 })
})

it('that is blocked is retried by a repeated request, also if it was saved before data had versions', async () => {
  await world.create()
  await secret('A', 'x')
  world.host.failures.set('applyEnvironment', ['failed', 'failed'])
  const { operation: blocked } = await upgrade()
  expect(blocked.status).toBe('blocked')
  await sql`update operations set data = data - 'dataVersion' where id = ${blocked.id}`.execute(world.db)
  expect((await upgrade()).operation).toMatchObject({ id: blocked.id, status: 'completed' })
})

it('does not delay Docks while it waits for another Dock’s host', async () => {
  const [there, away] = [await world.create(), await world.create()]
  const other = await secondHost(world)
  await sql`update docks set host_id = ${other} where id = ${away.id}`.execute(world.db)
  await secret('A', 'x')
  let giveUp: (isBack: boolean) => void = () => undefined
  world.host.waitForControlLink = () => new Promise((resolve) => (giveUp = resolve))
  const under = upgrade()
  await expect.poll(async () => (await rowOf(there.id)).version, { timeout: 20_000 }).toBe(2)
  giveUp(false)
  await under
  expect(await rowOf(away.id)).toMatchObject({ version: 1 })
})

it('sends nothing to a silent host, and does not bar members of its Docks', async () => {
  const dock = await world.create()
  await secret('A', 'x')
  world.host.online = false
  await upgrade()
  expect(given()).toEqual([])
  expect(await rowOf(dock.id)).toEqual({ version: 1, passes: false, marks: [] })
})

it('does not pin a Dock that booted again in the meantime', async () => {
  const dock = await world.create()
  await secret('A', 'x')
  let open: () => void = () => undefined
  world.host.gate.set('applyEnvironment', new Promise((resolve) => (open = resolve)))
  const under = upgrade()
  await expect.poll(() => given().length, { timeout: 20_000 }).toBe(1)
  await stop(dock.id)
  await resumeDock(context(), world.caller, dock.id, {})
  open()
  await under
  // The first delivery was for an earlier generation. The Dock keeps the version with which it booted.
  expect(await rowOf(dock.id)).toMatchObject({ version: 1 })
  await upgrade()
  expect(given().at(-1)?.body).toMatchObject({ generation: 2, env: { A: 'x' } })
  expect(await rowOf(dock.id)).toMatchObject({ version: 2 })
})

it('gives a Dock a new API key, and revokes the previous one only after the delivery', async () => {
  const liveKeys = async (id: string) =>
    (
      await sql<{ id: string }>`select id from api_keys where dock_id = ${id} and revoked_at is null`.execute(
        world.db,
      )
    ).rows.map((row) => row.id)
  await updateEnvironment(context(), admin, reference(), { passDockCredentials: true })
  const dock = await world.create()
  const [former] = await liveKeys(dock.id)
  await secret('A', 'x')
  world.host.failures.set('applyEnvironment', ['lost'])
  await upgrade()
  expect(await liveKeys(dock.id)).toContain(former)
  await upgrade()
  expect(given().at(-1)?.body.env.DOCK_API_KEY).toMatch(/^dock_/)
  expect(await liveKeys(dock.id)).toHaveLength(1)
  expect(await liveKeys(dock.id)).not.toContain(former)
  await updateEnvironment(context(), admin, reference(), { passDockCredentials: false })
  await upgrade()
  expect(await liveKeys(dock.id)).toEqual([])
})
