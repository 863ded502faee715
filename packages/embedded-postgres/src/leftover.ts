/** Finds and ends a server that outlived the process that started it. The cluster's lock file identifies the server. */
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Identity, readOwnFile, runInFolderOf } from '@dock/foundation'

/** Returns false also for a zombie: it has ended, only its parent has not reaped it. */
const isAlive = async (pid: number): Promise<boolean> => {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return status !== undefined && status[status.lastIndexOf(')') + 2] !== 'Z'
}

/**
 * Returns the pid of the server that runs on this cluster, or undefined. A process qualifies only if it runs as the
 * cluster's user and its working folder is the data folder, as a postmaster's is. The cluster's user can write any pid
 * into the lock file, so without these checks it could make root end another process.
 */
export async function findServer(
  dataDir: string,
  identity: Identity | undefined,
): Promise<number | undefined> {
  const lock = await readOwnFile(join(dataDir, 'postmaster.pid'), identity).catch(() => undefined)
  const pid = Number.parseInt(lock?.split('\n')[0] ?? '', 10)
  if (!Number.isInteger(pid) || pid <= 1 || !(await isAlive(pid))) return undefined
  // The pid may have been reused, for example after a reboot.
  const [ours, theirs, server] = await Promise.all(
    [dataDir, `/proc/${pid}/cwd`, `/proc/${pid}`].map((path) => stat(path).catch(() => undefined)),
  )
  if (server?.uid !== (identity?.uid ?? process.getuid?.())) return undefined
  return ours && theirs && theirs.dev === ours.dev && theirs.ino === ours.ino ? pid : undefined
}

/** Resolves to true if the process ends within `timeoutMs`, otherwise to false. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (await isAlive(pid)) {
    if (Date.now() > deadline) return false
    await delay(20)
  }
  return true
}

/**
 * Ends a server with a fast shutdown, which disconnects sessions and writes a checkpoint. After `fastMs` it uses an
 * immediate shutdown: the next start runs recovery, and no committed transaction is lost. Throws if that fails too.
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
  throw new Error(`PostgreSQL (pid ${pid}) did not shut down. Kill it, then start again.`)
}

/**
 * Removes stale lock files. Call it only after {@link findServer} returned undefined. PostgreSQL itself does not start
 * while any process has the pid in the lock file, even a zombie or an unrelated process.
 */
export async function removeStaleLocks(
  dataDir: string,
  socketPath: string,
  identity: Identity | undefined,
): Promise<void> {
  for (const path of [join(dataDir, 'postmaster.pid'), `${socketPath}.lock`])
    await runInFolderOf(identity, dirname(path), ['rm', '--force', '--', path])
}
