/** A process told apart from a later one of the same number: its pid together with its start time. */
import { readFile, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { writeFileDurably } from '@dock/foundation'

export type ProcessIdentity = { pid: number; startTicks: string; boot: string }

const readStartTicks = async (pid: number): Promise<string | undefined> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name in parentheses may hold anything, so fields are counted from its end: state is 0, start time 19.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19]
}

const readBoot = async (): Promise<string> =>
  (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()

/** The identity of a living process, or undefined when it has ended. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  const startTicks = await readStartTicks(pid)
  return startTicks === undefined ? undefined : { pid, startTicks, boot: await readBoot() }
}

/** Whether this very process still lives. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await readStartTicks(identity.pid)) === identity.startTicks && (await readBoot()) === identity.boot
}

/** Notes a process in a file, for a later start to find. */
export function writePidFile(path: string, identity: ProcessIdentity): Promise<void> {
  return writeFileDurably(path, `${JSON.stringify(identity)}\n`)
}

export function removePidFile(path: string): Promise<void> {
  return rm(path, { force: true })
}

/** The living process that a pid file names, or undefined. */
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

/** Resolves to whether the process has ended within `timeoutMs`. */
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

/** Sends `signal`, and SIGKILL when the process has not ended `patienceMs` later. */
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
