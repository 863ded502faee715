import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
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

/** Starts the cluster from another process, which the test can kill so that it cannot stop the server. */
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
/** False also for a zombie: it has ended, only its parent has not reaped it. */
const isAlive = async (pid: number): Promise<boolean> => !['gone', 'Z', 'X'].includes(await statusOf(pid))

describe('startPostgres', () => {
  it('creates a cluster, keeps its rows across a restart, and listens on no TCP port', async () => {
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

  it('ends a server whose parent was killed, and loses no rows', async () => {
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

  it('starts although the lock files name a zombie', async () => {
    const pidFile = join(options.dataDir, 'postmaster.pid')
    const socketLock = join(options.socketDir, '.s.PGSQL.5432.lock')
    const server = await startPostgres(options)
    const [lock, socket] = await Promise.all([readFile(pidFile, 'utf8'), readFile(socketLock, 'utf8')])
    await server.stop()
    // The child ends when its stdin closes. By then the parent is `sleep`, which never reaps it.
    const identity = await identityFor(options)
    const parent = spawn('bash', ['-c', 'cat <&0 >/dev/null & echo $!; exec sleep 600 </dev/null'], {
      ...identity,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    try {
      const [text] = (await once(parent.stdout!, 'data')) as [Buffer]
      const zombie = text.toString().trim()
      const within = { timeout: 60_000 }
      await expect.poll(() => readFile(`/proc/${parent.pid}/comm`, 'utf8'), within).toBe('sleep\n')
      parent.stdin!.end()
      await expect.poll(() => statusOf(Number(zombie)), within).toBe('Z')
      const writeWithZombiePid = (file: string, content: string) =>
        writeFile(file, content.replace(/^\d+/, zombie)).then(
          () => identity && chown(file, identity.uid, identity.gid),
        )
      await Promise.all([writeWithZombiePid(pidFile, lock), writeWithZombiePid(socketLock, socket)])
      const next = await startPostgres(options)
      expect(await query(next, 'select n from kept')).toEqual([{ n: 7 }])
      await next.stop()
    } finally {
      parent.kill('SIGKILL')
    }
  })

  it('follows no symlink planted by its own user: nothing is chowned, moved or removed through it', async () => {
    const identity = await identityFor(options)
    if (!identity) throw new Error('This test must be run as root.')
    // As in production, the user also owns the parent folder.
    const own = join(folder, 'own')
    await mkdir(own, { mode: 0o700 })
    await chown(own, identity.uid, identity.gid)
    const places = { ...options, dataDir: join(own, 'pg'), socketDir: join(own, 'run') }
    const victim = join(folder, 'victim')
    await mkdir(victim, { mode: 0o755 })
    for (const name of ['file', 'PG_VERSION', 'postmaster.pid']) await writeFile(join(victim, name), '15\n')
    for (const name of ['run', 'pg', 'pg.new']) {
      await symlink(victim, join(own, name))
      // `pg.new` is removed before initdb: the link is removed, never its target.
      if (name === 'pg.new') await startPostgres(places).then((server) => server.stop())
      else await expect(startPostgres(places)).rejects.toThrow(`${name} is a symlink`)
      await rm(join(own, name), { recursive: true, force: true })
    }
    expect((await readdir(victim)).sort()).toEqual(['PG_VERSION', 'file', 'postmaster.pid'])
    for (const path of [victim, join(victim, 'file')]) expect((await lstat(path)).uid).toBe(0)
    for (const path of [places.dataDir, places.socketDir]) {
      const found = await lstat(path)
      expect([found.uid, found.mode & 0o777, found.isDirectory()]).toEqual([identity.uid, 0o700, true])
    }
  })

  it('does not end a process of another user that the lock file names', async () => {
    const identity = await identityFor(options)
    if (!identity) throw new Error('This test must be run as root.')
    // It runs as root with the data folder as its working folder, as a shell may.
    const bystander = spawn('sleep', ['600'], { cwd: options.dataDir })
    try {
      const lock = join(options.dataDir, 'postmaster.pid')
      await writeFile(lock, `${bystander.pid}\n`)
      await chown(lock, identity.uid, identity.gid)
      const server = await startPostgres(options)
      await server.stop()
      expect(await isAlive(bystander.pid!)).toBe(true)
    } finally {
      bystander.kill('SIGKILL')
    }
  })

  it('resolves `ended` when the server ends on its own', async () => {
    const server = await startPostgres(options)
    process.kill(server.pid, 'SIGQUIT')
    expect(await server.ended).not.toBeUndefined()
    await server.stop()
  })

  it('refuses a socket path that is too long for the kernel', async () => {
    const socketDir = join(folder, 'x'.repeat(100))
    await expect(startPostgres({ ...options, socketDir })).rejects.toThrow('Use a shorter folder')
  })

  it('says what to install if PostgreSQL is missing', async () => {
    await expect(findPostgresBinaries(join(folder, 'none'), join(folder, 'nowhere'))).rejects.toThrow(
      'apt-get install postgresql',
    )
    await expect(findPostgresBinaries(options.dataDir, join(folder, 'nowhere'))).rejects.toThrow(
      /created by PostgreSQL \d+, which is not installed/,
    )
  })
})
