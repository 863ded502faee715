/** Identifies a process by pid, start time and boot id, so that a later process with the same pid is not mistaken for it. */
import { readFile, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { writeFileDurably } from '@dock/foundation'

export type ProcessIdentity = { pid: number; startTicks: string; boot: string }

const readStartTicks = async (pid: number): Promise<string | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // Count fields after the last parenthesis, because the name may contain anything: state is 0, start time 19.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19]
}

const readBoot = async (): Promise<string> =>
  (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()

/** Returns the identity of a running process, or undefined if it has ended. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const startTicks = await readStartTicks(pid)
  return startTicks === undefined ? undefined : { pid, startTicks, boot: await readBoot() }
}

/** True if this process is still running. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await readStartTicks(identity.pid)) === identity.startTicks && (await readBoot()) === identity.boot
}

/** Records a process in a file for a later start. */
export function writePidFile(path: string, identity: ProcessIdentity): Promise<void> {
  return writeFileDurably(path, `${JSON.stringify(identity)}\n`)
}

export function removePidFile(path: string): Promise<void> {
  return rm(path, { force: true })
}

/** Returns the running process that a pid file names, or undefined. */
export async function readPidFile(path: string): Promise<ProcessIdentity | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const identity = JSON.parse(text) as ProcessIdentity
    return (await isAlive(identity)) ? identity : undefined
  } catch {
    return undefined
  }
}

/** Resolves with true if the process ends within `timeoutMs`, otherwise with false. */
export async function waitForEnd(
  identity: ProcessIdentity,
  timeoutMs: number,
  everyMs = 20,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (await isAlive(identity)) {
    if (Date.now() > deadline) return false
    await delay(everyMs)
  }
  return true
}

/** Sends `signal`, then SIGKILL if the process has not ended after `patienceMs`. */
export async function endProcess(
  identity: ProcessIdentity,
  patienceMs: number,
  signal: NodeJS.Signals = 'SIGTERM',
): Promise<void> {
  for (const [send, waitMs] of [
    [signal, patienceMs],
    ['SIGKILL', 5_000],
  ] as const) {
    try {
      if (await isAlive(identity)) process.kill(identity.pid, send)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    if (await waitForEnd(identity, waitMs)) return
  }
}
