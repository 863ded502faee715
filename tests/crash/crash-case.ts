/**
 * One crash case. An operation is paused at a fault point, and one of the three processes is killed with SIGKILL. The
 * server must recover by itself within a minute: machine and database agree, acknowledged changes are kept, nothing is
 * left over, and the supervisor survives.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isReadyDockState } from '@dock/contract'
import { deleteDock, run } from '../e2e/support/dock.ts'
import type { Server } from '../e2e/support/server.ts'
import type { FaultFolder } from './fault-folder.ts'
import { type Operation, perform, prepare, verify } from './lifecycle.ts'
import { processOf, startOfProcess, stateOfProcess, type Victim } from './processes.ts'
import { disagreements, readFound, readRecorded } from './scan.ts'

export type CrashWorld = Server & { port: number; faults: FaultFolder }
export type CrashCase = { operation: Operation; place: string; victim: Victim }
/** Who is killed while a process is paused at the fault point. */
export type Kill = Omit<CrashCase, 'operation'>
export type CrashResult = CrashCase & { problems: string[]; recoveredMs: number }

/** Limit of the time from the kill until everything is consistent again. */
const recoveryMsMax = 60_000
const hitMsMax = 60_000
/** Some work runs after the response (a stop responds once its capture is taken), but it starts soon. */
const afterResponseMsMax = 5_000

export function nameOf({ operation, place, victim }: CrashCase): string {
  return `${operation} / ${place} / ${victim}`
}

