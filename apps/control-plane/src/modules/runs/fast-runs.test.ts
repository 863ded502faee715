/** Fast Runs: turns in machines without a Dock, on a fake host with real processes. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { createTurnsWorld } from '@dock/testkit/src/runs/turns-world.ts'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { createDock, execInDock, findDock } from '../docks/index.ts'
import { readHost } from '../hosts/index.ts'
import type { RunPlan } from './insert-run.ts'
import { promoteRun } from './promote-run.ts'
import { sweepRuns } from './run-sweep.ts'

const turns = await createTurnsWorld()
const { world, runs, repository, git, triggerOf, begin, signal, read, eventsOf, logOf } = turns
const { db, host, hostId, organizationId } = world
afterAll(turns.close)
beforeEach(() => world.modules.runner.settled())

const planOf = (script: string, over: Partial<RunPlan> = {}): RunPlan =>
  turns.planOf(script, { executionTarget: 'fast', ...over })
const until = (id: string, state: string) =>
  expect.poll(() => turns.stateOf(id), { timeout: 60_000, interval: 50 }).toMatch(new RegExp(`^${state}`))
const parts = {
  db,
  clock: systemClock,
  docks: world.modules.context,
  machines: world.modules.docks.machines,
  logger: createLogger('test'),
} as never
const machineOf = async (runId: string): Promise<string | undefined> =>
  (await world.modules.docks.machines.find(organizationId, runId))?.id
const reservedSlots = async () => (await world.reserved()).slots
/** Lets the time pass for which a machine is kept. */
const endKeeping = async (runId: string): Promise<void> => {
  await sql`update runs set archive_at = now() where id = ${runId}`.execute(db)
  await sweepRuns(parts)
}
const turnOf = async (runId: string): Promise<number | undefined> =>
  (await sql<{ turn: number }>`select turn from runs where id = ${runId}`.execute(db)).rows[0]?.turn
/** Resolves once the turn has begun that the review causes: until then the Run's state is that of the turn before. */
const review = async (runId: string): Promise<void> => {
  const { prNumber, issueNumber } = await read(runId)
  const before = (await turnOf(runId)) ?? 0
  const trigger = triggerOf({ issueNumber, kind: 'review' })
  await signal({ kind: 'feedback', pullRequestNumber: prNumber!, trigger })
  await expect.poll(() => turnOf(runId)).toBe(before + 1)
}
const close = async (runId: string): Promise<void> => {
  const { prNumber } = await read(runId)
  await signal({ kind: 'closed', repository, pullRequestNumber: prNumber! })
  await sweepRuns(parts)
}

it('works in a sandbox of the warm pool without a Dock, and stays there for the next turn', async () => {
  const waiting = { dockId: newUuid(), image: 'debian-13', cpus: 2, memoryMiB: 4096, diskGiB: 20 }
  host.warmPool = [{ ...waiting, hostname: 'brave-otter', ip: '10.0.0.9' }]
  await world.report()
  host.warmPool = []
  const before = await reservedSlots()
  const id = await begin(triggerOf(), planOf('date +%s%N >>fast'))
  await until(id, 'pr_opened')
  expect(await read(id)).toMatchObject({ dockId: null, executionTarget: 'fast' })
  expect(await machineOf(id)).toBe(waiting.dockId)
  expect(await findDock(db, organizationId, waiting.dockId)).toBeNull()
  expect(await eventsOf(id)).toContain('machine_ready')
  expect(await reservedSlots()).toBe(before + 1)

  await world.report()
  const shown = await readHost(db, hostId)
  expect(shown.runs).toEqual([{ dockId: waiting.dockId, state: 'running', kind: 'fast' }])
  expect([shown.docks, shown.orphans]).toEqual([[], []])
  expect(host.sandboxes.has(waiting.dockId)).toBe(true)

  await review(id)
  await until(id, 'pr_opened')
  expect(await machineOf(id)).toBe(waiting.dockId)
  expect((await git('show', `${(await read(id)).branch}:fast`)).split('\n')).toHaveLength(2)

  await endKeeping(id)
  expect(host.sandboxes.has(waiting.dockId)).toBe(false)
  expect((await readHost(db, hostId)).runs).toEqual([])
  expect(await reservedSlots()).toBe(before)
  await close(id)
})

it('gets another machine for feedback once its own has gone, with the session of the agent', async () => {
  const session = '"$HOME/.dock/session"'
  const id = await begin(
    triggerOf(),
    planOf(`mkdir -p ${session}; date +%s%N >>${session}/turns; cp ${session}/turns turns
      date +%s%N >>.git/opencode; cp .git/opencode projects`),
  )
  await until(id, 'pr_opened')
  const first = await machineOf(id)
  await endKeeping(id)
  await rm(join(fakeProcessFolder(), '.dock/session'), { recursive: true })
  await rm(join(fakeProcessFolder(), 'work/app/.git/opencode'))
  await review(id)
  await until(id, 'pr_opened')
  expect(await machineOf(id)).not.toBe(first)
  for (const file of ['turns', 'projects'])
    expect((await git('show', `${(await read(id)).branch}:${file}`)).split('\n')).toHaveLength(2)
  const sealed = () =>
    sql<{ sealed: string }>`select session_sealed as sealed from runs where id = ${id}`.execute(db)
  expect((await sealed()).rows[0]!.sealed).toEqual(expect.any(String))
  await close(id)
  expect((await sealed()).rows[0]!.sealed).toBeNull()
  expect(await machineOf(id)).toBeUndefined()
})

