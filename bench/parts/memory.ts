/** Memory of a server's processes. */
import { readFile } from 'node:fs/promises'
import { type BenchServer, print, residentMiB } from './bench-server.ts'
import { findServerProcesses, listDescendants, listProcesses } from './server-processes.ts'

/** Returns a process's proportional set size (PSS) in MiB, or 0 if the process has ended. */
export async function proportionalMiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

/** Returns the memory of a server's parts in MiB, by name. */
export async function readMemory({ pid }: { pid: number }): Promise<Map<string, number>> {
  const processes = await listProcesses()
  const { controlPlane, agent, postgres } = findServerProcesses(processes, pid)
  const database = [postgres, ...listDescendants(processes, postgres).map((each) => each.pid)]
  return new Map([
    ['control plane, PSS', await proportionalMiB(controlPlane)],
    ['control plane, RSS', await residentMiB(controlPlane)],
    ['agent, PSS', await proportionalMiB(agent)],
    ['agent, RSS', await residentMiB(agent)],
    // Its processes share pages, so the sum of their RSS would say nothing.
    ['PostgreSQL, PSS', sum(await Promise.all(database.map(proportionalMiB)))],
  ])
}

/** Prints the memory of the control plane, the agent and PostgreSQL in one line. */
export async function printMemory(server: BenchServer, when: string): Promise<void> {
  const parts = [...(await readMemory(server))].map(([name, mib]) => `${name} ${mib.toFixed(0)} MiB`)
  print(`memory, ${when}: ${parts.join('; ')}`)
}
