/**
 * Lists the processes of a sandbox. The sentry lists them over the control socket, a private interface of gVisor. If
 * that interface has changed, `runsc ps` lists them, which takes 20 ms or more.
 */
import type { SandboxProcess } from '@dock/runtime'
import type { Runsc } from '../runsc/runsc.ts'
import { flagPlatformProcesses } from './platform-processes.ts'
import type { Sentry } from './sentry.ts'

const listMs = 10_000
/** Separator of the columns of `runsc ps`. */
const gap = /\t| {3,}/

/** Throws the sentry's error if neither way works. */
export async function listProcesses(
  runsc: Pick<Runsc, 'run'>,
  sandbox: { runscName: string; sentry(): Promise<Pick<Sentry, 'processes'>> },
): Promise<SandboxProcess[]> {
  try {
    return await (await sandbox.sentry()).processes()
  } catch (error) {
    // As a table: the JSON output contains only pids.
    const { code, stdout } = await runsc.run(['ps', sandbox.runscName], listMs)
    const found = code === 0 ? processesIn(stdout) : []
    // A list without process 1 was parsed wrongly, and would make a busy sandbox look idle.
    if (!found.some(({ pid }) => pid === 1)) throw error
    return found
  }
}

/** Tenants choose process names, which may contain line breaks. Lines that do not start with a process are skipped. */
const processesIn = (table: string): SandboxProcess[] => {
  const [titles = [], ...rows] = table.split('\n').map((line) => line.split(gap))
  const listed = rows.map((cells) => ({
    ...{ uid: Number(cells[0]), pid: Number(cells[1]), parentPid: Number(cells[2]) },
    name: cells[titles.length - 1] ?? '',
  }))
  return flagPlatformProcesses(listed.filter(({ pid }) => pid > 0))
}
