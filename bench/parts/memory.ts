/** Memory of the server's processes: RSS of the programs, PSS of PostgreSQL, whose processes share pages. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BenchServer, print, processOf, residentMiB } from './bench-server.ts'

/** Returns a process's proportional set size (PSS) in MiB, or 0 if the process has ended. */
export async function proportionalMiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

const childrenOf = async (parent: number): Promise<number[]> => {
  const found: number[] = []
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const status = await readFile(`/proc/${entry}/status`, 'utf8').catch(() => '')
    if (new RegExp(`^PPid:\\s+${parent}$`, 'm').test(status)) found.push(Number(entry))
  }
  return found
}

/** Prints the memory of the control plane, the agent and PostgreSQL in one line. */
export async function printMemory(server: BenchServer, when: string): Promise<void> {
  const port = String(server.port)
  const control = await residentMiB(await processOf('apps/control-plane/src/main.ts', port))
  const agent = await residentMiB(
    await processOf('apps/host-agent/src/main.ts', `DOCK_HOST_DIR=${server.dataDir}/`),
  )
  const lock = await readFile(join(server.dataDir, 'control/pg/postmaster.pid'), 'utf8')
  const postmaster = Number(lock.split('\n')[0])
  const database = sum(
    await Promise.all([postmaster, ...(await childrenOf(postmaster))].map(proportionalMiB)),
  )
  print(
    `memory, ${when}: control plane ${control.toFixed(0)} MiB, agent ${agent.toFixed(0)} MiB, PostgreSQL ${database.toFixed(0)} MiB`,
  )
}
