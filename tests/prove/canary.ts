/**
 * Secrets are never stored or shown in plain text. Each kind of secret is sent through its route and used in a real
 * Dock. Then everything that the service writes and every process of the machine is searched. Each search must also
 * find a marker, as a positive control. Run by script/prove canary.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { WebSocket } from 'ws'
import { type BenchServer, print, withServer } from '../../bench/parts/bench-server.ts'
import { checkpoint, storedChunks } from '../../bench/parts/stored.ts'
import { createSshClient } from '../api/ssh/ssh-client.ts'
import { run } from '../e2e/support/dock.ts'
import { capturesFolder, filesWith, textsIn } from '../e2e/support/search-files.ts'
import { watchProcesses } from '../e2e/support/watch-processes.ts'

const checkout = new URL('../..', import.meta.url).pathname
const word = (stem: string): string => `${stem}${randomBytes(12).toString('hex')}`
/** Each word is part of one kind of secret and of nothing else. */
const canaries = {
  variable: word('canaryv'),
  file: word('canaryf'),
  own: word('canaryo'),
  script: word('canarys'),
  command: word('canaryc'),
  provider: word('canaryp'),
  ssh: word('canaryh'),
  process: word('canaryk'),
}
/** Part of data that is not secret. A search that does not find it proves nothing. */
const marker = word('marker')

/** How a private key of SSH begins, as text and as Base64: host keys are stored, but only sealed. */
const privateKeys = {
  'private key of SSH': 'BEGIN OPENSSH PRIVATE KEY',
  'private key of SSH in Base64': 'b3BlbnNzaC1rZXktdjEA',
}

let problems = 0
const check = (what: string, holds: boolean, detail = ''): void => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

/** Starts a process that has the marker in its arguments and environment. */
const controlProcess = (): ChildProcess =>
  spawn('sleep', ['600'], { argv0: marker, env: { MARKER: marker }, stdio: 'ignore' })

const shellIn = async ({ client, admin }: BenchServer, id: string): Promise<void> => {
  const { ticket } = await client.call('openTerminal', { params: { id } })
  const url = `${admin.baseUrl.replace(/^http/, 'ws')}/v1/docks/${id}/terminal?ticket=${ticket}`
  const socket = new WebSocket(url)
  let output = ''
  socket.on('message', (data: Buffer) => {
    output += data.toString()
  })
  await once(socket, 'open')
  // Typed by name, because the shell's history may store what a person types.
  socket.send(Buffer.from('echo "<$CANARY>"; exit\n'))
  await once(socket, 'close')
  check('a terminal has the variables', output.includes(`<${canaries.variable}>`))
}

/** Passes a secret through every way into a session and a kept process. */
const useSessions = async ({ client: api }: BenchServer, id: string): Promise<void> => {
  const { ssh: at } = await api.call('readConfig', {})
  const client = await createSshClient(() => at?.port ?? 0)
  try {
    await api.call('addSshKey', {
      body: { name: marker, publicKey: await client.makeKey('id', '-t', 'ed25519') },
    })
    const to = [...client.options(), '-l', id, '127.0.0.1']
    // By variable and by input: the arguments of the client itself would be found on this machine.
    await writeFile(join(client.folder, 'config'), `SetEnv GIVEN=${canaries.ssh}\n`)
    const ran = await client.run('ssh', [...to, 'cat; echo " $GIVEN"'], canaries.ssh)
    check(
      'a session over SSH has its input and variables',
      ran.stdout === `${canaries.ssh} ${canaries.ssh}\n`,
    )
    const typed = await client.run('ssh', [...to, '-tt'], ` echo "<${canaries.ssh}>"; exit\n`)
    check('a terminal over SSH has its input', typed.stdout.includes(`<${canaries.ssh}>`))
  } finally {
    await client.remove()
  }
  const params = { id }
  const started = await api.call('startDockProcess', {
    params,
    body: { command: 'cat; echo "$GIVEN" >&2', env: { GIVEN: canaries.process }, stdin: false },
  })
  const ended = await api.call('waitForDockProcess', {
    params: { ...params, pid: started.id },
    query: { timeoutSeconds: 30 },
  })
  check('a kept process has its variables', ended.stderr?.endOffset === canaries.process.length + 1)
}

/** Creates a Dock with every kind of secret and uses them. Returns the Dock's id and API key. */
const useSecrets = async (server: BenchServer): Promise<{ id: string; dockKey: string }> => {
  const { client, admin } = server
  const { organizationId, workspaceId } = admin
  const params = {
    ref: (await client.call('createEnvironment', { body: { organizationId, name: 'canary' } })).id,
  }
  await client.call('setEnvironmentVariable', { params, body: { key: 'CANARY', value: canaries.variable } })
  await client.call('setEnvironmentVariable', { params, body: { key: marker, value: canaries.variable } })
  await client.call('setEnvironmentFile', { params, body: { path: 'token', contents: canaries.file } })
  await client.call('setProviderKey', {
    body: { organizationId, provider: 'openai', key: canaries.provider },
  })
  const posture = { passAgentsCredentials: true, passDockCredentials: true }
  await client.call('updateEnvironment', { params, body: posture })
  const dock = { workspaceId, cpus: 1, memoryMiB: 1024, diskGiB: 2, environment: 'canary', name: marker }
  const { id } = await client.call('createDock', {
    body: {
      ...dock,
      env: { OWN: canaries.own },
      setupScript: `: ${canaries.script}; echo ${marker} > marker`,
    },
  })
  const command = `echo ${canaries.command} "$CANARY" "$OWN" "$OPENAI_API_KEY" "$GIVEN" $(cat token)`
  const ran = await client.call('execInDock', {
    params: { id },
    headers: { 'idempotency-key': 'once' },
    body: { command, env: { GIVEN: canaries.command } },
  })
  const { variable, own, provider, file } = canaries
  const expected = [canaries.command, variable, own, provider, canaries.command, file].join(' ')
  check('a command has all of them', ran.stdout.trim() === expected)
  await shellIn(server, id)
  await useSessions(server, id)
  await client.call('setEnvironmentVariable', { params, body: { key: 'SECOND', value: canaries.variable } })
  await client.call('upgradeEnvironment', { params, body: {} })
  const dockKey = await run(server, id, 'printf %s "$DOCK_API_KEY"')
  check('the Dock has its own key', /^dock_/.test(dockKey))
  return { id, dockKey }
}

