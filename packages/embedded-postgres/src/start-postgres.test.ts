import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPostgresBinaries } from './find-binaries.ts'
import { type PostgresOptions, type RunningPostgres, startPostgres } from './start-postgres.ts'

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

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('startPostgres', () => {
  it('makes a cluster, keeps its rows over a restart, and listens on no port', async () => {
    const first = await startPostgres(options)
    await query(first, 'create table kept (n int); insert into kept values (7)')
    expect(await query(first, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
    await first.stop()
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    const second = await startPostgres(options)
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }])
    await second.stop()
  })

  it('ends a server whose parent was killed, and loses nothing of it', async () => {
    const { parent, pid } = await startInAnotherProcess()
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    expect(isAlive(pid)).toBe(true)
    let server: RunningPostgres | undefined
    try {
      server = await startPostgres(options)
      expect(server.pid).not.toBe(pid)
      expect(isAlive(pid)).toBe(false)
      expect(await query(server, 'select n from kept')).toEqual([{ n: 7 }])
    } finally {
      await server?.stop()
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
