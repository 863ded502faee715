/** Access to Docks with secrets, and what Docks receive from Environments. Real database, fake host. */
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createMember, createVisitor, type Visitor } from '../../accounts/index.ts'
import {
  createEnvironment,
  deleteEnvironment,
  removeFile,
  removeVariable,
  setFile,
  setVariable,
  updateEnvironment,
} from '../../environments/index.ts'
import { readSnapshotTree } from '../../snapshots/index.ts'
import { branchDock } from '../boot/branch-dock.ts'
import { createDock } from '../boot/create-dock.ts'
import { resumeDock } from '../boot/resume-dock.ts'
import { deleteDock } from '../delete/delete-dock.ts'
import { execInDock } from '../exec/exec-dock.ts'
import { stopDock } from '../stop/stop-dock.ts'
import { readDock } from '../view/read-dock.ts'

let world: TestWorld
let admin: Visitor
let environmentId: string

useTestWorld(
  async (fresh) => {
    world = fresh
    admin = createVisitor(world.caller, { role: 'member', outsider: 'environment_not_found' })
    const row = await sql<{ id: string }>`select id from environments`.execute(world.db)
    environmentId = row.rows[0]!.id
  },
  { alone: true },
)

const context = () => ({ ...world.modules.context })
const reference = () => ({ ref: environmentId, organizationId: undefined })
const secret = (key: string, value: string) => setVariable(context(), admin, reference(), { key, value })
const file = () => setFile(context(), admin, reference(), { path: 'token', contents: 'hidden' })
const addOther = () => {
  const { organizationId } = world
  const terms = { role: 'admin', outsider: 'organization_not_found' } as const
  const member = createMember(world.caller, { organizationId, role: 'admin' }, terms)
  return createEnvironment(context(), member, { organizationId, name: 'other', secretsAccess: 'admins' })
}
const asRole = (role: string) => sql`update memberships set role = ${role}`.execute(world.db)
const run = (id: string) => execInDock(world.modules.context, world.caller, id, exec, undefined)
const exec = { command: 'true', timeoutSeconds: 60, cwd: '/', env: {} }

it('passes variables and files; the Dock’s own variables override them', async () => {
  await asRole('admin')
  await secret('SHARED', 'from the Environment')
  await secret('ONLY', 'there')
  await file()
  await world.create({ env: { SHARED: 'own' } })
  expect(world.host.starts.at(-1)).toMatchObject({
    env: { SHARED: 'own', ONLY: 'there' },
    files: [{ path: 'token', contents: 'hidden' }],
  })
  await world.create({ noEnv: true })
  expect(world.host.starts.at(-1)).toMatchObject({ env: {} })
})

it('passes nothing if the Environment is safe for third parties', async () => {
  await secret('A', 'x')
  await updateEnvironment(context(), admin, reference(), { safeForThirdParties: true })
  await asRole('member')
  const dock = await world.create()
  expect(world.host.starts.at(-1)?.env).toEqual({})
  expect(await outcomeOf(run(dock.id))).toBe('succeeded')
})

it('refuses a member only Environments that pass secrets for admins', async () => {
  await asRole('member')
  expect(await outcomeOf(world.create())).toBe('succeeded')
  await secret('A', 'x')
  expect(await outcomeOf(world.create())).toBe('environment_secrets_admin_only')
  expect(await outcomeOf(world.create({ noEnv: true }))).toBe('succeeded')
  await updateEnvironment(context(), admin, reference(), { secretsAccess: 'members' })
  expect(await outcomeOf(world.create())).toBe('succeeded')
})

it('bars members from a disk that has received files', async () => {
  await file()
  await asRole('admin')
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  const snapshot = await sql<{ id: string }>`select id from snapshots where dock_id = ${dock.id}`.execute(
    world.db,
  )
  const snapshotId = snapshot.rows[0]!.id
  const size = { ttlSeconds: null }
  const ways = () => ({
    tree: outcomeOf(readSnapshotTree(world.modules.snapshots.context, world.caller, snapshotId)),
    resume: outcomeOf(resumeDock(world.modules.context, world.caller, dock.id, {})),
    resumeWithout: outcomeOf(resumeDock(world.modules.context, world.caller, dock.id, { noEnv: true })),
    branch: outcomeOf(branchDock(world.modules.context, world.caller, dock.id, size, undefined)),
    branchWithout: outcomeOf(
      branchDock(world.modules.context, world.caller, dock.id, { ...size, noEnv: true }, undefined),
    ),
  })
  await asRole('member')
  for (const [way, outcome] of Object.entries(ways()))
    expect([way, await outcome]).toEqual([way, 'environment_secrets_admin_only'])
  // An admin may start it without the Environment. Its mark stays, so members remain barred.
  await asRole('admin')
  await resumeDock(world.modules.context, world.caller, dock.id, { noEnv: true })
  expect(world.host.starts.at(-1)?.files).toEqual([])
  const branch = await branchDock(
    world.modules.context,
    world.caller,
    dock.id,
    { ...size, noEnv: true },
    undefined,
  )
  await asRole('member')
  for (const id of [dock.id, branch.id])
    expect(await outcomeOf(run(id))).toBe('environment_secrets_admin_only')
  await sql`delete from environments where id = ${environmentId}`.execute(world.db).catch(() => undefined)
  expect(await outcomeOf(run(dock.id))).toBe('environment_secrets_admin_only')
})