/** Stops, resumes and stops the Dock, waits until its copy is verified, and rotates all data keys. */
const moveThrough = async (server: BenchServer, id: string): Promise<void> => {
  const { client, dataDir } = server
  await client.call('stopDock', { params: { id }, body: {} })
  await client.call('resumeDock', { params: { id }, body: {} })
  check('a resumed Dock has them', (await run(server, id, 'printf %s "$CANARY"')) === canaries.variable)
  await client.call('stopDock', { params: { id }, body: {} })
  const log = (): Promise<string> => readFile(join(dataDir, 'logs/control-plane.log'), 'utf8')
  while (!(await log()).includes('Snapshot copied')) await delay(200)
  const env = { ...process.env, DOCK_DATA_DIR: dataDir }
  const { stdout } = await promisify(execFile)(join(checkout, 'script/admin'), ['rotate-keys'], { env })
  print(`        ${stdout.trim()}`)
  const address = `${marker}@example.test`
  await client.call('inviteMember', { params: { id: server.admin.organizationId }, body: { email: address } })
}

const searchFiles = async (server: BenchServer, secrets: Readonly<Record<string, string>>): Promise<void> => {
  const { dataDir } = server
  const inData = (path: string): string => join(dataDir, path)
  const places = {
    'database and its log': ['control'],
    'logs of the service': ['logs'],
    'records and settings of the host': ['host'],
  }
  for (const [place, folders] of Object.entries(places)) {
    // Excludes the pool, whose disks are searched one by one below.
    const names = await Promise.all(
      folders.map(async (folder) => {
        const entries = await readdir(inData(folder))
        return entries
          .filter((name) => !/^(pool|pool\.img|bin|image-cache)$/.test(name))
          .map((name) => join(inData(folder), name))
      }),
    )
    for (const [kind, secret] of Object.entries(secrets)) {
      const found = await filesWith(secret, names.flat())
      check(`${place}: no ${kind}`, found.length === 0, found.join(' '))
    }
    if (place.startsWith('database')) {
      const found = await filesWith(marker, names.flat())
      for (const part of ['/base/', '/pg_wal/', '.eml'])
        check(
          `${place}: the marker is found in ${part}`,
          found.some((file) => file.includes(part)),
        )
    }
  }
}

/** Searches the decrypted copies. Of the secrets, only the secret file may be on a disk. */
const searchCopies = async (
  server: BenchServer,
  secrets: Readonly<Record<string, string>>,
): Promise<void> => {
  const found = new Set<string>()
  let chunks = 0
  for await (const chunk of storedChunks(server.dataDir, server.admin.organizationId)) {
    chunks += 1
    for (const [kind, text] of Object.entries({ ...secrets, marker }))
      if (chunk.includes(text)) found.add(kind)
  }
  for (const kind of ['marker', 'file'])
    check(`${chunks} chunks of copies, unpacked: the ${kind} is found`, found.has(kind))
  for (const kind of Object.keys(secrets)) if (kind !== 'file') check(`copies: no ${kind}`, !found.has(kind))
}

/** Searches the captures as the agent has them mounted. Of the secrets, only secret files may be on a disk. */
const searchDisks = async (server: BenchServer, secrets: Readonly<Record<string, string>>): Promise<void> => {
  const captures = await capturesFolder(server)
  const found = await textsIn([...Object.values(secrets), marker], [captures])
  check('captures: the marker is found', found.has(marker))
  check('captures: the secret file is found, as it should be', found.has(canaries.file))
  for (const [kind, secret] of Object.entries(secrets))
    if (kind !== 'file') check(`captures: no ${kind}`, !found.has(secret))
}

const settings = {
  DOCK_WARM_POOL: '1',
  DOCK_TEST_COPY_AGE_SECONDS: '1',
  DOCK_SSH_PORT: String(await freePort()),
}
await withServer(settings, async (server) => {
  const control = controlProcess()
  const processes = watchProcesses({ ...canaries, marker })
  const { id, dockKey } = await useSecrets(server)
  await moveThrough(server, id)
  // Ended before the searches below, which have the secrets in their arguments.
  const looks = await processes.end()
  control.kill()
  const seen = [...processes.seen]
  for (const file of ['cmdline', 'environ'])
    check(`processes: the marker is found in ${file}`, seen.includes(`marker in ${file}`))
  const bad = seen.filter((each) => !each.startsWith('marker'))
  check(`processes: no secret in ${looks} passes over all processes`, bad.length === 0, bad.join(', '))
  const secrets = { ...canaries, 'key of the Dock': dockKey }
  await checkpoint(server.dataDir)
  // Programs on a Dock's disk contain these words, too.
  await searchFiles(server, { ...secrets, ...privateKeys })
  await searchCopies(server, secrets)
  await searchDisks(server, secrets)
})
print(problems === 0 ? 'no secret is stored or shown in plain text' : `${problems} problems`)
process.exit(problems === 0 ? 0 : 1)
