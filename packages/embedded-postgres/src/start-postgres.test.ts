import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgresBinaries } from './find-binaries.ts'
import { type PostgresOptions, type RunningPostgres, startPostgres } from './start-postgres.ts'
import { identityFor } from './system-user.ts'

let folder: string
let options: PostgresOptions

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-pg-'))
  await chmod(folder, 0o755)
  options = {
    dataDir: join(folder, 'pg'),
    socketDir: join(folder, 'run'),
    logPath: join(folder, 'log'),
    fsync: false,
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const query = async (server: { url: string }, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Another process that starts the cluster and is then killed without a chance to stop it. */
const startInAnotherProcess = async (): Promise<{ parent: ChildProcess; pid: number }> => {
  const module = join(import.meta.dirname, 'start-postgres.ts')
  const program = `import { startPostgres } from ${JSON.stringify(module)}
    process.stdout.write(String((await startPostgres(${JSON.stringify(options)})).pid))
    setInterval(() => undefined, 1000)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [pid] = (await once(parent.stdout!, 'data')) as [Buffer]
  return { parent, pid: Number(pid.toString()) }
}

const statusOf = (pid: number): Promise<string> =>
  readFile(`/proc/${pid}/stat`, 'utf8').then(
    (text) => text.slice(text.lastIndexOf(')') + 2)[0]!,
    () => 'gone',
  )
/** One that ended counts as gone, whether or not its parent has asked for it yet. */
const isAlive = async (pid: number): Promise<boolean> => !['gone', 'Z', 'X'].includes(await statusOf(pid))

describe('startPostgres', () => {
  it('makes a cluster, keeps its rows over a restart, and listens on no port', async () => {
    const first = await startPostgres(options)
    await query(first, 'create table kept (n int); insert into kept values (7)')
    expect(await query(first, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
    await first.stop()
    await first.stop()
    expect(await isAlive(first.pid)).toBe(false)
    const second = await startPostgres(options)
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }])
    await second.stop()
  })

  it('ends a server whose parent was killed, and loses nothing of it', async () => {
    const { parent, pid } = await startInAnotherProcess()
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    expect(await isAlive(pid)).toBe(true)
    let server: RunningPostgres | undefined
    try {
      server = await startPostgres(options)
      expect(server.pid).not.toBe(pid)
      expect(await isAlive(pid)).toBe(false)
      expect(await query(server, 'select n from kept')).toEqual([{ n: 7 }])
    } finally {
      await server?.stop()
    }
  })

  it('starts after one that was killed and that nobody reaps', async () => {
    const pidFile = join(options.dataDir, 'postmaster.pid')
    const socketLock = join(options.socketDir, '.s.PGSQL.5432.lock')
    const server = await startPostgres(options)
    const [lock, socket] = await Promise.all([readFile(pidFile, 'utf8'), readFile(socketLock, 'utf8')])
    await server.stop()
    // Its child ends when told to; by then the parent is a program that never asks for it.
    const identity = await identityFor(options)
    const parent = spawn('bash', ['-c', 'cat <&0 >/dev/null & echo $!; exec sleep 600 </dev/null'], {
      ...identity,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    try {
      const [text] = (await once(parent.stdout!, 'data')) as [Buffer]
      const zombie = text.toString().trim()
      const patiently = { timeout: 60_000 }
      await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, 'utf8'), patiently).toBe('sleep\n')
      parent.stdin!.end()
      await expect.poll(() => statusOf(Number(zombie)), patiently).toBe('Z')
      const asOf = (file: string, content: string) =>
        writeFile(file, content.replace(/^\d+/, zombie)).then(
          () => identity && chown(file, identity.uid, identity.gid),
        )
      await Promise.all([asOf(pidFile, lock), asOf(socketLock, socket)])
      const next = await startPostgres(options)
      expect(await query(next, 'select n from kept')).toEqual([{ n: 7 }])
      await next.stop()
    } finally {
      parent.kill('SIGKILL')
    }
  })

  it('tells when the server ends by itself', async () => {
    const server = await startPostgres(options)
    process.kill(server.pid, 'SIGQUIT')
    expect(await server.ended).not.toBeUndefined()
    await server.stop()
  })

  it('refuses a socket path that the kernel would cut off', async () => {
    const socketDir = join(folder, 'x'.repeat(100))
    await expect(startPostgres({ ...options, socketDir })).rejects.toThrow('Use a shorter folder')
  })

  it('says what to install where PostgreSQL is missing', async () => {
    await expect(findPostgresBinaries(join(folder, 'none'), join(folder, 'nowhere'))).rejects.toThrow(
      'apt-get install postgresql',
    )
    await expect(findPostgresBinaries(options.dataDir, join(folder, 'nowhere'))).rejects.toThrow(
      /made by PostgreSQL \d+, which is not installed/,
    )
  })
})
