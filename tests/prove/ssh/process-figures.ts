/** What the processes of a server hold: open files, memory, programs in a Dock, and kept output. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchServer, residentMiB } from '../../../bench/parts/bench-server.ts'
import { processOf } from '../../crash/processes.ts'
import { run } from '../../e2e/support/dock.ts'

export type Figures = {
  controlPlaneFiles: number
  agentFiles: number
  controlPlaneMiB: number
  agentMiB: number
  processesInDock: number
  keeperFiles: number
}

const openFiles = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length

const filesBelow = async (folder: string): Promise<number> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])).filter(
    (each) => !each.isDirectory(),
  ).length

/** Returns what is held now. */
export async function measureFigures(server: BenchServer, dockId: string): Promise<Figures> {
  const [controlPlane, agent] = await Promise.all([
    processOf('control-plane', server),
    processOf('agent', server),
  ])
  if (controlPlane === null || agent === null) throw new Error('a process of the server does not run')
  return {
    controlPlaneFiles: await openFiles(controlPlane),
    agentFiles: await openFiles(agent),
    controlPlaneMiB: Math.round(await residentMiB(controlPlane)),
    agentMiB: Math.round(await residentMiB(agent)),
    processesInDock: Number(await run(server, dockId, 'ls -d /proc/[0-9]* | wc -l')),
    keeperFiles: await filesBelow(join(server.dataDir, 'host/processes')),
  }
}

/** Idle connections of pools come and go, and so do the processes of a shell that writes and pauses. */
const allowances = { controlPlaneFiles: 8, agentFiles: 8, processesInDock: 2, keeperFiles: 0 }

/**
 * Returns what is more than before; the memory of a process may have grown by `growthMiB`. Waits for it to go away for at
 * most `patienceMs`.
 */
export async function findGrowth(
  server: BenchServer,
  dockId: string,
  before: Figures,
  growthMiB = 200,
  patienceMs = 90_000,
): Promise<string[]> {
  const allowed: Figures = { ...allowances, controlPlaneMiB: growthMiB, agentMiB: growthMiB }
  for (const deadline = Date.now() + patienceMs; ; await delay(2_000)) {
    const after = await measureFigures(server, dockId)
    const grown = (Object.keys(before) as (keyof Figures)[])
      .filter((name) => after[name] > before[name] + allowed[name])
      .map((name) => `${name} ${before[name]} → ${after[name]}`)
    if (grown.length === 0 || Date.now() > deadline) return grown
  }
}

/** Reads the log of the service for errors that nobody expects. */
export async function readFatalLines(server: BenchServer): Promise<string[]> {
  const log = await readFile(join(server.dataDir, 'logs/control-plane.log'), 'utf8').catch(() => '')
  return log.split('\n').filter((line) => line.includes('"level":60'))
}