it.each([
  ['members', 'succeeded'],
  ['admins', 'environment_secrets_admin_only'],
] as const)(
  'leaves the Docks of a deleted Environment as open as it was: for %s',
  async (secretsAccess, outcome) => {
    await asRole('admin')
    await addOther()
    await secret('A', 'x')
    await file()
    await updateEnvironment(context(), admin, reference(), { secretsAccess })
    const [running, stopped] = [await world.create(), await world.create()]
    await stopDock(world.modules.context, world.caller, stopped.id, { force: false })
    await deleteEnvironment(context(), admin, reference())
    await asRole('member')
    expect(await outcomeOf(run(running.id))).toBe(outcome)
    expect(await outcomeOf(resumeDock(world.modules.context, world.caller, stopped.id, {}))).toBe(outcome)
  },
)

it('undoes a failed resume of a Dock whose Environment was deleted meanwhile', async () => {
  await asRole('admin')
  await addOther()
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('start', promise)
  world.host.failures.set('start', ['failed'])
  const resuming = outcomeOf(
    resumeDock(world.modules.context, world.caller, dock.id, { environment: 'other' }),
  )
  await expect.poll(() => world.host.calls.at(-1)?.method).toBe('start')
  await deleteEnvironment(context(), admin, reference())
  resolve()
  expect(await resuming).not.toBe('succeeded')
  expect(await readDock(world.modules.context, world.caller, dock.id)).toMatchObject({ state: 'archived' })
})

it('refuses to start with files that no Dock can take, before there is a Dock', async () => {
  await asRole('admin')
  await file()
  const dock = await world.create({ name: 'kept' })
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  // Versions that were saved before paths were checked may have such files.
  await sql`update environment_versions set files = '[{"path": "./.", "size": 1}]' where version = 2`.execute(
    world.db,
  )
  const why = { code: 'validation_error', message: expect.stringContaining('./. does not name a file') }
  await expect(world.create({ name: 'new' })).rejects.toMatchObject(why)
  const resume = (body: { environment?: string; noEnv?: boolean }) =>
    resumeDock(world.modules.context, world.caller, dock.id, body)
  await expect(resume({})).rejects.toMatchObject(why)
  const rows = await sql<object>`select name, state from docks`.execute(world.db)
  expect(rows.rows).toEqual([{ name: 'kept', state: 'archived' }])
  await removeFile(context(), admin, reference(), 'token')
  expect(await resume({ environment: 'default' })).toMatchObject({ state: 'ready' })
})

it('gives a Dock its own API key, a new one for every boot', async () => {
  await updateEnvironment(context(), admin, reference(), { passDockCredentials: true })
  await asRole('admin')
  const dock = await world.create()
  const first = world.host.starts.at(-1)?.env?.DOCK_API_KEY
  expect(first).toMatch(/^dock_/)
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  const second = world.host.starts.at(-1)?.env?.DOCK_API_KEY
  expect(second).toMatch(/^dock_/)
  expect(second).not.toBe(first)
  const live = await sql<{ count: number }>`select count(*)::int as count from api_keys
    where dock_id = ${dock.id} and revoked_at is null`.execute(world.db)
  expect(live.rows[0]!.count).toBe(1)
})

const keysOf = async (dockId: string): Promise<number> =>
  (await sql`select 1 from api_keys where dock_id = ${dockId}`.execute(world.db)).rows.length

it('revokes a Dock’s keys when it stops, fails, boots without its Environment, or is deleted', async () => {
  await updateEnvironment(context(), admin, reference(), { passDockCredentials: true })
  await asRole('admin')
  const dock = await world.create()
  expect(await keysOf(dock.id)).toBe(1)
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  expect(await keysOf(dock.id)).toBe(0)

  // The next boot revokes a key that an earlier boot left behind, even if that boot passes nothing.
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  await sql`update docks set state = 'archived' where id = ${dock.id}`.execute(world.db)
  expect(await keysOf(dock.id)).toBe(1)
  await resumeDock(world.modules.context, world.caller, dock.id, { noEnv: true })
  expect(world.host.starts.at(-1)?.env).toEqual({})
  expect(await keysOf(dock.id)).toBe(0)

  const passed = world.host.starts.length
  world.host.failures.set('start', ['failed'])
  await expect(world.create()).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(world.host.starts).toHaveLength(passed)
  const failed = await sql<{ id: string }>`select id from docks where state = 'error'`.execute(world.db)
  expect(await keysOf(failed.rows[0]!.id)).toBe(0)

  const deleted = await world.create()
  expect(await keysOf(deleted.id)).toBe(1)
  await deleteDock(world.modules.context, world.caller, deleted.id, deleted.id)
  expect(await keysOf(deleted.id)).toBe(0)
})

