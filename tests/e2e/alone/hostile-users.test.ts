/** What the machine's other users can do to Dock: the unprivileged user `dock` that serves the API, and anybody. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { processOf } from '../../crash/processes.ts'
import { freePort, newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

const execute = promisify(execFile)
const nobody = 65_534

let folder: string
let dataDir: string
let port: number
let server: Server | undefined

beforeAll(async () => {
  // Places that everybody may enter, as a data folder's parents often are.
  folder = await mkdtemp(join(tmpdir(), 'dock-users-'))
  dataDir = await newDataDir()
  for (const path of [folder, dataDir]) await chmod(path, 0o755)
  port = await freePort()
  server = await startServer(dataDir, port)
})
afterAll(async () => {
  await server?.interrupt()
  await removeDataDir(dataDir)
  await rm(folder, { recursive: true })
})

const as = async (user: string, script: string): Promise<string> => {
  const { stdout } = await execute('setpriv', [
    ...['--reuid', user, '--regid', user, '--clear-groups', '--'],
    ...['sh', '-c', script],
  ])
  return stdout
}
const readableByNobody = async (): Promise<string[]> =>
  (await as(String(nobody), `find '${dataDir}' -readable 2>/dev/null || true`))
    .split('\n')
    .filter((path) => path !== '' && path !== dataDir)
const isHealthy = async (): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(30_000) })).ok
const patiently = { timeout: 60_000, interval: 200 }

/** A folder of root's with a file in it, which nobody else may come to own or read. */
const makeVictim = async (name: string): Promise<string> => {
  const victim = join(folder, name)
  await mkdir(victim, { mode: 0o755 })
  await writeFile(join(victim, 'file'), '{"secret":"of root"}', { mode: 0o600 })
  return victim
}
const expectUntouched = async (victim: string): Promise<void> => {
  for (const path of [victim, join(victim, 'file')]) expect((await stat(path)).uid).toBe(0)
  expect(await readdir(victim)).toEqual(['file'])
}

it('nobody can read anything below the data folder', async () => {
  expect(await readableByNobody()).toEqual([])
  await writeFile(join(dataDir, 'open'), '', { mode: 0o644 })
  expect(await readableByNobody()).toEqual([join(dataDir, 'open')])
  await rm(join(dataDir, 'open'))
})

it('nobody takes the port while the control plane is started again, and root’s socket is out of reach', async () => {
  const agent = await processOf('agent', { dataDir, port })
  const environment = await readFile(`/proc/${agent}/environ`, 'utf8')
  const socket = /DOCK_CONTROL_URL=unix:([^\0]+)/.exec(environment)?.[1]
  const attack = `
    const net = require('node:net')
    let tries = 0
    const again = () => {
      const server = net.createServer()
      server.once('error', (error) => { tries += error.code === 'EADDRINUSE' ? 1 : 1e9; setTimeout(again, 1) })
      server.listen(${port}, '127.0.0.1', () => { console.log('taken'); process.exit(1) })
    }
    again()
    process.once('SIGTERM', () => { console.log('refused', tries); process.exit(0) })
    net.connect('${socket}').once('error', (error) => console.log(error.code)).once('connect', () => console.log('connected'))`
  const attacker = spawn(process.execPath, ['-e', attack], {
    ...{ uid: nobody, gid: nobody, cwd: '/' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  attacker.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, patiently).toContain('EACCES')
  const before = (await processOf('control-plane', { dataDir, port }))!
  process.kill(before, 'SIGKILL')
  await expect.poll(isHealthy, patiently).toBe(true)
  expect(await processOf('control-plane', { dataDir, port })).not.toBe(before)
  const ended = once(attacker, 'exit')
  attacker.kill('SIGTERM')
  await ended
  expect(said).toMatch(/^EACCES\nrefused \d{2,8}\n$/)
})

it('a symlink in place of the socket’s folder gives nothing away when PostgreSQL is started again', async () => {
  const victim = await makeVictim('running')
  const control = join(dataDir, 'control')
  await as('dock', `cd '${control}' && mv run run.kept && ln -s '${victim}' run`)
  process.kill((await processOf('database', { dataDir, port }))!, 'SIGKILL')
  await expect
    .poll(() => server!.output(), patiently)
    .toMatch(/PostgreSQL could not be started: .*run is a symlink/)
  await expectUntouched(victim)
  await as('dock', `cd '${control}' && rm run && mv run.kept run`)
  await expect.poll(() => isHealthy().catch(() => false), patiently).toBe(true)
})

it('symlinks that were planted in the control plane’s folder stop a start, and what they lead to stays as it is', async () => {
  expect(await server!.interrupt()).toBe(0)
  server = undefined
  const control = join(dataDir, 'control')
  for (const name of ['run', 'keys', 'outbox', 'pg.new']) {
    const victim = await makeVictim(name)
    await as(
      'dock',
      `cd '${control}' && { [ ! -e '${name}' ] || mv '${name}' '${name}.kept'; } && ln -s '${victim}' '${name}'`,
    )
    await expect(startServer(dataDir, port)).rejects.toThrow(new RegExp(`${name} is a symlink`))
    await expectUntouched(victim)
    await as(
      'dock',
      `cd '${control}' && rm '${name}' && { [ ! -e '${name}.kept' ] || mv '${name}.kept' '${name}'; }`,
    )
  }
})