it('keeps no machine between turns under zero data retention', async () => {
  const policy = (isOn: boolean) =>
    sql`update organizations set retention_enabled = ${isOn} where id = ${organizationId}`.execute(db)
  await policy(true)
  const id = await begin(triggerOf(), planOf('date +%s%N >>retained'))
  await until(id, 'pr_opened')
  const first = await machineOf(id)
  await review(id)
  await until(id, 'pr_opened')
  expect(await machineOf(id)).not.toBe(first)
  expect(host.sandboxes.has(first!)).toBe(false)
  await sweepRuns(parts)
  expect(await machineOf(id)).toBeUndefined()
  await policy(false)
  await close(id)
})

it('becomes one Dock by twenty promotions at once, with the same processes', async () => {
  const id = await begin(triggerOf(), planOf('echo begun; sleep 600'))
  await expect.poll(() => logOf(id), { timeout: 30_000 }).toBe('begun\n')
  const machine = (await machineOf(id))!
  const [before, starts] = [await reservedSlots(), host.starts.length]
  const running = async () => {
    const processes = (await host.listKept({ hostId, dockId: machine })).processes
    return processes.filter(({ end }) => end === null).map(({ processId }) => processId)
  }
  const processes = await running()
  expect(processes).toHaveLength(1)
  // The machine counts as the Dock that it becomes, and as no second one.
  await sql`insert into organization_limits (organization_id, docks) values (${organizationId}, 1)`.execute(
    db,
  )
  await expect(world.create()).rejects.toMatchObject({ code: 'concurrency_exceeded' })

  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => promoteRun(runs.context, world.caller, id, {})),
  )
  const made = outcomes.filter(({ status }) => status === 'fulfilled')
  expect(made).toHaveLength(1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'run_not_promotable' })
  expect(await read(id)).toMatchObject({
    dockId: machine,
    executionTarget: 'dock',
    createdBy: world.caller.userId,
  })
  expect(await findDock(db, organizationId, machine)).toMatchObject({ state: 'ready', hostId, generation: 1 })
  expect((await eventsOf(id)).filter((type) => type === 'promoted')).toHaveLength(1)
  expect([await reservedSlots(), host.starts.length]).toEqual([before, starts])
  expect((await readHost(db, hostId)).runs).toEqual([])
  await world.report()
  expect(await running()).toEqual(processes)

  const exec = () =>
    execInDock(world.modules.context, world.caller, machine, {
      command: 'true',
      timeoutSeconds: 5,
      env: {},
      cwd: '/',
    })
  await expect(exec()).rejects.toMatchObject({ code: 'exec_unavailable' })
  await signal({ kind: 'issue_closed', repository, issueNumber: (await read(id)).issueNumber })
  await until(id, 'stopped')
  expect(await exec()).toMatchObject({ exitCode: 0 })
  await sql`delete from organization_limits where organization_id = ${organizationId}`.execute(db)
})

it('passes the gates of a create before it becomes a Dock', async () => {
  const id = await begin(triggerOf(), planOf('echo begun; sleep 600'))
  await expect.poll(() => logOf(id), { timeout: 30_000 }).toBe('begun\n')
  const pass = (isOn: boolean) =>
    sql`update environment_versions set pass_secrets = ${isOn}, var_names = ${isOn ? ['A'] : []}::text[]
      where organization_id = ${organizationId}`.execute(db)
  await pass(true)
  const promote = () => promoteRun(runs.context, world.caller, id, {})
  await expect(promote()).rejects.toMatchObject({ code: 'environment_secrets_admin_only' })
  await pass(false)
  await expect(promoteRun(runs.context, world.stranger, id, {})).rejects.toMatchObject({
    code: 'dock_not_found',
  })
  expect(await promote()).toMatchObject({ executionTarget: 'dock' })
  await signal({ kind: 'issue_closed', repository, issueNumber: (await read(id)).issueNumber })
  await until(id, 'stopped')
})

it('waits without a host, and gets a Dock if it is promoted meanwhile', async () => {
  host.online = false
  const id = await begin(triggerOf(), planOf('echo promoted >promoted'))
  await expect.poll(() => turns.comments.get(id), { timeout: 30_000 }).toHaveLength(1)
  expect((await read(id)).state).toBe('pending')
  const promoted = await promoteRun(runs.context, world.caller, id, {})
  expect(promoted).toMatchObject({ executionTarget: 'dock', dockId: null })
  host.online = true
  await until(id, 'pr_opened')
  expect(await turns.stateOfDock(id)).toMatch(/ready|idle|running/)
})

