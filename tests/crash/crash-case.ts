/**
 * One crash: an operation is stopped at a named place, one of the three processes is killed there with SIGKILL, and the
 * server, left to itself, must be whole again within the time: the machine and the database agree, what was
 * acknowledged is there, nothing is left behind, and the supervisor has lived through it.
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
export type CrashResult = CrashCase & { problems: string[]; recoveredMs: number }

/** From the kill until everything holds again. */
const recoveryMsMax = 60_000
const hitMsMax = 60_000
/** A stop answers at its capture: what it comes to afterwards comes soon. */
const afterAnswerMsMax = 5_000

export function nameOf({ operation, place, victim }: CrashCase): string {
  return `${operation} / ${place} / ${victim}`
}

const until = async <T>(what: string, ask: () => Promise<T | null>, timeoutMs: number): Promise<T> => {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs / 1000} s`)
    await delay(25)
  }
}

const requireProcess = (world: CrashWorld, victim: Victim): Promise<number> =>
  until(`a process ${victim}`, () => processOf(victim, world), recoveryMsMax)

/** Docks that read ready and run no command: the host's last words may have been heard after its agent's end. */
const silentDocks = async (world: CrashWorld): Promise<string[]> => {
  const docks = await world.client.call('listDocks', { query: {} })
  const ready = docks.filter(({ state }) => isReadyDockState(state))
  const silent = ready.map(({ id, name, state }) =>
    run(world, id, 'true').then(
      () => [],
      (error: Error) => [`Dock ${name} is ${state} and answers: ${error.message}`],
    ),
  )
  return (await Promise.all(silent)).flat()
}

/**
 * What is wrong now; an empty list when all is whole and the host has spoken since the time, by the agent that is there:
 * a control plane that stood still hears the last words of an earlier one later.
 */
const problemsNow = async (world: CrashWorld, since: number): Promise<string[]> => {
  const agent = await processOf('agent', world)
  if (agent === null) return ['there is no agent']
  try {
    const health = await fetch(`${world.admin.baseUrl}/health`, { signal: AbortSignal.timeout(2_000) })
    await health.body?.cancel()
    if (health.status !== 200) return [`the health is ${health.status}`]
    const hosts = await world.client.call('listHosts', {})
    const from = Math.max(since, await startOfProcess(agent))
    const heard = hosts.filter(({ lastHeartbeatAt }) => Date.parse(lastHeartbeatAt ?? '') >= from)
    if (heard.length === 0) return ['the host is silent']
    const recorded = await readRecorded(world.dataDir)
    const found = await readFound(world.dataDir, agent, recorded.everyDock)
    const problems = disagreements(recorded, found)
    return problems.length > 0 ? problems : await silentDocks(world)
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Waits until nothing is wrong, and answers what is at the end of the time. */
export async function settle(world: CrashWorld, since: number): Promise<string[]> {
  const deadline = Date.now() + recoveryMsMax
  for (;;) {
    const problems = await problemsNow(world, since)
    if (problems.length === 0 || Date.now() > deadline) return problems
    await delay(200)
  }
}

/** Waits until the call has brought a process to the place, kills, lets go. */
export async function breakOff(
  world: CrashWorld,
  { place, victim }: Omit<CrashCase, 'operation'>,
  call: Promise<unknown>,
): Promise<void> {
  const stopped: Victim = place.startsWith('agent:') ? 'agent' : 'control-plane'
  let endedAt = Number.POSITIVE_INFINITY
  const ended = (): void => {
    endedAt = Date.now()
  }
  call.then(ended, ended)
  const held = await requireProcess(world, stopped)
  await until(
    place,
    async () => {
      if (world.faults.hasHit(place)) return true
      if (Date.now() - endedAt > afterAnswerMsMax) throw new Error(`${place} was not reached`)
      return null
    },
    hitMsMax,
  )
  await until('the stop', async () => ((await stateOfProcess(held)) === 'T' ? true : null), hitMsMax)
  const target = victim === stopped ? held : await requireProcess(world, victim)
  process.kill(target, 'SIGKILL')
  await until('the end', async () => ((await stateOfProcess(target)) === null ? true : null), hitMsMax)
  if (target !== held) process.kill(held, 'SIGCONT')
}

/** Lets go what a case that failed may have left stopped. */
const letGo = async (world: CrashWorld): Promise<void> => {
  await world.faults.clear()
  for (const victim of ['agent', 'control-plane'] as const) {
    const pid = await processOf(victim, world)
    if (pid !== null) process.kill(pid, 'SIGCONT')
  }
}

/** Runs one case and removes what it made. */
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
    await breakOff(world, crash, call)
    const begin = Date.now()
    problems.push(...(await settle(world, begin)))
    recoveredMs = Date.now() - begin
    if (problems.length === 0) problems.push(...(await verify(world, operation, prepared, await answered)))
    if (problems.length === 0) problems.push(...(await settle(world, begin)))
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error))
  }
  await letGo(world)
  problems.push(...(await cleanUp(world)))
  return { ...crash, problems, recoveredMs }
}

/** Deletes every Dock, once nothing is under way; afterwards the machine must be empty. */
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
