/** A server that outlived the process that started it: recognised by the cluster's own lock file, then ended. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The pid of the server that runs on this cluster now. A postmaster's working folder is its data folder. */
export const findServer = async (dataDir: string): Promise<number | undefined> => {
  const lock = await readFile(join(dataDir, 'postmaster.pid'), 'utf8').catch(() => undefined)
  const pid = Number.parseInt(lock?.split('\n')[0] ?? '', 10)
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return undefined
  // The pid may belong to something else by now, after a reboot for example.
  const [ours, theirs] = await Promise.all([stat(dataDir), stat(`/proc/${pid}/cwd`).catch(() => undefined)])
  return theirs && theirs.dev === ours.dev && theirs.ino === ours.ino ? pid : undefined
}

/** Resolves to whether the process has ended within `timeoutMs`. */
export const waitForEnd = async (pid: number, timeoutMs: number): Promise<boolean> => {
  const deadline = Date.now() + timeoutMs
  while (isAlive(pid)) {
    if (Date.now() > deadline) return false
    await delay(20)
  }
  return true
}

/**
 * Ends a server: fast shutdown (sessions are cut, a checkpoint is written), after `fastMs` immediate shutdown
 * (recovery at the next start, nothing acknowledged is lost).
 */
export const endServer = async (pid: number, fastMs = 30_000): Promise<void> => {
  for (const [signal, patienceMs] of [
    ['SIGINT', fastMs],
    ['SIGQUIT', 10_000],
  ] as const) {
    if (!isAlive(pid)) return
    process.kill(pid, signal)
    if (await waitForEnd(pid, patienceMs)) return
  }
  throw new Error(`PostgreSQL (pid ${pid}) does not end`)
}