it('boots a Dock without a key if its creator is erased, closed or no longer a member', async () => {
  await updateEnvironment(context(), admin, reference(), { passDockCredentials: true })
  await asRole('owner')
  const dock = await world.create()
  const colleague = newUuid()
  await sql`insert into users (id, name, email) values (${colleague}, 'c', 'colleague@example.test')`.execute(
    world.db,
  )
  await sql`insert into memberships (organization_id, user_id, role)
    values (${world.organizationId}, ${colleague}, 'admin')`.execute(world.db)
  const asColleague = createVisitor(
    { ...world.caller, userId: colleague },
    { role: 'member', outsider: 'dock_not_found' },
  )
  const passedAtNextBoot = async () => {
    await stopDock(world.modules.context, asColleague, dock.id, { force: false })
    await resumeDock(world.modules.context, asColleague, dock.id, {})
    return world.host.starts.at(-1)?.env
  }
  const creator = world.caller.userId
  await sql`update users set closed_at = now() where id = ${creator}`.execute(world.db)
  expect(await passedAtNextBoot()).toEqual({})
  await sql`update users set closed_at = null where id = ${creator}`.execute(world.db)
  expect(await passedAtNextBoot()).toHaveProperty('DOCK_API_KEY')
  // Membership in another organization does not count.
  const elsewhere = newUuid()
  await sql`insert into organizations (id, name, slug) values (${elsewhere}, 'E', 'elsewhere')`.execute(
    world.db,
  )
  await sql`update memberships set organization_id = ${elsewhere} where user_id = ${creator}`.execute(
    world.db,
  )
  expect(await passedAtNextBoot()).toEqual({})
  await sql`delete from users where id = ${creator}`.execute(world.db)
  expect(await passedAtNextBoot()).toEqual({})
})

it('keeps a stopped Dock at its pinned version', async () => {
  await secret('A', 'old')
  await asRole('admin')
  const dock = await createDock(world.modules.context, world.caller, world.body(), undefined)
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  await secret('A', 'new')
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  expect(world.host.starts.at(-1)?.env).toEqual({ A: 'old' })
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  await resumeDock(world.modules.context, world.caller, dock.id, { environment: 'default' })
  expect(world.host.starts.at(-1)?.env).toEqual({ A: 'new' })
})

it('checks a resume against the version that the Dock receives, not the current one', async () => {
  await secret('A', 'for admins')
  await asRole('admin')
  const dock = await createDock(world.modules.context, world.caller, world.body(), undefined)
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  await removeVariable(context(), admin, reference(), 'A')
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  expect(world.host.starts.at(-1)?.env).toEqual({ A: 'for admins' })
  await asRole('member')
  expect(await outcomeOf(run(dock.id))).toBe('environment_secrets_admin_only')
})

it('still bars members after a resume without the Environment has failed', async () => {
  await secret('A', 'for admins')
  await asRole('admin')
  const dock = await createDock(world.modules.context, world.caller, world.body(), undefined)
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  world.host.failures.set('start', ['failed'])
  expect(await outcomeOf(resumeDock(world.modules.context, world.caller, dock.id, { noEnv: true }))).not.toBe(
    'succeeded',
  )
  await removeVariable(context(), admin, reference(), 'A')
  await asRole('member')
  expect(await outcomeOf(resumeDock(world.modules.context, world.caller, dock.id, {}))).toBe(
    'environment_secrets_admin_only',
  )
})

it('bars members from a disk on which a setup script may have written secrets', async () => {
  await asRole('admin')
  await secret('A', 'value')
  const [plain, withScript] = [await world.create(), await world.create({ setupScript: 'env' })]
  for (const { id } of [plain, withScript]) {
    await stopDock(world.modules.context, world.caller, id, { force: false })
    await resumeDock(world.modules.context, world.caller, id, { noEnv: true })
  }
  await asRole('member')
  expect(await outcomeOf(run(plain.id))).toBe('succeeded')
  expect(await outcomeOf(run(withScript.id))).toBe('environment_secrets_admin_only')
})

it('masks secrets in setupError', async () => {
  await asRole('admin')
  await secret('A', 'of-the-environment')
  await setFile(context(), admin, reference(), { path: '.env', contents: 'TOKEN=in-a-file\n' })
  world.host.setupOutcome = {
    exitCode: 1,
    output: 'of-the-environment in-a-file its-own new-one',
    timedOut: false,
  }
  const dock = await world.create({ setupScript: 'env', env: { OWN: 'its-own' } })
  const { promise, resolve } = Promise.withResolvers<void>()
  world.host.gate.set('setup', promise)
  const work = world.modules.runner.sweep().then(() => world.modules.runner.settled())
  await expect.poll(() => world.host.calls.some(({ method }) => method === 'setup')).toBe(true)
  // Secrets that an upgrade delivers while the script runs are masked too.
  await secret('A', 'new-one')
  await sql`update docks set environment_version = environment_version + 1 where id = ${dock.id}`.execute(
    world.db,
  )
  resolve()
  await work
  const read = await readDock(world.modules.context, world.caller, dock.id)
  expect(read.setupError).toBe('exit code 1\n*** *** *** ***')
})
