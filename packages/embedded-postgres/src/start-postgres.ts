/**
 * Runs a private PostgreSQL cluster in a folder. The server is reachable only through a Unix socket and never runs as
 * root. The cluster is created atomically (initdb in a folder next to it, then rename). At most one server runs on it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { lstat, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Identity, makeOwnFolder, requireOwnFolder, runInFolderOf } from '@dock/foundation'
import pg from 'pg'
import { findPostgresBinaries } from './find-binaries.ts'
import { endServer, findServer, removeStaleLocks } from './leftover.ts'
import { identityFor } from './system-user.ts'

export type PostgresOptions = {
  /** The cluster's folder; created if absent. */
  dataDir: string
  /** The socket's folder, created with mode 0700. The socket's path may have at most 107 bytes. */
  socketDir: string
  /** The user the server runs as if the caller is root. Default: the user `dock`. */
  uid?: number
  gid?: number
  /** The file that the server's log is appended to. */
  logPath: string
  /** Turn it off only for throw-away test clusters. Default true. */
  fsync?: boolean
  /** Additional settings, `name=value`. */
  settings?: readonly string[]
}

export type RunningPostgres = {
  /** Connection string of the database `postgres`, with the socket's folder as host. */
  url: string
  pid: number
  /** Resolves with the exit code once the server has ended for any reason. */
  ended: Promise<number | null>
  /** Fast shutdown, then immediate shutdown. Resolves when the server has ended. Idempotent. */
  stop(): Promise<void>
}

const superuser = 'dock'
const socketName = '.s.PGSQL.5432'
const socketPathMax = 107
const readyTimeoutMs = 60_000

const runToEnd = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

const logTail = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8').catch(() => '')).trimEnd().split('\n').slice(-8).join('\n')

const initialise = async (
  options: PostgresOptions,
  binaries: string,
  identity: Identity | undefined,
  log: number,
) => {
  if (await exists(join(options.dataDir, 'PG_VERSION'))) return
  const fresh = `${options.dataDir}.new`
  const inParent = (...command: [string, ...string[]]): Promise<void> =>
    runInFolderOf(identity, dirname(fresh), command)
  await inParent('rm', '--recursive', '--force', '--one-file-system', '--', fresh)
  await makeOwnFolder(fresh, identity)
  const args = ['-D', fresh, '-U', superuser, '-E', 'UTF8', '--locale=C.UTF-8', '--no-instructions']
  // Trust is safe: the socket's folder has mode 0700, so only its owner and root can reach the socket.
  args.push('--auth-local=trust', '--auth-host=reject', ...(options.fsync === false ? ['--no-sync'] : []))
  const child = spawn(join(binaries, 'initdb'), args, {
    ...identity,
    cwd: '/',
    stdio: ['ignore', log, log],
  })
  if ((await runToEnd(child)) !== 0) throw new Error(`initdb failed:\n${await logTail(options.logPath)}`)
  await inParent('rm', '--recursive', '--force', '--one-file-system', '--', options.dataDir)
  await inParent('mv', '--no-target-directory', '--', fresh, options.dataDir)
}

const canConnect = async (url: string): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

const serverArguments = (options: PostgresOptions): string[] => {
  const settings = [
    'listen_addresses=',
    'unix_socket_permissions=0700',
    'max_connections=100',
    'shared_buffers=64MB',
    // Compiling a query takes 50 ms and more, which none of the service's short queries gives back.
    'jit=off',
    'log_timezone=UTC',
    'timezone=UTC',
    ...(options.fsync === false ? ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'] : []),
    ...(options.settings ?? []),
  ]
  return ['-D', options.dataDir, '-k', options.socketDir, ...settings.flatMap((setting) => ['-c', setting])]
}

const socketUrl = (socketDir: string, database: string): string =>
  `postgresql://${superuser}@/${database}?host=${encodeURIComponent(socketDir)}`

/**
 * Starts the server and waits until it accepts connections. First ends a server left over on the same cluster. Throws
 * with the end of the log if the server does not start. Does not restart the server if it ends later.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const socketPath = join(options.socketDir, socketName)
  if (Buffer.byteLength(socketPath) > socketPathMax) {
    throw new Error(
      `The socket path is longer than ${socketPathMax} bytes: ${socketPath}. Use a shorter folder.`,
    )
  }
  const identity = await identityFor(options)
  const binaries = await findPostgresBinaries(options.dataDir)
  await makeOwnFolder(options.socketDir, identity)
  if (identity) await requireOwnFolder(options.dataDir, identity)
  const logFile = await open(options.logPath, 'a', 0o600)
  try {
    const leftover = await findServer(options.dataDir, identity)
    if (leftover !== undefined) await endServer(leftover)
    await initialise(options, binaries, identity, logFile.fd)
    await removeStaleLocks(options.dataDir, socketPath, identity)
    // Detached into its own session, so that Ctrl-C reaches only the caller. The caller then stops the server itself.
    const child = spawn(join(binaries, 'postgres'), serverArguments(options), {
      ...identity,
      // The server changes into its data folder itself, as its own user.
      cwd: '/',
      detached: true,
      stdio: ['ignore', logFile.fd, logFile.fd],
    })
    const ended = runToEnd(child)
    let alive = true
    const gone = ended.then(
      () => {
        alive = false
      },
      () => {
        alive = false
      },
    )
    const url = socketUrl(options.socketDir, 'postgres')
    const deadline = Date.now() + readyTimeoutMs
    while (!(await canConnect(url))) {
      if (!alive) throw new Error(`PostgreSQL did not start:\n${await logTail(options.logPath)}`)
      if (Date.now() > deadline) {
        if (child.pid !== undefined) await endServer(child.pid, 2_000)
        throw new Error(
          `PostgreSQL accepted no connection within ${readyTimeoutMs / 1000} s. See its log: ${options.logPath}`,
        )
      }
      await Promise.race([delay(25), gone])
    }
    const pid = child.pid
    if (pid === undefined) throw new Error('PostgreSQL has no process id')
    const stop = async (): Promise<void> => {
      if (alive) await endServer(pid)
      await gone
    }
    return { url, pid, ended, stop }
  } finally {
    await logFile.close()
  }
}
