/** A server that outlived the process that started it: recognised by the cluster's own lock file, then ended. */
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Identity, readOwnFile, runInFolderOf } from '@dock/foundation'

/** A process that ended but was never reaped by its parent is as good as gone. */
const isAlive = async (pid: number): Promise<boolean> => {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return status !== undefined && status[status.lastIndexOf(')') + 2] !== 'Z'
}

/**
 * The pid of the server that runs on this cluster now. A postmaster's working folder is its data folder. The user that
 * it runs as writes the lock file, so a process of anybody else's is not it.
 */
export async function findServer(
  dataDir: string,
  identity: Identity | undefined,
): Promise<number | undefined> {
  const lock = await readOwnFile(join(dataDir, 'postmaster.pid'), identity).catch(() => undefined)
  const pid = Number.parseInt(lock?.split('\n')[0] ?? '', 10)
  if (!Number.isInteger(pid) || pid <= 1 || !(await isAlive(pid))) return undefined
  // The pid may belong to something else by now, after a reboot for example.
  const [ours, theirs, server] = await Promise.all(
    [dataDir, `/proc/${pid}/cwd`, `/proc/${pid}`].map((path) => stat(path).catch(() => undefined)),
  )
  if (server?.uid !== (identity?.uid ?? process.getuid?.())) return undefined
  return ours && theirs && theirs.dev === ours.dev && theirs.ino === ours.ino ? pid : undefined
}

/** Resolves to whether the process has ended within `timeoutMs`. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (await isAlive(pid)) {
    if (Date.now() > deadline) return false
    await delay(20)
  }
  return true
}

/**
 * Ends a server: fast shutdown (sessions are cut, a checkpoint is written), after `fastMs` immediate shutdown
 * (recovery at the next start, nothing acknowledged is lost).
 */
export async function endServer(pid: number, fastMs = 30_000): Promise<void> {
  for (const [signal, patienceMs] of [
    ['SIGINT', fastMs],
    ['SIGQUIT', 10_000],
  ] as const) {
    if (!(await isAlive(pid))) return
    process.kill(pid, signal)
    if (await waitForEnd(pid, patienceMs)) return
  }
  throw new Error(`PostgreSQL (pid ${pid}) does not end`)
}

/**
 * Removes the lock files of a server that is gone, once {@link findServer} has found none. The server itself would
 * respect them as long as any process has the number in them, a zombie or somebody else.
 */
export async function removeStaleLocks(
  dataDir: string,
  socketPath: string,
  identity: Identity | undefined,
): Promise<void> {
  for (const path of [join(dataDir, 'postmaster.pid'), `${socketPath}.lock`])
    await runInFolderOf(identity, dirname(path), ['rm', '--force', '--', path])
}
