/**
 * The processes of a sandbox. Its sentry lists them over the control socket, which is gVisor's private interface; where
 * that is not as this driver knows it, `runsc ps` lists them, in 20 ms and more.
 */
import type { SandboxProcess } from '@dock/runtime'
import { asPlatformKnows } from './platform-processes.ts'
import type { Runsc } from './runsc.ts'
import type { Sentry } from './sentry.ts'

const listMs = 10_000
/** What stands between the cells of its table. */
const gap = /\t| {3,}/

/** Throws what the sentry said when neither lists them. */
export async function listProcesses(
  runsc: Pick<Runsc, 'run'>,
  sandbox: { id: string; sentry(): Promise<Pick<Sentry, 'processes'>> },
): Promise<SandboxProcess[]> {
  try {
    return await (await sandbox.sentry()).processes()
  } catch (error) {
    // As a table: in JSON it tells nothing but the numbers.
    const { code, stdout } = await runsc.run(['ps', sandbox.id], listMs)
    const found = code === 0 ? processesIn(stdout) : []
    // There always is a process 1: a list without it was not understood, and would make a busy sandbox idle.
    if (!found.some(({ pid }) => pid === 1)) throw error
    return found
  }
}

/** A tenant names its processes as it likes, over several lines too: a line that begins no process is left out. */
const processesIn = (table: string): SandboxProcess[] => {
  const [titles = [], ...rows] = table.split('\n').map((line) => line.split(gap))
  const listed = rows.map((cells) => ({
    ...{ uid: Number(cells[0]), pid: Number(cells[1]), parentPid: Number(cells[2]) },
    name: cells[titles.length - 1] ?? '',
  }))
  return asPlatformKnows(listed.filter(({ pid }) => pid > 0))
}