it('ends its machine when it is stopped', async () => {
  const id = await begin(triggerOf(), planOf('echo begun; sleep 600'))
  await expect.poll(() => logOf(id), { timeout: 30_000 }).toBe('begun\n')
  const machine = (await machineOf(id))!
  await signal({ kind: 'issue_closed', repository, issueNumber: (await read(id)).issueNumber })
  await until(id, 'stopped')
  await expect.poll(() => host.sandboxes.has(machine)).toBe(false)
})

it('orders a host to end a machine that it cannot end now', async () => {
  const id = await begin(triggerOf(), planOf('echo begun; sleep 600'))
  await expect.poll(() => logOf(id), { timeout: 30_000 }).toBe('begun\n')
  const machine = (await machineOf(id))!
  host.failures.set('destroy', ['unlinked'])
  await signal({ kind: 'issue_closed', repository, issueNumber: (await read(id)).issueNumber })
  await until(id, 'stopped')
  await expect.poll(() => machineOf(id)).toBeUndefined()
  expect(host.sandboxes.has(machine)).toBe(true)
  await world.report()
  expect(host.sandboxes.has(machine)).toBe(false)
  expect((await sql`select 1 from host_orders`.execute(db)).rows).toEqual([])
  await world.report()
  expect((await readHost(db, hostId)).orphans).toEqual([])
})

it('fails if its machine is lost', async () => {
  const id = await begin(triggerOf(), planOf('echo begun; sleep 60'))
  await expect.poll(() => logOf(id), { timeout: 30_000 }).toBe('begun\n')
  host.sandboxes.delete((await machineOf(id))!)
  world.clock.advance(6_000)
  await world.report()
  await until(id, 'failed: The machine')
  expect((await eventsOf(id)).slice(-2)).toEqual(['host_lost', 'failed'])
})

it('tries a second machine if the first one does not start, and then fails', async () => {
  const before = await reservedSlots()
  host.failures.set('start', ['failed'])
  const id = await begin(triggerOf(), planOf('echo second >second'))
  await until(id, 'pr_opened')
  await close(id)
  host.failures.set('start', ['failed', 'failed'])
  const failing = await begin(triggerOf(), planOf('true'))
  await until(failing, 'failed: The machine of the Run did not start')
  await expect.poll(reservedSlots).toBe(before)
})

it('does everything once if each step runs twice', async () => {
  const starts = host.starts.length
  const id = await turns.insert(triggerOf(), planOf('date +%N >twice'))
  turns.repeated.add(id!)
  runs.sink.wake()
  await until(id!, 'pr_opened')
  expect(host.starts).toHaveLength(starts + 1)
  const words = await eventsOf(id!)
  expect(new Set(words).size).toBe(words.length)
  await close(id!)
})

it('is not seen by a create that its machine was taken from', async () => {
  const waiting = { dockId: newUuid(), image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 1 }
  await sql`insert into run_machines (id, run_id, organization_id, workspace_id, turn, hostname, image, cpus, memory_mib,
      disk_gib, runtime, host_id, state, state_changed_at, placed, environment, env_passes, marks, no_env, created_by,
      created_at)
    values (${waiting.dockId}, ${newUuid()}, ${organizationId}, ${world.workspaceId}, 1, 'old', 'debian-13', 1, 512, 1,
      'gvisor', ${hostId}, 'ended', now(), false, 'default', false, '{}', true, 'x', now())`.execute(db)
  host.warmPool = [{ ...waiting, hostname: 'stale-claim', ip: '10.0.0.9' }]
  await world.report()
  const made = await createDock(world.modules.context, world.caller, world.body(), undefined)
  expect(made.id).not.toBe(waiting.dockId)
})

// Last, because it leaves a Dock, and others count the Docks of the organization.
it('restores the session if a promotion comes between the claim of a later machine and the restore', async () => {
  const session = '"$HOME/.dock/session"'
  const id = await begin(
    triggerOf(),
    planOf(`mkdir -p ${session}; date +%s%N >>${session}/promoted; cp ${session}/promoted promoted`),
  )
  await until(id, 'pr_opened')
  await endKeeping(id)
  await rm(join(fakeProcessFolder(), '.dock/session'), { recursive: true })
  const { machines } = world.modules.docks
  const { boot } = machines
  const promoting = vi.spyOn(machines, 'boot').mockImplementationOnce(async (...words) => {
    await boot(...words)
    await promoteRun(runs.context, world.caller, id, {})
  })
  await review(id)
  await expect.poll(() => promoting.mock.results.length).toBeGreaterThan(0)
  await promoting.mock.results[0]?.value
  await until(id, 'pr_opened')
  promoting.mockRestore()
  expect(await read(id)).toMatchObject({ executionTarget: 'dock', dockId: expect.any(String) })
  expect((await git('show', `${(await read(id)).branch}:promoted`)).split('\n')).toHaveLength(2)
  await close(id)
})
