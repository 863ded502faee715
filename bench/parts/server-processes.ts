/**
 * The processes of a server, found in the tree below its `script/server`. This works for every version of Dock, wherever it
 * keeps its programs.
 */
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'

export type Process = { pid: number; parent: number; command: readonly string[] }

/** PostgreSQL is its first process; each connection has a process of its own below it. */
export type ServerProcesses = { controlPlane: number; agent: number; postgres: number }

export async function listProcesses(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))
  const found = await Promise.all(
    pids.map(async (entry) => {
      const [stat, line] = await Promise.all([
        readFile(`/proc/${entry}/stat`, 'utf8').catch(() => ''),
        readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => ''),
      ])
      // The name before the last bracket may contain spaces and brackets.
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      return { pid: Number(entry), parent, command: line.split('\0') }
    }),
  )
  return found.filter(({ parent }) => Number.isInteger(parent))
}

/** Returns the processes below `root`, without it. */
export function listDescendants(processes: readonly Process[], root: number): Process[] {
  const children = processes.filter(({ parent }) => parent === root)
  return children.flatMap((child) => [child, ...listDescendants(processes, child.pid)])
}

/** Returns the processes of the server whose `script/server` is `root`. Throws if one of them does not run. */
export function findServerProcesses(processes: readonly Process[], root: number): ServerProcesses {
  const below = listDescendants(processes, root)
  const find = (name: string, isIt: (program: string, line: string) => boolean): number => {
    const found = below.find(({ command }) => isIt(basename(command[0] ?? ''), command.join(' ')))
    if (!found) throw new Error(`the ${name} of the server with pid ${root} does not run`)
    return found.pid
  }
  const isNode = (program: string): boolean => program === 'node'
  return {
    controlPlane: find('control plane', (program, line) => isNode(program) && line.includes('control-plane')),
    agent: find(
      'host agent',
      (program, line) => isNode(program) && line.includes('host-agent') && !line.includes('process-keeper'),
    ),
    postgres: find('PostgreSQL', (program) => program === 'postgres'),
  }
}

const nanosecondsPerMs = 1_000_000

/** Returns the milliseconds of processor time that the threads of a process have used, to the microsecond. */
export async function cpuMsOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const times = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')),
  )
  return times.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / nanosecondsPerMs
}
