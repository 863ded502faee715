/** Where the agent of a server keeps its sockets, and how its networks are called. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { CrashWorld } from '../../crash/crash-case.ts'
import { processOf } from '../../crash/processes.ts'

/** Returns the agent's folder under /run. */
export async function runFolderOf(world: CrashWorld): Promise<string> {
  const agent = await processOf('agent', world)
  const environment = await readFile(`/proc/${agent}/environ`, 'utf8')
  return /(?:^|\0)DOCK_RUN_DIR=([^\0]+)/.exec(environment)![1]!
}

/** Returns what the names of a host's network namespaces and packet rules contain. */
export function tagOf(instance: string): string {
  return createHash('sha256').update(instance).digest('hex').slice(0, 5)
}
