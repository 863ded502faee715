/**
 * The agent of a host with four Docks is killed 20 times at random moments, while kept processes write and read, commands run,
 * files move, terminals and ports are in use. On a host of microVMs the pump is killed too.
 */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { cleanUp, settle } from '../../crash/crash-case.ts'
import { createCrashWorld, endCrashWorld } from '../../crash/crash-world.ts'
import { processOf } from '../../crash/processes.ts'
import { processesOf } from '../../e2e/support/app-process.ts'
import { createDock, run } from '../../e2e/support/dock.ts'
import { removeDataDir } from '../../e2e/support/server.ts'
import type { Check } from './check.ts'
import { type KeptLines, startEcho, startWriter } from './kept-lines.ts'
import { startLoad } from './load.ts'
import { runFolderOf } from './run-folder.ts'

const docksCount = 4
const killsCount = 20
const pumpKills = 3
const pauseMsMax = 4_000
const waitMsMax = 120_000

/** What callers hear on a host of gVisor. What else is heard on one of microVMs is a fault. */
const known = new Set([
  ...['exec: ok', 'exec: no response', 'exec: exec_busy', 'exec: exec_failed', 'exec: rate_limited'],
  ...['upload: ok', 'upload: no response', 'upload: exec_busy', 'upload: service_unavailable'],
  ...['download: ok', 'download: no response', 'download: exec_busy', 'download: service_unavailable'],
  ...['port: 200', 'port: 502', 'port: no response'],
  ...['terminal: 1011, exit code null', 'terminal: no response', 'terminal: rate_limited'],
  // Those that are open at the end are ended in order.
  'terminal: 1000, exit code 9',
])

type World = Awaited<ReturnType<typeof createCrashWorld>>

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (const deadline = Date.now() + waitMsMax; !(await holds()); await delay(50))
    if (Date.now() > deadline) throw new Error(`waited ${waitMsMax / 1000} s for ${what}`)
}

/** Waits until every kept process has written or read something more. */
const goOn = async (kept: readonly KeptLines[]): Promise<void> => {
  const before = kept.map((each) => each.count())
  await until('all kept processes', async () => kept.every((each, index) => each.count() > before[index]!))
}

const killAgents = async (world: World, kept: readonly KeptLines[]): Promise<void> => {
  for (let kills = 0; kills < killsCount; ) {
    await delay(Math.random() * pauseMsMax)
    const agent = await processOf('agent', world)
    if (agent === null) continue
    process.kill(agent, 'SIGKILL')
    kills += 1
    // Every other kill may come before the next agent has taken everything over.
    if (kills % 2 === 0) await goOn(kept)
  }
}

/** Its processes end, are gone from the Docks, and their ends say why; Docks and later processes do not notice. */
const killPump = async (
  world: World,
  ids: readonly string[],
  check: Check,
  options: { withAgent: boolean },
): Promise<void> => {
  const kept = await Promise.all(ids.map((id, index) => startWriter(world, id, `lost${index}`)))
  await goOn(kept)
  const [pump] = await processesOf('microvm-pump', await runFolderOf(world))
  const agent = options.withAgent ? await processOf('agent', world) : null
  if (pump !== undefined) process.kill(pump, 'SIGKILL')
  if (agent !== null) process.kill(agent, 'SIGKILL')
  const how = options.withAgent ? 'pump and agent killed' : 'pump killed'
  check(`${how}: it was found`, pump !== undefined)
  const ends = await Promise.all(kept.map((each) => each.ended()))
  const reasons = ends.map(({ reason }) => reason).join(', ')
  check(
    `${how}: its processes end as keeper_lost`,
    reasons === ids.map(() => 'keeper_lost').join(', '),
    reasons,
  )
  const left = await Promise.all(ids.map((id) => run(world, id, "pgrep -fa '^perl.*lost[0-9]' || true")))
  check(`${how}: they are gone from their Docks`, left.join('') === '', left.join(''))
  const next = await Promise.all(ids.map((id) => startWriter(world, id, 'next')))
  await goOn(next)
  const problems = (await Promise.all(next.map((each) => each.finish()))).flat()
  check(`${how}: later processes are whole`, problems.length === 0, problems.join('; '))
  await Promise.all(ids.map((id) => run(world, id, 'rm -f /tmp/enough-*')))
}

const proveOn = async (world: World, check: Check, print: (line: string) => void): Promise<void> => {
  const ids: string[] = []
  while (ids.length < docksCount) ids.push((await createDock(world, { name: `kills-${ids.length}` })).id)
  const kept = (
    await Promise.all(ids.map((id) => Promise.all([startWriter(world, id, 'w'), startEcho(world, id)])))
  ).flat()
  await goOn(kept)
  const loads = await Promise.all(ids.map((id) => startLoad(world, id)))
  const begin = Date.now()
  await killAgents(world, kept)
  print(`        ${killsCount} kills in ${((Date.now() - begin) / 1000).toFixed(0)} s`)
  await goOn(kept)
  const ofKept = (await Promise.all(kept.map((each) => each.finish()))).flat()
  const lines = kept.reduce((sum, each) => sum + each.count(), 0)
  check(`kept processes: none of ${lines} lines is lost or doubled`, ofKept.length === 0, ofKept.join('; '))
  const ofLoads = (await Promise.all(loads.map((load) => load.finish()))).flat()
  check('every answer is right, and nothing is left in the Docks', ofLoads.length === 0, ofLoads.join('\n  '))
  const outcomes = new Map<string, number>()
  for (const load of loads)
    for (const [key, times] of load.outcomes) outcomes.set(key, (outcomes.get(key) ?? 0) + times)
  for (const [key, times] of [...outcomes].toSorted()) print(`        ${times} × ${key}`)
  check(
    'commands, transfers and ports were answered between the kills',
    ['exec: ok', 'upload: ok', 'download: ok', 'port: 200'].every((key) => (outcomes.get(key) ?? 0) > 4),
  )
  const strange = [...outcomes.keys()].filter((key) => !known.has(key))
  check('every other answer is one that gVisor gives', strange.length === 0, strange.join('; '))
  if (process.env['DOCK_RUNTIME'] === 'microvm')
    for (let kills = 0; kills < pumpKills; kills += 1)
      await killPump(world, ids, check, { withAgent: kills === pumpKills - 1 })
  const unsettled = await settle(world, Date.now())
  check('machine and database agree', unsettled.length === 0, unsettled.join('; '))
  const left = await cleanUp(world)
  check('deleted Docks leave nothing on the host', left.length === 0, left.join('; '))
}

/** Prints what was found, and ends the server whatever happens. */
export async function proveKills(check: Check, print: (line: string) => void): Promise<void> {
  const world = await createCrashWorld()
  const { dataDir } = world
  const runFolder = await runFolderOf(world)
  try {
    await proveOn(world, check, print)
  } catch (error) {
    check('the part ran to its end', false, String(error))
  }
  await endCrashWorld(world, dataDir)
  const processes = await processesOf(dataDir)
  check('no process is left after the server', processes.length === 0, processes.join(', '))
  const machines = await readdir(join(runFolder, 'm')).catch((): string[] => [])
  const sockets = [...machines, ...(existsSync(join(runFolder, 'pump.sock')) ? ['pump.sock'] : [])]
  check('no socket of a machine is left', sockets.length === 0, sockets.join(', '))
  await removeDataDir(dataDir)
}