const until = async <T>(what: string, ask: () => Promise<T | null>, timeoutMs: number): Promise<T> => {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s for ${what}`)
    await delay(25)
  }
}

const requireProcess = (world: CrashWorld, victim: Victim): Promise<number> =>
  until(`the process ${victim}`, () => processOf(victim, world), recoveryMsMax)

/**
 * Lists Docks that are ready but run no command. An event that an agent sent just before its end may have set a Dock to
 * a state that is no longer true.
 */
const unresponsiveDocks = async (world: CrashWorld): Promise<string[]> => {
  const docks = await world.client.call('listDocks', { query: {} })
  const ready = docks.filter(({ state }) => isReadyDockState(state))
  const silent = ready.map(({ id, name, state }) =>
    run(world, id, 'true').then(
      () => [],
      (error: Error) => [`Dock ${name} is ${state}, but a command failed: ${error.message}`],
    ),
  )
  return (await Promise.all(silent)).flat()
}

/**
 * Lists current problems. The host must have sent a heartbeat after `since` and after the current agent's start: a
 * paused control plane may process the last heartbeat of an earlier agent late.
 */
const problemsNow = async (world: CrashWorld, since: number): Promise<string[]> => {
  const agent = await processOf('agent', world)
  if (agent === null) return ['no agent is running']
  try {
    const health = await fetch(`${world.admin.baseUrl}/health`, { signal: AbortSignal.timeout(2_000) })
    await health.body?.cancel()
    if (health.status !== 200) return [`GET /health returned ${health.status}`]
    const hosts = await world.client.call('listHosts', {})
    const from = Math.max(since, await startOfProcess(agent))
    const heard = hosts.filter(({ lastHeartbeatAt }) => Date.parse(lastHeartbeatAt ?? '') >= from)
    if (heard.length === 0) return ['the host is silent']
    const recorded = await readRecorded(world.dataDir)
    const found = await readFound(world.dataDir, agent, recorded.everyDock)
    const problems = disagreements(recorded, found)
    return problems.length > 0 ? problems : await unresponsiveDocks(world)
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Waits until there is no problem. Returns the problems that remain after a minute. */
export async function settle(world: CrashWorld, since: number): Promise<string[]> {
  const deadline = Date.now() + recoveryMsMax
  for (;;) {
    const problems = await problemsNow(world, since)
    if (problems.length === 0 || Date.now() > deadline) return problems
    await delay(200)
  }
}

/** Returns the process that pauses at the fault point. */
const pausedAt = (place: string): Victim => (place.startsWith('agent:') ? 'agent' : 'control-plane')

/** Waits until the process is paused, kills the victim, and resumes the paused process. */
const killWhilePaused = async (world: CrashWorld, held: number, { place, victim }: Kill): Promise<void> => {
  await until('the pause', async () => ((await stateOfProcess(held)) === 'T' ? true : null), hitMsMax)
  const target = victim === pausedAt(place) ? held : await requireProcess(world, victim)
  process.kill(target, 'SIGKILL')
  await until(
    'the end of the victim',
    async () => ((await stateOfProcess(target)) === null ? true : null),
    hitMsMax,
  )
  if (target !== held) process.kill(held, 'SIGCONT')
}

/** Waits until the call has paused a process at the fault point, kills the victim, and resumes the paused process. */
export function interruptCall(world: CrashWorld, kill: Kill, call: Promise<unknown>): Promise<void> {
  return interruptAtEach(world, [kill], call)
}

/**
 * Like {@link interruptCall}, for several armed fault points of one process, in whatever order the work passes them. Throws
 * if the work ends before all have been passed.
 */
export async function interruptAtEach(
  world: CrashWorld,
  kills: readonly Kill[],
  work: Promise<unknown>,
  patienceMs = hitMsMax,
): Promise<void> {
  let endedAt = Number.POSITIVE_INFINITY
  const ended = (): void => {
    endedAt = Date.now()
  }
  work.then(ended, ended)
  const left = new Set(kills)
  while (left.size > 0) {
    const held = await requireProcess(world, pausedAt(kills[0]!.place))
    const places = [...left].map(({ place }) => place).join(', ')
    const kill = await until(
      places,
      async () => {
        const hit = [...left].find(({ place }) => world.faults.hasHit(place))
        if (!hit && Date.now() - endedAt > afterResponseMsMax) throw new Error(`${places} was not reached`)
        return hit ?? null
      },
      patienceMs,
    )
    left.delete(kill)
    await killWhilePaused(world, held, kill)
  }
}

/** Resumes processes that a failed case may have left paused. */
const resumeProcesses = async (world: CrashWorld): Promise<void> => {
  await world.faults.clear()
  for (const victim of ['agent', 'control-plane'] as const) {
    const pid = await processOf(victim, world)
    if (pid !== null) process.kill(pid, 'SIGCONT')
  }
}

/** Runs one case and deletes its Docks. */
export async function runCase(world: CrashWorld, crash: CrashCase, name: string): Promise<CrashResult> {
  const { operation, place } = crash
  const problems: string[] = []
  let recoveredMs = 0
  try {
    const prepared = await prepare(world, operation, name)
    problems.push(...(await settle(world, 0)))
    await world.faults.clear()
    await world.faults.arm(place)
    const call = perform(world, operation, prepared)
    const answered = call.then(
      () => true,
      () => false,
    )
    await interruptCall(world, crash, call)
    const begin = Date.now()
    problems.push(...(await settle(world, begin)))
    recoveredMs = Date.now() - begin
    if (problems.length === 0) problems.push(...(await verify(world, operation, prepared, await answered)))
    if (problems.length === 0) problems.push(...(await settle(world, begin)))
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
  }
  await resumeProcesses(world)
  problems.push(...(await cleanUp(world)))
  return { ...crash, problems, recoveredMs }
}

/** Deletes all Docks once no operation is running. Returns problems; afterwards the machine must be empty. */
export async function cleanUp(world: CrashWorld): Promise<string[]> {
  await settle(world, 0)
  try {
    const docks = await world.client.call('listDocks', { query: { all: true } })
    for (const { id } of docks) await deleteDock(world, id)
    return (await settle(world, 0)).map((problem) => `after deleting: ${problem}`)
  } catch (error) {
    return [`deleting: ${error instanceof Error ? error.message : String(error)}`]
  }
}
