/** Attacks by other users of the machine: the unprivileged user `dock`, which runs the API, and `nobody`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { processOf } from '../../crash/processes.ts'
import { deleteDock, run } from '../support/dock.ts'
import { joinToken } from '../support/second-machine.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'
import { watchProcesses } from '../support/watch-processes.ts'

const execute = promisify(execFile)
const nobody = 65_534

let folder: string
let dataDir: string
let port: number
let server: Server | undefined

beforeAll(async () => {
  // Folders that everybody may enter, like the usual parents of a data folder.
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

/** A folder of root with a file that no other user may read or own. */
const ofRoot = '{"secret":"of root"}'
const makeVictim = async (name: string): Promise<string> => {
  const victim = join(folder, name)
  await mkdir(victim, { mode: 0o755 })
  await writeFile(join(victim, 'file'), ofRoot, { mode: 0o600 })
  return victim
}
const expectUntouched = async (victim: string, content = ofRoot): Promise<void> => {
  for (const path of [victim, join(victim, 'file')]) expect((await stat(path)).uid).toBe(0)
  expect(await readdir(victim)).toEqual(['file'])
  expect(await readFile(join(victim, 'file'), 'utf8')).toBe(content)
}

it('nobody can read anything below the data folder', async () => {
  expect(await readableByNobody()).toEqual([])
  await writeFile(join(dataDir, 'open'), '', { mode: 0o644 })
  expect(await readableByNobody()).toEqual([join(dataDir, 'open')])
  await rm(join(dataDir, 'open'))
})

it('no other user can take the port while the control plane restarts, or connect to root’s socket', async () => {
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

it('no process has a secret in its arguments', async () => {
  const word = (): string => randomBytes(12).toString('hex')
  const control = join(dataDir, 'control')
  const texts = await Promise.all(
    [
      join(control, 'keys/secret-keys'),
      join(control, 'keys/auth-secret'),
      join(dataDir, 'host/credential.json'),
    ].map((path) => readFile(path, 'utf8')),
  )
  const [ringKey, authSecret, credential] = texts.map((text) => /[\w-]{40,}/.exec(text)?.[0] ?? '')
  const { apiKey, password } = server!.admin
  const [variable, given, script, marker] = [word(), word(), word(), word()]
  const secrets = { ringKey, authSecret, credential, apiKey, password, variable, given, script }
  for (const [name, secret] of Object.entries(secrets)) expect(secret, name).toMatch(/.{12}/)
  const inArguments = () => [...watch.seen].filter((each) => each.endsWith('in cmdline'))
  const watch = watchProcesses({ ...(secrets as Record<string, string>), marker })
  const marked = spawn('sleep', ['600'], { argv0: marker, stdio: 'ignore' })
  try {
    const { id } = await server!.client.call('createDock', {
      body: {
        ...{ workspaceId: server!.admin.workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2 },
        ...{ env: { VARIABLE: variable }, setupScript: `: ${script}; sleep 1` },
      },
    })
    expect(await run(server!, id, 'echo $VARIABLE $GIVEN', { env: { GIVEN: given } })).toBe(
      `${variable} ${given}\n`,
    )
    for (const victim of ['control-plane', 'agent'] as const) {
      const before = (await processOf(victim, { dataDir, port }))!
      process.kill(before, 'SIGKILL')
      await expect.poll(() => processOf(victim, { dataDir, port }), patiently).not.toBeOneOf([before, null])
    }
    await expect.poll(() => isHealthy().catch(() => false), patiently).toBe(true)
    await execute(join(import.meta.dirname, '../../../script/admin'), ['rotate-keys'], {
      env: { ...process.env, DOCK_DATA_DIR: dataDir },
    })
    expect(await joinToken(dataDir)).toMatch(/.{12}/)
    await expect.poll(() => run(server!, id, 'echo again').catch(String), patiently).toBe('again\n')
    await deleteDock(server!, id)
  } finally {
    marked.kill()
    expect(await watch.end()).toBeGreaterThan(3)
  }
  expect(inArguments()).toEqual(['marker in cmdline'])
})

it('a symlink in place of the socket’s folder is not followed when PostgreSQL restarts', async () => {
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

it('symlinks planted in the control plane’s folder make a start fail, and their targets stay unchanged', async () => {
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

it('a symlink in place of admin.json is not followed for reading or writing', async () => {
  const [victim, control, own] = [
    await makeVictim('admin'),
    join(dataDir, 'control'),
    join(dataDir, 'admin.json'),
  ]
  const secret = join(victim, 'file')
  // Valid content that needs no update, so that only the supervisor acts on the file.
  const content = JSON.stringify({
    ...(JSON.parse(await readFile(own, 'utf8')) as object),
    secret: 'of root',
  })
  await writeFile(secret, content)
  await chmod(secret, 0o644)
  await as('dock', `cd '${control}' && mv admin.json admin.kept && ln -s '${secret}' admin.json`)
  await expect(startServer(dataDir, port)).rejects.toThrow(/admin\.json is a symlink/)
  await expectUntouched(victim, content)
  expect(await readFile(own, 'utf8')).not.toContain('of root')
  await as('dock', `cd '${control}' && rm admin.json && mv admin.kept admin.json`)

  // The copy of admin.json is in the data folder, which other users cannot write.
  await expect(as(String(nobody), `ln -sf '${secret}' '${own}'`)).rejects.toThrow('Permission denied')
  await rm(own)
  for (const path of [own, `${own}.new`]) await symlink(secret, path)
  server = await startServer(dataDir, port)
  await expectUntouched(victim, content)
  expect((await lstat(own)).isFile()).toBe(true)
  expect(await isHealthy()).toBe(true)
  expect(await server.interrupt()).toBe(0)
  server = undefined
})

/** Starts a process of `nobody` that listens on the port, accepts connections and prints what it receives. */
const squat = async (address: string): Promise<{ child: ChildProcess; heard: () => string }> => {
  const program = `require('node:net').createServer((socket) => {
      console.log('connected')
      socket.on('data', (data) => console.log(String(data)))
    }).listen(${port}, '${address}', () => console.log('listens'))`
  const child = spawn(process.execPath, ['-e', program], {
    ...{ uid: nobody, gid: nobody, cwd: '/' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await expect.poll(() => said, patiently).toBe('listens\n')
  return { child, heard: () => said }
}

it.each(['127.0.0.1', '0.0.0.0'])(
  'a start fails if another process listens on the port at %s, and sends nothing to that process',
  async (address) => {
    const { child, heard } = await squat(address)
    try {
      await expect(startServer(dataDir, port)).rejects.toThrow(/is taken .* PORT=/)
      for (const victim of ['control-plane', 'agent', 'database'] as const)
        expect(await processOf(victim, { dataDir, port })).toBe(null)
      expect(heard()).toBe('listens\n')
      // Control: the process does print what it receives.
      await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      )
      await expect.poll(heard, patiently).toContain('GET /health')
    } finally {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  },
)
